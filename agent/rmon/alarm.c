/*
 * The alarm groups: each active row of alarmTable (RFC 2819) and of hcAlarmTable (RFC 3434) reads its
 * variable once in its interval, and generates its event when a threshold is crossed. One engine serves
 * both: what differs is a line of `kinds`.
 *
 * A delta is the growth of the total behind a counter. So it is right however often a Counter32 has
 * wrapped in the interval. Over a discontinuity of the counter there is no delta.
 */
#include "agent/rmon/rmon_private.h"
#include "common/log.h"
#include "common/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct alarm_kind {
	int managed;
	size_t row_octets;
	const char *name;
	bool high_capacity;
	bool outlives_variable; /* else the row is deleted when its variable no longer exists */
	void (*rule)(const void *row, struct alarm_rule *rule);
	/* Writes a period's value to the row; value NULL: it is not available. */
	void (*store)(void *row, const rmon_number *value);
	rmon_number least, most; /* that a row's value can be */
};

/* ---- events: they are logged and sent as their rows say (RFC 2819) ---- */

static const char *
oid_text(const struct mib_oid *oid, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < oid->n; i++)
		text_add(text, size, i ? ".%u" : "%u", (unsigned)oid->arcs[i]);
	return text;
}

/* A number of up to 65 bits, which printf does not know. */
enum { NUMBER_OCTETS = 32 };
static const char *
print_number(rmon_number number, char *text)
{
	uint64_t magnitude = (uint64_t)(number < 0 ? -number : number);

	snprintf(text, NUMBER_OCTETS, "%s%" PRIu64, number < 0 ? "-" : "", magnitude);
	return text;
}

static void
describe_crossing(const struct rmon_crossing *crossing, char *text, size_t size)
{
	char variable[96], value[NUMBER_OCTETS], threshold[NUMBER_OCTETS];

	oid_text(&crossing->variable, variable, sizeof(variable));
	snprintf(text, size, "%s %" PRIu32 " %s: %s = %s, %s %s",
	    crossing->high_capacity ? "hcAlarm" : "alarm", crossing->index,
	    crossing->rising ? "rises" : "falls", variable, print_number(crossing->value, value),
	    crossing->rising ? ">=" : "<=", print_number(crossing->threshold, threshold));
}

static void
log_event(struct rmon *rmon, struct rmon_event *event, const struct rmon_crossing *crossing)
{
	struct rmon_log *log;

	if (rmon->n_logs == RMON_LOGS_MAX) {
		stat_add(&rmon->stats, RMON_STAT_LOGS_DROPPED, 1);
		rmon->oldest_log = (rmon->oldest_log + 1) % RMON_LOGS_MAX;
		rmon->n_logs--;
	}
	log = &rmon->logs[(rmon->oldest_log + rmon->n_logs++) % RMON_LOGS_MAX];
	*log = (struct rmon_log){.event = event->index, .index = ++event->n_logged,
	    .mono_us = event->sent_mono_us};
	describe_crossing(crossing, log->description, sizeof(log->description));
}

void
alarm_events_changed(struct rmon *rmon)
{
	size_t kept = 0;

	for (size_t i = 0; i < rmon->n_logs; i++) {
		const struct rmon_log *log = &rmon->logs[(rmon->oldest_log + i) % RMON_LOGS_MAX];

		if (managed_find(rmon->managed[MANAGED_EVENT], &log->event, 1))
			rmon->logs[(rmon->oldest_log + kept++) % RMON_LOGS_MAX] = *log;
	}
	rmon->n_logs = kept;
}

