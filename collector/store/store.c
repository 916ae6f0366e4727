#include "collector/store/store.h"
#include "collector/store/naming.h"
#include "collector/store/private.h"
#include "collector/store/sql.h"
#include "common/clock.h"
#include "common/hash.h"
#include "common/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROOM "store"

enum {
	ERROR_TEXT = 512,
	RETRY_MS = 200, /* between two tries of a batch */
	WRITER_NICE = 10,
	TRIES_AT_STOP = 25, /* five seconds, so that a stop ends before systemd's timeout */
	/* After five seconds of I/O errors the file is opened again: SQLite goes on using the old
	 * file descriptor even when the disk has come back. */
	FAILURES_TO_REOPEN = 25,
	MAKE_ROOM_US = 200000, /* between two batches, in steps, while the store is beyond its size */
	UPKEEP_STEP_US =
	    20000, /* the longest that upkeep delays a batch, except for a large unit */
};

static const struct stat_name stat_names[STORE_N_STATS] = {
    [STORE_STAT_BATCHES] = {"store.batches", "transactions written"},
    [STORE_STAT_ROWS] = {"store.rows", "rows written, new or changed"},
    [STORE_STAT_RETRIES] = {"store.retries", "transactions that failed and were tried again"},
    [STORE_STAT_LOG_HELD] = {"store.log_held", "transactions written while the file's -wal was long, as a reader"
	" that does not end keeps it from being used again"},
    [STORE_STAT_DAMAGE_MET] = {"store.damage_met", "times a reader of the file found it damaged: a question, the judge of"
	" samplers, shipping, or what is known of an agent that was silent"},
    [STORE_STAT_REOPENED] = {"store.reopened", "times the file was opened again after I/O errors"},
    [STORE_STAT_RENEWALS] = {"store.renewals",
	"times a new store was started because the file was damaged, moved or removed"},
    [STORE_STAT_LOST_ROWS] = {"store.lost_rows",
	"rows lost because they could not be written before the stop"},
    [STORE_STAT_LOST_BATCHES] = {"store.lost_batches",
	"batches lost because they could not be written before the stop"},
    [STORE_STAT_SETTLED] = {"store.settled",
	"units (a minute, kind and group of agents) settled; again when late samples arrive"},
    [STORE_STAT_ROLLED_UP] = {"store.rolled_up", "units rolled up into longer windows"},
    [STORE_STAT_TOO_OLD] = {"store.too_old",
	"units dropped because their time is older than everything that is kept"},
    [STORE_STAT_DAMAGED_PARTS] = {"store.damaged_parts",
	"rows of sums that are damaged and were not used"},
    [STORE_STAT_BEYOND_LIMIT] = {"store.beyond_limit",
	"rows of boots, states, events, error sources and outages deleted because an agent or a port "
	"had more than its number; the newest stay"},
    [STORE_STAT_PLACES_CROWDED] = {"store.places_crowded",
	"sightings of addresses that easetop addresses does not know, because very many new ones came at once"},
    [STORE_STAT_PLACES_BEYOND] = {"store.places_beyond_limit",
	"rows of addresses deleted because a port had more than its number; those seen last stay"},
    [STORE_STAT_LONGEST_UPKEEP_US] = {"store.longest_upkeep_us",
	"the longest that a piece of upkeep took, in which nothing is written"},
    [STORE_STAT_SHARES + STORE_HELD_DISCARD] = {"store.folded_discards",
	"rows of discarded packets by minute that were added to their hour's, by age or to make room"},
    [STORE_STAT_SHARES + STORE_HELD_DISCARD_HOUR] = {"store.room_old_discards",
	"rows of discarded packets by hour deleted to make room, of the source that had most"},
    [STORE_STAT_SHARES + STORE_HELD_EVENT] = {"store.room_events",
	"events deleted to make room, of the source that had most"},
    [STORE_STAT_SHARES + STORE_HELD_PLACE] = {"store.room_addresses",
	"addresses deleted to make room, of the source that had most"},
    [STORE_STAT_SHARES + STORE_HELD_ERROR_SOURCE] = {"store.room_error_sources",
	"sources of errors deleted to make room, of the source that had most"},
    [STORE_STAT_SHARES + STORE_HELD_ODDITY] = {"store.room_oddities",
	"rows of what cannot be deleted to make room, of the source that had most"},
    [STORE_STAT_DELETED + RETENTION_SAMPLES] = {"store.deleted_samples", "samples deleted"},
    [STORE_STAT_DELETED + RETENTION_HEADERS] = {"store.deleted_headers", "headers deleted of samples that stay"},
    [STORE_STAT_DELETED + RETENTION_COUNTERS] = {"store.deleted_counters",
	"rows of counters and resources deleted; those at the ends of windows stay"},
    [STORE_STAT_DELETED + RETENTION_EVENTS] = {"store.deleted_events", "events deleted"},
    [STORE_STAT_DELETED + RETENTION_DEVICE_ROWS] = {"store.deleted_device_rows",
	"rows of old boots, states, error sources, addresses and outages, and of agents and ports that were "
	"silent for long, deleted by age or size"},
    [STORE_STAT_DELETED + RETENTION_OF_SOURCES] = {"store.deleted_of_sources",
	"agents and ports forgotten because their source had more than the store keeps of one; those that were "
	"heard last stay"},
    [STORE_STAT_DELETED + RETENTION_PAID] = {"store.paid",
	"counters deleted and keys of sums folded, of sources that held more than twice what one holds on average, "
	"because the store was full"},
    [STORE_STAT_DELETED + RETENTION_SUMS] = {"store.deleted_sums_unsettled", "always 0"},
    [STORE_STAT_DELETED + RETENTION_SUMS +
	LEVEL_1_MIN] = {"store.deleted_sums_1min", "sums of minutes deleted"},
    [STORE_STAT_DELETED + RETENTION_SUMS +
	LEVEL_5_MIN] = {"store.deleted_sums_5min", "sums of 5 minutes deleted"},
    [STORE_STAT_DELETED + RETENTION_SUMS +
	LEVEL_1_H] = {"store.deleted_sums_1h", "sums of hours deleted"},
    [STORE_STAT_DELETED + RETENTION_SUMS +
	LEVEL_1_D] = {"store.deleted_sums_1d", "sums of days deleted"},
    [STORE_STAT_DELETED + RETENTION_SUMS +
	LEVEL_8_D] = {"store.deleted_sums_8d", "sums of 8 days deleted"},
};

