#include "collector/alarm/alarm_outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FORGET_US 86400000000ull

static const uint64_t again_us[] = {10000000, 60000000, 300000000};
enum { N_AGAIN = sizeof(again_us) / sizeof(again_us[0]) };

enum told { TOLD_NOTHING, TOLD_RAISED, TOLD_OVER };

struct entry {
	uint64_t id; /* 0: free */
	int64_t agent;
	bool stands;
	uint64_t over_us, hold_us; /* monotonic: since when it is over, and how long it must be */
	struct {
		uint8_t told; /* enum told */
		uint8_t tries;
		uint64_t next_us; /* not before */
	} to[OUTBOX_RECEIVERS_MAX];
};

struct outbox_receiver {
	bool acts;
	uint32_t at;   /* of what is being told: index + 1; 0: nothing */
	int64_t agent; /* whose turn it was last */
	uint64_t id;
	bool is_over;
};

struct outbox {
	uint64_t hold_us;
	size_t n_receivers, n;
	struct outbox_receiver receivers[OUTBOX_RECEIVERS_MAX];
	struct entry *entries; /* apart from the facts, because they are searched */
	struct alarm_fact *facts;
	struct alarm_fact next; /* what outbox_next returned */
	struct stat_set stats;
	_Atomic uint64_t values[OUTBOX_N_STATS];
};

static const struct stat_name stat_names[OUTBOX_N_STATS] = {
    [OUTBOX_STAT_RAISED] = {"alarm_outbox.raised", "times that a receiver of alarms took that one is raised"},
    [OUTBOX_STAT_OVER] = {"alarm_outbox.over", "times that a receiver of alarms took that one is over"},
    [OUTBOX_STAT_FAILED] = {"alarm_outbox.failed", "times that a receiver of alarms did not take one; it is told again later"},
    [OUTBOX_STAT_HELD] = {"alarm_outbox.held", "alarms that came back before receivers were told that they were over"},
    [OUTBOX_STAT_NOT_TOLD] = {"alarm_outbox.not_told",
	"alarms that a receiver did not get: they were over before it could act, or it took none for a day"},
    [OUTBOX_STAT_NO_ROOM] = {"alarm_outbox.no_room", "alarms that no receiver gets because their agent has too many"},
};

int
outbox_new(struct outbox **out, size_t n_receivers, const bool *acts, uint64_t hold_us)
{
	struct outbox *o = calloc(1, sizeof(*o));

	if (o) {
		o->entries = calloc(OUTBOX_ALARMS, sizeof(*o->entries));
		o->facts = calloc(OUTBOX_ALARMS, sizeof(*o->facts));
	}
	if (!o || !o->entries || !o->facts) {
		outbox_free(o);
		return -ENOMEM;
	}
	o->hold_us = hold_us;
	o->n_receivers = n_receivers;
	for (size_t i = 0; i < n_receivers; i++)
		o->receivers[i].acts = acts[i];
	o->stats = (struct stat_set){stat_names, OUTBOX_N_STATS, o->values};
	*out = o;
	return 0;
}

void
outbox_free(struct outbox *o)
{
	if (!o)
		return;
	free(o->entries);
	free(o->facts);
	free(o);
}

size_t
outbox_memory(void)
{
	return sizeof(struct outbox) + OUTBOX_ALARMS * (sizeof(struct entry) + sizeof(struct alarm_fact));
}

/* ---- which alarms there are ---- */

static void
tell_at(struct entry *e, size_t receiver, uint64_t mono_us)
{
	e->to[receiver].tries = 0;
	e->to[receiver].next_us = mono_us;
}

/* A receiver was told that it is raised, or is being told something of it. */
static bool
somebody_believes(const struct outbox *o, const struct entry *e)
{
	for (size_t i = 0; i < o->n_receivers; i++)
		if (e->to[i].told == TOLD_RAISED || (o->receivers[i].at > 0 && o->receivers[i].id == e->id))
			return true;
	return false;
}

static void
remove_outbox_entry(struct outbox *o, struct entry *e)
{
	for (size_t i = 0; i < o->n_receivers; i++)
		stat_add_own(&o->stats, OUTBOX_STAT_NOT_TOLD, e->to[i].told != TOLD_OVER);
	e->id = 0;
	o->n--;
}

static struct entry *
find_outbox_entry(const struct outbox *o, uint64_t id)
{
	for (size_t i = 0; i < OUTBOX_ALARMS; i++)
		if (o->entries[i].id == id)
			return &o->entries[i];
	return NULL;
}

/* A place for another of that agent; what it takes away is the agent's own. */
static struct entry *
find_outbox_place(struct outbox *o, int64_t agent)
{
	struct entry *oldest = NULL, *free_one = NULL;
	size_t n = 0;

	for (struct entry *e = o->entries; e < o->entries + OUTBOX_ALARMS; e++) {
		if (!e->id) {
			free_one = free_one ? free_one : e;
			continue;
		}
		if (e->agent != agent)
			continue;
		n++;
		if (!e->stands && !somebody_believes(o, e) && (!oldest || e->over_us < oldest->over_us))
			oldest = e;
	}
	/* Half of the room is left to agents that have few. */
	if (free_one && n < (o->n < OUTBOX_ALARMS / 2 ? OUTBOX_OF_AGENT : OUTBOX_FEW))
		return free_one;
	if (oldest)
		remove_outbox_entry(o, oldest);
	return oldest;
}

