/*
 * Decoding of notifications: valid ones of each kind from an encoder of the tests, then one mistake
 * at a time, every truncation, and senders and communities that are not allowed. What is refused is
 * counted by its reason, and nothing of it is passed on.
 */
#include "collector/input/decode.h"
#include "collector/input/input.h"
#include "collector/input/decode_template.h"
#include "tests/suite.h"
#include "tests/collector/input/trap_builder.h"

#include <arpa/inet.h>
#include <check.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#define ARCS(a) (sizeof(a) / sizeof((a)[0]))
#define TIME_US 1700000000123456ull

enum { MESSAGE_MAX = 9000 };

static const uint8_t agent_id[8] = {0xde, 0xad, 0xbe, 0xef, 0, 1, 2, 3};
static const char *const communities[] = {"private-a", "public"};
static const struct decode_origin origin = {.sender = "192.0.2.9", .received_us = 77};
static uint8_t frame[128] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x08, 0x00, 0x45};

/* Notifications */

static struct ease_sample
some_sample(uint32_t sequence)
{
	return (struct ease_sample){
	    .time_us = TIME_US,
	    .if_index = 7,
	    .sequence = sequence,
	    .direction = EASE_IN,
	    .input_if = 7,
	    .skip = 12,
	    .mean_skip = 20,
	    .pool_pkts = 1234567,
	    .frame_octets = 1518,
	    .kept_octets = sizeof(frame),
	    .header = frame,
	};
}

static struct ease_snapshot
some_snapshot(void)
{
	return (struct ease_snapshot){
	    .if_index = 7,
	    .time_us = TIME_US + 5,
	    .in = {.octets = 1ull << 40, .ucast_pkts = 99},
	    .samples = 3,
	    .last_sequence = 3,
	};
}

static void
samples_message(struct trap_message *m)
{
	struct ease_snapshot snapshot = some_snapshot();

	trap_start(m, "public", EASE_NOTIFY_SAMPLES, agent_id, 0x80000001u);
	for (uint32_t i = 1; i <= 3; i++) {
		struct ease_sample s = some_sample(i);

		trap_add_sample(m, &s);
	}
	trap_add_snapshot(m, &snapshot);
}

static enum decode_verdict
decode(const struct trap_message *m, struct decode_result *result)
{
	static uint8_t octets[MESSAGE_MAX];
	size_t n = trap_build(m, octets, sizeof(octets));

	return decode_notification(octets, n, communities, ARCS(communities), &origin, result);
}

START_TEST(a_notification_of_samples)
{
	static struct decode_result result;
	static struct trap_message m;
	static const uint32_t foreign[] = {1, 3, 6, 1, 6, 3, 18, 1, 3, 0};
	static const uint32_t newer[] = {EASE_PORT_INFO_ENTRY, 77, 7};
	const struct ease_record *r = result.records;

	samples_message(&m);
	trap_add(&m, foreign, ARCS(foreign), 0x40, "\1\2\3\4", 4); /* as a proxy adds it */
	trap_add(&m, newer, ARCS(newer), 0x04, "x", 1);
	ck_assert_int_eq(decode(&m, &result), DECODE_OK);
	ck_assert_int_eq(result.kind, EASE_NOTIFY_SAMPLES);
	ck_assert_uint_eq(result.n, 4);
	ck_assert_uint_eq(result.n_ignored, 2);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert_mem_eq(r[i].agent_id, agent_id, 8);
		ck_assert_uint_eq(r[i].boot, 0x80000001u);
		ck_assert_str_eq(r[i].sender, "192.0.2.9");
		ck_assert_uint_eq(r[i].received_us, 77);
	}
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_int_eq(r[i].kind, EASE_PART_SAMPLE);
		ck_assert_uint_eq(r[i].sample.sequence, i + 1);
		ck_assert_uint_eq(r[i].sample.if_index, 7);
		ck_assert_uint_eq(r[i].sample.time_us, TIME_US);
		ck_assert_uint_eq(r[i].sample.frame_octets, 1518);
		ck_assert_uint_eq(r[i].sample.kept_octets, sizeof(frame));
		ck_assert_mem_eq(r[i].sample.header, frame, sizeof(frame));
	}
	ck_assert_int_eq(r[3].kind, EASE_PART_SNAPSHOT);
	ck_assert_uint_eq(r[3].snapshot.in.octets, 1ull << 40);
	ck_assert_uint_eq(r[3].snapshot.last_sequence, 3);
}
END_TEST

