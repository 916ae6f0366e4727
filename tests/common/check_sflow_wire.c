/*
 * sFlow v5: datagrams built word by word from the specification (tests/common/sflow_builder.c) are
 * read field by field; of a datagram that breaks a rule what is readable is read; what we write equals what
 * the builder builds, octet for octet; and no truncated datagram is read as complete.
 */
#include "common/sflow_wire.h"
#include "tests/common/sflow_builder.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define AGENT 0x0a010203u /* 10.1.2.3 */

enum { DATAGRAM_FIXED = 28, SAMPLE_AT = DATAGRAM_FIXED };

static const uint8_t frame[61] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x81, 0, 0x60, 42, 8, 0,
    [60] = 0xee};

static const struct built_flow a_flow = {
    .sequence = 7, .class = 0, .index = 3, .rate = 400, .pool = 4000000000u, .drops = 2,
    .input = 3, .output_format = 2, .output = 5, .frame_octets = 1518, .stripped = 4,
    .kept = sizeof(frame), .header = frame, .vlan = 42, .priority = 3,
};
static const struct built_counters some_counters = {
    .sequence = 9, .index = 3, .speed_bps = 10000000000ull, .in_octets = 1ull << 40,
    .out_octets = 5, .status = 3, .in = {1, 2, 3, 4, 5, 6}, .out = {11, 12, 13, 14, 15},
    .ethernet = true,
};

static enum sflow_verdict
verdict_of(const struct sflow_builder *b, size_t n, unsigned *n_good)
{
	struct sflow_datagram d;
	struct sflow_sample s;
	/* exactly as long as it is, so that the sanitizer sees a step beyond */
	uint8_t *octets = malloc(n ? n : 1);
	enum sflow_verdict verdict;

	*n_good = 0;
	memcpy(octets, b->octets, n);
	verdict = sflow_open(&d, octets, n);
	while (verdict == SFLOW_OK && (verdict = sflow_next(&d, &s)) == SFLOW_OK)
		++*n_good;
	free(octets);
	return verdict;
}

static void
assert_verdict(const struct sflow_builder *b, enum sflow_verdict wanted, unsigned n_good)
{
	unsigned n;
	enum sflow_verdict verdict = verdict_of(b, b->n, &n);

	ck_assert_msg(verdict == wanted, "%s", sflow_verdict_text(verdict));
	ck_assert_uint_eq(n, n_good);
}

static void
check_a_flow(const struct sflow_sample *s, bool expanded)
{
	const struct sflow_flow *f = &s->flow;

	ck_assert_int_eq(s->kind, SFLOW_FLOW);
	ck_assert(f->expanded == expanded);
	ck_assert_uint_eq(f->sequence, 7);
	ck_assert_uint_eq(f->source.class, 0);
	ck_assert_uint_eq(f->source.index, 3);
	ck_assert_uint_eq(f->rate, 400);
	ck_assert_uint_eq(f->pool_pkts, 4000000000u);
	ck_assert_uint_eq(f->drops, 2);
	ck_assert_uint_eq(f->input.format, SFLOW_IF_INDEX);
	ck_assert_uint_eq(f->input.value, 3);
	ck_assert_uint_eq(f->output.format, SFLOW_IF_MANY);
	ck_assert_uint_eq(f->output.value, 5);
	ck_assert(f->has_header);
	ck_assert_uint_eq(f->header_protocol, SFLOW_ETHERNET);
	ck_assert_uint_eq(f->frame_octets, 1518);
	ck_assert_uint_eq(f->stripped_octets, 4);
	ck_assert_uint_eq(f->kept_octets, sizeof(frame));
	ck_assert_mem_eq(f->header, frame, sizeof(frame));
	ck_assert(f->has_switch);
	ck_assert_uint_eq(f->src_vlan, 42);
	ck_assert_uint_eq(f->dst_priority, 3);
}

