#include "agent/linux/rtnl.h"

#include "agent/linux/attribute.h"

#include <linux/gen_stats.h>
#include <linux/if_bridge.h>
#include <linux/neighbour.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <sys/socket.h>

const struct nlmsghdr *
rtnl_next(const void *octets, size_t size, size_t *at)
{
	const struct nlmsghdr *message = (const void *)((const uint8_t *)octets + *at);
	size_t left = size - *at;

	/* Attributes are read up to the aligned end, which the kernel's messages fill. */
	if (left < sizeof(*message) || message->nlmsg_len < sizeof(*message) ||
	    message->nlmsg_len > left || MNL_ALIGN(message->nlmsg_len) > left)
		return NULL;
	*at += MNL_ALIGN(message->nlmsg_len);
	return message;
}

/* Statistics of newer kernels that this one lacks stay 0, and those that we do not know are ignored. */
static void
copy_stats(const struct nlattr *attr, struct rtnl_link_stats64 *stats)
{
	size_t n = mnl_attr_get_payload_len(attr);

	memset(stats, 0, sizeof(*stats));
	memcpy(stats, mnl_attr_get_payload(attr), n < sizeof(*stats) ? n : sizeof(*stats));
}

static int
get_switch_id(const struct nlattr *attr, struct rtnl_switch_id *id)
{
	size_t n = mnl_attr_get_payload_len(attr);

	if (n > sizeof(id->octets))
		return -EPROTO;
	id->n_octets = (uint8_t)n;
	memcpy(id->octets, mnl_attr_get_payload(attr), n);
	return 0;
}

static int
get_mac(const struct nlattr *attr, uint8_t mac[6])
{
	if (mnl_attr_get_payload_len(attr) != 6)
		return -ENOMSG;
	memcpy(mac, mnl_attr_get_payload(attr), 6);
	return 0;
}

/* ---- links ---- */

static int
take_bridge_data(const struct nlattr *data, struct rtnl_link *link)
{
	const struct nlattr *attr;
	int rc = 0;

	mnl_attr_for_each_nested(attr, data) {
		if (rc == 0 && mnl_attr_get_type(attr) == IFLA_BR_AGEING_TIME) {
			rc = attribute_u32(attr, &link->ageing_cs);
			link->has_ageing = rc == 0;
		} else if (rc == 0 && mnl_attr_get_type(attr) == IFLA_BR_VLAN_FILTERING) {
			rc = attribute_bool(attr, &link->filters_vlans);
		}
	}
	return rc;
}

static int
take_link_info(const struct nlattr *info, struct rtnl_link *link)
{
	const struct nlattr *attr, *data = NULL, *slave_data = NULL;
	int rc = 0;

	mnl_attr_for_each_nested(attr, info) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_INFO_KIND:
			attribute_text(attr, link->kind, sizeof(link->kind));
			break;
		case IFLA_INFO_SLAVE_KIND:
			attribute_text(attr, link->master_kind, sizeof(link->master_kind));
			break;
		case IFLA_INFO_DATA:
			data = attr;
			break;
		case IFLA_INFO_SLAVE_DATA:
			slave_data = attr;
			break;
		}
	}
	if (data && strcmp(link->kind, "bridge") == 0)
		rc = take_bridge_data(data, link);
	if (slave_data && strcmp(link->master_kind, "bridge") == 0)
		mnl_attr_for_each_nested(attr, slave_data)
			if (rc == 0 && mnl_attr_get_type(attr) == IFLA_BRPORT_NO)
				rc = attribute_u16(attr, &link->bridge_port);
	return rc;
}

/* The flag IFF_PROMISC tells only of people who asked for it; this also of bridges and programs. */
static int
take_promiscuity(const struct nlattr *attr, struct rtnl_link *link)
{
	uint32_t users;
	int rc = attribute_u32(attr, &users);

	link->promiscuous = rc == 0 && users > 0;
	return rc;
}

