/*
 * True totals by minute: minutes and gaps add up to what was counted, interpolation is right in
 * cases computed by hand, a gap of any length costs one part; and which records a clock that was set
 * may bring.
 */
#include "collector/window/port_totals.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>

#define MINUTE_US 60000000ull
#define NOON_US	  (1700000040ull * 1000000) /* a whole minute */

enum { MINUTES = 4096 };

static uint64_t
next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

/* Minutes from NOON_US on, the sum of all parts, and the newest part that was no minute. */
struct minutes {
	uint64_t parts[MINUTES][PORT_TOTALS_N_VALUES];
	uint64_t sum[PORT_TOTALS_N_VALUES];
	struct port_totals_part gap;
	size_t calls, most_parts;
	bool full; /* refuse everything */
};

static bool
add_minutes(void *arg, const struct port_totals_part *parts, size_t n)
{
	struct minutes *m = arg;

	if (m->full)
		return false;
	m->calls++;
	m->most_parts = n > m->most_parts ? n : m->most_parts;
	for (size_t p = 0; p < n; p++) {
		bool minute = parts[p].until_us - parts[p].from_us == MINUTE_US;
		uint64_t at = (parts[p].from_us - NOON_US) / MINUTE_US;

		ck_assert(minute || n == 1);
		if (!minute)
			m->gap = parts[p];
		else
			ck_assert_uint_eq(parts[p].from_us % MINUTE_US, 0);
		for (int i = 0; i < PORT_TOTALS_N_VALUES; i++) {
			if (minute && at < MINUTES)
				m->parts[at][i] += parts[p].values[i];
			m->sum[i] += parts[p].values[i];
		}
	}
	return true;
}

static enum port_totals_verdict
add(struct port_totals *t, uint32_t boot, const struct ease_snapshot *s, struct minutes *m)
{
	return port_totals_add(t, NULL, boot, s, 0, add_minutes, m);
}

static struct ease_snapshot
snapshot(uint64_t time_us, uint64_t in_pkts, uint64_t in_octets, uint64_t out_pkts,
    uint64_t out_octets)
{
	return (struct ease_snapshot){
	    .if_index = 1,
	    .time_us = time_us,
	    .in.octets = in_octets,
	    .out.octets = out_octets,
	    .pool_in_pkts = in_pkts,
	    .pool_out_pkts = out_pkts,
	};
}

START_TEST(an_even_line_between_snapshots)
{
	struct minutes *m = calloc(1, sizeof(*m));
	struct port_totals t = {0};
	struct ease_snapshot a = snapshot(NOON_US + 30000000, 1000, 0, 0, 5);
	struct ease_snapshot b = snapshot(NOON_US + 30000000 + 2 * MINUTE_US, 1400, 7, 0, 5);

	ck_assert_int_eq(add(&t, 1, &a, m), PORT_TOTALS_FIRST);
	ck_assert_int_eq(add(&t, 1, &b, m), PORT_TOTALS_COUNTED);
	ck_assert_uint_eq(m->parts[0][PORT_TOTALS_IN_PKTS], 100);
	ck_assert_uint_eq(m->parts[1][PORT_TOTALS_IN_PKTS], 200);
	ck_assert_uint_eq(m->parts[2][PORT_TOTALS_IN_PKTS], 100);
	/* 7 octets: 1.75, 5.25, 7 rounded down at the borders */
	ck_assert_uint_eq(m->parts[0][PORT_TOTALS_IN_OCTETS], 1);
	ck_assert_uint_eq(m->parts[1][PORT_TOTALS_IN_OCTETS], 4);
	ck_assert_uint_eq(m->parts[2][PORT_TOTALS_IN_OCTETS], 2);
	ck_assert_uint_eq(m->sum[PORT_TOTALS_OUT_OCTETS], 0);
	free(m);
}
END_TEST

