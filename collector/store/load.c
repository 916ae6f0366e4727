/*
 * Reads back what the collector needs to continue where it stopped: agents, the accounts of each
 * agent's newest two boots, each port's newest counters and state, the time of each SNMPv3 engine,
 * and the identities of recent events.
 */
#include "collector/record.h"
#include "collector/store/private.h"
#include "collector/store/store.h"
#include "common/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define ROOM "store"

#define ALARMS_BACK_US UINT64_C(172800000000) /* one that stands has an event each day */

static void
load_last_number(sqlite3_stmt *row, const struct store_loader *loader)
{
	if (loader->last_number)
		loader->last_number(loader->arg, sqlite3_column_int64(row, 0));
}

static void
load_absent_agent(sqlite3_stmt *row, const struct store_loader *loader)
{
	const void *agent_id = sqlite3_column_blob(row, 0);

	if (loader->absent_agent && sqlite3_column_bytes(row, 0) == EASE_AGENT_ID_LEN)
		loader->absent_agent(loader->arg, agent_id);
}

/* A device's clock may have been set back. */
static uint64_t
silence_at(sqlite3_stmt *row, int column)
{
	int64_t us = sqlite3_column_int64(row, column);

	return us > 0 ? (uint64_t)us : 0;
}

static void
load_heard_port(sqlite3_stmt *row, const struct store_loader *loader)
{
	if (loader->heard_port)
		loader->heard_port(loader->arg, sqlite3_column_int64(row, 0), (uint64_t)sqlite3_column_int64(row, 1),
		    silence_at(row, 2));
}

static void
load_agent(sqlite3_stmt *row, const struct store_loader *loader)
{
	struct store_agent a = {0};
	int next = stored_read(&stored_tables[STORE_AGENTS], row, &a);

	loader->agent(loader->arg, &a, silence_at(row, next));
}

/* A function that gives a row of a table to the callback of the same name. */
#define LOAD(what, table)                                                                          \
	static void load_##what(sqlite3_stmt *row, const struct store_loader *loader)              \
	{                                                                                          \
		struct store_##what r = {0};                                                       \
												   \
		stored_read(&stored_tables[table], row, &r);                                       \
		loader->what(loader->arg, &r);                                                     \
	}

LOAD(agent_source, STORE_AGENT_SOURCES)
LOAD(agent_refusal, STORE_AGENT_REFUSALS)
LOAD(agent_clock, STORE_AGENT_CLOCKS)
LOAD(account, STORE_ACCOUNTS)
LOAD(crash_lost, STORE_CRASH_LOST)
LOAD(counter, STORE_COUNTERS)
LOAD(port, STORE_PORTS)

static void
load_engine(sqlite3_stmt *row, const struct store_loader *loader)
{
	struct store_engine e = {0};

	stored_read(&stored_tables[STORE_ENGINES], row, &e);
	if (loader->engine)
		loader->engine(loader->slow_path_arg, &e);
}

static void
load_event(sqlite3_stmt *row, const struct store_loader *loader)
{
	if (loader->event)
		loader->event(loader->slow_path_arg, (uint64_t)sqlite3_column_int64(row, 0),
		    (uint64_t)sqlite3_column_int64(row, 1));
}

/* An account's port was heard so long before the newest record, by its device's clock and by ours. */
#define SILENT "g.last_us - a.last_us + (SELECT max(last_received_us) FROM agent) - g.last_received_us"

/* An agent may have very many ports. */
#define BY_PORT "INDEXED BY account_port"

/* Of each agent the accounts of its newest boot and of the one before. */
#define ACCOUNTS(index) "SELECT a.* FROM agent g JOIN account a " index " ON a.agent = g.id AND a.boot >=" \
		 " ifnull((SELECT max(boot) FROM account WHERE agent = g.id AND boot < g.boot), 0)"

/* Of each port the row of its newest boot from which totals go on. account.base_us names it, because it is
 * not the newest by time if a device's clock was set back. */
#define COUNTERS(which) "SELECT c.* FROM (SELECT agent, if_index, max(boot) AS boot," \
		 " ifnull(base_us, last_us) AS base_us FROM account " which " GROUP BY agent, if_index) a" \
		 " JOIN counter c ON c.agent = a.agent AND c.if_index = a.if_index AND c.time_us = (SELECT" \
		 " time_us FROM counter d WHERE d.agent = a.agent AND d.if_index = a.if_index AND d.time_us" \
		 " <= a.base_us AND d.boot = a.boot ORDER BY d.time_us DESC LIMIT 1)"

enum most { ALL, MOST_AGENTS, MOST_PORTS };

