#include "collector/report/render.h"

#include "collector/report/number_format.h"
#include "collector/report/table.h"
#include "common/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	BAR_WIDTH = 20,
	ENOUGH_SAMPLES = 100, /* the largest key is then known to about 20 % */
	LONG_TEXT = 2 * NUMBER_TEXT,
};

#define STARTED "started_us" /* the collector's start, beside its counters (schema.h) */

static bool
is_figure(enum report_type type)
{
	return type == REPORT_PKTS || type == REPORT_OCTETS;
}

static bool
is_shown(const struct report_result *result, size_t column)
{
	return result->columns[column].heading && !(result->hidden >> column & 1);
}

/* A figure is a count over the range; text shows rates. */
static double
rate_factor(const struct report_result *result, enum report_type type)
{
	return (type == REPORT_OCTETS ? 8 : 1) / result->seconds;
}

/* ---- cells ---- */

static void
format_rank(const struct estimate_rank *rank, char *text)
{
	char high[NUMBER_TEXT];

	number_format_count(rank->low, text);
	if (rank->high == rank->low)
		return;
	number_format_count(rank->high, high);
	strcat(strcat(text, "-"), high);
}

static void
format_value(const struct report_result *result, enum report_type type,
    const struct report_value *value, const struct render_options *options, char *text)
{
	switch (type) {
	case REPORT_ID:
		snprintf(text, NUMBER_TEXT, "%.0f", value->number);
		break;
	case REPORT_COUNT:
	case REPORT_RATE:
		number_format_count(value->number, text);
		break;
	case REPORT_BITRATE:
		number_format(value->number, number_scale(value->number), text);
		break;
	case REPORT_PERCENT:
		snprintf(text, NUMBER_TEXT, "%.1f", value->number);
		break;
	case REPORT_PKTS:
	case REPORT_OCTETS: {
		double rate = value->figure.estimate * rate_factor(result, type);

		number_format(rate, number_scale(rate), text);
		break;
	}
	case REPORT_SHARE:
		number_format_percent(100 * value->figure.estimate, text);
		break;
	case REPORT_RANK:
		format_rank(&value->rank, text);
		break;
	case REPORT_TIME:
		number_format_time(value->time_us, options->utc, text);
		break;
	case REPORT_COMPLETENESS:
		number_format_completeness(value->number, text);
		break;
	case REPORT_TEXT:
		break; /* may be longer than any number */
	}
}

static void
format_limits(const struct report_result *result, enum report_type type,
    const struct report_value *value, char *text)
{
	double factor = rate_factor(result, type);

	double of = value->figure.estimate > 0 ? value->figure.estimate : value->figure.high;

	number_format_range(value->figure.low * factor, value->figure.high * factor,
	    number_scale(of * factor), text);
}

/* = up to the lower limit, - on to the upper one; rounded outwards, so that = never claims too
 * much. */
static void
format_bar(const struct estimate_figure *figure, double full, char *text)
{
	int sure = (int)floor(BAR_WIDTH * figure->low / full);
	int maybe = (int)ceil(BAR_WIDTH * figure->high / full);

	if (maybe > BAR_WIDTH)
		maybe = BAR_WIDTH;
	for (int i = 0; i < maybe; i++)
		text[i] = i < sure ? '=' : '-';
	text[maybe] = '\0';
}

/* ---- rows ---- */

static void
add_headings(struct table *table, const struct report_result *result)
{
	for (size_t c = 0; c < result->n_columns; c++) {
		const struct report_column *column = &result->columns[c];

		if (!is_shown(result, c))
			continue;
		table_add_column(table, column->heading,
		    column->type != REPORT_TEXT && column->type != REPORT_TIME &&
			column->type != REPORT_ID);
		if (is_figure(column->type))
			table_add_column(table, "95% LOW..HIGH", true);
	}
	if (result->changes) {
		table_add_column(table, "BEFORE", true);
		table_add_column(table, "CHANGE", false);
	}
	if (result->has_keys)
		table_add_column(table, "=sure -maybe", false);
}

