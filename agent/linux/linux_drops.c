/*
 * The Linux device's dropped packets: joins the drop monitor, starts it, tells of packets up to a limit, and counts
 * all others: those beyond the limit by port, those that the kernel had no room for, and those that a chip drops
 * without giving them to anybody.
 *
 * A timer ticks once a second while the option is on: it asks what was lost, and tries again to start the monitor
 * when somebody else has it.
 */
#include "agent/linux/devlink.h"
#include "agent/linux/drop_monitor.h"
#include "agent/linux/drop_reason.h"
#include "agent/linux/linux_private.h"

#include "common/frame.h"
#include "common/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
	PLACE_OCTETS = 64,
	TICKS_BETWEEN_TRIES = 30, /* to start the monitor, and looks whether it still runs */
	TICKS_BETWEEN_TRAPS = 10, /* each reads some hundred traps of a chip */
	LAST_DATAGRAMS = 4096,	  /* read at a stop, so that a flood does not hold it up */
};

struct linux_drops {
	struct drop_monitor monitor;
	int timer_fd;
	uint32_t per_s, kept_octets;
	uint64_t second_us; /* monotonic: when the present second of the limit began, */
	uint32_t told;	    /* and how many packets were told of in it */
	unsigned ticks;
	uint64_t dropped_by_chip; /* as last read */
	bool has_read_traps;
};

/* ---- traps of switch chips ---- */

/* Packets that chips dropped and gave to nobody, where their drivers count these. */
static int
drops_add_trap(void *ctx, const struct nlmsghdr *message)
{
	struct devlink_trap trap;

	if (devlink_parse_trap(message, &trap) == 0)
		*(uint64_t *)ctx += trap.dropped_pkts;
	return 0;
}

static void
read_traps(struct linux_device *d)
{
	struct linux_drops *drops = d->drops;
	uint64_t dropped = 0;

	if (kernel_get_devlink_traps(&d->kernel, drops_add_trap, &dropped) < 0)
		return;
	if (drops->has_read_traps && dropped > drops->dropped_by_chip) {
		stat_add(&d->stats, LINUX_STAT_DROPS_BY_CHIP, dropped - drops->dropped_by_chip);
		hal_report_drops_untold(d->device.hal, 0, dropped - drops->dropped_by_chip);
	}
	drops->dropped_by_chip = dropped;
	drops->has_read_traps = true;
}

/* ---- once a second ---- */

static const char *
drops_words_of(int error)
{
	switch (error) {
	case -EBUSY:
		return "another program has started it, and there is one for all";
	case -ENOENT:
		return "this kernel, or this network namespace, has none (module drop_monitor)";
	case -EPERM:
		return "it needs CAP_SYS_ADMIN to join it and CAP_NET_ADMIN to start it";
	}
	return strerror(-error);
}

static void
try_to_start(struct linux_device *d)
{
	struct linux_drops *drops = d->drops;
	int rc = drop_monitor_start(&drops->monitor, drops->kept_octets);

	if (rc == 0) {
		log_info("linux", "dropped packets are reported: those of the kernel%s, at most %u/s",
		    drops->monitor.hardware ? " and of switch chips" : "", (unsigned)drops->per_s);
		return;
	}
	stat_add(&d->stats, LINUX_STAT_DROP_MONITOR_BUSY, 1);
	log_warn_limited("linux", "dropped packets are not reported: the kernel's drop monitor cannot be started: %s; "
	    "it is tried again every %u s", drops_words_of(rc), TICKS_BETWEEN_TRIES);
}

/* Whoever stops it stops it for all. */
static void
look_whether_it_runs(struct linux_device *d)
{
	struct drop_monitor *monitor = &d->drops->monitor;

	if (drop_monitor_probe(monitor) != 0)
		return;
	monitor->software = monitor->hardware = false;
	log_warn_limited("linux", "another program has stopped the kernel's drop monitor; it is started again");
	stat_add(&d->stats, LINUX_STAT_DROP_MONITOR_BUSY, 1);
	try_to_start(d);
}

static void
ask_what_was_lost(struct linux_device *d)
{
	uint64_t lost;

	if (drop_monitor_lost(&d->drops->monitor, &lost) < 0 || lost == 0)
		return;
	stat_add(&d->stats, LINUX_STAT_DROPS_LOST, lost);
	hal_report_drops_untold(d->device.hal, 0, lost);
}

static void
tick_timer(struct linux_device *d)
{
	struct linux_drops *drops = d->drops;
	unsigned n = drops->ticks++;
	uint64_t expirations;

	if (read(drops->timer_fd, &expirations, sizeof(expirations)) < 0) {
		drops->ticks--; /* it is not time yet */
		return;
	}
	if (drop_monitor_is_started(&drops->monitor)) {
		ask_what_was_lost(d);
		if (n % TICKS_BETWEEN_TRIES == 0)
			look_whether_it_runs(d);
	} else if (n % TICKS_BETWEEN_TRIES == 0) {
		try_to_start(d);
	}
	if (drops->monitor.hardware && n % TICKS_BETWEEN_TRAPS == 0)
		read_traps(d);
}

/* ---- packets ---- */

static bool
drops_may_tell(struct linux_drops *drops, uint64_t now_us)
{
	if (now_us - drops->second_us >= 1000000) {
		drops->second_us = now_us;
		drops->told = 0;
	}
	return drops->told < drops->per_s;
}

