/*
 * What a port counted in a range, from the counter snapshots in the store. Part of query.h.
 *
 * Totals at an end of the range are interpolated between the two snapshots around it; without such
 * a pair the range shrinks to the snapshots within it. Where the device reports a discontinuity of
 * its counters, each stretch is counted separately and the time between them is not covered. A
 * count that the device does not have is NAN throughout.
 */
#include "collector/query/query_private.h"
#include "collector/window/sequence_tracker.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* In the order of counter_fields. */
#define COUNTER_COLUMNS                                                                            \
	"time_us, discontinuity_us, in_octets, in_ucast, in_mcast, in_bcast, in_discards,"         \
	" in_errors, out_octets, out_ucast, out_mcast, out_bcast, out_discards, out_errors,"       \
	" stalled_pkts"

static const size_t counter_fields[] = {
	offsetof(struct query_load, in_octets),	   offsetof(struct query_load, in_ucast),
	offsetof(struct query_load, in_mcast),	   offsetof(struct query_load, in_bcast),
	offsetof(struct query_load, in_discards),  offsetof(struct query_load, in_errors),
	offsetof(struct query_load, out_octets),   offsetof(struct query_load, out_ucast),
	offsetof(struct query_load, out_mcast),	   offsetof(struct query_load, out_bcast),
	offsetof(struct query_load, out_discards), offsetof(struct query_load, out_errors),
	offsetof(struct query_load, stalled_pkts),
};
enum { STALLED = ARRAY_LEN(counter_fields) - 1 }; /* begins anew with each boot */

struct totals {
	bool known;
	uint64_t time_us, discontinuity_us;
	double value[ARRAY_LEN(counter_fields)];
};

/* SQLite's largest number stands for unknown: EASE_COUNT_UNKNOWN is larger and is stored as
 * that. */
double
query_given_out_before(sqlite3_stmt *stmt, int column)
{
	struct sequence_tracker tracker;
	const uint8_t *octets = sqlite3_column_blob(stmt, column);

	if (!octets || sequence_tracker_load_trimmed(&tracker, octets,
	    (size_t)sqlite3_column_bytes(stmt, column)) != 0)
		return NAN;
	return tracker.started ? (double)(tracker.contact - tracker.first) : 0;
}

double
query_count(sqlite3_stmt *stmt, int column)
{
	if (sqlite3_column_int64(stmt, column) == INT64_MAX)
		return NAN;
	return sqlite3_column_double(stmt, column);
}

static int
counters_read_totals(struct query *query, const struct query_port *port, const char *sql, uint64_t at_us,
    struct totals *totals)
{
	sqlite3_stmt *stmt;
	int more;

	query_set_fetch_range(query, QUERY_ROWS_AT_ENDS, query->range.from_us, query->range.to_us);
	stmt = query_prepare_kept(query, sql);
	*totals = (struct totals){0};
	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, port->agent->id);
	sqlite3_bind_int64(stmt, 2, port->if_index);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)at_us);
	more = query_step(query, stmt);
	if (more == 1) {
		totals->known = true;
		totals->time_us = (uint64_t)sqlite3_column_int64(stmt, 0);
		totals->discontinuity_us = (uint64_t)sqlite3_column_int64(stmt, 1);
		for (size_t i = 0; i < ARRAY_LEN(totals->value); i++)
			totals->value[i] = query_count(stmt, 2 + (int)i);
	}
	query_give_back(query, stmt);
	return more < 0 ? more : 0;
}

static int
newest_until(struct query *query, const struct query_port *port, uint64_t at_us, struct totals *totals)
{
	return counters_read_totals(query, port, "SELECT " COUNTER_COLUMNS " FROM counter WHERE agent = ?1"
	    " AND if_index = ?2 AND time_us <= ?3 ORDER BY time_us DESC LIMIT 1", at_us, totals);
}

static int
oldest_from(struct query *query, const struct query_port *port, uint64_t at_us, struct totals *totals)
{
	return counters_read_totals(query, port, "SELECT " COUNTER_COLUMNS " FROM counter WHERE agent = ?1"
	    " AND if_index = ?2 AND time_us >= ?3 ORDER BY time_us LIMIT 1", at_us, totals);
}

/* Totals between two snapshots of one continuous stretch. */
static struct totals
interpolate_totals(const struct totals *a, const struct totals *b, uint64_t at_us)
{
	struct totals t = *a;
	double part = b->time_us > a->time_us
	    ? (double)(at_us - a->time_us) / (double)(b->time_us - a->time_us) : 0;

	t.time_us = at_us;
	for (size_t i = 0; i < ARRAY_LEN(t.value); i++)
		t.value[i] += part * (b->value[i] - a->value[i]);
	return t;
}

