/*
 * What the kernel says by ethtool's netlink about one link, as plain structs: speed and duplex,
 * flow control, Energy Efficient Ethernet, and the statistics of IEEE 802.3 clause 30 and of
 * RMON that some drivers have. Pure, as rtnl.h: messages in memory in, structs out. What a
 * driver does not tell is marked as not known; a message that contradicts its own lengths is
 * refused.
 *
 * Numbers and meaning: linux/ethtool_netlink.h, Documentation/networking/ethtool-netlink.rst.
 */
#ifndef EASE_AGENT_LINUX_ETHTOOL_H
#define EASE_AGENT_LINUX_ETHTOOL_H

#include "agent/hal/hal.h"

#include <linux/netlink.h>

/* What a side of the link offers of flow control (IEEE 802.3 annex 28B). */
struct ethtool_offer {
	bool told, pause, asymmetric;
};

struct ethtool_modes {
	uint64_t speed_bps; /* 0: not known */
	uint8_t duplex;	    /* enum ease_duplex */
	bool autoneg;	    /* the link's settings are agreed on; false also if not known */
	struct ethtool_offer ours, peers;
};

struct ethtool_pause {
	bool told; /* the driver has flow control */
	bool autoneg, rx, tx; /* as configured */
};

/* All read one answer or notice: 0; -EPROTO for a message that is damaged, -ENOMSG for one of
 * another command. A struct is written only on success, but for statistics: these are added to what
 * is there, so that several answers fill one. */
int ethtool_parse_modes(const struct nlmsghdr *message, struct ethtool_modes *modes);
/* PAUSE frames counted go to figures, if the driver counts them. */
int ethtool_parse_pause(const struct nlmsghdr *message, struct ethtool_pause *pause,
    struct hal_counters *figures);
int ethtool_parse_eee(const struct nlmsghdr *message, uint8_t *state); /* enum hal_eee_state */
int ethtool_parse_stats(const struct nlmsghdr *message, struct hal_counters *figures);
/* A notice of the monitor group that one of the above has changed: of which link (kernel index). */
int ethtool_parse_notice(const struct nlmsghdr *message, uint32_t *kernel_index);

/* enum hal_pause: what is configured, and what is in force if link_up; HAL_PAUSE_NOT_KNOWN where it
 * was agreed on by a driver that does not tell what the other side offered. */
uint8_t ethtool_pause_admin(const struct ethtool_pause *pause);
uint8_t ethtool_pause_oper(const struct ethtool_pause *pause, const struct ethtool_modes *modes,
    bool link_up);

#endif
