/*
 * Roll-ups and retention: every report must say the same from any level as from the minutes
 * themselves, figures and limits; minutes must be what the kept samples say, by plain SQL; late
 * samples, kill -9 at any instant and clocks that run ahead change nothing of that. The store is
 * filled through the real accounting with twenty days of a small network: two boots, lost samples,
 * several samples a notification, weights that change, counters of errors, energy and pause, and
 * events.
 */
#include "collector/store/store.h"
#include "collector/store/upkeep.h"
#include "collector/window/accounting.h"
#include "tests/collector/answers.h"
#include "tests/sql.h"
#include "tests/suite.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_US 1000000ull
#define MINUTE_US (60 * SECOND_US)
#define HOUR_US	  (60 * MINUTE_US)
#define DAY_US	  (24 * HOUR_US)
#define START_US  (19675 * DAY_US) /* 2023-11-14 */

enum { DAYS = 20, AGENTS = 3, PORTS = 2, NOTIFICATIONS = 3, SAMPLES = 4 };

struct port_state {
	uint32_t sequence, boot;
	uint64_t pool, octets, errors;
	struct ease_resources resources;
};

static char dir[64], whole_path[96], plain_path[96], work_path[96];
static struct clock device_clock;
static struct store *store;
static struct accounting *accounting;
static struct store_batch *batch;
static struct port_state ports[AGENTS][PORTS];
static uint64_t n_syns; /* that arrived */

/* Under a sanitizer or valgrind fewer, but for tests/run --long: it is the same code as often. */
static int
minutes_a_day(void)
{
	return suite_is_slow() || (SUITE_SANITIZES && !getenv("EASE_LONG")) ? 5 : 12;
}

/* ---- books ---- */

static void
open_books(const char *path)
{
	static const struct accounting_limits limits = {.agents = 16, .ports = 64,
	    .windows = {.windows = 8192, .keys = 65536, .keys_per_window = 60}};
	struct store_room room[STORE_N_TABLES] = {0};
	struct store_loader loader;
	char error[256] = "";

	accounting_room(&limits, room);
	ck_assert_int_eq(accounting_new(&accounting, &limits, &device_clock, 1), 0);
	loader = accounting_loader(accounting);
	ck_assert_msg(store_open(&store, path, NULL, error, sizeof(error)) == 0, "%s", error);
	ck_assert_msg(store_load(store, &loader, error, sizeof(error)) == 0, "%s", error);
	ck_assert_int_eq(store_start(store, room), 0);
	batch = store_take(store);
}

static void
cut(void)
{
	ck_assert_int_eq(accounting_flush(accounting, batch), 0);
	store_submit(store, batch);
	ck_assert_int_eq(store_drain(store), 0);
	batch = store_take(store);
	ck_assert_ptr_nonnull(batch);
}

static void
close_books(void)
{
	cut();
	ck_assert_int_eq(store_close(store), 0);
	accounting_free(accounting);
}

/* ---- traffic ---- */

static uint64_t
draw(uint64_t below)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

/* Ethernet, IPv4, TCP or UDP; some with a VLAN tag, some a SYN. Skewed: few are many. */
static size_t
make_header(uint8_t header[64])
{
	static const uint8_t v4[20] = {0x45, 0, 0, 40, 0, 1, 0, 0, 64, 6, 0, 0, 10, 0, 0, 0, 10, 1};
	uint8_t src = (uint8_t)draw(1 + draw(20)), dst = (uint8_t)draw(1 + draw(20));
	size_t n = 12;

	memset(header, 0, 64);
	header[5] = dst;
	header[11] = src;
	if (draw(4) == 0) {
		memcpy(header + n, (uint8_t[]){0x81, 0, 0, (uint8_t)(1 + draw(5))}, 4);
		n += 4;
	}
	header[n] = 8;
	memcpy(header + n + 2, v4, sizeof(v4));
	header[n + 2 + 15] = src;
	header[n + 2 + 19] = dst;
	header[n + 2 + 9] = draw(3) ? 6 : 17;
	header[n + 2 + 21] = (uint8_t)(20 + draw(5));
	header[n + 2 + 22] = (uint8_t)draw(8);
	header[n + 2 + 33] = (src + dst) % 3 ? 0x10 : 0x02; /* ACK or SYN, if it is TCP */
	return n + 2 + sizeof(v4) + 14;
}

/* Every arrival is that much behind the device's clock. */
#define CLOCK_BEHIND_US (3 * SECOND_US)

static struct ease_record
record_of(enum ease_part kind, int agent, uint32_t boot, uint64_t time_us)
{
	static const char *const senders[AGENTS] = {"192.0.2.1", "192.0.2.2", "192.0.2.3"};

	return (struct ease_record){.kind = kind, .sender = senders[agent], .boot = boot,
	    .agent_id = {1, 2, 3, 4, 5, 6, 7, (uint8_t)agent},
	    .received_us = time_us + CLOCK_BEHIND_US};
}

