/*
 * Reads what a port counts. Hardware counters become 64-bit figures here, and only here: this file
 * knows widths, wraps and clear-on-read. Energy and buffers are read as the driver has them.
 */
#include "agent/hal/hal_private.h"

#include "common/log.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t
hal_counter_delta(const struct hal_counter_row *row, uint64_t *previous, uint64_t raw)
{
	uint64_t mask = row->width_bits >= 64 ? UINT64_MAX : (1ull << row->width_bits) - 1;
	uint64_t before = *previous;

	assert(row->width_bits > 0 && row->width_bits <= 64);
	raw &= mask;
	*previous = raw;
	if (row->flags & HAL_COUNTER_CLEARS_ON_READ)
		return raw;
	/* The read that returned the maximum has reset the register. */
	if ((row->flags & HAL_COUNTER_ZERO_AFTER_MAX) && before == mask)
		before = 0;
	return (raw - before) & mask;
}

/* A counter of 64 bits that is less than before has not wrapped: its driver was reset, or part of what
 * it summed up has left. How much passed since then is not known. Our total goes on from where it is, and
 * the discontinuity says that something is missing (RFC 2863 section 3.1.5). */
static bool
went_back(const struct hal_counter_row *row, uint64_t *previous, uint64_t raw)
{
	if (!(row->flags & HAL_COUNTER_IS_TOTAL) || raw >= *previous)
		return false;
	*previous = raw;
	return true;
}

/* Derives the figures of the mask alone: others may depend on totals that were not read with these. */
static void
derive_figures(struct hal *hal, struct hal_port_state *port, uint64_t mask)
{
	struct hal_counters fresh = {0};

	hal->device->counters->derive(port->totals, &fresh);
	for (size_t i = 0; i < HAL_N_FIGURES; i++)
		if ((mask >> i & 1) && fresh.value[i] > port->figures.value[i])
			port->figures.value[i] = fresh.value[i];
	port->figures.known = fresh.known;
	if (hal->device->counters->known)
		port->figures.known &=
		    hal->device->counters->known(hal->device->counters_ctx, port->if_index);
}

static void
counters_count_failure(struct hal *hal, uint32_t if_index, const char *what, int rc)
{
	stat_add(&hal->stats, HAL_STAT_COUNTER_READ_ERRORS, 1);
	if (rc != -ENODEV) /* a port that leaves may be gone before its notice */
		log_warn_limited("hal", "port %u: counter %s cannot be read: %s", if_index, what, strerror(-rc));
}

/* Whether there is something to read. Most ports of most devices are idle most of the time, and their rows are many. */
static bool
fetch_rows(struct hal *hal, struct hal_port_state *port)
{
	const struct hal_counters_ops *ops = hal->device->counters;
	int rc = ops->fetch != NULL ? ops->fetch(hal->device->counters_ctx, port->if_index) : 1;

	if (rc < 0)
		counters_count_failure(hal, port->if_index, ops->name, rc);
	if (rc != 0)
		port->rows_read = false;
	return rc >= 0 && !port->rows_read;
}

/* Adds to the totals what the hardware counters have counted, but for those that have one of the flags. */
static void
read_rows(struct hal *hal, struct hal_port_state *port, unsigned flags_left_out)
{
	const struct hal_counters_ops *ops = hal->device->counters;
	bool restarted = false;
	uint64_t raw;

	assert(ops->n_rows <= HAL_MAX_COUNTER_ROWS);
	port->rows_read = flags_left_out == 0;
	for (size_t row = 0; row < ops->n_rows; row++) {
		int rc;

		if (ops->rows[row].flags & flags_left_out)
			continue;
		rc = ops->read(hal->device->counters_ctx, port->if_index, row, &raw);
		if (rc < 0) {
			counters_count_failure(hal, port->if_index, ops->rows[row].name, rc);
			port->rows_read = false;
			continue;
		}
		if (went_back(&ops->rows[row], &port->previous_raw[row], raw))
			restarted = true;
		else
			port->totals[row] +=
			    hal_counter_delta(&ops->rows[row], &port->previous_raw[row], raw);
	}
	if (restarted) {
		stat_add(&hal->stats, HAL_STAT_COUNTERS_RESTARTED, 1);
		hal_mark_discontinuity(hal, port->if_index);
	}
}

