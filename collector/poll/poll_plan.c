#include "collector/poll/poll_plan_private.h"
#include "common/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* sFlow agents send counters each 20 or 30 s; whoever has sent none for so long may send none at all. *assumed* */
#define POLL_PATIENCE_US (60 * SECOND_US)
/* In between an answer makes the next question possible; else time does. */
#define IDLE_US (SECOND_US / 10)
#define FIRST_PAUSE_US (5 * SECOND_US)
#define LONG_PAUSE_US (60 * SECOND_US)
#define PAUSE_MOST_US (3600 * SECOND_US)
#define EXPIRED_US (10 * SECOND_US)
#define TOLD_US (20 * SECOND_US)

enum {
	TIMEOUT_MS = 1000, /* an answer that takes longer says too little of when counters were read */
	AGENT_BITS = 12,   /* of a question's id */
	NO_TARGET = UINT32_MAX,
};

void
poll_plan_free(struct poll_plan *plan)
{
	if (!plan)
		return;
	for (uint32_t i = 0; plan->agents && plan->pairs.first && i < plan->source.n_agents; i++)
		poll_plan_forget_links(plan, &plan->agents[i]);
	free(plan->ports);
	free(plan->pairs.first);
	free(plan->links);
	free(plan->agents);
	free(plan);
}

int
poll_plan_new(struct poll_plan **out, const struct poll_source *source, const struct poll_settings *settings)
{
	struct poll_plan *plan = calloc(1, sizeof(*plan));

	*out = plan;
	if (!plan)
		return -ENOMEM;
	plan->source = *source;
	plan->settings = *settings;
	plan->tokens = settings->questions_a_second;
	plan->ports = calloc(source->n_places, sizeof(*plan->ports));
	plan->agents = calloc(source->n_agents, sizeof(*plan->agents));
	plan->links = calloc(source->n_agents, sizeof(*plan->links));
	plan->pairs.first = plan->agents && plan->links ? calloc(hash_lists(source->n_places), sizeof(*plan->pairs.first)) : NULL;
	plan->pairs.mask = hash_lists(source->n_places) - 1;
	plan->pairs.all = plan->links;
	for (uint32_t i = 0; plan->pairs.first && i < source->n_agents; i++)
		plan->links[i] = &plan->agents[i].links;
	if (plan->ports && plan->pairs.first && source->n_agents <= 1u << AGENT_BITS)
		return 0;
	poll_plan_free(plan);
	*out = NULL;
	return -ENOMEM;
}

size_t
poll_plan_memory(uint32_t n_places, uint32_t n_agents)
{
	return sizeof(struct poll_plan) + n_places * sizeof(struct planned_port) +
	    n_agents * (sizeof(struct planned_agent) + sizeof(struct poll_links *) +
			   POLL_LINKS_MAX * sizeof(struct poll_link)) + /* that are being read, and those that were: */
	    n_places * POLL_LINKS_A_PORT * sizeof(struct poll_link) + hash_lists(n_places) * sizeof(uint32_t);
}

/* ---- who is due ---- */

static uint32_t
find_target(const struct poll_settings *s, const char *address)
{
	for (size_t i = 0; i < s->n_targets; i++)
		if (prefix_holds_text(&s->targets[i].agents, address))
			return (uint32_t)i;
	return NO_TARGET;
}

static void
forget_job(struct poll_plan *plan, struct planned_agent *a)
{
	if (a->job == 0)
		return;
	a->job = 0;
	plan->in_flight--;
	plan->unanswered -= !a->was_answering;
}

/* The agent of that place, which may be another one than before. */
static struct planned_agent *
agent_of(struct poll_plan *plan, const struct polled_place *p)
{
	struct planned_agent *a = &plan->agents[p->agent];

	if (a->number == p->number)
		return a;
	forget_job(plan, a);
	poll_plan_forget_links(plan, a);
	*a = (struct planned_agent){.number = p->number, .target = find_target(&plan->settings, p->address)};
	strncpy(a->address, p->address, sizeof(a->address) - 1);
	return a;
}

