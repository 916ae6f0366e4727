#include "agent/linux/kernel_requests.h"

#include "agent/linux/netlink.h"
#include "common/log.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { DUMP_TRIES = 8 }; /* of a dump during which the table changes */

/* The octets of a request, aligned as netlink requires. */
struct request {
	uint8_t octets[NETLINK_MESSAGE_MAX] __attribute__((aligned(8)));
};

static int
find_ethtool(struct kernel_requests *kernel)
{
	int rc = netlink_family(kernel->generic, ETHTOOL_GENL_NAME, &kernel->ethtool);

	for (int tries = 1; tries < NETLINK_TRIES && netlink_reply_lost(rc); tries++)
		rc = netlink_family(kernel->generic, ETHTOOL_GENL_NAME, &kernel->ethtool);
	if (rc < 0)
		kernel->ethtool = 0;
	return rc;
}

int
kernel_open(struct kernel_requests *kernel)
{
	int rc;

	*kernel = (struct kernel_requests){0};
	rc = netlink_open(NETLINK_ROUTE, &kernel->route);
	if (rc == 0)
		rc = netlink_open(NETLINK_ROUTE, &kernel->addresses);
	if (rc < 0)
		return rc;
	rc = netlink_open_retry(NETLINK_GENERIC, &kernel->generic);
	if (rc == 0)
		rc = find_ethtool(kernel);
	if (rc < 0)
		log_warn("linux", "no ethtool netlink in this kernel (%s): speed, duplex and what drivers count are not known", strerror(-rc));
	return 0;
}

void
kernel_close(struct kernel_requests *kernel)
{
	netlink_close(kernel->route);
	netlink_close(kernel->addresses);
	netlink_close(kernel->generic);
	*kernel = (struct kernel_requests){0};
}

/* ---- all links ---- */

struct link_list {
	struct rtnl_link *links;
	size_t n, room;
};

static int
kernel_take_link(void *ctx, const struct nlmsghdr *message)
{
	struct link_list *list = ctx;
	struct rtnl_link *grown;
	int rc;

	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 64;

		grown = realloc(list->links, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		list->links = grown;
		list->room = room;
	}
	rc = rtnl_parse_link(message, &list->links[list->n]);
	if (rc == 0)
		list->n++;
	return rc == -ENOMSG ? 0 : rc;
}

int
kernel_get_links(struct kernel_requests *kernel, struct rtnl_link **links, size_t *n)
{
	struct link_list list = {0};
	struct request q;
	int rc = -EAGAIN;

	for (int tries = 0; tries < DUMP_TRIES && rc == -EAGAIN; tries++) {
		struct nlmsghdr *request =
		    netlink_begin(&q, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg));

		list.n = 0;
		rc = netlink_request(kernel->route, request, kernel_take_link, &list);
	}
	if (rc < 0 && rc != -EAGAIN) {
		free(list.links);
		return rc;
	}
	*links = list.links;
	*n = list.n;
	return rc == -EAGAIN;
}

/* ---- VLANs of bridge ports ---- */

static int
take_vlans(void *ctx, const struct nlmsghdr *message)
{
	int rc = bridge_vlans_take(ctx, message);

	return rc == -ENOMSG ? 0 : rc;
}

int
kernel_get_vlans(struct kernel_requests *kernel, struct bridge_vlans *vlans)
{
	struct request q;
	int rc = -EAGAIN;

	*vlans = (struct bridge_vlans){0};
	for (int tries = 0; tries < DUMP_TRIES && rc == -EAGAIN; tries++) {
		struct nlmsghdr *request =
		    netlink_begin(&q, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg));
		struct ifinfomsg *head = mnl_nlmsg_get_payload(request);

		head->ifi_family = AF_BRIDGE;
		mnl_attr_put_u32(request, IFLA_EXT_MASK, RTEXT_FILTER_BRVLAN_COMPRESSED);
		vlans->n = 0;
		rc = netlink_request(kernel->route, request, take_vlans, vlans);
	}
	if (rc < 0)
		bridge_vlans_free(vlans);
	return rc;
}

/* ---- addresses ---- */

int
kernel_start_neighbours(struct kernel_requests *kernel)
{
	struct request q;
	struct nlmsghdr *request =
	    netlink_begin(&q, RTM_GETNEIGH, NLM_F_DUMP, sizeof(struct ndmsg));
	struct ndmsg *head = mnl_nlmsg_get_payload(request);

	head->ndm_family = AF_BRIDGE;
	return netlink_start(kernel->addresses, request);
}

int
kernel_continue_neighbours(struct kernel_requests *kernel, unsigned max, netlink_handler take, void *ctx)
{
	return netlink_continue(kernel->addresses, max, take, ctx);
}

/* ---- one link ---- */

