#include "agent/sim/dummy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct dummy {
	struct hal_device device;
	struct dummy_config config;
	struct hal *hal;
	uint64_t start_us;
	uint64_t alarm_us;
	int timer_fd;
	uint8_t admin_status[HAL_MAX_PORTS];
	uint32_t ageing_s;
};

/* ---- ports ---- */

static size_t
dummy_count(void *ctx)
{
	return ((struct dummy *)ctx)->config.n_ports;
}

static uint32_t
dummy_if_index(void *ctx, size_t i)
{
	(void)ctx;
	return (uint32_t)i + 1;
}

static int
dummy_get(void *ctx, uint32_t if_index, struct hal_port *port)
{
	struct dummy *dummy = ctx;
	uint8_t admin = dummy->admin_status[if_index - 1];

	snprintf(port->name, sizeof(port->name), "dummy-%u", if_index);
	snprintf(port->descr, sizeof(port->descr), "easeswitch generated port %u", if_index);
	port->if_type = 6; /* ethernetCsmacd */
	port->mtu_octets = 1500;
	port->speed_bps = dummy->config.speed_bps;
	port->mac[0] = 0x02; /* locally administered */
	port->mac[4] = (uint8_t)(if_index >> 8);
	port->mac[5] = (uint8_t)if_index;
	port->admin_status = admin;
	port->oper_status = admin;
	port->duplex = EASE_DUPLEX_FULL;
	port->has_connector = true;
	return 0;
}

static int
dummy_set_admin_status(void *ctx, uint32_t if_index, uint8_t admin_status)
{
	((struct dummy *)ctx)->admin_status[if_index - 1] = admin_status;
	return 0;
}

static const struct hal_ports_ops dummy_ports = {
    .name = "dummy",
    .count = dummy_count,
    .if_index = dummy_if_index,
    .get = dummy_get,
    .set_admin_status = dummy_set_admin_status,
};

/* ---- counters: kernel-like 64-bit totals ---- */

#define TOTAL_ROW(text) {.name = text, .width_bits = 64, .flags = HAL_COUNTER_IS_TOTAL}

static const struct hal_counter_row dummy_rows[DUMMY_N_ROWS] = {
    [DUMMY_IN_OCTETS] = TOTAL_ROW("in octets"),
    [DUMMY_IN_UCAST] = TOTAL_ROW("in unicast"),
    [DUMMY_IN_MCAST] = TOTAL_ROW("in multicast"),
    [DUMMY_IN_BCAST] = TOTAL_ROW("in broadcast"),
    [DUMMY_OUT_OCTETS] = TOTAL_ROW("out octets"),
    [DUMMY_OUT_UCAST] = TOTAL_ROW("out unicast"),
    [DUMMY_OUT_MCAST] = TOTAL_ROW("out multicast"),
    [DUMMY_OUT_BCAST] = TOTAL_ROW("out broadcast"),
};

/* Units a second on port 1; port n counts n times as fast. */
static const uint32_t dummy_per_second[DUMMY_N_ROWS] = {
    [DUMMY_IN_OCTETS] = 64000, [DUMMY_IN_UCAST] = 100, [DUMMY_IN_MCAST] = 10,
    [DUMMY_IN_BCAST] = 1, [DUMMY_OUT_OCTETS] = 32000, [DUMMY_OUT_UCAST] = 50,
    [DUMMY_OUT_MCAST] = 5, [DUMMY_OUT_BCAST] = 2,
};

uint64_t
dummy_counter(uint32_t if_index, enum dummy_row row, uint64_t elapsed_us)
{
	return (uint64_t)((unsigned __int128)dummy_per_second[row] * if_index * elapsed_us / 1000000);
}

static int
dummy_read(void *ctx, uint32_t if_index, size_t row, uint64_t *raw)
{
	struct dummy *dummy = ctx;
	uint64_t elapsed_us = clock_mono_us(dummy->config.clock) - dummy->start_us;

	*raw = dummy_counter(if_index, (enum dummy_row)row, elapsed_us);
	return 0;
}

