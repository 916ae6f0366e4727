/*
 * Shipping: one thread reads the collector's store beside the writer and sends its data to a
 * ClickHouse cluster in batches. Receiving and storing never wait for it. While the cluster does not
 * answer, shipping falls behind (ship.lag_s says how far) and then catches up.
 *
 * A minute is sent whole when no data has arrived for it for a while, and again when late data has.
 * The cluster itself keeps the position of each collector (table `cursor`), so a cluster that was
 * wiped is filled again from the store. Rows that arrive twice have the same key and count once. As
 * ClickHouse does not sync its files to disk, shipping goes back some minutes at its start and when
 * a server has restarted.
 *
 * The same thread creates and migrates the tables, rolls minutes up and drops old partitions
 * (ship_upkeep.h), also on behalf of other collectors.
 */
#ifndef EASE_COLLECTOR_SHIP_SHIP_H
#define EASE_COLLECTOR_SHIP_SHIP_H

#include "collector/cluster/schema.h"
#include "collector/cluster/url.h"
#include "common/stat.h"

struct ship;

/* How long the cluster keeps data; 0: for ever. */
struct ship_keep {
	uint64_t level_us[CLUSTER_LEVELS_END], samples_us;
};

struct ship_config {
	const char *store; /* texts are borrowed */
	const struct cluster_url *servers;
	size_t n_servers;
	struct cluster_place place;
	const char *user, *password;
	const char *version; /* of this program */
	bool samples;	     /* ship the row of each sample too */
	uint32_t interval_s; /* between two rounds */
	uint32_t timeout_ms; /* of one statement */
	struct ship_keep keep;
	void (*damaged)(void *arg, uint64_t inode); /* called when the store's file, by its inode, is found to be damaged */
	void *damaged_arg;
};

enum ship_stat_id {
	SHIP_STAT_LAG,
	SHIP_STAT_BATCHES,
	SHIP_STAT_ROWS,
	SHIP_STAT_MINUTES,
	SHIP_STAT_UNCHANGED,
	SHIP_STAT_MISSED,
	SHIP_STAT_RETRIES,
	SHIP_STAT_REWINDS,
	SHIP_STAT_OCTETS,
	SHIP_STAT_SENT_OCTETS,
	SHIP_STAT_ROLLED,
	SHIP_STAT_DROPPED,
	SHIP_STAT_DELETED,
	SHIP_N_STATS,
};

/* Octets that shipping takes of the memory budget. */
uint64_t ship_memory(void);

/* Starts the thread. 0, or -errno with the reason in error; a cluster that does not answer is
 * not an error: it is tried again. */
int ship_open(struct ship **out, const struct ship_config *config, char *error, size_t error_size);

/* Takes effect with the next upkeep. */
void ship_set_keep(struct ship *ship, const struct ship_keep *keep);

/* Ships the rest, for at most SHIP_STOP_MS, and ends. To be called after the store's last write. */
void ship_close(struct ship *ship);

enum { SHIP_STOP_MS = 10000 };

const struct stat_set *ship_stats(const struct ship *ship);

#endif
