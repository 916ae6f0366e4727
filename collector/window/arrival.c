#include "collector/window/arrival.h"

#include <string.h>

uint64_t
arrival_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)(a ^ 0x9e3779b97f4a7c15ull) * (b | 1);

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* The halves are hashed as a whole: unused octets are zeros. */
static uint32_t
hash_key(uint64_t seed, const struct wanted *w)
{
	uint64_t words[2 * ((sizeof(w->halves) + 15) / 16)] = {0};
	uint64_t hash = arrival_mix(seed,
	    (uint64_t)w->window << 16 | (uint64_t)w->kind << 8 | w->direction);

	memcpy(words, &w->halves, sizeof(w->halves));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i += 2)
		hash = arrival_mix(hash ^ words[i], arrival_mix(words[i + 1], seed));
	return (uint32_t)(hash ^ hash >> 32);
}

/* Of which kind an address is does not matter: the like are compared with the like. */
static uint32_t
hash_address(uint64_t seed, const uint8_t address[FRAME_IP_LEN])
{
	uint64_t words[2], hash;

	memcpy(words, address, sizeof(words));
	hash = arrival_mix(seed ^ words[0], words[1]);
	return (uint32_t)(hash ^ hash >> 32);
}

static void
note_features(uint64_t seed, const struct wanted *w, struct mate *mate)
{
	mate->feature[w->kind] = w->hash;
	if (w->kind >= KINDS_OF_PAIRS)
		return;
	mate->feature[MATES_ADDRESS(w->kind)] = hash_address(seed, w->halves.half1);
	mate->feature[MATES_ADDRESS(w->kind) + 1] = hash_address(seed, w->halves.half2);
}

static void
fill_mate(uint64_t seed, const struct arrival *a, uint32_t window, const struct ease_sample *s,
    uint32_t place, struct mate *mate)
{
	mate->side = window << 1 | (s->direction - 1u);
	mate->pkts = (float)s->mean_skip;
	mate->octets = (float)s->mean_skip * (float)s->frame_octets;
	for (size_t f = 0; f < MATES_FEATURES; f++)
		mate->feature[f] = place;
	for (size_t i = 0; i < a->n; i++)
		note_features(seed, &a->wanted[i], mate);
}

void
arrival_of(uint64_t seed, uint32_t window, const struct ease_sample *s,
    const struct frame_keys *keys, uint32_t place, struct arrival *a, struct mate *mate)
{
	a->n = 0;
	for (unsigned kind = 0; kind < N_KINDS; kind++) {
		struct wanted *w = &a->wanted[a->n];

		w->halves = (struct halves){0};
		if (!window_kinds[kind].fill(keys, &w->halves))
			continue;
		w->window = window;
		w->kind = (uint8_t)kind;
		w->direction = s->direction;
		w->hash = hash_key(seed, w);
		a->n++;
	}
	if (mate)
		fill_mate(seed, a, window, s, place, mate);
}
