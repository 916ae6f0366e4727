/*
 * The parts of the slow path that do not need Net-SNMP's library: the head of an SNMPv3 message,
 * engine IDs, the time window and its digests, the Response to an inform, events, the slow queue,
 * and the replies that wait for a commit.
 */
#include "collector/input/inform_replies.h"
#include "collector/input/slow_queue.h"
#include "collector/input/event.h"
#include "collector/input/input.h"
#include "collector/input/slow_path.h"
#include "collector/input/v3_window.h"
#include "common/hash.h"
#include "tests/suite.h"
#include "tests/collector/input/trap_builder.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARCS(a) (sizeof(a) / sizeof((a)[0]))

/* The message of RFC 3412 section 6 written out by hand: msgID 9, 1500 octets, authPriv, USM;
 * engine 80 00 00 02 01, boots 3, time 4, user "u", digest of 12, salt of 8. */
static const uint8_t good[] = {0x30, 0x45, 0x02, 0x01, 0x03,
    0x30, 0x0d, 0x02, 0x01, 0x09, 0x02, 0x02, 0x05, 0xdc, 0x04, 0x01, 0x03, 0x02, 0x01, 0x03,
    0x04, 0x2a, 0x30, 0x28, 0x04, 0x05, 0x80, 0x00, 0x00, 0x02, 0x01, 0x02, 0x01, 0x03, 0x02, 0x01,
    0x04, 0x04, 0x01, 'u', 0x04, 0x0c, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x04, 0x08, 1, 2, 3,
    4, 5, 6, 7, 8, 0x04, 0x05, 'x', 'x', 'x', 'x', 'x'};

START_TEST(a_v3_head_is_read)
{
	struct v3_header h;
	uint8_t message[sizeof(good)];

	memcpy(message, good, sizeof(good));
	ck_assert_int_eq(v3_header_read(&h, message, sizeof(message)), 0);
	ck_assert_int_eq(h.message_id, 9);
	ck_assert_int_eq(h.max_octets, 1500);
	ck_assert_uint_eq(h.flags, V3_FLAG_AUTH | V3_FLAG_PRIV);
	ck_assert_uint_eq(h.engine_id.size, 5);
	ck_assert_int_eq(h.boots, 3);
	ck_assert_int_eq(h.time_s, 4);
	ck_assert_uint_eq(h.digest.size, 12);
	ck_assert_uint_eq(h.salt.size, 8);
	for (size_t n = 0; n < sizeof(message); n++)
		ck_assert_int_lt(v3_header_read(&h, message, n), 0);
	message[16] = V3_FLAG_PRIV; /* without authentication */
	ck_assert_int_lt(v3_header_read(&h, message, sizeof(message)), 0);
}
END_TEST

START_TEST(engine_ids)
{
	uint8_t id[V3_ENGINE_ID_MAX];
	char longest[2 + 64 + 2 + 1] = "0x";

	memset(longest + 2, 'a', 66);
	ck_assert_uint_eq(v3_engine_id_parse("0x80001f8801", id), 5);
	ck_assert_uint_eq(id[3], 0x88);
	ck_assert_uint_eq(v3_engine_id_parse(longest, id), 0);
	longest[66] = '\0';
	ck_assert_uint_eq(v3_engine_id_parse(longest, id), 32);
	ck_assert_uint_eq(v3_engine_id_parse("80001f8801", id), 0);
	ck_assert_uint_eq(v3_engine_id_parse("0x80001f88", id), 0);
	ck_assert_uint_eq(v3_engine_id_parse("0x80001f88011", id), 0);
	ck_assert_uint_eq(v3_engine_id_parse("0x80001f88 1", id), 0);
}
END_TEST

/* RFC 3414 section 3.2 step 7 b. */
START_TEST(the_time_window)
{
	const uint64_t s = 1000000;
	struct v3_engine e = {0};

	ck_assert(!v3_window_accepts(&e, INT32_MAX, 5, 0));
	ck_assert(v3_window_accepts(&e, 7, 1000, 10 * s));
	ck_assert(v3_window_accepts(&e, 7, 850, 10 * s));
	ck_assert(!v3_window_accepts(&e, 7, 849, 10 * s));
	ck_assert(!v3_window_accepts(&e, 6, 2000, 10 * s));
	/* 100 s on, its time is 1,100 though nothing came */
	ck_assert(v3_window_accepts(&e, 7, 950, 110 * s));
	ck_assert(!v3_window_accepts(&e, 7, 949, 110 * s));
	/* what was held back for ten minutes is too old, though newer than the latest heard */
	ck_assert(!v3_window_accepts(&e, 7, 1001, 700 * s));
	ck_assert(v3_window_accepts(&e, 8, 0, 700 * s));
	ck_assert(!v3_window_accepts(&e, 7, 9999, 700 * s));
}
END_TEST

