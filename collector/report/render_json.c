#include "collector/report/render.h"

#include "common/clock.h"
#include "common/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

enum { SIGNIFICANT_DIGITS = 12 };

/* An object with one member more, an array with one element more; NULL if memory is short, and then
 * whatever is added to that is NULL too: a result is whole, or it is none. */
static json_t *
with(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value) == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *
append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) == 0)
		return array;
	json_decref(array);
	return NULL;
}

/* Whole numbers are integers in JSON too. */
static json_t *
number_json(double number)
{
	if (!isfinite(number))
		return json_null();
	if (number == floor(number) && fabs(number) < 9e15)
		return json_integer((json_int_t)number);
	return json_real(number);
}

static json_t *
time_json(uint64_t time_us)
{
	char text[CLOCK_RFC3339_MAX];

	clock_format_rfc3339(time_us, text, sizeof(text));
	return json_string(text);
}

static json_t *
figure_json(const struct estimate_figure *figure)
{
	return json_pack("{s:f, s:f, s:f}", "estimate", figure->estimate, "low", figure->low,
	    "high", figure->high);
}

static json_t *
text_json(const char *text)
{
	char *shown = utf8_printable_copy(text);
	json_t *string = shown ? json_string(shown) : NULL;

	free(shown);
	return string;
}

static json_t *
value_json(enum report_type type, const struct report_value *value)
{
	if (!value->known)
		return json_null();
	switch (type) {
	case REPORT_TEXT:
		return text_json(value->text);
	case REPORT_PKTS:
	case REPORT_OCTETS:
	case REPORT_SHARE:
		return figure_json(&value->figure);
	case REPORT_RANK:
		return json_pack("[i, i]", (int)value->rank.low, (int)value->rank.high);
	case REPORT_TIME:
		return time_json(value->time_us);
	default:
		return number_json(value->number);
	}
}

static json_t *
row_json(const struct report_result *result, const struct report_value *row)
{
	json_t *object = json_object();

	for (size_t c = 0; c < result->n_columns; c++)
		if (result->columns[c].field)
			object = with(object, result->columns[c].field,
			    value_json(result->columns[c].type, &row[c]));
	return object;
}

/* Only what a sum of keys has: no address, no rank. */
static json_t *
sum_row_json(const struct report_result *result, const struct report_value *row)
{
	json_t *object = json_object();

	for (size_t c = 0; c < result->n_columns; c++)
		if (result->columns[c].field && row[c].known)
			object = with(object, result->columns[c].field,
			    value_json(result->columns[c].type, &row[c]));
	return object;
}

static json_t *
others_json(const struct report_result *result)
{
	json_t *object = sum_row_json(result, result->others);

	object = with(object, "keys", json_integer((json_int_t)result->n_others));
	return object;
}

static json_t *
rest_json(const struct report_result *result)
{
	json_t *object = sum_row_json(result, result->rest);

	object = with(object, "name", json_string(result->rest_name));
	if (result->rest_has_inner)
		object = with(object, "has_inner", json_true());
	return object;
}

enum { ACCOUNT_ESTIMATED = 4, ACCOUNT_LINES = ACCOUNT_ESTIMATED + 2 };

/* One unit of the account in whole frames or octets, whose sum is what was counted: each line rounded, and the
 * largest takes the remainder. */
static void
round_account(const struct report_result *result, int unit, double lines[ACCOUNT_LINES])
{
	const struct report_account *a = &result->account;
	const double exact[ACCOUNT_LINES] = {a->rows[unit].estimate, a->others[unit].estimate,
		a->not_seen[unit].estimate, a->rest[unit].estimate, a->no_sample[unit],
		result->lost[unit]};
	double left = round(result->total[unit]);
	int largest = 0;

	for (int i = 0; i < ACCOUNT_LINES; i++) {
		lines[i] = round(exact[i]);
		left -= lines[i];
		if (exact[i] > exact[largest])
			largest = i;
	}
	lines[largest] += left;
}

static json_t *
account_line_json(const struct estimate_figure figures[2], const double estimate[2])
{
	json_t *object = json_object();

	for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
		struct estimate_figure f = figures[u];

		f.estimate = estimate[u];
		f.low = fmin(f.low, f.estimate);
		f.high = fmax(f.high, f.estimate);
		object = with(object, u == ESTIMATE_PKTS ? "packets" : "octets", figure_json(&f));
	}
	return object;
}

static json_t *
counted_line_json(double lines[ESTIMATE_N_UNITS][ACCOUNT_LINES], int i)
{
	json_t *object = with(json_object(), "packets", number_json(lines[ESTIMATE_PKTS][i]));

	return with(object, "octets", number_json(lines[ESTIMATE_OCTETS][i]));
}

