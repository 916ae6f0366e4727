/*
 * What the agent keeps over a restart, in STATE_DIR/easeagentd.state: its identity, the number of
 * its starts, each port's settings, and at a clean stop the counters' totals. The file is text in
 * the configuration's syntax, replaced as a whole (write, fsync, rename), so a crash leaves the
 * old or the new one. A file that cannot be read is refused, never overwritten: a boot number
 * used twice would make two samples one.
 */
#ifndef EASE_AGENT_STATE_H
#define EASE_AGENT_STATE_H

#include "agent/hal/hal.h"
#include "agent/sampling/sampling.h"
#include "agent/state_rows.h"

struct state_port {
	char *name; /* ifName */
	uint32_t if_index;
	char *alias;
	bool enabled;
	uint32_t mean_skip, header_octets, max_samples_per_s;
	bool edge, link_traps;
	bool admin_up;
	uint64_t discontinuity_us; /* of the counters, since 1970; 0 none */
	char *totals; /* of the hardware counters at a clean stop, space-separated; "" none */
};

struct state_ports {
	struct state_port *items;
	size_t n;
};

struct agent_state {
	char *agent_id; /* 16 hex digits */
	uint64_t boot;
	bool clean; /* the totals below were saved by a clean stop */
	struct state_ports ports;
	uint32_t ageing_s; /* of the address table; 0: what the device starts with */
	bool had_rows; /* the rows below are what managers left, even if there are none */
	struct state_rows rows;
};

/* Loads the state, or makes a new one with a random id, then counts this start and writes it back
 * with clean = false. -errno with the reason in error. */
int state_open(const char *dir, struct agent_state *state, char *error, size_t error_size);
void state_free(struct agent_state *state);
/* Whether state_open would work; writes nothing. -errno with the reason in error. */
int state_check(const char *dir, char *error, size_t error_size);

void state_agent_id(const struct agent_state *state, uint8_t id[EASE_AGENT_ID_LEN]);

/* Gives the ports of hal and sampling the settings kept for their names, and the totals if the
 * last stop was clean (was_clean); else marks each port's discontinuity, unless this is the first
 * start. */
void state_apply(const struct agent_state *state, bool was_clean, struct hal *hal,
    struct sampling *sampling);

/* The settings alone, for a port that was plugged in. */
void state_apply_port(const struct agent_state *state, struct hal *hal, struct sampling *sampling,
    uint32_t if_index);

/* Whose settings are kept. */
struct state_owners {
	const struct hal *hal;
	const struct sampling *sampling;
	struct managed_table *const *managed;
	size_t n_managed;
};

/* Writes the settings as they are now, and those of ports that state has and that are not there;
 * with clean, the totals too. state->ports are then these, so that a port that is unplugged and
 * plugged in again finds its latest. */
int state_save(struct agent_state *state, const char *dir, bool clean,
    const struct state_owners *owners);

#endif
