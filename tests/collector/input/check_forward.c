/*
 * Sending sFlow on: every datagram comes unchanged and in order at each receiver; what came just before is not sent
 * again, so that a circle of collectors ends; what the ring has no room for is counted, and sent and counted are all;
 * a receiver that does not listen costs the others nothing; receivers change while datagrams pass.
 */
#include "collector/input/forward.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WAIT_MS = 10000, LONGEST = 9216 };

static struct clock stepped = {.manual = true, .manual_mono_us = 1000000000, .manual_wall_us = 1700000000000000};

struct station {
	int fd;
	char text[32]; /* its address */
};

static struct station
station_new(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	struct station s = {.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
	int room = 8 << 20;

	ck_assert_int_eq(bind(s.fd, (struct sockaddr *)&at, len), 0);
	ck_assert_int_eq(getsockname(s.fd, (struct sockaddr *)&at, &len), 0);
	if (setsockopt(s.fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) < 0)
		setsockopt(s.fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	snprintf(s.text, sizeof(s.text), "127.0.0.1:%u", ntohs(at.sin_port));
	return s;
}

/* The next datagram; -1 when none came. */
static ssize_t
next_at(const struct station *s, void *octets, size_t size, int wait_ms)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};

	return poll(&p, 1, wait_ms) > 0 ? recv(s->fd, octets, size, 0) : -1;
}

static struct forward *
forward_to(const struct station *stations, size_t n)
{
	const char *texts[FORWARD_RECEIVERS_MAX];
	struct forward *f;

	for (size_t i = 0; i < n; i++)
		texts[i] = stations[i].text;
	ck_assert_int_eq(forward_new(&f, 42, &stepped), 0);
	ck_assert_int_eq(forward_set(f, texts, n), 0);
	return f;
}

static uint64_t
count(const struct forward *f, enum forward_stat_id id)
{
	return stat_get(forward_stats(f), id);
}

/* A switch by its number. */
static const struct sockaddr *
sender(uint32_t number)
{
	static struct sockaddr_in at;

	at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a000000 + number)};
	return (const struct sockaddr *)&at;
}

static uint64_t
not_queued(const struct forward *f)
{
	return count(f, FORWARD_STAT_QUEUE_FULL) + count(f, FORWARD_STAT_OVER_SHARE);
}

/* Datagram number i: its length and octets tell which it is. */
static size_t
make_datagram(uint8_t *octets, uint32_t i)
{
	size_t n = i % 97 == 0 ? LONGEST : 28 + i * 7919 % 1400;

	memset(octets, (int)(i % 251), n);
	memcpy(octets, &i, sizeof(i));
	return n;
}

START_TEST(each_comes_unchanged_and_in_order_at_each_receiver)
{
	struct station stations[2] = {station_new(), station_new()};
	struct forward *f = forward_to(stations, 2);
	uint8_t sent[LONGEST], got[LONGEST + 1];

	/* three times round the ring, in portions that the sockets' buffers hold */
	for (uint32_t i = 0; i < 30000;) {
		uint32_t first = i;

		for (; i < first + 100; i++)
			forward_put(f, sender(1), sent, make_datagram(sent, i));
		for (uint32_t k = first; k < i; k++)
			for (int s = 0; s < 2; s++) {
				size_t n = make_datagram(sent, k);

				ck_assert_int_eq(next_at(&stations[s], got, sizeof(got), WAIT_MS), (ssize_t)n);
				ck_assert_mem_eq(got, sent, n);
			}
	}
	while (count(f, FORWARD_STAT_SENT) < 60000) /* the last is counted after it is sent */
		ck_assert_int_ge(poll(NULL, 0, 1), 0); /* check's own limit ends it */
	ck_assert_uint_eq(count(f, FORWARD_STAT_SENT), 60000);
	ck_assert_uint_eq(not_queued(f) + count(f, FORWARD_STAT_AGAIN), 0);
	forward_free(f);
	close(stations[0].fd);
	close(stations[1].fd);
}
END_TEST

/* What a receiver sends back, as a collector does that forwards to us, goes on no more. */
START_TEST(a_circle_ends)
{
	struct station station = station_new();
	struct forward *f = forward_to(&station, 1);
	uint8_t octets[64] = "sflow", got[64];

	forward_put(f, sender(1), octets, sizeof(octets));
	ck_assert_int_eq(next_at(&station, got, sizeof(got), WAIT_MS), sizeof(got));
	forward_put(f, sender(1), got, sizeof(got));
	octets[63] = 1; /* another one */
	forward_put(f, sender(1), octets, sizeof(octets));
	ck_assert_int_eq(next_at(&station, got, sizeof(got), WAIT_MS), sizeof(got));
	ck_assert_int_eq(got[63], 1);
	ck_assert_uint_eq(count(f, FORWARD_STAT_AGAIN), 1);
	stepped.manual_mono_us += FORWARD_AGAIN_US;
	forward_put(f, sender(1), octets, sizeof(octets));
	ck_assert_int_eq(next_at(&station, got, sizeof(got), WAIT_MS), sizeof(got));
	forward_free(f);
	close(station.fd);
}
END_TEST

