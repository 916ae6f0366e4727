/*
 * What the collector must remember of sFlow agents: of each sub-agent its start and the numbers of its datagrams; of
 * each data source the line of its sample numbers, its rate and pool, and its 32-bit counters (a source that is no
 * interface is a port, too: collector/source_port.h). It tells what in a datagram cannot be (sflow_plausible.h) and
 * extends counters to 64 bits. Tables have a fixed size; who makes room when they are full says common/lru_table.h, an
 * owner being a sender. To whatever comes back then the collector is one that restarted. No I/O.
 *
 * An sFlow agent has no easeAgentId, so its id is made of its address (common/made_id.h); where that is none that one
 * device alone has, of its sender's, too. Its sub-agents are one agent: an ifIndex is the device's. It has no boot number either: its
 * boot is the second (since 1970) at which it started, which is the arrival of a datagram less its uptime. So a
 * collector that restarts finds the same boot again (see sflow_meet). A boot lasts for a minute at least, and one
 * sub-agent of several that starts anew begins none.
 *
 * A sample's number is ours: the agent's own at first, and one more for each sample after that; more where samples
 * were lost. So whatever agents do with their numbers, nothing counts as lost that was not, and nothing twice.
 */
#ifndef EASE_COLLECTOR_INPUT_SFLOW_STATE_H
#define EASE_COLLECTOR_INPUT_SFLOW_STATE_H

#include "collector/input/ipfix.h"
#include "collector/input/sflow_plausible.h"
#include "collector/polled.h"
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

/* By what a device is told from others. All octets are set. */
struct sflow_device {
	uint32_t type; /* enum sflow_address_type */
	uint8_t address[SFLOW_ADDRESS_MAX];
	char sender[ENDPOINT_TEXT]; /* "": its address is its own */
	uint8_t zeros[12]; /* to a multiple of 16, for hash_octets() */
};

struct sflow_peer {
	struct sflow_device device;
	uint8_t id[EASE_AGENT_ID_LEN]; /* of the device (common/made_id.h) */
	uint32_t sub_agent;
	uint8_t slot; /* among those of its agent; 0: the first */
	char address[FRAME_IP_TEXT]; /* the agent's own; the sender's, if that makes the id */
	char source[ENDPOINT_TEXT];  /* the sender accepted last; "": none, or it is to be judged anew */
	bool met; /* a datagram of it was received */
	uint32_t boot;
	uint32_t generation; /* its restarts so far; a port of an older one restarts, too */
	uint32_t sequence, uptime_ms; /* of the newest datagram, */
	uint64_t heard_us;	      /* and when it came */
	uint64_t came;		      /* bit i: the datagram i before the newest has come */
	uint64_t missing;	      /* datagrams that did not come before a later one, so far */
	uint32_t other, n_others;     /* numbers of datagrams behind the newest that go on in a row */
	uint8_t uptimes_odd;	      /* refuted in a row */
	uint32_t odd_logged;	      /* bit per enum ease_oddity: the log has it of this one */
	uint32_t most_samples;	      /* in a datagram */
	uint64_t met_us;
	uint64_t restarted_us; /* when its present boot began; 0: before it was met */
	bool samples_received, samples_sent; /* it has sampled frames that surely came in, that surely left */
	uint64_t pool_if_index;
	uint32_t pool, n_pools_on; /* of the newest sample; how often one went on from another source's, lately */
	struct drops_shared drops;
	struct ipfix_domain ipfix; /* of a sub-agent that is an observation domain */
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
	uint64_t if_index;
	uint32_t peer_number;
	uint32_t next; /* in its bucket: index + 1, 0 at the end */
	struct lru_link link;
	uint32_t generation;
	/* flow samples, or events of discarded packets, which have a port of their own (sflow_take_discard) */
	bool has_flow;
	bool samples_in, samples_out; /* it has sampled frames that surely came in here, that surely left here */
	bool is_further; /* another sub-agent samples this interface as well, and came first */
	uint32_t flow_boot; /* the agent's, at the newest sample */
	uint32_t odd; /* bits of oddities that were found and not told yet */
	struct number_line line;
	uint64_t pool_pkts; /* the pool in 64 bits, since the port's first sample */
	struct ease_uncounted sampled[2], untold[2]; /* what samples stand for, in and out: since the newest counters; of that, before the device began anew */
	uint32_t n_sampled;
	uint32_t frames_short, frames_60, frames_64; /* samples below 60, of 60, of 64 octets */
	struct rate_check rate;
	struct length_check lengths;
	uint64_t came; /* bit i: the event i before the newest has come */
	uint32_t sequence, not_sent; /* of the newest event */
	/* counters */
	bool has_counters;
	bool counters_again; /* the agent restarted since, so the counters may have, too */
	bool was_zero; /* the newest ones were, and left out */
	bool is_shadowed; /* another source's counters of the same interface came first */
	bool began_anew; /* the newest ones did, and untold is what passed before them */
	bool is_octets_32; /* octets have wrapped at 32 bits */
	bool has_members;      /* it is a link aggregate: members name it */
	bool has_own_counters; /* some that name its ifIndex */
	bool counters_are_polled; /* the newest ones are, not sent by the agent */
	bool is_speed_denied;  /* more passed than the stated speed allows */
	uint32_t alias;	       /* counters of this other ifIndex, which no source has, are taken for its own; 0: none */
	uint32_t counters_sequence;
	uint64_t counters_us, speed_bps, stated_bps;
	uint64_t raw[SFLOW_N_TOTALS];
	uint64_t totals[SFLOW_N_TOTALS];
	uint64_t raw_octets[2], octets[2]; /* in and out, as the agent states them, and extended */
	uint64_t sent_pkts, waiting_pkts; /* pool of sent frames; frames that may belong to it */
	uint64_t discontinuity_us;
};

