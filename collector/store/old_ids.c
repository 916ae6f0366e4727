#include "collector/store/old_ids.h"

#include "common/endpoint.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/made_id.h"

#include <arpa/inet.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define ROOM "store"

static bool
was_of_sflow(const uint8_t *id, const struct sflow_agent *agent, const char *sender)
{
	static const uint32_t no_sub_agent;
	uint64_t h = hash_fnv(HASH_FNV, &agent->type, sizeof(agent->type));

	if (agent->type != SFLOW_ADDRESS_UNKNOWN)
		h = hash_fnv(h, agent->address, sizeof(agent->address));
	h = hash_fnv(h, sender, sender ? strlen(sender) : 0);
	h = hash_fnv(h, &no_sub_agent, sizeof(no_sub_agent));
	return memcmp(id, &h, EASE_AGENT_ID_LEN) == 0;
}

static bool
was_hash_of(const uint8_t *id, enum made_id_kind kind, const void *octets, size_t n)
{
	uint64_t hash = hash_fnv(HASH_FNV, octets, n);

	for (int i = 0; i < EASE_AGENT_ID_LEN - 2; i++)
		if (id[2 + i] != (uint8_t)(hash >> 8 * i))
			return false;
	return made_id_kind(id) == kind;
}

static bool
old_ids_take_sflow(uint8_t *id, const struct sflow_agent *agent, const char *sender)
{
	if (!was_of_sflow(id, agent, sender))
		return false;
	made_id_of_sflow(agent, sender, id);
	return true;
}

static bool
take_shared(uint8_t *id, const char *sender)
{
	static const struct sflow_agent usual[] = {{.type = SFLOW_ADDRESS_UNKNOWN},
	    {.type = SFLOW_ADDRESS_IP4}, {.type = SFLOW_ADDRESS_IP4, .address = {127, 0, 0, 1}},
	    {.type = SFLOW_ADDRESS_IP4, .address = {240, 127, 1, 1}}, {.type = SFLOW_ADDRESS_IP6},
	    {.type = SFLOW_ADDRESS_IP6, .address = {[SFLOW_ADDRESS_MAX - 1] = 1}}};
	struct sflow_agent juniper = {.type = SFLOW_ADDRESS_IP4, .address = {128}};

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (old_ids_take_sflow(id, &usual[i], sender))
			return true;
	for (int i = 0; i <= UINT8_MAX; i++) {
		juniper.address[3] = (uint8_t)i;
		if (old_ids_take_sflow(id, &juniper, sender))
			return true;
	}
	return false;
}

static bool
old_ids_take_engine(uint8_t *id, const char *source)
{
	uint8_t engine[64];
	size_t n = 0;
	unsigned octet;

	if (strncmp(source, "0x", 2) != 0)
		return false;
	for (source += 2; n < sizeof(engine) && sscanf(source, "%2x", &octet) == 1; source += 2)
		engine[n++] = (uint8_t)octet;
	if (*source || !was_hash_of(id, MADE_ID_ENGINE, engine, n))
		return false;
	made_id_hash(MADE_ID_ENGINE, engine, n, id);
	return true;
}

static bool
old_ids_take_address(uint8_t *id, const char *address)
{
	struct sflow_agent a = {.type = SFLOW_ADDRESS_IP4};

	if (inet_pton(AF_INET, address, a.address) != 1) {
		a.type = SFLOW_ADDRESS_IP6;
		if (inet_pton(AF_INET6, address, a.address) != 1)
			return false;
		if (was_hash_of(id, MADE_ID_IPV6, a.address, sizeof(a.address))) {
			made_id_hash(MADE_ID_IPV6, a.address, sizeof(a.address), id);
			return true;
		}
	}
	return old_ids_take_sflow(id, &a, NULL) || take_shared(id, address);
}

static void
tell_old_id(const uint8_t *old, const uint8_t *id, const char *address)
{
	char texts[2][2 * EASE_AGENT_ID_LEN + 1];

	for (int i = 0; i < EASE_AGENT_ID_LEN; i++) {
		snprintf(texts[0] + 2 * i, 3, "%02x", old[i]);
		snprintf(texts[1] + 2 * i, 3, "%02x", id[i]);
	}
	log_info(ROOM, "the agent at %s, of which the collector itself made the id, has the id %s from now on, no longer %s: "
	    "change it in the file device_names, if it stands there", address, texts[1], texts[0]);
}

static void
made_id_now(sqlite3_context *context, int n, sqlite3_value **values)
{
	const uint8_t *old = sqlite3_value_blob(values[0]);
	const char *address = (const char *)sqlite3_value_text(values[1]);
	const char *source = (const char *)sqlite3_value_text(values[2]);
	uint8_t id[EASE_AGENT_ID_LEN];

	(void)n;
	if (old && sqlite3_value_bytes(values[0]) == EASE_AGENT_ID_LEN) {
		memcpy(id, old, sizeof(id));
		if ((source && old_ids_take_engine(id, source)) || (address && old_ids_take_address(id, address))) {
			tell_old_id(old, id, address ? address : source);
			sqlite3_result_blob(context, id, sizeof(id), SQLITE_TRANSIENT);
			return;
		}
	}
	sqlite3_result_value(context, values[0]);
}

int
old_ids_define(sqlite3 *db)
{
	return sqlite3_create_function(db, "made_id_now", 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, made_id_now, NULL,
	    NULL);
}
