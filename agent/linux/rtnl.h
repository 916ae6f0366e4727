/*
 * Parses rtnetlink messages into plain structs: a link and its counters, an entry of a bridge's forwarding database,
 * the VLANs of a bridge port. Pure functions; netlink.h handles sockets. What a message leaves out is marked as not
 * known, and a message whose lengths are inconsistent is refused.
 *
 * Attributes are defined in linux/if_link.h, linux/rtnetlink.h and linux/neighbour.h.
 */
#ifndef EASE_AGENT_LINUX_RTNL_H
#define EASE_AGENT_LINUX_RTNL_H

#include "common/sample.h"

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RTNL_KIND_MAX = 31, /* the longest kind of a link, as in `ip link add type KIND` */
	RTNL_SWITCH_ID_MAX = 32, /* MAX_PHYS_ITEM_ID_LEN of the kernel */
};

/* Ports of one switch chip have the same. */
struct rtnl_switch_id {
	uint8_t n_octets; /* 0: the link is no port of a chip that can forward by itself */
	uint8_t octets[RTNL_SWITCH_ID_MAX];
};

struct rtnl_link {
	bool gone;	      /* RTM_DELLINK */
	uint32_t kernel_index;
	uint16_t hardware_type; /* ARPHRD_… */
	unsigned flags;	      /* IFF_… */
	bool promiscuous;
	char name[IFNAMSIZ];
	char alias[EASE_NAME_MAX + 1]; /* cut to what ifAlias holds */
	char kind[RTNL_KIND_MAX + 1];  /* "" for hardware */
	char master_kind[RTNL_KIND_MAX + 1]; /* kind of the link that it is a port of: "bridge", "bond", … */
	uint8_t mac[6];
	uint32_t mtu_octets;
	uint8_t oper_state; /* IF_OPER_… (RFC 2863's, as the kernel numbers them) */
	uint32_t master;    /* kernel index of the bridge or LAG it is a port of; 0: none */
	uint32_t lower;	    /* kernel index of what this VLAN or IPoIB partition runs on; 0: none, or elsewhere */
	uint32_t conduit; /* kernel index of the link by which the CPU reaches this DSA port; 0: none */
	struct rtnl_switch_id switch_id;
	bool has_ageing;    /* of a bridge */
	uint32_t ageing_cs; /* hundredths of a second */
	bool filters_vlans; /* of a bridge: it is VLAN-aware */
	uint16_t bridge_port; /* its number in its bridge, 1 to 1,023; 0: it has none */
	bool has_stats;
	struct rtnl_link_stats64 stats;
};

/* What the kernel counts of a link. */
struct rtnl_stats {
	struct rtnl_link_stats64 link;
	bool has_cpu; /* the driver tells apart what the CPU saw; link is then what the hardware counted */
	struct rtnl_link_stats64 cpu;
};

/* The queue (qdisc) by which a link sends; what is inside of it counts in it, too. */
struct rtnl_queue {
	uint32_t kernel_index;
	uint32_t handle;
	uint32_t dropped_pkts; /* since it was made, and round at 2^32 */
};

/* An entry of a bridge's forwarding database. */
struct rtnl_neighbour {
	bool gone; /* RTM_DELNEIGH */
	uint32_t kernel_index; /* of the bridge's port */
	uint32_t master; /* of the bridge; 0: the message does not say */
	uint8_t mac[6];
	uint16_t vlan;	/* 0: none */
	uint16_t state; /* NUD_… */
	uint8_t flags;	/* NTF_… */
};

/* Returns the message at *at in a datagram of size octets (aligned to 8), and moves *at behind it. NULL
 * at the end, or if the message does not fit: *at is then less than size. (libmnl 1.0.4 treats a length
 * above 2^31 as negative, so that it seems to fit.) */
const struct nlmsghdr *rtnl_next(const void *octets, size_t size, size_t *at);

/* Each returns 0; -EPROTO if the message is damaged; -ENOMSG if it is another kind of message (type,
 * address family, or not an Ethernet address). */
int rtnl_parse_link(const struct nlmsghdr *message, struct rtnl_link *link);
/* Whether the message is a bridge's notice about one of its ports: its state, its VLANs. */
bool rtnl_is_of_bridge(const struct nlmsghdr *message);
int rtnl_parse_stats(const struct nlmsghdr *message, struct rtnl_stats *stats, uint32_t *kernel_index);
int rtnl_parse_neighbour(const struct nlmsghdr *message, struct rtnl_neighbour *neighbour);
/* -ENOMSG also for a queue inside of another, for a hook of received frames, and for one that counts nothing. */
int rtnl_parse_queue(const struct nlmsghdr *message, struct rtnl_queue *queue);

/* ---- VLANs of bridge ports ----
 * The VLANs of bridge ports, as a dump of RTM_GETLINK of the family AF_BRIDGE tells them with
 * RTEXT_FILTER_BRVLAN_COMPRESSED: a message a port, with a struct bridge_vlan_info for a VLAN, or two for a range
 * of them (linux/if_bridge.h). */

enum { BRIDGE_VLANS_MAX = 65536 }; /* as HAL_MAX_VLAN_RANGES */

struct bridge_vlan_range {
	uint32_t kernel_index; /* of the port */
	uint32_t bridge;       /* kernel index */
	uint16_t first, last;  /* 1 to 4094 */
	uint16_t flags;	       /* BRIDGE_VLAN_INFO_PVID, BRIDGE_VLAN_INFO_UNTAGGED */
};

struct bridge_vlans {
	struct bridge_vlan_range *ranges;
	size_t n, room;
	uint64_t n_left_out; /* beyond BRIDGE_VLANS_MAX */
};

/* Adds what one message says. Returns 0; -ENOMSG if it is another kind of message, or the bridge's own VLANs;
 * -EPROTO if it is damaged, and -ENOMEM: then nothing of it was added. */
int bridge_vlans_take(struct bridge_vlans *vlans, const struct nlmsghdr *message);
void bridge_vlans_free(struct bridge_vlans *vlans);

#endif
