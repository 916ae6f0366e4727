/*
 * The body of struct store, for the files of this room only: open.c opens, brings up to date, sets
 * aside and begins anew, load.c reads once before the writing thread starts, store.c writes. From
 * store_start on db and statements are that thread's. Batches go to and fro in two rings without a
 * lock; lock guards only what store_drain waits for, and keep.
 */
#ifndef EASE_COLLECTOR_STORE_PRIVATE_H
#define EASE_COLLECTOR_STORE_PRIVATE_H

#include "collector/store/unsettled.h"
#include "collector/store/store.h"
#include "collector/store/tables.h"
#include "collector/store/upkeep.h"
#include "common/spsc.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>

struct store {
	char *path;
	struct progress progress;
	sqlite3 *db; /* NULL: to be opened again */
	sqlite3_stmt *statements[STORE_N_TABLES];
	struct unsettled *unsettled;
	struct upkeep upkeep;
	int lock_fd;
	bool was_ours; /* a collector had a store here before */
	dev_t device; /* of the file that is open */
	ino_t inode;
	_Atomic int64_t id;   /* see store_life */
	_Atomic uint64_t renewals;
	enum store_outage_kind renewed_why;
	bool unclean_stop;
	bool started;
	bool writes_through; /* the database is told to sync each commit */
	int failures;	     /* in a row, of a kind that opening anew may help */
	pthread_t thread;
	struct spsc full, empty; /* to the thread, and back from it */
	sem_t wake;		 /* something to write, or stop */
	atomic_bool stopping;
	uint64_t submitted; /* batches; of who fills them */
	pthread_mutex_t lock;
	struct store_retention keep; /* what the store's thread is to keep from now on */
	pthread_cond_t idle; /* a batch came back, or a write failed */
	uint64_t finished;   /* batches written or given up */
	bool failing;	     /* the last try of a batch failed */
	struct store_batch batches[STORE_BATCHES];
	struct stat_set stats;
	_Atomic uint64_t values[STORE_N_STATS];
};

/* Statements without parameters or results. 0 or -EIO; what it was, sqlite3_errmsg says. */
int store_run(struct store *store, const char *sql);

/* First column of a statement's first row. 0, or -EIO, also if there is none. */
int store_number(sqlite3 *db, const char *sql, int64_t *value);

/* Locks store->path for us, opens it, and sets it aside if it is damaged. 0, or -errno with the
 * reason in error. */
int store_open_locked(struct store *store, char *error, size_t error_size);

/* Opens the file at store->path and brings it up to date. 0, or -errno with the reason in error
 * and no database open. */
int store_open_database(struct store *store, char *error, size_t error_size);
void store_close_database(struct store *store);

/* True if what failed last says that the file is damaged. */
bool store_is_damaged(const struct store *store);

/* Sets a damaged file aside under a name that says when, together with what belongs to it. 0, or
 * -errno with the reason in error. */
int store_set_aside(struct store *store, char *error, size_t error_size);

/* A new store in the place of the one that is not there any more. The same. */
int store_begin_anew(struct store *store, enum store_outage_kind why, char *error,
    size_t error_size);

/* What became of the file that is open. */
enum store_file_state {
	STORE_FILE_IN_PLACE,
	STORE_FILE_MISSING, /* moved or removed: its place is empty */
	STORE_FILE_UNCLEAR,	 /* another file is there, or the directory is not: wait */
};
enum store_file_state store_file_state(const struct store *store);

/* Long work tells how far it is, from 0 to 1; false: it is to end where it can go on later. */
bool store_go_on(const struct store *store, const char *what, double done);

#endif
