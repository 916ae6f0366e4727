/*
 * Pause: back pressure on each port, what was lost for want of buffers, and PAUSE frames. Ports
 * whose device knows neither are left out.
 */
#include "collector/report/build.h"
#include "collector/report/reports.h"

#include <errno.h>
#include <math.h>

enum {
	COLUMN_AGENT,
	COLUMN_PORT,
	COLUMN_IF_INDEX,
	COLUMN_PRESSED,
	COLUMN_EPISODES,
	COLUMN_DROPS,
	COLUMN_PAUSES_RX,
	COLUMN_PAUSES_TX,
	COLUMN_PAUSE_RATE_RX,
	COLUMN_PAUSE_RATE_TX,
	COLUMN_PRESSED_S,
	COLUMN_SECONDS,
	N_COLUMNS,
};

static const struct report_column pause_columns[N_COLUMNS] = {
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_PORT] = {"port", "PORT", REPORT_TEXT},
	[COLUMN_IF_INDEX] = {"if_index", NULL, REPORT_COUNT},
	[COLUMN_PRESSED] = {"back_pressure", "PRESSED%", REPORT_PERCENT},
	[COLUMN_EPISODES] = {"episodes", "EPISODES", REPORT_COUNT},
	[COLUMN_DROPS] = {"ingress_drops", "DROPS", REPORT_COUNT},
	[COLUMN_PAUSES_RX] = {"pauses_rx", "PAUSES rx", REPORT_COUNT},
	[COLUMN_PAUSES_TX] = {"pauses_tx", "tx", REPORT_COUNT},
	[COLUMN_PAUSE_RATE_RX] = {"pauses_per_s_rx", "pause/s rx", REPORT_RATE},
	[COLUMN_PAUSE_RATE_TX] = {"pauses_per_s_tx", "tx", REPORT_RATE},
	[COLUMN_PRESSED_S] = {"back_pressure_s", NULL, REPORT_COUNT},
	[COLUMN_SECONDS] = {"seconds", NULL, REPORT_COUNT},
};

static void
fill_buffers(const struct query_resources *r, struct report_value *row)
{
	row[COLUMN_PRESSED] = build_number(fmin(100, r->pressed_us / 1e4 / r->seconds));
	row[COLUMN_EPISODES] = build_number(r->pressed_episodes);
	row[COLUMN_DROPS] = build_number(r->ingress_drops);
	row[COLUMN_PRESSED_S] = build_number(r->pressed_us / 1e6);
}

static void
fill_pauses(const struct query_resources *r, struct report_value *row)
{
	row[COLUMN_PAUSES_RX] = build_number(r->pauses_in);
	row[COLUMN_PAUSES_TX] = build_number(r->pauses_out);
	row[COLUMN_PAUSE_RATE_RX] = build_number(r->pauses_in / r->seconds);
	row[COLUMN_PAUSE_RATE_TX] = build_number(r->pauses_out / r->seconds);
}

static int
add_port(struct query *query, struct report_result *result, const struct query_port *port)
{
	struct query_resources resources;
	struct report_value *row;
	int err = query_resources(query, port, &resources);

	if (err || !(resources.known & (EASE_HAS_BUFFERS | EASE_HAS_PAUSE)))
		return err;
	row = build_row(result);
	if (!row)
		return -ENOMEM;
	row[COLUMN_AGENT] = build_text(port->agent->name);
	row[COLUMN_PORT] = build_text(port->name);
	row[COLUMN_IF_INDEX] = build_number(port->if_index);
	if (resources.seconds <= 0)
		return 0;
	row[COLUMN_SECONDS] = build_number(resources.seconds);
	if (resources.known & EASE_HAS_BUFFERS)
		fill_buffers(&resources, row);
	if (resources.known & EASE_HAS_PAUSE)
		fill_pauses(&resources, row);
	return 0;
}

int
report_pause(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	int err = query_begin(query, options, now_us);

	if (err)
		return err;
	build_begin(result, "pause", pause_columns, N_COLUMNS, query);
	err = query_windows(query);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		if (query->ports[i].chosen) {
			build_count_port(result, &query->ports[i]);
			err = add_port(query, result, &query->ports[i]);
		}
	build_hide_agent(result, query, COLUMN_AGENT);
	build_finish(result, query);
	return err;
}
