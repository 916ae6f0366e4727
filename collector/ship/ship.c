#include "collector/ship/ship.h"
#include "collector/ship/ship_sql.h"
#include "collector/ship/statement.h"
#include "collector/ship/ship_upkeep.h"
#include "collector/ship/ship_batch.h"
#include "collector/ship/store_reader.h"
#include "collector/ship/units.h"
#include "common/clock.h"
#include "common/log.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROOM "ship"

enum {
	THREAD_NICE = 15, /* lower priority than the store's writer */
	/* A minute is shipped when no data has arrived for it during this many intervals (of 10 s):
	 * by then its last counters, which come every 20 or 30 s at most, have arrived. */
	QUIET_INTERVALS = 3,
	BATCH_ROWS = 200000, /* after this many rows the batch is committed */
	EVENTS_A_BATCH = 10000,
	LONGEST_WAIT_S = 60,
};

#define SECOND_US ((uint64_t)1000000)
/* By the device's clock: counters may arrive this late and are still shipped in the next round. */
#define LATE_US (60 * (int64_t)SECOND_US)
/* By the collector's clock: receiver threads differ by less than this. */
#define APART_US (5 * (int64_t)SECOND_US)
/* By the cluster's clock: far more than the half minute after which Linux writes data to disk. */
#define GO_BACK_US (600 * (int64_t)SECOND_US)
/* All rows of an agent's state are sent again this often, for those that came with an old time. */
#define RESEND_STATE_US (600 * SECOND_US)
#define UPKEEP_US (20 * SECOND_US)

static const struct stat_name stat_names[SHIP_N_STATS] = {
    [SHIP_STAT_LAG] = {"ship.lag_s",
	"seconds that the cluster is behind the store; 0 if it has all data"},
    [SHIP_STAT_BATCHES] = {"ship.batches", "batches that the cluster confirmed"},
    [SHIP_STAT_ROWS] = {"ship.rows", "rows that the cluster confirmed"},
    [SHIP_STAT_MINUTES] = {"ship.minutes",
	"minutes (of up to 16 agents each) that the cluster confirmed"},
    [SHIP_STAT_UNCHANGED] = {"ship.unchanged", "minutes that were checked again and had not changed"},
    [SHIP_STAT_MISSED] = {"ship.missed_windows",
	"minutes that retention deleted from the store before they were sent"},
    [SHIP_STAT_RETRIES] = {"ship.retries", "batches that failed and were sent again"},
    [SHIP_STAT_REWINDS] = {"ship.rewinds",
	"times that shipping went back some minutes after a server had restarted"},
    [SHIP_STAT_OCTETS] = {"ship.octets", "octets of rows sent"},
    [SHIP_STAT_SENT_OCTETS] = {"ship.compressed_octets", "the same, compressed"},
    [SHIP_STAT_ROLLED] = {"ship.rolled_windows",
	"windows rolled up in the cluster, summed over its servers"},
    [SHIP_STAT_DROPPED] = {"ship.dropped_partitions",
	"partitions dropped because of age, summed over the servers"},
    [SHIP_STAT_DELETED] = {"ship.deleted_rows",
	"rows of agents, accounts, ports, error sources and outages deleted because of age, summed over the "
	"servers"},
};

struct ship {
	struct ship_config config;
	struct cluster_http *http;
	struct ship_batch batch;
	struct store_reader store;
	struct units units;
	struct ship_upkeep upkeep;
	struct ship_cursor cursor;  /* the last one that the cluster confirmed */
	struct ship_cursor next;    /* that of the present batch */
	int64_t scanned_id;	    /* parts up to this id have been seen */
	size_t minutes;		    /* units of the present batch */
	uint64_t unchanged;
	int64_t naming_version; /* of the device names that the cluster has; 0: not known */
	uint64_t told_all_us, kept_us, complete_us; /* monotonic; 0: never */
	bool is_loaded;		    /* cursor and agents were read from the cluster */
	bool is_keeping;	    /* upkeep is running, which a stop ends at once */
	unsigned failures;	    /* consecutive ones */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	_Atomic bool stopping;
	_Atomic uint64_t deadline_us; /* monotonic, of the stop */
	struct stat_set stats;
	_Atomic uint64_t values[SHIP_N_STATS];
};

