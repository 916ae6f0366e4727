/*
 * Snapshots are built in slices on the HAL's thread, published when complete, and held by reference
 * count from any thread. The lock protects a pointer and the counts, and is never held while
 * hardware is read.
 */
#include "agent/hal/hal_private.h"

#include "common/log.h"
#include "common/sorted.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hal_published {
	struct hal_snapshot snapshot; /* the first member: holders get its address */
	struct hal *hal;
	unsigned references;
	struct hal_port *ports;
	struct hal_address *addresses;
	size_t addresses_room;
	struct ease_error_source error_sources[HAL_MAX_ERROR_SOURCES];
	uint64_t port_changes; /* the HAL's when building began; 0: the list changed since */
	uint64_t port_list_changes; /* the HAL's, of the list that `ports` has room for */
	uint64_t address_changes; /* the device's; 0: it does not say */
};

static void
published_free(struct hal_published *p)
{
	if (p == NULL)
		return;
	free(p->ports);
	free(p->addresses);
	free((void *)(uintptr_t)p->snapshot.bridge_ports);
	free((void *)(uintptr_t)p->snapshot.vlans);
	free((void *)(uintptr_t)p->snapshot.vlan_ranges);
	free((void *)(uintptr_t)p->snapshot.sensors);
	free((void *)(uintptr_t)p->snapshot.lldp.ports);
	free((void *)(uintptr_t)p->snapshot.lldp.neighbours);
	hal_structure_release(p->snapshot.structure);
	free(p);
}

static struct hal_published *
published_new(struct hal *hal)
{
	struct hal_published *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->hal = hal;
	p->references = 1;
	p->port_changes = hal->port_changes;
	p->port_list_changes = hal->port_list_changes;
	p->ports = calloc(hal->n_ports ? hal->n_ports : 1, sizeof(*p->ports));
	if (p->ports == NULL) {
		free(p);
		return NULL;
	}
	p->snapshot.ports = p->ports;
	return p;
}

static int
snapshot_add_address(void *arg, const struct hal_address *address)
{
	struct hal_published *p = arg;
	size_t n = p->snapshot.n_addresses;

	if (n >= HAL_MAX_ADDRESSES) {
		stat_add(&p->hal->stats, HAL_STAT_ADDRESSES_LEFT_OUT, 1);
		return 0;
	}
	if (n == p->addresses_room) {
		size_t room = n ? 2 * n : 256;
		struct hal_address *grown = realloc(p->addresses, room * sizeof(*grown));

		if (grown == NULL)
			return -ENOMEM;
		p->addresses = grown;
		p->addresses_room = room;
	}
	p->addresses[n] = *address;
	p->snapshot.n_addresses = n + 1;
	return 0;
}

static bool
same_addresses(const struct hal_published *old, const struct hal_published *p)
{
	return old && old->snapshot.has_addresses && p->address_changes != 0 && p->port_changes != 0 &&
	    old->address_changes == p->address_changes && old->port_changes == p->port_changes;
}

static int
copy_addresses(const struct hal_published *old, struct hal_published *p)
{
	size_t n = old->snapshot.n_addresses;

	p->addresses = malloc((n ? n : 1) * sizeof(*p->addresses));
	if (p->addresses == NULL)
		return -ENOMEM;
	if (n > 0)
		memcpy(p->addresses, old->addresses, n * sizeof(*p->addresses));
	p->addresses_room = p->snapshot.n_addresses = n;
	p->snapshot.n_common_addresses = old->snapshot.n_common_addresses;
	p->snapshot.fdb_addresses = old->snapshot.fdb_addresses;
	return 0;
}

static int
snapshot_read_addresses(struct hal *hal, struct hal_published *p)
{
	const struct hal_addresses_ops *ops = hal->device->addresses;
	bool same;
	int rc;

	if (ops == NULL)
		return 0;
	if (ops->changes)
		p->address_changes = ops->changes(hal->device->addresses_ctx);
	/* Only this thread replaces hal->published, so it can be read without the lock. */
	same = same_addresses(hal->published, p);
	rc = same ? copy_addresses(hal->published, p)
		  : ops->dump(hal->device->addresses_ctx, snapshot_add_address, p);
	if (rc < 0)
		return rc == -ENODEV ? 0 : rc;
	p->snapshot.has_addresses = true;
	p->snapshot.addresses = p->addresses;
	p->snapshot.has_address_discards = ops->discards != NULL;
	if (ops->discards)
		p->snapshot.address_discards = ops->discards(hal->device->addresses_ctx);
	p->snapshot.ageing_s = ops->ageing_s(hal->device->addresses_ctx);
	rc = hal_bridge_ports_list(&p->snapshot);
	if (rc == 0)
		rc = hal_vlan_ranges_read(hal, &p->snapshot);
	if (rc == 0 && !same)
		rc = hal_addresses_arrange(&p->snapshot, &p->addresses);
	return rc < 0 ? rc : hal_vlans_list(hal, hal->published ? &hal->published->snapshot : NULL, &p->snapshot);
}

