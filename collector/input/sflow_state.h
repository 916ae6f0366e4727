/*
 * What the collector must remember of sFlow agents: of each agent its start and the numbers of its
 * datagrams; of each port the state of its sample numbers, its pool and its 32-bit counters (a data source
 * that is no interface is a port, too: collector/source_port.h). It
 * detects restarts, measures the real sampling rate, and extends counters to 64 bits. Tables have a
 * fixed size; who makes room when they are full says common/lru_table.h, an owner being a sender. To whatever
 * comes back then the collector is one that restarted. No I/O.
 *
 * An sFlow agent has no easeAgentId, so its id is a hash of its address and sub-agent id. It has no
 * boot number either: its boot is the second (since 1970) at which it started, which is the arrival
 * of a datagram less its uptime, and one more when one of its sources restarts its numbers. So a
 * collector that restarts finds the same boot again (see sflow_meet). A boot lasts for a minute at
 * least: what restarts once more until then is refused, because each boot of a port is accounted for
 * by itself, and no real agent starts so often.
 */
#ifndef EASE_COLLECTOR_INPUT_SFLOW_STATE_H
#define EASE_COLLECTOR_INPUT_SFLOW_STATE_H

#include "common/endpoint.h"
#include "common/frame.h"
#include "common/lru_table.h"
#include "common/sample.h"
#include "common/sflow_wire.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	SFLOW_MAX_AGENTS = 1024, /* as many as the accounting takes */
	SFLOW_MAX_PORTS = 16384, /* the same; some 300 octets each */
};

struct sflow_peer {
	uint8_t id[EASE_AGENT_ID_LEN];
	char address[FRAME_IP_TEXT]; /* the agent's own; if it states none, the sender's */
	char source[ENDPOINT_TEXT];  /* the sender accepted last; "": none, or it is to be judged anew */
	bool met; /* a datagram of it was received */
	uint32_t boot;
	uint32_t generation; /* its restarts so far; a port of an older one restarts, too */
	uint32_t sequence, uptime_ms; /* of the newest datagram */
	uint64_t met_us;
	uint64_t restarted_us; /* when its present boot began; 0: before it was met */
	bool samples_received, samples_sent; /* it has sampled frames that surely came in, that surely left */
	uint32_t number; /* no other peer has it, also of those that left */
	uint32_t next; /* in its bucket: index + 1, 0 at the end */
	struct lru_link link;
};

enum sflow_total {
	SFLOW_IN_UCAST, SFLOW_IN_MCAST, SFLOW_IN_BCAST, SFLOW_IN_DISCARDS, SFLOW_IN_ERRORS,
	SFLOW_OUT_UCAST, SFLOW_OUT_MCAST, SFLOW_OUT_BCAST, SFLOW_OUT_DISCARDS, SFLOW_OUT_ERRORS,
	SFLOW_N_TOTALS,
};

struct sflow_port {
	struct sflow_peer *peer; /* it may have left: then its number is another one */
	uint32_t peer_number, if_index;
	uint32_t next; /* in its bucket: index + 1, 0 at the end */
	struct lru_link link;
	uint32_t generation;
	/* events of discarded packets; a source's have a port of their own (sflow_take_discard) */
	uint64_t came; /* bit i: the event i before the newest has come */
	/* flow samples, or such events */
	bool has_flow;
	bool samples_in, samples_out; /* it has sampled frames that surely came in here, that surely left here */
	uint32_t flow_boot; /* the agent's, at the newest sample */
	uint32_t sequence, pool;    /* of the newest sample */
	uint64_t pool_pkts;	    /* the pool in 64 bits, since the port's first sample */
	uint32_t made_up;	    /* rises of the pool in a row that were multiples of the rate */
	uint32_t rate;		    /* as the agent states it */
	uint64_t measured_pkts, measured_samples; /* since the stated rate changed */
	uint32_t frames_short, frames_60, frames_64; /* samples below 60, of 60, of 64 octets */
	/* counters */
	bool has_counters;
	bool counters_again; /* the agent restarted since, so the counters may have, too */
	uint32_t counters_sequence;
	uint32_t raw[SFLOW_N_TOTALS];
	uint64_t totals[SFLOW_N_TOTALS];
	uint64_t in_octets, out_octets;
	uint64_t sent_pkts, waiting_pkts; /* pool of sent frames; frames that may belong to it */
	uint64_t discontinuity_us;
};

struct sflow_state;

/* seed makes the hash unpredictable, so that nobody can choose agents that collide. 0 or
 * -ENOMEM. */
