/*
 * The live edge. The newest counters of ports differ in age, and samples are newer than counters, so a
 * range that reaches to now would divide what some ports have counted so far by time that they have not
 * counted yet. Such a range ends at the edge instead: the time up to which all ports have counted that
 * lists count, but for those that are late: no port is waited for much longer than those that have nearly all
 * octets, and none for more than a minute. What the others have counted since is taken off their totals again. Of the samples
 * those count that were stored up to the edge, to about a second: a key that has a burst just after it
 * would get a share of what passed before. A cluster has only whole minutes, of agents that are heard
 * now some time after they ended: there the edge is the end of such a minute.
 *
 * Ports whose counters no longer come would hold the edge back; they are silent and left out. Those that rest, because
 * nothing passes, do not hold it back either. Part of query.h.
 */
#include "collector/query/query_private.h"
#include "collector/store/schema.h"
#include "collector/window/port_totals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_US 1000000ull
/* A port is silent when its counters are this old and SILENT_INTERVALS times as old as they usually
 * become: some devices send them every five minutes. */
#define SILENT_AFTER_US	 (60 * SECOND_US)
#define SILENT_INTERVALS 3
/* Longer than any device takes between two counters. *assumed* */
#define LONGEST_INTERVAL_US (3600 * SECOND_US)
/* Between two counters of a port of which the second says that nothing was counted since; when it then rests, and how
 * long. */
#define TOLD_TWICE_US	(5 * SECOND_US)
#define RESTS_AFTER_US	(3 * SECOND_US)
#define LONGEST_REST_US (30 * SECOND_US)
/* A range reaches to now if data of so long ago is in the store; a cluster has whole minutes, some
 * time after they ended. *assumed* */
#define LIVE_US		(60 * SECOND_US)
#define LIVE_MINUTES_US (300 * SECOND_US)

/* When nothing has come for so long, an agent has ended: its last counters are as new as its last data. *assumed* */
#define ENDED_AFTER_US (5 * SECOND_US / 2)

/* In the first seconds of all data the edge would leave nothing or nearly nothing of it. *assumed* */
#define LEAST_BEFORE_US (10 * SECOND_US)

/* So far behind the newest data a port may hold the edge back; a cluster's data comes by minutes. Where those that have
 * nearly all octets are further on, so far behind these: most devices send their counters each 20 to 30 s. *assumed* */
#define LATE_AFTER_US	      (60 * SECOND_US)
#define LATE_AFTER_MINUTES_US (180 * SECOND_US)
#define WAITED_US	      (30 * SECOND_US)
#define NEARLY_ALL	      0.95
/* By octets of so many minutes, the last of which is counted by those that are not late. */
#define WEIGHED_US (5 * (uint64_t)STORE_WINDOW_US)

/* ---- which ports still count ---- */

static int
set_counters_time(struct query *query, sqlite3_stmt *stmt)
{
	struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint64_t)sqlite3_column_int64(stmt, 1));

	if (port)
		port->counters_us = query_u64(stmt, 2);
	return 0;
}

/* The time between a port's newest counters, which are not newer than until_us, and those before; 0: not known. */
static int
last_interval(struct query *query, const struct query_port *port, uint64_t until_us, uint64_t *interval_us)
{
	uint64_t from_us = query->range.from_us;
	sqlite3_stmt *stmt;
	int more;

	*interval_us = 0;
	query_set_fetch_range(query, QUERY_NEWEST_ROWS,
	    from_us > LONGEST_INTERVAL_US ? from_us - LONGEST_INTERVAL_US : 0, until_us + 1);
	stmt = query_prepare_kept(query, "SELECT ?3 - time_us FROM counter WHERE agent = ?1 AND"
	    " if_index = ?2 AND time_us < ?3 ORDER BY time_us DESC LIMIT 1");
	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, port->agent->id);
	sqlite3_bind_int64(stmt, 2, port->if_index);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)port->counters_us);
	more = query_step(query, stmt);
	if (more == 1)
		*interval_us = query_u64(stmt, 0);
	query_give_back(query, stmt);
	return more < 0 ? more : 0;
}

/* Ports that were silent all the range have no totals in it: nothing is known to be missing. */
static int
find_silent(struct query *query, struct query_port *port, uint64_t now_us)
{
	uint64_t interval_us, age_us = now_us - port->counters_us;
	int err;

	if (port->counters_us >= now_us || age_us <= SILENT_AFTER_US)
		return 0;
	port->silent = true;
	if (port->counters_us <= query->range.from_us)
		return 0;
	err = last_interval(query, port, now_us - SILENT_AFTER_US, &interval_us);
	port->silent = age_us > SILENT_INTERVALS * interval_us;
	return err;
}

