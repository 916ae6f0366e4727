#include "collector/window/sample_pairs.h"
#include "common/hash.h"

#include <assert.h>
#include <string.h>

/* Odd factors that keep the parts of a key distinct when they are added up to one hash. */
#define SPREAD_PAIR  0x9e3779b1u
#define SPREAD_PORTS 0x85ebca77u
#define SPREAD_PROTO 0x27d4eb2fu

static uint32_t
hash_address(uint64_t seed, uint64_t first, uint64_t second)
{
	uint64_t hash = hash_pair(seed, first, second);

	return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t
hash_mac(uint64_t seed, const uint8_t mac[FRAME_MAC_LEN])
{
	uint32_t first;
	uint16_t second;

	memcpy(&first, mac, sizeof(first));
	memcpy(&second, mac + sizeof(first), sizeof(second));
	return hash_address(seed, first, second);
}

static uint32_t
hash_ip(uint64_t seed, const uint8_t ip[FRAME_IP_LEN])
{
	return hash_address(seed, hash_word_at(ip, 0), hash_word_at(ip, 8));
}

static void
pairs_fill_pair(uint32_t *feature, size_t kind, uint32_t hash1, uint32_t hash2)
{
	feature[PAIR_FEATURE_ADDRESS(kind)] = hash1;
	feature[PAIR_FEATURE_ADDRESS(kind) + 1] = hash2;
	feature[kind] = hash1 + SPREAD_PAIR * hash2;
}

static void
fill_ip(uint32_t *feature, uint64_t seed, const struct flow_key *k)
{
	pairs_fill_pair(feature, KIND_IP_PAIR, hash_ip(seed, k->src_ip), hash_ip(seed, k->dst_ip));
	if (k->has & FLOW_HAS_IP_PROTO)
		feature[KIND_CONVERSATION] = feature[KIND_IP_PAIR] + SPREAD_PROTO * k->ip_proto +
		    SPREAD_PORTS * ((uint32_t)k->src_port << 16 | k->dst_port);
}

void
sample_pairs_fill(struct paired_sample *sample, uint64_t seed, const struct flow_key *k,
    uint32_t place, uint32_t first, const struct ease_sample *s)
{
	assert(place < SAMPLE_PAIRS_MAX && (k->direction == EASE_IN || k->direction == EASE_OUT));
	sample->stratum = k->window << 1 | (k->direction - 1u);
	sample->pkts = s->mean_skip == first ? 1 : (float)s->mean_skip / (float)first;
	sample->octets = sample->pkts * (float)s->frame_octets;
	sample->unit = (double)s->mean_skip * first;
	sample->length = s->frame_octets;
	for (size_t f = 0; f < PAIR_FEATURE_ANY; f++)
		sample->feature[f] = place;
	sample->feature[PAIR_FEATURE_ANY] = 0;
	if (k->has & FLOW_HAS_MACS)
		pairs_fill_pair(sample->feature, KIND_ETH_PAIR, hash_mac(seed, k->src_mac),
		    hash_mac(seed, k->dst_mac));
	if (k->ip_version != 0)
		fill_ip(sample->feature, seed, k);
	/* Numbers below SAMPLE_PAIRS_MAX are reserved for samples that lack a feature: their place. */
	if (k->has & FLOW_HAS_VLAN)
		sample->feature[KIND_VLAN] = SAMPLE_PAIRS_MAX + k->vlan;
	if (k->has & FLOW_HAS_ETHERTYPE)
		sample->feature[KIND_ETHERTYPE] = SAMPLE_PAIRS_MAX + k->ethertype;
	if (k->has & FLOW_HAS_IP_PROTO)
		sample->feature[KIND_IP_PROTO] = SAMPLE_PAIRS_MAX + k->ip_proto;
	if (k->has & (FLOW_HAS_PORTS | FLOW_HAS_ICMP))
		sample->feature[KIND_SERVER_PORT] = SAMPLE_PAIRS_MAX +
		    ((uint32_t)k->ip_proto << 16 | flow_server_port(k));
}

/* Vectors of four features, compared without a branch. */
enum { LANES = 4, N_VECTORS = PAIR_N_FEATURES / LANES };
_Static_assert(PAIR_N_FEATURES % LANES == 0, "features fill vectors");
typedef int32_t lanes_of_numbers __attribute__((vector_size(4 * LANES)));
typedef float lanes_of_sums __attribute__((vector_size(4 * LANES)));

static lanes_of_numbers
features_of(const struct paired_sample *m, size_t vector)
{
	lanes_of_numbers v;

	memcpy(&v, &m->feature[vector * LANES], sizeof(v));
	return v;
}

/* Returns the number in the lanes where the mask has ones, and 0 in the others. */
static lanes_of_sums
where_equal(lanes_of_numbers mask, float number)
{
	const lanes_of_sums all = {number, number, number, number};

	return (lanes_of_sums)(mask & (lanes_of_numbers)all);
}

static void
pair_with_all(
    struct sample_pair_sums *pairs, const struct paired_sample *samples, size_t n, size_t i)
{
	lanes_of_sums pkts[N_VECTORS] = {0}, octets[N_VECTORS] = {0};
	const struct paired_sample *of = &samples[i];

	for (size_t j = 0; j < n; j++) {
		if (j == i || samples[j].stratum != of->stratum)
			continue;
		for (size_t v = 0; v < N_VECTORS; v++) {
			lanes_of_numbers same = features_of(of, v) == features_of(&samples[j], v);

			pkts[v] += where_equal(same, samples[j].pkts);
			octets[v] += where_equal(same, samples[j].octets);
		}
	}
	memcpy(pairs->pkts, pkts, sizeof(pkts));
	memcpy(pairs->octets, octets, sizeof(octets));
	pairs->unit_pkts = of->unit;
	pairs->unit_octets = of->unit * of->length;
}

void
sample_pairs_sum(const struct paired_sample *samples, size_t n, struct sample_pair_sums *pairs)
{
	assert(n <= SAMPLE_PAIRS_MAX);
	for (size_t i = 0; i < n; i++)
		pair_with_all(&pairs[i], samples, n, i);
}
