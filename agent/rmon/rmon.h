/*
 * RMON's groups history, alarm and event (RFC 2819), the 64-bit history (RFC 3273) and the alarms with
 * thresholds of 64 bits (RFC 3434). Managers make control rows; histories fill buckets by the steady clock (hal.h); alarms compare objects with
 * thresholds; events are logged and sent. mibs/rmon_control.c serves all of it as tables.
 *
 * Life cycle: rmon_create, then restore rows through rmon_managed, then rmon_changed. After that the
 * owner calls rmon_changed after each SET, rmon_run when the steady clock reaches rmon_next_us,
 * and rmon_publish. At the end rmon_destroy.
 *
 * Threads: the agent's main loop, except rmon_tables_hold and rmon_tables_release, which any thread
 * may call. No function waits.
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
	RMON_CONTROLS_MAX = 8192,   /* two for each of HAL_MAX_PORTS */
	RMON_BUCKETS_MAX = 1000,    /* for one control row */
	RMON_BUCKETS_TOTAL = 65536, /* for all rows: 8 MiB */
	RMON_ALARMS_MAX = 1024,	    /* in each of the two tables */
	RMON_EVENTS_MAX = 256,
	RMON_LOGS_MAX = 1024,	    /* of all events; a new one replaces the oldest */
	RMON_INTERVAL_MAX_S = 3600, /* historyControlInterval */
	RMON_INDEX_MAX = 65535,
};

/* The figures of a bucket: columns 4 to 14 of etherHistoryTable, in their order. */
enum rmon_history_figure {
	RMON_DROP_EVENTS, RMON_OCTETS, RMON_PKTS, RMON_BCAST_PKTS, RMON_MCAST_PKTS,
	RMON_CRC_ALIGN, RMON_UNDERSIZE, RMON_OVERSIZE, RMON_FRAGMENTS, RMON_JABBERS,
	RMON_COLLISIONS, RMON_N_HISTORY_FIGURES
};

/* ---- rows of the tables ---- */

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
	uint32_t known;	      /* bit per enum rmon_history_figure: what the port counts */
};

enum rmon_sample_type { RMON_ABSOLUTE = 1, RMON_DELTA = 2 };
enum rmon_startup { RMON_STARTUP_RISING = 1, RMON_STARTUP_FALLING = 2, RMON_STARTUP_EITHER = 3 };

struct rmon_alarm { /* alarmEntry */
	uint32_t index;
	uint32_t interval_s;
	struct mib_oid variable;
	uint8_t sample_type; /* enum rmon_sample_type */
	int32_t value;	     /* of the latest period */
	uint8_t startup;     /* enum rmon_startup */
	int32_t rising, falling;
	uint32_t rising_event, falling_event; /* 0: none */
	char owner[RMON_OWNER_MAX + 1];
	uint8_t status;
};

/* HcValueStatus (RFC 3434) */
enum rmon_sign { RMON_NOT_AVAILABLE = 1, RMON_POSITIVE = 2, RMON_NEGATIVE = 3 };
/* StorageType (RFC 2579), as far as managers may set it */
enum rmon_storage { RMON_VOLATILE = 2, RMON_NONVOLATILE = 3 };

/* A threshold of hcAlarmTable: three columns. */
struct rmon_threshold {
	uint32_t low, high; /* halves of the absolute value */
	uint8_t sign;	    /* enum rmon_sign */
};

struct rmon_hc_alarm { /* hcAlarmEntry */
	uint32_t index;
	uint32_t interval_s;
	struct mib_oid variable;
	uint8_t sample_type; /* enum rmon_sample_type */
	uint64_t value;	     /* of the latest period: absolute, and its sign */
	uint8_t value_sign;  /* enum rmon_sign */
	uint8_t startup;     /* enum rmon_startup */
	struct rmon_threshold rising, falling;
	uint32_t rising_event, falling_event; /* 0: none */
	uint32_t failed_attempts;
	char owner[RMON_OWNER_MAX + 1];
	uint8_t storage; /* enum rmon_storage */
	uint8_t status;	 /* RowStatus */
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
	char community[RMON_OWNER_MAX + 1]; /* stored but not used: the master decides about traps */
	uint64_t sent_mono_us; /* when it was last generated; 0: never */
	uint32_t n_logged;     /* index of its newest log row */
	char owner[RMON_OWNER_MAX + 1];
	uint8_t status;
};

struct rmon_log { /* logEntry */
	uint32_t event, index;
	uint64_t mono_us;
	char description[176];
};

