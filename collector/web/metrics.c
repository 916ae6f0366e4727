/*
 * /metrics: figures for Prometheus in its text format 0.0.4. Names and labels are stable; the unit
 * is bytes, as is Prometheus's custom. The number of series is bounded: ports and the keys of lists
 * by the configuration, agents by the collector's own limits. An estimate has its 95 % limits beside
 * it as NAME_low and NAME_high. Rates are of the last five minutes, because one scrape interval has
 * too few samples. What one part asks may fail or take too long: then the others are there, as are the
 * collector's own counters, and scrape_part_success says what is not.
 */
#include "collector/web/endpoints.h"
#include "common/log.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HTTP_OK = 200 };

#define PREFIX "easeswitch_"

struct metrics {
	FILE *out;
	struct api *api;
	struct query *query;
	uint64_t now_us;
	uint32_t n_ports; /* that have series */
};

/* ---- the format ---- */

static void
put_family(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help, name, type);
}

/* name="value"; the value is a name of query.h, which may be shown: it has no line's end. */
static void
put_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (const char *c = value; *c; c++) {
		if (*c == '"' || *c == '\\')
			putc('\\', out);
		putc(*c, out);
	}
	putc('"', out);
}

static void
metrics_put_value(FILE *out, double value)
{
	fprintf(out, " %.15g\n", value);
}

static void
put_plain(FILE *out, const char *name, const char *type, const char *help, double value)
{
	put_family(out, name, type, help);
	fprintf(out, PREFIX "%s", name);
	metrics_put_value(out, value);
}

/* ---- ports ---- */

static void
put_port_labels(FILE *out, const struct query_port *port)
{
	putc('{', out);
	put_label(out, "agent", port->agent->name);
	put_label(out, ",port", port->name);
	if (port->site)
		put_label(out, ",site", port->site);
	fprintf(out, ",if_index=\"%" PRIu64 "\"", port->if_index);
}

#define TOTAL(member) offsetof(struct query_load, member)

static const struct port_total {
	const char *name, *help; /* NULL: as in the row before */
	const char *cast;	 /* a label; NULL: none */
	size_t offset;
} port_totals[] = {
	{"port_receive_bytes_total", "Octets that the port received, from its counters.", NULL,
	    TOTAL(in_octets)},
	{"port_transmit_bytes_total", "Octets that the port sent, from its counters.", NULL,
	    TOTAL(out_octets)},
	{"port_receive_packets_total", "Frames that the port received, from its counters.", "unicast",
	    TOTAL(in_ucast)},
	{NULL, NULL, "multicast", TOTAL(in_mcast)},
	{NULL, NULL, "broadcast", TOTAL(in_bcast)},
	{"port_transmit_packets_total", "Frames that the port sent, from its counters.", "unicast",
	    TOTAL(out_ucast)},
	{NULL, NULL, "multicast", TOTAL(out_mcast)},
	{NULL, NULL, "broadcast", TOTAL(out_bcast)},
	{"port_receive_errors_total",
	    "Frames that the port received with errors, from its counters.", NULL,
	    TOTAL(in_errors)},
	{"port_transmit_errors_total",
	    "Frames that the port could not send because of errors, from its counters.", NULL,
	    TOTAL(out_errors)},
	{"port_receive_discards_total",
	    "Frames that the port received and discarded, from its counters.", NULL,
	    TOTAL(in_discards)},
	{"port_transmit_discards_total",
	    "Frames that the port discarded instead of sending, from its counters.",
	    NULL, TOTAL(out_discards)},
};
enum { N_PORT_TOTALS = sizeof(port_totals) / sizeof(port_totals[0]) };

