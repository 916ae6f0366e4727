/*
 * The list that a goal asks for, as it is printed: what the store shows of a period, as rows by which samples needed are
 * judged (precision/demand.h).
 */
#ifndef EASE_COLLECTOR_PRECISION_LISTS_H
#define EASE_COLLECTOR_PRECISION_LISTS_H

#include "collector/precision/demand.h"

#include <stdint.h>

struct query;

/* Reads the list of a period of the goal from from_us on, of what filter_text passes ("": all). rows has room for
 * PRECISION_TOP_MAX, and list has them. 0 or -errno with query->error. Reads the store, for as long as a report does. */
int precision_read_list(struct query *query, const struct precision_goal *goal, const char *filter_text, uint64_t from_us,
    uint64_t now_us, struct precision_row *rows, struct precision_list *list);

#endif
