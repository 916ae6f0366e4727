/*
 * The Linux device: presents the kernel's network interfaces as a switch.
 * - rtnetlink gives ports, their counters and their changes.
 * - ethtool's netlink gives speed, duplex, flow control, the state of Energy Efficient Ethernet, and
 *   counters of the driver.
 * - The bridges' notices give addresses.
 * - Samples come from eBPF programs at the ports (tap.h) or from psample (psample.h).
 * - Hardware monitors (hwmon.h) and transceivers (module_eeprom.h) give sensors.
 * - LLDP's neighbours come from lldpd, by its own client (lldpd_json.h).
 * - Dropped packets come from the kernel's drop monitor (drop_monitor.h).
 * - SET of ifAdminStatus, ifAlias, flow control, the ageing time and static addresses changes the
 *   kernel's settings.
 * Reading needs no privilege. Changes and psample need CAP_NET_ADMIN; eBPF also needs CAP_BPF and
 * CAP_PERFMON.
 *
 * A switch chip that forwards by itself passes few of its frames to the kernel. Where one does (forwarding.h) the
 * kernel's hooks are not used: samples come from the chip or from nobody.
 *
 * Counters are the kernel's 64-bit ones, or the driver's where only these are all frames (linux_counters.c). Its octets do not include the FCS, so four are added for each
 * frame (RFC 3635). The kernel counts received multicasts separately and no other class, so unicast
 * includes broadcasts unless the driver counts these (IEEE 802.3 clause 30: ethtool.h). The MIB has no
 * object for a counter that neither gives.
 */
#ifndef EASE_AGENT_LINUX_LINUX_DEVICE_H
#define EASE_AGENT_LINUX_LINUX_DEVICE_H

#include "agent/hal/hal_provider.h"
#include "agent/linux/links.h"
#include "common/clock.h"

#include <stdio.h>

enum { LINUX_OWN_PORTS_MAX = 17 };

/* How ports are sampled. A method that is not permitted or not available is skipped and logged. */
enum linux_sampling {
	LINUX_SAMPLING_NONE,
	LINUX_SAMPLING_AUTO, /* psample where the driver samples in hardware, else eBPF, else psample */
	LINUX_SAMPLING_PSAMPLE, /* in the driver's hardware, else in the kernel */
	LINUX_SAMPLING_EBPF,
	LINUX_SAMPLING_CPU, /* as AUTO; where a chip forwards and offers no samples, what reaches the CPU, apart */
};

struct linux_config {
	int sampling; /* enum linux_sampling */
	bool classic_hooks; /* clsact even where the kernel has tcx */
	bool read_only;	    /* managers may change nothing */
	/* UDP ports to which this machine sends its own notifications and sFlow. Frames to them are
	 * counted and not sampled, because each sample would cause another frame. */
	uint16_t own_ports[LINUX_OWN_PORTS_MAX];
	size_t n_own_ports;
	uint32_t drops_per_s;	  /* dropped packets to tell of, at most; 0: the drop monitor is left alone */
	uint32_t drops_kept_octets; /* of each */
	int ifindex; /* enum links_numbers */
	const struct links_name *kept; /* stable ifIndexes of earlier runs; copied */
	size_t n_kept;
	/* Buffer of the socket for notices; 0: enough for many interfaces that change at once. */
	int notice_buffer_octets;
	const char *lldpd_socket; /* "" or NULL: lldpd is not asked for neighbours; copied */
	const char *sys_root; /* where the kernel's hardware monitors are; NULL: "/sys" */
	const struct clock *clock; /* borrowed */
};

/* Opens the calling thread's network namespace. -errno with the reason in error. */
int linux_create(const struct linux_config *config, struct hal_device **device, char *error,
    size_t error_size);

/* Prints in one screen what can be counted, sampled and told, at how many interfaces, and why not (abilities.h), without
 * changing anything. -errno with the reason in error. */
int linux_check(const struct linux_config *config, FILE *out, char *error, size_t error_size);

const struct stat_set *linux_stats(const struct hal_device *device);

#endif
