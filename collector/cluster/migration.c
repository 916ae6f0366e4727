#include "collector/cluster/migration.h"

#include <string.h>

static void
write_partition(FILE *out, const void *of)
{
	const struct cluster_table *table = of;

	if (table->partition == CLUSTER_KEPT)
		return;
	fputs(" PARTITION BY ", out);
	if (table->partition != CLUSTER_BY_LEVEL) {
		fprintf(out, "intDiv(%s, %llu)", table->time,
		    (unsigned long long)(table->partition == CLUSTER_BY_DAY ? STORE_DAY_US : 30 * STORE_DAY_US));
		return;
	}
	fputs("(level, multiIf(", out);
	for (int l = LEVEL_1_MIN; l < LEVEL_1_D; l++)
		fprintf(out, "level = %u, intDiv(%s, %llu), ", store_levels[l].minutes,
		    table->time, (unsigned long long)store_levels[l].partition_us);
	fprintf(out, "intDiv(%s, %llu)))", table->time, (unsigned long long)store_levels[LEVEL_1_D].partition_us);
}

static void
write_definitions(FILE *out, const void *of)
{
	const struct cluster_table *table = of;

	for (size_t i = 0; i < cluster_n_columns(table); i++)
		fprintf(out, "%s%s %s", i > 0 ? ", " : "", cluster_column(table, i).name,
		    cluster_type_names[cluster_column(table, i).type]);
}

static void
write_shard(FILE *out, const void *of)
{
	const struct cluster_table *table = of;

	if (table->shard)
		fprintf(out, ", cityHash64(%s)", table->shard);
}

static void
write_levels(FILE *out, const void *none)
{
	(void)none;
	for (int l = LEVEL_1_MIN; l < CLUSTER_LEVELS_END; l++)
		fprintf(out, "%s%u", l == LEVEL_1_MIN ? "" : ", ", store_levels[l].minutes);
}

/* The columns that versions gave the table of samples. One statement, so that a server has all of them or none. */
static const struct {
	int64_t version;
	const char *columns;
} added[] = {{10, "ADD COLUMN vni Nullable(Int64)"},
    {11, "ADD COLUMN src_as Nullable(Int64), ADD COLUMN dst_as Nullable(Int64)"},
    {12, "ADD COLUMN queue Nullable(Int64), ADD COLUMN depth_octets Nullable(Int64), ADD COLUMN delay_ns Nullable(Int64)"}};
enum { N_ADDED = sizeof(added) / sizeof(added[0]) };

/* The first of them that tables of a version lack; of version 0 there are none. */
static size_t
first_lacking(int64_t version)
{
	size_t i = version > 0 ? 0 : N_ADDED;

	while (i < N_ADDED && added[i].version <= version)
		i++;
	return i;
}

/* In this order, with the tables, and columns of such as are there, between the first two and the others. */
static enum cluster_sql_id
migration_text(size_t i, size_t n_tables, size_t n_columns, size_t kinds)
{
	if (i < 2)
		return i == 0 ? CLUSTER_SQL_DATABASE : CLUSTER_SQL_MIGRATION;
	if (i - 2 < n_tables)
		return (i - 2) % kinds == 0 ? CLUSTER_SQL_LOCAL_TABLE : CLUSTER_SQL_DISTRIBUTED_TABLE;
	if (i - 2 < n_tables + n_columns)
		return (i - 2) % kinds == 0 ? CLUSTER_SQL_LOCAL_COLUMN : CLUSTER_SQL_DISTRIBUTED_COLUMN;
	return i - 2 == n_tables + n_columns ? CLUSTER_SQL_SEED : CLUSTER_SQL_MIGRATED;
}

bool
cluster_migration(struct sql *sql, struct sql_value values[SQL_VALUES_MAX], const struct cluster_place *place,
    int64_t version, size_t i)
{
	size_t kinds = cluster_is_sharded(place) ? 2 : 1, n = CLUSTER_N_TABLES * kinds, first = first_lacking(version);
	size_t n_columns = (N_ADDED - first) * kinds, column = i - 2 - n;
	const struct cluster_table *table = &cluster_tables[i >= 2 && i - 2 < n ? (i - 2) / kinds : 0];
	const char *additions = column < n_columns ? added[first + column / kinds].columns : "";
	const struct sql_value given[SQL_VALUES_MAX] = {SQL_TEXT("name", table->name), SQL_TEXT("key", table->key),
	    SQL_WRITE("definitions", write_definitions, table), SQL_WRITE("partition_by", write_partition, table),
	    SQL_WRITE("shard", write_shard, table), SQL_WRITE("levels", write_levels, NULL),
	    SQL_U64("version", CLUSTER_VERSION), SQL_TEXT("additions", additions)};

	if (i >= n + n_columns + 4)
		return false;
	memcpy(values, given, sizeof(given));
	*sql = (struct sql){place, table, cluster_sql[migration_text(i, n, n_columns, kinds)].text, values};
	return true;
}

bool
cluster_write_migration(FILE *out, const struct cluster_place *place, int64_t version, size_t i)
{
	struct sql_value values[SQL_VALUES_MAX];
	struct sql sql;
	bool more = cluster_migration(&sql, values, place, version, i);

	if (more)
		sql_write(out, &sql);
	return more;
}
