/* Whom the collector asks what, and when, by a stepped clock: beside switches that do not answer. */
#include "collector/poll/poll_plan.h"
#include "tests/suite.h"

#include <stdio.h>
#include <string.h>

#define SECOND_US UINT64_C(1000000)

enum { AGENTS = 200, PORTS = 2, PLACES = AGENTS * PORTS, IN_FLIGHT = 64 };

static struct switches {
	bool is_there[AGENTS], sends_counters[AGENTS], is_silent[AGENTS];
	uint32_t number[AGENTS];
	char address[AGENTS][16];
} switches;
static struct poll_plan *plan;
static uint64_t now_us;
static struct poll_target target;
static struct poll_credentials credentials = {.community = "secret"};
static unsigned n_named, n_counted, n_uplinks;
static uint64_t read_us;
static struct polled_port taken; /* the last one */

static bool
see(void *arg, uint32_t place, struct polled_place *to)
{
	uint32_t agent = place / PORTS;

	(void)arg;
	if (!switches.is_there[agent])
		return false;
	*to = (struct polled_place){.place = place, .number = switches.number[agent], .agent = agent,
	    .if_index = 100 + place % PORTS, .address = switches.address[agent],
	    .sends_counters = switches.sends_counters[agent]};
	return true;
}

static void
take(void *arg, const struct polled_port *port, uint64_t at_us)
{
	(void)arg;
	n_named += (port->parts & POLLED_NAMES) != 0;
	n_counted += (port->parts & POLLED_COUNTERS) != 0;
	n_uplinks += (port->parts & POLLED_UPLINK) != 0;
	taken = *port;
	read_us = at_us;
}

static void
begin(uint32_t questions_a_second)
{
	const struct poll_source source = {see, NULL, PLACES, AGENTS};
	const struct poll_settings settings = {&target, 1, &credentials, 30 * SECOND_US, 3600 * SECOND_US,
	    questions_a_second, IN_FLIGHT};
	const char *reason;

	memset(&switches, 0, sizeof(switches));
	for (int i = 0; i < AGENTS; i++) {
		switches.number[i] = (uint32_t)i + 1;
		snprintf(switches.address[i], sizeof(switches.address[i]), "10.0.%d.%d", i / 100, i % 100);
	}
	ck_assert_int_eq(prefix_parse("10.0.0.0/16", &target.agents, &reason), 0);
	target.udp_port = 161;
	now_us = 1000 * SECOND_US;
	n_named = n_counted = n_uplinks = 0;
	ck_assert_int_eq(poll_plan_new(&plan, &source, &settings), 0);
}

static void
end(void)
{
	poll_plan_free(plan);
}

/* What a switch says that has both, with counters of this many octets. */
static struct poll_answer
answer_of(const struct poll_job *job, uint64_t octets)
{
	struct poll_answer a = {.id = job->id, .verdict = POLL_ANSWERED, .asked_us = now_us, .answered_us = now_us + 400};

	for (uint32_t i = 0; i < job->n_ports; i++) {
		a.ports[i].has_name = a.ports[i].has_counters = true;
		snprintf(a.ports[i].name, sizeof(a.ports[i].name), "if%u", job->if_index[i]);
		a.ports[i].in.octets = octets;
		a.ports[i].speed_mbps = 10000;
	}
	return a;
}

static unsigned
agent_of(const struct poll_job *job)
{
	unsigned high, low;

	ck_assert_int_eq(sscanf(job->address, "10.0.%u.%u", &high, &low), 2);
	return 100 * high + low;
}

/* By LLDP. Port 101 of each of the first ones is linked so; ids are numbers of chassis and port. */
static struct {
	unsigned remote_chassis, rows; /* rows: 0 none */
	uint64_t remote_port;
	bool by_name; /* its local port has a number of its own, and its interface's name */
} neighbours[AGENTS];

