/*
 * The VLANs of a snapshot: those that have addresses, and those that the device's bridge ports are members of.
 * Called by snapshot.c when the addresses of the snapshot are there, sorted.
 */
#include "agent/hal/hal_private.h"
#include "common/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct range_list {
	struct hal *hal;
	struct hal_vlan_range *items;
	size_t n, room;
};

static int
add_range(void *arg, const struct hal_vlan_range *range)
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
same_ranges(const struct hal_snapshot *a, const struct hal_snapshot *b)
{
	if (a->vlan_aware != b->vlan_aware || a->n_vlan_ranges != b->n_vlan_ranges)
		return false;
	for (size_t i = 0; i < a->n_vlan_ranges; i++) {
		const struct hal_vlan_range *x = &a->vlan_ranges[i], *y = &b->vlan_ranges[i];

		if (compare_ranges(x, y) != 0 || x->last != y->last || x->untagged != y->untagged ||
		    x->is_pvid != y->is_pvid)
			return false;
	}
	return true;
}

static int
read_ranges(struct hal *hal, struct hal_snapshot *fresh)
{
	const struct hal_vlans_ops *ops = hal->device->vlans;
	struct range_list list = {.hal = hal};
	int rc = ops ? ops->dump(hal->device->vlans_ctx, add_range, &list) : -ENODEV;

	fresh->vlan_aware = rc == 0;
	fresh->vlan_ranges = list.items;
	fresh->n_vlan_ranges = list.n;
	if (list.n > 0)
		qsort(list.items, list.n, sizeof(*list.items), compare_ranges);
	return rc == -ENODEV ? 0 : rc;
}

/* Marks the VLANs there are, and returns how many. */
static size_t
mark_vlans(const struct hal_snapshot *s, bool marks[HAL_VLAN_MAX + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_addresses; i++)
		if (s->addresses[i].vlan <= HAL_VLAN_MAX)
			marks[s->addresses[i].vlan] = true;
	for (size_t i = 0; i < s->n_vlan_ranges; i++)
		memset(&marks[s->vlan_ranges[i].first], true,
		    s->vlan_ranges[i].last - s->vlan_ranges[i].first + 1u);
	for (unsigned vlan = 0; vlan <= HAL_VLAN_MAX; vlan++)
		n += marks[vlan];
	return n;
}

static void
count_learned(const struct hal_snapshot *s, struct hal_vlan *vlans)
{
	for (size_t i = 0, at = 0; i < s->n_addresses; i++) {
		if (s->addresses[i].vlan > HAL_VLAN_MAX)
			continue;
		while (vlans[at].vlan < s->addresses[i].vlan)
			at++;
		vlans[at].n_learned += s->addresses[i].status == HAL_ADDRESS_LEARNED;
	}
}

int
hal_vlans_list(struct hal *hal, const struct hal_snapshot *old, struct hal_snapshot *fresh)
{
	bool marks[HAL_VLAN_MAX + 1] = {false};
	struct hal_vlan *vlans;
	size_t n = 0;
	int rc = read_ranges(hal, fresh);

	if (rc < 0)
		return rc;
	if (old != NULL && !same_ranges(old, fresh))
		hal->vlans_changed_mono_us = clock_mono_us(hal->clock);
	if (mark_vlans(fresh, marks) == 0)
		marks[0] = true; /* a bridge without addresses still has one VLAN */
	fresh->n_vlans = mark_vlans(fresh, marks);
	fresh->vlans = vlans = calloc(fresh->n_vlans, sizeof(*vlans));
	if (vlans == NULL)
		return -ENOMEM;
	for (unsigned vlan = 0; vlan <= HAL_VLAN_MAX; vlan++)
		if (marks[vlan])
			vlans[n++] = (struct hal_vlan){
			    .vlan = (uint16_t)vlan, .changed_mono_us = hal->vlans_changed_mono_us};
	count_learned(fresh, vlans);
	return 0;
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
