/*
 * Repeats netlink requests whose answer was lost: for lack of memory, by a signal, or in a datagram that
 * was cut off. It is then unknown whether the kernel has carried out the request. A request that may
 * be made twice is repeated at once, so that one such failure leaves no filter behind and no counter
 * unread.
 */
#ifndef EASE_AGENT_LINUX_NETLINK_RETRY_H
#define EASE_AGENT_LINUX_NETLINK_RETRY_H

#include "agent/linux/netlink.h"

#include <stdbool.h>

enum { NETLINK_TRIES = 3 };

/* True if this -errno leaves open whether the kernel has carried out the request. */
bool netlink_reply_lost(int rc);

/* As netlink_request, for reading and removing; take may get the beginning of an answer twice. */
int netlink_request_retry(struct netlink *netlink, struct nlmsghdr *request, netlink_handler take,
    void *ctx);

/* As netlink_open, with retries, for changes that must be undone now. */
int netlink_open_retry(int protocol, struct netlink **netlink);

#endif
