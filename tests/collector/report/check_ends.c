/*
 * Ranges and steps whose ends lie between two counters: totals, the first row, rows, what stands below them, against
 * the truth of these very minutes. Ports are models that share nothing with the collector, with a backup of exactly
 * five minutes or with sources that go on and off; their counters come rarely, or stay away for ten minutes. The
 * records go through the real accounting and store.
 */
#include "collector/query/query.h"
#include "collector/render/render.h"
#include "collector/report/report.h"
#include "tests/collector/accounting_rig.h"
#include "tests/collector/estimate/bars.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PORTS = 32,
	KEYS = 12,
	MINUTES = 14,
	SKIP = 50,
	TICKS = 20, /* a second */
	BACKUP_FROM_S = 240,
	BACKUP_TO_S = 540,
	BOOT_OF_SFLOW = 1700000000,
};

enum shape { BACKUP, ON_AND_OFF, FAINT }; /* so faint that most minutes have no sample, or one */
enum pool { NO_POOL, LIKE_COUNTERS, THE_COUNTER };

struct ends_case {
	const char *name;
	enum shape shape;
	enum pool pool; /* of samples; THE_COUNTER: of EASE */
	unsigned counters_s;
	unsigned silent_from_s, silent_to_s; /* no counters come */
	unsigned from_min, minutes, step_min; /* ranges that are asked for, up to minute 12 */
	bool is_about; /* their totals have limits that show */
	bool is_mute;  /* while no counters come, no samples do */
	unsigned every_s; /* silent so often */
	bool has_counters; /* which come all the same */
};

static const struct ends_case cases[] = {
    {"backup, its five minutes, every 30 s", BACKUP, NO_POOL, 30, 0, 0, 4, 5, 60, false, false, 0, false},
    {"backup, minutes, every 30 s", BACKUP, NO_POOL, 30, 0, 0, 3, 1, 1, true, false, 0, false},
    {"backup, its five minutes, every 20 s, pool", BACKUP, LIKE_COUNTERS, 20, 0, 0, 4, 5, 60, false, false, 0, false},
    {"on and off, minutes, every 20 s", ON_AND_OFF, NO_POOL, 20, 0, 0, 2, 1, 1, true, false, 0, false},
    {"on and off, minutes, every 60 s", ON_AND_OFF, NO_POOL, 60, 0, 0, 2, 1, 1, true, false, 0, false},
    {"on and off, 5 minutes, every 60 s", ON_AND_OFF, NO_POOL, 60, 0, 0, 2, 5, 5, true, false, 0, false},
    {"on and off, minutes, every 60 s, pool", ON_AND_OFF, LIKE_COUNTERS, 60, 0, 0, 2, 1, 1, true, false, 0, false},
    {"on and off, minutes, ten without counters", ON_AND_OFF, NO_POOL, 20, 130, 730, 3, 1, 1, true, false, 0, false},
    {"on and off, 5 minutes, ten without counters", ON_AND_OFF, NO_POOL, 20, 130, 730, 4, 5, 60, true, false, 0, false},
    {"EASE, 2 minutes", ON_AND_OFF, THE_COUNTER, 2, 0, 0, 2, 2, 2, false, false, 0, false},
    {"EASE, minutes, one of two without anything", ON_AND_OFF, THE_COUNTER, 2, 85, 145, 2, 1, 1, true, true, 120, false},
    {"sFlow, minutes, one of two without anything", ON_AND_OFF, NO_POOL, 20, 85, 145, 2, 1, 1, true, true, 120, false},
    {"sFlow with pools, the same", ON_AND_OFF, LIKE_COUNTERS, 20, 85, 145, 2, 1, 1, true, true, 120, false},
    {"sFlow, 5 minutes, one of two without anything", ON_AND_OFF, NO_POOL, 20, 85, 145, 2, 5, 5, true, true, 120, false},
    {"sFlow, minutes, one of two without samples", ON_AND_OFF, NO_POOL, 20, 85, 145, 2, 1, 1, true, true, 120, true},
    {"sFlow, 5 minutes, one of two without samples", ON_AND_OFF, NO_POOL, 20, 85, 145, 2, 5, 5, true, true, 120, true},
    {"sFlow with pools, minutes, one of two without samples", ON_AND_OFF, LIKE_COUNTERS, 20, 85, 145, 2, 1, 1, true, true, 120, true},
    {"EASE, minutes, one of two without samples", ON_AND_OFF, THE_COUNTER, 2, 85, 145, 2, 1, 1, true, true, 120, true},
    {"EASE, 5 minutes, one of two without samples", ON_AND_OFF, THE_COUNTER, 2, 85, 145, 2, 5, 5, true, true, 120, true},
    {"backup, minutes, eight without anything", BACKUP, NO_POOL, 20, 130, 610, 3, 1, 1, true, true, 0, false},
    {"backup, 5 minutes, eight without anything", BACKUP, NO_POOL, 20, 130, 610, 1, 5, 5, true, true, 0, false},
    {"faint, minutes, every 30 s", FAINT, NO_POOL, 30, 0, 0, 2, 1, 1, true, false, 0, false},
};

