#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include <net-snmp/agent/net-snmp-agent-includes.h>

#include <net-snmp/agent/agent_callbacks.h>
#include <net-snmp/agent/agent_sysORTable.h>
#include <net-snmp/library/large_fd_set.h>

#include "agent/snmp/snmp_agent.h"

#include "agent/snmp/master_connect.h"
#include "agent/snmp/master_transport.h"
#include "agent/snmp/mib_register.h"
#include "agent/snmp/notify_send.h"
#include "common/log.h"
#include "common/text.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The library needs no directory of its own, and would look into one, and make others in it, wherever a
 * link there leads. No file can be below this. */
#define NO_DIRECTORY "/dev/null/snmp"

enum {
	TIMEOUT_MAX_S = 60,
	ADDRESS_MAX = 1024, /* of the master, as text */
	PATIENCE_MS = 500,  /* a stop first waits so long for the session to close cleanly */
	TIMEOUT_TURNS = 64, /* busy turns between two checks for timeouts of requests: some ms */
	REFUSED_TABLES_MAX = 600, /* octets of names in one message; the log's lines are limited */
};

struct snmp_agent {
	struct snmp_agent_options options;
	char *agentx_socket, *app_name; /* what the options point to */
	struct notify_source source;
	struct mib_registry *registry;
	struct master_link *link;
	netsnmp_session *session; /* with the master; NULL while there is none */
	_Atomic bool connected;
	bool started, ended;
	unsigned busy_turns;
	struct mib_oid registering; /* what the library is registering with the master now */
	char refused_tables[REFUSED_TABLES_MAX]; /* not logged yet: "NAME (OID), ..." */
	pthread_t thread;
	int stop_fd; /* written by snmp_agent_stop */
	int done_fd; /* written by the thread when it ends */
};

/* ---- the library ---- */

static void
count_session_event(const struct snmp_agent *agent, enum notify_stat which)
{
	if (agent->options.ring)
		stat_add(notify_ring_stats(agent->options.ring), which, 1);
}

/* ---- tables that the master refuses ---- */

/* The library calls this before its own callback, which sends the registration to the master. */
static int
on_register(int major, int minor, void *parameters, void *ctx)
{
	const struct register_parameters *p = parameters;
	struct snmp_agent *agent = ctx;

	(void)major;
	(void)minor;
	agent->registering.n = p->namelen < MIB_OID_ARCS ? p->namelen : MIB_OID_ARCS;
	for (size_t i = 0; i < agent->registering.n; i++)
		agent->registering.arcs[i] = (uint32_t)p->name[i];
	return 0;
}

static void
log_refused_tables(struct snmp_agent *agent)
{
	if (agent->refused_tables[0] == '\0')
		return;
	log_warn_limited("snmp", "already served by another subagent of the master at %s, so that"
	    " managers do not see ours: %s. Stop the other one (a second easeagentd?); if it is a"
	    " part of snmpd, start snmpd with -I -NAME", agent->options.agentx_socket,
	    agent->refused_tables);
	agent->refused_tables[0] = '\0';
}

static void
note_refused_table(struct snmp_agent *agent)
{
	const struct mib_oid *oid = &agent->registering;
	char text[MIB_OID_ARCS * 11 + 64];
	size_t used = strlen(agent->refused_tables);

	snprintf(text, sizeof(text), "%s (", mib_registry_name(agent->registry, oid->arcs, oid->n));
	for (size_t i = 0; i < oid->n; i++)
		text_add(text, sizeof(text), "%s%u", i ? "." : "", (unsigned)oid->arcs[i]);
	if (used + strlen(text) + sizeof(", )") > sizeof(agent->refused_tables)) {
		log_refused_tables(agent);
		agent->refused_tables[0] = '\0';
	}
	text_add(agent->refused_tables, sizeof(agent->refused_tables), "%s%s)",
	    agent->refused_tables[0] ? ", " : "", text);
}

/* The library reports only the master's error code, and the local registration stays. */
static void
register_refused(struct snmp_agent *agent, const char *message)
{
	if (master_link_is_over(agent->link)) /* the error is not the master's */
		return;
	count_session_event(agent, NOTIFY_REGISTERS_REFUSED);
	if (strstr(message, "263")) /* duplicateRegistration, RFC 2741 section 6.2.16 */
		note_refused_table(agent);
	else
		log_warn_limited("net-snmp", "%.*s", (int)strcspn(message, "\n"), message);
}

/* ---- callbacks of the library ---- */

