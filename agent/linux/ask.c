#include "agent/linux/ask.h"

#include "agent/linux/netlink_again.h"
#include "common/log.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { DUMP_TRIES = 8 }; /* of a dump that changes under our hands */

/* Octets of a question, aligned as netlink wants them. */
struct question {
	uint8_t octets[NETLINK_MESSAGE_MAX] __attribute__((aligned(8)));
};

static int
find_ethtool(struct ask *ask)
{
	int rc = netlink_family(ask->generic, ETHTOOL_GENL_NAME, &ask->ethtool);

	for (int tries = 1; tries < NETLINK_TRIES && netlink_is_lost(rc); tries++)
		rc = netlink_family(ask->generic, ETHTOOL_GENL_NAME, &ask->ethtool);
	if (rc < 0)
		ask->ethtool = 0;
	return rc;
}

int
ask_open(struct ask *ask)
{
	int rc;

	*ask = (struct ask){0};
	rc = netlink_open(NETLINK_ROUTE, &ask->route);
	if (rc == 0)
		rc = netlink_open(NETLINK_ROUTE, &ask->addresses);
	if (rc < 0)
		return rc;
	rc = netlink_open_again(NETLINK_GENERIC, &ask->generic);
	if (rc == 0)
		rc = find_ethtool(ask);
	if (rc < 0)
		log_warn("linux", "what drivers tell is not known: ethtool netlink: %s", strerror(-rc));
	return 0;
}

void
ask_close(struct ask *ask)
{
	netlink_close(ask->route);
	netlink_close(ask->addresses);
	netlink_close(ask->generic);
	*ask = (struct ask){0};
}

/* ---- all links ---- */

struct link_list {
	struct rtnl_link *links;
	size_t n, room;
};

static int
take_link(void *ctx, const struct nlmsghdr *message)
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
ask_links(struct ask *ask, struct rtnl_link **links, size_t *n)
{
	struct link_list list = {0};
	struct question q;
	int rc = -EAGAIN;

	for (int tries = 0; tries < DUMP_TRIES && rc == -EAGAIN; tries++) {
		struct nlmsghdr *question =
		    netlink_begin(&q, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg));

		list.n = 0;
		rc = netlink_ask(ask->route, question, take_link, &list);
	}
	if (rc < 0) {
		free(list.links);
		return rc;
	}
	*links = list.links;
	*n = list.n;
	return 0;
}

/* ---- addresses ---- */

int
ask_neighbours(struct ask *ask)
{
	struct question q;
	struct nlmsghdr *question =
	    netlink_begin(&q, RTM_GETNEIGH, NLM_F_DUMP, sizeof(struct ndmsg));
	struct ndmsg *head = mnl_nlmsg_get_payload(question);

	head->ndm_family = AF_BRIDGE;
	return netlink_start(ask->addresses, question);
}

int
ask_more_neighbours(struct ask *ask, unsigned max, netlink_take take, void *ctx)
{
	return netlink_go_on(ask->addresses, max, take, ctx);
}

/* ---- one link ---- */

static int
take_stats(void *ctx, const struct nlmsghdr *message)
{
	return rtnl_parse_stats(message, ctx);
}

int
ask_stats(struct ask *ask, uint32_t kernel_index, struct rtnl_link_stats64 *stats)
{
	struct question q;
	struct nlmsghdr *question =
	    netlink_begin(&q, RTM_GETSTATS, 0, sizeof(struct if_stats_msg));
	struct if_stats_msg *head = mnl_nlmsg_get_payload(question);

	head->ifindex = kernel_index;
	head->filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
	return netlink_ask(ask->route, question, take_stats, stats);
}

/* ---- its driver ---- */

static struct nlmsghdr *
begin_ethtool(const struct ask *ask, struct question *q, uint8_t command, uint32_t kernel_index,
    uint32_t flags)
{
	struct genlmsghdr *head;
	struct nlmsghdr *question = netlink_begin(q, ask->ethtool, 0, sizeof(*head));
	struct nlattr *nest;

	head = mnl_nlmsg_get_payload(question);
	head->cmd = command;
	head->version = ETHTOOL_GENL_VERSION;
	/* The header has the same number in all questions but that for statistics. */
	nest = mnl_attr_nest_start(question,
	    command == ETHTOOL_MSG_STATS_GET ? (uint16_t)ETHTOOL_A_STATS_HEADER
					     : (uint16_t)ETHTOOL_A_LINKMODES_HEADER);
	mnl_attr_put_u32(question, ETHTOOL_A_HEADER_DEV_INDEX, kernel_index);
	mnl_attr_put_u32(question, ETHTOOL_A_HEADER_FLAGS, flags);
	mnl_attr_nest_end(question, nest);
	return question;
}

