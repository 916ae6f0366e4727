/*
 * Adds numbers and totals to windows. When there is no room for one more window, rows go into the
 * batch without being summed, because the store adds them up just as well. When the batch is full
 * too, the store has not been available for long: what counters and numbers say then waits.
 */
#include "collector/window/accounting_private.h"
#include "collector/window/key_kinds.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void
accounting_parse_frame(const struct ease_sample *s, struct frame_keys *keys)
{
	if (s->is_packet)
		frame_parse_packet(s->header, s->kept_octets, keys);
	else
		frame_parse(s->header, s->kept_octets, keys);
	if (s->vlan > 0)
		frame_add_vlan(keys, s->vlan, s->is_outer_vlan);
}

void
accounting_add_numbers(struct accounting *acc, struct port *p, struct window *w, uint64_t time_us,
    int64_t expected, uint64_t received, struct store_batch *batch)
{
	struct store_window_port *row;

	p->expected_wait += expected;
	p->received_wait += (int64_t)received;
	if (w) {
		window_add_numbers(acc->windows, w, p->expected_wait, (uint64_t)p->received_wait);
	} else {
		row = store_batch_add(batch, STORE_WINDOW_PORTS);
		if (!row) {
			p->wait_us = time_us;
			acc->numbers_wait = true;
			return;
		}
		row->start_us = time_us - time_us % STORE_WINDOW_US;
		row->agent = p->agent->row.id;
		row->if_index = p->if_index;
		row->expected = p->expected_wait;
		row->received = p->received_wait;
	}
	p->expected_wait = p->received_wait = 0;
}

struct store_window *
accounting_window_row(struct accounting *acc, const struct port *p, uint64_t time_us, uint8_t direction,
    struct store_batch *batch)
{
	struct store_window *row = store_batch_add(batch, STORE_WINDOWS);

	if (!row) {
		accounting_count(acc, ACCOUNTING_STAT_LOST_STORE_ROWS);
		return NULL;
	}
	row->start_us = time_us - time_us % STORE_WINDOW_US;
	row->agent = p->agent->row.id;
	row->if_index = p->if_index;
	row->direction = direction;
	return row;
}

void
accounting_fold_apart(const struct port *p, const struct ease_sample *s, const struct frame_keys *keys, struct store_batch *batch)
{
	struct flow_key flow;

	flow_key_of(keys, 0, s->direction, s->mean_skip, &flow);
	for (unsigned kind = 0; kind < KEY_N_KINDS; kind++) {
		struct halves halves = {0};
		struct store_folded *row = flow_key_fill(&flow, kind, &halves) ? store_batch_add(batch, STORE_FOLDED) : NULL;

		if (row)
			*row = (struct store_folded){s->time_us - s->time_us % STORE_WINDOW_US, p->agent->row.id, p->if_index,
			    s->direction, (uint8_t)key_layouts[kind].kind, 1, 1};
	}
}

struct pool_target {
	struct accounting *acc;
	struct port *p;
	struct store_batch *batch;
	uint64_t from_us, until_us; /* of the counters; the same: nothing of them can be cut */
};

static void
windows_add_pool(const struct pool_target *to, struct window *w, uint8_t direction,
    const struct port_totals_part *part, const struct cut_part *cut)
{
	enum port_totals_value first = direction == EASE_IN ? PORT_TOTALS_IN_PKTS : PORT_TOTALS_OUT_PKTS;
	uint64_t pkts = part->values[first], octets = part->values[first + 1];
	int64_t cut_pkts = cut->pkts[direction - 1], cut_octets = cut->octets[direction - 1];
	struct store_window *row;

	if (pkts == 0 && octets == 0 && cut_pkts == 0)
		return;
	if (w) {
		window_add_pool(to->acc->windows, w, direction, pkts, octets);
		window_add_cut(to->acc->windows, w, direction, cut_pkts, cut_octets);
		return;
	}
	row = accounting_window_row(to->acc, to->p, part->from_us, direction, to->batch);
	if (row) {
		row->pool_pkts = (int64_t)pkts;
		row->pool_octets = (int64_t)octets;
		row->cut_pkts = cut_pkts;
		row->cut_octets = cut_octets;
	}
}
_Static_assert(PORT_TOTALS_IN_OCTETS == PORT_TOTALS_IN_PKTS + 1 &&
	PORT_TOTALS_OUT_OCTETS == PORT_TOTALS_OUT_PKTS + 1, "octets stand behind their frames");

