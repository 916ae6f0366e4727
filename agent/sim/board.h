/*
 * Reads a board file, which describes the chips of an emulated board, the wiring of its ports, and the
 * input of each port. Ports are wired in the order of the file to the channels of the switch chips, one
 * chip after the other, and likewise to those of the MAC chips and of the buffer chips; remaining
 * channels stay unconnected. Makes the feed of the board's input; the hardware is fabric.h's.
 */
#ifndef EASE_AGENT_SIM_BOARD_H
#define EASE_AGENT_SIM_BOARD_H

#include "agent/sim/feed.h"
#include "common/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BOARD_MAX_SWITCH_CHIPS = 31, /* GalNet devices on one bus, of which the CPU is one */
	BOARD_MAX_MAC_CHIPS = 16,
	BOARD_MAX_PORTS = 64,
	BOARD_MAX_LINK_CHANGES = 256, /* of a port */
};

enum board_chip_type {
	BOARD_GT48001A,
	BOARD_GT48002A,
	BOARD_C84302,
	BOARD_TNETX4090, /* buffers of nine ports */
	BOARD_EEE,	 /* low-power statistics of all ports */
	BOARD_N_CHIP_TYPES
};
enum board_role { BOARD_ROLE_SWITCH, BOARD_ROLE_MAC, BOARD_ROLE_BUFFERS, BOARD_ROLE_ENERGY,
	BOARD_N_ROLES };

struct board_chip {
	char *name;
	uint32_t line; /* of the file */
	int type; /* enum board_chip_type */
};

enum board_duplex { BOARD_HALF, BOARD_FULL };
enum board_link { BOARD_LINK_DOWN, BOARD_LINK_UP };

struct board_port {
	char *name; /* ifName */
	uint32_t line; /* of the file */
	uint32_t if_index; /* not in the file: see board_number_ports */
	uint32_t speed_mbps;
	int duplex; /* enum board_duplex */
	int link;   /* enum board_link */
	bool eee;   /* agreed with the partner */
	uint32_t eee_idle_us; /* without a frame before it sleeps */
	uint32_t eee_wake_us; /* to wake up; 0: what is usual at its speed */
	bool pause; /* agreed with the partner; full duplex only */
	char *capture; /* "deal", "none", a file of the port's own, or "live:" and an interface */
	char *interface; /* of that file, by number or name; "": all */
	char *start;	 /* "recorded", or seconds after the feed's start */
	struct option_list link_changes; /* board_link_change */
	struct option_list errors;	 /* board_error */
};

/* For all the board's TNETX4090s. */
struct board_buffers {
	uint32_t n;	 /* 0: the chip's default */
	uint32_t octets; /* of a buffer, a power of two; 0: the chip's default */
	bool flow, holb; /* SysControl's bits */
	uint32_t threshold;   /* buffers; 0: enough for every port to finish a frame */
	uint32_t mcast_limit; /* multicasts waiting at a port at most, a power of two; 0: any */
};

struct board_plan {
	uint32_t max_frame_octets;
	struct option_list errors; /* for ports without errors of their own */
	uint64_t error_seed;
	struct board_buffers buffers;
	struct option_sections chips; /* struct board_chip */
	struct option_sections ports; /* struct board_port */
};

/* On failure -errno, with FILE:LINE or FILE and the reason in error; *plan is then empty. */
int board_load(const char *file, struct board_plan *plan, char *error, size_t error_size);
/* The same from text. */
int board_parse(const char *name, const char *text, struct board_plan *plan, char *error,
    size_t error_size);
void board_free(struct board_plan *plan);

const struct board_chip *board_chip(const struct board_plan *plan, size_t i);
const struct board_port *board_port(const struct board_plan *plan, size_t i);
/* How many ports a chip of this type has (or can serve, if it serves the whole board), and its role. */
unsigned board_chip_ports(int type);
enum board_role board_chip_role(int type);
bool board_chip_switches(int type);
/* The number of chips with a role. */
size_t board_count_chips(const struct board_plan *plan, enum board_role role);
/* The chip of a role that a port is wired to, and the chip's channel; NULL: none. */
const struct board_chip *board_chip_of(const struct board_plan *plan, enum board_role role,
    unsigned port, unsigned *channel);

/* --- ifIndexes --- */

struct kept_if_index {
	const char *name;
	uint32_t if_index;
};

/* Chooses if_index of the plan's ports: the one that the port's name had before (one of the n kept), so that
 * numbers stay when ports are added to the board file, removed or moved; else its position in the file, if
 * no port has or had that number; else the first free number. If no port's name is among the kept ones, the
 * board is another switch and these are ignored. */
void board_number_ports(struct board_plan *plan, const struct kept_if_index *kept, size_t n);
/* The position of the port in the plan; -1: no port has that number. */
int board_port_position(const struct board_plan *plan, uint32_t if_index);

/* --- input --- */

struct board_feed_config {
	const char *capture; /* dealt to the ports that take part; NULL: none */
	enum feed_deal deal;
	bool loop, preload;
};

/* Makes the feed: the common capture, the ports' own captures, link changes and injected errors. *feed is
 * NULL if there is no input. On failure -errno, and error names the file and the reason. */
int board_feed_create(const struct board_plan *plan, const struct board_feed_config *config,
    struct feed **feed, char *error, size_t error_size);

/* True if frames of the common capture are dealt to the port. */
bool board_port_deals(const struct board_port *port);
/* The errors to inject at the port: its own, or the board's. */
const struct option_list *board_port_errors(const struct board_plan *plan,
    const struct board_port *port);
/* Parse "12.5 down" and "crc 1000", for port 0. NULL, or the reason why the text is invalid. */
const char *board_link_change(const char *text, struct feed_link_change *change);
const char *board_error(const char *text, struct feed_error *error);

#endif