/* What a device counts that has all of it, or pause only; from 0 in each boot. */
static struct ease_record
resources_record(int agent, int port, uint32_t boot, uint64_t time_us)
{
	struct ease_record record = record_of(EASE_PART_RESOURCES, agent, boot, time_us);
	struct ease_resources *s = &ports[agent][port].resources;
	bool has_all = agent != 1;

	if (ports[agent][port].boot != boot)
		*s = (struct ease_resources){.if_index = (uint32_t)port + 1};
	ports[agent][port].boot = boot;
	s->time_us = time_us;
	s->known = has_all ? EASE_HAS_LOW_POWER | EASE_HAS_BUFFERS | EASE_HAS_PAUSE
			   : EASE_HAS_PAUSE;
	s->pauses_in += draw(100);
	s->pauses_out += draw(10);
	if (has_all) {
		s->in.events += draw(1000);
		s->in.asleep_us += draw(SECOND_US);
		s->out.events += draw(1000);
		s->out.asleep_us += draw(SECOND_US);
		s->pressed_episodes += draw(3);
		s->pressed_us += draw(1000);
		s->ingress_drops += draw(5);
	}
	record.resources = *s;
	return record;
}

static struct ease_record
address_record(int agent, int port, uint32_t boot, uint64_t time_us)
{
	struct ease_record record = record_of(EASE_PART_ADDRESS, agent, boot, time_us);

	record.address = (struct ease_address){.time_us = time_us, .if_index = (uint32_t)port + 1,
	    .mac = {2, 0, 0, 0, 0, (uint8_t)draw(20)}};
	return record;
}

/* A notification of some samples, a snapshot, resources and a new address; one in fifty is lost.
 * Counters begin anew in the midst of days and each night, of which nothing is known. */
static bool
is_syn(const struct ease_sample *s)
{
	const uint8_t *ip = s->header + (s->header[12] == 8 ? 14 : 18);

	return ip[9] == 6 && ip[33] == 0x02;
}

static void
send_notification(int agent, int port, uint32_t boot, uint64_t time_us)
{
	struct ease_record records[SAMPLES + 3];
	struct port_state *p = &ports[agent][port];
	uint8_t headers[SAMPLES][64];
	uint32_t skip = draw(2) ? 100 : 400;
	size_t n = 0;

	for (size_t i = 0; i < 1 + draw(SAMPLES); i++) {
		struct ease_record *r = &records[n];

		p->pool += skip;
		p->octets += skip * 700ull;
		*r = record_of(EASE_PART_SAMPLE, agent, boot, time_us);
		r->sample = (struct ease_sample){.time_us = time_us + i * 1000,
		    .if_index = (uint32_t)port + 1, .sequence = ++p->sequence,
		    .direction = draw(3) ? EASE_IN : EASE_OUT, .skip = skip - 1, .mean_skip = skip,
		    .pool_pkts = p->pool, .frame_octets = (uint32_t)(64 + draw(1455)),
		    .header = headers[n]};
		r->sample.kept_octets = (uint16_t)make_header(headers[n++]);
	}
	p->errors += draw(4);
	records[n] = record_of(EASE_PART_SNAPSHOT, agent, boot, time_us + 5000);
	records[n++].snapshot = (struct ease_snapshot){.if_index = (uint32_t)port + 1,
	    .time_us = time_us + 5000, .in = {.octets = p->octets, .ucast_pkts = p->pool,
	    .errors = p->errors, .discards = port ? EASE_COUNT_UNKNOWN : p->errors / 2},
	    .out = {.octets = p->octets / 3, .ucast_pkts = p->pool / 4, .errors = p->errors / 3},
	    .discontinuity_us = store_window_start(time_us, 160 * MINUTE_US),
	    .samples = p->sequence, .last_sequence = p->sequence, .pool_in_pkts = p->pool,
	    .pool_out_pkts = p->pool / 3};
	records[n++] = resources_record(agent, port, boot, time_us);
	records[n++] = address_record(agent, port, boot, time_us);
	if (draw(50) == 0)
		return;
	accounting_add_records(accounting, batch, records, n);
	for (size_t i = 0; i < n; i++)
		n_syns += records[i].kind == EASE_PART_SAMPLE && is_syn(&records[i].sample);
}

static void
send_minute(uint64_t start_us, uint32_t boot)
{
	device_clock.manual_wall_us = device_clock.manual_mono_us = start_us + MINUTE_US;
	for (int a = 0; a < AGENTS; a++)
		for (int p = 0; p < PORTS; p++)
			for (int i = 0; i < NOTIFICATIONS; i++)
				send_notification(a, p, boot,
				    start_us + (uint64_t)i * 15 * SECOND_US +
				    (draw(4) ? draw(SECOND_US) : 0));
}