uint64_t
ship_memory(void)
{
	/* The buffers of the busiest tables, which double as they grow, one of them compressed,
	 * and SQLite's pages. */
	const uint64_t buffers = 5 * 2 * (uint64_t)SHIP_BATCH_BUFFER, pages = 2 << 20;

	return buffers + pages + UNITS_MAX * (sizeof(struct unit) + 2 * sizeof(uint32_t)) +
	    UNITS_REMEMBERED * sizeof(struct remembered);
}

static uint64_t
ship_now_us(void)
{
	return clock_mono_us(&clock_system);
}

static bool
ship_is_over(void *arg)
{
	struct ship *s = arg;

	return atomic_load(&s->stopping) && (s->is_keeping || ship_now_us() >= atomic_load(&s->deadline_us));
}

/* Resuming */

/* What the cluster knows of this collector: revision, time, newest_us, closed_us. */
static int
ask_newest(struct ship *s, int64_t newest[4])
{
	return statement_numbers(s->http, CLUSTER_ANY_SERVER, SQL(&s->config.place, NULL, ship_sql[SHIP_SQL_NEWEST].text,
	    SQL_I64("me", s->store.store_id)), newest, 4);
}

/* The newest cursor that is GO_BACK_US older than that time; zeros: there is none. */
static int
ask_cursor(struct ship *s, int64_t time_us)
{
	int64_t ids[4];
	int r = statement_numbers(s->http, CLUSTER_ANY_SERVER, SQL(&s->config.place, NULL, ship_sql[SHIP_SQL_CURSOR].text,
	    SQL_I64("me", s->store.store_id), SQL_I64("to_us", time_us > GO_BACK_US ? time_us - GO_BACK_US : 0)), ids, 4);

	if (r == 0)
		s->cursor = (struct ship_cursor){.part_id = ids[0], .event_id = ids[1],
		    .outage_id = ids[2], .received_us = ids[3]};
	return r;
}

/* Counts the minutes that retention deleted from the store before the cluster had them. */
static void
count_missed(struct ship *s, uint64_t closed_us)
{
	int64_t kept_us = 0;
	char until[CLOCK_RFC3339_MAX];

	if (closed_us == 0 ||
	    store_reader_number(&s->store, "SELECT kept_us FROM level WHERE minutes = 1",
		&kept_us) < 0 ||
	    (uint64_t)kept_us <= closed_us)
		return;
	s->cursor.missed_minutes = ((uint64_t)kept_us - closed_us) / STORE_WINDOW_US;
	stat_add(&s->stats, SHIP_STAT_MISSED, s->cursor.missed_minutes);
	clock_format_rfc3339((uint64_t)kept_us, until, sizeof(until));
	log_warn(ROOM, "%" PRIu64 " minutes before %s were deleted from the store before the "
		       "cluster had them; 1min in keep must be longer than an outage of the cluster",
	    s->cursor.missed_minutes, until);
}

/* A copy of the store that was put back gives ids a second time, and of the minutes after it has what is missing: those that
 * the cluster has stay, and what the store has been given since it was opened is sent, with all that has a key of its own. */
static int
begin_at_copy(struct ship *s, uint64_t newest_us)
{
	uint64_t wall_us = clock_wall_us(&clock_system);
	int64_t opened_id = -1, received_us = s->cursor.received_us < (int64_t)wall_us ? s->cursor.received_us : 0;
	char sql[384];
	int r;

	snprintf(sql, sizeof(sql), "SELECT (part_epoch << %d) - 1 FROM life WHERE (SELECT ifnull(max(id), 0) FROM part) < %" PRId64
	    " OR (SELECT ifnull(max(id), 0) FROM event) < %" PRId64 " OR (SELECT ifnull(max(id), 0) FROM outage) < %" PRId64
	    " OR (SELECT ifnull(max(last_received_us), 0) FROM agent) < %" PRId64,
	    PARTS_EPOCH_BITS, s->cursor.part_id, s->cursor.event_id, s->cursor.outage_id, received_us);
	r = store_reader_number(&s->store, sql, &opened_id);
	if (r < 0 || opened_id < 0)
		return r;
	log_info(ROOM, "%s is older than what the cluster has of it, as a copy that was put back: what comes now is sent, and"
	    " what the copy lacks stays in the cluster", s->config.store);
	s->cursor = (struct ship_cursor){.part_id = s->cursor.part_id < opened_id ? s->cursor.part_id : opened_id};
	s->store.from_us = newest_us < wall_us ? newest_us : wall_us;
	return 0;
}

