/*
 * bench_full_store [HOURS [BUSY-MINUTES [ROUNDS]]]: how long answers take on a full store while the collector
 * receives. A store is filled by the accounting and the store's own writer with HOURS of full_network.h up to
 * now, clock stepped: 125 samples a second, and in the last BUSY-MINUTES 2,000 a second, as the guide plans
 * for; a flood of made-up sources, 1,000 samples a second more, in the last six minutes. Then a collector
 * opens it, the same network goes on live as notifications, first without readers for some seconds; then in turns
 * everything is asked that the page asks, /metrics, each report of easetop, and whole looks of the page, alone and
 * beside a second viewer who looks at another range without a pause. JSON, one object a line: the store, each
 * question with its range, status, median and longest time and the median of the processor's (of the collector while
 * it answered, so receiving is in it; or of easetop), and what was received of what was sent, without readers and
 * with them.
 * 168 hours with 1440 busy minutes are the whole size (an hour or two; BENCH_FULL_STORE="168 1440" for make
 * bench); 6 and 10 are the defaults. full_store.sh prints all of it as one table. Runs where the build is
 * (collector/easecapd, collector/easetop).
 */
#include "collector/store/store.h"
#include "collector/window/accounting.h"
#include "tests/bench/bench_load.h"
#include "tests/bench/full_network.h"
#include "tests/collector/input/trap_builder.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	BUSY_PER_S = 2000,
	USUAL_PER_S = 125,
	FLOOD_PER_S = 1000,
	FLOOD_MINUTES = 6,
	N_PORTS = FULL_AGENTS * FULL_PORTS,
	COUNTERS_EVERY_S = 20, /* of a port, in busy minutes and live */
	COUNTERS_SELDOM_S = 240, /* else: as far apart as counters may be without being a gap */
	MESSAGE_MAX = 1400,
	SETTLE_S = 3, /* until a collector has begun to answer */
	ALONE_S = 15, /* of receiving without readers */
	DRAIN_US = 2000000,
	ANSWER_OK = 200,
};
#define SECOND_US 1000000ull
#define MINUTE_US (60 * SECOND_US)
#define HOUR_US	  (60 * MINUTE_US)
#define DAY_US	  (24 * HOUR_US)

struct bench {
	char dir[BENCH_PATH_MAX], path[BENCH_PATH_MAX + 16];
	struct full_network *network;
	struct clock clock;
	struct store *store;
	struct accounting *accounting;
	struct store_batch *batch;
	uint64_t samples;
	int http_port;
	pid_t collector;
};

/* ---- filling ---- */

static void
open_store(struct bench *b)
{
	static const struct store_retention defaults = {.samples_us = DAY_US,
	    .level_us = {[LEVEL_1_MIN] = 2 * DAY_US, [LEVEL_5_MIN] = 14 * DAY_US,
		[LEVEL_1_H] = 92 * DAY_US, [LEVEL_1_D] = 800 * DAY_US},
	    .most_octets = 16ull << 30};
	struct store_room room[STORE_N_TABLES] = {0};
	char error[256];

	accounting_room(&accounting_default_limits, room);
	if (accounting_new(&b->accounting, &accounting_default_limits, &b->clock, 1) < 0 ||
	    store_open(&b->store, b->path, NULL, error, sizeof(error)) < 0)
		bench_die("opening the store");
	accounting_set_store(b->accounting, b->store);
	store_set_retention(b->store, &defaults);
	if (store_start(b->store, room) < 0)
		bench_die("starting the store");
	b->batch = store_take(b->store);
}

static void
flush(struct bench *b, uint64_t now_us)
{
	b->clock.manual_wall_us = b->clock.manual_mono_us = now_us;
	if (accounting_flush(b->accounting, b->batch) < 0)
		bench_die("cutting");
	store_submit(b->store, b->batch);
	if (store_drain(b->store) < 0)
		bench_die("writing");
	b->batch = store_take(b->store);
}

static void
take(struct bench *b, const struct ease_record *record)
{
	accounting_add_records(b->accounting, b->batch, record, 1);
}

/* Ports send their counters in turns, each at the given interval. */
static void
take_counters(struct bench *b, uint64_t from_us, uint64_t until_us, uint64_t every_s)
{
	uint64_t first = from_us * N_PORTS / (every_s * SECOND_US), end = until_us * N_PORTS / (every_s * SECOND_US);

	for (uint64_t i = first; i < end; i++)
		take(b, full_network_counters(b->network, (unsigned)(i % N_PORTS), until_us));
}

