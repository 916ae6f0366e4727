/*
 * The Linux device's sampling: chooses the method for each port. For ports that a tap samples, loads
 * skips into the tap and reports its samples.
 */
#include "agent/linux/linux_private.h"

#include "common/frame.h"
#include "common/log.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	VLAN_OCTETS = 4,
	MACS_OCTETS = 12, /* the two addresses, before the tag */
	BLIND_PKTS = 100, /* that a link counts while the pool does not move: the hook may be gone */
	BLIND_SAMPLES = 16, /* that are due where none comes */
	MAX_SKIP = 0xfffff, /* 20 bits as in an EASE chip: no mean needs more */
};

_Static_assert((int)TAP_KEPT_OCTETS >= (int)EASE_HEADER_MAX_OCTETS, "a tap keeps the octets that are sent");

/* ---- how a port is sampled ---- */

static int
tap_port(struct linux_device *d, struct links_port *port)
{
	int rc;

	if (!d->taps)
		return -EOPNOTSUPP;
	rc = kernel_get_stats(&d->kernel, port->link.kernel_index, false, &port->kernel);
	return rc < 0 ? rc
		      : taps_attach(d->taps, port->link.kernel_index, port->kernel.link.rx_packets,
			    port->kernel.link.tx_packets, &port->tap);
}

/* Samples what reaches the CPU under a name of its own. Moves the ports of the table. */
static int
tap_share(struct linux_device *d, struct links_port *port)
{
	uint32_t kernel_index = port->link.kernel_index;
	struct links_port *share;
	int rc = d->taps ? links_add_share(&d->links, kernel_index, &share) : -EOPNOTSUPP;

	if (rc < 0)
		return rc;
	rc = taps_attach(d->taps, kernel_index, 0, 0, &share->tap);
	if (rc < 0) {
		links_remove(&d->links, share);
		return rc;
	}
	share->forwarding = EASE_FORWARDING_SOFTWARE;
	share->sampled_by = EASE_SAMPLED_BY_KERNEL;
	if (d->device.hal)
		hal_report_port_changed(d->device.hal, share->if_index);
	return 0;
}

#define IF(sampling) (1u << (sampling))
#define IF_ANY (IF(LINUX_SAMPLING_AUTO) | IF(LINUX_SAMPLING_CPU))

/* The methods in the order in which they are tried. */
static const struct method {
	unsigned sampling; /* settings that allow it, a bit each */
	unsigned forwarding; /* who must forward the port's frames, a bit each of enum ease_forwarding */
	uint8_t by; /* enum ease_sampled_by: who samples the port then */
	const char *name;
	int (*take)(struct linux_device *d, struct links_port *port);
} methods[] = {
    {IF_ANY | IF(LINUX_SAMPLING_PSAMPLE), ~0u, EASE_SAMPLED_BY_CHIP, "psample in hardware", linux_psample_by_driver},
    {IF_ANY | IF(LINUX_SAMPLING_EBPF), IF(EASE_FORWARDING_SOFTWARE), EASE_SAMPLED_BY_KERNEL, "eBPF", tap_port},
    {IF_ANY | IF(LINUX_SAMPLING_PSAMPLE), IF(EASE_FORWARDING_SOFTWARE), EASE_SAMPLED_BY_KERNEL,
	"psample in the kernel", linux_psample_by_kernel},
    {IF(LINUX_SAMPLING_CPU), IF(EASE_FORWARDING_HARDWARE) | IF(EASE_FORWARDING_MIXED), EASE_SAMPLED_BY_NOBODY,
	"eBPF for the CPU's share alone", tap_share},
};

static void
add_why(struct linux_device *d, const char *method, const char *reason)
{
	size_t n = strlen(d->why_not);

	snprintf(d->why_not + n, sizeof(d->why_not) - n, "%s%s: %s", n ? ", " : "", method, reason);
}

