/*
 * Notifications past the master: what a socket receives is read by Net-SNMP's own parser, and each
 * message has the octets that X.690 and RFC 3417 ask for; rate, refusals and several sinks by a
 * stepped clock. (tests/agent/snmp/check_direct.sh has snmptrapd and the collector receive them.)
 */
#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "agent/snmp/notify_standard.h"
#include "agent/snmp/trap_sinks.h"
#include "agent/snmp/usm.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct clock now = {.manual = true};
static const struct notify_source source = {{1, 2, 3, 4, 5, 6, 7, 200}, 0x80000001};
static struct trap_sinks *sinks;
static struct ease_notification notification;
static int listener;
static char here[32];
static uint8_t octets[TRAP_MESSAGE_ROOM];
static uint8_t frame[EASE_HEADER_MAX_OCTETS];

static int
listen_here(char address[32])
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, len), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	snprintf(address, 32, "127.0.0.1:%d", ntohs(a.sin_port));
	return fd;
}

static void
setup(void)
{
	now.manual_mono_us = 5000000;
	listener = listen_here(here);
}

static void
teardown(void)
{
	trap_sinks_destroy(sinks);
	sinks = NULL;
	close(listener);
}

static struct trap_sink
sink_to(char *address)
{
	return (struct trap_sink){.address = address, .community = (char *)"secret",
	    .user = (char *)"", .auth_passphrase = (char *)"", .priv_passphrase = (char *)"",
	    .max_per_s = 1000};
}

static void
create(const struct trap_sink *list, size_t n)
{
	char error[200];

	for (size_t i = 0; i < n; i++)
		ck_assert_ptr_null(trap_sink_check(&list[i]));
	ck_assert_msg(trap_sinks_create(list, n, &source, &now, &sinks, error, sizeof(error)) == 0,
	    "%s", error);
}

/* One sample and its port's snapshot, with values of every length that BER knows. */
static void
take_sample(uint32_t if_index, uint32_t sequence, uint16_t kept)
{
	struct ease_sample s = {.time_us = 1, .if_index = if_index, .sequence = sequence,
	    .direction = EASE_IN, .input_if = 3, .output_if = 4, .skip = 10, .mean_skip = 50,
	    .pool_pkts = 1000, .frame_octets = 1518, .kept_octets = kept, .header = frame};
	struct ease_snapshot snapshot = {.if_index = if_index, .pool_in_pkts = 1001};

	trap_wire_begin(&notification, EASE_NOTIFY_SAMPLES);
	ck_assert_int_eq(trap_wire_add_sample(&notification, &s, TRAP_WIRE_MESSAGE_MAX), 0);
	ck_assert_int_eq(trap_wire_add_snapshot(&notification, &snapshot, TRAP_WIRE_MESSAGE_MAX), 0);
}

static size_t
receive_at(int fd)
{
	ssize_t n = recv(fd, octets, sizeof(octets), MSG_DONTWAIT);

	return n < 0 ? 0 : (size_t)n;
}

/* ---- what it says ---- */

/* The PDU behind version and community, as Net-SNMP reads it. */
static netsnmp_pdu *
parse(size_t n)
{
	netsnmp_pdu *pdu = snmp_pdu_create(0);
	u_char community[64], type, *body;
	size_t left = n, community_len = sizeof(community);
	long version;

	body = snmp_comstr_parse(octets, &left, community, &community_len, &version);
	ck_assert_ptr_nonnull(body);
	ck_assert_int_eq(version, SNMP_VERSION_2c);
	ck_assert_uint_eq(community_len, 6);
	ck_assert_mem_eq(community, "secret", 6);
	type = *body;
	ck_assert_uint_eq(type, SNMP_MSG_TRAP2);
	ck_assert_int_eq(snmp_pdu_parse(pdu, body, &left), 0);
	return pdu;
}

static const netsnmp_variable_list *
expect_name(const netsnmp_variable_list *v, u_char type, const char *name)
{
	char text[256];
	size_t at = 0;

	ck_assert_ptr_nonnull(v);
	for (size_t i = 0; i < v->name_length; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, i ? ".%lu" : "%lu", v->name[i]);
	ck_assert_str_eq(text, name);
	ck_assert_uint_eq(v->type, type);
	return v;
}

