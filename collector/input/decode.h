/*
 * One SNMPv2c datagram in, records out: which notification of EASE-SAMPLING-MIB it is, who says
 * it, and its parts. Pure: no socket, no clock, no allocation, no state between calls, so that it
 * can be called from any thread, fuzzed, and replaced by something faster.
 *
 * All or nothing: a notification with one bad part gives no record at all, and the verdict says
 * why. Variable bindings that are not ours, and columns of ours that are newer than this program,
 * are stepped over and counted (RFC 3416 4.2.6 lets a sender add some).
 *
 * What it takes, Net-SNMP's library reads the same; what it refuses as DECODE_BAD_CODING goes to
 * the library by the slow way. library.h states the claim and its exceptions, tests/collector/input/readings.h
 * holds both against each other.
 */
#ifndef EASE_COLLECTOR_INPUT_DECODE_H
#define EASE_COLLECTOR_INPUT_DECODE_H

#include "collector/input/v2c.h"
#include "collector/record.h"
#include "common/trap_wire.h"

#include <stddef.h>
#include <stdint.h>

enum {
	/* The smallest part takes 41 octets, so that a message of TRAP_WIRE_MESSAGE_MAX has 199. */
	DECODE_RECORDS_MAX = 256,
};

enum decode_verdict {
	DECODE_OK,
	DECODE_BAD_PARSE,     /* no message, or not a notification as RFC 3416 has it */
	DECODE_BAD_CODING,    /* of a known community, and not BER as ber.h has it */
	DECODE_V3,	      /* an SNMPv3 message: not looked into here */
	DECODE_INFORM,	      /* an InformRequest: good so far, and wants an answer */
	DECODE_EVENT,	      /* a notification that is an event (event.h) */
	DECODE_BAD_VERSION,   /* SNMPv1 or a version that there is not */
	DECODE_BAD_COMMUNITY,
	DECODE_BAD_PDU,	      /* not an SNMPv2-Trap */
	DECODE_FOREIGN,	      /* a notification of another MIB */
	DECODE_BAD_VALUE,     /* agent, boot or a part that does not hold what the MIB says */
	DECODE_BAD_PARTS,     /* parts that this kind of notification does not have, or none */
	DECODE_TOO_MANY,      /* more than DECODE_RECORDS_MAX parts */
	DECODE_N_VERDICTS,
};

struct decode_origin {
	const char *sender; /* address text, borrowed by the records */
	uint64_t received_us;
};

struct decode_result {
	enum ease_notification_kind kind;
	struct ease_record records[DECODE_RECORDS_MAX]; /* borrow from the datagram */
	size_t n;
	size_t n_ignored; /* variable bindings stepped over */
	uint32_t event;	  /* DECODE_EVENT: its number in the store */
};

/* Decodes n octets if their community is one of communities (borrowed, compared octet by octet).
 * *result is whole if DECODE_OK, else not to be used. */
enum decode_verdict decode_notification(const void *octets, size_t n,
    const char *const *communities, size_t n_communities, const struct decode_origin *origin,
    struct decode_result *result);

/* The two halves of it, for messages that come another way. decode_open: DECODE_OK if it is a
 * SNMPv2c trap of a known community, DECODE_INFORM if an inform; *m is then open. decode_varbinds:
 * the rest of an open message of any version; after DECODE_EVENT the variable bindings behind
 * snmpTrapOID are still to be read. */
enum decode_verdict decode_open(const void *octets, size_t n, const char *const *communities,
    size_t n_communities, struct v2c_message *m);
enum decode_verdict decode_varbinds(struct v2c_message *m, const struct decode_origin *origin,
    struct decode_result *result);

/* One part's value into kind and union of *r, if_index and sequence from its name. 0, or -1 or
 * -EBADMSG and *r is not to be used. */
int decode_part(const struct trap_part *part, struct ease_record *r);

#endif
