/*
 * The part of a snapshot that changes only with the ports: which interface runs on top of which
 * (ifStackTable), and the physical parts of the switch (ENTITY-MIB). It is made anew when ports
 * have changed since the previous snapshot. Until then snapshots share it by reference count.
 */
#include "agent/hal/hal_private.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct published_structure {
	struct hal_structure structure; /* the first member: holders get its address */
	atomic_uint references;
	uint64_t port_changes;
	struct hal_part *parts; /* in one block with what follows */
	struct hal_contained *contents;
	struct hal_layer *layers;
	bool *marks; /* scratch of fill_layers */
};

static struct published_structure *
published_of(const struct hal_structure *structure)
{
	return (struct published_structure *)(uintptr_t)structure;
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

/* Adds `higher` on `lower`, if both are served here. */
static size_t
add_layer(const struct hal_snapshot *s, uint32_t higher, uint32_t lower, struct hal_layer *layers,
    size_t n)
{
	if (!hal_snapshot_port(s, higher) || !hal_snapshot_port(s, lower))
		return n;
	layers[n] = (struct hal_layer){.higher = higher, .lower = lower};
	return n + 1;
}

/* What runs on what: LAGs and bridges on their ports, VLAN interfaces on the one they tag for. */
enum { LAYERS_OF_PORT = 5 }; /* the most rows: these three, nothing above, nothing below */
static size_t
add_relations(const struct hal_snapshot *s, struct hal_layer *layers)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_ports; i++) {
		const struct hal_port *port = &s->ports[i];

		n = add_layer(s, port->lag_parent, port->if_index, layers, n);
		n = add_layer(s, port->bridge, port->if_index, layers, n);
		n = add_layer(s, port->if_index, port->lower, layers, n);
	}
	return n;
}

static void
mark(const struct hal_snapshot *s, uint32_t if_index, bool *marks)
{
	marks[hal_snapshot_port(s, if_index) - s->ports] = true;
}

/* RFC 2863: each interface that has none above, or none below, has a row with 0 there. marks has room for
 * two flags of each port. */
static size_t
fill_layers(const struct hal_snapshot *s, bool *marks, struct hal_layer *layers)
{
	bool *has_above = marks, *has_below = marks + s->n_ports;
	size_t n = add_relations(s, layers), relations = n;

	for (size_t i = 0; i < relations; i++) {
		mark(s, layers[i].lower, has_above);
		mark(s, layers[i].higher, has_below);
	}
	for (size_t i = 0; i < s->n_ports; i++) {
		uint32_t if_index = s->ports[i].if_index;

		if (!has_above[i])
			layers[n++] = (struct hal_layer){.lower = if_index};
		if (!has_below[i])
			layers[n++] = (struct hal_layer){.higher = if_index};
	}
	if (n > 1)
		qsort(layers, n, sizeof(*layers), order_layers);
	return n;
}

/* ---- parts ---- */

static size_t
n_modules(const struct hal *hal)
{
	const struct hal_modules_ops *ops = hal->device->modules;

	return ops ? ops->count(hal->device->modules_ctx) : 0;
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
	hal->device->modules->get(hal->device->modules_ctx, i, part);
	part->index = HAL_PART_INDEX_MODULE + (uint32_t)i;
	part->contained_in = HAL_PART_INDEX_CHASSIS;
	part->class = HAL_PART_MODULE;
	part->position = (int32_t)i + 1;
}

static void
fill_port(const struct hal *hal, const struct hal_port *port, struct hal_part *part)
{
	const struct hal_modules_ops *ops = hal->device->modules;

	part->index = HAL_PART_INDEX_PORT + port->if_index;
	part->contained_in = HAL_PART_INDEX_CHASSIS;
	if (ops)
		part->contained_in = HAL_PART_INDEX_MODULE +
		    (uint32_t)ops->of_port(hal->device->modules_ctx, port->if_index);
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
fill_contents(struct published_structure *published, size_t n_parts)
{
	for (size_t i = 1; i < n_parts; i++)
		published->contents[i - 1] = (struct hal_contained){
		    .parent = published->parts[i].contained_in, .child = published->parts[i].index};
	qsort(published->contents, n_parts - 1, sizeof(*published->contents), order_contents);
}

static void
fill(const struct hal *hal, const struct hal_snapshot *s, struct published_structure *published)
{
	size_t n = 0, modules = n_modules(hal);

	fill_chassis(hal, &published->parts[n++]);
	for (size_t i = 0; i < modules; i++)
		fill_module(hal, i, &published->parts[n++]);
	published->structure.first_port_part = n;
	for (size_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].has_connector)
			fill_port(hal, &s->ports[i], &published->parts[n++]);
	}
	fill_contents(published, n);
	published->structure.parts = published->parts;
	published->structure.contents = published->contents;
	published->structure.n_parts = n;
	published->structure.layers = published->layers;
	published->structure.n_layers = fill_layers(s, published->marks, published->layers);
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
same_parts(const struct hal_structure *a, const struct hal_structure *b)
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
same_layers(const struct hal_structure *a, const struct hal_structure *b)
{
	return a->n_layers == b->n_layers &&
	    (a->n_layers == 0 ||
		memcmp(a->layers, b->layers, a->n_layers * sizeof(*a->layers)) == 0);
}

/* The first structure is not a change. */
static void
stamp_changes(const struct hal_structure *old, uint64_t now_us, struct hal_structure *fresh)
{
	if (!old)
		return;
	fresh->parts_changed_mono_us = same_parts(old, fresh) ? old->parts_changed_mono_us : now_us;
	fresh->layers_changed_mono_us =
	    same_layers(old, fresh) ? old->layers_changed_mono_us : now_us;
}

/* ---- life cycle ---- */

static struct published_structure *
make(const struct hal *hal, size_t n_ports)
{
	size_t n_parts = 1 + n_modules(hal) + n_ports;
	size_t parts = n_parts * sizeof(struct hal_part);
	size_t contents = n_parts * sizeof(struct hal_contained);
	size_t layers = LAYERS_OF_PORT * n_ports * sizeof(struct hal_layer);
	struct published_structure *published =
	    calloc(1, sizeof(*published) + parts + contents + layers + 2 * n_ports * sizeof(bool));

	if (!published)
		return NULL;
	published->references = 1;
	published->parts = (struct hal_part *)(void *)(published + 1);
	published->contents = (struct hal_contained *)(void *)(published->parts + n_parts);
	published->layers = (struct hal_layer *)(void *)(published->contents + n_parts);
	published->marks = (bool *)(void *)(published->layers + LAYERS_OF_PORT * n_ports);
	return published;
}

void
hal_structure_release(const struct hal_structure *structure)
{
	struct published_structure *published = published_of(structure);

	if (published && atomic_fetch_sub(&published->references, 1) == 1)
		free(published);
}

int
hal_structure_hold(struct hal *hal, const struct hal_snapshot *snapshot, uint64_t port_changes,
    const struct hal_structure **held)
{
	struct published_structure *published = published_of(hal->structure);

	if (!published || port_changes == 0 || published->port_changes != port_changes) {
		published = make(hal, snapshot->n_ports);
		if (!published)
			return -ENOMEM;
		published->port_changes = port_changes;
		fill(hal, snapshot, published);
		stamp_changes(hal->structure, clock_mono_us(hal->clock), &published->structure);
		hal_structure_release(hal->structure);
		hal->structure = &published->structure;
	}
	atomic_fetch_add(&published->references, 1);
	*held = &published->structure;
	return 0;
}
