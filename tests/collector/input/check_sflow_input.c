/*
 * sFlow datagrams from an independent builder become records: direction, weight, and the treatment
 * of sFlow's known defects.
 */
#include "collector/input/foreign_flow.h"
#include "collector/input/refused_senders.h"
#include "collector/source_port.h"
#include "tests/collector/input/sflow_input_rig.h"

START_TEST(test_a_sample)
{
	struct built_flow f = flow(17, 4000);
	const struct ease_sample *s;

	f.drops = 6;
	s = take(&f, 5000);
	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(result.records[0].kind, EASE_PART_SAMPLE);
	ck_assert_uint_eq(result.records[0].boot, START_S);
	ck_assert(result.records[0].loose_numbers);
	ck_assert_str_eq(result.records[0].sender, "192.0.2.5");
	ck_assert_uint_eq(result.records[0].received_us, (START_S + 5) * 1000000ull);
	ck_assert_uint_eq(s->time_us, (START_S + 5) * 1000000ull);
	ck_assert_uint_eq(s->if_index, 3);
	ck_assert_uint_eq(s->sequence, 17);
	ck_assert_uint_eq(s->direction, EASE_IN);
	ck_assert_uint_eq(s->input_if, 3);
	ck_assert_uint_eq(s->output_if, 4);
	ck_assert_uint_eq(s->mean_skip, RATE);
	ck_assert_uint_eq(s->pool_pkts, 4000);
	ck_assert_uint_eq(result.records[0].dropped + result.records[0].dropped_apart, 0); /* before the collector */
	ck_assert_uint_eq(s->frame_octets, 500);
	ck_assert_uint_eq(s->kept_octets, sizeof(frame));
	ck_assert_mem_eq(s->header, frame, sizeof(frame));
}
END_TEST

/* Interfaces of a sample of source 3, and what they come to. */
static const struct {
	bool expanded;
	uint32_t input_format, input, output_format, output;
	uint8_t direction;
	uint64_t input_if, output_if;
} interfaces[] = {
    {false, 0, 3, 0, 4, EASE_IN, 3, 4},
    {false, 0, 3, 0, 3, EASE_IN, 3, 3},
    {false, 0, 4, 0, 3, EASE_OUT, 4, 3},
    {false, 0, 0, 0, 3, EASE_OUT, 0, 3},
    {false, 0, 0, 0, 4, EASE_IN, 0, 4},
    {false, 0, 0, 0, 0, EASE_IN, 0, 0},
    {false, 0, 4, 2, 7, EASE_OUT, 4, EASE_IF_MANY + 7},
    {false, 0, 3, 2, 0, EASE_IN, 3, EASE_IF_MANY},
    {false, 0, 3, 1, 258, EASE_IN, 3, EASE_IF_UNKNOWN}, /* discarded */
    {false, 0, 3, 0, 0x3fffffff, EASE_IN, 3, EASE_IF_LOCAL},
    {true, 0, 3, 0, 0x3fffffff, EASE_IN, 3, EASE_IF_LOCAL},
    {true, 0, 3, 0, 0x50000000, EASE_IN, 3, 0x50000000},
    {true, 0, 3, 0, 0x80000003, EASE_IN, 3, 0x80000003},
    {true, 0, 9, 2, 0xffffffff, EASE_OUT, 9, EASE_IF_MANY},
};

START_TEST(test_direction)
{
	struct built_flow f = flow(1, 100);
	const struct ease_sample *s;

	f.expanded = interfaces[_i].expanded;
	f.input_format = interfaces[_i].input_format;
	f.input = interfaces[_i].input;
	f.output_format = interfaces[_i].output_format;
	f.output = interfaces[_i].output;
	s = take(&f, 0);
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(s->direction, interfaces[_i].direction);
	ck_assert_uint_eq(s->input_if, interfaces[_i].input_if);
	ck_assert_uint_eq(s->output_if, interfaces[_i].output_if);
}
END_TEST