static void
cut_parts(const struct pool_target *to, const struct port_totals_part *parts, size_t n, struct cut_part *cuts)
{
	if (to->from_us < to->until_us)
		cut_totals_count(&to->p->cuts, to->from_us, to->until_us, sample_gaps_newest_us(&to->p->gaps), parts, n,
		    cuts);
	else
		memset(cuts, 0, n * sizeof(*cuts));
}

/* Adds what was counted in several minutes, and what of it is cut, as one row of the table gap. */
static bool
windows_add_gap(const struct pool_target *to, const struct port_totals_part *parts, size_t n,
    const struct cut_part *cuts)
{
	struct store_gap *row = store_batch_add(to->batch, STORE_GAPS);

	if (!row)
		return false;
	assert(n > 0);
	row->agent = to->p->agent->row.id;
	row->if_index = to->p->if_index;
	row->from_us = parts[0].from_us;
	row->until_us = parts[n - 1].until_us;
	row->received_us = to->acc->received_us;
	for (size_t i = 0; i < n; i++) {
		row->in_pkts += parts[i].values[PORT_TOTALS_IN_PKTS];
		row->in_octets += parts[i].values[PORT_TOTALS_IN_OCTETS];
		row->out_pkts += parts[i].values[PORT_TOTALS_OUT_PKTS];
		row->out_octets += parts[i].values[PORT_TOTALS_OUT_OCTETS];
		row->in_cut_pkts += (uint64_t)cuts[i].pkts[EASE_IN - 1];
		row->in_cut_octets += (uint64_t)cuts[i].octets[EASE_IN - 1];
		row->out_cut_pkts += (uint64_t)cuts[i].pkts[EASE_OUT - 1];
		row->out_cut_octets += (uint64_t)cuts[i].octets[EASE_OUT - 1];
	}
	return true;
}

static bool
is_nothing(const struct port_totals_part *parts, size_t n)
{
	uint64_t any = 0;

	for (size_t i = 0; i < n; i++)
		for (int v = 0; v < PORT_TOTALS_N_VALUES; v++)
			any |= parts[i].values[v];
	return any == 0;
}

/* Adds the parts to their minutes; if there is not room for all, as a gap. */
static bool
windows_add_totals(void *arg, const struct port_totals_part *parts, size_t n)
{
	const struct pool_target *to = arg;
	struct window *windows[PORT_TOTALS_MINUTES];
	struct cut_part cuts[PORT_TOTALS_MINUTES];
	size_t rows = 0;
	bool is_gap;

	assert(n > 0 && n <= PORT_TOTALS_MINUTES);
	if (is_nothing(parts, n)) {
		cut_parts(to, parts, n, cuts);
		return true;
	}
	is_gap = parts[0].until_us - parts[0].from_us != STORE_WINDOW_US;
	for (size_t i = 0; !is_gap && i < n; i++) {
		windows[i] = accounting_window_of(to->acc, to->p, parts[i].from_us);
		rows += windows[i] ? 0 : 2;
	}
	is_gap |= rows > 0 && !store_batch_has_room(to->batch, STORE_WINDOWS, rows);
	if (is_gap && !store_batch_has_room(to->batch, STORE_GAPS, 1))
		return false;
	cut_parts(to, parts, n, cuts);
	if (is_gap)
		return windows_add_gap(to, parts, n, cuts);
	for (size_t i = 0; i < n; i++) {
		windows_add_pool(to, windows[i], EASE_IN, &parts[i], &cuts[i]);
		windows_add_pool(to, windows[i], EASE_OUT, &parts[i], &cuts[i]);
	}
	return true;
}

bool
accounting_add_totals(struct accounting *acc, struct port *p, const struct ease_record *r, struct store_batch *batch)
{
	const struct ease_snapshot *s = &r->snapshot;
	struct pool_target to = {acc, p, batch, p->totals.time_us, s->time_us};

	if (to.from_us < to.until_us)
		cut_totals_add_stalled(&p->cuts, r->boot, s);
	if (r->loose_numbers && r->uncounted[0].pkts + r->uncounted[1].pkts > 0)
		port_totals_add_uncounted(&p->totals, r->boot, s->time_us, r->uncounted, windows_add_totals, &to);
	switch (port_totals_add(
	    &p->totals, p->pools, r->boot, &r->snapshot, r->received_us, windows_add_totals, &to)) {
	case PORT_TOTALS_COUNTED:
		break;
	case PORT_TOTALS_FIRST:
		cut_totals_begin(&p->cuts, r->boot, s);
		break;
	case PORT_TOTALS_OLD:
	case PORT_TOTALS_BEGINNING:
		accounting_count(acc, ACCOUNTING_STAT_SNAPSHOTS_OLD);
		return false;
	case PORT_TOTALS_RESET:
		cut_totals_begin(&p->cuts, r->boot, s);
		accounting_count(acc, ACCOUNTING_STAT_COUNTERS_RESET);
		break;
	case PORT_TOTALS_GAP:
		accounting_count(acc, ACCOUNTING_STAT_COUNTERS_GAP);
		break;
	case PORT_TOTALS_WAITS:
		accounting_count(acc, ACCOUNTING_STAT_COUNTERS_WAIT);
		return false;
	}
	return true;
}

