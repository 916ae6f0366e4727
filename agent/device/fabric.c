#include "agent/device/fabric.h"

#include "agent/chip/c84302_model.h"
#include "agent/chip/galnet_model.h"
#include "agent/device/board_regs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct stat_name stat_names[FABRIC_N_STATS] = {
    [FABRIC_STAT_FRAMES] = {"board.frames", "frames that came in by ports that were up"},
    [FABRIC_STAT_PORT_DOWN] = {"board.port_down", "frames dropped: their port is down"},
};

/* Where a port of the board is. */
struct wiring {
	struct galnet_model *chip;
	unsigned device, channel;
	struct c84302_model *mac;
	unsigned mac_port;
};

struct fabric {
	struct bus_model *bus;
	struct regmodel glue;
	struct galnet_model *chips[BOARD_MAX_SWITCH_CHIPS]; /* by device number */
	struct galnet_ease ease;
	unsigned first_port[BOARD_MAX_SWITCH_CHIPS];
	unsigned n_chips;
	struct c84302_model *macs[BOARD_MAX_MAC_CHIPS];
	unsigned n_macs;
	struct wiring ports[BOARD_MAX_PORTS];
	unsigned n_ports;
	/* Frames sent since the last settlement: to all ports but their own (`flooded`), and by
	 * port what differs from that, modulo 2^32: unicasts more, its own flooded frames less. */
	struct c84302_sent flooded, sent[BOARD_MAX_PORTS];
	uint64_t frames; /* since the last settlement */
	_Atomic uint64_t stat_values[FABRIC_N_STATS];
	struct stat_set stats;
};

/* --- the path of a frame --- */

static uint64_t
mac_at(const uint8_t *octets)
{
	uint64_t mac = 0;

	for (int i = 0; i < 6; i++)
		mac = mac << 8 | octets[i];
	return mac;
}

#define BROADCAST 0xffffffffffffull
enum { HEADER_OCTETS = 14, TYPE_MAC_CONTROL = 0x8808, OPCODE_PAUSE = 1 };

static uint8_t
kind_of(uint64_t destination)
{
	if (!(destination >> 40 & 1))
		return C84302_UCAST;
	return destination == BROADCAST ? C84302_BCAST : C84302_MCAST;
}

static uint8_t
control_of(uint16_t type, const struct feed_frame *f)
{
	if (type != TYPE_MAC_CONTROL)
		return C84302_NOT_CONTROL;
	if (f->captured_octets < HEADER_OCTETS + 2)
		return C84302_UNKNOWN_OPCODE;
	return f->octets[14] == 0 && f->octets[15] == OPCODE_PAUSE ? C84302_PAUSE
								   : C84302_UNKNOWN_OPCODE;
}

/* The frame as the two chips see it. One without a header is a runt; it has no addresses. */
static void
look_at(const struct feed_frame *f, struct c84302_frame *mac, struct galnet_frame *frame)
{
	*mac = (struct c84302_frame){.octets = f->wire_octets};
	*frame = (struct galnet_frame){.octets = f->octets, .captured_octets = f->captured_octets,
	    .data_octets = f->data_octets, .wire_octets = f->wire_octets};
	if (f->captured_octets < HEADER_OCTETS)
		return;
	frame->destination = mac_at(f->octets);
	frame->source = mac_at(f->octets + 6);
	mac->length_type = (uint16_t)(f->octets[12] << 8 | f->octets[13]);
	mac->kind = kind_of(frame->destination);
	mac->control = control_of(mac->length_type, f);
	frame->control = mac->control != C84302_NOT_CONTROL;
}

static inline void
add_sent(struct c84302_sent *sent, const struct c84302_frame *frame, uint32_t sign)
{
	sent->octets += sign * frame->octets;
	sent->by_kind[frame->kind] += sign;
	sent->by_size[c84302_size_class(frame->octets)] += sign;
}