START_TEST(a_border_belongs_to_the_minute_before)
{
	struct minutes *m = calloc(1, sizeof(*m));
	struct port_totals t = {0};
	struct ease_snapshot a = snapshot(NOON_US, 0, 0, 0, 0);
	struct ease_snapshot b = snapshot(NOON_US + MINUTE_US, 60, 0, 0, 0);

	add(&t, 1, &a, m);
	add(&t, 1, &b, m);
	ck_assert_uint_eq(m->parts[0][PORT_TOTALS_IN_PKTS], 60);
	ck_assert_uint_eq(m->parts[1][PORT_TOTALS_IN_PKTS], 0);
	free(m);
}
END_TEST

START_TEST(minutes_add_up_exactly)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct minutes *m = calloc(1, sizeof(*m));
		struct port_totals t = {0};
		uint64_t random = seed;
		struct ease_snapshot first = snapshot(NOON_US + next_random(&random) % MINUTE_US,
		    next_random(&random), next_random(&random), next_random(&random), 0);
		struct ease_snapshot s = first;

		add(&t, 1, &s, m);
		for (int i = 0; i < 200; i++) {
			s.time_us +=
			    1 + next_random(&random) % (i % 10 ? MINUTE_US : 20 * MINUTE_US);
			s.pool_in_pkts += next_random(&random) % 1000000;
			s.in.octets += next_random(&random) << next_random(&random) % 20;
			s.pool_out_pkts += next_random(&random) % 3;
			s.out.octets += next_random(&random) % 2;
			/* a restart of the agent half way changes nothing */
			ck_assert_int_le(add(&t, i < 100 ? 1 : 2, &s, m), PORT_TOTALS_GAP);
		}
		ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], s.pool_in_pkts - first.pool_in_pkts);
		ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_OCTETS], s.in.octets - first.in.octets);
		ck_assert_uint_eq(
		    m->sum[PORT_TOTALS_OUT_PKTS], s.pool_out_pkts - first.pool_out_pkts);
		ck_assert_uint_eq(m->sum[PORT_TOTALS_OUT_OCTETS], s.out.octets - first.out.octets);
		free(m);
	}
}
END_TEST

START_TEST(old_reset_and_set_back)
{
	struct minutes *m = calloc(1, sizeof(*m));
	struct port_totals t = {0};
	struct ease_snapshot a = snapshot(NOON_US + 1000, 100, 1000, 0, 0);
	struct ease_snapshot b = snapshot(NOON_US + 2000, 200, 2000, 0, 0);
	struct ease_snapshot fell = snapshot(NOON_US + 3000, 10, 2000, 0, 0);
	struct ease_snapshot reset = snapshot(NOON_US + 4000, 500, 5000, 0, 0);
	struct ease_snapshot set_back = snapshot(NOON_US + 500, 510, 5100, 0, 0);
	struct ease_snapshot gap = snapshot(NOON_US + 501 + 30ull * 86400 * 1000000, 600, 6000, 0, 0);

	add(&t, 1, &a, m);
	ck_assert_int_eq(add(&t, 1, &b, m), PORT_TOTALS_COUNTED);
	ck_assert_int_eq(add(&t, 1, &a, m), PORT_TOTALS_OLD);
	ck_assert_int_eq(add(&t, 1, &b, m), PORT_TOTALS_OLD);
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], 100);
	ck_assert_int_eq(add(&t, 1, &fell, m), PORT_TOTALS_RESET);
	reset.discontinuity_us = NOON_US + 3500;
	ck_assert_int_eq(add(&t, 1, &reset, m), PORT_TOTALS_RESET);
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], 100);
	set_back.discontinuity_us = gap.discontinuity_us = reset.discontinuity_us;
	ck_assert_int_eq(add(&t, 1, &set_back, m), PORT_TOTALS_COUNTED);
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], 110);
	ck_assert_int_eq(add(&t, 1, &gap, m), PORT_TOTALS_GAP);
	ck_assert_int_eq(add(&t, 0, &a, m), PORT_TOTALS_OLD);
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], 200);
	free(m);
}
END_TEST

