#include "tests/bench/full_network.h"
#include "tests/bench/traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FLOWS = 64, /* that a port has; drawn unevenly */
	FLOOD_OCTETS = 64,
	N_PORTS = FULL_AGENTS * FULL_PORTS,
};

struct full_port {
	struct flow flows[FLOWS];
	unsigned n_flows;
	uint32_t sequence;
	uint64_t pkts, octets; /* counted */
};

struct full_network {
	uint64_t random;
	struct full_port ports[N_PORTS];
	char senders[FULL_AGENTS + 1][16];
	uint8_t header[TRAFFIC_HEADER_OCTETS];
	struct ease_record record;
};

static uint64_t
draw(struct full_network *n)
{
	n->random ^= n->random << 13;
	n->random ^= n->random >> 7;
	n->random ^= n->random << 17;
	return n->random >> 11;
}

/* Hours of traffic.h give each port its flows. */
static void
gather_flows(struct full_network *n, uint64_t seed)
{
	static struct traffic traffic;
	static struct traffic_minute minute;

	traffic_init(&traffic, FULL_AGENTS, seed);
	for (unsigned i = 0; i < N_PORTS; i++) {
		struct full_port *p = &n->ports[i];

		while (p->n_flows < FLOWS)
			if (traffic_next(&traffic, 1 + i / FULL_PORTS, 1 + i % FULL_PORTS, &minute))
				for (unsigned f = 0; f < minute.n && p->n_flows < FLOWS; f++)
					p->flows[p->n_flows++] = minute.flows[f];
	}
}

struct full_network *
full_network_new(uint64_t seed)
{
	struct full_network *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->random = seed * 0x9e3779b97f4a7c15u + 1;
	gather_flows(n, seed);
	for (unsigned a = 1; a <= FULL_AGENTS; a++)
		full_network_address(a, n->senders[a]);
	return n;
}

void
full_network_free(struct full_network *network)
{
	free(network);
}

void
full_network_address(unsigned agent, char text[16])
{
	snprintf(text, 16, "127.1.0.%u", agent);
}

unsigned
full_network_agent(const struct ease_record *record)
{
	return (unsigned)(record->agent_id[2] << 8 | record->agent_id[3]) - 0xe000;
}

static struct ease_record *
begin(struct full_network *n, enum ease_part kind, unsigned port, uint64_t time_us)
{
	unsigned agent = 1 + port / FULL_PORTS;

	n->record = (struct ease_record){.kind = kind, .boot = 1, .sender = n->senders[agent],
	    .received_us = time_us};
	traffic_agent_id(agent, n->record.agent_id);
	return &n->record;
}

static const struct ease_record *
sample_of(struct full_network *n, unsigned port, const struct flow *f, uint64_t time_us)
{
	struct ease_record *r = begin(n, EASE_PART_SAMPLE, port, time_us);
	struct full_port *p = &n->ports[port];

	p->pkts += TRAFFIC_SKIP;
	p->octets += (uint64_t)TRAFFIC_SKIP * f->octets;
	traffic_put_header(f, n->header);
	r->sample = (struct ease_sample){.time_us = time_us, .if_index = 1 + port % FULL_PORTS,
	    .sequence = ++p->sequence, .direction = EASE_IN, .input_if = 1 + port % FULL_PORTS,
	    .skip = TRAFFIC_SKIP - 1, .mean_skip = TRAFFIC_SKIP, .pool_pkts = p->pkts, .frame_octets = f->octets,
	    .kept_octets = TRAFFIC_HEADER_OCTETS, .header = n->header};
	return r;
}

const struct ease_record *
full_network_sample(struct full_network *n, uint64_t time_us)
{
	unsigned port = (unsigned)(draw(n) % N_PORTS);
	uint64_t a = draw(n) % FLOWS, b = draw(n) % FLOWS;
	struct flow f = n->ports[port].flows[a * b / FLOWS];

	f.src_port = (uint16_t)(f.src_port + draw(n) % 16); /* connections come and go */
	return sample_of(n, port, &f, time_us);
}

const struct ease_record *
full_network_flood(struct full_network *n, uint64_t time_us)
{
	const struct flow f = {.src = (uint32_t)draw(n), .dst = 0x0a01cc03, /* FULL_FLOOD_VICTIM */
	    .src_port = (uint16_t)draw(n), .dst_port = 53, .ip_proto = 17, .octets = FLOOD_OCTETS};
	unsigned port = (FULL_FLOOD_AGENT - 1) * FULL_PORTS + FULL_FLOOD_PORT - 1;
	const struct ease_record *r = sample_of(n, port, &f, time_us);

	memset(n->header + 8, 1, 4); /* all through one router */
	return r;
}

const struct ease_record *
full_network_counters(struct full_network *n, unsigned port, uint64_t time_us)
{
	struct ease_record *r = begin(n, EASE_PART_SNAPSHOT, port, time_us);
	const struct full_port *p = &n->ports[port];

	r->snapshot = (struct ease_snapshot){.if_index = 1 + port % FULL_PORTS, .time_us = time_us,
	    .in = {.octets = p->octets, .ucast_pkts = p->pkts}, .out = {.octets = p->octets / 2, .ucast_pkts = p->pkts / 2},
	    .samples = p->sequence, .last_sequence = p->sequence, .pool_in_pkts = p->pkts};
	return r;
}

const struct ease_record *
full_network_state(struct full_network *n, unsigned port, uint64_t time_us)
{
	struct ease_record *r = begin(n, EASE_PART_STATE, port, time_us);

	r->state = (struct ease_state){.if_index = 1 + port % FULL_PORTS, .time_us = time_us,
	    .speed_bps = 1000000000, .duplex = EASE_DUPLEX_FULL, .admin_status = EASE_IF_UP,
	    .oper_status = EASE_IF_UP, .edge = true};
	snprintf(r->state.name, sizeof(r->state.name), "ge-%u", 1 + port % FULL_PORTS);
	return r;
}
