#include "collector/config.h"
#include "collector/alarm/alarm_rule.h"
#include "collector/cluster/http.h"
#include "collector/cluster/schema.h"
#include "collector/cluster/url.h"
#include "collector/filter/address_databases.h"
#include "collector/input/forward.h"
#include "collector/input/receiver_threads.h"
#include "collector/input/receive.h"
#include "collector/input/v3.h"
#include "collector/precision/goal.h"
#include "collector/precision/steering.h"
#include "collector/window/agent_identity.h"
#include "collector/window/uplinks.h"
#include "common/endpoint.h"
#include "common/privilege.h"
#include "common/udp_out.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define USER_AT(member) offsetof(struct collector_user, member)
#define POLL_AT(member) offsetof(struct collector_poll, member)
#define INFORM_AT(member) offsetof(struct collector_inform, member)
#define AT(member) offsetof(struct collector_config, member)

enum {
	COMMUNITY_MAX = 255, /* as Net-SNMP: a longer one could not be sent by it */
	HTTP_TOKEN_MIN = 8,  /* as a passphrase */
	CREDENTIAL_MAX = 255,
	MAX_POLL_AGENTS = 1024,
	MAX_POLLS = 64,
	MAX_ALARM_POSTS = 4,
	MAX_ALARM_INFORMS = 4,
};

static const char *const log_targets[] = {"stderr", "syslog", NULL};
static const char *const log_levels[] = {"error", "warn", "info", "debug", NULL};

static const char *
store_check(const char *value)
{
	return *value ? NULL : "give the path of a file";
}

static const char *
community_check(const char *value)
{
	if (strlen(value) > COMMUNITY_MAX)
		return "a community has at most 255 octets";
	return *value ? NULL : "an empty community would admit everybody";
}

static const char *
passphrase_check(const char *value)
{
	return strlen(value) < V3_PASSPHRASE_MIN ? "a passphrase has at least 8 characters" : NULL;
}

static const char *
optional_endpoint_check(const char *value)
{
	return *value ? endpoint_check(value) : NULL;
}

static const char *
http_store_check(const char *value)
{
	return strcmp(value, "sqlite") == 0 || strcmp(value, "clickhouse") == 0 ? NULL
	    : "expected sqlite or clickhouse";
}

static const char *
http_token_check(const char *value)
{
	return *value && strlen(value) < HTTP_TOKEN_MIN ? "a token has at least 8 characters" : NULL;
}

static const char *
database_check(const char *value)
{
	return cluster_is_database_name(value) ? NULL : "only letters, digits and _ are allowed";
}

static const char *
cluster_check(const char *value)
{
	return !*value || cluster_is_cluster_name(value) ? NULL
	    : "only letters, digits, _ . and - are allowed";
}

/* User and password go into HTTP headers. */
static const char *
user_check(const char *value)
{
	if (strlen(value) > CREDENTIAL_MAX)
		return "at most 255 characters are allowed";
	return strpbrk(value, "\r\n") ? "line breaks are not allowed" : NULL;
}

static const struct option_row user_options[] = {
    {"engine_ids", OPTION_LIST, USER_AT(engine_ids), .max = V3_ENGINES_MAX,
	.check = v3_engine_id_check,
	.help = "Engine IDs that this user may send traps from: 0x and hexadecimal digits. "
		"Informs need none."},
    {"auth_protocol", OPTION_ENUM, USER_AT(auth_protocol), .choices = v3_auth_protocols,
	.def = "SHA-256",
	.help = "Protocol that authenticates messages."},
    {"auth_passphrase", OPTION_STRING, USER_AT(auth_passphrase), .secret = true,
	.check = passphrase_check,
	.help = "At least 8 characters. There is no default."},
    {"priv_protocol", OPTION_ENUM, USER_AT(priv_protocol), .choices = v3_priv_protocols,
	.def = "AES",
	.help = "Protocol that encrypts messages."},
    {"priv_passphrase", OPTION_STRING, USER_AT(priv_passphrase), .secret = true,
	.check = passphrase_check,
	.help = "At least 8 characters. There is no default."},
    {.name = NULL},
};

static const char *
poll_community_check(const char *value)
{
	return strlen(value) > COMMUNITY_MAX ? "a community has at most 255 octets" : NULL;
}

static const char *
poll_passphrase_check(const char *value)
{
	if (!*value) /* not set: why_incomplete() says where it must be */
		return NULL;
	return strlen(value) > CREDENTIAL_MAX ? "at most 255 characters are allowed" : passphrase_check(value);
}

