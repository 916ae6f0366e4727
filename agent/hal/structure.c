/*
 * The part of a snapshot that changes only with the ports: which interface runs on top of which
 * (ifStackTable), and the physical parts of the switch (ENTITY-MIB). It is made anew when ports
 * have changed since the previous snapshot. Until then snapshots share it by reference count.
 */
#include "agent/hal/hal_private.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct published_structure {
	struct hal_structure structure; /* the first member: holders get its address */
	atomic_uint references;
	uint64_t port_changes, sensor_changes;
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
add_layer(const struct hal_snapshot *s, uint32_t higher, uint32_t lower, struct hal_layer *layers, size_t n)
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
mark_relation(const struct hal_snapshot *s, uint32_t if_index, bool *marks)
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
		mark_relation(s, layers[i].lower, has_above);
		mark_relation(s, layers[i].higher, has_below);
	}
	for (size_t i = 0; i < s->n_ports; i++) {
		uint32_t if_index = s->ports[i].if_index;

		if (!has_above[i])
			layers[n++] = (struct hal_layer){.lower = if_index};
		if (!has_below[i])
			layers[n++] = (struct hal_layer){.higher = if_index};
	}
	assert(n <= LAYERS_OF_PORT * s->n_ports);
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
	snprintf(part->descr, sizeof(part->descr), "easeswitch, device of kind %s", hal_device_kind(hal));
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
structure_fill_port(const struct hal *hal, const struct hal_port *port, struct hal_part *part)
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
fill_structure(const struct hal *hal, const struct hal_snapshot *s, struct published_structure *published)
{
	size_t n = 0, modules = n_modules(hal);

	fill_chassis(hal, &published->parts[n++]);
	for (size_t i = 0; i < modules; i++)
		fill_module(hal, i, &published->parts[n++]);
	n += hal_sensors_parts(hal, published->parts + n);
	published->structure.first_port_part = n;
	for (size_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].has_connector)
			structure_fill_port(hal, &s->ports[i], &published->parts[n++]);
	}
	published->structure.n_port_parts = n - published->structure.first_port_part;
	n += hal_transceivers_parts(hal, s, published->parts + n);
	n += hal_units_parts(hal, published->parts + n);
	for (size_t i = 1; i < n; i++)
		published->contents[i - 1] = (struct hal_contained){
		    .parent = published->parts[i].contained_in, .child = published->parts[i].index};
	qsort(published->contents, n - 1, sizeof(*published->contents), order_contents);
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
	    strcmp(a->model, b->model) != 0 || strcmp(a->serial, b->serial) != 0 ||
	    strcmp(a->revision, b->revision) != 0;
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

static uint64_t
digest_octets(uint64_t sum, const void *octets, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum = (sum ^ ((const uint8_t *)octets)[i]) * 0x100000001b3; /* FNV-1a */
	return sum;
}

static uint64_t
digest_of_layers(const struct hal_structure *s)
{
	return digest_octets(1, s->layers, s->n_layers * sizeof(*s->layers));
}

static uint64_t
digest_of_parts(const struct hal_structure *s)
{
	uint64_t sum = 1;

	for (const struct hal_part *part = s->parts; part < s->parts + s->n_parts; part++) {
		const uint32_t numbers[] = {part->index, part->contained_in, part->class, (uint32_t)part->position};

		sum = digest_octets(sum, numbers, sizeof(numbers));
		sum = digest_octets(sum, part->name, strlen(part->name) + 1);
		sum = digest_octets(sum, part->descr, strlen(part->descr) + 1);
		sum = digest_octets(sum, part->maker, strlen(part->maker) + 1);
		sum = digest_octets(sum, part->model, strlen(part->model) + 1);
		sum = digest_octets(sum, part->serial, strlen(part->serial) + 1);
	}
	return sum;
}

/* The first structure is a change only if it is not that of the run before. */
static void
stamp_first(const struct hal *hal, uint64_t now_us, struct hal_structure *fresh)
{
	if (hal->old_layers != 0)
		fresh->layers_changed_mono_us =
		    digest_of_layers(fresh) == hal->old_layers ? hal->layers_changed_mono_us : now_us;
	if (hal->old_parts != 0)
		fresh->parts_changed_mono_us =
		    digest_of_parts(fresh) == hal->old_parts ? hal->parts_changed_mono_us : now_us;
}

static void
stamp_changes(const struct hal_structure *old, uint64_t now_us, struct hal_structure *fresh)
{
	fresh->parts_changed_mono_us = same_parts(old, fresh) ? old->parts_changed_mono_us : now_us;
	fresh->layers_changed_mono_us =
	    same_layers(old, fresh) ? old->layers_changed_mono_us : now_us;
}

