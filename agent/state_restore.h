/*
 * At the start, and when a port is plugged in, puts in force what agent/state.h has kept: the
 * settings that managers made, and the counters' totals. At a clean stop gives the totals back.
 */
#ifndef EASE_AGENT_STATE_RESTORE_H
#define EASE_AGENT_STATE_RESTORE_H

#include "agent/settings.h"
#include "agent/state.h"

/* Names all ports to state, restores their settings, and their totals if the last stop was clean.
 * Else marks each port's discontinuity, unless this is the first start. Blocks while totals are read. */
void state_restore(struct state *state, const struct settings_owners *owners);

/* Something happened to a port. One that came gets its settings. */
void state_restore_port(
    struct state *state, const struct settings_owners *owners, const struct hal_port_event *event);

/* A clean stop: state_stop() with the totals of all ports. Blocks. */
int state_save_totals(struct state *state, const struct hal *hal);

#endif