static unsigned
due_parts(const struct poll_plan *plan, const struct planned_port *port, const struct polled_place *p, uint64_t now_us)
{
	const struct poll_settings *s = &plan->settings;

	if (port->named_us == 0 || now_us - port->named_us >= s->names_us)
		return POLLED_NAMES;
	if (!p->sends_counters && now_us - port->met_us >= POLL_PATIENCE_US &&
	    (port->counted_us == 0 || now_us >= port->counted_us + s->counters_us))
		return POLLED_COUNTERS;
	return 0;
}

static void
poll_plan_look_at(struct poll_plan *plan, const struct polled_place *p, uint64_t now_us)
{
	struct planned_agent *a = agent_of(plan, p);
	struct planned_port *port = &plan->ports[p->place];
	unsigned parts;

	if (a->target == NO_TARGET)
		return;
	a->seen_us = now_us;
	if (port->number != p->number || port->if_index != p->if_index)
		*port = (struct planned_port){.number = p->number, .if_index = p->if_index, .agent = p->agent, .met_us = now_us};
	if (a->job != 0 || now_us < a->next_us || a->n_list == LIST_MAX)
		return;
	parts = due_parts(plan, port, p, now_us);
	if (parts == 0 || (a->n_list > 0 && a->parts != parts))
		return;
	a->parts = parts;
	a->list[a->n_list++] = p->place;
	a->known.place = p->place;
	a->known.number = p->number;
	a->known.if_index = p->if_index;
}

static void
look_at_all(struct poll_plan *plan, uint64_t now_us)
{
	struct polled_place p;

	for (uint32_t i = 0; i < plan->source.n_agents; i++)
		if (plan->agents[i].job == 0)
			plan->agents[i].n_list = plan->agents[i].at = 0;
	for (uint32_t i = 0; i < plan->source.n_places; i++)
		if (plan->source.place(plan->source.arg, i, &p))
			poll_plan_look_at(plan, &p, now_us);
	for (uint32_t i = 0; i < plan->source.n_agents; i++)
		poll_plan_begin_links(plan, &plan->agents[i], now_us);
	plan->looked_us = now_us;
}

void
poll_plan_set(struct poll_plan *plan, const struct poll_settings *settings)
{
	const uint32_t most_in_flight = plan->settings.most_in_flight;

	plan->settings = *settings;
	plan->settings.most_in_flight = most_in_flight;
	plan->idle_until_us = plan->looked_us = 0;
	for (struct planned_agent *a = plan->agents; a < plan->agents + plan->source.n_agents; a++) {
		forget_job(plan, a);
		a->n_list = a->at = 0;
		a->step = LINKS_READ;
		a->failures = 0;
		a->next_us = 0;
		a->target = find_target(&plan->settings, a->address);
		if (a->target == NO_TARGET)
			poll_plan_forget_links(plan, a);
	}
}

/* ---- questions ---- */

static bool
poll_plan_has_token(struct poll_plan *plan, uint64_t now_us)
{
	double most = plan->settings.questions_a_second;

	if (plan->tokens_us > 0)
		plan->tokens += most * (double)(now_us - plan->tokens_us) / 1e6;
	plan->tokens_us = now_us;
	if (plan->tokens > most)
		plan->tokens = most;
	return plan->tokens >= 1;
}

static bool
may_ask(const struct poll_plan *plan, const struct planned_agent *a, uint64_t now_us)
{
	return a->job == 0 && (a->at < a->n_list || a->step != LINKS_READ) && now_us >= a->next_us &&
	    (a->answers || 2 * plan->unanswered < plan->settings.most_in_flight);
}

static void
ask_ports(const struct poll_plan *plan, struct planned_agent *a, struct poll_job *job)
{
	uint32_t most = a->is_small ? 1 : a->parts & POLLED_NAMES ? POLL_PORTS_NAMED : POLL_PORTS_COUNTED;

	job->parts = a->parts;
	while (job->n_ports < most && a->at < a->n_list)
		job->if_index[job->n_ports++] = plan->ports[a->list[a->at++]].if_index;
}

