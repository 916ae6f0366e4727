#include "agent/linux/drop_monitor.h"

#include "agent/linux/attribute.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/net_dropmon.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- messages ---- */

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
monitor_take_attribute(const struct nlattr *attr, void *ctx)
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
parse_attributes(const struct nlmsghdr *message, uint16_t type, uint8_t command, uint32_t needed,
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
	rc = parse_attributes(message, type, NET_DM_CMD_PACKET_ALERT, BIT(NET_DM_ATTR_ORIGIN) | BIT(NET_DM_ATTR_ORIG_LEN),
	    monitor_take_attribute, record);
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
	return parse_attributes(message, type, NET_DM_CMD_STATS_NEW, BIT(NET_DM_ATTR_STATS), take_lost, lost);
}

static int
monitor_take_config(const struct nlattr *attr, void *ctx)
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
	return parse_attributes(message, type, NET_DM_CMD_CONFIG_NEW,
	    BIT(NET_DM_ATTR_ALERT_MODE) | BIT(NET_DM_ATTR_TRUNC_LEN) | BIT(NET_DM_ATTR_QUEUE_LEN), monitor_take_config,
	    config);
}

/* ---- the monitor ---- */

#define FAMILY "NET_DM"
#define GROUP "events" /* net/core/drop_monitor.c; it is in no header */

enum {
	VERSION = 2,
	/* Of each processor. Nobody else sets just this length: by it an agent finds what one that was killed left. */
	QUEUE_PKTS = 4099,
	KERNELS_QUEUE_PKTS = 1000, /* unless somebody sets another */
	SOCKET_OCTETS = 4 << 20,
};

struct request {
	uint8_t octets[NETLINK_MESSAGE_MAX] __attribute__((aligned(8)));
	struct nlmsghdr *message;
};

static void
begin_request(const struct drop_monitor *m, struct request *request, uint8_t command)
{
	struct genlmsghdr *head;

	request->message = netlink_begin(request->octets, m->type, 0, sizeof(*head));
	head = mnl_nlmsg_get_payload(request->message);
	head->cmd = command;
	head->version = VERSION;
}

int
drop_monitor_open(struct netlink *generic, struct drop_monitor *m)
{
	unsigned groups[2] = {0};
	int rc;

	*m = (struct drop_monitor){.generic = generic, .fd = -1};
	if (!generic)
		return -ENOENT;
	rc = netlink_family(generic, FAMILY, &m->type); /* loads the module */
	if (rc == 0)
		rc = netlink_group(generic, FAMILY, GROUP, &groups[0]);
	return rc < 0 ? rc : netlink_listen(NETLINK_GENERIC, groups, SOCKET_OCTETS, &m->fd);
}

/* ---- starting and stopping ---- */

static int
receive_config(void *ctx, const struct nlmsghdr *message)
{
	struct drop_monitor *m = ((void **)ctx)[0];

	return drop_message_parse_config(message, m->type, ((void **)ctx)[1]);
}

static int
switch_drops(const struct drop_monitor *m, uint8_t command, bool software, bool hardware)
{
	struct request request;

	begin_request(m, &request, command);
	if (software)
		mnl_attr_put(request.message, NET_DM_ATTR_SW_DROPS, 0, NULL);
	if (hardware)
		mnl_attr_put(request.message, NET_DM_ATTR_HW_DROPS, 0, NULL);
	return netlink_request(m->generic, request.message, NULL, NULL);
}

static int
configure_messages(const struct drop_monitor *m, const struct drop_message_config *config)
{
	struct request request;

	begin_request(m, &request, NET_DM_CMD_CONFIG);
	mnl_attr_put_u8(request.message, NET_DM_ATTR_ALERT_MODE,
	    config->by_packet ? NET_DM_ALERT_MODE_PACKET : NET_DM_ALERT_MODE_SUMMARY);
	mnl_attr_put_u32(request.message, NET_DM_ATTR_TRUNC_LEN, config->kept_octets);
	mnl_attr_put_u32(request.message, NET_DM_ATTR_QUEUE_LEN, config->queue_pkts);
	return netlink_request(m->generic, request.message, NULL, NULL);
}

