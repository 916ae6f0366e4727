#include "collector/config.h"
#include "collector/cluster/http.h"
#include "collector/cluster/schema.h"
#include "collector/cluster/url.h"
#include "collector/input/receiver_threads.h"
#include "collector/input/receive.h"
#include "collector/input/v3.h"
#include "common/endpoint.h"
#include "common/privilege.h"

#include <errno.h>
#include <string.h>

#define USER_AT(member) offsetof(struct collector_user, member)
#define AT(member) offsetof(struct collector_config, member)

enum {
	COMMUNITY_MAX = 255, /* as Net-SNMP: a longer one could not be sent by it */
	HTTP_TOKEN_MIN = 8,  /* as a passphrase */
	CREDENTIAL_MAX = 255,
};

static const char *const log_targets[] = {"stderr", "syslog", NULL};
static const char *const log_levels[] = {"error", "warn", "info", "debug", NULL};

static const char *
store_check(const char *value)
{
	return *value ? NULL : "the store needs a path";
}

static const char *
community_check(const char *value)
{
	if (strlen(value) > COMMUNITY_MAX)
		return "a community has at most 255 octets";
	return *value ? NULL : "an empty community keeps nobody out";
}

static const char *
passphrase_check(const char *value)
{
	return strlen(value) < V3_PASSPHRASE_MIN ? "a passphrase has at least 8 characters" : NULL;
}

static const char *
http_listen_check(const char *value)
{
	return *value ? endpoint_check(value) : NULL;
}

static const char *
http_store_check(const char *value)
{
	return strcmp(value, "sqlite") == 0 || strcmp(value, "clickhouse") == 0 ? NULL
	    : "sqlite or clickhouse";
}

static const char *
http_token_check(const char *value)
{
	return *value && strlen(value) < HTTP_TOKEN_MIN ? "a token has at least 8 characters" : NULL;
}

static const char *
database_check(const char *value)
{
	return cluster_is_database_name(value) ? NULL : "letters, digits and _ only";
}

static const char *
cluster_check(const char *value)
{
	return !*value || cluster_is_cluster_name(value) ? NULL : "letters, digits, _ . - only";
}

/* They go into HTTP headers. */
static const char *
user_check(const char *value)
{
	if (strlen(value) > CREDENTIAL_MAX)
		return "at most 255 characters";
	return strpbrk(value, "\r\n") ? "no line ends" : NULL;
}

static const struct option_row user_options[] = {
    {"engine_ids", OPTION_LIST, USER_AT(engine_ids), .max = V3_ENGINES_MAX,
	.check = v3_engine_id_check,
	.help = "Engines that this user may send traps from, 0x and hexadecimal digits. Informs "
		"need none."},
    {"auth_protocol", OPTION_ENUM, USER_AT(auth_protocol), .choices = v3_auth_protocols,
	.def = "SHA-256", .help = "How messages are authenticated."},
    {"auth_passphrase", OPTION_STRING, USER_AT(auth_passphrase), .check = passphrase_check,
	.help = "At least 8 characters. There is no default."},
    {"priv_protocol", OPTION_ENUM, USER_AT(priv_protocol), .choices = v3_priv_protocols,
	.def = "AES", .help = "How messages are encrypted."},
    {"priv_passphrase", OPTION_STRING, USER_AT(priv_passphrase), .check = passphrase_check,
	.help = "At least 8 characters. There is no default."},
    {.name = NULL},
};

enum {
	MAX_COMMUNITIES = 64, /* each is compared with each message */
	MAX_SENDERS = 1024,
	MAX_HOSTS = 64,
	MAX_SERVERS = 256,
	MAX_KEEP_D = 36500, /* a hundred years, which still fit 64-bit microseconds */
	MAX_KEEP_H = 24 * MAX_KEEP_D,
};

