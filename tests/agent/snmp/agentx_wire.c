#include "tests/agent/snmp/agentx_wire.h"

#include <string.h>

/* Value types of section 5.4, by enum mib_syntax. */
static const uint16_t types[] = {
    [MIB_INTEGER] = 2,
    [MIB_STRING] = 4,
    [MIB_OBJECT_ID] = 6,
    [MIB_COUNTER32] = 65,
    [MIB_GAUGE32] = 66,
    [MIB_TIMETICKS] = 67,
    [MIB_COUNTER64] = 70,
};

/* ---- writing ---- */

static void
put(struct agentx_pdu *pdu, const void *octets, size_t n)
{
	n = n < AGENTX_PDU_MAX - pdu->n ? n : AGENTX_PDU_MAX - pdu->n;
	memcpy(pdu->octets + pdu->n, octets, n);
	pdu->n += n;
}

static void
put_u8(struct agentx_pdu *pdu, unsigned value)
{
	put(pdu, &(uint8_t){(uint8_t)value}, 1);
}

void
agentx_put_u16(struct agentx_pdu *pdu, uint16_t value)
{
	put_u8(pdu, pdu->big ? value >> 8 : value & 0xff);
	put_u8(pdu, pdu->big ? value & 0xff : value >> 8);
}

void
agentx_put_u32(struct agentx_pdu *pdu, uint32_t value)
{
	agentx_put_u16(pdu, (uint16_t)(pdu->big ? value >> 16 : value));
	agentx_put_u16(pdu, (uint16_t)(pdu->big ? value : value >> 16));
}

void
agentx_begin(struct agentx_pdu *pdu, const struct agentx_header *h)
{
	pdu->big = h->flags & AGENTX_BIG_ENDIAN;
	pdu->n = 0;
	put(pdu, (uint8_t[]){h->version, h->type, h->flags, 0}, 4);
	agentx_put_u32(pdu, h->session);
	agentx_put_u32(pdu, h->transaction);
	agentx_put_u32(pdu, h->packet);
	agentx_put_u32(pdu, h->payload_octets);
}

void
agentx_end(struct agentx_pdu *pdu)
{
	size_t n = pdu->n;

	pdu->n = AGENTX_HEADER_OCTETS - 4;
	agentx_put_u32(pdu, (uint32_t)(n - AGENTX_HEADER_OCTETS));
	pdu->n = n;
}

/* Section 5.1: 1.3.6.1.p is shortened to p. */
void
agentx_put_oid(struct agentx_pdu *pdu, const uint32_t *arcs, size_t n, bool include)
{
	static const uint32_t internet[] = {1, 3, 6, 1};
	bool prefix = n > 4 && memcmp(arcs, internet, sizeof(internet)) == 0 && arcs[4] > 0 &&
	    arcs[4] < 256;
	size_t first = prefix ? 5 : 0;

	put(pdu, (uint8_t[]){(uint8_t)(n - first), prefix ? (uint8_t)arcs[4] : 0, include, 0}, 4);
	for (size_t i = first; i < n; i++)
		agentx_put_u32(pdu, arcs[i]);
}

void
agentx_put_range(struct agentx_pdu *pdu, const uint32_t *start, size_t n, bool include,
    const uint32_t *end, size_t n_end)
{
	agentx_put_oid(pdu, start, n, include);
	agentx_put_oid(pdu, end, n_end, false);
}

static void
put_octets(struct agentx_pdu *pdu, const uint8_t *octets, size_t n)
{
	agentx_put_u32(pdu, (uint32_t)n);
	put(pdu, octets, n);
	while (pdu->n % 4 != 0 && pdu->n < AGENTX_PDU_MAX)
		put_u8(pdu, 0);
}

static void
put_u64(struct agentx_pdu *pdu, uint64_t value)
{
	agentx_put_u32(pdu, (uint32_t)(pdu->big ? value >> 32 : value));
	agentx_put_u32(pdu, (uint32_t)(pdu->big ? value : value >> 32));
}

