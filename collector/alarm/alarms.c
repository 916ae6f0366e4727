#include "collector/alarm/alarms.h"
#include "common/hash.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The part of its burst that a port may have used and still be gated. More would cost delay, because frames
 * that were not tested are missing in a run. */
#define GATE_PART 0.25

/* When the mean skip of a port's minute has moved by so much, runs begin with it. */
#define SKIP_MOVED 2.0

#define SKIP_MINUTE_US	60000000ull
#define CLOCKS_KEPT_US	600000000ull
#define HOUR_US		3600000000ull
#define DAY_US		(24 * HOUR_US)
#define HOURS_A_MONTH	720
#define CLEAR_LEAST_US	10000000ull
#define AGAIN_WITHIN_US 60000000ull

enum { STEPS_KEPT = 256 /* a power of two */, FEW_ALARMS = 8 };

enum { ALARM_RUNS = 131072, RUNS_A_LINE = 4, RUN_LINES = ALARM_RUNS / RUNS_A_LINE, ALARM_RUN_SKIPS = 256 };

struct alarm_run {
	uint64_t tag;	  /* hash of rule, port and key; 0: a free place */
	uint32_t last_ms; /* when the statistic was right, by a clock of the table's user */
	/* The skips of the run (sequential.h), in parts of a doubling. */
	uint16_t reference, largest;
	float statistic[ALARM_TILTS];
};
_Static_assert(sizeof(struct alarm_run) == 32, "two runs are a cache line");

struct alarm_runs {
	struct alarm_run *runs;
	uint64_t mask; /* of lines */
};

/* The skips of a port. */
struct skips {
	double reference;   /* of the runs that begin at it; 0: no sample came */
	double sum, n;	    /* of the samples of this minute */
	uint64_t minute_us; /* when it began */
};

struct watched_port {
	int64_t agent;
	uint64_t if_index;
	struct skips skips;
	uint64_t pool_pkts, pool_us; /* of the newest sample; pool_us 0: not known */
	uint64_t heard_mono_us;
	uint64_t missing;    /* samples, in all */
	uint32_t skip;	     /* of the newest sample */
	uint32_t n_standing; /* alarms that its samples raised */
};

/* What a port has left of its bucket, for a rule. */
struct gate {
	double level;
	uint32_t epoch;
	bool is_open;
};

/* reference and largest: as of struct alarm_run. */
struct kept_steps {
	double rate;
	uint32_t skip;
	uint16_t reference, largest;
	struct alarm_steps steps; /* limits 0: free */
};

struct rule_state {
	struct alarm_rule rule;
	struct kept_steps kept[STEPS_KEPT];
};

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

