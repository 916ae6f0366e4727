/*
 * One field of one port's sFlow changed at random, at a time: in one sample, in some, or from one on. Whatever it is,
 * no lower limit is above what the port counts or its speed allows; honest ports beside it, at the same switch and at
 * another one, have the very figures that they have without it; and the change is named in `agents`, or does not
 * matter. EASE_LONG=1 runs 2,000 seeds, EASE_SEED one.
 */
#include "tests/collector/dialects/heard.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 100, SEEDS_LONG = 2000, SEEDS_SLOW = 2, SPEED_BPS = 1000000000 };

enum field { RATE, POOL, NUMBER, DROPS, LENGTH, KEPT, SOURCE, INPUT, OUTPUT, UPTIME, DATAGRAM, N_FIELDS };
static const char *const field_names[N_FIELDS] = {"rate", "pool", "number", "drops", "frame length", "kept octets",
    "source", "input", "output", "uptime", "datagram number"};

/* What is changed now: struct speech has no argument. */
static struct plan {
	enum field field;
	enum { ONCE, SOME, FROM_ON } when;
	uint32_t at, every;
	enum { SET, ADD, TIMES } how;
	uint32_t by;
	uint64_t random;
} plan;

static uint64_t
draw(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* As many bits as any: small and large values are as likely. */
static uint32_t
any_value(uint64_t *state)
{
	uint32_t bits = (uint32_t)(draw(state) % 33);

	return bits == 0 ? 0 : (uint32_t)(draw(state) >> (64 - bits));
}

static void
make_plan(uint64_t seed)
{
	uint64_t state = seed * 0x2545f4914f6cdd1dull;

	plan.field = draw(&state) % N_FIELDS;
	plan.when = draw(&state) % 3;
	plan.at = 20 + (uint32_t)(draw(&state) % 500);
	plan.every = 2 + (uint32_t)(draw(&state) % 50);
	plan.how = draw(&state) % 3;
	plan.by = any_value(&state);
	plan.random = state;
}

static bool
is_now(uint32_t nth)
{
	return plan.when == ONCE ? nth == plan.at : nth >= plan.at && (plan.when == FROM_ON || nth % plan.every == 0);
}

/* The value is the same each time, or another one. */
static uint32_t
changed(uint32_t value)
{
	uint32_t by = plan.when == SOME ? any_value(&plan.random) : plan.by;

	return plan.how == SET ? by : plan.how == ADD ? value + by : value * by;
}

static bool
is_liar(uint32_t at_switch, uint32_t port)
{
	return at_switch == 0 && port == 0;
}

static void
lie(struct flow *f)
{
	uint32_t *const fields[N_FIELDS] = {[RATE] = &f->rate, [POOL] = &f->pool, [NUMBER] = &f->number, [DROPS] = &f->drops,
	    [LENGTH] = &f->frame_octets, [KEPT] = &f->kept, [SOURCE] = &f->index, [INPUT] = &f->input, [OUTPUT] = &f->output};

	f->expanded = true;
	if (plan.field == UPTIME || plan.field == DATAGRAM || !is_liar(f->at_switch, f->port) || !is_now(f->nth))
		return;
	*fields[plan.field] = changed(*fields[plan.field]);
	if (f->kept > SPEAKER_HEADER) /* there are no more octets to write */
		f->kept = SPEAKER_HEADER;
}

static void
lie_of_datagrams(struct datagram *d)
{
	if (d->at_switch != 0 || !is_now(d->nth))
		return;
	if (plan.field == UPTIME)
		d->uptime_ms = changed(d->uptime_ms);
	if (plan.field == DATAGRAM)
		d->number = changed(d->number);
}

static void
expanded(struct flow *f)
{
	f->expanded = true;
}

static char wrong[4096];
static unsigned n_wrong;
static struct heard base[2], now; /* base: with and without counters */

static struct dialect
row_of(bool has_counters, bool lies)
{
	return (struct dialect){.traffic = {.switches = 2, .ports = 2, .seconds = 80,
				    .poll_s = has_counters ? 10 : SPEAKER_NO_COUNTERS},
	    .speech = {.flow = lies ? lie : expanded, .datagram = lies ? lie_of_datagrams : NULL}};
}

/* ---- what must hold ---- */

static const json_t *
row_like(const json_t *report, const json_t *like, const char *first, const char *second)
{
	const json_t *rows = json_object_get(report, "rows");

	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);

		if (strcmp(heard_text(row, first), heard_text(like, first)) == 0 &&
		    (!second || heard_number(row, second) == heard_number(like, second)))
			return row;
	}
	return NULL;
}