static double
largest_high(const struct report_result *result, size_t column)
{
	double largest = 0;

	for (size_t r = 0; r < result->n_rows; r++)
		largest = fmax(largest, report_cell(result, r, column)->figure.high);
	return largest;
}

/* unknown: the text of a cell whose value is unknown. */
static void
add_row(struct table *table, const struct report_result *result, const struct report_value *row,
    const char *unknown, const struct render_options *options)
{
	char text[NUMBER_TEXT];
	size_t at = 0;

	table_add_row(table);
	for (size_t c = 0; c < result->n_columns; c++) {
		enum report_type type = result->columns[c].type;
		bool known = row[c].known && (!is_figure(type) || result->seconds > 0);

		if (!is_shown(result, c))
			continue;
		if (known)
			format_value(result, type, &row[c], options, text);
		table_set(table, at++, !known ? unknown : type == REPORT_TEXT ? row[c].text : text);
		if (is_figure(type) && known)
			format_limits(result, type, &row[c], text);
		if (is_figure(type))
			table_set(table, at++, known ? text : unknown);
	}
}

static size_t
column_of(const struct report_result *result, enum report_type type)
{
	size_t c = 0;

	while (c < result->n_columns && (result->columns[c].type != type || !is_shown(result, c)))
		c++;
	return c;
}

static void
add_bar(struct table *table, const struct estimate_figure *figure, double full)
{
	char bar[BAR_WIDTH + 1];

	if (full <= 0)
		return;
	format_bar(figure, full, bar);
	table_set(table, table->n_columns - 1, bar);
}

/* A row without a key: its name is in the first column behind the rank. */
static void
add_named_row(struct table *table, const struct report_result *result,
    const struct report_value *row, const char *name, const struct render_options *options)
{
	size_t at = 0;

	add_row(table, result, row, "", options);
	for (size_t c = 0; result->columns[c].type == REPORT_RANK || !is_shown(result, c); c++)
		at += is_shown(result, c);
	table_set(table, at, name);
}

static void
add_sum_rows(struct table *table, const struct report_result *result,
    const struct render_options *options)
{
	char number[NUMBER_TEXT], name[LONG_TEXT];

	if (result->together) {
		number_format_count((double)result->n_rows, number);
		snprintf(name, sizeof(name), "%s row%s together", number, result->n_rows == 1 ? "" : "s");
		add_named_row(table, result, result->together, name, options);
	}
	if (result->others) {
		number_format_count((double)result->n_others, number);
		if (result->n_few == result->n_others)
			snprintf(name, sizeof(name), "%s with < %d samples", number,
			    REPORT_FEW_SAMPLES);
		else
			snprintf(name, sizeof(name), "%s other%s", number,
			    result->n_others == 1 ? "" : "s");
		add_named_row(table, result, result->others, name, options);
	}
	if (result->not_seen)
		add_named_row(table, result, result->not_seen, "not seen", options);
	if (result->rest)
		add_named_row(table, result, result->rest, result->rest_name, options);
	if (result->no_sample) {
		number_format_count((double)result->account.ports_without_sample, number);
		snprintf(name, sizeof(name), "%s port%s, no sample", number,
		    result->account.ports_without_sample == 1 ? "" : "s");
		add_named_row(table, result, result->no_sample, name, options);
	}
	if (result->lost_row)
		add_named_row(table, result, result->lost_row,
		    report_lost_name(result->lost_why), options);
}

static void
add_change(struct table *table, const struct report_result *result, size_t row)
{
	const struct report_change *change = &result->changes[row];
	double factor = (result->sort == ESTIMATE_OCTETS ? 8 : 1) / result->past_seconds;
	char text[NUMBER_TEXT];

	number_format_range(change->before.low * factor, change->before.high * factor,
	    number_scale(change->before.estimate * factor), text);
	table_set(table, table->n_columns - 3, change->known ? text : "not seen");
	table_set(table, table->n_columns - 2, report_direction_name(change->direction));
}