/* The pool of an agent that started begins elsewhere, and what passed meanwhile is counted. Octets that went back are none. */
START_TEST(a_pool_that_begins_with_the_agent_is_no_reset)
{
	struct minutes *m = calloc(1, sizeof(*m));
	struct port_totals t = {0};
	struct ease_snapshot a = snapshot(NOON_US + 1000, 4000, 400000, 1000, 64000);
	struct ease_snapshot b = snapshot(NOON_US + 2000, 300, 410000, 1010, 64640);
	struct ease_snapshot c = snapshot(NOON_US + 3000, 310, 411000, 1010, 64640);
	struct ease_snapshot d = snapshot(NOON_US + 4000, 20, 2000, 1010, 64640);

	add(&t, 1, &a, m);
	ck_assert_int_eq(add(&t, 2, &b, m), PORT_TOTALS_COUNTED);
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_OCTETS], 10000);
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], 100); /* of 100 octets each */
	ck_assert_uint_eq(m->sum[PORT_TOTALS_OUT_PKTS], 10);
	ck_assert_int_eq(add(&t, 2, &c, m), PORT_TOTALS_COUNTED);
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], 110);
	ck_assert_int_eq(add(&t, 3, &d, m), PORT_TOTALS_RESET);
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_OCTETS], 11000);
	free(m);
}
END_TEST

/* What samples stand for, where counters began anew, is spread over the time since the ones before, and is no part of
 * what these count on. Of another boot it says nothing. */
START_TEST(what_nobody_counted_is_what_samples_say)
{
	static const struct ease_uncounted samples[2] = {{600, 50000}, {0, 0}};
	struct ease_snapshot s = snapshot(NOON_US, 1000, 100000, 0, 0);
	struct minutes m = {.calls = 0};
	struct port_totals t = {.has_base = false};

	port_totals_add_uncounted(&t, 1, NOON_US, samples, add_minutes, &m);
	add(&t, 1, &s, &m);
	s = snapshot(NOON_US + 2 * MINUTE_US, 10, 900, 5, 700);
	s.discontinuity_us = s.time_us;
	port_totals_add_uncounted(&t, 1, s.time_us, samples, add_minutes, &m);
	ck_assert_int_eq(add(&t, 1, &s, &m), PORT_TOTALS_RESET);
	ck_assert_uint_eq(m.parts[0][PORT_TOTALS_IN_PKTS], 300);
	ck_assert_uint_eq(m.parts[1][PORT_TOTALS_IN_OCTETS], 25000);
	s = snapshot(NOON_US + 3 * MINUTE_US, 30, 1900, 5, 700);
	s.discontinuity_us = NOON_US + 2 * MINUTE_US;
	ck_assert_int_eq(add(&t, 1, &s, &m), PORT_TOTALS_COUNTED);
	ck_assert_uint_eq(m.sum[PORT_TOTALS_IN_PKTS], 620);
	ck_assert_uint_eq(m.sum[PORT_TOTALS_IN_OCTETS], 51000);
	ck_assert_uint_eq(m.sum[PORT_TOTALS_OUT_OCTETS], 0);
	port_totals_add_uncounted(&t, 2, NOON_US + 4 * MINUTE_US, samples, add_minutes, &m);
	ck_assert_uint_eq(m.sum[PORT_TOTALS_IN_PKTS], 620);
}
END_TEST

/* In whatever order snapshots arrive, the sums cover the time from the oldest to the newest. */
START_TEST(order_of_snapshots_changes_no_sum)
{
	enum { SNAPSHOTS = 12 };

	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct minutes *m = calloc(1, sizeof(*m));
		struct ease_snapshot s[SNAPSHOTS];
		struct port_totals t = {0};
		uint64_t random = seed;

		s[0] = snapshot(NOON_US, 100, 1000, 0, 7);
		for (int i = 1; i < SNAPSHOTS; i++) {
			s[i] = s[i - 1];
			s[i].time_us += 1 + next_random(&random) % MINUTE_US;
			s[i].pool_in_pkts += next_random(&random) % 100;
			s[i].in.octets += next_random(&random) % 100000;
		}
		for (int left = SNAPSHOTS; left > 0; left--) {
			int i = (int)(next_random(&random) % (uint64_t)left);
			struct ease_snapshot next = s[i];

			s[i] = s[left - 1];
			s[left - 1] = next;
			add(&t, 1, &next, m);
			add(&t, 1, &next, m); /* and again */
		}
		for (int i = 0; i < SNAPSHOTS; i++) /* none of them adds anything now */
			ck_assert_int_eq(
			    add(&t, 1, &s[i], m), PORT_TOTALS_OLD);
		ck_assert_uint_eq(t.first_us, NOON_US);
		ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], t.values[PORT_TOTALS_IN_PKTS] - 100);
		ck_assert_uint_eq(
		    m->sum[PORT_TOTALS_IN_OCTETS], t.values[PORT_TOTALS_IN_OCTETS] - 1000);
		ck_assert_uint_eq(m->sum[PORT_TOTALS_OUT_OCTETS], 0);
		free(m);
	}
}
END_TEST

