/*
 * LLDP's neighbours as a snapshot has them: copies of what the device knows, of ports that the snapshot has.
 */
#include "agent/hal/hal_private.h"

#include "common/sorted.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

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
