/*
 * Switches of other makes, steered by SFLOW-MIB, against a model of the MIB's rules (a receiver is taken with owner and time
 * together; released or not renewed, it and its samplers are as at first; a sampler's receiver may be set from 0, or to 0)
 * and with a stepped clock: samplers begun, rates that follow, what others have, hands, reboots, refusals; 1,000 faults at
 * random.
 */
#include "collector/precision/steering_sflow.h"

#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { RECEIVERS = 3, PORTS = 30, INSTANCES = 2, FIRST = 4096, SECOND = 1000000 };
enum { BAD_VALUE = 10, INCONSISTENT = 12, NOT_WRITABLE = 17 };

struct model_receiver {
	char owner[POLL_OWNER];
	uint64_t until_s;
	uint8_t to[4];
	uint16_t port;
};

static struct {
	struct model_receiver receivers[RECEIVERS];
	struct {
		uint32_t receiver, rate;
	} samplers[PORTS][INSTANCES];
	bool is_mute, refuses, has_none, clamps, invents;
	double lost; /* part of the messages */
	unsigned n_sets, n_walked;
} model;

static struct sflow_steering sflow;
static uint64_t now_us, chance;
static unsigned told[STEERING_TAKEN + 1];
static uint32_t switch_at;

static double
draw_part(void)
{
	chance = chance * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(chance >> 11) / 9007199254740992.0;
}

static void
note_event(void *arg, const struct steering_event *event)
{
	(void)arg;
	told[event->what]++;
}

/* ---- the switch ---- */

static void
release(uint32_t receiver)
{
	model.receivers[receiver - 1] = (struct model_receiver){.port = 6343};
	for (int p = 0; p < PORTS; p++)
		for (int i = 0; i < INSTANCES; i++)
			if (model.samplers[p][i].receiver == receiver)
				model.samplers[p][i].receiver = model.samplers[p][i].rate = 0;
}

static void
reboot(void)
{
	for (uint32_t r = 1; r <= RECEIVERS; r++)
		release(r);
}

static uint32_t
set_receiver(const struct poll_job *job)
{
	struct model_receiver *r = &model.receivers[job->sflow.receiver - 1];
	bool is_claim = job->sflow.to_octets > 0;

	if (job->request.ttl_s == 0) {
		release(job->sflow.receiver);
		return 0;
	}
	if (is_claim && *r->owner && strcmp(r->owner, job->request.owner) != 0)
		return BAD_VALUE;
	if (!is_claim && !*r->owner)
		return INCONSISTENT;
	r->until_s = now_us / SECOND + job->request.ttl_s;
	if (!is_claim)
		return 0;
	snprintf(r->owner, sizeof(r->owner), "%s", job->request.owner);
	memcpy(r->to, job->sflow.to, 4);
	r->port = job->sflow.to_port;
	return 0;
}

static uint32_t
set_samplers(const struct poll_job *job)
{
	for (uint32_t p = 0; p < job->n_ports; p++) {
		uint32_t *receiver = &model.samplers[job->if_index[p] - 1][job->sflow.instance[p] - 1].receiver;

		if (job->sflow.begins[p] && ((*receiver != 0 && *receiver != job->sflow.receiver) ||
						!*model.receivers[job->sflow.receiver - 1].owner))
			return BAD_VALUE;
	}
	for (uint32_t p = 0; p < job->n_ports; p++) {
		uint32_t rate = job->request.mean_skip[p];

		if (job->sflow.begins[p])
			model.samplers[job->if_index[p] - 1][job->sflow.instance[p] - 1].receiver = job->sflow.receiver;
		model.samplers[job->if_index[p] - 1][job->sflow.instance[p] - 1].rate = model.clamps && rate < 256 ? 256 : rate;
		model.n_sets++;
	}
	return 0;
}

