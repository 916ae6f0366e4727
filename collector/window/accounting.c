#include "collector/window/accounting_private.h"
#include "collector/window/record_rows.h"
#include "common/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM "ledger"

/* Device's time between two rows of a port's counters: enough for any report's range. */
#define COUNTERS_EVERY_US 1000000ull

/* A device's clock beyond the year 2255 is broken, and microseconds stay positive in SQLite. */
#define TIME_MAX_US (9000000000ull * 1000000)

static const struct stat_name stat_names[LEDGER_N_STATS] = {
    [LEDGER_STAT_SAMPLES] = {"ledger.samples", "samples used"},
    [LEDGER_STAT_DUPLICATES] = {"ledger.duplicates", "samples that had come before"},
    [LEDGER_STAT_LATE] = {"ledger.late", "samples too late to be told from duplicates, not used"},
    [LEDGER_STAT_SNAPSHOTS] = {"ledger.snapshots", "counter snapshots taken"},
    [LEDGER_STAT_SNAPSHOTS_OLD] = {"ledger.snapshots_old",
	"of these: older than one that came before, needed at most for the first totals"},
    [LEDGER_STAT_COUNTERS_RESET] = {"ledger.counters_reset",
	"discontinuities: totals began from a new base"},
    [LEDGER_STAT_COUNTERS_GAP] = {"ledger.counters_gap",
	"more than a day between snapshots: totals began from a new base"},
    [LEDGER_STAT_STATES] = {"ledger.states", "port states taken"},
    [LEDGER_STAT_STATES_OLD] = {"ledger.states_old", "port states older than the one known"},
    [LEDGER_STAT_ROWS] = {"ledger.rows",
	"addresses, error sources, energy and buffers taken: a row each"},
    [LEDGER_STAT_EVENTS] = {"ledger.events", "events of other kinds taken"},
    [LEDGER_STAT_BAD_TIME] = {"ledger.bad_time", "records with an impossible time, not used"},
    [LEDGER_STAT_OLD_BOOT] = {"ledger.old_boot", "records of a boot before the last two, not used"},
    [LEDGER_STAT_AGENTS_FULL] = {"ledger.agents_full", "records of agents beyond the limit"},
    [LEDGER_STAT_PORTS_FULL] = {"ledger.ports_full", "records of ports beyond the limit"},
    [LEDGER_STAT_LOST_STORE_QUEUE] = {"ledger.lost_store_queue",
	"samples whose row was lost because the store was away; their sums count"},
    [LEDGER_STAT_LOST_STORE_ROWS] = {"ledger.lost_store_rows",
	"other rows lost because the store was away"},
    [LEDGER_STAT_ROWS_THINNED] = {"ledger.rows_thinned",
	"samples without a row of their own, beyond sample_rows a second; their sums count"},
    [LEDGER_STAT_CUTS_POSTPONED] = {"ledger.cuts_postponed",
	"cuts that found no room in the batch"},
};

const struct ledger_limits ledger_default_limits = {
    .agents = LEDGER_DEFAULT_AGENTS,
    .ports = LEDGER_DEFAULT_PORTS,
    .windows =
	{
	    .windows = WINDOW_DEFAULT_WINDOWS,
	    .keys = WINDOW_DEFAULT_KEYS,
	    .keys_per_window = WINDOW_KEYS_PER_WINDOW,
	},
};

int
ledger_new(struct ledger **out, const struct ledger_limits *limits, const struct clock *clock,
    uint64_t seed)
{
	struct ledger *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->clock = clock;
	l->mono_us = clock_mono_us(clock);
	thinner_init(&l->thinner, limits->sample_rows, seed);
	l->stats = (struct stat_set){stat_names, LEDGER_N_STATS, l->values};
	if (roster_init(&l->roster, limits->agents, limits->ports) < 0 ||
	    window_table_new(&l->windows, &limits->windows, seed) < 0) {
		ledger_free(l);
		return -ENOMEM;
	}
	*out = l;
	return 0;
}

void
ledger_free(struct ledger *l)
{
	if (!l)
		return;
	roster_free(&l->roster);
	window_table_free(l->windows);
	free(l);
}

const struct stat_set *
ledger_stats(const struct ledger *l)
{
	return &l->stats;
}

const struct stat_set *
ledger_window_stats(const struct ledger *l)
{
	return window_stats(l->windows);
}

