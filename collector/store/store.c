#include "collector/store/store.h"
#include "collector/store/private.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROOM "store"

enum {
	FILE_MODE = 0640,     /* the group may read: easetop's users */
	BUSY_MS = 1000,	      /* a reader never blocks us; a backup or VACUUM may */
	RETRY_MS = 200,	      /* between two tries of a batch */
	WRITER_NICE = 10,
	TRIES_AT_STOP = 25,   /* five seconds, so that a stop ends before systemd's patience */
};

static const struct stat_name stat_names[STORE_N_STATS] = {
    [STORE_STAT_BATCHES] = {"store.batches", "transactions written"},
    [STORE_STAT_ROWS] = {"store.rows", "rows written, new or changed"},
    [STORE_STAT_RETRIES] = {"store.retries", "transactions that failed and were tried again"},
    [STORE_STAT_LOST_ROWS] = {"store.lost_rows", "rows of batches given up at the stop"},
    [STORE_STAT_LOST_BATCHES] = {"store.lost_batches", "batches given up at the stop"},
};

/* Opening */

static int
lock_file(struct store *store, const char *path, char *error, size_t error_size)
{
	char lock_path[4096];
	int e;

	if (snprintf(lock_path, sizeof(lock_path), "%s.lock", path) >= (int)sizeof(lock_path)) {
		snprintf(error, error_size, "%s: name too long", path);
		return -ENAMETOOLONG;
	}
	store->lock_fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
	if (store->lock_fd < 0) {
		e = errno;
		snprintf(error, error_size, "%s: %s", lock_path, strerror(e));
		return -e;
	}
	if (flock(store->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		snprintf(error, error_size, "%s: another collector has this store", path);
		return -EBUSY;
	}
	return 0;
}

/* SQLite would make it 0644; its other files take their mode from this one. Must be closed before
 * SQLite opens it: closing would drop SQLite's own locks of this process. */
static int
make_file(const char *path, char *error, size_t error_size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
	int e = errno;

	if (fd < 0) {
		snprintf(error, error_size, "%s: %s", path, strerror(e));
		return -e;
	}
	close(fd);
	return 0;
}

static int
sql_error(const struct store *store, const char *path, char *error, size_t error_size)
{
	int code = sqlite3_errcode(store->db);

	snprintf(error, error_size, "%s: %s", path, sqlite3_errmsg(store->db));
	return code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? -EBADMSG : -EIO;
}

static int
read_number(struct store *store, const char *sql, int64_t *value)
{
	sqlite3_stmt *s = NULL;
	int code = sqlite3_prepare_v2(store->db, sql, -1, &s, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(s);
	if (code == SQLITE_ROW)
		*value = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return code == SQLITE_ROW ? 0 : -EIO;
}

static int
run(struct store *store, const char *sql)
{
	return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

static int
make_tables(struct store *store, int64_t version)
{
	char pragma[64];
	int r = run(store, "BEGIN IMMEDIATE");

	for (int64_t v = version; r == 0 && v < STORE_VERSION; v++)
		r = run(store, store_schema[v]);
	snprintf(pragma, sizeof(pragma), "PRAGMA user_version=%d", STORE_VERSION);
	if (r == 0)
		r = run(store, pragma);
	return r == 0 ? run(store, "COMMIT") : r;
}

static int
check_version(struct store *store, const char *path, int64_t *version, char *error,
    size_t error_size)
{
	int64_t tables;

	if (read_number(store, "PRAGMA user_version", version) < 0 ||
	    read_number(store, "SELECT count(*) FROM sqlite_schema", &tables) < 0)
		return sql_error(store, path, error, error_size);
	if (*version > STORE_VERSION) {
		snprintf(error, error_size,
		    "%s: the store has version %lld, this program knows up to %d", path,
		    (long long)*version, STORE_VERSION);
		return -EPROTONOSUPPORT;
	}
	if (*version < 0 || (*version == 0 && tables > 0)) {
		snprintf(error, error_size, "%s: a database, but not a store of easecapd", path);
		return -EBADMSG;
	}
	return 0;
}

static int
prepare(struct store *store, const char *path, char *error, size_t error_size)
{
	for (int t = 0; t < STORE_N_TABLES; t++)
		if (sqlite3_prepare_v3(store->db, store_statements[t].sql, -1,
			SQLITE_PREPARE_PERSISTENT, &store->statements[t], NULL) != SQLITE_OK) {
			sql_error(store, path, error, error_size);
			return -EBADMSG;
		}
	return 0;
}

static int
open_database(struct store *store, const char *path, char *error, size_t error_size)
{
	int keep_wal = 1;
	int64_t version;
	int r;

	/* spares a lock an allocation; refused, and no harm, if SQLite is in use already */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	if (sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		return sql_error(store, path, error, error_size);
	sqlite3_busy_timeout(store->db, BUSY_MS);
	r = check_version(store, path, &version, error, error_size);
	if (r < 0)
		return r;
	/* a reader without write permission needs the files that a clean close would remove */
	sqlite3_file_control(store->db, NULL, SQLITE_FCNTL_PERSIST_WAL, &keep_wal);
	if (run(store, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
		       "PRAGMA cache_size=-32768; PRAGMA temp_store=MEMORY") < 0 ||
	    make_tables(store, version) < 0)
		return sql_error(store, path, error, error_size);
	return prepare(store, path, error, error_size);
}

int
store_open(struct store **out, const char *path, char *error, size_t error_size)
{
	struct store *store = calloc(1, sizeof(*store));
	int r;

	if (!store) {
		snprintf(error, error_size, "%s: out of memory", path);
		return -ENOMEM;
	}
	store->lock_fd = -1;
	store->stats = (struct stat_set){stat_names, STORE_N_STATS, store->values};
	pthread_mutex_init(&store->lock, NULL);
	pthread_cond_init(&store->idle, NULL);
	sem_init(&store->wake, 0, 0);
	r = lock_file(store, path, error, error_size);
	if (r == 0)
		r = make_file(path, error, error_size);
	if (r == 0)
		r = open_database(store, path, error, error_size);
	if (r < 0) {
		store_close(store);
		return r;
	}
	*out = store;
	return 0;
}

/* Queue */

_Static_assert((int)STORE_BATCHES <= (int)SPSC_ITEMS, "a ring with room for all is never full");

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

/* The next batch to write, waiting for it; NULL when stopping and nothing is left. */
static struct store_batch *
next_batch(struct store *store)
{
	for (;;) {
		bool stopping = atomic_load(&store->stopping); /* nothing is put after it is set */
		struct store_batch *batch = spsc_take(&store->full);

		if (batch || stopping)
			return batch;
		sem_wait(&store->wake);
	}
}

static void
recycle(struct store *store, struct store_batch *batch)
{
	store_batch_clear(batch);
	spsc_put(&store->empty, batch);
	pthread_mutex_lock(&store->lock);
	store->finished++;
	store->failing = false;
	pthread_cond_broadcast(&store->idle);
	pthread_mutex_unlock(&store->lock);
}

/* Writing */

static int
write_table(struct store *store, const struct store_batch *batch, int table)
{
	const struct store_statement *how = &store_statements[table];
	const struct store_rows *rows = &batch->rows[table];
	sqlite3_stmt *statement = store->statements[table];

	for (size_t i = 0; i < rows->n; i++) {
		struct binder b = {statement, 1};
		int code;

		how->bind(&b, (const char *)rows->items + i * how->row_octets);
		code = sqlite3_step(statement);
		sqlite3_reset(statement);
		if (code != SQLITE_DONE)
			return -EIO;
	}
	return 0;
}

/* In WAL mode a commit outlives the process anyway; outliving the machine costs a sync of the disk,
 * which only a batch takes that somebody is told of. */
static int
set_writing_through(struct store *store, bool wanted)
{
	int r = 0;

	if (wanted != store->writes_through)
		r = run(store, wanted ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
	if (r == 0)
		store->writes_through = wanted;
	return r;
}

static int
write_batch(struct store *store, const struct store_batch *batch)
{
	int r = set_writing_through(store, batch->must_last);

	if (r == 0)
		r = run(store, "BEGIN IMMEDIATE");
	for (int t = 0; r == 0 && t < STORE_N_TABLES; t++)
		r = write_table(store, batch, t);
	if (r == 0)
		r = run(store, "COMMIT");
	if (r < 0) {
		log_warn_limited(ROOM, "batch not written, will be tried again: %s",
		    sqlite3_errmsg(store->db));
		if (!sqlite3_get_autocommit(store->db))
			run(store, "ROLLBACK");
	}
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

/* Waits before the next try; true if the store is being stopped. */
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

	while (write_batch(store, batch) < 0) {
		stat_add(&store->stats, STORE_STAT_RETRIES, 1);
		if (pause_before_retry(store) && ++tries_at_stop >= TRIES_AT_STOP) {
			stat_add(&store->stats, STORE_STAT_LOST_BATCHES, 1);
			stat_add(&store->stats, STORE_STAT_LOST_ROWS, batch_rows(batch));
			log_error(ROOM, "gave up a batch of %zu rows at the stop: %s",
			    batch_rows(batch), sqlite3_errmsg(store->db));
			return;
		}
	}
	stat_add(&store->stats, STORE_STAT_BATCHES, 1);
	stat_add(&store->stats, STORE_STAT_ROWS, batch_rows(batch));
}

static void *
writer(void *arg)
{
	struct store *store = arg;
	struct store_batch *batch;

	/* a batch can wait, a datagram cannot; on Linux a thread has a nice value of its own */
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), WRITER_NICE);
	while ((batch = next_batch(store)) != NULL) {
		write_or_give_up(store, batch);
		recycle(store, batch);
	}
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

	if (r == 0)
		r = -pthread_create(&store->thread, NULL, writer, store);
	if (r == 0) {
		store->started = true;
		pthread_setname_np(store->thread, "store");
	}
	return r;
}

int
store_drain(struct store *store)
{
	int r;

	pthread_mutex_lock(&store->lock);
	while (store->finished < store->submitted && !store->failing)
		pthread_cond_wait(&store->idle, &store->lock);
	r = store->failing ? -EIO : 0;
	pthread_mutex_unlock(&store->lock);
	return r;
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

int
store_close(struct store *store)
{
	int r;

	if (!store)
		return 0;
	r = store_stop(store);
	for (int t = 0; t < STORE_N_TABLES; t++)
		sqlite3_finalize(store->statements[t]);
	sqlite3_close(store->db);
	for (size_t i = 0; i < STORE_BATCHES; i++)
		store_batch_free(&store->batches[i]);
	if (store->lock_fd >= 0)
		close(store->lock_fd);
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
