#include "agent/sim/resources.h"

#include "agent/sim/board_regs.h"
#include "agent/sim/chip/c84302.h"
#include "agent/sim/chip/eee_calendar.h"
#include "agent/sim/chip/tnetx4090.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POOLS = (BOARD_MAX_PORTS + TNETX4090_PORTS - 1) / TNETX4090_PORTS };
enum { OVERRUNS = C84302_COUNTERS, COUNTERS_WITH_POOL }; /* rows of a port's counters */

struct resources {
	struct eee_calendar *eee; /* NULL: none */
	struct tnetx4090 *pools[MAX_POOLS];
	unsigned n_pools, n_ports;
	uint32_t if_index[BOARD_MAX_PORTS]; /* by port */
	/* the counters facet of a board with pools: the MAC's, and one more row */
	const struct hal_counters_ops *mac;
	void *mac_ctx;
	struct hal_counter_row counter_rows[COUNTERS_WITH_POOL];
	struct hal_counters_ops counters;
};

/* The position of the port on the board; n_ports: there is none. */
static unsigned
resources_port_of(const struct resources *r, uint32_t if_index)
{
	unsigned port = 0;

	if (if_index >= 1 && if_index <= r->n_ports && r->if_index[if_index - 1] == if_index)
		return if_index - 1;
	while (port < r->n_ports && r->if_index[port] != if_index)
		port++;
	return port;
}

/* The pool of a port, and the port's number there; NULL: it has none. */
static struct tnetx4090 *
resources_pool_of(struct resources *r, uint32_t if_index, unsigned *channel)
{
	unsigned port = resources_port_of(r, if_index), pool = port / TNETX4090_PORTS;

	*channel = port % TNETX4090_PORTS;
	return port < r->n_ports && pool < r->n_pools ? r->pools[pool] : NULL;
}

/* --- the facets --- */

static int
resources_energy_read(void *ctx, uint32_t if_index, struct hal_energy *energy)
{
	struct resources *r = ctx;
	unsigned port = resources_port_of(r, if_index);

	return port < r->n_ports ? eee_calendar_read(r->eee, port, energy) : -ENODEV;
}

static const struct hal_energy_ops energy_ops = {.name = "eee_calendar", .read = resources_energy_read};

static int
buffers_read(void *ctx, uint32_t if_index, struct hal_buffers *buffers)
{
	unsigned channel;
	struct tnetx4090 *pool = resources_pool_of(ctx, if_index, &channel);

	return pool ? tnetx4090_read(pool, channel, buffers) : -ENODEV;
}

static const struct hal_buffers_ops buffers_ops = {.name = "tnetx4090", .read = buffers_read};

/* --- counters --- */

static int
read_overruns(struct resources *r, uint32_t if_index, uint64_t *raw)
{
	unsigned channel;
	struct tnetx4090 *pool = resources_pool_of(r, if_index, &channel);
	uint32_t value;
	int rc = pool ? tnetx4090_statistic(pool, channel, TNETX4090_RX_OVERRUNS, &value) : -ENODEV;

	if (rc == 0)
		*raw = value;
	return rc;
}

static int
resources_counters_read(void *ctx, uint32_t if_index, size_t row, uint64_t *raw)
{
	struct resources *r = ctx;

	return row == OVERRUNS ? read_overruns(r, if_index, raw)
			       : r->mac->read(r->mac_ctx, if_index, row, raw);
}

/* A good frame without a buffer is a discard (RFC 2863). It is not in the sampling pool, because the
 * switch chips, whose EASE counters make up that pool, never got it. */
static void
counters_derive(const uint64_t *totals, struct hal_counters *counters)
{
	uint64_t *pool = &counters->value[HAL_POOL_IN_PKTS];

	c84302_derive(totals, counters);
	counters->value[HAL_IN_DISCARDS] += totals[OVERRUNS];
	*pool -= totals[OVERRUNS] < *pool ? totals[OVERRUNS] : *pool;
}

