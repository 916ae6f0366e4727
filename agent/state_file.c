#include "agent/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATABASE "easeagentd.db"
#define LOCK	 "easeagentd.lock"

enum {
	FILE_MODE = 0600,
	DIRECTORY_MODE = 0750,
	SCHEMA_VERSION = 1,
	BUSY_MS = 100, /* somebody looks into the file while the agent starts */
	ERROR_OCTETS = 256,
	LOCK_OCTETS = 48, /* of the lock file's only line */
};
_Static_assert(EASE_AGENT_ID_LEN == 8, "the lock file has the agent's id as one number of 16 digits");

struct state_file {
	char *dir, *path;
	char *vfs;
	int lock_fd;
	sqlite3 *db;
	sqlite3_stmt *statements[STATE_N_STATEMENTS];
	bool has_tables;
	char error[ERROR_OCTETS];
};

/*
 * The tables. A port's settings are those that a manager set, and no others. port 0 stands for the
 * agent itself. A departed port has the running time of the agent when it left; 0 means that it is here.
 */
static const char schema[] =
    "CREATE TABLE agent (name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE port (id INTEGER PRIMARY KEY, name TEXT, if_index INTEGER, departed_s INTEGER);"
    "CREATE TABLE setting (port INTEGER, name TEXT, value, PRIMARY KEY (port, name)) WITHOUT ROWID;"
    "CREATE TABLE totals (port INTEGER PRIMARY KEY, discontinuity_us INTEGER, totals BLOB);"
    "CREATE TABLE cell (tab TEXT, row TEXT, subid INTEGER, value,"
    " PRIMARY KEY (tab, row, subid)) WITHOUT ROWID;"
    "PRAGMA application_id = 1161909061;" /* "EASE" */
    "PRAGMA user_version = 1";
_Static_assert(SCHEMA_VERSION == 1, "as the schema says");

static const char *const statement_texts[STATE_N_STATEMENTS] = {
    [STATE_PUT_AGENT] = "INSERT OR REPLACE INTO agent VALUES (?, ?)",
    [STATE_PUT_PORT] = "INSERT OR REPLACE INTO port VALUES (?, ?, ?, ?)",
    [STATE_DELETE_PORT] = "DELETE FROM port WHERE id = ?",
    [STATE_DELETE_SETTINGS] = "DELETE FROM setting WHERE port = ?",
    [STATE_DELETE_TOTALS] = "DELETE FROM totals WHERE port = ?",
    [STATE_PUT_SETTING] = "INSERT OR REPLACE INTO setting VALUES (?, ?, ?)",
    [STATE_DELETE_SETTING] = "DELETE FROM setting WHERE port = ? AND name = ?",
    [STATE_PUT_TOTALS] = "INSERT OR REPLACE INTO totals VALUES (?, ?, ?)",
    [STATE_CLEAR_TOTALS] = "DELETE FROM totals",
    [STATE_PUT_CHANGES] = "INSERT OR REPLACE INTO setting VALUES (?, 'changes', ?)",
    [STATE_CLEAR_CHANGES] = "DELETE FROM setting WHERE name = 'changes'",
    [STATE_PUT_CELL] = "INSERT OR REPLACE INTO cell VALUES (?, ?, ?, ?)",
    [STATE_DELETE_ROW] = "DELETE FROM cell WHERE tab = ? AND row = ?",
};

/* ---- the directory ---- */

/* Others who can write in the directory could replace the files. Root may own it, because root can do
 * that anyway. */
