/*
 * bench_collector [SECONDS [PAIRS [RUNS [RATE]]]]: notifications of one sample and its snapshot,
 * offered to easecapd at rising rates (or the one given) over loopback, each rate to a fresh store;
 * then the same to snmptrapd in its default configuration with a log file. One JSON object a line:
 * offered, stored, lost, and for the last line of all the ratio of the best lossless rates (for
 * snmptrapd: what it logged); before it a flood of ten million pairs, and the memory that took.
 * Lossless is a rate at which every sample of the middle run was in the stored windows.
 * Runs where the build is (collector/easecapd). The receiver, all its threads, has one core and
 * the sender another; the sender uses UDP_SEGMENT, since plain calls stop at a third of this.
 */
#include "tests/trap_builder.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103 /* linux/udp.h */
#endif

enum {
	MESSAGE_MAX = 1400,
	HEADER_OCTETS = 128,
	SEGMENTS = 32,		   /* messages a call: below 64 KiB together */
	FIRST_SEQUENCE = 1 << 22, /* from here on to 2^28 each number has four octets in a name */
	PATH_MAX_HERE = 128,
	SETTLE_S = 2,
	RECEIVER_CORE = 0,
	SENDER_CORE = 1,
	RUNS_MAX = 99,
	FLOOD_RATE = 400000, /* the memory budget's own run: ten million spoofed pairs */
	FLOOD_PAIRS = 10000000,
};

static const uint8_t agent_id[8] = {9, 9, 9, 9, 9, 9, 9, 9};

static double
now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

static void
run_on(int core)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(core, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		perror("one core only: receiver and sender share it");
}

/* One message, and where in it the numbers are that change */
struct template {
	uint8_t octets[MESSAGE_MAX];
	size_t n;
	size_t sequence_at, header_at, time_at;
};

static size_t
build(uint8_t *octets, uint32_t sequence, uint64_t time_us, uint8_t header_octet)
{
	static struct trap_message m;
	uint8_t header[HEADER_OCTETS] = {[12] = 8, [14] = 0x45, [17] = 100, [22] = 64, [23] = 6};
	const struct ease_sample s = {
	    .time_us = time_us,
	    .if_index = 3,
	    .sequence = sequence,
	    .direction = EASE_IN,
	    .skip = 7,
	    .mean_skip = 10,
	    .frame_octets = 500,
	    .kept_octets = HEADER_OCTETS,
	    .header = header,
	};
	const struct ease_snapshot snapshot = {.if_index = 3, .time_us = 1700000040000000ull};

	header[0] = header_octet;
	trap_start(&m, "public", EASE_NOTIFY_SAMPLES, agent_id, 1);
	trap_add_sample(&m, &s);
	trap_add_snapshot(&m, &snapshot);
	return trap_build(&m, octets, MESSAGE_MAX);
}

static size_t
first_difference(const uint8_t *a, const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return i;
	abort();
}

static void
make_template(struct template *t)
{
	const uint64_t time_us = 1700000040000000ull;
	uint8_t other[MESSAGE_MAX];

	t->n = build(t->octets, FIRST_SEQUENCE, time_us, 0);
	build(other, FIRST_SEQUENCE | 1u << 27, time_us, 0);
	t->sequence_at = first_difference(t->octets, other, t->n);
	build(other, FIRST_SEQUENCE, time_us ^ 1ull << 63, 0);
	t->time_at = first_difference(t->octets, other, t->n);
	build(other, FIRST_SEQUENCE, time_us, 1);
	t->header_at = first_difference(t->octets, other, t->n);
}

static void
patch(const struct template *t, uint8_t *octets, uint32_t sequence, uint64_t time_us,
    uint32_t pair)
{
	for (int i = 0; i < 4; i++)
		octets[t->sequence_at + (size_t)i] =
		    (uint8_t)((sequence >> 7 * (3 - i) & 0x7f) | (i < 3 ? 0x80 : 0));
	for (int i = 0; i < 8; i++)
		octets[t->time_at + (size_t)i] = (uint8_t)(time_us >> 8 * (7 - i));
	memcpy(octets + t->header_at + 2, &pair, 4);  /* destination MAC */
	memcpy(octets + t->header_at + 30, &pair, 4); /* destination IPv4 address */
}

/* The sender */

static void
send_segments(int fd, uint8_t *octets, size_t n, size_t segment)
{
	union {
		struct cmsghdr header;
		uint8_t octets[CMSG_SPACE(sizeof(uint16_t))];
	} control = {0};
	struct iovec v = {octets, n};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
	    .msg_controllen = sizeof(control)};
	uint16_t size = (uint16_t)segment;

	control.header.cmsg_level = SOL_UDP;
	control.header.cmsg_type = UDP_SEGMENT;
	control.header.cmsg_len = CMSG_LEN(sizeof(size));
	memcpy(CMSG_DATA(&control.header), &size, sizeof(size));
	while (sendmsg(fd, &m, 0) < 0)
		if (errno != ENOBUFS && errno != EINTR)
			die("sendmsg");
}

