/*
 * The fabric's parts, shared by the path of a frame (fabric.c) and by what wires the chips together
 * (fabric_build.c). Nobody else includes this.
 */
#ifndef EASE_AGENT_DEVICE_FABRIC_PRIVATE_H
#define EASE_AGENT_DEVICE_FABRIC_PRIVATE_H

#include "agent/chip/c84302_model.h"
#include "agent/chip/galnet_model.h"
#include "agent/device/board_regs.h"
#include "agent/device/buffers.h"
#include "agent/device/fabric.h"
#include "agent/device/wire.h"

/* Where a port of the board is. */
struct wiring {
	struct galnet_model *chip;
	unsigned device, channel;
	struct c84302_model *mac;
	unsigned mac_port;
	const uint32_t *max_octets; /* of a good frame, by the MAC */
	struct tnetx4090_partner partner; /* while the link is up; pause holds for both sides */
};

/* Good frames since a port was settled, modulo 2^32: what it received, what it sent beside the
 * flooded ones (less its own flooded ones), and what had been flooded by then. */
struct port_sums {
	struct c84302_sums received, sent, flooded_before;
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
	struct eee_calendar_model *eee; /* NULL: the board has none */
	struct wiring ports[BOARD_MAX_PORTS];
	unsigned n_ports;
	uint64_t now_ns; /* board time */
	bool links_changed; /* ports may have come up or gone down since lines were told */
	bool links_known;   /* they have been told at all */
	bool eee_read;	    /* the CPU has been at the EEE unit since it was last settled */
	uint64_t links_up;  /* ports that were up then, a bit each */
	uint64_t ready;	    /* the same while links have not changed, else none */
	struct wires wires;
	struct buffers buffers;
	struct c84302_sums flooded; /* since create */
	struct port_sums sums[BOARD_MAX_PORTS];
	uint64_t frames; /* since the last settlement of all ports */
	_Atomic uint64_t stat_values[FABRIC_N_STATS];
	struct stat_set stats;
};

/* A port's sums reach its MAC's counters; and those of all ports of a switch chip, whose links or
 * enable bits are about to change. */
void fabric_settle_port(struct fabric *fabric, unsigned port);
void fabric_ports_changing(void *fabric, unsigned device);
void fabric_follow_links(struct fabric *fabric); /* behind such a change */
/* A packet of a monitored port leaves by a port of the board, too. */
void fabric_send_to_sniffer(void *fabric, unsigned device, unsigned channel,
    const struct galnet_frame *frame);
/* Frames whose time has come give their buffers back, and those that wait for them come in. */
void fabric_release(struct fabric *fabric, uint64_t now_ns);

#endif