struct store_loader
ledger_loader(struct ledger *l)
{
	return roster_loader(&l->roster);
}

uint32_t
ledger_boot(struct ledger *l, const uint8_t *agent_id)
{
	const struct agent *a = roster_find_agent(&l->roster, agent_id);

	return a ? a->row.boot : 0;
}

/* Who speaks */

static struct agent *
meet_agent(struct ledger *l, const struct ease_record *r, uint64_t time_us)
{
	struct store_agent row = {.boot = r->boot, .first_us = time_us, .last_us = time_us};
	struct agent *a;

	memcpy(row.agent_id, r->agent_id, sizeof(row.agent_id));
	snprintf(row.address, sizeof(row.address), "%s", r->sender);
	a = roster_add_agent(&l->roster, &row);
	if (!a) {
		ledger_count(l, LEDGER_STAT_AGENTS_FULL);
		log_warn_limited(ROOM, "more than %u agents: one at %s not taken",
		    l->roster.max_agents, r->sender);
	}
	return a;
}

static struct agent *
agent_of(struct ledger *l, const struct ease_record *r, uint64_t time_us)
{
	struct agent *a = roster_find_agent(&l->roster, r->agent_id);

	if (!a)
		a = meet_agent(l, r, time_us);
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
port_of(struct ledger *l, struct agent *a, uint32_t if_index)
{
	struct port *p = roster_port(&l->roster, a, if_index);

	if (!p) {
		ledger_count(l, LEDGER_STAT_PORTS_FULL);
		log_warn_limited(ROOM, "more than %u ports: ifIndex %u of %s not taken",
		    l->roster.max_ports, if_index, a->row.address);
	}
	return p;
}

/* Accounts */

/* The account of a port's boot; NULL if the boot is older than those kept. */
static struct account *
account_of(struct ledger *l, struct port *p, const struct ease_record *r, uint64_t time_us,
    struct store_batch *batch)
{
	struct ledger_putting_away to = {l, batch};
	bool made;
	struct account *a = roster_account(p, r->boot, time_us, &made, ledger_put_away, &to);

	if (!a) {
		ledger_count(l, LEDGER_STAT_OLD_BOOT);
		return NULL;
	}
	if (made && r->boot > p->agent->met_boot && !r->loose_numbers)
		tracker_start(&a->slot->tracker, true, 1);
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
 * because the store adds them up just as well; if that is full too, the store has been away for long,
 * and the oldest minute goes. */

static void
sum_mates(struct ledger *l)
{
	window_add_samples(l->windows, l->mates, l->n_mates);
	l->n_mates = 0;
}

struct dropping {
	struct ledger *l;
	struct store_batch *batch;
};

/* Samples that came and are in no sum: lost in the collector, as after a crash. */
static void
lose_window(void *arg, int64_t agent, uint32_t if_index, uint64_t start_us, uint64_t samples,
    int64_t expected, int64_t received)
{
	const struct dropping *d = arg;
	struct agent *a = roster_agent_by_number(&d->l->roster, agent);
	struct port *p = a ? roster_port(&d->l->roster, a, if_index) : NULL;
	struct store_window_port *row = store_batch_add(d->batch, STORE_WINDOW_PORTS);

	if (row)
		*row = (struct store_window_port){start_us, agent, if_index, expected,
		    received - (int64_t)samples};
	else
		ledger_count(d->l, LEDGER_STAT_LOST_STORE_ROWS);
	if (p)
		roster_lose(p, samples);
}

static struct window *
window_for(struct ledger *l, const struct port *p, uint64_t time_us, enum store_table instead,
    struct store_batch *batch)
{
	int64_t agent = p->agent->row.id;
	struct window *w = window_get(l->windows, agent, p->if_index, time_us, l->mono_us);
	struct dropping d = {l, batch};

	if (w || store_batch_has_room(batch, instead))
		return w;
	sum_mates(l); /* theirs may be among them */
	if (!window_drop_oldest(l->windows, time_us, lose_window, &d))
		return NULL;
	log_warn_limited(ROOM, "the store is away for too long: the oldest minute is dropped");
	return window_get(l->windows, agent, p->if_index, time_us, l->mono_us);
}

static void
add_numbers(struct ledger *l, const struct port *p, uint64_t time_us, int64_t expected,
    uint64_t received, struct store_batch *batch)
{
	struct window *w = window_for(l, p, time_us, STORE_WINDOW_PORTS, batch);
	struct store_window_port *row;

	if (w) {
		window_add_numbers(l->windows, w, expected, received);
		return;
	}
	row = store_batch_add(batch, STORE_WINDOW_PORTS);
	if (!row) {
		ledger_count(l, LEDGER_STAT_LOST_STORE_ROWS);
		return;
	}
	row->start_us = time_us - time_us % STORE_WINDOW_US;
	row->agent = p->agent->row.id;
	row->if_index = p->if_index;
	row->expected = expected;
	row->received = (int64_t)received;
}

static struct store_window *
add_window_row(struct ledger *l, const struct port *p, uint64_t time_us, uint8_t direction,
    struct store_batch *batch)
{
	struct store_window *row = store_batch_add(batch, STORE_WINDOWS);

	if (!row) {
		ledger_count(l, LEDGER_STAT_LOST_STORE_ROWS);
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
store_sample_row(struct ledger *l, const struct port *p, uint32_t boot,
    const struct ease_sample *s, const struct frame_keys *keys, struct store_batch *batch)
{
	uint32_t stands_for = thinner_take(&l->thinner, l->mono_us);

	if (stands_for == 0)
		ledger_count(l, LEDGER_STAT_ROWS_THINNED);
	else if (!rows_add_sample(batch, p->agent->row.id, boot, s, keys, stands_for))
		ledger_count(l, LEDGER_STAT_LOST_STORE_QUEUE);
}

/* The frame's keys are made where they stay: copying them at once would wait for each store. Valid
 * until the next sample. */
static const struct frame_keys *
sum_sample(struct ledger *l, const struct port *p, const struct ease_sample *s,
    struct store_batch *batch)
{
	struct window *w = window_for(l, p, s->time_us, STORE_WINDOWS, batch);
	struct window_sample *mate = &l->mates[l->n_mates];
	struct store_window *row;

	mate->window = w;
	mate->sample = s;
	frame_parse(s->header, s->kept_octets, &mate->keys);
	if (!w) {
		row = add_window_row(l, p, s->time_us, s->direction, batch);
		if (row)
			window_sums_add(&row->sums, s);
	} else if (++l->n_mates == MATES_MAX) {
		sum_mates(l);
	}
	return &mate->keys;
}

/* A number is expected in the minute of what told of it. When the sample itself comes after that
 * and is of another minute, the expectation moves there. */
static void
move_expectation(struct ledger *l, const struct port *p, const struct account *a, uint64_t time_us,
    struct store_batch *batch)
{
	if (a->gap_us / STORE_WINDOW_US == time_us / STORE_WINDOW_US)
		return;
	add_numbers(l, p, a->gap_us, -1, 0, batch);
	add_numbers(l, p, time_us, 1, 0, batch);
}

static void
take_sample(struct ledger *l, struct port *p, const struct ease_record *r,
    struct store_batch *batch)
{
	const struct ease_sample *s = &r->sample;
	struct account *a = account_of(l, p, r, s->time_us, batch);
	const struct frame_keys *keys;
	uint64_t expected, more;
	struct tracker *t;

	if (!a)
		return;
	raise_to(&a->agent_drops, s->drops);
	t = &a->slot->tracker;
	expected = tracker_met(t);
	switch (tracker_sample(t, s->sequence)) {
	case TRACKER_DUPLICATE:
		ledger_count(l, LEDGER_STAT_DUPLICATES);
		return;
	case TRACKER_LATE:
		ledger_count(l, LEDGER_STAT_LATE);
		return;
	case TRACKER_USE:
		break;
	}
	if (a->slot->gone.n > 0)
		tracker_came_back(t, &a->slot->gone, s->sequence);
	more = tracker_is_before(t, s->sequence) ? 1 : tracker_met(t) - expected;
	add_numbers(l, p, s->time_us, (int64_t)more, 1, batch);
	if (more == 0)
		move_expectation(l, p, a, s->time_us, batch);
	else
		a->gap_us = s->time_us;
	keys = sum_sample(l, p, s, batch);
	store_sample_row(l, p, r->boot, s, keys, batch);
	ledger_count(l, LEDGER_STAT_SAMPLES);
}

/* Snapshots */

struct pool_target {
	struct ledger *l;
	const struct port *p;
	struct store_batch *batch;
};

static void
add_pool(const struct pool_target *to, uint64_t start_us, uint8_t direction, uint64_t pkts,
    uint64_t octets)
{
	struct ledger *l = to->l;
	struct store_window *row;
	struct window *w;

	if (pkts == 0 && octets == 0)
		return;
	w = window_for(l, to->p, start_us, STORE_WINDOWS, to->batch);
	if (w) {
		window_add_pool(l->windows, w, direction, pkts, octets);
		return;
	}
	row = add_window_row(l, to->p, start_us, direction, to->batch);
	if (row) {
		row->pool_pkts = (int64_t)pkts;
		row->pool_octets = (int64_t)octets;
	}
}

static void
add_totals(void *arg, uint64_t start_us, const uint64_t part[TOTALS_N_VALUES])
{
	const struct pool_target *to = arg;

	add_pool(to, start_us, EASE_IN, part[TOTALS_IN_PKTS], part[TOTALS_IN_OCTETS]);
	add_pool(to, start_us, EASE_OUT, part[TOTALS_OUT_PKTS], part[TOTALS_OUT_OCTETS]);
}

/* False if the snapshot is older than the newest one that we have. */
static bool
take_totals(struct ledger *l, struct port *p, const struct ease_record *r,
    struct store_batch *batch)
{
	struct pool_target to = {l, p, batch};

	switch (totals_take(&p->totals, r->boot, &r->snapshot, add_totals, &to)) {
	case TOTALS_COUNTED:
	case TOTALS_FIRST:
		break;
	case TOTALS_OLD:
	case TOTALS_BEGINNING:
		ledger_count(l, LEDGER_STAT_SNAPSHOTS_OLD);
		return false;
	case TOTALS_RESET:
		ledger_count(l, LEDGER_STAT_COUNTERS_RESET);
		break;
	case TOTALS_GAP:
		ledger_count(l, LEDGER_STAT_COUNTERS_GAP);
		break;
	}
	return true;
}

static void
take_given_out(struct ledger *l, const struct port *p, struct account *a,
    const struct ease_snapshot *s, struct store_batch *batch)
{
	struct tracker *t = &a->slot->tracker;
	uint64_t expected = tracker_met(t), more;

	tracker_given_out(t, s->last_sequence);
	more = tracker_met(t) - expected;
	if (more == 0)
		return;
	add_numbers(l, p, s->time_us, (int64_t)more, 0, batch);
	a->gap_us = s->time_us;
}

/* A busy port sends its counters with every notification. The store gets one in COUNTERS_EVERY_US
 * and, at each cut, the newest: the base that totals go on from after a restart. */
static void
keep_counters(struct port *p, const struct ease_record *r, struct store_batch *batch)
{
	uint64_t time_us = r->snapshot.time_us;

	p->has_waiting = true;
	p->waiting = (struct store_counter){
	    .agent = p->agent->row.id,
	    .boot = r->boot,
	    .received_us = r->received_us,
	    .snapshot = r->snapshot,
	};
	if (r->boot != p->stored_boot || time_us < p->stored_us ||
	    time_us - p->stored_us >= COUNTERS_EVERY_US)
		ledger_store_waiting(p, batch);
}

static void
take_snapshot(struct ledger *l, struct port *p, const struct ease_record *r,
    struct store_batch *batch)
{
	const struct ease_snapshot *s = &r->snapshot;
	struct account *a = account_of(l, p, r, s->time_us, batch);

	if (!a)
		return;
	raise_to(&a->agent_drops, s->drops);
	raise_to(&a->stalls, s->stalls);
	raise_to(&a->stalled_pkts, s->stalled_pkts);
	if (!r->loose_numbers)
		take_given_out(l, p, a, s, batch);
	if (take_totals(l, p, r, batch))
		keep_counters(p, r, batch);
	ledger_count(l, LEDGER_STAT_SNAPSHOTS);
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
take_state(struct ledger *l, struct port *p, const struct ease_record *r,
    struct store_batch *batch)
{
	const struct ease_state *s = &r->state;
	struct store_port *row;

	if (p->has_state && (r->boot < p->state_boot ||
				(r->boot == p->state_boot && s->time_us < p->state.time_us))) {
		ledger_count(l, LEDGER_STAT_STATES_OLD);
		return;
	}
	ledger_count(l, LEDGER_STAT_STATES);
	if (p->has_state && r->boot == p->state_boot && same_state(&p->state, s))
		return;
	row = store_batch_add(batch, STORE_PORTS);
	if (!row) { /* not remembered either, so the next one says it again */
		ledger_count(l, LEDGER_STAT_LOST_STORE_ROWS);
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
take_row(struct ledger *l, struct port *p, const struct ease_record *r, struct store_batch *batch)
{
	bool added = rows_add(batch, p->agent->row.id, r);

	ledger_count(l, added ? LEDGER_STAT_ROWS : LEDGER_STAT_LOST_STORE_ROWS);
}

/* What each kind of record is, where it says its port and time, and who takes it. */
static const struct {
	size_t if_index_at, time_at;
	void (*take)(struct ledger *l, struct port *p, const struct ease_record *r,
	    struct store_batch *batch);
} kinds[] = {
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
take_record(struct ledger *l, struct store_batch *batch, const struct ease_record *r)
{
	uint64_t time_us;
	uint32_t if_index;
	struct agent *a;
	struct port *p;

	memcpy(&time_us, (const char *)r + kinds[r->kind].time_at, sizeof(time_us));
	memcpy(&if_index, (const char *)r + kinds[r->kind].if_index_at, sizeof(if_index));
	if (time_us == 0 || time_us > TIME_MAX_US) {
		ledger_count(l, LEDGER_STAT_BAD_TIME);
		return;
	}
	a = agent_of(l, r, time_us);
	p = a ? port_of(l, a, if_index) : NULL;
	if (p)
		kinds[r->kind].take(l, p, r, batch);
}

/* What was read at once came at the same time, and nobody looks at a clock for each of it. */
static void
note_time(struct ledger *l, uint64_t received_us)
{
	l->received_us = received_us;
	l->mono_us = clock_mono_us(l->clock);
	l->roster.witness.header->last_received_us = received_us;
}

void
ledger_take(struct ledger *l, struct store_batch *batch, const struct ease_record *records,
    size_t n)
{
	if (n > 0 && records[0].received_us != l->received_us)
		note_time(l, records[0].received_us);
	for (size_t i = 0; i < n; i++)
		take_record(l, batch, &records[i]);
	sum_mates(l);
}

/* Events */

/* The one EASE agent at that address; NULL if there is none or more than one. */
static struct agent *
agent_at(const struct roster *r, const char *address)
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
agent_of_event(struct ledger *l, const struct ease_event *event)
{
	struct ease_record who = {.sender = event->sender, .received_us = event->received_us};
	struct agent *a = event->has_agent_id ? NULL : agent_at(&l->roster, event->sender);

	if (a)
		return a;
	if (event->has_agent_id) {
		who.boot = event->boot;
		memcpy(who.agent_id, event->agent_id, sizeof(who.agent_id));
		a = roster_find_agent(&l->roster, who.agent_id);
		return a ? a : meet_agent(l, &who, event->received_us);
	}
	memcpy(who.agent_id, event->source_id, sizeof(who.agent_id));
	return agent_of(l, &who, event->received_us);
}

bool
ledger_event(struct ledger *l, struct store_batch *batch, const struct ease_event *event)
{
	struct agent *a = agent_of_event(l, event);
	struct store_event *row = a ? store_batch_add(batch, STORE_EVENTS) : NULL;

	if (!row) {
		if (a)
			ledger_count(l, LEDGER_STAT_LOST_STORE_ROWS);
		return false;
	}
	a->dirty = true;
	row->time_us = event->received_us;
	row->agent = a->row.id;
	row->boot = event->has_agent_id ? event->boot : a->row.boot;
	row->kind = event->kind;
	row->if_index = event->if_index;
	row->identity = event->identity;
	ledger_count(l, LEDGER_STAT_EVENTS);
	return true;
}

uint64_t
ledger_lost(const struct ledger *l)
{
	return stat_get(&l->stats, LEDGER_STAT_AGENTS_FULL) +
	    stat_get(&l->stats, LEDGER_STAT_PORTS_FULL) +
	    stat_get(&l->stats, LEDGER_STAT_LOST_STORE_QUEUE) +
	    stat_get(&l->stats, LEDGER_STAT_LOST_STORE_ROWS);
}