static double
sum_of(const json_t *report, const char *column)
{
	const json_t *rows = json_object_get(report, "rows");
	double sum = 0;

	for (size_t i = 0; i < json_array_size(rows); i++) {
		double n = heard_number(json_array_get(rows, i), column);

		sum += isnan(n) ? 0 : n;
	}
	return sum;
}

/* Each row's lower limit: what it really had, and all else that the liar's port counted, or has speed for. */
static const char *
above_what_is_possible(const struct heard *b, bool has_counters)
{
	double room = has_counters ? sum_of(b->load, "rx_octets") / 4 : SPEED_BPS / 8.0 * b->passed.seconds;
	const json_t *rows = json_object_get(now.talkers, "rows");

	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i), *was = row_like(b->talkers, row, "src", NULL);
		double had = was ? heard_number(was, "octets.high") : 0;

		if (heard_number(row, "octets.low") > (had + room) * 1.01)
			return heard_text(row, "src");
	}
	return NULL;
}

/* Ports that lie about nothing have the same row as without the liar. */
static const char *
honest_that_differ(const struct heard *b)
{
	const json_t *rows = json_object_get(b->load, "rows");

	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i), *is = row_like(now.load, row, "agent", "if_index");
		bool liar = strcmp(heard_text(row, "agent"), "192.0.2.10") == 0 && heard_number(row, "if_index") == SPEAKER_FIRST_IF;

		if (!liar && (!is || !json_equal(row, is)))
			return heard_text(row, "agent");
	}
	return NULL;
}

static bool
is_named(void)
{
	return json_array_size(json_object_get(now.agents, "oddities")) > 0;
}

/* Nothing that was printed without the change is refuted by what is printed with it. */
static bool
does_not_matter(const struct heard *b)
{
	const json_t *rows = json_object_get(b->talkers, "rows");

	for (size_t i = 0; i < 2 && i < json_array_size(rows); i++) {
		const json_t *was = json_array_get(rows, i), *is = row_like(now.talkers, was, "src", NULL);
		double low = heard_number(was, "octets.low"), high = heard_number(was, "octets.high");

		if (!is || heard_number(is, "octets.high") < low || heard_number(is, "octets.low") > high)
			return false;
	}
	return sum_of(now.loss, "lost") == sum_of(b->loss, "lost");
}

static void
try(uint64_t seed)
{
	bool has_counters = seed % 4 != 0;
	struct dialect d = row_of(has_counters, true);
	const struct heard *b = &base[has_counters];
	const char *above, *differs;
	bool is_told;

	make_plan(seed);
	heard_run(&now, &d);
	above = above_what_is_possible(b, has_counters);
	/* uptime and datagram numbers are the whole switch's; a source or input may be that of the port beside it */
	differs = honest_that_differ(b);
	is_told = is_named() || does_not_matter(b);
	heard_end(&now);
	if (!above && !differs && is_told)
		return;
	n_wrong++;
	snprintf(wrong + strlen(wrong), sizeof(wrong) - strlen(wrong), "EASE_SEED=%llu: %s %s %s %u, from %u on, every %u: %s%s%s\n",
	    (unsigned long long)seed, field_names[plan.field], plan.when == ONCE ? "once" : plan.when == SOME ? "at times" : "always",
	    plan.how == SET ? "=" : plan.how == ADD ? "+" : "*", plan.by, plan.at, plan.every,
	    above ? "a lower limit that cannot be; " : "", differs ? "an honest port differs; " : "", is_told ? "" : "not named");
}

START_TEST(changes)
{
	n_wrong = 0;
	*wrong = '\0';
	int seeds = suite_is_slow() ? SEEDS_SLOW : getenv("EASE_LONG") ? SEEDS_LONG : SEEDS;

	if (getenv("EASE_SEED")) {
		try(strtoull(getenv("EASE_SEED"), NULL, 10));
		ck_assert_msg(n_wrong == 0, "%s", wrong);
		return;
	}
	for (int seed = _i; seed < seeds; seed += N_FIELDS)
		try((uint64_t)seed);
	ck_assert_msg(n_wrong == 0, "%u of them:\n%s", n_wrong, wrong);
}
END_TEST

static void
set_up(void)
{
	for (int has_counters = 0; has_counters < 2; has_counters++) {
		struct dialect d = row_of(has_counters, false);

		heard_run(&base[has_counters], &d);
	}
}

static void
tear_down(void)
{
	heard_end(&base[0]);
	heard_end(&base[1]);
}

int
main(void)
{
	Suite *suite = suite_create("changes");
	TCase *all = tcase_create("all");

	suite_keep_memory();
	tcase_set_timeout(all, 1500);
	tcase_add_unchecked_fixture(all, set_up, tear_down);
	tcase_add_loop_test(all, changes, 0, getenv("EASE_SEED") ? 1 : N_FIELDS);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
