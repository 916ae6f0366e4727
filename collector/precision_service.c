#include "collector/precision_service.h"

#include "collector/poll/poll_process.h"
#include "collector/precision_lists.h"
#include "collector/precision_settings.h"
#include "collector/precision/steering_sflow.h"
#include "collector/query/query.h"
#include "common/log.h"
#include "common/text.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM "precision"
#define SECOND_US UINT64_C(1000000)

enum {
	LEAST_PRIORITY = 19,
	DECIDE_AFTER_S = 10, /* of a period's end: what comes later is not used */
	LOADS_S = 60,	     /* counters of so long say what passes now */
	RELIEVE_EVERY_S = 30,
	TURN_MS = 500,
	LEAVE_MS = 2000,
	ANSWER_MS = 2000,
	GIVE_UP_S = 15, /* the process that had the question ended */
	IN_FLIGHT = 32,
	EVENTS_MOST = 1024,
};

enum precision_stat_id { STAT_DECISIONS, STAT_MOVES, STAT_QUESTIONS, STAT_SETS, STAT_NO_ANSWER, STAT_REFUSED, STAT_NOT_READ,
	STAT_EVENTS_LOST, STAT_NO_ROOM, N_STATS };

static const struct stat_name stat_names[N_STATS] = {
    [STAT_DECISIONS] = {"precision.decisions", "times skips were planned, at the end of a period"},
    [STAT_MOVES] = {"precision.moves", "times the plan wanted another skip of a port"},
    [STAT_QUESTIONS] = {"precision.questions", "SNMP requests to switches, SETs included"},
    [STAT_SETS] = {"precision.sets", "SNMP SETs: of leases, and of requested skips"},
    [STAT_NO_ANSWER] = {"precision.no_answer", "requests that were not answered in time, or wrongly"},
    [STAT_REFUSED] = {"precision.refused", "requests that a switch refused"},
    [STAT_NOT_READ] = {"precision.not_read", "lists and counters of a period that could not be read from the store; skips stay"},
    [STAT_EVENTS_LOST] = {"precision.events_lost", "events of skips without room until they are stored"},
    [STAT_NO_ROOM] = {"precision.no_room", "times there was no room for a further port or switch"},
};

struct agent_place {
	char address[ENDPOINT_TEXT];
	char id_text[QUERY_ID_TEXT];
	uint32_t target;
};

struct port_sight {
	double demand[PRECISION_GOALS_MAX]; /* samples of a period; 0: not known yet */
	double pooled_skip[PRECISION_GOALS_MAX]; /* of goals over all ports: no larger skip; 0: none */
	struct store_precision row; /* of the goal that wants most */
	char name[EASE_NAME_MAX + 1];
	bool is_counted; /* lists of all ports count it */
	bool is_asked;	 /* by one of the goals that hold now */
};

struct exchange {
	bool is_used, is_sflow;
	uint32_t id;
	uint64_t until_us;
	struct steering_job job;
	uint32_t sflow_switch; /* and what it was asked, without credentials */
	struct poll_job sflow_job;
};

struct precision_service {
	char *store;
	const struct clock *clock;
	struct precision_process process;
	pthread_t thread;
	int stop_fd; /* eventfd: stop, or other settings */
	_Atomic bool stopping;
	_Atomic(struct precision_settings *) fresh;
	/* of the thread */
	struct precision_settings *settings;
	struct steering *steering;
	struct sflow_steering sflow;
	struct agent_place places[STEERING_AGENTS_MAX];
	struct port_sight sights[STEERING_PORTS_MAX];
	bool is_of[STEERING_PORTS_MAX]; /* the goal that is judged */
	uint64_t ended[PRECISION_GOALS_MAX]; /* the period of the goal that was judged last, counted since 1970; 0: none */
	uint64_t judged_us[PRECISION_GOALS_MAX]; /* monotonic */
	uint64_t relieved_us;
	struct exchange exchanges[IN_FLIGHT];
	uint32_t serial;
	struct poll_job question;
	struct poll_answer answer;
	/* between both threads, under lock */
	pthread_mutex_t lock;
	struct collector_told events[EVENTS_MOST]; /* a ring */
	uint64_t n_told, n_taken;
	struct store_precision *rows; /* of the latest decision, which nobody has written */
	size_t n_rows;
	struct stat_set stats;
	_Atomic uint64_t values[N_STATS];
};

/* ---- the configuration ---- */

