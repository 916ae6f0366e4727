/*
 * The BER reader and the parser of SNMPv2c messages: each rule of RFC 3417 and X.690 with hand-made
 * octets, messages that Net-SNMP encodes, and damaged messages, which we and Net-SNMP's library
 * must read in the same way if either accepts them (readings.h).
 */
#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>

#include "collector/input/decode.h"
#include "collector/input/v2c.h"
#include "collector/input/netsnmp_reader.h"
#include "tests/collector/input/ber_spoil.h"
#include "tests/collector/input/readings.h"
#include "tests/suite.h"
#include "tests/collector/input/trap_builder.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define ARCS(a) (sizeof(a) / sizeof((a)[0]))

enum { MESSAGE_MAX = 9000, SPOILT_MAX = 1 << 16 };

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
	static const uint8_t most[] = {0x8f, 0xff, 0xff, 0xff, 0x7f};
	static const uint8_t more[] = {0x90, 0x80, 0x80, 0x80, 0x00};
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
	ck_assert_int_eq(ber_oid(rbuf_of(most, 5), &oid), 0);
	ck_assert_uint_eq(oid.arcs[1], UINT32_MAX - 80);
	ck_assert_int_lt(ber_oid(rbuf_of(more, 5), &oid), 0);
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
	static const struct decode_origin origin = {.sender = "192.0.2.9", .received_us = 77};
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
	ck_assert_int_eq(readings_compare(octets, n), READINGS_STRICT);
	n = trap_build(&m, octets, sizeof(octets)); /* and ours by Net-SNMP */
	ck_assert_int_eq(readings_compare(octets, n), READINGS_STRICT);
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

/* Messages that differ from a good one in one place, and how they are read. */
struct loose_case {
	const char *what;
	uint8_t tag;
	const char *value;
	size_t n;
	enum readings readings;
};

static const struct loose_case loose[] = {
    {"INTEGER as it should be", 0x02, "\x7f", 1, READINGS_STRICT},
    {"INTEGER padded", 0x02, "\0\x7f", 2, READINGS_LIBRARY},
    {"INTEGER padded, negative", 0x02, "\xff\xff\x80", 3, READINGS_LIBRARY},
    {"INTEGER empty", 0x02, "", 0, READINGS_NONE},
    {"INTEGER of 2^32 + 1, which the library truncates to 1", 0x02, "\1\0\0\0\1", 5, READINGS_LIBRARY},
    {"INTEGER of 2^31", 0x02, "\0\x80\0\0\0", 5, READINGS_VALUES},
    {"Counter32 with bit 31 set in four octets", 0x41, "\x80\0\0\1", 4, READINGS_LIBRARY},
    {"TimeTicks padded", 0x43, "\0\0\1", 3, READINGS_LIBRARY},
    {"Gauge32 of ten octets", 0x42, "\1\0\0\0\0\0\0\0\0\0", 10, READINGS_NONE},
    {"Counter64 empty", 0x46, "", 0, READINGS_LIBRARY},
    {"Counter64 of eight octets with bit 63 set", 0x46, "\x80\0\0\0\0\0\0\1", 8, READINGS_LIBRARY},
    {"NULL with content", 0x05, "x", 1, READINGS_LIBRARY},
    {"OID empty", 0x06, "", 0, READINGS_LIBRARY},
    {"OID with a leading zero group", 0x06, "\x2b\x80\1", 3, READINGS_LIBRARY},
    {"OID cut off", 0x06, "\x2b\x86", 2, READINGS_NONE},
    {"OID arc of 2^32", 0x06, "\x2b\x90\x80\x80\x80\0", 6, READINGS_NONE},
    {"IpAddress of three", 0x40, "\1\2\3", 3, READINGS_NONE},
    {"OCTET STRING constructed", 0x24, "\4\1x", 3, READINGS_NONE},
    {"Opaque", 0x44, "\1\2\3", 3, READINGS_STRICT},
    {"Opaque around a float", 0x44, "\x9f\x78\4\x3f\x80\0\0", 7, READINGS_OPAQUE},
    {"Opaque around a spoilt float", 0x44, "\x9f\x78\5\x3f\x80\0\0", 7, READINGS_OPAQUE},
    {"BIT STRING", 0x03, "\0\1", 2, READINGS_VALUES},
    {"NsapAddress", 0x45, "\1", 1, READINGS_VALUES},
    {"UInteger32", 0x47, "\1", 1, READINGS_VALUES},
    {"noSuchObject", 0x80, "", 0, READINGS_VALUES},
    {"endOfMibView", 0x82, "", 0, READINGS_VALUES},
    {"a type that there is not", 0x5e, "", 0, READINGS_NONE},
};

