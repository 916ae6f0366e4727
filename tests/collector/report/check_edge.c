/*
 * The live edge: reports of the last minutes, asked for while data comes in, against the truth of the
 * very seconds that they say they cover. Bursty traffic of three ports is sampled and counted by a
 * model that shares nothing with the collector, its clock is stepped, and the records go through the
 * real accounting and store. Fixed seeds; EASE_LONG=1 makes many more runs.
 */
#include "collector/query/query.h"
#include "collector/render/render.h"
#include "collector/report/notes.h"
#include "collector/report/report.h"
#include "tests/collector/accounting_rig.h"
#include "tests/suite.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_US 1000000ull

enum { PORTS = 3, KEYS = 40, SECONDS = 600, TICKS = 20, SKIP = 50, LOOK_EVERY_S = 10, FIRST_LOOK_S = 150 };

/* ---- the model ---- */

struct totals {
	uint64_t pkts, octets;
};

/* How an agent sends what it counts. */
struct sending {
	const char *name;
	unsigned counters_s;	/* between two counters of a port */
	bool with_samples;	/* each sample comes with counters, as EASE sends them */
	bool all_at_once;	/* counters of all ports have one time; else they take turns */
	/* As our own agent sends sFlow: counters come at any phase, which each run draws, and samples wait a
	 * tick (message_wait_ms) for others. The time of both is that of reception. */
	bool any_phase;
	bool is_smooth;		/* the load is the same all the time */
	uint32_t boot;		/* 0: 1, as of EASE */
	bool stands_still;	/* the skip counters stand still for five sixths of each second */
};

static const struct sending sflow = {.name = "sFlow, counters every 30 s", .counters_s = 30, .all_at_once = true};
static const struct sending with_boot = {.name = "sFlow, its boot", .counters_s = 30, .all_at_once = true, .boot = 1700000000};
static const struct sending in_turn = {.name = "sFlow, ports in turn every 30 s", .counters_s = 30};
static const struct sending standing_still = {.name = "skip counters that stand still", .counters_s = 30,
    .is_smooth = true, .stands_still = true};
static const struct sending ease = {
    .name = "EASE, counters every 2 s", .counters_s = 2, .with_samples = true, .all_at_once = true};
static const struct sending bursty_agent = {
    .name = "our agent's sFlow, bursts", .counters_s = 30, .all_at_once = true, .any_phase = true};
static const struct sending smooth_agent = {.name = "our agent's sFlow, smooth", .counters_s = 30,
    .all_at_once = true, .any_phase = true, .is_smooth = true};

struct live {
	struct accounting_rig rig;
	const struct sending *sending;
	uint64_t random;
	double level[PORTS];		      /* of the port's load, in natural logarithms */
	unsigned hot[PORTS];		      /* the key that has a burst */
	struct totals port[PORTS];
	uint64_t stalled_pkts[PORTS];
	uint32_t sequence[PORTS];
	unsigned until_sample[PORTS];
	unsigned phase_ticks;		      /* with any_phase: when the first counters come */
	unsigned stopped_port, stopped_s;     /* sends no counters from then on; 0: none stops */
	unsigned ended_s;		      /* and passes no frame from then on; 0: it goes on */
	/* What passed until each second began: of all ports, and of each key at all ports. */
	struct totals truth[SECONDS + 1], truth_of_key[SECONDS + 1][KEYS];
	struct totals so_far, so_far_of_key[KEYS];
};

static uint64_t
draw(struct live *l)
{
	l->random ^= l->random << 13;
	l->random ^= l->random >> 7;
	l->random ^= l->random << 17;
	return l->random;
}

static double
uniform(struct live *l)
{
	return ((double)(draw(l) >> 11) + 0.5) / 9007199254740992.0;
}

static double
normal(struct live *l)
{
	return sqrt(-2 * log(uniform(l))) * cos(6.283185307179586 * uniform(l));
}

static unsigned
draw_skip(struct live *l)
{
	return 1 + (unsigned)(log(uniform(l)) / log(1 - 1.0 / SKIP));
}

/* Few keys have most; a burst is a third of the port's frames. */
static unsigned
draw_key(struct live *l, int port)
{
	double u = uniform(l);

	if (u < 0.33)
		return l->hot[port];
	u = uniform(l);
	return (unsigned)(KEYS * u * u * sqrt(u));
}

static uint32_t
octets_of(struct live *l, unsigned key)
{
	return uniform(l) < 0.2 + 0.6 * (key % 4) / 3.0 ? 1518 : 64 + 3 * key;
}

static uint64_t
time_at(double s)
{
	return NOON_US + (uint64_t)(s * 1e6);
}

static struct ease_record
record_at(const struct live *l, enum ease_part kind, double s)
{
	struct ease_record r = rig_record(kind, l->sending->boot ? l->sending->boot : 1);

	r.received_us = time_at(s) + 20000;
	rig_by_sflow(&r);
	return r;
}

static void
send_counters(struct live *l, int port, double s)
{
	struct ease_record r = record_at(l, EASE_PART_SNAPSHOT, s);
	const struct totals *t = &l->port[port];

	if (l->stopped_s > 0 && s >= l->stopped_s && (unsigned)port == l->stopped_port)
		return;
	r.snapshot = (struct ease_snapshot){.if_index = (uint32_t)port + 1, .time_us = time_at(s),
	    .in = {.octets = t->octets, .ucast_pkts = t->pkts}, .pool_in_pkts = t->pkts,
	    .last_sequence = l->sequence[port], .stalled_pkts = l->stalled_pkts[port]};
	accounting_add_records(l->rig.accounting, l->rig.batch, &r, 1);
}

