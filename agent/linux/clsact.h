/*
 * The clsact queueing discipline of a link: the place at which filters see every frame that comes in
 * and goes out. It is made when somebody needs it and removed when nobody has a filter there.
 */
#ifndef EASE_AGENT_LINUX_CLSACT_H
#define EASE_AGENT_LINUX_CLSACT_H

#include "agent/linux/netlink.h"

#include <stdbool.h>

/* Which of its sides: TC_H_MIN_INGRESS or TC_H_MIN_EGRESS, as the parent of filters. */
uint32_t clsact_parent(bool out);

/* *made: it was not there before. -EPERM without CAP_NET_ADMIN, the kernel's refusal. */
int clsact_make(struct netlink *netlink, uint32_t kernel_index, bool *made);
/* Takes it away unless somebody has put a filter there. */
void clsact_remove_unused(struct netlink *netlink, uint32_t kernel_index);

#endif
