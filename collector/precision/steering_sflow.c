#include "collector/precision/steering_sflow.h"
#include "collector/precision/steering_private.h"

#include <assert.h>
#include <string.h>

#define RENEW_US   (STEERING_RENEW_S * SECOND_US)
#define FOREIGN_US (300 * SECOND_US) /* until it is looked again whether a receiver is free */

enum { ROWS_MOST = POLL_RECEIVERS_MAX * STEERING_OF_AGENT /* of a walk: a switch may invent samplers */ };
enum { BEGINS_A_QUESTION = 4, WRONG_VALUE = 10, INCONSISTENT_VALUE = 12, COMMIT_FAILED = 14 }; /* error-status of RFC 3416 */

static struct steered_agent *
switch_agent(const struct sflow_steering *x, const struct sflow_switch *sw)
{
	return &x->steering->agents[sw->agent];
}

uint32_t
sflow_lease_add(struct sflow_steering *x, const struct poll_sflow *to, uint32_t first_rate)
{
	struct steering *s = x->steering;

	if (x->n == SFLOW_SWITCHES_MAX || s->n_agents == STEERING_AGENTS_MAX) {
		s->refused++;
		return UINT32_MAX;
	}
	s->agents[s->n_agents] = (struct steered_agent){.id = -1 - (int64_t)x->n, .is_sflow = true, .trouble = STEERING_NOT_READ};
	x->switches[x->n] = (struct sflow_switch){.agent = s->n_agents++, .to = *to, .first_rate = first_rate};
	return x->n++;
}

void
sflow_lease_direct(struct sflow_steering *x, uint32_t i, const struct poll_sflow *to, uint32_t first_rate)
{
	struct sflow_switch *sw = &x->switches[i];

	assert(i < x->n);
	sw->first_rate = first_rate;
	if (!sw->is_leaving && sw->to.to_octets == to->to_octets && sw->to.to_port == to->to_port && memcmp(sw->to.to, to->to, sizeof(to->to)) == 0)
		return;
	sw->to = *to;
	sw->step = sw->is_leaving ? SFLOW_LOOK : sw->step;
	sw->is_directed = sw->is_leaving = false;
}

void
sflow_lease_set_agent(struct sflow_steering *x, uint32_t i, int64_t agent)
{
	assert(i < x->n);
	switch_agent(x, &x->switches[i])->id = agent;
}

void
sflow_lease_release(struct sflow_steering *x, uint32_t i)
{
	struct steered_agent *agent = switch_agent(x, &x->switches[i]);

	x->switches[i].is_leaving = true;
	agent->failures = 0;
	agent->retry_us = 0;
}

bool
sflow_lease_is_released(const struct sflow_steering *x, uint32_t i)
{
	const struct sflow_switch *sw = &x->switches[i];
	const struct steered_agent *agent = switch_agent(x, sw);

	return sw->is_leaving && !agent->in_flight && (!agent->is_leased || agent->failures >= FAILURES_MOST);
}

/* ---- questions ---- */

static uint32_t
rate_wanted(const struct sflow_switch *sw, const struct steered_port *port)
{
	return port->want_skip ? port->want_skip : sw->first_rate;
}

static bool
needs_set(const struct sflow_steering *x, const struct sflow_switch *sw, uint32_t i, uint64_t now_us)
{
	const struct steered_port *port = &x->steering->ports[i];

	return port->is_read && !port->is_held && port->sflow.instance > 0 && now_us >= port->retry_us &&
	    (!port->sflow.is_ours || port->requested != rate_wanted(sw, port)) &&
	    precision_sets_within_hour(&x->steering->plans[i], now_us) < PRECISION_SETS_AN_HOUR;
}

static bool
fill_samplers(const struct sflow_steering *x, const struct sflow_switch *sw, uint64_t now_us, struct poll_job *job)
{
	uint32_t begins = 0;

	for EACH_PORT(x->steering, i, sw->agent) {
		const struct steered_port *port = &x->steering->ports[i];
		uint32_t p = job->n_ports;

		if (p == POLL_PORTS_MAX || begins == BEGINS_A_QUESTION)
			break;
		if (!needs_set(x, sw, i, now_us))
			continue;
		job->if_index[p] = port->if_index;
		job->sflow.instance[p] = port->sflow.instance;
		job->sflow.begins[p] = !port->sflow.is_ours;
		job->request.mean_skip[p] = rate_wanted(sw, port);
		begins += job->sflow.begins[p];
		job->n_ports++;
		precision_count_set(&x->steering->plans[i], now_us);
	}
	return job->n_ports > 0;
}