const struct option_row collector_options[] = {
    {"listen", OPTION_LIST, AT(listen), .max = RECEIVE_SOCKETS_MAX,
	.def = "{\"127.0.0.1:162\", \"[::1]:162\"}", .check = endpoint_check,
	.help = "Addresses to take notifications at: ADDRESS:PORT or [IPV6-ADDRESS]:PORT; port 0 "
		"lets the system choose."},
    {"sflow_listen", OPTION_LIST, AT(sflow_listen), .max = RECEIVE_SOCKETS_MAX,
	.check = endpoint_check,
	.help = "Addresses to take sFlow v5 at, as listen; 6343 is sFlow's port. Empty: none. A "
		"switch should send notifications or sFlow to one collector, not both: they would "
		"count as two switches."},
    {"communities", OPTION_LIST, AT(communities), .max = MAX_COMMUNITIES,
	.live = true, .check = community_check,
	.help = "Communities that a notification may carry. There is no default."},
    {"user", OPTION_SECTION, AT(users), .max = V3_USERS_MAX, .live = true, .section = user_options,
	.section_size = sizeof(struct collector_user), .section_title_offset = USER_AT(name),
	.help = "An SNMPv3 user that may send, by authPriv only."},
    {"senders", OPTION_LIST, AT(senders), .max = MAX_SENDERS, .live = true,
	.def = "{\"127.0.0.0/8\", \"::1/128\"}", .check = prefix_check,
	.help = "Who may send: ADDRESS or ADDRESS/BITS. 0.0.0.0/0 and ::/0 are everybody."},
    {"store", OPTION_STRING, AT(store), .def = "/var/lib/easeswitch/ease.db", .check = store_check,
	.help = "The SQLite file that everything goes into."},
    {"flush_interval", OPTION_U32, AT(flush_interval_ms), .min = 50, .max = 60000, .unit = "ms",
	.def = "1000", .live = true, .help = "Longest time between two transactions of the store."},
    {"receive_buffer", OPTION_U32, AT(receive_buffer_octets), .min = 65536, .max = 1u << 30,
	.unit = "octets", .def = "33554432",
	.help = "Kernel buffer of each socket. More than net.core.rmem_max needs CAP_NET_ADMIN."},
    {"threads", OPTION_U32, AT(threads), .min = 1, .max = RECEIVER_THREADS_MAX, .def = "1",
	.help = "Threads that receive and decode, each also of one busy sender's datagrams. 1: the "
		"thread that keeps the books does it, which is best on one core; more take it from "
		"that thread, and 4 MiB of memory each."},
    {"memory", OPTION_U32, AT(memory_mib), .min = 128, .max = 1u << 16, .unit = "MiB",
	.def = "448",
	.help = "All memory of the collector. What is left of it for keys is taken at the start; "
		"keys that find no place are counted with the others, and by how much any can be "
		"wrong for it."},
    {"sample_rows", OPTION_U32, AT(sample_rows), .min = 0, .max = 1000000, .unit = "rows/s",
	.def = "20000",
	.help = "Most samples a second that get a row of their own. Beyond, a random one of k gets "
		"one and says so; sums count every sample. 0: no limit."},
    {"http_listen", OPTION_STRING, AT(http_listen), .def = "127.0.0.1:8162",
	.check = http_listen_check,
	.help = "Where the page, /api/v1/ and /metrics are served, as listen; empty: nowhere. If it "
		"cannot be listened at, or memory is below 160 MiB, samples are collected all the "
		"same."},
    {"http_token", OPTION_STRING, AT(http_token), .check = http_token_check, .live = true,
	.help = "What a client must send as \"Authorization: Bearer TOKEN\" for data; the page asks "
		"for it. Empty: everybody who reaches http_listen may read."},
    {"http_hosts", OPTION_LIST, AT(http_hosts), .max = MAX_HOSTS, .live = true,
	.help = "Names by which browsers may ask, beside numbers and localhost, where there is no "
		"token: any other name may be a stranger's page."},
    {"http_connections", OPTION_U32, AT(http_connections), .min = 8, .max = 4096, .def = "256",
	.help = "Connections at a time, 16 KiB of memory each; browsers make up to six. One too many "
		"takes the place of one that has asked nothing for longest."},
    {"http_question", OPTION_U32, AT(http_question_ms), .min = 100, .max = 600000, .unit = "ms",
	.def = "5000", .help = "Longest time that answering one question may take."},
    {"http_store", OPTION_STRING, AT(http_store), .def = "sqlite", .check = http_store_check,
	.help = "What the page and /api/v1/ answer from: sqlite, the collector's own store, or "
		"clickhouse, the cluster with what all collectors have shipped."},
    {"http_metrics_ports", OPTION_U32, AT(http_metrics_ports), .max = 100000, .def = "1000",
	.help = "Ports that /metrics has series of, up to 15 each."},
    {"http_metrics_top", OPTION_U32, AT(http_metrics_top), .max = 100, .def = "10",
	.help = "Largest sources, and services, that /metrics has series of, three each. Who is "
		"among them changes, and Prometheus keeps each that ever was."},
    {"names", OPTION_STRING, AT(names),
	.help = "File of names of addresses, prefixes and VLANs for the page, as easetop --names."},
    {"vendors", OPTION_BOOL, AT(vendors), .def = "false",
	.help = "Makers of MAC addresses on the page (package ieee-data)."},
    {"keep_samples", OPTION_U32, AT(keep_samples_h), .max = MAX_KEEP_H, .unit = "h", .def = "24",
	.live = true, .help = "How long each sample keeps its own row, which filters across keys and addresses "
		"inside tunnels are answered from. 0 in this and the following: for ever."},
    {"keep_1min", OPTION_U32, AT(keep_1min_h), .max = MAX_KEEP_H, .unit = "h", .def = "48",
	.live = true, .help = "How long sums of minutes are kept: what happened since yesterday."},
    {"keep_5min", OPTION_U32, AT(keep_5min_d), .max = MAX_KEEP_D, .unit = "d", .def = "14",
	.live = true, .help = "Sums of 5 minutes: this week beside the last."},
    {"keep_1h", OPTION_U32, AT(keep_1h_d), .max = MAX_KEEP_D, .unit = "d", .def = "92",
	.live = true, .help = "Sums of hours: a quarter."},
    {"keep_1d", OPTION_U32, AT(keep_1d_d), .max = MAX_KEEP_D, .unit = "d", .def = "800",
	.live = true, .help = "Sums of days, and events: this year beside the last, and the weeks to look at it."},
    {"store_size", OPTION_U32, AT(store_size_mib), .max = 1u << 26, .unit = "MiB", .def = "16384",
	.live = true, .help = "Most that the store takes of the disk, its write-ahead log aside: beyond, samples "
		"go first, then the oldest minutes, and so on. 0: no limit."},
    {"run_as", OPTION_STRING, AT(run_as), .max = PRIVILEGE_NAME - 1,
	.help = "The user that the collector becomes when root starts it; empty: easecapd, if "
		"there is one. root: root it stays, without privileges. The store must be that user's."},
    {"run_as_group", OPTION_STRING, AT(run_as_group), .max = PRIVILEGE_NAME - 1,
	.help = "Group, with it; empty: the user's."},
    {"clickhouse", OPTION_LIST, AT(clickhouse), .max = MAX_SERVERS, .check = cluster_url_check,
	.help = "ClickHouse servers to ship to, http://[USER@]HOST[:PORT][/DATABASE][?cluster=NAME], "
		"any of the cluster for rows, and all of them so that each is kept: tables, roll-ups, "
		"retention. Empty: nothing is shipped."},
    {"clickhouse_database", OPTION_STRING, AT(clickhouse_database), .def = "ease",
	.check = database_check, .help = "Database of the tables, made where it is not there."},
    {"clickhouse_cluster", OPTION_STRING, AT(clickhouse_cluster), .check = cluster_check,
	.help = "The cluster's name in the servers' remote_servers, whose shards share the agents. "
		"Empty: one server alone."},
    {"clickhouse_user", OPTION_STRING, AT(clickhouse_user), .check = user_check,
	.help = "ClickHouse's user; empty: default."},
    {"clickhouse_password", OPTION_STRING, AT(clickhouse_password), .check = user_check,
	.help = "Its password."},
    {"clickhouse_samples", OPTION_BOOL, AT(clickhouse_samples), .def = "true",
	.help = "Ship the kept row of each sample, too. Without, filters across keys cannot be "
		"answered from the cluster."},
    {"clickhouse_interval", OPTION_U32, AT(clickhouse_interval_s), .min = 1, .max = 3600,
	.unit = "s", .def = "10",
	.help = "Between two batches. A minute goes when nothing came for it for three of these."},
    {"cluster_keep_samples", OPTION_U32, AT(cluster_keep_samples_h), .max = MAX_KEEP_H,
	.unit = "h", .def = "24", .live = true,
	.help = "How long the cluster keeps samples, whole days at a time. 0 in this and the "
		"following: for ever. The least of what several collectors say is what holds."},
    {"cluster_keep_1min", OPTION_U32, AT(cluster_keep_1min_h), .max = MAX_KEEP_H, .unit = "h",
	.def = "72", .live = true,
	.help = "Sums of minutes: also how late they may still be rolled up."},
    {"cluster_keep_5min", OPTION_U32, AT(cluster_keep_5min_d), .max = MAX_KEEP_D, .unit = "d",
	.def = "14", .live = true, .help = "Sums of 5 minutes, whole weeks at a time."},
    {"cluster_keep_1h", OPTION_U32, AT(cluster_keep_1h_d), .max = MAX_KEEP_D, .unit = "d",
	.def = "92", .live = true, .help = "Sums of hours, 30 days at a time."},
    {"cluster_keep_1d", OPTION_U32, AT(cluster_keep_1d_d), .max = MAX_KEEP_D, .unit = "d",
	.def = "800", .live = true, .help = "Sums of days, 360 at a time, and events."},
    {"log", OPTION_ENUM, AT(log), .choices = log_targets, .def = "stderr",
	.help = "Where messages go; without -f always to syslog."},
    {"log_level", OPTION_ENUM, AT(log_level), .choices = log_levels, .def = "info",
	.live = true, .help = "The least important messages to write."},
    {.name = NULL},
};