#define EASE "1.3.6.1.4.1.8072.9999.9999.1."

static void
expect_agent(const netsnmp_variable_list *id)
{
	ck_assert_mem_eq(expect_name(id, ASN_OCTET_STR, EASE "1.1.1.0")->val.string, source.agent_id, 8);
	ck_assert_uint_eq(*expect_name(id->next_variable, ASN_UNSIGNED, EASE "1.1.2.0")->val.integer,
	    0x80000001);
}

START_TEST(net_snmp_reads_a_sample)
{
	const struct trap_sink sink = sink_to(here);
	const netsnmp_variable_list *v;
	struct ease_sample read;
	netsnmp_pdu *pdu;
	size_t n;

	create(&sink, 1);
	take_sample(INT32_MAX, UINT32_MAX - 1, (uint16_t)_i);
	now.manual_mono_us += 1234567;
	ck_assert_int_eq(trap_sinks_push(sinks, &notification), 0);
	n = receive_at(listener);
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_le(n, notification.message_octets);
	pdu = parse(n);
	v = expect_name(pdu->variables, ASN_TIMETICKS, "1.3.6.1.2.1.1.3.0");
	ck_assert_int_eq(*v->val.integer, 123);
	v = expect_name(v->next_variable, ASN_OBJECT_ID, "1.3.6.1.6.3.1.1.4.1.0");
	ck_assert_uint_eq(v->val.objid[v->val_len / sizeof(oid) - 1], EASE_NOTIFY_SAMPLES);
	expect_agent(v->next_variable);
	v = expect_name(v->next_variable->next_variable->next_variable, ASN_OCTET_STR,
	    EASE "1.3.1.1.3.2147483647.4294967294");
	ck_assert_int_eq(trap_wire_get_sample(v->val.string, v->val_len, &read), 0);
	ck_assert_uint_eq(read.kept_octets, _i);
	ck_assert_uint_eq(read.pool_pkts, 1000);
	v = expect_name(v->next_variable, ASN_OCTET_STR, EASE "1.3.2.1.1.2147483647");
	ck_assert_ptr_null(v->next_variable);
	ck_assert_int_eq(pdu->reqid, 1);
	snmp_free_pdu(pdu);
}
END_TEST

/* RFC 2819's risingAlarm, with an integer at each end and an OID as value; agent id and boot last. */
START_TEST(net_snmp_reads_a_standard_one)
{
	const struct mib_oid watched = MIB_OID(1, 3, 6, 1, 2, 1, 2, 2, 1, 10, UINT32_MAX);
	const struct notify_alarm alarm = {.index = 7, .variable = &watched, .sample_type = 2,
	    .value = INT32_MIN, .threshold = -129};
	const struct trap_sink sink = sink_to(here);
	const netsnmp_variable_list *v;
	netsnmp_pdu *pdu;

	create(&sink, 1);
	notify_alarm(&notification, true, &alarm);
	ck_assert_int_eq(trap_sinks_push(sinks, &notification), 0);
	pdu = parse(receive_at(listener));
	v = pdu->variables->next_variable->next_variable;
	v = expect_name(v, ASN_INTEGER, "1.3.6.1.2.1.16.3.1.1.1.7")->next_variable;
	v = expect_name(v, ASN_OBJECT_ID, "1.3.6.1.2.1.16.3.1.1.3.7");
	ck_assert_uint_eq(v->val.objid[10], UINT32_MAX);
	v = expect_name(v->next_variable, ASN_INTEGER, "1.3.6.1.2.1.16.3.1.1.4.7")->next_variable;
	ck_assert_int_eq(*expect_name(v, ASN_INTEGER, "1.3.6.1.2.1.16.3.1.1.5.7")->val.integer,
	    INT32_MIN);
	v = v->next_variable;
	ck_assert_int_eq(*expect_name(v, ASN_INTEGER, "1.3.6.1.2.1.16.3.1.1.7.7")->val.integer, -129);
	expect_agent(v->next_variable);
	snmp_free_pdu(pdu);
	notify_parts_changed(&notification); /* one without objects */
	ck_assert_int_eq(trap_sinks_push(sinks, &notification), 0);
	pdu = parse(receive_at(listener));
	expect_agent(pdu->variables->next_variable->next_variable);
	snmp_free_pdu(pdu);
}
END_TEST

