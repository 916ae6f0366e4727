#include "agent/sonic/fdb_key.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

enum { KEY_OCTETS_MAX = 1024, VLAN_MAX = 4094 };

static int
digit_of(char c)
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
		if (digit_of(text[i]) < 0)
			return -EINVAL;
		value = value << 4 | (uint64_t)digit_of(text[i]);
	}
	*object = value;
	return value != 0 ? 0 : -EINVAL;
}

static int
take_mac(const json_t *json, uint8_t mac[6])
{
	const char *text = json_string_value(json);

	if (!text || json_string_length(json) != 17)
		return -EINVAL;
	for (size_t i = 0; i < 6; i++, text += 3) {
		if (digit_of(text[0]) < 0 || digit_of(text[1]) < 0 || (i < 5 && text[2] != ':'))
			return -EINVAL;
		mac[i] = (uint8_t)(digit_of(text[0]) << 4 | digit_of(text[1]));
	}
	return 0;
}

static int
take_vlan(const json_t *root, struct fdb_key *result)
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
	rc = take_mac(json_object_get(root, "mac"), result->mac);
	if (rc == 0)
		rc = take_vlan(root, result);
	json_decref(root);
	return rc;
}
