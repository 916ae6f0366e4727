/*
 * The agent's state over a restart, in STATE_DIR/easeagentd.state: its identity, the number of its
 * starts, each port's settings, and after a clean stop the counters' totals. The file is text in the
 * configuration's syntax. It is replaced as a whole (write, fsync, rename), so that a crash leaves
 * the old or the new file. If the file cannot be read the agent refuses to start and never
 * overwrites it: if a boot number were used twice, two samples would get the same identity.
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
	uint64_t discontinuity_us; /* of the counters, since 1970; 0: none */
	char *totals; /* of the hardware counters at a clean stop, separated by blanks; "": none */
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
	uint32_t ageing_s; /* of the address table; 0: the device's default */
	bool had_rows; /* the rows below were saved by an earlier run, even if there are none */
	struct state_rows rows;
};

/* Loads the state, or makes a new one with a random identity. Then increments the boot number and
 * writes the state with clean = false. Returns -errno with the reason in error. */
int state_open(const char *dir, struct agent_state *state, char *error, size_t error_size);
void state_free(struct agent_state *state);
/* Whether state_open would work; writes nothing. -errno with the reason in error. */
int state_check(const char *dir, char *error, size_t error_size);

void state_agent_id(const struct agent_state *state, uint8_t id[EASE_AGENT_ID_LEN]);

/* Applies the settings kept for each port's name to hal and sampling, and the totals if the last
 * stop was clean. Otherwise marks each port's discontinuity, unless this is the first start. */
void state_apply(const struct agent_state *state, bool was_clean, struct hal *hal,
    struct sampling *sampling);

/* Applies the settings alone, to a port that was plugged in. */
void state_apply_port(const struct agent_state *state, struct hal *hal, struct sampling *sampling,
    uint32_t if_index);

/* The rooms whose settings are kept. */
struct state_owners {
	const struct hal *hal;
	const struct sampling *sampling;
	struct managed_table *const *managed;
	size_t n_managed;
};

/* Writes the present settings, those of absent ports in state, and with clean the totals. Then
 * replaces state->ports by them, so that a port that is plugged in again gets its latest settings. */
int state_save(struct agent_state *state, const char *dir, bool clean,
    const struct state_owners *owners);

#endif