/* Cursors have the collector's time, counters the device's: the device's time is taken to be as long
 * ago. */
static void
start_agents(struct ship *s, int64_t received_us)
{
	for (size_t i = 0; i < s->store.n_agents; i++) {
		struct store_reader_agent *a = &s->store.agents[i];
		int64_t ago_us = a->last_received_us - received_us;

		a->staged.is_set = false;
		a->told_received_us = 0;
		a->sent_identity = -1;
		a->sent_received_us = received_us > GO_BACK_US ? received_us - GO_BACK_US : 0;
		a->sent_us = 0;
		if (received_us > 0)
			a->sent_us = a->last_us - (ago_us > 0 ? ago_us : 0) - GO_BACK_US;
	}
}

/* The cluster does not have the revisions of batches that failed, so each start begins with one far
 * above all that the run before can have used. */
static int
load_position(struct ship *s)
{
	int64_t newest[4], revision;
	int r = ask_newest(s, newest);

	if (r == 0)
		r = statement_numbers(s->http, CLUSTER_ANY_SERVER, SQL(&s->config.place, NULL,
		    ship_sql[SHIP_SQL_REVISION].text, SQL_I64("me", s->store.store_id)), &revision, 1);
	if (r == 0)
		r = ask_cursor(s, newest[1]);
	if (r == 0)
		r = begin_at_copy(s, (uint64_t)newest[2]);
	if (r == 0)
		r = store_reader_load_agents(&s->store);
	if (r < 0)
		return r;
	s->batch.collector = s->upkeep.collector = s->store.store_id;
	revision = revision > newest[0] ? revision : newest[0];
	s->batch.revision = ((uint64_t)revision | 0xffffff) + 1;
	s->cursor.newest_us = (uint64_t)newest[2];
	s->cursor.closed_us = (uint64_t)newest[3];
	count_missed(s, s->cursor.closed_us);
	start_agents(s, s->cursor.received_us);
	units_forget(&s->units);
	s->scanned_id = s->cursor.part_id;
	s->told_all_us = 0;
	s->naming_version = 0;
	s->is_loaded = true;
	log_info(ROOM, "shipping to %s, beginning after part %" PRId64,
	    cluster_http_server(s->http, 0), s->cursor.part_id);
	return 0;
}

/* The cluster no longer has what it confirmed: it was wiped, or a server lost its disk. */
static int
detect_loss(struct ship *s)
{
	int64_t newest[4];
	int r = ask_newest(s, newest);

	if (r == 0 && s->cursor.newest_us > (uint64_t)newest[2])
		s->is_loaded = false;
	return r;
}

static int
prepare_round(struct ship *s)
{
	bool restarted = false;
	int r = store_reader_open(&s->store);

	if (r < 0)
		return r;
	if (r == 1)
		s->is_loaded = false;
	r = ship_upkeep_prepare(&s->upkeep, &restarted);
	if (r == 0 && s->is_loaded && restarted) {
		stat_add(&s->stats, SHIP_STAT_REWINDS, 1);
		s->is_loaded = false;
	}
	if (r == 0 && s->is_loaded)
		r = detect_loss(s);
	return r == 0 && !s->is_loaded ? load_position(s) : r;
}

/* A batch */

static void
begin_batch(struct ship *s)
{
	ship_batch_begin(&s->batch);
	s->next = s->cursor;
	s->next.from_us = s->next.to_us = 0;
	s->minutes = 0;
}

static void
commit_agents(struct ship *s)
{
	for (size_t i = 0; i < s->store.n_agents; i++) {
		struct store_reader_agent *a = &s->store.agents[i];

		if (!a->staged.is_set)
			continue;
		a->staged.is_set = false;
		a->sent_us = a->staged.us;
		a->sent_identity = a->staged.identity;
		a->sent_received_us = a->staged.received_us;
		if (a->staged.tells_all)
			a->told_received_us = a->staged.received_us;
	}
}

static void
note_sent(struct ship *s)
{
	uint64_t octets, compressed;

	cluster_http_sent(s->http, &octets, &compressed);
	atomic_store(&s->values[SHIP_STAT_OCTETS], octets);
	atomic_store(&s->values[SHIP_STAT_SENT_OCTETS], compressed);
	atomic_store(&s->values[SHIP_STAT_ROWS], s->batch.rows_sent);
	atomic_store(&s->values[SHIP_STAT_UNCHANGED], s->unchanged);
	atomic_store(&s->values[SHIP_STAT_ROLLED], s->upkeep.rolled);
	atomic_store(&s->values[SHIP_STAT_DROPPED], s->upkeep.dropped);
	atomic_store(&s->values[SHIP_STAT_DELETED], s->upkeep.deleted);
}

