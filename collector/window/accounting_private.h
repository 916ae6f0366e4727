/*
 * What accounting.c, which takes records, and accounting_flush.c, which moves books into batches,
 * share.
 */
#ifndef EASE_COLLECTOR_WINDOW_ACCOUNTING_PRIVATE_H
#define EASE_COLLECTOR_WINDOW_ACCOUNTING_PRIVATE_H

#include "collector/window/accounting.h"
#include "collector/window/sample_pairs.h"
#include "collector/window/inventory.h"
#include "collector/window/sample_thinning.h"

struct accounting {
	const struct clock *clock;
	uint64_t mono_us, received_us; /* of the notification at hand, and of those read with it */
	struct inventory inventory;
	struct window_table *windows;
	struct window_sample
	    samples[SAMPLE_PAIRS_MAX]; /* of the notification at hand, not in windows yet */
	size_t n_samples;
	struct sample_thinning thinning;
	struct stat_set stats;
	_Atomic uint64_t values[ACCOUNTING_N_STATS];
};

static inline void
accounting_count(const struct accounting *acc, enum accounting_stat_id which)
{
	stat_add_own(&acc->stats, which, 1);
}

/* An account that leaves memory, or is cut: its rows, if it changed, go into the batch. A
 * inventory_evicted. */
struct accounting_flush_target {
	struct accounting *acc;
	struct store_batch *batch;
};
void accounting_flush_account(void *to, const struct port *p, const struct account *a);

/* Moves the waiting counters into the batch; if that is full they wait on. */
void accounting_flush_counters(struct port *p, struct store_batch *batch);

#endif