/* After a restart nothing up to what was taken before is taken, and all that is newer is. */
START_TEST(the_time_window_after_a_restart)
{
	const uint64_t s = 1000000;
	struct v3_engine e = {0};

	v3_window_restore(&e, 7, 1000, 5 * s);
	ck_assert(!v3_window_accepts(&e, 6, 5000, 6 * s));
	ck_assert(!v3_window_accepts(&e, 7, 999, 6 * s));
	ck_assert(!v3_window_accepts(&e, 7, 1000, 6 * s));
	ck_assert(!e.changed);
	ck_assert(v3_window_accepts(&e, 7, 1002, 6 * s));
	ck_assert(e.changed);
	ck_assert(v3_window_accepts(&e, 7, 1001, 6 * s)); /* overtaken, but newer than the restart */
	ck_assert(!v3_window_accepts(&e, 7, 1000, 6 * s));
	ck_assert(v3_window_accepts(&e, 8, 1, 6 * s));
	/* however long we were away, and whatever the clock says now */
	e = (struct v3_engine){0};
	v3_window_restore(&e, 7, 1000, 5 * s);
	ck_assert(v3_window_accepts(&e, 7, 900000, 6 * s));
}
END_TEST

START_TEST(digests_are_remembered_for_the_window)
{
	const uint64_t s = 1000000;
	uint8_t octets[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct rbuf digest = rbuf_of(octets, sizeof(octets));
	struct v3_digests d;

	ck_assert_int_eq(v3_digests_init(&d, V3_DIGEST_WAYS), 0); /* one set */
	ck_assert(!v3_digests_seen(&d, &digest, 5 * s));
	ck_assert(v3_digests_seen(&d, &digest, 6 * s));
	ck_assert(v3_digests_seen(&d, &digest, 155 * s));
	ck_assert(!v3_digests_seen(&d, &digest, 160 * s));
	ck_assert_uint_eq(d.forgotten, 0);
	for (uint8_t i = 1; i <= V3_DIGEST_WAYS; i++) {
		octets[0] = (uint8_t)(i + 100);
		ck_assert(!v3_digests_seen(&d, &digest, 160 * s + i));
	}
	ck_assert_uint_eq(d.forgotten, 1); /* the first had to go */
	octets[0] = 1;
	ck_assert(!v3_digests_seen(&d, &digest, 161 * s));
	v3_digests_free(&d);
}
END_TEST

/* What a Response is, read back by the reader of requests. */
START_TEST(a_response_has_the_same_bindings)
{
	static const int32_t ids[] = {0, 1, 127, 128, -1, -128, -129, 32767, 32768, INT32_MAX,
	    INT32_MIN, 0x123456};
	static const char binding[] = "\x30\x06\x06\x01\x2b\x02\x01\x07";
	uint8_t octets[256];

	for (size_t i = 0; i < ARCS(ids); i++) {
		struct v2c_message back, m = {
		    .community = rbuf_of("demo", 4),
		    .request_id = ids[i],
		    .varbinds = rbuf_of(binding, 8),
		};
		struct wbuf w = wbuf_of(octets, sizeof(octets));
		struct rbuf body;

		v2c_put_response(&w, &m);
		ck_assert(!w.failed);
		ck_assert_int_eq(v2c_open(&back, &body, octets, w.len), 0);
		ck_assert_int_eq(back.version, V2C_VERSION_2C);
		ck_assert_mem_eq(back.community.data, "demo", 4);
		ck_assert_int_eq(v2c_open_pdu(&back, &body), 0);
		ck_assert_uint_eq(back.pdu, 0xa2);
		ck_assert_int_eq(back.request_id, ids[i]);
		ck_assert_int_eq(back.error_status, 0);
		ck_assert_uint_eq(back.varbinds.size, 8);
		ck_assert_mem_eq(back.varbinds.data, binding, 8);
		w = wbuf_of(octets, 20);
		v2c_put_response(&w, &m);
		ck_assert(w.failed);
		w = wbuf_of(octets, sizeof(octets));
		v2c_put_too_big(&w, &m);
		ck_assert_int_eq(v2c_open(&back, &body, octets, w.len), 0);
		ck_assert_int_eq(v2c_open_pdu(&back, &body), 0);
		ck_assert_int_eq(back.error_status, 1);
		ck_assert_uint_eq(back.varbinds.size, 0);
	}
}
END_TEST

START_TEST(identities_of_sources)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000207)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	static const uint8_t v4_id[8] = {0, 4, 0, 0, 192, 0, 2, 7};
	uint8_t id[8], other[8];

	event_source_of_address((struct sockaddr *)&v4, id);
	ck_assert_mem_eq(id, v4_id, 8);
	event_source_of_address((struct sockaddr *)&v6, id);
	v6.sin6_addr.s6_addr[0] = 1;
	event_source_of_address((struct sockaddr *)&v6, other);
	ck_assert_uint_eq(id[1], 6);
	ck_assert_mem_ne(id, other, 8);
	/* FNV-1a of "a", from the hash's own page */
	ck_assert_uint_eq(hash_fnv(HASH_FNV, "a", 1), 0xaf63dc4c8601ec8cull);
}
END_TEST

