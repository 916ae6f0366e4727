/*
 * The lowest file of the HAL: the list of ports with the state kept for each, and what the device
 * says of itself (its kind, its clock). The other files of this room call it; it calls none of them.
 */
#include "agent/hal/hal_private.h"
#include "common/sorted.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the device ---- */

const char *
hal_device_kind(const struct hal *hal)
{
	return hal->device->ops->kind;
}

uint64_t
hal_now_us(const struct hal *hal)
{
	return hal->device->ops->now_us(hal->device->ctx);
}

uint64_t
hal_mono_us(const struct hal *hal)
{
	return clock_mono_us(hal->clock);
}

uint64_t
hal_steady_us(const struct hal *hal)
{
	const struct hal_device_ops *ops = hal->device->ops;

	return ops->steady_us != NULL ? ops->steady_us(hal->device->ctx) : hal_now_us(hal);
}

uint64_t
hal_steady_of_wall(const struct hal *hal, uint64_t wall_us)
{
	uint64_t wall = clock_wall_us(hal->clock), mono = clock_mono_us(hal->clock);

	return wall_us != 0 && wall_us <= wall && wall - wall_us < mono ? mono - (wall - wall_us) : 0;
}

uint64_t
hal_wall_of_steady(const struct hal *hal, uint64_t mono_us)
{
	return mono_us == 0 ? 0 : clock_wall_us(hal->clock) - (clock_mono_us(hal->clock) - mono_us);
}

/* ---- ports ---- */

struct hal_port_state *
hal_port_find(const struct hal *hal, uint32_t if_index)
{
	size_t at = sorted_position_of(hal->if_indexes, hal->n_ports, sizeof(*hal->if_indexes), 0, if_index);

	return at < hal->n_ports && hal->if_indexes[at] == if_index ? hal->ports[at] : NULL;
}

size_t
hal_n_ports(const struct hal *hal)
{
	return hal->n_ports;
}

uint32_t
hal_port_if_index(const struct hal *hal, size_t i)
{
	return hal->ports[i]->if_index;
}

int
hal_port_fill(const struct hal *hal, const struct hal_port_state *port, struct hal_port *info)
{
	uint32_t if_index = port->if_index;
	int rc;

	memset(info, 0, sizeof(*info));
	rc = hal->device->ports->get(hal->device->ports_ctx, if_index, info);
	if (rc < 0)
		return rc;
	info->if_index = if_index;
	if (!info->off_bridge && info->base_port == 0 && if_index <= UINT16_MAX)
		info->base_port = (uint16_t)if_index;
	if (hal->device->ports->set_alias == NULL)
		memcpy(info->alias, port->alias, sizeof(info->alias));
	info->link_traps = !port->no_link_traps;
	info->last_change_mono_us = port->last_change_mono_us;
	info->discontinuity_mono_us = port->discontinuity_mono_us;
	info->discontinuity_us = port->discontinuity_us;
	info->counters = port->figures;
	return 0;
}

int
hal_port_info(const struct hal *hal, uint32_t if_index, struct hal_port *info)
{
	const struct hal_port_state *port = hal_port_find(hal, if_index);

	return port != NULL ? hal_port_fill(hal, port, info) : -ENODEV;
}

uint32_t
hal_port_of_base(const struct hal *hal, uint32_t base_port)
{
	struct hal_port port;

	if (base_port == 0)
		return 0;
	if (hal_port_info(hal, base_port, &port) == 0 && port.base_port == base_port)
		return base_port; /* on most devices they are the same */
	for (size_t i = 0; i < hal->n_ports; i++)
		if (hal_port_info(hal, hal->ports[i]->if_index, &port) == 0 && port.base_port == base_port)
			return port.if_index;
	return 0;
}

const struct hal_port *
hal_snapshot_port(const struct hal_snapshot *snapshot, uint32_t if_index)
{
	size_t at = SORTED_POSITION_OF(snapshot->ports, snapshot->n_ports, if_index, if_index);

	if (at == snapshot->n_ports || snapshot->ports[at].if_index != if_index)
		return NULL;
	return &snapshot->ports[at];
}

/* ---- keeping the list in step with the device ---- */

/* RFC 2863, ifLinkUpDownTrapEnable: disabled by default where an interface runs on top of others. */
static bool
runs_on_others(const struct hal_port *port)
{
	enum { L2VLAN = 135, LAG = 161, BRIDGE = 209 }; /* IANAifType-MIB */

	return port->if_type == L2VLAN || port->if_type == LAG || port->if_type == BRIDGE;
}

