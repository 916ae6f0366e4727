/*
 * The questions the Linux device asks: all links, one link's counters, what its driver says of it,
 * and the changes a manager may ask for. Each is one exchange with the kernel by netlink.h; answers
 * are read by rtnl.h and ethtool.h.
 */
#ifndef EASE_AGENT_LINUX_KERNEL_REQUESTS_H
#define EASE_AGENT_LINUX_KERNEL_REQUESTS_H

#include "agent/linux/ethtool.h"
#include "agent/linux/netlink.h"
#include "agent/linux/rtnl.h"

struct kernel_requests {
	struct netlink *route;
	struct netlink *addresses; /* for the one long answer */
	struct netlink *generic;
	uint16_t ethtool; /* message type; 0: a kernel without ethtool netlink */
	_Atomic uint64_t *failed; /* counts questions to drivers whose answer was lost; NULL: nobody */
};

int kernel_open(struct kernel_requests *kernel);
void kernel_close(struct kernel_requests *kernel);

/* All links of the namespace, at one moment. *links is the caller's to free. */
int kernel_get_links(struct kernel_requests *kernel, struct rtnl_link **links, size_t *n);

/* Every entry of the bridges' forwarding databases, in portions: the request, then some
 * datagrams of the answer. 1: there is more (kernel->addresses is readable); 0: that was all;
 * -EAGAIN: it changed while it was read, and some of it may be missing. */
int kernel_start_neighbours(struct kernel_requests *kernel);
int kernel_continue_neighbours(struct kernel_requests *kernel, unsigned max, netlink_handler take, void *ctx);

int kernel_get_stats(struct kernel_requests *kernel, uint32_t kernel_index, struct rtnl_link_stats64 *stats);

/* Of the driver, by ethtool's netlink. Not known is an answer: zeros, EASE_DUPLEX_UNKNOWN. */
void kernel_get_modes(struct kernel_requests *kernel, uint32_t kernel_index, struct ethtool_modes *modes);
void kernel_get_pause(struct kernel_requests *kernel, uint32_t kernel_index, struct ethtool_pause *pause);
void kernel_get_eee(struct kernel_requests *kernel, uint32_t kernel_index, uint8_t *state); /* enum hal_eee_state */
void kernel_get_driver_stats(struct kernel_requests *kernel, uint32_t kernel_index, struct hal_counters *figures);
/* The group in which it tells changes of the first three. -ENOENT. */
int kernel_get_driver_group(struct kernel_requests *kernel, unsigned *group);

/* -EPERM: the kernel would refuse every change. Asks for one that changes nothing. */
int kernel_may_change(struct kernel_requests *kernel);

/* -EPERM without CAP_NET_ADMIN; -ENODEV; the driver's refusal. */
int kernel_set_up(struct kernel_requests *kernel, uint32_t kernel_index, bool up);
int kernel_set_alias(struct kernel_requests *kernel, uint32_t kernel_index, const char *alias); /* "": none */
int kernel_set_ageing(struct kernel_requests *kernel, uint32_t kernel_index, uint32_t ageing_cs);
/* Ties an address to the bridge's port, or (false) lets it go there, in all its VLANs. */
int kernel_set_static(struct kernel_requests *kernel, uint32_t kernel_index, const uint8_t mac[6], bool tied);
int kernel_set_pause(struct kernel_requests *kernel, uint32_t kernel_index, bool rx, bool tx);

#endif