/* Whether the port's counters come no more because nothing is counted: agents of many ports tell such a port's twice, one
 * soon after the other, and then leave it out (agent/sampling/sampling.h; none that speaks sFlow). All it has counted is
 * known. */
static int
find_resting(struct query *query, const struct query_port *port, bool *rests)
{
	uint64_t last_us = port->agent->last_us, first_us = 0;
	sqlite3_stmt *stmt;
	int more;

	*rests = false;
	if (query->store->is_remote || port->agent->boot >= QUERY_SFLOW_BOOTS || port->counters_us + RESTS_AFTER_US >= last_us ||
	    port->counters_us + LONGEST_REST_US < last_us)
		return 0;
	stmt = query_prepare_kept(query, "SELECT min(time_us) FROM (SELECT time_us, pool_in, in_octets, pool_out,"
	    " out_octets FROM counter WHERE agent = ?1 AND if_index = ?2 ORDER BY time_us DESC LIMIT 2)"
	    " GROUP BY pool_in, in_octets, pool_out, out_octets HAVING count(*) = 2");
	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, port->agent->id);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)port->if_index);
	more = query_step(query, stmt);
	if (more == 1)
		first_us = query_u64(stmt, 0);
	query_give_back(query, stmt);
	*rests = first_us + TOLD_TWICE_US > port->counters_us;
	return more < 0 ? more : 0;
}

/* ---- which of them are waited for ---- */

struct edge_port {
	uint64_t counters_us;
	size_t at; /* in the query's ports */
	double octets;
};

static int
compare_counters(const void *a, const void *b)
{
	const struct edge_port *one = a, *other = b;

	return (one->counters_us > other->counters_us) - (one->counters_us < other->counters_us);
}

static int
add_octets(struct query *query, struct pack_reader *reader, const struct query_body *body, void *arg)
{
	struct query_port *port = NULL;
	double *octets = arg;

	(void)body;
	while (pack_next(reader)) {
		struct query_port *found = query_port_of(query, &reader->key, port);

		if (!found)
			continue;
		port = found;
		octets[port - query->ports] += pack_value(reader, PACK_POOL_OCTETS);
	}
	return reader->failed ? -EBADMSG : 0;
}

/* Fills what each port counted lately, before that time. */
static int
weigh_ports(struct query *query, struct edge_port *ports, size_t n, uint64_t until_us)
{
	const struct query_range asked = query->range;
	double *octets = calloc(query->n_ports, sizeof(*octets));
	int err;

	if (!octets)
		return query_fail(query, -ENOMEM, "no memory");
	query->range.to_us = until_us;
	query->range.from_us = query->range.to_us - WEIGHED_US;
	err = query_bodies(query, &(struct query_want){.kind = STORE_PART_TOTALS, .longest_us = STORE_WINDOW_US},
	    add_octets, octets);
	query->range = asked;
	for (size_t i = 0; i < n; i++)
		ports[i].octets = octets[ports[i].at];
	free(octets);
	return err;
}

/* The time up to which those have counted that have nearly all octets; 0: nobody has any. */
static uint64_t
edge_of_most(const struct edge_port *ports, size_t n)
{
	double all = 0, later = 0;
	size_t i = n;

	for (size_t k = 0; k < n; k++)
		all += ports[k].octets;
	while (all > 0 && i > 0 && later < NEARLY_ALL * all)
		later += ports[--i].octets;
	return all > 0 ? ports[i].counters_us : 0;
}

/* The edge of ports sorted by their newest counters, without those that are late. Where all are, the newest. */
static int
edge_of(struct query *query, struct edge_port *ports, size_t n, uint64_t now_us, uint64_t *edge_us)
{
	uint64_t late_us = now_us - (query->store->by_minute ? LATE_AFTER_MINUTES_US : LATE_AFTER_US), most_us;
	size_t first = 0;
	int err;

	while (first < n - 1 && ports[first].counters_us < late_us)
		first++;
	*edge_us = ports[first].counters_us;
	if (query->store->by_minute || *edge_us + WAITED_US >= ports[n - 1].counters_us)
		return 0;
	err = weigh_ports(query, ports, n, store_window_start(now_us - LATE_AFTER_US, STORE_WINDOW_US));
	most_us = edge_of_most(ports + first, n - first);
	if (err == 0 && most_us == 0) { /* nobody counted before */
		err = weigh_ports(query, ports, n, store_window_start(now_us, STORE_WINDOW_US) + STORE_WINDOW_US);
		most_us = edge_of_most(ports + first, n - first);
	}
	while (first < n - 1 && ports[first].counters_us + WAITED_US < most_us)
		first++;
	*edge_us = ports[first].counters_us;
	return err;
}

