/*
 * The agent's sFlow, received from a socket: fields, pool, drops, forms, packing, counters, and
 * what happens when the kernel refuses. (tests/e2e/check_sflow.sh has tshark and sfcapd read it.)
 */
#include "agent/sampling/sflow_export.h"
#include "common/sflow_wire.h"
#include "common/udp_out.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct clock now = {.manual = true};
static struct sflow_export *e;
static int listener;
static char collector[32];
static uint8_t octets[9216];
static struct sflow_datagram datagram;
static unsigned lost_samples;
static uint8_t frame[200] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 8, 0};

static void
lost(void *ctx, uint32_t if_index, unsigned n)
{
	(void)ctx;
	ck_assert_uint_eq(if_index, 3);
	lost_samples += n;
}

static void
create(const char *to, const char *agent_address)
{
	char text[64], *one = text;
	struct sflow_export_options options = {.collectors = &one, .n_collectors = 1, .agent_address = agent_address,
	    .clock = &now, .lost = lost};
	char error[200];

	snprintf(text, sizeof(text), "%s", to);
	ck_assert_msg(sflow_export_create(&options, &e, error, sizeof(error)) == 0, "%s", error);
}

static void
setup(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t len = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, len), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	snprintf(collector, sizeof(collector), "127.0.0.1:%d", ntohs(address.sin_port));
	now.manual_mono_us = 5000000;
	lost_samples = 0;
	create(collector, "");
}

static void
teardown(void)
{
	sflow_export_destroy(e);
	close(listener);
}

static struct ease_sample
sample(uint32_t sequence)
{
	return (struct ease_sample){.time_us = 1, .if_index = 3, .sequence = sequence,
	    .direction = EASE_IN, .input_if = 3, .output_if = 4, .skip = 10, .mean_skip = 50,
	    .pool_pkts = 1000, .frame_octets = 300, .kept_octets = 128, .header = frame};
}

static const struct ease_snapshot snapshot = {.if_index = 3, .pool_in_pkts = 1001,
    .pool_out_pkts = 0x100000007ull};

/* False if nothing came. */
static bool
receive(void)
{
	ssize_t n = recv(listener, octets, sizeof(octets), MSG_DONTWAIT);

	if (n < 0)
		return false;
	ck_assert_int_le(n, SFLOW_DATAGRAM_DEFAULT);
	ck_assert_int_eq(sflow_open(&datagram, octets, (size_t)n), SFLOW_OK);
	return true;
}

static struct sflow_sample
next(void)
{
	struct sflow_sample s;

	ck_assert_int_eq(sflow_next(&datagram, &s), SFLOW_OK);
	return s;
}

static struct sflow_flow
sent(const struct ease_sample *s)
{
	struct sflow_flow f;

	sflow_export_sample(e, s, &snapshot);
	sflow_export_flush(e);
	ck_assert(receive());
	f = next().flow;
	return f;
}

START_TEST(test_a_received_frame)
{
	struct ease_sample s = sample(1);
	struct sflow_flow f;

	now.manual_mono_us += 1234000;
	ck_assert(!sflow_export_waits(e));
	sflow_export_sample(e, &s, &snapshot);
	ck_assert(sflow_export_waits(e));
	ck_assert(!receive());
	sflow_export_flush(e);
	ck_assert(!sflow_export_waits(e));
	ck_assert(receive());
	ck_assert_uint_eq(datagram.sequence, 1);
	ck_assert_uint_eq(datagram.uptime_ms, 1234);
	ck_assert_mem_eq(datagram.agent.address, "\x7f\0\0\1", 4);
	f = next().flow;
	ck_assert(!f.expanded);
	ck_assert_uint_eq(f.sequence, 1);
	ck_assert_uint_eq(f.source.class, 0);
	ck_assert_uint_eq(f.source.index, 3);
	ck_assert_uint_eq(f.rate, 50);
	ck_assert_uint_eq(f.pool_pkts, 1007); /* both directions, 32 bits of it */
	ck_assert_uint_eq(f.drops, 0);
	ck_assert_uint_eq(f.input.value, 3);
	ck_assert_uint_eq(f.output.value, 4);
	ck_assert_uint_eq(f.frame_octets, 300);
	ck_assert_uint_eq(f.stripped_octets, 4);
	ck_assert_uint_eq(f.kept_octets, 128);
	ck_assert_mem_eq(f.header, frame, 128);
	ck_assert(!f.has_switch);
}
END_TEST

