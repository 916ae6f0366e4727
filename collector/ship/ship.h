/*
 * Shipping: what the collector's store has goes to a ClickHouse cluster, by one thread that reads
 * the store beside the writer and sends in batches. Nothing that receives or stores ever waits for
 * it; while the cluster is away it falls behind, says so (ship.lag_s), and catches up.
 *
 * Closed minutes are sent whole, as they are, when nothing has come for them for a while, and again
 * when something did. Where it goes on after a start stands in the cluster itself (`cursor`), so a
 * cluster that was wiped is filled again with all that the store still has. What arrived twice has
 * the same key and counts once. As ClickHouse does not sync its files, a start, and a restart of a
 * server, goes some minutes back.
 *
 * The same thread makes and raises the tables, rolls minutes up and drops what is old (ship_upkeep.h),
 * for collectors that cannot, too.
 */
#ifndef EASE_COLLECTOR_SHIP_SHIP_H
#define EASE_COLLECTOR_SHIP_SHIP_H

#include "collector/cluster/schema.h"
#include "collector/cluster/url.h"
#include "common/stat.h"

struct ship;

/* How long the cluster keeps what; 0: for ever. */
struct ship_keep {
	uint64_t level_us[CLUSTER_N_LEVELS], samples_us;
};

struct ship_config {
	const char *store; /* texts are borrowed */
	const struct cluster_url *servers;
	size_t n_servers;
	struct cluster_place place;
	const char *user, *password;
	const char *version; /* of this program */
	bool samples;	     /* each sample's row, too */
	uint32_t interval_s; /* between two looks at the store */
	uint32_t timeout_ms; /* of one statement */
	struct ship_keep keep;
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
	SHIP_N_STATS,
};

/* Of the memory budget, octets. */
uint64_t ship_memory(void);

/* Starts the thread. 0, or -errno with the reason in error; a cluster that does not answer is no
 * error, it is tried again. */
int ship_open(struct ship **out, const struct ship_config *config, char *error,
    size_t error_size);

/* Keeps for so long from the next look at what is old on. */
void ship_set_keep(struct ship *ship, const struct ship_keep *keep);

/* Ships what there is, for at most SHIP_STOP_MS, and ends. When the store is written. */
void ship_close(struct ship *ship);

enum { SHIP_STOP_MS = 10000 };

const struct stat_set *ship_stats(const struct ship *ship);

#endif
