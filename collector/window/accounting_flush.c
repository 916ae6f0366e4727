/* Moving the books into batches, and what a crash took out of them back. */
#include "collector/window/accounting_private.h"
#include "collector/window/crash_recovery.h"
#include "common/log.h"

#include <stdlib.h>
#include <string.h>

#define ROOM "ledger"

/* A window is over when its agent's time is this far past its end, or when nothing of it came for
 * that long by the collector's clock. */
#define WINDOW_GRACE_US (1ull * STORE_WINDOW_US)
#define WINDOW_IDLE_US	(3ull * STORE_WINDOW_US)

/* Rows of samples that a batch takes before it is cut: a fifth of a second of the rate the collector
 * is built for (400,000 a second), and half of them while it should be cut already. */
enum { FREE_SAMPLES = 80000, FREE_SUMS = 16384, FREE_EVENTS = 32768,
	FREE_ERROR_SOURCES = 4096,
	OUTAGES = 8 /* one at a start, one whenever the store begins anew */ };

void
ledger_room(const struct ledger_limits *limits, struct store_room room[STORE_N_TABLES])
{
	room[STORE_AGENTS].kept = limits->agents;
	room[STORE_PORTS].free = limits->ports;
	room[STORE_SAMPLES].free = FREE_SAMPLES;
	/* each port's once a second, and its newest at the cut */
	room[STORE_COUNTERS] = (struct store_room){.free = limits->ports, .kept = limits->ports};
	room[STORE_ACCOUNTS] = (struct store_room){
	    .free = limits->ports, .kept = ROSTER_BOOTS * limits->ports};
	room[STORE_GONE] = room[STORE_ACCOUNTS];
	room[STORE_OUTAGES].free = OUTAGES;
	room[STORE_WINDOWS].free = FREE_SUMS;
	room[STORE_WINDOW_PORTS].free = FREE_SUMS;
	room[STORE_EVENTS].free = FREE_EVENTS;
	room[STORE_RESOURCES].free = limits->ports;
	room[STORE_ERROR_SOURCES].free = FREE_ERROR_SOURCES;
	window_room(&limits->windows, room);
}

uint64_t
ledger_memory(uint32_t agents, uint32_t ports)
{
	const struct ledger_limits limits = {.agents = agents, .ports = ports};
	struct store_room room[STORE_N_TABLES] = {0};

	ledger_room(&limits, room);
	return roster_memory(agents, ports) + store_memory(room);
}

static void
put_gone_away(struct ledger *l, const struct port *p, const struct account *a,
    struct store_batch *batch)
{
	struct store_gone *row;

	if (a->slot->gone.n == a->stored_gone)
		return;
	row = store_batch_add(batch, STORE_GONE);
	if (row)
		*row = (struct store_gone){p->agent->row.id, a->boot, p->if_index,
		    a->slot->gone.n};
	else
		ledger_count(l, LEDGER_STAT_LOST_STORE_ROWS);
}

void
ledger_put_away(void *arg, const struct port *p, const struct account *a)
{
	const struct ledger_putting_away *to = arg;
	struct store_account *row;

	if (!a->used || !a->dirty)
		return;
	put_gone_away(to->l, p, a, to->batch);
	row = store_batch_add(to->batch, STORE_ACCOUNTS);
	if (row)
		roster_account_row(p, a, row);
	else
		ledger_count(to->l, LEDGER_STAT_LOST_STORE_ROWS);
}

void
ledger_store_waiting(struct port *p, struct store_batch *batch)
{
	struct store_counter *row = p->has_waiting ? store_batch_add(batch, STORE_COUNTERS) : NULL;

	if (!row)
		return;
	*row = p->waiting;
	p->has_waiting = false;
	p->stored_boot = row->boot;
	p->stored_us = row->snapshot.time_us;
}

/* Cutting */

static void
tell_state(struct port *p, struct store_batch *batch)
{
	struct store_port *row = p->state_untold ? store_batch_add(batch, STORE_PORTS) : NULL;

	if (!row)
		return;
	*row = (struct store_port){p->agent->row.id, p->state_boot, p->state};
	p->state_untold = false;
}

static void
cut_ports(struct ledger *l, struct store_batch *batch)
{
	struct ledger_putting_away to = {l, batch};

	for (uint32_t i = 0; i < l->roster.n_ports; i++) {
		struct port *p = &l->roster.ports[i];

		ledger_store_waiting(p, batch); /* first: accounts say which it is */
		for (int b = 0; b < ROSTER_BOOTS; b++) {
			struct account *a = &p->accounts[b];

			ledger_put_away(&to, p, a);
			a->dirty = false;
			a->stored_gone = a->slot->gone.n;
		}
		tell_state(p, batch);
	}
}

