/*
 * The filters that make the kernel sample one port for psample: matchall with `action sample`, one
 * for what comes in and one for what goes out, at clsact, by rtnetlink. Where the port's driver
 * takes them, the switch itself samples.
 *
 * Each filter has a psample group of its own, so that a message names its port and direction, and a
 * gap in a group's numbers is a loss of just that one; a new rate takes new groups, whose numbers
 * begin at 0. Ours are told from others' by handle, place and group, also those that an agent left
 * which was killed.
 */
#ifndef EASE_AGENT_LINUX_PSAMPLE_FILTER_H
#define EASE_AGENT_LINUX_PSAMPLE_FILTER_H

#include "agent/linux/netlink.h"

#include <stdbool.h>
#include <stdint.h>

struct psample_filter {
	uint32_t kernel_index;
	uint32_t epoch; /* grows with each rate */
	uint32_t rate;	/* 0: none is there */
	bool hardware;	/* the driver is to sample, and nobody else */
	bool made_hook;
};

/* Of a port at an epoch: those of the last eight are told apart. */
uint32_t psample_filter_group(const struct psample_filter *filter, bool out);
/* Is it a group of ours, and whose? */
bool psample_filter_of_group(uint32_t group, uint32_t *kernel_index, bool *out);

/* Can a port be sampled this way? Tries it and leaves nothing. -EOPNOTSUPP: the driver does not
 * (hardware); -ENOENT: the kernel has no matchall or no `action sample`; -EPERM; -ERANGE: a kernel
 * index beyond those that groups can name. */
int psample_filter_try(struct netlink *netlink, uint32_t kernel_index, bool hardware);

/* Samples one frame in rate from now on, 0: none. On failure none is sampled. */
int psample_filter_set(struct netlink *netlink, struct psample_filter *filter, uint32_t rate);
/* Takes both filters away, and the hook if it was made for them and nobody else is there. */
void psample_filter_remove(struct netlink *netlink, struct psample_filter *filter);
/* Removes what an agent that was killed left. Was there something? */
bool psample_filter_clean(struct netlink *netlink, uint32_t kernel_index);

#endif