static void
flood(struct fabric *f, unsigned port, const struct c84302_frame *mac,
    const struct galnet_frame *frame)
{
	add_sent(&f->flooded, mac, 1);
	add_sent(&f->sent[port], mac, UINT32_MAX);
	for (unsigned i = 0; f->ease.sampled_devices != 0 && i < f->n_chips; i++)
		if (f->ease.sampled_devices >> i & 1)
			galnet_model_receive_flooded(f->chips[i], frame);
}

/* Over PCI to one port of another chip. */
static void
send_over_pci(struct fabric *f, unsigned device, unsigned channel,
    const struct c84302_frame *mac, const struct galnet_frame *frame)
{
	if (device >= f->n_chips || !(galnet_model_ports_up(f->chips[device]) >> channel & 1))
		return;
	add_sent(&f->sent[f->first_port[device] + channel], mac, 1);
	galnet_model_receive_pci(f->chips[device], 1u << channel, frame);
}

static void
forward(struct fabric *f, unsigned port, const struct c84302_frame *mac,
    const struct galnet_frame *frame)
{
	struct wiring *in = &f->ports[port];
	struct galnet_route to = galnet_model_receive(in->chip, in->channel, frame);

	switch (to.verdict) {
	case GALNET_DISCARD:
		break;
	case GALNET_TO_PORT:
		add_sent(&f->sent[f->first_port[to.device] + to.port], mac, 1);
		break;
	case GALNET_TO_DEVICE:
		send_over_pci(f, to.device, to.port, mac, frame);
		break;
	case GALNET_FLOOD:
		flood(f, port, mac, frame);
		break;
	}
}

void
fabric_frame(struct fabric *f, const struct feed_frame *frame)
{
	struct wiring *in = &f->ports[frame->port];
	struct c84302_frame mac;
	struct galnet_frame seen;

	if (!(galnet_model_ports_up(in->chip) >> in->channel & 1)) {
		stat_add(&f->stats, FABRIC_STAT_PORT_DOWN, 1);
		return;
	}
	f->frames++;
	look_at(frame, &mac, &seen);
	if (c84302_model_receive(in->mac, in->mac_port, &mac))
		forward(f, frame->port, &mac, &seen);
	else if (mac.octets >= C84302_MIN_OCTETS)
		galnet_model_error_source(in->chip, in->channel, seen.source, mac.faults == 0);
}

/* Modulo 2^32: what a port's own flooded frames took off is given back by the sum of all. */
static void
add_flooded(struct c84302_sent *sent, const struct c84302_sent *flooded)
{
	sent->octets += flooded->octets;
	for (unsigned i = 0; i < C84302_KINDS; i++)
		sent->by_kind[i] += flooded->by_kind[i];
	for (unsigned i = 0; i < C84302_SIZE_CLASSES; i++)
		sent->by_size[i] += flooded->by_size[i];
}

void
fabric_settle(struct fabric *f)
{
	if (f->frames == 0)
		return;
	stat_add(&f->stats, FABRIC_STAT_FRAMES, f->frames);
	f->frames = 0;
	for (unsigned i = 0; i < f->n_ports; i++) {
		const struct wiring *out = &f->ports[i];

		if (!(galnet_model_ports_up(out->chip) >> out->channel & 1))
			continue;
		add_flooded(&f->sent[i], &f->flooded);
		c84302_model_send(out->mac, out->mac_port, &f->sent[i]);
	}
	memset(f->sent, 0, f->n_ports * sizeof(f->sent[0]));
	memset(&f->flooded, 0, sizeof(f->flooded));
}

void
fabric_set_link(struct fabric *f, unsigned port, bool up)
{
	fabric_settle(f);
	galnet_model_set_link(f->ports[port].chip, f->ports[port].channel, up);
}

/* --- building --- */

static uint32_t
read_lines(void *chip, unsigned index, uint32_t stored)
{
	const struct fabric *f = chip;

	(void)index;
	(void)stored;
	return bus_model_lines(f->bus);
}

