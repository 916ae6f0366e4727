#include "collector/query/query_private.h"
#include "collector/source_port.h"
#include "common/number_format.h"
#include "common/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
query_finish_open(struct query *q, int err, struct query **query, char *error, size_t error_size)
{
	*query = err ? NULL : q;
	if (err) {
		snprintf(error, error_size, "%s", q ? q->error : "no memory");
		err = q && q->is_damaged ? -EUCLEAN : err;
		query_close(q);
	}
	return err;
}

void
query_close(struct query *query)
{
	if (!query)
		return;
	for (int i = 0; i < QUERY_KEPT; i++)
		sqlite3_finalize(query->kept[i].stmt);
	sqlite3_close(query->db);
	query_end_fine(query);
	query_forget_gaps(query);
	query_forget_names(query);
	if (query->store && query->store->close)
		query->store->close(query);
	free(query->path);
	free(query->agents);
	free(query->ports);
	free(query);
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
query_add_agent(struct query *query, sqlite3_stmt *stmt)
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
	agent->lacks_minute = sqlite3_column_int(stmt, 9) != 0;
	agent->collector = sqlite3_column_int64(stmt, 10);
	column_text(stmt, 11, agent->system_name, sizeof(agent->system_name));
	return 0;
}

/* The source of sFlow and SNMPv2c is an address; only that of sFlow can be another than the agent's. */
#define AGENTS "SELECT id, agent_id, boot, address, first_us, last_us, last_received_us," \
	       " ifnull(offset_us, 0), CASE WHEN source <> address AND source NOT LIKE '0x%%'" \
	       " AND source NOT LIKE '%%@%%' THEN source ELSE '' END, %s" \
	       " FROM agent LEFT JOIN agent_clock c ON c.agent = id LEFT JOIN agent_source s ON s.agent = id" \
	       " ORDER BY id"

static int
load_agents(struct query *query, const struct report_options *options)
{
	char sql[sizeof(AGENTS) + 64];
	int err;

	snprintf(sql, sizeof(sql), AGENTS, query->store->agent_columns);
	err = query_rows(query, sql, query_add_agent);
	if (err == 0)
		err = query_load_names(query);
	if (err == 0)
		query_name_agents(query);
	return err == 0 ? query_choose_agents(query, options->filter) : err;
}

static int
query_add_port(struct query *query, sqlite3_stmt *stmt)
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
	    " UNION SELECT agent, if_index FROM account ORDER BY 1, 2", query_add_port);

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
	if (query->store->forget)
		query->store->forget(query);
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
	if (query->store->end_steps)
		query->store->end_steps(query);
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
