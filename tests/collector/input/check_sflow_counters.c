/* Counters in sFlow become 64-bit totals, over wraps, resets and restarts; and states of ports. */
#include "tests/collector/input/sflow_input_rig.h"

static struct built_counters
counters(uint32_t sequence)
{
	return (struct built_counters){.sequence = sequence, .index = 3, .speed_bps = 1000000000,
	    .status = 3, .in_octets = 1000, .out_octets = 2000, .in = {10, 20, 30, 4, 5, 6},
	    .out = {100, 200, 300, 7, 8}};
}

static const struct ease_snapshot *
take_counters(const struct built_counters *c, uint64_t uptime_ms)
{
	begin(uptime_ms, 1);
	built_add_counters(&b, c);
	ck_assert_int_eq(deliver(uptime_ms), SFLOW_END);
	if (result.n == 0)
		return NULL;
	ck_assert_uint_ge(result.n, 2); /* and what is odd of them */
	ck_assert_int_eq(result.records[0].kind, EASE_PART_SNAPSHOT);
	ck_assert_int_eq(result.records[1].kind, EASE_PART_STATE);
	return &result.records[0].snapshot;
}

START_TEST(test_counters)
{
	struct built_counters c = counters(1);
	const struct ease_snapshot *s = take_counters(&c, 1000);
	const struct ease_state *state = &result.records[1].state;

	ck_assert_uint_eq(s->if_index, 3);
	ck_assert_uint_eq(s->time_us, (START_S + 1) * 1000000ull);
	ck_assert_uint_eq(s->in.octets, 1000);
	ck_assert_uint_eq(s->in.bcast_pkts, 30);
	ck_assert_uint_eq(s->in.discards, 4);
	ck_assert_uint_eq(s->out.ucast_pkts, 100);
	ck_assert_uint_eq(s->out.errors, 8);
	ck_assert_uint_eq(s->pool_in_pkts, 60);
	ck_assert_uint_eq(s->discontinuity_us, 0);
	ck_assert_uint_eq(state->speed_bps, 1000000000);
	ck_assert_uint_eq(state->oper_status, EASE_IF_UP);
	ck_assert_uint_eq(state->duplex, EASE_DUPLEX_FULL);
	ck_assert_str_eq(state->name, "");
}
END_TEST

/* Discards and errors that somebody cleared, and nothing else; no port discards 2^31 frames between two counters. */
START_TEST(discards_that_go_back_are_no_wrap)
{
	struct built_counters c = counters(1);
	const struct ease_snapshot *s;

	take_counters(&c, 1000);
	c.sequence = 2;
	c.in[3] = 0; /* of 4 */
	c.out[4] = 1; /* of 8 */
	s = take_counters(&c, 2000);
	ck_assert_uint_eq(s->in.discards, 4);
	ck_assert_uint_eq(s->out.errors, 8);
	ck_assert_uint_eq(s->discontinuity_us, 0);
	c.sequence = 3;
	c.in[3] = 3;
	s = take_counters(&c, 3000);
	ck_assert_uint_eq(s->in.discards, 7);
	ck_assert_uint_eq(s->out.discards, 7);
	c.sequence = 4;
	c.in[3] = UINT32_MAX - 1; /* that goes back, too: -2 */
	take_counters(&c, 4000);
	c.sequence = 5;
	c.in[3] = 8; /* a wrap */
	s = take_counters(&c, 5000);
	ck_assert_uint_eq(s->in.discards, 17);
}
END_TEST

/* Chips that compute broadcasts from other counters let them go back by some. Frames have octets, so that is no wrap. */
START_TEST(frames_that_go_back_are_no_wrap)
{
	struct built_counters c = counters(1);
	const struct ease_snapshot *s;

	take_counters(&c, 1000);
	c.sequence = 2;
	c.out[2] -= 50;
	c.in[0] -= 1;
	c.in_octets += 64000;
	c.out_octets += 64000;
	s = take_counters(&c, 2000);
	ck_assert_uint_eq(s->out.bcast_pkts, 300);
	ck_assert_uint_eq(s->in.ucast_pkts, 10);
	ck_assert_uint_eq(s->discontinuity_us, 0);
	c.sequence = 3;
	c.out[2] += 7;
	s = take_counters(&c, 3000);
	ck_assert_uint_eq(s->out.bcast_pkts, 307);
	c.sequence = 4;
	c.in[0] += 0x90000000; /* so many may be, if octets say so */
	c.in_octets += 64ull * 0x90000000;
	s = take_counters(&c, 20000);
	ck_assert_uint_eq(s->in.ucast_pkts, 10 + 0x90000000ull);
}
END_TEST