/* In each day minutes in a row and minutes far apart; one boot ends within a day. */
static void
send_days(void)
{
	for (int d = 0; d < DAYS; d++) {
		uint64_t at_us = START_US + (uint64_t)d * DAY_US + draw(60) * MINUTE_US;

		if (d == 7)
			continue; /* nothing at all */
		for (int i = 0; i < minutes_a_day(); i++) {
			send_minute(at_us, d < 11 || (d == 11 && i < minutes_a_day() / 2) ? 1 : 2);
			at_us += (draw(3) ? 1 : 10 + draw(40)) * MINUTE_US;
			cut();
		}
	}
}

/* ---- upkeep, as the store's thread does it ---- */

static sqlite3 *
open_db(const char *path)
{
	sqlite3 *db = NULL;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_busy_timeout(db, 10000);
	ck_assert_int_eq(sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL), SQLITE_OK);
	return db;
}

static void
run_sql(const char *path, const char *sql)
{
	sqlite3 *db = open_db(path);
	char *message = NULL;

	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s", message);
	sqlite3_close(db);
}

/* Returns in how many steps. */
static int
do_upkeep(const char *path, const struct store_retention *keep, uint64_t budget_us)
{
	struct upkeep upkeep = {.db = NULL};
	sqlite3 *db = open_db(path);
	int more, steps = 0;

	ck_assert_int_eq(upkeep_open(&upkeep, db), 0);
	if (keep)
		upkeep.retention.keep = *keep;
	while ((more = upkeep_step(&upkeep, budget_us)) == 1)
		steps++;
	ck_assert_int_eq(more, 0);
	upkeep_close(&upkeep);
	sqlite3_close(db);
	return steps;
}

static void
copy_store(const char *from, const char *to)
{
	char sql[256];

	unlink(to);
	snprintf(sql, sizeof(sql), "VACUUM INTO '%s'", to);
	run_sql(from, sql);
}

/* The same minutes, and nothing coarser. */
static void
make_plain(const char *from)
{
	copy_store(from, plain_path);
	run_sql(plain_path, "DELETE FROM part WHERE level > 1; UPDATE level SET done_us = 0 WHERE"
			    " minutes > 1");
}

static double
number(const char *path, const char *sql)
{
	return sql_number(path, sql);
}

/* ---- reports ---- */

static json_t *
run_report(const char *path, const char *name, const struct report_options *options)
{
	json_t *json = answer_json(path, name, options, options->to_us), *row;
	size_t i;

	json_array_foreach(json_object_get(json, "rows"), i, row)
		json_object_del(row, "skip_in_force"); /* of several skips only kept samples know the last */
	return json;
}

/* Sums in another order may differ in the last of a double's digits. */
static bool
is_equal(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *value;

	if (json_is_number(a) && json_is_number(b)) {
		double x = json_number_value(a), y = json_number_value(b);

		return fabs(x - y) <= 1e-11 * fmax(fabs(x), fabs(y));
	}
	if (json_typeof(a) != json_typeof(b))
		return false;
	if (json_is_array(a)) {
		if (json_array_size(a) != json_array_size(b))
			return false;
		for (size_t i = 0; i < json_array_size(a); i++)
			if (!is_equal(json_array_get(a, i), json_array_get(b, i)))
				return false;
		return true;
	}
	if (!json_is_object(a))
		return json_equal(a, b);
	if (json_object_size(a) != json_object_size(b))
		return false;
	json_object_foreach((json_t *)(uintptr_t)a, key, value)
		if (!json_object_get(b, key) || !is_equal(value, json_object_get(b, key)))
			return false;
	return true;
}