static json_t *
account_json(const struct report_result *result)
{
	const struct report_account *a = &result->account;
	static const char *const names[ACCOUNT_ESTIMATED] = {"rows", "others", "not_seen", "rest"};
	const struct estimate_figure *const figures[ACCOUNT_ESTIMATED] = {a->rows, a->others, a->not_seen, a->rest};
	double lines[ESTIMATE_N_UNITS][ACCOUNT_LINES];
	json_t *object = json_object(), *no_sample, *lost;

	for (int u = 0; u < ESTIMATE_N_UNITS; u++)
		round_account(result, u, lines[u]);
	for (int i = 0; i < ACCOUNT_ESTIMATED; i++) {
		const double estimate[2] = {lines[ESTIMATE_PKTS][i], lines[ESTIMATE_OCTETS][i]};

		object = with(object, names[i], account_line_json(figures[i], estimate));
	}
	no_sample = counted_line_json(lines, ACCOUNT_ESTIMATED);
	no_sample = with(no_sample, "ports", json_integer((json_int_t)a->ports_without_sample));
	lost = counted_line_json(lines, ACCOUNT_ESTIMATED + 1);
	if (result->uncounted.lost_samples > 0) /* which no frames stand for */
		lost = with(lost, "uncounted_samples", json_integer((json_int_t)result->uncounted.lost_samples));
	return with(with(object, "no_sample", no_sample), "lost", lost);
}

static json_t *
add_key_fields(const struct report_result *result, json_t *object)
{
	if (result->has_account)
		object = with(object, "account", account_json(result));
	if (result->others)
		object = with(object, "others", others_json(result));
	if (result->rest)
		object = with(object, "rest", rest_json(result));
	if (result->not_seen)
		object = with(object, "not_seen", sum_row_json(result, result->not_seen));
	if (result->no_sample)
		object = with(object, "no_sample", with(sum_row_json(result, result->no_sample), "ports",
		    json_integer((json_int_t)result->account.ports_without_sample)));
	if (result->lost_row)
		object = with(object, "lost", with(sum_row_json(result, result->lost_row), "name",
		    json_string(report_lost_name(result->lost_why))));
	object = with(object, "folded_samples", json_integer((json_int_t)result->folded));
	object = with(object, "folded_samples_one_key_high",
	    json_integer((json_int_t)result->folded_most));
	object = with(object, "unseen_packets_high", number_json(result->unseen_pkts));
	object = with(object, "unseen", json_string(result->unseen));
	if (result->n_wide > 0) {
		object = with(object, "wide_rows", json_integer((json_int_t)result->n_wide));
		object = with(object, "hiding_port", json_string(result->hiding_port));
		object = with(object, "hiding_skip", number_json(result->hiding_skip));
	}
	return with(object, "mean_skip", number_json(result->mean_skip));
}

static json_t *
reach_json(const struct report_reach *reach)
{
	json_t *object = json_object();

	for (int i = 0; i < REPORT_N_REACH; i++)
		object = with(object, report_reach_names[i],
		    reach->since_us[i] > 0 ? time_json(reach->since_us[i]) : json_null());
	return object;
}

static json_t *
counters_json(const struct report_result *result)
{
	json_t *object = json_object();

	for (size_t i = 0; i < result->n_counters; i++)
		object = with(object, result->counters[i].name,
		    json_integer((json_int_t)result->counters[i].value));
	return object;
}

static json_t *
total_limits_json(const struct report_result *result, enum estimate_unit unit)
{
	double total = result->total[unit];
	double part = estimate_deviation(total, result->total_variance[unit] + result->uncounted.variance[unit]);
	json_t *object = with(json_object(), "low", number_json(total * (1 - fmin(1, part))));

	return with(object, "high", number_json(total * (1 + part)));
}

static json_t *
totals_json(const struct report_result *result)
{
	json_t *object = json_object();

	object = with(object, "packets", number_json(round(result->total[ESTIMATE_PKTS])));
	object = with(object, "octets", number_json(round(result->total[ESTIMATE_OCTETS])));
	if (result->total_variance[ESTIMATE_OCTETS] + result->uncounted.variance[ESTIMATE_OCTETS] > 0) {
		object = with(object, "packets_limits", total_limits_json(result, ESTIMATE_PKTS));
		object = with(object, "octets_limits", total_limits_json(result, ESTIMATE_OCTETS));
	}
	object = with(object, "packets_by_samples",
	    number_json(round(result->from_samples[ESTIMATE_PKTS])));
	object = with(object, "octets_by_samples",
	    number_json(round(result->from_samples[ESTIMATE_OCTETS])));
	return object;
}

static json_t *
add_change(json_t *object, const struct report_change *change)
{
	object = with(object, "before",
	    change->known ? figure_json(&change->before) : json_null());
	return with(object, "change", json_string(report_direction_name(change->direction)));
}

