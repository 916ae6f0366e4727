#include "collector/window/accounting_private.h"
#include "collector/window/record_rows.h"
#include "common/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM "accounting"

/* Device's time between two rows of a port's counters: enough for any report's range. */
#define COUNTERS_EVERY_US 1000000ull

/* A device's clock beyond the year 2255 is broken, and microseconds stay positive in SQLite. */
#define TIME_MAX_US (9000000000ull * 1000000)

static const struct stat_name stat_names[ACCOUNTING_N_STATS] = {
    [ACCOUNTING_STAT_SAMPLES] = {"accounting.samples", "samples used"},
    [ACCOUNTING_STAT_DUPLICATES] = {"accounting.duplicates", "samples that had come before"},
    [ACCOUNTING_STAT_LATE] = {"accounting.late",
	"samples too late to be told from duplicates, not used"},
    [ACCOUNTING_STAT_SNAPSHOTS] = {"accounting.snapshots", "counter snapshots taken"},
    [ACCOUNTING_STAT_SNAPSHOTS_OLD] = {"accounting.snapshots_old",
	"of these: older than one that came before, needed at most for the first totals"},
    [ACCOUNTING_STAT_COUNTERS_RESET] = {"accounting.counters_reset",
	"discontinuities: totals began from a new base"},
    [ACCOUNTING_STAT_COUNTERS_GAP] = {"accounting.counters_gap",
	"more than a day between snapshots: totals began from a new base"},
    [ACCOUNTING_STAT_STATES] = {"accounting.states", "port states taken"},
    [ACCOUNTING_STAT_STATES_OLD] = {"accounting.states_old",
	"port states older than the one known"},
    [ACCOUNTING_STAT_ROWS] = {"accounting.rows",
	"addresses, error sources, energy and buffers taken: a row each"},
    [ACCOUNTING_STAT_EVENTS] = {"accounting.events", "events of other kinds taken"},
    [ACCOUNTING_STAT_BAD_TIME] = {"accounting.bad_time",
	"records with an impossible time, not used"},
    [ACCOUNTING_STAT_OLD_BOOT] = {"accounting.old_boot",
	"records of a boot before the last two, not used"},
    [ACCOUNTING_STAT_AGENTS_FULL] = {"accounting.agents_full",
	"records of agents beyond the limit"},
    [ACCOUNTING_STAT_PORTS_FULL] = {"accounting.ports_full", "records of ports beyond the limit"},
    [ACCOUNTING_STAT_LOST_STORE_QUEUE] = {"accounting.lost_store_queue",
	"samples whose row was lost because the store was away; their sums count"},
    [ACCOUNTING_STAT_LOST_STORE_ROWS] = {"accounting.lost_store_rows",
	"other rows lost because the store was away"},
    [ACCOUNTING_STAT_ROWS_THINNED] = {"accounting.rows_thinned",
	"samples without a row of their own, beyond sample_rows a second; their sums count"},
    [ACCOUNTING_STAT_FLUSHES_POSTPONED] = {"accounting.flushes_postponed",
	"cuts that found no room in the batch"},
};

const struct accounting_limits accounting_default_limits = {
    .agents = ACCOUNTING_DEFAULT_AGENTS,
    .ports = ACCOUNTING_DEFAULT_PORTS,
    .windows =
	{
	    .windows = WINDOW_DEFAULT_WINDOWS,
	    .keys = WINDOW_DEFAULT_KEYS,
	    .keys_per_window = WINDOW_KEYS_PER_WINDOW,
	},
};

int
accounting_new(struct accounting **out, const struct accounting_limits *limits,
    const struct clock *clock, uint64_t seed)
{
	struct accounting *acc = calloc(1, sizeof(*acc));

	if (!acc)
		return -ENOMEM;
	acc->clock = clock;
	acc->mono_us = clock_mono_us(clock);
	sample_thinning_init(&acc->thinning, limits->sample_rows, seed);
	acc->stats = (struct stat_set){stat_names, ACCOUNTING_N_STATS, acc->values};
	if (inventory_init(&acc->inventory, limits->agents, limits->ports) < 0 ||
	    window_table_new(&acc->windows, &limits->windows, seed) < 0) {
		accounting_free(acc);
		return -ENOMEM;
	}
	*out = acc;
	return 0;
}

