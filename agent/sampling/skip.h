/*
 * Random skips: a stream of 64-bit random numbers for each port, and the two distributions of the
 * register value K, by which the period K + 1 has the configured mean m. There is no bias at any m
 * up to EASE_DRAWN_MEAN_MAX. The same seed gives the same skips.
 *
 * Generator: xoshiro256++ (Blackman and Vigna 2018), seeded through splitmix64.
 */
#ifndef EASE_AGENT_SAMPLING_SKIP_H
#define EASE_AGENT_SAMPLING_SKIP_H

#include "agent/sampling/sampling.h"

#include <stdbool.h>
#include <stdint.h>

struct skip_stream {
	uint64_t state[4];
};

/* Streams with different seeds are independent for practical purposes. */
void skip_stream_seed(struct skip_stream *stream, uint64_t seed);
uint64_t skip_stream_next(struct skip_stream *stream);

/*
 * Draws K in 0..max_skip with mean m - 1 (1 <= mean <= EASE_DRAWN_MEAN_MAX).
 * Geometric: floor(ln U / ln(1 - 1/m)). Cutting a value above max_skip would bias the mean by up to
 * 13 %. Instead K is max_skip and *partial is true: the frame captured at its end must be discarded
 * and another K drawn. Because the geometric distribution has no memory, the sum is right.
 * Uniform: 0..2(m-1) by rejection; *partial is false. max_skip must be at least 2(m-1).
 */
uint32_t skip_draw(struct skip_stream *stream, enum sampling_draw draw, uint32_t mean,
    uint32_t max_skip, bool *partial);

#endif
