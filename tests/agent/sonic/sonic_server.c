/*
 * A Redis server filled as SONiC fills it, for scripts: sonic_server PORTS LAGS VLANS ADDRESSES WITHOUT. Prints the
 * path of its database_config.json, then one line of truth for each cell, "OBJECT.INDEX VALUE", then "end", and stays
 * until SIGTERM.
 */
#include "tests/agent/sonic/sonic_rig.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void
print_port(const struct sonic_plan *plan, uint32_t port)
{
	static const struct {
		const char *object, *field;
	} counters[] = {
	    {"ifHCInOctets", "IF_IN_OCTETS"}, {"ifHCInUcastPkts", "IF_IN_UCAST_PKTS"},
	    {"ifHCInMulticastPkts", "IF_IN_MULTICAST_PKTS"}, {"ifHCInBroadcastPkts", "IF_IN_BROADCAST_PKTS"},
	    {"ifHCOutOctets", "IF_OUT_OCTETS"}, {"ifHCOutUcastPkts", "IF_OUT_UCAST_PKTS"},
	    {"ifHCOutMulticastPkts", "IF_OUT_MULTICAST_PKTS"}, {"ifHCOutBroadcastPkts", "IF_OUT_BROADCAST_PKTS"},
	};
	static const struct {
		const char *object, *field;
	} counters32[] = {
	    {"ifInErrors", "IF_IN_ERRORS"}, {"ifInDiscards", "IF_IN_DISCARDS"},
	    {"ifOutErrors", "IF_OUT_ERRORS"}, {"ifOutDiscards", "IF_OUT_DISCARDS"},
	    {"dot3StatsFCSErrors", "ETHER_STATS_CRC_ALIGN_ERRORS"}, {"dot3InPauseFrames", "PAUSE_RX_PKTS"},
	    {"dot3OutPauseFrames", "PAUSE_TX_PKTS"},
	};
	char text[64];

	printf("ifName.%u Ethernet%u\n", port + 1, port);
	printf("ifDescr.%u etp%u\n", port + 1, port + 1);
	sonic_description(port, text, sizeof(text));
	printf("ifAlias.%u %s\n", port + 1, text);
	printf("ifHighSpeed.%u %u\n", port + 1, sonic_speed_mbps(port));
	printf("ifMtu.%u 9100\n", port + 1);
	printf("ifAdminStatus.%u %d\n", port + 1, sonic_admin_up(port) ? 1 : 2);
	printf("ifOperStatus.%u %d\n", port + 1, sonic_oper_up(port) ? 1 : 2);
	if (port == plan->without_counters)
		return;
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		printf("%s.%u %ju\n", counters[i].object, port + 1,
		    (uintmax_t)sonic_counter(port, sonic_counter_field(counters[i].field), 0));
	for (size_t i = 0; i < sizeof(counters32) / sizeof(counters32[0]); i++)
		printf("%s.%u %ju\n", counters32[i].object, port + 1,
		    (uintmax_t)(uint32_t)sonic_counter(port, sonic_counter_field(counters32[i].field), 0));
}

int
main(int argc, char **argv)
{
	struct sonic_server server;
	struct sonic_plan plan;
	sigset_t ends;
	int number;

	if (argc != 6)
		return 2;
	plan = (struct sonic_plan){(uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]),
	    (uint32_t)atoi(argv[4]), atoi(argv[5])};
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	sonic_server_start(&server, true);
	sonic_fill(&server, &plan, 0);
	printf("%s\n", server.config);
	for (uint32_t port = 0; port < plan.n_ports; port++)
		print_port(&plan, port);
	for (uint32_t i = 0; i < plan.n_addresses; i++) {
		uint32_t vlan, port;
		uint8_t mac[6];

		sonic_address(&plan, i, mac, &vlan, &port);
		printf("dot1qTpFdbPort.%u.%u.%u.%u.%u.%u.%u %u\n", vlan, mac[0], mac[1], mac[2], mac[3], mac[4],
		    mac[5], port == plan.without_counters ? 0 : port + 1);
	}
	printf("end\n");
	fflush(stdout);
	sigwait(&ends, &number);
	sonic_server_end(&server);
	return 0;
}
