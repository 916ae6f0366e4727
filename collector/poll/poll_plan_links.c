/* Neighbours of the switches of a plan, by LLDP, and which of their ports are uplinks. */
#include "collector/poll/poll_plan_private.h"

#include <string.h>

#define LINKS_LEAST_US (300 * SECOND_US) /* between two readings of neighbours, however many ports are new */

void
poll_plan_forget_links(struct poll_plan *plan, struct planned_agent *a)
{
	poll_pairs_remove(&plan->pairs, (uint32_t)(a - plan->agents));
	poll_links_clear(&a->links);
	poll_links_clear(&a->fresh);
}

void
poll_plan_begin_links(const struct poll_plan *plan, struct planned_agent *a, uint64_t now_us)
{
	uint64_t least_us = a->has_new_ports ? LINKS_LEAST_US : plan->settings.names_us;

	if (a->seen_us != now_us)
		a->step = LINKS_READ; /* it has left */
	if (a->step != LINKS_READ || a->seen_us != now_us || a->known.names_us == 0 || a->n_list > 0 ||
	    (a->links_us > 0 && now_us - a->links_us < least_us))
		return;
	a->step = LINKS_ROWS;
	a->has_new_ports = false;
	poll_links_clear(&a->fresh);
	memset(a->cursor, 0, sizeof(a->cursor));
}

