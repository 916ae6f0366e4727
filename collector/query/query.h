/*
 * Read-only access to a store for the reports, whether it is a collector's file or a cluster that
 * collectors ship to: agents, ports with their state, and for a range the sums from which estimates
 * are made. A query of a file reads one snapshot (a read transaction), so that totals and rows of a
 * report fit each other while the collector goes on writing. A cluster is queried several times for
 * a report; rows that are shipped meanwhile may be in some of the answers.
 *
 * Errors: functions return 0 or -errno, and query_error says what failed and on which file or
 * server.
 */
#ifndef EASE_COLLECTOR_QUERY_QUERY_H
#define EASE_COLLECTOR_QUERY_QUERY_H

#include "collector/estimate/estimate.h"
#include "collector/estimate/estimate_list.h"
#include "collector/filter/filter.h"
#include "collector/query/options.h"
#include "collector/query/query_store.h"
#include "collector/store/levels.h"
#include "common/clock.h"
#include "common/sample.h"

#include <sqlite3.h>
#include <string.h>

enum { QUERY_AGENT_TEXT = 112, QUERY_ID_TEXT = 2 * EASE_AGENT_ID_LEN + 1, QUERY_ERROR_TEXT = 512 };

/* A boot of sFlow is the second at which the agent started (collector/input/sflow_state.h), a boot of EASE a count of
 * starts: no device starts so often. */
#define QUERY_SFLOW_BOOTS 1000000000

/* Since when samples, and sums of minutes, 5 minutes, hours and days, are kept; 0: there are none. What deletes them
 * is their age (option keep) or store_size. */
enum { REPORT_N_REACH = 5 };
struct report_reach {
	uint64_t since_us[REPORT_N_REACH];
};
extern const char *const report_reach_names[REPORT_N_REACH]; /* "samples", "1min", …: the options less their keep_ */

struct query_agent {
	int64_t id; /* the store's number */
	char id_text[QUERY_ID_TEXT];
	char address[QUERY_AGENT_TEXT];
	char sender[FRAME_IP_TEXT];  /* of sFlow that is sent from another address than its own; "": from that */
	bool lacks_address;	     /* that address is another's, who sends from it, or stated it first */
	char name[QUERY_AGENT_TEXT]; /* of the names' file, or system_name, or the address; with # and digits of the id where
				      * another has it (names.c). No two agents have the same */
	char system_name[EASE_NAME_MAX + 1]; /* sysName, if the collector has asked for it; "" */
	bool names_itself;		     /* that is its name: whom others call so goes before */
	uint8_t digits;		     /* so many; 0: none */
	bool is_named;		     /* by the names' file */
	const char *site;	     /* the names' text; NULL: no row gives one */
	bool has_port_sites;	     /* ports of it may be elsewhere */
	int64_t collector;	     /* in a cluster: the one that heard it last */
	int64_t boot;
	uint64_t first_us, last_us; /* device's clock */
	uint64_t last_received_us;
	int64_t clock_off_us; /* added to the device's own times, because its clock is wrong */
	bool lacks_minute; /* a cluster has newer data of it than the last minute that was shipped */
	bool chosen; /* the filter does not rule it out */
	uint32_t named; /* which of the filter's names it has (filter_subject) */
	struct query_losses { /* samples of all of its accounts: by the report loss */
		double expected, received, lost, in_agent, in_collector, network, before;
		double duplicates;
		double apart; /* dropped in the agent, by its word: of no number */
	} losses;
	bool sets_range; /* where the range has no ends of its own; its clock is right */
	uint64_t samples[EASE_OUT + 1]; /* by enum ease_direction, in the range; [0] unused */
	uint8_t listed; /* enum ease_direction: lists count the frames of it that went this way (ports.c) */
};

/* What kept samples of a port state in the range, on the average over samples; 0: none is kept. Of sFlow alone: its
 * weights may be measured. */
struct query_stated {
	double rate, rate_square;
	double dropped; /* samples that the agent says it dropped, beside those whose numbers are missing, for each received */
};

