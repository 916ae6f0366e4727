/*
 * Reads the text file in which earlier versions kept the agent's state, STATE_DIR/easeagentd.state,
 * once. Afterwards it is renamed to easeagentd.state.old.
 */
#ifndef EASE_AGENT_STATE_UPGRADE_H
#define EASE_AGENT_STATE_UPGRADE_H

#include "agent/sampling/sampling.h"
#include "agent/state_file.h"

struct old_port {
	char *name; /* ifName */
	uint32_t if_index;
	char *alias;
	bool enabled;
	uint32_t mean_skip, header_octets, max_samples_per_s;
	bool edge, link_traps;
	bool admin_up;
	uint64_t discontinuity_us; /* since 1970; 0: none */
	char *totals; /* separated by blanks; "": none */
};

struct old_ports {
	struct old_port *items;
	size_t n;
};

struct old_state {
	char *agent_id; /* 16 hex digits */
	uint64_t boot;
	bool clean;
	struct old_ports ports;
	uint32_t ageing_s; /* 0: the device's default */
	bool had_rows;
	struct { /* struct old_row, in state_upgrade.c */
		void *items;
		size_t n;
	} rows;
};

/* Returns 0, -ENOENT if there is no such file, or -EINVAL if it cannot be read; the reason is in
 * error. Follows no link. Blocks. */
int state_upgrade_load(const char *dir, struct old_state *old, char *error, size_t error_size);
void state_upgrade_free(struct old_state *old);
void state_upgrade_identity(const struct old_state *old, struct state_identity *identity);

/* Calls set for each setting of the port that a manager has probably made: those that the
 * configuration would not give. kind as in mibs/mib_set.h; text is for ifAlias alone. */
void state_upgrade_settings(const struct old_port *port, const struct sampling_port_config *defaults,
    void (*set)(void *ctx, unsigned kind, int64_t number, const char *text), void *ctx);

/* Write rows, and a port's totals, to the file; within a transaction. As state_file_put. */
int state_upgrade_put_rows(const struct old_state *old, struct state_file *file);
int state_upgrade_put_totals(const struct old_port *port, int64_t id, struct state_file *file);

/* The new file has all of it now. */
void state_upgrade_done(const char *dir);

#endif
