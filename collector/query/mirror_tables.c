#include "collector/query/mirror_tables.h"

#include "collector/cluster/sums_sql.h"
#include "collector/store/schema.h"
#include "collector/window/port_totals.h"
#include "common/text.h"
#include "common/trap_wire.h"

#include <inttypes.h>

#define DAY_US UINT64_C(86400000000)

/* Counters come about every minute, and few ports are silent: the row nearest to an end of a range
 * is searched within this time first. */
#define NEAR_US (2 * DAY_US)
/* So near to an end of a range the counters of one collector count where several have the same minute. It is
 * longer than any device takes between two counters, and the minutes of a fleet are few. */
#define COUNTED_ONCE_US UINT64_C(3600000000)

/* ---- counters and resources ---- */

static void
put_counted_once(FILE *sql, const struct query *query, uint64_t from_us, uint64_t to_us)
{
	fprintf(sql, " AND (collector, agent, toUInt64(time_us - time_us %% %d)) GLOBAL NOT IN (", STORE_WINDOW_US);
	sums_sql_passed_over(sql, mirror_place(query->mirror), false,
	    store_window_start(from_us, STORE_WINDOW_US), to_us, "");
	fputs(")", sql);
}

/* Rows of a table that are nearest to the ends of a range. */
struct nearest {
	const struct query *query;
	enum cluster_table_id table;
	const char *level;	/* "": all levels */
	uint64_t from_us, to_us;
	const char *chosen;	/* the times of a port */
	const char *grouped;	/* by what else than the port */
	bool from_end, to_end;	/* which of its ends is near to one of the report's range */
};

/* Were counters of another collector between those of the one whose minute counts, totals at the end of a range
 * would be interpolated between others than those that this collector's own store has. */
static void
put_counted_near(FILE *sql, const void *arg)
{
	const struct nearest *n = arg;
	bool is_long = n->to_us - n->from_us > 2 * COUNTED_ONCE_US;

	if (!is_long && (n->from_end || n->to_end)) {
		put_counted_once(sql, n->query, n->from_us, n->to_us);
		return;
	}
	if (n->from_end)
		put_counted_once(sql, n->query, n->from_us, n->from_us + COUNTED_ONCE_US);
	if (n->to_end)
		put_counted_once(sql, n->query, n->to_us - COUNTED_ONCE_US, n->to_us);
}

/* Rows whose port and time are among those chosen. Their number does not depend on the length of
 * the range. */
static void
put_nearest(FILE *sql, const struct nearest *n)
{
	sql_write(sql, SQL(mirror_place(n->query->mirror), &cluster_tables[n->table], "{rows} AND (agent, if_index, time_us)"
	    " GLOBAL IN (SELECT agent, if_index, {chosen}{rows}{counted_near} GROUP BY agent, if_index{and_stretch})",
	    SQL_TEXT("rows", " FROM {table} WHERE 1{agents}{and_level} AND time_us >= {from_us} AND time_us < {to_us}"),
	    SQL_WRITE("agents", mirror_write_agents, n->query), SQL_TEXT("and_level", n->level), SQL_U64("from_us", n->from_us),
	    SQL_U64("to_us", n->to_us < INT64_MAX ? n->to_us : INT64_MAX), SQL_TEXT("chosen", n->chosen),
	    SQL_WRITE("counted_near", put_counted_near, n), SQL_TEXT("and_stretch", n->grouped)));
}

/* The rows for a difference over the range: those nearest to its ends, and the first and last of
 * each stretch within. Rows far away are searched among those of whole days. */
static bool
rest_at_ends(FILE *sql, const struct query *query, enum cluster_table_id table, unsigned i, const char *stretch)
{
	uint64_t from_us = query->fetch_range.from_us, to_us = query->fetch_range.to_us;
	uint64_t near_us = from_us > NEAR_US ? from_us - NEAR_US : 0;
	const struct nearest nearest[] = {
	    {query, table, "", near_us, from_us + 1, "max(time_us)", "", false, true},
	    {query, table, "", from_us, to_us + 1, "arrayJoin([min(time_us), max(time_us)])", stretch, true, true},
	    {query, table, "", to_us, to_us + NEAR_US, "min(time_us)", "", true, false},
	    {query, table, " AND level = 1440", 0, near_us, "max(time_us)", "", false, false},
	    {query, table, " AND level = 1440", to_us + NEAR_US, INT64_MAX, "min(time_us)", "", false, false},
	};

	if (i >= sizeof(nearest) / sizeof(*nearest))
		return false;
	put_nearest(sql, &nearest[i]);
	return true;
}

