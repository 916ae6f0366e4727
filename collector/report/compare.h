/*
 * Compares a finished result with a rate that must not be exceeded (--warn), or with the same range
 * at an earlier time (--versus). A row counts as different only if its limits say so.
 */
#ifndef EASE_COLLECTOR_REPORT_COMPARE_H
#define EASE_COLLECTOR_REPORT_COMPARE_H

#include "collector/report/report.h"

/* Sets result->warn and counts the rows whose lower limit, or counted rate, exceeds it: bits a
 * second with octets, else frames a second. -EINVAL if the report has no such column. */
int compare_with_rate(struct report_result *result, enum estimate_unit unit, double rate);

/* Runs the report again for the same range back_us earlier, and fills result->changes. For lists
 * only, else -EINVAL; also -ENOMEM and the errors of the report. On an error the query has the
 * message. */
int compare_with_past(const struct report *report, struct query *query,
    const struct report_options *options, uint64_t now_us, uint64_t back_us,
    struct report_result *result);

#endif
