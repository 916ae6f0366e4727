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
		snprintf(result->scope, sizeof(result->scope), "%s %.*s", only->name, EASE_NAME_MAX, port->name);
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
	result->counted_to_us = query->edge_us;
	if (query->edge_us > 0 && query->store->by_minute)
		note_of(result, NOTE_ID_WHOLE_MINUTES);
	describe_scope(result, query);
}

bool
port_is_uncounted(const struct query_port *port)
{
	const struct estimate_stratum *in = query_listed(port);

	return in->all.n > 0 && !(estimate_is_counted(ESTIMATE_PKTS, in) && estimate_is_counted(ESTIMATE_OCTETS, in));
}

struct note_values *
result_note_port(struct report_result *result, enum note_id id, const struct query_port *port)
{
	struct note_values *item = note_item(result, id);
	char name[REPORT_NAME_TEXT];

	snprintf(name, sizeof(name), "%.*s", REPORT_NAME_TEXT - 1, port->name);
	note_text(item, "agent", port->agent->name);
	note_text(item, "port", name);
	return item;
}

void
result_judge_divided(struct report_result *result, enum note_id id, double part)
{
	if (part > REPORT_ABOUT_PART && note_find(result, id))
		note_count(note_of(result, id), "part", part);
	else
		note_drop(result, id);
}

static void
result_add_uncounted(struct report_result *result, const struct query_port *port)
{
	const struct estimate_stratum *in = query_listed(port);
	struct report_uncounted *uncounted = &result->uncounted;
	struct note_values *partly;

	if (port_is_uncounted(port) || !(in->pool_pkts > 0 || query_listed_cut(port)->pkts > 0))
		uncounted->lost_samples += port->cut_numbers;
	for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
		uncounted->total[u] += estimate_not_counted((enum estimate_unit)u, in);
		uncounted->variance[u] += estimate_not_counted_variance((enum estimate_unit)u, in);
	}
	if (port_is_uncounted(port)) {
		uncounted->n_ports++;
		result_note_port(result, NOTE_ID_UNCOUNTED, port);
	} else if (in->beside[ESTIMATE_PKTS] > 0) {
		partly = result_note_port(result, NOTE_ID_PARTLY, port);
		note_time(partly, "from", port->counted_from_us);
		note_time(partly, "to", port->counted_until_us);
	}
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
		result->total_variance[u] += fmax(0, estimate_total_variance((enum estimate_unit)u, in) + query_listed_cut(port)->untold[u]);
	if (port->is_divided)
		result_note_port(result, NOTE_ID_DIVIDED, port);
	result->from_samples[ESTIMATE_PKTS] += in->all.w;
	result->from_samples[ESTIMATE_OCTETS] += in->all.wb;
	result_add_uncounted(result, port);
}

/* Ports that were silent before the range began, or whose link is down, lack nothing in it. */
static void
name_silent(struct report_result *result, const struct query *query)
{
	for (size_t i = 0; result->counted_to_us > 0 && i < query->n_ports; i++) {
		const struct query_port *port = &query->ports[i];
		struct note_values *silent;

		if (!(port->silent || port->late) || !port->edge || port->counters_us <= result->from_us || port_is_down(port))
			continue;
		silent = result_note_port(result, NOTE_ID_SILENT, port);
		note_time(silent, "counted_to", port->counters_us);
		if (port->late)
			note_count(note_of(result, NOTE_ID_SILENT), "#late", 1);
	}
}

static void
name_egress(struct report_result *result, const struct query *query)
{
	for (size_t i = 0; query->n_sent_agents > 0 && i < query->n_agents; i++) {
		const struct query_agent *agent = &query->agents[i];

		if (agent->chosen && agent->listed == EASE_OUT)
			note_text(note_item(result, NOTE_ID_EGRESS), "", agent->name);
	}
}

