#include "collector/window/cut_totals.h"

#include <assert.h>
#include <math.h>

/* Enough for a mean length: its standard error is some 1 %. */
enum { LAST_PKTS = 10000 };

/* The frames and octets of a direction in a part. */
static const enum port_totals_value pkts_of[] = {PORT_TOTALS_IN_PKTS, PORT_TOTALS_OUT_PKTS};
static const enum port_totals_value octets_of[] = {PORT_TOTALS_IN_OCTETS, PORT_TOTALS_OUT_OCTETS};

/* The frames of this share of a time, at the rate of the newest difference. */
static double
pkts_of_share(const struct cut_totals *c, int side, double share_us)
{
	double span_us = (double)(c->until_us - c->from_us);

	return span_us > 0 ? c->pkts[side] * share_us / span_us : 0;
}

/* The same of a time before the newest counters. */
static double
pkts_before(const struct cut_totals *c, int side, uint64_t from_us, double share_us)
{
	double span_us = (double)(c->until_us - c->since_us);

	if (from_us < c->from_us && span_us > 0)
		return c->since_pkts[side] * share_us / span_us;
	return pkts_of_share(c, side, share_us);
}

/* Of the frames counted since the newest sample, what is cut already because the skip counter was empty. */
static double
stalled_part(const struct cut_totals *c)
{
	double all = (double)c->since_pkts[0] + (double)c->since_pkts[1];

	return all > 0 ? fmin(1, c->since_stalled / all) : 0;
}

bool
cut_totals_add(struct cut_totals *c, const struct sample_gaps_cut *cut, struct cut_part *before)
{
	int side = cut->direction - 1;
	uint64_t middle_us = cut->to_us < c->until_us ? cut->to_us : c->until_us;
	double before_us = middle_us > cut->from_us ? (double)(middle_us - cut->from_us) : 0;
	double all_us = (double)(cut->to_us - cut->from_us), pkts, octets;
	double part = all_us > 0 ? before_us / all_us : cut->to_us <= c->until_us;

	assert(side >= 0 && side < SAMPLE_GAPS_N_SIDES && cut->to_us >= cut->from_us);
	if (cut->is_share) {
		c->waiting_share_us[side] += (float)(cut->share * (all_us - before_us));
		pkts = pkts_before(c, side, cut->from_us, cut->share * before_us);
	} else {
		c->waiting_pkts[side] += (double)cut->pkts * (1 - part);
		pkts = (double)cut->pkts * part;
	}
	pkts *= 1 - stalled_part(c);
	octets = c->last_pkts[side] > 0 ? pkts * c->last_octets[side] / c->last_pkts[side] : 0;
	*before = (struct cut_part){.from_us = cut->from_us, .until_us = middle_us};
	before->pkts[side] = llround(pkts);
	before->octets[side] = llround(octets);
	return before->pkts[side] != 0;
}

void
cut_totals_add_stalled(struct cut_totals *c, uint32_t boot, const struct ease_snapshot *s)
{
	if (boot == c->boot && s->stalled_pkts > c->stalled_pkts)
		c->waiting_stalled += (float)(s->stalled_pkts - c->stalled_pkts);
	c->boot = boot;
	c->stalled_pkts = s->stalled_pkts;
}

/* What of a part passed while no sample came. */
static double
unseen_of(const struct port_totals_part *part, enum port_totals_value v)
{
	return fmax(0, (double)part->values[v] - part->came[v]);
}

/* Frames of all parts that passed while no sample came; 0 where none tells. */
static double
unseen_pkts(int side, const struct port_totals_part *parts, size_t n)
{
	double came = 0, unseen = 0;

	for (size_t i = 0; i < n; i++) {
		came += parts[i].came[pkts_of[side]];
		unseen += unseen_of(&parts[i], pkts_of[side]);
	}
	return came > 0 ? unseen : 0;
}

/* Divides what is cut among the parts as their frames are, or those of them that passed while no sample came: pkts in all.
 * Rounded so that it adds up; what a part has no room for is of the next ones. Returns what none has room for. is_share:
 * nothing of it is given back at a mean length, so that it is as long as what none saw. */
