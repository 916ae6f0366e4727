/*
 * Sends samples and counters as sFlow v5, in addition to notifications or instead of them: flow
 * samples with the first octets of the frame (and its VLAN if it is tagged), and generic interface
 * and Ethernet counters, with LACP's of a member of an aggregate. One UDP datagram is open at a time. It is sent to each collector when it is
 * full, or when sflow_export_flush is called, which the agent's timer does.
 *
 * sFlow's terms: a data source is a port's ifIndex. Its sample pool is all frames that the port's
 * skip counter counted in both directions. Its sample numbers are those of easeSampleDatagram. Its
 * drops are the numbers that were sent to no collector as sFlow. The input of a received frame is the source,
 * and so is the output of a sent frame. The uptime is that of this process.
 *
 * Packets that the device dropped go out as discarded-packet events of the port where they came in, or of source 0:0.
 * Such an event's number and drops are apart from those of samples; its drops are packets dropped that no event told.
 *
 * Never waits: datagrams that the kernel refuses are counted, also by port if no collector is sent them. Runs on the main loop.
 */
#ifndef EASE_AGENT_SFLOW_EXPORT_H
#define EASE_AGENT_SFLOW_EXPORT_H

#include "agent/hal/hal.h"
#include "common/clock.h"
#include "common/sample.h"
#include "common/stat.h"

#include <stdbool.h>
#include <stddef.h>

enum { SFLOW_COLLECTORS_MAX = 8 };

enum sflow_export_stat {
	SFLOW_EXPORT_DATAGRAMS,
	SFLOW_EXPORT_SAMPLES,
	SFLOW_EXPORT_COUNTERS,
	SFLOW_EXPORT_DISCARDS,
	SFLOW_EXPORT_KERNEL_REFUSED,
	SFLOW_EXPORT_SAMPLES_LOST,
	SFLOW_EXPORT_DISCARDS_LOST,
	SFLOW_EXPORT_UNREACHABLE,
	SFLOW_EXPORT_NO_PORT,
	SFLOW_EXPORT_N_STATS,
};

struct sflow_export_options {
	/* "ADDRESS:PORT" or "[IPv6]:PORT" each; borrowed. Empty ones are left out. */
	char *const *collectors;
	size_t n_collectors;
	const char *agent_address; /* in the datagrams; "" or NULL: the address they are sent from to the first
				      collector that there is a route to */
	const struct clock *clock; /* borrowed */
	void *ctx;		   /* for lost */
	/* n samples of the port were in a datagram that the kernel refused for every collector; may be NULL. */
	void (*lost)(void *ctx, uint32_t if_index, unsigned n_samples);
};

struct sflow_export;

/* For the table of options: returns NULL if text is good or empty, else the reason. */
const char *sflow_export_check_address(const char *text);

/* Returns 0, or -errno with the reason in error. */
int sflow_export_create(const struct sflow_export_options *options, struct sflow_export **out,
    char *error, size_t error_size);
void sflow_export_destroy(struct sflow_export *e); /* NULL allowed; flush first */

/* A port came back whose samples until last_sequence are no loss of sFlow's. */
void sflow_export_port_came(struct sflow_export *e, uint32_t if_index, uint32_t last_sequence);
/* A port left: the numbers of its data source begin anew if it comes back, as after a reset. */
void sflow_export_port_left(struct sflow_export *e, uint32_t if_index);

/* snapshot: of the sample's port, taken just after the sample. */
void sflow_export_sample(struct sflow_export *e, const struct ease_sample *sample,
    const struct ease_snapshot *snapshot);
/* A dropped packet; and n that no event will be sent of, which the port's next event tells (0: that of no port). */
void sflow_export_drop(struct sflow_export *e, const struct ease_drop *drop);
void sflow_export_drops_untold(struct sflow_export *e, uint32_t if_index, uint64_t n);
/* port: its counters were just read. */
void sflow_export_counters(struct sflow_export *e, const struct hal_port *port);

/* Returns whether the open datagram has content: then the caller's timer should run. */
bool sflow_export_waits(const struct sflow_export *e);
void sflow_export_flush(struct sflow_export *e);

const struct stat_set *sflow_export_stats(const struct sflow_export *e);

#endif