static void
list_samplers(const struct poll_job *job, struct poll_answer *a)
{
	uint32_t at = job->cursor[1] == 0 ? 0 : (job->cursor[0] - 1) * INSTANCES + job->cursor[1];

	for (; at < PORTS * INSTANCES && a->n_samplers < POLL_SAMPLERS_MAX; at++) {
		uint32_t port = at / INSTANCES, instance = at % INSTANCES;

		a->samplers[a->n_samplers++] = (struct poll_sampler){port + 1, instance + 1, model.samplers[port][instance].receiver,
		    model.samplers[port][instance].rate};
		a->cursor[0] = port + 1;
		a->cursor[1] = instance + 1;
	}
	a->has_more = at < PORTS * INSTANCES;
}

/* At ports without end. */
static void
invent_samplers(const struct poll_job *job, struct poll_answer *a)
{
	ck_assert_uint_lt(model.n_walked++, 1000000);
	for (uint32_t n = 1; n <= POLL_SAMPLERS_MAX; n++)
		a->samplers[a->n_samplers++] = (struct poll_sampler){job->cursor[0] + n, 1, RECEIVERS, 100}; /* another one has them */
	a->cursor[0] = job->cursor[0] + POLL_SAMPLERS_MAX;
	a->cursor[1] = 1;
	a->has_more = true;
}

static struct poll_answer
answer_question(const struct poll_job *job)
{
	struct poll_answer a = {.verdict = POLL_ANSWERED};

	if (model.is_mute || draw_part() < model.lost)
		return (struct poll_answer){.verdict = POLL_SILENT};
	if (job->parts == POLL_SFLOW_RECEIVERS) {
		for (int r = 0; r < RECEIVERS && !model.has_none; r++) {
			a.receivers[r].is_there = true;
			snprintf(a.receivers[r].owner, sizeof(a.receivers[r].owner), "%s", model.receivers[r].owner);
		}
	} else if (job->parts == POLL_SFLOW_SAMPLERS) {
		(model.invents ? invent_samplers : list_samplers)(job, &a);
	} else {
		a.error_status = model.refuses ? NOT_WRITABLE : job->n_ports > 0 ? set_samplers(job) : set_receiver(job);
		a.verdict = a.error_status ? POLL_REFUSED : POLL_ANSWERED;
	}
	if (draw_part() < model.lost) /* what was set is set */
		a = (struct poll_answer){.verdict = POLL_SILENT};
	return a;
}

static void
pass(unsigned seconds)
{
	struct poll_job job;
	uint32_t i;

	for (unsigned s = 0; s < seconds; s++) {
		now_us += SECOND;
		for (uint32_t r = 1; r <= RECEIVERS; r++)
			if (*model.receivers[r - 1].owner && now_us / SECOND >= model.receivers[r - 1].until_s)
				release(r);
		while (sflow_lease_next(&sflow, now_us, &i, &job)) {
			struct poll_answer answer = answer_question(&job);

			sflow_lease_take(&sflow, i, now_us, &job, &answer);
		}
	}
}

/* ---- the station ---- */

static void
begin_station(void)
{
	const struct poll_sflow to = {.to_octets = 4, .to = {192, 0, 2, 10}, .to_port = 6343};

	free(sflow.steering);
	memset(&sflow, 0, sizeof(sflow));
	sflow.steering = steering_new("station", note_event, NULL);
	switch_at = sflow_lease_add(&sflow, &to, FIRST);
	ck_assert_uint_eq(switch_at, 0);
}

static void
set_up(void)
{
	memset(&model, 0, sizeof(model));
	memset(told, 0, sizeof(told));
	now_us = 1000 * SECOND;
	chance = 1;
	begin_station();
}

static void
tear_down(void)
{
	free(sflow.steering);
	sflow.steering = NULL;
}

static uint32_t
port_of(uint32_t if_index)
{
	return steering_port(sflow.steering, sflow.steering->agents[sflow.switches[switch_at].agent].id, if_index);
}

static void
want(uint32_t if_index, uint32_t skip)
{
	steering_want(sflow.steering, port_of(if_index), skip, 300, PRECISION_WANTED);
}

static unsigned
n_sampled(uint32_t receiver)
{
	unsigned n = 0;

	for (int p = 0; p < PORTS; p++)
		for (int i = 0; i < INSTANCES; i++)
			n += model.samplers[p][i].receiver == receiver && model.samplers[p][i].rate > 0;
	return n;
}

