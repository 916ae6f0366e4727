/*
 * One list under way: its keys, their order and which of them are rows. For the files of this room that make
 * lists alone.
 */
#ifndef EASE_COLLECTOR_REPORT_LISTS_PRIVATE_H
#define EASE_COLLECTOR_REPORT_LISTS_PRIVATE_H

#include "collector/estimate/estimate_list.h"
#include "collector/report/dimensions.h"
#include "collector/report/sort.h"

/* One key over all ports that saw it. */
struct list_entry {
	const struct sort_item *first; /* of n_parts keys, one a port */
	size_t n_parts;
	uint64_t n; /* samples */
	double estimate, own_variance; /* in the unit of the sort */
};

struct list {
	struct query *query;
	const struct report_options *options;
	struct report_result *result;
	const struct dimension *dimension; /* chosen */
	struct dimension chosen;
	struct query_key *keys;
	size_t n_keys;
	struct sort_item *sorted_keys; /* those of counted ports */
	size_t n_sorted;
	bool narrows; /* to the time of kept samples, if these answer; not of a history, whose steps count on */
	struct query_left left; /* keys that were not fetched */
	struct list_entry *entries; /* in the order of their keys */
	size_t n;
	struct estimate_stratum *strata; /* one for each port of the query, zero where it is not counted */
	struct estimate_range *range;
	struct estimate_told told; /* by all keys */
	struct sort_item *order; /* of the entries, the largest first */
	size_t *rows;		 /* which of the order are shown, ascending */
	size_t n_shown;
	/* Samples whose key had no room in memory, in no row but the rest; and the most of them that one key can have, for
	 * which upper limits allow. */
	uint64_t folded, folded_most;
	double unkeyed[ESTIMATE_N_UNITS]; /* what one key can have of it */
	unsigned lost_why;   /* bits REPORT_LOST_ */
	size_t n_uncounted;  /* rows that rest on ports without counters, wholly or partly */
	size_t n_wide;	     /* rows whose upper limit is mostly of ports where they have no sample */
};

/* What an item of sorted_keys, and one of the order, stands for. */
static inline const struct query_key *
list_key(const struct sort_item *item)
{
	return item->what;
}

static inline const struct list_entry *
list_entry(const struct sort_item *item)
{
	return item->what;
}

/* Cell of the tail of a row. */
static inline struct report_value *
list_tail(const struct list *list, struct report_value *row, enum dimension_tail i)
{
	return &row[dimension_tail(list->dimension, i)];
}

#endif
