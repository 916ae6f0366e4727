/*
 * The BER reader and the message around a notification: each rule of RFC 3417 and X.690 by
 * hand-made octets; messages that Net-SNMP writes; and mutations of messages, where whatever both
 * we and Net-SNMP's parser accept must read the same.
 */
#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>

#include "collector/input/decode.h"
#include "collector/input/v2c.h"
#include "tests/suite.h"
#include "tests/trap_builder.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define ARCS(a) (sizeof(a) / sizeof((a)[0]))

enum { MESSAGE_MAX = 9000, COMMUNITY_MAX = 256 };

static const uint8_t agent_id[8] = {0xde, 0xad, 0xbe, 0xef, 0, 1, 2, 3};

/* BER by the rules of its source */

struct ber_case {
	const char *what;
	uint8_t tag;
	uint8_t octets[12];
	size_t n;
	bool good;
};

static const struct ber_case values[] = {
    {"INTEGER 0", 0x02, {0}, 1, true},
    {"INTEGER -1", 0x02, {0xff}, 1, true},
    {"INTEGER 2^31-1", 0x02, {0x7f, 0xff, 0xff, 0xff}, 4, true},
    {"INTEGER -2^31", 0x02, {0x80, 0, 0, 0}, 4, true},
    {"INTEGER empty", 0x02, {0}, 0, false},
    {"INTEGER padded 00", 0x02, {0, 1}, 2, false},
    {"INTEGER padded ff", 0x02, {0xff, 0x80}, 2, false},
    {"INTEGER needs 00", 0x02, {0, 0x80}, 2, true},
    {"INTEGER of five", 0x02, {0, 0x80, 0, 0, 0}, 5, false},
    {"Counter32 2^32-1", 0x41, {0, 0xff, 0xff, 0xff, 0xff}, 5, true},
    {"Counter32 negative", 0x41, {0xff, 0xff, 0xff, 0xff}, 4, false},
    {"Counter32 too long", 0x41, {1, 0, 0, 0, 0}, 5, false},
    {"Gauge32 small", 0x42, {5}, 1, true},
    {"TimeTicks empty", 0x43, {0}, 0, false},
    {"Counter64 2^64-1", 0x46, {0, 255, 255, 255, 255, 255, 255, 255, 255}, 9, true},
    {"Counter64 too long", 0x46, {1, 0, 0, 0, 0, 0, 0, 0, 0}, 9, false},
    {"Counter64 negative", 0x46, {0x80}, 1, false},
    {"IpAddress", 0x40, {192, 0, 2, 1}, 4, true},
    {"IpAddress of three", 0x40, {192, 0, 2}, 3, false},
    {"IpAddress of five", 0x40, {192, 0, 2, 1, 0}, 5, false},
    {"OCTET STRING empty", 0x04, {0}, 0, true},
    {"OCTET STRING constructed", 0x24, {4, 1, 0}, 3, false},
    {"NULL", 0x05, {0}, 0, true},
    {"NULL with content", 0x05, {0}, 1, false},
    {"Opaque", 0x44, {1, 2}, 2, true},
    {"NsapAddress of history", 0x45, {1}, 1, false},
    {"UInteger32 of history", 0x47, {1}, 1, false},
    {"noSuchObject", 0x80, {0}, 0, false},
    {"endOfMibView", 0x82, {0}, 0, false},
    {"OID 0.0", 0x06, {0}, 1, true},
    {"OID empty", 0x06, {0}, 0, false},
    {"OID leading zero group", 0x06, {0x2b, 0x80, 0x01}, 3, false},
    {"OID cut off", 0x06, {0x2b, 0x86}, 2, false},
    {"OID arc 2^32-1", 0x06, {0x2b, 0x8f, 0xff, 0xff, 0xff, 0x7f}, 6, true},
    {"OID arc 2^32", 0x06, {0x2b, 0x90, 0x80, 0x80, 0x80, 0x00}, 6, false},
    {"OID arc very long", 0x06, {0x2b, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0x7f}, 11,
	false},
};

START_TEST(values_by_the_rules)
{
	const struct ber_case *c = &values[_i];

	ck_assert_msg(ber_is_object_value(c->tag, rbuf_of(c->octets, c->n)) == c->good, "%s",
	    c->what);
}
END_TEST

