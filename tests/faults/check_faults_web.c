/*
 * The HTTP server with each thing that it asks of the system, of SQLite and of its library failing
 * once, and from there on (faults.h). An answer is whole and the right one, or it says that it is
 * none (503), or the connection is closed; nothing is left behind; and the same server answers all
 * when the fault is over.
 */
#include "collector/web/api.h"
#include "collector/web/web.h"
#include "common/log.h"
#include "tests/faults/faults_private.h"
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"
#include "tests/collector/web/web_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define MAC_A "000000000001"
#define MAC_B "000000000002"

enum {
	RUNS = 60, /* faults of one kind in what takes long */
	ASKS_MAX = 10,
	MORE_MAX = 20, /* descriptors: all that it needs at once, and some */
	PORTS = 12, /* enough for answers that are worth compressing */
};

static struct report_store store;
static char file_of_names[64], over_long[8192]; /* a request */
static const char *names; /* that file, or "" */
static struct clock noon = {.manual = true, .manual_wall_us = REPORT_STORE_T0 + 120 * SECOND,
    .manual_mono_us = SECOND};

/* ---- what the server asks of its libraries ---- */

struct MHD_Response *__real_MHD_create_response_from_buffer(size_t n, void *octets,
    enum MHD_ResponseMemoryMode mode);
struct MHD_Response *__wrap_MHD_create_response_from_buffer(size_t n, void *octets,
    enum MHD_ResponseMemoryMode mode);
struct MHD_Response *
__wrap_MHD_create_response_from_buffer(size_t n, void *octets, enum MHD_ResponseMemoryMode mode)
{
	return faults_hit(FAULT_MEMORY, "MHD_create_response_from_buffer")
	    ? NULL : __real_MHD_create_response_from_buffer(n, octets, mode);
}

enum MHD_Result __real_MHD_add_response_header(struct MHD_Response *response, const char *name,
    const char *value);
enum MHD_Result __wrap_MHD_add_response_header(struct MHD_Response *response, const char *name,
    const char *value);
enum MHD_Result
__wrap_MHD_add_response_header(struct MHD_Response *response, const char *name, const char *value)
{
	return faults_hit(FAULT_MEMORY, "MHD_add_response_header")
	    ? MHD_NO : __real_MHD_add_response_header(response, name, value);
}

enum MHD_Result __real_MHD_queue_response(struct MHD_Connection *connection, unsigned status,
    struct MHD_Response *response);
enum MHD_Result __wrap_MHD_queue_response(struct MHD_Connection *connection, unsigned status,
    struct MHD_Response *response);
enum MHD_Result
__wrap_MHD_queue_response(struct MHD_Connection *connection, unsigned status,
    struct MHD_Response *response)
{
	return faults_hit(FAULT_MEMORY, "MHD_queue_response")
	    ? MHD_NO : __real_MHD_queue_response(connection, status, response);
}

int __real_deflateInit2_(z_streamp z, int level, int method, int window, int memory, int strategy,
    const char *version, int size);
int __wrap_deflateInit2_(z_streamp z, int level, int method, int window, int memory, int strategy,
    const char *version, int size);
int
__wrap_deflateInit2_(z_streamp z, int level, int method, int window, int memory, int strategy,
    const char *version, int size)
{
	return faults_hit(FAULT_MEMORY, "deflateInit2") ? Z_MEM_ERROR
	    : __real_deflateInit2_(z, level, method, window, memory, strategy, version, size);
}

/* Nothing is closed twice: in between it may have become another's. */
int __real_close(int fd);
int __wrap_close(int fd);
int
__wrap_close(int fd)
{
	int rc = __real_close(fd);

	faults_assert(rc == 0 || errno != EBADF, "descriptor %d is closed twice", fd);
	return rc;
}

int __real_poll(struct pollfd *polls, nfds_t n, int ms);
int __wrap_poll(struct pollfd *polls, nfds_t n, int ms);
int
__wrap_poll(struct pollfd *polls, nfds_t n, int ms)
{
	if (faults_hit(FAULT_SOCKET, "poll")) {
		errno = ENOMEM;
		return -1;
	}
	return __real_poll(polls, n, ms);
}

/* ---- a store, and a server over it ---- */

