/*
 * Which samples get a row of their own when there are more than the store should write: a random
 * one of k, where k follows the rate, and the row says that it stands for k. Chosen by chance and
 * weighted, so that whatever is estimated from rows stays right whatever the rate did; only their
 * number, and so the precision, is limited. What was not used is kept for bursts, up to
 * SAMPLE_THINNING_BURST_S seconds' worth: only a lasting rate is thinned. Pure; time is passed in.
 */
#ifndef EASE_COLLECTOR_WINDOW_SAMPLE_THINNING_H
#define EASE_COLLECTOR_WINDOW_SAMPLE_THINNING_H

#include <stdint.h>

enum {
	SAMPLE_THINNING_BURST_S = 10
}; /* at the default limit 200,000 rows, two seconds of writing */

struct sample_thinning {
	uint64_t share;	 /* rows an interval; 0: every sample gets its row */
	uint64_t credit; /* rows that may come beyond the share in this interval */
	uint64_t interval_end_us;
	uint64_t seen; /* samples in this interval */
	uint64_t kept; /* rows since keep_one_of last changed */
	uint64_t rows; /* in this interval */
	uint64_t random;
	uint32_t keep_one_of;
};

/* rows_per_s 0: no limit. */
void sample_thinning_init(struct sample_thinning *t, uint32_t rows_per_s, uint64_t seed);

/* One more sample at mono_us: how many samples its row stands for; 0: no row. */
uint32_t sample_thinning_decide(struct sample_thinning *t, uint64_t mono_us);

#endif