/* The rows of struct collector_credentials, at its place in a section's struct. */
#define CREDENTIAL_ROWS(at, may) \
    {"community", OPTION_STRING, (at) + offsetof(struct collector_credentials, community), .secret = true, \
	.check = poll_community_check, .help = "SNMPv2c community that " may ". Empty: SNMPv3, with the user below."}, \
    {"user", OPTION_STRING, (at) + offsetof(struct collector_credentials, user), .max = V3_USER_MAX, \
	.help = "SNMPv3 user that " may ", authenticated and encrypted (authPriv)."}, \
    {"auth_protocol", OPTION_ENUM, (at) + offsetof(struct collector_credentials, auth_protocol), \
	.choices = v3_auth_protocols, .def = "SHA-256", .help = "Protocol that authenticates messages."}, \
    {"auth_passphrase", OPTION_STRING, (at) + offsetof(struct collector_credentials, auth_passphrase), .secret = true, \
	.check = poll_passphrase_check, .help = "8 to 255 characters."}, \
    {"priv_protocol", OPTION_ENUM, (at) + offsetof(struct collector_credentials, priv_protocol), \
	.choices = v3_priv_protocols, .def = "AES", .help = "Protocol that encrypts messages."}, \
    {"priv_passphrase", OPTION_STRING, (at) + offsetof(struct collector_credentials, priv_passphrase), .secret = true, \
	.check = poll_passphrase_check, .help = "8 to 255 characters."}

#define SWITCH_ROWS(who, may) \
    {"agents", OPTION_LIST, POLL_AT(agents), .max = MAX_POLL_AGENTS, .check = prefix_check, \
	.help = who ": ADDRESS or ADDRESS/BITS of the agents' addresses, as their samples state them. Nobody " \
		"else ever gets a packet or these credentials. The first section that has an address counts."}, \
    {"port", OPTION_U32, POLL_AT(port), .min = 1, .max = UINT16_MAX, .def = "161", .help = "Their UDP port."}, \
    CREDENTIAL_ROWS(POLL_AT(as), may)

static const struct option_row poll_options[] = {
    SWITCH_ROWS("Who is asked", "may read"),
    {.name = NULL},
};

static const struct option_row steer_options[] = {
    SWITCH_ROWS("Whose skips are set", "may write"),
    {"sflow_to", OPTION_STRING, POLL_AT(sflow_to), .check = optional_endpoint_check,
	.help = "They are switches of other makes that have SFLOW-MIB: one receiver of each sends to this address of the "
		"collector, ADDRESS:PORT, and what nobody samples there is sampled. Their agents must be single addresses. Empty: "
		"they are agents of easeswitch."},
    {"sflow_skip", OPTION_U32, POLL_AT(sflow_skip), .min = 1, .max = EASE_DRAWN_MEAN_MAX, .def = "4096",
	.help = "With sflow_to: at first one frame in so many is sampled, until the goals say otherwise."},
    {.name = NULL},
};

static const char *
absolute_check(const char *value)
{
	return !*value || *value == '/' ? NULL : "the path of a program must begin with /";
}

static const char *
post_check(const char *value)
{
	if (strcmp(value, "(hidden)") == 0) /* as options_print() writes it, which must be read again */
		return NULL;
	if (strncmp(value, "http://", 7) != 0 && strncmp(value, "https://", 8) != 0)
		return "expected http://… or https://…";
	return cluster_http_is_built() ? NULL : "this program was built without libcurl";
}

static const struct option_row inform_options[] = {
    {"to", OPTION_STRING, INFORM_AT(to), .check = endpoint_check, .help = "Where they go, written as in listen; the usual port is 162."},
    CREDENTIAL_ROWS(INFORM_AT(as), "it takes informs of"),
    {.name = NULL},
};

enum {
	MAX_COMMUNITIES = 64, /* each is compared with each message */
	MAX_SENDERS = 1024,
	MAX_AGENT_SOURCES = 4096,
	MAX_UPLINKS = 1024,
	MAX_HOSTS = 64,
	MAX_SERVERS = 256,
	MAX_KEEP_D = 36500, /* a hundred years, which still fit 64-bit microseconds */
	MAX_KEEP_H = 24 * MAX_KEEP_D,
};

static const char *const share_choices[] = {"even", "most", NULL};

