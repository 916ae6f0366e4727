/*
 * Makes the feed of a board from the board file and the agent's configuration: the common capture, the
 * ports' own captures, link changes and injected errors.
 */
#ifndef EASE_AGENT_SIM_BOARD_FEED_H
#define EASE_AGENT_SIM_BOARD_FEED_H

#include "agent/sim/board.h"
#include "agent/sim/feed.h"

struct board_feed_config {
	const char *capture; /* dealt to the ports that take part; NULL: none */
	enum feed_deal deal;
	bool loop, preload;
};

/* *feed is NULL if there is no input. On failure -errno, and error names the file and the reason. */
int board_feed_create(const struct board_plan *plan, const struct board_feed_config *config,
    struct feed **feed, char *error, size_t error_size);

#endif
