#include "agent/sim/emulated.h"

#include "agent/sim/board.h"
#include "agent/sim/board_draw.h"
#include "agent/sim/board_regs.h"
#include "agent/sim/board_run.h"
#include "agent/sim/bus/bus_model.h"
#include "agent/sim/chip/c84302.h"
#include "agent/sim/chip/galnet.h"
#include "agent/sim/fabric.h"
#include "agent/sim/resources.h"
#include "common/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STAT_SETS = BOARD_MAX_SWITCH_CHIPS + 4 };

struct emulated_port {
	struct galnet *chip;
	unsigned channel;
	struct c84302 *mac;
	unsigned mac_port;
	uint8_t admin_status;
};

struct emulated {
	struct hal_device device;
	struct board_plan plan;
	struct bus_model *bus_model;
	struct bus bus;
	struct fabric *fabric;
	struct resources *resources; /* energy and buffers */
	struct feed *feed; /* NULL: no capture */
	struct board_run *run;
	struct galnet *chips[BOARD_MAX_SWITCH_CHIPS];
	unsigned n_chips;
	struct c84302 *macs[BOARD_MAX_MAC_CHIPS];
	unsigned n_macs;
	struct emulated_port ports[BOARD_MAX_PORTS]; /* as in the plan */
	unsigned n_ports;
	uint32_t numbers[BOARD_MAX_PORTS]; /* the ports' ifIndexes in ascending order */
	uint32_t ageing_s;
	uint64_t address_discards;
	struct hal *hal; /* from start to stop */
	const struct stat_set *stats[MAX_STAT_SETS];
	size_t n_stats;
};

static struct emulated_port *
emulated_find_port(struct emulated *e, uint32_t if_index)
{
	int position = board_port_position(&e->plan, if_index);

	return position < 0 ? NULL : &e->ports[position];
}

/* --- ports --- */

static size_t
ports_count(void *ctx)
{
	return ((struct emulated *)ctx)->n_ports;
}

static uint32_t
ports_if_index(void *ctx, size_t i)
{
	return ((struct emulated *)ctx)->numbers[i];
}

static const struct galnet_info *
info_of(int type)
{
	return type == BOARD_GT48001A ? &galnet_gt48001a : &galnet_gt48002a;
}

/* The name of the switch chip that has the port. */
static const char *
chip_name(const struct emulated *e, unsigned position)
{
	unsigned channel;

	return info_of(board_chip_of(&e->plan, BOARD_ROLE_SWITCH, position, &channel)->type)->name;
}

static int
ports_get(void *ctx, uint32_t if_index, struct hal_port *port)
{
	static const uint8_t base_mac[6] = {0x02, 'E', 'A', 'S', 'E', 0}; /* locally administered */
	struct emulated *e = ctx;
	struct emulated_port *p = emulated_find_port(e, if_index);
	const struct board_port *plan;
	bool link;
	int rc;

	if (!p)
		return -ENODEV;
	rc = galnet_link(p->chip, p->channel, &link);
	if (rc < 0)
		return rc;
	plan = board_port(&e->plan, (size_t)(p - e->ports));
	port->if_index = if_index;
	snprintf(port->name, sizeof(port->name), "%s", plan->name);
	snprintf(port->descr, sizeof(port->descr), "easeswitch %s port %u",
	    chip_name(e, (unsigned)(p - e->ports)), if_index);
	port->if_type = 6; /* ethernetCsmacd */
	port->mtu_octets = 1500;
	port->speed_bps = plan->speed_mbps * 1000000ull;
	memcpy(port->mac, base_mac, sizeof(port->mac));
	port->mac[5] = (uint8_t)if_index;
	port->admin_status = p->admin_status;
	port->oper_status = p->admin_status == EASE_IF_UP && link ? EASE_IF_UP : EASE_IF_DOWN;
	port->duplex = plan->duplex == BOARD_FULL ? EASE_DUPLEX_FULL : EASE_DUPLEX_HALF;
	port->pause_admin = plan->pause ? HAL_PAUSE_BOTH : HAL_PAUSE_DISABLED;
	port->pause_oper = plan->duplex == BOARD_FULL ? port->pause_admin : HAL_PAUSE_DISABLED;
	port->has_connector = true;
	port->lag_parent = 0;
	return 0;
}