static void
fill_store(void)
{
	report_store_make(&store);
	for (int agent = 1; agent <= 2; agent++) {
		report_store_agent(&store, agent, 120);
		for (int port = 1; port <= PORTS; port++) {
			/* in UTF-8, and as a device has it that knows Latin 1 alone */
			report_store_port(&store, agent, port,
			    port % 2 ? "g\xc3\xa9-1" : "g\xe9-2", 1);
			report_store_window(&store, 0, agent, port, 1000, 64000);
			report_store_samples(&store, 0, agent, port, 20, 50, 64, 1, MAC_A, MAC_B);
			report_store_samples(&store, 0, agent, port, 20, 50, 64, 2, "0a000001",
			    "0a000002");
		}
	}
	report_store_renew(&store);
}

static void
set_over_long(void)
{
	strcpy(over_long, "GET /api/v1/talkers?agent=");
	memset(over_long + strlen(over_long), 'a', 5000);
	strcat(over_long, " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
}

static void
set_up(void)
{
	static const char text[] = "10.0.0.1 backup1\n00:00:00:00:00:02 printer\n";
	int fd;

	log_set_most(LOG_LEVEL_ERROR);
	faults_install();
	set_over_long();
	fill_store();
	names = file_of_names;
	strcpy(file_of_names, "/tmp/ease-names-XXXXXX");
	fd = mkstemp(file_of_names);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
}

static void
tear_down(void)
{
	report_store_remove(&store);
	unlink(file_of_names);
}

static int
open_server(struct web **web, uint16_t *port)
{
	static const struct stat_name stat_names[] = {{"input.records", "records"}};
	static _Atomic uint64_t value = 12345;
	static const struct stat_set stats = {stat_names, 1, &value};
	static const struct stat_set *const all_stats[] = {&stats};
	struct web_config config = {.token = "secret", .connections = 100, .question_ms = 60000,
	    .question_keys = 100000, .metrics_ports = 100, .metrics_top = 5,
	    .store = store.newest, .names = {.file = names}, .stats = all_stats, .n_stats = 1,
	    .started_us = REPORT_STORE_T0, .clock = &noon};
	struct sockaddr_in at;
	socklen_t size = sizeof(at);
	char error[256] = "";
	int rc;

	config.listen_fd = web_listen("127.0.0.1:0", error, sizeof(error));
	rc = config.listen_fd;
	if (rc >= 0) {
		faults_spare(true);
		faults_assert(getsockname(rc, (struct sockaddr *)&at, &size) == 0, "getsockname");
		faults_spare(false);
		*port = ntohs(at.sin_port);
		rc = web_open(web, &config, error, sizeof(error));
	}
	faults_assert((rc < 0) == (error[0] != '\0') || rc == 0, "%d after %s failed: no reason",
	    rc, faults_last());
	return rc;
}

/* ---- what is asked ---- */

#define GET(what, headers) \
	"GET " what " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" headers "\r\n"
#define TOKEN "Authorization: Bearer secret\r\n"
#define GZIP  "Accept-Encoding: gzip\r\n"

struct ask {
	const char *text;
	int status;
	struct web_answer right; /* without a fault */
};

enum { PAGE, HEALTH, STATUS, METRICS, LISTS, REPORTS_OF_PORTS, SCENARIOS };

/* Each is its own scenario, so that a fault has few calls to choose from. */
static struct scenario {
	const char *name;
	unsigned most;
	bool some_go_away;
	struct ask asks[ASKS_MAX];
} scenarios[SCENARIOS] = {
    [PAGE] = {"page and refusals", FAULTS_EVERY, false, {
	{GET("/", ""), 200, {0}},
	{GET("/page.js", GZIP), 200, {0}},
	{GET("/nothing.html", ""), 404, {0}},
	{GET("/api/v1/talkers", ""), 401, {0}},
	{GET("/api/v1/talkers?colour=red", TOKEN), 400, {0}},
	{GET("/api/v1/talkers?agent=%c3%a9", ""), 401, {0}}, /* UTF-8: read before the token */
	{"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: 3\r\n\r\nx=y", 405,
	    {0}},
	{over_long, 414, {0}},
    }},
    [HEALTH] = {"health", FAULTS_EVERY, false, {{GET("/healthz", ""), 200, {0}}}},
    [STATUS] = {"status", 2 * RUNS, false, {{GET("/api/v1/status", TOKEN), 200, {0}}}},
    [METRICS] = {"metrics", 2 * RUNS, false, {{GET("/metrics", TOKEN GZIP), 200, {0}}}},
    [LISTS] = {"lists", RUNS, true, {
	{GET("/api/v1/talkers?last=all", TOKEN), 200, {0}},
	{GET("/api/v1/matrix?last=all&layer=eth", TOKEN), 200, {0}},
	{GET("/api/v1/loss?last=all&agent=192.0.2.1", TOKEN), 200, {0}},
	{GET("/api/v1/load?last=all&agent=192.0.2.99", TOKEN), 400, {0}},
    }},
    [REPORTS_OF_PORTS] = {"ports", RUNS / 2, false, {
	{GET("/api/v1/load?last=all", TOKEN GZIP), 200, {0}},
	{GET("/api/v1/history?last=all&step=1m", TOKEN GZIP), 200, {0}},
	{GET("/api/v1/agents?last=all", TOKEN), 200, {0}},
    }},
};

/* ---- what is answered ---- */

static void
expect_right(const struct ask *ask, const struct web_answer *is)
{
	faults_assert(is->status == ask->status && is->body, "%.40s: after %s failed: status %d, %.200s",
	    ask->text, faults_last(), is->status, is->body ? is->body : "no body");
	if (!ask->right.head)
		return;
	faults_assert(strcmp(is->head, ask->right.head) == 0,
	    "%.40s: after %s failed: headers %s instead of %s", ask->text, faults_last(), is->head,
	    ask->right.head);
	faults_assert(is->n_body == ask->right.n_body &&
	    memcmp(is->body, ask->right.body, is->n_body) == 0,
	    "%.40s: after %s failed: %zu octets instead of %zu: %.400s", ask->text, faults_last(),
	    is->n_body, ask->right.n_body, is->body);
}

/* Of /metrics without parts that it says are missing: each other line is one of the right answer's. */
static bool
is_without_parts(const struct ask *ask, const struct web_answer *is)
{
	static const char part[] = "easeswitch_scrape_part_success{part=\"", missing[] = "} 0\n";
	const char *end = is->body ? is->body + is->n_body : NULL;
	unsigned n_missing = 0;

	if (is->status != 200 || !is->body || !ask->right.body)
		return false;
	for (const char *line = is->body, *next; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		if (!stop)
			return false;
		next = stop + 1;
		if (strncmp(line, part, strlen(part)) == 0 && memcmp(next - strlen(missing), missing, strlen(missing)) == 0)
			n_missing++;
		else if (!memmem(ask->right.body, ask->right.n_body, line, (size_t)(next - line)))
			return false;
	}
	return n_missing > 0;
}

/* A refusal that says so: 503 and why, no answer at all, or parts of one. */
static bool
is_refusal(const struct ask *ask, const struct web_answer *is)
{
	return (is->status == 0 && !is->cut) ||
	    (is->status == 503 && is->body && strncmp(is->body, "{\"error\":\"", 10) == 0) ||
	    is_without_parts(ask, is);
}

/* Connects and asks. */
static int
begin(const char *text, uint16_t port)
{
	int fd = web_client_socket();

	faults_assert(fd >= 0 && web_client_connect(fd, port) == 0, "%.40s: no connection: %s", text,
	    strerror(errno));
	web_client_send(fd, text);
	return fd;
}

enum refusals { NEVER, AFTER_A_FAULT, ANY };

/* 0: answered as without a fault; -EAGAIN: refused. */
static int
end(struct ask *ask, int fd, enum refusals allowed)
{
	struct web_answer is = web_client_read(fd);
	bool may_refuse = allowed == ANY || (allowed == AFTER_A_FAULT && faults_failed() > 0);
	int rc = 0;

	faults_assert(!is.silent, "%.40s: after %s failed: no answer", ask->text, faults_last());
	if (may_refuse && is_refusal(ask, &is))
		rc = -EAGAIN;
	else
		expect_right(ask, &is);
	if (rc == 0 && !ask->right.head)
		ask->right = is;
	else
		web_answer_free(&is);
	return rc;
}

static int
ask_all(struct scenario *s, uint16_t port, enum refusals allowed)
{
	int err = 0;

	for (struct ask *ask = s->asks; ask < s->asks + ASKS_MAX && ask->text; ask++) {
		int rc = end(ask, begin(ask->text, port), allowed);

		err = err ? err : rc;
	}
	return err;
}

/* One that goes away in the middle of its request, and one without waiting for its answer. */
static void
go_away(uint16_t port)
{
	close(begin("GET /api/v1/talk", port));
	close(begin(GET("/api/v1/talkers", TOKEN), port));
}

static void
keep_no_answer(void)
{
	__atomic_fetch_add(&noon.manual_mono_us, JOBS_KEEP_US, __ATOMIC_RELAXED);
}

static int
serve(void *arg)
{
	struct scenario *s = arg;
	struct web *web = NULL;
	uint16_t port = 0;
	int rc = open_server(&web, &port);

	faults_spare(true);
	if (rc == 0) {
		if (s->some_go_away)
			go_away(port);
		rc = ask_all(s, port, AFTER_A_FAULT);
		faults_stop();
		keep_no_answer();
		ask_all(s, port, NEVER);
	}
	faults_spare(false);
	web_close(web);
	return rc;
}

static void
wait_for_requests(const struct web *web, unsigned n)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	for (int i = 0; i < 10000 && stat_get(web_stats(web), WEB_STAT_REQUESTS) < n; i++)
		nanosleep(&moment, NULL);
}

