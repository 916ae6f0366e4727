/*
 * bench_sflow [SECONDS [PAIRS [RUNS [RATE [PROGRAM]]]]]: sFlow v5 datagrams of six samples with
 * headers of 128 octets, of that many pairs of addresses, offered over loopback to easecapd, to
 * sfacctd (its memory table with the same keys: both MACs, both addresses, protocol, both ports)
 * and to sfcapd, and to an easecapd that sends all on (forward), each on one core with all its processes. One JSON object a line: every offer with
 * what was counted of it, then the highest lossless rates, found by the same search, and their
 * ratios. With a RATE that rate alone, to that PROGRAM (easecapd). Runs where the build is.
 *
 * easecapd keeps three tables of PAIRS keys (MAC pairs, IP pairs, conversations) and three small
 * ones, where sfacctd has one and sfcapd writes what comes to a file. Each peer gets the largest
 * socket buffer that net.core.rmem_max lets it have (tests/bench/bench.sh raises that for the run), and
 * sfacctd queues between its processes that never filled.
 */
#include "tests/bench/bench_load.h"
#include "tests/common/sflow_builder.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SAMPLES = 6,
	HEADER_OCTETS = 128,
	/* Of a compact flow sample with one header record (sFlow v5): */
	SEQUENCE_AT = 8,
	POOL_AT = 20,
	HEADER_AT = 64,
	DATAGRAM_SEQUENCE_AT = 16,
	RATE_OF_AGENT = 100,
	BUFFER_OCTETS = 32 << 20,
	DRAIN_POLL_US = 20000,
	DRAIN_QUIET = 15,  /* polls without any work: it is done */
	DRAIN_POLLS = 500, /* ten seconds: somebody else works on that core */
	SETTLE_US = 500000,
};

struct traffic {
	struct sflow_builder template;
	size_t sample_at[SAMPLES];
	uint32_t pairs;
};

struct program {
	const char *name;
	/* Starts it in dir; where to send. */
	pid_t (*start)(const char *dir, int *port);
	/* Samples that it counted; called while it runs, when it is idle, and once it ended. */
	double (*count_running)(const char *dir);
	double (*count_ended)(const char *dir);
	double held_back; /* samples that it may keep in a buffer between its processes */
};

struct bench {
	const struct program *program;
	struct traffic *traffic;
	struct bench_load load;
	double seconds;
};

/* Traffic */

static void
put_word(uint8_t *at, uint32_t word)
{
	word = htonl(word);
	memcpy(at, &word, sizeof(word));
}

static void
make_template(struct traffic *t)
{
	const uint8_t header[HEADER_OCTETS] = {[0] = 2, [6] = 2, [11] = 1, [12] = 8, [14] = 0x45,
	    [16] = 1, [17] = 0xe2, [22] = 64, [23] = 6, [26] = 10, [29] = 1, [30] = 10,
	    [34] = 0x80, [37] = 80, [46] = 0x50};
	const struct built_flow flow = {.index = 3, .rate = RATE_OF_AGENT, .input = 3,
	    .output = 4, .frame_octets = 500, .stripped = 4, .kept = HEADER_OCTETS,
	    .header = header};

	built_begin(&t->template, 0xc0000201, 0, 1, 1000000, SAMPLES);
	for (int i = 0; i < SAMPLES; i++) {
		t->sample_at[i] = t->template.n;
		built_add_flow(&t->template, &flow);
	}
}

/* A pair is in the destination's MAC and IPv4 address and in the source's port. */
static void
fill(void *arg, uint8_t *octets, uint64_t number)
{
	const struct traffic *t = arg;

	if (octets[3] == 0) /* no version yet */
		memcpy(octets, t->template.octets, t->template.n);
	put_word(octets + DATAGRAM_SEQUENCE_AT, (uint32_t)number + 1);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint8_t *sample = octets + t->sample_at[i];
		uint32_t sequence = (uint32_t)number * SAMPLES + i + 1;
		uint32_t pair = (uint32_t)(sequence * 2654435761u) % t->pairs;

		put_word(sample + SEQUENCE_AT, sequence);
		put_word(sample + POOL_AT, sequence * RATE_OF_AGENT);
		memcpy(sample + HEADER_AT + 2, &pair, sizeof(pair));
		memcpy(sample + HEADER_AT + 31, &pair, 3);
		memcpy(sample + HEADER_AT + 35, &pair, 1);
	}
}

/* Programs */