static const char *
words_for(struct linux_device *d, const struct method *method, int rc)
{
	const char *words = method->take == tap_port ? "" : netlink_reason(d->kernel.route);

	if (method->take == tap_port && !d->taps)
		return d->why_no_taps;
	if (method->take == linux_psample_by_driver && rc == -EOPNOTSUPP)
		return "the driver does not take filters (feature hw-tc-offload)";
	return words[0] ? words : rc == -ENOENT ? "this kernel does not support it" : strerror(-rc);
}

static bool
choose_method(struct linux_device *d, struct links_port *port)
{
	const char *name = port->link.name;
	uint8_t forwarding = port->forwarding;

	d->why_not[0] = '\0';
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		uint32_t kernel_index = port->link.kernel_index;
		int rc;

		if (!(methods[i].sampling & IF(d->sampling)) || !(methods[i].forwarding & IF(forwarding)))
			continue;
		rc = methods[i].take(d, port);
		port = links_find_kernel(&d->links, kernel_index);
		name = port->link.name;
		if (rc == 0) {
			port->sampled_by = methods[i].by;
			log_info("linux", "%s is sampled by %s%s%s%s", name, methods[i].name,
			    d->why_not[0] ? " (" : "", d->why_not, d->why_not[0] ? ")" : "");
			return true;
		}
		add_why(d, methods[i].name, words_for(d, &methods[i], rc));
	}
	return false;
}

static void
clean_port(struct linux_device *d, const struct links_port *port)
{
	bool tap = taps_clean(port->link.kernel_index);
	bool filters = psample_filter_clean(d->kernel.route, port->link.kernel_index);

	if (!tap && !filters)
		return;
	stat_add(&d->stats, LINUX_STAT_TAPS_CLEANED, 1);
	log_info("linux", "%s: removed the tap or filters of an earlier agent that was killed", port->link.name);
}

void
linux_sample_port(struct linux_device *d, struct links_port *port)
{
	if (!d->device.hal)
		clean_port(d, port);
	port->sampled_by = EASE_SAMPLED_BY_NOBODY;
	port->was_sampled = links_is_sampled(port);
	if (d->sampling == LINUX_SAMPLING_NONE || !port->was_sampled || choose_method(d, port))
		return;
	stat_add(&d->stats, LINUX_STAT_TAPS_REFUSED, 1);
	if (port->forwarding == EASE_FORWARDING_SOFTWARE)
		log_warn_limited("linux", "%s is not sampled: %s", port->link.name, d->why_not);
	else
		log_warn_limited("linux", "%s is counted and not sampled: a switch chip forwards its frames and "
		    "offers no samples (%s). sampling = cpu samples what reaches the CPU, under a name of its own",
		    port->link.name, d->why_not[0] ? d->why_not : "sampling = ebpf samples nothing else");
}

static void
remove_share(struct linux_device *d, uint32_t kernel_index)
{
	struct links_port *share = links_share(&d->links, kernel_index);
	uint32_t if_index;

	if (!share)
		return;
	if_index = share->if_index;
	tap_detach(share->tap);
	links_remove(&d->links, share);
	if (d->device.hal)
		hal_report_port_changed(d->device.hal, if_index);
}

void
linux_unsample_port(struct linux_device *d, struct links_port *port)
{
	tap_detach(port->tap);
	port->tap = NULL;
	linux_psample_remove(d, port);
	remove_share(d, port->link.kernel_index);
}

void
linux_open_sampling(struct linux_device *d, const struct linux_config *config)
{
	d->sampling = config->sampling;
	d->n_own_ports = config->n_own_ports;
	memcpy(d->own_ports, config->own_ports, sizeof(d->own_ports));
	if (d->sampling == LINUX_SAMPLING_NONE || d->sampling == LINUX_SAMPLING_PSAMPLE)
		return;
	if (taps_open(config->classic_hooks, &d->taps, d->why_no_taps, sizeof(d->why_no_taps)) == 0 &&
	    linux_watch_fd(d, taps_fd(d->taps)) < 0) {
		snprintf(d->why_no_taps, sizeof(d->why_no_taps), "its ring buffer cannot be polled");
		taps_close(d->taps);
		d->taps = NULL;
	}
	if (!d->taps)
		add_why(d, "eBPF", d->why_no_taps);
}

