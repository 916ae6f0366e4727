#include "collector/cluster/url.h"
#include "collector/report/mirror.h"
#include "collector/report/number_format.h"
#include "collector/source_port.h"
#include "common/utf8.h"

#include <errno.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BUSY_WAIT_MS = 2000, /* a writer's checkpoint may hold the file for a moment */
	/* of SQLite's virtual machine between checks of the limits: some hundred microseconds */
	LIMIT_LOOK_STEPS = 10000,
};

int
query_fail(struct query *query, int err, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(query->error, sizeof(query->error), format, args);
	va_end(args);
	if (n >= (int)sizeof(query->error))
		query->error[utf8_cut(query->error, sizeof(query->error))] = '\0';
	return err;
}

int
query_fail_sql(struct query *query)
{
	if (sqlite3_errcode(query->db) == SQLITE_INTERRUPT)
		return query_fail(query, -ETIMEDOUT, "the question takes too long: ask for a"
		    " shorter range or for one switch");
	query->is_damaged |= sqlite3_errcode(query->db) == SQLITE_CORRUPT || sqlite3_errcode(query->db) == SQLITE_NOTADB;
	return query_fail(query, -EIO, "%s: %s", query->path, sqlite3_errmsg(query->db));
}

/* ---- opening ---- */

/* Says why a file cannot be read, and to a user without the right, which group has it. */
static int
check_readable(struct query *query)
{
	const struct group *group;
	struct stat st;
	int err;

	if (access(query->path, R_OK) == 0)
		return 0;
	err = errno;
	if (err != EACCES || stat(query->path, &st) != 0)
		return query_fail(query, -err, "%s: %s", query->path, strerror(err));
	group = getgrgid(st.st_gid);
	return query_fail(query, -EACCES, "%s: %s: only group %s may read it", query->path,
	    strerror(EACCES), group ? group->gr_name : "(unknown)");
}

static int
check_version(struct query *query)
{
	sqlite3_stmt *stmt = query_prepare(query, "PRAGMA user_version");
	int more = stmt ? query_step(query, stmt) : -EIO, version = 0;

	if (more == 1)
		version = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	if (more < 0)
		return more;
	if (version > STORE_VERSION)
		return query_fail(query, -EPROTO, "%s: store version %d is newer than this easetop,"
		    " which reads up to %d", query->path, version, STORE_VERSION);
	if (version < 1)
		return query_fail(query, -EPROTO, "%s: not a store of easecapd", query->path);
	if (version < STORE_FIRST_VERSION)
		return query_fail(query, -EPROTO, "%s: store version %d is from before the first release; this"
		    " easetop reads versions from %d on: let easecapd begin a new store", query->path, version,
		    STORE_FIRST_VERSION);
	if (version < STORE_VERSION)
		return query_fail(query, -EPROTO, "%s: store version %d is older than this easetop;"
		    " the next start of easecapd brings it to %d", query->path, version,
		    STORE_VERSION);
	return 0;
}

/* A view in the place of a table might never end. */
static int
check_tables(struct query *query)
{
	sqlite3_stmt *stmt = query_prepare(query, "SELECT 1 FROM sqlite_schema WHERE type = 'view'"
	    " OR sql LIKE 'CREATE VIRTUAL%'");
	int more = stmt ? query_step(query, stmt) : -EIO;

	if (more == 1)
		more = query_fail(query, -EPROTO, "%s: not a store of easecapd: it has views", query->path);
	sqlite3_finalize(stmt);
	return more;
}