static const struct question {
	const char *report;
	enum report_by by;
	enum report_layer layer;
	const char *agent, *port, *addr;
} questions[] = {
    {"talkers", REPORT_BY_SRC, REPORT_LAYER_ETH, NULL, NULL, NULL},
    {"talkers", REPORT_BY_SRC, REPORT_LAYER_IP, NULL, NULL, NULL},
    {"talkers", REPORT_BY_DST, REPORT_LAYER_ETH, NULL, NULL, NULL},
    {"talkers", REPORT_BY_DST, REPORT_LAYER_IP, NULL, NULL, NULL},
    {"talkers", REPORT_BY_PAIR, REPORT_LAYER_ETH, NULL, NULL, NULL},
    {"talkers", REPORT_BY_PAIR, REPORT_LAYER_IP, NULL, NULL, NULL},
    {"talkers", REPORT_BY_SUBNET, REPORT_LAYER_IP, NULL, NULL, NULL},
    {"talkers", REPORT_BY_VLAN, REPORT_LAYER_IP, NULL, NULL, NULL},
    {"talkers", REPORT_BY_SRC, REPORT_LAYER_IP, "192.0.2.2", NULL, NULL},
    {"talkers", REPORT_BY_SRC, REPORT_LAYER_IP, "192.0.2.2", "2", NULL},
    {"talkers", REPORT_BY_SRC, REPORT_LAYER_IP, NULL, NULL, "10.0.0.0/30"},
    {"protocols", REPORT_BY_SERVICE, REPORT_LAYER_IP, NULL, NULL, NULL},
    {"protocols", REPORT_BY_PROTO, REPORT_LAYER_IP, NULL, NULL, NULL},
    {"protocols", REPORT_BY_ETHERTYPE, REPORT_LAYER_IP, NULL, NULL, NULL},
    {"conversations", REPORT_BY_CONVERSATION, REPORT_LAYER_IP, NULL, NULL, NULL},
    {"connections", REPORT_BY_SERVER, REPORT_LAYER_IP, NULL, NULL, NULL},
    {"connections", REPORT_BY_SRC, REPORT_LAYER_IP, NULL, "2", NULL},
    {"connections", REPORT_BY_SERVER, REPORT_LAYER_IP, "192.0.2.2", NULL, "10.1.0.0/29"},
    {"matrix", REPORT_BY_PAIR, REPORT_LAYER_IP, NULL, NULL, NULL},
    {"history", REPORT_BY_SRC, REPORT_LAYER_IP, NULL, NULL, NULL},
    {"history", REPORT_BY_SERVICE, REPORT_LAYER_IP, "192.0.2.2", NULL, NULL},
    {"load", 0, 0, NULL, NULL, NULL},
    {"loss", 0, 0, NULL, NULL, NULL},
    {"errors", 0, 0, NULL, NULL, NULL},
    {"energy", 0, 0, NULL, NULL, NULL},
    {"energy", 0, 0, "192.0.2.3", "2", NULL},
    {"pause", 0, 0, NULL, NULL, NULL},
    {"precision", 0, 0, NULL, NULL, NULL},
    {"agents", 0, 0, NULL, NULL, NULL},
};

static struct report_options
options_of(const struct question *q, uint64_t from_us, uint64_t to_us)
{
	struct report_options options = report_default_options();
	static struct filter of_question;
	char filter[128], error[FILTER_ERROR_TEXT];

	options.by = q->by;
	options.layer = q->layer;
	snprintf(filter, sizeof(filter), "%s%s%s%s%s", q->agent ? "agent " : "any", q->agent ? q->agent : "",
	    q->port ? " and if " : "", q->port ? q->port : "", q->addr ? " and " : "");
	if (q->addr)
		snprintf(filter + strlen(filter), sizeof(filter) - strlen(filter), "%s", q->addr);
	of_question = (struct filter){0};
	ck_assert_msg(filter_add(&of_question, filter, error) == 0, "%s: %s", filter, error);
	options.filter = &of_question;
	options.has_from = options.has_to = true;
	options.from_us = from_us;
	options.to_us = to_us;
	options.top = UINT32_MAX;
	return options;
}

static void
show(const json_t *is, const json_t *should)
{
	json_dumpf(is, stderr, JSON_INDENT(1));
	fprintf(stderr, "\nshould be\n");
	json_dumpf(should, stderr, JSON_INDENT(1));
	fprintf(stderr, "\n");
}

/* A history of minutes that are gone has longer steps, which are all there is all the same. */
static bool
has_other_steps(const json_t *is, const json_t *should)
{
	return json_number_value(json_object_get(is, "step")) !=
	    json_number_value(json_object_get(should, "step"));
}

static bool
steps_are_whole(const json_t *history)
{
	const json_t *rows = json_object_get(history, "rows"), *row;
	const json_t *totals = json_object_get(history, "totals");
	double octets = 0, rounded = (double)json_array_size(rows);
	size_t i;

	json_array_foreach(rows, i, row)
		octets += json_number_value(json_object_get(row, "octets"));
	return fabs(octets - json_number_value(json_object_get(totals, "octets"))) <= rounded;
}

/* How far back each level of a store reaches. */
static void
forget_reach(json_t *result)
{
	json_t *notes = json_object_get(result, "notes"), *note;
	size_t i;

	json_object_del(result, "kept_since");
	json_array_foreach(notes, i, note)
		if (strcmp(json_string_value(json_object_get(note, "id")), "kept_since") == 0) {
			json_array_remove(notes, i);
			return;
		}
}

