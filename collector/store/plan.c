#include "collector/store/plan.h"
#include "common/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_S 3600.0
#define DAY_H 24.0

/* Where something is kept for ever, so many hours of it are reckoned. */
#define EVER_H (10 * 366 * DAY_H)

/* Measured: make bench (tests/bench/bench_disk) prints these rows. Sums of eight days are not measured but taken for an
 * eighth of those of days. *assumed*: nearly each key of a day is in the days beside it, too. */
const struct plan_kind plan_kinds[PLAN_N_KINDS] = {
    {"idle", 0.01, 110, {0, 184, 95, 27, 25, 3}, 112, 4300},
    {"office", 0.1, 108, {0, 57, 26, 16, 16, 2}, 78, 7500},
    {"busy", 1, 110, {0, 17, 14, 11, 8.6, 1}, 85, 12900},
};

/* Of 128 octets, and 49 for its place in an index and a fuller page: measured at 64 and at 114 octets. */
#define HEADER_OCTETS 177.0

/* An agent sends each port's counters so often, or with its samples. */
#define COUNTERS_EVERY_S 20.0

/* ---- reckoning ---- */

static double
part_between(double a, double b, double part)
{
	return a + part * (b - a);
}

static void
mix_kinds(const struct plan_kind *a, const struct plan_kind *b, double part, struct plan_kind *kind)
{
	kind->sample_octets = part_between(a->sample_octets, b->sample_octets, part);
	kind->counter_octets = part_between(a->counter_octets, b->counter_octets, part);
	kind->port_octets = part_between(a->port_octets, b->port_octets, part);
	for (int l = 0; l < STORE_N_LEVELS; l++)
		kind->sums_octets[l] = part_between(a->sums_octets[l], b->sums_octets[l], part);
}

/* By the logarithm of samples; of quieter and of busier ports as of the quietest and of the busiest. */
static void
find_kind(double samples_a_port, struct plan_kind *kind)
{
	int i = 0;
	double part;

	while (i < PLAN_N_KINDS - 2 && samples_a_port > plan_kinds[i + 1].samples_a_port)
		i++;
	part = samples_a_port > 0 ? log(samples_a_port / plan_kinds[i].samples_a_port) /
		log(plan_kinds[i + 1].samples_a_port / plan_kinds[i].samples_a_port) : 0;
	part = fmin(1, fmax(0, part));
	*kind = plan_kinds[part < 0.5 ? i : i + 1];
	kind->samples_a_port = samples_a_port;
	mix_kinds(&plan_kinds[i], &plan_kinds[i + 1], part, kind);
}

static double
hours_of(uint64_t span_us, double most_h)
{
	double kept_h = span_us > 0 ? (double)span_us / 1e6 / HOUR_S : EVER_H;

	return fmin(kept_h, most_h);
}

/* Rows of a port (retention.h): all of the first ten minutes, at most one a second; then two of each ten seconds, of
 * each minute, and of each window of the next level from when a level's windows are deleted. */
static double
counter_rows(const struct plan_question *q, double samples_a_port)
{
	double per_s = fmax(1 / COUNTERS_EVERY_S, fmin(1, samples_a_port)), ran_s = fmin(q->hours, EVER_H) * HOUR_S;
	double at_s = fmin(ran_s, 600), rows = per_s * at_s, end_s = fmin(ran_s, 600 + HOUR_S);

	rows += (end_s - at_s) * fmin(per_s, 2e6 / (double)STORE_COUNTERS_STEP_US);
	at_s = end_s;
	for (int l = LEVEL_1_MIN; l <= LEVEL_1_D; l++) {
		end_s = hours_of(q->keep.level_us[l], q->hours) * HOUR_S;
		if (end_s <= at_s)
			continue;
		rows += (end_s - at_s) * fmin(per_s, 2e6 / (double)store_levels[l].span_us);
		at_s = end_s;
	}
	return rows;
}

/* What is beyond the size, but for the parts of small tables, is deleted: samples first, then sums, the finest first. */
static void
fit_plan(const struct plan_question *q, struct plan *plan)
{
	double over = q->keep.most_octets > 0 ? plan->all - (double)shares_of_others(q->keep.most_octets) : 0;
	double part = plan->samples > 0 ? fmin(1, fmax(0, over) / plan->samples) : 0;

	plan->fits = over <= 0;
	plan->samples_h *= 1 - part;
	over -= part * plan->samples;
	for (int l = LEVEL_1_MIN; l < STORE_N_LEVELS; l++) {
		part = plan->sums[l] > 0 ? fmin(1, fmax(0, over) / plan->sums[l]) : 0;
		plan->sums_h[l] *= 1 - part;
		over -= part * plan->sums[l];
	}
}