static void
dummy_derive(const uint64_t *totals, struct hal_counters *counters)
{
	static const struct {
		enum hal_figure figure;
		enum dummy_row row;
	} map[] = {
	    {HAL_IN_OCTETS, DUMMY_IN_OCTETS}, {HAL_IN_UCAST_PKTS, DUMMY_IN_UCAST},
	    {HAL_IN_MCAST_PKTS, DUMMY_IN_MCAST}, {HAL_IN_BCAST_PKTS, DUMMY_IN_BCAST},
	    {HAL_OUT_OCTETS, DUMMY_OUT_OCTETS}, {HAL_OUT_UCAST_PKTS, DUMMY_OUT_UCAST},
	    {HAL_OUT_MCAST_PKTS, DUMMY_OUT_MCAST}, {HAL_OUT_BCAST_PKTS, DUMMY_OUT_BCAST},
	};

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
		counters->value[map[i].figure] = totals[map[i].row];
		counters->known |= 1ull << map[i].figure;
	}
	counters->value[HAL_POOL_IN_PKTS] =
	    totals[DUMMY_IN_UCAST] + totals[DUMMY_IN_MCAST] + totals[DUMMY_IN_BCAST];
	counters->value[HAL_POOL_OUT_PKTS] =
	    totals[DUMMY_OUT_UCAST] + totals[DUMMY_OUT_MCAST] + totals[DUMMY_OUT_BCAST];
	counters->known |= 1ull << HAL_POOL_IN_PKTS | 1ull << HAL_POOL_OUT_PKTS;
}

static const struct hal_counters_ops dummy_counters = {
    .name = "dummy",
    .rows = dummy_rows,
    .n_rows = DUMMY_N_ROWS,
    .read = dummy_read,
    .derive = dummy_derive,
};

/* ---- VLANs ---- */

static uint16_t
dummy_pvid(const struct dummy_config *config, uint32_t if_index)
{
	return config->n_vlans > 0 ? (uint16_t)((if_index - 1) % config->n_vlans + 1) : 0;
}

static int
dummy_add_vlans(const struct dummy_config *config, uint32_t if_index,
    int (*add)(void *arg, const struct hal_vlan_range *range), void *arg)
{
	const uint16_t pvid = dummy_pvid(config, if_index);
	const struct hal_vlan_range ranges[] = {
	    {.if_index = if_index, .first = pvid, .last = pvid, .untagged = true, .is_pvid = true},
	    {.if_index = if_index, .first = 1, .last = (uint16_t)(pvid - 1)},
	    {.if_index = if_index, .first = (uint16_t)(pvid + 1), .last = (uint16_t)config->n_vlans},
	};
	int rc = 0;

	for (size_t i = 0; i < (if_index % 2 == 0 ? 3 : 1) && rc == 0; i++)
		if (ranges[i].first <= ranges[i].last)
			rc = add(arg, &ranges[i]);
	return rc;
}

static int
dummy_dump_vlans(void *ctx, int (*add)(void *arg, const struct hal_vlan_range *range), void *arg)
{
	const struct dummy *dummy = ctx;
	int rc = dummy->config.n_vlans > 0 ? 0 : -ENODEV;

	for (uint32_t i = 1; i <= dummy->config.n_ports && rc == 0; i++)
		rc = dummy_add_vlans(&dummy->config, i, add, arg);
	return rc;
}

static const struct hal_vlans_ops dummy_vlans = {
    .name = "dummy",
    .dump = dummy_dump_vlans,
};

/* ---- addresses ---- */

/* The multiplication modulo 2^24 with an odd factor makes the addresses distinct for every i below 2^24,
 * and unordered as in a real table. */
struct hal_address
dummy_address(const struct dummy_config *config, uint32_t i)
{
	uint32_t spread = i * 2654435761u & 0xffffff;

	return (struct hal_address){
	    .vlan = dummy_pvid(config, i % config->n_ports + 1),
	    .mac = {0x00, 0x10, 0x20, (uint8_t)(spread >> 16), (uint8_t)(spread >> 8),
		(uint8_t)spread},
	    .status = HAL_ADDRESS_LEARNED,
	    .if_index = i % config->n_ports + 1,
	};
}

static int
dummy_dump(void *ctx, int (*add)(void *arg, const struct hal_address *address), void *arg)
{
	struct dummy *dummy = ctx;
	int rc = 0;

	for (uint32_t i = 0; i < dummy->config.n_addresses && rc == 0; i++) {
		struct hal_address address = dummy_address(&dummy->config, i);

		rc = add(arg, &address);
	}
	return rc;
}