/* An agent is a device: its address, and its sender's too where the address is one that many have. */
static const struct {
	uint32_t first, second, sub_agent;
	const char *first_sender, *second_sender;
	bool same;
} devices[] = {
    {AGENT, AGENT, 0, "192.0.2.1", "192.0.2.1", true},
    {AGENT, AGENT, 1, "192.0.2.1", "192.0.2.1", true}, /* another sub-agent */
    {AGENT, AGENT + 1, 0, "192.0.2.1", "192.0.2.1", false},
    {AGENT, AGENT, 0, "192.0.2.1", "192.0.2.2", true},
    {0x7f000001, 0x7f000001, 0, "192.0.2.1", "192.0.2.2", false}, /* loopback */
    {0x7f000001, 0x7f000001, 3, "192.0.2.1", "192.0.2.1", true},
    {0x7f000001, 0x7f000001, 0, "127.0.0.1", "127.0.0.66", true}, /* this machine */
    {0, 0, 0, "192.0.2.1", "192.0.2.2", false},
    {0x80000004, 0x80000004, 0, "192.0.2.1", "192.0.2.2", false}, /* Juniper's inside */
    {0xf07f0101, 0xf07f0101, 0, "192.0.2.1", "192.0.2.2", false}, /* SONiC's default */
    {0xc0a80101, 0xc0a80101, 0, "192.0.2.1", "192.0.2.2", false}, /* the option below */
};

START_TEST(test_agents_are_told_apart)
{
	struct decode_origin origin = {.sender = devices[_i].first_sender, .received_us = START_S * 1000000ull};
	struct built_flow f = flow(1, 100);
	uint8_t first[EASE_AGENT_ID_LEN];
	built_begin(&b, devices[_i].first, 0, 1, 0, 1);
	built_add_flow(&b, &f);
	sflow_input_take(in, b.octets, b.n, &origin, &result);
	ck_assert_uint_eq(result.n, 1);
	memcpy(first, result.records[0].agent_id, sizeof(first));
	origin.sender = devices[_i].second_sender;
	built_begin(&b, devices[_i].second, devices[_i].sub_agent, 2, 0, 1);
	f.sequence++;
	built_add_flow(&b, &f);
	sflow_input_take(in, b.octets, b.n, &origin, &result);
	ck_assert_uint_ge(result.n, 1);
	ck_assert_int_eq(memcmp(first, result.records[0].agent_id, sizeof(first)) == 0, devices[_i].same);
}
END_TEST

/* An interface that two sub-agents sample is one port; each has its own numbers. */
START_TEST(test_sub_agents_of_a_port)
{
	for (uint32_t i = 1; i <= 10; i++)
		for (uint32_t sub = 0; sub < 2; sub++) {
			struct built_flow f = flow(sub * 5000 + i, i * RATE);

			built_begin(&b, AGENT, sub, i, i, 1);
			built_add_flow(&b, &f);
			ck_assert_int_eq(deliver(i), SFLOW_END);
			ck_assert_uint_eq(result.records[0].sample.if_index, 3);
			ck_assert_uint_eq(result.records[0].sample.sequence, sub * 5000 + i);
			ck_assert_uint_eq(result.records[0].source_port, sub ? source_port_of_further(1, 1, 3) : 0);
			ck_assert_uint_eq(result.n, 1 + (sub && i > 1)); /* and that is told */
		}
	ck_assert_int_eq(result.records[1].kind, EASE_PART_ODD);
	ck_assert_int_eq(result.records[1].odd.kind, EASE_ODD_SUB_AGENTS);
}
END_TEST

START_TEST(test_what_is_not_used)
{
	struct built_flow strange = flow(1, 1), no_rate = flow(1, 1), no_header = flow(2, 1);
	static const uint32_t discard[] = {5, 32, 1, 0, 4, 99, 2, 0, 258, 0};

	strange.class = 8; /* there are four */
	strange.expanded = true;
	no_rate.rate = 0;
	no_header.header = NULL;
	begin(0, 4);
	built_add_flow(&b, &strange);
	built_add_flow(&b, &no_rate);
	built_add_flow(&b, &no_header);
	for (size_t i = 0; i < sizeof(discard) / sizeof(discard[0]); i++)
		built_word(&b, discard[i]);
	ck_assert_int_eq(deliver(0), SFLOW_END);
	ck_assert_uint_eq(result.n, 3); /* the discarded packet: an event without a frame is one, too; and two refusals */
	ck_assert_uint_eq(stat_of(SFLOW_STAT_NO_INTERFACE), 1);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_NO_RATE), 1);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_NO_HEADER), 1);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_DISCARDS), 1);
}
END_TEST

