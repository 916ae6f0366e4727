/*
 * Billing: the 95th percentile of what ports, link aggregates or sites counted in intervals of five minutes, received and
 * sent, as transit is sold: the twentieth part of the intervals that have most is left out, and the largest that remains is
 * the figure (nearest rank).
 *
 * Octets at the ends of an interval are interpolated between the counters around them. Where these are further apart than
 * APART_US (unless nothing was counted between them), or began anew, the interval is a hole: it is in no figure, and told.
 * Of an aggregate or a site an interval is one where each of its ports has one; ports that came or left within
 * the range are no holes before and after.
 */
#include "collector/query/query_private.h"
#include "collector/report/by_values.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_US 300000000ull
#define APART_US    600000000ull /* *assumed*: counters that stay away longer do not tell of five minutes */
enum { PERCENT = 95, INTERVAL_S = 300, INTERVALS_MAX = 366 * 288 };

enum { RX, TX, WAYS };

enum {
	COLUMN_SITE,
	COLUMN_AGENT,
	COLUMN_PORT,
	COLUMN_IF_INDEX,
	COLUMN_PORTS,
	COLUMN_RX,
	COLUMN_TX,
	COLUMN_LARGER,
	COLUMN_MOST_RX,
	COLUMN_MOST_TX,
	COLUMN_OCTETS_RX,
	COLUMN_OCTETS_TX,
	COLUMN_INTERVALS,
	COLUMN_MISSING,
	COLUMN_LONGEST,
	COLUMN_FROM,
	COLUMN_TO,
	N_COLUMNS,
};

static const struct report_column columns[N_COLUMNS] = {
	[COLUMN_SITE] = {"site", "SITE", REPORT_TEXT},
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_PORT] = {"port", "PORT", REPORT_TEXT},
	[COLUMN_IF_INDEX] = {"if_index", NULL, REPORT_ID},
	[COLUMN_PORTS] = {"ports", "PORTS", REPORT_COUNT},
	[COLUMN_RX] = {"rx_bps_95", "95% rx", REPORT_BITRATE},
	[COLUMN_TX] = {"tx_bps_95", "tx", REPORT_BITRATE},
	[COLUMN_LARGER] = {"larger_bps_95", "LARGER", REPORT_BITRATE},
	[COLUMN_MOST_RX] = {"rx_bps_most", "MOST rx", REPORT_BITRATE},
	[COLUMN_MOST_TX] = {"tx_bps_most", "tx", REPORT_BITRATE},
	[COLUMN_OCTETS_RX] = {"rx_octets", NULL, REPORT_COUNT},
	[COLUMN_OCTETS_TX] = {"tx_octets", NULL, REPORT_COUNT},
	[COLUMN_INTERVALS] = {"intervals", "INTERVALS", REPORT_COUNT},
	[COLUMN_MISSING] = {"missing", "MISSING", REPORT_COUNT},
	[COLUMN_LONGEST] = {"longest_hole_s", NULL, REPORT_COUNT},
	[COLUMN_FROM] = {"from", NULL, REPORT_TIME}, /* of the first interval that is known, and the end of the last */
	[COLUMN_TO] = {"to", NULL, REPORT_TIME},
};

/* A port's octets where an interval begins or ends. */
struct reading {
	uint32_t stretch; /* of counters that go on; 0: not known */
	double octets[WAYS]; /* NAN: the device does not count them */
};

/* A row of the table counter. */
struct counters {
	uint64_t time_us, discontinuity_us;
	struct reading reading;
};

struct billing {
	struct query *query;
	const struct report_options *options;
	struct report_result *result;
	const struct query_port **ports; /* those of rows, in the order of rows */
	size_t n_ports;
	uint64_t from_us; /* of the first interval */
	size_t n;	  /* intervals */
	struct reading *ends; /* n + 1 of them, of a port */
	/* Of a row: octets by interval, ports that have it, whether one has a hole there. */
	double *octets[WAYS], *sorted;
	uint32_t *has;
	bool *is_hole;
};

/* ---- a port's counters ---- */

static struct counters
billing_read_row(sqlite3_stmt *stmt, const struct counters *before)
{
	struct counters row = {.time_us = query_u64(stmt, 0), .discontinuity_us = query_u64(stmt, 1)};
	bool goes_on = before->reading.stretch > 0 && row.discontinuity_us == before->discontinuity_us;

	for (int way = RX; way < WAYS; way++) {
		row.reading.octets[way] = query_count(stmt, 2 + way);
		goes_on &= !(row.reading.octets[way] < before->reading.octets[way]);
	}
	row.reading.stretch = before->reading.stretch + (goes_on ? 0 : 1);
	return row;
}

