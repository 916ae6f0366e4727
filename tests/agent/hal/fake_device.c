#include "tests/agent/hal/fake_device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static size_t
fake_count(void *ctx)
{
	return ((struct fake_device *)ctx)->n_ports;
}

static uint32_t
fake_if_index(void *ctx, size_t i)
{
	(void)ctx;
	return (uint32_t)(10 * (i + 1)); /* not the position, so that nobody confuses the two */
}

static struct fake_port *
fake_port(void *ctx, uint32_t if_index)
{
	return &((struct fake_device *)ctx)->ports[if_index / 10 - 1];
}

static int
fake_get(void *ctx, uint32_t if_index, struct hal_port *port)
{
	snprintf(port->name, sizeof(port->name), "fake-%u", if_index);
	port->admin_status = EASE_IF_UP;
	port->oper_status = fake_port(ctx, if_index)->oper_status;
	port->speed_bps = fake_port(ctx, if_index)->speed_bps;
	port->pause_admin = fake_port(ctx, if_index)->pause;
	port->duplex = EASE_DUPLEX_FULL;
	port->has_connector = true;
	port->if_type = fake_port(ctx, if_index)->if_type;
	port->lag_parent = fake_port(ctx, if_index)->lag_parent;
	port->bridge = fake_port(ctx, if_index)->bridge;
	port->lower = fake_port(ctx, if_index)->lower;
	port->base_port = fake_port(ctx, if_index)->base_port;
	port->off_bridge = fake_port(ctx, if_index)->off_bridge;
	port->vlan_unaware = fake_port(ctx, if_index)->vlan_unaware;
	return 0;
}

static int
fake_set_pause(void *ctx, uint32_t if_index, uint8_t mode)
{
	fake_port(ctx, if_index)->pause = mode;
	return 0;
}

static const struct hal_ports_ops fake_ports = {.name = "fake", .count = fake_count,
    .if_index = fake_if_index, .get = fake_get, .set_pause = fake_set_pause};

static const struct hal_counter_row fake_rows[FAKE_N_ROWS] = {
    [FAKE_WRAPS] = {"wraps", 0, 32, HAL_COUNTER_ZERO_AFTER_MAX},
    [FAKE_CLEARS] = {"clears", 1, 16, HAL_COUNTER_CLEARS_ON_READ},
    [FAKE_TOTAL] = {"total", 2, 64, HAL_COUNTER_IS_TOTAL},
    [FAKE_GOOD_IN] = {"good in", 3, 32, 0},
    [FAKE_GOOD_OUT] = {"good out", 4, 32, 0},
};

static int
fake_read(void *ctx, uint32_t if_index, size_t row, uint64_t *raw)
{
	struct fake_device *fake = ctx;
	uint64_t *value = &fake_port(ctx, if_index)->raw[row];

	if (fake->read_error < 0)
		return fake->read_error;
	*raw = *value;
	if (row == FAKE_CLEARS || (row == FAKE_WRAPS && *value == UINT32_MAX))
		*value = 0;
	return 0;
}

static int
fake_fetch(void *ctx, uint32_t if_index)
{
	(void)if_index;
	return !((struct fake_device *)ctx)->says_same;
}

static void
fake_derive(const uint64_t *totals, struct hal_counters *c)
{
	c->value[HAL_IN_OCTETS] = totals[FAKE_WRAPS];
	c->value[HAL_IN_ERRORS] = totals[FAKE_CLEARS];
	c->value[HAL_OUT_OCTETS] = totals[FAKE_TOTAL];
	/* A difference of totals may step back; the figure must not. */
	c->value[HAL_IN_MCAST_PKTS] =
	    totals[FAKE_TOTAL] > totals[FAKE_WRAPS] ? totals[FAKE_TOTAL] - totals[FAKE_WRAPS] : 0;
	c->value[HAL_POOL_IN_PKTS] = totals[FAKE_GOOD_IN];
	c->value[HAL_POOL_OUT_PKTS] = totals[FAKE_GOOD_OUT];
	c->known = 1ull << HAL_IN_OCTETS | 1ull << HAL_IN_ERRORS | 1ull << HAL_OUT_OCTETS |
	    1ull << HAL_POOL_IN_PKTS | 1ull << HAL_POOL_OUT_PKTS | 1ull << HAL_IN_MCAST_PKTS;
}

