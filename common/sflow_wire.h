/*
 * Reads and writes sFlow version 5 datagrams, without any I/O: flow and counter samples, expanded
 * or not, and discarded-packet events (sFlow Version 5, sflow.org, July 2004, and its
 * discarded-packet extension). The encoding is XDR: big-endian words, opaque data padded to four
 * octets.
 *
 * Lengths rule, as section 5 of the standard demands: what is unknown or longer than its format is stepped over, and a
 * record that is shorter or odd is left out, alone, and named in the sample. Only a sample that ends within its own
 * fields, and a datagram that ends within a sample, cannot be read on.
 */
#ifndef EASE_COMMON_SFLOW_WIRE_H
#define EASE_COMMON_SFLOW_WIRE_H

#include "common/buf.h"
#include "common/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SFLOW_VERSION = 5,
	SFLOW_PORT = 6343,	       /* IANA */
	SFLOW_DATAGRAM_DEFAULT = 1400, /* the specification's sFlowRcvrMaximumDatagramSize */
	SFLOW_DATAGRAM_MAX = 9216,     /* jumbo frames */
	SFLOW_ADDRESS_MAX = 16,
	SFLOW_ETHERNET = 1,	       /* header_protocol */
	SFLOW_PPP = 7,
	SFLOW_IP4 = 11, SFLOW_IP6 = 12, SFLOW_MPLS = 13, /* the same: packets without a frame around them */
	SFLOW_SOURCE_IF = 0,	       /* class of a source that is an ifIndex */
	SFLOW_SOURCE_LOGICAL = 3,      /* class of one that is none */
	SFLOW_COMPACT_INDEX_MAX = 0xffffff,
	SFLOW_COMPACT_VALUE_MAX = 0x3fffffff,
	SFLOW_IF_LOCAL = 0x3fffffff,   /* value of format 0: the device itself */
};

/* The value of a counter that the agent does not have. */
#define SFLOW_UNKNOWN32 UINT32_MAX
#define SFLOW_UNKNOWN64 UINT64_MAX

enum sflow_verdict {
	SFLOW_OK,
	SFLOW_END, /* all samples were read */
	SFLOW_BAD_SAMPLE, /* a sample ends within its own fields; the next one can be read */
	/* the datagram is bad; nothing more can be read */
	SFLOW_BAD_VERSION,
	SFLOW_BAD_ADDRESS,
	SFLOW_BAD_SHORT,	 /* ends within its own fields */
	SFLOW_BAD_SAMPLE_LENGTH, /* ends within a sample, or before as many as it announces */
	SFLOW_N_VERDICTS,
};

/* What a verdict means, in static storage. */
const char *sflow_verdict_text(enum sflow_verdict verdict);

enum sflow_address_type { SFLOW_ADDRESS_UNKNOWN = 0, SFLOW_ADDRESS_IP4 = 1, SFLOW_ADDRESS_IP6 = 2 };

struct sflow_agent {
	uint32_t type; /* enum sflow_address_type: 0, 4 or 16 octets */
	uint8_t address[SFLOW_ADDRESS_MAX];
	uint32_t sub_agent;
};

struct sflow_source {
	uint32_t class; /* SFLOW_SOURCE_IF, 1 smonVlanDataSource, 2 entPhysicalEntry, 3 logical */
	uint32_t index;
};

enum sflow_if_format { SFLOW_IF_INDEX = 0, SFLOW_IF_DISCARDED = 1, SFLOW_IF_MANY = 2 };

struct sflow_if {
	uint32_t format; /* enum sflow_if_format; 3 is reserved */
	uint32_t value;	 /* ifIndex (0 unknown), reason, number of output interfaces (0 unknown) */
};

/* Text of a datagram, without NUL, borrowed from it; NULL: none. */
struct sflow_text {
	const char *octets;
	uint32_t n;
};

/* A flow sample, or a discarded-packet event. The latter has a reason instead of rate and pool; it
 * stands for one packet and must not be scaled. */
