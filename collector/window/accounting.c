#include "collector/window/accounting_private.h"
#include "collector/window/record_rows.h"
#include "collector/source_port.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Least time between two rows of a port's counters, by the device's clock: fine enough for the
 * range of any report. */
#define COUNTERS_EVERY_US 1000000ull

/* A device whose clock shows a year after 2255 has a broken clock. The limit also keeps
 * microseconds positive in SQLite's signed integers. */
#define TIME_MAX_US (9000000000ull * 1000000)

/* Records of one notification are some milliseconds apart; what is so much older is of a made-up time. *assumed* */
#define NOTIFICATION_MOST_US 300000000ull

enum {
	MOVED_RECORDS = 64,
	AGAIN = 3, /* numbers that come again with newer times, until that is believed */
};

/* After a restart the newest time that an agent said is not known exactly (note_device_time). What the agent had to
 * send again has come within so long. *assumed* */
#define SENT_AGAIN_US 300000000ull

/* When so many samples are due and none has come for so long, those that were taken are missing. *assumed* */
enum { SILENT_US = 1250000, SILENT_SAMPLES = 12 };
/* Counters that wait for these are counted when for so long neither they nor other counters have come. *assumed* */
#define HELD_US STORE_WINDOW_US

static const struct stat_name stat_names[ACCOUNTING_N_STATS] = {
    [ACCOUNTING_STAT_SAMPLES] = {"accounting.samples", "samples used"},
    [ACCOUNTING_STAT_DUPLICATES] = {"accounting.duplicates",
	"samples that had arrived before; each counts once"},
    [ACCOUNTING_STAT_LATE] = {"accounting.late",
	"samples too late to be told from duplicates; they were not used"},
    [ACCOUNTING_STAT_SNAPSHOTS] = {"accounting.snapshots", "counter snapshots used"},
    [ACCOUNTING_STAT_SNAPSHOTS_OLD] = {"accounting.snapshots_old",
	"counter snapshots older than one that arrived before; only the start of the totals uses "
	"them"},
    [ACCOUNTING_STAT_COUNTERS_RESET] = {"accounting.counters_reset",
	"counters that a device reset; the totals go on from the new values"},
    [ACCOUNTING_STAT_COUNTERS_GAP] = {"accounting.counters_gap",
	"gaps of more than some minutes between counter snapshots; what was counted in one is spread "
	"over all of it"},
    [ACCOUNTING_STAT_COUNTERS_WAIT] = {"accounting.counters_wait",
	"counter snapshots for whose difference there was no room; the next one brings it"},
    [ACCOUNTING_STAT_COUNTERS_HELD] = {"accounting.counters_held",
	"counter snapshots of ports of which no sample had come for seconds, though some were due; the next one brings them"},
    [ACCOUNTING_STAT_SNAPSHOTS_REPEATED] = {"accounting.snapshots_repeated",
	"counter snapshots refused because the same message had one of the same port"},
    [ACCOUNTING_STAT_STATES] = {"accounting.states", "port states used"},
    [ACCOUNTING_STAT_STATES_OLD] = {"accounting.states_old",
	"port states older than the newest known one; they were not used"},
    [ACCOUNTING_STAT_DISCARDS] = {"accounting.discards", "events of discarded packets accepted"},
    [ACCOUNTING_STAT_DISCARDS_FOLDED] = {"accounting.discards_folded",
	"of these, events that are only counted by port, because their agent reported more than 1,024 in a minute"},
    [ACCOUNTING_STAT_ROWS] = {"accounting.rows",
	"records stored as one row each: addresses, error sources, energy and buffers"},
    [ACCOUNTING_STAT_EVENTS] = {"accounting.events", "events stored, except new addresses"},
    [ACCOUNTING_STAT_BAD_TIME] = {"accounting.bad_time",
	"records whose time is 0 or after the year 2255; they were not used"},
    [ACCOUNTING_STAT_CLOCK_CORRECTED] = {"accounting.clock_corrected",
	"records stamped by their reception, because the agent's clock is wrong (clock_tolerance)"},
    [ACCOUNTING_STAT_OLD_BOOT] = {"accounting.old_boot",
	"records refused because of their boot: before the agent's last two, or out of order"},
    [ACCOUNTING_STAT_BOOTS_FOLLOWED] = {"accounting.boots_followed",
	"boots out of order that were followed, as of a restored machine"},
    [ACCOUNTING_STAT_JUMPED] = {"accounting.jumped",
	"samples not used because their number is far ahead and none has gone on from there yet"},
    [ACCOUNTING_STAT_FOREIGN_SOURCE] = {"accounting.foreign_source",
	"records refused because their sender may not speak for their agent"},
    [ACCOUNTING_STAT_AGENTS_FULL] = {"accounting.agents_full",
	"records refused because the table of agents is full, and their sender has its part of it"},
    [ACCOUNTING_STAT_PORTS_FULL] = {"accounting.ports_full",
	"records refused because the table of ports is full, and their sender has its part of it"},
    [ACCOUNTING_STAT_AGENTS_LEFT] = {"accounting.agents_left",
	"agents that left the memory, because they were silent or made room; the store has them"},
    [ACCOUNTING_STAT_PORTS_LEFT] = {"accounting.ports_left",
	"ports that left the memory, because they were silent or made room; the store has them"},
    [ACCOUNTING_STAT_RECALLED] = {"accounting.recalled",
	"agents and ports that had left and came back: they go on from what the store has"},
    [ACCOUNTING_STAT_RECALL_FAILURES] = {"accounting.recall_failures",
	"records refused because the store could not be read for an agent or port that came back"},
    [ACCOUNTING_STAT_NO_ROOM] = {"accounting.no_room",
	"samples lost because there was no memory for their minute; they count as lost in the "
	"collector"},
    [ACCOUNTING_STAT_LOST_STORE_QUEUE] = {"accounting.lost_store_queue",
	"samples without a row because the store was not available; the sums include them"},
    [ACCOUNTING_STAT_LOST_STORE_ROWS] = {"accounting.lost_store_rows",
	"other rows lost because the store was not available"},
    [ACCOUNTING_STAT_ROWS_THINNED] = {"accounting.rows_thinned",
	"samples without a row because of the option sample_rows; the sums include them"},
    [ACCOUNTING_STAT_FLUSHES_POSTPONED] = {"accounting.flushes_postponed",
	"flushes postponed because the batch had no room"},
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
	acc->mono_us = acc->started_us = clock_mono_us(clock);
	sample_thinning_init(&acc->thinning, limits->sample_rows, seed);
	acc->stats = (struct stat_set){stat_names, ACCOUNTING_N_STATS, acc->values};
	acc->clock_tolerance_us = limits->clock_tolerance_us;
	acc->vxlan_port = limits->vxlan_port;
	acc->moved = calloc(MOVED_RECORDS, sizeof(*acc->moved));
	if (!acc->moved || inventory_init(&acc->inventory, limits->agents, limits->ports, seed) < 0 ||
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
	free(acc->moved);
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
	return inventory_loader(&acc->inventory, acc->mono_us);
}

void
accounting_set_store(struct accounting *acc, struct store *store)
{
	acc->inventory.store = store;
}

void
accounting_set_forget(struct accounting *acc, uint64_t forget_us)
{
	acc->forget_us = forget_us;
}

uint32_t
accounting_newest_number(struct accounting *acc, const uint8_t *agent_id, uint32_t boot, uint64_t if_index)
{
	const struct agent *a = inventory_find_agent(&acc->inventory, agent_id);
	const struct port *p = a ? inventory_find_port(&acc->inventory, a, if_index) : NULL;

	for (int i = 0; p && i < INVENTORY_BOOTS; i++)
		if (p->accounts[i].used && p->accounts[i].boot == boot && p->accounts[i].slot->tracker.started)
			return (uint32_t)p->accounts[i].slot->tracker.highest;
	return 0;
}

int64_t
accounting_agent_number(const struct accounting *acc, const uint8_t *agent_id)
{
	const struct agent *a = inventory_find_agent(&acc->inventory, agent_id);

	return a ? a->row.id : 0;
}

uint32_t
accounting_newest_boot(struct accounting *acc, const uint8_t *agent_id)
{
	const struct agent *a = inventory_find_agent(&acc->inventory, agent_id);

	return a ? a->row.boot : 0;
}

/* Agents and ports */

static struct port *
accounting_port_of(struct accounting *acc, struct agent *a, uint64_t if_index)
{
	struct port *p;
	int err = inventory_port(&acc->inventory, a, if_index, acc->mono_us, &p);

	if (err == 0 && !inventory_heard_port(&acc->inventory, p, acc->mono_us))
		err = -EDQUOT;
	if (err < 0)
		accounting_refuse_port(acc, a, if_index, err);
	return err == 0 ? p : NULL;
}

/* Accounts */

/* Notes what time of the account a record says; stamped anew it would tell nothing. After a restart the newest of
 * them is known by its stamp alone, and by what that was moved is not: it is taken for the later one. */
static void
note_device_time(const struct accounting *acc, const struct agent *agent, struct account *a, uint64_t time_us)
{
	uint64_t said_us = time_us - (uint64_t)acc->moved_us;

	if (a->newest_said_us == 0 && a->slot->last_us > 0)
		a->newest_said_us = a->slot->last_us - (uint64_t)(agent->clock.offset_us < 0 ? agent->clock.offset_us : 0);
	a->is_newest = said_us > a->newest_said_us;
	if (a->is_newest)
		a->newest_said_us = said_us;
}

/* Returns the account of a port's boot, or NULL if the boot is older than those kept. */
static struct account *
account_of(struct accounting *acc, struct port *p, const struct ease_record *r, uint64_t time_us,
    struct store_batch *batch)
{
	struct accounting_flush_target to = {acc, batch};
	bool made;
	struct account *a =
	    inventory_account(p, r->boot, time_us, &made, accounting_flush_account, &to);

	if (!a) {
		accounting_refuse_boot(acc, p->agent, r);
		return NULL;
	}
	if (made && r->boot > p->agent->first_heard_boot && !r->loose_numbers)
		sequence_tracker_start(&a->slot->tracker, true, 1);
	note_device_time(acc, p->agent, a, time_us);
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

static void
sum_samples(struct accounting *acc)
{
	window_add_samples(acc->windows, acc->samples, acc->n_samples);
	acc->n_samples = 0;
}

/* Samples */

static void
store_sample_row(struct accounting *acc, const struct port *p, const struct ease_record *r, const struct frame_keys *keys,
    struct store_batch *batch)
{
	uint32_t stands_for = sample_thinning_decide(&acc->thinning, acc->mono_us);

	if (stands_for == 0)
		accounting_count(acc, ACCOUNTING_STAT_ROWS_THINNED);
	else if (!record_rows_add_sample(batch, p->agent->row.id, r, keys, stands_for))
		accounting_count(acc, ACCOUNTING_STAT_LOST_STORE_QUEUE);
}

/* Returns whether the sums have room for a sample of that time; *w is its window, or NULL if it would
 * be a row. */
static bool
accounting_has_room(struct accounting *acc, const struct port *p, uint64_t time_us,
    const struct store_batch *batch, struct window **w)
{
	*w = accounting_window_of(acc, p, time_us);
	return *w || (store_batch_has_room(batch, STORE_WINDOWS, 1) && store_batch_has_room(batch, STORE_FOLDED, KEY_N_KINDS));
}

/* Adds a sample to the pending ones of this notification and returns the keys of its frame, valid
 * until the next sample. The keys are parsed into their final place, because copying what was just
 * written would make the CPU wait for each store. */
static const struct frame_keys *
sum_sample(struct accounting *acc, const struct port *p, const struct ease_sample *s,
    struct window *w, struct store_batch *batch)
{
	struct window_sample *sample = &acc->samples[acc->n_samples];
	struct store_window *row;

	assert(acc->n_samples < SAMPLE_PAIRS_MAX);
	sample->window = w;
	sample->sample = s;
	accounting_parse_frame(s, &sample->keys);
	if (acc->vxlan_port > 0)
		frame_carry_vxlan(&sample->keys, acc->vxlan_port);
	if (!w) {
		row = accounting_window_row(acc, p, s->time_us, s->direction, batch);
		if (row) {
			window_sums_add(&row->sums, s);
			row->w_max = s->mean_skip;
			accounting_fold_apart(p, s, &sample->keys, batch);
		}
	} else if (++acc->n_samples == SAMPLE_PAIRS_MAX) {
		sum_samples(acc);
	}
	return &sample->keys;
}

/* A sequence number counts as expected in the minute of the record that first showed that it was
 * given out: a later sample or a snapshot; where ports share numbers, of the port of that sample. When the
 * sample itself arrives afterwards and belongs to another minute or port, the expectation moves there. */
static void
move_expectation(struct accounting *acc, struct port *p, const struct account *a,
    uint64_t time_us, struct store_batch *batch)
{
	struct port *from = a->last_expected_if == p->if_index || source_port_has_numbers(a->last_expected_if)
	    ? p : inventory_find_port(&acc->inventory, p->agent, a->last_expected_if);

	if (!from)
		from = p; /* it left */
	if (from == p && a->last_expected_us / STORE_WINDOW_US == time_us / STORE_WINDOW_US)
		return;
	accounting_add_numbers(acc, from, accounting_window_of(acc, from, a->last_expected_us),
	    a->last_expected_us, -1, 0, batch);
	accounting_add_numbers(
	    acc, p, accounting_window_of(acc, p, time_us), time_us, 1, 0, batch);
}

/* Returns false if the sample is not used, because its number is far ahead of the others. */
static bool
follow_jump(struct accounting *acc, struct port *p, struct account *a, uint32_t number, struct store_batch *batch)
{
	struct sequence_tracker *t = &a->slot->tracker;
	uint64_t expected = sequence_tracker_expected_since_contact(t);

	switch (sequence_jumps_sample(&a->jumps, t, number, a->agent_drops, acc->mono_us)) {
	case SEQUENCE_JUMPS_HOLD:
		accounting_count(acc, ACCOUNTING_STAT_JUMPED);
		return false;
	case SEQUENCE_JUMPS_UNDONE: /* the difference is negative */
		accounting_add_numbers(acc, p, accounting_window_of(acc, p, a->last_expected_us),
		    a->last_expected_us,
		    (int64_t)(sequence_tracker_expected_since_contact(t) - expected), 0, batch);
		sample_gaps_begin(&p->gaps, a->boot, t->highest);
		break;
	case SEQUENCE_JUMPS_AGAIN:
		p->agent->boots.numbers_again = true;
		break;
	case SEQUENCE_JUMPS_TAKE:
		break;
	}
	return true;
}

/* A sample that really comes again has the time that it had. Numbers that come again with newer
 * times are given out anew: the machine was restored, within one boot. */
static void
note_again(const struct accounting *acc, struct agent *agent, struct account *a, const struct ease_record *r)
{
	bool resumes = agent->boots.resumed_us > 0 && acc->mono_us - agent->boots.resumed_us < SENT_AGAIN_US;

	if (a->is_newest && !resumes && !r->loose_numbers && ++a->again >= AGAIN)
		agent->boots.numbers_again = true;
}

static void
accounting_note_pool(struct port *p, const struct ease_record *r)
{
	const struct ease_sample *s = &r->sample;
	struct port_pools *pools = &p->pools[s->direction == EASE_OUT];

	pools->is_counter = !r->loose_numbers;
	port_pools_note(pools, s->time_us, s->pool_pkts, s->mean_skip, s->frame_octets);
}

/* The port whose numbers the port's samples have: its own, or that of its data source; then the port has an
 * account without numbers, so that reports know of it. NULL: there is no place for it. */
static struct port *
numbers_of(struct accounting *acc, struct port *p, const struct ease_record *r, struct store_batch *batch)
{
	if (!r->loose_numbers || r->source_port == 0)
		return p;
	return account_of(acc, p, r, r->sample.time_us, batch) ? accounting_port_of(acc, p->agent, r->source_port) : NULL;
}

static void
accounting_add_sample(struct accounting *acc, struct port *p, const struct ease_record *r, struct store_batch *batch)
{
	const struct ease_sample *s = &r->sample;
	struct port *source = numbers_of(acc, p, r, batch);
	struct account *a = source ? account_of(acc, source, r, s->time_us, batch) : NULL;
	const struct frame_keys *keys;
	uint64_t expected, more;
	struct accounting_cut_target cut_target = {acc, p, batch};
	struct sequence_tracker *t;
	struct window *w;
	bool room;

	if (!a)
		return;
	if (r->loose_numbers) {
		a->agent_drops += r->dropped;
		a->dropped_apart += r->dropped_apart;
	} else {
		raise_to(&a->agent_drops, s->drops);
	}
	t = &a->slot->tracker;
	if (!follow_jump(acc, p, a, s->sequence, batch))
		return;
	expected = sequence_tracker_expected_since_contact(t);
	switch (sequence_tracker_sample(t, s->sequence)) {
	case SEQUENCE_TRACKER_DUPLICATE:
		accounting_count(acc, ACCOUNTING_STAT_DUPLICATES);
		note_again(acc, p->agent, a, r);
		return;
	case SEQUENCE_TRACKER_LATE:
		accounting_count(acc, ACCOUNTING_STAT_LATE);
		note_again(acc, p->agent, a, r);
		return;
	case SEQUENCE_TRACKER_USE:
		a->again = 0;
		break;
	}
	if (a->slot->crash_lost.n > 0)
		sequence_tracker_came_again(t, &a->slot->crash_lost, s->sequence);
	more = sequence_tracker_is_before_contact(t, s->sequence)
		   ? 1
		   : sequence_tracker_expected_since_contact(t) - expected;
	room = accounting_has_room(acc, p, s->time_us, batch, &w);
	accounting_add_numbers(acc, p, w, s->time_us, (int64_t)more, room, batch);
	if (more == 0)
		move_expectation(acc, p, a, s->time_us, batch);
	else {
		a->last_expected_us = s->time_us;
		a->last_expected_if = p->if_index;
	}
	if (!room) {
		inventory_add_lost(source, 1);
		accounting_count(acc, ACCOUNTING_STAT_NO_ROOM);
		return;
	}
	if (source == p) /* else nobody knows what passed this port meanwhile */
		sample_gaps_add_sample(&p->gaps, r->boot, sequence_tracker_extend(t, s->sequence), t->contact,
		    r->loose_numbers, acc->notification, s, accounting_add_cut, &cut_target);
	accounting_note_pool(p, r);
	keys = sum_sample(acc, p, s, w, batch);
	store_sample_row(acc, p, r, keys, batch);
	accounting_count(acc, ACCOUNTING_STAT_SAMPLES);
	accounting_show_sample(acc, p, r, keys, more > 1 ? more - 1 : 0);
}

/* Snapshots */

/* Returns false if the number that the snapshot names is not believed yet. */
static bool
add_given_out(struct accounting *acc, struct port *p, struct account *a,
    const struct ease_snapshot *s, struct store_batch *batch)
{
	struct sequence_tracker *t = &a->slot->tracker;
	uint64_t expected = sequence_tracker_expected_since_contact(t), more;

	if (!sequence_jumps_given_out(&a->jumps, t, s->last_sequence, a->agent_drops))
		return false;
	sequence_tracker_given_out(t, s->last_sequence);
	more = sequence_tracker_expected_since_contact(t) - expected;
	if (more == 0)
		return true;
	accounting_add_numbers(acc, p, accounting_window_of(acc, p, s->time_us), s->time_us, (int64_t)more, 0, batch);
	a->last_expected_us = s->time_us;
	a->last_expected_if = p->if_index;
	return true;
}

static void
set_newest_counters(struct port *p, const struct ease_record *r)
{
	p->newest_counters = (struct store_counter){
	    .agent = p->agent->row.id,
	    .boot = r->boot,
	    .received_us = r->received_us,
	    .snapshot = r->snapshot,
	};
}

/* A busy port sends its counters with every notification. The store gets one row each
 * COUNTERS_EVERY_US and, at each flush, the newest: totals go on from it after a restart. */
static void
keep_counters(struct port *p, const struct ease_record *r, struct store_batch *batch)
{
	uint64_t time_us = r->snapshot.time_us;

	p->counters_held = false;
	p->counters_unwritten = true;
	set_newest_counters(p, r);
	if (r->boot != p->stored_boot || time_us < p->stored_us || time_us - p->stored_us >= COUNTERS_EVERY_US)
		accounting_flush_counters(p, batch);
}

/* Whether samples are missing since the newest one. Those that come next say how many are, and so how much of what was
 * counted since the counters before passed while none came; these counters cannot. Where none comes at all, nobody says. */
static bool
misses_samples(const struct port *p, uint32_t boot, const struct ease_snapshot *s)
{
	uint64_t sampled_us = sample_gaps_newest_us(&p->gaps), since_us = p->totals.time_us;

	if (sampled_us == 0 || boot != p->totals.boot || s->discontinuity_us != p->totals.discontinuity_us ||
	    s->time_us < sampled_us + SILENT_US || s->time_us <= since_us ||
	    s->time_us - (sampled_us < since_us ? sampled_us : since_us) > PORT_POOLS_BREAK_US)
		return false;
	return port_pools_due(&p->pools[0], p->totals.values[PORT_TOTALS_IN_PKTS], s->pool_in_pkts) > SILENT_SAMPLES ||
	    port_pools_due(&p->pools[1], p->totals.values[PORT_TOTALS_OUT_PKTS], s->pool_out_pkts) > SILENT_SAMPLES;
}

/* They are counted all the same where no others come. False: those before have no room in the batch. */
static bool
hold_counters(struct accounting *acc, struct port *p, const struct ease_record *r, struct store_batch *batch)
{
	accounting_flush_counters(p, batch);
	if (p->counters_unwritten)
		return false;
	accounting_count(acc, ACCOUNTING_STAT_COUNTERS_HELD);
	p->counters_held = acc->has_held = true;
	set_newest_counters(p, r);
	return true;
}

static void
count_snapshot(struct accounting *acc, struct port *p, struct account *a, const struct ease_record *r, struct store_batch *batch)
{
	const struct ease_snapshot *s = &r->snapshot;

	if (!r->loose_numbers && add_given_out(acc, p, a, s, batch))
		sample_gaps_add_snapshot(&p->gaps, r->boot, a->slot->tracker.contact,
		    sequence_tracker_extend(&a->slot->tracker, s->last_sequence), s, accounting_add_cut, &(struct accounting_cut_target){acc, p, batch});
	/* One that comes again late may be stamped by its reception; the number that it names says that it is an old one. */
	if (!r->loose_numbers && port_totals_go_back(&p->totals, r->boot, s) &&
	    sequence_tracker_extend(&a->slot->tracker, s->last_sequence) < a->slot->tracker.highest)
		accounting_count(acc, ACCOUNTING_STAT_SNAPSHOTS_OLD);
	else if (accounting_add_totals(acc, p, r, batch))
		keep_counters(p, r, batch);
}

static void
count_held(struct accounting *acc, struct port *p, struct store_batch *batch)
{
	const struct store_counter *c = &p->newest_counters;
	const struct ease_record r = {.kind = EASE_PART_SNAPSHOT, .boot = c->boot, .received_us = c->received_us,
	    .snapshot = c->snapshot, .loose_numbers = !p->pools[0].is_counter && !p->pools[1].is_counter};
	struct account *a = account_of(acc, p, &r, c->snapshot.time_us, batch);

	if (a)
		count_snapshot(acc, p, a, &r, batch);
	else
		p->counters_held = false;
}

void
accounting_count_held(struct accounting *acc, struct store_batch *batch, bool all)
{
	bool has_held = false;

	for (uint32_t i = 0; acc->has_held && i < acc->inventory.port_places.end; i++) {
		struct port *p = &acc->inventory.ports[i];

		if (p->agent && p->counters_held && (all || p->newest_counters.received_us + HELD_US < acc->received_us))
			count_held(acc, p, batch);
		has_held |= p->counters_held;
	}
	acc->has_held = has_held;
}

static void
accounting_add_snapshot(struct accounting *acc, struct port *p, const struct ease_record *r,
    struct store_batch *batch)
{
	const struct ease_snapshot *s = &r->snapshot;
	struct ease_record same;
	struct account *a;

	/* A restarted agent may not know when its counters began anew, or that they did; before the newest ones it is of no
	 * interest. So the number is one for the same counters, wherever it is looked at. */
	if (!r->loose_numbers && p->totals.has_base && s->discontinuity_us != p->totals.discontinuity_us &&
	    s->time_us > p->totals.time_us && s->discontinuity_us < p->totals.time_us) {
		same = *r;
		same.snapshot.discontinuity_us = p->totals.discontinuity_us;
		r = &same;
		s = &r->snapshot;
	}
	if (p->snapshot_in == acc->notification) {
		accounting_count(acc, ACCOUNTING_STAT_SNAPSHOTS_REPEATED);
		return;
	}
	p->snapshot_in = acc->notification;
	if (p->counters_held && r->boot != p->newest_counters.boot)
		count_held(acc, p, batch);
	a = account_of(acc, p, r, s->time_us, batch);
	if (!a)
		return;
	accounting_show_counters(acc, p, r);
	raise_to(&a->agent_drops, s->drops);
	raise_to(&a->stalls, s->stalls);
	raise_to(&a->stalled_pkts, s->stalled_pkts);
	if (!misses_samples(p, r->boot, s) || !hold_counters(acc, p, r, batch))
		count_snapshot(acc, p, a, r, batch);
	accounting_count(acc, ACCOUNTING_STAT_SNAPSHOTS);
}

/* For each kind of record: where its ifIndex and time stand in it, and the function that adds it.
 */
static const struct {
	size_t if_index_at, time_at;
	void (*add)(struct accounting *acc, struct port *p, const struct ease_record *r,
	    struct store_batch *batch);
} record_kinds[] = {
    [EASE_PART_SAMPLE] = {offsetof(struct ease_record, sample.if_index),
	offsetof(struct ease_record, sample.time_us), accounting_add_sample},
    [EASE_PART_SNAPSHOT] = {offsetof(struct ease_record, snapshot.if_index),
	offsetof(struct ease_record, snapshot.time_us), accounting_add_snapshot},
    [EASE_PART_STATE] = {offsetof(struct ease_record, state.if_index),
	offsetof(struct ease_record, state.time_us), accounting_add_state},
    [EASE_PART_ADDRESS] = {offsetof(struct ease_record, address.if_index),
	offsetof(struct ease_record, address.time_us), accounting_add_row},
    [EASE_PART_RESOURCES] = {offsetof(struct ease_record, resources.if_index),
	offsetof(struct ease_record, resources.time_us), accounting_add_row},
    [EASE_PART_ERROR_SOURCE] = {offsetof(struct ease_record, error_source.if_index),
	offsetof(struct ease_record, error_source.time_us), accounting_add_row},
    [EASE_PART_DISCARD] = {offsetof(struct ease_record, discard.frame.if_index),
	offsetof(struct ease_record, discard.frame.time_us), accounting_add_discard},
    [EASE_PART_ODD] = {offsetof(struct ease_record, odd.if_index), offsetof(struct ease_record, odd.time_us),
	accounting_add_odd},
};

static uint64_t
time_of(const struct ease_record *r)
{
	uint64_t time_us;

	memcpy(&time_us, (const char *)r + record_kinds[r->kind].time_at, sizeof(time_us));
	return time_us;
}

static bool
is_good_time(uint64_t time_us)
{
	return time_us > 0 && time_us <= TIME_MAX_US;
}

/* Else the record is counted. */
static bool
has_good_time(const struct accounting *acc, const struct ease_record *r)
{
	if (is_good_time(time_of(r)))
		return true;
	accounting_count(acc, ACCOUNTING_STAT_BAD_TIME);
	return false;
}

/* Adds a record of an agent that may have sent it. */
static void
accounting_add_record(struct accounting *acc, struct agent *a, struct store_batch *batch, const struct ease_record *r)
{
	uint64_t if_index;
	struct port *p;

	memcpy(&if_index, (const char *)r + record_kinds[r->kind].if_index_at, sizeof(if_index));
	if (!has_good_time(acc, r))
		return;
	if (!r->loose_numbers || r->polled == 0) /* else the agent itself may be silent */
		accounting_note_heard(acc, a, r, time_of(r));
	if (r->kind == EASE_PART_ODD && if_index == 0) {
		oddities_note(&a->odd, &r->odd);
		return;
	}
	p = accounting_port_of(acc, a, if_index);
	if (p)
		record_kinds[r->kind].add(acc, p, r, batch);
}

/* Datagrams that were read by one system call have the same time of reception, so the clock is
 * read once for all of them. */
static void
note_time(struct accounting *acc, uint64_t received_us)
{
	acc->mono_us = clock_mono_us(acc->clock);
	accounting_note_clock(acc, received_us);
	acc->received_us = received_us;
	acc->inventory.journal.header->last_received_us = received_us;
}

static void
accounting_add_all(struct accounting *acc, struct agent *a, struct store_batch *batch, const struct ease_record *records,
    size_t n)
{
	for (size_t i = 0; i < n; i++)
		accounting_add_record(acc, a, batch, &records[i]);
	sum_samples(acc);
}

/* The good times of a notification, as the agent says them; 0, 0: it has none. */
struct times {
	uint64_t oldest_us, newest_us;
};

static struct times
times_of(const struct ease_record *records, size_t n)
{
	struct times t = {0};

	for (size_t i = 0; i < n; i++) {
		uint64_t time_us = time_of(&records[i]);

		if (!is_good_time(time_us))
			continue;
		if (time_us > t.newest_us)
			t.newest_us = time_us;
		if (time_us < t.oldest_us || t.oldest_us == 0)
			t.oldest_us = time_us;
	}
	return t;
}

/* What records of one notification differ in from what their agent said. */
struct move {
	uint32_t boot;	    /* added to the boot */
	int64_t time_us;    /* added to times */
	uint64_t least_us;  /* what is older than this, as the agent says it, */
	uint64_t newest_us; /* is as old as the newest */
};

static uint64_t
moved_time(const struct move *move, uint64_t time_us)
{
	return (time_us < move->least_us ? move->newest_us : time_us) + (uint64_t)move->time_us;
}

/* Where counters began anew is only compared, and stays the device's own. */
static void
move_record(const struct move *move, struct ease_record *r)
{
	uint64_t time_us = time_of(r), moved_us, lasted_us;

	r->boot += move->boot;
	if (!is_good_time(time_us))
		return;
	moved_us = moved_time(move, time_us);
	memcpy((char *)r + record_kinds[r->kind].time_at, &moved_us, sizeof(moved_us));
	if (r->kind != EASE_PART_ERROR_SOURCE)
		return;
	lasted_us = time_us - r->error_source.first_us;
	r->error_source.first_us = lasted_us < moved_us ? moved_us - lasted_us : moved_us;
}

static void
add_moved(struct accounting *acc, struct agent *a, struct store_batch *batch, const struct ease_record *records,
    size_t n, const struct move *move)
{
	for (size_t done = 0, some; done < n; done += some) {
		some = n - done < MOVED_RECORDS ? n - done : MOVED_RECORDS;
		assert(some > 0);
		memcpy(acc->moved, &records[done], some * sizeof(*records));
		for (size_t i = 0; i < some; i++)
			move_record(move, &acc->moved[i]);
		accounting_add_all(acc, a, batch, acc->moved, some);
	}
}

/* Records of an agent that is not known and finds no place, or that the store could not be asked for. */
static void
refuse_unknown(struct accounting *acc, const struct ease_record *records, size_t n, int err)
{
	for (size_t i = 0; i < n; i++)
		if (has_good_time(acc, &records[i]))
			accounting_refuse_agent(acc, &records[i], err);
}

static void
refuse_source(struct accounting *acc, struct agent *a, struct store_batch *batch,
    const struct ease_record *records, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!has_good_time(acc, &records[i]))
			continue;
		if (accounting_refuse_source(acc, a, &records[i]) && records[i].kind == EASE_PART_SAMPLE)
			accounting_expect_refused(acc, a, records[i].sample.if_index, batch);
	}
}

