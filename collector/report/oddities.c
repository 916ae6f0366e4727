#include "collector/report/oddities.h"

#include "collector/record.h"
#include "collector/report/result.h"

#include <errno.h>

/* What is done about it. */
static const struct {
	const char *done, *refusal;
} words[EASE_N_ODDITIES] = {
	[EASE_ODD_RATE] = {"another stated or measured one is used", NULL},
	[EASE_ODD_POOL] = {"it is measured anew, or not used", NULL},
	[EASE_ODD_POOL_DENIED] = {"the stated rate is used", NULL},
	[EASE_ODD_POOL_SHARED] = {"the stated rate is used", NULL},
	[EASE_ODD_NUMBERS] = {"all count; missing datagrams tell what is lost", NULL},
	[EASE_ODD_DROPS] = {"not counted", NULL},
	[EASE_ODD_UPTIME] = {"not taken for a restart", NULL},
	[EASE_ODD_DATAGRAMS] = {"all count; what is lost is not known", NULL},
	[EASE_ODD_LENGTH] = {"its own is used where nothing refutes that", NULL},
	[EASE_ODD_HEADER] = {"the length counts, without addresses", NULL},
	[EASE_ODD_RECORD] = {"it is left out, the others count", NULL},
	[EASE_ODD_SOURCE] = {"they count at their input", NULL},
	[EASE_ODD_SUB_AGENTS] = {"it is one port, with one's counters", NULL},
	[EASE_ODD_COUNTERS_TWICE] = {"those that came first count", NULL},
	[EASE_ODD_COUNTERS] = {"left out, or counted from there anew", NULL},
	[EASE_ODD_OCTETS_32] = {"they are extended", NULL},
	[EASE_ODD_SPEED] = {"it is mended, or not known", NULL},
	[EASE_ODD_NO_RATE] = {"refused: set a sampling rate", "samples refused: rate 0"},
	[EASE_ODD_NO_LENGTH] = {"refused", "samples refused: frame length"},
	[EASE_ODD_NO_HEADER] = {"refused: send sampled headers", "samples refused: no header"},
};

const char *
oddities_refusal(int kind)
{
	return words[kind].refusal;
}

static bool
oddities_is_known(int64_t kind)
{
	return kind > 0 && kind < EASE_N_ODDITIES;
}

#define REFUSALS "kind >= ?1 AND last_us >= :from"

static sqlite3_stmt *
prepare_refusals(struct query *query, const char *sql)
{
	sqlite3_stmt *stmt = query_prepare(query, sql);

	if (stmt)
		sqlite3_bind_int(stmt, 1, EASE_ODD_NO_RATE);
	return stmt;
}

int
oddities_read_refusals(struct query *query)
{
	sqlite3_stmt *stmt;
	int more = 0;

	for (size_t i = 0; i < query->n_ports; i++)
		query->ports[i].refused = 0;
	stmt = prepare_refusals(query, "SELECT agent, if_index, kind, n FROM oddity WHERE " REFUSALS " ORDER BY n");
	if (!stmt)
		return -EIO;
	while ((more = query_step(query, stmt)) == 1) {
		struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
		    (uint64_t)sqlite3_column_int64(stmt, 1));

		if (!port || !oddities_is_known(sqlite3_column_int64(stmt, 2)))
			continue;
		port->refused += query_u64(stmt, 3);
		port->refused_kind = (uint8_t)sqlite3_column_int(stmt, 2);
	}
	sqlite3_finalize(stmt);
	return more < 0 ? more : 0;
}

int
oddities_each_refusal(struct query *query, int (*each)(void *arg, const char *text, double n), void *arg)
{
	sqlite3_stmt *stmt;
	int more = 0;

	stmt = prepare_refusals(query, "SELECT kind, sum(n) FROM oddity WHERE " REFUSALS " GROUP BY kind ORDER BY kind");
	if (!stmt)
		return -EIO;
	while ((more = query_step(query, stmt)) == 1)
		if (oddities_is_known(sqlite3_column_int64(stmt, 0))) {
			more = each(arg, words[sqlite3_column_int(stmt, 0)].refusal, sqlite3_column_double(stmt, 1));
			if (more < 0)
				break;
		}
	sqlite3_finalize(stmt);
	return more < 0 ? more : 0;
}

enum { ODD_SITE, ODD_AGENT, ODD_WHAT, ODD_COUNT, ODD_PORTS, ODD_PORT, ODD_DONE, ODD_NEWEST, ODD_COLUMNS };

static const struct report_column odd_columns[ODD_COLUMNS] = {
	[ODD_SITE] = {"site", "SITE", REPORT_TEXT},
	[ODD_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[ODD_WHAT] = {"oddity", "WHAT IT STATES", REPORT_TEXT},
	[ODD_COUNT] = {"count", "COUNT", REPORT_COUNT},
	[ODD_PORTS] = {"ports", "PORTS", REPORT_COUNT},
	[ODD_PORT] = {"most_at_port", "MOST AT", REPORT_TEXT},
	[ODD_DONE] = {"done", "WHAT IS DONE", REPORT_TEXT},
	[ODD_NEWEST] = {"newest", "NEWEST", REPORT_TIME},
};

static int
oddities_add_row(const struct query *query, struct report_result *table, sqlite3_stmt *stmt)
{
	const struct query_agent *agent = query_find_agent(query, sqlite3_column_int64(stmt, 0));
	const struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint64_t)sqlite3_column_int64(stmt, 5));
	int64_t kind = sqlite3_column_int64(stmt, 1);
	struct report_value *row;

	if (!agent || !agent->chosen || !oddities_is_known(kind))
		return 0;
	row = result_add_row(table);
	if (!row)
		return -ENOMEM;
	row[ODD_SITE] = cell_site(agent->site);
	row[ODD_AGENT] = cell_text(agent->name);
	row[ODD_WHAT] = cell_text(ease_oddity_text((enum ease_oddity)kind));
	row[ODD_COUNT] = cell_number(sqlite3_column_double(stmt, 2));
	if (sqlite3_column_int64(stmt, 3) > 0)
		row[ODD_PORTS] = cell_number(sqlite3_column_double(stmt, 3));
	row[ODD_PORT] = cell_text(port ? port->name : "-");
	row[ODD_DONE] = cell_text(words[kind].done);
	row[ODD_NEWEST] = cell_time(query_u64(stmt, 4));
	return 0;
}

int
oddities_add_table(struct query *query, struct report_result *result)
{
	int err = result_add_below(result, "oddities", odd_columns, ODD_COLUMNS);
	sqlite3_stmt *stmt;

	if (err)
		return err;
	stmt = query_prepare(query,
	    "SELECT agent, kind, sum(n), sum(if_index > 0), max(last_us), (SELECT if_index FROM oddity o WHERE o.agent ="
	    " oddity.agent AND o.kind = oddity.kind ORDER BY n DESC LIMIT 1) FROM oddity WHERE last_us >= :from"
	    " GROUP BY agent, kind ORDER BY agent, 3 DESC");
	err = stmt ? 0 : -EIO;
	while (err == 0 && (err = query_step(query, stmt)) == 1)
		err = oddities_add_row(query, result->below, stmt);
	sqlite3_finalize(stmt);
	return err;
}