struct rmon_tables {
	const struct rmon_control *controls;
	size_t n_controls;
	const struct rmon_bucket *buckets; /* by control, then sample */
	size_t n_buckets;
	const struct rmon_alarm *alarms;
	size_t n_alarms;
	const struct rmon_hc_alarm *hc_alarms;
	size_t n_hc_alarms;
	const struct rmon_event *events;
	size_t n_events;
	const struct rmon_log *logs; /* by event, then index */
	size_t n_logs;
};

/* ---- the owner ---- */

/* Holds every Counter64, every threshold of either table, and their differences. */
typedef __int128 rmon_number;

/* An object's value at one moment. */
struct rmon_reading {
	enum mib_syntax syntax; /* MIB_INTEGER, MIB_GAUGE32, MIB_TIMETICKS or a counter */
	rmon_number value;	/* of a Counter32 the total behind it, if that has more bits */
	uint64_t discontinuity_us; /* when the counters of its row last began anew; 0: never */
};

/* A threshold was crossed. */
struct rmon_crossing {
	bool high_capacity; /* the row is of hcAlarmTable */
	bool rising;
	uint32_t index; /* of the row */
	struct mib_oid variable;
	uint8_t sample_type;
	rmon_number value, threshold;
	uint32_t event; /* eventIndex; 0: none */
};

struct rmon_options {
	struct hal *hal;	   /* borrowed */
	const struct clock *clock; /* borrowed; for time stamps only */
	const struct mib_table *control_table, *alarm_table, *event_table,
	    *hc_alarm_table;
	void *ctx;
	/* RMON itself has removed a row, so what is kept over a restart has changed. */
	void (*rows_removed)(void *ctx);
	/* Reads the value of any object that the agent serves. fresh: read the hardware first; else
	 * use the values of the latest fresh reading. Returns 0, -ENOENT if no table has the object,
	 * -ENXIO if the instance does not exist now, or -EINVAL if it is not an integer. */
	int (*read)(void *ctx, const struct mib_oid *name, bool fresh, struct rmon_reading *reading);
	/* A threshold was crossed, and its event wants a notification: risingAlarm, fallingAlarm,
	 * hcRisingAlarm or hcFallingAlarm. */
	void (*trap)(void *ctx, const struct rmon_crossing *crossing);
};

int rmon_create(const struct rmon_options *options, struct rmon **rmon);
void rmon_destroy(struct rmon *rmon); /* NULL allowed; all tables must have been released */

/* The tables that managers write. rmon owns the array. */
enum { RMON_N_MANAGED = 4 };
struct managed_table *const *rmon_managed(struct rmon *rmon);

/* Makes two control rows for each port that has RMON counters, as RFC 2819 section 5 suggests: 30 s
 * and 1,800 s, with 50 buckets each, owned by "monitor". Leaves out an index that is in use. */
void rmon_add_default_controls(struct rmon *rmon);

/* Call after rows were made, deleted, changed or restored: starts and stops histories and alarms. */
void rmon_changed(struct rmon *rmon, uint64_t steady_us);

/* What RMON does at the moments of a port's life:
 *  - it left: the buckets of its histories stay, as long as their control row is there, and none is added;
 *  - it came back: the next whole interval has a bucket, and no delta is over its absence;
 *  - it was forgotten: its history's control rows are removed.
 * Call rmon_ports_moved after it. */
void rmon_port(struct rmon *rmon, const struct hal_port_event *event);
/* Ports have come, left or been forgotten, and the tables that `read` reads show it: starts what rows that
 * were put back ask for, stops what rows that were removed asked for, and removes the rows of alarmTable whose
 * object left (RFC 2819, alarmVariable). */
void rmon_ports_moved(struct rmon *rmon, uint64_t steady_us);

/* Returns when rmon_run must be called, by the steady clock (hal.h); UINT64_MAX: never. */
uint64_t rmon_next_us(const struct rmon *rmon);
/* Fills the buckets and checks the alarms that are due at steady_us. If the clock of a board has
 * stepped over buckets they are left out, and their sample indexes are not used. */
void rmon_run(struct rmon *rmon, uint64_t steady_us);

/* Publishes the tables if anything has changed. */
void rmon_publish(struct rmon *rmon);
/* Returns the newest tables, which never change, or NULL before the first. */
const struct rmon_tables *rmon_tables_hold(struct rmon *rmon);
void rmon_tables_release(const struct rmon_tables *tables); /* NULL allowed */

enum rmon_stat {
	RMON_STAT_BUCKETS,
	RMON_STAT_BUCKETS_MISSED,
	RMON_STAT_READ_FAILED,
	RMON_STAT_ALARMS_GONE,
	RMON_STAT_READINGS_FAILED,
	RMON_STAT_EVENTS,
	RMON_STAT_LOGS_DROPPED,
	RMON_N_STATS
};
const struct stat_set *rmon_stats(const struct rmon *rmon);

#endif