/* RFC 3434's hcFallingAlarm: its objects in the module's order and types, at the ends of their ranges. */
START_TEST(net_snmp_reads_an_alarm_of_64_bits)
{
	const struct mib_oid watched = MIB_OID(1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 6, 7);
	const struct notify_hc_alarm alarm = {.index = 9, .variable = &watched, .sample_type = 2,
	    .value = {UINT64_MAX, true}, .threshold = {UINT64_MAX - 1, false}, .event = 65535};
	static const struct {
		const char *name;
		uint8_t type;
		int64_t number;
	} cells[] = {
	    {"1.3.6.1.2.1.16.29.1.1.1.1.4.9", ASN_INTEGER, 2},
	    {"1.3.6.1.2.1.16.29.1.1.1.1.5.9", ASN_COUNTER64, -1},
	    {"1.3.6.1.2.1.16.29.1.1.1.1.6.9", ASN_INTEGER, 3},
	    {"1.3.6.1.2.1.16.29.1.1.1.1.11.9", ASN_GAUGE, UINT32_MAX - 1},
	    {"1.3.6.1.2.1.16.29.1.1.1.1.12.9", ASN_GAUGE, UINT32_MAX},
	    {"1.3.6.1.2.1.16.29.1.1.1.1.13.9", ASN_INTEGER, 2},
	    {"1.3.6.1.2.1.16.29.1.1.1.1.15.9", ASN_INTEGER, 65535},
	};
	const struct trap_sink sink = sink_to(here);
	const netsnmp_variable_list *v;
	netsnmp_pdu *pdu;

	create(&sink, 1);
	notify_hc_alarm(&notification, false, &alarm);
	ck_assert_int_eq(trap_sinks_push(sinks, &notification), 0);
	pdu = parse(receive_at(listener));
	v = pdu->variables->next_variable;
	ck_assert_uint_eq(v->val.objid[v->val_len / sizeof(oid) - 3], 2); /* ….29.2.0.2 */
	ck_assert_uint_eq(v->val.objid[v->val_len / sizeof(oid) - 1], 2);
	v = expect_name(v->next_variable, ASN_OBJECT_ID, "1.3.6.1.2.1.16.29.1.1.1.1.3.9");
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		v = expect_name(v->next_variable, cells[i].type, cells[i].name);
		if (cells[i].type == ASN_COUNTER64)
			ck_assert(v->val.counter64->high == UINT32_MAX &&
			    v->val.counter64->low == UINT32_MAX);
		else
			ck_assert_int_eq(*v->val.integer & UINT32_MAX, cells[i].number);
	}
	expect_agent(v->next_variable);
	snmp_free_pdu(pdu);
}
END_TEST

/* X.690 section 8.3: the first nine bits are never all equal; 8.1.3: lengths as Net-SNMP reads
 * them. */
