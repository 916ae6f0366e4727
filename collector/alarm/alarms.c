#include "collector/alarm/alarms.h"
#include "collector/alarm/alarm_runs.h"
#include "collector/alarm/standing.h"
#include "common/hash.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The part of its burst that a port may have used and still be gated. More would cost delay, because frames
 * that were not tested are missing in a run. */
#define GATE_PART 0.25

/* When the mean skip of a minute has moved by so much, runs begin anew with it. */
#define SKIP_MOVED 2.0

#define SKIP_MINUTE_US	60000000ull
#define SKIP_KEPT_US	600000000ull /* so long the largest skip counts for runs that may have begun under it */
#define HOUR_US		3600000000ull
#define HOURS_A_MONTH	720
#define CLEAR_LEAST_US	10000000ull
#define AGAIN_WITHIN_US 60000000ull

enum { STEPS_KEPT = 64 }; /* a power of two */

/* The skips of a port, or of all of them. */
struct skips {
	double reference;	 /* of the runs; 0: no sample came */
	double sum, n;		 /* of the samples of this minute */
	uint64_t minute_us;	 /* when it began */
	double largest, largest_before; /* of these 10 minutes and of those before */
	uint64_t largest_us;	 /* when these began */
	uint32_t epoch;		 /* runs of others are over */
};

struct watched_port {
	int64_t agent;
	uint64_t if_index;
	struct skips skips;
	uint64_t pool_pkts, pool_us; /* of the newest sample; pool_us 0: not known */
	uint64_t heard_mono_us;
	uint32_t n_standing; /* alarms that its samples raised */
};

/* What a port has left of its bucket, for a rule. */
struct gate {
	double level;
	uint32_t epoch;
	bool is_open;
};

struct kept_steps {
	double rate, reference, skip, largest;
	struct alarm_steps steps;
};

struct rule_state {
	struct alarm_rule rule;
	struct kept_steps kept[STEPS_KEPT];
};

struct alarms {
	alarm_teller *tell;
	void *arg;
	uint64_t seed, generation;
	uint32_t n_ports;
	size_t n_rules;
	struct rule_state *rules;
	struct watched_port *ports;
	struct gate *gates; /* n_rules of each port */
	struct skips all;
	uint64_t all_heard_mono_us, mono_us; /* mono_us: now */
	struct alarm_runs runs;
	struct standing_alarms standing;
	uint32_t most_of_port; /* alarms that may stand of one port */
	double threshold, risk;
	double in_hour, in_largest_hour; /* samples tested, times rules */
	uint64_t hour_us, month_us;	 /* when they began; monotonic */
	struct stat_set stats;
	_Atomic uint64_t values[ALARM_N_STATS];
};

static const struct stat_name stat_names[ALARM_N_STATS] = {
    [ALARM_STAT_TESTED] = {"alarm.tested", "samples that were tested, once for each rule"},
    [ALARM_STAT_GATED] = {"alarm.gated",
	"samples that were not tested because all that their port received was below the rule's rate"},
    [ALARM_STAT_RAISED] = {"alarm.raised", "alarms that were raised"},
    [ALARM_STAT_CLEARED] = {"alarm.over", "alarms that are over"},
    [ALARM_STAT_RAISED_AGAIN] = {"alarm.raised_again",
	"alarms whose key went below half of the rate and above the rate again within a minute"},
    [ALARM_STAT_RUNS_PUSHED] = {"alarm.runs_pushed",
	"keys whose test began anew because others took its place in memory; an alarm may come later for it"},
    [ALARM_STAT_NO_ROOM] = {"alarm.no_room", "alarms that were not raised because 4096 stood already, or the port had its share of these"},
};

/* ---- life ---- */

int
alarms_new(struct alarms **out, uint32_t n_ports, uint64_t seed, alarm_teller *tell, void *arg)
{
	struct alarms *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	*a = (struct alarms){.tell = tell, .arg = arg, .seed = seed, .n_ports = n_ports};
	a->stats = (struct stat_set){stat_names, ALARM_N_STATS, a->values};
	*out = a;
	return 0;
}

/* What the first rules need. */
static int
make_room(struct alarms *a)
{
	if (!a->ports)
		a->ports = calloc(a->n_ports, sizeof(*a->ports));
	if (!a->ports || (!a->runs.runs && alarm_runs_init(&a->runs) < 0))
		return -ENOMEM;
	return a->standing.most > 0 ? 0 : standing_init(&a->standing, ALARM_STANDING);
}

