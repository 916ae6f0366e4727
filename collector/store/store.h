/*
 * The collector's store: a SQLite file whose tables schema.h and stored_tables.h define. One thread of its own writes
 * it, one transaction per batch. The thread that fills batches never waits, locks or allocates:
 * store_take() returns an empty batch or NULL, and store_submit() puts a full one into a ring that
 * has room for all batches. A batch is written as a whole or not at all, and in order, so the
 * accounts in the store always match the samples and sums beside them.
 *
 * When the file cannot be written (disk full, locked by another program), the same batch is tried
 * again until it succeeds. A damaged file is renamed to PATH.damaged-TIME. After that, and also
 * when somebody moved or removed the file, a new store is started at the same path.
 *
 * A lock file beside the store ("PATH.lock") keeps a second collector out. Readers such as easetop
 * open the file themselves; it is in WAL mode, so readers and the writer do not block each other.
 *
 * Order of calls: store_open, store_load, store_start, store_take and store_submit, store_close.
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
	STORE_STAT_LOG_HELD,
	STORE_STAT_REOPENED,
	STORE_STAT_DAMAGE_MET,
	STORE_STAT_RENEWALS,
	STORE_STAT_LOST_ROWS,
	STORE_STAT_LOST_BATCHES,
	STORE_STAT_SETTLED,
	STORE_STAT_ROLLED_UP,
	STORE_STAT_TOO_OLD,
	STORE_STAT_DAMAGED_PARTS,
	STORE_STAT_BEYOND_LIMIT,
	STORE_STAT_PLACES_CROWDED,
	STORE_STAT_PLACES_BEYOND,
	STORE_STAT_LONGEST_UPKEEP_US,
	STORE_STAT_SHARES, /* + enum store_held */
	STORE_STAT_DELETED = STORE_STAT_SHARES + STORE_N_HELD, /* + enum retention_count */
	STORE_N_STATS = STORE_STAT_DELETED + RETENTION_N_COUNTS,
};

/* Opens the store at path, or creates it with mode 0640, and brings it to the current version. That
 * may take long for a large store, so progress (which may be NULL) is called meanwhile and may stop
 * it. A damaged file that a collector used before (its lock file is beside it) is renamed to
 * "PATH.damaged-TIME", the reason is logged, and a new store is started. Returns 0, or -errno with
 * the reason in error: -EPROTONOSUPPORT for a store of a newer version, or from before the first release, -EBADMSG for a file that is
 * no store, -EBUSY if another collector uses it, -ECANCELED if progress stopped the work. */
int store_open(struct store **out, const char *path, const struct progress *progress, char *error,
    size_t error_size);

/* Reads back what the collector needs to go on, and gives each row to a callback: first agents,
 * (those heard longest ago first) with their sources and refusals, then which ports to keep, in the same
 * order, then the newest accounts of each port (also of ports and agents that were not given), what was lost with crashes, the newest counters and state
 * of each port, SNMPv3 engines, and those of the last 4,096 events that have an identity, oldest
 * first. A row is valid during the call. If the file is damaged, everything that is still readable
 * is loaded before the file is set aside (store_renewals). Only before store_start. Returns 0, or
 * -errno with the reason in error. */
struct store_loader {
	void *arg;
	/* Agents and ports that the caller has room for; 0: all. Those heard last are given. */
	uint32_t most_agents, most_ports;
	/* the highest number that an agent was ever given */
	void (*last_number)(void *arg, int64_t number);
	/* silent_us: when the newest record of any agent came, less when one of this agent did */
	void (*agent)(void *arg, const struct store_agent *row, uint64_t silent_us);
	void (*absent_agent)(void *arg, const uint8_t *agent_id); /* one that is not given */
	void (*agent_source)(void *arg, const struct store_agent_source *row);
	void (*agent_refusal)(void *arg, const struct store_agent_refusal *row);
	void (*heard_port)(void *arg, int64_t agent, uint64_t if_index, uint64_t silent_us);
	void (*agent_clock)(void *arg, const struct store_agent_clock *row);
	void (*account)(void *arg, const struct store_account *row);
	void (*crash_lost)(void *arg, const struct store_crash_lost *row);
	void (*counter)(void *arg, const struct store_counter *row);
	void (*port)(void *arg, const struct store_port *row);
	/* the callbacks below may be NULL */
	void *slow_path_arg;
	void (*engine)(void *slow_path_arg, const struct store_engine *row);
	void (*event)(void *slow_path_arg, uint64_t identity, uint64_t received_us);
};
int store_load(struct store *store, const struct store_loader *loader, char *error, size_t error_size);

