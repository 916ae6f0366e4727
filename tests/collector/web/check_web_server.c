/*
 * The HTTP server over a store filled by SQL, asked through sockets: whom it answers by which name
 * and token, what it says of a store or cluster that it cannot read, /metrics to the letter of
 * Prometheus' text format, and how it makes room for a client. On a clock that stands, so that an
 * answer is kept for ever.
 */
#include "collector/cluster/url.h"
#include "collector/query/query.h"
#include "collector/web/api.h"
#include "collector/web/request.h"
#include "collector/web/web.h"
#include "common/log.h"
#include "tests/collector/report/report_store.h"
#include "tests/collector/web/web_client.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ERROR_TEXT = 256, REQUEST_TEXT = 8192 };

static struct report_store store;
static const struct clock now = {.manual = true, .manual_wall_us = REPORT_STORE_T0 + 120 * SECOND,
    .manual_mono_us = SECOND};
static struct web_config config;
static struct web *web;
static uint16_t port;

static void
set_up(void)
{
	log_set_most(LOG_LEVEL_ERROR);
	report_store_make(&store);
	report_store_agent(&store, 1, 120);
	config = (struct web_config){.token = "", .connections = 100, .question_ms = 60000,
	    .question_keys = 1000, .metrics_ports = 2, .metrics_top = 5, .store = store.newest,
	    .names = {.file = ""}, .started_us = REPORT_STORE_T0, .clock = &now};
}

static void
tear_down(void)
{
	web_close(web);
	web = NULL;
	report_store_remove(&store);
}

static void
start(void)
{
	struct sockaddr_in at;
	socklen_t size = sizeof(at);
	char error[ERROR_TEXT] = "";

	report_store_renew(&store);
	config.listen_fd = web_listen("127.0.0.1:0", error, sizeof(error));
	ck_assert_msg(config.listen_fd >= 0, "%s", error);
	ck_assert_int_eq(getsockname(config.listen_fd, (struct sockaddr *)&at, &size), 0);
	port = ntohs(at.sin_port);
	ck_assert_msg(web_open(&web, &config, error, sizeof(error)) == 0, "%s", error);
}

static int
connected(void)
{
	int fd = web_client_socket();

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(web_client_connect(fd, port), 0);
	return fd;
}

/* GET with further header lines, each ended by \r\n. */
static struct web_answer
get(const char *what, const char *headers)
{
	char text[REQUEST_TEXT];
	struct web_answer answer;
	int fd = connected();

	snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nConnection: close\r\n%s\r\n", what, headers);
	web_client_send(fd, text);
	answer = web_client_read(fd);
	ck_assert_msg(!answer.silent && !answer.cut, "%s", what);
	return answer;
}

static void
expect(const char *what, const char *headers, int status, const char *part)
{
	struct web_answer answer = get(what, headers);

	ck_assert_msg(answer.status == status && answer.body && strstr(answer.body, part),
	    "%s %s: %d %s", what, headers, answer.status, answer.body);
	web_answer_free(&answer);
}

/* ---- who is let in ---- */

START_TEST(without_a_token_names_must_be_ours)
{
	static const char *const ours[] = {"sw.example", "proxy.example"};
	static const struct {
		const char *host;
		int status;
	} hosts[] = {
	    {"localhost", 200}, {"LOCALHOST:8080", 200}, {"127.0.0.1", 200}, {"10.1.2.3:80", 200},
	    {"[::1]", 200}, {"[2001:db8::1]:8080", 200}, {"sw.example", 200}, {"Proxy.Example:80", 200},
	    {"evil.example", 421}, {"sw.example.evil.example", 421}, {"127.0.0.1.evil.example", 421},
	    {"localhost.evil.example:80", 421}, {"", 421},
	};
	char header[600];

	config.hosts = ours;
	config.n_hosts = 2;
	start();
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		snprintf(header, sizeof(header), "Host: %s\r\n", hosts[i].host);
		expect("/healthz", header, hosts[i].status, hosts[i].status == 200 ? "ok" : "host name not allowed");
	}
	strcpy(header, "Host: ");
	memset(header + 6, 'a', 500);
	strcpy(header + 506, "\r\n");
	expect("/", header, 421, "host name not allowed");
	ck_assert_uint_eq(stat_get(web_stats(web), WEB_STAT_REFUSED_HOST), 6);
}
END_TEST

