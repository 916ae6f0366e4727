#include "agent/linux/devlink.h"

#include "agent/linux/attribute.h"

#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <stdio.h>

enum { TEXT_MAX = 30 }; /* of a bus or a device; longer ones are cut */

static void
copy_text(const struct nlattr *attr, char text[TEXT_MAX + 1])
{
	size_t n = strnlen(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr));

	if (n > TEXT_MAX)
		n = TEXT_MAX;
	memcpy(text, mnl_attr_get_payload(attr), n);
	text[n] = '\0';
}

int
devlink_parse_port(const struct nlmsghdr *message, struct devlink_port *port)
{
	const struct genlmsghdr *head = mnl_nlmsg_get_payload(message);
	char bus[TEXT_MAX + 1] = "", device[TEXT_MAX + 1] = "";
	struct devlink_port parsed = {0};
	const struct nlattr *attr;
	uint32_t index = 0;
	int rc = 0;

	if (message->nlmsg_type < NLMSG_MIN_TYPE)
		return -ENOMSG;
	if (mnl_nlmsg_get_payload_len(message) < sizeof(*head))
		return -EPROTO;
	if (head->cmd != DEVLINK_CMD_PORT_NEW)
		return -ENOMSG;
	mnl_attr_for_each(attr, message, sizeof(*head)) {
		switch (mnl_attr_get_type(attr)) {
		case DEVLINK_ATTR_BUS_NAME:
			copy_text(attr, bus);
			break;
		case DEVLINK_ATTR_DEV_NAME:
			copy_text(attr, device);
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
