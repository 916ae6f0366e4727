#include "tests/collector/estimate/bars.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const unit_name[] = {"packets", "octets"};

void
bars_judge(struct bars_tally *tally, const struct estimate_figure *figure, double truth)
{
	tally->trials++;
	tally->low += truth < figure->low * (1 - 1e-9) - 1e-6;
	tally->high += truth > figure->high * (1 + 1e-9) + 1e-6;
}

void
bars_count(struct bars_tally *tally, bool wrong)
{
	tally->trials++;
	tally->low += wrong;
}

/* How far `part` is beyond a bar of at most `most`, in standard deviations; less than 0: it is not. */
static double
beyond(double part, double most, unsigned long trials)
{
	double n = (double)trials;

	return (part - most) / sqrt(fmax(most, 10 / n) * (1 - most) / n);
}

static double
worst(const struct bars_tally *t, const struct bar *bar)
{
	double low = (double)t->low / (double)t->trials, high = (double)t->high / (double)t->trials;
	double most = bar->least > 0 ? beyond(low + high, 1 - bar->least, t->trials) : -1;

	if (bar->most > 0)
		most = fmax(most, -beyond(low + high, 1 - bar->most, t->trials));
	if (bar->low > 0)
		most = fmax(most, beyond(low, bar->low, t->trials));
	if (bar->high > 0)
		most = fmax(most, beyond(high, bar->high, t->trials));
	return most;
}

static const struct bars_exception *
exception_of(const struct bars_exception *exceptions, const char *name, enum estimate_unit unit)
{
	for (; exceptions && exceptions->name; exceptions++)
		if (exceptions->unit == unit && strcmp(exceptions->name, name) == 0)
			return exceptions;
	return NULL;
}

static void
print_bar(const struct bar *bar)
{
	if (bar->least > 0)
		printf(" from %g", bar->least);
	if (bar->most > 0)
		printf(" to %g", bar->most);
	if (bar->low > 0)
		printf(" low %g", bar->low);
	if (bar->high > 0)
		printf(" high %g", bar->high);
}

bool
bars_check(const char *name, enum estimate_unit unit, const struct bars_tally *t, const struct bar *bar,
    const struct bars_exception *exceptions)
{
	const struct bars_exception *exception = exception_of(exceptions, name, unit);
	double n = (double)t->trials, distance = worst(t, bar);

	ck_assert_msg(t->trials >= 30, "%s, %s: %lu trials tell nothing", name, unit_name[unit], t->trials);
	printf("%-58s %-7s %8lu trials, held %.4f, low %.5f, high %.5f | bar", name, unit_name[unit], t->trials,
	    1 - (double)(t->low + t->high) / n, (double)t->low / n, (double)t->high / n);
	print_bar(bar);
	if (distance <= 0)
		printf(": reached");
	else if (distance <= 3)
		printf(": reached but for the noise of so few trials");
	else
		printf(": NOT REACHED%s%s", exception ? ": " : "", exception ? exception->why : "");
	if (exception) {
		printf(" | it holds");
		print_bar(&exception->holds);
		distance = worst(t, &exception->holds);
	}
	printf("%s\n", distance <= 3 ? "" : " | FAILED");
	fflush(stdout);
	return distance <= 3;
}
