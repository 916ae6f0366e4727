/*
 * The facet of sampling. SONiC programs the chip: CONFIG_DB's SFLOW_SESSION has what is wanted, APPL_DB's
 * SFLOW_SESSION_TABLE what is in force. Samples come by the kernel's psample, from the chip's driver or, on the virtual
 * switch, from tc: all ports share a group for received frames and one for sent frames, so a gap in a group's numbers
 * is a loss at a port that nobody knows.
 */
#include "agent/sonic/sonic_private.h"

#include "agent/linux/own_frames.h"
#include "common/frame.h"
#include "common/log.h"

#include <errno.h>
#include <linux/psample.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	GROUP_IN = 1, GROUP_OUT = 2, /* of SONiC's sFlow */
	SOCKET_OCTETS = 8 << 20,     /* room for 4,000 samples, 2 KiB each in the kernel */
	KERNEL_INDEX_MASK = 0xffff,  /* psample cuts the numbers of interfaces to 16 bits */
};
#define SET_US 5000000ull     /* how long SONiC gets to carry out a SET */
#define RETRY_US 10000000ull  /* until the kernel is asked for psample again */

/* ---- the rate ---- */

static bool
sonic_is_sampled(const struct sonic_interface *interface)
{
	return interface && interface->kind == SONIC_PORT && interface->has_entry;
}

static int
get_rate(void *ctx, uint32_t if_index, uint32_t *rate)
{
	const struct sonic_device *d = ctx;
	const struct sonic_interface *interface = interfaces_find(&d->interfaces, if_index);

	if (!sonic_is_sampled(interface))
		return -ENODEV;
	*rate = interface->rate;
	return 0;
}

static int
check_rate(void *ctx, uint32_t if_index, uint32_t rate)
{
	const struct sonic_device *d = ctx;
	const struct sonic_interface *interface = interfaces_find(&d->interfaces, if_index);

	if (!sonic_is_sampled(interface))
		return -ENODEV;
	if (rate == 0 || (rate >= SONIC_RATE_MIN && rate <= SONIC_RATE_MAX))
		return redis_link_is_up(d->links[SONIC_CONFIG]) ? 0 : -EAGAIN;
	log_warn_limited("sonic", "%s: a mean skip of %u is refused: SONiC takes %d to %d", interface->name, rate,
	    SONIC_RATE_MIN, SONIC_RATE_MAX);
	return -EBUSY;
}

static void
sampling_take_set(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	(void)reply;
	(void)subject;
	stat_add(&d->stats, SONIC_STAT_SETS, 1);
}

static int
sonic_set_rate(void *ctx, uint32_t if_index, uint32_t rate)
{
	struct sonic_device *d = ctx;
	struct sonic_interface *interface = interfaces_find(&d->interfaces, if_index);
	const struct sonic_subject subject = {.if_index = if_index};
	char key[64], number[16];
	int rc = check_rate(d, if_index, rate);

	if (rc < 0)
		return rc;
	snprintf(key, sizeof(key), "SFLOW_SESSION|%s", interface->name);
	snprintf(number, sizeof(number), "%u", rate);
	if (rate == 0)
		sonic_ask(d, JOB_SETS, sampling_take_set, &subject, "HSET", key, "admin_state", "down", NULL);
	else
		sonic_ask(d, JOB_SETS, sampling_take_set, &subject, "HSET", key, "admin_state", "up", "sample_rate",
		    number, NULL);
	interface->wanted_rate = rate;
	interface->wanted_us = clock_mono_us(d->clock) + SET_US;
	return 0;
}

static int
sonic_load_skip(void *ctx, uint32_t if_index, uint32_t skip)
{
	(void)ctx;
	(void)if_index;
	(void)skip;
	return -ENODEV;
}

const struct hal_sampling_ops sonic_sampling_ops = {
    .name = "sonic",
    .load_skip = sonic_load_skip,
    .set_rate = sonic_set_rate,
    .rate = get_rate,
    .check_rate = check_rate,
};

/* Fields: admin_state, sample_rate. Without an entry the port is not sampled. */
void
sonic_take_session(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	struct sonic_interface *interface = interfaces_find(&d->interfaces, subject->if_index);
	const redisReply *state = answer_string(reply, 0);
	uint64_t rate = 0;

	if (!interface)
		return;
	if (!answer_is(state, "up") || !answer_number(answer_string(reply, 1), &rate) || rate > SONIC_RATE_MAX)
		rate = 0;
	if (interface->rate == rate)
		return;
	log_info_limited("sonic", "%s: SONiC samples one frame in %u now, before it was %u (0: none)", interface->name,
	    (unsigned)rate, interface->rate);
	interface->rate = (uint32_t)rate;
	interface->changed = true;
	if (interface->rate == interface->wanted_rate)
		interface->wanted_us = 0;
}

