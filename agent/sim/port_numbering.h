/*
 * Chooses the ifIndex of each port of an emulated board: the one that the port's name had before, so that
 * numbers stay when ports are added to the board file, removed or moved; else its position in the
 * file, if no port has or had that number; else the first free number.
 */
#ifndef EASE_AGENT_SIM_PORT_NUMBERING_H
#define EASE_AGENT_SIM_PORT_NUMBERING_H

#include "agent/sim/board.h"

struct kept_if_index {
	const char *name;
	uint32_t if_index;
};

/* Sets if_index of the plan's ports. If no port's name is among the n kept ones, the board is another
 * switch and these are ignored. */
void port_numbering_choose(struct board_plan *plan, const struct kept_if_index *kept, size_t n);
/* The position of the port in the plan; -1: no port has that number. */
int port_numbering_position(const struct board_plan *plan, uint32_t if_index);

#endif
