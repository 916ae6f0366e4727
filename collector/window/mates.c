#include "collector/window/mates.h"

/* Without a branch, so that compilers do several features at once. */
static void
pair_features(const struct mate *a, const struct mate *b, float pkts, float octets,
    struct mate_pairs *of_a, struct mate_pairs *of_b)
{
	for (size_t f = 0; f < MATES_FEATURES; f++) {
		float same_pkts = a->feature[f] == b->feature[f] ? pkts : 0;
		float same_octets = a->feature[f] == b->feature[f] ? octets : 0;

		of_a->same_pkts[f] += same_pkts;
		of_b->same_pkts[f] += same_pkts;
		of_a->same_octets[f] += same_octets;
		of_b->same_octets[f] += same_octets;
	}
}

static void
pair(const struct mate *a, const struct mate *b, struct mate_pairs *of_a, struct mate_pairs *of_b)
{
	float pkts = a->pkts * b->pkts, octets = a->octets * b->octets;

	if (a->side != b->side)
		return;
	of_a->any.pkts += pkts;
	of_b->any.pkts += pkts;
	of_a->any.octets += octets;
	of_b->any.octets += octets;
	pair_features(a, b, pkts, octets, of_a, of_b);
}

void
mates_pair(const struct mate *mates, size_t n, struct mate_pairs *pairs)
{
	for (size_t i = 0; i < n; i++)
		pairs[i] = (struct mate_pairs){0};
	for (size_t i = 1; i < n; i++)
		for (size_t j = 0; j < i; j++)
			pair(&mates[i], &mates[j], &pairs[i], &pairs[j]);
}
