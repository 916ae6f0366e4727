/*
 * A ring of pointers from one thread to another: one puts, one takes, neither locks, allocates or
 * waits. For passing prepared things to and fro; what happens when it is full or empty is for who
 * uses it to say. Memory written before a put is seen after the take.
 *
 * All operations are sequentially consistent, so that a thread that says it will sleep and then
 * finds the ring empty is seen to sleep by whoever puts after that.
 */
#ifndef EASE_COMMON_SPSC_H
#define EASE_COMMON_SPSC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	SPSC_ITEMS = 8, /* a power of two; things are large and few */
	SPSC_CACHE_LINE = 64,
};

/* Zeroed before use. */
struct spsc {
	atomic_size_t n_put; /* the putting thread's */
	char apart[SPSC_CACHE_LINE - sizeof(atomic_size_t)];
	atomic_size_t n_taken; /* the taking thread's */
	char apart_too[SPSC_CACHE_LINE - sizeof(atomic_size_t)];
	void *items[SPSC_ITEMS];
};

/* False if the ring is full. */
static inline bool
spsc_put(struct spsc *ring, void *item)
{
	size_t n = atomic_load(&ring->n_put);

	if (n - atomic_load(&ring->n_taken) == SPSC_ITEMS)
		return false;
	ring->items[n % SPSC_ITEMS] = item;
	atomic_store(&ring->n_put, n + 1);
	return true;
}

/* The oldest item, left where it is; NULL if there is none. For the taking thread. */
static inline void *
spsc_first(struct spsc *ring)
{
	size_t n = atomic_load(&ring->n_taken);

	return n == atomic_load(&ring->n_put) ? NULL : ring->items[n % SPSC_ITEMS];
}

/* Takes the oldest item; NULL if there is none. */
static inline void *
spsc_take(struct spsc *ring)
{
	void *item = spsc_first(ring);

	if (item)
		atomic_fetch_add(&ring->n_taken, 1);
	return item;
}

#endif