/* All that is read afterwards is of one state of the store. */
static int
open_file(struct query *query)
{
	int err = check_readable(query);
	struct stat st;

	if (err)
		return err;
	query->inode = stat(query->path, &st) == 0 ? st.st_ino : 0;
	if (sqlite3_open_v2(query->path, &query->db,
	    SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return query_fail(query, -EIO, "%s: %s", query->path,
		    query->db ? sqlite3_errmsg(query->db) : "no memory");
	sqlite3_busy_timeout(query->db, BUSY_WAIT_MS);
	if (sqlite3_exec(query->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		return query_fail_sql(query);
	err = check_version(query);
	return err ? err : check_tables(query);
}

/* Hands the query to the caller, or says why there is none. */
static int
finish_open(struct query *q, int err, struct query **query, char *error, size_t error_size)
{
	*query = err ? NULL : q;
	if (err) {
		snprintf(error, error_size, "%s", q ? q->error : "no memory");
		err = q && q->is_damaged ? -EUCLEAN : err;
		query_close(q);
	}
	return err;
}

int
query_open(const char *url, struct query **query, char *error, size_t error_size)
{
	struct query *q = calloc(1, sizeof(*q));
	int err = q ? 0 : -ENOMEM;

	if (q && !(q->path = strdup(strncmp(url, "sqlite:", 7) == 0 ? url + 7 : url)))
		err = query_fail(q, -ENOMEM, "no memory");
	if (err == 0)
		err = open_file(q);
	return finish_open(q, err, query, error, error_size);
}

int
query_open_cluster(const struct query_cluster *where, const struct query_limits *limits,
    struct query **query, char *error, size_t error_size)
{
	struct query *q = calloc(1, sizeof(*q));

	if (q && limits)
		q->limits = *limits;
	return finish_open(q, q ? mirror_open(q, where) : -ENOMEM, query, error, error_size);
}

static int
is_over_limit(void *arg)
{
	const struct query_limits *limits = arg;

	if (limits->cancel && *limits->cancel)
		return 1;
	return limits->deadline_us && clock_mono_us(limits->clock) > limits->deadline_us;
}

bool
query_is_over_limit(const struct query *query)
{
	return is_over_limit((void *)(uintptr_t)&query->limits) != 0;
}

void
query_limit(struct query *query, const struct query_limits *limits)
{
	query->limits = *limits;
	sqlite3_progress_handler(query->db, LIMIT_LOOK_STEPS, is_over_limit, &query->limits);
}

void
query_close(struct query *query)
{
	if (!query)
		return;
	for (int i = 0; i < QUERY_KEPT; i++)
		sqlite3_finalize(query->kept[i].stmt);
	sqlite3_close(query->db);
	query_end_steps(query);
	query_end_fine(query);
	query_forget_gaps(query);
	query_forget_names(query);
	mirror_close(query->mirror);
	free(query->path);
	free(query->agents);
	free(query->ports);
	free(query);
}

static void
bind_if_there(sqlite3_stmt *stmt, const char *name, uint64_t value)
{
	int index = sqlite3_bind_parameter_index(stmt, name);

	if (index > 0)
		sqlite3_bind_int64(stmt, index, (sqlite3_int64)value);
}

void
query_set_fetch_range(struct query *query, enum query_rows rows, uint64_t from_us, uint64_t to_us)
{
	query->fetch_range = (struct query_fetch_range){true, rows, from_us, to_us};
}

/* Fetches from a cluster what the statement reads. */
static void
fetch(struct query *query)
{
	if (!query->fetch_range.given)
		query_set_fetch_range(query, QUERY_ALL_ROWS, query->range.from_us, query->range.to_us);
	query->fetch_range.given = false;
	query->failed = mirror_fill(query);
}

sqlite3_stmt *
query_prepare(struct query *query, const char *sql)
{
	sqlite3_stmt *stmt;

	if (query->mirror)
		mirror_note(query->mirror);
	if (sqlite3_prepare_v2(query->db, sql, -1, &stmt, NULL) != SQLITE_OK) {
		query_fail_sql(query);
		return NULL;
	}
	if (query->mirror && query->failed == 0)
		fetch(query);
	bind_if_there(stmt, ":from", query->range.from_us);
	bind_if_there(stmt, ":to", query->range.to_us);
	return stmt;
}

/* What a cluster's statement reads is fetched when it is prepared. */
sqlite3_stmt *
query_prepare_kept(struct query *query, const char *sql)
{
	struct query_kept *kept = query->kept, *end = kept + QUERY_KEPT;

	while (kept < end && kept->sql && kept->sql != sql)
		kept++;
	if (query->mirror || kept == end)
		return query_prepare(query, sql);
	if (!kept->sql) {
		kept->stmt = query_prepare(query, sql);
		kept->sql = kept->stmt ? sql : NULL;
		return kept->stmt;
	}
	bind_if_there(kept->stmt, ":from", query->range.from_us);
	bind_if_there(kept->stmt, ":to", query->range.to_us);
	return kept->stmt;
}

void
query_give_back(struct query *query, sqlite3_stmt *stmt)
{
	for (int i = 0; i < QUERY_KEPT; i++)
		if (stmt && query->kept[i].stmt == stmt) {
			sqlite3_reset(stmt);
			return;
		}
	sqlite3_finalize(stmt);
}

int
query_step(struct query *query, sqlite3_stmt *stmt)
{
	if (query->failed)
		return query->failed;
	switch (sqlite3_step(stmt)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return query_fail_sql(query);
	}
}

int
query_rows(struct query *query, const char *sql, int (*row)(struct query *, sqlite3_stmt *))
{
	sqlite3_stmt *stmt = query_prepare(query, sql);
	int err = 0;

	if (!stmt)
		return -EIO;
	while (err == 0 && (err = query_step(query, stmt)) == 1)
		err = row(query, stmt);
	sqlite3_finalize(stmt);
	return err;
}

/* A name is what a device says. From here on it is what may be shown of it, so that who asks for a
 * port finds it by the name that he sees. */
static void
column_text(sqlite3_stmt *stmt, int column, char *text, size_t size)
{
	const unsigned char *value = sqlite3_column_text(stmt, column);

	utf8_printable(value ? (const char *)value : "", text, size);
}

/* ---- agents and ports ---- */

static int
add_agent(struct query *query, sqlite3_stmt *stmt)
{
	struct query_agent *agents = realloc(query->agents,
	    (query->n_agents + 1) * sizeof(*agents));
	struct query_agent *agent;
	const uint8_t *id;

	if (!agents)
		return query_fail(query, -ENOMEM, "no memory");
	query->agents = agents;
	agent = &agents[query->n_agents++];
	*agent = (struct query_agent){.id = sqlite3_column_int64(stmt, 0), .listed = EASE_IN};
	id = sqlite3_column_blob(stmt, 1);
	for (int i = 0; i < sqlite3_column_bytes(stmt, 1) && i < EASE_AGENT_ID_LEN; i++)
		snprintf(agent->id_text + 2 * i, 3, "%02x", id[i]);
	agent->boot = sqlite3_column_int64(stmt, 2);
	column_text(stmt, 3, agent->address, sizeof(agent->address));
	agent->first_us = query_u64(stmt, 4);
	agent->last_us = query_u64(stmt, 5);
	agent->last_received_us = query_u64(stmt, 6);
	agent->clock_off_us = sqlite3_column_int64(stmt, 7);
	column_text(stmt, 8, agent->sender, sizeof(agent->sender));
	agent->lacks_minute = query->mirror && sqlite3_column_int(stmt, 9) != 0;
	agent->collector = query->mirror ? sqlite3_column_int64(stmt, 10) : 0;
	return 0;
}

/* The source of sFlow and SNMPv2c is an address; only that of sFlow can be another than the agent's. */
#define AGENTS_WITH(more) "SELECT id, agent_id, boot, address, first_us, last_us, last_received_us," \
			  " ifnull(offset_us, 0), CASE WHEN source <> address AND source NOT LIKE '0x%'" \
			  " AND source NOT LIKE '%@%' THEN source ELSE '' END" more \
			  " FROM agent LEFT JOIN agent_clock c ON c.agent = id LEFT JOIN agent_source s ON s.agent = id" \
			  " ORDER BY id"

static int
load_agents(struct query *query, const struct report_options *options)
{
	int err = query_rows(query, query->mirror ? AGENTS_WITH(", lacks_minute, collector") : AGENTS_WITH(""),
	    add_agent);

	if (err == 0)
		err = query_load_names(query);
	if (err == 0)
		query_name_agents(query);
	return err == 0 ? query_choose_agents(query, options->filter) : err;
}

const struct query_agent *
query_find_agent(const struct query *query, int64_t agent)
{
	for (size_t low = 0, high = query->n_agents; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (query->agents[middle].id == agent)
			return &query->agents[middle];
		if (query->agents[middle].id < agent)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

struct query_port *
query_find_port(const struct query *query, int64_t agent, uint64_t if_index)
{
	for (size_t low = 0, high = query->n_ports; low < high;) {
		size_t middle = low + (high - low) / 2;
		struct query_port *port = &query->ports[middle];

		if (port->agent->id == agent && port->if_index == if_index)
			return port;
		if (port->agent->id < agent ||
		    (port->agent->id == agent && port->if_index < if_index))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static int
add_port(struct query *query, sqlite3_stmt *stmt)
{
	const struct query_agent *agent = query_find_agent(query, sqlite3_column_int64(stmt, 0));
	uint64_t if_index = (uint64_t)sqlite3_column_int64(stmt, 1);
	struct query_port *ports;

	if (!agent || (source_port_has_numbers(if_index) && !query->wants_numbers))
		return 0;
	if ((query->n_ports & (query->n_ports - 1)) == 0) { /* none, or as many as there was room for */
		ports = realloc(query->ports, (2 * query->n_ports + 1) * sizeof(*ports));
		if (!ports)
			return query_fail(query, -ENOMEM, "no memory");
		query->ports = ports;
	}
	ports = query->ports;
	ports[query->n_ports] = (struct query_port){
		.agent = agent,
		.if_index = if_index,
		.edge = true,
	};
	source_port_name(if_index, ports[query->n_ports].sent_name, sizeof(ports->sent_name));
	query->n_ports++;
	return 0;
}

/* States come in the order of time. A state from after the range still names a port, if there is no
 * earlier one. */
static int
set_state(struct query *query, sqlite3_stmt *stmt)
{
	struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint64_t)sqlite3_column_int64(stmt, 1));

	if (!port || (port->has_state && query_u64(stmt, 2) > query->range.to_us))
		return 0;
	port->has_state = true;
	if (sqlite3_column_bytes(stmt, 3) > 0)
		column_text(stmt, 3, port->sent_name, sizeof(port->sent_name));
	column_text(stmt, 4, port->alias, sizeof(port->alias));
	port->speed_bps = query_u64(stmt, 5);
	port->admin_status = (uint8_t)sqlite3_column_int(stmt, 6);
	port->oper_status = (uint8_t)sqlite3_column_int(stmt, 7);
	port->edge = sqlite3_column_int(stmt, 8) != 0;
	port->lag_parent = (uint32_t)sqlite3_column_int64(stmt, 9);
	return 0;
}

static int
load_ports(struct query *query)
{
	int err = query_rows(query, "SELECT agent, if_index FROM port"
	    " UNION SELECT agent, if_index FROM account ORDER BY 1, 2", add_port);

	if (err == 0)
		err = query_rows(query, "SELECT agent, if_index, since_us, name, alias,"
		    " speed_bps, admin_status, oper_status, edge, lag_parent FROM port"
		    " ORDER BY agent, if_index, since_us", set_state);
	if (err == 0)
		query_name_ports(query);
	return err == 0 ? query_choose_ports(query) : err;
}

/* ---- range ---- */

static int
oldest_window(struct query *query, uint64_t *oldest_us)
{
	sqlite3_stmt *stmt = query_prepare(query,
	    "SELECT MIN(start_us) FROM part WHERE kind = 0"
	    " AND level IN (0, 1, 5, 60, 1440, 11520)");
	int more = stmt ? query_step(query, stmt) : -EIO;

	*oldest_us = 0;
	if (more == 1 && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		*oldest_us = query_u64(stmt, 0);
	sqlite3_finalize(stmt);
	return more < 0 ? more : 0;
}

static uint64_t
full_second(uint64_t time_us)
{
	return (time_us + 999999) / 1000000 * 1000000;
}

/* A clock that is more than a day from the time of reception is wrong: its agent's data are where it
 * says, but they do not stretch what is asked of agents whose clocks are right. */
#define CLOCK_WRONG_US (86400 * UINT64_C(1000000))

static bool
is_clock_right(const struct query_agent *agent)
{
	uint64_t device_us = agent->last_us, received_us = agent->last_received_us;

	return received_us == 0 || (device_us <= received_us + CLOCK_WRONG_US &&
					received_us <= device_us + CLOCK_WRONG_US);
}

/* Sets which agents a range without ends covers: those asked for whose clocks are right, or all asked
 * for if there is none. Returns how many are left out. */
static size_t
leave_out_wrong_clocks(struct query *query)
{
	size_t n_right = 0, n_wrong = 0;

	for (size_t i = 0; i < query->n_agents; i++) {
		struct query_agent *a = &query->agents[i];

		a->sets_range = a->chosen && is_clock_right(a);
		n_right += a->sets_range;
		n_wrong += a->chosen && !a->sets_range;
	}
	for (size_t i = 0; n_right == 0 && i < query->n_agents; i++)
		query->agents[i].sets_range = query->agents[i].chosen;
	return n_right > 0 ? n_wrong : 0;
}

static int
set_whole_range(struct query *query, bool all_right)
{
	uint64_t oldest_us = 0;
	int err = all_right ? oldest_window(query, &oldest_us) : 0;

	for (size_t i = 0; i < query->n_agents; i++) {
		uint64_t first_us = query->agents[i].first_us;

		if (query->agents[i].sets_range && (oldest_us == 0 || first_us < oldest_us))
			oldest_us = first_us;
	}
	query->range.from_us = oldest_us;
	query->range.to_us = full_second(query->newest_us);
	return err;
}

/* A window counts as a whole or not at all, so a range ends where its last window ends: at the full
 * minute, or, while that window is still open, with the newest data. */
static uint64_t
end_of_window(const struct query *query, uint64_t to_us)
{
	uint64_t end_us = to_us + (STORE_WINDOW_US - 1 - (to_us - 1) % STORE_WINDOW_US);

	if (end_us <= query->newest_us || to_us == 0)
		return end_us;
	return to_us > query->newest_us ? to_us : full_second(query->newest_us);
}

/* Both ends, in UTC as an API has them. */
static int
refuse_range(struct query *query, const struct report_options *options)
{
	char from[NUMBER_TEXT], to[NUMBER_TEXT];

	number_format_time(query->range.from_us, true, from);
	number_format_time(query->range.to_us, true, to);
	return query_fail(query, -EINVAL, "the range is empty: it begins at %s and ends %s%s", from,
	    options->has_to ? "at " : options->all ? "with the newest data, at " : "now, at ", to);
}

static int
set_range(struct query *query, const struct report_options *options, uint64_t now_us)
{
	bool all_right = leave_out_wrong_clocks(query) == 0;
	int err = 0;

	for (size_t i = 0; i < query->n_agents; i++)
		if (query->agents[i].sets_range && query->agents[i].last_us > query->newest_us)
			query->newest_us = query->agents[i].last_us;
	if (options->moment.now_us > 0) {
		query->range = (struct query_range){options->moment.from_us, options->moment.to_us};
		query_fit_range(query);
		return 0;
	}
	if (options->all)
		err = set_whole_range(query, all_right);
	else
		query->range.to_us = now_us;
	if (options->has_to)
		query->range.to_us = options->to_us;
	if (options->has_from)
		query->range.from_us = options->from_us;
	else if (!options->all)
		query->range.from_us = query->range.to_us > options->last_us
		    ? query->range.to_us - options->last_us : 0;
	if (err == 0 && options->has_from && query->range.from_us >= query->range.to_us)
		err = refuse_range(query, options);
	query->range.from_us -= query->range.from_us % STORE_WINDOW_US;
	query->range.to_us = end_of_window(query, query->range.to_us);
	query_fit_range(query);
	return err;
}

int
query_begin(struct query *query, const struct report_options *options, uint64_t now_us)
{
	int err;

	if (options->moment.now_us > 0)
		now_us = options->moment.now_us;
	query->n_agents = query->n_ports = 0; /* those of an earlier question */
	query->newest_us = 0;
	query->failed = 0;
	query->sides_chosen = false;
	query->n_sent_agents = 0;
	query_forget_names(query);
	query_forget_gaps(query);
	if (query->mirror)
		mirror_forget(query);
	err = load_agents(query, options);
	if (err == 0)
		err = query_load_levels(query);
	if (err == 0)
		err = set_range(query, options, now_us);
	if (err == 0)
		err = load_ports(query);
	if (err == 0)
		err = query_find_edge(query, options, now_us);
	if (err == 0)
		err = query_find_beside(query);
	query->asked = query->range;
	if (err == 0 && !query_add_functions(query, options))
		err = query_fail_sql(query);
	return err;
}

void
query_rest(struct query *query)
{
	query_end_steps(query);
	query_end_fine(query);
	query_forget_names(query);
	query_forget_gaps(query);
	free(query->agents);
	free(query->ports);
	query->agents = NULL;
	query->ports = NULL;
	query->n_agents = query->n_ports = 0;
	query->filter = NULL;
	*query->error = '\0';
	for (int i = 0; i < QUERY_KEPT; i++) {
		sqlite3_finalize(query->kept[i].stmt);
		query->kept[i] = (struct query_kept){0};
	}
	sqlite3_db_release_memory(query->db);
}

struct report_moment
query_moment(const struct query *query, uint64_t now_us)
{
	return (struct report_moment){
		.now_us = now_us,
		.from_us = query->older_us > 0 ? query->older_us : query->range.from_us,
		.to_us = query->range.to_us,
		.at_edge = query->edge_us > 0 && query->range.to_us == query->edge_us,
	};
}

void
query_narrow(struct query *query, uint64_t from_us, uint64_t to_us)
{
	query->range = (struct query_range){from_us, to_us};
	for (size_t i = 0; i < query->n_ports; i++) {
		struct query_port *port = &query->ports[i];

		memset(port->side, 0, sizeof(port->side));
		memset(port->cut, 0, sizeof(port->cut));
		port->expected = port->received = port->folded = port->folded_most = 0;
		port->dropped = port->dropped_most = 0;
	}
}
