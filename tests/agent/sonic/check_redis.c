/*
 * The connection to a Redis server against a server that the test plays, octet by octet: one that answers late and in
 * pieces, and hostile ones, which answer what was not asked, announce what never comes, or speak another protocol.
 * Each of these is given up with its reason, the command that waits gets its NULL once, and the next connection works.
 * Over a Unix socket and over TCP.
 */
#include "agent/sonic/redis.h"
#include "common/close_fd.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { DATABASE = 6, HEARD_MAX = 65536 };
#define OK "+OK\r\n"

static struct redis_link *redis;
static int epoll_fd, listen_fd, peer_fd;
static char dir[32], path[64], heard[HEARD_MAX + 1], why[160], said[4096];
static size_t n_heard;
static unsigned ups, downs, answers, nulls, notices, ends;
static uint64_t now_us;

/* ---- the two sides ---- */

static void
on_up(void *ctx, struct redis_link *of)
{
	(void)ctx;
	ck_assert_ptr_eq(of, redis);
	ups++;
}

static void
on_down(void *ctx, struct redis_link *of, const char *reason)
{
	(void)ctx;
	ck_assert_ptr_eq(of, redis);
	snprintf(why, sizeof(why), "%s", reason);
	downs++;
}

static void
add_words(const redisReply *reply)
{
	size_t n = strlen(said);

	if (reply->type == REDIS_REPLY_ARRAY)
		for (size_t i = 0; i < reply->elements; i++)
			add_words(reply->element[i]);
	else if (reply->type == REDIS_REPLY_INTEGER)
		snprintf(said + n, sizeof(said) - n, "%lld ", reply->integer);
	else
		snprintf(said + n, sizeof(said) - n, "%s ", reply->str ? reply->str : "nil");
}

static void
on_answer(void *request, const redisReply *reply)
{
	(void)request;
	if (reply)
		add_words(reply);
	answers += reply != NULL;
	nulls += reply == NULL;
}

static void
on_notice(void *request, const redisReply *reply)
{
	(void)request;
	if (reply)
		add_words(reply);
	notices += reply != NULL;
	ends += reply == NULL;
}

/* What the agent does now; false if it has nothing to do. */
static bool
turn(int wait_ms)
{
	struct epoll_event event;
	int n = epoll_wait(epoll_fd, &event, 1, wait_ms);

	if (n > 0)
		redis_link_ready(redis, event.events, now_us);
	return n > 0;
}

static void
run(void)
{
	while (turn(0))
		;
}

/* Until all that the server has sent was taken, or the agent has hung up. */
static void
run_to_the_end(void)
{
	int waiting = 1;

	for (int tries = 0; tries < 5000 && waiting > 0; tries++) {
		(void)turn(tries > 0);
		run();
		if (ioctl(peer_fd, SIOCOUTQ, &waiting) < 0)
			break;
	}
	run();
}

static void
hear(const char *words)
{
	n_heard = 0;
	do {
		ssize_t n;

		run();
		n = recv(peer_fd, heard + n_heard, HEARD_MAX - n_heard, n_heard ? MSG_DONTWAIT : 0);
		ck_assert_int_gt(n, 0);
		n_heard += (size_t)n;
		heard[n_heard] = '\0';
	} while (!strstr(heard, words));
}

static void
say_octets(const char *octets, size_t size)
{
	for (size_t sent = 0; sent < size;) {
		ssize_t n = send(peer_fd, octets + sent, size - sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			break; /* it has hung up */
		sent += n > 0 ? (size_t)n : 0;
		run();
	}
	run_to_the_end();
}

static void
say(const char *text)
{
	say_octets(text, strlen(text));
}

static void
ask(const char *word)
{
	const size_t octets[] = {strlen(word)};

	ck_assert_int_eq(redis_link_ask(redis, on_answer, NULL, 1, &word, octets), 0);
}

/* The link connects and selects its database. */
static void
greet(void)
{
	now_us += REDIS_RETRY_MAX_US;
	redis_link_step(redis, now_us);
	peer_fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	ck_assert_int_ge(peer_fd, 0);
	hear("*2\r\n$6\r\nSELECT\r\n$1\r\n6\r\n");
	ck_assert(!redis_link_is_up(redis));
	say(OK);
	ck_assert(redis_link_is_up(redis));
}

static void
begin(bool tcp)
{
	static const struct redis_listener listener = {.up = on_up, .down = on_down};
	struct redis_address address = {.database = DATABASE};
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(in);

	strcpy(dir, "/tmp/ease-redis-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/redis.sock", dir);
	strcpy(un.sun_path, path);
	listen_fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(listen_fd, tcp ? (struct sockaddr *)&in : (struct sockaddr *)&un,
	    tcp ? sizeof(in) : sizeof(un)), 0);
	ck_assert_int_eq(listen(listen_fd, 4), 0);
	if (tcp) {
		ck_assert_int_eq(getsockname(listen_fd, (struct sockaddr *)&in, &size), 0);
		strcpy(address.address, "127.0.0.1");
		address.port = ntohs(in.sin_port);
	} else {
		strcpy(address.socket, path);
	}
	peer_fd = -1;
	now_us = 1000000;
	ups = downs = answers = nulls = notices = ends = 0;
	said[0] = '\0';
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	ck_assert_int_eq(redis_link_create("test", &address, epoll_fd, &listener, &redis), 0);
}