static void
cut_agents(struct ledger *l, struct store_batch *batch)
{
	for (uint32_t i = 0; i < l->roster.n_agents; i++) {
		struct agent *a = &l->roster.agents[i];

		if (a->dirty)
			*(struct store_agent *)store_batch_add(batch, STORE_AGENTS) = a->row;
		a->dirty = false;
	}
}

static bool
window_is_over(void *arg, int64_t agent, uint64_t start_us, uint64_t last_mono_us)
{
	const struct ledger *l = arg;
	const struct agent *a = roster_agent_by_number(&l->roster, agent);

	return !a || a->row.last_us > start_us + STORE_WINDOW_US + WINDOW_GRACE_US ||
	    l->mono_us > last_mono_us + WINDOW_IDLE_US;
}

int
ledger_cut(struct ledger *l, struct store_batch *batch)
{
	const struct roster *known = &l->roster;
	int r = store_batch_reserve(batch, STORE_ACCOUNTS, (size_t)ROSTER_BOOTS * known->n_ports);

	if (r == 0)
		r = store_batch_reserve(batch, STORE_GONE, (size_t)ROSTER_BOOTS * known->n_ports);
	if (r == 0)
		r = store_batch_reserve(batch, STORE_AGENTS, known->n_agents);
	if (r == 0)
		r = store_batch_reserve(batch, STORE_COUNTERS, known->n_ports);
	if (r == 0)
		r = window_dump(l->windows, batch);
	if (r < 0) {
		ledger_count(l, LEDGER_STAT_CUTS_POSTPONED);
		return r;
	}
	cut_ports(l, batch);
	cut_agents(l, batch);
	l->mono_us = clock_mono_us(l->clock);
	window_close(l->windows, window_is_over, l);
	return 0;
}

/* After a crash */

static void
expect_in_window(void *arg, const struct port *p, uint64_t time_us, uint64_t more)
{
	struct ledger *l = arg;
	struct window *w = window_get(l->windows, p->agent->row.id, p->if_index, time_us,
	    l->mono_us);

	if (w)
		window_add_numbers(l->windows, w, (int64_t)more, 0);
}

static uint64_t
last_stored_us(const struct roster *r)
{
	uint64_t last_us = 0;

	for (uint32_t i = 0; i < r->n_agents; i++)
		if (r->agents[i].row.last_received_us > last_us)
			last_us = r->agents[i].row.last_received_us;
	return last_us;
}

static void
log_crash(const struct recalled *sum, const struct store_outage *outage)
{
	char since[CLOCK_RFC3339_MAX], until[CLOCK_RFC3339_MAX];

	clock_format_rfc3339(outage->since_us, since, sizeof(since));
	clock_format_rfc3339(outage->until_us, until, sizeof(until));
	if (!outage->counted)
		log_warn(ROOM, "the collector before this one died with its machine: what came "
			       "after %s and was not stored counts as lost on the way", since);
	else if (sum->samples == 0)
		log_warn(ROOM, "the collector before this one died; no sample that it had taken was "
			       "lost");
	else
		log_warn(ROOM, "the collector before this one died: %llu samples of %u ports that "
			       "came from %s to %s were not stored yet, and count as lost in the "
			       "collector",
		    (unsigned long long)sum->samples, sum->ports, since, until);
	if (sum->refused > 0)
		log_warn(ROOM, "of %u ports it had seen it cannot be told", sum->refused);
}

bool
ledger_recall(struct ledger *l, const struct store_life *life, struct store_outage *outage)
{
	struct recalled sum = {0};
	struct witness_past past;
	int r = witness_share(&l->roster.witness, life->id, life->path, &past);

	l->mono_us = clock_mono_us(l->clock);
	*outage = (struct store_outage){.since_us = last_stored_us(&l->roster),
	    .until_us = clock_wall_us(l->clock), .kind = STORE_OUTAGE_MACHINE};
	if (past.crashed) {
		recall(&l->roster, &past, expect_in_window, l, &sum);
		outage->kind = STORE_OUTAGE_CRASH;
		outage->counted = true;
		outage->samples = sum.samples;
		if (past.last_received_us >= outage->since_us)
			outage->until_us = past.last_received_us;
		if (outage->since_us == 0) /* nothing was ever stored */
			outage->since_us = outage->until_us;
	}
	free(past.slots);
	if (r == 0)
		r = witness_publish(&l->roster.witness);
	if (r < 0)
		log_warn(ROOM, "no shared memory (%s): after a crash, samples that were not stored "
			       "count as lost on the way", strerror(-r));
	if (past.crashed || life->cut_short)
		log_crash(&sum, outage);
	return past.crashed || life->cut_short;
}

void
ledger_tell_again(struct ledger *l, int64_t store_id)
{
	roster_untell(&l->roster);
	witness_rename(&l->roster.witness, store_id);
}

void
ledger_forget(struct ledger *l)
{
	witness_remove(&l->roster.witness);
}
