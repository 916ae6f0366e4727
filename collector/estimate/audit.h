/*
 * Judges a sampler by what it sent: whether one port's samples are what a random choice of its frames would be.
 * Any sender is judged the same way, from its samples, their numbers and pools, and the port's counters. Pure
 * functions, no I/O, no time of day.
 *
 * Each test is exact or holds for any traffic and any number of samples; audit.c names its source beside it.
 * A sound sampler is accused of something with a probability of AUDIT_TESTS * error at most, so who judges k
 * ports gives an error of 0.01 / (k * AUDIT_TESTS) to be wrong about one of them in at most 1 of 100 reports.
 */
#ifndef EASE_COLLECTOR_AUDIT_H
#define EASE_COLLECTOR_AUDIT_H

#include "collector/estimate/estimate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AUDIT_TESTS = 6 }; /* rate, load, size, spacing (two), regularity */
enum { AUDIT_ENOUGH_SAMPLES = 100 }; /* fewer give no verdict: limits are wider than 20 % */

#define AUDIT_UNKNOWN UINT64_MAX

enum audit_direction { AUDIT_IN, AUDIT_OUT, AUDIT_DIRECTIONS };

struct audit_sample {
	uint64_t time_us;
	uint64_t pool;	   /* frames so far, with this one; AUDIT_UNKNOWN */
	uint32_t boot, sequence;
	uint32_t mean;	   /* frames per sample, as the sender states it */
	uint32_t period;   /* frames since the sample before, as it was drawn; 0: not told */
	uint32_t octets;   /* of the frame */
	uint32_t stands_for; /* only a random one of so many has a row; 1: all */
	enum audit_direction direction;
};

struct audit_counters {
	uint64_t time_us, received_us;
	uint64_t discontinuity_us;
	double pkts[AUDIT_DIRECTIONS], octets[AUDIT_DIRECTIONS]; /* totals */
	double pool[AUDIT_DIRECTIONS]; /* frames that could have been sampled; NAN: only samples tell it */
	double numbers; /* the newest number given out when they were read, of 32 bits; NAN: only samples tell it */
	double stalled; /* frames so far that passed while the skip counter stood empty, of both directions */
};

struct audit_input {
	const struct audit_sample *samples; /* by boot and number; numbers wrap */
	size_t n_samples;
	const struct audit_counters *counters; /* by time */
	size_t n_counters;
	bool shared_numbers; /* numbers are of a source that serves several ports: their gaps say nothing of this one */
	bool several;	     /* samplers, each of a part of the port's frames: none of them can be judged by what the port counted */
	double arrived;	     /* with shared_numbers: part of the source's samples that arrived, 0 .. 1 */
	double dropped;	     /* samples that the sender says it dropped before they got a number, for each received, at most */
	bool has_pool;	     /* the sender must send a pool with each sample: one that is not known is no count */
	bool has_clock;	     /* samples and counters are stamped by the sender's own clock */
	double clock_off_s;  /* what was added to its times before they came here */
	double stalled;	     /* part of the frames that passed while the skip counter stood empty: in no counters here */
	double error;	     /* of each test */
};

enum audit_spacing {
	AUDIT_SPACING_UNKNOWN,
	AUDIT_GEOMETRIC,
	AUDIT_UNIFORM,	 /* from 1 to twice the mean */
	AUDIT_EVERY_NTH, /* or nearly */
	AUDIT_REPEATING, /* the same spacings again and again */
	AUDIT_IRREGULAR, /* random, but none of these */
};

enum audit_pool {
	AUDIT_POOL_UNKNOWN,
	AUDIT_POOL_COUNTED,  /* and it agrees with the counters, where there are any */
	AUDIT_POOL_COMPUTED, /* samples times the rate */
	AUDIT_POOL_DIFFERS,  /* it counts other frames than the port does */
};

/* What is wrong with a sampler. */
enum audit_fault {
	AUDIT_RATE_OFF = 1 << 0,	/* it does not take one of as many frames as it says */
	AUDIT_LESS_UNDER_LOAD = 1 << 1, /* it takes fewer when more passes */
	AUDIT_MORE_UNDER_LOAD = 1 << 2,
	AUDIT_IN_STEP = 1 << 3, /* every Nth frame, or a pattern that repeats */
	AUDIT_SMALL_LEFT_OUT = 1 << 4,
	AUDIT_LARGE_LEFT_OUT = 1 << 5,
	AUDIT_POOL_NOT_COUNTED = 1 << 6,
	AUDIT_FILTERED = 1 << 7, /* its pool lacks frames that the port counted, or has more */
	AUDIT_CLOCK_OFF = 1 << 8,
	AUDIT_CLOCK_DRIFTS = 1 << 9,
	AUDIT_AGGREGATED = 1 << 11, /* the port counts packets of which each is several frames; samples and pool are sound */
	AUDIT_LOST_BY_LOAD = 1 << 10, /* more of its samples are lost when more passes: load_loss.h judges it */
};

struct audit_result {
	unsigned faults; /* enum audit_fault */
	/* The longest stretch of one boot, one stated rate and counters without a break was judged. */
	uint64_t from_us, to_us;
	double taken, received; /* samples in it: numbers given out, and rows that arrived */
	double lost;		/* part of them that did not arrive, 0 .. 1 */
	double lost_quiet, lost_busy; /* with AUDIT_LOST_BY_LOAD: the same at quiet and at busy times */
	double mean;		/* stated frames per sample; 0: there is no sample */
	bool against_pool;	/* the port has no counters, so its pool stands for them */
	bool directions[AUDIT_DIRECTIONS]; /* which are sampled */
	double counted; /* frames of these directions; NAN: not known, and then nor is what follows */
	struct estimate_figure effective;  /* frames per sample, with limits of 95 % */
	struct estimate_figure of_counted; /* samples times the stated rate, as a part of what was counted */
	double finds; /* the least deviation of the rate that would have been noticed nearly always: 0.02 is 2 % */
	enum audit_spacing spacing;
	double spacing_of; /* AUDIT_EVERY_NTH: frames; AUDIT_REPEATING: samples until it repeats */
	enum audit_pool pool;
	double pool_of_counted; /* NAN: not known */
	double octets, counted_octets; /* mean length of sampled frames and of all; NAN: not known */
	double stalled, dropped;       /* as of the input, */
	bool several;		       /* as is this; nothing else is known then but how many samples there are */
	double clock_s, drift;	       /* clock ahead of ours, and per second; NAN: it has none, or not known */
};

/* 0 or -ENOMEM. */
int audit_judge(const struct audit_input *input, struct audit_result *result);

#endif
