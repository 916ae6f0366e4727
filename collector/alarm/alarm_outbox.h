/*
 * What receivers outside are told of alarms: each receiver is told once that an alarm is raised and once that it is
 * over, in this order, whatever fails in between. A state for each alarm and receiver, no I/O: who sends
 * (collector_alarms.c) asks what is next, and says whether the receiver took it. So nothing waits for a receiver that is
 * slow, and what one that was away must know it is told when it is back.
 *
 * An alarm that is over is told so when it has stayed over for the hold; if it comes back before, receivers are told
 * nothing, and the hold of this alarm is twice as long, up to HOLD_MOST times the first. A receiver that acts (a route
 * that drops traffic) so acts once on an alarm that comes and goes.
 *
 * A receiver that acts is never told of an alarm that was over before it could be told; one that reports is.
 *
 * OUTBOX_ALARMS at a time, OUTBOX_OF_AGENT of one agent. An agent that has so many pays itself: its oldest that is over
 * and that nobody must be told to be so goes, or what it raises next is not taken; both are counted. What a receiver does
 * not take for a day is forgotten. One thread uses it; times are passed in.
 */
#ifndef EASE_COLLECTOR_ALARM_ALARM_OUTBOX_H
#define EASE_COLLECTOR_ALARM_ALARM_OUTBOX_H

#include "collector/alarm/alarm_rule.h"
#include "common/sample.h"
#include "common/stat.h"

enum {
	OUTBOX_ALARMS = 4096,
	OUTBOX_OF_AGENT = OUTBOX_ALARMS / 8,
	OUTBOX_FEW = 8,
	OUTBOX_RECEIVERS_MAX = 9,
	OUTBOX_HOLD_MOST = 16,
	OUTBOX_ADDRESS_TEXT = 64,
};

/* An alarm as receivers are told of it; all texts are printable. */
struct alarm_fact {
	uint64_t id; /* of the rule, key and port, the same for each time it is raised */
	bool is_over;
	bool is_stopping; /* over, because the collector stops and nobody would tell it later */
	enum alarm_kind kind;
	char rule[ALARM_RULE_TEXT], key[ALARM_KEY_TEXT];
	struct alarm_key_parts parts;
	char agent_id[2 * EASE_AGENT_ID_LEN + 1], agent[OUTBOX_ADDRESS_TEXT]; /* its address */
	int64_t agent_number; /* of the store */
	uint64_t if_index;    /* 0: the rule is of all ports */
	char port[EASE_NAME_MAX + 1];
	bool is_accused; /* the port's samples are not sound (audit) */
	uint64_t raised_us, over_us; /* by the agent's clock as it is believed; over_us 0: it stands */
};

enum outbox_stat_id {
	OUTBOX_STAT_RAISED,
	OUTBOX_STAT_OVER,
	OUTBOX_STAT_FAILED,
	OUTBOX_STAT_HELD,
	OUTBOX_STAT_NOT_TOLD,
	OUTBOX_STAT_NO_ROOM,
	OUTBOX_N_STATS,
};

struct outbox;

/* acts: for each receiver, whether it acts, else it reports. hold_us: the first hold. 0 or -ENOMEM. */
int outbox_new(struct outbox **out, size_t n_receivers, const bool *acts, uint64_t hold_us);
void outbox_free(struct outbox *o);
size_t outbox_memory(void); /* octets */

/* Notes that an alarm is raised or over; over_us and is_over of the fact say which. */
void outbox_note(struct outbox *o, const struct alarm_fact *fact, uint64_t mono_us);

/* What the receiver is to be told next, that it is raised or over by is_over; until outbox_answered it is told nothing
 * else. NULL: nothing now. Valid until the next call. */
const struct alarm_fact *outbox_next(struct outbox *o, size_t receiver, uint64_t mono_us);

/* The receiver took it, or did not: then it is asked again 10 s later, 60 s, and each 300 s. */
void outbox_answered(struct outbox *o, size_t receiver, bool is_taken, uint64_t mono_us);

/* To be called each second or so: forgets what is told and over. */
void outbox_tick(struct outbox *o, uint64_t mono_us);

/* Alarms that some receiver must still be told of, or that are not over. */
size_t outbox_alarms(const struct outbox *o);

const struct stat_set *outbox_stats(const struct outbox *o);

#endif