void
alarms_free(struct alarms *a)
{
	if (!a)
		return;
	alarm_runs_free(&a->runs);
	standing_free(&a->standing);
	free(a->ports);
	free(a->gates);
	free(a->rules);
	free(a);
}

static void
set_threshold(struct alarms *a)
{
	double month = fmax(ALARM_SAMPLES_A_MONTH * (double)(a->n_rules > 0 ? a->n_rules : 1),
	    2 * a->in_largest_hour * HOURS_A_MONTH);

	a->threshold = alarm_threshold(month, 1, ALARM_FALSE_A_MONTH);
}

/* ---- what is told ---- */

static void
tell_of(struct alarms *a, const struct standing_alarm *alarm, bool is_over)
{
	const struct alarm_rule *rule = &a->rules[alarm->rule].rule;
	struct alarm_told told = {.is_over = is_over, .rule = rule, .agent = alarm->agent,
	    .if_index = rule->of_all_ports ? 0 : alarm->if_index, .raised_us = alarm->raised_us,
	    .over_us = is_over ? alarm->last_us : 0};

	alarm_rule_key_text(rule, alarm->key, told.key);
	stat_add_own(&a->stats, is_over ? ALARM_STAT_CLEARED : ALARM_STAT_RAISED, 1);
	a->tell(a->arg, &told);
}

/* The port whose sample raised it; NULL: it has left. */
static struct watched_port *
port_of_alarm(const struct alarms *a, const struct standing_alarm *alarm)
{
	struct watched_port *p = &a->ports[alarm->place];

	return p->agent == alarm->agent && p->if_index == alarm->if_index ? p : NULL;
}

static void
end_alarm(struct alarms *a, struct standing_alarm *alarm)
{
	struct watched_port *p = port_of_alarm(a, alarm);

	tell_of(a, alarm, true);
	if (p)
		p->n_standing--;
	standing_remove(&a->standing, alarm);
}

/* Half of the room is left to ports that have none: those that have share the other half. So one that forges alarms
 * takes the room of nobody else. */
static void
share_room(struct alarms *a)
{
	uint32_t n_ports = 1;

	for (uint32_t i = 0; i < a->n_ports && a->standing.n > ALARM_STANDING / 4; i++)
		n_ports += a->ports[i].n_standing > 0;
	a->most_of_port = ALARM_STANDING / 2 / n_ports;
	if (a->most_of_port == 0)
		a->most_of_port = 1;
}

static size_t
place_of_rule(const struct alarm_rule *rules, size_t n, const char *text)
{
	size_t i = 0;

	while (i < n && strcmp(rules[i].text, text) != 0)
		i++;
	return i;
}

int
alarms_set_rules(struct alarms *a, const struct alarm_rule *rules, size_t n, uint64_t mono_us)
{
	struct rule_state *states = calloc(n + 1, sizeof(*states));
	struct gate *gates = calloc((size_t)a->n_ports * n + 1, sizeof(*gates));

	if (!states || !gates || (n > 0 && make_room(a) < 0)) {
		free(states);
		free(gates);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < a->standing.most; i++) {
		struct standing_alarm *alarm = &a->standing.alarms[i];
		size_t place;

		if (!alarm->tag)
			continue;
		place = place_of_rule(rules, n, a->rules[alarm->rule].rule.text);
		if (place < n && place == alarm->rule)
			continue;
		end_alarm(a, alarm); /* also of a rule that has moved: its keys are found by the place */
	}
	for (size_t i = 0; i < n; i++)
		states[i].rule = rules[i];
	free(a->rules);
	free(a->gates);
	a->rules = states;
	a->gates = gates;
	a->n_rules = n;
	a->generation++;
	share_room(a);
	a->mono_us = mono_us;
	set_threshold(a);
	return 0;
}

/* ---- skips ---- */

static void
note_skip(struct skips *s, double skip, uint64_t time_us)
{
	double mean;

	if (s->reference == 0) {
		*s = (struct skips){.reference = skip, .minute_us = time_us, .largest = skip, .largest_us = time_us,
		    .epoch = s->epoch + 1};
	}
	s->sum += skip;
	s->n++;
	s->largest = fmax(s->largest, skip);
	if (time_us - s->largest_us > SKIP_KEPT_US && time_us > s->largest_us) {
		s->largest_before = s->largest;
		s->largest = skip;
		s->largest_us = time_us;
	}
	if (time_us < s->minute_us + SKIP_MINUTE_US)
		return;
	mean = s->sum / s->n; /* of the frames, each sample standing for its skip */
	if (mean > s->reference * SKIP_MOVED || mean < s->reference / SKIP_MOVED) {
		s->reference = mean;
		s->epoch++;
	}
	s->sum = s->n = 0;
	s->minute_us = time_us;
}