START_TEST(who_may_ask_changes_while_it_serves)
{
	static const char *const ours[] = {"sw.example"};

	start();
	expect("/api/v1/agents?last=all", "Host: sw.example\r\n", 421, "host name not allowed");
	web_allow(web, "", ours, 1);
	expect("/api/v1/agents?last=all", "Host: sw.example\r\n", 200, "192.0.2.1");
	web_allow(web, "secret", NULL, 0);
	expect("/api/v1/agents?last=all", "Host: sw.example\r\n", 401, "token");
	expect("/api/v1/agents?last=all", "Host: sw.example\r\nAuthorization: Bearer secre\r\n", 401,
	    "token");
	expect("/api/v1/agents?last=all", "Host: sw.example\r\nAuthorization: Bearer secrets\r\n", 401,
	    "token");
	expect("/api/v1/agents?last=all", "Host: sw.example\r\nAuthorization: Bearer sECRET\r\n", 401,
	    "token");
	expect("/api/v1/agents?last=all", "Host: sw.example\r\nAuthorization: Basic secret\r\n", 401,
	    "token");
	expect("/api/v1/agents?last=all", "Host: any\r\nAuthorization: bearer secret\r\n", 200,
	    "192.0.2.1");
	expect("/", "Host: any\r\n", 200, "<html");
	expect("/healthz", "Host: any\r\n", 200, "ok");
	ck_assert_uint_eq(stat_get(web_stats(web), WEB_STAT_REFUSED_TOKEN), 5);
}
END_TEST

/* ---- what it cannot read ---- */

#define LOCAL "Host: localhost\r\n"

START_TEST(a_store_that_is_gone_is_said_to_be)
{
	struct web_answer answer;

	start();
	unlink(store.newest);
	expect("/healthz", LOCAL, 503, "the store cannot be read");
	expect("/metrics", LOCAL, 503, "the store cannot be read");
	expect("/api/v1/status", LOCAL, 503, "the store cannot be read");
	answer = get("/api/v1/load?last=all", LOCAL);
	ck_assert_int_eq(answer.status, 503);
	ck_assert_ptr_null(strstr(answer.body, store.newest)); /* where it was is nobody's business */
	ck_assert_ptr_nonnull(strstr(answer.head, "Retry-After: 1\r\n"));
	web_answer_free(&answer);
	ck_assert_uint_eq(stat_get(web_stats(web), WEB_STAT_FAILED), 4);
}
END_TEST

static _Atomic uint64_t told_damage;

static void
take_damage(void *arg, uint64_t inode)
{
	*(_Atomic uint64_t *)arg += inode;
}