static void
fire_event(struct rmon *rmon, const struct rmon_crossing *crossing)
{
	struct managed_table *rows = rmon->managed[MANAGED_EVENT];
	struct rmon_event *event = crossing->event ? managed_find(rows, &crossing->event, 1) : NULL;

	if (!event || !managed_is_active(rows, event))
		return;
	event->sent_mono_us = clock_mono_us(rmon->options.clock);
	stat_add(&rmon->stats, RMON_STAT_EVENTS, 1);
	if (event->type == RMON_EVENT_LOG || event->type == RMON_EVENT_BOTH)
		log_event(rmon, event, crossing);
	if (event->type == RMON_EVENT_TRAP || event->type == RMON_EVENT_BOTH)
		rmon->options.trap(rmon->options.ctx, crossing);
}

/* ---- alarmTable ---- */

static void
alarm_rule(const void *from, struct alarm_rule *rule)
{
	const struct rmon_alarm *row = from;

	*rule = (struct alarm_rule){.index = row->index, .interval_s = row->interval_s,
	    .variable = row->variable, .sample_type = row->sample_type, .startup = row->startup,
	    .rising = row->rising, .falling = row->falling, .rising_event = row->rising_event,
	    .falling_event = row->falling_event};
}

/* alarmValue keeps the value of the period before, as it has no way to say that there is none. */
static void
store_alarm(void *row, const rmon_number *value)
{
	if (value)
		((struct rmon_alarm *)row)->value = (int32_t)*value;
}

/* ---- hcAlarmTable ---- */

static rmon_number
threshold_of(const struct rmon_threshold *threshold)
{
	rmon_number value = (uint64_t)threshold->high << 32 | threshold->low;

	return threshold->sign == RMON_NEGATIVE ? -value : value;
}

static void
hc_alarm_rule(const void *from, struct alarm_rule *rule)
{
	const struct rmon_hc_alarm *row = from;

	*rule = (struct alarm_rule){.index = row->index, .interval_s = row->interval_s,
	    .variable = row->variable, .sample_type = row->sample_type, .startup = row->startup,
	    .rising = threshold_of(&row->rising), .falling = threshold_of(&row->falling),
	    .rising_event = row->rising_event, .falling_event = row->falling_event};
}

static void
store_hc_alarm(void *to, const rmon_number *value)
{
	struct rmon_hc_alarm *row = to;

	row->value = !value ? 0 : (uint64_t)(*value < 0 ? -*value : *value);
	row->value_sign = !value ? RMON_NOT_AVAILABLE : *value < 0 ? RMON_NEGATIVE : RMON_POSITIVE;
}

enum { N_KINDS = 2 };
static const struct alarm_kind kinds[N_KINDS] = {
    {.managed = MANAGED_ALARM, .row_octets = sizeof(struct rmon_alarm), .name = "alarm",
	.rule = alarm_rule, .store = store_alarm, .least = INT32_MIN, .most = INT32_MAX},
    {.managed = MANAGED_HC_ALARM, .row_octets = sizeof(struct rmon_hc_alarm), .name = "hcAlarm",
	.high_capacity = true, .outlives_variable = true, .rule = hc_alarm_rule,
	.store = store_hc_alarm, .least = -(rmon_number)UINT64_MAX, .most = UINT64_MAX},
};

/* ---- rows that may become active ---- */

static int
read_variable(struct rmon *rmon, const struct mib_oid *variable, bool fresh, struct rmon_reading *reading)
{
	*reading = (struct rmon_reading){.syntax = MIB_INTEGER};
	return rmon->options.read(rmon->options.ctx, variable, fresh, reading);
}

int
alarm_ready(struct rmon *rmon, const struct rmon_alarm *row)
{
	struct rmon_reading reading;

	if (row->falling > row->rising)
		return -EBUSY;
	return read_variable(rmon, &row->variable, false, &reading) == 0 ? 0 : -EBUSY;
}

/* The instance need not exist now: hcAlarmValueFailedAttempts counts until it does. */
int
alarm_hc_ready(struct rmon *rmon, const struct rmon_hc_alarm *row)
{
	struct rmon_reading reading;
	int rc;

	if (threshold_of(&row->falling) > threshold_of(&row->rising))
		return -EBUSY;
	rc = read_variable(rmon, &row->variable, false, &reading);
	return rc == 0 || rc == -ENXIO ? 0 : -EBUSY;
}