static int
take_stats(void *ctx, const struct nlmsghdr *message)
{
	uint32_t kernel_index;

	return rtnl_parse_stats(message, ctx, &kernel_index);
}

int
kernel_get_stats(struct kernel_requests *kernel, uint32_t kernel_index, bool of_chip, struct rtnl_stats *stats)
{
	struct request q;
	struct nlmsghdr *request =
	    netlink_begin(&q, RTM_GETSTATS, NETLINK_ONE_ANSWER, sizeof(struct if_stats_msg));
	struct if_stats_msg *head = mnl_nlmsg_get_payload(request);

	head->ifindex = kernel_index;
	head->filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
	if (of_chip)
		head->filter_mask |= IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_OFFLOAD_XSTATS);
	return netlink_request(kernel->route, request, take_stats, stats);
}

int
kernel_get_all_stats(struct kernel_requests *kernel, netlink_handler take, void *ctx)
{
	struct request q;
	struct nlmsghdr *request = netlink_begin(&q, RTM_GETSTATS, NLM_F_DUMP, sizeof(struct if_stats_msg));
	struct if_stats_msg *head = mnl_nlmsg_get_payload(request);

	head->filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
	return netlink_request(kernel->route, request, take, ctx);
}

int
kernel_get_all_queues(struct kernel_requests *kernel, netlink_handler take, void *ctx)
{
	struct request q;

	return netlink_request(
	    kernel->route, netlink_begin(&q, RTM_GETQDISC, NLM_F_DUMP, sizeof(struct tcmsg)), take, ctx);
}

/* ---- its driver ---- */

static struct nlmsghdr *
begin_ethtool(const struct kernel_requests *kernel, struct request *q, uint8_t command, uint32_t kernel_index,
    uint32_t flags)
{
	struct genlmsghdr *head;
	struct nlmsghdr *request = netlink_begin(q, kernel->ethtool, 0, sizeof(*head));
	struct nlattr *nest;

	head = mnl_nlmsg_get_payload(request);
	head->cmd = command;
	head->version = ETHTOOL_GENL_VERSION;
	/* The header attribute has the same number in all requests except that for statistics. */
	nest = mnl_attr_nest_start(request,
	    command == ETHTOOL_MSG_STATS_GET ? (uint16_t)ETHTOOL_A_STATS_HEADER
					     : (uint16_t)ETHTOOL_A_LINKMODES_HEADER);
	mnl_attr_put_u32(request, ETHTOOL_A_HEADER_DEV_INDEX, kernel_index);
	mnl_attr_put_u32(request, ETHTOOL_A_HEADER_FLAGS, flags);
	mnl_attr_nest_end(request, nest);
	return request;
}

/* It is not a failure if a driver does not know something, or the link is gone. */
static void
request_driver(struct kernel_requests *kernel, struct nlmsghdr *request, netlink_handler take, void *ctx)
{
	int rc = netlink_request_retry(kernel->generic, request, take, ctx);

	if (netlink_reply_lost(rc) && kernel->failed)
		atomic_fetch_add(kernel->failed, 1);
}

static int
take_modes(void *ctx, const struct nlmsghdr *message)
{
	return ethtool_parse_modes(message, ctx);
}

void
kernel_get_modes(struct kernel_requests *kernel, uint32_t kernel_index, struct ethtool_modes *modes)
{
	struct request q;

	*modes = (struct ethtool_modes){.duplex = EASE_DUPLEX_UNKNOWN};
	if (kernel->ethtool != 0)
		request_driver(kernel,
		    begin_ethtool(kernel, &q, ETHTOOL_MSG_LINKMODES_GET, kernel_index,
			ETHTOOL_FLAG_COMPACT_BITSETS), take_modes, modes);
}

struct pause_answer {
	struct ethtool_pause pause;
	struct hal_counters figures;
};

static int
kernel_take_pause(void *ctx, const struct nlmsghdr *message)
{
	struct pause_answer *answer = ctx;

	return ethtool_parse_pause(message, &answer->pause, &answer->figures);
}

static struct pause_answer
get_pause_with(struct kernel_requests *kernel, uint32_t kernel_index, uint32_t flags)
{
	struct pause_answer answer = {0};
	struct request q;

	if (kernel->ethtool != 0)
		request_driver(kernel,
		    begin_ethtool(kernel, &q, ETHTOOL_MSG_PAUSE_GET, kernel_index, flags), kernel_take_pause,
		    &answer);
	return answer;
}

void
kernel_get_pause(struct kernel_requests *kernel, uint32_t kernel_index, struct ethtool_pause *pause)
{
	*pause = get_pause_with(kernel, kernel_index, 0).pause;
}

static int
take_eee(void *ctx, const struct nlmsghdr *message)
{
	return ethtool_parse_eee(message, ctx);
}