static pid_t
start_easecapd(const char *dir, int *port)
{
	return bench_easecapd(dir, "", true, port);
}

/* It sends all on to a socket that nobody reads, on its one core. */
static pid_t
start_easecapd_forward(const char *dir, int *port)
{
	static int sink = -1;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	char lines[64];

	if (sink < 0)
		sink = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bind(sink, (struct sockaddr *)&at, len);
	if (getsockname(sink, (struct sockaddr *)&at, &len) < 0)
		bench_die("a socket to send on to");
	snprintf(lines, sizeof(lines), "forward = {\"127.0.0.1:%u\"}\n", ntohs(at.sin_port));
	return bench_easecapd(dir, lines, true, port);
}

static double
count_easecapd(const char *dir)
{
	struct sqlite3 *store = bench_open(dir);
	double n = bench_ask(store, "SELECT sum(n) FROM window");

	sqlite3_close(store);
	return n;
}

static int
some_port(void)
{
	return 20000 + getpid() % 20000;
}

static FILE *
open_file(const char *dir, const char *name, char path[static 2 * BENCH_PATH_MAX])
{
	FILE *f;

	snprintf(path, 2 * BENCH_PATH_MAX, "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f)
		bench_die(path);
	return f;
}

static pid_t
start_sfacctd(const char *dir, int *port)
{
	char conf[2 * BENCH_PATH_MAX];
	char *argv[] = {(char *)"sfacctd", (char *)"-f", conf, NULL};
	FILE *f = open_file(dir, "conf", conf);

	*port = some_port();
	fprintf(f, "daemonize: false\nlogfile: %s/log\nsfacctd_ip: 127.0.0.1\nsfacctd_port: %d\n"
		   "sfacctd_pipe_size: %d\nsfacctd_disable_checks: true\nplugins: memory[keys]\n"
		   "aggregate[keys]: src_mac,dst_mac,src_host,dst_host,proto,src_port,dst_port\n"
		   "imt_path[keys]: %s/imt\nimt_buckets[keys]: 262147\n"
		   "imt_mem_pools_number[keys]: 0\nimt_mem_pools_size[keys]: 1048576\n"
		   "plugin_pipe_size: 268435456\nplugin_buffer_size: 65536\n",
	    dir, *port, BUFFER_OCTETS, dir);
	fclose(f);
	return bench_spawn(argv, -1);
}

static double
first_number(const char *command)
{
	FILE *f = popen(command, "r");
	double value = -1;

	if (!f || fscanf(f, "%lf", &value) != 1)
		value = -1;
	if (f)
		pclose(f);
	return value;
}

static double
count_sfacctd(const char *dir)
{
	char command[2 * BENCH_PATH_MAX];

	snprintf(command, sizeof(command), "pmacct -p %s/imt -s -O csv | "
	    "awk -F, 'NR > 1 { n += $(NF - 1) } END { print n + 0 }'", dir);
	return first_number(command);
}

static pid_t
start_sfcapd(const char *dir, int *port)
{
	char number[16], buffer[16];
	char *argv[] = {(char *)"sfcapd", (char *)"-b", (char *)"127.0.0.1", (char *)"-p", number,
	    (char *)"-w", (char *)dir, (char *)"-B", buffer, (char *)"-t", (char *)"3600", NULL};

	*port = some_port();
	snprintf(number, sizeof(number), "%d", *port);
	snprintf(buffer, sizeof(buffer), "%d", BUFFER_OCTETS);
	return bench_spawn(argv, -1);
}

static double
count_sfcapd(const char *dir)
{
	char command[2 * BENCH_PATH_MAX];

	snprintf(command, sizeof(command),
	    "nfdump -R %s -I 2>/dev/null | awk '$1 == \"Flows:\" { print $2 }'", dir);
	return first_number(command);
}

static const struct program easecapd = {"easecapd", start_easecapd, NULL, count_easecapd, 0};
static const struct program forwarding = {"easecapd_forward", start_easecapd_forward, NULL, count_easecapd, 0};
static const struct program sfacctd = {"sfacctd", start_sfacctd, count_sfacctd, NULL, 1000};
static const struct program sfcapd = {"sfcapd", start_sfcapd, NULL, count_sfcapd, 0};

static const struct program *
program_named(const char *name)
{
	static const struct program *const programs[] = {&easecapd, &forwarding, &sfacctd, &sfcapd};

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (strcmp(programs[i]->name, name) == 0)
			return programs[i];
	fprintf(stderr, "no program %s\n", name);
	exit(2);
}

/* Runs */

/* CPU time of the receivers' core is the measure: whoever still works on it is not done. */
static unsigned long
core_busy(void)
{
	unsigned long user = 0, nice = 0, system = 0;
	FILE *f = fopen("/proc/stat", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "cpu0 %lu %lu %lu", &user, &nice, &system) == 3)
			break;
	if (f)
		fclose(f);
	return user + nice + system;
}

