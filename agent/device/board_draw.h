/*
 * A board as text: its chips, how ports are wired to them, and what comes in by each, so that a
 * person sees at a glance what was understood. For easeagentd --check.
 */
#ifndef EASE_AGENT_DEVICE_BOARD_DRAW_H
#define EASE_AGENT_DEVICE_BOARD_DRAW_H

#include "agent/device/board_feed.h"

#include <stdio.h>

void board_draw(FILE *out, const char *file, const struct board_plan *plan,
    const struct board_feed_config *feed);

#endif