static void
take_samples(struct bench *b, uint64_t from_us, uint64_t step_us, uint64_t per_s, bool flood)
{
	uint64_t n = per_s * step_us / SECOND_US;

	for (uint64_t i = 0; i < n; i++) {
		take(b, full_network_sample(b->network, from_us + i * step_us / n));
		for (unsigned f = 0; flood && f < FLOOD_PER_S / BUSY_PER_S + (i % 2); f++, b->samples++)
			take(b, full_network_flood(b->network, from_us + i * step_us / n));
	}
	b->samples += n;
}
_Static_assert(FLOOD_PER_S * 2 == BUSY_PER_S, "of the flood one with every other sample");

/* Filling takes its time, which the last minutes must not lack: what passed until they begin is left out. They end
 * when they began to be filled; on a machine that is busy otherwise, filling them might never come to now. */
static void
fill(struct bench *b, uint64_t hours, uint64_t busy_minutes)
{
	uint64_t now_us = clock_wall_us(&clock_system), t = now_us - hours * HOUR_US;
	uint64_t busy_us = now_us - busy_minutes * MINUTE_US, flood_us = now_us - FLOOD_MINUTES * MINUTE_US;
	uint64_t end_us = UINT64_MAX;

	for (unsigned p = 0; p < N_PORTS; p++)
		take(b, full_network_state(b->network, p, t));
	while (t < end_us) {
		bool busy;
		uint64_t step_us;

		if (t >= flood_us && end_us == UINT64_MAX) {
			end_us = clock_wall_us(&clock_system);
			t = end_us - FLOOD_MINUTES * MINUTE_US;
			busy_us = end_us - busy_minutes * MINUTE_US; /* not more of them the slower the machine is */
		}
		busy = t >= busy_us;
		step_us = (busy ? 2 : 60) * SECOND_US;
		take_samples(b, t, step_us, busy ? BUSY_PER_S : USUAL_PER_S / (bench_is_small() ? 10 : 1),
		    end_us != UINT64_MAX);
		t += step_us;
		take_counters(b, t - step_us, t, busy ? COUNTERS_EVERY_S : COUNTERS_SELDOM_S);
		flush(b, t);
		if (t / HOUR_US != (t - step_us) / HOUR_US)
			store_rest(b->store);
	}
}

static void
make_store(struct bench *b, uint64_t hours, uint64_t busy_minutes)
{
	double start_s = bench_now_s();
	struct stat st = {0};

	open_store(b);
	fill(b, hours, busy_minutes);
	if (store_close(b->store) < 0)
		bench_die("closing the store");
	accounting_free(b->accounting);
	stat(b->path, &st);
	printf("{\"bench\":\"full_store\",\"hours\":%" PRIu64 ",\"busy_minutes\":%" PRIu64 ",\"samples\":%" PRIu64
	       ",\"mib\":%.0f,\"fill_s\":%.0f}\n",
	    hours, busy_minutes, b->samples, (double)st.st_size / (1 << 20), bench_now_s() - start_s);
	fflush(stdout);
}

/* ---- live ---- */

