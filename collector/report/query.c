#include "collector/report/query.h"

#include "collector/report/dimension.h"

#include "collector/store/schema.h"

#include <errno.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_WAIT_MS = 2000 }; /* a writer's checkpoint may hold the file for a moment */

static int __attribute__((format(printf, 3, 4)))
fail(struct query *query, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(query->error, sizeof(query->error), format, args);
	va_end(args);
	return err;
}

static int
fail_sql(struct query *query)
{
	return fail(query, -EIO, "%s: %s", query->path, sqlite3_errmsg(query->db));
}

/* ---- opening ---- */

/* Why a file cannot be read; a reader who lacks rights learns which group would give them. */
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
		return fail(query, -err, "%s: %s", query->path, strerror(err));
	group = getgrgid(st.st_gid);
	return fail(query, -EACCES, "%s: %s: only group %s may read it", query->path,
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
		return fail(query, -EPROTO, "%s: store version %d is newer than this easetop, which"
		    " reads up to %d", query->path, version, STORE_VERSION);
	if (version < 1)
		return fail(query, -EPROTO, "%s: not a store of easecapd", query->path);
	if (version < STORE_VERSION)
		return fail(query, -EPROTO, "%s: store version %d is older than this easetop; the"
		    " next start of easecapd brings it to %d", query->path, version, STORE_VERSION);
	return 0;
}