/* Sources that are no interface: where a sample of each lies, and whose numbers it has. */
static const struct {
	bool expanded;
	uint32_t class, index, input_format, input;
	uint64_t if_index, source_port;
} sources[] = {
    {false, 0, 3, 0, 3, 3, 0},
    {false, 2, 1000, 0, 4, 4, 0x1a000003e8}, /* the bridge of Open vSwitch */
    {true, 2, 1000, 0, 4, 4, 0x1a000003e8},
    {false, 2, 1000, 0, 0, 0x12000003e8, 0x1a000003e8}, /* it does not say where it came in */
    {true, 2, 1000, 0, 0x3fffffff, 0x12000003e8, 0x1a000003e8},
    {true, 2, 1000, 0, 0xffffffff, 0x12000003e8, 0x1a000003e8}, /* not known */
    {true, 2, 1000, 0, 0xfffffffe, 0xfffffffe, 0x1a000003e8}, /* larger than RFC 2863 allows */
    {true, 0, 0x80000000, 0, 0x80000000, 0x80000000, 0},
    {true, 0, 0x82000001, 0, 0x82000001, 0x82000001, 0},
    {true, 0, 0xc1000001, 0, 0xc1000001, 0xc1000001, 0},
    {true, 2, 1000, 2, 7, 0x12000003e8, 0x1a000003e8},
    {false, 1, 12, 0, 5, 5, 0x190000000c},
    {false, 3, 0, 0, 5, 5, 0x1b00000000},
    {false, 0, 0, 0, 5, 5, 0x1800000000}, /* ifIndex 0 is none */
    {true, 7, 0xffffffff, 0, 5, 5, 0x1fffffffff},
};

START_TEST(test_data_sources)
{
	for (uint32_t i = 1; i <= 40; i++) {
		struct built_flow f = flow(i, 4711 * i); /* the pool is a count, but not of this port */
		const struct ease_sample *s;

		f.expanded = sources[_i].expanded;
		f.class = sources[_i].class;
		f.index = sources[_i].index;
		f.input_format = sources[_i].input_format;
		f.input = sources[_i].input;
		s = take(&f, i);
		ck_assert_ptr_nonnull(s);
		ck_assert_uint_eq(s->if_index, sources[_i].if_index);
		ck_assert_uint_eq(result.records[0].source_port, sources[_i].source_port);
		ck_assert_uint_eq(s->sequence, i);
		ck_assert_uint_eq(s->direction, EASE_IN);
		ck_assert_int_eq(s->pool_pkts == EASE_COUNT_UNKNOWN, sources[_i].class != 0 || sources[_i].index == 0);
	}
	ck_assert_uint_eq(stat_of(SFLOW_STAT_NO_INTERFACE), 0);
}
END_TEST

/* Numbers of two sources are apart; that one begins anew is seen, and ours go on. */
START_TEST(test_data_sources_are_told_apart)
{
	struct built_flow bridge = flow(500, 1), port = flow(1, 1);

	bridge.class = 2;
	bridge.index = port.index = 3;
	take(&bridge, 1000);
	take(&port, 1001);
	bridge.sequence = 501;
	take(&bridge, 1002);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_ODD), 0);
	bridge.sequence = 1;
	take(&bridge, 1003);
	ck_assert_uint_eq(result.records[0].sample.sequence, 502);
	ck_assert_uint_gt(stat_of(SFLOW_STAT_ODD), 0);
}
END_TEST

/* An event of a packet that came in at a port, of the data source 0:0 as hsflowd has it. */
static void
deliver_discard(uint32_t sequence, uint32_t drops, uint32_t input, uint32_t output, uint32_t reason)
{
	const uint32_t words[] = {5, 32, sequence, 0, 0, drops, input, output, reason, 0};

	begin(sequence, 1);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		built_word(&b, words[i]);
	ck_assert_int_eq(deliver(sequence), SFLOW_END);
}

