#include "collector/store/forget.h"
#include "collector/store/private.h"
#include "collector/store/schema.h"
#include "collector/store/sql.h"

#include <errno.h>
#include <stdio.h>

enum { PORTS_A_STEP = 256, AGENTS_A_STEP = 64, ROWS_A_STEP = 4096 };

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

#define OF_PORTS(table) "DELETE FROM " table " WHERE (agent, if_index) IN (SELECT agent, if_index FROM" \
			" temp.forgotten)"
static const char *const delete_ports[] = {
    OF_PORTS("account"), OF_PORTS("gone"), OF_PORTS("port"), OF_PORTS("counter"),
    OF_PORTS("resource"), OF_PORTS("error_source"), OF_PORTS("place"), OF_PORTS("oddity"),
    OF_PORTS("discard") " AND agent IN (SELECT agent FROM temp.forgotten)", "DELETE FROM temp.forgotten",
};

static const char delete_agents[] =
    "DELETE FROM agent WHERE id IN (SELECT id FROM agent g WHERE last_us < ?1 AND " NEWEST
    " - last_received_us > ?2 AND NOT EXISTS(SELECT 1 FROM account WHERE agent = g.id) AND NOT EXISTS("
    "SELECT 1 FROM port WHERE agent = g.id) LIMIT ?3)";

#define OF_NOBODY(table) "DELETE FROM " table " WHERE agent NOT IN (SELECT id FROM agent)"
static const char *const delete_of_nobody[] = {
    OF_NOBODY("agent_source"), OF_NOBODY("agent_refused"), OF_NOBODY("agent_clock"), OF_NOBODY("sample_floor"),
    OF_NOBODY("place"), OF_NOBODY("discard"), OF_NOBODY("oddity"),
};

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* Returns the rows changed, or -EIO. */
static int
change(struct rollup *r, const char *sql, const int64_t *parameters, int n)
{
	if (rollup_query(r, sql, parameters, n, NULL, 0) < 0)
		return -EIO;
	return sqlite3_changes(r->db);
}

static int
change_all(struct rollup *r, const char *const *sql, size_t n, uint64_t *rows)
{
	int did = 0;

	for (size_t i = 0; did >= 0 && i < n; i++) {
		did = change(r, sql[i], NULL, 0);
		*rows += did > 0 ? (uint64_t)did : 0;
	}
	return did < 0 ? did : 0;
}

int
forget_nothing(struct rollup *r)
{
	if (change(r, "CREATE TEMP TABLE IF NOT EXISTS forgotten(agent INTEGER, if_index INTEGER,"
		      " PRIMARY KEY(agent, if_index)) WITHOUT ROWID", NULL, 0) < 0)
		return -EIO;
	return change(r, "DELETE FROM temp.forgotten", NULL, 0) < 0 ? -EIO : 0;
}

static int
chosen(struct rollup *r)
{
	int64_t n = 0;

	return rollup_query(r, "SELECT count(*) FROM temp.forgotten", NULL, 0, &n, 1) < 0 ? -EIO : (int)n;
}

int
forget_chosen_ports(struct rollup *r)
{
	int n = chosen(r);
	uint64_t rows = 0;

	return n < 0 || change_all(r, delete_ports, N(delete_ports), &rows) < 0 ? -EIO : n;
}

/* Of which an agent may have very many rows; ?1: most. The newest event stays, so that its id is not used again
 * (retention.c). */
#define OF_CHOSEN(table, key, further) "DELETE FROM " table " WHERE " key " IN (SELECT " key " FROM " table \
				       " WHERE agent IN (SELECT agent FROM temp.forgotten)" further " LIMIT ?1)"
#define OF_CHOSEN_KEY(table, key) "DELETE FROM " table " WHERE (" key ") IN (SELECT " key " FROM " table \
				  " WHERE agent IN (SELECT agent FROM temp.forgotten) LIMIT ?1)"
