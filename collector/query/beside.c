/*
 * Ports whose counters do not cover the range, though their samples do: an agent's first counters come up to an
 * interval after its first samples, and its last ones as long before its end, which is most of a short capture.
 * What the samples before and after stand for is estimated beside what was counted. In a range that ends at the live
 * edge (edge.c) that is so at its beginning alone, and at ports that are silent. Part of query.h.
 *
 * A cluster ranks keys by its own sums, so of a cluster's range what was counted is all.
 */
#include "collector/query/query_private.h"
#include "collector/store/schema.h"

#include <errno.h>
#include <math.h>

/* Longer than any device takes between two counters: what is further away than this from counters has other causes,
 * which reports name ("silent"), and may be more samples than a question should read. *assumed* */
#define LONGEST_US (3600 * UINT64_C(1000000))
/* Of EASE, whose counters come each 2 s, an end is as good as covered if they come so near to it, or within this part of the
 * port's time. *assumed* Of sFlow they come rarely, and what they lack may be a burst. */
#define SHORTEST_US   2500000u
#define SHORTEST_PART 100
/* A sample may be of an earlier time than those with lower numbers by so much. *assumed* */
#define REORDERED_US 5000000u

/* lasted_us is huge for what comes in the other order. */
static bool
is_between(uint64_t lasted_us, uint64_t least_us)
{
	return lasted_us > least_us && lasted_us <= LONGEST_US;
}

static int
find_first(struct query *query, struct query_port *port, uint64_t heard_us, uint64_t least_us)
{
	sqlite3_stmt *stmt = query_prepare_kept(query, "SELECT min(time_us) FROM counter WHERE agent = ?1"
	    " AND if_index = ?2");
	int more;

	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, port->agent->id);
	sqlite3_bind_int64(stmt, 2, port->if_index);
	more = query_step(query, stmt);
	if (more == 1 && is_between(query_u64(stmt, 0) - heard_us, least_us))
		port->counted_from_us = query_u64(stmt, 0);
	query_give_back(query, stmt);
	return more < 0 ? more : 0;
}

/* Columns: agent, port, first and last data, last counters. */
static int
set_ends(struct query *query, sqlite3_stmt *stmt)
{
	struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint64_t)sqlite3_column_int64(stmt, 1));
	uint64_t first_us = query_u64(stmt, 2), last_us = query_u64(stmt, 3), counted_us = query_u64(stmt, 4);
	uint64_t least_us = (last_us - first_us) / SHORTEST_PART;

	if (least_us > SHORTEST_US)
		least_us = SHORTEST_US;

	if (!port || !port->chosen)
		return 0;
	if (port->agent->boot >= QUERY_SFLOW_BOOTS)
		least_us = 0;
	port->heard_from_us = first_us > REORDERED_US ? first_us - REORDERED_US : 0;
	port->heard_until_us = last_us + REORDERED_US;
	if (is_between(last_us - counted_us, least_us) && counted_us < query->range.to_us)
		port->counted_until_us = counted_us;
	return first_us + LONGEST_US > query->range.from_us ? find_first(query, port, first_us, least_us) : 0;
}

int
query_find_beside(struct query *query)
{
	return query->store->is_remote ? 0 : query_rows(query, "SELECT agent, if_index, min(first_us), max(last_us), max(base_us)"
	    " FROM account GROUP BY agent, if_index HAVING max(base_us) > 0", set_ends);
}

static void
beside_add_sample(double beside[ESTIMATE_N_UNITS], double weight, double octets)
{
	beside[ESTIMATE_PKTS] += weight;
	beside[ESTIMATE_OCTETS] += weight * octets;
}

#define SAMPLES_OF_BOOT(which, order) \
	"SELECT time_us, direction, 1.0 * mean_skip * stands_for, frame_octets FROM sample WHERE agent = ?1" \
	" AND if_index = ?2 AND boot = (SELECT " which "(boot) FROM account WHERE agent = ?1 AND if_index = ?2)" \
	" AND sequence >= ?3 AND sequence < ?4 ORDER BY sequence" order

/* Adds what is within these times, in the order of numbers, until they are passed: as few rows are read as there are.
 * Numbers wrap, so each half of the 32 bits is read for itself. */
static int
add_samples(struct query *query, struct query_port *port, bool is_first, uint64_t from_us, uint64_t to_us)
{
	int err = 0;

	/* a history has steps before and after the port was there: no statement is run for them */
	from_us = from_us > port->heard_from_us ? from_us : port->heard_from_us;
	to_us = to_us < port->heard_until_us ? to_us : port->heard_until_us;
	for (int half = 0; err == 0 && from_us < to_us && half < 2; half++) {
		sqlite3_stmt *stmt = query_prepare_kept(query,
		    is_first ? SAMPLES_OF_BOOT("min", "") : SAMPLES_OF_BOOT("max", " DESC"));

		if (!stmt)
			return -EIO;
		sqlite3_bind_int64(stmt, 1, port->agent->id);
		sqlite3_bind_int64(stmt, 2, port->if_index);
		sqlite3_bind_int64(stmt, 3, (sqlite3_int64)half << 31);
		sqlite3_bind_int64(stmt, 4, ((sqlite3_int64)half + 1) << 31);
		while ((err = query_step(query, stmt)) == 1) {
			uint64_t time_us = query_u64(stmt, 0);
			int direction = sqlite3_column_int(stmt, 1);

			if (is_first ? time_us > to_us + REORDERED_US : time_us + REORDERED_US < from_us)
				break;
			if (time_us >= from_us && time_us < to_us && (direction == EASE_IN || direction == EASE_OUT))
				beside_add_sample(port->side[direction].beside, sqlite3_column_double(stmt, 2),
				    sqlite3_column_double(stmt, 3));
		}
		err = err < 0 ? err : 0;
		query_give_back(query, stmt);
	}
	return err;
}

/* Where the range ends at the edge, windows lack samples of the batch that it cuts. */
static void
limit_to_all(struct estimate_stratum *side)
{
	side->beside[ESTIMATE_PKTS] = fmin(side->beside[ESTIMATE_PKTS], side->all.w);
	side->beside[ESTIMATE_OCTETS] = fmin(side->beside[ESTIMATE_OCTETS], side->all.wb);
}

int
query_add_beside(struct query *query)
{
	const struct query_range *range = &query->range;
	int err = 0;

	for (size_t i = 0; err == 0 && i < query->n_ports; i++) {
		struct query_port *port = &query->ports[i];
		uint64_t until_us = port->counted_until_us;

		if (port->counted_from_us == 0 && until_us == 0)
			continue;
		for (int d = EASE_IN; d <= EASE_OUT; d++)
			port->side[d].beside[ESTIMATE_PKTS] = port->side[d].beside[ESTIMATE_OCTETS] = 0;
		err = add_samples(query, port, true, range->from_us,
		    port->counted_from_us < range->to_us ? port->counted_from_us : range->to_us);
		if (err == 0 && until_us > 0)
			err = add_samples(query, port, false,
			    until_us > range->from_us ? until_us : range->from_us, range->to_us);
		for (int d = EASE_IN; d <= EASE_OUT; d++)
			limit_to_all(&port->side[d]);
	}
	return err;
}