void
accounting_free(struct accounting *acc)
{
	if (!acc)
		return;
	inventory_free(&acc->inventory);
	window_table_free(acc->windows);
	free(acc);
}

const struct stat_set *
accounting_stats(const struct accounting *acc)
{
	return &acc->stats;
}

const struct stat_set *
accounting_window_stats(const struct accounting *acc)
{
	return window_stats(acc->windows);
}

struct store_loader
accounting_loader(struct accounting *acc)
{
	return inventory_loader(&acc->inventory);
}

uint32_t
accounting_newest_boot(struct accounting *acc, const uint8_t *agent_id)
{
	const struct agent *a = inventory_find_agent(&acc->inventory, agent_id);

	return a ? a->row.boot : 0;
}

/* Who speaks */

static struct agent *
meet_agent(struct accounting *acc, const struct ease_record *r, uint64_t time_us)
{
	struct store_agent row = {.boot = r->boot, .first_us = time_us, .last_us = time_us};
	struct agent *a;

	memcpy(row.agent_id, r->agent_id, sizeof(row.agent_id));
	snprintf(row.address, sizeof(row.address), "%s", r->sender);
	a = inventory_add_agent(&acc->inventory, &row);
	if (!a) {
		accounting_count(acc, ACCOUNTING_STAT_AGENTS_FULL);
		log_warn_limited(ROOM, "more than %u agents: one at %s not taken",
		    acc->inventory.max_agents, r->sender);
	}
	return a;
}

static struct agent *
agent_of(struct accounting *acc, const struct ease_record *r, uint64_t time_us)
{
	struct agent *a = inventory_find_agent(&acc->inventory, r->agent_id);

	if (!a)
		a = meet_agent(acc, r, time_us);
	if (!a)
		return NULL;
	if (r->boot > a->row.boot) {
		a->row.boot = r->boot;
		a->row.last_us = time_us; /* its time may have begun again */
	}
	if (r->boot == a->row.boot && time_us > a->row.last_us)
		a->row.last_us = time_us;
	if (strcmp(a->row.address, r->sender) != 0)
		snprintf(a->row.address, sizeof(a->row.address), "%s", r->sender);
	a->row.last_received_us = r->received_us;
	a->dirty = true;
	return a;
}

static struct port *
port_of(struct accounting *acc, struct agent *a, uint32_t if_index)
{
	struct port *p = inventory_port(&acc->inventory, a, if_index);

	if (!p) {
		accounting_count(acc, ACCOUNTING_STAT_PORTS_FULL);
		log_warn_limited(ROOM, "more than %u ports: ifIndex %u of %s not taken",
		    acc->inventory.max_ports, if_index, a->row.address);
	}
	return p;
}

/* Accounts */

/* The account of a port's boot; NULL if the boot is older than those kept. */
static struct account *
account_of(struct accounting *acc, struct port *p, const struct ease_record *r, uint64_t time_us,
    struct store_batch *batch)
{
	struct accounting_flush_target to = {acc, batch};
	bool made;
	struct account *a =
	    inventory_account(p, r->boot, time_us, &made, accounting_flush_account, &to);

	if (!a) {
		accounting_count(acc, ACCOUNTING_STAT_OLD_BOOT);
		return NULL;
	}
	if (made && r->boot > p->agent->first_heard_boot && !r->loose_numbers)
		sequence_tracker_start(&a->slot->tracker, true, 1);
	if (time_us > a->slot->last_us)
		a->slot->last_us = time_us;
	a->dirty = true;
	return a;
}

static void
raise_to(uint64_t *value, uint64_t least)
{
	if (least > *value)
		*value = least;
}

/* Windows, and what to do when there is no room for one: the rows go into the batch as they are,
 * because the store adds them up just as well; if that is full too, the store has been away for
 * long, and the oldest minute goes. */

static void
sum_samples(struct accounting *acc)
{
	window_add_samples(acc->windows, acc->samples, acc->n_samples);
	acc->n_samples = 0;
}

