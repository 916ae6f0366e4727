/*
 * Audit: may the samples of a port be trusted, and for what? Each port's sampler is judged by what it sent
 * (collector/estimate/audit.h): a row says what it does, what it states, how much of what the port counted its
 * samples stand for, and a verdict. Of all tests of all ports of a report one is wrong in 1 of 100 reports. Below
 * stand edge ports that look as if they led to other switches, and how much they make lists count twice.
 */
#include "collector/report/audit_reader.h"
#include "collector/report/loss_by_load.h"
#include "collector/report/oddities.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"
#include "collector/report/uplink_search.h"
#include "collector/source_port.h"
#include "common/number_format.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part of reports that accuse a sound sampler. */
#define FALSE_VERDICTS (0.01 - 0.001) /* the rest is of loss by load */
/* Limits of samples x rate that are further apart, as a part of what was counted, prove nothing. */
#define KNOWN_PART 1.0
/* Samples that an agent dropped are told of from this part on. */
#define DROPS_TOLD 0.01

enum {
	COLUMN_SITE,
	COLUMN_AGENT,
	COLUMN_PORT,
	COLUMN_IF_INDEX,
	COLUMN_SAMPLES,
	COLUMN_SAMPLED,
	COLUMN_STATED,
	COLUMN_TAKES,
	COLUMN_EFFECTIVE,
	COLUMN_OF_COUNTED_TEXT,
	COLUMN_OF_COUNTED,
	COLUMN_COUNTED,
	COLUMN_BY,
	COLUMN_FINDS,
	COLUMN_SPACING,
	COLUMN_SPACING_OF,
	COLUMN_OCTETS,
	COLUMN_COUNTED_OCTETS,
	COLUMN_POOL,
	COLUMN_POOL_OF_COUNTED,
	COLUMN_LOST,
	COLUMN_LOST_QUIET,
	COLUMN_LOST_BUSY,
	COLUMN_CLOCK,
	COLUMN_CLOCK_DRIFT,
	COLUMN_FROM,
	COLUMN_TO,
	COLUMN_FAULTS,
	COLUMN_VERDICT,
	COLUMN_TRUST_TEXT,
	COLUMN_TRUST,
	COLUMN_NOT_FOR,
	N_COLUMNS,
};

static const struct report_column columns[N_COLUMNS] = {
	[COLUMN_SITE] = {"site", "SITE", REPORT_TEXT},
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_PORT] = {"port", "PORT", REPORT_TEXT},
	[COLUMN_IF_INDEX] = {"if_index", NULL, REPORT_COUNT},
	[COLUMN_SAMPLES] = {"samples", "SAMPLES", REPORT_COUNT},
	[COLUMN_SAMPLED] = {"sampled_on", "SAMPLED ON", REPORT_TEXT},
	[COLUMN_STATED] = {"stated", "SAYS 1 IN", REPORT_COUNT},
	[COLUMN_TAKES] = {NULL, "TAKES 1 IN", REPORT_COUNT},
	[COLUMN_EFFECTIVE] = {"effective", NULL, REPORT_PKTS},
	[COLUMN_OF_COUNTED_TEXT] = {NULL, "SAMPLES x RATE", REPORT_TEXT}, /* as a part of what was counted */
	[COLUMN_OF_COUNTED] = {"of_counted", NULL, REPORT_SHARE},
	[COLUMN_COUNTED] = {"counted_packets", NULL, REPORT_COUNT},
	[COLUMN_BY] = {"counted_by", NULL, REPORT_TEXT}, /* "port", or its sampler's "pool" */
	[COLUMN_FINDS] = {"finds", NULL, REPORT_COUNT},
	[COLUMN_SPACING] = {"spacing", "SPACING", REPORT_TEXT},
	[COLUMN_SPACING_OF] = {"spacing_of", NULL, REPORT_COUNT},
	[COLUMN_OCTETS] = {"mean_octets", NULL, REPORT_COUNT},
	[COLUMN_COUNTED_OCTETS] = {"counted_mean_octets", NULL, REPORT_COUNT},
	[COLUMN_POOL] = {"pool", NULL, REPORT_TEXT},
	[COLUMN_POOL_OF_COUNTED] = {"pool_of_counted", NULL, REPORT_COUNT},
	[COLUMN_LOST] = {"lost_percent", "LOST%", REPORT_PERCENT},
	[COLUMN_LOST_QUIET] = {"lost_quiet_percent", NULL, REPORT_PERCENT}, /* known where it is a fault */
	[COLUMN_LOST_BUSY] = {"lost_busy_percent", NULL, REPORT_PERCENT},
	[COLUMN_CLOCK] = {"clock_ahead_s", NULL, REPORT_COUNT},
	[COLUMN_CLOCK_DRIFT] = {"clock_drift", NULL, REPORT_COUNT},
	[COLUMN_FROM] = {"since", NULL, REPORT_TIME},
	[COLUMN_TO] = {"until", NULL, REPORT_TIME},
	[COLUMN_FAULTS] = {"faults", NULL, REPORT_TEXT},
	[COLUMN_VERDICT] = {"verdict", "VERDICT", REPORT_TEXT},
	[COLUMN_TRUST_TEXT] = {NULL, "TRUST IT FOR", REPORT_TEXT},
	[COLUMN_TRUST] = {"trust_for", NULL, REPORT_TEXT},
	[COLUMN_NOT_FOR] = {"not_for", NULL, REPORT_TEXT},
};