START_TEST(other_kinds)
{
	static struct decode_result result;
	static struct trap_message m;
	struct ease_snapshot snapshot = some_snapshot();
	struct ease_state state = {.if_index = 4, .time_us = 1, .name = "ge-4", .duplex = 3,
	    .oper_status = 1, .admin_status = 1, .edge = true};
	struct ease_address address = {.if_index = 5, .time_us = 9, .mac = {2, 3, 4, 5, 6, 7}};

	trap_start(&m, "private-a", EASE_NOTIFY_COUNTERS, agent_id, 1);
	trap_add_snapshot(&m, &snapshot);
	ck_assert_int_eq(decode(&m, &result), DECODE_OK);
	ck_assert_int_eq(result.records[0].kind, EASE_PART_SNAPSHOT);
	trap_start(&m, "public", EASE_NOTIFY_PORT_STATE, agent_id, 1);
	trap_add_state(&m, &state);
	ck_assert_int_eq(decode(&m, &result), DECODE_OK);
	ck_assert_str_eq(result.records[0].state.name, "ge-4");
	ck_assert_uint_eq(result.records[0].state.if_index, 4);
	trap_start(&m, "public", EASE_NOTIFY_NEW_ADDRESS, agent_id, 1);
	trap_add_address(&m, &address);
	ck_assert_int_eq(decode(&m, &result), DECODE_OK);
	ck_assert_mem_eq(result.records[0].address.mac, address.mac, 6);
}
END_TEST

/* As a terminal, a right-to-left reader or a table would obey them; and as long as a name may be, in Latin 1. */
START_TEST(names_are_cleaned_where_they_enter)
{
	static const struct {
		const char *sent, *kept;
	} names[] = {{"ge-1\033]0;owned\007", "ge-1?]0;owned?"}, {"a\x9b" "31m", "a?31m"},
	    {"up\342\200\256down", "up?down"}, {"a\nb\tc", "a?b?c"}, {"caf\xe9", "caf\303\251"},
	    {"\303\251t\303\251", "\303\251t\303\251"}};
	static struct decode_result result;
	static struct trap_message m;
	struct ease_state state = {.if_index = 4, .time_us = 1, .duplex = 3, .oper_status = 1, .admin_status = 1};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(state.name, sizeof(state.name), "%s", names[i].sent);
		snprintf(state.alias, sizeof(state.alias), "%s", names[i].sent);
		trap_start(&m, "public", EASE_NOTIFY_PORT_STATE, agent_id, 1);
		trap_add_state(&m, &state);
		ck_assert_int_eq(decode(&m, &result), DECODE_OK);
		ck_assert_str_eq(result.records[0].state.name, names[i].kept);
		ck_assert_str_eq(result.records[0].state.alias, names[i].kept);
	}
	memset(state.name, 0xe9, EASE_NAME_MAX);
	trap_start(&m, "public", EASE_NOTIFY_PORT_STATE, agent_id, 1);
	trap_add_state(&m, &state);
	ck_assert_int_eq(decode(&m, &result), DECODE_OK);
	ck_assert_uint_eq(strlen(result.records[0].state.name), EASE_NAME_MAX);
}
END_TEST