static void
put_port_totals(const struct metrics *m, const struct query_load *loads)
{
	const char *name = NULL;

	for (int i = 0; i < N_PORT_TOTALS; i++) {
		const struct port_total *total = &port_totals[i];

		if (total->name) {
			name = total->name;
			put_family(m->out, name, "counter", total->help);
		}
		for (uint32_t p = 0; p < m->n_ports; p++) {
			double value = *(const double *)(const void *)((const char *)&loads[p] +
			    total->offset);

			if (!loads[p].known || isnan(value)) /* its device has no such counter */
				continue;
			fprintf(m->out, PREFIX "%s", name);
			put_port_labels(m->out, &m->query->ports[p]);
			if (total->cast)
				fprintf(m->out, ",cast=\"%s\"", total->cast);
			putc('}', m->out);
			metrics_put_value(m->out, value);
		}
	}
}

static void
put_port_states(const struct metrics *m)
{
	put_family(m->out, "port_info", "gauge", "Name and alias of a port; the value is always 1.");
	for (uint32_t p = 0; p < m->n_ports; p++) {
		fputs(PREFIX "port_info", m->out);
		put_port_labels(m->out, &m->query->ports[p]);
		put_label(m->out, ",alias", m->query->ports[p].alias);
		putc('}', m->out);
		metrics_put_value(m->out, 1);
	}
	put_family(m->out, "port_up", "gauge", "1 if the port is up, else 0.");
	for (uint32_t p = 0; p < m->n_ports; p++) {
		if (m->query->ports[p].oper_status == EASE_IF_STATUS_NOT_KNOWN)
			continue;
		fputs(PREFIX "port_up", m->out);
		put_port_labels(m->out, &m->query->ports[p]);
		putc('}', m->out);
		metrics_put_value(m->out, m->query->ports[p].oper_status == EASE_IF_UP);
	}
	put_family(m->out, "port_speed_bytes_per_second", "gauge", "Speed of the port.");
	for (uint32_t p = 0; p < m->n_ports; p++) {
		if (m->query->ports[p].speed_bps == 0)
			continue;
		fputs(PREFIX "port_speed_bytes_per_second", m->out);
		put_port_labels(m->out, &m->query->ports[p]);
		putc('}', m->out);
		metrics_put_value(m->out, (double)m->query->ports[p].speed_bps / 8);
	}
}

static int
metrics_put_ports(const struct metrics *m)
{
	struct query_load *loads = calloc(m->n_ports + 1, sizeof(*loads));
	int err = loads ? 0 : -ENOMEM;

	for (uint32_t p = 0; err == 0 && p < m->n_ports; p++)
		err = query_counted(m->query, &m->query->ports[p], &loads[p]);
	if (err == 0) {
		put_port_states(m);
		put_port_totals(m, loads);
		put_plain(m->out, "ports", "gauge", "Ports that the collector knows.", (double)m->query->n_ports);
		put_plain(m->out, "ports_left_out", "gauge",
		    "Ports without series in /metrics, because http_metrics_ports limits their number.",
		    (double)(m->query->n_ports - m->n_ports));
	}
	free(loads);
	return err;
}

/* ---- agents ---- */

static void
metrics_put_agent(const struct metrics *m, const char *name, const struct query_agent *agent, double value)
{
	fprintf(m->out, PREFIX "%s", name);
	putc('{', m->out);
	put_label(m->out, "agent", agent->name);
	if (agent->site)
		put_label(m->out, ",site", agent->site);
	putc('}', m->out);
	metrics_put_value(m->out, value);
}

static int
put_reach(const struct metrics *m)
{
	struct report_reach reach;
	int err = query_read_reach(m->query, &reach);

	if (err)
		return err;
	put_family(m->out, "kept_since_timestamp_seconds", "gauge",
	    "Since when the store has samples, and sums of minutes, 5 minutes, hours and days.");
	for (int i = 0; i < REPORT_N_REACH; i++)
		if (reach.since_us[i] > 0) {
			fprintf(m->out, PREFIX "kept_since_timestamp_seconds{what=\"%s\"}", report_reach_names[i]);
			metrics_put_value(m->out, (double)reach.since_us[i] / 1e6);
		}
	return 0;
}