static int
commit_batch(struct ship *s)
{
	uint64_t wall_us = clock_wall_us(&clock_system), closed_us;
	int r;

	s->next.part_id = units_least_id(&s->units, s->scanned_id + 1) - 1;
	closed_us = s->next.newest_us > 2 * STORE_WINDOW_US
	    ? s->next.newest_us - 2 * STORE_WINDOW_US : 0;
	closed_us = closed_us < wall_us ? closed_us : wall_us; /* where a device's clock is ahead */
	if (closed_us > s->next.closed_us)
		s->next.closed_us = closed_us;
	r = ship_batch_commit(&s->batch, &s->next);
	if (r < 0)
		return r;
	units_commit(&s->units);
	commit_agents(s);
	stat_add(&s->stats, SHIP_STAT_MISSED, s->next.missed_minutes - s->cursor.missed_minutes);
	s->cursor = s->next;
	stat_add(&s->stats, SHIP_STAT_BATCHES, 1);
	stat_add(&s->stats, SHIP_STAT_MINUTES, s->minutes);
	note_sent(s);
	begin_batch(s);
	return 0;
}

static int
commit_if_large(struct ship *s)
{
	return s->batch.rows >= BATCH_ROWS ? commit_batch(s) : 0;
}

/* Minutes */

static int
send_unit(struct ship *s, struct unit *unit)
{
	uint64_t before = units_fingerprint(&s->units, unit->start_us, unit->shard);
	size_t entries = 0;
	int r = 0;

	unit->fingerprint = 0;
	if (before != 0)
		r = store_reader_fingerprint(&s->store, unit, &unit->fingerprint);
	if (r == 0 && before != 0 && unit->fingerprint == before) {
		unit->sent = true;
		s->unchanged++;
		return 0;
	}
	if (r == 0)
		r = store_reader_send_unit(&s->store, &s->batch, unit, &unit->fingerprint, &entries);
	if (r < 0)
		return r;
	unit->sent = true;
	if (entries == 0) {
		s->next.missed_minutes++;
		return 0;
	}
	s->minutes++;
	if (s->next.from_us == 0 || unit->start_us < s->next.from_us)
		s->next.from_us = unit->start_us;
	if (unit->start_us + STORE_WINDOW_US > s->next.to_us)
		s->next.to_us = unit->start_us + STORE_WINDOW_US;
	if (s->next.to_us > s->next.newest_us)
		s->next.newest_us = s->next.to_us;
	return 0;
}

/* Sends counters of a minute that arrived after those of later minutes were sent. */
static int
send_late_counters(struct ship *s, const struct unit *unit)
{
	struct store_reader_range range = {.from_us = (int64_t)unit->start_us - 1, .received_us = -1,
	    .to_us = (int64_t)(unit->start_us + STORE_WINDOW_US)};
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < STORE_SHARD_AGENTS; i++) {
		range.agent = (int64_t)unit->shard * STORE_SHARD_AGENTS + i;
		if ((size_t)range.agent >= s->store.n_agents ||
		    s->store.agents[range.agent].sent_us - LATE_US < range.to_us)
			continue;
		r = store_reader_send_rows(&s->store, &s->batch, CLUSTER_COUNTERS, &range);
		if (r == 0)
			r = store_reader_send_rows(&s->store, &s->batch, CLUSTER_RESOURCES, &range);
	}
	return r;
}

/* Sends the units of one minute that are due. *i: its first unit, and then that of the next minute. */
static int
send_minute(struct ship *s, size_t *i, uint64_t until_us)
{
	uint64_t start_us = s->units.items[*i].start_us;
	size_t minutes = s->minutes;
	int r = 0;

	for (; r == 0 && *i < s->units.n && s->units.items[*i].start_us == start_us; ++*i) {
		struct unit *unit = &s->units.items[*i];

		if (unit->seen_us > until_us)
			continue;
		r = send_unit(s, unit);
		if (r == 0 && unit->fingerprint !=
		    units_fingerprint(&s->units, unit->start_us, unit->shard))
			r = send_late_counters(s, unit);
	}
	if (r == 0 && s->config.samples && s->minutes > minutes)
		r = store_reader_send_samples(&s->store, &s->batch, &s->units, start_us);
	return r;
}