static void
publish_snapshot(struct hal *hal, struct hal_published *p)
{
	struct hal_published *old;

	assert(SORTED_ASCENDS(p->ports, p->snapshot.n_ports, if_index));
	p->snapshot.mono_us = clock_mono_us(hal->clock);
	p->snapshot.device_us = hal_now_us(hal);
	p->snapshot.ports_changed_mono_us = hal->ports_changed_mono_us;
	pthread_mutex_lock(&hal->publish_lock);
	assert(hal->published == NULL || hal->published->references > 0);
	old = hal->published;
	hal->published = p;
	if (old != NULL && --old->references > 0)
		old = NULL;
	pthread_mutex_unlock(&hal->publish_lock);
	published_free(old);
}

static void
snapshot_read_port(struct hal *hal, struct hal_published *p, struct hal_port_state *port)
{
	struct hal_port *row = &p->ports[p->snapshot.n_ports];

	assert(p->snapshot.n_ports < hal->n_ports);
	if (hal->device->counters != NULL)
		hal_read_port_counters(hal, port);
	if (hal_port_fill(hal, port, row) < 0)
		return;
	row->has_energy = hal_read_energy(hal, port->if_index, &row->energy) == 0;
	row->has_buffers = hal_read_buffers(hal, port->if_index, &row->buffers) == 0;
	p->snapshot.n_ports++;
}

/* Read here, on the device's own thread, so that the SNMP thread need not call the device. */
static void
read_device_drops(struct hal *hal)
{
	const struct hal_errors_ops *errors = hal->device->errors;
	uint64_t drops = 0;

	if (hal->device->ops->drops != NULL)
		drops = hal->device->ops->drops(hal->device->ctx);
	if (errors != NULL && errors->lost != NULL)
		drops += errors->lost(hal->device->errors_ctx);
	atomic_store_explicit(&hal->device_drops, drops, memory_order_relaxed);
}

static void
drop_building(struct hal *hal)
{
	published_free(hal->building);
	hal->building = NULL;
}

static void
tell_round(struct hal *hal, enum hal_round phase)
{
	const struct hal_counters_ops *ops = hal->device->counters;

	if (phase == HAL_ROUND_BEGINS)
		hal->building_us = hal_now_us(hal);
	hal->in_round = phase == HAL_ROUND_GOES_ON;
	if (ops != NULL && ops->round != NULL)
		ops->round(hal->device->counters_ctx, phase);
}

/* The list of ports has changed since the round began. What was read of those that remain is kept, as new ones come
 * faster than a round ends where containers do; those that came where the round has passed are read now. */
static int
merge_list(struct hal *hal, struct hal_published *p)
{
	const struct hal_snapshot old = p->snapshot;
	struct hal_port *ports = calloc(hal->n_ports ? hal->n_ports : 1, sizeof(*ports));
	size_t i;

	if (ports == NULL)
		return -ENOMEM;
	stat_add(&hal->stats, HAL_STAT_ROUNDS_MERGED, 1);
	p->snapshot.ports = p->ports = ports;
	p->snapshot.n_ports = 0;
	for (i = 0; i < hal->n_ports && hal->ports[i]->if_index <= hal->building_to; i++) {
		const struct hal_port *known = hal_snapshot_port(&old, hal->ports[i]->if_index);

		if (known != NULL)
			ports[p->snapshot.n_ports++] = *known;
		else
			snapshot_read_port(hal, p, hal->ports[i]);
	}
	free((void *)(uintptr_t)old.ports);
	hal->building_next = i;
	p->port_changes = 0;
	p->port_list_changes = hal->port_list_changes;
	return 0;
}

static int
begin_round(struct hal *hal)
{
	hal->building_next = hal->building_to = 0;
	hal->building = published_new(hal);
	if (hal->building == NULL)
		return -ENOMEM;
	tell_round(hal, HAL_ROUND_BEGINS);
	return 0;
}

/* Reads the next ports, at most max. */
static int
snapshot_go_on(struct hal *hal, size_t max)
{
	int rc = 0;

	tell_round(hal, HAL_ROUND_GOES_ON);
	if (hal->building->port_list_changes != hal->port_list_changes)
		rc = merge_list(hal, hal->building);
	for (; rc == 0 && max > 0 && hal->building_next < hal->n_ports; hal->building_next++, max--) {
		hal->building_to = hal->ports[hal->building_next]->if_index;
		snapshot_read_port(hal, hal->building, hal->ports[hal->building_next]);
	}
	tell_round(hal, HAL_ROUND_RESTS);
	return rc;
}