START_TEST(a_receiver_is_taken_and_given_back)
{
	pass(2);
	ck_assert_str_eq(model.receivers[0].owner, "station");
	ck_assert(memcmp(model.receivers[0].to, (const uint8_t[]){192, 0, 2, 10}, 4) == 0 && model.receivers[0].port == 6343);
	ck_assert_uint_eq(n_sampled(1), PORTS);
	ck_assert_uint_eq(model.samplers[5][0].rate, FIRST);
	sflow_lease_set_agent(&sflow, switch_at, 77); /* its samples came */
	want(6, 128);
	pass(2);
	ck_assert_uint_eq(model.samplers[5][0].rate, 128);
	ck_assert_uint_eq(model.n_sets, PORTS + 1);
	pass(5000); /* renewals set no sampler */
	ck_assert_uint_eq(model.n_sets, PORTS + 1);
	ck_assert_str_eq(model.receivers[0].owner, "station");
	want(6, 0);
	pass(2);
	ck_assert_uint_eq(model.samplers[5][0].rate, FIRST);
	sflow_lease_release(&sflow, switch_at);
	ck_assert(!sflow_lease_is_released(&sflow, switch_at));
	pass(2);
	ck_assert(sflow_lease_is_released(&sflow, switch_at));
	ck_assert_str_eq(model.receivers[0].owner, "");
	ck_assert_uint_eq(n_sampled(1), 0);
	ck_assert_uint_eq(told[STEERING_TROUBLE] + told[STEERING_LOST], 0);
}
END_TEST

/* SIGHUP, or a start with another address: the receiver is directed anew, and no sampler begins again. */
/* The SET that takes the receiver is on its way, or its answer is lost, when it is to be given back. */
START_TEST(what_may_have_been_taken_is_given_back)
{
	for (int is_lost = 0; is_lost < 2; is_lost++) {
		struct poll_job job;
		uint32_t i;

		now_us += SECOND;
		for (int q = 0; q < 2; q++) { /* a look at the receivers, then the SET */
			struct poll_answer answer;

			ck_assert(sflow_lease_next(&sflow, now_us, &i, &job));
			answer = answer_question(&job);
			if (q == 1 && !is_lost)
				sflow_lease_release(&sflow, switch_at);
			ck_assert(!sflow_lease_is_released(&sflow, switch_at));
			if (q == 1 && is_lost)
				answer = (struct poll_answer){.verdict = POLL_SILENT};
			sflow_lease_take(&sflow, i, now_us, &job, &answer);
		}
		ck_assert_str_eq(model.receivers[0].owner, "station");
		sflow_lease_release(&sflow, switch_at);
		ck_assert(!sflow_lease_is_released(&sflow, switch_at) && !steering_has_left(sflow.steering));
		pass(2);
		ck_assert(sflow_lease_is_released(&sflow, switch_at) && steering_has_left(sflow.steering));
		ck_assert_str_eq(model.receivers[0].owner, "");
		begin_station();
	}
}
END_TEST

START_TEST(it_sends_to_another_address)
{
	const struct poll_sflow other = {.to_octets = 4, .to = {192, 0, 2, 11}, .to_port = 6344};

	pass(2);
	want(6, 128);
	pass(2);
	sflow_lease_direct(&sflow, switch_at, &other, FIRST);
	pass(2);
	ck_assert(model.receivers[0].to[3] == 11 && model.receivers[0].port == 6344);
	ck_assert_uint_eq(n_sampled(1), PORTS);
	ck_assert_uint_eq(model.n_sets, PORTS + 1);
	begin_station(); /* another life, which says .10 */
	pass(2);
	ck_assert(model.receivers[0].to[3] == 10 && model.receivers[0].port == 6343);
	ck_assert_uint_eq(model.samplers[5][0].rate, 128);
	ck_assert_uint_eq(model.n_sets, PORTS + 1);
	sflow_lease_direct(&sflow, switch_at, &sflow.switches[switch_at].to, FIRST / 2);
	pass(2);
	ck_assert(model.samplers[4][0].rate == FIRST / 2 && model.samplers[5][0].rate == 128);
	ck_assert_uint_eq(told[STEERING_TROUBLE] + told[STEERING_LOST], 0);
}
END_TEST

