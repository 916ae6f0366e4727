/*
 * The netlink requests of the Linux device: reads all links, a link's counters and its driver's
 * settings, and makes the changes that managers may request. Each is one exchange with the kernel over
 * netlink.h; rtnl.h and ethtool.h parse the answers.
 */
#ifndef EASE_AGENT_LINUX_KERNEL_REQUESTS_H
#define EASE_AGENT_LINUX_KERNEL_REQUESTS_H

#include "agent/linux/ethtool.h"
#include "agent/linux/module_eeprom.h"
#include "agent/linux/netlink.h"
#include "agent/linux/rtnl.h"

struct kernel_requests {
	struct netlink *route;
	struct netlink *addresses; /* for the dump of neighbours, which is read in portions */
	struct netlink *generic;
	uint16_t ethtool; /* message type; 0: a kernel without ethtool netlink */
	_Atomic uint64_t *failed; /* counts requests to drivers whose answer was lost; may be NULL */
};

int kernel_open(struct kernel_requests *kernel);
void kernel_close(struct kernel_requests *kernel);

/* All links of the network namespace at one moment. 1: they come and go all the time, so some may be missing or
 * doubled. The caller frees *links. */
int kernel_get_links(struct kernel_requests *kernel, struct rtnl_link **links, size_t *n);

/* The VLANs of all bridge ports. The caller frees them (bridge_vlans_free). */
int kernel_get_vlans(struct kernel_requests *kernel, struct bridge_vlans *vlans);

/* Read every entry of the bridges' forwarding databases in portions: the first function sends the
 * request, the second reads up to max datagrams of the answer. 1: there is more (kernel->addresses is
 * readable); 0: that was all; -EAGAIN: the table changed meanwhile, and entries may be missing. */
int kernel_start_neighbours(struct kernel_requests *kernel);
int kernel_continue_neighbours(struct kernel_requests *kernel, unsigned max, netlink_handler take, void *ctx);

/* of_chip: asks also for what the CPU saw of it, which drivers of switch chips may tell. */
int kernel_get_stats(struct kernel_requests *kernel, uint32_t kernel_index, bool of_chip, struct rtnl_stats *stats);
/* Passes on the answers about all links, for rtnl_parse_stats. -EAGAIN: links came or left, and some are missing. */
int kernel_get_all_stats(struct kernel_requests *kernel, netlink_handler take, void *ctx);
/* Passes on the answers about all links' queues, for rtnl_parse_queue; otherwise the same. */
int kernel_get_all_queues(struct kernel_requests *kernel, netlink_handler take, void *ctx);

/* Read what the driver reports over ethtool's netlink. What is not known is zeros and
 * EASE_DUPLEX_UNKNOWN. */
void kernel_get_modes(struct kernel_requests *kernel, uint32_t kernel_index, struct ethtool_modes *modes);
void kernel_get_pause(struct kernel_requests *kernel, uint32_t kernel_index, struct ethtool_pause *pause);
void kernel_get_eee(struct kernel_requests *kernel, uint32_t kernel_index, uint8_t *state); /* enum hal_eee_state */
void kernel_get_driver_stats(struct kernel_requests *kernel, uint32_t kernel_index, struct hal_counters *figures);
/* Whether the driver offloads filters to hardware now (the feature hw-tc-offload). Only then is it worth requesting a
 * filter in hardware, because that loads modules. False also if the kernel does not report it. */
bool kernel_offloads(struct kernel_requests *kernel, uint32_t kernel_index);
/* Reads a page of the transceiver in the port: 0; -EPERM without CAP_NET_ADMIN; -ENODEV, -EOPNOTSUPP and others where there
 * is none or its driver cannot. Takes as long as the module's bus: some milliseconds. */
int kernel_get_module(struct kernel_requests *kernel, uint32_t kernel_index, const struct module_page *page,
    uint8_t octets[MODULE_PAGE_OCTETS]);
/* Passes on devlink's answers about the ports of all switch chips, for devlink.h. -ENOENT: the kernel has no
 * devlink. */
int kernel_get_devlink_ports(struct kernel_requests *kernel, netlink_handler take, void *ctx);
/* The same about their traps. Each comes once: this is not repeated. */
int kernel_get_devlink_traps(struct kernel_requests *kernel, netlink_handler take, void *ctx);
/* The multicast group in which the kernel reports changes of the first three. -ENOENT. */
int kernel_get_driver_group(struct kernel_requests *kernel, unsigned *group);

/* Whether the kernel would accept changes: requests one that has no effect. -EPERM: it would not. */
int kernel_may_change(struct kernel_requests *kernel);

/* Return -EPERM without CAP_NET_ADMIN, -ENODEV, or the driver's error. */
int kernel_set_up(struct kernel_requests *kernel, uint32_t kernel_index, bool up);
int kernel_set_alias(struct kernel_requests *kernel, uint32_t kernel_index, const char *alias); /* "" removes it */
int kernel_set_ageing(struct kernel_requests *kernel, uint32_t kernel_index, uint32_t ageing_cs);
/* Makes an address static at the bridge's port, or (false) removes it there, in all its VLANs. */
int kernel_set_static(struct kernel_requests *kernel, uint32_t kernel_index, const uint8_t mac[6], bool tied);
int kernel_set_pause(struct kernel_requests *kernel, uint32_t kernel_index, bool rx, bool tx);

#endif
