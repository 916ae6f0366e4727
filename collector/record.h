/*
 * What the input gives to everything behind it: one part of a notification, decoded, with who said
 * it. Records of one notification come together and in its order, or not at all. Nothing here
 * knows how it travelled, so SNMP, sFlow and a replayed capture give the same records.
 */
#ifndef EASE_COLLECTOR_RECORD_H
#define EASE_COLLECTOR_RECORD_H

#include "common/ease_oid.h"
#include "common/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ease_record {
	enum ease_part kind; /* which member of the union below is set */
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint32_t boot;
	bool loose_numbers;   /* numbers go on over a boot or begin anywhere, and snapshots do not
				 say which were given out (sFlow) */
	const char *sender;   /* address text without port; borrowed, as long as the call lasts */
	uint64_t received_us; /* collector's wall clock, since 1970 */
	union {
		struct ease_sample sample; /* header is borrowed, as long as the call lasts */
		struct ease_snapshot snapshot;
		struct ease_state state;
		struct ease_address address;
		struct ease_resources resources;
		struct ease_error_source error_source;
	};
};

/* What is an event and no more. Numbers up to 999 are those of EASE-SAMPLING-MIB's own
 * notifications (enum ease_notification_kind and what later versions of the module add). */
enum ease_event_kind {
	EASE_EVENT_LINK_DOWN = 1003, /* IF-MIB, RFC 2863: 1000 + its arc below snmpTraps */
	EASE_EVENT_LINK_UP = 1004,
	EASE_EVENT_RISING_ALARM = 2001, /* RMON-MIB, RFC 2819: 2000 + its arc below rmonEventsV2 */
	EASE_EVENT_FALLING_ALARM = 2002,
	EASE_EVENT_PARTS_CHANGED = 3001, /* ENTITY-MIB, RFC 6933: 3000 + entConfigChange's arc */
};

/*
 * A notification that is an event. Who sends linkDown or risingAlarm states no easeAgentId, so
 * the books take it for the one EASE agent of that address, and if there is none or more than one,
 * for an agent of its own with the identity source_id: 0x0003 and 48 bits of a hash of the engine
 * ID (SNMPv3), 0x00040000 and the IPv4 address, or 0x0006 and 48 bits of a hash of the IPv6
 * address. EASE agents draw theirs at random, so the two do not meet.
 */
struct ease_event {
	uint32_t kind;
	bool has_agent_id; /* and boot: a notification of EASE-SAMPLING-MIB */
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint8_t source_id[EASE_AGENT_ID_LEN];
	uint32_t boot;
	uint32_t if_index;    /* 0: not told */
	uint64_t identity;    /* by which it is known when it comes again; 0: none */
	const char *sender;   /* as in struct ease_record */
	uint64_t received_us; /* the event's time, too: such a notification tells only an uptime */
};

/* Takes the records of one notification; must not keep them and must not wait. */
typedef void ease_record_sink(void *arg, const struct ease_record *records, size_t n);

#endif
