/*
 * Where notifications go past the master: each sink is one address that gets every notification as
 * an SNMPv2c or SNMPv3 (authPriv) trap, with the variable bindings that it would have through the
 * master. A trap is not acknowledged, so none is kept: what a sink does not get is counted here,
 * and seen by its receiver in the numbers of samples and counters.
 *
 * Rate: a sink takes max_per_s a second and a tenth of a second's worth at once; what is beyond is
 * dropped and counted. Who can hold its feed back asks trap_sinks_wait_us first.
 *
 * Never waits. Main loop only; counters: any thread.
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

/* sinks: 1..TRAP_SINKS_MAX that are checked; copied. 0, or -errno with the reason in error. */
int trap_sinks_create(const struct trap_sink *sinks, size_t n, const struct notify_source *source,
    const struct clock *clock, struct trap_sinks **out, char *error, size_t error_size);
void trap_sinks_destroy(struct trap_sinks *s); /* NULL allowed */

/* 0: at least one sink has sent it; else -ENOBUFS, and who pushed counts its samples as drops. */
int trap_sinks_push(struct trap_sinks *s, const struct ease_notification *n);

/* Until n notifications (up to TRAP_SINK_BURST_MIN) may go to every sink; 0: now. */
uint64_t trap_sinks_wait_us(const struct trap_sinks *s, unsigned n);

const struct stat_set *trap_sinks_stats(const struct trap_sinks *s);

#endif