void
agentx_put_varbind(struct agentx_pdu *pdu, const uint32_t *arcs, size_t n,
    const struct mib_value *value)
{
	agentx_put_u16(pdu, types[value->syntax]);
	agentx_put_u16(pdu, 0);
	agentx_put_oid(pdu, arcs, n, false);
	switch (value->syntax) {
	case MIB_STRING:
		put_octets(pdu, value->octets, value->len);
		break;
	case MIB_OBJECT_ID:
		agentx_put_oid(pdu, value->arcs, value->len, false);
		break;
	case MIB_COUNTER64:
		put_u64(pdu, value->number);
		break;
	case MIB_INTEGER:
		agentx_put_u32(pdu, (uint32_t)value->integer);
		break;
	default:
		agentx_put_u32(pdu, (uint32_t)value->number);
		break;
	}
}

/* ---- reading ---- */

static const uint8_t *
take(struct agentx_reader *r, size_t n)
{
	static const uint8_t zeros[8];
	const uint8_t *at = r->octets + r->at;

	if (r->failed || n > r->n - r->at) {
		r->failed = true;
		return zeros;
	}
	r->at += n;
	return at;
}

uint16_t
agentx_get_u16(struct agentx_reader *r)
{
	const uint8_t *o = take(r, 2);

	return (uint16_t)(r->big ? o[0] << 8 | o[1] : o[1] << 8 | o[0]);
}

uint32_t
agentx_get_u32(struct agentx_reader *r)
{
	uint32_t first = agentx_get_u16(r), second = agentx_get_u16(r);

	return r->big ? first << 16 | second : second << 16 | first;
}

static uint64_t
get_u64(struct agentx_reader *r)
{
	uint64_t first = agentx_get_u32(r), second = agentx_get_u32(r);

	return r->big ? first << 32 | second : second << 32 | first;
}

struct agentx_reader
agentx_read(const uint8_t *octets, size_t n, struct agentx_header *h)
{
	struct agentx_reader r = {.octets = octets, .n = n};
	const uint8_t *o = take(&r, 4);

	*h = (struct agentx_header){.version = o[0], .type = o[1], .flags = o[2]};
	r.big = h->flags & AGENTX_BIG_ENDIAN;
	h->session = agentx_get_u32(&r);
	h->transaction = agentx_get_u32(&r);
	h->packet = agentx_get_u32(&r);
	h->payload_octets = agentx_get_u32(&r);
	return r;
}

size_t
agentx_get_oid(struct agentx_reader *r, uint32_t arcs[MIB_OID_MAX])
{
	const uint8_t *o = take(r, 4);
	size_t n_more = o[0], n = 0;

	if (o[1]) {
		memcpy(arcs, (uint32_t[]){1, 3, 6, 1, o[1]}, 5 * sizeof(*arcs));
		n = 5;
	}
	if (n + n_more > MIB_OID_MAX)
		r->failed = true;
	for (size_t i = 0; i < n_more && !r->failed; i++)
		arcs[n++] = agentx_get_u32(r);
	return n;
}

static void
get_octets(struct agentx_reader *r, struct mib_value *value)
{
	size_t n = agentx_get_u32(r);
	const uint8_t *octets = take(r, (n + 3) / 4 * 4);

	if (!r->failed)
		mib_put_octets(value, octets, n);
}

static void
get_object_id(struct agentx_reader *r, struct mib_value *value)
{
	uint32_t arcs[MIB_OID_MAX];
	size_t n = agentx_get_oid(r, arcs);

	if (n > sizeof(value->arcs) / sizeof(value->arcs[0]))
		r->failed = true;
	else
		memcpy(value->arcs, arcs, n * sizeof(*arcs));
	value->len = n;
}

static bool
is_value(uint16_t type, enum mib_syntax *syntax)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		*syntax = (enum mib_syntax)i;
		if (types[i] == type)
			return true;
	}
	return false;
}

uint16_t
agentx_get_varbind(struct agentx_reader *r, uint32_t arcs[MIB_OID_MAX], size_t *n,
    struct mib_value *value)
{
	uint16_t type = agentx_get_u16(r);

	memset(value, 0, sizeof(*value));
	agentx_get_u16(r);
	*n = agentx_get_oid(r, arcs);
	if (!is_value(type, &value->syntax)) /* exceptions and Null have no value */
		return type;
	if (value->syntax == MIB_STRING)
		get_octets(r, value);
	else if (value->syntax == MIB_OBJECT_ID)
		get_object_id(r, value);
	else if (value->syntax == MIB_COUNTER64)
		value->number = get_u64(r);
	else
		value->number = agentx_get_u32(r);
	value->integer = (int32_t)value->number;
	return type;
}