/* Between two rows, or at the second of them. */
static struct reading
reading_at(const struct counters *a, const struct counters *b, uint64_t at_us)
{
	const double *first = a->reading.octets, *last = b->reading.octets;
	bool is_still = first[RX] == last[RX] && first[TX] == last[TX];
	double part;
	struct reading r = a->reading;

	if (at_us == b->time_us)
		return b->reading;
	if (a->reading.stretch != b->reading.stretch || (!is_still && b->time_us - a->time_us > APART_US))
		return (struct reading){0};
	part = (double)(at_us - a->time_us) / (double)(b->time_us - a->time_us);
	for (int way = RX; way < WAYS; way++)
		r.octets[way] += part * (last[way] - first[way]);
	return r;
}

/* Sets ends. */
static int
billing_read_port(struct billing *b, const struct query_port *port)
{
	static const char sql[] = "SELECT time_us, discontinuity_us, in_octets, out_octets FROM counter WHERE agent = ?1 AND"
	    " if_index = ?2 AND time_us >= ifnull((SELECT max(time_us) FROM counter WHERE agent = ?1 AND if_index = ?2 AND"
	    " time_us <= ?3), ?3) AND time_us <= ifnull((SELECT min(time_us) FROM counter WHERE agent = ?1 AND if_index = ?2"
	    " AND time_us >= ?4), ?4) ORDER BY time_us";
	uint64_t to_us = b->from_us + b->n * INTERVAL_US;
	struct counters before = {0}, row;
	sqlite3_stmt *stmt;
	size_t next = 0;
	int err;

	memset(b->ends, 0, (b->n + 1) * sizeof(*b->ends));
	query_set_fetch_range(b->query, QUERY_COUNTERS_OF_MINUTES, b->from_us, to_us);
	stmt = query_prepare_kept(b->query, sql);
	err = stmt ? 0 : -EIO;
	if (stmt) {
		sqlite3_bind_int64(stmt, 1, port->agent->id);
		sqlite3_bind_int64(stmt, 2, (sqlite3_int64)port->if_index);
		sqlite3_bind_int64(stmt, 3, (sqlite3_int64)b->from_us);
		sqlite3_bind_int64(stmt, 4, (sqlite3_int64)to_us);
	}
	while (err == 0 && (err = query_step(b->query, stmt)) == 1) {
		err = 0;
		row = billing_read_row(stmt, &before);
		for (; next <= b->n && b->from_us + next * INTERVAL_US <= row.time_us; next++)
			if (before.reading.stretch > 0 || b->from_us + next * INTERVAL_US == row.time_us)
				b->ends[next] = reading_at(&before, &row, b->from_us + next * INTERVAL_US);
		before = row;
	}
	query_give_back(b->query, stmt);
	return err;
}

/* What a port counted in an interval; false: that is not known. */
static bool
octets_in(const struct billing *b, size_t i, double octets[WAYS])
{
	const struct reading *first = &b->ends[i], *last = &b->ends[i + 1];

	octets[RX] = last->octets[RX] - first->octets[RX];
	octets[TX] = last->octets[TX] - first->octets[TX];
	return first->stretch > 0 && first->stretch == last->stretch;
}

/* Adds the port's intervals to the row's. From its first to its last one those that are missing are holes. */
static void
billing_add_port(struct billing *b)
{
	double octets[WAYS];
	size_t first = 0, last = b->n;

	while (first < b->n && !octets_in(b, first, octets))
		first++;
	while (last > first && !octets_in(b, last - 1, octets))
		last--;
	for (size_t i = first; i < last; i++) {
		if (!octets_in(b, i, octets)) {
			b->is_hole[i] = true;
			continue;
		}
		b->has[i]++;
		for (int way = RX; way < WAYS; way++)
			b->octets[way][i] += octets[way];
	}
}

/* ---- rows ---- */

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
billed_bps(double octets)
{
	return 8 * octets / INTERVAL_S;
}

static bool
billing_is_known(const struct billing *b, size_t i)
{
	return b->has[i] > 0 && !b->is_hole[i];
}

/* The figures of a direction, NAN where a port does not count it. */
static void
set_direction(struct billing *b, int way, struct report_value *row)
{
	double all = 0;
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		if (billing_is_known(b, i)) {
			b->sorted[n++] = b->octets[way][i];
			all += b->octets[way][i];
		}
	if (n == 0 || isnan(all))
		return;
	qsort(b->sorted, n, sizeof(*b->sorted), compare_doubles);
	row[COLUMN_RX + way] = cell_number(billed_bps(b->sorted[(PERCENT * n + 99) / 100 - 1]));
	row[COLUMN_MOST_RX + way] = cell_number(billed_bps(b->sorted[n - 1]));
	row[COLUMN_OCTETS_RX + way] = cell_number(all);
}

