/*
 * Sampling: draws skip counts, turns what the hardware captured into numbered samples with a
 * counter snapshot, and accounts for every one that could not be taken or sent.
 *
 * Sits between the HAL (listener events in) and the notifier (samples and snapshots out). Knows no
 * SNMP. Runs on the main loop; only sampling_table_hold/release may be called from other threads.
 * Per port it keeps the configuration (mean skip, header octets, most samples a second, edge), the
 * sequence, a random stream of its own, the skips it has loaded, and the accounts of easePortTable.
 */
#ifndef EASE_AGENT_SAMPLING_H
#define EASE_AGENT_SAMPLING_H

#include "agent/hal/hal.h"
#include "common/sample.h"
#include "common/stat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sampling_draw {
	SAMPLING_GEOMETRIC, /* every frame independently with 1/m: no periodic bias */
	SAMPLING_UNIFORM,   /* K in 0..2(m-1) */
};

enum { SAMPLING_SLOW_SKIP = 100 }; /* up to 100 Mb/s: 1,488 samples/s of the smallest frames */
enum { SAMPLING_MAX_PER_SECOND = 1000000 }; /* upper bound of the rate cap's setting */

struct sampling_port_config {
	bool enabled;		    /* easePortAdminStatus up */
	uint32_t mean_skip;	    /* frames per sample, 1..EASE_MEAN_SKIP_MAX */
	uint32_t header_octets;	    /* EASE_HEADER_MIN_OCTETS..EASE_HEADER_MAX_OCTETS */
	uint32_t max_samples_per_s; /* 0: no cap; when passed, the skip in force is raised */
	bool edge;
};

/* One row of easePortTable, in a published table sorted by if_index. */
struct sampling_port_row {
	uint32_t if_index;
	struct sampling_port_config config;
	uint32_t mean_skip_in_force; /* raised above config.mean_skip by the rate cap */
	uint32_t last_sequence;
	uint64_t samples;
	uint64_t pool_in_pkts, pool_out_pkts;
	uint64_t stalls, stalled_pkts;
	uint64_t drops; /* samples taken but lost inside the agent (ring overflow) */
};

struct sampling_table {
	const struct sampling_port_row *ports;
	size_t n_ports;
};

const struct sampling_port_row *sampling_table_port(const struct sampling_table *table,
    uint32_t if_index);

/* Where samples go. Calls return at once; the structs are borrowed for the call. */
struct sampling_sink {
	void *ctx;
	/* A sample and the snapshot of its port's counters taken delay_us later. -ENOBUFS: it could
	 * not be queued; sampling counts a drop on that port. */
	int (*sample)(void *ctx, const struct ease_sample *sample,
	    const struct ease_snapshot *snapshot);
};

struct sampling_options {
	enum sampling_draw draw;
	bool has_seed;
	uint64_t seed; /* for tests and repeatable runs; else from the system's entropy */
	struct sampling_port_config defaults;
	/* A port's mean skip is its speed in Mb/s, at least SAMPLING_SLOW_SKIP, instead of the
	 * default, which is left for ports of unknown speed. */
	bool skip_by_speed;
};

struct sampling;

/* hal, sink are borrowed. */
int sampling_create(struct hal *hal, const struct sampling_options *options,
    const struct sampling_sink *sink, struct sampling **sampling);
void sampling_destroy(struct sampling *sampling);

/* Loads the first skips of every enabled port. */
int sampling_start(struct sampling *sampling);

/* From the HAL's listener. */
void sampling_on_sample(struct sampling *sampling, const struct hal_sample_event *event);
void sampling_on_refill(struct sampling *sampling, uint32_t if_index);
/* n samples of the port never came: they are numbered, and count as drops. */
void sampling_on_samples_lost(struct sampling *sampling, uint32_t if_index, uint32_t n);
/* True if the port has just come: it has the defaults, or what it had when it went, whose sequence
 * numbers go on. */
bool sampling_on_port_changed(struct sampling *sampling, uint32_t if_index);

/* Has the port a skip counter? One that has none, beside others that do, is a bridge or a LAG: what
 * it counts is counted at its members, too. False for all if the device does not sample. */
bool sampling_samples_port(const struct sampling *sampling, uint32_t if_index);

/* The port's counters now, as they go into easeCounters. */
int sampling_snapshot(struct sampling *sampling, uint32_t if_index,
    struct ease_snapshot *snapshot);
/* What else the device counts at the port; -ENODATA: nothing. Pause counters are as last read, by
 * sampling_snapshot. */
int sampling_resources(struct sampling *sampling, uint32_t if_index,
    struct ease_resources *resources);
int sampling_state(struct sampling *sampling, uint32_t if_index, struct ease_state *state);

/* n samples of the port were lost after sampling (the notification that held them fell out of a
 * ring): they count as drops. */
void sampling_count_drops(struct sampling *sampling, uint32_t if_index, uint64_t n);

/* Reads or changes one port's configuration. A change takes effect with the next sample drawn; if
 * the hardware can forget the skips it holds, at once. -ENODEV, -EINVAL (out of range), or what a
 * port that draws by itself refuses a rate with: nothing changed. */
int sampling_get_port(const struct sampling *sampling, uint32_t if_index,
    struct sampling_port_config *config);
int sampling_check_port(const struct sampling_port_config *config);
int sampling_set_port(struct sampling *sampling, uint32_t if_index,
    const struct sampling_port_config *config);

/* Publishes a table of all ports for the MIB; hold and release from any thread. */
int sampling_publish(struct sampling *sampling);
const struct sampling_table *sampling_table_hold(struct sampling *sampling);
void sampling_table_release(const struct sampling_table *table);

const struct stat_set *sampling_stats(const struct sampling *sampling);

#endif
