/*
 * The VLANs of a snapshot: those that have addresses, and those that the device's bridge ports are members of.
 * Called by snapshot.c.
 */
#include "agent/hal/hal_private.h"
#include "common/sorted.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct range_list {
	struct hal *hal;
	struct hal_vlan_range *items;
	size_t n, room;
};

static int
vlans_add_range(void *arg, const struct hal_vlan_range *range)
{
	struct range_list *list = arg;

	if (list->n >= HAL_MAX_VLAN_RANGES) {
		stat_add(&list->hal->stats, HAL_STAT_VLANS_LEFT_OUT, 1);
		return 0;
	}
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		struct hal_vlan_range *grown = reallocarray(list->items, room, sizeof(*grown));

		if (grown == NULL)
			return -ENOMEM;
		list->items = grown;
		list->room = room;
	}
	list->items[list->n++] = *range;
	return 0;
}

static int
compare_ranges(const void *a, const void *b)
{
	const struct hal_vlan_range *x = a, *y = b;

	if (x->if_index != y->if_index)
		return x->if_index < y->if_index ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static bool
has_addresses_of_vlans(const struct hal_snapshot *s)
{
	for (size_t i = 0; i < s->n_addresses; i++)
		if (s->addresses[i].vlan > 0)
			return true;
	return false;
}

/* Every port of a bridge that does not tell VLANs apart is in VLAN 1. */
static int
add_unaware_ports(struct range_list *list, const struct hal_snapshot *s)
{
	int rc = 0;

	for (size_t i = 0; i < s->n_bridge_ports && rc == 0; i++)
		if (s->bridge_ports[i]->vlan_unaware || !s->vlan_aware)
			rc = vlans_add_range(list, &(struct hal_vlan_range){.if_index = s->bridge_ports[i]->if_index,
			    .first = HAL_DEFAULT_VLAN, .last = HAL_DEFAULT_VLAN, .untagged = true, .is_pvid = true});
	return rc;
}

int
hal_vlan_ranges_read(struct hal *hal, struct hal_snapshot *fresh)
{
	const struct hal_vlans_ops *ops = hal->device->vlans;
	struct range_list list = {.hal = hal};
	int rc = ops ? ops->dump(hal->device->vlans_ctx, vlans_add_range, &list) : -ENODEV;

	fresh->vlan_aware = rc == 0 || has_addresses_of_vlans(fresh);
	fresh->knows_members = rc == 0 || !fresh->vlan_aware;
	if (rc == 0 || rc == -ENODEV)
		rc = add_unaware_ports(&list, fresh);
	for (size_t i = 0; i < list.n; i++) {
		const struct hal_port *port = hal_snapshot_port(fresh, list.items[i].if_index);

		list.items[i].base_port = port ? port->base_port : 0;
	}
	fresh->vlan_ranges = list.items;
	fresh->n_vlan_ranges = list.n;
	if (list.n > 0)
		qsort(list.items, list.n, sizeof(*list.items), compare_ranges);
	return rc;
}

typedef bool vlan_marks[HAL_VLAN_MAX + 1];

static void
mark_range(vlan_marks marks, const struct hal_vlan_range *range)
{
	assert(range->first <= range->last && range->last <= HAL_VLAN_MAX);
	memset(&marks[range->first], true, range->last - range->first + 1u);
}

/* Marks the VLANs of those ranges of a that b has not, or not as they are. */
static void
mark_missing(vlan_marks marks, const struct hal_snapshot *a, const struct hal_snapshot *b)
{
	for (size_t i = 0, j = 0; i < a->n_vlan_ranges; i++) {
		const struct hal_vlan_range *x = &a->vlan_ranges[i], *y = NULL;

		while (j < b->n_vlan_ranges && compare_ranges(&b->vlan_ranges[j], x) < 0)
			j++;
		if (j < b->n_vlan_ranges)
			y = &b->vlan_ranges[j];
		if (!y || compare_ranges(x, y) != 0 || x->last != y->last ||
		    x->base_port != y->base_port || x->untagged != y->untagged || x->is_pvid != y->is_pvid)
			mark_range(marks, x);
	}
}

/* Lists the VLANs there are, and then the databases that are no VLAN's. */
static int
list_vlans(struct hal_snapshot *s)
{
	const struct hal_address *of_fdbs = s->addresses ? s->addresses + s->fdb_addresses : NULL;
	size_t n_addresses = s->n_addresses - s->fdb_addresses, n_local = 0;
	vlan_marks marks = {[HAL_DEFAULT_VLAN] = !s->vlan_aware}; /* a bridge without addresses still has one VLAN */
	struct hal_vlan *vlans;

	for (size_t i = 0; i < n_addresses; i++)
		if (of_fdbs[i].fdb <= HAL_VLAN_MAX)
			marks[of_fdbs[i].fdb] = true;
		else
			n_local += i == 0 || of_fdbs[i].fdb != of_fdbs[i - 1].fdb;
	for (size_t i = 0; i < s->n_vlan_ranges; i++)
		mark_range(marks, &s->vlan_ranges[i]);
	s->vlans = vlans = calloc(HAL_VLAN_MAX + 1 + n_local, sizeof(*vlans));
	if (vlans == NULL)
		return -ENOMEM;
	for (uint32_t vlan = 1; vlan <= HAL_VLAN_MAX; vlan++)
		if (marks[vlan])
			vlans[s->n_vlans++].vlan = vlan;
	s->n_fdbs = s->n_vlans;
	for (size_t i = 0, at = 0; i < n_addresses; i++) {
		while (at < s->n_fdbs && vlans[at].vlan < of_fdbs[i].fdb)
			at++;
		if (at == s->n_fdbs)
			vlans[s->n_fdbs++].vlan = of_fdbs[i].fdb;
		vlans[at].n_learned += of_fdbs[i].status == HAL_ADDRESS_LEARNED;
	}
	return 0;
}

/* A VLAN that is new has changed now; what the first snapshot has was there before the start. */
static void
stamp_vlans(const struct hal_snapshot *old, const struct hal_snapshot *fresh, struct hal_vlan *vlans, uint64_t now_us)
{
	vlan_marks changed = {false};

	mark_missing(changed, old, fresh);
	mark_missing(changed, fresh, old);
	for (size_t i = 0, at = 0; i < fresh->n_vlans; i++) {
		while (at < old->n_vlans && old->vlans[at].vlan < vlans[i].vlan)
			at++;
		if (!changed[vlans[i].vlan] && at < old->n_vlans && old->vlans[at].vlan == vlans[i].vlan)
			vlans[i].changed_mono_us = old->vlans[at].changed_mono_us;
		else
			vlans[i].changed_mono_us = now_us;
	}
}

int
hal_vlans_list(struct hal *hal, const struct hal_snapshot *old, struct hal_snapshot *fresh)
{
	int rc = list_vlans(fresh);

	if (rc == 0 && old != NULL && old->has_addresses)
		stamp_vlans(old, fresh, (struct hal_vlan *)(uintptr_t)fresh->vlans, clock_mono_us(hal->clock));
	return rc;
}

uint16_t
hal_snapshot_pvid(const struct hal_snapshot *snapshot, uint32_t if_index)
{
	size_t at = SORTED_POSITION_OF(snapshot->vlan_ranges, snapshot->n_vlan_ranges, if_index, if_index);

	for (; at < snapshot->n_vlan_ranges && snapshot->vlan_ranges[at].if_index == if_index; at++)
		if (snapshot->vlan_ranges[at].is_pvid)
			return snapshot->vlan_ranges[at].first;
	return 0;
}
