/*
 * The cluster room without a server: addresses good and bad, RowBinary against octets worked out by
 * hand from ClickHouse's description, rows cut at every octet, and the statements that make tables.
 */
#include "collector/cluster/http.h"
#include "collector/cluster/migration.h"
#include "collector/cluster/rowbinary.h"
#include "collector/cluster/url.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

/* Addresses */

START_TEST(addresses_are_read)
{
	static const struct {
		const char *text;
		struct cluster_url url;
	} good[] = {
	    {"clickhouse:http://host", {false, "host", 8123, "", "", ""}},
	    {"http://10.0.0.1/", {false, "10.0.0.1", 8123, "", "", ""}},
	    {"https://ch.example.net", {true, "ch.example.net", 8443, "", "", ""}},
	    {"clickhouse:http://ease@[2001:db8::1]:9000/traffic?cluster=two-shards",
		{false, "2001:db8::1", 9000, "ease", "traffic", "two-shards"}},
	    {"http://h?cluster=c", {false, "h", 8123, "", "", "c"}},
	    {"http://h/?cluster=c", {false, "h", 8123, "", "", "c"}},
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct cluster_url url;
		const char *reason;

		ck_assert_msg(cluster_url_parse(good[i].text, &url, &reason) == 0, "%s: %s",
		    good[i].text, reason);
		ck_assert_msg(memcmp(&url, &good[i].url, sizeof(url)) == 0, "%s", good[i].text);
	}
}
END_TEST

START_TEST(bad_addresses_are_refused_with_a_reason)
{
	static const char *const bad[] = {"", "clickhouse:", "host:8123", "ftp://host", "http://",
	    "http://:8123", "http://h:0", "http://h:65536", "http://h:", "http://h:123456",
	    "http://u:secret@h", "http://@h", "http://u'@h", "http://[::1", "http://[10.0.0.1]",
	    "http://[]", "http://h/a b", "http://h/1a", "http://h/a;DROP", "http://h/a/b",
	    "http://h?x=y", "http://h?cluster=", "http://h?cluster=a'b", "http://h?cluster=a&b=c",
	    "http://h h",
	    "http://h/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *reason = cluster_url_check(bad[i]);

		ck_assert_msg(reason != NULL, "taken: %s", bad[i]);
		ck_assert_msg(strstr(reason, "secret") == NULL, "%s", reason);
	}
}
END_TEST

/* RowBinary */

static const enum cluster_type row_types[] = {CLUSTER_U8, CLUSTER_U16, CLUSTER_U32, CLUSTER_U64,
    CLUSTER_I64, CLUSTER_F64, CLUSTER_TEXT, CLUSTER_AGENT_ID, CLUSTER_I64_OR_NULL,
    CLUSTER_TEXT_OR_NULL, CLUSTER_TEXT_OR_NULL};

enum { N_TYPES = sizeof(row_types) / sizeof(row_types[0]) };