START_TEST(energy_buffers_and_error_sources)
{
	static struct decode_result result;
	static struct trap_message m;
	struct ease_snapshot snapshot = some_snapshot();
	struct ease_resources resources = {.if_index = snapshot.if_index, .time_us = 8,
	    .known = EASE_HAS_LOW_POWER, .in = {1, 2}};
	struct ease_error_source source = {.if_index = 6, .time_us = 9, .mac = {2, 3, 4, 5, 6, 7},
	    .kind = EASE_ERROR_FCS, .count = 4};

	trap_start(&m, "public", EASE_NOTIFY_COUNTERS, agent_id, 1);
	trap_add_snapshot(&m, &snapshot);
	trap_add_resources(&m, &resources);
	ck_assert_int_eq(decode(&m, &result), DECODE_OK);
	ck_assert_uint_eq(result.n, 2);
	ck_assert_int_eq(result.records[0].kind, EASE_PART_SNAPSHOT);
	ck_assert_int_eq(result.records[1].kind, EASE_PART_RESOURCES);
	ck_assert_uint_eq(result.records[1].resources.in.asleep_us, 2);
	ck_assert_uint_eq(result.records[1].resources.if_index, snapshot.if_index);
	trap_start(&m, "public", EASE_NOTIFY_ERROR_SOURCE, agent_id, 1);
	trap_add_error_source(&m, &source);
	ck_assert_int_eq(decode(&m, &result), DECODE_OK);
	ck_assert_int_eq(result.records[0].kind, EASE_PART_ERROR_SOURCE);
	ck_assert_mem_eq(result.records[0].error_source.mac, source.mac, 6);
	trap_start(&m, "public", EASE_NOTIFY_SAMPLES, agent_id, 1); /* not in easeSamples */
	trap_add_resources(&m, &resources);
	ck_assert_int_eq(decode(&m, &result), DECODE_BAD_PARTS);
	trap_start(&m, "public", EASE_NOTIFY_BACK_PRESSURE, agent_id, 1); /* an event, no more */
	trap_add_resources(&m, &resources);
	ck_assert_int_eq(decode(&m, &result), DECODE_EVENT);
	ck_assert_uint_eq(result.event, EASE_NOTIFY_BACK_PRESSURE);
}
END_TEST

/* One thing wrong each; what is wrong is done by a function. */
static void
wrong_version(struct trap_message *m)
{
	m->version = 0;
}

static void
wrong_community(struct trap_message *m)
{
	m->community = "publi";
}

static void
longer_community(struct trap_message *m)
{
	m->community = "publicc";
}

static void
inform_pdu(struct trap_message *m)
{
	m->pdu = 0xa6;
}

static void
cold_start(struct trap_message *m)
{
	static const uint32_t oid[] = {1, 3, 6, 1, 6, 3, 1, 1, 5, 1};

	m->varbinds[1].len = trap_oid_octets(oid, ARCS(oid), m->varbinds[1].value);
}

static void
unknown_kind(struct trap_message *m)
{
	m->varbinds[1].value[m->varbinds[1].len - 1] = 99;
}

static void
kind_of_counters(struct trap_message *m)
{
	m->varbinds[1].value[m->varbinds[1].len - 1] = EASE_NOTIFY_COUNTERS;
}

static void
no_uptime(struct trap_message *m)
{
	m->varbinds[0].oid[7] = 4;
}

static void
uptime_as_integer(struct trap_message *m)
{
	m->varbinds[0].tag = 0x02;
	m->varbinds[0].value[0] = 1;
	m->varbinds[0].len = 1;
}

static void
no_parts(struct trap_message *m)
{
	m->n = 4;
}

static void
no_identity(struct trap_message *m)
{
	m->n = 2;
}

static void
no_sample(struct trap_message *m)
{
	m->varbinds[4] = m->varbinds[7];
	m->n = 5;
}

static void
identity_swapped(struct trap_message *m)
{
	struct trap_varbind v = m->varbinds[2];

	m->varbinds[2] = m->varbinds[3];
	m->varbinds[3] = v;
}

static void
short_agent_id(struct trap_message *m)
{
	m->varbinds[2].len = 7;
}

static void
boot_as_string(struct trap_message *m)
{
	m->varbinds[3].tag = 0x04;
}

static void
sample_cut(struct trap_message *m)
{
	m->varbinds[5].len--;
}

static void
sample_left_over(struct trap_message *m)
{
	m->varbinds[5].len++;
}

static void
sample_layout(struct trap_message *m)
{
	m->varbinds[6].value[0] = 2;
}

static void
sample_as_opaque(struct trap_message *m)
{
	m->varbinds[6].tag = 0x44;
}

static void
sequence_zero(struct trap_message *m)
{
	m->varbinds[6].oid[m->varbinds[6].n_arcs - 1] = 0;
}

static void
name_without_sequence(struct trap_message *m)
{
	m->varbinds[6].n_arcs--;
}

static void
last_value_bad(struct trap_message *m)
{
	m->varbinds[7].value[0] = 77;
}

static void
bad_extra(struct trap_message *m)
{
	static const uint32_t oid[] = {1, 3, 6, 1, 99, 1};

	trap_add(m, oid, ARCS(oid), 0x02, "\0\1", 2);
}

