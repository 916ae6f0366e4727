/*
 * Reads SNMP's Basic Encoding Rules strictly (RFC 3417 section 8, X.690 section 8): definite
 * lengths, primitive encoding, low tag numbers, minimal integers, complete object identifiers. The
 * long form of a length need not be minimal, as RFC 3417 allows. It reads values, not messages.
 */
#ifndef EASE_COLLECTOR_INPUT_BER_H
#define EASE_COLLECTOR_INPUT_BER_H

#include "common/buf.h"

enum ber_tag {
	BER_INTEGER = 0x02,
	BER_OCTET_STRING = 0x04,
	BER_NULL = 0x05,
	BER_OID = 0x06,
	BER_SEQUENCE = 0x30,
	BER_IPADDRESS = 0x40, /* RFC 2578 section 7.1 */
	BER_COUNTER32 = 0x41,
	BER_UNSIGNED32 = 0x42, /* also Gauge32 */
	BER_TIMETICKS = 0x43,
	BER_OPAQUE = 0x44,
	BER_COUNTER64 = 0x46,
	BER_SNMP_RESPONSE = 0xa2, /* RFC 3416 section 3 */
	BER_SNMP_INFORM = 0xa6,
	BER_SNMP_TRAP2 = 0xa7,
};

enum { BER_OID_MAX = 128 }; /* arcs, RFC 2578 section 3.5 */

struct ber_oid {
	uint32_t arcs[BER_OID_MAX];
	size_t n;
};

/* Reads the next value of any type: its tag, and a reader over its content. 0 or -EBADMSG. */
int ber_next(struct rbuf *r, uint8_t *tag, struct rbuf *content);

/* Reads the next value, which must have this tag. 0 or -EBADMSG. */
int ber_expect(struct rbuf *r, uint8_t tag, struct rbuf *content);

/* Each decodes the content of a value. 0, or -EBADMSG and the result is not set. */
int ber_integer(struct rbuf content, int32_t *value);
int ber_unsigned32(struct rbuf content, uint32_t *value);
int ber_unsigned64(struct rbuf content, uint64_t *value);
int ber_oid(struct rbuf content, struct ber_oid *oid);

/* Reads one arc of an object identifier, whose first two arcs are encoded as one. 0 or -EBADMSG. */
int ber_arc(struct rbuf *r, uint32_t *value);

/* True if the content is a valid value of a type that a notification may carry (RFC 3416
 * section 3: ObjectSyntax; the exceptions belong to responses only). */
bool ber_is_object_value(uint8_t tag, struct rbuf content);

/* Writes "1.3.6.1…", as much of it as fits. */
void ber_oid_format(const struct ber_oid *oid, char *text, size_t size);

#endif
