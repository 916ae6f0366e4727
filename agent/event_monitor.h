/*
 * Watches for what a manager should hear of at once, and tells it at a limited rate: ports that
 * came under back pressure, skip counters that ran out for long, sources of bad frames. What the limit
 * holds back is counted here; the figures themselves travel with the next easeCounters.
 */
#ifndef EASE_AGENT_EVENT_MONITOR_H
#define EASE_AGENT_EVENT_MONITOR_H

#include "agent/hal/hal.h"
#include "agent/sampling/packer.h"
#include "agent/sampling/sampling.h"

struct event_monitor;

/* All borrowed. rate_per_s: notifications of all kinds together, by the device's clock. stall_percent:
 * share of a minute's frames of a port that may pass while its skip counter has run out. */
struct event_monitor_config {
	struct hal *hal;
	struct sampling *sampling;
	struct packer *packer;
	uint32_t rate_per_s;
	uint32_t stall_percent;
};

/* A port's back pressure is told of at most once in this time. */
#define EVENT_MONITOR_QUIET_US 10000000ull
/* A port's stalls are judged by the minute, after its end. */
#define EVENT_MONITOR_MINUTE_US 60000000ull

int event_monitor_create(const struct event_monitor_config *config, struct event_monitor **monitor);
void event_monitor_destroy(struct event_monitor *monitor); /* NULL allowed */

/* Looks at the ports as last published. The first look only takes note. */
void event_monitor_poll(struct event_monitor *monitor);
/* hal_listener.error_source: tells the first frame of a source, and each doubling of its count. */
void event_monitor_error_source(
    struct event_monitor *monitor, const struct ease_error_source *source);
/* Tells the sources that have grown since the last call, so that counts told are not long behind. */
void event_monitor_notify_sources(struct event_monitor *monitor);

const struct stat_set *event_monitor_stats(const struct event_monitor *monitor);

#endif