bool
linux_samples(const struct linux_device *d)
{
	return d->taps || d->psample_fd >= 0;
}

/* ---- skips ---- */

static int
linux_load_skip(void *ctx, uint32_t if_index, uint32_t skip)
{
	struct linux_device *d = ctx;
	struct links_port *port = links_find(&d->links, if_index);

	return port && port->tap ? tap_load(port->tap, skip) : -ENODEV;
}

static int
restart_port(void *ctx, uint32_t if_index)
{
	struct linux_device *d = ctx;
	struct links_port *port = links_find(&d->links, if_index);
	uint64_t one = 1;

	if (!port || !port->tap)
		return -ENODEV;
	tap_clear(port->tap);
	port->skips_lost = true;
	return write(d->wake_fd, &one, sizeof(one)) < 0 ? -errno : 0;
}

static int
linux_set_rate(void *ctx, uint32_t if_index, uint32_t rate)
{
	struct linux_device *d = ctx;
	struct links_port *port = links_find(&d->links, if_index);

	return port && port->psample ? linux_psample_set_rate(d, port, rate) : -ENODEV;
}

/* False: what samples the port is where it was, or cannot be put back. */
static bool
put_back(struct linux_device *d, struct links_port *port)
{
	if (port->psample)
		return !psample_filter_is_there(d->kernel.route, &port->psample->filter) &&
		    linux_psample_set_rate(d, port, port->psample->filter.rate) == 0;
	if (tap_is_attached(port->tap) || taps_renew(d->taps, &port->tap) < 0)
		return false;
	(void)restart_port(d, port->if_index);
	return true;
}

/* Whoever replaces the hook removes all that is at it, without a notice that says so. XDP and others take frames before
 * the hook, too, so that neither a pool nor samples may move beside it. */
static void
watch_port(struct linux_device *d, struct links_port *port)
{
	const struct linux_psample *psample = port->psample;
	uint64_t pkts = port->kernel.link.rx_packets + port->kernel.link.tx_packets;
	uint64_t blind_pkts = psample ? (uint64_t)BLIND_SAMPLES * psample->filter.rate : BLIND_PKTS;
	uint64_t moves = psample ? (uint64_t)psample->sequences[0].next + psample->sequences[1].next
				 : tap_pool(port->tap, TAP_IN) + tap_pool(port->tap, TAP_OUT);

	if (moves == port->watched_pool && pkts - port->watched_pkts < blind_pkts)
		return;
	port->watched_pkts = pkts;
	if (moves != port->watched_pool) {
		port->watched_pool = moves;
		return;
	}
	if (!put_back(d, port))
		return;
	stat_add(&d->stats, LINUX_STAT_TAPS_RENEWED, 1);
	log_warn_limited("linux", "%s: another program removed the hook (clsact) with what samples at it: it was not sampled, and"
	    " is again", port->link.name);
}

void
linux_watch_hooks(struct linux_device *d)
{
	for (size_t i = 0; i < d->links.n; i++) {
		struct links_port *port = &d->links.ports[i];

		if (port->psample ? port->psample->filter.rate > 0 : port->tap && port->share_of == 0)
			watch_port(d, port);
	}
}

const struct hal_sampling_ops linux_sampling_ops = {
    .name = "linux",
    .max_skip = MAX_SKIP,
    .skip_depth = TAP_SKIPS + 1, /* one counts */
    .load_skip = linux_load_skip,
    .restart = restart_port,
    .set_rate = linux_set_rate,
};

static void
linux_report_skips_lost(struct linux_device *d)
{
	uint64_t count;

	if (read(d->wake_fd, &count, sizeof(count)) < 0)
		return; /* no tap was cleared, and nothing is to be judged */
	for (size_t i = 0; i < d->links.n; i++) {
		if (!d->links.ports[i].skips_lost)
			continue;
		d->links.ports[i].skips_lost = false;
		hal_report_skips_lost(d->device.hal, d->links.ports[i].if_index);
	}
}

/* ---- samples ---- */

/* Restores the frame as it was on the wire: the kernel keeps the outermost VLAN tag apart. Returns the
 * octets kept. */