static void
answer_links(const struct poll_job *job, unsigned agent, struct poll_answer *a)
{
	unsigned done = job->cursor[0], rows = neighbours[agent].rows;

	if (job->parts == POLL_LOCAL_PORTS) {
		a->chassis = 1000 + agent;
		for (uint32_t i = 0; i < job->n_ports; i++)
			a->ports[i].local_id = neighbours[agent].by_name ? poll_text_hash("if101", 5) : job->if_index[i];
		return;
	}
	for (; a->n_neighbours < POLL_NEIGHBOURS_MAX && done < rows; done++)
		a->neighbours[a->n_neighbours++] = (struct poll_neighbour){neighbours[agent].by_name ? 1 : 101,
		    poll_neighbour_id(1000 + neighbours[agent].remote_chassis, neighbours[agent].remote_port)};
	a->cursor[0] = a->cursor[1] = done;
	a->has_more = done < rows;
}

/* Asks what is due now, and answers but for those that are silent, whose second is over before the next. */
static unsigned
turn(void)
{
	struct poll_job job, silent[IN_FLIGHT];
	unsigned n = 0, n_silent = 0;

	while (poll_plan_next(plan, now_us, &job)) {
		struct poll_answer a = answer_of(&job, 5);

		if (job.parts & (POLL_NEIGHBOURS | POLL_LOCAL_PORTS))
			answer_links(&job, agent_of(&job), &a);
		n += (job.parts & (POLLED_NAMES | POLLED_COUNTERS)) != 0;
		if (switches.is_silent[agent_of(&job)])
			silent[n_silent++] = job;
		else
			ck_assert(poll_plan_answer(plan, now_us + 400, &a, take, NULL));
	}
	now_us += SECOND_US;
	for (unsigned i = 0; i < n_silent; i++) {
		struct poll_answer a = {.id = silent[i].id, .verdict = POLL_SILENT};

		ck_assert(poll_plan_answer(plan, now_us, &a, take, NULL));
	}
	return n;
}

static unsigned
turns(unsigned seconds)
{
	unsigned n = 0;

	while (seconds-- > 0)
		n += turn();
	return n;
}

START_TEST(names_at_once_and_hourly)
{
	begin(100);
	switches.is_there[3] = switches.sends_counters[3] = true;
	ck_assert_uint_eq(turn(), 1); /* both ports in one */
	ck_assert_uint_eq(n_named, 2);
	ck_assert_str_eq(taken.name, "if101");
	ck_assert_uint_eq(read_us, 1000 * SECOND_US + 200);
	ck_assert_uint_eq(turns(3599), 0);
	ck_assert_uint_eq(turns(2), 1);
	ck_assert_uint_eq(n_counted, 0);
	switches.number[3] = 1000; /* another switch took its place */
	ck_assert_uint_eq(turns(2), 1);
	ck_assert_uint_eq(taken.number, 1000);
	end();
}
END_TEST

START_TEST(counters_of_who_sends_none)
{
	begin(100);
	switches.is_there[3] = switches.is_there[4] = switches.sends_counters[4] = true;
	turns(59);
	ck_assert_uint_eq(n_counted, 0);
	turns(3);
	ck_assert_uint_eq(n_counted, 2);
	ck_assert_uint_eq(taken.speed_bps, 10000000000);
	turns(300);
	ck_assert_uint_ge(n_counted, 2 + 2 * 9);
	ck_assert_uint_le(n_counted, 2 + 2 * 10);
	switches.sends_counters[3] = true;
	n_counted = 0;
	turns(300);
	ck_assert_uint_eq(n_counted, 0);
	end();
}
END_TEST