/* Little-endian, LEB128, IEEE 754: 1, 0x0203, 0x04050607, 2^64-2, -2, 1.5, 200 times 'a', … */
static const uint8_t row_head[] = {1, 3, 2, 7, 6, 5, 4, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0xc8, 1};
static const uint8_t row_tail[] = {'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 1, 0, 2, 'x', 0, 1};

enum { TEXT = 200, ROW = sizeof(row_head) + TEXT + sizeof(row_tail) };

static void
expected_row(uint8_t *row)
{
	memcpy(row, row_head, sizeof(row_head));
	memset(row + sizeof(row_head), 'a', TEXT);
	memcpy(row + sizeof(row_head) + TEXT, row_tail, sizeof(row_tail));
}

static void
put_row(struct row_buffer *b)
{
	char text[TEXT];

	memset(text, 'a', sizeof(text));
	row_put_int(b, 1, 1);
	row_put_int(b, 0x0203, 2);
	row_put_int(b, 0x04050607, 4);
	row_put_int(b, UINT64_MAX - 1, 8);
	row_put_int(b, (uint64_t)-2, 8);
	row_put_f64(b, 1.5);
	row_put_text(b, text, sizeof(text));
	row_put_fixed(b, "ABCDEFGH", 8);
	row_put_null(b, true);
	row_put_null(b, false);
	row_put_text(b, "x\0", 2);
	row_put_null(b, true);
}

START_TEST(a_row_has_the_octets_of_the_description)
{
	struct row_buffer b = row_buffer_of(4096);
	uint8_t row[ROW];

	expected_row(row);
	put_row(&b);
	ck_assert(!b.failed);
	ck_assert_uint_eq(b.len, sizeof(row));
	ck_assert_mem_eq(b.data, row, sizeof(row));
	row_buffer_free(&b);
}
END_TEST

START_TEST(a_full_buffer_fails_and_stays_so)
{
	struct row_buffer b = row_buffer_of(ROW + 1);

	put_row(&b);
	row_put_int(&b, 1, 2);
	ck_assert(b.failed);
	row_put_int(&b, 1, 1);
	ck_assert_uint_eq(b.len, ROW);
	row_buffer_clear(&b);
	row_put_int(&b, 1, 1);
	ck_assert(!b.failed && b.len == 1);
	row_buffer_free(&b);
}
END_TEST

static int
check_row(void *arg, const struct row_cell *c)
{
	ck_assert_int_eq(c[0].i, 1);
	ck_assert_int_eq(c[1].i, 0x0203);
	ck_assert_int_eq(c[2].i, 0x04050607);
	ck_assert_int_eq(c[3].i, -2);
	ck_assert_int_eq(c[4].i, -2);
	ck_assert(c[5].f == 1.5);
	ck_assert_uint_eq(c[6].octets, TEXT);
	ck_assert_int_eq(c[6].text[TEXT - 1], 'a');
	ck_assert_mem_eq(c[7].text, "ABCDEFGH", 8);
	ck_assert(c[8].null && !c[9].null && c[10].null);
	ck_assert_uint_eq(c[9].octets, 2);
	++*(int *)arg;
	return 0;
}

START_TEST(rows_are_read_wherever_they_are_cut)
{
	uint8_t rows[3 * ROW];

	for (int i = 0; i < 3; i++)
		expected_row(rows + i * ROW);
	for (size_t cut = 1; cut <= sizeof(rows); cut++) {
		struct row_stream s;
		int n = 0;

		row_stream_init(&s, row_types, N_TYPES, check_row, &n);
		for (size_t at = 0; at < sizeof(rows); at += cut) {
			size_t left = sizeof(rows) - at, take = cut < left ? cut : left;

			ck_assert_int_eq(row_stream_take(&s, rows + at, take), 0);
		}
		ck_assert_int_eq(n, 3);
		ck_assert(row_stream_is_done(&s));
		row_stream_free(&s);
	}
}
END_TEST

START_TEST(an_answer_that_ends_within_a_row_is_noticed)
{
	struct row_stream s;
	uint8_t row[ROW];
	int n = 0;

	expected_row(row);
	row_stream_init(&s, row_types, N_TYPES, check_row, &n);
	ck_assert_int_eq(row_stream_take(&s, row, ROW - 1), 0);
	ck_assert_int_eq(n, 0);
	ck_assert(!row_stream_is_done(&s));
	row_stream_free(&s);
}
END_TEST

static int
refuse_row(void *arg, const struct row_cell *cells)
{
	(void)arg;
	(void)cells;
	return -ECANCELED;
}

START_TEST(nonsense_is_refused)
{
	static const struct {
		enum cluster_type type;
		uint8_t octets[6];
		size_t n;
	} bad[] = {
	    {CLUSTER_TEXT, {0xff, 0xff, 0xff, 0xff, 0xff, 1}, 6}, /* 4 GiB */
	    {CLUSTER_TEXT, {0x81, 0x80, 0x40}, 3}, /* 1 MiB and 1 */
	    {CLUSTER_TEXT, {0x80, 0x80, 0x80, 0x80, 0x00}, 5}, /* a length without end */
	    {CLUSTER_I64_OR_NULL, {2}, 1},
	    {CLUSTER_TEXT_OR_NULL, {0xff}, 1},
	};
	const enum cluster_type good = CLUSTER_U8;
	struct row_stream s;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		row_stream_init(&s, &bad[i].type, 1, refuse_row, NULL);
		ck_assert_int_eq(row_stream_take(&s, bad[i].octets, bad[i].n), -EBADMSG);
		row_stream_free(&s);
	}
	row_stream_init(&s, &good, 1, refuse_row, NULL);
	ck_assert_int_eq(row_stream_take(&s, "a", 1), -ECANCELED);
	row_stream_free(&s);
}
END_TEST

/* Tables */

static char *
migration(const struct cluster_place *place, size_t i)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool more = cluster_write_migration(out, place, 0, i);

	fclose(out);
	if (more)
		return text;
	free(text);
	return NULL;
}

static size_t
count_statements(const struct cluster_place *place, const char *containing)
{
	size_t n = 0;
	char *text;

	for (size_t i = 0; (text = migration(place, i)) != NULL; i++) {
		n += strstr(text, containing) != NULL;
		free(text);
	}
	return n;
}

