#include "collector/alarm/sequential.h"

#include <math.h>

/* Times the rate at which each tilt tells a flood soonest. */
static const double tilts[ALARM_TILTS] = {1.2, 2, 4, 10};

#define CLEAR_TILT 0.7
#define Z_95	   1.645

double
alarm_threshold(double samples, double rules, double allowed)
{
	return log(fmax(samples * rules, 1) * ALARM_TILTS / allowed);
}

double
alarm_risk(double threshold)
{
	return ALARM_TILTS * exp(-threshold);
}

void
alarm_steps_at(const struct alarm_bucket *bucket, double reference_skip, double skip, double largest_skip,
    struct alarm_steps *steps)
{
	for (int i = 0; i < ALARM_TILTS; i++) {
		double kappa = (tilts[i] - 1) / reference_skip, each = log1p(kappa);

		steps->gain[i] = (float)log1p(kappa * skip);
		steps->drift[i] = (float)(bucket->rate * each);
		steps->limit[i] = (float)(bucket->threshold + log1p(kappa * largest_skip) +
		    (bucket->burst + bucket->rate * ALARM_ORDER_S) * each);
	}
}

bool
alarm_step(float statistic[ALARM_TILTS], const struct alarm_steps *steps, double elapsed_s, double units)
{
	float elapsed = (float)elapsed_s, weight = (float)units;
	bool reached = false;

	for (int i = 0; i < ALARM_TILTS; i++) {
		float left = statistic[i] - steps->drift[i] * elapsed;

		statistic[i] = (left > 0 ? left : 0) + steps->gain[i] * weight;
		reached |= statistic[i] >= steps->limit[i];
	}
	return reached;
}

struct alarm_delay
alarm_delay_of(const struct alarm_bucket *bucket, double skip, double factor)
{
	struct alarm_delay best = {INFINITY, INFINITY};

	for (int i = 0; i < ALARM_TILTS; i++) {
		double gain = log(tilts[i]), each = (tilts[i] - 1) / skip;
		double climb = factor * gain - (tilts[i] - 1);
		double height = bucket->threshold + gain + (bucket->burst + bucket->rate * ALARM_ORDER_S) * each, median_s, spread;

		if (climb <= 0)
			continue;
		median_s = height / (bucket->rate / skip * climb);
		spread = sqrt(gain / height * factor * gain / climb);
		if (median_s < best.median_s)
			best = (struct alarm_delay){median_s, median_s * (1 + Z_95 * spread)};
	}
	return best;
}

double
alarm_clear_step(double statistic, double rate, double largest_skip, double elapsed_s)
{
	return statistic - rate / 2 * log1p(-CLEAR_TILT / largest_skip) * elapsed_s;
}

double
alarm_clear_sample(double statistic, double skip, double largest_skip, double units)
{
	return fmax(0, statistic + units * log1p(-CLEAR_TILT * skip / largest_skip));
}
