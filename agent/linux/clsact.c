#include "agent/linux/clsact.h"

#include "agent/linux/netlink.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

uint32_t
clsact_parent(bool out)
{
	return TC_H_MAKE(TC_H_CLSACT, out ? TC_H_MIN_EGRESS : TC_H_MIN_INGRESS);
}

static int
change_qdisc(struct netlink *netlink, uint16_t type, uint16_t flags, uint32_t kernel_index)
{
	uint8_t octets[NETLINK_MESSAGE_MAX] __attribute__((aligned(8)));
	struct nlmsghdr *request = netlink_begin(octets, type, flags, sizeof(struct tcmsg));
	struct tcmsg *head = mnl_nlmsg_get_payload(request);

	head->tcm_ifindex = (int)kernel_index;
	head->tcm_handle = TC_H_MAKE(TC_H_CLSACT, 0);
	head->tcm_parent = TC_H_CLSACT;
	mnl_attr_put_strz(request, TCA_KIND, "clsact");
	return netlink_request(netlink, request, NULL, NULL);
}

int
clsact_make(struct netlink *netlink, uint32_t kernel_index, bool *made)
{
	const uint16_t flags = NLM_F_CREATE | NLM_F_EXCL;
	int rc = change_qdisc(netlink, RTM_NEWQDISC, flags, kernel_index), tries = 1;

	for (; tries < NETLINK_TRIES && netlink_reply_lost(rc); tries++)
		rc = change_qdisc(netlink, RTM_NEWQDISC, flags, kernel_index);
	/* If the answer to an earlier try was lost, the one that exists is ours. */
	*made = rc == 0 || (rc == -EEXIST && tries > 1);
	return rc == -EEXIST ? 0 : rc;
}

static int
found_filter(void *ctx, const struct nlmsghdr *message)
{
	(void)message;
	*(bool *)ctx = true;
	return 0;
}

/* Whether there is any filter in this direction, ours or not. True if that cannot be found out. */
static bool
clsact_has_filter(struct netlink *netlink, uint32_t kernel_index, bool out)
{
	uint8_t octets[NETLINK_MESSAGE_MAX] __attribute__((aligned(8)));
	struct nlmsghdr *request =
	    netlink_begin(octets, RTM_GETTFILTER, NLM_F_DUMP, sizeof(struct tcmsg));
	struct tcmsg *head = mnl_nlmsg_get_payload(request);
	bool found = false;

	head->tcm_ifindex = (int)kernel_index;
	head->tcm_parent = clsact_parent(out);
	return netlink_request_retry(netlink, request, found_filter, &found) < 0 || found;
}

void
clsact_remove_unused(struct netlink *netlink, uint32_t kernel_index)
{
	int rc = -EAGAIN;

	if (clsact_has_filter(netlink, kernel_index, false) || clsact_has_filter(netlink, kernel_index, true))
		return;
	for (int tries = 0; tries < NETLINK_TRIES && netlink_reply_lost(rc); tries++)
		rc = change_qdisc(netlink, RTM_DELQDISC, 0, kernel_index);
}
