/*
 * What ports counted while their counters did not arrive (the store's table gap): it is in no
 * window, so each range adds its share, evenly by time. Nothing tells that it passed evenly: a part p of a range may
 * have all of it or none, so its limits are as if half of it came at one moment, whenever that was. Part of query.h.
 *
 * In a cluster another collector may have received the agent meanwhile. Its minutes then have those
 * counts, and the gap counts only for minutes that no other collector has (the cluster's table
 * cover, of which the mirror holds a bit for each minute, by hour).
 */
#include "collector/query/query_private.h"
#include "collector/window/port_totals.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_US ((uint64_t)STORE_WINDOW_US)
#define HOUR_US	  (60 * MINUTE_US)

/* What a gap has: what was counted (enum port_totals_value), and how much of it is cut. */
enum {
	IN_CUT_PKTS = PORT_TOTALS_N_VALUES,
	IN_CUT_OCTETS,
	OUT_CUT_PKTS,
	OUT_CUT_OCTETS,
	N_VALUES,
};
#define VALUES "in_pkts, in_octets, out_pkts, out_octets, in_cut_pkts, in_cut_octets, out_cut_pkts," \
	       " out_cut_octets"

struct query_gap {
	int64_t agent, collector;
	uint64_t if_index;
	uint64_t from_us, until_us;
	uint64_t values[N_VALUES];
};

/* Minutes of an hour of which a collector has the agent. */
struct covered_hour {
	int64_t agent, collector;
	uint64_t start_us, minutes;
};

struct query_gaps {
	struct query_gap *items;
	size_t n, room;
	struct covered_hour *hours; /* by agent and start */
	size_t n_hours, hours_room;
};

void
query_forget_gaps(struct query *query)
{
	if (!query->gaps)
		return;
	free(query->gaps->items);
	free(query->gaps->hours);
	free(query->gaps);
	query->gaps = NULL;
}

/* ---- reading ---- */

static int
grow_items(struct query *query, void **items, size_t n, size_t *room, size_t octets)
{
	size_t more = *room ? 2 * *room : 256;
	void *grown;

	if (n < *room)
		return 0;
	if (query->limits.keys > 0 && n >= query->limits.keys)
		return query_fail(query, -E2BIG, "more than %zu gaps between counters in the range:"
		    " ask for a shorter range or one switch", query->limits.keys);
	grown = realloc(*items, more * octets);
	if (!grown)
		return query_fail(query, -ENOMEM, "no memory");
	*items = grown;
	*room = more;
	return 0;
}

static int
gaps_add_gap(struct query *query, sqlite3_stmt *stmt)
{
	struct query_gaps *gaps = query->gaps;
	struct query_gap *gap;
	int err = grow_items(query, (void **)&gaps->items, gaps->n, &gaps->room, sizeof(*gap));

	if (err)
		return err;
	gap = &gaps->items[gaps->n++];
	*gap = (struct query_gap){
	    .agent = sqlite3_column_int64(stmt, 0),
	    .if_index = (uint64_t)sqlite3_column_int64(stmt, 1),
	    .from_us = query_u64(stmt, 2),
	    .until_us = query_u64(stmt, 3),
	    .collector = sqlite3_column_int64(stmt, 4 + N_VALUES),
	};
	for (int i = 0; i < N_VALUES; i++)
		gap->values[i] = query_u64(stmt, 4 + i);
	return 0;
}

static int
add_hour(struct query *query, sqlite3_stmt *stmt)
{
	struct query_gaps *gaps = query->gaps;
	int err = grow_items(query, (void **)&gaps->hours, gaps->n_hours, &gaps->hours_room,
	    sizeof(*gaps->hours));

	if (err == 0)
		gaps->hours[gaps->n_hours++] = (struct covered_hour){
		    .agent = sqlite3_column_int64(stmt, 0),
		    .start_us = query_u64(stmt, 1),
		    .collector = sqlite3_column_int64(stmt, 2),
		    .minutes = query_u64(stmt, 3),
		};
	return err;
}

/* The gaps of the whole range of the question, of which a history then asks for one step after the
 * other. */
static int
load_gaps(struct query *query)
{
	const struct query_range now = query->range;
	char sql[sizeof(VALUES) + 160];
	int err;

	query->gaps = calloc(1, sizeof(*query->gaps));
	if (!query->gaps)
		return query_fail(query, -ENOMEM, "no memory");
	query->range = query->asked;
	snprintf(sql, sizeof(sql), "SELECT agent, if_index, from_us, until_us, " VALUES ", %s FROM gap"
	    " WHERE until_us > :from AND from_us < :to", query->store->gap_collector);
	err = query_rows(query, sql, gaps_add_gap);
	if (err == 0 && query->store->is_shared && query->gaps->n > 0)
		err = query_rows(query, "SELECT agent, hour_us, collector, minutes FROM cover"
		    " ORDER BY agent, hour_us", add_hour);
	query->range = now;
	return err;
}

/* ---- adding ---- */

static const struct covered_hour *
first_hour(const struct query_gaps *gaps, int64_t agent, uint64_t start_us)
{
	size_t low = 0, high = gaps->n_hours;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct covered_hour *at = &gaps->hours[middle];

		if (at->agent < agent || (at->agent == agent && at->start_us < start_us))
			low = middle + 1;
		else
			high = middle;
	}
	return &gaps->hours[low];
}