static int
put_agents(const struct metrics *m)
{
	const struct query *query = m->query;

	put_plain(m->out, "agents", "gauge", "Agents that the collector knows.", (double)query->n_agents);
	put_family(m->out, "agent_last_heard_timestamp_seconds", "gauge",
	    "When the agent's last datagram arrived, by the collector's clock.");
	for (size_t a = 0; a < query->n_agents; a++)
		metrics_put_agent(m, "agent_last_heard_timestamp_seconds", &query->agents[a],
		    (double)query->agents[a].last_received_us / 1e6);
	put_family(m->out, "agent_newest_data_timestamp_seconds", "gauge",
	    "Time of the agent's newest data, by its own clock unless that is corrected.");
	for (size_t a = 0; a < query->n_agents; a++)
		metrics_put_agent(m, "agent_newest_data_timestamp_seconds", &query->agents[a],
		    (double)query->agents[a].last_us / 1e6);
	put_family(m->out, "agent_clock_corrected_seconds", "gauge",
	    "What is added to the agent's times, because its clock is wrong; below 0: it is ahead; 0: it is right.");
	for (size_t a = 0; a < query->n_agents; a++)
		metrics_put_agent(m, "agent_clock_corrected_seconds", &query->agents[a],
		    (double)query->agents[a].clock_off_us / 1e6);
	put_family(m->out, "agent_completeness_ratio", "gauge",
	    "Samples received divided by samples taken in the last five minutes; 1: none was lost.");
	for (size_t a = 0; a < query->n_agents; a++) {
		double expected = 0, received = 0;

		for (size_t p = 0; p < query->n_ports; p++)
			if (query->ports[p].agent == &query->agents[a]) {
				expected += (double)query->ports[p].expected;
				received += (double)query->ports[p].received;
			}
		if (expected > 0)
			metrics_put_agent(m, "agent_completeness_ratio", &query->agents[a], received / expected);
	}
	return 0;
}

/* ---- samples and losses ---- */

static size_t
column_named(const struct report_result *result, const char *field)
{
	size_t c = 0;

	while (c < result->n_columns && (!result->columns[c].field || strcmp(result->columns[c].field, field) != 0))
		c++;
	return c;
}

static void
put_samples(const struct metrics *m)
{
	static const struct {
		const char *name, *help;
		size_t at; /* in struct query_losses */
	} families[] = {
		{"samples_expected_total",
		    "Samples taken by the agent since it started.",
		    offsetof(struct query_losses, expected)},
		{"samples_received_total",
		    "Samples of these that were received, without duplicates.",
		    offsetof(struct query_losses, received)},
		{"samples_lost_total", "Samples of these that were lost.",
		    offsetof(struct query_losses, lost)},
		{"samples_lost_in_agent_total", "Lost samples that the agent dropped.",
		    offsetof(struct query_losses, in_agent)},
		{"samples_lost_in_collector_total", "Lost samples that the collector lost, in a crash.",
		    offsetof(struct query_losses, in_collector)},
		{"samples_duplicate_total", "Duplicate samples.",
		    offsetof(struct query_losses, duplicates)},
	};

	for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
		put_family(m->out, families[f].name, "counter", families[f].help);
		for (size_t a = 0; a < m->query->n_agents; a++) {
			double sum;

			memcpy(&sum, (const char *)&m->query->agents[a].losses + families[f].at, sizeof(sum));
			metrics_put_agent(m, families[f].name, &m->query->agents[a], sum);
		}
	}
}

