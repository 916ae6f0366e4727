/*
 * Parses messages of the kernel's drop monitor (family NET_DM, linux/net_dropmon.h): packets that the kernel or a
 * switch chip dropped, and how many the monitor itself had no room for. Pure: no socket, no clock.
 *
 * The kernel sends a message a packet, cut to a length that is set, from its Ethernet header on. It tells where a
 * packet came in, never where it was to leave. A VLAN tag that it keeps apart from the frame is not told.
 */
#ifndef EASE_AGENT_LINUX_DROP_MESSAGE_H
#define EASE_AGENT_LINUX_DROP_MESSAGE_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
