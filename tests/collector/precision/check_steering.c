/*
 * The hand that sets skips, against model agents with the agent's own lease, and with a stepped clock: lost SETs, reboots,
 * a skip set by hand, another station, agents that refuse, a collector that dies; alone, and a thousand at random.
 */
#include "collector/precision/steering.h"

#include "agent/sampling/lease.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { AGENTS = 2, PORTS = 4, CONFIGURED = 400, INCONSISTENT_VALUE = 12, AUTHORIZATION = 16, NOT_WRITABLE = 17, SECOND = 1000000 };

struct model_port {
	uint32_t configured, requested;
	bool is_held;
	uint64_t set_s[PRECISION_SETS_AN_HOUR + 1]; /* when it was set, a ring */
	unsigned n_sets;
};

struct model_agent {
	struct lease lease;
	struct model_port ports[PORTS];
	int64_t boot;
	double lost; /* part of the messages */
	bool is_mute, takes_none;
	uint32_t refuses_reads; /* error-status; 0: it does not */
	bool says_leased; /* whatever it is asked: the lease is ours, and no SET is taken */
};

static struct model_agent agents[AGENTS];
static struct steering *steering;
static uint64_t now_us, chance;
static unsigned told[STEERING_TAKEN + 1], n_jobs;
static struct steering_event newest;

static double
draw_part(void)
{
	chance = chance * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(chance >> 11) / 9007199254740992.0;
}

static unsigned
draw_below(unsigned n)
{
	return (unsigned)(draw_part() * n);
}

static void
note_event(void *arg, const struct steering_event *event)
{
	(void)arg;
	told[event->what]++;
	newest = *event;
}

/* ---- the agents ---- */

static void
end_model_requests(struct model_agent *agent)
{
	for (int i = 0; i < PORTS; i++)
		agent->ports[i].requested = 0;
}

static void
reboot(struct model_agent *agent)
{
	agent->lease = (struct lease){0};
	agent->boot++;
	end_model_requests(agent);
}

static uint32_t
in_force(const struct model_port *port)
{
	return port->requested ? port->requested : port->configured;
}

/* Of one life of the collector, which forgets when it dies. */
static void
count_set(struct model_port *port)
{
	unsigned slot = port->n_sets++ % (PRECISION_SETS_AN_HOUR + 1);

	port->set_s[slot] = now_us / SECOND;
	if (port->n_sets > PRECISION_SETS_AN_HOUR)
		ck_assert_uint_ge(now_us / SECOND - port->set_s[(slot + 1) % (PRECISION_SETS_AN_HOUR + 1)], 3600);
}

static uint32_t
answer_ask(struct model_agent *agent, const struct steering_job *job)
{
	const struct lease_claim claim = {.owner = steering->owner, .has_ttl = true, .ttl_s = job->ttl_s, .asks = job->n_ports > 0};

	if (agent->takes_none)
		return NOT_WRITABLE;
	if (agent->says_leased)
		return INCONSISTENT_VALUE;
	for (uint32_t p = 0; p < job->n_ports; p++)
		if (agent->ports[job->if_index[p] - 1].is_held)
			return INCONSISTENT_VALUE;
	if (lease_check(&agent->lease, &claim, now_us) < 0)
		return INCONSISTENT_VALUE;
	if (lease_take(&agent->lease, &claim, now_us))
		end_model_requests(agent);
	for (uint32_t p = 0; p < job->n_ports; p++)
		agent->ports[job->if_index[p] - 1].requested = job->skip[p];
	return 0;
}

static void
answer_read(const struct model_agent *agent, const struct steering_job *job, struct steering_answer *answer)
{
	memcpy(answer->owner, agent->says_leased ? steering->owner : agent->lease.owner, sizeof(answer->owner));
	answer->error_status = agent->refuses_reads;
	for (uint32_t p = 0; p < job->n_ports; p++) {
		const struct model_port *port = &agent->ports[job->if_index[p] - 1];

		answer->rows[p] = (struct steering_row){port->configured, in_force(port), port->requested,
		    port->is_held ? 1 : 2, port->requested ? 2 : 1};
	}
}