/* Intervals that are known, and the holes between the first and the last of them. */
static void
set_intervals(struct billing *b, const struct query_port *port, struct report_value *row)
{
	size_t known = 0, missing = 0, hole = 0, longest = 0, first = 0, last = 0;
	struct note_values *note;

	for (size_t i = 0; i < b->n; i++)
		if (billing_is_known(b, i)) {
			first = known++ == 0 ? i : first;
			last = i;
		}
	for (size_t i = first; i <= last && known > 0; i++) {
		hole = billing_is_known(b, i) ? 0 : hole + 1;
		missing += hole > 0;
		longest = hole > longest ? hole : longest;
	}
	row[COLUMN_INTERVALS] = cell_number((double)known);
	row[COLUMN_MISSING] = cell_number((double)missing);
	row[COLUMN_LONGEST] = cell_number((double)(longest * INTERVAL_S));
	if (known > 0) {
		row[COLUMN_FROM] = cell_time(b->from_us + first * INTERVAL_US);
		row[COLUMN_TO] = cell_time(b->from_us + (last + 1) * INTERVAL_US);
	}
	if (missing == 0)
		return;
	note = note_item(b->result, NOTE_ID_HOLES);
	note_text(note, "place", b->options->by == REPORT_BY_SITE ? port->site ? port->site : "no site" : port->agent->name);
	if (b->options->by != REPORT_BY_SITE)
		note_text(note, "port", port->name);
	note_count(note, "missing", (double)missing);
	note_count(note, "longest_hole_s", (double)(longest * INTERVAL_S));
}

/* first: the row's first port, or the aggregate itself. */
static int
billing_add_row(struct billing *b, const struct query_port *first, size_t n_ports)
{
	struct report_value *row = result_add_row(b->result);

	if (!row)
		return -ENOMEM;
	row[COLUMN_SITE] = cell_site(first->site);
	if (b->options->by != REPORT_BY_SITE) {
		row[COLUMN_AGENT] = cell_text(first->agent->name);
		row[COLUMN_PORT] = cell_text(first->name);
		row[COLUMN_IF_INDEX] = cell_number((double)first->if_index);
	}
	row[COLUMN_PORTS] = cell_number((double)n_ports);
	set_direction(b, RX, row);
	set_direction(b, TX, row);
	if (row[COLUMN_RX].known && row[COLUMN_TX].known)
		row[COLUMN_LARGER] = cell_number(fmax(row[COLUMN_RX].number, row[COLUMN_TX].number));
	set_intervals(b, first, row);
	return 0;
}

/* ---- which ports are a row ---- */

/* What an aggregate counts its members count. */
static void
leave_out_aggregates(const struct query *query, bool *is_asked)
{
	for (size_t i = 0; i < query->n_ports; i++) {
		const struct query_port *port = &query->ports[i];
		const struct query_port *lag =
		    port->lag_parent > 0 ? query_find_port(query, port->agent->id, port->lag_parent) : NULL;

		if (lag)
			is_asked[lag - query->ports] = false;
	}
}

static int
choose_ports(struct billing *b)
{
	const struct query *query = b->query;
	bool *is_asked = calloc(query->n_ports + 1, sizeof(*is_asked));

	b->ports = calloc(query->n_ports + 1, sizeof(*b->ports));
	if (!is_asked || !b->ports) {
		free(is_asked);
		return -ENOMEM;
	}
	for (size_t i = 0; i < query->n_ports; i++)
		is_asked[i] = query->ports[i].chosen &&
		    (b->options->by != REPORT_BY_SITE || port_is_counted(b->options, &query->ports[i]));
	if (b->options->by != REPORT_BY_PORT)
		leave_out_aggregates(query, is_asked);
	for (size_t i = 0; i < query->n_ports; i++)
		if (is_asked[i])
			b->ports[b->n_ports++] = &query->ports[i];
	free(is_asked);
	return 0;
}

static uint64_t
lag_of(const struct query_port *port)
{
	return port->lag_parent > 0 ? port->lag_parent : port->if_index;
}

static int
compare_lags(const void *a, const void *b)
{
	const struct query_port *x = *(const struct query_port *const *)a, *y = *(const struct query_port *const *)b;

	if (x->agent != y->agent)
		return x->agent < y->agent ? -1 : 1;
	return lag_of(x) < lag_of(y) ? -1 : lag_of(x) > lag_of(y);
}

static int
compare_sites(const void *a, const void *b)
{
	return query_compare_sites(*(const struct query_port *const *)a, *(const struct query_port *const *)b);
}