static void
send_sample(struct live *l, int port, unsigned key, uint32_t octets, double s)
{
	uint8_t header[BOOKS_HEADER];
	struct ease_record r = record_at(l, EASE_PART_SAMPLE, s);

	rig_header(0, header);
	header[12 + 2 + 15] = (uint8_t)(10 + key); /* of the source address */
	r.sample = (struct ease_sample){.time_us = time_at(s), .if_index = (uint32_t)port + 1,
	    .sequence = ++l->sequence[port], .direction = EASE_IN, .skip = SKIP - 1, .mean_skip = SKIP,
	    .pool_pkts = l->port[port].pkts + (l->sending->with_samples ? 0 : 12345), .frame_octets = octets, .kept_octets = BOOKS_HEADER,
	    .header = header};
	accounting_add_records(l->rig.accounting, l->rig.batch, &r, 1);
	if (l->sending->with_samples)
		send_counters(l, port, s + 1e-6);
}

/* The end of the tick, with its counters: they come in one datagram. */
static double
sent_at(const struct live *l, double s)
{
	return l->sending->any_phase ? (floor(s * TICKS + 1e-6) + 1) / TICKS : s;
}

static void
pass_frame(struct live *l, int port, double s)
{
	unsigned key = draw_key(l, port);
	uint32_t octets = octets_of(l, key);

	l->port[port].pkts++;
	l->port[port].octets += octets;
	l->so_far.pkts++;
	l->so_far.octets += octets;
	l->so_far_of_key[key].pkts++;
	l->so_far_of_key[key].octets += octets;
	if (l->sending->stands_still && s - floor(s) > 1 / 6.0) {
		l->stalled_pkts[port]++;
	} else if (--l->until_sample[port] == 0) {
		send_sample(l, port, key, octets, sent_at(l, s));
		l->until_sample[port] = draw_skip(l);
	}
}

/* Loads wander, so that no two half minutes are alike. */
static void
pass_tick(struct live *l, double s)
{
	for (int p = 0; p < PORTS; p++) {
		double frames;

		if (l->ended_s > 0 && s >= l->ended_s && (unsigned)p == l->stopped_port)
			continue;
		if (!l->sending->is_smooth)
			l->level[p] += 0.35 * normal(l) - 0.06 * l->level[p];
		if (uniform(l) < 0.03)
			l->hot[p] = (unsigned)(draw(l) % KEYS);
		frames = exp(l->level[p]) * 800.0 / TICKS * (1 + p);
		for (unsigned n = (unsigned)(frames + uniform(l)), i = 0; i < n; i++)
			pass_frame(l, p, s + (i + 0.5) / n / TICKS);
	}
}

static bool
counters_are_due(const struct live *l, int port, int s)
{
	unsigned every = l->sending->counters_s;

	if (l->sending->any_phase)
		return false;
	if (!l->sending->all_at_once)
		s += port * (int)every / PORTS;
	return (s + 4) % (int)every == 0;
}

static void
send_counters_of_tick(struct live *l, int s, int tick)
{
	unsigned now = (unsigned)(s * TICKS + tick), every = l->sending->counters_s * TICKS;

	for (int p = 0; l->sending->any_phase && p < PORTS && now % every == l->phase_ticks; p++)
		send_counters(l, p, (double)now / TICKS);
}

static void
pass_second(struct live *l, int s)
{
	l->truth[s] = l->so_far;
	memcpy(l->truth_of_key[s], l->so_far_of_key, sizeof(l->so_far_of_key));
	for (int p = 0; p < PORTS; p++)
		if (counters_are_due(l, p, s))
			send_counters(l, p, s);
	for (int t = 0; t < TICKS; t++) {
		send_counters_of_tick(l, s, t);
		pass_tick(l, s + (double)t / TICKS);
	}
	l->rig.clock.manual_wall_us = l->rig.clock.manual_mono_us = time_at(s + 1);
}

static void
send_states(struct live *l)
{
	for (int p = 0; p < PORTS; p++) {
		struct ease_record r = record_at(l, EASE_PART_STATE, 0);

		r.state = (struct ease_state){.if_index = (uint32_t)p + 1, .time_us = NOON_US,
		    .oper_status = EASE_IF_UP, .admin_status = EASE_IF_UP, .edge = true};
		snprintf(r.state.name, sizeof(r.state.name), "e-%d", p + 1);
		accounting_add_records(l->rig.accounting, l->rig.batch, &r, 1);
	}
}

/* Steps below a minute are of samples, all else is of sums: then hardly a sample has a row. */
static struct live *
live_begin(const struct sending *sending, uint64_t seed, bool has_rows)
{
	struct accounting_limits limits = rig_limits;
	struct live *l = calloc(1, sizeof(*l));

	ck_assert_ptr_nonnull(l);
	limits.sample_rows = has_rows ? 0 : 1;
	l->sending = sending;
	l->random = seed * 0x9e3779b97f4a7c15ull | 1;
	for (int i = 0; i < 20; i++)
		draw(l);
	rig_make(&l->rig);
	rig_open_with(&l->rig, &limits);
	for (int p = 0; p < PORTS; p++)
		l->until_sample[p] = draw_skip(l);
	if (sending->any_phase)
		l->phase_ticks = (unsigned)(draw(l) % (sending->counters_s * TICKS));
	send_states(l);
	return l;
}

static void
live_end(struct live *l)
{
	rig_close(&l->rig);
	rig_remove(&l->rig);
	free(l);
}

/* ---- what is asked ---- */

/* How many things a note is of. */
static size_t
n_named(const struct report_result *result, enum note_id id)
{
	const struct report_note *note = note_find(result, id);

	return note ? note->n_items : 0;
}

static void
ask(struct live *l, const char *name, const struct report_options *options, int now_s,
    struct report_result *result)
{
	char error[QUERY_ERROR_TEXT] = "";
	struct query *query;

	ck_assert_msg(query_open(l->rig.path, &query, error, sizeof(error)) == 0, "%s", error);
	*result = (struct report_result){0};
	ck_assert_msg(report_run(report_find(name), query, options, time_at(now_s), result) == 0, "%s: %s",
	    name, query->error);
	query_close(query);
}