const struct option_row collector_options[] = {
    {"listen", OPTION_LIST, AT(listen), .max = RECEIVE_SOCKETS_MAX,
	.def = "{\"127.0.0.1:162\", \"[::1]:162\"}", .check = endpoint_check,
	.help = "Addresses where notifications are received: ADDRESS:PORT or "
		"[IPV6-ADDRESS]:PORT. Port 0 lets the system choose a port. They are not opened "
		"where neither a community nor a user is configured, and sflow_listen is."},
    {"sflow_listen", OPTION_LIST, AT(sflow_listen), .max = RECEIVE_SOCKETS_MAX,
	.check = endpoint_check,
	.help = "Addresses where sFlow v5 is received, written as in listen; sFlow's port is "
		"6343. IPFIX with samples of packets (elements 315, 313) is received there as well; its port is "
		"4739. Empty: neither is received. A switch should send notifications or "
		"sFlow to a collector, not both: it would be counted as two switches."},
    {"forward", OPTION_LIST, AT(forward), .max = FORWARD_RECEIVERS_MAX, .live = true, .check = udp_out_check,
	.help = "Where each sFlow datagram of an allowed sender goes on to, unchanged, written as in listen: what "
		"received it before goes on as before. It comes from this machine's address; the agent's own is in it. "
		"What cannot be sent at once is counted (forward.queue_full) and not sent, and nothing that is "
		"received here waits for it. A datagram that came within two seconds before is not sent again. Empty: "
		"nowhere."},
    {"sflow_shared_agents", OPTION_LIST, AT(sflow_shared_agents), .max = MAX_SENDERS, .check = prefix_check,
	.help = "Agent addresses that several switches state, as sFlow agents behind NAT or with a maker's default do: "
		"ADDRESS or ADDRESS/BITS. Each sender of such an address is a switch of its own, named by the "
		"sender's address. Unspecified and loopback addresses, 128.0.0.0/24 (inside Juniper's) and 240.127.1.1 "
		"(SONiC's default) always are."},
    {"communities", OPTION_LIST, AT(communities), .max = MAX_COMMUNITIES, .secret = true,
	.live = true, .check = community_check,
	.help = "SNMPv2c communities that a notification may carry. There is no default. Neither a "
		"community nor a user is needed for sFlow alone."},
    {"user", OPTION_SECTION, AT(users), .max = V3_USERS_MAX, .live = true, .section = user_options,
	.section_size = sizeof(struct collector_user), .section_title_offset = USER_AT(name),
	.help = "An SNMPv3 user that may send notifications, authenticated and encrypted "
		"(authPriv)."},
    {"poll", OPTION_SECTION, AT(polls), .max = MAX_POLLS, .live = true, .section = poll_options,
	.section_size = sizeof(struct collector_poll), .section_title_offset = POLL_AT(title),
	.help = "Switches that send sFlow and are asked by SNMP for what they do not send: their name, names and aliases "
		"of interfaces, link aggregates, uplinks by LLDP, and counters, if they send none. Those that send EASE's "
		"notifications are asked for uplinks by LLDP. There is no default: nobody is asked. The first one of all begins with the next start."},
    {"poll_counters", OPTION_U32, AT(poll_counters_s), .min = 10, .max = 600, .live = true, .unit = "s", .def = "30",
	.help = "How often a port is asked for its counters."},
    {"poll_names", OPTION_U32, AT(poll_names_s), .min = 60, .max = 86400, .live = true, .unit = "s", .def = "3600",
	.help = "How often a port is asked for its names. A new port is asked at once."},
    {"poll_questions", OPTION_U32, AT(poll_questions), .min = 1, .max = 10000, .live = true, .unit = "questions/s", .def = "500",
	.help = "Most questions of all together in a second; one is of 3 ports' counters or 8 ports' names."},
    {"precision", OPTION_LIST, AT(precision), .max = PRECISION_GOALS_MAX, .live = true, .check = precision_goal_check,
	.help = "What is to be known how exactly: \"top 10 of each port within 10% every 5m\", \"talkers above 1% of each "
		"port within 20% every 5m\"; or of all ports, of agent NAME, of port AGENT:NAME; top 10 destinations, pairs or "
		"services; every 1m, 5m, 10m, 15m, 30m or 60m. The skips of the switches in sections steer follow from it. "
		"Empty: no skip is ever set."},
    {"precision_budget", OPTION_U32, AT(precision_budget), .max = 10000000, .live = true, .unit = "samples/s", .def = "20000",
	.help = "Most samples of all those ports together; 0: no limit."},
    {"precision_agent_budget", OPTION_U32, AT(precision_agent_budget), .max = 1000000, .live = true, .unit = "samples/s",
	.def = "0", .help = "Most samples of one switch; 0: no limit."},
    {"precision_share", OPTION_ENUM, AT(precision_share), .choices = share_choices, .live = true, .def = "even",
	.help = "Who gets less where the budget is short. even: all, so that the squares of their limits' widths have the least "
		"sum; most: those that want most, so that as many ports as can be are as exact as they shall be."},
    {"precision_owner", OPTION_STRING, AT(precision_owner), .max = STEERING_OWNER - 1,
	.help = "The name by which switches know this collector (easeRequestOwner), 16 characters at most. Each collector needs "
		"its own: the one that has a switch's lease sets its skips. Empty: the name of the machine."},
    {"steer", OPTION_SECTION, AT(steers), .max = MAX_POLLS, .live = true, .section = steer_options,
	.section_size = sizeof(struct collector_poll), .section_title_offset = POLL_AT(title),
	.help = "Switches whose skips follow the option precision, by SNMP SET: agents of easeswitch, told to take requests, or with "
		"sflow_to others. Their user or community must be allowed to write EASE-SAMPLING-MIB, or SFLOW-MIB. The first one of all begins with the next "
		"start."},
    {"senders", OPTION_LIST, AT(senders), .max = MAX_SENDERS, .live = true,
	.def = "{\"127.0.0.0/8\", \"::1/128\"}", .check = prefix_check,
	.help = "Allow-list of senders: ADDRESS or ADDRESS/BITS. Datagrams from other addresses "
		"are refused. 0.0.0.0/0 and ::/0 allow every address."},
    {"agent_sources", OPTION_LIST, AT(agent_sources), .max = MAX_AGENT_SOURCES, .live = true, .expert = true,
	.check = agent_source_check,
	.help = "As rows \"source\" of the file device_names, which replace it: \"AGENT-ID SOURCE\", or \"any SOURCE\"."},
    {"uplinks", OPTION_LIST, AT(uplinks), .max = MAX_UPLINKS, .live = true, .expert = true, .check = uplink_check,
	.help = "As rows \"uplink\" of the file device_names, which replace it: \"AGENT PORT\", or \"any PORT\"."},
    {"alarms", OPTION_LIST, AT(alarms), .max = ALARM_RULES_MAX, .live = true, .check = alarm_rule_check,
	.help = "What is told at once: \"KEY above RATE of each port\" or \"of all ports\", with \"burst SECONDSs\" "
		"behind it. KEY is talker, destination, pair, service, connections (SYNs of a server), protocol or "
		"port; RATE is in pps, b/s, kb/s, Mb/s, Gb/s, or % of the port's speed. A key raises the alarm "
		"when in some stretch of time it sent more than RATE, and RATE for the burst (1 s) beside it. All "
		"rules together raise one false alarm a month at most, whatever the traffic; conf/guide/alarms.md "
		"says why, and how soon a flood is told."},
    {"alarm_command", OPTION_STRING, AT(alarm_command), .max = 1023, .check = absolute_check,
	.help = "Program that is run when an alarm is raised (PATH raised) and when it is over (PATH over), with the facts as "
		"JSON on its standard input, as nobody where root starts the collector. It has 10 s, one is begun a second, and "
		"one that fails is run again. Empty: none. conf/guide/alarms.md has recipes."},
    {"alarm_post", OPTION_LIST, AT(alarm_posts), .max = MAX_ALARM_POSTS, .secret = true, .check = post_check,
	.help = "URLs that the same JSON is posted to: http://HOST:PORT/PATH or https://…"},
    {"alarm_inform", OPTION_SECTION, AT(alarm_informs), .max = MAX_ALARM_INFORMS, .section = inform_options,
	.section_size = sizeof(struct collector_inform), .section_title_offset = INFORM_AT(title),
	.help = "An SNMP manager that gets informs of alarms (EASE-COLLECTOR-MIB)."},
    {"alarm_hold", OPTION_U32, AT(alarm_hold_s), .max = 86400, .unit = "s", .def = "300",
	.help = "How long an alarm must have been over before command, URLs and managers are told so. One that comes back before "
		"they are told nothing of, and the next time it must be over for twice as long, up to 16 times."},
    {"store", OPTION_STRING, AT(store), .def = "/var/lib/easeswitch/ease.db", .check = store_check,
	.help = "The SQLite file that holds all data."},
    {"flush_interval", OPTION_U32, AT(flush_interval_ms), .expert = true, .min = 50, .max = 60000, .unit = "ms",
	.def = "1000", .live = true,
	.help = "Longest time between two transactions on the store."},
    {"receive_buffer", OPTION_U32, AT(receive_buffer_octets), .expert = true, .min = 65536, .max = 1u << 30,
	.unit = "octets", .def = "33554432",
	.help = "Size of each socket's buffer in the kernel. More than net.core.rmem_max needs "
		"CAP_NET_ADMIN."},
    {"threads", OPTION_U32, AT(threads), .min = 1, .max = RECEIVER_THREADS_MAX, .def = "1",
	.help = "Threads that receive and decode datagrams; several of them also share the "
		"datagrams of one busy sender. 1: the accounting thread does this work itself, "
		"which is best on one core. More relieve that thread and take 4 MiB of memory "
		"each."},
    {"memory", OPTION_U32, AT(memory_mib), .min = 128, .max = 1u << 16, .unit = "MiB",
	.def = "448",
	.help = "Memory that the collector may use in all. The part for keys is allocated at "
		"the start. When it is full, traffic of further keys is counted in \"others\", "
		"and reports say by how much a row can be wrong because of it."},
    {"sample_rows", OPTION_U32, AT(sample_rows), .min = 0, .max = 1000000, .unit = "rows/s",
	.def = "20000",
	.help = "Most samples per second that are stored as rows of their own. Above this rate "
		"a random one of every k samples is stored, with k in its row; sums still count "
		"every sample. 0: no limit."},
    {"vxlan_port", OPTION_U32, AT(vxlan_port), .max = UINT16_MAX, .def = "0",
	.help = "UDP port where VXLAN is sent beside 4789, as 8472 of Linux and of many overlays: lists with "
		"--layer inner look inside it. 0: none."},
    {"clock_tolerance", OPTION_U32, AT(clock_tolerance_ms), .max = 60000, .unit = "ms",
	.def = "2000",
	.help = "How far a switch's clock may be from this machine's. Beyond it, what the switch "
		"sends is stamped by its reception; reports and /metrics tell. 2 s harm no range "
		"that is asked for, and NTP keeps clocks far within. 0: every clock is "
		"believed, as is needed for recordings that are played in lock step."},
    {"http_listen", OPTION_STRING, AT(http_listen), .def = "127.0.0.1:8162",
	.check = optional_endpoint_check,
	.help = "Address where the page, /api/v1/ and /metrics are served, written as in "
		"listen. Empty: nowhere. If the address cannot be used, or memory is below 160 "
		"MiB, the collector runs without them."},
    {"http_token", OPTION_STRING, AT(http_token), .secret = true,
	.check = http_token_check, .live = true,
	.help = "Token that a client must send as \"Authorization: Bearer TOKEN\" to read data; "
		"the page asks for it. Empty: everybody who can reach http_listen can read the "
		"data."},
    {"http_hosts", OPTION_LIST, AT(http_hosts), .max = MAX_HOSTS, .live = true,
	.help = "Host names that browsers may use for the page when there is no token; IP "
		"addresses and localhost are always allowed. Other names are refused, since a "
		"foreign page could use one to read the data (DNS rebinding)."},
    {"http_connections", OPTION_U32, AT(http_connections), .expert = true, .min = 8, .max = 4096, .def = "256",
	.help = "Most connections at a time, 16 KiB of memory each; a browser opens up to six. "
		"A new connection above this limit closes the one that has been without a "
		"complete request for longest."},
    {"http_question", OPTION_U32, AT(http_question_ms), .expert = true, .min = 100, .max = 600000, .unit = "ms",
	.def = "5000",
	.help = "Longest time to answer one request."},
    {"http_store", OPTION_STRING, AT(http_store), .def = "sqlite", .check = http_store_check,
	.help = "What the page and /api/v1/ read: sqlite, the collector's own store, or "
		"clickhouse, the cluster that all collectors ship to."},
    {"http_metrics_ports", OPTION_U32, AT(http_metrics_ports), .expert = true, .max = 100000, .def = "1000",
	.help = "Most ports that /metrics has time series for, up to 15 each."},
    {"http_metrics_top", OPTION_U32, AT(http_metrics_top), .expert = true, .max = 100, .def = "10",
	.help = "How many of the largest sources, and of the largest services, /metrics has "
		"time series for, three each. The largest change with time, and each new one "
		"creates new time series in Prometheus."},
    {"names", OPTION_STRING, AT(names), .live = true,
	.help = "File with names of addresses, prefixes and VLANs for the page, as for easetop "
		"--names. It is read again at SIGHUP."},
    {"mmdb", OPTION_LIST, AT(mmdb), .max = ADDRESS_DATABASES_MAX, .live = true,
	.help = "Files of AS numbers and countries for the page, as for easetop --mmdb: GeoLite2-ASN.mmdb, "
		"GeoLite2-Country.mmdb and others of that format. The first that knows an address answers."},
    {"device_names", OPTION_STRING, AT(device_names), .live = true,
	.help = "File of switches and their ports: names, the sites where they stand, which ports lead to other switches, "
		"and who may speak for which agent; easecapd(8) has its rows. It is read at the start and at SIGHUP. "
		"Names and sites go into the store, from where easetop, the page and the cluster have them. If it has a "
		"mistake, nothing of it holds at a start but the names that the store has, and SIGHUP changes nothing. "
		"Empty: there is none."},
    {"vendors", OPTION_BOOL, AT(vendors), .def = "false",
	.help = "Whether the page shows the vendors of MAC addresses (needs the package "
		"ieee-data)."},
    {"resolve", OPTION_BOOL, AT(resolve), .def = "false", .live = true,
	.help = "Whether the page shows the names that the resolver knows of IP addresses, where the file names has none. "
		"A thread of its own asks, so a name is there at the page's next look; an answer is kept for an hour."},
    {"keep_samples", OPTION_U32, AT(keep_samples_h), .group = "keep", .max = MAX_KEEP_H, .unit = "h", .def = "24",
	.live = true,
	.help = "How long the row of each sample is kept. Filters across keys and addresses "
		"inside tunnels are answered from these rows."},
    {"keep_headers", OPTION_U32, AT(keep_headers_h), .group = "keep", .max = MAX_KEEP_H, .unit = "h", .def = "0",
	.help = "How long the first 128 octets of each sampled frame are kept with its row, and not longer than that, for "
		"easetop samples --format pcapng. easecapd --plan says what disk it takes. 0: not at all."},
    {"keep_1min", OPTION_U32, AT(keep_1min_h), .group = "keep", .max = MAX_KEEP_H, .unit = "h", .def = "48",
	.live = true,
	.help = "How long sums per minute are kept, and single discarded packets; those of longer "
		"ago are kept by hour, port and reason. The default reaches back to yesterday."},
    {"keep_5min", OPTION_U32, AT(keep_5min_d), .group = "keep", .max = MAX_KEEP_D, .unit = "d", .def = "14",
	.live = true,
	.help = "How long sums per 5 minutes, and where addresses were seen, are kept. The "
		"default covers this week and the last one."},
    {"keep_1h", OPTION_U32, AT(keep_1h_d), .group = "keep", .max = MAX_KEEP_D, .unit = "d", .def = "92",
	.live = true,
	.help = "How long sums per hour are kept. The default covers a quarter of a year."},
    {"keep_1d", OPTION_U32, AT(keep_1d_d), .group = "keep", .max = MAX_KEEP_D, .unit = "d", .def = "800",
	.live = true,
	.help = "How long sums per day, events and hours of discarded packets are kept. The default covers this year and "
		"the last one, and some weeks more."},
    {"keep", OPTION_GROUP, .live = true,
	.help = "How long data is kept, in hours (h) or days (d). What is not named keeps its default; 0 is for ever, but of headers."},
    {"forget_after", OPTION_U32, AT(forget_after_d), .max = MAX_KEEP_D, .unit = "d", .def = "90",
	.live = true,
	.help = "Switches and ports that were silent for so long are forgotten once their last "
		"figures are deleted (1d in keep). Until then one that comes back goes on where it "
		"stopped. 0: never; easecapd --forget forgets one at once."},
    {"store_size", OPTION_U32, AT(store_size_mib), .max = 1u << 26, .unit = "MiB", .def = "16384",
	.live = true,
	.help = "Largest size of the store's file, without its write-ahead log. When it is "
		"reached, samples of the ports that fill it are deleted first, then the oldest "
		"sums per minute, and so on; the file keeps its size. An eighth of it is for "
		"events, discarded packets, addresses and sources of errors, of which the source "
		"that has most makes room. 0: no limit."},
    {"run_as", OPTION_STRING, AT(run_as), .max = PRIVILEGE_NAME - 1,
	.help = "User that the collector becomes when root starts it; the store must belong to "
		"that user. Empty: easecapd. If that user does not exist, or with root, the "
		"collector stays root with all capabilities dropped."},
    {"run_as_group", OPTION_STRING, AT(run_as_group), .max = PRIVILEGE_NAME - 1,
	.help = "Group that the collector takes together with run_as. Empty: the user's own "
		"group."},
    {"clickhouse", OPTION_LIST, AT(clickhouse), .max = MAX_SERVERS, .check = cluster_url_check,
	.help = "ClickHouse servers that the collector ships to: "
		"http://[USER@]HOST[:PORT][/DATABASE][?cluster=NAME]. Rows go to any one of "
		"them; tables, roll-ups and retention are maintained on each server that is "
		"listed, so list all servers of the cluster. Empty: nothing is shipped."},
    {"clickhouse_database", OPTION_STRING, AT(clickhouse_database), .def = "ease",
	.check = database_check,
	.help = "Database for the tables. It is created if it does not exist."},
    {"clickhouse_cluster", OPTION_STRING, AT(clickhouse_cluster), .check = cluster_check,
	.help = "Name of the cluster in the servers' remote_servers; its shards share the "
		"agents. Empty: there is a single server."},
    {"clickhouse_user", OPTION_STRING, AT(clickhouse_user), .check = user_check,
	.help = "ClickHouse user. Empty: default."},
    {"clickhouse_password", OPTION_STRING, AT(clickhouse_password), .secret = true,
	.check = user_check,
	.help = "Password of clickhouse_user."},
    {"clickhouse_samples", OPTION_BOOL, AT(clickhouse_samples), .def = "true",
	.help = "Whether the row of each sample is shipped too. Without these rows the cluster "
		"cannot answer filters across keys."},
    {"clickhouse_interval", OPTION_U32, AT(clickhouse_interval_s), .expert = true, .min = 1, .max = 3600,
	.unit = "s", .def = "10",
	.help = "Time between two batches. A minute is shipped when no data has arrived for it "
		"during three of these intervals."},
    {"cluster_keep_samples", OPTION_U32, AT(cluster_keep_samples_h), .group = "cluster_keep", .max = MAX_KEEP_H,
	.unit = "h", .def = "24", .live = true,
	.help = "How long the cluster keeps samples; whole days are deleted."},
    {"cluster_keep_1min", OPTION_U32, AT(cluster_keep_1min_h), .group = "cluster_keep", .max = MAX_KEEP_H, .unit = "h",
	.def = "72", .live = true,
	.help = "How long the cluster keeps sums per minute. Data that arrives later than this "
		"is not rolled up."},
    {"cluster_keep_5min", OPTION_U32, AT(cluster_keep_5min_d), .group = "cluster_keep", .max = MAX_KEEP_D, .unit = "d",
	.def = "14", .live = true,
	.help = "How long the cluster keeps sums per 5 minutes; whole weeks are deleted."},
    {"cluster_keep_1h", OPTION_U32, AT(cluster_keep_1h_d), .group = "cluster_keep", .max = MAX_KEEP_D, .unit = "d",
	.def = "92", .live = true,
	.help = "How long the cluster keeps sums per hour; 30 days are deleted at a time."},
    {"cluster_keep_1d", OPTION_U32, AT(cluster_keep_1d_d), .group = "cluster_keep", .max = MAX_KEEP_D, .unit = "d",
	.def = "800", .live = true,
	.help = "How long the cluster keeps sums per day, events, and rows of agents, accounts, ports, "
		"error sources and outages; 360 days are deleted at a time."},
    {"cluster_keep", OPTION_GROUP, .live = true,
	.help = "How long the cluster keeps data, as in keep. If several collectors ship, the shortest of their times holds."},
    {"log", OPTION_ENUM, AT(log), .choices = log_targets, .def = "stderr",
	.help = "Where messages go. Without -f they always go to syslog."},
    {"log_level", OPTION_ENUM, AT(log_level), .choices = log_levels, .def = "info",
	.live = true,
	.help = "Level of the least important messages that are written."},
    {.name = NULL},
};

