#include "collector/precision/steering_private.h"

#include "common/sample.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOREIGN_US (30 * SECOND_US)  /* between two looks whether another one's lease is over */
#define SETTLE_US (2 * SECOND_US)    /* from a SET until what is in force is read */
#define RENEW_US  (STEERING_RENEW_S * SECOND_US)

/* error-status of RFC 3416 */
enum { NO_ACCESS = 6, WRONG_VALUE = 10, NO_CREATION = 11, INCONSISTENT_VALUE = 12, AUTHORIZATION = 16, NOT_WRITABLE = 17 };

enum { REASON_NONE = 0, HELD_TRUE = 1 };

const char *
steering_trouble_text(enum steering_trouble trouble)
{
	static const char *const texts[STEERING_N_TROUBLES] = {"", "not read yet", "the agent takes no requests",
	    "another station has the lease", "the agent refuses", "the agent does not answer", "held: set by hand"};

	return texts[trouble];
}

struct steering *
steering_new(const char *owner, steering_teller *tell, void *arg)
{
	struct steering *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	snprintf(s->owner, sizeof(s->owner), "%.16s", owner);
	s->tell = tell;
	s->arg = arg;
	return s;
}

/* ---- who there is ---- */

static uint32_t
steering_find_agent(const struct steering *s, int64_t id)
{
	uint32_t i = 0;

	while (i < s->n_agents && s->agents[i].id != id)
		i++;
	return i;
}

uint32_t
steering_port(struct steering *s, int64_t agent, uint32_t if_index)
{
	uint32_t a = steering_find_agent(s, agent), of_agent = 0;
	uint32_t *link;

	if (a < s->n_agents)
		for EACH_PORT(s, i, a) {
			if (s->ports[i].if_index == if_index)
				return i;
			of_agent++;
		}
	if (s->n_ports == STEERING_PORTS_MAX || of_agent == STEERING_OF_AGENT || a == STEERING_AGENTS_MAX) {
		s->refused++;
		return UINT32_MAX;
	}
	if (a == s->n_agents)
		s->agents[s->n_agents++] = (struct steered_agent){.id = agent, .trouble = STEERING_NOT_READ};
	s->ports[s->n_ports] = (struct steered_port){.agent = a, .if_index = if_index};
	s->plans[s->n_ports] = (struct precision_port){.agent = a, .most_skip = INFINITY, .skip = 1};
	link = &s->agents[a].first_port;
	while (*link > 0)
		link = &s->ports[*link - 1].next;
	*link = s->n_ports + 1;
	return s->n_ports++;
}

void
steering_tell(const struct steering *s, const struct steered_agent *agent, const struct steered_port *port,
    enum steering_happening what, uint32_t before, uint32_t after)
{
	const struct steering_event event = {.what = what, .agent = agent->id, .if_index = port ? port->if_index : 0,
	    .before = before, .after = after, .why = port ? port->why : PRECISION_STAYS,
	    .trouble = port && port->is_held ? STEERING_HELD : agent->trouble};

	s->tell(s->arg, &event);
}

void
steering_change_trouble(const struct steering *s, struct steered_agent *agent, enum steering_trouble trouble)
{
	enum steering_trouble before = agent->trouble;

	agent->trouble = trouble;
	if (before == trouble)
		return;
	if (trouble != STEERING_FINE)
		steering_tell(s, agent, NULL, STEERING_TROUBLE, 0, 0);
	else if (before != STEERING_NOT_READ)
		steering_tell(s, agent, NULL, STEERING_TAKEN, 0, 0);
}

enum steering_trouble
steering_trouble_of(const struct steering *s, uint32_t port)
{
	const struct steered_agent *agent = &s->agents[s->ports[port].agent];

	if (agent->trouble != STEERING_FINE)
		return agent->trouble;
	return !s->ports[port].is_read ? STEERING_NOT_READ : s->ports[port].is_held ? STEERING_HELD : STEERING_FINE;
}

/* What the plan may do with the port, and which skip it counts with. */
static void
update_plan(struct steering *s, uint32_t i)
{
	const struct steered_port *port = &s->ports[i];
	struct precision_port *plan = &s->plans[i];

	plan->may_move = steering_trouble_of(s, i) == STEERING_FINE;
	plan->skip = port->want_skip && plan->may_move ? port->want_skip
	    : port->in_force && !plan->may_move	       ? port->in_force
						       : port->configured;
	plan->skip = plan->skip == 0 ? 1 : plan->skip < EASE_DRAWN_MEAN_MAX ? plan->skip : EASE_DRAWN_MEAN_MAX;
	plan->cap_per_s = port->want_skip && plan->may_move && !s->agents[port->agent].is_sflow ? port->want_cap : 0;
}

