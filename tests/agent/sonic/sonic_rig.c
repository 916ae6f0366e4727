#include "tests/agent/sonic/sonic_rig.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { APPL, ASIC, COUNTERS, CONFIG = 4, STATE = 6 };
enum { PIPELINE = 256, LANES = 4 };

#define FAIL(...)                                                                                  \
	do {                                                                                       \
		fprintf(stderr, "sonic_rig: " __VA_ARGS__);                                        \
		fputc('\n', stderr);                                                               \
		abort();                                                                           \
	} while (0)

/* ---- the server ---- */

static void
write_config(const struct sonic_server *s)
{
	static const struct {
		const char *name;
		int id;
	} databases[] = {{"APPL_DB", APPL}, {"ASIC_DB", ASIC}, {"COUNTERS_DB", COUNTERS},
	    {"CONFIG_DB", CONFIG}, {"STATE_DB", STATE}};
	FILE *out = fopen(s->config, "w");

	if (!out)
		FAIL("%s cannot be written", s->config);
	fprintf(out, "{\"INSTANCES\": {\"redis\": {\"hostname\": \"127.0.0.1\", \"port\": %u, "
	    "\"unix_socket_path\": \"%s\"}}, \"DATABASES\": {", s->port ? s->port : 6379u, s->socket);
	for (size_t i = 0; i < sizeof(databases) / sizeof(databases[0]); i++)
		fprintf(out, "%s\"%s\": {\"id\": %d, \"separator\": \"|\", \"instance\": \"redis\"}",
		    i ? ", " : "", databases[i].name, databases[i].id);
	fprintf(out, "}, \"VERSION\": \"1.0\"}\n");
	fclose(out);
}

/* Waits for the server's own word that it listens. */
static void
await_ready(int fd)
{
	FILE *in = fdopen(fd, "r");
	char line[512];

	while (in && fgets(line, sizeof(line), in))
		if (strstr(line, "ready to accept connections") || strstr(line, "Ready to accept connections"))
			return; /* the pipe stays open: a server that cannot log would end */
	FAIL("redis-server did not start");
}