static struct sockaddr_in
loopback(int fd)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	return a;
}

static bool
readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static int
enqueue(struct slow_queue *a, uint32_t address, uint32_t content)
{
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};

	return slow_queue_put(a, (struct sockaddr *)&from, 3, &content, sizeof(content));
}

/* Alone a sender gets half, the next half of what is left, and so on; everything comes in order. */
START_TEST(what_is_laid_aside_comes_in_order_up_to_the_limit)
{
	uint32_t n = 0, address = 0;
	struct slow_queue *a;

	ck_assert_int_eq(slow_queue_new(&a), 0);
	ck_assert_ptr_null(slow_queue_first(a));
	for (uint32_t share = SLOW_QUEUE_MAX / 2; share > 1; share /= 2) {
		while (enqueue(a, ++address, n) != 0)
			; /* it shares its place with one before */
		n++;
		for (uint32_t i = 1; i < share; i++)
			ck_assert_int_eq(enqueue(a, address, n++), 0);
		ck_assert_int_eq(enqueue(a, address, n), -EDQUOT);
	}
	while (n < SLOW_QUEUE_MAX)
		n += enqueue(a, ++address, n) == 0;
	ck_assert_int_eq(enqueue(a, ++address, n), -ENOBUFS);
	for (uint32_t i = 0; i < SLOW_QUEUE_MAX; i++) {
		const struct slow_queue_datagram *d = slow_queue_first(a);

		ck_assert_uint_eq(d->n, sizeof(i));
		ck_assert_mem_eq(d->octets, &i, sizeof(i));
		slow_queue_done(a);
	}
	ck_assert_ptr_null(slow_queue_first(a));
	for (uint32_t i = 0; i < SLOW_QUEUE_MAX / 2; i++) /* no share is used up any more */
		ck_assert_int_eq(enqueue(a, 1, i), 0);
	slow_queue_free(a);
}
END_TEST

static void
hold(struct inform_replies *a, const struct sockaddr_in *to, int fd, uint64_t content,
    const char *text)
{
	const struct inform_identity inform = {(const struct sockaddr *)to, content};

	ck_assert_int_eq(inform_replies_place(a, &inform), 0);
	inform_replies_hold(a, &inform, fd, text, strlen(text));
}

static int
place(struct inform_replies *a, uint32_t address, uint16_t port, uint64_t content)
{
	const struct sockaddr_in from = {.sin_family = AF_INET, .sin_port = htons(port),
	    .sin_addr.s_addr = htonl(address)};
	const struct inform_identity inform = {(const struct sockaddr *)&from, content};
	int r = inform_replies_place(a, &inform);

	if (r == 0)
		inform_replies_hold(a, &inform, -1, "", 0);
	return r;
}

START_TEST(answers_wait_for_their_batch)
{
	int here = socket(AF_INET, SOCK_DGRAM, 0), there = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = loopback(there);
	struct inform_replies *a;
	size_t failed = 0;
	char got[8];

	ck_assert_int_eq(inform_replies_new(&a), 0);
	hold(a, &to, here, 1, "one");
	ck_assert_uint_eq(inform_replies_committed(a, 100, &failed), 0); /* not even submitted */
	inform_replies_submitted(a, 4);
	hold(a, &to, here, 2, "two");
	ck_assert_uint_eq(inform_replies_committed(a, 3, &failed), 0);
	ck_assert_uint_eq(inform_replies_committed(a, 4, &failed), 1);
	ck_assert_int_eq(recv(there, got, sizeof(got), 0), 3);
	ck_assert_mem_eq(got, "one", 3);
	inform_replies_submitted(a, 5);
	ck_assert_uint_eq(inform_replies_waiting(a), 1);
	ck_assert_uint_eq(inform_replies_committed(a, 9, &failed), 1);
	ck_assert_int_eq(recv(there, got, sizeof(got), 0), 3);
	ck_assert_mem_eq(got, "two", 3);
	ck_assert_uint_eq(failed, 0);
	inform_replies_free(a);
	close(here);
	close(there);
}
END_TEST