START_TEST(test_discards)
{
	/* number, not sent so far; records, of which one is the event if it counts; then not sent and lost */
	static const struct {
		uint32_t sequence, drops;
		size_t n;
		bool is_event;
		uint32_t not_sent;
		int32_t lost;
	} steps[] = {
	    {10, 7, 1, true, 0, 0},   /* the first tells nothing of those before, */
	    {9, 7, 0, false, 0, 0},   /* and what is older may have come */
	    {11, 7, 1, true, 0, 0},
	    {11, 7, 0, false, 0, 0},  /* twice */
	    {14, 9, 2, true, 2, 2},
	    {12, 7, 2, true, 0, -1},  /* late */
	    {12, 7, 0, false, 0, 0},
	    {15, 9, 1, true, 0, 0},
	    {200, 9, 2, true, 0, 184},
	    {200000, 10, 1, true, 0, 0}, /* numbers that began anew */
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const struct ease_discard *untold = &result.records[1].discard;

		deliver_discard(steps[i].sequence, steps[i].drops, 3, 4, 258);
		ck_assert_msg(result.n == steps[i].n, "step %zu: %zu records", i, result.n);
		if (steps[i].is_event) {
			ck_assert_int_eq(result.records[0].kind, EASE_PART_DISCARD);
			ck_assert_uint_eq(result.records[0].discard.frame.if_index, 3);
			ck_assert_uint_eq(result.records[0].discard.frame.output_if, 4);
			ck_assert_uint_eq(result.records[0].discard.reason, 258);
		}
		if (steps[i].n < 2)
			continue;
		ck_assert_uint_eq(untold->frame.if_index, source_port_of_numbers(0, 0));
		ck_assert_uint_eq(untold->not_sent, steps[i].not_sent);
		ck_assert_int_eq(untold->lost, steps[i].lost);
	}
	ck_assert_uint_eq(stat_of(SFLOW_STAT_DISCARDS), 7);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_DISCARDS_AGAIN), 3);
}
END_TEST

/* Where a discarded packet lies, and two numbers that lack their last digit. */
START_TEST(test_places_of_discards)
{
	static const struct {
		uint32_t input, output, reason;
		uint64_t if_index;
		uint32_t read;
	} events[] = {{3, 4, 256, 3, 256}, {0, 4, 33, 4, 332}, {0x3fffffff, 5, 36, 5, 366},
	    {0, 0, 15, 0x1000000000, 15}, {0xffffffff, 6, 4711, 6, 4711}};

	for (uint32_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		deliver_discard(i + 1, 0, events[i].input, events[i].output, events[i].reason);
		ck_assert_uint_eq(result.n, 1);
		ck_assert_uint_eq(result.records[0].discard.frame.if_index, events[i].if_index);
		ck_assert_uint_eq(result.records[0].discard.reason, events[i].read);
	}
}
END_TEST

START_TEST(test_good_samples_beside_bad_ones)
{
	struct built_flow f = flow(1, 1);

	begin(0, 3);
	built_add_flow(&b, &f);
	for (uint32_t i = 0; i < 4; i++) /* a flow sample of 8 octets */
		built_word(&b, i == 1 ? 8 : 1);
	f.sequence++;
	built_add_flow(&b, &f);
	ck_assert_int_eq(deliver(0), SFLOW_END);
	ck_assert_uint_eq(result.n, 2);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_REFUSED_SAMPLE), 1);
	b.n -= 4; /* the last one cut */
	datagram_sequence++;
	built_patch(&b, 16, datagram_sequence);
	ck_assert_int_eq(deliver(0), SFLOW_BAD_SAMPLE_LENGTH);
	ck_assert_int_eq(result.records[0].kind, EASE_PART_SAMPLE);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_REFUSED_DATAGRAM), 1);
	built_patch(&b, 0, 4);
	ck_assert_int_eq(deliver(0), SFLOW_BAD_VERSION);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_REFUSED_VERSION), 1);
	ck_assert_str_eq(sflow_input_refusal(in), "sFlow version 4: set the switch to sFlow version 5");
}
END_TEST

/* First octets, and how long the datagram is; the reason fits into a row of refused senders. */
static const struct {
	uint8_t octets[8];
	size_t n;
	enum foreign_flow flow;
} foreign[] = {
	{{0, 0, 0, 2, 0, 0, 0, 1}, 100, FOREIGN_SFLOW_2}, {{0, 0, 0, 4, 0, 0, 0, 2}, 100, FOREIGN_SFLOW_4},
	{{0, 0, 0, 5, 0, 0, 0, 1}, 100, FOREIGN_NOT_KNOWN}, {{0, 0, 0, 4, 0, 0, 0, 9}, 100, FOREIGN_NOT_KNOWN},
	{{0, 5, 0, 2}, 24 + 2 * 48, FOREIGN_NETFLOW_5}, {{0, 5, 0, 2}, 24 + 48, FOREIGN_NOT_KNOWN},
	{{0, 9, 0, 3}, 100, FOREIGN_NETFLOW_9}, {{0, 9, 0, 3}, 12, FOREIGN_NOT_KNOWN},
	{{0, 10, 0, 100}, 100, FOREIGN_IPFIX}, {{0, 10, 0, 100}, 99, FOREIGN_NOT_KNOWN},
	{{0, 9, 0, 3}, 7, FOREIGN_NOT_KNOWN},
};

