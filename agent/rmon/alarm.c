/*
 * The alarm group: each alarm row at work reads its variable once an interval and fires when a
 * threshold is crossed, with hysteresis and the rules for the first reading (RFC 2819 section 5,
 * alarmRisingThreshold, alarmFallingThreshold, alarmStartupAlarm).
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

/* Counters wrap at 32 bits and their difference does not mind; alarmValue is an Integer32. */
static int32_t
period_value(struct watch *w, int64_t reading)
{
	int64_t value = reading;

	if (w->asked.sample_type == RMON_DELTA)
		value = (int32_t)((uint32_t)reading - (uint32_t)w->last);
	w->last = reading;
	return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

/* What the value of a period makes of the two thresholds: a crossing fires once, until the other
 * threshold has been reached. The first value fires only what alarmStartupAlarm allows. */
static void
judge(struct rmon *rmon, struct watch *w, int32_t value)
{
	const struct rmon_alarm *a = &w->asked;
	bool first = !w->has_value;
	bool may_rise = first ? a->startup != RMON_STARTUP_FALLING : w->rising_armed;
	bool may_fall = first ? a->startup != RMON_STARTUP_RISING : w->falling_armed;

	w->has_value = true;
	w->asked.value = value;
	if (first)
		w->rising_armed = w->falling_armed = true;
	if (value >= a->rising) {
		w->rising_armed = false;
		w->falling_armed = true;
		if (may_rise)
			event_fire(rmon, a->rising_event, a, true);
	} else if (value <= a->falling) {
		w->falling_armed = false;
		w->rising_armed = true;
		if (may_fall)
			event_fire(rmon, a->falling_event, a, false);
	}
}

/* The variable is gone: so is the row (RFC 2819, alarmVariable). */
static void
give_up(struct rmon *rmon, const struct watch *w, const struct rmon_alarm *row)
{
	log_warn_limited("rmon", "alarm %u: its variable is gone; the row is deleted",
	    w->asked.index);
	stat_add(&rmon->stats, RMON_STAT_ALARMS_GONE, 1);
	managed_remove(rmon->managed[MANAGED_ALARM], row);
}

/* One reading. False if the row is no more. */
static bool
watch_once(struct rmon *rmon, struct watch *w, bool fresh)
{
	struct rmon_alarm *row = managed_find(rmon->managed[MANAGED_ALARM], &w->asked.index, 1);
	bool period_over = w->asked.sample_type == RMON_ABSOLUTE || w->has_last;
	int64_t reading;

	if (rmon->options.read(rmon->options.ctx, &w->asked.variable, fresh, &reading) < 0) {
		give_up(rmon, w, row);
		return false;
	}
	if (!period_over) {
		w->last = reading;
		w->has_last = true;
		return true;
	}
	judge(rmon, w, period_value(w, reading));
	row->value = w->asked.value;
	return true;
}

void
alarm_run(struct rmon *rmon, uint64_t device_us)
{
	bool fresh = true;
	size_t kept = 0;

	for (size_t i = 0; i < rmon->n_watches; i++) {
		struct watch *w = &rmon->watches[i];
		uint64_t interval_us = w->asked.interval_s * 1000000ull;

		if (w->next_us <= device_us) {
			w->next_us += ((device_us - w->next_us) / interval_us + 1) * interval_us;
			rmon->dirty = true;
			if (!watch_once(rmon, w, fresh))
				continue;
			fresh = false;
		}
		if (kept != i)
			rmon->watches[kept] = *w;
		kept++;
	}
	rmon->n_watches = kept;
}

uint64_t
alarm_next_us(const struct rmon *rmon)
{
	uint64_t next = RMON_NEVER;

	for (size_t i = 0; i < rmon->n_watches; i++) {
		if (rmon->watches[i].next_us < next)
			next = rmon->watches[i].next_us;
	}
	return next;
}

/* ---- rows and what works for them ---- */

static bool
same_oid(const struct mib_oid *a, const struct mib_oid *b)
{
	return mib_oid_compare(a->arcs, a->n, b->arcs, b->n) == 0;
}

/* What a manager can set; the value is the agent's. */
static bool
same_row(const struct rmon_alarm *a, const struct rmon_alarm *b)
{
	return a->index == b->index && a->interval_s == b->interval_s &&
	    same_oid(&a->variable, &b->variable) && a->sample_type == b->sample_type &&
	    a->startup == b->startup && a->rising == b->rising && a->falling == b->falling &&
	    a->rising_event == b->rising_event && a->falling_event == b->falling_event;
}

static const struct watch *
watch_of(const struct rmon *rmon, const struct rmon_alarm *row)
{
	for (size_t i = 0; i < rmon->n_watches; i++) {
		if (same_row(&rmon->watches[i].asked, row))
			return &rmon->watches[i];
	}
	return NULL;
}

static bool
still_asked(struct rmon *rmon, const struct watch *w)
{
	struct managed_table *rows = rmon->managed[MANAGED_ALARM];
	const struct rmon_alarm *row = managed_find(rows, &w->asked.index, 1);

	return row && managed_is_active(rows, row) && same_row(row, &w->asked);
}

static void
stop_watches(struct rmon *rmon)
{
	size_t kept = 0;

	for (size_t i = 0; i < rmon->n_watches; i++) {
		if (still_asked(rmon, &rmon->watches[i]))
			rmon->watches[kept++] = rmon->watches[i];
	}
	rmon->n_watches = kept;
}

/* A delta's first reading is now, so that its first period is a whole one. */
static void
start_watch(struct rmon *rmon, const struct rmon_alarm *row, uint64_t device_us)
{
	struct watch *w = reallocarray(rmon->watches, rmon->n_watches + 1, sizeof(*w));

	if (!w) {
		log_warn_limited("rmon", "alarm %u: no memory", row->index);
		return;
	}
	rmon->watches = w;
	w += rmon->n_watches;
	*w = (struct watch){.asked = *row, .next_us = device_us + row->interval_s * 1000000ull};
	if (row->sample_type == RMON_ABSOLUTE || watch_once(rmon, w, true))
		rmon->n_watches++;
}

void
alarm_changed(struct rmon *rmon, uint64_t device_us)
{
	struct managed_table *managed = rmon->managed[MANAGED_ALARM];
	void *first;
	size_t n;

	stop_watches(rmon);
	n = managed_rows(managed, &first);
	for (size_t i = 0; i < n; i++) {
		const struct rmon_alarm *row = (const struct rmon_alarm *)first + i;

		if (managed_is_active(managed, row) && !watch_of(rmon, row))
			start_watch(rmon, row, device_us);
	}
}