/* What a driver does not know, or of a link that is gone, is no failure. */
static void
ask_of_driver(struct ask *ask, struct nlmsghdr *question, netlink_take take, void *ctx)
{
	int rc = netlink_ask_again(ask->generic, question, take, ctx);

	if (netlink_is_lost(rc) && ask->failed)
		atomic_fetch_add(ask->failed, 1);
}

static int
take_modes(void *ctx, const struct nlmsghdr *message)
{
	return ethtool_parse_modes(message, ctx);
}

void
ask_modes(struct ask *ask, uint32_t kernel_index, struct ethtool_modes *modes)
{
	struct question q;

	*modes = (struct ethtool_modes){.duplex = EASE_DUPLEX_UNKNOWN};
	if (ask->ethtool != 0)
		ask_of_driver(ask,
		    begin_ethtool(ask, &q, ETHTOOL_MSG_LINKMODES_GET, kernel_index,
			ETHTOOL_FLAG_COMPACT_BITSETS), take_modes, modes);
}

struct pause_answer {
	struct ethtool_pause pause;
	struct hal_counters figures;
};

static int
take_pause(void *ctx, const struct nlmsghdr *message)
{
	struct pause_answer *answer = ctx;

	return ethtool_parse_pause(message, &answer->pause, &answer->figures);
}

static struct pause_answer
ask_pause_with(struct ask *ask, uint32_t kernel_index, uint32_t flags)
{
	struct pause_answer answer = {0};
	struct question q;

	if (ask->ethtool != 0)
		ask_of_driver(ask,
		    begin_ethtool(ask, &q, ETHTOOL_MSG_PAUSE_GET, kernel_index, flags), take_pause,
		    &answer);
	return answer;
}

void
ask_pause(struct ask *ask, uint32_t kernel_index, struct ethtool_pause *pause)
{
	*pause = ask_pause_with(ask, kernel_index, 0).pause;
}

static int
take_eee(void *ctx, const struct nlmsghdr *message)
{
	return ethtool_parse_eee(message, ctx);
}

void
ask_eee(struct ask *ask, uint32_t kernel_index, uint8_t *state)
{
	struct question q;

	*state = HAL_EEE_NOT_KNOWN;
	if (ask->ethtool != 0)
		ask_of_driver(ask, begin_ethtool(ask, &q, ETHTOOL_MSG_EEE_GET,
		    kernel_index, ETHTOOL_FLAG_COMPACT_BITSETS), take_eee, state);
}

static int
take_driver_stats(void *ctx, const struct nlmsghdr *message)
{
	return ethtool_parse_stats(message, ctx);
}