/* Everything after it sees one state of the store. */
static int
open_view(struct query *query)
{
	int err = check_readable(query);

	if (err)
		return err;
	if (sqlite3_open_v2(query->path, &query->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		return fail(query, -EIO, "%s: %s", query->path,
		    query->db ? sqlite3_errmsg(query->db) : "no memory");
	sqlite3_busy_timeout(query->db, BUSY_WAIT_MS);
	if (sqlite3_exec(query->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		return fail_sql(query);
	return check_version(query);
}

int
query_open(const char *url, struct query **query, char *error, size_t error_size)
{
	struct query *q = calloc(1, sizeof(*q));
	int err;

	*query = NULL;
	if (!q) {
		snprintf(error, error_size, "no memory");
		return -ENOMEM;
	}
	if (strncmp(url, "clickhouse:", 11) == 0)
		err = fail(q, -EPROTONOSUPPORT, "%s: this easetop reads sqlite:PATH only", url);
	else if (!(q->path = strdup(strncmp(url, "sqlite:", 7) == 0 ? url + 7 : url)))
		err = fail(q, -ENOMEM, "no memory");
	else
		err = open_view(q);
	if (err) {
		snprintf(error, error_size, "%s", q->error);
		query_close(q);
		return err;
	}
	*query = q;
	return 0;
}

void
query_close(struct query *query)
{
	if (!query)
		return;
	sqlite3_close(query->db);
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

sqlite3_stmt *
query_prepare(struct query *query, const char *sql)
{
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(query->db, sql, -1, &stmt, NULL) != SQLITE_OK) {
		fail_sql(query);
		return NULL;
	}
	bind_if_there(stmt, ":from", query->range.from_us);
	bind_if_there(stmt, ":to", query->range.to_us);
	return stmt;
}

int
query_step(struct query *query, sqlite3_stmt *stmt)
{
	switch (sqlite3_step(stmt)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return fail_sql(query);
	}
}

/* Calls row for each row of a statement. */
static int
for_rows(struct query *query, const char *sql, int (*row)(struct query *, sqlite3_stmt *))
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

static uint64_t
column_u64(sqlite3_stmt *stmt, int column)
{
	return (uint64_t)sqlite3_column_int64(stmt, column);
}

static void
column_text(sqlite3_stmt *stmt, int column, char *text, size_t size)
{
	const char *value = (const char *)sqlite3_column_text(stmt, column);

	snprintf(text, size, "%s", value ? value : "");
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
		return fail(query, -ENOMEM, "no memory");
	query->agents = agents;
	agent = &agents[query->n_agents++];
	*agent = (struct query_agent){.id = sqlite3_column_int64(stmt, 0)};
	id = sqlite3_column_blob(stmt, 1);
	for (int i = 0; i < sqlite3_column_bytes(stmt, 1) && i < EASE_AGENT_ID_LEN; i++)
		snprintf(agent->id_text + 2 * i, 3, "%02x", id[i]);
	agent->boot = sqlite3_column_int64(stmt, 2);
	column_text(stmt, 3, agent->address, sizeof(agent->address));
	agent->first_us = column_u64(stmt, 4);
	agent->last_us = column_u64(stmt, 5);
	agent->last_received_us = column_u64(stmt, 6);
	return 0;
}

static bool
shares_address(const struct query *query, const struct query_agent *agent)
{
	for (size_t i = 0; i < query->n_agents; i++)
		if (&query->agents[i] != agent &&
		    strcmp(query->agents[i].address, agent->address) == 0)
			return true;
	return false;
}

static int
load_agents(struct query *query, const struct report_options *options)
{
	size_t n_chosen = 0;
	int err = for_rows(query, "SELECT id, agent_id, boot, address, first_us, last_us,"
	    " last_received_us FROM agent ORDER BY id", add_agent);

	for (size_t i = 0; err == 0 && i < query->n_agents; i++) {
		struct query_agent *a = &query->agents[i];
		bool by_id = !*a->address || shares_address(query, a);

		snprintf(a->name, sizeof(a->name), "%.*s", by_id ? 8 : QUERY_AGENT_TEXT - 1,
		    by_id ? a->id_text : a->address);
		a->chosen = !options->agent || strcmp(options->agent, a->address) == 0 ||
		    (*options->agent &&
		    strncasecmp(options->agent, a->id_text, strlen(options->agent)) == 0);
		n_chosen += a->chosen;
	}
	if (err == 0 && n_chosen == 0 && options->agent)
		err = fail(query, -ENOENT, "%s: no agent with the address or id %s", query->path,
		    options->agent);
	return err;
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
query_find_port(const struct query *query, int64_t agent, uint32_t if_index)
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
	struct query_port *ports;

	if (!agent)
		return 0;
	ports = realloc(query->ports, (query->n_ports + 1) * sizeof(*ports));
	if (!ports)
		return fail(query, -ENOMEM, "no memory");
	query->ports = ports;
	ports[query->n_ports] = (struct query_port){
		.agent = agent,
		.if_index = (uint32_t)sqlite3_column_int64(stmt, 1),
		.edge = true,
	};
	snprintf(ports[query->n_ports].name, sizeof(ports->name), "if%u",
	    ports[query->n_ports].if_index);
	query->n_ports++;
	return 0;
}

static int
set_state(struct query *query, sqlite3_stmt *stmt)
{
	struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint32_t)sqlite3_column_int64(stmt, 1));

	if (!port)
		return 0;
	if (sqlite3_column_bytes(stmt, 3) > 0)
		column_text(stmt, 3, port->name, sizeof(port->name));
	column_text(stmt, 4, port->alias, sizeof(port->alias));
	port->speed_bps = column_u64(stmt, 5);
	port->admin_status = (uint8_t)sqlite3_column_int(stmt, 6);
	port->oper_status = (uint8_t)sqlite3_column_int(stmt, 7);
	port->edge = sqlite3_column_int(stmt, 8) != 0;
	return 0;
}

static bool
port_matches(const struct query_port *port, const char *wanted)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", port->if_index);
	return !wanted || strcmp(wanted, port->name) == 0 || strcmp(wanted, number) == 0;
}

/* A state that came only after the range still names the port better than nothing. */
static int
load_ports(struct query *query, const struct report_options *options)
{
	size_t n_chosen = 0;
	int err = for_rows(query, "SELECT agent, if_index FROM port"
	    " UNION SELECT agent, if_index FROM account"
	    " UNION SELECT agent, if_index FROM window WHERE start_us >= :from AND start_us < :to"
	    " ORDER BY 1, 2", add_port);

	if (err == 0)
		err = for_rows(query, "SELECT agent, if_index, MIN(since_us), name, alias,"
		    " speed_bps, admin_status, oper_status, edge FROM port"
		    " GROUP BY agent, if_index", set_state);
	if (err == 0)
		err = for_rows(query, "SELECT agent, if_index, MAX(since_us), name, alias,"
		    " speed_bps, admin_status, oper_status, edge FROM port WHERE since_us <= :to"
		    " GROUP BY agent, if_index", set_state);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++) {
		struct query_port *port = &query->ports[i];

		port->chosen = port->agent->chosen && port_matches(port, options->port);
		n_chosen += port->chosen;
	}
	if (err == 0 && n_chosen == 0 && options->port)
		err = fail(query, -ENOENT, "%s: no port with the name or ifIndex %s", query->path,
		    options->port);
	return err;
}

/* ---- range ---- */