static void
fill_receiver(const struct sflow_steering *x, const struct sflow_switch *sw, struct poll_job *job)
{
	job->parts = POLL_SFLOW_SET;
	job->request.ttl_s = sw->is_leaving ? 0 : STEERING_TTL_S;
	memcpy(job->request.owner, x->steering->owner, sizeof(job->request.owner));
	if (!sw->is_leaving && sw->step == SFLOW_TAKE)
		job->sflow = sw->to;
	job->sflow.receiver = sw->receiver;
}

static bool
fill_question(const struct sflow_steering *x, struct sflow_switch *sw, uint64_t now_us, struct poll_job *job)
{
	memset(job, 0, sizeof(*job));
	if (sw->is_leaving) {
		fill_receiver(x, sw, job);
		return switch_agent(x, sw)->is_leased;
	}
	if (sw->step == SFLOW_READY && (!sw->is_directed || now_us >= switch_agent(x, sw)->renewed_us + RENEW_US))
		sw->step = SFLOW_LOOK;
	switch (sw->step) {
	case SFLOW_LOOK:
		job->parts = POLL_SFLOW_RECEIVERS;
		return true;
	case SFLOW_TAKE:
	case SFLOW_RENEW:
		fill_receiver(x, sw, job);
		return true;
	case SFLOW_WALK:
		job->parts = POLL_SFLOW_SAMPLERS;
		memcpy(job->cursor, sw->cursor, sizeof(sw->cursor));
		return true;
	case SFLOW_READY:
		break;
	}
	job->parts = POLL_SFLOW_SET;
	job->request.ttl_s = STEERING_TTL_S;
	job->sflow.receiver = sw->receiver;
	return fill_samplers(x, sw, now_us, job);
}

bool
sflow_lease_next(struct sflow_steering *x, uint64_t now_us, uint32_t *i, struct poll_job *job)
{
	for (uint32_t n = 0; n < x->n; n++) {
		uint32_t at = (x->next + n) % x->n;
		struct sflow_switch *sw = &x->switches[at];

		if (switch_agent(x, sw)->in_flight || now_us < switch_agent(x, sw)->retry_us || !fill_question(x, sw, now_us, job))
			continue;
		x->steering->sets += job->parts == POLL_SFLOW_SET;
		switch_agent(x, sw)->in_flight = true;
		x->next = at + 1;
		*i = at;
		return true;
	}
	return false;
}

/* ---- answers ---- */

/* The receiver is ours no longer, and so no sampler is. */
static void
steering_lose_receiver(const struct sflow_steering *x, struct sflow_switch *sw)
{
	for EACH_PORT(x->steering, i, sw->agent) {
		struct steered_port *port = &x->steering->ports[i];

		if (port->sflow.is_ours && port->want_skip && !sw->is_leaving)
			steering_tell(x->steering, switch_agent(x, sw), port, STEERING_LOST, port->want_skip, 0);
		else if (port->sflow.is_ours && sw->is_leaving)
			steering_tell(x->steering, switch_agent(x, sw), port, STEERING_RETURNED, port->in_force, 0);
		port->requested = port->in_force = 0;
		port->is_held = port->is_set = false;
		port->sflow = (struct sflow_port){.instance = port->sflow.instance};
	}
	sw->receiver = 0;
	switch_agent(x, sw)->is_leased = false;
}

static void
take_switch_silence(const struct sflow_steering *x, struct sflow_switch *sw, uint64_t now_us, const struct poll_job *job)
{
	struct steered_agent *agent = switch_agent(x, sw);

	steering_doubt_lease(agent, now_us, job->parts == POLL_SFLOW_SET && job->request.ttl_s > 0);
	agent->failures++;
	agent->retry_us = now_us + steering_pause_after(agent->failures < FAILURES_MOST ? agent->failures : FAILURES_MOST);
	if (agent->failures == FAILURES_MOST)
		steering_change_trouble(x->steering, agent, STEERING_SILENT);
	if (agent->is_leased && now_us >= agent->renewed_us + STEERING_TTL_S * SECOND_US)
		steering_lose_receiver(x, sw);
	sw->step = SFLOW_LOOK;
}

