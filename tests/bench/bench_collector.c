/*
 * bench_collector [SECONDS [PAIRS [RUNS [RATE [SAMPLES]]]]]: notifications of one sample and its
 * snapshot, offered to easecapd at rising rates (or the one given, of so many samples) over
 * loopback, each rate to a fresh store; then packed to 1,400 octets; then the first to snmptrapd
 * in its default configuration with a log file. One JSON object a line: offered, stored, lost, and
 * at the end the best lossless rates and the ratio to what snmptrapd logged; before it a flood of
 * ten million pairs, and the memory that took; and what a rule of alarms costs a sample, where its port is
 * below the rule's rate and where all its keys are tested. Lossless is a rate at which every sample of every
 * run was in the stored windows. Runs where the build is (collector/easecapd). The receiver, all
 * its threads, has one core and the sender another.
 */
#include "tests/bench/bench_load.h"
#include "common/clock.h"
#include "tests/collector/input/trap_builder.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MESSAGE_MAX = 1400,
	HEADER_OCTETS = 128,
	PACKED_MAX = 8,		  /* samples: more do not fit a message */
	FIRST_SEQUENCE = 1 << 22, /* from here on to 2^28 each number has four octets in a name */
	FLOOD_RATE = 400000, /* the memory budget's own run: ten million spoofed pairs */
	FLOOD_PAIRS = 10000000,
	ALARM_RATE = 1000000, /* a second */
	ALARM_TURNS = 5,
};

static const uint8_t agent_id[8] = {9, 9, 9, 9, 9, 9, 9, 9};

/* One message, and where in it the numbers are that change */
struct template {
	uint8_t octets[MESSAGE_MAX];
	size_t n;
	uint32_t samples, pairs;
	uint64_t start_us; /* of the first sample, by the device */
	struct {
		size_t sequence_at, header_at, time_at;
	} at[PACKED_MAX];
};

