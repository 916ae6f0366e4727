/*
 * Names of protocols: IP protocols and ethertypes from a table here, which --proto reads and the
 * reports print; services from the machine's services(5). "" means that there is no name.
 */
#ifndef EASE_COLLECTOR_FILTER_PROTOCOL_NAMES_H
#define EASE_COLLECTOR_FILTER_PROTOCOL_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum { PROTOCOL_NAMES_NONE = -1 };

/* All names of the table, for texts. */
#define PROTOCOL_NAMES                                                                             \
	"icmp, igmp, ipip, tcp, udp, dccp, ipv6-in-ip, gre, esp, ah, icmp6, eigrp, ospf, pim,"     \
	" vrrp, sctp, udplite, ip, arp, ipv6, slow, mpls, pppoe-d, pppoe, eapol, lldp, macsec,"    \
	" ptp, pause"

/* Static texts. An ethertype up to 1500 is an 802.3 length (IEEE 802.3, clause 3.2.6). */
const char *protocol_names_ip_proto(uint8_t ip_proto);
const char *protocol_names_ethertype(uint16_t ethertype);

/* Of IP protocol and port; reads the file on each call. */
void protocol_names_service(uint8_t ip_proto, uint16_t port, char *text, size_t size);

/* The port of a service that services(5) names. 0 or -ENOENT. */
int protocol_names_find_service(const char *name, uint16_t *port);

/* One of the two is set, the other PROTOCOL_NAMES_NONE. 0, or -ENOENT for a name that is in no table. */
int protocol_names_find_proto(const char *name, int32_t *ip_proto, int32_t *ethertype);

#endif