static int
print_rows(FILE *out, const struct report_result *result, const struct render_options *options)
{
	size_t sorted_by = column_of(result, result->sort == ESTIMATE_PKTS ? REPORT_PKTS : REPORT_OCTETS);
	double full = result->has_keys ? largest_high(result, sorted_by) : 0;
	struct table table = {0};
	int err;

	add_headings(&table, result);
	for (size_t r = 0; r < result->n_rows; r++) {
		add_row(&table, result, report_cell(result, r, 0), "-", options);
		if (result->changes)
			add_change(&table, result, r);
		if (result->has_keys)
			add_bar(&table, &report_cell(result, r, sorted_by)->figure, full);
	}
	add_sum_rows(&table, result, options);
	err = table_print(&table, out);
	table_free(&table);
	return err;
}

/* ---- around the rows ---- */

/* How much of the total is counted: all of it, a part, or nothing. */
static void
print_counted(FILE *out, const struct report_result *result, enum estimate_unit unit, double factor, const char *what)
{
	double total = result->total[unit], uncounted = result->uncounted.total[unit];
	double part = estimate_deviation(total, result->total_variance[unit] + result->uncounted.variance[unit]);
	bool is_about = part > REPORT_ABOUT_PART;
	char text[NUMBER_TEXT];

	number_format_rate(total * factor, what, text);
	fprintf(out, "  %s%s%s", is_about || uncounted > 0 ? "about " : "", text, uncounted > 0 ? "" : " counted");
	if (is_about) {
		number_format_rate(total * (1 - fmin(1, part)) * factor, what, text);
		fprintf(out, " (%s ..", text);
		number_format_rate(total * (1 + part) * factor, what, text);
		fprintf(out, " %s)", text);
	}
	if (uncounted >= total * (1 - 1e-9) && uncounted > 0) {
		fputs(", by samples alone", out);
	} else if (uncounted > 0) {
		number_format_rate(uncounted * factor, what, text);
		fprintf(out, ", %s of it by samples alone", text);
	}
}

/* The counted total, and the estimate from the samples alone. */
static void
print_totals(FILE *out, const struct report_result *result)
{
	enum estimate_unit unit = result->has_keys ? result->sort : ESTIMATE_OCTETS;
	double factor = (unit == ESTIMATE_OCTETS ? 8 : 1) / result->seconds;
	const char *what = unit == ESTIMATE_OCTETS ? "b/s" : "frame/s";
	char sampled[NUMBER_TEXT];

	if (result->seconds <= 0)
		return;
	print_counted(out, result, unit, factor, what);
	number_format_rate(result->from_samples[unit] * factor, what, sampled);
	if (result->has_keys && result->uncounted.total[unit] < result->total[unit] * (1 - 1e-9))
		fprintf(out, " (%s by samples)", sampled);
}

static uint64_t
samples_in_rows(const struct report_result *result)
{
	size_t c = column_of(result, REPORT_COUNT);
	double n = result->others ? result->others[c].number : 0;

	for (size_t r = 0; r < result->n_rows; r++)
		n += report_cell(result, r, c)->number;
	return (uint64_t)n;
}

/* Lists are made of received frames; samples of sent ones only check the counters. */
static void
print_listed(FILE *out, const struct report_result *result)
{
	uint64_t n = samples_in_rows(result);
	char number[NUMBER_TEXT];

	if (result->rest)
		n += (uint64_t)result->rest[column_of(result, REPORT_COUNT)].number;
	number_format_count((double)n, number);
	if (n < result->samples)
		fprintf(out, " (%s of received frames, below)", number);
}