void
plan_reckon(const struct plan_question *q, struct plan *plan)
{
	double samples_an_h = q->samples_per_s * HOUR_S;

	*plan = (struct plan){.samples_h = hours_of(q->keep.samples_us, q->hours)};
	find_kind(q->samples_per_s / fmax(1, q->ports), &plan->kind);
	plan->samples = fmin(q->samples_per_s, q->sample_rows) * HOUR_S * plan->samples_h * plan->kind.sample_octets;
	if (q->keep.headers_us > 0)
		plan->headers = fmin(q->samples_per_s, q->sample_rows) * HOUR_S *
		    fmin(plan->samples_h, hours_of(q->keep.headers_us, q->hours)) * HEADER_OCTETS;
	plan->samples += plan->headers;
	plan->counters = q->ports * counter_rows(q, plan->kind.samples_a_port) * plan->kind.counter_octets;
	plan->ports = q->ports * plan->kind.port_octets;
	plan->all = plan->samples + plan->counters + plan->ports;
	for (int l = LEVEL_1_MIN; l < STORE_N_LEVELS; l++) {
		/* a window is made when it is complete */
		double whole_h = fmax(0, q->hours - (double)store_levels[l].span_us / 1e6 / HOUR_S);

		plan->sums_h[l] = hours_of(q->keep.level_us[l == LEVEL_8_D ? LEVEL_1_D : l], whole_h);
		plan->sums[l] = samples_an_h * plan->sums_h[l] * plan->kind.sums_octets[l];
		plan->all += plan->sums[l];
	}
	fit_plan(q, plan);
}

/* ---- what is asked ---- */

static int
plan_set_number(const char *name, const char *value, struct plan_question *q)
{
	char *end;
	double number = strtod(value, &end);

	if (*end || !(number > 0) || number > 1e9)
		return -EINVAL;
	if (strcmp(name, "ports") == 0)
		q->ports = number;
	else if (strcmp(name, "samples") == 0)
		q->samples_per_s = number;
	else if (strcmp(name, "days") == 0)
		q->keep.samples_us = (uint64_t)(fmin(number, 36500) * DAY_H * HOUR_S * 1e6);
	else
		return -EINVAL;
	return 0;
}

int
plan_parse(const char *text, struct plan_question *q, char *error, size_t error_size)
{
	char copy[256], *rest = copy, *part;

	q->hours = INFINITY;
	snprintf(copy, sizeof(copy), "%s", text);
	while ((part = strsep(&rest, ","))) {
		char *value = strchr(part, '=');

		if (value)
			*value++ = '\0';
		if (!value || plan_set_number(part, value, q) < 0) {
			snprintf(error, error_size, "--plan %s: must be ports=N,samples=N[,days=N], samples of a second",
			    text);
			return -EINVAL;
		}
	}
	if (q->ports > 0 && q->samples_per_s > 0)
		return 0;
	snprintf(error, error_size, "--plan %s: needs ports=N and samples=N", text);
	return -EINVAL;
}

/* ---- what is answered ---- */

static void
format_hours(double hours, char text[32])
{
	if (hours >= EVER_H)
		snprintf(text, 32, "10 years");
	else if (hours >= 3 * DAY_H)
		snprintf(text, 32, "%.0f days", hours / DAY_H);
	else
		snprintf(text, 32, "%.*f h", hours > 0 && hours < 10 ? 1 : 0, hours);
}

static void
print_line(FILE *out, const char *what, double hours, double octets)
{
	char kept[32] = "";

	if (hours > 0)
		format_hours(hours, kept);
	fprintf(out, "%-22s %10s %12.0f\n", what, kept, ceil(octets / (1 << 20)));
}

static const struct kept {
	const char *word; /* of the option keep */
	enum store_level_index level; /* LEVEL_UNSETTLED: samples */
	double unit_h;
} kepts[] = {
    {"samples", LEVEL_UNSETTLED, 1},
    {"1min", LEVEL_1_MIN, 1},
    {"5min", LEVEL_5_MIN, DAY_H},
    {"1h", LEVEL_1_H, DAY_H},
    {"1d", LEVEL_1_D, DAY_H},
};

static uint64_t *
span_kept(struct store_retention *keep, const struct kept *kept)
{
	return kept->level == LEVEL_UNSETTLED ? &keep->samples_us : &keep->level_us[kept->level];
}

/* The same question, if nothing is kept longer than that, in whole units of its option, but one at least. */
static struct plan_question
kept_at_most(const struct plan_question *q, double hours)
{
	struct plan_question shorter = *q;

	for (size_t i = 0; i < sizeof(kepts) / sizeof(kepts[0]); i++) {
		uint64_t *span_us = span_kept(&shorter.keep, &kepts[i]);
		double units = fmax(1, floor(fmin(hours_of(*span_us, INFINITY), hours) / kepts[i].unit_h));

		if (hours_of(*span_us, INFINITY) > hours)
			*span_us = (uint64_t)(units * kepts[i].unit_h * HOUR_S * 1e6);
	}
	return shorter;
}