void
kernel_get_eee(struct kernel_requests *kernel, uint32_t kernel_index, uint8_t *state)
{
	struct request q;

	*state = HAL_EEE_NOT_KNOWN;
	if (kernel->ethtool != 0)
		request_driver(kernel, begin_ethtool(kernel, &q, ETHTOOL_MSG_EEE_GET,
		    kernel_index, ETHTOOL_FLAG_COMPACT_BITSETS), take_eee, state);
}

static int
take_module(void *ctx, const struct nlmsghdr *message)
{
	return ethtool_parse_module(message, ctx, MODULE_PAGE_OCTETS);
}

int
kernel_get_module(struct kernel_requests *kernel, uint32_t kernel_index, const struct module_page *page,
    uint8_t octets[MODULE_PAGE_OCTETS])
{
	struct nlmsghdr *request;
	struct request q;

	if (kernel->ethtool == 0)
		return -EOPNOTSUPP;
	request = begin_ethtool(kernel, &q, ETHTOOL_MSG_MODULE_EEPROM_GET, kernel_index, 0);
	mnl_attr_put_u32(request, ETHTOOL_A_MODULE_EEPROM_OFFSET, page->offset);
	mnl_attr_put_u32(request, ETHTOOL_A_MODULE_EEPROM_LENGTH, MODULE_PAGE_OCTETS);
	mnl_attr_put_u8(request, ETHTOOL_A_MODULE_EEPROM_PAGE, page->page);
	mnl_attr_put_u8(request, ETHTOOL_A_MODULE_EEPROM_BANK, 0);
	mnl_attr_put_u8(request, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, page->i2c_address);
	return netlink_request_retry(kernel->generic, request, take_module, octets);
}

static int
take_driver_stats(void *ctx, const struct nlmsghdr *message)
{
	return ethtool_parse_stats(message, ctx);
}

