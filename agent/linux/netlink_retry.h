/*
 * Questions whose answer was lost on its way: for want of memory, by a signal, or in a datagram that
 * was cut off. Nothing is known then: what was asked for may be done or not. What may be asked
 * twice is asked again at once, so that one mishap leaves no filter behind and no figure out.
 */
#ifndef EASE_AGENT_LINUX_NETLINK_RETRY_H
#define EASE_AGENT_LINUX_NETLINK_RETRY_H

#include "agent/linux/netlink.h"

#include <stdbool.h>

enum { NETLINK_TRIES = 3 };

/* Does this -errno say nothing about what was asked? */
bool netlink_reply_lost(int rc);

/* As netlink_request, for a request or a removal; take may see an answer's beginning twice. */
int netlink_request_retry(struct netlink *netlink, struct nlmsghdr *request, netlink_handler take,
    void *ctx);

/* As netlink_open, where something is to be undone and cannot be put off. */
int netlink_open_retry(int protocol, struct netlink **netlink);

#endif