static bool
poll_links_is_among(const uint32_t *numbers, uint32_t n, uint32_t number)
{
	for (uint32_t i = 0; i < n; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

void
poll_plan_ask_links(struct planned_agent *a, struct poll_job *job)
{
	struct poll_link *link;

	job->parts = a->step == LINKS_ROWS ? POLL_NEIGHBOURS : POLL_LOCAL_PORTS;
	memcpy(job->cursor, a->cursor, sizeof(job->cursor));
	if (a->step == LINKS_ROWS)
		return;
	for (uint32_t at = 0; job->n_ports < POLL_PORTS_MAX && (link = poll_links_unknown(&a->fresh, &at)); at++)
		if (!poll_links_is_among(job->if_index, job->n_ports, link->local_port))
			job->if_index[job->n_ports++] = link->local_port;
	memcpy(a->local_ports, job->if_index, sizeof(a->local_ports));
}

void
poll_plan_give_up_links(struct planned_agent *a, uint64_t now_us)
{
	poll_links_clear(&a->fresh);
	a->step = LINKS_READ;
	a->links_us = now_us;
}

/* Where the port of a switch stands; n_places: it has left. */
static uint32_t
place_of_port(const struct poll_plan *plan, uint32_t agent, uint32_t if_index)
{
	uint32_t i = 0;

	while (i < plan->source.n_places && (plan->ports[i].agent != agent || plan->ports[i].if_index != if_index ||
	    plan->ports[i].number != plan->agents[agent].number))
		i++;
	return i;
}

/* other: the end of the link at the j-th switch; NULL: the port is no uplink. */
static void
tell_uplink(struct poll_plan *plan, uint32_t place, const struct poll_link *other, uint32_t j, const struct taking *to)
{
	struct planned_port *port = &plan->ports[place];
	struct polled_port told = {.place = place, .number = port->number, .if_index = port->if_index, .parts = POLLED_UPLINK,
	    .is_uplink = other != NULL};

	if (!other && !port->is_uplink)
		return;
	port->is_uplink = other != NULL;
	if (other) {
		told.other_place = place_of_port(plan, j, other->if_index);
		told.other_number = told.other_place < plan->source.n_places ? plan->ports[told.other_place].number : 0;
		told.other_if_index = other->if_index;
	}
	to->take(to->arg, &told, to->now_us);
}

/* The switch's own ports as they are now, and those of others that it confirms. */
static void
tell_uplinks(struct poll_plan *plan, struct planned_agent *a, const struct taking *to)
{
	uint32_t own = (uint32_t)(a - plan->agents), j = 0;
	const struct poll_link *other;

	for (uint32_t k = 0; k < a->links.n; k++)
		for (uint32_t at = 0; poll_pairs_other(&plan->pairs, own, &a->links.links[k], &at, &j);)
			plan->agents[j].linked_to = a->number;
	for (uint32_t i = 0; i < plan->source.n_places; i++) {
		const struct planned_port *port = &plan->ports[i];
		const struct planned_agent *of = &plan->agents[port->agent];
		bool is_own = of == a;

		if (port->number != of->number || (!is_own && of->linked_to != a->number))
			continue;
		other = poll_pairs_confirm(&plan->pairs, port->agent, port->if_index, &j);
		if (other || is_own)
			tell_uplink(plan, i, other, j, to);
	}
	for (uint32_t i = 0; i < plan->source.n_agents; i++)
		plan->agents[i].linked_to = 0;
}

static void
end_links(struct poll_plan *plan, struct planned_agent *a, const struct taking *to)
{
	poll_pairs_remove(&plan->pairs, (uint32_t)(a - plan->agents));
	poll_links_clear(&a->links);
	a->links = a->fresh;
	a->fresh = (struct poll_links){.n = 0};
	poll_links_compact(&a->links);
	poll_pairs_add(&plan->pairs, (uint32_t)(a - plan->agents));
	a->step = LINKS_READ;
	a->links_us = to->now_us;
	tell_uplinks(plan, a, to);
}

/* The port that LLDP means: by its name, else by what describes it, else by its number. 0: none that is sampled. */
static uint32_t
poll_links_if_index_of(const struct poll_plan *plan, const struct planned_agent *a, uint32_t local_port, const struct poll_port *said)
{
	const uint64_t described =
	    *said->description ? poll_text_hash(said->description, strlen(said->description)) : UINT64_MAX;
	uint32_t by_description = 0, by_number = 0;

	for (const struct planned_port *p = plan->ports; p < plan->ports + plan->source.n_places; p++) {
		if (p->number != a->number || &plan->agents[p->agent] != a)
			continue;
		if (said->local_id != 0 && (p->names[0] == said->local_id || p->names[1] == said->local_id))
			return p->if_index;
		if (p->names[0] == described || p->names[1] == described)
			by_description = p->if_index;
		if (p->if_index == local_port)
			by_number = local_port;
	}
	return by_description ? by_description : by_number;
}

static void
take_local_port(const struct poll_plan *plan, struct planned_agent *a, uint32_t local_port, uint64_t chassis,
    const struct poll_port *said)
{
	uint32_t if_index = poll_links_if_index_of(plan, a, local_port, said);

	for (struct poll_link *link = a->fresh.links; link < a->fresh.links + a->fresh.n; link++)
		if (link->local_port == local_port) {
			link->own = chassis != 0 && said->local_id != 0 ? poll_neighbour_id(chassis, said->local_id)
									: POLL_LINK_NAMELESS;
			link->if_index = if_index;
		}
}

void
poll_plan_take_links(struct poll_plan *plan, struct planned_agent *a, const struct poll_answer *answer, const struct taking *to)
{
	bool has_room = true;
	uint32_t at = 0;

	for (uint32_t i = 0; a->asked == POLL_LOCAL_PORTS && i < a->n_asked; i++)
		take_local_port(plan, a, a->local_ports[i], answer->chassis, &answer->ports[i]);
	for (uint32_t i = 0; a->asked == POLL_NEIGHBOURS && has_room && i < answer->n_neighbours; i++)
		has_room = poll_links_add(&a->fresh, &answer->neighbours[i]);
	plan->n_crowded += !has_room;
	memcpy(a->cursor, answer->cursor, sizeof(a->cursor));
	if (a->asked == POLL_NEIGHBOURS && (!answer->has_more || !has_room || answer->n_neighbours == 0))
		a->step = LINKS_PORTS;
	if (a->step == LINKS_PORTS && !poll_links_unknown(&a->fresh, &at))
		end_links(plan, a, to);
}
