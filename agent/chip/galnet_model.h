/*
 * Software model of the GalNet switch controllers: address table, forwarding and flooding, EASE
 * counters with shadow, and what the chip writes into the CPU's memory (receive buffers,
 * NEW_ADDRESS and Error_Source messages), behind registers and an interrupt.
 *
 * The board gives it every good frame of a port and every frame another chip sends it over PCI,
 * and carries out what it decides. Packets that the CPU sends, the Device Table, PCI traffic
 * counters, PHY management and the station matrix are not there: too little of them is public, and
 * no agent needs them. Call everything with the bus's lock held. The driver (galnet.h) never sees
 * this file.
 */
#ifndef EASE_AGENT_CHIP_GALNET_MODEL_H
#define EASE_AGENT_CHIP_GALNET_MODEL_H

#include "agent/bus/bus_model.h"
#include "agent/chip/galnet_ease_model.h"
#include "agent/chip/galnet_regs.h"

#include <stdbool.h>
#include <stddef.h>

struct galnet_model;

enum galnet_chip { GALNET_GT48001A, GALNET_GT48002A };

struct galnet_frame {
	uint64_t destination, source; /* 48 bits, first octet on top */
	const uint8_t *octets;	      /* from the destination address on, without FCS */
	uint32_t captured_octets;     /* at octets */
	uint32_t data_octets;	      /* of these and the padding behind them that is known: 0s */
	uint32_t wire_octets;	      /* FCS in */
	bool control;		      /* a MAC control frame: ends at the MAC, never forwarded */
};

/* Calls back may be NULL if there is no other chip. */
struct galnet_model_config {
	enum galnet_chip chip;
	struct bus_model *bus; /* borrowed */
	unsigned device;       /* GalNet device number; its slice follows from it */
	unsigned line;	       /* interrupt line; chips may share it */
	/* NEW_ADDRESS to the other chips of the board. */
	void (*new_address)(void *ctx, unsigned device, uint64_t mac, unsigned port);
	/* Nobody here knows this address: who owns it tells this chip (galnet_model_owns). */
	void (*ask_owner)(void *ctx, unsigned device, uint64_t mac);
	/* A packet of a monitored port, for a port of the board. */
	void (*sniff)(void *ctx, unsigned device, unsigned port, const struct galnet_frame *frame);
	/* Events of a port so far, modulo 2^32, as the MIB counter counts them: by whoever counts
	 * them on this board. NULL: MIB counters stand at 0. */
	uint32_t (*mib_events)(void *ctx, unsigned device, unsigned port, enum galnet_mib which);
	/* The set of ports that are up is about to change. NULL: nobody minds. */
	void (*ports_changing)(void *ctx, unsigned device);
	void *ctx;
	struct galnet_ease *ease; /* of all chips on one PCI bus; borrowed; NULL: its own */
};

enum galnet_verdict {
	GALNET_DISCARD,	  /* reserved group, same port, or a port that is down */
	GALNET_TO_CPU,	  /* and nowhere else */
	GALNET_TO_PORT,	  /* of this chip */
	GALNET_TO_DEVICE, /* over PCI to one other chip */
	GALNET_FLOOD,	  /* all ports of all chips that are up, but the arrival port */
	/* Some chip of the board is in a mode that a plain flood does not serve: some ports of this
	 * one; at each other chip, those that galnet_model_receive_spread says. */
	GALNET_SPREAD,
};

/* In one register. */
struct galnet_route {
	enum galnet_verdict verdict : 8;
	unsigned device : 8, port : 8; /* of the egress, unless flooded or spread */
	unsigned unknown : 8;	       /* GALNET_SPREAD: the destination is */
	uint32_t ports;		       /* GALNET_SPREAD: of this chip, a bit each */
};

int galnet_model_create(const struct galnet_model_config *config, struct galnet_model **model);
void galnet_model_destroy(struct galnet_model *model); /* NULL allowed */
unsigned galnet_model_n_ports(const struct galnet_model *model);

/* The link of a port, as its transceiver sees it; down after create. */
void galnet_model_set_link(struct galnet_model *model, unsigned port, bool up);
/* Ports whose link is up and which software has not disabled, one bit each: what comes in by
 * others is not received. */
uint32_t galnet_model_ports_up(const struct galnet_model *model);
/* Those of them that send and learn: not blocked by the spanning tree. */
uint32_t galnet_model_forwarding(const struct galnet_model *model);

/* A good frame has come in by a port: learns, decides, and takes EASE samples of the arrival port
 * and of the egress ports of this chip. A flooded frame has then been counted on every segment of
 * the bus: chips with a bit in sampled_devices must be given it by galnet_model_receive_flooded. */
struct galnet_route galnet_model_receive(struct galnet_model *model, unsigned port,
    const struct galnet_frame *frame);
/* A frame comes over PCI for these ports (a bit each). Returns those that it leaves by. */
uint32_t galnet_model_receive_pci(struct galnet_model *model, uint32_t ports,
    const struct galnet_frame *frame);
void galnet_model_receive_flooded(struct galnet_model *model, const struct galnet_frame *frame);
/* A frame that another chip spreads comes over PCI. Returns the ports it leaves by. */
uint32_t galnet_model_receive_spread(struct galnet_model *model, bool unknown,
    const struct galnet_frame *frame);
/* The NEW_ADDRESS of another chip. */
void galnet_model_learn_remote(struct galnet_model *model, unsigned device, uint64_t mac,
    unsigned port);
/* Whether this chip owns an address, and then by which port it is reached. */
bool galnet_model_owns(struct galnet_model *model, uint64_t mac, unsigned *port);
/* A frame was refused by the MAC for its length or FCS: the Error_Source message. */
void galnet_model_error_source(struct galnet_model *model, unsigned port, uint64_t source,
    bool too_long);

/* Packets for the CPU that found no receive buffer, samples for the most part, since create. */
uint64_t galnet_model_packets_lost(const struct galnet_model *model);

#endif