static void
serve_job(const struct steering_job *job)
{
	struct model_agent *agent = &agents[steering->agents[job->agent].id - 1];
	struct steering_answer answer = {.has_answer = true};

	ck_assert_uint_lt(n_jobs++, 1000000);
	for (uint32_t p = 0; job->kind == STEERING_ASK && p < job->n_ports; p++)
		count_set(&agent->ports[job->if_index[p] - 1]);
	if (agent->is_mute || draw_part() < agent->lost)
		answer.has_answer = false;
	else if (job->kind == STEERING_ASK)
		answer.error_status = answer_ask(agent, job);
	else
		answer_read(agent, job, &answer);
	if (draw_part() < agent->lost) /* the answer is lost, what was set is set */
		answer = (struct steering_answer){.has_answer = false};
	steering_take(steering, now_us, job, &answer);
}

static void
pass(unsigned seconds)
{
	struct steering_job job;

	for (unsigned i = 0; i < seconds; i++) {
		now_us += SECOND;
		for (int a = 0; a < AGENTS; a++) {
			if (lease_expire(&agents[a].lease, now_us))
				end_model_requests(&agents[a]);
			/* As samples say; they come all the time. */
			if (!agents[a].is_mute)
				steering_note_boot(steering, a + 1, agents[a].boot, now_us);
		}
		while (steering_next(steering, now_us, &job))
			serve_job(&job);
	}
}

/* ---- the station ---- */

static uint32_t
port_of(int agent, int port)
{
	return steering_port(steering, agent + 1, (uint32_t)port + 1);
}

static void
begin_station(void)
{
	free(steering);
	steering = steering_new("station", note_event, NULL);
	for (int a = 0; a < AGENTS; a++)
		for (int p = 0; p < PORTS; p++)
			ck_assert_uint_lt(port_of(a, p), STEERING_PORTS_MAX);
}

static void
set_up(void)
{
	now_us = 1000 * SECOND;
	chance = 1;
	n_jobs = 0;
	memset(told, 0, sizeof(told));
	memset(agents, 0, sizeof(agents));
	for (int a = 0; a < AGENTS; a++) {
		agents[a].boot = 1;
		for (int p = 0; p < PORTS; p++)
			agents[a].ports[p].configured = CONFIGURED;
	}
	begin_station();
	pass(5);
}

static void
tear_down(void)
{
	free(steering);
	steering = NULL;
}

static void
want(int agent, int port, uint32_t skip)
{
	steering_want(steering, port_of(agent, port), skip, 300, PRECISION_WANTED);
}

START_TEST(a_skip_is_set_and_stays)
{
	ck_assert_int_eq(steering_trouble_of(steering, port_of(0, 0)), STEERING_FINE);
	ck_assert_str_eq(agents[0].lease.owner, ""); /* nothing is wanted, nothing is claimed */
	want(0, 0, 128);
	pass(2);
	ck_assert_uint_eq(in_force(&agents[0].ports[0]), 128);
	ck_assert_uint_eq(in_force(&agents[0].ports[1]), CONFIGURED);
	ck_assert_str_eq(agents[0].lease.owner, "station");
	ck_assert_str_eq(agents[1].lease.owner, "");
	ck_assert(newest.what == STEERING_SET && newest.before == CONFIGURED && newest.after == 128);
	pass(4000);
	ck_assert_uint_eq(in_force(&agents[0].ports[0]), 128);
	ck_assert_uint_eq(agents[0].ports[0].n_sets, 1); /* renewals ask for nothing */
	want(0, 0, 0);
	pass(2);
	ck_assert_uint_eq(in_force(&agents[0].ports[0]), CONFIGURED);
	ck_assert_str_eq(agents[0].lease.owner, "");
	ck_assert_uint_eq(told[STEERING_RETURNED], 1);
}
END_TEST

