/*
 * True totals of a port by minute, from the counters in its snapshots. The difference of two
 * successive snapshots is spread over the minutes between them as the samples tell
 * (port_pools.h), in whole packets and octets: the minutes between
 * any two snapshots add up to exactly what the device counted. The open minute has what was counted up
 * to the newest snapshot.
 *
 * A difference over more than PORT_TOTALS_MINUTES, or over more than PORT_TOTALS_UNTOLD_MINUTES in which no samples
 * came for a while, is one part from snapshot to snapshot: a gap, as after an outage of the network or the collector.
 * So a snapshot costs the same after a second and after a month; who reads the store cuts the gap to the range that is
 * asked for (port_totals_share).
 *
 * The first snapshot of an agent is only a base. If an older snapshot of the same boot arrives
 * later, what was counted between the two is added, so the order of arrival changes no sum.
 * Counters survive a restart of the agent; a new boot therefore goes on from the old one unless its
 * discontinuity time has changed. A difference for which the caller has no room stays: the base does
 * not move, and the next snapshot brings it again. No input but the arguments.
 */
#ifndef EASE_COLLECTOR_WINDOW_PORT_TOTALS_H
#define EASE_COLLECTOR_WINDOW_PORT_TOTALS_H

#include "collector/record.h"
#include "collector/window/port_pools.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counters come every 20 s, from an sFlow agent often every minute and rarely every five; and some get lost. */
enum {
	PORT_TOTALS_MINUTES = 12,
	PORT_TOTALS_UNTOLD_MINUTES = 6, /* where no sample tells when it passed */
};

/* An older snapshot than the first one is used if it is at most so much older. */
#define PORT_TOTALS_BEFORE_MAX_US 86400000000ull

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
	uint64_t received_us; /* by the collector's clock */
	uint64_t values[PORT_TOTALS_N_VALUES];
	uint64_t first_us; /* of the oldest snapshot counted from; 0: older ones are not used */
	uint64_t first[PORT_TOTALS_N_VALUES];
};

/* What was counted in [from_us, until_us): of one minute, or the only part of a gap. */
struct port_totals_part {
	uint64_t from_us, until_us;
	uint64_t values[PORT_TOTALS_N_VALUES];
	double came[PORT_TOTALS_N_VALUES]; /* what passed while samples came; 0 where none tells */
};

enum port_totals_verdict {
	PORT_TOTALS_COUNTED,   /* the difference was added */
	PORT_TOTALS_GAP,       /* the same, and it is over more than PORT_TOTALS_MINUTES */
	PORT_TOTALS_FIRST,     /* the first snapshot: a base, nothing was added */
	PORT_TOTALS_OLD,       /* older than the newest: reordered or repeated, not used */
	PORT_TOTALS_BEGINNING, /* older than all: what was counted up to the first one was added */
	PORT_TOTALS_RESET,     /* a discontinuity, or counters went down: a new base */
	PORT_TOTALS_WAITS,     /* no room: the next snapshot brings the difference again */
};

/* Receives all parts of a difference, the earliest first. Adds all of them and returns true, or
 * none and returns false. */
typedef bool port_totals_sink(void *arg, const struct port_totals_part *parts, size_t n);

/* pools: of received and of sent packets, in which a new stretch begins; NULL: there are none.
 * received_us is when the snapshot arrived, by the collector's clock; 0: not known. */
enum port_totals_verdict port_totals_add(struct port_totals *t, struct port_pools pools[2],
    uint32_t boot, const struct ease_snapshot *s, uint64_t received_us, port_totals_sink *sink,
    void *arg);

/* Before a snapshot of such a boot and time is added, at which counters began anew: adds what passed since the base, and
 * that none has counted. Where there is no room for it, it is in no total. */
void port_totals_add_uncounted(struct port_totals *t, uint32_t boot, uint64_t time_us,
    const struct ease_uncounted *uncounted, port_totals_sink *sink, void *arg);

/* Whether a value is less than at the newest snapshot of the same boot: counters began anew, or the snapshot is an old one. */
bool port_totals_go_back(const struct port_totals *t, uint32_t boot, const struct ease_snapshot *s);

/* Makes a snapshot the base without adding anything; snapshots before it are not used. For loading
 * from the store, which has the totals up to this snapshot. */
void port_totals_set_base(
    struct port_totals *t, uint32_t boot, const struct ease_snapshot *s, uint64_t received_us);

/* Returns the part of a difference over [from_us, until_us) that belongs to the time before at_us,
 * rounded down; so the parts of all ranges that follow each other add up to the difference. */
uint64_t port_totals_share(uint64_t difference, uint64_t from_us, uint64_t until_us, uint64_t at_us);

#endif