static double
divide_cut(double cut, int side, const struct port_totals_part *parts, size_t n, double pkts, bool is_unseen,
    bool is_share, struct cut_part *cuts)
{
	double sum = 0;
	int64_t done = 0;

	assert(pkts > 0);
	for (size_t i = 0; i < n; i++) {
		double own = is_unseen ? unseen_of(&parts[i], pkts_of[side]) : (double)parts[i].values[pkts_of[side]];
		double octets = (double)parts[i].values[octets_of[side]], each = octets / (double)parts[i].values[pkts_of[side]];
		int64_t until;

		sum += own;
		until = (int64_t)fmin(cut * sum / pkts, (double)done + (double)parts[i].values[pkts_of[side]]);
		cuts[i].pkts[side] = until - done;
		if (is_share && own > 0)
			each = unseen_of(&parts[i], octets_of[side]) / own;
		if (cuts[i].pkts[side] > 0)
			cuts[i].octets[side] = (int64_t)fmin(each * (double)cuts[i].pkts[side], octets);
		assert(cuts[i].pkts[side] <= (int64_t)parts[i].values[pkts_of[side]]);
		done = until;
	}
	return cut - (double)done;
}

static void
sum_side(struct cut_totals *c, int side, const struct port_totals_part *parts, size_t n)
{
	double octets = 0;

	c->pkts[side] = 0;
	for (size_t i = 0; i < n; i++) {
		c->pkts[side] += (double)parts[i].values[pkts_of[side]];
		octets += (double)parts[i].values[octets_of[side]];
	}
	if (c->last_pkts[side] > LAST_PKTS) {
		c->last_pkts[side] /= 2;
		c->last_octets[side] /= 2;
	}
	c->since_pkts[side] += (float)c->pkts[side];
	c->last_pkts[side] += (float)c->pkts[side];
	c->last_octets[side] += (float)octets;
}

/* stalled: of the frames that passed while the skip counter was empty; those that passed in gaps, too, are cut once.
 * Returns what is left of them. */
static double
count_side(struct cut_totals *c, int side, const struct port_totals_part *parts, size_t n, double stalled,
    struct cut_part *cuts)
{
	double pkts = c->pkts[side], unseen = unseen_pkts(side, parts, n), of_gaps, cut;
	bool is_unseen, is_share = c->waiting_share_us[side] > 0;

	if (is_share)
		c->waiting_pkts[side] += unseen >= 1 ? unseen : pkts_of_share(c, side, c->waiting_share_us[side]);
	c->waiting_share_us[side] = 0;
	of_gaps = fmin(c->waiting_pkts[side], pkts);
	if (pkts > 0)
		stalled *= 1 - of_gaps / pkts;
	cut = floor(fmin(of_gaps + stalled, pkts));
	if (cut < 1)
		return stalled;
	of_gaps = fmin(of_gaps, cut);
	c->waiting_pkts[side] -= of_gaps;
	c->since_stalled += (float)(cut - of_gaps);
	is_unseen = cut - of_gaps < 1 && cut < 2 * unseen; /* else other frames are among them, too */
	c->waiting_pkts[side] += divide_cut(cut, side, parts, n, is_unseen ? unseen : pkts, is_unseen,
	    is_share && is_unseen, cuts);
	return stalled - (cut - of_gaps);
}

void
cut_totals_count(struct cut_totals *c, uint64_t from_us, uint64_t until_us, uint64_t sampled_us,
    const struct port_totals_part *parts, size_t n, struct cut_part *cuts)
{
	double stalled = c->waiting_stalled, all, left = 0;

	assert(n > 0 && from_us < until_us);
	c->from_us = from_us;
	c->until_us = until_us;
	if (sampled_us > from_us || c->since_us == 0) {
		c->since_us = from_us;
		c->since_pkts[0] = c->since_pkts[1] = c->since_stalled = 0;
	}
	for (size_t i = 0; i < n; i++)
		cuts[i] = (struct cut_part){.from_us = parts[i].from_us, .until_us = parts[i].until_us};
	for (int side = 0; side < SAMPLE_GAPS_N_SIDES; side++)
		sum_side(c, side, parts, n);
	/* One skip counter counts both directions: what passed by it is divided as all frames are. */
	all = c->pkts[0] + c->pkts[1];
	if (all > 0)
		c->waiting_stalled = 0;
	for (int side = 0; side < SAMPLE_GAPS_N_SIDES; side++)
		left += count_side(c, side, parts, n, all > 0 ? stalled * c->pkts[side] / all : 0, cuts);
	c->waiting_stalled += (float)left;
}

void
cut_totals_begin(struct cut_totals *c, uint32_t boot, const struct ease_snapshot *s)
{
	*c = (struct cut_totals){.boot = boot, .stalled_pkts = s->stalled_pkts, .from_us = s->time_us,
	    .until_us = s->time_us};
}
