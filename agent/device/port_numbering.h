/*
 * Which ifIndex each port of an emulated board has: the one that its name had before, so that numbers
 * stay when ports are added to the board file, taken out or moved; else its position in the file, if
 * nobody has or had that number; else the first one that is free.
 */
#ifndef EASE_AGENT_DEVICE_PORT_NUMBERING_H
#define EASE_AGENT_DEVICE_PORT_NUMBERING_H

#include "agent/device/board.h"

struct kept_if_index {
	const char *name;
	uint32_t if_index;
};

/* Fills if_index of the plan's ports. A board that has no port among the n kept is another switch:
 * they say nothing of it. */
void port_numbering_choose(struct board_plan *plan, const struct kept_if_index *kept, size_t n);
/* The position of the port in the plan; -1: no port has that number. */
int port_numbering_position(const struct board_plan *plan, uint32_t if_index);

#endif