static void
compare_range(const char *path, uint64_t from_us, uint64_t to_us)
{
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		const struct question *q = &questions[i];
		struct report_options options = options_of(q, from_us, to_us);
		json_t *is, *should;
		bool same;

		options.sort = i % 2 ? ESTIMATE_OCTETS : ESTIMATE_PKTS;
		is = run_report(path, q->report, &options);
		should = run_report(plain_path, q->report, &options);
		forget_reach(is);
		forget_reach(should);
		same = has_other_steps(is, should) ? steps_are_whole(is) : is_equal(is, should);
		if (!same)
			show(is, should);
		ck_assert_msg(same, "%s --by %d, %llu to %llu", q->report, q->by,
		    (unsigned long long)from_us, (unsigned long long)to_us);
		json_decref(is);
		json_decref(should);
	}
}

/* From days in the middle to minutes at the ends; and each level alone. */
static void
compare_all(const char *path)
{
	const uint64_t end_us = START_US + DAYS * DAY_US;

	compare_range(path, START_US, end_us);
	compare_range(path, START_US + 197 * MINUTE_US, end_us - 303 * MINUTE_US);
	compare_range(path, START_US + 5 * DAY_US, START_US + 6 * DAY_US);
	compare_range(path, START_US + 5 * DAY_US + HOUR_US, START_US + 5 * DAY_US + 4 * HOUR_US);
	compare_range(path, START_US + 12 * DAY_US + 25 * MINUTE_US,
	    START_US + 12 * DAY_US + 50 * MINUTE_US);
	for (int i = 0; i < minutes_a_day() / 4; i++) {
		uint64_t from_us = START_US + draw(DAYS * 1440) * MINUTE_US;

		compare_range(path, from_us, from_us + (1 + draw(8 * 1440)) * MINUTE_US);
	}
}

/* ---- tests ---- */

