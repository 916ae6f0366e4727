/*
 * True totals of a port by minute, from its snapshots: the difference of two neighbouring
 * snapshots is spread evenly over the time between them, in whole packets and octets, so that the
 * minutes between any two snapshots add up to exactly what was counted. The open minute holds
 * what the newest snapshot reaches.
 *
 * The first snapshot of an agent is the base and counts nothing; when an older one of its boot
 * comes behind it, what was counted between the two is added, so that the order of arrival changes
 * no sum. Counters outlive an agent's restart, so a new boot goes on from the old one unless its
 * discontinuity time changed. Pure.
 */
#ifndef EASE_COLLECTOR_WINDOW_PORT_TOTALS_H
#define EASE_COLLECTOR_WINDOW_PORT_TOTALS_H

#include "common/sample.h"

#include <stdbool.h>
#include <stdint.h>

/* A longer silence is not spread: an even line over more than a day says nothing of any minute. */
#define PORT_TOTALS_GAP_MAX_US 86400000000ull

enum port_totals_value {
	PORT_TOTALS_IN_PKTS, /* pool of the receiving direction */
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
	uint64_t first_us; /* of the oldest snapshot counted from; 0: nothing is taken before */
	uint64_t first[PORT_TOTALS_N_VALUES];
};

enum port_totals_verdict {
	PORT_TOTALS_COUNTED, /* the difference went out */
	PORT_TOTALS_FIRST,   /* a base, nothing to count from */
	PORT_TOTALS_OLD,     /* older than the newest: a reordered or repeated snapshot, not used */
	PORT_TOTALS_BEGINNING, /* older than all: what lies between it and the first went out */
	PORT_TOTALS_RESET,     /* discontinuity, or counters fell: a new base */
	PORT_TOTALS_GAP,       /* more than PORT_TOTALS_GAP_MAX_US: a new base */
};

/* Takes what one minute, starting at start_us, gets of each value. */
typedef void port_totals_sink(
    void *arg, uint64_t start_us, const uint64_t part[PORT_TOTALS_N_VALUES]);

enum port_totals_verdict port_totals_add(struct port_totals *t, uint32_t boot,
    const struct ease_snapshot *s, port_totals_sink *sink, void *arg);

/* Makes a snapshot the base without counting, and nothing before it is taken: on loading what was
 * counted before. */
void port_totals_set_base(struct port_totals *t, uint32_t boot, const struct ease_snapshot *s);

#endif
