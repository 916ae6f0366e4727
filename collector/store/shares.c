#include "collector/store/shares.h"
#include "common/log.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { ROWS_A_STEP = 128, PARTS = 128 };

/* ?1: agent, ?2: most rows, ?3: the port after which one is looked for. Where only rows of a port are in the order of
 * time, half of a port's are deleted at most. */
#define OLDEST_OF_AGENT(table, key, order, further)                                                         \
	"DELETE FROM " table " WHERE (" key ") IN (SELECT " key " FROM " table " WHERE agent = ?1" further    \
	" ORDER BY " order " LIMIT ?2)"
#define NEXT_PORT(table) "(SELECT if_index FROM " table " WHERE agent = ?1 AND if_index > ?3 ORDER BY if_index LIMIT 1)"
#define OLDEST_OF_PORT(table, key)                                                                              \
	"DELETE FROM " table " WHERE (" key ") IN (SELECT " key " FROM " table " WHERE agent = ?1 AND if_index = " \
	NEXT_PORT(table) " ORDER BY last_us LIMIT min(?2, (SELECT (count(*) + 1) / 2 FROM " table                  \
	" WHERE agent = ?1 AND if_index = " NEXT_PORT(table) "))) RETURNING if_index"

static const struct {
	const char *what;
	int part; /* of PARTS */
	const char *sql;
} tables[STORE_N_HELD] = {
    [STORE_HELD_DISCARD] = {"minutes of discarded packets, added to their hours,", 4,
	OLDEST_OF_AGENT("discard", STORE_DISCARD_KEY, STORE_DISCARD_KEY, "")},
    [STORE_HELD_DISCARD_HOUR] = {"hours of discarded packets", 2,
	OLDEST_OF_AGENT("discard_hour", STORE_DISCARD_HOUR_KEY, STORE_DISCARD_HOUR_KEY, "")},
    /* the newest event stays, so that its id is not used again (retention.c) */
    [STORE_HELD_EVENT] = {"events", 4,
	OLDEST_OF_AGENT("event", "id", "id", " AND id < (SELECT max(id) FROM event)")},
    [STORE_HELD_PLACE] = {"addresses", 4, OLDEST_OF_PORT("place", "layer, address, agent, if_index")},
    [STORE_HELD_ERROR_SOURCE] = {"sources of errors", 1, OLDEST_OF_PORT("error_source", "agent, if_index, mac, kind")},
    [STORE_HELD_ODDITY] = {"rows of what cannot be", 1,
	OLDEST_OF_AGENT("oddity", "agent, if_index, kind", "last_us", "")},
};

/* ?3: before when */
#define OLDEST_DISCARDS " FROM discard WHERE agent = ?1 AND start_us < ?3 ORDER BY " STORE_DISCARD_KEY " LIMIT ?2"
static const char fold[] =
    "INSERT INTO discard_hour SELECT agent, start_us - start_us % 3600000000, if_index, kind, reason, sum(n) FROM"
    " (SELECT *" OLDEST_DISCARDS ") WHERE true GROUP BY 1, 2, 3, 4, 5 ON CONFLICT DO UPDATE SET n = n + excluded.n";
static const char delete_folded[] = "DELETE FROM discard WHERE (" STORE_DISCARD_KEY ") IN (SELECT " STORE_DISCARD_KEY
				    OLDEST_DISCARDS ")";

/* The agents of the source that has most of table ?1, those first that have most. What is of no known agent counts as
 * of one source. */
static const char choose[] =
    "WITH h AS (SELECT h.agent, h.n, h.octets, ifnull(s.source, ifnull(a.address, '')) AS source FROM held h LEFT JOIN"
    " agent a ON a.id = h.agent LEFT JOIN agent_source s ON s.agent = h.agent WHERE h.tab = ?1 AND h.n > 0)"
    " SELECT agent, n, source FROM h WHERE source = (SELECT source FROM h GROUP BY source ORDER BY sum(octets) DESC"
    " LIMIT 1) ORDER BY octets DESC LIMIT ?2";

static int
count_shares(struct shares *s, struct rollup *r)
{
	sqlite3_stmt *stmt = rollup_statement(r, "SELECT tab, sum(octets) FROM held WHERE tab < 6 GROUP BY tab");
	int code;

	if (!stmt)
		return -EIO;
	s->held = 0;
	while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
		int tab = sqlite3_column_int(stmt, 0);
		int64_t octets = sqlite3_column_int64(stmt, 1);
		int64_t part = (int64_t)(s->most_octets / PARTS) * tables[tab].part;

		s->held += octets;
		s->excess[tab] = s->most_octets > 0 && octets > part ? octets - part + part / 16 : 0;
	}
	sqlite3_reset(stmt);
	s->due = false;
	return code == SQLITE_DONE ? 0 : -EIO;
}

