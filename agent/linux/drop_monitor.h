/*
 * The kernel's drop monitor (generic netlink family NET_DM, module drop_monitor): has it send each dropped packet, and
 * asks what it lost itself. It is one for the whole machine and has one setting, so it belongs to whoever starts it
 * first; everybody may listen.
 *
 * Joining its group needs CAP_SYS_ADMIN in kernels since 6.7 (and stable ones since 12/2023), and starting it
 * CAP_NET_ADMIN. Nothing here waits but for the kernel's lock.
 */
#ifndef EASE_AGENT_LINUX_DROP_MONITOR_H
#define EASE_AGENT_LINUX_DROP_MONITOR_H

#include "agent/linux/netlink.h"

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- messages ----
 * Parses messages of the kernel's drop monitor (family NET_DM, linux/net_dropmon.h): packets that the kernel or a
 * switch chip dropped, and how many the monitor itself had no room for. Pure: no socket, no clock.
 *
 * The kernel sends a message a packet, cut to a length that is set, from its Ethernet header on. It tells where a
 * packet came in, never where it was to leave. A VLAN tag that it keeps apart from the frame is not told. */

/* All that is borrowed lies inside the message; texts that it does not have are "". */
struct drop_record {
	bool hardware; /* a chip dropped the packet, or gave it to the CPU instead of forwarding it */
	uint32_t kernel_index; /* of the interface where it came in; 0: this machine made it, or it is not told */
	uint64_t time_ns; /* since 1970; 0: not told */
	uint32_t packet_octets; /* without FCS */
	const char *reason;	/* of the kernel: "QDISC_DROP" (net/dropreason-core.h without its prefix) */
	const char *symbol;	/* where in the kernel: "ip_forward+0x2d6/0x4a0" */
	const char *trap, *group; /* of the chip: "ingress_vlan_filter", "l2_drops" (devlink-trap) */
	const uint8_t *octets;
	size_t kept_octets;
};

/* type is that of the family. -ENOMSG: a message of another family, or not of a dropped packet; -EPROTO: it is
 * damaged, or lacks what every such message has. */
int drop_message_parse(const struct nlmsghdr *message, uint16_t type, struct drop_record *record);

/* Packets that the monitor dropped from its own queue since its module was loaded. Otherwise as above. */
struct drop_message_lost {
	uint64_t software, hardware;
};
int drop_message_parse_lost(const struct nlmsghdr *message, uint16_t type, struct drop_message_lost *lost);

/* How the monitor is set. Otherwise as above. */
struct drop_message_config {
	bool by_packet; /* else it sends summaries */
	uint32_t kept_octets; /* of each packet; 0: all */
	uint32_t queue_pkts;  /* of each processor */
};
int drop_message_parse_config(const struct nlmsghdr *message, uint16_t type, struct drop_message_config *config);

/* ---- the monitor ---- */

struct drop_monitor {
	struct netlink *generic; /* borrowed */
	uint16_t type;
	int fd; /* receives dropped packets, for netlink_receive; -1: closed */
	bool software, hardware; /* what we have started */
	struct drop_message_config before; /* how it was set */
	struct drop_message_lost lost; /* as last asked */
	uint32_t socket_lost;
};

/* Joins the group of dropped packets. -ENOENT: this kernel or network namespace has no drop monitor; -EPERM. */
int drop_monitor_open(struct netlink *generic, struct drop_monitor *monitor);
void drop_monitor_close(struct drop_monitor *monitor); /* stops what was started, and sets it as it was */

/* Has every dropped packet sent with its first kept_octets; of a switch chip, too, if the kernel can. -EBUSY: another
 * program has started the monitor. What an agent that was killed had started is taken over. */
int drop_monitor_start(struct drop_monitor *monitor, uint32_t kept_octets);
/* 0: nobody has started it; -EBUSY: somebody has; -EPERM. Changes nothing. */
int drop_monitor_probe(struct drop_monitor *monitor);
bool drop_monitor_is_started(const struct drop_monitor *monitor); /* by us */

/* Packets that were dropped since the last call, or since the start, and that the kernel had no room to tell of: in
 * the monitor's queue, or in our socket. */
int drop_monitor_lost(struct drop_monitor *monitor, uint64_t *pkts);

#endif
