/*
 * What sFlow leaves to the collector to remember: of each agent its start, and which datagrams
 * came; of each port where its sample numbers, its pool and its 32-bit counters stood. Finds
 * restarts, measures the real rate, makes 64-bit totals. Pure arithmetic on tables of fixed size;
 * nobody known is dropped for a stranger.
 *
 * Identity: an sFlow agent has no easeAgentId, so its id is a hash of its address and sub-agent
 * id. It has no boot number either: its boot is the second, since 1970, at which it started
 * (arrival of a datagram less its uptime), and one more each time that one of its sources began
 * its numbers again. So a collector that starts anew finds the same boot again (see sflow_meet).
 */
#ifndef EASE_COLLECTOR_INPUT_SFLOW_STATE_H
#define EASE_COLLECTOR_INPUT_SFLOW_STATE_H

#include "common/frame.h"
#include "common/sample.h"
#include "common/sflow_wire.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	SFLOW_MAX_AGENTS = 1024, /* as many as the accounting takes */
	SFLOW_MAX_PORTS = 16384, /* as the accounting; some 300 octets each */
};

struct sflow_peer {
	uint8_t id[EASE_AGENT_ID_LEN];
	char address[FRAME_IP_TEXT]; /* the agent's own, or the sender's if it does not say */
	bool met;
	uint32_t boot;
	uint32_t generation; /* restarts seen: a port of another one begins again */
	uint32_t sequence, uptime_ms; /* of the newest datagram */
	uint64_t met_us;
	bool samples_sent; /* has shown samples of frames that it sent, not received */
};

enum sflow_total {
	SFLOW_IN_UCAST, SFLOW_IN_MCAST, SFLOW_IN_BCAST, SFLOW_IN_DISCARDS, SFLOW_IN_ERRORS,
	SFLOW_OUT_UCAST, SFLOW_OUT_MCAST, SFLOW_OUT_BCAST, SFLOW_OUT_DISCARDS, SFLOW_OUT_ERRORS,
	SFLOW_N_TOTALS,
};

struct sflow_port {
	struct sflow_peer *peer;
	uint32_t if_index;
	uint32_t generation;
	/* flow samples */
	bool has_flow;
	uint32_t sequence, pool;    /* of the newest sample */
	uint64_t pool_pkts;	    /* the same pool in 64 bits, since we met the port */
	uint32_t rate;		    /* as the agent says */
	uint64_t measured_pkts, measured_samples; /* between samples, since the rate changed */
	uint32_t frames_short, frames_60, frames_64; /* lengths below 60, of 60, of 64 */
	/* counters */
	bool has_counters;
	bool counters_again; /* the agent began again since: so may the counters have done */
	uint32_t counters_sequence;
	uint32_t raw[SFLOW_N_TOTALS];
	uint64_t totals[SFLOW_N_TOTALS];
	uint64_t in_octets, out_octets;
	uint64_t sent_pkts, waiting_pkts; /* pool of sent frames, and what may yet belong to it */
	uint64_t discontinuity_us;
};

struct sflow_state;

/* seed goes into the hash, so that nobody can choose agents that collide. 0 or -ENOMEM. */
int sflow_state_new(struct sflow_state **out, uint64_t seed);
void sflow_state_free(struct sflow_state *s);

void sflow_agent_id(const struct sflow_agent *agent, const char *sender,
    uint8_t id[static EASE_AGENT_ID_LEN]);

/* The agent of that id, made if need be (then not met); NULL at the limit. */
struct sflow_peer *sflow_peer_of(struct sflow_state *s, const struct sflow_agent *agent,
    const char *sender);
/* The agent's port, made if need be; NULL at the limit. */
struct sflow_port *sflow_port_of(struct sflow_state *s, struct sflow_peer *peer,
    uint32_t if_index);

struct sflow_arrival {
	bool newer;	  /* than all datagrams before: not one that was overtaken */
	bool restarted;	  /* the agent began again */
	uint32_t missing; /* datagrams between this and the newest before */
};

/* First datagram of a peer. known_boot: what the books say of it, or 0. It is kept if the agent's
 * uptime says that it still runs since then (within a minute and what clocks drift). */
void sflow_meet(struct sflow_peer *peer, const struct sflow_datagram *d, uint64_t received_us,
    uint32_t known_boot);

/* Each further datagram. */
struct sflow_arrival sflow_arrive(struct sflow_peer *peer, const struct sflow_datagram *d,
    uint64_t received_us);

/* Takes a flow sample's number, pool, rate and length. True if the source began its numbers again,
 * which is a boot of its own. newer: of its datagram. */
bool sflow_take_flow(struct sflow_port *p, const struct sflow_flow *f, bool newer);

/* Frames a sample stands for: what the agent says, or what pool and numbers show if they differ
 * clearly, which is set in *differs. */
uint32_t sflow_weight(const struct sflow_port *p, bool *differs);

/* True if this port's frame lengths are without the FCS: minimum frames have 60 octets. */
bool sflow_lacks_fcs(const struct sflow_port *p);

/* Takes counters; false if they are older than the newest. */
bool sflow_take_counters(struct sflow_port *p, const struct sflow_counters *c, bool newer,
    uint64_t received_us);

/* The port's totals after that. Unknown counters are 0. */
void sflow_snapshot(const struct sflow_port *p, uint64_t time_us, struct ease_snapshot *snapshot);

#endif
