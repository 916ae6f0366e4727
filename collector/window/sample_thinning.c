#include "collector/window/sample_thinning.h"

#include <assert.h>

enum {
	INTERVALS_PER_S = 10,
	INTERVAL_US = 1000000 / INTERVALS_PER_S,
	CREDIT_MAX_INTERVALS = SAMPLE_THINNING_BURST_S * INTERVALS_PER_S,
	/* Reached at 4 billion samples a second only. */
	KEEP_ONE_OF_MAX = 1 << 16,
};

void
sample_thinning_init(struct sample_thinning *t, uint32_t rows_per_s, uint64_t seed)
{
	*t = (struct sample_thinning){
	    .share = rows_per_s ? (rows_per_s + INTERVALS_PER_S - 1) / INTERVALS_PER_S : 0,
	    .random = seed | 1,
	    .keep_one_of = 1,
	};
	t->credit = t->share * CREDIT_MAX_INTERVALS;
}

/* xorshift64*: Marsaglia 2003, Vigna 2016. */
static uint32_t
next_random(struct sample_thinning *t)
{
	t->random ^= t->random >> 12;
	t->random ^= t->random << 25;
	t->random ^= t->random >> 27;
	return (uint32_t)(t->random * 0x2545f4914f6cdd1dull >> 32);
}

static void
keep_one_of(struct sample_thinning *t, uint64_t k)
{
	t->keep_one_of = k < 1 ? 1 : k > KEEP_ONE_OF_MAX ? KEEP_ONE_OF_MAX : (uint32_t)k;
	t->kept = 0;
	assert(t->keep_one_of >= 1);
}

/* Starts an interval. Intervals that passed without samples add their credit, up to the limit. */
static void
next_interval(struct sample_thinning *t, uint64_t mono_us)
{
	uint64_t intervals = 1 + (mono_us - t->interval_end_us) / INTERVAL_US;
	uint64_t most = t->share * CREDIT_MAX_INTERVALS;

	assert(t->share > 0);
	if (intervals > CREDIT_MAX_INTERVALS)
		intervals = CREDIT_MAX_INTERVALS;
	t->credit += intervals * t->share;
	t->credit = t->credit > t->rows ? t->credit - t->rows : 0;
	if (t->credit > most)
		t->credit = most;
	/* the k with which the last interval would have stayed within its rows */
	keep_one_of(t, (t->seen + t->share + t->credit - 1) / (t->share + t->credit));
	t->interval_end_us = mono_us + INTERVAL_US;
	t->seen = 0;
	t->rows = 0;
}

uint32_t
sample_thinning_decide(struct sample_thinning *t, uint64_t mono_us)
{
	if (t->share == 0)
		return 1;
	if (mono_us >= t->interval_end_us)
		next_interval(t, mono_us);
	t->seen++;
	if ((uint64_t)next_random(t) * t->keep_one_of >> 32 != 0)
		return 0;
	if (t->kept >=
	    t->share + t->credit) { /* the rate rises, and share and credit are used up */
		t->credit = 0;
		keep_one_of(t, 2ull * t->keep_one_of);
	}
	t->kept++;
	t->rows++;
	return t->keep_one_of;
}