static void
make_whole(void)
{
	snprintf(dir, sizeof(dir), "/tmp/check_rollup.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(whole_path, sizeof(whole_path), "%s/whole.db", dir);
	snprintf(plain_path, sizeof(plain_path), "%s/plain.db", dir);
	snprintf(work_path, sizeof(work_path), "%s/work.db", dir);
	device_clock.manual = true;
	open_books(whole_path);
	send_days();
	close_books();
}

static void
remove_all(void)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* What the kinds of keys are in the columns of a sample. */
START_TEST(minutes_are_what_samples_say)
{
	static const char *const by_sample[] = {
	    ("SELECT (SELECT count(*) FROM sample) - (SELECT sum(n) FROM window)"),
	    ("SELECT count(*) FROM (SELECT agent, if_index, direction, time_us / 60000000 AS m,"
	    " count(*) AS n, sum(mean_skip) AS w, sum(mean_skip * frame_octets) AS wb,"
	    " sum(1.0 * mean_skip * mean_skip * frame_octets * frame_octets) AS w2b2 FROM sample"
	    " GROUP BY 1, 2, 3, 4) s LEFT JOIN window x ON x.agent = s.agent AND x.if_index ="
	    " s.if_index AND x.direction = s.direction AND x.start_us = m * 60000000"
	    " WHERE x.n IS NOT s.n OR x.w <> s.w OR x.wb <> s.wb OR x.w2b2 <> s.w2b2"),
	    ("SELECT count(*) FROM (SELECT agent, if_index, direction, time_us / 60000000 AS m,"
	    " src_ip, dst_ip, count(*) AS n, sum(mean_skip) AS w, sum(mean_skip * frame_octets) AS"
	    " wb FROM sample GROUP BY 1, 2, 3, 4, 5, 6) s LEFT JOIN window_key x ON x.kind = 2 AND"
	    " x.agent = s.agent AND x.if_index = s.if_index AND x.direction = s.direction AND"
	    " x.start_us = m * 60000000 AND x.key1 = src_ip AND x.key2 = dst_ip"
	    " WHERE x.n IS NOT s.n OR x.w <> s.w OR x.wb <> s.wb"),
	    ("SELECT (SELECT count(*) FROM sample WHERE vlan IS NOT NULL) - (SELECT sum(n) FROM"
	    " window_key WHERE kind = 3)"),
	    ("SELECT sum(expected) - (SELECT sum(expected) FROM window_port) FROM account"),
	    ("SELECT sum(received) - (SELECT sum(received) FROM window_port) FROM account"),
	};

	for (size_t i = 0; i < sizeof(by_sample) / sizeof(by_sample[0]); i++)
		ck_assert_msg(number(whole_path, by_sample[i]) == 0, "%s", by_sample[i]);
	ck_assert_double_gt(number(whole_path, "SELECT count(*) FROM sample"),
	    400 * minutes_a_day());
	ck_assert_double_eq(number(whole_path, "SELECT (SELECT sum(n) FROM window_key WHERE kind = 12) +"
	    " (SELECT ifnull(sum(n), 0) FROM window_folded WHERE kind = 12)"), (double)n_syns);
	ck_assert_double_gt((double)n_syns, 40 * minutes_a_day());
	ck_assert_double_gt(number(whole_path, "SELECT sum(any_pkts) FROM window"), 0);
	ck_assert_double_gt(number(whole_path, "SELECT sum(expected - received) FROM account"),
	    8 * minutes_a_day());
}
END_TEST

START_TEST(every_level_says_the_same)
{
	copy_store(whole_path, work_path);
	do_upkeep(work_path, NULL, 1000);
	ck_assert_double_eq(number(work_path, "SELECT count(*) FROM part WHERE level = 0 AND"
	    " start_us < (SELECT done_us FROM level WHERE minutes = 1)"), 0);
	ck_assert_double_ge(number(work_path, "SELECT count(DISTINCT start_us) FROM part WHERE"
	    " level = 1440"), DAYS - 2);
	ck_assert_double_ge(number(work_path, "SELECT count(DISTINCT start_us) FROM part WHERE"
	    " level = 11520"), 2);
	make_plain(work_path);
	compare_all(work_path);
}
END_TEST

/* Late ones of a day long rolled up, of the newest hour, and of a day without any, sent by books
 * that were opened again. Twice: what comes twice counts once. */
START_TEST(late_samples_reach_every_level_once)
{
	struct port_state before[AGENTS][PORTS];
	double n;

	copy_store(whole_path, work_path);
	do_upkeep(work_path, NULL, 1000);
	n = number(work_path, "SELECT sum(n) FROM window");
	memcpy(before, ports, sizeof(ports));
	open_books(work_path);
	for (int i = 0; i < 12; i++) {
		send_minute(START_US + 15 * DAY_US + (unsigned)i * 7 * HOUR_US, 2);
		cut();
	}
	send_minute(START_US + 7 * DAY_US + 5 * HOUR_US, 2);
	close_books();
	do_upkeep(work_path, NULL, 1000);
	ck_assert_double_gt(number(work_path, "SELECT sum(n) FROM window"), n + 100);
	ck_assert_double_eq(number(work_path, "SELECT (SELECT count(*) FROM sample) -"
	    " (SELECT sum(n) FROM window)"), 0);
	make_plain(work_path);
	compare_all(work_path);
	memcpy(ports, before, sizeof(ports));
}
END_TEST

/* One unit a transaction, and the process killed again and again. */
START_TEST(killed_at_any_instant_it_goes_on)
{
	int kills = 0, status;

	copy_store(whole_path, work_path);
	run_sql(work_path, "DELETE FROM part WHERE level > 1; UPDATE part SET level = 0;"
			   "DELETE FROM level");
	do {
		pid_t pid = fork();

		if (pid == 0) {
			do_upkeep(work_path, NULL, 0);
			_exit(0);
		}
		usleep((useconds_t)(2000 + draw(60000)));
		if (kills < 25)
			kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		kills += WIFSIGNALED(status);
	} while (!WIFEXITED(status));
	ck_assert_int_gt(kills, 3);
	make_plain(work_path);
	compare_range(work_path, START_US, START_US + DAYS * DAY_US);
	compare_range(work_path, START_US + 2 * DAY_US + HOUR_US, START_US + 17 * DAY_US);
}
END_TEST

/* Most resource rows that a port's boot has in a window of a level before that time. */
static double
most_resources(const char *path, int minutes, uint64_t until_us)
{
	char sql[256];

	snprintf(sql, sizeof(sql), "SELECT ifnull(max(n), 0) FROM (SELECT count(*) AS n FROM"
	    " resource WHERE time_us < %llu GROUP BY agent, if_index, boot, time_us / %llu)",
	    (unsigned long long)until_us, minutes * MINUTE_US);
	return number(path, sql);
}

static uint64_t
kept_since(int minutes)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "SELECT kept_us FROM level WHERE minutes = %d", minutes);
	return (uint64_t)number(work_path, sql);
}

static double
resources_from(const char *path, uint64_t from_us)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM resource WHERE time_us >= %llu",
	    (unsigned long long)from_us);
	return number(path, sql);
}

/* The first and the last of each window stay, and all that is as new as the minutes. */
static void
check_resources_thinned(void)
{
	static const int minutes[] = {1, 5, 60, 1440};

	for (int l = 1; l < 4; l++) {
		uint64_t until_us = kept_since(minutes[l - 1]);

		ck_assert_double_gt(most_resources(plain_path, minutes[l], until_us), 2);
		ck_assert_double_eq(most_resources(work_path, minutes[l], until_us), 2);
	}
	ck_assert_double_gt(resources_from(work_path, kept_since(1)), 0);
	ck_assert_double_eq(resources_from(work_path, kept_since(1)),
	    resources_from(plain_path, kept_since(1)));
}

