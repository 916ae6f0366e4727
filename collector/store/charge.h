/*
 * Who pays when samples, sums and counters have more than their seven eighths of store_size (shares.h) and no samples
 * are left to delete: the sources that hold more than twice what a source holds on average. What each holds of sums
 * and counters is counted as it is written and deleted (table held). Such a source pays with its oldest, finest first:
 *
 *   counters  those of each hour become the first and the last one
 *   sums      keys of 1 min, 5 min and 1 h that the next level has, then those that it does not have yet: they are
 *             folded, as where memory had no place for them (window_keys.c). Totals stay, and limits have what a key
 *             can lack.
 *
 * Up to when an agent has paid is in the table paid, by level. Where nobody holds so much more than others, or nothing
 * of his is left to pay with, retention.c deletes the oldest windows of all. A source is whom an agent is bound to, as in
 * source_limits.h. Inside the store room, on the writing thread.
 */
#ifndef EASE_COLLECTOR_STORE_CHARGE_H
#define EASE_COLLECTOR_STORE_CHARGE_H

#include "collector/store/rollup.h"

enum { CHARGE_PAYERS = 64 };

/* Zeroed: nobody is chosen. */
struct charge {
	int64_t payers[CHARGE_PAYERS]; /* agents; in each turn each of them pays */
	int n, at, turn;
	bool begun; /* this one, in this turn: */
	int64_t from_us, until_us; /* so much is left to pay */
	int64_t if_index; /* of counters, after this port; */
	unsigned kind;	  /* of sums, the index of a kind, after this row of it */
	int64_t row;
};

/* One payment, within the caller's transaction. thin: the statement that thins the counters of a port; its parameters are
 * agent, ifIndex, from and to when, the windows of which first and last stay, and the most rows; it returns a row for each.
 * Adds to *paid the entries that were folded and the counters deleted. Returns 1, 0 if nobody is to pay, or an error. */
int charge_step(struct charge *c, struct rollup *r, const char *thin, uint64_t *paid);

#endif