static const struct alarm_steps *
steps_of(struct alarms *a, struct rule_state *r, double rate, const struct skips *s, double skip)
{
	double largest = fmax(fmax(s->largest, s->largest_before), s->reference);
	uint64_t hash = hash_pair(a->seed, (uint64_t)skip ^ (uint64_t)rate << 20,
	    (uint64_t)s->reference ^ (uint64_t)largest << 32);
	struct kept_steps *kept = &r->kept[hash & (STEPS_KEPT - 1)];
	struct alarm_bucket bucket = {rate, rate * r->rule.burst_s, a->threshold};

	if (kept->rate != rate || kept->reference != s->reference || kept->skip != skip || kept->largest != largest) {
		*kept = (struct kept_steps){rate, s->reference, skip, largest, {{0}, {0}, {0}}};
		alarm_steps_at(&bucket, s->reference, skip, largest, &kept->steps);
	}
	return &kept->steps;
}

/* ---- gate ---- */

/* Whether something at the port may fail: more passed than conforms, or it is not known what passed. */
static bool
pass_gate(struct gate *gate, const struct alarm_rule *rule, double rate, double passed, double elapsed_s)
{
	double most = gate->level + passed, left = gate->level - rate * elapsed_s;
	bool was_open = gate->is_open;

	gate->is_open = passed < 0 || most > GATE_PART * rate * rule->burst_s;
	gate->level = passed < 0 ? 0 : fmax(0, left) + passed;
	if (was_open && !gate->is_open)
		gate->epoch++;
	return gate->is_open;
}

/* Frames that passed since the port's sample before; -1: that is not known. */
static double
take_pool(struct watched_port *p, const struct watched_sample *s, double *elapsed_s)
{
	uint64_t pool_pkts = s->sample->pool_pkts, time_us = s->sample->time_us;
	bool is_known = s->pool_is_counter && pool_pkts != EASE_COUNT_UNKNOWN;
	double passed = -1;

	*elapsed_s = 0;
	if (is_known && p->pool_us > 0 && pool_pkts >= p->pool_pkts) {
		passed = (double)(pool_pkts - p->pool_pkts);
		*elapsed_s = time_us > p->pool_us ? (double)(time_us - p->pool_us) / 1e6 : 0;
	}
	if (is_known && time_us < p->pool_us && pool_pkts < p->pool_pkts)
		return 0; /* it came late: what passed is in the one before */
	p->pool_pkts = pool_pkts;
	p->pool_us = is_known ? time_us : 0;
	return passed;
}

/* ---- samples ---- */

static struct watched_port *
port_of(struct alarms *a, const struct watched_sample *s)
{
	struct watched_port *p = &a->ports[s->place];

	if (p->agent == s->agent && p->if_index == s->sample->if_index)
		return p;
	*p = (struct watched_port){.agent = s->agent, .if_index = s->sample->if_index,
	    .skips.epoch = p->skips.epoch};
	if (a->n_rules > 0)
		memset(&a->gates[s->place * a->n_rules], 0, a->n_rules * sizeof(*a->gates));
	return p;
}

static uint64_t
tag_of(const struct alarms *a, size_t rule, const struct watched_sample *s, const uint8_t key[ALARM_KEY_OCTETS])
{
	bool of_all = a->rules[rule].rule.of_all_ports;
	uint64_t where = hash_pair(a->seed, of_all ? 0 : (uint64_t)s->agent, of_all ? 0 : s->sample->if_index);
	uint64_t tag = hash_octets(where ^ (rule + 1) * HASH_GOLDEN, key, ALARM_KEY_OCTETS);

	return tag ? tag : 1;
}

