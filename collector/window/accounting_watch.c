/* Tells who watches of samples and counters, and takes the events that come of it. */
#include "collector/window/accounting_private.h"

#include <stdio.h>

void
accounting_set_watch(struct accounting *acc, const struct sample_watch *watch)
{
	acc->watch = *watch;
}

static uint32_t
place_of(const struct accounting *acc, const struct port *p)
{
	return (uint32_t)(p - acc->inventory.ports);
}

void
accounting_show_sample(const struct accounting *acc, const struct port *p, const struct ease_record *r,
    const struct frame_keys *keys, uint64_t missing)
{
	const struct watched_sample shown = {
	    .sample = &r->sample,
	    .keys = keys,
	    .agent = p->agent->row.id,
	    .place = place_of(acc, p),
	    .speed_bps = p->has_state ? p->state.speed_bps : 0,
	    .is_edge = !p->has_state || p->state.edge,
	    .pool_is_counter = !r->loose_numbers,
	    .missing = missing,
	    .mono_us = acc->mono_us,
	};

	if (acc->watch.sample)
		acc->watch.sample(acc->watch.arg, &shown);
}

void
accounting_show_counters(const struct accounting *acc, const struct port *p)
{
	if (acc->watch.heard)
		acc->watch.heard(acc->watch.arg, p->agent->row.id, p->if_index, place_of(acc, p), acc->mono_us);
}

void
accounting_add_own_event(struct accounting *acc, struct store_batch *batch, const struct accounting_event *event,
    const char *text)
{
	const struct agent *a = inventory_agent_by_number(&acc->inventory, event->agent);
	struct store_event *row = store_batch_add(batch, STORE_EVENTS);

	if (!row) {
		accounting_count(acc, ACCOUNTING_STAT_LOST_STORE_ROWS);
		return;
	}
	*row = (struct store_event){.time_us = event->time_us, .agent = event->agent, .boot = a ? a->row.boot : 0,
	    .kind = event->kind, .if_index = event->if_index};
	snprintf(row->text, sizeof(row->text), "%s", text);
}
