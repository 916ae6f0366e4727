#include "agent/sonic/sonic_private.h"

#include "common/close_fd.h"
#include "common/log.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { EVENTS_AT_ONCE = 16 };
#define SECOND_US 1000000ull
#define TICK_US 100000ull /* how often it is looked what is due */

static const struct stat_name stat_names[SONIC_N_STATS] = {
    [SONIC_STAT_COMMANDS] = {"sonic.commands", "commands sent to Redis"},
    [SONIC_STAT_REFUSED] = {"sonic.refused", "commands that Redis answered with an error"},
    [SONIC_STAT_LOST_LINKS] = {"sonic.lost_links", "times a connection to Redis was lost"},
    [SONIC_STAT_DAMAGED] = {"sonic.damaged",
	"answers of Redis and messages of psample that are not as documented, ignored"},
    [SONIC_STAT_NAMES_REFUSED] = {"sonic.names_refused",
	"keys of interfaces that are not served: their name has no number, or another one has it"},
    [SONIC_STAT_NOTICES] = {"sonic.notices", "changes of keys told by Redis"},
    [SONIC_STAT_NOTICES_DROPPED] = {"sonic.notices_dropped",
	"changes too many to ask for one by one; all keys were then read again"},
    [SONIC_STAT_ADDRESSES_LEFT_OUT] = {"sonic.addresses_left_out", "addresses not kept: there are too many"},
    [SONIC_STAT_ADDRESSES_UNRESOLVED] = {"sonic.addresses_unresolved",
	"addresses left out of a listing because their VLAN or port was not known"},
    [SONIC_STAT_NEIGHBOURS_REFUSED] = {"sonic.neighbours_refused",
	"LLDP neighbours left out: one has no identity that LLDP knows, or there are too many"},
    [SONIC_STAT_PARTS_LEFT_OUT] = {"sonic.parts_left_out",
	"fans, power supplies and temperatures left out each time they were read: too many, or too long a name"},
    [SONIC_STAT_SETS] = {"sonic.sets", "settings written to CONFIG_DB"},
    [SONIC_STAT_SETS_LOST] = {"sonic.sets_lost", "mean skips that SONiC did not take within 5 s"},
    [SONIC_STAT_SAMPLES] = {"sonic.samples", "samples received from psample"},
    [SONIC_STAT_SAMPLES_STRANGE] = {"sonic.samples_strange",
	"samples discarded: their interface is not known"},
    [SONIC_STAT_PSAMPLE_LOST] = {"sonic.psample_lost",
	"psample samples lost, by the gaps in their sequence numbers; the port is not known"},
    [SONIC_STAT_PSAMPLE_OVERFLOWS] = {"sonic.psample_overflows",
	"times the kernel dropped psample samples for lack of room"},
    [SONIC_STAT_OWN_FRAMES] = {"sonic.own_frames",
	"samples of this machine's own notifications and sFlow; at a mean skip below 16 they are not sent"},
};

/* ---- jobs ---- */

