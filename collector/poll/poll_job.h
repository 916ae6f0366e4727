/*
 * What the collector and the process that asks for it (poll_process.h) say to each other: a question of one switch,
 * and its answer, each one message of fixed size on a socket between the two. No pointers, so nothing is shared.
 */
#ifndef EASE_COLLECTOR_POLL_POLL_JOB_H
#define EASE_COLLECTOR_POLL_POLL_JOB_H

#include "collector/polled.h"
#include "common/endpoint.h"
#include "common/hash.h"

enum {
	POLL_COMMUNITY = 256, /* octets of each with its NUL */
	POLL_USER = 33,	      /* RFC 3414: SnmpAdminString (SIZE(1..32)) */
	POLL_PASSPHRASE = 256,
	POLL_PROTOCOL = 16,
	/* Ports of a question: what they answer fits 1,400 octets. */
	POLL_PORTS_MAX = 8,
	POLL_PORTS_NAMED = 8,
	POLL_PORTS_COUNTED = 3,
	POLL_NEIGHBOURS_MAX = 24, /* rows of LLDP's in an answer */
};

/* What a question is for beside enum polled_parts: rows of LLDP's remote systems behind a cursor, and what its local
 * ports (if_index has their numbers) call themselves. */
enum { POLL_NEIGHBOURS = 1u << 8, POLL_LOCAL_PORTS = 1u << 9 };

/* And of our own agents: who has the lease of skips, and rows of easePortTable; and a SET, the only one that there is: of
 * the lease, and of requests of ports (EASE-SAMPLING-MIB). */
enum { POLL_LEASE = 1u << 10, POLL_REQUEST = 1u << 11 };
enum { POLL_OWNER = 17 }; /* octets of easeRequestOwner with its NUL */

/* And of other makes' switches, SFLOW-MIB 1.3: who has their receivers; rows of samplers behind a cursor; and SETs of a
 * receiver and of samplers (struct poll_sflow). */
enum { POLL_SFLOW_RECEIVERS = 1u << 12, POLL_SFLOW_SAMPLERS = 1u << 13, POLL_SFLOW_SET = 1u << 14 };
enum {
	POLL_RECEIVERS_MAX = 8,
	POLL_SAMPLERS_MAX = 24, /* rows in an answer */
	POLL_SFLOW_CURSOR = 2,	/* ifIndex, instance */
	POLL_ADDRESS_OCTETS = 16,
};

/* A row's index in lldpRemTable: lldpRemTimeMark, lldpRemLocalPortNum, lldpRemIndex. */
enum { POLL_CURSOR = 3, POLL_CURSOR_PORT = 1 };

/* As whom a switch is asked: of SNMPv2c with a community, of SNMPv3 (authPriv) with a user. */
struct poll_credentials {
	char community[POLL_COMMUNITY]; /* "": SNMPv3 */
	char user[POLL_USER];
	char auth_protocol[POLL_PROTOCOL], priv_protocol[POLL_PROTOCOL]; /* as Net-SNMP calls them */
	char auth_passphrase[POLL_PASSPHRASE], priv_passphrase[POLL_PASSPHRASE];
};

struct poll_job {
	uint32_t id; /* its answer has the same */
	unsigned parts; /* one of enum polled_parts, or of the two above */
	uint16_t udp_port;
	uint32_t timeout_ms;
	char address[ENDPOINT_TEXT]; /* as text, without port */
	struct poll_credentials as;
	uint32_t n_ports, if_index[POLL_PORTS_MAX];
	uint32_t cursor[POLL_CURSOR]; /* POLL_NEIGHBOURS: of the row before; zeros: from the first on */
	struct poll_request { /* POLL_REQUEST */
		char owner[POLL_OWNER];
		uint32_t ttl_s, mean_skip[POLL_PORTS_MAX], max_samples_per_s[POLL_PORTS_MAX];
	} request;
	/* Of a POLL_SFLOW_SET: of the receiver its owner and time to live, where it is claimed (to_octets > 0), renewed
	 * (ttl_s > 0) or released; or, of n_ports samplers, what they are. */
	struct poll_sflow {
		uint32_t receiver;
		uint8_t to_octets, to[POLL_ADDRESS_OCTETS]; /* 4 or 16 */
		uint16_t to_port;
		bool begins[POLL_PORTS_MAX]; /* the sampler and the port's counters get this receiver; else its rate alone */
		uint32_t instance[POLL_PORTS_MAX];
	} sflow;
};