static bool
rest_of_counters(FILE *sql, const struct query *query, unsigned i)
{
	return rest_at_ends(sql, query, CLUSTER_COUNTERS, i, ", boot, discontinuity_us");
}

static bool
rest_of_resources(FILE *sql, const struct query *query, unsigned i)
{
	return rest_at_ends(sql, query, CLUSTER_RESOURCES, i, ", boot");
}

/* ---- tables ---- */

#define FROM	    " FROM {table} WHERE 1{agents}"
#define FROM_FINAL  " FROM {table} FINAL WHERE 1{agents}"
#define TIMES	    " AND time_us >= {from_us} AND time_us < {to_us}"
#define OVERLAPPING " AND until_us > {from_us} AND from_us < {to_us}"
/* Each collector thins its samples and its counters by itself, so of two that received the same minute one counts. */
#define COUNTED_ONCE " AND (collector, agent, toUInt64(time_us - time_us % 60000000)) GLOBAL NOT IN ({passed_over})"
#define COUNTING_ACCOUNTS \
	" AND (collector, agent, boot, if_index) GLOBAL NOT IN ({accounts_passed_over}) GROUP BY agent, boot, if_index"
/* Rows that are as if there were none are left out: of agents whose clocks are right, … */
#define IDENTITIES(having) FROM_FINAL " GROUP BY agent HAVING " having
#define STARTS		   " AND start_us >= {from_us} AND start_us < {to_us}"

/* What store/places.h keeps is grouped by the servers. -1 and 0 are no VLAN of a sample and of an event; argMax passes
 * NULL over. */
#define PLACE_COLUMNS(layer, address, vlan, none, seen) \
	"SELECT toInt64(" layer "), " address ", agent, if_index, nullIf(argMax(ifNull(" vlan ", " none ")," \
	" time_us), " none "), min(time_us), max(time_us), toInt64(" seen ")"
#define PLACES_OF_SAMPLES(layer, address) \
	PLACE_COLUMNS(layer, address, "vlan", "-1", "count()") FROM TIMES COUNTED_ONCE \
	" AND direction = 1 AND " address " IS NOT NULL GROUP BY " address ", agent, if_index"
_Static_assert(EASE_IN == 1 && STORE_WINDOW_US == 60000000, "as the texts have it");