/* One that invents ports takes the room of no other. */
START_TEST(an_agent_has_its_share_of_ports)
{
	uint32_t taken = 0;

	for (uint32_t i = 1; i <= 2 * STEERING_OF_AGENT; i++)
		taken += steering_port(steering, 99, i) != UINT32_MAX;
	ck_assert_uint_eq(taken, STEERING_OF_AGENT);
	ck_assert_uint_eq(steering->refused, STEERING_OF_AGENT);
	ck_assert_uint_lt(steering_port(steering, 99, 7), STEERING_PORTS_MAX); /* one that it has */
	ck_assert_uint_lt(steering_port(steering, 98, 1), STEERING_PORTS_MAX);
}
END_TEST

START_TEST(it_leaves_nothing_behind)
{
	want(0, 0, 128);
	want(1, 2, 64);
	pass(2);
	steering_leave(steering);
	ck_assert(!steering_has_left(steering));
	pass(2);
	ck_assert(steering_has_left(steering));
	ck_assert_uint_eq(in_force(&agents[0].ports[0]), CONFIGURED);
	ck_assert_uint_eq(in_force(&agents[1].ports[2]), CONFIGURED);
	ck_assert_uint_eq(told[STEERING_RETURNED], 2);
}
END_TEST

/* The first SET is on its way, or its answer is lost, when the collector stops: the agent may have given a lease. */
START_TEST(what_may_have_been_taken_is_given_back)
{
	for (int is_lost = 0; is_lost < 2; is_lost++) {
		struct steering_job job;

		want(is_lost, 0, 128);
		now_us += SECOND;
		ck_assert(steering_next(steering, now_us, &job) && job.kind == STEERING_ASK);
		if (is_lost) {
			ck_assert_uint_eq(answer_ask(&agents[is_lost], &job), 0);
			steering_take(steering, now_us, &job, &(struct steering_answer){.has_answer = false});
		}
		steering_leave(steering);
		ck_assert(!steering_has_left(steering));
		if (!is_lost)
			serve_job(&job);
		ck_assert_uint_eq(in_force(&agents[is_lost].ports[0]), 128);
		pass(2);
		ck_assert(steering_has_left(steering));
		ck_assert_uint_eq(in_force(&agents[is_lost].ports[0]), CONFIGURED);
		ck_assert_str_eq(agents[is_lost].lease.owner, "");
		begin_station();
		pass(5);
	}
}
END_TEST

/* A collector that dies: its requests end with their time. The next one finds what stands, and leaves it. */
START_TEST(after_a_death)
{
	want(0, 0, 128);
	pass(2);
	begin_station();
	pass(5);
	ck_assert_uint_eq(steering->plans[port_of(0, 0)].skip, 128);
	pass(1000);
	ck_assert_uint_eq(in_force(&agents[0].ports[0]), 128);
	ck_assert_uint_eq(agents[0].ports[0].n_sets, 1);
	agents[0].lost = 1; /* as if nobody were there */
	pass(STEERING_TTL_S + 1);
	ck_assert_uint_eq(in_force(&agents[0].ports[0]), CONFIGURED);
}
END_TEST

START_TEST(who_sets_by_hand_wins)
{
	struct model_port *port = &agents[0].ports[0];

	want(0, 0, 128);
	want(0, 1, 256);
	pass(2);
	port->configured = 50;
	port->requested = 0;
	port->is_held = true;
	pass(STEERING_RENEW_S + 5);
	ck_assert_int_eq(steering_trouble_of(steering, port_of(0, 0)), STEERING_HELD);
	ck_assert(!steering->plans[port_of(0, 0)].may_move);
	ck_assert_uint_eq(told[STEERING_TROUBLE], 1);
	want(0, 0, 64);
	pass(4000);
	ck_assert_uint_eq(in_force(port), 50);
	ck_assert_uint_eq(port->n_sets, 1);
	ck_assert_uint_eq(in_force(&agents[0].ports[1]), 256);
	port->is_held = false;
	pass(STEERING_RENEW_S + 5);
	ck_assert_int_eq(steering_trouble_of(steering, port_of(0, 0)), STEERING_FINE);
	want(0, 0, 64);
	pass(2);
	ck_assert_uint_eq(in_force(port), 64);
}
END_TEST

