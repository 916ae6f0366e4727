/*
 * The parts of store_size that small tables have: discarded packets, events, addresses, sources of errors, and what
 * cannot be. Whoever may send can fill these with as many rows as he likes, so each has a part of its own, and what
 * else is stored (samples, sums, counters) has seven eighths that no other table takes:
 *
 *   discard 4/128  discard_hour 2/128  event 4/128  place 4/128  error_source 1/128  oddity 1/128
 *
 * A table that has more than its part is brought to 15/16 of it. It is paid by the source that holds most of the table,
 * and whoever has less loses no row (max-min fairness, as of places in memory). A source is whom an agent is bound
 * to, as in source_limits.h: of sFlow the address that sends, whatever agents it speaks for. Its agents that have
 * most give the older half of theirs. How much each has is counted by triggers (table held, schema.c).
 *
 * Rows of `discard` are not lost but added to their hour's in `discard_hour` (shares_fold): by agent, port, kind and
 * reason, without what else was told of the packets. The same happens to all of them when minutes of sums are
 * deleted. Inside the store room, on the writing thread.
 */
#ifndef EASE_COLLECTOR_STORE_SHARES_H
#define EASE_COLLECTOR_STORE_SHARES_H

#include "collector/store/rollup.h"
#include "collector/store/schema.h"

enum { SHARES_PAYERS = 64, SHARES_SOURCE_TEXT = 128 };

struct shares {
	uint64_t most_octets; /* of the store; 0: any number */
	bool due;	      /* rows were written since they were counted */
	int64_t held;	      /* octets of all these tables */
	int64_t excess[STORE_N_HELD]; /* octets that are to go */
	struct shares_payer {
		int64_t agent, rows; /* rows that it gives */
		int64_t if_index;    /* of the port that gave last */
	} payers[SHARES_PAYERS]; /* of one source and table */
	int table, n_payers, at;
	bool gives; /* some row of them was deleted */
	uint64_t rows[STORE_N_HELD]; /* deleted or folded so far */
	int64_t fold_agent;	     /* the pass by age: which was folded last, */
	uint64_t folded_us;	     /* and up to when all are */
};

/* What samples, sums, counters and states may take of store_size. */
static inline uint64_t
shares_of_others(uint64_t most_octets)
{
	return most_octets - most_octets / 8;
}

/* Deletes some rows of a table that has more than its part, within the caller's transaction. Returns 1, 0 if there
 * is nothing to delete, or -EIO. */
int shares_step(struct shares *s, struct rollup *r);

/* Adds some minutes of discarded packets from before that time, which is the start of an hour, to their hours. Returns
 * as above. */
int shares_fold_old(struct shares *s, struct rollup *r, uint64_t before_us);

#endif