static int
open_sender(unsigned agent, int port)
{
	struct sockaddr_in from = {.sin_family = AF_INET};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	char address[16];

	full_network_address(agent, address);
	inet_pton(AF_INET, address, &from.sin_addr);
	if (fd < 0 || bind(fd, (struct sockaddr *)&from, sizeof(from)) < 0 ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		bench_die("sender");
	return fd;
}

static void
send_record(const struct ease_record *r, const int fds[FULL_AGENTS + 1])
{
	static struct trap_message m;
	uint8_t octets[MESSAGE_MAX];
	bool is_sample = r->kind == EASE_PART_SAMPLE;

	trap_start(&m, "public", is_sample ? EASE_NOTIFY_SAMPLES : EASE_NOTIFY_COUNTERS, r->agent_id, r->boot);
	if (is_sample)
		trap_add_sample(&m, &r->sample);
	else
		trap_add_snapshot(&m, &r->snapshot);
	if (send(fds[full_network_agent(r)], octets, trap_build(&m, octets, sizeof(octets)), 0) < 0)
		bench_die("send");
}

/* The network goes on until the process ends; *sent counts samples. */
static void
go_live(struct full_network *network, int port, _Atomic uint64_t *sent)
{
	uint64_t per_s = BUSY_PER_S / (bench_is_small() ? 10 : 1);
	int fds[FULL_AGENTS + 1];
	double start_s = bench_now_s();

	bench_become_sender();
	for (unsigned a = 1; a <= FULL_AGENTS; a++)
		fds[a] = open_sender(a, port);
	for (uint64_t i = 0, counters = 0;; i++) {
		while (bench_now_s() < start_s + (double)i / per_s)
			usleep(500);
		send_record(full_network_sample(network, clock_wall_us(&clock_system)), fds);
		++*sent;
		if (i % 2) {
			send_record(full_network_flood(network, clock_wall_us(&clock_system)), fds);
			++*sent;
		}
		for (; counters < i * N_PORTS / per_s / COUNTERS_EVERY_S; counters++)
			send_record(full_network_counters(network, (unsigned)(counters % N_PORTS),
			    clock_wall_us(&clock_system)), fds);
	}
}

/* ---- questions ---- */

/* As page.js asks them for a view; and /metrics. */
static const struct question {
	const char *name, *path;
	const char *only; /* of this range; NULL: of all; "": it takes none */
} questions[] = {
	{"page: ports", "/api/v1/load?", NULL},
	{"page: agents", "/api/v1/agents?", NULL},
	{"page: history", "/api/v1/history?sort=octets&layer=ip&top=5&", NULL},
	{"page: sources", "/api/v1/talkers?sort=octets&top=5&layer=ip&by=src&", NULL},
	{"page: destinations", "/api/v1/talkers?sort=octets&top=5&layer=ip&by=dst&", NULL},
	{"page: conversations", "/api/v1/conversations?sort=octets&top=5&layer=ip&", NULL},
	{"page: connections", "/api/v1/connections?top=5&", NULL},
	{"page: protocols", "/api/v1/protocols?sort=octets&top=5&by=service&", NULL},
	{"page: matrix", "/api/v1/matrix?sort=octets&layer=ip&top=60&", NULL},
	{"page: errors", "/api/v1/errors?top=100&", NULL},
	{"page: loss", "/api/v1/loss?", NULL},
	{"page: addresses", "/api/v1/addresses?top=200&", NULL},
	{"page: events", "/api/v1/events?top=100&", NULL},
	{"page: history of 10 s", "/api/v1/history?sort=octets&layer=ip&top=5&step=10s&", "1h"},
	{"/metrics", "/metrics", ""},
};
static const char *const reports[] = {"talkers", "matrix", "protocols", "conversations", "connections", "history",
    "load", "billing", "errors", "energy", "pause", "addresses", "events", "agents", "loss"};
static const char *const ranges[] = {"5m", "1h", "1d"};

enum {
	N_QUESTIONS = sizeof(questions) / sizeof(questions[0]),
	N_REPORTS = sizeof(reports) / sizeof(reports[0]),
	N_RANGES = sizeof(ranges) / sizeof(ranges[0]),
	ROUNDS_MAX = 100,
};

struct times {
	double s[ROUNDS_MAX], cpu_s[ROUNDS_MAX];
	int status; /* the worst: of HTTP, or of a process */
};

static int
connect_http(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		bench_die("the page");
	return fd;
}

/* The status of the answer, all of which is read; its first part stays in text. */
static int
get_body(int port, const char *path, char *text, size_t size)
{
	char request[1024], rest[65536];
	int fd = connect_http(port), status = 0;
	size_t n = (size_t)snprintf(request, sizeof(request),
	    "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", path), have = 0;
	ssize_t got = write(fd, request, n);

	while (got > 0) {
		got = have + 1 < size ? read(fd, text + have, size - 1 - have) : read(fd, rest, sizeof(rest));
		if (got > 0 && have + 1 < size)
			have += (size_t)got;
	}
	text[have] = '\0';
	close(fd);
	return sscanf(text, "HTTP/%*s %d", &status) == 1 ? status : 0;
}

static int
get(int port, const char *path)
{
	char text[4096];

	return get_body(port, path, text, sizeof(text));
}

/* Processor time of a process up to now. */
static double
cpu_s(pid_t pid)
{
	clockid_t clock;
	struct timespec t = {0};

	if (clock_getcpuclockid(pid, &clock) == 0)
		clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int
run_report(const struct bench *b, const char *report, const char *range, double *took_s)
{
	char url[BENCH_PATH_MAX + 32];
	struct rusage used = {0};
	pid_t pid;
	int status;

	snprintf(url, sizeof(url), "sqlite:%s", b->path);
	pid = fork();
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(127);
		execl("collector/easetop", "easetop", report, "--last", range, "--store", url, (char *)NULL);
		_exit(127);
	}
	wait4(pid, &status, 0, &used);
	*took_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
tell(const char *name, const char *range, struct times *t, int rounds)
{
	qsort(t->s, (size_t)rounds, sizeof(t->s[0]), compare);
	qsort(t->cpu_s, (size_t)rounds, sizeof(t->cpu_s[0]), compare);
	printf("{\"bench\":\"full_store_answer\",\"asked\":\"%s\",\"last\":\"%s\",\"status\":%d,\"median_s\":%.3f,"
	       "\"longest_s\":%.3f,\"cpu_s\":%.3f}\n", name, range, t->status, t->s[rounds / 2], t->s[rounds - 1],
	    t->cpu_s[rounds / 2]);
	fflush(stdout);
}

/* A look at the page: the moment, and each section of it. Returns the worst status. */
static int
look(int port, const char *range)
{
	char path[512], moment[128] = "", body[65536];
	int worst, status;

	snprintf(path, sizeof(path), "/api/v1/moment?last=%s", range);
	worst = get_body(port, path, body, sizeof(body));
	if (sscanf(strstr(body, "\"moment\"") ? strstr(body, "\"moment\"") : "", "\"moment\":\"%127[0-9-]", moment) != 1)
		return worst;
	for (int q = 0; q < N_QUESTIONS; q++) {
		if (questions[q].only)
			continue;
		snprintf(path, sizeof(path), "%smoment=%s", questions[q].path, moment);
		status = get(port, path);
		worst = status > worst ? status : worst;
	}
	return worst;
}

static void
time_looks(const struct bench *b, const char *name, const char *range, int rounds)
{
	struct times times = {0};

	for (int round = 0; round < rounds; round++) {
		double start_s = bench_now_s(), start_cpu_s = cpu_s(b->collector);
		int status = look(b->http_port, range);

		times.s[round] = bench_now_s() - start_s;
		times.cpu_s[round] = cpu_s(b->collector) - start_cpu_s;
		times.status = status > times.status ? status : times.status;
	}
	tell(name, range, &times, rounds);
}

static void
ask_looks(const struct bench *b, const char *range, int rounds)
{
	pid_t second;

	time_looks(b, "page: a whole look", range, rounds);
	second = fork();
	if (second == 0)
		for (;;)
			look(b->http_port, range == ranges[0] ? ranges[1] : ranges[0]);
	time_looks(b, "page: a whole look, a second viewer", range, rounds);
	kill(second, SIGKILL);
	waitpid(second, NULL, 0);
}

static bool
is_without_range(const struct question *question)
{
	return question->only && !*question->only;
}

static bool
is_asked(const struct question *question, const char *range)
{
	if (!question->only)
		return true;
	return *question->only ? strcmp(question->only, range) == 0 : range == ranges[0];
}

static void
ask_page(const struct bench *b, const char *range, int rounds)
{
	static struct times times[N_QUESTIONS];

	memset(times, 0, sizeof(times));
	for (int round = 0; round < rounds; round++)
		for (int q = 0; q < N_QUESTIONS; q++) {
			char path[256];

			if (!is_asked(&questions[q], range))
				continue;

			double start_s = bench_now_s(), start_cpu_s = cpu_s(b->collector);
			int status;

			snprintf(path, sizeof(path), is_without_range(&questions[q]) ? "%s" : "%slast=%s", questions[q].path,
			    range);
			status = get(b->http_port, path);
			times[q].s[round] = bench_now_s() - start_s;
			times[q].cpu_s[round] = cpu_s(b->collector) - start_cpu_s;
			if (status > times[q].status)
				times[q].status = status;
		}
	for (int q = 0; q < N_QUESTIONS; q++)
		if (is_asked(&questions[q], range))
			tell(questions[q].name, is_without_range(&questions[q]) ? "" : range, &times[q], rounds);
}

static void
ask_easetop(const struct bench *b, const char *range, int rounds)
{
	for (int r = 0; r < N_REPORTS; r++) {
		struct times times = {0};
		char name[32];

		for (int round = 0; round < rounds; round++) {
			double start_s = bench_now_s();
			int status = run_report(b, reports[r], range, &times.cpu_s[round]);

			times.s[round] = bench_now_s() - start_s;
			if (status > times.status)
				times.status = status;
		}
		snprintf(name, sizeof(name), "easetop %s", reports[r]);
		tell(name, range, &times, rounds);
	}
}

static int
free_port(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, n) < 0 || getsockname(fd, (struct sockaddr *)&at, &n) < 0)
		bench_die("a free port");
	close(fd);
	return ntohs(at.sin_port);
}