/* A message of n samples, all alike but for one of them. Its length; 0: that many do not fit. */
static size_t
build(uint8_t *octets, uint32_t n, uint32_t other, const struct ease_sample *sample,
    const struct ease_sample *other_sample)
{
	static struct trap_message m;
	static uint8_t room[2 * MESSAGE_MAX];
	const struct ease_snapshot snapshot = {.if_index = 3, .time_us = sample->time_us};
	size_t octets_n;

	trap_start(&m, "public", EASE_NOTIFY_SAMPLES, agent_id, 1);
	for (uint32_t i = 0; i < n; i++)
		trap_add_sample(&m, i == other ? other_sample : sample);
	trap_add_snapshot(&m, &snapshot);
	octets_n = trap_build(&m, room, sizeof(room));
	if (octets_n > MESSAGE_MAX)
		return 0;
	memcpy(octets, room, octets_n);
	return octets_n;
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
find_places(struct template *t, const struct ease_sample *s, uint32_t i)
{
	uint8_t header[HEADER_OCTETS], octets[MESSAGE_MAX];
	struct ease_sample other = *s;

	other.sequence = FIRST_SEQUENCE | 1u << 27;
	build(octets, t->samples, i, s, &other);
	t->at[i].sequence_at = first_difference(t->octets, octets, t->n);
	other = *s;
	other.time_us ^= 1ull << 63;
	build(octets, t->samples, i, s, &other);
	t->at[i].time_at = first_difference(t->octets, octets, t->n);
	memcpy(header, s->header, sizeof(header));
	header[0] = 1;
	other = *s;
	other.header = header;
	build(octets, t->samples, i, s, &other);
	t->at[i].header_at = first_difference(t->octets, octets, t->n);
}

/* Device times begin now: of a clock that is wrong each record would be copied and stamped anew. */
static void
make_template(struct template *t, uint32_t samples, uint32_t pairs, uint64_t pool_pkts)
{
	const uint8_t header[HEADER_OCTETS] = {[12] = 8, [14] = 0x45, [17] = 100, [22] = 64,
	    [23] = 6};
	const struct ease_sample s = {
	    .time_us = clock_wall_us(&clock_system),
	    .if_index = 3,
	    .sequence = FIRST_SEQUENCE,
	    .direction = EASE_IN,
	    .skip = 7,
	    .mean_skip = 10,
	    .pool_pkts = pool_pkts,
	    .frame_octets = 500,
	    .kept_octets = HEADER_OCTETS,
	    .header = header,
	};

	*t = (struct template){.samples = samples, .pairs = pairs, .start_us = s.time_us};
	t->n = build(t->octets, samples, 0, &s, &s);
	for (uint32_t i = 0; t->n > 0 && i < samples; i++)
		find_places(t, &s, i);
}

/* As many samples as a message of MESSAGE_MAX octets holds. */
static uint32_t
most_samples(void)
{
	struct template t;
	uint32_t n = 1;

	do
		make_template(&t, ++n, 1, 0);
	while (t.n > 0 && n < PACKED_MAX);
	return t.n > 0 ? n : n - 1;
}

static void
fill(void *arg, uint8_t *octets, uint64_t number)
{
	const struct template *t = arg;

	if (octets[0] == 0)
		memcpy(octets, t->octets, t->n);
	for (uint32_t k = 0; k < t->samples; k++) {
		uint32_t sequence = (uint32_t)(FIRST_SEQUENCE + number * t->samples + k);
		uint64_t time_us = t->start_us + number * t->samples + k;
		uint32_t pair = (sequence * 2654435761u) % t->pairs;

		for (int i = 0; i < 4; i++)
			octets[t->at[k].sequence_at + (size_t)i] =
			    (uint8_t)((sequence >> 7 * (3 - i) & 0x7f) | (i < 3 ? 0x80 : 0));
		for (int i = 0; i < 8; i++)
			octets[t->at[k].time_at + (size_t)i] = (uint8_t)(time_us >> 8 * (7 - i));
		memcpy(octets + t->at[k].header_at + 2, &pair, 4);  /* destination MAC */
		memcpy(octets + t->at[k].header_at + 30, &pair, 4); /* destination IPv4 address */
	}
}

/* The receivers */

struct offer {
	struct template template;
	struct bench_load load;
	double seconds;
	const char *lines; /* of easecapd's configuration */
	uint64_t pool_pkts; /* of each sample */
	double cpu_us;	   /* of a sample, of the last run */
};

static struct offer
offer_of(uint32_t samples, uint32_t pairs, double seconds)
{
	struct offer o = {.seconds = seconds, .lines = ""};

	if (samples == 0 || samples > most_samples()) {
		fprintf(stderr, "bench_collector: 1 to %u samples fit a message\n", most_samples());
		exit(2);
	}
	make_template(&o.template, samples, pairs, 0);
	o.load = (struct bench_load){o.template.n, samples, fill, NULL};
	return o;
}

static struct bench_result
run_easecapd(void *arg, double rate)
{
	struct offer *o = arg;
	char dir[BENCH_PATH_MAX];
	uint64_t total = bench_datagrams(&o->load, rate * o->seconds);
	double samples = (double)total * o->load.samples, took, in_windows, finished;
	struct bench_used used;
	struct sqlite3 *store;
	pid_t pid;
	int port;

	make_template(&o->template, o->load.samples, o->template.pairs, o->pool_pkts);
	o->load.arg = &o->template;
	bench_make_dir(dir);
	pid = bench_easecapd(dir, o->lines, false, &port);
	took = bench_offer(port, &o->load, total, rate / o->load.samples);
	finished = bench_now_s();
	used = bench_end(pid); /* reads what is left, writes everything */
	finished = bench_now_s() - finished;
	store = bench_open(dir);
	in_windows = bench_ask(store, "SELECT sum(n) FROM window");
	printf("{\"bench\":\"collector\",\"program\":\"easecapd\",\"samples_each\":%u,"
	       "\"offered_per_s\":%.0f,"
	       "\"sent_per_s\":%.0f,\"sent\":%.0f,\"in_windows\":%.0f,\"in_keys\":[%.0f,%.0f,%.0f],"
	       "\"in_no_key\":%.0f,\"most_one_key_lacks\":%.0f,"
	       "\"sample_rows\":%.0f,\"lost\":%.0f,\"kernel_drops\":%.0f,\"pairs\":%u,"
	       "\"drain_s\":%.2f,\"cpu_us_each\":%.2f,\"rss_mib\":%.0f}\n",
	    o->load.samples, rate, samples / took, samples, in_windows,
	    bench_ask(store, "SELECT sum(n) FROM window_key WHERE kind = 1"),
	    bench_ask(store, "SELECT sum(n) FROM window_key WHERE kind = 2"),
	    bench_ask(store, "SELECT sum(n) FROM window_key WHERE kind = 7"),
	    bench_ask(store, "SELECT sum(n) FROM window_folded"),
	    bench_ask(store, "SELECT max(most_n) FROM window_folded"),
	    bench_ask(store, "SELECT count(*) FROM sample"), samples - in_windows,
	    bench_stat(dir, "input.kernel_drops"),
	    o->template.pairs, finished, used.cpu_us / in_windows, used.rss_mib);
	fflush(stdout);
	sqlite3_close(store);
	bench_remove_dir(dir);
	o->cpu_us = used.cpu_us / in_windows;
	return (struct bench_result){samples - in_windows, samples / took};
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
	struct offer o = offer_of(1, 1000, seconds);
	char dir[BENCH_PATH_MAX], conf[BENCH_PATH_MAX + 8], log[BENCH_PATH_MAX + 8];
	char address[BENCH_PATH_MAX];
	char *argv[] = {(char *)"snmptrapd", (char *)"-f", (char *)"-n", (char *)"-On",
	    (char *)"-C", (char *)"-c", conf, (char *)"-Lf", log, address, NULL};
	uint64_t total = bench_datagrams(&o.load, rate * seconds), logged;
	int port = 20000 + getpid() % 20000;
	double took;
	pid_t pid;
	FILE *f;

	o.load.arg = &o.template;
	bench_make_dir(dir);
	snprintf(conf, sizeof(conf), "%s/conf", dir);
	snprintf(log, sizeof(log), "%s/log", dir);
	snprintf(address, sizeof(address), "udp:127.0.0.1:%d", port);
	setenv("SNMP_PERSISTENT_DIR", dir, 1);
	f = fopen(conf, "w");
	if (!f)
		bench_die(conf);
	fputs("authCommunity log public\n", f);
	fclose(f);
	pid = bench_spawn(argv, -1);
	bench_wait_for_port(port, argv[0]);
	took = bench_offer(port, &o.load, total, rate);
	usleep(200000); /* what its buffer holds: a hundredth of a second's work */
	bench_end(pid);
	logged = count_lines(log);
	printf("{\"bench\":\"collector\",\"program\":\"snmptrapd\",\"offered_per_s\":%.0f,"
	       "\"sent\":%llu,\"logged\":%llu,\"logged_per_s\":%.0f}\n",
	    rate, (unsigned long long)total, (unsigned long long)logged, (double)logged / took);
	bench_remove_dir(dir);
	return (double)logged / took;
}

/* What a rule costs: the least of some runs with it beside the least without, in turns. A port whose pool does not grow is
 * below any rate, of one whose pool is not known each sample is tested. */
static void
weigh_alarms(double seconds, uint32_t pairs)
{
	static const char rule[] = "alarms = {\"destination above 1000 pps of each port\"}\n";
	const uint64_t pools[] = {0, EASE_COUNT_UNKNOWN};
	double least_us[2][2] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}};
	struct offer o = offer_of(1, pairs, seconds);

	for (int turn = 0; turn < (bench_is_small() ? 1 : ALARM_TURNS); turn++)
		for (int run = 0; run < 4; run++) {
			o.pool_pkts = pools[run / 2];
			o.lines = run % 2 ? rule : "";
			run_easecapd(&o, ALARM_RATE * bench_scale());
			least_us[run / 2][run % 2] = fmin(least_us[run / 2][run % 2], o.cpu_us);
		}
	for (int tested = 0; tested < 2; tested++)
		printf("{\"bench\":\"alarms, %s\",\"keys\":%u,\"without_us\":%.3f,\"cpu_us\":%.3f}\n", tested ? "tested" : "gated", pairs,
		    least_us[tested][0], least_us[tested][1]);
}