static const char *
service_reason_of(const struct precision_service *p, uint32_t i)
{
	const struct steered_port *port = &p->steering->ports[i];
	const struct precision_port *plan = &p->steering->plans[i];
	enum steering_trouble trouble = steering_trouble_of(p->steering, i);

	if (trouble != STEERING_FINE)
		return steering_trouble_text(trouble);
	if (p->sights[i].row.n_rows >> 32)
		return "rows too equal to be told apart";
	if (port->reason == 3 && port->requested) /* easePortMeanSkipReason: capped */
		return "the agent's own limit";
	if (plan->is_cut)
		return p->settings->budget.all_per_s == 0 ? "the agent's budget" : "budget";
	return port->want_skip != 0 && !port->is_set ? "on its way" : "";
}

/* Hands over a row of each port that a goal asks for. */
static void
hand_over_rows(struct precision_service *p)
{
	struct store_precision *rows = calloc(p->steering->n_ports + 1, sizeof(*rows)), *before;
	size_t n = 0;

	for (uint32_t i = 0; rows && i < p->steering->n_ports; i++) {
		const struct steered_port *port = &p->steering->ports[i];
		struct store_precision *row = &rows[n];

		if (p->sights[i].row.agent == 0)
			continue;
		*row = p->sights[i].row;
		row->n_rows &= UINT32_MAX;
		row->decided_us = clock_wall_us(p->clock);
		row->configured_skip = port->configured;
		row->requested_skip = port->requested;
		row->skip_in_force = port->in_force;
		snprintf(row->reason, sizeof(row->reason), "%s", service_reason_of(p, i));
		n++;
	}
	pthread_mutex_lock(&p->lock);
	before = p->rows;
	p->rows = rows;
	p->n_rows = n;
	pthread_mutex_unlock(&p->lock);
	free(before);
}

/* The switch of another make that has this address, given back or not; UINT32_MAX: there is none. */
static uint32_t
find_sflow_switch(const struct precision_service *p, const char *address)
{
	for (uint32_t i = 0; i < p->sflow.n; i++)
		if (strcmp(p->places[p->sflow.switches[i].agent].address, address) == 0)
			return i;
	return UINT32_MAX;
}

/* Those that are written down, while there are goals; others are given back. */
static void
choose_sflow_switches(struct precision_service *p)
{
	const struct precision_settings *s = p->settings;

	for (uint32_t i = 0; i < p->sflow.n; i++) {
		uint32_t target = precision_target_of(s, p->places[p->sflow.switches[i].agent].address);

		if (s->n_goals == 0 || target == UINT32_MAX || s->targets[target].to.to_octets == 0)
			sflow_lease_release(&p->sflow, i);
	}
	for (uint32_t t = 0; s->n_goals > 0 && t < s->n_targets; t++) {
		const struct precision_target *target = &s->targets[t];
		uint32_t i = target->to.to_octets > 0 ? find_sflow_switch(p, target->address) : UINT32_MAX;

		if (i != UINT32_MAX)
			sflow_lease_direct(&p->sflow, i, &target->to, target->sflow_skip);
		if (target->to.to_octets == 0 || i != UINT32_MAX)
			continue;
		i = sflow_lease_add(&p->sflow, &target->to, target->sflow_skip);
		if (i == UINT32_MAX) {
			stat_add(&p->stats, STAT_NO_ROOM, 1);
			return;
		}
		snprintf(p->places[p->sflow.switches[i].agent].address, ENDPOINT_TEXT, "%s", target->address);
		p->places[p->sflow.switches[i].agent].target = t;
	}
}

/* Goals that are gone want nothing any more; if any has changed all begin anew, as their places are other ones. */
static void
take_settings(struct precision_service *p)
{
	struct precision_settings *fresh = atomic_exchange(&p->fresh, NULL);
	bool are_same;

	if (!fresh)
		return;
	are_same = precision_have_same_goals(p->settings, fresh);
	precision_settings_free(p->settings);
	p->settings = fresh;
	/* Credentials go to nobody but whom they are written down for now, and at once: others may have been refused. */
	for (uint32_t a = 0; a < p->steering->n_agents; a++)
		p->places[a].target = precision_target_of(fresh, p->places[a].address), p->steering->agents[a].retry_us = 0;
	choose_sflow_switches(p);
	if (are_same)
		return;
	/* What was found for goals before is shown no longer. */
	for (uint32_t i = 0; i < p->steering->n_ports; i++)
		p->sights[i].row.goal[0] = '\0';
	hand_over_rows(p);
	for (uint32_t i = 0; i < p->steering->n_ports; i++)
		p->sights[i].row.agent = 0;
	memset(p->ended, 0, sizeof(p->ended));
	memset(p->judged_us, 0, sizeof(p->judged_us));
	for (uint32_t i = 0; i < p->steering->n_ports; i++) {
		memset(p->sights[i].demand, 0, sizeof(p->sights[i].demand));
		memset(p->sights[i].pooled_skip, 0, sizeof(p->sights[i].pooled_skip));
		p->sights[i].is_asked = false;
		p->steering->plans[i].needed_per_s = 0;
		if (fresh->n_goals == 0)
			steering_want(p->steering, i, 0, 0, PRECISION_STAYS);
	}
}

