/*
 * Errors: the errors and discards that each port counted, and in a second table who sent bad
 * frames, as far as devices report that.
 */
#include "collector/report/ports.h"
#include "collector/report/reports.h"
#include "common/frame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum {
	COLUMN_RX_ERRORS = PORTS_OWN,
	COLUMN_TX_ERRORS,
	COLUMN_RX_DISCARDS,
	COLUMN_TX_DISCARDS,
	COLUMN_RATE,
	COLUMN_PPM,
	COLUMN_SECONDS,
	N_COLUMNS,
};

static const struct report_column error_columns[N_COLUMNS] = {
	PORTS_COLUMNS,
	[COLUMN_RX_ERRORS] = {"rx_errors", "ERRORS rx", REPORT_COUNT},
	[COLUMN_TX_ERRORS] = {"tx_errors", "tx", REPORT_COUNT},
	[COLUMN_RX_DISCARDS] = {"rx_discards", "DISCARDS rx", REPORT_COUNT},
	[COLUMN_TX_DISCARDS] = {"tx_discards", "tx", REPORT_COUNT},
	[COLUMN_RATE] = {"errors_per_s", "err/s", REPORT_RATE},
	[COLUMN_PPM] = {"errors_per_million", "per 1M", REPORT_RATE},
	[COLUMN_SECONDS] = {"seconds", NULL, REPORT_COUNT},
};

enum {
	SOURCE_MAC = PORTS_OWN,
	SOURCE_KIND,
	SOURCE_FRAMES,
	SOURCE_FIRST,
	SOURCE_LAST,
	SOURCE_COLUMNS,
};

static const struct report_column source_columns[SOURCE_COLUMNS] = {
	PORTS_COLUMNS,
	[SOURCE_MAC] = {"source", "SOURCE", REPORT_TEXT},
	[SOURCE_KIND] = {"kind", "KIND", REPORT_TEXT},
	[SOURCE_FRAMES] = {"frames", "FRAMES", REPORT_COUNT},
	[SOURCE_FIRST] = {"first", "FIRST", REPORT_TIME},
	[SOURCE_LAST] = {"last", "LAST", REPORT_TIME},
};

/* ---- ports ---- */

static void
errors_fill_port(const struct query_load *l, struct report_value *row)
{
	double errors = l->in_errors + l->out_errors;
	double pkts = query_rx_pkts(l) + query_tx_pkts(l);

	row[COLUMN_RX_ERRORS] = cell_number(round(l->in_errors));
	row[COLUMN_TX_ERRORS] = cell_number(round(l->out_errors));
	row[COLUMN_RX_DISCARDS] = cell_number(round(l->in_discards));
	row[COLUMN_TX_DISCARDS] = cell_number(round(l->out_discards));
	row[COLUMN_RATE] = cell_number(errors / l->seconds);
	row[COLUMN_SECONDS] = cell_number(l->seconds);
	if (errors + pkts > 0)
		row[COLUMN_PPM] = cell_number(1e6 * errors / (errors + pkts));
}

static int
errors_add_port(struct query *query, const struct ports_report *report, const struct query_port *port,
    struct report_result *result)
{
	struct query_load load;
	struct report_value *row;
	int err = query_load(query, port, &load);

	(void)report;
	if (err)
		return err;
	row = ports_row(result, port);
	if (!row)
		return -ENOMEM;
	if (load.known)
		errors_fill_port(&load, row);
	return 0;
}

/* ---- sources ---- */

static int
errors_add_source(struct query *query, struct report_result *sources, sqlite3_stmt *stmt)
{
	const struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint64_t)sqlite3_column_int64(stmt, 1));
	struct report_value *row;
	char mac[FRAME_MAC_TEXT];

	if (!port || !port->chosen || sqlite3_column_bytes(stmt, 2) != FRAME_MAC_LEN)
		return 0;
	row = ports_row(sources, port);
	if (!row)
		return -ENOMEM;
	frame_format_mac(sqlite3_column_blob(stmt, 2), mac);
	row[SOURCE_MAC] = cell_text(mac);
	row[SOURCE_KIND] =
	    cell_text(sqlite3_column_int(stmt, 3) == EASE_ERROR_FCS ? "FCS" : "too long");
	row[SOURCE_FRAMES] = cell_number(sqlite3_column_double(stmt, 4));
	row[SOURCE_FIRST] = cell_time((uint64_t)sqlite3_column_int64(stmt, 5));
	row[SOURCE_LAST] = cell_time((uint64_t)sqlite3_column_int64(stmt, 6));
	return 0;
}

/* The newest first, at most as many as rows are wanted. */
static int
errors_add_sources(struct query *query, const struct report_options *options, struct report_result *sources)
{
	sqlite3_stmt *stmt = query_prepare(query,
	    "SELECT agent, if_index, mac, kind, frames, first_us, last_us FROM error_source"
	    " WHERE last_us >= :from AND first_us < :to ORDER BY last_us DESC,"
	    " agent, if_index, mac");
	int err = stmt ? 0 : -EIO;

	while (err == 0 && sources->n_rows < options->top && (err = query_step(query, stmt)) == 1)
		err = errors_add_source(query, sources, stmt);
	sqlite3_finalize(stmt);
	return err;
}

int
report_errors(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	static const struct ports_report errors = {.name = "errors", .columns = error_columns,
	    .n_columns = N_COLUMNS, .add = errors_add_port};
	int err = ports_report(query, &errors, options, now_us, result);

	if (err == 0)
		err = result_add_below(result, "sources", source_columns, SOURCE_COLUMNS);
	if (err == 0)
		err = errors_add_sources(query, options, result->below);
	if (result->below)
		result_hide_agent(result->below, query, PORTS_AGENT);
	return err;
}
