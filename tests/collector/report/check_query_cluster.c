/*
 * Asking a cluster that answers wrongly, late, in part or not at all: each is an error in the time
 * given, with a message that names the server and says what to do. The server is a thread that
 * gives every connection the same scripted answer. That right answers give right figures, real
 * servers show (check_cluster.sh, check_cluster_top.sh).
 */
#include "collector/cluster/http.h"
#include "collector/cluster/schema.h"
#include "collector/query/query.h"
#include "collector/report/reports.h"
#include "common/clock.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECRET "hidden-from-all"

struct server {
	int fd;
	uint16_t port;
	pthread_t thread;
	const char *answer;
	size_t octets;
	const char *later; /* the answer to the second question and all further ones; NULL: the same */
	size_t later_octets;
	bool hangs; /* until the other side closes */
	atomic_uint asked;
};

static void
serve(struct server *server, int fd)
{
	char request[8192];
	bool later;

	if (read(fd, request, sizeof(request)) <= 0)
		return;
	later = server->asked++ > 0 && server->later;
	if (server->octets > 0 && write(fd, later ? server->later : server->answer, later ? server->later_octets
	    : server->octets) != (ssize_t)(later ? server->later_octets : server->octets))
		return;
	while (server->hangs && read(fd, request, sizeof(request)) > 0)
		;
}

static void *
run(void *arg)
{
	struct server *server = arg;
	int fd;

	while ((fd = accept(server->fd, NULL, NULL)) >= 0) {
		serve(server, fd);
		close(fd);
	}
	return NULL;
}

static void
start(struct server *server)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);

	server->fd = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(server->fd, (struct sockaddr *)&address, len), 0);
	ck_assert_int_eq(listen(server->fd, 16), 0);
	getsockname(server->fd, (struct sockaddr *)&address, &len);
	server->port = ntohs(address.sin_port);
	ck_assert_int_eq(pthread_create(&server->thread, NULL, run, server), 0);
}

static void
stop(struct server *server)
{
	shutdown(server->fd, SHUT_RDWR);
	pthread_join(server->thread, NULL);
	close(server->fd);
}

/* Asks, and must fail so, with a message that has both texts and not the password. */
static void
assert_fails(struct server *server, const struct query_limits *limits, int err, const char *says)
{
	struct cluster_url url = {.host = "127.0.0.1", .port = server->port};
	char error[QUERY_ERROR_TEXT] = "", name[32];
	struct query *query;

	snprintf(name, sizeof(name), "127.0.0.1:%u", url.port);
	ck_assert_int_eq(query_open_cluster(&(struct query_cluster){.servers = &url,
	    .n_servers = 1, .user = "ease", .password = SECRET}, limits, &query, error,
	    sizeof(error)), err);
	ck_assert_ptr_null(query);
	ck_assert_msg(strstr(error, says) != NULL, "\"%s\" does not say \"%s\"", error, says);
	ck_assert_msg(err == -ETIMEDOUT || strstr(error, name), "\"%s\" does not name %s", error,
	    name);
	ck_assert_ptr_null(strstr(error, SECRET));
}

#define HEAD "HTTP/1.1 200 OK\r\nConnection: close\r\n"
#define REFUSED "HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n\r\n"

START_TEST(wrong_answers_are_errors_with_a_reason)
{
	static const struct {
		const char *answer;
		size_t octets;
		int err;
		const char *says;
	} cases[] = {
#define CASE(answer, err, says) {answer, sizeof(answer) - 1, err, says}
	    CASE(HEAD "Content-Length: 8\r\n\r\n\377\0\0\0\0\0\0\0", -EPROTO, "newer than this"),
	    CASE(HEAD "Content-Length: 8\r\n\r\n\0\0\0\0\0\0\0\0", -EPROTO, "older than this"),
	    CASE(HEAD "Content-Length: 8\r\n\r\n\1\0\0", -EBADMSG, ""), /* cut */
	    CASE(HEAD "\r\n\1\0\0", -EBADMSG, "within a row"),
	    CASE("HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\nCode: 60, e.displayText() ="
		 " DB::Exception: Table ease.migration doesn't exist.\n", -EPROTO,
		"no tables of easecapd"),
	    CASE("HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\nCode: 81, e.displayText() ="
		 " DB::Exception: Database ease doesn't exist\n", -EPROTO, "no tables of easecapd"),
	    CASE("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\nCode: 193,"
		 " e.displayText() = DB::Exception: Wrong password for user ease\n", -EACCES,
		"wrong user or password"),
	    CASE(REFUSED "Code: 241,"
		 " e.displayText() = DB::Exception: Memory limit exceeded\n", -E2BIG,
		"shorter range"),
	    CASE(REFUSED "Code: 159,"
		 " e.displayText() = DB::Exception: Timeout exceeded\n", -ETIMEDOUT, "too long"),
	    CASE(REFUSED "Code: 62,"
		 " e.displayText() = DB::Exception: Syntax error\n", -EIO, "Syntax error"),
	    CASE("SSH-2.0-OpenSSH_9.2\r\n", -EHOSTUNREACH, ""),
	    CASE("", -EHOSTUNREACH, ""),
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct server server = {.answer = cases[i].answer, .octets = cases[i].octets};

		start(&server);
		assert_fails(&server, NULL, cases[i].err, cases[i].says);
		ck_assert_uint_ge(server.asked, 1);
		stop(&server);
	}
}
END_TEST

