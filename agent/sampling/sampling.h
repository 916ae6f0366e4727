/*
 * Sampling: draws skips and loads them, numbers the frames that the hardware captures, adds a
 * snapshot of the port's counters, and counts every sample that could not be taken or sent.
 *
 * Input are the HAL's events, output are samples and snapshots for the sink. SNMP is not known here.
 * Everything runs on the main loop, except sampling_table_hold and sampling_table_release, which any
 * thread may call. For each port this room keeps the configuration, the sequence number, a random
 * stream, the loaded skips, and the counters of easePortTable.
 *
 * A port either takes skips, or samples by itself at a rate that is set (hal.h).
 */
#ifndef EASE_AGENT_SAMPLING_H
#define EASE_AGENT_SAMPLING_H

#include "agent/hal/hal.h"
#include "agent/sampling/lease.h"
#include "common/sample.h"
#include "common/stat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sampling_draw {
	SAMPLING_GEOMETRIC, /* each frame is sampled with probability 1/m, independently: no bias by
			       periodic traffic */
	SAMPLING_UNIFORM,   /* the skip K is uniform in 0..2(m-1) */
};

enum { SAMPLING_SLOW_SKIP = 100 }; /* at 100 Mb/s: at most 1,488 samples/s */
enum { SAMPLING_MAX_PER_SECOND = 1000000 }; /* upper bound of easePortMaxSamples */

/* What a station with a lease (lease.h) asks of a port, until its lease ends. */
struct sampling_request {
	uint32_t mean_skip;	    /* 0: nothing is asked for */
	uint32_t max_samples_per_s; /* 0: the configured cap alone holds */
	/* Somebody has set mean_skip or max_samples_per_s by hand since: this port takes no requests. */
	bool is_held;
};

struct sampling_port_config {
	bool enabled;		    /* easePortAdminStatus up */
	/* Frames per sample, 1..EASE_DRAWN_MEAN_MAX; of a port whose rate another program keeps, ..EASE_MEAN_SKIP_MAX. */
	uint32_t mean_skip;
	bool mean_is_set;	    /* by a manager: it no longer follows the port's speed */
	uint32_t header_octets;	    /* EASE_HEADER_MIN_OCTETS..EASE_HEADER_MAX_OCTETS */
	uint32_t max_samples_per_s; /* above it the mean skip in force is raised; 0: no cap */
	bool edge;
	struct sampling_request request;
};

/* Which figure the mean skip in force comes from; as easePortMeanSkipReason. */
enum sampling_reason { SAMPLING_CONFIGURED = 1, SAMPLING_REQUESTED = 2, SAMPLING_CAPPED = 3 };

/* One row of easePortTable. Published tables are sorted by if_index and never change. */
struct sampling_port_row {
	uint32_t if_index;
	struct sampling_port_config config;
	uint32_t mean_skip_in_force; /* raised above the configured or requested one by the rate cap */
	enum sampling_reason reason;
	uint32_t last_sequence;
	uint64_t samples;
	uint64_t pool_in_pkts, pool_out_pkts;
	uint64_t stalls, stalled_pkts;
	uint64_t drops; /* samples taken but lost inside the agent */
};

struct sampling_table {
	const struct sampling_port_row *ports;
	size_t n_ports;
	struct lease lease;
};

/* Returns the port's row, or NULL. */
const struct sampling_port_row *sampling_table_port(const struct sampling_table *table,
    uint32_t if_index);

/* Where samples are sent. The call must not wait; the structs are borrowed for it. */
struct sampling_sink {
	void *ctx;
	/* A sample, and a snapshot of its port's counters that was taken delay_us later. If this
	 * returns -ENOBUFS the sample counts as a drop of its port. */
	int (*sample)(void *ctx, const struct ease_sample *sample,
	    const struct ease_snapshot *snapshot);
};

struct sampling_options {
	enum sampling_draw draw;
	bool has_seed;
	uint64_t seed; /* for tests and repeatable runs; without it, the seed is random */
	struct sampling_port_config defaults; /* of a new port */
	/* The mean skip of a port is its speed in Mb/s, at least SAMPLING_SLOW_SKIP, until a manager sets
	 * another. The default applies to ports whose speed was never known. */
	bool skip_by_speed;
	/* Stations may ask for skips, none below this; 0: they may not. */
	uint32_t least_requested_skip;
	/* While all ports together take more samples a second, those that were asked for take fewer; 0: no limit. */
	uint32_t most_samples_per_s;
};

struct sampling;

/* hal, sink are borrowed. */
int sampling_create(struct hal *hal, const struct sampling_options *options,
    const struct sampling_sink *sink, struct sampling **sampling);
