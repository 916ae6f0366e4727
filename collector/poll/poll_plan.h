/*
 * Whom to ask what, and when: pure, no I/O, time is passed in.
 *
 * Each port is asked for its names at once, and again each hour; for its counters each interval, if its agent has sent
 * none for POLL_PATIENCE_US since the port was met. Each hour, and when ports are new, the switch is asked for its LLDP
 * neighbours; ports that lead to another one of these switches are uplinks (poll_links.h). A switch is asked one question at a time. One that does not answer
 * is asked again after some seconds, then after a minute, and after twice the time with each further failure, up to an
 * hour; and who has not answered yet, or not lately, has at most half of all questions on their way. All together ask
 * no more than so many questions a second, each switch in its turn.
 */
#ifndef EASE_COLLECTOR_POLL_POLL_PLAN_H
#define EASE_COLLECTOR_POLL_POLL_PLAN_H

#include "collector/poll/poll_job.h"

/* The inventory of whom there is (collector/polled.h); places are 0 up to n_places - 1, agents' 0 up to n_agents - 1. */
struct poll_source {
	bool (*place)(void *arg, uint32_t place, struct polled_place *to);
	void *arg;
	uint32_t n_places, n_agents;
};

/* Switches that may be asked, by the address that they state; the first prefix that holds it counts. */
struct poll_target {
	struct prefix agents;
	uint16_t udp_port;
	uint32_t as; /* index into credentials */
};

struct poll_settings {
	const struct poll_target *targets; /* all borrowed */
	size_t n_targets;
	const struct poll_credentials *credentials;
	uint64_t counters_us, names_us; /* how often */
	uint32_t questions_a_second;
	uint32_t most_in_flight;
};

struct poll_plan;

/* 0 or -ENOMEM. */
int poll_plan_new(struct poll_plan **out, const struct poll_source *source, const struct poll_settings *settings);
void poll_plan_free(struct poll_plan *plan);

/* Others are asked from now on, or otherwise; most_in_flight stays. What was asked before has no answer any more, and who
 * was silent is asked again at once. The settings before are not used any more. */
void poll_plan_set(struct poll_plan *plan, const struct poll_settings *settings);
size_t poll_plan_memory(uint32_t n_places, uint32_t n_agents); /* octets */

/* Fills in the next question that is due; false: none is now. Times are monotonic. */
bool poll_plan_next(struct poll_plan *plan, uint64_t now_us, struct poll_job *job);

/* Takes an answer, or that there was none. Each port that was asked for is given to take, with parts 0 if it has nothing
 * of it; read_us is the caller's to fill in. False: nobody waits for it. */
typedef void poll_take(void *arg, const struct polled_port *port, uint64_t read_mono_us);
bool poll_plan_answer(
    struct poll_plan *plan, uint64_t now_us, const struct poll_answer *answer, poll_take *take, void *arg);

/* After an answer, or its absence: what is known of that switch by now, times monotonic. False: nothing of it is news,
 * which it is each 20 s, and when its name or whether it answers changes. */
bool poll_plan_news(struct poll_plan *plan, uint32_t id, uint64_t now_us, struct polled_agent *to);

/* How often a switch had more neighbours than are kept of one (poll_links.h), so far. */
uint64_t poll_plan_crowded(const struct poll_plan *plan);

/* Gives up what has not been answered although its time is over by far: the process that had it ended. Returns how
 * many. */
unsigned poll_plan_expire(struct poll_plan *plan, uint64_t now_us);

#endif