static void
end(void)
{
	redis_link_destroy(redis);
	close_fd(peer_fd);
	close_fd(listen_fd);
	close_fd(epoll_fd);
	unlink(path);
	rmdir(dir);
}

/* ---- a server as it should be ---- */

START_TEST(answers_in_order_and_in_pieces)
{
	static const char text[] = "$3\r\none\r\n*3\r\n$3\r\ntwo\r\n$-1\r\n*1\r\n:-3\r\n-ERR four\r\n*0\r\n*-1\r\n";

	begin(_i);
	ck_assert_int_eq(redis_link_ask(redis, on_answer, NULL, 0, NULL, NULL), -ENOTCONN);
	greet();
	for (int i = 0; i < 5; i++)
		ask("GET");
	hear("GET");
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		say_octets(text + i, 1);
	ck_assert_uint_eq(answers, 5);
	ck_assert_str_eq(said, "one two nil -3 ERR four nil ");
	ck_assert_uint_eq(redis_link_awaited(redis), 0);
	ck_assert_uint_eq(ups, 1);
	ck_assert_uint_eq(downs, 0);
	end();
}
END_TEST

START_TEST(many_commands)
{
	enum { N = 5000 };

	begin(_i);
	greet();
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++)
			ask("A");
		ck_assert_uint_eq(redis_link_awaited(redis), N);
		for (size_t all = 0; all < N * strlen("*1\r\n$1\r\nA\r\n"); all += n_heard)
			hear("A");
		for (int i = 0; i < N; i++)
			say_octets(":1\r\n", 4);
		said[0] = '\0';
	}
	ck_assert_uint_eq(answers, 3 * N);
	end();
}
END_TEST

START_TEST(a_subscription)
{
	begin(_i);
	greet();
	ck_assert_int_eq(redis_link_subscribe(redis, on_notice, NULL, "a*"), 0);
	ck_assert_int_eq(redis_link_subscribe(redis, on_notice, NULL, "b*"), 0);
	hear("b*");
	say("*3\r\n$10\r\npsubscribe\r\n$2\r\na*\r\n:1\r\n*3\r\n$10\r\npsubscribe\r\n$2\r\nb*\r\n:2\r\n");
	say("*4\r\n$8\r\npmessage\r\n$2\r\na*\r\n$2\r\nab\r\n$3\r\nset\r\n");
	ck_assert_str_eq(said, "psubscribe a* 1 psubscribe b* 2 pmessage a* ab set ");
	ck_assert_uint_eq(notices, 3);
	close(peer_fd);
	(void)turn(1000);
	ck_assert_str_eq(why, "it was closed");
	ck_assert_uint_eq(ends, 1);
	greet();
	end();
}
END_TEST

START_TEST(one_that_is_away_silent_or_refuses)
{
	begin(_i);
	greet();
	ask("GET");
	now_us += REDIS_ANSWER_US - 1;
	redis_link_step(redis, now_us);
	ck_assert_uint_eq(nulls, 0);
	now_us++;
	redis_link_step(redis, now_us);
	ck_assert_uint_eq(nulls, 1);
	ck_assert_str_eq(why, "it has not answered for 5 s");
	close(peer_fd);
	now_us += REDIS_RETRY_MAX_US;
	redis_link_step(redis, now_us);
	peer_fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	hear("SELECT");
	say("-NOAUTH Authentication required.\r\n");
	ck_assert(!redis_link_is_up(redis));
	close(peer_fd);
	close(listen_fd);
	listen_fd = peer_fd = -1;
	unlink(path);
	for (int i = 0; i < 3; i++) {
		now_us += REDIS_RETRY_MAX_US;
		redis_link_step(redis, now_us);
		run();
		ck_assert(!redis_link_is_up(redis));
	}
	ck_assert_uint_eq(downs, 1); /* once for each loss, and not for each try */
	end();
}
END_TEST

/* ---- hostile servers ---- */

#define PROTOCOL "its answer is not Redis' protocol"
#define LONG "its answer is too long"
#define UNASKED "it answers what was not asked"