/* A driver that could not be read once: zeros, and then what it was and more. Zeros twice are a new beginning, and so is
 * less than before behind them: what is counted goes on from there. */
START_TEST(zeros_once_are_left_out)
{
	struct built_counters c = counters(1), zeros = {.sequence = 2, .index = 3, .speed_bps = c.speed_bps, .status = 3};
	const struct ease_snapshot *s;

	c.in_octets = 1000000000000;
	take_counters(&c, 1000);
	begin(2000, 1);
	built_add_counters(&b, &zeros);
	ck_assert_int_eq(deliver(2000), SFLOW_END);
	ck_assert_uint_eq(result.n, 1);
	ck_assert_int_eq(result.records[0].odd.kind, EASE_ODD_COUNTERS);
	c.sequence = 3;
	c.in_octets += 500;
	s = take_counters(&c, 3000);
	ck_assert_uint_eq(s->in.octets, 1000000000500);
	ck_assert_uint_eq(s->discontinuity_us, 0);
	for (zeros.sequence = 4; zeros.sequence <= 5; zeros.sequence++) {
		begin(zeros.sequence * 1000, 1);
		built_add_counters(&b, &zeros);
		deliver(zeros.sequence * 1000);
	}
	ck_assert_uint_eq(result.records[0].snapshot.in.octets, 1000000000500);
	c = counters(6); /* with 1000 octets */
	ck_assert_uint_eq(take_counters(&c, 6000)->in.octets, 1000000001500);
	zeros.sequence = 7;
	begin(7000, 1);
	built_add_counters(&b, &zeros);
	deliver(7000);
	c.sequence = 8;
	c.in_octets = 70;
	s = take_counters(&c, 8000);
	ck_assert_uint_eq(s->in.octets, 1000000001570);
	ck_assert_uint_eq(s->discontinuity_us, 0);
}
END_TEST

START_TEST(test_counters_wrap)
{
	struct built_counters c = counters(1);
	const struct ease_snapshot *s;

	c.in[0] = 0xfffffff0;
	c.in_octets = 1ull << 41;
	take_counters(&c, 1000);
	c.sequence = 2;
	c.in[0] = 0x10;
	c.in_octets += 32 * 500;
	s = take_counters(&c, 2000);
	ck_assert_uint_eq(s->in.ucast_pkts, 0x100000010ull);
	ck_assert_uint_eq(s->in.octets, (1ull << 41) + 32 * 500);
	ck_assert_uint_eq(s->discontinuity_us, 0);
}
END_TEST

START_TEST(test_counters_begin_again)
{
	struct built_counters c = counters(9);
	const struct ease_snapshot *s;

	take_counters(&c, 1000);
	c.sequence = 10;
	c.in_octets = 5; /* less than before */
	c.in[0] = 1;
	s = take_counters(&c, 2000);
	ck_assert_uint_eq(s->in.ucast_pkts, 1);
	ck_assert_uint_eq(s->discontinuity_us, (START_S + 2) * 1000000ull);
	c.sequence = 1; /* the agent says so itself */
	c.in_octets = 50;
	s = take_counters(&c, 3000);
	ck_assert_uint_eq(s->discontinuity_us, (START_S + 3) * 1000000ull);
	datagram_sequence = 1; /* overtaken: not used */
	ck_assert_ptr_null(take_counters(&c, 2500));
	ck_assert_uint_eq(stat_of(SFLOW_STAT_COUNTERS_OLD), 1);
}
END_TEST