struct alarms {
	alarm_teller *tell;
	void *arg;
	uint64_t seed, generation;
	uint32_t n_ports;
	size_t n_rules;
	struct rule_state *rules;
	struct watched_port *ports;
	struct gate *gates; /* n_rules of each port */
	uint64_t all_heard_mono_us, mono_us; /* mono_us: now */
	int64_t clock;	     /* whose clock the newest sample's time is of: an agent's, or the collector's: 0 */
	uint64_t clocks_mono_us; /* when the one before was of another clock; 0: never */
	bool has_clocks;	 /* that was lately */
	double clocks_s;	 /* clocks are believed that differ by so much */
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

/* ---- runs ---- */

/*
 * The runs that are open: one for each key whose statistic is above 0 (sequential.h). A key without a run costs nothing,
 * so the number of keys that are watched has no limit. The table has a fixed size, four runs to a line of two neighbouring
 * cache lines: with two, one of some hundred ports met two others by chance once in a hundred starts. Where a line is full
 * the run with the least statistic goes, which costs delay and never raises an alarm; so what somebody sends from many
 * invented addresses, each with a sample or two, cannot push out the run of a flood.
 */

/* 0 or -ENOMEM. */
static int
alarm_runs_init(struct alarm_runs *r)
{
	*r = (struct alarm_runs){.mask = RUN_LINES - 1};
	r->runs = aligned_alloc(64, ALARM_RUNS * sizeof(*r->runs));
	if (!r->runs)
		return -ENOMEM;
	for (size_t i = 0; i < ALARM_RUNS; i++)
		r->runs[i] = (struct alarm_run){0};
	return 0;
}

static float
run_left_at(const struct alarm_run *run, uint32_t now_ms, float drift)
{
	int32_t elapsed_ms = (int32_t)(now_ms - run->last_ms);

	return run->tag ? run->statistic[0] - drift * (float)(elapsed_ms > 0 ? elapsed_ms : 0) / 1000 : -1;
}

/* The run of that tag (not 0); a new one begins with a statistic of 0. drift and now_ms are those of the newcomer: by them
 * the runs of its line are compared. *pushed: a run that was not at its end had to go. */
static struct alarm_run *
alarm_runs_find(struct alarm_runs *r, uint64_t tag, uint32_t now_ms, float drift, bool *pushed)
{
	struct alarm_run *line = &r->runs[(tag & r->mask) * RUNS_A_LINE], *least = line;
	float left, least_left;

	*pushed = false;
	for (int i = 0; i < RUNS_A_LINE; i++)
		if (line[i].tag == tag)
			return &line[i];
	least_left = run_left_at(line, now_ms, drift);
	for (int i = 1; i < RUNS_A_LINE; i++) {
		left = run_left_at(&line[i], now_ms, drift);
		if (left < least_left) {
			least = &line[i];
			least_left = left;
		}
	}
	*pushed = least_left > 0;
	*least = (struct alarm_run){.tag = tag, .last_ms = now_ms};
	return least;
}

/* ---- those that stand, found by the tag of their key ---- */

static void
standing_free(struct standing_alarms *s)
{
	free(s->alarms);
	free(s->buckets);
	*s = (struct standing_alarms){0};
}

/* Room for `most` alarms, a power of two. 0 or -ENOMEM. */
static int
standing_init(struct standing_alarms *s, uint32_t most)
{
	*s = (struct standing_alarms){
	    .alarms = calloc(most, sizeof(*s->alarms)), .buckets = calloc(most, sizeof(*s->buckets))};
	if (!s->alarms || !s->buckets) {
		standing_free(s);
		return -ENOMEM;
	}
	s->most = most;
	for (uint32_t i = most; i > 0; i--) {
		s->alarms[i - 1].next = s->free;
		s->free = i;
	}
	return 0;
}

static uint32_t *
alarms_bucket_of(const struct standing_alarms *s, uint64_t tag)
{
	return &s->buckets[tag & (s->most - 1)];
}

static struct standing_alarm *
standing_find(const struct standing_alarms *s, uint64_t tag)
{
	uint32_t at = s->n > 0 ? *alarms_bucket_of(s, tag) : 0;

	while (at > 0 && s->alarms[at - 1].tag != tag)
		at = s->alarms[at - 1].next;
	return at > 0 ? &s->alarms[at - 1] : NULL;
}

/* NULL: there is no room. */
static struct standing_alarm *
standing_add(struct standing_alarms *s, uint64_t tag)
{
	uint32_t at = s->free, *bucket = alarms_bucket_of(s, tag);
	struct standing_alarm *alarm;

	if (at == 0)
		return NULL;
	alarm = &s->alarms[at - 1];
	s->free = alarm->next;
	*alarm = (struct standing_alarm){.tag = tag, .next = *bucket};
	*bucket = at;
	s->n++;
	return alarm;
}

static void
standing_remove(struct standing_alarms *s, struct standing_alarm *alarm)
{
	uint32_t at = (uint32_t)(alarm - s->alarms) + 1, *link = alarms_bucket_of(s, alarm->tag);

	while (*link != at)
		link = &s->alarms[*link - 1].next;
	*link = alarm->next;
	*alarm = (struct standing_alarm){.next = s->free};
	s->free = at;
	s->n--;
}

/* ---- life ---- */

int
alarms_new(struct alarms **out, uint32_t n_ports, uint64_t tolerance_us, uint64_t seed, alarm_teller *tell, void *arg)
{
	struct alarms *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	*a = (struct alarms){.tell = tell, .arg = arg, .seed = seed, .n_ports = n_ports,
	    .clocks_s = tolerance_us > 0 ? ALARM_CLOCKS_APART * 1e-6 * (double)tolerance_us : ALARM_CLOCKS_S};
	a->stats = (struct stat_set){stat_names, ALARM_N_STATS, a->values};
	*out = a;
	return 0;
}

/* What the first rules need. */
static int
alarms_make_room(struct alarms *a)
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
	free(a->runs.runs);
	a->runs.runs = NULL;
	standing_free(&a->standing);
	free(a->ports);
	free(a->gates);
	free(a->rules);
	free(a);
}

