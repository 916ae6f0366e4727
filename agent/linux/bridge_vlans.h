/*
 * The VLANs of bridge ports, as a dump of RTM_GETLINK of the family AF_BRIDGE tells them with
 * RTEXT_FILTER_BRVLAN_COMPRESSED: a message a port, with a struct bridge_vlan_info for a VLAN, or two for a range
 * of them (linux/if_bridge.h). Pure: netlink.h handles sockets.
 */
#ifndef EASE_AGENT_LINUX_BRIDGE_VLANS_H
#define EASE_AGENT_LINUX_BRIDGE_VLANS_H

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

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