/* How far the nearer of two snapshots is from a time between them; 0 if nothing was counted from one to the other. */
static double
seconds_off(const struct totals *before, const struct totals *after, uint64_t at_us)
{
	uint64_t since_us = at_us - before->time_us, until_us = after->time_us - at_us;

	return memcmp(before->value, after->value, sizeof(before->value)) == 0 ? 0
	    : (double)(since_us < until_us ? since_us : until_us) / 1e6;
}

/* Totals at a time, or else those of the next snapshot inside the range (forward or backward). */
static int
totals_at(struct query *query, const struct query_port *port, uint64_t at_us, bool forward,
    struct totals *totals, double *off_s)
{
	struct totals before, after;
	int err = newest_until(query, port, at_us, &before);

	if (err == 0)
		err = oldest_from(query, port, at_us, &after);
	if (err)
		return err;
	if (before.known && after.known && before.discontinuity_us == after.discontinuity_us) {
		*totals = interpolate_totals(&before, &after, at_us);
		*off_s += seconds_off(&before, &after, at_us);
	} else {
		*totals = forward ? after : before;
	}
	return 0;
}

static double *
load_field(struct query_load *load, size_t i)
{
	return (double *)(void *)((char *)load + counter_fields[i]);
}

/* Adds what was counted in one stretch; a stretch whose totals run backwards is ignored. */
static void
add_stretch(struct query_load *load, const struct totals *first, const struct totals *last)
{
	if (last->time_us <= first->time_us)
		return;
	for (size_t i = 0; i < STALLED; i++)
		if (last->value[i] < first->value[i])
			return;
	for (size_t i = 0; i < ARRAY_LEN(counter_fields); i++)
		*load_field(load, i) += last->value[i] - (last->value[i] < first->value[i] ? 0 : first->value[i]);
	load->seconds += (double)(last->time_us - first->time_us) / 1e6;
	load->known = true;
}

/* Each stretch ends at its last snapshot before the next discontinuity. */
static int
add_all_stretches(struct query *query, const struct query_port *port, struct totals first,
    const struct totals *last, struct query_load *load)
{
	int err = 0;

	while (err == 0 && first.known && first.discontinuity_us != last->discontinuity_us) {
		struct totals next, end;

		err = counters_read_totals(query, port, "SELECT " COUNTER_COLUMNS " FROM counter WHERE"
		    " agent = ?1 AND if_index = ?2 AND time_us > ?3 AND discontinuity_us <>"
		    " (SELECT discontinuity_us FROM counter WHERE agent = ?1 AND if_index = ?2 AND"
		    " time_us <= ?3 ORDER BY time_us DESC LIMIT 1) ORDER BY time_us LIMIT 1",
		    first.time_us, &next);
		if (err || !next.known || next.time_us > last->time_us)
			return err;
		err = newest_until(query, port, next.time_us - 1, &end);
		if (err == 0)
			add_stretch(load, &first, &end);
		first = next;
	}
	if (err == 0 && first.known)
		add_stretch(load, &first, last);
	return err;
}

int
query_load(struct query *query, const struct query_port *port, struct query_load *load)
{
	struct totals first, last, newest;
	int err;

	*load = (struct query_load){0};
	err = newest_until(query, port, query->range.to_us, &newest);
	if (err == 0)
		err = totals_at(query, port, query->range.from_us, true, &first, &load->off_s);
	if (err == 0)
		err = totals_at(query, port, query->range.to_us, false, &last, &load->off_s);
	if (err)
		return err;
	load->newest_us = newest.known ? newest.time_us : 0;
	if (!first.known || !last.known || first.time_us >= last.time_us)
		return 0;
	return add_all_stretches(query, port, first, &last, load);
}

int
query_counted(struct query *query, const struct query_port *port, struct query_load *load)
{
	struct totals newest;
	int err = newest_until(query, port, query->range.to_us, &newest);

	*load = (struct query_load){0};
	if (err || !newest.known)
		return err;
	load->known = true;
	load->newest_us = newest.time_us;
	for (size_t i = 0; i < ARRAY_LEN(counter_fields); i++)
		*load_field(load, i) = newest.value[i];
	return 0;
}

static double
sum_of_known(double a, double b, double c)
{
	if (isnan(a) && isnan(b) && isnan(c))
		return NAN;
	return (isnan(a) ? 0 : a) + (isnan(b) ? 0 : b) + (isnan(c) ? 0 : c);
}

double
query_rx_pkts(const struct query_load *load)
{
	return sum_of_known(load->in_ucast, load->in_mcast, load->in_bcast);
}

double
query_tx_pkts(const struct query_load *load)
{
	return sum_of_known(load->out_ucast, load->out_mcast, load->out_bcast);
}

/* Of the newest boot. Numbers wrap, so the highest of each half of the 32 bits is looked up, as the key allows, and
 * the later one is the newest. */