static struct report_options
last(uint64_t minutes)
{
	struct report_options options = report_default_options();

	options.last_us = minutes * MINUTE_US;
	options.top = 100;
	return options;
}

static size_t
column_of(const struct report_result *result, enum report_type type)
{
	for (size_t c = 0; c < result->n_columns; c++)
		if (result->columns[c].type == type)
			return c;
	ck_abort_msg("no column of type %d", type);
}

/* Seconds since NOON; the end of a range that reaches to now is one of them. */
static int
second_of(uint64_t time_us)
{
	ck_assert_uint_eq(time_us % SECOND_US, 0);
	ck_assert(time_us >= NOON_US && time_us <= NOON_US + SECONDS * SECOND_US);
	return (int)((time_us - NOON_US) / SECOND_US);
}

static struct totals
truth_of(const struct live *l, int key, int from_s, int to_s)
{
	const struct totals *from = key < 0 ? &l->truth[from_s] : &l->truth_of_key[from_s][key];
	const struct totals *to = key < 0 ? &l->truth[to_s] : &l->truth_of_key[to_s][key];

	return (struct totals){to->pkts - from->pkts, to->octets - from->octets};
}

/* The key's number, from the last part of the address in the row's first text. */
static int
key_of(const struct report_result *result, size_t row)
{
	const char *text = report_cell(result, row, 1)->text, *dot = strrchr(text, '.');

	ck_assert_msg(dot, "%s", text);
	return atoi(dot + 1) - 10;
}

struct tally {
	unsigned long trials[2], low[2], high[2]; /* limits that miss the truth, by estimate_unit */
	double ratio[2], off2[2];		  /* sums: rate / true rate, and what it is off by, squared */
	unsigned long looks, disagreed; /* samples and counters, the list says */
	double behind_s; /* sum: how far the edge is behind now */
};

static void
judge(struct tally *t, enum estimate_unit unit, const struct estimate_figure *f, double truth)
{
	t->trials[unit]++;
	t->low[unit] += truth < f->low * (1 - 1e-9);
	t->high[unit] += truth > f->high * (1 + 1e-9);
}

static void
add_ratio(struct tally *t, enum estimate_unit unit, double ratio)
{
	t->ratio[unit] += ratio;
	t->off2[unit] += (ratio - 1) * (ratio - 1);
}

static double
held(const struct tally *t, enum estimate_unit unit)
{
	return 1 - (double)(t->low[unit] + t->high[unit]) / (double)t->trials[unit];
}

static void
judge_rows(struct tally *t, const struct live *l, const struct report_result *result, int from_s, int to_s)
{
	size_t pkts = column_of(result, REPORT_PKTS), octets = column_of(result, REPORT_OCTETS);

	for (size_t r = 0; r < result->n_rows; r++) {
		struct totals truth = truth_of(l, key_of(result, r), from_s, to_s);

		judge(t, ESTIMATE_PKTS, &report_cell(result, r, pkts)->figure, (double)truth.pkts);
		judge(t, ESTIMATE_OCTETS, &report_cell(result, r, octets)->figure, (double)truth.octets);
	}
}

/* The report of the last minutes against what passed in the seconds from its beginning to its end. */
static void
look(struct tally *t, struct live *l, int now_s, uint64_t minutes)
{
	struct report_options options = last(minutes);
	struct report_result result;
	struct totals truth;
	int from_s, to_s;

	ask(l, "talkers", &options, now_s, &result);
	ck_assert_uint_eq(result.counted_to_us, result.to_us);
	from_s = second_of(result.from_us);
	to_s = second_of(result.to_us);
	ck_assert_int_eq(from_s, (to_s - 60 * (int)minutes) / 60 * 60);
	ck_assert_double_eq_tol(result.seconds, to_s - from_s, 1e-6);
	t->disagreed += note_find(&result, NOTE_ID_DISAGREEMENT) != NULL;
	truth = truth_of(l, -1, from_s, to_s);
	add_ratio(t, ESTIMATE_PKTS, result.total[ESTIMATE_PKTS] / (double)truth.pkts);
	add_ratio(t, ESTIMATE_OCTETS, result.total[ESTIMATE_OCTETS] / (double)truth.octets);
	t->behind_s += now_s - to_s;
	t->looks++;
	judge_rows(t, l, &result, from_s, to_s);
	report_result_free(&result);
}

static void
print(const char *what, const struct tally *t)
{
	printf("%s: %lu looks, rate/true %.4f %.4f (each off by %.4f %.4f), edge %.1f s behind, rows held %.4f %.4f (of"
	       " %lu; low %.4f %.4f)\n", what, t->looks, t->ratio[0] / (double)t->looks, t->ratio[1] / (double)t->looks,
	    sqrt(t->off2[0] / (double)t->looks), sqrt(t->off2[1] / (double)t->looks),
	    t->behind_s / (double)t->looks, held(t, ESTIMATE_PKTS), held(t, ESTIMATE_OCTETS), t->trials[0],
	    (double)t->low[0] / (double)t->trials[0], (double)t->low[1] / (double)t->trials[1]);
}

static bool
is_long(void)
{
	return getenv("EASE_LONG") && !suite_is_slow();
}

/* Seeds are fixed: what holds once always does. With a sanitizer one run, which tells too little of limits to be judged. */
static int
n_runs(void)
{
	if (SUITE_SANITIZES)
		return 1;
	return is_long() ? 40 : 2;
}

/* Phases differ from run to run: few runs would have few of them, which matters where loads do. */
static int
n_runs_of(const struct sending *sending)
{
	return sending->any_phase && !sending->is_smooth && !is_long() && !suite_is_slow() && !SUITE_SANITIZES ? 4 : n_runs();
}

/* ---- minutes ---- */

enum { TOP = 5, MINUTES = 9, ENOUGH_SAMPLES = 5 };