/* The records as sFlow.org publishes them, octet by octet; they stand last. */
START_TEST(test_the_way_through_a_chip)
{
	static const uint8_t records[] = {0, 0, 4, 12, 0, 0, 0, 4, 0, 0, 0, 6, /* egress queue */
	    0, 0, 4, 15, 0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff,		       /* transit delay: more */
	    0, 0, 4, 16, 0, 0, 0, 4, 0, 1, 0x86, 0xa0,			       /* queue depth */
	    0, 0, 4, 19, 0, 0, 0, 8, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}; /* timestamp */
	struct ease_sample s = sample(1);
	struct sflow_flow f;

	s.way = &(struct ease_way){EASE_WAY_QUEUE | EASE_WAY_DEPTH | EASE_WAY_DELAY | EASE_WAY_TIME, .queue = 6,
	    .depth_octets = 100000, .delay_ns = 5000000000ull, .time_ns = 0x1122334455667788ull};
	sflow_export_sample(e, &s, &snapshot);
	sflow_export_flush(e);
	ck_assert(receive());
	f = next().flow;
	ck_assert_mem_eq(f.header, frame, 128);
	ck_assert_mem_eq(f.header + 128, records, sizeof(records));
	s = sample(2);
	s.way = &(struct ease_way){.known = EASE_WAY_DELAY, .delay_ns = 1500};
	f = sent(&s);
	ck_assert_mem_eq(f.header + 128, "\0\0\4\17\0\0\0\4\0\0\5\xdc", 12);
}
END_TEST

START_TEST(test_a_sent_frame)
{
	struct ease_sample s = sample(1);
	struct sflow_flow f;

	s.direction = EASE_OUT;
	s.input_if = EASE_IF_UNKNOWN;
	s.output_if = EASE_IF_MANY + 5;
	f = sent(&s);
	ck_assert_uint_eq(f.input.value, 0);
	ck_assert_uint_eq(f.output.format, SFLOW_IF_INDEX);
	ck_assert_uint_eq(f.output.value, 3);
	ck_assert_uint_eq(f.pool_pkts, 2001);
}
END_TEST

/* Of each direction its samples tell more than a snapshot of a moment ago, until they count anew. */
START_TEST(test_the_pool_between_snapshots)
{
	struct ease_sample in = sample(1), out = sample(2);

	out.direction = EASE_OUT;
	out.pool_pkts = 0x100000030ull;
	ck_assert_uint_eq(sent(&in).pool_pkts, 1000 + 7);
	ck_assert_uint_eq(sent(&out).pool_pkts, 0x30 + 1001);
	in = sample(3);
	in.pool_pkts = 1040;
	ck_assert_uint_eq(sent(&in).pool_pkts, 1040 + 0x30);
	out.sequence = 4;
	out.pool_pkts += 5;
	ck_assert_uint_eq(sent(&out).pool_pkts, 0x35 + 1040);
	in.sequence = 5;
	in.pool_pkts = 10;
	ck_assert_uint_eq(sent(&in).pool_pkts, 10 + 7);
}
END_TEST

START_TEST(test_many_outputs)
{
	struct ease_sample s = sample(1);
	struct sflow_flow f;

	s.output_if = EASE_IF_MANY + 5;
	f = sent(&s);
	ck_assert_uint_eq(f.output.format, SFLOW_IF_MANY);
	ck_assert_uint_eq(f.output.value, 5);
}
END_TEST

START_TEST(test_vlan_of_the_frame)
{
	struct ease_sample s = sample(1);
	struct sflow_flow f;

	memcpy(frame + 12, "\x81\0\x60\x2a\x08\0", 6);
	f = sent(&s);
	memcpy(frame + 12, "\x08\0\0\0\0\0", 6);
	ck_assert(f.has_switch);
	ck_assert_uint_eq(f.src_vlan, 42);
	ck_assert_uint_eq(f.src_priority, 3);
	ck_assert_uint_eq(f.dst_vlan, 42);
}
END_TEST

START_TEST(test_a_large_index_is_expanded)
{
	struct ease_sample s = sample(1);
	struct sflow_flow f;

	s.if_index = s.input_if = 0x1000000;
	f = sent(&s);
	ck_assert(f.expanded);
	ck_assert_uint_eq(f.source.index, 0x1000000);
	ck_assert_uint_eq(f.input.value, 0x1000000);
}
END_TEST