START_TEST(integers_have_the_fewest_octets)
{
	static const struct {
		int64_t value;
		size_t n;
		uint8_t octets[8];
	} cases[] = {
	    {0, 3, {2, 1, 0}}, {127, 3, {2, 1, 127}}, {128, 4, {2, 2, 0, 128}},
	    {-1, 3, {2, 1, 255}}, {-128, 3, {2, 1, 128}}, {-129, 4, {2, 2, 0xff, 0x7f}},
	    {65535, 5, {2, 3, 0, 255, 255}}, {INT32_MAX, 6, {2, 4, 0x7f, 255, 255, 255}},
	    {INT32_MIN, 6, {2, 4, 0x80, 0, 0, 0}}, {UINT32_MAX, 7, {2, 5, 0, 255, 255, 255, 255}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ber_writer w = ber_writer_of(octets, sizeof(octets));

		ber_put_integer(&w, BER_TAG_INTEGER, cases[i].value);
		ck_assert_uint_eq(ber_octets(&w), cases[i].n);
		ck_assert_mem_eq(w.data + w.at, cases[i].octets, cases[i].n);
	}
}
END_TEST

/* Whatever the room, nothing is written outside it; too little is told. */
START_TEST(a_message_needs_its_room)
{
	const struct trap_message m = {&notification, &source, 1, 2};
	uint8_t room[600];
	size_t whole = 0;

	take_sample(1, 1, 128);
	for (size_t size = sizeof(room); size > 0; size--) {
		struct ber_writer w = ber_writer_of(room, size);

		trap_message_put_v2c(&w, &m, "secret");
		if (size == sizeof(room))
			whole = ber_octets(&w);
		ck_assert_int_eq(w.failed, size < whole);
	}
	ck_assert_uint_gt(whole, 300);
}
END_TEST

/* ---- SNMPv3 ---- */

static struct trap_sink
v3_sink(int auth, int priv)
{
	struct trap_sink sink = sink_to(here);

	sink.community = (char *)"";
	sink.user = (char *)"switch";
	sink.auth_protocol = auth;
	sink.priv_protocol = priv;
	sink.auth_passphrase = (char *)"authentic words";
	sink.priv_passphrase = (char *)"private words";
	return sink;
}

/* Every protocol makes a message, none is like the one before, and nothing stands in clear. */
START_TEST(a_v3_message_is_made)
{
	static uint8_t before[TRAP_MESSAGE_ROOM];
	const struct trap_sink sink = v3_sink(_i / 3, _i % 3);
	static const uint8_t head[] = {0x80, 0x00, 0x1f, 0x88, 0x05, 1, 2, 3, 4, 5, 6, 7, 200};
	size_t n, again;

	create(&sink, 1);
	memset(frame, 0xa5, sizeof(frame));
	take_sample(1, 1, 200);
	ck_assert_int_eq(trap_sinks_push(sinks, &notification), 0);
	n = receive_at(listener);
	memcpy(before, octets, n);
	ck_assert_ptr_nonnull(memmem(octets, n, head, sizeof(head)));
	ck_assert_ptr_null(memmem(octets, n, frame, 8));
	ck_assert_int_eq(trap_sinks_push(sinks, &notification), 0);
	again = receive_at(listener);
	ck_assert_uint_eq(again, n);
	ck_assert_mem_ne(octets + n - 100, before + n - 100, 100);
}
END_TEST

/* ---- rate, refusals, several sinks ---- */

static uint64_t
counted(enum trap_sinks_stat which)
{
	return stat_get(trap_sinks_stats(sinks), which);
}

START_TEST(no_more_than_the_rate)
{
	struct trap_sink sink = sink_to(here);
	unsigned sent = 0;

	sink.max_per_s = 10000; /* a tenth of a second's worth is 1,000 */
	create(&sink, 1);
	take_sample(1, 1, 64);
	ck_assert_uint_eq(trap_sinks_wait_us(sinks, TRAP_SINK_BURST_MIN), 0);
	for (int i = 0; i < 1500; i++)
		sent += trap_sinks_push(sinks, &notification) == 0;
	ck_assert_uint_eq(sent, 1000);
	ck_assert_uint_eq(counted(TRAP_SINKS_OVER_RATE), 500);
	ck_assert_uint_eq(counted(TRAP_SINKS_SAMPLES_LOST), 500);
	ck_assert_uint_eq(trap_sinks_wait_us(sinks, 300), 30000);
	clock_step_us(&now, 30000);
	ck_assert_uint_eq(trap_sinks_wait_us(sinks, 300), 0);
	for (int i = 0; i < 400; i++)
		sent += trap_sinks_push(sinks, &notification) == 0;
	ck_assert_uint_eq(sent, 1300);
	clock_step_us(&now, 3600000000);
	for (int i = 0; i < 1500; i++) /* an hour of silence saves up no more */
		sent += trap_sinks_push(sinks, &notification) == 0;
	ck_assert_uint_eq(sent, 2300);
}
END_TEST

/* A broadcast address without SO_BROADCAST: the kernel refuses each datagram. */
START_TEST(what_one_sink_does_not_get_the_others_do)
{
	struct trap_sink list[] = {sink_to((char *)"255.255.255.255:162"), sink_to(here)};

	create(list, 2);
	take_sample(1, 1, 64);
	ck_assert_int_eq(trap_sinks_push(sinks, &notification), 0);
	ck_assert_uint_gt(receive_at(listener), 0);
	ck_assert_uint_eq(counted(TRAP_SINKS_SENT), 1);
	ck_assert_uint_eq(counted(TRAP_SINKS_KERNEL_REFUSED), 1);
	ck_assert_uint_eq(counted(TRAP_SINKS_SAMPLES_LOST), 1);
	trap_sinks_destroy(sinks);
	create(list, 1);
	ck_assert_int_eq(trap_sinks_push(sinks, &notification), -ENOBUFS);
}
END_TEST

START_TEST(a_host_that_does_not_listen)
{
	const struct trap_sink sink = sink_to(here);

	create(&sink, 1);
	take_sample(1, 1, 64);
	close(listener);
	for (int i = 0; i < 3; i++) /* told about the first at the second */
		ck_assert_int_eq(trap_sinks_push(sinks, &notification), 0);
	ck_assert_uint_gt(counted(TRAP_SINKS_UNREACHABLE), 0);
	listener = listen_here(here);
}
END_TEST

static void
ip(const char *arguments)
{
	char command[128];

	snprintf(command, sizeof(command), "ip %s", arguments);
	ck_assert_int_eq(system(command), 0);
}

/* The socket of a sink has the host's address of when it was connected. */
START_TEST(a_host_whose_address_changes)
{
	struct trap_sink sink = sink_to((char *)"192.0.2.9:162");
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	if (unshare(CLONE_NEWNET) < 0 || system("ip link add d0 type veth peer name d1") != 0) {
		printf("SKIP a host whose address changes: no network namespace\n");
		close(home);
		return;
	}
	ip("link set d1 up");
	ip("link set d0 up");
	create(&sink, 1);
	take_sample(1, 1, 64);
	ck_assert_int_eq(trap_sinks_push(sinks, &notification), -ENOBUFS); /* no way there yet */
	ip("addr add 192.0.2.1/24 dev d0");
	ck_assert_int_eq(trap_sinks_push(sinks, &notification), 0);
	ip("addr del 192.0.2.1/24 dev d0");
	ck_assert_int_eq(trap_sinks_push(sinks, &notification), -ENOBUFS);
	ip("addr add 192.0.2.2/24 dev d0");
	ck_assert_int_eq(trap_sinks_push(sinks, &notification), 0);
	ip("addr del 192.0.2.2/24 dev d0"); /* and another at once */
	ip("addr add 192.0.2.3/24 dev d0");
	ck_assert_int_eq(trap_sinks_push(sinks, &notification), 0);
	ck_assert_uint_eq(counted(TRAP_SINKS_SENT), 3);
	ck_assert_uint_eq(counted(TRAP_SINKS_KERNEL_REFUSED), 2);
	ck_assert_int_eq(setns(home, CLONE_NEWNET), 0);
	close(home);
}
END_TEST

static const char *
sender_of_next(void)
{
	static char text[INET_ADDRSTRLEN];
	struct sockaddr_in from;
	socklen_t len = sizeof(from);

	ck_assert_int_eq(trap_sinks_push(sinks, &notification), 0);
	ck_assert_int_gt(recvfrom(listener, octets, sizeof(octets), MSG_DONTWAIT, (struct sockaddr *)&from, &len), 0);
	return inet_ntop(AF_INET, &from.sin_addr, text, sizeof(text));
}

/* The old address is still there; the way there has another one since a VPN came up. */
START_TEST(a_host_that_gets_a_better_way)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(162), .sin_addr.s_addr = htonl(0xc0000209)};
	struct trap_sink sink = sink_to((char *)"192.0.2.9:162");
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), here_listener = listener;

	if (unshare(CLONE_NEWNET) < 0 || system("ip link set lo up") != 0) {
		printf("SKIP a host that gets a better way: no network namespace\n");
		close(home);
		return;
	}
	ip("addr add 192.0.2.9/32 dev lo");
	ip("addr add 192.0.2.1/32 dev lo");
	ip("addr add 192.0.2.2/32 dev lo");
	ip("route replace local 192.0.2.9 dev lo table local src 192.0.2.1");
	listener = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&to, sizeof(to)), 0);
	create(&sink, 1);
	take_sample(1, 1, 64);
	ck_assert_str_eq(sender_of_next(), "192.0.2.1");
	ip("route replace local 192.0.2.9 dev lo table local src 192.0.2.2");
	clock_step_us(&now, 10000000);
	ck_assert_str_eq(sender_of_next(), "192.0.2.2");
	close(listener);
	listener = here_listener;
	ck_assert_int_eq(setns(home, CLONE_NEWNET), 0);
	close(home);
}
END_TEST