/* Ours, or else the first that is free. */
static void
take_receivers(const struct sflow_steering *x, struct sflow_switch *sw, uint64_t now_us, const struct poll_answer *answer)
{
	struct steered_agent *agent = switch_agent(x, sw);
	uint32_t ours = 0, free_one = 0, n = 0;

	for (uint32_t r = POLL_RECEIVERS_MAX; r > 0; r--) {
		const struct poll_receiver *receiver = &answer->receivers[r - 1];

		n += receiver->is_there;
		if (receiver->is_there && receiver->owner[0] == '\0')
			free_one = r;
		else if (receiver->is_there && strcmp(receiver->owner, x->steering->owner) == 0)
			ours = r;
	}
	if (agent->is_leased && ours != sw->receiver)
		steering_lose_receiver(x, sw);
	sw->receiver = ours ? ours : free_one;
	sw->step = ours && sw->is_directed ? SFLOW_RENEW : SFLOW_TAKE;
	if (sw->receiver > 0)
		return;
	sw->step = SFLOW_LOOK;
	agent->retry_us = now_us + (n > 0 ? FOREIGN_US : PAUSE_US);
	steering_change_trouble(x->steering, agent, n > 0 ? STEERING_FOREIGN : STEERING_NO_LEASES);
}

static void
take_sampler(const struct sflow_steering *x, const struct sflow_switch *sw, const struct poll_sampler *row)
{
	struct steering *s = x->steering;
	uint32_t i = row->if_index > 0 ? steering_port(s, switch_agent(x, sw)->id, row->if_index) : UINT32_MAX;
	struct sflow_port *port = i < UINT32_MAX ? &s->ports[i].sflow : NULL;

	if (!port)
		return;
	if (port->walk != sw->walk)
		*port = (struct sflow_port){.walk = sw->walk, .is_ours = port->is_ours, .settled = port->settled};
	if (row->receiver == sw->receiver) {
		port->seen_ours = true;
		port->instance = row->instance;
		port->rate = row->rate;
	} else if (row->receiver > 0) {
		port->seen_other = true;
	} else if (!port->seen_ours && (port->instance == 0 || row->instance == sw->receiver)) {
		port->instance = row->instance;
	}
}

/* What the walk has seen of the port. */
static void
steering_judge_port(const struct sflow_steering *x, const struct sflow_switch *sw, struct steered_port *port)
{
	struct sflow_port *seen = &port->sflow;
	bool was_held = port->is_held, by_hand;

	port->is_read = seen->walk == sw->walk;
	if (!port->is_read)
		return;
	if (seen->seen_ours && !seen->is_ours) { /* of a life before this one: what stands is left */
		port->requested = seen->settled = seen->rate;
		if (port->want_skip == 0 && seen->rate != sw->first_rate)
			port->want_skip = seen->rate;
	}
	if (seen->is_ours && !seen->seen_ours && port->want_skip)
		steering_tell(x->steering, switch_agent(x, sw), port, STEERING_LOST, port->want_skip, 0);
	if (!seen->seen_ours)
		port->requested = seen->settled = 0;
	seen->is_ours = seen->seen_ours;
	if (seen->settled == 0)
		seen->settled = seen->is_ours ? seen->rate : 0;
	by_hand = seen->is_ours && seen->rate != seen->settled;
	port->configured = sw->first_rate;
	port->in_force = seen->is_ours ? seen->rate : 0;
	port->is_held = by_hand || (was_held && seen->is_ours) || (!seen->is_ours && seen->seen_other);
	port->is_set = port->requested == port->want_skip;
	if (port->is_held && !was_held)
		steering_tell(x->steering, switch_agent(x, sw), port, STEERING_TROUBLE, port->want_skip, port->in_force);
	else if (was_held && !port->is_held)
		steering_tell(x->steering, switch_agent(x, sw), port, STEERING_TAKEN, port->in_force, port->want_skip);
	if (port->is_held)
		port->want_skip = 0;
}

static void
take_samplers(const struct sflow_steering *x, struct sflow_switch *sw, const struct poll_answer *answer)
{
	for (uint32_t k = 0; k < answer->n_samplers; k++)
		take_sampler(x, sw, &answer->samplers[k]);
	memcpy(sw->cursor, answer->cursor, sizeof(sw->cursor));
	sw->n_rows += answer->n_samplers;
	if (answer->has_more && answer->n_samplers > 0 && sw->n_rows < ROWS_MOST)
		return;
	for EACH_PORT(x->steering, i, sw->agent)
		steering_judge_port(x, sw, &x->steering->ports[i]);
	sw->step = SFLOW_READY;
}

