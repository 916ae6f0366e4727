/*
 * The table of links that the device serves, and their ifIndexes. These are the kernel's numbers, which
 * all other programs of the machine use, too; or stable ones: the kernel's number of a link changes when
 * the machine reboots or a card is plugged again, but a name gets its stable number once and keeps it. A
 * link that is renamed keeps either (RFC 2863 section 3.1.5). Pure: no socket, no clock.
 *
 * The table may also have, for a link that a chip forwards, its CPU share: a port of its own for those of the
 * link's frames that reach the CPU, so that samples of these are never mixed up with all of the link's.
 */
#ifndef EASE_AGENT_LINUX_LINKS_H
#define EASE_AGENT_LINUX_LINKS_H

#include "agent/linux/devlink.h"
#include "agent/linux/ethtool.h"
#include "agent/linux/forwarding.h"
#include "agent/linux/rtnl.h"

#include <stddef.h>

enum {
	LINKS_MAX = 4096,	/* as HAL_MAX_PORTS */
	/* Names whose numbers are remembered, also of links that are gone: more than the agent's state
	 * keeps, which says whom to forget (links_forget). */
	LINKS_NAMES_MAX = 8448,
	LINKS_BASE_PORTS = 4096, /* dot1dBasePort is at most this: as LINKS_MAX, which keeps port lists short */
	LINKS_BRIDGE_PORTS = 1024, /* the kernel numbers the ports of a bridge below this */
	LINKS_BRIDGES_NUMBERED = LINKS_BASE_PORTS / LINKS_BRIDGE_PORTS, /* whose numbers follow from the kernel's */
	LINKS_TYPE_SHARE = 53, /* propVirtual of IANAifType-MIB */
	LINKS_SHARE = 1 << 23, /* the ifIndex of a CPU share, less that of its link; sFlow has 24 bits */
};

enum links_numbers { LINKS_KERNEL_NUMBERS, LINKS_STABLE_NUMBERS };

/* A name and the number it has. */
struct links_name {
	char name[IFNAMSIZ];
	uint32_t if_index;
};

struct tap;
struct linux_psample;

/* What an Ethernet link of hardware really is; the kernel's messages do not tell. */
enum links_radio { LINKS_RADIO_NONE, LINKS_RADIO_WLAN, LINKS_RADIO_WWAN };

/* Who counts all frames of a port. */
enum links_totals {
	LINKS_TOTALS_KERNEL, /* the kernel's counters of the link */
	LINKS_TOTALS_DRIVER, /* the driver's own: clause 30, or texts of a known family (driver_info.h) */
	LINKS_TOTALS_NOBODY, /* the kernel counts what reaches the CPU, and the driver tells no more */
};

struct links_queue {
	uint32_t handle; /* of the queue that it has now; 0: none */
	uint32_t raw_pkts; /* as that one said last */
	bool is_there; /* in this dump of queues */
	uint64_t dropped_pkts; /* by all that it had since the agent started, and by the first before */
};

