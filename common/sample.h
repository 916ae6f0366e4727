/*
 * What a switch reports to the management station: samples, counter snapshots, port states and
 * address events, as plain structs in host byte order. Agent and collector share them; trap_wire.h
 * and sflow_wire.h define their form on the wire.
 *
 * A sample is identified by (agent id, boot, if_index, sequence). A sample that arrives twice
 * counts once; a number that never arrives is one lost sample.
 */
#ifndef EASE_COMMON_SAMPLE_H
#define EASE_COMMON_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

enum { EASE_AGENT_ID_LEN = 8 };

enum ease_direction {
	EASE_IN = 1,  /* received by the port from the wire */
	EASE_OUT = 2, /* sent out of the port */
};

/* input_if and output_if of a sample: ifIndex, or one of these. A notification has many as bit 31, as sFlow v5 has
 * it in its compact form. */
#define EASE_IF_UNKNOWN 0u
#define EASE_IF_LOCAL	0x3fffffffu /* the device itself */
#define EASE_IF_MANY	0x100000000u /* + number of output interfaces, 0 unknown */

enum {
	EASE_HEADER_MIN_OCTETS = 14,	  /* one Ethernet header */
	EASE_HEADER_MAX_OCTETS = 256,	  /* two samples still fit a 1,400-octet notification */
	EASE_HEADER_DEFAULT_OCTETS = 128, /* sFlow's default; TCP, IPv6 and two VLAN tags fit */
};

/* Mean skip: mean frames per sample, so the register value K is drawn with mean m - 1. */
#define EASE_MEAN_SKIP_MAX 8388608u /* of ports that sample by themselves: SONiC's largest rate */
#define EASE_DRAWN_MEAN_MAX 524288u /* of ports that take skips: uniform 0..2(m-1) must fit the chip's 20 bits */

/* What a switch chip may tell of a sampled frame's way through it. */
enum ease_way_known {
	EASE_WAY_QUEUE = 1u << 0,
	EASE_WAY_DEPTH = 1u << 1,
	EASE_WAY_DELAY = 1u << 2,
	EASE_WAY_TIME = 1u << 3,
};
struct ease_way {
	uint8_t known;	       /* enum ease_way_known */
	uint16_t queue;	       /* in which it waited at the output */
	uint64_t depth_octets; /* of that queue when it came */
	uint64_t delay_ns;     /* from input to output */
	uint64_t time_ns;      /* since 1970, UTC: time_us, finer */
};

#define EASE_WAY_MOST UINT32_MAX /* sFlow has no larger delay or depth */

struct ease_sample {
	uint64_t time_us;    /* since 1970, by the device's clock, when the frame was sampled */
	uint64_t if_index;   /* the port that was sampled; in a collector collector/source_port.h */
	uint32_t sequence;   /* of this port in this boot: 1, 2, 3, … */
	uint32_t input_if;   /* EASE_IF_… or ifIndex; never many */
	uint64_t output_if;
	uint8_t direction;   /* enum ease_direction, relative to if_index */
	bool is_outer_vlan; /* the tag was stripped from the frame, outside of the tags that are left */
	bool is_packet; /* header begins with an IP header: there was no frame around it, or it was not sent */
	uint16_t vlan; /* that the agent tells beside the header: that of an untagged frame; 0: none */
	uint16_t kept_octets;  /* octets at header */
	uint32_t skip; /* K, the drawn value: the period was K + 1 frames; if not known, stated mean - 1 */
	uint32_t mean_skip;  /* mean frames per sample when K was drawn: the sample's weight */
	uint64_t pool_pkts;  /* good frames of that port and direction so far, with this one */
	uint64_t drops;	     /* samples of this port that the agent lost so far */
	uint32_t delay_us;   /* from the sample to the counter snapshot sent with it */
	uint32_t frame_octets; /* on the wire: with padding and FCS, without preamble */
	union {
		struct { /* in a collector, which keeps many, of sFlow */
			uint32_t src_as, dst_as; /* AS numbers that a router states; 0: not known */
			/* Of the way through the switch, where it tells: EASE_WAY_MOST stands for that or more */
			uint32_t delay_ns, depth_octets;
			uint16_t queue;
			bool has_queue, has_depth, has_delay;
		};
		/* In an agent, borrowed; goes out by sFlow only; NULL: the chip told nothing */
		const struct ease_way *way;
	};
	const uint8_t *header; /* borrowed; first octet of the destination MAC */
};

/* A counter that the device does not have. Multicast and broadcast frames that it does not count
 * apart are in the unicast counter. */
#define EASE_COUNT_UNKNOWN UINT64_MAX

/* Counters of one direction, valid frames as RFC 3635 defines them for ifXTable. */
struct ease_side {
	uint64_t octets; /* with header and FCS, without preamble */
	uint64_t ucast_pkts;
	uint64_t mcast_pkts;
	uint64_t bcast_pkts;
	uint64_t discards;
	uint64_t errors;
};

struct ease_snapshot {
	uint64_t if_index;   /* as of a sample */
	uint64_t time_us; /* when the counters were read, by the device's clock */
	struct ease_side in, out;
	uint64_t discontinuity_us; /* by the device's clock; 0: none since the agent began */
	uint64_t samples;	   /* taken in this boot */
	uint32_t last_sequence;	   /* of the newest sample taken; 0: none yet */
	uint64_t pool_in_pkts, pool_out_pkts; /* good frames that could have been sampled */
	uint64_t drops;		   /* samples that the agent lost */
	uint64_t stalls;	   /* times the skip counter ran empty */
	uint64_t stalled_pkts;	   /* frames that passed while it was empty; part of the pools */
};

