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

static void
put_from(FILE *sql, const struct query *query, enum cluster_table_id table, const char *how)
{
	fputs(" FROM ", sql);
	cluster_write_name(sql, mirror_place(query->mirror), &cluster_tables[table], false);
	fprintf(sql, "%s WHERE 1", how);
	mirror_write_agents(sql, query);
}

static void
put_times(FILE *sql, uint64_t from_us, uint64_t to_us)
{
	fprintf(sql, " AND time_us >= %" PRIu64 " AND time_us < %" PRIu64,
	    from_us < INT64_MAX ? from_us : INT64_MAX, to_us < INT64_MAX ? to_us : INT64_MAX);
}

/* Each collector thins its samples and its counters by itself, so of two that received the same minute one
 * counts. */
static void
put_counted_once(FILE *sql, const struct query *query, uint64_t from_us, uint64_t to_us)
{
	fprintf(sql, " AND (collector, agent, toUInt64(time_us - time_us %% %d)) GLOBAL NOT IN (",
	    STORE_WINDOW_US);
	sums_sql_passed_over(sql, mirror_place(query->mirror), false,
	    store_window_start(from_us, STORE_WINDOW_US), to_us, "");
	fputs(")", sql);
}

/* ---- agents and ports ---- */

static bool
rest_of_agents(FILE *sql, const struct query *query, unsigned i)
{
	fputs(" FROM ", sql);
	cluster_write_name(sql, mirror_place(query->mirror), &cluster_tables[CLUSTER_AGENTS],
	    false);
	fputs(" FINAL GROUP BY agent ORDER BY agent", sql);
	return i == 0;
}

/* Rows that are as if there were none are left out: of agents whose clocks are right, … */
static bool
rest_of_identities(FILE *sql, const struct query *query, const char *having)
{
	put_from(sql, query, CLUSTER_IDENTITIES, " FINAL");
	fprintf(sql, " GROUP BY agent HAVING %s", having);
	return true;
}

static bool
rest_of_clocks(FILE *sql, const struct query *query, unsigned i)
{
	return i == 0 && rest_of_identities(sql, query, "argMax(offset_us, last_received_us) != 0");
}

static bool
rest_of_sources(FILE *sql, const struct query *query, unsigned i)
{
	return i == 0 && rest_of_identities(sql, query, "argMax(source, last_received_us) != ''");
}

static bool
rest_of_refusals(FILE *sql, const struct query *query, unsigned i)
{
	return i == 0 && rest_of_identities(sql, query, "sum(records) != 0");
}

/* Of each collector the newest version; rows of those before are there until the cluster's upkeep deletes them. */
static bool
rest_of_naming(FILE *sql, const struct query *query, unsigned i)
{
	const struct cluster_place *place = mirror_place(query->mirror);

	fputs(" FROM ", sql);
	cluster_write_name(sql, place, &cluster_tables[CLUSTER_NAMING], false);
	fputs(" FINAL WHERE (collector, version) GLOBAL IN (SELECT collector, max(version) FROM ", sql);
	cluster_write_name(sql, place, &cluster_tables[CLUSTER_NAMING], false);
	fputs(" GROUP BY collector)", sql);
	return i == 0;
}

static bool
rest_of_ports(FILE *sql, const struct query *query, unsigned i)
{
	put_from(sql, query, CLUSTER_PORT_STATES, " FINAL");
	return i == 0;
}

/* ---- levels, and the oldest window of each ---- */

static bool
rest_of_levels(FILE *sql, const struct query *query, unsigned i)
{
	sql_write(sql, SQL(mirror_place(query->mirror), NULL, cluster_sql[CLUSTER_SQL_LEVELS].text));
	return i == 0;
}

static bool
rest_of_parts(FILE *sql, const struct query *query, unsigned i)
{
	put_from(sql, query, CLUSTER_PORTS, "");
	fputs(" GROUP BY level", sql);
	return i == 0;
}

/* ---- samples ---- */

