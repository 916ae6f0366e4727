/*
 * What a master makes of a notification, for check_soak: the agent's and the collector's BER have
 * names in common, so that no one file can use both.
 */
#ifndef EASE_TESTS_SOAK_WIRE_H
#define EASE_TESTS_SOAK_WIRE_H

#include "agent/snmp/notify.h"

enum { SOAK_WIRE_OCTETS = TRAP_WIRE_MESSAGE_MAX + 512 };

/* The SNMPv2c trap of community "public"; its octets, which end at octets[SOAK_WIRE_OCTETS]. */
size_t soak_wire_trap(const struct ease_notification *n, const struct notify_source *source,
    uint64_t uptime_us, uint8_t octets[SOAK_WIRE_OCTETS]);

#endif
