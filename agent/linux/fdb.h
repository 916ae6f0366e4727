/*
 * The addresses that the kernel's bridges know, as reported by their notices: a table by bridge, VLAN and
 * address. Ports are kernel indexes here; links.h maps them to ifIndexes. Pure: no socket, no
 * clock.
 */
#ifndef EASE_AGENT_LINUX_FDB_H
#define EASE_AGENT_LINUX_FDB_H

#include "agent/hal/hal.h"
#include "agent/linux/rtnl.h"

struct fdb_entry {
	uint32_t kernel_index; /* of the port; 0: this slot is free */
	uint32_t bridge;       /* kernel index */
	uint16_t vlan;
	uint8_t mac[6];
	uint8_t status; /* enum hal_address_status */
};

struct fdb {
	struct fdb_entry *slots; /* open addressing, at most half full */
	size_t n, n_slots;	 /* n_slots: 0 or a power of two */
	uint64_t changes;	 /* to the table */
};

void fdb_free(struct fdb *fdb);

/* Whether a notice is about a bridge's table, not about addresses that a network card itself
 * receives. */
bool fdb_concerns(const struct rtnl_neighbour *neighbour);

/* Updates the table by a notice. 1: an address is new, or new at this port; 0: nothing new, or removed;
 * -ENOSPC: there are HAL_MAX_ADDRESSES, and this one is ignored; -ENOMEM. */
int fdb_update(struct fdb *fdb, const struct rtnl_neighbour *neighbour);

/* The entry, or NULL. */
const struct fdb_entry *fdb_find(const struct fdb *fdb, uint32_t bridge, uint16_t vlan, const uint8_t mac[6]);

#endif