static void
take_earlier(uint64_t *edge_us, uint64_t time_us)
{
	if (*edge_us == 0 || time_us < *edge_us)
		*edge_us = time_us;
}

static bool
is_heard_now(const struct query_agent *agent, uint64_t now_us)
{
	return agent->chosen && agent->last_us + SILENT_AFTER_US >= now_us;
}

/* Windows of a cluster are those of minutes that were shipped, agent by agent. */
static uint64_t
shipped_until(const struct query *query, uint64_t now_us)
{
	uint64_t edge_us = 0;

	for (size_t i = 0; query->store->by_minute && i < query->n_agents; i++) {
		const struct query_agent *agent = &query->agents[i];

		if (is_heard_now(agent, now_us))
			take_earlier(&edge_us, agent->last_us);
	}
	return edge_us;
}

/* now_us: when the newest data came. *edge_us is 0 if no port counts. */
static int
find_edge(struct query *query, const struct report_options *options, uint64_t now_us, uint64_t *edge_us)
{
	bool at_edge = options->moment.at_edge; /* an earlier question found it */
	int err = query_rows(query, "SELECT agent, if_index, base_us, max(boot) FROM account"
	    " WHERE base_us IS NOT NULL GROUP BY agent, if_index", set_counters_time);
	struct edge_port *counting = calloc(query->n_ports + 1, sizeof(*counting));
	size_t n = 0;

	*edge_us = 0;
	if (err == 0 && !counting)
		err = query_fail(query, -ENOMEM, "no memory");
	for (size_t i = 0; err == 0 && i < query->n_ports; i++) {
		struct query_port *port = &query->ports[i];
		bool rests;

		if (port->counters_us == 0 || !port->chosen)
			continue;
		err = find_silent(query, port, now_us);
		if (err || port->silent || !port_is_counted(options, port))
			continue;
		err = find_resting(query, port, &rests);
		if (!rests)
			counting[n++] = (struct edge_port){port->counters_us, i, 0};
	}
	if (err == 0 && n > 0) {
		qsort(counting, n, sizeof(*counting), compare_counters);
		err = edge_of(query, counting, n, now_us, edge_us);
	}
	for (size_t i = 0; i < n; i++)
		query->ports[counting[i].at].late = counting[i].counters_us < (at_edge ? query->range.to_us : *edge_us);
	free(counting);
	if (*edge_us > 0 && query->store->by_minute)
		take_earlier(edge_us, shipped_until(query, now_us));
	*edge_us -= *edge_us % SECOND_US;
	return err;
}

/* Sums of samples are read up to the batch that was written nearest to the edge. */
static int
find_edge_part(struct query *query, uint64_t edge_us)
{
	sqlite3_stmt *stmt;
	int more;

	query->edge_part = INT64_MAX;
	if (query->store->by_minute)
		return 0;
	stmt = query_prepare(query, "SELECT max(id) FROM flush WHERE until_us <= ?1");
	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)(edge_us + SECOND_US / 2));
	more = query_step(query, stmt);
	if (more == 1 && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		query->edge_part = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return more < 0 ? more : 0;
}

static bool
is_live(const struct query *query, uint64_t now_us)
{
	return query->newest_us + (query->store->by_minute ? LIVE_MINUTES_US : LIVE_US) >= now_us;
}

/* When the first of those agents was heard that are heard now. */
static uint64_t
first_heard(const struct query *query, uint64_t now_us)
{
	uint64_t first_us = UINT64_MAX;

	for (size_t i = 0; i < query->n_agents; i++) {
		const struct query_agent *agent = &query->agents[i];

		if (is_heard_now(agent, now_us) && agent->first_us < first_us)
			first_us = agent->first_us;
	}
	return first_us;
}

/* Nothing more is expected: the newest counters are as new as the newest data, and none came for long. An
 * agent of which a cluster lacks the open minute has not ended. */
static bool
has_ended(const struct query *query, uint64_t edge_us, uint64_t newest_us, uint64_t now_us)
{
	for (size_t i = 0; i < query->n_agents; i++)
		if (query->agents[i].lacks_minute && is_heard_now(&query->agents[i], newest_us))
			return false;
	return newest_us - edge_us < SECOND_US && now_us - newest_us >= ENDED_AFTER_US;
}

/* A cluster does not know which samples of a minute came after the edge: it has the minute's sums. So there the
 * range ends where the edge's minute begins, unless that is the edge. */
