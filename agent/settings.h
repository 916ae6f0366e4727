/*
 * SET requests on their way from the SNMP thread to the main loop, which owns device and sampling.
 * The SNMP thread hands over all settings of one request and waits at most SETTINGS_WAIT_MS; the
 * main loop carries out all or none. A request that was given up before the main loop took it is
 * never carried out.
 */
#ifndef EASE_AGENT_SETTINGS_H
#define EASE_AGENT_SETTINGS_H

#include "agent/hal/hal.h"
#include "agent/sampling/sampling.h"
#include "agent/snmp/managed_table.h"
#include "mibs/mib_set.h"

enum { SETTINGS_WAIT_MS = 500 };

struct settings;

/* Who owns what can be set; all borrowed. */
struct settings_owners {
	struct hal *hal;
	struct sampling *sampling;
	struct managed_table *const *managed; /* tables whose rows managers make */
	size_t n_managed;
};

/* changed (called on the main loop after a request was carried out or taken back) saves and
 * publishes. */
int settings_create(const struct settings_owners *owners, void (*changed)(void *ctx),
    void *changed_ctx, struct settings **settings);
void settings_destroy(struct settings *settings); /* after the SNMP thread has ended */

/* Main loop: readable when a request waits; then settings_dispatch. */
int settings_fd(const struct settings *settings);
void settings_dispatch(struct settings *settings);

/* SNMP thread: the apply of a struct mib_setter whose ctx is the settings. */
int settings_apply(void *settings, const struct mib_set *sets, size_t n, enum mib_phase phase,
    size_t *failed);

/* Carries settings out on the calling thread (the main loop), all or none; as mib_setter.apply. */
int settings_carry_out(const struct settings_owners *owners, const struct mib_set *sets, size_t n,
    enum mib_phase phase, size_t *failed);

#endif
