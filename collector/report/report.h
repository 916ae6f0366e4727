/*
 * Reports: questions to the store, answered as one structured result that renderers turn into
 * text, JSON or CSV. A report knows no output format, a renderer knows no table of the store.
 *
 * A result is a range, tables of typed columns and rows, and notes (notes.h). A figure estimated from samples always
 * has its limits, a counted one has none, and an unknown one is marked as unknown and never 0. Used by easetop and by
 * the web server; must not be used by anything that writes the store.
 */
#ifndef EASE_COLLECTOR_REPORT_H
#define EASE_COLLECTOR_REPORT_H

#include "collector/query/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a port's frames that passed while its skip counter stood empty is told from here on, as an agent notes a minute
 * (stall_event_percent). */
#define REPORT_STALLS_TOLD 0.05

enum report_type {
	REPORT_TEXT,
	REPORT_ID,	/* a number that is a name */
	REPORT_COUNT,	/* a counted number, or a mean of such; JSON has its decimals */
	REPORT_RATE,	/* counted, a second */
	REPORT_BITRATE, /* counted, bits a second */
	REPORT_PERCENT, /* counted, 0..100 */
	REPORT_PKTS,	/* a figure: frames in the range */
	REPORT_OCTETS,	/* a figure: octets in the range */
	REPORT_SHARE,	/* a figure: 0..1 of the counted total */
	/* Quantiles, figures of which a limit may be NAN, and the estimate where one is: too few samples tell it */
	REPORT_NS,	/* nanoseconds */
	REPORT_DEPTH,	/* octets in a queue */
	REPORT_SEEN_NS, /* nanoseconds that a sample had */
	REPORT_RANK,
	REPORT_TIME,	/* microseconds since 1970 */
	REPORT_COMPLETENESS, /* 0..1 */
};

struct report_column {
	const char *field;   /* in JSON and CSV; NULL: not there */
	const char *heading; /* in text; NULL: not shown there */
	enum report_type type;
};

struct report_value {
	bool known;
	union {
		char *text; /* owned by the result */
		double number;
		uint64_t time_us;
		struct estimate_figure figure;
		struct estimate_rank rank;
	};
};

/* A row compared with the same range at an earlier time: up or down only where the limits do not
 * overlap. */
enum report_direction { REPORT_NOT_SETTLED, REPORT_UP, REPORT_DOWN };
struct report_change {
	enum report_direction direction;
	bool known; /* the key had samples then */
	struct estimate_figure before; /* in the unit of the sort, over past_seconds */
};

/* "up", "down", "not settled". */
const char *report_direction_name(enum report_direction direction);

/* Why what passed is in no row. Some of it: samples were lost, a skip counter was empty (a stall), or an agent
 * had begun and taken no sample yet. */
enum { REPORT_LOST_SAMPLES = 1, REPORT_LOST_STALLED = 2, REPORT_LOST_BEFORE_FIRST = 4 };
const char *report_lost_name(unsigned why);

/* Limits of a row at errors that --versus and --warn need. */
struct report_extremes {
	struct estimate_figure change[2], alarm[2]; /* by estimate_unit */
};

enum { REPORT_SCOPE_TEXT = 192 };

struct report_counter {
	char *name; /* owned */
	uint64_t value;
};

/* A matrix as text has this many addresses across: eight cells and an IPv6 address fill a wide
 * screen. */
enum { REPORT_GRID_ADDRESSES = 8 };

enum { REPORT_NAME_TEXT = 112 };

/* Of a result's total, what is by samples alone: of ports with samples that lists count and without counters. */
struct report_uncounted {
	size_t n_ports;
	double total[2], variance[2]; /* by estimate_unit */
	/* Lost in losses longer than a notification; also of ports of which no sample came at all. What passed
	 * meanwhile is in no figure, as nothing counted it. */
	uint64_t lost_samples;
};

/* A row below the rows, of all keys that have none, or of what has no key. Where the counted total of a list went: the
 * estimates of all but the rows themselves add up to it. */
struct report_sum {
	struct report_value *row; /* n_columns, owned; NULL: no list */
	bool said;		  /* there is something in it */
	const char *name;	  /* static; NULL: its own */
	uint64_t n;		  /* keys, or ports */
};
enum report_sum_id {
	REPORT_SUM_TOGETHER,  /* the rows, corrected for having been chosen */
	REPORT_SUM_OTHERS,    /* keys not shown */
	REPORT_SUM_NOT_SEEN,  /* keys without a sample */
	REPORT_SUM_REST,      /* samples that have no key; the name says why: "without IP", … */
	REPORT_SUM_NO_SAMPLE, /* counted at ports without a sample */
	REPORT_SUM_LOST,      /* of lost[], called report_lost_name() */
	REPORT_N_SUMS,
};