START_TEST(discontinuity)
{
	static const struct {
		uint32_t discontinuity_cs, uptime_cs;
		bool began_anew;
	} answers[] = {{0, 0, false} /* names */, {5, 100, false}, {5, 3100, false}, {77, 6100, true}, {77, 9100, false},
	    {0, 12100, true}, {0, 15100, false}, {0, 40, true} /* started again */, {0, 3040, false}};
	struct poll_job job;
	struct poll_answer a;

	begin(100);
	switches.is_there[3] = true;
	for (size_t n = 0; n < sizeof(answers) / sizeof(answers[0]); n++) {
		while (!poll_plan_next(plan, now_us, &job))
			now_us += SECOND_US;
		a = answer_of(&job, n);
		a.uptime_cs = answers[n].uptime_cs;
		for (int i = 0; i < PORTS; i++)
			a.ports[i].discontinuity_cs = answers[n].discontinuity_cs;
		ck_assert(poll_plan_answer(plan, now_us, &a, take, NULL));
		ck_assert_uint_eq(taken.began_anew, answers[n].began_anew);
	}
	end();
}
END_TEST

/* An address that sFlow states gets a question only if the user wrote it down. */
START_TEST(nobody_else_is_asked)
{
	begin(100);
	switches.is_there[3] = true;
	snprintf(switches.address[3], sizeof(switches.address[3]), "10.1.0.3");
	ck_assert_uint_eq(turns(200), 0);
	switches.number[3] = 1000;
	snprintf(switches.address[3], sizeof(switches.address[3]), "x");
	ck_assert_uint_eq(turns(200), 0);
	end();
}
END_TEST

/* The times between questions to one that is silent: 5 s, a minute, twice that, … an hour. */
START_TEST(silent_ones_are_asked_ever_more_rarely)
{
	static const unsigned pauses[] = {5, 60, 120, 240, 480, 960, 1920, 3600, 3600};

	begin(100);
	switches.is_there[3] = switches.is_silent[3] = true;
	ck_assert_uint_eq(turn(), 1);
	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		uint64_t since_us = now_us;

		while (turn() == 0)
			ck_assert_uint_le(now_us - since_us, 4000 * SECOND_US);
		ck_assert_uint_ge((now_us - SECOND_US - since_us) / SECOND_US, pauses[i] - 1);
		ck_assert_uint_le((now_us - SECOND_US - since_us) / SECOND_US, pauses[i] + 1);
	}
	switches.is_silent[3] = false;
	turns(3700);
	ck_assert_uint_ge(n_named, 2);
	ck_assert_uint_ge(n_counted, 2); /* an answer ends it */
	end();
}
END_TEST

/* A tenth of all never answers: the others get what they would get without. */
START_TEST(silent_ones_cost_nobody)
{
	unsigned named[2], counted[2];

	for (int with = 0; with < 2; with++) {
		begin(1000);
		for (int i = 0; i < AGENTS; i++) {
			switches.is_silent[i] = i % 10 == 0;
			switches.is_there[i] = with || !switches.is_silent[i];
		}
		turns(300);
		named[with] = n_named;
		counted[with] = n_counted;
		end();
	}
	ck_assert_uint_eq(named[0], 180 * PORTS);
	ck_assert_uint_eq(named[1], named[0]);
	ck_assert_uint_ge(counted[1] + 180 * PORTS / 10, counted[0]);
}
END_TEST

/* Who has not answered yet has half of what may be on its way, whoever else waits. */
START_TEST(strangers_leave_room)
{
	struct poll_job job;
	unsigned n = 0;

	begin(1000);
	switches.is_there[0] = true;
	turns(2);
	for (int i = 1; i < AGENTS; i++)
		switches.is_there[i] = true;
	now_us += SECOND_US;
	while (poll_plan_next(plan, now_us, &job))
		n++;
	ck_assert_uint_eq(n, IN_FLIGHT / 2);
	now_us += 60 * SECOND_US;
	ck_assert(poll_plan_next(plan, now_us, &job));
	ck_assert_uint_eq(agent_of(&job), 0); /* its counters */
	end();
}
END_TEST

START_TEST(questions_a_second)
{
	unsigned n;

	begin(7);
	for (int i = 0; i < AGENTS; i++)
		switches.is_there[i] = true;
	turns(1); /* it may begin with a second's worth */
	n = turns(20);
	ck_assert_uint_ge(n, 20 * 7 - 7);
	ck_assert_uint_le(n, 20 * 7 + 7);
	end();
}
END_TEST

