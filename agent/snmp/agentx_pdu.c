#include "agent/snmp/agentx_pdu.h"

#include "common/buf.h"

enum {
	VERSION = 1,
	FLAG_NON_DEFAULT_CONTEXT = 0x08,
	FLAG_NETWORK_BYTE_ORDER = 0x10,
	PAYLOAD_MAX = 1 << 24, /* a greater length is taken for damage */
	SUBIDS_MAX = 128,      /* RFC 2578 section 3.5 */
	PREFIX_SUBIDS = 5,     /* 1.3.6.1.prefix: section 5.1 */
};

enum { /* section 5.4 */
	TYPE_INTEGER = 2,
	TYPE_OCTETS = 4,
	TYPE_NULL = 5,
	TYPE_OBJECT_ID = 6,
	TYPE_IP_ADDRESS = 64,
	TYPE_COUNTER32 = 65,
	TYPE_GAUGE32 = 66,
	TYPE_TIME_TICKS = 67,
	TYPE_OPAQUE = 68,
	TYPE_COUNTER64 = 70,
	TYPE_NO_SUCH_OBJECT = 128,
	TYPE_NO_SUCH_INSTANCE = 129,
	TYPE_END_OF_MIB_VIEW = 130,
};

struct reader {
	struct rbuf r;
	bool big_endian;
};

static uint32_t
get_number(struct reader *in, size_t n)
{
	const uint8_t *octets = rbuf_take(&in->r, n);
	uint32_t value = 0;

	for (size_t i = 0; octets && i < n; i++)
		value |= (uint32_t)octets[in->big_endian ? n - 1 - i : i] << 8 * i;
	return value;
}

static struct reader
payload_of(const uint8_t *octets, const struct agentx_pdu_header *header)
{
	return (struct reader){rbuf_of(octets + AGENTX_PDU_HEADER_OCTETS, header->payload_octets),
	    header->big_endian};
}

bool
agentx_pdu_read_header(const uint8_t *octets, struct agentx_pdu_header *header)
{
	struct reader in = {.r = rbuf_of(octets, AGENTX_PDU_HEADER_OCTETS)};

	header->version = rbuf_u8(&in.r);
	header->type = rbuf_u8(&in.r);
	header->flags = rbuf_u8(&in.r);
	rbuf_u8(&in.r);
	header->big_endian = in.big_endian = header->flags & FLAG_NETWORK_BYTE_ORDER;
	header->session = get_number(&in, 4);
	header->transaction = get_number(&in, 4);
	header->packet = get_number(&in, 4);
	header->payload_octets = get_number(&in, 4);
	return header->version == VERSION && header->payload_octets <= PAYLOAD_MAX;
}

bool
agentx_pdu_is_request(uint8_t type)
{
	return type >= AGENTX_PDU_GET && type <= AGENTX_PDU_CLEANUP_SET;
}

/* ---- checking a payload ---- */

static void
skip_oid(struct reader *in)
{
	uint8_t n = rbuf_u8(&in->r), prefix = rbuf_u8(&in->r);

	rbuf_take(&in->r, 2); /* include, reserved */
	if (n + (prefix ? PREFIX_SUBIDS : 0) > SUBIDS_MAX)
		in->r.failed = true;
	rbuf_take(&in->r, 4 * (size_t)n);
}

/* Returns the string's length. Strings are padded to a multiple of four octets (section 5.3). */
static uint32_t
skip_octets(struct reader *in)
{
	uint32_t n = get_number(in, 4);

	rbuf_take(&in->r, ((size_t)n + 3) & ~(size_t)3);
	return n;
}

static void
skip_value(struct reader *in, uint32_t type)
{
	switch (type) {
	case TYPE_INTEGER: case TYPE_COUNTER32: case TYPE_GAUGE32: case TYPE_TIME_TICKS:
		rbuf_take(&in->r, 4);
		break;
	case TYPE_COUNTER64:
		rbuf_take(&in->r, 8);
		break;
	case TYPE_OCTETS: case TYPE_OPAQUE:
		skip_octets(in);
		break;
	case TYPE_IP_ADDRESS:
		if (skip_octets(in) != 4)
			in->r.failed = true;
		break;
	case TYPE_OBJECT_ID:
		skip_oid(in);
		break;
	case TYPE_NULL: case TYPE_NO_SUCH_OBJECT: case TYPE_NO_SUCH_INSTANCE:
	case TYPE_END_OF_MIB_VIEW:
		break;
	default:
		in->r.failed = true;
		break;
	}
}

static bool
holds_varbinds(struct reader *in)
{
	while (!in->r.failed && rbuf_left(&in->r) > 0) {
		uint32_t type = get_number(in, 2);

		get_number(in, 2); /* reserved */
		skip_oid(in);
		skip_value(in, type);
	}
	return !in->r.failed;
}

static bool
holds_ranges(struct reader *in)
{
	while (!in->r.failed && rbuf_left(&in->r) > 0) {
		skip_oid(in);
		skip_oid(in);
	}
	return !in->r.failed;
}

static bool
is_well_formed(struct reader *in, uint8_t type)
{
	switch (type) {
	case AGENTX_PDU_GET: case AGENTX_PDU_GET_NEXT:
		return holds_ranges(in);
	case AGENTX_PDU_GET_BULK:
		get_number(in, 4); /* non-repeaters and repetitions */
		return holds_ranges(in);
	case AGENTX_PDU_TEST_SET:
		return holds_varbinds(in);
	case AGENTX_PDU_RESPONSE:
		get_number(in, 4); /* sysUpTime */
		get_number(in, 4); /* error and index */
		return holds_varbinds(in);
	default:
		return rbuf_done(&in->r);
	}
}

enum agentx_pdu_error
agentx_pdu_check(const uint8_t *octets, const struct agentx_pdu_header *header)
{
	struct reader in = payload_of(octets, header);
	bool has_context = header->flags & FLAG_NON_DEFAULT_CONTEXT;

	if (header->payload_octets % 4 != 0)
		return AGENTX_PDU_PARSE_ERROR;
	if (has_context)
		skip_octets(&in);
	if (!is_well_formed(&in, header->type))
		return AGENTX_PDU_PARSE_ERROR;
	return has_context ? AGENTX_PDU_UNSUPPORTED_CONTEXT : AGENTX_PDU_NO_ERROR;
}

/* ---- Responses ---- */

uint32_t
agentx_pdu_response_uptime(const uint8_t *octets, const struct agentx_pdu_header *header)
{
	struct reader in = payload_of(octets, header);

	return get_number(&in, 4);
}

uint16_t
agentx_pdu_response_error(const uint8_t *octets, const struct agentx_pdu_header *header)
{
	struct reader in = payload_of(octets, header);

	get_number(&in, 4);
	return (uint16_t)get_number(&in, 2);
}

void
agentx_pdu_put_response(uint8_t octets[AGENTX_PDU_RESPONSE_OCTETS],
    const struct agentx_pdu_header *request, uint32_t uptime_cs, uint16_t error)
{
	struct wbuf out = wbuf_of(octets, AGENTX_PDU_RESPONSE_OCTETS);

	wbuf_u8(&out, VERSION);
	wbuf_u8(&out, AGENTX_PDU_RESPONSE);
	wbuf_u8(&out, FLAG_NETWORK_BYTE_ORDER);
	wbuf_u8(&out, 0);
	wbuf_be32(&out, request->session);
	wbuf_be32(&out, request->transaction);
	wbuf_be32(&out, request->packet);
	wbuf_be32(&out, 8);
	wbuf_be32(&out, uptime_cs);
	wbuf_be16(&out, error);
	wbuf_be16(&out, 0);
}
