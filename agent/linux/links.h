/*
 * The table of links the device serves, and their numbers. A link is known to the kernel by an
 * index that a reboot or a replugged card changes; managers know it by an ifIndex that stays: it
 * is given to a name once and kept for that name, and a link that is renamed while it lives keeps
 * it, too (RFC 2863 section 3.1.5). Pure: no socket, no clock.
 */
#ifndef EASE_AGENT_LINUX_LINKS_H
#define EASE_AGENT_LINUX_LINKS_H

#include "agent/linux/ethtool.h"
#include "agent/linux/rtnl.h"

#include <stddef.h>

enum {
	LINKS_MAX = 4096,	/* as HAL_MAX_PORTS */
	LINKS_NAMES_MAX = 8192, /* numbers remembered for names, of links that are gone as well */
};

/* A name and the number it has. */
struct links_name {
	char name[IFNAMSIZ];
	uint32_t if_index;
};

struct tap;
struct linux_psample;

struct links_port {
	uint32_t if_index;
	struct rtnl_link link; /* as last heard */
	struct ethtool_modes modes;
	struct ethtool_pause pause;
	uint8_t eee_state; /* enum hal_eee_state */
	struct rtnl_link_stats64 stats; /* as last read */
	bool asks_driver; /* for what its driver counts beyond that */
	struct hal_counters driver; /* which was this, and these of the above beside it */
	uint64_t driver_rx_pkts, driver_tx_pkts;
	uint64_t driver_next_us; /* monotonic: not asked again before */
	/* Its sampler, or NULL: the device's to make and to free. */
	struct tap *tap;
	struct linux_psample *psample;
	bool wants_refill; /* the tap was emptied */
};

/* Where a link of the kernel's stands. */
struct links_kernel {
	uint32_t kernel_index, if_index;
};

struct links {
	struct links_port *ports;	/* sorted by if_index */
	struct links_kernel *by_kernel; /* n of them, sorted by kernel_index */
	size_t n, room, by_kernel_room;
	struct links_name *names; /* in order of their coming */
	size_t n_names, names_room;
};

/* kept: numbers of earlier runs, copied; one that occurs twice is left out. -ENOMEM. */
int links_init(struct links *links, const struct links_name *kept, size_t n_kept);
void links_free(struct links *links);

/* Is this link one to serve: Ethernet, in whatever form? Loopback and tunnels of IP are not. */
bool links_is_port(const struct rtnl_link *link);
/* Can its frames be sampled? Not those of a bridge, a LAG or a VLAN: they are sampled at the port
 * below, and would count twice. */
bool links_is_sampled(const struct rtnl_link *link);

struct links_port *links_find(const struct links *links, uint32_t if_index); /* NULL: none */
struct links_port *links_find_kernel(const struct links *links, uint32_t kernel_index);

/* Adds a link that is not there yet; the pointer is good until the next add or remove. -ENOSPC:
 * LINKS_MAX are there; -ENOMEM. */
int links_add(struct links *links, const struct rtnl_link *link, struct links_port **port);
/* Its number stays its name's. */
void links_remove(struct links *links, struct links_port *port);

/* IANAifType and the name a manager reads. */
uint32_t links_if_type(const struct rtnl_link *link);
/* enum ease_if_status. */
uint8_t links_oper_status(const struct rtnl_link *link);

/* Does what a manager can see of a link (not its counters) differ? */
bool links_differ(const struct rtnl_link *a, const struct rtnl_link *b);

#endif
