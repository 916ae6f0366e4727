/*
 * LLDP's neighbours as a snapshot has them: copies of what the device knows, of ports that the snapshot has.
 */
#include "agent/hal/hal_private.h"

#include "common/sorted.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int
order_neighbours(const struct hal_neighbour *a, const struct hal_neighbour *b)
{
	if (a->if_index != b->if_index)
		return a->if_index < b->if_index ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static bool
says_same(const struct hal_neighbour *a, const struct hal_neighbour *b)
{
	return lldp_same_id(&a->chassis, &b->chassis) && lldp_same_id(&a->port, &b->port) &&
	    strcmp(a->port_descr, b->port_descr) == 0 && strcmp(a->system_name, b->system_name) == 0;
}

/* Both lists are sorted. */
void
hal_neighbours_stamp(const struct hal_lldp *old, struct hal_neighbour *fresh, size_t n_fresh, uint64_t now_us)
{
	size_t k = 0;

	for (size_t i = 0; i < n_fresh; i++) {
		const struct hal_neighbour *was;

		assert(i == 0 || order_neighbours(&fresh[i - 1], &fresh[i]) < 0);
		while (k < old->n_neighbours && order_neighbours(&old->neighbours[k], &fresh[i]) < 0)
			k++;
		was = k < old->n_neighbours && order_neighbours(&old->neighbours[k], &fresh[i]) == 0 ? &old->neighbours[k] : NULL;
		fresh[i].changed_mono_us = was && says_same(was, &fresh[i]) ? was->changed_mono_us : now_us;
	}
}

/* Rows of ports that are none are left out, as they come before the port does, or stay a little longer. */
static int
copy_ports(const struct hal_lldp *known, struct hal_snapshot *s)
{
	struct hal_lldp_port *ports = calloc(known->n_ports + 1, sizeof(*ports));

	if (!ports)
		return -ENOMEM;
	s->lldp.ports = ports;
	for (size_t i = 0; i < known->n_ports; i++)
		if (hal_snapshot_port(s, known->ports[i].if_index))
			ports[s->lldp.n_ports++] = known->ports[i];
	assert(SORTED_ASCENDS(ports, s->lldp.n_ports, if_index));
	return 0;
}

static int
copy_neighbours(const struct hal_lldp *known, struct hal_snapshot *s)
{
	struct hal_neighbour *neighbours = calloc(known->n_neighbours + 1, sizeof(*neighbours));

	if (!neighbours)
		return -ENOMEM;
	s->lldp.neighbours = neighbours;
	for (size_t i = 0; i < known->n_neighbours; i++)
		if (hal_snapshot_port(s, known->neighbours[i].if_index))
			neighbours[s->lldp.n_neighbours++] = known->neighbours[i];
	return 0;
}

int
hal_lldp_copy(const struct hal *hal, struct hal_snapshot *s)
{
	const struct hal_lldp_ops *ops = hal->device->lldp;
	const struct hal_lldp *known = ops ? ops->known(hal->device->lldp_ctx) : NULL;
	int rc;

	if (!known)
		return 0;
	assert(known->n_neighbours <= HAL_MAX_NEIGHBOURS && known->n_ports <= HAL_MAX_PORTS);
	s->has_lldp = true;
	s->lldp = *known;
	s->lldp.ports = NULL;
	s->lldp.neighbours = NULL;
	s->lldp.n_ports = s->lldp.n_neighbours = 0;
	rc = copy_ports(known, s);
	return rc == 0 ? copy_neighbours(known, s) : rc;
}
