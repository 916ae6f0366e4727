/*
 * From readings to figures: the one place that knows widths, wraps, freezes and clear-on-read, and
 * the list of ports whose state it keeps.
 */
#include "agent/hal/hal_private.h"

#include "common/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t
hal_counter_delta(const struct hal_counter_row *row, uint64_t *previous, uint64_t raw)
{
	uint64_t mask = row->width_bits >= 64 ? UINT64_MAX : (1ull << row->width_bits) - 1;
	uint64_t before = *previous;

	raw &= mask;
	*previous = raw;
	if (row->flags & HAL_COUNTER_CLEARS_ON_READ)
		return raw;
	/* The read that returned the maximum zeroed the register behind it. */
	if ((row->flags & HAL_COUNTER_ZERO_AFTER_MAX) && before == mask)
		before = 0;
	return (raw - before) & mask;
}

static void
derive_figures(struct hal *hal, struct hal_port_state *port)
{
	struct hal_counters fresh = {0};

	hal->device->counters->derive(port->totals, &fresh);
	for (size_t i = 0; i < HAL_N_FIGURES; i++)
		if (fresh.value[i] > port->figures.value[i])
			port->figures.value[i] = fresh.value[i];
	port->figures.known = fresh.known;
	if (hal->device->counters->known)
		port->figures.known &=
		    hal->device->counters->known(hal->device->counters_ctx, port->if_index);
}

int
hal_read_counters(struct hal *hal, uint32_t if_index, struct hal_counters *counters)
{
	const struct hal_counters_ops *ops = hal->device->counters;
	struct hal_port_state *port = hal_port_find(hal, if_index);
	uint64_t raw;

	if (port == NULL)
		return -ENODEV;
	if (ops == NULL)
		return -EOPNOTSUPP;
	for (size_t row = 0; row < ops->n_rows; row++) {
		int rc = ops->read(hal->device->counters_ctx, if_index, row, &raw);

		if (rc < 0) {
			stat_add(&hal->stats, HAL_STAT_COUNTER_READ_ERRORS, 1);
			log_warn_limited("hal", "port %u, counter %s: %s", if_index,
			    ops->rows[row].name, strerror(-rc));
			continue;
		}
		port->totals[row] +=
		    hal_counter_delta(&ops->rows[row], &port->previous_raw[row], raw);
	}
	derive_figures(hal, port);
	*counters = port->figures;
	return 0;
}

int
hal_save_totals(const struct hal *hal, uint32_t if_index, uint64_t *totals, size_t max, size_t *n)
{
	const struct hal_port_state *port = hal_port_find(hal, if_index);
	const struct hal_counters_ops *ops = hal->device->counters;

	if (port == NULL)
		return -ENODEV;
	if (ops == NULL)
		return -EOPNOTSUPP;
	if (ops->n_rows > max)
		return -E2BIG;
	memcpy(totals, port->totals, ops->n_rows * sizeof(*totals));
	*n = ops->n_rows;
	return 0;
}

int
hal_restore_totals(struct hal *hal, uint32_t if_index, const uint64_t *totals, size_t n)
{
	struct hal_port_state *port = hal_port_find(hal, if_index);
	const struct hal_counters_ops *ops = hal->device->counters;
	struct hal_counters now;

	if (port == NULL)
		return -ENODEV;
	if (ops == NULL)
		return -EOPNOTSUPP;
	if (n != ops->n_rows)
		return -EINVAL;
	(void)hal_read_counters(hal, if_index, &now);
	for (size_t row = 0; row < n; row++)
		if ((ops->rows[row].flags & HAL_COUNTER_IS_TOTAL) && totals[row] > port->totals[row])
			return -ERANGE;
	for (size_t row = 0; row < n; row++)
		if (!(ops->rows[row].flags & HAL_COUNTER_IS_TOTAL))
			port->totals[row] += totals[row];
	derive_figures(hal, port);
	return 0;
}

void
hal_mark_discontinuity(struct hal *hal, uint32_t if_index)
{
	struct hal_port_state *port = hal_port_find(hal, if_index);

	if (port == NULL)
		return;
	port->discontinuity_mono_us = clock_mono_us(hal->clock);
	port->discontinuity_us = hal_now_us(hal);
}

uint64_t
hal_discontinuity_wall_us(const struct hal *hal, uint32_t if_index)
{
	const struct hal_port_state *port = hal_port_find(hal, if_index);

	if (port == NULL || port->discontinuity_mono_us == 0)
		return 0;
	return clock_wall_us(hal->clock) -
	    (clock_mono_us(hal->clock) - port->discontinuity_mono_us);
}

