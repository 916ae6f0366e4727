#include "agent/sim/error_injection.h"

#include "agent/sim/chip/c84302_model.h"

#include <errno.h>
#include <stdlib.h>

enum { HEADER_OCTETS = 14, FCS_OCTETS = 4 };

struct rule {
	unsigned port;
	enum feed_error_kind kind;
	uint32_t one_in;
	uint64_t random; /* state of its generator */
	uint64_t left;	 /* good frames until the next error, 1 or more */
};

struct error_injection {
	size_t n;
	struct rule rules[];
};

static const struct effect {
	uint8_t faults;
	uint32_t octets; /* 0: unchanged */
} effects[FEED_N_ERRORS] = {
    [FEED_ERROR_CRC] = {C84302_FAULT_FCS, 0},
    [FEED_ERROR_ALIGNMENT] = {C84302_FAULT_ALIGNMENT, 0},
    [FEED_ERROR_SYMBOL] = {C84302_FAULT_SYMBOL, 0},
    [FEED_ERROR_GIANT] = {0, INJECT_GIANT_OCTETS},
    [FEED_ERROR_JABBER] = {C84302_FAULT_FCS, INJECT_GIANT_OCTETS},
    [FEED_ERROR_RUNT] = {0, INJECT_RUNT_OCTETS},
    [FEED_ERROR_FRAGMENT] = {C84302_FAULT_FCS, INJECT_RUNT_OCTETS},
};

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t
draw_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Uniform from 1 to 2N - 1: N on average. */
static uint64_t
draw_gap(struct rule *rule)
{
	return 1 + draw_random(&rule->random) % (2ull * rule->one_in - 1);
}

int
error_injection_create(const struct feed_error *errors, size_t n, uint64_t seed, struct error_injection **injection)
{
	struct error_injection *i = calloc(1, sizeof(*i) + n * sizeof(i->rules[0]));

	if (!i)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++) {
		struct rule *rule = &i->rules[i->n++];

		if (errors[k].one_in == 0) {
			error_injection_destroy(i);
			return -EINVAL;
		}
		*rule = (struct rule){.port = errors[k].port, .kind = errors[k].kind,
		    .one_in = errors[k].one_in,
		    .random = seed ^ (uint64_t)errors[k].port << 40 ^
			(uint64_t)errors[k].kind << 56};
		rule->left = draw_gap(rule);
	}
	*injection = i;
	return 0;
}

void
error_injection_destroy(struct error_injection *injection)
{
	free(injection);
}

static bool
is_good(const struct feed_frame *f)
{
	return f->faults == 0 && f->captured_octets >= HEADER_OCTETS && f->wire_octets <= C84302_MAX_OCTETS;
}

static void
damage_frame(struct feed_frame *f, const struct effect *effect)
{
	uint32_t data = effect->octets - FCS_OCTETS;

	f->faults = effect->faults;
	if (effect->octets == 0)
		return;
	f->wire_octets = effect->octets;
	if (f->captured_octets > data)
		f->captured_octets = data;
	if (f->data_octets > data)
		f->data_octets = data;
}

/* Every rule of the port counts every good frame. A rule whose frame got another error waits for the
 * next frame. */
int
error_injection_apply(struct error_injection *injection, struct feed_frame *frame)
{
	int kind = -1;

	if (!is_good(frame))
		return -1;
	for (struct rule *rule = injection->rules; rule < injection->rules + injection->n; rule++) {
		if (rule->port != frame->port)
			continue;
		if (rule->left > 1) {
			rule->left--;
		} else if (kind < 0) {
			kind = (int)rule->kind;
			rule->left = draw_gap(rule);
		}
	}
	if (kind >= 0)
		damage_frame(frame, &effects[kind]);
	return kind;
}
