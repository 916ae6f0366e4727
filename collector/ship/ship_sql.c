#include "collector/ship/ship_sql.h"

const struct sql_text ship_sql[SHIP_N_SQL] = {
    [SHIP_SQL_UPTIME] = {"uptime", "of each server: less than before says that it was restarted",
	"SELECT toUInt64(uptime())"},
    [SHIP_SQL_NEWEST] = {"newest", "what the cluster knows of this collector",
	"SELECT max(revision), max(time_us), max(newest_us), max(closed_us) FROM {cursor} WHERE collector = {me}"},
    [SHIP_SQL_REVISION] = {"revision", "the same of a table whose rows, unlike those of cursor, are never dropped",
	"SELECT max(revision) FROM {collector} WHERE collector = {me}"},
    [SHIP_SQL_CURSOR] = {"cursor", "from where on all is sent again after a start",
	"SELECT part_id, event_id, outage_id, received_us FROM {cursor}\n"
	"WHERE collector = {me} AND time_us <= {to_us} ORDER BY revision DESC LIMIT 1"},
    [SHIP_SQL_ROWS] = {"rows", "of each table, with the rows behind it",
	"INSERT INTO {table} ({columns}) FORMAT RowBinary"},
    [SHIP_SQL_BATCH] = {"batch", "says that a batch is complete; not as RowBinary, which has no now() for the cluster's clock",
	"INSERT INTO {cursor} ({columns}) VALUES ({me}, toUInt64(now()) * 1000000, {part_id}, {event_id}, {outage_id},"
	" {received_us}, {from_us}, {to_us}, {closed_us}, {newest_us}, {missed_minutes}, {revision})"},
    [SHIP_SQL_COLLECTORS] = {"collectors", "who has shipped, and how far",
	"SELECT collector, max(revision), max(closed_us), max(newest_us), max(time_us), toUInt64(now()) * 1000000\n"
	"FROM {cursor} GROUP BY collector ORDER BY collector"},
    [SHIP_SQL_ROLLED] = {"rolled", "how far a server has rolled up",
	"SELECT toUInt64(level), collector, rolled_revision, done_us, kept_us, revision FROM {rolled_local} FINAL"},
    [SHIP_SQL_DIRTY_RANGE] = {"dirty_range", "the minutes of batches that are not in a level yet",
	"SELECT min(from_us), max(to_us) FROM {cursor} WHERE from_us > 0 AND ({dirty})"},
    [SHIP_SQL_DIRTY_WINDOWS] = {"dirty_windows", "the windows that they make anew",
	"SELECT DISTINCT intDiv(start_us, {span_us}) * {span_us} AS w FROM {cover_local}\n"
	"WHERE start_us >= {from_us} AND start_us < {to_us} AND ({dirty}) ORDER BY w"},
    [SHIP_SQL_NEW_WINDOWS] = {"new_windows", "windows that have ended since",
	"SELECT DISTINCT intDiv(start_us, {span_us}) * {span_us} AS w FROM {cover_local}\n"
	"WHERE start_us >= {from_us} AND start_us < {to_us} ORDER BY w LIMIT {most}"},
    [SHIP_SQL_SUMS] = {"sums",
	"makes windows of ports, folded or keys (of one kind each time, so that they fit into the server's memory) out of the\n"
	"-- level below. The revision of a row is the sum of those of its minutes: it grows whenever one is sent again, and is\n"
	"-- the same whichever collector has it computed. and_dirty_agents and or_former: where windows are made anew",
	"INSERT INTO {table_local} (level, start_us, collector, agent, {key}, {names}, revision)"
	" SELECT {level}, window_us, 0, agent, {key}, {sums}, revision\n"
	"FROM (SELECT intDiv(start_us, {span_us}) * {span_us} AS window_us, agent, {key}, {values}\n"
	" {counting_rows}{and_dirty_agents}\n"
	"  {or_former}) AS s\n"
	"ALL INNER JOIN (SELECT intDiv(start_us, {span_us}) * {span_us} AS window_us, agent, sum(revision) AS revision\n"
	"  FROM {cover_local} FINAL WHERE start_us >= {from_us} AND start_us < {to_us} GROUP BY window_us, agent) AS r\n"
	"USING (window_us, agent) GROUP BY window_us, agent, {key}, revision"},
    [SHIP_SQL_DIRTY_AGENTS] = {"and_dirty_agents", "only of agents with minutes that are not in the level yet",
	" AND agent IN (SELECT agent FROM {cover_local} WHERE start_us >= {from_us} AND start_us < {to_us} AND ({dirty}))"},
    [SHIP_SQL_FORMER] = {"or_former", "zeros for keys that a window has already: a collector of theirs may no longer count",
	"UNION ALL SELECT intDiv(start_us, {span_us}) * {span_us} AS window_us, agent, {key}, {zeros} FROM {table_local}\n"
	"  WHERE level = {level}{and_kind} AND start_us >= {from_us} AND start_us < {to_us}{and_dirty_agents}"},
    [SHIP_SQL_ENDS] = {"ends",
	"of counters and resources the first and the last ones of each window, port and boot (stretch)",
	"INSERT INTO {table_local} ({columns}) SELECT {level}, {further_columns}\n"
	"FROM {table_local} FINAL WHERE level = {below} AND time_us >= {from_us} AND time_us < {to_us}\n"
	"  AND (agent, if_index, time_us) IN (SELECT agent, if_index, arrayJoin([min(time_us), max(time_us)])\n"
	"    FROM {table_local} WHERE level = {below} AND time_us >= {from_us} AND time_us < {to_us}\n"
	"    GROUP BY agent, if_index, {stretch}, intDiv(time_us, {span_us}) * {span_us})"},
    [SHIP_SQL_SAVE] = {"save",
	"how far it is now: rolled_collectors are such rows of all collectors, in one block, so that no reader sees a part",
	"INSERT INTO {rolled_local} ({columns}) VALUES ({level}, 0, 0, {done_us}, {kept_us}, {now_us}){rolled_collectors}"},
    [SHIP_SQL_PARTITIONS] = {"partitions", "what may be old: \"(LEVEL,NUMBER)\" or \"NUMBER\"",
	"SELECT DISTINCT toUInt64(indexOf([{tables}], table) AS i),\n"
	"  toUInt64(if(partition LIKE '(%', extract(partition, '^.([0-9]+),'), '0')),\n"
	"  toUInt64(extract(partition, '([0-9]+).?$'))\n"
	"FROM system.parts WHERE database = '{database}' AND active AND i > 0 AND match(partition, '^[(0-9]')"},
    [SHIP_SQL_DROP] = {"drop", "what is old",
	"ALTER TABLE {table_local} DROP PARTITION {partition}"},
    [SHIP_SQL_COUNT_OLD] = {"count_old", "rows of tables without partitions, by the conditions below",
	"SELECT count() FROM {table_local} WHERE {old}"},
    [SHIP_SQL_DELETE_OLD] = {"delete_old", "the server deletes them by itself some time after it was asked",
	"ALTER TABLE {table_local} DELETE WHERE {old}"},
};