/* RFC 2819 has one answer, inconsistentValue, for all that may be wrong with a row. */
static void
explain_refusal(struct rmon *rmon, const struct alarm_kind *kind, const void *row)
{
	struct rmon_reading reading;
	struct alarm_rule rule;
	char variable[256];
	int rc;

	kind->rule(row, &rule);
	oid_text(&rule.variable, variable, sizeof(variable));
	rc = read_variable(rmon, &rule.variable, false, &reading);
	if (rule.variable.n == 0)
		log_warn_limited("rmon", "%sEntry %u was refused: set its %sVariable first", kind->name, rule.index,
		    kind->name);
	else if (rule.falling > rule.rising)
		log_warn_limited("rmon", "%sEntry %u was refused: its falling threshold is above the rising one",
		    kind->name, rule.index);
	else if (rc == -EINVAL)
		log_warn_limited("rmon", "%sEntry %u was refused: %s is a text or the like; only an integer, a counter "
		    "or a gauge can be compared", kind->name, rule.index, variable);
	else if (rc == -ENXIO)
		log_warn_limited("rmon", "%sEntry %u was refused: there is no %s now; look for the instance with a walk",
		    kind->name, rule.index, variable);
	else
		log_warn_limited("rmon", "%sEntry %u was refused: this agent does not serve %s itself, and it can "
		    "compare its own objects only, as those of ifTable", kind->name, rule.index, variable);
}

void
alarm_explain(struct rmon *rmon, const struct rmon_alarm *row)
{
	explain_refusal(rmon, &kinds[0], row);
}

void
alarm_hc_explain(struct rmon *rmon, const struct rmon_hc_alarm *row)
{
	explain_refusal(rmon, &kinds[1], row);
}

/* ---- values ---- */

static rmon_number
absolute_value(const struct rmon_reading *reading)
{
	return reading->syntax == MIB_COUNTER32 ? (uint32_t)reading->value : reading->value;
}

/* Calculates the growth since the reading before. Returns false if none can be told: there was no
 * reading, or the counter has begun anew since. */
static bool
growth_since_last(const struct running_alarm *running, const struct rmon_reading *reading, rmon_number *value)
{
	*value = reading->value - running->last.value;
	if (!running->has_last || reading->discontinuity_us != running->last.discontinuity_us)
		return false;
	if (*value < 0 && reading->syntax == MIB_COUNTER32) /* no more than 32 bits stand behind it */
		*value = (uint32_t)*value;
	return *value >= 0 || reading->syntax != MIB_COUNTER64;
}

static bool
period_value(struct running_alarm *running, const struct rmon_reading *reading, rmon_number *value)
{
	const struct alarm_kind *kind = running->kind;
	bool available = true;

	if (running->rule.sample_type == RMON_DELTA)
		available = growth_since_last(running, reading, value);
	else
		*value = absolute_value(reading);
	running->last = *reading;
	running->has_last = true;
	*value = *value > kind->most ? kind->most : *value < kind->least ? kind->least : *value;
	return available;
}

/* ---- thresholds ---- */

static void
tell_crossing(struct rmon *rmon, const struct running_alarm *running, rmon_number value, bool rising)
{
	const struct alarm_rule *rule = &running->rule;
	struct rmon_crossing crossing = {
	    .high_capacity = running->kind->high_capacity,
	    .rising = rising,
	    .index = rule->index,
	    .variable = rule->variable,
	    .sample_type = rule->sample_type,
	    .value = value,
	    .threshold = rising ? rule->rising : rule->falling,
	    .event = rising ? rule->rising_event : rule->falling_event,
	};

	fire_event(rmon, &crossing);
}

/* alarmRisingThreshold, alarmFallingThreshold, alarmStartupAlarm (RFC 2819 section 5; RFC 3434 has the
 * same): an event is generated when a value has reached the threshold and the value before had not; for
 * the first value, alarmStartupAlarm decides. After it, the next such event comes only when the other
 * threshold has been reached in between. */