static void
put_places(const struct metrics *m, const struct report_result *places)
{
	size_t place = column_named(places, "place"), count = column_named(places, "count");
	size_t of = column_named(places, "of");

	put_family(m->out, "lost_total", "counter",
	    "Losses by place; label of: samples, datagrams, records or rows.");
	for (size_t r = 0; r < places->n_rows; r++) {
		if (strcmp(report_cell(places, r, of)->text, "outages") == 0 ||
		    strcmp(report_cell(places, r, of)->text, "frames") == 0)
			continue; /* a number of the range; their losses are in another row */
		fputs(PREFIX "lost_total", m->out);
		putc('{', m->out);
		put_label(m->out, "place", report_cell(places, r, place)->text);
		put_label(m->out, ",of", report_cell(places, r, of)->text);
		putc('}', m->out);
		metrics_put_value(m->out, report_cell(places, r, count)->number);
	}
}

static int
put_loss(const struct metrics *m)
{
	struct report_options options = report_default_options();
	struct report_result loss = {0};
	int err;

	options.has_top = true; /* agents have the sums, whatever rows there are */
	options.top = 1;
	err = report_run(report_find("loss"), m->query, &options, m->now_us, &loss);
	if (err == 0) {
		put_samples(m);
		put_places(m, loss.below);
	}
	report_result_free(&loss);
	return err;
}

/* ---- top lists ---- */

static const struct list {
	const char *report, *name, *label, *field, *help;
	enum report_by by;
} lists[] = {
	{"talkers", "source_bytes_per_second", "source", "src",
	    "Traffic received from the source, estimated, last five minutes", REPORT_BY_SRC},
	{"protocols", "protocol_bytes_per_second", "protocol", NULL,
	    "Traffic of the service, estimated, last five minutes", REPORT_BY_SERVICE},
};

/* The named column, or else the first text column with a heading. */
static size_t
label_column(const struct report_result *result, const char *field)
{
	size_t c = 1;

	if (field)
		return column_named(result, field);
	while (result->columns[c].type != REPORT_TEXT || !result->columns[c].heading)
		c++;
	return c;
}

static void
put_list(const struct metrics *m, const struct list *list, const struct report_result *result)
{
	static const struct {
		const char *ending, *what;
		size_t offset;
	} limits[] = {
		{"", "", offsetof(struct estimate_figure, estimate)},
		{"_low", ": lower limit, above the truth at one scrape in a million",
		    offsetof(struct estimate_figure, low)},
		{"_high", ": upper limit, below the truth at one scrape in a million",
		    offsetof(struct estimate_figure, high)},
	};
	size_t label = label_column(result, list->field);
	char name[64], help[160];

	for (size_t l = 0; l < sizeof(limits) / sizeof(limits[0]); l++) {
		snprintf(name, sizeof(name), "%s%s", list->name, limits[l].ending);
		snprintf(help, sizeof(help), "%s%s.", list->help, limits[l].what);
		put_family(m->out, name, "gauge", help);
		for (size_t r = 0; result->seconds > 0 && r < result->n_rows; r++) {
			const char *figure = (const char *)&result->list->extremes[r].alarm[ESTIMATE_OCTETS];

			fprintf(m->out, PREFIX "%s{", name);
			put_label(m->out, list->label, report_cell(result, r, label)->text);
			putc('}', m->out);
			metrics_put_value(m->out, *(const double *)(const void *)
			    (figure + limits[l].offset) / result->seconds);
		}
	}
}

/* The totals, once, with the first list. */
static void
put_totals(const struct metrics *m, const struct report_result *result)
{
	double uncounted = result->uncounted.total[ESTIMATE_OCTETS];

	if (result->seconds > 0)
		put_plain(m->out, "counted_bytes_per_second", "gauge",
		    "Traffic received at edge ports, from counters, last five minutes.",
		    (result->total[ESTIMATE_OCTETS] - uncounted) / result->seconds);
	if (result->seconds > 0)
		put_plain(m->out, "uncounted_bytes_per_second", "gauge",
		    "Traffic received at edge ports that send no counters, by samples alone, last five minutes.",
		    uncounted / result->seconds);
	if (result->counted_to_us > 0)
		put_plain(m->out, "counted_to_timestamp_seconds", "gauge",
		    "The end of the last five minutes: what all edge ports have counted up to.",
		    (double)result->counted_to_us / 1e6);
	if (result->expected > 0)
		put_plain(m->out, "completeness_ratio", "gauge",
		    "Samples received divided by samples taken at edge ports, last five minutes.",
		    (double)result->samples / (double)result->expected);
}