/* The SQL of each load, and what ?1 is in it. */
struct load {
	const char *sql;
	void (*load)(sqlite3_stmt *row, const struct store_loader *loader);
	enum most most;
};

static const struct load loads[] = {
    {"SELECT max(last_agent, ifnull((SELECT max(id) FROM agent), 0)) FROM life", load_last_number, ALL},
    {"SELECT * FROM (SELECT *, (SELECT max(last_received_us) FROM agent) - last_received_us AS silent"
     " FROM agent ORDER BY silent LIMIT ?1) ORDER BY silent DESC, id", load_agent, MOST_AGENTS},
    {"SELECT agent_id FROM agent ORDER BY last_received_us DESC LIMIT -1 OFFSET ?1",
	load_absent_agent, MOST_AGENTS},
    {"SELECT s.* FROM agent_source s JOIN agent a ON a.id = s.agent ORDER BY a.last_received_us",
	load_agent_source, ALL},
    {"SELECT * FROM agent_refused", load_agent_refusal, ALL},
    {"SELECT * FROM agent_clock", load_agent_clock, ALL},
    {"SELECT * FROM (SELECT a.agent, a.if_index, min(" SILENT ") AS silent FROM account a JOIN agent g"
     " ON g.id = a.agent GROUP BY 1, 2 ORDER BY 3 LIMIT ?1) ORDER BY 3 DESC, 1, 2", load_heard_port,
	MOST_PORTS},
    {ACCOUNTS("") " ORDER BY a.agent, a.boot, a.if_index", load_account, ALL},
    {"SELECT * FROM gone", load_crash_lost, ALL},
    {COUNTERS(""), load_counter, ALL},
    {"SELECT p.* FROM (SELECT DISTINCT agent, if_index FROM port) q JOIN port p ON"
     " p.agent = q.agent AND p.if_index = q.if_index AND p.since_us = (SELECT max(since_us)"
     " FROM port WHERE agent = q.agent AND if_index = q.if_index)", load_port, ALL},
    {"SELECT * FROM engine", load_engine, ALL},
    {"SELECT identity, time_us FROM (SELECT id, identity, time_us FROM event ORDER BY id DESC LIMIT 4096)"
     " WHERE identity IS NOT NULL ORDER BY id", load_event, ALL},
};

/* ?1: its id */
static const struct load agent_loads[] = {
    {"SELECT *, 0 FROM agent WHERE agent_id = ?1", load_agent, ALL},
    {"SELECT * FROM agent_source WHERE agent = (SELECT id FROM agent WHERE agent_id = ?1)",
	load_agent_source, ALL},
    {"SELECT * FROM agent_refused WHERE agent = (SELECT id FROM agent WHERE agent_id = ?1)",
	load_agent_refusal, ALL},
    {"SELECT * FROM agent_clock WHERE agent = (SELECT id FROM agent WHERE agent_id = ?1)",
	load_agent_clock, ALL},
};

/* ?1, ?2: the agent's number, and ifIndex */
static const struct load port_loads[] = {
    {ACCOUNTS(BY_PORT) " WHERE g.id = ?1 AND a.agent = ?1 AND a.if_index = ?2 ORDER BY a.boot", load_account, ALL},
    {"SELECT * FROM gone WHERE agent = ?1 AND if_index = ?2", load_crash_lost, ALL},
    {COUNTERS(BY_PORT " WHERE agent = ?1 AND if_index = ?2"), load_counter, ALL},
    {"SELECT * FROM port WHERE agent = ?1 AND if_index = ?2 ORDER BY since_us DESC LIMIT 1", load_port, ALL},
};

/* Gives the rows to the loader. Returns 0 or -EIO. */
static int
load_rows(sqlite3_stmt *statement, const struct load *load, const struct store_loader *loader)
{
	int code = SQLITE_ROW;

	while (code == SQLITE_ROW) {
		code = sqlite3_step(statement);
		if (code == SQLITE_ROW)
			load->load(statement, loader);
	}
	return code == SQLITE_DONE ? 0 : -EIO;
}

static int
load_all(struct store *store, const struct load *load, const struct store_loader *loader)
{
	const uint32_t most[] = {0, loader->most_agents, loader->most_ports};
	sqlite3_stmt *statement = NULL;
	int r = -EIO;

	if (sqlite3_prepare_v2(store->db, load->sql, -1, &statement, NULL) == SQLITE_OK) {
		sqlite3_bind_int64(statement, 1, most[load->most] > 0 ? most[load->most] : INT32_MAX);
		r = load_rows(statement, load, loader);
	}
	sqlite3_finalize(statement);
	return r;
}

