/*
 * sFlow datagrams from an independent builder become records: direction, weight, 64-bit totals,
 * boots, and the treatment of sFlow's known defects.
 */
#include "collector/input/foreign_flow.h"
#include "collector/input/refused_senders.h"
#include "collector/input/sflow_input.h"
#include "collector/source_port.h"
#include "tests/common/sflow_builder.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGENT	 0xc0000205u /* 192.0.2.5 */
#define START_S	 1700000000u /* when the agent started, by the collector's clock */

enum { RATE = 100 };

static const uint8_t frame[64] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 8, 0, 0x45};

static struct sflow_input *in;
static struct decode_result result;
static struct sflow_builder b;
static uint32_t datagram_sequence, rig_boot;

static uint32_t
accounted_boot(void *arg, const uint8_t *agent_id)
{
	(void)arg;
	(void)agent_id;
	return rig_boot;
}

static void
setup(void)
{
	static struct prefix shared;
	const struct sflow_accounting accounting = {.known_boot = accounted_boot, .shared = &shared, .n_shared = 1};
	const char *reason;

	ck_assert_int_eq(prefix_parse("192.168.1.0/24", &shared, &reason), 0);
	ck_assert_int_eq(sflow_input_new(&in, 1, &accounting), 0);
	datagram_sequence = 0;
	rig_boot = 0;
}

static void
teardown(void)
{
	sflow_input_free(in);
}

static uint64_t
stat_of(enum sflow_stat_id which)
{
	return stat_get(sflow_input_stats(in), which);
}

/* Sends what was built, arriving uptime_ms after the agent's start. */
static enum sflow_verdict
deliver(uint64_t uptime_ms)
{
	struct decode_origin origin = {
	    .sender = "192.0.2.99",
	    .received_us = START_S * 1000000ull + uptime_ms * 1000,
	};

	return sflow_input_take(in, b.octets, b.n, &origin, &result);
}

static void
begin(uint64_t uptime_ms, uint32_t n_samples)
{
	built_begin(&b, AGENT, 0, ++datagram_sequence, (uint32_t)uptime_ms, n_samples);
}

static struct built_flow
flow(uint32_t sequence, uint32_t pool)
{
	return (struct built_flow){.sequence = sequence, .index = 3, .rate = RATE, .pool = pool,
	    .input = 3, .output = 4, .frame_octets = 500, .stripped = 4, .kept = sizeof(frame),
	    .header = frame};
}

/* The sample among what was delivered; what cannot be in it is told beside it. */
static const struct ease_record *
taken(void)
{
	for (size_t i = 0; i < result.n; i++)
		if (result.records[i].kind == EASE_PART_SAMPLE)
			return &result.records[i];
	return NULL;
}

/* One flow sample in a datagram of its own. */
static const struct ease_sample *
take(const struct built_flow *f, uint64_t uptime_ms)
{
	begin(uptime_ms, 1);
	built_add_flow(&b, f);
	ck_assert_int_eq(deliver(uptime_ms), SFLOW_END);
	return taken() ? &taken()->sample : NULL;
}

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
	uint32_t input_if, output_if;
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
    {true, 0, 3, 0, 0x80000000, EASE_IN, 3, EASE_IF_UNKNOWN}, /* here it would stand for many */
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
			ck_assert_uint_eq(result.records[0].source_port, sub ? source_port_of_further(1, 3) : 0);
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
	uint32_t class, index, input_format, input, if_index, source_port;
} sources[] = {
    {false, 0, 3, 0, 3, 3, 0},
    {false, 2, 1000, 0, 4, 4, 0xc20003e8}, /* the bridge of Open vSwitch */
    {true, 2, 1000, 0, 4, 4, 0xc20003e8},
    {false, 2, 1000, 0, 0, 0x820003e8, 0xc20003e8}, /* it does not say where it came in */
    {true, 2, 1000, 0, 0x3fffffff, 0x820003e8, 0xc20003e8},
    {true, 2, 1000, 0, 0xffffffff, 0x820003e8, 0xc20003e8}, /* not known */
    {true, 2, 1000, 0, 0x82000001, 0x820003e8, 0xc20003e8}, /* a number of ours */
    {true, 2, 1000, 0, 0xfffffffe, 0xfffffffe, 0xc20003e8}, /* larger than RFC 2863 allows */
    {true, 0, 0x80000001, 0, 0x80000001, 0x80000001, 0},
    {true, 2, 1000, 2, 7, 0x820003e8, 0xc20003e8},
    {false, 1, 12, 0, 5, 5, 0xc100000c},
    {false, 3, 0, 0, 5, 5, 0xc3000000},
    {false, 0, 0, 0, 5, 5, 0xc0000000}, /* ifIndex 0 is none */
    {true, 7, 0xffffff, 0, 5, 5, 0xc7ffffff},
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
		uint32_t input, output, reason, if_index, read;
	} events[] = {{3, 4, 256, 3, 256}, {0, 4, 33, 4, 332}, {0x3fffffff, 5, 36, 5, 366},
	    {0, 0, 15, 0x80000000, 15}, {0xffffffff, 6, 4711, 6, 4711}};

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

/* ---- datagrams and boots ---- */

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

/* ---- counters ---- */

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
	ck_assert_uint_eq(result.n, 2);
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

	take_counters(&c, 100000);
	built_begin(&b, AGENT, 0, 1, 1000, 2);
	built_add_flow(&b, &f); /* the flow sample comes first and must not hide it */
	c.sequence = 1;
	c.in_octets = _i ? 900 : 1100; /* the device began anew, or its agent alone */
	c.in[0] += _i ? -1u : 1;
	built_add_counters(&b, &c);
	ck_assert_int_eq(deliver(200000), SFLOW_END);
	ck_assert_uint_eq(result.n, 3);
	ck_assert_int_eq(result.records[1].kind, EASE_PART_SNAPSHOT);
	ck_assert_uint_eq(result.records[1].boot, START_S + 199);
	ck_assert_uint_eq(result.records[1].snapshot.discontinuity_us, _i ? (START_S + 200) * 1000000ull : 0);
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
	tcase_add_test(tc, test_gaps_and_disorder);
	tcase_add_test(tc, test_agent_restart);
	tcase_add_test(tc, test_uptime_wrap_is_no_restart);
	tcase_add_test(tc, test_boot_over_a_collector_restart);
	tcase_add_test(tc, test_source_restart);
	tcase_add_loop_test(tc, test_numbers_that_no_line_has, 0, sizeof(numberings_of) / sizeof(numberings_of[0]));
	tcase_add_test(tc, test_uptimes_that_cannot_be);
	tcase_add_test(tc, test_drops_and_losses);
	tcase_add_loop_test(tc, test_counters_decide, 0, 5);
	tcase_add_test(tc, test_counters_that_cannot_be);
	tcase_add_test(tc, test_lengths_that_cannot_be);
	tcase_add_test(tc, test_measured_rate);
	tcase_add_test(tc, test_made_up_pools);
	tcase_add_test(tc, test_lengths_without_fcs);
	tcase_add_test(tc, test_short_frames_are_no_sign);
	tcase_add_test(tc, test_counters);
	tcase_add_test(tc, test_counters_wrap);
	tcase_add_test(tc, test_counters_begin_again);
	tcase_add_loop_test(tc, test_counters_over_an_agent_restart, 0, 2);
	tcase_add_test(tc, test_unknown_counters_are_zero);
	tcase_add_test(tc, test_pool_of_frames_sent);
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