/* Each minute of a history, of the keys that are largest in all of them. */
static void
judge_minutes(struct tally *t, struct live *l)
{
	enum { KEY, PKTS, OCTETS, KEY_SAMPLES }; /* columns of a step */
	struct report_options options = last(5);
	struct report_result result;

	options.has_from = options.has_to = true;
	options.from_us = NOON_US + MINUTE_US;
	options.to_us = options.from_us + (MINUTES - 1) * MINUTE_US;
	options.step_us = MINUTE_US;
	options.top = TOP;
	options.has_top = true;
	ask(l, "history", &options, SECONDS, &result);
	ck_assert_uint_eq(result.n_rows, MINUTES - 1);
	for (size_t m = 0; m < result.n_rows; m++)
		for (size_t r = 0; r < result.steps->within[m].n_rows; r++) {
			const struct report_value *row = report_cell(&result.steps->within[m], r, 0);
			int from_s = 60 * (int)(m + 1);
			int key = key_of(result.below, (size_t)row[KEY].number);
			struct totals truth = truth_of(l, key, from_s, from_s + 60);

			if (row[KEY_SAMPLES].number < ENOUGH_SAMPLES)
				continue;
			judge(t, ESTIMATE_PKTS, &row[PKTS].figure, (double)truth.pkts);
			judge(t, ESTIMATE_OCTETS, &row[OCTETS].figure, (double)truth.octets);
		}
	report_result_free(&result);
}

/* ---- rates ---- */

/* The looks of a run overlap, so that few runs tell the part of limits that hold to a percent at best. */
static void
check_rates(const struct sending *sending, double behind_s, double bar)
{
	static const uint64_t minutes[] = {1, 5};
	struct tally tally[2] = {0}, of_minutes = {.looks = 1};

	for (int run = 0; run < n_runs_of(sending); run++) {
		struct live *l = live_begin(sending, (uint64_t)run + 1, false);

		for (int s = 0; s < SECONDS; s++) {
			pass_second(l, s);
			rig_flush(&l->rig);
			if ((s + 1) % LOOK_EVERY_S != 0)
				continue;
			for (int m = 0; m < 2; m++)
				if (s + 1 >= FIRST_LOOK_S + (int)(minutes[m] - 1) * 60)
					look(&tally[m], l, s + 1, minutes[m]);
		}
		judge_minutes(&of_minutes, l);
		live_end(l);
	}
	for (int m = 0; m < 2; m++) {
		const struct tally *t = &tally[m];
		char what[80];

		snprintf(what, sizeof(what), "%s, last %d min", sending->name, (int)minutes[m]);
		print(what, t);
		for (int u = ESTIMATE_PKTS; !SUITE_SANITIZES && u <= ESTIMATE_OCTETS; u++) {
			ck_assert_double_eq_tol(t->ratio[u] / (double)t->looks, 1, 0.02);
			ck_assert_msg(held(t, (enum estimate_unit)u) >= bar, "%s: held %.4f", what,
			    held(t, (enum estimate_unit)u));
			ck_assert_double_le((double)t->low[u] / (double)t->trials[u], is_long() ? 0.025 : 0.03);
			ck_assert_double_le((double)t->high[u] / (double)t->trials[u], is_long() ? 0.04 : 0.05);
		}
		ck_assert_double_le(t->behind_s / (double)t->looks, behind_s);
		ck_assert_uint_le(t->disagreed, t->looks / 1000);
	}
	print(sending->name, &of_minutes);
	if (SUITE_SANITIZES)
		return;
	ck_assert_double_ge(held(&of_minutes, ESTIMATE_PKTS), 0.94);
	ck_assert_double_ge(held(&of_minutes, ESTIMATE_OCTETS), 0.92);
}

START_TEST(test_rates_of_sflow)
{
	check_rates(&sflow, 30, 0.95);
}
END_TEST

START_TEST(test_rates_of_our_agent_in_bursts)
{
	check_rates(&bursty_agent, 30, 0.94);
}
END_TEST

START_TEST(test_rates_of_our_agent_smooth)
{
	check_rates(&smooth_agent, 30, 0.94);
}
END_TEST

/* The edge is the port's whose turn is longest ago; what the others had counted by then is known by
 * interpolation only. */
START_TEST(test_rates_of_ports_in_turn)
{
	check_rates(&in_turn, 30, 0.94);
}
END_TEST

START_TEST(test_rates_of_ease)
{
	check_rates(&ease, 5, 0.95);
}
END_TEST

/* ---- steps of ten seconds ---- */

/* What a report says that it counted in received frames; rows of history and load added up. */
static double
counted(const struct report_result *result, enum estimate_unit unit)
{
	const char *field = unit == ESTIMATE_PKTS ? "packets" : "octets";
	double sum = 0;

	if (strcmp(result->report, "load") == 0)
		field = unit == ESTIMATE_PKTS ? "rx_packets" : "rx_octets";
	else if (strcmp(result->report, "history") != 0)
		return result->total[unit];
	for (size_t c = 0; c < result->n_columns; c++)
		for (size_t r = 0; result->columns[c].field && strcmp(result->columns[c].field, field) == 0 &&
		     r < result->n_rows; r++)
			sum += report_cell(result, r, c)->number;
	return sum;
}

enum { TEN_S = 10, TENS_FROM_S = 120, TENS_TO_S = 420 };

