/*
 * The option precision: what somebody wants to know, and how exactly. A goal names rows of a list, the ports, how wide
 * their limits may be, and each how many minutes:
 *
 *   top 10 of each port within 10% every 5m
 *   top 5 services of port sw1:e-3 within 20% every 15m
 *   talkers above 1% of each port within 20% every 5m
 *   top 20 of all ports within 5% every 15m
 *   top 10 of agent sw1 within 10% every 5m
 *   top 10 by octets of each port within 10% every 5m
 */
#ifndef EASE_COLLECTOR_PRECISION_GOAL_H
#define EASE_COLLECTOR_PRECISION_GOAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum precision_keys { PRECISION_TALKERS, PRECISION_DESTINATIONS, PRECISION_PAIRS, PRECISION_SERVICES, PRECISION_N_KEYS };

enum { PRECISION_GOAL_TEXT = 112, PRECISION_GOALS_MAX = 16, PRECISION_TOP_MAX = 100, PRECISION_NAME_TEXT = 65 };

struct precision_goal {
	enum precision_keys keys;
	unsigned top;	/* so many rows; 0: those above `share` */
	bool by_octets; /* figures, order and shares are of octets, else of frames */
	double share;	/* of the port's, 0 to 1 */
	double width;	/* of a limit, as a part of the figure: 0.1 is within 10 % */
	uint32_t period_s;
	bool of_all_ports; /* one list of all together; else each port has its own */
	/* "": of any. As reports name them. */
	char agent[PRECISION_NAME_TEXT], port[PRECISION_NAME_TEXT];
	char text[PRECISION_GOAL_TEXT]; /* as it was written */
};

/* Reads a goal. 0, or -EINVAL with *reason in static storage. */
int precision_goal_parse(const char *text, struct precision_goal *goal, const char **reason);

/* For option rows: NULL if good, else the reason. */
const char *precision_goal_check(const char *text);

/* How many rows a goal asks for at most. */
unsigned precision_goal_rows(const struct precision_goal *goal);

#endif
