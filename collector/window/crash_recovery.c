#include "collector/window/crash_recovery.h"

#include <string.h>

/* An agent may have been met after the last that is stored; who it is it says again soon. */
static struct agent *
agent_of_slot(struct roster *r, const struct witness_slot *seen)
{
	struct agent *a = roster_find_agent(r, seen->agent_id);
	struct store_agent row = {
	    .boot = seen->boot, .first_us = seen->last_us, .last_us = seen->last_us};

	if (a)
		return a;
	memcpy(row.agent_id, seen->agent_id, sizeof(row.agent_id));
	return roster_add_agent(r, &row);
}

static struct account *
account_of_slot(struct roster *r, const struct witness_slot *seen, struct port **port)
{
	struct agent *a = agent_of_slot(r, seen);
	bool made;

	*port = a ? roster_port(r, a, seen->if_index) : NULL;
	if (!*port)
		return NULL;
	if (seen->boot > a->row.boot)
		a->row.boot = seen->boot;
	a->dirty = true;
	return roster_account(*port, seen->boot, seen->last_us, &made, NULL, NULL);
}

static void
recall_slot(struct roster *r, const struct witness_slot *seen, recall_sink *expected, void *arg,
    struct recalled *sum)
{
	struct port *p;
	struct account *a = account_of_slot(r, seen, &p);
	struct tracker_gone gone = seen->gone;
	uint64_t before, more;

	if (!a) {
		sum->refused++;
		return;
	}
	before = tracker_met(&a->slot->tracker);
	if (!tracker_fall_back(&a->slot->tracker, &seen->tracker, &gone)) {
		sum->refused++;
		return;
	}
	a->slot->gone = gone;
	if (seen->last_us > a->slot->last_us)
		a->slot->last_us = seen->last_us;
	more = tracker_met(&a->slot->tracker) - before;
	if (more > 0) {
		a->gap_us = seen->last_us;
		expected(arg, p, seen->last_us, more);
	}
	if (gone.n > a->stored_gone) {
		sum->samples += gone.n - a->stored_gone;
		sum->ports++;
	}
	a->dirty = true;
}

void
recall(struct roster *r, const struct witness_past *past, recall_sink *expected, void *arg,
    struct recalled *sum)
{
	*sum = (struct recalled){0};
	for (uint64_t i = 0; i < past->n_slots; i++)
		if (past->slots[i].tracker.started)
			recall_slot(r, &past->slots[i], expected, arg, sum);
}
