#include "agent/linux/ask.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

enum { DUMP_TRIES = 8 }; /* of a dump that changes under our hands */

/* Octets of a question, aligned as netlink wants them. */
struct question {
	uint8_t octets[NETLINK_MESSAGE_MAX] __attribute__((aligned(8)));
};

int
ask_open(struct ask *ask)
{
	int rc;

	*ask = (struct ask){0};
	rc = netlink_open(NETLINK_ROUTE, &ask->route);
	if (rc < 0)
		return rc;
	if (netlink_open(NETLINK_GENERIC, &ask->generic) < 0 ||
	    netlink_family(ask->generic, ETHTOOL_GENL_NAME, &ask->ethtool) < 0)
		ask->ethtool = 0;
	return 0;
}

void
ask_close(struct ask *ask)
{
	netlink_close(ask->route);
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
ask_neighbours(struct ask *ask, netlink_take take, void *ctx)
{
	struct question q;
	struct nlmsghdr *question =
	    netlink_begin(&q, RTM_GETNEIGH, NLM_F_DUMP, sizeof(struct ndmsg));
	struct ndmsg *head = mnl_nlmsg_get_payload(question);

	head->ndm_family = AF_BRIDGE;
	return netlink_ask(ask->route, question, take, ctx);
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

static int
take_speed(void *ctx, const struct nlmsghdr *message)
{
	return rtnl_parse_speed(message, ctx);
}

void
ask_speed(struct ask *ask, uint32_t kernel_index, struct rtnl_speed *speed)
{
	struct rtnl_speed answer = {.duplex = EASE_DUPLEX_UNKNOWN};
	struct genlmsghdr *head;
	struct nlmsghdr *question;
	struct nlattr *nest;
	struct question q;

	*speed = answer;
	if (ask->ethtool == 0)
		return;
	question = netlink_begin(&q, ask->ethtool, 0, sizeof(*head));
	head = mnl_nlmsg_get_payload(question);
	head->cmd = ETHTOOL_MSG_LINKMODES_GET;
	head->version = ETHTOOL_GENL_VERSION;
	nest = mnl_attr_nest_start(question, ETHTOOL_A_LINKMODES_HEADER);
	mnl_attr_put_u32(question, ETHTOOL_A_HEADER_DEV_INDEX, kernel_index);
	mnl_attr_nest_end(question, nest);
	if (netlink_ask(ask->generic, question, take_speed, &answer) == 0)
		*speed = answer;
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