/* ---- what is told ---- */

static void
tell_event(void *arg, const struct steering_event *event)
{
	struct precision_service *p = arg;
	struct collector_told told = {.agent = event->agent, .if_index = event->if_index, .time_us = clock_wall_us(p->clock)};
	const char *why = precision_move_name(event->why);

	if (event->what == STEERING_TAKEN)
		snprintf(told.text, sizeof(told.text), "skips are set again");
	else if (event->what == STEERING_TROUBLE)
		snprintf(told.text, sizeof(told.text), "skips are not set: %s", event->trouble != STEERING_FINE
			? steering_trouble_text(event->trouble) : "the skip does not take");
	else
		snprintf(told.text, sizeof(told.text), "skip %u to %u: %s", event->before, event->after, event->what == STEERING_LOST
			? "lost" : event->what == STEERING_RETURNED ? "returned" : *why ? why : "wanted");
	if (told.agent < 0) { /* a switch of another make before its first sample: no event can be of it */
		log_info_limited(ROOM, "the switch at %s, if %llu: %s", p->places[p->sflow.switches[-1 - told.agent].agent].address,
		    (unsigned long long)told.if_index, told.text);
		return;
	}
	pthread_mutex_lock(&p->lock);
	if (p->n_told - p->n_taken < EVENTS_MOST)
		p->events[p->n_told++ % EVENTS_MOST] = told;
	else
		stat_add(&p->stats, STAT_EVENTS_LOST, 1);
	pthread_mutex_unlock(&p->lock);
	log_info_limited(ROOM, "agent %lld if %llu: %s", (long long)told.agent, (unsigned long long)told.if_index, told.text);
}

bool
precision_next_event(void *precision, struct collector_told *told)
{
	struct precision_service *p = precision;
	bool is_there;

	pthread_mutex_lock(&p->lock);
	is_there = p->n_taken < p->n_told;
	if (is_there)
		*told = p->events[p->n_taken++ % EVENTS_MOST];
	pthread_mutex_unlock(&p->lock);
	return is_there;
}

void
precision_flush(void *precision, struct store_batch *batch)
{
	struct precision_service *p = precision;
	struct store_precision *rows;
	size_t n;

	pthread_mutex_lock(&p->lock);
	rows = p->rows;
	n = p->n_rows;
	p->rows = NULL;
	pthread_mutex_unlock(&p->lock);
	for (size_t i = 0; rows && i < n && store_batch_reserve(batch, STORE_PRECISION, 1) == 0; i++)
		*(struct store_precision *)store_batch_add(batch, STORE_PRECISION) = rows[i];
	free(rows); /* without room the next decision has them */
}

/* ---- what the store shows ---- */

static bool
service_is_named(const struct precision_goal *goal, const struct query_port *port)
{
	if (*goal->agent && strcmp(goal->agent, port->agent->name) != 0 && strcmp(goal->agent, port->agent->address) != 0)
		return false;
	return !*goal->port || strcmp(goal->port, port->name) == 0;
}

static bool
is_asked(const struct precision_settings *s, const struct query_port *port)
{
	for (size_t g = 0; g < s->n_goals; g++)
		if (service_is_named(&s->goals[g], port))
			return true;
	return false;
}

/* Whom the port's switch is asked as; UINT32_MAX: its skips are not ours to set. */
static uint32_t
target_of_port(const struct precision_service *p, const struct query_port *port)
{
	bool is_sflow = port->agent->boot >= QUERY_SFLOW_BOOTS;
	uint32_t i = is_sflow ? find_sflow_switch(p, port->agent->address) : 0;

	if (port->if_index > UINT32_MAX || (is_sflow && (i == UINT32_MAX || p->sflow.switches[i].is_leaving)))
		return UINT32_MAX;
	return precision_target_of(p->settings, port->agent->address);
}