START_TEST(who_invents_samplers_is_not_walked_without_end)
{
	model.invents = true;
	pass(STEERING_RENEW_S - 1);
	ck_assert_uint_le(model.n_walked, 200);
	ck_assert_uint_eq(sflow.steering->n_ports, STEERING_OF_AGENT);
	ck_assert_str_eq(model.receivers[0].owner, "station");
}
END_TEST

/* SIGHUP without goals, and another one with them; each comes in time for what is on its way, or later. */
START_TEST(what_was_given_back_is_taken_again)
{
	for (unsigned after_s = 0; after_s < 3; after_s++) {
		set_up();
		pass(2);
		sflow_lease_set_agent(&sflow, switch_at, 77);
		want(6, 128);
		pass(2);
		sflow_lease_release(&sflow, switch_at);
		pass(after_s);
		sflow_lease_direct(&sflow, switch_at, &sflow.switches[switch_at].to, FIRST);
		pass(2);
		ck_assert_str_eq(model.receivers[0].owner, "station");
		ck_assert_uint_eq(n_sampled(1), PORTS);
		want(6, 64);
		pass(STEERING_RENEW_S + 2);
		ck_assert_uint_eq(model.samplers[5][0].rate, 64);
		ck_assert_uint_eq(sflow.steering->n_agents, 1);
	}
}
END_TEST

/* A receiver that the operator configured, and samplers that send to it. */
START_TEST(what_others_have_is_left_alone)
{
	model.receivers[0] = (struct model_receiver){"console", UINT64_MAX, {192, 0, 2, 1}, 6343};
	model.samplers[3][0].receiver = 1;
	model.samplers[3][0].rate = 500;
	pass(300);
	ck_assert_str_eq(model.receivers[1].owner, "station");
	ck_assert_uint_eq(n_sampled(2), PORTS - 1);
	ck_assert(model.samplers[3][0].receiver == 1 && model.samplers[3][0].rate == 500 && model.samplers[3][1].receiver == 0);
	ck_assert_int_eq(steering_trouble_of(sflow.steering, port_of(4)), STEERING_HELD);
	model.samplers[3][0].receiver = model.samplers[3][0].rate = 0; /* it gives the port back */
	pass(STEERING_RENEW_S + 2);
	ck_assert_uint_eq(n_sampled(2), PORTS);
	/* All receivers are somebody's. */
	for (int r = 1; r < RECEIVERS; r++)
		model.receivers[r] = (struct model_receiver){"other", UINT64_MAX, {0}, 0};
	reboot();
	for (int r = 0; r < RECEIVERS; r++)
		model.receivers[r] = (struct model_receiver){"other", UINT64_MAX, {0}, 0};
	pass(3000);
	ck_assert_int_eq(steering_trouble_of(sflow.steering, port_of(1)), STEERING_FOREIGN);
	ck_assert_uint_eq(n_sampled(1) + n_sampled(2) + n_sampled(3), 0);
	release(2);
	pass(302);
	ck_assert_uint_eq(n_sampled(2), PORTS);
}
END_TEST

START_TEST(a_rate_set_by_hand_stays)
{
	pass(2);
	want(2, 512);
	pass(STEERING_RENEW_S + 2);
	model.samplers[1][0].rate = 100;
	pass(STEERING_RENEW_S + 2);
	ck_assert_int_eq(steering_trouble_of(sflow.steering, port_of(2)), STEERING_HELD);
	want(2, 1024);
	pass(4000);
	ck_assert_uint_eq(model.samplers[1][0].rate, 100);
	ck_assert_uint_eq(told[STEERING_TROUBLE], 1);
}
END_TEST

/* It makes of a rate what it can: that is nobody's hand, and is asked for once. */
START_TEST(a_switch_that_clamps)
{
	model.clamps = true;
	pass(2);
	want(2, 64);
	pass(4000);
	ck_assert_uint_eq(model.samplers[1][0].rate, 256);
	ck_assert_uint_eq(model.n_sets, PORTS + 1);
	ck_assert_int_eq(steering_trouble_of(sflow.steering, port_of(2)), STEERING_FINE);
	ck_assert_uint_eq(sflow.steering->ports[port_of(2)].in_force, 256);
}
END_TEST