static void
fill_job(struct poll_plan *plan, struct planned_agent *a, uint64_t now_us, struct poll_job *job)
{
	const struct poll_target *target = &plan->settings.targets[a->target];

	*job = (struct poll_job){
	    .id = ++plan->serial << AGENT_BITS | (uint32_t)(a - plan->agents),
	    .udp_port = target->udp_port,
	    .timeout_ms = TIMEOUT_MS,
	    .as = plan->settings.credentials[target->as],
	};
	memcpy(job->address, a->address, sizeof(job->address));
	if (a->at < a->n_list)
		ask_ports(plan, a, job);
	else
		poll_plan_ask_links(a, job);
	a->asked = job->parts;
	a->n_asked = job->n_ports;
	a->job = job->id;
	a->asked_us = now_us;
	a->was_answering = a->answers;
	plan->in_flight++;
	plan->unanswered += !a->answers;
	plan->tokens--;
}

bool
poll_plan_next(struct poll_plan *plan, uint64_t now_us, struct poll_job *job)
{
	if (now_us < plan->idle_until_us || plan->in_flight >= plan->settings.most_in_flight || !poll_plan_has_token(plan, now_us))
		return false;
	if (plan->looked_us == 0 || now_us - plan->looked_us >= SECOND_US)
		look_at_all(plan, now_us);
	for (uint32_t n = 0; n < plan->source.n_agents; n++) {
		struct planned_agent *a = &plan->agents[plan->next_agent];

		plan->next_agent = (plan->next_agent + 1) % plan->source.n_agents;
		if (!may_ask(plan, a, now_us))
			continue;
		fill_job(plan, a, now_us, job);
		return true;
	}
	plan->idle_until_us = now_us + IDLE_US;
	return false;
}

/* ---- answers ---- */

static void
fail_agent(struct poll_plan *plan, struct planned_agent *a, enum poll_verdict verdict, uint64_t now_us)
{
	uint64_t pause_us = a->failures == 0 ? FIRST_PAUSE_US : LONG_PAUSE_US;

	for (unsigned i = 1; i < a->failures && pause_us < PAUSE_MOST_US; i++)
		pause_us *= 2;
	a->next_us = now_us + (pause_us < PAUSE_MOST_US ? pause_us : PAUSE_MOST_US);
	if (a->known.silent_us == 0)
		a->known.silent_us = now_us;
	a->has_news |= a->failures++ == 0 || a->known.reason != verdict;
	a->known.reason = (uint8_t)verdict;
	a->answers = false;
	a->n_list = a->at = 0;
	forget_job(plan, a);
}

static void
poll_plan_take_names(struct planned_port *port, const struct poll_port *said, uint64_t now_us, struct polled_port *to)
{
	port->named_us = now_us;
	port->names[0] = *said->name ? poll_text_hash(said->name, strlen(said->name)) : 0;
	port->names[1] = *said->description ? poll_text_hash(said->description, strlen(said->description)) : 0;
	if (!said->has_name)
		return;
	to->parts = POLLED_NAMES;
	memcpy(to->name, *said->name ? said->name : said->description, sizeof(to->name));
	memcpy(to->alias, said->alias, sizeof(to->alias));
	to->lag_parent = said->lag_parent == port->if_index ? 0 : said->lag_parent;
}

/* One that does not count in 64 bits is asked again with the names. Where sysUpTime went back, counters may have begun anew
 * with no other sign, for ifCounterDiscontinuityTime is 0 before and after (RFC 2863); that it wraps in 497 days, or that
 * the agent alone was started again, costs one interval. */
static void
poll_plan_take_counters(const struct poll_plan *plan, struct planned_port *port, uint32_t uptime_cs, const struct poll_port *said,
    uint64_t now_us, struct polled_port *to)
{
	port->counted_us = now_us;
	if (!said->has_counters) {
		port->counted_us += plan->settings.names_us;
		return;
	}
	to->parts = POLLED_COUNTERS;
	to->speed_bps = said->speed_mbps > 0 ? said->speed_mbps * UINT64_C(1000000) : said->speed_bps;
	to->admin_status = (uint8_t)said->admin_status;
	to->oper_status = (uint8_t)said->oper_status;
	to->in = said->in;
	to->out = said->out;
	to->began_anew = port->has_counted &&
	    (port->discontinuity_cs != said->discontinuity_cs || uptime_cs < port->uptime_cs);
	port->has_counted = true;
	port->uptime_cs = uptime_cs;
	port->discontinuity_cs = said->discontinuity_cs;
}

