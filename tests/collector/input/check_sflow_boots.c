/* What numbers, uptimes and lengths of sFlow datagrams tell: gaps, disorder, restarts, and what cannot be. */
#include "tests/collector/input/sflow_input_rig.h"

START_TEST(test_gaps_and_disorder)
{
	struct built_flow f = flow(1, 1);

	take(&f, 1000);
	datagram_sequence += 5;
	f.sequence = 10;
	take(&f, 2000);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_DATAGRAMS_MISSING), 5);
	datagram_sequence = 2; /* number 3: overtaken */
	f.sequence = 5;
	ck_assert_ptr_nonnull(take(&f, 1500));
	ck_assert_uint_eq(stat_of(SFLOW_STAT_DATAGRAMS_LATE), 1);
	ck_assert_uint_eq(result.records[0].sample.sequence, 5);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_ODD), 0);
	ck_assert_uint_eq(result.records[0].boot, START_S);
	datagram_sequence = 0xffffffff - 1; /* began anew, no gap of billions */
	f.sequence = 11;
	take(&f, 3000);
	take(&f, 3000);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_DATAGRAMS_MISSING), 5);
}
END_TEST

START_TEST(test_agent_restart)
{
	struct built_flow f = flow(1000, 1);

	take(&f, 100000);
	ck_assert_uint_eq(result.records[0].boot, START_S);
	/* 200 s after the first start, it has been up for one second */
	f.sequence = 1;
	built_begin(&b, AGENT, 0, 1, 1000, 1);
	built_add_flow(&b, &f);
	deliver(200000);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_AGENT_RESTARTS), 1);
	ck_assert_uint_eq(result.records[0].sample.sequence, 1);
	ck_assert_uint_eq(result.records[0].boot, START_S + 199);
}
END_TEST

/* Who sets Open vSwitch up and corrects it a second later begins it twice; its second line is not late. */
START_TEST(test_set_up_twice)
{
	struct built_flow f = flow(1, 1);

	for (uint32_t i = 1; i <= 70; i++, f.sequence++)
		take(&f, 1000 + i);
	f.sequence = 1;
	for (uint32_t number = 1; number <= 2; number++, f.sequence++) {
		built_begin(&b, AGENT, 0, number, 0, 1);
		built_add_flow(&b, &f);
		deliver(2000 + number);
		ck_assert_uint_eq(result.n, 1);
	}
	ck_assert_uint_eq(stat_of(SFLOW_STAT_AGENT_RESTARTS), 1);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_DATAGRAMS_LATE), 0);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_ODD), 0);
}
END_TEST

START_TEST(test_uptime_wrap_is_no_restart)
{
	struct built_flow f = flow(1, 1);
	uint64_t wrap_ms = 1ull << 32;

	take(&f, wrap_ms - 1000);
	ck_assert_uint_eq(result.records[0].boot, START_S);
	f.sequence++;
	take(&f, wrap_ms + 1000);
	ck_assert_uint_eq(result.records[0].boot, START_S);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_AGENT_RESTARTS), 0);
}
END_TEST

START_TEST(test_boot_over_a_collector_restart)
{
	struct built_flow f = flow(1, 1);
	uint64_t wrap_ms = 1ull << 32;

	rig_boot = START_S + 7; /* the same within a minute */
	take(&f, 1000000);
	ck_assert_uint_eq(result.records[0].boot, START_S + 7);
	teardown();
	setup();
	rig_boot = START_S; /* two wraps and a drift of 100 s ago */
	take(&f, 2 * wrap_ms + 100000);
	ck_assert_uint_eq(result.records[0].boot, START_S);
	teardown();
	setup();
	rig_boot = START_S - 100000; /* it began again while nobody listened */
	take(&f, 5000);
	ck_assert_uint_eq(result.records[0].boot, START_S);
	teardown();
	setup();
	rig_boot = START_S + 90000; /* our clock was set back: boots never do */
	take(&f, 5000);
	ck_assert_uint_eq(result.records[0].boot, START_S + 90001);
	teardown();
	setup();
	rig_boot = 4290000000u; /* our clock was in 2106 when it was met: it does not begin anew with each start of ours */
	take(&f, 5000);
	ck_assert_uint_eq(result.records[0].boot, 4290000000u);
}
END_TEST

/* The collector's machine has no clock, and is in 1970 until NTP sets it. */
START_TEST(test_boot_while_we_are_in_1970)
{
	const struct decode_origin origin = {.sender = "192.0.2.99", .received_us = 60000000};
	struct built_flow f = flow(1, 1);

	built_begin(&b, AGENT, 0, 1, 900000000, 1);
	built_add_flow(&b, &f);
	ck_assert_int_eq(sflow_input_take(in, b.octets, b.n, &origin, &result), SFLOW_END);
	ck_assert_uint_eq(result.records[0].boot, 1);
	teardown();
	setup();
	rig_boot = START_S;
	ck_assert_int_eq(sflow_input_take(in, b.octets, b.n, &origin, &result), SFLOW_END);
	ck_assert_uint_eq(result.records[0].boot, START_S);
}
END_TEST

