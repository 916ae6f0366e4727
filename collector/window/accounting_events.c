/* Notifications that tell of something that happened: whose they are, and their rows. */
#include "collector/window/accounting_private.h"

#include <string.h>

/* The EASE agent that is bound to the source of an event of SNMPv3. */
static struct agent *
agent_bound_to(const struct inventory *r, const char *source)
{
	uint32_t place = lru_table_first_of(&r->agent_places, inventory_owner(r, source));

	for (; place != LRU_NONE; place = lru_table_next_of(&r->agent_places, place)) {
		struct agent *a = &r->agents[place];

		if (a->row.boot != 0 && strcmp(a->identity.bound, source) == 0)
			return a;
	}
	return NULL;
}

/* An sFlow agent that was heard from another address only. */
static bool
only_states_address(const struct agent *a)
{
	return made_id_kind(a->row.agent_id) == MADE_ID_SFLOW && strcmp(a->identity.bound, a->row.address) != 0;
}

/* Returns that, or else the one at the event's address, unless that one is bound to another engine. NULL if
 * there is none or more than one. */
static struct agent *
agent_at(const struct inventory *r, const struct ease_event *event)
{
	struct agent *found = event->source ? agent_bound_to(r, event->source) : NULL;

	if (found)
		return found;
	for (struct agent *a = inventory_first_at(r, event->sender); a; a = inventory_next_at(r, a)) {
		if (a->row.boot == 0 || only_states_address(a) ||
		    (event->source && strncmp(a->identity.bound, "0x", 2) == 0))
			continue;
		if (found)
			return NULL;
		found = a;
	}
	return found;
}

/* EASE agents count their boots from 1, so boot 0 marks an agent that is known only as the sender of standard
 * notifications. It is named after its source, so no other can speak for it. */
static struct agent *
agent_of_source(struct accounting *acc, const struct ease_event *event)
{
	struct ease_record who = {.sender = event->sender, .source = event->source,
	    .received_us = event->received_us};
	struct agent *a;

	memcpy(who.agent_id, event->source_id, sizeof(who.agent_id));
	a = accounting_find_or_add_agent(acc, &who, event->received_us);
	if (a)
		accounting_note_heard(acc, a, &who, event->received_us);
	return a;
}

static struct agent *
events_agent_of_event(struct accounting *acc, const struct ease_event *event)
{
	struct ease_record who = {.sender = event->sender, .source = event->source,
	    .boot = event->boot, .received_us = event->received_us};
	struct agent *a;

	if (!event->has_agent_id) {
		a = agent_at(&acc->inventory, event);
		return a ? a : agent_of_source(acc, event);
	}
	memcpy(who.agent_id, event->agent_id, sizeof(who.agent_id));
	if (accounting_refuse_form(acc, &who, 1))
		return NULL;
	a = accounting_find_or_add_agent(acc, &who, event->received_us);
	if (!a || accounting_may_speak(acc, a, &who))
		return a;
	accounting_refuse_source(acc, a, &who);
	return NULL;
}

bool
accounting_add_event(
    struct accounting *acc, struct store_batch *batch, const struct ease_event *event)
{
	struct agent *a = events_agent_of_event(acc, event);
	struct store_event *row = a ? store_batch_add(batch, STORE_EVENTS) : NULL;

	if (!row) {
		if (a)
			accounting_count(acc, ACCOUNTING_STAT_LOST_STORE_ROWS);
		return false;
	}
	a->dirty = true;
	row->time_us = event->received_us;
	row->agent = a->row.id;
	row->boot = event->has_agent_id ? event->boot + a->row.boot_shift : a->row.boot;
	row->kind = event->kind;
	row->if_index = event->if_index;
	row->identity = event->identity;
	memcpy(row->text, event->text, sizeof(row->text));
	accounting_count(acc, ACCOUNTING_STAT_EVENTS);
	return true;
}