int
main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5, best, packed, peer;
	uint32_t pairs = argc > 2 ? (uint32_t)atoi(argv[2]) : 100000;
	int runs = argc > 3 ? atoi(argv[3]) : 1;
	double only = argc > 4 ? atof(argv[4]) : 0;
	struct offer o;

	bench_become_sender();
	o = offer_of(argc > 5 ? (uint32_t)atoi(argv[5]) : 1, pairs, seconds);
	if (only > 0) {
		for (int i = 1; i < runs; i++)
			run_easecapd(&o, only);
		return run_easecapd(&o, only).lost > 0;
	}
	best = bench_lossless(run_easecapd, &o, 400e3, runs);
	o = offer_of(most_samples(), pairs, seconds);
	packed = bench_lossless(run_easecapd, &o, 1000e3, runs);
	o = offer_of(1, (uint32_t)(FLOOD_PAIRS * bench_scale()), (double)FLOOD_PAIRS / FLOOD_RATE * bench_scale());
	run_easecapd(&o, FLOOD_RATE);
	weigh_alarms(seconds, pairs);
	peer = run_snmptrapd(40000 * bench_scale(), seconds);
	printf("{\"bench\":\"collector\",\"lossless_per_s\":%.0f,\"packed_lossless_per_s\":%.0f,"
	       "\"snmptrapd_per_s\":%.0f,\"ratio\":%.1f}\n",
	    best, packed, peer, peer > 0 ? best / peer : 0);
	return 0;
}
