/*
 * What ledger.c, which takes records, and ledger_cut.c, which moves books into batches, share.
 */
#ifndef EASE_COLLECTOR_WINDOW_ACCOUNTING_PRIVATE_H
#define EASE_COLLECTOR_WINDOW_ACCOUNTING_PRIVATE_H

#include "collector/window/ledger.h"
#include "collector/window/sample_pairs.h"
#include "collector/window/inventory.h"
#include "collector/window/sample_thinning.h"

struct ledger {
	const struct clock *clock;
	uint64_t mono_us, received_us; /* of the notification at hand, and of those read with it */
	struct roster roster;
	struct window_table *windows;
	struct window_sample mates[MATES_MAX]; /* of the notification at hand, not in windows yet */
	size_t n_mates;
	struct thinner thinner;
	struct stat_set stats;
	_Atomic uint64_t values[LEDGER_N_STATS];
};

static inline void
ledger_count(const struct ledger *l, enum ledger_stat_id which)
{
	stat_add_own(&l->stats, which, 1);
}

/* An account that leaves memory, or is cut: its rows, if it changed, go into the batch. A
 * roster_put_away. */
struct ledger_putting_away {
	struct ledger *l;
	struct store_batch *batch;
};
void ledger_put_away(void *to, const struct port *p, const struct account *a);

/* Moves the waiting counters into the batch; if that is full they wait on. */
void ledger_store_waiting(struct port *p, struct store_batch *batch);

#endif