static void
print_header(FILE *out, const struct report_result *result, const struct render_options *options)
{
	char complete[NUMBER_TEXT] = "-", samples[NUMBER_TEXT], expected[NUMBER_TEXT];
	char times[NUMBER_TEXT];

	if (result->expected > 0)
		number_format_completeness((double)result->samples / (double)result->expected,
		    complete);
	number_format_count((double)result->samples, samples);
	number_format_count((double)result->expected, expected);
	(result->counted_to_us > 0 ? number_format_counted : number_format_times)(result->from_us,
	    result->to_us, options->now_us, options->utc, times);
	fprintf(out, "completeness %s  %s of %s samples", complete, samples, expected);
	if (result->has_keys)
		print_listed(out, result);
	print_totals(out, result);
	fprintf(out, "  %s  %s\n", result->scope, times);
}

static void
print_whole_minutes(FILE *out, const struct report_result *result)
{
	if (result->whole_minutes)
		fputs("The range ends with the last minute that the cluster has of every agent heard now: a minute"
		      " comes there\nsome time after it ended. The collector's own store knows the rest.\n", out);
}

/* "Silent: 192.0.2.1 e-3 (4m), 192.0.2.1 e-4 (4m) and 3 more: counted only up to their last counters." */
static void
print_silent(FILE *out, const struct report_result *result)
{
	size_t named = result->n_silent < REPORT_SILENT_NAMED ? result->n_silent : REPORT_SILENT_NAMED;
	const char *between = result->is_late ? "Silent or late: " : "Silent: ";

	for (size_t i = 0; i < named; i++) {
		const struct report_silent *silent = &result->silent[i];
		char age[NUMBER_TEXT];

		number_format_age(((double)result->counted_to_us - (double)silent->newest_us) / 1e6, age);
		fprintf(out, "%s%s %s (%s)", between, silent->agent, silent->port, age);
		between = ", ";
	}
	if (result->n_silent > named)
		fprintf(out, " and %zu more", result->n_silent - named);
	if (named > 0)
		fputs(": no counters came since, so less was counted there.\n", out);
}

/* "Counted in a part of the range: 192.0.2.1 e-3 (14:00-14:04:30 +0000); what passed there …". */
static void
print_partly(FILE *out, const struct report_result *result, const struct render_options *options)
{
	const struct report_uncounted *uncounted = &result->uncounted;
	const char *between = "Counted in a part of the range: ";
	char times[NUMBER_TEXT];

	for (size_t i = 0; i < uncounted->n_partly && i < REPORT_UNCOUNTED_NAMED; i++) {
		const struct report_partly *partly = &uncounted->partly[i];

		number_format_times(partly->from_us > result->from_us ? partly->from_us : result->from_us,
		    partly->until_us > 0 && partly->until_us < result->to_us ? partly->until_us : result->to_us,
		    options->now_us, options->utc, times);
		fprintf(out, "%s%s %s (%s)", between, partly->name.agent, partly->name.port, times);
		between = ", ";
	}
	if (uncounted->n_partly > REPORT_UNCOUNTED_NAMED)
		fprintf(out, " and %zu more", uncounted->n_partly - REPORT_UNCOUNTED_NAMED);
	if (uncounted->n_partly > 0)
		fputs("; what passed there before and after is estimated from samples alone.\n", out);
}

/* "More is lost when more passes: 192.0.2.1 e-3 (2% at quiet times, 18% at busy ones); figures of busy times are too
 * low there." */
static void
print_lost_by_load(FILE *out, const struct report_result *result)
{
	const char *between = "More is lost when more passes: ";

	for (size_t i = 0; i < result->n_lost_by_load && i < REPORT_UNCOUNTED_NAMED; i++) {
		const struct report_lost_by_load *lost = &result->lost_by_load[i];

		fprintf(out, "%s%s%s%s (%.0f%% at quiet times, %.0f%% at busy ones)", between, lost->name.agent,
		    *lost->name.port ? " " : "", lost->name.port, 100 * lost->quiet, 100 * lost->busy);
		between = ", ";
	}
	if (result->n_lost_by_load > REPORT_UNCOUNTED_NAMED)
		fprintf(out, " and %zu more", result->n_lost_by_load - REPORT_UNCOUNTED_NAMED);
	if (result->n_lost_by_load > 0)
		fputs("; figures of busy times are too low there.\n", out);
}

