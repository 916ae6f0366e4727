/*
 * Errors: what went wrong at each port as its counters have it, and below it who sent bad frames
 * last, as far as devices report that.
 */
#include "collector/report/build.h"
#include "collector/report/reports.h"
#include "common/frame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum {
	COLUMN_AGENT,
	COLUMN_PORT,
	COLUMN_IF_INDEX,
	COLUMN_RX_ERRORS,
	COLUMN_TX_ERRORS,
	COLUMN_RX_DISCARDS,
	COLUMN_TX_DISCARDS,
	COLUMN_RATE,
	COLUMN_PPM,
	COLUMN_SECONDS,
	N_COLUMNS,
};

static const struct report_column error_columns[N_COLUMNS] = {
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_PORT] = {"port", "PORT", REPORT_TEXT},
	[COLUMN_IF_INDEX] = {"if_index", NULL, REPORT_COUNT},
	[COLUMN_RX_ERRORS] = {"rx_errors", "ERRORS rx", REPORT_COUNT},
	[COLUMN_TX_ERRORS] = {"tx_errors", "tx", REPORT_COUNT},
	[COLUMN_RX_DISCARDS] = {"rx_discards", "DISCARDS rx", REPORT_COUNT},
	[COLUMN_TX_DISCARDS] = {"tx_discards", "tx", REPORT_COUNT},
	[COLUMN_RATE] = {"errors_per_s", "err/s", REPORT_RATE},
	[COLUMN_PPM] = {"errors_per_million", "per 1M", REPORT_RATE},
	[COLUMN_SECONDS] = {"seconds", NULL, REPORT_COUNT},
};

enum {
	SOURCE_AGENT,
	SOURCE_PORT,
	SOURCE_IF_INDEX,
	SOURCE_MAC,
	SOURCE_KIND,
	SOURCE_FRAMES,
	SOURCE_FIRST,
	SOURCE_LAST,
	SOURCE_COLUMNS,
};

static const struct report_column source_columns[SOURCE_COLUMNS] = {
	[SOURCE_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[SOURCE_PORT] = {"port", "PORT", REPORT_TEXT},
	[SOURCE_IF_INDEX] = {"if_index", NULL, REPORT_COUNT},
	[SOURCE_MAC] = {"source", "SOURCE", REPORT_TEXT},
	[SOURCE_KIND] = {"kind", "KIND", REPORT_TEXT},
	[SOURCE_FRAMES] = {"frames", "FRAMES", REPORT_COUNT},
	[SOURCE_FIRST] = {"first", "FIRST", REPORT_TIME},
	[SOURCE_LAST] = {"last", "LAST", REPORT_TIME},
};

/* ---- ports ---- */

static void
fill_port(const struct query_load *l, struct report_value *row)
{
	double errors = l->in_errors + l->out_errors;
	double pkts = l->in_ucast + l->in_mcast + l->in_bcast + l->out_ucast + l->out_mcast +
	    l->out_bcast;

	row[COLUMN_RX_ERRORS] = build_number(round(l->in_errors));
	row[COLUMN_TX_ERRORS] = build_number(round(l->out_errors));
	row[COLUMN_RX_DISCARDS] = build_number(round(l->in_discards));
	row[COLUMN_TX_DISCARDS] = build_number(round(l->out_discards));
	row[COLUMN_RATE] = build_number(errors / l->seconds);
	row[COLUMN_SECONDS] = build_number(l->seconds);
	if (errors + pkts > 0)
		row[COLUMN_PPM] = build_number(1e6 * errors / (errors + pkts));
}

static int
add_port(struct query *query, struct report_result *result, const struct query_port *port)
{
	struct query_load load;
	struct report_value *row;
	int err = query_load(query, port, &load);

	if (err)
		return err;
	row = build_row(result);
	if (!row)
		return -ENOMEM;
	row[COLUMN_AGENT] = build_text(port->agent->name);
	row[COLUMN_PORT] = build_text(port->name);
	row[COLUMN_IF_INDEX] = build_number(port->if_index);
	if (load.known)
		fill_port(&load, row);
	return 0;
}

/* ---- sources ---- */

static int
add_source(struct query *query, struct report_result *sources, sqlite3_stmt *stmt)
{
	const struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint32_t)sqlite3_column_int64(stmt, 1));
	struct report_value *row;
	char mac[FRAME_MAC_TEXT];

	if (!port || !port->chosen || sqlite3_column_bytes(stmt, 2) != FRAME_MAC_LEN)
		return 0;
	row = build_row(sources);
	if (!row)
		return -ENOMEM;
	frame_format_mac(sqlite3_column_blob(stmt, 2), mac);
	row[SOURCE_AGENT] = build_text(port->agent->name);
	row[SOURCE_PORT] = build_text(port->name);
	row[SOURCE_IF_INDEX] = build_number(port->if_index);
	row[SOURCE_MAC] = build_text(mac);
	row[SOURCE_KIND] =
	    build_text(sqlite3_column_int(stmt, 3) == EASE_ERROR_FCS ? "FCS" : "too long");
	row[SOURCE_FRAMES] = build_number(sqlite3_column_double(stmt, 4));
	row[SOURCE_FIRST] = build_time((uint64_t)sqlite3_column_int64(stmt, 5));
	row[SOURCE_LAST] = build_time((uint64_t)sqlite3_column_int64(stmt, 6));
	return 0;
}

/* The newest first, as many as rows are wanted. */
static int
add_sources(struct query *query, const struct report_options *options,
    struct report_result *sources)
{
	sqlite3_stmt *stmt = query_prepare(query,
	    "SELECT agent, if_index, mac, kind, frames, first_us, last_us FROM error_source"
	    " WHERE last_us >= :from AND first_us < :to ORDER BY last_us DESC, agent, if_index, mac");
	int err = stmt ? 0 : -EIO;

	while (err == 0 && sources->n_rows < options->top &&
	    (err = query_step(query, stmt)) == 1)
		err = add_source(query, sources, stmt);
	sqlite3_finalize(stmt);
	return err;
}

int
report_errors(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	int err = query_begin(query, options, now_us);

	if (err)
		return err;
	build_begin(result, "errors", error_columns, N_COLUMNS, query);
	err = query_windows(query);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		if (query->ports[i].chosen) {
			build_count_port(result, &query->ports[i]);
			err = add_port(query, result, &query->ports[i]);
		}
	build_hide_agent(result, query, COLUMN_AGENT);
	build_finish(result, query);
	if (err == 0)
		err = build_below(result, "sources", source_columns, SOURCE_COLUMNS);
	if (err == 0)
		err = add_sources(query, options, result->below);
	if (result->below)
		build_hide_agent(result->below, query, SOURCE_AGENT);
	return err;
}