enum {
	QUERY_COUNTED_IN_PKTS,
	QUERY_COUNTED_IN_OCTETS,
	QUERY_COUNTED_OUT_PKTS,
	QUERY_COUNTED_OUT_OCTETS,
	QUERY_COUNTED_STALLED_PKTS,
	QUERY_N_COUNTED,
};
/* The port's counters nearest to a time on both sides, of a file (query_reading_at). */
struct query_around {
	struct query_counters {
		bool known;
		uint64_t time_us, discontinuity_us;
		double value[QUERY_N_COUNTED]; /* NAN: the device does not count it */
	} before, after;
};

struct query_port {
	const struct query_agent *agent;
	uint64_t if_index;
	char name[EASE_NAME_MAX + 1]; /* of the names' file, or the one sent */
	char sent_name[EASE_NAME_MAX + 1]; /* "if7" while not known */
	const char *site; /* of the port, or its agent's; NULL: none */
	char alias[EASE_NAME_MAX + 1];
	uint64_t speed_bps; /* 0 not known */
	uint8_t admin_status, oper_status;
	uint32_t lag_parent; /* ifIndex of the link aggregate it is a member of; 0: none */
	bool edge;
	bool has_state; /* else only its samples and counters are known */
	bool chosen; /* the filter does not rule it out; members with their aggregate */
	bool passes; /* the filter lets all frames of it pass */
	uint32_t named; /* as of agents */
	/* By enum ease_direction; [0] unused. The pools are what passed while samples arrived; what
	 * passed while they were lost is in cut. */
	struct estimate_stratum side[EASE_OUT + 1];
	struct query_cut {
		double pkts, octets;
		double untold[ESTIMATE_N_UNITS]; /* variance of the totals with it, by what was cut across an end (ends.c) */
	} cut[EASE_OUT + 1];
	uint64_t expected, received; /* samples */
	struct query_stated stated; /* of a cluster, once query_read_stated has read it */
	uint64_t refused; /* samples that came, */
	uint8_t refused_kind; /* and why most of them were (oddities.h) */
	bool numbers_odd;     /* its sample numbers or pool go back or leap, as audit_reader_begin found, */
	bool rate_odd;	      /* or it states rates that cannot be */
	uint64_t cut_numbers; /* of those lost: in losses longer than a notification, which cut is about */
	uint64_t counters_us;	     /* newest counters, device's clock; 0: none are known */
	/* In a range that reaches beyond, its counters begin or end there, though its samples do not; 0: they do not */
	uint64_t counted_from_us, counted_until_us;
	uint64_t heard_from_us, heard_until_us; /* its data of all time lie within, where an account says so; else 0 */
	bool is_coarse; /* in a step of a window its counters were too far apart to tell what passed in the step */
	struct query_end { /* of the range, or of the step that was read last (ends.c) */
		uint64_t at_us; /* 0: none was read */
		bool by_time;	/* no sample told how much of it belongs to the range */
		double divided[EASE_OUT + 1][ESTIMATE_N_UNITS];
		bool is_silent; /* nothing came between the counters around it */
		/* What these counted on both sides of it. */
		struct { double before, after; } across[EASE_OUT + 1][ESTIMATE_N_UNITS];
	} end;
	struct query_around around;
	bool is_divided; /* of a range or a step, its total is known to no more than REPORT_ABOUT_PART (ends.c) */
	bool silent; /* of a range that ends at the edge: it no longer counts, so the edge is without it */
	bool late;   /* the same: it counts, but its newest counters are further back than the edge waits */
	/* What it counted after the edge in the last window; sides are without it. By enum
	 * ease_direction and estimate_unit. */
	double beyond[EASE_OUT + 1][ESTIMATE_N_UNITS];
	double beyond_stalled; /* frames of these that passed while the skip counter was empty; cut is without it, too */
	/* Received samples without a key because the memory for keys was full, and the most of them
	 * that one key can have; of the kind that query_keys read, 0 if from kept samples. */
	uint64_t folded, folded_most;
	/* The same of keys of the dimension that were dropped while a question was answered, because the range
	 * has more than its limit of keys. */
	uint64_t dropped, dropped_most;
};

