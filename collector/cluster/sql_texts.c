#include "collector/cluster/sql.h"

/*
 * What does not count of several collectors' rows of the same thing. Of each it has tuples (received, collector, first,
 * last, expected). A tuple x does not count if there is a y that is greater (received more, or as much and has the
 * greater number), overlaps with x by at least half of the shorter range, and if both together received more samples
 * than expected, so that they cannot be different samples.
 */
#define PASSED_OVER(of, ends, rows)                                                                             \
	"SELECT tupleElement(lost, 2) AS collector, " of " FROM (SELECT " of ", arrayJoin(arrayFilter(\n"           \
	"  x -> arrayExists(y -> (tupleElement(y, 1), tupleElement(y, 2)) > (tupleElement(x, 1), tupleElement(x, 2))\n" \
	"    AND 2 * (toInt64(least(tupleElement(x, 4), tupleElement(y, 4)))\n"                                  \
	"      - toInt64(greatest(tupleElement(x, 3), tupleElement(y, 3))))\n"                                  \
	"    >= toInt64(least(tupleElement(x, 4) - tupleElement(x, 3), tupleElement(y, 4) - tupleElement(y, 3)))\n" \
	"    AND tupleElement(x, 1) + tupleElement(y, 1) > greatest(tupleElement(x, 5), tupleElement(y, 5)),\n"    \
	"  each), each)) AS lost\n"                                                                             \
	"  FROM (SELECT " of ", groupArray((received, collector, " ends ")) AS each\n"                              \
	"    FROM " rows "{and_more}\n"                                                                         \
	"    GROUP BY " of " HAVING count() > 1))"

const struct sql_text cluster_sql[CLUSTER_N_SQL] = {
    [CLUSTER_SQL_DATABASE] = {"database", "to begin with",
	"CREATE DATABASE IF NOT EXISTS {database}"},
    [CLUSTER_SQL_MIGRATION] = {"migration", "of which version a server's tables are",
	"CREATE TABLE IF NOT EXISTS {database}.migration (number UInt32) ENGINE = MergeTree ORDER BY number"},
    [CLUSTER_SQL_LOCAL_TABLE] = {"local_table", "a server's part of a table; without a cluster, the table",
	"CREATE TABLE IF NOT EXISTS {table_local} ({definitions}) ENGINE = ReplacingMergeTree(revision){partition_by}"
	" ORDER BY ({key})"},
    [CLUSTER_SQL_DISTRIBUTED_TABLE] = {"distributed_table", "the parts of all servers together",
	"CREATE TABLE IF NOT EXISTS {table} AS {table_local} ENGINE = Distributed('{cluster}', '{database}',"
	" '{name}_local'{shard})"},
    [CLUSTER_SQL_LOCAL_COLUMN] = {"local_column", "what a later version has that a table of an earlier one lacks",
	"ALTER TABLE {sample_local} {additions}"},
    [CLUSTER_SQL_DISTRIBUTED_COLUMN] = {"distributed_column", "the same of all servers together",
	"ALTER TABLE {sample} {additions}"},
    [CLUSTER_SQL_SEED] = {"seed", "without a row a level would look as if it were up to date",
	"INSERT INTO {rolled_local} (level) SELECT arrayJoin([{levels}])"},
    [CLUSTER_SQL_MIGRATED] = {"migrated", "the end of it",
	"INSERT INTO {database}.migration VALUES ({version})"},
    [CLUSTER_SQL_VERSION] = {"version", "what a server has; there is no table before a migration",
	"SELECT toUInt64(max(number)) FROM {database}.migration"},
    [CLUSTER_SQL_LEVELS] = {"levels",
	"windows that all servers have. A collector that is not in a level's list yet has index 0, and so revision 0",
	"SELECT level, kept, least(done, min(if(level > 1 AND from_us > 0\n"
	"    AND revision > revisions[indexOf(collectors, collector)], from_us, done)))\n"
	"FROM (SELECT level, max(kept) AS kept, minIf(done, collector = 0) AS done, groupArray(collector) AS collectors,\n"
	"    groupArray(rolled) AS revisions\n"
	"  FROM (SELECT level, collector, min(rolled_revision) AS rolled, max(kept_us) AS kept,\n"
	"      minIf(done_us, collector = 0) AS done\n"
	"    FROM {rolled} FINAL GROUP BY level, collector)\n"
	"  GROUP BY level) AS l\n"
	"CROSS JOIN (SELECT collector, revision, from_us FROM {cursor} FINAL) AS c\n"
	"GROUP BY level, kept, done"},
    [CLUSTER_SQL_PASSED_OVER] = {"passed_over",
	"minutes of collectors that do not count, as another one has more of the same. How many samples of a minute are"
	" expected is not known: 0 makes all that overlap the same",
	PASSED_OVER("agent, start_us", "low_us, high_us, toUInt64(0)", "{cover} FINAL WHERE {minutes}")},
    [CLUSTER_SQL_ACCOUNTS_PASSED_OVER] = {"accounts_passed_over",
	"the same of accounts. A collector that was away overlaps the one that replaced it: expected decides",
	PASSED_OVER("agent, boot, if_index", "first_us, last_us, expected", "{account} FINAL WHERE 1")},
    [CLUSTER_SQL_RETURNED] = {"returned", "minutes of collectors that another one had the minute before of, and they not",
	"SELECT collector, agent, start_us FROM {cover} WHERE {minutes}\n"
	"  AND (collector, agent, start_us) GLOBAL NOT IN\n"
	"    (SELECT collector, agent, start_us + 60000000 FROM {cover} WHERE {minutes})\n"
	"  AND (agent, start_us) GLOBAL IN (SELECT agent, start_us + 60000000 FROM {cover} WHERE {minutes})"},
    [CLUSTER_SQL_UNLESS_RETURNED] = {"unless_returned", "what a port's minute expects",
	"if(level = 1 AND (collector, agent, start_us) GLOBAL IN ({returned}), {instead}, {column})"},
    [CLUSTER_SQL_COUNTING_ROWS] = {"counting_rows",
	"rows of keys, ports or folded that count, each once. What is of the key may stand in PREWHERE, before FINAL",
	" FROM {rows} FINAL{join} PREWHERE ({windows}){and_where}\n"
	"  WHERE {unless_passed_over}"},
    [CLUSTER_SQL_UNLESS_PASSED_OVER] = {"unless_passed_over", "where there are minutes among them, else 1",
	"NOT (level = 1 AND (collector, agent, start_us) GLOBAL IN ({passed_over}))"},
};
