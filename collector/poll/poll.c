#include "collector/poll/poll.h"
#include "collector/poll/poll_process.h"
#include "common/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ROOM "poll"

enum { ANSWERS_A_TURN = 16 }; /* before other work gets its turn */

static const struct stat_name stat_names[POLL_N_STATS] = {
    [POLL_STAT_QUESTIONS] = {"poll.questions", "SNMP questions sent to switches"},
    [POLL_STAT_ANSWERS] = {"poll.answers", "of these, questions that were answered"},
    [POLL_STAT_NAMES] = {"poll.names", "ports whose names were read"},
    [POLL_STAT_COUNTERS] = {"poll.counters", "times a port's counters were read"},
    [POLL_STAT_UPLINKS] = {"poll.uplinks", "times a port was found to lead to another switch, or no longer to"},
    [POLL_STAT_CROWDED] = {"poll.neighbours_full", "times a switch had more than 256 LLDP neighbours, the rest not used"},
    [POLL_STAT_NO_COUNTERS] = {"poll.no_counters", "times a port was asked for counters and has none of 64 bits"},
    [POLL_STAT_SILENT] = {"poll.silent", "questions without an answer within a second"},
    [POLL_STAT_UNREACHABLE] = {"poll.unreachable", "questions that could not be sent, or that nobody takes there"},
    [POLL_STAT_REFUSED] = {"poll.refused", "questions answered with an error, or by a Report of SNMPv3"},
    [POLL_STAT_TOO_BIG] = {"poll.too_big", "questions whose answer was too long for a switch: it is asked for one port at a time"},
    [POLL_STAT_GARBAGE] = {"poll.garbage", "answers that have more or other objects than the question, not used"},
    [POLL_STAT_GIVEN_UP] = {"poll.given_up", "questions given up because the process that asks ended"},
    [POLL_STAT_LEFT] = {"poll.left", "answers of ports that had left the table of sFlow ports, not used"},
};

static const enum poll_stat_id stat_of[POLL_N_VERDICTS] = {
    [POLL_ANSWERED] = POLL_STAT_ANSWERS,
    [POLL_SILENT] = POLL_STAT_SILENT,
    [POLL_UNREACHABLE] = POLL_STAT_UNREACHABLE,
    [POLL_REFUSED] = POLL_STAT_REFUSED,
    [POLL_TOO_BIG] = POLL_STAT_TOO_BIG,
    [POLL_GARBAGE] = POLL_STAT_GARBAGE,
};

struct poller {
	struct poll_plan *plan;
	const struct clock *clock;
	struct poll_sink sink;
	pid_t pid;
	int fd;
	bool has_waiting; /* a question that the socket had no room for */
	struct poll_job waiting;
	struct poll_answer answer;
	uint64_t expired_us;
	struct stat_set stats;
	_Atomic uint64_t values[POLL_N_STATS];
};

int
poll_open(struct poller **out, const struct poll_source *source, const struct poll_settings *settings,
    const struct clock *clock, const struct poll_sink *sink)
{
	struct poll_settings mine = *settings;
	struct poller *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	mine.most_in_flight = POLL_IN_FLIGHT;
	p->clock = clock;
	p->sink = *sink;
	p->stats = (struct stat_set){stat_names, POLL_N_STATS, p->values};
	r = poll_plan_new(&p->plan, source, &mine);
	if (r == 0)
		r = poll_process_start(&p->pid, &p->fd);
	if (r < 0) {
		poll_plan_free(p->plan);
		free(p);
		return r;
	}
	*out = p;
	return 0;
}

void
poll_set(struct poller *p, const struct poll_settings *settings)
{
	poll_plan_set(p->plan, settings);
	explicit_bzero(&p->waiting, sizeof(p->waiting));
	p->has_waiting = false;
}

void
poll_close(struct poller *p)
{
	if (!p)
		return;
	poll_process_stop(p->pid, p->fd);
	poll_plan_free(p->plan);
	explicit_bzero(&p->waiting, sizeof(p->waiting));
	free(p);
}

int
poll_fd(const struct poller *p)
{
	return p->fd;
}

size_t
poll_memory(uint32_t n_places, uint32_t n_agents)
{
	return sizeof(struct poller) + poll_plan_memory(n_places, n_agents);
}

const struct stat_set *
poll_stats(const struct poller *p)
{
	return &p->stats;
}

static void
count_poll(struct poller *p, enum poll_stat_id which)
{
	stat_add_own(&p->stats, which, 1);
}

static uint64_t
poll_wall_of(const struct poller *p, uint64_t mono_us)
{
	return mono_us == 0 ? 0 : clock_wall_us(p->clock) - (clock_mono_us(p->clock) - mono_us);
}

static void
tell_of_agent(struct poller *p, uint32_t id)
{
	struct polled_agent agent;

	if (!poll_plan_news(p->plan, id, clock_mono_us(p->clock), &agent))
		return;
	agent.names_us = poll_wall_of(p, agent.names_us);
	agent.counters_us = poll_wall_of(p, agent.counters_us);
	agent.silent_us = poll_wall_of(p, agent.silent_us);
	p->sink.agent(p->sink.arg, &agent);
}

static void
poll_take_port(void *arg, const struct polled_port *port, uint64_t read_mono_us)
{
	struct poller *p = arg;
	struct polled_port read = *port;

	if (read.parts == 0) {
		count_poll(p, POLL_STAT_NO_COUNTERS);
		return;
	}
	read.read_us = poll_wall_of(p, read_mono_us);
	if (!p->sink.port(p->sink.arg, &read))
		count_poll(p, POLL_STAT_LEFT);
	else
		count_poll(p, read.parts & POLLED_UPLINK ? POLL_STAT_UPLINKS
		    : read.parts & POLLED_NAMES	    ? POLL_STAT_NAMES
						    : POLL_STAT_COUNTERS);
}

static void
poll_take_answers(struct poller *p)
{
	for (unsigned i = 0; i < ANSWERS_A_TURN; i++) {
		if (!poll_process_answer(&p->fd, &p->answer) || p->answer.verdict >= POLL_N_VERDICTS)
			return;
		if (!poll_plan_answer(p->plan, clock_mono_us(p->clock), &p->answer, poll_take_port, p))
			continue;
		count_poll(p, stat_of[p->answer.verdict]);
		tell_of_agent(p, p->answer.id);
	}
}

static void
send_questions(struct poller *p)
{
	while (p->has_waiting || poll_plan_next(p->plan, clock_mono_us(p->clock), &p->waiting)) {
		p->has_waiting = send(p->fd, &p->waiting, sizeof(p->waiting), MSG_DONTWAIT | MSG_NOSIGNAL) < 0;
		if (p->has_waiting)
			return;
		count_poll(p, POLL_STAT_QUESTIONS);
	}
}

void
poll_turn(struct poller *p)
{
	uint64_t now_us = clock_mono_us(p->clock);

	poll_take_answers(p);
	if (now_us - p->expired_us >= 1000000) {
		p->expired_us = now_us;
		stat_add_own(&p->stats, POLL_STAT_GIVEN_UP, poll_plan_expire(p->plan, now_us));
		stat_raise(&p->stats, POLL_STAT_CROWDED, poll_plan_crowded(p->plan));
	}
	send_questions(p);
}
