/* What the collector has asked a switch for takes the place of what its sFlow agent does not send, and only that. */
#include "tests/collector/input/sflow_input_rig.h"

#include "collector/input/sflow_state.h"

#define NOW_US(uptime_ms) (START_S * 1000000ull + (uptime_ms) * 1000ull)

/* The port that one flow sample of ifIndex 3 makes. */
static struct polled_place
sampled_port(uint64_t uptime_ms)
{
	struct polled_place place;
	struct built_flow f = flow(1, 100);

	ck_assert_ptr_nonnull(take(&f, uptime_ms));
	for (uint32_t i = 0; i < SFLOW_MAX_PORTS; i++)
		if (sflow_input_place(in, i, NOW_US(uptime_ms), &place))
			return place;
	ck_abort_msg("there is no such port");
}

static struct polled_port
asked(const struct polled_place *place, uint64_t uptime_ms, unsigned parts)
{
	return (struct polled_port){.place = place->place, .number = place->number, .if_index = place->if_index,
	    .parts = parts, .read_us = NOW_US(uptime_ms)};
}

static struct polled_port
counted(const struct polled_place *place, uint64_t uptime_ms, uint64_t frames)
{
	struct polled_port p = asked(place, uptime_ms, POLLED_COUNTERS);

	p.speed_bps = 100000000000ull;
	p.admin_status = p.oper_status = EASE_IF_UP;
	p.in = (struct ease_side){100 * frames, frames, 7, EASE_COUNT_UNKNOWN, 1, 2};
	p.out = (struct ease_side){200 * frames, frames, 0, 0, 3, 4};
	return p;
}

/* Delivered half a second after it was read. */
static const struct ease_record *
deliver_polled(const struct polled_port *p, enum ease_part kind)
{
	ck_assert(sflow_input_take_polled(in, p, p->read_us + 500000, &result));
	for (size_t i = 0; i < result.n; i++)
		if (result.records[i].kind == kind)
			return &result.records[i];
	return NULL;
}

START_TEST(whom_to_ask)
{
	struct polled_place place = sampled_port(1000), again;
	struct built_counters c = {.sequence = 1, .index = 3, .speed_bps = 1000000000};

	ck_assert_uint_eq(place.if_index, 3);
	ck_assert_str_eq(place.address, "192.0.2.5");
	ck_assert(!place.sends_counters);
	begin(2000, 1);
	built_add_counters(&b, &c);
	ck_assert_int_eq(deliver(2000), SFLOW_END);
	ck_assert(sflow_input_place(in, place.place, NOW_US(3000), &again));
	ck_assert(again.sends_counters);
	ck_assert(sflow_input_place(in, place.place, NOW_US(800000), &again));
	/* Silent for 15 minutes, it is not asked any more. */
	ck_assert(!sflow_input_place(in, place.place, NOW_US(903000), &again));
}
END_TEST

START_TEST(counters_as_if_sent)
{
	struct polled_place place = sampled_port(1000);
	struct polled_port p = counted(&place, 60000, 1000);
	const struct ease_record *r = deliver_polled(&p, EASE_PART_SNAPSHOT);

	ck_assert_ptr_nonnull(r);
	ck_assert_uint_eq(r->snapshot.time_us, NOW_US(60000));
	ck_assert_uint_eq(r->received_us, NOW_US(60500));
	ck_assert_str_eq(r->sender, "192.0.2.5");
	ck_assert_str_eq(r->source, "192.0.2.99");
	ck_assert_uint_eq(r->snapshot.in.octets, 100000);
	ck_assert_uint_eq(r->snapshot.in.ucast_pkts, 1000);
	ck_assert_uint_eq(r->snapshot.in.mcast_pkts, 7);
	ck_assert_uint_eq(r->snapshot.in.bcast_pkts, 0); /* unknown */
	ck_assert_uint_eq(r->snapshot.in.errors, 2);
	ck_assert_uint_eq(r->snapshot.out.octets, 200000);
	ck_assert_uint_eq(r->snapshot.out.discards, 3);
	ck_assert_uint_eq(r->snapshot.pool_in_pkts, 1007);
	r = deliver_polled(&p, EASE_PART_SNAPSHOT); /* no newer */
	ck_assert_ptr_null(r);
	p = counted(&place, 90000, 3000);
	r = deliver_polled(&p, EASE_PART_STATE);
	ck_assert_uint_eq(r->state.speed_bps, 100000000000ull);
	ck_assert_uint_eq(r->state.oper_status, EASE_IF_UP);
	ck_assert_uint_eq(r->polled, POLLED_COUNTERS);
}
END_TEST