START_TEST(test_reads_flows)
{
	struct built_flow expanded = a_flow;
	struct sflow_builder b;
	struct sflow_datagram d;
	struct sflow_sample s;

	expanded.expanded = true;
	built_begin(&b, AGENT, 77, 1000, 123456, 2);
	built_add_flow(&b, &a_flow);
	built_add_flow(&b, &expanded);
	ck_assert_int_eq(sflow_open(&d, b.octets, b.n), SFLOW_OK);
	ck_assert_uint_eq(d.agent.type, SFLOW_ADDRESS_IP4);
	ck_assert_mem_eq(d.agent.address, "\x0a\x01\x02\x03", 4);
	ck_assert_uint_eq(d.agent.sub_agent, 77);
	ck_assert_uint_eq(d.sequence, 1000);
	ck_assert_uint_eq(d.uptime_ms, 123456);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	check_a_flow(&s, false);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	check_a_flow(&s, true);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_END);
}
END_TEST

START_TEST(test_reads_counters)
{
	struct built_counters expanded = some_counters;
	struct sflow_builder b;
	struct sflow_datagram d;
	struct sflow_sample s;

	expanded.expanded = true;
	expanded.index = 0x12345678;
	built_begin(&b, AGENT, 0, 1, 0, 2);
	built_add_counters(&b, &some_counters);
	built_add_counters(&b, &expanded);
	ck_assert_int_eq(sflow_open(&d, b.octets, b.n), SFLOW_OK);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	ck_assert_int_eq(s.kind, SFLOW_COUNTERS);
	ck_assert_uint_eq(s.counters.sequence, 9);
	ck_assert_uint_eq(s.counters.source.index, 3);
	ck_assert(s.counters.has_interface && s.counters.has_ethernet);
	ck_assert_uint_eq(s.counters.interface.speed_bps, 10000000000ull);
	ck_assert_uint_eq(s.counters.interface.status, 3);
	ck_assert_uint_eq(s.counters.interface.in_octets, 1ull << 40);
	ck_assert_uint_eq(s.counters.interface.in_ucast_pkts, 1);
	ck_assert_uint_eq(s.counters.interface.in_unknown_protos, 6);
	ck_assert_uint_eq(s.counters.interface.out_octets, 5);
	ck_assert_uint_eq(s.counters.interface.out_errors, 15);
	ck_assert_uint_eq(s.counters.interface.promiscuous, 2);
	ck_assert_uint_eq(s.counters.ethernet.alignment_errors, 101);
	ck_assert_uint_eq(s.counters.ethernet.symbol_errors, 113);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	ck_assert_uint_eq(s.counters.source.index, 0x12345678);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_END);
}
END_TEST

START_TEST(test_reads_discards)
{
	static const uint32_t words[] = {5, 32, 1, 0, 4, 99, 2, 0, 258, 0};
	struct sflow_builder b;
	struct sflow_datagram d;
	struct sflow_sample s;

	built_begin(&b, AGENT, 0, 1, 0, 1);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		built_word(&b, words[i]);
	ck_assert_int_eq(sflow_open(&d, b.octets, b.n), SFLOW_OK);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	ck_assert_int_eq(s.kind, SFLOW_DISCARD);
	ck_assert_uint_eq(s.flow.source.index, 4);
	ck_assert_uint_eq(s.flow.drops, 99);
	ck_assert_uint_eq(s.flow.input.value, 2);
	ck_assert_uint_eq(s.flow.reason, 258);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_END);
}
END_TEST

/* A sample format and records of somebody else, with lengths that need padding. */
START_TEST(test_steps_over_unknown)
{
	struct sflow_builder b;
	struct sflow_datagram d;
	struct sflow_sample s;
	size_t flow_at;

	built_begin(&b, AGENT, 0, 1, 0, 2);
	built_word(&b, 8800u << 12 | 3);
	built_word(&b, 5);
	built_octets(&b, "12345", 5);
	flow_at = b.n;
	built_add_flow(&b, &a_flow);
	built_word(&b, 1005);
	built_word(&b, 7);
	built_octets(&b, "1234567", 7);
	built_patch(&b, flow_at + 4, (uint32_t)(b.n - flow_at - 8));
	built_patch(&b, flow_at + 36, 3); /* records */
	ck_assert_int_eq(sflow_open(&d, b.octets, b.n), SFLOW_OK);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	ck_assert_int_eq(s.kind, SFLOW_OTHER);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	check_a_flow(&s, false);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_END);
}
END_TEST