START_TEST(test_counters_over_an_agent_restart)
{
	struct built_counters c = counters(9);
	struct built_flow f = flow(1, 1);
	uint64_t octets;
	uint32_t weight, frame_octets;

	if (_i == 2)
		c.in_octets = 1ull << 50;
	take_counters(&c, 100000);
	begin(150000, 1);
	built_add_flow(&b, &f); /* no counters tell what it stands for, if the device began anew */
	ck_assert_int_eq(deliver(150000), SFLOW_END);
	weight = result.records[0].sample.mean_skip;
	frame_octets = result.records[0].sample.frame_octets;
	built_begin(&b, AGENT, 0, 1, 1000, 2);
	built_add_flow(&b, &f); /* the flow sample comes first and must not hide it */
	c.sequence = 1;
	octets = c.in_octets;
	c.in_octets = _i ? 900 : 1100; /* the device began anew, or its agent alone */
	c.in[0] += _i ? -1u : 1;
	if (_i == 2) /* so much cannot have passed in a second of uptime */
		c.in_octets = octets - 1;
	built_add_counters(&b, &c);
	ck_assert_int_eq(deliver(200000), SFLOW_END);
	ck_assert_uint_eq(result.n, 3);
	ck_assert_int_eq(result.records[1].kind, EASE_PART_SNAPSHOT);
	ck_assert_uint_eq(result.records[1].boot, START_S + 199);
	ck_assert_uint_eq(result.records[1].snapshot.discontinuity_us, _i == 2 ? (START_S + 200) * 1000000ull : 0);
	if (_i == 2)
		return;
	ck_assert_uint_eq(result.records[1].snapshot.in.octets, _i == 0 ? 1100 : octets + 900 + weight * frame_octets);
	ck_assert_uint_eq(result.records[1].snapshot.pool_in_pkts, _i == 0 ? 61 : 60 + 9 + 50 + weight);
}
END_TEST

/* Octets that wrap in 32 bits go on; what frames and time refute begins anew; and speeds that are none. */
START_TEST(test_counters_that_cannot_be)
{
	struct built_counters c = counters(1);
	const struct ease_snapshot *s;

	c.in_octets = 4294967000u;
	take_counters(&c, 1000);
	c.sequence++;
	c.in[0] += 10;
	c.in_octets = 704; /* 1,000 more */
	begin(2000, 1);
	built_add_counters(&b, &c);
	deliver(2000);
	s = &result.records[0].snapshot;
	ck_assert_uint_eq(s->in.octets, 4294968000ull);
	ck_assert_uint_eq(s->discontinuity_us, 0);
	ck_assert_int_eq(result.records[2].odd.kind, EASE_ODD_OCTETS_32);
	c.sequence++;
	c.in_octets += 1ull << 50;
	begin(3000, 1);
	built_add_counters(&b, &c);
	deliver(3000);
	ck_assert_uint_gt(s->discontinuity_us, 0);
	ck_assert_int_eq(result.records[2].odd.kind, EASE_ODD_COUNTERS);
	c.speed_bps = 1410065408; /* 10^10 in 32 bits */
	begin(4000, 1);
	built_add_counters(&b, &c);
	deliver(4000);
	ck_assert_uint_eq(result.records[1].state.speed_bps, 10000000000ull);
	c.speed_bps = UINT32_MAX;
	begin(5000, 1);
	built_add_counters(&b, &c);
	deliver(5000);
	ck_assert_uint_eq(result.records[1].state.speed_bps, 0);
}
END_TEST

static bool
is_edge(struct built_counters c, uint32_t index, uint32_t aggregate, uint64_t uptime_ms)
{
	c.index = index;
	c.sequence = (uint32_t)uptime_ms / 1000;
	c.aggregate = aggregate;
	take_counters(&c, uptime_ms);
	return result.records[1].state.edge;
}