/* Finds or adds the port; UINT32_MAX: there is no room, or it is not ours to steer. */
static uint32_t
find_steered_port(struct precision_service *p, const struct query_port *port)
{
	uint32_t at;

	if (target_of_port(p, port) == UINT32_MAX)
		return UINT32_MAX;
	if (port->agent->boot >= QUERY_SFLOW_BOOTS)
		sflow_lease_set_agent(&p->sflow, find_sflow_switch(p, port->agent->address), port->agent->id);
	at = steering_port(p->steering, port->agent->id, (uint32_t)port->if_index);
	stat_add(&p->stats, STAT_NO_ROOM, at == UINT32_MAX);
	return at;
}

/* The same, with what is known of its agent. */
static uint32_t
service_place_port(struct precision_service *p, const struct query_port *port, uint64_t mono_us)
{
	uint32_t i = find_steered_port(p, port);
	struct agent_place *place;

	if (i == UINT32_MAX)
		return i;
	place = &p->places[p->steering->ports[i].agent];
	snprintf(place->address, sizeof(place->address), "%.*s", (int)sizeof(place->address) - 1, port->agent->address);
	snprintf(place->id_text, sizeof(place->id_text), "%s", port->agent->id_text);
	place->target = target_of_port(p, port);
	if (port->agent->boot < QUERY_SFLOW_BOOTS)
		steering_note_boot(p->steering, port->agent->id, port->agent->boot, mono_us);
	snprintf(p->sights[i].name, sizeof(p->sights[i].name), "%s", port->name);
	p->sights[i].is_counted = port->edge;
	p->sights[i].is_asked = true;
	return i;
}

static struct query *
service_open_store(struct precision_service *p)
{
	const struct query_limits limits = {.cancel = &p->stopping};
	char error[QUERY_ERROR_TEXT];
	struct query *query;

	if (query_open(p->store, &query, error, sizeof(error)) < 0) {
		stat_add(&p->stats, STAT_NOT_READ, 1);
		log_warn_limited(ROOM, "the store cannot be read, and skips stay: %s", error);
		return NULL;
	}
	query_limit(query, &limits);
	return query;
}

/* Frames that its samples may stand for, by chance, and though as many were lost on the way. */
static double
sampled_at_most(const struct query_port *port, uint32_t skip)
{
	const struct estimate_sums *in = &port->side[EASE_IN].all, *out = &port->side[EASE_OUT].all;

	return 2 * (in->w + out->w + 5 * sqrt(in->w2 + out->w2) + 10.0 * skip);
}

/* Reads what passed at each port in the last minute before until_us. */
static int
read_loads(struct precision_service *p, struct query *query, uint64_t until_us, uint64_t mono_us)
{
	struct report_options options = report_default_options();
	int err;

	options.has_from = options.has_to = true;
	options.from_us = until_us - LOADS_S * SECOND_US;
	options.to_us = until_us;
	err = query_begin(query, &options, clock_wall_us(p->clock));
	if (err == 0)
		err = query_windows(query);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++) {
		const struct query_port *port = &query->ports[i];
		uint32_t at = is_asked(p->settings, port) ? service_place_port(p, port, mono_us) : UINT32_MAX;
		struct precision_port *plan = at != UINT32_MAX ? &p->steering->plans[at] : NULL;

		if (!plan)
			continue;
		plan->listed_pkts_s = (query_listed(port)->pool_pkts + query_listed_cut(port)->pkts) / LOADS_S;
		plan->sampled_pkts_s = (port->side[EASE_IN].pool_pkts + port->side[EASE_OUT].pool_pkts + port->cut[EASE_IN].pkts +
		    port->cut[EASE_OUT].pkts) / LOADS_S;
		plan->sent_pkts_s = fmin(plan->sampled_pkts_s, sampled_at_most(port, plan->skip) / LOADS_S);
	}
	if (err < 0 && err != -ENOENT) {
		stat_add(&p->stats, STAT_NOT_READ, 1);
		log_warn_limited(ROOM, "the store cannot be read, and skips stay: %s", query->error);
	}
	return err;
}

/* ---- a period's end ---- */

static void
note_sight(struct precision_service *p, uint32_t i, const struct precision_goal *goal, const struct precision_list *list,
    double demand, double samples)
{
	struct store_precision *row = &p->sights[i].row;
	double wanted_per_s = demand / goal->period_s;

	if (row->wanted_per_s > wanted_per_s && strcmp(row->goal, goal->text) != 0)
		return; /* another goal wants more */
	*row = (struct store_precision){.agent = p->steering->agents[p->steering->ports[i].agent].id,
	    .if_index = p->steering->ports[i].if_index, .wanted_per_s = (uint64_t)ceil(wanted_per_s),
	    .had_per_s = (uint64_t)(samples / goal->period_s), .width_wanted = (uint64_t)(goal->width * 10000),
	    .width_reached = (uint64_t)fmin(1e9, precision_reached(goal, list) * 10000), .n_rows = list->n_rows};
	if (demand >= PRECISION_MOST_DEMAND)
		row->n_rows |= (uint64_t)1 << 32; /* rows that cannot be told apart */
	snprintf(row->goal, sizeof(row->goal), "%s", goal->text);
}