START_TEST(a_reboot_is_made_good)
{
	want(0, 0, 128);
	pass(2);
	reboot(&agents[0]);
	ck_assert_uint_eq(in_force(&agents[0].ports[0]), CONFIGURED);
	pass(5);
	ck_assert_uint_eq(in_force(&agents[0].ports[0]), 128);
	ck_assert_uint_eq(told[STEERING_LOST], 1);
	ck_assert_uint_eq(agents[0].ports[0].n_sets, 2);
}
END_TEST

START_TEST(another_station_is_left_alone)
{
	const struct lease_claim other = {.owner = "other", .has_ttl = true, .ttl_s = 1000};

	lease_take(&agents[0].lease, &other, now_us);
	agents[0].ports[0].requested = 1024;
	want(0, 0, 128);
	pass(900);
	ck_assert_uint_eq(in_force(&agents[0].ports[0]), 1024);
	ck_assert_int_eq(steering_trouble_of(steering, port_of(0, 0)), STEERING_FOREIGN);
	ck_assert_uint_le(agents[0].ports[0].n_sets, 1);
	ck_assert_uint_eq(told[STEERING_TROUBLE], 1);
	pass(140);
	ck_assert_str_eq(agents[0].lease.owner, "station");
	ck_assert_uint_eq(in_force(&agents[0].ports[0]), 128);
	ck_assert_uint_eq(told[STEERING_TAKEN], 1);
}
END_TEST

START_TEST(who_refuses_is_left_alone_for_an_hour)
{
	agents[0].takes_none = true;
	want(0, 0, 128);
	pass(3500);
	ck_assert_uint_eq(agents[0].ports[0].n_sets, 1);
	ck_assert_int_eq(steering_trouble_of(steering, port_of(0, 0)), STEERING_NO_LEASES);
	ck_assert_int_eq(newest.trouble, STEERING_NO_LEASES);
	agents[0].takes_none = false;
	pass(200);
	ck_assert_uint_eq(in_force(&agents[0].ports[0]), 128);
}
END_TEST

/* Of one that answers at once nobody asks on and on: a wrong password, rows and SETs that say different things. */
START_TEST(who_answers_anything_is_not_asked_without_end)
{
	static const uint32_t refusals[] = {AUTHORIZATION, INCONSISTENT_VALUE};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		begin_station();
		agents[0].refuses_reads = refusals[i];
		n_jobs = 0;
		want(0, 0, 128);
		pass(3500);
		ck_assert_uint_le(n_jobs, 60); /* the other agent's, too */
		ck_assert_int_eq(steering_trouble_of(steering, port_of(0, 0)), STEERING_REFUSES);
	}
	agents[0].refuses_reads = 0;
	for (int wants = 0; wants < 2; wants++) {
		begin_station();
		agents[0].says_leased = true;
		n_jobs = 0;
		want(0, 0, wants ? 128 : 0);
		pass(3500);
		ck_assert_uint_le(n_jobs, 3 * 3500 / 10);
	}
}
END_TEST

/* A lost SET is sent again, and a silent agent more and more seldom. */
START_TEST(silence)
{
	agents[0].is_mute = true;
	want(0, 0, 128);
	n_jobs = 0;
	pass(8);
	ck_assert_uint_eq(agents[0].ports[0].n_sets, 1);
	pass(3600);
	ck_assert_uint_le(agents[0].ports[0].n_sets, PRECISION_SETS_AN_HOUR);
	ck_assert_uint_le(n_jobs, 100);
	ck_assert_int_eq(steering_trouble_of(steering, port_of(0, 0)), STEERING_SILENT);
	agents[0].is_mute = false;
	pass(3700);
	ck_assert_uint_eq(in_force(&agents[0].ports[0]), 128);
}
END_TEST

/* ---- faults at random ---- */

static const struct lease_claim intruder = {.owner = "other", .has_ttl = true, .ttl_s = 600};