static bool
is_same_row(const struct billing *b, const struct query_port *x, const struct query_port *y)
{
	return b->options->by == REPORT_BY_SITE ? query_same_site(x, y)
	    : b->options->by == REPORT_BY_LAG ? compare_lags(&x, &y) == 0 : x == y;
}

static bool
billing_has_any(const struct billing *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->has[i] > 0)
			return true;
	return false;
}

/* Adds the row that begins with ports[i]; *next: the one behind it. */
static int
bill_port(struct billing *b, size_t i, size_t *next)
{
	const struct query_port *first = b->ports[i], *lag;
	int err = 0;

	for (int way = RX; way < WAYS; way++)
		memset(b->octets[way], 0, b->n * sizeof(*b->octets[way]));
	memset(b->has, 0, b->n * sizeof(*b->has));
	memset(b->is_hole, 0, b->n * sizeof(*b->is_hole));
	for (*next = i; err == 0 && *next < b->n_ports && is_same_row(b, first, b->ports[*next]); ++*next) {
		if (query_is_over_limit(b->query))
			return query_fail(b->query, -ETIMEDOUT, "the question takes too long: ask for a shorter range, or one switch");
		err = billing_read_port(b, b->ports[*next]);
		billing_add_port(b);
	}
	if (err || !billing_has_any(b))
		return err;
	lag = b->options->by == REPORT_BY_LAG ? query_find_port(b->query, first->agent->id, lag_of(first)) : NULL;
	return billing_add_row(b, lag ? lag : first, *next - i);
}

/* ---- the report ---- */

static int
begin_billing(struct billing *b)
{
	const struct query *query = b->query;

	b->from_us = (query->range.from_us + INTERVAL_US - 1) / INTERVAL_US * INTERVAL_US;
	b->n = query->range.to_us > b->from_us ? (query->range.to_us - b->from_us) / INTERVAL_US : 0;
	if (b->n > INTERVALS_MAX)
		return query_fail(b->query, -EINVAL, "billing is of a year at most: %zu intervals of five minutes", b->n);
	b->ends = calloc(b->n + 1, sizeof(*b->ends));
	b->octets[RX] = calloc(b->n + 1, sizeof(*b->octets[RX]));
	b->octets[TX] = calloc(b->n + 1, sizeof(*b->octets[TX]));
	b->sorted = calloc(b->n + 1, sizeof(*b->sorted));
	b->has = calloc(b->n + 1, sizeof(*b->has));
	b->is_hole = calloc(b->n + 1, sizeof(*b->is_hole));
	if (!b->ends || !b->octets[RX] || !b->octets[TX] || !b->sorted || !b->has || !b->is_hole)
		return -ENOMEM;
	if (choose_ports(b) < 0)
		return -ENOMEM;
	if (b->options->by != REPORT_BY_PORT)
		qsort(b->ports, b->n_ports, sizeof(*b->ports),
		    b->options->by == REPORT_BY_SITE ? compare_sites : compare_lags);
	return 0;
}

static void
end_billing(struct billing *b)
{
	free(b->ports);
	free(b->ends);
	free(b->octets[RX]);
	free(b->octets[TX]);
	free(b->sorted);
	free(b->has);
	free(b->is_hole);
}

int
report_billing(struct query *query, const struct report_options *asked, uint64_t now_us, struct report_result *result)
{
	struct report_options options = *asked;
	struct billing b = {.query = query, .options = &options, .result = result};
	int err;

	if (options.by == REPORT_BY_DEFAULT)
		options.by = by_values_of("billing")[0];
	if (!by_values_have("billing", options.by)) {
		by_values_refuse("billing", options.by, query->error, sizeof(query->error));
		return -EINVAL;
	}
	err = query_begin(query, &options, now_us);
	if (err)
		return err;
	result_begin(result, "billing", columns, N_COLUMNS, query);
	err = query_windows(query);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		if (query->ports[i].chosen)
			result_count_port(result, &query->ports[i]);
	if (err == 0)
		err = begin_billing(&b);
	for (size_t i = 0, next; err == 0 && i < b.n_ports; i = next)
		err = bill_port(&b, i, &next);
	if (err == 0 && query->levels[LEVEL_5_MIN].kept_us > b.from_us)
		note_set(note_of(result, NOTE_ID_BILLING_KEPT), "five_minutes_since", REPORT_TIME,
		    cell_time(query->levels[LEVEL_5_MIN].kept_us));
	result_hide_agent(result, query, COLUMN_AGENT);
	if (options.by == REPORT_BY_SITE)
		result->hidden |= 1u << COLUMN_AGENT | 1u << COLUMN_PORT;
	if (options.by == REPORT_BY_PORT)
		result->hidden |= 1u << COLUMN_PORTS;
	result_finish(result, query);
	end_billing(&b);
	return err;
}