static void
alarms_set_threshold(struct alarms *a)
{
	double month = fmax(ALARM_SAMPLES_A_MONTH * (double)(a->n_rules > 0 ? a->n_rules : 1),
	    2 * a->in_largest_hour * HOURS_A_MONTH);

	a->threshold = alarm_threshold(month, 1, ALARM_FALSE_A_MONTH);
}

/* ---- what is told ---- */

static void
tell_of(struct alarms *a, struct standing_alarm *alarm, enum alarm_news news)
{
	const struct alarm_rule *rule = &a->rules[alarm->rule].rule;
	struct alarm_told told = {.news = news, .rule = rule, .agent = alarm->agent,
	    .if_index = rule->of_all_ports ? 0 : alarm->if_index, .raised_us = alarm->raised_us,
	    .over_us = news == ALARM_IS_OVER ? alarm->last_us : 0};

	alarm_rule_key_text(rule, alarm->key, told.key);
	alarm_rule_key_parts(rule, alarm->key, &told.parts);
	alarm->told_mono_us = a->mono_us;
	if (news != ALARM_STANDS)
		stat_add_own(&a->stats, news == ALARM_IS_OVER ? ALARM_STAT_CLEARED : ALARM_STAT_RAISED, 1);
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

	tell_of(a, alarm, ALARM_IS_OVER);
	if (p)
		p->n_standing--;
	standing_remove(&a->standing, alarm);
}

/* Half of the room is left to ports that have few: those that have more share the other half. So one that forges alarms
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

	if (!states || !gates || (n > 0 && alarms_make_room(a) < 0)) {
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
	alarms_set_threshold(a);
	return 0;
}

/* ---- skips ---- */

static void
note_skip(struct skips *s, double skip, uint64_t time_us)
{
	double mean;

	if (s->reference == 0)
		*s = (struct skips){.reference = skip, .minute_us = time_us};
	s->sum += skip;
	s->n++;
	if (time_us < s->minute_us + SKIP_MINUTE_US)
		return;
	mean = s->sum / s->n; /* of the frames, each sample standing for its skip */
	if (mean > s->reference * SKIP_MOVED || mean < s->reference / SKIP_MOVED)
		s->reference = mean;
	s->sum = s->n = 0;
	s->minute_us = time_us;
}

static void
forget_steps(struct alarms *a)
{
	for (size_t i = 0; i < a->n_rules; i++)
		memset(a->rules[i].kept, 0, sizeof(a->rules[i].kept));
}

/* Times of sFlow are the collector's. Of rules over all ports the buckets allow for clocks that differ, while they may. */
static void
note_clock(struct alarms *a, const struct watched_sample *s)
{
	int64_t clock = s->pool_is_counter ? s->agent : 0;
	bool had = a->has_clocks;

	if (clock != a->clock && a->all_heard_mono_us > 0)
		a->clocks_mono_us = a->mono_us;
	a->clock = clock;
	a->has_clocks = a->clocks_mono_us > 0 && a->mono_us - a->clocks_mono_us < CLOCKS_KEPT_US;
	if (a->has_clocks != had)
		forget_steps(a);
}

/* In parts of a doubling, so that a run has room for two. */
static uint16_t
skip_code(double skip)
{
	return (uint16_t)ceil(ALARM_RUN_SKIPS * log2(skip));
}

static double
skip_of(uint16_t code)
{
	return exp2(code / (double)ALARM_RUN_SKIPS);
}

