/*
 * The peer of the SNMP measurements: the least that Net-SNMP's agent library needs to serve a table
 * and to send notifications, with its own helpers (table_container) and its own way of sending.
 *
 *	bare_subagent SOCKET ROWS ADDRESSES
 *
 * A table of ROWS rows and 19 Counter64 columns at BARE_TABLE, as ifXTable has, and one of ADDRESSES
 * rows at BARE_ADDRESSES that is as dot1dTpFdbTable: MacAddress as index, address, port, status.
 *
 * A line "burst N" on its input sends N notifications of the same objects as an easeSamples of one
 * sample, 32 at a time as the credit window of agent/snmp does, and answers with one JSON object
 * when all are confirmed.
 */
#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include <net-snmp/agent/net-snmp-agent-includes.h>

#include <net-snmp/agent/agent_callbacks.h>

#include "common/clock.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BARE_TABLE 1, 3, 6, 1, 4, 1, 8072, 9999, 9999, 98, 1
#define BARE_ADDRESSES 1, 3, 6, 1, 4, 1, 8072, 9999, 9999, 98, 2

enum { COLUMNS = 19, MAC_OCTETS = 6, WINDOW = 32, AGENTX_NOTIFY_PDU = 12 };
enum { ADDRESS = 1, PORT, STATUS };
enum { AGENT_ID_OCTETS = 8, SAMPLE_OCTETS = 180, SNAPSHOT_OCTETS = 165 };

struct row {
	netsnmp_index index;
	oid number;
	uint64_t values[COLUMNS];
};

struct address {
	netsnmp_index index;
	oid arcs[MAC_OCTETS];
	uint8_t mac[MAC_OCTETS];
	int port, status;
};

/* Net-SNMP's callbacks give no cookie where these are needed. */
static struct {
	netsnmp_session *session;
	long sent, answered;
} bare;

static int
on_session_up(int major, int minor, void *session, void *ctx)
{
	(void)major;
	(void)minor;
	(void)ctx;
	bare.session = session;
	return 0;
}

static int
handle(netsnmp_mib_handler *handler, netsnmp_handler_registration *registration,
    netsnmp_agent_request_info *info, netsnmp_request_info *requests)
{
	(void)handler;
	(void)registration;
	(void)info;
	for (; requests; requests = requests->next) {
		struct row *row = netsnmp_container_table_row_extract(requests);
		netsnmp_table_request_info *table = netsnmp_extract_table_info(requests);
		struct counter64 c64;

		if (!row || !table)
			continue;
		c64.high = row->values[table->colnum - 1] >> 32;
		c64.low = row->values[table->colnum - 1] & 0xffffffff;
		snmp_set_var_typed_value(requests->requestvb, ASN_COUNTER64, &c64, sizeof(c64));
	}
	return SNMP_ERR_NOERROR;
}

static int
handle_addresses(netsnmp_mib_handler *handler, netsnmp_handler_registration *registration,
    netsnmp_agent_request_info *info, netsnmp_request_info *requests)
{
	(void)handler;
	(void)registration;
	(void)info;
	for (; requests; requests = requests->next) {
		struct address *row = netsnmp_container_table_row_extract(requests);
		netsnmp_table_request_info *table = netsnmp_extract_table_info(requests);

		if (!row || !table)
			continue;
		if (table->colnum == ADDRESS)
			snmp_set_var_typed_value(requests->requestvb, ASN_OCTET_STR, row->mac,
			    sizeof(row->mac));
		else
			snmp_set_var_typed_integer(requests->requestvb, ASN_INTEGER,
			    table->colnum == PORT ? row->port : row->status);
	}
	return SNMP_ERR_NOERROR;
}

static void
serve_addresses(size_t n_rows)
{
	static const oid name[] = {BARE_ADDRESSES};
	netsnmp_container *rows = netsnmp_container_find("addresses:table_container");
	netsnmp_table_registration_info *table = calloc(1, sizeof(*table));
	struct address *row = calloc(n_rows, sizeof(*row));

	for (size_t i = 0; i < n_rows; i++) {
		row[i] = (struct address){.mac = {0, 16, 32, (uint8_t)(i >> 16), (uint8_t)(i >> 8),
		    (uint8_t)i}, .port = 1, .status = 3};
		for (int octet = 0; octet < MAC_OCTETS; octet++)
			row[i].arcs[octet] = row[i].mac[octet];
		row[i].index = (netsnmp_index){.len = MAC_OCTETS, .oids = row[i].arcs};
		CONTAINER_INSERT(rows, &row[i]);
	}
	for (int octet = 0; octet < MAC_OCTETS; octet++)
		netsnmp_table_helper_add_index(table, ASN_INTEGER);
	table->min_column = ADDRESS;
	table->max_column = STATUS;
	netsnmp_container_table_register(netsnmp_create_handler_registration("addresses",
					     handle_addresses, name, OID_LENGTH(name),
					     HANDLER_CAN_RONLY),
	    table, rows, TABLE_CONTAINER_KEY_NETSNMP_INDEX);
}

