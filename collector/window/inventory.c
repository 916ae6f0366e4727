#include "collector/window/inventory.h"
#include "common/hash.h"
#include "common/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM "inventory"

_Static_assert(
    (int)SEQUENCE_TRACKER_SAVED_OCTETS <= (int)STORE_TRACKER_MAX, "raise STORE_TRACKER_MAX");

/* A power of two, so that the table is at most half full. */
static uint64_t
buckets_for(uint32_t most)
{
	uint64_t n = 16;

	while (n < 2ull * most)
		n *= 2;
	return n;
}

uint64_t
inventory_memory(uint32_t max_agents, uint32_t max_ports)
{
	return max_agents * sizeof(struct agent) + max_ports * sizeof(struct port) +
	       (buckets_for(max_agents) + buckets_for(max_ports)) * sizeof(uint32_t) +
	       crash_journal_memory(INVENTORY_BOOTS * max_ports);
}

int
inventory_init(struct inventory *r, uint32_t max_agents, uint32_t max_ports, uint64_t seed)
{
	*r = (struct inventory){
	    .max_agents = max_agents,
	    .max_ports = max_ports,
	    .seed = seed,
	    .agent_mask = buckets_for(max_agents) - 1,
	    .port_mask = buckets_for(max_ports) - 1,
	};
	if (crash_journal_init(&r->journal, INVENTORY_BOOTS * max_ports) < 0)
		return -ENOMEM;
	r->agents = calloc(max_agents, sizeof(*r->agents));
	r->ports = calloc(max_ports, sizeof(*r->ports));
	r->agent_buckets = calloc(r->agent_mask + 1, sizeof(*r->agent_buckets));
	r->port_buckets = calloc(r->port_mask + 1, sizeof(*r->port_buckets));
	return r->agents && r->ports && r->agent_buckets && r->port_buckets ? 0 : -ENOMEM;
}

void
inventory_free(struct inventory *r)
{
	crash_journal_free(&r->journal);
	free(r->port_buckets);
	free(r->agent_buckets);
	free(r->ports);
	free(r->agents);
}

void
agent_note_boot(struct agent *a, uint32_t boot)
{
	if (boot > a->row.boot) {
		a->boots.before = a->row.boot;
		a->row.boot = boot;
	} else if (boot < a->row.boot && boot > a->boots.before) {
		a->boots.before = boot;
	}
}

void
agent_note_address(struct agent *a, const struct ease_record *r)
{
	if (strcmp(a->row.address, r->sender) != 0)
		snprintf(a->row.address, sizeof(a->row.address), "%s", r->sender);
}

static uint32_t *
agent_bucket(const struct inventory *r, const uint8_t *agent_id)
{
	uint64_t id;

	_Static_assert(sizeof(id) == EASE_AGENT_ID_LEN, "an id is one word");
	memcpy(&id, agent_id, sizeof(id));
	return &r->agent_buckets[hash_pair(r->seed, id, HASH_GOLDEN) & r->agent_mask];
}

struct agent *
inventory_find_agent(const struct inventory *r, const uint8_t *agent_id)
{
	for (uint32_t i = *agent_bucket(r, agent_id); i != 0; i = r->agents[i - 1].next)
		if (memcmp(r->agents[i - 1].row.agent_id, agent_id, EASE_AGENT_ID_LEN) == 0)
			return &r->agents[i - 1];
	return NULL;
}

