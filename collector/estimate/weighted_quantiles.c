#include "collector/estimate/weighted_quantiles.h"

#include "collector/estimate/quantiles.h"

#include <math.h>
#include <stdlib.h>

static int
compare_values(const void *a, const void *b)
{
	const struct weighted_value *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

struct weighted_values
weighted_values_sort(struct weighted_value *items, size_t n)
{
	struct weighted_values values = {items, n, 0};
	double weight = 0, squares = 0;

	if (n > 1)
		qsort(items, n, sizeof(*items), compare_values);
	for (size_t i = 0; i < n; i++) {
		values.heaviest = fmax(values.heaviest, items[i].weight);
		weight += items[i].weight;
		squares += items[i].weight * items[i].weight;
		items[i].weight = weight;
		items[i].squares = squares;
	}
	return values;
}

/* How many samples of one weight tell as much of how many frames lie above the first `below` values. The mean weight of
 * either side comes with half a sample of the heaviest weight: a side with few samples may only by chance have light
 * ones. */
static double
effective_number(const struct weighted_values *v, size_t below, double q)
{
	const struct weighted_value all = v->items[v->n - 1];
	const struct weighted_value low = below > 0 ? v->items[below - 1] : (struct weighted_value){0, 0, 0};
	double half = v->heaviest / 2, more = half * v->heaviest;
	double mean_below = (low.squares + more) / (low.weight + half);
	double mean_above = (all.squares - low.squares + more) / (all.weight - low.weight + half);

	return all.weight / ((1 - q) * mean_below + q * mean_above);
}

/* The probability that so few frames lie below, or so many, if the quantile was where the first `below` values end. */
static double
tail_of(const struct weighted_values *v, size_t below, double q, bool is_few)
{
	double n = effective_number(v, below, q);
	double k = n * (below > 0 ? v->items[below - 1].weight : 0) / v->items[v->n - 1].weight;

	if (is_few)
		return beta_lower_tail(1 - q, n - k, k + 1);
	return beta_lower_tail(q, k, n - k + 1);
}

/* How many values lie below the one that is the limit: the nearest to `from` that is far enough from the quantile. Such
 * limits are order statistics where all weights are equal. Returns n where there is none. */
static size_t
find_limit(const struct weighted_values *v, size_t from, double q, double error, bool is_low)
{
	size_t good = is_low ? 0 : v->n - 1, bad = from, middle;

	if (tail_of(v, is_low ? good : good + 1, q, is_low) > error)
		return v->n;
	if (tail_of(v, is_low ? bad : bad + 1, q, is_low) <= error)
		return bad;
	while ((good > bad ? good - bad : bad - good) > 1) {
		middle = (good + bad) / 2;
		if (tail_of(v, is_low ? middle : middle + 1, q, is_low) <= error)
			good = middle;
		else
			bad = middle;
	}
	return good;
}

/* The first value up to which a part q of the weight lies. */
static size_t
find_quantile(const struct weighted_values *v, double q)
{
	double wanted = q * v->items[v->n - 1].weight;
	size_t low = 0, high = v->n - 1;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (v->items[middle].weight < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct estimate_figure
weighted_values_quantile(const struct weighted_values *v, double q, double error)
{
	struct estimate_figure figure = {NAN, NAN, NAN};
	size_t at, low, high;

	if (v->n == 0)
		return figure;
	at = find_quantile(v, q);
	low = find_limit(v, at, q, error, true);
	high = find_limit(v, at, q, error, false);
	if (low < v->n)
		figure.low = v->items[low].value;
	if (high < v->n)
		figure.high = v->items[high].value;
	if (low < v->n && high < v->n)
		figure.estimate = v->items[at].value;
	return figure;
}