enum poll_verdict {
	POLL_ANSWERED,
	POLL_SILENT,	  /* nothing came in time */
	POLL_UNREACHABLE, /* the network said so, or the question could not be sent */
	POLL_REFUSED,	  /* an error in place of values, or a Report of SNMPv3 */
	POLL_TOO_BIG,	  /* its answer would be longer than its messages may be (RFC 3416: tooBig) */
	POLL_GARBAGE,	  /* not what was asked for */
	POLL_N_VERDICTS,
};

/* What one port answered. */
struct poll_port {
	bool has_name; /* it has a row of ifXTable or ifTable */
	bool has_counters; /* octets and unicast frames in 64 bits, of both directions */
	char name[EASE_NAME_MAX + 1], alias[EASE_NAME_MAX + 1], description[EASE_NAME_MAX + 1];
	uint32_t lag_parent, speed_mbps, speed_bps, admin_status, oper_status, discontinuity_cs;
	struct ease_side in, out; /* EASE_COUNT_UNKNOWN: it does not say */
	uint64_t local_id;	  /* POLL_LOCAL_PORTS: hash of lldpLocPortId; name has it as text */
	/* POLL_LEASE; 0: it has no such object */
	uint32_t mean_skip, skip_in_force, requested_skip, requests_held, skip_reason;
};

/* By LLDP: at a local port, which port of which system (poll_neighbour_id). */
struct poll_neighbour {
	uint32_t local_port;
	uint64_t remote;
};

/* Of the hashes of a chassis ID and a port ID, which together are one port's alone (802.1AB: MSAP identifier). Neither 0
 * nor 1. */
static inline uint64_t
poll_neighbour_id(uint64_t chassis, uint64_t port)
{
	return (chassis * UINT64_C(0x9e3779b97f4a7c15) + port) | 2;
}

/* Never 0. */
static inline uint64_t
poll_text_hash(const void *octets, size_t n)
{
	return hash_fnv(HASH_FNV, octets, n) | 1;
}

struct poll_answer {
	uint32_t id;
	enum poll_verdict verdict;
	uint64_t asked_us, answered_us; /* monotonic */
	uint32_t error_status; /* of POLL_REFUSED, RFC 3416; 0: a Report */
	uint32_t uptime_cs;
	char request_owner[EASE_NAME_MAX + 1]; /* POLL_LEASE */
	char system_name[EASE_NAME_MAX + 1];
	struct poll_port ports[POLL_PORTS_MAX]; /* in the question's order */
	uint64_t chassis;			 /* POLL_LOCAL_PORTS: hash of lldpLocChassisId; 0: it has none */
	uint32_t n_neighbours;
	bool has_more; /* rows behind the last one, whose index is */
	uint32_t cursor[POLL_CURSOR];
	struct poll_neighbour neighbours[POLL_NEIGHBOURS_MAX];
	/* POLL_SFLOW_RECEIVERS: of receiver 1, 2, … */
	struct poll_receiver {
		bool is_there;
		char owner[EASE_NAME_MAX + 1];
	} receivers[POLL_RECEIVERS_MAX];
	/* POLL_SFLOW_SAMPLERS */
	uint32_t n_samplers;
	struct poll_sampler {
		uint32_t if_index, instance, receiver, rate;
	} samplers[POLL_SAMPLERS_MAX];
};

#endif