static void
refuse_boot(struct accounting *acc, struct agent *a, struct store_batch *batch,
    const struct ease_record *records, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		accounting_refuse_boot(acc, a, &records[i]);
		if (records[i].kind == EASE_PART_SAMPLE)
			accounting_expect_refused(acc, a, records[i].sample.if_index, batch);
	}
}

/* Adds the agent of a notification; its times are those of the first record with a good one. NULL, and
 * all records are counted as refused, at the limit of agents. */
static struct agent *
add_agent_of(struct accounting *acc, const struct ease_record *records, size_t n)
{
	const struct ease_record *first = records;
	struct agent *a;

	while (!is_good_time(time_of(first)))
		first++;
	a = accounting_add_agent(acc, first, time_of(first));
	if (!a)
		stat_add_own(&acc->stats, ACCOUNTING_STAT_AGENTS_FULL, n - 1);
	return a;
}

/* Adds records of an agent that may have sent them. */
static void
add_believed(struct accounting *acc, struct agent *a, struct store_batch *batch,
    const struct ease_record *records, size_t n, const struct times *times, bool is_new)
{
	struct move move = {.boot = a->row.boot_shift, .newest_us = times->newest_us};

	if (!records[0].loose_numbers && times->newest_us > 0) /* else they have times of reception */
		move.time_us = accounting_judge_clock(acc, a, times->newest_us, batch);
	if (acc->clock_tolerance_us > 0 && times->newest_us - times->oldest_us > NOTIFICATION_MOST_US)
		move.least_us = times->newest_us - NOTIFICATION_MOST_US;
	acc->moved_us = move.time_us;
	if (is_new) {
		a->row.first_us = moved_time(&move, times->oldest_us);
		a->row.last_us = a->row.first_us;
	}
	if (move.time_us != 0 || move.least_us > 0) {
		stat_add_own(&acc->stats, ACCOUNTING_STAT_CLOCK_CORRECTED, n);
		accounting_tell_odd_times(a, move.time_us, move.least_us > 0 ? times->newest_us - times->oldest_us : 0);
	}
	if (move.boot == 0 && move.time_us == 0 && move.least_us == 0)
		accounting_add_all(acc, a, batch, records, n);
	else
		add_moved(acc, a, batch, records, n, &move);
}

