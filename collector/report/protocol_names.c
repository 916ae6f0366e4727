#include "collector/report/protocol_names.h"

#include "collector/report/report.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <strings.h>

static const struct {
	const char *name;
	int32_t ip_proto, ethertype;
} protos[] = { /* IANA protocol numbers; IEEE ethertypes */
	{"icmp", 1, REPORT_ANY},     {"igmp", 2, REPORT_ANY},	  {"ipip", 4, REPORT_ANY},
	{"tcp", 6, REPORT_ANY},	     {"udp", 17, REPORT_ANY},	  {"dccp", 33, REPORT_ANY},
	{"ipv6-in-ip", 41, REPORT_ANY}, {"gre", 47, REPORT_ANY},  {"esp", 50, REPORT_ANY},
	{"ah", 51, REPORT_ANY},	     {"icmp6", 58, REPORT_ANY},	  {"eigrp", 88, REPORT_ANY},
	{"ospf", 89, REPORT_ANY},    {"pim", 103, REPORT_ANY},	  {"vrrp", 112, REPORT_ANY},
	{"sctp", 132, REPORT_ANY},   {"udplite", 136, REPORT_ANY}, {"ip", REPORT_ANY, 0x0800},
	{"arp", REPORT_ANY, 0x0806}, {"ipv6", REPORT_ANY, 0x86dd}, {"slow", REPORT_ANY, 0x8809},
	{"mpls", REPORT_ANY, 0x8847}, {"pppoe-d", REPORT_ANY, 0x8863},
	{"pppoe", REPORT_ANY, 0x8864}, {"eapol", REPORT_ANY, 0x888e},
	{"lldp", REPORT_ANY, 0x88cc}, {"macsec", REPORT_ANY, 0x88e5},
	{"ptp", REPORT_ANY, 0x88f7}, {"pause", REPORT_ANY, 0x8808},
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
