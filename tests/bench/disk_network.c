#include "tests/bench/disk_network.h"

#include "collector/store/store.h"
#include "collector/window/accounting.h"
#include "tests/bench/traffic.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	AGENT = 1,
	COUNTERS_EVERY_S = 20,
	FLUSH_EVERY_S = 60,
};

struct disk_port {
	struct traffic_minute flows; /* of which samples are drawn until all are used */
	uint32_t sequence;
	uint64_t pkts, octets;
};

struct disk_network {
	struct clock clock;
	struct store *store;
	struct accounting *accounting;
	struct store_batch *batch;
	struct traffic traffic;
	uint64_t random;
	struct disk_port ports[DISK_PORTS];
	uint8_t header[TRAFFIC_HEADER_OCTETS];
	char path[512];
};

static void
die(const char *what)
{
	fprintf(stderr, "disk_network: %s failed\n", what);
	exit(EXIT_FAILURE);
}

static uint64_t
draw(struct disk_network *n)
{
	n->random ^= n->random << 13;
	n->random ^= n->random >> 7;
	n->random ^= n->random << 17;
	return n->random >> 11;
}

/* ---- the collector's side ---- */

static void
open_all(struct disk_network *n, const struct store_retention *keep)
{
	struct store_room room[STORE_N_TABLES] = {0};
	char error[256];

	accounting_room(&accounting_default_limits, room);
	if (accounting_new(&n->accounting, &accounting_default_limits, &n->clock, 1) < 0 ||
	    store_open(&n->store, n->path, NULL, error, sizeof(error)) < 0)
		die("opening the store");
	accounting_set_store(n->accounting, n->store);
	store_set_retention(n->store, keep);
	if (store_start(n->store, room) < 0)
		die("starting the store");
	n->batch = store_take(n->store);
}

static void
flush(struct disk_network *n, uint64_t now_us)
{
	n->clock.manual_wall_us = n->clock.manual_mono_us = now_us;
	if (accounting_flush(n->accounting, n->batch) < 0)
		die("flushing");
	store_submit(n->store, n->batch);
	if (store_drain(n->store) < 0)
		die("writing");
	n->batch = store_take(n->store);
}

/* ---- the switch's side ---- */

static struct ease_record
record_of(enum ease_part kind, uint64_t time_us)
{
	struct ease_record r = {.kind = kind, .boot = 1, .sender = "192.0.2.1", .received_us = time_us};

	traffic_agent_id(AGENT, r.agent_id);
	return r;
}

static void
take(struct disk_network *n, const struct ease_record *record)
{
	accounting_add_records(n->accounting, n->batch, record, 1);
}

/* Each flow has as many samples as traffic.h says, in any order with those of its minute. */
static struct flow *
next_flow(struct disk_network *n, unsigned port)
{
	struct traffic_minute *flows = &n->ports[port].flows;

	for (;;) {
		struct flow *f;

		while (flows->n == 0)
			traffic_next(&n->traffic, AGENT, port + 1, flows);
		f = &flows->flows[draw(n) % flows->n];
		if (f->n > 0) {
			f->n--;
			return f;
		}
		*f = flows->flows[--flows->n];
	}
}

static void
send_counters(struct disk_network *n, unsigned port, uint64_t time_us)
{
	struct ease_record r = record_of(EASE_PART_SNAPSHOT, time_us);
	const struct disk_port *p = &n->ports[port];

	r.snapshot = (struct ease_snapshot){.if_index = port + 1, .time_us = time_us,
	    .in = {.octets = p->octets, .ucast_pkts = p->pkts}, .pool_in_pkts = p->pkts, .samples = p->sequence,
	    .last_sequence = p->sequence};
	take(n, &r);
}

/* With counters, as EASE sends them. */
static void
send_sample(struct disk_network *n, uint64_t time_us)
{
	unsigned port = (unsigned)(draw(n) % DISK_PORTS);
	struct ease_record r = record_of(EASE_PART_SAMPLE, time_us);
	struct disk_port *p = &n->ports[port];
	const struct flow *f = next_flow(n, port);

	p->pkts += TRAFFIC_SKIP;
	p->octets += (uint64_t)TRAFFIC_SKIP * f->octets;
	traffic_put_header(f, n->header);
	r.sample = (struct ease_sample){.time_us = time_us, .if_index = port + 1, .sequence = ++p->sequence,
	    .direction = EASE_IN, .input_if = port + 1, .skip = TRAFFIC_SKIP - 1, .mean_skip = TRAFFIC_SKIP,
	    .pool_pkts = p->pkts, .frame_octets = f->octets, .kept_octets = TRAFFIC_HEADER_OCTETS, .header = n->header};
	take(n, &r);
	send_counters(n, port, time_us);
}

