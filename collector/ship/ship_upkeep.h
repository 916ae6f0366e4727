/*
 * Upkeep of the cluster, on the local tables of each configured server: tables are created and
 * migrated to this program's version, minutes are rolled up to 5 minutes, hours and days, and old
 * partitions are dropped, with them old rows of tables that have none (agents, accounts, ports, outages). Any
 * collector can do this, with the same result: the row of a window depends only on its minutes, and its
 * revision is the sum of theirs. So no locks are needed. To
 * save work, only the collector with the lowest number does it, among those that shipped in the last
 * quarter of an hour; another one takes over if it has not been done for that long.
 *
 * For each level the table `rolled` says up to which revision of which collector the roll-up has
 * been done, and up to when windows are complete. A later batch with older minutes (rows of `cursor`
 * say so) makes their windows anew; keys that are no longer in them get zeros.
 */
#ifndef EASE_COLLECTOR_SHIP_SHIP_UPKEEP_H
#define EASE_COLLECTOR_SHIP_SHIP_UPKEEP_H

#include "collector/cluster/http.h"
#include "collector/cluster/schema.h"

struct ship_upkeep_server {
	bool is_ready;	    /* its tables are of our version */
	int64_t uptime_s; /* at the last query */
};

struct ship_upkeep {
	struct cluster_http *http;  /* borrowed */
	struct cluster_place place;
	int64_t collector;
	uint64_t keep_us[CLUSTER_LEVELS_END], keep_samples_us; /* 0: for ever */
	struct ship_upkeep_server *servers; /* owned, one each of http's */
	uint64_t rolled, dropped, deleted; /* windows, partitions, rows of tables without partitions */
};

/* 0 or -ENOMEM. */
int ship_upkeep_init(struct ship_upkeep *k, struct cluster_http *http, const struct cluster_place *place);
void ship_upkeep_free(struct ship_upkeep *k);

/* Creates or migrates the tables of each server that answers. *restarted: one of them has been
 * restarted since the last call. 0 if at least one is ready, else the error of the last one. */
int ship_upkeep_prepare(struct ship_upkeep *k, bool *restarted);

/* The version of a server's tables; 0: there are none. Errors of cluster_http_ask(). */
int ship_upkeep_version(struct ship_upkeep *k, int server, int64_t *version);

/* Makes the next ship_upkeep_prepare check all servers, because tables were found missing. */
void ship_upkeep_forget(struct ship_upkeep *k);

/* Rolls up and drops what is due, for about budget_us at most. Servers that do not answer are
 * skipped. 0, or the error of the last server that failed. */
int ship_upkeep_work(struct ship_upkeep *k, uint64_t budget_us);

#endif
