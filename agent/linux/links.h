/*
 * The table of links that the device serves, and their ifIndexes. These are the kernel's numbers, which
 * all other programs of the machine use, too; or stable ones: the kernel's number of a link changes when
 * the machine reboots or a card is plugged again, but a name gets its stable number once and keeps it. A
 * link that is renamed keeps either (RFC 2863 section 3.1.5). Pure: no socket, no clock.
 */
#ifndef EASE_AGENT_LINUX_LINKS_H
#define EASE_AGENT_LINUX_LINKS_H

#include "agent/linux/ethtool.h"
#include "agent/linux/rtnl.h"

#include <stddef.h>

enum {
	LINKS_MAX = 4096,	/* as HAL_MAX_PORTS */
	/* Names whose numbers are remembered, also of links that are gone: more than the agent's state
	 * keeps, which says whom to forget (links_forget). */
	LINKS_NAMES_MAX = 8448,
};

enum links_numbers { LINKS_KERNEL_NUMBERS, LINKS_STABLE_NUMBERS };

/* A name and the number it has. */
struct links_name {
	char name[IFNAMSIZ];
	uint32_t if_index;
};

struct tap;
struct linux_psample;

struct links_port {
	uint32_t if_index;
	struct rtnl_link link; /* as in the last notice */
	struct ethtool_modes modes;
	struct ethtool_pause pause;
	uint8_t eee_state; /* enum hal_eee_state */
	struct rtnl_link_stats64 stats; /* as last read */
	bool reads_driver; /* the driver has counters of its own */
	struct hal_counters driver; /* the driver's counters, and the link's packets when they were read */
	uint64_t driver_rx_pkts, driver_tx_pkts;
	uint64_t driver_next_us; /* monotonic: the driver is not read before */
	/* Its sampler, or NULL. linux_device.c creates and frees it. */
	struct tap *tap;
	struct linux_psample *psample;
	bool skips_lost; /* the tap was cleared */
};

/* Finds a link's ifIndex by the kernel's index. */
struct links_kernel {
	uint32_t kernel_index, if_index;
};

struct links {
	enum links_numbers numbers;
	struct links_port *ports;	/* sorted by if_index */
	struct links_kernel *by_kernel; /* n of them, sorted by kernel_index */
	size_t n, room, by_kernel_room;
	struct links_name *names; /* in the order in which they were added */
	size_t n_names, names_room;
};

/* kept: stable numbers of earlier runs, copied; the second use of a name or number is ignored. -ENOMEM. */
int links_init(struct links *links, enum links_numbers numbers, const struct links_name *kept,
    size_t n_kept);
void links_free(struct links *links);

/* Whether a link is served as a port: Ethernet of any kind. Loopback and IP tunnels are not. */
bool links_is_port(const struct rtnl_link *link);
/* Whether frames of a link are sampled. Those of a bridge, a LAG or a VLAN are not: they are sampled at
 * the port below and would be counted twice. */
bool links_is_sampled(const struct rtnl_link *link);

struct links_port *links_find(const struct links *links, uint32_t if_index); /* NULL: none */
struct links_port *links_find_kernel(const struct links *links, uint32_t kernel_index);

/* Adds a link that is not in the table yet. The pointer is valid until the next add or remove. -ENOSPC:
 * there are LINKS_MAX already; -ENOMEM. */
int links_add(struct links *links, const struct rtnl_link *link, struct links_port **port);
/* Its name keeps the ifIndex, until links_forget. */
void links_remove(struct links *links, struct links_port *port);

/* Frees the ifIndex of a name that no link has. */
void links_forget(struct links *links, const char *name);

/* IANAifType. */
uint32_t links_if_type(const struct rtnl_link *link);
/* enum ease_if_status. */
uint8_t links_oper_status(const struct rtnl_link *link);

/* Whether anything differs that a manager can see, other than counters. */
bool links_differ(const struct rtnl_link *a, const struct rtnl_link *b);

#endif
