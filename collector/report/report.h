/*
 * Reports: questions to the store, answered as one structured result that renderers turn into
 * text, JSON or CSV. A report knows no output format, a renderer knows no table of the store.
 *
 * A result is typed columns and rows. A figure estimated from samples always has its limits, a
 * counted one has none, and what is not known is marked so and never 0. Used by easetop (and
 * later by the web page); must not be used by anything that writes the store.
 */
#ifndef EASE_COLLECTOR_REPORT_H
#define EASE_COLLECTOR_REPORT_H

#include "collector/estimate/estimate.h"
#include "common/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what is asked ---- */

enum report_by {
	REPORT_BY_DEFAULT, /* as the report has it */
	REPORT_BY_SRC,
	REPORT_BY_DST,
	REPORT_BY_PAIR,
	REPORT_BY_SUBNET, /* of the source */
	REPORT_BY_VLAN,
	REPORT_BY_ETHERTYPE,
	REPORT_BY_PROTO,
	REPORT_BY_SERVICE,
	REPORT_BY_CONVERSATION,
};
enum report_layer {
	REPORT_LAYER_ETH,
	REPORT_LAYER_IP,
	REPORT_LAYER_INNER, /* IP addresses inside tunnels */
};

/* Addresses that begin with the first `bits` bits of octets; of 6 (MAC), 4 or 16 octets. */
struct report_prefix {
	uint8_t n_octets; /* 0: no filter */
	uint8_t bits;
	uint8_t octets[FRAME_IP_LEN];
};

enum { REPORT_ANY = -1 };

struct address_names;
struct report_options {
	enum report_by by;
	enum report_layer layer;
	enum estimate_unit sort;
	const char *agent; /* id (leading hex digits) or address; NULL: all */
	const char *port;  /* name or ifIndex; NULL: all */
	int32_t vlan;	   /* outermost id, or REPORT_ANY */
	int32_t ip_proto;  /* or REPORT_ANY */
	int32_t ethertype; /* or REPORT_ANY */
	struct report_prefix addr; /* source or destination */
	bool has_from, has_to, all;
	uint64_t from_us, to_us; /* with has_from, has_to; else the last `last_us` before now */
	uint64_t last_us;
	uint64_t step_us; /* of a history; 0: as long as makes some hundred rows at most */
	uint8_t mask4, mask6; /* bits of a subnet */
	struct address_names *names; /* borrowed; NULL: no names */
	uint32_t top;	  /* rows at most */
	bool fold_few;	  /* keys of fewer than REPORT_FEW_SAMPLES go to the others */
};

enum { REPORT_FEW_SAMPLES = 5 };

/* Default: the last five minutes, IP, octets, top 10, subnets of 24 and 64 bits. */
struct report_options report_default_options(void);

/* 10.0.0.0/8, 10.1.2.3, 2001:db8::/32, 00:11:22:33:44:55, 00:11:22. 0 or -EINVAL. */
int report_parse_prefix(const char *text, struct report_prefix *prefix);

/* Whether these octets are an address of the prefix. */
bool report_in_prefix(const struct report_prefix *prefix, size_t n_octets, const uint8_t *octets);

/* The first bits of octets, and zeros behind them up to FRAME_IP_LEN. */
void report_cut(const uint8_t *octets, unsigned bits, uint8_t cut[FRAME_IP_LEN]);

/* tcp, udp, icmp, arp, …, an IP protocol number, or 0x and an ethertype. 0 or -EINVAL. */
int report_parse_proto(const char *text, struct report_options *options);

/* 90s, 5m, 1h, 30d, all. 0 or -EINVAL. */
int report_parse_last(const char *text, struct report_options *options);

/* 90s, 5m, 1h, 30d. 0 or -EINVAL. */
int report_parse_span(const char *text, uint64_t *span_us);

/* 500, 20k, 1.5G: powers of 1,000, above 0. 0 or -EINVAL. */
int report_parse_rate(const char *text, double *rate);

/* "24", or "24,56": IPv4's and IPv6's bits of a subnet. 0 or -EINVAL. */
int report_parse_mask(const char *text, struct report_options *options);

/* Those of addresses of so many octets. */
unsigned report_mask_bits(const struct report_options *options, size_t n_octets);

/* ---- what is answered ---- */