const struct mirror_table mirror_tables[MIRROR_N_TABLES + 1] = {
    /* what changes at a boot is from the collector that heard the agent last */
    {.name = "agent", .from = CLUSTER_AGENTS,
	.columns = "agent, boot, address, first_us, last_us, last_received_us, collector",
	.select = "agent, argMax(boot, last_received_us), argMax(address, last_received_us),"
		  " min(first_us), max(last_us), max(last_received_us), argMax(collector, last_received_us)",
	.insert = "INSERT INTO agent(agent_id, boot, address, first_us, last_us, last_received_us, collector)"
		  " VALUES(?,?,?,?,?,?,?)",
	.rest = {" FROM {table} FINAL GROUP BY agent ORDER BY agent"}},
    /* of the collector that heard the agent last; what was refused, of all */
    {.name = "agent_clock", .from = CLUSTER_IDENTITIES,
	.columns = "agent, offset_us, offset_since_us",
	.select = "agent, argMax(offset_us, last_received_us),"
		  " argMax(offset_since_us, last_received_us)",
	.insert = "INSERT INTO agent_clock VALUES(?,?,?)", .rest = {IDENTITIES("argMax(offset_us, last_received_us) != 0")}},
    {.name = "agent_source", .from = CLUSTER_IDENTITIES,
	.columns = "agent, source, source_since_us",
	.select = "agent, argMax(source, last_received_us),"
		  " argMax(source_since_us, last_received_us)",
	.insert = "INSERT INTO agent_source VALUES(?,?,?)", .rest = {IDENTITIES("argMax(source, last_received_us) != ''")}},
    {.name = "agent_refused", .from = CLUSTER_IDENTITIES,
	.columns = "agent, records, refused_source, reason, first_refused_us, refused_us",
	.select = "agent, sum(records), argMax(refused_source, refused_us),"
		  " argMax(reason, refused_us), min(first_refused_us), max(refused_us)",
	.insert = "INSERT INTO agent_refused VALUES(?,?,?,?,?,?)", .rest = {IDENTITIES("sum(records) != 0")}},
    {.name = "naming", .from = CLUSTER_NAMING, .columns = "collector, line, version, text",
	.rest = {" FROM {table} FINAL WHERE (collector, version) GLOBAL IN"
	    " (SELECT collector, max(version) FROM {table} GROUP BY collector)"}},
    {.name = "port", .from = CLUSTER_PORT_STATES,
	.rest = {FROM_FINAL}},
    {.name = "level", .from = CLUSTER_ROLLED, .columns = "level, kept_us, done_us",
	.select = "",
	.insert = "INSERT INTO level(minutes, kept_us, done_us, kind, shard, thinned_us)"
		  " VALUES(?,?,?,0,0,0)",
	.rest = {"{levels}"}},
    {.name = "part", .from = CLUSTER_PORTS, .columns = "level, start_us",
	.select = "level, min(start_us)",
	.insert = "INSERT INTO part(level, start_us, kind, shard, chain, n, body)"
		  " VALUES(?,?,0,0,0,0,x'')",
	.rest = {FROM " GROUP BY level"}},
    {.name = "sample", .from = CLUSTER_SAMPLES,
	.for_rows = ~(1u << QUERY_NEWEST_ROWS), .by_fetch_range = true,
	/* and the oldest one */
	.rest = {FROM TIMES COUNTED_ONCE, FROM " AND time_us = (SELECT min(time_us)" FROM ") LIMIT 1"}},
    /* at each port the newest sample of the agent's newest boot; numbers wrap */
    {.name = "sample", .from = CLUSTER_SAMPLES, .for_rows = 1u << QUERY_NEWEST_ROWS, .by_fetch_range = true,
	.rest = {FROM " AND (agent, boot, if_index, sequence) GLOBAL IN (SELECT agent, boot, if_index,"
	    " argMax(sequence, (time_us, sequence))" FROM " AND (agent, boot) GLOBAL IN (SELECT agent, max(boot)" FROM
	    " GROUP BY agent) GROUP BY agent, boot, if_index)"}},
    /* columns of the types of layer, address, agent, port, VLAN, first and last time, and how often */
    {.name = "place", .from = CLUSTER_SAMPLES,
	.columns = "direction, src_mac, agent, if_index, vlan, time_us, time_us, sequence", .select = "",
	.insert = "INSERT INTO place VALUES(?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET"
		  " vlan = CASE WHEN excluded.last_us >= last_us THEN excluded.vlan ELSE vlan END,"
		  " first_us = min(first_us, excluded.first_us), last_us = max(last_us, excluded.last_us),"
		  " seen = seen + excluded.seen",
	.by_fetch_range = true, .rest = {PLACES_OF_SAMPLES("1", "src_mac"), PLACES_OF_SAMPLES("2", "src_ip"), PLACES_OF_SAMPLES("3", "inner_src_ip"),
	    PLACE_COLUMNS("1", "mac", "vlan", "0", "uniqExact(time_us)") " FROM {event} FINAL WHERE 1{agents}" TIMES
	    " AND kind = {new_address} AND mac IS NOT NULL GROUP BY mac, agent, if_index"}},
    {.name = "counter", .from = CLUSTER_COUNTERS,
	.for_rows = 1u << QUERY_ROWS_AT_ENDS, .by_fetch_range = true, .write_rest = rest_of_counters},
    {.name = "counter", .from = CLUSTER_COUNTERS,
	.for_rows = 1u << QUERY_COUNTERS_WITHIN, .by_fetch_range = true, .rest = {FROM TIMES COUNTED_ONCE}},
    {.name = "counter", .from = CLUSTER_COUNTERS,
	.for_rows = 1u << QUERY_COUNTERS_OF_MINUTES, .by_fetch_range = true, .rest = {FROM " AND time_us >= {around_from_us} AND time_us < {around_to_us}"
	    " AND (agent, if_index, time_us) GLOBAL IN (SELECT agent, if_index, arrayJoin([min(time_us), max(time_us)])"
	    FROM " AND time_us >= {around_from_us} AND time_us < {around_to_us}" COUNTED_ONCE
	    " GROUP BY agent, if_index, intDiv(time_us, 60000000))"}},
    {.name = "counter", .from = CLUSTER_COUNTERS,
	.columns = "agent, if_index, time_us, boot, received_us",
	.select = "agent, if_index, time_us, any(boot), any(received_us)",
	.insert = "INSERT INTO counter VALUES(?,?,?,?,?,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0)",
	.for_rows = 1u << QUERY_NEWEST_ROWS, .by_fetch_range = true, .rest = {FROM TIMES " AND (agent, if_index) GLOBAL IN (SELECT agent, if_index FROM {account} FINAL WHERE 1{agents}"
	    " GROUP BY agent, if_index HAVING max(base_us) >= {from_us} AND max(base_us) < {to_us})"
	    " GROUP BY agent, if_index, time_us ORDER BY time_us DESC LIMIT 2 BY agent, if_index"}},
    /* when those with the least delay came: all of a range are many, and ports do not matter */
    {.name = "counter", .from = CLUSTER_COUNTERS,
	.columns = "agent, if_index, time_us, boot, received_us",
	.select = "agent, toInt64(0), tupleElement(least, 2), boot,"
		  " tupleElement(least, 1) + tupleElement(least, 2)",
	.insert = "INSERT INTO counter VALUES(?,?,?,?,?,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0)"
		  " ON CONFLICT DO UPDATE SET received_us ="
		  " min(received_us, excluded.received_us)",
	.for_rows = 1u << QUERY_ALL_ROWS, .by_fetch_range = true, .rest = {" FROM (SELECT agent, boot, min((received_us - time_us, time_us)) AS least FROM {table}"
	    " GLOBAL ALL INNER JOIN (SELECT agent, boot, intDiv(min(time_us) + max(time_us), 2) AS middle" FROM TIMES
	    " GROUP BY agent, boot) AS m USING (agent, boot) WHERE 1{agents}" TIMES
	    " GROUP BY agent, boot, time_us >= middle)"}},
    {.name = "resource", .from = CLUSTER_RESOURCES,
	.for_rows = 1u << QUERY_ROWS_AT_ENDS, .by_fetch_range = true, .write_rest = rest_of_resources},
    /* a collector that takes over counts as expected what the agent sent before, too */
    {.name = "account", .from = CLUSTER_ACCOUNTS,
	.select = "agent, boot, if_index, max(expected), sum(received), sum(duplicates),"
		  " sum(reordered), sum(late), max(agent_drops), max(stalls), max(stalled_pkts),"
		  " min(first_us), max(last_us), max(base_us)",
	.rest = {FROM_FINAL COUNTING_ACCOUNTS}},
    {.name = "gone", .from = CLUSTER_GONE,
	.select = "agent, boot, if_index, sum(samples)", .rest = {FROM_FINAL COUNTING_ACCOUNTS}},
    {.name = "error_source", .from = CLUSTER_ERROR_SOURCES,
	.select = "agent, if_index, mac, kind, argMax(boot, last_us), argMax(frames, last_us),"
		  " min(first_us), max(last_us)",
	.rest = {FROM_FINAL " GROUP BY agent, if_index, mac, kind"}},
    /* two collectors have heard the same */
    {.name = "oddity", .from = CLUSTER_ODDITIES,
	.select = "agent, if_index, kind, max(n), min(first_us), max(last_us)", .rest = {FROM_FINAL " GROUP BY agent, if_index, kind"}},
    /* one that the other end alone was chosen of, too */
    {.name = "link", .from = CLUSTER_LINKS,
	.select = "agent, if_index, argMax(other_agent, seen_us), argMax(other_if_index, seen_us), max(seen_us)",
	.rest = {" FROM {table} FINAL GROUP BY agent, if_index"}},
    {.name = "event", .from = CLUSTER_EVENTS,
	.columns = "time_us, agent, boot, kind, if_index, mac, vlan, text",
	.by_fetch_range = true, .rest = {FROM_FINAL TIMES " GROUP BY time_us, agent, boot, kind, if_index, mac, vlan, text"
	    " ORDER BY time_us, min(id)"}},
    {.name = "outage", .from = CLUSTER_OUTAGES, .columns = "since_us, until_us, kind, samples",
	.rest = {" FROM {table} FINAL ORDER BY until_us, id"}},
    {.name = "gap", .from = CLUSTER_GAPS,
	.columns = "agent, if_index, from_us, until_us, in_pkts, in_octets, out_pkts, out_octets,"
		   " in_cut_pkts, in_cut_octets, out_cut_pkts, out_cut_octets, collector",
	.insert = "INSERT INTO gap(agent, if_index, from_us, until_us, in_pkts, in_octets,"
		  " out_pkts, out_octets, in_cut_pkts, in_cut_octets, out_cut_pkts, out_cut_octets,"
		  " collector, received_us) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,0)",
	.by_fetch_range = true, .rest = {FROM_FINAL OVERLAPPING}},
    /* received has the bits of the minutes */
    {.name = "cover", .from = CLUSTER_COVER, .columns = "agent, collector, start_us, received",
	.select = "agent, collector, intDiv(start_us, 3600000000) * 3600000000,"
		  " groupBitOr(bitShiftLeft(toUInt64(1), intDiv(start_us % 3600000000,"
		  " 60000000)))",
	.insert = "INSERT INTO cover VALUES(?,?,?,?)",
	.by_fetch_range = true, .rest = {FROM_FINAL " AND start_us >= {minute_us} AND start_us < {to_us} AND agent GLOBAL IN"
	    " (SELECT agent FROM {gap} WHERE 1{agents}" OVERLAPPING ")"
	    " GROUP BY agent, collector, intDiv(start_us, 3600000000)"}},
    /* what two collectors have of a minute each, because it changed over from one to the other, is added */
    {.name = "discard", .from = CLUSTER_DISCARDS,
	.insert = "INSERT INTO discard(" STORE_DISCARD_KEY ", n, received_us) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)"
		  " ON CONFLICT DO UPDATE SET n = n + excluded.n, received_us = max(received_us, excluded.received_us)",
	.by_fetch_range = true, .rest = {FROM_FINAL STARTS " AND (agent, toUInt64(start_us)) GLOBAL IN (SELECT agent, start_us FROM {cover} WHERE 1{agents}"
	    STARTS ") AND (collector, agent, toUInt64(start_us)) GLOBAL NOT IN ({passed_over})",
	    /* of minutes that no collector has a cover of yet, each row of the collector that has most of it */
	    FROM_FINAL STARTS " AND (agent, toUInt64(start_us)) GLOBAL NOT IN (SELECT agent, start_us FROM {cover} WHERE 1{agents}"
	    STARTS ") ORDER BY n DESC LIMIT 1 BY " STORE_DISCARD_KEY}},
    {.name = "stat", .from = CLUSTER_STATS, .select = "",
	.by_fetch_range = true, .rest = {"SELECT name, sum(value) FROM {table} FINAL GROUP BY name",
	    /* samples that another collector's count already */
	    "SELECT 'cluster.passed_over', toInt64(sum(received)) FROM {cover} FINAL WHERE 1" STARTS
	    " AND (collector, agent, start_us) GLOBAL IN ({passed_over})"}},
    {.name = NULL},
};

void
mirror_columns(const struct mirror_table *table, char text[MIRROR_COLUMNS_TEXT])
{
	const struct stored_table *stored = cluster_tables[table->from].stored;

	snprintf(text, MIRROR_COLUMNS_TEXT, "%s", table->columns ? table->columns : "");
	for (size_t i = 0; !table->columns && i < stored->n_columns; i++)
		if (!stored->columns[i].is_local)
			text_add(text, MIRROR_COLUMNS_TEXT, "%s%s", *text ? ", " : "", stored->columns[i].name);
}