/* Two that name each other's port are linked; one of whom a third says so is not, nor is that one. */
START_TEST(links)
{
	memset(neighbours, 0, sizeof(neighbours));
	begin(100);
	for (int i = 1; i <= 4; i++)
		switches.is_there[i] = switches.sends_counters[i] = true;
	neighbours[1] = (typeof(*neighbours)){2, 1, 101, false};
	neighbours[2] = (typeof(*neighbours)){1, 1, 101, false};
	neighbours[3] = (typeof(*neighbours)){1, 1, 101, false}; /* a host there says that it is 1 */
	neighbours[4] = (typeof(*neighbours)){9, 1000, 9, false};
	turns(10);
	ck_assert_uint_eq(n_uplinks, 2);
	ck_assert(taken.is_uplink);
	ck_assert_uint_eq(taken.if_index, 101);
	ck_assert_uint_eq(turns(3580), 0);
	ck_assert_uint_eq(n_uplinks, 2);
	neighbours[1].rows = neighbours[2].rows = 0; /* the cable is pulled */
	turns(60);
	ck_assert_uint_eq(n_uplinks, 4);
	ck_assert(!taken.is_uplink);
	end();
}
END_TEST

/* LLDP numbers ports as it likes: then the interface's name tells. */
START_TEST(links_by_name)
{
	memset(neighbours, 0, sizeof(neighbours));
	begin(100);
	for (int i = 1; i <= 2; i++)
		switches.is_there[i] = switches.sends_counters[i] = true;
	neighbours[1] = (typeof(*neighbours)){2, 1, 101, true};
	neighbours[2] = (typeof(*neighbours)){1, 1, poll_text_hash("if101", 5), false};
	turns(10);
	ck_assert_uint_eq(n_uplinks, 2);
	end();
}
END_TEST

/* One whose messages are short is asked for one port at a time, and if even that is too much, as one that is silent. */
START_TEST(short_messages)
{
	struct poll_job job;
	struct poll_answer a;

	begin(100);
	switches.is_there[3] = true;
	for (int port = -1; port < PORTS; port++) {
		ck_assert(poll_plan_next(plan, now_us, &job));
		ck_assert_uint_eq(job.n_ports, port < 0 ? PORTS : 1);
		a = answer_of(&job, 1);
		a.verdict = port < 0 ? POLL_TOO_BIG : POLL_ANSWERED;
		ck_assert(poll_plan_answer(plan, now_us, &a, take, NULL));
		ck_assert_uint_eq(n_named, port + 1);
	}
	switches.number[3] = 1000;
	for (int i = 0; i < 2; i++) {
		while (!poll_plan_next(plan, now_us, &job))
			now_us += SECOND_US;
		a = (struct poll_answer){.id = job.id, .verdict = POLL_TOO_BIG};
		ck_assert(poll_plan_answer(plan, now_us, &a, take, NULL));
	}
	ck_assert(!poll_plan_next(plan, now_us + SECOND_US, &job));
	end();
}
END_TEST

/* One that has left is not asked for neighbours either. */
START_TEST(who_has_left)
{
	struct poll_job job;

	memset(neighbours, 0, sizeof(neighbours));
	begin(100);
	switches.is_there[3] = true;
	turns(5);
	switches.is_there[3] = false;
	for (int i = 0; i < 8000; i++, now_us += SECOND_US)
		ck_assert(!poll_plan_next(plan, now_us, &job));
	end();
}
END_TEST