static void
print_disagreement(FILE *out, const struct report_result *result)
{
	const struct report_disagreement *d = &result->disagreement;
	char counted[NUMBER_TEXT], sampled[NUMBER_TEXT];

	if (!d->found)
		return;
	number_format_rate(d->counted * 8 / result->seconds, "b/s", counted);
	number_format_rate(d->by_samples * 8 / result->seconds, "b/s", sampled);
	fprintf(out, "Samples stand for %s where %s were counted, which is no chance: easetop audit looks for the cause.\n",
	    sampled, counted);
}

static void
print_uncounted(FILE *out, const struct report_result *result)
{
	const struct report_uncounted *uncounted = &result->uncounted;
	size_t named = uncounted->n_ports < REPORT_UNCOUNTED_NAMED ? uncounted->n_ports : REPORT_UNCOUNTED_NAMED;
	const char *between = "About: fewer than two counters came from ";
	char lost[NUMBER_TEXT];

	if (uncounted->lost_samples > 0) {
		number_format_count((double)uncounted->lost_samples, lost);
		fprintf(out, "Where no counters came %s samples were lost for longer than a message takes: what passed"
		    " meanwhile is in no figure.\n", lost);
	}
	if (named == 0)
		return;
	for (size_t i = 0; i < named; i++) {
		fprintf(out, "%s%s %s", between, uncounted->ports[i].agent, uncounted->ports[i].port);
		between = ", ";
	}
	if (uncounted->n_ports > named)
		fprintf(out, " and %zu more", uncounted->n_ports - named);
	fputs(", so their traffic is estimated from samples alone; let the agent send counters.\n", out);
	if (result->has_keys && !result->as_grid)
		fprintf(out, "Rows that rest on such ports, wholly or partly: %zu of %zu.\n", uncounted->n_rows,
		    result->n_rows);
}

/* "Sampled on egress: 192.0.2.1, 192.0.2.2. Counted there is what ports sent, ..." */
static void
print_egress(FILE *out, const struct report_egress *egress)
{
	const char *between = "Sampled on egress: ";

	for (size_t i = 0; i < egress->n_agents && i < REPORT_UNCOUNTED_NAMED; i++) {
		fprintf(out, "%s%s", between, egress->agents[i]);
		between = ", ";
	}
	if (egress->n_agents > REPORT_UNCOUNTED_NAMED)
		fprintf(out, " and %zu more", egress->n_agents - REPORT_UNCOUNTED_NAMED);
	if (egress->n_agents > 0)
		fputs(". Lists have there what ports sent; a frame that leaves by several ports counts at each.\n", out);
}

/* "audit: 192.0.2.1 e-1 leaves out small frames: easetop audit" */
static void
print_audited(FILE *out, const struct report_audited *audited)
{
	const char *between = "audit: ";

	for (size_t i = 0; i < audited->n_ports && i < REPORT_UNCOUNTED_NAMED; i++) {
		const struct report_accused *accused = &audited->ports[i];

		fprintf(out, "%s%s %s %s", between, accused->name.agent, accused->name.port, accused->says);
		between = "; ";
	}
	if (audited->n_ports > REPORT_UNCOUNTED_NAMED)
		fprintf(out, "; and %zu more", audited->n_ports - REPORT_UNCOUNTED_NAMED);
	if (audited->n_ports > 0)
		fputs(": easetop audit\n", out);
}