static const struct {
	const char *what;
	void (*spoil)(struct trap_message *m);
	enum decode_verdict verdict;
	enum input_stat_id stat;
} mistakes[] = {
    {"version", wrong_version, DECODE_BAD_VERSION, INPUT_STAT_REFUSED_VERSION},
    {"community", wrong_community, DECODE_BAD_COMMUNITY, INPUT_STAT_REFUSED_COMMUNITY},
    {"longer community", longer_community, DECODE_BAD_COMMUNITY, INPUT_STAT_REFUSED_COMMUNITY},
    {"inform", inform_pdu, DECODE_INFORM, INPUT_STAT_REFUSED_PDU},
    {"coldStart", cold_start, DECODE_FOREIGN, INPUT_STAT_IGNORED_NOTIFICATIONS},
    {"unknown kind", unknown_kind, DECODE_EVENT, INPUT_STAT_IGNORED_NOTIFICATIONS},
    {"samples as counters", kind_of_counters, DECODE_BAD_PARTS, INPUT_STAT_REFUSED_PARTS},
    {"no sysUpTime", no_uptime, DECODE_BAD_PARSE, INPUT_STAT_REFUSED_PARSE},
    {"sysUpTime as INTEGER", uptime_as_integer, DECODE_BAD_PARSE, INPUT_STAT_REFUSED_PARSE},
    {"no parts", no_parts, DECODE_BAD_PARTS, INPUT_STAT_REFUSED_PARTS},
    {"no identity", no_identity, DECODE_BAD_PARTS, INPUT_STAT_REFUSED_PARTS},
    {"no sample", no_sample, DECODE_BAD_PARTS, INPUT_STAT_REFUSED_PARTS},
    {"identity swapped", identity_swapped, DECODE_BAD_PARTS, INPUT_STAT_REFUSED_PARTS},
    {"short agent id", short_agent_id, DECODE_BAD_VALUE, INPUT_STAT_REFUSED_VALUE},
    {"boot as string", boot_as_string, DECODE_BAD_VALUE, INPUT_STAT_REFUSED_VALUE},
    {"sample cut", sample_cut, DECODE_BAD_VALUE, INPUT_STAT_REFUSED_VALUE},
    {"sample left over", sample_left_over, DECODE_BAD_VALUE, INPUT_STAT_REFUSED_VALUE},
    {"sample layout", sample_layout, DECODE_BAD_VALUE, INPUT_STAT_REFUSED_VALUE},
    {"sample as Opaque", sample_as_opaque, DECODE_BAD_VALUE, INPUT_STAT_REFUSED_VALUE},
    {"sequence 0", sequence_zero, DECODE_BAD_VALUE, INPUT_STAT_REFUSED_VALUE},
    {"no sequence", name_without_sequence, DECODE_BAD_VALUE, INPUT_STAT_REFUSED_VALUE},
    {"last part bad", last_value_bad, DECODE_BAD_VALUE, INPUT_STAT_REFUSED_VALUE},
    {"extra not minimal", bad_extra, DECODE_BAD_CODING, INPUT_STAT_REFUSED_PARSE},
};

/* The input as a whole, without sockets */

struct sink_count {
	size_t calls, records;
};

static void
count_records(void *arg, const struct ease_record *records, size_t n)
{
	struct sink_count *count = arg;

	(void)records;
	count->calls++;
	count->records += n;
}

static struct input *
open_input(struct sink_count *count)
{
	static const struct prefix allowed[] = {
	    {.family = AF_INET, .octets = {192, 0, 2, 0}, .bits = 25},
	    {.family = AF_INET6, .octets = {0x20, 0x01, 0x0d, 0xb8}, .bits = 32},
	};
	const struct input_config config = {
	    .senders = allowed,
	    .n_senders = ARCS(allowed),
	    .communities = communities,
	    .n_communities = ARCS(communities),
	    .clock = &clock_system,
	    .sink = count_records,
	    .sink_arg = count,
	};
	struct input *in;
	char error[128];

	ck_assert_int_eq(input_open(&in, &config, error, sizeof(error)), 0);
	return in;
}

static struct endpoint
endpoint_of(const char *text)
{
	const char *reason;
	struct endpoint e;

	ck_assert_msg(endpoint_parse(text, &e, &reason) == 0, "%s: %s", text, reason);
	return e;
}

static void
take(struct input *in, const char *from, const void *octets, size_t n)
{
	struct endpoint e = endpoint_of(from);

	input_take(in, (const struct sockaddr *)&e.address, octets, n);
}

