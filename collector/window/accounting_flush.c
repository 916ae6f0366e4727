/* Moves sums and accounts into batches, and restores at a start what a crash lost. */
#include "collector/window/accounting_private.h"
#include "collector/window/crash_recovery.h"
#include "common/log.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM "accounting"

/* A window is closed when its agent's clock is this far past the end of the window, or when nothing
 * was added to it for WINDOW_IDLE_US by the collector's clock. */
#define WINDOW_GRACE_US (1ull * STORE_WINDOW_US)
#define WINDOW_IDLE_US	(3ull * STORE_WINDOW_US)

/* A batch has room for the samples of almost a fifth of a second at the rate the collector is built for
 * (400,000 a second), as many as leave room for keys in the least memory. It is handed over when half of the rows are used, so the other half has room
 * for what arrives until then. */
enum { FREE_SAMPLES = 74000, FREE_SUMS = 8192, FREE_EVENTS = 28672,
	FREE_ERROR_SOURCES = 4096,
	FREE_DISCARDS = 256,
	FREE_ODDITIES = 512,
	OUTAGES = 8 /* one at a start, and one each time the store is replaced */ };

void
accounting_room(const struct accounting_limits *limits, struct store_room room[STORE_N_TABLES])
{
	room[STORE_AGENTS].kept = limits->agents;
	room[STORE_AGENT_SOURCES].kept = limits->agents;
	room[STORE_AGENT_REFUSALS].kept = limits->agents;
	room[STORE_AGENT_CLOCKS].kept = limits->agents;
	room[STORE_PORTS].free = limits->ports;
	room[STORE_SAMPLES] = (struct store_room){.free = FREE_SAMPLES, .more_octets = limits->header_octets};
	/* free: one row each second; kept: the newest counters at the flush */
	room[STORE_COUNTERS] = (struct store_room){.free = limits->ports, .kept = limits->ports};
	room[STORE_ACCOUNTS] = (struct store_room){
	    .free = limits->ports, .kept = INVENTORY_BOOTS * limits->ports};
	room[STORE_CRASH_LOST] = room[STORE_ACCOUNTS];
	room[STORE_OUTAGES].free = OUTAGES;
	room[STORE_WINDOWS].free = FREE_SUMS;
	room[STORE_WINDOW_PORTS].free = FREE_SUMS;
	room[STORE_FOLDED].free = 3 * FREE_SUMS; /* several for a sample */
	room[STORE_EVENTS].free = FREE_EVENTS;
	room[STORE_GAPS].free = limits->ports; /* after an outage each has one */
	room[STORE_RESOURCES].free = limits->ports;
	room[STORE_ERROR_SOURCES].free = FREE_ERROR_SOURCES;
	room[STORE_DISCARDS].free = FREE_DISCARDS;
	room[STORE_ODDITIES].free = FREE_ODDITIES;
	window_room(&limits->windows, room);
}

uint64_t
accounting_memory(const struct accounting_limits *limits)
{
	struct accounting_limits others = *limits;
	struct store_room room[STORE_N_TABLES] = {0};

	others.windows = (struct window_limits){0};
	accounting_room(&others, room);
	return inventory_memory(limits->agents, limits->ports) + store_memory(room);
}

static void
flush_crash_lost(struct accounting *acc, const struct port *p, const struct account *a, struct store_batch *batch)
{
	struct store_crash_lost *row;

	if (a->slot->crash_lost.n == a->stored_crash_lost)
		return;
	row = store_batch_add(batch, STORE_CRASH_LOST);
	if (row)
		*row = (struct store_crash_lost){p->agent->row.id, a->boot, p->if_index,
		    a->slot->crash_lost.n};
	else
		accounting_count(acc, ACCOUNTING_STAT_LOST_STORE_ROWS);
}

