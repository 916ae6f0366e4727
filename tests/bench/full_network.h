/*
 * The network that fills a store (bench_full_store): switches of 48 ports whose hosts talk as in traffic.h, and
 * one port on which a flood of made-up sources arrives. Its samples and counters come in the order of time, as
 * records for the accounting or as SNMP notifications of the same numbers, so that who filled a store can
 * go on live.
 */
#ifndef EASE_TESTS_FULL_NETWORK_H
#define EASE_TESTS_FULL_NETWORK_H

#include "collector/record.h"

#include <stddef.h>
#include <stdint.h>

enum {
	FULL_AGENTS = 100,
	FULL_PORTS = 48,
	FULL_FLOOD_AGENT = 7, /* and its port 3 */
	FULL_FLOOD_PORT = 3,
};
#define FULL_FLOOD_VICTIM "10.1.204.3" /* a host of the network */

struct full_network;

struct full_network *full_network_new(uint64_t seed);
void full_network_free(struct full_network *network);

/* The next sample of a port drawn at random, or of the flood; the record is valid until the next call. */
const struct ease_record *full_network_sample(struct full_network *network, uint64_t time_us);
const struct ease_record *full_network_flood(struct full_network *network, uint64_t time_us);

/* What a port (0 to FULL_AGENTS * FULL_PORTS - 1) has counted by then, and its state. */
const struct ease_record *full_network_counters(struct full_network *network, unsigned port, uint64_t time_us);
const struct ease_record *full_network_state(struct full_network *network, unsigned port, uint64_t time_us);

/* The agent's address, 127.1.0.N, from which a live sender sends. N: 1 to FULL_AGENTS. */
void full_network_address(unsigned agent, char text[16]);

/* The number of a record's agent, 1 to FULL_AGENTS. */
unsigned full_network_agent(const struct ease_record *record);

#endif
