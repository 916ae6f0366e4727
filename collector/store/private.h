/*
 * The body of struct store, for the files of this room only: open.c opens a file, brings it up to
 * date, sets it aside and starts a new one; load.c reads once before the writing thread starts;
 * store.c writes. From store_start on, db and statements belong to the writing thread. Batches are
 * exchanged through two rings without a lock; the mutex guards only `keep`, `naming` and what
 * store_drain waits for.
 */
#ifndef EASE_COLLECTOR_STORE_PRIVATE_H
#define EASE_COLLECTOR_STORE_PRIVATE_H

#include "collector/store/beyond_limit.h"
#include "collector/store/places.h"
#include "collector/store/unsettled.h"
#include "collector/store/store.h"
#include "collector/store/tables.h"
#include "collector/store/upkeep.h"
#include "common/spsc.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>

/* The connection by which the thread that fills batches reads (store_recall_agent). */
enum { STORE_RECALL_STATEMENTS = 8 };
struct store_recall {
	sqlite3 *db; /* NULL: not open */
	uint64_t renewals; /* of the store, when it was opened, */
	ino_t inode;	   /* and the file */
	sqlite3_stmt *statements[STORE_RECALL_STATEMENTS];
};

struct store {
	char *path;
	struct progress progress;
	sqlite3 *db; /* NULL: the file must be opened again */
	sqlite3_stmt *statements[STORE_N_TABLES];
	sqlite3_stmt *limits[STORE_N_TABLES]; /* NULL: the table has none */
	uint64_t limits_held;		      /* how often those of ports were: makes their hash another one */
	struct beyond_limit beyond;	      /* what they deleted in the present batch */
	struct unsettled *unsettled;
	struct places *places; /* opened and closed with db */
	struct upkeep upkeep;
	struct store_recall recall;
	int lock_fd;
	bool was_ours; /* there was a lock file: a collector used this path before */
	dev_t device; /* of the file that is open */
	ino_t inode;
	_Atomic uint64_t damaged_inode; /* of a file that a reader found to be damaged; 0: none */
	_Atomic int64_t id;   /* see store_life */
	_Atomic uint64_t renewals;
	_Atomic(enum store_outage_kind) renewed_why;
	bool unclean_stop;
	uint64_t stopped_us;
	bool started;
	bool writes_through; /* each commit is synced to the disk (PRAGMA synchronous=FULL) */
	int failures;	     /* successive I/O errors, which opening the file again may mend */
	pthread_t thread;
	struct spsc full, empty; /* batches to the writing thread, and back from it */
	sem_t wake;		 /* there is a batch to write, or the thread must stop */
	atomic_bool stopping;
	uint64_t submitted; /* batches; of the thread that fills them */
	pthread_mutex_t lock;
	struct store_retention keep; /* the retention that the writing thread applies next */
	char *naming;		     /* rows of device names; NULL: none were set */
	bool naming_due;	     /* they are to be written, as to each new file */
	pthread_cond_t idle; /* a batch was written or given up, a write failed, or there is no upkeep left */
	uint64_t finished;   /* batches written or given up */
	uint64_t rested;     /* of them, when there was no upkeep left last */
	bool failing;	     /* the last try of a batch failed */
	struct store_batch batches[STORE_BATCHES];
	struct stat_set stats;
	_Atomic uint64_t values[STORE_N_STATS];
};

/* Locks store->path, opens it, and sets it aside if it is damaged. Returns 0, or -errno with the
 * reason in error. */
int store_open_locked(struct store *store, char *error, size_t error_size);

/* Opens the file at store->path and brings it up to date. Returns 0, or -errno with the reason in
 * error and no database open. */
int store_open_database(struct store *store, char *error, size_t error_size);
void store_close_database(struct store *store);

void store_close_recall(struct store_recall *recall);

/* Returns true if the database's last error means that the file is damaged. */
bool store_is_damaged(const struct store *store);

/* Renames a damaged file and its log to PATH.damaged-TIME and starts a new store. Returns 0, or
 * -errno with the reason in error. */
int store_set_aside(struct store *store, char *error, size_t error_size);

/* Starts a new store where the file is gone, and counts that (store_renewals). Returns as above. */
int store_begin_anew(struct store *store, enum store_outage_kind why, char *error, size_t error_size);

/* Whether the open file is still the one at store->path. */
enum store_file_state {
	STORE_FILE_IN_PLACE,
	STORE_FILE_MISSING, /* it was moved or removed, and no file is at the path */
	STORE_FILE_UNCLEAR, /* another file is there, or the directory is missing: wait */
};
enum store_file_state store_file_state(const struct store *store);

/* Reports how far long work is, from 0 to 1. Returns false if the work must stop; the next start
 * goes on with it. */
bool store_go_on(const struct store *store, const char *what, double done);

#endif
