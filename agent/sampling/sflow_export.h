/*
 * Sends samples and counters as sFlow v5, beside or instead of notifications: flow samples with
 * the frame's first octets (and its VLAN if it carries a tag), generic interface and Ethernet
 * counters. One UDP datagram is open at a time and goes out when it is full or when
 * sflow_export_flush is called (the agent's timer does, as for notifications).
 *
 * sFlow's terms: a source is a port's ifIndex; its pool is all frames that the port's skip counter
 * counted, both directions; its sample numbers are easeSampleDatagram's; its drops are the numbers
 * among them that did not leave this agent as sFlow. A received frame has the source as input, a
 * sent one as output. uptime is that of this agent's process.
 *
 * Never waits: what the kernel refuses is counted, by port too. Runs on the main loop.
 */
#ifndef EASE_AGENT_SFLOW_EXPORT_H
#define EASE_AGENT_SFLOW_EXPORT_H

#include "agent/hal/hal.h"
#include "common/clock.h"
#include "common/sample.h"
#include "common/stat.h"

#include <stdbool.h>
#include <stddef.h>

enum sflow_export_stat {
	SFLOW_EXPORT_DATAGRAMS,
	SFLOW_EXPORT_SAMPLES,
	SFLOW_EXPORT_COUNTERS,
	SFLOW_EXPORT_KERNEL_REFUSED,
	SFLOW_EXPORT_SAMPLES_LOST,
	SFLOW_EXPORT_UNREACHABLE,
	SFLOW_EXPORT_NO_PORT,
	SFLOW_EXPORT_N_STATS,
};

struct sflow_export_options {
	const char *collector;	   /* "ADDRESS:PORT" or "[IPv6]:PORT" */
	const char *agent_address; /* what the datagrams say; "" or NULL: where they leave from */
	const struct clock *clock; /* borrowed */
	void *ctx;		   /* for lost */
	/* n samples of the port were in a datagram that the kernel refused; may be NULL. */
	void (*lost)(void *ctx, uint32_t if_index, unsigned n_samples);
};

struct sflow_export;

/* For the option row: NULL if good (empty is), else the reason. */
const char *sflow_export_check_address(const char *text);

/* 0, or -errno with the reason in error. */
int sflow_export_create(const struct sflow_export_options *options, struct sflow_export **out,
    char *error, size_t error_size);
void sflow_export_destroy(struct sflow_export *e); /* NULL allowed; flush first */

/* snapshot: the sample's port just after it. */
void sflow_export_sample(struct sflow_export *e, const struct ease_sample *sample,
    const struct ease_snapshot *snapshot);
/* A port with its counters just read. */
void sflow_export_counters(struct sflow_export *e, const struct hal_port *port);

/* Something waits in the open datagram: the caller's timer should run. */
bool sflow_export_waits(const struct sflow_export *e);
void sflow_export_flush(struct sflow_export *e);

const struct stat_set *sflow_export_stats(const struct sflow_export *e);

#endif
