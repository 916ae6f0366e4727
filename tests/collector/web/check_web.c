/*
 * The HTTP server's parts without sockets of the web: requests as text, questions that are shared,
 * and clients that take too long or are too many.
 */
#include "tests/suite.h"

#include "collector/web/connections.h"
#include "collector/web/jobs.h"
#include "collector/web/request.h"

#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- requests ---- */

static int
parse(const char *uri, struct request *request, char *error)
{
	*error = '\0';
	return request_parse(uri, request, error);
}

START_TEST(requests_mean_what_they_say)
{
	static struct request r;
	char error[REQUEST_ERROR];

	ck_assert_int_eq(parse("/", &r, error), 200);
	ck_assert_int_eq(r.kind, REQUEST_FILE);
	ck_assert_str_eq(r.file, "index.html");
	ck_assert_int_eq(parse("/page.js?v=3", &r, error), 200);
	ck_assert_str_eq(r.file, "page.js");
	ck_assert_int_eq(parse("/metrics?x=y", &r, error), 200);
	ck_assert_int_eq(r.kind, REQUEST_METRICS);
	ck_assert_int_eq(parse("/api/v1/matrix?layer=eth&top=7&agent=10.0.0.1&port=ge%2D1%20a&by=&vlan=5"
	    "&from=2026-01-01T00:00:00%2B01:00", &r, error), 200);
	ck_assert_int_eq(r.kind, REQUEST_REPORT);
	ck_assert_str_eq(r.question.report->name, "matrix");
	ck_assert_int_eq(r.question.options.layer, REPORT_LAYER_ETH);
	ck_assert_int_eq(r.question.options.by, REPORT_BY_DEFAULT);
	ck_assert_uint_eq(r.question.options.top, 7);
	ck_assert_str_eq(r.question.filter.text, "(agent 10.0.0.1) and (if \"ge-1 a\") and (vlan 5)");
	ck_assert_uint_eq(r.question.options.from_us, 1767222000000000ull);
	ck_assert(!r.question.options.fold_few);
	ck_assert_int_eq(parse("/api/v1/history?from=2026-01-01T00:00:00+01:00&to=2026-01-01T01:00:00+01:00", &r, error), 200);
	ck_assert_uint_eq(r.question.options.from_us, 1767222000000000ull); /* the sign was not encoded */
	ck_assert_uint_eq(r.question.options.to_us, 1767225600000000ull);
	ck_assert_int_eq(parse("/api/v1/history?from=2026-01-01+10:30", &r, error), 400); /* a time without a zone */
}
END_TEST

START_TEST(refusals_name_the_option)
{
	static const struct {
		const char *uri;
		int status;
		const char *error; /* its beginning */
	} bad[] = {
	    {"/api/v1/nothing", 404, "no report nothing; there are talkers "},
	    {"/api/v1/talkers?format=xml", 400, "format: must be json or csv"},
	    {"/api/v1/talkers?colour=red", 400, "colour: no such option"},
	    {"/api/v1/talkers?colour", 400, "colour: no such option"},
	    {"/api/v1/talkers?1234567890123456789012345678901%C3%A9=5", 400,
		"1234567890123456789012345678901: no such option"},
	    {"/api/v1/talkers?watch=5", 400, "watch: no such option"},
	    {"/api/v1/talkers?store=/etc/passwd", 400, "store: no such option"},
	    {"/api/v1/talkers?top=5&top=5", 400, "top: given twice"},
	    {"/api/v1/talkers?top=1001", 400, "top: at most 1000 rows"},
	    {"/api/v1/talkers?top=-1", 400, "top: must be 1 to 1000000"},
	    {"/api/v1/talkers?vlan=4096", 400, "vlan: must be a VLAN, 0 to 4095"},
	    {"/api/v1/talkers?by=x", 400, "by: must be src, dst, pair, subnet, network, as, country, vlan, vni, service, "
		"proto, ethertype, server, port, lag, site, reason, place, group, queue or port-pair; dst-network, network-pair and so on"},
	    {"/api/v1/talkers?last=5", 400, "last: must be "},
	    {"/api/v1/talkers?addr=300.0.0.1", 400, "addr: must be an address or a prefix"},
	    {"/api/v1/talkers?agent=%", 400, "the query is not valid URL-encoded UTF-8"},
	    {"/api/v1/talkers?agent=%4", 400, "the query is not valid URL-encoded UTF-8"},
	    {"/api/v1/talkers?agent=%00x", 400, "the query is not valid URL-encoded UTF-8"},
	    {"/api/v1/talkers?agent=%0a", 400, "the query is not valid URL-encoded UTF-8"},
	    {"/api/v1/talkers?agent=%ff", 400, "the query is not valid URL-encoded UTF-8"},
	    {"/%ff", 400, "the path is not valid URL-encoded UTF-8"},
	    {"", 400, "the path is not valid URL-encoded UTF-8"},
	    {"*", 400, "the path is not valid URL-encoded UTF-8"},
	};
	static struct request r;
	char error[REQUEST_ERROR];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(parse(bad[i].uri, &r, error) == bad[i].status, "%s", bad[i].uri);
		ck_assert_msg(strncmp(error, bad[i].error, strlen(bad[i].error)) == 0, "%s: %s",
		    bad[i].uri, error);
		ck_assert_ptr_null(strchr(error, '\n'));
	}
}
END_TEST

