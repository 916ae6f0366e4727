/*
 * The state of RMON's three groups, shared by the files of agent/rmon only.
 */
#ifndef EASE_AGENT_RMON_RMON_PRIVATE_H
#define EASE_AGENT_RMON_RMON_PRIVATE_H

#include "agent/rmon/rmon.h"
#include "common/publication.h"

#include <stdalign.h>

#define RMON_NEVER UINT64_MAX

/* What a port had counted at one moment. */
struct history_totals {
	uint64_t figures[RMON_N_HISTORY_FIGURES];
	uint32_t known;		   /* bit per enum rmon_history_figure: which of them the port had */
	uint64_t discontinuity_us; /* of the port's counters (hal.h) */
};

/* The history of an active control row. */
struct history {
	struct rmon_control row; /* as it was when the history started */
	uint32_t if_index;
	uint64_t start_us, next_us; /* of the bucket being filled, by the steady clock */
	uint64_t start_mono_us;
	struct history_totals base; /* at its start */
	uint32_t next_sample;
	struct rmon_bucket *ring; /* of `granted` buckets */
	uint32_t granted, n, oldest;
};

/* What a manager sets in a row of either alarm table. */
struct alarm_rule {
	uint32_t index, interval_s;
	struct mib_oid variable;
	uint8_t sample_type, startup;
	rmon_number rising, falling;
	uint32_t rising_event, falling_event;
};

/* An active row of either alarm table. */
struct running_alarm {
	const struct alarm_kind *kind; /* alarm.c: which table */
	struct alarm_rule rule;	       /* as it was when the alarm started */
	uint64_t next_us;
	struct rmon_reading last; /* at the beginning of a delta's period; valid if has_last */
	rmon_number value;	  /* of the latest period; valid if has_value */
	bool has_last, has_value;
	bool rising_done, falling_done; /* generated, and the other threshold not reached since */
};

enum { MANAGED_CONTROL, MANAGED_ALARM, MANAGED_EVENT, MANAGED_HC_ALARM };

struct published_tables {
	struct published head;
	struct rmon_tables tables;
	alignas(uint64_t) uint8_t block[]; /* all rows */
};

struct rmon {
	struct rmon_options options;
	struct managed_table *managed[RMON_N_MANAGED];
	struct history **histories; /* by index of their row */
	size_t n_histories;
	size_t n_granted; /* buckets of all histories */
	struct running_alarm *running_alarms;
	size_t n_running_alarms;
	struct rmon_log logs[RMON_LOGS_MAX]; /* a ring */
	size_t n_logs, oldest_log;
	bool dirty;
	struct publication publication; /* of struct published_tables */
	struct stat_set stats;
	_Atomic uint64_t stat_values[RMON_N_STATS];
};

/* Removes a row of a managed table without a SET, and tells the owner. */
static inline void
remove_row(struct rmon *rmon, int managed, const void *row)
{
	managed_remove(rmon->managed[managed], row);
	rmon->dirty = true;
	rmon->options.rows_removed(rmon->options.ctx);
}

/* history.c */
int history_ready(struct rmon *rmon, const struct rmon_control *row);
void history_explain(const struct rmon_control *row);
void history_changed(struct rmon *rmon, uint64_t steady_us);
void history_run(struct rmon *rmon, uint64_t steady_us);
uint64_t history_next_us(const struct rmon *rmon);
/* Removes the control rows of a port that does not come back. */
void history_port_forgotten(struct rmon *rmon, uint32_t if_index);
void history_free(struct rmon *rmon);

/* alarm.c */
int alarm_ready(struct rmon *rmon, const struct rmon_alarm *row);
void alarm_explain(struct rmon *rmon, const struct rmon_alarm *row);
void alarm_hc_explain(struct rmon *rmon, const struct rmon_hc_alarm *row);
int alarm_hc_ready(struct rmon *rmon, const struct rmon_hc_alarm *row);
void alarm_changed(struct rmon *rmon, uint64_t steady_us);
void alarm_run(struct rmon *rmon, uint64_t steady_us);
uint64_t alarm_next_us(const struct rmon *rmon);
/* Removes the rows of alarmTable whose object is not in the latest reading. */
void alarm_ports_moved(struct rmon *rmon);
/* Deletes the log rows of deleted events. */
void alarm_events_changed(struct rmon *rmon);

#endif
