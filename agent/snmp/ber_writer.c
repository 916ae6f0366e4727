#include "agent/snmp/ber_writer.h"

#include <string.h>

uint8_t *
ber_reserve(struct ber_writer *w, size_t n)
{
	if (w->failed || n > w->at) {
		w->failed = true;
		return NULL;
	}
	w->at -= n;
	return w->data + w->at;
}

static void
put_u8(struct ber_writer *w, uint8_t octet)
{
	uint8_t *p = ber_reserve(w, 1);

	if (p)
		*p = octet;
}

void
ber_wrap(struct ber_writer *w, uint8_t tag, size_t end)
{
	size_t n = ber_octets(w) - end;
	uint8_t n_octets = 0;

	if (n < 128) {
		put_u8(w, (uint8_t)n);
	} else {
		for (; n > 0; n >>= 8, n_octets++)
			put_u8(w, (uint8_t)n);
		put_u8(w, 0x80 | n_octets);
	}
	put_u8(w, tag);
}

void
ber_put_octets(struct ber_writer *w, uint8_t tag, const void *octets, size_t n)
{
	size_t end = ber_octets(w);
	uint8_t *p = ber_reserve(w, n);

	if (p && n > 0)
		memcpy(p, octets, n);
	ber_wrap(w, tag, end);
}

/* Two's complement in the fewest octets: ends when the rest is only the sign of what was written. */
void
ber_put_integer(struct ber_writer *w, uint8_t tag, int64_t value)
{
	size_t end = ber_octets(w);
	int64_t rest = value;
	uint8_t octet;

	do {
		octet = (uint8_t)rest;
		put_u8(w, octet);
		rest >>= 8;
	} while (rest != (octet & 0x80 ? -1 : 0));
	ber_wrap(w, tag, end);
}

void
ber_put_unsigned(struct ber_writer *w, uint8_t tag, uint64_t value)
{
	size_t end = ber_octets(w);

	if (value <= INT64_MAX) {
		ber_put_integer(w, tag, (int64_t)value);
		return;
	}
	for (int i = 0; i < 8; i++)
		put_u8(w, (uint8_t)(value >> (8 * i)));
	put_u8(w, 0); /* the sign */
	ber_wrap(w, tag, end);
}

static void
put_arc(struct ber_writer *w, uint32_t arc)
{
	put_u8(w, arc & 0x7f);
	while ((arc >>= 7) > 0)
		put_u8(w, 0x80 | (arc & 0x7f));
}

void
ber_put_oid(struct ber_writer *w, const uint32_t *arcs, size_t n)
{
	size_t end = ber_octets(w);

	for (size_t i = n; i > 2; i--)
		put_arc(w, arcs[i - 1]);
	put_arc(w, arcs[0] * 40 + arcs[1]);
	ber_wrap(w, BER_TAG_OID, end);
}