enum {
	UPLINK_AGENT,
	UPLINK_PORT,
	UPLINK_IF_INDEX,
	UPLINK_STATIONS,
	UPLINK_ELSEWHERE,
	UPLINK_TWICE,
	UPLINK_OPTION,
	UPLINK_COLUMNS,
};

static const struct report_column uplink_columns[UPLINK_COLUMNS] = {
	[UPLINK_AGENT] = {"agent", "LOOKS LIKE AN UPLINK", REPORT_TEXT},
	[UPLINK_PORT] = {"port", "PORT", REPORT_TEXT},
	[UPLINK_IF_INDEX] = {"if_index", NULL, REPORT_COUNT},
	[UPLINK_STATIONS] = {"stations", "STATIONS", REPORT_COUNT},
	[UPLINK_ELSEWHERE] = {"elsewhere", "AT HOME ELSEWHERE", REPORT_COUNT},
	[UPLINK_TWICE] = {"counted_twice_percent", "COUNTED TWICE, % OF LISTS", REPORT_PERCENT},
	[UPLINK_OPTION] = {"option", "ROW FOR device_names", REPORT_TEXT},
};

enum { TEXT_ROOM = 4 * NUMBER_TEXT, VERDICT_ROOM = 512 };

static const char *const spacing_names[] = {
	[AUDIT_SPACING_UNKNOWN] = "",
	[AUDIT_GEOMETRIC] = "geometric",
	[AUDIT_UNIFORM] = "uniform",
	[AUDIT_EVERY_NTH] = "every Nth",
	[AUDIT_REPEATING] = "repeats",
	[AUDIT_IRREGULAR] = "irregular",
};

static const char *const pool_names[] = {
	[AUDIT_POOL_UNKNOWN] = "",
	[AUDIT_POOL_COUNTED] = "counted",
	[AUDIT_POOL_COMPUTED] = "computed",
	[AUDIT_POOL_DIFFERS] = "differs",
};

/* What samples are used for. Totals come from counters, whatever samples are. */
enum use {
	USE_MULTIPLY = 1 << 0,
	USE_SHARES = 1 << 1,
	USE_LIMITS = 1 << 2,
	USE_LOSSES = 1 << 3,
	USE_TIMES = 1 << 4,
	USE_ALL = (1 << 5) - 1,
};

static const struct {
	unsigned use;
	const char *name;
} uses[] = {
	{USE_SHARES, "shares"},
	{USE_LIMITS, "limits"},
	{USE_MULTIPLY, "samples x rate"},
	{USE_LOSSES, "losses"}, /* what passed while samples were lost */
	{USE_TIMES, "times"},
};

