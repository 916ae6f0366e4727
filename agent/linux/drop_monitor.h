/*
 * The kernel's drop monitor (generic netlink family NET_DM, module drop_monitor): has it send each dropped packet, and
 * asks what it lost itself. It is one for the whole machine and has one setting, so it belongs to whoever starts it
 * first; everybody may listen.
 *
 * Joining its group needs CAP_SYS_ADMIN in kernels since 6.7 (and stable ones since 12/2023), and starting it
 * CAP_NET_ADMIN. Nothing here waits but for the kernel's lock.
 */
#ifndef EASE_AGENT_LINUX_DROP_MONITOR_H
#define EASE_AGENT_LINUX_DROP_MONITOR_H

#include "agent/linux/drop_message.h"
#include "agent/linux/netlink.h"

#include <stdbool.h>

struct drop_monitor {
	struct netlink *generic; /* borrowed */
	uint16_t type;
	int fd; /* receives dropped packets, for netlink_receive; -1: closed */
	bool software, hardware; /* what we have started */
	struct drop_message_config before; /* how it was set */
	struct drop_message_lost lost; /* as last asked */
	uint32_t socket_lost;
};

/* Joins the group of dropped packets. -ENOENT: this kernel or network namespace has no drop monitor; -EPERM. */
int drop_monitor_open(struct netlink *generic, struct drop_monitor *monitor);
void drop_monitor_close(struct drop_monitor *monitor); /* stops what was started, and sets it as it was */

/* Has every dropped packet sent with its first kept_octets; of a switch chip, too, if the kernel can. -EBUSY: another
 * program has started the monitor. What an agent that was killed had started is taken over. */
int drop_monitor_start(struct drop_monitor *monitor, uint32_t kept_octets);
/* 0: nobody has started it; -EBUSY: somebody has; -EPERM. Changes nothing. */
int drop_monitor_probe(struct drop_monitor *monitor);
bool drop_monitor_is_started(const struct drop_monitor *monitor); /* by us */

/* Packets that were dropped since the last call, or since the start, and that the kernel had no room to tell of: in
 * the monitor's queue, or in our socket. */
int drop_monitor_lost(struct drop_monitor *monitor, uint64_t *pkts);

#endif