static int
oldest_window(struct query *query, uint64_t *oldest_us)
{
	sqlite3_stmt *stmt = query_prepare(query, "SELECT MIN(start_us) FROM window");
	int more = stmt ? query_step(query, stmt) : -EIO;

	*oldest_us = 0;
	if (more == 1 && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		*oldest_us = column_u64(stmt, 0);
	sqlite3_finalize(stmt);
	return more < 0 ? more : 0;
}

static uint64_t
full_second(uint64_t time_us)
{
	return (time_us + 999999) / 1000000 * 1000000;
}

static int
set_whole_range(struct query *query)
{
	uint64_t oldest_us;
	int err = oldest_window(query, &oldest_us);

	for (size_t i = 0; i < query->n_agents; i++) {
		uint64_t first_us = query->agents[i].first_us;

		if (query->agents[i].chosen && (oldest_us == 0 || first_us < oldest_us))
			oldest_us = first_us;
	}
	query->range.from_us = oldest_us;
	query->range.to_us = full_second(query->newest_us);
	return err;
}

/* A window counts whole or not at all, so a range ends where its last one does: at the full minute,
 * or while that is still open with the newest data. */
static uint64_t
end_of_window(const struct query *query, uint64_t to_us)
{
	uint64_t end_us = to_us + (STORE_WINDOW_US - 1 - (to_us - 1) % STORE_WINDOW_US);

	if (end_us <= query->newest_us || to_us == 0)
		return end_us;
	return to_us > query->newest_us ? to_us : full_second(query->newest_us);
}

static int
set_range(struct query *query, const struct report_options *options, uint64_t now_us)
{
	int err = 0;

	for (size_t i = 0; i < query->n_agents; i++)
		if (query->agents[i].chosen && query->agents[i].last_us > query->newest_us)
			query->newest_us = query->agents[i].last_us;
	if (options->all)
		err = set_whole_range(query);
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
		err = fail(query, -EINVAL, "the range ends before it starts");
	query->range.from_us -= query->range.from_us % STORE_WINDOW_US;
	query->range.to_us = end_of_window(query, query->range.to_us);
	return err;
}

static void
sql_in_prefix(sqlite3_context *context, int n, sqlite3_value **values)
{
	const struct report_prefix *prefix =
	    &((const struct report_options *)sqlite3_user_data(context))->addr;
	const uint8_t *octets = sqlite3_value_blob(values[0]);
	unsigned whole = prefix->bits / 8, rest = prefix->bits % 8;
	bool in = n == 1 && octets && sqlite3_value_bytes(values[0]) == prefix->n_octets &&
	    memcmp(octets, prefix->octets, whole) == 0;

	if (in && rest > 0)
		in = (octets[whole] ^ prefix->octets[whole]) >> (8 - rest) == 0;
	sqlite3_result_int(context, in);
}

/* subnet(address): its host bits cleared. */
static void
sql_subnet(sqlite3_context *context, int n, sqlite3_value **values)
{
	const struct report_options *options = sqlite3_user_data(context);
	int octets = n == 1 ? sqlite3_value_bytes(values[0]) : 0;
	uint8_t subnet[FRAME_IP_LEN] = {0};
	unsigned bits;

	if (octets <= 0 || octets > FRAME_IP_LEN) {
		sqlite3_result_null(context);
		return;
	}
	bits = report_mask_bits(options, (size_t)octets);
	memcpy(subnet, sqlite3_value_blob(values[0]), bits / 8);
	if (bits % 8)
		subnet[bits / 8] = (uint8_t)(((const uint8_t *)sqlite3_value_blob(values[0]))[bits / 8] &
		    0xff << (8 - bits % 8));
	sqlite3_result_blob(context, subnet, octets, SQLITE_TRANSIENT);
}

/* octets(value, n, value, n, ...): numbers in network order of n octets, and blobs as they are, one
 * behind the other: a window's key out of a sample's columns. */
static void
sql_octets(sqlite3_context *context, int n, sqlite3_value **values)
{
	uint8_t key[QUERY_KEY_OCTETS];
	int len = 0;

	for (int i = 0; i + 1 < n; i += 2) {
		bool blob = sqlite3_value_type(values[i]) == SQLITE_BLOB;
		int octets = blob ? sqlite3_value_bytes(values[i]) : sqlite3_value_int(values[i + 1]);

		if (octets < 0 || octets > QUERY_KEY_OCTETS - len)
			break;
		for (int k = 0; !blob && k < octets; k++)
			key[len + k] = (uint8_t)(sqlite3_value_int64(values[i]) >> 8 * (octets - 1 - k));
		if (blob)
			memcpy(key + len, sqlite3_value_blob(values[i]), (size_t)octets);
		len += octets;
	}
	sqlite3_result_blob(context, key, len, SQLITE_TRANSIENT);
}

static bool
add_functions(struct query *query, const struct report_options *options)
{
	static const struct {
		const char *name;
		int n;
		void (*run)(sqlite3_context *, int, sqlite3_value **);
	} functions[] = {{"in_prefix", 1, sql_in_prefix}, {"subnet", 1, sql_subnet},
		{"octets", -1, sql_octets}};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (sqlite3_create_function(query->db, functions[i].name, functions[i].n,
		    SQLITE_UTF8 | SQLITE_DETERMINISTIC, (void *)(uintptr_t)options,
		    functions[i].run, NULL, NULL) != SQLITE_OK)
			return false;
	return true;
}

int
query_begin(struct query *query, const struct report_options *options, uint64_t now_us)
{
	int err;

	query->n_agents = query->n_ports = 0; /* what an earlier question left */
	query->newest_us = 0;
	err = load_agents(query, options);
	if (err == 0)
		err = set_range(query, options, now_us);
	if (err == 0)
		err = load_ports(query, options);
	if (err == 0 && !add_functions(query, options))
		err = fail_sql(query);
	return err;
}

/* ---- windows and keys ---- */

static struct estimate_sums
column_sums(sqlite3_stmt *stmt, int column)
{
	return (struct estimate_sums){
		.n = column_u64(stmt, column),
		.w = sqlite3_column_double(stmt, column + 1),
		.w2 = sqlite3_column_double(stmt, column + 2),
		.wb = sqlite3_column_double(stmt, column + 3),
		.wb2 = sqlite3_column_double(stmt, column + 4),
		.w2b2 = sqlite3_column_double(stmt, column + 5),
		.any.pkts = sqlite3_column_double(stmt, column + 6),
		.any.octets = sqlite3_column_double(stmt, column + 7),
		.same.pkts = sqlite3_column_double(stmt, column + 8),
		.same.octets = sqlite3_column_double(stmt, column + 9),
	};
}

static struct estimate_stratum *
column_side(struct query *query, sqlite3_stmt *stmt)
{
	struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint32_t)sqlite3_column_int64(stmt, 1));
	int direction = sqlite3_column_int(stmt, 2);

	return port && (direction == EASE_IN || direction == EASE_OUT) ? &port->side[direction]
								       : NULL;
}