static uint64_t
end_of_known(const struct query *query, uint64_t edge_us)
{
	return query->store->by_minute ? store_window_start(edge_us, STORE_WINDOW_US) : edge_us;
}

/* The edge was found by an earlier question, whatever ports this one is about. */
static int
take_edge(struct query *query, const struct report_options *options, uint64_t newest_us)
{
	uint64_t edge_us;
	int err = find_edge(query, options, newest_us, &edge_us);

	query->edge_us = query->range.to_us;
	return err ? err : find_edge_part(query, query->edge_us);
}

int
query_find_edge(struct query *query, const struct report_options *options, uint64_t now_us)
{
	struct query_range *range = &query->range;
	uint64_t newest_us = query->newest_us < now_us ? query->newest_us : now_us;
	uint64_t edge_us, from_us = range->from_us;
	int err;

	query->edge_us = 0;
	query->beyond_known = false;
	if (options->moment.at_edge)
		return take_edge(query, options, newest_us);
	if (options->moment.now_us > 0 || !is_live(query, now_us))
		return 0;
	err = find_edge(query, options, newest_us, &edge_us);
	if (err || edge_us == 0 || edge_us >= range->to_us)
		return err;
	if (has_ended(query, edge_us, newest_us, now_us))
		return 0;
	edge_us = end_of_known(query, edge_us);
	if (edge_us < LEAST_BEFORE_US || edge_us - LEAST_BEFORE_US < first_heard(query, newest_us))
		return 0;
	if (!options->has_from && !options->all && edge_us > options->last_us)
		from_us = store_window_start(edge_us - options->last_us, STORE_WINDOW_US);
	if (from_us >= edge_us)
		return 0;
	query->edge_us = range->to_us = edge_us;
	if (from_us != range->from_us) {
		range->from_us = from_us;
		query_fit_range(query);
	}
	return find_edge_part(query, edge_us);
}

/* ---- what was counted after the edge ---- */

#define COUNTED_COLUMNS "time_us, discontinuity_us, pool_in, in_octets, pool_out, out_octets, stalled_pkts"

static int
edge_read_counters(struct query *query, const char *sql, const struct query_port *port, uint64_t at_us,
    struct query_counters *counted)
{
	sqlite3_stmt *stmt;
	int more;

	*counted = (struct query_counters){0};
	if (query->steps)
		query_set_fetch_range(query, QUERY_COUNTERS_OF_MINUTES, query->asked.from_us, query->asked.to_us);
	else
		query_set_fetch_range(query, QUERY_ROWS_AT_ENDS, query->range.from_us, query->range.to_us);
	stmt = query_prepare_kept(query, sql);
	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, port->agent->id);
	sqlite3_bind_int64(stmt, 2, port->if_index);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)at_us);
	more = query_step(query, stmt);
	if (more == 1) {
		counted->known = true;
		counted->time_us = query_u64(stmt, 0);
		counted->discontinuity_us = query_u64(stmt, 1);
		for (int i = 0; i < QUERY_N_COUNTED; i++)
			counted->value[i] = query_count(stmt, 2 + i);
	}
	query_give_back(query, stmt);
	return more < 0 ? more : 0;
}

/* What is counted between counters so far apart is in no window (gaps.c), unless samples tell when it passed. */
static bool
edge_is_gap(uint64_t from_us, uint64_t until_us)
{
	return until_us > store_window_start(from_us, STORE_WINDOW_US) +
	    PORT_TOTALS_UNTOLD_MINUTES * (uint64_t)STORE_WINDOW_US;
}

#define COUNTERS_WHERE(condition)                                                                             \
	"SELECT " COUNTED_COLUMNS " FROM counter WHERE agent = ?1 AND if_index = ?2 AND time_us " condition " LIMIT 1"

/* Finds the counters of a port nearest to a time on both sides. They are kept, because most readings of a port are in
 * the order of time, and near to each other. A cluster's are not: how many it has fetched differs from one to the next. */
static int
find_around(struct query *query, struct query_port *port, uint64_t at_us)
{
	struct query_around *a = &port->around;
	bool is_next = a->after.known && a->after.time_us < at_us;
	int err = 0;

	if (!query->store->is_remote && a->before.known && a->before.time_us <= at_us && a->after.known && at_us <= a->after.time_us)
		return 0;
	if (!query->store->is_remote && is_next) {
		a->before = a->after;
		err = edge_read_counters(query, COUNTERS_WHERE("> ?3 ORDER BY time_us"), port, a->before.time_us, &a->after);
		if (err || !a->after.known || at_us <= a->after.time_us)
			return err;
	}
	err = edge_read_counters(query, COUNTERS_WHERE("<= ?3 ORDER BY time_us DESC"), port, at_us, &a->before);
	return err ? err : edge_read_counters(query, COUNTERS_WHERE("> ?3 ORDER BY time_us"), port, at_us, &a->after);
}

