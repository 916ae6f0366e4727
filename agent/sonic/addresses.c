#include "agent/sonic/addresses.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256, OBJECTS_MAX = 65536 };

static size_t
spread_key(uint64_t key, size_t n_slots)
{
	key *= 0x9e3779b97f4a7c15ull;
	return (key ^ key >> 32) & (n_slots - 1);
}

/* ---- objects ---- */

void
sai_map_free(struct sai_map *map)
{
	free(map->slots);
	*map = (struct sai_map){0};
}

static struct sai_pair *
pair_at(const struct sai_map *map, uint64_t object)
{
	size_t i = spread_key(object, map->n_slots);

	while (map->slots[i].object != 0 && map->slots[i].object != object)
		i = (i + 1) & (map->n_slots - 1);
	return &map->slots[i];
}

static int
widen_map(struct sai_map *map)
{
	struct sai_map wider = {.n = map->n, .n_slots = map->n_slots ? 2 * map->n_slots : FIRST_SLOTS};

	if (2 * (map->n + 1) <= map->n_slots)
		return 0;
	if (map->n >= OBJECTS_MAX)
		return -ENOSPC;
	wider.slots = calloc(wider.n_slots, sizeof(*wider.slots));
	if (!wider.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->n_slots; i++)
		if (map->slots[i].object != 0)
			*pair_at(&wider, map->slots[i].object) = map->slots[i];
	free(map->slots);
	*map = wider;
	return 0;
}

int
sai_map_put(struct sai_map *map, uint64_t object, uint64_t value)
{
	struct sai_pair *pair;
	int rc = widen_map(map);

	if (rc < 0)
		return rc;
	pair = pair_at(map, object);
	if (pair->object == object && pair->value == value)
		return 0;
	map->n += pair->object == 0;
	*pair = (struct sai_pair){object, value};
	return 1;
}

uint64_t
sai_map_get(const struct sai_map *map, uint64_t object)
{
	return map->n_slots > 0 ? pair_at(map, object)->value : 0;
}

/* ---- addresses ---- */

void
addresses_free(struct sonic_addresses *t)
{
	free(t->slots);
	sai_map_free(&t->vlans);
	sai_map_free(&t->bridge_ports);
	*t = (struct sonic_addresses){0};
}

static size_t
addresses_home_of(const struct fdb_key *key, size_t n_slots)
{
	uint64_t mac = 0;

	memcpy(&mac, key->mac, sizeof(key->mac));
	return spread_key(mac ^ key->vlan << 20 ^ key->vlan >> 44, n_slots);
}

static bool
same_key(const struct fdb_key *a, const struct fdb_key *b)
{
	return a->by_object == b->by_object && a->vlan == b->vlan && memcmp(a->mac, b->mac, 6) == 0;
}

/* The slot of this address, or the free slot for it. */
static struct sonic_address *
addresses_slot_of(const struct sonic_addresses *t, const struct fdb_key *key)
{
	size_t i = addresses_home_of(key, t->n_slots);

	while (t->slots[i].bridge_port != 0 && !same_key(&t->slots[i].key, key))
		i = (i + 1) & (t->n_slots - 1);
	return &t->slots[i];
}

static int
addresses_make_room(struct sonic_addresses *t)
{
	struct sonic_addresses wider = *t;

	if (2 * (t->n + 1) <= t->n_slots)
		return 0;
	wider.n_slots = t->n_slots ? 2 * t->n_slots : FIRST_SLOTS;
	wider.slots = calloc(wider.n_slots, sizeof(*wider.slots));
	if (!wider.slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_slots; i++)
		if (t->slots[i].bridge_port != 0)
			*addresses_slot_of(&wider, &t->slots[i].key) = t->slots[i];
	free(t->slots);
	*t = wider;
	return 0;
}

int
addresses_put(struct sonic_addresses *t, const struct fdb_key *key, uint64_t bridge_port, uint8_t status)
{
	struct sonic_address *slot, before;
	int rc = addresses_make_room(t);

	if (rc < 0)
		return rc;
	slot = addresses_slot_of(t, key);
	before = *slot;
	if (before.bridge_port == 0 && t->n >= HAL_MAX_ADDRESSES)
		return -ENOSPC;
	*slot = (struct sonic_address){bridge_port, *key, status, t->pass};
	t->n += before.bridge_port == 0;
	t->changes += before.bridge_port != bridge_port || before.status != status;
	return before.bridge_port != bridge_port;
}