static int
set_side(struct query *query, sqlite3_stmt *stmt)
{
	struct estimate_stratum *side = column_side(query, stmt);

	if (side)
		*side = (struct estimate_stratum){
			.pool_pkts = sqlite3_column_double(stmt, 3),
			.pool_octets = sqlite3_column_double(stmt, 4),
			.all = column_sums(stmt, 5),
		};
	return 0;
}

static int
set_arrivals(struct query *query, sqlite3_stmt *stmt)
{
	struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint32_t)sqlite3_column_int64(stmt, 1));

	if (port) {
		port->expected = column_u64(stmt, 2);
		port->received = column_u64(stmt, 3);
		if (port->received < port->expected)
			port->side[EASE_IN].lost = port->side[EASE_OUT].lost =
			    1 - (double)port->received / (double)port->expected;
	}
	return 0;
}

#define SUM_OF_SUMS                                                                                \
	"SUM(n), SUM(w), SUM(w2), SUM(wb), SUM(wb2), SUM(w2b2), SUM(any_pkts), SUM(any_octets)"

int
query_windows(struct query *query)
{
	int err = for_rows(query, "SELECT agent, if_index, direction, SUM(pool_pkts),"
	    " SUM(pool_octets), " SUM_OF_SUMS ", SUM(any_pkts), SUM(any_octets)"
	    " FROM window WHERE start_us >= :from AND"
	    " start_us < :to GROUP BY agent, if_index, direction", set_side);

	if (err == 0)
		err = for_rows(query, "SELECT agent, if_index, SUM(expected), SUM(received)"
		    " FROM window_port WHERE start_us >= :from AND start_us < :to"
		    " GROUP BY agent, if_index", set_arrivals);
	return err;
}

/* Weights as floating point: sums of squares of integers would overflow. */
#define WEIGHT "1.0 * mean_skip * stands_for"
#define SUMS_OF_SAMPLES                                                                            \
	"COUNT(*), TOTAL(" WEIGHT "), TOTAL(" WEIGHT " * " WEIGHT "),"                             \
	" TOTAL(" WEIGHT " * frame_octets),"                                                       \
	" TOTAL(" WEIGHT " * frame_octets * frame_octets),"                                        \
	" TOTAL(" WEIGHT " * " WEIGHT " * frame_octets * frame_octets), 0, 0, 0, 0"

