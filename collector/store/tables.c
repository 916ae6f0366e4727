#include "collector/store/tables.h"

#include <stdio.h>
#include <stdlib.h>

/* Limits: how many rows an agent or a port has at most, of the tables whose rows are not deleted
 * with a time that reports still show. The newest stay. */
#define BOOTS_A_PORT "8"
#define REFUSED_SENDERS "1024"
#define REFUSED_SENDERS_A_LIMIT "256"
#define REFUSED_AGE_US (30 * 86400000000ull)
#define STATES_A_PORT "256"
#define ERROR_SOURCES_A_PORT "256"
#define EVENTS_AN_AGENT "100000"
#define ODDITIES_AN_AGENT "4096"
#define OUTAGES "1000"

enum { EVENTS_A_LIMIT = 256 }; /* finding the oldest one costs as much as so many events */

static bool
is_new_account(const void *row, sqlite3_int64 id)
{
	const struct store_account *a = row;

	(void)id;
	return a->is_new;
}

static struct store_place
port_of_account(const void *row)
{
	const struct store_account *a = row;

	return (struct store_place){a->agent, a->if_index};
}

static struct store_place
port_of_state(const void *row)
{
	const struct store_port *p = row;

	return (struct store_place){p->agent, p->state.if_index};
}

static struct store_place
port_of_error_source(const void *row)
{
	const struct store_error_source *r = row;

	return (struct store_place){r->agent, r->source.if_index};
}

static struct store_place
port_of_crash_lost(const void *row)
{
	const struct store_crash_lost *g = row;

	return (struct store_place){g->agent, g->if_index};
}

static bool
is_limit_event(const void *row, sqlite3_int64 id)
{
	(void)row;
	return id % EVENTS_A_LIMIT == 0;
}

static sqlite3_int64
tables_agent_of_event(const void *row)
{
	const struct store_event *e = row;

	return e->agent;
}

/* Finding the oldest one costs as much as there are, so it is looked for at moments that nobody can choose. */
static bool
is_limit_oddity(const void *row, sqlite3_int64 id)
{
	const struct store_oddity *o = row;

	(void)id;
	return o->last_us / 1000 % 16 == 0;
}

static sqlite3_int64
agent_of_oddity(const void *row)
{
	const struct store_oddity *o = row;

	return o->agent;
}

static sqlite3_int64
oldest_refused(const void *row)
{
	const struct store_refused_sender *r = row;

	return r->last_us > REFUSED_AGE_US ? (sqlite3_int64)(r->last_us - REFUSED_AGE_US) : 0;
}

/* Leaves of TABLE what is newer, by NUMBER, than the row of OF that follows the MOST newest. */
#define BEYOND_NEWEST(table, of, which, number, most)                                               \
	"DELETE FROM " table " WHERE " which " AND " number " <= (SELECT " number " FROM " of        \
	" WHERE " which " ORDER BY " number " DESC LIMIT 1 OFFSET " most ")"
/* The oldest rows, by NUMBER, of an agent that has more than MOST; some in one statement. */
#define OLDEST_OF_AGENT(table, key, tab, number, most)                                               \
	"DELETE FROM " table " WHERE (" key ") IN (SELECT " key " FROM " table " WHERE agent = ?1 ORDER BY " number \
	" LIMIT max(0, min(1024, ifnull((SELECT n FROM held WHERE tab = " tab " AND agent = ?1), 0) - " most ")))"
#define OF_PORT "agent = ?1 AND if_index = ?2"

#define LATEST "boot=excluded.boot, address=excluded.address, last_us=excluded.last_us," \
	       " last_received_us=excluded.last_received_us, boot_shift=excluded.boot_shift"