static int
put_top(const struct metrics *m, const struct list *list)
{
	struct report_options options = report_default_options();
	struct report_result result = {0};
	int err;

	if (m->api->config->metrics_top == 0)
		return 0;
	options.by = list->by;
	options.top = m->api->config->metrics_top;
	options.wants_alarm = true;
	err = report_run(report_find(list->report), m->query, &options, m->now_us, &result);
	if (err == 0 && list == lists)
		put_totals(m, &result);
	if (err == 0)
		put_list(m, list, &result);
	report_result_free(&result);
	return err;
}

static int
put_sources(const struct metrics *m)
{
	return put_top(m, &lists[0]);
}

static int
put_protocols(const struct metrics *m)
{
	return put_top(m, &lists[1]);
}

/* ---- discarded packets ---- */

static const char *
metrics_text_of(const struct report_result *result, size_t row, const char *field)
{
	const struct report_value *value = report_cell(result, row, column_named(result, field));

	return value->known ? value->text : "";
}

static void
put_drops_by_reason(const struct metrics *m, const struct report_result *result)
{
	size_t packets = column_named(result, "packets");

	put_family(m->out, "dropped_packets", "gauge",
	    "Packets that switches discarded and reported, by reason, last five minutes.");
	for (size_t r = 0; r < result->n_rows; r++) {
		fprintf(m->out, PREFIX "dropped_packets{");
		put_label(m->out, "reason", metrics_text_of(result, r, "reason"));
		put_label(m->out, ",detail", metrics_text_of(result, r, "detail"));
		putc('}', m->out);
		metrics_put_value(m->out, report_cell(result, r, packets)->number);
	}
}

/* Of each port; the line of all ports of an agent has no ifIndex. */
static void
put_drops_by_port(const struct metrics *m, const struct report_result *ports)
{
	static const struct {
		const char *name, *field, *help;
	} families[] = {
		{"port_dropped_packets", "explained", "Packets of the port that its switch discarded and reported, last five minutes."},
		{"port_drops_not_sent", "not_sent", "Discarded packets that the switch did not report, last five minutes."},
		{"port_drops_not_counted", "not_counted",
		    "Packets that the switch reported as discarded and no counter of the port has, last five minutes."},
		{"port_drops_unexplained", "unexplained",
		    "Packets that the port counted as discarded and nothing explains, last five minutes."},
	};
	size_t if_index = column_named(ports, "if_index");

	for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
		size_t column = column_named(ports, families[f].field);

		put_family(m->out, families[f].name, "gauge", families[f].help);
		for (size_t r = 0; r < ports->n_rows && r < m->api->config->metrics_ports; r++) {
			if (!report_cell(ports, r, if_index)->known || !report_cell(ports, r, column)->known)
				continue;
			fprintf(m->out, PREFIX "%s{", families[f].name);
			put_label(m->out, "agent", metrics_text_of(ports, r, "agent"));
			put_label(m->out, ",port", metrics_text_of(ports, r, "port"));
			fprintf(m->out, ",if_index=\"%.0f\"}", report_cell(ports, r, if_index)->number);
			metrics_put_value(m->out, report_cell(ports, r, column)->number);
		}
	}
}

static int
put_drops(const struct metrics *m)
{
	struct report_options options = report_default_options();
	struct report_result result = {0};
	int err;

	options.by = REPORT_BY_REASON;
	options.top = m->api->config->metrics_top;
	err = report_run(report_find("drops"), m->query, &options, m->now_us, &result);
	if (err == 0) {
		put_drops_by_reason(m, &result);
		put_drops_by_port(m, result.below);
	}
	report_result_free(&result);
	return err;
}