START_TEST(test_agent_addresses)
{
	static const size_t octets[] = {0, 4, 16};
	struct sflow_datagram d;

	for (uint32_t type = 0; type < 5; type++) {
		struct sflow_builder b = {.n = 0};
		uint8_t address[16];

		memset(address, 0x20 + (int)type, sizeof(address));
		built_word(&b, 5);
		built_word(&b, type);
		built_octets(&b, address, type < 3 ? octets[type] : 4);
		for (int i = 0; i < 4; i++)
			built_word(&b, 0);
		if (type > 2) {
			ck_assert_int_eq(sflow_open(&d, b.octets, b.n), SFLOW_BAD_ADDRESS);
			continue;
		}
		ck_assert_int_eq(sflow_open(&d, b.octets, b.n), SFLOW_OK);
		ck_assert_mem_eq(d.agent.address, address, octets[type]);
	}
}
END_TEST

/* One word of a good datagram made wrong: where, to what, what it is then, and what of it is read all the same. */
static const struct {
	size_t at;
	uint32_t word;
	enum sflow_verdict verdict;
	unsigned n_good, n_spoiled;
	bool is_cut;
	uint32_t kept; /* octets of the header; 0: there is none */
} mistakes[] = {
    {0, 4, SFLOW_BAD_VERSION, 0, 0, false, 0},
    {4, 3, SFLOW_BAD_ADDRESS, 0, 0, false, 0},
    {24, 0xffffffff, SFLOW_BAD_SAMPLE_LENGTH, 1, 0, false, 61}, /* announces more samples */
    {24, 0, SFLOW_END, 0, 0, false, 0},
    {SAMPLE_AT + 4, 0xffffffff, SFLOW_BAD_SAMPLE_LENGTH, 0, 0, false, 0},
    {SAMPLE_AT + 4, 20, SFLOW_BAD_SAMPLE, 0, 0, false, 0},
    {SAMPLE_AT + 36, 0xffffffff, SFLOW_END, 1, 0, true, 61}, /* announces more records */
    {SAMPLE_AT + 36, 1, SFLOW_END, 1, 0, false, 0}, /* octets after the last record */
    {SAMPLE_AT + 44, 12, SFLOW_END, 1, 2, false, 0}, /* extended_switch is too short, so what follows is moved */
    {SAMPLE_AT + 68, 12, SFLOW_END, 1, 1, false, 0}, /* sampled_header cut in its fields */
    {SAMPLE_AT + 68, 0xfffffffc, SFLOW_END, 1, 0, true, 0},
    {SAMPLE_AT + 84, 65, SFLOW_END, 1, 1, false, 64}, /* longer than its record: cut */
    {SAMPLE_AT + 84, 0xffffffff, SFLOW_END, 1, 1, false, 64},
    {SAMPLE_AT + 84, 56, SFLOW_END, 1, 0, false, 56}, /* octets left over in the record */
    {SAMPLE_AT + 68, 77, SFLOW_END, 1, 0, false, 61}, /* a length that leaves out the padding */
    {SAMPLE_AT + 76, 60, SFLOW_END, 1, 0, false, 61}, /* longer than its frame */
};