struct query_range {
	uint64_t from_us, to_us; /* from is the start of a window */
};

/* The windows that the store has at a level: kept from kept_us on, complete up to done_us. */
struct query_level {
	uint64_t kept_us, done_us;
};

enum {
	QUERY_KEY_OCTETS = FRAME_IP_LEN + 3, /* the longest: half of a conversation */
	QUERY_ONLY_MAX = 1000, /* keys in one statement; a server takes statements up to 256 kB */
};
/* Sums of one key at one port, received direction. */
struct query_key {
	uint8_t n_octets; /* of each half */
	uint8_t key1[QUERY_KEY_OCTETS], key2[QUERY_KEY_OCTETS]; /* zero where --by leaves it out */
	const struct query_port *port;
	struct estimate_sums sums;
};

/* Limits of what a question may cost; all 0: none. */
struct query_limits {
	const struct clock *clock;
	uint64_t deadline_us;	    /* monotonic: then the answer is -ETIMEDOUT */
	const _Atomic bool *cancel; /* when true, the same; NULL: never */
	size_t keys;		    /* in memory at a time: of a range that has more, those with most samples stay
				     * (query_port.dropped). Other rows: -E2BIG if there are more */
};

/* Which rows a statement reads of tables that are ordered by time. */
enum query_rows {
	QUERY_ALL_ROWS,	    /* with a time in the range to fetch */
	QUERY_ROWS_AT_ENDS, /* those nearest to its ends, and the first and last of each boot within */
	QUERY_NEWEST_ROWS,  /* the newest of each port; the newest two counters */
	QUERY_COUNTERS_WITHIN, /* all counters in the range, whole */
	QUERY_COUNTERS_OF_MINUTES, /* the first and last of each minute of it and of those around it */
};

/* A statement that is asked for each port: preparing it takes longer than running it. */
enum { QUERY_KEPT = 16 };
struct query_kept {
	const char *sql; /* static storage; NULL: free */
	sqlite3_stmt *stmt;
};

struct query_fetch_range {
	bool given; /* else all rows of the range */
	enum query_rows rows;
	uint64_t from_us, to_us;
};

/* Which cluster to query. query_open_cluster borrows the texts. */
struct cluster_url;
struct query_cluster {
	const struct cluster_url *servers;
	size_t n_servers;
	const char *database, *cluster; /* NULL or "": what the first server's URL says */
	const char *user, *password;
};

struct mirror;
struct query_names;
struct query_steps;
struct query_gaps;
struct query_fine;

struct query {
	sqlite3 *db;
	const struct query_store *store;
	struct mirror *mirror; /* of a cluster */
	struct query_kept kept[QUERY_KEPT];
	const struct filter *filter; /* of the question, borrowed; NULL: all pass */
	struct query_fetch_range fetch_range; /* for the statement that is prepared next */
	struct query_steps *steps; /* NULL: none under way */
	struct query_fine *fine;   /* the same for steps of windows */
	int failed; /* what fetching from a cluster returned: each step of the statement returns it */
	struct query_limits limits;
	char *path;
	uint64_t inode; /* of the file; 0: there is none */
	bool is_damaged; /* a statement found the file to be so */
	char error[QUERY_ERROR_TEXT];
	struct query_names *names; /* of devices, as the store has them; NULL: none */
	struct query_agent *agents; /* by id */
	size_t n_agents;
	struct query_port *ports; /* by agent id, ifIndex */
	size_t n_ports;
	bool wants_numbers; /* query_begin reads also ports that have nothing but numbers (source_port.h) */
	struct query_range range;
	struct query_range asked; /* the range of query_begin; range may be a step of it */
	struct query_gaps *gaps;  /* of all of it; NULL: not read yet */
	/* What query_windows added of gaps to the asked-for ports: frames received and sent, and the
	 * time from the first to the last; since_us 0: none. */
	struct query_in_gaps {
		double pkts;
		uint64_t since_us, until_us;
	} in_gaps;
	struct query_level levels[STORE_N_LEVELS]; /* the first is not used */
	/* The start that was asked for, if the store has nothing of that time any more; else 0. */
	uint64_t older_us;
	uint64_t newest_us; /* 0: the store is empty */
	uint64_t samples_since_us; /* of all agents asked for the store has all samples since then */
	uint64_t edge_us; /* the range ends here, because counters have come so far (edge.c); 0: it
			     ends before */
	bool beyond_known; /* of the ports */
	int64_t edge_part; /* id of the newest part with samples from before the edge */
	bool from_samples;  /* a filter crosses keys: sums come from kept samples */
	bool sides_chosen;  /* listed is set of each agent */
	/* Also what a filter by agents rules out is fetched, because the report shows it beside what it asks for. Set before
	 * query_begin, and taken back after the report. */
	bool fetches_all;
	size_t n_sent_agents; /* of which lists count what they sent */
};