/* Of a list of keys. */
struct query_key;
struct report_list {
	enum estimate_unit sort;
	bool per_site; /* the site is a part of a row's key */
	bool as_grid;  /* text: rows are pairs of a matrix */
	double mean_skip; /* of the samples */
	double given_unseen_pkts; /* one key has no more without a sample, at options.error */
	size_t n_ranked; /* keys with a sample */
	struct estimate_told told; /* by all keys */
	struct report_extremes *extremes; /* one for each row, owned; NULL: not asked for */
	struct query_key *keys; /* of the rows in their order, owned: --versus asks for these */
	size_t n_keys;
	/* --versus: one for each row, owned; NULL: not asked for, or no data of that time */
	struct report_change *changes;
	double past_seconds;
};

/* Of a history: how keys share each row. */
struct report_steps {
	uint64_t step_us;
	/* One result for each row, owned. Their rows hold the number of the key's row in `below`; what other keys have
	 * is their sum REPORT_SUM_OTHERS. */
	struct report_result *within;
	double about_part; /* the largest deviation of a step's total, as a part of it; 0: all are exact */
};

struct report_note;
struct report_result {
	const char *report; /* its name */
	const struct report_column *columns; /* borrowed: static */
	size_t n_columns;
	uint32_t hidden; /* bit i: column i has the same value in each row, text leaves it out */
	uint32_t details; /* bits of columns that text shows only if it is asked for all: with no more than noughts */
	struct report_value *values; /* n_rows of n_columns */
	size_t n_rows;

	uint64_t from_us, to_us; /* the range answered, device's clock */
	double seconds;		 /* of it, that data covers */
	uint64_t newest_us;	 /* newest data in the store; 0: none at all */
	/* The end of a range that reaches to now: so far have all ports counted that lists count, but the silent
	 * ones; 0: the range ended before. */
	uint64_t counted_to_us;
	bool empty;		 /* nothing in the range */
	char scope[REPORT_SCOPE_TEXT]; /* the agent, or how many */
	uint64_t samples, expected;    /* received, and numbers given out */
	double total[2], from_samples[2]; /* by estimate_unit: counted, and samples x skip */
	double total_variance[2];	  /* of total, where samples divided what was counted across an end of the range */
	double lost[2]; /* of total: passed while samples were lost, or none was taken; in no row */
	struct report_uncounted uncounted;

	struct report_sum sums[REPORT_N_SUMS];
	struct report_list *list;   /* owned; NULL: no list of keys */
	struct report_steps *steps; /* owned; NULL: no history */

	/* A second table below the first, owned by this result: only its report (its name in JSON),
	 * columns, hidden, rows and perhaps a third table below it are set. NULL: none. */
	struct report_result *below;
	/* loss only: the collector's own counters */
	struct report_counter *counters;
	size_t n_counters;

	struct report_note **notes; /* notes.h; owned */
	size_t n_notes;
	bool failed; /* there was no memory for a note */
};

static inline struct report_value *
report_cell(const struct report_result *result, size_t row, size_t column)
{
	return &result->values[row * result->n_columns + column];
}

/* The options that a report uses, beside --agent, --if, --filter with terms of places, and the range, which all
 * use. */
enum report_takes {
	REPORT_TAKES_BY = 1 << 0,
	REPORT_TAKES_MASK = 1 << 1,
	REPORT_TAKES_LAYER = 1 << 2,
	REPORT_TAKES_FRAMES = 1 << 3, /* filters with any terms */
	REPORT_TAKES_ADDR = 1 << 4,   /* filters with terms of addresses */
	REPORT_TAKES_VLAN = 1 << 5,
	REPORT_TAKES_STEP = 1 << 6,
	REPORT_TAKES_SORT = 1 << 7,
	REPORT_TAKES_TOP = 1 << 8,
	REPORT_TAKES_VERSUS = 1 << 9,
	REPORT_TAKES_WARN = 1 << 10,
	REPORT_TAKES_SURE = 1 << 11,
	REPORT_TAKES_PER = 1 << 12,
};

struct query;
struct report {
	const char *name;
	const char *help;
	unsigned takes; /* enum report_takes */
	/* Fills the zeroed result; on an error the query has the message. now_us: wall clock. */
	int (*run)(struct query *query, const struct report_options *options, uint64_t now_us,
	    struct report_result *result);
};
extern const struct report reports[]; /* ended by a row without name */
const struct report *report_find(const char *name); /* NULL if there is none */

/* Runs the report; also -ENOMEM where there was no memory for a text: a result is complete, or
 * there is none. */
int report_run(const struct report *report, struct query *query,
    const struct report_options *options, uint64_t now_us, struct report_result *result);

/* How a result is read. */
struct render_options {
	bool all; /* also the collector's own counters below */
	bool utc;	 /* text: times in UTC instead of local time */
	uint64_t now_us; /* text: wall clock, for ages and to leave out today's date */
};

void report_result_free(struct report_result *result);

#endif
