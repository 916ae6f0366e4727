/*
 * The stream between the master's socket and Net-SNMP, over a socket pair: what passes, what is
 * refused, dropped, or ends it, PDU by PDU (written by agentx_wire, from RFC 2741), in pieces of any
 * length, in both byte orders; and how its end is told when something is half done.
 */
#include "agent/snmp/master_link.h"
#include "tests/agent/snmp/agentx_wire.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SESSION = 77, PACKET = 1000, ANSWER_US = 1500 };

static const uint32_t a_name[] = {1, 3, 6, 1, 2, 1, 2, 1, 0};
#define A_NAME a_name, sizeof(a_name) / sizeof(a_name[0])

static struct clock fake_time;
static struct master_link *stream;
static int ends[2]; /* ours, the master's */
static struct agentx_pdu pdu;
static uint8_t got[AGENTX_PDU_OCTETS_MAX];

static void
setup(void)
{
	fake_time = (struct clock){.manual = true, .manual_mono_us = 1};
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert_int_eq(master_link_create(&fake_time, 1, &stream), 0);
	master_link_open(stream, ends[0]);
}

static void
teardown(void)
{
	master_link_destroy(stream);
	close(ends[0]);
	close(ends[1]);
}

static uint64_t
counted(enum master_link_stat which)
{
	return stat_get(master_link_stats(stream), which);
}

static void
begin(uint8_t type, uint32_t session, uint32_t packet, bool big)
{
	const struct agentx_header h = {.version = 1, .type = type, .session = session,
	    .packet = packet, .transaction = 5, .flags = big ? AGENTX_BIG_ENDIAN : 0};

	agentx_begin(&pdu, &h);
}

static void
to_agent(void)
{
	agentx_end(&pdu);
	ck_assert_int_eq(write(ends[1], pdu.octets, pdu.n), (ssize_t)pdu.n);
}

/* As the library would, of its own accord or in answer. */
static void
from_agent(uint8_t type, uint32_t packet)
{
	begin(type, SESSION, packet, false);
	if (type == AGENTX_RESPONSE) {
		agentx_put_u32(&pdu, 0);
		agentx_put_u32(&pdu, 0);
	}
	agentx_end(&pdu);
	master_link_write(stream, pdu.octets, pdu.n);
}

static ssize_t
library_reads(void)
{
	return master_link_read(stream, got, sizeof(got));
}

static void
respond(uint32_t session, uint32_t packet, uint16_t error)
{
	begin(AGENTX_RESPONSE, session, packet, packet % 2);
	agentx_put_u32(&pdu, 4711);
	agentx_put_u16(&pdu, error);
	agentx_put_u16(&pdu, 0);
	to_agent();
}

/* The next PDU that the master receives: its type, its packet and, of a Response, the error. */
static uint8_t
master_hears(uint32_t *packet, unsigned *error)
{
	static uint8_t octets[4096];
	struct agentx_header h;
	struct agentx_reader r;

	ck_assert_int_eq(recv(ends[1], octets, AGENTX_HEADER_OCTETS, MSG_DONTWAIT), AGENTX_HEADER_OCTETS);
	agentx_read(octets, AGENTX_HEADER_OCTETS, &h);
	ck_assert_uint_lt(h.payload_octets, sizeof(octets) - AGENTX_HEADER_OCTETS);
	if (h.payload_octets > 0)
		ck_assert_int_eq(recv(ends[1], octets + AGENTX_HEADER_OCTETS, h.payload_octets, MSG_DONTWAIT),
		    (ssize_t)h.payload_octets);
	r = agentx_read(octets, AGENTX_HEADER_OCTETS + h.payload_octets, &h);
	agentx_get_u32(&r);
	*error = h.type == AGENTX_RESPONSE ? agentx_get_u16(&r) : 0;
	*packet = h.packet;
	return h.type;
}

static void
expect_refused(uint32_t packet, unsigned error)
{
	uint32_t of;
	unsigned is;

	ck_assert_int_eq(library_reads(), 0);
	ck_assert_uint_eq(master_hears(&of, &is), AGENTX_RESPONSE);
	ck_assert_uint_eq(of, packet);
	ck_assert_uint_eq(is, error);
	ck_assert(!master_link_is_over(stream));
}

static void
open_session(void)
{
	uint32_t packet;
	unsigned error;

	from_agent(AGENTX_OPEN, 1);
	ck_assert_uint_eq(master_hears(&packet, &error), AGENTX_OPEN);
	respond(SESSION, 1, 0);
	ck_assert_int_eq(library_reads(), AGENTX_PDU_RESPONSE_OCTETS);
}

