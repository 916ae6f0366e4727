/* Tells who watches of samples and counters, and takes the events that come of it. */
#include "collector/window/accounting_private.h"

#include <math.h>
#include <stdio.h>

void
accounting_set_watch(struct accounting *acc, const struct sample_watch *watch)
{
	acc->watch = *watch;
}

static uint32_t
watch_place_of(const struct accounting *acc, const struct port *p)
{
	return (uint32_t)(p - acc->inventory.ports);
}

/* So long samples of an sFlow port are not shown until two of its counters say whether they may be believed. *assumed* */
#define UNHELD_S 60

/* What sFlow's samples say was received is at most what the port counted meanwhile: 5 standard errors above it, they
 * stand for fewer frames than their agent says, and no alarm is raised that the counters deny. */
static void
watch_hold_samples(struct port *p, const struct ease_record *r)
{
	const struct ease_snapshot *before = &p->newest_counters.snapshot, *now = &r->snapshot;
	double counted = (double)now->in.octets - (double)before->in.octets;
	double said = p->watched.octets, error = 5 * sqrt((double)p->watched.squares);

	p->watched.octets = 0;
	p->watched.squares = 0;
	if (before->time_us == 0 || before->discontinuity_us != now->discontinuity_us || counted < 0)
		return;
	p->watched.part = said - counted > error && counted > 0 ? (float)(counted / said) : 1;
}

/* Notes what a sample says; false: it may not be shown yet. */
static bool
note_sample(struct port *p, const struct ease_record *r)
{
	double octets = (double)r->sample.mean_skip * r->sample.frame_octets;

	if (r->sample.direction == EASE_IN) {
		p->watched.octets += octets;
		p->watched.squares += (float)(octets * octets);
	}
	if (p->watched.part > 0)
		return true;
	if (p->watched.since_s == 0)
		p->watched.since_s = (uint32_t)(r->received_us / 1000000) + UNHELD_S;
	return r->received_us / 1000000 >= p->watched.since_s;
}

void
accounting_show_sample(const struct accounting *acc, struct port *p, const struct ease_record *r,
    const struct frame_keys *keys, uint64_t missing)
{
	struct ease_sample less;
	struct watched_sample shown = {
	    .sample = &r->sample,
	    .keys = keys,
	    .agent = p->agent->row.id,
	    .place = watch_place_of(acc, p),
	    .speed_bps = p->has_state ? p->state.speed_bps : 0,
	    .is_edge = !p->has_state || p->state.edge,
	    .pool_is_counter = !r->loose_numbers,
	    .missing = missing,
	    .mono_us = acc->mono_us,
	};

	if (!acc->watch.sample || (r->loose_numbers && !note_sample(p, r)))
		return;
	if (r->loose_numbers && p->watched.part > 0 && p->watched.part < 1) {
		less = r->sample;
		less.mean_skip = (uint32_t)fmax(1, less.mean_skip * (double)p->watched.part + 0.5);
		shown.sample = &less;
	}
	acc->watch.sample(acc->watch.arg, &shown);
}

void
accounting_show_counters(const struct accounting *acc, struct port *p, const struct ease_record *r)
{
	if (acc->watch.heard && r->loose_numbers)
		watch_hold_samples(p, r);
	if (acc->watch.heard)
		acc->watch.heard(acc->watch.arg, p->agent->row.id, p->if_index, watch_place_of(acc, p), acc->mono_us);
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

struct accounting_names
accounting_names_of(struct accounting *acc, int64_t agent, uint64_t if_index)
{
	const struct agent *a = inventory_agent_by_number(&acc->inventory, agent);
	const struct port *p = a ? inventory_find_port(&acc->inventory, a, if_index) : NULL;
	struct accounting_names names = {.address = a ? a->row.address : "", .port = p && p->has_state ? p->state.name : ""};

	if (a)
		memcpy(names.agent_id, a->row.agent_id, sizeof(names.agent_id));
	return names;
}
