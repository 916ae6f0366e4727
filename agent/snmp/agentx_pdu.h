/*
 * Validates the PDUs that a master sends (RFC 2741 sections 5 and 6): reads the header, and checks that
 * the lengths and counts in the payload are consistent. Pure functions without Net-SNMP.
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
	AGENTX_PDU_OCTETS_MAX = 65536, /* header and payload: Net-SNMP parses no longer ones */
	AGENTX_PDU_RESPONSE_OCTETS = AGENTX_PDU_HEADER_OCTETS + 8, /* one without varbinds */
};

struct agentx_pdu_header {
	uint8_t version, type, flags;
	bool big_endian;
	uint32_t session, transaction, packet, payload_octets;
};

/* Reads AGENTX_PDU_HEADER_OCTETS octets. False if the version is unknown or the length impossible, so
 * that the next PDU of the stream cannot be found. */
bool agentx_pdu_read_header(const uint8_t *octets, struct agentx_pdu_header *header);

/* True if a master sends this type to a subagent as a request. */
bool agentx_pdu_is_request(uint8_t type);

/* Checks a complete request or Response. AGENTX_PDU_NO_ERROR: it is well formed and for the default
 * context, the only one we have; else the error that a subagent answers with. */
enum agentx_pdu_error agentx_pdu_check(const uint8_t *octets, const struct agentx_pdu_header *header);

/* Fields of a well-formed Response. */
uint32_t agentx_pdu_response_uptime(const uint8_t *octets, const struct agentx_pdu_header *header);
uint16_t agentx_pdu_response_error(const uint8_t *octets, const struct agentx_pdu_header *header);

/* Writes a Response without varbinds to a request with this header. */
void agentx_pdu_put_response(uint8_t octets[AGENTX_PDU_RESPONSE_OCTETS],
    const struct agentx_pdu_header *request, uint32_t uptime_cs, uint16_t error);

#endif