static int
connect_to(int port)
{
	struct sockaddr_in to = {
	    .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		die("connect");
	return fd;
}

/* Sends total messages at rate a second; the seconds it took. */
static double
offer(int port, uint64_t total, double rate, uint32_t pairs)
{
	static uint8_t octets[SEGMENTS * MESSAGE_MAX];
	struct template t;
	int fd = connect_to(port);
	double start = now_s();

	make_template(&t);
	for (int i = 0; i < SEGMENTS; i++)
		memcpy(octets + (size_t)i * t.n, t.octets, t.n);
	for (uint64_t sent = 0; sent < total; sent += SEGMENTS) {
		for (uint32_t i = 0; i < SEGMENTS; i++)
			patch(&t, octets + i * t.n, (uint32_t)(FIRST_SEQUENCE + sent + i),
			    1700000040000000ull + sent + i,
			    (uint32_t)((sent + i) * 2654435761u) % pairs);
		while (now_s() < start + (double)sent / rate)
			usleep(50);
		send_segments(fd, octets, SEGMENTS * t.n, t.n);
	}
	close(fd);
	return now_s() - start;
}

/* The receivers */

static pid_t
spawn(char *const argv[], int out)
{
	pid_t pid = fork();

	if (pid == 0) {
		run_on(RECEIVER_CORE);
		if (out >= 0)
			dup2(out, STDOUT_FILENO);
		setenv("MIBS", "", 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	return pid;
}

static void
end(pid_t pid, struct rusage *used)
{
	int status;

	kill(pid, SIGTERM);
	wait4(pid, &status, 0, used);
}

static double
cpu_us(const struct rusage *used)
{
	return 1e6 * (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
	    (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
}

static pid_t
start_easecapd(const char *dir, int *port)
{
	char conf[PATH_MAX_HERE], line[PATH_MAX_HERE] = "";
	char *argv[] = {(char *)"collector/easecapd", (char *)"-f", (char *)"-c", conf, NULL};
	int ends[2];
	pid_t pid;
	FILE *f;

	snprintf(conf, sizeof(conf), "%s/conf", dir);
	f = fopen(conf, "w");
	if (!f || pipe(ends) < 0)
		die(conf);
	fprintf(f, "listen={\"127.0.0.1:0\"}\ncommunities={\"public\"}\nlog_level=\"error\"\n"
		   "store=\"%s/ease.db\"\n", dir);
	fclose(f);
	pid = spawn(argv, ends[1]);
	close(ends[1]);
	f = fdopen(ends[0], "r");
	if (!fgets(line, sizeof(line), f) || sscanf(line, "listening on 127.0.0.1:%d", port) != 1)
		die("easecapd");
	fclose(f);
	return pid;
}

static double
ask(const char *dir, const char *sql)
{
	char path[PATH_MAX_HERE];
	sqlite3_stmt *s = NULL;
	sqlite3 *db = NULL;
	double value = -1;

	snprintf(path, sizeof(path), "%s/ease.db", dir);
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		value = sqlite3_column_double(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return value;
}

/* Samples that are not in the stored windows. */
static double
run_easecapd(double rate, double seconds, uint32_t pairs)
{
	char dir[] = "/tmp/bench_collector.XXXXXX", command[PATH_MAX_HERE];
	uint64_t total = (uint64_t)(rate * seconds) / SEGMENTS * SEGMENTS;
	double took, used, finished;
	struct rusage resources;
	pid_t pid;
	int port;

	if (!mkdtemp(dir))
		die(dir);
	pid = start_easecapd(dir, &port);
	took = offer(port, total, rate, pairs);
	finished = now_s();
	end(pid, &resources); /* reads what is left, writes everything */
	finished = now_s() - finished;
	used = ask(dir, "SELECT sum(n) FROM window");
	printf("{\"bench\":\"collector\",\"program\":\"easecapd\",\"offered_per_s\":%.0f,"
	       "\"sent_per_s\":%.0f,\"sent\":%llu,\"in_windows\":%.0f,\"in_keys\":[%.0f,%.0f,%.0f],"
	       "\"in_no_key\":%.0f,\"most_one_key_lacks\":%.0f,"
	       "\"sample_rows\":%.0f,\"lost\":%.0f,\"kernel_drops\":%.0f,\"pairs\":%u,"
	       "\"drain_s\":%.2f,\"cpu_us_each\":%.2f,\"rss_mib\":%.0f}\n",
	    rate, (double)total / took, (unsigned long long)total, used,
	    ask(dir, "SELECT sum(n) FROM window_key WHERE kind = 1"),
	    ask(dir, "SELECT sum(n) FROM window_key WHERE kind = 2"),
	    ask(dir, "SELECT sum(n) FROM window_key WHERE kind = 7"),
	    ask(dir, "SELECT sum(n) FROM window_folded"),
	    ask(dir, "SELECT max(most_n) FROM window_folded"),
	    ask(dir, "SELECT count(*) FROM sample"), (double)total - used,
	    ask(dir, "SELECT value FROM stat WHERE name = 'input.kernel_drops'"), pairs, finished,
	    cpu_us(&resources) / used, (double)resources.ru_maxrss / 1024);
	fflush(stdout);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command) != 0)
		die(command);
	return (double)total - used;
}

/* Lossless is what no run lost anything at: a median would hide the runs that did. */
static bool
is_lossless(double rate, double seconds, uint32_t pairs, int runs)
{
	bool lossless = true;

	for (int i = 0; i < runs; i++)
		if (run_easecapd(rate, seconds, pairs) > 0)
			lossless = false;
	return lossless;
}

static uint64_t
count_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	uint64_t n = 0;
	char line[8192];

	/* snmptrapd starts each notification's record with the sender's address */
	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, "UDP:") != NULL;
	if (f)
		fclose(f);
	return n;
}

/* What snmptrapd logged of an overload, a second. */
static double
run_snmptrapd(double rate, double seconds)
{
	char dir[] = "/tmp/bench_collector.XXXXXX", conf[PATH_MAX_HERE], log[PATH_MAX_HERE];
	char address[PATH_MAX_HERE], command[PATH_MAX_HERE];
	char *argv[] = {(char *)"snmptrapd", (char *)"-f", (char *)"-n", (char *)"-On",
	    (char *)"-C", (char *)"-c", conf, (char *)"-Lf", log, address, NULL};
	uint64_t total = (uint64_t)(rate * seconds) / SEGMENTS * SEGMENTS, logged;
	int port = 20000 + getpid() % 20000;
	struct rusage resources;
	double start, took;
	pid_t pid;
	FILE *f;

	if (!mkdtemp(dir))
		die(dir);
	snprintf(conf, sizeof(conf), "%s/conf", dir);
	snprintf(log, sizeof(log), "%s/log", dir);
	snprintf(address, sizeof(address), "udp:127.0.0.1:%d", port);
	setenv("SNMP_PERSISTENT_DIR", dir, 1);
	f = fopen(conf, "w");
	if (!f)
		die(conf);
	fputs("authCommunity log public\n", f);
	fclose(f);
	pid = spawn(argv, -1);
	sleep(SETTLE_S);
	start = now_s();
	offer(port, total, rate, 1000);
	took = now_s() - start;
	usleep(200000); /* what its buffer holds: a hundredth of a second's work */
	end(pid, &resources);
	logged = count_lines(log);
	printf("{\"bench\":\"collector\",\"program\":\"snmptrapd\",\"offered_per_s\":%.0f,"
	       "\"sent\":%llu,\"logged\":%llu,\"logged_per_s\":%.0f}\n",
	    rate, (unsigned long long)total, (unsigned long long)logged, (double)logged / took);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command) != 0)
		die(command);
	return (double)logged / took;
}