static double
ratio(double of, double to)
{
	return to > 0 ? of / to : 0;
}

/* A kept sample does not say with whom it came. So those of a key are taken to have as many mates
 * as all samples of the stratum have, and all of them of the same key: under loss limits are wider
 * than they need be. */
static void
suppose_mates(struct estimate_sums *sums, const struct estimate_sums *all)
{
	sums->any.pkts = all->any.pkts * ratio(sums->w, all->w);
	sums->any.octets = all->any.octets * ratio(sums->wb, all->wb);
	estimate_unite(sums);
}

static int
set_sample_sums(struct query *query, sqlite3_stmt *stmt)
{
	struct estimate_stratum *side = column_side(query, stmt);

	if (side) {
		struct estimate_sums kept = column_sums(stmt, 3);

		suppose_mates(&kept, &side->all);
		side->all = kept;
	}
	return 0;
}

/* Of the sums of windows only how many mates they show, for a weight of 1. */
static void
keep_mates(struct estimate_sums *all)
{
	*all = (struct estimate_sums){.w = 1, .wb = 1,
	    .any = {ratio(all->any.pkts, all->w), ratio(all->any.octets, all->wb)}};
}

/* A port without kept samples has no sums. */
static void
clear_without_samples(struct query *query)
{
	for (size_t i = 0; i < query->n_ports; i++)
		for (int d = EASE_IN; d <= EASE_OUT; d++)
			if (query->ports[i].side[d].all.n == 0)
				query->ports[i].side[d].all = (struct estimate_sums){0};
}

static int
replace_sums(struct query *query)
{
	int err;

	for (size_t i = 0; i < query->n_ports; i++)
		for (int d = EASE_IN; d <= EASE_OUT; d++)
			keep_mates(&query->ports[i].side[d].all);
	err = for_rows(query, "SELECT agent, if_index, direction, " SUMS_OF_SAMPLES
	    " FROM sample WHERE time_us >= :from AND time_us < :to"
	    " GROUP BY agent, if_index, direction", set_sample_sums);
	clear_without_samples(query);
	return err;
}

/* Start of the kept samples, if the range began before it. */
static int
find_kept_since(struct query *query, uint64_t *kept_since_us)
{
	sqlite3_stmt *stmt = query_prepare(query, "SELECT MIN(time_us) FROM sample");
	int more = stmt ? query_step(query, stmt) : -EIO;
	uint64_t oldest_us = 0;

	if (more == 1)
		oldest_us = column_u64(stmt, 0);
	sqlite3_finalize(stmt);
	*kept_since_us = oldest_us >= query->range.from_us + STORE_WINDOW_US ? oldest_us : 0;
	return more < 0 ? more : 0;
}

static bool
needs_samples(const struct report_options *options, const struct dimension *dimension)
{
	enum store_key_kind pairs = options->addr.n_octets == FRAME_MAC_LEN ? STORE_KEY_ETH_PAIR
									    : STORE_KEY_IP_PAIR;

	return dimension->kind == 0 || options->vlan != REPORT_ANY ||
	    options->ip_proto != REPORT_ANY || options->ethertype != REPORT_ANY ||
	    (options->addr.n_octets > 0 && dimension->kind != pairs);
}

static const char *
or_null(const char *expression)
{
	return expression ? expression : "NULL";
}

static void
build_window_sql(const struct report_options *options, const struct dimension *dimension, char *sql,
    size_t size)
{
	snprintf(sql, size, "SELECT agent, if_index, %s AS k1, %s AS k2, " SUM_OF_SUMS
	    ", SUM(%s_pkts), SUM(%s_octets) FROM window_key WHERE kind = %d"
	    " AND start_us >= :from AND start_us < :to"
	    " AND direction = %d%s GROUP BY agent, if_index, k1, k2",
	    or_null(dimension->key1), or_null(dimension->key2), dimension->same, dimension->same,
	    dimension->kind, EASE_IN,
	    options->addr.n_octets ? " AND (in_prefix(key1) OR in_prefix(key2))" : "");
}