/* The faults, the graver first: what each is called, and what the samples are no good for. */
static const struct {
	enum audit_fault fault;
	const char *name;
	unsigned spoils;
} faults[] = {
	{AUDIT_FILTERED, "filtered", USE_SHARES | USE_LIMITS | USE_MULTIPLY},
	{AUDIT_SMALL_LEFT_OUT, "small-left-out", USE_SHARES | USE_LIMITS | USE_MULTIPLY},
	{AUDIT_LARGE_LEFT_OUT, "large-left-out", USE_SHARES | USE_LIMITS | USE_MULTIPLY},
	{AUDIT_LESS_UNDER_LOAD, "less-under-load", USE_SHARES | USE_LIMITS | USE_MULTIPLY},
	{AUDIT_MORE_UNDER_LOAD, "more-under-load", USE_SHARES | USE_LIMITS | USE_MULTIPLY},
	{AUDIT_LOST_BY_LOAD, "lost-by-load", USE_SHARES | USE_LIMITS | USE_MULTIPLY},
	{AUDIT_RATE_OFF, "rate", USE_MULTIPLY},
	{AUDIT_IN_STEP, "in-step", USE_LIMITS},
	{AUDIT_POOL_NOT_COUNTED, "pool-not-counted", USE_LOSSES},
	{AUDIT_AGGREGATED, "aggregated", 0},
	{AUDIT_CLOCK_OFF, "clock-off", USE_TIMES},
	{AUDIT_CLOCK_DRIFTS, "clock-drifts", USE_TIMES},
};

/* A port that is judged, or that has no sample. */
struct judged {
	const struct query_port *port;
	struct audit_result result;
};

static bool
has_samples(const struct query_port *port)
{
	return port->side[EASE_IN].all.n + port->side[EASE_OUT].all.n > 0;
}

/* ---- texts ---- */

static void __attribute__((format(printf, 2, 3)))
append_text(char *text, const char *format, ...)
{
	size_t n = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + n, VERDICT_ROOM - n, format, args);
	va_end(args);
}

static void
say_fault(const struct audit_result *r, enum audit_fault fault, char *text)
{
	char number[NUMBER_TEXT], other[NUMBER_TEXT];

	switch (fault) {
	case AUDIT_FILTERED:
		append_text(text, "its pool has %.0f%% of the frames that the port counted", 100 * r->pool_of_counted);
		break;
	case AUDIT_SMALL_LEFT_OUT:
	case AUDIT_LARGE_LEFT_OUT:
		append_text(text, "%s frames are left out: %.0f octets on average, %.0f counted",
		    fault == AUDIT_SMALL_LEFT_OUT ? "small" : "large", r->octets, r->counted_octets);
		break;
	case AUDIT_LESS_UNDER_LOAD:
	case AUDIT_MORE_UNDER_LOAD:
		append_text(text, "takes %s when more passes", fault == AUDIT_LESS_UNDER_LOAD ? "fewer" : "more");
		break;
	case AUDIT_LOST_BY_LOAD:
		append_text(text, "more is lost when more passes: %.0f%% at quiet times, %.0f%% at busy ones",
		    100 * r->lost_quiet, 100 * r->lost_busy);
		break;
	case AUDIT_RATE_OFF:
		number_format_count(round(r->effective.estimate), number);
		number_format_count(r->mean, other);
		append_text(text, "takes 1 in %s, says 1 in %s", number, other);
		break;
	case AUDIT_IN_STEP:
		number_format_count(round(r->spacing_of), number);
		append_text(text, r->spacing == AUDIT_REPEATING ? "the same skips again after %s samples"
							   : "takes every Nth frame, N = %s", number);
		break;
	case AUDIT_POOL_NOT_COUNTED:
		append_text(text, "its pool is no count of its frames");
		break;
	case AUDIT_AGGREGATED:
		append_text(text, "sound; its port counts packets of several frames, as offloads (GSO, TSO, GRO) make them: %.0f octets"
		    " on average, frames %.0f", r->counted_octets, r->octets);
		break;
	case AUDIT_CLOCK_OFF:
		number_format_age(fabs(r->clock_s), number);
		append_text(text, "its clock is %s %s", number, r->clock_s < 0 ? "behind" : "ahead");
		break;
	case AUDIT_CLOCK_DRIFTS:
		append_text(text, "its clock is %.2g%% %s", 100 * fabs(r->drift), r->drift < 0 ? "slow" : "fast");
		break;
	}
}

