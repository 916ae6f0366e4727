/*
 * The rate cap (easePortMaxSamples): which mean skip is in force, by the rate at which frames pass. A port
 * that would send more samples than its cap gets the mean at which its present frames give four fifths of
 * the cap, and a smaller one again as soon as its rate has fallen. Each sample carries the mean it was drawn
 * with, so estimates stay unbiased through every change.
 *
 * Pure: the time is passed in, by the device's steady clock.
 */
#ifndef EASE_AGENT_SAMPLING_RATE_CAP_H
#define EASE_AGENT_SAMPLING_RATE_CAP_H

#include <stdbool.h>
#include <stdint.h>

/* What was measured since the last decision. */
struct rate_cap {
	bool begun;
	uint64_t start_us;
	uint64_t start_pkts;
	uint64_t samples;
	uint64_t sampled_pkts; /* frames that these samples stand for */
};

/* A sample was taken that stands for mean frames. */
void rate_cap_count(struct rate_cap *cap, uint32_t mean);

/* Decides when more samples than a second may have were counted, or a second has passed. max_per_s 0: no
 * cap. pool_pkts: the port's frames of both directions until now; a counter that lags is made up for by
 * the samples. Returns the mean to be in force, from configured to EASE_DRAWN_MEAN_MAX. */
uint32_t rate_cap_mean(struct rate_cap *cap, uint32_t max_per_s, uint32_t configured,
    uint32_t in_force, uint64_t now_us, uint64_t pool_pkts);

#endif