/* ---- the model ---- */

struct totals {
	double of[ESTIMATE_N_UNITS];
};

struct port {
	unsigned until_s[KEYS]; /* on and off change then */
	bool is_on[KEYS];
	uint32_t octets[KEYS];
	unsigned phase_ticks; /* of its counters */
	uint64_t pkts, octets_sum;
	uint32_t sequence;
	struct totals minute[MINUTES][KEYS + 1]; /* the last one is of all keys */
};

struct model {
	const struct ends_case *of;
	struct accounting_rig rig;
	uint64_t random;
	struct port ports[PORTS];
};

static double
uniform(struct model *m)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return ((double)(m->random >> 11) + 0.5) / 9007199254740992.0;
}

static struct ease_record
record_at(const struct model *m, enum ease_part kind, uint64_t time_us)
{
	struct ease_record r = rig_record(kind, m->of->pool == THE_COUNTER ? 1 : BOOT_OF_SFLOW);

	r.received_us = time_us + 1000;
	if (m->of->pool != THE_COUNTER)
		rig_by_sflow(&r);
	return r;
}

static void
send_counters(struct model *m, unsigned port, uint64_t time_us)
{
	struct ease_record r = record_at(m, EASE_PART_SNAPSHOT, time_us);
	const struct port *p = &m->ports[port];

	r.snapshot = (struct ease_snapshot){.if_index = port + 1, .time_us = time_us, .pool_in_pkts = p->pkts,
	    .in = {.octets = p->octets_sum, .ucast_pkts = p->pkts}, .last_sequence = p->sequence};
	accounting_add_records(m->rig.accounting, m->rig.batch, &r, 1);
}

static void
send_sample(struct model *m, unsigned port, unsigned key, uint64_t time_us)
{
	struct ease_record r = record_at(m, EASE_PART_SAMPLE, time_us);
	struct port *p = &m->ports[port];
	uint8_t header[BOOKS_HEADER];

	rig_header(0, header);
	header[12 + 2 + 15] = (uint8_t)(10 + key); /* of the source address */
	r.sample = (struct ease_sample){.time_us = time_us, .if_index = port + 1, .sequence = ++p->sequence,
	    .direction = EASE_IN, .skip = SKIP - 1, .mean_skip = SKIP, .pool_pkts = EASE_COUNT_UNKNOWN,
	    .frame_octets = p->octets[key], .kept_octets = BOOKS_HEADER, .header = header};
	if (m->of->pool != NO_POOL)
		r.sample.pool_pkts = p->pkts + (m->of->pool == LIKE_COUNTERS ? 12345 : 0);
	accounting_add_records(m->rig.accounting, m->rig.batch, &r, 1);
}

