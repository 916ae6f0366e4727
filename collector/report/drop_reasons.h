/*
 * Why a packet was discarded: the reasons of sFlow's discarded-packet events by number (sFlow Discarded Packet
 * Notification Structures, sflow.org; 0 to 15 are the codes of ICMP's destination unreachable, RFC 1812).
 */
#ifndef EASE_COLLECTOR_REPORT_DROP_REASONS_H
#define EASE_COLLECTOR_REPORT_DROP_REASONS_H

#include <stddef.h>
#include <stdint.h>

/* "no buffer space"; "reason 4711" where the number has no name. */
void drop_reason_name(uint32_t reason, char *name, size_t size);

#endif