/* How keys share a row: only what a step has of them. */
static json_t *
add_within(json_t *object, const struct report_result *within)
{
	json_t *rows = json_array();

	for (size_t r = 0; r < within->n_rows; r++)
		rows = append(rows, sum_row_json(within, report_cell(within, r, 0)));
	object = with(object, within->report, rows);
	if (within->total_variance[ESTIMATE_OCTETS] > 0) {
		object = with(object, "packets_limits", total_limits_json(within, ESTIMATE_PKTS));
		object = with(object, "octets_limits", total_limits_json(within, ESTIMATE_OCTETS));
	}
	if (within->others)
		object = with(object, "others", sum_row_json(within, within->others));
	return object;
}

static json_t *
rows_json(const struct report_result *result)
{
	json_t *rows = json_array();

	for (size_t r = 0; r < result->n_rows; r++) {
		json_t *row = row_json(result, report_cell(result, r, 0));

		if (result->changes)
			row = add_change(row, &result->changes[r]);
		if (result->within)
			row = add_within(row, &result->within[r]);
		rows = append(rows, row);
	}
	return rows;
}

static json_t *
silent_json(const struct report_result *result)
{
	json_t *ports = json_array();

	for (size_t i = 0; i < result->n_silent && i < REPORT_SILENT_NAMED; i++) {
		json_t *port = json_object();

		port = with(port, "agent", text_json(result->silent[i].agent));
		port = with(port, "port", text_json(result->silent[i].port));
		port = with(port, "counted_to", time_json(result->silent[i].newest_us));
		ports = append(ports, port);
	}
	return ports;
}

/* How many there are, and the first of them. */
static json_t *
some_ports_json(size_t n, const struct report_port_name names[REPORT_UNCOUNTED_NAMED])
{
	json_t *ports = json_array(), *object = json_object();

	for (size_t i = 0; i < n && i < REPORT_UNCOUNTED_NAMED; i++) {
		json_t *port = with(json_object(), "agent", text_json(names[i].agent));

		ports = append(ports, with(port, "port", text_json(names[i].port)));
	}
	object = with(object, "n_ports", json_integer((json_int_t)n));
	return with(object, "ports", ports);
}

static json_t *
divided_json(const struct report_result *result)
{
	json_t *object = some_ports_json(result->divided.n_ports, result->divided.ports);

	return with(object, "part", number_json(report_about_part(result)));
}

static json_t *
egress_json(const struct report_egress *egress)
{
	json_t *agents = json_array(), *object = json_object();

	for (size_t i = 0; i < egress->n_agents && i < REPORT_UNCOUNTED_NAMED; i++)
		agents = append(agents, text_json(egress->agents[i]));
	object = with(object, "n_agents", json_integer((json_int_t)egress->n_agents));
	return with(object, "agents", agents);
}

static json_t *
audited_json(const struct report_audited *audited)
{
	json_t *ports = json_array(), *object = json_object();

	for (size_t i = 0; i < audited->n_ports && i < REPORT_UNCOUNTED_NAMED; i++) {
		json_t *port = with(json_object(), "agent", text_json(audited->ports[i].name.agent));

		port = with(port, "port", text_json(audited->ports[i].name.port));
		ports = append(ports, with(port, "says", json_string(audited->ports[i].says)));
	}
	object = with(object, "n_ports", json_integer((json_int_t)audited->n_ports));
	return with(object, "ports", ports);
}

static json_t *
partly_json(const struct report_uncounted *uncounted)
{
	json_t *ports = json_array(), *object = json_object();

	for (size_t i = 0; i < uncounted->n_partly && i < REPORT_UNCOUNTED_NAMED; i++) {
		const struct report_partly *partly = &uncounted->partly[i];
		json_t *port = with(json_object(), "agent", text_json(partly->name.agent));

		port = with(port, "port", text_json(partly->name.port));
		port = with(port, "from", partly->from_us > 0 ? time_json(partly->from_us) : json_null());
		port = with(port, "to", partly->until_us > 0 ? time_json(partly->until_us) : json_null());
		ports = append(ports, port);
	}
	object = with(object, "n_ports", json_integer((json_int_t)uncounted->n_partly));
	return with(object, "ports", ports);
}

static json_t *
uncounted_json(const struct report_result *result)
{
	const struct report_uncounted *uncounted = &result->uncounted;
	json_t *object = some_ports_json(uncounted->n_ports, uncounted->ports);

	if (uncounted->n_partly > 0)
		object = with(object, "partly", partly_json(uncounted));
	object = with(object, "packets", number_json(round(uncounted->total[ESTIMATE_PKTS])));
	object = with(object, "octets", number_json(round(uncounted->total[ESTIMATE_OCTETS])));
	object = with(object, "lost_samples", json_integer((json_int_t)uncounted->lost_samples));
	if (result->has_keys)
		object = with(object, "rows", json_integer((json_int_t)uncounted->n_rows));
	return object;
}