static int
ports_set_admin_status(void *ctx, uint32_t if_index, uint8_t admin_status)
{
	struct emulated_port *p = emulated_find_port(ctx, if_index);
	int rc;

	if (!p)
		return -ENODEV;
	rc = galnet_enable_port(p->chip, p->channel, admin_status == EASE_IF_UP);
	if (rc == 0)
		p->admin_status = admin_status;
	return rc;
}

static const struct hal_ports_ops ports_ops = {
    .name = "galnet",
    .count = ports_count,
    .if_index = ports_if_index,
    .get = ports_get,
    .set_admin_status = ports_set_admin_status,
};

/* --- counters --- */

static int
emulated_counters_read(void *ctx, uint32_t if_index, size_t row, uint64_t *raw)
{
	struct emulated_port *p = emulated_find_port(ctx, if_index);

	return p ? c84302_read(p->mac, p->mac_port, row, raw) : -ENODEV;
}

static const struct hal_counters_ops counters_ops = {
    .name = "c84302",
    .rows = c84302_counter_rows,
    .n_rows = C84302_COUNTERS,
    .read = emulated_counters_read,
    .derive = c84302_derive,
};

/* --- sampling --- */

static int
sampling_load_skip(void *ctx, uint32_t if_index, uint32_t skip)
{
	struct emulated_port *p = emulated_find_port(ctx, if_index);

	return p ? galnet_load_skip(p->chip, p->channel, skip) : -ENODEV;
}

/* Takes effect in the next dispatch, which the attention line requests. */
static int
sampling_restart(void *ctx, uint32_t if_index)
{
	struct emulated *e = ctx;
	struct emulated_port *p = emulated_find_port(e, if_index);
	int rc = p ? galnet_restart(p->chip, p->channel) : -ENODEV;

	if (rc == 0)
		board_run_wake_cpu(e->run);
	return rc;
}

static const struct hal_sampling_ops sampling_ops = {
    .name = "galnet",
    .max_skip = GALNET_EASE_COUNT_MASK,
    .skip_depth = GALNET_SKIP_DEPTH,
    .load_skip = sampling_load_skip,
    .restart = sampling_restart,
};

/* --- addresses --- */

static int
emulated_addresses_dump(void *ctx, int (*add)(void *arg, const struct hal_address *address), void *arg)
{
	struct emulated *e = ctx;

	for (unsigned i = 0; i < e->n_chips; i++) {
		int rc = galnet_dump_addresses(e->chips[i], add, arg);

		if (rc != 0)
			return rc;
	}
	return 0;
}

/* If a chip cannot be read, the sum stays as it was. */
static uint64_t
addresses_discards(void *ctx)
{
	struct emulated *e = ctx;
	uint64_t sum = 0;

	for (unsigned i = 0; i < e->n_chips; i++) {
		uint64_t discards;

		if (galnet_address_discards(e->chips[i], &discards) < 0)
			return e->address_discards;
		sum += discards;
	}
	e->address_discards = sum;
	return sum;
}

static uint32_t
emulated_addresses_ageing_s(void *ctx)
{
	return ((struct emulated *)ctx)->ageing_s;
}

static void
set_ageing_alarm(struct emulated *e)
{
	board_run_set_alarm(e->run, BOARD_ALARM_AGEING, board_run_now_us(e->run) + e->ageing_s * 1000000ull);
}

static int
addresses_set_ageing_s(void *ctx, uint32_t seconds)
{
	struct emulated *e = ctx;

	e->ageing_s = seconds;
	set_ageing_alarm(e);
	return 0;
}

