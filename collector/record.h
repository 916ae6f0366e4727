/*
 * The record: what the input gives to everything behind it. A record is one decoded part of a
 * notification, with the agent that sent it. The records of one notification are delivered together
 * and in order, or not at all. Nothing here depends on the transport: SNMP, sFlow and a replayed
 * capture give the same records.
 */
#ifndef EASE_COLLECTOR_RECORD_H
#define EASE_COLLECTOR_RECORD_H

#include "common/ease_oid.h"
#include "common/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EASE_DISCARD_TEXT = 48 }; /* octets of a text that tells of a discarded packet, with its NUL */

/* A packet that a device discarded and told of, which stands for itself alone. Or how many it did not tell of. */
struct ease_discard {
	/* if_index: the port where it came in, else where it was to leave, else that of its data source
	 * (source_port.h); time_us, input_if, output_if and the frame's members. mean_skip 0: not_sent and lost
	 * are all that it says. */
	struct ease_sample frame;
	uint32_t reason;   /* sFlow's number */
	uint32_t not_sent; /* of this port, or of the whole data source if that is no port, since the event before: discarded
			      packets that the device did not tell of, */
	int32_t lost;	   /* and events lost on the way; -1: one counted as lost before has come */
	/* The hardware trap or the kernel's reason, the function that discarded it, and the trap's group; "" none.
	 * Borrowed, EASE_DISCARD_TEXT octets at most, cleaned as names are. */
	const char *detail, *place, *group;
};

/* What an agent stated that cannot be, or that is done otherwise than the standard has it; stored as these numbers
 * (oddity.kind). report/oddities.c says what is done. */
enum ease_oddity {
	EASE_ODD_RATE = 1,	 /* a rate of 0, beyond 2^23, or another one in one sample that the pool refutes */
	EASE_ODD_POOL,		 /* the pool went back or leapt */
	EASE_ODD_POOL_DENIED,	 /* the pool counts otherwise than the port does */
	EASE_ODD_POOL_SHARED,	 /* one pool for several sources */
	EASE_ODD_NUMBERS,	 /* numbers go back, come again, or leap where no datagram is missing */
	EASE_ODD_DROPS,		 /* drops go back or leap */
	EASE_ODD_UPTIME,	 /* an uptime that cannot be since the one before */
	EASE_ODD_DATAGRAMS,	 /* numbers of datagrams that the uptime refutes */
	EASE_ODD_LENGTH,	 /* a frame length that the IP header refutes; its own is used if no frame has the stated one */
	EASE_ODD_HEADER,	 /* a header that is too short, or of a protocol that is not read: the length counts */
	EASE_ODD_RECORD,	 /* a record or sample of another length than its format */
	EASE_ODD_SOURCE,	 /* a data source whose numbers the sample does not have, but its input's */
	EASE_ODD_SUB_AGENTS,	 /* several sub-agents sample the port */
	EASE_ODD_COUNTERS_TWICE, /* counters of the port come from two sources */
	EASE_ODD_COUNTERS,	 /* counters that frames, speed or time refute */
	EASE_ODD_OCTETS_32,	 /* octets wrap at 32 bits in a field of 64 */
	EASE_ODD_SPEED,		 /* a speed that no interface has */
	/* what makes a sample refused: */
	EASE_ODD_NO_RATE,	 /* nothing says how many frames it stands for */
	EASE_ODD_NO_LENGTH,	 /* a frame length that no frame has, and no IP header with another one */
	EASE_ODD_NO_HEADER,	 /* no record says anything of the frame */
	EASE_N_ODDITIES,
};

/* Verdicts on samplers (report/verdicts.h) have numbers of the same table: this one and up, by the bits of enum
 * audit_fault. store/tables.c has it, too. */
enum { EASE_ODD_VERDICTS = 64 };

static inline bool
ease_oddity_refuses(enum ease_oddity kind)
{
	return kind >= EASE_ODD_NO_RATE;
}

/* In words that follow "states": static storage. */
static inline const char *
ease_oddity_text(enum ease_oddity kind)
{
	static const char *const texts[EASE_N_ODDITIES] = {
		[EASE_ODD_RATE] = "a rate of 0, beyond 2^23, or that the pool refutes",
		[EASE_ODD_POOL] = "a pool that goes back or leaps",
		[EASE_ODD_POOL_DENIED] = "a pool that the port's counters refute",
		[EASE_ODD_POOL_SHARED] = "one pool for several ports",
		[EASE_ODD_NUMBERS] = "sample numbers that go back, repeat or leap",
		[EASE_ODD_DROPS] = "drops that go back or leap",
		[EASE_ODD_UPTIME] = "an uptime that cannot be",
		[EASE_ODD_DATAGRAMS] = "datagram numbers that go back",
		[EASE_ODD_LENGTH] = "frame lengths that the IP header refutes",
		[EASE_ODD_HEADER] = "a header that is too short, or of a protocol not read",
		[EASE_ODD_RECORD] = "a record shorter than its format",
		[EASE_ODD_SOURCE] = "a data source that its samples' numbers refute",
		[EASE_ODD_SUB_AGENTS] = "a port that several sub-agents sample",
		[EASE_ODD_COUNTERS_TWICE] = "counters of a port from two sources",
		[EASE_ODD_COUNTERS] = "counters that frames or time refute",
		[EASE_ODD_OCTETS_32] = "octets that wrap at 32 bits",
		[EASE_ODD_SPEED] = "a speed that no interface has",
		[EASE_ODD_NO_RATE] = "samples of rate 0, and nothing else tells it",
		[EASE_ODD_NO_LENGTH] = "samples of a length that no frame has",
		[EASE_ODD_NO_HEADER] = "samples without a readable header",
	};

	return texts[kind];
}