/* What explains the rate is said in its place; of a pool that is made up, that nothing else was counted either. */
static unsigned
faults_to_say(const struct audit_result *r)
{
	const unsigned explains = AUDIT_FILTERED | AUDIT_SMALL_LEFT_OUT | AUDIT_LARGE_LEFT_OUT | AUDIT_LESS_UNDER_LOAD |
	    AUDIT_MORE_UNDER_LOAD;
	unsigned say = r->faults;

	if (say & explains)
		say &= ~(unsigned)AUDIT_RATE_OFF;
	if (say & AUDIT_CLOCK_OFF)
		say &= ~(unsigned)AUDIT_CLOCK_DRIFTS;
	if (isnan(r->counted))
		say &= ~(unsigned)AUDIT_POOL_NOT_COUNTED;
	if (r->taken < AUDIT_ENOUGH_SAMPLES)
		say &= ~(unsigned)AUDIT_AGGREGATED;
	return say;
}

static void
say_verdict(const struct judged *j, char *text)
{
	const struct audit_result *r = &j->result;
	unsigned say = faults_to_say(r);

	*text = '\0';
	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		if (say & faults[i].fault) {
			append_text(text, "%s", *text ? "; " : "");
			say_fault(r, faults[i].fault, text);
		}
	if (!*text && r->mean <= 0)
		append_text(text, "not sampled");
	else if (!*text && r->several)
		append_text(text, "several sub-agents sample it, each a part: not judged");
	else if (!*text && r->taken < AUDIT_ENOUGH_SAMPLES)
		append_text(text, "too few samples: %d are needed", AUDIT_ENOUGH_SAMPLES);
	else if (isnan(r->counted) && r->taken >= AUDIT_ENOUGH_SAMPLES)
		append_text(text, "%sno counters to compare with", *text ? "; " : "");
	else if (!*text && r->of_counted.high - r->of_counted.low > KNOWN_PART)
		append_text(text, "no fault found, but samples x rate is known to %.0f%% only: a smaller skip or a longer range tells more",
		    50 * (r->of_counted.high - r->of_counted.low));
	else if (!*text)
		append_text(text, "sound");
	if (j->port->rate_odd)
		append_text(text, "; it states rates that cannot be, and is judged by what was measured");
	if (j->port->numbers_odd)
		append_text(text, "; its sample numbers or pool go back or leap, so they tell no losses");
	if (r->stalled > REPORT_STALLS_TOLD)
		append_text(text, "; its skip counter stood empty for %.0f%% of the frames: a larger skip samples them, too",
		    100 * r->stalled);
	if (r->dropped > DROPS_TOLD)
		append_text(text, "; it dropped %.0f%% of its samples, by its word", 100 * r->dropped / (1 + r->dropped));
}

static void
name_faults(unsigned present, char *text)
{
	*text = '\0';
	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		if (present & faults[i].fault)
			append_text(text, "%s%s", *text ? " " : "", faults[i].name);
}

static void
name_uses(unsigned of, char *text)
{
	*text = '\0';
	for (size_t i = 0; i < ARRAY_LEN(uses); i++)
		if (of & uses[i].use)
			append_text(text, "%s%s", *text ? ", " : "", uses[i].name);
}

static unsigned
spoiled_uses(const struct judged *j)
{
	const struct audit_result *r = &j->result;
	unsigned not_for = j->port->numbers_odd ? USE_LOSSES : 0;

	if (r->mean <= 0)
		return USE_ALL;
	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		not_for |= r->faults & faults[i].fault ? faults[i].spoils : 0;
	if (r->stalled > REPORT_STALLS_TOLD) /* whose that was nobody knows */
		not_for |= USE_SHARES;
	if (j->port->rate_odd || r->dropped > DROPS_TOLD || r->of_counted.high - r->of_counted.low > KNOWN_PART)
		not_for |= USE_MULTIPLY;
	return not_for;
}

/* Whether it was compared, so that samples may be trusted for what no fault spoils. */
static bool
is_judged(const struct audit_result *r)
{
	return r->mean <= 0 || (r->taken >= AUDIT_ENOUGH_SAMPLES && !isnan(r->counted));
}

/* ---- rows ---- */

static void
fill_known(struct report_value *cell, double number)
{
	if (!isnan(number))
		*cell = cell_number(number);
}

static void
fill_of_counted(struct report_value *row, struct estimate_figure of)
{
	char text[TEXT_ROOM];

	snprintf(text, sizeof(text), "%.1f%% (%.1f..%.1f)", 100 * of.estimate, 100 * of.low, 100 * of.high);
	row[COLUMN_OF_COUNTED_TEXT] = cell_text(text);
	row[COLUMN_OF_COUNTED] = cell_figure(of);
}