/* What was sent and received from `before` on, which is then now. */
struct received {
	uint64_t sent;
	double received, drops, at_s, cpu_s;
};

static void
tell_received(const struct bench *b, const char *readers, uint64_t sent, double collector_cpu_s, struct received *before)
{
	struct received now = {sent, bench_stat(b->dir, "accounting.samples"),
	    bench_stat(b->dir, "input.kernel_drops"), bench_now_s(), collector_cpu_s};

	printf("{\"bench\":\"full_store_received\",\"readers\":\"%s\",\"sent\":%" PRIu64 ",\"received\":%.0f,"
	       "\"sent_per_s\":%.0f,\"kernel_drops\":%.0f,\"collector_cpu_s\":%.1f}\n", readers, now.sent - before->sent,
	    now.received - before->received, (double)(now.sent - before->sent) / (now.at_s - before->at_s),
	    now.drops - before->drops, now.cpu_s - before->cpu_s);
	fflush(stdout);
	*before = now;
}

static void
ask_while_receiving(struct bench *b, int rounds)
{
	_Atomic uint64_t *sent = mmap(NULL, sizeof(*sent), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct received before = {0};
	struct bench_used used;
	double receiving_cpu_s;
	pid_t sender;
	char lines[64];
	int port;

	b->http_port = free_port();
	snprintf(lines, sizeof(lines), "http_listen=\"127.0.0.1:%d\"\n", b->http_port);
	b->collector = bench_easecapd(b->dir, lines, false, &port);
	before.at_s = bench_now_s();
	before.received = bench_stat(b->dir, "accounting.samples");
	before.drops = bench_stat(b->dir, "input.kernel_drops");
	sender = fork();
	if (sender == 0)
		go_live(b->network, port, sent);
	sleep(bench_is_small() ? 1 : SETTLE_S + ALONE_S);
	receiving_cpu_s = cpu_s(b->collector);
	tell_received(b, "none", *sent, receiving_cpu_s, &before);
	for (int r = 0; r < (bench_is_small() ? 1 : N_RANGES); r++) {
		ask_page(b, ranges[r], rounds);
		ask_easetop(b, ranges[r], rounds);
		ask_looks(b, ranges[r], rounds);
	}
	kill(sender, SIGKILL);
	waitpid(sender, NULL, 0);
	usleep((useconds_t)(DRAIN_US * bench_scale()));
	used = bench_end(b->collector);
	tell_received(b, "all", *sent, used.cpu_us / 1e6, &before);
	printf("{\"bench\":\"full_store_memory\",\"collector_mib\":%.0f}\n", used.rss_mib);
}

int
main(int argc, char **argv)
{
	uint64_t hours = argc > 1 ? strtoull(argv[1], NULL, 10) : 6, busy = argc > 2 ? strtoull(argv[2], NULL, 10) : 10;
	int rounds = argc > 3 ? atoi(argv[3]) : 3;
	struct bench b = {.clock = {.manual = true}};

	if (hours < 1 || busy > hours * 60 || rounds < 1 || rounds > ROUNDS_MAX) {
		fputs("usage: bench_full_store [HOURS [BUSY-MINUTES [ROUNDS]]]\n", stderr);
		return EXIT_FAILURE;
	}
	bench_make_dir(b.dir);
	snprintf(b.path, sizeof(b.path), "%s/ease.db", b.dir);
	b.network = full_network_new(1);
	if (!b.network)
		bench_die("no memory");
	make_store(&b, hours, busy);
	ask_while_receiving(&b, rounds);
	full_network_free(b.network);
	bench_remove_dir(b.dir);
	return EXIT_SUCCESS;
}