/* What is kept answers as before; what is not moves the range's ends, and the report says so. */
START_TEST(retention_keeps_the_figures)
{
	const struct store_retention keep = {.samples_us = DAY_US,
	    .level_us = {[LEVEL_1_MIN] = DAY_US, [LEVEL_5_MIN] = 3 * DAY_US,
	    [LEVEL_1_H] = 7 * DAY_US}};
	const uint64_t end_us = START_US + DAYS * DAY_US;
	struct report_options options;
	json_t *j;

	copy_store(whole_path, work_path);
	do_upkeep(work_path, NULL, 1000);
	make_plain(work_path);
	do_upkeep(work_path, &keep, 1000);
	ck_assert_double_eq(number(work_path, "SELECT count(*) FROM level WHERE kept_us > 0"), 3);
	ck_assert_double_eq(number(work_path, "SELECT count(*) FROM part p JOIN level l ON"
	    " l.minutes = p.level WHERE p.start_us < l.kept_us"), 0);
	ck_assert_double_lt(number(work_path, "SELECT count(*) FROM counter"),
	    number(plain_path, "SELECT count(*) FROM counter") * 0.8);
	ck_assert_double_lt(number(work_path, "SELECT count(*) FROM sample"),
	    number(plain_path, "SELECT count(*) FROM sample") / 10);
	check_resources_thinned();
	compare_range(work_path, START_US, end_us);
	compare_range(work_path, START_US + DAY_US, START_US + 9 * DAY_US); /* days */
	compare_range(work_path, end_us - 6 * DAY_US + 3 * HOUR_US, end_us - 4 * DAY_US);
	compare_range(work_path, end_us - 2 * DAY_US - 20 * MINUTE_US, end_us);
	compare_range(work_path, end_us - 9 * HOUR_US - 7 * MINUTE_US, end_us - 3 * MINUTE_US);
	options = options_of(&questions[1], START_US + 25 * HOUR_US, START_US + 71 * HOUR_US);
	j = run_report(work_path, "talkers", &options);
	ck_assert_str_eq(json_string_value(json_object_get(j, "from")), "2023-11-15T00:00:00Z");
	ck_assert_str_eq(json_string_value(json_object_get(j, "to")), "2023-11-17T00:00:00Z");
	json_decref(j);
}
END_TEST

static int
count_one(void *n)
{
	++*(int *)n;
	return 0;
}

/* Steps that have nothing to do come with each batch: they do not look for old sums again and again. */
START_TEST(idle_steps_cost_little)
{
	const struct store_retention keep = {.level_us = {[LEVEL_1_MIN] = DAY_US, [LEVEL_5_MIN] = 3 * DAY_US}};
	enum { INSTRUCTIONS_MOST = 1000 };
	struct upkeep upkeep = {.db = NULL};
	int n = 0;
	sqlite3 *db;

	copy_store(whole_path, work_path);
	do_upkeep(work_path, &keep, 1000);
	db = open_db(work_path);
	ck_assert_int_eq(upkeep_open(&upkeep, db), 0);
	upkeep.retention.keep = keep;
	while (upkeep_step(&upkeep, 1000) == 1)
		;
	sqlite3_progress_handler(db, 1, count_one, &n);
	ck_assert_int_eq(upkeep_step(&upkeep, 1000), 0);
	sqlite3_progress_handler(db, 0, NULL, NULL);
	printf("an idle step: %d instructions of SQLite\n", n);
	ck_assert_int_le(n, INSTRUCTIONS_MOST);
	upkeep_close(&upkeep);
	sqlite3_close(db);
}
END_TEST

/* Counters come again after 400 days without any: they are thinned, and the days between cost nothing. */
START_TEST(months_without_data_are_not_walked_through)
{
	enum { STEPS_MOST = 400 };
	const char *late = "SELECT count(*) FROM counter WHERE time_us >= 34560000000000 + (SELECT min(time_us) FROM counter)";
	double before;
	int steps;

	copy_store(whole_path, work_path);
	do_upkeep(work_path, NULL, 1000);
	run_sql(work_path, "UPDATE level SET done_us = done_us + 34560000000000 WHERE minutes = 1; CREATE TEMP TABLE late AS"
	    " SELECT * FROM counter WHERE time_us < (SELECT min(time_us) FROM counter) + 3600000000; UPDATE late SET time_us ="
	    " time_us + 34560000000000; INSERT INTO counter SELECT * FROM late; UPDATE late SET time_us = time_us + 1000000;"
	    " INSERT INTO counter SELECT * FROM late; UPDATE late SET time_us = time_us + 1000000; INSERT INTO counter SELECT"
	    " * FROM late");
	before = number(work_path, late);
	steps = do_upkeep(work_path, NULL, 0);
	printf("400 days without data: %d steps, %.0f counters, then %.0f\n", steps, before, number(work_path, late));
	ck_assert_int_le(steps, STEPS_MOST);
	ck_assert_double_gt(before, 0);
	ck_assert_double_le(number(work_path, late), before * 0.75);
}
END_TEST