static void
put_samples(FILE *sql, const struct query *query)
{
	const struct query_fetch_range *fetch_range = &query->fetch_range;

	put_from(sql, query, CLUSTER_SAMPLES, "");
	put_times(sql, fetch_range->from_us, fetch_range->to_us);
	put_counted_once(sql, query, fetch_range->from_us, fetch_range->to_us);
}

static void
put_oldest_sample(FILE *sql, const struct query *query)
{
	put_from(sql, query, CLUSTER_SAMPLES, "");
	fputs(" AND time_us = (SELECT min(time_us)", sql);
	put_from(sql, query, CLUSTER_SAMPLES, "");
	fputs(") LIMIT 1", sql);
}

/* At each port the newest sample of the agent's newest boot; numbers wrap. */
static void
put_newest_samples(FILE *sql, const struct query *query)
{
	put_from(sql, query, CLUSTER_SAMPLES, "");
	fputs(" AND (agent, boot, if_index, sequence) GLOBAL IN (SELECT agent, boot, if_index,"
	    " argMax(sequence, (time_us, sequence))", sql);
	put_from(sql, query, CLUSTER_SAMPLES, "");
	fputs(" AND (agent, boot) GLOBAL IN (SELECT agent, max(boot)", sql);
	put_from(sql, query, CLUSTER_SAMPLES, "");
	fputs(" GROUP BY agent) GROUP BY agent, boot, if_index)", sql);
}

static bool
rest_of_samples(FILE *sql, const struct query *query, unsigned i)
{
	if (query->fetch_range.rows == QUERY_NEWEST_ROWS) {
		put_newest_samples(sql, query);
		return i == 0;
	}
	if (i == 0)
		put_samples(sql, query);
	else
		put_oldest_sample(sql, query);
	return i < 2;
}

/* ---- places: what store/places.h keeps is grouped by the servers ---- */

/* -1 and 0 are no VLAN of a sample and of an event; argMax passes NULL over. */
#define PLACE_COLUMNS(layer, address, vlan, none, seen) \
	"SELECT toInt64(" layer "), " address ", agent, if_index, nullIf(argMax(ifNull(" vlan ", " none ")," \
	" time_us), " none "), min(time_us), max(time_us), toInt64(" seen ")"

static bool
rest_of_places(FILE *sql, const struct query *query, unsigned i)
{
	static const struct {
		const char *columns, *address;
	} layers[] = { /* enum store_place_layer */
		{PLACE_COLUMNS("1", "src_mac", "vlan", "-1", "count()"), "src_mac"},
		{PLACE_COLUMNS("2", "src_ip", "vlan", "-1", "count()"), "src_ip"},
		{PLACE_COLUMNS("3", "inner_src_ip", "vlan", "-1", "count()"), "inner_src_ip"},
	};
	const unsigned n_layers = sizeof(layers) / sizeof(layers[0]);

	if (i < n_layers) {
		fputs(layers[i].columns, sql);
		put_samples(sql, query);
		fprintf(sql, " AND direction = %d AND %s IS NOT NULL GROUP BY %s, agent, if_index", EASE_IN,
		    layers[i].address, layers[i].address);
	} else if (i == n_layers) {
		fputs(PLACE_COLUMNS("1", "mac", "vlan", "0", "uniqExact(time_us)"), sql);
		put_from(sql, query, CLUSTER_EVENTS, " FINAL");
		put_times(sql, query->fetch_range.from_us, query->fetch_range.to_us);
		fprintf(sql, " AND kind = %d AND mac IS NOT NULL GROUP BY mac, agent, if_index",
		    EASE_NOTIFY_NEW_ADDRESS);
	}
	return i <= n_layers;
}

/* ---- counters and resources ---- */

