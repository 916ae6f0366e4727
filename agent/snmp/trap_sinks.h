/*
 * Sends notifications without the master: every notification goes to each sink, an address, as an
 * SNMPv2c or SNMPv3 (authPriv) trap with the same variable bindings as through the master. A trap is
 * not acknowledged, so none is kept. A notification that a sink does not get is counted here, and
 * its receiver sees the gap in the sequence numbers of samples and counters.
 *
 * Rate: a sink gets at most max_per_s notifications a second, and a tenth of a second's worth at once.
 * Those beyond are dropped and counted. A caller whose source can be paused calls trap_sinks_wait_us
 * first.
 *
 * Never waits. Used by the main loop only; any thread may read the counters.
 */
#ifndef EASE_AGENT_SNMP_TRAP_SINKS_H
#define EASE_AGENT_SNMP_TRAP_SINKS_H

#include "agent/snmp/notify.h"
#include "agent/snmp/trap_sink.h"
#include "common/clock.h"

enum {
	TRAP_SINK_BURST_MIN = 512, /* notifications at once, whatever the rate */
};

enum trap_sinks_stat {
	TRAP_SINKS_SENT,
	TRAP_SINKS_OVER_RATE,
	TRAP_SINKS_KERNEL_REFUSED,
	TRAP_SINKS_NOT_ENCODED,
	TRAP_SINKS_UNREACHABLE,
	TRAP_SINKS_SAMPLES_LOST,
	TRAP_SINKS_N_STATS,
};

struct trap_sinks;

/* Copies n sinks (1..TRAP_SINKS_MAX) that trap_sink_check has passed. 0, or -errno with the reason in
 * error. */
int trap_sinks_create(const struct trap_sink *sinks, size_t n, const struct notify_source *source,
    const struct clock *clock, struct trap_sinks **out, char *error, size_t error_size);
void trap_sinks_destroy(struct trap_sinks *s); /* NULL allowed */

/* 0: at least one sink has sent it; else -ENOBUFS, and the caller counts its samples as drops. */
int trap_sinks_push(struct trap_sinks *s, const struct ease_notification *n);

/* The time until n notifications (up to TRAP_SINK_BURST_MIN) may go to every sink; 0: now. */
uint64_t trap_sinks_wait_us(const struct trap_sinks *s, unsigned n);

const struct stat_set *trap_sinks_stats(const struct trap_sinks *s);

#endif