static void
check_thresholds(struct rmon *rmon, struct running_alarm *running, rmon_number value)
{
	const struct alarm_rule *rule = &running->rule;
	bool first = !running->has_value, high = value >= rule->rising, low = value <= rule->falling;
	bool rises = high && !running->rising_done &&
	    (first ? rule->startup != RMON_STARTUP_FALLING : running->value < rule->rising);
	bool falls = low && !rises && !running->falling_done &&
	    (first ? rule->startup != RMON_STARTUP_RISING : running->value > rule->falling);

	running->has_value = true;
	running->value = value;
	running->rising_done = rises || (running->rising_done && !low);
	running->falling_done = falls || (running->falling_done && !high);
	if (rises)
		tell_crossing(rmon, running, value, true);
	if (falls)
		tell_crossing(rmon, running, value, false);
}

/* ---- one reading ---- */

static void *
alarm_row_of(struct rmon *rmon, const struct running_alarm *running)
{
	return managed_find(rmon->managed[running->kind->managed], &running->rule.index, 1);
}

/* RFC 2819, alarmVariable: the row is deleted when its variable no longer exists. */
static void
alarm_give_up(struct rmon *rmon, const struct running_alarm *running, const void *row)
{
	log_warn_limited("rmon",
	    "%s %u was deleted, because the object that it compared no longer exists",
	    running->kind->name, running->rule.index);
	stat_add(&rmon->stats, RMON_STAT_ALARMS_GONE, 1);
	remove_row(rmon, running->kind->managed, row);
}

static void
alarm_count_failure(struct rmon *rmon, struct running_alarm *running, struct rmon_hc_alarm *row)
{
	row->failed_attempts++;
	running->has_last = false;
	running->kind->store(row, NULL);
	stat_add(&rmon->stats, RMON_STAT_READINGS_FAILED, 1);
}

/* Returns false if the row was deleted. compare: a period ends with this reading. */
static bool
sample_alarm(struct rmon *rmon, struct running_alarm *running, bool fresh, bool compare)
{
	void *row = alarm_row_of(rmon, running);
	struct rmon_reading reading;
	rmon_number value;
	bool available;

	if (read_variable(rmon, &running->rule.variable, fresh, &reading) < 0) {
		if (running->kind->outlives_variable)
			alarm_count_failure(rmon, running, row);
		else
			alarm_give_up(rmon, running, row);
		return running->kind->outlives_variable;
	}
	available = period_value(running, &reading, &value);
	if (!compare)
		return true;
	running->kind->store(row, available ? &value : NULL);
	if (available)
		check_thresholds(rmon, running, value);
	return true;
}

void
alarm_run(struct rmon *rmon, uint64_t steady_us)
{
	bool fresh = true;
	size_t kept = 0;

	for (size_t i = 0; i < rmon->n_running_alarms; i++) {
		struct running_alarm *running = &rmon->running_alarms[i];
		uint64_t interval_us = running->rule.interval_s * 1000000ull;

		if (running->next_us <= steady_us) {
			running->next_us +=
			    ((steady_us - running->next_us) / interval_us + 1) * interval_us;
			rmon->dirty = true;
			if (!sample_alarm(rmon, running, fresh, true))
				continue;
			fresh = false;
		}
		if (kept != i)
			rmon->running_alarms[kept] = *running;
		kept++;
	}
	rmon->n_running_alarms = kept;
}

void
alarm_ports_moved(struct rmon *rmon)
{
	struct rmon_reading reading;
	size_t kept = 0;

	for (size_t i = 0; i < rmon->n_running_alarms; i++) {
		struct running_alarm *running = &rmon->running_alarms[i];

		if (!running->kind->outlives_variable &&
		    read_variable(rmon, &running->rule.variable, false, &reading) < 0)
			alarm_give_up(rmon, running, alarm_row_of(rmon, running));
		else
			rmon->running_alarms[kept++] = *running;
	}
	rmon->n_running_alarms = kept;
}

