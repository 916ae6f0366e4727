/*
 * Questions whose answer was lost on its way: for want of memory, by a signal, or in a datagram that
 * was cut off. Nothing is known then: what was asked for may be done or not. What may be asked
 * twice is asked again at once, so that one mishap leaves no filter behind and no figure out.
 */
#ifndef EASE_AGENT_LINUX_NETLINK_AGAIN_H
#define EASE_AGENT_LINUX_NETLINK_AGAIN_H

#include "agent/linux/netlink.h"

#include <stdbool.h>

enum { NETLINK_TRIES = 3 };

/* Does this -errno say nothing about what was asked? */
bool netlink_is_lost(int rc);

/* As netlink_ask, for a question or a removal; take may see an answer's beginning twice. */
int netlink_ask_again(struct netlink *netlink, struct nlmsghdr *question, netlink_take take,
    void *ctx);

/* As netlink_open, where something is to be undone and cannot be put off. */
int netlink_open_again(int protocol, struct netlink **netlink);

#endif