static int
snmp_agent_on_log(int major, int minor, void *message, void *ctx)
{
	const struct snmp_log_message *m = message;
	size_t len = strcspn(m->msg, "\n");

	(void)major;
	(void)minor;
	if (len == 0)
		return 0;
	if (strstr(m->msg, "registering pdu failed"))
		register_refused(ctx, m->msg);
	else if (m->priority <= LOG_WARNING)
		log_warn_limited("net-snmp", "%.*s", (int)len, m->msg);
	else
		log_debug("net-snmp", "%.*s", (int)len, m->msg);
	return 0;
}

/* A request on a stream need not be repeated: it waits timeout_s once, then the session ends. */
static int
on_session_up(int major, int minor, void *session, void *ctx)
{
	struct snmp_agent *agent = ctx;

	(void)major;
	(void)minor;
	agent->session = session;
	agent->session->retries = 0;
	agent->session->timeout = agent->options.timeout_s * 1000000L;
	atomic_store(&agent->connected, true);
	count_session_event(agent, NOTIFY_CONNECTS);
	log_info("snmp", "connected to the master at %s", agent->options.agentx_socket);
	return 0;
}

static int
on_session_down(int major, int minor, void *session, void *ctx)
{
	struct snmp_agent *agent = ctx;

	(void)major;
	(void)minor;
	(void)session;
	agent->session = NULL;
	atomic_store(&agent->connected, false);
	mib_registry_reset(agent->registry);
	count_session_event(agent, NOTIFY_DISCONNECTS);
	log_warn("snmp", "the session with the master at %s has ended; trying again every %u s",
	    agent->options.agentx_socket, agent->options.retry_s);
	return 0;
}

static void
set_agentx_options(const struct snmp_agent_options *options)
{
	netsnmp_ds_set_int(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_AGENTX_PING_INTERVAL, (int)options->retry_s);
	netsnmp_ds_set_int(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_AGENTX_TIMEOUT,
	    (int)options->timeout_s * 1000000);
	netsnmp_ds_set_int(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_AGENTX_RETRIES, 0);
}

static void
snmp_agent_set_address(const struct snmp_agent_options *options)
{
	char address[sizeof(MASTER_TRANSPORT_PREFIX ":") + ADDRESS_MAX];

	snprintf(address, sizeof(address), MASTER_TRANSPORT_PREFIX ":%s", options->agentx_socket);
	netsnmp_ds_set_string(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_X_SOCKET, address);
}

static int
register_tables(struct snmp_agent *agent)
{
	const struct mib_registry_options options = {
		.clock = agent->options.clock,
		.tables = agent->options.tables,
		.n_tables = agent->options.n_tables,
		.snapshots = agent->options.snapshots,
		.setter = agent->options.setter,
		.priority = SNMP_AGENT_PRIORITY,
	};

	return mib_registry_create(&options, &agent->registry);
}

/* The library tells the master of them (agentx-AddAgentCaps-PDU) whenever a session begins. */
static void
register_modules(const struct snmp_agent_options *options)
{
	for (size_t i = 0; i < options->n_modules; i++) {
		const struct mib_module *module = &options->modules[i];
		oid name[MIB_OID_ARCS];

		for (size_t k = 0; k < module->identity.n; k++)
			name[k] = module->identity.arcs[k];
		register_sysORTable(name, module->identity.n, module->descr);
	}
}

static int
open_library(struct snmp_agent *agent)
{
	const struct snmp_agent_options *options = &agent->options;
	int error;

	/* Before the library does anything, so that the host's Net-SNMP configuration has no effect. */
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_READ_CONFIGS, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_PERSIST_STATE, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_NO_ROOT_ACCESS, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_NO_CONNECTION_WARNINGS, 1);
	set_persistent_directory(NO_DIRECTORY);
	snmp_enable_calllog();
	snmp_register_callback(SNMP_CALLBACK_LIBRARY, SNMP_CALLBACK_LOGGING, snmp_agent_on_log, agent);
	netsnmp_enable_subagent();
	snmp_agent_set_address(options);
	if (init_agent(options->app_name) != 0)
		return -EIO;
	set_agentx_options(options); /* after init_agent, which sets its own */
	error = master_transport_register(agent->link);
	if (error)
		return error;
	snmp_register_callback(SNMP_CALLBACK_APPLICATION, SNMPD_CALLBACK_INDEX_START, on_session_up, agent);
	snmp_register_callback(SNMP_CALLBACK_APPLICATION, SNMPD_CALLBACK_INDEX_STOP, on_session_down, agent);
	netsnmp_register_callback(SNMP_CALLBACK_APPLICATION, SNMPD_CALLBACK_REGISTER_OID, on_register,
	    agent, NETSNMP_CALLBACK_HIGHEST_PRIORITY);
	error = register_tables(agent);
	if (!error) {
		register_modules(options);
		init_snmp(options->app_name);
	}
	return error;
}

