#include "agent/linux/bridge_vlans.h"

#include "agent/linux/attribute.h"

#include <linux/if_bridge.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { VID_MAX = 4094 };

static int
add_range(struct bridge_vlans *vlans, const struct bridge_vlan_range *range)
{
	struct bridge_vlan_range *grown;

	if (vlans->n == BRIDGE_VLANS_MAX) {
		vlans->n_left_out++;
		return 0;
	}
	if (vlans->n == vlans->room) {
		size_t room = vlans->room ? 2 * vlans->room : 64;

		grown = reallocarray(vlans->ranges, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		vlans->ranges = grown;
		vlans->room = room;
	}
	vlans->ranges[vlans->n++] = *range;
	return 0;
}

/* The first of a range only sets range->first; the next attribute must be its last. */
static int
take_info(struct bridge_vlans *vlans, const struct nlattr *attr, struct bridge_vlan_range *range)
{
	struct bridge_vlan_info info;
	int rc = attribute_copy(attr, &info, sizeof(info));
	bool ends = info.flags & BRIDGE_VLAN_INFO_RANGE_END;

	if (rc < 0)
		return rc;
	if (info.vid < 1 || info.vid > VID_MAX || ends != (range->first != 0) || info.vid < range->first)
		return -EPROTO;
	if (!ends)
		range->first = info.vid;
	if (info.flags & BRIDGE_VLAN_INFO_RANGE_BEGIN)
		return ends ? -EPROTO : 0;
	range->last = info.vid;
	range->flags = info.flags & (BRIDGE_VLAN_INFO_PVID | BRIDGE_VLAN_INFO_UNTAGGED);
	rc = add_range(vlans, range);
	range->first = 0;
	return rc;
}

static int
take_spec(struct bridge_vlans *vlans, const struct nlattr *spec, struct bridge_vlan_range *range)
{
	const struct nlattr *attr;
	int rc = 0;

	mnl_attr_for_each_nested(attr, spec)
		if (rc == 0 && mnl_attr_get_type(attr) == IFLA_BRIDGE_VLAN_INFO)
			rc = take_info(vlans, attr, range);
	return rc == 0 && range->first != 0 ? -EPROTO : rc;
}

int
bridge_vlans_take(struct bridge_vlans *vlans, const struct nlmsghdr *message)
{
	const struct ifinfomsg *head = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr, *spec = NULL;
	struct bridge_vlan_range range = {0};
	size_t n_before = vlans->n;
	int rc = 0;

	if (message->nlmsg_type != RTM_NEWLINK)
		return -ENOMSG;
	if (mnl_nlmsg_get_payload_len(message) < sizeof(*head))
		return -EPROTO;
	if (head->ifi_family != AF_BRIDGE)
		return -ENOMSG;
	range.kernel_index = (uint32_t)head->ifi_index;
	mnl_attr_for_each(attr, message, sizeof(*head)) {
		if (mnl_attr_get_type(attr) == IFLA_MASTER && rc == 0)
			rc = attribute_u32(attr, &range.bridge);
		if (mnl_attr_get_type(attr) == IFLA_AF_SPEC)
			spec = attr;
	}
	if (rc == 0 && (range.bridge == 0 || range.bridge == range.kernel_index))
		return -ENOMSG;
	if (rc == 0 && spec)
		rc = take_spec(vlans, spec, &range);
	if (rc < 0)
		vlans->n = n_before;
	return rc;
}

void
bridge_vlans_free(struct bridge_vlans *vlans)
{
	free(vlans->ranges);
	*vlans = (struct bridge_vlans){0};
}