enum report_type {
	REPORT_TEXT,
	REPORT_ID,	/* a number that is a name */
	REPORT_COUNT,	/* a counted number */
	REPORT_RATE,	/* counted, a second */
	REPORT_BITRATE, /* counted, bits a second */
	REPORT_PERCENT, /* counted, 0..100 */
	REPORT_PKTS,	/* a figure: frames in the range */
	REPORT_OCTETS,	/* a figure: octets in the range */
	REPORT_SHARE,	/* a figure: 0..1 of the counted total */
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

/* A row beside the same range of an earlier time: settled where the limits do not overlap. */
enum report_direction { REPORT_NOT_SETTLED, REPORT_UP, REPORT_DOWN };
struct report_change {
	enum report_direction direction;
	bool known; /* it had samples then */
	struct estimate_figure before; /* in the unit of the sort, over past_seconds */
};

/* "up", "down", "not settled". */
const char *report_direction_name(enum report_direction direction);

enum { REPORT_SCOPE_TEXT = 160, REPORT_WORK_TEXT = 16 };

struct report_counter {
	char *name; /* owned */
	uint64_t value;
};

/* A matrix for people has so many addresses across: eight cells and an IPv6 address fill a wide
 * screen. */
enum { REPORT_GRID_ADDRESSES = 8 };

struct query_key;
struct report_result {
	const char *report; /* its name */
	const struct report_column *columns; /* borrowed: static */
	size_t n_columns;
	uint32_t hidden; /* bit i: column i says the same in each row, text leaves it out */
	struct report_value *values; /* n_rows of n_columns */
	size_t n_rows;

	uint64_t from_us, to_us; /* the range answered, device's clock */
	double seconds;		 /* of it, that data covers */
	uint64_t newest_us;	 /* newest data in the store; 0: none at all */
	uint64_t older_us;	 /* where it was to begin, if nothing of that time is kept; or 0 */
	bool empty;		 /* nothing in the range */
	char scope[REPORT_SCOPE_TEXT]; /* the agent, or how many */
	uint64_t samples, expected;    /* received, and numbers given out */
	double total[2], from_samples[2]; /* by estimate_unit: counted, and samples x skip */

	/* lists of keys only */
	bool has_keys;
	enum estimate_unit sort;
	const char *unseen; /* "source not seen sent": what unseen_pkts is about; static */
	struct report_value *others; /* a row of n_columns for all keys not shown; NULL: none */
	uint64_t n_others;
	struct report_value *rest; /* the same for what belongs to no key; NULL: none */
	const char *rest_name;	   /* why: "without IP", … */
	uint64_t folded;      /* samples that had no room as a key: in no row but rest */
	uint64_t folded_most; /* the most of them that one key can have: upper limits say so */
	double unseen_pkts; /* a key without any sample has fewer (95 %) */
	double mean_skip;   /* of the samples */
	uint64_t kept_since_us; /* answered from kept samples, which begin in the range; or 0 */
	bool as_grid;	    /* text: rows are pairs of a matrix */
	struct query_key *keys; /* of the rows in their order, owned: what the past is asked for */
	size_t n_keys;

	size_t n_left_out; /* rows beyond --top, where no `others` stand for them */

	/* --versus: one for each row, owned; NULL with versus_us: no data of that time */
	uint64_t versus_us; /* 0: not asked for */
	struct report_change *changes;
	double past_seconds;

	/* --warn: rows that surely have more than this, a second; 0: not asked for */
	double warn;
	enum estimate_unit warn_unit;
	size_t n_warned;

	/* A second table, which this owns, below the first: only its report (the name it has in
	 * JSON), columns, hidden and rows are set. NULL: none. */
	struct report_result *below;

	/* history only: how keys share each row, one result for each row, which this owns. Their
	 * rows have the number of the key's row in `below`. */
	uint64_t step_us;
	struct report_result *within; /* NULL: none */

	/* agents only: long work of the store on its sums, in windows; "": none under way */
	char work[REPORT_WORK_TEXT];
	uint64_t work_done, work_total;
	/* agents only: that the ClickHouse cluster was behind when the store was written last */
	uint64_t cluster_lag_s;

	/* loss only: the collector's own counters */
	struct report_counter *counters;
	size_t n_counters;
};

static inline struct report_value *
report_cell(const struct report_result *result, size_t row, size_t column)
{
	return &result->values[row * result->n_columns + column];
}

/* One of the reports below by name; NULL if there is none. */
struct query;
struct report {
	const char *name;
	const char *help;
	/* Fills the zeroed result; on an error the query has the message. now_us: wall clock. */
	int (*run)(struct query *query, const struct report_options *options, uint64_t now_us,
	    struct report_result *result);
};
extern const struct report reports[]; /* ended by a row without name */
const struct report *report_find(const char *name);

/* Its run, and -ENOMEM too where a text found no memory: a result is whole, or it is none. */
int report_run(const struct report *report, struct query *query,
    const struct report_options *options, uint64_t now_us, struct report_result *result);

void report_result_free(struct report_result *result);

#endif