/* Fills the hole with a later entry of the same run, so that searches do not end too early. */
static void
addresses_empty_slot(struct sonic_addresses *t, size_t hole)
{
	size_t mask = t->n_slots - 1;

	for (size_t i = (hole + 1) & mask; t->slots[i].bridge_port != 0; i = (i + 1) & mask) {
		size_t home = addresses_home_of(&t->slots[i].key, t->n_slots);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		t->slots[hole] = t->slots[i];
		hole = i;
	}
	t->slots[hole] = (struct sonic_address){0};
	t->n--;
	t->changes++;
}

void
addresses_remove(struct sonic_addresses *t, const struct fdb_key *key)
{
	struct sonic_address *slot;

	if (t->n_slots == 0)
		return;
	slot = addresses_slot_of(t, key);
	if (slot->bridge_port != 0)
		addresses_empty_slot(t, (size_t)(slot - t->slots));
}

void
addresses_begin_pass(struct sonic_addresses *t)
{
	t->pass++;
}

/* An entry that fills a hole may come from before it, from the table's beginning: a second round finds those. */
void
addresses_end_pass(struct sonic_addresses *t)
{
	for (unsigned round = 0; round < 2; round++)
		for (size_t i = 0; i < t->n_slots;)
			if (t->slots[i].bridge_port != 0 && t->slots[i].pass != t->pass)
				addresses_empty_slot(t, i);
			else
				i++;
}

bool
addresses_resolve(const struct sonic_addresses *t, const struct sonic_address *address, uint16_t *vlan,
    uint64_t *port)
{
	uint64_t number = address->key.by_object ? sai_map_get(&t->vlans, address->key.vlan)
						 : address->key.vlan;

	*vlan = (uint16_t)number;
	*port = sai_map_get(&t->bridge_ports, address->bridge_port);
	return number >= 1 && number <= HAL_VLAN_MAX && *port != 0;
}

/* ---- keys ---- */

enum { KEY_OCTETS_MAX = 1024, VLAN_MAX = 4094 };

static int
addresses_digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int
sai_object_parse(const char *text, size_t octets, uint64_t *object)
{
	const size_t head = strlen("oid:0x");
	uint64_t value = 0;

	if (octets <= head || octets > head + 16 || memcmp(text, "oid:0x", head) != 0)
		return -EINVAL;
	for (size_t i = head; i < octets; i++) {
		if (addresses_digit_of(text[i]) < 0)
			return -EINVAL;
		value = value << 4 | (uint64_t)addresses_digit_of(text[i]);
	}
	*object = value;
	return value != 0 ? 0 : -EINVAL;
}

static int
addresses_take_mac(const json_t *json, uint8_t mac[6])
{
	const char *text = json_string_value(json);

	if (!text || json_string_length(json) != 17)
		return -EINVAL;
	for (size_t i = 0; i < 6; i++, text += 3) {
		if (addresses_digit_of(text[0]) < 0 || addresses_digit_of(text[1]) < 0 || (i < 5 && text[2] != ':'))
			return -EINVAL;
		mac[i] = (uint8_t)(addresses_digit_of(text[0]) << 4 | addresses_digit_of(text[1]));
	}
	return 0;
}

static int
addresses_take_vlan(const json_t *root, struct fdb_key *result)
{
	const json_t *number = json_object_get(root, "vlan"), *object = json_object_get(root, "bvid");
	const char *text = json_string_value(number);

	if (!number) {
		result->by_object = true;
		return object && json_is_string(object)
		    ? sai_object_parse(json_string_value(object), json_string_length(object), &result->vlan)
		    : -EINVAL;
	}
	if (!text || text[0] == '\0' || json_string_length(number) > 4)
		return -EINVAL;
	for (result->vlan = 0; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		result->vlan = 10 * result->vlan + (uint64_t)(*text - '0');
	}
	return result->vlan >= 1 && result->vlan <= VLAN_MAX ? 0 : -EINVAL;
}

int
fdb_key_parse(const char *key, size_t octets, struct fdb_key *result)
{
	const size_t head = strlen(FDB_KEY_PREFIX);
	json_t *root;
	int rc;

	*result = (struct fdb_key){0};
	if (octets <= head || octets > KEY_OCTETS_MAX || memcmp(key, FDB_KEY_PREFIX, head) != 0)
		return -EINVAL;
	root = json_loadb(key + head, octets - head, 0, NULL);
	if (!root)
		return -EINVAL;
	rc = addresses_take_mac(json_object_get(root, "mac"), result->mac);
	if (rc == 0)
		rc = addresses_take_vlan(root, result);
	json_decref(root);
	return rc;
}