/* Frames of a second. */
static double
rate_of(struct model *m, struct port *p, unsigned key, unsigned s)
{
	if (m->of->shape == BACKUP)
		return key > 0 ? 120.0 / key : s >= BACKUP_FROM_S && s < BACKUP_TO_S ? 1500 : 0;
	if (s >= p->until_s[key]) {
		p->is_on[key] = !p->is_on[key];
		p->until_s[key] = s + 1 + (unsigned)(-log(uniform(m)) * (p->is_on[key] ? 12 : 20));
	}
	return p->is_on[key] ? (m->of->shape == FAINT ? 0.5 : 900.0) / (1 + key) : 0;
}

static bool
is_silent(const struct model *m, unsigned s)
{
	if (m->of->every_s > 0)
		return (s + m->of->every_s - m->of->silent_from_s) % m->of->every_s < m->of->silent_to_s - m->of->silent_from_s;
	return s >= m->of->silent_from_s && s < m->of->silent_to_s;
}

static void
pass_tick(struct model *m, unsigned port, unsigned s, unsigned tick)
{
	uint64_t time_us = NOON_US + (s * TICKS + tick + 1) * (1000000ull / TICKS) - 1;
	struct port *p = &m->ports[port];

	for (unsigned key = 0; key < KEYS; key++) {
		unsigned n = (unsigned)(rate_of(m, p, key, s) / TICKS + uniform(m));

		for (unsigned i = 0; i < n; i++) {
			/* rows are of what passed while samples came */
			for (unsigned k = m->of->every_s > 0 && is_silent(m, s) ? KEYS : key; k <= KEYS; k += k == KEYS ? 1 : KEYS - key) {
				p->minute[s / 60][k].of[ESTIMATE_PKTS]++;
				p->minute[s / 60][k].of[ESTIMATE_OCTETS] += p->octets[key];
			}
			p->pkts++;
			p->octets_sum += p->octets[key];
			if (uniform(m) >= 1.0 / SKIP)
				continue;
			if (!m->of->is_mute || !is_silent(m, s))
				send_sample(m, port, key, time_us);
			else if (m->of->every_s > 0) /* it was sent, and nobody was there */
				p->sequence++;
		}
	}
}

static bool
counters_are_due(const struct model *m, const struct port *p, unsigned s, unsigned tick)
{
	return (m->of->has_counters || !is_silent(m, s)) && (s * TICKS + tick) % (m->of->counters_s * TICKS) == p->phase_ticks;
}

static void
pass_all(struct model *m)
{
	for (unsigned s = 0; s < MINUTES * 60; s++) {
		for (unsigned i = 0; i < PORTS * TICKS; i++) {
			unsigned port = i % PORTS, tick = i / PORTS;

			if (counters_are_due(m, &m->ports[port], s, tick))
				send_counters(m, port, NOON_US + (s * TICKS + tick) * (1000000ull / TICKS));
			pass_tick(m, port, s, tick);
		}
		m->rig.clock.manual_wall_us = m->rig.clock.manual_mono_us = NOON_US + (s + 1) * 1000000ull;
		if (s % 20 == 19)
			rig_flush(&m->rig);
	}
}

static void
begin_ports(struct model *m)
{
	static const uint32_t octets[] = {1514, 576, 64, 300};

	for (unsigned port = 0; port < PORTS; port++) {
		struct ease_record r = record_at(m, EASE_PART_STATE, NOON_US);
		struct port *p = &m->ports[port];

		r.state = (struct ease_state){.if_index = port + 1, .time_us = NOON_US, .oper_status = EASE_IF_UP,
		    .admin_status = EASE_IF_UP, .edge = true};
		snprintf(r.state.name, sizeof(r.state.name), "e-%u", port + 1);
		accounting_add_records(m->rig.accounting, m->rig.batch, &r, 1);
		p->phase_ticks = (unsigned)(uniform(m) * m->of->counters_s * TICKS);
		for (unsigned key = 0; key < KEYS; key++) {
			p->octets[key] = m->of->shape == BACKUP && key == 0 ? 1514 : octets[(key + port) % 4];
			p->is_on[key] = uniform(m) < 0.4;
		}
	}
}

/* ---- what is asked ---- */