START_TEST(loose_values_are_read_as_net_snmp_does)
{
	static const uint32_t name[] = {1, 3, 6, 1, 4, 1, 99999, 1};
	const struct loose_case *c = &loose[_i];
	static struct trap_message m;
	uint8_t octets[MESSAGE_MAX];

	samples_message(&m);
	trap_add(&m, name, ARCS(name), c->tag, c->value, c->n);
	ck_assert_msg(readings_compare(octets, trap_build(&m, octets, sizeof(octets))) ==
		c->readings,
	    "%s", c->what);
}
END_TEST

/* The head vouches for the rest: nothing of it may be loose. */
START_TEST(a_loose_head_is_refused)
{
	static struct trap_message m;
	uint8_t octets[MESSAGE_MAX];
	size_t n;

	samples_message(&m);
	n = trap_build(&m, octets, sizeof(octets));
	octets[n] = 0; /* one octet behind the message */
	ck_assert_int_eq(readings_compare(octets, n + 1), READINGS_HEAD);
	octets[3]++; /* the same one left over inside, behind the PDU */
	ck_assert_int_eq(readings_compare(octets, n + 1), READINGS_LIBRARY);
	octets[9] = 0x44; /* the community's tag */
	ck_assert_int_eq(readings_compare(octets, n + 1), READINGS_HEAD);
}
END_TEST

static size_t
flip_bits(uint8_t *octets, size_t n, uint64_t *random)
{
	for (size_t changes = 1 + next_random(random) % 3; changes > 0; changes--)
		octets[next_random(random) % n] ^= (uint8_t)(1u << next_random(random) % 8);
	return n;
}

START_TEST(spoilt_messages_read_the_same)
{
	static struct trap_message m;
	static uint8_t base[MESSAGE_MAX], octets[SPOILT_MAX];
	const size_t runs = (size_t)suite_effort(20000);
	size_t seen[READINGS_N] = {0}, n, n_spoilt;
	uint64_t random = (uint64_t)_i + 1;

	(_i & 2 ? samples_message : mixed_message)(&m);
	n = _i & 1 ? trap_build(&m, base, sizeof(base)) : build_by_net_snmp(&m, base);
	for (size_t i = 0; i < runs; i++) {
		memcpy(octets, base, n);
		n_spoilt = i & 1 ? ber_spoil(base, n, octets, sizeof(octets), 60, &random)
				 : flip_bits(octets, n, &random);
		seen[readings_compare(octets, n_spoilt)]++;
	}
	/* else it compared nothing */
	ck_assert_uint_ge(seen[READINGS_STRICT], runs / 20);
	ck_assert_uint_ge(seen[READINGS_LIBRARY], runs / 40);
	ck_assert_uint_ge(seen[READINGS_HEAD], runs / 1000);
	ck_assert_uint_ge(seen[READINGS_VALUES], runs / 1000);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("v2c");
	TCase *tc = tcase_create("v2c");

	setenv("MIBS", "", 1);
	netsnmp_reader_open(); /* its lines go to our log, as debugging */
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, values_by_the_rules, 0, ARCS(values));
	tcase_add_test(tc, integers_and_object_identifiers);
	tcase_add_test(tc, oids_of_128_arcs_and_no_more);
	tcase_add_test(tc, lengths_by_the_rules);
	tcase_add_test(tc, what_net_snmp_writes_is_read);
	tcase_add_loop_test(tc, loose_values_are_read_as_net_snmp_does, 0, ARCS(loose));
	tcase_add_test(tc, a_loose_head_is_refused);
	tcase_add_loop_test(tc, spoilt_messages_read_the_same, 0, 8);
	return suite_run(suite);
}
