#include "collector/report/agreement.h"

#include "collector/report/result.h"

#include <math.h>

enum {
	ENOUGH_SAMPLES = 100,
	FEW_SAMPLES = 10, /* a port that should have had more is not sampled: the list has a row of such ports */
	DEVIATIONS = 4,	  /* as CHECK of load has */
};
#define LONGEST_OCTETS	  1518.0 /* longer frames are taken as they were sampled */
#define CONVENTION_OCTETS 8.0	 /* FCS and VLAN tag: counted by some, and not by others */
#define ENDS_S		  30.0	 /* so much of a range's ends may lie beyond its counters. *assumed* */

struct sum {
	double counted, by_samples, variance, slack;
};

/* Samples that arrived stand for those that did not; these are lost with those of their message. */
static double
variance_of(const struct estimate_stratum *in, double mean_skip)
{
	const struct estimate_sums *all = &in->all;
	double chance = fmax(all->w2b2 - all->wb2, LONGEST_OCTETS * (mean_skip - 1) * in->pool_octets);

	return (chance + in->lost * (all->w2b2 + 2 * all->any.octets) / (1 - in->lost)) / (1 - in->lost);
}

static void
agreement_add_port(const struct query_port *port, double mean_skip, struct sum *sum)
{
	const struct estimate_stratum *in = query_listed(port);

	if (port_is_uncounted(port) || in->lost >= 1 || !(in->pool_octets > 0) ||
	    (in->all.n == 0 && in->pool_pkts >= FEW_SAMPLES * mean_skip))
		return;
	mean_skip = in->all.n > 0 ? in->all.w / (double)in->all.n : mean_skip;
	sum->counted += in->pool_octets;
	sum->by_samples += (in->all.wb - in->beside[ESTIMATE_OCTETS]) / (1 - in->lost);
	sum->variance += variance_of(in, mean_skip);
	sum->slack += CONVENTION_OCTETS * in->pool_pkts;
}

void
agreement_judge(const struct query *query, const struct report_options *options, struct report_result *result)
{
	struct sum sum = {.variance = result->total_variance[ESTIMATE_OCTETS]}; /* of what counters leave open */

	if (result->samples < ENOUGH_SAMPLES || result->seconds <= 0)
		return;
	for (size_t i = 0; i < query->n_ports; i++)
		if (port_is_counted(options, &query->ports[i]))
			agreement_add_port(&query->ports[i], result->list->mean_skip, &sum);
	sum.slack += sum.counted * fmin(1, ENDS_S / result->seconds);
	if (fabs(sum.by_samples - sum.counted) <= DEVIATIONS * sqrt(sum.variance) + sum.slack)
		return;
	note_count(note_of(result, NOTE_ID_DISAGREEMENT), "octets_counted", round(sum.counted));
	note_count(note_of(result, NOTE_ID_DISAGREEMENT), "octets_by_samples", round(sum.by_samples));
}
