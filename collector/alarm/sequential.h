/*
 * The test behind an alarm, as pure functions: does a key (a talker, a service, …) fail to conform to a
 * bucket of `rate` units a second that holds `burst` units? Conforming means that in no stretch of L seconds
 * it sent more than rate x L + burst. The claim is about the frames that passed, not about a model of
 * traffic, so bursts and daily courses cannot raise the rate of false alarms.
 *
 * Why the threshold holds: frames are sampled independently, one in N, and N was set before. For any kappa
 * the product of (1 + kappa N) over sampled frames and of 1 / (1 + kappa) over all frames has mean 1, step by
 * step, whatever the traffic does; a frame that counts y <= 1 units takes both to the power of y, which only
 * lowers the mean (the logarithm of the moments is convex). A conforming key's frames are bounded by the
 * bucket, so the statistic of a run stays below its threshold but with probability exp(-h) (Ville's
 * inequality). As at most one run begins at each sample, n samples raise n x ALARM_TILTS x exp(-h) false
 * alarms at most: alarm_threshold() turns a stated rate round. Lost samples only lower the statistic.
 *
 * kappa is (tilt - 1) / (a reference skip that is fixed for a run). Four tilts run beside each other: the
 * larger tell floods of many times the rate sooner.
 */
#ifndef EASE_COLLECTOR_ALARM_SEQUENTIAL_H
#define EASE_COLLECTOR_ALARM_SEQUENTIAL_H

#include <stdbool.h>

enum { ALARM_TILTS = 4 };

/* What a rule claims of a key, and how seldom that may be wrong. */
struct alarm_bucket {
	double rate;	  /* units a second, > 0 */
	double burst;	  /* units */
	double threshold; /* h without what the bucket and the skip add; > 0 */
};

/* What a sample adds and time takes away, at the skips of one moment. */
struct alarm_steps {
	float gain[ALARM_TILTS];  /* a sampled frame of one unit */
	float drift[ALARM_TILTS]; /* a second */
	float limit[ALARM_TILTS]; /* an alarm where the statistic reaches this */
};

/* Samples may be out of order by so much: what several notifications of one agent hold. */
#define ALARM_ORDER_S 0.1

/* The threshold at which, of so many samples tested by each of so many rules, `allowed` false alarms are
 * expected at most. */
double alarm_threshold(double samples, double rules, double allowed);

/* The false alarms to be expected, at most, from one sample that one rule tests. */
double alarm_risk(double threshold);

/* reference_skip: fixed for the run; skip: mean skip that the sample was drawn with; largest_skip: of any
 * sample that may be in the run. All >= 1. */
void alarm_steps_at(const struct alarm_bucket *bucket, double reference_skip, double skip, double largest_skip,
    struct alarm_steps *steps);

/* Lets `elapsed_s` pass and adds a sampled frame of so many units (0 to 1). True: the limit is reached. */
bool alarm_step(float statistic[ALARM_TILTS], const struct alarm_steps *steps, double elapsed_s, double units);

/* How long after the begin of a flood of `factor` times the rate (> 1) the alarm comes at a skip: in half of
 * all cases, and in 95 of 100, in seconds, without delivery (Wald's approximation). */
struct alarm_delay {
	double median_s, p95_s;
};
struct alarm_delay alarm_delay_of(const struct alarm_bucket *bucket, double skip, double factor);

/*
 * The test that a key is below half of the rate again: `largest_skip` is that of its samples since the alarm.
 * The statistic rises with time and falls with samples; ALARM_CLEAR_LIMIT is reached while the key is above
 * half of the rate once in 1,000 alarms. Samples that were lost at the key's port count as the key's.
 */
#define ALARM_CLEAR_LIMIT 6.9
double alarm_clear_step(double statistic, double rate, double largest_skip, double elapsed_s);
double alarm_clear_sample(double statistic, double skip, double largest_skip, double units);

#endif
