#include "collector/store/forget.h"
#include "collector/store/private.h"
#include "collector/store/schema.h"
#include "collector/store/sql.h"

#include <errno.h>
#include <stdio.h>

enum { PORTS_A_STEP = 256, AGENTS_A_STEP = 64, ROWS_A_STEP = 1024 };

/* How long an agent, and a port by what it told at time, had been silent when the newest record came: by the
 * collector's clock and the agent's own. */
#define NEWEST "(SELECT max(last_received_us) FROM agent)"
#define SILENT(time) "g.last_us - " time " + " NEWEST " - g.last_received_us > ?2"

/* ?1: before_us, ?2: silent_us, ?3: most ports */
static const char choose_ports[] =
    "INSERT OR IGNORE INTO temp.forgotten SELECT a.agent, a.if_index FROM account a JOIN agent g ON"
    " g.id = a.agent GROUP BY 1, 2 HAVING max(a.last_us) < ?1 AND " SILENT("max(a.last_us)")
    " UNION ALL SELECT p.agent, p.if_index FROM port p JOIN agent g ON g.id = p.agent WHERE p.since_us < ?1"
    " AND " SILENT("p.since_us") " AND NOT EXISTS(SELECT 1 FROM account WHERE agent = p.agent AND"
    " if_index = p.if_index) LIMIT ?3";

/* ?1: most rows of a table. Those by which ports are chosen go last: what is left then is chosen again. */
#define OF_PORTS(table, key) "DELETE FROM " table " WHERE (" key ") IN (SELECT " key " FROM temp.forgotten f CROSS JOIN " \
			     table " t USING(agent, if_index) LIMIT ?1)"
#define OF_PORTS_OF_AGENTS(table, key) "DELETE FROM " table " WHERE (" key ") IN (SELECT " key " FROM " table " WHERE" \
				       " agent IN (SELECT agent FROM temp.forgotten) AND (agent, if_index) IN (SELECT" \
				       " agent, if_index FROM temp.forgotten) LIMIT ?1)"
static const char *const delete_ports[] = {
    OF_PORTS("link", "agent, if_index"),
    OF_PORTS("counter", "agent, if_index, time_us"), OF_PORTS("resource", "agent, if_index, time_us"),
    OF_PORTS("error_source", "agent, if_index, mac, kind"), OF_PORTS("place", "layer, address, agent, if_index"),
    OF_PORTS("oddity", "agent, if_index, kind"), OF_PORTS_OF_AGENTS("discard", STORE_DISCARD_KEY),
    OF_PORTS_OF_AGENTS("discard_hour", STORE_DISCARD_HOUR_KEY),
    OF_PORTS_OF_AGENTS("gone", "agent, boot, if_index"), OF_PORTS("port", "agent, if_index, since_us"),
    OF_PORTS("account", "agent, boot, if_index"),
};

/* ?1: before_us, ?2: silent_us, ?3: most agents */
static const char choose_agents[] =
    "INSERT INTO temp.forgotten SELECT id, 0 FROM agent g WHERE last_us < ?1 AND " NEWEST
    " - last_received_us > ?2 AND NOT EXISTS(SELECT 1 FROM account WHERE agent = g.id) AND NOT EXISTS("
    "SELECT 1 FROM port WHERE agent = g.id) LIMIT ?3";

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* Returns the rows changed, or -EIO. */
static int
change_rows(struct rollup *r, const char *sql, const int64_t *parameters, int n)
{
	if (rollup_query(r, sql, parameters, n, NULL, 0) < 0)
		return -EIO;
	return sqlite3_changes(r->db);
}

/* Returns 1 if some table has more rows of what is chosen, 0, or -EIO. */
static int
change_all(struct rollup *r, const char *const *sql, size_t n, uint64_t *rows)
{
	static const int64_t most[] = {ROWS_A_STEP};

	for (size_t i = 0; i < n; i++) {
		int did = change_rows(r, sql[i], most, 1);

		*rows += did > 0 ? (uint64_t)did : 0;
		if (did < 0 || did == ROWS_A_STEP)
			return did < 0 ? did : 1;
	}
	return 0;
}

int
forget_nothing(struct rollup *r)
{
	if (change_rows(r, "CREATE TEMP TABLE IF NOT EXISTS forgotten(agent INTEGER, if_index INTEGER,"
		      " PRIMARY KEY(agent, if_index)) WITHOUT ROWID", NULL, 0) < 0)
		return -EIO;
	return change_rows(r, "DELETE FROM temp.forgotten", NULL, 0) < 0 ? -EIO : 0;
}

static int
chosen_agents(struct rollup *r)
{
	int64_t n = 0;

	return rollup_query(r, "SELECT count(*) FROM temp.forgotten", NULL, 0, &n, 1) < 0 ? -EIO : (int)n;
}

/* Of which an agent may have very many rows first. The newest event stays, so that its id is not used again
 * (retention.c). */
#define OF_CHOSEN(table, key, further) "DELETE FROM " table " WHERE (" key ") IN (SELECT " key " FROM " table \
				       " WHERE agent IN (SELECT agent FROM temp.forgotten)" further " LIMIT ?1)"