/* The repeated inform waits for the batch of the first one, and the newest reply is sent once. */
START_TEST(a_repeated_inform_has_its_own_place)
{
	int here = socket(AF_INET, SOCK_DGRAM, 0), there = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = loopback(there), other = {.sin_family = AF_INET};
	struct inform_replies *a;
	size_t failed = 0;
	char got[8];

	ck_assert_int_eq(inform_replies_new(&a), 0);
	hold(a, &to, here, 1, "old");
	hold(a, &to, here, 1 + INFORM_REPLIES_MAX, "two"); /* the same bucket */
	hold(a, &other, -1, 1, "");			   /* the same content of another */
	inform_replies_submitted(a, 1);
	for (int i = 0; i < 3 * INFORM_REPLIES_MAX; i++)
		hold(a, &to, here, 1, "new");
	ck_assert_uint_eq(inform_replies_waiting(a), 3);
	ck_assert_uint_eq(inform_replies_committed(a, 1, &failed), 3);
	ck_assert_int_eq(recv(there, got, sizeof(got), 0), 3);
	ck_assert_mem_eq(got, "new", 3);
	ck_assert_int_eq(recv(there, got, sizeof(got), 0), 3);
	ck_assert_mem_eq(got, "two", 3);
	ck_assert(!readable(there));
	hold(a, &to, here, 1, "new"); /* its reply was lost, so it comes once more */
	ck_assert_uint_eq(inform_replies_waiting(a), 1);
	inform_replies_free(a);
	close(here);
	close(there);
}
END_TEST

/* Alone a sender has half of the places, whatever ports it uses; so there is room for others. */
START_TEST(waiting_replies_are_shared_by_sender)
{
	struct inform_replies *a;
	uint64_t content = 0;
	size_t failed = 0;

	ck_assert_int_eq(inform_replies_new(&a), 0);
	for (int i = 0; i < INFORM_REPLIES_MAX / 2; i++, content++)
		ck_assert_int_eq(place(a, 1, (uint16_t)i, content), 0);
	ck_assert_int_eq(place(a, 1, 1, ++content), -EDQUOT);
	ck_assert_int_eq(place(a, 1, 7, 7), 0); /* that one waits already */
	ck_assert_uint_eq(inform_replies_waiting(a), INFORM_REPLIES_MAX / 2);
	for (uint32_t sender = 2; inform_replies_waiting(a) < INFORM_REPLIES_MAX; sender++)
		place(a, sender, 1, ++content);
	ck_assert_int_eq(place(a, 5000, 1, ++content), -ENOBUFS);
	ck_assert_int_eq(place(a, 1, 7, 7), 0);
	inform_replies_submitted(a, 1);
	ck_assert_uint_eq(inform_replies_committed(a, 1, &failed), INFORM_REPLIES_MAX);
	ck_assert_uint_eq(inform_replies_waiting(a), 0);
	for (int i = 0; i < INFORM_REPLIES_MAX / 2; i++) /* no share is used up any more */
		ck_assert_int_eq(place(a, 1, (uint16_t)i, ++content), 0);
	inform_replies_free(a);
}
END_TEST

/* The slow path with sinks of the test. */

struct sinks {
	bool has_room;
	size_t records, events;
	struct ease_event newest; /* event */
};

static bool
keep_records(void *arg, const struct ease_record *records, size_t n)
{
	struct sinks *s = arg;

	(void)records;
	s->records += s->has_room ? n : 0;
	return s->has_room;
}

static bool
keep_event(void *arg, const struct ease_event *event)
{
	struct sinks *s = arg;

	s->newest = *event;
	s->events += s->has_room;
	return s->has_room;
}

static void
samples_message(struct trap_message *m, uint8_t pdu)
{
	static const uint8_t frame[60], agent_id[8] = {1};
	const struct ease_sample s = {.time_us = 1, .if_index = 3, .sequence = 1,
	    .direction = EASE_IN, .skip = 7, .mean_skip = 10, .frame_octets = 500,
	    .kept_octets = sizeof(frame),
	    .header = frame};

	trap_start(m, "demo", EASE_NOTIFY_SAMPLES, agent_id, 1);
	m->pdu = pdu;
	trap_add_sample(m, &s);
}

