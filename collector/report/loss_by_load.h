/*
 * Where more samples are lost when more passes (collector/estimate/load_loss.h): looked for at each port that lost
 * samples and at each agent, minute by minute, or by the shortest windows of a range that is longer than a day.
 */
#ifndef EASE_COLLECTOR_REPORT_LOSS_BY_LOAD_H
#define EASE_COLLECTOR_REPORT_LOSS_BY_LOAD_H

#include "collector/estimate/load_loss.h"
#include "collector/query/query.h"
#include "collector/report/report.h"

/* Not told: there is none, or too little is known. Of a port also where its agent as a whole loses so. */
struct loss_by_load {
	struct load_loss *ports, *agents; /* by the query's order of them */
};

/* After query_windows; of the ports that lists count, or with options NULL of all that are chosen. In 1 of 1,000
 * reports at most something is told that is not so. To be freed, also after an error. */
int loss_by_load_find(struct query *query, const struct report_options *options, struct loss_by_load *found);
void loss_by_load_free(struct loss_by_load *found);

/* Names what was found in a result of a list that lacks samples. */
int loss_by_load_name(struct query *query, const struct report_options *options, struct report_result *result);

#endif