static const struct hostile {
	const char *text, *why;
	unsigned answers;   /* of one command that was asked */
	const char *repeat; /* sent 400,000 times behind text */
} hostiles[] = {
    {":1\r\n:2\r\n", UNASKED, 1, NULL},
    {":1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n", UNASKED, 1, NULL},
    {":1\r\n*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$1\r\na\r\n$3\r\nset\r\n", UNASKED, 1, NULL},
    {":1\r\n*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n", UNASKED, 1, NULL},
    {":1\r\n+OK\r\n", UNASKED, 1, NULL},
    {":1\r\n-ERR max number of clients reached\r\n", UNASKED, 1, NULL},
    {">2\r\n$7\r\nmessage\r\n$1\r\na\r\n", PROTOCOL, 0, NULL}, /* RESP3 */
    {"%1\r\n+a\r\n+b\r\n", PROTOCOL, 0, NULL},
    {"_\r\n", PROTOCOL, 0, NULL},
    {"HTTP/1.1 400 Bad Request\r\n\r\n", PROTOCOL, 0, NULL},
    {"\r\n", PROTOCOL, 0, NULL},
    {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", PROTOCOL, 0, NULL},
    {"", PROTOCOL, 0, "*1\r\n"},
    {"*2147483647\r\n", LONG, 0, NULL},
    {"*4294967297\r\n", LONG, 0, NULL},
    {"*99999999999999999999\r\n", PROTOCOL, 0, NULL},
    {"*-2\r\n", PROTOCOL, 0, NULL},
    {"*\r\n", PROTOCOL, 0, NULL},
    {"*1 \r\n", PROTOCOL, 0, NULL},
    {"$2147483647\r\n", LONG, 0, NULL},
    {"$-2\r\n", PROTOCOL, 0, NULL},
    {"$1\r\nabc", PROTOCOL, 0, NULL},
    {"$1\n1\r\n", PROTOCOL, 0, NULL},
    {":abc\r\n", PROTOCOL, 0, NULL},
    {"+", LONG, 0, "aaaaaaaa"},
    {"*3\r\n$1048000\r\n", PROTOCOL, 0, "aaaaaaaa"},
    {"*349525\r\n", LONG, 0, "+\r\n"},
};
enum { N_HOSTILES = sizeof(hostiles) / sizeof(hostiles[0]) };

START_TEST(hostile_servers_are_given_up)
{
	const struct hostile *hostile = &hostiles[_i];

	begin(_i % 2);
	greet();
	ask("GET");
	hear("GET");
	say(hostile->text);
	if (hostile->repeat) {
		enum { TIMES = 1000, ROUNDS = 400 };
		static char block[TIMES * 8 + 1];

		block[0] = '\0';
		for (char *at = block; at < block + TIMES * strlen(hostile->repeat); at += strlen(hostile->repeat))
			strcpy(at, hostile->repeat);
		for (int i = 0; i < ROUNDS && redis_link_is_up(redis); i++)
			say(block);
	}
	ck_assert(!redis_link_is_up(redis));
	ck_assert_str_eq(why, hostile->why);
	ck_assert_uint_eq(answers, hostile->answers);
	ck_assert_uint_eq(nulls, 1 - hostile->answers);
	close(peer_fd);
	/* It comes to its senses. */
	greet();
	ask("GET");
	hear("GET");
	said[0] = '\0';
	say("+back\r\n");
	ck_assert_str_eq(said, "back ");
	end();
}
END_TEST

/* Before anything was asked, and beside the answer to SELECT. */
START_TEST(one_that_speaks_first)
{
	begin(_i);
	redis_link_step(redis, now_us);
	peer_fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	say("+OK\r\n+OK\r\n");
	ck_assert(!redis_link_is_up(redis));
	ck_assert_str_eq(why, UNASKED);
	close(peer_fd);
	greet();
	end();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("redis");
	TCase *good = tcase_create("good"), *bad = tcase_create("bad");

	tcase_set_timeout(good, 60);
	tcase_add_loop_test(good, answers_in_order_and_in_pieces, 0, 2);
	tcase_add_loop_test(good, many_commands, 0, 2);
	tcase_add_loop_test(good, a_subscription, 0, 2);
	tcase_add_loop_test(good, one_that_is_away_silent_or_refuses, 0, 2);
	suite_add_tcase(suite, good);
	tcase_set_timeout(bad, 60);
	tcase_add_loop_test(bad, hostile_servers_are_given_up, 0, N_HOSTILES);
	tcase_add_loop_test(bad, one_that_speaks_first, 0, 2);
	suite_add_tcase(suite, bad);
	return suite_run(suite);
}
