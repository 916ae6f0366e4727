/*
 * The sockets of the input, with merged datagrams and without: both families, ports that the system
 * chooses, more datagrams than one call reads, one that is too long, runs that the kernel merges,
 * and its drops when nobody reads. Skipped (77) on a machine without IPv6 loopback.
 */
#include "collector/input/receive.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103 /* linux/udp.h */
#endif

enum { ERROR_TEXT = 128, SMALL_BUFFER = 65536, FLOOD = 3000, FLOOD_OCTETS = 1000,
	SEGMENT = 1000, SEGMENTS = 20 };

struct seen {
	size_t n, octets;
	sa_family_t family;
};

static void
see(void *arg, const struct sockaddr *from, const void *octets, size_t n)
{
	struct seen *seen = arg;

	(void)octets;
	seen->n++;
	seen->octets += n;
	seen->family = from->sa_family;
}

static struct receiver *
open_on(const char *first, const char *second, bool merged)
{
	struct endpoint endpoints[2];
	struct receiver *r;
	const char *reason;
	char error[ERROR_TEXT];

	ck_assert_int_eq(endpoint_parse(first, &endpoints[0], &reason), 0);
	ck_assert_int_eq(endpoint_parse(second, &endpoints[1], &reason), 0);
	ck_assert_int_eq(receiver_open(&r, endpoints, 2, SMALL_BUFFER, merged, error,
	    sizeof(error)), 0);
	return r;
}

/* A socket that sends to where this one listens. */
static int
sender_to(const struct receiver *r, size_t socket_number)
{
	char text[ENDPOINT_TEXT];
	struct endpoint e;
	const char *reason;
	int fd;

	receiver_address(r, socket_number, text);
	ck_assert_msg(endpoint_parse(text, &e, &reason) == 0, "%s: %s", text, reason);
	fd = socket(e.address.ss_family, SOCK_DGRAM, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&e.address, e.len), 0);
	return fd;
}

/* Reads once; datagrams too long. */
static size_t
read_once(struct receiver *r, size_t socket_number, bool merged, struct seen *seen)
{
	struct receive_batch *b;
	size_t oversize, before = seen->n;
	int n;

	ck_assert_int_eq(receive_batch_new(&b, merged), 0);
	n = receiver_fill(r, socket_number, b);
	oversize = receive_each(b, see, seen);
	ck_assert_int_eq(n, (int)(seen->n - before + oversize));
	receive_batch_free(b);
	return oversize;
}

START_TEST(both_families_and_more_than_a_batch)
{
	static const sa_family_t families[] = {AF_INET, AF_INET6};
	const unsigned batch = _i ? RECEIVE_MERGED_BATCH : RECEIVE_BATCH;
	struct receiver *r = open_on("127.0.0.1:0", "[::1]:0", _i);

	for (size_t s = 0; s < 2; s++) {
		int fd = sender_to(r, s);
		struct seen seen = {0};

		for (int i = 0; i < (int)batch + 3; i++)
			ck_assert_int_eq(send(fd, "hello", 5, 0), 5);
		ck_assert_uint_eq(read_once(r, s, _i, &seen), 0);
		ck_assert_uint_eq(seen.n, batch);
		ck_assert_uint_eq(read_once(r, s, _i, &seen), 0);
		ck_assert_uint_eq(read_once(r, s, _i, &seen), 0); /* nothing: no wait */
		ck_assert_uint_eq(seen.n, batch + 3);
		ck_assert_uint_eq(seen.octets, 5 * (batch + 3));
		ck_assert_int_eq(seen.family, families[s]);
		close(fd);
	}
	ck_assert_uint_eq(receiver_drops(r), 0);
	receiver_close(r);
}
END_TEST

START_TEST(too_long_is_counted_and_not_given)
{
	static uint8_t octets[RECEIVE_DATAGRAM_MAX + 1];
	struct receiver *r = open_on("127.0.0.1:0", "[::1]:0", _i);
	struct seen seen = {0};
	int fd = sender_to(r, 0);

	ck_assert_int_eq(send(fd, octets, sizeof(octets), 0), (ssize_t)sizeof(octets));
	ck_assert_int_eq(send(fd, octets, sizeof(octets) - 1, 0), (ssize_t)sizeof(octets) - 1);
	ck_assert_uint_eq(read_once(r, 0, _i, &seen), 1);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_uint_eq(seen.octets, RECEIVE_DATAGRAM_MAX);
	close(fd);
	receiver_close(r);
}
END_TEST

