/*
 * What the two ends of links disagree on, for whoever tells of it at once (collector/judge.c); the report links has all of it.
 */
#ifndef EASE_COLLECTOR_REPORT_LINKS_H
#define EASE_COLLECTOR_REPORT_LINKS_H

#include "collector/query/query.h"

/* Takes a fault: the port at whose end it shows, and what it is. */
typedef void links_fault_fn(void *arg, const struct query_port *port, const char *says);

/* After query_windows: gives all faults of the query's range. 0, or -errno with the query's error. */
int links_judge(struct query *query, links_fault_fn *take, void *arg);

#endif