static void
send_inform(struct slow_path *s, const struct sockaddr_in *from, uint32_t request_id)
{
	static struct trap_message m;
	static uint8_t octets[4096];

	samples_message(&m, 0xa6);
	m.request_id = request_id;
	slow_path_put(s, (const struct sockaddr *)from, -1, octets,
	    trap_build(&m, octets, sizeof(octets)));
	slow_path_run(s);
}

static struct clock clock_of_tests = {.manual = true, .manual_wall_us = 5};
static const char *const communities[] = {"demo"};

static struct slow_path *
open_slow(struct sinks *sinks)
{
	const struct slow_path_config config = {.communities = communities, .n_communities = 1,
	    .clock = &clock_of_tests, .records = keep_records, .event = keep_event, .arg = sinks};
	struct slow_path *s;
	char error[256];

	ck_assert_int_eq(slow_path_open(&s, &config, error, sizeof(error)), 0);
	return s;
}

START_TEST(an_inform_is_answered_only_when_it_is_kept)
{
	enum { SHARE = INFORM_REPLIES_MAX / 2 };
	struct sinks sinks = {.has_room = false};
	struct sockaddr_in from = {.sin_family = AF_INET};
	struct slow_path *s = open_slow(&sinks);
	const struct stat_set *stats = slow_path_stats(s);

	send_inform(s, &from, 1);
	ck_assert_uint_eq(slow_path_waiting(s), 0);
	ck_assert_uint_eq(stat_get(stats, SLOW_PATH_STAT_INFORMS_NOT_KEPT), 1);
	sinks.has_room = true;
	for (uint32_t i = 1; i <= SHARE; i++)
		send_inform(s, &from, i);
	ck_assert_uint_eq(sinks.records, SHARE);
	ck_assert_uint_eq(slow_path_waiting(s), SHARE);
	/* One too many: it is not even decoded. */
	send_inform(s, &from, SHARE + 1);
	ck_assert_uint_eq(sinks.records, SHARE);
	ck_assert_uint_eq(stat_get(stats, SLOW_PATH_STAT_INFORMS_OVER_SHARE), 1);
	/* One that waits already, and one of somebody else. */
	send_inform(s, &from, SHARE);
	ck_assert_uint_eq(slow_path_waiting(s), SHARE);
	from.sin_addr.s_addr = htonl(2);
	send_inform(s, &from, 1);
	ck_assert_uint_eq(slow_path_waiting(s), SHARE + 1);
	ck_assert_uint_eq(sinks.records, SHARE + 2);
	ck_assert_uint_eq(stat_get(stats, SLOW_PATH_STAT_INFORMS_FULL), 0);
	slow_path_submitted(s, 1);
	slow_path_committed(s, 1);
	ck_assert_uint_eq(stat_get(stats, SLOW_PATH_STAT_INFORMS_ANSWERED), SHARE + 1);
	slow_path_close(s);
}
END_TEST

/* uptime 0x42, linkUp. */
static const uint8_t link_up[] = {0x30, 0x0d, 0x06, 0x08, 0x2b, 6, 1, 2, 1, 1, 3, 0, 0x43, 1, 0x42,
    0x30, 0x17, 0x06, 0x0a, 0x2b, 6, 1, 6, 3, 1, 1, 4, 1, 0,
    0x06, 0x09, 0x2b, 6, 1, 6, 3, 1, 1, 5, 4};

/* An inform of linkUp and one long string, as long as a datagram may be, in the shortest heads. */
static size_t
longest_inform(uint8_t octets[RECEIVE_DATAGRAM_MAX])
{
	static const uint8_t head[] = {0x02, 1, 1, 0x04, 4, 'd', 'e', 'm', 'o'};
	static const uint8_t numbers[] = {0x02, 1, 7, 0x02, 1, 0, 0x02, 1, 0};
	static const uint8_t name[] = {0x06, 3, 0x2b, 6, 1};
	struct wbuf w = wbuf_of(octets, RECEIVE_DATAGRAM_MAX);
	const struct {
		uint8_t tag;
		const uint8_t *before;
		size_t n;
	} nested[] = {{0x30, head, sizeof(head)}, {0xa6, numbers, sizeof(numbers)},
	    {0x30, link_up, sizeof(link_up)}, {0x30, name, sizeof(name)}, {0x04, NULL, 0}};

	for (size_t i = 0; i < ARCS(nested); i++) { /* each to the end of the datagram */
		wbuf_u8(&w, nested[i].tag);
		wbuf_u8(&w, 0x82);
		wbuf_be16(&w, (uint16_t)(w.size - w.len - 2));
		if (nested[i].n > 0)
			wbuf_put(&w, nested[i].before, nested[i].n);
	}
	memset(w.data + w.len, 'x', w.size - w.len);
	ck_assert(!w.failed);
	return w.size;
}