/* All pages but the first are overwritten under way: it fails at once, or amid the question. */
START_TEST(a_damaged_store_is_said_and_told_once)
{
	static const char rubbish[4096] = "no page of a database";
	static struct clock moving;
	char aside[160];
	struct stat st;
	int fd;

	told_damage = 0;
	config.damaged = take_damage;
	config.damaged_arg = &told_damage;
	moving = now;
	config.clock = &moving;
	start();
	expect("/healthz", LOCAL, 200, "ok");
	fd = open(store.newest, O_WRONLY);
	ck_assert_int_eq(fstat(fd, &st), 0);
	for (off_t at = sizeof(rubbish); at < st.st_size; at += (off_t)sizeof(rubbish))
		ck_assert_int_eq(pwrite(fd, rubbish, sizeof(rubbish), at), (ssize_t)sizeof(rubbish));
	close(fd);
	for (int i = 1; i <= 2; i++) {
		char what[64];

		snprintf(what, sizeof(what), "/api/v1/load?last=all&top=%d", i);
		expect(what, LOCAL, 503, "error");
	}
	clock_step_us(&moving, 2 * SECOND); /* answers are kept for one */
	expect("/healthz", LOCAL, 503, "the store");
	ck_assert_uint_eq(told_damage, st.st_ino);
	ck_assert_uint_ge(stat_get(web_stats(web), WEB_STAT_DAMAGED), 2);
	/* another file is another story */
	snprintf(aside, sizeof(aside), "%s.damaged", store.newest);
	ck_assert_int_eq(rename(store.newest, aside), 0);
	report_store_renew(&store);
	unlink(aside);
	clock_step_us(&moving, 2 * SECOND);
	expect("/healthz", LOCAL, 200, "ok");
}
END_TEST

START_TEST(a_cluster_that_is_gone_is_said_to_be)
{
	struct cluster_url url;
	const char *reason;
	char text[64];
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int held = socket(AF_INET, SOCK_STREAM, 0); /* bound, and nobody listens */
	const struct query_cluster cluster = {.servers = &url, .n_servers = 1, .user = "",
	    .password = "", .database = "ease", .cluster = "c"};

	ck_assert_int_eq(bind(held, (struct sockaddr *)&at, size), 0);
	ck_assert_int_eq(getsockname(held, (struct sockaddr *)&at, &size), 0);
	snprintf(text, sizeof(text), "clickhouse:http://127.0.0.1:%u", ntohs(at.sin_port));
	ck_assert_int_eq(cluster_url_parse(text, &url, &reason), 0);
	config.cluster = &cluster;
	start();
	expect("/api/v1/agents?last=all", LOCAL, 503, "{\"error\":\"");
	expect("/healthz", LOCAL, 200, "ok"); /* of this collector, which is well */
	expect("/metrics", LOCAL, 200, "easeswitch_agents 1\n");
	ck_assert_uint_eq(stat_get(web_stats(web), WEB_STAT_FAILED), 1);
	close(held);
}
END_TEST

START_TEST(of_more_keys_than_memory_holds_the_largest_are_shown)
{
	report_store_port(&store, 1, 1, "ge-1", 1);
	report_store_window(&store, 0, 1, 1, 1000, 64000);
	report_store_samples(&store, 0, 1, 1, 5, 50, 64, 1, "000000000001", "000000000002");
	report_store_samples(&store, 0, 1, 1, 5, 50, 64, 1, "000000000002", "000000000001");
	config.question_keys = 1;
	start();
	expect("/api/v1/talkers?last=all&layer=eth", LOCAL, 200, "\"folded_samples\":5,");
}
END_TEST

START_TEST(an_empty_store_has_no_newest)
{
	report_store_sql_text(&store, "DELETE FROM agent");
	start();
	expect("/api/v1/status", LOCAL, 200, "\"newest\":null,\"age_s\":null,\"heard\":null,\"agents\":0");
	expect("/metrics", LOCAL, 200, "\neaseswitch_agents 0\n");
	expect("/healthz", LOCAL, 200, "ok");
}
END_TEST

/* ---- one moment for all sections ---- */

/* The value of a text in JSON without escapes. */
static void
text_of(const char *json, const char *name, char *text, size_t size)
{
	char begin[64];
	const char *at;

	snprintf(begin, sizeof(begin), "\"%s\":\"", name);
	at = strstr(json, begin);
	ck_assert_msg(at, "%s: %s", name, json);
	at += strlen(begin);
	snprintf(text, size, "%.*s", (int)strcspn(at, "\""), at);
}

