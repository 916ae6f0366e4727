/*
 * Passes SET requests from the SNMP thread to the main loop, which owns device and sampling. The
 * SNMP thread hands over all settings of a request and waits at most SETTINGS_WAIT_MS for the main
 * loop to begin with it. The main loop carries out all settings or none. A request that the SNMP
 * thread has given up is never carried out.
 */
#ifndef EASE_AGENT_SETTINGS_H
#define EASE_AGENT_SETTINGS_H

#include "agent/hal/hal.h"
#include "agent/sampling/sampling.h"
#include "agent/snmp/managed_table.h"
#include "mibs/mib_set.h"

enum { SETTINGS_WAIT_MS = 500 };

struct settings;

/* A column of easePortTable got another value. */
struct settings_change {
	uint32_t if_index;
	const char *column;	      /* "easePortMeanSkip" */
	const char *before, *after;   /* values as text: "400", "up" */
};

/* The name of the column that a kind of setting is kept by; NULL: it is not kept, or of a row (MIB_SET_ROW). */
const char *settings_column(unsigned kind);
bool settings_is_text(unsigned kind);
/* Whether a setting of that kind, made by hand, holds its port against requests (MIB_SET_REQUESTS_HELD). */
bool settings_holds(unsigned kind);

/* The rooms that own the settings; all borrowed. */
struct settings_owners {
	struct hal *hal;
	struct sampling *sampling; /* NULL: nothing is sampled */
	struct managed_table *const *managed; /* the tables whose rows managers make */
	size_t n_managed;
	/* A request has changed how a port is sampled. NULL: nobody wants to know. */
	void (*sampling_changed)(void *ctx, const struct settings_change *change);
	void *ctx;
};

/* Called on the main loop when a request was committed or undone, before the manager hears of it: keeps
 * and publishes what has changed. result is that of settings_carry_out; after a commit that failed,
 * nothing is to be kept. May block while the state is written. */
typedef void settings_done(void *ctx, const struct mib_set *sets, size_t n, enum mib_phase phase,
    int result);

int settings_create(const struct settings_owners *owners, settings_done *done, void *done_ctx,
    struct settings **settings);
void settings_destroy(struct settings *settings); /* after the SNMP thread has ended */

/* Main loop: a descriptor that is readable when a request waits for settings_dispatch, which blocks as
 * long as done does. */
int settings_fd(const struct settings *settings);
void settings_dispatch(struct settings *settings);

/* Main loop: makes one setting that was kept as a request would, but tells nobody; unless the device has a newer
 * value, as a kernel does that kept its settings while no agent ran. 0 or -errno. */
int settings_restore(const struct settings_owners *owners, const struct mib_set *set);

/* SNMP thread: the apply of a struct mib_setter whose ctx is the settings. Blocks until the main loop
 * has carried the request out, or gives it up if the main loop does not begin in SETTINGS_WAIT_MS. */
int settings_apply(void *settings, const struct mib_set *sets, size_t n, enum mib_phase phase,
    size_t *failed);

/* Main loop: carries out all settings or none. Parameters and result as of mib_setter.apply. */
int settings_carry_out(const struct settings_owners *owners, const struct mib_set *sets, size_t n,
    enum mib_phase phase, size_t *failed);

#endif
