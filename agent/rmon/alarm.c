/*
 * The alarm group: each active alarm row reads its variable once in its interval, and generates its
 * event when a threshold is crossed, with the hysteresis and the rules for the first reading of
 * RFC 2819 (section 5: alarmRisingThreshold, alarmFallingThreshold, alarmStartupAlarm).
 */
#include "agent/rmon/rmon_private.h"
#include "common/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
alarm_ready(struct rmon *rmon, const struct rmon_alarm *row)
{
	int64_t value;

	if (row->falling > row->rising)
		return -EBUSY;
	return rmon->options.read(rmon->options.ctx, &row->variable, false, &value) == 0 ? 0 : -EBUSY;
}

/* The difference of two readings is right even if a 32-bit counter has wrapped. alarmValue is an
 * Integer32. */
static int32_t
period_value(struct running_alarm *running, int64_t reading)
{
	int64_t value = reading;

	if (running->row.sample_type == RMON_DELTA)
		value = (int32_t)((uint32_t)reading - (uint32_t)running->last);
	running->last = reading;
	return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

/* Compares the value of a period with both thresholds. After an event, the next one for the same
 * threshold comes only when the other threshold has been reached in between. The first value
 * generates only those events that alarmStartupAlarm allows. */
static void
check_thresholds(struct rmon *rmon, struct running_alarm *running, int32_t value)
{
	const struct rmon_alarm *a = &running->row;
	bool first = !running->has_value;
	bool may_rise = first ? a->startup != RMON_STARTUP_FALLING : running->rising_armed;
	bool may_fall = first ? a->startup != RMON_STARTUP_RISING : running->falling_armed;

	running->has_value = true;
	running->row.value = value;
	if (first)
		running->rising_armed = running->falling_armed = true;
	if (value >= a->rising) {
		running->rising_armed = false;
		running->falling_armed = true;
		if (may_rise)
			event_fire(rmon, a->rising_event, a, true);
	} else if (value <= a->falling) {
		running->falling_armed = false;
		running->rising_armed = true;
		if (may_fall)
			event_fire(rmon, a->falling_event, a, false);
	}
}

/* RFC 2819, alarmVariable: the row is deleted when its variable no longer exists. */
static void
give_up(struct rmon *rmon, const struct running_alarm *running, const struct rmon_alarm *row)
{
	log_warn_limited("rmon",
	    "alarm %u was deleted, because the object that it compared no longer exists",
	    running->row.index);
	stat_add(&rmon->stats, RMON_STAT_ALARMS_GONE, 1);
	managed_remove(rmon->managed[MANAGED_ALARM], row);
}

/* Makes one reading. Returns false if the row was deleted. */
static bool
sample_alarm(struct rmon *rmon, struct running_alarm *running, bool fresh)
{
	struct rmon_alarm *row = managed_find(rmon->managed[MANAGED_ALARM], &running->row.index, 1);
	bool period_over = running->row.sample_type == RMON_ABSOLUTE || running->has_last;
	int64_t reading;

	if (rmon->options.read(rmon->options.ctx, &running->row.variable, fresh, &reading) < 0) {
		give_up(rmon, running, row);
		return false;
	}
	if (!period_over) {
		running->last = reading;
		running->has_last = true;
		return true;
	}
	check_thresholds(rmon, running, period_value(running, reading));
	row->value = running->row.value;
	return true;
}

void
alarm_run(struct rmon *rmon, uint64_t steady_us)
{
	bool fresh = true;
	size_t kept = 0;

	for (size_t i = 0; i < rmon->n_running_alarms; i++) {
		struct running_alarm *running = &rmon->running_alarms[i];
		uint64_t interval_us = running->row.interval_s * 1000000ull;

		if (running->next_us <= steady_us) {
			running->next_us +=
			    ((steady_us - running->next_us) / interval_us + 1) * interval_us;
			rmon->dirty = true;
			if (!sample_alarm(rmon, running, fresh))
				continue;
			fresh = false;
		}
		if (kept != i)
			rmon->running_alarms[kept] = *running;
		kept++;
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
same_oid(const struct mib_oid *a, const struct mib_oid *b)
{
	return mib_oid_compare(a->arcs, a->n, b->arcs, b->n) == 0;
}

/* Compares what a manager can set; the value belongs to the agent. */
static bool
same_row(const struct rmon_alarm *a, const struct rmon_alarm *b)
{
	return a->index == b->index && a->interval_s == b->interval_s &&
	    same_oid(&a->variable, &b->variable) && a->sample_type == b->sample_type &&
	    a->startup == b->startup && a->rising == b->rising && a->falling == b->falling &&
	    a->rising_event == b->rising_event && a->falling_event == b->falling_event;
}

static const struct running_alarm *
find_running(const struct rmon *rmon, const struct rmon_alarm *row)
{
	for (size_t i = 0; i < rmon->n_running_alarms; i++) {
		if (same_row(&rmon->running_alarms[i].row, row))
			return &rmon->running_alarms[i];
	}
	return NULL;
}

static bool
still_configured(struct rmon *rmon, const struct running_alarm *running)
{
	struct managed_table *rows = rmon->managed[MANAGED_ALARM];
	const struct rmon_alarm *row = managed_find(rows, &running->row.index, 1);

	return row && managed_is_active(rows, row) && same_row(row, &running->row);
}

static void
stop_alarms(struct rmon *rmon)
{
	size_t kept = 0;

	for (size_t i = 0; i < rmon->n_running_alarms; i++) {
		if (still_configured(rmon, &rmon->running_alarms[i]))
			rmon->running_alarms[kept++] = rmon->running_alarms[i];
	}
	rmon->n_running_alarms = kept;
}

/* A delta's first reading is made now, so that its first period is complete. */
static void
start_alarm(struct rmon *rmon, const struct rmon_alarm *row, uint64_t steady_us)
{
	struct running_alarm *running =
	    reallocarray(rmon->running_alarms, rmon->n_running_alarms + 1, sizeof(*running));

	if (!running) {
		log_warn_limited("rmon", "alarm %u does not run: no memory", row->index);
		return;
	}
	rmon->running_alarms = running;
	running += rmon->n_running_alarms;
	*running = (struct running_alarm){
	    .row = *row, .next_us = steady_us + row->interval_s * 1000000ull};
	if (row->sample_type == RMON_ABSOLUTE || sample_alarm(rmon, running, true))
		rmon->n_running_alarms++;
}

void
alarm_changed(struct rmon *rmon, uint64_t steady_us)
{
	struct managed_table *managed = rmon->managed[MANAGED_ALARM];
	void *first;
	size_t n;

	stop_alarms(rmon);
	n = managed_rows(managed, &first);
	for (size_t i = 0; i < n; i++) {
		const struct rmon_alarm *row = (const struct rmon_alarm *)first + i;

		if (managed_is_active(managed, row) && !find_running(rmon, row))
			start_alarm(rmon, row, steady_us);
	}
}
