/*
 * Looks for ports that lead to other switches: most stations that are seen there as sources are at home at a port of
 * another switch. Used by the report audit.
 */
#ifndef EASE_COLLECTOR_REPORT_UPLINK_SEARCH_H
#define EASE_COLLECTOR_REPORT_UPLINK_SEARCH_H

#include "collector/query/query.h"

/* One for each port of the query, in their order. Members of a link aggregate and the aggregate itself have the same:
 * what all of them saw, because each carries a part of a station's frames. */
struct uplink_sight {
	uint64_t stations, elsewhere;	   /* MAC addresses seen as sources; of these at home at another agent */
	uint64_t frames, frames_elsewhere; /* how often they were seen */
};

/* After query_begin. *sights is to be freed. 0 or -errno with the query's error. */
int uplink_search(struct query *query, struct uplink_sight **sights);

/* Whether a port looks like one: half of its stations, and two at least, are at home elsewhere. */
bool uplink_is_likely(const struct uplink_sight *sight);

#endif