/* Each step of the middle five minutes: its total, and the keys that are largest in all of them. */
static void
judge_tens(struct tally *t, struct live *l, bool is_coarse)
{
	enum { KEY, PKTS, OCTETS, KEY_SAMPLES }; /* columns of a step */
	struct report_options options = last(5);
	struct report_result result;

	options.has_from = options.has_to = true;
	options.from_us = time_at(TENS_FROM_S);
	options.to_us = time_at(TENS_TO_S);
	options.step_us = TEN_S * SECOND_US;
	options.top = TOP;
	options.has_top = true;
	ask(l, "history", &options, SECONDS, &result);
	ck_assert_uint_eq(result.steps->step_us, TEN_S * SECOND_US);
	ck_assert_uint_eq(result.n_rows, (TENS_TO_S - TENS_FROM_S) / TEN_S);
	ck_assert_uint_eq(n_named(&result, NOTE_ID_COARSE), is_coarse ? PORTS : 0);
	for (int u = ESTIMATE_PKTS; u <= ESTIMATE_OCTETS; u++) /* each is rounded */
		ck_assert_double_eq_tol(counted(&result, (enum estimate_unit)u) / result.total[u], 1, 1e-5);
	for (size_t i = 0; i < result.n_rows; i++) {
		int from_s = TENS_FROM_S + TEN_S * (int)i;
		struct totals truth = truth_of(l, -1, from_s, from_s + TEN_S);

		add_ratio(t, ESTIMATE_PKTS, result.steps->within[i].total[ESTIMATE_PKTS] / (double)truth.pkts);
		add_ratio(t, ESTIMATE_OCTETS, result.steps->within[i].total[ESTIMATE_OCTETS] / (double)truth.octets);
		t->looks++;
		for (size_t r = 0; r < result.steps->within[i].n_rows; r++) {
			const struct report_value *row = report_cell(&result.steps->within[i], r, 0);
			struct totals of_key = truth_of(l, key_of(result.below, (size_t)row[KEY].number), from_s, from_s + TEN_S);

			if (row[KEY_SAMPLES].number < ENOUGH_SAMPLES)
				continue;
			judge(t, ESTIMATE_PKTS, &row[PKTS].figure, (double)of_key.pkts);
			judge(t, ESTIMATE_OCTETS, &row[OCTETS].figure, (double)of_key.octets);
		}
	}
	report_result_free(&result);
}

START_TEST(test_steps_of_ten_seconds)
{
	static const struct sending *const sendings[] = {&sflow, &in_turn, &ease};

	for (size_t i = 0; i < sizeof(sendings) / sizeof(sendings[0]); i++) {
		struct tally t = {0};
		double off;

		for (int run = 0; run < (is_long() ? n_runs() : 1); run++) {
			struct live *l = live_begin(sendings[i], (uint64_t)run + 2001, true);

			for (int s = 0; s < SECONDS; s++) {
				pass_second(l, s);
				if (s % 2)
					rig_flush(&l->rig);
			}
			rig_flush(&l->rig);
			judge_tens(&t, l, sendings[i] != &ease);
			live_end(l);
		}
		print(sendings[i]->name, &t);
		off = sqrt(t.off2[ESTIMATE_PKTS] / (double)t.looks);
		ck_assert_double_le(off, sendings[i] == &ease ? 0.02 : 0.1);
		if (SUITE_SANITIZES)
			continue;
		ck_assert_double_ge(held(&t, ESTIMATE_PKTS), 0.94);
		ck_assert_double_ge(held(&t, ESTIMATE_OCTETS), 0.92);
	}
}
END_TEST

/* Rows of a list and what its account has beside them. */
static double
listed(const struct report_result *result, enum estimate_unit unit)
{
	size_t column = column_of(result, unit == ESTIMATE_PKTS ? REPORT_PKTS : REPORT_OCTETS);
	double sum = 0;

	for (size_t r = 0; !result->sums[REPORT_SUM_TOGETHER].said && r < result->n_rows; r++)
		sum += report_cell(result, r, column)->figure.estimate;
	for (int i = 0; i < REPORT_N_SUMS; i++)
		if (result->sums[i].said)
			sum += result->sums[i].row[column].figure.estimate;
	return sum;
}

/* ---- short captures, and the end of an agent's life ---- */

/* Asked an hour later, as of what was imported: all that came, against what passed. */
static void
judge_past(struct tally *t, struct live *l, int seconds)
{
	struct report_options options = last(5);
	struct totals truth = truth_of(l, -1, 0, seconds);
	struct report_result result;

	options.all = true;
	ask(l, "talkers", &options, seconds + 3600, &result);
	for (int u = ESTIMATE_PKTS; u <= ESTIMATE_OCTETS; u++) {
		double passed = u == ESTIMATE_PKTS ? (double)truth.pkts : (double)truth.octets;

		ck_assert_double_eq_tol(result.total[u] / passed, 1, 0.06);
		ck_assert_double_gt(result.uncounted.total[u], 0);
		ck_assert_double_eq_tol(listed(&result, ESTIMATE_OCTETS) / result.total[ESTIMATE_OCTETS], 1, 1e-6);
		add_ratio(t, (enum estimate_unit)u, result.total[u] / passed);
	}
	t->looks++;
	judge_rows(t, l, &result, 0, seconds);
	report_result_free(&result);
	ask(l, "load", &options, seconds + 3600, &result);
	for (size_t r = 0; r < result.n_rows; r++)
		for (size_t c = 0; c < result.n_columns; c++)
			if (result.columns[c].field && strcmp(result.columns[c].field, "check") == 0)
				ck_assert_ptr_null(strstr(report_cell(&result, r, c)->text, "mismatch"));
	report_result_free(&result);
	options.step_us = TEN_S * SECOND_US;
	ask(l, "history", &options, seconds + 3600, &result);
	ck_assert_double_eq_tol(counted(&result, ESTIMATE_PKTS) / result.total[ESTIMATE_PKTS], 1, 0.02);
	report_result_free(&result);
	options.step_us = MINUTE_US;
	ask(l, "history", &options, seconds + 3600, &result);
	ck_assert_double_eq_tol(counted(&result, ESTIMATE_PKTS) / (double)truth.pkts, 1, 0.06);
	truth = truth_of(l, -1, (seconds - 1) / 60 * 60, seconds);
	ck_assert_double_eq_tol(result.steps->within[result.n_rows - 1].total[ESTIMATE_PKTS] / (double)truth.pkts, 1, 0.1);
	report_result_free(&result);
}

