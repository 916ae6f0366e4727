/*
 * Asks switches by SNMP what their sFlow agents do not send: their names, names of interfaces, their aliases, the link
 * aggregate that they are members of, which of them lead to another switch, and, where no counters are sent, counters. Only addresses that the user wrote down are
 * asked, each with its own credentials; whatever sFlow states, nobody else ever gets a packet.
 *
 * The work is done by a process (poll_process.h) that this one gives questions (poll_plan.h) and takes answers from,
 * without waiting.
 */
#ifndef EASE_COLLECTOR_POLL_POLL_H
#define EASE_COLLECTOR_POLL_POLL_H

#include "collector/poll/poll_plan.h"
#include "common/clock.h"
#include "common/stat.h"

struct poller;

enum poll_stat_id {
	POLL_STAT_QUESTIONS,
	POLL_STAT_ANSWERS,
	POLL_STAT_NAMES,
	POLL_STAT_COUNTERS,
	POLL_STAT_UPLINKS,
	POLL_STAT_CROWDED,
	POLL_STAT_NO_COUNTERS,
	POLL_STAT_SILENT,
	POLL_STAT_UNREACHABLE,
	POLL_STAT_REFUSED,
	POLL_STAT_TOO_BIG,
	POLL_STAT_GARBAGE,
	POLL_STAT_GIVEN_UP,
	POLL_STAT_LEFT,
	POLL_N_STATS,
};

/* Takes what a switch said of a port (false: that port is not there any more), and what is known of the switch. */
struct poll_sink {
	bool (*port)(void *arg, const struct polled_port *port);
	void (*agent)(void *arg, const struct polled_agent *agent);
	void *arg;
};

/* Starts the process, before the collector has threads and memory. settings.most_in_flight is set here. 0 or -errno. */
int poll_open(struct poller **out, const struct poll_source *source, const struct poll_settings *settings,
    const struct clock *clock, const struct poll_sink *sink);
void poll_close(struct poller *p); /* accepts NULL */

/* Asks by other settings from now on (poll_plan_set). */
void poll_set(struct poller *p, const struct poll_settings *settings);

/* Readable when answers are there. */
int poll_fd(const struct poller *p);

/* Takes the answers that are there and asks what is due. Never waits. */
void poll_turn(struct poller *p);

/* Octets of memory that it takes here. */
size_t poll_memory(uint32_t n_places, uint32_t n_agents);

const struct stat_set *poll_stats(const struct poller *p);

#endif