static void
compose_counters(struct resources *r, struct hal_device *device)
{
	r->mac = device->counters;
	r->mac_ctx = device->counters_ctx;
	memcpy(r->counter_rows, c84302_counter_rows, sizeof(c84302_counter_rows));
	r->counter_rows[OVERRUNS] = (struct hal_counter_row){
	    .name = "receive overruns", .address = TNETX4090_RX_OVERRUNS, .width_bits = 32};
	r->counters = (struct hal_counters_ops){
	    .name = "c84302 and tnetx4090",
	    .rows = r->counter_rows,
	    .n_rows = COUNTERS_WITH_POOL,
	    .read = resources_counters_read,
	    .derive = counters_derive,
	};
	device->counters = &r->counters;
	device->counters_ctx = r;
}

void
resources_compose(struct resources *r, struct hal_device *device)
{
	if (r->eee) {
		device->energy = &energy_ops;
		device->energy_ctx = r;
	}
	if (r->n_pools > 0) {
		device->buffers = &buffers_ops;
		device->buffers_ctx = r;
		compose_counters(r, device);
	}
}

int
resources_dispatch(struct resources *r, uint32_t lines, unsigned *handled)
{
	int rc;

	if (!r->eee || !(lines >> BOARD_LINE_EEE & 1))
		return 0;
	rc = eee_calendar_dispatch(r->eee);
	if (rc < 0)
		return rc;
	*handled += (unsigned)rc;
	return 0;
}

/* --- building --- */

static int
resources_add_eee(struct resources *r, const struct resources_config *config)
{
	struct eee_calendar_config eee = {.bus = config->bus, .base = BOARD_EEE_BASE};
	bool any = false;

	for (unsigned i = 0; i < config->n_ports; i++) {
		eee.has_eee[i] = config->ports[i].eee;
		any = any || config->ports[i].eee;
	}
	return any ? eee_calendar_create(&eee, &r->eee) : 0;
}

static int
resources_add_pool(struct resources *r, const struct resources_config *config)
{
	unsigned first = r->n_pools * TNETX4090_PORTS, left = config->n_ports - first;
	struct tnetx4090_config pool = {
	    .bus = config->bus,
	    .base = BOARD_POOL_BASE + r->n_pools * TNETX4090_WINDOW,
	    .n_ports = left < TNETX4090_PORTS ? left : TNETX4090_PORTS,
	    .flow = config->flow,
	    .holb = config->holb,
	    .threshold = config->threshold,
	    .mcast_limit = config->mcast_limit,
	    .max_octets = config->max_octets,
	};
	int rc;

	for (unsigned i = 0; i < pool.n_ports; i++) {
		pool.no_pause[i] = !config->ports[first + i].pause;
		pool.half_duplex[i] = !config->ports[first + i].full_duplex;
	}
	rc = tnetx4090_create(&pool, &r->pools[r->n_pools]);
	r->n_pools += rc == 0;
	return rc;
}

int
resources_create(const struct resources_config *config, struct resources **resources)
{
	struct resources *r;
	int rc = 0;

	if (config->n_ports < 1 || config->n_ports > BOARD_MAX_PORTS)
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->n_ports = config->n_ports;
	for (unsigned i = 0; i < config->n_ports; i++)
		r->if_index[i] = config->ports[i].if_index;
	if (config->has_eee_unit)
		rc = resources_add_eee(r, config);
	while (rc == 0 && config->has_pools && r->n_pools * TNETX4090_PORTS < config->n_ports)
		rc = resources_add_pool(r, config);
	if (rc < 0) {
		resources_destroy(r);
		return rc;
	}
	*resources = r;
	return 0;
}

void
resources_destroy(struct resources *r)
{
	if (!r)
		return;
	eee_calendar_destroy(r->eee);
	for (unsigned i = 0; i < r->n_pools; i++)
		tnetx4090_destroy(r->pools[i]);
	free(r);
}

const struct stat_set *
resources_stats(const struct resources *r)
{
	return r->eee ? eee_calendar_stats(r->eee) : NULL;
}
