#include "collector/window/roster.h"
#include "common/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM "roster"

_Static_assert((int)TRACKER_SAVED_OCTETS <= (int)STORE_TRACKER_MAX, "raise STORE_TRACKER_MAX");

/* Half empty at the limit. */
static uint64_t
buckets_for(uint32_t max_ports)
{
	uint64_t n = 16;

	while (n < 2ull * max_ports)
		n *= 2;
	return n;
}

uint64_t
roster_memory(uint32_t max_agents, uint32_t max_ports)
{
	return max_agents * sizeof(struct agent) + max_ports * sizeof(struct port) +
	    buckets_for(max_ports) * sizeof(uint32_t);
}

int
roster_init(struct roster *r, uint32_t max_agents, uint32_t max_ports)
{
	*r = (struct roster){
	    .max_agents = max_agents,
	    .max_ports = max_ports,
	    .port_mask = buckets_for(max_ports) - 1,
	};
	r->agents = calloc(max_agents, sizeof(*r->agents));
	r->ports = calloc(max_ports, sizeof(*r->ports));
	r->port_buckets = calloc(r->port_mask + 1, sizeof(*r->port_buckets));
	return r->agents && r->ports && r->port_buckets ? 0 : -ENOMEM;
}

void
roster_free(struct roster *r)
{
	free(r->port_buckets);
	free(r->ports);
	free(r->agents);
}

struct agent *
roster_find_agent(struct roster *r, const uint8_t *agent_id)
{
	for (uint32_t i = 0; i < r->n_agents; i++) {
		uint32_t at = (r->last_agent + i) % r->n_agents;

		if (memcmp(r->agents[at].row.agent_id, agent_id, EASE_AGENT_ID_LEN) == 0) {
			r->last_agent = at;
			return &r->agents[at];
		}
	}
	return NULL;
}

struct agent *
roster_agent_by_number(const struct roster *r, int64_t id)
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
roster_add_agent(struct roster *r, const struct store_agent *row)
{
	struct agent *a;

	if (r->n_agents == r->max_agents)
		return NULL;
	a = &r->agents[r->n_agents];
	*a = (struct agent){.row = *row, .met_boot = row->boot};
	if (row->id == 0)
		a->row.id = r->n_agents ? a[-1].row.id + 1 : 1;
	r->n_agents++;
	return a;
}

static uint32_t *
port_bucket(const struct roster *r, int64_t agent, uint32_t if_index)
{
	uint64_t h = ((uint64_t)agent << 32 ^ if_index) * 0x9e3779b97f4a7c15ull;

	for (uint64_t i = h >> 32;; i++) {
		uint32_t *bucket = &r->port_buckets[i & r->port_mask];
		const struct port *p = *bucket ? &r->ports[*bucket - 1] : NULL;

		if (!p || (p->agent->row.id == agent && p->if_index == if_index))
			return bucket;
	}
}

struct port *
roster_port(struct roster *r, struct agent *a, uint32_t if_index)
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
	*bucket = ++r->n_ports;
	return p;
}

void
roster_account_row(const struct port *p, const struct account *a, struct store_account *row)
{
	row->agent = p->agent->row.id;
	row->boot = a->boot;
	row->if_index = p->if_index;
	row->expected = tracker_expected(&a->tracker);
	row->received = a->tracker.received;
	row->duplicates = a->tracker.duplicates;
	row->reordered = a->tracker.reordered;
	row->late = a->tracker.late;
	row->agent_drops = a->agent_drops;
	row->stalls = a->stalls;
	row->stalled_pkts = a->stalled_pkts;
	row->first_us = a->first_us;
	row->last_us = a->last_us;
	row->tracker_octets = TRACKER_SAVED_OCTETS;
	tracker_save(&a->tracker, row->tracker);
}

/* Reading back */

static struct port *
loaded_port(struct roster *r, int64_t agent, uint32_t if_index)
{
	struct agent *a = roster_agent_by_number(r, agent);
	struct port *p = a ? roster_port(r, a, if_index) : NULL;

	if (!p)
		log_error(ROOM, "agent %lld ifIndex %u of the store is beyond the limits",
		    (long long)agent, if_index);
	return p;
}

static void
load_agent(void *arg, const struct store_agent *row)
{
	if (!roster_add_agent(arg, row))
		log_error(ROOM, "agent %lld of the store is beyond the limits", (long long)row->id);
}

static void
load_account(void *arg, const struct store_account *row)
{
	struct port *p = loaded_port(arg, row->agent, row->if_index);
	struct account a = {
	    .used = true,
	    .boot = row->boot,
	    .agent_drops = row->agent_drops,
	    .stalls = row->stalls,
	    .stalled_pkts = row->stalled_pkts,
	    .first_us = row->first_us,
	    .last_us = row->last_us,
	    .gap_us = row->last_us,
	};

	if (!p)
		return;
	if (tracker_load(&a.tracker, row->tracker, row->tracker_octets) < 0)
		log_error(ROOM, "agent %lld boot %u ifIndex %u: the store's memory of its numbers "
				"is damaged, duplicates may count twice",
		    (long long)row->agent, row->boot, row->if_index);
	a.tracker.received = row->received;
	a.tracker.duplicates = row->duplicates;
	a.tracker.reordered = row->reordered;
	a.tracker.late = row->late;
	/* rows come by boot, rising */
	p->accounts[1] = p->accounts[0];
	p->accounts[0] = a;
}

static void
load_counter(void *arg, const struct store_counter *row)
{
	struct port *p = loaded_port(arg, row->agent, row->snapshot.if_index);

	if (!p)
		return;
	totals_set_base(&p->totals, row->boot, &row->snapshot);
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
roster_loader(struct roster *r)
{
	return (struct store_loader){
	    .arg = r,
	    .agent = load_agent,
	    .account = load_account,
	    .counter = load_counter,
	    .port = load_port,
	};
}
