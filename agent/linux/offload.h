/*
 * Does a link's driver take filters into its hardware now (the feature hw-tc-offload of `ethtool -k`)?
 * Only where it does is it worth asking for a filter in hardware alone, which loads modules.
 */
#ifndef EASE_AGENT_LINUX_OFFLOAD_H
#define EASE_AGENT_LINUX_OFFLOAD_H

#include "agent/linux/kernel_requests.h"

#include <stdbool.h>

/* False as well when the kernel does not say. */
bool offload_is_enabled(struct kernel_requests *kernel, uint32_t kernel_index);

/* Of the answer to ETHTOOL_MSG_FEATURES_GET: is the feature active? 0, 1, -EPROTO. */
int offload_parse_feature(const struct nlmsghdr *message, const char *feature);

#endif