/* After a restart of the collector, a discontinuity or a clock that was set back, older snapshots
 * are not counted again. */
START_TEST(nothing_is_taken_from_before_a_base_that_is_no_beginning)
{
	struct ease_snapshot old = snapshot(NOON_US + 1000, 100, 1000, 0, 0);
	struct ease_snapshot base = snapshot(NOON_US + 2000, 200, 2000, 0, 0);
	struct ease_snapshot back = snapshot(NOON_US + 1500, 250, 2500, 0, 0);
	struct minutes *m = calloc(1, sizeof(*m));
	struct port_totals t;

	port_totals_set_base(&t, 1, &base, 0);
	ck_assert_int_eq(add(&t, 1, &old, m), PORT_TOTALS_OLD);
	t = (struct port_totals){0};
	add(&t, 1, &base, m);
	ck_assert_int_eq(add(&t, 1, &back, m), PORT_TOTALS_COUNTED);
	ck_assert_int_eq(add(&t, 1, &old, m), PORT_TOTALS_OLD);
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], 50);
	t = (struct port_totals){0};
	base.discontinuity_us = NOON_US + 1800;
	add(&t, 1, &base, m);
	ck_assert_int_eq(add(&t, 1, &old, m), PORT_TOTALS_OLD);
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], 50);
	free(m);
}
END_TEST

/* However long a gap is, it is one part, and nothing of it is lost. */
START_TEST(a_gap_costs_one_part)
{
	static const uint64_t gaps_us[] = {6 * MINUTE_US, 10 * MINUTE_US, 600 * MINUTE_US,
	    7 * 1440 * MINUTE_US, 20 * 365 * 1440 * MINUTE_US};
	struct minutes *m = calloc(1, sizeof(*m));
	struct port_totals t = {0};
	struct ease_snapshot s = snapshot(NOON_US + 1000, 0, 0, 0, 0);

	add(&t, 1, &s, m);
	for (size_t i = 0; i < sizeof(gaps_us) / sizeof(*gaps_us); i++) {
		uint64_t from_us = s.time_us;

		s.time_us += gaps_us[i];
		s.pool_in_pkts += 1000003;
		s.out.octets += 77;
		ck_assert_int_eq(add(&t, 1, &s, m), PORT_TOTALS_GAP);
		ck_assert_uint_eq(m->gap.from_us, from_us);
		ck_assert_uint_eq(m->gap.until_us, s.time_us);
		ck_assert_uint_eq(m->gap.values[PORT_TOTALS_IN_PKTS], 1000003);
		ck_assert_uint_eq(m->gap.values[PORT_TOTALS_OUT_OCTETS], 77);
	}
	ck_assert_uint_eq(m->most_parts, 1);
	ck_assert_uint_eq(m->calls, sizeof(gaps_us) / sizeof(*gaps_us));
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], s.pool_in_pkts);
	free(m);
}
END_TEST

/* Frames of 100 octets, one each 10 ms; in a burst ten times as many of 1,000 octets beside them. One in 50 is a
 * sample. */
enum { BURST_FROM_S = 130, BURST_TO_S = 170, EVERY = 50 };

struct passed {
	uint64_t pkts, octets;
};