void
accounting_flush_account(void *arg, const struct port *p, const struct account *a)
{
	const struct accounting_flush_target *to = arg;
	struct store_account *row;

	if (!a->used || !a->dirty)
		return;
	flush_crash_lost(to->acc, p, a, to->batch);
	row = store_batch_add(to->batch, STORE_ACCOUNTS);
	if (row)
		inventory_account_row(p, a, row);
	else
		accounting_count(to->acc, ACCOUNTING_STAT_LOST_STORE_ROWS);
}

void
accounting_flush_counters(struct port *p, struct store_batch *batch)
{
	struct store_counter *row =
	    p->counters_unwritten ? store_batch_add(batch, STORE_COUNTERS) : NULL;

	if (!row)
		return;
	*row = p->newest_counters;
	p->counters_unwritten = false;
	p->stored_boot = row->boot;
	p->stored_us = row->snapshot.time_us;
}

/* Flushing */

static void
flush_state(struct port *p, struct store_batch *batch)
{
	struct store_port *row = p->state_unwritten ? store_batch_add(batch, STORE_PORTS) : NULL;

	if (!row)
		return;
	*row = (struct store_port){p->agent->row.id, p->state_boot, p->state};
	p->state_unwritten = false;
}

/* What finds no room waits. */
static void
flush_oddities(struct oddities *o, int64_t agent, uint64_t if_index, struct store_batch *batch)
{
	bool is_left = false;

	for (uint8_t kind = 0; o->newest_us > 0 && kind < EASE_N_ODDITIES; kind++) {
		struct store_oddity *row = o->n[kind] > 0 ? store_batch_add(batch, STORE_ODDITIES) : NULL;

		is_left |= !row && o->n[kind] > 0;
		if (!row)
			continue;
		*row = (struct store_oddity){agent, if_index, kind, o->n[kind], o->newest_us, o->newest_us};
		o->n[kind] = 0;
	}
	if (!is_left)
		o->newest_us = 0;
}

static void
flush_ports(struct accounting *acc, struct store_batch *batch)
{
	struct accounting_flush_target to = {acc, batch};

	for (uint32_t i = 0; i < acc->inventory.port_places.end; i++) {
		struct port *p = &acc->inventory.ports[i];

		if (!p->agent)
			continue;
		accounting_flush_counters(p, batch); /* first: account rows name the counter row */
		for (int b = 0; b < INVENTORY_BOOTS; b++) {
			struct account *a = &p->accounts[b];

			accounting_flush_account(&to, p, a);
			a->stored |= a->dirty;
			a->dirty = false;
			a->stored_crash_lost = a->slot->crash_lost.n;
		}
		flush_state(p, batch);
		accounting_flush_discards(acc, p, batch);
		flush_oddities(&p->odd, p->agent->row.id, p->if_index, batch);
	}
}

static void
flush_identity(struct agent *a, struct store_batch *batch)
{
	struct agent_identity *identity = &a->identity;
	struct store_agent_refusal *refusal;
	struct store_agent_source *source;

	if (identity->bound_unwritten) {
		source = store_batch_add(batch, STORE_AGENT_SOURCES);
		assert(source); /* reserved */
		*source = (struct store_agent_source){
		    .agent = a->row.id, .since_us = identity->bound_us};
		memcpy(source->source, identity->bound, sizeof(source->source));
	}
	if (identity->refused.unwritten) {
		refusal = store_batch_add(batch, STORE_AGENT_REFUSALS);
		assert(refusal);
		*refusal = (struct store_agent_refusal){
		    .agent = a->row.id,
		    .records = identity->refused.n,
		    .reason = identity->refused.reason,
		    .first_us = identity->refused.first_us,
		    .last_us = identity->refused.last_us,
		};
		memcpy(refusal->source, identity->refused.source, sizeof(refusal->source));
	}
	identity->bound_unwritten = identity->refused.unwritten = false;
}

