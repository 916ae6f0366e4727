/*
 * The numbers that sFlow has for the reasons why a packet was dropped (sFlow Discarded Packet Notification
 * Structures, sflow.org), for what the kernel tells: the name of a reason (net/dropreason-core.h, without its prefix
 * SKB_DROP_REASON_), the function that dropped it, or a switch chip's trap and its group (devlink-trap). Older kernels
 * give few reasons, and newer ones many that sFlow has no number for: the names themselves are sent as well.
 */
#ifndef EASE_AGENT_LINUX_DROP_REASON_H
#define EASE_AGENT_LINUX_DROP_REASON_H

#include <stddef.h>
#include <stdint.h>

enum { DROP_REASON_UNKNOWN = 256 };

/* function: without what follows its name. Each is "" if it is not known. */
uint32_t drop_reason_of_kernel(const char *reason, const char *function);
uint32_t drop_reason_of_trap(const char *trap, const char *group);

/* Copies the function's name out of a symbol of the kernel's: "ip_forward" of "ip_forward+0x2d6/0x4a0". */
void drop_reason_function(const char *symbol, char *function, size_t size);

#endif
