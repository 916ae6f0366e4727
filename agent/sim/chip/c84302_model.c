#include "agent/sim/chip/c84302_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum row {
	ROW_CONFIG_3,
	ROW_CONFIG_4,
	ROW_CONFIG_5,
	ROW_STATUS,
	ROW_MASK,
	ROW_COUNTER,
};

struct c84302_port {
	struct c84302_model *model;
	struct regmodel regs;
	uint32_t counter[C84302_COUNTERS + 1]; /* by number; 0 unused */
	/* Events that the counter does not show because it was zeroed or was frozen, modulo 2^32. */
	uint32_t gone[C84302_COUNTERS + 1];
	/* decoded from the configuration registers */
	bool counting, reset_on_read, stop_at_max;
	uint32_t max_octets;
	/* the holding registers: a counter read in progress */
	uint32_t held;
	uint32_t held_offset; /* 0: none */
	unsigned parts_left;  /* accesses until the read is complete */
	bool interrupt;
};

struct c84302_model {
	struct c84302_model_config config;
	struct c84302_port port[C84302_PORTS];
};

static void
c84302_model_update_line(struct c84302_model *model)
{
	bool up = false;

	for (unsigned i = 0; i < C84302_PORTS; i++)
		up = up || model->port[i].interrupt;
	bus_model_set_line(model->config.bus, model->config.line, up);
}

static void
update_interrupt(struct c84302_port *port)
{
	bool up = false;

	for (unsigned i = 0; i < C84302_STATUS_REGS; i++)
		up = up || (*regmodel_value(&port->regs, ROW_STATUS, i) &
			       ~*regmodel_value(&port->regs, ROW_MASK, i));
	if (up == port->interrupt)
		return;
	port->interrupt = up;
	c84302_model_update_line(port->model);
}

static void
set_counter(struct c84302_port *port, unsigned n, uint32_t value)
{
	port->gone[n] += port->counter[n] - value;
	port->counter[n] = value;
}

/* Bit 31 of a counter has changed: it is half full, or it has passed its maximum. */
static __attribute__((noinline)) void
top_bit_changed(struct c84302_port *port, unsigned n, uint32_t before)
{
	bool was_high = before & C84302_HALF_FULL;

	if (was_high && port->stop_at_max)
		set_counter(port, n, UINT32_MAX);
	if (was_high)
		return;
	*regmodel_value(&port->regs, ROW_STATUS, C84302_STATUS_REG(n)) |= C84302_STATUS_BIT(n);
	update_interrupt(port);
}

/* The amount is below 2^31, so that a change of the top bit shows that a threshold was passed. */
static inline void
count_mac_event(struct c84302_port *port, unsigned n, uint32_t amount)
{
	uint32_t before = port->counter[n];

	port->counter[n] = before + amount;
	if ((before ^ port->counter[n]) & C84302_HALF_FULL)
		top_bit_changed(port, n, before);
}

/* 802.3 counts a length field that does not match the received octets, allowing for padding. */
static void
count_length_field(struct c84302_port *port, const struct c84302_frame *frame)
{
	enum { HEADER_AND_FCS = 18, MIN_DATA = 46, MAX_DATA = 1500, MIN_TYPE = 0x600 };
	uint32_t data = frame->octets - HEADER_AND_FCS;

	if (frame->length_type > MAX_DATA && frame->length_type < MIN_TYPE)
		count_mac_event(port, C84302_OUT_OF_RANGE_LENGTH, 1);
	else if (frame->length_type <= MAX_DATA && frame->length_type != data &&
	    !(data == MIN_DATA && frame->length_type < MIN_DATA))
		count_mac_event(port, C84302_IN_RANGE_LENGTH, 1);
}

