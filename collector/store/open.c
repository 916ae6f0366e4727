/*
 * Opens a store: locks it for one collector, makes its tables or brings them up to date version by version, each in
 * a transaction of its own, and handles a file that is damaged or missing.
 */
#include "collector/store/old_ids.h"
#include "collector/store/private.h"
#include "collector/store/sql.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ROOM "store"

enum {
	FILE_MODE = 0640, /* the group may read: easetop's users */
	PATH_TEXT = 4096,
	/* How long to wait for a lock. Readers never block the writer; a backup or VACUUM may. */
	BUSY_MS = 1000,
	BUSY_OPENING_MS = 30000, /* while opening, there is nothing else to do */
	STEPS_PER_CHECK = 100000, /* of SQLite's virtual machine: some milliseconds */
	NAMES_TRIED = 100,
};

/* Files */

static int
lock_file(struct store *store, char *error, size_t error_size)
{
	char path[PATH_TEXT];
	int e;

	if (snprintf(path, sizeof(path), "%s.lock", store->path) >= (int)sizeof(path)) {
		snprintf(error, error_size, "%s: the path is too long", store->path);
		return -ENAMETOOLONG;
	}
	store->was_ours = access(path, F_OK) == 0;
	store->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
	if (store->lock_fd < 0) {
		e = errno;
		snprintf(error, error_size, "%s: %s", path, strerror(e));
		return -e;
	}
	if (flock(store->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		snprintf(error, error_size, "%s: another collector uses this store", store->path);
		return -EBUSY;
	}
	return 0;
}

/* Creates the file with our mode, because SQLite would use 0644; SQLite's other files take their
 * mode from this one. The descriptor must be closed before SQLite opens the file, because closing
 * it later would release the locks that SQLite holds in this process. */
static int
make_file(struct store *store, char *error, size_t error_size)
{
	int fd = open(store->path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
	int e = errno;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		snprintf(error, error_size, "%s: %s", store->path, strerror(e));
		return -e;
	}
	store->device = st.st_dev;
	store->inode = st.st_ino;
	close(fd);
	return 0;
}

enum store_file_state
store_file_state(const struct store *store)
{
	char lock_path[PATH_TEXT];
	struct stat st, lock, ours;
	bool there = stat(store->path, &st) == 0;

	if (there && st.st_dev == store->device && st.st_ino == store->inode)
		return STORE_FILE_IN_PLACE;
	snprintf(lock_path, sizeof(lock_path), "%s.lock", store->path);
	if (there || stat(lock_path, &lock) < 0 || fstat(store->lock_fd, &ours) < 0 ||
	    lock.st_dev != ours.st_dev || lock.st_ino != ours.st_ino)
		return STORE_FILE_UNCLEAR;
	return STORE_FILE_MISSING;
}

/* SQLite's errors */

bool
store_is_damaged(const struct store *store)
{
	int code = store->db ? sqlite3_errcode(store->db) & 0xff : SQLITE_OK;

	return code == SQLITE_NOTADB || code == SQLITE_CORRUPT;
}

static int
sql_error(const struct store *store, char *error, size_t error_size)
{
	int code = sqlite3_errcode(store->db) & 0xff;

	snprintf(error, error_size, "%s: %s", store->path, sqlite3_errmsg(store->db));
	if (store_is_damaged(store))
		return -EBADMSG;
	return code == SQLITE_INTERRUPT ? -ECANCELED : -EIO;
}

/* Versions */

static int
open_check_version(struct store *store, int64_t *version, char *error, size_t error_size)
{
	int64_t tables;

	if (store_sql_number(store->db, "PRAGMA user_version", version) < 0 ||
	    store_sql_number(store->db, "SELECT count(*) FROM sqlite_schema", &tables) < 0)
		return sql_error(store, error, error_size);
	if (*version > STORE_VERSION) {
		snprintf(error, error_size,
		    "%s: the store has version %lld, and this program supports versions up to %d: "
		    "use a newer easecapd, or another file", store->path, (long long)*version,
		    STORE_VERSION);
		return -EPROTONOSUPPORT;
	}
	if (*version > 0 && *version < STORE_FIRST_VERSION) {
		snprintf(error, error_size,
		    "%s: the store has version %lld, from before the first release, and this program supports versions "
		    "from %d on: move the file away, or choose another one, and a new store is begun",
		    store->path, (long long)*version, STORE_FIRST_VERSION);
		return -EPROTONOSUPPORT;
	}
	if (*version < 0 || (*version == 0 && tables > 0)) {
		snprintf(error, error_size,
		    "%s: this is a database of another program, not a store "
		    "of easecapd; choose another file",
		    store->path);
		return -EBADMSG;
	}
	return 0;
}

bool
store_go_on(const struct store *store, const char *what, double done)
{
	return progress_go_on(&store->progress, what, done);
}

static int
report_while_raising(void *arg)
{
	return !store_go_on(arg, "bringing the store up to date", 0);
}

/* Makes the tables of an empty store, or raises it by one version, completely or not at all. */
static int
raise_version(struct store *store, int64_t version)
{
	int64_t next = version == 0 ? STORE_VERSION : version + 1;
	char pragma[64];
	int r = store_sql_run(store->db, "BEGIN IMMEDIATE");

	snprintf(pragma, sizeof(pragma), "PRAGMA user_version=%lld", (long long)next);
	if (r == 0)
		r = version == 0 ? store_make_tables(store->db) : store_sql_run(store->db, store_schema_step(version));
	if (r == 0)
		r = store_sql_run(store->db, pragma);
	return r == 0 ? store_sql_run(store->db, "COMMIT") : r;
}

static int
bring_up_to_date(struct store *store, int64_t version, char *error, size_t error_size)
{
	int r = 0;

	if (version > 0 && version < STORE_VERSION)
		log_info(ROOM, "%s: updating the store from version %lld to %d", store->path,
		    (long long)version, STORE_VERSION);
	if (old_ids_define(store->db) != SQLITE_OK)
		return sql_error(store, error, error_size);
	sqlite3_progress_handler(store->db, STEPS_PER_CHECK, version > 0 ? report_while_raising : NULL, store);
	while (r == 0 && version < STORE_VERSION) {
		if (raise_version(store, version) < 0)
			r = sql_error(store, error, error_size);
		version = version == 0 ? STORE_VERSION : version + 1;
	}
	sqlite3_progress_handler(store->db, 0, NULL, NULL);
	return r;
}

/* Databases */

static int
prepare_store(struct store *store, char *error, size_t error_size)
{
	for (int t = 0; t < STORE_N_TABLES; t++)
		if (store_prepare_rows(store->db, t, &store->statements[t], &store->limits[t]) != SQLITE_OK) {
			sql_error(store, error, error_size);
			return -EBADMSG;
		}
	return 0;
}

static int
read_life(struct store *store, char *error, size_t error_size)
{
	int64_t id, running, stopped_us;

	if (store_sql_number(store->db, "SELECT store_id FROM life", &id) < 0 ||
	    store_sql_number(store->db, "SELECT running FROM life", &running) < 0 ||
	    store_sql_number(store->db, "SELECT ifnull(max(value), 0) FROM stat WHERE name = 'stopped_us'", &stopped_us) < 0)
		return sql_error(store, error, error_size);
	store->id = id;
	store->unclean_stop = running != 0;
	store->stopped_us = running == 0 ? (uint64_t)stopped_us : 0;
	return 0;
}

/* Starts a new range of part ids. It is synced to the disk before any part gets such an id. */
static int
begin_epoch(struct store *store, char *error, size_t error_size)
{
	if (store_sql_run(store->db, "PRAGMA synchronous=FULL;"
			     "UPDATE life SET part_epoch = part_epoch + 1;"
			     "PRAGMA synchronous=NORMAL") < 0)
		return sql_error(store, error, error_size);
	store->writes_through = false;
	return 0;
}

static int
set_up_database(struct store *store, char *error, size_t error_size)
{
	int keep_wal = 1;
	int64_t version;
	int r;

	sqlite3_busy_timeout(store->db, BUSY_OPENING_MS);
	/* Keep the files -wal and -shm at a clean close: a reader without write permission needs
	 * them, and a damaged store that is set aside stays as it was found. */
	sqlite3_file_control(store->db, NULL, SQLITE_FCNTL_PERSIST_WAL, &keep_wal);
	r = open_check_version(store, &version, error, error_size);
	if (r < 0)
		return r;
	if (store_sql_run(store->db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
			     /* shrink the write-ahead log after many readers made it grow */
			     "PRAGMA journal_size_limit=67108864;"
			     "PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY") < 0)
		return sql_error(store, error, error_size);
	r = bring_up_to_date(store, version, error, error_size);
	if (r == 0)
		r = begin_epoch(store, error, error_size);
	if (r == 0)
		r = read_life(store, error, error_size);
	if (r == 0)
		r = prepare_store(store, error, error_size);
	if (r == 0 && places_open(&store->places, store->db) < 0)
		r = sql_error(store, error, error_size);
	if (r == 0 && upkeep_open(&store->upkeep, store->db) < 0)
		r = sql_error(store, error, error_size);
	sqlite3_busy_timeout(store->db, BUSY_MS);
	return r;
}

void
store_close_database(struct store *store)
{
	for (int t = 0; t < STORE_N_TABLES; t++) {
		sqlite3_finalize(store->statements[t]);
		sqlite3_finalize(store->limits[t]);
		store->statements[t] = store->limits[t] = NULL;
	}
	places_close(store->places);
	store->places = NULL;
	upkeep_close(&store->upkeep);
	sqlite3_close(store->db);
	store->db = NULL;
}

/* Leaves the database open after a failure, so that the caller can read its error code. */
static int
try_to_open(struct store *store, char *error, size_t error_size)
{
	int r = make_file(store, error, error_size);

	if (r < 0)
		return r;
	if (sqlite3_open_v2(store->path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
		NULL) != SQLITE_OK)
		return sql_error(store, error, error_size);
	return set_up_database(store, error, error_size);
}

int
store_open_database(struct store *store, char *error, size_t error_size)
{
	int r = try_to_open(store, error, error_size);

	if (r < 0)
		store_close_database(store);
	return r;
}

/* Setting aside */

static int
choose_name(const struct store *store, char name[PATH_TEXT])
{
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];

	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &tm);
	for (int i = 1; i < NAMES_TRIED; i++) {
		int n = snprintf(name, PATH_TEXT, i == 1 ? "%s.damaged-%s" : "%s.damaged-%s-%d",
		    store->path, stamp, i);

		if (n >= PATH_TEXT - (int)sizeof("-wal"))
			return -ENAMETOOLONG;
		if (access(name, F_OK) < 0)
			return 0;
	}
	return -EEXIST;
}

