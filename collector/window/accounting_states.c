/* What ports are and what is odd of them: nothing is summed of it. */
#include "collector/window/accounting_private.h"
#include "collector/polled.h"
#include "collector/window/record_rows.h"

#include <string.h>

/* Each ten minutes an agent of EASE tells of its ports, whatever happens. */
#define GONE_US UINT64_C(900000000)
enum { LOOKED_AT_MOST = 16 }; /* agents at an address, for each of their ports each second */

static bool
same_state(const struct ease_state *a, const struct ease_state *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->alias, b->alias) == 0 &&
	    a->speed_bps == b->speed_bps && a->duplex == b->duplex &&
	    a->admin_status == b->admin_status && a->oper_status == b->oper_status &&
	    a->lag_parent == b->lag_parent && a->edge == b->edge;
}

/* Each sFlow record tells what it knows, and what was asked for stands before what is sent: then also what is only
 * known of before. */
static struct ease_state
merged_state(const struct port *p, const struct ease_record *r)
{
	const struct ease_state *known = &p->state;
	struct ease_state s = r->state;

	if (!p->has_state)
		return s;
	if (r->polled & (POLLED_NAMES | POLLED_UPLINK)) {
		s = *known;
		s.time_us = known->time_us > r->state.time_us ? known->time_us : r->state.time_us;
		s.edge = !p->is_elsewhere;
	}
	if (r->polled & POLLED_UPLINK)
		return s;
	if (r->polled & POLLED_NAMES ? *r->state.name : r->polled == 0 && !p->has_polled_names && *s.name)
		memcpy(s.name, r->state.name, sizeof(s.name));
	else
		memcpy(s.name, known->name, sizeof(s.name));
	memcpy(s.alias, r->polled & POLLED_NAMES ? r->state.alias : known->alias, sizeof(s.alias));
	s.lag_parent = r->state.lag_parent > 0 ? r->state.lag_parent
	    : r->polled & POLLED_NAMES || (r->polled == 0 && !p->has_polled_names) ? 0 : known->lag_parent;
	return s;
}

/* What a port's state is with what was known before and what the option uplinks says of it. */
static struct ease_state
state_of(struct accounting *acc, const struct port *p, const struct ease_record *r)
{
	struct ease_state s = r->loose_numbers ? merged_state(p, r) : r->state;
	const struct port *lag = acc->uplinks.n > 0 && s.edge && s.lag_parent > 0
	    ? inventory_find_port(&acc->inventory, p->agent, s.lag_parent) : NULL;

	s.edge = s.edge && !p->is_linked;
	if (acc->uplinks.n > 0 && s.edge)
		s.edge = !uplinks_name(&acc->uplinks, r->sender, &s, lag && lag->has_state ? &lag->state : NULL);
	return s;
}

void
accounting_add_state(struct accounting *acc, struct port *p, const struct ease_record *r, struct store_batch *batch)
{
	struct ease_state given;
	const struct ease_state *s = &given;
	struct store_port *row;

	if (r->loose_numbers && (r->polled & POLLED_UPLINK))
		p->is_linked = !r->state.edge;
	else if (r->loose_numbers && !(r->polled & POLLED_NAMES))
		p->is_elsewhere = !r->state.edge;
	given = state_of(acc, p, r);
	if (p->has_state && (r->boot < p->state_boot ||
				(r->boot == p->state_boot && s->time_us < p->state.time_us))) {
		accounting_count(acc, ACCOUNTING_STAT_STATES_OLD);
		return;
	}
	accounting_count(acc, ACCOUNTING_STAT_STATES);
	p->has_polled_names |= r->loose_numbers && (r->polled & POLLED_NAMES);
	if (p->has_state && r->boot == p->state_boot && same_state(&p->state, s))
		return;
	row = store_batch_add(batch, STORE_PORTS);
	if (!row) { /* the state is not remembered either, so the next record stores it */
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

static bool
speaks_still(const struct accounting *acc, const struct agent *a)
{
	return a->heard_us > 0 && acc->mono_us - a->heard_us <= GONE_US;
}

/* Where several speak, who answers is not known (a relay, NAT); whoever sends sFlow, too, is asked as what it sends by
 * that, but not if another sender states its address. */
static bool
is_alone_at_address(const struct accounting *acc, const struct agent *a)
{
	const struct agent *other = inventory_first_at(&acc->inventory, a->row.address);
	unsigned n = 0;

	while (other && n++ < LOOKED_AT_MOST && (other == a || !speaks_still(acc, other) ||
	    (made_id_kind(other->row.agent_id) == MADE_ID_SFLOW && strcmp(other->identity.heard, a->row.address) != 0)))
		other = inventory_next_at(&acc->inventory, other);
	return other == NULL;
}

bool
accounting_place(const struct accounting *acc, uint32_t place, struct polled_place *to)
{
	const struct port *p = place < acc->inventory.port_places.end ? &acc->inventory.ports[place] : NULL;
	const struct agent *a = p ? p->agent : NULL;

	if (!a || !p->has_state || p->if_index > INT32_MAX || made_id_kind(a->row.agent_id) != MADE_ID_NONE ||
	    !speaks_still(acc, a) || !is_alone_at_address(acc, a))
		return false;
	*to = (struct polled_place){.place = place, .number = (uint32_t)a->row.id, .agent = (uint32_t)(a - acc->inventory.agents),
	    .if_index = (uint32_t)p->if_index, .address = a->row.address, .sends_counters = true};
	return true;
}

void
accounting_take_uplink(struct accounting *acc, int64_t agent, uint32_t if_index, bool is_uplink, struct store_batch *batch)
{
	const struct agent *a = inventory_agent_by_number(&acc->inventory, agent);
	struct port *p = a ? inventory_find_port(&acc->inventory, a, if_index) : NULL;
	struct ease_record again;

	if (!p || !p->has_state || p->is_linked == is_uplink)
		return;
	p->is_linked = is_uplink; /* a port that is none any more is told of by the agent's next state */
	again = (struct ease_record){.boot = p->state_boot, .sender = a->row.address, .state = p->state};
	again.state.time_us++; /* it has a row of its own */
	accounting_add_state(acc, p, &again, batch);
}

void
accounting_add_row(struct accounting *acc, struct port *p, const struct ease_record *r, struct store_batch *batch)
{
	bool added = record_rows_add(batch, p->agent->row.id, r);

	accounting_count(acc, added ? ACCOUNTING_STAT_ROWS : ACCOUNTING_STAT_LOST_STORE_ROWS);
}

void
accounting_add_odd(struct accounting *acc, struct port *p, const struct ease_record *r, struct store_batch *batch)
{
	(void)acc;
	(void)batch;
	oddities_note(&p->odd, &r->odd);
}
