/*
 * Outages of a large network: 4,800 ports count on while nothing arrives for ten minutes, ten hours
 * and seven days, and all come back within 20 s. What reports say was counted equals the counters,
 * for each port, in the whole and in any parts that follow each other; the report loss says what was
 * not sampled; and the work is by what arrived. How long it takes is printed, not asserted.
 */
#include "collector/report/notes.h"
#include "collector/store/store.h"
#include "tests/collector/accounting_rig.h"
#include "tests/collector/answers.h"
#include "tests/suite.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_US 1000000ull
#define EVERY_US  (20 * SECOND_US)

enum { AGENTS = 100, PORTS = 48, ROUNDS = 9, A_MESSAGE = 6 };

static double
cpu_s(clockid_t which)
{
	struct timespec t;

	clock_gettime(which, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A port's counters at a time: each port has its own rates. */
static struct ease_snapshot
counters_at(unsigned agent, unsigned port, uint64_t time_us)
{
	uint64_t ms = (time_us - NOON_US) / 1000, rate = 1 + (agent * 7 + port * 13) % 977;

	return (struct ease_snapshot){
	    .if_index = port,
	    .time_us = time_us,
	    .in.octets = ms * rate * 131 + ms % 17,
	    .pool_in_pkts = ms * rate,
	    .out.octets = port % 5 == 0 ? 0 : ms * 1000 + agent,
	    .pool_out_pkts = port % 5 == 0 ? 0 : ms,
	};
}

/* When a port sends its counters in a round: agents and messages are spread over 20 s. */
static uint64_t
time_of(unsigned agent, unsigned port, uint64_t round_us)
{
	return round_us + (agent * 8 + port / A_MESSAGE) * (EVERY_US / (AGENTS * 8));
}

/* Sends the counters of all ports once. Returns the processor time of the receiving thread. */
static double
send_round(struct accounting_rig *f, uint64_t round_us)
{
	struct ease_record r[A_MESSAGE];
	double begin_s = cpu_s(CLOCK_THREAD_CPUTIME_ID);

	for (unsigned a = 0; a < AGENTS; a++)
		for (unsigned p = 1; p <= PORTS; p += A_MESSAGE) {
			uint64_t time_us = time_of(a, p, round_us);

			for (unsigned i = 0; i < A_MESSAGE; i++) {
				r[i] = rig_record(EASE_PART_SNAPSHOT, 1);
				r[i].agent_id[0] = (uint8_t)a;
				r[i].snapshot = counters_at(a, p + i, time_us);
				r[i].received_us = time_us + 700 + a;
			}
			f->clock.manual_wall_us = f->clock.manual_mono_us = time_us;
			accounting_add_records(f->accounting, f->batch, r, A_MESSAGE);
		}
	return cpu_s(CLOCK_THREAD_CPUTIME_ID) - begin_s;
}

/* What a report of that range adds up, by port and direction: pkts and octets. */
struct sums {
	double values[AGENTS][PORTS + 1][EASE_OUT + 1][2];
};

static void
add_range(struct sums *sums, struct query *query, uint64_t from_us, uint64_t to_us)
{
	struct report_options options = {.has_from = true, .has_to = true, .from_us = from_us,
	    .to_us = to_us};

	ck_assert_msg(query_begin(query, &options, to_us) == 0, "%s", query->error);
	ck_assert_msg(query_windows(query) == 0, "%s", query->error);
	ck_assert_uint_eq(query->n_ports, AGENTS * PORTS);
	for (size_t i = 0; i < query->n_ports; i++) {
		const struct query_port *port = &query->ports[i];

		for (int d = EASE_IN; d <= EASE_OUT; d++) {
			double *v = sums->values[port->agent->id - 1][port->if_index][d];

			v[0] += port->side[d].pool_pkts;
			v[1] += port->side[d].pool_octets;
		}
	}
}

static void
check_sums(const struct sums *sums, uint64_t last_round_us)
{
	for (unsigned a = 0; a < AGENTS; a++)
		for (unsigned p = 1; p <= PORTS; p++) {
			unsigned message = (p - 1) / A_MESSAGE * A_MESSAGE + 1;
			struct ease_snapshot first = counters_at(a, p, time_of(a, message, NOON_US));
			struct ease_snapshot last =
			    counters_at(a, p, time_of(a, message, last_round_us));
			const double(*v)[2] = sums->values[a][p];

			ck_assert_double_eq(v[EASE_IN][0],
			    (double)(last.pool_in_pkts - first.pool_in_pkts));
			ck_assert_double_eq(
			    v[EASE_IN][1], (double)(last.in.octets - first.in.octets));
			ck_assert_double_eq(v[EASE_OUT][0],
			    (double)(last.pool_out_pkts - first.pool_out_pkts));
			ck_assert_double_eq(
			    v[EASE_OUT][1], (double)(last.out.octets - first.out.octets));
		}
}

static uint64_t
draw(uint64_t below)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

/* The whole, and the same time cut at random minutes. */
static void
check_reports(const struct accounting_rig *f, uint64_t last_round_us)
{
	uint64_t end_us = last_round_us + 2 * MINUTE_US, at_us = NOON_US, next_us;
	struct sums *sums = calloc(1, sizeof(*sums));
	char error[ERROR_TEXT];
	struct query *query;

	end_us -= end_us % MINUTE_US;
	ck_assert_msg(query_open(f->path, &query, error, sizeof(error)) == 0, "%s", error);
	add_range(sums, query, NOON_US, end_us);
	check_sums(sums, last_round_us);
	memset(sums, 0, sizeof(*sums));
	for (; at_us < end_us; at_us = next_us) {
		next_us = at_us + (1 + draw(1 + (end_us - NOON_US) / MINUTE_US / 5)) * MINUTE_US;
		next_us = next_us < end_us ? next_us : end_us;
		add_range(sums, query, at_us, next_us);
	}
	check_sums(sums, last_round_us);
	query_close(query);
	free(sums);
}

/* The frames that loss says were not sampled are those counted between the two rounds. */
static void
check_loss(const struct accounting_rig *f, uint64_t before_us, uint64_t after_us)
{
	struct report_options options = {.all = true};
	const struct render_options render = {.utc = true};
	double frames = 0, told = 0;
	char error[ERROR_TEXT], *text = NULL;
	struct report_result result = {0};
	struct query *query;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *json, *places, *place;

	ck_assert_msg(query_open(f->path, &query, error, sizeof(error)) == 0, "%s", error);
	ck_assert_int_eq(report_run(report_find("loss"), query, &options, after_us + MINUTE_US,
			     &result), 0);
	ck_assert_int_eq(render_json(out, &result, &render), 0);
	fclose(out);
	ck_assert_uint_eq(result.n_rows, AGENTS * PORTS);
	ck_assert_double_eq(note_number_of(&result, NOTE_ID_LEFT_OUT, "left_out"), 0);
	report_result_free(&result);
	result = (struct report_result){0};
	options.has_top = true;
	options.top = 5;
	ck_assert_int_eq(report_run(report_find("loss"), query, &options, after_us + MINUTE_US,
			     &result), 0);
	ck_assert_uint_eq(result.n_rows, 5);
	ck_assert_double_eq(note_number_of(&result, NOTE_ID_LEFT_OUT, "left_out"), AGENTS * PORTS - 5);
	report_result_free(&result);
	json = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(json);
	places = json_object_get(json, "places");
	for (size_t i = 0; i < json_array_size(places); i++) {
		place = json_array_get(places, i);
		if (strncmp(json_string_value(json_object_get(place, "place")), "not sampled", 11) == 0)
			told = json_number_value(json_object_get(place, "count"));
	}
	for (unsigned a = 0; a < AGENTS; a++)
		for (unsigned p = 1; p <= PORTS; p++) {
			unsigned message = (p - 1) / A_MESSAGE * A_MESSAGE + 1;
			struct ease_snapshot from =
			    counters_at(a, p, time_of(a, message, before_us));
			struct ease_snapshot to =
			    counters_at(a, p, time_of(a, message, after_us));

			frames += (double)(to.pool_in_pkts - from.pool_in_pkts +
			    to.pool_out_pkts - from.pool_out_pkts);
		}
	ck_assert_double_eq(told, frames);
	json_decref(json);
	free(text);
	query_close(query);
}

static const struct {
	const char *name;
	uint64_t us;
} outages[] = {
    {"10 minutes", 10 * MINUTE_US},
    {"10 hours", 600 * MINUTE_US},
    {"7 days", 7 * 1440 * MINUTE_US},
};

START_TEST(counted_totals_are_exact)
{
	struct accounting_limits limits = rig_limits;
	uint64_t round_us = NOON_US, before_us, after_us;
	double busy_s = 0, all_s;
	struct accounting_rig f;

	limits.agents = 128;
	limits.ports = AGENTS * PORTS * 9 / 8; /* one sender leaves a part to others */
	limits.windows.windows = WINDOW_DEFAULT_WINDOWS;
	rig_make(&f);
	rig_open_with(&f, &limits);
	for (int i = 0; i < ROUNDS; i++, round_us += EVERY_US) {
		send_round(&f, round_us);
		rig_flush(&f);
	}
	before_us = round_us - EVERY_US;
	after_us = round_us = before_us + outages[_i].us;
	all_s = cpu_s(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < ROUNDS; i++, round_us += EVERY_US) {
		busy_s += send_round(&f, round_us);
		rig_flush(&f);
	}
	all_s = cpu_s(CLOCK_PROCESS_CPUTIME_ID) - all_s;
	printf("outage of %s: receiving took %.3f s of processor time for %d rounds, with the"
	       " store %.3f s\n", outages[_i].name, busy_s, ROUNDS, all_s);
	ck_assert_uint_eq(
	    stat_get(accounting_stats(f.accounting), ACCOUNTING_STAT_COUNTERS_GAP), AGENTS * PORTS);
	ck_assert_uint_eq(accounting_lost(f.accounting), 0);
	rig_close(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM gap"), AGENTS * PORTS);
	check_reports(&f, round_us - EVERY_US);
	check_loss(&f, before_us, after_us);
	rig_remove(&f);
}
END_TEST

/* The count of a place of the report loss; -1: it is not there. */
static double
place_count(const json_t *json, const char *name)
{
	const json_t *places = json_object_get(json, "places");

	for (size_t i = 0; i < json_array_size(places); i++) {
		const json_t *place = json_array_get(places, i);

		if (strcmp(json_string_value(json_object_get(place, "place")), name) == 0)
			return json_number_value(json_object_get(place, "count"));
	}
	return -1;
}

/* Without counters nothing says what passed in an outage; that samples were lost is said all the same, and how many. */
START_TEST(lost_samples_without_counters_are_said)
{
	const struct report_options options = {.all = true, .has_top = true, .top = 10};
	const uint64_t now_us = NOON_US + 10 * MINUTE_US;
	const unsigned lost = _i ? 500 : 0;
	struct accounting_rig f;
	json_t *json, *account_lost;
	char *text;

	rig_make(&f);
	rig_open(&f);
	for (unsigned i = 1; i <= 600; i++) {
		rig_send_sample(&f, 1, i <= 300 ? i : i + lost);
		if (i % 200 == 0) { /* a restart loses nothing */
			rig_flush(&f);
			rig_close(&f);
			rig_open(&f);
		}
	}
	rig_close(&f);
	json = answer_json(f.path, "talkers", &options, now_us);
	text = answer_rendered(f.path, "talkers", &options, now_us, render_text);
	ck_assert_double_eq(json_number_value(json_object_get(json_object_get(json, "uncounted"), "lost_samples")), lost);
	account_lost = json_object_get(json_object_get(json, "account"), "lost");
	ck_assert_double_eq(json_number_value(json_object_get(account_lost, "packets")), 0);
	ck_assert_double_eq(json_number_value(json_object_get(account_lost, "uncounted_samples")), lost);
	ck_assert_int_eq(strstr(text, "Where no counters came 500 samples were lost") != NULL, lost > 0);
	json_decref(json);
	free(text);
	json = answer_json(f.path, "loss", &options, now_us);
	ck_assert_double_eq(place_count(json, "in no figure: no counters came"), lost > 0 ? 500 : -1);
	ck_assert_double_eq(place_count(json, "network"), lost);
	json_decref(json);
	rig_remove(&f);
}
END_TEST

/* What was counted and could not be sampled, of two ports at most: what the list calls it. */
static const struct unsampled {
	unsigned ports; /* the second one stalls */
	bool loses, stalls, restarts;
	const char *name; /* NULL: all of it was sampled */
} unsampled[] = {
	{1, false, false, false, NULL},
	{1, true, false, false, "while samples were lost"},
	{1, false, true, false, "while skip counters were empty"},
	{1, false, false, true, "before a first sample"},
	{2, true, false, false, "while samples were lost or none taken"},
	{2, false, false, true, "while none was taken"},
};

static void
send_unsampled(struct accounting_rig *f, const struct unsampled *u, uint64_t if_index, uint32_t i)
{
	bool is_late = i > 300, is_first = if_index == 3, is_anew = u->restarts && is_first && is_late;
	uint32_t at = is_late && is_first && (u->loses || u->restarts) ? i + 100 : i, boot = is_anew ? 2 : 1;
	uint8_t header[BOOKS_HEADER];
	struct ease_record r[2];

	rig_header(i, header);
	r[0] = rig_sample(boot, at, header);
	r[0].sample.if_index = if_index;
	r[0].sample.pool_pkts = (r[0].sample.direction == EASE_IN ? 14 : 7) * (uint64_t)at;
	r[1] = rig_snapshot(boot, at);
	r[1].snapshot.if_index = if_index;
	if (is_anew)
		r[0].sample.sequence = i - 300;
	r[1].snapshot.last_sequence = r[0].sample.sequence;
	if (is_late && (is_first ? u->stalls : u->ports > 1))
		r[1].snapshot.stalled_pkts = 500;
	accounting_add_records(f->accounting, f->batch, r, i % 50 == 0 ? 2 : 1);
}

START_TEST(what_was_not_sampled_has_its_name)
{
	const struct report_options options = {.all = true, .has_top = true, .top = 10};
	const struct unsampled *u = &unsampled[_i];
	struct accounting_rig f;
	json_t *json, *lost;

	rig_make(&f);
	rig_open(&f);
	for (uint32_t i = 1; i <= 600; i++)
		for (unsigned port = 0; port < u->ports; port++)
			send_unsampled(&f, u, 3 + port, i);
	rig_flush(&f);
	rig_close(&f);
	json = answer_json(f.path, "talkers", &options, NOON_US + 10 * MINUTE_US);
	lost = json_object_get(json, "lost");
	ck_assert_int_eq(lost != NULL, u->name != NULL);
	if (u->name)
		ck_assert_str_eq(json_string_value(json_object_get(lost, "name")), u->name);
	json_decref(json);
	rig_remove(&f);
}
END_TEST

enum { STEADY_PKTS_S = 100, STEADY_OCTETS = 1000, STEADY_SKIP = 5, STEP_S = 10 };

static void
send_steadily(struct accounting_rig *f, uint32_t i)
{
	uint64_t time_us = NOON_US + i * SECOND_US * STEADY_SKIP / STEADY_PKTS_S, pkts = (uint64_t)i * STEADY_SKIP;
	uint8_t header[BOOKS_HEADER];
	struct ease_record r[2];

	rig_header(0, header);
	r[0] = rig_sample(1, i, header);
	r[0].sample.direction = EASE_IN;
	r[0].sample.time_us = time_us;
	r[0].sample.pool_pkts = pkts;
	r[0].sample.mean_skip = STEADY_SKIP;
	r[0].sample.skip = STEADY_SKIP - 1;
	r[0].sample.frame_octets = STEADY_OCTETS;
	r[1] = rig_snapshot(1, i);
	r[1].snapshot = (struct ease_snapshot){.if_index = r[0].sample.if_index, .time_us = time_us, .pool_in_pkts = pkts,
	    .in = {.octets = pkts * STEADY_OCTETS, .ucast_pkts = pkts}, .last_sequence = i};
	r[0].received_us = r[1].received_us = time_us;
	f->clock.manual_wall_us = f->clock.manual_mono_us = time_us;
	accounting_add_records(f->accounting, f->batch, r, 2);
}

/* A steady load is drawn as such through an outage of 45 s, whose steps have what the counters say, and no others. */
START_TEST(steps_of_an_outage)
{
	const uint64_t now_us = NOON_US + 4 * MINUTE_US;
	const struct report_options options = {.all = true, .has_from = true, .from_us = NOON_US, .has_to = true,
	    .to_us = now_us, .step_us = STEP_S * SECOND_US};
	struct accounting_rig f;
	json_t *json, *row;
	size_t at;

	rig_make(&f);
	rig_open(&f);
	for (uint32_t i = 1; i <= 240 * STEADY_PKTS_S / STEADY_SKIP; i++)
		if (i <= 71 * STEADY_PKTS_S / STEADY_SKIP || i > 116 * STEADY_PKTS_S / STEADY_SKIP)
			send_steadily(&f, i);
	rig_flush(&f);
	rig_close(&f);
	json = answer_json(f.path, "history", &options, now_us);
	json_array_foreach(json_object_get(json, "rows"), at, row) {
		double complete = json_number_value(json_object_get(row, "completeness"));
		unsigned from_s = (unsigned)at * STEP_S;

		ck_assert_double_eq_tol(json_number_value(json_object_get(row, "packets")), STEP_S * STEADY_PKTS_S,
		    STEP_S * STEADY_PKTS_S / 50.0);
		if (from_s < 60 || from_s >= 120)
			ck_assert_double_eq(complete, 1);
		if (from_s >= 80 && from_s < 110)
			ck_assert_double_eq(complete, 0);
	}
	ck_assert_uint_eq(at, 24);
	json_decref(json);
	rig_remove(&f);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("outage");
	TCase *tc = tcase_create("outage");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 280);
	tcase_add_loop_test(tc, counted_totals_are_exact, 0, sizeof(outages) / sizeof(*outages));
	tcase_add_loop_test(tc, lost_samples_without_counters_are_said, 0, 2);
	tcase_add_test(tc, steps_of_an_outage);
	tcase_add_loop_test(tc, what_was_not_sampled_has_its_name, 0, sizeof(unsampled) / sizeof(*unsampled));
	return suite_run(suite);
}
