/*
 * Builds sFlow datagrams for tests word by word from the specification's tables. It shares no code
 * with common/sflow_wire.c, and can write what is wrong.
 */
#ifndef EASE_TESTS_SFLOW_BUILDER_H
#define EASE_TESTS_SFLOW_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sflow_builder {
	uint8_t octets[9216];
	size_t n;
};

/* One flow sample with a sampled_header, and an extended_switch if vlan is not 0. */
struct built_flow {
	bool expanded;
	uint32_t sequence, class, index, rate, pool, drops;
	uint32_t input_format, input, output_format, output;
	uint32_t frame_octets, stripped, kept;
	const uint8_t *header; /* NULL: no header record at all */
	uint32_t vlan, priority;
};

struct built_counters {
	bool expanded;
	uint32_t sequence, index;
	uint64_t speed_bps, in_octets, out_octets;
	uint32_t status;
	uint32_t in[6];	 /* unicast, multicast, broadcast, discards, errors, unknown protocols */
	uint32_t out[5]; /* unicast, multicast, broadcast, discards, errors */
	bool ethernet;	 /* ethernet_counters 101, 102, … 113 too */
	uint32_t aggregate; /* not 0: LACP's counters too, of which nothing else is known */
};

void built_word(struct sflow_builder *b, uint32_t word);
void built_octets(struct sflow_builder *b, const void *octets, size_t n);

/* Overwrites the word at an offset. */
void built_patch(struct sflow_builder *b, size_t at, uint32_t word);

/* Starts the datagram of an IPv4 agent (address in host order). */
void built_begin(struct sflow_builder *b, uint32_t address, uint32_t sub_agent, uint32_t sequence,
    uint32_t uptime_ms, uint32_t n_samples);

void built_add_flow(struct sflow_builder *b, const struct built_flow *f);
void built_add_counters(struct sflow_builder *b, const struct built_counters *c);

#endif