/* It stops while one is in the middle of its request and others wait for their answers. */
static int
stop_amid(void *arg)
{
	struct scenario *s = arg;
	struct web *web = NULL;
	int fds[ASKS_MAX], half, rc;
	uint16_t port = 0;
	unsigned n = 0;

	rc = open_server(&web, &port);
	if (rc < 0)
		return rc;
	faults_spare(true);
	half = begin("GET /api/v1/talk", port);
	for (; n < ASKS_MAX && s->asks[n].text; n++)
		fds[n] = begin(s->asks[n].text, port);
	wait_for_requests(web, n);
	faults_spare(false);
	web_close(web);
	faults_spare(true);
	while (n-- > 0)
		end(&s->asks[n], fds[n], ANY);
	close(half);
	return 0;
}

static void
forget_answers(struct scenario *s)
{
	for (struct ask *ask = s->asks; ask < s->asks + ASKS_MAX; ask++)
		web_answer_free(&ask->right);
}

static void
exhaust(struct scenario *s, const char *what, unsigned classes, unsigned most, faults_scenario *run)
{
	char name[64];

	snprintf(name, sizeof(name), "%s, %s", s->name, what);
	faults_spare(false);
	ck_assert_int_eq(serve(s), 0); /* what is right */
	faults_exhaust(name, classes, most, run, s);
	forget_answers(s);
}