/* Days go, too: a report that wants older ones says from when there is something, also one that
 * has no sums of samples to show; from then on it has all, events included. */
START_TEST(older_than_all_is_said)
{
	const struct store_retention keep = {.level_us = {[LEVEL_1_MIN] = DAY_US,
	    [LEVEL_5_MIN] = DAY_US, [LEVEL_1_H] = DAY_US, [LEVEL_1_D] = 6 * DAY_US}};
	const uint64_t end_us = START_US + DAYS * DAY_US;
	static const char *const kept_alone[] = {"energy", "pause", "errors", "agents", "load"};
	struct report_options options = options_of(&questions[1], START_US, end_us);
	const char *from;
	json_t *j;

	copy_store(whole_path, work_path);
	do_upkeep(work_path, NULL, 1000);
	make_plain(work_path);
	do_upkeep(work_path, &keep, 1000);
	j = run_report(work_path, "talkers", &options);
	from = json_string_value(json_object_get(j, "from"));
	ck_assert_str_ge(from, "2023-11-20T00:00:00Z");
	ck_assert_str_eq(json_string_value(json_object_get(j, "sums_kept_since")), from);
	json_decref(j);
	ck_assert_double_lt(number(work_path, "SELECT count(*) FROM event"),
	    number(plain_path, "SELECT count(*) FROM event"));
	compare_range(work_path, kept_since(1440), end_us);
	for (size_t i = 0; i < sizeof(kept_alone) / sizeof(kept_alone[0]); i++) {
		options = options_of(&(struct question){.report = kept_alone[i]}, START_US, end_us);
		j = run_report(work_path, kept_alone[i], &options);
		ck_assert_ptr_nonnull(json_object_get(j, "sums_kept_since"));
		json_decref(j);
	}
}
END_TEST

/* Samples go first, then the oldest of the finest sums; what is left answers as before. */
START_TEST(size_takes_the_finest_first)
{
	/* by what no small table has, which has a part of its own (shares.h) */
	static const char octets_used[] = "SELECT (page_count - freelist_count) * page_size - (SELECT sum(octets) FROM held"
	    " WHERE tab < 6) FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
	struct store_retention keep = {.most_octets = 0};
	const uint64_t end_us = START_US + DAYS * DAY_US;
	double share = minutes_a_day() < 12 ? 0.4 : 0.3, used; /* what never goes weighs more */

	copy_store(whole_path, work_path);
	run_sql(work_path, "DELETE FROM event WHERE id % 20 > 0"); /* fewer than their part of the store */
	do_upkeep(work_path, NULL, 1000);
	make_plain(work_path);
	used = number(work_path, octets_used);
	keep.most_octets = (uint64_t)(used * 0.95 * 8 / 7); /* an eighth is for events and the like */
	do_upkeep(work_path, &keep, 1000);
	ck_assert_double_lt(number(work_path, "SELECT count(*) FROM sample"),
	    number(plain_path, "SELECT count(*) FROM sample"));
	ck_assert_double_eq(number(work_path, "SELECT count(*) FROM level WHERE kept_us > 0"), 0);
	keep.most_octets = (uint64_t)(used * share * 8 / 7);
	do_upkeep(work_path, &keep, 1000);
	ck_assert_double_eq(number(work_path, "SELECT count(*) FROM sample"), 0);
	ck_assert_uint_gt(kept_since(1), 0);
	ck_assert_double_le(number(work_path, octets_used), used * share);
	ck_assert_double_eq(most_resources(work_path, 5, kept_since(1)), 2);
	ck_assert_double_eq(resources_from(work_path, kept_since(1)),
	    resources_from(plain_path, kept_since(1)));
	compare_range(work_path, START_US, end_us);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rollup");
	TCase *all = tcase_create("all");

	tcase_add_unchecked_fixture(all, make_whole, remove_all);
	tcase_set_timeout(all, 300);
	tcase_add_test(all, minutes_are_what_samples_say);
	tcase_add_test(all, every_level_says_the_same);
	tcase_add_test(all, late_samples_reach_every_level_once);
	tcase_add_test(all, killed_at_any_instant_it_goes_on);
	tcase_add_test(all, retention_keeps_the_figures);
	tcase_add_test(all, idle_steps_cost_little);
	tcase_add_test(all, months_without_data_are_not_walked_through);
	tcase_add_test(all, older_than_all_is_said);
	tcase_add_test(all, size_takes_the_finest_first);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