/* What passed from NOON_US until that time; samples are noted, with their pool or without. */
static struct passed
pass_until(uint64_t until_s, struct port_pools *pools, bool with_pool)
{
	struct passed p = {0};

	for (uint64_t us = 0; us < until_s * 1000000; us += 10000) {
		bool is_burst = us >= BURST_FROM_S * 1000000ull && us < BURST_TO_S * 1000000ull;

		for (int i = 0; i < (is_burst ? 11 : 1); i++) {
			uint32_t octets = i > 0 ? 1000 : 100;

			p.octets += octets;
			p.pkts++;
			if (pools && p.pkts % EVERY == 0)
				port_pools_note(pools, NOON_US + us, with_pool ? 5000 + p.pkts : EASE_COUNT_UNKNOWN, EVERY,
				    octets);
		}
	}
	return p;
}

/* Counters stay away for ten minutes: samples tell all the same what passed in which of them, with a pool to the
 * frame nearly, else to a sample. */
START_TEST(samples_tell_when_frames_passed)
{
	bool with_pool = _i > 0;
	struct minutes *m = calloc(1, sizeof(*m));
	struct port_totals t = {0};
	struct port_pools pools[2] = {0};
	struct passed before = pass_until(40, NULL, false), after = pass_until(640, &pools[0], with_pool);
	struct ease_snapshot a = snapshot(NOON_US + 40000000, before.pkts, before.octets, 0, 0);
	struct ease_snapshot b = snapshot(NOON_US + 640000000, after.pkts, after.octets, 0, 0);

	ck_assert_int_eq(port_totals_add(&t, NULL, 1, &a, 0, add_minutes, m), PORT_TOTALS_FIRST);
	ck_assert_int_eq(port_totals_add(&t, pools, 1, &b, 0, add_minutes, m), PORT_TOTALS_COUNTED);
	for (uint64_t minute = 1; minute < 10; minute++) {
		struct passed from = pass_until(60 * minute, NULL, false), to = pass_until(60 * minute + 60, NULL, false);
		double pkts = (double)(to.pkts - from.pkts), octets = (double)(to.octets - from.octets);

		ck_assert_double_eq_tol((double)m->parts[minute][PORT_TOTALS_IN_PKTS], pkts, with_pool ? 15 : 2 * EVERY);
		ck_assert_double_eq_tol((double)m->parts[minute][PORT_TOTALS_IN_OCTETS], octets,
		    octets / 20 + 2 * EVERY * 100);
	}
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], after.pkts - before.pkts);
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_OCTETS], after.octets - before.octets);
	free(m);
}
END_TEST

/* One datagram often has samples and counters, of one time; and counters may come behind a later sample. */
START_TEST(counters_come_with_samples)
{
	bool with_pool = _i % 2 > 0, is_late = _i > 1;
	struct minutes *m = calloc(1, sizeof(*m));
	struct port_totals t = {0};
	struct port_pools pools[2] = {0};

	for (uint64_t s = 1; s <= 111; s++) {
		uint64_t counted_s = is_late ? s - 1 : s;
		struct ease_snapshot counters =
		    snapshot(NOON_US + counted_s * 1000000, EVERY * counted_s, 100 * EVERY * counted_s, 0, 0);

		port_pools_note(&pools[0], NOON_US + s * 1000000, with_pool ? 5000 + EVERY * s : EASE_COUNT_UNKNOWN, EVERY, 100);
		if (counted_s % 30 == 20)
			port_totals_add(&t, pools, 1, &counters, 0, add_minutes, m);
	}
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], 90 * EVERY);
	ck_assert_double_eq_tol((double)m->parts[0][PORT_TOTALS_IN_PKTS], 40 * EVERY, EVERY);
	ck_assert_double_eq_tol((double)m->parts[1][PORT_TOTALS_IN_PKTS], 50 * EVERY, EVERY);
	free(m);
}
END_TEST

/* Shares of ranges that follow each other add up, wherever they are cut. */
START_TEST(shares_of_a_gap_add_up)
{
	uint64_t random = 5;

	for (int i = 0; i < 1000; i++) {
		uint64_t from_us = NOON_US + next_random(&random);
		uint64_t until_us = from_us + 1 + next_random(&random) * 1000;
		uint64_t difference = next_random(&random) << next_random(&random) % 33;
		uint64_t at_us = 0, done = 0, sum = 0;

		while (at_us < until_us) {
			uint64_t until;

			at_us = at_us < from_us ? from_us : at_us + next_random(&random) * 100;
			until = port_totals_share(difference, from_us, until_us, at_us);
			ck_assert_uint_ge(until, done);
			sum += until - done;
			done = until;
		}
		ck_assert_uint_eq(sum, difference);
	}
}
END_TEST