/* Reads the goal's list of each port; a port without samples and frames is left as it is. */
static void
judge_each(struct precision_service *p, struct query *query, size_t g, uint64_t from_us)
{
	const struct precision_goal *goal = &p->settings->goals[g];
	struct precision_row rows[PRECISION_TOP_MAX];
	struct precision_list list;
	char filter[96];

	for (uint32_t i = 0; i < p->steering->n_ports && !atomic_load(&p->stopping); i++) {
		const struct steered_port *port = &p->steering->ports[i];

		if (!p->is_of[i])
			continue;
		snprintf(filter, sizeof(filter), "agent %s and if %u", p->places[port->agent].id_text, port->if_index);
		if (precision_read_list(query, goal, filter, from_us, clock_wall_us(p->clock), rows, &list) < 0) {
			stat_add(&p->stats, STAT_NOT_READ, 1);
			log_warn_limited(ROOM, "a list cannot be read: %s", query->error);
			continue;
		}
		if (list.pkts <= 0 && list.samples <= 0)
			continue;
		p->sights[i].demand[g] = precision_demand(goal, &list, p->sights[i].demand[g]);
		note_sight(p, i, goal, &list, p->sights[i].demand[g], list.samples);
	}
}

/* A list of all ports together gives each of them a largest skip. */
static void
judge_pooled(struct precision_service *p, struct query *query, size_t g, uint64_t from_us)
{
	const struct precision_goal *goal = &p->settings->goals[g];
	struct precision_row rows[PRECISION_TOP_MAX];
	struct precision_list list;
	double skip;

	if (precision_read_list(query, goal, "", from_us, clock_wall_us(p->clock), rows, &list) < 0) {
		stat_add(&p->stats, STAT_NOT_READ, 1);
		return;
	}
	skip = precision_pooled_skip(goal, &list);
	for (uint32_t i = 0; i < p->steering->n_ports; i++)
		if (p->is_of[i] && p->sights[i].is_counted && isfinite(skip)) {
			p->sights[i].pooled_skip[g] = skip;
			p->sights[i].demand[g] = 1e-6; /* of its own it wants nothing */
			note_sight(p, i, goal, &list, p->steering->plans[i].listed_pkts_s / skip * goal->period_s, list.samples);
		}
}

static bool
find_ports_of(struct precision_service *p, const struct query *query, const struct precision_goal *goal)
{
	bool any = false;

	memset(p->is_of, 0, sizeof(p->is_of));
	for (size_t i = 0; i < query->n_ports; i++) {
		const struct query_port *port = &query->ports[i];
		uint32_t at = service_is_named(goal, port) ? find_steered_port(p, port) : UINT32_MAX;

		if (at != UINT32_MAX)
			p->is_of[at] = any = true;
	}
	return any;
}

/* The goals whose period has ended by then. */
static unsigned
find_ended(const struct precision_service *p, uint64_t wall_us, uint64_t mono_us, uint64_t periods[PRECISION_GOALS_MAX])
{
	unsigned ended = 0;

	for (size_t g = 0; g < p->settings->n_goals; g++) {
		uint64_t period_us = p->settings->goals[g].period_s * SECOND_US;

		periods[g] = (wall_us - DECIDE_AFTER_S * SECOND_US) / period_us;
		/* A clock that steps ends no period before its time. */
		if (periods[g] != p->ended[g] && mono_us >= p->judged_us[g] + (p->ended[g] ? period_us / 2 : 0))
			ended |= 1u << g;
	}
	return ended;
}

static void
sum_up_needs(struct precision_service *p)
{
	for (uint32_t i = 0; i < p->steering->n_ports; i++) {
		double needed = 0, most_skip = INFINITY;

		for (size_t g = 0; g < p->settings->n_goals; g++) {
			needed = fmax(needed, PRECISION_MARGIN * p->sights[i].demand[g] / p->settings->goals[g].period_s);
			if (p->sights[i].pooled_skip[g] > 0)
				most_skip = fmin(most_skip, p->sights[i].pooled_skip[g]);
		}
		p->steering->plans[i].needed_per_s = needed;
		p->steering->plans[i].most_skip = most_skip;
	}
}

