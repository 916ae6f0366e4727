/*
 * Adds numbers and totals to windows. When there is no room for one more window, rows go into the
 * batch without being summed, because the store adds them up just as well. When the batch is full
 * too, the store has not been available for long: what counters and numbers say then waits.
 */
#include "collector/window/accounting_private.h"

struct window *
accounting_window_of(struct accounting *acc, const struct port *p, uint64_t time_us)
{
	return window_get(
	    acc->windows, p->agent->row.id, p->if_index, time_us, acc->mono_us);
}

void
accounting_add_numbers(struct accounting *acc, struct port *p, uint64_t time_us, int64_t expected,
    uint64_t received, struct store_batch *batch)
{
	struct window *w = accounting_window_of(acc, p, time_us);
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

struct pool_target {
	struct accounting *acc;
	const struct port *p;
	struct store_batch *batch;
};

static void
add_pool(const struct pool_target *to, struct window *w, uint64_t start_us, uint8_t direction,
    uint64_t pkts, uint64_t octets)
{
	struct store_window *row;

	if (pkts == 0 && octets == 0)
		return;
	if (w) {
		window_add_pool(to->acc->windows, w, direction, pkts, octets);
		return;
	}
	row = accounting_window_row(to->acc, to->p, start_us, direction, to->batch);
	if (row) {
		row->pool_pkts = (int64_t)pkts;
		row->pool_octets = (int64_t)octets;
	}
}

/* Adds what was counted in several minutes as one row of the table gap. */
static bool
add_gap(const struct pool_target *to, const struct port_totals_part *parts, size_t n)
{
	struct store_gap *row = store_batch_add(to->batch, STORE_GAPS);

	if (!row)
		return false;
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
add_totals(void *arg, const struct port_totals_part *parts, size_t n)
{
	const struct pool_target *to = arg;
	struct window *windows[PORT_TOTALS_MINUTES];
	size_t rows = 0;

	if (is_nothing(parts, n))
		return true;
	if (parts[0].until_us - parts[0].from_us != STORE_WINDOW_US)
		return add_gap(to, parts, n);
	for (size_t i = 0; i < n; i++) {
		windows[i] = accounting_window_of(to->acc, to->p, parts[i].from_us);
		rows += windows[i] ? 0 : 2;
	}
	if (rows > 0 && !store_batch_has_room(to->batch, STORE_WINDOWS, rows))
		return add_gap(to, parts, n);
	for (size_t i = 0; i < n; i++) {
		const uint64_t *v = parts[i].values;

		add_pool(to, windows[i], parts[i].from_us, EASE_IN, v[PORT_TOTALS_IN_PKTS],
		    v[PORT_TOTALS_IN_OCTETS]);
		add_pool(to, windows[i], parts[i].from_us, EASE_OUT, v[PORT_TOTALS_OUT_PKTS],
		    v[PORT_TOTALS_OUT_OCTETS]);
	}
	return true;
}

bool
accounting_add_totals(struct accounting *acc, struct port *p, const struct ease_record *r,
    struct store_batch *batch)
{
	struct pool_target to = {acc, p, batch};

	switch (port_totals_add(
	    &p->totals, r->boot, &r->snapshot, r->received_us, add_totals, &to)) {
	case PORT_TOTALS_COUNTED:
	case PORT_TOTALS_FIRST:
		break;
	case PORT_TOTALS_OLD:
	case PORT_TOTALS_BEGINNING:
		accounting_count(acc, ACCOUNTING_STAT_SNAPSHOTS_OLD);
		return false;
	case PORT_TOTALS_RESET:
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