/* Until the socket is empty and its readers rest. */
static struct bench_queue
drain(int port)
{
	unsigned long busy = core_busy();
	struct bench_queue q;

	for (int quiet = 0, polls = 0; quiet < DRAIN_QUIET && polls < (bench_is_small() ? DRAIN_QUIET : DRAIN_POLLS); polls++) {
		unsigned long now;

		usleep(DRAIN_POLL_US);
		q = bench_queue_of(port);
		now = core_busy();
		quiet = q.octets == 0 && now - busy <= 1 ? quiet + 1 : 0;
		busy = now;
	}
	return q;
}

static struct bench_result
run(void *arg, double rate)
{
	struct bench *b = arg;
	const struct program *p = b->program;
	uint64_t datagrams = bench_datagrams(&b->load, rate * b->seconds);
	double samples = (double)datagrams * b->load.samples, took, counted = 0;
	char dir[BENCH_PATH_MAX];
	struct bench_used used;
	struct bench_queue q;
	int port;
	pid_t pid;

	bench_make_dir(dir);
	pid = p->start(dir, &port);
	bench_wait_for_port(port, p->name);
	usleep(SETTLE_US);
	took = bench_offer(port, &b->load, datagrams, rate / b->load.samples);
	q = drain(port);
	if (p->count_running)
		counted = p->count_running(dir);
	if (p->count_running)
		kill(-pid, SIGKILL); /* told what it had; ending may take it long */
	used = bench_end(pid);
	if (p->count_ended)
		counted = p->count_ended(dir);
	printf("{\"bench\":\"sflow\",\"program\":\"%s\",\"offered_per_s\":%.0f,\"sent_per_s\":%.0f,"
	       "\"sent\":%.0f,\"counted\":%.0f,\"lost\":%.0f,\"kernel_drops\":%lu,\"pairs\":%u,"
	       "\"cpu_ns_each\":%.0f,\"rss_mib\":%.0f}\n",
	    p->name, rate, samples / took, samples, counted, samples - counted, q.drops,
	    b->traffic->pairs, counted > 0 ? 1e3 * used.cpu_us / counted : 0, used.rss_mib);
	fflush(stdout);
	bench_remove_dir(dir);
	counted += p->held_back;
	return (struct bench_result){samples > counted ? samples - counted : 0, samples / took};
}

static double
best(struct bench *b, const struct program *program, double start, int runs)
{
	b->program = program;
	return bench_lossless(run, b, start, runs);
}

int
main(int argc, char **argv)
{
	static struct traffic traffic;
	struct bench b = {.traffic = &traffic, .seconds = argc > 1 ? atof(argv[1]) : 4};
	int runs = argc > 3 ? atoi(argv[3]) : 1;
	double only = argc > 4 ? atof(argv[4]) : 0, ours, forwards, accounts, captures;

	traffic.pairs = argc > 2 ? (uint32_t)atoi(argv[2]) : 100000;
	make_template(&traffic);
	b.load = (struct bench_load){traffic.template.n, SAMPLES, fill, &traffic};
	bench_become_sender();
	if (only > 0) {
		b.program = program_named(argc > 5 ? argv[5] : "easecapd");
		return run(&b, only).lost > 0;
	}
	ours = best(&b, &easecapd, 2000e3, runs);
	forwards = best(&b, &forwarding, 1000e3, runs);
	accounts = best(&b, &sfacctd, 400e3, runs);
	captures = best(&b, &sfcapd, 1000e3, runs);
	printf("{\"bench\":\"sflow\",\"lossless_per_s\":%.0f,\"forward_per_s\":%.0f,\"sfacctd_per_s\":%.0f,"
	       "\"sfcapd_per_s\":%.0f,\"ratio_sfacctd\":%.1f,\"ratio_sfcapd\":%.1f}\n",
	    ours, forwards, accounts, captures, accounts > 0 ? ours / accounts : 0,
	    captures > 0 ? ours / captures : 0);
	return 0;
}
