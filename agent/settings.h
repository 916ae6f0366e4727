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

/* The rooms that own the settings; all borrowed. */
struct settings_owners {
	struct hal *hal;
	struct sampling *sampling;
	struct managed_table *const *managed; /* the tables whose rows managers make */
	size_t n_managed;
};

/* changed saves and publishes. It is called on the main loop after a request was carried out or
 * undone. */
int settings_create(const struct settings_owners *owners, void (*changed)(void *ctx),
    void *changed_ctx, struct settings **settings);
void settings_destroy(struct settings *settings); /* after the SNMP thread has ended */

/* Main loop: a descriptor that is readable when a request waits for settings_dispatch. */
int settings_fd(const struct settings *settings);
void settings_dispatch(struct settings *settings);

/* SNMP thread: the apply of a struct mib_setter whose ctx is the settings. */
int settings_apply(void *settings, const struct mib_set *sets, size_t n, enum mib_phase phase,
    size_t *failed);

/* Main loop: carries out all settings or none. Parameters and result as of mib_setter.apply. */
int settings_carry_out(const struct settings_owners *owners, const struct mib_set *sets, size_t n,
    enum mib_phase phase, size_t *failed);

#endif
