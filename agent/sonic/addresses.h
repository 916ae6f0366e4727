/*
 * The addresses of a SONiC switch as ASIC_DB has them: each has a VLAN and a bridge port, both mostly as SAI objects,
 * whose own entries say which number and which interface they are. Entries may come in any order, so they are put
 * together when the addresses are listed. Pure: no socket, no clock.
 */
#ifndef EASE_AGENT_SONIC_ADDRESSES_H
#define EASE_AGENT_SONIC_ADDRESSES_H

#include "agent/hal/hal.h"

/* ---- keys ----
 * Reads the key of an address in SONiC's ASIC_DB: JSON behind "ASIC_STATE:SAI_OBJECT_TYPE_FDB_ENTRY:", with the
 * address and its VLAN, which is a number (vlan) or the identifier of a SAI object (bvid). Pure. */

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

/* ---- the table ---- */

/* What a SAI object stands for: a VLAN's number, a bridge port's port, a port's ifIndex. */
struct sai_pair {
	uint64_t object; /* 0: the slot is free */
	uint64_t value;
};

/* Pairs by object: open addressing, at most half full. Zeroed at first. */
struct sai_map {
	struct sai_pair *slots;
	size_t n, n_slots;
};

void sai_map_free(struct sai_map *map);
/* True: that is new, or another value than before. -ENOMEM, -ENOSPC. */
int sai_map_put(struct sai_map *map, uint64_t object, uint64_t value);
uint64_t sai_map_get(const struct sai_map *map, uint64_t object); /* 0: not known */

struct sonic_address {
	uint64_t bridge_port; /* 0: the slot is free */
	struct fdb_key key;
	uint8_t status; /* enum hal_address_status */
	uint8_t pass;	/* the last that named it */
};

struct sonic_addresses {
	struct sonic_address *slots; /* open addressing, at most half full */
	size_t n, n_slots;
	uint8_t pass;
	uint64_t changes;
	struct sai_map vlans, bridge_ports;
};

void addresses_free(struct sonic_addresses *addresses);

/* 1: the address is new, or at another bridge port; 0: nothing new; -ENOSPC: there are HAL_MAX_ADDRESSES; -ENOMEM. */
int addresses_put(struct sonic_addresses *addresses, const struct fdb_key *key, uint64_t bridge_port,
    uint8_t status);
void addresses_remove(struct sonic_addresses *addresses, const struct fdb_key *key);

/* Between the two, every address that is there is put; the others are removed at the end. */
void addresses_begin_pass(struct sonic_addresses *addresses);
void addresses_end_pass(struct sonic_addresses *addresses);

/* The VLAN's number and the SAI object of the port or LAG. False: one of the two is not known yet. */
bool addresses_resolve(const struct sonic_addresses *addresses, const struct sonic_address *address,
    uint16_t *vlan, uint64_t *port);

#endif
