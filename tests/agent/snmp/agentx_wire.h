/*
 * AgentX PDUs (RFC 2741 section 5 and 6) as a master writes and reads them, written from the RFC
 * and independent of Net-SNMP: for tests of the subagent by a master that may be a bad one.
 */
#ifndef EASE_TESTS_AGENTX_WIRE_H
#define EASE_TESTS_AGENTX_WIRE_H

#include "agent/snmp/mib_table.h"

enum {
	AGENTX_OPEN = 1,
	AGENTX_CLOSE,
	AGENTX_REGISTER,
	AGENTX_UNREGISTER,
	AGENTX_GET,
	AGENTX_GET_NEXT,
	AGENTX_GET_BULK,
	AGENTX_TEST_SET,
	AGENTX_COMMIT_SET,
	AGENTX_UNDO_SET,
	AGENTX_CLEANUP_SET,
	AGENTX_NOTIFY,
	AGENTX_PING,
	AGENTX_RESPONSE = 18,
};
enum {
	AGENTX_NO_SUCH_OBJECT = 128,
	AGENTX_NO_SUCH_INSTANCE = 129,
	AGENTX_END_OF_MIB_VIEW = 130,
};
enum { AGENTX_HEADER_OCTETS = 20, AGENTX_BIG_ENDIAN = 0x10 };

struct agentx_header {
	uint8_t version, type, flags;
	uint32_t session, transaction, packet, payload_octets;
};

/* ---- writing: the header first, its length by agentx_end ---- */

enum { AGENTX_PDU_MAX = 1 << 18 }; /* 260 varbinds of the longest kind */
struct agentx_pdu {
	bool big; /* byte order, from the header's flags */
	size_t n;
	uint8_t octets[AGENTX_PDU_MAX];
};
void agentx_begin(struct agentx_pdu *pdu, const struct agentx_header *header);
void agentx_end(struct agentx_pdu *pdu);
void agentx_put_u16(struct agentx_pdu *pdu, uint16_t value);
void agentx_put_u32(struct agentx_pdu *pdu, uint32_t value);
void agentx_put_oid(struct agentx_pdu *pdu, const uint32_t *arcs, size_t n, bool include);
void agentx_put_range(struct agentx_pdu *pdu, const uint32_t *start, size_t n, bool include,
    const uint32_t *end, size_t n_end);
void agentx_put_varbind(struct agentx_pdu *pdu, const uint32_t *arcs, size_t n,
    const struct mib_value *value);

/* ---- reading: past the end is failed, and zeros ---- */

struct agentx_reader {
	const uint8_t *octets;
	size_t n, at;
	bool big, failed;
};
/* The payload of the PDU is left to be read. */
struct agentx_reader agentx_read(const uint8_t *octets, size_t n, struct agentx_header *header);
uint16_t agentx_get_u16(struct agentx_reader *r);
uint32_t agentx_get_u32(struct agentx_reader *r);
size_t agentx_get_oid(struct agentx_reader *r, uint32_t arcs[MIB_OID_MAX]);
/* The type as on the wire; value is filled for the types that tables have. */
uint16_t agentx_get_varbind(struct agentx_reader *r, uint32_t arcs[MIB_OID_MAX], size_t *n,
    struct mib_value *value);

#endif
