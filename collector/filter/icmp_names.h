/*
 * Names of ICMP's and ICMPv6's messages, from one table: as reports print them, and as tcpdump calls their types
 * (pcap-filter(7)), for filters.
 */
#ifndef EASE_COLLECTOR_FILTER_ICMP_NAMES_H
#define EASE_COLLECTOR_FILTER_ICMP_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* "echo request", "unreachable port"; "type 200 code 1" of one that has no name here. ip_proto: 1 or 58. */
void icmp_names_message(uint8_t ip_proto, uint8_t type, uint8_t code, char *text, size_t size);

/* Of "icmp-echo", "icmp6-neighborsolicit", …, whatever the case. 0 or -ENOENT. */
int icmp_names_find_type(const char *name, uint8_t *ip_proto, uint8_t *type);

#endif
