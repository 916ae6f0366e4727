/*
 * The Linux device: the kernel's network interfaces as a switch. Ports, their counters and their
 * changes come by rtnetlink, speed, duplex, flow control, the state of Energy Efficient Ethernet
 * and what a driver counts beyond by ethtool's netlink, addresses by the bridges' notices,
 * samples from eBPF programs at the ports (tap.h) or by psample (psample_filter.h); SET of
 * ifAdminStatus, ifAlias, flow control, the ageing time and static addresses goes through to the
 * kernel. Reading needs no privilege; changing and psample need CAP_NET_ADMIN, eBPF CAP_BPF and
 * CAP_PERFMON, too.
 *
 * Counters are the kernel's 64-bit ones: octets without FCS, to which four a frame are added
 * (RFC 3635). The kernel tells received multicasts apart and nothing else, so unicast counts
 * broadcasts as well where the driver does not (IEEE 802.3 clause 30: ethtool.h); what it does
 * not tell is left out of the MIB.
 */
#ifndef EASE_AGENT_LINUX_LINUX_DEVICE_H
#define EASE_AGENT_LINUX_LINUX_DEVICE_H

#include "agent/hal/hal_provider.h"
#include "agent/linux/links.h"
#include "common/clock.h"

enum { LINUX_OWN_PORTS_MAX = 10 };

/* How ports are sampled. What is not permitted or not there is left out, with a message. */
enum linux_sampling {
	LINUX_SAMPLING_NONE,
	LINUX_SAMPLING_AUTO, /* by psample where a driver samples itself, else eBPF, else psample */
	LINUX_SAMPLING_PSAMPLE, /* by the driver, else by the kernel */
	LINUX_SAMPLING_EBPF,
};

struct linux_config {
	int sampling; /* enum linux_sampling */
	bool classic_hooks; /* clsact even where the kernel has tcx */
	bool read_only;	    /* nobody may change anything */
	/* UDP ports that this machine's own notifications and sFlow go to: a frame it sends there is
	 * counted and not sampled, or samples would make samples. */
	uint16_t own_ports[LINUX_OWN_PORTS_MAX];
	size_t n_own_ports;
	const struct links_name *kept; /* ifIndexes of earlier runs; copied */
	size_t n_kept;
	/* Octets of the socket that hears of changes; 0: as many as a storm of interfaces needs. */
	int notice_buffer_octets;
	const struct clock *clock; /* borrowed */
};

/* Of the network namespace it is called in. -errno with the reason in error. */
int linux_create(const struct linux_config *config, struct hal_device **device, char *error,
    size_t error_size);

const struct stat_set *linux_stats(const struct hal_device *device);

#endif