static struct steered_port *
port_of_switch(const struct sflow_steering *x, const struct sflow_switch *sw, uint32_t if_index)
{
	for EACH_PORT(x->steering, i, sw->agent)
		if (x->steering->ports[i].if_index == if_index)
			return &x->steering->ports[i];
	return NULL;
}

static void
take_switch_consent(const struct sflow_steering *x, struct sflow_switch *sw, uint64_t now_us, const struct poll_job *job)
{
	struct steered_agent *agent = switch_agent(x, sw);

	if (job->n_ports == 0 && job->request.ttl_s == 0) {
		steering_lose_receiver(x, sw);
		return;
	}
	steering_change_trouble(x->steering, agent, STEERING_FINE);
	if (job->n_ports == 0) {
		sw->is_directed |= job->sflow.to_port == sw->to.to_port && memcmp(job->sflow.to, sw->to.to, sizeof(sw->to.to)) == 0;
		agent->is_leased = true;
		agent->renewed_us = now_us;
		sw->step = SFLOW_WALK;
		sw->walk++;
		sw->n_rows = 0;
		memset(sw->cursor, 0, sizeof(sw->cursor));
		return;
	}
	for (uint32_t p = 0; p < job->n_ports; p++) {
		struct steered_port *port = port_of_switch(x, sw, job->if_index[p]);
		uint32_t rate = job->request.mean_skip[p];
		bool is_back = !job->sflow.begins[p] && port->want_skip == 0;

		steering_tell(x->steering, agent, port, is_back ? STEERING_RETURNED : STEERING_SET, port->in_force, rate);
		port->sflow.is_ours = true;
		port->sflow.settled = 0;
		port->requested = port->in_force = rate;
		port->is_set = port->requested == port->want_skip;
		port->failures = 0;
	}
}

/* A sampler that does not take its rate is asked again after a while, and then left alone for an hour. */
static void
take_switch_refusal(const struct sflow_steering *x, struct sflow_switch *sw, uint64_t now_us, const struct poll_job *job,
    uint32_t error_status)
{
	struct steered_agent *agent = switch_agent(x, sw);
	bool is_raced = error_status == INCONSISTENT_VALUE || error_status == WRONG_VALUE || error_status == COMMIT_FAILED;

	if (sw->is_leaving) {
		steering_lose_receiver(x, sw);
		return;
	}
	for (uint32_t p = 0; p < job->n_ports; p++) {
		struct steered_port *port = port_of_switch(x, sw, job->if_index[p]);

		port->retry_us = now_us + steering_pause_after(++port->failures);
		if (port->failures == FAILURES_MOST + 1)
			steering_tell(x->steering, agent, port, STEERING_TROUBLE, port->in_force, job->request.mean_skip[p]);
	}
	if (job->n_ports > 0)
		return;
	sw->step = SFLOW_LOOK;
	if (!is_raced || ++agent->failures >= FAILURES_MOST)
		steering_change_trouble(x->steering, agent, STEERING_REFUSES);
	agent->retry_us = now_us + (agent->trouble == STEERING_REFUSES ? PAUSE_US : steering_pause_after(1));
}

void
sflow_lease_take(struct sflow_steering *x, uint32_t i, uint64_t now_us, const struct poll_job *job, const struct poll_answer *answer)
{
	struct sflow_switch *sw = &x->switches[i];
	struct steered_agent *agent = switch_agent(x, sw);

	assert(i < x->n && agent->in_flight);
	agent->in_flight = false;
	if (answer->verdict != POLL_ANSWERED && answer->verdict != POLL_REFUSED) {
		take_switch_silence(x, sw, now_us, job);
	} else if (answer->verdict == POLL_REFUSED) {
		take_switch_refusal(x, sw, now_us, job, answer->error_status);
	} else {
		agent->failures = job->parts == POLL_SFLOW_RECEIVERS ? agent->failures : 0;
		if (job->parts == POLL_SFLOW_RECEIVERS)
			take_receivers(x, sw, now_us, answer);
		else if (job->parts == POLL_SFLOW_SAMPLERS)
			take_samplers(x, sw, answer);
		else
			take_switch_consent(x, sw, now_us, job);
	}
	steering_update_plans(x->steering, sw->agent);
}