static void
carry_out(struct precision_service *p)
{
	for (uint32_t i = 0; i < p->steering->n_ports; i++) {
		const struct precision_port *plan = &p->steering->plans[i];

		if (plan->move == PRECISION_STAYS || plan->to_skip == plan->skip)
			continue;
		stat_add(&p->stats, STAT_MOVES, 1);
		steering_want(p->steering, i, plan->to_skip, plan->to_cap, plan->move);
	}
}

static void
decide_skips(struct precision_service *p, uint64_t mono_us, unsigned ended, const uint64_t periods[PRECISION_GOALS_MAX])
{
	struct query *query = service_open_store(p);
	bool was_judged = false, was_read = false;

	if (!query)
		return;
	for (size_t g = 0; g < p->settings->n_goals; g++) {
		const struct precision_goal *goal = &p->settings->goals[g];
		uint64_t end_us = periods[g] * goal->period_s * SECOND_US;
		bool is_first = p->ended[g] == 0; /* of which only a part was seen */

		if (!(ended >> g & 1) || read_loads(p, query, end_us, mono_us) < 0)
			continue;
		was_read = true;
		p->ended[g] = periods[g];
		p->judged_us[g] = mono_us;
		if (is_first || !find_ports_of(p, query, goal))
			continue;
		if (goal->of_all_ports)
			judge_pooled(p, query, g, end_us - goal->period_s * SECOND_US);
		else
			judge_each(p, query, g, end_us - goal->period_s * SECOND_US);
		was_judged = true;
	}
	query_close(query);
	/* What goals before these asked for is given back, also if these have no port. */
	for (uint32_t i = 0; was_read && i < p->steering->n_ports; i++)
		if (!p->sights[i].is_asked && p->steering->ports[i].want_skip > 0)
			steering_want(p->steering, i, 0, 0, PRECISION_STAYS);
	if (!was_judged)
		return;
	sum_up_needs(p);
	stat_add(&p->stats, STAT_DECISIONS, 1);
	if (precision_decide(p->steering->plans, p->steering->n_ports, &p->settings->budget, mono_us) > 0)
		carry_out(p);
	hand_over_rows(p);
}

/* Between: the budget is held by what the last minute's counters say. */
static void
service_relieve_budget(struct precision_service *p, uint64_t wall_us, uint64_t mono_us)
{
	struct query *query;

	if (mono_us < p->relieved_us + RELIEVE_EVERY_S * SECOND_US ||
	    (p->settings->budget.all_per_s == 0 && p->settings->budget.agent_per_s == 0))
		return;
	p->relieved_us = mono_us;
	query = service_open_store(p);
	if (query && read_loads(p, query, (wall_us - DECIDE_AFTER_S * SECOND_US) / (60 * SECOND_US) * 60 * SECOND_US, mono_us) == 0 &&
	    precision_relieve(p->steering->plans, p->steering->n_ports, &p->settings->budget, mono_us) > 0)
		carry_out(p);
	query_close(query);
}

/* ---- switches ---- */

