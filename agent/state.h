/*
 * What the agent keeps over a restart: its identity, the number of its starts, the names and numbers
 * of its ports, the settings and rows that managers made, and after a clean stop the counters' totals.
 *
 * A setting is kept when a manager sets it, and only then. So whatever no manager has set follows the
 * configuration at the next start.
 *
 * All of it but totals and rows is in memory, and is written to the file (state_file.h) by
 * state_commit(). If that fails (a full disk) the agent goes on with what it has in memory,
 * state_tick() tries again, and only a restart in between would lose the change. A damaged file is set
 * aside and written anew.
 *
 * A port that is gone keeps its number and its settings until it has been away for keep_departed_days
 * of the agent's running time. No clock on the wall counts, so a clock that was set wrong forgets no
 * port. At STATE_DEPARTED_MAX, the port that is away for longest makes room; ports with settings go
 * last.
 *
 * Main loop only. Each function says whether it blocks, which it does for as long as the disk takes to
 * sync; the others only use memory.
 */
#ifndef EASE_AGENT_STATE_H
#define EASE_AGENT_STATE_H

#include "agent/hal/hal.h"
#include "agent/settings.h"
#include "agent/snmp/managed_table.h"
#include "common/clock.h"
#include "common/stat.h"

#include <sys/types.h>

struct state;

enum {
	STATE_DEPARTED_MAX = 4096, /* ports that are gone and remembered; HAL_MAX_PORTS more are here */
	STATE_BOOT_MAX = INT32_MAX, /* snmpEngineBoots ends there (RFC 3414) */
};

struct state_options {
	const char *dir; /* borrowed, as all that follow */
	const struct clock *clock;
	uint32_t keep_departed_days;
	const char *vfs; /* of SQLite, for tests; NULL: the system's */
	/* A port that is gone was forgotten, or came back with another number (name is NULL): this number
	 * may be given to another. NULL allowed. */
	void (*forgot)(void *ctx, const char *name, uint32_t if_index);
	void *ctx;
};

/* Loads the state, or makes a new one with a random identity, and counts this start on the disk. A
 * file that is damaged is set aside with a message, and a full disk is no error: both only cost what
 * they say. Returns -EBUSY if another agent uses the directory, or the error that kept the file from
 * being read or this start from being counted; the reason is in error. Blocks. */
int state_open(const struct state_options *options, struct state **state, char *error,
    size_t error_size);
void state_close(struct state *state); /* NULL allowed; writes nothing more. Blocks. */

/* For --check: whether the directory would do for that user. Writes nothing. -errno with the reason in error. */
int state_check(const char *dir, uid_t user, char *error, size_t error_size);

/* ---- identity ---- */

void state_agent_id(const struct state *state, uint8_t id[EASE_AGENT_ID_LEN]);
uint32_t state_boot(const struct state *state); /* the number of this start, from 1 */
bool state_was_clean(const struct state *state); /* the run before saved its totals */
bool state_had_rows(const struct state *state);	 /* a run before has made the default rows */

/* ---- ports ---- */

/* All names that are known, i from 0, and their numbers (0: it has none any more). Returns false if
 * there are no more. The name is borrowed until a port comes or goes. */
size_t state_n_names(const struct state *state);
bool state_name(const struct state *state, size_t i, const char **name, uint32_t *if_index);

/* A port is here, or has got another name: then its settings follow. The change is written within
 * seconds, together with others. */
void state_port_here(struct state *state, const char *name, uint32_t if_index);
void state_port_gone(struct state *state, uint32_t if_index);
/* All ports that are there at the start were named. Writes their names. Blocks. */
void state_started(struct state *state);

/* ---- settings ----
 * Of a port, or with if_index 0 the agent's own; kinds are those of mibs/mib_set.h. */

/* Calls apply for each setting that a manager has made at this port, as the SET had it, or with
 * STATE_ALL_PORTS at all ports that are here and at the agent itself. */
#define STATE_ALL_PORTS UINT32_MAX
void state_settings(const struct state *state, uint32_t if_index,
    void (*apply)(void *ctx, const struct mib_set *set), void *ctx);

/* The tables whose rows are kept. Borrowed. */
void state_set_tables(struct state *state, struct managed_table *const *managed, size_t n);
/* Makes the rows that were kept for this table. A row that cannot be made now stays in the file, and waits. */
void state_restore_rows(struct state *state, struct managed_table *managed);
/* A table's owner has removed a row of it without a SET: which rows there are is written some seconds later. */
void state_rows_removed(struct state *state);
/* What rows of this table wait for may have come: tries to make them. */
void state_retry_rows(struct state *state, struct managed_table *managed);

/* A request was carried out: keeps its settings, and the rows that it names, in one transaction.
 * Blocks. */
void state_keep(struct state *state, const struct mib_set *sets, size_t n);
/* The latest request was undone; sets are its old values. Takes back what state_keep kept for it: a
 * setting that no manager had made before is not kept. Blocks. */
void state_keep_undone(struct state *state, const struct mib_set *sets, size_t n);

/* ---- totals ---- */

/* Calls restore for each port that is here and has totals from a clean stop just before this start. The
 * totals are borrowed. Blocks. */
void state_totals(struct state *state,
    void (*restore)(void *ctx, uint32_t if_index, const uint64_t *totals, size_t n,
	uint64_t discontinuity_us),
    void *ctx);

/* The same with the numbers of HAL_MAX_CHANGES at most that changes gave of a port; last with those of the agent, which
 * has the if_index 0. */
void state_changes(struct state *state,
    void (*restore)(void *ctx, uint32_t if_index, const uint64_t *numbers, size_t n), void *ctx);

struct state_totals_source {
	void *ctx;
	/* Gives a port's totals; an error leaves the port out. */
	int (*read)(void *ctx, uint32_t if_index, uint64_t *totals, size_t max, size_t *n,
	    uint64_t *discontinuity_us);
	/* Returns how many numbers are to be kept of a port, or of the agent (0), for state_changes. NULL: none. */
	size_t (*changes)(void *ctx, uint32_t if_index, uint64_t *numbers);
};
/* A clean stop: writes all that is left, all rows, and the totals of the ports that are here. Blocks. */
int state_stop(struct state *state, const struct state_totals_source *source);

/* ---- writing ---- */

/* Writes what has changed in one transaction. Returns 0 when it is on the disk, or -errno; then it is
 * still to be written. Blocks. */
int state_commit(struct state *state);
/* Call about twice a second. Writes what is due, tries again what failed, and forgets ports that were
 * gone for too long. Blocks when it writes, which is seldom more than once in some seconds. */
void state_tick(struct state *state);

const struct stat_set *state_stats(const struct state *state);

/* ---- putting in force ----
 * At the start, and when a port is plugged in, what was kept; at a clean stop the totals are given back. */

/* Names all ports to state, restores their settings, and their totals if the last stop was clean.
 * Else marks each port's discontinuity, unless this is the first start. Blocks while totals are read. */
void state_restore(struct state *state, const struct settings_owners *owners);

/* Something happened to a port. One that came gets its settings. */
void state_restore_port(
    struct state *state, const struct settings_owners *owners, const struct hal_port_event *event);

/* A clean stop: state_stop() with the totals of all ports. Blocks. */
int state_save_totals(struct state *state, const struct hal *hal);

#endif
