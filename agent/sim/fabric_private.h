/*
 * The state of the fabric, shared by the path of a frame (fabric.c) and the wiring of the chips
 * (fabric_build.c). No other file includes this.
 */
#ifndef EASE_AGENT_SIM_FABRIC_PRIVATE_H
#define EASE_AGENT_SIM_FABRIC_PRIVATE_H

#include "agent/sim/board_regs.h"
#include "agent/sim/buffers.h"
#include "agent/sim/chip/c84302_model.h"
#include "agent/sim/chip/galnet_model.h"
#include "agent/sim/fabric.h"
#include "agent/sim/wire.h"

/* The chips and channels that a port is wired to. */
struct wiring {
	struct galnet_model *chip;
	unsigned device, channel;
	struct c84302_model *mac;
	unsigned mac_port;
	const uint32_t *max_octets; /* longest good frame, a setting of the MAC */
	struct tnetx4090_partner partner; /* valid while the link is up; pause is for both directions */
};

/* Good frames since a port's sums were last added to its counters, modulo 2^32: those received, those
 * sent other than flooded ones (minus the flooded ones that it received), and the value of
 * fabric.flooded at that time. */
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
	bool links_changed; /* ports may have come up or gone down since wires was updated */
	bool links_known;   /* wires was updated at least once */
	bool eee_read;	    /* the CPU has accessed the EEE unit since its counts were last updated */
	uint64_t links_up;  /* ports that were up at that update, a bit each */
	uint64_t ready;	    /* links_up if no link has changed since, else 0 */
	struct wires wires;
	struct buffers buffers;
	struct c84302_sums flooded; /* since create */
	struct port_sums sums[BOARD_MAX_PORTS];
	uint64_t frames; /* since the sums of all ports were last added */
	_Atomic uint64_t stat_values[FABRIC_N_STATS];
	struct stat_set stats;
};

/* Add a port's sums to its MAC's counters; and those of all ports of a switch chip before its links or
 * enable bits change. */
void fabric_settle_port(struct fabric *fabric, unsigned port);
void fabric_ports_changing(void *fabric, unsigned device);
void fabric_follow_links(struct fabric *fabric); /* after such a change */
/* Also sends a packet of a monitored port by a port of the board. */
void fabric_send_to_sniffer(void *fabric, unsigned device, unsigned channel,
    const struct galnet_frame *frame);
/* Releases the buffers of frames whose time has come, and lets waiting frames in. */
void fabric_release(struct fabric *fabric, uint64_t now_ns);

#endif