static void
count_good(struct c84302_port *port, const struct c84302_frame *frame)
{
	static const uint8_t by_kind[C84302_KINDS] = {
	    [C84302_UCAST] = C84302_RX_UCAST,
	    [C84302_MCAST] = C84302_RX_MCAST,
	    [C84302_BCAST] = C84302_RX_BCAST,
	};

	count_mac_event(port, by_kind[frame->kind], 1);
	count_mac_event(port, C84302_RX_GOOD_OCTETS, frame->octets);
	if (frame->length_type < 0x600)
		count_length_field(port, frame);
	if (frame->control == C84302_PAUSE)
		count_mac_event(port, C84302_RX_PAUSE, 1);
	else if (frame->control == C84302_UNKNOWN_OPCODE)
		count_mac_event(port, C84302_RX_UNKNOWN_OPCODE, 1);
}

bool
c84302_model_receive(struct c84302_model *model, unsigned port, const struct c84302_frame *frame)
{
	struct c84302_port *p = &model->port[port];
	bool too_long = frame->octets > p->max_octets;
	bool bad_length = too_long || frame->octets < C84302_MIN_OCTETS;
	bool bad_fcs = frame->faults & (C84302_FAULT_FCS | C84302_FAULT_ALIGNMENT);
	bool good = !bad_length && frame->faults == 0;

	if (!p->counting)
		return good;
	if (frame->faults & C84302_FAULT_OVERFLOW) {
		count_mac_event(p, C84302_DROP_EVENTS, 1);
		return false;
	}
	count_mac_event(p, C84302_RX_PKTS, 1);
	count_mac_event(p, C84302_RX_OCTETS, frame->octets);
	count_mac_event(p, C84302_IN_OCTETS_PREAMBLE, frame->octets + C84302_PREAMBLE_OCTETS);
	/* By its length: RFC 2819 has each frame in one of these. */
	if (too_long)
		count_mac_event(p, bad_fcs ? C84302_JABBERS : C84302_OVERSIZE_PKTS, 1);
	else if (bad_length)
		count_mac_event(p, bad_fcs ? C84302_FRAGMENTS : C84302_UNDERSIZE_PKTS, 1);
	else
		count_mac_event(p, C84302_RX_64 + c84302_size_class(frame->octets), 1);
	if (good) {
		count_good(p, frame);
	} else if (!bad_length && bad_fcs) {
		count_mac_event(p, C84302_CRC_ALIGN_ERRORS, 1);
		count_mac_event(p, frame->faults & C84302_FAULT_ALIGNMENT ? C84302_ALIGNMENT_ERRORS : C84302_FCS_ERRORS, 1);
	}
	if (frame->faults & C84302_FAULT_SYMBOL)
		count_mac_event(p, C84302_SYMBOL_ERRORS, 1);
	return good;
}

const uint32_t *
c84302_model_max_octets(const struct c84302_model *model, unsigned port)
{
	return &model->port[port].max_octets;
}

/* The counters of one direction that sums add to. */
struct sum_counters {
	uint8_t pkts, octets, good_octets, octets_preamble;
	uint8_t by_kind[C84302_KINDS];
	uint8_t size_64;
};

static void
c84302_model_add_sums(struct c84302_port *p, const struct sum_counters *to, const struct c84302_sums *sums)
{
	uint32_t pkts = 0;

	if (!p->counting)
		return;
	for (unsigned i = 0; i < C84302_KINDS * C84302_SIZE_CLASSES; i++) {
		if (sums->pkts[i] == 0)
			continue;
		pkts += sums->pkts[i];
		count_mac_event(p, to->by_kind[i / C84302_SIZE_CLASSES], sums->pkts[i]);
		count_mac_event(p, to->size_64 + i % C84302_SIZE_CLASSES, sums->pkts[i]);
	}
	if (pkts == 0)
		return;
	count_mac_event(p, to->pkts, pkts);
	count_mac_event(p, to->octets, sums->octets);
	count_mac_event(p, to->good_octets, sums->octets);
	count_mac_event(p, to->octets_preamble, sums->octets + pkts * C84302_PREAMBLE_OCTETS);
}

