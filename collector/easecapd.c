/*
 * easecapd: the collector's command line. Reads the configuration, goes to the background unless
 * -f is given, and runs the collector (collector.h), its page and its shipping.
 */
#include "collector/clickhouse.h"
#include "collector/collector.h"
#include "collector/collector_alarms.h"
#include "collector/collector_settings.h"
#include "collector/easecapd_check.h"
#include "collector/judge.h"
#include "collector/precision_service.h"
#include "collector/query/query.h"
#include "collector/store/agent_sources.h"
#include "collector/store/plan_store.h"
#include "collector/store/store.h"
#include "collector/web/web.h"
#include "collector/window/agent_identity.h"
#include "common/log.h"
#include "common/privilege.h"
#include "common/service.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ERROR_TEXT = 512,
	/* Keys that a query of the page may read for each MiB of the memory budget: two queries at
	 * a time then take half of the budget on top of it, at some 400 octets a key. */
	KEYS_A_MIB = 600,
	JUDGE_FIRST_MS = 60000,
	JUDGE_EVERY_MS = 600000,
	JUDGE_LASTS_MS = 10000,
};

struct command {
	const char *config_file;
	const char *import_file;
	const char *forget_source; /* an agent's id */
	const char *forget;	   /* an agent's id or address */
	const char *plan;	   /* of a network */
	struct collector_arguments options;
	bool foreground, check, print, print_schema, print_sql, print_sources;
};