bool
collector_takes_notifications(const struct collector_config *config)
{
	return config->listen.n > 0 && (config->communities.n > 0 || config->users.n > 0);
}

/* Rows go to any server of the list, so several servers must form a cluster. */
static bool
lacks_cluster_name(const struct collector_config *config)
{
	struct cluster_url url;
	const char *reason;

	return config->clickhouse.n > 1 && !*config->clickhouse_cluster &&
	    cluster_url_parse(config->clickhouse.items[0], &url, &reason) == 0 && !*url.cluster;
}

/* The first user without both passphrases, or NULL. */
static const struct collector_user *
find_incomplete_user(const struct collector_config *config)
{
	const struct collector_user *users = config->users.items;

	for (size_t i = 0; i < config->users.n; i++)
		if (!*users[i].auth_passphrase || !*users[i].priv_passphrase)
			return &users[i];
	return NULL;
}

static const char *
why_incomplete(const struct collector_credentials *as)
{
	if (!*as->community == !*as->user)
		return "either community or user is needed";
	return *as->user && (!*as->auth_passphrase || !*as->priv_passphrase) ? "auth_passphrase and priv_passphrase are needed"
									     : NULL;
}

static bool
are_single(const struct option_list *prefixes)
{
	struct prefix prefix;
	const char *reason;

	for (size_t i = 0; i < prefixes->n; i++)
		if (prefix_parse(prefixes->items[i], &prefix, &reason) < 0 || prefix.bits != (prefix.family == AF_INET ? 32 : 128))
			return false;
	return true;
}