struct sflow_flow {
	bool expanded;
	bool is_record; /* of IPFIX: without a pool, so that the rate is as stated, and of a source that is no interface */
	bool is_sent;	/* read only, of such a one: sampled where the frame left, not where it came in */
	uint32_t sequence; /* of this source: +1 a sample */
	struct sflow_source source;
	uint32_t rate;	   /* configured: one in rate */
	uint32_t pool_pkts; /* packets that could have been sampled so far; wraps */
	uint32_t drops;	   /* samples lost for lack of resources so far */
	uint32_t reason;   /* of a discarded-packet event */
	struct sflow_if input, output;
	bool has_header;
	uint32_t header_protocol; /* SFLOW_ETHERNET, … */
	uint32_t frame_octets;	  /* on the wire, with FCS */
	uint32_t stripped_octets; /* of these, removed before the header was kept: FCS, tags */
	uint32_t kept_octets; /* as many as there are; may be more than frame_octets, which some agents state wrong */
	const uint8_t *header; /* borrowed from the datagram */
	bool has_switch;       /* extended_switch, 802.1Q and 802.1p of the frame */
	uint32_t src_vlan, src_priority, dst_vlan, dst_priority;
	struct ease_way way; /* egress queue, transit delay, queue depth; written only: timestamp */
	uint32_t src_as, dst_as; /* read only, extended_gateway: of the source, and the last of the path; 0: not known */
	uint32_t outer_tag; /* extended_vlantunnel: the outermost tag that was stripped, TPID and TCI; 0: none */
	/* Fields in place of a header, as they stand in the datagram, borrowed from it; NULL: none */
	const uint8_t *ethernet; /* sampled_ethernet: SFLOW_SAMPLED_ETHERNET octets, or where is_packed */
	bool is_packed;		 /* SFLOW_PACKED_ETHERNET: addresses without XDR's padding, as some agents have them */
	const uint8_t *ip4, *ip6; /* sampled_ipv4 and sampled_ipv6, SFLOW_SAMPLED_IP4 and _IP6 octets */
};
enum { SFLOW_SAMPLED_ETHERNET = 24, SFLOW_PACKED_ETHERNET = 20, SFLOW_SAMPLED_IP4 = 32, SFLOW_SAMPLED_IP6 = 56 };

/* if_counters, in the order of the wire. Packets are 32 bits and wrap. */
struct sflow_if_counters {
	uint32_t if_index, if_type;
	uint64_t speed_bps;
	uint32_t direction; /* 0 unknown, 1 full duplex, 2 half duplex, 3 in, 4 out */
	uint32_t status;    /* bit 0 administratively up, bit 1 operationally up */
	uint64_t in_octets;
	uint32_t in_ucast_pkts, in_mcast_pkts, in_bcast_pkts, in_discards, in_errors,
	    in_unknown_protos;
	uint64_t out_octets;
	uint32_t out_ucast_pkts, out_mcast_pkts, out_bcast_pkts, out_discards, out_errors;
	uint32_t promiscuous;
};
enum { SFLOW_STATUS_ADMIN_UP = 1, SFLOW_STATUS_OPER_UP = 2 };

/* ethernet_counters, in the order of the wire: dot3StatsTable. */
struct sflow_ethernet_counters {
	uint32_t alignment_errors, fcs_errors, single_collisions, multiple_collisions,
	    sqe_test_errors, deferred, late_collisions, excessive_collisions, mac_tx_errors,
	    carrier_sense_errors, frame_too_longs, mac_rx_errors, symbol_errors;
};

enum { SFLOW_OTHERS_MAX = 7 }; /* further ones are counted as not read */
struct sflow_counters {
	bool expanded;
	uint32_t sequence; /* of this source: begins again when a counter does */
	struct sflow_source source;
	bool has_interface, has_ethernet;
	struct sflow_if_counters interface; /* of the source's ifIndex; if none is, the first that came */
	uint32_t n_others; /* read only: counters of further interfaces in the same sample */
	struct sflow_if_counters others[SFLOW_OTHERS_MAX];
	struct sflow_ethernet_counters ethernet;
	uint32_t aggregate; /* LACP's dot3adAggPortAttachedAggID: ifIndex of its link aggregate; 0: none */
	struct sflow_text name; /* port_name */
	/* It came by no datagram: the switch was asked (collector/polled.h). Then also the upper halves of its counts of
	 * frames: in and out, each unicast, multicast, broadcast. */
	bool is_polled;
	uint32_t high[6];
};