static void
print_ports(FILE *out, const char *between, const struct report_coarse *coarse)
{
	for (size_t i = 0; i < coarse->n_ports && i < REPORT_UNCOUNTED_NAMED; i++) {
		fprintf(out, "%s%s %s", between, coarse->ports[i].agent, coarse->ports[i].port);
		between = ", ";
	}
	if (coarse->n_ports > REPORT_UNCOUNTED_NAMED)
		fprintf(out, " and %zu more", coarse->n_ports - REPORT_UNCOUNTED_NAMED);
}

static void
print_coarse(FILE *out, const struct report_coarse *coarse)
{
	print_ports(out, "Counters are further apart than steps at ", coarse);
	if (coarse->n_ports > 0)
		fputs(": what was counted there in a minute is divided among its steps by samples.\n", out);
}

/* "Counters are far apart at sw1 if3, sw1 if4: ..." */
static void
print_divided(FILE *out, const struct report_result *result)
{
	double part = report_about_part(result);
	char percent[NUMBER_TEXT];

	if (part <= 0)
		return;
	print_ports(out, "Counters are far apart at ", &result->divided);
	number_format_percent(100 * part, percent);
	if (result->step_us > 0)
		fprintf(out, ": samples divided among steps what was counted there, so steps are known to %s or better.\n",
		    percent);
	else
		fputs(": samples, or time where none came, tell how much of what was counted across an end of the range belongs to it.\n", out);
}

static void
print_few_samples(FILE *out, const struct report_result *result)
{
	uint64_t n = samples_in_rows(result);
	char skip[NUMBER_TEXT];

	if (n == 0 || n >= ENOUGH_SAMPLES || result->mean_skip <= 1.5)
		return;
	number_format_count(round(result->mean_skip), skip);
	fprintf(out, "FEW SAMPLES: try --last 1h, or a smaller skip (now %s)\n", skip);
}

static void
print_folded(FILE *out, const struct report_result *result)
{
	char folded[NUMBER_TEXT], most[NUMBER_TEXT];

	if (result->folded == 0)
		return;
	number_format_count((double)result->folded, folded);
	number_format_count((double)result->folded_most, most);
	fprintf(out, "MEMORY FULL: %s samples are in no row of their own, because the collector's"
	    " memory for keys was full; upper limits allow for up to %s of them.\n", folded, most);
}

static void
print_comparisons(FILE *out, const struct report_result *result)
{
	char text[NUMBER_TEXT];

	if (result->versus_us && !result->changes) {
		number_format_age((double)result->versus_us / 1e6, text);
		fprintf(out, "The store has no data from %s earlier to compare with.\n", text);
	}
	if (result->n_warned > 0) {
		number_format_rate(result->warn, result->warn_unit == ESTIMATE_OCTETS ? "b/s"
		    : "frame/s", text);
		fprintf(out, "WARNING: %zu row%s surely above %s.\n", result->n_warned,
		    result->n_warned == 1 ? " is" : "s are", text);
	}
}

static void
print_kept_since(FILE *out, const struct report_result *result,
    const struct render_options *options)
{
	char time[NUMBER_TEXT];

	if (result->older_us) {
		number_format_time(result->from_us, options->utc, time);
		fprintf(out, "The store keeps NOTHING from before %s.\n", time);
	}
	if (!result->kept_since_us)
		return;
	number_format_time(result->kept_since_us, options->utc, time);
	fprintf(out, "This filter needs single samples, which the store keeps from %s on;"
	    " the list is of the time since.\n", time);
}

/* How far back the store reaches. */
static void
print_reach(FILE *out, const struct report_result *result, const struct render_options *options)
{
	char time[NUMBER_TEXT];
	const char *between = "The store has ";

	for (int i = 0; i < REPORT_N_REACH; i++) {
		if (result->reach.since_us[i] == 0)
			continue;
		number_format_time(result->reach.since_us[i], options->utc, time);
		fprintf(out, "%s%s%s since %s", between, i > 0 ? "sums of " : "", report_reach_names[i], time);
		between = ", ";
	}
	if (*between == ',')
		fputs(".\n", out);
}