static void
put_get(uint32_t packet, bool big)
{
	begin(AGENTX_GET, SESSION, packet, big);
	agentx_put_range(&pdu, A_NAME, false, NULL, 0);
}

static void
expect_over(void)
{
	ck_assert_int_eq(library_reads(), -1);
	ck_assert(master_link_is_over(stream));
}

/* ---- what passes ---- */

START_TEST(good_requests_pass_as_they_are)
{
	open_session();
	for (unsigned big = 0; big < 2; big++) {
		put_get(PACKET + big, big);
		to_agent();
		ck_assert_int_eq(library_reads(), (ssize_t)pdu.n);
		ck_assert_mem_eq(got, pdu.octets, pdu.n);
		fake_time.manual_mono_us += ANSWER_US;
		from_agent(AGENTX_RESPONSE, PACKET + big);
	}
	ck_assert_uint_eq(counted(MASTER_ANSWERS), 2);
	ck_assert_uint_eq(counted(MASTER_SLOWEST_US), ANSWER_US);
}
END_TEST

START_TEST(a_pdu_in_pieces_is_given_as_a_whole)
{
	open_session();
	put_get(PACKET, true);
	agentx_end(&pdu);
	for (size_t i = 0; i < pdu.n; i++) {
		ck_assert_int_eq(library_reads(), 0);
		ck_assert_int_eq(write(ends[1], pdu.octets + i, 1), 1);
	}
	ck_assert_int_eq(library_reads(), (ssize_t)pdu.n);
	ck_assert_mem_eq(got, pdu.octets, pdu.n);
}
END_TEST

START_TEST(what_is_whole_passes_and_the_rest_waits)
{
	ssize_t n;

	open_session();
	put_get(PACKET, false);
	to_agent();
	put_get(PACKET + 1, false);
	to_agent();
	n = (ssize_t)pdu.n;
	ck_assert_int_eq(write(ends[1], pdu.octets, 30), 30);
	ck_assert_int_eq(library_reads(), 2 * n);
	ck_assert_int_eq(library_reads(), 0);
	ck_assert_int_eq(write(ends[1], pdu.octets + 30, pdu.n - 30), n - 30);
	ck_assert_int_eq(library_reads(), n);
}
END_TEST

/* ---- what does not ---- */

START_TEST(requests_of_another_session_are_refused)
{
	put_get(PACKET, false); /* before there is one */
	to_agent();
	expect_refused(PACKET, 257);
	open_session();
	begin(AGENTX_GET, SESSION + 1, PACKET, true);
	agentx_put_range(&pdu, A_NAME, false, NULL, 0);
	to_agent();
	expect_refused(PACKET, 257);
}
END_TEST

START_TEST(malformed_requests_are_refused)
{
	open_session();
	put_get(PACKET, false);
	pdu.n -= 4; /* half a range */
	to_agent();
	expect_refused(PACKET, 266);

	put_get(PACKET + 1, true);
	pdu.octets[AGENTX_HEADER_OCTETS] = 255; /* more subids than there are octets */
	to_agent();
	expect_refused(PACKET + 1, 266);

	begin(AGENTX_TEST_SET, SESSION, PACKET + 2, false);
	agentx_put_u32(&pdu, 99); /* no such type */
	agentx_put_oid(&pdu, A_NAME, false);
	to_agent();
	expect_refused(PACKET + 2, 266);

	begin(AGENTX_TEST_SET, SESSION, PACKET + 3, false);
	agentx_put_u32(&pdu, 4);
	agentx_put_oid(&pdu, A_NAME, false);
	agentx_put_u32(&pdu, UINT32_MAX); /* a string's length */
	to_agent();
	expect_refused(PACKET + 3, 266);

	begin(AGENTX_COMMIT_SET, SESSION, PACKET + 4, false);
	agentx_put_u32(&pdu, 0);
	to_agent();
	expect_refused(PACKET + 4, 266);
	ck_assert_uint_eq(counted(MASTER_REFUSED), 5);
}
END_TEST

START_TEST(there_is_the_default_context_alone)
{
	const struct agentx_header h = {.version = 1, .type = AGENTX_GET, .session = SESSION,
	    .packet = PACKET, .flags = 0x08};

	open_session();
	agentx_begin(&pdu, &h);
	agentx_put_u32(&pdu, 8);
	agentx_put_u32(&pdu, 0x61006161); /* a NUL in it */
	agentx_put_u32(&pdu, 0x61616161);
	agentx_put_range(&pdu, A_NAME, false, NULL, 0);
	to_agent();
	expect_refused(PACKET, 262);
}
END_TEST