void
ask_driver_stats(struct ask *ask, uint32_t kernel_index, struct hal_counters *figures)
{
	static const uint32_t groups = 1u << ETHTOOL_STATS_ETH_PHY | 1u << ETHTOOL_STATS_ETH_MAC |
	    1u << ETHTOOL_STATS_ETH_CTRL | 1u << ETHTOOL_STATS_RMON;
	struct nlmsghdr *question;
	struct nlattr *bitset;
	struct question q;

	*figures = ask_pause_with(ask, kernel_index, ETHTOOL_FLAG_STATS).figures;
	if (ask->ethtool == 0)
		return;
	question = begin_ethtool(ask, &q, ETHTOOL_MSG_STATS_GET, kernel_index,
	    ETHTOOL_FLAG_COMPACT_BITSETS);
	bitset = mnl_attr_nest_start(question, ETHTOOL_A_STATS_GROUPS);
	mnl_attr_put(question, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	mnl_attr_put_u32(question, ETHTOOL_A_BITSET_SIZE, ETHTOOL_STATS_RMON + 1);
	mnl_attr_put_u32(question, ETHTOOL_A_BITSET_VALUE, groups);
	mnl_attr_nest_end(question, bitset);
	ask_of_driver(ask, question, take_driver_stats, figures);
}

int
ask_driver_group(struct ask *ask, unsigned *group)
{
	if (ask->ethtool == 0)
		return -ENOENT;
	return netlink_group(ask->generic, ETHTOOL_GENL_NAME, ETHTOOL_MCGRP_MONITOR_NAME, group);
}

/* ---- changes ---- */

static struct nlmsghdr *
begin_change(struct question *q, uint32_t kernel_index, unsigned change, unsigned flags)
{
	struct nlmsghdr *question = netlink_begin(q, RTM_SETLINK, 0, sizeof(struct ifinfomsg));
	struct ifinfomsg *head = mnl_nlmsg_get_payload(question);

	head->ifi_index = (int)kernel_index;
	head->ifi_change = change;
	head->ifi_flags = flags;
	return question;
}

/* The kernel looks at the privilege first, and then finds nothing to do with the loopback. */
int
ask_may_change(struct ask *ask)
{
	enum { LOOPBACK = 1 };
	struct question q;
	int rc = netlink_ask(ask->route, begin_change(&q, LOOPBACK, 0, 0), NULL, NULL);

	return rc == -EPERM ? rc : 0;
}

int
ask_set_up(struct ask *ask, uint32_t kernel_index, bool up)
{
	struct question q;
	struct nlmsghdr *question = begin_change(&q, kernel_index, IFF_UP, up ? IFF_UP : 0);

	return netlink_ask(ask->route, question, NULL, NULL);
}

int
ask_set_alias(struct ask *ask, uint32_t kernel_index, const char *alias)
{
	struct question q;
	struct nlmsghdr *question = begin_change(&q, kernel_index, 0, 0);

	/* The kernel takes an alias of no octets as none. */
	mnl_attr_put(question, IFLA_IFALIAS, strlen(alias), alias);
	return netlink_ask(ask->route, question, NULL, NULL);
}

int
ask_set_ageing(struct ask *ask, uint32_t kernel_index, uint32_t ageing_cs)
{
	struct question q;
	struct nlmsghdr *question = begin_change(&q, kernel_index, 0, 0);
	struct nlattr *info, *data;

	question->nlmsg_type = RTM_NEWLINK; /* RTM_SETLINK leaves a kind's own settings alone */
	info = mnl_attr_nest_start(question, IFLA_LINKINFO);
	mnl_attr_put_strz(question, IFLA_INFO_KIND, "bridge");
	data = mnl_attr_nest_start(question, IFLA_INFO_DATA);
	mnl_attr_put_u32(question, IFLA_BR_AGEING_TIME, ageing_cs);
	mnl_attr_nest_end(question, data);
	mnl_attr_nest_end(question, info);
	return netlink_ask(ask->route, question, NULL, NULL);
}

int
ask_set_static(struct ask *ask, uint32_t kernel_index, const uint8_t mac[6], bool tied)
{
	struct question q;
	struct nlmsghdr *question = netlink_begin(&q, tied ? RTM_NEWNEIGH : RTM_DELNEIGH,
	    tied ? NLM_F_CREATE | NLM_F_REPLACE : 0, sizeof(struct ndmsg));
	struct ndmsg *head = mnl_nlmsg_get_payload(question);

	head->ndm_family = AF_BRIDGE;
	head->ndm_ifindex = (int)kernel_index;
	/* Static, and nobody's own; the bridge would still learn it elsewhere if it did not stick. */
	head->ndm_flags = tied ? NTF_MASTER | NTF_STICKY : NTF_MASTER;
	head->ndm_state = NUD_NOARP | NUD_REACHABLE;
	mnl_attr_put(question, NDA_LLADDR, 6, mac);
	return netlink_ask(ask->route, question, NULL, NULL);
}

/* Whether both sides agree on it is left as it is. */
int
ask_set_pause(struct ask *ask, uint32_t kernel_index, bool rx, bool tx)
{
	struct nlmsghdr *question;
	struct question q;

	if (ask->ethtool == 0)
		return -EOPNOTSUPP;
	question = begin_ethtool(ask, &q, ETHTOOL_MSG_PAUSE_SET, kernel_index, 0);
	mnl_attr_put_u8(question, ETHTOOL_A_PAUSE_RX, rx);
	mnl_attr_put_u8(question, ETHTOOL_A_PAUSE_TX, tx);
	return netlink_ask(ask->generic, question, NULL, NULL);
}
