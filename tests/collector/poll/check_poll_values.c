/*
 * What answers of switches are read as: identities of LLDP in octets and as text, and the rows of SFLOW-MIB, as a switch may
 * send them and as none should.
 */
#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "collector/poll/poll_values.h"
#include "tests/suite.h"

#include <check.h>
#include <string.h>

#define LLDP(...) {1, 0, 8802, 1, 1, 2, 1, __VA_ARGS__}
#define SFLOW(...) {1, 3, 6, 1, 4, 1, 14706, 1, 1, __VA_ARGS__}
#define N(array) (sizeof(array) / sizeof((array)[0]))

static netsnmp_pdu *pdu;
static struct poll_answer answer;

static void
begin_answer(void)
{
	pdu = snmp_pdu_create(SNMP_MSG_RESPONSE);
	pdu->errstat = SNMP_ERR_NOERROR;
	memset(&answer, 0, sizeof(answer));
}

static void
read_answer(const struct poll_job *job)
{
	poll_read_answer(job, pdu, &answer);
	snmp_free_pdu(pdu);
}

static uint64_t
neighbour_of(const char *chassis, size_t n)
{
	const oid chassis_name[] = LLDP(4, 1, 1, 5, 0, 7, 1), port_name[] = LLDP(4, 1, 1, 7, 0, 7, 1);
	const struct poll_job job = {.parts = POLL_NEIGHBOURS};

	begin_answer();
	snmp_pdu_add_variable(pdu, chassis_name, N(chassis_name), ASN_OCTET_STR, chassis, n);
	snmp_pdu_add_variable(pdu, port_name, N(port_name), ASN_OCTET_STR, "Ethernet0", 9);
	read_answer(&job);
	ck_assert_int_eq(answer.verdict, POLL_ANSWERED);
	ck_assert_uint_eq(answer.n_neighbours, 1);
	ck_assert_uint_eq(answer.neighbours[0].local_port, 7);
	return answer.neighbours[0].remote;
}

/* What a switch says of itself, and what its neighbour heard. */
START_TEST(an_address_as_text_is_the_same_one)
{
	const oid name[] = LLDP(3, 2, 0);
	const struct poll_job job = {.parts = POLL_LOCAL_PORTS};
	uint64_t heard = neighbour_of("\2\0\xab\0\0\x09", 6);

	ck_assert_uint_eq(neighbour_of("02:00:ab:00:00:09", 17), heard);
	ck_assert_uint_eq(neighbour_of("02:00:AB:00:00:09", 17), heard);
	ck_assert_uint_ne(neighbour_of("02:00:ab:00:00:0g", 17), heard);
	ck_assert_uint_ne(neighbour_of("02-00-ab:00:00:09", 17), heard);
	ck_assert_uint_ne(neighbour_of("02:00:ab:00:00:0", 16), heard);
	begin_answer();
	snmp_pdu_add_variable(pdu, name, N(name), ASN_OCTET_STR, "02:00:ab:00:00:09", 17);
	read_answer(&job);
	ck_assert_uint_eq(answer.chassis, poll_text_hash("\2\0\xab\0\0\x09", 6));
}
END_TEST

static void
add_sampler(uint32_t column, uint32_t if_index, uint32_t instance, long value)
{
	const oid name[] = SFLOW(5, 1, column, 11, 1, 3, 6, 1, 2, 1, 2, 2, 1, 1, if_index, instance);

	snmp_pdu_add_variable(pdu, name, N(name), ASN_INTEGER, &value, sizeof(value));
}

START_TEST(samplers_are_read_in_their_order)
{
	const oid behind[] = SFLOW(5, 1, 4, 11, 1, 3, 6, 1, 2, 1, 2, 2, 1, 1, 1, 1);
	const struct poll_job job = {.parts = POLL_SFLOW_SAMPLERS}, after = {.parts = POLL_SFLOW_SAMPLERS, .cursor = {3, 1}};
	const long zero = 0;

	begin_answer();
	add_sampler(3, 3, 1, 2);
	add_sampler(4, 3, 1, 4096);
	add_sampler(3, 3, 2, 0);
	add_sampler(4, 3, 2, -5);
	snmp_pdu_add_variable(pdu, behind, N(behind), ASN_INTEGER, &zero, sizeof(zero)); /* the column has ended */
	read_answer(&job);
	ck_assert_int_eq(answer.verdict, POLL_ANSWERED);
	ck_assert(!answer.has_more);
	ck_assert_uint_eq(answer.n_samplers, 2);
	ck_assert(answer.samplers[0].if_index == 3 && answer.samplers[0].instance == 1 && answer.samplers[0].receiver == 2 &&
	    answer.samplers[0].rate == 4096);
	ck_assert(answer.samplers[1].instance == 2 && answer.samplers[1].receiver == 0 && answer.samplers[1].rate == 0);
	/* Rows that do not go on would never end. */
	begin_answer();
	add_sampler(3, 3, 1, 2);
	add_sampler(4, 3, 1, 4096);
	read_answer(&after);
	ck_assert_int_eq(answer.verdict, POLL_GARBAGE);
	/* Of two rows. */
	begin_answer();
	add_sampler(3, 4, 1, 2);
	add_sampler(4, 5, 1, 4096);
	read_answer(&after);
	ck_assert_int_eq(answer.verdict, POLL_GARBAGE);
}
END_TEST

START_TEST(receivers_and_who_has_them)
{
	const oid first[] = SFLOW(4, 1, 2, 1), second[] = SFLOW(4, 1, 2, 2), ninth[] = SFLOW(4, 1, 2, 9);
	const struct poll_job job = {.parts = POLL_SFLOW_RECEIVERS};

	begin_answer();
	snmp_pdu_add_variable(pdu, first, N(first), ASN_OCTET_STR, "sta\ntion", 8);
	snmp_pdu_add_variable(pdu, second, N(second), SNMP_NOSUCHINSTANCE, NULL, 0);
	read_answer(&job);
	ck_assert_int_eq(answer.verdict, POLL_ANSWERED);
	ck_assert(answer.receivers[0].is_there && !answer.receivers[1].is_there);
	ck_assert_str_ne(answer.receivers[0].owner, "sta\ntion"); /* what is no text is made one */
	begin_answer();
	snmp_pdu_add_variable(pdu, ninth, N(ninth), ASN_OCTET_STR, "x", 1);
	read_answer(&job);
	ck_assert_int_eq(answer.verdict, POLL_GARBAGE);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("poll_values");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, an_address_as_text_is_the_same_one);
	tcase_add_test(tests, samplers_are_read_in_their_order);
	tcase_add_test(tests, receivers_and_who_has_them);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
