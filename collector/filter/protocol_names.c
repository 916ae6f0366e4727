#include "collector/filter/protocol_names.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <strings.h>

static const struct {
	const char *name;
	int32_t ip_proto, ethertype;
} protos[] = { /* IANA protocol numbers; IEEE ethertypes */
	{"icmp", 1, PROTOCOL_NAMES_NONE},     {"igmp", 2, PROTOCOL_NAMES_NONE},	  {"ipip", 4, PROTOCOL_NAMES_NONE},
	{"tcp", 6, PROTOCOL_NAMES_NONE},	     {"udp", 17, PROTOCOL_NAMES_NONE},	  {"dccp", 33, PROTOCOL_NAMES_NONE},
	{"ipv6-in-ip", 41, PROTOCOL_NAMES_NONE}, {"gre", 47, PROTOCOL_NAMES_NONE},  {"esp", 50, PROTOCOL_NAMES_NONE},
	{"ah", 51, PROTOCOL_NAMES_NONE},	     {"icmp6", 58, PROTOCOL_NAMES_NONE},	  {"eigrp", 88, PROTOCOL_NAMES_NONE},
	{"ospf", 89, PROTOCOL_NAMES_NONE},    {"pim", 103, PROTOCOL_NAMES_NONE},	  {"vrrp", 112, PROTOCOL_NAMES_NONE},
	{"sctp", 132, PROTOCOL_NAMES_NONE},   {"udplite", 136, PROTOCOL_NAMES_NONE}, {"ip", PROTOCOL_NAMES_NONE, 0x0800},
	{"arp", PROTOCOL_NAMES_NONE, 0x0806}, {"ipv6", PROTOCOL_NAMES_NONE, 0x86dd}, {"slow", PROTOCOL_NAMES_NONE, 0x8809},
	{"mpls", PROTOCOL_NAMES_NONE, 0x8847}, {"pppoe-d", PROTOCOL_NAMES_NONE, 0x8863},
	{"pppoe", PROTOCOL_NAMES_NONE, 0x8864}, {"eapol", PROTOCOL_NAMES_NONE, 0x888e},
	{"lldp", PROTOCOL_NAMES_NONE, 0x88cc}, {"macsec", PROTOCOL_NAMES_NONE, 0x88e5},
	{"ptp", PROTOCOL_NAMES_NONE, 0x88f7}, {"pause", PROTOCOL_NAMES_NONE, 0x8808},
};

enum { N_PROTOS = sizeof(protos) / sizeof(protos[0]), LENGTH_MAX = 1500 };

const char *
protocol_names_ip_proto(uint8_t ip_proto)
{
	for (size_t i = 0; i < N_PROTOS; i++)
		if (protos[i].ip_proto == ip_proto)
			return protos[i].name;
	return "";
}

const char *
protocol_names_ethertype(uint16_t ethertype)
{
	if (ethertype <= LENGTH_MAX)
		return "802.3";
	for (size_t i = 0; i < N_PROTOS; i++)
		if (protos[i].ethertype == ethertype)
			return protos[i].name;
	return "";
}

void
protocol_names_service(uint8_t ip_proto, uint16_t port, char *text, size_t size)
{
	struct servent entry, *found = NULL;
	char room[1024];

	text[0] = '\0';
	if (getservbyport_r(htons(port), protocol_names_ip_proto(ip_proto), &entry, room, sizeof(room),
	    &found) == 0 && found)
		snprintf(text, size, "%s", found->s_name);
}

int
protocol_names_find_service(const char *name, uint16_t *port)
{
	struct servent entry, *found = NULL;
	char room[1024];

	if (getservbyname_r(name, NULL, &entry, room, sizeof(room), &found) != 0 || !found)
		return -ENOENT;
	*port = ntohs((uint16_t)found->s_port);
	return 0;
}

int
protocol_names_find_proto(const char *name, int32_t *ip_proto, int32_t *ethertype)
{
	for (size_t i = 0; i < N_PROTOS; i++)
		if (strcasecmp(name, protos[i].name) == 0) {
			*ip_proto = protos[i].ip_proto;
			*ethertype = protos[i].ethertype;
			return 0;
		}
	return -ENOENT;
}