static const struct hal_counters_ops fake_counters = {.name = "fake", .rows = fake_rows,
    .n_rows = FAKE_N_ROWS, .read = fake_read, .fetch = fake_fetch, .derive = fake_derive};

static int
fake_load_skip(void *ctx, uint32_t if_index, uint32_t skip)
{
	struct fake_port *port = fake_port(ctx, if_index);

	if (port->n_skips == FAKE_DEPTH)
		return -EBUSY;
	port->skips[port->n_skips++] = skip;
	port->loads++;
	return 0;
}

static int
fake_restart(void *ctx, uint32_t if_index)
{
	struct fake_device *fake = ctx;

	if (!fake->can_restart)
		return -EOPNOTSUPP;
	fake_port(ctx, if_index)->n_skips = 0;
	fake->restarted = if_index;
	return 0;
}

static int
fake_set_rate(void *ctx, uint32_t if_index, uint32_t rate)
{
	struct fake_port *port = fake_port(ctx, if_index);

	if (!port->draws_itself)
		return -ENODEV;
	port->rate = port->rate_error ? 0 : rate;
	return port->rate_error;
}

static const struct hal_sampling_ops fake_sampling = {.name = "fake", .max_skip = FAKE_MAX_SKIP,
    .skip_depth = FAKE_DEPTH, .load_skip = fake_load_skip, .restart = fake_restart,
    .set_rate = fake_set_rate};

static int
fake_dump(void *ctx, int (*add)(void *arg, const struct hal_address *address), void *arg)
{
	struct fake_device *fake = ctx;
	int rc = 0;

	for (size_t i = 0; i < fake->n_addresses && rc == 0; i++)
		rc = add(arg, &fake->addresses[i]);
	return rc;
}

static uint64_t
fake_discards(void *ctx)
{
	(void)ctx;
	return 7;
}

static uint32_t
fake_ageing_s(void *ctx)
{
	(void)ctx;
	return 300;
}

static int
fake_set_static(void *ctx, const uint8_t mac[6], uint32_t if_index)
{
	struct fake_device *fake = ctx;
	size_t i = 0;

	while (i < fake->n_static_addresses && memcmp(fake->static_addresses[i].mac, mac, 6) != 0)
		i++;
	if (i == fake->n_static_addresses && if_index == 0)
		return 0;
	if (i == FAKE_STATICS)
		return -ENOSPC;
	if (i == fake->n_static_addresses)
		fake->n_static_addresses++;
	memcpy(fake->static_addresses[i].mac, mac, 6);
	fake->static_addresses[i].if_index = if_index;
	if (if_index == 0)
		fake->static_addresses[i] = fake->static_addresses[--fake->n_static_addresses];
	return 0;
}

static const struct hal_addresses_ops fake_addresses = {.name = "fake", .dump = fake_dump,
    .discards = fake_discards, .ageing_s = fake_ageing_s, .set_static = fake_set_static};

static int
fake_start(void *ctx, struct hal *hal)
{
	((struct fake_device *)ctx)->hal = hal;
	return 0;
}

static int
fake_dispatch(void *ctx, unsigned budget)
{
	struct fake_device *fake = ctx;

	(void)budget;
	if (fake->restarted != 0)
		hal_report_skips_lost(fake->hal, fake->restarted);
	fake->restarted = 0;
	return 0;
}

static uint64_t
fake_now_us(void *ctx)
{
	const struct fake_device *fake = ctx;

	return fake->now_us + (uint64_t)fake->set_us;
}

static uint64_t
fake_steady_us(void *ctx)
{
	return ((struct fake_device *)ctx)->now_us;
}

static const struct hal_device_ops fake_ops = {
    .kind = "fake", .start = fake_start, .dispatch = fake_dispatch, .now_us = fake_now_us,
    .steady_us = fake_steady_us};

