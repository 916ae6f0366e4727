/*
 * The file behind agent/state.h: STATE_DIR/easeagentd.db, an SQLite database, and beside it
 * easeagentd.lock, which keeps a second agent out and holds a copy of the identity.
 *
 * Every change is one transaction. The write-ahead log is synced at each commit, so a commit that
 * returned 0 outlives a power cut, and one that was cut leaves the state before it. The log keeps its
 * room on the disk, so that a small change succeeds on a full disk as well.
 *
 * Main loop only. Every function that reads or writes the file blocks for as long as the disk takes.
 */
#ifndef EASE_AGENT_STATE_FILE_H
#define EASE_AGENT_STATE_FILE_H

#include "common/sample.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct state_file;

/* Who the agent is. */
struct state_identity {
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint32_t boot; /* the number of this run, from 1; 0: not known */
};

/* What can be written: the texts of the statements are a table in state_file.c. In brackets stand
 * their parameters, as state_file_put has them. */
enum state_statement {
	STATE_PUT_AGENT,      /* name, value: (tb) or (ti) */
	STATE_PUT_PORT,       /* id, name, ifIndex, departed: (itii) */
	STATE_DELETE_PORT,    /* id: (i); with its settings and totals */
	STATE_DELETE_SETTINGS,
	STATE_DELETE_TOTALS,
	STATE_PUT_SETTING,    /* port's id, name, value: (iti) or (itt) */
	STATE_DELETE_SETTING, /* port's id, name: (it) */
	STATE_PUT_TOTALS,     /* port's id, discontinuity, totals: (iib) */
	STATE_CLEAR_TOTALS,   /* () */
	STATE_PUT_CHANGES,    /* port's id, numbers: (ib); a setting by name, so that earlier versions read the file */
	STATE_CLEAR_CHANGES,  /* () */
	STATE_PUT_CELL,       /* table, row, column, value: (ttii), (ttit) or (ttib) */
	STATE_DELETE_ROW,     /* table, row: (tt) */
	STATE_N_STATEMENTS
};

/* Makes dir if it is not there, checks that nobody else can replace what is in it, and locks it. The
 * database is not opened yet. vfs names SQLite's way to the disk; NULL: the system's. Returns -EBUSY
 * if another agent uses dir, or -errno; with the reason in error. */
int state_file_lock(const char *dir, const char *vfs, struct state_file **file, char *error,
    size_t error_size);
/* Closes the database, moves its log into it, and gives up the lock. NULL allowed. */
void state_file_close(struct state_file *file);

/* For --check: what state_file_lock would say, but for another agent. Writes nothing. */
int state_file_check(const char *dir, uid_t user, char *error, size_t error_size);

/* Opens the database, and creates it if there is none. Never follows a link. Returns 0, -EBADMSG if
 * it is damaged or is not an agent's, or -errno; state_file_error then has the reason. */
int state_file_open(struct state_file *file);
bool state_file_is_open(const struct state_file *file);
bool state_file_has_tables(const struct state_file *file); /* false: it is new, and empty */
/* Renames a damaged database to easeagentd.db.damaged, in place of an earlier one. */
int state_file_set_aside(struct state_file *file);
const char *state_file_path(const struct state_file *file);
const char *state_file_error(const struct state_file *file);

/* ---- the copy of the identity ---- */

/* Returns false if there is none that can be read. */
bool state_file_read_identity(const struct state_file *file, struct state_identity *identity);
/* Overwrites the copy in place, which needs no room on the disk. */
int state_file_write_identity(struct state_file *file, const struct state_identity *identity);

/* ---- reading and writing ----
 * Return 0, -ENOSPC, -EBADMSG (damaged), -EROFS, -EBUSY, -ENOMEM or -EIO. */

int state_file_begin(struct state_file *file);
int state_file_commit(struct state_file *file); /* returns when the change is on the disk */
void state_file_rollback(struct state_file *file);
/* types has a letter for each parameter: i int64_t; t const char *; b const void *, size_t. */
int state_file_put(struct state_file *file, enum state_statement statement, const char *types, ...);
/* Runs a query whose parameters are texts (NULL: none) and calls row for each row of the result,
 * until it returns a value other than 0, which is then returned. */
int state_file_read(struct state_file *file, const char *query, const char *text,
    int (*row)(void *ctx, sqlite3_stmt *row), void *ctx);

#endif