/* Reads how the monitor is set. A setting that an agent left is none to come back to. */
static int
read_config(struct drop_monitor *m, bool *is_agents)
{
	static const struct drop_message_config kernels = {.queue_pkts = KERNELS_QUEUE_PKTS};
	void *ctx[] = {m, &m->before};
	struct request request;
	int rc;

	begin_request(m, &request, NET_DM_CMD_CONFIG_GET);
	rc = netlink_request_retry(m->generic, request.message, receive_config, ctx);
	*is_agents = rc == 0 && m->before.by_packet && m->before.queue_pkts == QUEUE_PKTS;
	if (*is_agents)
		m->before = kernels;
	return rc;
}

/* A setting that names nothing is refused while the monitor runs, and changes nothing. */
int
drop_monitor_probe(struct drop_monitor *m)
{
	struct request request;

	begin_request(m, &request, NET_DM_CMD_CONFIG);
	return netlink_request(m->generic, request.message, NULL, NULL);
}

int
drop_monitor_start(struct drop_monitor *m, uint32_t kept_octets)
{
	struct drop_message_config config = {.by_packet = true, .kept_octets = kept_octets, .queue_pkts = QUEUE_PKTS};
	bool is_agents;
	uint64_t lost;
	int rc = read_config(m, &is_agents);

	if (rc == 0)
		rc = configure_messages(m, &config);
	if (rc == -EBUSY && is_agents) {
		(void)switch_drops(m, NET_DM_CMD_STOP, true, true);
		rc = configure_messages(m, &config);
	}
	if (rc == 0)
		rc = switch_drops(m, NET_DM_CMD_START, true, false);
	if (rc < 0) /* -EAGAIN: somebody was faster */
		return rc == -EAGAIN ? -EBUSY : rc;
	m->software = true;
	m->hardware = switch_drops(m, NET_DM_CMD_START, false, true) == 0;
	return drop_monitor_lost(m, &lost); /* what was lost before is not ours */
}

bool
drop_monitor_is_started(const struct drop_monitor *m)
{
	return m->software || m->hardware;
}

void
drop_monitor_close(struct drop_monitor *m)
{
	if (drop_monitor_is_started(m)) {
		(void)switch_drops(m, NET_DM_CMD_STOP, m->software, m->hardware);
		(void)configure_messages(m, &m->before);
	}
	m->software = m->hardware = false;
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

/* ---- losses ---- */

static int
receive_lost(void *ctx, const struct nlmsghdr *message)
{
	struct drop_monitor *m = ((void **)ctx)[0];

	return drop_message_parse_lost(message, m->type, ((void **)ctx)[1]);
}

/* Each message is one packet. */
static uint32_t
socket_lost(const struct drop_monitor *m)
{
	uint32_t values[SK_MEMINFO_VARS] = {0};
	socklen_t size = sizeof(values);

	if (getsockopt(m->fd, SOL_SOCKET, SO_MEMINFO, values, &size) < 0)
		return m->socket_lost;
	return values[SK_MEMINFO_DROPS];
}

int
drop_monitor_lost(struct drop_monitor *m, uint64_t *pkts)
{
	struct drop_message_lost now = {0};
	uint32_t in_socket = socket_lost(m);
	void *ctx[] = {m, &now};
	struct request request;
	int rc;

	begin_request(m, &request, NET_DM_CMD_STATS_GET);
	*pkts = 0;
	rc = netlink_request_retry(m->generic, request.message, receive_lost, ctx);
	if (rc < 0)
		return rc;
	*pkts = now.software - m->lost.software + now.hardware - m->lost.hardware + (in_socket - m->socket_lost);
	m->lost = now;
	m->socket_lost = in_socket;
	return 0;
}
