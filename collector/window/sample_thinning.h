/*
 * Sample thinning: when more samples arrive than the store should write as rows, a random one of k
 * gets a row, which says that it stands for k samples. k follows the rate. Because the choice is
 * random and the row has its weight, whatever is estimated from rows stays unbiased at any rate;
 * only the number of rows, and so the precision, is limited. Unused rows are credit for bursts, up
 * to SAMPLE_THINNING_BURST_S seconds' worth, so only a lasting high rate is thinned. No input but
 * the arguments; the time is passed in.
 */
#ifndef EASE_COLLECTOR_WINDOW_SAMPLE_THINNING_H
#define EASE_COLLECTOR_WINDOW_SAMPLE_THINNING_H

#include <stdint.h>

enum {
	SAMPLE_THINNING_BURST_S = 10
}; /* at the default limit 200,000 rows, two seconds of writing */

struct sample_thinning {
	uint64_t share;	 /* rows allowed in an interval; 0: every sample gets a row */
	uint64_t credit; /* rows allowed beyond the share in this interval */
	uint64_t interval_end_us;
	uint64_t seen; /* samples in this interval */
	uint64_t kept; /* rows since keep_one_of last changed */
	uint64_t rows; /* rows in this interval */
	uint64_t random;
	uint32_t keep_one_of;
};

/* rows_per_s 0: no limit. */
void sample_thinning_init(struct sample_thinning *t, uint32_t rows_per_s, uint64_t seed);

/* Decides about one more sample at mono_us: returns how many samples its row stands for, or 0 if it
 * gets no row. */
uint32_t sample_thinning_decide(struct sample_thinning *t, uint64_t mono_us);

#endif