/* ---- changes, kept over a restart of the agent ---- */

/* Both begin with the time of the save. */
enum port_change { PORT_CHANGED = 1, PORT_STATUS, PORT_IF_INDEX, N_PORT_CHANGES };
enum list_change {
	LISTS_N_PORTS = 1, LISTS_PORTS_CHANGED, LISTS_LAYERS, LISTS_LAYERS_CHANGED, LISTS_PARTS,
	LISTS_PARTS_CHANGED, N_LIST_CHANGES
};

size_t
hal_save_changes(const struct hal *hal, uint32_t if_index, uint64_t *numbers)
{
	const struct hal_port_state *port = hal_port_find(hal, if_index);
	const struct hal_structure *s = hal->structure;

	numbers[0] = clock_wall_us(hal->clock);
	if (port) {
		numbers[PORT_CHANGED] = hal_wall_of_steady(hal, port->last_change_mono_us);
		numbers[PORT_STATUS] = port->oper_status;
		numbers[PORT_IF_INDEX] = if_index;
		return N_PORT_CHANGES;
	}
	if (if_index != 0 || !s)
		return 0;
	numbers[LISTS_N_PORTS] = hal->n_ports;
	numbers[LISTS_PORTS_CHANGED] = hal_wall_of_steady(hal, hal->ports_changed_mono_us);
	numbers[LISTS_LAYERS] = digest_of_layers(s);
	numbers[LISTS_LAYERS_CHANGED] = hal_wall_of_steady(hal, s->layers_changed_mono_us);
	numbers[LISTS_PARTS] = digest_of_parts(s);
	numbers[LISTS_PARTS_CHANGED] = hal_wall_of_steady(hal, s->parts_changed_mono_us);
	return N_LIST_CHANGES;
}

static void
restore_lists(struct hal *hal, const uint64_t *numbers)
{
	bool same_ports = numbers[LISTS_N_PORTS] == hal->n_ports && hal->n_unchanged_ports == hal->n_ports;

	hal->ports_changed_mono_us = same_ports ? hal_steady_of_wall(hal, numbers[LISTS_PORTS_CHANGED])
						: clock_mono_us(hal->clock);
	hal->old_layers = numbers[LISTS_LAYERS];
	hal->layers_changed_mono_us = hal_steady_of_wall(hal, numbers[LISTS_LAYERS_CHANGED]);
	hal->old_parts = numbers[LISTS_PARTS];
	hal->parts_changed_mono_us = hal_steady_of_wall(hal, numbers[LISTS_PARTS_CHANGED]);
}

void
hal_restore_changes(struct hal *hal, uint32_t if_index, const uint64_t *numbers, size_t n)
{
	struct hal_port_state *port = hal_port_find(hal, if_index);

	if (n == 0 || hal_steady_of_wall(hal, numbers[0]) == 0)
		return;
	if (port && n == N_PORT_CHANGES) {
		port->last_change_mono_us = numbers[PORT_STATUS] == port->oper_status
		    ? hal_steady_of_wall(hal, numbers[PORT_CHANGED])
		    : clock_mono_us(hal->clock);
		hal->n_unchanged_ports += numbers[PORT_IF_INDEX] == if_index;
	} else if (if_index == 0 && n == N_LIST_CHANGES) {
		restore_lists(hal, numbers);
	}
}

/* ---- life cycle ---- */

static struct published_structure *
make_structure(const struct hal *hal, size_t n_ports)
{
	size_t n_parts = 1 + n_modules(hal) + n_ports + hal_sensors_room(hal);
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

	if (!published || port_changes == 0 || published->port_changes != port_changes ||
	    published->sensor_changes != hal_sensors_changes(hal)) {
		published = make_structure(hal, snapshot->n_ports);
		if (!published)
			return -ENOMEM;
		published->port_changes = port_changes;
		published->sensor_changes = hal_sensors_changes(hal);
		fill_structure(hal, snapshot, published);
		if (hal->structure)
			stamp_changes(hal->structure, clock_mono_us(hal->clock), &published->structure);
		else
			stamp_first(hal, clock_mono_us(hal->clock), &published->structure);
		hal_structure_release(hal->structure);
		hal->structure = &published->structure;
	}
	assert(atomic_load(&published->references) > 0);
	atomic_fetch_add(&published->references, 1);
	*held = &published->structure;
	return 0;
}