static int
addresses_set_static(void *ctx, const uint8_t octets[6], uint32_t if_index)
{
	struct emulated *e = ctx;
	struct emulated_port *p = emulated_find_port(e, if_index);
	unsigned owner = 0;
	uint64_t mac = 0;

	for (unsigned i = 0; i < 6; i++)
		mac = mac << 8 | octets[i];
	if (!p)
		return if_index ? -ENODEV : galnet_clear_static(&e->bus, e->n_chips, mac);
	while (e->chips[owner] != p->chip)
		owner++;
	return galnet_set_static(&e->bus, e->n_chips, mac, owner, p->channel);
}

static const struct hal_addresses_ops addresses_ops = {
    .name = "galnet",
    .dump = emulated_addresses_dump,
    .discards = addresses_discards,
    .ageing_s = emulated_addresses_ageing_s,
    .set_ageing_s = addresses_set_ageing_s,
    .set_static = addresses_set_static,
};

/* --- error sources --- */

static uint64_t
errors_lost(void *ctx)
{
	struct emulated *e = ctx;
	uint64_t sum = 0;

	for (unsigned i = 0; i < e->n_chips; i++) {
		uint64_t lost;

		if (galnet_errors_lost(e->chips[i], &lost) < 0)
			log_warn_limited("emulated", "chip %u: its count of lost messages cannot be read", i);
		sum += lost;
	}
	return sum;
}

static const struct hal_errors_ops errors_ops = {.name = "galnet", .lost = errors_lost};

/* --- modules: the chips of the board file, in its order; a port belongs to its switch chip --- */

/* Makers as named in the data sheets. */
static const struct {
	const char *model, *maker, *descr;
} chip_kinds[BOARD_N_CHIP_TYPES] = {
    [BOARD_GT48001A] = {"GT-48001A", "Galileo Technology",
	"switched Ethernet controller, 8 ports of 10 Mb/s"},
    [BOARD_GT48002A] = {"GT-48002A", "Galileo Technology",
	"switched Ethernet controller, 2 ports of 10/100 Mb/s"},
    [BOARD_C84302] = {"84302", "SEEQ", "Ethernet MAC, 4 ports, with RMON counters"},
    [BOARD_TNETX4090] = {"TNETX4090", "Texas Instruments",
	"frame buffers and flow control of 9 ports"},
    [BOARD_EEE] = {"", "", "low-power idle statistics of all ports"},
};

static size_t
modules_count(void *ctx)
{
	return ((struct board_plan *)ctx)->chips.n;
}

static void
modules_get(void *ctx, size_t i, struct hal_part *part)
{
	const struct board_chip *chip = board_chip(ctx, i);

	snprintf(part->name, sizeof(part->name), "%s", chip->name);
	snprintf(part->descr, sizeof(part->descr), "%s", chip_kinds[chip->type].descr);
	snprintf(part->maker, sizeof(part->maker), "%s", chip_kinds[chip->type].maker);
	snprintf(part->model, sizeof(part->model), "%s", chip_kinds[chip->type].model);
}

/* check_plan guarantees that every port has a switch chip. */
static size_t
modules_of_port(void *ctx, uint32_t if_index)
{
	const struct board_plan *plan = ctx;
	unsigned channel;
	const struct board_chip *chip =
	    board_chip_of(plan, BOARD_ROLE_SWITCH,
	    (unsigned)board_port_position(plan, if_index), &channel);

	return (size_t)(chip - board_chip(plan, 0));
}

static const struct hal_modules_ops modules_ops = {
    .count = modules_count, .get = modules_get, .of_port = modules_of_port};

/* --- ageing --- */

/* An address that one chip has aged out must also be removed from the others, which learned it from that
 * chip. */
static void
remove_everywhere(void *arg, uint64_t mac)
{
	struct emulated *e = arg;

	for (unsigned i = 0; i < e->n_chips; i++)
		if (galnet_remove_address(e->chips[i], mac) < 0)
			log_warn_limited("emulated", "chip %u: an address that another chip aged out cannot be removed", i);
}