struct links_port {
	uint32_t if_index;
	uint32_t share_of; /* kernel index of the link whose CPU share this is; 0: this is a link */
	struct rtnl_link link; /* as in the last notice */
	uint16_t base_port; /* dot1dBasePort; 0: it is in no bridge (links_number_ports) */
	uint8_t bridge_turn; /* of a bridge, from 1: which one it is; above LINKS_BRIDGES_NUMBERED: a later one; 0: to come */
	bool is_conduit; /* the CPU reaches the ports of a switch chip by it (links_mark_conduits) */
	uint8_t radio; /* enum links_radio */
	/* For ports of a switch chip. */
	uint8_t forwarding; /* enum ease_forwarding */
	uint8_t sampled_by; /* enum ease_sampled_by */
	bool was_sampled; /* links_is_sampled when its method was chosen */
	uint8_t totals;	    /* enum links_totals */
	bool kernel_counts_chip; /* the kernel's counters of the link are the hardware's */
	bool octets_of_data; /* the driver's octets lack header and FCS, as clause 30 has it */
	bool asked_devlink;
	struct devlink_port devlink; /* name "": devlink does not know it */
	bool offloaded; /* the chip forwards to an address at it */
	struct forwarding_comparison comparison;
	struct rtnl_stats kernel; /* as last read */
	bool read_ahead; /* with all others', and not used yet */
	struct links_queue queue;
	uint64_t lacks; /* figures that nobody counts, as bits of `known` in struct hal_counters */
	struct ethtool_modes modes;
	struct ethtool_pause pause;
	uint8_t eee_state; /* enum hal_eee_state */
	struct rtnl_link_stats64 stats; /* all frames of the port, as far as anybody counts them */
	uint64_t pools[2]; /* of its tap, by TAP_IN and TAP_OUT; without one, all packets */
	bool fetched; /* stats and pools were, once at least */
	bool reads_driver; /* the driver has counters of its own */
	struct hal_counters driver; /* the driver's counters, and the link's packets when they were read */
	uint64_t driver_rx_pkts, driver_tx_pkts;
	uint64_t driver_next_us; /* monotonic: the driver is not read before */
	uint64_t driver_read_us; /* monotonic: when it was read last */
	/* Its sampler, or NULL. linux_device.c creates and frees it. */
	struct tap *tap;
	uint64_t watched_pool, watched_pkts; /* of the tap, or samples of psample, and of the link, when they moved last */
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

/* Whether it carries Ethernet frames. Loopback, tunnels of IP and the like are served, and no more: they are neither
 * sampled nor bridge ports nor reported to a collector. */
bool links_is_ethernet(const struct rtnl_link *link);
/* Whether frames of a link are sampled. Those of a bridge, a LAG or a VLAN are not: they are sampled at
 * the port below and would be counted twice. So would be those of a DSA conduit, by which the CPU reaches the
 * ports of a switch chip. */
bool links_is_sampled(const struct links_port *port);
/* Marks the conduits anew, after links were added, changed or removed. */
void links_mark_conduits(struct links *links);

/* Whether a link is a bridge or the port of one. */
bool links_is_bridged(const struct rtnl_link *link);
/* Numbers the bridge ports that have no base_port yet: in the first bridge as the kernel does, in the next three by the
 * kernel's number plus 1,024, 2,048 and 3,072, in others by any that is free. The first is the one with the lowest
 * ifIndex when this is called for the first time; a bridge keeps its turn. */
void links_number_ports(struct links *links);

struct links_port *links_find(const struct links *links, uint32_t if_index); /* NULL: none */
struct links_port *links_find_kernel(const struct links *links, uint32_t kernel_index);
/* The same by the low 16 bits of the kernel's index; NULL also if some link has a longer index, so that these bits
 * may mean two. */
struct links_port *links_find_short(const struct links *links, uint16_t kernel_index);

/* Adds a link that is not in the table yet. The pointer is valid until the next add or remove. -ENOSPC:
 * there are LINKS_MAX already; -ENOMEM. */
int links_add(struct links *links, const struct rtnl_link *link, struct links_port **port);
/* Adds the CPU share of a link. Both pointers are valid until the next add or remove. As links_add; -ERANGE: the
 * link's ifIndex is too large. */
int links_add_share(struct links *links, uint32_t kernel_index, struct links_port **share);
struct links_port *links_share(const struct links *links, uint32_t kernel_index); /* NULL: it has none */
/* Its name keeps the ifIndex, until links_forget. */
void links_remove(struct links *links, struct links_port *port);

/* Frees the ifIndex of a name that no link has. */
void links_forget(struct links *links, const char *name);

/* IANAifType. */
uint32_t links_if_type(const struct links_port *port);
bool links_has_connector(const struct links_port *port); /* ifConnectorPresent */
/* What is known as soon as the kernel has taken a change of ifAdminStatus. */
void links_set_up(struct rtnl_link *link, bool up);
/* enum ease_if_status. */
uint8_t links_oper_status(const struct rtnl_link *link);

/* Whether a link is a port of a switch chip itself, not an interface above one. */
bool links_is_of_chip(const struct rtnl_link *link);
bool links_same_switch(const struct rtnl_link *a, const struct rtnl_link *b);

/* Whether anything differs that a manager can see, other than counters. */
bool links_differ(const struct rtnl_link *a, const struct rtnl_link *b);

#endif