int sflow_state_new(struct sflow_state **out, uint64_t seed);
void sflow_state_free(struct sflow_state *s);

void sflow_agent_id(const struct sflow_agent *agent, const char *sender,
    uint8_t id[static EASE_AGENT_ID_LEN]);

/* Sets id and address. */
void sflow_name_peer(struct sflow_peer *peer, const struct sflow_agent *agent, const char *sender);

/* Has the sender of each agent judged anew. */
void sflow_forget_sources(struct sflow_state *s);

/* Returns the agent, or NULL if it is not in the table. */
struct sflow_peer *sflow_find_peer(const struct sflow_state *s, const struct sflow_agent *agent,
    const char *sender);

/* Adds an agent that is not in the table, with the members of named; NULL if there is no place for another
 * one of this sender. */
struct sflow_peer *sflow_add_peer(struct sflow_state *s, const struct sflow_peer *named,
    const char *sender, uint64_t received_us);

/* Notes that a datagram of it was accepted. */
void sflow_hear_peer(struct sflow_state *s, const struct sflow_peer *peer, uint64_t received_us);

/* Finds the agent's port, or adds it; NULL if there is no place for another one of its sender. */
struct sflow_port *sflow_port_of(struct sflow_state *s, struct sflow_peer *peer,
    uint32_t if_index, uint64_t received_us);

/* How many agents and ports left to make room, so far. */
void sflow_count_left(const struct sflow_state *s, uint64_t *agents, uint64_t *ports);

struct sflow_arrival {
	bool newer;	  /* than all datagrams before, so not one that was overtaken */
	bool restarted;	  /* the agent restarted */
	bool refused;	  /* it seems to have restarted again within a minute */
	uint32_t missing; /* datagrams between this one and the newest before */
};

/* Handles the first datagram of a peer. known_boot is its boot in the accounting, or 0; it is
 * kept if the agent's uptime shows that it has run since then (within a minute and the drift of
 * clocks). */
void sflow_meet(struct sflow_peer *peer, const struct sflow_datagram *d, uint64_t received_us,
    uint32_t known_boot);

/* Handles each further datagram. */
struct sflow_arrival sflow_arrive(struct sflow_peer *peer, const struct sflow_datagram *d,
    uint64_t received_us);

enum sflow_flow_verdict {
	SFLOW_FLOW_TAKEN,
	SFLOW_FLOW_RESTARTED, /* taken; the source restarted its numbers, which begins a new boot */
	SFLOW_FLOW_REFUSED,   /* not taken: it restarted again within a minute */
};

/* Notes a flow sample's number, pool, rate and length. newer: of its datagram. */
enum sflow_flow_verdict sflow_take_flow(
    struct sflow_port *p, const struct sflow_flow *f, bool newer, uint64_t received_us);

struct sflow_discard_step {
	bool is_new;	   /* else it has come before, or too late to tell */
	uint32_t not_sent; /* more packets than at the event before that were discarded and not told of */
	int32_t lost;	   /* events missing before it; -1: it was one of these */
};

/* Notes an event of a discarded packet: its number, and how many were not sent. */
struct sflow_discard_step sflow_take_discard(struct sflow_port *p, const struct sflow_flow *f, bool newer);

/* Which way the frame of a flow sample of an interface went through it (enum ease_direction), and notes it. It came in
 * where its input is the source, or neither interface is and the input is not known. What leaves where it came in
 * went the way that the source samples else, or its agent; if that is both, every second one of them each. */
uint8_t sflow_direction(struct sflow_port *p, const struct sflow_flow *f);

/* The number of frames that a sample stands for: the stated rate, or if pool and sample numbers
 * show clearly another one, that one; *differs is then set. */
uint32_t sflow_weight(const struct sflow_port *p, bool *differs);

/* False if the pool is no count of frames: Open vSwitch states the number of samples times the rate. */
bool sflow_pool_is_real(const struct sflow_port *p);

/* True if this port's frame lengths leave out the FCS: its minimum frames have 60 octets. */
bool sflow_lacks_fcs(const struct sflow_port *p);

/* Notes counters; false if they are older than the newest. */
bool sflow_take_counters(struct sflow_port *p, const struct sflow_counters *c, bool newer,
    uint64_t received_us);

/* Fills in the port's totals after that. Unknown counters are 0. */
void sflow_snapshot(const struct sflow_port *p, uint64_t time_us, struct ease_snapshot *snapshot);

#endif