/* Options with which all that they keep fits: what is kept longest, which is what takes most, is kept shorter. */
static void
print_advice(FILE *out, const struct plan_question *q)
{
	double low = 1, high = EVER_H;
	struct plan_question as_is = *q, shorter;
	struct plan plan;
	const char *between = "";

	while (high - low > 0.5) {
		double middle = (low + high) / 2;

		shorter = kept_at_most(q, middle);
		plan_reckon(&shorter, &plan);
		*(plan.fits ? &low : &high) = middle;
	}
	shorter = kept_at_most(q, low);
	plan_reckon(&shorter, &plan);
	if (!plan.fits) {
		fputs("A larger store_size is needed, whatever is kept for how long\n", out);
		return;
	}
	fputs("All fits with keep = {", out);
	for (size_t i = 0; i < sizeof(kepts) / sizeof(kepts[0]); i++) {
		uint64_t span_us = *span_kept(&shorter.keep, &kepts[i]);

		if (span_us == *span_kept(&as_is.keep, &kepts[i]))
			continue;
		fprintf(out, "%s\"%s %.0f%c\"", between, kepts[i].word, hours_of(span_us, INFINITY) / kepts[i].unit_h,
		    kepts[i].unit_h > 1 ? 'd' : 'h');
		between = ", ";
	}
	fputs("}\n", out);
}

void
plan_format_stays(const struct plan *plan, char text[PLAN_STAYS_TEXT])
{
	char kept[32];

	format_hours(plan->samples_h, kept);
	snprintf(text, PLAN_STAYS_TEXT, "samples stay %s", kept);
	for (int l = LEVEL_1_MIN; plan->samples_h == 0 && l <= LEVEL_1_D; l++) {
		format_hours(plan->sums_h[l], kept);
		text_add(text, PLAN_STAYS_TEXT, ", sums of %s %s", store_levels[l].name, kept);
	}
}

/* Of a plan that does not fit. */
static double
hours_until_full(const struct plan_question *q)
{
	double low = 0, high = EVER_H;

	while (high - low > 0.05) {
		struct plan_question early = *q;
		struct plan plan;

		early.hours = (low + high) / 2;
		plan_reckon(&early, &plan);
		*(plan.fits ? &low : &high) = early.hours;
	}
	return low;
}

static void
print_fit(FILE *out, const struct plan_question *q, const struct plan *plan)
{
	double mib = (double)(q->keep.most_octets >> 20);
	char stays[PLAN_STAYS_TEXT], full[32];

	if (q->keep.most_octets == 0) {
		fputs("store_size = 0: the disk is the limit\n", out);
		return;
	}
	if (plan->fits) {
		fprintf(out, "store_size = %.0f is enough\n", mib);
		return;
	}
	plan_format_stays(plan, stays);
	format_hours(hours_until_full(q), full);
	fprintf(out, "store_size = %.0f is too small: it is full after %s; then %s\n", mib, full, stays);
	print_advice(out, q);
}

void
plan_print(FILE *out, const struct plan_question *q)
{
	double kept_free = (double)(q->keep.most_octets - shares_of_others(q->keep.most_octets));
	struct plan plan;

	plan_reckon(q, &plan);
	fprintf(out, "%.0f ports, %g samples a second: %.3g a port, most like %s (%.0f octets a sample row)\n\n",
	    q->ports, q->samples_per_s, plan.kind.samples_a_port, plan.kind.name, plan.kind.sample_octets);
	fprintf(out, "%-22s %10s %12s\n", "", "KEPT", "MiB");
	print_line(out, "samples", hours_of(q->keep.samples_us, INFINITY), plan.samples - plan.headers);
	if (q->keep.headers_us > 0)
		print_line(out, "their headers", hours_of(q->keep.headers_us, INFINITY), plan.headers);
	for (int l = LEVEL_1_MIN; l <= LEVEL_1_D; l++) {
		char what[32];

		snprintf(what, sizeof(what), "sums of %s", store_levels[l].name);
		print_line(out, what, hours_of(q->keep.level_us[l], INFINITY),
		    plan.sums[l] + (l == LEVEL_1_D ? plan.sums[LEVEL_8_D] : 0));
	}
	print_line(out, "counters", 0, plan.counters);
	print_line(out, "ports, places", 0, plan.ports);
	print_line(out, "events, drops", 0, kept_free);
	print_line(out, "all", 0, plan.all + kept_free);
	fputc('\n', out);
	print_fit(out, q, &plan);
}