START_TEST(test_packing)
{
	unsigned per_datagram[3] = {0}, n = 0;

	for (uint32_t i = 1; i <= 15; i++) {
		struct ease_sample s = sample(i);

		sflow_export_sample(e, &s, &snapshot);
	}
	sflow_export_flush(e);
	for (uint32_t sequence = 1; receive(); sequence++) {
		struct sflow_sample s;

		ck_assert_uint_eq(datagram.sequence, sequence);
		while (sflow_next(&datagram, &s) == SFLOW_OK)
			ck_assert_uint_eq(s.flow.sequence, ++n);
		per_datagram[sequence - 1] = n;
	}
	ck_assert_uint_eq(n, 15);
	ck_assert_uint_eq(per_datagram[0], 7); /* 28 + 7 * 192 octets */
	ck_assert_uint_eq(per_datagram[1], 14);
	ck_assert_uint_eq(stat_get(sflow_export_stats(e), SFLOW_EXPORT_SAMPLES), 15);
	ck_assert_uint_eq(stat_get(sflow_export_stats(e), SFLOW_EXPORT_DATAGRAMS), 3);
}
END_TEST

START_TEST(test_smallest_headers)
{
	unsigned n = 0;

	for (uint32_t i = 1; i <= 100; i++) {
		struct ease_sample s = sample(i);

		s.kept_octets = EASE_HEADER_MIN_OCTETS;
		sflow_export_sample(e, &s, &snapshot);
	}
	sflow_export_flush(e);
	while (receive())
		n += datagram.n_samples;
	ck_assert_uint_eq(n, 100);
}
END_TEST

START_TEST(test_numbers_that_never_came)
{
	struct ease_sample s = sample(1);

	ck_assert_uint_eq(sent(&s).drops, 0);
	s.sequence = 5;
	ck_assert_uint_eq(sent(&s).drops, 3);
}
END_TEST

static struct hal_port
port(void)
{
	struct hal_port p = {.if_index = 3, .if_type = 6, .speed_bps = 1000000000,
	    .admin_status = EASE_IF_UP, .oper_status = EASE_IF_DOWN, .duplex = EASE_DUPLEX_HALF};

	for (int i = 0; i < HAL_N_FIGURES; i++)
		p.counters.value[i] = 0x500000000ull + (uint64_t)i;
	p.counters.known = ~0ull & ~(1ull << HAL_IN_MCAST_PKTS | 1ull << HAL_DEFERRED);
	return p;
}

START_TEST(test_counters)
{
	struct hal_port p = port();
	struct sflow_counters c;

	sflow_export_counters(e, &p);
	sflow_export_counters(e, &p);
	p.discontinuity_us = 99; /* the counters began again, so do their numbers */
	p.lag_parent = 900;
	sflow_export_counters(e, &p);
	sflow_export_flush(e);
	ck_assert(receive());
	c = next().counters;
	ck_assert_uint_eq(c.sequence, 1);
	ck_assert_uint_eq(c.source.index, 3);
	ck_assert_uint_eq(c.interface.if_index, 3);
	ck_assert_uint_eq(c.interface.if_type, 6);
	ck_assert_uint_eq(c.interface.speed_bps, 1000000000);
	ck_assert_uint_eq(c.interface.direction, 2);
	ck_assert_uint_eq(c.interface.status, SFLOW_STATUS_ADMIN_UP);
	ck_assert_uint_eq(c.interface.in_octets, 0x500000000ull + HAL_IN_OCTETS);
	ck_assert_uint_eq(c.interface.in_ucast_pkts, HAL_IN_UCAST_PKTS);
	ck_assert_uint_eq(c.interface.in_mcast_pkts, SFLOW_UNKNOWN32);
	ck_assert_uint_eq(c.interface.out_errors, HAL_OUT_ERRORS);
	ck_assert_uint_eq(c.ethernet.alignment_errors, HAL_ALIGNMENT_ERRORS);
	ck_assert_uint_eq(c.ethernet.deferred, SFLOW_UNKNOWN32);
	ck_assert_uint_eq(c.ethernet.symbol_errors, HAL_SYMBOL_ERRORS);
	ck_assert_uint_eq(c.aggregate, 0);
	ck_assert_uint_eq(next().counters.sequence, 2);
	c = next().counters;
	ck_assert_uint_eq(c.sequence, 1);
	ck_assert_uint_eq(c.aggregate, 900);
}
END_TEST

