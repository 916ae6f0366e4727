/*
 * Gaps: what passed a port while its samples were lost.
 *
 * A sample carries its number and the frames that had passed (the pool). So of k numbers that are
 * missing between two samples it is known within how many frames they were drawn:
 *
 *     sample n            k numbers missing            sample n + k + 1
 *     -----|---------------------------------------------------|-------->  frames
 *       pool P                                              pool P + G
 *
 * Of these G frames, G k / (k + 1) are cut: nobody saw them, and reports count them apart instead of
 * estimating what they were. The other G / (k + 1) belong to the last sample, as without loss.
 *
 * A gap of few numbers is bridged instead: the numbers stay expected, and the samples around them
 * stand for their frames, too. Few means: no more than once came in one notification of this port.
 * So one lost notification never cuts, whatever the traffic, and the samples that did arrive stay
 * representative. Between two boots it is not known how many numbers are missing; all frames from
 * the last word of the old boot to the first word of the new one are cut.
 *
 * Counters name the newest number that was given out. Where what they name did not come for some seconds, or a later
 * sample comes, all up to it is cut as of then, so that what is cut of a silence lies where it was counted.
 *
 * A port's samples have one sequence of numbers for both directions, but a pool for each. So frames
 * are cut of each direction between its own samples, in proportion to the numbers missing there.
 *
 * Samples of sFlow have no time of their own but their datagram's, and often no pool: of the k + m numbers from one
 * datagram's last sample to the next one's, of which k are missing, a share of k / (k + m) of the frames in that time is
 * cut. m is taken to be that of the datagram before, until the next one begins.
 *
 * A sample that arrives after all gives its part back, while the gap is among the newest
 * SAMPLE_GAPS_OPEN of its port. Arithmetic on one struct without allocation; one thread.
 */
#ifndef EASE_COLLECTOR_WINDOW_SAMPLE_GAPS_H
#define EASE_COLLECTOR_WINDOW_SAMPLE_GAPS_H

#include "common/sample.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	SAMPLE_GAPS_OPEN = 12,
	SAMPLE_GAPS_BRIDGED_MAX = 64, /* numbers; however many came in one notification */
	SAMPLE_GAPS_N_SIDES = 2,
};

struct sample_gaps {
	uint32_t boot;
	uint64_t newest;       /* highest number of the boot that arrived */
	uint64_t notification; /* in which it came, */
	uint8_t in_notification, together; /* with so many of this port; the most so far */
	/* of each direction, its last point: a sample, or a snapshot before the first one */
	struct sample_gaps_side {
		bool known, sampled;
		uint32_t boot;
		uint32_t missing; /* numbers of cut gaps since that point */
		uint64_t number, pool_pkts, time_us;
		/* Loose ones: the newest sample, which is the next point once its notification is over, and the share
		 * that is cut from the point to it. */
		uint64_t next_number, next_time_us;
		double cut_share;
	} sides[SAMPLE_GAPS_N_SIDES];
	/* The first counters that named a number above the newest. */
	struct sample_gaps_named {
		uint64_t number, time_us, pool_pkts[SAMPLE_GAPS_N_SIDES];
	} named;
	struct sample_gap {
		uint64_t from;	      /* the last number before it that arrived */
		uint64_t cut : 26;    /* numbers missing after that one; 0: the entry is free */
		uint64_t span_us : 38; /* ended at to_us, up to 76 hours */
		uint64_t to_us;
		float pkts[SAMPLE_GAPS_N_SIDES]; /* cut because of them */
	} open[SAMPLE_GAPS_OPEN];
	uint8_t next_open;
};

/* When the newest sample came; 0: none has. */
uint64_t sample_gaps_newest_us(const struct sample_gaps *g);

/* Frames and numbers to be cut; negative values give back. */
struct sample_gaps_cut {
	uint8_t direction; /* enum ease_direction; 0: there are only numbers */
	uint64_t from_us, to_us; /* by the device's clock, when the frames passed */
	int64_t pkts;
	double share; /* of all frames of that time; where is_share, pkts is not known */
	bool is_share;
	int64_t numbers;
};

/* Receives a cut. Frames and numbers of one gap may come in different calls. */
typedef void sample_gaps_sink(void *arg, const struct sample_gaps_cut *cut);

/* What to begin with: nothing is cut before this. `newest` is the highest number of this boot that
 * arrived, or the one before the first that is expected. */
void sample_gaps_begin(struct sample_gaps *g, uint32_t boot, uint64_t newest);

/* After a restart of the collector: the newest counters and the highest number that arrived before
 * it. */
void sample_gaps_resume(
    struct sample_gaps *g, uint32_t boot, uint64_t newest, const struct ease_snapshot *counters);

/* A sample that is used, with its number in 64 bits. first is the boot's first expected number.
 * loose: its pool cannot be compared with what was known before or is of both directions (sFlow),
 * so what is cut is a share of what the counters will count. notification differs between any two. */
void sample_gaps_add_sample(struct sample_gaps *g, uint32_t boot, uint64_t number, uint64_t first,
    bool loose, uint64_t notification, const struct ease_sample *s, sample_gaps_sink *sink,
    void *arg);

/* A counter snapshot. named: the newest number that it says was given out, in 64 bits. */
void sample_gaps_add_snapshot(struct sample_gaps *g, uint32_t boot, uint64_t first, uint64_t named,
    const struct ease_snapshot *s, sample_gaps_sink *sink, void *arg);

#endif