enum what { TOTAL, RANK_1, ROWS, TOGETHER, OTHERS, N_WHAT };
static const char *const what_names[N_WHAT] = {"total", "rank 1", "rows", "rows together", "others"};

struct tallies {
	struct bars_tally of[N_WHAT][ESTIMATE_N_UNITS];
	unsigned n, n_about, n_accused;
};

static struct totals
truth_of(const struct port *p, unsigned key, unsigned from_min, unsigned minutes)
{
	struct totals sum = {{0, 0}};

	for (unsigned i = from_min; i < from_min + minutes; i++)
		for (int u = 0; u < ESTIMATE_N_UNITS; u++)
			sum.of[u] += p->minute[i][key].of[u];
	return sum;
}

static void
judge(struct bars_tally tally[ESTIMATE_N_UNITS], const struct estimate_figure figure[ESTIMATE_N_UNITS],
    const struct totals *truth)
{
	for (int u = 0; u < ESTIMATE_N_UNITS; u++)
		bars_judge(&tally[u], &figure[u], truth->of[u]);
}

static void
judge_rows(struct tallies *t, const struct report_result *result, const struct port *p, unsigned from_min,
    unsigned minutes, struct totals *shown)
{
	for (size_t r = 0; r < result->n_rows; r++) {
		const char *dot = strrchr(report_cell(result, r, 1)->text, '.');
		struct estimate_figure figure[ESTIMATE_N_UNITS];
		struct totals truth = truth_of(p, (unsigned)atoi(dot + 1) - 10, from_min, minutes);

		for (size_t c = 0; c < result->n_columns; c++)
			if (result->columns[c].type == REPORT_PKTS || result->columns[c].type == REPORT_OCTETS)
				figure[result->columns[c].type == REPORT_OCTETS] = report_cell(result, r, c)->figure;
		judge(t->of[r == 0 ? RANK_1 : ROWS], figure, &truth);
		for (int u = 0; u < ESTIMATE_N_UNITS; u++)
			shown->of[u] += truth.of[u];
	}
}

static void
judge_sum(struct bars_tally tally[ESTIMATE_N_UNITS], const struct report_result *result, enum report_sum_id id,
    const struct totals *truth)
{
	struct estimate_figure figure[ESTIMATE_N_UNITS];

	for (size_t c = 0; c < result->n_columns; c++)
		if (result->columns[c].type == REPORT_PKTS || result->columns[c].type == REPORT_OCTETS)
			figure[result->columns[c].type == REPORT_OCTETS] = result->sums[id].row[c].figure;
	judge(tally, figure, truth);
}

static void
judge_answer(struct tallies *t, const struct report_result *result, const struct port *p, unsigned from_min,
    unsigned minutes)
{
	struct totals truth = truth_of(p, KEYS, from_min, minutes), shown = {{0, 0}};
	struct estimate_figure total[ESTIMATE_N_UNITS];

	judge_rows(t, result, p, from_min, minutes, &shown);
	if (result->n_rows > 0)
		judge_sum(t->of[TOGETHER], result, REPORT_SUM_TOGETHER, &shown);
	for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
		double part = estimate_deviation(result->total[u], result->total_variance[u]);

		/* what is not "about" must be known to half of REPORT_ABOUT_PART */
		part = fmax(part, REPORT_ABOUT_PART / 2);
		total[u] = (struct estimate_figure){result->total[u], result->total[u] * (1 - part),
		    result->total[u] * (1 + part)};
		shown.of[u] = truth.of[u] - shown.of[u];
	}
	judge(t->of[TOTAL], total, &truth);
	if (result->sums[REPORT_SUM_OTHERS].n > 0)
		judge_sum(t->of[OTHERS], result, REPORT_SUM_OTHERS, &shown);
	t->n++;
	t->n_about += estimate_deviation(result->total[ESTIMATE_OCTETS], result->total_variance[ESTIMATE_OCTETS]) >
	    REPORT_ABOUT_PART;
}

