/*
 * Watches for what a manager should hear of at once, and tells it at a limited rate: ports that
 * came under back pressure, skip counters that ran out, sources of bad frames. What the limit
 * holds back is counted here; the figures themselves travel with the next easeCounters.
 */
#ifndef EASE_AGENT_WATCH_H
#define EASE_AGENT_WATCH_H

#include "agent/hal/hal.h"
#include "agent/sampling/packer.h"
#include "agent/sampling/sampling.h"

struct watch;

/* All borrowed. rate_per_s: notifications of all kinds together, by the device's clock. */
struct watch_config {
	struct hal *hal;
	struct sampling *sampling;
	struct packer *packer;
	uint32_t rate_per_s;
};

/* A port is told of at most once in this time and kind. */
#define WATCH_PORT_QUIET_US 10000000ull

int watch_create(const struct watch_config *config, struct watch **watch);
void watch_destroy(struct watch *watch); /* NULL allowed */

/* Looks at the ports as last published. The first look only takes note. */
void watch_look(struct watch *watch);
/* hal_listener.error_source: tells the first frame of a source, and each doubling of its count. */
void watch_error_source(struct watch *watch, const struct ease_error_source *source);
/* Tells the sources that have grown since the last call, so that counts told are not long behind. */
void watch_tell_sources(struct watch *watch);

const struct stat_set *watch_stats(const struct watch *watch);

#endif