void
store_note_damage(struct store *store, uint64_t inode)
{
	stat_add(&store->stats, STORE_STAT_DAMAGE_MET, 1);
	if (atomic_exchange(&store->damaged_inode, inode) != inode)
		log_error(ROOM, "%s is damaged: a reader could not read it", store->path);
	sem_post(&store->wake);
}

/* Renames the database and its files. The write-ahead log is moved first: if a crash left it
 * behind, SQLite would apply it to the new database. */
static int
move_files(const struct store *store, const char *name)
{
	static const char *const parts[] = {"-wal", "-shm", ""};
	char from[PATH_TEXT + 8], to[PATH_TEXT + 8];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(from, sizeof(from), "%s%s", store->path, parts[i]);
		snprintf(to, sizeof(to), "%s%s", name, parts[i]);
		if (rename(from, to) < 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
}

int
store_set_aside(struct store *store, char *error, size_t error_size)
{
	char name[PATH_TEXT];
	int r = choose_name(store, name);

	if (store->db)
		sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	store_close_database(store);
	if (r == 0)
		r = move_files(store, name);
	if (r < 0) {
		snprintf(error, error_size,
		    "%s: the store is damaged and cannot be renamed to set it "
		    "aside: %s",
		    store->path, strerror(-r));
		return r;
	}
	log_error(ROOM, "%s is damaged: renamed it to %s and started a new, empty store; read what "
			"is left of the old one with `sqlite3 %s .recover`",
	    store->path, name, name);
	return store_begin_anew(store, STORE_OUTAGE_DAMAGED, error, error_size);
}

int
store_begin_anew(struct store *store, enum store_outage_kind why, char *error, size_t error_size)
{
	int r = store_open_database(store, error, error_size);

	if (r < 0)
		return r;
	store->renewed_why = why;
	stat_add(&store->stats, STORE_STAT_RENEWALS, 1);
	atomic_fetch_add(&store->renewals, 1);
	pthread_mutex_lock(&store->lock);
	store->naming_due = true;
	pthread_mutex_unlock(&store->lock);
	return store->started ? store_sql_run(store->db, "UPDATE life SET running=1") : 0;
}

int
store_open_locked(struct store *store, char *error, size_t error_size)
{
	int r = lock_file(store, error, error_size);

	if (r < 0)
		return r;
	/* Saves a lock per allocation. If SQLite is in use already, it refuses; that does no harm.
	 */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	r = try_to_open(store, error, error_size);
	/* a damaged file that no collector used before may belong to another program: do not move
	 * it */
	if (r < 0 && store->was_ours && store_is_damaged(store))
		return store_set_aside(store, error, error_size);
	return r;
}
