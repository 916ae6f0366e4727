/*
 * Agents: who is heard, since when, how many of its samples arrived.
 */
#include "collector/report/build.h"
#include "collector/report/reports.h"

#include <errno.h>

enum {
	COLUMN_AGENT,
	COLUMN_ID,
	COLUMN_ADDRESS,
	COLUMN_BOOT,
	COLUMN_PORTS,
	COLUMN_SAMPLES,
	COLUMN_EXPECTED,
	COLUMN_COMPLETENESS,
	COLUMN_FIRST,
	COLUMN_LAST,
	COLUMN_RECEIVED,
	N_COLUMNS,
};

static const struct report_column agent_columns[N_COLUMNS] = {
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_ID] = {"id", "ID", REPORT_TEXT},
	[COLUMN_ADDRESS] = {"address", "ADDRESS", REPORT_TEXT},
	[COLUMN_BOOT] = {"boot", "BOOT", REPORT_COUNT},
	[COLUMN_PORTS] = {"ports", "PORTS", REPORT_COUNT},
	[COLUMN_SAMPLES] = {"samples", "SAMPLES", REPORT_COUNT},
	[COLUMN_EXPECTED] = {"expected", NULL, REPORT_COUNT},
	[COLUMN_COMPLETENESS] = {"completeness", "COMPLETE", REPORT_COMPLETENESS},
	[COLUMN_FIRST] = {"first_data", NULL, REPORT_TIME},
	[COLUMN_LAST] = {"newest_data", "NEWEST DATA", REPORT_TIME},
	[COLUMN_RECEIVED] = {"last_seen", "LAST SEEN", REPORT_TIME},
};

static int
add_agent(struct report_result *result, const struct query *query, const struct query_agent *agent)
{
	struct report_value *row = build_row(result);
	uint64_t expected = 0, received = 0;
	double n_ports = 0;

	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < query->n_ports; i++) {
		const struct query_port *port = &query->ports[i];

		if (port->agent != agent || !port->chosen)
			continue;
		n_ports++;
		expected += port->expected;
		received += port->received;
		build_count_port(result, port);
	}
	row[COLUMN_AGENT] = build_text(agent->name);
	row[COLUMN_ID] = build_text(agent->id_text);
	row[COLUMN_ADDRESS] = build_text(agent->address);
	row[COLUMN_BOOT] = build_number((double)agent->boot);
	row[COLUMN_PORTS] = build_number(n_ports);
	row[COLUMN_SAMPLES] = build_number((double)received);
	row[COLUMN_EXPECTED] = build_number((double)expected);
	row[COLUMN_COMPLETENESS] = build_completeness(received, expected);
	row[COLUMN_FIRST] = build_time(agent->first_us);
	row[COLUMN_LAST] = build_time(agent->last_us);
	row[COLUMN_RECEIVED] = build_time(agent->last_received_us);
	return 0;
}

int
report_agents(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	int err = query_begin(query, options, now_us);

	if (err)
		return err;
	build_begin(result, "agents", agent_columns, N_COLUMNS, query);
	result->hidden = 1u << COLUMN_AGENT;
	err = query_windows(query);
	for (size_t i = 0; err == 0 && i < query->n_agents; i++)
		if (query->agents[i].chosen)
			err = add_agent(result, query, &query->agents[i]);
	build_finish(result, query);
	return err;
}
