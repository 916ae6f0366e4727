/*
 * Alarms: each rule is a sequential test on the samples as they arrive (sequential.h), with a stated rate of
 * false alarms: at most so many a month over all keys and rules (ALARM_FALSE_A_MONTH), whatever the traffic.
 *
 * What is tested are received frames of edge ports, as in lists, because a frame that crosses several
 * switches counts once. The gate: while the pool of a port itself conforms to the bucket of a rule "of each
 * port", no key of it can fail, so its samples are not tested and its runs begin anew.
 *
 * The skip in force is the sample's own. Runs have a reference skip, the mean of what the port of their first sample
 * sampled in a minute, and the largest skip of their samples: both are of the ports that give the run its samples, so
 * nobody else's skips matter to it. Over all ports samples have times of several clocks: there the bucket holds so much
 * more as may come while clocks that are believed differ. A sender that takes every Nth frame
 * is no such sampler; for its samples no rate is stated.
 *
 * An alarm stands until the key is below half of the rate: told by another test on its samples, by silence,
 * or not at all while its agent is away. What is raised again within a minute is the same alarm.
 *
 * Memory is fixed: 131,072 runs, ALARM_STANDING alarms, of which each port has its share, and a state for each port and rule. One thread uses
 * it; times are passed in.
 */
#ifndef EASE_COLLECTOR_ALARM_ALARMS_H
#define EASE_COLLECTOR_ALARM_ALARMS_H

#include "collector/alarm/alarm_rule.h"
#include "collector/alarm/sequential.h"
#include "collector/window/sample_watch.h"
#include "common/stat.h"

enum { ALARM_STANDING = 4096 };

#define ALARM_FALSE_A_MONTH 1.0
/* So many times its tolerance two clocks may differ that are believed: an honest one is behind by it, and who wants to
 * be ahead can be by twice of it (window/device_clock.h). */
#define ALARM_CLOCKS_APART 3
#define ALARM_CLOCKS_S	   6.0
/* Samples of a month for which the rate is stated at first; it follows what really comes, by the largest hour
 * so far. *assumed* */
#define ALARM_SAMPLES_A_MONTH (2000.0 * 86400 * 30)

enum alarm_stat_id {
	ALARM_STAT_TESTED,
	ALARM_STAT_GATED,
	ALARM_STAT_RAISED,
	ALARM_STAT_CLEARED,
	ALARM_STAT_RAISED_AGAIN,
	ALARM_STAT_RUNS_PUSHED,
	ALARM_STAT_NO_ROOM,
	ALARM_N_STATS,
};

/* An alarm that was raised, that stands, or that is over. */
struct alarm_told {
	enum alarm_news { ALARM_IS_RAISED, ALARM_IS_OVER, ALARM_STANDS } news; /* the last each day */
	const struct alarm_rule *rule;
	int64_t agent;	   /* where the sample came from that raised it */
	uint64_t if_index; /* of that port; 0: the rule is of all ports */
	uint64_t raised_us, over_us; /* by the agent's clock as the accounting believes it */
	char key[ALARM_KEY_TEXT];
	struct alarm_key_parts parts;
};
typedef void alarm_teller(void *arg, const struct alarm_told *told);

struct alarms;

/* n_ports: places that a port may have. tolerance_us: so much a clock of an agent may be wrong and be believed; 0: it is
 * not limited, and ALARM_CLOCKS_S is taken. Returns 0 or -ENOMEM. */
int alarms_new(struct alarms **out, uint32_t n_ports, uint64_t tolerance_us, uint64_t seed, alarm_teller *tell, void *arg);
void alarms_free(struct alarms *a);

/* Puts these rules in force, ALARM_RULES_MAX at most. Alarms of rules that are gone are over; the runs of others
 * begin anew where their place in the list has changed. 0 or -ENOMEM: then the old rules stay. */
int alarms_set_rules(struct alarms *a, const struct alarm_rule *rules, size_t n, uint64_t mono_us);

/* Takes a sample. arg of both is the struct alarms (sample_watch.h). */
void alarms_sample(void *arg, const struct watched_sample *s);

/* Notes that counters of a port came: what is silent there sends nothing. Without samples and counters nobody
 * knows, and alarms stay as they are. */
void alarms_heard(void *arg, int64_t agent, uint64_t if_index, uint32_t place, uint64_t mono_us);

/* To be called each second or so: ends alarms of keys that are silent, tells of those that have stood for another day,
 * and states the rate anew. */
void alarms_tick(struct alarms *a, uint64_t mono_us);

/* How many alarms stand. */
size_t alarms_standing(const struct alarms *a);

/* False alarms to be expected at most since the month began, from what was tested. */
double alarms_risk(const struct alarms *a);

const struct stat_set *alarms_stats(const struct alarms *a);

#endif
