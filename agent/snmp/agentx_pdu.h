/*
 * What a master may send (RFC 2741 sections 5 and 6), checked before anybody else reads it: the
 * header of a PDU, and whether what its payload says of itself is true. Pure; knows no Net-SNMP.
 */
#ifndef EASE_AGENT_SNMP_AGENTX_PDU_H
#define EASE_AGENT_SNMP_AGENTX_PDU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum agentx_pdu_type { /* section 6.1 */
	AGENTX_PDU_OPEN = 1,
	AGENTX_PDU_CLOSE = 2,
	AGENTX_PDU_GET = 5,
	AGENTX_PDU_GET_NEXT = 6,
	AGENTX_PDU_GET_BULK = 7,
	AGENTX_PDU_TEST_SET = 8,
	AGENTX_PDU_COMMIT_SET = 9,
	AGENTX_PDU_UNDO_SET = 10,
	AGENTX_PDU_CLEANUP_SET = 11,
	AGENTX_PDU_NOTIFY = 12,
	AGENTX_PDU_RESPONSE = 18,
};

enum agentx_pdu_error { /* in a Response: section 6.2.16, and 5 of RFC 3416 */
	AGENTX_PDU_NO_ERROR = 0,
	AGENTX_PDU_GEN_ERR = 5,
	AGENTX_PDU_NOT_OPEN = 257,
	AGENTX_PDU_UNSUPPORTED_CONTEXT = 262,
	AGENTX_PDU_PARSE_ERROR = 266,
	AGENTX_PDU_PROCESSING_ERROR = 268,
};

enum {
	AGENTX_PDU_HEADER_OCTETS = 20,
	AGENTX_PDU_OCTETS_MAX = 65536, /* header and payload: Net-SNMP takes no longer ones apart */
	AGENTX_PDU_RESPONSE_OCTETS = AGENTX_PDU_HEADER_OCTETS + 8, /* one without varbinds */
};

struct agentx_pdu_header {
	uint8_t version, type, flags;
	bool big_endian;
	uint32_t session, transaction, packet, payload_octets;
};

/* octets: AGENTX_PDU_HEADER_OCTETS of them. False: version or payload_octets are none that a stream
 * can go on after. */
bool agentx_pdu_read_header(const uint8_t *octets, struct agentx_pdu_header *header);

/* Does a master ask something of a subagent by it? */
bool agentx_pdu_is_request(uint8_t type);

/* Of a request or a Response that is here as a whole. AGENTX_PDU_NO_ERROR: it is well formed, and
 * in the default context, the only one there is; else what a subagent answers. */
enum agentx_pdu_error agentx_pdu_check(const uint8_t *octets, const struct agentx_pdu_header *header);

/* Of a well formed Response. */
uint32_t agentx_pdu_response_uptime(const uint8_t *octets, const struct agentx_pdu_header *header);
uint16_t agentx_pdu_response_error(const uint8_t *octets, const struct agentx_pdu_header *header);

/* The Response to a request with this header, without varbinds. */
void agentx_pdu_put_response(uint8_t octets[AGENTX_PDU_RESPONSE_OCTETS],
    const struct agentx_pdu_header *request, uint32_t uptime_cs, uint16_t error);

#endif
