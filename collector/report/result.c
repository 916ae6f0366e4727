#include "collector/report/result.h"

#include "common/sample.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
describe_scope(struct report_result *result, const struct query *query)
{
	const struct query_agent *only = NULL;
	const struct query_port *port = NULL;
	size_t n_agents = 0, n_ports = 0;

	for (size_t i = 0; i < query->n_agents; i++)
		if (query->agents[i].chosen) {
			only = &query->agents[i];
			n_agents++;
		}
	for (size_t i = 0; i < query->n_ports; i++)
		if (query->ports[i].chosen) {
			port = &query->ports[i];
			n_ports++;
		}
	if (n_agents != 1)
		snprintf(result->scope, sizeof(result->scope), "%zu agents", n_agents);
	else if (n_ports == 1)
		snprintf(result->scope, sizeof(result->scope), "%s %.*s", only->name, EASE_NAME_MAX,
		    port->name);
	else
		snprintf(result->scope, sizeof(result->scope), "%s", only->name);
}

void
result_begin(struct report_result *result, const char *report,
    const struct report_column *columns, size_t n_columns, const struct query *query)
{
	result->report = report;
	result->columns = columns;
	result->n_columns = n_columns;
	result->from_us = query->range.from_us;
	result->to_us = query->range.to_us;
	result->newest_us = query->newest_us;
	result->older_us = query->older_us;
	result->counted_to_us = query->edge_us;
	result->whole_minutes = query->edge_us > 0 && query->mirror;
	describe_scope(result, query);
}

bool
port_is_uncounted(const struct query_port *port)
{
	const struct estimate_stratum *in = query_listed(port);

	return in->all.n > 0 &&
	    !(estimate_is_counted(ESTIMATE_PKTS, in) && estimate_is_counted(ESTIMATE_OCTETS, in));
}

void
result_name_port(const struct query_port *port, struct report_port_name *name)
{
	snprintf(name->agent, sizeof(name->agent), "%s", port->agent->name);
	snprintf(name->port, sizeof(name->port), "%.*s", REPORT_NAME_TEXT - 1, port->name);
}

void
result_add_port(struct report_coarse *named, const struct query_port *port)
{
	if (named->n_ports++ < REPORT_UNCOUNTED_NAMED)
		result_name_port(port, &named->ports[named->n_ports - 1]);
}

double
report_about_part(const struct report_result *result)
{
	enum estimate_unit unit = result->has_keys || result->step_us > 0 ? result->sort : ESTIMATE_OCTETS;
	double part = result->step_us > 0 ? result->about_part
	    : estimate_deviation(result->total[unit], result->total_variance[unit]);

	return part > REPORT_ABOUT_PART && result->divided.n_ports > 0 ? part : 0;
}

static void
note_partly(struct report_uncounted *uncounted, const struct query_port *port)
{
	struct report_partly *partly;

	if (uncounted->n_partly++ >= REPORT_UNCOUNTED_NAMED)
		return;
	partly = &uncounted->partly[uncounted->n_partly - 1];
	result_name_port(port, &partly->name);
	partly->from_us = port->counted_from_us;
	partly->until_us = port->counted_until_us;
}

static void
note_uncounted(struct report_uncounted *uncounted, const struct query_port *port)
{
	const struct estimate_stratum *in = query_listed(port);

	if (port_is_uncounted(port) || !(in->pool_pkts > 0 || query_listed_cut(port)->pkts > 0))
		uncounted->lost_samples += port->cut_numbers;
	for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
		uncounted->total[u] += estimate_not_counted((enum estimate_unit)u, in);
		uncounted->variance[u] += estimate_not_counted_variance((enum estimate_unit)u, in);
	}
	if (in->beside[ESTIMATE_PKTS] > 0 && !port_is_uncounted(port))
		note_partly(uncounted, port);
	if (!port_is_uncounted(port))
		return;
	if (uncounted->n_ports++ < REPORT_UNCOUNTED_NAMED)
		result_name_port(port, &uncounted->ports[uncounted->n_ports - 1]);
}

