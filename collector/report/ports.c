#include "collector/report/ports.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>

struct report_value *
ports_row(struct report_result *result, const struct query_port *port)
{
	struct report_value *row = result_add_row(result);

	if (!row)
		return NULL;
	row[PORTS_SITE] = cell_site(port->site);
	row[PORTS_AGENT] = cell_text(port->agent->name);
	row[PORTS_NAME] = cell_text(port->name);
	row[PORTS_IF_INDEX] = cell_number(port->if_index);
	return row;
}

int
ports_report(struct query *query, const struct ports_report *report,
    const struct report_options *options, uint64_t now_us, struct report_result *result)
{
	int err = query_begin(query, options, now_us);

	if (err)
		return err;
	result_begin(result, report->name, report->columns, report->n_columns, query);
	err = query_windows(query);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		if (query->ports[i].chosen) {
			result_count_port(result, &query->ports[i]);
			err = report->add(query, report, &query->ports[i], result);
		}
	result_hide_agent(result, query, PORTS_AGENT);
	result_finish(result, query);
	return err;
}

/* ---- resources ----
 *
 * Totals start again at 0 with each boot of the agent, so each boot counts from its first row to
 * its last. The newest row before the range counts as well, so that the range is covered from its
 * start.
 */

/* In the order of the query's columns. */
static const size_t fields[] = {
	offsetof(struct port_resources, in_events),
	offsetof(struct port_resources, in_asleep_us),
	offsetof(struct port_resources, out_events),
	offsetof(struct port_resources, out_asleep_us),
	offsetof(struct port_resources, pressed_episodes),
	offsetof(struct port_resources, pressed_us),
	offsetof(struct port_resources, ingress_drops),
	offsetof(struct port_resources, pauses_in),
	offsetof(struct port_resources, pauses_out),
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
bind_port(sqlite3_stmt *stmt, const struct query *query, const struct query_port *port)
{
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)query->range.from_us);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)query->range.to_us);
	sqlite3_bind_int64(stmt, 4, port->agent->id);
	sqlite3_bind_int64(stmt, 5, port->if_index);
}

static void
add_boot(struct port_resources *resources, sqlite3_stmt *stmt)
{
	double us = sqlite3_column_double(stmt, 1) - sqlite3_column_double(stmt, 0);

	resources->known |= (unsigned)sqlite3_column_int(stmt, 2);
	resources->seconds += us / 1e6;
	for (int i = 0; i < N_FIELDS; i++) {
		double *field = (double *)(void *)((char *)resources + fields[i]);

		*field += sqlite3_column_double(stmt, FIRST_FIELD + i);
	}
}

static int
read_resources(struct query *query, const struct query_port *port, struct port_resources *resources)
{
	sqlite3_stmt *stmt;
	int err;

	query_set_fetch_range(query, QUERY_ROWS_AT_ENDS, query->range.from_us, query->range.to_us);
	stmt = query_prepare_kept(query, by_boot);
	err = stmt ? 0 : -EIO;
	*resources = (struct port_resources){0};
	if (stmt)
		bind_port(stmt, query, port);
	while (err == 0 && (err = query_step(query, stmt)) == 1) {
		add_boot(resources, stmt);
		err = 0;
	}
	query_give_back(query, stmt);
	return err;
}

static double
resource_figure(const struct ports_figure *f, const struct port_resources *r)
{
	double value = *(const double *)(const void *)((const char *)r + f->field);

	switch ((enum ports_as)f->as) {
	case PORTS_AS_RATE:
		return value / r->seconds;
	case PORTS_AS_SECONDS:
		return value / 1e6;
	case PORTS_AS_PERCENT: /* the hardware's unit and the time of reading may add a little */
		return fmin(100, value / 1e4 / r->seconds);
	case PORTS_AS_COVERED:
		return r->seconds;
	case PORTS_AS_TOTAL:
	case PORTS_AS_NOTHING:
		break;
	}
	return value;
}

int
ports_add_resources(struct query *query, const struct ports_report *report,
    const struct query_port *port, struct report_result *result)
{
	struct port_resources resources;
	struct report_value *row;
	int err = read_resources(query, port, &resources);

	if (err || !(resources.known & report->any_of))
		return err;
	row = ports_row(result, port);
	if (!row)
		return -ENOMEM;
	for (size_t i = PORTS_OWN; i < report->n_columns && resources.seconds > 0; i++) {
		const struct ports_figure *f = &report->figures[i];

		if (f->as != PORTS_AS_NOTHING && resources.known & f->needs)
			row[i] = cell_number(resource_figure(f, &resources));
	}
	return 0;
}