/* ---- the thread's loop ---- */

static void
watch_fd(int fd, netsnmp_large_fd_set *fds, int *n)
{
	NETSNMP_LARGE_FD_SET(fd, fds);
	if (*n <= fd)
		*n = fd + 1;
}

static void
clear_event(int fd)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0)
		return;
}

/* True if there is nothing to send, so that the thread may sleep until the ring wakes it. */
static bool
may_sleep(const struct snmp_agent *agent)
{
	return !agent->options.ring || !agent->session || notify_ring_prepare_wait(agent->options.ring);
}

/* One turn: sleeps until a session, an alarm of the library, the ring or a stop needs service, and
 * serves it. False if asked to stop. */
static bool
snmp_agent_take_turn(struct snmp_agent *agent, netsnmp_large_fd_set *fds)
{
	struct notify_ring *ring = agent->options.ring;
	struct timeval timeout = {.tv_sec = may_sleep(agent) ? 1 : 0};
	int n = 0, block = 0, ready;

	netsnmp_large_fd_set_resize(fds, FD_SETSIZE);
	NETSNMP_LARGE_FD_ZERO(fds);
	snmp_select_info2(&n, fds, &timeout, &block);
	watch_fd(agent->stop_fd, fds, &n);
	if (ring)
		watch_fd(notify_ring_fd(ring), fds, &n);
	ready = netsnmp_large_fd_set_select(n, fds, NULL, NULL, &timeout);
	if (ready > 0 && NETSNMP_LARGE_FD_ISSET(agent->stop_fd, fds))
		return false;
	if (ready > 0 && ring && NETSNMP_LARGE_FD_ISSET(notify_ring_fd(ring), fds))
		clear_event(notify_ring_fd(ring));
	if (ready > 0)
		snmp_read2(fds);
	if (ready == 0 || ++agent->busy_turns % TIMEOUT_TURNS == 0)
		snmp_timeout();
	run_alarms();
	netsnmp_check_outstanding_agent_requests();
	return true;
}

static void
serve_master(struct snmp_agent *agent)
{
	netsnmp_large_fd_set fds;

	netsnmp_large_fd_set_init(&fds, FD_SETSIZE);
	do {
		log_refused_tables(agent);
		if (agent->options.ring && agent->session)
			notify_send_pump(agent->options.ring, &agent->source, agent->session);
	} while (snmp_agent_take_turn(agent, &fds));
	netsnmp_large_fd_set_cleanup(&fds);
}

/* The callbacks are removed first: closing the session must not touch the registry, and the library
 * would free the argument of callbacks that remain. */
static void
close_library(struct snmp_agent *agent)
{
	agent->session = NULL;
	snmp_unregister_callback(SNMP_CALLBACK_APPLICATION, SNMPD_CALLBACK_INDEX_START, on_session_up, agent, 1);
	snmp_unregister_callback(SNMP_CALLBACK_APPLICATION, SNMPD_CALLBACK_INDEX_STOP, on_session_down, agent, 1);
	snmp_unregister_callback(SNMP_CALLBACK_APPLICATION, SNMPD_CALLBACK_REGISTER_OID, on_register, agent, 1);
	snmp_unregister_callback(SNMP_CALLBACK_LIBRARY, SNMP_CALLBACK_LOGGING, snmp_agent_on_log, agent, 1);
	snmp_shutdown(agent->options.app_name);
	shutdown_agent();
	atomic_store(&agent->connected, false);
}

static void *
run_snmp_thread(void *ctx)
{
	struct snmp_agent *agent = ctx;
	uint64_t one = 1;
	sigset_t all;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	error = open_library(agent);
	if (error)
		log_error("snmp", "the SNMP thread cannot start: %s", strerror(-error));
	else
		serve_master(agent);
	close_library(agent);
	if (write(agent->done_fd, &one, sizeof(one)) < 0)
		log_error("snmp", "cannot signal that the SNMP thread has ended: %s", strerror(errno));
	return NULL;
}

/* ---- for the main thread ---- */

static const char *
option_fault(const struct snmp_agent_options *o)
{
	if (!o->agentx_socket || !*o->agentx_socket)
		return "agentx_socket is empty";
	if (!o->app_name || !*o->app_name || !o->clock)
		return "a name or clock is missing";
	if (o->retry_s > SNMP_AGENT_RETRY_MAX_S || o->timeout_s > TIMEOUT_MAX_S)
		return "retry_s or timeout_s is too long";
	if (!o->snapshots.hold || !o->snapshots.release)
		return "there is no source of snapshots";
	return NULL;
}

