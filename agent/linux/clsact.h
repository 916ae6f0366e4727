/*
 * The clsact queueing discipline of a link, where filters see every frame received and sent. It is
 * created when it is needed, and removed when no filter is left.
 */
#ifndef EASE_AGENT_LINUX_CLSACT_H
#define EASE_AGENT_LINUX_CLSACT_H

#include "agent/linux/netlink.h"

#include <stdbool.h>

/* The parent of filters in one direction: TC_H_MIN_INGRESS or TC_H_MIN_EGRESS. */
uint32_t clsact_parent(bool out);

/* Creates it if it does not exist; *made tells. -EPERM without CAP_NET_ADMIN, or the kernel's error. */
int clsact_make(struct netlink *netlink, uint32_t kernel_index, bool *made);
/* Removes it unless there is a filter at it. */
void clsact_remove_unused(struct netlink *netlink, uint32_t kernel_index);

#endif