int
hal_refresh(struct hal *hal, size_t max_ports)
{
	int rc = hal->building == NULL ? begin_round(hal) : 0;

	if (rc == 0)
		rc = snapshot_go_on(hal, max_ports == 0 ? SIZE_MAX : max_ports);
	if (rc < 0) {
		stat_add(&hal->stats, HAL_STAT_REFRESH_ERRORS, 1);
		return rc;
	}
	if (hal->building_next < hal->n_ports)
		return 1;
	hal_sensors_read(hal);
	rc = snapshot_read_addresses(hal, hal->building);
	if (rc == 0)
		rc = hal_structure_hold(hal, &hal->building->snapshot, hal->building->port_changes,
		    &hal->building->snapshot.structure);
	if (rc == 0)
		rc = hal_sensors_list(hal, &hal->building->snapshot);
	if (rc == 0)
		rc = hal_lldp_copy(hal, &hal->building->snapshot);
	if (rc < 0) {
		stat_add(&hal->stats, HAL_STAT_REFRESH_ERRORS, 1);
		published_free(hal->building);
	} else {
		hal->building->snapshot.has_error_sources = hal->device->errors != NULL;
		hal->building->snapshot.error_sources = hal->building->error_sources;
		hal->building->snapshot.n_error_sources = hal->n_error_sources;
		assert(hal->n_error_sources <= HAL_MAX_ERROR_SOURCES);
		memcpy(hal->building->error_sources, hal->error_sources,
		    hal->n_error_sources * sizeof(hal->error_sources[0]));
		read_device_drops(hal);
		publish_snapshot(hal, hal->building);
	}
	hal->building = NULL;
	return rc;
}

int
hal_refresh_all(struct hal *hal)
{
	drop_building(hal);
	return hal_refresh(hal, 0);
}

/* What the drivers of energy and buffers said stays until they are read again. */
static void
patch_port(const struct hal *hal, struct hal_published *p, const struct hal_port *fresh)
{
	const struct hal_addresses_ops *ops = hal->device->addresses;
	const struct hal_port *found;
	struct hal_port *row, merged;

	if (fresh == NULL) {
		if (p->snapshot.has_addresses)
			p->snapshot.ageing_s = ops->ageing_s(hal->device->addresses_ctx);
		return;
	}
	found = hal_snapshot_port(&p->snapshot, fresh->if_index);
	if (found == NULL)
		return;
	row = &p->ports[found - p->ports];
	merged = *fresh;
	merged.has_energy = row->has_energy;
	merged.energy = row->energy;
	merged.has_buffers = row->has_buffers;
	merged.buffers = row->buffers;
	*row = merged;
}

void
hal_publish_port(struct hal *hal, uint32_t if_index)
{
	struct hal_port fresh;
	bool held = false;

	if (if_index != 0 && hal_port_info(hal, if_index, &fresh) < 0)
		return;
	if (hal->building != NULL)
		patch_port(hal, hal->building, if_index ? &fresh : NULL);
	pthread_mutex_lock(&hal->publish_lock);
	if (hal->published != NULL) {
		held = hal->published->references > 1;
		if (!held)
			patch_port(hal, hal->published, if_index ? &fresh : NULL);
	}
	pthread_mutex_unlock(&hal->publish_lock);
	if (held) {
		(void)hal_refresh_all(hal);
	}
}

const struct hal_snapshot *
hal_snapshot_hold(struct hal *hal)
{
	struct hal_published *p;

	pthread_mutex_lock(&hal->publish_lock);
	p = hal->published;
	if (p != NULL)
		p->references++;
	pthread_mutex_unlock(&hal->publish_lock);
	return p != NULL ? &p->snapshot : NULL;
}

void
hal_snapshot_release(const struct hal_snapshot *snapshot)
{
	struct hal_published *p = (struct hal_published *)(uintptr_t)snapshot;
	bool last;

	if (p == NULL)
		return;
	pthread_mutex_lock(&p->hal->publish_lock);
	assert(p->references > 0);
	last = --p->references == 0;
	pthread_mutex_unlock(&p->hal->publish_lock);
	if (last)
		published_free(p);
}

void
hal_snapshot_drop_all(struct hal *hal)
{
	drop_building(hal);
	if (hal->published != NULL)
		hal_snapshot_release(&hal->published->snapshot);
	hal->published = NULL;
	hal_structure_release(hal->structure);
	hal->structure = NULL;
}
