/*
 * Draws a board as text: its chips, the wiring of its ports and the input of each, so that
 * easeagentd --check shows how the board file was understood.
 */
#ifndef EASE_AGENT_SIM_BOARD_DRAW_H
#define EASE_AGENT_SIM_BOARD_DRAW_H

#include "agent/sim/board.h"

#include <stdio.h>

void board_draw(FILE *out, const char *file, const struct board_plan *plan,
    const struct board_feed_config *feed);

#endif
