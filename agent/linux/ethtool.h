/*
 * Parses messages of ethtool's netlink about one link into plain structs: speed and duplex, flow
 * control, Energy Efficient Ethernet, and the statistics of IEEE 802.3 clause 30 and of RMON that some
 * drivers have. Pure functions, as in rtnl.h. What a driver does not report is marked as not known, and
 * a message whose lengths are inconsistent is refused.
 *
 * Attributes are defined in linux/ethtool_netlink.h and in the kernel's
 * Documentation/networking/ethtool-netlink.rst.
 */
#ifndef EASE_AGENT_LINUX_ETHTOOL_H
#define EASE_AGENT_LINUX_ETHTOOL_H

#include "agent/hal/hal.h"

#include <linux/netlink.h>

/* The flow control that one side of the link advertises (IEEE 802.3 annex 28B). */
struct ethtool_offer {
	bool known, pause, asymmetric;
};

struct ethtool_modes {
	uint64_t speed_bps; /* 0: not known */
	uint8_t duplex;	    /* enum ease_duplex */
	bool autoneg;	    /* the link's settings are negotiated; false also if not known */
	struct ethtool_offer ours, peers;
};

struct ethtool_pause {
	bool known; /* the driver has flow control */
	bool autoneg, rx, tx; /* as configured */
};

/* Each parses one answer or notice. Returns 0; -EPROTO if the message is damaged; -ENOMSG if it is of
 * another command. The struct is written only on success. Statistics are added to those already in it,
 * so that several answers can fill one struct. */
int ethtool_parse_modes(const struct nlmsghdr *message, struct ethtool_modes *modes);
/* Counts of PAUSE frames are added to figures, if the driver has them. */
int ethtool_parse_pause(const struct nlmsghdr *message, struct ethtool_pause *pause,
    struct hal_counters *figures);
int ethtool_parse_eee(const struct nlmsghdr *message, uint8_t *state); /* enum hal_eee_state */
/* HAL_POOL_IN_PKTS and HAL_POOL_OUT_PKTS are all valid frames, HAL_IN_OCTETS and HAL_OUT_OCTETS their octets as the
 * driver counts them: clause 30 leaves header and FCS out, most drivers do not. */
int ethtool_parse_stats(const struct nlmsghdr *message, struct hal_counters *figures);
/* Whether a feature of `ethtool -k` is active: 0, 1, -EPROTO. */
int ethtool_parse_feature(const struct nlmsghdr *message, const char *feature);
/* What was asked for of a module's memory: 0, or -EPROTO if it is not n octets. */
int ethtool_parse_module(const struct nlmsghdr *message, uint8_t *octets, size_t n);
/* A notice of the monitor group that one of these has changed; gives the kernel index of the link. */
int ethtool_parse_notice(const struct nlmsghdr *message, uint32_t *kernel_index);

/* enum hal_pause: what is configured, and what is in effect if link_up. HAL_PAUSE_NOT_KNOWN if it was
 * negotiated and the driver does not report what the other side advertised. */
uint8_t ethtool_pause_admin(const struct ethtool_pause *pause);
uint8_t ethtool_pause_oper(const struct ethtool_pause *pause, const struct ethtool_modes *modes,
    bool link_up);

#endif
