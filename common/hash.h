/*
 * Hash functions for tables in memory: 128-bit products folded to 64 bits, as in wyhash. The caller
 * draws the seed at random, so that nobody can choose addresses that collide. And FNV-1a, for what is kept or sent on.
 */
#ifndef EASE_COMMON_HASH_H
#define EASE_COMMON_HASH_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_GOLDEN 0x9e3779b97f4a7c15ull /* 2^64 / golden ratio, odd: spreads seeds */

/* Lists of a table of n: a power of two, 16 at least. */
static inline uint32_t
hash_lists(uint32_t n)
{
	uint32_t lists = 16;

	while (lists < n && lists < UINT32_C(1) << 31)
		lists *= 2;
	return lists;
}

static inline uint64_t
hash_pair(uint64_t seed, uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)(a ^ seed) * (b ^ (seed * HASH_GOLDEN));

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* FNV-1a over n octets, continued from hash; HASH_FNV begins one. It is the same in each process and on each machine, so
 * what collides can be chosen. http://www.isthe.com/chongo/tech/comp/fnv/ */
#define HASH_FNV 0xcbf29ce484222325ull
static inline uint64_t
hash_fnv(uint64_t hash, const void *octets, size_t n)
{
	for (const uint8_t *o = octets; n-- > 0; o++)
		hash = (hash ^ *o) * 0x100000001b3ull;
	return hash;
}

static inline uint64_t
hash_word_at(const void *octets, size_t at)
{
	uint64_t word;

	memcpy(&word, (const char *)octets + at, sizeof(word));
	return word;
}

/* n is a multiple of 16. The blocks do not depend on each other, so a CPU hashes several at a
 * time. */
static inline uint64_t
hash_octets(uint64_t seed, const void *octets, size_t n)
{
	uint64_t hash = 0;

	assert(n % 16 == 0);
	for (size_t at = 0; at < n; at += 16)
		hash += hash_pair(seed += HASH_GOLDEN, hash_word_at(octets, at),
		    hash_word_at(octets, at + 8));
	return hash_pair(seed, hash, n);
}

#endif