START_TEST(long_requests_are_refused)
{
	static struct request r;
	static char uri[REQUEST_URI_MAX + 2];
	char error[REQUEST_ERROR];

	memset(uri, 'a', sizeof(uri) - 1);
	memcpy(uri, "/api/v1/talkers?agent=", 22);
	ck_assert_int_eq(parse(uri, &r, error), 414);
	uri[REQUEST_URI_MAX] = '\0';
	ck_assert_int_eq(parse(uri, &r, error), 400); /* a filter is shorter */
	memset(uri + 16, '&', REQUEST_URI_MAX - 16);
	ck_assert_int_eq(parse(uri, &r, error), 200);
	ck_assert_uint_lt(strlen(r.key), sizeof(r.key));
}
END_TEST

START_TEST(filters_repeat_and_join)
{
	static struct request r, other;
	char error[REQUEST_ERROR];

	ck_assert_int_eq(parse("/api/v1/talkers?filter=port+80+or+443&filter=not+vlan+12&vlan=", &r, error), 200);
	ck_assert_str_eq(r.question.filter.text, "(port 80 or 443) and (not vlan 12)");
	ck_assert(r.is_long);
	parse("/api/v1/talkers?filter=port+80+or+443&filter=not+vlan+13", &other, error);
	ck_assert_str_ne(r.key, other.key);
	ck_assert_int_eq(parse("/api/v1/talkers?filter=port+80+or", &r, error), 400);
	ck_assert_str_eq(error, "filter: column 11: expected a term (host, net, mac, port, proto, vlan, octets, network,"
	    " as, country, agent, if, site) or an address, not the end");
	ck_assert_int_eq(parse("/api/v1/load?filter=if+e-1+and+tcp", &r, error), 400);
	ck_assert_str_eq(error, "filter: column 12: load is of whole ports: it filters by site, agent and if, not by proto");
	ck_assert_int_eq(parse("/api/v1/load?filter=if+e-1", &r, error), 200);
	ck_assert(!r.is_long);
}
END_TEST

START_TEST(what_means_the_same_has_one_key)
{
	static struct request a, b;
	char error[REQUEST_ERROR];

	parse("/api/v1/talkers?top=5&by=src", &a, error);
	parse("/api/v1/talkers?by=%73rc&top=5&vlan=", &b, error);
	ck_assert_str_eq(a.key, b.key);
	parse("/api/v1/talkers?agent=x%26port%3Dy", &a, error);
	parse("/api/v1/talkers?agent=x&port=y", &b, error);
	ck_assert_str_ne(a.key, b.key);
}
END_TEST

/* ---- jobs ---- */

struct viewer {
	struct job_waiter waiter; /* first */
	bool asleep, awake;
};

static struct run {
	struct jobs *jobs;
	struct clock clock;
	sem_t may_answer, may_answer_long, woken;
	_Atomic int answered;
	size_t octets;
} run;

static void
answer_slowly(void *arg, unsigned worker, const struct request *request, struct reply *reply)
{
	(void)arg;
	ck_assert_uint_lt(worker, JOBS_WORKERS);
	sem_wait(request->is_long ? &run.may_answer_long : &run.may_answer);
	run.answered++;
	reply->status = 200;
	reply->octets = run.octets ? run.octets : strlen(request->key);
	reply->body = calloc(1, reply->octets + 1);
	strcpy(reply->body, request->key);
}