void
c84302_model_receive_sums(struct c84302_model *model, unsigned port, const struct c84302_sums *received)
{
	static const struct sum_counters counters = {C84302_RX_PKTS, C84302_RX_OCTETS,
	    C84302_RX_GOOD_OCTETS, C84302_IN_OCTETS_PREAMBLE,
	    {C84302_RX_UCAST, C84302_RX_MCAST, C84302_RX_BCAST}, C84302_RX_64};

	c84302_model_add_sums(&model->port[port], &counters, received);
}

void
c84302_model_send(struct c84302_model *model, unsigned port, const struct c84302_sums *sent)
{
	static const struct sum_counters counters = {C84302_TX_PKTS, C84302_TX_OCTETS,
	    C84302_TX_GOOD_OCTETS, C84302_OUT_OCTETS_PREAMBLE,
	    {C84302_TX_UCAST, C84302_TX_MCAST, C84302_TX_BCAST}, C84302_TX_64};

	c84302_model_add_sums(&model->port[port], &counters, sent);
}

void
c84302_model_event(struct c84302_model *model, unsigned port, enum c84302_counter counter, uint32_t n)
{
	if (model->port[port].counting)
		count_mac_event(&model->port[port], counter, n);
}

/* --- registers --- */

static void
begin_access(void *chip, uint32_t offset)
{
	struct c84302_port *port = chip;
	const struct c84302_model_config *config = &port->model->config;

	if (config->sync)
		config->sync(config->ctx, config->chip, (unsigned)(port - port->model->port));
	if (offset != port->held_offset)
		port->held_offset = 0;
}

/* Copies the counter to the holding registers, and zeroes it if reading does that. */
static void
hold_counter(struct c84302_port *port, unsigned n, unsigned parts)
{
	port->held = port->counter[n];
	port->held_offset = C84302_COUNTER(n);
	port->parts_left = parts;
	if (port->reset_on_read || port->held == UINT32_MAX)
		set_counter(port, n, 0);
}

static uint32_t
read_counter(void *chip, unsigned index, uint32_t stored)
{
	struct c84302_port *port = chip;
	bool narrow = port->model->config.bus_is_8_bits;
	unsigned bits = narrow ? 8 : 16;
	unsigned n = index + 1;
	uint32_t part;

	(void)stored;
	if (port->held_offset == 0)
		hold_counter(port, n, narrow ? 4 : 2);
	port->parts_left--;
	part = port->held >> (port->parts_left * bits) & ((1u << bits) - 1);
	if (port->parts_left == 0)
		port->held_offset = 0;
	return part;
}

static void
status_read(void *chip, unsigned index)
{
	(void)index;
	update_interrupt(chip);
}

static void
c84302_model_mask_written(void *chip, unsigned index, uint32_t written)
{
	(void)index;
	(void)written;
	update_interrupt(chip);
}

static void
configure_mac(struct c84302_port *port)
{
	uint32_t config_3 = *regmodel_value(&port->regs, ROW_CONFIG_3, 0);
	uint32_t config_4 = *regmodel_value(&port->regs, ROW_CONFIG_4, 0);
	uint32_t config_5 = *regmodel_value(&port->regs, ROW_CONFIG_5, 0);

	port->reset_on_read = config_3 & C84302_CONFIG_3_RESET_ON_READ;
	port->stop_at_max = config_3 & C84302_CONFIG_3_STOP_AT_MAX;
	port->counting = !(config_4 & C84302_CONFIG_4_COUNTER_RESET);
	port->max_octets = C84302_MAX_OCTETS;
	if (config_4 & C84302_CONFIG_4_MAX_SELECT)
		port->max_octets += config_5 & C84302_CONFIG_5_MAX_SIZE;
	for (unsigned n = 1; n <= C84302_COUNTERS && !port->counting; n++)
		set_counter(port, n, 0);
}