static size_t
good_message(uint8_t octets[MESSAGE_MAX])
{
	static struct trap_message m;

	samples_message(&m);
	return trap_build(&m, octets, MESSAGE_MAX);
}

START_TEST(mistakes_are_refused_by_name_and_nothing_passes)
{
	static struct decode_result result;
	static struct trap_message m;
	uint8_t octets[MESSAGE_MAX];
	struct sink_count count = {0};
	struct input *in = open_input(&count);

	samples_message(&m);
	mistakes[_i].spoil(&m);
	ck_assert_msg(decode(&m, &result) == mistakes[_i].verdict, "%s", mistakes[_i].what);
	take(in, "192.0.2.1:999", octets, trap_build(&m, octets, sizeof(octets)));
	ck_assert_uint_eq(count.calls, 0);
	ck_assert_uint_eq(stat_get(input_stats(in), mistakes[_i].stat), 1);
	ck_assert_uint_eq(stat_get(input_stats(in), INPUT_STAT_NOTIFICATIONS), 0);
	input_close(in);
}
END_TEST

START_TEST(truncated_anywhere)
{
	uint8_t octets[MESSAGE_MAX];
	size_t n = good_message(octets);
	struct sink_count count = {0};
	struct input *in = open_input(&count);

	for (size_t cut = 0; cut < n; cut++) {
		uint8_t *exact = malloc(cut + 1); /* so that sanitizers see a read beyond */

		memcpy(exact, octets, cut);
		take(in, "192.0.2.1:999", exact, cut);
		free(exact);
	}
	octets[n] = 0;
	take(in, "192.0.2.1:999", octets, n + 1); /* and with one octet too many */
	ck_assert_uint_eq(stat_get(input_stats(in), INPUT_STAT_REFUSED_PARSE), n + 1);
	ck_assert_uint_eq(count.calls, 0);
	take(in, "192.0.2.1:999", octets, n);
	ck_assert_uint_eq(count.calls, 1);
	ck_assert_uint_eq(count.records, 4);
	ck_assert_uint_eq(stat_get(input_stats(in), INPUT_STAT_RECORDS), 4);
	input_close(in);
}
END_TEST

START_TEST(senders_outside_the_list_are_refused)
{
	static const struct {
		const char *from;
		bool good;
	} cases[] = {
	    {"192.0.2.127:1", true},
	    {"192.0.2.128:1", false},
	    {"192.0.3.1:1", false},
	    {"[2001:db8::1]:1", true},
	    {"[2001:db9::1]:1", false},
	    {"[::ffff:192.0.2.1]:1", false},
	};
	uint8_t octets[MESSAGE_MAX];
	size_t n = good_message(octets), good = 0;
	struct sink_count count = {0};
	struct input *in = open_input(&count);

	for (size_t i = 0; i < ARCS(cases); i++) {
		take(in, cases[i].from, octets, n);
		good += cases[i].good;
		ck_assert_msg(count.calls == good, "%s", cases[i].from);
	}
	ck_assert_uint_eq(stat_get(input_stats(in), INPUT_STAT_REFUSED_SENDER), 4);
	input_close(in);
}
END_TEST

START_TEST(addresses_of_the_configuration)
{
	static const char *const good_endpoints[] = {"0.0.0.0:162", "[::]:162", "127.0.0.1:0",
	    "[fe80::1]:65535"};
	static const char *const bad_endpoints[] = {"", "162", "127.0.0.1", "127.0.0.1:65536",
	    "127.0.0.1:", "::1:162", "[::1:162", "localhost:162", "127.0.0:162", "1.2.3.4:+1",
	    "1.2.3.4: 1"};
	static const char *const good_prefixes[] = {"10.0.0.0/8", "0.0.0.0/0", "::/0", "10.1.2.3",
	    "2001:db8::1", "2001:db8::/32"};
	static const char *const bad_prefixes[] = {"", "10.0.0.1/8", "10.0.0.0/33", "::1/129",
	    "2001:db8::1/32", "10.0.0.0/", "10.0.0.0/x", "host"};

	for (size_t i = 0; i < ARCS(good_endpoints); i++)
		ck_assert_ptr_null(endpoint_check(good_endpoints[i]));
	for (size_t i = 0; i < ARCS(bad_endpoints); i++)
		ck_assert_ptr_nonnull(endpoint_check(bad_endpoints[i]));
	for (size_t i = 0; i < ARCS(good_prefixes); i++)
		ck_assert_ptr_null(prefix_check(good_prefixes[i]));
	for (size_t i = 0; i < ARCS(bad_prefixes); i++)
		ck_assert_ptr_nonnull(prefix_check(bad_prefixes[i]));
}
END_TEST