struct dropping {
	struct accounting *acc;
	struct store_batch *batch;
};

/* Samples that came and are in no sum: lost in the collector, as after a crash. */
static void
lose_window(void *arg, int64_t agent, uint32_t if_index, uint64_t start_us, uint64_t samples,
    int64_t expected, int64_t received)
{
	const struct dropping *d = arg;
	struct agent *a = inventory_agent_by_number(&d->acc->inventory, agent);
	struct port *p = a ? inventory_port(&d->acc->inventory, a, if_index) : NULL;
	struct store_window_port *row = store_batch_add(d->batch, STORE_WINDOW_PORTS);

	if (row)
		*row = (struct store_window_port){start_us, agent, if_index, expected,
		    received - (int64_t)samples};
	else
		accounting_count(d->acc, ACCOUNTING_STAT_LOST_STORE_ROWS);
	if (p)
		inventory_add_lost(p, samples);
}

static struct window *
window_for(struct accounting *acc, const struct port *p, uint64_t time_us, enum store_table instead,
    struct store_batch *batch)
{
	int64_t agent = p->agent->row.id;
	struct window *w = window_get(acc->windows, agent, p->if_index, time_us, acc->mono_us);
	struct dropping d = {acc, batch};

	if (w || store_batch_has_room(batch, instead))
		return w;
	sum_samples(acc); /* theirs may be among them */
	if (!window_drop_oldest(acc->windows, time_us, lose_window, &d))
		return NULL;
	log_warn_limited(ROOM, "the store is away for too long: the oldest minute is dropped");
	return window_get(acc->windows, agent, p->if_index, time_us, acc->mono_us);
}