void
hal_read_port_counters(struct hal *hal, struct hal_port_state *port)
{
	if (fetch_rows(hal, port)) {
		read_rows(hal, port, 0);
		derive_figures(hal, port, UINT64_MAX);
	}
	if (port->rows_read)
		port->read_us = hal->in_round ? hal->building_us : hal_now_us(hal);
}

int
hal_read_counters(struct hal *hal, uint32_t if_index, struct hal_counters *counters)
{
	struct hal_port_state *port = hal_port_find(hal, if_index);

	if (port == NULL)
		return -ENODEV;
	if (hal->device->counters == NULL)
		return -EOPNOTSUPP;
	hal_read_port_counters(hal, port);
	*counters = port->figures;
	return 0;
}

const struct hal_counters *
hal_last_counters(const struct hal *hal, uint32_t if_index, uint64_t *read_us)
{
	const struct hal_port_state *port = hal_port_find(hal, if_index);

	if (port == NULL || port->read_us == 0)
		return NULL;
	*read_us = port->read_us;
	return &port->figures;
}

void
hal_read_sample_counters(struct hal *hal, struct hal_port_state *port)
{
	if (fetch_rows(hal, port)) {
		read_rows(hal, port, HAL_COUNTER_NOT_SAMPLED);
		derive_figures(hal, port, HAL_SAMPLE_FIGURES);
	}
	port->sample_read_us = hal_now_us(hal);
	port->sample_read_turn = hal->turn;
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
		if ((ops->rows[row].flags & (HAL_COUNTER_IS_TOTAL | HAL_COUNTER_BEGINS_AGAIN)) == HAL_COUNTER_IS_TOTAL &&
		    totals[row] > port->totals[row])
			return -ERANGE;
	for (size_t row = 0; row < n; row++)
		if (!(ops->rows[row].flags & HAL_COUNTER_IS_TOTAL))
			port->totals[row] += totals[row];
	derive_figures(hal, port, UINT64_MAX);
	return 0;
}

bool
hal_totals_go_on(const struct hal *hal)
{
	const struct hal_counters_ops *ops = hal->device->counters;

	for (size_t row = 0; ops != NULL && row < ops->n_rows; row++)
		if (!(ops->rows[row].flags & HAL_COUNTER_IS_TOTAL))
			return false;
	return ops != NULL;
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
hal_discontinuity_us(const struct hal *hal, uint32_t if_index)
{
	const struct hal_port_state *port = hal_port_find(hal, if_index);

	return port != NULL ? port->discontinuity_us : 0;
}

uint64_t
hal_discontinuity_wall_us(const struct hal *hal, uint32_t if_index)
{
	const struct hal_port_state *port = hal_port_find(hal, if_index);

	return port == NULL ? 0 : hal_wall_of_steady(hal, port->discontinuity_mono_us);
}

void
hal_restore_discontinuity(struct hal *hal, uint32_t if_index, uint64_t wall_us)
{
	struct hal_port_state *port = hal_port_find(hal, if_index);
	uint64_t mono_us = hal_steady_of_wall(hal, wall_us);

	if (port != NULL && mono_us != 0)
		port->discontinuity_mono_us = mono_us;
}

/* ---- energy and buffers ---- */

/* Counts and logs a failure. -ENODEV is none: the port lacks the facet. */
static int
facet_read(struct hal *hal, uint32_t if_index, const char *facet, int rc)
{
	if (rc == 0 || rc == -ENODEV)
		return rc;
	stat_add(&hal->stats, HAL_STAT_FACET_READ_ERRORS, 1);
	log_warn_limited("hal", "port %u: %s cannot be read: %s", if_index, facet, strerror(-rc));
	return rc;
}

int
hal_read_energy(struct hal *hal, uint32_t if_index, struct hal_energy *energy)
{
	const struct hal_energy_ops *ops = hal->device->energy;

	if (ops == NULL)
		return -EOPNOTSUPP;
	if (hal_port_find(hal, if_index) == NULL)
		return -ENODEV;
	return facet_read(hal, if_index, "energy", ops->read(hal->device->energy_ctx, if_index, energy));
}

int
hal_read_buffers(struct hal *hal, uint32_t if_index, struct hal_buffers *buffers)
{
	const struct hal_buffers_ops *ops = hal->device->buffers;

	if (ops == NULL)
		return -EOPNOTSUPP;
	if (hal_port_find(hal, if_index) == NULL)
		return -ENODEV;
	return facet_read(hal, if_index, "buffers", ops->read(hal->device->buffers_ctx, if_index, buffers));
}