struct agent *
inventory_agent_by_number(const struct inventory *r, int64_t id)
{
	uint32_t low = 0, high = r->n_agents;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (r->agents[middle].row.id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->n_agents && r->agents[low].row.id == id ? &r->agents[low] : NULL;
}

struct agent *
inventory_add_agent(struct inventory *r, const struct store_agent *row)
{
	uint32_t *bucket = agent_bucket(r, row->agent_id);
	struct agent *a;

	if (r->n_agents == r->max_agents)
		return NULL;
	a = &r->agents[r->n_agents];
	*a = (struct agent){.row = *row, .first_heard_boot = row->boot};
	device_clock_begin(&a->clock, row->boot, row->last_us, row->last_received_us);
	if (row->id == 0)
		a->row.id = r->n_agents ? a[-1].row.id + 1 : 1;
	a->next = *bucket;
	*bucket = ++r->n_agents;
	return a;
}

static uint32_t *
port_bucket(const struct inventory *r, int64_t agent, uint32_t if_index)
{
	for (uint64_t i = hash_pair(r->seed, (uint64_t)agent, if_index);; i++) {
		uint32_t *bucket = &r->port_buckets[i & r->port_mask];
		const struct port *p = *bucket ? &r->ports[*bucket - 1] : NULL;

		if (!p || (p->agent->row.id == agent && p->if_index == if_index))
			return bucket;
	}
}

struct port *
inventory_find_port(struct inventory *r, const struct agent *a, uint32_t if_index)
{
	uint32_t bucket = *port_bucket(r, a->row.id, if_index);

	return bucket ? &r->ports[bucket - 1] : NULL;
}

struct port *
inventory_port(struct inventory *r, struct agent *a, uint32_t if_index)
{
	uint32_t *bucket = port_bucket(r, a->row.id, if_index);
	struct port *p;

	if (*bucket)
		return &r->ports[*bucket - 1];
	if (r->n_ports == r->max_ports)
		return NULL;
	p = &r->ports[r->n_ports];
	p->agent = a;
	p->if_index = if_index;
	for (uint32_t b = 0; b < INVENTORY_BOOTS; b++)
		p->accounts[b].slot =
		    crash_journal_slot(&r->journal, INVENTORY_BOOTS * r->n_ports + b);
	*bucket = ++r->n_ports;
	return p;
}

static struct account *
open_account(struct port *p, int at, uint32_t boot, uint64_t first_us)
{
	struct account *a = &p->accounts[at];
	struct crash_journal_slot *slot = p->accounts[INVENTORY_BOOTS - 1].slot;

	if (at == 0)
		p->accounts[1] = p->accounts[0];
	*slot = (struct crash_journal_slot){.boot = boot, .if_index = p->if_index};
	memcpy(slot->agent_id, p->agent->row.agent_id, sizeof(slot->agent_id));
	*a = (struct account){.used = true,
	    .boot = boot,
	    .slot = slot,
	    .first_us = first_us,
	    .last_expected_us = first_us};
	return a;
}

struct account *
inventory_account(struct port *p, uint32_t boot, uint64_t first_us, bool *made,
    inventory_evicted *evicted, void *arg)
{
	struct account *newest = &p->accounts[0], *before = &p->accounts[1];
	int at;

	*made = false;
	if (newest->used && boot == newest->boot)
		return newest;
	if (before->used && boot == before->boot)
		return before;
	if (!newest->used || boot > newest->boot)
		at = 0;
	else if (!before->used || boot > before->boot)
		at = 1;
	else
		return NULL;
	if (evicted)
		evicted(arg, p, before);
	*made = true;
	return open_account(p, at, boot, first_us);
}

void
inventory_add_lost(struct port *p, uint64_t samples)
{
	for (int b = 0; b < INVENTORY_BOOTS; b++) {
		struct account *a = &p->accounts[b];
		uint64_t n = samples;

		if (!a->used)
			continue;
		if (n > a->slot->tracker.received)
			n = a->slot->tracker.received;
		a->slot->tracker.received -= n;
		a->slot->crash_lost.n += n;
		a->dirty = true;
		samples -= n;
	}
}

void
inventory_mark_all_dirty(struct inventory *r)
{
	for (uint32_t i = 0; i < r->n_agents; i++) {
		struct agent_identity *identity = &r->agents[i].identity;

		r->agents[i].dirty = true;
		identity->bound_unwritten = *identity->bound;
		identity->refused.unwritten = identity->refused.n > 0;
	}
	for (uint32_t i = 0; i < r->n_ports; i++) {
		struct port *p = &r->ports[i];

		for (int b = 0; b < INVENTORY_BOOTS; b++) {
			p->accounts[b].dirty = p->accounts[b].used;
			p->accounts[b].stored = false;
			p->accounts[b].stored_crash_lost = 0;
		}
		p->counters_unwritten = p->newest_counters.snapshot.time_us != 0;
		p->state_unwritten = p->has_state;
	}
}

void
inventory_account_row(const struct port *p, const struct account *a, struct store_account *row)
{
	const struct sequence_tracker *t = &a->slot->tracker;

	row->agent = p->agent->row.id;
	row->boot = a->boot;
	row->if_index = p->if_index;
	row->expected = sequence_tracker_expected(t);
	row->received = t->received;
	row->duplicates = t->duplicates;
	row->reordered = t->reordered;
	row->late = t->late;
	row->agent_drops = a->agent_drops;
	row->stalls = a->stalls;
	row->stalled_pkts = a->stalled_pkts;
	row->first_us = a->first_us;
	row->last_us = a->slot->last_us;
	row->base_us = a->boot == p->stored_boot ? p->stored_us : 0;
	row->is_new = !a->stored;
	row->tracker_octets = SEQUENCE_TRACKER_SAVED_OCTETS;
	sequence_tracker_save(t, row->tracker);
}

/* Loading from the store */

static struct port *
loaded_port(struct inventory *r, int64_t agent, uint32_t if_index)
{
	struct agent *a = inventory_agent_by_number(r, agent);
	struct port *p = a ? inventory_port(r, a, if_index) : NULL;

	if (!p)
		log_error(ROOM,
		    "the store's port ifIndex %u of agent %lld is not used: it is beyond "
		    "the limits of %u agents and %u ports",
		    if_index, (long long)agent, r->max_agents, r->max_ports);
	return p;
}

static void
load_agent(void *arg, const struct store_agent *row)
{
	if (!inventory_add_agent(arg, row))
		log_error(ROOM,
		    "the store's agent %lld at %s is not used: the limit of %u agents is "
		    "reached",
		    (long long)row->id, row->address, ((struct inventory *)arg)->max_agents);
}

static void
load_agent_source(void *arg, const struct store_agent_source *row)
{
	struct agent *a = inventory_agent_by_number(arg, row->agent);

	if (!a || a->identity.bound_unwritten)
		return;
	snprintf(a->identity.bound, sizeof(a->identity.bound), "%s", row->source);
	a->identity.bound_us = row->since_us;
}

static void
load_agent_refusal(void *arg, const struct store_agent_refusal *row)
{
	struct agent *a = inventory_agent_by_number(arg, row->agent);

	if (!a)
		return;
	a->identity.refused.n = row->records;
	a->identity.refused.reason = row->reason;
	a->identity.refused.first_us = row->first_us;
	a->identity.refused.last_us = row->last_us;
	snprintf(a->identity.refused.source, sizeof(a->identity.refused.source), "%s", row->source);
}

static void
load_account(void *arg, const struct store_account *row)
{
	struct port *p = loaded_port(arg, row->agent, row->if_index);
	struct account *a;
	struct sequence_tracker *t;
	bool made;

	if (!p)
		return;
	agent_note_boot(p->agent, row->boot);
	/* the store gives the rows sorted by boot */
	a = inventory_account(p, row->boot, row->first_us, &made, NULL, NULL);
	if (!a)
		return;
	t = &a->slot->tracker;
	a->stored = true;
	a->agent_drops = row->agent_drops;
	a->stalls = row->stalls;
	a->stalled_pkts = row->stalled_pkts;
	a->slot->last_us = a->last_expected_us = row->last_us;
	if (sequence_tracker_load(t, row->tracker, row->tracker_octets) < 0)
		log_error(ROOM,
		    "agent %lld boot %u ifIndex %u: the sequence numbers in the store are "
		    "damaged; samples that arrive again may count twice",
		    (long long)row->agent, row->boot, row->if_index);
	t->received = row->received;
	t->duplicates = row->duplicates;
	t->reordered = row->reordered;
	t->late = row->late;
}

static void
load_crash_lost(void *arg, const struct store_crash_lost *row)
{
	struct port *p = loaded_port(arg, row->agent, row->if_index);

	for (int b = 0; p && b < INVENTORY_BOOTS; b++) {
		struct account *a = &p->accounts[b];

		if (a->used && a->boot == row->boot)
			a->slot->crash_lost.n = a->stored_crash_lost = row->samples;
	}
}

static void
load_counter(void *arg, const struct store_counter *row)
{
	struct port *p = loaded_port(arg, row->agent, row->snapshot.if_index);

	if (!p)
		return;
	cut_totals_begin(&p->cuts, row->boot, &row->snapshot);
	if (p->accounts[0].used && p->accounts[0].boot == row->boot && p->accounts[0].slot->tracker.started)
		sample_gaps_resume(&p->gaps, row->boot,
		    sequence_tracker_newest(&p->accounts[0].slot->tracker), &row->snapshot);
	port_totals_set_base(&p->totals, row->boot, &row->snapshot, row->received_us);
	p->newest_counters = *row;
	p->stored_boot = row->boot;
	p->stored_us = row->snapshot.time_us;
}

static void
load_port(void *arg, const struct store_port *row)
{
	struct port *p = loaded_port(arg, row->agent, row->state.if_index);

	if (!p)
		return;
	p->has_state = true;
	p->state_boot = row->boot;
	p->state = row->state;
}

struct store_loader
inventory_loader(struct inventory *r)
{
	return (struct store_loader){
	    .arg = r,
	    .agent = load_agent,
	    .agent_source = load_agent_source,
	    .agent_refusal = load_agent_refusal,
	    .account = load_account,
	    .crash_lost = load_crash_lost,
	    .counter = load_counter,
	    .port = load_port,
	};
}