/* Somebody clears them: of what passed since the counters before only samples tell. It is told once. */
START_TEST(what_passed_while_counters_were_cleared)
{
	struct built_counters c = counters(1);
	struct built_flow f = flow(1, 100);
	const struct ease_snapshot *s;

	take_counters(&c, 1000);
	take(&f, 1500);
	f = flow(2, 200);
	take(&f, 1600);
	c.sequence = 2;
	c.in_octets = 70;
	c.in[0] = 1;
	s = take_counters(&c, 2000);
	ck_assert_uint_ne(s->discontinuity_us, 0);
	ck_assert_uint_eq(result.records[0].uncounted[0].pkts, 2 * RATE);
	ck_assert_uint_eq(result.records[0].uncounted[0].octets, 2 * RATE * 500);
	ck_assert_uint_eq(result.records[0].uncounted[1].pkts, 0);
	c.sequence = 3;
	c.in_octets = 170;
	take_counters(&c, 3000);
	ck_assert_uint_eq(result.records[0].uncounted[0].pkts, 0);
}
END_TEST

/* sFlow's rules for aggregates: counters of members and of the aggregate, samples of the members. Lists count each frame
 * once. An aggregate that is sampled itself counts, and its members do not. */
START_TEST(an_aggregate_counts_at_its_members)
{
	struct built_counters c = counters(1);
	struct built_flow f = flow(1, 100);

	ck_assert(is_edge(c, 1000, 1000, 1000)); /* nothing is known of it yet */
	take(&f, 1500);
	ck_assert(is_edge(c, 3, 1000, 2000));
	ck_assert(is_edge(c, 4, 1000, 3000));
	ck_assert(!is_edge(c, 1000, 1000, 4000));
	f = flow(1, 100);
	f.index = f.input = 1000;
	take(&f, 4500);
	ck_assert(is_edge(c, 1000, 1000, 5000));
	ck_assert(!is_edge(c, 4, 1000, 6000));
	ck_assert(is_edge(c, 5, 1001, 7000));
	ck_assert(is_edge(c, 6, 0, 8000));
}
END_TEST

START_TEST(test_unknown_counters_are_zero)
{
	struct built_counters c = counters(1);
	const struct ease_snapshot *s;

	c.in[1] = c.in[2] = UINT32_MAX;
	c.out_octets = UINT64_MAX;
	c.speed_bps = UINT64_MAX;
	s = take_counters(&c, 1000);
	ck_assert_uint_eq(s->pool_in_pkts, 10);
	ck_assert_uint_eq(s->in.mcast_pkts, 0);
	ck_assert_uint_eq(s->out.octets, 0);
	ck_assert_uint_eq(result.records[1].state.speed_bps, 0);
}
END_TEST

/* Frames sent are a pool only where frames sent are sampled: else they would dilute everything. */
START_TEST(test_pool_of_frames_sent)
{
	struct built_counters c = counters(1);
	struct built_flow f = flow(1, 100);

	take(&f, 500);
	take_counters(&c, 1000);
	c.sequence = 2;
	c.out[0] += 50;
	ck_assert_uint_eq(take_counters(&c, 2000)->pool_out_pkts, 0);
	f.sequence = 2;
	f.input = 9;
	f.output = 3;
	take(&f, 2500);
	c.sequence = 3;
	c.out[0] += 7;
	ck_assert_uint_eq(take_counters(&c, 3000)->pool_out_pkts, 57); /* and what waited */
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("sflow_counters");
	TCase *tc = tcase_create("sflow_counters");

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_counters_that_cannot_be);
	tcase_add_test(tc, test_counters);
	tcase_add_test(tc, test_counters_wrap);
	tcase_add_test(tc, discards_that_go_back_are_no_wrap);
	tcase_add_test(tc, frames_that_go_back_are_no_wrap);
	tcase_add_test(tc, zeros_once_are_left_out);
	tcase_add_test(tc, test_counters_begin_again);
	tcase_add_loop_test(tc, test_counters_over_an_agent_restart, 0, 3);
	tcase_add_test(tc, what_passed_while_counters_were_cleared);
	tcase_add_test(tc, an_aggregate_counts_at_its_members);
	tcase_add_test(tc, test_unknown_counters_are_zero);
	tcase_add_test(tc, test_pool_of_frames_sent);
	return suite_run(suite);
}