static void
serve_table(size_t n_rows)
{
	static const oid name[] = {BARE_TABLE};
	netsnmp_container *rows = netsnmp_container_find("bare:table_container");
	netsnmp_table_registration_info *table = calloc(1, sizeof(*table));
	struct row *row = calloc(n_rows, sizeof(*row));

	for (size_t i = 0; i < n_rows; i++) {
		row[i].number = i + 1;
		row[i].index = (netsnmp_index){.len = 1, .oids = &row[i].number};
		for (int column = 0; column < COLUMNS; column++)
			row[i].values[column] = (i << 33) + (unsigned)column;
		CONTAINER_INSERT(rows, &row[i]);
	}
	netsnmp_table_helper_add_indexes(table, ASN_INTEGER, 0);
	table->min_column = 1;
	table->max_column = COLUMNS;
	netsnmp_container_table_register(netsnmp_create_handler_registration("bare", handle, name,
					     OID_LENGTH(name), HANDLER_CAN_RONLY),
	    table, rows, TABLE_CONTAINER_KEY_NETSNMP_INDEX);
}

static int
on_answer(int operation, netsnmp_session *session, int request, netsnmp_pdu *pdu, void *ctx)
{
	(void)operation;
	(void)session;
	(void)request;
	(void)pdu;
	(void)ctx;
	bare.answered++;
	return 1;
}

static void
add_octets(netsnmp_pdu *pdu, oid arc, oid if_index, size_t octets)
{
	static const uint8_t zeros[SAMPLE_OCTETS];
	const oid name[] = {BARE_TABLE, 1, 3, 1, 1, arc, if_index, 1};

	snmp_pdu_add_variable(pdu, name, OID_LENGTH(name), ASN_OCTET_STR, zeros, octets);
}

static void
send_one(void)
{
	static const oid trap_oid_name[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0};
	static const oid trap[] = {BARE_TABLE, 0, 1}, boot_name[] = {BARE_TABLE, 1, 1, 2, 0};
	const u_long boot = 7;
	netsnmp_pdu *pdu = snmp_pdu_create(AGENTX_NOTIFY_PDU);

	pdu->version = bare.session->version;
	pdu->sessid = bare.session->sessid;
	snmp_pdu_add_variable(pdu, trap_oid_name, OID_LENGTH(trap_oid_name), ASN_OBJECT_ID, trap,
	    sizeof(trap));
	add_octets(pdu, 1, 0, AGENT_ID_OCTETS);
	snmp_pdu_add_variable(pdu, boot_name, OID_LENGTH(boot_name), ASN_UNSIGNED, &boot,
	    sizeof(boot));
	add_octets(pdu, 2, 1, SAMPLE_OCTETS);
	add_octets(pdu, 3, 1, SNAPSHOT_OCTETS);
	if (snmp_async_send(bare.session, pdu, on_answer, NULL) == 0)
		snmp_free_pdu(pdu);
	else
		bare.sent++;
}

static void
burst(long n)
{
	uint64_t start_us = clock_mono_us(&clock_system), took_us;
	long end = bare.sent + n;

	while (!bare.session)
		agent_check_and_process(1);
	while (bare.answered < end) {
		while (bare.sent < end && bare.sent - bare.answered < WINDOW)
			send_one();
		agent_check_and_process(1);
	}
	took_us = clock_mono_us(&clock_system) - start_us;
	printf("{\"burst\":%ld,\"notifications_per_s\":%.0f}\n", n,
	    (double)n * 1e6 / (double)took_us);
	fflush(stdout);
}

static void
on_input(int fd, void *stop)
{
	char line[64];
	ssize_t len = read(fd, line, sizeof(line) - 1);
	long n;

	if (len <= 0) {
		*(bool *)stop = true;
		return;
	}
	line[len] = '\0';
	if (sscanf(line, "burst %ld", &n) == 1)
		burst(n);
}

int
main(int argc, char **argv)
{
	bool stop = false;

	if (argc != 4)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	setenv("MIBS", "", 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_READ_CONFIGS, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_PERSIST_STATE, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_NO_ROOT_ACCESS, 1);
	snmp_disable_log();
	netsnmp_enable_subagent();
	netsnmp_ds_set_string(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_X_SOCKET, argv[1]);
	init_agent("bare_subagent");
	netsnmp_ds_set_int(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_AGENTX_PING_INTERVAL, 1);
	snmp_register_callback(SNMP_CALLBACK_APPLICATION, SNMPD_CALLBACK_INDEX_START, on_session_up,
	    NULL);
	serve_table(strtoul(argv[2], NULL, 10));
	serve_addresses(strtoul(argv[3], NULL, 10));
	init_snmp("bare_subagent");
	register_readfd(STDIN_FILENO, on_input, &stop);
	while (!stop)
		agent_check_and_process(1);
	snmp_shutdown("bare_subagent");
	return 0;
}