/* Before store_start: alarms of two days that the collector before this one left standing, which nobody follows any more,
 * get an event that they are over. 0 or -EIO. */
int store_end_alarms(struct store *store, uint64_t now_us);

/* Read the same of one agent, and of one of its ports (agent: its number), while the store runs: by a
 * connection of the caller's thread, which must be the one that fills batches. Nothing is waited for but the
 * disk. Rows of a batch that is not written yet are not seen. Return 0, also if there is nothing, or -EIO. */
int store_recall_agent(struct store *store, const uint8_t *agent_id, const struct store_loader *loader);
int store_recall_port(struct store *store, int64_t agent, uint64_t if_index, const struct store_loader *loader);

/* Deletes what the store knows of the one agent that has this id (16 hexadecimal digits) or address: all but
 * sums, which reports then leave out. Only before store_start. Returns 0, or -errno with the reason in error:
 * -ENOENT if there is none, -EINVAL if several agents have the address. */
int store_forget_agent(struct store *store, const char *agent, char *error, size_t error_size);

/* Which store this is, and how its previous collector stopped. */
struct store_life {
	int64_t id;	   /* drawn at random when the store was created */
	const char *path;  /* of the store's file */
	bool unclean_stop; /* the previous collector was killed or crashed, or its machine did */
	uint64_t stopped_us; /* when it stopped cleanly; 0: it did not, or left no time (0.2.0 and before) */
};
void store_get_life(const struct store *store, struct store_life *life);

/* Marks in the store that the collector stopped cleanly, at that time, and everything is stored. To be called
 * before store_close, after a store_stop that lost nothing. wall_us 0: the time stays that of the one before, as it was no
 * collector that anything is sent to. Returns 0 or -EIO. */
int store_end_life(struct store *store, uint64_t wall_us);

/* Returns how often a new store was started since store_open, and in *why the reason of the last
 * time. When the number rises, the accounting must write everything it knows again, because the new
 * file is empty. May be called by any thread. */
uint64_t store_renewals(const struct store *store, enum store_outage_kind *why);

/* Sets how long data is kept; without this call everything is kept. May be called at any time. */
void store_set_retention(struct store *store, const struct store_retention *retention);

/* Somebody who reads the file of that inode found it damaged: if it is still the store's, it is set aside as if upkeep
 * had found that. Counts it. From any thread. */
void store_note_damage(struct store *store, uint64_t inode);

/* Puts these rows of device names, each ended by a newline, in place of those that the store has: the writing thread does
 * so, again for each new file. The store owns the text from here on; it was allocated with malloc. May be called
 * at any time. */
void store_set_naming(struct store *store, char *rows);

/* Allocates the batches, each with room for so many rows, and starts the writing thread. Returns 0
 * or -errno. */
int store_start(struct store *store, const struct store_room room[STORE_N_TABLES]);

/* Returns an empty batch, which belongs to the caller until it is submitted; NULL while all batches
 * wait to be written. */
struct store_batch *store_take(struct store *store);

/* Hands a batch over to the writing thread, with its ownership. Never waits. */
void store_submit(struct store *store, struct store_batch *batch);

/* Waits until everything submitted is written, or until a write fails. For tests and for a stop,
 * never on the receiving path. Returns 0 or -EIO. */
int store_drain(struct store *store);

/* The same, and until no upkeep is left to do: where a stepped clock runs quicker than this machine. */
int store_rest(struct store *store);

/* Writes the submitted batches and stops the thread. Each batch is tried for some seconds and then
 * counted as lost. Returns 0, or -EIO if anything was lost. */
int store_stop(struct store *store);

/* Stops the thread if it runs, and closes the store. Accepts NULL. */
int store_close(struct store *store);

const struct stat_set *store_stats(const struct store *store);

#endif