/* Oldest first. A commit reorders the array, so it is read from the start again. */
static int
send_minutes(struct ship *s, uint64_t until_us)
{
	size_t i = 0;
	int r = 0;

	units_sort(&s->units);
	while (r == 0 && i < s->units.n) {
		r = send_minute(s, &i, until_us);
		if (r == 0 && s->batch.rows >= BATCH_ROWS) {
			r = commit_batch(s);
			i = 0;
		}
	}
	return r;
}

static int
ship_minutes(struct ship *s, bool all)
{
	uint64_t now = ship_now_us(), quiet_us = QUIET_INTERVALS * s->config.interval_s * SECOND_US;
	uint64_t until_us = all ? UINT64_MAX : now > quiet_us ? now - quiet_us : 0;
	int64_t before;
	int r;

	do { /* parts beyond UNITS_MAX units are read when due units have been sent */
		before = s->scanned_id;
		r = store_reader_scan_parts(&s->store, &s->units, &s->scanned_id, now);
		if (r == 0)
			r = send_minutes(s, s->units.n == UNITS_MAX ? UINT64_MAX : until_us);
		if (r == 0 && s->batch.rows > 0)
			r = commit_batch(s);
	} while (r == 0 && s->scanned_id > before);
	return r;
}

/* Agents */

static int
ship_agent(struct ship *s, int64_t number, bool all)
{
	struct store_reader_agent *a = &s->store.agents[number];
	static const enum cluster_table_id state[] = {CLUSTER_PORT_STATES, CLUSTER_ERROR_SOURCES,
	    CLUSTER_ODDITIES, CLUSTER_LINKS, CLUSTER_ACCOUNTS, CLUSTER_GONE, CLUSTER_GAPS, CLUSTER_DISCARDS, CLUSTER_IDENTITIES,
	    CLUSTER_AGENTS};
	int64_t last_us = a->last_us, last_received_us = a->last_received_us, identity = a->identity;
	/* A clock was set back, or an older capture was imported: all rows are sent again. */
	bool went_back = last_received_us < a->sent_received_us - APART_US ||
	    last_us < a->sent_us - LATE_US;
	struct store_reader_range range = {.agent = number, .to_us = INT64_MAX,
	    .from_us = went_back ? -1 : a->sent_us - LATE_US,
	    .received_us = went_back ? -1 : a->sent_received_us - APART_US};
	int r = store_reader_send_rows(&s->store, &s->batch, CLUSTER_COUNTERS, &range);

	if (r == 0)
		r = store_reader_send_rows(&s->store, &s->batch, CLUSTER_RESOURCES, &range);
	a = &s->store.agents[number]; /* agents may have been loaded again */
	if (all)
		range.from_us = -1;
	for (size_t t = 0; r == 0 && t < sizeof(state) / sizeof(state[0]); t++)
		r = store_reader_send_rows(&s->store, &s->batch, state[t], &range);
	a->staged.is_set = true;
	a->staged.tells_all = all;
	a->staged.us = last_us;
	a->staged.identity = identity;
	a->staged.received_us = last_received_us;
	return r == 0 ? commit_if_large(s) : r;
}

/* received_us of the cursor covers all agents, so it is set when all of them have been sent. */
static int
ship_agents(struct ship *s, bool all)
{
	int64_t received_us = s->cursor.received_us;
	int r = store_reader_load_agents(&s->store);

	for (size_t i = 0; r == 0 && i < s->store.n_agents; i++) {
		const struct store_reader_agent *a = &s->store.agents[i];
		bool tell = all && a->told_received_us != a->last_received_us;

		if (a->last_received_us > received_us)
			received_us = a->last_received_us;
		if (a->known && (tell || a->last_us != a->sent_us || a->identity != a->sent_identity ||
				    a->last_received_us != a->sent_received_us))
			r = ship_agent(s, (int64_t)i, tell);
	}
	s->next.received_us = received_us;
	return r;
}

/* Events, outages, and rows of the collector itself */

static int
ship_by_id(struct ship *s, enum cluster_table_id table, int64_t *id)
{
	int n, r;

	do
		r = store_reader_send_by_id(&s->store, &s->batch, table, id, EVENTS_A_BATCH, &n);
	while (r == 0 && n == EVENTS_A_BATCH && (r = commit_if_large(s)) == 0);
	return r;
}