START_TEST(other_versions_and_protocols_are_named)
{
	uint8_t datagram[200] = {0};

	memcpy(datagram, foreign[_i].octets, sizeof(foreign[_i].octets));
	ck_assert_int_eq(foreign_flow_of(datagram, foreign[_i].n), foreign[_i].flow);
	ck_assert_uint_lt(strlen(foreign_flow_text(foreign[_i].flow)), REFUSED_REASON_TEXT);
}
END_TEST

/* ---- known defects ---- */

/* n samples, each pool_step further. The last one's weight. */
static uint32_t
weight_after(uint32_t n, uint32_t pool_step)
{
	const struct ease_sample *s = NULL;

	for (uint32_t i = 1; i <= n; i++) {
		struct built_flow f = flow(i, i * pool_step);

		s = take(&f, i);
		ck_assert_ptr_nonnull(s);
	}
	return s->mean_skip;
}

START_TEST(test_measured_rate)
{
	ck_assert_uint_eq(weight_after(250, 82), RATE); /* too few to tell */
	ck_assert_uint_eq(stat_of(SFLOW_STAT_RATE_DIFFERS), 0);
	teardown();
	setup();
	ck_assert_uint_eq(weight_after(1000, 82), 82); /* 18 % off: 5.7 errors of 1/sqrt(1000) */
	ck_assert_uint_gt(stat_of(SFLOW_STAT_RATE_DIFFERS), 0);
	teardown();
	setup();
	ck_assert_uint_eq(weight_after(1000, 95), RATE); /* within chance */
	teardown();
	setup();
	ck_assert_uint_eq(weight_after(1000, 0), RATE); /* an agent without pool */
	teardown();
	setup();
	ck_assert_uint_eq(weight_after(1000, RATE), RATE); /* pool = number * rate */
}
END_TEST

/* Open vSwitch states a pool of samples times rate, some agents none: minutes are not divided by it. */
START_TEST(test_made_up_pools)
{
	static const uint32_t rises[] = {RATE, 3 * RATE, 0};

	for (size_t i = 0; i < sizeof(rises) / sizeof(rises[0]); i++) {
		struct built_flow f = flow(1, 1000);

		for (uint32_t n = 1; n <= 40; n++) {
			f.sequence = n;
			f.pool += n == 30 ? rises[i] + 2 : rises[i]; /* one that was counted */
			const struct ease_sample *s = take(&f, 1000 + n);
			bool is_made_up = (n > 16 && n < 30);

			ck_assert_ptr_nonnull(s);
			ck_assert_msg((s->pool_pkts == EASE_COUNT_UNKNOWN) == is_made_up, "%zu %u", i, n);
		}
		teardown();
		setup();
	}
}
END_TEST

START_TEST(test_lengths_without_fcs)
{
	const struct ease_sample *s = NULL;

	for (uint32_t i = 1; i <= 8; i++) {
		struct built_flow f = flow(i, i * RATE);

		f.frame_octets = 60;
		f.kept = 56;
		s = take(&f, i);
		ck_assert_ptr_nonnull(s);
	}
	ck_assert_uint_eq(s->frame_octets, 64);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_FCS_ADDED), 1);
}
END_TEST

START_TEST(test_short_frames_are_no_sign)
{
	const struct ease_sample *s = NULL;

	for (uint32_t i = 1; i <= 20; i++) {
		struct built_flow f = flow(i, i * RATE);

		f.frame_octets = i == 1 ? 46 : 60; /* a virtual switch: nobody pads */
		f.kept = 40;
		s = take(&f, i);
		ck_assert_ptr_nonnull(s);
	}
	ck_assert_uint_eq(s->frame_octets, 60);
}
END_TEST

/* ---- agents and ports without end ---- */