static int
check_owner(const char *dir, uid_t user, char *error, size_t error_size)
{
	struct stat st;

	if (stat(dir, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if ((st.st_uid != user && st.st_uid != 0) || st.st_mode & S_IWOTH) {
		snprintf(error, error_size, "%s: this directory belongs to uid %u and has mode %04o, so other users may write in it; it must "
		    "belong to the user that the agent runs as (uid %u), with mode 0750",
		    dir, (unsigned)st.st_uid, (unsigned)st.st_mode & 07777, (unsigned)user);
		return -EPERM;
	}
	return access(dir, W_OK | X_OK) < 0 ? -errno : 0;
}

static int
make_directory(const char *dir, char *error, size_t error_size)
{
	if (mkdir(dir, DIRECTORY_MODE) < 0 && errno != EEXIST)
		return -errno;
	return check_owner(dir, geteuid(), error, error_size);
}

int
state_file_check(const char *dir, uid_t user, char *error, size_t error_size)
{
	char parent[PATH_MAX];
	char *slash;
	int rc = 0;

	error[0] = '\0';
	if (access(dir, F_OK) == 0) {
		rc = check_owner(dir, user, error, error_size);
	} else {
		snprintf(parent, sizeof(parent), "%s", dir);
		slash = strrchr(parent, '/');
		if (slash)
			slash[slash == parent] = '\0';
		if (access(slash ? parent : ".", W_OK | X_OK) < 0)
			rc = -errno;
	}
	if (rc < 0 && error[0] == '\0')
		snprintf(error, error_size, "%s: %s", dir, strerror(-rc));
	return rc;
}

/* ---- the lock, and the copy of the identity ---- */

/* "PROCESS BOOT AGENT-ID", always of the same length. */
static bool
read_lock(const struct state_file *file, unsigned *process, struct state_identity *identity)
{
	char line[LOCK_OCTETS + 1] = "";
	uint64_t id;
	ssize_t n = file->lock_fd < 0 ? -1 : pread(file->lock_fd, line, LOCK_OCTETS, 0);

	if (n != LOCK_OCTETS || line[LOCK_OCTETS - 1] != '\n' ||
	    sscanf(line, "%u %" SCNu32 " %16" SCNx64, process, &identity->boot, &id) != 3)
		return false;
	for (size_t i = 0; i < EASE_AGENT_ID_LEN; i++)
		identity->agent_id[i] = (uint8_t)(id >> 8 * (EASE_AGENT_ID_LEN - 1 - i));
	return identity->boot > 0;
}

bool
state_file_read_identity(const struct state_file *file, struct state_identity *identity)
{
	unsigned process;

	return read_lock(file, &process, identity);
}

int
state_file_write_identity(struct state_file *file, const struct state_identity *identity)
{
	char line[LOCK_OCTETS + 1];
	uint64_t id = 0;

	for (size_t i = 0; i < EASE_AGENT_ID_LEN; i++)
		id = id << 8 | identity->agent_id[i];
	snprintf(line, sizeof(line), "%10u %10" PRIu32 " %016" PRIx64 "%*s\n", (unsigned)getpid(),
	    identity->boot, id, LOCK_OCTETS - 39, "");
	errno = EBADF;
	if (file->lock_fd < 0 || pwrite(file->lock_fd, line, LOCK_OCTETS, 0) != LOCK_OCTETS ||
	    fsync(file->lock_fd) < 0)
		return -errno;
	return 0;
}

/* The database itself is locked as well (locking_mode), but this lock says by whom. On a disk that is
 * full at the very first start there is no lock file, and that lock alone remains. */
static int
lock_directory(struct state_file *file, char *error, size_t error_size)
{
	char path[PATH_MAX];
	struct state_identity identity;
	unsigned process;
	int rc;

	if (snprintf(path, sizeof(path), "%s/" LOCK, file->dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	file->lock_fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	if (file->lock_fd < 0 && errno == ENOSPC)
		return 0;
	if (file->lock_fd >= 0 && flock(file->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (rc == -EBUSY && read_lock(file, &process, &identity))
		snprintf(error, error_size, "%s: another easeagentd (process %u) uses this directory",
		    file->dir, process);
	else if (rc == -EBUSY)
		snprintf(error, error_size, "%s: another easeagentd uses this directory", file->dir);
	else
		snprintf(error, error_size, "%s: %s", path, strerror(-rc));
	return rc;
}

int
state_file_lock(const char *dir, const char *vfs, struct state_file **result, char *error, size_t error_size)
{
	struct state_file *file = calloc(1, sizeof(*file));
	int rc = file ? 0 : -ENOMEM;

	error[0] = '\0';
	if (rc == 0) {
		file->lock_fd = -1;
		file->vfs = vfs ? strdup(vfs) : NULL;
		rc = make_directory(dir, error, error_size);
	}
	if (rc == 0) {
		/* SQLite refuses links anywhere in the path, and those to the directory are the user's. */
		file->dir = realpath(dir, NULL);
		if (!file->dir)
			rc = errno > 0 ? -errno : -EIO;
	}
	if (rc == 0 && asprintf(&file->path, "%s/" DATABASE, file->dir) < 0) {
		file->path = NULL;
		rc = -ENOMEM;
	}
	if (rc == 0)
		rc = lock_directory(file, error, error_size);
	if (rc < 0 && error[0] == '\0')
		snprintf(error, error_size, "%s: %s", dir, strerror(-rc));
	if (rc < 0)
		state_file_close(file);
	else
		*result = file;
	return rc;
}

/* ---- opening and closing ---- */

static void
close_database(struct state_file *file)
{
	for (size_t i = 0; i < STATE_N_STATEMENTS; i++) {
		sqlite3_finalize(file->statements[i]);
		file->statements[i] = NULL;
	}
	sqlite3_close(file->db);
	file->db = NULL;
}

void
state_file_close(struct state_file *file)
{
	if (file == NULL)
		return;
	close_database(file);
	if (file->lock_fd >= 0)
		close(file->lock_fd);
	free(file->dir);
	free(file->path);
	free(file->vfs);
	free(file);
}

const char *
state_file_path(const struct state_file *file)
{
	return file->path;
}

const char *
state_file_error(const struct state_file *file)
{
	return file->error;
}

bool
state_file_is_open(const struct state_file *file)
{
	return file->db != NULL;
}

bool
state_file_has_tables(const struct state_file *file)
{
	return file->has_tables;
}

static int
set_error(struct state_file *file, int code)
{
	snprintf(file->error, sizeof(file->error), "%s", file->db ? sqlite3_errmsg(file->db) : sqlite3_errstr(code));
	switch (code & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_MISMATCH:
		return -EBADMSG;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOMEM:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

static int
run_sql(struct state_file *file, const char *sql)
{
	int code = sqlite3_exec(file->db, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? 0 : set_error(file, code);
}

static int
state_file_take_number(void *number, sqlite3_stmt *row)
{
	*(int64_t *)number = sqlite3_column_int64(row, 0);
	return 0;
}

/* quick_check has one row, "ok", if it finds nothing. */
static int
state_file_take_verdict(void *ctx, sqlite3_stmt *row)
{
	struct state_file *file = ctx;
	const char *verdict = (const char *)sqlite3_column_text(row, 0);

	if (verdict && strcmp(verdict, "ok") == 0)
		return 0;
	snprintf(file->error, sizeof(file->error), "%s", verdict ? verdict : "out of memory");
	return -EBADMSG;
}

/* An empty file is new; one with tables must be ours, and whole. */
static int
check_database(struct state_file *file)
{
	int64_t tables = 0, version = 0;
	int rc = state_file_read(file, "PRAGMA user_version", NULL, state_file_take_number, &version);

	if (rc == 0)
		rc = state_file_read(file, "PRAGMA quick_check(1)", NULL, state_file_take_verdict, file);
	if (rc == 0)
		rc = state_file_read(file, "SELECT count(*) FROM sqlite_master", NULL, state_file_take_number,
		    &tables);
	if (rc < 0)
		return rc;
	file->has_tables = tables > 0;
	if (tables == 0 || version == SCHEMA_VERSION)
		return 0;
	snprintf(file->error, sizeof(file->error), "its tables are of version %" PRId64
	    ", and this program knows version %d", version, SCHEMA_VERSION);
	return -EBADMSG;
}

/* SQLite would follow a link when it creates a file, and give it another mode. */
static int
make_database(struct state_file *file)
{
	int fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	struct stat st;
	int dir;

	if (fd < 0 && errno == EEXIST && lstat(file->path, &st) == 0)
		return S_ISREG(st.st_mode) ? 0 : -ELOOP;
	if (fd < 0)
		return -errno;
	close(fd);
	dir = open(file->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	(void)fsync(dir); /* SQLite syncs it again for its journal */
	close(dir);
	return 0;
}

static int
open_database(struct state_file *file)
{
	/* The first must come before the file is read: then the log's index is in memory, not in a
	 * file of its own, which a full disk could refuse. */
	static const char settings[] =
	    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
	    "PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -1024";
	int keep_log = 1, code;

	code = sqlite3_open_v2(file->path, &file->db,
	    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, file->vfs);
	if (code != SQLITE_OK)
		return set_error(file, code);
	sqlite3_extended_result_codes(file->db, 0);
	sqlite3_busy_timeout(file->db, BUSY_MS);
	sqlite3_file_control(file->db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep_log);
	return run_sql(file, settings);
}

int
state_file_open(struct state_file *file)
{
	int rc = make_database(file);

	if (rc < 0) {
		snprintf(file->error, sizeof(file->error), "%s", rc == -ELOOP
			? "it must be a file, and no link is followed" : strerror(-rc));
		return rc;
	}
	rc = open_database(file);
	if (rc == 0)
		rc = check_database(file);
	if (rc == 0) /* so that the log is written from its beginning again */
		(void)sqlite3_wal_checkpoint_v2(file->db, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL);
	if (rc == -EBUSY)
		snprintf(file->error, sizeof(file->error), "another program has it open");
	if (rc < 0)
		close_database(file);
	return rc;
}

static int
rename_part(const struct state_file *file, const char *part)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (snprintf(from, sizeof(from), "%s%s", file->path, part) >= (int)sizeof(from) ||
	    snprintf(to, sizeof(to), "%s.damaged%s", file->path, part) >= (int)sizeof(to))
		return -ENAMETOOLONG;
	return rename(from, to) < 0 && errno != ENOENT ? -errno : 0;
}

/* The log goes first: if the agent is cut off in between, a new database must not get it. */
int
state_file_set_aside(struct state_file *file)
{
	int rc;

	close_database(file);
	rc = rename_part(file, "-wal");
	if (rc == 0)
		rc = rename_part(file, "-journal");
	if (rc == 0)
		rc = rename_part(file, "");
	if (rc < 0)
		snprintf(file->error, sizeof(file->error), "it cannot be renamed: %s", strerror(-rc));
	return rc;
}

/* ---- reading and writing ---- */

int
state_file_begin(struct state_file *file)
{
	int rc = run_sql(file, "BEGIN IMMEDIATE");

	if (rc == 0 && !file->has_tables) {
		rc = run_sql(file, schema);
		if (rc < 0)
			state_file_rollback(file);
	}
	return rc;
}

int
state_file_commit(struct state_file *file)
{
	int rc = run_sql(file, "COMMIT");

	if (rc == 0)
		file->has_tables = true;
	else
		state_file_rollback(file);
	return rc;
}

void
state_file_rollback(struct state_file *file)
{
	if (!sqlite3_get_autocommit(file->db))
		(void)sqlite3_exec(file->db, "ROLLBACK", NULL, NULL, NULL);
	if (!file->has_tables) { /* they were prepared for tables that are gone */
		for (size_t i = 0; i < STATE_N_STATEMENTS; i++) {
			sqlite3_finalize(file->statements[i]);
			file->statements[i] = NULL;
		}
	}
}

static int
bind_arguments(sqlite3_stmt *statement, const char *types, va_list arguments)
{
	int code = SQLITE_OK;

	for (int i = 0; types[i] != '\0' && code == SQLITE_OK; i++) {
		if (types[i] == 'i') {
			code = sqlite3_bind_int64(statement, i + 1, va_arg(arguments, int64_t));
		} else if (types[i] == 't') {
			code = sqlite3_bind_text(statement, i + 1, va_arg(arguments, const char *), -1,
			    SQLITE_STATIC);
		} else {
			const void *octets = va_arg(arguments, const void *);
			size_t n = va_arg(arguments, size_t);

			code = n > 0 ? sqlite3_bind_blob64(statement, i + 1, octets, n, SQLITE_STATIC)
				     : sqlite3_bind_zeroblob(statement, i + 1, 0);
		}
	}
	return code;
}

int
state_file_put(struct state_file *file, enum state_statement which, const char *types, ...)
{
	sqlite3_stmt **statement = &file->statements[which];
	va_list arguments;
	int code = SQLITE_OK, rc = 0;

	if (*statement == NULL)
		code = sqlite3_prepare_v3(file->db, statement_texts[which], -1, SQLITE_PREPARE_PERSISTENT,
		    statement, NULL);
	va_start(arguments, types);
	if (code == SQLITE_OK)
		code = bind_arguments(*statement, types, arguments);
	va_end(arguments);
	if (code == SQLITE_OK)
		code = sqlite3_step(*statement);
	if (code != SQLITE_DONE)
		rc = set_error(file, code);
	if (*statement) {
		sqlite3_reset(*statement);
		sqlite3_clear_bindings(*statement);
	}
	return rc;
}

int
state_file_read(struct state_file *file, const char *query, const char *text,
    int (*row)(void *ctx, sqlite3_stmt *row), void *ctx)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(file->db, query, -1, &statement, NULL), rc = 0;

	if (code == SQLITE_OK && text)
		code = sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
	while (code == SQLITE_OK && rc == 0) {
		code = sqlite3_step(statement);
		if (code != SQLITE_ROW)
			break;
		rc = row(ctx, statement);
		code = SQLITE_OK;
	}
	if (rc == 0 && code != SQLITE_DONE)
		rc = set_error(file, code);
	sqlite3_finalize(statement);
	return rc;
}