/* Rows of a table that are nearest to the ends of a range. */
struct nearest {
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
put_counted_near(FILE *sql, const struct query *query, const struct nearest *n)
{
	bool is_long = n->to_us - n->from_us > 2 * COUNTED_ONCE_US;

	if (!is_long && (n->from_end || n->to_end)) {
		put_counted_once(sql, query, n->from_us, n->to_us);
		return;
	}
	if (n->from_end)
		put_counted_once(sql, query, n->from_us, n->from_us + COUNTED_ONCE_US);
	if (n->to_end)
		put_counted_once(sql, query, n->to_us - COUNTED_ONCE_US, n->to_us);
}

/* Rows whose port and time are among those chosen. Their number does not depend on the length of
 * the range. */
static void
put_nearest(FILE *sql, const struct query *query, const struct nearest *n)
{
	put_from(sql, query, n->table, "");
	fputs(n->level, sql);
	put_times(sql, n->from_us, n->to_us);
	fprintf(sql, " AND (agent, if_index, time_us) GLOBAL IN (SELECT agent, if_index, %s",
	    n->chosen);
	put_from(sql, query, n->table, "");
	fputs(n->level, sql);
	put_times(sql, n->from_us, n->to_us);
	put_counted_near(sql, query, n);
	fprintf(sql, " GROUP BY agent, if_index%s)", n->grouped);
}

/* The rows for a difference over the range: those nearest to its ends, and the first and last of
 * each stretch within. Rows far away are searched among those of whole days. */
static bool
rest_at_ends(FILE *sql, const struct query *query, enum cluster_table_id table, unsigned i,
    const char *stretch)
{
	uint64_t from_us = query->fetch_range.from_us, to_us = query->fetch_range.to_us;
	uint64_t near_us = from_us > NEAR_US ? from_us - NEAR_US : 0;
	const struct nearest nearest[] = {
	    {table, "", near_us, from_us + 1, "max(time_us)", "", false, true},
	    {table, "", from_us, to_us + 1, "arrayJoin([min(time_us), max(time_us)])", stretch, true, true},
	    {table, "", to_us, to_us + NEAR_US, "min(time_us)", "", true, false},
	    {table, " AND level = 1440", 0, near_us, "max(time_us)", "", false, false},
	    {table, " AND level = 1440", to_us + NEAR_US, INT64_MAX, "min(time_us)", "", false, false},
	};

	if (i >= sizeof(nearest) / sizeof(*nearest))
		return false;
	put_nearest(sql, query, &nearest[i]);
	return true;
}

static bool
rest_of_counters(FILE *sql, const struct query *query, unsigned i)
{
	return rest_at_ends(sql, query, CLUSTER_COUNTERS, i, ", boot, discontinuity_us");
}

/* Of each port whose newest counters lie in the time to fetch these and the ones before, to see how often they come. */
static bool
rest_of_newest_counters(FILE *sql, const struct query *query, unsigned i)
{
	const struct query_fetch_range *fetch_range = &query->fetch_range;

	put_from(sql, query, CLUSTER_COUNTERS, "");
	put_times(sql, fetch_range->from_us, fetch_range->to_us);
	fputs(" AND (agent, if_index) GLOBAL IN (SELECT agent, if_index", sql);
	put_from(sql, query, CLUSTER_ACCOUNTS, " FINAL");
	fprintf(sql, " GROUP BY agent, if_index HAVING max(base_us) >= %" PRIu64 " AND max(base_us) < %" PRIu64
	    ") GROUP BY agent, if_index, time_us ORDER BY time_us DESC LIMIT 2 BY agent, if_index",
	    fetch_range->from_us, fetch_range->to_us);
	return i == 0;
}

/* Of each boot of an agent the counters that arrived with the least delay in the first and in the
 * second half of its time, the earliest of equal ones: all of a range would be too many. */
static bool
rest_of_arrivals(FILE *sql, const struct query *query, unsigned i)
{
	fputs(" FROM (SELECT agent, boot, min((received_us - time_us, time_us)) AS least FROM ", sql);
	cluster_write_name(sql, mirror_place(query->mirror), &cluster_tables[CLUSTER_COUNTERS],
	    false);
	fputs(" GLOBAL ALL INNER JOIN (SELECT agent, boot,"
	    " intDiv(min(time_us) + max(time_us), 2) AS middle", sql);
	put_from(sql, query, CLUSTER_COUNTERS, "");
	put_times(sql, query->fetch_range.from_us, query->fetch_range.to_us);
	fputs(" GROUP BY agent, boot) AS m USING (agent, boot) WHERE 1", sql);
	mirror_write_agents(sql, query);
	put_times(sql, query->fetch_range.from_us, query->fetch_range.to_us);
	fputs(" GROUP BY agent, boot, time_us >= middle)", sql);
	return i == 0;
}

static bool
rest_of_counters_within(FILE *sql, const struct query *query, unsigned i)
{
	const struct query_fetch_range *fetch_range = &query->fetch_range;

	put_from(sql, query, CLUSTER_COUNTERS, "");
	put_times(sql, fetch_range->from_us, fetch_range->to_us);
	put_counted_once(sql, query, fetch_range->from_us, fetch_range->to_us);
	return i == 0;
}

static bool
rest_of_counters_of_minutes(FILE *sql, const struct query *query, unsigned i)
{
	uint64_t around_us = PORT_TOTALS_MINUTES * (uint64_t)STORE_WINDOW_US;
	uint64_t from_us = query->fetch_range.from_us - around_us, to_us = query->fetch_range.to_us + around_us;

	put_from(sql, query, CLUSTER_COUNTERS, "");
	put_times(sql, from_us, to_us);
	fputs(" AND (agent, if_index, time_us) GLOBAL IN (SELECT agent, if_index,"
	      " arrayJoin([min(time_us), max(time_us)])", sql);
	put_from(sql, query, CLUSTER_COUNTERS, "");
	put_times(sql, from_us, to_us);
	put_counted_once(sql, query, from_us, to_us);
	fprintf(sql, " GROUP BY agent, if_index, intDiv(time_us, %d))", STORE_WINDOW_US);
	return i == 0;
}

static bool
rest_of_resources(FILE *sql, const struct query *query, unsigned i)
{
	return rest_at_ends(sql, query, CLUSTER_RESOURCES, i, ", boot");
}

/* ---- accounts ---- */

static void
put_counting_accounts(FILE *sql, const struct query *query)
{
	fputs(" AND (collector, agent, boot, if_index) GLOBAL NOT IN (", sql);
	sums_sql_accounts_passed_over(sql, mirror_place(query->mirror), "");
	fputs(") GROUP BY agent, boot, if_index", sql);
}

static bool
rest_of_accounts(FILE *sql, const struct query *query, unsigned i)
{
	put_from(sql, query, CLUSTER_ACCOUNTS, " FINAL");
	put_counting_accounts(sql, query);
	return i == 0;
}

static bool
rest_of_gone(FILE *sql, const struct query *query, unsigned i)
{
	put_from(sql, query, CLUSTER_GONE, " FINAL");
	put_counting_accounts(sql, query);
	return i == 0;
}

/* ---- events, and the collectors' outages and counters ---- */

static bool
rest_of_error_sources(FILE *sql, const struct query *query, unsigned i)
{
	put_from(sql, query, CLUSTER_ERROR_SOURCES, " FINAL");
	fputs(" GROUP BY agent, if_index, mac, kind", sql);
	return i == 0;
}

static bool
rest_of_oddities(FILE *sql, const struct query *query, unsigned i)
{
	put_from(sql, query, CLUSTER_ODDITIES, " FINAL");
	fputs(" GROUP BY agent, if_index, kind", sql);
	return i == 0;
}

static bool
rest_of_events(FILE *sql, const struct query *query, unsigned i)
{
	put_from(sql, query, CLUSTER_EVENTS, " FINAL");
	put_times(sql, query->fetch_range.from_us, query->fetch_range.to_us);
	fputs(" GROUP BY time_us, agent, boot, kind, if_index, mac, vlan, text"
	    " ORDER BY time_us, min(id)", sql);
	return i == 0;
}

static bool
rest_of_outages(FILE *sql, const struct query *query, unsigned i)
{
	fputs(" FROM ", sql);
	cluster_write_name(sql, mirror_place(query->mirror), &cluster_tables[CLUSTER_OUTAGES],
	    false);
	fputs(" FINAL ORDER BY until_us, id", sql);
	return i == 0;
}

/* Samples that another collector's count already. */
static void
put_passed_over(FILE *sql, const struct query *query)
{
	const struct cluster_place *place = mirror_place(query->mirror);
	uint64_t from_us = query->fetch_range.from_us, to_us = query->fetch_range.to_us;

	fputs("SELECT 'cluster.passed_over', toInt64(sum(received)) FROM ", sql);
	cluster_write_name(sql, place, &cluster_tables[CLUSTER_COVER], false);
	fprintf(sql, " FINAL WHERE start_us >= %" PRIu64 " AND start_us < %" PRIu64
	    " AND (collector, agent, start_us) GLOBAL IN (", from_us, to_us);
	sums_sql_passed_over(sql, place, false, from_us, to_us, "");
	fputs(")", sql);
}

static bool
rest_of_stats(FILE *sql, const struct query *query, unsigned i)
{
	if (i == 1)
		put_passed_over(sql, query);
	if (i > 0)
		return i == 1;
	fputs("SELECT name, sum(value) FROM ", sql);
	cluster_write_name(sql, mirror_place(query->mirror), &cluster_tables[CLUSTER_STATS], false);
	fputs(" FINAL GROUP BY name", sql);
	return true;
}

/* ---- discards ---- */

/* Of minutes that no collector has a cover of yet, each row of the collector that has most of it. */
static bool
rest_of_discards(FILE *sql, const struct query *query, unsigned i)
{
	const struct query_fetch_range *fetch_range = &query->fetch_range;
	uint64_t to_us = fetch_range->to_us < INT64_MAX ? fetch_range->to_us : INT64_MAX;

	put_from(sql, query, CLUSTER_DISCARDS, " FINAL");
	fprintf(sql, " AND start_us >= %" PRIu64 " AND start_us < %" PRIu64
	    " AND (agent, toUInt64(start_us)) GLOBAL %sIN (SELECT agent, start_us",
	    fetch_range->from_us < to_us ? fetch_range->from_us : to_us, to_us, i == 0 ? "" : "NOT ");
	put_from(sql, query, CLUSTER_COVER, "");
	fprintf(sql, " AND start_us >= %" PRIu64 " AND start_us < %" PRIu64 ")", fetch_range->from_us, to_us);
	if (i == 0) {
		fputs(" AND (collector, agent, toUInt64(start_us)) GLOBAL NOT IN (", sql);
		sums_sql_passed_over(sql, mirror_place(query->mirror), false, fetch_range->from_us, to_us, "");
		fputs(")", sql);
	} else {
		fputs(" ORDER BY n DESC LIMIT 1 BY " STORE_DISCARD_KEY, sql);
	}
	return i < 2;
}

/* ---- gaps between counters, and the minutes that other collectors have ---- */

static void
put_overlap(FILE *sql, const struct query *query)
{
	fprintf(sql, " AND until_us > %" PRIu64 " AND from_us < %" PRIu64,
	    query->fetch_range.from_us < INT64_MAX ? query->fetch_range.from_us : INT64_MAX,
	    query->fetch_range.to_us < INT64_MAX ? query->fetch_range.to_us : INT64_MAX);
}

static bool
rest_of_gaps(FILE *sql, const struct query *query, unsigned i)
{
	put_from(sql, query, CLUSTER_GAPS, " FINAL");
	put_overlap(sql, query);
	return i == 0;
}

static bool
rest_of_cover(FILE *sql, const struct query *query, unsigned i)
{
	put_from(sql, query, CLUSTER_COVER, " FINAL");
	fprintf(sql, " AND start_us >= %" PRIu64 " AND start_us < %" PRIu64
	    " AND agent GLOBAL IN (SELECT agent",
	    store_window_start(query->fetch_range.from_us, STORE_WINDOW_US),
	    query->fetch_range.to_us);
	put_from(sql, query, CLUSTER_GAPS, "");
	put_overlap(sql, query);
	fputs(") GROUP BY agent, collector, intDiv(start_us, 3600000000)", sql);
	return i == 0;
}

const struct mirror_table mirror_tables[MIRROR_N_TABLES + 1] = {
    /* what changes at a boot is from the collector that heard the agent last */
    {.name = "agent", .from = CLUSTER_AGENTS,
	.columns = "agent, boot, address, first_us, last_us, last_received_us, collector",
	.select = "agent, argMax(boot, last_received_us), argMax(address, last_received_us),"
		  " min(first_us), max(last_us), max(last_received_us), argMax(collector, last_received_us)",
	.insert = "INSERT INTO agent(agent_id, boot, address, first_us, last_us, last_received_us, collector)"
		  " VALUES(?,?,?,?,?,?,?)",
	.write_rest = rest_of_agents},
    /* of the collector that heard the agent last; what was refused, of all */
    {.name = "agent_clock", .from = CLUSTER_IDENTITIES,
	.columns = "agent, offset_us, offset_since_us",
	.select = "agent, argMax(offset_us, last_received_us),"
		  " argMax(offset_since_us, last_received_us)",
	.insert = "INSERT INTO agent_clock VALUES(?,?,?)", .write_rest = rest_of_clocks},
    {.name = "agent_source", .from = CLUSTER_IDENTITIES,
	.columns = "agent, source, source_since_us",
	.select = "agent, argMax(source, last_received_us),"
		  " argMax(source_since_us, last_received_us)",
	.insert = "INSERT INTO agent_source VALUES(?,?,?)", .write_rest = rest_of_sources},
    {.name = "agent_refused", .from = CLUSTER_IDENTITIES,
	.columns = "agent, records, refused_source, reason, first_refused_us, refused_us",
	.select = "agent, sum(records), argMax(refused_source, refused_us),"
		  " argMax(reason, refused_us), min(first_refused_us), max(refused_us)",
	.insert = "INSERT INTO agent_refused VALUES(?,?,?,?,?,?)", .write_rest = rest_of_refusals},
    {.name = "naming", .from = CLUSTER_NAMING, .columns = "collector, line, version, text",
	.write_rest = rest_of_naming},
    {.name = "port", .from = CLUSTER_PORT_STATES,
	.write_rest = rest_of_ports},
    {.name = "level", .from = CLUSTER_ROLLED, .columns = "level, kept_us, done_us",
	.select = "",
	.insert = "INSERT INTO level(minutes, kept_us, done_us, kind, shard, thinned_us)"
		  " VALUES(?,?,?,0,0,0)",
	.write_rest = rest_of_levels},
    {.name = "part", .from = CLUSTER_PORTS, .columns = "level, start_us",
	.select = "level, min(start_us)",
	.insert = "INSERT INTO part(level, start_us, kind, shard, chain, n, body)"
		  " VALUES(?,?,0,0,0,0,x'')",
	.write_rest = rest_of_parts},
    {.name = "sample", .from = CLUSTER_SAMPLES,
	.by_fetch_range = true, .write_rest = rest_of_samples},
    /* columns of the types of layer, address, agent, port, VLAN, first and last time, and how often */
    {.name = "place", .from = CLUSTER_SAMPLES,
	.columns = "direction, src_mac, agent, if_index, vlan, time_us, time_us, sequence", .select = "",
	.insert = "INSERT INTO place VALUES(?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET"
		  " vlan = CASE WHEN excluded.last_us >= last_us THEN excluded.vlan ELSE vlan END,"
		  " first_us = min(first_us, excluded.first_us), last_us = max(last_us, excluded.last_us),"
		  " seen = seen + excluded.seen",
	.by_fetch_range = true, .write_rest = rest_of_places},
    {.name = "counter", .from = CLUSTER_COUNTERS,
	.rows = QUERY_ROWS_AT_ENDS, .by_fetch_range = true, .write_rest = rest_of_counters},
    {.name = "counter", .from = CLUSTER_COUNTERS,
	.rows = QUERY_COUNTERS_WITHIN, .by_fetch_range = true, .write_rest = rest_of_counters_within},
    {.name = "counter", .from = CLUSTER_COUNTERS,
	.rows = QUERY_COUNTERS_OF_MINUTES, .by_fetch_range = true, .write_rest = rest_of_counters_of_minutes},
    {.name = "counter", .from = CLUSTER_COUNTERS,
	.columns = "agent, if_index, time_us, boot, received_us",
	.select = "agent, if_index, time_us, any(boot), any(received_us)",
	.insert = "INSERT INTO counter VALUES(?,?,?,?,?,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0)",
	.rows = QUERY_NEWEST_ROWS, .by_fetch_range = true, .write_rest = rest_of_newest_counters},
    /* when those with the least delay came: all of a range are many, and ports do not matter */
    {.name = "counter", .from = CLUSTER_COUNTERS,
	.columns = "agent, if_index, time_us, boot, received_us",
	.select = "agent, toInt64(0), tupleElement(least, 2), boot,"
		  " tupleElement(least, 1) + tupleElement(least, 2)",
	.insert = "INSERT INTO counter VALUES(?,?,?,?,?,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0)"
		  " ON CONFLICT DO UPDATE SET received_us ="
		  " min(received_us, excluded.received_us)",
	.rows = QUERY_ALL_ROWS, .by_fetch_range = true, .write_rest = rest_of_arrivals},
    {.name = "resource", .from = CLUSTER_RESOURCES,
	.rows = QUERY_ROWS_AT_ENDS, .by_fetch_range = true, .write_rest = rest_of_resources},
    /* a collector that takes over counts as expected what the agent sent before, too */
    {.name = "account", .from = CLUSTER_ACCOUNTS,
	.select = "agent, boot, if_index, max(expected), sum(received), sum(duplicates),"
		  " sum(reordered), sum(late), max(agent_drops), max(stalls), max(stalled_pkts),"
		  " min(first_us), max(last_us), max(base_us)",
	.write_rest = rest_of_accounts},
    {.name = "gone", .from = CLUSTER_GONE,
	.select = "agent, boot, if_index, sum(samples)", .write_rest = rest_of_gone},
    {.name = "error_source", .from = CLUSTER_ERROR_SOURCES,
	.select = "agent, if_index, mac, kind, argMax(boot, last_us), argMax(frames, last_us),"
		  " min(first_us), max(last_us)",
	.write_rest = rest_of_error_sources},
    /* two collectors have heard the same */
    {.name = "oddity", .from = CLUSTER_ODDITIES,
	.select = "agent, if_index, kind, max(n), min(first_us), max(last_us)", .write_rest = rest_of_oddities},
    {.name = "event", .from = CLUSTER_EVENTS,
	.columns = "time_us, agent, boot, kind, if_index, mac, vlan, text",
	.by_fetch_range = true, .write_rest = rest_of_events},
    {.name = "outage", .from = CLUSTER_OUTAGES, .columns = "since_us, until_us, kind, samples",
	.write_rest = rest_of_outages},
    {.name = "gap", .from = CLUSTER_GAPS,
	.columns = "agent, if_index, from_us, until_us, in_pkts, in_octets, out_pkts, out_octets,"
		   " in_cut_pkts, in_cut_octets, out_cut_pkts, out_cut_octets, collector",
	.insert = "INSERT INTO gap(agent, if_index, from_us, until_us, in_pkts, in_octets,"
		  " out_pkts, out_octets, in_cut_pkts, in_cut_octets, out_cut_pkts, out_cut_octets,"
		  " collector, received_us) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,0)",
	.by_fetch_range = true, .write_rest = rest_of_gaps},
    /* received has the bits of the minutes */
    {.name = "cover", .from = CLUSTER_COVER, .columns = "agent, collector, start_us, received",
	.select = "agent, collector, intDiv(start_us, 3600000000) * 3600000000,"
		  " groupBitOr(bitShiftLeft(toUInt64(1), intDiv(start_us % 3600000000,"
		  " 60000000)))",
	.insert = "INSERT INTO cover VALUES(?,?,?,?)",
	.by_fetch_range = true, .write_rest = rest_of_cover},
    /* what two collectors have of a minute each, because it changed over from one to the other, is added */
    {.name = "discard", .from = CLUSTER_DISCARDS,
	.insert = "INSERT INTO discard(" STORE_DISCARD_KEY ", n, received_us) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)"
		  " ON CONFLICT DO UPDATE SET n = n + excluded.n, received_us = max(received_us, excluded.received_us)",
	.by_fetch_range = true, .write_rest = rest_of_discards},
    {.name = "stat", .from = CLUSTER_STATS, .select = "",
	.by_fetch_range = true, .write_rest = rest_of_stats},
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