START_TEST(without_memory_an_answer_is_right_or_none)
{
	exhaust(&scenarios[_i], "memory", FAULT_BIT(FAULT_MEMORY), scenarios[_i].most,
	    serve);
}
END_TEST

START_TEST(without_the_system_it_opens_or_says_why)
{
	exhaust(&scenarios[PAGE], "the system", FAULT_ALL & ~FAULT_BIT(FAULT_MEMORY), FAULTS_EVERY,
	    serve);
}
END_TEST

START_TEST(it_stops_amid_questions)
{
	exhaust(&scenarios[LISTS], "stopping", FAULT_ALL, RUNS, stop_amid);
}
END_TEST

/* With so few descriptors more than it has, libraries run out of them too. */
static void
serve_with(rlim_t more)
{
	struct rlimit usual, few;
	struct scenario *s = &scenarios[LISTS];
	struct web *web = NULL;
	int fds[ASKS_MAX], n = 0;
	uint16_t port = 0;

	for (; n < ASKS_MAX && s->asks[n].text; n++)
		fds[n] = web_client_socket();
	ck_assert_int_ge(fds[n - 1], 0);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
	few = usual;
	few.rlim_cur = (rlim_t)fds[n - 1] + 1 + more;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	if (open_server(&web, &port) == 0)
		for (int i = 0; i < n; i++) {
			struct pollfd polled = {.fd = fds[i], .events = POLLIN};

			ck_assert_int_eq(web_client_connect(fds[i], port), 0);
			web_client_send(fds[i], s->asks[i].text);
			poll(&polled, 1, 100); /* it may be out of them, or answer; both will do */
		}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
	for (int i = 0; i < n; i++)
		if (web)
			end(&s->asks[i], fds[i], ANY);
		else
			close(fds[i]);
	keep_no_answer();
	if (web)
		ask_all(s, port, NEVER);
	web_close(web);
}

START_TEST(without_descriptors_it_refuses)
{
	size_t held;

	names = _i == 0 ? file_of_names : "";
	ck_assert_int_eq(serve(&scenarios[LISTS]), 0);
	held = faults_descriptors();
	for (rlim_t more = 0; more < MORE_MAX; more++) {
		serve_with(more);
		ck_assert_uint_eq(faults_descriptors(), held);
	}
	forget_answers(&scenarios[LISTS]);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("faults_web");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, getenv("EASE_LONG") ? 1800 : 120);
	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_loop_test(all, without_memory_an_answer_is_right_or_none, 0, SCENARIOS);
	tcase_add_test(all, without_the_system_it_opens_or_says_why);
	tcase_add_test(all, it_stops_amid_questions);
	tcase_add_loop_test(all, without_descriptors_it_refuses, 0, 2);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