/* SONiC itself writes counters once a second. */
static const struct sonic_job_kind job_kinds[SONIC_N_JOBS] = {
    [JOB_INTERFACES] = {SONIC_APPL, 60 * SECOND_US, 5 * SECOND_US, sonic_begin_interfaces, sonic_end_interfaces},
    [JOB_STATUS] = {SONIC_APPL, 30 * SECOND_US, SECOND_US, sonic_begin_status, sonic_publish},
    [JOB_NAMES] = {SONIC_COUNTERS, 5 * SECOND_US, 5 * SECOND_US, sonic_begin_names, NULL},
    [JOB_COUNTERS] = {SONIC_COUNTERS, SECOND_US, SECOND_US, sonic_begin_counters, sonic_end_counters},
    [JOB_KERNEL] = {SONIC_STATE, 10 * SECOND_US, 10 * SECOND_US, sonic_begin_kernel, sonic_publish},
    [JOB_MANAGEMENT] = {SONIC_CONFIG, 30 * SECOND_US, 30 * SECOND_US, sonic_begin_management,
	sonic_end_management},
    [JOB_ADDRESSES] = {SONIC_ASIC, 300 * SECOND_US, 15 * SECOND_US, sonic_begin_addresses,
	sonic_end_addresses},
    [JOB_TRANSCEIVERS] = {SONIC_STATE, 10 * SECOND_US, 10 * SECOND_US, sonic_begin_transceivers, NULL},
    [JOB_CHASSIS] = {SONIC_STATE, 10 * SECOND_US, 10 * SECOND_US, sonic_begin_chassis, sonic_end_chassis},
    [JOB_NEIGHBOURS] = {SONIC_APPL, 10 * SECOND_US, 10 * SECOND_US, sonic_begin_neighbours, sonic_end_neighbours},
    [JOB_CHANGED_INTERFACES] = {SONIC_APPL, 0, 0, NULL, sonic_publish},
    [JOB_CHANGED_ADDRESSES] = {SONIC_ASIC, 0, 0, NULL, NULL},
    [JOB_NOTICES] = {SONIC_APPL, 10 * SECOND_US, 10 * SECOND_US, sonic_begin_notices, NULL},
    [JOB_ADDRESS_NOTICES] = {SONIC_ASIC, 10 * SECOND_US, 10 * SECOND_US, sonic_begin_address_notices, NULL},
    [JOB_SETS] = {SONIC_CONFIG, 0, 0, NULL, NULL},
};

/* ---- links ---- */

static enum sonic_database
sonic_database_of(const struct sonic_device *d, const struct redis_link *link)
{
	unsigned i = 0;

	while (i + 1 < SONIC_N_DATABASES && d->links[i] != link)
		i++;
	return (enum sonic_database)i;
}

/* All jobs of the database are due: what was known may be old. */
static void
link_up(void *ctx, struct redis_link *link)
{
	struct sonic_device *d = ctx;
	enum sonic_database database = sonic_database_of(d, link);

	if (d->lost_us[database] != 0)
		log_info("sonic", "%s: connected", sonic_database_names[database]);
	d->lost_us[database] = 0;
	for (unsigned job = 0; job < SONIC_N_JOBS; job++)
		if (job_kinds[job].database == database)
			sonic_job_due(d, (enum sonic_job)job);
}

static void
link_down(void *ctx, struct redis_link *link, const char *why)
{
	struct sonic_device *d = ctx;
	enum sonic_database database = sonic_database_of(d, link);

	stat_add(&d->stats, SONIC_STAT_LOST_LINKS, 1);
	log_warn("sonic", "%s: not connected to Redis: %s", sonic_database_names[database], why);
	d->lost_us[database] = clock_mono_us(d->clock);
}

/* ---- time ---- */

static uint64_t
sonic_device_now_us(void *ctx)
{
	return clock_wall_us(((struct sonic_device *)ctx)->clock);
}

static uint64_t
sonic_device_steady_us(void *ctx)
{
	return clock_mono_us(((struct sonic_device *)ctx)->clock);
}

static void
read_timer(int fd)
{
	uint64_t expirations;

	if (read(fd, &expirations, sizeof(expirations)) < 0 && errno != EAGAIN)
		log_warn_limited("sonic", "the timer cannot be read: %s", strerror(errno));
}

static void
step_links(struct sonic_device *d)
{
	uint64_t now_us = sonic_device_steady_us(d);

	for (size_t i = 0; i < SONIC_N_DATABASES; i++) {
		redis_link_step(d->links[i], now_us);
		if (d->notice_links[i])
			redis_link_step(d->notice_links[i], now_us);
	}
	sonic_run_jobs(d);
	sonic_look_at_age(d);
	sonic_step_sampling(d);
}

/* ---- events ---- */

/* 1 if there may be more. */
static int
handle_events(struct sonic_device *d)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = epoll_wait(d->epoll_fd, events, EVENTS_AT_ONCE, 0);

	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr == &d->timer_fd)
			read_timer(d->timer_fd);
		else if (events[i].data.ptr == &d->alarm_fd)
			read_timer(d->alarm_fd);
		else if (events[i].data.ptr != &d->psample_fd)
			redis_link_ready(events[i].data.ptr, events[i].events, sonic_device_steady_us(d));
	}
	return n > 0;
}