/* ---- alarms ---- */

enum { ALARM_SERIES = 100 };

static int
put_alarms(const struct metrics *m)
{
	struct report_options options = report_default_options();
	struct report_result result = {0};
	size_t standing = 0;
	int err;

	options.has_top = true;
	options.top = UINT32_MAX;
	err = report_run(report_find("alarms"), m->query, &options, m->now_us, &result);
	if (err == 0)
		put_family(m->out, "alarm", "gauge", "An alarm that stands; the value is always 1. At most 100, the newest.");
	for (size_t r = 0; err == 0 && r < result.n_rows; r++) {
		if (strcmp(metrics_text_of(&result, r, "state"), "stands") != 0 || standing++ >= ALARM_SERIES)
			continue;
		fputs(PREFIX "alarm{", m->out);
		put_label(m->out, "rule", metrics_text_of(&result, r, "rule"));
		put_label(m->out, ",key", metrics_text_of(&result, r, "key"));
		put_label(m->out, ",agent", metrics_text_of(&result, r, "agent"));
		put_label(m->out, ",port", metrics_text_of(&result, r, "port"));
		putc('}', m->out);
		metrics_put_value(m->out, 1);
	}
	if (err == 0)
		put_plain(m->out, "alarms_standing", "gauge", "Alarms that stand.", (double)standing);
	report_result_free(&result);
	return err;
}

/* ---- delays ---- */

static const struct quantile {
	const char *name, *help; /* NULL: as in the row before */
	const char *field, *quantile;
	double scale;
} delays[] = {
	{"port_delay_seconds", "How long frames that left the port took through the switch, last five minutes", "median_ns", "0.5", 1e-9},
	{NULL, NULL, "p95_ns", "0.95", 1e-9},
	{NULL, NULL, "p99_ns", "0.99", 1e-9},
}, depths[] = {
	{"port_queue_depth_bytes", "What waited in queues of the port when frames came to them, last five minutes", "median_octets",
	    "0.5", 1},
	{NULL, NULL, "p95_octets", "0.95", 1},
	{NULL, NULL, "p99_octets", "0.99", 1},
};
enum { N_DELAY_QUANTILES = sizeof(delays) / sizeof(delays[0]) };

static void
metrics_put_quantile(const struct metrics *m, const struct report_result *ports, size_t r, const char *name, const struct quantile *q,
    size_t figure_at)
{
	const struct report_value *value = report_cell(ports, r, column_named(ports, q->field));
	const struct report_value *if_index = report_cell(ports, r, column_named(ports, "out_if_index"));
	double number = *(const double *)(const void *)((const char *)&value->figure + figure_at);

	if (!value->known || isnan(number) || !if_index->known)
		return;
	fprintf(m->out, PREFIX "%s{", name);
	put_label(m->out, "agent", metrics_text_of(ports, r, "agent"));
	put_label(m->out, ",port", metrics_text_of(ports, r, "out"));
	fprintf(m->out, ",if_index=\"%.0f\",quantile=\"%s\"}", if_index->number, q->quantile);
	metrics_put_value(m->out, number * q->scale);
}

/* What samples are too few to tell is not there. */
static void
put_quantiles(const struct metrics *m, const struct report_result *ports, const struct quantile quantiles[N_DELAY_QUANTILES])
{
	static const struct {
		const char *ending, *what;
		size_t at;
	} limits[] = {
		{"", "", offsetof(struct estimate_figure, estimate)},
		{"_low", ": lower limit (97.5 %)", offsetof(struct estimate_figure, low)},
		{"_high", ": upper limit (97.5 %)", offsetof(struct estimate_figure, high)},
	};
	char name[64], help[160];

	for (size_t l = 0; l < sizeof(limits) / sizeof(limits[0]); l++) {
		snprintf(name, sizeof(name), "%s%s", quantiles->name, limits[l].ending);
		snprintf(help, sizeof(help), "%s%s.", quantiles->help, limits[l].what);
		put_family(m->out, name, "gauge", help);
		for (size_t r = 0; r < ports->n_rows; r++)
			for (int q = 0; q < N_DELAY_QUANTILES; q++)
				metrics_put_quantile(m, ports, r, name, &quantiles[q], limits[l].at);
	}
}