/* Opening */

int
store_open(struct store **out, const char *path, const struct progress *progress, char *error, size_t error_size)
{
	struct store *store = calloc(1, sizeof(*store));
	int r;

	if (!store) {
		snprintf(error, error_size, "%s: out of memory", path);
		return -ENOMEM;
	}
	store->lock_fd = -1;
	store->path = strdup(path);
	if (progress)
		store->progress = *progress;
	store->stats = (struct stat_set){stat_names, STORE_N_STATS, store->values};
	pthread_mutex_init(&store->lock, NULL);
	pthread_cond_init(&store->idle, NULL);
	sem_init(&store->wake, 0, 0);
	r = store->path ? store_open_locked(store, error, error_size) : -ENOMEM;
	if (r < 0) {
		store_close(store);
		return r;
	}
	*out = store;
	return 0;
}

/* Upkeep */

/* What fails is tried again with the next upkeep. */
static void
write_naming(struct store *store)
{
	char *rows = NULL;
	int r;

	pthread_mutex_lock(&store->lock);
	if (store->naming_due && store->naming)
		rows = strdup(store->naming);
	store->naming_due &= rows == NULL;
	pthread_mutex_unlock(&store->lock);
	if (!rows)
		return;
	r = naming_write(store->db, rows);
	free(rows);
	if (r == 0)
		return;
	log_warn_limited(ROOM, "cannot write the device names, trying again: %s", sqlite3_errmsg(store->db));
	pthread_mutex_lock(&store->lock);
	store->naming_due = true;
	pthread_mutex_unlock(&store->lock);
}

void
store_set_naming(struct store *store, char *rows)
{
	bool changed;

	pthread_mutex_lock(&store->lock);
	changed = !store->naming || strcmp(store->naming, rows) != 0;
	free(store->naming);
	store->naming = rows;
	store->naming_due |= changed;
	pthread_mutex_unlock(&store->lock);
	if (changed)
		sem_post(&store->wake);
}

