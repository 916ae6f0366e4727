/*
 * Low-power idle, back pressure and PAUSE of a port in a range, from the resource rows of the
 * store. Part of query.h.
 *
 * Totals start again at 0 with each boot of the agent, so each boot counts from its first row to
 * its last. The newest row before the range counts as well, so that the range is covered from its
 * start.
 */
#include "collector/report/query.h"

#include <errno.h>
#include <stddef.h>

/* In the order of the query's columns. */
static const size_t fields[] = {
	offsetof(struct query_resources, in_events),
	offsetof(struct query_resources, in_asleep_us),
	offsetof(struct query_resources, out_events),
	offsetof(struct query_resources, out_asleep_us),
	offsetof(struct query_resources, pressed_episodes),
	offsetof(struct query_resources, pressed_us),
	offsetof(struct query_resources, ingress_drops),
	offsetof(struct query_resources, pauses_in),
	offsetof(struct query_resources, pauses_out),
};
enum { FIRST_FIELD = 3, N_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static const char by_boot[] =
    "SELECT MIN(time_us), MAX(time_us), MAX(known),"
    " MAX(in_events) - MIN(in_events), MAX(in_asleep_us) - MIN(in_asleep_us),"
    " MAX(out_events) - MIN(out_events), MAX(out_asleep_us) - MIN(out_asleep_us),"
    " MAX(pressed_episodes) - MIN(pressed_episodes), MAX(pressed_us) - MIN(pressed_us),"
    " MAX(ingress_drops) - MIN(ingress_drops), MAX(pauses_in) - MIN(pauses_in),"
    " MAX(pauses_out) - MIN(pauses_out)"
    " FROM resource WHERE agent = ?4 AND if_index = ?5 AND time_us <= ?2 AND time_us >= IFNULL("
    "(SELECT MAX(time_us) FROM resource WHERE agent = ?4 AND if_index = ?5 AND time_us <= ?1), ?1)"
    " GROUP BY boot";

static void
bind(sqlite3_stmt *stmt, const struct query *query, const struct query_port *port)
{
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)query->range.from_us);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)query->range.to_us);
	sqlite3_bind_int64(stmt, 4, port->agent->id);
	sqlite3_bind_int64(stmt, 5, port->if_index);
}

static void
add_boot(struct query_resources *resources, sqlite3_stmt *stmt)
{
	double us = sqlite3_column_double(stmt, 1) - sqlite3_column_double(stmt, 0);

	resources->known |= (unsigned)sqlite3_column_int(stmt, 2);
	resources->seconds += us / 1e6;
	for (int i = 0; i < N_FIELDS; i++) {
		double *field = (double *)(void *)((char *)resources + fields[i]);

		*field += sqlite3_column_double(stmt, FIRST_FIELD + i);
	}
}

int
query_resources(struct query *query, const struct query_port *port,
    struct query_resources *resources)
{
	sqlite3_stmt *stmt;
	int err;

	query_set_fetch_range(query, QUERY_ROWS_AT_ENDS, query->range.from_us, query->range.to_us);
	stmt = query_prepare_kept(query, by_boot);
	err = stmt ? 0 : -EIO;
	*resources = (struct query_resources){0};
	if (stmt)
		bind(stmt, query, port);
	while (err == 0 && (err = query_step(query, stmt)) == 1) {
		add_boot(resources, stmt);
		err = 0;
	}
	query_give_back(query, stmt);
	return err;
}