static json_t *
disagreement_json(const struct report_disagreement *d)
{
	json_t *object = with(json_object(), "octets_counted", number_json(round(d->counted)));

	return with(object, "octets_by_samples", number_json(round(d->by_samples)));
}

static json_t *
lost_by_load_json(const struct report_result *result)
{
	json_t *places = json_array();

	for (size_t i = 0; i < result->n_lost_by_load && i < REPORT_UNCOUNTED_NAMED; i++) {
		const struct report_lost_by_load *lost = &result->lost_by_load[i];
		json_t *place = with(json_object(), "agent", text_json(lost->name.agent));

		place = with(place, "port", *lost->name.port ? text_json(lost->name.port) : json_null());
		place = with(place, "lost_quiet_percent", number_json(100 * lost->quiet));
		places = append(places, with(place, "lost_busy_percent", number_json(100 * lost->busy)));
	}
	return places;
}

static json_t *
result_json(const struct report_result *result)
{
	json_t *object = json_object();

	object = with(object, "report", json_string(result->report));
	object = with(object, "from", time_json(result->from_us));
	object = with(object, "to", time_json(result->to_us));
	object = with(object, "seconds", number_json(result->seconds));
	object = with(object, "empty", json_boolean(result->empty));
	object = with(object, "newest",
	    result->newest_us ? time_json(result->newest_us) : json_null());
	if (result->counted_to_us > 0)
		object = with(object, "counted_to", time_json(result->counted_to_us));
	if (result->uncounted.n_ports > 0 || result->uncounted.n_partly > 0 || result->uncounted.lost_samples > 0)
		object = with(object, "uncounted", uncounted_json(result));
	if (result->disagreement.found)
		object = with(object, "disagreement", disagreement_json(&result->disagreement));
	if (result->n_lost_by_load > 0)
		object = with(object, "lost_by_load", lost_by_load_json(result));
	if (result->egress.n_agents > 0)
		object = with(object, "sampled_on_egress", egress_json(&result->egress));
	if (result->audited.n_ports > 0)
		object = with(object, "audit", audited_json(&result->audited));
	if (result->n_silent > 0)
		object = with(object, "silent", silent_json(result));
	object = with(object, "completeness", result->expected
	    ? json_real((double)result->samples / (double)result->expected) : json_null());
	object = with(object, "samples", json_integer((json_int_t)result->samples));
	object = with(object, "expected", json_integer((json_int_t)result->expected));
	object = with(object, "totals", totals_json(result));
	if (result->step_us > 0)
		object = with(object, "step", number_json((double)result->step_us / 1e6));
	if (result->coarse.n_ports > 0)
		object = with(object, "coarse", some_ports_json(result->coarse.n_ports, result->coarse.ports));
	if (report_about_part(result) > 0)
		object = with(object, "divided", divided_json(result));
	object = with(object, "rows", rows_json(result));
	if (result->n_left_out > 0)
		object = with(object, "left_out",
		    json_integer((json_int_t)result->n_left_out));
	if (result->warn > 0)
		object = with(object, "warned", json_integer((json_int_t)result->n_warned));
	for (const struct report_result *below = result->below; below; below = below->below)
		object = with(object, below->report, rows_json(below));
	if (result->has_keys)
		object = add_key_fields(result, object);
	if (result->filter)
		object = with(object, "filter", text_json(result->filter));
	if (result->answered_from)
		object = with(object, "answered_from", json_string(result->answered_from));
	if (result->older_us)
		object = with(object, "sums_kept_since", time_json(result->from_us));
	if (result->kept_since_us)
		object = with(object, "samples_kept_since", time_json(result->kept_since_us));
	if (*result->work)
		object = with(object, "store_work", json_pack("{ss sI sI}", "work",
		    result->work, "done", (json_int_t)result->work_done, "total",
		    (json_int_t)result->work_total));
	if (result->cluster_lag_s > 0)
		object = with(object, "cluster_lag_s",
		    json_integer((json_int_t)result->cluster_lag_s));
	if (result->has_reach)
		object = with(object, "kept_since", reach_json(&result->reach));
	if (result->n_counters > 0)
		object = with(object, "collector", counters_json(result));
	return object;
}

int
render_json(FILE *out, const struct report_result *result, const struct render_options *options)
{
	json_t *object = result_json(result);
	int err;

	(void)options; /* times are UTC */
	if (!object)
		return -ENOMEM;
	err = json_dumpf(object, out, JSON_COMPACT | JSON_PRESERVE_ORDER |
	    JSON_REAL_PRECISION(SIGNIFICANT_DIGITS)) == 0 && putc('\n', out) != EOF ? 0 : -EIO;
	json_decref(object);
	return err;
}