/* The minutes of an hour that collectors other than that of the gap have. */
static uint64_t
minutes_of_others(const struct query_gaps *gaps, const struct query_gap *gap, uint64_t hour_us)
{
	const struct covered_hour *end = gaps->hours + gaps->n_hours;
	uint64_t minutes = 0;

	for (const struct covered_hour *at = first_hour(gaps, gap->agent, hour_us);
	     at < end && at->agent == gap->agent && at->start_us == hour_us; at++)
		if (at->collector != gap->collector)
			minutes |= at->minutes;
	return minutes;
}

static void
note_piece(struct query_in_gaps *sum, double pkts, uint64_t from_us, uint64_t to_us)
{
	sum->pkts += pkts;
	if (sum->since_us == 0 || from_us < sum->since_us)
		sum->since_us = from_us;
	if (to_us > sum->until_us)
		sum->until_us = to_us;
}

static void
add_piece(struct query *query, struct query_port *port, const struct query_gap *gap, uint64_t from_us, uint64_t to_us)
{
	double part[N_VALUES];

	for (int i = 0; i < N_VALUES; i++)
		part[i] = (double)(port_totals_share(gap->values[i], gap->from_us, gap->until_us,
				       to_us) -
		    port_totals_share(gap->values[i], gap->from_us, gap->until_us, from_us));
	port->side[EASE_IN].pool_pkts += part[PORT_TOTALS_IN_PKTS];
	port->side[EASE_IN].pool_octets += part[PORT_TOTALS_IN_OCTETS];
	port->side[EASE_OUT].pool_pkts += part[PORT_TOTALS_OUT_PKTS];
	port->side[EASE_OUT].pool_octets += part[PORT_TOTALS_OUT_OCTETS];
	port->cut[EASE_IN].pkts += part[IN_CUT_PKTS];
	port->cut[EASE_IN].octets += part[IN_CUT_OCTETS];
	port->cut[EASE_OUT].pkts += part[OUT_CUT_PKTS];
	port->cut[EASE_OUT].octets += part[OUT_CUT_OCTETS];
	if (port->chosen)
		note_piece(&query->in_gaps, part[PORT_TOTALS_IN_PKTS] + part[PORT_TOTALS_OUT_PKTS], from_us, to_us);
}

/* Adds the pieces of [from_us, to_us) of which no other collector has the minute. */
static void
add_uncovered(struct query *query, struct query_port *port, const struct query_gap *gap,
    uint64_t from_us, uint64_t to_us)
{
	uint64_t hour_us = UINT64_MAX, minutes = 0;

	while (from_us < to_us) {
		uint64_t minute_us = store_window_start(from_us, MINUTE_US), end_us;

		if (store_window_start(minute_us, HOUR_US) != hour_us) {
			hour_us = store_window_start(minute_us, HOUR_US);
			minutes = minutes_of_others(query->gaps, gap, hour_us);
		}
		end_us = minutes == 0 ? hour_us + HOUR_US : minute_us + MINUTE_US;
		if (end_us > to_us)
			end_us = to_us;
		if (!(minutes >> (minute_us - hour_us) / MINUTE_US & 1))
			add_piece(query, port, gap, from_us, end_us);
		from_us = end_us;
	}
}

static void
pools_of(const struct query_port *port, double pools[PORT_TOTALS_N_VALUES])
{
	pools[PORT_TOTALS_IN_PKTS] = port->side[EASE_IN].pool_pkts;
	pools[PORT_TOTALS_IN_OCTETS] = port->side[EASE_IN].pool_octets;
	pools[PORT_TOTALS_OUT_PKTS] = port->side[EASE_OUT].pool_pkts;
	pools[PORT_TOTALS_OUT_OCTETS] = port->side[EASE_OUT].pool_octets;
}

/* Half of n that comes at one moment, in the range with probability p, has the variance n^2 p (1 - p) / 4. */
static void
gaps_add_untold(struct query_port *port, const struct query_gap *gap, const double before[PORT_TOTALS_N_VALUES])
{
	double part[PORT_TOTALS_N_VALUES];

	pools_of(port, part);
	for (int i = 0; i < PORT_TOTALS_N_VALUES; i++) {
		part[i] -= before[i];
		port->side[EASE_IN + i / ESTIMATE_N_UNITS].untold[i % ESTIMATE_N_UNITS] +=
		    0.25 * part[i] * fmax(0, (double)gap->values[i] - part[i]);
	}
}

int
query_add_gaps(struct query *query)
{
	const struct query_gaps *gaps;
	int err = query->gaps ? 0 : load_gaps(query);

	gaps = query->gaps;
	query->in_gaps = (struct query_in_gaps){0};
	for (size_t i = 0; err == 0 && i < gaps->n; i++) {
		const struct query_gap *gap = &gaps->items[i];
		struct query_port *port = query_find_port(query, gap->agent, gap->if_index);
		uint64_t from_us = gap->from_us, to_us = gap->until_us;
		double before[PORT_TOTALS_N_VALUES];

		if (from_us < query->range.from_us)
			from_us = query->range.from_us;
		if (to_us > query->range.to_us)
			to_us = query->range.to_us;
		if (!port || from_us >= to_us)
			continue;
		pools_of(port, before);
		if (gaps->n_hours > 0)
			add_uncovered(query, port, gap, from_us, to_us);
		else
			add_piece(query, port, gap, from_us, to_us);
		gaps_add_untold(port, gap, before);
	}
	return err;
}