void sampling_destroy(struct sampling *sampling);

/* Loads the first skips of every enabled port. */
int sampling_start(struct sampling *sampling);

/* ---- called by the HAL's listener ---- */

/* Returns the port's next skip, or HAL_NO_SKIP. */
int64_t sampling_on_sample(struct sampling *sampling, const struct hal_sample_event *event);
void sampling_on_skips_lost(struct sampling *sampling, uint32_t if_index);
/* n samples of the port were lost before they came here. They get numbers, and count as drops. */
void sampling_on_samples_lost(struct sampling *sampling, uint32_t if_index, uint32_t n);
/* A port that came has the defaults, or, if it is not forgotten, its former settings. It continues the sequence
 * numbers of its ifIndex in any case. */
void sampling_on_port(struct sampling *sampling, const struct hal_port_event *event);

/* ---- readings of a port ---- */

/* Returns the number of the port's newest sample; 0: none, or no such port. */
uint32_t sampling_last_sequence(const struct sampling *sampling, uint32_t if_index);

/* Reads the port's counters now, for easeCounters. A mean in force that the rate cap had raised comes down by
 * them, if it can. */
int sampling_snapshot(struct sampling *sampling, uint32_t if_index,
    struct ease_snapshot *snapshot);
/* The same, for a round of easeCounters of many ports, most of which are idle: a port that has counted nothing since
 * it was told twice rests for most_rounds at most. Once it has counted something, what was so until then comes first, as
 * nobody could tell else when. Returns how many there are, -ENODEV, or the device's error. */
int sampling_due_snapshots(struct sampling *sampling, uint32_t if_index, unsigned most_rounds,
    struct ease_snapshot snapshots[2]);
/* A sample of the port is sent with its counters. Returns whether the port rests; then what was so until now, which
 * goes out before, is in snapshot. */
bool sampling_end_rest(struct sampling *sampling, uint32_t if_index, struct ease_snapshot *snapshot);
/* Reads what else the device counts at the port. Returns -ENODATA if there is nothing. PAUSE counters
 * are those that sampling_snapshot last read. */
int sampling_resources(struct sampling *sampling, uint32_t if_index,
    struct ease_resources *resources);
int sampling_state(struct sampling *sampling, uint32_t if_index, struct ease_state *state);

/* n samples of the port were lost after sampling, with a notification: they count as drops. */
void sampling_count_drops(struct sampling *sampling, uint32_t if_index, uint64_t n);

/* ---- configuration of a port ----
 * A change takes effect at once if the hardware can discard its skips, else when they are used up.
 * sampling_set_port returns 0, -ENODEV, -EINVAL (out of range), or the error by which a port that
 * samples by itself refuses the rate; then nothing has changed. */
int sampling_get_port(const struct sampling *sampling, uint32_t if_index,
    struct sampling_port_config *config);
int sampling_check_port(const struct sampling_port_config *config);
int sampling_set_port(struct sampling *sampling, uint32_t if_index,
    const struct sampling_port_config *config);

/* ---- requests of a station ----
 * In force is what is requested, or what is configured, raised by the smaller cap of the two. */

/* Whether a station may claim the lease and ask these ports, of which `asked` lists n: 0; -EOPNOTSUPP: this agent takes
 * no requests, or another program keeps the rate of port *at of the list; -EBUSY: the lease is somebody else's, or that
 * port is held (*at is n if it is the claim itself). */
int sampling_check_claim(const struct sampling *sampling, const struct lease_claim *claim, const uint32_t *asked,
    size_t n, size_t *at);
/* Carries the claim out; sampling_set_port then takes the requests. */
void sampling_take_claim(struct sampling *sampling, const struct lease_claim *claim);

/* Remembers lease and requests before they are changed, and puts them back. */
void sampling_mark_requests(struct sampling *sampling);
void sampling_undo_requests(struct sampling *sampling);

/* To be called each second or so: ends a lease that is over, and holds all ports together to their limit. Returns whether
 * a setting has changed, which is then to be published. */
bool sampling_tick(struct sampling *sampling);

/* ---- the published table ---- */

/* Publishes the rows of all ports. Returns -ENOMEM: then the old table remains. */
int sampling_publish(struct sampling *sampling);
/* The port's settings were changed: publishes its row alone, unless another thread holds the table. */
int sampling_publish_port(struct sampling *sampling, uint32_t if_index);
/* Returns the newest table, or NULL before the first one. */
const struct sampling_table *sampling_table_hold(struct sampling *sampling);
void sampling_table_release(const struct sampling_table *table);

const struct stat_set *sampling_stats(const struct sampling *sampling);

#endif
