/*
 * True totals of a port by minute, from the counters in its snapshots. The difference of two
 * successive snapshots is spread evenly over the time between them, in whole packets and octets, so
 * that the minutes between any two snapshots add up to exactly what the device counted. The open
 * minute has what was counted up to the newest snapshot.
 *
 * The first snapshot of an agent is only a base. If an older snapshot of the same boot arrives
 * later, what was counted between the two is added, so the order of arrival changes no sum.
 * Counters survive a restart of the agent; a new boot therefore goes on from the old one unless its
 * discontinuity time has changed. No input but the arguments.
 */
#ifndef EASE_COLLECTOR_WINDOW_PORT_TOTALS_H
#define EASE_COLLECTOR_WINDOW_PORT_TOTALS_H

#include "common/sample.h"

#include <stdbool.h>
#include <stdint.h>

/* After a longer gap the difference is not spread: an even rate over more than a day would say
 * nothing about any minute. */
#define PORT_TOTALS_GAP_MAX_US 86400000000ull

enum port_totals_value {
	PORT_TOTALS_IN_PKTS, /* frames that could have been sampled when received (the pool) */
	PORT_TOTALS_IN_OCTETS,
	PORT_TOTALS_OUT_PKTS,
	PORT_TOTALS_OUT_OCTETS,
	PORT_TOTALS_N_VALUES,
};

struct port_totals {
	bool has_base;
	uint32_t boot;
	uint64_t time_us, discontinuity_us;
	uint64_t values[PORT_TOTALS_N_VALUES];
	uint64_t first_us; /* of the oldest snapshot counted from; 0: older ones are not used */
	uint64_t first[PORT_TOTALS_N_VALUES];
};

enum port_totals_verdict {
	PORT_TOTALS_COUNTED,   /* the difference was added */
	PORT_TOTALS_FIRST,     /* the first snapshot: a base, nothing was added */
	PORT_TOTALS_OLD,       /* older than the newest: reordered or repeated, not used */
	PORT_TOTALS_BEGINNING, /* older than all: what was counted up to the first one was added */
	PORT_TOTALS_RESET,     /* a discontinuity, or counters went down: a new base */
	PORT_TOTALS_GAP,       /* a gap of more than PORT_TOTALS_GAP_MAX_US: a new base */
};

/* Receives what is added to the minute that starts at start_us, of each value. */
typedef void port_totals_sink(
    void *arg, uint64_t start_us, const uint64_t part[PORT_TOTALS_N_VALUES]);

enum port_totals_verdict port_totals_add(struct port_totals *t, uint32_t boot,
    const struct ease_snapshot *s, port_totals_sink *sink, void *arg);

/* Makes a snapshot the base without adding anything; snapshots before it are not used. For loading
 * from the store, which has the totals up to this snapshot. */
void port_totals_set_base(struct port_totals *t, uint32_t boot, const struct ease_snapshot *s);

#endif
