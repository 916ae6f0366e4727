/*
 * What a history shares with the lists of keys: the list of the whole range, whose keys the history
 * follows through its steps. Used by the report files of this room only.
 */
#ifndef EASE_COLLECTOR_REPORT_LISTS_H
#define EASE_COLLECTOR_REPORT_LISTS_H

#include "collector/report/dimensions.h"

/* The keys of a list's rows in their order; their ports are any that saw them. */
struct list_keys {
	struct query_key *keys; /* owned by the caller */
	size_t n;
	struct dimension dimension;
};

/* The list that --by names, as the other reports have it. */
int list_history(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result, struct list_keys *shown);

#endif