static void
add_numbers(struct accounting *acc, const struct port *p, uint64_t time_us, int64_t expected,
    uint64_t received, struct store_batch *batch)
{
	struct window *w = window_for(acc, p, time_us, STORE_WINDOW_PORTS, batch);
	struct store_window_port *row;

	if (w) {
		window_add_numbers(acc->windows, w, expected, received);
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
	row->expected = expected;
	row->received = (int64_t)received;
}

static struct store_window *
add_window_row(struct accounting *acc, const struct port *p, uint64_t time_us, uint8_t direction,
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

/* Samples */

static void
store_sample_row(struct accounting *acc, const struct port *p, uint32_t boot,
    const struct ease_sample *s, const struct frame_keys *keys, struct store_batch *batch)
{
	uint32_t stands_for = sample_thinning_decide(&acc->thinning, acc->mono_us);

	if (stands_for == 0)
		accounting_count(acc, ACCOUNTING_STAT_ROWS_THINNED);
	else if (!record_rows_add_sample(batch, p->agent->row.id, boot, s, keys, stands_for))
		accounting_count(acc, ACCOUNTING_STAT_LOST_STORE_QUEUE);
}

/* The frame's keys are made where they stay: copying them at once would wait for each store. Valid
 * until the next sample. */
static const struct frame_keys *
sum_sample(struct accounting *acc, const struct port *p, const struct ease_sample *s,
    struct store_batch *batch)
{
	struct window *w = window_for(acc, p, s->time_us, STORE_WINDOWS, batch);
	struct window_sample *sample = &acc->samples[acc->n_samples];
	struct store_window *row;

	sample->window = w;
	sample->sample = s;
	frame_parse(s->header, s->kept_octets, &sample->keys);
	if (!w) {
		row = add_window_row(acc, p, s->time_us, s->direction, batch);
		if (row)
			window_sums_add(&row->sums, s);
	} else if (++acc->n_samples == SAMPLE_PAIRS_MAX) {
		sum_samples(acc);
	}
	return &sample->keys;
}

/* A number is expected in the minute of what told of it. When the sample itself comes after that
 * and is of another minute, the expectation moves there. */
static void
move_expectation(struct accounting *acc, const struct port *p, const struct account *a,
    uint64_t time_us, struct store_batch *batch)
{
	if (a->last_expected_us / STORE_WINDOW_US == time_us / STORE_WINDOW_US)
		return;
	add_numbers(acc, p, a->last_expected_us, -1, 0, batch);
	add_numbers(acc, p, time_us, 1, 0, batch);
}

static void
take_sample(struct accounting *acc, struct port *p, const struct ease_record *r,
    struct store_batch *batch)
{
	const struct ease_sample *s = &r->sample;
	struct account *a = account_of(acc, p, r, s->time_us, batch);
	const struct frame_keys *keys;
	uint64_t expected, more;
	struct sequence_tracker *t;

	if (!a)
		return;
	raise_to(&a->agent_drops, s->drops);
	t = &a->slot->tracker;
	expected = sequence_tracker_expected_since_contact(t);
	switch (sequence_tracker_sample(t, s->sequence)) {
	case SEQUENCE_TRACKER_DUPLICATE:
		accounting_count(acc, ACCOUNTING_STAT_DUPLICATES);
		return;
	case SEQUENCE_TRACKER_LATE:
		accounting_count(acc, ACCOUNTING_STAT_LATE);
		return;
	case SEQUENCE_TRACKER_USE:
		break;
	}
	if (a->slot->crash_lost.n > 0)
		sequence_tracker_came_again(t, &a->slot->crash_lost, s->sequence);
	more = sequence_tracker_is_before_contact(t, s->sequence)
		   ? 1
		   : sequence_tracker_expected_since_contact(t) - expected;
	add_numbers(acc, p, s->time_us, (int64_t)more, 1, batch);
	if (more == 0)
		move_expectation(acc, p, a, s->time_us, batch);
	else
		a->last_expected_us = s->time_us;
	keys = sum_sample(acc, p, s, batch);
	store_sample_row(acc, p, r->boot, s, keys, batch);
	accounting_count(acc, ACCOUNTING_STAT_SAMPLES);
}

/* Snapshots */

struct pool_target {
	struct accounting *acc;
	const struct port *p;
	struct store_batch *batch;
};

static void
add_pool(const struct pool_target *to, uint64_t start_us, uint8_t direction, uint64_t pkts,
    uint64_t octets)
{
	struct accounting *acc = to->acc;
	struct store_window *row;
	struct window *w;

	if (pkts == 0 && octets == 0)
		return;
	w = window_for(acc, to->p, start_us, STORE_WINDOWS, to->batch);
	if (w) {
		window_add_pool(acc->windows, w, direction, pkts, octets);
		return;
	}
	row = add_window_row(acc, to->p, start_us, direction, to->batch);
	if (row) {
		row->pool_pkts = (int64_t)pkts;
		row->pool_octets = (int64_t)octets;
	}
}

static void
add_totals(void *arg, uint64_t start_us, const uint64_t part[PORT_TOTALS_N_VALUES])
{
	const struct pool_target *to = arg;

	add_pool(to, start_us, EASE_IN, part[PORT_TOTALS_IN_PKTS], part[PORT_TOTALS_IN_OCTETS]);
	add_pool(to, start_us, EASE_OUT, part[PORT_TOTALS_OUT_PKTS], part[PORT_TOTALS_OUT_OCTETS]);
}

/* False if the snapshot is older than the newest one that we have. */
static bool
take_totals(struct accounting *acc, struct port *p, const struct ease_record *r,
    struct store_batch *batch)
{
	struct pool_target to = {acc, p, batch};

	switch (port_totals_add(&p->totals, r->boot, &r->snapshot, add_totals, &to)) {
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
	}
	return true;
}

static void
take_given_out(struct accounting *acc, const struct port *p, struct account *a,
    const struct ease_snapshot *s, struct store_batch *batch)
{
	struct sequence_tracker *t = &a->slot->tracker;
	uint64_t expected = sequence_tracker_expected_since_contact(t), more;

	sequence_tracker_given_out(t, s->last_sequence);
	more = sequence_tracker_expected_since_contact(t) - expected;
	if (more == 0)
		return;
	add_numbers(acc, p, s->time_us, (int64_t)more, 0, batch);
	a->last_expected_us = s->time_us;
}

/* A busy port sends its counters with every notification. The store gets one in COUNTERS_EVERY_US
 * and, at each cut, the newest: the base that totals go on from after a restart. */
static void
keep_counters(struct port *p, const struct ease_record *r, struct store_batch *batch)
{
	uint64_t time_us = r->snapshot.time_us;

	p->counters_unwritten = true;
	p->newest_counters = (struct store_counter){
	    .agent = p->agent->row.id,
	    .boot = r->boot,
	    .received_us = r->received_us,
	    .snapshot = r->snapshot,
	};
	if (r->boot != p->stored_boot || time_us < p->stored_us ||
	    time_us - p->stored_us >= COUNTERS_EVERY_US)
		accounting_flush_counters(p, batch);
}

static void
take_snapshot(struct accounting *acc, struct port *p, const struct ease_record *r,
    struct store_batch *batch)
{
	const struct ease_snapshot *s = &r->snapshot;
	struct account *a = account_of(acc, p, r, s->time_us, batch);

	if (!a)
		return;
	raise_to(&a->agent_drops, s->drops);
	raise_to(&a->stalls, s->stalls);
	raise_to(&a->stalled_pkts, s->stalled_pkts);
	if (!r->loose_numbers)
		take_given_out(acc, p, a, s, batch);
	if (take_totals(acc, p, r, batch))
		keep_counters(p, r, batch);
	accounting_count(acc, ACCOUNTING_STAT_SNAPSHOTS);
}

/* States and addresses */

static bool
same_state(const struct ease_state *a, const struct ease_state *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->alias, b->alias) == 0 &&
	    a->speed_bps == b->speed_bps && a->duplex == b->duplex &&
	    a->admin_status == b->admin_status && a->oper_status == b->oper_status &&
	    a->lag_parent == b->lag_parent && a->edge == b->edge;
}

static void
take_state(struct accounting *acc, struct port *p, const struct ease_record *r,
    struct store_batch *batch)
{
	const struct ease_state *s = &r->state;
	struct store_port *row;

	if (p->has_state && (r->boot < p->state_boot ||
				(r->boot == p->state_boot && s->time_us < p->state.time_us))) {
		accounting_count(acc, ACCOUNTING_STAT_STATES_OLD);
		return;
	}
	accounting_count(acc, ACCOUNTING_STAT_STATES);
	if (p->has_state && r->boot == p->state_boot && same_state(&p->state, s))
		return;
	row = store_batch_add(batch, STORE_PORTS);
	if (!row) { /* not remembered either, so the next one says it again */
		accounting_count(acc, ACCOUNTING_STAT_LOST_STORE_ROWS);
		return;
	}
	row->agent = p->agent->row.id;
	row->boot = r->boot;
	row->state = *s;
	p->has_state = true;
	p->state_boot = r->boot;
	p->state = *s;
}

/* Nothing is counted from it: a row in the store is all. */
static void
take_row(
    struct accounting *acc, struct port *p, const struct ease_record *r, struct store_batch *batch)
{
	bool added = record_rows_add(batch, p->agent->row.id, r);

	accounting_count(acc, added ? ACCOUNTING_STAT_ROWS : ACCOUNTING_STAT_LOST_STORE_ROWS);
}

/* What each kind of record is, where it says its port and time, and who takes it. */
static const struct {
	size_t if_index_at, time_at;
	void (*take)(struct accounting *acc, struct port *p, const struct ease_record *r,
	    struct store_batch *batch);
} record_kinds[] = {
    [EASE_PART_SAMPLE] = {offsetof(struct ease_record, sample.if_index),
	offsetof(struct ease_record, sample.time_us), take_sample},
    [EASE_PART_SNAPSHOT] = {offsetof(struct ease_record, snapshot.if_index),
	offsetof(struct ease_record, snapshot.time_us), take_snapshot},
    [EASE_PART_STATE] = {offsetof(struct ease_record, state.if_index),
	offsetof(struct ease_record, state.time_us), take_state},
    [EASE_PART_ADDRESS] = {offsetof(struct ease_record, address.if_index),
	offsetof(struct ease_record, address.time_us), take_row},
    [EASE_PART_RESOURCES] = {offsetof(struct ease_record, resources.if_index),
	offsetof(struct ease_record, resources.time_us), take_row},
    [EASE_PART_ERROR_SOURCE] = {offsetof(struct ease_record, error_source.if_index),
	offsetof(struct ease_record, error_source.time_us), take_row},
};

static void
take_record(struct accounting *acc, struct store_batch *batch, const struct ease_record *r)
{
	uint64_t time_us;
	uint32_t if_index;
	struct agent *a;
	struct port *p;

	memcpy(&time_us, (const char *)r + record_kinds[r->kind].time_at, sizeof(time_us));
	memcpy(&if_index, (const char *)r + record_kinds[r->kind].if_index_at, sizeof(if_index));
	if (time_us == 0 || time_us > TIME_MAX_US) {
		accounting_count(acc, ACCOUNTING_STAT_BAD_TIME);
		return;
	}
	a = agent_of(acc, r, time_us);
	p = a ? port_of(acc, a, if_index) : NULL;
	if (p)
		record_kinds[r->kind].take(acc, p, r, batch);
}

/* What was read at once came at the same time, and nobody looks at a clock for each of it. */
static void
note_time(struct accounting *acc, uint64_t received_us)
{
	acc->received_us = received_us;
	acc->mono_us = clock_mono_us(acc->clock);
	acc->inventory.journal.header->last_received_us = received_us;
}

void
accounting_add_records(
    struct accounting *acc, struct store_batch *batch, const struct ease_record *records, size_t n)
{
	if (n > 0 && records[0].received_us != acc->received_us)
		note_time(acc, records[0].received_us);
	for (size_t i = 0; i < n; i++)
		take_record(acc, batch, &records[i]);
	sum_samples(acc);
}

/* Events */

/* The one EASE agent at that address; NULL if there is none or more than one. */
static struct agent *
agent_at(const struct inventory *r, const char *address)
{
	struct agent *found = NULL;

	for (uint32_t i = 0; i < r->n_agents; i++) {
		struct agent *a = &r->agents[i];

		if (a->row.boot == 0 || strcmp(a->row.address, address) != 0)
			continue;
		if (found)
			return NULL;
		found = a;
	}
	return found;
}

/* Boots of EASE agents are counted from 1, so 0 marks an agent that we only know as a sender. */
static struct agent *
agent_of_event(struct accounting *acc, const struct ease_event *event)
{
	struct ease_record who = {.sender = event->sender, .received_us = event->received_us};
	struct agent *a = event->has_agent_id ? NULL : agent_at(&acc->inventory, event->sender);

	if (a)
		return a;
	if (event->has_agent_id) {
		who.boot = event->boot;
		memcpy(who.agent_id, event->agent_id, sizeof(who.agent_id));
		a = inventory_find_agent(&acc->inventory, who.agent_id);
		return a ? a : meet_agent(acc, &who, event->received_us);
	}
	memcpy(who.agent_id, event->source_id, sizeof(who.agent_id));
	return agent_of(acc, &who, event->received_us);
}

bool
accounting_add_event(
    struct accounting *acc, struct store_batch *batch, const struct ease_event *event)
{
	struct agent *a = agent_of_event(acc, event);
	struct store_event *row = a ? store_batch_add(batch, STORE_EVENTS) : NULL;

	if (!row) {
		if (a)
			accounting_count(acc, ACCOUNTING_STAT_LOST_STORE_ROWS);
		return false;
	}
	a->dirty = true;
	row->time_us = event->received_us;
	row->agent = a->row.id;
	row->boot = event->has_agent_id ? event->boot : a->row.boot;
	row->kind = event->kind;
	row->if_index = event->if_index;
	row->identity = event->identity;
	accounting_count(acc, ACCOUNTING_STAT_EVENTS);
	return true;
}

uint64_t
accounting_lost(const struct accounting *acc)
{
	return stat_get(&acc->stats, ACCOUNTING_STAT_AGENTS_FULL) +
	    stat_get(&acc->stats, ACCOUNTING_STAT_PORTS_FULL) +
	    stat_get(&acc->stats, ACCOUNTING_STAT_LOST_STORE_QUEUE) +
	    stat_get(&acc->stats, ACCOUNTING_STAT_LOST_STORE_ROWS);
}