/* Ports with samples and no counters, with counters of a part of the range, or with losses that nothing counted. */
static void
sum_uncounted(struct report_result *result)
{
	const struct report_uncounted *uncounted = &result->uncounted;
	struct note_values *note;

	if (uncounted->n_ports == 0 && uncounted->lost_samples == 0 && !note_find(result, NOTE_ID_PARTLY))
		return;
	note_count(note_of(result, NOTE_ID_UNCOUNTED_LOST), "lost_samples", uncounted->lost_samples);
	note = note_of(result, NOTE_ID_UNCOUNTED);
	note_count(note, "packets", round(uncounted->total[ESTIMATE_PKTS]));
	note_count(note, "octets", round(uncounted->total[ESTIMATE_OCTETS]));
}

/* Rates refer to the part of the range from the first to the newest data of the agents asked
 * for. */
void
result_finish(struct report_result *result, const struct query *query)
{
	uint64_t first_us = UINT64_MAX, from_us = result->from_us, to_us = result->to_us;
	enum estimate_unit unit = result->list ? result->list->sort : ESTIMATE_OCTETS;

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
	name_egress(result, query);
	sum_uncounted(result);
	result_judge_divided(result, NOTE_ID_DIVIDED,
	    estimate_deviation(result->total[unit], result->total_variance[unit]));
	if (query->older_us)
		note_time(note_of(result, NOTE_ID_OLDER), "sums_kept_since", result->from_us);
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
	size_t n = result->n_rows;
	struct report_value *values = result->values;

	if ((n & (n - 1)) == 0) { /* at powers of two there is room for no more */
		values = realloc(values, (n > 0 ? 2 * n : 1) * row_size);
		if (!values)
			return NULL;
		result->values = values;
	}
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
	bool whole = notes_are_whole(result);

	for (int i = 0; whole && i < REPORT_N_SUMS; i++)
		whole = row_is_whole(result, result->sums[i].row);
	for (size_t i = 0; whole && i < result->n_rows; i++) {
		whole = row_is_whole(result, result->values + i * result->n_columns);
		if (whole && result->steps && result->steps->within)
			whole = result_is_whole(&result->steps->within[i]);
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
result_leave_out(struct report_result *result, size_t n)
{
	struct note_values *note = n > 0 ? note_of(result, NOTE_ID_LEFT_OUT) : NULL;

	note_count(note, "left_out", n);
	note_count(note, "#top", (result->n_rows + n));
}

size_t
result_cut(struct report_result *result, size_t n_rows)
{
	size_t n = result->n_rows > n_rows ? result->n_rows - n_rows : 0;

	while (result->n_rows > n_rows)
		free_row(result, report_cell(result, --result->n_rows, 0));
	return n;
}

void
report_result_free(struct report_result *result)
{
	for (size_t r = 0; r < result->n_rows; r++)
		free_row(result, report_cell(result, r, 0));
	for (size_t r = 0; result->steps && result->steps->within && r < result->n_rows; r++)
		report_result_free(&result->steps->within[r]);
	for (int i = 0; i < REPORT_N_SUMS; i++) {
		free_row(result, result->sums[i].row);
		free(result->sums[i].row);
	}
	if (result->steps)
		free(result->steps->within);
	if (result->list) {
		free(result->list->changes);
		free(result->list->extremes);
		free(result->list->keys);
	}
	free(result->steps);
	free(result->list);
	free(result->values);
	notes_free(result);
	for (size_t i = 0; i < result->n_counters; i++)
		free(result->counters[i].name);
	free(result->counters);
	if (result->below)
		report_result_free(result->below);
	free(result->below);
	*result = (struct report_result){0};
}

const char *
report_lost_name(unsigned why)
{
	if (why == REPORT_LOST_STALLED)
		return "while skip counters were empty";
	if (why == REPORT_LOST_BEFORE_FIRST)
		return "before a first sample";
	if (why & REPORT_LOST_SAMPLES)
		return why == REPORT_LOST_SAMPLES ? "while samples were lost" : "while samples were lost or none taken";
	return "while none was taken";
}

const char *
report_direction_name(enum report_direction direction)
{
	static const char *const names[] = {
		[REPORT_NOT_SETTLED] = "not settled", [REPORT_UP] = "up", [REPORT_DOWN] = "down"};

	return names[direction];
}