static int
sonic_device_dispatch(void *ctx, unsigned budget)
{
	struct sonic_device *d = ctx;
	int more = 1;

	for (unsigned n = 0; more && (budget == 0 || n < budget); n++) {
		uint64_t now_us;

		step_links(d);
		now_us = sonic_device_steady_us(d);
		if (d->alarm_us != 0 && now_us >= d->alarm_us && d->device.hal) {
			d->alarm_us = 0;
			hal_report_alarm(d->device.hal, now_us);
		}
		more = handle_events(d);
	}
	return sonic_dispatch_samples(d, budget) || more;
}

/* ---- the device ---- */

static void
sonic_device_destroy(void *ctx)
{
	struct sonic_device *d = ctx;

	for (size_t i = 0; i < SONIC_N_DATABASES; i++) {
		redis_link_destroy(d->notice_links[i]);
		redis_link_destroy(d->links[i]);
	}
	interfaces_free(&d->interfaces);
	addresses_free(&d->addresses);
	free(d->transceivers);
	free(d->chassis);
	sonic_free_neighbours(d);
	netlink_close(d->generic);
	close_fd(d->psample_fd);
	close_fd(d->timer_fd);
	close_fd(d->alarm_fd);
	close_fd(d->epoll_fd);
	free(d);
}

static int
sonic_device_fd(void *ctx)
{
	return ((struct sonic_device *)ctx)->epoll_fd;
}

static int
sonic_device_alarm(void *ctx, uint64_t steady_us)
{
	struct sonic_device *d = ctx;
	struct itimerspec when = {
	    .it_value = {.tv_sec = (time_t)(steady_us / 1000000),
		.tv_nsec = (long)(steady_us % 1000000) * 1000 + 1},
	};

	d->alarm_us = steady_us;
	return timerfd_settime(d->alarm_fd, TFD_TIMER_ABSTIME, &when, NULL) < 0 ? -errno : 0;
}

static uint64_t
sonic_device_drops(void *ctx)
{
	struct sonic_device *d = ctx;

	return d->stat_values[SONIC_STAT_PSAMPLE_LOST] + d->stat_values[SONIC_STAT_SAMPLES_STRANGE];
}

static int
sonic_device_may_change(void *ctx)
{
	return ((struct sonic_device *)ctx)->read_only ? -EPERM : 0;
}

static const struct hal_device_ops device_ops = {
    .kind = "sonic",
    .destroy = sonic_device_destroy,
    .fd = sonic_device_fd,
    .dispatch = sonic_device_dispatch,
    .now_us = sonic_device_now_us,
    .steady_us = sonic_device_steady_us,
    .alarm = sonic_device_alarm,
    .drops = sonic_device_drops,
    .may_change = sonic_device_may_change,
    .keeps_settings = true,
};

/* ---- making ---- */

static int
open_timers(struct sonic_device *d)
{
	struct itimerspec tick = {
	    .it_value.tv_nsec = TICK_US * 1000,
	    .it_interval.tv_nsec = TICK_US * 1000,
	};
	struct epoll_event ticks = {.events = EPOLLIN, .data.ptr = &d->timer_fd};
	struct epoll_event alarms = {.events = EPOLLIN, .data.ptr = &d->alarm_fd};

	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	d->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	d->alarm_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (d->epoll_fd < 0 || d->timer_fd < 0 || d->alarm_fd < 0 ||
	    timerfd_settime(d->timer_fd, 0, &tick, NULL) < 0 ||
	    epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, d->timer_fd, &ticks) < 0 ||
	    epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, d->alarm_fd, &alarms) < 0)
		return -errno;
	return 0;
}

static int
make_links(struct sonic_device *d)
{
	int rc = 0;

	d->listener = (struct redis_listener){d, link_up, link_down};
	d->notice_listener = (struct redis_listener){d, sonic_notices_up, sonic_notices_down};
	for (size_t i = 0; i < SONIC_N_DATABASES && rc == 0; i++)
		rc = redis_link_create(sonic_database_names[i], &d->addresses_of[i], d->epoll_fd,
		    &d->listener, &d->links[i]);
	for (size_t i = SONIC_APPL; i <= SONIC_ASIC && rc == 0; i++)
		rc = redis_link_create(sonic_database_names[i], &d->addresses_of[i], d->epoll_fd,
		    &d->notice_listener, &d->notice_links[i]);
	return rc;
}