/* --- the device --- */

static uint64_t
emulated_device_now_us(void *ctx)
{
	return board_run_now_us(((struct emulated *)ctx)->run);
}

static int
emulated_device_fd(void *ctx)
{
	return bus_model_fd(((struct emulated *)ctx)->bus_model);
}

static int
emulated_device_alarm(void *ctx, uint64_t device_us)
{
	board_run_set_alarm(((struct emulated *)ctx)->run, BOARD_ALARM_USER, device_us);
	return 0;
}

/* One round over everything that can have events. Adds to *handled; *more is set if a chip has events
 * left because the budget is used up. */
static int
dispatch_chips(struct emulated *e, uint32_t lines, unsigned budget, unsigned *handled, bool *more)
{
	for (unsigned i = 0; i < e->n_chips; i++) {
		bool left = false;
		int rc;

		if (!(lines >> BOARD_SWITCH_LINE(i) & 1) && !galnet_pending(e->chips[i]))
			continue;
		if (budget > 0 && *handled >= budget) {
			*more = true;
			return 0;
		}
		rc = galnet_dispatch(e->chips[i], e->hal, board_run_now_us(e->run),
		    budget ? budget - *handled : 0, &left);
		if (rc < 0)
			return rc;
		*handled += (unsigned)rc;
		*more = *more || left;
	}
	return 0;
}

static int
dispatch_macs(struct emulated *e, uint32_t lines, unsigned *handled)
{
	for (unsigned i = 0; i < e->n_macs; i++) {
		int rc;

		if (!(lines >> (BOARD_LINE_MAC + i) & 1))
			continue;
		rc = c84302_dispatch(e->macs[i], e->hal);
		if (rc < 0)
			return rc;
		*handled += (unsigned)rc;
	}
	return 0;
}

static void
dispatch_alarms(struct emulated *e, unsigned *handled)
{
	if (board_run_poll_alarm(e->run, BOARD_ALARM_AGEING)) {
		for (unsigned i = 0; i < e->n_chips; i++)
			if (galnet_age(e->chips[i], remove_everywhere, e) < 0)
				log_warn_limited("emulated", "chip %u: its addresses cannot be aged", i);
		set_ageing_alarm(e);
		++*handled;
	}
	if (board_run_poll_alarm(e->run, BOARD_ALARM_USER)) {
		hal_report_alarm(e->hal, board_run_now_us(e->run));
		++*handled;
	}
}

/* Handles all pending events, or as many as the budget allows: 1 if some are left. */
static int
dispatch_all(struct emulated *e, unsigned budget, unsigned *handled)
{
	uint32_t idle = 1u << BOARD_LINE_END | 1u << BOARD_LINE_ATTENTION | 1u << BOARD_LINE_STEP;
	uint32_t lines;

	do {
		bool more = false;
		int rc = bus_read(&e->bus, BOARD_GLUE_BASE + BOARD_GLUE_LINES, &lines);

		if (rc == 0)
			rc = dispatch_chips(e, lines, budget, handled, &more);
		if (rc == 0 && !more)
			rc = dispatch_macs(e, lines, handled);
		if (rc == 0 && !more)
			rc = resources_dispatch(e->resources, lines, handled);
		if (rc < 0)
			return rc;
		if (more)
			return 1;
		if (lines >> BOARD_LINE_TIMER & 1)
			dispatch_alarms(e, handled);
	} while (lines & ~idle && (budget == 0 || *handled < budget));
	return (lines & ~idle) != 0;
}

/* In lock step the board continues as soon as its interrupt has been handled, while the budget lasts, but
 * only for some rounds, because the caller has other work. */