static void
change_store(const char *sql)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(store.newest, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

/* What is written after the moment is in none of its answers, and in all others; both workers give them. */
START_TEST(questions_of_a_moment_see_one_state)
{
	static const char *const asked[] = {"agents", "talkers?layer=eth", "talkers?layer=eth&filter=vlan+5", "load"};
	char moment[REQUEST_MOMENT_TEXT], what[256];
	struct web_answer answer;

	report_store_port(&store, 1, 1, "ge-1", 1);
	report_store_window(&store, 0, 1, 1, 1000, 64000);
	report_store_samples(&store, 0, 1, 1, 5, 50, 64, 1, "000000000001", "000000000002");
	start();
	change_store("PRAGMA journal_mode = WAL");
	answer = get("/api/v1/moment?last=5m", LOCAL);
	ck_assert_int_eq(answer.status, 200);
	text_of(answer.body, "moment", moment, sizeof(moment));
	text_of(answer.body, "to", what, sizeof(what));
	web_answer_free(&answer);
	change_store("UPDATE agent SET address = '192.0.2.77'; UPDATE port SET name = 'ge-77'; DELETE FROM part");
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		snprintf(what, sizeof(what), "/api/v1/%s%cmoment=%s", asked[i], strchr(asked[i], '?') ? '&' : '?', moment);
		answer = get(what, LOCAL);
		ck_assert_msg(answer.status == 200 && !strstr(answer.body, "ge-77") && !strstr(answer.body, "192.0.2.77"),
		    "%s: %s", what, answer.body);
		web_answer_free(&answer);
	}
	expect("/api/v1/load?last=5m", LOCAL, 200, "ge-77");
	expect("/api/v1/talkers?last=5m&layer=eth", LOCAL, 200, "\"rows\":[]");
	snprintf(what, sizeof(what), "/api/v1/talkers?layer=eth&top=3&moment=%s", moment);
	expect(what, LOCAL, 200, "00:00:00:00:00:01");
}
END_TEST

START_TEST(a_moment_that_is_none_is_refused)
{
	start();
	expect("/api/v1/load?moment=1-2-3", LOCAL, 400, "must be what /api/v1/moment answered");
	expect("/api/v1/load?moment=1-2-3-4", LOCAL, 400, "must be what /api/v1/moment answered");
	expect("/api/v1/load?moment=1-3-2-0", LOCAL, 400, "must be what /api/v1/moment answered");
	expect("/api/v1/load?moment=1-2-3-1x", LOCAL, 400, "must be what /api/v1/moment answered");
	expect("/api/v1/load?moment=1-2-3-0&moment=1-2-3-0", LOCAL, 400, "given twice");
	expect("/api/v1/load?moment=1-2-3-0&last=5m", LOCAL, 400, "leave out last, from and to");
	expect("/api/v1/moment?moment=1-2-3-0", LOCAL, 400, "no such option");
	expect("/api/v1/moment?port=ge-9", LOCAL, 400, "no port with the name");
	expect("/api/v1/load?moment=1-2-3-0", LOCAL, 200, "\"rows\""); /* of a moment that is not kept */
}
END_TEST

/* ---- what is no request of ours ---- */

static struct web_answer
send_octets(const char *octets)
{
	int fd = connected();

	web_client_send(fd, octets);
	return web_client_read(fd);
}

START_TEST(what_is_no_request_is_refused_and_forgotten)
{
	static char long_path[40000], long_header[40000];
	static const struct {
		const char *octets;
		int status; /* 0: closed, or 400 */
	} bad[] = {
	    {long_path, 414},
	    {long_header, 431},
	    {"\x16\x03\x01\x02 a client that speaks TLS\r\n\r\n", 0},
	    {"GET\r\n\r\n", 0},
	    {"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", 505},
	};

	strcpy(long_path, "GET /");
	memset(long_path + 5, 'a', 30000);
	strcat(long_path, " HTTP/1.1\r\n" LOCAL "\r\n");
	strcpy(long_header, "GET / HTTP/1.1\r\n" LOCAL "X: ");
	memset(long_header + strlen(long_header), 'a', 30000);
	strcat(long_header, "\r\n\r\n");
	start();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct web_answer answer = send_octets(bad[i].octets);

		ck_assert_msg(!answer.silent && (answer.status == bad[i].status ||
		    (bad[i].status == 0 && answer.status == 400)), "%zu: %d", i, answer.status);
		web_answer_free(&answer);
	}
	expect("/healthz", LOCAL, 200, "ok");
	ck_assert_uint_gt(stat_get(web_stats(web), WEB_STAT_MALFORMED), 0);
}
END_TEST