static void
fill_rate(struct report_value *row, const struct audit_result *r)
{
	row[COLUMN_STATED] = cell_number(r->mean);
	fill_known(&row[COLUMN_COUNTED], r->counted);
	if (!(r->effective.estimate > 0) || !isfinite(r->effective.high))
		return;
	row[COLUMN_TAKES] = cell_number(round(r->effective.estimate));
	row[COLUMN_EFFECTIVE] = cell_figure(r->effective);
	fill_of_counted(row, r->of_counted);
	row[COLUMN_BY] = cell_text(r->against_pool ? "pool" : "port");
	row[COLUMN_FINDS] = cell_number(r->finds);
}

/* "all", "all but limits", "nothing". */
static void
say_trust(unsigned not_for, char *text)
{
	char names[VERDICT_ROOM];

	name_uses(not_for, names);
	*text = '\0';
	append_text(text, "%s%s", not_for == 0 ? "all" : not_for == USE_ALL ? "nothing" : "all but ",
	    not_for == USE_ALL ? "" : names);
}

static void
fill_verdict(struct report_value *row, const struct judged *j)
{
	const struct audit_result *r = &j->result;
	char text[VERDICT_ROOM];

	name_faults(r->faults, text);
	row[COLUMN_FAULTS] = cell_label(text);
	say_verdict(j, text);
	row[COLUMN_VERDICT] = cell_text(text);
	name_uses(spoiled_uses(j), text);
	row[COLUMN_NOT_FOR] = cell_text(text);
	if (!is_judged(r))
		return;
	say_trust(spoiled_uses(j), text);
	row[COLUMN_TRUST_TEXT] = cell_text(text);
	name_uses(USE_ALL & ~spoiled_uses(j), text);
	row[COLUMN_TRUST] = cell_text(text);
}

static int
audit_add_port(struct report_result *result, const struct judged *j)
{
	const struct audit_result *r = &j->result;
	struct report_value *row = result_add_row(result);

	if (!row)
		return -ENOMEM;
	row[COLUMN_SITE] = cell_site(j->port->site);
	row[COLUMN_AGENT] = cell_text(j->port->agent->name);
	row[COLUMN_PORT] = cell_text(j->port->name);
	row[COLUMN_IF_INDEX] = cell_number(j->port->if_index);
	row[COLUMN_SAMPLES] = cell_number(r->received);
	row[COLUMN_SAMPLED] =
	    cell_label(query_sampled_text(j->port->side[EASE_IN].all.n, j->port->side[EASE_OUT].all.n));
	fill_known(&row[COLUMN_COUNTED], r->counted);
	if (r->mean <= 0 && has_samples(j->port)) {
		row[COLUMN_VERDICT] = cell_text("its samples are not kept any more");
		return 0;
	}
	fill_verdict(row, j);
	if (r->mean <= 0 && j->port->refused > 0)
		row[COLUMN_VERDICT] = cell_text(oddities_refusal(j->port->refused_kind));
	if (r->mean <= 0)
		return 0;
	fill_rate(row, r);
	if (j->port->rate_odd)
		row[COLUMN_STATED] = (struct report_value){0};
	fill_known(&row[COLUMN_OCTETS], r->octets);
	fill_known(&row[COLUMN_COUNTED_OCTETS], r->counted_octets);
	row[COLUMN_SPACING] = cell_text(spacing_names[r->spacing]);
	if (r->faults & AUDIT_LOST_BY_LOAD) {
		row[COLUMN_LOST_QUIET] = cell_number(100 * r->lost_quiet);
		row[COLUMN_LOST_BUSY] = cell_number(100 * r->lost_busy);
	}
	if (r->spacing_of > 0)
		row[COLUMN_SPACING_OF] = cell_number(r->spacing_of);
	row[COLUMN_POOL] = cell_text(pool_names[r->pool]);
	fill_known(&row[COLUMN_POOL_OF_COUNTED], r->pool_of_counted);
	if (!j->port->numbers_odd)
		row[COLUMN_LOST] = cell_number(100 * r->lost);
	fill_known(&row[COLUMN_CLOCK], isnan(r->clock_s) ? NAN : round(1000 * r->clock_s) / 1000);
	fill_known(&row[COLUMN_CLOCK_DRIFT], r->drift);
	row[COLUMN_FROM] = cell_time(r->from_us);
	row[COLUMN_TO] = cell_time(r->to_us);
	return 0;
}