/* What only some devices count: the second layout of easeSnapshot. */
enum ease_resource {
	EASE_HAS_LOW_POWER = 1u << 0, /* in, out */
	EASE_HAS_BUFFERS = 1u << 1,   /* charged_buffers to ingress_drops */
	EASE_HAS_PAUSE = 1u << 2,     /* pauses_in, pauses_out */
};

/* Energy Efficient Ethernet in one direction. */
struct ease_low_power {
	uint64_t events;    /* times it went to sleep */
	uint64_t asleep_us; /* time asleep in all */
};

struct ease_resources {
	uint32_t if_index;
	uint64_t time_us; /* when the figures were read, by the device's clock */
	uint8_t known;	  /* enum ease_resource; figures that are not known are 0 */
	struct ease_low_power in, out;
	uint32_t charged_buffers;  /* buffers that now hold frames received on the port */
	uint64_t pressed_episodes; /* times back pressure on the port began */
	uint64_t pressed_us;	   /* time under back pressure in all */
	uint64_t ingress_drops;	   /* good frames received and lost for want of buffers */
	uint64_t pauses_in, pauses_out; /* PAUSE frames received and sent */
};

/* What was wrong with a received frame. */
enum ease_error_kind { EASE_ERROR_FCS = 1, EASE_ERROR_TOO_LONG = 2 };

/* The source address of bad frames that a port received. With a bad FCS the address may be
 * wrong. */
struct ease_error_source {
	uint32_t if_index;
	uint8_t mac[6];
	uint16_t kind; /* enum ease_error_kind */
	uint64_t first_us, time_us; /* of the first and the newest frame, by the device's clock */
	uint64_t count; /* frames since the agent first noticed the source */
};

enum { EASE_NAME_MAX = 64 }; /* ifName and ifAlias: 0..64 octets (RFC 2863) */

enum { EASE_EVENT_TEXT = 128 }; /* octets of what an event says beyond its kind, with the NUL */

/* A manager has set an object of easePortTable to another value. */
struct ease_change {
	uint32_t if_index;
	uint64_t time_us;		 /* by the device's clock */
	char object[EASE_NAME_MAX + 1];	 /* "easePortMeanSkip" */
	char before[EASE_NAME_MAX + 1];	 /* values as text: "400", "up" */
	char after[EASE_NAME_MAX + 1];
};

enum ease_duplex { EASE_DUPLEX_UNKNOWN = 1, EASE_DUPLEX_HALF = 2, EASE_DUPLEX_FULL = 3 };

/* Values of ifAdminStatus and ifOperStatus (RFC 2863); 0 is this project's "not known". */
enum ease_if_status {
	EASE_IF_STATUS_NOT_KNOWN = 0,
	EASE_IF_UP = 1,
	EASE_IF_DOWN = 2,
	EASE_IF_TESTING = 3,
	EASE_IF_STATUS_UNKNOWN = 4,
	EASE_IF_DORMANT = 5,
	EASE_IF_NOT_PRESENT = 6,
	EASE_IF_LOWER_LAYER_DOWN = 7,
};

/* Who forwards a port's frames. What a switch chip forwards by itself the kernel neither counts nor samples. */
enum ease_forwarding {
	EASE_FORWARDING_NOT_KNOWN = 0, /* the device does not tell */
	EASE_FORWARDING_SOFTWARE = 1,  /* the kernel sees all of them */
	EASE_FORWARDING_HARDWARE = 2,  /* a chip: the kernel sees those to and from the CPU */
	EASE_FORWARDING_MIXED = 3, /* a chip among its ports, the kernel between these and others of their bridge */
};

/* Who samples a port's frames. */
enum ease_sampled_by {
	EASE_SAMPLED_NOT_KNOWN = 0, /* the device does not tell */
	EASE_SAMPLED_BY_NOBODY = 1,
	EASE_SAMPLED_BY_KERNEL = 2,
	EASE_SAMPLED_BY_CHIP = 3,
};

struct ease_state {
	uint64_t if_index;   /* as of a sample */
	uint64_t time_us;
	char name[EASE_NAME_MAX + 1]; /* NUL-terminated; "" not known */
	char alias[EASE_NAME_MAX + 1];
	uint64_t speed_bps;  /* 0 not known */
	uint8_t duplex;	     /* enum ease_duplex */
	uint8_t admin_status;
	uint8_t oper_status;
	uint32_t lag_parent; /* ifIndex; 0 none */
	bool edge;	     /* reports over several ports count the samples of this port */
	uint8_t forwarding;  /* enum ease_forwarding */
	uint8_t sampled_by;  /* enum ease_sampled_by */
};

/* A packet that the device dropped. Unlike a sample it stands for itself alone. Texts are NUL-terminated, borrowed,
 * and "" where they are not known. */
struct ease_drop {
	uint32_t if_index; /* the port where it came in; 0: not known, or the device made it */
	uint64_t time_us;
	uint32_t reason; /* number of sFlow's discarded-packet events */
	const char *detail; /* the kernel's name of the reason, or a switch chip's trap */
	const char *place;  /* the kernel's function that dropped it */
	const char *group;  /* of the chip's trap */
	uint32_t frame_octets; /* on the wire: with padding and FCS */
	uint16_t kept_octets;
	const uint8_t *header; /* borrowed; first octet of the destination MAC */
};

struct ease_address {
	uint32_t if_index;
	uint64_t time_us;
	uint8_t mac[6];
	uint16_t vlan; /* 0: the device does not tell VLANs apart */
};

#endif
