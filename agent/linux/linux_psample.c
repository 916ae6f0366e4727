/*
 * The Linux device's sampling by psample: puts filters on ports, reports samples, and reports gaps in
 * their sequence numbers as lost samples.
 */
#include "agent/linux/linux_private.h"

#include "common/frame.h"
#include "common/log.h"

#include <errno.h>
#include <linux/psample.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SOCKET_OCTETS = 8 << 20, /* room for 4,000 samples, 2 KiB each in the kernel */
	ETHERNET_OCTETS = 14,
	VLAN_OCTETS = 4,
};
#define GAP_US 1000000ull     /* how long a late sample is awaited if none follows */

/* ---- ports ---- */

/* The kernel has the family once a filter was installed. */
static int
open_psample_socket(struct linux_device *d)
{
	unsigned groups[2] = {0};
	int rc;

	if (d->psample_fd >= 0)
		return 0;
	rc = netlink_family(d->kernel.generic, PSAMPLE_GENL_NAME, &d->psample_type);
	if (rc == 0)
		rc = netlink_group(d->kernel.generic, PSAMPLE_GENL_NAME, PSAMPLE_NL_MCGRP_SAMPLE_NAME, &groups[0]);
	if (rc == 0)
		rc = netlink_listen(NETLINK_GENERIC, groups, SOCKET_OCTETS, &d->psample_fd);
	if (rc < 0)
		return rc;
	rc = linux_watch_fd(d, d->psample_fd);
	if (rc < 0) {
		close(d->psample_fd);
		d->psample_fd = -1;
	}
	return rc;
}

static int
psample_add_port(struct linux_device *d, struct links_port *port, bool hardware)
{
	int rc = psample_filter_try(d->kernel.route, port->link.kernel_index, hardware);

	if (rc == 0)
		rc = d->kernel.generic ? open_psample_socket(d) : -EOPNOTSUPP;
	if (rc < 0)
		return rc;
	port->psample = calloc(1, sizeof(*port->psample));
	if (!port->psample)
		return -ENOMEM;
	port->psample->filter = (struct psample_filter){
	    .kernel_index = port->link.kernel_index,
	    .hardware = hardware,
	};
	return 0;
}

int
linux_psample_by_driver(struct linux_device *d, struct links_port *port)
{
	if (!kernel_offloads(&d->kernel, port->link.kernel_index))
		return -EOPNOTSUPP;
	return psample_add_port(d, port, true);
}

int
linux_psample_by_kernel(struct linux_device *d, struct links_port *port)
{
	return psample_add_port(d, port, false);
}

void
linux_psample_remove(struct linux_device *d, struct links_port *port)
{
	if (port->psample)
		psample_filter_remove(d->kernel.route, &port->psample->filter);
	free(port->psample);
	port->psample = NULL;
}

int
linux_psample_set_rate(struct linux_device *d, struct links_port *port, uint32_t rate)
{
	int rc = psample_filter_set(d->kernel.route, &port->psample->filter, rate);

	/* Samples of the old rate that have not come count as lost. They have no sequence number of ours. */
	for (unsigned out = 0; out < 2; out++) {
		stat_add(&d->stats, LINUX_STAT_SAMPLES_LOST, psample_sequence_finish(&port->psample->sequences[out]));
		port->psample->sequences[out] = (struct psample_sequence){0};
	}
	if (rc < 0)
		log_warn_limited("linux", "%s is not sampled: %s %s", port->link.name,
		    strerror(-rc), netlink_reason(d->kernel.route));
	return rc;
}

/* ---- samples ---- */

/* A frame that was not cut into segments yet, or was joined from some, counts as one of full length. */
static uint32_t
psample_wire_octets(struct linux_device *d, const struct links_port *port, const struct psample_record *record)
{
	uint32_t most = port->link.mtu_octets + ETHERNET_OCTETS + VLAN_OCTETS;

	if (port->link.mtu_octets == 0 || record->frame_octets <= most)
		return record->frame_octets + FRAME_FCS_OCTETS;
	stat_add(&d->stats, LINUX_STAT_SAMPLES_UNCUT, 1);
	return most - VLAN_OCTETS + FRAME_FCS_OCTETS;
}

/* 0: not known, or no port of ours. */
static uint32_t
psample_number_of(const struct linux_device *d, uint16_t kernel_index)
{
	const struct links_port *port = kernel_index ? links_find_short(&d->links, kernel_index) : NULL;

	return port ? port->if_index : EASE_IF_UNKNOWN;
}