/* A broadcast address without SO_BROADCAST: the kernel refuses each datagram. */
START_TEST(test_what_the_kernel_refuses)
{
	struct ease_sample s = sample(1);

	sflow_export_destroy(e);
	create("255.255.255.255:6343", "192.0.2.1");
	sflow_export_sample(e, &s, &snapshot);
	s.sequence++;
	sflow_export_sample(e, &s, &snapshot);
	sflow_export_flush(e);
	ck_assert_uint_eq(stat_get(sflow_export_stats(e), SFLOW_EXPORT_KERNEL_REFUSED), 1);
	ck_assert_uint_eq(stat_get(sflow_export_stats(e), SFLOW_EXPORT_SAMPLES_LOST), 2);
	ck_assert_uint_eq(stat_get(sflow_export_stats(e), SFLOW_EXPORT_SAMPLES), 0);
	ck_assert_uint_eq(lost_samples, 2);
}
END_TEST

/* Nobody listens: each datagram leaves all the same, also the one after the refusal. */
START_TEST(test_nobody_listens)
{
	struct ease_sample s = sample(1);

	close(listener);
	for (; s.sequence <= 4; s.sequence++) {
		sflow_export_sample(e, &s, &snapshot);
		sflow_export_flush(e);
	}
	listener = dup(STDERR_FILENO);
	ck_assert_uint_eq(stat_get(sflow_export_stats(e), SFLOW_EXPORT_DATAGRAMS), 4);
	ck_assert_uint_ge(stat_get(sflow_export_stats(e), SFLOW_EXPORT_UNREACHABLE), 1);
	ck_assert_uint_eq(lost_samples, 0);
}
END_TEST

/* One of three cannot be sent to: the others have each datagram with the same number, and nothing is lost. */
START_TEST(test_several_collectors)
{
	char broadcast[] = "255.255.255.255:6343", none[] = "", *to[] = {broadcast, none, collector, collector};
	struct sflow_export_options options = {.collectors = to, .n_collectors = 4, .clock = &now, .lost = lost,
	    .agent_address = "192.0.2.1"};
	struct ease_sample s = sample(1);
	char error[200];

	sflow_export_destroy(e);
	ck_assert_int_eq(sflow_export_create(&options, &e, error, sizeof(error)), 0);
	for (; s.sequence <= 2; s.sequence++) {
		sflow_export_sample(e, &s, &snapshot);
		sflow_export_flush(e);
		for (int i = 0; i < 2; i++) {
			ck_assert(receive());
			ck_assert_uint_eq(datagram.sequence, s.sequence);
			ck_assert_uint_eq(next().flow.sequence, s.sequence);
		}
		ck_assert(!receive());
	}
	ck_assert_uint_eq(stat_get(sflow_export_stats(e), SFLOW_EXPORT_DATAGRAMS), 4);
	ck_assert_uint_eq(stat_get(sflow_export_stats(e), SFLOW_EXPORT_KERNEL_REFUSED), 2);
	ck_assert_uint_eq(stat_get(sflow_export_stats(e), SFLOW_EXPORT_SAMPLES), 2);
	ck_assert_uint_eq(stat_get(sflow_export_stats(e), SFLOW_EXPORT_SAMPLES_LOST), 0);
	ck_assert_uint_eq(lost_samples, 0);
}
END_TEST