void
steering_update_plans(struct steering *s, uint32_t agent)
{
	for EACH_PORT(s, i, agent)
		update_plan(s, i);
}

/* ---- the lease ---- */

/* All requests of the agent are void. */
static void
lose_lease(struct steering *s, uint32_t agent, uint64_t now_us)
{
	s->agents[agent].is_leased = false;
	for EACH_PORT(s, i, agent) {
		struct steered_port *port = &s->ports[i];

		if (port->is_set && port->want_skip)
			steering_tell(s, &s->agents[agent], port, STEERING_LOST, port->want_skip, port->configured);
		port->is_set = port->want_skip == 0;
		port->requested = 0;
		port->read_us = now_us;
	}
}

void
steering_note_boot(struct steering *s, int64_t agent, int64_t boot, uint64_t now_us)
{
	uint32_t a = steering_find_agent(s, agent);

	if (a == s->n_agents || s->agents[a].boot == boot)
		return;
	if (s->agents[a].boot != 0) {
		lose_lease(s, a, now_us);
		s->agents[a].retry_us = now_us;
	}
	s->agents[a].boot = boot;
}

void
steering_want(struct steering *s, uint32_t i, uint32_t skip, uint32_t cap, enum precision_move why)
{
	struct steered_port *port = &s->ports[i];

	assert(i < s->n_ports);
	if (port->want_skip == skip)
		return;
	port->before = port->want_skip ? port->want_skip : port->configured;
	port->want_skip = skip;
	port->want_cap = cap;
	port->why = why;
	port->is_set = port->requested == skip;
	port->failures = 0;
	port->retry_us = 0;
	update_plan(s, i);
}

void
steering_leave(struct steering *s)
{
	s->leaving = true;
	for (uint32_t i = 0; i < s->n_agents; i++)
		s->agents[i].failures = 0, s->agents[i].retry_us = 0;
}

bool
steering_has_left(const struct steering *s)
{
	for (uint32_t i = 0; i < s->n_agents; i++)
		if (s->agents[i].in_flight || (s->agents[i].is_leased && s->agents[i].failures < FAILURES_MOST))
			return false;
	return true;
}

/* ---- what is due ---- */

/* A port that has or shall have a request of ours. */
static bool
needs_ask(const struct steering *s, uint32_t i, uint64_t now_us)
{
	const struct steered_port *port = &s->ports[i];

	return port->is_read && !port->is_held && !port->is_set && now_us >= port->retry_us &&
	    precision_sets_within_hour(&s->plans[i], now_us) < PRECISION_SETS_AN_HOUR;
}

static bool
wants_anything(const struct steering *s, uint32_t agent)
{
	for EACH_PORT(s, i, agent)
		if (s->ports[i].want_skip && !s->ports[i].is_held)
			return true;
	return false;
}

static void
steering_add_port(const struct steering *s, uint32_t i, struct steering_job *job)
{
	const struct steered_port *port = &s->ports[i];

	job->port[job->n_ports] = i;
	job->if_index[job->n_ports] = port->if_index;
	job->skip[job->n_ports] = port->want_skip;
	job->cap[job->n_ports++] = port->want_skip ? port->want_cap : 0;
}

static bool
fill_ask(struct steering *s, uint32_t a, uint64_t now_us, struct steering_job *job)
{
	const struct steered_agent *agent = &s->agents[a];
	bool wants = wants_anything(s, a);

	*job = (struct steering_job){.kind = STEERING_ASK, .agent = a, .ttl_s = STEERING_TTL_S};
	if (s->leaving || (agent->is_leased && !wants)) {
		job->ttl_s = 0;
		return agent->is_leased;
	}
	if (!wants || agent->trouble != STEERING_FINE)
		return false;
	for EACH_PORT(s, i, a)
		if (job->n_ports < STEERING_A_JOB && needs_ask(s, i, now_us))
			steering_add_port(s, i, job);
	for (uint32_t p = 0; p < job->n_ports; p++)
		precision_count_set(&s->plans[job->port[p]], now_us);
	/* Of its own the lease is renewed, but not begun. */
	return job->n_ports > 0 || (agent->is_leased && now_us >= agent->renewed_us + RENEW_US);
}