START_TEST(a_request_that_is_too_long_is_refused_and_the_stream_goes_on)
{
	static uint8_t octets[4096];
	size_t left;

	open_session();
	begin(AGENTX_GET_NEXT, SESSION, PACKET, false);
	while (pdu.n < 100000)
		agentx_put_range(&pdu, A_NAME, false, NULL, 0);
	agentx_end(&pdu);
	for (left = pdu.n; left > sizeof(octets); left -= sizeof(octets)) {
		ck_assert_int_eq(write(ends[1], pdu.octets + pdu.n - left, sizeof(octets)), sizeof(octets));
		if (left == pdu.n)
			expect_refused(PACKET, 5);
		else
			ck_assert_int_eq(library_reads(), 0);
	}
	ck_assert_int_eq(write(ends[1], pdu.octets + pdu.n - left, left), (ssize_t)left);
	put_get(PACKET + 1, false);
	to_agent();
	ck_assert_int_eq(library_reads(), (ssize_t)pdu.n);
}
END_TEST

/* Net-SNMP 5.9 would take a request of the same number for the answer, and use what is not there. */
START_TEST(a_request_numbered_as_what_is_awaited_is_refused)
{
	uint32_t packet;
	unsigned error;

	open_session();
	from_agent(13, PACKET); /* Ping */
	ck_assert_uint_eq(master_hears(&packet, &error), 13);
	put_get(PACKET, false);
	to_agent();
	expect_refused(PACKET, 5);
	respond(SESSION, PACKET, 0);
	ck_assert_int_eq(library_reads(), AGENTX_PDU_RESPONSE_OCTETS);
	put_get(PACKET, false);
	to_agent();
	ck_assert_int_eq(library_reads(), (ssize_t)pdu.n);
}
END_TEST

START_TEST(what_no_master_sends_is_dropped)
{
	static const uint8_t types[] = {0, 1, 3, 4, 12, 13, 14, 15, 16, 17, 19, 255};

	open_session();
	for (size_t i = 0; i < sizeof(types); i++) {
		begin(types[i], SESSION, PACKET, i % 2);
		to_agent();
		ck_assert_int_eq(library_reads(), 0);
	}
	respond(SESSION + 1, PACKET, 0);
	ck_assert_int_eq(library_reads(), 0);
	ck_assert_uint_eq(counted(MASTER_DROPPED), sizeof(types) + 1);
	ck_assert(!master_link_is_over(stream));
}
END_TEST

/* ---- what ends it ---- */

START_TEST(a_stream_out_of_step_ends)
{
	open_session();
	put_get(PACKET, false);
	agentx_end(&pdu);
	if (_i == 0)
		pdu.octets[0] = 2;
	else
		memset(pdu.octets + 16, 0xff, 4); /* the length */
	ck_assert_int_eq(write(ends[1], pdu.octets, pdu.n), (ssize_t)pdu.n);
	expect_over();
	ck_assert_uint_eq(counted(MASTER_BROKEN), 1);
}
END_TEST

START_TEST(a_malformed_response_ends_it)
{
	open_session();
	begin(AGENTX_RESPONSE, SESSION, PACKET, false);
	agentx_put_u32(&pdu, 0); /* no error */
	to_agent();
	expect_over();
	ck_assert_uint_eq(counted(MASTER_BROKEN), 1);
}
END_TEST

START_TEST(a_close_ends_it)
{
	open_session();
	begin(AGENTX_CLOSE, SESSION, PACKET, false);
	agentx_put_u32(&pdu, 0);
	to_agent();
	expect_over();
}
END_TEST

START_TEST(a_phase_of_set_out_of_turn_ends_it)
{
	open_session();
	begin(AGENTX_TEST_SET, SESSION, PACKET, false);
	to_agent();
	ck_assert_int_gt(library_reads(), 0);
	begin(AGENTX_CLEANUP_SET, SESSION, PACKET + 1, false);
	to_agent();
	ck_assert_int_eq(library_reads(), 0); /* the library is at the TestSet still */
	ck_assert(master_link_is_over(stream));
	from_agent(AGENTX_RESPONSE, PACKET);
	expect_over();
}
END_TEST

/* ---- how the end is told ---- */

