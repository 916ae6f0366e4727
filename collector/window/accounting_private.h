/*
 * Shared by accounting.c, which adds records, and accounting_flush.c, which moves sums and accounts
 * into batches.
 */
#ifndef EASE_COLLECTOR_WINDOW_ACCOUNTING_PRIVATE_H
#define EASE_COLLECTOR_WINDOW_ACCOUNTING_PRIVATE_H

#include "collector/window/accounting.h"
#include "collector/window/sample_pairs.h"
#include "collector/window/inventory.h"
#include "collector/window/sample_thinning.h"

struct accounting {
	const struct clock *clock;
	uint64_t mono_us, received_us; /* when the current notification was read */
	struct inventory inventory;
	struct window_table *windows;
	/* samples of the current notification that are not in their windows yet */
	struct window_sample samples[SAMPLE_PAIRS_MAX];
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

/* Adds the rows of an account to the batch if it changed since the last flush: at a flush, and
 * before the inventory forgets the account (an inventory_evicted callback). */
struct accounting_flush_target {
	struct accounting *acc;
	struct store_batch *batch;
};
void accounting_flush_account(void *to, const struct port *p, const struct account *a);

/* Moves a port's unwritten counters into the batch; they stay unwritten if it is full. */
void accounting_flush_counters(struct port *p, struct store_batch *batch);

#endif