static const struct option long_options[] = {
    {"check", no_argument, NULL, 'k'},
    {"print-config", no_argument, NULL, 'p'},
    {"plan", required_argument, NULL, 'l'},
    {"import", required_argument, NULL, 'i'},
    {"tap", required_argument, NULL, 't'},
    {"clickhouse-schema", no_argument, NULL, 's'},
    {"clickhouse-sql", no_argument, NULL, 'q'},
    {"agent-sources", no_argument, NULL, 'a'},
    {"forget-source", required_argument, NULL, 'o'},
    {"forget", required_argument, NULL, 'g'},
    {"version", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int
print_usage(FILE *out)
{
	fputs("usage: easecapd -c FILE [-f] [--tap FIFO] [--import CAPTURE] [--check] "
	      "[--print-config]\n                [--clickhouse-schema] [--clickhouse-sql] [--agent-sources]\n"
	      "                [--forget-source AGENT-ID] [--forget AGENT] [--plan NETWORK] [--version]\n"
	      "  -c FILE         configuration file\n"
	      "  -f              stay in the foreground; print the addresses where it listens and\n"
	      "                  where the page is\n"
	      "  --tap FIFO      write sampled headers to FIFO as pcap, for tcpdump -r FIFO\n"
	      "  --import CAPTURE  read the datagrams of a capture file instead of the network, then\n"
	      "                  exit; after an interruption import it again: nothing counts twice\n"
	      "  --check         check the configuration, and whether this machine has what it names,\n"
	      "                  then exit\n"
	      "  --print-config  print all options with their values and exit; without -c FILE,\n"
	      "                  the defaults\n"
	      "  --plan ports=N,samples=N[,days=N]  reckon which disk and memory a network takes, of so\n"
	      "                  many ports and samples a second, these kept as keep says, and\n"
	      "                  exit; without -c FILE, with the defaults. --plan store: the same of the\n"
	      "                  network that the store is of\n"
	      "  --clickhouse-schema  print the statements that the tables of the ClickHouse cluster\n"
	      "                  still need, and exit\n"
	      "  --clickhouse-sql  print every statement that is sent to the ClickHouse cluster, with\n"
	      "                  names for what differs, and exit\n"
	      "  --agent-sources  print the sources that agents are bound to, as rows for the file\n"
	      "                  device_names of another collector, and exit\n"
	      "  --forget-source AGENT-ID  unbind an agent that has moved: the next source that\n"
	      "                  speaks for it is bound; a running collector does so at SIGHUP\n"
	      "  --forget AGENT  delete what the store knows of a switch, by its id or address; only\n"
	      "                  while no collector uses the store\n"
	      "  --version       print the version and exit\n"
	      "SIGUSR1 writes all counters to the log. SIGHUP reads the configuration again and logs\n"
	      "which options change with the next start only. SIGTERM writes all data and stops.\n",
	    out);
	return out == stdout ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* 0 to go on, else the exit status + 1. */
static int
parse_command(int argc, char **argv, struct command *cmd)
{
	int o;

	while ((o = getopt_long(argc, argv, "c:fh", long_options, NULL)) != -1)
		switch (o) {
		case 'c':
			cmd->config_file = optarg;
			break;
		case 'f':
			cmd->foreground = true;
			break;
		case 'k':
			cmd->check = true;
			break;
		case 'i':
			cmd->import_file = optarg;
			cmd->options.no_sockets = true;
			break;
		case 't':
			cmd->options.tap = optarg;
			break;
		case 's':
			cmd->print_schema = true;
			break;
		case 'q':
			cmd->print_sql = true;
			break;
		case 'p':
			cmd->print = true;
			break;
		case 'l':
			cmd->plan = optarg;
			break;
		case 'a':
			cmd->print_sources = true;
			break;
		case 'o':
			cmd->forget_source = optarg;
			break;
		case 'g':
			cmd->forget = optarg;
			break;
		case 'v':
			puts("easecapd " PACKAGE_VERSION);
			return EXIT_SUCCESS + 1;
		default:
			return print_usage(o == 'h' ? stdout : stderr) + 1;
		}
	if (optind != argc) {
		fprintf(stderr, "easecapd: unexpected argument \"%s\"\n", argv[optind]);
		return print_usage(stderr) + 1;
	}
	if (!cmd->config_file && !cmd->print && !cmd->plan) {
		fputs("easecapd: -c FILE is needed\n", stderr);
		return print_usage(stderr) + 1;
	}
	return 0;
}

/* Forks. The parent waits until the child is ready, so that whoever started it sees each error
 * message and the right exit status. Returns the descriptor that tells the parent, or -errno. */
static int
go_to_background(void)
{
	int ends[2];
	pid_t pid;
	char ready;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid > 0) {
		close(ends[1]);
		_exit(read(ends[0], &ready, 1) == 1 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	close(ends[0]);
	setsid();
	return ends[1];
}

static void
leave_terminal(int parent_fd)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null_fd >= 0 && fd <= 2; fd++)
		dup2(null_fd, fd);
	if (null_fd > 2)
		close(null_fd);
	if (write(parent_fd, "", 1) < 0)
		log_warn("easecapd", "cannot notify the parent process: %s", strerror(errno));
	close(parent_fd);
}

static bool
has_page(const struct collector_config *config)
{
	return *config->http_listen && config->memory_mib >= COLLECTOR_PAGE_MIB;
}

/* A page that cannot be served is not fatal: collection goes on. -1: there is no page. */
static int
listen_for_page(const struct collector_config *config)
{
	char error[ERROR_TEXT];
	int fd;

	if (!*config->http_listen)
		return -1;
	if (!has_page(config)) {
		log_warn("easecapd", "the page is not served: memory is %u MiB, and it needs %d",
		    config->memory_mib, COLLECTOR_PAGE_MIB);
		return -1;
	}
	fd = web_listen(config->http_listen, error, sizeof(error));
	if (fd < 0)
		log_warn("easecapd", "the page is not served: %s", error);
	return fd < 0 ? -1 : fd;
}

static struct query_cluster
cluster_to_query(const struct clickhouse *c)
{
	return (struct query_cluster){c->servers, c->n_servers, c->place.database,
	    c->place.cluster, c->user, c->password};
}

static void
easecapd_note_damage(void *collector, uint64_t inode)
{
	collector_note_damage(collector, inode);
}

static struct web_names
names_of(const struct collector_config *config)
{
	return (struct web_names){config->names, (const char *const *)config->mmdb.items, config->mmdb.n, config->vendors,
	    config->resolve};
}

static struct web *
open_page(int listen_fd, const struct collector_config *config, const struct query_cluster *cluster,
    struct collector *collector, const struct stat_set *stats[COLLECTOR_STAT_SETS])
{
	const struct web_config web_config = {
	    .listen_fd = listen_fd,
	    .token = config->http_token,
	    .hosts = (const char *const *)config->http_hosts.items,
	    .n_hosts = config->http_hosts.n,
	    .connections = config->http_connections,
	    .question_ms = config->http_question_ms,
	    .question_keys = (size_t)config->memory_mib * KEYS_A_MIB,
	    .metrics_ports = config->http_metrics_ports,
	    .metrics_top = config->http_metrics_top,
	    .store = config->store,
	    .damaged = easecapd_note_damage,
	    .damaged_arg = collector,
	    .cluster = strcmp(config->http_store, "clickhouse") == 0 ? cluster : NULL,
	    .names = names_of(config),
	    .stats = stats,
	    .n_stats = COLLECTOR_STAT_SETS,
	    .started_us = clock_wall_us(&clock_system),
	    .clock = &clock_system,
	};
	struct web *web = NULL;
	char error[ERROR_TEXT];

	if (listen_fd < 0)
		return NULL;
	collector_stat_sets(collector, stats);
	if (web_open(&web, &web_config, error, sizeof(error)) == 0)
		collector_add_stats(collector, web_stats(web));
	else
		log_warn("easecapd", "the page is not served: %s", error);
	return web;
}

/* The optional parts that SIGHUP changes too. */
struct services {
	struct web *web;   /* NULL: no page */
	struct ship *ship; /* NULL: no shipping */
	struct precision_service *precision; /* NULL: no skip is ever set */
	const struct collector_config *config;
};

static void
reload_services(void *arg)
{
	const struct services *s = arg;
	const struct web_names names = names_of(s->config);
	char error[ERROR_TEXT];

	if (s->web)
		web_allow(s->web, s->config->http_token,
		    (const char *const *)s->config->http_hosts.items, s->config->http_hosts.n);
	if (s->web && web_set_names(s->web, &names, error, sizeof(error)) < 0)
		log_error("easecapd", "reload: %s; the page has the names as they were", error);
	clickhouse_set_retention(s->ship, s->config);
	if (s->precision)
		precision_change(s->precision, s->config);
	else if (s->config->steers.n > 0)
		log_warn("easecapd", "reload: steer: skips are set from the next start on");
}

/* A failure is not fatal either: the rows are shipped after a later start. */
static struct ship *
open_shipping(const struct clickhouse *clickhouse, const struct collector_config *config, struct collector *collector)
{
	struct ship *ship;
	char error[ERROR_TEXT];

	if (clickhouse_ship(&ship, clickhouse, config, easecapd_note_damage, collector, error, sizeof(error)) < 0)
		log_error("easecapd", "nothing is shipped to ClickHouse: %s", error);
	else if (ship)
		collector_add_stats(collector, ship_stats(ship));
	return ship;
}

/* Without memory for the page there is none for a port's samples of an hour either. */
static struct judge *
open_judge(const struct collector_config *config, struct collector *collector, const struct clock *clock)
{
	bool is_import = clock->manual;
	const struct judge_config judge_config = {.store = config->store, .clock = clock, .damaged = easecapd_note_damage,
	    .damaged_arg = collector, .first_ms = JUDGE_FIRST_MS, .every_ms = is_import ? 0 : JUDGE_EVERY_MS,
	    .lasts_ms = JUDGE_LASTS_MS};
	struct judge *judge = NULL;
	int r = config->memory_mib < COLLECTOR_PAGE_MIB ? 0 : judge_open(&judge, &judge_config);

	if (r < 0)
		log_error("easecapd", "no sampler is judged: %s", strerror(-r));
	if (judge)
		collector_set_verdicts(collector,
		    &(struct collector_verdicts){judge_flush, judge_accuses, is_import ? judge_turn : NULL, judge});
	return judge;
}

/* Without it everything else goes on. */
static struct precision_service *
open_precision(const struct precision_process *process, const struct collector_config *config, struct collector *collector)
{
	struct precision_service *precision;
	int r = precision_open(&precision, process, config, &clock_system);

	if (r < 0) {
		log_error("easecapd", "no skip is set for precision: %s", strerror(-r));
		return NULL;
	}
	collector_add_stats(collector, precision_stats(precision));
	collector_set_steersman(collector, &(struct collector_steersman){precision_next_event, precision_flush, precision_stop, precision});
	return precision;
}

static int
collect_live(const struct collector_config *config, const struct clickhouse *clickhouse,
    const struct collector_arguments *options, bool foreground)
{
	int parent_fd = foreground ? -1 : go_to_background(), page_fd;
	const struct stat_set *stats[COLLECTOR_STAT_SETS];
	char error[ERROR_TEXT];
	const struct query_cluster cluster = cluster_to_query(clickhouse);
	struct services services = {.config = config};
	struct precision_process process;
	struct collector *collector;
	struct judge *judge;
	int r;

	if (!foreground && parent_fd < 0) {
		fprintf(stderr, "easecapd: %s\n", strerror(-parent_fd));
		return parent_fd;
	}
	page_fd = listen_for_page(config);
	r = precision_process_start(&process, config);
	if (r < 0)
		log_error("easecapd", "no skip is set for precision: %s", strerror(-r));
	r = collector_open(&collector, config, options, &clock_system, error, sizeof(error));
	if (r < 0) {
		fprintf(stderr, "easecapd: %s\n", error);
		return r;
	}
	services.ship = open_shipping(clickhouse, config, collector);
	services.web = open_page(page_fd, config, &cluster, collector, stats);
	judge = open_judge(config, collector, &clock_system);
	if (process.pid > 0)
		services.precision = open_precision(&process, config, collector);
	collector_on_reload(collector, reload_services, &services);
	if (foreground && services.web)
		web_announce(services.web);
	if (foreground)
		collector_announce(collector);
	else
		leave_terminal(parent_fd);
	service_notify("READY=1");
	r = collector_run(collector);
	service_notify("STOPPING=1");
	if (r < 0)
		log_error("easecapd", "stopped: %s", strerror(-r));
	web_close(services.web);
	judge_close(judge);
	precision_close(services.precision);
	ship_close(services.ship); /* all is stored by now */
	collector_close(collector);
	return r;
}

static void
print_import(const struct collector *collector, const struct import_counts *counts, uint64_t other)
{
	static const struct {
		const char *stat, *more, *what;
		bool only_if_any;
	} lines[] = {
	    {"input.datagrams", "", "notifications and sFlow datagrams", false},
	    {"input.refused_sender", "", "refused: their sender is not in senders", true},
	    {"input.refused_community", "", "refused: their community is not in communities", true},
	    {"slow_path.refused", "", "refused: a mistake in them", true},
	    {"input.records", "slow_path.records", "records accepted", false},
	    {"accounting.samples", "", "samples counted", false},
	    {"accounting.duplicates", "", "duplicate samples", false},
	    {"slow_path.events", "", "events", false},
	};

	printf("%" PRIu64 " frames\n%" PRIu64 " UDP datagrams\n%" PRIu64 " incomplete datagrams\n%" PRIu64
	       " frames of other protocols\n",
	    counts->frames, counts->datagrams, counts->incomplete, counts->not_udp + other);
	if (counts->fragments > 0)
		printf("%" PRIu64 " fragments of datagrams, whose samples are not read: let the switch send shorter"
		       " ones\n", counts->fragments);
	for (int f = FOREIGN_NOT_KNOWN + 1; f < FOREIGN_N; f++)
		if (counts->foreign[f] > 0)
			printf("%" PRIu64 " datagrams of %s\n", counts->foreign[f],
			    foreign_flow_text((enum foreign_flow)f));
	if (collector_stat(collector, "ipfix.flows") > 0)
		printf("%" PRIu64 " records of %s\n", collector_stat(collector, "ipfix.flows"),
		    foreign_flow_text(FOREIGN_IPFIX));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		uint64_t n = collector_stat(collector, lines[i].stat) + collector_stat(collector, lines[i].more);

		if (n > 0 || !lines[i].only_if_any)
			printf("%" PRIu64 " %s\n", n, lines[i].what);
	}
}

static int
import_capture(const struct collector_config *config, const struct command *cmd)
{
	struct clock clock = {.manual = true, .manual_wall_us = clock_wall_us(&clock_system)};
	struct import_counts counts;
	char error[ERROR_TEXT];
	struct collector *collector;
	struct judge *judge;
	uint64_t other;
	int r = collector_open(&collector, config, &cmd->options, &clock, error, sizeof(error));

	if (r == 0) {
		judge = open_judge(config, collector, &clock);
		r = collector_import(collector, &clock, cmd->import_file, &counts, &other, error, sizeof(error));
		print_import(collector, &counts, other);
		if (r == 0 && collector_stat(collector, "input.records") + collector_stat(collector, "slow_path.records") == 0) {
			snprintf(error, sizeof(error), "%s: nothing in it was taken", cmd->import_file);
			r = -ENODATA;
		}
		judge_close(judge);
		collector_close(collector);
	}
	if (r < 0)
		fprintf(stderr, "easecapd: %s\n", error);
	return r;
}

/* Keeps the capabilities that opening needs: for ports below 1024 and for receive buffers beyond
 * the system's limit. */
static int
easecapd_become_user(const struct collector_config *config, char *error, size_t error_size)
{
	static const unsigned opening[] = {CAP_NET_BIND_SERVICE, CAP_NET_ADMIN};
	struct privilege_user user;
	char directory[PATH_MAX];
	int r = privilege_find(config->run_as, config->run_as_group, EASECAPD_USER, &user, error,
	    error_size);

	if (r < 0)
		return r;
	if (user.missing)
		log_warn("easecapd",
		    "there is no user " EASECAPD_USER ": staying root with all capabilities "
				     "dropped");
	snprintf(directory, sizeof(directory), "%s", config->store);
	(void)privilege_make_directory(&user, dirname(directory)); /* store_open reports failure */
	r = privilege_become(&user, opening, sizeof(opening) / sizeof(opening[0]), false);
	if (r < 0)
		snprintf(error, error_size, "run_as: cannot become %s: %s", user.name, strerror(-r));
	return r;
}

/* Everything is open, so no capability is needed any more. */
static int
drop_capabilities(const struct collector_config *config, char *error, size_t error_size)
{
	int r = privilege_keep(NULL, 0, false);

	(void)config;
	if (r < 0)
		snprintf(error, error_size, "cannot drop capabilities: %s", strerror(-r));
	return r;
}

/* What page and shipping take of the memory budget. */
static size_t
memory_of_services(const struct collector_config *config)
{
	return (has_page(config) ? web_memory(config->http_connections) : 0) + (config->steers.n > 0 ? precision_memory() : 0) +
	    (config->clickhouse.n > 0 ? (size_t)ship_memory() : 0);
}

/* The sources of agents, in the store */

static void
print_source(void *arg, const uint8_t agent_id[EASE_AGENT_ID_LEN], const struct store_agent_source *source)
{
	(void)arg;
	fputs("source ", stdout);
	for (int i = 0; i < EASE_AGENT_ID_LEN; i++)
		printf("%02x", agent_id[i]);
	printf(" %s\n", source->source);
}

static int
print_sources(const struct collector_config *config)
{
	char error[ERROR_TEXT];
	int r = agent_sources_each(config->store, print_source, NULL, error, sizeof(error));

	if (r < 0)
		fprintf(stderr, "easecapd: %s\n", error);
	return r;
}

/* As the user that the collector runs as, because SQLite may create files beside the store. */
static int
forget_source(const struct collector_config *config, const char *agent)
{
	struct agent_source_rule rule;
	char text[64], error[ERROR_TEXT];
	const char *reason;
	int r;

	snprintf(text, sizeof(text), "%.32s 0x00", agent);
	r = agent_source_parse(text, &rule, &reason);
	if (r < 0 || rule.any)
		snprintf(error, sizeof(error),
		    "--forget-source: \"%s\": expected an agent's id, 16 hexadecimal digits", agent);
	if (r == 0 && rule.any)
		r = -EINVAL;
	if (r == 0)
		r = easecapd_become_user(config, error, sizeof(error));
	if (r == 0)
		r = agent_sources_forget(config->store, rule.agent_id, error, sizeof(error));
	if (r < 0)
		fprintf(stderr, "easecapd: %s\n", error);
	else
		puts("forgotten; a running collector must be sent SIGHUP");
	return r;
}

/* The collector has what it knows in memory and would write it again, so it must be stopped. */
static int
forget_one_agent(const struct collector_config *config, const char *agent)
{
	char error[ERROR_TEXT], reason[ERROR_TEXT - 128];
	struct store *store = NULL;
	int r = easecapd_become_user(config, error, sizeof(error));

	if (r == 0 && access(config->store, F_OK) < 0) {
		r = -errno;
		snprintf(error, sizeof(error), "%s: %s", config->store, strerror(errno));
	}
	if (r == 0) {
		r = store_open(&store, config->store, NULL, reason, sizeof(reason));
		snprintf(error, sizeof(error), "%s%s", reason, r != -EBUSY ? ""
		    : "; stop it, use --forget, and start it again. What is silent for forget_after it "
		      "forgets by itself");
	}
	if (r == 0)
		r = store_forget_agent(store, agent, error, sizeof(error));
	store_close(store);
	if (r < 0)
		fprintf(stderr, "easecapd: %s\n", error);
	else
		puts("forgotten; a switch that still sends comes back as a new one. Sums that it is part of stay in the "
		     "file until their time is over, and reports leave them out; a ClickHouse cluster keeps its rows and "
		     "shows them until then");
	return r;
}

static int
start_or_import(struct collector_config *config, struct command *cmd)
{
	struct collector_receivers receivers = {0};
	struct clickhouse clickhouse;
	char error[ERROR_TEXT];
	int r;

	log_open("easecapd",
	    (!cmd->foreground && !cmd->import_file) || config->log == COLLECTOR_LOG_SYSLOG,
	    (enum log_level)config->log_level);
	if (service_is_readable_by_all(cmd->config_file) && options_have_secret(collector_options, config))
		log_warn("easecapd", "%s holds secrets and everybody may read it", cmd->config_file);
	cmd->options.config_file = realpath(cmd->config_file, NULL);
	r = clickhouse_read(&clickhouse, config);
	if (r < 0)
		snprintf(error, sizeof(error), "out of memory");
	if (r == 0 && !cmd->import_file) /* an import tells of what is over */
		r = collector_start_receivers(config, &receivers, error, sizeof(error));
	if (r == 0)
		r = easecapd_become_user(config, error, sizeof(error));
	if (r < 0) {
		fprintf(stderr, "easecapd: %s\n", error);
		clickhouse_free(&clickhouse);
		free((char *)(uintptr_t)cmd->options.config_file);
		return r;
	}
	service_hide_memory(); /* a change of the user would undo it */
	if (!cmd->import_file)
		cmd->options.memory_taken = memory_of_services(config);
	cmd->options.live_config = config;
	cmd->options.opened = drop_capabilities;
	cmd->options.receivers = &receivers;
	r = cmd->import_file ? import_capture(config, cmd)
			     : collect_live(config, &clickhouse, &cmd->options, cmd->foreground);
	collector_stop_receivers(&receivers);
	clickhouse_free(&clickhouse);
	free((char *)(uintptr_t)cmd->options.config_file);
	return r;
}

/* The least option `memory`, in MiB, with which so many ports have places; 0: none has. */
static uint32_t
memory_for(const struct collector_config *config, size_t memory_taken, double ports)
{
	struct collector_config with = *config;
	struct accounting_limits limits;
	uint32_t low = 1, high = 1 << 20;
	char error[256];

	while (low < high) {
		with.memory_mib = low + (high - low) / 2;
		if (collector_limits(&with, memory_taken, &limits, error, sizeof(error)) == 0 && limits.ports >= ports)
			high = with.memory_mib;
		else
			low = with.memory_mib + 1;
	}
	return low < 1 << 20 ? low : 0;
}

static void
print_memory(FILE *out, const struct collector_config *config, size_t memory_taken, double ports)
{
	uint32_t least = memory_for(config, memory_taken, ports);

	if (least == 0)
		fprintf(out, "memory: no value allows %.0f ports; share them among collectors\n", ports);
	else if (least > config->memory_mib)
		fprintf(out, "memory = %u is too small: %.0f ports need %u\n", config->memory_mib, ports, least);
	else
		fprintf(out, "memory = %u is enough: %.0f ports need %u\n", config->memory_mib, ports, least);
}

/* A plan for a network that need not be there. */
static int
print_plan(const struct collector_config *config, const char *text)
{
	struct plan_question question = {.keep = collector_retention(config), .sample_rows = config->sample_rows};
	char error[ERROR_TEXT];

	if (strcmp(text, "store") == 0) {
		if (plan_read_store(config->store, &question) < 0) {
			fprintf(stderr, "easecapd: --plan store: %s: cannot be read, or has less than an hour of data\n",
			    config->store);
			return -EINVAL;
		}
	} else if (plan_parse(text, &question, error, sizeof(error)) < 0) {
		fprintf(stderr, "easecapd: %s\n", error);
		return -EINVAL;
	}
	plan_print(stdout, &question);
	print_memory(stdout, config, memory_of_services(config), question.ports);
	return 0;
}

static int
print_statements(const struct collector_config *config, void (*print)(const struct clickhouse *c, FILE *out))
{
	struct clickhouse clickhouse;
	int r = clickhouse_read(&clickhouse, config);

	if (r == 0)
		print(&clickhouse, stdout);
	clickhouse_free(&clickhouse);
	return r;
}

int
main(int argc, char **argv)
{
	struct command cmd = {0};
	struct collector_config config = {0};
	char error[ERROR_TEXT];
	int r = parse_command(argc, argv, &cmd);

	if (r != 0)
		return r - 1;
	service_hold_signals(!cmd.import_file);
	r = cmd.print || cmd.plan ? collector_config_read(cmd.config_file, &config, error, sizeof(error))
		      : collector_config_load(cmd.config_file, &config, error, sizeof(error));
	if (r < 0)
		fprintf(stderr, "easecapd: %s\n", error);
	else if (cmd.print)
		options_print(stdout, collector_options, &config);
	else if (cmd.plan)
		r = print_plan(&config, cmd.plan);
	else if (cmd.print_schema)
		r = print_statements(&config, clickhouse_print_schema);
	else if (cmd.print_sql)
		r = print_statements(&config, clickhouse_print_sql);
	else if (cmd.print_sources)
		r = print_sources(&config);
	else if (cmd.forget_source)
		r = forget_source(&config, cmd.forget_source);
	else if (cmd.forget)
		r = forget_one_agent(&config, cmd.forget);
	else if (cmd.check)
		r = easecapd_check(cmd.config_file, &config, memory_of_services(&config));
	else
		r = start_or_import(&config, &cmd);
	collector_config_free(&config);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
