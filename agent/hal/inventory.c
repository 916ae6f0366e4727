/*
 * What a snapshot shows beside ports and addresses: which interface lies on which (ifStackTable),
 * and what the switch is built of (ENTITY-MIB). Made when a snapshot is published and ports have
 * changed since the last one; until then snapshots share it, by reference count.
 */
#include "agent/hal/hal_private.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct inventory {
	struct hal_inventory view; /* first member: what holders see */
	atomic_uint references;
	uint64_t port_changes;
	struct hal_part *parts; /* in one block with what follows */
	struct hal_contained *contents;
	struct hal_layer *layers;
};

static struct inventory *
inventory_of(const struct hal_inventory *view)
{
	return (struct inventory *)(uintptr_t)view;
}

/* ---- layers ---- */

static int
order_layers(const void *a, const void *b)
{
	const struct hal_layer *x = a, *y = b;

	if (x->higher != y->higher)
		return x->higher < y->higher ? -1 : 1;
	return x->lower < y->lower ? -1 : x->lower > y->lower;
}

static bool
is_parent(const struct hal_snapshot *s, uint32_t if_index)
{
	for (size_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].lag_parent == if_index)
			return true;
	}
	return false;
}

/* An aggregate that is not served here is nothing. */
static uint32_t
above(const struct hal_snapshot *s, const struct hal_port *port)
{
	return hal_snapshot_port(s, port->lag_parent) ? port->lag_parent : 0;
}

/* Every interface has something above it and something below it; 0 is nothing (RFC 2863). */
static size_t
fill_layers(const struct hal_snapshot *s, struct hal_layer *layers)
{
	bool any_parent = false;
	size_t n = 0;

	for (size_t i = 0; i < s->n_ports; i++)
		any_parent = any_parent || s->ports[i].lag_parent != 0;
	for (size_t i = 0; i < s->n_ports; i++) {
		const struct hal_port *port = &s->ports[i];

		layers[n++] = (struct hal_layer){.higher = above(s, port), .lower = port->if_index};
		if (!any_parent || !is_parent(s, port->if_index))
			layers[n++] = (struct hal_layer){.higher = port->if_index};
	}
	if (n > 1)
		qsort(layers, n, sizeof(*layers), order_layers);
	return n;
}

/* ---- parts ---- */

static size_t
n_modules(const struct hal *hal)
{
	const struct hal_inventory_ops *ops = hal->device->inventory;

	return ops ? ops->count(hal->device->inventory_ctx) : 0;
}

static void
fill_chassis(const struct hal *hal, struct hal_part *part)
{
	part->index = HAL_PART_INDEX_CHASSIS;
	part->class = HAL_PART_CHASSIS;
	part->position = -1;
	snprintf(part->name, sizeof(part->name), "chassis");
	snprintf(part->descr, sizeof(part->descr), "easeswitch, device of kind %s",
	    hal_device_kind(hal));
}

static void
fill_module(const struct hal *hal, size_t i, struct hal_part *part)
{
	hal->device->inventory->get(hal->device->inventory_ctx, i, part);
	part->index = HAL_PART_INDEX_MODULE + (uint32_t)i;
	part->contained_in = HAL_PART_INDEX_CHASSIS;
	part->class = HAL_PART_MODULE;
	part->position = (int32_t)i + 1;
}

static void
fill_port(const struct hal *hal, const struct hal_port *port, struct hal_part *part)
{
	const struct hal_inventory_ops *ops = hal->device->inventory;

	part->index = HAL_PART_INDEX_PORT + port->if_index;
	part->contained_in = HAL_PART_INDEX_CHASSIS;
	if (ops)
		part->contained_in = HAL_PART_INDEX_MODULE +
		    (uint32_t)ops->of_port(hal->device->inventory_ctx, port->if_index);
	part->class = HAL_PART_PORT;
	part->position = (int32_t)port->if_index;
	part->if_index = port->if_index;
	memcpy(part->name, port->name, sizeof(part->name));
	memcpy(part->descr, port->descr, sizeof(part->descr));
}

static int
order_contents(const void *a, const void *b)
{
	const struct hal_contained *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return x->child < y->child ? -1 : x->child > y->child;
}