int
query_reading_at(struct query *query, struct query_port *port, uint64_t at_us, struct query_reading *at)
{
	const struct query_counters *before = &port->around.before, *after = &port->around.after;
	double part;
	int err = find_around(query, port, at_us);

	*at = (struct query_reading){0};
	if (err || (!before->known && !after->known))
		return err;
	if (after->known && after->time_us == at_us)
		before = after;
	if (!after->known || before->time_us == at_us)
		after = before;
	*at = (struct query_reading){.known = true, .time_us = after->time_us, .discontinuity_us = after->discontinuity_us};
	memcpy(at->value, after->value, sizeof(at->value));
	if (!before->known || after->discontinuity_us != before->discontinuity_us || after->time_us <= before->time_us)
		return 0;
	for (int i = 0; i < QUERY_N_COUNTED; i++)
		at->across[i] = after->value[i] - before->value[i];
	at->is_gap = edge_is_gap(before->time_us, after->time_us);
	if (at->is_gap)
		return 0;
	at->apart_us = after->value[QUERY_COUNTED_IN_PKTS] != before->value[QUERY_COUNTED_IN_PKTS] ||
		after->value[QUERY_COUNTED_OUT_PKTS] != before->value[QUERY_COUNTED_OUT_PKTS]
	    ? after->time_us - before->time_us : 0;
	part = (double)(at_us - before->time_us) / (double)(after->time_us - before->time_us);
	for (int i = 0; i < QUERY_N_COUNTED; i++)
		at->value[i] = before->value[i] + part * (after->value[i] - before->value[i]);
	at->time_us = at_us;
	return 0;
}

/* From the edge to the end of its window: later windows are not read. */
static int
read_beyond(struct query *query, struct query_port *port)
{
	uint64_t edge_us = query->edge_us;
	uint64_t end_us = store_window_start(edge_us, STORE_WINDOW_US) + STORE_WINDOW_US;
	struct query_reading at, end;
	int err = query_reading_at(query, port, edge_us, &at);

	if (err == 0)
		err = query_reading_at(query, port, end_us, &end);
	if (err || !at.known || !end.known || at.discontinuity_us != end.discontinuity_us)
		return err;
	port->beyond_stalled =
	    fmax(0, end.value[QUERY_COUNTED_STALLED_PKTS] - at.value[QUERY_COUNTED_STALLED_PKTS]);
	for (int i = 0; i < QUERY_COUNTED_STALLED_PKTS; i++)
		if (end.value[i] > at.value[i])
			port->beyond[i < QUERY_COUNTED_OUT_PKTS ? EASE_IN : EASE_OUT][i % QUERY_COUNTED_OUT_PKTS] =
			    end.value[i] - at.value[i];
	return 0;
}

static int
find_beyond(struct query *query)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		if (query->ports[i].chosen && query->ports[i].counters_us > query->edge_us)
			err = read_beyond(query, &query->ports[i]);
	query->beyond_known = err == 0;
	return err;
}

/* What was counted beyond the edge, and what of it passed while samples were lost: of each direction the same
 * part. The latter is not taken out of the sides yet (query_windows). */
static void
end_port_at_edge(struct query_port *port)
{
	double pkts = port->beyond[EASE_IN][ESTIMATE_PKTS] + port->beyond[EASE_OUT][ESTIMATE_PKTS];
	double part = pkts > 0 ? fmin(1, port->beyond_stalled / pkts) : 0;

	for (int d = EASE_IN; d <= EASE_OUT; d++) {
		const double *beyond = port->beyond[d];

		port->cut[d].pkts = fmax(0, port->cut[d].pkts - part * beyond[ESTIMATE_PKTS]);
		port->cut[d].octets = fmax(0, port->cut[d].octets - part * beyond[ESTIMATE_OCTETS]);
		query_take_off(&port->side[d].pool_pkts, beyond[ESTIMATE_PKTS]);
		query_take_off(&port->side[d].pool_octets, beyond[ESTIMATE_OCTETS]);
	}
}

int
query_end_at_edge(struct query *query)
{
	int err = 0;

	if (query->edge_us == 0 || query->range.to_us != query->edge_us || query->edge_us % STORE_WINDOW_US == 0)
		return 0;
	if (!query->beyond_known)
		err = find_beyond(query);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		end_port_at_edge(&query->ports[i]);
	return err;
}
