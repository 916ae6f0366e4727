#include "common/made_id.h"

#include "common/endpoint.h"

#include <assert.h>
#include <endian.h>
#include <openssl/sha.h>
#include <string.h>

void
made_id_hash(enum made_id_kind kind, const void *octets, size_t n, uint8_t id[static EASE_AGENT_ID_LEN])
{
	uint8_t digest[SHA256_DIGEST_LENGTH];

	assert(kind != MADE_ID_NONE);
	SHA256(octets, n, digest);
	id[0] = 0;
	id[1] = (uint8_t)kind;
	memcpy(id + 2, digest, EASE_AGENT_ID_LEN - 2);
}

void
made_id_of_sflow(const struct sflow_agent *agent, const char *sender, uint8_t id[static EASE_AGENT_ID_LEN])
{
	struct {
		uint32_t type; /* in network order, as the address */
		uint8_t address[SFLOW_ADDRESS_MAX];
		char sender[ENDPOINT_TEXT];
	} of = {.type = htobe32(agent->type)};
	size_t n = sender ? strnlen(sender, sizeof(of.sender)) : 0;

	if (agent->type != SFLOW_ADDRESS_UNKNOWN)
		memcpy(of.address, agent->address, sizeof(of.address));
	if (n > 0)
		memcpy(of.sender, sender, n);
	made_id_hash(MADE_ID_SFLOW, &of, offsetof(typeof(of), sender) + n, id);
}