/* How often such a thing was found in one datagram. */
struct ease_odd {
	uint64_t if_index;
	uint64_t time_us;
	enum ease_oddity kind;
	uint32_t n;
};

struct ease_record {
	enum ease_part kind; /* which member of the union below is set */
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint32_t boot;
	bool loose_numbers;   /* sFlow: numbers may start anywhere or continue across a boot, and
				 snapshots do not say which were given out */
	uint8_t polled; /* sFlow: enum polled_parts, where the collector has asked for it; 0: the agent sent it */
	uint64_t source_port; /* sFlow: the port whose numbers a sample has (source_port.h); 0: its own */
	uint32_t dropped, dropped_apart; /* sFlow, of a sample: samples that the agent dropped since the one before,
					    whose numbers are missing, and beside its numbers */
	const char *sender;   /* address as text, without port; borrowed for the call. Of sFlow the
				 agent's own address */
	const char *source;   /* as whom the sender is known (window/agent_identity.h); NULL: as
				 sender. Borrowed */
	uint64_t received_us; /* collector's wall clock, since 1970 */
	union {
		struct ease_sample sample; /* header is borrowed for the call */
		struct {
			struct ease_snapshot snapshot;
			/* sFlow, received and sent: where counters began anew, what samples since those before stand for */
			struct ease_uncounted {
				uint64_t pkts, octets;
			} uncounted[2];
		};
		struct ease_state state;
		struct ease_address address;
		struct ease_resources resources;
		struct ease_error_source error_source;
		struct ease_discard discard;
		struct ease_odd odd;
	};
};

/* Behind the text of an alarm whose port's samples are no random choice. */
#define EASE_ALARM_ACCUSED "; audit: its samples are not sound"

/* Kinds of standard notifications, which are events without records. Numbers up to 999 are those of
 * EASE-SAMPLING-MIB's own notifications (enum ease_notification_kind). */
enum ease_event_kind {
	EASE_EVENT_LINK_DOWN = 1003, /* IF-MIB, RFC 2863: 1000 + its arc below snmpTraps */
	EASE_EVENT_LINK_UP = 1004,
	EASE_EVENT_RISING_ALARM = 2001, /* RMON-MIB, RFC 2819: 2000 + its arc below rmonEventsV2 */
	EASE_EVENT_FALLING_ALARM = 2002,
	EASE_EVENT_PARTS_CHANGED = 3001, /* ENTITY-MIB, RFC 6933: 3000 + entConfigChange's arc */
	/* the collector's own: */
	EASE_EVENT_BOOT_OUT_OF_ORDER = 4001, /* window/accounting_identity.c */
	EASE_EVENT_CLOCK_WRONG = 4002,	     /* window/accounting_clock.c */
	EASE_EVENT_CLOCK_RIGHT = 4003,
	EASE_EVENT_ALARM = 4004, /* alarm/alarms.h */
	EASE_EVENT_ALARM_OVER = 4005,
	EASE_EVENT_ALARM_STANDS = 4006, /* each day that it does */
	EASE_EVENT_PRECISION = 4007, /* precision/steering.h */
	EASE_EVENT_LINK_DISAGREES = 4008, /* report/links.h */
};

/*
 * A notification that is an event. A sender of linkDown or risingAlarm states no easeAgentId. The
 * accounting therefore assigns the event to the EASE agent of that address. If there is none or
 * more than one, the event gets an agent of its own with the identity source_id, which is made of
 * the engine ID (SNMPv3) or the address (common/made_id.h).
 */
struct ease_event {
	uint32_t kind;
	bool has_agent_id; /* and boot: a notification of EASE-SAMPLING-MIB */
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint8_t source_id[EASE_AGENT_ID_LEN];
	uint32_t boot;
	uint64_t if_index;    /* 0: not stated */
	uint64_t identity;    /* a hash by which a repetition is recognized; 0: none */
	char text[EASE_EVENT_TEXT]; /* what changed: "easePortMeanSkip from 400 to 100"; "": nothing */
	const char *sender, *source; /* as in struct ease_record */
	uint64_t received_us; /* also the event's time: such a notification has only an uptime */
};

/* Receives the records of one notification; must not keep them and must not block. */
typedef void ease_record_sink(void *arg, const struct ease_record *records, size_t n);

#endif
