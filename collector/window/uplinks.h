/*
 * Rows "uplink" of the file device_names: which ports lead to other switches although their agents do not say so. sFlow has no
 * edge flag, so without it each switch that a frame crosses counts the frame in lists. A port that is named
 * here becomes what an agent of ours reports with easePortEdge false: its state says that it is no edge port,
 * and lists over several switches leave its samples out.
 */
#ifndef EASE_COLLECTOR_WINDOW_UPLINKS_H
#define EASE_COLLECTOR_WINDOW_UPLINKS_H

#include "common/endpoint.h"
#include "common/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "AGENT PORT": AGENT is "any", ADDRESS or ADDRESS/BITS; PORT an ifIndex (1003), a range of them (49-52), or a
 * pattern with * and ? of its name or alias, whose case does not matter (Ethernet4*). */
struct uplink_rule {
	bool any_agent;
	struct prefix agent;
	uint32_t from, to;		 /* ifIndex; to 0: by pattern */
	char pattern[EASE_NAME_MAX + 1];
};

struct uplink_rules {
	const struct uplink_rule *rules; /* borrowed */
	size_t n;
};

/* Reads such a row. 0, or -EINVAL with *reason in static storage. */
int uplink_parse(const char *text, struct uplink_rule *rule, const char **reason);

/* For option rows: NULL if good, else the reason. */
const char *uplink_check(const char *text);

/* Whether a rule names the port of that state, or the link aggregate that it is a member of. address: the
 * agent's, as text; aggregate: the state of its aggregate, NULL if that is not known. */
bool uplinks_name(const struct uplink_rules *rules, const char *address, const struct ease_state *state,
    const struct ease_state *aggregate);

#endif
