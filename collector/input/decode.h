/*
 * Decodes an SNMPv2c datagram with a notification of EASE-SAMPLING-MIB into records. It uses no
 * socket and no clock, allocates nothing and keeps no state between calls, so any thread may call
 * it.
 *
 * A notification with one bad part gives no record at all, and the verdict says why. Variable
 * bindings of other MIBs, and columns of ours that are newer than this program, are stepped over
 * and counted (RFC 3416 section 4.2.6 lets a sender add some).
 *
 * What it accepts, Net-SNMP's library reads in the same way. What it refuses as DECODE_BAD_CODING
 * goes to that library on the slow path. netsnmp_reader.h lists the exceptions, and
 * tests/collector/input/readings.h compares both.
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
	DECODE_BAD_PARSE,     /* not an SNMP message, or not a notification by RFC 3416 */
	DECODE_BAD_CODING,    /* of a known community, but not the strict BER of ber.h */
	DECODE_V3,	      /* an SNMPv3 message, which is not decoded here */
	DECODE_INFORM,	      /* an InformRequest: good so far, and needs a Response */
	DECODE_EVENT,	      /* a notification that is an event (event.h) */
	DECODE_BAD_VERSION,   /* neither SNMPv2c nor SNMPv3 */
	DECODE_BAD_COMMUNITY,
	DECODE_BAD_PDU,	      /* neither SNMPv2-Trap nor InformRequest */
	DECODE_FOREIGN,	      /* another notification, which the collector does not store */
	DECODE_BAD_VALUE,     /* agent id, boot or a part breaks the MIB */
	DECODE_BAD_PARTS,     /* parts missing, or of another kind of notification */
	DECODE_TOO_MANY,      /* more than DECODE_RECORDS_MAX parts */
	DECODE_N_VERDICTS,
};

/* What a verdict means, in static storage. */
const char *decode_verdict_text(enum decode_verdict verdict);

struct decode_origin {
	const char *sender; /* address text, borrowed by the records */
	const char *source; /* of the records, struct ease_record; borrowed by them */
	const char *listener; /* address and port that it was sent to; NULL if not known */
	uint64_t received_us;
};

struct decode_result {
	enum ease_notification_kind kind;
	struct ease_record records[DECODE_RECORDS_MAX]; /* they borrow from the datagram */
	size_t n;
	size_t n_ignored; /* variable bindings stepped over */
	uint32_t event;	  /* DECODE_EVENT: its number in the store */
	uint32_t uptime_cs; /* DECODE_EVENT: sysUpTime, hundredths of a second */
	struct ber_oid foreign; /* DECODE_FOREIGN: its snmpTrapOID */
};

/* Decodes n octets if their community is one of communities. *result is complete if the verdict is
 * DECODE_OK; with other verdicts only the members named after them are set. */
enum decode_verdict decode_notification(const void *octets, size_t n,
    const char *const *communities, size_t n_communities, const struct decode_origin *origin,
    struct decode_result *result);

/* The two steps of decode_notification, for the slow path. decode_open returns DECODE_OK for an
 * SNMPv2c trap of a known community and DECODE_INFORM for an inform; *m is then open.
 * decode_varbinds decodes the rest of an open message of any version. After DECODE_EVENT the
 * variable bindings after snmpTrapOID can still be read. */
enum decode_verdict decode_open(const void *octets, size_t n, const char *const *communities,
    size_t n_communities, struct v2c_message *m);
enum decode_verdict decode_varbinds(struct v2c_message *m, const struct decode_origin *origin,
    struct decode_result *result);

/* Decodes one part's value into *r and sets if_index and sequence from its name. 0, or a negative
 * value, and then *r must not be used. */
int decode_part(const struct trap_part *part, struct ease_record *r);

#endif