/* sqlite:PATH or PATH. On failure *query is NULL and error says why, naming file and group. */
int query_open(const char *url, struct query **query, char *error, size_t error_size);

/* The same for a cluster. error names the server. The limits are those of query_limit and hold from
 * here on; NULL: none. */
int query_open_cluster(const struct query_cluster *where, const struct query_limits *limits,
    struct query **query, char *error, size_t error_size);
void query_close(struct query *query);

/* Sets the limits from now on; the clock and cancel are borrowed. */
void query_limit(struct query *query, const struct query_limits *limits);

/* Reads the agents, the range that the options ask for, and the ports as they were at its end.
 * -ENOENT if the filter names an agent or a port that is not known. Drops what an earlier question read. */
int query_begin(struct query *query, const struct report_options *options, uint64_t now_us);

/* After query_begin at that time: the range as it was resolved, for other questions (report_options.moment). */
struct report_moment query_moment(const struct query *query, uint64_t now_us);

/* Drops what a question read, for a query that is kept open for others: they see the same state of the store. */
void query_rest(struct query *query);

/* How far back the store reaches, after query_begin. 0 or -EIO. */
int query_read_reach(struct query *query, struct report_reach *reach);

/* Length of the shortest windows that the store still has from that time on. */
uint64_t query_finest_us(const struct query *query, uint64_t from_us);

/* After query_begin: another range within the first. Both ends are the start of windows that the
 * store has there (query_finest_us), or the end of the first range. Agents and ports stay, and
 * their sums are set to 0. */
void query_narrow(struct query *query, uint64_t from_us, uint64_t to_us);

/* From now on query_narrow gives steps of the present range, each beginning at a full multiple of
 * step_us. The sums of all steps are then fetched from a cluster at once, if they are not too
 * many. */
void query_begin_steps(struct query *query, uint64_t step_us);
void query_end_steps(struct query *query);

/* From now on query_narrow gives steps of windows, in their order, of a query of a file; a step begins at a full multiple
 * of step_us, ten seconds at least, and lies within one window. Their totals are the window's, divided by counters or else by samples, their samples the kept ones: of a
 * dimension without kind. 0 or -ENOMEM. */
int query_begin_fine(struct query *query, uint64_t step_us);
void query_end_fine(struct query *query);

/* Reads totals and sums of every port in the range, with what was counted in gaps between counters, and its samples expected and received. */
int query_windows(struct query *query);

/* Reads the sums of the keys of a dimension; *keys is an array of *n, to be freed. Where a filter
 * crosses keys it sets from_samples and replaces the ports' sums by those of the kept samples.
 * *kept_since_us: start of the kept samples if that is within the range, else 0. */
struct dimension;
int query_keys(struct query *query, const struct report_options *options,
    const struct dimension *dimension, struct query_key **keys, size_t *n,
    uint64_t *kept_since_us);

/* What query_keys reads: "kept samples", "sums" or "sums of conversations". Static storage. */
const char *query_answers_from(const struct dimension *dimension);

/* Keys of which only the sums by port were fetched. */
struct query_left {
	size_t n_keys;
	struct estimate_sums *sums; /* one for each of the query's ports, owned; NULL: no keys */
	struct estimate_told told;  /* by all keys, with those that were fetched */
};

/* The same, but of many keys in a cluster only those that can be among the first options->top, or
 * whose limits can overlap theirs. */