START_TEST(an_end_answers_what_is_awaited)
{
	static const uint8_t types[] = {AGENTX_OPEN, AGENTX_REGISTER, 13, AGENTX_CLOSE};
	struct agentx_reader r;
	struct agentx_header h;

	if (_i > 0)
		open_session();
	from_agent(types[_i], PACKET);
	close(ends[1]);
	ends[1] = dup(ends[0]);
	ck_assert_int_eq(library_reads(), AGENTX_PDU_RESPONSE_OCTETS);
	r = agentx_read(got, AGENTX_PDU_RESPONSE_OCTETS, &h);
	ck_assert_uint_eq(h.type, AGENTX_RESPONSE);
	ck_assert_uint_eq(h.packet, PACKET);
	ck_assert_uint_eq(agentx_get_u32(&r), _i > 0 ? 4711 : 0);
	ck_assert_uint_eq(agentx_get_u16(&r), types[_i] == AGENTX_CLOSE ? 0 : 268);
	ck_assert_uint_eq(counted(MASTER_CUT_OFF), types[_i] != AGENTX_CLOSE);
	from_agent(AGENTX_REGISTER, PACKET + 1); /* and what the library goes on to ask */
	ck_assert_int_eq(library_reads(), AGENTX_PDU_RESPONSE_OCTETS);
	expect_over();
}
END_TEST

START_TEST(an_end_waits_for_requests_half_done)
{
	open_session();
	put_get(PACKET, false);
	to_agent();
	close(ends[1]);
	ends[1] = dup(ends[0]);
	ck_assert_int_eq(library_reads(), (ssize_t)pdu.n);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_int_eq(library_reads(), 0);
	from_agent(AGENTX_RESPONSE, PACKET);
	expect_over();
}
END_TEST

START_TEST(but_not_for_ever)
{
	unsigned turns = 0;

	open_session();
	put_get(PACKET, false);
	to_agent();
	ck_assert_int_gt(library_reads(), 0);
	close(ends[1]);
	ends[1] = dup(ends[0]);
	while (library_reads() == 0)
		ck_assert_uint_lt(++turns, 100);
	expect_over();
}
END_TEST

START_TEST(one_that_does_not_read_is_given_up)
{
	unsigned n = 0;

	open_session();
	while (!master_link_is_over(stream) && ++n < 1000000)
		from_agent(AGENTX_RESPONSE, PACKET + n);
	ck_assert_uint_eq(counted(MASTER_STALLED), 1);
	expect_over();
	master_link_write(stream, pdu.octets, pdu.n); /* and what comes after goes nowhere */
}
END_TEST

START_TEST(one_that_does_not_answer_is_given_up)
{
	open_session();
	from_agent(AGENTX_REGISTER, PACKET);
	from_agent(AGENTX_REGISTER, PACKET + 1); /* the library has waited long enough */
	ck_assert_uint_eq(counted(MASTER_SILENT), 1);
	ck_assert_int_eq(library_reads(), AGENTX_PDU_RESPONSE_OCTETS);
	expect_over();
}
END_TEST

START_TEST(a_new_stream_begins_anew)
{
	open_session();
	put_get(PACKET, false);
	to_agent();
	ck_assert_int_gt(library_reads(), 0);
	ck_assert_int_eq(write(ends[1], pdu.octets, 10), 10);
	ck_assert_int_eq(library_reads(), 0);
	close(ends[0]);
	close(ends[1]);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	master_link_open(stream, ends[0]);
	open_session();
	put_get(PACKET, false);
	to_agent();
	ck_assert_int_eq(library_reads(), (ssize_t)pdu.n);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("master_link");
	TCase *tcase = tcase_create("stream");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, good_requests_pass_as_they_are);
	tcase_add_test(tcase, a_pdu_in_pieces_is_given_as_a_whole);
	tcase_add_test(tcase, what_is_whole_passes_and_the_rest_waits);
	tcase_add_test(tcase, requests_of_another_session_are_refused);
	tcase_add_test(tcase, malformed_requests_are_refused);
	tcase_add_test(tcase, there_is_the_default_context_alone);
	tcase_add_test(tcase, a_request_that_is_too_long_is_refused_and_the_stream_goes_on);
	tcase_add_test(tcase, a_request_numbered_as_what_is_awaited_is_refused);
	tcase_add_test(tcase, what_no_master_sends_is_dropped);
	tcase_add_loop_test(tcase, a_stream_out_of_step_ends, 0, 2);
	tcase_add_test(tcase, a_malformed_response_ends_it);
	tcase_add_test(tcase, a_close_ends_it);
	tcase_add_test(tcase, a_phase_of_set_out_of_turn_ends_it);
	tcase_add_loop_test(tcase, an_end_answers_what_is_awaited, 0, 4);
	tcase_add_test(tcase, an_end_waits_for_requests_half_done);
	tcase_add_test(tcase, but_not_for_ever);
	tcase_add_test(tcase, one_that_does_not_read_is_given_up);
	tcase_add_test(tcase, one_that_does_not_answer_is_given_up);
	tcase_add_test(tcase, a_new_stream_begins_anew);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