static int
put_delay(const struct metrics *m)
{
	struct report_options options = report_default_options();
	struct report_result result = {0};
	int err;

	options.by = REPORT_BY_PORT;
	options.top = m->api->config->metrics_ports;
	err = report_run(report_find("delay"), m->query, &options, m->now_us, &result);
	if (err == 0) {
		put_quantiles(m, &result, delays);
		put_quantiles(m, result.below, depths);
	}
	report_result_free(&result);
	return err;
}

/* ---- links ---- */

static const struct link_family {
	const char *name, *field, *help;
} link_families[] = {
	{"link_disagrees", "disagrees", "1 if what the two ends of a link count or sample does not agree, one way, last five minutes; else 0."},
	{"link_missing_packets", "missing", "Frames that one end of a link sent and the other neither received nor counted as bad, last five minutes."},
	{"link_bad_packets", "errors", "Frames that came broken to the port at which a link ends, last five minutes."},
};

static void
put_link(const struct metrics *m, const struct report_result *links, size_t r, const struct link_family *family)
{
	const struct report_value *value = report_cell(links, r, column_named(links, family->field));

	if (!value->known || isnan(value->number))
		return;
	fprintf(m->out, PREFIX "%s{", family->name);
	put_label(m->out, "agent", metrics_text_of(links, r, "to_agent"));
	put_label(m->out, ",port", metrics_text_of(links, r, "to_port"));
	put_label(m->out, ",from_agent", metrics_text_of(links, r, "from_agent"));
	put_label(m->out, ",from_port", metrics_text_of(links, r, "from_port"));
	putc('}', m->out);
	metrics_put_value(m->out, value->number);
}

/* A way of a link is a port that receives, so there are no more of them than of ports; those of links that disagree come first. */
static int
put_links(const struct metrics *m)
{
	struct report_options options = report_default_options();
	struct report_result result = {0};
	int err;

	options.has_top = true;
	options.top = m->api->config->metrics_ports;
	err = report_run(report_find("links"), m->query, &options, m->now_us, &result);
	for (size_t f = 0; err == 0 && f < sizeof(link_families) / sizeof(link_families[0]); f++) {
		put_family(m->out, link_families[f].name, "gauge", link_families[f].help);
		for (size_t r = 0; r < result.n_rows; r++)
			put_link(m, &result, r, &link_families[f]);
	}
	report_result_free(&result);
	return err;
}

/* ---- the collector ---- */

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), n_end = strlen(end);

	return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

/* "input.records" becomes collector_input_records_total; "ship.lag_s" can decrease and becomes the
 * gauge collector_ship_lag_seconds, and so does what is in microseconds ("_us"). The counter without a room is the start
 * time, see below. */
static void
put_counter(const struct metrics *m, const struct stat_set *set, unsigned i)
{
	bool is_us = ends_with(set->names[i].name, "_us"), is_gauge = is_us || ends_with(set->names[i].name, "_s");
	int unit = is_us ? 3 : is_gauge ? 2 : 0;
	char name[128];

	if (!strchr(set->names[i].name, '.'))
		return;
	snprintf(name, sizeof(name), "collector_%.*s%s", (int)strlen(set->names[i].name) - unit, set->names[i].name,
	    is_gauge ? "_seconds" : "_total");
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	put_plain(m->out, name, is_gauge ? "gauge" : "counter", set->names[i].help,
	    (double)stat_get(set, i) / (is_us ? 1e6 : 1));
}