/* Who may write a server's tables writes what no collector does. */
START_TEST(columns_that_are_too_long_are_refused)
{
	static const char version[] = HEAD "Content-Length: 8\r\n\r\n\15\0\0\0\0\0\0";
	static char agent[512] = HEAD "\r\n";
	const struct report_options options = {.all = true};
	struct server server = {.answer = version, .octets = sizeof(version), .later = agent};
	struct cluster_url url = {.host = "127.0.0.1"};
	char error[QUERY_ERROR_TEXT] = "";
	struct report_result result;
	struct query *query;
	size_t at = strlen(agent);

	_Static_assert(CLUSTER_VERSION == 13, "it is in the answer");
	at += 8 + 8; /* id and boot */
	agent[at++] = (char)((300 & 0x7f) | 0x80); /* the length of the address, in LEB128 */
	agent[at++] = 300 >> 7;
	memset(agent + at, '1', 300);
	server.later_octets = at + 300 + 4 * 8;
	start(&server);
	url.port = server.port;
	ck_assert_msg(query_open_cluster(&(struct query_cluster){.servers = &url, .n_servers = 1}, NULL, &query, error,
	    sizeof(error)) == 0, "%s", error);
	ck_assert_int_eq(report_agents(query, &options, 1, &result), -EBADMSG);
	ck_assert_msg(strstr(query->error, "300 octets in column address"), "\"%s\"", query->error);
	query_close(query);
	stop(&server);
}
END_TEST

/* A report may prepare what it then does not ask; of two statements that read the same rows one fetches them. */
START_TEST(rows_are_fetched_when_a_statement_runs)
{
	static const char version[] = HEAD "Content-Length: 8\r\n\r\n\15\0\0\0\0\0\0";
	static const char nothing[] = HEAD "Content-Length: 0\r\n\r\n";
	struct server server = {.answer = version, .octets = sizeof(version), .later = nothing,
	    .later_octets = sizeof(nothing) - 1};
	struct cluster_url url = {.host = "127.0.0.1"};
	char error[QUERY_ERROR_TEXT] = "";
	sqlite3_stmt *stmts[3];
	struct query *query;
	unsigned asked;

	start(&server);
	url.port = server.port;
	ck_assert_msg(query_open_cluster(&(struct query_cluster){.servers = &url, .n_servers = 1}, NULL, &query, error,
	    sizeof(error)) == 0, "%s", error);
	asked = server.asked;
	for (int i = 0; i < 3; i++)
		ck_assert_ptr_nonnull(stmts[i] = query_prepare(query, "SELECT count(*) FROM port"));
	ck_assert_uint_eq(server.asked, asked);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(query_step(query, stmts[i]), 1);
	ck_assert_uint_eq(server.asked, asked + 1);
	for (int i = 0; i < 3; i++)
		sqlite3_finalize(stmts[i]);
	query_close(query);
	stop(&server);
}
END_TEST

START_TEST(nobody_there_is_said)
{
	struct server server = {0};

	start(&server);
	stop(&server);
	assert_fails(&server, NULL, -EHOSTUNREACH, "onnect");
}
END_TEST

START_TEST(half_an_answer_is_not_begun_again_elsewhere)
{
	static const char half[] = HEAD "Content-Length: 8\r\n\r\n\1\0\0";
	struct server first = {.answer = half, .octets = sizeof(half) - 1}, second = first;
	struct cluster_url urls[2] = {{.host = "127.0.0.1"}, {.host = "127.0.0.1"}};
	char error[QUERY_ERROR_TEXT];
	struct query *query;

	start(&first);
	start(&second);
	urls[0].port = first.port;
	urls[1].port = second.port;
	ck_assert_int_eq(query_open_cluster(&(struct query_cluster){.servers = urls,
	    .n_servers = 2}, NULL, &query, error, sizeof(error)), -EBADMSG);
	ck_assert_uint_eq(second.asked, 0);
	stop(&first);
	stop(&second);
}
END_TEST

/* A server that is stopped, or whose shard is, says nothing and closes nothing. */
START_TEST(limits_end_a_question_that_is_not_answered)
{
	struct server server = {.hangs = true};
	_Atomic bool cancelled = true;
	struct query_limits limits = {.clock = &clock_system};
	uint64_t began_us = clock_mono_us(&clock_system);

	start(&server);
	limits.deadline_us = began_us + 300000;
	assert_fails(&server, &limits, -ETIMEDOUT, "too long");
	ck_assert_uint_ge(clock_mono_us(&clock_system) - began_us, 300000);
	ck_assert_uint_lt(clock_mono_us(&clock_system) - began_us, 5000000);
	limits = (struct query_limits){.clock = &clock_system, .cancel = &cancelled};
	assert_fails(&server, &limits, -ETIMEDOUT, "too long");
	stop(&server);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("query_cluster");
	TCase *tcase = tcase_create("refusals");

	if (!cluster_http_is_built()) {
		printf("built without libcurl: nothing to test\n100%%: Checks: 0, Failures: 0\n");
		return EXIT_SUCCESS;
	}
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, wrong_answers_are_errors_with_a_reason);
	tcase_add_test(tcase, columns_that_are_too_long_are_refused);
	tcase_add_test(tcase, rows_are_fetched_when_a_statement_runs);
	tcase_add_test(tcase, nobody_there_is_said);
	tcase_add_test(tcase, half_an_answer_is_not_begun_again_elsewhere);
	tcase_add_test(tcase, limits_end_a_question_that_is_not_answered);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