/* Sends the question, which all but address and credentials are in, to a switch. */
static void
send_question(struct precision_service *p, struct exchange *e, const struct agent_place *place, bool is_set, uint64_t mono_us)
{
	const struct precision_target *target = &p->settings->targets[place->target];
	struct poll_job *q = &p->question;

	e->is_used = true;
	e->id = q->id = ++p->serial;
	e->until_us = mono_us + GIVE_UP_S * SECOND_US;
	q->udp_port = target->udp_port;
	q->timeout_ms = ANSWER_MS;
	memcpy(q->address, place->address, sizeof(q->address));
	q->as = p->settings->credentials[target->as];
	stat_add(&p->stats, STAT_QUESTIONS, 1);
	stat_add(&p->stats, STAT_SETS, is_set);
	if (send(p->process.fd, q, sizeof(*q), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		e->until_us = mono_us; /* given up at once */
	explicit_bzero(&q->as, sizeof(q->as));
}

static void
send_job(struct precision_service *p, struct exchange *e, uint64_t mono_us)
{
	struct poll_job *q = &p->question;

	memset(q, 0, sizeof(*q));
	q->parts = e->job.kind == STEERING_READ ? POLL_LEASE : POLL_REQUEST;
	q->n_ports = e->job.n_ports;
	snprintf(q->request.owner, sizeof(q->request.owner), "%s", p->steering->owner);
	q->request.ttl_s = e->job.ttl_s;
	for (uint32_t i = 0; i < e->job.n_ports; i++) {
		q->if_index[i] = e->job.if_index[i];
		q->request.mean_skip[i] = e->job.skip[i];
		q->request.max_samples_per_s[i] = e->job.cap[i];
	}
	e->is_sflow = false;
	send_question(p, e, &p->places[e->job.agent], e->job.kind == STEERING_ASK, mono_us);
}

static struct exchange *
service_free_exchange(struct precision_service *p)
{
	for (size_t i = 0; i < IN_FLIGHT; i++)
		if (!p->exchanges[i].is_used)
			return &p->exchanges[i];
	return NULL;
}

static void
send_due(struct precision_service *p, uint64_t mono_us)
{
	struct exchange *e;

	while ((e = service_free_exchange(p)) != NULL && steering_next(p->steering, mono_us, &e->job)) {
		if (p->places[e->job.agent].target < p->settings->n_targets) {
			send_job(p, e, mono_us);
			continue;
		}
		steering_take(p->steering, mono_us, &e->job, &(struct steering_answer){.has_answer = false});
	}
	while ((e = service_free_exchange(p)) != NULL && sflow_lease_next(&p->sflow, mono_us, &e->sflow_switch, &e->sflow_job)) {
		const struct agent_place *place = &p->places[p->sflow.switches[e->sflow_switch].agent];

		if (place->target < p->settings->n_targets) {
			e->is_sflow = true;
			p->question = e->sflow_job;
			send_question(p, e, place, e->sflow_job.parts == POLL_SFLOW_SET, mono_us);
			continue;
		}
		sflow_lease_take(&p->sflow, e->sflow_switch, mono_us, &e->sflow_job, &(const struct poll_answer){.verdict = POLL_SILENT});
	}
}

enum { ERROR_AUTHORIZATION = 16 }; /* error-status of RFC 3416 */

static void
service_take_answer(struct precision_service *p, const struct poll_answer *from, struct exchange *e, uint64_t mono_us)
{
	struct steering_answer to = {.has_answer = from->verdict == POLL_ANSWERED || from->verdict == POLL_REFUSED};

	e->is_used = false;
	stat_add(&p->stats, STAT_NO_ANSWER, !to.has_answer);
	stat_add(&p->stats, STAT_REFUSED, from->verdict == POLL_REFUSED);
	if (e->is_sflow) {
		sflow_lease_take(&p->sflow, e->sflow_switch, mono_us, &e->sflow_job, from);
		return;
	}
	if (from->verdict == POLL_REFUSED)
		to.error_status = from->error_status ? from->error_status : ERROR_AUTHORIZATION; /* a Report: it does not know us */
	snprintf(to.owner, sizeof(to.owner), "%.16s", from->request_owner);
	for (uint32_t i = 0; i < e->job.n_ports; i++) {
		const struct poll_port *port = &from->ports[i];

		to.rows[i] = (struct steering_row){port->mean_skip, port->skip_in_force, port->requested_skip, port->requests_held,
		    port->skip_reason};
	}
	steering_take(p->steering, mono_us, &e->job, &to);
}

static void
service_take_answers(struct precision_service *p, uint64_t mono_us)
{
	static const struct poll_answer none = {.verdict = POLL_SILENT};

	while (poll_process_answer(&p->process.fd, &p->answer))
		for (size_t i = 0; i < IN_FLIGHT; i++)
			if (p->exchanges[i].is_used && p->exchanges[i].id == p->answer.id && p->answer.verdict < POLL_N_VERDICTS)
				service_take_answer(p, &p->answer, &p->exchanges[i], mono_us);
	for (size_t i = 0; i < IN_FLIGHT; i++)
		if (p->exchanges[i].is_used && mono_us >= p->exchanges[i].until_us)
			service_take_answer(p, &none, &p->exchanges[i], mono_us);
}

/* ---- the thread ---- */

static void
service_take_turn(struct precision_service *p)
{
	uint64_t wall_us = clock_wall_us(p->clock), mono_us = clock_mono_us(p->clock);
	uint64_t periods[PRECISION_GOALS_MAX];
	unsigned ended;

	take_settings(p);
	service_take_answers(p, mono_us);
	ended = find_ended(p, wall_us, mono_us, periods);
	if (ended)
		decide_skips(p, mono_us, ended, periods);
	else if (p->settings->n_goals > 0)
		service_relieve_budget(p, wall_us, mono_us);
	send_due(p, clock_mono_us(p->clock));
}

static void
return_skips(struct precision_service *p)
{
	uint64_t until_us = clock_mono_us(p->clock) + LEAVE_MS * 1000ull;
	steering_leave(p->steering);
	for (uint32_t i = 0; i < p->sflow.n; i++)
		sflow_lease_release(&p->sflow, i);
	while (!steering_has_left(p->steering) && clock_mono_us(p->clock) < until_us) {
		send_due(p, clock_mono_us(p->clock));
		poll(&(struct pollfd){.fd = p->process.fd, .events = POLLIN}, 1, 100);
		service_take_answers(p, clock_mono_us(p->clock));
	}
	if (!steering_has_left(p->steering))
		log_warn(ROOM, "not all switches have answered: requested skips end there within %d s", STEERING_TTL_S);
}

static void *
run_precision(void *arg)
{
	struct precision_service *p = arg;
	eventfd_t n;

	setpriority(PRIO_PROCESS, (id_t)gettid(), LEAST_PRIORITY);
	choose_sflow_switches(p);
	while (!atomic_load(&p->stopping)) {
		struct pollfd fds[2] = {{.fd = p->stop_fd, .events = POLLIN}, {.fd = p->process.fd, .events = POLLIN}};

		poll(fds, 2, TURN_MS);
		if (fds[0].revents)
			eventfd_read(p->stop_fd, &n);
		if (!atomic_load(&p->stopping))
			service_take_turn(p);
	}
	return_skips(p);
	return NULL;
}

/* ---- opening and closing ---- */

int
precision_process_start(struct precision_process *process, const struct collector_config *config)
{
	*process = (struct precision_process){.fd = -1};
	return config->steers.n > 0 ? poll_process_start(&process->pid, &process->fd) : 0;
}

static void
free_service(struct precision_service *p)
{
	if (p->process.pid > 0)
		poll_process_stop(p->process.pid, p->process.fd);
	if (p->stop_fd >= 0)
		close(p->stop_fd);
	pthread_mutex_destroy(&p->lock);
	precision_settings_free(p->settings);
	precision_settings_free(atomic_load(&p->fresh));
	free(p->steering);
	free(p->rows);
	free(p->store);
	free(p);
}

/* So that two collectors are told apart, each is called by its machine unless the configuration says otherwise. */
static struct steering *
make_steering(struct precision_service *p, const struct collector_config *config)
{
	char owner[STEERING_OWNER] = "";

	if (*config->precision_owner)
		snprintf(owner, sizeof(owner), "%s", config->precision_owner);
	else if (gethostname(owner, sizeof(owner) - 1) < 0 || !*owner)
		snprintf(owner, sizeof(owner), "easecapd");
	return steering_new(owner, tell_event, p);
}

int
precision_open(struct precision_service **out, const struct precision_process *process, const struct collector_config *config,
    const struct clock *clock)
{
	struct precision_service *p = calloc(1, sizeof(*p));
	int r = 0;

	*out = NULL;
	if (!p) {
		if (process->pid > 0)
			poll_process_stop(process->pid, process->fd);
		return -ENOMEM;
	}
	pthread_mutex_init(&p->lock, NULL);
	p->process = *process;
	p->clock = clock;
	p->stats = (struct stat_set){stat_names, N_STATS, p->values};
	p->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->store = strdup(config->store);
	p->settings = precision_settings_new(config);
	p->steering = p->sflow.steering = make_steering(p, config);
	if (p->stop_fd < 0 || !p->store || !p->settings || !p->steering)
		r = -ENOMEM;
	else
		r = -pthread_create(&p->thread, NULL, run_precision, p);
	if (r < 0) {
		free_service(p);
		return r;
	}
	pthread_setname_np(p->thread, ROOM);
	*out = p;
	return 0;
}

size_t
precision_memory(void)
{
	/* rows are made anew while those before wait to be written */
	return sizeof(struct precision_service) + sizeof(struct steering) + 2 * STEERING_PORTS_MAX * sizeof(struct store_precision);
}

void
precision_change(struct precision_service *p, const struct collector_config *config)
{
	struct precision_settings *settings = precision_settings_new(config);

	if (!settings) {
		log_error(ROOM, "reload: out of memory; goals and switches stay as they were");
		return;
	}
	precision_settings_free(atomic_exchange(&p->fresh, settings));
	eventfd_write(p->stop_fd, 1);
}

void
precision_stop(void *precision)
{
	struct precision_service *p = precision;

	if (atomic_exchange(&p->stopping, true))
		return;
	eventfd_write(p->stop_fd, 1);
	pthread_join(p->thread, NULL);
}

void
precision_close(struct precision_service *p)
{
	if (!p)
		return;
	precision_stop(p);
	free_service(p);
}

const struct stat_set *
precision_stats(const struct precision_service *p)
{
	return &p->stats;
}
