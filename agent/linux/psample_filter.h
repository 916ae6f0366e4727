/*
 * The filters that make the kernel sample one port by psample: matchall with `action sample` at clsact,
 * one for received and one for sent frames, set by rtnetlink. If the port's driver offloads them, the
 * switch hardware samples.
 *
 * Each filter has its own psample group, so that a message identifies port and direction, and a gap in
 * the group's sequence numbers is a loss at that port and direction. A new rate takes new groups, whose
 * numbers begin at 0. We recognize our filters by handle, place and group, also those that an earlier,
 * killed agent left.
 */
#ifndef EASE_AGENT_LINUX_PSAMPLE_FILTER_H
#define EASE_AGENT_LINUX_PSAMPLE_FILTER_H

#include "agent/linux/netlink.h"

#include <stdbool.h>
#include <stdint.h>

struct psample_filter {
	uint32_t kernel_index;
	uint32_t epoch; /* increased at each change of the rate */
	uint32_t rate;	/* 0: no filter is installed */
	bool hardware;	/* in the driver's hardware only */
	bool made_hook;
};

/* The group of a direction at the current epoch. The groups of the last eight epochs differ. */
uint32_t psample_filter_group(const struct psample_filter *filter, bool out);
/* Whether the group is ours, and of which port and direction. */
bool psample_filter_of_group(uint32_t group, uint32_t *kernel_index, bool *out);

/* Tests whether a port can be sampled this way, by adding a filter and removing it. -EOPNOTSUPP: the
 * driver cannot (hardware); -ENOENT: the kernel has no matchall or no `action sample`; -EPERM; -ERANGE:
 * the kernel index does not fit into a group number. */
int psample_filter_try(struct netlink *netlink, uint32_t kernel_index, bool hardware);

/* Samples one frame in rate from now on; 0 stops sampling. After a failure none is sampled. */
int psample_filter_set(struct netlink *netlink, struct psample_filter *filter, uint32_t rate);
/* Removes both filters, and the hook if it was created for them and has no other filter. */
void psample_filter_remove(struct netlink *netlink, struct psample_filter *filter);
/* Removes filters that an earlier, killed agent left. True if there were any. */
bool psample_filter_clean(struct netlink *netlink, uint32_t kernel_index);

#endif