START_TEST(test_agent_address)
{
	struct ease_sample s = sample(1);

	sflow_export_destroy(e);
	create(collector, "2001:db8::5");
	sent(&s);
	ck_assert_uint_eq(datagram.agent.type, SFLOW_ADDRESS_IP6);
	ck_assert_mem_eq(datagram.agent.address, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\5", 16);
}
END_TEST

START_TEST(test_options)
{
	static const char *const good[] = {"", "127.0.0.1:6343", "[::1]:6343", "[fe80::1%lo]:6343"};
	static const char *const bad[] = {"127.0.0.1", "::1:6343", "host:6343", "127.0.0.1:0",
	    "127.0.0.1:", ":6343", "[::1]", "127.0.0.1:x", "[fe80::1]:6343", "[fe80::1%nowhere]:6343", "[fe80::1%]:6343"};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_ptr_null(udp_out_check(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(udp_out_check(bad[i]) != NULL, "%s", bad[i]);
	ck_assert_ptr_null(sflow_export_check_address("192.0.2.1"));
	ck_assert_ptr_nonnull(sflow_export_check_address("192.0.2"));
}
END_TEST

/* ---- dropped packets ---- */

static struct ease_drop
drop_at(uint32_t if_index, const char *detail, const char *place, const char *group)
{
	return (struct ease_drop){.if_index = if_index, .reason = 265, .detail = detail, .place = place, .group = group,
	    .frame_octets = 300, .kept_octets = 61, .header = frame};
}

static bool
is_text(const struct sflow_text *text, const char *must_be)
{
	return text->n == strlen(must_be) && memcmp(text->octets, must_be, text->n) == 0;
}

START_TEST(test_drops_are_events_of_their_port)
{
	struct ease_drop by_kernel = drop_at(3, "QDISC_DROP", "__dev_queue_xmit", "");
	struct ease_drop by_chip = drop_at(0, "ingress_vlan_filter", "", "l2_drops");
	struct sflow_sample s;

	sflow_export_drop(e, &by_kernel);
	sflow_export_drops_untold(e, 3, 41);
	sflow_export_drops_untold(e, 0, 7);
	sflow_export_drop(e, &by_kernel);
	sflow_export_drop(e, &by_chip);
	sflow_export_flush(e);
	ck_assert(receive());
	s = next();
	ck_assert_int_eq(s.kind, SFLOW_DISCARD);
	ck_assert_uint_eq(s.flow.sequence, 1);
	ck_assert_uint_eq(s.flow.drops, 0);
	ck_assert_uint_eq(s.flow.source.index, 3);
	ck_assert_uint_eq(s.flow.input.value, 3);
	ck_assert_uint_eq(s.flow.reason, 265);
	ck_assert_uint_eq(s.flow.frame_octets, 300);
	ck_assert_uint_eq(s.flow.kept_octets, 61);
	ck_assert_mem_eq(s.flow.header, frame, 61);
	ck_assert(is_text(&s.discard.cause, "QDISC_DROP") && is_text(&s.discard.function, "__dev_queue_xmit"));
	ck_assert_uint_eq(s.discard.trap.n + s.discard.group.n, 0);
	s = next();
	ck_assert_uint_eq(s.flow.sequence, 2);
	ck_assert_uint_eq(s.flow.drops, 41);
	s = next();
	ck_assert_uint_eq(s.flow.sequence, 1);
	ck_assert_uint_eq(s.flow.source.class + s.flow.source.index + s.flow.input.value, 0);
	ck_assert_uint_eq(s.flow.drops, 7);
	ck_assert(is_text(&s.discard.trap, "ingress_vlan_filter") && is_text(&s.discard.group, "l2_drops"));
	ck_assert_uint_eq(s.discard.cause.n + s.discard.function.n, 0);
	ck_assert_uint_eq(stat_get(sflow_export_stats(e), SFLOW_EXPORT_DISCARDS), 3);
}
END_TEST

START_TEST(test_drops_fill_datagrams)
{
	char longest[200];
	struct ease_drop drop;
	unsigned n = 0;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	drop = drop_at(3, longest, longest, "");
	drop.kept_octets = sizeof(frame);
	for (unsigned i = 0; i < 40; i++)
		sflow_export_drop(e, &drop);
	sflow_export_flush(e);
	while (receive())
		for (struct sflow_sample s; sflow_next(&datagram, &s) == SFLOW_OK; n++) {
			ck_assert_uint_eq(s.flow.sequence, n + 1);
			ck_assert_uint_eq(s.discard.cause.n, SFLOW_TEXT_MAX);
			ck_assert_uint_eq(s.discard.function.n, SFLOW_TEXT_MAX);
		}
	ck_assert_uint_eq(n, 40);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("sflow_export");
	TCase *tc = tcase_create("sflow_export");

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_a_received_frame);
	tcase_add_test(tc, test_the_way_through_a_chip);
	tcase_add_test(tc, test_a_sent_frame);
	tcase_add_test(tc, test_the_pool_between_snapshots);
	tcase_add_test(tc, test_many_outputs);
	tcase_add_test(tc, test_vlan_of_the_frame);
	tcase_add_test(tc, test_a_large_index_is_expanded);
	tcase_add_test(tc, test_packing);
	tcase_add_test(tc, test_smallest_headers);
	tcase_add_test(tc, test_numbers_that_never_came);
	tcase_add_test(tc, test_counters);
	tcase_add_test(tc, test_what_the_kernel_refuses);
	tcase_add_test(tc, test_nobody_listens);
	tcase_add_test(tc, test_several_collectors);
	tcase_add_test(tc, test_agent_address);
	tcase_add_test(tc, test_options);
	tcase_add_test(tc, test_drops_are_events_of_their_port);
	tcase_add_test(tc, test_drops_fill_datagrams);
	return suite_run(suite);
}