static const struct alarm_steps *
alarms_steps_of(struct alarms *a, struct rule_state *r, double rate, uint32_t skip, uint16_t reference, uint16_t largest)
{
	uint64_t hash = hash_pair(a->seed, skip ^ (uint64_t)rate << 20, reference ^ (uint64_t)largest << 32);
	struct kept_steps *kept = &r->kept[hash & (STEPS_KEPT - 1)];
	double order_s = r->rule.of_all_ports && a->has_clocks ? a->clocks_s : 0;
	struct alarm_bucket bucket = {rate, rate * (r->rule.burst_s + order_s), a->threshold};

	if (kept->rate != rate || kept->reference != reference || kept->skip != skip || kept->largest != largest) {
		*kept = (struct kept_steps){rate, skip, reference, largest, {{0}, {0}, {0}}};
		alarm_steps_at(&bucket, skip_of(reference), skip, skip_of(largest), &kept->steps);
	}
	return &kept->steps;
}

/* The steps of a sample in its run. One whose statistic has come down to nothing begins anew: with the skips of the
 * sample's port, so that nobody else's are in it. */
static const struct alarm_steps *
steps_in_run(struct alarms *a, struct rule_state *r, double rate, const struct watched_port *p, struct alarm_run *run,
    double elapsed_s)
{
	const struct alarm_steps *steps = alarms_steps_of(a, r, rate, p->skip, run->reference, run->largest);
	uint16_t code = skip_code(p->skip);
	bool is_over = true;

	for (int i = 0; i < ALARM_TILTS; i++)
		is_over = is_over && run->statistic[i] - steps->drift[i] * (float)elapsed_s <= 0;
	if (is_over) {
		run->reference = skip_code(p->skips.reference);
		run->largest = code;
	} else if (code > run->largest) {
		run->largest = code;
	}
	return alarms_steps_of(a, r, rate, p->skip, run->reference, run->largest);
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
alarms_port_of(struct alarms *a, const struct watched_sample *s)
{
	struct watched_port *p = &a->ports[s->place];

	if (p->agent == s->agent && p->if_index == s->sample->if_index)
		return p;
	*p = (struct watched_port){.agent = s->agent, .if_index = s->sample->if_index};
	if (a->n_rules > 0)
		memset(&a->gates[s->place * a->n_rules], 0, a->n_rules * sizeof(*a->gates));
	return p;
}

static uint64_t
alarms_tag_of(const struct alarms *a, size_t rule, const struct watched_sample *s, const uint8_t key[ALARM_KEY_OCTETS])
{
	bool of_all = a->rules[rule].rule.of_all_ports;
	uint64_t where = hash_pair(a->seed, of_all ? 0 : (uint64_t)s->agent, of_all ? 0 : s->sample->if_index);
	uint64_t tag = hash_octets(where ^ (rule + 1) * HASH_GOLDEN, key, ALARM_KEY_OCTETS);

	return tag ? tag : 1;
}

/* Samples that are missing of the port that raised it may all have been the key's. */
static void
take_missing(struct standing_alarm *alarm, const struct watched_port *p)
{
	if (p && p->missing > alarm->missing)
		alarm->statistic = alarm_clear_sample(alarm->statistic, p->skip, fmax(alarm->largest_skip, p->skip),
		    (double)(p->missing - alarm->missing));
	if (p)
		alarm->missing = p->missing;
}

static void
raise_alarm(struct alarms *a, size_t rule, const struct watched_sample *s, uint64_t tag, double rate,
    const uint8_t key[ALARM_KEY_OCTETS])
{
	struct standing_alarm *alarm = standing_find(&a->standing, tag);
	bool again = alarm;
	uint32_t most = a->standing.n < ALARM_STANDING / 2 || a->most_of_port < FEW_ALARMS ? a->most_of_port : FEW_ALARMS;

	if (!alarm && a->ports[s->place].n_standing < most)
		alarm = standing_add(&a->standing, tag);
	if (!alarm) {
		stat_add_own(&a->stats, ALARM_STAT_NO_ROOM, 1);
		return;
	}
	if (again)
		take_missing(alarm, port_of_alarm(a, alarm));
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
	alarm->missing = a->ports[s->place].missing;
	alarm->raised_us = s->sample->time_us;
	memcpy(alarm->key, key, sizeof(alarm->key));
	tell_of(a, alarm, ALARM_IS_RAISED);
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
follow_standing(struct alarms *a, struct standing_alarm *alarm, const struct watched_sample *s, double units)
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
	take_missing(alarm, port_of_alarm(a, alarm));
	if (s->place != alarm->place) /* a rule of all ports: the key is here, too */
		alarm->statistic = alarm_clear_sample(alarm->statistic, skip, alarm->largest_skip, (double)s->missing);
	go_below_if(a, alarm, alarm->statistic);
	alarm->statistic = alarm_clear_sample(alarm->statistic, skip, alarm->largest_skip, units);
}

static void
test_rule(struct alarms *a, size_t rule, const struct watched_sample *s, const struct watched_port *p, uint32_t epoch,
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
	tag = alarms_tag_of(a, rule, s, key);
	standing = standing_find(&a->standing, tag);
	if (standing && !standing->is_below) {
		follow_standing(a, standing, s, units);
		return;
	}
	stat_add_own(&a->stats, ALARM_STAT_TESTED, 1);
	a->in_hour++;
	a->risk += alarm_risk(a->threshold);
	steps = alarms_steps_of(a, r, rate, p->skip, skip_code(p->skips.reference), skip_code(p->skip));
	run_tag = hash_pair(tag, a->generation, epoch) | 1;
	run = alarm_runs_find(&a->runs, run_tag, now_ms, steps->drift[0], &pushed);
	stat_add_own(&a->stats, ALARM_STAT_RUNS_PUSHED, pushed);
	elapsed_ms = (int32_t)(now_ms - run->last_ms);
	if (elapsed_ms > 0)
		run->last_ms = now_ms;
	else
		elapsed_ms = 0;
	steps = steps_in_run(a, r, rate, p, run, elapsed_ms / 1e3);
	if (!alarm_step(run->statistic, steps, elapsed_ms / 1e3, units))
		return;
	raise_alarm(a, rule, s, tag, rate, key);
	*run = (struct alarm_run){0};
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
	p = alarms_port_of(a, s);
	note_clock(a, s);
	p->heard_mono_us = a->all_heard_mono_us = a->mono_us;
	p->skip = s->sample->mean_skip;
	p->missing += s->missing;
	note_skip(&p->skips, p->skip, s->sample->time_us);
	passed = take_pool(p, s, &elapsed_s);
	for (size_t i = 0; i < a->n_rules; i++) {
		const struct alarm_rule *rule = &a->rules[i].rule;
		struct gate *gate = &a->gates[s->place * a->n_rules + i];
		double rate = alarm_rule_rate(rule, s->speed_bps);

		if (rate <= 0)
			continue;
		if (rule->of_all_ports)
			test_rule(a, i, s, p, 0, rate);
		else if (pass_gate(gate, rule, rate, passed, elapsed_s))
			test_rule(a, i, s, p, gate->epoch, rate);
		else
			stat_add_own(&a->stats, ALARM_STAT_GATED, 1);
	}
}

/* ---- each second ---- */

static void
alarms_look_at(struct alarms *a, struct standing_alarm *alarm)
{
	bool of_all = a->rules[alarm->rule].rule.of_all_ports;
	const struct watched_port *p = port_of_alarm(a, alarm);
	uint64_t heard_us = of_all || !p ? a->all_heard_mono_us : p->heard_mono_us;

	if (a->mono_us - alarm->told_mono_us >= DAY_US)
		tell_of(a, alarm, ALARM_STANDS);
	if (alarm->is_below) {
		if (a->mono_us - alarm->below_mono_us < AGAIN_WITHIN_US)
			return;
		end_alarm(a, alarm);
		return;
	}
	if (!of_all && !p)
		return; /* its agent is away: nobody knows */
	take_missing(alarm, p);
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
		alarms_set_threshold(a);
		forget_steps(a);
	}
	if (mono_us - a->month_us >= HOUR_US * HOURS_A_MONTH) {
		a->risk = 0;
		a->month_us = mono_us;
	}
	share_room(a);
	for (uint32_t i = 0; i < a->standing.most && a->standing.n > 0; i++)
		if (a->standing.alarms[i].tag)
			alarms_look_at(a, &a->standing.alarms[i]);
}

size_t
alarms_standing(const struct alarms *a)
{
	return a->standing.n;
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