static int
emulated_device_dispatch(void *ctx, unsigned budget)
{
	enum { MAX_ROUNDS = 256 };
	struct emulated *e = ctx;
	unsigned handled = 0, rounds = 0;
	int rc;

	if (!e->hal)
		return 0;
	do {
		board_run_enter(e->run);
		rc = dispatch_all(e, budget, &handled);
		board_run_leave(e->run, rc == 1);
	} while (rc == 0 && (budget == 0 || handled < budget) && ++rounds < MAX_ROUNDS &&
	    board_run_step(e->run));
	if (rc == 0 && board_run_poll_end(e->run))
		hal_report_ended(e->hal);
	return rc;
}

static int
device_start(void *ctx, struct hal *hal)
{
	struct emulated *e = ctx;

	e->hal = hal;
	set_ageing_alarm(e);
	return board_run_start(e->run);
}

static void
emulated_device_stop(void *ctx)
{
	struct emulated *e = ctx;

	board_run_stop(e->run);
	e->hal = NULL;
}

/* The thread ends first, then the models that it runs are destroyed, then the drivers. */
static void
emulated_device_destroy(void *ctx)
{
	struct emulated *e = ctx;

	board_run_destroy(e->run);
	for (unsigned i = 0; i < e->n_chips; i++)
		galnet_destroy(e->chips[i]);
	for (unsigned i = 0; i < e->n_macs; i++)
		c84302_destroy(e->macs[i]);
	resources_destroy(e->resources);
	feed_destroy(e->feed);
	fabric_destroy(e->fabric);
	bus_model_destroy(e->bus_model);
	board_free(&e->plan);
	free(e);
}

/* The chips' counters are atomic: any thread may call this. */
static uint64_t
emulated_device_drops(void *ctx)
{
	const struct emulated *e = ctx;
	uint64_t drops = 0;

	for (unsigned i = 0; i < e->n_chips; i++) {
		const struct stat_set *chip = galnet_stats(e->chips[i]);

		drops += stat_get(chip, GALNET_STAT_SAMPLES_LOST) +
		    stat_get(chip, GALNET_STAT_BAD_BLOCKS) +
		    stat_get(chip, GALNET_STAT_NEW_ADDRESS_LOST) +
		    stat_get(chip, GALNET_STAT_ERROR_SOURCE_LOST);
	}
	return drops;
}

#define DEVICE_OPS                                                                                 \
	.kind = "emulated", .start = device_start, .stop = emulated_device_stop, .destroy = emulated_device_destroy, \
	.fd = emulated_device_fd, .dispatch = emulated_device_dispatch, .now_us = emulated_device_now_us,                     \
	.alarm = emulated_device_alarm, .drops = emulated_device_drops

static const struct hal_device_ops paced_ops = {DEVICE_OPS, .waits_for_cpu = false};
static const struct hal_device_ops lock_step_ops = {DEVICE_OPS, .waits_for_cpu = true};

/* --- building --- */

static int
emulated_add_switch_chip(struct emulated *e, int type, unsigned first_port)
{
	struct galnet_config config = {
	    .info = info_of(type), .bus = &e->bus, .device = e->n_chips};
	int rc;

	for (unsigned i = 0; i < config.info->n_ports && first_port + i < e->n_ports; i++)
		config.if_index[i] = board_port(&e->plan, first_port + i)->if_index;
	rc = galnet_create(&config, &e->chips[e->n_chips]);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < config.info->n_ports && first_port + i < e->n_ports; i++) {
		e->ports[first_port + i].chip = e->chips[e->n_chips];
		e->ports[first_port + i].channel = i;
	}
	e->stats[e->n_stats++] = galnet_stats(e->chips[e->n_chips]);
	e->n_chips++;
	return 0;
}

static int
emulated_add_mac_chip(struct emulated *e)
{
	unsigned first_port = e->n_macs * C84302_PORTS;
	struct c84302_config config = {
	    .bus = &e->bus,
	    .base = BOARD_MAC_BASE + e->n_macs * C84302_WINDOW,
	    .max_octets = e->plan.max_frame_octets,
	};
	int rc;

	for (unsigned i = 0; i < C84302_PORTS; i++)
		if (first_port + i < e->n_ports)
			config.if_index[i] = board_port(&e->plan, first_port + i)->if_index;
	rc = c84302_create(&config, &e->macs[e->n_macs]);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < C84302_PORTS && first_port + i < e->n_ports; i++) {
		e->ports[first_port + i].mac = e->macs[e->n_macs];
		e->ports[first_port + i].mac_port = i;
	}
	e->n_macs++;
	return 0;
}

