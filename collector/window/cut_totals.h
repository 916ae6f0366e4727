/*
 * How much of a port's true totals passed while its samples were lost: puts what gaps cut
 * (sample_gaps.h) and what passed while the skip counter was empty beside what counters counted
 * (port_totals.h), in frames and octets, and at the same times.
 *
 *     counters           t0                    t1                    t2
 *     -------------------|---------------------|---------------------|---->
 *     gap                           <-------------------->
 *                                   known then: before t1     at t2
 *
 * Samples that came in that time, and the numbers of those that did not, say more of it: how much passed while none came
 * (port_pools.h). Where gaps have no frames of their own (sFlow) that is cut, and else it says in which minutes they passed.
 *
 * What is cut after the newest counters waits for the next ones, because only these tell how many
 * octets the frames had, and no minute can have more cut than counted. What is cut before them is
 * added at once, at the mean length of the frames counted last (some thousand of them).
 *
 * Arithmetic on one struct; one thread.
 */
#ifndef EASE_COLLECTOR_WINDOW_CUT_TOTALS_H
#define EASE_COLLECTOR_WINDOW_CUT_TOTALS_H

#include "collector/window/port_totals.h"
#include "collector/window/sample_gaps.h"

#include <stddef.h>

struct cut_totals {
	double waiting_pkts[SAMPLE_GAPS_N_SIDES];
	float waiting_share_us[SAMPLE_GAPS_N_SIDES];
	float waiting_stalled; /* frames of both directions that passed while the skip counter was empty */
	uint32_t boot;	       /* of stalled_pkts */
	uint64_t stalled_pkts; /* as the newest counters have it */
	/* the newest difference of two counters; until_us 0: there is none yet */
	uint64_t from_us, until_us;
	double pkts[SAMPLE_GAPS_N_SIDES];
	/* all differences since the one in which the newest sample came: a gap may have lasted so long */
	uint64_t since_us;
	float since_pkts[SAMPLE_GAPS_N_SIDES], since_stalled; /* what of these is cut as stalled */
	/* frames counted last, and their octets: their mean length */
	float last_pkts[SAMPLE_GAPS_N_SIDES], last_octets[SAMPLE_GAPS_N_SIDES];
};

/* What is cut in [from_us, until_us), by direction. Corrections are below zero. */
struct cut_part {
	uint64_t from_us, until_us;
	int64_t pkts[SAMPLE_GAPS_N_SIDES], octets[SAMPLE_GAPS_N_SIDES];
};

/* Takes the frames of a gap. Sets *before to what of them lies before the newest counters; returns
 * false if nothing does. */
bool cut_totals_add(struct cut_totals *c, const struct sample_gaps_cut *cut, struct cut_part *before);

/* Takes the frames that passed while the skip counter was empty, from counters that are about to be
 * counted. */
void cut_totals_add_stalled(struct cut_totals *c, uint32_t boot, const struct ease_snapshot *s);

/* A difference of counters of these times, in n > 0 parts that follow each other: fills what is cut of
 * each, never more than the part has. sampled_us: when the newest sample came. */
void cut_totals_count(struct cut_totals *c, uint64_t from_us, uint64_t until_us, uint64_t sampled_us,
    const struct port_totals_part *parts, size_t n, struct cut_part *cuts);

/* These counters are the first ones, or begin anew: nothing before them is counted, so nothing of it is
 * cut. */
void cut_totals_begin(struct cut_totals *c, uint32_t boot, const struct ease_snapshot *s);

#endif