static int
shares_choose_payers(struct shares *s, struct rollup *r, int table)
{
	sqlite3_stmt *stmt = rollup_statement(r, choose);
	char source[SHARES_SOURCE_TEXT] = "";
	int code;

	if (!stmt)
		return -EIO;
	sqlite3_bind_int(stmt, 1, table);
	sqlite3_bind_int(stmt, 2, SHARES_PAYERS);
	s->table = table;
	s->n_payers = s->at = 0;
	s->gives = false;
	while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
		assert(s->n_payers < SHARES_PAYERS);
		s->payers[s->n_payers++] = (struct shares_payer){.agent = sqlite3_column_int64(stmt, 0),
		    .rows = (sqlite3_column_int64(stmt, 1) + 1) / 2, .if_index = -1};
		snprintf(source, sizeof(source), "%s", (const char *)sqlite3_column_text(stmt, 2));
	}
	sqlite3_reset(stmt);
	if (s->n_payers > 0)
		log_warn_limited("store", "%s of %s make room: it has most of them, and together they have more than %d"
		    " of %d parts of store_size", tables[table].what, source, tables[table].part, PARTS);
	return code == SQLITE_DONE ? 0 : -EIO;
}

/* Runs one of the statements above. Returns the rows that it changed, or -EIO. */
static int
run_share(struct rollup *r, const char *sql, const int64_t parameters[3], int64_t *if_index)
{
	sqlite3_stmt *stmt = rollup_statement(r, sql);
	int code;

	if (!stmt)
		return -EIO;
	for (int i = 0; i < sqlite3_bind_parameter_count(stmt); i++)
		sqlite3_bind_int64(stmt, i + 1, parameters[i]);
	while ((code = sqlite3_step(stmt)) == SQLITE_ROW)
		*if_index = sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return code == SQLITE_DONE ? sqlite3_changes(r->db) : -EIO;
}

static int
fold_of_agent(struct shares *s, struct rollup *r, int64_t agent, int64_t most, uint64_t before_us)
{
	const int64_t row[] = {agent, most, (int64_t)before_us};
	int n = run_share(r, fold, row, NULL);

	if (n >= 0)
		n = run_share(r, delete_folded, row, NULL);
	s->rows[STORE_HELD_DISCARD] += n > 0 ? (uint64_t)n : 0;
	return n;
}

static int64_t
shares_octets_of(struct rollup *r, int table, int64_t agent)
{
	const int64_t row[] = {table, agent};
	int64_t octets = 0;

	return rollup_query(r, "SELECT octets FROM held WHERE tab = ?1 AND agent = ?2", row, 2, &octets, 1) < 0 ? 0 : octets;
}

/* One of the payers gives some rows; it leaves when it has given what it must, or has none. */
static int
pay_some(struct shares *s, struct rollup *r, int table)
{
	struct shares_payer *p = &s->payers[s->at];
	int64_t before = shares_octets_of(r, table, p->agent), freed;
	const int64_t row[] = {p->agent, p->rows < ROWS_A_STEP ? p->rows : ROWS_A_STEP, p->if_index};
	int n = table == STORE_HELD_DISCARD ? fold_of_agent(s, r, p->agent, row[1], INT64_MAX)
					    : run_share(r, tables[table].sql, row, &p->if_index);

	if (n < 0)
		return n;
	if (table != STORE_HELD_DISCARD)
		s->rows[table] += (uint64_t)n;
	freed = before - shares_octets_of(r, table, p->agent);
	s->excess[table] -= freed;
	s->held -= freed;
	p->rows -= n;
	s->gives |= n > 0;
	if (p->rows <= 0 || (n == 0 && p->if_index < 0))
		s->at++;
	else if (n == 0)
		p->if_index = -1; /* past the last port */
	return 0;
}

int
shares_step(struct shares *s, struct rollup *r)
{
	if (s->due && count_shares(s, r) < 0)
		return -EIO;
	for (int table = 0; table < STORE_N_HELD; table++) {
		if (s->table == table && s->n_payers > 0 && s->at == s->n_payers && !s->gives)
			s->excess[table] = 0; /* what is left of it stays: the newest event */
		if (s->excess[table] <= 0)
			continue;
		if ((s->at == s->n_payers || s->table != table) && shares_choose_payers(s, r, table) < 0)
			return -EIO;
		if (s->at < s->n_payers)
			return pay_some(s, r, table) < 0 ? -EIO : 1;
		s->excess[table] = 0;
	}
	return 0;
}

int
shares_fold_old(struct shares *s, struct rollup *r, uint64_t before_us)
{
	const int64_t row[] = {STORE_HELD_DISCARD, s->fold_agent};
	int64_t agent;
	int n;

	if (before_us <= s->folded_us)
		return 0;
	n = rollup_query(r, "SELECT agent FROM held WHERE tab = ?1 AND agent > ?2 AND n > 0 ORDER BY agent LIMIT 1", row, 2,
	    &agent, 1);
	if (n == 1)
		n = fold_of_agent(s, r, agent, ROWS_A_STEP, before_us);
	else if (n == 0) {
		s->folded_us = before_us;
		s->fold_agent = 0;
		return 1;
	}
	if (n >= 0 && n < ROWS_A_STEP)
		s->fold_agent = agent;
	return n < 0 ? -EIO : 1;
}