/* A SET that SONiC did not carry out is taken back: what is in force is shown again. */
static void
look_at_sets(struct sonic_device *d)
{
	uint64_t now_us = clock_mono_us(d->clock);

	for (size_t i = 0; i < d->interfaces.n_served; i++) {
		struct sonic_interface *interface = d->interfaces.served[i];

		if (interface->wanted_us == 0 || now_us < interface->wanted_us)
			continue;
		interface->wanted_us = 0;
		if (interface->rate == interface->wanted_rate)
			continue;
		stat_add(&d->stats, SONIC_STAT_SETS_LOST, 1);
		log_warn_limited("sonic", "%s: SONiC has not taken the mean skip %u for 5 s; %u is in force (0: none). "
		    "Is sFlow enabled (config sflow enable)?", interface->name, interface->wanted_rate, interface->rate);
		if (d->device.hal)
			hal_report_port_changed(d->device.hal, interface->if_index);
	}
}

/* ---- samples ---- */

static int
open_psample(struct sonic_device *d)
{
	unsigned groups[2] = {0};
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &d->psample_fd};
	int rc = d->generic ? 0 : netlink_open(NETLINK_GENERIC, &d->generic);

	if (rc == 0)
		rc = netlink_family(d->generic, PSAMPLE_GENL_NAME, &d->psample_type);
	if (rc == 0)
		rc = netlink_group(d->generic, PSAMPLE_GENL_NAME, PSAMPLE_NL_MCGRP_SAMPLE_NAME, &groups[0]);
	if (rc == 0)
		rc = netlink_listen(NETLINK_GENERIC, groups, SOCKET_OCTETS, &d->psample_fd);
	if (rc == 0 && epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, d->psample_fd, &event) < 0)
		rc = -errno;
	if (rc < 0 && d->psample_fd >= 0) {
		close(d->psample_fd);
		d->psample_fd = -1;
	}
	return rc;
}

void
sonic_step_sampling(struct sonic_device *d)
{
	uint64_t now_us = clock_mono_us(d->clock);
	int rc;

	look_at_sets(d);
	if (!d->samples || d->psample_fd >= 0 || now_us < d->psample_retry_us)
		return;
	rc = open_psample(d);
	if (rc < 0 && d->psample_retry_us == 0)
		log_warn("sonic", "no samples yet: psample cannot be opened: %s",
		    rc == -ENOENT ? "the kernel has not loaded it" : strerror(-rc));
	else if (rc == 0)
		log_info("sonic", "samples are taken from psample");
	d->psample_retry_us = now_us + RETRY_US;
}

static const struct sonic_interface *
port_of_kernel(const struct sonic_device *d, uint32_t kernel_index)
{
	for (size_t i = 0; i < d->interfaces.n_served; i++) {
		const struct sonic_interface *interface = d->interfaces.served[i];

		if (interface->kernel_index != 0 &&
		    (interface->kernel_index & KERNEL_INDEX_MASK) == (kernel_index & KERNEL_INDEX_MASK))
			return interface;
	}
	return NULL;
}

static void
sonic_take_record(struct sonic_device *d, const struct psample_record *record)
{
	bool out = record->group == GROUP_OUT;
	const struct sonic_interface *input, *output;
	struct hal_sample_event event = {
	    .direction = out ? EASE_OUT : EASE_IN,
	    .time_us = psample_time_us(record, clock_wall_us(d->clock)),
	    .frame_octets = record->frame_octets + FRAME_FCS_OCTETS,
	    .octets = record->octets,
	    .kept_octets = record->kept_octets,
	    .rate = record->rate,
	    .pool_pkts = HAL_POOL_UNKNOWN,
	};

	if (record->group != GROUP_IN && record->group != GROUP_OUT)
		return; /* another program samples, too */
	stat_add(&d->stats, SONIC_STAT_PSAMPLE_LOST, psample_sequence_update(&d->sequences[out], record->number));
	input = record->has_input ? port_of_kernel(d, record->input_index) : NULL;
	output = record->has_output ? port_of_kernel(d, record->output_index) : NULL;
	if (!(out ? output : input)) {
		stat_add(&d->stats, SONIC_STAT_SAMPLES_STRANGE, 1);
		return;
	}
	event.if_index = (out ? output : input)->if_index;
	event.input_if = input ? input->if_index : out ? EASE_IF_LOCAL : 0;
	event.output_if = output ? output->if_index : 0;
	event.own = out && !record->has_input &&
	    own_frames_has(d->own_ports, d->n_own_ports, record->octets, record->kept_octets);
	stat_add(&d->stats, SONIC_STAT_SAMPLES, 1);
	if (event.own)
		stat_add(&d->stats, SONIC_STAT_OWN_FRAMES, 1);
	(void)hal_report_sample(d->device.hal, &event); /* the port takes no skips */
}

static int
sonic_take_message(void *ctx, const struct nlmsghdr *message)
{
	struct sonic_device *d = ctx;
	struct psample_record record;
	int rc = psample_parse(message, d->psample_type, &record);

	if (rc == 0 && d->device.hal)
		sonic_take_record(d, &record);
	else if (rc == -EPROTO)
		stat_add(&d->stats, SONIC_STAT_DAMAGED, 1);
	return 0;
}

int
sonic_dispatch_samples(struct sonic_device *d, unsigned budget)
{
	struct netlink_faults faults = {0};
	int rc = netlink_receive_all(d->psample_fd, sonic_take_message, d, budget, &faults);

	stat_add(&d->stats, SONIC_STAT_PSAMPLE_OVERFLOWS, faults.overflows);
	stat_add(&d->stats, SONIC_STAT_DAMAGED, faults.damaged);
	return rc > 0;
}
