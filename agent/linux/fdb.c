#include "agent/linux/fdb.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <stdlib.h>
#include <string.h>

enum { FDB_FIRST_SLOTS = 256 };

void
fdb_free(struct fdb *fdb)
{
	free(fdb->slots);
	*fdb = (struct fdb){0};
}

bool
fdb_concerns(const struct rtnl_neighbour *neighbour)
{
	return !(neighbour->flags & NTF_SELF) && neighbour->kernel_index != 0;
}

/* As in dot1dTpFdbStatus: the bridge's own address, one that an administrator set, or a learned one. */
static uint8_t
fdb_status_of(const struct rtnl_neighbour *neighbour)
{
	if (neighbour->state & NUD_PERMANENT)
		return HAL_ADDRESS_SELF;
	if ((neighbour->state & NUD_NOARP) || (neighbour->flags & NTF_STICKY))
		return HAL_ADDRESS_MGMT;
	return HAL_ADDRESS_LEARNED;
}

/* ---- slots ---- */

/* Addresses often differ in few bits; the multiplication spreads them. */
static size_t
fdb_home_of(const struct fdb *fdb, uint32_t bridge, uint16_t vlan, const uint8_t mac[6])
{
	uint64_t key = (uint64_t)bridge << 24 ^ vlan;

	for (int i = 0; i < 6; i++)
		key = key << 8 | mac[i];
	key *= 0x9e3779b97f4a7c15ull;
	return (key ^ key >> 32) & (fdb->n_slots - 1);
}

static bool
is_entry(const struct fdb_entry *entry, uint32_t bridge, uint16_t vlan, const uint8_t mac[6])
{
	return entry->bridge == bridge && entry->vlan == vlan && memcmp(entry->mac, mac, 6) == 0;
}

/* The slot of this address, or the free slot for it. The table must have a free slot. */
static size_t
fdb_slot_of(const struct fdb *fdb, uint32_t bridge, uint16_t vlan, const uint8_t mac[6])
{
	size_t i = fdb_home_of(fdb, bridge, vlan, mac);

	while (fdb->slots[i].kernel_index != 0 && !is_entry(&fdb->slots[i], bridge, vlan, mac))
		i = (i + 1) & (fdb->n_slots - 1);
	return i;
}

const struct fdb_entry *
fdb_find(const struct fdb *fdb, uint32_t bridge, uint16_t vlan, const uint8_t mac[6])
{
	const struct fdb_entry *entry;

	if (fdb->n_slots == 0)
		return NULL;
	entry = &fdb->slots[fdb_slot_of(fdb, bridge, vlan, mac)];
	return entry->kernel_index != 0 ? entry : NULL;
}

static int
fdb_make_room(struct fdb *fdb)
{
	struct fdb wider = {.n = fdb->n, .changes = fdb->changes,
	    .n_slots = fdb->n_slots ? 2 * fdb->n_slots : FDB_FIRST_SLOTS};

	if (2 * (fdb->n + 1) <= fdb->n_slots)
		return 0;
	if (fdb->n >= HAL_MAX_ADDRESSES)
		return -ENOSPC;
	wider.slots = calloc(wider.n_slots, sizeof(*wider.slots));
	if (!wider.slots)
		return -ENOMEM;
	for (size_t i = 0; i < fdb->n_slots; i++) {
		const struct fdb_entry *entry = &fdb->slots[i];

		if (entry->kernel_index != 0)
			wider.slots[fdb_slot_of(&wider, entry->bridge, entry->vlan, entry->mac)] = *entry;
	}
	free(fdb->slots);
	*fdb = wider;
	return 0;
}

/* Fills the hole with a later entry of the same run, so that searches do not end too early. */
static void
fdb_empty_slot(struct fdb *fdb, size_t hole)
{
	size_t mask = fdb->n_slots - 1;

	for (size_t i = (hole + 1) & mask; fdb->slots[i].kernel_index != 0; i = (i + 1) & mask) {
		size_t home = fdb_home_of(fdb, fdb->slots[i].bridge, fdb->slots[i].vlan, fdb->slots[i].mac);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		fdb->slots[hole] = fdb->slots[i];
		hole = i;
	}
	fdb->slots[hole] = (struct fdb_entry){0};
	fdb->n--;
	fdb->changes++;
}

/* ---- notices ---- */

static void
forget_address(struct fdb *fdb, const struct rtnl_neighbour *neighbour)
{
	const struct fdb_entry *entry = fdb_find(fdb, neighbour->master, neighbour->vlan, neighbour->mac);

	/* If an address has moved, its removal at the old port does not remove it. */
	if (entry && entry->kernel_index == neighbour->kernel_index)
		fdb_empty_slot(fdb, (size_t)(entry - fdb->slots));
}

int
fdb_update(struct fdb *fdb, const struct rtnl_neighbour *neighbour)
{
	struct fdb_entry *entry, before;
	int rc;

	if (neighbour->gone) {
		forget_address(fdb, neighbour);
		return 0;
	}
	if (!fdb_find(fdb, neighbour->master, neighbour->vlan, neighbour->mac)) {
		rc = fdb_make_room(fdb);
		if (rc < 0)
			return rc;
		fdb->n++;
	}
	entry = &fdb->slots[fdb_slot_of(fdb, neighbour->master, neighbour->vlan, neighbour->mac)];
	before = *entry;
	*entry = (struct fdb_entry){
	    .kernel_index = neighbour->kernel_index,
	    .bridge = neighbour->master,
	    .vlan = neighbour->vlan,
	    .status = fdb_status_of(neighbour),
	};
	memcpy(entry->mac, neighbour->mac, sizeof(entry->mac));
	fdb->changes += before.kernel_index != entry->kernel_index || before.status != entry->status;
	return entry->status == HAL_ADDRESS_LEARNED && before.kernel_index != entry->kernel_index;
}