/* What the rows of a filtered list are made of; print_kept_since says it where that is not all of the range. */
static void
print_filter(FILE *out, const struct report_result *result)
{
	char *shown = result->filter && result->answered_from ? utf8_printable_copy(result->filter) : NULL;

	if (shown)
		fprintf(out, "Filter: %s; answered from %s.\n", shown, result->answered_from);
	free(shown);
}

static void
print_key_notes(FILE *out, const struct report_result *result)
{
	char number[NUMBER_TEXT];

	if (!result->as_grid && result->n_few > 0 && result->n_few == result->n_others) {
		number_format_count((double)result->n_few, number);
		fprintf(out, "%s %s%s of fewer than %d samples %s no row here; --format csv lists"
		    " %s.\n",
		    number, result->noun, result->n_few == 1 ? "" : "s", REPORT_FEW_SAMPLES,
		    result->n_few == 1 ? "has" : "have", result->n_few == 1 ? "it" : "them");
	}
	print_folded(out, result);
	if (result->rest_has_inner)
		fputs("Most frames without IP have it inside, behind MPLS or in a tunnel: --layer inner lists these"
		      " addresses.\n", out);
	if (result->n_wide > 0) {
		number_format_count(round(result->hiding_skip), number);
		fprintf(out, "%s, 1 in %s, may hide as much as the upper limits of %zu row%s say; --port narrows it.\n",
		    result->hiding_port, number, result->n_wide, result->n_wide == 1 ? "" : "s");
	}
	if (isfinite(result->unseen_pkts) && result->unseen_pkts >= 1) {
		number_format_count(ceil(result->unseen_pkts), number);
		fprintf(out, "No %s more than %s frames (95%%).\n", result->unseen, number);
	}
}

/* "COLLECTOR since …", the one counter that is a time. */
static void
format_counters_heading(const struct report_result *result, bool utc, char *text)
{
	char time[NUMBER_TEXT];

	snprintf(text, LONG_TEXT, "COLLECTOR");
	for (size_t i = 0; i < result->n_counters; i++)
		if (strcmp(result->counters[i].name, STARTED) == 0) {
			number_format_time(result->counters[i].value, utc, time);
			snprintf(text, LONG_TEXT, "COLLECTOR since %s", time);
		}
}

static int
print_counters(FILE *out, const struct report_result *result, const struct render_options *options)
{
	struct table table = {0};
	char number[NUMBER_TEXT], heading[LONG_TEXT];
	int err;

	format_counters_heading(result, options->utc, heading);
	table_add_column(&table, heading, false);
	table_add_column(&table, "COUNT", true);
	for (size_t i = 0; i < result->n_counters; i++) {
		const struct report_counter *counter = &result->counters[i];

		if (counter->value == 0 || strcmp(counter->name, STARTED) == 0)
			continue;
		number_format_count((double)counter->value, number);
		table_add_row(&table);
		table_set(&table, 0, counter->name);
		table_set(&table, 1, number);
	}
	putc('\n', out);
	err = table_print(&table, out);
	table_free(&table);
	return err;
}

static const struct report_value *
cell_of_field(const struct report_result *result, size_t row, const char *field)
{
	for (size_t i = 0; i < result->n_columns; i++)
		if (result->columns[i].field && strcmp(result->columns[i].field, field) == 0)
			return report_cell(result, row, i);
	return NULL;
}

static int
print_empty(FILE *out, const struct report_result *result, const struct render_options *options)
{
	char times[NUMBER_TEXT], newest[NUMBER_TEXT], age[NUMBER_TEXT];

	if (result->newest_us == 0) {
		fputs("The store is empty: nothing was received yet.\n", out);
		return ferror(out) ? -EIO : 0;
	}
	number_format_times(result->from_us, result->to_us, options->now_us, options->utc, times);
	number_format_time(result->newest_us, options->utc, newest);
	number_format_age(((double)options->now_us - (double)result->newest_us) / 1e6, age);
	fprintf(out, "No data %s: the newest is of %s, %s ago. Try --last all.\n", times, newest,
	    age);
	return ferror(out) ? -EIO : 0;
}