START_TEST(what_has_no_room_is_counted)
{
	struct station station = station_new();
	struct forward *f = forward_to(&station, 1);
	static uint8_t octets[LONGEST];
	const uint32_t n = 200000;

	for (uint32_t i = 0; i < n; i++)
		forward_put(f, sender(i), octets, make_datagram(octets, i));
	while (count(f, FORWARD_STAT_SENT) + count(f, FORWARD_STAT_KERNEL_REFUSED) + not_queued(f) < n)
		ck_assert_int_ge(poll(NULL, 0, 1), 0); /* check's own limit ends it */
	ck_assert_uint_eq(count(f, FORWARD_STAT_SENT) + count(f, FORWARD_STAT_KERNEL_REFUSED) + not_queued(f), n);
	ck_assert_uint_gt(count(f, FORWARD_STAT_QUEUE_FULL), 0); /* four times the ring at once */
	forward_free(f);
	close(station.fd);
}
END_TEST

/* Three that flood, and beside them one that sends a thousandth, less than its share in all: none of its datagrams is left out. */
START_TEST(who_floods_is_cut_and_no_other)
{
	struct station station = station_new();
	struct forward *f = forward_to(&station, 1);
	static uint8_t octets[LONGEST];

	for (uint32_t i = 0; i < 200000; i++) {
		uint64_t before = not_queued(f);

		forward_put(f, sender(i % 1000 == 0 ? 1 : 2 + i % 3), octets, make_datagram(octets, i));
		if (i % 1000 == 0)
			ck_assert_uint_eq(not_queued(f), before);
	}
	ck_assert_uint_gt(count(f, FORWARD_STAT_OVER_SHARE), 0);
	ck_assert_uint_eq(count(f, FORWARD_STAT_QUEUE_FULL), 0);
	forward_free(f);
	close(station.fd);
}
END_TEST

START_TEST(who_does_not_listen_costs_the_others_nothing)
{
	struct station stations[2] = {station_new(), station_new()};
	struct forward *f = forward_to(stations, 2);
	uint8_t octets[LONGEST], got[LONGEST];

	close(stations[0].fd); /* from here on its host answers that nobody listens */
	for (uint32_t i = 1; i < 500; i++) {
		forward_put(f, sender(1), octets, make_datagram(octets, i));
		ck_assert_int_gt(next_at(&stations[1], got, sizeof(got), WAIT_MS), 0);
		ck_assert_mem_eq(got, &i, sizeof(i));
	}
	ck_assert_uint_gt(count(f, FORWARD_STAT_UNREACHABLE), 0);
	forward_free(f);
	close(stations[1].fd);
}
END_TEST

START_TEST(receivers_change_while_datagrams_pass)
{
	struct station stations[2] = {station_new(), station_new()};
	struct forward *f = forward_to(stations, 0);
	const char *texts[] = {stations[0].text, stations[1].text}, *wrong[] = {stations[0].text, "nowhere"};
	uint8_t octets[LONGEST], got[LONGEST];
	uint32_t i = 1;

	forward_put(f, sender(1), octets, make_datagram(octets, i++)); /* to nobody */
	for (int s = 0; s < 2; s++) {
		ck_assert_int_eq(forward_set(f, &texts[s], 1), 0);
		forward_put(f, sender(1), octets, make_datagram(octets, i));
		ck_assert_int_gt(next_at(&stations[s], got, sizeof(got), WAIT_MS), 0);
		ck_assert_mem_eq(got, &i, sizeof(i));
		i++;
	}
	ck_assert_int_eq(forward_set(f, wrong, 2), -EINVAL); /* it goes on to where it went */
	forward_put(f, sender(1), octets, make_datagram(octets, i));
	ck_assert_int_gt(next_at(&stations[1], got, sizeof(got), WAIT_MS), 0);
	ck_assert_mem_eq(got, &i, sizeof(i));
	ck_assert_int_eq(forward_set(f, NULL, 0), 0);
	forward_put(f, sender(1), octets, make_datagram(octets, 99));
	forward_free(f);
	ck_assert_int_eq(next_at(&stations[1], got, sizeof(got), 0), -1);
	ck_assert_int_eq(next_at(&stations[0], got, sizeof(got), 0), -1);
	close(stations[0].fd);
	close(stations[1].fd);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("forward");
	TCase *tc = tcase_create("forward");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, each_comes_unchanged_and_in_order_at_each_receiver);
	tcase_add_test(tc, a_circle_ends);
	tcase_add_test(tc, what_has_no_room_is_counted);
	tcase_add_test(tc, who_floods_is_cut_and_no_other);
	tcase_add_test(tc, who_does_not_listen_costs_the_others_nothing);
	tcase_add_test(tc, receivers_change_while_datagrams_pass);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
