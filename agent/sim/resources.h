/*
 * Energy and buffers of an emulated board: the drivers of its EEE unit and of its TNETX4090s, the HAL
 * facets for them, and the counter that the pools add to the ports. Port i of the board is port i of
 * the one EEE unit, and port i % 9 of TNETX4090 number i / 9.
 *
 * All calls are on the HAL's thread.
 */
#ifndef EASE_AGENT_SIM_RESOURCES_H
#define EASE_AGENT_SIM_RESOURCES_H

#include "agent/hal/hal_provider.h"
#include "agent/sim/board.h"
#include "agent/sim/bus/bus.h"

struct resources;

struct resources_port {
	uint32_t if_index;
	bool eee, pause, full_duplex;
};

struct resources_config {
	const struct bus *bus; /* borrowed */
	unsigned n_ports;
	const struct resources_port *ports; /* read by create only */
	bool has_eee_unit; /* the facet exists only if a port has EEE, too */
	bool has_pools;	   /* as many TNETX4090s as the ports need */
	/* SysControl and limits of all pools; see struct tnetx4090_config */
	bool flow, holb;
	uint32_t threshold, mcast_limit, max_octets;
};

/* 0, -ENOMEM, or a driver's error. */
int resources_create(const struct resources_config *config, struct resources **resources);
void resources_destroy(struct resources *resources); /* NULL allowed */

/* Adds the facets that the board has to the device. If there are pools, its counters, which must be the
 * 84302's, get one more row: frames that found no buffer. The MAC has counted these as good. */
void resources_compose(struct resources *resources, struct hal_device *device);

/* Handles the interrupts among lines (BOARD_GLUE_LINES), and adds their number to *handled. */
int resources_dispatch(struct resources *resources, uint32_t lines, unsigned *handled);

/* NULL: no EEE unit. */
const struct stat_set *resources_stats(const struct resources *resources);

#endif