/* Every database was read at least once, as far as it can be. */
static bool
is_loaded(const struct sonic_device *d)
{
	return d->addresses_known && sonic_is_settled(&d->device);
}

/* Reads what there is before the agent begins to serve, so that what is there has not just come. */
static void
wait_for_load(struct sonic_device *d, uint32_t wait_ms)
{
	struct pollfd ready = {.fd = d->epoll_fd, .events = POLLIN};
	uint64_t began_us = clock_mono_us(&clock_system), ms = 0;

	sonic_device_dispatch(d, 0);
	while (!is_loaded(d) && ms < wait_ms) {
		(void)poll(&ready, 1, (int)(wait_ms - ms));
		sonic_device_dispatch(d, 0);
		ms = (clock_mono_us(&clock_system) - began_us) / 1000;
	}
	if (!is_loaded(d))
		log_warn("sonic", "the databases were not read within %u ms: interfaces come when they are", wait_ms);
}

static void
sonic_take_config(struct sonic_device *d, const struct sonic_config *config)
{
	d->kinds = job_kinds;
	d->clock = config->clock;
	d->read_only = config->read_only;
	d->samples = config->sampling;
	d->ageing_s = 600;
	d->transceiver_changes = 1;
	d->n_own_ports = config->n_own_ports;
	memcpy(d->own_ports, config->own_ports, sizeof(d->own_ports));
	d->epoll_fd = d->timer_fd = d->alarm_fd = d->psample_fd = -1;
	d->stats = (struct stat_set){stat_names, SONIC_N_STATS, d->stat_values};
}

int
sonic_check(const struct sonic_config *config, char *error, size_t error_size)
{
	struct redis_address addresses[SONIC_N_DATABASES];

	return database_config_read(config->database_config, config->by_tcp, addresses, error, error_size);
}

int
sonic_create(const struct sonic_config *config, struct hal_device **device, char *error, size_t error_size)
{
	struct sonic_device *d = calloc(1, sizeof(*d));
	int rc = -ENOMEM;

	error[0] = '\0';
	if (!d)
		return rc;
	sonic_take_config(d, config);
	rc = database_config_read(config->database_config, config->by_tcp, d->addresses_of, error, error_size);
	if (rc == 0)
		rc = open_timers(d);
	if (rc == 0)
		rc = make_links(d);
	if (rc < 0) {
		if (error[0] == '\0')
			snprintf(error, error_size, "device = sonic cannot be opened: %s", strerror(-rc));
		sonic_device_destroy(d);
		return rc;
	}
	d->device = (struct hal_device){
	    .ops = &device_ops, .ctx = d,
	    .ports = &sonic_ports_ops, .ports_ctx = d,
	    .counters = &sonic_counters_ops, .counters_ctx = d,
	    .sampling = &sonic_sampling_ops, .sampling_ctx = d,
	    .addresses = &sonic_addresses_ops, .addresses_ctx = d,
	    .vlans = &sonic_vlans_ops, .vlans_ctx = d,
	    .sensors = &sonic_sensors_ops, .sensors_ctx = d,
	    .lldp = &sonic_lldp_ops, .lldp_ctx = d,
	};
	/* So that the first reader of the list finds the switch's ports; what is not there by then comes later. */
	wait_for_load(d, config->load_wait_ms);
	*device = &d->device;
	return 0;
}

bool
sonic_is_settled(const struct hal_device *device)
{
	const struct sonic_device *d = device->ctx;
	uint64_t now_us = clock_mono_us(d->clock);

	for (unsigned job = 0; job < SONIC_N_JOBS; job++)
		if (d->jobs[job].running || (job_kinds[job].begin && d->jobs[job].due_us <= now_us))
			return false;
	return true;
}

const struct stat_set *
sonic_stats(const struct hal_device *device)
{
	return &((const struct sonic_device *)device->ctx)->stats;
}
