/*
 * The traffic of a made network, the same for all who ask: switches of 48 ports, four hosts a port, and
 * on four ports the world outside; hosts, peers and services are as skewed as they are in life. Each
 * port sends in three minutes a day, some eight flows each, most of one or two samples, few of very
 * many; the minute is the seventh of its hour. Each agent has random numbers of its own, so that its
 * days can be made without those of others. Its hours, and ports in each, must be asked for in order,
 * from 1 on as agents are.
 */
#ifndef EASE_TESTS_TRAFFIC_H
#define EASE_TESTS_TRAFFIC_H

#include "collector/store/batch.h"

#include <stdbool.h>
#include <stdint.h>

#define TRAFFIC_SECOND_US 1000000ull
#define TRAFFIC_HOUR_US	  (3600 * TRAFFIC_SECOND_US)
#define TRAFFIC_DAY_US	  (24 * TRAFFIC_HOUR_US)
#define TRAFFIC_START_US  (20449 * TRAFFIC_DAY_US) /* 2025-12-27, a UTC midnight */

enum {
	TRAFFIC_PORTS = 48,
	TRAFFIC_HOSTS = 4,     /* of a port */
	TRAFFIC_OUTSIDE = 20000, /* hosts there */
	TRAFFIC_SKIP = 400,
	TRAFFIC_FLOWS_MAX = 64, /* of a port's minute */
	TRAFFIC_AGENTS_MAX = 1023, /* so that 10.0.0.0/8 has an address for each host */
	TRAFFIC_KEYS = 6, /* of a flow */
	TRAFFIC_HEADER_OCTETS = 42, /* Ethernet, IPv4, UDP */
};

struct flow {
	uint32_t src, dst; /* IPv4 */
	uint16_t src_port, dst_port;
	uint8_t ip_proto;
	uint32_t n, octets; /* samples, of so many octets each */
};

/* What a port gets in the minute of an hour; pool: true totals of the port. */
struct traffic_minute {
	unsigned n;
	struct flow flows[TRAFFIC_FLOWS_MAX];
	struct store_sums sums;
	uint64_t pool_pkts, pool_octets;
};

struct flow_key {
	uint8_t kind; /* enum store_key_kind */
	uint8_t octets1, octets2;
	uint8_t key1[STORE_KEY_HALF], key2[STORE_KEY_HALF];
};

struct traffic {
	uint64_t n_agents; /* of the whole network, at most TRAFFIC_AGENTS_MAX */
	uint64_t random[TRAFFIC_AGENTS_MAX + 1];
};

void traffic_init(struct traffic *traffic, uint64_t n_agents, uint64_t seed);

/* False if the port gets nothing in the next hour. */
bool traffic_next(struct traffic *traffic, uint64_t agent, uint64_t port,
    struct traffic_minute *minute);

static inline uint64_t
traffic_minute_us(uint64_t hour)
{
	return TRAFFIC_START_US + hour * TRAFFIC_HOUR_US + 7 * 60 * TRAFFIC_SECOND_US;
}

struct store_sums flow_sums(const struct flow *flow);
void flow_keys(const struct flow *flow, struct flow_key keys[TRAFFIC_KEYS]);
/* An octet string in network order. */
void traffic_put(uint8_t *at, uint64_t value, int octets);
/* The first octets of a flow's frame: Ethernet, IPv4, and the ports of its transport. */
void traffic_put_header(const struct flow *flow, uint8_t header[TRAFFIC_HEADER_OCTETS]);
void traffic_agent_id(uint64_t agent, uint8_t id[8]);

#endif
