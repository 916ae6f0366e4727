/*
 * What is done on each server of the list for itself, on its local tables: tables are made and
 * raised to this program's version, minutes rolled up to 5 minutes, hours and days, and old
 * partitions dropped. Any collector can do it, and it comes out the same whoever does: the row of a
 * window depends on nothing but the minutes that are there, and its revision is the sum of theirs.
 * So there are no locks. To spare work, the collector with the least number among those heard in
 * the last quarter of an hour does it; another steps in where it has not been done for as long.
 *
 * Of each level the table rolled says up to which revision of which collector it has been done, and
 * up to when windows are over. A batch that came later with older minutes (the rows of `cursor`
 * say so) makes windows anew; keys that are no longer in them get zeros.
 */
#ifndef EASE_COLLECTOR_SHIP_SHIP_UPKEEP_H
#define EASE_COLLECTOR_SHIP_SHIP_UPKEEP_H

#include "collector/cluster/http.h"
#include "collector/cluster/schema.h"

struct ship_upkeep_server {
	bool is_ready;	    /* its tables are of our version */
	int64_t uptime_s; /* when it was last asked */
};

struct ship_upkeep {
	struct cluster_http *http;  /* borrowed */
	struct cluster_place place;
	int64_t collector;
	uint64_t keep_us[CLUSTER_N_LEVELS], keep_samples_us; /* 0: for ever */
	struct ship_upkeep_server *servers; /* owned, one each of http's */
	uint64_t rolled, dropped; /* windows, partitions */
};

/* 0 or -ENOMEM. */
int ship_upkeep_init(struct ship_upkeep *k, struct cluster_http *http, const struct cluster_place *place);
void ship_upkeep_free(struct ship_upkeep *k);

/* Makes sure of the tables of each server that answers. *restarted: one of them has been started
 * since the last call. 0 if one at least is ready, else the error of the last one. */
int ship_upkeep_prepare(struct ship_upkeep *k, bool *restarted);

/* A server's version; 0: it has no tables of ours. Errors of cluster_http_ask(). */
int ship_upkeep_version(struct ship_upkeep *k, int server, int64_t *version);

/* All servers are to be prepared again: tables were found missing. */
void ship_upkeep_forget(struct ship_upkeep *k);

/* Rolls up and drops what is due, for at most about so long. Servers that do not answer are passed
 * over. 0, or the error of the last that failed. */
int ship_upkeep_work(struct ship_upkeep *k, uint64_t budget_us);

#endif