static void
tell_drop(struct linux_device *d, const struct drop_record *record, uint32_t if_index)
{
	char place[PLACE_OCTETS] = "";
	struct ease_drop drop = {
	    .if_index = if_index,
	    .time_us = record->time_ns ? record->time_ns / 1000 : clock_wall_us(d->clock),
	    .detail = record->hardware ? record->trap : record->reason,
	    .place = place,
	    .group = record->group,
	    .frame_octets = record->packet_octets + FRAME_FCS_OCTETS,
	    .kept_octets = (uint16_t)(record->kept_octets < EASE_HEADER_MAX_OCTETS ? record->kept_octets
										    : EASE_HEADER_MAX_OCTETS),
	    .header = record->octets,
	};

	if (!record->hardware)
		drop_reason_function(record->symbol, place, sizeof(place));
	drop.reason = record->hardware ? drop_reason_of_trap(record->trap, record->group)
				       : drop_reason_of_kernel(record->reason, place);
	d->drops->told++;
	stat_add(&d->stats, LINUX_STAT_DROPS, 1);
	hal_report_drop(d->device.hal, &drop);
}

static void
drops_take_record(struct linux_device *d, const struct drop_record *record)
{
	const struct links_port *port = record->kernel_index ? links_find_kernel(&d->links, record->kernel_index) : NULL;
	bool is_port = port && links_is_ethernet(&port->link);
	uint32_t if_index = is_port ? port->if_index : 0;

	if (!is_port)
		stat_add(&d->stats, LINUX_STAT_DROPS_NO_PORT, 1);
	if (record->hardware)
		stat_add(&d->stats, LINUX_STAT_DROPS_BY_CHIP, 1);
	/* To tell of a dropped notification makes another one. */
	if (!record->kernel_index && linux_is_own(d, record->octets, record->kept_octets)) {
		stat_add(&d->stats, LINUX_STAT_DROPS_OWN, 1);
		hal_report_drops_untold(d->device.hal, 0, 1);
	} else if (!drops_may_tell(d->drops, clock_mono_us(d->clock))) {
		stat_add(&d->stats, LINUX_STAT_DROPS_LIMITED, 1);
		hal_report_drops_untold(d->device.hal, if_index, 1);
	} else {
		tell_drop(d, record, if_index);
	}
}

static int
drops_take_message(void *ctx, const struct nlmsghdr *message)
{
	struct linux_device *d = ctx;
	struct drop_record record;
	int rc = drop_message_parse(message, d->drops->monitor.type, &record);

	if (rc == 0)
		drops_take_record(d, &record);
	else if (rc == -EPROTO)
		stat_add(&d->stats, LINUX_STAT_DAMAGED, 1);
	return 0;
}

int
linux_dispatch_drops(struct linux_device *d, unsigned budget)
{
	struct netlink_faults faults = {0}; /* what the kernel dropped the socket counts */
	int rc;

	if (!d->drops)
		return 0;
	rc = netlink_receive_all(d->drops->monitor.fd, drops_take_message, d, budget, &faults);
	stat_add(&d->stats, LINUX_STAT_DAMAGED, faults.damaged);
	tick_timer(d);
	return rc > 0;
}

/* ---- life ---- */

static int
open_timer(struct linux_device *d)
{
	static const struct itimerspec at_once_and_each_second = {.it_value = {.tv_nsec = 1}, .it_interval = {.tv_sec = 1}};
	struct linux_drops *drops = d->drops;

	drops->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (drops->timer_fd < 0 || timerfd_settime(drops->timer_fd, 0, &at_once_and_each_second, NULL) < 0)
		return -errno;
	return linux_watch_fd(d, drops->timer_fd);
}

void
linux_open_drops(struct linux_device *d, const struct linux_config *config)
{
	int rc;

	if (config->drops_per_s == 0)
		return;
	d->drops = calloc(1, sizeof(*d->drops));
	if (!d->drops) {
		log_warn("linux", "dropped packets are not reported: %s", strerror(ENOMEM));
		return;
	}
	d->drops->per_s = config->drops_per_s;
	d->drops->kept_octets = config->drops_kept_octets;
	d->drops->timer_fd = -1;
	rc = drop_monitor_open(d->kernel.generic, &d->drops->monitor);
	if (rc == 0)
		rc = linux_watch_fd(d, d->drops->monitor.fd);
	if (rc == 0)
		rc = open_timer(d);
	if (rc == 0)
		return;
	log_warn("linux", "dropped packets are not reported: the kernel's drop monitor cannot be joined: %s", drops_words_of(rc));
	linux_close_drops(d);
}

/* What was lost until now is still told. */
void
linux_stop_drops(struct linux_device *d)
{
	if (!d->drops || !drop_monitor_is_started(&d->drops->monitor))
		return;
	(void)linux_dispatch_drops(d, LAST_DATAGRAMS);
	ask_what_was_lost(d);
	linux_close_drops(d);
}

void
linux_close_drops(struct linux_device *d)
{
	if (!d->drops)
		return;
	drop_monitor_close(&d->drops->monitor);
	if (d->drops->timer_fd >= 0)
		close(d->drops->timer_fd);
	free(d->drops);
	d->drops = NULL;
}