static void
sleep_viewer(struct job_waiter *waiter)
{
	((struct viewer *)waiter)->asleep = true;
}

static void
wake_viewer(struct job_waiter *waiter)
{
	((struct viewer *)waiter)->awake = true;
	sem_post(&run.woken);
}

static void
setup(void)
{
	const struct jobs_config config = {.run = answer_slowly, .sleep = sleep_viewer,
	    .wake = wake_viewer, .clock = &run.clock};

	run = (struct run){.clock = {.manual = true, .manual_mono_us = 1}};
	sem_init(&run.may_answer, 0, 0);
	sem_init(&run.may_answer_long, 0, 0);
	sem_init(&run.woken, 0, 0);
	ck_assert_int_eq(jobs_open(&run.jobs, &config), 0);
}

static void
teardown(void)
{
	jobs_stop(run.jobs);
	jobs_close(run.jobs);
}

static bool ask_long;

static enum jobs_state
ask(int number, struct viewer *viewer, struct job **job)
{
	struct request *request = calloc(1, sizeof(*request));

	snprintf(request->key, sizeof(request->key), "/q%d", number);
	request->is_long = ask_long;
	return jobs_ask(run.jobs, request, &viewer->waiter, job);
}

START_TEST(a_hundred_viewers_cost_one_question)
{
	static struct viewer viewers[100];
	struct job *jobs[100], *late, *next;
	struct viewer one = {0};

	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(ask(1, &viewers[i], &jobs[i]), JOB_WAITING);
	sem_post(&run.may_answer);
	for (int i = 0; i < 100; i++)
		sem_wait(&run.woken);
	ck_assert_int_eq(run.answered, 1);
	for (int i = 0; i < 100; i++) {
		ck_assert(viewers[i].asleep && viewers[i].awake);
		ck_assert_str_eq(job_reply(jobs[i])->body, "/q1");
		jobs_release(run.jobs, jobs[i]);
	}
	clock_step_us(&run.clock, JOBS_KEEP_US - 1);
	ck_assert_int_eq(ask(1, &one, &late), JOB_SHARED);
	ck_assert(!one.asleep);
	clock_step_us(&run.clock, 1);
	ck_assert_int_eq(ask(1, &one, &next), JOB_WAITING); /* too old: asked again */
	ck_assert_str_eq(job_reply(late)->body, "/q1");	     /* and still there for who reads it */
	jobs_release(run.jobs, late);
	sem_post(&run.may_answer);
	sem_wait(&run.woken);
	ck_assert_int_eq(run.answered, 2);
	jobs_release(run.jobs, next);
}
END_TEST

START_TEST(too_many_questions_are_refused)
{
	static struct viewer viewers[JOBS_MAX + 1];
	static struct job *jobs[JOBS_MAX + 1];

	for (int i = 0; i < JOBS_MAX; i++)
		ck_assert_int_eq(ask(i, &viewers[i], &jobs[i]), JOB_WAITING);
	ck_assert_int_eq(ask(JOBS_MAX, &viewers[JOBS_MAX], &jobs[JOBS_MAX]), JOB_REFUSED);
	ck_assert_ptr_null(jobs[JOBS_MAX]);
	ck_assert(!viewers[JOBS_MAX].asleep);
	for (int i = 0; i < JOBS_MAX; i++)
		sem_post(&run.may_answer);
	for (int i = 0; i < JOBS_MAX; i++)
		sem_wait(&run.woken);
	for (int i = 0; i < JOBS_MAX; i++)
		jobs_release(run.jobs, jobs[i]);
	/* answered ones make room, even before they are old */
	ck_assert_int_eq(ask(JOBS_MAX, &viewers[JOBS_MAX], &jobs[JOBS_MAX]), JOB_WAITING);
	sem_post(&run.may_answer);
	sem_wait(&run.woken);
	jobs_release(run.jobs, jobs[JOBS_MAX]);
}
END_TEST

