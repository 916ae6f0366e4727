/*
 * Rolling up on one server: what of each level is to be made, anew or for the first time, and the
 * statements that make it. See keeper.h.
 */
#ifndef EASE_COLLECTOR_SHIP_ROLLING_H
#define EASE_COLLECTOR_SHIP_ROLLING_H

#include "collector/cluster/http.h"
#include "collector/cluster/schema.h"

/* What the cluster knows of a collector. */
struct rolling_collector {
	int64_t collector;
	uint64_t revision;		/* of its newest batch */
	uint64_t closed_us, newest_us;
	uint64_t heard_us; /* by the cluster's clock */
	uint64_t rolled[CLUSTER_N_LEVELS]; /* revision up to which the server has rolled up */
};

struct rolling_level {
	uint64_t done_us, kept_us;
};

struct rolling {
	struct cluster_http *http; /* borrowed, as all else that is given */
	struct cluster_place place;
	int server;
	struct rolling_collector *collectors;
	size_t n_collectors;
	uint64_t now_us, closed_us;
	uint64_t before_us[CLUSTER_N_LEVELS]; /* older windows are dropped next */
	uint64_t until_us; /* monotonic: new windows wait then */
	/* found by rolling_load */
	struct rolling_level levels[CLUSTER_N_LEVELS];
	uint64_t changed_us; /* when a window was rolled up last */
	uint64_t windows;    /* done */
	uint64_t *list;	     /* owned: windows to do */
	size_t n_list, room;
};

/* Reads where the server is. Errors of cluster_http_ask(). */
int rolling_load(struct rolling *r);

int rolling_run(struct rolling *r);

void rolling_free(struct rolling *r);

#endif
