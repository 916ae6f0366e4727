/*
 * A month of alarms on traffic that comes in bursts with a daily course: 100,000 talkers at eight ports whose skips move
 * each hour. Some keep to the bucket of the rule and use all of it, in each burst; some break it now and then. Each alarm
 * is held against the frames that were really sent: what is raised of a talker that conformed is false. A month with
 * tests/run --long, else a day.
 */
#include "collector/alarm/alarms.h"

#include "agent/sampling/skip.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PORTS = 8, TALKERS = 100000, SATURATING = 160, BREAKING = 40, LEAST_SKIP = 64, SKIP_STEPS = 5 };

/* Of the rule, packets a second; the bucket holds as many. */
#define RATE	1000.0
#define BURST_S 1.0
/* A saturating talker sends what its bucket holds at once. */
#define AT_ONCE		   (100 * RATE)
#define BREAKS_BY	   3.0
#define REMEMBERED_S	   600.0
#define QUIET_PKTS_S	   5.0
#define HOUR_S		   3600.0
#define DAY_S		   86400.0

/* One at a time: the begin of a train of frames, or a sampled frame of it. */
struct talker {
	double at_s, begin_s, end_s; /* of its event; of its train */
	double rate;	 /* of the train behind at_once frames */
	double at_once;	 /* frames that come at AT_ONCE */
	double level;	 /* of its bucket at end_s */
	double broken_s; /* since when it breaks the bucket in this train, and until when in one before */
	double was_broken_s;
	double frame;	 /* number within the train of the sampled one */
	bool in_train;
};

static struct {
	struct alarms *alarms;
	struct skip_stream stream;
	struct talker talkers[TALKERS];
	uint32_t heap[TALKERS]; /* of talkers, the next event first */
	uint32_t skip[PORTS];
	double now_s, hour_s;
	unsigned long right, wrong, broken, samples;
	double stated; /* false alarms, at most, as the alarms say of the month that goes on */
} month;

static double
uniform(void)
{
	return ((double)(skip_stream_next(&month.stream) >> 11) + 0.5) / 9007199254740992.0;
}

/* Without a mean of the squares: trains and silences of all lengths, up to an hour. */
static double
heavy_tailed(double least, double alpha)
{
	return fmin(HOUR_S, least * pow(uniform(), -1 / alpha));
}

/* ---- events ---- */

static void
sink_first(void)
{
	uint32_t moved = month.heap[0], at = 0;

	for (uint32_t child = 1; child < TALKERS; at = child, child = 2 * at + 1) {
		if (child + 1 < TALKERS && month.talkers[month.heap[child + 1]].at_s < month.talkers[month.heap[child]].at_s)
			child++;
		if (month.talkers[month.heap[child]].at_s >= month.talkers[moved].at_s)
			break;
		month.heap[at] = month.heap[child];
	}
	month.heap[at] = moved;
}

static int
compare_begins(const void *a, const void *b)
{
	double x = month.talkers[*(const uint32_t *)a].at_s, y = month.talkers[*(const uint32_t *)b].at_s;

	return (x > y) - (x < y);
}

/* ---- traffic ---- */

/* Silence is shorter by day than by night. */
static void
be_silent(struct talker *t, double from_s, uint32_t number)
{
	double by_day = 1 + 0.8 * sin(2 * 3.14159265358979 * from_s / DAY_S);
	double least_s = number < SATURATING + BREAKING ? 60 : 2000;

	t->in_train = false;
	t->at_s = from_s + heavy_tailed(least_s, 1.3) / by_day;
}

static void
begin_train(struct talker *t, uint32_t number)
{
	double left = RATE * BURST_S - fmax(0, t->level - RATE * (t->at_s - t->end_s)), length_s = heavy_tailed(0.3, 1.4);

	t->in_train = true;
	t->frame = 0;
	t->begin_s = t->at_s;
	t->at_once = 0;
	if (number < SATURATING) { /* to the brim, and as fast as it drains */
		t->rate = RATE;
		t->at_once = floor(left);
		t->end_s = t->begin_s + t->at_once / AT_ONCE + length_s;
		t->level = RATE * BURST_S;
	} else if (number < SATURATING + BREAKING) {
		t->rate = BREAKS_BY * RATE;
		t->end_s = t->begin_s + length_s;
		t->level = RATE * BURST_S - left + (t->rate - RATE) * length_s;
		if (t->level > RATE * BURST_S) {
			t->broken_s = t->begin_s + left / (t->rate - RATE);
			t->was_broken_s = t->end_s;
			month.broken++;
		}
		t->level = fmin(t->level, RATE * BURST_S); /* what was above it is told */
	} else {
		t->rate = QUIET_PKTS_S * (1 + number % 50);
		t->end_s = t->begin_s + length_s;
		t->level = 0;
	}
}

static bool
has_broken(const struct talker *t, double now_s)
{
	return t->was_broken_s > 0 && now_s >= t->broken_s && now_s - t->was_broken_s < REMEMBERED_S;
}

