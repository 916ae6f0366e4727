#include "agent/device/fabric.h"

#include "agent/chip/c84302_model.h"
#include "agent/chip/galnet_model.h"
#include "agent/device/board_regs.h"

#include <endian.h>
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
	const uint32_t *max_octets; /* of a good frame, by the MAC */
};

/* Good frames since a port was settled, modulo 2^32: what it received, what it sent beside the
 * flooded ones (less its own flooded ones), and what had been flooded by then. */
struct port_sums {
	struct c84302_sums received, sent, flooded_before;
};

/* Frames between two settlements of all ports at most: at 65,535 octets each they are below the
 * 2^31 that a MAC's counter takes at once. */
enum { SETTLE_FRAMES = 16384 };

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
	struct c84302_sums flooded; /* since create */
	struct port_sums sums[BOARD_MAX_PORTS];
	uint64_t frames; /* since the last settlement of all ports */
	_Atomic uint64_t stat_values[FABRIC_N_STATS];
	struct stat_set stats;
};

/* --- the path of a frame --- */

enum { HEADER_OCTETS = 14, TYPE_MAC_CONTROL = 0x8808, OPCODE_PAUSE = 1 };
#define BROADCAST 0xffffffffffffull

static inline uint64_t
word_at(const uint8_t *octets)
{
	uint64_t word;

	memcpy(&word, octets, sizeof(word));
	return be64toh(word);
}

static inline uint8_t
kind_of(uint64_t destination)
{
	if (!(destination >> 40 & 1))
		return C84302_UCAST;
	return destination == BROADCAST ? C84302_BCAST : C84302_MCAST;
}

static uint8_t
control_of(const struct feed_frame *f)
{
	if (f->captured_octets < HEADER_OCTETS + 2)
		return C84302_UNKNOWN_OPCODE;
	return f->octets[14] == 0 && f->octets[15] == OPCODE_PAUSE ? C84302_PAUSE
								   : C84302_UNKNOWN_OPCODE;
}

/* The frame as the two chips see it. One without a header is a runt; it has no addresses. */
static inline void
look_at(const struct feed_frame *f, struct c84302_frame *mac, struct galnet_frame *frame)
{
	uint64_t source_and_type;

	*mac = (struct c84302_frame){.octets = f->wire_octets, .faults = f->faults};
	*frame = (struct galnet_frame){.octets = f->octets, .captured_octets = f->captured_octets,
	    .data_octets = f->data_octets, .wire_octets = f->wire_octets};
	if (f->captured_octets < HEADER_OCTETS)
		return;
	source_and_type = word_at(f->octets + 6);
	frame->destination = word_at(f->octets) >> 16;
	frame->source = source_and_type >> 16;
	mac->length_type = (uint16_t)source_and_type;
	mac->kind = kind_of(frame->destination);
	if (mac->length_type != TYPE_MAC_CONTROL)
		return;
	mac->control = control_of(f);
	frame->control = true;
}

static inline void
add_sums(struct c84302_sums *sums, const struct c84302_frame *frame, uint32_t sign)
{
	sums->octets += sign * frame->octets;
	sums->by_kind[frame->kind] += sign;
	sums->by_size[c84302_size_class(frame->octets)] += sign;
}

static void
flood(struct fabric *f, unsigned port, const struct c84302_frame *mac,
    const struct galnet_frame *frame)
{
	add_sums(&f->flooded, mac, 1);
	add_sums(&f->sums[port].sent, mac, UINT32_MAX);
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
	add_sums(&f->sums[f->first_port[device] + channel].sent, mac, 1);
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
		add_sums(&f->sums[f->first_port[to.device] + to.port].sent, mac, 1);
		break;
	case GALNET_TO_DEVICE:
		send_over_pci(f, to.device, to.port, mac, frame);
		break;
	case GALNET_FLOOD:
		flood(f, port, mac, frame);
		break;
	}
}

/* Counts it as received; true if it is good. */
static inline bool
receive(struct fabric *f, unsigned port, const struct c84302_frame *mac)
{
	const struct wiring *in = &f->ports[port];

	if (!c84302_model_is_plain(mac, *in->max_octets))
		return c84302_model_receive(in->mac, in->mac_port, mac);
	add_sums(&f->sums[port].received, mac, 1);
	return true;
}

void
fabric_frame(struct fabric *f, const struct feed_frame *frame)
{
	struct wiring *in = &f->ports[frame->port];
	struct c84302_frame mac;
	struct galnet_frame seen;

	if (frame->event != FEED_FRAME) {
		fabric_set_link(f, frame->port, frame->event == FEED_LINK_UP);
		return;
	}
	if (!(galnet_model_ports_up(in->chip) >> in->channel & 1)) {
		stat_add(&f->stats, FABRIC_STAT_PORT_DOWN, 1);
		return;
	}
	look_at(frame, &mac, &seen);
	if (receive(f, frame->port, &mac))
		forward(f, frame->port, &mac, &seen);
	else if (mac.octets >= C84302_MIN_OCTETS)
		galnet_model_error_source(in->chip, in->channel, seen.source, mac.faults == 0);
	if (++f->frames == SETTLE_FRAMES)
		fabric_settle(f);
}

uint64_t
fabric_advance(struct fabric *f, uint64_t now_us)
{
	(void)f;
	(void)now_us;
	return UINT64_MAX;
}

/* --- the sums --- */

/* Adds what was flooded since the port was settled. */
static void
add_flooded(struct c84302_sums *sent, const struct c84302_sums *now,
    const struct c84302_sums *before)
{
	sent->octets += now->octets - before->octets;
	for (unsigned i = 0; i < C84302_KINDS; i++)
		sent->by_kind[i] += now->by_kind[i] - before->by_kind[i];
	for (unsigned i = 0; i < C84302_SIZE_CLASSES; i++)
		sent->by_size[i] += now->by_size[i] - before->by_size[i];
}

static void
settle_port(struct fabric *f, unsigned port)
{
	const struct wiring *w = &f->ports[port];
	struct port_sums *sums = &f->sums[port];

	if (galnet_model_ports_up(w->chip) >> w->channel & 1)
		add_flooded(&sums->sent, &f->flooded, &sums->flooded_before);
	c84302_model_receive_sums(w->mac, w->mac_port, &sums->received);
	c84302_model_send(w->mac, w->mac_port, &sums->sent);
	*sums = (struct port_sums){.flooded_before = f->flooded};
}

/* The CPU is about to look at a port of a MAC chip. */
static void
sync_mac(void *ctx, unsigned chip, unsigned port)
{
	struct fabric *f = ctx;
	unsigned i = chip * C84302_PORTS + port;

	if (i < f->n_ports)
		settle_port(f, i);
}

/* Links or enable bits of a switch chip are about to change: the sums hold for those until now. */
static void
sync_ports(void *ctx, unsigned device)
{
	struct fabric *f = ctx;

	for (unsigned i = 0; i < f->n_ports; i++)
		if (f->ports[i].device == device && f->ports[i].mac)
			settle_port(f, i);
}

void
fabric_settle(struct fabric *f)
{
	if (f->frames == 0)
		return;
	stat_add(&f->stats, FABRIC_STAT_FRAMES, f->frames);
	f->frames = 0;
	for (unsigned i = 0; i < f->n_ports; i++)
		settle_port(f, i);
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
	    .ports_changing = sync_ports,
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
	    .sync = sync_mac,
	    .ctx = f,
	    .chip = f->n_macs,
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
		port->max_octets = c84302_model_max_octets(port->mac, port->mac_port);
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