static int
take_link_attribute(const struct nlattr *attr, struct rtnl_link *link, bool *elsewhere)
{
	switch (mnl_attr_get_type(attr)) {
	case IFLA_IFNAME:
		attribute_text(attr, link->name, sizeof(link->name));
		return 0;
	case IFLA_PROMISCUITY:
		return take_promiscuity(attr, link);
	case IFLA_IFALIAS:
		attribute_text(attr, link->alias, sizeof(link->alias));
		return 0;
	case IFLA_ADDRESS:
		(void)get_mac(attr, link->mac); /* an address of another length is ignored: not Ethernet */
		return 0;
	case IFLA_MTU:
		return attribute_u32(attr, &link->mtu_octets);
	case IFLA_OPERSTATE:
		return attribute_u8(attr, &link->oper_state);
	case IFLA_MASTER:
		return attribute_u32(attr, &link->master);
	case IFLA_LINK:
		return attribute_u32(attr, &link->lower);
	case IFLA_PHYS_SWITCH_ID:
		return get_switch_id(attr, &link->switch_id);
	case IFLA_LINK_NETNSID:
		*elsewhere = true;
		return 0;
	case IFLA_WIRELESS: /* a radio's event (a scan has ended, …), which has the link's name and nothing else of it */
		return -ENOMSG;
	case IFLA_LINKINFO:
		return take_link_info(attr, link);
	case IFLA_STATS64:
		copy_stats(attr, &link->stats);
		link->has_stats = true;
		return 0;
	default:
		return 0;
	}
}

int
rtnl_parse_link(const struct nlmsghdr *message, struct rtnl_link *link)
{
	const struct ifinfomsg *head = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr;
	bool elsewhere = false; /* the link below is in another network namespace */
	int rc = 0;

	if (message->nlmsg_type != RTM_NEWLINK && message->nlmsg_type != RTM_DELLINK)
		return -ENOMSG;
	if (mnl_nlmsg_get_payload_len(message) < sizeof(*head))
		return -EPROTO;
	/* A bridge's notice about its port does not describe the link, not even its removal. */
	if (head->ifi_family != AF_UNSPEC)
		return -ENOMSG;
	if (head->ifi_index <= 0)
		return -EPROTO;
	*link = (struct rtnl_link){
	    .gone = message->nlmsg_type == RTM_DELLINK,
	    .kernel_index = (uint32_t)head->ifi_index,
	    .hardware_type = head->ifi_type,
	    .flags = head->ifi_flags,
	};
	mnl_attr_for_each(attr, message, sizeof(*head))
		if (rc == 0)
			rc = take_link_attribute(attr, link, &elsewhere);
	/* Kernels before 6.1 tell no kind of a DSA port. */
	if (!elsewhere && (strcmp(link->kind, "dsa") == 0 || (link->kind[0] == '\0' && link->switch_id.n_octets > 0)))
		link->conduit = link->lower;
	/* Of other kinds this is a peer (veth), or what carries a tunnel. */
	if (elsewhere || (strcmp(link->kind, "vlan") != 0 && strcmp(link->kind, "ipoib") != 0))
		link->lower = 0;
	return rc < 0 ? rc : link->name[0] == '\0' ? -EPROTO : 0;
}

bool
rtnl_is_of_bridge(const struct nlmsghdr *message)
{
	const struct ifinfomsg *head = mnl_nlmsg_get_payload(message);

	return (message->nlmsg_type == RTM_NEWLINK || message->nlmsg_type == RTM_DELLINK) &&
	    mnl_nlmsg_get_payload_len(message) >= sizeof(*head) && head->ifi_family == AF_BRIDGE;
}

static bool
take_cpu_stats(const struct nlattr *nest, struct rtnl_link_stats64 *stats)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) == IFLA_OFFLOAD_XSTATS_CPU_HIT) {
			copy_stats(attr, stats);
			return true;
		}
	return false;
}