/* However many long ones wait, they have one worker. */
START_TEST(long_questions_let_others_pass)
{
	enum { LONG = 5 };
	static struct viewer viewers[LONG + 1];
	struct job *jobs[LONG + 1];

	ask_long = true;
	for (int i = 0; i < LONG; i++)
		ck_assert_int_eq(ask(i, &viewers[i], &jobs[i]), JOB_WAITING);
	ask_long = false;
	ck_assert_int_eq(ask(LONG, &viewers[LONG], &jobs[LONG]), JOB_WAITING);
	sem_post(&run.may_answer); /* while none of the long ones may end */
	sem_wait(&run.woken);
	ck_assert(viewers[LONG].awake);
	for (int i = 0; i < LONG; i++)
		sem_post(&run.may_answer_long);
	for (int i = 0; i < LONG; i++)
		sem_wait(&run.woken);
	for (int i = 0; i <= LONG; i++)
		jobs_release(run.jobs, jobs[i]);
}
END_TEST

static enum jobs_state
ask_as(uint64_t asker, int number, struct viewer *viewer, struct job **job)
{
	struct request *request = calloc(1, sizeof(*request));

	snprintf(request->key, sizeof(request->key), "/q%d", number);
	request->asker = asker;
	request->is_long = true;
	return jobs_ask(run.jobs, request, &viewer->waiter, job);
}

/* Who asks without end has half of the room, and those that ask once are answered before his next one but one. */
START_TEST(who_asks_much_waits_for_others)
{
	enum { MOST = JOBS_MAX / 2 };
	static struct viewer viewers[MOST + 3];
	static struct job *jobs[MOST + 3];

	for (int i = 0; i < MOST; i++)
		ck_assert_int_eq(ask_as(7, i, &viewers[i], &jobs[i]), JOB_WAITING);
	ck_assert_int_eq(ask_as(7, MOST, &viewers[MOST], &jobs[MOST]), JOB_REFUSED);
	for (int i = MOST; i < MOST + 2; i++)
		ck_assert_int_eq(ask_as(8 + (uint64_t)i, i, &viewers[i], &jobs[i]), JOB_WAITING);
	for (int i = 0; i < 3; i++)
		sem_post(&run.may_answer_long);
	for (int i = 0; i < 3; i++)
		sem_wait(&run.woken);
	ck_assert(viewers[0].awake && viewers[MOST].awake && viewers[MOST + 1].awake);
	for (int i = 3; i < MOST + 2; i++)
		sem_post(&run.may_answer_long);
	for (int i = 3; i < MOST + 2; i++)
		sem_wait(&run.woken);
	for (int i = 0; i < MOST + 2; i++)
		jobs_release(run.jobs, jobs[i]);
}
END_TEST

/* As many answers as have room, all being read: then no more until one has been. */
START_TEST(answers_that_are_read_slowly_are_bounded)
{
	enum { FULL = JOBS_OCTETS / JOBS_REPLY_OCTETS };
	static struct viewer viewers[FULL + 2];
	static struct job *jobs[FULL + 2];

	run.octets = JOBS_REPLY_OCTETS;
	for (int i = 0; i < FULL; i++) {
		ck_assert_int_eq(ask(i, &viewers[i], &jobs[i]), JOB_WAITING);
		sem_post(&run.may_answer);
		sem_wait(&run.woken);
	}
	clock_step_us(&run.clock, 2 * JOBS_KEEP_US);
	ck_assert_int_eq(ask(FULL, &viewers[FULL], &jobs[FULL]), JOB_REFUSED);
	jobs_release(run.jobs, jobs[0]);
	ck_assert_int_eq(ask(FULL, &viewers[FULL], &jobs[FULL]), JOB_WAITING);
	sem_post(&run.may_answer);
	sem_wait(&run.woken);
	for (int i = 1; i <= FULL; i++)
		jobs_release(run.jobs, jobs[i]);
}
END_TEST

START_TEST(who_waits_is_woken_at_the_end)
{
	static struct viewer viewers[10];
	struct job *jobs[10];

	for (int i = 0; i < 10; i++)
		ask(i, &viewers[i], &jobs[i]);
	for (int i = 0; i < JOBS_WORKERS; i++)
		sem_post(&run.may_answer);
	for (int i = 0; i < JOBS_WORKERS; i++)
		sem_wait(&run.woken);
	for (int i = 0; i < 10; i++) /* the stop finds the others in the queue, or half answered */
		sem_post(&run.may_answer);
	jobs_stop(run.jobs);
	for (int i = 0; i < 10; i++) {
		ck_assert(viewers[i].awake);
		ck_assert(job_reply(jobs[i])->body || job_reply(jobs[i])->status == 503);
		jobs_release(run.jobs, jobs[i]);
	}
	jobs_close(run.jobs);
	setup(); /* for the teardown */
}
END_TEST