static void
note_raised(struct outbox *o, const struct alarm_fact *fact, uint64_t mono_us)
{
	struct entry *e = find_outbox_entry(o, fact->id);

	if (e && !e->stands) {
		stat_add_own(&o->stats, OUTBOX_STAT_HELD, mono_us - e->over_us < e->hold_us);
		e->hold_us = e->hold_us < o->hold_us * OUTBOX_HOLD_MOST ? 2 * e->hold_us : e->hold_us;
	} else if (!e) {
		e = find_outbox_place(o, fact->agent_number);
		if (!e) {
			stat_add_own(&o->stats, OUTBOX_STAT_NO_ROOM, 1);
			return;
		}
		*e = (struct entry){.id = fact->id, .agent = fact->agent_number, .hold_us = o->hold_us};
		o->n++;
	}
	e->stands = true;
	for (size_t i = 0; i < o->n_receivers; i++)
		if (e->to[i].told != TOLD_RAISED)
			tell_at(e, i, mono_us);
	o->facts[e - o->entries] = *fact;
}

void
outbox_note(struct outbox *o, const struct alarm_fact *fact, uint64_t mono_us)
{
	struct entry *e;

	if (!fact->is_over) {
		note_raised(o, fact, mono_us);
		return;
	}
	e = find_outbox_entry(o, fact->id);
	if (!e || !e->stands)
		return;
	e->stands = false;
	e->over_us = mono_us;
	for (size_t i = 0; i < o->n_receivers; i++)
		if (e->to[i].told == TOLD_RAISED)
			tell_at(e, i, mono_us + e->hold_us);
	o->facts[e - o->entries].over_us = fact->over_us;
}

void
outbox_tick(struct outbox *o, uint64_t mono_us)
{
	for (struct entry *e = o->entries; o->n > 0 && e < o->entries + OUTBOX_ALARMS; e++) {
		bool is_needed;

		if (!e->id || e->stands || mono_us - e->over_us < 2 * e->hold_us)
			continue; /* so long it is known that it came and went */
		is_needed = somebody_believes(o, e);
		for (size_t i = 0; i < o->n_receivers; i++)
			is_needed = is_needed || (e->to[i].told == TOLD_NOTHING && !o->receivers[i].acts);
		if (!is_needed || mono_us - e->over_us > FORGET_US)
			remove_outbox_entry(o, e);
	}
}

/* ---- what receivers are told ---- */

/* Whether it is to be told something, and what. */
static bool
is_due(const struct entry *e, size_t receiver, bool acts, uint64_t mono_us, bool *is_over)
{
	uint8_t told = e->to[receiver].told;

	*is_over = told == TOLD_RAISED;
	if (!e->id || mono_us < e->to[receiver].next_us)
		return false;
	if (e->stands)
		return told != TOLD_RAISED;
	return told == TOLD_RAISED ? mono_us - e->over_us >= e->hold_us : told == TOLD_NOTHING && !acts;
}

/* Agents in turn, so that nobody waits for all that another one has; of each the oldest. */
static bool
outbox_is_before(const struct outbox_receiver *r, size_t receiver, const struct entry *e, const struct entry *other)
{
	uint64_t turn = (uint64_t)e->agent - (uint64_t)r->agent - 1, of_other = (uint64_t)other->agent - (uint64_t)r->agent - 1;

	return turn != of_other ? turn < of_other : e->to[receiver].next_us < other->to[receiver].next_us;
}

const struct alarm_fact *
outbox_next(struct outbox *o, size_t receiver, uint64_t mono_us)
{
	struct outbox_receiver *r = &o->receivers[receiver];
	const struct entry *first = NULL;
	bool is_over;

	if (r->at > 0 || o->n == 0)
		return NULL;
	for (const struct entry *e = o->entries; e < o->entries + OUTBOX_ALARMS; e++)
		if (is_due(e, receiver, r->acts, mono_us, &is_over) && (!first || outbox_is_before(r, receiver, e, first)))
			first = e;
	if (!first)
		return NULL;
	is_due(first, receiver, r->acts, mono_us, &r->is_over);
	r->at = (uint32_t)(first - o->entries) + 1;
	r->id = first->id;
	r->agent = first->agent;
	o->next = o->facts[r->at - 1];
	o->next.is_over = r->is_over;
	return &o->next;
}

void
outbox_answered(struct outbox *o, size_t receiver, bool is_taken, uint64_t mono_us)
{
	struct outbox_receiver *r = &o->receivers[receiver];
	struct entry *e = r->at > 0 ? &o->entries[r->at - 1] : NULL;

	r->at = 0;
	if (!e || e->id != r->id)
		return;
	if (!is_taken) {
		stat_add_own(&o->stats, OUTBOX_STAT_FAILED, 1);
		e->to[receiver].next_us = mono_us + again_us[e->to[receiver].tries];
		e->to[receiver].tries += e->to[receiver].tries < N_AGAIN - 1;
		return;
	}
	stat_add_own(&o->stats, r->is_over ? OUTBOX_STAT_OVER : OUTBOX_STAT_RAISED, 1);
	e->to[receiver].told = r->is_over ? TOLD_OVER : TOLD_RAISED;
	tell_at(e, receiver, e->stands || r->is_over ? mono_us : e->over_us + e->hold_us);
}

size_t
outbox_alarms(const struct outbox *o)
{
	return o->n;
}

const struct stat_set *
outbox_stats(const struct outbox *o)
{
	return &o->stats;
}
