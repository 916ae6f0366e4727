#include "collector/window/inventory.h"
#include "common/hash.h"
#include "common/log.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM "inventory"

_Static_assert(
    (int)SEQUENCE_TRACKER_SAVED_OCTETS <= (int)STORE_TRACKER_MAX, "raise STORE_TRACKER_MAX");

/* So that the table is at most half full. */
static uint64_t
buckets_for(uint32_t most)
{
	return hash_lists(2 * most);
}

uint64_t
inventory_memory(uint32_t max_agents, uint32_t max_ports)
{
	return sizeof(struct inventory) + max_agents * sizeof(struct agent) +
	    max_ports * sizeof(struct port) +
	    (INVENTORY_N_KEYS * buckets_for(max_agents) + buckets_for(max_ports)) * sizeof(uint32_t) +
	    lru_table_memory(max_agents) + lru_table_memory(max_ports) +
	    crash_journal_memory(INVENTORY_BOOTS * max_ports);
}

int
inventory_init(struct inventory *r, uint32_t max_agents, uint32_t max_ports, uint64_t seed)
{
	bool whole = true;

	*r = (struct inventory){
	    .seed = seed,
	    .agent_mask = buckets_for(max_agents) - 1,
	    .port_mask = buckets_for(max_ports) - 1,
	};
	if (crash_journal_init(&r->journal, INVENTORY_BOOTS * max_ports) < 0)
		return -ENOMEM;
	r->agents = calloc(max_agents, sizeof(*r->agents));
	r->ports = calloc(max_ports, sizeof(*r->ports));
	for (int k = 0; k < INVENTORY_N_KEYS; k++) {
		r->agent_buckets[k] = calloc(r->agent_mask + 1, sizeof(**r->agent_buckets));
		whole = whole && r->agent_buckets[k];
	}
	r->port_buckets = calloc(r->port_mask + 1, sizeof(*r->port_buckets));
	if (!whole || !r->agents || !r->ports || !r->port_buckets ||
	    lru_table_init(&r->agent_places, max_agents, &r->agents->link, sizeof(*r->agents)) < 0 ||
	    lru_table_init(&r->port_places, max_ports, &r->ports->link, sizeof(*r->ports)) < 0)
		return -ENOMEM;
	return 0;
}

