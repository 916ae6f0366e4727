/*
 * The ifIndex that SONiC gives to an interface by its name: EthernetN is N + 1, PortChannelN 1000 + N, VlanN
 * 2000 + N, ethN (management) 10000 + N. lldpd's and SONiC's own tables have the same numbers. Pure.
 */
#ifndef EASE_AGENT_SONIC_INTERFACE_NUMBER_H
#define EASE_AGENT_SONIC_INTERFACE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum sonic_kind { SONIC_PORT, SONIC_LAG, SONIC_VLAN, SONIC_MANAGEMENT, SONIC_N_KINDS };

/* The name need not end with a NUL. 0: it is none of these names. *number: N. */
uint32_t interface_number(const char *name, size_t octets, enum sonic_kind *kind, uint32_t *number);

#endif