START_TEST(a_reboot_and_a_death_are_made_good)
{
	pass(2);
	want(9, 64);
	pass(2);
	reboot();
	pass(STEERING_RENEW_S + 2);
	ck_assert_uint_eq(n_sampled(1), PORTS);
	ck_assert_uint_eq(model.samplers[8][0].rate, 64);
	ck_assert_uint_ge(told[STEERING_LOST], 1);
	begin_station(); /* another life: what stands is found, and left */
	model.n_sets = 0;
	pass(50);
	ck_assert_uint_eq(model.samplers[8][0].rate, 64);
	ck_assert_uint_eq(model.n_sets, 0);
	ck_assert_uint_eq(sflow.steering->plans[port_of(9)].skip, 64);
	model.is_mute = true;
	pass(STEERING_TTL_S + 1);
	ck_assert_uint_eq(n_sampled(1), 0); /* by the switch's own clock */
	ck_assert_int_eq(steering_trouble_of(sflow.steering, port_of(9)), STEERING_SILENT);
	model.is_mute = false;
	pass(302);
	ck_assert_uint_eq(n_sampled(1), PORTS);
}
END_TEST

START_TEST(who_refuses_or_has_no_such_thing)
{
	model.refuses = true;
	pass(3500);
	ck_assert_int_eq(steering_trouble_of(sflow.steering, port_of(1)), STEERING_REFUSES);
	model.refuses = false;
	model.has_none = true;
	pass(3700);
	ck_assert_int_eq(steering_trouble_of(sflow.steering, port_of(1)), STEERING_NO_LEASES);
	model.has_none = false;
	pass(3602);
	ck_assert_uint_eq(n_sampled(1), PORTS);
}
END_TEST

static void
do_something(void)
{
	uint32_t port = 1 + (uint32_t)(draw_part() * PORTS);

	switch ((int)(draw_part() * 8)) {
	case 0: reboot(); break;
	case 1: model.lost = draw_part(); break;
	case 2: model.is_mute = !model.is_mute; break;
	case 3: model.refuses = !model.refuses; break;
	case 4: begin_station(); break;
	case 5: model.clamps = !model.clamps; break;
	default:
		if (sflow.steering->n_ports > 0)
			want(port, draw_part() < 0.3 ? 0 : 1u << (int)(draw_part() * 14));
	}
}

/* Whatever happens: some time later each port has the rate that is wanted of it, and in the end nothing is left. */
START_TEST(a_thousand_faults)
{
	for (int fault = 0; fault < 1000; fault++) {
		do_something();
		pass((unsigned)(draw_part() * 400));
	}
	model.is_mute = model.refuses = model.clamps = false;
	model.lost = 0;
	begin_station(); /* hands that are none: a clamp that came and went */
	reboot();
	pass(200);
	for (uint32_t p = 1; p <= PORTS; p++)
		want(p, p % 3 ? 1u << p % 12 : 0);
	pass(4000);
	for (uint32_t p = 1; p <= PORTS; p++)
		ck_assert_uint_eq(model.samplers[p - 1][0].rate, p % 3 ? 1u << p % 12 : FIRST);
	sflow_lease_release(&sflow, switch_at);
	pass(2);
	ck_assert_uint_eq(n_sampled(1) + n_sampled(2) + n_sampled(3), 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {a_receiver_is_taken_and_given_back, what_may_have_been_taken_is_given_back,
	    it_sends_to_another_address, what_others_have_is_left_alone, a_rate_set_by_hand_stays, a_switch_that_clamps, a_reboot_and_a_death_are_made_good,
	    who_refuses_or_has_no_such_thing, what_was_given_back_is_taken_again, who_invents_samplers_is_not_walked_without_end, a_thousand_faults};
	Suite *suite = suite_create("sflow_lease");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, 60);
	tcase_add_checked_fixture(all, set_up, tear_down);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(all, tests[i]);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
