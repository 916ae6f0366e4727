/*
 * Reads the key of an address in SONiC's ASIC_DB: JSON behind "ASIC_STATE:SAI_OBJECT_TYPE_FDB_ENTRY:", with the
 * address and its VLAN, which is a number (vlan) or the identifier of a SAI object (bvid). Pure.
 */
#ifndef EASE_AGENT_SONIC_FDB_KEY_H
#define EASE_AGENT_SONIC_FDB_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fdb_key {
	bool by_object; /* vlan is a SAI object, not a number */
	uint64_t vlan;
	uint8_t mac[6];
};

#define FDB_KEY_PREFIX "ASIC_STATE:SAI_OBJECT_TYPE_FDB_ENTRY:"

/* key: the whole key, with FDB_KEY_PREFIX. -EINVAL: it is not as described; -ENOMEM. */
int fdb_key_parse(const char *key, size_t octets, struct fdb_key *result);

/* "oid:0x1000000000018" is 0x1000000000018. -EINVAL: the text is not like this, or it is the null object. */
int sai_object_parse(const char *text, size_t octets, uint64_t *object);

#endif