int
main(int argc, char **argv)
{
	static const double rates[] = {100e3, 200e3, 300e3, 400e3, 450e3, 500e3, 600e3, 800e3};
	double seconds = argc > 1 ? atof(argv[1]) : 5, best = 0, peer;
	double only = argc > 4 ? atof(argv[4]) : 0;
	uint32_t pairs = argc > 2 ? (uint32_t)atoi(argv[2]) : 100000;
	int runs = argc > 3 ? atoi(argv[3]) : 1;
	bool lossy = false;

	runs = runs < 1 ? 1 : runs > RUNS_MAX ? RUNS_MAX : runs;
	run_on(SENDER_CORE);
	if (only > 0)
		return is_lossless(only, seconds, pairs, runs) ? 0 : 1;
	/* The whole curve is shown; what counts is below the first loss. */
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		if (!is_lossless(rates[i], seconds, pairs, runs))
			lossy = true;
		else if (!lossy)
			best = rates[i];
	}
	run_easecapd(FLOOD_RATE, (double)FLOOD_PAIRS / FLOOD_RATE, FLOOD_PAIRS);
	peer = run_snmptrapd(40000, seconds);
	printf("{\"bench\":\"collector\",\"lossless_per_s\":%.0f,\"snmptrapd_per_s\":%.0f,"
	       "\"ratio\":%.1f}\n",
	    best, peer, peer > 0 ? best / peer : 0);
	return 0;
}