/* ---- metrics ---- */

#define NOT_COUNTED "9223372036854775807" /* as a store keeps 2^64 - 1 */
#define PORT_1	    "{agent=\"192.0.2.1\",port=\"ge\\\"1\\\\\",if_index=\"1\""

START_TEST(metrics_are_as_prometheus_reads_them)
{
	static const char *const lines[] = {
	    "# TYPE easeswitch_port_receive_bytes_total counter\n",
	    "\neaseswitch_port_receive_bytes_total" PORT_1 "} 123456789012\n",
	    "\neaseswitch_port_receive_packets_total" PORT_1 ",cast=\"unicast\"} 5\n",
	    "\neaseswitch_port_receive_packets_total" PORT_1 ",cast=\"broadcast\"} 7\n",
	    /* Latin 1 as UTF-8; a line feed that would end the line, a C1 control, an override */
	    "easeswitch_port_info{agent=\"192.0.2.1\",port=\"g\xc3\xa9???2\",if_index=\"2\",alias=\"\"} 1\n",
	    "\neaseswitch_port_up" PORT_1 "} 1\n",
	    "\neaseswitch_port_speed_bytes_per_second" PORT_1 "} 125000000\n",
	    "easeswitch_ports 3\n",
	    "easeswitch_ports_left_out 1\n",
	    "easeswitch_agent_last_heard_timestamp_seconds{agent=\"192.0.2.1\"} 1700000160\n",
	    "easeswitch_samples_expected_total{agent=\"192.0.2.1\"} 1000\n",
	    "easeswitch_samples_received_total{agent=\"192.0.2.1\"} 900\n",
	    "\neaseswitch_port_delay_seconds" PORT_1 ",quantile=\"0.5\"} 5e-06\n",
	    "\neaseswitch_port_delay_seconds_low" PORT_1 ",quantile=\"0.5\"} 2e-06\n",
	    "\neaseswitch_port_delay_seconds_high" PORT_1 ",quantile=\"0.5\"} 9e-06\n",
	    "\neaseswitch_port_queue_depth_bytes" PORT_1 ",quantile=\"0.5\"} 320\n",
	    /* what an end is called may hold what a label may not */
	    "\neaseswitch_link_disagrees{agent=\"192.0.2.1\",port=\"g\xc3\xa9???2\",from_agent=\"192.0.2.1\",from_port=\"ge\\\"1\\\\\"} 0\n",
	    "easeswitch_collector_start_time_seconds 1700000040\n",
	};
	struct web_answer answer;

	report_store_port(&store, 1, 1, "ge\"1\\", 1);
	report_store_port(&store, 1, 2, "g\xe9\n\xc2\x9b\xe2\x80\xae" "2", 1);
	report_store_port(&store, 1, 3, "ge-3", 1);
	report_store_sql_text(&store, "UPDATE port SET speed_bps = 0, oper_status = 0 WHERE if_index = 2");
	report_store_sql(&store, "INSERT INTO counter VALUES(1, 1, %llu, 1, 0, 123456789012, 5,"
	    " " NOT_COUNTED ", 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)", REPORT_STORE_T0);
	report_store_sql(&store, "INSERT INTO account VALUES(1, 1, 1, 1000, 900, 7, 3, 2, 60, 4, 55,"
	    " %llu, %llu, NULL, NULL, 0)", REPORT_STORE_T0, REPORT_STORE_T0 + MINUTE);
	report_store_sql(&store, "INSERT INTO link VALUES(1, 1, 1, 2, %llu)", REPORT_STORE_T0);
	for (int i = 1; i <= 10; i++) /* of ten the second and the ninth are the median's limits; of 95 % none is above */
		report_store_sql(&store, "INSERT INTO sample(agent, boot, if_index, sequence, time_us, direction, input_if,"
		    " output_if, skip, mean_skip, pool_pkts, frame_octets, depth_octets, delay_ns)"
		    " VALUES(1, 1, 2, %d, %llu, 1, 2, 1, 9, 10, 0, 64, %d, %d)", i, REPORT_STORE_T0 + (unsigned)i, 64 * i, 1000 * i);
	start();
	answer = get("/metrics", LOCAL);
	ck_assert_int_eq(answer.status, 200);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(strstr(answer.body, lines[i]) != NULL, "no %s in %s", lines[i], answer.body);
	ck_assert_ptr_null(strstr(answer.body, "port_receive_packets_total" PORT_1 ",cast=\"multicast\"}"));
	ck_assert_ptr_null(strstr(answer.body, "port_up{agent=\"192.0.2.1\",port=\"g\xc3\xa9"));
	ck_assert_ptr_null(strstr(answer.body, "ge-3"));
	ck_assert_ptr_null(strstr(answer.body, "port_delay_seconds_high" PORT_1 ",quantile=\"0.95\"}"));
	web_answer_free(&answer);
}
END_TEST