/* The state of the port, a new one unless it is known. NULL without memory. */
static struct hal_port_state *
port_state(struct hal *hal, uint32_t if_index)
{
	struct hal_port_state *port = hal_port_find(hal, if_index);
	struct hal_port info = {0};

	if (port != NULL)
		return port;
	port = calloc(1, sizeof(*port));
	if (port == NULL)
		return NULL;
	port->if_index = if_index;
	if (hal->device->ports->get(hal->device->ports_ctx, if_index, &info) == 0)
		port->oper_status = info.oper_status;
	port->no_link_traps = runs_on_others(&info);
	if (!hal->started)
		return port;
	/* The port was plugged in: its counters and its state begin now. */
	port->last_change_mono_us = port->discontinuity_mono_us = clock_mono_us(hal->clock);
	port->discontinuity_us = hal_now_us(hal);
	return port;
}

/* Returns true if the provider's ports are not those of our list. */
static bool
ports_differ(const struct hal *hal, size_t n)
{
	const struct hal_ports_ops *ops = hal->device->ports;

	if (n != hal->n_ports)
		return true;
	for (size_t i = 0; i < n; i++)
		if (ops->if_index(hal->device->ports_ctx, i) != hal->ports[i]->if_index)
			return true;
	return false;
}

/* Whether the list has the port. It and the ports that are asked for are sorted: *at goes on from one to the next. */
static bool
ports_list_has(struct hal_port_state *const *list, size_t n, size_t *at, uint32_t if_index)
{
	while (*at < n && list[*at]->if_index < if_index)
		++*at;
	return *at < n && list[*at]->if_index == if_index;
}

/* Calls moved for each port of a that b lacks. */
static void
tell_difference(struct hal *hal, struct hal_port_state *const *a, size_t n_a, struct hal_port_state *const *b,
    size_t n_b, enum hal_port_happening happening, hal_port_moved moved)
{
	size_t at = 0;

	for (size_t i = 0; moved != NULL && i < n_a; i++)
		if (!ports_list_has(b, n_b, &at, a[i]->if_index))
			moved(hal, happening, a[i]->if_index);
}

static void
free_states(struct hal_port_state **list, size_t n, const struct hal *but_those_of)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		if (!ports_list_has(but_those_of->ports, but_those_of->n_ports, &at, list[i]->if_index))
			free(list[i]);
}

/* Fills the list with the states of the provider's first n ports. -ENOMEM: it holds none. */
static int
ports_fill_list(struct hal *hal, struct hal_port_state **list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		list[i] = port_state(hal, hal->device->ports->if_index(hal->device->ports_ctx, i));
		if (list[i] == NULL) {
			free_states(list, i, hal);
			return -ENOMEM;
		}
	}
	return 0;
}

int
hal_ports_sync(struct hal *hal, hal_port_moved moved)
{
	const struct hal_ports_ops *ops = hal->device->ports;
	size_t n = ops->count(hal->device->ports_ctx), n_old = hal->n_ports;
	struct hal_port_state **fresh, **old = hal->ports;
	uint32_t *if_indexes;

	if (n > HAL_MAX_PORTS) {
		stat_add(&hal->stats, HAL_STAT_PORTS_LEFT_OUT, n - HAL_MAX_PORTS);
		n = HAL_MAX_PORTS;
	}
	if (old != NULL && !ports_differ(hal, n))
		return 0;
	fresh = calloc(n ? n : 1, sizeof(*fresh));
	if_indexes = calloc(n ? n : 1, sizeof(*if_indexes));
	if (fresh == NULL || if_indexes == NULL || ports_fill_list(hal, fresh, n) < 0) {
		free(fresh);
		free(if_indexes);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		if_indexes[i] = fresh[i]->if_index;
	assert(sorted_ascends_by(if_indexes, n, sizeof(*if_indexes), 0)); /* as hal_provider.h has it */
	if (old != NULL)
		hal->ports_changed_mono_us = clock_mono_us(hal->clock);
	hal->port_changes++;
	hal->port_list_changes++;
	hal->ports = fresh;
	free(hal->if_indexes);
	hal->if_indexes = if_indexes;
	hal->n_ports = n;
	tell_difference(hal, old, n_old, fresh, n, HAL_PORT_LEFT, moved);
	tell_difference(hal, fresh, n, old, n_old, HAL_PORT_CAME, moved);
	free_states(old, n_old, hal);
	free(old);
	return 0;
}

void
hal_ports_free(struct hal *hal)
{
	for (size_t i = 0; i < hal->n_ports; i++)
		free(hal->ports[i]);
	free(hal->ports);
	free(hal->if_indexes);
	hal->if_indexes = NULL;
	hal->ports = NULL;
	hal->n_ports = 0;
}