/* The drivers of the EEE unit and of the TNETX4090s, as far as the board has them. */
static int
emulated_add_resources(struct emulated *e)
{
	struct resources_port ports[BOARD_MAX_PORTS];
	struct resources_config config = {
	    .bus = &e->bus,
	    .n_ports = e->n_ports,
	    .ports = ports,
	    .has_eee_unit = board_count_chips(&e->plan, BOARD_ROLE_ENERGY) > 0,
	    .has_pools = board_count_chips(&e->plan, BOARD_ROLE_BUFFERS) > 0,
	    .flow = e->plan.buffers.flow,
	    .holb = e->plan.buffers.holb,
	    .threshold = e->plan.buffers.threshold,
	    .mcast_limit = e->plan.buffers.mcast_limit,
	    .max_octets = e->plan.max_frame_octets,
	};
	int rc;

	for (unsigned i = 0; i < e->n_ports; i++) {
		const struct board_port *port = board_port(&e->plan, i);

		ports[i] = (struct resources_port){.if_index = port->if_index, .eee = port->eee,
		    .pause = port->pause, .full_duplex = port->duplex == BOARD_FULL};
	}
	rc = resources_create(&config, &e->resources);
	if (rc == 0 && resources_stats(e->resources))
		e->stats[e->n_stats++] = resources_stats(e->resources);
	return rc;
}

static int
add_drivers(struct emulated *e)
{
	unsigned first_port = 0;

	for (size_t i = 0; i < e->plan.chips.n; i++) {
		int type = board_chip(&e->plan, i)->type;
		int rc = 0;

		if (board_chip_switches(type)) {
			rc = emulated_add_switch_chip(e, type, first_port);
			first_port += board_chip_ports(type);
		} else if (board_chip_role(type) == BOARD_ROLE_MAC) {
			rc = emulated_add_mac_chip(e);
		}
		if (rc < 0)
			return rc;
	}
	return emulated_add_resources(e);
}

static int
order_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int
add_hardware(struct emulated *e)
{
	int rc = bus_model_create(&e->bus_model);

	if (rc < 0)
		return rc;
	e->bus = bus_model_cpu(e->bus_model);
	rc = fabric_create(e->bus_model, &e->plan, &e->fabric);
	if (rc < 0)
		return rc;
	e->stats[e->n_stats++] = fabric_stats(e->fabric);
	e->n_ports = (unsigned)e->plan.ports.n;
	for (unsigned i = 0; i < e->n_ports; i++) {
		e->ports[i].admin_status = EASE_IF_UP;
		e->numbers[i] = board_port(&e->plan, i)->if_index;
	}
	qsort(e->numbers, e->n_ports, sizeof(e->numbers[0]), order_numbers);
	return add_drivers(e);
}

static struct board_feed_config
feed_config_of(const struct emulated_config *config)
{
	return (struct board_feed_config){.capture = config->capture, .deal = config->deal,
	    .loop = config->loop, .preload = config->preload};
}

static int
open_feed(const struct emulated_config *config, const struct board_plan *plan, struct feed **feed,
    char *error, size_t error_size)
{
	struct board_feed_config feed_config = feed_config_of(config);
	int rc = board_feed_create(plan, &feed_config, feed, error, error_size);

	if (rc < 0 || !*feed || !feed_has_live(*feed))
		return rc;
	if (config->pace == EMULATED_PACE_RECORDED && config->times <= 1)
		return 0;
	feed_destroy(*feed);
	*feed = NULL;
	snprintf(error, error_size,
	    "%s: live interfaces need pace = recorded and a speed factor of 1", config->board_file);
	return -EINVAL;
}

