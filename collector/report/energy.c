/*
 * Energy: how much of the time each direction of a port was in low-power idle, and how often it
 * went there. Ports whose device does not count it are left out.
 */
#include "collector/report/build.h"
#include "collector/report/reports.h"

#include <errno.h>
#include <math.h>

enum {
	COLUMN_AGENT,
	COLUMN_PORT,
	COLUMN_IF_INDEX,
	COLUMN_SHARE_RX,
	COLUMN_SHARE_TX,
	COLUMN_EVENTS_RX,
	COLUMN_EVENTS_TX,
	COLUMN_EVENT_RATE_RX,
	COLUMN_EVENT_RATE_TX,
	COLUMN_ASLEEP_RX,
	COLUMN_ASLEEP_TX,
	COLUMN_SECONDS,
	N_COLUMNS,
};

static const struct report_column energy_columns[N_COLUMNS] = {
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_PORT] = {"port", "PORT", REPORT_TEXT},
	[COLUMN_IF_INDEX] = {"if_index", NULL, REPORT_COUNT},
	[COLUMN_SHARE_RX] = {"asleep_rx", "ASLEEP% rx", REPORT_PERCENT},
	[COLUMN_SHARE_TX] = {"asleep_tx", "tx", REPORT_PERCENT},
	[COLUMN_EVENTS_RX] = {"events_rx", "EVENTS rx", REPORT_COUNT},
	[COLUMN_EVENTS_TX] = {"events_tx", "tx", REPORT_COUNT},
	[COLUMN_EVENT_RATE_RX] = {"events_per_s_rx", "event/s rx", REPORT_RATE},
	[COLUMN_EVENT_RATE_TX] = {"events_per_s_tx", "tx", REPORT_RATE},
	[COLUMN_ASLEEP_RX] = {"asleep_s_rx", NULL, REPORT_COUNT},
	[COLUMN_ASLEEP_TX] = {"asleep_s_tx", NULL, REPORT_COUNT},
	[COLUMN_SECONDS] = {"seconds", NULL, REPORT_COUNT},
};

/* The hardware's unit and the reading's moment may make it a little more than all. */
static double
percent(double us, double seconds)
{
	return fmin(100, us / 1e4 / seconds);
}

static void
fill(const struct query_resources *r, struct report_value *row)
{
	row[COLUMN_SHARE_RX] = build_number(percent(r->in_asleep_us, r->seconds));
	row[COLUMN_SHARE_TX] = build_number(percent(r->out_asleep_us, r->seconds));
	row[COLUMN_EVENTS_RX] = build_number(r->in_events);
	row[COLUMN_EVENTS_TX] = build_number(r->out_events);
	row[COLUMN_EVENT_RATE_RX] = build_number(r->in_events / r->seconds);
	row[COLUMN_EVENT_RATE_TX] = build_number(r->out_events / r->seconds);
	row[COLUMN_ASLEEP_RX] = build_number(r->in_asleep_us / 1e6);
	row[COLUMN_ASLEEP_TX] = build_number(r->out_asleep_us / 1e6);
	row[COLUMN_SECONDS] = build_number(r->seconds);
}

static int
add_port(struct query *query, struct report_result *result, const struct query_port *port)
{
	struct query_resources resources;
	struct report_value *row;
	int err = query_resources(query, port, &resources);

	if (err || !(resources.known & EASE_HAS_LOW_POWER))
		return err;
	row = build_row(result);
	if (!row)
		return -ENOMEM;
	row[COLUMN_AGENT] = build_text(port->agent->name);
	row[COLUMN_PORT] = build_text(port->name);
	row[COLUMN_IF_INDEX] = build_number(port->if_index);
	if (resources.seconds > 0)
		fill(&resources, row);
	return 0;
}

int
report_energy(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	int err = query_begin(query, options, now_us);

	if (err)
		return err;
	build_begin(result, "energy", energy_columns, N_COLUMNS, query);
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
