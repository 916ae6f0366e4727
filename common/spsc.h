/*
 * A ring of pointers for a single producer and a single consumer thread. Neither locks, allocates
 * or waits; the caller decides what to do when the ring is full or empty. What the producer wrote
 * to memory before a put, the consumer sees after the take.
 *
 * All operations are sequentially consistent. So a consumer can announce in an atomic flag that it
 * will sleep, and then look at the ring once more: either it sees the new item, or the producer
 * sees the flag.
 */
#ifndef EASE_COMMON_SPSC_H
#define EASE_COMMON_SPSC_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	SPSC_ITEMS = 8, /* a power of two; the items are large and few */
	SPSC_CACHE_LINE = 64,
};

/* Zeroed before use. */
struct spsc {
	atomic_size_t n_put; /* written by the producer */
	char padding[SPSC_CACHE_LINE - sizeof(atomic_size_t)];
	atomic_size_t n_taken; /* written by the consumer */
	char more_padding[SPSC_CACHE_LINE - sizeof(atomic_size_t)];
	void *items[SPSC_ITEMS];
};

/* False if the ring is full. */
static inline bool
spsc_put(struct spsc *ring, void *item)
{
	size_t n = atomic_load(&ring->n_put);

	assert(n - atomic_load(&ring->n_taken) <= SPSC_ITEMS);
	if (n - atomic_load(&ring->n_taken) == SPSC_ITEMS)
		return false;
	ring->items[n % SPSC_ITEMS] = item;
	atomic_store(&ring->n_put, n + 1);
	return true;
}

/* The oldest item, which stays in the ring; NULL if there is none. For the consumer. */
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