void
kernel_get_driver_stats(struct kernel_requests *kernel, uint32_t kernel_index, struct hal_counters *figures)
{
	static const uint32_t groups = 1u << ETHTOOL_STATS_ETH_PHY | 1u << ETHTOOL_STATS_ETH_MAC |
	    1u << ETHTOOL_STATS_ETH_CTRL | 1u << ETHTOOL_STATS_RMON;
	struct nlmsghdr *request;
	struct nlattr *bitset;
	struct request q;

	*figures = get_pause_with(kernel, kernel_index, ETHTOOL_FLAG_STATS).figures;
	if (kernel->ethtool == 0)
		return;
	request = begin_ethtool(kernel, &q, ETHTOOL_MSG_STATS_GET, kernel_index, ETHTOOL_FLAG_COMPACT_BITSETS);
	bitset = mnl_attr_nest_start(request, ETHTOOL_A_STATS_GROUPS);
	mnl_attr_put(request, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	mnl_attr_put_u32(request, ETHTOOL_A_BITSET_SIZE, ETHTOOL_STATS_RMON + 1);
	mnl_attr_put_u32(request, ETHTOOL_A_BITSET_VALUE, groups);
	mnl_attr_nest_end(request, bitset);
	request_driver(kernel, request, take_driver_stats, figures);
}

static int
dump_devlink(struct kernel_requests *kernel, uint8_t command, netlink_handler take, void *ctx,
    int (*exchange)(struct netlink *netlink, struct nlmsghdr *request, netlink_handler take, void *ctx))
{
	struct nlmsghdr *request;
	struct genlmsghdr *head;
	struct request q;
	uint16_t type;
	int rc = kernel->generic ? netlink_family(kernel->generic, DEVLINK_GENL_NAME, &type) : -ENOENT;

	if (rc < 0)
		return rc;
	request = netlink_begin(&q, type, NLM_F_DUMP, sizeof(*head));
	head = mnl_nlmsg_get_payload(request);
	head->cmd = command;
	head->version = DEVLINK_GENL_VERSION;
	return exchange(kernel->generic, request, take, ctx);
}

int
kernel_get_devlink_ports(struct kernel_requests *kernel, netlink_handler take, void *ctx)
{
	return dump_devlink(kernel, DEVLINK_CMD_PORT_GET, take, ctx, netlink_request_retry);
}

int
kernel_get_devlink_traps(struct kernel_requests *kernel, netlink_handler take, void *ctx)
{
	return dump_devlink(kernel, DEVLINK_CMD_TRAP_GET, take, ctx, netlink_request);
}

int
kernel_get_driver_group(struct kernel_requests *kernel, unsigned *group)
{
	if (kernel->ethtool == 0)
		return -ENOENT;
	return netlink_group(kernel->generic, ETHTOOL_GENL_NAME, ETHTOOL_MCGRP_MONITOR_NAME, group);
}

/* ---- changes ---- */

static struct nlmsghdr *
begin_change(struct request *q, uint32_t kernel_index, unsigned change, unsigned flags)
{
	struct nlmsghdr *request = netlink_begin(q, RTM_SETLINK, 0, sizeof(struct ifinfomsg));
	struct ifinfomsg *head = mnl_nlmsg_get_payload(request);

	head->ifi_index = (int)kernel_index;
	head->ifi_change = change;
	head->ifi_flags = flags;
	return request;
}

/* The kernel checks the privilege first. For the loopback it then has nothing to change. */
int
kernel_may_change(struct kernel_requests *kernel)
{
	enum { LOOPBACK = 1 };
	struct request q;
	int rc = netlink_request(kernel->route, begin_change(&q, LOOPBACK, 0, 0), NULL, NULL);

	return rc == -EPERM ? rc : 0;
}

int
kernel_set_up(struct kernel_requests *kernel, uint32_t kernel_index, bool up)
{
	struct request q;
	struct nlmsghdr *request = begin_change(&q, kernel_index, IFF_UP, up ? IFF_UP : 0);

	return netlink_request(kernel->route, request, NULL, NULL);
}

int
kernel_set_alias(struct kernel_requests *kernel, uint32_t kernel_index, const char *alias)
{
	struct request q;
	struct nlmsghdr *request = begin_change(&q, kernel_index, 0, 0);

	/* An alias of no octets removes the alias. */
	mnl_attr_put(request, IFLA_IFALIAS, strlen(alias), alias);
	return netlink_request(kernel->route, request, NULL, NULL);
}

int
kernel_set_ageing(struct kernel_requests *kernel, uint32_t kernel_index, uint32_t ageing_cs)
{
	struct request q;
	struct nlmsghdr *request = begin_change(&q, kernel_index, 0, 0);
	struct nlattr *info, *data;

	request->nlmsg_type = RTM_NEWLINK; /* RTM_SETLINK ignores settings of a link kind */
	info = mnl_attr_nest_start(request, IFLA_LINKINFO);
	mnl_attr_put_strz(request, IFLA_INFO_KIND, "bridge");
	data = mnl_attr_nest_start(request, IFLA_INFO_DATA);
	mnl_attr_put_u32(request, IFLA_BR_AGEING_TIME, ageing_cs);
	mnl_attr_nest_end(request, data);
	mnl_attr_nest_end(request, info);
	return netlink_request(kernel->route, request, NULL, NULL);
}

int
kernel_set_static(struct kernel_requests *kernel, uint32_t kernel_index, const uint8_t mac[6], bool tied)
{
	struct request q;
	struct nlmsghdr *request = netlink_begin(&q, tied ? RTM_NEWNEIGH : RTM_DELNEIGH,
	    tied ? NLM_F_CREATE | NLM_F_REPLACE : 0, sizeof(struct ndmsg));
	struct ndmsg *head = mnl_nlmsg_get_payload(request);

	head->ndm_family = AF_BRIDGE;
	head->ndm_ifindex = (int)kernel_index;
	/* A static entry. Without NTF_STICKY the bridge would still move it to another port. */
	head->ndm_flags = tied ? NTF_MASTER | NTF_STICKY : NTF_MASTER;
	head->ndm_state = NUD_NOARP | NUD_REACHABLE;
	mnl_attr_put(request, NDA_LLADDR, 6, mac);
	return netlink_request(kernel->route, request, NULL, NULL);
}

static int
take_features(void *ctx, const struct nlmsghdr *message)
{
	*(bool *)ctx = ethtool_parse_feature(message, "hw-tc-offload") > 0;
	return 0;
}

bool
kernel_offloads(struct kernel_requests *kernel, uint32_t kernel_index)
{
	struct request q;
	bool on = false;

	return kernel->ethtool != 0 &&
	    netlink_request(kernel->generic, begin_ethtool(kernel, &q, ETHTOOL_MSG_FEATURES_GET, kernel_index, 0),
		take_features, &on) == 0 && on;
}

/* Does not change whether pause is negotiated. */
int
kernel_set_pause(struct kernel_requests *kernel, uint32_t kernel_index, bool rx, bool tx)
{
	struct nlmsghdr *request;
	struct request q;

	if (kernel->ethtool == 0)
		return -EOPNOTSUPP;
	request = begin_ethtool(kernel, &q, ETHTOOL_MSG_PAUSE_SET, kernel_index, 0);
	mnl_attr_put_u8(request, ETHTOOL_A_PAUSE_RX, rx);
	mnl_attr_put_u8(request, ETHTOOL_A_PAUSE_TX, tx);
	return netlink_request(kernel->generic, request, NULL, NULL);
}