int
rtnl_parse_stats(const struct nlmsghdr *message, struct rtnl_stats *stats, uint32_t *kernel_index)
{
	const struct if_stats_msg *head = mnl_nlmsg_get_payload(message);
	struct rtnl_stats parsed = {0};
	const struct nlattr *attr;
	bool has_link = false;

	if (message->nlmsg_type != RTM_NEWSTATS)
		return -ENOMSG;
	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct if_stats_msg))
		return -EPROTO;
	mnl_attr_for_each(attr, message, sizeof(struct if_stats_msg)) {
		if (mnl_attr_get_type(attr) == IFLA_STATS_LINK_64) {
			copy_stats(attr, &parsed.link);
			has_link = true;
		} else if (mnl_attr_get_type(attr) == IFLA_STATS_LINK_OFFLOAD_XSTATS) {
			parsed.has_cpu = take_cpu_stats(attr, &parsed.cpu);
		}
	}
	if (!has_link)
		return -EPROTO;
	*stats = parsed;
	*kernel_index = head->ifindex;
	return 0;
}

static int
take_queue_stats(const struct nlattr *nest, struct rtnl_queue *queue)
{
	struct gnet_stats_queue stats;
	const struct nlattr *attr;
	int rc = -ENOMSG;

	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) == TCA_STATS_QUEUE)
			rc = attribute_copy(attr, &stats, sizeof(stats));
	if (rc == 0)
		queue->dropped_pkts = stats.drops;
	return rc;
}

int
rtnl_parse_queue(const struct nlmsghdr *message, struct rtnl_queue *queue)
{
	const struct tcmsg *head = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr;
	int rc = -ENOMSG;

	if (message->nlmsg_type != RTM_NEWQDISC)
		return -ENOMSG;
	if (mnl_nlmsg_get_payload_len(message) < sizeof(*head))
		return -EPROTO;
	if (head->tcm_parent != TC_H_ROOT)
		return -ENOMSG;
	*queue = (struct rtnl_queue){.kernel_index = (uint32_t)head->tcm_ifindex, .handle = head->tcm_handle};
	mnl_attr_for_each(attr, message, sizeof(*head))
		if (mnl_attr_get_type(attr) == TCA_STATS2)
			rc = take_queue_stats(attr, queue);
	return rc;
}

/* ---- a bridge's addresses ---- */

int
rtnl_parse_neighbour(const struct nlmsghdr *message, struct rtnl_neighbour *neighbour)
{
	const struct ndmsg *head = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr;
	bool has_mac = false;
	int rc = 0;

	if (message->nlmsg_type != RTM_NEWNEIGH && message->nlmsg_type != RTM_DELNEIGH)
		return -ENOMSG;
	if (mnl_nlmsg_get_payload_len(message) < sizeof(*head))
		return -EPROTO;
	if (head->ndm_family != AF_BRIDGE) /* ARP's and ND's neighbours come by the same group */
		return -ENOMSG;
	*neighbour = (struct rtnl_neighbour){
	    .gone = message->nlmsg_type == RTM_DELNEIGH,
	    .kernel_index = (uint32_t)head->ndm_ifindex,
	    .state = head->ndm_state,
	    .flags = head->ndm_flags,
	};
	mnl_attr_for_each(attr, message, sizeof(*head)) {
		switch (mnl_attr_get_type(attr)) {
		case NDA_LLADDR:
			rc = get_mac(attr, neighbour->mac);
			has_mac = rc == 0;
			break;
		case NDA_MASTER:
			rc = attribute_u32(attr, &neighbour->master);
			break;
		case NDA_VLAN:
			rc = attribute_u16(attr, &neighbour->vlan);
			break;
		}
		if (rc < 0)
			return rc;
	}
	return has_mac ? 0 : -ENOMSG;
}

/* ---- VLANs of bridge ports ---- */

enum { VID_MAX = 4094 };

static int
rtnl_add_range(struct bridge_vlans *vlans, const struct bridge_vlan_range *range)
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
	rc = rtnl_add_range(vlans, range);
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