struct sflow_state;

/* seed makes the hash unpredictable, so that nobody can choose agents that collide. 0 or
 * -ENOMEM. */
int sflow_state_new(struct sflow_state **out, uint64_t seed);
void sflow_state_free(struct sflow_state *s);

/* Sets id, sub_agent and address. is_shared: several devices may state this address. */
void sflow_name_peer(struct sflow_peer *peer, const struct sflow_agent *agent, const char *sender, bool is_shared);

/* Whether the address is none that one device alone has: unspecified, a default of makers, or loopback, unless the
 * sender is this machine. */
bool sflow_address_is_shared(const struct sflow_agent *agent, const char *sender);

/* The wall clock, by which datagrams are stamped, was set forward by so much and shows now_us: what is remembered by it
 * is moved as well, so that intervals stay what they are by the monotonic clock. */
void sflow_clock_set(struct sflow_state *s, int64_t by_us, uint64_t now_us);

/* Has the sender of each agent judged anew. */
void sflow_forget_sources(struct sflow_state *s);

/* Returns the sub-agent, or NULL if it is not in the table. */
struct sflow_peer *sflow_find_peer(
    const struct sflow_state *s, const struct sflow_agent *agent, const char *sender, bool is_shared);

/* Adds a sub-agent that is not in the table, with the members of named; NULL if there is no place for another
 * one of this sender. */
struct sflow_peer *sflow_add_peer(struct sflow_state *s, const struct sflow_peer *named,
    const char *sender, uint64_t received_us);

/* Notes that a datagram of it was accepted. */
void sflow_hear_peer(struct sflow_state *s, const struct sflow_peer *peer, uint64_t received_us);

/* Finds the agent's port, or adds it; NULL if there is no place for another one of its sender. */
struct sflow_port *sflow_port_of(struct sflow_state *s, struct sflow_peer *peer,
    uint64_t if_index, uint64_t received_us);

/* Returns the port of another interface of the agent that the sample is of, by its number; NULL: it is the source's. */
struct sflow_port *sflow_port_by_number(struct sflow_state *s, struct sflow_peer *peer, const struct sflow_flow *f);

/* Tells of the port at a place, 0 up to SFLOW_MAX_PORTS - 1, by its agent's number. False: there is none, it is no
 * interface, none of its frames has been sampled, or its agent is silent or its sender to be judged anew. */
bool sflow_place(struct sflow_state *s, uint32_t place, uint64_t now_us, struct polled_place *p);

/* Returns the port of that place if it is the same one still, else NULL. */
struct sflow_port *sflow_port_at(struct sflow_state *s, uint32_t place, uint32_t number, uint32_t if_index);

/* Whether the agent has sent counters of the port lately. */
bool sflow_sends_counters(const struct sflow_port *p, uint64_t now_us);

/* How many agents and ports left to make room, so far. */
void sflow_count_left(const struct sflow_state *s, uint64_t *agents, uint64_t *ports);

struct sflow_arrival {
	struct number_context place;
	bool restarted;	  /* the sub-agent restarted */
	uint32_t missing; /* datagrams between this one and the newest before */
	uint32_t odd;	  /* bits of oddities */
};

