/*
 * What sFlow agents stated that cannot be (enum ease_oddity), for reports: the words, a table of it for `agents`, and
 * for each port how many of its samples were refused, and why. A store of one collector has them; each collector of a
 * cluster knows its own.
 */
#ifndef EASE_COLLECTOR_REPORT_ODDITIES_H
#define EASE_COLLECTOR_REPORT_ODDITIES_H

#include "collector/query/query_private.h"
#include "collector/report/report.h"

/* "samples refused: rate 0": why those of a port were refused, in static storage. */
const char *oddities_refusal(int kind);

/* Fills in query_port.refused and .refused_kind, from what was last found in the range or later. */
int oddities_read_refusals(struct query *query);

/* Adds the table below a result: by agent and kind. */
int oddities_add_table(struct query *query, struct report_result *result);

/* Adds rows "refused: …" to loss's table of places. */
int oddities_each_refusal(struct query *query, int (*each)(void *arg, const char *text, double n), void *arg);

#endif
