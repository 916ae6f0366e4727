/*
 * Notices events of which managers are notified at once, at a limited rate: back pressure at a port,
 * long stalls of a skip counter, and sources of bad frames. An event above the limit is counted, not
 * sent; the next easeCounters carries its figures.
 */
#ifndef EASE_AGENT_EVENT_MONITOR_H
#define EASE_AGENT_EVENT_MONITOR_H

#include "agent/hal/hal.h"
#include "agent/sampling/packer.h"
#include "agent/sampling/sampling.h"

struct event_monitor;

/* All borrowed. rate_per_s limits notifications of all kinds together.
 * stall_percent is the percentage of a port's frames of a minute that may pass during stalls. */
struct event_monitor_config {
	struct hal *hal;
	struct sampling *sampling;
	struct packer *packer;
	uint32_t rate_per_s;
	uint32_t stall_percent;
};

/* Back pressure at a port is reported at most once in this time. */
#define EVENT_MONITOR_QUIET_US 10000000ull
/* A port's stalls are judged by the minute, after its end. */
#define EVENT_MONITOR_MINUTE_US 60000000ull

int event_monitor_create(const struct event_monitor_config *config, struct event_monitor **monitor);
void event_monitor_destroy(struct event_monitor *monitor); /* NULL allowed */

/* Checks the ports of the newest snapshot. A port's first check only records its counts. */
void event_monitor_poll(struct event_monitor *monitor);
/* Something happened to a port: one that left counts anew when it comes back. */
void event_monitor_port(struct event_monitor *monitor, const struct hal_port_event *event);
/* hal_listener.error_source: reports the first bad frame of a source, and each doubling of its
 * count. */
void event_monitor_error_source(
    struct event_monitor *monitor, const struct ease_error_source *source);
/* Reports the sources whose counts have grown since the last call, so that managers do not have to
 * wait for a doubling. */
void event_monitor_notify_sources(struct event_monitor *monitor);

const struct stat_set *event_monitor_stats(const struct event_monitor *monitor);

#endif
