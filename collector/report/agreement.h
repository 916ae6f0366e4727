/*
 * Whether samples stand for the octets that ports counted: of a list, at all ports together. They do not where the
 * sampler takes other frames than it says, where loss follows what passes, or where counters are wrong.
 */
#ifndef EASE_COLLECTOR_REPORT_AGREEMENT_H
#define EASE_COLLECTOR_REPORT_AGREEMENT_H

#include "collector/query/query.h"
#include "collector/report/report.h"

/* Sets disagreement of a list, once its time is known. */
void agreement_judge(const struct query *query, const struct report_options *options, struct report_result *result);

#endif