static uint64_t
zero_of(const struct emulated_config *config, const struct feed *feed)
{
	bool lock_step = config->pace == EMULATED_PACE_LOCK_STEP;
	bool now = config->zero == EMULATED_ZERO_NOW ||
	    (config->zero == EMULATED_ZERO_AUTO && !lock_step);

	if (now || !feed || feed_first_us(feed) == 0)
		return clock_wall_us(config->clock ? config->clock : &clock_system);
	return feed_first_us(feed);
}

static int
add_run(struct emulated *e, const struct emulated_config *config)
{
	struct board_run_config run = {
	    .bus = e->bus_model,
	    .fabric = e->fabric,
	    .feed = e->feed,
	    .lock_step = config->pace == EMULATED_PACE_LOCK_STEP,
	    .times = config->times ? config->times : 1,
	    .zero_us = zero_of(config, e->feed),
	};
	int rc = board_run_create(&run, &e->run);

	if (rc < 0)
		return rc;
	if (run.lock_step)
		bus_model_set_alone(e->bus_model);
	e->stats[e->n_stats++] = board_run_stats(e->run);
	if (e->feed)
		e->stats[e->n_stats++] = feed_stats(e->feed);
	return 0;
}

static void
emulated_compose_device(struct emulated *e, bool lock_step)
{
	e->device = (struct hal_device){
	    .ops = lock_step ? &lock_step_ops : &paced_ops,
	    .ctx = e,
	    .ports = &ports_ops,
	    .ports_ctx = e,
	    .counters = &counters_ops,
	    .counters_ctx = e,
	    .sampling = &sampling_ops,
	    .sampling_ctx = e,
	    .addresses = &addresses_ops,
	    .addresses_ctx = e,
	    .errors = &errors_ops,
	    .errors_ctx = e,
	    .modules = &modules_ops,
	    .modules_ctx = &e->plan,
	};
	resources_compose(e->resources, &e->device);
}

int
emulated_create(const struct emulated_config *config, struct hal_device **device, char *error, size_t error_size)
{
	struct emulated *e = calloc(1, sizeof(*e));
	int rc;

	if (!e) {
		snprintf(error, error_size, "%s: out of memory", config->board_file);
		return -ENOMEM;
	}
	e->ageing_s = GALNET_AGEING_DEFAULT_S;
	rc = board_load(config->board_file, &e->plan, error, error_size);
	if (rc == 0)
		rc = open_feed(config, &e->plan, &e->feed, error, error_size);
	if (rc < 0)
		goto fail;
	board_number_ports(&e->plan, config->kept, config->n_kept);
	rc = add_hardware(e);
	if (rc == 0)
		rc = add_run(e, config);
	if (rc < 0) {
		snprintf(error, error_size, "%s: cannot build the board: %s", config->board_file, strerror(-rc));
		goto fail;
	}
	emulated_compose_device(e, config->pace == EMULATED_PACE_LOCK_STEP);
	*device = &e->device;
	return 0;
fail:
	emulated_device_destroy(e);
	return rc;
}

int
emulated_check(const struct emulated_config *config, FILE *picture, char *error, size_t error_size)
{
	struct board_feed_config feed_config = feed_config_of(config);
	struct board_plan plan;
	struct feed *feed;
	int rc = board_load(config->board_file, &plan, error, error_size);

	if (rc < 0)
		return rc;
	rc = open_feed(config, &plan, &feed, error, error_size);
	if (rc == 0)
		feed_destroy(feed);
	if (rc == 0 && picture)
		board_draw(picture, config->board_file, &plan, &feed_config);
	board_free(&plan);
	return rc;
}

const struct stat_set *
emulated_stats(const struct hal_device *device, size_t i)
{
	const struct emulated *e = device->ctx;

	return i < e->n_stats ? e->stats[i] : NULL;
}
