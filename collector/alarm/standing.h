/*
 * The alarms that stand, found by the tag of their key: a fixed number of them. Used by alarms.c.
 */
#ifndef EASE_COLLECTOR_ALARM_STANDING_H
#define EASE_COLLECTOR_ALARM_STANDING_H

#include "collector/alarm/alarm_rule.h"

struct standing_alarm {
	uint64_t tag; /* 0: a free place */
	uint32_t next; /* in its bucket or of the free ones: index + 1; 0 at the end */
	uint32_t rule;
	int64_t agent;
	uint64_t if_index;
	uint32_t place;
	bool is_below;		/* below half of the rate, since below_us; it may be raised again */
	uint64_t raised_us, last_us; /* of the first and the newest sample, as told of the agent */
	uint64_t raised_mono_us, last_mono_us, below_mono_us;
	uint64_t told_mono_us; /* when it was told of last */
	double rate;	    /* units a second */
	double largest_skip; /* of its samples since it was raised */
	uint64_t missing;    /* of its port's samples that are missing, so many are in the statistic */
	double statistic;   /* of the test that it is over */
	uint8_t key[ALARM_KEY_OCTETS];
};

struct standing_alarms {
	struct standing_alarm *alarms;
	uint32_t *buckets; /* index + 1 */
	uint32_t free;	   /* index + 1 */
	uint32_t most, n;
};

/* Room for `most` alarms, a power of two. 0 or -ENOMEM. */
int standing_init(struct standing_alarms *s, uint32_t most);
void standing_free(struct standing_alarms *s);

struct standing_alarm *standing_find(const struct standing_alarms *s, uint64_t tag);

/* Adds one that is not there; all but its tag is 0. NULL: there is no room. */
struct standing_alarm *standing_add(struct standing_alarms *s, uint64_t tag);
void standing_remove(struct standing_alarms *s, struct standing_alarm *alarm);

#endif