/* Decodes strictly and by template: verdict and records must be equal to the last octet. */
static void
decode_both(struct decode_templates *templates, const uint8_t *octets, size_t n)
{
	static struct decode_result strict, by_template;
	enum decode_verdict verdict;

	memset(&strict, 0, sizeof(strict));
	memset(&by_template, 0, sizeof(by_template));
	verdict = decode_notification(octets, n, communities, ARCS(communities), &origin, &strict);
	ck_assert_int_eq(decode_templates_decode(templates, octets, n, communities,
			     ARCS(communities), &origin, &by_template),
	    verdict);
	if (verdict != DECODE_OK)
		return;
	ck_assert_int_eq(by_template.kind, strict.kind);
	ck_assert_uint_eq(by_template.n, strict.n);
	ck_assert_uint_eq(by_template.n_ignored, strict.n_ignored);
	ck_assert_mem_eq(by_template.records, strict.records, sizeof(strict.records));
}

static void
counters_message(struct trap_message *m)
{
	struct ease_snapshot snapshot = some_snapshot();
	struct ease_resources resources = {
	    .if_index = snapshot.if_index, .known = EASE_HAS_PAUSE, .pauses_in = 3};

	trap_start(m, "public", EASE_NOTIFY_COUNTERS, agent_id, 1);
	trap_add_snapshot(m, &snapshot);
	trap_add_resources(m, &resources);
}

START_TEST(shapes_change_nothing_of_what_is_decoded)
{
	static struct decode_templates templates;
	static struct trap_message m;
	uint8_t octets[MESSAGE_MAX], original;
	struct ease_sample s;
	size_t n, known = 0;

	memset(&templates, 0, sizeof(templates));
	for (uint32_t i = 1; i < 3000; i++) { /* numbers of one octet, and of two */
		s = some_sample(i);
		s.if_index = 1 + i % 300;
		s.time_us += i;
		s.kept_octets = (uint16_t)(14 + i % 3 * 50);
		trap_start(&m, communities[i % 2], EASE_NOTIFY_SAMPLES, agent_id, 7 + i / 1000);
		trap_add_sample(&m, &s);
		n = trap_build(&m, octets, sizeof(octets));
		known += decode_templates_match(&templates, octets, n);
		decode_both(&templates, octets, n);
	}
	ck_assert_uint_gt(known, 2900);
	counters_message(&m);
	n = trap_build(&m, octets, sizeof(octets));
	decode_both(&templates, octets, n);
	ck_assert(decode_templates_match(&templates, octets, n));
	decode_both(&templates, octets, n);
	samples_message(&m);
	n = trap_build(&m, octets, sizeof(octets));
	decode_both(&templates, octets, n);
	ck_assert(decode_templates_match(&templates, octets, n));
	/* Every octet wrong in every way, or in sixteen. */
	for (size_t i = 0; i < n; i++) {
		original = octets[i];
		for (int wrong = 0; wrong < 256; wrong += suite_is_slow() ? 17 : 1) {
			octets[i] = (uint8_t)wrong;
			decode_both(&templates, octets, n); /* which may have learned another */
		}
		octets[i] = original;
		decode_both(&templates, octets, n);
	}
	for (size_t i = 0; i <= n; i++)
		decode_both(&templates, octets, i);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("decode");
	TCase *tc = tcase_create("decode");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, a_notification_of_samples);
	tcase_add_test(tc, other_kinds);
	tcase_add_test(tc, names_are_cleaned_where_they_enter);
	tcase_add_test(tc, energy_buffers_and_error_sources);
	tcase_add_test(tc, shapes_change_nothing_of_what_is_decoded);
	tcase_add_loop_test(tc, mistakes_are_refused_by_name_and_nothing_passes, 0,
	    ARCS(mistakes));
	tcase_add_test(tc, truncated_anywhere);
	tcase_add_test(tc, senders_outside_the_list_are_refused);
	tcase_add_test(tc, addresses_of_the_configuration);
	return suite_run(suite);
}