START_TEST(integers_and_object_identifiers)
{
	static const uint8_t minus_two[] = {0xfe}, minus_129[] = {0xff, 0x7f};
	static const uint8_t two_999[] = {0x88, 0x37, 3}; /* X.690 8.19.5: {2 999 3} */
	static const uint8_t big[] = {0x90, 0x80, 0x80, 0x80, 0x4f};
	struct ber_oid oid;
	int32_t v;

	ck_assert_int_eq(ber_integer(rbuf_of(minus_two, 1), &v), 0);
	ck_assert_int_eq(v, -2);
	ck_assert_int_eq(ber_integer(rbuf_of(minus_129, 2), &v), 0);
	ck_assert_int_eq(v, -129);
	ck_assert_int_eq(ber_oid(rbuf_of(two_999, 3), &oid), 0);
	ck_assert_uint_eq(oid.n, 3);
	ck_assert_uint_eq(oid.arcs[0], 2);
	ck_assert_uint_eq(oid.arcs[1], 999);
	ck_assert_uint_eq(oid.arcs[2], 3);
	ck_assert_int_eq(ber_oid(rbuf_of(big, 5), &oid), 0); /* 2.(2^32-1) */
	ck_assert_uint_eq(oid.arcs[1], UINT32_MAX);
}
END_TEST

START_TEST(oids_of_128_arcs_and_no_more)
{
	uint8_t octets[BER_OID_MAX];
	struct ber_oid oid;

	memset(octets, 1, sizeof(octets));
	ck_assert_int_eq(ber_oid(rbuf_of(octets, BER_OID_MAX - 1), &oid), 0);
	ck_assert_uint_eq(oid.n, BER_OID_MAX);
	ck_assert_int_lt(ber_oid(rbuf_of(octets, BER_OID_MAX), &oid), 0);
}
END_TEST

START_TEST(lengths_by_the_rules)
{
	static const struct {
		uint8_t octets[8];
		size_t n;
		bool good;
	} cases[] = {
	    {{0x04, 0x01, 9}, 3, true},
	    {{0x04, 0x81, 0x01, 9}, 4, true},
	    {{0x04, 0x82, 0x00, 0x01, 9}, 5, true},
	    {{0x04, 0x84, 0, 0, 0, 1, 9}, 7, true},
	    {{0x04, 0x85, 0, 0, 0, 0, 1, 9}, 8, false},
	    {{0x04, 0x80, 9, 0, 0}, 5, false}, /* indefinite */
	    {{0x04, 0x02, 9}, 3, false},
	    {{0x04, 0x84, 0xff, 0xff, 0xff, 0xff, 9}, 7, false},
	    {{0x1f, 0x01, 9}, 3, false}, /* long tags */
	    {{0x3f, 0x01, 9}, 3, false},
	    {{0x04}, 1, false},
	    {{0}, 0, false},
	};

	for (size_t i = 0; i < ARCS(cases); i++) {
		struct rbuf r = rbuf_of(cases[i].octets, cases[i].n), content;
		uint8_t tag;
		bool good = ber_next(&r, &tag, &content) == 0;

		ck_assert_msg(good == cases[i].good, "case %zu", i);
		if (good)
			ck_assert_int_eq(content.data[0], 9);
	}
}
END_TEST

/* Net-SNMP's encoder and parser */

static void
add_to_pdu(netsnmp_pdu *pdu, const struct trap_varbind *v)
{
	oid name[TRAP_OID_ARCS_MAX], value[TRAP_OID_ARCS_MAX];
	struct ber_oid parsed;
	uint32_t u32;
	u_long ticks;

	for (size_t i = 0; i < v->n_arcs; i++)
		name[i] = v->oid[i];
	switch (v->tag) {
	case BER_TIMETICKS:
	case BER_UNSIGNED32:
		ck_assert_int_eq(ber_unsigned32(rbuf_of(v->value, v->len), &u32), 0);
		ticks = u32;
		snmp_pdu_add_variable(pdu, name, v->n_arcs, v->tag, &ticks, sizeof(ticks));
		break;
	case BER_OID:
		ck_assert_int_eq(ber_oid(rbuf_of(v->value, v->len), &parsed), 0);
		for (size_t i = 0; i < parsed.n; i++)
			value[i] = parsed.arcs[i];
		snmp_pdu_add_variable(pdu, name, v->n_arcs, v->tag, value,
		    parsed.n * sizeof(*value));
		break;
	default:
		snmp_pdu_add_variable(pdu, name, v->n_arcs, v->tag, v->value, v->len);
	}
}