static int
send_collector(struct ship *s)
{
	struct row_buffer *b = ship_batch_row(&s->batch, CLUSTER_COLLECTORS);
	const char *name = strrchr(s->config.store, '/');
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	name = name ? name + 1 : s->config.store;
	row_put_int(b, (uint64_t)s->batch.collector, 8);
	row_put_text(b, host, strlen(host));
	row_put_text(b, name, strlen(name));
	row_put_text(b, s->config.version, strlen(s->config.version));
	row_put_int(b, clock_wall_us(&clock_system), 8);
	row_put_int(b, s->batch.revision, 8);
	return ship_batch_end_row(&s->batch, CLUSTER_COLLECTORS);
}

/* Sends the device names if they have changed, or all is told; *version: of those in the store. */
static int
ship_naming(struct ship *s, bool all, int64_t *version)
{
	const struct store_reader_range range = {.from_us = all ? 0 : s->naming_version};
	int r = store_reader_number(&s->store, "SELECT ifnull(max(version), 0) FROM naming", version);

	if (r == 0 && *version > range.from_us)
		r = store_reader_send_rows(&s->store, &s->batch, CLUSTER_NAMING, &range);
	return r;
}

static int
ship_rest(struct ship *s)
{
	const struct store_reader_range range = {0};
	int r = ship_by_id(s, CLUSTER_EVENTS, &s->next.event_id);

	if (r == 0)
		r = ship_by_id(s, CLUSTER_OUTAGES, &s->next.outage_id);
	if (r == 0)
		r = store_reader_send_rows(&s->store, &s->batch, CLUSTER_STATS, &range);
	return r == 0 ? send_collector(s) : r;
}

/* Rounds */

static int
ship_all(struct ship *s, bool last)
{
	bool all = last || s->told_all_us == 0 || ship_now_us() - s->told_all_us >= RESEND_STATE_US;
	int64_t naming_version = 0;
	int r;

	store_reader_refresh(&s->store);
	begin_batch(s);
	r = ship_minutes(s, last);
	if (r == 0)
		r = ship_agents(s, all);
	if (r == 0)
		r = ship_naming(s, all, &naming_version);
	if (r == 0)
		r = ship_rest(s);
	if (r == 0)
		r = commit_batch(s);
	if (r == 0)
		s->naming_version = naming_version;
	if (r == 0 && all)
		s->told_all_us = ship_now_us();
	return r;
}

/* A failure of the upkeep on one server does not make a batch fail. */
static void
keep_up(struct ship *s)
{
	int err;

	if (s->kept_us != 0 && ship_now_us() - s->kept_us < UPKEEP_US)
		return;
	pthread_mutex_lock(&s->lock);
	memcpy(s->upkeep.keep_us, s->config.keep.level_us, sizeof(s->upkeep.keep_us));
	s->upkeep.keep_samples_us = s->config.keep.samples_us;
	pthread_mutex_unlock(&s->lock);
	s->is_keeping = true;
	err = ship_upkeep_work(&s->upkeep, UPKEEP_US);
	s->is_keeping = false;
	if (err < 0 && err != -ECANCELED) {
		log_warn_limited(ROOM, "upkeep of the cluster failed: %s", cluster_http_error(s->http));
		ship_upkeep_forget(&s->upkeep);
	}
	s->kept_us = ship_now_us();
	note_sent(s);
}

static const char *
ship_reason_of(const struct ship *s, int err)
{
	if (err == -EIO)
		return s->store.error;
	return *cluster_http_error(s->http) ? cluster_http_error(s->http) : strerror(-err);
}

static void
ship_note_failure(struct ship *s, int err)
{
	units_roll_back(&s->units);
	for (size_t i = 0; i < s->store.n_agents; i++)
		s->store.agents[i].staged.is_set = false;
	stat_add(&s->stats, SHIP_STAT_RETRIES, 1);
	s->failures++;
	if (err == -EREMOTEIO) /* perhaps tables are missing, also on another shard */
		ship_upkeep_forget(&s->upkeep);
	atomic_store(&s->values[SHIP_STAT_LAG], (ship_now_us() - s->complete_us) / SECOND_US);
	if (s->store.is_damaged && s->config.damaged)
		s->config.damaged(s->config.damaged_arg, s->store.inode);
	if (!ship_is_over(s))
		log_warn_limited(ROOM, "cannot ship to the cluster, trying again: %s", ship_reason_of(s, err));
}