START_TEST(a_cluster_has_local_and_distributed_tables)
{
	const struct cluster_place alone = {"ease", NULL}, many = {"ease", "two"};

	ck_assert_uint_eq(count_statements(&alone, "ReplacingMergeTree(revision)"),
	    CLUSTER_N_TABLES);
	ck_assert_uint_eq(count_statements(&alone, "_local"), 0);
	ck_assert_uint_eq(count_statements(&alone, "Distributed"), 0);
	ck_assert_uint_eq(count_statements(&many, "_local ("), CLUSTER_N_TABLES + 1); /* and the levels' first rows */
	ck_assert_uint_eq(count_statements(&many, "Distributed('two', 'ease', '"),
	    CLUSTER_N_TABLES);
	ck_assert_uint_eq(count_statements(&many, "INSERT INTO ease.migration"), 1);
}
END_TEST

/* One that ends in between begins anew. */
START_TEST(the_version_of_tables_is_told_last)
{
	const struct cluster_place alone = {"ease", NULL};
	size_t n = 0;

	for (char *text; (text = migration(&alone, n)) != NULL; n++)
		free(text);
	for (size_t i = n - 2; i < n; i++) {
		char *text = migration(&alone, i);

		ck_assert_msg(strncmp(text, i == n - 2 ? "INSERT INTO ease.rolled (level) SELECT arrayJoin([1, 5, 60, 1440])"
		    : "INSERT INTO ease.migration VALUES (", 35) == 0, "%s", text);
		free(text);
	}
}
END_TEST

static void
put_number(FILE *out, const void *number)
{
	fprintf(out, "<%d>", *(const int *)number);
}

START_TEST(a_text_is_filled_in)
{
	static const int seven = 7;
	const struct cluster_place alone = {"ease", NULL}, many = {"ease", "two"};
	const struct cluster_table *rolled = &cluster_tables[CLUSTER_ROLLED];
	const struct {
		const struct sql *sql;
		const char *must;
	} texts[] = {
	    {SQL(&many, NULL, "{database}, {cluster}, {cover}, {cover_local}"), "ease, two, ease.cover, ease.cover_local"},
	    {SQL(&alone, rolled, "{cluster}, {cover_local}, {table_local}, {columns}"),
		", ease.cover, ease.rolled, level, collector, rolled_revision, done_us, kept_us, revision"},
	    {SQL(&alone, rolled, "{further_columns}"), "collector, rolled_revision, done_us, kept_us, revision"},
	    {SQL(&alone, NULL, "{me}/{to_us}/{seven}/{none}/{table}", SQL_I64("me", -1), SQL_U64("to_us", UINT64_MAX),
		 SQL_WRITE("seven", put_number, &seven)), "-1/18446744073709551615/<7>/{none}/{table}"},
	    /* a text has places of its own, and what is given is before what there is */
	    {SQL(&many, NULL, "{a}", SQL_TEXT("a", "{cover} {b}"), SQL_TEXT("cover", "{cover_local}"), SQL_U64("b", 2)),
		"ease.cover_local 2"},
	    {SQL(&alone, NULL, "{version}"), "SELECT toUInt64(max(number)) FROM ease.migration"},
	    {&(struct sql){.place = &alone, .text = "{version} {cursor}"}, "{version} ease.cursor"},
	    {SQL(&alone, NULL, "{cursor"), "ease.cursor"},
	    /* as many values as there is room for */
	    {SQL(&alone, NULL, "{p}{q}", SQL_U64("a", 1), SQL_U64("b", 1), SQL_U64("c", 1), SQL_U64("d", 1), SQL_U64("e", 1),
		 SQL_U64("f", 1), SQL_U64("g", 1), SQL_U64("h", 1), SQL_U64("i", 1), SQL_U64("j", 1), SQL_U64("k", 1),
		 SQL_U64("l", 1), SQL_U64("m", 1), SQL_U64("n", 1), SQL_U64("o", 1), SQL_U64("p", 2)), "2{q}"},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		sql_write(out, texts[i].sql);
		fclose(out);
		ck_assert_str_eq(text, texts[i].must);
		free(text);
	}
}
END_TEST