void
fake_init(struct fake_device *fake, size_t n_ports)
{
	memset(fake, 0, sizeof(*fake));
	fake->n_ports = n_ports;
	fake->now_us = 1000000;
	fake->set_us = 0;
	for (size_t i = 0; i < FAKE_PORTS; i++) {
		fake->ports[i].oper_status = EASE_IF_UP;
		fake->ports[i].speed_bps = 100000000;
	}
	fake->device = (struct hal_device){
	    .ops = &fake_ops, .ctx = fake,
	    .ports = &fake_ports, .ports_ctx = fake,
	    .counters = &fake_counters, .counters_ctx = fake,
	    .sampling = &fake_sampling, .sampling_ctx = fake,
	    .addresses = &fake_addresses, .addresses_ctx = fake,
	};
}

static int
fake_energy(void *ctx, uint32_t if_index, struct hal_energy *energy)
{
	const struct fake_port *port = fake_port(ctx, if_index);

	*energy = port->energy;
	energy->counts = true;
	return port->lacks_facets ? -ENODEV : 0;
}

static int
fake_buffers(void *ctx, uint32_t if_index, struct hal_buffers *buffers)
{
	const struct fake_port *port = fake_port(ctx, if_index);

	*buffers = port->buffers;
	return port->lacks_facets ? -ENODEV : ((struct fake_device *)ctx)->read_error;
}

static uint64_t
fake_errors_lost(void *ctx)
{
	(void)ctx;
	return 3;
}

static size_t
fake_count_modules(void *ctx)
{
	(void)ctx;
	return 2;
}

static void
fake_get_module(void *ctx, size_t i, struct hal_part *part)
{
	(void)ctx;
	snprintf(part->name, sizeof(part->name), "module-%zu", i);
}

/* The first port is on the second module. */
static size_t
fake_module_of(void *ctx, uint32_t if_index)
{
	(void)ctx;
	return if_index == 10;
}

void
fake_add_facets(struct fake_device *fake)
{
	static const struct hal_energy_ops energy = {.name = "fake", .read = fake_energy};
	static const struct hal_buffers_ops buffers = {.name = "fake", .read = fake_buffers};
	static const struct hal_errors_ops errors = {.name = "fake", .lost = fake_errors_lost};
	static const struct hal_modules_ops modules = {
	    .count = fake_count_modules, .get = fake_get_module, .of_port = fake_module_of};

	fake->device.energy = &energy;
	fake->device.buffers = &buffers;
	fake->device.errors = &errors;
	fake->device.modules = &modules;
	fake->device.energy_ctx = fake->device.buffers_ctx = fake;
}

void
fake_report(struct fake_device *fake, uint32_t if_index)
{
	struct fake_port *port = fake_port(fake, if_index);

	while (port->n_waiting > 0) {
		struct hal_sample_event event = port->waiting[0];
		int64_t next;

		port->waiting[0] = port->waiting[1];
		port->n_waiting--;
		event.counter_empty = port->n_skips == 0;
		next = hal_report_sample(fake->hal, &event);
		if (next != HAL_NO_SKIP)
			fake_load_skip(fake, if_index, (uint32_t)next);
	}
}

void
fake_frame(struct fake_device *fake, uint32_t if_index, enum ease_direction direction)
{
	static const uint8_t octets[60] = {0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2, 0x08};
	struct fake_port *port = fake_port(fake, if_index);
	struct hal_sample_event event = {.if_index = if_index, .direction = (uint8_t)direction,
	    .time_us = fake->now_us, .frame_octets = 64, .octets = octets,
	    .kept_octets = sizeof(octets), .pool_pkts = HAL_POOL_UNKNOWN};

	port->raw[direction == EASE_IN ? FAKE_GOOD_IN : FAKE_GOOD_OUT]++;
	if (port->n_skips == 0) {
		port->stood_still_pkts++;
		return;
	}
	if (port->skips[0]-- > 0)
		return;
	port->skips[0] = port->skips[1];
	port->n_skips--;
	port->waiting[port->n_waiting++] = event;
	if (!fake->late_cpu)
		fake_report(fake, if_index);
}
