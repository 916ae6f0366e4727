/*
 * The questions the Linux device asks: all links, one link's counters, what its driver says of it,
 * and the changes a manager may ask for. Each is one exchange with the kernel by netlink.h; answers
 * are read by rtnl.h and ethtool.h.
 */
#ifndef EASE_AGENT_LINUX_ASK_H
#define EASE_AGENT_LINUX_ASK_H

#include "agent/linux/ethtool.h"
#include "agent/linux/netlink.h"
#include "agent/linux/rtnl.h"

struct ask {
	struct netlink *route;
	struct netlink *addresses; /* for the one long answer */
	struct netlink *generic;
	uint16_t ethtool; /* message type; 0: a kernel without ethtool netlink */
	_Atomic uint64_t *failed; /* counts questions to drivers whose answer was lost; NULL: nobody */
};

int ask_open(struct ask *ask);
void ask_close(struct ask *ask);

/* All links of the namespace, at one moment. *links is the caller's to free. */
int ask_links(struct ask *ask, struct rtnl_link **links, size_t *n);

/* Every entry of the bridges' forwarding databases, in portions: the question, then some
 * datagrams of the answer. 1: there is more (ask->addresses is readable); 0: that was all;
 * -EAGAIN: it changed while it was read, and some of it may be missing. */
int ask_neighbours(struct ask *ask);
int ask_more_neighbours(struct ask *ask, unsigned max, netlink_take take, void *ctx);

int ask_stats(struct ask *ask, uint32_t kernel_index, struct rtnl_link_stats64 *stats);

/* Of the driver, by ethtool's netlink. Not known is an answer: zeros, EASE_DUPLEX_UNKNOWN. */
void ask_modes(struct ask *ask, uint32_t kernel_index, struct ethtool_modes *modes);
void ask_pause(struct ask *ask, uint32_t kernel_index, struct ethtool_pause *pause);
void ask_eee(struct ask *ask, uint32_t kernel_index, uint8_t *state); /* enum hal_eee_state */
void ask_driver_stats(struct ask *ask, uint32_t kernel_index, struct hal_counters *figures);
/* The group in which it tells changes of the first three. -ENOENT. */
int ask_driver_group(struct ask *ask, unsigned *group);

/* -EPERM: the kernel would refuse every change. Asks for one that changes nothing. */
int ask_may_change(struct ask *ask);

/* -EPERM without CAP_NET_ADMIN; -ENODEV; the driver's refusal. */
int ask_set_up(struct ask *ask, uint32_t kernel_index, bool up);
int ask_set_alias(struct ask *ask, uint32_t kernel_index, const char *alias); /* "": none */
int ask_set_ageing(struct ask *ask, uint32_t kernel_index, uint32_t ageing_cs);
/* Ties an address to the bridge's port, or (false) lets it go there, in all its VLANs. */
int ask_set_static(struct ask *ask, uint32_t kernel_index, const uint8_t mac[6], bool tied);
int ask_set_pause(struct ask *ask, uint32_t kernel_index, bool rx, bool tx);

#endif
