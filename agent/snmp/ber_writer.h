/*
 * Writes BER (X.690) as SNMP uses it (RFC 3417 section 8), from the end of a buffer to its front: when
 * a length is written, the contents it counts are known, so every length takes the fewest octets. What
 * is written first is last in the message. After a failure all further writes fail, as in struct wbuf.
 */
#ifndef EASE_AGENT_SNMP_BER_WRITER_H
#define EASE_AGENT_SNMP_BER_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ber_tag {
	BER_TAG_INTEGER = 0x02,
	BER_TAG_OCTETS = 0x04,
	BER_TAG_OID = 0x06,
	BER_TAG_SEQUENCE = 0x30,
	BER_TAG_UNSIGNED32 = 0x42, /* Gauge32 */
	BER_TAG_TIMETICKS = 0x43,
	BER_TAG_COUNTER64 = 0x46,
	BER_TAG_TRAP = 0xa7, /* SNMPv2-Trap-PDU */
};

struct ber_writer {
	uint8_t *data; /* borrowed */
	size_t size;
	size_t at; /* data[at..size) is written */
	bool failed;
};

static inline struct ber_writer
ber_writer_of(void *data, size_t size)
{
	return (struct ber_writer){.data = data, .size = size, .at = size};
}

static inline size_t
ber_octets(const struct ber_writer *w)
{
	return w->size - w->at;
}

/* Reserves n uninitialized octets in front; NULL, and failed is set, if there is no room. */
uint8_t *ber_reserve(struct ber_writer *w, size_t n);

/* Puts a header before all that was written since ber_octets returned `end`. */
void ber_wrap(struct ber_writer *w, uint8_t tag, size_t end);

void ber_put_octets(struct ber_writer *w, uint8_t tag, const void *octets, size_t n);
void ber_put_integer(struct ber_writer *w, uint8_t tag, int64_t value); /* any integer type */
void ber_put_unsigned(struct ber_writer *w, uint8_t tag, uint64_t value); /* Counter64 */
void ber_put_oid(struct ber_writer *w, const uint32_t *arcs, size_t n); /* n: at least 2 */

#endif
