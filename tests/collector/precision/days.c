#include "tests/collector/precision/days.h"

#include "collector/estimate/estimate_list.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* At first the configured skips are in force, and what comes of them is not the plan's. */
enum { UNTOUCHED_PERIODS = 2 };

enum { SLOT_S = 10, FRAME_OCTETS = 500, SLOTS_MAX = 360, LAST_SLOTS = 6, CALM_SLOTS = 3, LEVELS = 8 };

/* ---- chance ---- */

double
days_uniform(uint64_t *state)
{
	uint64_t x = (*state += 0x9e3779b97f4a7c15ull);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return ((double)((x ^ (x >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

double
days_normal(uint64_t *state)
{
	double r = sqrt(-2 * log(days_uniform(state)));

	return r * cos(2 * 3.14159265358979 * days_uniform(state));
}

/* Small counts by the skips themselves; large ones by a normal distribution with the skewness of the binomial. */
uint64_t
days_sampled(uint64_t *state, uint64_t n, double skip)
{
	double p = 1 / skip, mean = (double)n * p, z, sd, x;
	uint64_t count = 0;

	if (skip <= 1)
		return n;
	if (mean > 40) {
		z = days_normal(state);
		sd = sqrt(mean * (1 - p));
		x = round(mean + sd * (z + (1 - 2 * p) / sd * (z * z - 1) / 6));
		return x < 0 ? 0 : x > (double)n ? n : (uint64_t)x;
	}
	for (double at = 0;; count++) {
		at += floor(log(days_uniform(state)) / log1p(-p)) + 1;
		if (at > (double)n)
			return count;
	}
}

/* ---- ports ---- */

struct port {
	struct precision_port plan;
	double base, factor, phase, noise;
	double share[DAYS_KEYS];
	double demand; /* samples of a period, of the goal */
	unsigned since_step; /* whole periods */
	uint32_t in_force, cap; /* what is set */
	double recent[LAST_SLOTS];
	int last_way;
	unsigned since_way; /* periods since it moved */
	bool moved, said_cut;
	double promised;
	/* of the period */
	uint64_t sent[DAYS_KEYS], total;
	struct estimate_sums sums[DAYS_KEYS];
	double weight_most;
};

struct days {
	const struct days_options *options;
	struct days_result *result;
	struct port *ports;
	uint64_t rng, now_us;
	double slots[CALM_SLOTS];
	unsigned over_now, slots_over_now;
	double samples; /* of the period */
};

static void
draw_talkers(struct days *d, struct port *p)
{
	double sum = 0;

	for (int k = 0; k < DAYS_KEYS; k++)
		sum += p->share[k] = exp(0.3 * days_normal(&d->rng)) / (k + 1);
	for (int k = 0; k < DAYS_KEYS; k++)
		p->share[k] /= sum;
}

static void
begin_ports(struct days *d)
{
	for (int i = 0; i < DAYS_PORTS; i++) {
		struct port *p = &d->ports[i];

		p->base = pow(10, 3 + 2 * days_uniform(&d->rng));
		p->factor = p->noise = 1;
		p->phase = days_uniform(&d->rng);
		draw_talkers(d, p);
		p->plan = (struct precision_port){.agent = (uint32_t)(i % DAYS_AGENTS), .may_move = true,
		    .most_skip = INFINITY, .skip = 256};
		p->in_force = 256;
		p->cap = 0;
		p->since_step = 2;
		p->since_way = 1000;
	}
}

static double
load_of(const struct days *d, const struct port *p)
{
	double day = (double)d->now_us / 86400e6;

	return p->base * p->factor * p->noise * (1 + 0.5 * sin(2 * 3.14159265358979 * (day + p->phase)));
}

static void
step_ports(struct days *d, unsigned period, unsigned slot)
{
	const struct days_options *o = d->options;
	double chance = o->steps_an_hour * SLOT_S / 3600;

	for (int i = 0; i < DAYS_PORTS; i++) {
		struct port *p = &d->ports[i];
		bool steps = days_uniform(&d->rng) < chance;

		if (steps) {
			p->factor = pow(100, 2 * days_uniform(&d->rng) - 1);
			p->since_step = 0;
			if (days_uniform(&d->rng) < 0.5)
				draw_talkers(d, p);
		}
		if (o->all_step_at_once && slot == 6 && period >= 12 && period % 12 == 0) {
			p->factor = period / 12 % 2 ? 100 : 1;
			p->since_step = 0;
		}
	}
}

/* What is in force in a slot: the agent doubles the skip until the port keeps to its requested cap. */
static double
skip_in_slot(const struct port *p, double load)
{
	double skip = p->in_force;

	while (p->cap > 0 && load / skip > p->cap)
		skip *= 2;
	return skip;
}

static double
pass_slot(struct days *d, struct port *p)
{
	double load = load_of(d, p), skip = skip_in_slot(p, load), samples = 0;

	for (int k = 0; k < DAYS_KEYS; k++) {
		uint64_t frames = (uint64_t)(p->share[k] * load * SLOT_S + days_uniform(&d->rng));
		uint64_t n = days_sampled(&d->rng, frames, skip);
		struct estimate_sums *sums = &p->sums[k];

		p->sent[k] += frames;
		p->total += frames;
		sums->n += n;
		sums->w += (double)n * skip;
		sums->w2 += (double)n * skip * skip;
		samples += (double)n;
	}
	p->weight_most = fmax(p->weight_most, skip);
	memmove(p->recent + 1, p->recent, sizeof(p->recent) - sizeof(p->recent[0]));
	p->recent[0] = load;
	return samples;
}

static double
mean_of(const double *recent, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += recent[i];
	return sum / n;
}

/* ---- SETs ---- */

static void
carry_out(struct days *d)
{
	for (int i = 0; i < DAYS_PORTS; i++) {
		struct port *p = &d->ports[i];
		struct precision_port *plan = &p->plan;
		int way;

		if (plan->move == PRECISION_STAYS || plan->to_skip == plan->skip)
			continue;
		way = plan->to_skip > plan->skip ? 1 : -1;
		d->result->back += p->last_way == -way && p->since_way <= 2 && p->since_step > 3;
		p->last_way = way;
		p->since_way = 0;
		p->in_force = plan->skip = plan->to_skip;
		p->cap = plan->to_cap;
		p->moved = true;
		precision_count_set(plan, d->now_us);
		d->result->sets++;
		if (precision_sets_within_hour(plan, d->now_us) > d->result->most_sets)
			d->result->most_sets = precision_sets_within_hour(plan, d->now_us);
	}
}

/* precision_* take an array of their own. */
static int
decide(struct days *d, bool at_end, int slots)
{
	struct precision_port plans[DAYS_PORTS];
	int rc;

	for (int i = 0; i < DAYS_PORTS; i++) {
		plans[i] = d->ports[i].plan;
		plans[i].cap_per_s = d->ports[i].cap;
		plans[i].listed_pkts_s = plans[i].sampled_pkts_s = plans[i].sent_pkts_s = mean_of(d->ports[i].recent, slots);
	}
	rc = at_end ? precision_decide(plans, DAYS_PORTS, &d->options->budget, d->now_us)
		    : precision_relieve(plans, DAYS_PORTS, &d->options->budget, d->now_us);
	for (int i = 0; i < DAYS_PORTS; i++)
		d->ports[i].plan = plans[i];
	ck_assert_int_ge(rc, 0);
	carry_out(d);
	return rc;
}

static void
judge_slots(struct days *d, unsigned period, double samples)
{
	double budget = d->options->budget.all_per_s;

	memmove(d->slots + 1, d->slots, sizeof(d->slots) - sizeof(d->slots[0]));
	d->slots[0] = samples / SLOT_S;
	d->samples += samples;
	if (budget == 0 || period <= UNTOUCHED_PERIODS)
		return;
	d->result->worst_slot = fmax(d->result->worst_slot, d->slots[0] / budget);
	d->slots_over_now = mean_of(d->slots, CALM_SLOTS) > budget ? d->slots_over_now + 1 : 0;
	if (d->slots_over_now > d->result->slots_over)
		d->result->slots_over = d->slots_over_now;
}

/* ---- lists ---- */

static int
more_samples(const void *a, const void *b, void *arg)
{
	const struct port *p = arg;
	double x = p->sums[*(const int *)a].w, y = p->sums[*(const int *)b].w;

	return x < y ? 1 : x > y ? -1 : *(const int *)a - *(const int *)b;
}

/* The list as it is printed: the keys with samples in their order, and the limits of the rows that are asked for. */
static size_t
print_list(struct port *p, size_t top, int order[DAYS_KEYS], struct precision_row rows[DAYS_KEYS], size_t *n_keys)
{
	struct estimate_stratum stratum = {.pool_pkts = (double)p->total, .w_max = p->weight_most,
	    .pool_octets = (double)p->total * FRAME_OCTETS};
	double estimates[DAYS_KEYS], variances[DAYS_KEYS];
	uint64_t samples[DAYS_KEYS];
	size_t at[DAYS_KEYS], rivals[DAYS_KEYS], n = 0;
	static struct estimate_key keys[DAYS_KEYS];
	struct estimate_range *range;

	for (int k = 0; k < DAYS_KEYS; k++) {
		struct estimate_sums *s = &p->sums[k];

		if (s->n == 0)
			continue;
		order[n++] = k;
		s->wb = s->w * FRAME_OCTETS;
		s->wb2 = s->wb * FRAME_OCTETS;
		s->w2b2 = s->w2 * FRAME_OCTETS * FRAME_OCTETS;
		estimate_add_sums(&stratum.all, s);
	}
	*n_keys = n;
	if (n == 0)
		return 0;
	qsort_r(order, n, sizeof(order[0]), more_samples, p);
	ck_assert_int_eq(estimate_range_create(&stratum, 1, &range), 0);
	for (size_t i = 0; i < n; i++) {
		estimate_key_begin(&keys[i]);
		estimate_key_add(range, &keys[i], 0, &p->sums[order[i]]);
		estimate_key_end(range, &keys[i]);
		estimates[i] = keys[i].unit[ESTIMATE_PKTS].estimate;
		variances[i] = keys[i].unit[ESTIMATE_PKTS].own_variance;
		samples[i] = p->sums[order[i]].n;
		at[i] = i;
	}
	if (top > n)
		top = n;
	ck_assert_int_eq(estimate_rivals(&(struct estimate_order){n, estimates, variances, samples, 0}, at, top, n, rivals), 0);
	for (size_t i = 0; i < top; i++) {
		struct estimate_claim claim = estimate_claim_of_row(i + 1, rivals[i]);
		struct estimate_figure f = estimate_key_figure(range, &keys[i], ESTIMATE_PKTS, &claim);

		rows[i] = (struct precision_row){.share = f.estimate / (double)p->total, .samples = (double)samples[i],
		    .low = f.low / f.estimate, .high = f.high / f.estimate};
	}
	estimate_range_destroy(range);
	return top;
}

static void
count_row(struct days_rows *to, double truth, const struct precision_row *row)
{
	to->n++;
	to->low_missed += truth < row->low * (1 - 1e-9);
	to->high_missed += truth > row->high * (1 + 1e-9);
}

static void
judge_list(struct days *d, struct port *p, const struct precision_list *list, const int *order)
{
	const struct precision_goal *goal = &d->options->goal;
	struct days_result *r = d->result;
	bool counts = p->since_step >= 2 && !p->said_cut, all_met = true;

	for (size_t i = 0; i < list->n_rows; i++) {
		const struct precision_row *row = &list->rows[i];
		double truth = (double)p->sent[order[i]] / ((double)p->total * row->share);
		bool met = row->high - 1 <= goal->width && 1 - row->low <= goal->width;

		count_row(&r->all, truth, row);
		if (p->moved)
			count_row(&r->moved, truth, row);
		r->said_met += met;
		r->within += met && fabs(truth - 1) <= goal->width;
		all_met &= met;
		if (!counts)
			continue;
		r->asked++;
		r->met += met;
	}
	r->ports_asked += counts;
	r->ports_met += counts && all_met;
	if (p->said_cut && p->since_step >= 2 && p->promised > 0 && !p->moved) {
		r->cut_ratio += precision_reached(goal, list) / p->promised;
		r->n_cut++;
	}
}

static void
end_period(struct days *d, unsigned period)
{
	const struct days_options *o = d->options;
	double per_s = d->samples / o->goal.period_s;
	struct precision_row rows[DAYS_KEYS];
	int order[DAYS_KEYS];

	for (int i = 0; i < DAYS_PORTS; i++) {
		struct port *p = &d->ports[i];
		size_t n_keys, n = print_list(p, o->goal.top, order, rows, &n_keys);
		const struct precision_list list = {.rows = rows, .n_rows = n, .n_keys = n_keys};

		if (period > UNTOUCHED_PERIODS)
			judge_list(d, p, &list, order);
		p->demand = precision_demand(&o->goal, &list, p->demand);
		p->plan.needed_per_s = PRECISION_MARGIN * p->demand / o->goal.period_s;
		memset(p->sent, 0, sizeof(p->sent));
		memset(p->sums, 0, sizeof(p->sums));
		p->total = 0;
		p->weight_most = 0;
		p->moved = false;
		p->since_step++;
		p->since_way++;
		p->noise = exp(o->noise * days_normal(&d->rng) - o->noise * o->noise / 2);
	}
	d->result->used_per_s += per_s;
	if (o->budget.all_per_s > 0 && period > UNTOUCHED_PERIODS) {
		d->over_now = per_s > o->budget.all_per_s ? d->over_now + 1 : 0;
		d->result->over += d->over_now > 0;
		if (d->over_now > d->result->longest_over)
			d->result->longest_over = d->over_now;
		d->result->worst_period = fmax(d->result->worst_period, per_s / o->budget.all_per_s);
	}
	d->samples = 0;
}

/* What the plan promises of a port that is cut: widths go with the root of the samples. */
static void
note_promises(struct days *d)
{
	for (int i = 0; i < DAYS_PORTS; i++) {
		struct port *p = &d->ports[i];

		p->said_cut = p->plan.is_cut || p->plan.skip > 2 * p->plan.planned_skip;
		p->promised = p->plan.wanted_skip > 0
		    ? d->options->goal.width / sqrt(PRECISION_MARGIN) * sqrt(p->plan.skip / fmax(1, p->plan.wanted_skip)) : 0;
	}
}

void
days_run(const struct days_options *options, struct days_result *result)
{
	struct days d = {.options = options, .result = result, .rng = options->seed};
	unsigned slots = options->goal.period_s / SLOT_S;

	*result = (struct days_result){.hours = options->periods * options->goal.period_s / 3600.0};
	d.ports = calloc(DAYS_PORTS, sizeof(*d.ports));
	begin_ports(&d);
	for (unsigned period = 0; period < options->periods; period++) {
		for (unsigned slot = 0; slot < slots; slot++) {
			double samples = 0;

			step_ports(&d, period, slot);
			for (int i = 0; i < DAYS_PORTS; i++)
				samples += pass_slot(&d, &d.ports[i]);
			judge_slots(&d, period, samples);
			d.now_us += SLOT_S * 1000000ull;
			/* Decisions come 10 s after a period's end, and are of what was before it. */
			if (slot == 0 && period > 0) {
				for (int i = 0; i < DAYS_PORTS; i++)
					memmove(d.ports[i].recent, d.ports[i].recent + 1,
					    sizeof(d.ports[i].recent) - sizeof(d.ports[i].recent[0]));
				decide(&d, true, LAST_SLOTS - 1);
				note_promises(&d);
			} else if (slot >= CALM_SLOTS) {
				decide(&d, false, CALM_SLOTS);
			}
		}
		end_period(&d, period);
	}
	result->used_per_s /= options->periods;
	if (result->n_cut > 0)
		result->cut_ratio /= (double)result->n_cut;
	free(d.ports);
}
