#include "tests/bench/bench_load.h"
#include "tests/collector/unpacked.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103 /* linux/udp.h */
#endif

enum {
	CALL_OCTETS = 60000, /* below 64 KiB */
	SEGMENTS_MAX = 64,   /* UDP_MAX_SEGMENTS of older kernels */
	RECEIVER_CORE = 0,
	SENDER_CORE = 1,
	LISTEN_S = 10,
	END_S = 30,	     /* a collector that was overrun writes that long */
	STEPS_MAX = 8, /* of a search before it gives up: a factor of 256 */
};

/* A search ends when a lossless and a lossy rate are that near. */
#define NEAR_ENOUGH 1.05

double
bench_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool
bench_is_small(void)
{
	return getenv("BENCH_SMALL") != NULL;
}

double
bench_scale(void)
{
	return bench_is_small() ? 0.01 : 1;
}

void
bench_die(const char *what)
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

void
bench_become_sender(void)
{
	run_on(SENDER_CORE);
}

/* Sending */

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
			bench_die("sendmsg");
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
		bench_die("connect");
	return fd;
}

static size_t
segments_of(const struct bench_load *load)
{
	size_t n = CALL_OCTETS / load->octets;

	return n < SEGMENTS_MAX ? n : SEGMENTS_MAX;
}

uint64_t
bench_datagrams(const struct bench_load *load, double samples)
{
	uint64_t segments = segments_of(load);

	return (uint64_t)(samples / load->samples) / segments * segments;
}

double
bench_offer(int port, const struct bench_load *load, uint64_t total, double rate)
{
	static uint8_t octets[CALL_OCTETS];
	size_t segments = segments_of(load);
	int fd = connect_to(port);
	double start = bench_now_s();

	memset(octets, 0, sizeof(octets));
	for (uint64_t sent = 0; sent < total; sent += segments) {
		for (size_t i = 0; i < segments; i++)
			load->fill(load->arg, octets + i * load->octets, sent + i);
		while (bench_now_s() < start + (double)sent / rate)
			usleep(50);
		send_segments(fd, octets, segments * load->octets, load->octets);
	}
	close(fd);
	return bench_now_s() - start;
}

/* Receivers */

