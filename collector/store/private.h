/*
 * The body of struct store, for the files of this room only: store.c writes, load.c reads once
 * before the writing thread starts. From store_start on db and statements are that thread's; lock
 * guards the two lists and the flags.
 */
#ifndef EASE_COLLECTOR_STORE_PRIVATE_H
#define EASE_COLLECTOR_STORE_PRIVATE_H

#include "collector/store/store.h"
#include "collector/store/tables.h"

#include <pthread.h>

struct store_batch_list {
	struct store_batch *first, *last;
};

struct store {
	sqlite3 *db;
	sqlite3_stmt *statements[STORE_N_TABLES];
	int lock_fd;
	bool started;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake; /* something to write, or stop */
	pthread_cond_t idle; /* a batch came back, or a write failed */
	struct store_batch_list full, empty;
	bool writing;  /* a batch is with the thread */
	bool failing;  /* its last try failed */
	bool stopping;
	struct store_batch batches[STORE_BATCHES];
	struct stat_set stats;
	_Atomic uint64_t values[STORE_N_STATS];
};

/* Puts a batch at the end of a list; with lock held once the thread runs. */
void store_batch_push(struct store_batch_list *list, struct store_batch *batch);

#endif