/* Returns true if there is more to do. */
static bool
do_upkeep(struct store *store)
{
	const struct retention *retention = &store->upkeep.retention;
	char error[ERROR_TEXT];
	int did;

	if (!store->db || store->failures > 0)
		return false; /* writing a batch deals with the failure first */
	pthread_mutex_lock(&store->lock);
	store->upkeep.retention.shares.due |= store->keep.most_octets != retention->keep.most_octets;
	store->upkeep.retention.keep = store->keep;
	pthread_mutex_unlock(&store->lock);
	write_naming(store);
	did = atomic_exchange(&store->damaged_inode, 0) == (uint64_t)store->inode ? -EBADMSG
										  : upkeep_step(&store->upkeep, UPKEEP_STEP_US);
	atomic_store(&store->values[STORE_STAT_SETTLED], store->upkeep.rollup->settled);
	atomic_store(&store->values[STORE_STAT_ROLLED_UP], store->upkeep.rollup->rolled);
	atomic_store(&store->values[STORE_STAT_TOO_OLD], store->upkeep.rollup->too_old);
	atomic_store(&store->values[STORE_STAT_DAMAGED_PARTS], store->upkeep.parts->damaged);
	for (int i = 0; i < RETENTION_N_COUNTS; i++)
		atomic_store(&store->values[STORE_STAT_DELETED + i], retention->deleted[i]);
	for (int i = 0; i < STORE_N_HELD; i++)
		atomic_store(&store->values[STORE_STAT_SHARES + i], retention->shares.rows[i]);
	atomic_store(&store->values[STORE_STAT_LONGEST_UPKEEP_US], store->upkeep.longest_us);
	if (did == -EBADMSG && store_set_aside(store, error, sizeof(error)) < 0)
		log_warn_limited(ROOM, "%s", error);
	return did == 1;
}

void
store_set_retention(struct store *store, const struct store_retention *retention)
{
	pthread_mutex_lock(&store->lock);
	store->keep = *retention;
	pthread_mutex_unlock(&store->lock);
}

/* Queue */

_Static_assert((int)STORE_BATCHES <= (int)SPSC_ITEMS, "a ring must have room for all batches");

struct store_batch *
store_take(struct store *store)
{
	return spsc_take(&store->empty);
}

void
store_submit(struct store *store, struct store_batch *batch)
{
	store->submitted++;
	spsc_put(&store->full, batch);
	sem_post(&store->wake);
}

/* Waits for the next batch to write and returns it; NULL when the store stops and no batch is left.
 * While there is no batch, it does upkeep in steps that are short compared to writing a batch. */
static struct store_batch *
next_batch(struct store *store)
{
	for (;;) {
		bool stopping = atomic_load(&store->stopping); /* nothing is put after it is set */
		struct store_batch *batch = spsc_take(&store->full);

		if (batch || stopping)
			return batch;
		if (do_upkeep(store))
			continue;
		/* There is nothing to do after what was written. */
		pthread_mutex_lock(&store->lock);
		store->rested = store->finished;
		pthread_cond_broadcast(&store->idle);
		pthread_mutex_unlock(&store->lock);
		sem_wait(&store->wake);
	}
}

/* Writing */

/* Runs the statement that deletes what a limit of the table leaves no room for. */
static int
delete_beyond_limit(struct store *store, int table, int64_t agent)
{
	sqlite3_stmt *statement = store->limits[table];
	int code = sqlite3_step(statement);

	sqlite3_reset(statement);
	if (code != SQLITE_DONE)
		return -EIO;
	stat_add(
	    &store->stats, STORE_STAT_BEYOND_LIMIT, (uint64_t)sqlite3_changes(store->db));
	beyond_limit_note(&store->beyond, agent, (uint64_t)sqlite3_changes(store->db));
	return 0;
}

/* After a row was written: the limit of its agent, or of the table. */
static int
hold_limit(struct store *store, int table, const void *row)
{
	const struct store_statement *how = &store_statements[table];

	if (!how->limit_sql || how->port_of ||
	    (how->is_due && !how->is_due(row, sqlite3_last_insert_rowid(store->db))))
		return 0;
	if (how->limit_of)
		sqlite3_bind_int64(store->limits[table], 1, how->limit_of(row));
	return delete_beyond_limit(store, table,
	    table == STORE_EVENTS ? ((const struct store_event *)row)->agent : 0);
}

enum { PLACE_BITS = 1 << 16 };

/* After all rows of a batch were written: the limits of their ports. Which of these were held already is known
 * by a bit of a hash; a port whose bit another one has set is held with a later batch, which hashes
 * differently. */