START_TEST(test_reads_what_is_readable)
{
	struct sflow_builder b;
	struct sflow_datagram d;
	struct sflow_sample s;

	built_begin(&b, AGENT, 0, 1, 0, 1);
	built_add_flow(&b, &a_flow);
	assert_verdict(&b, SFLOW_END, 1);
	built_patch(&b, mistakes[_i].at, mistakes[_i].word);
	assert_verdict(&b, mistakes[_i].verdict, mistakes[_i].n_good);
	if (mistakes[_i].n_good == 0)
		return;
	ck_assert_int_eq(sflow_open(&d, b.octets, b.n), SFLOW_OK);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	ck_assert_uint_eq(s.n_spoiled, mistakes[_i].n_spoiled);
	ck_assert_int_eq(s.is_cut, mistakes[_i].is_cut);
	ck_assert_uint_eq(s.flow.has_header ? s.flow.kept_octets : 0, mistakes[_i].kept);
}
END_TEST

/* A sample that is bad inside spoils itself; those around it are read, and so is what follows the last record. */
START_TEST(test_goes_on_after_a_bad_sample)
{
	struct sflow_builder b;
	struct sflow_datagram d;
	struct sflow_sample s;

	built_begin(&b, AGENT, 0, 1, 0, 3);
	built_add_flow(&b, &a_flow);
	built_word(&b, 0); /* four octets after the last record */
	built_patch(&b, SAMPLE_AT + 4, (uint32_t)(b.n - SAMPLE_AT - 8));
	built_word(&b, 1); /* a flow sample that ends within its own fields */
	built_word(&b, 8);
	built_word(&b, 7);
	built_word(&b, 3);
	built_add_flow(&b, &a_flow);
	built_word(&b, 0); /* octets after the last sample */
	ck_assert_int_eq(sflow_open(&d, b.octets, b.n), SFLOW_OK);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	check_a_flow(&s, false);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_BAD_SAMPLE);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	check_a_flow(&s, false);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_END);
}
END_TEST

/* Records that are longer than their formats are stepped over; shorter ones are left out, alone. */
START_TEST(test_records_of_other_lengths)
{
	static const struct {
		uint32_t octets, n_spoiled, n_others;
	} lengths[] = {{88, 0, 1}, {92, 0, 1}, {84, 1, 0}};
	struct sflow_builder b;
	struct sflow_datagram d;
	struct sflow_sample s;
	size_t sample;

	built_begin(&b, AGENT, 0, 1, 0, 1);
	sample = b.n;
	built_add_counters(&b, &some_counters);
	built_patch(&b, sample + 16, 3);
	built_word(&b, 1); /* a second if_counters, of interface 77 */
	built_word(&b, lengths[_i].octets);
	built_word(&b, 77);
	for (uint32_t i = 1; i < lengths[_i].octets / 4; i++)
		built_word(&b, i);
	built_patch(&b, sample + 4, (uint32_t)(b.n - sample - 8));
	ck_assert_int_eq(sflow_open(&d, b.octets, b.n), SFLOW_OK);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	ck_assert_uint_eq(s.counters.interface.if_index, 3);
	ck_assert(s.counters.has_ethernet);
	ck_assert_uint_eq(s.n_spoiled, lengths[_i].n_spoiled);
	ck_assert_uint_eq(s.counters.n_others, lengths[_i].n_others);
	if (lengths[_i].n_others > 0)
		ck_assert_uint_eq(s.counters.others[0].if_index, 77);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_END);
}
END_TEST