/* Handles the first datagram of a peer. known_boot is its boot in the accounting, or 0; it is kept if another
 * sub-agent has it, or the agent's uptime shows that it has run since then (within a minute and the drift of clocks). */
struct sflow_arrival sflow_meet(struct sflow_state *s, struct sflow_peer *peer, const struct sflow_datagram *d,
    uint64_t received_us, uint32_t known_boot);

/* Handles each further datagram. */
struct sflow_arrival sflow_arrive(struct sflow_state *s, struct sflow_peer *peer, const struct sflow_datagram *d,
    uint64_t received_us);

/* The same of an IPFIX message, before its records are read: the first one of a domain, or a further one. Its sequence
 * counts records, and it has no uptime: a domain has begun anew where its number goes back and its clock does not. Then,
 * how many records it had. */
struct sflow_arrival sflow_arrive_ipfix(struct sflow_state *s, struct sflow_peer *peer, const struct ipfix_message *m,
    uint32_t known_boot);
void sflow_end_ipfix(struct sflow_peer *peer, const struct ipfix_message *m, bool newer);

/* Notes, before the first sample of a port, whether another sub-agent of the device samples that interface. */
void sflow_find_further(struct sflow_state *s, struct sflow_port *p);

/* Takes back the number that the newest sample got, as it cannot be used. */
void sflow_give_back(struct sflow_port *p);

/* Returns whether sflow_take_flow would begin a line of numbers, so that known_number is asked. */
bool sflow_begins_line(const struct sflow_port *p);

/* Notes a flow sample's number, drops, pool, rate and length. known_number: the highest of ours in this boot that the
 * accounting has; 0: none. is_used: false if nothing else of the sample can be read. */
void sflow_take_flow(struct sflow_port *p, const struct sflow_flow *f, const struct number_context *place,
    uint32_t known_number, bool is_used, struct number_step *step);

struct sflow_discard_step {
	bool is_new;	   /* else it has come before, or too late to tell */
	uint32_t not_sent; /* more packets than at the event before that were discarded and not told of */
	int32_t lost;	   /* events missing before it; -1: it was one of these */
};

/* Notes an event of a discarded packet: its number, and how many were not sent. */
struct sflow_discard_step sflow_take_discard(struct sflow_port *p, const struct sflow_flow *f, bool newer);

/* Which way the frame of a flow sample of an interface went through it (enum ease_direction), and notes it. It came in
 * where its input is the source, or neither interface is and the input is not known. What leaves where it came in
 * went the way that the source samples else, or its agent; if that is both, every second one of them each. So did what
 * has two other interfaces, as the aggregates of the source's port are. */
uint8_t sflow_direction(struct sflow_port *p, const struct sflow_flow *f);

/* True if this port's frame lengths leave out the FCS: its minimum frames have 60 octets. */
bool sflow_lacks_fcs(const struct sflow_port *p);

/* Notes a used sample's length and weight, against which octets are held. */
void sflow_note_sampled(struct sflow_port *p, uint8_t direction, uint32_t frame_octets, uint32_t weight);

enum sflow_counters_verdict { SFLOW_COUNTERS_TAKEN, SFLOW_COUNTERS_OLD, SFLOW_COUNTERS_SHADOWED, SFLOW_COUNTERS_REFUTED };

/* Returns the port that counters of an interface are of, which came in a sample of a data source: that of the interface
 * they name; but the source's, if it names always the same other one and never itself. *is_own: the source's. NULL: there
 * is no place for it. */
struct sflow_port *sflow_port_of_counters(struct sflow_state *s, struct sflow_peer *peer, uint32_t source_index,
    const struct sflow_if_counters *i, bool is_alone, uint64_t received_us, bool *is_own);

/* Notes that a port is a member of an aggregate (0, or its own ifIndex: of none). Returns whether lists have its frames
 * elsewhere: at the members of an aggregate that is not sampled itself, or at the aggregate, if that is sampled and not they. */
bool sflow_is_counted_elsewhere(struct sflow_state *s, const struct sflow_port *p, uint32_t aggregate);

/* Notes one interface's counters of a sample; those that are refuted begin anew. */
enum sflow_counters_verdict sflow_take_counters(struct sflow_state *s, struct sflow_port *p,
    const struct sflow_counters *c, const struct sflow_if_counters *i, const struct number_context *place,
    uint64_t received_us);

/* Fills in the port's totals after that, and what was not counted. Unknown counters are 0. */
void sflow_snapshot(const struct sflow_port *p, uint64_t time_us, struct ease_record *record);

#endif