static int
hold_port_limits(struct store *store, int table, const struct store_rows *rows)
{
	const struct store_statement *how = &store_statements[table];
	uint64_t held[PLACE_BITS / 64] = {0}, seed = ++store->limits_held * HASH_GOLDEN;

	for (size_t i = 0; i < rows->n; i++) {
		const void *row = (const char *)rows->items + i * stored_tables[table].row_octets;
		struct store_place at = how->port_of(row);
		uint64_t bit = hash_pair(seed, (uint64_t)at.agent, at.if_index) % PLACE_BITS;

		if ((how->is_due && !how->is_due(row, 0)) || held[bit / 64] >> bit % 64 & 1)
			continue;
		held[bit / 64] |= UINT64_C(1) << bit % 64;
		sqlite3_bind_int64(store->limits[table], 1, at.agent);
		sqlite3_bind_int64(store->limits[table], 2, at.if_index);
		if (delete_beyond_limit(store, table, at.agent) < 0)
			return -EIO;
	}
	return 0;
}

/* For who pays when there is no room. */
static void
note_row(struct store *store, int table, const void *row)
{
	struct retention *t = &store->upkeep.retention;
	const struct store_sample *sample = row;
	const struct store_agent *agent = row;
	const struct store_account *account = row;

	if (table == STORE_SAMPLES)
		retention_note_sample(t, sample->agent, sample->sample.if_index);
	else if (table == STORE_AGENTS)
		source_limits_note_agent(&t->sources, agent->id);
	else if (table == STORE_PORTS || (table == STORE_ACCOUNTS && account->is_new))
		source_limits_note_port(&t->sources);
}

static int
store_write_table(struct store *store, const struct store_batch *batch, int table)
{
	const struct store_statement *how = &store_statements[table];
	const struct store_rows *rows = &batch->rows[table];
	sqlite3_stmt *statement = store->statements[table];

	for (size_t i = 0; i < rows->n; i++) {
		const void *row = (const char *)rows->items + i * stored_tables[table].row_octets;
		int code;

		stored_bind(&stored_tables[table], row, statement);
		code = sqlite3_step(statement);
		sqlite3_reset(statement);
		if (code != SQLITE_DONE || hold_limit(store, table, row) < 0)
			return -EIO;
		note_row(store, table, row);
	}
	return rows->n > 0 && how->port_of ? hold_port_limits(store, table, rows) : 0;
}

/* In WAL mode a commit survives the process without a sync. To survive the machine it must be
 * synced to the disk, which is done only for batches that say so: those whose commit answers an
 * inform. */
