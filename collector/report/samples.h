/*
 * The samples that are kept, one JSON object a line: for whoever reads them with jq, or sends them on; or those whose
 * header is kept (easecapd's option keep) as pcapng, with an interface for each port. They are written as they are
 * read, in the order of time, however many there are.
 */
#ifndef EASE_COLLECTOR_REPORT_SAMPLES_H
#define EASE_COLLECTOR_REPORT_SAMPLES_H

#include "collector/query/query.h"
#include "collector/report/report.h"

#include <stdio.h>

/* Its name and what it takes of a question; it fills no result, so it is in no list of reports. */
extern const struct report samples_report;

/* After query_begin: the samples of the range that the filter lets pass, at most that many. 0 or -errno; on an error the
 * query has the message, or out has failed. As pcapng there must be one: -ENOENT. */
typedef int samples_fn(struct query *query, uint64_t most, FILE *out);
samples_fn samples_as_lines, samples_as_pcapng;

#endif