static int
check_options(const struct snmp_agent_options *options)
{
	const char *why = option_fault(options);
	struct master_address address;

	if (why) {
		log_error("snmp", "%s", why);
		return -EINVAL;
	}
	why = master_address_parse(options->agentx_socket, &address);
	if (why) {
		log_error("snmp", "agentx_socket %s: %s", options->agentx_socket, why);
		return -EINVAL;
	}
	for (size_t i = 0; i < options->n_tables; i++) {
		if (mib_table_check(options->tables[i], &why)) {
			log_error("snmp", "table %s: %s",
			    options->tables[i]->name ? options->tables[i]->name : "?", why);
			return -EINVAL;
		}
	}
	return 0;
}

static int
copy_options(struct snmp_agent *agent, const struct snmp_agent_options *options)
{
	agent->agentx_socket = strdup(options->agentx_socket);
	agent->app_name = strdup(options->app_name);
	if (!agent->agentx_socket || !agent->app_name)
		return -ENOMEM;
	agent->options = *options;
	agent->options.agentx_socket = agent->agentx_socket;
	agent->options.app_name = agent->app_name;
	if (options->retry_s == 0)
		agent->options.retry_s = SNMP_AGENT_RETRY_S;
	if (options->timeout_s == 0)
		agent->options.timeout_s = SNMP_AGENT_TIMEOUT_S;
	memcpy(agent->source.agent_id, options->agent_id, sizeof(agent->source.agent_id));
	agent->source.boot = options->boot;
	return 0;
}

int
snmp_agent_create(const struct snmp_agent_options *options, struct snmp_agent **out)
{
	struct snmp_agent *agent;
	int error = check_options(options);

	if (error)
		return error;
	agent = calloc(1, sizeof(*agent));
	if (!agent)
		return -ENOMEM;
	agent->stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	agent->done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	error = agent->stop_fd < 0 || agent->done_fd < 0 ? -EMFILE : copy_options(agent, options);
	if (!error)
		error = master_link_create(options->clock, agent->options.timeout_s, &agent->link);
	if (error)
		snmp_agent_destroy(agent);
	else
		*out = agent;
	return error;
}

int
snmp_agent_start(struct snmp_agent *agent)
{
	int error;

	/* A subagent needs no MIB modules, and a stock Debian has none: unless told to load none, the library
	 * prints hundreds of errors. Done before the thread starts, because it changes the environment. */
	setenv("MIBS", "", 1);
	setenv("SNMPCONFPATH", NO_DIRECTORY, 1);
	setenv("SNMP_PERSISTENT_DIR", NO_DIRECTORY, 1);
	signal(SIGPIPE, SIG_IGN); /* raised by an answer on a session that the master has closed */
	error = pthread_create(&agent->thread, NULL, run_snmp_thread, agent);
	if (error)
		return -error;
	agent->started = true;
	pthread_setname_np(agent->thread, "snmp");
	return 0;
}

static bool
has_ended_in(const struct snmp_agent *agent, unsigned timeout_ms)
{
	struct pollfd done = {.fd = agent->done_fd, .events = POLLIN};

	return poll(&done, 1, (int)timeout_ms) == 1;
}

int
snmp_agent_stop(struct snmp_agent *agent, unsigned timeout_ms)
{
	unsigned patience_ms = timeout_ms < PATIENCE_MS ? timeout_ms : PATIENCE_MS;
	uint64_t one = 1;

	if (!agent->started || agent->ended)
		return 0;
	if (write(agent->stop_fd, &one, sizeof(one)) < 0)
		return -errno;
	if (!has_ended_in(agent, patience_ms)) {
		master_link_abandon(agent->link);
		if (!has_ended_in(agent, timeout_ms - patience_ms))
			return -ETIMEDOUT;
	}
	pthread_join(agent->thread, NULL);
	agent->ended = true;
	return 0;
}

bool
snmp_agent_destroy(struct snmp_agent *agent)
{
	if (!agent)
		return true;
	if (agent->started && !agent->ended)
		return false;
	mib_registry_destroy(agent->registry);
	master_link_destroy(agent->link);
	if (agent->stop_fd >= 0)
		close(agent->stop_fd);
	if (agent->done_fd >= 0)
		close(agent->done_fd);
	free(agent->agentx_socket);
	free(agent->app_name);
	free(agent);
	return true;
}

bool
snmp_agent_connected(const struct snmp_agent *agent)
{
	return atomic_load(&agent->connected);
}

const struct stat_set *
snmp_agent_stats(const struct snmp_agent *agent)
{
	return master_link_stats(agent->link);
}