static void
fill_contents(struct inventory *inventory, size_t n_parts)
{
	for (size_t i = 1; i < n_parts; i++)
		inventory->contents[i - 1] = (struct hal_contained){
		    .parent = inventory->parts[i].contained_in, .child = inventory->parts[i].index};
	qsort(inventory->contents, n_parts - 1, sizeof(*inventory->contents), order_contents);
}

static void
fill(const struct hal *hal, const struct hal_snapshot *s, struct inventory *inventory)
{
	size_t n = 0, modules = n_modules(hal);

	fill_chassis(hal, &inventory->parts[n++]);
	for (size_t i = 0; i < modules; i++)
		fill_module(hal, i, &inventory->parts[n++]);
	inventory->view.first_port_part = n;
	for (size_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].has_connector)
			fill_port(hal, &s->ports[i], &inventory->parts[n++]);
	}
	fill_contents(inventory, n);
	inventory->view.parts = inventory->parts;
	inventory->view.contents = inventory->contents;
	inventory->view.n_parts = n;
	inventory->view.layers = inventory->layers;
	inventory->view.n_layers = fill_layers(s, inventory->layers);
}

/* ---- changes ---- */

static bool
parts_differ(const struct hal_part *a, const struct hal_part *b)
{
	return a->index != b->index || a->contained_in != b->contained_in ||
	    a->class != b->class || a->position != b->position || strcmp(a->name, b->name) != 0 ||
	    strcmp(a->descr, b->descr) != 0 || strcmp(a->maker, b->maker) != 0 ||
	    strcmp(a->model, b->model) != 0;
}

static bool
same_parts(const struct hal_inventory *a, const struct hal_inventory *b)
{
	if (a->n_parts != b->n_parts)
		return false;
	for (size_t i = 0; i < a->n_parts; i++) {
		if (parts_differ(&a->parts[i], &b->parts[i]))
			return false;
	}
	return true;
}

static bool
same_layers(const struct hal_inventory *a, const struct hal_inventory *b)
{
	return a->n_layers == b->n_layers &&
	    (a->n_layers == 0 ||
		memcmp(a->layers, b->layers, a->n_layers * sizeof(*a->layers)) == 0);
}

/* The first inventory changes nothing. */
static void
stamp_changes(const struct hal_inventory *old, uint64_t now_us, struct hal_inventory *fresh)
{
	if (!old)
		return;
	fresh->parts_changed_mono_us = same_parts(old, fresh) ? old->parts_changed_mono_us : now_us;
	fresh->layers_changed_mono_us =
	    same_layers(old, fresh) ? old->layers_changed_mono_us : now_us;
}

/* ---- life ---- */

static struct inventory *
make(const struct hal *hal, size_t n_ports)
{
	size_t n_parts = 1 + n_modules(hal) + n_ports;
	size_t parts = n_parts * sizeof(struct hal_part);
	size_t contents = n_parts * sizeof(struct hal_contained);
	size_t layers = 2 * n_ports * sizeof(struct hal_layer);
	struct inventory *inventory = calloc(1, sizeof(*inventory) + parts + contents + layers);

	if (!inventory)
		return NULL;
	inventory->references = 1;
	inventory->parts = (struct hal_part *)(void *)(inventory + 1);
	inventory->contents = (struct hal_contained *)(void *)(inventory->parts + n_parts);
	inventory->layers = (struct hal_layer *)(void *)(inventory->contents + n_parts);
	return inventory;
}

void
hal_inventory_release(const struct hal_inventory *view)
{
	struct inventory *inventory = inventory_of(view);

	if (inventory && atomic_fetch_sub(&inventory->references, 1) == 1)
		free(inventory);
}

int
hal_inventory_hold(struct hal *hal, const struct hal_snapshot *snapshot, uint64_t port_changes,
    const struct hal_inventory **held)
{
	struct inventory *inventory = inventory_of(hal->inventory);

	if (!inventory || inventory->port_changes != port_changes) {
		inventory = make(hal, snapshot->n_ports);
		if (!inventory)
			return -ENOMEM;
		inventory->port_changes = port_changes;
		fill(hal, snapshot, inventory);
		stamp_changes(hal->inventory, clock_mono_us(hal->clock), &inventory->view);
		hal_inventory_release(hal->inventory);
		hal->inventory = &inventory->view;
	}
	atomic_fetch_add(&inventory->references, 1);
	*held = &inventory->view;
	return 0;
}