static void
build_sample_sql(const struct report_options *options, const struct dimension *dimension, char *sql,
    size_t size)
{
	const char *of = options->layer == REPORT_LAYER_INNER ? "inner_" : "";
	bool mac_prefix = options->addr.n_octets == FRAME_MAC_LEN;
	char filter[256] = "";
	size_t len = 0;

	if (options->vlan != REPORT_ANY)
		len += (size_t)snprintf(filter + len, sizeof(filter) - len, " AND vlan = %d",
		    options->vlan);
	if (options->ip_proto != REPORT_ANY)
		len += (size_t)snprintf(filter + len, sizeof(filter) - len, " AND ip_proto = %d",
		    options->ip_proto);
	if (options->ethertype != REPORT_ANY)
		len += (size_t)snprintf(filter + len, sizeof(filter) - len, " AND ethertype = %d",
		    options->ethertype);
	if (mac_prefix)
		snprintf(filter + len, sizeof(filter) - len,
		    " AND (in_prefix(src_mac) OR in_prefix(dst_mac))");
	else if (options->addr.n_octets > 0)
		snprintf(filter + len, sizeof(filter) - len,
		    " AND (in_prefix(%ssrc_ip) OR in_prefix(%sdst_ip))", of, of);
	snprintf(sql, size, "SELECT agent, if_index, %s AS k1, %s AS k2, " SUMS_OF_SAMPLES
	    " FROM sample WHERE time_us >= :from AND time_us < :to AND direction = %d"
	    " AND %s%s GROUP BY agent, if_index, k1, k2",
	    or_null(dimension->sample1), or_null(dimension->sample2), EASE_IN, dimension->has,
	    filter);
}

struct key_list {
	struct query_key *items;
	size_t n, room;
};

static void
column_key(sqlite3_stmt *stmt, int column, uint8_t *key, uint8_t *n_octets)
{
	int octets = sqlite3_column_bytes(stmt, column);

	if (octets > 0 && octets <= QUERY_KEY_OCTETS) {
		memcpy(key, sqlite3_column_blob(stmt, column), (size_t)octets);
		*n_octets = (uint8_t)octets;
	}
}

static int
add_key(struct query *query, sqlite3_stmt *stmt, struct key_list *list)
{
	const struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint32_t)sqlite3_column_int64(stmt, 1));
	struct query_key *key;

	if (!port)
		return 0;
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 256;
		struct query_key *items = realloc(list->items, room * sizeof(*items));

		if (!items)
			return fail(query, -ENOMEM, "no memory");
		list->items = items;
		list->room = room;
	}
	key = &list->items[list->n++];
	*key = (struct query_key){.port = port, .sums = column_sums(stmt, 4)};
	if (query->from_samples)
		suppose_mates(&key->sums, &port->side[EASE_IN].all);
	column_key(stmt, 2, key->key1, &key->n_octets);
	column_key(stmt, 3, key->key2, &key->n_octets);
	return 0;
}

static int
set_folded(struct query *query, sqlite3_stmt *stmt)
{
	struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint32_t)sqlite3_column_int64(stmt, 1));

	if (port) {
		port->folded = column_u64(stmt, 2);
		port->folded_most = column_u64(stmt, 3);
	}
	return 0;
}

static int
read_folded(struct query *query, const struct dimension *dimension)
{
	char sql[256];

	snprintf(sql, sizeof(sql), "SELECT agent, if_index, SUM(n), SUM(most_n) FROM window_folded"
	    " WHERE kind = %d AND start_us >= :from AND start_us < :to AND direction = %d"
	    " GROUP BY agent, if_index", dimension->kind, EASE_IN);
	return for_rows(query, sql, set_folded);
}

int
query_keys(struct query *query, const struct report_options *options,
    const struct dimension *dimension, struct query_key **keys, size_t *n, uint64_t *kept_since_us)
{
	struct key_list list = {0};
	sqlite3_stmt *stmt;
	char sql[2048];
	int err = 0;

	*kept_since_us = 0;
	query->from_samples = needs_samples(options, dimension);
	if (query->from_samples) {
		build_sample_sql(options, dimension, sql, sizeof(sql));
		err = replace_sums(query);
		if (err == 0)
			err = find_kept_since(query, kept_since_us);
	} else {
		build_window_sql(options, dimension, sql, sizeof(sql));
		err = read_folded(query, dimension);
	}
	stmt = err == 0 ? query_prepare(query, sql) : NULL;
	if (err == 0 && !stmt)
		err = -EIO;
	while (err == 0 && (err = query_step(query, stmt)) == 1)
		err = add_key(query, stmt, &list);
	sqlite3_finalize(stmt);
	if (err) {
		free(list.items);
		return err;
	}
	*keys = list.items;
	*n = list.n;
	return 0;
}