uint64_t
alarm_next_us(const struct rmon *rmon)
{
	uint64_t next = RMON_NEVER;

	for (size_t i = 0; i < rmon->n_running_alarms; i++) {
		if (rmon->running_alarms[i].next_us < next)
			next = rmon->running_alarms[i].next_us;
	}
	return next;
}

/* ---- starting and stopping ---- */

static bool
same_rule(const struct alarm_rule *a, const struct alarm_rule *b)
{
	return a->index == b->index && a->interval_s == b->interval_s &&
	    mib_oid_compare(a->variable.arcs, a->variable.n, b->variable.arcs, b->variable.n) == 0 &&
	    a->sample_type == b->sample_type && a->startup == b->startup &&
	    a->rising == b->rising && a->falling == b->falling &&
	    a->rising_event == b->rising_event && a->falling_event == b->falling_event;
}

static const struct running_alarm *
find_running(const struct rmon *rmon, const struct alarm_kind *kind, const struct alarm_rule *rule)
{
	for (size_t i = 0; i < rmon->n_running_alarms; i++) {
		if (rmon->running_alarms[i].kind == kind && same_rule(&rmon->running_alarms[i].rule, rule))
			return &rmon->running_alarms[i];
	}
	return NULL;
}

static bool
alarm_still_configured(struct rmon *rmon, const struct running_alarm *running)
{
	struct managed_table *rows = rmon->managed[running->kind->managed];
	const void *row = alarm_row_of(rmon, running);
	struct alarm_rule rule;

	if (!row || !managed_is_active(rows, row))
		return false;
	running->kind->rule(row, &rule);
	return same_rule(&rule, &running->rule);
}

static void
stop_alarms(struct rmon *rmon)
{
	size_t kept = 0;

	for (size_t i = 0; i < rmon->n_running_alarms; i++) {
		if (alarm_still_configured(rmon, &rmon->running_alarms[i]))
			rmon->running_alarms[kept++] = rmon->running_alarms[i];
	}
	rmon->n_running_alarms = kept;
}

/* A delta's first reading is made now, so that its first period is complete. Returns false if that
 * deleted the row. */
static bool
start_alarm(struct rmon *rmon, const struct alarm_kind *kind, const struct alarm_rule *rule, uint64_t steady_us)
{
	struct running_alarm *running =
	    reallocarray(rmon->running_alarms, rmon->n_running_alarms + 1, sizeof(*running));

	if (!running) {
		log_warn_limited("rmon", "%s %u does not run: no memory", kind->name, rule->index);
		return true;
	}
	rmon->running_alarms = running;
	running += rmon->n_running_alarms;
	*running = (struct running_alarm){.kind = kind, .rule = *rule,
	    .next_us = steady_us + rule->interval_s * 1000000ull};
	if (rule->sample_type == RMON_DELTA && !sample_alarm(rmon, running, true, false))
		return false;
	rmon->n_running_alarms++;
	return true;
}

static void
start_alarms(struct rmon *rmon, const struct alarm_kind *kind, uint64_t steady_us)
{
	struct managed_table *managed = rmon->managed[kind->managed];
	struct alarm_rule rule;
	void *first;

	for (size_t i = 0; i < managed_rows(managed, &first);) {
		const void *row = (const uint8_t *)first + i * kind->row_octets;

		kind->rule(row, &rule);
		if (!managed_is_active(managed, row) || find_running(rmon, kind, &rule) ||
		    start_alarm(rmon, kind, &rule, steady_us))
			i++;
	}
}

void
alarm_changed(struct rmon *rmon, uint64_t steady_us)
{
	stop_alarms(rmon);
	for (size_t i = 0; i < N_KINDS; i++)
		start_alarms(rmon, &kinds[i], steady_us);
}