static const char *const delete_many_of_agents[] = {
    OF_CHOSEN_KEY("sample", "agent, boot, if_index, sequence"),
    OF_CHOSEN_KEY("counter", "agent, if_index, time_us"), OF_CHOSEN_KEY("resource", "agent, if_index, time_us"),
    OF_CHOSEN("event", "id", " AND id < (SELECT max(id) FROM event)"), OF_CHOSEN("gap", "id", ""),
    OF_CHOSEN_KEY("account", "agent, boot, if_index"), OF_CHOSEN_KEY("gone", "agent, boot, if_index"),
    OF_CHOSEN_KEY("port", "agent, if_index, since_us"),
    OF_CHOSEN_KEY("error_source", "agent, if_index, mac, kind"), OF_CHOSEN_KEY("discard", STORE_DISCARD_KEY),
};
static const char *const delete_chosen_agents[] = {
    "DELETE FROM agent WHERE id IN (SELECT agent FROM temp.forgotten)", "DELETE FROM temp.forgotten",
};

int
forget_chosen_agents(struct rollup *r)
{
	const int64_t most[] = {ROWS_A_STEP};
	int n = 0;
	uint64_t rows = 0;

	for (size_t i = 0; i < N(delete_many_of_agents); i++) {
		n = change(r, delete_many_of_agents[i], most, 1);
		if (n < 0 || n == ROWS_A_STEP)
			return n < 0 ? n : 0;
	}
	n = chosen(r);
	if (n < 0 || change_all(r, delete_chosen_agents, N(delete_chosen_agents), &rows) < 0)
		return -EIO;
	return change_all(r, delete_of_nobody, N(delete_of_nobody), &rows) < 0 ? -EIO : n;
}

int
forget_silent(struct rollup *r, uint64_t before_us, uint64_t silent_us, uint64_t *rows)
{
	int64_t parameters[] = {(int64_t)before_us, (int64_t)silent_us, PORTS_A_STEP};
	int did = forget_nothing(r);

	if (did >= 0)
		did = change(r, choose_ports, parameters, 3);
	if (did > 0)
		return change_all(r, delete_ports, N(delete_ports), rows) < 0 ? -EIO : 1;
	parameters[2] = AGENTS_A_STEP;
	if (did == 0)
		did = change(r, delete_agents, parameters, 3);
	if (did <= 0)
		return did;
	*rows += (uint64_t)did;
	return change_all(r, delete_of_nobody, N(delete_of_nobody), rows) < 0 ? -EIO : 1;
}

/* By hand */

/* ?1: the agent's number */
static const char *const delete_agent[] = {
    "DELETE FROM account WHERE agent = ?1", "DELETE FROM gone WHERE agent = ?1",
    "DELETE FROM port WHERE agent = ?1", "DELETE FROM counter WHERE agent = ?1",
    "DELETE FROM resource WHERE agent = ?1", "DELETE FROM error_source WHERE agent = ?1",
    "DELETE FROM place WHERE agent = ?1", "DELETE FROM discard WHERE agent = ?1",
    "DELETE FROM oddity WHERE agent = ?1",
    "DELETE FROM sample WHERE agent = ?1", "DELETE FROM gap WHERE agent = ?1",
    "DELETE FROM sample_floor WHERE agent = ?1", "DELETE FROM agent_source WHERE agent = ?1",
    "DELETE FROM agent_refused WHERE agent = ?1", "DELETE FROM agent_clock WHERE agent = ?1",
    /* the newest event stays, so that its id is not used again (retention.c) */
    "DELETE FROM event WHERE agent = ?1 AND id < (SELECT max(id) FROM event)",
    "DELETE FROM agent WHERE id = ?1",
};

static int
run(sqlite3 *db, const char *sql, int64_t number)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

	if (code == SQLITE_OK) {
		sqlite3_bind_int64(statement, 1, number);
		code = sqlite3_step(statement);
	}
	sqlite3_finalize(statement);
	return code == SQLITE_DONE ? 0 : -EIO;
}

/* Finds the one agent of that id or address. */
static int
find_agent(struct store *store, const char *agent, int64_t *number, char *error, size_t error_size)
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

int
store_forget_agent(struct store *store, const char *agent, char *error, size_t error_size)
{
	int64_t number = 0;
	int r = find_agent(store, agent, &number, error, error_size);

	if (r < 0)
		return r;
	r = store_sql_run(store->db, "BEGIN IMMEDIATE");
	for (size_t i = 0; r == 0 && i < N(delete_agent); i++)
		r = run(store->db, delete_agent[i], number);
	if (r == 0)
		r = store_sql_run(store->db, "COMMIT");
	if (r < 0)
		snprintf(error, error_size, "%s: %s", store->path, sqlite3_errmsg(store->db));
	return r;
}
