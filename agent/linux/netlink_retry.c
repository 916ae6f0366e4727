#include "agent/linux/netlink_retry.h"

#include <errno.h>

bool
netlink_reply_lost(int rc)
{
	return rc == -ENOBUFS || rc == -ENOMEM || rc == -EINTR || rc == -EAGAIN || rc == -EPROTO;
}

int
netlink_request_retry(struct netlink *n, struct nlmsghdr *request, netlink_handler take, void *ctx)
{
	int rc = netlink_request(n, request, take, ctx);

	for (int tries = 1; tries < NETLINK_TRIES && netlink_reply_lost(rc); tries++)
		rc = netlink_request(n, request, take, ctx);
	return rc;
}

int
netlink_open_retry(int protocol, struct netlink **result)
{
	int rc = netlink_open(protocol, result);

	for (int tries = 1; tries < NETLINK_TRIES && rc < 0; tries++)
		rc = netlink_open(protocol, result);
	return rc;
}