/* extended_gateway (format 1003): whose AS numbers of source and destination are taken. */
static const struct {
	uint32_t words[16];
	uint32_t n, src_as, dst_as;
	bool is_spoiled;
} gateways[] = {
    {{1, 0xc0000201, 64500, 64501, 64502, 1, 2, 2, 64503, 64504, 1, 0xfbf40064, 100}, 13, 64501, 64504, false},
    {{2, 0x20010db8, 0, 0, 1, 64500, 64501, 0, 1, 2, 1, 4200000001u, 0, 100}, 14, 64501, 4200000001u, false},
    {{0, 64500, 64501, 64502, 2, 2, 1, 64503, 1, 1, 64504, 0, 100}, 13, 64501, 64504, false}, /* a set of one */
    {{0, 64500, 64501, 64502, 2, 2, 1, 64503, 1, 2, 64504, 64505}, 12, 64501, 0, false}, /* of several: none is last */
    {{0, 64500, 64501, 64502, 2, 2, 1, 64503, 2, 0}, 10, 64501, 64503, false}, /* an empty segment */
    {{0, 64500, 0, 0, 0, 0, 100}, 7, 0, 0, false}, /* no path */
    {{0, 64500, 64501, 64502}, 4, 0, 0, true}, /* it ends before its path, in it, in a segment, */
    {{0, 64500, 64501, 64502, 2, 2, 1, 64503}, 8, 0, 0, true},
    {{0, 64500, 64501, 64502, 1, 2, 3, 64503, 64504}, 9, 0, 0, true},
    {{0, 64500, 64501, 64502, 0xffffffff, 2, 0, 2, 0}, 9, 0, 0, true}, /* and has segments or numbers without end */
    {{0, 64500, 64501, 64502, 1, 2, 0xffffffff, 64503}, 8, 0, 0, true},
    {{0, 64500, 64501, 64502, 1, 2, 0x40000001, 64503}, 8, 0, 0, true},
    {{3, 0, 64500, 64501, 64502, 0}, 6, 0, 0, true}, /* of an unknown kind of address */
};

START_TEST(test_reads_gateways)
{
	struct built_flow flow = a_flow;
	struct sflow_builder b;
	struct sflow_datagram d;
	struct sflow_sample s;

	flow.header = NULL;
	flow.vlan = 0;
	built_begin(&b, AGENT, 0, 1, 0, 2);
	built_add_flow(&b, &flow);
	built_patch(&b, b.n - 4, 1);
	built_patch(&b, SAMPLE_AT + 4, (uint32_t)(b.n - SAMPLE_AT - 8 + 8 + 4 * gateways[_i].n));
	built_word(&b, 1003);
	built_word(&b, 4 * gateways[_i].n);
	for (uint32_t i = 0; i < gateways[_i].n; i++)
		built_word(&b, gateways[_i].words[i]);
	built_add_flow(&b, &a_flow);
	ck_assert_int_eq(sflow_open(&d, b.octets, b.n), SFLOW_OK);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	ck_assert_uint_eq(s.flow.src_as, gateways[_i].src_as);
	ck_assert_uint_eq(s.flow.dst_as, gateways[_i].dst_as);
	ck_assert_uint_eq(s.n_spoiled, gateways[_i].is_spoiled);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	ck_assert_uint_eq(s.flow.src_as, 0); /* of the sample before */
	check_a_flow(&s, false);
}
END_TEST

/* Egress queue, transit delay and queue depth. */
static const struct {
	uint32_t format, octets, value;
	struct ease_way way;
	bool is_spoiled;
} ways[] = {
    {1036, 4, 7, {.known = EASE_WAY_QUEUE, .queue = 7}, false},
    {1036, 4, 65535, {.known = EASE_WAY_QUEUE, .queue = 65535}, false},
    {1036, 4, 65536, {0}, false}, /* no queue has such a number */
    {1039, 4, 1500, {.known = EASE_WAY_DELAY, .delay_ns = 1500}, false},
    {1039, 4, UINT32_MAX, {.known = EASE_WAY_DELAY, .delay_ns = EASE_WAY_MOST}, false},
    {1040, 4, 20000, {.known = EASE_WAY_DEPTH, .depth_octets = 20000}, false},
    {1036, 0, 0, {0}, true}, /* too short */
    {1039, 0, 0, {0}, true},
    {1040, 0, 0, {0}, true},
};