/* RFC 3416 section 4.2.7: a Response that would be too long says tooBig and has no bindings. */
START_TEST(an_answer_that_is_too_long_says_so)
{
	int here = socket(AF_INET, SOCK_DGRAM, 0), there = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in from = loopback(there);
	struct sinks sinks = {.has_room = true};
	struct slow_path *s = open_slow(&sinks);
	static uint8_t octets[RECEIVE_DATAGRAM_MAX];
	size_t n = longest_inform(octets);
	struct v2c_message m;
	struct rbuf body;
	ssize_t got;

	slow_path_put(s, (struct sockaddr *)&from, here, octets, n);
	slow_path_run(s);
	ck_assert_uint_eq(sinks.events, 1);
	ck_assert(!readable(there)); /* not yet safe */
	slow_path_submitted(s, 1);
	slow_path_committed(s, 1);
	got = recv(there, octets, sizeof(octets), MSG_DONTWAIT);
	ck_assert_int_gt(got, 0);
	ck_assert_int_eq(v2c_open(&m, &body, octets, (size_t)got), 0);
	ck_assert_int_eq(v2c_open_pdu(&m, &body), 0);
	ck_assert_uint_eq(m.pdu, BER_SNMP_RESPONSE);
	ck_assert_int_eq(m.request_id, 7);
	ck_assert_int_eq(m.error_status, V2C_TOO_BIG);
	ck_assert_uint_eq(m.varbinds.size, 0);
	slow_path_close(s);
	close(here);
	close(there);
}
END_TEST

/* RFC 2819's alarms, over objects whose index is ifIndex or not. */
static const struct {
	uint32_t trap, variable[12];
	size_t n;
	uint32_t kind, if_index;
} alarms[] = {
    {1, {1, 3, 6, 1, 2, 1, 2, 2, 1, 10, 7}, 11, EASE_EVENT_RISING_ALARM, 7},
    {2, {1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 6, 8}, 12, EASE_EVENT_FALLING_ALARM, 8},
    {1, {1, 3, 6, 1, 2, 1, 10, 7, 2, 1, 3, 9}, 12, EASE_EVENT_RISING_ALARM, 9},
    {1, {1, 3, 6, 1, 2, 1, 17, 4, 2, 0}, 10, EASE_EVENT_RISING_ALARM, 0},
};

static void
add_alarm(struct trap_message *m, size_t i)
{
	static const uint32_t up_time[] = {1, 3, 6, 1, 2, 1, 1, 3, 0},
		trap_oid[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0},
		variable[] = {1, 3, 6, 1, 2, 1, 16, 3, 1, 1, 3, 5},
		value[] = {1, 3, 6, 1, 2, 1, 16, 3, 1, 1, 5, 5};
	const uint32_t trap[] = {1, 3, 6, 1, 2, 1, 16, 0, alarms[i].trap};
	uint8_t octets[64];

	*m = (struct trap_message){.version = 1, .community = "demo", .pdu = 0xa7};
	trap_add(m, up_time, 9, 0x43, "\1", 1);
	trap_add(m, trap_oid, 11, 0x06, octets, trap_oid_octets(trap, 9, octets));
	trap_add(m, variable, 12, 0x06, octets,
	    trap_oid_octets(alarms[i].variable, alarms[i].n, octets));
	trap_add(m, value, 12, 0x02, "\x2a", 1);
}

static void
add_agent(struct trap_message *m, const uint8_t *agent_id, size_t n)
{
	static const uint32_t id_name[] = {EASE_ROOT, 1, EASE_GROUP_SYSTEM, EASE_SYSTEM_AGENT_ID, 0},
		boot_name[] = {EASE_ROOT, 1, EASE_GROUP_SYSTEM, EASE_SYSTEM_BOOT, 0};

	trap_add(m, id_name, sizeof(id_name) / sizeof(id_name[0]), 0x04, agent_id, n);
	trap_add(m, boot_name, sizeof(boot_name) / sizeof(boot_name[0]), 0x42, "\3", 1);
}