/* An agent that was heard so short before a record in its name was refused has not moved. *assumed* */
#define BOTH_HEARD_US 60000000ull

/* Of agents: what was refused in the name of one. */
static void
print_refusals(FILE *out, const struct report_result *result, const struct render_options *options)
{
	const struct report_value *refused, *source, *known, *newest, *id, *why, *heard;
	char time[NUMBER_TEXT];

	for (size_t i = 0; i < result->n_rows; i++) {
		refused = cell_of_field(result, i, "refused");
		source = cell_of_field(result, i, "refused_source");
		known = cell_of_field(result, i, "source");
		newest = cell_of_field(result, i, "refused_newest");
		id = cell_of_field(result, i, "id");
		why = cell_of_field(result, i, "refused_reason");
		if (!refused || !refused->known || refused->number < 1 || !source->known)
			continue;
		number_format_time(newest->time_us, options->utc, time);
		fprintf(out, "Refused: %.0f records of agent %s, the newest at %s from %s; the agent is "
			     "known as %s.\n",
		    refused->number, id->text, time, source->text,
		    known->known && *known->text ? known->text : "what agent_sources names");
		heard = cell_of_field(result, i, "last_seen");
		if (strcmp(why->text, "source") == 0 && heard && heard->time_us + BOTH_HEARD_US >= newest->time_us)
			fprintf(out, "  Both send now. If these are two switches, give each an agent address of its own, or name "
				     "the one they state in sflow_shared_agents.\n");
		if (strcmp(why->text, "source") == 0)
			fprintf(out, "  If %s is the switch itself, add \"%s %s\" to agent_sources in easecapd.conf "
				     "and send SIGHUP.\n", source->text, id->text, source->text);
	}
}

int
render_text(FILE *out, const struct report_result *result, const struct render_options *options)
{
	int err;

	if (result->empty && strcmp(result->report, "agents") != 0)
		return print_empty(out, result, options);
	print_header(out, result, options);
	print_lost_by_load(out, result);
	print_disagreement(out, result);
	print_silent(out, result);
	print_partly(out, result, options);
	if (result->has_keys)
		print_few_samples(out, result);
	err = (result->as_grid ? render_grid : print_rows)(out, result, options);
	if (result->n_left_out > 0)
		fprintf(out, "%zu more: --top %zu shows them.\n", result->n_left_out,
		    result->n_rows + result->n_left_out);
	if (err == 0)
		print_comparisons(out, result);
	if (err == 0 && result->has_keys)
		print_key_notes(out, result);
	print_filter(out, result);
	print_whole_minutes(out, result);
	print_uncounted(out, result);
	print_coarse(out, &result->coarse);
	print_divided(out, result);
	print_egress(out, &result->egress);
	print_audited(out, &result->audited);
	if (err == 0)
		print_kept_since(out, result, options);
	if (err == 0)
		print_refusals(out, result, options);
	if (err == 0 && *result->work)
		fprintf(out,
		    "The store is at work (%s): %" PRIu64 " of %" PRIu64 " windows done.\n",
		    result->work, result->work_done, result->work_total);
	if (err == 0 && result->cluster_lag_s > 0) {
		char lag[NUMBER_TEXT];

		number_format_age((double)result->cluster_lag_s, lag);
		fprintf(out, "The ClickHouse cluster is %s behind.\n", lag);
	}
	if (err == 0 && result->has_reach)
		print_reach(out, result, options);
	for (const struct report_result *below = result->below; err == 0 && below; below = below->below)
		if (below->n_rows > 0) {
			putc('\n', out);
			err = print_rows(out, below, options);
		}
	if (err == 0 && result->n_counters > 0)
		err = print_counters(out, result, options);
	return err == 0 && ferror(out) ? -EIO : err;
}
