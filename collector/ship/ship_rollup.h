/*
 * The roll-up on one server: which windows of each level must be made, anew or for the first time,
 * and the statements that make them. See ship_upkeep.h.
 */
#ifndef EASE_COLLECTOR_SHIP_SHIP_ROLLUP_H
#define EASE_COLLECTOR_SHIP_SHIP_ROLLUP_H

#include "collector/cluster/http.h"
#include "collector/cluster/schema.h"

/* A collector, as the cluster's tables describe it. */
struct ship_rollup_collector {
	int64_t collector;
	uint64_t revision;		/* of its newest batch */
	uint64_t closed_us, newest_us;
	uint64_t heard_us; /* of its last batch, by the cluster's clock */
	uint64_t rolled[CLUSTER_LEVELS_END]; /* revision up to which the server has rolled up */
};

struct ship_rollup_level {
	uint64_t done_us, kept_us;
};

struct ship_rollup {
	struct cluster_http *http; /* borrowed, as all else that is given */
	struct cluster_place place;
	int server;
	struct ship_rollup_collector *collectors;
	size_t n_collectors;
	uint64_t now_us, closed_us;
	uint64_t before_us[CLUSTER_LEVELS_END]; /* older windows will be dropped */
	uint64_t until_us; /* monotonic: after this no new windows are begun */
	/* found by ship_rollup_load */
	struct ship_rollup_level levels[CLUSTER_LEVELS_END];
	uint64_t changed_us; /* time of the last roll-up */
	uint64_t windows;    /* done */
	uint64_t *list;	     /* owned: windows to do */
	size_t n_list, room;
};

/* Reads how far the server has rolled up. Errors of cluster_http_ask(). */
int ship_rollup_load(struct ship_rollup *r);

int ship_rollup_run(struct ship_rollup *r);

void ship_rollup_free(struct ship_rollup *r);

#endif
