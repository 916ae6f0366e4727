/*
 * Named counters. A room counts every drop, refusal, retry and overflow in one of these, so that a
 * user can see it: SIGUSR1 writes all of them to the log; the MIB and `easetop loss` show those
 * that mean lost samples.
 *
 * A room declares an enum, a const table of names in the enum's order, and a struct stat_set over
 * an array of values in its context. Any thread may add: that is one relaxed atomic operation.
 */
#ifndef EASE_COMMON_STAT_H
#define EASE_COMMON_STAT_H

#include "common/assert_hot.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct stat_name {
	const char *name; /* room.what, e.g. "notify.ring_overflow" */
	const char *help; /* one line: what is counted */
};

struct stat_set {
	const struct stat_name *names;
	size_t n;
	_Atomic uint64_t *values; /* n of them, borrowed from the room's context */
};

static inline void
stat_add(const struct stat_set *set, unsigned which, uint64_t n)
{
	assert_hot(which < set->n);
	atomic_fetch_add_explicit(&set->values[which], n, memory_order_relaxed);
}

/* The same for a counter that only one thread adds to: it needs no locked instruction, and other
 * threads may still read it. */
static inline void
stat_add_own(const struct stat_set *set, unsigned which, uint64_t n)
{
	uint64_t value = atomic_load_explicit(&set->values[which], memory_order_relaxed);

	assert_hot(which < set->n);
	atomic_store_explicit(&set->values[which], value + n, memory_order_relaxed);
}

/* For a counter that holds a maximum; only one thread may raise it. */
static inline void
stat_raise(const struct stat_set *set, unsigned which, uint64_t measured)
{
	if (measured > atomic_load_explicit(&set->values[which], memory_order_relaxed))
		atomic_store_explicit(&set->values[which], measured, memory_order_relaxed);
}

static inline uint64_t
stat_get(const struct stat_set *set, unsigned which)
{
	assert_hot(which < set->n);
	return atomic_load_explicit(&set->values[which], memory_order_relaxed);
}

/* Logs each counter that is not zero, one a line, at level INFO. */
void stat_log(const struct stat_set *set);

#endif