static struct ease_way
way_of(const struct psample_record *record, uint64_t time_us)
{
	struct ease_way way = record->way;

	if (record->time_ns / 1000 != time_us)
		return way; /* it is of another clock */
	way.known |= EASE_WAY_TIME;
	way.time_ns = record->time_ns;
	return way;
}

static void
psample_report_sample(struct linux_device *d, const struct links_port *port,
    const struct psample_record *record, bool out)
{
	uint64_t time_us = psample_time_us(record, clock_wall_us(d->clock));
	struct hal_sample_event event = {
	    .if_index = port->if_index,
	    .direction = out ? EASE_OUT : EASE_IN,
	    .time_us = time_us,
	    .frame_octets = psample_wire_octets(d, port, record),
	    .octets = record->octets,
	    .kept_octets = record->kept_octets,
	    .rate = record->rate,
	    .pool_pkts = HAL_POOL_UNKNOWN,
	    .input_if = out ? psample_number_of(d, record->input_index) : port->if_index,
	    .output_if = out ? port->if_index : psample_number_of(d, record->output_index),
	    .way = way_of(record, time_us),
	};

	if (out && !record->has_input) {
		event.input_if = EASE_IF_LOCAL;
		event.own = linux_is_own(d, record->octets, record->kept_octets);
	}
	if (event.own)
		stat_add(&d->stats, LINUX_STAT_OWN_FRAMES, 1);
	(void)hal_report_sample(d->device.hal, &event); /* the port takes no skips */
}

static void
psample_report_lost(struct linux_device *d, const struct links_port *port, uint32_t n)
{
	if (n == 0)
		return;
	stat_add(&d->stats, LINUX_STAT_PSAMPLE_LOST, n);
	hal_report_samples_lost(d->device.hal, port->if_index, n);
}

static void
psample_take_record(struct linux_device *d, const struct psample_record *record)
{
	struct links_port *port;
	struct psample_sequence *sequence;
	uint32_t kernel_index;
	bool out;

	if (!psample_filter_of_group(record->group, &kernel_index, &out))
		return; /* another program samples, too */
	port = links_find_kernel(&d->links, kernel_index);
	if (!port || !port->psample || port->psample->filter.rate == 0 ||
	    record->group != psample_filter_group(&port->psample->filter, out)) {
		stat_add(&d->stats, LINUX_STAT_SAMPLES_OUTDATED, 1);
		return;
	}
	sequence = &port->psample->sequences[out];
	psample_report_lost(d, port, psample_sequence_update(sequence, record->number));
	if (sequence->missing && d->psample_gap_us == 0)
		d->psample_gap_us = clock_mono_us(d->clock) + GAP_US;
	stat_add(&d->stats, LINUX_STAT_SAMPLES, 1);
	psample_report_sample(d, port, record, out); /* last: it may change the rate, which resets the sequence */
}

static int
psample_take_message(void *ctx, const struct nlmsghdr *message)
{
	struct linux_device *d = ctx;
	struct psample_record record;
	int rc = psample_parse(message, d->psample_type, &record);

	if (rc == 0)
		psample_take_record(d, &record);
	else if (rc == -EPROTO)
		stat_add(&d->stats, LINUX_STAT_DAMAGED, 1);
	return 0;
}

/* Counts missing samples as lost after GAP_US: a later record, which would show the loss, may never
 * arrive. */
static void
close_gaps(struct linux_device *d)
{
	if (d->psample_gap_us == 0 || clock_mono_us(d->clock) < d->psample_gap_us)
		return;
	d->psample_gap_us = 0;
	for (size_t i = 0; i < d->links.n; i++) {
		const struct links_port *port = &d->links.ports[i];

		for (unsigned out = 0; port->psample && out < 2; out++)
			psample_report_lost(d, port, psample_sequence_finish(&port->psample->sequences[out]));
	}
}

int
linux_dispatch_psample(struct linux_device *d, unsigned budget)
{
	struct netlink_faults faults = {0};
	int rc = netlink_receive_all(d->psample_fd, psample_take_message, d, budget, &faults);

	stat_add(&d->stats, LINUX_STAT_PSAMPLE_OVERFLOWS, faults.overflows);
	stat_add(&d->stats, LINUX_STAT_DAMAGED, faults.damaged);
	close_gaps(d);
	return rc > 0;
}