/* All records of a notification are of one agent and boot. */
void
accounting_add_records(
    struct accounting *acc, struct store_batch *batch, const struct ease_record *records, size_t n)
{
	struct times times = times_of(records, n);
	struct agent *a;
	bool is_new;
	int err;

	if (n == 0)
		return;
	if (records[0].received_us != acc->received_us)
		note_time(acc, records[0].received_us);
	assert(acc->n_samples == 0);
	acc->notification++;
	if (accounting_refuse_form(acc, records, n))
		return;
	a = accounting_find_agent(acc, &records[0], &err);
	is_new = !a && err == 0 && times.newest_us > 0;
	if (is_new)
		a = add_agent_of(acc, records, n);
	if (is_new && !a)
		return;
	if (!a)
		refuse_unknown(acc, records, n, err);
	else if (!accounting_may_speak(acc, a, &records[0]))
		refuse_source(acc, a, batch, records, n);
	else if (!accounting_follow_boot(acc, a, &records[0], batch))
		refuse_boot(acc, a, batch, records, n);
	else
		add_believed(acc, a, batch, records, n, &times, is_new);
}

uint64_t
accounting_lost(const struct accounting *acc)
{
	return stat_get(&acc->stats, ACCOUNTING_STAT_AGENTS_FULL) +
	    stat_get(&acc->stats, ACCOUNTING_STAT_PORTS_FULL) +
	    stat_get(&acc->stats, ACCOUNTING_STAT_LOST_STORE_QUEUE) +
	    stat_get(&acc->stats, ACCOUNTING_STAT_LOST_STORE_ROWS);
}
