/*
 * What a switch or a port is called in LLDP (IEEE 802.1AB, lldpRemChassisId and lldpRemPortId): octets, and what kind they
 * are of. Programs write it as text; this makes of it the octets that LLDP-MIB has, so that both ends of a link show the
 * same. Pure.
 */
#ifndef EASE_COMMON_LLDP_ID_H
#define EASE_COMMON_LLDP_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LLDP_ID_MAX = 255 };

/* Of LldpChassisIdSubtype and LldpPortIdSubtype, which have other numbers for the same kinds. */
enum lldp_chassis_kind { LLDP_CHASSIS_ALIAS = 2, LLDP_CHASSIS_MAC = 4, LLDP_CHASSIS_ADDRESS = 5, LLDP_CHASSIS_NAME = 6, LLDP_CHASSIS_LOCAL = 7 };
enum lldp_port_kind { LLDP_PORT_ALIAS = 1, LLDP_PORT_MAC = 3, LLDP_PORT_ADDRESS = 4, LLDP_PORT_NAME = 5, LLDP_PORT_LOCAL = 7 };
enum { LLDP_KIND_MAX = 7 };

struct lldp_id {
	uint8_t kind; /* either of the enums; 0: there is none */
	uint8_t n_octets;
	uint8_t octets[LLDP_ID_MAX];
};

/* A MAC address is six octets, an IP address has its family (1: IPv4, 2: IPv6) before it, all else is the text. False, and
 * *id is none: there is no such kind, the text is no such address, or it has no octet or too many. */
bool lldp_chassis_id(struct lldp_id *id, uint64_t kind, const char *text, size_t octets);
bool lldp_port_id(struct lldp_id *id, uint64_t kind, const char *text, size_t octets);

bool lldp_same_id(const struct lldp_id *a, const struct lldp_id *b);

#endif
