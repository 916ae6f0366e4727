/*
 * bench_storm SECONDS: one sender storms a running easecapd with all that a core can send while
 * QUIET others send as always, and what the store says of each: the quiet ones' samples lost, and
 * what of the storm was taken. The same senders without the storm first, to compare with. JSON, one
 * object a line. Shares can only be kept of what is read: where the collector has not a core to
 * itself (cpu_s beside the seconds), the kernel drops from everybody.
 */
#include "tests/bench/bench_load.h"
#include "tests/collector/input/trap_builder.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	QUIET = 20,
	QUIET_PER_S = 100, /* notifications of each */
	STORM = 255,	   /* that agent's first octet; the quiet ones are 1..QUIET */
	STORM_MESSAGES = 4096, /* sent again and again: what comes twice is read as well */
	MESSAGE_MAX = 1024,
};
#define TIME_US 1700000040000000ull
#define DRAIN_US 2000000

/* From an address of loopback of its own. */
static int
open_sender(unsigned agent, int port)
{
	struct sockaddr_in from = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(0x7f000100u + agent)};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&from, sizeof(from)) < 0 ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		bench_die("sender");
	return fd;
}

/* A notification of one sample. */
static size_t
build(unsigned agent, uint32_t number, uint8_t octets[MESSAGE_MAX])
{
	static const uint8_t header[60] = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 8, 0, 0x45};
	const uint8_t agent_id[8] = {(uint8_t)agent, 2, 3, 4, 5, 6, 7, 8};
	const struct ease_sample sample = {.time_us = TIME_US + number, .if_index = 1,
	    .sequence = number, .direction = EASE_IN, .skip = 7, .mean_skip = 10,
	    .frame_octets = 64, .kept_octets = sizeof(header), .header = header};
	const struct ease_snapshot snapshot = {.if_index = 1, .time_us = TIME_US + number,
	    .pool_in_pkts = 10ull * number, .last_sequence = number};
	static struct trap_message m;

	trap_start(&m, "public", EASE_NOTIFY_SAMPLES, agent_id, 1);
	trap_add_sample(&m, &sample);
	trap_add_snapshot(&m, &snapshot);
	return trap_build(&m, octets, MESSAGE_MAX);
}

static void
storm(int port, double until_s, _Atomic uint64_t *sent)
{
	static uint8_t octets[STORM_MESSAGES][MESSAGE_MAX];
	static size_t n[STORM_MESSAGES];
	int fd = open_sender(STORM, port);

	for (uint32_t i = 0; i < STORM_MESSAGES; i++)
		n[i] = build(STORM, i + 1, octets[i]);
	while (bench_now_s() < until_s)
		for (uint32_t i = 0; i < STORM_MESSAGES; i++)
			*sent += send(fd, octets[i], n[i], 0) > 0;
	_exit(EXIT_SUCCESS);
}

/* All of them in turn, by the clock. */
static uint64_t
send_quietly(int port, double seconds)
{
	double start_s = bench_now_s();
	uint8_t octets[MESSAGE_MAX];
	uint64_t sent = 0;
	int fds[QUIET];

	for (unsigned q = 0; q < QUIET; q++)
		fds[q] = open_sender(q + 1, port);
	while (sent < (uint64_t)(seconds * QUIET_PER_S * QUIET)) {
		unsigned q = (unsigned)(sent % QUIET);
		size_t n = build(q + 1, (uint32_t)(sent / QUIET) + 1, octets);

		while (bench_now_s() < start_s + (double)sent / (QUIET_PER_S * QUIET))
			usleep(100);
		if (send(fds[q], octets, n, 0) < 0)
			bench_die("send");
		sent++;
	}
	return sent;
}

static void
run(double seconds, bool with_storm)
{
	_Atomic uint64_t *stormed = mmap(NULL, sizeof(*stormed), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char dir[BENCH_PATH_MAX];
	uint64_t quiet;
	struct bench_used used;
	struct sqlite3 *store;
	double received;
	pid_t pid, stormer = -1;
	int port;

	bench_make_dir(dir);
	pid = bench_easecapd(dir, "", false, &port);
	bench_become_sender();
	if (with_storm && (stormer = fork()) == 0)
		storm(port, bench_now_s() + seconds, stormed);
	quiet = send_quietly(port, seconds);
	if (stormer > 0)
		waitpid(stormer, NULL, 0);
	usleep((useconds_t)(DRAIN_US * bench_scale()));
	used = bench_end(pid);
	store = bench_open(dir);
	received = bench_ask(store, "SELECT sum(received) FROM account JOIN agent ON agent.id = agent"
				  " WHERE hex(agent_id) NOT LIKE 'FF%'");
	sqlite3_close(store);
	printf("{\"bench\":\"%s\",\"quiet_senders\":%d,\"quiet_per_s\":%d,\"quiet_sent\":%" PRIu64
	       ",\"quiet_lost\":%.0f,\"storm_per_s\":%.0f,\"storm_taken_per_s\":%.0f,"
	       "\"over_share\":%.0f,\"kernel_drops\":%.0f,\"cpu_s\":%.2f}\n",
	    with_storm ? "storm" : "no storm", QUIET, QUIET * QUIET_PER_S, quiet,
	    (double)quiet - received, (double)*stormed / seconds,
	    (bench_stat(dir, "input.notifications") - received) / seconds,
	    bench_stat(dir, "input.over_share"), bench_stat(dir, "input.kernel_drops"),
	    used.cpu_us / 1e6);
	bench_remove_dir(dir);
}

int
main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5;

	if (seconds <= 0) {
		fputs("usage: bench_storm SECONDS\n", stderr);
		return EXIT_FAILURE;
	}
	run(seconds, false);
	run(seconds, true);
	return EXIT_SUCCESS;
}