void
result_count_port(struct report_result *result, const struct query_port *port)
{
	const struct estimate_stratum *in = query_listed(port);

	result->samples += port->received;
	result->expected += port->expected;
	result->lost[ESTIMATE_PKTS] += query_listed_cut(port)->pkts;
	result->lost[ESTIMATE_OCTETS] += query_listed_cut(port)->octets;
	result->total[ESTIMATE_PKTS] += estimate_total(ESTIMATE_PKTS, in) + query_listed_cut(port)->pkts;
	result->total[ESTIMATE_OCTETS] += estimate_total(ESTIMATE_OCTETS, in) + query_listed_cut(port)->octets;
	for (int u = 0; u < ESTIMATE_N_UNITS; u++)
		result->total_variance[u] += estimate_total_variance((enum estimate_unit)u, in);
	if (port->is_divided)
		result_add_port(&result->divided, port);
	result->from_samples[ESTIMATE_PKTS] += in->all.w;
	result->from_samples[ESTIMATE_OCTETS] += in->all.wb;
	note_uncounted(&result->uncounted, port);
}

/* Ports that were silent before the range began, or whose link is down, lack nothing in it. */
static void
name_silent(struct report_result *result, const struct query *query)
{
	for (size_t i = 0; result->counted_to_us > 0 && i < query->n_ports; i++) {
		const struct query_port *port = &query->ports[i];
		struct report_silent *silent;

		if (!(port->silent || port->late) || !port->edge || port->counters_us <= result->from_us || port_is_down(port))
			continue;
		result->is_late = result->is_late || port->late;
		if (result->n_silent++ >= REPORT_SILENT_NAMED)
			continue;
		silent = &result->silent[result->n_silent - 1];
		snprintf(silent->agent, sizeof(silent->agent), "%s", port->agent->name);
		snprintf(silent->port, sizeof(silent->port), "%.*s", REPORT_NAME_TEXT - 1, port->name);
		silent->newest_us = port->counters_us;
	}
}

static void
name_egress(struct report_egress *egress, const struct query *query)
{
	for (size_t i = 0; query->n_sent_agents > 0 && i < query->n_agents; i++) {
		const struct query_agent *agent = &query->agents[i];

		if (agent->chosen && agent->listed == EASE_OUT && egress->n_agents++ < REPORT_UNCOUNTED_NAMED)
			snprintf(egress->agents[egress->n_agents - 1], REPORT_NAME_TEXT, "%s", agent->name);
	}
}

/* Rates refer to the part of the range from the first to the newest data of the agents asked
 * for. */
void
result_finish(struct report_result *result, const struct query *query)
{
	uint64_t first_us = UINT64_MAX, from_us = result->from_us, to_us = result->to_us;

	for (size_t i = 0; i < query->n_agents; i++)
		if (query->agents[i].chosen && query->agents[i].first_us < first_us)
			first_us = query->agents[i].first_us;
	if (first_us > from_us)
		from_us = first_us;
	if (query->newest_us < to_us)
		to_us = query->newest_us;
	result->empty = query->newest_us == 0 || to_us < from_us;
	result->seconds = to_us > from_us ? (double)(to_us - from_us) / 1e6 : 0;
	name_silent(result, query);
	name_egress(&result->egress, query);
}

void
result_hide_agent(struct report_result *result, const struct query *query, unsigned column)
{
	const char *before = column > 0 ? result->columns[column - 1].field : NULL;
	const struct query_port *first = NULL;
	bool several = false, several_sites = false;

	for (size_t i = 0; i < query->n_ports; i++) {
		const struct query_port *port = &query->ports[i];

		if (!port->chosen)
			continue;
		first = first ? first : port;
		several |= first->agent != port->agent;
		several_sites |= !query_same_site(first, port);
	}
	result->hidden |= several ? 0 : 1u << column;
	if (before && strcmp(before, "site") == 0 && !several_sites)
		result->hidden |= 1u << (column - 1);
}

int
result_add_below(struct report_result *result, const char *name,
    const struct report_column *columns, size_t n_columns)
{
	result->below = calloc(1, sizeof(*result->below));
	if (!result->below)
		return -ENOMEM;
	result->below->report = name;
	result->below->columns = columns;
	result->below->n_columns = n_columns;
	return 0;
}