/* In 30 s a port of 400 Gb/s forwards more frames than 32 bits count. */
START_TEST(counters_of_64_bits)
{
	const uint64_t base = 3ull << 40, more = 10000000000ull;
	struct polled_place place = sampled_port(1000);
	struct polled_port p = counted(&place, 60000, base);
	const struct ease_record *r;

	deliver_polled(&p, EASE_PART_SNAPSHOT);
	p = counted(&place, 90000, base + more);
	p.speed_bps = 800000000000ull;
	r = deliver_polled(&p, EASE_PART_SNAPSHOT);
	ck_assert_ptr_nonnull(r);
	ck_assert_uint_eq(r->snapshot.discontinuity_us, 0);
	ck_assert_uint_eq(r->snapshot.in.ucast_pkts, base + more);
	ck_assert_uint_eq(r->snapshot.out.octets, 200 * (base + more));
}
END_TEST

START_TEST(what_is_sent_counts)
{
	struct polled_place place = sampled_port(1000);
	struct polled_port p = counted(&place, 60000, 1000);
	struct built_counters c = {.sequence = 1, .index = 3, .speed_bps = 1000000000, .in_octets = 104000,
	    .in = {1040}, .out_octets = 208000, .out = {1040}};

	deliver_polled(&p, EASE_PART_SNAPSHOT);
	begin(70000, 1);
	built_add_counters(&b, &c);
	ck_assert_int_eq(deliver(70000), SFLOW_END);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_COUNTERS), 2);
	ck_assert_uint_eq(result.records[0].snapshot.discontinuity_us, 0); /* they go on from those that were asked for */
	ck_assert_uint_eq(result.records[0].snapshot.in.ucast_pkts, 1040);
	p = counted(&place, 90000, 3000);
	ck_assert_ptr_null(deliver_polled(&p, EASE_PART_SNAPSHOT));
	ck_assert_uint_eq(stat_of(SFLOW_STAT_COUNTERS), 2);
}
END_TEST

START_TEST(counters_that_began_anew)
{
	struct polled_place place = sampled_port(1000);
	struct polled_port p = counted(&place, 60000, 1000);

	deliver_polled(&p, EASE_PART_SNAPSHOT);
	p = counted(&place, 90000, 1500);
	p.began_anew = true;
	ck_assert_uint_eq(deliver_polled(&p, EASE_PART_SNAPSHOT)->snapshot.discontinuity_us, NOW_US(90000));
	p = counted(&place, 120000, 1400); /* it says nothing, but they went back */
	ck_assert_uint_eq(deliver_polled(&p, EASE_PART_SNAPSHOT)->snapshot.discontinuity_us, NOW_US(120000));
	p = counted(&place, 150000, 1600);
	ck_assert_uint_eq(deliver_polled(&p, EASE_PART_SNAPSHOT)->snapshot.discontinuity_us, NOW_US(120000));
}
END_TEST

START_TEST(names)
{
	struct polled_place place = sampled_port(1000);
	struct polled_port p = asked(&place, 2000, POLLED_NAMES);
	const struct ease_record *r;

	strcpy(p.name, "Ethernet1");
	strcpy(p.alias, "to the roof");
	p.lag_parent = 1001;
	r = deliver_polled(&p, EASE_PART_STATE);
	ck_assert_ptr_nonnull(r);
	ck_assert_uint_eq(result.n, 1);
	ck_assert_uint_eq(r->polled, POLLED_NAMES);
	ck_assert_str_eq(r->state.name, "Ethernet1");
	ck_assert_str_eq(r->state.alias, "to the roof");
	ck_assert_uint_eq(r->state.lag_parent, 1001);
}
END_TEST

START_TEST(ports_that_are_not_there)
{
	struct polled_place place = sampled_port(1000);
	struct polled_port p = counted(&place, 60000, 1000);

	p.number++;
	ck_assert(!sflow_input_take_polled(in, &p, NOW_US(60000), &result));
	p = counted(&place, 60000, 1000);
	p.if_index++;
	ck_assert(!sflow_input_take_polled(in, &p, NOW_US(60000), &result));
	p = counted(&place, 60000, 1000);
	p.place = UINT32_MAX;
	ck_assert(!sflow_input_take_polled(in, &p, NOW_US(60000), &result));
	ck_assert_uint_eq(result.n, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("sflow_polled");
	TCase *tc = tcase_create("sflow_polled");

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, whom_to_ask);
	tcase_add_test(tc, counters_as_if_sent);
	tcase_add_test(tc, counters_of_64_bits);
	tcase_add_test(tc, what_is_sent_counts);
	tcase_add_test(tc, counters_that_began_anew);
	tcase_add_test(tc, names);
	tcase_add_test(tc, ports_that_are_not_there);
	return suite_run(suite);
}