int query_top_keys(struct query *query, const struct report_options *options,
    const struct dimension *dimension, struct query_key **keys, size_t *n,
    struct query_left *left, uint64_t *kept_since_us);

/* What a port counted in the range. Where counter snapshots surround an end of the range, its value
 * is interpolated. */
struct query_load {
	bool known;	   /* two snapshots at least */
	double seconds;	   /* covered */
	uint64_t newest_us; /* newest snapshot up to the end of the range; 0: none */
	double off_s; /* how far the nearest snapshots are from ends of the range at which totals are interpolated */
	/* NAN if the device does not count it; multicasts and broadcasts are then among the
	 * unicasts. */
	double in_octets, in_ucast, in_mcast, in_bcast, in_discards, in_errors;
	double out_octets, out_ucast, out_mcast, out_bcast, out_discards, out_errors;
	double stalled_pkts;
};
int query_load(struct query *query, const struct query_port *port, struct query_load *load);
/* Frames of all three kinds; NAN if none of them is counted. */
double query_rx_pkts(const struct query_load *load);
double query_tx_pkts(const struct query_load *load);

/* The totals of the newest snapshot up to the end of the range, since the device began to count;
 * seconds is not set. */
int query_counted(struct query *query, const struct query_port *port, struct query_load *totals);

/* Mean skip of the newest kept sample of a port; 0 if there is none. */
double query_last_skip(struct query *query, const struct query_port *port);

/* weight: of all of its samples, 0: they have several. If the newest states that, all do. 0 or -EIO. */
int query_stated(struct query *query, const struct query_port *port, double weight, struct query_stated *stated);

/* Reads it for all ports at once where the store has it so; else does nothing. 0 or -errno. */
int query_read_stated(struct query *query);

/* Totals of the range by steps of step_us, a level's windows, in any order and parts. 0 or -errno. */
int query_totals_by_step(struct query *query, uint64_t step_us, query_totals_fn *take, void *arg);

/* Says which rows the statement that is prepared next reads of tables ordered by time, if not all
 * of the range: only these are fetched from a cluster. */
void query_set_fetch_range(struct query *query, enum query_rows rows, uint64_t from_us, uint64_t to_us);

/* Prepares a statement and binds :from and :to where it has them; NULL after setting the error. */
sqlite3_stmt *query_prepare(struct query *query, const char *sql);

/* The same for a statement that is asked many times in a question: prepared once where that is possible. sql has
 * static storage and is told apart by its address. To be given back by query_give_back, NULL too. */
sqlite3_stmt *query_prepare_kept(struct query *query, const char *sql);
void query_give_back(struct query *query, sqlite3_stmt *stmt);

/* 1 with a row, 0 at the end, -errno after setting the error. */
int query_step(struct query *query, sqlite3_stmt *stmt);

/* What lists count of a port, once query_windows has read the range. */
static inline const struct estimate_stratum *
query_listed(const struct query_port *port)
{
	return &port->side[port->agent->listed];
}

static inline const struct query_cut *
query_listed_cut(const struct query_port *port)
{
	return &port->cut[port->agent->listed];
}

/* Whether lists count the received frames of this port. A frame that crosses several switches is
 * received by one edge port only, so a report over all agents counts edge ports; one that names an
 * agent or a port counts the ports that it names. */
bool port_is_counted(const struct report_options *options, const struct query_port *port);

/* "ingress", "egress", "both", or "" without samples. */
const char *query_sampled_text(uint64_t in, uint64_t out);

/* By name; ports without a site come first, and count as of one. */
static inline int
query_compare_sites(const struct query_port *a, const struct query_port *b)
{
	return a->site == b->site ? 0 : strcmp(a->site ? a->site : "", b->site ? b->site : "");
}

static inline bool
query_same_site(const struct query_port *a, const struct query_port *b)
{
	return query_compare_sites(a, b) == 0;
}

/* NULL if the agent or the port is not known. */
struct query_port *query_find_port(const struct query *query, int64_t agent, uint64_t if_index);
const struct query_agent *query_find_agent(const struct query *query, int64_t agent);

#endif