static int
set_writing_through(struct store *store, bool wanted)
{
	int r = 0;

	if (wanted != store->writes_through)
		r = store_sql_run(store->db, wanted ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
	if (r == 0)
		store->writes_through = wanted;
	return r;
}

static int
write_places(struct store *store, const struct store_batch *batch)
{
	struct places_counts before = places_counts(store->places), after;
	int r = places_write(store->places, batch);

	after = places_counts(store->places);
	stat_add(&store->stats, STORE_STAT_PLACES_CROWDED, after.crowded_out - before.crowded_out);
	stat_add(&store->stats, STORE_STAT_PLACES_BEYOND, after.beyond_limit - before.beyond_limit);
	beyond_limit_note(&store->beyond, after.beyond_agent, after.beyond_limit - before.beyond_limit);
	return r;
}

static int
write_rows(struct store *store, const struct store_batch *batch)
{
	int r = set_writing_through(store, batch->durable);

	if (r == 0)
		r = store_sql_run(store->db, "BEGIN IMMEDIATE");
	for (int t = 0; r == 0 && t < STORE_N_TABLES; t++)
		if (stored_tables[t].name)
			r = store_write_table(store, batch, t);
	if (r == 0)
		r = unsettled_write(store->unsettled, store->upkeep.parts, batch);
	if (r == 0)
		r = write_places(store, batch);
	beyond_limit_tell(&store->beyond, store->db);
	return r == 0 ? store_sql_run(store->db, "COMMIT") : r;
}

/* Makes sure that the right file is open: after it was moved, removed or damaged, or closed after
 * too many failures. */
static int
ensure_database(struct store *store, char *error, size_t error_size)
{
	int r;

	switch (store_file_state(store)) {
	case STORE_FILE_IN_PLACE:
		break;
	case STORE_FILE_MISSING:
		log_error(ROOM, "%s was moved or removed; starting a new, empty store there", store->path);
		store_close_database(store);
		return store_begin_anew(store, STORE_OUTAGE_MOVED, error, error_size);
	case STORE_FILE_UNCLEAR:
		snprintf(error, error_size, "%s: this is not the store that was opened, or its "
					    "directory is missing; waiting for it to come back",
		    store->path);
		return -ESTALE;
	}
	if (store->failures >= FAILURES_TO_REOPEN) {
		store->failures = 0;
		stat_add(&store->stats, STORE_STAT_REOPENED, 1);
		store_close_database(store);
	}
	if (store->db)
		return 0;
	r = store_open_database(store, error, error_size);
	return r == -EBADMSG ? store_set_aside(store, error, error_size) : r;
}

static void
store_note_failure(struct store *store, char *error, size_t error_size)
{
	int code = sqlite3_errcode(store->db) & 0xff;

	snprintf(error, error_size, "%s", sqlite3_errmsg(store->db));
	places_rolled_back(store->places);
	if (store_is_damaged(store)) {
		store_set_aside(store, error, error_size);
		return;
	}
	if (!sqlite3_get_autocommit(store->db))
		store_sql_run(store->db, "ROLLBACK");
	if (code == SQLITE_IOERR || code == SQLITE_CANTOPEN || code == SQLITE_READONLY)
		store->failures++;
}

/* Readers see the store as it was when they began, so what is written since stays in the log: one that was stopped, or a
 * shell left open, fills the disk, and nobody would know by whom. */
static void
watch_log(struct store *store)
{
	enum { LOG_MOST_MIB = 256, MIB = 1 << 20 };
	sqlite3_file *log = NULL;
	sqlite3_int64 octets = 0;

	if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK || !log ||
	    !log->pMethods || log->pMethods->xFileSize(log, &octets) != SQLITE_OK || octets / MIB < LOG_MOST_MIB)
		return;
	stat_add(&store->stats, STORE_STAT_LOG_HELD, 1);
	log_warn_limited(ROOM, "%s-wal has %lld MiB and grows: a program has been reading the store since long ago, a "
	    "stopped easetop, an sqlite3 shell or a backup; end it (fuser %s shows who)", store->path,
	    (long long)(octets / MIB), store->path);
}

static int
write_batch(struct store *store, const struct store_batch *batch, char *error, size_t error_size)
{
	int r = ensure_database(store, error, error_size);

	if (r == 0) {
		r = write_rows(store, batch);
		if (r == 0) {
			store->failures = 0;
			watch_log(store);
		} else {
			store_note_failure(store, error, error_size);
		}
	}
	if (r < 0)
		log_warn_limited(ROOM, "cannot write a batch, trying again: %s", error);
	return r;
}

static size_t
batch_rows(const struct store_batch *batch)
{
	size_t n = 0;

	for (int t = 0; t < STORE_N_TABLES; t++)
		n += batch->rows[t].n;
	return n;
}

/* Waits before the next try. Returns true if the store is being stopped. */
static bool
pause_before_retry(struct store *store)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += RETRY_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&store->lock);
	store->failing = true;
	pthread_cond_broadcast(&store->idle);
	pthread_mutex_unlock(&store->lock);
	while (sem_timedwait(&store->wake, &until) == 0)
		if (atomic_load(&store->stopping))
			break;
	return atomic_load(&store->stopping);
}

static void
write_or_give_up(struct store *store, const struct store_batch *batch)
{
	int tries_at_stop = 0;
	char error[ERROR_TEXT] = "";

	while (write_batch(store, batch, error, sizeof(error)) < 0) {
		stat_add(&store->stats, STORE_STAT_RETRIES, 1);
		if (pause_before_retry(store) && ++tries_at_stop >= TRIES_AT_STOP) {
			stat_add(&store->stats, STORE_STAT_LOST_BATCHES, 1);
			stat_add(&store->stats, STORE_STAT_LOST_ROWS, batch_rows(batch));
			log_error(ROOM,
			    "stopping: a batch of %zu rows is lost, because it cannot be "
			    "written: %s",
			    batch_rows(batch), error);
			return;
		}
	}
	stat_add(&store->stats, STORE_STAT_BATCHES, 1);
	stat_add(&store->stats, STORE_STAT_ROWS, batch_rows(batch));
}

