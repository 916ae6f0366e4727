/*
 * The addresses that the kernel's bridges know, as told by their notices: a table by VLAN and
 * address. Where two bridges know the same address, the newest notice holds, for a switch has one
 * place for an address. Ports are the kernel's indexes; what they are called outside is links.h's
 * business. Pure: no socket, no clock.
 */
#ifndef EASE_AGENT_LINUX_FDB_H
#define EASE_AGENT_LINUX_FDB_H

#include "agent/hal/hal.h"
#include "agent/linux/rtnl.h"

struct fdb_entry {
	uint32_t kernel_index; /* of the port; 0: this slot is free */
	uint16_t vlan;
	uint8_t mac[6];
	uint8_t status; /* enum hal_address_status */
};

struct fdb {
	struct fdb_entry *slots; /* open addressing, at most half full */
	size_t n, n_slots;	 /* n_slots: 0 or a power of two */
	uint64_t changes;	 /* to what is there */
};

void fdb_free(struct fdb *fdb);

/* Does the notice speak of a bridge's table, rather than of the addresses a network card itself
 * listens to? */
bool fdb_concerns(const struct rtnl_neighbour *neighbour);

/* Takes the notice. 1: an address is learned where it was not before; 0: nothing new, or gone;
 * -ENOSPC: HAL_MAX_ADDRESSES are there, this one is left out; -ENOMEM. */
int fdb_update(struct fdb *fdb, const struct rtnl_neighbour *neighbour);

/* The entry, or NULL. */
const struct fdb_entry *fdb_find(const struct fdb *fdb, uint16_t vlan, const uint8_t mac[6]);

#endif
