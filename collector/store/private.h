/*
 * The body of struct store, for the files of this room only: store.c writes, load.c reads once
 * before the writing thread starts. From store_start on db and statements are that thread's.
 * Batches go to and fro in two rings without a lock; lock guards only what store_drain waits for.
 */
#ifndef EASE_COLLECTOR_STORE_PRIVATE_H
#define EASE_COLLECTOR_STORE_PRIVATE_H

#include "collector/store/store.h"
#include "collector/store/tables.h"
#include "common/spsc.h"

#include <pthread.h>
#include <semaphore.h>

struct store {
	sqlite3 *db;
	sqlite3_stmt *statements[STORE_N_TABLES];
	int lock_fd;
	bool started;
	bool writes_through; /* the database is told to sync each commit */
	pthread_t thread;
	struct spsc full, empty; /* to the thread, and back from it */
	sem_t wake;		 /* something to write, or stop */
	atomic_bool stopping;
	uint64_t submitted; /* batches; of who fills them */
	pthread_mutex_t lock;
	pthread_cond_t idle; /* a batch came back, or a write failed */
	uint64_t finished;   /* batches written or given up */
	bool failing;	     /* the last try of a batch failed */
	struct store_batch batches[STORE_BATCHES];
	struct stat_set stats;
	_Atomic uint64_t values[STORE_N_STATS];
};

#endif