static void
put_counters(const struct metrics *m)
{
	const struct api *api = m->api;

	for (size_t s = 0; s < api_n_stats(api); s++)
		for (unsigned i = 0; i < api_stats(api, s)->n; i++)
			put_counter(m, api_stats(api, s), i);
	put_plain(m->out, "collector_start_time_seconds", "gauge", "When this collector started.",
	    (double)api->config->started_us / 1e6);
	put_family(m->out, "build_info", "gauge", "Version of the program; the value is always 1.");
	fprintf(m->out, PREFIX "build_info{version=\"%s\"} 1\n", EASE_VERSION);
}

/* ---- parts ---- */

/* The ports and their sums in the last five minutes, which agents and ports need. */
static int
begin_metrics(struct metrics *m)
{
	const struct report_options options = report_default_options();
	int err = query_begin(m->query, &options, m->now_us);

	if (err == 0)
		err = query_windows(m->query);
	m->n_ports = m->api->config->metrics_ports;
	if (m->n_ports > m->query->n_ports)
		m->n_ports = (uint32_t)m->query->n_ports;
	return err;
}

/* In the order in which they may use up the time of a question. Agents and ports are of one range, see begin. */
static const struct part {
	const char *name;
	int (*put)(const struct metrics *m);
} parts[] = {
	{"agents", put_agents}, {"ports", metrics_put_ports}, {"kept", put_reach}, {"loss", put_loss}, {"sources", put_sources},
	{"protocols", put_protocols}, {"drops", put_drops}, {"alarms", put_alarms}, {"delay", put_delay}, {"links", put_links},
};
enum { N_PARTS = sizeof(parts) / sizeof(parts[0]), N_OF_RANGE = 3 };

/* Writes a part as a whole or, if it fails, nothing of it. */
static int
metrics_put_part(const struct metrics *m, const struct part *part)
{
	struct metrics own = *m;
	char *text = NULL;
	size_t size = 0;
	int err;

	own.out = open_memstream(&text, &size);
	if (!own.out)
		return -ENOMEM;
	err = part->put(&own);
	if (fclose(own.out) != 0 && err == 0)
		err = -ENOMEM;
	if (err == 0 && fwrite(text, 1, size, m->out) != size)
		err = -ENOMEM;
	free(text);
	return err;
}

static void
tell_failed(const struct metrics *m, const char *part, int err)
{
	stat_add(m->api->stats, err == -ETIMEDOUT ? WEB_STAT_TOO_LONG : WEB_STAT_FAILED, 1);
	if (m->query->is_damaged)
		api_note_damage(m->api, m->query->inode);
	log_warn_limited("web", "/metrics lacks its part %s: %s", part,
	    *m->query->error ? m->query->error : strerror(-err));
}

static int
write_metrics(FILE *out, const void *arg)
{
	struct metrics m = *(const struct metrics *)arg;
	int began = begin_metrics(&m), failed[N_PARTS];

	m.out = out;
	put_counters(&m);
	for (int p = 0; p < N_PARTS; p++) {
		failed[p] = p < N_OF_RANGE && began ? began : metrics_put_part(&m, &parts[p]);
		if (failed[p])
			tell_failed(&m, parts[p].name, failed[p]);
	}
	put_family(out, "scrape_part_success", "gauge",
	    "1 if a part of /metrics is here, 0 if its question failed or took too long; see the collector's log.");
	for (int p = 0; p < N_PARTS; p++)
		fprintf(out, PREFIX "scrape_part_success{part=\"%s\"} %d\n", parts[p].name, failed[p] == 0);
	return 0;
}

void
endpoint_metrics(struct api *api, struct reply *reply)
{
	struct metrics m = {
	    .api = api,
	    .query = api_open_own(api, reply),
	    .now_us = clock_wall_us(api->config->clock),
	};
	int err;

	if (!m.query)
		return;
	err = api_write(reply, write_metrics, &m);
	reply->status = HTTP_OK;
	reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
	if (err)
		api_failed(api, m.query, err, reply);
	query_close(m.query);
}