/* Counters first come after 4 to 26 seconds, and the last ones up to 29 seconds before the end; of one port they cease
 * while its samples go on, or it ends before the others. */
START_TEST(test_short_captures)
{
	static const struct sending *const sendings[] = {&sflow, &in_turn, &smooth_agent};
	static const int seconds[] = {45, 60, 85, 170};
	struct tally t = {0};

	for (int run = 0; run < (is_long() ? 3 * n_runs() : SUITE_SANITIZES ? 3 : 6); run++) /* six kinds */
		for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
			struct live *l = live_begin(sendings[run % 3], (uint64_t)run + 3001, true);

			l->stopped_port = (unsigned)run % PORTS;
			l->stopped_s = run % 3 == 1 ? 40 : 0;
			l->ended_s = run % 6 == 4 ? 50 : 0;
			for (int p = 0; run % 2 && p < PORTS; p++) /* they wrap */
				l->sequence[p] = UINT32_MAX - 300 * (unsigned)(i + 1);
			for (int s = 0; s < seconds[i]; s++)
				pass_second(l, s);
			l->truth[seconds[i]] = l->so_far;
			memcpy(l->truth_of_key[seconds[i]], l->so_far_of_key, sizeof(l->so_far_of_key));
			rig_flush(&l->rig);
			judge_past(&t, l, seconds[i]);
			live_end(l);
		}
	print("short captures", &t);
	for (int u = ESTIMATE_PKTS; u <= ESTIMATE_OCTETS; u++) {
		ck_assert_double_eq_tol(t.ratio[u] / (double)t.looks, 1, 0.02);
		if (!SUITE_SANITIZES)
			ck_assert_double_ge(held(&t, (enum estimate_unit)u), 0.94);
	}
}
END_TEST

/* First counters after 26 seconds, the last ones 2 seconds before the end: the total has what passed then, too. */
START_TEST(test_capture_with_one_near_end)
{
	enum { LASTS_S = 598, RUNS = 6 };
	int n_held = 0;

	for (int run = 0; run < RUNS; run++) {
		struct live *l = live_begin(&with_boot, (uint64_t)run + 4001, true);
		struct report_options options = last(5);
		struct report_result result;

		options.all = true;
		for (int s = 0; s < LASTS_S; s++) {
			pass_second(l, s);
			if (s % 10 == 0)
				rig_flush(&l->rig);
		}
		rig_flush(&l->rig);
		ask(l, "talkers", &options, LASTS_S + 3600, &result);
		ck_assert_uint_eq(n_named(&result, NOTE_ID_PARTLY), PORTS);
		n_held += fabs(result.total[ESTIMATE_PKTS] - (double)l->so_far.pkts) <
		    1.96 * sqrt(result.uncounted.variance[ESTIMATE_PKTS]);
		report_result_free(&result);
		live_end(l);
	}
	ck_assert_int_ge(n_held, RUNS - 1);
}
END_TEST

/* ---- one range for all, and ports that fall silent ---- */

enum { NOW_S = 415, SILENT_S = 200 };

static void
live_on(struct live *l, int from_s, int until_s)
{
	for (int s = from_s; s < until_s; s++) {
		pass_second(l, s);
		rig_flush(&l->rig);
	}
}

static struct live *
live_until(const struct sending *sending, int stopped_s, int now_s)
{
	struct live *l = live_begin(sending, 77, false);

	l->stopped_port = 1;
	l->stopped_s = (unsigned)stopped_s;
	live_on(l, 0, now_s);
	return l;
}

START_TEST(test_all_reports_have_one_range)
{
	static const char *const names[] = {"talkers", "protocols", "conversations", "matrix", "history",
		"load", "loss", "energy", "errors", "agents"};
	struct live *l = live_until(&in_turn, 0, NOW_S);
	struct report_options options = last(5);
	struct report_result first, result;
	double totals[2];

	ask(l, "talkers", &options, NOW_S, &first);
	for (int u = ESTIMATE_PKTS; u <= ESTIMATE_OCTETS; u++)
		totals[u] = counted(&first, (enum estimate_unit)u);
	ck_assert_int_lt(second_of(first.to_us), NOW_S);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ask(l, names[i], &options, NOW_S, &result);
		ck_assert_msg(result.from_us == first.from_us && result.to_us == first.to_us &&
		    result.counted_to_us == first.to_us && result.seconds == first.seconds, "%s", names[i]);
		/* load interpolates counters at the beginning, windows have the samples' pools there */
		for (int u = ESTIMATE_PKTS; i < 6 && u <= ESTIMATE_OCTETS; u++)
			ck_assert_msg(fabs(counted(&result, (enum estimate_unit)u) / totals[u] - 1) <
			    (i == 5 ? 0.05 : 1e-5), "%s: %.0f, not %.0f", names[i],
			    counted(&result, (enum estimate_unit)u), totals[u]);
		report_result_free(&result);
	}
	report_result_free(&first);
	live_end(l);
}
END_TEST

/* ---- sections of one moment ---- */