START_TEST(test_source_restart)
{
	struct built_flow f = flow(5000, 1000);
	uint64_t odd;

	take(&f, 1000);
	f.sequence = 1;
	take(&f, 2000);
	ck_assert_uint_eq(result.records[0].sample.sequence, 5001); /* ours go on, in the same boot */
	ck_assert_uint_eq(result.records[0].boot, START_S);
	odd = stat_of(SFLOW_STAT_ODD);
	ck_assert_uint_gt(odd, 0);
	f = flow(0xffffffff, 0xfffffff0); /* and a wrap of its numbers and its pool is none */
	f.index = f.input = 5;
	take(&f, 3000);
	f.sequence = 0;
	f.pool += RATE;
	take(&f, 4000);
	ck_assert_uint_eq(result.records[0].sample.sequence, 0);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_ODD), odd);
}
END_TEST

/* Whatever numbers do, each sample counts once and none is called lost; and uptimes that cannot be begin no boot. */
static uint32_t
falling(uint32_t i)
{
	return 5000 - i;
}

static uint32_t
always_0(uint32_t i)
{
	return 0 * i;
}

static uint32_t
two_lines(uint32_t i)
{
	return i / 2 + (i % 2) * 60;
}

static uint32_t
swapped(uint32_t i)
{
	return 100 + (i % 8 == 3 ? i + 1 : i % 8 == 4 ? i - 1 : i);
}

static uint32_t
in_threes(uint32_t i)
{
	return 100 + 3 * i;
}

static uint32_t
leaping(uint32_t i)
{
	return i == 50 ? 4000000000u : 100 + i;
}

static uint32_t (*const numberings_of[])(uint32_t) = {falling, always_0, two_lines, swapped, in_threes, leaping};

START_TEST(test_numbers_that_no_line_has)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < 400; i++) {
		struct built_flow f = flow(numberings_of[_i](i), 1000 + i * 97);
		const struct ease_sample *s = take(&f, 1000 + i * 100);

		ck_assert_ptr_nonnull(s);
		first = i == 0 ? s->sequence : first;
		ck_assert_uint_eq(s->sequence, first + i);
		ck_assert_uint_eq(taken()->boot, START_S);
		ck_assert_uint_eq(s->mean_skip, RATE);
	}
	ck_assert_uint_gt(stat_of(SFLOW_STAT_ODD), 0);
}
END_TEST

START_TEST(test_uptimes_that_cannot_be)
{
	struct built_flow f = flow(1, 1);
	uint32_t boot, n_boots = 0;

	take(&f, 3600000);
	boot = result.records[0].boot;
	for (uint32_t i = 1; i <= 100; i++) {
		built_begin(&b, AGENT, 0, ++datagram_sequence, i % 2 ? 1000000 : 60000 + i * 4000, 1);
		f.sequence++;
		built_add_flow(&b, &f);
		deliver(3600000 + i * 10);
		ck_assert_uint_eq(result.records[result.n - 1].boot, boot);
	}
	ck_assert_uint_eq(stat_of(SFLOW_STAT_AGENT_RESTARTS), 0);
	for (uint32_t i = 1; i <= 100; i++) { /* and one that really begins anew each second has few boots */
		built_begin(&b, AGENT, 0, 1 + i % 2, i % 2 ? 10 : 3010, 1);
		f.sequence = 1 + i % 2;
		built_add_flow(&b, &f);
		deliver(3700000 + i * 3000);
		n_boots += taken()->boot != boot;
		boot = taken()->boot;
	}
	ck_assert_uint_eq(stat_of(SFLOW_STAT_AGENT_RESTARTS), 50);
	ck_assert_uint_eq(n_boots, 5); /* in 300 s */
}
END_TEST

/* Numbers that are left out count as lost where datagrams are missing; of what the agent says it dropped, where it
 * fits, they are its own, and the rest is told apart. */