START_TEST(test_reads_the_way)
{
	struct built_flow flow = a_flow;
	struct sflow_builder b;
	struct sflow_datagram d;
	struct sflow_sample s;

	flow.header = NULL;
	flow.vlan = 0;
	built_begin(&b, AGENT, 0, 1, 0, 2);
	built_add_flow(&b, &flow);
	built_patch(&b, b.n - 4, 1);
	built_patch(&b, SAMPLE_AT + 4, (uint32_t)(b.n - SAMPLE_AT - 8 + 8 + ways[_i].octets));
	built_word(&b, ways[_i].format);
	built_word(&b, ways[_i].octets);
	if (ways[_i].octets > 0)
		built_word(&b, ways[_i].value);
	built_add_flow(&b, &a_flow);
	ck_assert_int_eq(sflow_open(&d, b.octets, b.n), SFLOW_OK);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	ck_assert_uint_eq(s.flow.way.known, ways[_i].way.known);
	if (ways[_i].way.known & EASE_WAY_QUEUE)
		ck_assert_uint_eq(s.flow.way.queue, ways[_i].way.queue);
	if (ways[_i].way.known & EASE_WAY_DELAY)
		ck_assert_uint_eq(s.flow.way.delay_ns, ways[_i].way.delay_ns);
	if (ways[_i].way.known & EASE_WAY_DEPTH)
		ck_assert_uint_eq(s.flow.way.depth_octets, ways[_i].way.depth_octets);
	ck_assert_uint_eq(s.n_spoiled, ways[_i].is_spoiled);
	ck_assert_uint_eq(s.n_unread, 0);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	ck_assert_uint_eq(s.flow.way.known, 0); /* nothing of the sample before */
}
END_TEST

START_TEST(test_no_prefix_is_whole)
{
	struct sflow_builder b;
	unsigned n_good;

	built_begin(&b, AGENT, 0, 1, 0, 2);
	built_add_flow(&b, &a_flow);
	built_add_counters(&b, &some_counters);
	for (size_t n = 0; n < b.n; n++)
		ck_assert_int_ne(verdict_of(&b, n, &n_good), SFLOW_END);
	assert_verdict(&b, SFLOW_END, 2);
}
END_TEST

/* ---- writing ---- */

static struct sflow_flow
flow_to_write(bool expanded)
{
	return (struct sflow_flow){
	    .expanded = expanded, .sequence = 7, .source = {0, 3}, .rate = 400,
	    .pool_pkts = 4000000000u, .drops = 2, .input = {SFLOW_IF_INDEX, 3},
	    .output = {SFLOW_IF_MANY, 5}, .has_header = true, .header_protocol = SFLOW_ETHERNET,
	    .frame_octets = 1518, .stripped_octets = 4, .kept_octets = sizeof(frame),
	    .header = frame,
	};
}

static void
check_writes(bool expanded)
{
	static const struct sflow_agent agent = {SFLOW_ADDRESS_IP4, {10, 1, 2, 3}, 77};
	struct built_counters counters = some_counters;
	struct built_flow built = a_flow;
	struct sflow_flow flow = flow_to_write(expanded);
	struct sflow_builder b;
	struct sflow_datagram d;
	struct sflow_sample s;
	struct sflow_writer w;
	uint8_t octets[1400];

	built.expanded = counters.expanded = expanded;
	built.vlan = 0;
	counters.aggregate = expanded ? 900 : 0;
	built_begin(&b, AGENT, 77, 1000, 5, 2);
	built_add_flow(&b, &built);
	built_add_counters(&b, &counters);
	ck_assert_int_eq(sflow_open(&d, b.octets, b.n), SFLOW_OK);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	ck_assert_int_eq(sflow_next(&d, &s), SFLOW_OK);
	ck_assert_uint_eq(s.counters.aggregate, counters.aggregate);
	sflow_begin(&w, octets, sizeof(octets), &agent, 1000, 5);
	ck_assert_int_eq(sflow_add_flow(&w, &flow), 0);
	ck_assert_int_eq(sflow_add_counters(&w, &s.counters), 0);
	ck_assert_uint_eq(sflow_octets(&w), b.n);
	ck_assert_mem_eq(octets, b.octets, b.n);
}

START_TEST(test_writes_what_the_builder_builds)
{
	check_writes(false);
	check_writes(true);
}
END_TEST