/* Upkeep also where there is always a batch to write; longer while somebody fills the store. */
static void
store_make_room(struct store *store)
{
	uint64_t until_us = clock_mono_us(&clock_system) + MAKE_ROOM_US;

	store->upkeep.retention.shares.due = true;
	while (do_upkeep(store) && store->upkeep.makes_room && clock_mono_us(&clock_system) < until_us)
		;
}

static void *
run_writer(void *arg)
{
	struct store *store = arg;
	struct store_batch *batch;

	/* Writing may wait, receiving may not. On Linux a thread has its own nice value. */
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), WRITER_NICE);
	while ((batch = next_batch(store)) != NULL) {
		write_or_give_up(store, batch);
		store_batch_clear(batch);
		spsc_put(&store->empty, batch);
		pthread_mutex_lock(&store->lock);
		store->finished++;
		store->failing = false;
		pthread_cond_broadcast(&store->idle);
		pthread_mutex_unlock(&store->lock);
		store_make_room(store);
	}
	if (store->places && store->failures == 0 && places_end(store->places) < 0)
		log_warn(ROOM, "when some addresses were seen last is not stored: %s", sqlite3_errmsg(store->db));
	return NULL;
}

static int
make_batches(struct store *store, const struct store_room room[STORE_N_TABLES])
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < STORE_BATCHES; i++) {
		r = store_batch_init(&store->batches[i], room);
		if (r == 0)
			spsc_put(&store->empty, &store->batches[i]);
	}
	return r;
}

int
store_start(struct store *store, const struct store_room room[STORE_N_TABLES])
{
	int r = make_batches(store, room);

	store->progress = (struct progress){0}; /* its callback belongs to the opening thread */
	if (r == 0)
		/* Counters begin at 0 with a collector; one that this version does not have would
		 * stay. */
		r = store_sql_run(store->db, "UPDATE life SET running=1; DELETE FROM stat");
	if (r == 0)
		r = unsettled_new(&store->unsettled, room);
	if (r == 0)
		r = -pthread_create(&store->thread, NULL, run_writer, store);
	if (r == 0) {
		store->started = true;
		pthread_setname_np(store->thread, "store");
	}
	return r;
}

static int
wait_until(struct store *store, const uint64_t *done)
{
	int r;

	pthread_mutex_lock(&store->lock);
	while (*done < store->submitted && !store->failing)
		pthread_cond_wait(&store->idle, &store->lock);
	r = store->failing ? -EIO : 0;
	pthread_mutex_unlock(&store->lock);
	return r;
}

int
store_drain(struct store *store)
{
	return wait_until(store, &store->finished);
}

int
store_rest(struct store *store)
{
	return wait_until(store, &store->rested);
}

int
store_stop(struct store *store)
{
	if (store->started) {
		atomic_store(&store->stopping, true);
		sem_post(&store->wake);
		pthread_join(store->thread, NULL);
	}
	store->started = false;
	return stat_get(&store->stats, STORE_STAT_LOST_BATCHES) > 0 ? -EIO : 0;
}

void
store_get_life(const struct store *store, struct store_life *life)
{
	*life = (struct store_life){store->id, store->path, store->unclean_stop, store->stopped_us};
}

int
store_end_life(struct store *store, uint64_t wall_us)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "UPDATE life SET running=0; INSERT OR REPLACE INTO stat VALUES('stopped_us', %llu)",
	    (unsigned long long)(wall_us ? wall_us : store->stopped_us));
	return store->db ? store_sql_run(store->db, sql) : -EIO;
}

uint64_t
store_renewals(const struct store *store, enum store_outage_kind *why)
{
	uint64_t n = atomic_load(&store->renewals);

	*why = store->renewed_why;
	return n;
}

int
store_close(struct store *store)
{
	int r;

	if (!store)
		return 0;
	r = store_stop(store);
	store_close_recall(&store->recall);
	store_close_database(store);
	unsettled_free(store->unsettled);
	for (size_t i = 0; i < STORE_BATCHES; i++)
		store_batch_free(&store->batches[i]);
	if (store->lock_fd >= 0)
		close(store->lock_fd);
	free(store->path);
	free(store->naming);
	sem_destroy(&store->wake);
	pthread_cond_destroy(&store->idle);
	pthread_mutex_destroy(&store->lock);
	free(store);
	return r;
}

const struct stat_set *
store_stats(const struct store *store)
{
	return &store->stats;
}