/* Without room the base stays, and the next snapshot brings everything. */
START_TEST(what_has_no_room_waits)
{
	struct minutes *m = calloc(1, sizeof(*m));
	struct port_totals t = {0};
	struct ease_snapshot s = snapshot(NOON_US, 0, 0, 0, 0);

	add(&t, 1, &s, m);
	m->full = true;
	for (int i = 1; i <= 90; i++) {
		s.time_us += MINUTE_US / 3;
		s.pool_in_pkts += 10;
		ck_assert_int_eq(add(&t, 1, &s, m), PORT_TOTALS_WAITS);
	}
	m->full = false;
	s.time_us += MINUTE_US / 3;
	s.pool_in_pkts += 10;
	ck_assert_int_eq(add(&t, 1, &s, m), PORT_TOTALS_GAP);
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], 910);
	free(m);
}
END_TEST

/* If the device's clock was set, the collector's says how long the difference took. */
START_TEST(a_clock_that_was_set)
{
	static const int64_t steps_us[] = {(int64_t)(1410 * MINUTE_US), -(int64_t)(90 * MINUTE_US),
	    (int64_t)(20000000 * MINUTE_US), -(int64_t)(20000000 * MINUTE_US)};
	struct minutes *m = calloc(1, sizeof(*m));
	struct port_totals t = {0};
	struct ease_snapshot s = snapshot(NOON_US + 100 * MINUTE_US, 0, 0, 0, 0);
	uint64_t received_us = NOON_US;

	port_totals_add(&t, NULL, 1, &s, received_us, add_minutes, m);
	for (size_t i = 0; i < sizeof(steps_us) / sizeof(*steps_us); i++) {
		s.time_us += (uint64_t)steps_us[i] + MINUTE_US / 3;
		s.pool_in_pkts += 200;
		received_us += MINUTE_US / 3;
		ck_assert_int_eq(port_totals_add(&t, NULL, 1, &s, received_us, add_minutes, m),
		    PORT_TOTALS_COUNTED);
	}
	ck_assert_uint_eq(m->sum[PORT_TOTALS_IN_PKTS], 800);
	ck_assert_uint_le(m->most_parts, 2);
	/* an outage is no step of a clock: both went on */
	s.time_us += 600 * MINUTE_US;
	received_us += 600 * MINUTE_US + 900000;
	s.pool_in_pkts += 5;
	ck_assert_int_eq(
	    port_totals_add(&t, NULL, 1, &s, received_us, add_minutes, m), PORT_TOTALS_GAP);
	ck_assert_uint_eq(m->gap.until_us - m->gap.from_us, 600 * MINUTE_US);
	free(m);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("port totals");
	TCase *tc = tcase_create("port totals");

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, an_even_line_between_snapshots);
	tcase_add_test(tc, a_border_belongs_to_the_minute_before);
	tcase_add_test(tc, minutes_add_up_exactly);
	tcase_add_test(tc, old_reset_and_set_back);
	tcase_add_test(tc, a_pool_that_begins_with_the_agent_is_no_reset);
	tcase_add_test(tc, what_nobody_counted_is_what_samples_say);
	tcase_add_test(tc, order_of_snapshots_changes_no_sum);
	tcase_add_test(tc, nothing_is_taken_from_before_a_base_that_is_no_beginning);
	tcase_add_test(tc, a_gap_costs_one_part);
	tcase_add_loop_test(tc, samples_tell_when_frames_passed, 0, 2);
	tcase_add_loop_test(tc, counters_come_with_samples, 0, 4);
	tcase_add_test(tc, shares_of_a_gap_add_up);
	tcase_add_test(tc, what_has_no_room_waits);
	tcase_add_test(tc, a_clock_that_was_set);
	return suite_run(suite);
}