/* The message as Net-SNMP writes it. */
static size_t
build_by_net_snmp(const struct trap_message *m, uint8_t octets[MESSAGE_MAX])
{
	netsnmp_pdu *pdu = snmp_pdu_create(SNMP_MSG_TRAP2);
	netsnmp_session session;
	size_t room = MESSAGE_MAX, offset = 0;
	u_char *packet = malloc(room);

	snmp_sess_init(&session);
	session.version = pdu->version = SNMP_VERSION_2c;
	pdu->community = (u_char *)strdup(m->community);
	pdu->community_len = strlen(m->community);
	for (size_t i = 0; i < m->n; i++)
		add_to_pdu(pdu, &m->varbinds[i]);
	ck_assert_int_eq(snmp_build(&packet, &room, &offset, &session, pdu), 0);
	/* written backwards: it stands at the end of the memory */
	memcpy(octets, packet + room - offset, offset);
	free(packet);
	snmp_free_pdu(pdu);
	return offset;
}

static netsnmp_pdu *
parse_by_net_snmp(const uint8_t *octets, size_t n, char *community)
{
	u_char *copy = malloc(n + 1), *pdu_octets;
	u_char name[COMMUNITY_MAX] = {0};
	size_t left = n, name_len = sizeof(name);
	netsnmp_pdu *pdu = snmp_pdu_create(0);
	long version;

	memcpy(copy, octets, n);
	pdu_octets = snmp_comstr_parse(copy, &left, name, &name_len, &version);
	if (!pdu_octets || version != SNMP_VERSION_2c ||
	    snmp_pdu_parse(pdu, pdu_octets, &left) < 0) {
		snmp_free_pdu(pdu);
		pdu = NULL;
	}
	memcpy(community, name, sizeof(name));
	free(copy);
	return pdu;
}

static void
compare_value(const netsnmp_variable_list *theirs, const struct v2c_varbind *ours)
{
	struct ber_oid oid;
	uint64_t u64;
	int32_t i32;

	ck_assert_int_eq(theirs->type, ours->tag);
	switch (ours->tag) {
	case BER_INTEGER:
		ck_assert_int_eq(ber_integer(ours->value, &i32), 0);
		ck_assert_int_eq(*theirs->val.integer, i32);
		break;
	case BER_COUNTER32:
	case BER_UNSIGNED32:
	case BER_TIMETICKS:
		ck_assert_int_eq(ber_unsigned64(ours->value, &u64), 0);
		ck_assert_uint_eq((uint32_t)*theirs->val.integer, u64);
		break;
	case BER_COUNTER64:
		ck_assert_int_eq(ber_unsigned64(ours->value, &u64), 0);
		ck_assert_uint_eq((uint64_t)theirs->val.counter64->high << 32 |
			(uint32_t)theirs->val.counter64->low,
		    u64);
		break;
	case BER_OID:
		ck_assert_int_eq(ber_oid(ours->value, &oid), 0);
		ck_assert_uint_eq(theirs->val_len / sizeof(*theirs->val.objid), oid.n);
		for (size_t i = 0; i < oid.n; i++)
			ck_assert_uint_eq(theirs->val.objid[i], oid.arcs[i]);
		break;
	case BER_NULL:
		break;
	case BER_OPAQUE:
		break; /* Net-SNMP unwraps floats out of it */
	default:
		ck_assert_uint_eq(theirs->val_len, ours->value.size);
		if (ours->value.size)
			ck_assert_mem_eq(theirs->val.string, ours->value.data, ours->value.size);
	}
}

/* True if both accept, and then all they read is equal. */
static bool
compare_parsers(const uint8_t *octets, size_t n)
{
	char community[COMMUNITY_MAX];
	netsnmp_pdu *pdu = parse_by_net_snmp(octets, n, community);
	const netsnmp_variable_list *theirs = pdu ? pdu->variables : NULL;
	struct v2c_message m, whole;
	struct v2c_varbind v;
	struct rbuf body;
	bool ours = v2c_open(&m, &body, octets, n) == 0 && m.version == V2C_VERSION_2C &&
	    v2c_open_pdu(&m, &body) == 0;

	whole = m;
	while (ours && v2c_next(&whole, &v))
		continue;
	ours = ours && !whole.varbinds.failed;
	if (!pdu || !ours) {
		snmp_free_pdu(pdu);
		return false;
	}
	ck_assert_int_eq(pdu->command, m.pdu);
	ck_assert_uint_eq(strlen(community), strnlen((const char *)m.community.data,
						 m.community.size));
	ck_assert_mem_eq(community, m.community.data, strlen(community));
	ck_assert_int_eq((int32_t)pdu->reqid, m.request_id);
	while (v2c_next(&m, &v)) {
		ck_assert_ptr_nonnull(theirs);
		ck_assert_uint_eq(theirs->name_length, v.name.n);
		for (size_t i = 0; i < v.name.n; i++)
			ck_assert_uint_eq(theirs->name[i], v.name.arcs[i]);
		compare_value(theirs, &v);
		theirs = theirs->next_variable;
	}
	ck_assert_ptr_null(theirs);
	snmp_free_pdu(pdu);
	return true;
}

