/*
 * A state (agent/state.h) in a directory of its own, for tests of what is kept in it.
 */
#ifndef EASE_TESTS_STATE_RIG_H
#define EASE_TESTS_STATE_RIG_H

#include "agent/state.h"

struct state_rig {
	char dir[64];
	struct clock clock;
	struct state *state;
};

/* managed is borrowed until the rig is closed or reopened. */
void state_rig_open(struct state_rig *rig, struct managed_table *const *managed, size_t n);
/* A clean stop, and a start over other tables, whose rows are restored. */
void state_rig_stop(struct state_rig *rig);
void state_rig_start(struct state_rig *rig, struct managed_table *const *managed, size_t n);
/* Runs SQL on the stopped state's file. */
void state_rig_sql(struct state_rig *rig, const char *sql);
void state_rig_close(struct state_rig *rig);

#endif
