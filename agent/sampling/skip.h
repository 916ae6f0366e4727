/*
 * Skip counts: one stream of 64-bit randomness a port, and the two ways of drawing the register
 * value K so that the period K + 1 has the configured mean m. Pure but for the seed; no bias at
 * any m up to EASE_MEAN_SKIP_MAX (architecture: estimation notes, section 5).
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

/* Streams of different seeds are independent for every practical purpose. */
void skip_stream_seed(struct skip_stream *stream, uint64_t seed);
uint64_t skip_stream_next(struct skip_stream *stream);

/*
 * Draws K in 0..max_skip with mean m - 1 (1 <= mean <= EASE_MEAN_SKIP_MAX).
 * Geometric: floor(ln U / ln(1 - 1/m)). A draw beyond max_skip is not cut, which would bias the
 * mean by up to 13 %: K is then max_skip and *partial true, and because the distribution has no
 * memory the frame captured at its end is thrown away and another K drawn.
 * Uniform: 0..2(m-1) by rejection; *partial is false. max_skip must be at least 2(m-1).
 */
uint32_t skip_draw(struct skip_stream *stream, enum sampling_draw draw, uint32_t mean,
    uint32_t max_skip, bool *partial);

#endif