START_TEST(an_alarm_tells_its_port_and_its_agent)
{
	static const uint8_t agent_id[8] = {9, 8, 7, 6, 5, 4, 3, 2};
	static struct trap_message m;
	struct sockaddr_in from = {.sin_family = AF_INET};
	struct sinks sinks = {.has_room = true};
	struct slow_path *s = open_slow(&sinks);
	uint8_t octets[1024];

	for (size_t id_octets = 7; id_octets <= 8; id_octets++) { /* 7: that is no agent's */
		add_alarm(&m, (size_t)_i);
		add_agent(&m, agent_id, id_octets);
		slow_path_put(s, (struct sockaddr *)&from, -1, octets,
		    trap_build(&m, octets, sizeof(octets)));
		slow_path_run(s);
		ck_assert_uint_eq(sinks.newest.kind, alarms[_i].kind);
		ck_assert_uint_eq(sinks.newest.if_index, alarms[_i].if_index);
		ck_assert_int_eq(sinks.newest.has_agent_id, id_octets == 8);
	}
	ck_assert_mem_eq(sinks.newest.agent_id, agent_id, 8);
	ck_assert_uint_eq(sinks.newest.boot, 3);
	slow_path_close(s);
}
END_TEST

/* ENTITY-MIB's entConfigChange (RFC 6933): nothing but its name. */
START_TEST(changed_parts_are_an_event)
{
	static const uint32_t up_time[] = {1, 3, 6, 1, 2, 1, 1, 3, 0},
		trap_oid[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0},
		trap[] = {1, 3, 6, 1, 2, 1, 47, 2, 0, 1};
	static struct trap_message m = {.version = 1, .community = "demo", .pdu = 0xa7};
	struct sockaddr_in from = {.sin_family = AF_INET};
	struct sinks sinks = {.has_room = true};
	struct slow_path *s = open_slow(&sinks);
	uint8_t octets[1024];

	trap_add(&m, up_time, 9, 0x43, "\1", 1);
	trap_add(&m, trap_oid, 11, 0x06, octets, trap_oid_octets(trap, 10, octets));
	slow_path_put(s, (struct sockaddr *)&from, -1, octets,
	    trap_build(&m, octets, sizeof(octets)));
	slow_path_run(s);
	ck_assert_uint_eq(sinks.newest.kind, EASE_EVENT_PARTS_CHANGED);
	ck_assert_uint_eq(sinks.newest.if_index, 0);
	slow_path_close(s);
}
END_TEST

/* A small switch that starts alike each time brings its link up at the same uptime. */
START_TEST(an_event_at_the_same_uptime_after_a_reboot_is_kept)
{
	static const uint32_t up_time[] = {1, 3, 6, 1, 2, 1, 1, 3, 0},
		trap_oid[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0},
		trap[] = {1, 3, 6, 1, 6, 3, 1, 1, 5, 4};
	/* at an uptime (2: 90 s, 3: a day and more), again after so many seconds: how often it happened */
	static const struct {
		const char *uptime;
		size_t octets;
		uint64_t again_s;
		size_t events;
	} cases[] = {{"\1", 1, 1, 1}, {"\1", 1, 59, 1}, {"\1", 1, 60, 2}, {"\x23\x28", 2, 89, 1},
	    {"\x23\x28", 2, 90, 2}, {"\x40\0\0\0", 4, 86400, 1}};
	struct sockaddr_in from = {.sin_family = AF_INET};
	uint64_t before_us = clock_of_tests.manual_wall_us;
	uint8_t octets[1024];

	for (size_t i = 0; i < ARCS(cases); i++) {
		struct trap_message m = {.version = 1, .community = "demo", .pdu = 0xa7};
		struct sinks sinks = {.has_room = true};
		struct slow_path *s = open_slow(&sinks), *next = open_slow(&sinks);
		size_t n;

		trap_add(&m, up_time, 9, 0x43, cases[i].uptime, cases[i].octets);
		trap_add(&m, trap_oid, 11, 0x06, octets, trap_oid_octets(trap, 10, octets));
		n = trap_build(&m, octets, sizeof(octets));
		slow_path_put(s, (struct sockaddr *)&from, -1, octets, n);
		slow_path_run(s);
		slow_path_restore_event(next, sinks.newest.identity, sinks.newest.received_us);
		clock_of_tests.manual_wall_us += cases[i].again_s * 1000000;
		slow_path_put(s, (struct sockaddr *)&from, -1, octets, n);
		slow_path_run(s);
		ck_assert_uint_eq(sinks.events, cases[i].events);
		sinks.events = 1;
		slow_path_put(next, (struct sockaddr *)&from, -1, octets, n); /* a collector that started anew */
		slow_path_run(next);
		ck_assert_uint_eq(sinks.events, cases[i].events);
		slow_path_close(next);
		slow_path_close(s);
	}
	clock_of_tests.manual_wall_us = before_us;
}
END_TEST

