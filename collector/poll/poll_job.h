/*
 * What the collector and the process that asks for it (poll_process.h) say to each other: a question of one switch,
 * and its answer, each one message of fixed size on a socket between the two. No pointers, so nothing is shared.
 */
#ifndef EASE_COLLECTOR_POLL_POLL_JOB_H
#define EASE_COLLECTOR_POLL_POLL_JOB_H

#include "collector/polled.h"
#include "common/endpoint.h"

enum {
	POLL_COMMUNITY = 256, /* octets of each with its NUL */
	POLL_USER = 33,	      /* RFC 3414: SnmpAdminString (SIZE(1..32)) */
	POLL_PASSPHRASE = 256,
	POLL_PROTOCOL = 16,
	/* Ports of a question: what they answer fits 1,400 octets. */
	POLL_PORTS_MAX = 8,
	POLL_PORTS_NAMED = 8,
	POLL_PORTS_COUNTED = 3,
};

/* As whom a switch is asked: of SNMPv2c with a community, of SNMPv3 (authPriv) with a user. */
struct poll_credentials {
	char community[POLL_COMMUNITY]; /* "": SNMPv3 */
	char user[POLL_USER];
	char auth_protocol[POLL_PROTOCOL], priv_protocol[POLL_PROTOCOL]; /* as Net-SNMP calls them */
	char auth_passphrase[POLL_PASSPHRASE], priv_passphrase[POLL_PASSPHRASE];
};

struct poll_job {
	uint32_t id; /* its answer has the same */
	unsigned parts; /* one of enum polled_parts */
	uint16_t udp_port;
	uint32_t timeout_ms;
	char address[ENDPOINT_TEXT]; /* as text, without port */
	struct poll_credentials as;
	uint32_t n_ports, if_index[POLL_PORTS_MAX];
};

enum poll_verdict {
	POLL_ANSWERED,
	POLL_SILENT,	  /* nothing came in time */
	POLL_UNREACHABLE, /* the network said so, or the question could not be sent */
	POLL_REFUSED,	  /* an error in place of values, or a Report of SNMPv3 */
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
};

struct poll_answer {
	uint32_t id;
	enum poll_verdict verdict;
	uint64_t asked_us, answered_us; /* monotonic */
	uint32_t uptime_cs;
	char system_name[EASE_NAME_MAX + 1];
	struct poll_port ports[POLL_PORTS_MAX]; /* in the question's order */
};

#endif
