#include "collector/estimate/load_loss.h"
#include "collector/estimate/quantiles.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Cells are compared with those of their block: a loss that came and went within hours has nothing to do with what
 * passes in minutes. What is lost at once may last for HANGS_MAX cells; loss that came later is another one. */
enum { BLOCK = 32, HANGS_MAX = 8 };

struct score {
	size_t at;
	double load, expected, lost;
	double weight;	    /* of a number: between counting numbers alike and counting cells alike */
	double x;	    /* by load and weighted: 0 on the average of the block's numbers */
	double off, spread; /* lost beyond the block's part; variance of that if each were lost for itself */
};

static int
by_load(const void *a, const void *b)
{
	const struct score *x = a, *y = b;

	return x->load < y->load ? -1 : x->load > y->load;
}

static int
load_loss_by_time(const void *a, const void *b)
{
	const struct score *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Ridits: the part of the block that was given out at a lower load (Bross, Biometrics 14 (1958) 18). If each number is
 * lost with the same probability, the scores of those lost are 0 on the average, in runs or not. */
static void
set_scores(struct score *s, size_t n, double all)
{
	double below = 0, tied;

	qsort(s, n, sizeof(*s), by_load);
	for (size_t i = 0, k; i < n; i = k, below += tied) {
		tied = 0;
		for (k = i; k < n && s[k].load == s[i].load; k++)
			tied += s[k].weight * s[k].expected;
		for (size_t j = i; j < k; j++)
			s[j].x = s[j].weight * ((below + tied / 2) / all - 0.5);
	}
	qsort(s, n, sizeof(*s), load_loss_by_time);
}

static void
score_block(struct score *s, size_t n)
{
	double expected = 0, lost = 0, all = 0, part;

	for (size_t i = 0; i < n; i++) {
		expected += s[i].expected;
		lost += s[i].lost;
		all += s[i].weight * s[i].expected;
	}
	if (expected <= 0)
		return;
	part = fmin(1, lost / expected);
	for (size_t i = 0; i < n; i++) {
		s[i].off = s[i].lost - part * s[i].expected;
		s[i].spread = part * (1 - part) * s[i].expected;
	}
	set_scores(s, n, all);
}

/* How much more the losses of so many cells scatter than if each number were lost for itself: the mean size of what is
 * lost at once. */
static double
clumps_at(const struct score *s, size_t n, size_t cells)
{
	double sum = 0, used = 0;

	for (size_t i = 0, k; i < n; i = k) {
		double off = 0, spread = 0;

		for (k = i; k < n && k < i + cells; k++) {
			off += s[k].off;
			spread += s[k].spread;
		}
		if (spread > 0) {
			sum += off * off / spread;
			used++;
		}
	}
	return used > 0 ? sum / used : 1;
}

/* The sum of scores against its scatter as it was seen, and against that of single losses times their clumps: cells
 * with few numbers may have been spared by chance, and then what was seen is not enough. The first is nearly normal,
 * for the second the bound of Hoeffding (JASA 58 (1963) 13) is taken. */
static bool
is_more_than_chance(const struct score *s, size_t n, double error)
{
	double sum = 0, seen = 0, single = 0, clumps = 1;

	for (size_t i = 0; i < n; i++) {
		sum += s[i].off * s[i].x;
		seen += s[i].off * s[i].x * s[i].off * s[i].x;
		single += s[i].spread * s[i].x * s[i].x;
	}
	for (size_t cells = 1; cells <= HANGS_MAX; cells *= 2)
		clumps = fmax(clumps, clumps_at(s, n, cells));
	return single > 0 && sum > normal_upper_quantile(error) * sqrt(seen) &&
	    sum > sqrt(-2 * log(error) * clumps * single);
}

static void
set_parts(const struct score *s, size_t n, struct load_loss *result)
{
	double lost[2] = {0}, expected[2] = {0};

	for (size_t i = 0; i < n; i++) {
		lost[s[i].x > 0] += s[i].lost;
		expected[s[i].x > 0] += s[i].expected;
	}
	result->quiet = expected[0] > 0 ? fmax(0, lost[0] / expected[0]) : 0;
	result->busy = expected[1] > 0 ? fmax(0, lost[1] / expected[1]) : 0;
}

int
load_loss_judge(const struct load_loss_cell *cells, size_t n, double error, struct load_loss *result)
{
	struct score *s;

	*result = (struct load_loss){0};
	if (n < LOAD_LOSS_CELLS_MIN)
		return 0;
	s = calloc(n, sizeof(*s));
	if (!s)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		s[i] = (struct score){.at = i, .load = cells[i].load, .expected = fmax(0, cells[i].expected),
		    .lost = cells[i].lost, .weight = cells[i].expected > 0 ? 1 / sqrt(sqrt(cells[i].expected)) : 0};
	for (size_t i = 0, k; i < n; i = k) {
		k = n - i < 2 * BLOCK ? n : i + BLOCK;
		score_block(s + i, k - i);
	}
	result->told = is_more_than_chance(s, n, error);
	set_parts(s, n, result);
	free(s);
	return 0;
}