/* What a tool that multiplies samples by rates shows of all that the ports counted. Their errors are independent. */
static int
audit_add_all(struct report_result *result, const struct judged *judged, size_t n)
{
	double counted = 0, by_samples = 0, below = 0, above = 0, samples = 0;
	struct report_value *row;
	size_t n_known = 0;

	for (size_t i = 0; i < n; i++) {
		const struct audit_result *r = &judged[i].result;
		const struct estimate_figure *of = &r->of_counted;

		if (!(r->counted > 0) || (r->mean > 0 && !(of->estimate > 0)))
			continue;
		n_known++;
		samples += r->received;
		counted += r->counted;
		by_samples += of->estimate * r->counted;
		below += pow((of->estimate - of->low) * r->counted, 2);
		above += pow((of->high - of->estimate) * r->counted, 2);
	}
	if (n_known < 2)
		return 0;
	row = result_add_row(result);
	if (!row)
		return -ENOMEM;
	row[COLUMN_PORT] = cell_text("all ports");
	row[COLUMN_SAMPLES] = cell_number(samples);
	row[COLUMN_COUNTED] = cell_number(counted);
	fill_of_counted(row, (struct estimate_figure){by_samples / counted, fmax(0, by_samples - sqrt(below)) / counted,
	    (by_samples + sqrt(above)) / counted});
	return 0;
}

/* ---- ports ---- */

static bool
audit_is_aggregate(const struct query *query, const struct query_port *port)
{
	for (size_t i = 0; i < query->n_ports; i++)
		if (query->ports[i].agent == port->agent && query->ports[i].lag_parent == port->if_index)
			return true;
	return false;
}

static double
counted_frames(const struct query_port *port)
{
	return port->side[EASE_IN].pool_pkts + port->side[EASE_OUT].pool_pkts + port->cut[EASE_IN].pkts +
	    port->cut[EASE_OUT].pkts;
}

/* So few frames need not have a sample. */
enum { UNSAMPLED_FRAMES = 1000, UNSAMPLED_SAMPLES = 20 };

static bool
lacks_samples(const struct query *query, const struct query_port *port, double mean)
{
	return port->received == 0 && counted_frames(port) >= fmax(UNSAMPLED_FRAMES, UNSAMPLED_SAMPLES * mean) &&
	    !audit_is_aggregate(query, port);
}

/* The largest mean skip of an agent's ports. */
static double
mean_of_agent(const struct query *query, const struct query_agent *agent)
{
	double mean = 0;

	for (size_t i = 0; i < query->n_ports; i++)
		for (int d = EASE_IN; d <= EASE_OUT; d++) {
			const struct estimate_sums *all = &query->ports[i].side[d].all;

			if (query->ports[i].agent == agent && all->n > 0)
				mean = fmax(mean, all->w / (double)all->n);
		}
	return mean;
}

static void
add_loss(struct audit_result *r, const struct load_loss *loss)
{
	if (!loss->told)
		return;
	r->faults |= AUDIT_LOST_BY_LOAD;
	r->lost_quiet = loss->quiet;
	r->lost_busy = loss->busy;
}

static int
audit_judge_ports(struct query *query, struct judged *judged, size_t n, size_t n_sampled)
{
	struct loss_by_load losses;
	struct audit_reader reader;
	int err = audit_reader_begin(&reader, query), of_losses = loss_by_load_find(query, NULL, &losses);

	err = err ? err : of_losses;
	for (size_t i = 0; err == 0 && i < n; i++) {
		struct audit_input input;

		judged[i].result = (struct audit_result){.counted = counted_frames(judged[i].port),
		    .pool_of_counted = NAN, .octets = NAN, .counted_octets = NAN, .clock_s = NAN, .drift = NAN};
		if (!has_samples(judged[i].port))
			continue;
		err = audit_read(&reader, judged[i].port, &input);
		input.error = FALSE_VERDICTS / (double)(AUDIT_TESTS * n_sampled);
		if (err == 0)
			err = audit_judge(&input, &judged[i].result);
		if (err == 0)
			add_loss(&judged[i].result, &losses.ports[judged[i].port - query->ports]);
	}
	loss_by_load_free(&losses);
	audit_reader_end(&reader);
	return err;
}