START_TEST(test_drops_and_losses)
{
	/* numbers and datagrams of a step, drops so far; what of ours is left out, and what the agent dropped */
	static const struct {
		uint32_t number, datagrams, drops, left_out, dropped, apart;
	} steps[] = {
	    {1, 1, 467178, 0, 0, 0}, /* before the collector */
	    {3, 2, 467178, 2, 0, 0}, /* the network */
	    {5, 1, 467182, 4, 4, 0}, /* a full queue, in which they had numbers */
	    {1, 1, 467183, 0, 0, 1}, /* and one in which they had none */
	    {6, 1, 467183, 0, 0, 0}, /* nothing is missing: it numbers otherwise */
	    {1, 1, 1000000000, 0, 0, 0}, /* a lie, with what rose meanwhile */
	    {1, 1, 467184, 0, 0, 0},
	    {1, 1, 467186, 0, 0, 2},
	    {1, 1, 5, 0, 0, 0}, /* a lie as well */
	    {1, 1, 467187, 0, 0, 1},
	};
	struct built_flow f = flow(1000, 1000);
	uint32_t before = 0;

	for (uint32_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const struct ease_record *r;

		f.sequence += steps[i].number;
		f.pool += RATE;
		f.drops = steps[i].drops;
		datagram_sequence += steps[i].datagrams - 1;
		ck_assert_ptr_nonnull(take(&f, 1000 + i));
		r = taken();
		if (i > 0)
			ck_assert_msg(r->sample.sequence == before + 1 + steps[i].left_out, "step %u", i);
		before = r->sample.sequence;
		ck_assert_msg(r->dropped == steps[i].dropped, "step %u: %u", i, r->dropped);
		ck_assert_msg(r->dropped_apart == steps[i].apart, "step %u: %u", i, r->dropped_apart);
	}
}
END_TEST

/* What a port counts says whose word holds: the stated rate's, or the pool's. */
START_TEST(test_counters_decide)
{
	/* the pool rises so much a sample, and the port counts so many frames; then samples stand for */
	static const uint32_t cases[][3] = {{200, 100, 100}, {200, 200, 200}, {50, 100, 100}, {50, 50, 50}, {200, 0, 200}};
	struct built_counters c = {.sequence = 0, .index = 3, .speed_bps = 1000000000, .status = 3};

	for (uint32_t i = 1; i <= 600; i++) {
		struct built_flow f = flow(i, i * cases[_i][0] + i % 7);
		const struct ease_sample *s = take(&f, 100 * i);

		ck_assert_ptr_nonnull(s);
		if (i == 600)
			ck_assert_uint_eq(s->mean_skip, cases[_i][2]);
		c.in[0] += cases[_i][1];
		c.in_octets += 500 * cases[_i][1];
		if (i % 60 != 0 || cases[_i][1] == 0)
			continue;
		c.sequence++;
		begin(100 * i, 1);
		built_add_counters(&b, &c);
		deliver(100 * i);
	}
}
END_TEST

/* A length that no frame has is that of the IP header, or the sample is refused. */
START_TEST(test_lengths_that_cannot_be)
{
	static const struct {
		uint32_t stated;
		uint16_t packet; /* 0: no IP header */
		uint32_t used;	 /* 0: refused */
	} lengths[] = {
	    {500, 1000, 500}, {1518, 40, 1518}, /* a sender may write anything in there */
	    {4000000000, 482, 500}, {4000000000, 0, 0}, {0, 482, 500}, {0, 0, 0}, {9018, 9000, 9018}, {9000, 482, 500},
	    {65000, 64982, 65000}, {9018, 0, 9018},
	};

	for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint8_t header[64] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 8, 0, 0x45};
		struct built_flow f = flow(i + 1, (i + 1) * RATE);
		const struct ease_sample *s;

		header[12] = lengths[i].packet ? 8 : 0x88;
		header[16] = (uint8_t)(lengths[i].packet >> 8);
		header[17] = (uint8_t)lengths[i].packet;
		f.header = header;
		f.frame_octets = lengths[i].stated;
		begin(i, 1);
		built_add_flow(&b, &f);
		deliver(i);
		s = NULL;
		for (size_t r = 0; r < result.n; r++)
			if (result.records[r].kind == EASE_PART_SAMPLE)
				s = &result.records[r].sample;
		ck_assert_msg((s ? s->frame_octets : 0) == lengths[i].used, "%u: %u", i, s ? s->frame_octets : 0);
	}
	ck_assert_uint_eq(stat_of(SFLOW_STAT_NO_LENGTH), 2);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_LENGTH_MENDED), 3);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("sflow_boots");
	TCase *tc = tcase_create("sflow_boots");

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_gaps_and_disorder);
	tcase_add_test(tc, test_agent_restart);
	tcase_add_test(tc, test_set_up_twice);
	tcase_add_test(tc, test_uptime_wrap_is_no_restart);
	tcase_add_test(tc, test_boot_over_a_collector_restart);
	tcase_add_test(tc, test_boot_while_we_are_in_1970);
	tcase_add_test(tc, test_source_restart);
	tcase_add_loop_test(tc, test_numbers_that_no_line_has, 0, sizeof(numberings_of) / sizeof(numberings_of[0]));
	tcase_add_test(tc, test_uptimes_that_cannot_be);
	tcase_add_test(tc, test_drops_and_losses);
	tcase_add_loop_test(tc, test_counters_decide, 0, 5);
	tcase_add_test(tc, test_lengths_that_cannot_be);
	return suite_run(suite);
}