/* The first section that speaks SNMP and is incomplete, and why; reason NULL: none is. */
struct incomplete_section {
	const char *option, *title, *reason;
};
static struct incomplete_section
find_incomplete_section(const struct collector_config *config)
{
	const struct {
		const char *option;
		const struct option_sections *polls;
	} asked[] = {{"poll", &config->polls}, {"steer", &config->steers}};
	const struct collector_inform *informs = config->alarm_informs.items;
	const char *reason;

	for (size_t a = 0; a < sizeof(asked) / sizeof(asked[0]); a++)
		for (size_t i = 0; i < asked[a].polls->n; i++) {
			const struct collector_poll *poll = (const struct collector_poll *)asked[a].polls->items + i;

			reason = poll->agents.n == 0 ? "agents: at least one address is needed" : why_incomplete(&poll->as);
			if (!reason && poll->sflow_to && *poll->sflow_to && !are_single(&poll->agents))
				reason = "agents: with sflow_to each must be a single address";
			if (reason)
				return (struct incomplete_section){asked[a].option, poll->title, reason};
		}
	for (size_t i = 0; i < config->alarm_informs.n; i++) {
		reason = *informs[i].to ? why_incomplete(&informs[i].as) : "to: an address is needed";
		if (reason)
			return (struct incomplete_section){"alarm_inform", informs[i].title, reason};
	}
	return (struct incomplete_section){.reason = NULL};
}