void
sonic_server_restart(struct sonic_server *s)
{
	char port[8];
	int fds[2];

	snprintf(port, sizeof(port), "%u", s->port);
	if (pipe(fds) < 0)
		FAIL("no pipe");
	s->pid = fork();
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* it ends with a test that fails, too */
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		execlp("redis-server", "redis-server", "--bind", "127.0.0.1", "--port", port, "--unixsocket", s->socket, "--save", "",
		    "--appendonly", "no", "--dir", s->dir, "--notify-keyspace-events", s->events ? "AKE" : "",
		    (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	await_ready(fds[0]);
	s->redis = redisConnectUnix(s->socket);
	if (!s->redis || s->redis->err)
		FAIL("no connection to the server");
}

static void
start(struct sonic_server *s, bool events, uint16_t port)
{
	*s = (struct sonic_server){.dir = "/tmp/ease-sonic-XXXXXX", .events = events, .port = port};
	if (!mkdtemp(s->dir))
		FAIL("no directory");
	snprintf(s->socket, sizeof(s->socket), "%s/redis.sock", s->dir);
	snprintf(s->config, sizeof(s->config), "%s/database_config.json", s->dir);
	write_config(s);
	sonic_server_restart(s);
}

void
sonic_server_start(struct sonic_server *s, bool events)
{
	start(s, events, 0);
}

/* The kernel knows a port that nobody uses. */
void
sonic_server_start_tcp(struct sonic_server *s, bool events)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		FAIL("no port");
	close(fd);
	start(s, events, ntohs(address.sin_port));
}

void
sonic_server_kill(struct sonic_server *s)
{
	if (s->redis)
		redisFree(s->redis);
	s->redis = NULL;
	if (s->pid > 0) {
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
	}
	s->pid = 0;
}

void
sonic_server_end(struct sonic_server *s)
{
	sonic_server_kill(s);
	unlink(s->socket);
	unlink(s->config);
	rmdir(s->dir);
}

/* ---- commands ---- */

static size_t sent; /* commands whose answers were not read yet */

static void
read_answers(struct sonic_server *s)
{
	for (; sent > 0; sent--) {
		redisReply *reply = NULL;

		if (redisGetReply(s->redis, (void **)&reply) != REDIS_OK)
			FAIL("the server is gone: %s", s->redis->errstr);
		if (reply->type == REDIS_REPLY_ERROR)
			FAIL("refused: %s", reply->str);
		freeReplyObject(reply);
	}
}

static void
send_command(struct sonic_server *s, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	redisvAppendCommand(s->redis, format, list);
	va_end(list);
	if (++sent >= PIPELINE)
		read_answers(s);
}

/* Words are parted by blanks; one within a word is written as \1. */
void
sonic_command(struct sonic_server *s, int database, const char *format, ...)
{
	char text[1024], *words[32], *rest = text;
	va_list list;
	int n = 0;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	while (n < 32 && (words[n] = strsep(&rest, " ")) != NULL)
		for (char *c = words[n++]; (c = strchr(c, 1)) != NULL;)
			*c = ' ';
	send_command(s, "SELECT %d", database);
	redisAppendCommandArgv(s->redis, n, (const char **)words, NULL);
	sent++;
	read_answers(s);
}

const char *
sonic_field(struct sonic_server *s, int database, const char *key, const char *field)
{
	static char text[256];
	redisReply *reply;

	freeReplyObject(redisCommand(s->redis, "SELECT %d", database));
	reply = redisCommand(s->redis, "HGET %s %s", key, field);
	snprintf(text, sizeof(text), "%s", reply && reply->type == REDIS_REPLY_STRING ? reply->str : "");
	if (reply)
		freeReplyObject(reply);
	return text;
}

/* ---- the truth ---- */

/* Beside what the agent reads, as SONiC writes it. */
const char *const sonic_counter_fields[] = {
    "IF_IN_OCTETS", "IF_IN_UCAST_PKTS", "IF_IN_NON_UCAST_PKTS", "IF_IN_MULTICAST_PKTS", "IF_IN_BROADCAST_PKTS",
    "IF_IN_DISCARDS", "IF_IN_ERRORS", "IF_IN_UNKNOWN_PROTOS", "IF_OUT_OCTETS", "IF_OUT_UCAST_PKTS",
    "IF_OUT_NON_UCAST_PKTS", "IF_OUT_MULTICAST_PKTS", "IF_OUT_BROADCAST_PKTS", "IF_OUT_DISCARDS", "IF_OUT_ERRORS",
    "IF_OUT_QLEN", "PAUSE_RX_PKTS", "PAUSE_TX_PKTS", "ETHER_STATS_DROP_EVENTS", "ETHER_STATS_OCTETS",
    "ETHER_STATS_PKTS", "ETHER_STATS_BROADCAST_PKTS", "ETHER_STATS_MULTICAST_PKTS",
    "ETHER_STATS_CRC_ALIGN_ERRORS", "ETHER_STATS_UNDERSIZE_PKTS", "ETHER_STATS_OVERSIZE_PKTS",
    "ETHER_STATS_FRAGMENTS", "ETHER_STATS_JABBERS", "ETHER_STATS_COLLISIONS", "ETHER_IN_PKTS_64_OCTETS",
    "ETHER_IN_PKTS_65_TO_127_OCTETS", "ETHER_IN_PKTS_128_TO_255_OCTETS", "ETHER_IN_PKTS_256_TO_511_OCTETS",
    "ETHER_IN_PKTS_512_TO_1023_OCTETS", "ETHER_IN_PKTS_1024_TO_1518_OCTETS",
    "ETHER_IN_PKTS_1519_TO_2047_OCTETS", "PFC_3_RX_PKTS", "PFC_3_TX_PKTS",
};
const size_t sonic_n_counter_fields = sizeof(sonic_counter_fields) / sizeof(sonic_counter_fields[0]);

size_t
sonic_counter_field(const char *name)
{
	for (size_t i = 0; i < sonic_n_counter_fields; i++)
		if (strcmp(sonic_counter_fields[i], name) == 0)
			return i;
	FAIL("there is no field %s", name);
}

/* Octets pass at line rate of 100 Gb/s, and packets as they would; each field of each port is another number. */
uint64_t
sonic_counter(uint32_t port, size_t field, uint64_t t_s)
{
	uint64_t per_s = strstr(sonic_counter_fields[field], "_OCTETS") &&
		!strstr(sonic_counter_fields[field], "PKTS") ? 12500000000ull : 148809523ull / (field + 1);

	return 1000000007ull * (port + 1) + 100003 * field + per_s * t_s;
}

uint32_t
sonic_speed_mbps(uint32_t port)
{
	return port % 5 == 1 ? 25000 : 100000;
}

bool
sonic_admin_up(uint32_t port)
{
	return port % 11 != 5;
}

bool
sonic_oper_up(uint32_t port)
{
	return sonic_admin_up(port) && port % 13 != 3;
}

void
sonic_description(uint32_t port, char *text, size_t size)
{
	text[0] = '\0';
	if (port % 7 != 2)
		snprintf(text, size, "to_rack_%u", port);
}

int64_t
sonic_lag_of(const struct sonic_plan *plan, uint32_t port)
{
	uint32_t first = plan->n_ports - 2 * plan->n_lags;

	return port >= first ? (int64_t)(port - first) / 2 + 1 : -1;
}

uint32_t
sonic_vlan(const struct sonic_plan *plan, uint32_t i)
{
	return plan->n_vlans ? 10 + i % plan->n_vlans : 0;
}

uint32_t
sonic_pvid(const struct sonic_plan *plan, uint32_t port)
{
	return sonic_lag_of(plan, port) < 0 ? sonic_vlan(plan, port) : 0;
}

uint32_t
sonic_tagged(const struct sonic_plan *plan, uint32_t port)
{
	return sonic_lag_of(plan, port) < 0 && plan->n_vlans > 1 ? sonic_vlan(plan, port + 1) : 0;
}

void
sonic_address(const struct sonic_plan *plan, uint32_t i, uint8_t mac[6], uint32_t *vlan, uint32_t *port)
{
	uint32_t spread = i * 2654435761u & 0xffffff;

	*port = i % (plan->n_ports - 2 * plan->n_lags);
	*vlan = sonic_pvid(plan, *port);
	memcpy(mac, (uint8_t[6]){0x00, 0x1b, 0x21, (uint8_t)(spread >> 16), (uint8_t)(spread >> 8), (uint8_t)spread}, 6);
}

/* ---- filling ---- */

static unsigned long long
port_object(uint32_t port)
{
	return 0x1000000000018ull + port;
}

static void
fill_port(struct sonic_server *s, const struct sonic_plan *plan, uint32_t port)
{
	char description[64];
	int64_t lag = sonic_lag_of(plan, port);

	sonic_description(port, description, sizeof(description));
	send_command(s, "SELECT %d", APPL);
	send_command(s, "HSET PORT_TABLE:Ethernet%u alias etp%u description %s speed %u mtu 9100 admin_status %s "
	    "oper_status %s lanes %u index %u", port, port + 1, description, sonic_speed_mbps(port),
	    sonic_admin_up(port) ? "up" : "down", sonic_oper_up(port) ? "up" : "down", LANES * port, port);
	if (lag >= 0)
		send_command(s, "HSET LAG_MEMBER_TABLE:PortChannel%d:Ethernet%u status %s", (int)lag, port,
		    sonic_oper_up(port) ? "enabled" : "disabled");
	if (sonic_pvid(plan, port) != 0)
		send_command(s, "HSET VLAN_MEMBER_TABLE:Vlan%u:Ethernet%u tagging_mode untagged",
		    sonic_pvid(plan, port), port);
	if (sonic_tagged(plan, port) != 0)
		send_command(s, "HSET VLAN_MEMBER_TABLE:Vlan%u:Ethernet%u tagging_mode tagged",
		    sonic_tagged(plan, port), port);
	send_command(s, "SELECT %d", STATE);
	send_command(s, "HSET PORT_INDEX_TABLE|Ethernet%u index %u ifindex %u", port, port, 100 + port);
	send_command(s, "SELECT %d", ASIC);
	send_command(s, "HSET ASIC_STATE:SAI_OBJECT_TYPE_BRIDGE_PORT:oid:0x%llx SAI_BRIDGE_PORT_ATTR_TYPE "
	    "SAI_BRIDGE_PORT_TYPE_PORT SAI_BRIDGE_PORT_ATTR_PORT_ID oid:0x%llx",
	    0x3a000000000000ull + port + 1, port_object(port));
	send_command(s, "SELECT %d", COUNTERS);
	if (port != plan->without_counters)
		send_command(s, "HSET COUNTERS_PORT_NAME_MAP Ethernet%u oid:0x%llx", port, port_object(port));
}

static void
fill_group(struct sonic_server *s, const char *table, const char *name, uint32_t number)
{
	send_command(s, "SELECT %d", APPL);
	send_command(s, "HSET %s:%s%u admin_status up oper_status up mtu 9100", table, name, number);
}

static void
fill_vlan(struct sonic_server *s, uint32_t vlan)
{
	fill_group(s, "VLAN_TABLE", "Vlan", vlan);
	send_command(s, "SELECT %d", ASIC);
	send_command(s, "HSET ASIC_STATE:SAI_OBJECT_TYPE_VLAN:oid:0x%llx SAI_VLAN_ATTR_VLAN_ID %u",
	    0x26000000000000ull + vlan, vlan);
}

/* Every third address names its VLAN by number, as old SAI does; the others by object. */
static void
fill_address(struct sonic_server *s, const struct sonic_plan *plan, uint32_t i)
{
	char key[256], vlan_text[64];
	uint32_t vlan, port;
	uint8_t mac[6];

	sonic_address(plan, i, mac, &vlan, &port);
	if (i % 3 == 0)
		snprintf(vlan_text, sizeof(vlan_text), "\"vlan\":\"%u\"", vlan);
	else
		snprintf(vlan_text, sizeof(vlan_text), "\"bvid\":\"oid:0x%llx\"", 0x26000000000000ull + vlan);
	snprintf(key, sizeof(key), "ASIC_STATE:SAI_OBJECT_TYPE_FDB_ENTRY:{%s,\"mac\":\"%02X:%02X:%02X:%02X:%02X:%02X\","
	    "\"switch_id\":\"oid:0x21000000000000\"}", vlan_text, mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
	send_command(s, "HSET %s SAI_FDB_ENTRY_ATTR_TYPE SAI_FDB_ENTRY_TYPE_DYNAMIC SAI_FDB_ENTRY_ATTR_BRIDGE_PORT_ID "
	    "oid:0x%llx", key, 0x3a000000000000ull + port + 1);
}

void
sonic_count(struct sonic_server *s, const struct sonic_plan *plan, uint64_t t_s)
{
	send_command(s, "SELECT %d", COUNTERS);
	for (uint32_t port = 0; port < plan->n_ports; port++) {
		const char *words[2 + 2 * 64];
		char key[64], names[64][64], values[64][24];
		int n = 0;

		if (port == plan->without_counters)
			continue;
		snprintf(key, sizeof(key), "COUNTERS:oid:0x%llx", port_object(port));
		words[n++] = "HSET";
		words[n++] = key;
		for (size_t field = 0; field < sonic_n_counter_fields; field++) {
			snprintf(names[field], sizeof(names[field]), "SAI_PORT_STAT_%s", sonic_counter_fields[field]);
			snprintf(values[field], sizeof(values[field]), "%ju",
			    (uintmax_t)sonic_counter(port, field, t_s));
			words[n++] = names[field];
			words[n++] = values[field];
		}
		redisAppendCommandArgv(s->redis, n, words, NULL);
		if (++sent >= PIPELINE)
			read_answers(s);
	}
	read_answers(s);
}

void
sonic_fill(struct sonic_server *s, const struct sonic_plan *plan, uint64_t t_s)
{
	for (uint32_t port = 0; port < plan->n_ports; port++)
		fill_port(s, plan, port);
	for (uint32_t i = 1; i <= plan->n_lags; i++) {
		fill_group(s, "LAG_TABLE", "PortChannel", i);
		send_command(s, "SELECT %d", COUNTERS);
		send_command(s, "HSET COUNTERS_LAG_NAME_MAP PortChannel%u oid:0x%llx", i, 0x2000000000000ull + i);
	}
	for (uint32_t i = 0; i < plan->n_vlans; i++)
		fill_vlan(s, sonic_vlan(plan, i));
	send_command(s, "SELECT %d", ASIC);
	for (uint32_t i = 0; i < plan->n_addresses; i++)
		fill_address(s, plan, i);
	send_command(s, "SELECT %d", CONFIG);
	send_command(s, "HSET DEVICE_METADATA|localhost hostname sonic mac 52:54:00:12:34:56 "
	    "platform x86_64-accton_as7712_32x-r0");
	send_command(s, "HSET MGMT_PORT|eth0 alias eth0 admin_status up");
	send_command(s, "SELECT %d", STATE);
	send_command(s, "HSET MGMT_PORT_TABLE|eth0 oper_status up");
	sonic_count(s, plan, t_s);
	send_command(s, "SELECT %d", APPL);
	send_command(s, "HSET SWITCH_TABLE:switch fdb_aging_time 600");
	send_command(s, "HSET ROUTE_TABLE:10.0.0.0/8 nexthop 10.1.1.1 ifname Ethernet0");
	send_command(s, "HSET PORT_TABLE:PortConfigDone count %u", plan->n_ports);
	send_command(s, "HSET PORT_TABLE:PortInitDone lanes 0");
	read_answers(s);
}
