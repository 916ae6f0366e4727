#include "agent/linux/netlink_again.h"

#include <errno.h>

bool
netlink_is_lost(int rc)
{
	return rc == -ENOBUFS || rc == -ENOMEM || rc == -EINTR || rc == -EAGAIN || rc == -EPROTO;
}

int
netlink_ask_again(struct netlink *n, struct nlmsghdr *question, netlink_take take, void *ctx)
{
	int rc = netlink_ask(n, question, take, ctx);

	for (int tries = 1; tries < NETLINK_TRIES && netlink_is_lost(rc); tries++)
		rc = netlink_ask(n, question, take, ctx);
	return rc;
}

int
netlink_open_again(int protocol, struct netlink **result)
{
	int rc = netlink_open(protocol, result);

	for (int tries = 1; tries < NETLINK_TRIES && rc < 0; tries++)
		rc = netlink_open(protocol, result);
	return rc;
}
