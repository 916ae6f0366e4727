/*
 * Finds out whether a link's driver offloads filters to hardware now (the feature hw-tc-offload of
 * `ethtool -k`). Only then is it worth requesting a filter in hardware, because that loads modules.
 */
#ifndef EASE_AGENT_LINUX_OFFLOAD_H
#define EASE_AGENT_LINUX_OFFLOAD_H

#include "agent/linux/kernel_requests.h"

#include <stdbool.h>

/* False also if the kernel does not report it. */
bool offload_is_enabled(struct kernel_requests *kernel, uint32_t kernel_index);

/* Whether a feature is active in an answer to ETHTOOL_MSG_FEATURES_GET: 0, 1, -EPROTO. */
int offload_parse_feature(const struct nlmsghdr *message, const char *feature);

#endif