pid_t
bench_spawn(char *const argv[], int out)
{
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_on(RECEIVER_CORE);
		if (out >= 0)
			dup2(out, STDOUT_FILENO);
		setenv("MIBS", "", 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	return pid;
}

struct bench_queue
bench_queue_of(int port)
{
	struct bench_queue q = {0};
	FILE *f = fopen("/proc/net/udp", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		unsigned at;
		unsigned long octets, drops;

		if (sscanf(line, " %*d: %*x:%x %*x:%*x %*x %*x:%lx %*x:%*x %*x %*u %*u %*u %*u %*x %lu",
			&at, &octets, &drops) == 3 && at == (unsigned)port)
			q = (struct bench_queue){true, octets, drops};
	}
	if (f)
		fclose(f);
	return q;
}

void
bench_wait_for_port(int port, const char *name)
{
	double end_s = bench_now_s() + LISTEN_S;

	while (!bench_queue_of(port).found) {
		if (bench_now_s() > end_s) {
			fprintf(stderr, "waited %d s for %s to listen on UDP port %d\n", LISTEN_S, name, port);
			exit(1);
		}
		usleep(20000);
	}
}

struct bench_used
bench_end(pid_t pid)
{
	struct rusage r = {0};
	double start = bench_now_s();
	int status;

	kill(pid, SIGTERM);
	while (wait4(pid, &status, WNOHANG, &r) == 0 && bench_now_s() < start + END_S)
		usleep(10000);
	kill(-pid, SIGKILL);
	wait4(pid, &status, 0, &r);
	return (struct bench_used){
	    1e6 * (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
		(double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec),
	    (double)r.ru_maxrss / 1024,
	};
}

void
bench_make_dir(char dir[BENCH_PATH_MAX])
{
	snprintf(dir, BENCH_PATH_MAX, "/tmp/ease_bench.XXXXXX");
	if (!mkdtemp(dir))
		bench_die(dir);
}

void
bench_remove_dir(const char *dir)
{
	char command[BENCH_PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command) != 0)
		bench_die(command);
}

static void
write_configuration(const char *dir, const char *path, const char *lines, bool sflow)
{
	FILE *f = fopen(path, "w");

	if (!f)
		bench_die(path);
	fprintf(f, "listen={\"127.0.0.1:0\"}\ncommunities={\"public\"}\nlog_level=\"error\"\nrun_as=root\n"
		   "store=\"%s/ease.db\"\n%s%s", dir, lines,
	    sflow ? "sflow_listen={\"127.0.0.1:0\"}\n" : "");
	fclose(f);
}

pid_t
bench_easecapd(const char *dir, const char *lines, bool sflow, int *port)
{
	const char *said = sflow ? "listening for sFlow on 127.0.0.1:" : "listening on 127.0.0.1:";
	char conf[BENCH_PATH_MAX + 8], line[BENCH_PATH_MAX] = "";
	char *argv[] = {(char *)"collector/easecapd", (char *)"-f", (char *)"-c", conf, NULL};
	int ends[2];
	pid_t pid;
	FILE *f;

	snprintf(conf, sizeof(conf), "%s/conf", dir);
	write_configuration(dir, conf, lines, sflow);
	if (pipe(ends) < 0)
		bench_die("pipe");
	pid = bench_spawn(argv, ends[1]);
	close(ends[1]);
	f = fdopen(ends[0], "r");
	*port = 0;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, said, strlen(said)) == 0)
			*port = atoi(line + strlen(said));
		if (strncmp(line, "listening on", strlen("listening on")) == 0)
			break; /* said last */
	}
	fclose(f);
	if (*port == 0) {
		fputs("collector/easecapd does not listen\n", stderr);
		exit(1);
	}
	return pid;
}

struct sqlite3 *
bench_open(const char *dir)
{
	char path[BENCH_PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/ease.db", dir);
	return unpacked_open(path, NULL);
}

double
bench_ask(struct sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;
	double value = -1;

	if (db && sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		value = sqlite3_column_double(s, 0);
	sqlite3_finalize(s);
	return value;
}

double
bench_stat(const char *dir, const char *name)
{
	char path[BENCH_PATH_MAX + 16], sql[BENCH_PATH_MAX];
	sqlite3 *db = NULL;
	double value;

	snprintf(path, sizeof(path), "%s/ease.db", dir);
	snprintf(sql, sizeof(sql), "SELECT value FROM stat WHERE name = '%s'", name);
	(void)sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
	value = bench_ask(db, sql);
	sqlite3_close(db);
	return value;
}

/* The search */

/* The slowest of the runs as sent; 0 if one lost anything: a median would hide the runs that did. */
static double
lossless_at(bench_run *run, void *arg, double rate, int runs)
{
	double slowest = rate;

	for (int i = 0; i < runs; i++) {
		struct bench_result r = run(arg, rate);

		if (r.lost > 0)
			return 0;
		if (r.sent_per_s < slowest)
			slowest = r.sent_per_s;
	}
	return slowest;
}

double
bench_lossless(bench_run *run, void *arg, double start, int runs)
{
	double good = 0, bad = 0, rate = start * bench_scale(), sent;

	if (bench_is_small())
		return lossless_at(run, arg, rate, 1);
	for (int i = 0; i < STEPS_MAX && (good == 0 || bad == 0); i++) {
		sent = lossless_at(run, arg, rate, runs);
		if (sent > 0) {
			good = sent;
			if (sent * NEAR_ENOUGH < rate)
				return good; /* the sender's limit */
			rate *= 2;
		} else {
			bad = rate;
			rate /= 2;
		}
	}
	while (good > 0 && bad > good * NEAR_ENOUGH) {
		rate = (good + bad) / 2;
		sent = lossless_at(run, arg, rate, runs);
		if (sent == 0)
			bad = rate;
		else if (sent > good)
			good = sent;
		else
			return good;
	}
	return good;
}