static void
raise_alarm(struct alarms *a, size_t rule, const struct watched_sample *s, uint64_t tag, double rate,
    const uint8_t key[ALARM_KEY_OCTETS])
{
	struct standing_alarm *alarm = standing_find(&a->standing, tag);
	bool again = alarm;

	if (!alarm && a->ports[s->place].n_standing < a->most_of_port)
		alarm = standing_add(&a->standing, tag);
	if (!alarm) {
		stat_add_own(&a->stats, ALARM_STAT_NO_ROOM, 1);
		return;
	}
	alarm->is_below = false;
	alarm->statistic = 0;
	alarm->largest_skip = s->sample->mean_skip;
	alarm->rate = rate;
	alarm->last_us = s->sample->time_us;
	alarm->last_mono_us = alarm->raised_mono_us = a->mono_us;
	if (again) {
		stat_add_own(&a->stats, ALARM_STAT_RAISED_AGAIN, 1);
		return;
	}
	a->ports[s->place].n_standing++;
	alarm->rule = (uint32_t)rule;
	alarm->agent = s->agent;
	alarm->if_index = s->sample->if_index;
	alarm->place = s->place;
	alarm->raised_us = s->sample->time_us;
	memcpy(alarm->key, key, sizeof(alarm->key));
	tell_of(a, alarm, false);
}

static void
go_below_if(struct alarms *a, struct standing_alarm *alarm, double statistic)
{
	if (statistic < ALARM_CLEAR_LIMIT || a->mono_us - alarm->raised_mono_us < CLEAR_LEAST_US)
		return;
	alarm->is_below = true;
	alarm->below_mono_us = a->mono_us;
}

/* A sample of a key whose alarm stands. */
static void
follow(struct alarms *a, struct standing_alarm *alarm, const struct watched_sample *s, double units)
{
	uint64_t time_us = s->sample->time_us;
	double skip = s->sample->mean_skip;

	if (time_us > alarm->last_us) {
		alarm->statistic = alarm_clear_step(alarm->statistic, alarm->rate, alarm->largest_skip,
		    (double)(time_us - alarm->last_us) / 1e6);
		alarm->last_us = time_us;
	}
	alarm->last_mono_us = a->mono_us;
	if (skip > alarm->largest_skip) { /* another test begins with it */
		alarm->largest_skip = skip;
		alarm->statistic = 0;
	}
	go_below_if(a, alarm, alarm->statistic);
	alarm->statistic = alarm_clear_sample(alarm->statistic, skip, alarm->largest_skip, units);
}

static void
test(struct alarms *a, size_t rule, const struct watched_sample *s, const struct skips *skips, uint32_t epoch,
    double rate)
{
	struct rule_state *r = &a->rules[rule];
	uint32_t now_ms = (uint32_t)(s->sample->time_us / 1000);
	double units = alarm_rule_units(&r->rule, s->sample->frame_octets);
	uint8_t key[ALARM_KEY_OCTETS];
	const struct alarm_steps *steps;
	struct standing_alarm *standing;
	struct alarm_run *run;
	uint64_t tag, run_tag;
	int32_t elapsed_ms;
	bool pushed;

	if (!alarm_rule_key(&r->rule, s->keys, key))
		return;
	tag = tag_of(a, rule, s, key);
	standing = standing_find(&a->standing, tag);
	if (standing && !standing->is_below) {
		follow(a, standing, s, units);
		return;
	}
	stat_add_own(&a->stats, ALARM_STAT_TESTED, 1);
	a->in_hour++;
	a->risk += alarm_risk(a->threshold);
	steps = steps_of(a, r, rate, skips, s->sample->mean_skip);
	run_tag = hash_pair(tag, a->generation, (uint64_t)epoch << 32 | skips->epoch) | 1;
	run = alarm_runs_find(&a->runs, run_tag, now_ms, steps->drift[0], &pushed);
	stat_add_own(&a->stats, ALARM_STAT_RUNS_PUSHED, pushed);
	elapsed_ms = (int32_t)(now_ms - run->last_ms);
	if (elapsed_ms > 0)
		run->last_ms = now_ms;
	else
		elapsed_ms = 0;
	if (!alarm_step(run->statistic, steps, elapsed_ms / 1e3, units))
		return;
	raise_alarm(a, rule, s, tag, rate, key);
	*run = (struct alarm_run){0};
}

/* Samples of the port that are missing may all have been the key's. */
static void
count_missing(struct alarms *a, const struct watched_sample *s)
{
	for (uint32_t i = 0; i < a->standing.most; i++) {
		struct standing_alarm *alarm = &a->standing.alarms[i];

		if (alarm->tag && !alarm->is_below &&
		    (a->rules[alarm->rule].rule.of_all_ports || alarm->place == s->place))
			alarm->statistic = alarm_clear_sample(alarm->statistic, s->sample->mean_skip,
			    fmax(alarm->largest_skip, s->sample->mean_skip), (double)s->missing);
	}
}