static void
note_success(struct ship *s)
{
	if (s->failures > 0)
		log_info(ROOM, "the cluster has all data again, after %" PRIu64 " s",
		    (ship_now_us() - s->complete_us) / SECOND_US);
	s->failures = 0;
	s->complete_us = ship_now_us();
	atomic_store(&s->values[SHIP_STAT_LAG], 0);
}

static void
ship_round(struct ship *s, bool last)
{
	int r = prepare_round(s);

	if (r == 0)
		r = ship_all(s, last);
	if (r < 0)
		ship_note_failure(s, r);
	else
		note_success(s);
	if (r == 0 && !last)
		keep_up(s);
}

/* Waits for the interval, or longer while the cluster does not answer; a stop ends the wait. */
static void
wait_for_next(struct ship *s)
{
	uint32_t wait_s = s->config.interval_s;
	struct timespec until;

	for (unsigned i = 1; i < s->failures && wait_s < LONGEST_WAIT_S; i++)
		wait_s *= 2;
	if (wait_s > LONGEST_WAIT_S && s->failures > 0)
		wait_s = LONGEST_WAIT_S;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += wait_s;
	pthread_mutex_lock(&s->lock);
	while (!atomic_load(&s->stopping) && pthread_cond_timedwait(&s->wake, &s->lock, &until) != ETIMEDOUT)
		continue;
	pthread_mutex_unlock(&s->lock);
}

static void *
run_ship(void *arg)
{
	struct ship *s = arg;

	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), THREAD_NICE);
	while (!atomic_load(&s->stopping)) {
		ship_round(s, false);
		wait_for_next(s);
	}
	ship_round(s, true);
	if (s->failures > 0)
		log_warn(ROOM, "stopped before the cluster had all data; the next start sends the rest");
	return NULL;
}

/* Opening */

static int
open_parts(struct ship *s, char *error, size_t error_size)
{
	const struct cluster_http_config http = {
	    .servers = s->config.servers,
	    .n_servers = s->config.n_servers,
	    .user = s->config.user,
	    .password = s->config.password,
	    .timeout_ms = s->config.timeout_ms,
	    .stop = ship_is_over,
	    .stop_arg = s,
	};
	int r = cluster_http_open(&s->http, &http, error, error_size);

	if (r < 0)
		return r;
	snprintf(error, error_size, "out of memory");
	ship_batch_init(&s->batch, s->http, &s->config.place);
	r = ship_upkeep_init(&s->upkeep, s->http, &s->config.place);
	if (r == 0)
		r = units_init(&s->units);
	return r;
}

static void
free_ship(struct ship *s)
{
	store_reader_close(&s->store);
	ship_batch_free(&s->batch);
	units_free(&s->units);
	ship_upkeep_free(&s->upkeep);
	cluster_http_close(s->http);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int
ship_open(struct ship **out, const struct ship_config *config, char *error, size_t error_size)
{
	struct ship *s = calloc(1, sizeof(*s));
	pthread_condattr_t attributes;
	int r;

	if (!s) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	s->config = *config;
	s->stats = (struct stat_set){stat_names, SHIP_N_STATS, s->values};
	s->complete_us = ship_now_us();
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	store_reader_init(&s->store, config->store);
	r = open_parts(s, error, error_size);
	if (r == 0) {
		r = -pthread_create(&s->thread, NULL, run_ship, s);
		if (r < 0)
			snprintf(error, error_size, "cannot start the shipping thread: %s", strerror(-r));
	}
	if (r < 0) {
		free_ship(s);
		return r;
	}
	pthread_setname_np(s->thread, "ship");
	*out = s;
	return 0;
}

void
ship_set_keep(struct ship *s, const struct ship_keep *keep)
{
	pthread_mutex_lock(&s->lock);
	s->config.keep = *keep;
	pthread_mutex_unlock(&s->lock);
}

void
ship_close(struct ship *s)
{
	if (!s)
		return;
	atomic_store(&s->deadline_us, ship_now_us() + SHIP_STOP_MS * 1000ull);
	pthread_mutex_lock(&s->lock);
	atomic_store(&s->stopping, true);
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	free_ship(s);
}

const struct stat_set *
ship_stats(const struct ship *s)
{
	return &s->stats;
}