/* A damaged pack of IP pairs: sources cannot be answered, everything else can. */
START_TEST(a_part_that_fails_takes_no_other_with_it)
{
	struct web_answer answer;
	sqlite3 *newest;

	report_store_port(&store, 1, 1, "ge-1", 1);
	report_store_window(&store, 0, 1, 1, 1000, 64000);
	report_store_samples(&store, 0, 1, 1, 5, 50, 64, STORE_KEY_IP_PAIR, "0a000001", "0a000002");
	start();
	ck_assert_int_eq(sqlite3_open(store.newest, &newest), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(newest, "UPDATE part SET body = x'00' WHERE kind IN (2, 10, 11)", NULL, NULL,
	    NULL), SQLITE_OK);
	ck_assert_int_gt(sqlite3_changes(newest), 0);
	sqlite3_close(newest);
	answer = get("/metrics", LOCAL);
	ck_assert_int_eq(answer.status, 200);
	ck_assert_ptr_nonnull(strstr(answer.body, "\neaseswitch_scrape_part_success{part=\"sources\"} 0\n"));
	ck_assert_ptr_null(strstr(answer.body, "source_bytes_per_second"));
	for (size_t i = 0; i < 4; i++) {
		static const char *const parts[] = {"agents", "ports", "loss", "protocols"};
		char line[80];

		snprintf(line, sizeof(line), "\neaseswitch_scrape_part_success{part=\"%s\"} 1\n", parts[i]);
		ck_assert_msg(strstr(answer.body, line) != NULL, "%s in %s", line, answer.body);
	}
	ck_assert_ptr_nonnull(strstr(answer.body, "\neaseswitch_ports 1\n"));
	ck_assert_ptr_nonnull(strstr(answer.body, "\neaseswitch_build_info{"));
	ck_assert_uint_eq(stat_get(web_stats(web), WEB_STAT_FAILED), 1);
	web_answer_free(&answer);
}
END_TEST

/* ---- files, kept answers, and room ---- */