static bool
fill_read(const struct steering *s, uint32_t a, uint64_t now_us, struct steering_job *job)
{
	*job = (struct steering_job){.kind = STEERING_READ, .agent = a};
	if (s->leaving)
		return false;
	for EACH_PORT(s, i, a)
		if (job->n_ports < STEERING_A_JOB && now_us >= s->ports[i].read_us)
			steering_add_port(s, i, job);
	return job->n_ports > 0;
}

bool
steering_next(struct steering *s, uint64_t now_us, struct steering_job *job)
{
	for (uint32_t n = 0; n < s->n_agents; n++) {
		uint32_t a = (s->next_agent + n) % s->n_agents;
		struct steered_agent *agent = &s->agents[a];

		if (agent->is_sflow || agent->in_flight || now_us < agent->retry_us)
			continue;
		if (!fill_ask(s, a, now_us, job) && !fill_read(s, a, now_us, job))
			continue;
		s->sets += job->kind == STEERING_ASK;
		agent->in_flight = true;
		s->next_agent = a + 1;
		return true;
	}
	return false;
}

/* ---- answers ---- */

uint64_t
steering_pause_after(unsigned failures)
{
	static const unsigned seconds[] = {10, 60, 300};

	return failures <= FAILURES_MOST ? seconds[failures - 1] * SECOND_US : PAUSE_US;
}

void
steering_doubt_lease(struct steered_agent *agent, uint64_t now_us, bool was_asked)
{
	if (!was_asked || agent->is_leased)
		return;
	agent->is_leased = true;
	agent->renewed_us = now_us;
}

/* Nothing came, or something that says nothing. */
static void
take_silence(struct steering *s, uint64_t now_us, const struct steering_job *job)
{
	struct steered_agent *agent = &s->agents[job->agent];

	steering_doubt_lease(agent, now_us, job->kind == STEERING_ASK && job->ttl_s > 0);
	agent->failures++;
	agent->retry_us = now_us + steering_pause_after(agent->failures < FAILURES_MOST ? agent->failures : FAILURES_MOST);
	if (agent->failures == FAILURES_MOST)
		steering_change_trouble(s, agent, STEERING_SILENT);
	if (agent->is_leased && now_us >= agent->renewed_us + STEERING_TTL_S * SECOND_US)
		lose_lease(s, job->agent, now_us);
}

/* A port that does not take its skip is asked again after a while, and then left alone for an hour. */
static void
take_port_failure(const struct steering *s, struct steered_port *port, uint64_t now_us)
{
	port->failures++;
	port->retry_us = now_us + steering_pause_after(port->failures);
	if (port->failures == FAILURES_MOST + 1)
		steering_tell(s, &s->agents[port->agent], port, STEERING_TROUBLE, port->before, port->want_skip);
}

static void
steering_take_row(struct steering *s, uint64_t now_us, struct steered_port *port, const struct steering_row *row, bool is_ours)
{
	bool was_held = port->is_held, was_read = port->is_read;

	port->is_read = true;
	port->configured = row->configured;
	port->in_force = row->in_force;
	port->requested = is_ours ? row->requested : 0;
	port->reason = row->reason;
	port->is_held = row->held == HELD_TRUE;
	port->read_us = now_us + RENEW_US;
	if (port->is_held && (!was_held || !was_read))
		steering_tell(s, &s->agents[port->agent], port, STEERING_TROUBLE, port->want_skip, port->in_force);
	else if (was_held && !port->is_held)
		steering_tell(s, &s->agents[port->agent], port, STEERING_TAKEN, port->in_force, port->want_skip);
	else if (port->is_set && port->want_skip && port->requested != port->want_skip)
		steering_tell(s, &s->agents[port->agent], port, STEERING_LOST, port->want_skip, port->in_force);
	if (port->is_held)
		port->want_skip = port->want_cap = 0;
	else if (!was_read && port->requested && port->want_skip == 0)
		port->want_skip = port->requested; /* of a life before this one: what stands is left */
	port->is_set = port->requested == port->want_skip;
	if (port->is_set)
		port->failures = 0;
}