/* n octets as datagrams of SEGMENT, in one call; false: the kernel cannot. */
static bool
send_run(int fd, const uint8_t *octets, size_t n)
{
	union {
		struct cmsghdr header;
		uint8_t octets[CMSG_SPACE(sizeof(uint16_t))];
	} control = {0};
	struct iovec v = {(void *)octets, n};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
	    .msg_controllen = sizeof(control)};
	const uint16_t segment = SEGMENT;

	control.header.cmsg_level = IPPROTO_UDP;
	control.header.cmsg_type = UDP_SEGMENT;
	control.header.cmsg_len = CMSG_LEN(sizeof(segment));
	memcpy(CMSG_DATA(&control.header), &segment, sizeof(segment));
	return sendmsg(fd, &m, 0) == (ssize_t)n;
}

/* Of a run each datagram is seen, the last one shorter, and what is dropped counts as many. */
START_TEST(runs_are_taken_apart)
{
	static uint8_t octets[SEGMENTS * SEGMENT];
	struct receiver *r = open_on("127.0.0.1:0", "[::1]:0", _i);
	struct seen seen = {0};
	int fd = sender_to(r, 0);
	size_t before, sent = SEGMENTS;

	if (send_run(fd, octets, sizeof(octets) - 1)) {
		ck_assert_uint_eq(read_once(r, 0, _i, &seen), 0);
		ck_assert_uint_eq(seen.n, SEGMENTS);
		ck_assert_uint_eq(seen.octets, sizeof(octets) - 1);
		for (int i = 0; i < FLOOD; i++, sent += SEGMENTS)
			send_run(fd, octets, sizeof(octets));
		do {
			before = seen.n;
			ck_assert_uint_eq(read_once(r, 0, _i, &seen), 0);
		} while (seen.n > before);
		ck_assert_uint_lt(seen.n, sent);
		ck_assert_uint_eq(seen.n + receiver_drops(r), sent);
	}
	close(fd);
	receiver_close(r);
}
END_TEST

START_TEST(the_kernels_drops_are_known)
{
	static uint8_t octets[FLOOD_OCTETS];
	struct receiver *r = open_on("127.0.0.1:0", "[::1]:0", _i);
	struct seen seen = {0};
	uint64_t drops = 0;
	size_t before;
	int fd = sender_to(r, 0);

	for (int round = 0; round < 2; round++) { /* the count goes on, it is not taken twice */
		for (int i = 0; i < FLOOD; i++)
			send(fd, octets, sizeof(octets), 0);
		do {
			before = seen.n;
			ck_assert_uint_eq(read_once(r, 0, _i, &seen), 0);
		} while (seen.n > before);
		drops += receiver_drops(r); /* nothing came after the last one dropped */
		ck_assert_uint_eq(seen.n + drops, (round + 1u) * FLOOD);
		ck_assert_uint_eq(receiver_drops(r), 0);
	}
	ck_assert_uint_gt(drops, 0);
	close(fd);
	receiver_close(r);
}
END_TEST

START_TEST(an_address_that_is_taken_is_named)
{
	struct receiver *r = open_on("127.0.0.1:0", "[::1]:0", false), *second;
	char text[ENDPOINT_TEXT], error[ERROR_TEXT];
	struct endpoint e;
	const char *reason;

	receiver_address(r, 1, text);
	ck_assert_int_eq(endpoint_parse(text, &e, &reason), 0);
	ck_assert_int_eq(receiver_open(&second, &e, 1, SMALL_BUFFER, false, error, sizeof(error)),
	    -EADDRINUSE);
	ck_assert_msg(strstr(error, text) != NULL, "%s", error);
	receiver_close(r);
}
END_TEST

static bool
has_ipv6(void)
{
	struct endpoint e;
	const char *reason;
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);
	bool has;

	endpoint_parse("[::1]:0", &e, &reason);
	has = fd >= 0 && bind(fd, (struct sockaddr *)&e.address, e.len) == 0;
	if (fd >= 0)
		close(fd);
	return has;
}

int
main(void)
{
	Suite *suite = suite_create("receive");
	TCase *tc = tcase_create("receive");

	if (!has_ipv6()) {
		puts("skipped: no IPv6 loopback");
		return 77;
	}
	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, both_families_and_more_than_a_batch, 0, 2);
	tcase_add_loop_test(tc, too_long_is_counted_and_not_given, 0, 2);
	tcase_add_loop_test(tc, runs_are_taken_apart, 0, 2);
	tcase_add_loop_test(tc, the_kernels_drops_are_known, 0, 2);
	tcase_add_test(tc, an_address_that_is_taken_is_named);
	return suite_run(suite);
}
