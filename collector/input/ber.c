#include "collector/input/ber.h"
#include "common/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum {
	LONG_TAG = 0x1f,      /* X.690 8.1.2.4; SNMP has no such tags */
	LENGTH_LONG = 0x80,   /* X.690 8.1.3.5 */
	LENGTH_OCTETS_MAX = 4,
	IPADDRESS_OCTETS = 4,
};

/* Reads a length; -EBADMSG for the indefinite form and for what is longer than any message. */
static int64_t
ber_length(struct rbuf *r)
{
	uint8_t first = rbuf_u8(r);
	size_t octets = first & ~LENGTH_LONG;

	if (!(first & LENGTH_LONG))
		return first;
	if (octets == 0 || octets > LENGTH_OCTETS_MAX)
		return -EBADMSG;
	return (int64_t)rbuf_be(r, octets);
}

int
ber_next(struct rbuf *r, uint8_t *tag, struct rbuf *content)
{
	int64_t n;

	*tag = rbuf_u8(r);
	if ((*tag & LONG_TAG) == LONG_TAG)
		return -EBADMSG;
	n = ber_length(r);
	if (n < 0 || r->failed)
		return -EBADMSG;
	*content = rbuf_sub(r, (size_t)n);
	return content->failed ? -EBADMSG : 0;
}

int
ber_expect(struct rbuf *r, uint8_t tag, struct rbuf *content)
{
	uint8_t found;
	int e = ber_next(r, &found, content);

	return e == 0 && found != tag ? -EBADMSG : e;
}

/* X.690 8.3.2: the first nine bits are not all alike. */
static bool
is_minimal(struct rbuf content)
{
	const uint8_t *o = content.data;

	if (content.size < 2)
		return content.size == 1;
	return !(o[0] == 0x00 && !(o[1] & 0x80)) && !(o[0] == 0xff && o[1] & 0x80);
}

int
ber_integer(struct rbuf content, int32_t *value)
{
	size_t n = content.size;
	uint32_t v;

	if (!is_minimal(content) || n > sizeof(*value))
		return -EBADMSG;
	v = (uint32_t)rbuf_be(&content, n);
	if (n < sizeof(*value) && content.data[0] & 0x80)
		v |= UINT32_MAX << 8 * n;
	*value = (int32_t)v;
	return 0;
}

/* Reads a value that is never negative, of at most so many octets, and a zero before a first bit
 * that is set. */
static int
unsigned_value(struct rbuf content, size_t octets, uint64_t *value)
{
	if (!is_minimal(content) || content.data[0] & 0x80 || content.size > octets + 1 ||
	    (content.size == octets + 1 && content.data[0] != 0))
		return -EBADMSG;
	*value = rbuf_be(&content, content.size);
	return 0;
}

int
ber_unsigned32(struct rbuf content, uint32_t *value)
{
	uint64_t v;

	if (unsigned_value(content, sizeof(*value), &v) < 0)
		return -EBADMSG;
	*value = (uint32_t)v;
	return 0;
}

int
ber_unsigned64(struct rbuf content, uint64_t *value)
{
	return unsigned_value(content, sizeof(*value), value);
}

/* Base 128, most significant group first (X.690 8.19.2). */
int
ber_arc(struct rbuf *r, uint32_t *value)
{
	uint8_t octet = rbuf_u8(r);
	uint64_t v;

	if (octet == 0x80) /* a leading zero group */
		return -EBADMSG;
	v = octet & 0x7f;
	while (octet & 0x80) {
		octet = rbuf_u8(r);
		if (r->failed)
			return -EBADMSG;
		v = v << 7 | (octet & 0x7f);
		if (v > UINT32_MAX)
			return -EBADMSG;
	}
	*value = (uint32_t)v;
	return r->failed ? -EBADMSG : 0;
}

int
ber_oid(struct rbuf content, struct ber_oid *oid)
{
	uint32_t first;
	size_t n = 2;

	if (ber_arc(&content, &first) < 0)
		return -EBADMSG;
	/* X.690 8.19.4: first arc times 40 plus second, where the first is 0, 1 or 2. The sum must
	 * have 32 bits, as each arc, and as in Net-SNMP; no real arc below 2 is near that. */
	oid->arcs[0] = first < 80 ? first / 40 : 2;
	oid->arcs[1] = first - 40 * oid->arcs[0];
	while (rbuf_left(&content) > 0)
		if (n == BER_OID_MAX || ber_arc(&content, &oid->arcs[n++]) < 0)
			return -EBADMSG;
	oid->n = n;
	return 0;
}

void
ber_oid_format(const struct ber_oid *oid, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < oid->n; i++)
		text_add(text, size, "%s%" PRIu32, i ? "." : "", oid->arcs[i]);
}

bool
ber_is_object_value(uint8_t tag, struct rbuf content)
{
	struct ber_oid oid;
	uint32_t u32;
	uint64_t u64;
	int32_t i32;

	switch (tag) {
	case BER_INTEGER:
		return ber_integer(content, &i32) == 0;
	case BER_OCTET_STRING:
	case BER_OPAQUE:
		return true;
	case BER_NULL:
		return content.size == 0;
	case BER_OID:
		return ber_oid(content, &oid) == 0;
	case BER_IPADDRESS:
		return content.size == IPADDRESS_OCTETS;
	case BER_COUNTER32:
	case BER_UNSIGNED32:
	case BER_TIMETICKS:
		return ber_unsigned32(content, &u32) == 0;
	case BER_COUNTER64:
		return ber_unsigned64(content, &u64) == 0;
	}
	return false;
}