/* ---- clients ---- */

static bool
is_closed(int other_end)
{
	char octet;

	return recv(other_end, &octet, 1, MSG_DONTWAIT) == 0;
}

START_TEST(slow_clients_are_closed)
{
	struct clock clock = {.manual = true, .manual_mono_us = 1};
	struct web_connections clients = {.clock = &clock, .most = 8};
	struct web_connection *asks, *waits, *reads;
	int ends[3][2];
	bool evicted;

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
	asks = connections_add(&clients, ends[0][0], &evicted);
	waits = connections_add(&clients, ends[1][0], &evicted);
	reads = connections_add(&clients, ends[2][0], &evicted);
	connection_enter(&clients, waits, CONNECTION_WAIT);
	connection_enter(&clients, reads, CONNECTION_RESPONSE);
	clock_step_us(&clock, CONNECTION_REQUEST_US);
	ck_assert_uint_eq(connections_close_late(&clients), 0);
	clock_step_us(&clock, 1);
	ck_assert_uint_eq(connections_close_late(&clients), 1);
	ck_assert(is_closed(ends[0][1]) && !is_closed(ends[2][1]));
	clock_step_us(&clock, CONNECTION_RESPONSE_US);
	ck_assert_uint_eq(connections_close_late(&clients), 1);
	ck_assert(is_closed(ends[2][1]) && !is_closed(ends[1][1])); /* who waits, waits for us */
	connections_remove(&clients, waits);
	connections_remove(&clients, asks);
	connections_remove(&clients, reads);
	ck_assert_uint_eq(clients.n, 0);
	for (int i = 0; i < 6; i++)
		close(ends[i / 2][i % 2]);
}
END_TEST

START_TEST(one_too_many_takes_the_place_of_the_slowest)
{
	struct clock clock = {.manual = true, .manual_mono_us = 1};
	struct web_connections clients = {.clock = &clock, .most = 2};
	struct web_connection *client[4];
	int ends[4][2];
	bool evicted;

	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
		clock_step_us(&clock, 1000);
		client[i] = connections_add(&clients, ends[i][0], &evicted);
		ck_assert_int_eq(evicted, i >= 2);
		if (i == 0)
			connection_enter(&clients, client[0], CONNECTION_RESPONSE);
	}
	ck_assert(!is_closed(ends[0][1]) && is_closed(ends[1][1]) && is_closed(ends[2][1]));
	ck_assert(!is_closed(ends[3][1]));
	ck_assert(!connections_evict_reader(&clients)); /* it has not been slow yet */
	clock_step_us(&clock, 6000000);
	ck_assert(connections_evict_reader(&clients));
	ck_assert(is_closed(ends[0][1]));
	for (int i = 0; i < 4; i++) {
		connections_remove(&clients, client[i]);
		close(ends[i][0]);
		close(ends[i][1]);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("web");
	TCase *requests = tcase_create("requests"), *jobs = tcase_create("jobs");
	TCase *clients = tcase_create("clients");

	tcase_add_test(requests, requests_mean_what_they_say);
	tcase_add_test(requests, refusals_name_the_option);
	tcase_add_test(requests, long_requests_are_refused);
	tcase_add_test(requests, filters_repeat_and_join);
	tcase_add_test(requests, what_means_the_same_has_one_key);
	suite_add_tcase(suite, requests);
	tcase_add_checked_fixture(jobs, setup, teardown);
	tcase_add_test(jobs, a_hundred_viewers_cost_one_question);
	tcase_add_test(jobs, too_many_questions_are_refused);
	tcase_add_test(jobs, long_questions_let_others_pass);
	tcase_add_test(jobs, who_asks_much_waits_for_others);
	tcase_add_test(jobs, answers_that_are_read_slowly_are_bounded);
	tcase_add_test(jobs, who_waits_is_woken_at_the_end);
	suite_add_tcase(suite, jobs);
	tcase_add_test(clients, slow_clients_are_closed);
	tcase_add_test(clients, one_too_many_takes_the_place_of_the_slowest);
	suite_add_tcase(suite, clients);
	return suite_run(suite);
}