/* One from before this machine's start is older than any master. */
void
hal_restore_discontinuity(struct hal *hal, uint32_t if_index, uint64_t wall_us)
{
	struct hal_port_state *port = hal_port_find(hal, if_index);
	uint64_t wall = clock_wall_us(hal->clock), mono = clock_mono_us(hal->clock);

	if (port != NULL && wall_us != 0 && wall_us <= wall && wall - wall_us < mono)
		port->discontinuity_mono_us = mono - (wall - wall_us);
}

/* ---- ports ---- */

static int
compare_ports(const void *a, const void *b)
{
	uint32_t x = ((const struct hal_port_state *)a)->if_index;
	uint32_t y = ((const struct hal_port_state *)b)->if_index;

	return x < y ? -1 : x > y;
}

struct hal_port_state *
hal_port_find(const struct hal *hal, uint32_t if_index)
{
	struct hal_port_state key = {.if_index = if_index};

	if (hal->n_ports == 0)
		return NULL;
	return bsearch(&key, hal->ports, hal->n_ports, sizeof(key), compare_ports);
}

size_t
hal_n_ports(const struct hal *hal)
{
	return hal->n_ports;
}

uint32_t
hal_port_if_index(const struct hal *hal, size_t i)
{
	return hal->ports[i].if_index;
}

static void
port_state_init(struct hal *hal, struct hal_port_state *port, uint32_t if_index)
{
	const struct hal_port_state *known = hal_port_find(hal, if_index);
	struct hal_port info = {0};

	if (known != NULL) {
		*port = *known;
		return;
	}
	port->if_index = if_index;
	if (hal->device->ports->get(hal->device->ports_ctx, if_index, &info) == 0)
		port->oper_status = info.oper_status;
	if (!hal->started)
		return;
	/* Plugged in: its counters and its state begin now. */
	port->last_change_mono_us = port->discontinuity_mono_us = clock_mono_us(hal->clock);
	port->discontinuity_us = hal_now_us(hal);
}

/* Do the provider's ports differ from ours? */
static bool
ports_differ(const struct hal *hal, size_t n)
{
	const struct hal_ports_ops *ops = hal->device->ports;

	if (n != hal->n_ports)
		return true;
	for (size_t i = 0; i < n; i++)
		if (ops->if_index(hal->device->ports_ctx, i) != hal->ports[i].if_index)
			return true;
	return false;
}

int
hal_ports_sync(struct hal *hal)
{
	const struct hal_ports_ops *ops = hal->device->ports;
	size_t n = ops->count(hal->device->ports_ctx);
	struct hal_port_state *fresh;

	if (n > HAL_MAX_PORTS) {
		stat_add(&hal->stats, HAL_STAT_PORTS_LEFT_OUT, n - HAL_MAX_PORTS);
		n = HAL_MAX_PORTS;
	}
	if (hal->ports != NULL && !ports_differ(hal, n))
		return 0;
	fresh = calloc(n ? n : 1, sizeof(*fresh));
	if (fresh == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		port_state_init(hal, &fresh[i], ops->if_index(hal->device->ports_ctx, i));
	qsort(fresh, n, sizeof(*fresh), compare_ports);
	if (hal->ports != NULL)
		hal->ports_changed_mono_us = clock_mono_us(hal->clock);
	hal->port_changes++;
	hal_snapshot_drop_building(hal);
	free(hal->ports);
	hal->ports = fresh;
	hal->n_ports = n;
	return 0;
}

void
hal_ports_free(struct hal *hal)
{
	free(hal->ports);
	hal->ports = NULL;
	hal->n_ports = 0;
}

int
hal_port_info(const struct hal *hal, uint32_t if_index, struct hal_port *info)
{
	const struct hal_port_state *port = hal_port_find(hal, if_index);
	int rc;

	if (port == NULL)
		return -ENODEV;
	memset(info, 0, sizeof(*info));
	rc = hal->device->ports->get(hal->device->ports_ctx, if_index, info);
	if (rc < 0)
		return rc;
	info->if_index = if_index;
	if (hal->device->ports->set_alias == NULL)
		memcpy(info->alias, port->alias, sizeof(info->alias));
	info->link_traps = !port->no_link_traps;
	info->last_change_mono_us = port->last_change_mono_us;
	info->discontinuity_mono_us = port->discontinuity_mono_us;
	info->discontinuity_us = port->discontinuity_us;
	info->counters = port->figures;
	return 0;
}