void
inventory_free(struct inventory *r)
{
	crash_journal_free(&r->journal);
	lru_table_free(&r->port_places);
	lru_table_free(&r->agent_places);
	free(r->port_buckets);
	for (int k = 0; k < INVENTORY_N_KEYS; k++)
		free(r->agent_buckets[k]);
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

/* What may be in the store and not here: a Bloom filter with two bits for each (B. Bloom, CACM 13(7), 1970) */

static uint64_t
hash_id(const struct inventory *r, const uint8_t *agent_id)
{
	uint64_t id;

	_Static_assert(sizeof(id) == EASE_AGENT_ID_LEN, "an id is one word");
	memcpy(&id, agent_id, sizeof(id));
	return hash_pair(r->seed, id, 0xa0761d6478bd642full); /* HASH_GOLDEN gives 0 where the seed is 1 */
}

static uint64_t
hash_port(const struct inventory *r, int64_t number, uint64_t if_index)
{
	return hash_pair(r->seed, (uint64_t)number, if_index);
}

static void
note_stored(struct inventory *r, uint64_t hash)
{
	for (int shift = 0; shift < 64; shift += 32) {
		uint64_t bit = (hash >> shift) % (64 * INVENTORY_FILTER_WORDS);

		r->stored[bit / 64] |= 1ull << bit % 64;
	}
}

static bool
may_be_stored(const struct inventory *r, uint64_t hash)
{
	bool may = r->store;

	for (int shift = 0; may && shift < 64; shift += 32) {
		uint64_t bit = (hash >> shift) % (64 * INVENTORY_FILTER_WORDS);

		may = r->stored[bit / 64] >> bit % 64 & 1;
	}
	return may;
}

/* Agents */

static uint64_t
hash_text(const struct inventory *r, const char *text)
{
	uint64_t words[2 * ((STORE_SOURCE_TEXT + 15) / 16)] = {0};

	snprintf((char *)words, sizeof(words), "%s", text);
	return hash_octets(r->seed, words, (strlen((const char *)words) + 15) / 16 * 16);
}

uint64_t
inventory_owner(const struct inventory *r, const char *source)
{
	return hash_text(r, source);
}

static uint32_t *
agent_bucket(const struct inventory *r, enum inventory_key key, const struct store_agent *row)
{
	uint64_t hash = key == INVENTORY_ID ? hash_id(r, row->agent_id)
	    : key == INVENTORY_NUMBER	    ? (uint64_t)row->id
					    : hash_text(r, row->address);

	return &r->agent_buckets[key][hash & r->agent_mask];
}

static void
link_agent(struct inventory *r, enum inventory_key key, struct agent *a)
{
	uint32_t *bucket = agent_bucket(r, key, &a->row);

	a->next[key] = *bucket;
	*bucket = (uint32_t)(a - r->agents) + 1;
}

static void
unlink_agent(struct inventory *r, enum inventory_key key, const struct agent *a)
{
	uint32_t *at = agent_bucket(r, key, &a->row);

	while (&r->agents[*at - 1] != a)
		at = &r->agents[*at - 1].next[key];
	*at = a->next[key];
}

static struct agent *
agent_at_index(const struct inventory *r, uint32_t i)
{
	return i == 0 ? NULL : &r->agents[i - 1];
}

struct agent *
inventory_find_agent(const struct inventory *r, const uint8_t *agent_id)
{
	uint32_t i = r->agent_buckets[INVENTORY_ID][hash_id(r, agent_id) & r->agent_mask];

	for (; i != 0; i = r->agents[i - 1].next[INVENTORY_ID])
		if (memcmp(r->agents[i - 1].row.agent_id, agent_id, EASE_AGENT_ID_LEN) == 0)
			return &r->agents[i - 1];
	return NULL;
}

struct agent *
inventory_agent_by_number(const struct inventory *r, int64_t id)
{
	uint32_t i = r->agent_buckets[INVENTORY_NUMBER][(uint64_t)id & r->agent_mask];

	while (i != 0 && r->agents[i - 1].row.id != id)
		i = r->agents[i - 1].next[INVENTORY_NUMBER];
	return agent_at_index(r, i);
}

static struct agent *
find_at(const struct inventory *r, uint32_t i, const char *address)
{
	while (i != 0 && strcmp(r->agents[i - 1].row.address, address) != 0)
		i = r->agents[i - 1].next[INVENTORY_ADDRESS];
	return agent_at_index(r, i);
}

struct agent *
inventory_first_at(const struct inventory *r, const char *address)
{
	return find_at(r, r->agent_buckets[INVENTORY_ADDRESS][hash_text(r, address) & r->agent_mask], address);
}

struct agent *
inventory_next_at(const struct inventory *r, const struct agent *a)
{
	return find_at(r, a->next[INVENTORY_ADDRESS], a->row.address);
}

void
inventory_set_address(struct inventory *r, struct agent *a, const char *address)
{
	if (strcmp(a->row.address, address) == 0)
		return;
	unlink_agent(r, INVENTORY_ADDRESS, a);
	snprintf(a->row.address, sizeof(a->row.address), "%s", address);
	link_agent(r, INVENTORY_ADDRESS, a);
}

static struct agent *
inventory_place_agent(struct inventory *r, const struct store_agent *row, uint64_t owner, int64_t heard_us)
{
	uint32_t place = lru_table_take(&r->agent_places, owner, heard_us);
	struct lru_link link;
	struct agent *a;

	if (place == LRU_NONE)
		return NULL;
	a = &r->agents[place];
	assert(a->n_ports == 0 && place < r->agent_places.end);
	link = a->link;
	*a = (struct agent){.row = *row, .first_heard_boot = row->boot, .link = link};
	if (row->id == 0)
		a->row.id = r->last_number + 1;
	if (a->row.id > r->last_number)
		r->last_number = a->row.id;
	for (int k = 0; k < INVENTORY_N_KEYS; k++)
		link_agent(r, (enum inventory_key)k, a);
	return a;
}

struct agent *
inventory_add_agent(
    struct inventory *r, const struct store_agent *row, uint64_t owner, uint64_t mono_us)
{
	return lru_table_admits(&r->agent_places, owner) ? inventory_place_agent(r, row, owner, (int64_t)mono_us)
							 : NULL;
}

int
inventory_recall_agent(struct inventory *r, const uint8_t *agent_id, uint64_t owner, uint64_t mono_us,
    struct agent **a)
{
	struct store_loader loader;
	int err;

	*a = NULL;
	if (!may_be_stored(r, hash_id(r, agent_id)))
		return 0;
	if (!lru_table_admits(&r->agent_places, owner))
		return -EDQUOT;
	loader = inventory_loader(r, mono_us);
	err = store_recall_agent(r->store, agent_id, &loader);
	if (err < 0)
		return err;
	*a = inventory_find_agent(r, agent_id);
	r->recalled += *a ? 1 : 0;
	return 0;
}

static bool
is_clean_agent(const struct agent *a)
{
	return a->n_ports == 0 && !a->dirty && !a->clock_unwritten && !a->identity.bound_unwritten &&
	    !a->identity.refused.unwritten;
}

static void
remove_agent(struct inventory *r, struct agent *a)
{
	assert(a->link.state == LRU_LEAVING && is_clean_agent(a));
	for (int k = 0; k < INVENTORY_N_KEYS; k++)
		unlink_agent(r, (enum inventory_key)k, a);
	note_stored(r, hash_id(r, a->row.agent_id));
	lru_table_give(&r->agent_places, (uint32_t)(a - r->agents));
	*a = (struct agent){.link = a->link};
	r->left_agents++;
}

/* Ports */

static uint32_t *
inventory_port_bucket(const struct inventory *r, const struct agent *a, uint64_t if_index)
{
	return &r->port_buckets[hash_port(r, a->row.id, if_index) & r->port_mask];
}

struct port *
inventory_find_port(struct inventory *r, const struct agent *a, uint64_t if_index)
{
	if (r->port_found && r->port_found->agent == a && r->port_found->if_index == if_index)
		return r->port_found;
	for (uint32_t i = *inventory_port_bucket(r, a, if_index); i != 0; i = r->ports[i - 1].next)
		if (r->ports[i - 1].agent == a && r->ports[i - 1].if_index == if_index)
			return r->port_found = &r->ports[i - 1];
	return NULL;
}

static struct port *
inventory_place_port(struct inventory *r, struct agent *a, uint64_t if_index, int64_t heard_us)
{
	uint64_t owner = lru_table_owner(&r->agent_places, (uint32_t)(a - r->agents));
	uint32_t place = lru_table_take(&r->port_places, owner, heard_us), *bucket;
	struct port *p;

	if (place == LRU_NONE)
		return NULL;
	bucket = inventory_port_bucket(r, a, if_index);
	p = &r->ports[place];
	assert(p->agent == NULL && place < r->port_places.end);
	p->agent = a;
	p->if_index = if_index;
	p->next = *bucket;
	*bucket = place + 1;
	for (uint32_t b = 0; b < INVENTORY_BOOTS; b++)
		p->accounts[b].slot = crash_journal_slot(&r->journal, INVENTORY_BOOTS * place + b);
	a->n_ports++;
	return p;
}

static bool
is_clean_port(const struct port *p)
{
	bool dirty = p->counters_unwritten || p->state_unwritten || p->expected_wait != 0 ||
	    p->received_wait != 0;

	for (int b = 0; b < INVENTORY_BOOTS; b++)
		dirty = dirty || p->accounts[b].dirty;
	return !dirty;
}

static void
inventory_remove_port(struct inventory *r, struct port *p)
{
	uint32_t *at = inventory_port_bucket(r, p->agent, p->if_index);
	struct lru_link link;

	assert(p->agent->n_ports > 0);
	while (&r->ports[*at - 1] != p)
		at = &r->ports[*at - 1].next;
	*at = p->next;
	note_stored(r, hash_port(r, p->agent->row.id, p->if_index));
	for (int b = 0; b < INVENTORY_BOOTS; b++)
		*p->accounts[b].slot = (struct crash_journal_slot){.boot = 0};
	p->agent->n_ports--;
	lru_table_give(&r->port_places, (uint32_t)(p - r->ports));
	link = p->link;
	memset(p, 0, sizeof(*p));
	p->link = link;
}

int
inventory_port(
    struct inventory *r, struct agent *a, uint64_t if_index, uint64_t mono_us, struct port **p)
{
	struct store_loader loader;
	int err = 0;

	*p = inventory_find_port(r, a, if_index);
	if (*p)
		return 0;
	if (!lru_table_admits(&r->port_places,
		lru_table_owner(&r->agent_places, (uint32_t)(a - r->agents))))
		return -EDQUOT;
	*p = inventory_place_port(r, a, if_index, (int64_t)mono_us);
	if (!*p || !may_be_stored(r, hash_port(r, a->row.id, if_index)))
		return *p ? 0 : -EDQUOT;
	loader = inventory_loader(r, mono_us);
	err = store_recall_port(r->store, a->row.id, if_index, &loader);
	if (err < 0) {
		inventory_remove_port(r, *p);
		*p = NULL;
		return err;
	}
	r->recalled++;
	return 0;
}

/* Leaving */

static void
choose_leaving(struct lru_table *t, uint64_t mono_us, uint64_t forget_us)
{
	uint32_t place;

	while ((place = lru_table_next_victim(
		    t, (int64_t)mono_us, INVENTORY_SILENT_US, (int64_t)forget_us)) != LRU_NONE)
		lru_table_leave(t, place);
}

void
inventory_choose(struct inventory *r, uint64_t mono_us, uint64_t forget_us)
{
	choose_leaving(&r->agent_places, mono_us, forget_us);
	choose_leaving(&r->port_places, mono_us, forget_us);
}

void
inventory_sweep(struct inventory *r)
{
	if (r->agent_places.n_leaving == 0 && r->port_places.n_leaving == 0)
		return;
	for (uint32_t i = 0; i < r->port_places.end; i++) {
		struct port *p = &r->ports[i];

		if (p->agent && is_clean_port(p) &&
		    (p->link.state == LRU_LEAVING || p->agent->link.state == LRU_LEAVING)) {
			inventory_remove_port(r, p);
			r->left_ports++;
		}
	}
	for (uint32_t i = 0; i < r->agent_places.end; i++)
		if (r->agents[i].link.state == LRU_LEAVING && is_clean_agent(&r->agents[i]))
			remove_agent(r, &r->agents[i]);
}

/* Accounts */

static struct account *
open_account(struct port *p, int at, uint32_t boot, uint64_t first_us)
{
	struct account *a = &p->accounts[at];
	assert(at < INVENTORY_BOOTS);
	struct crash_journal_slot *slot = p->accounts[INVENTORY_BOOTS - 1].slot;

	if (at == 0)
		p->accounts[1] = p->accounts[0];
	*slot = (struct crash_journal_slot){.boot = boot, .if_index = p->if_index};
	memcpy(slot->agent_id, p->agent->row.agent_id, sizeof(slot->agent_id));
	*a = (struct account){.used = true,
	    .boot = boot,
	    .slot = slot,
	    .first_us = first_us,
	    .last_expected_us = first_us,
	    .last_expected_if = p->if_index};
	/* the newest boot first, each with a slot of its own */
	assert(p->accounts[0].slot != p->accounts[1].slot);
	assert(!p->accounts[1].used || p->accounts[1].boot < p->accounts[0].boot);
	return a;
}

struct account *
inventory_account(struct port *p, uint32_t boot, uint64_t first_us, bool *made, inventory_evicted *evicted, void *arg)
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
inventory_write_again(struct agent *a)
{
	a->dirty = true;
	a->clock_unwritten = a->clock.offset_us != 0;
	a->identity.bound_unwritten = *a->identity.bound;
	a->identity.refused.unwritten = a->identity.refused.n > 0;
}

void
inventory_mark_all_dirty(struct inventory *r)
{
	memset(r->stored, 0, sizeof(r->stored)); /* that is in the old file */
	for (uint32_t i = 0; i < r->agent_places.end; i++)
		if (r->agents[i].row.id != 0)
			inventory_write_again(&r->agents[i]);
	for (uint32_t i = 0; i < r->port_places.end; i++) {
		struct port *p = &r->ports[i];

		for (int b = 0; b < INVENTORY_BOOTS; b++) {
			p->accounts[b].dirty = p->accounts[b].used;
			p->accounts[b].stored = false;
			p->accounts[b].stored_crash_lost = 0;
		}
		p->counters_unwritten = p->newest_counters.snapshot.time_us != 0 && !p->counters_held;
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
	row->dropped_apart = a->dropped_apart;
	row->stalls = a->stalls;
	row->stalled_pkts = a->stalled_pkts;
	row->first_us = a->first_us;
	row->last_us = a->slot->last_us;
	row->base_us = a->boot == p->stored_boot ? p->stored_us : 0;
	row->is_new = !a->stored;
	sequence_tracker_save(t, row->tracker);
	row->tracker_octets = (uint16_t)sequence_tracker_trimmed(row->tracker);
}

/* Loading from the store */

static struct port *
loaded_port(struct inventory *r, int64_t agent, uint64_t if_index)
{
	struct agent *a = inventory_agent_by_number(r, agent);
	struct port *p = a ? inventory_find_port(r, a, if_index) : NULL;

	if (!p)
		note_stored(r, hash_port(r, agent, if_index));
	return p;
}

static void
inventory_load_last_number(void *arg, int64_t number)
{
	((struct inventory *)arg)->last_number = number;
}

static void
inventory_load_agent(void *arg, const struct store_agent *row, uint64_t silent_us)
{
	struct inventory *r = arg;
	struct agent *a =
	    inventory_place_agent(r, row, hash_text(r, row->address), r->loading_us - (int64_t)silent_us);

	if (!a)
		return;
	a->boots.resumed_us = INVENTORY_RESUMES;
	device_clock_resume(&a->clock, 0, row->last_us);
}

static void
inventory_load_absent_agent(void *arg, const uint8_t *agent_id)
{
	note_stored(arg, hash_id(arg, agent_id));
}

static void
inventory_load_heard_port(void *arg, int64_t agent, uint64_t if_index, uint64_t silent_us)
{
	struct inventory *r = arg;
	struct agent *a = inventory_agent_by_number(r, agent);

	if (a && !inventory_find_port(r, a, if_index))
		inventory_place_port(r, a, if_index, r->loading_us - (int64_t)silent_us);
}

static void
load_agent_source(void *arg, const struct store_agent_source *row)
{
	struct inventory *r = arg;
	struct agent *a = inventory_agent_by_number(r, row->agent);

	if (!a || a->identity.bound_unwritten)
		return;
	snprintf(a->identity.bound, sizeof(a->identity.bound), "%s", row->source);
	a->identity.bound_us = row->since_us;
	lru_table_set_owner(&r->agent_places, (uint32_t)(a - r->agents), hash_text(r, row->source));
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
load_agent_clock(void *arg, const struct store_agent_clock *row)
{
	struct agent *a = inventory_agent_by_number(arg, row->agent);

	if (!a)
		return;
	device_clock_resume(&a->clock, row->offset_us, a->row.last_us);
	a->clock_since_us = row->since_us;
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
	a->dropped_apart = row->dropped_apart;
	a->stalls = row->stalls;
	a->stalled_pkts = row->stalled_pkts;
	a->slot->last_us = a->last_expected_us = row->last_us;
	if (sequence_tracker_load_trimmed(t, row->tracker, row->tracker_octets) < 0)
		log_error(ROOM,
		    "agent %lld boot %u ifIndex %" PRIu64 ": the sequence numbers in the store are "
		    "damaged; samples that arrive again may count twice",
		    (long long)row->agent, row->boot, row->if_index);
	t->received = row->received;
	t->duplicates = row->duplicates;
	t->reordered = row->reordered;
	t->late = row->late;
	if (t->started) /* counters, if the port has any, tell the pool beside */
		sample_gaps_begin(&p->gaps, row->boot, sequence_tracker_newest(t));
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
inventory_load_port(void *arg, const struct store_port *row)
{
	struct port *p = loaded_port(arg, row->agent, row->state.if_index);

	if (!p)
		return;
	p->has_state = true;
	p->state_boot = row->boot;
	p->state = row->state;
}

struct store_loader
inventory_loader(struct inventory *r, uint64_t mono_us)
{
	r->loading_us = (int64_t)mono_us;
	return (struct store_loader){
	    .arg = r,
	    .most_agents = r->agent_places.max - r->agent_places.reserve,
	    .most_ports = r->port_places.max - r->port_places.reserve,
	    .last_number = inventory_load_last_number,
	    .agent = inventory_load_agent,
	    .absent_agent = inventory_load_absent_agent,
	    .agent_source = load_agent_source,
	    .agent_refusal = load_agent_refusal,
	    .heard_port = inventory_load_heard_port,
	    .agent_clock = load_agent_clock,
	    .account = load_account,
	    .crash_lost = load_crash_lost,
	    .counter = load_counter,
	    .port = inventory_load_port,
	};
}