int
store_load(struct store *store, const struct store_loader *loader, char *error, size_t error_size)
{
	bool damaged = false;

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		if (load_all(store, &loads[i], loader) == 0)
			continue;
		snprintf(error, error_size, "cannot read the store: %s", sqlite3_errmsg(store->db));
		if (!store_is_damaged(store))
			return -EIO;
		log_error(ROOM, "%s", error);
		damaged = true;
	}
	return damaged ? store_set_aside(store, error, error_size) : 0;
}

/* With MAX(id) the other columns are those of the newest event (SQLite: bare columns in an aggregate query). What the audit
 * says of the port may have changed meanwhile. */
int
store_end_alarms(struct store *store, uint64_t now_us)
{
	char sql[640];

	snprintf(sql, sizeof(sql),
	    "INSERT INTO event(time_us, agent, boot, kind, if_index, text) SELECT %" PRIu64 ", agent, boot, %d, if_index, text FROM"
	    " (SELECT agent, boot, if_index, kind, text, MAX(id) FROM event WHERE time_us >= %" PRIu64 " AND kind IN (%d, %d, %d)"
	    " GROUP BY agent, if_index, replace(text, '" EASE_ALARM_ACCUSED "', '')) WHERE kind != %d",
	    now_us, EASE_EVENT_ALARM_OVER, now_us > ALARMS_BACK_US ? now_us - ALARMS_BACK_US : 0, EASE_EVENT_ALARM,
	    EASE_EVENT_ALARM_OVER, EASE_EVENT_ALARM_STANDS, EASE_EVENT_ALARM_OVER);
	return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

/* Recalling */

enum { N_AGENT_LOADS = sizeof(agent_loads) / sizeof(agent_loads[0]),
	N_PORT_LOADS = sizeof(port_loads) / sizeof(port_loads[0]) };
_Static_assert((int)N_AGENT_LOADS + (int)N_PORT_LOADS <= (int)STORE_RECALL_STATEMENTS, "raise it");

void
store_close_recall(struct store_recall *recall)
{
	for (int i = 0; i < STORE_RECALL_STATEMENTS; i++)
		sqlite3_finalize(recall->statements[i]);
	sqlite3_close(recall->db);
	*recall = (struct store_recall){.db = NULL};
}

/* The file may have been replaced by a new one. */
static int
open_recall(struct store *store)
{
	struct store_recall *recall = &store->recall;
	uint64_t renewals = atomic_load(&store->renewals);
	struct stat st;

	if (recall->db && recall->renewals == renewals)
		return 0;
	store_close_recall(recall);
	recall->renewals = renewals;
	recall->inode = stat(store->path, &st) == 0 ? st.st_ino : 0;
	if (sqlite3_open_v2(store->path, &recall->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) ==
	    SQLITE_OK)
		return 0;
	store_close_recall(recall);
	return -EIO;
}

static int
end_recall(struct store *store, int r)
{
	int code = sqlite3_errcode(store->recall.db) & 0xff;

	if (r < 0 && (code == SQLITE_CORRUPT || code == SQLITE_NOTADB))
		store_note_damage(store, store->recall.inode);
	return r;
}

static sqlite3_stmt *
prepared_statement(struct store_recall *recall, const char *sql, int i)
{
	sqlite3_stmt **statement = &recall->statements[i];

	if (!*statement)
		sqlite3_prepare_v3(recall->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
	return *statement;
}

int
store_recall_agent(
    struct store *store, const uint8_t *agent_id, const struct store_loader *loader)
{
	int r = open_recall(store);

	for (int i = 0; r == 0 && i < N_AGENT_LOADS; i++) {
		sqlite3_stmt *statement = prepared_statement(&store->recall, agent_loads[i].sql, i);

		sqlite3_bind_blob(statement, 1, agent_id, EASE_AGENT_ID_LEN, SQLITE_STATIC);
		r = statement ? load_rows(statement, &agent_loads[i], loader) : -EIO;
		r = end_recall(store, r);
		sqlite3_reset(statement);
	}
	return r;
}

int
store_recall_port(
    struct store *store, int64_t agent, uint64_t if_index, const struct store_loader *loader)
{
	int r = open_recall(store);

	for (int i = 0; r == 0 && i < N_PORT_LOADS; i++) {
		sqlite3_stmt *statement = prepared_statement(&store->recall, port_loads[i].sql, N_AGENT_LOADS + i);

		sqlite3_bind_int64(statement, 1, agent);
		sqlite3_bind_int64(statement, 2, if_index);
		r = statement ? load_rows(statement, &port_loads[i], loader) : -EIO;
		r = end_recall(store, r);
		sqlite3_reset(statement);
	}
	return r;
}