#define NEWEST_OF_HALF(half) \
	"SELECT * FROM (SELECT mean_skip, time_us FROM sample WHERE agent = ?1 AND if_index = ?3" \
	" AND boot = (SELECT MAX(boot) FROM sample WHERE agent = ?1) AND sequence " half " 2147483648" \
	" ORDER BY sequence DESC LIMIT 1)"

double
query_last_skip(struct query *query, const struct query_port *port)
{
	sqlite3_stmt *stmt;
	double skip = 0;

	query_set_fetch_range(query, QUERY_NEWEST_ROWS, 0, UINT64_MAX);
	stmt = query_prepare_kept(query,
	    NEWEST_OF_HALF("<") " UNION ALL " NEWEST_OF_HALF(">=") " ORDER BY time_us DESC");
	if (!stmt)
		return 0;
	sqlite3_bind_int64(stmt, 1, port->agent->id);
	sqlite3_bind_int64(stmt, 3, port->if_index);
	if (query_step(query, stmt) == 1)
		skip = sqlite3_column_double(stmt, 0);
	query_give_back(query, stmt);
	return skip;
}

/* Counters have the number of the newest sample before them, if the port numbers its own: what that sample states holds
 * for all since the counters before, if the sample before those stated the same. Else each is read. */
#define COUNTERS_WITHIN "counter c WHERE agent = ?1 AND if_index = ?2 AND time_us >= ?3 AND time_us <= ?4"
#define STATED_UNTIL_COUNTERS \
	"(SELECT skip + 1 FROM sample s WHERE s.agent = c.agent AND s.boot = c.boot AND s.if_index = c.if_index" \
	" AND s.sequence <= iif(c.last_sequence > 0, c.last_sequence, 4294967295) ORDER BY s.sequence DESC LIMIT 1)"
#define NUMBERS_UNTIL_COUNTERS \
	"coalesce((last_sequence - lag(last_sequence) OVER (PARTITION BY boot ORDER BY time_us)) & 4294967295, 1)"

#define STATED_SINCE_COUNTERS(what) \
	"iif(rate = before, " what ", (SELECT avg(" what ") FROM (SELECT skip + 1 AS rate FROM sample s WHERE s.agent = ?1" \
	" AND s.boot = c.boot AND s.if_index = ?2 AND s.sequence > c.last_sequence - n AND s.sequence <= c.last_sequence)))"
#define DROPPED_BY_ITS_WORD \
	"(SELECT 1.0 * dropped_apart / received FROM account WHERE agent = ?1 AND if_index = ?2 AND boot = (SELECT boot FROM " \
	COUNTERS_WITHIN " ORDER BY time_us DESC LIMIT 1))"

static const char newest_stated[] = "SELECT rate, rate * rate, " DROPPED_BY_ITS_WORD " FROM (SELECT " STATED_UNTIL_COUNTERS
    " AS rate FROM " COUNTERS_WITHIN " ORDER BY time_us DESC LIMIT 1)";
static const char all_stated[] = "SELECT TOTAL(n * rate) / TOTAL(n), TOTAL(n * square) / TOTAL(n), " DROPPED_BY_ITS_WORD
    " FROM (SELECT n, coalesce(" STATED_SINCE_COUNTERS("rate") ", rate) AS rate, coalesce(" STATED_SINCE_COUNTERS("rate * rate")
    ", rate * rate) AS square FROM (SELECT *, lag(rate) OVER (PARTITION BY boot ORDER BY time_us) AS before FROM (SELECT boot,"
    " time_us, last_sequence, " STATED_UNTIL_COUNTERS " AS rate, " NUMBERS_UNTIL_COUNTERS " AS n FROM " COUNTERS_WITHIN
    ")) c) WHERE rate IS NOT NULL";

static int
read_stated(struct query *query, const struct query_port *port, const char *sql, struct query_stated *stated)
{
	sqlite3_stmt *stmt;
	int more;

	*stated = (struct query_stated){0};
	stmt = query_prepare_kept(query, sql);
	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, port->agent->id);
	sqlite3_bind_int64(stmt, 2, port->if_index);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)query->range.from_us);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)query->range.to_us);
	more = query_step(query, stmt);
	if (more == 1)
		*stated = (struct query_stated){sqlite3_column_double(stmt, 0), sqlite3_column_double(stmt, 1),
		    sqlite3_column_double(stmt, 2)};
	query_give_back(query, stmt);
	return more < 0 ? more : 0;
}

int
query_stated(struct query *query, const struct query_port *port, double weight, struct query_stated *stated)
{
	int err;

	*stated = port->stated;
	if (query->store->stated)
		return 0;
	err = weight > 0 ? read_stated(query, port, newest_stated, stated) : 0;
	if (err == 0 && (weight <= 0 || stated->rate != weight))
		err = read_stated(query, port, all_stated, stated);
	return err;
}