/* Who is in the new settings is asked by them, at once even if he was silent; who is not is not, and confirms no link. */
START_TEST(other_settings)
{
	const struct poll_credentials others = {.community = "other"};
	struct poll_settings settings = {&target, 1, &credentials, 30 * SECOND_US, 3600 * SECOND_US, 100, 1};
	struct poll_target upper = {.udp_port = 1161};
	const char *reason;
	struct poll_job job;

	ck_assert_int_eq(prefix_parse("10.0.1.0/24", &upper.agents, &reason), 0);
	memset(neighbours, 0, sizeof(neighbours));
	begin(100);
	neighbours[1] = (typeof(*neighbours)){102, 1, 101, false};
	neighbours[102] = (typeof(*neighbours)){1, 1, 101, false};
	switches.is_there[1] = switches.sends_counters[1] = true;
	switches.is_there[102] = switches.sends_counters[102] = true;
	switches.is_there[103] = switches.is_silent[103] = true;
	turns(200);
	ck_assert_uint_eq(n_uplinks, 2);
	ck_assert(!poll_plan_next(plan, now_us, &job));
	switches.is_there[104] = true;
	poll_plan_set(plan, &(struct poll_settings){&upper, 1, &others, 30 * SECOND_US, 3600 * SECOND_US, 100, 1});
	for (unsigned agents = 0; agents != (1u << 3 | 1u << 4);) {
		ck_assert(poll_plan_next(plan, now_us, &job));
		ck_assert_str_eq(job.as.community, "other");
		ck_assert_uint_eq(job.udp_port, 1161);
		ck_assert_uint_ge(agent_of(&job), 103);
		agents |= 1u << (agent_of(&job) - 100);
	}
	turns(4000); /* 102 has read its neighbours again */
	ck_assert_uint_eq(n_uplinks, 3);
	poll_plan_set(plan, &settings);
	turns(4000);
	ck_assert_uint_ge(n_uplinks, 4);
	end();
}
END_TEST

START_TEST(what_nobody_waits_for)
{
	struct poll_job job;
	struct poll_answer a;

	begin(100);
	switches.is_there[3] = true;
	ck_assert(poll_plan_next(plan, now_us, &job));
	a = answer_of(&job, 1);
	a.id += 1u << 12;
	ck_assert(!poll_plan_answer(plan, now_us, &a, take, NULL));
	a.id = 4095;
	ck_assert(!poll_plan_answer(plan, now_us, &a, take, NULL));
	a.id = 0;
	ck_assert(!poll_plan_answer(plan, now_us, &a, take, NULL));
	ck_assert_uint_eq(n_named, 0);
	now_us += 5 * SECOND_US;
	ck_assert_uint_eq(poll_plan_expire(plan, now_us), 0);
	now_us += 6 * SECOND_US;
	ck_assert_uint_eq(poll_plan_expire(plan, now_us), 1); /* the process that had it ended */
	a = answer_of(&job, 1);
	ck_assert(!poll_plan_answer(plan, now_us, &a, take, NULL));
	now_us += 5 * SECOND_US;
	ck_assert(poll_plan_next(plan, now_us, &job));
	a = answer_of(&job, 1);
	ck_assert(poll_plan_answer(plan, now_us, &a, take, NULL));
	ck_assert(!poll_plan_answer(plan, now_us, &a, take, NULL)); /* twice */
	ck_assert_uint_eq(n_named, 2);
	end();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("poll_plan");
	TCase *tests = tcase_create("plan");

	tcase_add_test(tests, names_at_once_and_hourly);
	tcase_add_test(tests, counters_of_who_sends_none);
	tcase_add_test(tests, discontinuity);
	tcase_add_test(tests, nobody_else_is_asked);
	tcase_add_test(tests, silent_ones_are_asked_ever_more_rarely);
	tcase_add_test(tests, silent_ones_cost_nobody);
	tcase_add_test(tests, strangers_leave_room);
	tcase_add_test(tests, questions_a_second);
	tcase_add_test(tests, links);
	tcase_add_test(tests, links_by_name);
	tcase_add_test(tests, short_messages);
	tcase_add_test(tests, who_has_left);
	tcase_add_test(tests, other_settings);
	tcase_add_test(tests, what_nobody_waits_for);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