static const uint8_t frame[128] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x08, 0x00, 0x45};

static void
samples_message(struct trap_message *m)
{
	trap_start(m, "public", EASE_NOTIFY_SAMPLES, agent_id, 0x80000001u);
	for (uint32_t i = 1; i <= 3; i++) {
		const struct ease_sample s = {
		    .time_us = 1700000000123456ull,
		    .if_index = 7,
		    .sequence = i,
		    .direction = EASE_IN,
		    .mean_skip = 20,
		    .frame_octets = 1518,
		    .kept_octets = sizeof(frame),
		    .header = frame,
		};

		trap_add_sample(m, &s);
	}
}

START_TEST(what_net_snmp_writes_is_read)
{
	static const char *const communities[] = {"public"};
	static const struct decode_origin origin = {"192.0.2.9", 77};
	static struct decode_result result;
	static struct trap_message m;
	uint8_t octets[MESSAGE_MAX];
	size_t n;

	samples_message(&m);
	n = build_by_net_snmp(&m, octets);
	ck_assert_int_eq(decode_notification(octets, n, communities, 1, &origin, &result),
	    DECODE_OK);
	ck_assert_uint_eq(result.n, 3);
	ck_assert_uint_eq(result.records[2].sample.sequence, 3);
	ck_assert_mem_eq(result.records[2].sample.header, frame, sizeof(frame));
	ck_assert(compare_parsers(octets, n));
	n = trap_build(&m, octets, sizeof(octets)); /* and ours by Net-SNMP */
	ck_assert(compare_parsers(octets, n));
}
END_TEST

static uint64_t
next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

/* Values of every type, so that mutations meet all of them. */
static void
mixed_message(struct trap_message *m)
{
	static const struct {
		uint8_t tag;
		const char *value;
		size_t n;
	} mixed[] = {
	    {0x02, "\xff\x7f", 2},
	    {0x04, "hello", 5},
	    {0x05, "", 0},
	    {0x06, "\x2b\x06\x01", 3},
	    {0x40, "\x0a\x00\x00\x01", 4},
	    {0x41, "\x00\xff\xff\xff\xff", 5},
	    {0x42, "\x7f", 1},
	    {0x43, "\x01\x00", 2},
	    {0x46, "\x00\xff\xff\xff\xff\xff\xff\xff\xff", 9},
	};

	trap_start(m, "public", EASE_NOTIFY_SAMPLES, agent_id, 3);
	for (size_t i = 0; i < ARCS(mixed); i++) {
		const uint32_t name[] = {1, 3, 6, 1, 4, 1, 99999, (uint32_t)i};

		trap_add(m, name, ARCS(name), mixed[i].tag, mixed[i].value, mixed[i].n);
	}
}

START_TEST(mutations_read_the_same_or_are_refused)
{
	static struct trap_message m;
	static uint8_t base[MESSAGE_MAX], octets[MESSAGE_MAX];
	uint64_t random = (uint64_t)_i + 1;
	size_t both = 0, n;

	mixed_message(&m);
	n = _i % 2 ? trap_build(&m, base, sizeof(base)) : build_by_net_snmp(&m, base);
	for (int i = 0; i < 20000; i++) {
		size_t changes = 1 + next_random(&random) % 3;

		memcpy(octets, base, n);
		for (size_t c = 0; c < changes; c++)
			octets[next_random(&random) % n] ^=
			    (uint8_t)(1u << next_random(&random) % 8);
		both += compare_parsers(octets, n);
	}
	ck_assert_uint_gt(both, 1000); /* else it compared nothing */
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("v2c");
	TCase *tc = tcase_create("v2c");

	setenv("MIBS", "", 1);
	snmp_disable_stderrlog();
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, values_by_the_rules, 0, ARCS(values));
	tcase_add_test(tc, integers_and_object_identifiers);
	tcase_add_test(tc, oids_of_128_arcs_and_no_more);
	tcase_add_test(tc, lengths_by_the_rules);
	tcase_add_test(tc, what_net_snmp_writes_is_read);
	tcase_add_loop_test(tc, mutations_read_the_same_or_are_refused, 0, 8);
	return suite_run(suite);
}