static void
flush_agents(struct accounting *acc, struct store_batch *batch)
{
	for (uint32_t i = 0; i < acc->inventory.agent_places.end; i++) {
		struct agent *a = &acc->inventory.agents[i];

		if (a->dirty)
			*(struct store_agent *)store_batch_add(batch, STORE_AGENTS) = a->row;
		a->dirty = false;
		flush_identity(a, batch);
		if (a->clock_unwritten)
			*(struct store_agent_clock *)store_batch_add(batch, STORE_AGENT_CLOCKS) =
			    (struct store_agent_clock){a->row.id, a->clock.offset_us, a->clock_since_us};
		a->clock_unwritten = false;
		flush_oddities(&a->odd, a->row.id, 0, batch);
	}
}

/* Adds numbers that wait to windows or to the batch, if there is room now. */
static void
accounting_flush_waiting(struct accounting *acc, struct store_batch *batch)
{
	if (!acc->numbers_wait)
		return;
	acc->numbers_wait = false; /* unless one waits again */
	for (uint32_t i = 0; i < acc->inventory.port_places.end; i++) {
		struct port *p = &acc->inventory.ports[i];

		if (p->expected_wait != 0 || p->received_wait != 0)
			accounting_add_numbers(acc, p, accounting_window_of(acc, p, p->wait_us),
			    p->wait_us, 0, 0, batch);
	}
}

static bool
window_is_over(void *arg, int64_t agent, uint64_t start_us, uint64_t last_mono_us)
{
	const struct accounting *acc = arg;
	const struct agent *a = inventory_agent_by_number(&acc->inventory, agent);

	return !a || a->row.last_us > start_us + STORE_WINDOW_US + WINDOW_GRACE_US ||
	    acc->mono_us > last_mono_us + WINDOW_IDLE_US;
}

static void
flush_note_left(struct accounting *acc)
{
	const struct inventory *r = &acc->inventory;

	atomic_store(&acc->values[ACCOUNTING_STAT_AGENTS_LEFT], r->left_agents);
	atomic_store(&acc->values[ACCOUNTING_STAT_PORTS_LEFT], r->left_ports);
	atomic_store(&acc->values[ACCOUNTING_STAT_RECALLED], r->recalled);
}

int
accounting_flush(struct accounting *acc, struct store_batch *batch)
{
	const struct inventory *known = &acc->inventory;
	int r;

	/* Those who were chosen with the flush before are in its batch, so they may leave now. */
	accounting_flush_waiting(acc, batch);
	inventory_sweep(&acc->inventory);
	/* Room for all of it is reserved first: a flush is whole or none. */
	r = store_batch_reserve(batch, STORE_ACCOUNTS, (size_t)INVENTORY_BOOTS * known->port_places.end);
	if (r == 0)
		r = store_batch_reserve(batch, STORE_CRASH_LOST, (size_t)INVENTORY_BOOTS * known->port_places.end);
	if (r == 0)
		r = store_batch_reserve(batch, STORE_AGENTS, known->agent_places.end);
	if (r == 0)
		r = store_batch_reserve(batch, STORE_AGENT_SOURCES, known->agent_places.end);
	if (r == 0)
		r = store_batch_reserve(batch, STORE_AGENT_REFUSALS, known->agent_places.end);
	if (r == 0)
		r = store_batch_reserve(batch, STORE_AGENT_CLOCKS, known->agent_places.end);
	if (r == 0)
		r = store_batch_reserve(batch, STORE_COUNTERS, known->port_places.end);
	if (r == 0)
		r = window_flush(acc->windows, batch);
	if (r < 0) {
		accounting_count(acc, ACCOUNTING_STAT_FLUSHES_POSTPONED);
		return r;
	}
	flush_ports(acc, batch);
	flush_agents(acc, batch);
	acc->mono_us = clock_mono_us(acc->clock);
	inventory_choose(&acc->inventory, acc->mono_us, acc->forget_us);
	flush_note_left(acc);
	window_close(acc->windows, window_is_over, acc);
	return 0;
}

/* After a crash */

static void
expect_in_window(void *arg, const struct port *p, uint64_t time_us, uint64_t more)
{
	struct accounting *acc = arg;
	struct window *w = window_get(acc->windows, p->agent->row.id, p->if_index, time_us,
	    acc->mono_us);

	if (w)
		window_add_numbers(acc->windows, w, (int64_t)more, 0);
}