/* Of a port the state at that time stays, unless its agent has been silent since. An agent leaves once nothing hangs
 * on it. */
const struct ship_old_rows ship_old_rows[SHIP_N_OLD_ROWS] = {
    {CLUSTER_ACCOUNTS, "last_us < {before_us}"},
    {CLUSTER_GONE, "(agent, boot, if_index) NOT IN (SELECT agent, boot, if_index FROM {account_local})"},
    {CLUSTER_PORT_STATES, "since_us < {before_us} AND ((agent, if_index, since_us) NOT IN (SELECT agent, if_index,"
	" max(since_us) FROM {port_local} WHERE since_us <= {before_us} GROUP BY agent, if_index) OR agent IN (SELECT agent"
	" FROM {agent_local} GROUP BY agent HAVING max(last_us) < {before_us}))"},
    {CLUSTER_ERROR_SOURCES, "last_us < {before_us}"},
    {CLUSTER_ODDITIES, "last_us < {before_us}"},
    {CLUSTER_LINKS, "seen_us < {before_us}"},
    {CLUSTER_OUTAGES, "until_us < {before_us}"},
    {CLUSTER_IDENTITIES, "last_received_us < {before_us}"},
    {CLUSTER_NAMING, "(collector, version) NOT IN (SELECT collector, max(version) FROM {naming_local} GROUP BY collector)"},
    {CLUSTER_AGENTS, "last_us < {before_us} AND last_received_us < {before_us} AND agent NOT IN (SELECT agent FROM"
	" {port_local}) AND agent NOT IN (SELECT agent FROM {account_local})"},
};

void
ship_print_sql(FILE *out, const struct cluster_place *place)
{
	sql_print(out, place, ship_sql, SHIP_N_SQL);
	for (size_t i = 0; i < SHIP_N_OLD_ROWS; i++) {
		sql_write(out, SQL(place, &cluster_tables[ship_old_rows[i].table], ship_sql[SHIP_SQL_DELETE_OLD].text,
		    SQL_TEXT("old", ship_old_rows[i].old)));
		fputs(";\n", out);
	}
}