START_TEST(a_file_that_is_known_is_not_sent_again)
{
	struct web_answer answer;
	char tag[128], header[256];
	const char *etag;

	start();
	answer = get("/page.js", LOCAL);
	ck_assert_int_eq(answer.status, 200);
	etag = strstr(answer.head, "ETag: ");
	ck_assert_ptr_nonnull(etag);
	ck_assert_int_eq(sscanf(etag, "ETag: %127s", tag), 1);
	web_answer_free(&answer);
	snprintf(header, sizeof(header), LOCAL "If-None-Match: \"x\", %s\r\n", tag);
	answer = get("/page.js", header);
	ck_assert_int_eq(answer.status, 304);
	ck_assert_uint_eq(answer.n_body, 0);
	ck_assert_ptr_nonnull(strstr(answer.head, tag));
	web_answer_free(&answer);
	expect("/page.js", LOCAL "If-None-Match: \"x\"\r\n", 200, "import");
}
END_TEST

START_TEST(the_same_question_is_put_once)
{
	start();
	for (int i = 0; i < 3; i++)
		expect("/api/v1/agents?last=all", LOCAL, 200, "192.0.2.1");
	expect("/api/v1/agents?last=all&agent=192.0.2.1", LOCAL, 200, "192.0.2.1");
	ck_assert_uint_eq(stat_get(web_stats(web), WEB_STAT_REQUESTS), 4);
	ck_assert_uint_eq(stat_get(web_stats(web), WEB_STAT_QUESTIONS), 2);
	ck_assert_uint_eq(stat_get(web_stats(web), WEB_STAT_SHARED), 2);
}
END_TEST

START_TEST(who_only_begins_to_ask_makes_room)
{
	struct web_answer answer;
	int idle;

	config.connections = 1;
	start();
	idle = connected();
	web_client_send(idle, "GET / HT");
	expect("/healthz", LOCAL, 200, "ok");
	answer = web_client_read(idle); /* closed, and not when its time is over: the clock stands */
	ck_assert_int_eq(answer.status, 0);
	ck_assert(!answer.silent);
	web_answer_free(&answer);
	ck_assert_uint_eq(stat_get(web_stats(web), WEB_STAT_EVICTED), 1);
}
END_TEST

/* ---- where it listens ---- */

START_TEST(an_address_that_will_not_do_is_named)
{
	static const char *const bad[] = {"127.0.0.1", "nowhere:80", "127.0.0.1:99999", "192.0.2.77:0"};
	char error[ERROR_TEXT], taken[64];

	start();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		*error = '\0';
		ck_assert_int_lt(web_listen(bad[i], error, sizeof(error)), 0);
		ck_assert_msg(strncmp(error, "http_listen: ", 13) == 0 && strstr(error, bad[i]), "%s", error);
	}
	snprintf(taken, sizeof(taken), "127.0.0.1:%u", port);
	ck_assert_int_eq(web_listen(taken, error, sizeof(error)), -EADDRINUSE);
	ck_assert_ptr_nonnull(strstr(error, "in use"));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("web_server");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, 60);
	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_test(all, without_a_token_names_must_be_ours);
	tcase_add_test(all, who_may_ask_changes_while_it_serves);
	tcase_add_test(all, a_store_that_is_gone_is_said_to_be);
	tcase_add_test(all, a_damaged_store_is_said_and_told_once);
	tcase_add_test(all, a_cluster_that_is_gone_is_said_to_be);
	tcase_add_test(all, of_more_keys_than_memory_holds_the_largest_are_shown);
	tcase_add_test(all, an_empty_store_has_no_newest);
	tcase_add_test(all, questions_of_a_moment_see_one_state);
	tcase_add_test(all, a_moment_that_is_none_is_refused);
	tcase_add_test(all, what_is_no_request_is_refused_and_forgotten);
	tcase_add_test(all, a_part_that_fails_takes_no_other_with_it);
	tcase_add_test(all, metrics_are_as_prometheus_reads_them);
	tcase_add_test(all, a_file_that_is_known_is_not_sent_again);
	tcase_add_test(all, the_same_question_is_put_once);
	tcase_add_test(all, who_only_begins_to_ask_makes_room);
	tcase_add_test(all, an_address_that_will_not_do_is_named);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