static void
steering_take_rows(struct steering *s, uint64_t now_us, const struct steering_job *job, const struct steering_answer *answer)
{
	struct steered_agent *agent = &s->agents[job->agent];
	bool is_ours = strcmp(answer->owner, s->owner) == 0, is_free = answer->owner[0] == '\0';

	agent->failures = 0;
	if (job->n_ports > 0 && answer->rows[0].reason == REASON_NONE) {
		steering_change_trouble(s, agent, STEERING_NO_LEASES);
		agent->retry_us = now_us + PAUSE_US;
		return;
	}
	if (!is_ours && agent->is_leased)
		lose_lease(s, job->agent, now_us);
	if (!is_ours && !is_free) {
		steering_change_trouble(s, agent, STEERING_FOREIGN);
		agent->retry_us = now_us + FOREIGN_US;
	} else {
		steering_change_trouble(s, agent, STEERING_FINE);
	}
	if (is_ours && !agent->is_leased) { /* of a life before this one */
		agent->is_leased = true;
		agent->renewed_us = now_us > RENEW_US ? now_us - RENEW_US : 0;
	}
	for (uint32_t p = 0; p < job->n_ports; p++)
		steering_take_row(s, now_us, &s->ports[job->port[p]], &answer->rows[p], is_ours);
	if (agent->trouble == STEERING_FOREIGN)
		for EACH_PORT(s, i, job->agent)
			s->ports[i].read_us = now_us;
}

static void
take_refusal(struct steering *s, uint64_t now_us, const struct steering_job *job, uint32_t error_status)
{
	struct steered_agent *agent = &s->agents[job->agent];

	if (job->kind == STEERING_ASK && (job->ttl_s == 0 || (job->n_ports == 0 && error_status == INCONSISTENT_VALUE))) {
		lose_lease(s, job->agent, now_us); /* though its rows may say at once that it is ours */
		agent->retry_us = now_us + steering_pause_after(1);
	} else if (job->kind == STEERING_ASK && error_status == INCONSISTENT_VALUE) { /* held, or somebody else's: its rows say it */
		for (uint32_t p = 0; p < job->n_ports; p++) {
			take_port_failure(s, &s->ports[job->port[p]], now_us);
			s->ports[job->port[p]].read_us = now_us;
		}
	} else {
		bool takes_none = error_status == NOT_WRITABLE || error_status == NO_ACCESS || error_status == NO_CREATION;

		steering_change_trouble(s, agent, takes_none ? STEERING_NO_LEASES : STEERING_REFUSES);
		agent->retry_us = now_us + PAUSE_US;
	}
}

static void
take_consent(struct steering *s, uint64_t now_us, const struct steering_job *job)
{
	struct steered_agent *agent = &s->agents[job->agent];

	agent->failures = 0;
	agent->is_leased = job->ttl_s > 0;
	agent->renewed_us = now_us;
	steering_change_trouble(s, agent, STEERING_FINE);
	for EACH_PORT(s, i, job->agent) {
		struct steered_port *port = &s->ports[i];

		if (job->ttl_s == 0 && port->requested)
			steering_tell(s, agent, port, STEERING_RETURNED, port->requested, port->configured);
		if (job->ttl_s == 0)
			port->requested = 0, port->is_set = port->want_skip == 0;
		if (job->n_ports == 0 && job->ttl_s > 0)
			port->read_us = now_us; /* a renewal looks at all */
	}
	for (uint32_t p = 0; p < job->n_ports; p++) {
		struct steered_port *port = &s->ports[job->port[p]];

		port->requested = job->skip[p];
		port->is_set = port->requested == port->want_skip;
		port->read_us = now_us + SETTLE_US;
		steering_tell(s, agent, port, job->skip[p] ? STEERING_SET : STEERING_RETURNED, port->before,
		    job->skip[p] ? job->skip[p] : port->configured);
		port->before = job->skip[p];
	}
}

void
steering_take(struct steering *s, uint64_t now_us, const struct steering_job *job, const struct steering_answer *answer)
{
	struct steered_agent *agent = &s->agents[job->agent];

	assert(job->agent < s->n_agents && agent->in_flight);
	agent->in_flight = false;
	if (!answer->has_answer)
		take_silence(s, now_us, job);
	else if (answer->error_status != 0)
		take_refusal(s, now_us, job, answer->error_status);
	else if (job->kind == STEERING_READ)
		steering_take_rows(s, now_us, job, answer);
	else
		take_consent(s, now_us, job);
	steering_update_plans(s, job->agent);
}