/* The next sampled frame of the train; none: silence. */
static void
go_on(struct talker *t, uint32_t number)
{
	bool partial;
	double at_once_s = t->at_once / AT_ONCE;

	t->frame += 1.0 + skip_draw(&month.stream, SAMPLING_GEOMETRIC, month.skip[number % PORTS], UINT32_MAX, &partial);
	t->at_s = t->begin_s +
	    (t->frame <= t->at_once ? t->frame / AT_ONCE : at_once_s + (t->frame - t->at_once) / t->rate);
	if (t->at_s > t->end_s)
		be_silent(t, t->end_s, number);
}

static void
pass_sample(uint32_t number)
{
	uint32_t place = number % PORTS, address = htonl(0x0a000000 + number);
	struct ease_sample sample = {.time_us = (uint64_t)(month.now_s * 1e6), .if_index = place + 1, .direction = EASE_IN,
	    .mean_skip = month.skip[place], .pool_pkts = EASE_COUNT_UNKNOWN, .frame_octets = 500};
	struct frame_keys keys = {.has_macs = true, .has_ethertype = true, .ethertype = 0x0800, .ip_version = 4,
	    .dst_ip = {192, 0, 2, 1}, .has_ip_proto = true, .ip_proto = 17, .has_ports = true, .src_port = 50000, .dst_port = 53};

	memcpy(keys.src_ip, &address, sizeof(address));
	month.samples++;
	/* The pool is not known, so each sample is tested. */
	alarms_sample(month.alarms,
	    &(struct watched_sample){&sample, &keys, 1, place, 1000000000, true, false, 0, (uint64_t)(month.now_s * 1e6)});
}

static void
judge_alarm(void *arg, const struct alarm_told *told)
{
	struct in_addr address;
	uint32_t number;

	(void)arg;
	if (told->news != ALARM_IS_RAISED)
		return;
	ck_assert_int_eq(inet_pton(AF_INET, told->parts.source, &address), 1);
	number = ntohl(address.s_addr) - 0x0a000000;
	ck_assert_uint_lt(number, TALKERS);
	if (has_broken(&month.talkers[number], month.now_s))
		month.right++;
	else
		month.wrong++;
}

static void
move_skips(void)
{
	for (int port = 0; port < PORTS; port++)
		month.skip[port] = LEAST_SKIP << (unsigned)(uniform() * SKIP_STEPS);
	month.hour_s += HOUR_S;
}

static void
begin_month(void)
{
	static const char rule_text[] = "talker above 1000 packets/s of each port";
	struct alarm_rule rule;
	const char *reason;

	skip_stream_seed(&month.stream, 20261130);
	month.now_s = month.hour_s = 1000;
	move_skips();
	ck_assert_int_eq(alarms_new(&month.alarms, PORTS, 2000000, 42, judge_alarm, NULL), 0);
	ck_assert_int_eq(alarm_rule_parse(rule_text, &rule, &reason), 0);
	ck_assert_int_eq(alarms_set_rules(month.alarms, &rule, 1, (uint64_t)(month.now_s * 1e6)), 0);
	for (uint32_t i = 0; i < TALKERS; i++) {
		be_silent(&month.talkers[i], month.now_s, i);
		month.heap[i] = i;
	}
	qsort(month.heap, TALKERS, sizeof(month.heap[0]), compare_begins); /* sorted is a heap */
}

START_TEST(a_month_has_no_more_false_alarms_than_stated)
{
	double days = suite_is_slow() ? 0.05 : getenv("EASE_LONG") ? 30 : 1, end_s, tick_s;

	begin_month();
	end_s = month.now_s + days * DAY_S;
	for (tick_s = month.now_s; month.now_s < end_s; sink_first()) {
		uint32_t number = month.heap[0];
		struct talker *t = &month.talkers[number];

		for (month.now_s = t->at_s; tick_s < month.now_s; tick_s += 1)
			alarms_tick(month.alarms, (uint64_t)(tick_s * 1e6));
		month.stated = fmax(month.stated, alarms_risk(month.alarms));
		if (month.now_s >= month.hour_s)
			move_skips();
		if (t->in_train)
			pass_sample(number);
		else
			begin_train(t, number);
		go_on(t, number);
	}
	/* Of a Poisson count: with nothing seen, 95 % are below 3; with one, below 4.74. */
	printf("%.2f days, %lu samples: %lu alarms of talkers that broke the rule %lu times, %lu false (95 %%: fewer than %.2f), "
	       "at most %.3g stated\n",
	    days, month.samples, month.right, month.broken, month.wrong, month.wrong == 0 ? 3.0 : 4.74,
	    month.stated);
	ck_assert_uint_le(month.wrong, 1);
	ck_assert_double_le(month.stated, ALARM_FALSE_A_MONTH);
	if (!suite_is_slow())
		ck_assert_uint_gt(month.right, 100); /* else it could not fail */
	alarms_free(month.alarms);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("month");
	TCase *tests = tcase_create("alarms");

	tcase_set_timeout(tests, getenv("EASE_LONG") ? 3600 : 120);
	tcase_add_test(tests, a_month_has_no_more_false_alarms_than_stated);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