const char *const collector_secrets[] = {"communities", "http_token", "auth_passphrase",
    "priv_passphrase", "clickhouse_password", NULL};

/* Rows go to any server of the list, so several must know of each other. */
static bool
has_lone_servers(const struct collector_config *config)
{
	struct cluster_url url;
	const char *reason;

	return config->clickhouse.n > 1 && !*config->clickhouse_cluster &&
	    cluster_url_parse(config->clickhouse.items[0], &url, &reason) == 0 && !*url.cluster;
}

/* What no single row can say. */
static const char *
whole_check(const struct collector_config *config)
{
	const struct collector_user *users = config->users.items;

	if (config->listen.n == 0)
		return "listen: at least one address is needed";
	if (config->communities.n == 0 && config->users.n == 0)
		return "communities: at least one is needed, or a user";
	for (size_t i = 0; i < config->users.n; i++)
		if (!users[i].auth_passphrase[0] || !users[i].priv_passphrase[0])
			return "user: auth_passphrase and priv_passphrase are needed";
	if (config->senders.n == 0)
		return "senders: at least one is needed";
	if (strcmp(config->http_store, "clickhouse") == 0 && config->clickhouse.n == 0)
		return "http_store: clickhouse needs a server in option clickhouse";
	if (config->clickhouse.n > 0 && !cluster_http_is_built())
		return "clickhouse: this program was built without libcurl";
	if (has_lone_servers(config))
		return "clickhouse: several servers need clickhouse_cluster, the name of what they are";
	return NULL;
}

int
collector_config_load(const char *file, struct collector_config *config, char *error,
    size_t error_size)
{
	int r = options_load(file, collector_options, config, error, error_size);
	const char *reason = r == 0 ? whole_check(config) : NULL;

	if (!reason)
		return r;
	snprintf(error, error_size, "%s: %s", file, reason);
	return -EINVAL;
}

void
collector_config_free(struct collector_config *config)
{
	options_free(collector_options, config);
}