static void
do_harm(void)
{
	struct model_agent *agent = &agents[draw_below(AGENTS)];
	struct model_port *port = &agent->ports[draw_below(PORTS)];

	switch (draw_below(8)) {
	case 0:
		agent->lost = 0.3 + 0.7 * draw_part();
		break;
	case 1:
		reboot(agent);
		break;
	case 2: /* by hand */
		port->configured = 1u << (5 + draw_below(5));
		port->requested = 0;
		port->is_held = true;
		break;
	case 3: /* and told otherwise */
		port->is_held = false;
		break;
	case 4:
		begin_station();
		for (int i = 0; i < AGENTS * PORTS; i++)
			agents[i / PORTS].ports[i % PORTS].n_sets = 0;
		break;
	case 5:
		if (lease_check(&agent->lease, &intruder, now_us) == 0)
			lease_take(&agent->lease, &intruder, now_us);
		break;
	case 6: /* the lease ends otherwise, as by a clock that steps */
		agent->lease = (struct lease){0};
		end_model_requests(agent);
		break;
	case 7:
		agent->is_mute = true;
		break;
	}
}

static void
wish_anew(uint32_t wishes[AGENTS][PORTS])
{
	for (int a = 0; a < AGENTS; a++)
		for (int p = 0; p < PORTS; p++)
			if (draw_below(4) == 0)
				wishes[a][p] = 16u << draw_below(6);
}

/* As the decisions of periods do: what cannot be moved is not wanted. */
static void
repeat_wishes(uint32_t wishes[AGENTS][PORTS])
{
	for (int a = 0; a < AGENTS; a++)
		for (int p = 0; p < PORTS; p++)
			if (steering->plans[port_of(a, p)].may_move && precision_sets_within_hour(&steering->plans[port_of(a, p)], now_us) < PRECISION_CALM_SETS)
				want(a, p, wishes[a][p]);
}

/* Hours of quiet: the pause of who was silent, and the hour's number of SETs, are over. */
static void
settle(uint32_t wishes[AGENTS][PORTS])
{
	for (int a = 0; a < AGENTS; a++)
		agents[a].lost = 0, agents[a].is_mute = false;
	for (int i = 0; i < 16; i++) {
		pass(300);
		repeat_wishes(wishes);
	}
}

START_TEST(a_thousand_faults)
{
	enum { ROUNDS = 125, FAULTS = 8 };
	uint32_t wishes[AGENTS][PORTS];
	unsigned n_held = 0;

	for (int a = 0; a < AGENTS; a++)
		for (int p = 0; p < PORTS; p++)
			wishes[a][p] = 128;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < FAULTS; i++) {
			do_harm();
			if (draw_below(3) == 0)
				wish_anew(wishes);
			pass(draw_below(400));
			repeat_wishes(wishes);
		}
		settle(wishes);
		for (int a = 0; a < AGENTS; a++)
			for (int p = 0; p < PORTS; p++) {
				const struct model_port *port = &agents[a].ports[p];

				n_held += port->is_held;
				ck_assert_msg(in_force(port) == (port->is_held ? port->configured : wishes[a][p]),
				    "round %d agent %d port %d: %u in force, %u wanted, held %d, %s", round, a, p, in_force(port),
				    wishes[a][p], port->is_held,
				    steering_trouble_text(steering_trouble_of(steering, port_of(a, p))));
			}
	}
	printf("%d faults: %u set, %u lost, %u returned, %u troubles, %u over, %u times a port was held\n", ROUNDS * FAULTS,
	    told[STEERING_SET], told[STEERING_LOST], told[STEERING_RETURNED], told[STEERING_TROUBLE], told[STEERING_TAKEN], n_held);
	ck_assert_uint_gt(told[STEERING_LOST], 20);
	ck_assert_uint_gt(told[STEERING_TROUBLE], 50);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {a_skip_is_set_and_stays, an_agent_has_its_share_of_ports, it_leaves_nothing_behind,
	    what_may_have_been_taken_is_given_back, after_a_death, who_sets_by_hand_wins,
	    a_reboot_is_made_good, another_station_is_left_alone, who_refuses_is_left_alone_for_an_hour,
	    who_answers_anything_is_not_asked_without_end, silence,
	    a_thousand_faults};
	Suite *suite = suite_create("steering");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_set_timeout(all, 120);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(all, tests[i]);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