static int
add_ports(struct query *query, struct report_result *result)
{
	struct judged *judged = calloc(query->n_ports + 1, sizeof(*judged));
	size_t n = 0, n_sampled = 0;
	int err = judged ? 0 : -ENOMEM;

	for (size_t i = 0; err == 0 && i < query->n_ports; i++) {
		const struct query_port *port = &query->ports[i];

		if (!port->chosen || (!has_samples(port) &&
		    !lacks_samples(query, port, mean_of_agent(query, port->agent))))
			continue;
		n_sampled += has_samples(port);
		judged[n++].port = port;
		result_count_port(result, port);
	}
	if (err == 0)
		err = audit_judge_ports(query, judged, n, n_sampled > 0 ? n_sampled : 1);
	for (size_t i = 0; err == 0 && i < n; i++)
		err = audit_add_port(result, &judged[i]);
	if (err == 0)
		err = audit_add_all(result, judged, n);
	free(judged);
	return err;
}

/* ---- uplinks ---- */

static double
listed_octets(const struct query *query)
{
	double octets = 0;

	for (size_t i = 0; i < query->n_ports; i++)
		if (query->ports[i].edge)
			octets += estimate_total(ESTIMATE_OCTETS, query_listed(&query->ports[i]));
	return octets;
}

/* Of what an uplink received, the part whose senders were counted where they are at home. */
static double
octets_twice(const struct query_port *port, const struct uplink_sight *sight)
{
	return sight->frames > 0 ? estimate_total(ESTIMATE_OCTETS, query_listed(port)) *
	    (double)sight->frames_elsewhere / (double)sight->frames : 0;
}

static int
add_uplink(struct report_result *table, const struct query_port *port, const struct uplink_sight *sight, double part)
{
	struct report_value *row = result_add_row(table);
	char option[QUERY_AGENT_TEXT + TEXT_ROOM] = "";

	if (!row)
		return -ENOMEM;
	if (!port->agent->lacks_address) /* else it would name another's port */
		snprintf(option, sizeof(option), "uplink %s %" PRIu64, port->agent->address, port->if_index);
	row[UPLINK_AGENT] = cell_text(port->agent->name);
	row[UPLINK_PORT] = cell_text(port->name);
	row[UPLINK_IF_INDEX] = cell_number(port->if_index);
	row[UPLINK_STATIONS] = cell_number((double)sight->stations);
	row[UPLINK_ELSEWHERE] = cell_number((double)sight->elsewhere);
	row[UPLINK_TWICE] = cell_number(100 * part);
	row[UPLINK_OPTION] = cell_text(option);
	return 0;
}

static int
add_uplinks(struct query *query, struct report_result *result)
{
	double listed = listed_octets(query), all = 0;
	struct uplink_sight *sights;
	struct report_value *row;
	int err = uplink_search(query, &sights);

	if (err == 0)
		err = result_add_below(result, "uplinks", uplink_columns, UPLINK_COLUMNS);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++) {
		const struct query_port *port = &query->ports[i];
		double twice;

		if (!port->edge || !port->chosen || !uplink_is_likely(&sights[i]))
			continue;
		twice = octets_twice(port, &sights[i]);
		all += twice;
		err = add_uplink(result->below, port, &sights[i], listed > 0 ? twice / listed : 0);
	}
	if (err == 0 && result->below->n_rows > 1) {
		row = result_add_row(result->below);
		if (!row)
			err = -ENOMEM;
		else {
			row[UPLINK_AGENT] = cell_text("all");
			row[UPLINK_TWICE] = cell_number(listed > 0 ? 100 * all / listed : 0);
		}
	}
	free(sights);
	return err;
}

int
report_audit(struct query *query, const struct report_options *options, uint64_t now_us, struct report_result *result)
{
	int err = query_begin(query, options, now_us);

	if (err)
		return err;
	result_begin(result, "audit", columns, N_COLUMNS, query);
	err = query_windows(query);
	if (err == 0)
		err = oddities_read_refusals(query);
	if (err == 0)
		err = add_ports(query, result);
	if (err == 0)
		err = add_uplinks(query, result);
	result_hide_agent(result, query, COLUMN_AGENT);
	result->hidden |= query->n_sent_agents > 0 ? 0 : 1u << COLUMN_SAMPLED;
	result_finish(result, query);
	return err;
}