/* A start anew takes less, and is nothing to be told. *assumed* */
#define STOP_TOLD_US 60000000u

static uint64_t
last_stored_us(const struct inventory *r)
{
	uint64_t last_us = 0;

	for (uint32_t i = 0; i < r->agent_places.end; i++)
		if (r->agents[i].row.last_received_us > last_us)
			last_us = r->agents[i].row.last_received_us;
	return last_us;
}

static void
log_crash(const struct crash_recovered *sum, const struct store_outage *outage)
{
	char since[CLOCK_RFC3339_MAX], until[CLOCK_RFC3339_MAX];

	clock_format_rfc3339(outage->since_us, since, sizeof(since));
	clock_format_rfc3339(outage->until_us, until, sizeof(until));
	if (!outage->counted)
		log_warn(ROOM,
		    "the previous collector stopped together with its machine (power loss "
		    "or reset): samples that arrived after %s and were not stored count "
		    "as lost in the network",
		    since);
	else if (sum->samples == 0)
		log_warn(ROOM, "the previous collector crashed; no sample that it had received was "
			       "lost");
	else
		log_warn(ROOM,
		    "the previous collector crashed: %llu samples of %u ports that arrived "
		    "between %s and %s were not stored yet and count as lost in the "
		    "collector",
		    (unsigned long long)sum->samples, sum->ports, since, until);
	if (sum->refused > 0)
		log_warn(ROOM,
		    "for %u ports of the previous collector it is not known what was lost: "
		    "they are beyond the limits, or the crash journal does not fit the store",
		    sum->refused);
}

int
accounting_recover(
    struct accounting *acc, const struct store_life *life, struct store_outage *outage, bool *had_outage)
{
	struct crash_recovered sum = {0};
	struct crash_journal_past past;
	int r = crash_journal_share(&acc->inventory.journal, life->id, life->path, clock_wall_us(acc->clock), &past);

	*had_outage = false;
	if (r == -ENOMEM || r == -EMFILE || r == -ENFILE) {
		free(past.slots);
		return r;
	}
	acc->mono_us = clock_mono_us(acc->clock);
	*outage = (struct store_outage){.since_us = last_stored_us(&acc->inventory),
	    .until_us = clock_wall_us(acc->clock),
	    .kind = life->unclean_stop ? STORE_OUTAGE_MACHINE : STORE_OUTAGE_STOPPED};
	if (past.crashed) {
		crash_recover(&acc->inventory, &past, expect_in_window, acc, &sum);
		outage->kind = STORE_OUTAGE_CRASH;
		outage->counted = true;
		outage->samples = sum.samples;
		if (past.last_received_us >= outage->since_us)
			outage->until_us = past.last_received_us;
		if (outage->since_us == 0) /* nothing had been stored */
			outage->since_us = outage->until_us;
	}
	free(past.slots);
	if (r == 0)
		r = crash_journal_publish(&acc->inventory.journal);
	if (r < 0)
		log_warn(ROOM, "cannot keep the crash journal in shared memory: %s; after a crash, "
			       "samples that were not stored count as lost in the network",
		    strerror(-r));
	if (past.crashed || life->unclean_stop)
		log_crash(&sum, outage);
	if (outage->kind == STORE_OUTAGE_STOPPED)
		outage->since_us = life->stopped_us;
	*had_outage = past.crashed || life->unclean_stop ||
	    (outage->since_us > 0 && outage->until_us > outage->since_us + STOP_TOLD_US);
	return 0;
}

void
accounting_rewrite_all(struct accounting *acc, int64_t store_id)
{
	inventory_mark_all_dirty(&acc->inventory);
	crash_journal_rename(&acc->inventory.journal, store_id);
}

void
accounting_remove_journal(struct accounting *acc)
{
	crash_journal_remove(&acc->inventory.journal);
}
