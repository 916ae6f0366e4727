/*
 * Hashes of the window room's tables: products of 128 bits folded to 64, as wyhash and its like
 * have them. The seed is drawn at the start, so that nobody can choose addresses that collide.
 */
#ifndef EASE_COLLECTOR_WINDOW_HASH_H
#define EASE_COLLECTOR_WINDOW_HASH_H

#include <stdint.h>

#define HASH_GOLDEN 0x9e3779b97f4a7c15ull /* 2^64 / golden ratio, odd: spreads seeds */

static inline uint64_t
hash_pair(uint64_t seed, uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)(a ^ seed) * (b ^ (seed * HASH_GOLDEN));

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* n words, n even. Pairs are hashed apart, so that a CPU does several at a time. */
static inline uint64_t
hash_words(uint64_t seed, const uint64_t *words, unsigned n)
{
	uint64_t hash = 0;

	for (unsigned i = 0; i < n; i += 2)
		hash += hash_pair(seed += HASH_GOLDEN, words[i], words[i + 1]);
	return hash_pair(seed, hash, n);
}

#endif