static void
send_state(struct disk_network *n, unsigned port, uint64_t time_us)
{
	struct ease_record r = record_of(EASE_PART_STATE, time_us);

	r.state = (struct ease_state){.if_index = port + 1, .time_us = time_us, .speed_bps = 1000000000,
	    .admin_status = EASE_IF_UP, .oper_status = EASE_IF_UP, .edge = true};
	snprintf(r.state.name, sizeof(r.state.name), "ge-%u", port + 1);
	take(n, &r);
}

static uint64_t
pass_time(struct disk_network *n, double samples_per_s, double hours)
{
	uint64_t samples = (uint64_t)(samples_per_s * hours * 3600), sent = 0, at_us = TRAFFIC_START_US;
	uint64_t end_us = at_us + (uint64_t)(hours * 3600e6), step_us = COUNTERS_EVERY_S * TRAFFIC_SECOND_US;

	for (unsigned p = 0; p < DISK_PORTS; p++)
		send_state(n, p, at_us);
	for (; at_us < end_us; at_us += step_us) {
		uint64_t until = (uint64_t)((double)samples * (double)(at_us + step_us - TRAFFIC_START_US) /
		    (double)(end_us - TRAFFIC_START_US)), first = sent;

		for (; sent < until && sent < samples; sent++)
			send_sample(n, at_us + (sent - first) * step_us / (until - first));
		for (unsigned p = 0; p < DISK_PORTS; p++)
			send_counters(n, p, at_us + step_us - 1);
		if ((at_us + step_us) % (FLUSH_EVERY_S * TRAFFIC_SECOND_US) == 0)
			flush(n, at_us + step_us);
		if ((at_us + step_us) % (300 * TRAFFIC_SECOND_US) == 0)
			store_rest(n->store);
	}
	return sent;
}

/* ---- measuring ---- */

static double
ask(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;
	double value = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
		exit(EXIT_FAILURE);
	}
	if (sqlite3_step(stmt) == SQLITE_ROW)
		value = sqlite3_column_double(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

#define PAGES_OF(names) "SELECT total(pgsize) FROM dbstat WHERE aggregate = 1 AND name IN (" names ")"

/* Pages of `part` are shared among levels by the octets of bodies, of which each row has some more. */
static void
measure_sums(sqlite3 *db, struct disk_measured *m)
{
	double all = ask(db, PAGES_OF("'part', 'part_place', 'part_start'"));
	double bodies = ask(db, "SELECT total(length(body) + 40) FROM part");
	char sql[256];

	for (int l = LEVEL_1_MIN; l < STORE_N_LEVELS; l++) {
		snprintf(sql, sizeof(sql), "SELECT total(length(body) + 40) FROM part WHERE level = %u",
		    store_levels[l].minutes);
		m->octets_sums[l] = bodies > 0 ? all * ask(db, sql) / bodies : 0;
	}
}

static void
measure(const char *path, struct disk_measured *m)
{
	sqlite3 *db;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		die("opening the file");
	m->sample_rows = ask(db, "SELECT count(*) FROM sample");
	m->counter_rows = ask(db, "SELECT count(*) FROM counter");
	m->octets_samples = ask(db, PAGES_OF("'sample', 'sample_time'"));
	m->octets_counters = ask(db, PAGES_OF("'counter'"));
	measure_sums(db, m);
	m->file = ask(db, "SELECT total(pgsize) FROM dbstat WHERE aggregate = 1");
	m->octets_rest = m->file - m->octets_samples - m->octets_counters -
	    ask(db, PAGES_OF("'part', 'part_place', 'part_start'"));
	sqlite3_close(db);
}

/* A level has what its windows cover: those that are complete and kept. */
static void
set_in_sums(struct disk_measured *m, double hours, const struct store_retention *keep)
{
	for (int l = LEVEL_1_MIN; l < STORE_N_LEVELS; l++) {
		double span_h = (double)store_levels[l].span_us / 3600e6;
		double covered = span_h < hours ? (double)(uint64_t)(hours / span_h) * span_h : 0;
		double kept = (double)keep->level_us[l] / 3600e6;

		m->in_sums[l] = (double)m->samples * (kept > 0 && kept < covered ? kept : covered) / hours;
	}
}

void
disk_fill(const char *dir, double samples_per_s, double hours, const struct store_retention *keep,
    struct disk_measured *measured)
{
	struct disk_network *n = calloc(1, sizeof(*n));

	if (!n)
		die("memory");
	n->clock = (struct clock){.manual = true, .manual_wall_us = TRAFFIC_START_US, .manual_mono_us = TRAFFIC_START_US};
	n->random = 0x9e3779b97f4a7c15u;
	traffic_init(&n->traffic, 10, 1);
	snprintf(n->path, sizeof(n->path), "%s/disk.db", dir);
	unlink(n->path);
	open_all(n, keep);
	*measured = (struct disk_measured){.samples = pass_time(n, samples_per_s, hours)};
	if (store_close(n->store) < 0)
		die("closing the store");
	accounting_free(n->accounting);
	measure(n->path, measured);
	set_in_sums(measured, hours, keep);
	free(n);
}
