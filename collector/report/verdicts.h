/*
 * Standing verdicts: what the audit of a port's last hour found, as easecapd stores it (collector/judge.h), so that a list
 * says it without reading samples. They stand in the table oddity.
 */
#ifndef EASE_COLLECTOR_VERDICTS_H
#define EASE_COLLECTOR_VERDICTS_H

#include "collector/query/query.h"
#include "collector/report/report.h"

/* A verdict is of the time before it, and stands as long after it. */
#define VERDICT_RANGE_US (3600 * UINT64_C(1000000))

/* Of an edge port, beside those of enum audit_fault: its stations are at home at other switches (uplink_search.h), so what
 * it received was counted there, too. Its samples may be as sound as any. */
#define VERDICT_UPLINK (1u << 15)

/* Names the ports that lists count whose samples are no random choice: whose shares, limits or rate the audit does not
 * trust. What is wrong with their clock or pool changes no figure of a list. Says how many ports look like uplinks. After query_windows; 0 or -EIO. */
int verdicts_read(struct query *query, const struct report_options *options, struct report_result *result);

/* Audits of ports in turn. */
struct verdict_turn {
	uint64_t until_us; /* by the monotonic clock: then the others wait for the next turn */
	int64_t agent;	   /* the port that was judged last */
	uint64_t if_index;
	void (*judged)(void *arg, int64_t agent, uint64_t if_index, unsigned faults);
	void *arg;
};

/* Judges what the ports of all agents sampled in the hour before now. A sound sampler is accused in 1 of 100,000 turns.
 * faults: those of enum audit_fault that verdicts_read names, and VERDICT_UPLINK. 0, or -errno with query_error. */
int verdicts_judge(struct query *query, uint64_t now_us, struct verdict_turn *turn);

#endif