static size_t
restore_frame(const struct tap_record *record, uint8_t *octets)
{
	size_t kept = record->kept_octets < TAP_KEPT_OCTETS ? record->kept_octets : TAP_KEPT_OCTETS;
	uint16_t tag[2] = {record->vlan_protocol, htobe16(record->vlan_tci)};

	if (!(record->flags & TAP_FLAG_VLAN) || kept < MACS_OCTETS) {
		memcpy(octets, record->octets, kept);
		return kept;
	}
	memcpy(octets, record->octets, MACS_OCTETS);
	memcpy(octets + MACS_OCTETS, tag, sizeof(tag));
	memcpy(octets + MACS_OCTETS + VLAN_OCTETS, record->octets + MACS_OCTETS, kept - MACS_OCTETS);
	return kept + VLAN_OCTETS;
}

/* A frame that the driver will cut into segments counts as one segment of average length. */
static uint32_t
linux_wire_octets(const struct tap_record *record)
{
	uint32_t octets = record->frame_octets / (record->segments > 1 ? record->segments : 1);

	return octets + FRAME_FCS_OCTETS + (record->flags & TAP_FLAG_VLAN ? VLAN_OCTETS : 0);
}

/* Converts the kernel's time stamp, which counts from its start. */
static uint64_t
linux_wall_of(const struct linux_device *d, uint64_t time_ns)
{
	struct timespec now;
	uint64_t now_ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return clock_wall_us(d->clock) - (now_ns > time_ns ? (now_ns - time_ns) / 1000 : 0);
}

/* Returns the port's next skip. */
static int64_t
linux_report_sample(struct linux_device *d, const struct links_port *port, const struct tap_record *record)
{
	uint8_t octets[TAP_KEPT_OCTETS + VLAN_OCTETS];
	struct hal_sample_event event = {
	    .if_index = port->if_index,
	    .time_us = linux_wall_of(d, record->time_ns),
	    .frame_octets = linux_wire_octets(record),
	    .octets = octets,
	    .kept_octets = restore_frame(record, octets),
	    .pool_pkts = record->pool,
	    .counter_empty = tap_is_stalled(port->tap),
	};

	if (record->direction == TAP_IN) {
		event.direction = EASE_IN;
		event.input_if = port->if_index;
	} else {
		event.direction = EASE_OUT;
		event.output_if = port->if_index;
		if (record->flags & TAP_FLAG_LOCAL)
			event.input_if = EASE_IF_LOCAL;
	}
	event.own = (record->flags & TAP_FLAG_LOCAL) && linux_is_own(d, octets, event.kept_octets);
	if (event.own)
		stat_add(&d->stats, LINUX_STAT_OWN_FRAMES, 1);
	return hal_report_sample(d->device.hal, &event);
}

static void
linux_take_record(void *ctx, const struct tap_record *record)
{
	struct linux_device *d = ctx;
	const struct links_port *port = links_find_kernel(&d->links, record->kernel_index);
	int64_t next;

	if (port && !port->tap)
		port = links_share(&d->links, record->kernel_index);
	if (!port || !port->tap || record->epoch != tap_epoch(port->tap)) {
		stat_add(&d->stats, LINUX_STAT_SAMPLES_OUTDATED, 1);
		return;
	}
	stat_add(&d->stats, LINUX_STAT_SAMPLES, 1);
	next = linux_report_sample(d, port, record);
	if (next != HAL_NO_SKIP && tap_load(port->tap, (uint32_t)next) < 0) {
		log_warn_limited("linux", "%s: a skip could not be loaded", port->link.name);
		restart_port(d, port->if_index);
	}
}

int
linux_dispatch_samples(struct linux_device *d, unsigned budget)
{
	int more = linux_dispatch_psample(d, budget), n;

	linux_report_skips_lost(d);
	if (!d->taps)
		return more;
	n = taps_read(d->taps, budget, linux_take_record, d);
	if (n < 0)
		stat_add(&d->stats, LINUX_STAT_RING_ERRORS, 1);
	return (budget > 0 && n == (int)budget) || more;
}