void
alarms_sample(void *arg, const struct watched_sample *s)
{
	struct alarms *a = arg;
	struct watched_port *p;
	double passed, elapsed_s;

	if (a->n_rules == 0 || s->sample->direction != EASE_IN || !s->is_edge || s->sample->mean_skip == 0 ||
	    s->place >= a->n_ports)
		return;
	a->mono_us = s->mono_us;
	p = port_of(a, s);
	p->heard_mono_us = a->all_heard_mono_us = a->mono_us;
	note_skip(&p->skips, s->sample->mean_skip, s->sample->time_us);
	note_skip(&a->all, s->sample->mean_skip, s->sample->time_us);
	passed = take_pool(p, s, &elapsed_s);
	if (s->missing > 0 && a->standing.n > 0)
		count_missing(a, s);
	for (size_t i = 0; i < a->n_rules; i++) {
		const struct alarm_rule *rule = &a->rules[i].rule;
		struct gate *gate = &a->gates[s->place * a->n_rules + i];
		double rate = alarm_rule_rate(rule, s->speed_bps);

		if (rate <= 0)
			continue;
		if (rule->of_all_ports)
			test(a, i, s, &a->all, 0, rate);
		else if (pass_gate(gate, rule, rate, passed, elapsed_s))
			test(a, i, s, &p->skips, gate->epoch, rate);
		else
			stat_add_own(&a->stats, ALARM_STAT_GATED, 1);
	}
}

/* ---- each second ---- */

static void
look_at(struct alarms *a, struct standing_alarm *alarm)
{
	bool of_all = a->rules[alarm->rule].rule.of_all_ports;
	const struct watched_port *p = port_of_alarm(a, alarm);
	uint64_t heard_us = of_all || !p ? a->all_heard_mono_us : p->heard_mono_us;

	if (alarm->is_below) {
		if (a->mono_us - alarm->below_mono_us < AGAIN_WITHIN_US)
			return;
		end_alarm(a, alarm);
		return;
	}
	if (!of_all && !p)
		return; /* its agent is away: nobody knows */
	if (heard_us > alarm->last_mono_us)
		go_below_if(a, alarm, alarm_clear_step(alarm->statistic, alarm->rate, alarm->largest_skip,
		    (double)(heard_us - alarm->last_mono_us) / 1e6));
}

void
alarms_heard(void *arg, int64_t agent, uint64_t if_index, uint32_t place, uint64_t mono_us)
{
	struct alarms *a = arg;

	if (a->n_rules == 0 || place >= a->n_ports)
		return;
	a->mono_us = mono_us;
	if (a->ports[place].agent == agent && a->ports[place].if_index == if_index)
		a->ports[place].heard_mono_us = a->mono_us;
	a->all_heard_mono_us = a->mono_us;
}

void
alarms_tick(struct alarms *a, uint64_t mono_us)
{
	a->mono_us = mono_us;
	if (a->hour_us == 0)
		a->hour_us = a->month_us = mono_us;
	if (mono_us - a->hour_us >= HOUR_US) {
		a->in_largest_hour = fmax(a->in_largest_hour, a->in_hour);
		a->in_hour = 0;
		a->hour_us = mono_us;
		set_threshold(a);
		for (size_t i = 0; i < a->n_rules; i++)
			memset(a->rules[i].kept, 0, sizeof(a->rules[i].kept));
	}
	if (mono_us - a->month_us >= HOUR_US * HOURS_A_MONTH) {
		a->risk = 0;
		a->month_us = mono_us;
	}
	share_room(a);
	for (uint32_t i = 0; i < a->standing.most && a->standing.n > 0; i++)
		if (a->standing.alarms[i].tag)
			look_at(a, &a->standing.alarms[i]);
}

size_t
alarms_standing(const struct alarms *a)
{
	return a->standing.n;
}

void
alarms_state(const struct alarms *a, size_t rule, struct alarm_state *state)
{
	const struct alarm_rule *r = &a->rules[rule].rule;
	double rate = alarm_rule_rate(r, 0);

	*state = (struct alarm_state){
	    .bucket = {.rate = rate, .burst = rate * r->burst_s, .threshold = a->threshold},
	    .skip = a->all.reference};
}

double
alarms_risk(const struct alarms *a)
{
	return a->risk;
}

const struct stat_set *
alarms_stats(const struct alarms *a)
{
	return &a->stats;
}
