/*
 * RMON's working half (RFC 2819 groups history, alarm, event; RFC 3273's 64-bit history): control
 * rows that managers make, buckets that fill by the device's clock, thresholds that are watched,
 * events that are logged and sent. mibs/rmon_control.c shows all of it as tables.
 *
 * Runs on the agent's main loop; its owner calls rmon_run when rmon_next_us has come by the
 * device's clock, and publishes. Views are immutable and may be held by any thread. Nothing waits.
 *
 * Life: rmon_create -> rmon_restore (rows kept) -> rmon_start -> rmon_run, rmon_changed, … ->
 * rmon_destroy.
 */
#ifndef EASE_AGENT_RMON_RMON_H
#define EASE_AGENT_RMON_RMON_H

#include "agent/hal/hal.h"
#include "agent/snmp/managed_table.h"
#include "common/clock.h"
#include "common/stat.h"

struct rmon;

enum {
	RMON_OWNER_MAX = 127,	    /* OwnerString */
	RMON_CONTROLS_MAX = 8192,   /* two a port of the largest chassis served */
	RMON_BUCKETS_MAX = 1000,    /* granted to one control row */
	RMON_BUCKETS_TOTAL = 65536, /* of all rows: 8 MiB */
	RMON_ALARMS_MAX = 1024,
	RMON_EVENTS_MAX = 256,
	RMON_LOGS_MAX = 1024,	    /* of all events; the oldest makes room */
	RMON_INTERVAL_MAX_S = 3600, /* historyControlInterval */
	RMON_INDEX_MAX = 65535,
};

/* What a bucket counts: etherHistory columns 4 to 14 in their order. */
enum rmon_history_figure {
	RMON_DROP_EVENTS, RMON_OCTETS, RMON_PKTS, RMON_BCAST_PKTS, RMON_MCAST_PKTS,
	RMON_CRC_ALIGN, RMON_UNDERSIZE, RMON_OVERSIZE, RMON_FRAGMENTS, RMON_JABBERS,
	RMON_COLLISIONS, RMON_N_HISTORY_FIGURES
};

/* ---- rows, as tables show them ---- */

struct rmon_control { /* historyControlEntry */
	uint32_t index;
	struct mib_oid source; /* ifIndex.N */
	uint32_t buckets_requested, buckets_granted;
	uint32_t interval_s;
	char owner[RMON_OWNER_MAX + 1];
	uint8_t status; /* EntryStatus */
};

struct rmon_bucket { /* etherHistoryEntry */
	uint32_t control, sample; /* the index */
	uint64_t start_mono_us;	  /* agent's monotonic time */
	uint64_t counts[RMON_N_HISTORY_FIGURES];
	uint32_t utilization; /* hundredths of a percent */
};

enum rmon_sample_type { RMON_ABSOLUTE = 1, RMON_DELTA = 2 };
enum rmon_startup { RMON_STARTUP_RISING = 1, RMON_STARTUP_FALLING = 2, RMON_STARTUP_EITHER = 3 };

struct rmon_alarm { /* alarmEntry */
	uint32_t index;
	uint32_t interval_s;
	struct mib_oid variable;
	uint8_t sample_type; /* enum rmon_sample_type */
	int32_t value;	     /* of the last period */
	uint8_t startup;     /* enum rmon_startup */
	int32_t rising, falling;
	uint32_t rising_event, falling_event; /* 0: none */
	char owner[RMON_OWNER_MAX + 1];
	uint8_t status;
};

enum rmon_event_type {
	RMON_EVENT_NONE = 1,
	RMON_EVENT_LOG = 2,
	RMON_EVENT_TRAP = 3,
	RMON_EVENT_BOTH = 4,
};

struct rmon_event { /* eventEntry */
	uint32_t index;
	char description[RMON_OWNER_MAX + 1];
	uint8_t type; /* enum rmon_event_type */
	char community[RMON_OWNER_MAX + 1]; /* kept, not used: the master knows where traps go */
	uint64_t sent_mono_us; /* last time; 0: never */
	uint32_t n_logged;     /* index of its latest log row */
	char owner[RMON_OWNER_MAX + 1];
	uint8_t status;
};

struct rmon_log { /* logEntry */
	uint32_t event, index;
	uint64_t mono_us;
	char description[160];
};

struct rmon_tables {
	const struct rmon_control *controls;
	size_t n_controls;
	const struct rmon_bucket *buckets; /* by control, then sample */
	size_t n_buckets;
	const struct rmon_alarm *alarms;
	size_t n_alarms;
	const struct rmon_event *events;
	size_t n_events;
	const struct rmon_log *logs; /* by event, then index */
	size_t n_logs;
};

/* ---- the owner ---- */

struct rmon_options {
	struct hal *hal;	   /* borrowed */
	const struct clock *clock; /* borrowed; for time stamps only */
	const struct mib_table *control_table, *alarm_table, *event_table;
	void *ctx;
	/* The value of any object served, now: 0; -ENOENT: there is none; -EINVAL: it is no integer.
	 * fresh: read the hardware first; else as of the last fresh one. */
	int (*read)(void *ctx, const struct mib_oid *name, bool fresh, int64_t *value);
	/* A threshold was crossed and its event says trap: risingAlarm or fallingAlarm. */
	void (*trap)(void *ctx, const struct rmon_alarm *alarm, bool rising);
};

int rmon_create(const struct rmon_options *options, struct rmon **rmon);
void rmon_destroy(struct rmon *rmon); /* NULL allowed; no tables is held any more */

/* The tables that managers write; the array stays the rmon's. */
enum { RMON_N_MANAGED = 3 };
struct managed_table *const *rmon_managed(struct rmon *rmon);

/* Two control rows for each port that counts, as RFC 2819 section 5 suggests: 30 s and 1,800 s,
 * 50 buckets each, owned by "monitor"; left out where a row of that index is there. */
void rmon_add_default_controls(struct rmon *rmon);

/* Rows came, went or changed by a SET, or were restored: starts and stops what they ask for. */
void rmon_changed(struct rmon *rmon, uint64_t device_us);

/* When something is due by the device's clock; UINT64_MAX: never. */
uint64_t rmon_next_us(const struct rmon *rmon);
/* Does what is due at device_us. Buckets whose time went by while the device's clock stepped are
 * left out; their sample indexes are used up. */
void rmon_run(struct rmon *rmon, uint64_t device_us);

/* Publishes if anything has changed. */
void rmon_publish(struct rmon *rmon);
const struct rmon_tables *rmon_tables_hold(
    struct rmon *rmon); /* NULL before the first; any thread */
void rmon_tables_release(const struct rmon_tables *tables);	   /* NULL allowed */

enum rmon_stat {
	RMON_STAT_BUCKETS,
	RMON_STAT_BUCKETS_MISSED,
	RMON_STAT_READ_FAILED,
	RMON_STAT_ALARMS_GONE,
	RMON_STAT_EVENTS,
	RMON_STAT_LOGS_DROPPED,
	RMON_N_STATS
};
const struct stat_set *rmon_stats(const struct rmon *rmon);

#endif
