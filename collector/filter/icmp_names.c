#include "collector/filter/icmp_names.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>

enum { ICMP = 1, ICMP6 = 58 };

/* IANA's ICMP Parameters and ICMPv6 Parameters; filter: pcap-filter(7). */
static const struct {
	uint8_t ip_proto, type;
	const char *name, *filter;
} types[] = {
	{ICMP, 0, "echo reply", "icmp-echoreply"},
	{ICMP, 3, "unreachable", "icmp-unreach"},
	{ICMP, 4, "source quench", "icmp-sourcequench"},
	{ICMP, 5, "redirect", "icmp-redirect"},
	{ICMP, 8, "echo request", "icmp-echo"},
	{ICMP, 9, "router advertisement", "icmp-routeradvert"},
	{ICMP, 10, "router solicitation", "icmp-routersolicit"},
	{ICMP, 11, "time exceeded", "icmp-timxceed"},
	{ICMP, 12, "parameter problem", "icmp-paramprob"},
	{ICMP, 13, "timestamp request", "icmp-tstamp"},
	{ICMP, 14, "timestamp reply", "icmp-tstampreply"},
	{ICMP, 15, "information request", "icmp-ireq"},
	{ICMP, 16, "information reply", "icmp-ireqreply"},
	{ICMP, 17, "mask request", "icmp-maskreq"},
	{ICMP, 18, "mask reply", "icmp-maskreply"},
	{ICMP, 42, "extended echo request", ""},
	{ICMP, 43, "extended echo reply", ""},
	{ICMP6, 1, "unreachable", "icmp6-destinationunreach"},
	{ICMP6, 2, "packet too big", "icmp6-packettoobig"},
	{ICMP6, 3, "time exceeded", "icmp6-timeexceeded"},
	{ICMP6, 4, "parameter problem", "icmp6-parameterproblem"},
	{ICMP6, 128, "echo request", "icmp6-echo"},
	{ICMP6, 129, "echo reply", "icmp6-echoreply"},
	{ICMP6, 130, "listener query", "icmp6-multicastlistenerquery"},
	{ICMP6, 131, "listener report", "icmp6-multicastlistenerreportv1"},
	{ICMP6, 132, "listener done", "icmp6-multicastlistenerdone"},
	{ICMP6, 133, "router solicitation", "icmp6-routersolicit"},
	{ICMP6, 134, "router advertisement", "icmp6-routeradvert"},
	{ICMP6, 135, "neighbor solicitation", "icmp6-neighborsolicit"},
	{ICMP6, 136, "neighbor advertisement", "icmp6-neighboradvert"},
	{ICMP6, 137, "redirect", "icmp6-redirect"},
	{ICMP6, 143, "listener report v2", "icmp6-multicastlistenerreportv2"},
};

/* What a code adds to the name of its type. */
static const struct {
	uint8_t ip_proto, type, code;
	const char *name;
} codes[] = {
	{ICMP, 3, 0, "network"},	 {ICMP, 3, 1, "host"},		      {ICMP, 3, 2, "protocol"},
	{ICMP, 3, 3, "port"},		 {ICMP, 3, 4, "fragmentation needed"}, {ICMP, 3, 5, "source route"},
	{ICMP, 3, 9, "net prohibited"},	 {ICMP, 3, 10, "host prohibited"},    {ICMP, 3, 13, "prohibited"},
	{ICMP, 5, 0, "network"},	 {ICMP, 5, 1, "host"},		      {ICMP, 11, 0, "in transit"},
	{ICMP, 11, 1, "reassembly"},	 {ICMP6, 1, 0, "no route"},	      {ICMP6, 1, 1, "prohibited"},
	{ICMP6, 1, 2, "beyond scope"},	 {ICMP6, 1, 3, "host"},		      {ICMP6, 1, 4, "port"},
	{ICMP6, 1, 5, "by policy"},	 {ICMP6, 1, 6, "rejected"},	      {ICMP6, 3, 0, "in transit"},
	{ICMP6, 3, 1, "reassembly"},
};

enum { N_TYPES = sizeof(types) / sizeof(types[0]), N_CODES = sizeof(codes) / sizeof(codes[0]) };

void
icmp_names_message(uint8_t ip_proto, uint8_t type, uint8_t code, char *text, size_t size)
{
	const char *name = NULL, *detail = NULL;
	char number[16] = "", code_number[16] = "";

	for (size_t i = 0; i < N_TYPES; i++)
		if (types[i].ip_proto == ip_proto && types[i].type == type)
			name = types[i].name;
	for (size_t i = 0; i < N_CODES; i++)
		if (codes[i].ip_proto == ip_proto && codes[i].type == type && codes[i].code == code)
			detail = codes[i].name;
	snprintf(number, sizeof(number), "type %u", type);
	if (code > 0)
		snprintf(code_number, sizeof(code_number), "code %u", code);
	if (!detail)
		detail = code_number;
	snprintf(text, size, *detail ? "%s %s" : "%s", name ? name : number, detail);
}

int
icmp_names_find_type(const char *name, uint8_t *ip_proto, uint8_t *type)
{
	for (size_t i = 0; *name && i < N_TYPES; i++)
		if (strcasecmp(name, types[i].filter) == 0) {
			*ip_proto = types[i].ip_proto;
			*type = types[i].type;
			return 0;
		}
	return -ENOENT;
}