START_TEST(a_tables_key_and_time_are_columns_of_it)
{
	for (int t = 0; t < CLUSTER_N_TABLES; t++) {
		const struct cluster_table *table = &cluster_tables[t];
		char key[256], *name, *state = NULL;

		snprintf(key, sizeof(key), "%s, revision, %s", table->key,
		    table->time ? table->time : "revision");
		for (name = strtok_r(key, ", ", &state); name;
		     name = strtok_r(NULL, ", ", &state)) {
			size_t i = 0;

			while (i < cluster_n_columns(table) && strcmp(cluster_column(table, i).name, name) != 0)
				i++;
			ck_assert_msg(i < cluster_n_columns(table), "%s: no column %s", table->name, name);
		}
		ck_assert_uint_le(cluster_n_columns(table), ROW_CELLS_MAX);
	}
}
END_TEST

/* A server that answers with zeros without end, compressed twice: to a millionth. */

static size_t
pack(z_stream *z, const void *octets, size_t n, int flush, uint8_t *packed, size_t room)
{
	z->next_in = (void *)(uintptr_t)octets;
	z->avail_in = (uInt)n;
	z->next_out = packed;
	z->avail_out = (uInt)room;
	deflate(z, flush);
	return room - z->avail_out;
}

static void
serve_zeros(int listening)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nConnection: close\r\n\r\n";
	static uint8_t zeros[1 << 20], once[1 << 16], twice[1 << 16];
	z_stream inner = {0}, outer = {0};
	int fd = accept(listening, NULL, NULL);
	char question[4096];
	size_t n;

	if (read(fd, question, sizeof(question)) <= 0 || write(fd, head, sizeof(head) - 1) < 0 ||
	    deflateInit2(&inner, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflateInit2(&outer, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		_exit(1);
	for (int i = 0; i < 64 << 10; i++) {
		if (i < 2) /* after a full flush all blocks are the same */
			n = pack(&inner, zeros, sizeof(zeros), Z_FULL_FLUSH, once, sizeof(once));
		/* the first ones leave at once: a slow processor gets to no later ones in time */
		size_t packed = pack(&outer, once, n, i < 2 ? Z_SYNC_FLUSH : Z_NO_FLUSH, twice, sizeof(twice));

		n = send(fd, twice, packed, MSG_NOSIGNAL) < 0 ? 0 : n;
		if (n == 0)
			_exit(0);
	}
	send(fd, twice, pack(&outer, NULL, 0, Z_SYNC_FLUSH, twice, sizeof(twice)), MSG_NOSIGNAL);
	_exit(0);
}

static int
count_octets(void *arg, const void *octets, size_t n)
{
	(void)octets;
	*(size_t *)arg += n;
	return 0;
}

START_TEST(an_answer_that_inflates_without_end_is_ended)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int listening = socket(AF_INET, SOCK_STREAM, 0);
	struct cluster_url url = {.host = "127.0.0.1"};
	struct cluster_http_config config = {.servers = &url, .n_servers = 1, .timeout_ms = 500};
	char error[CLUSTER_ERROR_TEXT];
	struct cluster_http *http;
	size_t taken = 0;
	struct cluster_question question = {.sql = "SELECT 1", .take = count_octets, .arg = &taken};
	pid_t server;

	if (!cluster_http_is_built())
		return;
	ck_assert_int_eq(bind(listening, (struct sockaddr *)&at, len), 0);
	ck_assert_int_eq(listen(listening, 1), 0);
	ck_assert_int_eq(getsockname(listening, (struct sockaddr *)&at, &len), 0);
	url.port = ntohs(at.sin_port);
	server = fork();
	if (server == 0)
		serve_zeros(listening);
	close(listening);
	ck_assert_int_eq(cluster_http_open(&http, &config, error, sizeof(error)), 0);
	ck_assert_int_eq(cluster_http_ask(http, &question), -ETIMEDOUT);
	ck_assert_uint_gt(taken, 0);
	ck_assert_uint_lt(taken, (size_t)60 << 30);
	cluster_http_close(http);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("cluster");
	TCase *tc = tcase_create("cluster");

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, addresses_are_read);
	tcase_add_test(tc, bad_addresses_are_refused_with_a_reason);
	tcase_add_test(tc, a_row_has_the_octets_of_the_description);
	tcase_add_test(tc, a_full_buffer_fails_and_stays_so);
	tcase_add_test(tc, rows_are_read_wherever_they_are_cut);
	tcase_add_test(tc, an_answer_that_ends_within_a_row_is_noticed);
	tcase_add_test(tc, nonsense_is_refused);
	tcase_add_test(tc, an_answer_that_inflates_without_end_is_ended);
	tcase_add_test(tc, a_cluster_has_local_and_distributed_tables);
	tcase_add_test(tc, the_version_of_tables_is_told_last);
	tcase_add_test(tc, a_text_is_filled_in);
	tcase_add_test(tc, a_tables_key_and_time_are_columns_of_it);
	return suite_run(suite);
}
