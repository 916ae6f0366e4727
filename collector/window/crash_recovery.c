#include "collector/window/crash_recovery.h"

#include <string.h>

/* Adds the agent if it was first heard after the last stored batch. Its address is not known until
 * its next notification. */
static struct agent *
agent_of_slot(struct inventory *r, const struct crash_journal_slot *seen)
{
	struct agent *a = inventory_find_agent(r, seen->agent_id);
	struct store_agent row = {
	    .boot = seen->boot, .first_us = seen->last_us, .last_us = seen->last_us};
	uint64_t owner = inventory_owner(r, "");

	if (a || inventory_recall_agent(r, seen->agent_id, owner, (uint64_t)r->loading_us, &a) < 0 || a)
		return a;
	memcpy(row.agent_id, seen->agent_id, sizeof(row.agent_id));
	return inventory_add_agent(r, &row, owner, (uint64_t)r->loading_us);
}

static struct account *
account_of_slot(struct inventory *r, const struct crash_journal_slot *seen, struct port **port)
{
	struct agent *a = agent_of_slot(r, seen);
	bool made;

	*port = NULL;
	if (!a || inventory_port(r, a, seen->if_index, (uint64_t)r->loading_us, port) < 0)
		return NULL;
	agent_note_boot(a, seen->boot);
	a->dirty = true;
	return inventory_account(*port, seen->boot, seen->last_us, &made, NULL, NULL);
}

static void
recover_slot(struct inventory *r, const struct crash_journal_slot *seen,
    crash_recovery_sink *expected, void *arg, struct crash_recovered *sum)
{
	struct port *p;
	struct account *a = account_of_slot(r, seen, &p);
	struct crash_lost crash_lost = seen->crash_lost;
	uint64_t before, more;

	if (!a) {
		sum->refused++;
		return;
	}
	before = sequence_tracker_expected_since_contact(&a->slot->tracker);
	if (!sequence_tracker_catch_up(&a->slot->tracker, &seen->tracker, &crash_lost)) {
		sum->refused++;
		return;
	}
	a->slot->crash_lost = crash_lost;
	if (seen->last_us > a->slot->last_us)
		a->slot->last_us = seen->last_us;
	more = sequence_tracker_expected_since_contact(&a->slot->tracker) - before;
	if (more > 0) {
		a->last_expected_us = seen->last_us;
		expected(arg, p, seen->last_us, more);
	}
	if (crash_lost.n > a->stored_crash_lost) {
		sum->samples += crash_lost.n - a->stored_crash_lost;
		sum->ports++;
	}
	a->dirty = true;
}

void
crash_recover(struct inventory *r, const struct crash_journal_past *past,
    crash_recovery_sink *expected, void *arg, struct crash_recovered *sum)
{
	*sum = (struct crash_recovered){0};
	for (uint64_t i = 0; i < past->n_slots; i++)
		if (past->slots[i].tracker.started)
			recover_slot(r, &past->slots[i], expected, arg, sum);
}