static void
poll_plan_take_port(struct poll_plan *plan, struct planned_agent *a, uint32_t place, uint32_t uptime_cs, const struct poll_port *said,
    uint64_t now_us, struct polled_port *to)
{
	struct planned_port *port = &plan->ports[place];

	*to = (struct polled_port){.place = place, .number = port->number, .if_index = port->if_index};
	if (port->number != a->number)
		return;
	a->has_new_ports |= (a->asked & POLLED_NAMES) && port->named_us == 0;
	if (a->asked & POLLED_NAMES)
		poll_plan_take_names(port, said, now_us, to);
	else
		poll_plan_take_counters(plan, port, uptime_cs, said, now_us, to);
}

static void
poll_plan_note_answer(struct planned_agent *a, const struct poll_answer *answer, uint64_t now_us)
{
	struct polled_agent *known = &a->known;

	a->has_news |= !a->answers;
	if (a->asked & (POLLED_NAMES | POLLED_COUNTERS)) {
		*(a->asked & POLLED_NAMES ? &known->names_us : &known->counters_us) = now_us;
		a->has_news |= strcmp(known->name, answer->system_name) != 0;
		memcpy(known->name, answer->system_name, sizeof(known->name));
	}
	known->silent_us = 0;
	a->answers = true;
	a->failures = 0;
}

bool
poll_plan_news(struct poll_plan *plan, uint32_t id, uint64_t now_us, struct polled_agent *to)
{
	struct planned_agent *a = &plan->agents[id & ((1u << AGENT_BITS) - 1)];

	if (!a->has_news && now_us - a->told_us < TOLD_US)
		return false;
	a->has_news = false;
	a->told_us = now_us;
	*to = a->known;
	return true;
}

bool
poll_plan_answer(struct poll_plan *plan, uint64_t now_us, const struct poll_answer *answer, poll_take *take, void *arg)
{
	uint32_t place = answer->id & ((1u << AGENT_BITS) - 1), first;
	struct planned_agent *a = place < plan->source.n_agents ? &plan->agents[place] : NULL;
	const struct taking to = {take, arg, now_us};
	bool is_of_links;

	if (!a || answer->id == 0 || a->job != answer->id)
		return false;
	plan->idle_until_us = 0;
	is_of_links = (a->asked & (POLL_NEIGHBOURS | POLL_LOCAL_PORTS)) != 0;
	if (is_of_links && answer->verdict != POLL_ANSWERED)
		poll_plan_give_up_links(a, now_us);
	if (is_of_links && (answer->verdict == POLL_GARBAGE || answer->verdict == POLL_REFUSED || answer->verdict == POLL_TOO_BIG)) {
		forget_job(plan, a); /* it may say all else */
		return true;
	}
	if (answer->verdict == POLL_TOO_BIG && !a->is_small) {
		a->is_small = true;
		a->at -= a->n_asked;
		forget_job(plan, a);
		return true;
	}
	if (answer->verdict != POLL_ANSWERED) {
		fail_agent(plan, a, answer->verdict, now_us);
		return true;
	}
	forget_job(plan, a);
	poll_plan_note_answer(a, answer, now_us);
	if (is_of_links) {
		poll_plan_take_links(plan, a, answer, &to);
		return true;
	}
	first = a->at - a->n_asked;
	for (uint32_t i = 0; i < a->n_asked; i++) {
		struct polled_port port;

		poll_plan_take_port(plan, a, a->list[first + i], answer->uptime_cs, &answer->ports[i], now_us, &port);
		take(arg, &port, answer->asked_us + (answer->answered_us - answer->asked_us) / 2);
	}
	return true;
}

uint64_t
poll_plan_crowded(const struct poll_plan *plan)
{
	return plan->n_crowded;
}

unsigned
poll_plan_expire(struct poll_plan *plan, uint64_t now_us)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < plan->source.n_agents; i++)
		if (plan->agents[i].job != 0 && now_us - plan->agents[i].asked_us > EXPIRED_US) {
			fail_agent(plan, &plan->agents[i], POLL_SILENT, now_us);
			n++;
		}
	return n;
}