struct report_value *
result_add_row(struct report_result *result)
{
	size_t row_size = result->n_columns * sizeof(*result->values);
	struct report_value *values = realloc(result->values, (result->n_rows + 1) * row_size);

	if (!values)
		return NULL;
	result->values = values;
	values += result->n_rows++ * result->n_columns;
	memset(values, 0, row_size);
	return values;
}

void
result_format_address(size_t n_octets, const uint8_t *octets, char text[FRAME_IP_TEXT])
{
	if (n_octets == FRAME_MAC_LEN)
		frame_format_mac(octets, text);
	else
		frame_format_ip(n_octets == 4 ? 4 : 6, octets, text);
}

struct report_value
cell_site(const char *site)
{
	return cell_text(site ? site : "");
}

struct report_value
cell_label(const char *text)
{
	return (struct report_value){.known = true, .text = strdup(text)};
}

static bool
row_is_whole(const struct report_result *result, const struct report_value *row)
{
	for (size_t i = 0; row && i < result->n_columns; i++)
		if (result->columns[i].type == REPORT_TEXT && row[i].known && !row[i].text)
			return false;
	return true;
}

bool
result_is_whole(const struct report_result *result)
{
	bool whole = row_is_whole(result, result->others) && row_is_whole(result, result->rest);

	for (size_t i = 0; whole && i < result->n_rows; i++) {
		whole = row_is_whole(result, result->values + i * result->n_columns);
		if (whole && result->within)
			whole = result_is_whole(&result->within[i]);
	}
	return whole && (!result->below || result_is_whole(result->below));
}

struct report_value
cell_text(const char *text)
{
	return *text ? cell_label(text) : (struct report_value){0};
}

struct report_value
cell_number(double number)
{
	return (struct report_value){.known = !isnan(number), .number = isnan(number) ? 0 : number};
}

struct report_value
cell_time(uint64_t time_us)
{
	return (struct report_value){.known = time_us > 0, .time_us = time_us};
}

struct report_value
cell_figure(struct estimate_figure figure)
{
	return (struct report_value){.known = true, .figure = figure};
}

bool
port_is_down(const struct query_port *port)
{
	return port->oper_status == EASE_IF_DOWN || port->oper_status == EASE_IF_NOT_PRESENT ||
	    port->oper_status == EASE_IF_LOWER_LAYER_DOWN;
}

bool
port_is_counted(const struct report_options *options, const struct query_port *port)
{
	return port->chosen && (port->edge || (options->filter && options->filter->asks_for_ports));
}

struct report_value
cell_completeness(uint64_t received, uint64_t expected)
{
	if (expected == 0)
		return (struct report_value){0};
	return cell_number((double)received / (double)expected);
}

static void
free_row(const struct report_result *result, struct report_value *row)
{
	for (size_t c = 0; row && c < result->n_columns; c++)
		if (result->columns[c].type == REPORT_TEXT && row[c].known)
			free(row[c].text);
}

void
result_cut(struct report_result *result, size_t n_rows)
{
	while (result->n_rows > n_rows)
		free_row(result, report_cell(result, --result->n_rows, 0));
}

void
report_result_free(struct report_result *result)
{
	for (size_t r = 0; r < result->n_rows; r++)
		free_row(result, report_cell(result, r, 0));
	for (size_t r = 0; result->within && r < result->n_rows; r++)
		report_result_free(&result->within[r]);
	free(result->within);
	free_row(result, result->others);
	free_row(result, result->rest);
	free_row(result, result->together);
	free_row(result, result->not_seen);
	free_row(result, result->no_sample);
	free_row(result, result->lost_row);
	free(result->values);
	free(result->others);
	free(result->rest);
	free(result->together);
	free(result->not_seen);
	free(result->no_sample);
	free(result->lost_row);
	free(result->changes);
	free(result->extremes);
	free(result->keys);
	free(result->filter);
	for (size_t i = 0; i < result->n_counters; i++)
		free(result->counters[i].name);
	free(result->counters);
	if (result->below)
		report_result_free(result->below);
	free(result->below);
	*result = (struct report_result){0};
}