/* ---- what passed while samples were lost ---- */

static void
add_cut_numbers(struct accounting *acc, const struct port *p, uint64_t time_us, int64_t numbers,
    struct store_batch *batch)
{
	struct window *w = accounting_window_of(acc, p, time_us);
	struct store_window_port *row;

	if (w) {
		window_add_cut_numbers(acc->windows, w, numbers);
		return;
	}
	row = store_batch_add(batch, STORE_WINDOW_PORTS);
	if (!row) {
		accounting_count(acc, ACCOUNTING_STAT_LOST_STORE_ROWS);
		return;
	}
	row->start_us = time_us - time_us % STORE_WINDOW_US;
	row->agent = p->agent->row.id;
	row->if_index = p->if_index;
	row->cut_numbers = numbers;
}

/* Adds what lies before the newest counters: evenly to its minutes; of a long time, as a gap in which
 * nothing was counted. What is given back of a long time goes to its last minute. */
static void
add_cut_before(const struct pool_target *to, int side, const struct cut_part *cut)
{
	const struct port_totals_part nothing = {.from_us = cut->from_us, .until_us = cut->until_us};
	bool is_long = cut->until_us - cut->from_us >= PORT_TOTALS_UNTOLD_MINUTES * (uint64_t)STORE_WINDOW_US;
	uint64_t from_us = is_long ? cut->until_us : cut->from_us;
	uint64_t start_us = from_us - from_us % STORE_WINDOW_US;
	uint64_t pkts = (uint64_t)llabs(cut->pkts[side]), octets = (uint64_t)llabs(cut->octets[side]);
	int64_t sign = cut->pkts[side] < 0 ? -1 : 1, done_pkts = 0, done_octets = 0;

	assert(cut->from_us <= cut->until_us);
	if (is_long && sign > 0) {
		windows_add_gap(to, &nothing, 1, cut);
		return;
	}
	for (; start_us < cut->until_us || done_pkts == 0; start_us += STORE_WINDOW_US) {
		struct port_totals_part part = {.from_us = start_us};
		struct cut_part own = {0};

		own.pkts[side] = sign * (int64_t)port_totals_share(pkts, from_us, cut->until_us,
		    start_us + STORE_WINDOW_US) - done_pkts;
		own.octets[side] = sign * (int64_t)port_totals_share(octets, from_us, cut->until_us,
		    start_us + STORE_WINDOW_US) - done_octets;
		done_pkts += own.pkts[side];
		done_octets += own.octets[side];
		windows_add_pool(to, accounting_window_of(to->acc, to->p, start_us), (uint8_t)(side + 1), &part,
		    &own);
	}
}

/* Samples of the port that are missing, of both directions: in the proportion of those since the newest counters, or else of
 * the frames that these counted of directions that are sampled. */
static void
note_missing(struct port *p, float numbers)
{
	float pkts[2];

	for (int d = 0; d < 2; d++)
		pkts[d] = p->pools[d].n > 0 ? p->pools[d].at[p->pools[d].n - 1].pkts : 0;
	if (!(pkts[0] + pkts[1] > 0))
		for (int d = 0; d < 2; d++)
			pkts[d] = p->pools[d].weight > 0 ? 1 + p->cuts.last_pkts[d] : 0;
	for (int d = 0; d < 2 && pkts[0] + pkts[1] > 0; d++)
		p->pools[d].lost += numbers * pkts[d] / (pkts[0] + pkts[1]);
}

void
accounting_add_cut(void *target, const struct sample_gaps_cut *cut)
{
	const struct accounting_cut_target *t = target;
	const struct pool_target to = {.acc = t->acc, .p = t->port, .batch = t->batch};
	struct cut_part before;

	if (cut->numbers > 0)
		note_missing(t->port, (float)cut->numbers);
	if (cut->numbers != 0)
		add_cut_numbers(t->acc, t->port, cut->to_us, cut->numbers, t->batch);
	if (cut->direction != 0 && cut_totals_add(&t->port->cuts, cut, &before))
		add_cut_before(&to, cut->direction - 1, &before);
}