/* The page's sections: each is asked for when more has come, of all ports, and of those alone that lists count. */
START_TEST(test_sections_of_a_moment_agree)
{
	static const char *const names[] = {"talkers", "load", "history", "protocols", "matrix", "conversations"};
	struct live *l = live_until(&in_turn, 0, NOW_S);
	struct report_options options = last(5);
	struct report_moment moment;
	struct report_result result;
	struct query *query;
	char error[QUERY_ERROR_TEXT] = "";
	double totals[2] = {0};

	ck_assert_msg(query_open(l->rig.path, &query, error, sizeof(error)) == 0, "%s", error);
	ck_assert_int_eq(query_begin(query, &options, time_at(NOW_S)), 0);
	moment = query_moment(query, time_at(NOW_S));
	ck_assert(moment.at_edge);
	options.moment = moment;
	options.last_us = MINUTE_US; /* it is the moment that counts */
	for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++) {
		live_on(l, NOW_S + 15 * i, NOW_S + 15 * (i + 1));
		query_rest(query);
		options.sort = i % 2 ? ESTIMATE_PKTS : ESTIMATE_OCTETS;
		result = (struct report_result){0};
		ck_assert_msg(report_run(report_find(names[i]), query, &options, time_at(NOW_S + 15 * i), &result) == 0,
		    "%s: %s", names[i], query->error);
		ck_assert_msg(result.from_us == moment.from_us && result.to_us == moment.to_us &&
		    result.counted_to_us == moment.to_us, "%s", names[i]);
		for (int u = ESTIMATE_PKTS; u <= ESTIMATE_OCTETS; u++) {
			totals[u] = i == 0 ? result.total[u] : totals[u];
			ck_assert_double_eq_tol(result.total[u] / totals[u], 1, 1e-9);
			if (strcmp(names[i], "load") != 0) /* a history's steps are rounded */
				ck_assert_double_eq_tol(counted(&result, (enum estimate_unit)u) / totals[u], 1, 1e-5);
			if (result.list && (enum estimate_unit)u == options.sort)
				ck_assert_msg(fabs(listed(&result, options.sort) / totals[u] - 1) < 1e-6,
				    "%s: %.1f of %.1f", names[i], listed(&result, options.sort), totals[u]);
		}
		report_result_free(&result);
	}
	query_close(query);
	live_end(l);
}
END_TEST

/* Of ports that the moment's question was not about the edge is the same. */
START_TEST(test_a_moment_gives_other_ports_its_edge)
{
	struct live *l = live_until(&in_turn, 0, NOW_S);
	struct report_options options = last(5);
	struct report_result result;
	struct filter filter = {0};
	char refusal[FILTER_ERROR_TEXT];
	struct query *query;
	char error[QUERY_ERROR_TEXT] = "";

	ck_assert_int_eq(filter_add(&filter, "if e-1", refusal), 0);
	options.filter = &filter;
	ck_assert_msg(query_open(l->rig.path, &query, error, sizeof(error)) == 0, "%s", error);
	ck_assert_int_eq(query_begin(query, &options, time_at(NOW_S)), 0);
	options.moment = query_moment(query, time_at(NOW_S));
	query_close(query);
	options.filter = NULL;
	for (int i = 0; i < 2; i++) {
		ask(l, i ? "load" : "talkers", &options, NOW_S, &result);
		ck_assert_uint_eq(result.to_us, options.moment.to_us);
		ck_assert_uint_eq(result.counted_to_us, options.moment.to_us);
		report_result_free(&result);
	}
	live_end(l);
}
END_TEST

/* A port without counters for a minute no longer holds the edge back, and is named as long as it had
 * some in the range. */
START_TEST(test_silent_ports_are_named)
{
	struct live *l = live_until(&ease, SILENT_S, SILENT_S + 50);
	struct report_options options = last(5);
	const struct note_value *silent;
	struct report_result result;

	ask(l, "talkers", &options, SILENT_S + 50, &result);
	ck_assert_int_eq(second_of(result.to_us), SILENT_S - 1);
	ck_assert_uint_eq(n_named(&result, NOTE_ID_SILENT), 0);
	report_result_free(&result);
	live_on(l, SILENT_S + 50, NOW_S);
	ask(l, "talkers", &options, NOW_S, &result);
	ck_assert_int_ge(second_of(result.to_us), NOW_S - 3);
	ck_assert_uint_eq(n_named(&result, NOTE_ID_SILENT), 1);
	silent = note_find(&result, NOTE_ID_SILENT)->items[0].values; /* agent, port and counted_to */
	ck_assert_str_eq(silent[0].value.text, "192.0.2.1");
	ck_assert_str_eq(silent[1].value.text, "e-2");
	ck_assert_uint_le(silent[2].value.time_us, time_at(SILENT_S));
	report_result_free(&result);
	options.last_us = 2 * MINUTE_US; /* it had nothing in this range */
	ask(l, "talkers", &options, NOW_S, &result);
	ck_assert_uint_eq(n_named(&result, NOTE_ID_SILENT), 0);
	report_result_free(&result);
	live_end(l);
}
END_TEST

/* Counters of one more port, of another agent. */
static void
send_stranger(struct live *l, uint64_t octets, int s)
{
	struct ease_record r = record_at(l, EASE_PART_SNAPSHOT, s);

	r.agent_id[7] ^= 0xff;
	r.sender = "192.0.2.66";
	r.snapshot = (struct ease_snapshot){.if_index = 1, .time_us = time_at(s),
	    .in = {.octets = octets, .ucast_pkts = octets / 100}, .pool_in_pkts = octets / 100};
	accounting_add_records(l->rig.accounting, l->rig.batch, &r, 1);
}

/* Who sends its counters seldom, or no more, holds nobody back for longer than a minute, whatever it says that it
 * counted; if that is little, for not much longer than most. Counters come at these times, and in all so many octets. */
static const struct {
	int at_s[4];
	uint64_t octets;
	int behind_s; /* at most */
} strangers[] = {
	{{130, 205}, 60000, 32},
	{{130, 205}, UINT64_C(1) << 40, 62},
	{{130, 180, 189}, 60000, 32}, /* silent after a minute */
	{{130, 430}, UINT64_C(1) << 40, 62},
};

START_TEST(test_nobody_is_waited_for_alone)
{
	struct live *l = live_begin(&ease, 79, false);
	struct report_options options = last(5);
	struct report_result result;
	int said = 0;

	for (int s = 0; s < NOW_S; s++) {
		for (int i = 0; i < 4; i++)
			if (strangers[_i].at_s[i] == s && s > 0)
				send_stranger(l, strangers[_i].octets * (unsigned)i, s);
		pass_second(l, s);
		rig_flush(&l->rig);
		if (s < FIRST_LOOK_S || s % 5 > 0)
			continue;
		ask(l, "talkers", &options, s + 1, &result);
		ck_assert_msg(second_of(result.to_us) >= s + 1 - strangers[_i].behind_s, "at %d s: counted to %d s",
		    s + 1, second_of(result.to_us));
		said += n_named(&result, NOTE_ID_SILENT) == 1 &&
		    strcmp(note_find(&result, NOTE_ID_SILENT)->items[0].values[0].value.text, "192.0.2.66") == 0;
		report_result_free(&result);
	}
	ck_assert_int_ge(said, 10);
	live_end(l);
}
END_TEST