static void
config_written(void *chip, unsigned index, uint32_t written)
{
	(void)index;
	(void)written;
	configure_mac(chip);
}

static const struct regmodel_row rows[] = {
    [ROW_CONFIG_3] = {.name = "Configuration 3", .offset = C84302_CONFIG_3,
	.writable = C84302_CONFIG_3_RESET_ON_READ | C84302_CONFIG_3_STOP_AT_MAX,
	.reserved = 0xfffc, .written = config_written},
    [ROW_CONFIG_4] = {.name = "Configuration 4", .offset = C84302_CONFIG_4,
	.reset = C84302_CONFIG_4_COUNTER_RESET,
	.writable = C84302_CONFIG_4_COUNTER_RESET | C84302_CONFIG_4_MAX_SELECT,
	.reserved = 0xfffc, .written = config_written},
    [ROW_CONFIG_5] = {.name = "Configuration 5", .offset = C84302_CONFIG_5,
	.writable = C84302_CONFIG_5_MAX_SIZE, .reserved = 0xfff0, .written = config_written},
    [ROW_STATUS] = {.name = "Counter Status", .offset = C84302_STATUS_0,
	.count = C84302_STATUS_REGS, .stride = 2, .read_clears = 0xff, .reserved = 0xffff,
	.read_done = status_read},
    [ROW_MASK] = {.name = "Counter Interrupt Enable", .offset = C84302_INT_ENABLE_1,
	.count = C84302_STATUS_REGS, .stride = 2, .reset = C84302_MASK_RESET, .writable = 0xff,
	.reserved = 0xff00, .written = c84302_model_mask_written},
    [ROW_COUNTER] = {.name = "Counter", .offset = C84302_COUNTER(1),
	.count = C84302_COUNTERS, .stride = 2, .reserved = 0xffff, .read = read_counter},
};

void
c84302_model_reset(struct c84302_model *model)
{
	for (unsigned i = 0; i < C84302_PORTS; i++) {
		struct c84302_port *port = &model->port[i];

		regmodel_reset(&port->regs);
		port->held_offset = 0;
		configure_mac(port);
		update_interrupt(port);
	}
}

static int
attach_port(struct c84302_model *model, unsigned i)
{
	struct c84302_port *port = &model->port[i];
	int rc = regmodel_init(&port->regs, rows, sizeof(rows) / sizeof(rows[0]), port);

	if (rc < 0)
		return rc;
	port->model = model;
	port->regs.access = begin_access;
	return bus_model_attach(model->config.bus, model->config.base + i * C84302_PORT_STRIDE,
	    C84302_PORT_STRIDE, &port->regs);
}

int
c84302_model_create(const struct c84302_model_config *config, struct c84302_model **model)
{
	struct c84302_model *m = calloc(1, sizeof(*m));
	int rc = 0;

	if (!m)
		return -ENOMEM;
	m->config = *config;
	for (unsigned i = 0; i < C84302_PORTS && rc == 0; i++)
		rc = attach_port(m, i);
	if (rc < 0) {
		c84302_model_destroy(m);
		return rc;
	}
	c84302_model_reset(m);
	*model = m;
	return 0;
}

void
c84302_model_destroy(struct c84302_model *model)
{
	if (!model)
		return;
	for (unsigned i = 0; i < C84302_PORTS; i++)
		regmodel_free(&model->port[i].regs);
	free(model);
}

bool
c84302_model_int(const struct c84302_model *model, unsigned port)
{
	return model->port[port].interrupt;
}

void
c84302_model_preset(struct c84302_model *model, unsigned port, enum c84302_counter counter, uint32_t value)
{
	set_counter(&model->port[port], counter, value);
}

uint32_t
c84302_model_events(const struct c84302_model *model, unsigned port, enum c84302_counter counter)
{
	return model->port[port].counter[counter] + model->port[port].gone[counter];
}