static uint64_t
dummy_discards(void *ctx)
{
	(void)ctx;
	return 0;
}

static uint32_t
dummy_ageing_s(void *ctx)
{
	return ((struct dummy *)ctx)->ageing_s;
}

static int
dummy_set_ageing_s(void *ctx, uint32_t seconds)
{
	((struct dummy *)ctx)->ageing_s = seconds;
	return 0;
}

static const struct hal_addresses_ops dummy_addresses = {
    .name = "dummy",
    .dump = dummy_dump,
    .discards = dummy_discards,
    .ageing_s = dummy_ageing_s,
    .set_ageing_s = dummy_set_ageing_s,
};

/* ---- device ---- */

static int
dummy_start(void *ctx, struct hal *hal)
{
	((struct dummy *)ctx)->hal = hal;
	return 0;
}

static void
dummy_stop(void *ctx)
{
	(void)ctx;
}

static void
dummy_destroy(void *ctx)
{
	struct dummy *dummy = ctx;

	close(dummy->timer_fd);
	free(dummy);
}

static int
dummy_fd(void *ctx)
{
	return ((struct dummy *)ctx)->timer_fd;
}

static uint64_t
dummy_now_us(void *ctx)
{
	return clock_wall_us(((struct dummy *)ctx)->config.clock);
}

static uint64_t
dummy_steady_us(void *ctx)
{
	return clock_mono_us(((struct dummy *)ctx)->config.clock);
}

static int
dummy_dispatch(void *ctx, unsigned budget)
{
	struct dummy *dummy = ctx;
	uint64_t expirations;
	uint64_t now_us = dummy_steady_us(dummy);

	(void)budget;
	if (read(dummy->timer_fd, &expirations, sizeof(expirations)) < 0 && errno != EAGAIN)
		return -errno;
	if (dummy->alarm_us != 0 && now_us >= dummy->alarm_us) {
		dummy->alarm_us = 0;
		hal_report_alarm(dummy->hal, now_us);
	}
	return 0;
}

static int
dummy_alarm(void *ctx, uint64_t steady_us)
{
	struct dummy *dummy = ctx;
	struct itimerspec when = {
	    .it_value = {.tv_sec = (time_t)(steady_us / 1000000),
		.tv_nsec = (long)(steady_us % 1000000) * 1000 + 1},
	};

	dummy->alarm_us = steady_us;
	return timerfd_settime(dummy->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) < 0 ? -errno : 0;
}

static const struct hal_device_ops dummy_device = {
    .kind = "dummy",
    .start = dummy_start,
    .stop = dummy_stop,
    .destroy = dummy_destroy,
    .fd = dummy_fd,
    .dispatch = dummy_dispatch,
    .now_us = dummy_now_us,
    .steady_us = dummy_steady_us,
    .alarm = dummy_alarm,
};

int
dummy_create(const struct dummy_config *config, struct hal_device **device)
{
	struct dummy *dummy;

	if (config->n_ports < 1 || config->n_ports > HAL_MAX_PORTS ||
	    config->n_addresses > HAL_MAX_ADDRESSES || config->n_vlans > HAL_VLAN_MAX)
		return -EINVAL;
	dummy = calloc(1, sizeof(*dummy));
	if (dummy == NULL)
		return -ENOMEM;
	dummy->config = *config;
	dummy->ageing_s = 300; /* BRIDGE-MIB's recommended default */
	dummy->start_us = clock_mono_us(config->clock);
	for (uint32_t i = 0; i < config->n_ports; i++)
		dummy->admin_status[i] = EASE_IF_UP;
	dummy->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (dummy->timer_fd < 0) {
		free(dummy);
		return -errno;
	}
	dummy->device = (struct hal_device){
	    .ops = &dummy_device, .ctx = dummy,
	    .ports = &dummy_ports, .ports_ctx = dummy,
	    .counters = &dummy_counters, .counters_ctx = dummy,
	    .addresses = &dummy_addresses, .addresses_ctx = dummy,
	    .vlans = &dummy_vlans, .vlans_ctx = dummy,
	};
	*device = &dummy->device;
	return 0;
}
