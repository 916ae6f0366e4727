/*
 * The collector's SQLite file: opened or made by schema.h, written by one thread of its own, one
 * transaction a batch. Who fills batches, one thread, never waits, locks or allocates: store_take()
 * gives an empty batch or none, store_submit() puts a full one into a ring with room for all. A
 * batch is written whole or not at all, and in order, so that the accounts in the store always fit
 * the samples and sums beside them. While the file cannot be written (disk full, locked by another)
 * the same batch is tried again; a file that turns out to be damaged is set aside, one that was
 * moved away is left alone, and a new one begun in its place.
 *
 * One collector a file: a lock file beside it ("PATH.lock") keeps a second one out. Readers
 * (easetop) open the file themselves and are never in the way: it is in WAL mode.
 *
 * Life: store_open, store_load, store_start, take and submit, store_close.
 */
#ifndef EASE_COLLECTOR_STORE_STORE_H
#define EASE_COLLECTOR_STORE_STORE_H

#include "collector/progress.h"
#include "collector/store/batch.h"
#include "collector/store/retention.h"
#include "common/stat.h"

struct store;

enum store_stat_id {
	STORE_STAT_BATCHES,
	STORE_STAT_ROWS,
	STORE_STAT_RETRIES,
	STORE_STAT_REOPENED,
	STORE_STAT_RENEWALS,
	STORE_STAT_LOST_ROWS,
	STORE_STAT_LOST_BATCHES,
	STORE_STAT_SETTLED,
	STORE_STAT_ROLLED_UP,
	STORE_STAT_TOO_OLD,
	STORE_STAT_DAMAGED_PARTS,
	STORE_STAT_DELETED, /* + enum retention_count */
	STORE_N_STATS = STORE_STAT_DELETED + RETENTION_N_COUNTS,
};

/* Opens path, or makes it with mode 0640, and brings it up to date; that may take long for a big
 * one, so progress, which may be NULL, is told and asked. A file that is damaged and was a
 * collector's before (its lock file stands beside it) is set aside as "PATH.damaged-TIME" with the
 * reason in the log, and a new one begun. 0, or -errno with the reason in error: -EPROTONOSUPPORT
 * for a store of a newer version, -EBADMSG for a file that is no store of ours, -EBUSY if another
 * collector has it, -ECANCELED if progress said no. */
int store_open(struct store **out, const char *path, const struct progress *progress, char *error,
    size_t error_size);

/* What the store knows of agents, the newest accounts of each port and what is gone of them, its
 * newest counters and its newest state, SNMPv3 engines, and those of the last 4,096 events that
 * have an identity, oldest first: each row goes to a callback, agents first. The rows are the
 * callback's as long as it runs. Of a file that is damaged what can be read is, and the file
 * set aside (store_renewals). Before store_start only. 0, or -errno with the reason in error. */
struct store_loader {
	void *arg;
	void (*agent)(void *arg, const struct store_agent *row);
	void (*account)(void *arg, const struct store_account *row);
	void (*crash_lost)(void *arg, const struct store_crash_lost *row);
	void (*counter)(void *arg, const struct store_counter *row);
	void (*port)(void *arg, const struct store_port *row);
	/* these may be NULL */
	void *slow_path_arg;
	void (*engine)(void *slow_path_arg, const struct store_engine *row);
	void (*event)(void *slow_path_arg, uint64_t identity);
};
int store_load(struct store *store, const struct store_loader *loader, char *error,
    size_t error_size);

/* Which store this is, and how the collector before this one ended. */
struct store_life {
	int64_t id;	  /* drawn at random when the store was made */
	const char *path; /* the store's */
	bool unclean_stop;	  /* it was killed, crashed, or its machine did */
};
void store_get_life(const struct store *store, struct store_life *life);

/* Tells the file that the books are in it whole, so that the next start expects no more: before
 * store_close, after a store_stop that lost nothing. 0 or -EIO. */
int store_end_life(struct store *store);

/* Times that a new store was begun since store_open; 0 at first. When it rises, whoever keeps books
 * must say all of them again, because the new file knows nothing; *why then says what it was. Any
 * thread. */
uint64_t store_renewals(const struct store *store, enum store_outage_kind *why);

/* How long what is kept; without it everything for ever. Before store_start. */
void store_set_retention(struct store *store, const struct store_retention *retention);

/* Makes the batches, each with room for so many rows, and starts the writing thread. 0, -errno. */
int store_start(struct store *store, const struct store_room room[STORE_N_TABLES]);

/* An empty batch, the caller's until submitted; NULL when all are waiting to be written. */
struct store_batch *store_take(struct store *store);

/* Hands over a batch taken from this store; takes ownership. Never waits. */
void store_submit(struct store *store, struct store_batch *batch);

/* Waits until everything submitted is written, or until a write failed. 0 or -EIO. For tests and
 * a stop, never for the receiving path. */
int store_drain(struct store *store);

/* Writes what is queued (each batch tried for some seconds, then counted as lost) and stops the
 * thread. 0, or -EIO if anything was lost. */
int store_stop(struct store *store);

/* The same if need be, and closes. NULL is fine. */
int store_close(struct store *store);

const struct stat_set *store_stats(const struct store *store);

#endif