/* Where forward would send what comes back at once; NULL: nowhere. */
static const char *
find_own_receiver(const struct collector_config *config)
{
	const char *reason;
	struct endpoint to, own;

	for (size_t i = 0; i < config->forward.n; i++)
		for (size_t j = 0; j < config->sflow_listen.n; j++)
			if (endpoint_parse(config->forward.items[i], &to, &reason) == 0 &&
			    endpoint_parse(config->sflow_listen.items[j], &own, &reason) == 0 && to.len == own.len &&
			    memcmp(&to.address, &own.address, to.len) == 0)
				return config->forward.items[i];
	return NULL;
}

/* What several options together must fulfil: NULL, or the reason why they do not. */
static const char *
check_together(const struct collector_config *config)
{
	if (config->listen.n == 0 && config->sflow_listen.n == 0)
		return "listen: at least one address is needed, here or in sflow_listen";
	if (!collector_takes_notifications(config) && config->sflow_listen.n == 0)
		return "communities: at least one community, or a user section, is needed; or an address in "
		       "sflow_listen, for sFlow alone";
	if (config->forward.n > 0 && config->sflow_listen.n == 0)
		return "forward: what is sent on is sFlow: an address in sflow_listen is needed";
	if (find_own_receiver(config))
		return "forward: one of its addresses is in sflow_listen, too: it would be sent to itself";
	if (config->senders.n == 0)
		return "senders: at least one address is needed";
	if (strcmp(config->http_store, "clickhouse") == 0 && config->clickhouse.n == 0)
		return "http_store: \"clickhouse\" needs a server in option clickhouse";
	if (config->clickhouse.n > 0 && !cluster_http_is_built())
		return "clickhouse: this program was built without libcurl";
	if (lacks_cluster_name(config))
		return "clickhouse: several servers need clickhouse_cluster, the name of the "
		       "cluster that they form";
	return NULL;
}

int
collector_config_read(const char *file, struct collector_config *config, char *error, size_t error_size)
{
	if (!file)
		return options_parse("", "", collector_options, config, error, error_size);
	return options_load(file, collector_options, config, error, error_size);
}

int
collector_config_load(const char *file, struct collector_config *config, char *error, size_t error_size)
{
	int r = collector_config_read(file, config, error, error_size);
	const struct collector_user *user = r == 0 ? find_incomplete_user(config) : NULL;
	const struct incomplete_section section = r == 0 ? find_incomplete_section(config) : (struct incomplete_section){.reason = NULL};
	const char *reason = r == 0 ? check_together(config) : NULL;

	if (user)
		snprintf(error, error_size,
		    "%s: user \"%s\": auth_passphrase and priv_passphrase are "
					    "needed", file, user->name);
	else if (section.reason)
		snprintf(error, error_size, "%s: %s \"%s\": %s", file, section.option, section.title, section.reason);
	else if (reason)
		snprintf(error, error_size, "%s: %s", file, reason);
	return user || section.reason || reason ? -EINVAL : r;
}

void
collector_config_free(struct collector_config *config)
{
	options_free(collector_options, config);
}
