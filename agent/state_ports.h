/*
 * The ports and the settings of agent/state.h in memory: which names are known, which number each has,
 * since when a port is gone, what managers have set, and which of this the file does not have yet.
 * Pure: no file, no clock. Inside agent/state*.c only.
 */
#ifndef EASE_AGENT_STATE_PORTS_H
#define EASE_AGENT_STATE_PORTS_H

#include "mibs/mib_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATE_N_KINDS = MIB_SET_ROW }; /* settings are numbered by enum mib_set_kind */

struct state_setting {
	bool set;   /* by a manager */
	bool dirty; /* the file has something else */
	int64_t number;
	char *text;
};

struct state_port {
	int64_t id; /* in the file; 0: the agent itself */
	char *name;
	uint32_t if_index; /* 0: another port has its number now */
	bool here;
	bool dirty; /* the file has something else of the members above */
	uint64_t departed_s; /* the agent's running time when it left; 0: it is, or was, here */
	struct state_setting settings[STATE_N_KINDS];
};

struct state_ports {
	struct state_port self;	   /* the agent's own settings */
	struct state_port **items; /* sorted by name */
	size_t n, room;
	int64_t next_id;
	int64_t *deleted; /* ids of ports that the file is to forget */
	size_t n_deleted;
	struct state_before *undo; /* what the latest request has changed */
	size_t n_undo;
	uint64_t n_forgotten; /* ever */
	void (*forgot)(void *ctx, const char *name, uint32_t if_index); /* NULL: nobody wants to know */
	void *ctx;
};

void state_ports_init(struct state_ports *ports);
void state_ports_free(struct state_ports *ports);

struct state_port *state_ports_find(const struct state_ports *ports, const char *name);
struct state_port *state_ports_find_id(struct state_ports *ports, int64_t id);
/* The port that is here with this number; 0: the agent itself. */
struct state_port *state_ports_owner(const struct state_ports *ports, uint32_t if_index);
/* Adds a name that is not known. NULL: out of memory. */
struct state_port *state_ports_add(struct state_ports *ports, int64_t id, const char *name);
/* Takes the number from all but one of the ports that have the same. -ENOMEM. */
int state_ports_check_numbers(struct state_ports *ports);

bool state_port_has_settings(const struct state_port *port); /* that a manager made */

/* The port is here with this number. may_rename: a port that has the number under another name has
 * been renamed, and keeps its settings. -ENOMEM. */
int state_ports_here(struct state_ports *ports, const char *name, uint32_t if_index, bool may_rename);
void state_ports_gone(struct state_port *port, uint64_t now_s);
/* Forgets those that left before that time, and at a number above most the ones that are away for
 * longest; ports with settings go last. */
void state_ports_age(struct state_ports *ports, uint64_t before_s, size_t most);

/* 0 or -ENOMEM. text is for settings that are texts. */
int state_ports_set(struct state_port *port, unsigned kind, int64_t number, const char *text);
/* The same, in a way that state_ports_undo can take back; state_ports_begin begins a request. */
void state_ports_begin(struct state_ports *ports);
int state_ports_change(struct state_ports *ports, struct state_port *port, const struct mib_set *set);
void state_ports_undo(struct state_ports *ports);
/* Calls apply for each setting of the port. */
void state_ports_settings(const struct state_port *port,
    void (*apply)(void *ctx, const struct mib_set *set), void *ctx);

/* Whether the file lacks anything; and marks that it lacks nothing, or everything. */
bool state_ports_dirty(const struct state_ports *ports);
void state_ports_mark(struct state_ports *ports, bool dirty);

#endif