const struct store_statement store_statements[STORE_N_TABLES] = {
    [STORE_AGENTS] = {.further = " ON CONFLICT(id) DO UPDATE SET " LATEST
		      /* another number for the same id is a fault of ours; the rows that come have it */
		      " ON CONFLICT(agent_id) DO UPDATE SET id=excluded.id, " LATEST},
    [STORE_AGENT_SOURCES] = {.how = "OR REPLACE"},
    [STORE_AGENT_REFUSALS] = {.how = "OR REPLACE"},
    [STORE_AGENT_CLOCKS] = {.how = "OR REPLACE"},
    [STORE_POLLED] = {.how = "OR REPLACE"},
    [STORE_PRECISION] = {.how = "OR REPLACE"},
    [STORE_LINKS] = {.how = "OR REPLACE"},
    [STORE_REFUSED_SENDERS] = {.further = " ON CONFLICT DO UPDATE SET reason=excluded.reason,"
			      " datagrams=datagrams+excluded.datagrams, last_us=max(last_us, excluded.last_us)",
	/* who sent least leaves: who sends under many addresses, and not who is refused again and again */
	.limit_sql = "DELETE FROM refused_sender WHERE last_us < ?1 OR ((SELECT count(*) FROM refused_sender) > "
	REFUSED_SENDERS " AND address IN (SELECT address FROM refused_sender ORDER BY datagrams, last_us LIMIT "
	REFUSED_SENDERS_A_LIMIT "))", .limit_of = oldest_refused},
    /* what a capture that is imported again has is there already; a verdict (EASE_ODD_VERDICTS) that was not found for
     * an hour begins anew, as the port was sound meanwhile */
    [STORE_ODDITIES] = {.further = " ON CONFLICT DO UPDATE SET n = n + excluded.n, last_us = excluded.last_us,"
			" first_us = iif(kind >= 64 AND excluded.last_us > last_us + 3600000000, excluded.first_us, first_us)"
			" WHERE excluded.last_us > last_us",
	.limit_sql = OLDEST_OF_AGENT("oddity", "agent, if_index, kind", "5", "last_us", ODDITIES_AN_AGENT),
	.is_due = is_limit_oddity, .limit_of = agent_of_oddity},
    [STORE_PORTS] = {.how = "OR REPLACE",
	.limit_sql = BEYOND_NEWEST("port", "port", OF_PORT, "since_us", STATES_A_PORT), .port_of = port_of_state},
    [STORE_SAMPLES] = {.how = "OR IGNORE"},
    /* if a device's time was set back (or a capture is played again), the newer counters stay */
    [STORE_COUNTERS] = {.updates = true},
    [STORE_ACCOUNTS] = {.how = "OR REPLACE",
	.limit_sql = BEYOND_NEWEST("account", "account", OF_PORT, "boot", BOOTS_A_PORT),
	.is_due = is_new_account, .port_of = port_of_account},
    /* a notification may arrive twice; an event has no number, so all of its columns are compared
     */
    [STORE_EVENTS] = {.unless = "EXISTS(SELECT 1 FROM event WHERE time_us=?1 AND agent=?2 AND boot=?3 AND kind=?4"
		      " AND if_index=?5 AND mac IS ?6 AND vlan IS ?7 AND text IS ?9)",
	.limit_sql = OLDEST_OF_AGENT("event", "id", "2", "id", EVENTS_AN_AGENT),
	.is_due = is_limit_event, .limit_of = tables_agent_of_event},
    [STORE_ENGINES] = {.how = "OR REPLACE"},
    [STORE_RESOURCES] = {.how = "OR REPLACE"},
    /* no REPLACE, whose deletions fire no trigger */
    [STORE_ERROR_SOURCES] = {.further = " ON CONFLICT DO UPDATE SET boot = excluded.boot, frames = excluded.frames,"
			     " first_us = excluded.first_us, last_us = excluded.last_us",
	.limit_sql =
	    "DELETE FROM error_source WHERE (agent, if_index, mac, kind) IN (SELECT agent, if_index,"
	" mac, kind FROM error_source WHERE agent = ?1 AND if_index = ?2 ORDER BY last_us DESC"
	" LIMIT -1 OFFSET " ERROR_SOURCES_A_PORT ")",
	.port_of = port_of_error_source},
    [STORE_DISCARDS] = {.further = " ON CONFLICT DO UPDATE SET n = n + excluded.n, received_us = excluded.received_us"},
    [STORE_CRASH_LOST] = {.how = "OR REPLACE",
	.limit_sql = BEYOND_NEWEST("gone", "account", OF_PORT, "boot", BOOTS_A_PORT), .port_of = port_of_crash_lost},
    [STORE_OUTAGES] = {.limit_sql = "DELETE FROM outage WHERE id <= (SELECT max(id) FROM outage) - " OUTAGES},
    [STORE_STATS] = {.how = "OR REPLACE"},
};

static void
put_insert(FILE *sql, const struct stored_table *table, const struct store_statement *s)
{
	const char *comma = "";
	size_t n = 0;

	fprintf(sql, "INSERT %s INTO %s(", s->how ? s->how : "", table->name);
	for (size_t i = 0; i < table->n_columns; i++) {
		if (table->columns[i].form == STORED_ID)
			continue;
		fprintf(sql, "%s%s", comma, table->columns[i].name);
		comma = ", ";
		n++;
	}
	fputs(s->unless ? ") SELECT " : ") VALUES(", sql);
	for (size_t i = 0; i < n; i++)
		fputs(i == 0 ? "?" : ",?", sql);
	if (s->unless)
		fprintf(sql, " WHERE NOT %s", s->unless);
	else
		fprintf(sql, ")%s", s->further ? s->further : "");
	for (size_t i = 0; s->updates && i < table->n_columns; i++)
		fprintf(sql, "%s%s = excluded.%s", i == 0 ? " ON CONFLICT DO UPDATE SET " : ", ", table->columns[i].name,
		    table->columns[i].name);
}

static int
prepare_statement(sqlite3 *db, const char *sql, sqlite3_stmt **statement)
{
	return sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

int
store_prepare_rows(sqlite3 *db, enum store_table table, sqlite3_stmt **statement, sqlite3_stmt **limit)
{
	const struct store_statement *s = &store_statements[table];
	int code = SQLITE_NOMEM;
	char *text = NULL;
	size_t size;
	FILE *sql;

	if (!stored_tables[table].name)
		return SQLITE_OK;
	sql = open_memstream(&text, &size);
	if (!sql)
		return code;
	put_insert(sql, &stored_tables[table], s);
	if (fclose(sql) == 0)
		code = prepare_statement(db, text, statement);
	free(text);
	return code == SQLITE_OK && s->limit_sql ? prepare_statement(db, s->limit_sql, limit) : code;
}
