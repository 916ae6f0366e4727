#include "agent/state_restore.h"

#include "common/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
restore_setting(void *ctx, const struct mib_set *set)
{
	const struct settings_owners *owners = ctx;
	int rc = settings_restore(owners, set);

	if (rc < 0)
		log_warn("state", "port %u: a setting from before the restart cannot be made again: %s",
		    (unsigned)set->if_index, strerror(-rc));
}

static void
name_port(struct state *state, const struct hal *hal, uint32_t if_index)
{
	struct hal_port info;

	if (hal_port_info(hal, if_index, &info) == 0)
		state_port_here(state, info.name, if_index);
}

void
state_restore_port(
    struct state *state, const struct settings_owners *owners, const struct hal_port_event *event)
{
	switch (event->happening) {
	case HAL_PORT_CAME:
		name_port(state, owners->hal, event->if_index);
		state_settings(state, event->if_index, restore_setting, (void *)(uintptr_t)owners);
		break;
	case HAL_PORT_CHANGED:
		name_port(state, owners->hal, event->if_index);
		break;
	case HAL_PORT_LEFT:
		state_port_gone(state, event->if_index);
		break;
	case HAL_PORT_FORGOTTEN: /* by the state itself */
		break;
	}
}

/* ---- totals ---- */

struct restoring {
	struct hal *hal;
	uint32_t *done; /* the ports whose totals continue, in the order of the file */
	size_t n_done;
};

static void
restore_totals(void *ctx, uint32_t if_index, const uint64_t *totals, size_t n,
    uint64_t discontinuity_us)
{
	struct restoring *r = ctx;

	int rc = hal_restore_totals(r->hal, if_index, totals, n);

	if (rc == -ENODEV)
		return;
	if (rc < 0) {
		hal_mark_discontinuity(r->hal, if_index);
		return;
	}
	hal_restore_discontinuity(r->hal, if_index, discontinuity_us);
	r->done[r->n_done++] = if_index;
}

static int
compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* A port without stored totals begins anew after a crash; but not where the device keeps the totals, as a
 * kernel does, which has counted on. */
static void
restore_all_totals(struct state *state, struct hal *hal)
{
	size_t n = hal_n_ports(hal);
	struct restoring r = {.hal = hal, .done = calloc(n + 1, sizeof(*r.done))};

	if (r.done)
		state_totals(state, restore_totals, &r);
	if (r.n_done > 0)
		qsort(r.done, r.n_done, sizeof(*r.done), compare_numbers);
	for (size_t i = 0; i < n && state_boot(state) > 1 && !hal_totals_go_on(hal); i++) {
		uint32_t if_index = hal_port_if_index(hal, i);

		if (r.n_done == 0 || !bsearch(&if_index, r.done, r.n_done, sizeof(*r.done), compare_numbers))
			hal_mark_discontinuity(hal, if_index);
	}
	free(r.done);
}

static void
restore_changes(void *ctx, uint32_t if_index, const uint64_t *numbers, size_t n)
{
	hal_restore_changes(ctx, if_index, numbers, n);
}

void
state_restore(struct state *state, const struct settings_owners *owners)
{
	for (size_t i = 0; i < hal_n_ports(owners->hal); i++)
		name_port(state, owners->hal, hal_port_if_index(owners->hal, i));
	state_settings(state, STATE_ALL_PORTS, restore_setting, (void *)(uintptr_t)owners);
	restore_all_totals(state, owners->hal);
	state_changes(state, restore_changes, owners->hal);
}

static int
read_totals(void *ctx, uint32_t if_index, uint64_t *totals, size_t max, size_t *n,
    uint64_t *discontinuity_us)
{
	const struct hal *hal = ctx;

	*discontinuity_us = hal_discontinuity_wall_us(hal, if_index);
	return hal_save_totals(hal, if_index, totals, max, n);
}

static size_t
read_changes(void *ctx, uint32_t if_index, uint64_t *numbers)
{
	return hal_save_changes(ctx, if_index, numbers);
}

int
state_save_totals(struct state *state, const struct hal *hal)
{
	const struct state_totals_source source = {(void *)(uintptr_t)hal, read_totals, read_changes};

	return state_stop(state, &source);
}