/* Six samples of 128 octets with their VLAN fill the default datagram; the seventh changes
 * nothing. */
START_TEST(test_writes_within_the_limit)
{
	static const struct sflow_agent agent = {SFLOW_ADDRESS_IP4, {10, 1, 2, 3}, 0};
	static const uint8_t header[128];
	struct sflow_flow flow = flow_to_write(false);
	uint8_t octets[SFLOW_DATAGRAM_DEFAULT];
	struct sflow_builder copy;
	struct sflow_writer w;

	flow.header = header;
	flow.kept_octets = sizeof(header);
	flow.has_switch = true;
	sflow_begin(&w, octets, sizeof(octets), &agent, 1, 0);
	for (int i = 0; i < 6; i++)
		ck_assert_int_eq(sflow_add_flow(&w, &flow), 0);
	ck_assert_uint_eq(sflow_octets(&w), DATAGRAM_FIXED + 6 * 216);
	memcpy(copy.octets, octets, sflow_octets(&w));
	copy.n = sflow_octets(&w);
	ck_assert_int_eq(sflow_add_flow(&w, &flow), -EMSGSIZE);
	ck_assert_uint_eq(sflow_octets(&w), copy.n);
	assert_verdict(&copy, SFLOW_END, 6);
}
END_TEST

START_TEST(test_compact_form_has_limits)
{
	ck_assert(sflow_source_fits_compact(&(struct sflow_source){0, 0xffffff}));
	ck_assert(!sflow_source_fits_compact(&(struct sflow_source){0, 0x1000000}));
	ck_assert(!sflow_source_fits_compact(&(struct sflow_source){256, 1}));
	ck_assert(sflow_if_fits_compact(&(struct sflow_if){2, 0x3fffffff}));
	ck_assert(!sflow_if_fits_compact(&(struct sflow_if){0, 0x40000000}));
}
END_TEST

static void
write_seed(const char *dir, const char *name, const struct sflow_builder *b)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(b->octets, 1, b->n, f), b->n);
	fclose(f);
}

/* With SFLOW_CORPUS=DIR: how tests/fuzz/corpus/sflow was made. */
START_TEST(test_seeds)
{
	const char *dir = getenv("SFLOW_CORPUS");
	struct built_counters counters = some_counters;
	struct built_flow flow = a_flow;
	struct sflow_builder b;

	for (int expanded = 0; expanded < 2; expanded++) {
		flow.expanded = counters.expanded = expanded;
		built_begin(&b, AGENT, 0, 1, 1000, 3);
		built_add_flow(&b, &flow);
		built_add_counters(&b, &counters);
		built_add_flow(&b, &flow);
		assert_verdict(&b, SFLOW_END, 3);
		if (dir)
			write_seed(dir, expanded ? "expanded" : "compact", &b);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("sflow_wire");
	TCase *tc = tcase_create("sflow_wire");

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, test_reads_flows);
	tcase_add_test(tc, test_reads_counters);
	tcase_add_test(tc, test_reads_discards);
	tcase_add_test(tc, test_steps_over_unknown);
	tcase_add_test(tc, test_agent_addresses);
	tcase_add_loop_test(tc, test_reads_what_is_readable, 0, sizeof(mistakes) / sizeof(mistakes[0]));
	tcase_add_test(tc, test_goes_on_after_a_bad_sample);
	tcase_add_loop_test(tc, test_records_of_other_lengths, 0, 3);
	tcase_add_loop_test(tc, test_reads_gateways, 0, sizeof(gateways) / sizeof(gateways[0]));
	tcase_add_loop_test(tc, test_reads_the_way, 0, sizeof(ways) / sizeof(ways[0]));
	tcase_add_test(tc, test_no_prefix_is_whole);
	tcase_add_test(tc, test_writes_what_the_builder_builds);
	tcase_add_test(tc, test_writes_within_the_limit);
	tcase_add_test(tc, test_compact_form_has_limits);
	tcase_add_test(tc, test_seeds);
	return suite_run(suite);
}
