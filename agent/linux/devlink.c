#include "agent/linux/devlink.h"

#include "agent/linux/attribute.h"

#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <stdio.h>

enum { TEXT_MAX = 30 }; /* of a bus or a device; longer ones are cut */

static int
devlink_check_command(const struct nlmsghdr *message, uint8_t command)
{
	const struct genlmsghdr *head = mnl_nlmsg_get_payload(message);

	if (message->nlmsg_type < NLMSG_MIN_TYPE)
		return -ENOMSG;
	if (mnl_nlmsg_get_payload_len(message) < sizeof(*head))
		return -EPROTO;
	return head->cmd == command ? 0 : -ENOMSG;
}

int
devlink_parse_port(const struct nlmsghdr *message, struct devlink_port *port)
{
	char bus[TEXT_MAX + 1] = "", device[TEXT_MAX + 1] = "";
	struct devlink_port parsed = {0};
	const struct nlattr *attr;
	uint32_t index = 0;
	int rc = devlink_check_command(message, DEVLINK_CMD_PORT_NEW);

	if (rc < 0)
		return rc;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case DEVLINK_ATTR_BUS_NAME:
			attribute_text(attr, bus, sizeof(bus));
			break;
		case DEVLINK_ATTR_DEV_NAME:
			attribute_text(attr, device, sizeof(device));
			break;
		case DEVLINK_ATTR_PORT_INDEX:
			rc = attribute_u32(attr, &index);
			break;
		case DEVLINK_ATTR_PORT_NETDEV_IFINDEX:
			rc = attribute_u32(attr, &parsed.kernel_index);
			break;
		case DEVLINK_ATTR_PORT_FLAVOUR:
			rc = attribute_u16(attr, &parsed.flavour);
			parsed.has_flavour = rc == 0;
			break;
		}
		if (rc < 0)
			return rc;
	}
	snprintf(parsed.name, sizeof(parsed.name), "%.26s/%.25s/%u", bus, device, index);
	*port = parsed;
	return 0;
}

/* ---- traps ---- */

static int
take_trap_counters(const struct nlattr *nest, struct devlink_trap *trap)
{
	const struct nlattr *attr;
	int rc = 0;

	mnl_attr_for_each_nested(attr, nest) {
		if (rc == 0 && mnl_attr_get_type(attr) == DEVLINK_ATTR_STATS_RX_PACKETS)
			rc = attribute_u64(attr, &trap->pkts);
		if (rc < 0 || mnl_attr_get_type(attr) != DEVLINK_ATTR_STATS_RX_DROPPED)
			continue;
		rc = attribute_u64(attr, &trap->dropped_pkts);
		trap->has_dropped = rc == 0;
	}
	return rc;
}

int
devlink_parse_trap(const struct nlmsghdr *message, struct devlink_trap *trap)
{
	char bus[TEXT_MAX + 1] = "", device[TEXT_MAX + 1] = "";
	int rc = devlink_check_command(message, DEVLINK_CMD_TRAP_NEW);
	struct devlink_trap parsed = {0};
	const struct nlattr *attr;
	uint8_t type = DEVLINK_TRAP_TYPE_CONTROL;

	if (rc < 0)
		return rc;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case DEVLINK_ATTR_BUS_NAME:
			attribute_text(attr, bus, sizeof(bus));
			break;
		case DEVLINK_ATTR_DEV_NAME:
			attribute_text(attr, device, sizeof(device));
			break;
		case DEVLINK_ATTR_TRAP_NAME:
			attribute_text(attr, parsed.name, sizeof(parsed.name));
			break;
		case DEVLINK_ATTR_TRAP_GROUP_NAME:
			attribute_text(attr, parsed.group, sizeof(parsed.group));
			break;
		case DEVLINK_ATTR_TRAP_ACTION:
			rc = attribute_u8(attr, &parsed.action);
			break;
		case DEVLINK_ATTR_TRAP_TYPE:
			rc = attribute_u8(attr, &type);
			break;
		case DEVLINK_ATTR_STATS:
			rc = take_trap_counters(attr, &parsed);
			break;
		}
		if (rc < 0)
			return rc;
	}
	parsed.is_of_drops = type != DEVLINK_TRAP_TYPE_CONTROL;
	snprintf(parsed.device, sizeof(parsed.device), "%s/%s", bus, device);
	*trap = parsed;
	return 0;
}
