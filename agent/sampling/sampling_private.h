/*
 * What sampling.c and sampling_requests.c share: the ports with their skips, and how a change takes effect. Nobody else
 * includes it. Used by the control thread, as sampling.h says.
 */
#ifndef EASE_AGENT_SAMPLING_PRIVATE_H
#define EASE_AGENT_SAMPLING_PRIVATE_H

#include "agent/sampling/rate_cap.h"
#include "agent/sampling/sampling.h"
#include "agent/sampling/skip.h"
#include "agent/sampling/skip_counter.h"
#include "common/publication.h"

enum {
	STAT_SAMPLES,
	STAT_CONTINUATIONS,
	STAT_UNEXPECTED,
	STAT_DISABLED,
	STAT_SNAPSHOT_ERRORS,
	STAT_LOAD_ERRORS,
	STAT_RAISED,
	STAT_SKIPS_LOST,
	STAT_OWN,
	STAT_LOST,
	STAT_REQUESTS_ENDED,
	STAT_REQUESTS_RAISED,
	N_STATS
};

struct sampled_port {
	uint32_t if_index;
	bool unsampled; /* it has no skip counter: only counted, without a row of easePortTable */
	bool absent; /* unplugged; its sequence numbers continue when it is plugged in again */
	bool draws_itself; /* the port samples at the mean in force by itself and takes no skips */
	bool kept_elsewhere; /* another program sets its rate, too (hal_sampling_rate) */
	struct sampling_port_config config;
	uint32_t mean_in_force;
	struct skip_stream stream;
	struct skip_counter counter;
	struct rate_cap cap;
	uint32_t last_sequence;
	uint64_t samples, drops;
	struct sampling_request marked; /* before the latest change of requests */
	unsigned doublings; /* of the requested skip, because all ports together take too many samples */
	uint64_t samples_at_tick;
	/* What easeCounters told last. It is told twice, and then the port rests while nothing is counted. */
	struct ease_snapshot told;
	bool told_twice;
	unsigned rounds_at_rest;
	uint64_t unchanged_us; /* until when it was still so */
};

/* A sample is identified by its port and number, so a port that gets the ifIndex of a forgotten one in the
 * same run of the agent goes on with its numbers. */
struct used_numbers {
	uint32_t if_index; /* 0: none */
	uint32_t last_sequence;
	uint64_t drops;
};

/* The forgotten ports whose numbers are remembered: more than devices that give numbers again can have. */
enum { USED_NUMBERS_MAX = 16384 };

struct published_table {
	struct published head;
	struct sampling_table table;
	struct sampling_port_row rows[];
};

struct sampling {
	struct hal *hal;
	struct sampling_options options;
	struct sampling_sink sink;
	struct sampled_port *ports; /* sorted by if_index */
	size_t n_ports;
	struct used_numbers *used; /* a ring of USED_NUMBERS_MAX; NULL: nothing was forgotten */
	size_t next_used;
	struct publication publication; /* of struct published_table */
	struct lease lease, marked_lease;
	uint64_t tick_us, lowered_us; /* hal_mono_us: of the latest tick, and of the latest doubling that was taken back */
	struct stat_set stats;
	_Atomic uint64_t stat_values[N_STATS];
};

/* NULL: there is none, or it is unplugged. */
struct sampled_port *sampling_find_port(const struct sampling *s, uint32_t if_index);

bool sampling_takes_requests(const struct sampling *s);

/* The mean that is in force while no cap raises it. */
uint32_t sampling_mean_asked_for(const struct sampling *s, const struct sampled_port *port);

/* Puts in force what has changed since the port was as before; as before again if the device refuses. 0 or -errno. */
int sampling_take_effect(struct sampling *s, struct sampled_port *port, const struct sampled_port *before);

void sampling_forget_request(struct sampled_port *port);

#endif
