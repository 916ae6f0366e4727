#include "agent/linux/drop_message.h"

#include "agent/linux/attribute.h"

#include <linux/genetlink.h>
#include <linux/net_dropmon.h>

/* The attributes that a message must have, a bit each. */
#define BIT(attr) (1u << (attr))

static int
take_text(const struct nlattr *attr, const char **text)
{
	if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) < 0)
		return -EPROTO;
	*text = mnl_attr_get_str(attr);
	return 0;
}

/* Attributes inside of an attribute, up to its end. */
static int
take_nested_u32(const struct nlattr *nest, uint16_t type, uint32_t *value)
{
	const struct nlattr *attr;
	int rc = 0;

	mnl_attr_for_each_nested(attr, nest)
		if (rc == 0 && mnl_attr_get_type(attr) == type)
			rc = attribute_u32(attr, value);
	return rc;
}

static int
take_nested_u64(const struct nlattr *nest, uint16_t type, uint64_t *value)
{
	const struct nlattr *attr;
	int rc = 0;

	mnl_attr_for_each_nested(attr, nest)
		if (rc == 0 && mnl_attr_get_type(attr) == type)
			rc = attribute_u64(attr, value);
	return rc;
}

static int
take_attribute(const struct nlattr *attr, void *ctx)
{
	struct drop_record *record = ctx;
	uint16_t origin;
	int rc;

	switch (mnl_attr_get_type(attr)) {
	case NET_DM_ATTR_ORIGIN:
		rc = attribute_u16(attr, &origin);
		record->hardware = rc == 0 && origin == NET_DM_ORIGIN_HW;
		return rc;
	case NET_DM_ATTR_IN_PORT: /* its numbers begin with 0 */
		return take_nested_u32(attr, NET_DM_ATTR_PORT_NETDEV_IFINDEX, &record->kernel_index);
	case NET_DM_ATTR_TIMESTAMP:
		return attribute_u64(attr, &record->time_ns);
	case NET_DM_ATTR_ORIG_LEN:
		return attribute_u32(attr, &record->packet_octets);
	case NET_DM_ATTR_REASON:
		return take_text(attr, &record->reason);
	case NET_DM_ATTR_SYMBOL:
		return take_text(attr, &record->symbol);
	case NET_DM_ATTR_HW_TRAP_NAME:
		return take_text(attr, &record->trap);
	case NET_DM_ATTR_HW_TRAP_GROUP_NAME:
		return take_text(attr, &record->group);
	case NET_DM_ATTR_PAYLOAD:
		record->octets = mnl_attr_get_payload(attr);
		record->kept_octets = mnl_attr_get_payload_len(attr);
		return 0;
	}
	return 0;
}

/* Reads the attributes of a message of the command, of which all in needed must be there. */
static int
parse(const struct nlmsghdr *message, uint16_t type, uint8_t command, uint32_t needed,
    int (*take)(const struct nlattr *attr, void *ctx), void *ctx)
{
	const struct genlmsghdr *head = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr;
	uint32_t seen = 0;
	int rc;

	if (message->nlmsg_type != type)
		return -ENOMSG;
	if (mnl_nlmsg_get_payload_len(message) < sizeof(*head))
		return -EPROTO;
	if (head->cmd != command)
		return -ENOMSG;
	mnl_attr_for_each(attr, message, sizeof(*head)) {
		rc = take(attr, ctx);
		if (rc < 0)
			return rc;
		if (mnl_attr_get_type(attr) <= NET_DM_ATTR_MAX)
			seen |= BIT(mnl_attr_get_type(attr));
	}
	return (seen & needed) == needed ? 0 : -EPROTO;
}

int
drop_message_parse(const struct nlmsghdr *message, uint16_t type, struct drop_record *record)
{
	int rc;

	*record = (struct drop_record){.reason = "", .symbol = "", .trap = "", .group = ""};
	rc = parse(message, type, NET_DM_CMD_PACKET_ALERT, BIT(NET_DM_ATTR_ORIGIN) | BIT(NET_DM_ATTR_ORIG_LEN),
	    take_attribute, record);
	if (rc == 0 && record->kept_octets > record->packet_octets)
		return -EPROTO;
	return rc == 0 && record->hardware && !record->trap[0] ? -EPROTO : rc;
}

static int
take_lost(const struct nlattr *attr, void *ctx)
{
	struct drop_message_lost *lost = ctx;

	if (mnl_attr_get_type(attr) == NET_DM_ATTR_STATS)
		return take_nested_u64(attr, NET_DM_ATTR_STATS_DROPPED, &lost->software);
	if (mnl_attr_get_type(attr) == NET_DM_ATTR_HW_STATS)
		return take_nested_u64(attr, NET_DM_ATTR_STATS_DROPPED, &lost->hardware);
	return 0;
}

int
drop_message_parse_lost(const struct nlmsghdr *message, uint16_t type, struct drop_message_lost *lost)
{
	*lost = (struct drop_message_lost){0};
	return parse(message, type, NET_DM_CMD_STATS_NEW, BIT(NET_DM_ATTR_STATS), take_lost, lost);
}

static int
take_config(const struct nlattr *attr, void *ctx)
{
	struct drop_message_config *config = ctx;
	uint8_t mode;
	int rc;

	switch (mnl_attr_get_type(attr)) {
	case NET_DM_ATTR_ALERT_MODE:
		rc = attribute_u8(attr, &mode);
		config->by_packet = rc == 0 && mode == NET_DM_ALERT_MODE_PACKET;
		return rc;
	case NET_DM_ATTR_TRUNC_LEN:
		return attribute_u32(attr, &config->kept_octets);
	case NET_DM_ATTR_QUEUE_LEN:
		return attribute_u32(attr, &config->queue_pkts);
	}
	return 0;
}

int
drop_message_parse_config(const struct nlmsghdr *message, uint16_t type, struct drop_message_config *config)
{
	*config = (struct drop_message_config){0};
	return parse(message, type, NET_DM_CMD_CONFIG_NEW,
	    BIT(NET_DM_ATTR_ALERT_MODE) | BIT(NET_DM_ATTR_TRUNC_LEN) | BIT(NET_DM_ATTR_QUEUE_LEN), take_config,
	    config);
}