static const char *const delete_agents[] = {
    OF_CHOSEN("sample", "agent, boot, if_index, sequence", ""),
    OF_CHOSEN("counter", "agent, if_index, time_us", ""), OF_CHOSEN("resource", "agent, if_index, time_us", ""),
    OF_CHOSEN("event", "id", " AND id < (SELECT max(id) FROM event)"), OF_CHOSEN("gap", "id", ""),
    OF_CHOSEN("account", "agent, boot, if_index", ""), OF_CHOSEN("gone", "agent, boot, if_index", ""),
    OF_CHOSEN("port", "agent, if_index, since_us", ""),
    OF_CHOSEN("error_source", "agent, if_index, mac, kind", ""), OF_CHOSEN("discard", STORE_DISCARD_KEY, ""),
    OF_CHOSEN("discard_hour", STORE_DISCARD_HOUR_KEY, ""),
    OF_CHOSEN("place", "layer, address, agent, if_index", ""), OF_CHOSEN("oddity", "agent, if_index, kind", ""),
    OF_CHOSEN("agent_source", "agent", ""), OF_CHOSEN("agent_refused", "agent", ""),
    OF_CHOSEN("agent_clock", "agent", ""), OF_CHOSEN("polled", "agent", ""), OF_CHOSEN("precision", "agent, if_index", ""),
    OF_CHOSEN("link", "agent, if_index", ""), OF_CHOSEN("sample_floor", "agent", ""),
    "DELETE FROM agent WHERE id IN (SELECT agent FROM temp.forgotten LIMIT ?1)",
};

/* Returns how many of what was chosen are forgotten, 0 if rows of them are left, or -EIO. */
static int
forget_chosen(struct rollup *r, const char *const *sql, size_t n_sql, uint64_t *rows)
{
	int n = chosen_agents(r), more = n > 0 ? change_all(r, sql, n_sql, rows) : 0;

	return n < 0 || more < 0 ? -EIO : more > 0 ? 0 : n;
}

int
forget_chosen_ports(struct rollup *r)
{
	return forget_chosen(r, delete_ports, N(delete_ports), &(uint64_t){0});
}

int
forget_chosen_agents(struct rollup *r)
{
	return forget_chosen(r, delete_agents, N(delete_agents), &(uint64_t){0});
}

int
forget_silent(struct rollup *r, uint64_t before_us, uint64_t silent_us, uint64_t *rows)
{
	int64_t parameters[] = {(int64_t)before_us, (int64_t)silent_us, PORTS_A_STEP};
	int did = forget_nothing(r);

	if (did >= 0)
		did = change_rows(r, choose_ports, parameters, 3);
	if (did > 0)
		return forget_chosen(r, delete_ports, N(delete_ports), rows) < 0 ? -EIO : 1;
	parameters[2] = AGENTS_A_STEP;
	if (did == 0)
		did = change_rows(r, choose_agents, parameters, 3);
	if (did <= 0)
		return did;
	return forget_chosen(r, delete_agents, N(delete_agents), rows) < 0 ? -EIO : 1;
}

/* By hand */

/* Finds the one agent of that id or address. */
static int
forget_find_agent(struct store *store, const char *agent, int64_t *number, char *error, size_t error_size)
{
	sqlite3_stmt *statement = NULL;
	int n = 0, code = sqlite3_prepare_v2(store->db,
	    "SELECT id FROM agent WHERE hex(agent_id) = upper(?1) OR address = ?1", -1, &statement, NULL);

	if (code == SQLITE_OK)
		sqlite3_bind_text(statement, 1, agent, -1, SQLITE_STATIC);
	while (statement && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		*number = sqlite3_column_int64(statement, 0);
		n++;
	}
	sqlite3_finalize(statement);
	if (code != SQLITE_DONE)
		snprintf(error, error_size, "%s: %s", store->path, sqlite3_errmsg(store->db));
	else if (n == 0)
		snprintf(error, error_size, "%s: no agent has the id or address \"%s\"; easetop agents lists them",
		    store->path, agent);
	else if (n > 1)
		snprintf(error, error_size, "%s: %d agents have the address %s; give an id, as easetop agents "
		    "lists them", store->path, n, agent);
	return code != SQLITE_DONE ? -EIO : n == 0 ? -ENOENT : n > 1 ? -EINVAL : 0;
}

/* Deletes some rows of an agent in a transaction. Returns 1 once it is forgotten, 0 if rows are left, or -EIO. */
static int
forget_some(struct store *store, struct rollup *r, int64_t number)
{
	int n = store_sql_run(store->db, "BEGIN IMMEDIATE");

	if (n == 0)
		n = forget_nothing(r);
	if (n == 0)
		n = change_rows(r, "INSERT INTO temp.forgotten VALUES(?1, 0)", &number, 1);
	if (n > 0)
		n = forget_chosen_agents(r);
	return n >= 0 && store_sql_run(store->db, "COMMIT") < 0 ? -EIO : n;
}

int
store_forget_agent(struct store *store, const char *agent, char *error, size_t error_size)
{
	int64_t number = 0;
	int r = forget_find_agent(store, agent, &number, error, error_size);

	if (r < 0)
		return r;
	do { /* the agent's own row goes last, so what is interrupted can be done again */
		r = forget_some(store, store->upkeep.rollup, number);
	} while (r == 0);
	if (r < 0)
		snprintf(error, error_size, "%s: %s", store->path, sqlite3_errmsg(store->db));
	return r < 0 ? r : 0;
}
