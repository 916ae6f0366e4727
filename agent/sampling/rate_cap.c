#include "agent/sampling/rate_cap.h"

#include "common/sample.h"

#include <math.h>

#define PERIOD_US 1000000ull
#define BURST_US 125000ull /* a rate is measured over no less: a burst of a moment is none that lasts */
#define RESERVE 1.25 /* so that chance alone does not bring the samples above the cap again */
#define FALL 0.75    /* a smaller change of the rate than this is chance, or not worth a change */

static void
rate_cap_begin_period(struct rate_cap *cap, uint64_t now_us, uint64_t pool_pkts)
{
	*cap = (struct rate_cap){.begun = true, .start_us = now_us, .start_pkts = pool_pkts};
}

void
rate_cap_count(struct rate_cap *cap, uint32_t mean)
{
	cap->samples++;
	cap->sampled_pkts += mean;
}

static double
measured_pkts_per_s(const struct rate_cap *cap, uint64_t now_us, uint64_t pool_pkts)
{
	uint64_t pkts = pool_pkts > cap->start_pkts ? pool_pkts - cap->start_pkts : 0;
	uint64_t us = now_us > cap->start_us ? now_us - cap->start_us : 0;

	if (us < BURST_US)
		us = BURST_US;
	if (pkts < cap->sampled_pkts)
		pkts = cap->sampled_pkts;
	return (double)pkts * 1e6 / (double)us;
}

uint32_t
rate_cap_mean(struct rate_cap *cap, uint32_t max_per_s, uint32_t configured, uint32_t in_force,
    uint64_t now_us, uint64_t pool_pkts)
{
	bool over = cap->samples > max_per_s;
	double mean;

	if (max_per_s == 0)
		return configured;
	if (!cap->begun) {
		rate_cap_begin_period(cap, now_us, pool_pkts);
		return in_force;
	}
	if (!over && now_us < cap->start_us + PERIOD_US)
		return in_force;
	over = over && now_us < cap->start_us + PERIOD_US;
	mean = ceil(measured_pkts_per_s(cap, now_us, pool_pkts) * RESERVE / max_per_s);
	rate_cap_begin_period(cap, now_us, pool_pkts);
	if (mean <= configured)
		return over ? in_force : configured;
	if (over ? mean <= in_force : mean > in_force * FALL)
		return in_force;
	return mean < EASE_DRAWN_MEAN_MAX ? (uint32_t)mean : EASE_DRAWN_MEAN_MAX;
}