/* A port that rests is not waited for, and what it counted before and afterwards is whole. One that has more to tell is
 * waited for, and so is one that nothing says this of: its counters came 30 s apart. */
START_TEST(test_resting_ports_do_not_hold_the_edge)
{
	enum { ENDED_S = 200, TOLD_S = 204, LATER_S = TOLD_S + 18 };
	struct live *l = live_begin(&ease, 78, false);
	struct report_options options = last(2);
	struct report_result result;

	l->stopped_port = 1;
	l->ended_s = ENDED_S;
	l->stopped_s = TOLD_S + 1;
	for (int s = 0; s < LATER_S; s++) {
		pass_second(l, s);
		rig_flush(&l->rig);
		if (s < FIRST_LOOK_S)
			continue;
		ask(l, "load", &options, s + 1, &result);
		ck_assert_int_ge(second_of(result.to_us), s - 2);
		ck_assert_uint_eq(n_named(&result, NOTE_ID_SILENT), 0);
		report_result_free(&result);
	}
	ask(l, "load", &options, LATER_S, &result);
	ck_assert_double_eq_tol(counted(&result, ESTIMATE_PKTS) / (double)(l->truth[second_of(result.to_us)].pkts -
	    l->truth[second_of(result.from_us)].pkts), 1, 0.02);
	report_result_free(&result);
	live_end(l);
	l = live_until(&sflow, 150, 190); /* it ends between two of its counters */
	ask(l, "load", &options, 190, &result);
	ck_assert_int_eq(second_of(result.to_us), 146);
	report_result_free(&result);
	live_end(l);
}
END_TEST

/* Of what a port counted after the edge, most passed while its skip counter stood still: that was never in the
 * total of which samples tell the shares. */
START_TEST(test_standstills_beyond_the_edge)
{
	struct live *l = live_until(&standing_still, 0, NOW_S - 30);
	struct report_options options = last(5);

	for (int now_s = NOW_S - 30; now_s < NOW_S; live_on(l, now_s, now_s + 7), now_s += 7) {
		struct report_result result;

		ask(l, "load", &options, now_s, &result);
		ck_assert_int_lt(second_of(result.to_us), now_s);
		ck_assert_uint_eq(result.n_rows, PORTS);
		for (size_t row = 0; row < result.n_rows; row++)
			ck_assert_msg(strcmp(report_cell(&result, row, result.n_columns - 1)->text, "ok") == 0,
			    "at %d s, port %zu: %s", now_s, row,
			    report_cell(&result, row, result.n_columns - 1)->text);
		report_result_free(&result);
		ask(l, "talkers", &options, now_s, &result);
		ck_assert(result.sums[REPORT_SUM_LOST].said);
		ck_assert_str_eq(result.sums[REPORT_SUM_LOST].name, "while skip counters were empty");
		report_result_free(&result);
	}
	live_end(l);
}
END_TEST

/* A range of the past, and one of a store that nothing more comes to, end where they were asked to. */
START_TEST(test_other_ranges_are_left_alone)
{
	struct live *l = live_until(&ease, 0, 200);
	struct report_options options = last(5);
	struct report_result result;

	options.has_from = options.has_to = true;
	options.from_us = NOON_US + MINUTE_US;
	options.to_us = NOON_US + 2 * MINUTE_US;
	ask(l, "talkers", &options, 200, &result);
	ck_assert_uint_eq(result.counted_to_us, 0);
	ck_assert_uint_eq(result.to_us, options.to_us);
	report_result_free(&result);
	options = last(5);
	ask(l, "talkers", &options, 300, &result);
	ck_assert_uint_eq(result.counted_to_us, 0);
	ck_assert(!result.empty);
	report_result_free(&result);
	live_end(l);
}
END_TEST

static Suite *
edge_suite(void)
{
	Suite *s = suite_create("edge");
	TCase *tc = tcase_create("live"), *standstills = tcase_create("standstills");
	TCase *sections = tcase_create("sections");

	tcase_set_timeout(sections, 0);
	tcase_add_test(sections, test_steps_of_ten_seconds);
	tcase_add_test(sections, test_short_captures);
	tcase_add_test(sections, test_capture_with_one_near_end);
	tcase_add_test(sections, test_sections_of_a_moment_agree);
	tcase_add_test(sections, test_a_moment_gives_other_ports_its_edge);
	suite_add_tcase(s, sections);

	tcase_set_timeout(standstills, 0);
	tcase_add_test(standstills, test_standstills_beyond_the_edge);
	suite_add_tcase(s, standstills);

	tcase_set_timeout(tc, 0);
	tcase_add_test(tc, test_rates_of_sflow);
	tcase_add_test(tc, test_rates_of_our_agent_in_bursts);
	tcase_add_test(tc, test_rates_of_our_agent_smooth);
	tcase_add_test(tc, test_rates_of_ports_in_turn);
	tcase_add_test(tc, test_rates_of_ease);
	tcase_add_test(tc, test_all_reports_have_one_range);
	tcase_add_test(tc, test_silent_ports_are_named);
	tcase_add_loop_test(tc, test_nobody_is_waited_for_alone, 0, sizeof(strangers) / sizeof(*strangers));
	tcase_add_test(tc, test_resting_ports_do_not_hold_the_edge);
	tcase_add_test(tc, test_other_ranges_are_left_alone);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return suite_run(edge_suite());
}