/* What further records tell of a discarded packet. */
struct sflow_discard {
	struct sflow_text function;    /* extended_function: the function of the kernel that dropped it */
	struct sflow_text group, trap; /* extended_hw_trap */
	struct sflow_text cause;       /* extended_linux_drop_reason */
};

enum { SFLOW_TEXT_MAX = 64 }; /* of extended_function; the others may be as long here */
enum { SFLOW_UNREAD_MAX = 16 };

enum sflow_kind { SFLOW_FLOW, SFLOW_COUNTERS, SFLOW_DISCARD, SFLOW_OTHER };

struct sflow_sample {
	enum sflow_kind kind; /* SFLOW_OTHER: an unknown format, which was stepped over */
	struct sflow_flow flow;	       /* SFLOW_FLOW, SFLOW_DISCARD */
	struct sflow_counters counters; /* SFLOW_COUNTERS */
	struct sflow_discard discard;	/* SFLOW_DISCARD */
	/* Formats of records that are not read: all are counted, the first of them are here. */
	uint32_t n_unread;
	uint32_t unread[SFLOW_UNREAD_MAX];
	/* The same of records whose length is not that of their format: they are left out, or cut. */
	uint32_t n_spoiled;
	uint32_t spoiled[SFLOW_UNREAD_MAX];
	bool is_cut; /* it ends within a record, or before as many as it announces */
};

/* ---- reading ---- */

struct sflow_datagram {
	struct sflow_agent agent;
	uint32_t sequence; /* +1 a datagram of that sub-agent */
	uint32_t uptime_ms; /* wraps after 49.7 days */
	uint32_t n_samples; /* not yet read */
	struct rbuf samples;
};

/* Reads the datagram's own fields; octets are borrowed. SFLOW_OK or another verdict. */
enum sflow_verdict sflow_open(struct sflow_datagram *d, const void *octets, size_t n);

/* Reads the next sample: SFLOW_OK, SFLOW_END or another verdict. After SFLOW_BAD_SAMPLE the caller may go on. */
enum sflow_verdict sflow_next(struct sflow_datagram *d, struct sflow_sample *sample);

/* ---- writing ---- */

enum {
	SFLOW_FLOW_FIXED_OCTETS = 8 + 44 + 8 + 16, /* expanded, with a header record of no octets */
	SFLOW_SWITCH_OCTETS = 8 + 16,
	SFLOW_COUNTERS_OCTETS = 8 + 16 + 8 + 88 + 8 + 52 + 8 + 56, /* expanded, all records */
};

/* A datagram that is being written to memory of the caller. */
struct sflow_writer {
	struct wbuf out;
	uint32_t n_samples;
	size_t n_samples_at;
};

/* octets has room for limit octets: at least 40, the size of an empty datagram. */
void sflow_begin(struct sflow_writer *w, void *octets, size_t limit,
    const struct sflow_agent *agent, uint32_t sequence, uint32_t uptime_ms);

/* Adds a sample with its records (of counters those of the interface, of Ethernet, and LACP's of a member of an
 * aggregate), in the expanded form if its `expanded` is set. The compact
 * form is only for indices that fit it (below). 0, or -EMSGSIZE and the datagram is unchanged. */
int sflow_add_flow(struct sflow_writer *w, const struct sflow_flow *flow);
int sflow_add_counters(struct sflow_writer *w, const struct sflow_counters *counters);
/* The same for an event of a discarded packet. Of the flow it has sequence, source, drops, reason, input, output and
 * the header. Texts that are there become records; each takes up to SFLOW_TEXT_MAX octets of a longer text. */
int sflow_add_discard(struct sflow_writer *w, const struct sflow_flow *flow, const struct sflow_discard *discard);

/* True if the indices fit the compact form: 24 bits of source, 30 of interface. */
bool sflow_source_fits_compact(const struct sflow_source *source);
bool sflow_if_fits_compact(const struct sflow_if *interface);

/* Octets of the whole datagram so far, which is complete after each sample. */
static inline size_t
sflow_octets(const struct sflow_writer *w)
{
	return w->out.len;
}

#endif
