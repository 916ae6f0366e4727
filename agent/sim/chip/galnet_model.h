/*
 * Software model of the GalNet switch controllers: address table, forwarding and flooding, EASE counters
 * with shadow, and the data that the chip writes to the CPU's memory (receive buffers, NEW_ADDRESS and
 * Error_Source messages), with its registers and interrupt.
 *
 * The board passes it every good frame of a port and every frame that another chip sends over PCI, and
 * carries out its decisions. Packets that the CPU sends, the Device Table, PCI traffic counters, PHY
 * management and the station matrix are not modelled: too little about them is public, and no agent
 * needs them. The caller holds the bus's lock. The driver (galnet.h) does not use this file.
 */
#ifndef EASE_AGENT_SIM_CHIP_GALNET_MODEL_H
#define EASE_AGENT_SIM_CHIP_GALNET_MODEL_H

#include "agent/sim/bus/bus_model.h"
#include "agent/sim/chip/galnet_ease_model.h"
#include "agent/sim/chip/galnet_regs.h"

#include <stdbool.h>
#include <stddef.h>

struct galnet_model;

enum galnet_chip { GALNET_GT48001A, GALNET_GT48002A };

struct galnet_frame {
	uint64_t destination, source; /* 48 bits, the first octet highest */
	const uint8_t *octets;	      /* from the destination address on, without FCS */
	uint32_t captured_octets;     /* at octets */
	uint32_t data_octets;	      /* captured octets, and padding whose value is known: zeros */
	uint32_t wire_octets;	      /* with FCS */
	bool control;		      /* a MAC control frame: ends at the MAC, never forwarded */
};

/* new_address and request_owner may be NULL if there is no other chip. */
struct galnet_model_config {
	enum galnet_chip chip;
	struct bus_model *bus; /* borrowed */
	unsigned device;       /* GalNet device number, which determines its slice */
	unsigned line;	       /* interrupt line; chips may share it */
	/* Sends a NEW_ADDRESS to the other chips of the board. */
	void (*new_address)(void *ctx, unsigned device, uint64_t mac, unsigned port);
	/* This chip does not know an address: the chip that owns it must send a NEW_ADDRESS
	 * (galnet_model_owns). */
	void (*request_owner)(void *ctx, unsigned device, uint64_t mac);
	/* Sends a packet of a monitored port by a port of the board. */
	void (*sniff)(void *ctx, unsigned device, unsigned port, const struct galnet_frame *frame);
	/* The number of a port's events so far, modulo 2^32, for a MIB counter. NULL: MIB counters
	 * stay 0. */
	uint32_t (*mib_events)(void *ctx, unsigned device, unsigned port, enum galnet_mib which);
	/* Called before the set of ports that are up changes. May be NULL. */
	void (*ports_changing)(void *ctx, unsigned device);
	void *ctx;
	struct galnet_ease *ease; /* shared by all chips on one PCI bus; borrowed; NULL: the chip makes its own */
};

enum galnet_verdict {
	GALNET_DISCARD,	  /* reserved group, same port, or a port that is down */
	GALNET_TO_CPU,	  /* and nowhere else */
	GALNET_TO_PORT,	  /* of this chip */
	GALNET_TO_DEVICE, /* over PCI to one other chip */
	GALNET_FLOOD,	  /* all ports of all chips that are up, except the arrival port */
	/* Some chip of the board is in a special mode: the frame goes to some ports of this chip, and at
	 * each other chip to those that galnet_model_receive_spread returns. */
	GALNET_SPREAD,
};

/* Fits into one CPU register. */
struct galnet_route {
	enum galnet_verdict verdict : 8;
	unsigned device : 8, port : 8; /* of the egress, unless flooded or spread */
	unsigned unknown : 8;	       /* GALNET_SPREAD: the destination is unknown */
	uint32_t ports;		       /* GALNET_SPREAD: of this chip, a bit each */
};

int galnet_model_create(const struct galnet_model_config *config, struct galnet_model **model);
void galnet_model_destroy(struct galnet_model *model); /* NULL allowed */
unsigned galnet_model_n_ports(const struct galnet_model *model);

/* Sets the link of a port, as reported by its transceiver. Down after create. */
void galnet_model_set_link(struct galnet_model *model, unsigned port, bool up);
/* Ports whose link is up and which software has not disabled, a bit each. Others receive nothing. */
uint32_t galnet_model_ports_up(const struct galnet_model *model);
/* Those of them that the spanning tree does not block: they send and learn. */
uint32_t galnet_model_forwarding(const struct galnet_model *model);

/* Handles a good frame received by a port: learns its source, decides, and takes EASE samples at the
 * arrival port and at the egress ports of this chip. A flooded frame has then been counted on every
 * segment of the bus: the caller must pass it to the chips with a bit in sampled_devices by
 * galnet_model_receive_flooded. */
struct galnet_route galnet_model_receive(struct galnet_model *model, unsigned port,
    const struct galnet_frame *frame);
/* Handles a frame from PCI for these ports (a bit each). Returns the ports that send it. */
uint32_t galnet_model_receive_pci(struct galnet_model *model, uint32_t ports,
    const struct galnet_frame *frame);
void galnet_model_receive_flooded(struct galnet_model *model, const struct galnet_frame *frame);
/* Handles a frame from PCI that another chip spreads. Returns the ports that send it. */
uint32_t galnet_model_receive_spread(struct galnet_model *model, bool unknown,
    const struct galnet_frame *frame);
/* Handles a NEW_ADDRESS from another chip. */
void galnet_model_learn_remote(struct galnet_model *model, unsigned device, uint64_t mac,
    unsigned port);
/* Whether this chip owns an address, and if so, at which port it is. */
bool galnet_model_owns(struct galnet_model *model, uint64_t mac, unsigned *port);
/* Writes the Error_Source message of a frame that the MAC refused for its length or FCS. */
void galnet_model_error_source(struct galnet_model *model, unsigned port, uint64_t source,
    bool too_long);

/* Packets for the CPU that found no receive buffer, samples for the most part, since create. */
uint64_t galnet_model_packets_lost(const struct galnet_model *model);

#endif
