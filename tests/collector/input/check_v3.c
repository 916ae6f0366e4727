/*
 * SNMPv3 in the collector, with messages that Net-SNMP's library builds and reads in the same
 * process: informs to our own engine are answered with the same bindings, or with tooBig if the
 * sender accepts no message of that length; other messages are accepted, or refused with the right
 * verdict; and engine times are kept.
 */
#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "collector/input/netsnmp_reader.h"
#include "collector/input/v3.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ENGINE "0x80001f880401020304"

enum { MESSAGE_MAX = 9000 };

static const uint8_t engine_id[] = {0x80, 0x00, 0x1f, 0x88, 0x04, 1, 2, 3, 4};

/* One for all tests, because each start of the library leaks a little memory. */
static struct fixture {
	char dir[64], file[80];
	struct clock clock;
	struct v3 *v3;
	uint8_t own_id[V3_ENGINE_ID_MAX];
	size_t n_own_id;
} f;

static void
open_fixture(void)
{
	static const char *const engine_ids[] = {ENGINE};
	static const struct v3_user user = {.name = "switch", .engine_ids = engine_ids,
	    .n_engine_ids = 1, .auth_protocol = "SHA-256", .auth_passphrase = "authentic words",
	    .priv_protocol = "AES", .priv_passphrase = "private words"};
	char error[256] = "", text[2 + 2 * V3_ENGINE_ID_MAX + 1];
	FILE *file;

	f = (struct fixture){.clock = {.manual = true, .manual_mono_us = 1}};
	snprintf(f.dir, sizeof(f.dir), "/tmp/check_v3.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(f.dir));
	snprintf(f.file, sizeof(f.file), "%s/engine", f.dir);
	netsnmp_reader_open();
	ck_assert_msg(v3_open(&f.v3, &user, 1, f.file, &f.clock, error, sizeof(error)) == 0,
	    "%s", error);
	file = fopen(f.file, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%66s", text), 1);
	fclose(file);
	f.n_own_id = v3_engine_id_parse(text, f.own_id);
	ck_assert_uint_gt(f.n_own_id, 0);
}

static void
close_fixture(void)
{
	v3_close(f.v3);
	netsnmp_reader_close();
	unlink(f.file);
	rmdir(f.dir);
}

/* A message to our own engine of linkUp and a string of that many octets, as a sender writes it
 * whose messages may have so many octets. */
static size_t
build(int command, int level, size_t string, long takes_octets,
    uint8_t octets[MESSAGE_MAX])
{
	static const oid trap_oid[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0};
	static const oid link_up[] = {1, 3, 6, 1, 6, 3, 1, 1, 5, 4};
	static const oid up_time[] = {1, 3, 6, 1, 2, 1, 1, 3, 0}, name[] = {1, 3, 6, 1, 4, 1, 1};
	static uint8_t text[MESSAGE_MAX];
	netsnmp_pdu *pdu = snmp_pdu_create(command);
	size_t room = MESSAGE_MAX, n = 0;
	u_char *packet = malloc(room);
	netsnmp_session s;
	u_long ticks = 66;

	snmp_sess_init(&s);
	s.version = pdu->version = SNMP_VERSION_3;
	s.rcvMsgMaxSize = s.sndMsgMaxSize = takes_octets;
	pdu->securityModel = SNMP_SEC_MODEL_USM;
	pdu->securityLevel = level;
	pdu->securityName = strdup("switch");
	pdu->securityNameLen = strlen("switch");
	pdu->securityEngineID = netsnmp_memdup(f.own_id, f.n_own_id);
	pdu->securityEngineIDLen = f.n_own_id;
	pdu->contextEngineID = netsnmp_memdup(f.own_id, f.n_own_id);
	pdu->contextEngineIDLen = f.n_own_id;
	pdu->contextName = strdup("");
	snmp_pdu_add_variable(pdu, up_time, OID_LENGTH(up_time), ASN_TIMETICKS, &ticks,
	    sizeof(ticks));
	snmp_pdu_add_variable(pdu, trap_oid, OID_LENGTH(trap_oid), ASN_OBJECT_ID, link_up,
	    sizeof(link_up));
	snmp_pdu_add_variable(pdu, name, OID_LENGTH(name), ASN_OCTET_STR, text, string);
	ck_assert_int_eq(snmp_build(&packet, &room, &n, &s, pdu), 0);
	memcpy(octets, packet + room - n, n); /* written backwards */
	free(packet);
	snmp_free_pdu(pdu);
	return n;
}

/* The answer as its receiver reads it. */
static netsnmp_pdu *
read_answer(struct v3_message *m)
{
	netsnmp_pdu *pdu = snmp_pdu_create(0);
	size_t n = m->n_answer;
	netsnmp_session s;

	snmp_sess_init(&s);
	s.version = SNMP_VERSION_3;
	ck_assert_int_eq(snmpv3_parse(pdu, m->answer, &n, NULL, &s), SNMPERR_SUCCESS);
	return pdu;
}

static size_t
bindings_of(const netsnmp_pdu *pdu)
{
	size_t n = 0;

	for (const netsnmp_variable_list *v = pdu->variables; v; v = v->next_variable)
		n++;
	return n;
}

/* RFC 3416 section 4.2.7: the response, or if the sender could not take it tooBig without
 * bindings. */
static const struct {
	size_t string;
	long takes_octets;
	bool too_big;
} sizes[] = {{10, 1500, false}, {10, 484, false}, {1000, 1500, false}, {1200, 1484, false},
    {1000, 484, true}, {484, 484, true}, {1400, 1484, true}};

START_TEST(an_inform_is_answered_by_what_its_sender_takes)
{
	static struct v3_message m;
	uint8_t octets[MESSAGE_MAX];
	netsnmp_pdu *answer;
	size_t n;

	n = build(SNMP_MSG_INFORM, SNMP_SEC_LEVEL_AUTHPRIV, sizes[_i].string,
	    sizes[_i].takes_octets, octets);
	for (int again = 0; again < 2; again++) { /* as if the first answer was lost */
		ck_assert_int_eq(v3_take(f.v3, octets, n, &m), V3_INFORM);
		ck_assert_uint_gt(m.n_varbinds, sizes[_i].string);
		ck_assert_uint_gt(m.n_answer, 0);
		ck_assert_uint_le(m.n_answer, (size_t)sizes[_i].takes_octets);
		answer = read_answer(&m);
		ck_assert_int_eq(answer->command, SNMP_MSG_RESPONSE);
		ck_assert_int_eq((int32_t)answer->reqid, m.request_id);
		ck_assert_int_eq(answer->errstat,
		    sizes[_i].too_big ? SNMP_ERR_TOOBIG : SNMP_ERR_NOERROR);
		ck_assert_uint_eq(bindings_of(answer), sizes[_i].too_big ? 0 : 3);
		ck_assert_int_eq(answer->securityLevel, SNMP_SEC_LEVEL_AUTHPRIV);
		snmp_free_pdu(answer);
	}
}
END_TEST

START_TEST(every_octet_counts)
{
	static struct v3_message m;
	uint8_t octets[MESSAGE_MAX];
	size_t n;

	n = build(SNMP_MSG_INFORM, SNMP_SEC_LEVEL_AUTHPRIV, 10, 1500, octets);
	for (size_t i = 0; i < n; i++) { /* the digest is over all of it */
		octets[i] ^= 1;
		ck_assert_msg(v3_take(f.v3, octets, n, &m) > V3_INFORM, "octet %zu", i);
		ck_assert_uint_eq(m.n_varbinds, 0);
		octets[i] ^= 1;
	}
	for (size_t cut = 0; cut < n; cut++)
		ck_assert_int_eq(v3_take(f.v3, octets, cut, &m), V3_BAD_PARSE);
	ck_assert_int_eq(v3_take(f.v3, octets, n, &m), V3_INFORM);
	n = build(SNMP_MSG_INFORM, SNMP_SEC_LEVEL_AUTHNOPRIV, 10, 1500, octets);
	ck_assert_int_eq(v3_take(f.v3, octets, n, &m), V3_BAD_LEVEL);
	n = build(SNMP_MSG_GET, SNMP_SEC_LEVEL_AUTHPRIV, 10, 1500, octets);
	ck_assert_int_eq(v3_take(f.v3, octets, n, &m), V3_BAD_PDU);
	n = build(SNMP_MSG_TRAP2, SNMP_SEC_LEVEL_AUTHPRIV, 10, 1500, octets);
	ck_assert_int_eq(v3_take(f.v3, octets, n, &m), V3_BAD_PDU); /* a trap's engine is not ours */
}
END_TEST

START_TEST(what_is_kept_of_engines)
{
	struct v3_engine_time heard = {.n_engine_id = sizeof(engine_id), .boots = 3, .time_s = 70};

	ck_assert_uint_eq(v3_engines(f.v3), 1);
	memcpy(heard.engine_id, engine_id, sizeof(engine_id));
	v3_restore_engine(f.v3, &heard);
	heard.engine_id[4] = 5; /* of a user that there is not any more */
	v3_restore_engine(f.v3, &heard);
	ck_assert(!v3_next_engine(f.v3, &heard)); /* a restored time is not a change */
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("v3");
	TCase *tc = tcase_create("v3");

	setenv("MIBS", "", 1);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_unchecked_fixture(tc, open_fixture, close_fixture);
	tcase_add_loop_test(tc, an_inform_is_answered_by_what_its_sender_takes, 0,
	    sizeof(sizes) / sizeof(sizes[0]));
	tcase_add_test(tc, every_octet_counts);
	tcase_add_test(tc, what_is_kept_of_engines);
	return suite_run(suite);
}