static void
ask(struct tallies *t, struct model *m, struct query *query, unsigned port, unsigned from_min)
{
	struct report_options options = report_default_options();
	struct report_result result = {0};
	char text[32], refusal[FILTER_ERROR_TEXT];
	struct filter filter = {0};

	snprintf(text, sizeof(text), "if e-%u", port + 1);
	ck_assert_int_eq(filter_add(&filter, text, refusal), 0);
	options.filter = &filter;
	options.top = 5;
	options.has_from = options.has_to = true;
	options.from_us = NOON_US + from_min * MINUTE_US;
	options.to_us = options.from_us + m->of->minutes * MINUTE_US;
	ck_assert_msg(report_run(report_find("talkers"), query, &options, NOON_US + MINUTES * MINUTE_US, &result) == 0,
	    "%s", query->error);
	if (result.n_rows > 0 || m->of->is_mute || m->of->shape == FAINT)
		judge_answer(t, &result, &m->ports[port], from_min, m->of->minutes);
	report_result_free(&result);
	result = (struct report_result){0};
	ck_assert_msg(report_run(report_find("load"), query, &options, NOON_US + MINUTES * MINUTE_US, &result) == 0,
	    "%s", query->error);
	for (size_t c = 0; result.n_rows > 0 && c < result.n_columns; c++)
		if (strcmp(result.columns[c].field ? result.columns[c].field : "", "check") == 0) {
			const char *check = report_cell(&result, 0, c)->text;

			t->n_accused += check && strncmp(check, "mismatch", 8) == 0;
		}
	report_result_free(&result);
}

static const struct bar bars[N_WHAT] = {
    [TOTAL] = {.least = 0.94, .low = 0.03, .high = 0.03},
    [RANK_1] = {.least = 0.95, .low = 0.025},
    [ROWS] = {.least = 0.95, .low = 0.025},
    [TOGETHER] = {.least = 0.94},
    [OTHERS] = {.least = 0.92},
};

START_TEST(limits_hold_where_counters_are_rare)
{
	const struct ends_case *c = &cases[_i];
	struct model *m = calloc(1, sizeof(*m));
	struct accounting_limits limits = rig_limits;
	struct tallies t = {0};
	char error[QUERY_ERROR_TEXT] = "", name[160];
	struct query *query;
	bool holds = true;

	ck_assert_ptr_nonnull(m);
	m->of = c;
	m->random = 0x9e3779b97f4a7c15ull * (unsigned)(_i + 1) | 1;
	limits.sample_rows = 1; /* these reports are of sums */
	rig_make(&m->rig);
	rig_open_with(&m->rig, &limits);
	begin_ports(m);
	pass_all(m);
	rig_close(&m->rig);
	ck_assert_msg(query_open(m->rig.path, &query, error, sizeof(error)) == 0, "%s", error);
	for (unsigned from = c->from_min; from + c->minutes <= 12; from += c->step_min)
		for (unsigned port = 0; port < PORTS; port++)
			ask(&t, m, query, port, from);
	query_close(query);
	/* of others that passed while none was sampled nothing tells */
	for (int w = 0; w < (c->shape == FAINT ? RANK_1 : c->is_mute ? OTHERS : N_WHAT); w++)
		for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
			snprintf(name, sizeof(name), "%s: %s", c->name, what_names[w]);
			holds &= bars_check(name, (enum estimate_unit)u, &t.of[w][u], &bars[w], NULL);
		}
	ck_assert(SUITE_SANITIZES || holds);
	ck_assert_msg(c->is_about ? t.n_about > t.n / 2 : t.n_about < t.n / 20, "%s: %u of %u are about", c->name,
	    t.n_about, t.n);
	/* nor is anybody accused; but who counts and samples nothing is */
	ck_assert_msg((c->is_mute && c->every_s == 0) || t.n_accused <= t.n / 20, "%s: %u of %u are accused", c->name,
	    t.n_accused, t.n);
	rig_remove(&m->rig);
	free(m);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ends");
	TCase *tc = tcase_create("ends");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 240);
	tcase_add_loop_test(tc, limits_hold_where_counters_are_rare, 0, sizeof(cases) / sizeof(*cases));
	return suite_run(suite);
}