/* Loosely encoded, and what each becomes. */
static const struct {
	const char *what;
	uint8_t tag;
	const char *value;
	size_t n;
	bool good;
} loose[] = {
    {"negative TimeTicks", 0x43, "\x90\0\0\1", 4, true}, /* after 280 days */
    {"padded TimeTicks", 0x43, "\0\1", 2, true},
    {"TimeTicks without octets", 0x43, "", 0, false},
};

static void
ignore_records(void *arg, const struct ease_record *records, size_t n)
{
	(void)arg;
	(void)records;
	(void)n;
	ck_abort_msg("the fast path decoded it");
}

START_TEST(what_is_loosely_encoded_goes_to_the_library)
{
	static const struct prefix everybody[] = {{.family = AF_INET}};
	struct sinks sinks = {.has_room = true};
	struct slow_path *s = open_slow(&sinks);
	const struct input_config config = {.senders = everybody, .n_senders = 1,
	    .communities = communities, .n_communities = 1, .clock = &clock_of_tests,
	    .sink = ignore_records, .slow_path = s};
	struct sockaddr_in from = {.sin_family = AF_INET};
	static struct trap_message m;
	uint8_t octets[4096];
	struct input *in;
	char error[256];

	ck_assert_int_eq(input_open(&in, &config, error, sizeof(error)), 0);
	samples_message(&m, 0xa7);
	m.varbinds[0].tag = loose[_i].tag;
	memcpy(m.varbinds[0].value, loose[_i].value, loose[_i].n);
	m.varbinds[0].len = loose[_i].n;
	input_take(in, (struct sockaddr *)&from, octets, trap_build(&m, octets, sizeof(octets)));
	slow_path_run(s);
	ck_assert_uint_eq(sinks.records, loose[_i].good);
	ck_assert_uint_eq(stat_get(slow_path_stats(s), SLOW_PATH_STAT_DATAGRAMS), 1);
	ck_assert_uint_eq(stat_get(slow_path_stats(s), SLOW_PATH_STAT_BY_NETSNMP), loose[_i].good);
	ck_assert_uint_eq(stat_get(slow_path_stats(s), SLOW_PATH_STAT_REFUSED), !loose[_i].good);
	m.community = "other"; /* the library is not called for strangers */
	input_take(in, (struct sockaddr *)&from, octets, trap_build(&m, octets, sizeof(octets)));
	ck_assert_uint_eq(stat_get(slow_path_stats(s), SLOW_PATH_STAT_DATAGRAMS), 1);
	ck_assert_uint_eq(stat_get(input_stats(in), INPUT_STAT_REFUSED_COMMUNITY), 1);
	input_close(in);
	slow_path_close(s);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("slow");
	TCase *tc = tcase_create("slow");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_v3_head_is_read);
	tcase_add_test(tc, engine_ids);
	tcase_add_test(tc, the_time_window);
	tcase_add_test(tc, the_time_window_after_a_restart);
	tcase_add_test(tc, digests_are_remembered_for_the_window);
	tcase_add_test(tc, a_response_has_the_same_bindings);
	tcase_add_test(tc, identities_of_sources);
	tcase_add_test(tc, what_is_laid_aside_comes_in_order_up_to_the_limit);
	tcase_add_test(tc, answers_wait_for_their_batch);
	tcase_add_test(tc, a_repeated_inform_has_its_own_place);
	tcase_add_test(tc, waiting_replies_are_shared_by_sender);
	tcase_add_test(tc, an_inform_is_answered_only_when_it_is_kept);
	tcase_add_loop_test(tc, an_alarm_tells_its_port_and_its_agent, 0,
	    sizeof(alarms) / sizeof(alarms[0]));
	tcase_add_test(tc, changed_parts_are_an_event);
	tcase_add_test(tc, an_event_at_the_same_uptime_after_a_reboot_is_kept);
	tcase_add_test(tc, an_answer_that_is_too_long_says_so);
	tcase_add_loop_test(tc, what_is_loosely_encoded_goes_to_the_library, 0, ARCS(loose));
	return suite_run(suite);
}