/* A sample of one of a sender's ports, of one of its agents. */
static bool
come(const char *sender, uint32_t agent, uint32_t if_index, uint64_t uptime_ms)
{
	struct decode_origin origin = {.sender = sender, .received_us = START_S * 1000000ull + uptime_ms * 1000};
	struct built_flow f = flow(17, 4000);

	f.index = if_index;
	built_begin(&b, AGENT + agent, 0, ++datagram_sequence, (uint32_t)uptime_ms, 1);
	built_add_flow(&b, &f);
	sflow_input_take(in, b.octets, b.n, &origin, &result);
	return taken() != NULL;
}

enum { MOST_AGENTS = 1024, MOST_PORTS = 16384, SILENT_MS = 900000 };

/* One sender's agents without end leave a part of the table to others; who is silent makes room. */
START_TEST(test_agents_without_end)
{
	uint32_t n = 0, honest = 0;

	ck_assert(come("192.0.2.7", 1 << 20, 1, 1000));
	while (come("192.0.2.66", n, 1, 2000))
		n++;
	ck_assert_uint_eq(n, MOST_AGENTS - MOST_AGENTS / 16 - 1);
	ck_assert_uint_eq(stat_of(SFLOW_STAT_AGENTS_FULL), 1);
	for (; honest < 200; honest++) {
		char sender[24];

		snprintf(sender, sizeof(sender), "198.51.100.%u", honest);
		ck_assert(come(sender, (2 << 20) + honest, 1, 3000 + 10 * honest));
		ck_assert(!come("192.0.2.66", n + honest, 1, 3000 + 10 * honest));
	}
	ck_assert(come("192.0.2.7", 1 << 20, 1, 6000));
	ck_assert_uint_eq(stat_of(SFLOW_STAT_AGENTS_LEFT), 200);
	ck_assert(come("192.0.2.66", n, 1, 5000 + SILENT_MS));
}
END_TEST

START_TEST(test_ports_without_end)
{
	uint32_t n = 0;

	ck_assert(come("192.0.2.7", 1, 1, 1000));
	while (come("192.0.2.66", 2, n + 1, 2000))
		n++;
	ck_assert_uint_eq(n, MOST_PORTS - MOST_PORTS / 16 - 1);
	for (uint32_t i = 2; i < 50; i++)
		ck_assert(come("192.0.2.7", 1, i, 3000));
	for (uint32_t i = 0; i < 3000; i++) /* all that was silent goes, and nothing of the other's */
		ck_assert(come("192.0.2.66", 2, 100000 + i, 2000 + SILENT_MS));
	ck_assert_uint_gt(stat_of(SFLOW_STAT_PORTS_LEFT), 1000);
	for (uint32_t i = 2; i < 50; i++)
		ck_assert(come("192.0.2.7", 1, i, 4000 + SILENT_MS));
}
END_TEST

static void
add_tests(TCase *tc)
{
	tcase_add_test(tc, test_agents_without_end);
	tcase_add_test(tc, test_ports_without_end);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_a_sample);
	tcase_add_loop_test(tc, test_direction, 0, sizeof(interfaces) / sizeof(interfaces[0]));
	tcase_add_loop_test(tc, test_agents_are_told_apart, 0, sizeof(devices) / sizeof(devices[0]));
	tcase_add_test(tc, test_sub_agents_of_a_port);
	tcase_add_test(tc, test_what_is_not_used);
	tcase_add_loop_test(tc, test_data_sources, 0, sizeof(sources) / sizeof(sources[0]));
	tcase_add_test(tc, test_data_sources_are_told_apart);
	tcase_add_test(tc, test_discards);
	tcase_add_test(tc, test_places_of_discards);
	tcase_add_test(tc, test_good_samples_beside_bad_ones);
	tcase_add_test(tc, test_measured_rate);
	tcase_add_test(tc, test_made_up_pools);
	tcase_add_test(tc, test_lengths_without_fcs);
	tcase_add_test(tc, test_short_frames_are_no_sign);
}

int
main(void)
{
	Suite *suite = suite_create("sflow_input");
	TCase *tc = tcase_create("sflow_input");

	suite_add_tcase(suite, tc);
	add_tests(tc);
	tcase_add_loop_test(tc, other_versions_and_protocols_are_named, 0, sizeof(foreign) / sizeof(foreign[0]));
	return suite_run(suite);
}