START_TEST(a_slow_sink_and_a_dead_one_cost_the_others_nothing)
{
	char dead[32];
	struct trap_sink list[] = {sink_to(dead), sink_to(here), sink_to(here)};

	close(listen_here(dead));
	list[0].max_per_s = list[2].max_per_s = 10000;
	list[1].max_per_s = 1; /* and 512 at once */
	create(list, 3);
	take_sample(1, 1, 64);
	for (int i = 0; i < 2000; i++) {
		clock_step_us(&now, 100);
		ck_assert_int_eq(trap_sinks_push(sinks, &notification), 0);
		while (recv(listener, octets, sizeof(octets), MSG_DONTWAIT) > 0)
			;
	}
	ck_assert_uint_eq(counted(TRAP_SINKS_OVER_RATE), 2000 - TRAP_SINK_BURST_MIN);
	ck_assert_uint_eq(counted(TRAP_SINKS_SENT), 4000 + TRAP_SINK_BURST_MIN);
	ck_assert_uint_gt(counted(TRAP_SINKS_UNREACHABLE), 0);
	ck_assert_uint_eq(counted(TRAP_SINKS_KERNEL_REFUSED), 0);
}
END_TEST

START_TEST(sinks_are_checked)
{
	struct trap_sink sink = sink_to((char *)"192.0.2.1:162");

	ck_assert_ptr_null(trap_sink_check(&sink));
	sink.user = (char *)"both";
	ck_assert_ptr_nonnull(trap_sink_check(&sink));
	sink.community = (char *)"";
	ck_assert_ptr_nonnull(strstr(trap_sink_check(&sink), "auth_passphrase"));
	sink.auth_passphrase = (char *)"long enough";
	ck_assert_ptr_nonnull(strstr(trap_sink_check(&sink), "priv_passphrase"));
	sink.priv_passphrase = (char *)"long enough";
	ck_assert_ptr_null(trap_sink_check(&sink));
	sink.user = (char *)"";
	ck_assert_ptr_nonnull(trap_sink_check(&sink));
	sink.community = (char *)"c";
	sink.address = (char *)"collector:162";
	ck_assert_ptr_nonnull(trap_sink_check(&sink));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("trap sinks");
	TCase *tcase = tcase_create("messages");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, net_snmp_reads_a_sample, 14, EASE_HEADER_MAX_OCTETS + 1);
	tcase_add_test(tcase, net_snmp_reads_a_standard_one);
	tcase_add_test(tcase, net_snmp_reads_an_alarm_of_64_bits);
	tcase_add_test(tcase, integers_have_the_fewest_octets);
	tcase_add_test(tcase, a_message_needs_its_room);
	tcase_add_loop_test(tcase, a_v3_message_is_made, 0, 6 * 3);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("sinks");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, no_more_than_the_rate);
	tcase_add_test(tcase, what_one_sink_does_not_get_the_others_do);
	tcase_add_test(tcase, a_host_that_does_not_listen);
	tcase_add_test(tcase, a_host_whose_address_changes);
	tcase_add_test(tcase, a_host_that_gets_a_better_way);
	tcase_add_test(tcase, a_slow_sink_and_a_dead_one_cost_the_others_nothing);
	tcase_add_test(tcase, sinks_are_checked);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