static const struct regmodel_row glue_rows[] = {
    {.name = "Interrupt lines", .offset = BOARD_GLUE_LINES, .reserved = UINT32_MAX,
	.read = read_lines},
};

static int
add_glue(struct fabric *f)
{
	int rc = regmodel_init(&f->glue, glue_rows, 1, f);

	return rc < 0 ? rc : bus_model_attach(f->bus, BOARD_GLUE_BASE, 4, &f->glue);
}

/* NEW_ADDRESS of one chip to all the others. */
static void
tell_other_chips(void *ctx, unsigned device, uint64_t mac, unsigned port)
{
	struct fabric *f = ctx;

	for (unsigned i = 0; i < f->n_chips; i++)
		if (i != device)
			galnet_model_learn_remote(f->chips[i], device, mac, port);
}

static int
add_switch_chip(struct fabric *f, int type)
{
	struct galnet_model_config config = {
	    .chip = type == BOARD_GT48001A ? GALNET_GT48001A : GALNET_GT48002A,
	    .bus = f->bus,
	    .device = f->n_chips,
	    .line = BOARD_LINE_SWITCH + f->n_chips,
	    .new_address = tell_other_chips,
	    .ctx = f,
	    .ease = &f->ease,
	};
	unsigned n_ports = board_chip_ports(type);
	int rc = galnet_model_create(&config, &f->chips[f->n_chips]);

	if (rc < 0)
		return rc;
	f->first_port[f->n_chips] = f->n_ports;
	for (unsigned i = 0; i < n_ports; i++)
		f->ports[f->n_ports++] = (struct wiring){
		    .chip = f->chips[f->n_chips], .device = f->n_chips, .channel = i};
	f->n_chips++;
	return 0;
}

static int
add_mac_chip(struct fabric *f)
{
	struct c84302_model_config config = {
	    .bus = f->bus,
	    .base = BOARD_MAC_BASE + f->n_macs * C84302_WINDOW,
	    .line = BOARD_LINE_MAC + f->n_macs,
	};
	int rc = c84302_model_create(&config, &f->macs[f->n_macs]);

	f->n_macs += rc == 0;
	return rc;
}

static void
wire_ports(struct fabric *f, const struct board_plan *plan)
{
	for (unsigned i = 0; i < f->n_ports; i++) {
		struct wiring *port = &f->ports[i];

		port->mac = f->macs[i / C84302_PORTS];
		port->mac_port = i % C84302_PORTS;
		galnet_model_set_link(port->chip, port->channel,
		    board_port(plan, i)->link == BOARD_LINK_UP);
	}
}

int
fabric_create(struct bus_model *bus, const struct board_plan *plan, struct fabric **fabric)
{
	struct fabric *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return -ENOMEM;
	f->bus = bus;
	galnet_ease_init(&f->ease);
	f->stats = (struct stat_set){stat_names, FABRIC_N_STATS, f->stat_values};
	rc = add_glue(f);
	for (size_t i = 0; i < plan->chips.n && rc == 0; i++) {
		int type = board_chip(plan, i)->type;

		rc = board_chip_switches(type) ? add_switch_chip(f, type) : add_mac_chip(f);
	}
	if (rc < 0) {
		fabric_destroy(f);
		return rc;
	}
	wire_ports(f, plan);
	*fabric = f;
	return 0;
}

void
fabric_destroy(struct fabric *fabric)
{
	if (!fabric)
		return;
	for (unsigned i = 0; i < fabric->n_chips; i++)
		galnet_model_destroy(fabric->chips[i]);
	for (unsigned i = 0; i < fabric->n_macs; i++)
		c84302_model_destroy(fabric->macs[i]);
	regmodel_free(&fabric->glue);
	free(fabric);
}

const struct stat_set *
fabric_stats(const struct fabric *fabric)
{
	return &fabric->stats;
}
