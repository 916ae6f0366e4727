#include "collector/precision/demand.h"

#include "collector/estimate/estimate_list.h"
#include "collector/estimate/quantiles.h"

#include <assert.h>
#include <math.h>

#define FEW_SAMPLES 10.0  /* of a row: then its share says little */
#define NEAR_SHARE  0.8   /* of the share that a goal asks for: such a key may have it the next time */
#define MOST_FOR_OCTETS 50.0 /* frames of 64 octets, and one in some hundred of 1,500 */

double
precision_low_z(size_t i, size_t n_keys)
{
	assert(i >= 1);
	return normal_upper_quantile(estimate_claim_of_row(i, i < n_keys ? n_keys : i).low_error);
}

double
precision_samples_of_key(double width, double z)
{
	double upper_z = normal_upper_quantile(estimate_claim_of_row(1, 1).high_error);
	/* Where limits of counts meet: n -+ z sqrt(n) with their next terms, (z^2 - 1) / 3 below and (z^2 + 2) / 3 above. */
	double low = (z + sqrt(fmax(0, z * z - 4 * width * (z * z - 1) / 3))) / (2 * width);
	double high = (upper_z + sqrt(upper_z * upper_z + 4 * width * (upper_z * upper_z + 2) / 3)) / (2 * width);

	return fmax(low * low, high * high);
}

bool
precision_is_asked(const struct precision_goal *goal, const struct precision_list *list, size_t i)
{
	return i < list->n_rows && (goal->top ? i < goal->top : list->rows[i].share >= goal->share);
}

static double
demand_of_share(const struct precision_goal *goal, double share, size_t rank, size_t n_keys)
{
	return precision_samples_of_key(goal->width, precision_low_z(rank, n_keys)) * (1 - share) / share;
}

/* Samples are of frames. */
static double
share_of_pkts(const struct precision_row *row)
{
	return row->pkts_share > 0 ? row->pkts_share : row->share;
}

/* So many times the samples, as widths go with their root; what varies less than frames do is not believed. */
static double
more_for_octets(const struct precision_row *row)
{
	return fmin(fmax(1, row->widths * row->widths), MOST_FOR_OCTETS);
}

double
precision_demand(const struct precision_goal *goal, const struct precision_list *list, double before)
{
	size_t n_above = 0;
	bool few = list->n_rows == 0;
	double v = 0, more = 1;

	if (before == 0)
		return PRECISION_FIRST_DEMAND;
	for (size_t i = 0; i < list->n_rows; i++) {
		const struct precision_row *row = &list->rows[i];

		if (goal->top ? i >= goal->top : row->share < NEAR_SHARE * goal->share)
			break;
		n_above += row->share >= goal->share;
		few = few || (goal->top && row->samples < FEW_SAMPLES);
		/* Rows stand where they are by luck, too. */
		v = fmax(v, more_for_octets(row) *
			demand_of_share(goal, share_of_pkts(row) * (1 - 1 / sqrt(row->samples + 1)), i + 1, list->n_keys));
		more = fmax(more, more_for_octets(row));
	}
	if (!goal->top)
		v = fmax(v, more * demand_of_share(goal, goal->share, n_above + 1, list->n_keys));
	if (few)
		v = fmax(v, 2 * before);
	else
		v = sqrt(v * fmax(before, v / 4));
	return fmin(v, PRECISION_MOST_DEMAND);
}

double
precision_reached(const struct precision_goal *goal, const struct precision_list *list)
{
	double worst = 0;

	for (size_t i = 0; precision_is_asked(goal, list, i); i++)
		worst = fmax(worst, fmax(list->rows[i].high - 1, 1 - list->rows[i].low));
	return worst;
}

double
precision_pooled_skip(const struct precision_goal *goal, const struct precision_list *list)
{
	double skip = INFINITY;

	for (size_t i = 0; precision_is_asked(goal, list, i); i++) {
		const struct precision_row *row = &list->rows[i];
		double needed = precision_samples_of_key(goal->width, precision_low_z(i + 1, list->n_keys)) * PRECISION_MARGIN;
		double share = share_of_pkts(row);

		skip = fmin(skip, 1 + share * list->pkts / (more_for_octets(row) * needed * fmax(1e-9, 1 - share)));
	}
	return skip;
}
