#include "collector/cluster/schema.h"

#include <string.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define COLUMNS(array) (array), N(array)

const char *const cluster_type_names[CLUSTER_N_TYPES] = {
    [CLUSTER_U8] = "UInt8",
    [CLUSTER_U16] = "UInt16",
    [CLUSTER_U32] = "UInt32",
    [CLUSTER_U64] = "UInt64",
    [CLUSTER_I64] = "Int64",
    [CLUSTER_F64] = "Float64",
    [CLUSTER_TEXT] = "String",
    [CLUSTER_AGENT_ID] = "FixedString(8)",
    [CLUSTER_I64_OR_NULL] = "Nullable(Int64)",
    [CLUSTER_TEXT_OR_NULL] = "Nullable(String)",
};

/* Columns */

#define SUMS                                                                                       \
	{"n", CLUSTER_U64}, {"w", CLUSTER_F64}, {"w2", CLUSTER_F64}, {"wb", CLUSTER_F64},          \
	{"wb2", CLUSTER_F64}, {"w2b2", CLUSTER_F64}, {"any_pkts", CLUSTER_F64},                \
	{"any_octets", CLUSTER_F64}

/* level: minutes of the window; kind: enum store_key_kind; collector: 0 where rolled up */
static const struct cluster_column key_columns[] = {
    {"level", CLUSTER_U16}, {"kind", CLUSTER_U8}, {"start_us", CLUSTER_U64},
    {"agent", CLUSTER_AGENT_ID}, {"if_index", CLUSTER_U32}, {"direction", CLUSTER_U8},
    {"key1", CLUSTER_TEXT}, {"key2", CLUSTER_TEXT}, {"collector", CLUSTER_I64}, SUMS,
    {"same_pkts", CLUSTER_F64}, {"same_octets", CLUSTER_F64}, {"same1_pkts", CLUSTER_F64},
    {"same1_octets", CLUSTER_F64}, {"same2_pkts", CLUSTER_F64}, {"same2_octets", CLUSTER_F64},
    {"revision", CLUSTER_U64},
};

/* expected, received and cut_numbers are of the port, in the row of the receiving direction; corrections
 * may be below zero */
static const struct cluster_column port_columns[] = {
    {"level", CLUSTER_U16}, {"start_us", CLUSTER_U64}, {"agent", CLUSTER_AGENT_ID},
    {"if_index", CLUSTER_U32}, {"direction", CLUSTER_U8}, {"collector", CLUSTER_I64}, SUMS,
    {"pool_pkts", CLUSTER_F64}, {"pool_octets", CLUSTER_F64}, {"expected", CLUSTER_F64},
    {"received", CLUSTER_F64}, {"cut_pkts", CLUSTER_F64}, {"cut_octets", CLUSTER_F64},
    {"cut_numbers", CLUSTER_F64}, {"w_max", CLUSTER_F64}, {"revision", CLUSTER_U64},
};

static const struct cluster_column folded_columns[] = {
    {"level", CLUSTER_U16}, {"kind", CLUSTER_U8}, {"start_us", CLUSTER_U64},
    {"agent", CLUSTER_AGENT_ID}, {"if_index", CLUSTER_U32}, {"direction", CLUSTER_U8},
    {"collector", CLUSTER_I64}, {"n", CLUSTER_U64}, {"most_n", CLUSTER_U64},
    {"revision", CLUSTER_U64},
};

/* A collector's data of a minute of an agent: samples, and the device's times of the first and the
 * last sample or counter snapshot. Of collectors whose times overlap the one with most samples
 * counts. */
static const struct cluster_column cover_columns[] = {
    {"start_us", CLUSTER_U64}, {"agent", CLUSTER_AGENT_ID}, {"collector", CLUSTER_I64},
    {"received", CLUSTER_U64}, {"low_us", CLUSTER_U64}, {"high_us", CLUSTER_U64},
    {"revision", CLUSTER_U64},
};

static const struct cluster_column agent_columns[] = {
    {"agent", CLUSTER_AGENT_ID}, {"collector", CLUSTER_I64}, {"boot", CLUSTER_I64},
    {"address", CLUSTER_TEXT}, {"first_us", CLUSTER_I64}, {"last_us", CLUSTER_I64},
    {"last_received_us", CLUSTER_I64}, {"revision", CLUSTER_U64},
};

static const struct cluster_column port_state_columns[] = {
    {"agent", CLUSTER_AGENT_ID}, {"if_index", CLUSTER_I64}, {"since_us", CLUSTER_I64},
    {"boot", CLUSTER_I64}, {"name", CLUSTER_TEXT}, {"alias", CLUSTER_TEXT},
    {"speed_bps", CLUSTER_I64}, {"duplex", CLUSTER_I64}, {"admin_status", CLUSTER_I64},
    {"oper_status", CLUSTER_I64}, {"lag_parent", CLUSTER_I64}, {"edge", CLUSTER_I64},
    {"collector", CLUSTER_I64}, {"revision", CLUSTER_U64},
};

static const struct cluster_column sample_columns[] = {
    {"agent", CLUSTER_AGENT_ID}, {"boot", CLUSTER_I64}, {"if_index", CLUSTER_I64},
    {"sequence", CLUSTER_I64}, {"time_us", CLUSTER_I64}, {"direction", CLUSTER_I64},
    {"input_if", CLUSTER_I64}, {"output_if", CLUSTER_I64}, {"skip", CLUSTER_I64},
    {"mean_skip", CLUSTER_I64}, {"pool_pkts", CLUSTER_I64}, {"frame_octets", CLUSTER_I64},
    {"src_mac", CLUSTER_TEXT_OR_NULL}, {"dst_mac", CLUSTER_TEXT_OR_NULL},
    {"vlan", CLUSTER_I64_OR_NULL}, {"ethertype", CLUSTER_I64_OR_NULL},
    {"src_ip", CLUSTER_TEXT_OR_NULL}, {"dst_ip", CLUSTER_TEXT_OR_NULL},
    {"ip_proto", CLUSTER_I64_OR_NULL}, {"src_port", CLUSTER_I64_OR_NULL},
    {"dst_port", CLUSTER_I64_OR_NULL}, {"stands_for", CLUSTER_I64},
    {"inner_src_ip", CLUSTER_TEXT_OR_NULL}, {"inner_dst_ip", CLUSTER_TEXT_OR_NULL},
    {"collector", CLUSTER_I64}, {"revision", CLUSTER_U64},
};

/* level 1: all; 5, 60, 1440: those at the ends of windows of this length, see store/retention.h */
static const struct cluster_column counter_columns[] = {
    {"level", CLUSTER_U16}, {"agent", CLUSTER_AGENT_ID}, {"if_index", CLUSTER_I64},
    {"time_us", CLUSTER_I64}, {"boot", CLUSTER_I64}, {"received_us", CLUSTER_I64},
    {"in_octets", CLUSTER_I64}, {"in_ucast", CLUSTER_I64}, {"in_mcast", CLUSTER_I64},
    {"in_bcast", CLUSTER_I64}, {"in_discards", CLUSTER_I64}, {"in_errors", CLUSTER_I64},
    {"out_octets", CLUSTER_I64}, {"out_ucast", CLUSTER_I64}, {"out_mcast", CLUSTER_I64},
    {"out_bcast", CLUSTER_I64}, {"out_discards", CLUSTER_I64}, {"out_errors", CLUSTER_I64},
    {"discontinuity_us", CLUSTER_I64}, {"samples", CLUSTER_I64}, {"last_sequence", CLUSTER_I64},
    {"pool_in", CLUSTER_I64}, {"pool_out", CLUSTER_I64}, {"drops", CLUSTER_I64},
    {"stalls", CLUSTER_I64}, {"stalled_pkts", CLUSTER_I64}, {"collector", CLUSTER_I64},
    {"revision", CLUSTER_U64},
};

static const struct cluster_column resource_columns[] = {
    {"level", CLUSTER_U16}, {"agent", CLUSTER_AGENT_ID}, {"if_index", CLUSTER_I64},
    {"time_us", CLUSTER_I64}, {"boot", CLUSTER_I64}, {"known", CLUSTER_I64},
    {"in_events", CLUSTER_I64}, {"in_asleep_us", CLUSTER_I64}, {"out_events", CLUSTER_I64},
    {"out_asleep_us", CLUSTER_I64}, {"charged", CLUSTER_I64}, {"pressed_episodes", CLUSTER_I64},
    {"pressed_us", CLUSTER_I64}, {"ingress_drops", CLUSTER_I64}, {"pauses_in", CLUSTER_I64},
    {"pauses_out", CLUSTER_I64}, {"collector", CLUSTER_I64}, {"revision", CLUSTER_U64},
};

static const struct cluster_column error_source_columns[] = {
    {"agent", CLUSTER_AGENT_ID}, {"if_index", CLUSTER_I64}, {"mac", CLUSTER_TEXT},
    {"kind", CLUSTER_I64}, {"boot", CLUSTER_I64}, {"frames", CLUSTER_I64},
    {"first_us", CLUSTER_I64}, {"last_us", CLUSTER_I64}, {"collector", CLUSTER_I64},
    {"revision", CLUSTER_U64},
};

static const struct cluster_column account_columns[] = {
    {"agent", CLUSTER_AGENT_ID}, {"boot", CLUSTER_I64}, {"if_index", CLUSTER_I64},
    {"expected", CLUSTER_I64}, {"received", CLUSTER_I64}, {"duplicates", CLUSTER_I64},
    {"reordered", CLUSTER_I64}, {"late", CLUSTER_I64}, {"agent_drops", CLUSTER_I64},
    {"stalls", CLUSTER_I64}, {"stalled_pkts", CLUSTER_I64}, {"first_us", CLUSTER_I64},
    {"last_us", CLUSTER_I64}, {"base_us", CLUSTER_I64_OR_NULL}, {"collector", CLUSTER_I64},
    {"revision", CLUSTER_U64},
};

static const struct cluster_column gone_columns[] = {
    {"agent", CLUSTER_AGENT_ID}, {"boot", CLUSTER_I64}, {"if_index", CLUSTER_I64},
    {"samples", CLUSTER_I64}, {"collector", CLUSTER_I64}, {"revision", CLUSTER_U64},
};

/* id: of the store, which orders events of the same time */
static const struct cluster_column event_columns[] = {
    {"agent", CLUSTER_AGENT_ID}, {"time_us", CLUSTER_I64}, {"id", CLUSTER_I64},
    {"boot", CLUSTER_I64}, {"kind", CLUSTER_I64}, {"if_index", CLUSTER_I64},
    {"mac", CLUSTER_TEXT_OR_NULL}, {"vlan", CLUSTER_I64_OR_NULL},
    {"identity", CLUSTER_I64_OR_NULL}, {"text", CLUSTER_TEXT_OR_NULL}, {"collector", CLUSTER_I64},
    {"revision", CLUSTER_U64},
};

static const struct cluster_column outage_columns[] = {
    {"id", CLUSTER_I64}, {"since_us", CLUSTER_I64}, {"until_us", CLUSTER_I64},
    {"kind", CLUSTER_I64}, {"samples", CLUSTER_I64_OR_NULL}, {"collector", CLUSTER_I64},
    {"revision", CLUSTER_U64},
};

static const struct cluster_column stat_columns[] = {
    {"name", CLUSTER_TEXT}, {"value", CLUSTER_I64}, {"collector", CLUSTER_I64},
    {"revision", CLUSTER_U64},
};

/* host and store: names of the machine and the file, for messages; heard_us: by the collector's
 * clock */
static const struct cluster_column collector_columns[] = {
    {"collector", CLUSTER_I64}, {"host", CLUSTER_TEXT}, {"store", CLUSTER_TEXT},
    {"version", CLUSTER_TEXT}, {"heard_us", CLUSTER_U64}, {"revision", CLUSTER_U64},
};

/*
 * One row for each batch that has arrived completely. The collector continues after the newest one:
 * the cluster has the rows of the store's part, event and outage up to these ids, and the data that
 * had arrived by received_us. [from_us, to_us) contains all minutes of the batch (0, 0: none);
 * minutes are complete up to closed_us, except for late samples; newest_us is the end of the newest
 * minute sent; time_us is by the cluster's clock.
 */
static const struct cluster_column cursor_columns[] = {
    {"collector", CLUSTER_I64}, {"time_us", CLUSTER_U64}, {"part_id", CLUSTER_I64},
    {"event_id", CLUSTER_I64}, {"outage_id", CLUSTER_I64}, {"received_us", CLUSTER_I64},
    {"from_us", CLUSTER_U64}, {"to_us", CLUSTER_U64}, {"closed_us", CLUSTER_U64},
    {"newest_us", CLUSTER_U64}, {"missed_minutes", CLUSTER_U64}, {"revision", CLUSTER_U64},
};

/*
 * How far a server has rolled up its minutes. The row of collector 0: all windows that end by
 * done_us are made, and those before kept_us dropped. The row of a collector: its minutes whose
 * cover has a revision up to rolled_revision are rolled up. revision is the time of this, by the
 * server's clock.
 */
static const struct cluster_column rolled_columns[] = {
    {"level", CLUSTER_U16}, {"collector", CLUSTER_I64}, {"rolled_revision", CLUSTER_U64},
    {"done_us", CLUSTER_U64}, {"kept_us", CLUSTER_U64}, {"revision", CLUSTER_U64},
};

static const struct cluster_column gap_columns[] = {
    {"agent", CLUSTER_AGENT_ID}, {"if_index", CLUSTER_I64}, {"from_us", CLUSTER_I64},
    {"until_us", CLUSTER_I64}, {"received_us", CLUSTER_I64}, {"in_pkts", CLUSTER_I64},
    {"in_octets", CLUSTER_I64}, {"out_pkts", CLUSTER_I64}, {"out_octets", CLUSTER_I64},
    {"in_cut_pkts", CLUSTER_I64}, {"in_cut_octets", CLUSTER_I64}, {"out_cut_pkts", CLUSTER_I64},
    {"out_cut_octets", CLUSTER_I64}, {"collector", CLUSTER_I64}, {"revision", CLUSTER_U64},
};

/*
 * What a collector's store has of an agent in agent_clock, agent_source and agent_refused: 0 and "" where it has
 * nothing, so that a row says when something no longer holds. refused_us: of the newest one refused.
 */
static const struct cluster_column identity_columns[] = {
    {"agent", CLUSTER_AGENT_ID}, {"offset_us", CLUSTER_I64}, {"offset_since_us", CLUSTER_I64},
    {"source", CLUSTER_TEXT}, {"source_since_us", CLUSTER_I64}, {"records", CLUSTER_I64},
    {"refused_source", CLUSTER_TEXT}, {"reason", CLUSTER_I64}, {"first_refused_us", CLUSTER_I64},
    {"refused_us", CLUSTER_I64}, {"last_received_us", CLUSTER_I64}, {"collector", CLUSTER_I64},
    {"revision", CLUSTER_U64},
};

/* Device names (collector/store/naming.h). Of a collector the rows of the highest version count. */
static const struct cluster_column naming_columns[] = {
    {"line", CLUSTER_I64}, {"version", CLUSTER_I64}, {"text", CLUSTER_TEXT}, {"collector", CLUSTER_I64},
    {"revision", CLUSTER_U64},
};

/* As the store has them at that moment: n grows while more of the same come. */
static const struct cluster_column discard_columns[] = {
    {"agent", CLUSTER_AGENT_ID}, {"start_us", CLUSTER_I64}, {"if_index", CLUSTER_I64}, {"kind", CLUSTER_I64},
    {"output_if", CLUSTER_I64}, {"reason", CLUSTER_I64}, {"detail", CLUSTER_TEXT}, {"place", CLUSTER_TEXT},
    {"trap_group", CLUSTER_TEXT}, {"src", CLUSTER_TEXT}, {"dst", CLUSTER_TEXT}, {"n", CLUSTER_I64},
    {"received_us", CLUSTER_I64}, {"collector", CLUSTER_I64}, {"revision", CLUSTER_U64},
};

/* Tables */

const struct cluster_table cluster_tables[CLUSTER_N_TABLES] = {
    [CLUSTER_KEYS] = {"keys", COLUMNS(key_columns),
	"level, kind, start_us, agent, if_index, direction, key1, key2, collector", "start_us",
	CLUSTER_BY_LEVEL, "agent"},
    [CLUSTER_PORTS] = {"ports", COLUMNS(port_columns),
	"level, start_us, agent, if_index, direction, collector", "start_us", CLUSTER_BY_LEVEL,
	"agent"},
    [CLUSTER_FOLDED] = {"folded", COLUMNS(folded_columns),
	"level, kind, start_us, agent, if_index, direction, collector", "start_us",
	CLUSTER_BY_LEVEL, "agent"},
    [CLUSTER_COVER] = {"cover", COLUMNS(cover_columns), "start_us, agent, collector", "start_us",
	CLUSTER_BY_DAY, "agent"},
    [CLUSTER_AGENTS] = {"agent", COLUMNS(agent_columns), "agent, collector", NULL, CLUSTER_KEPT,
	"agent"},
    [CLUSTER_PORT_STATES] = {"port", COLUMNS(port_state_columns),
	"agent, if_index, since_us, collector", NULL, CLUSTER_KEPT, "agent"},
    [CLUSTER_SAMPLES] = {"sample", COLUMNS(sample_columns),
	"agent, boot, if_index, sequence, collector", "time_us", CLUSTER_BY_DAY, "agent"},
    [CLUSTER_COUNTERS] = {"counter", COLUMNS(counter_columns),
	"level, agent, if_index, time_us, collector", "time_us", CLUSTER_BY_LEVEL, "agent"},
    [CLUSTER_RESOURCES] = {"resource", COLUMNS(resource_columns),
	"level, agent, if_index, time_us, collector", "time_us", CLUSTER_BY_LEVEL, "agent"},
    [CLUSTER_ERROR_SOURCES] = {"error_source", COLUMNS(error_source_columns),
	"agent, if_index, mac, kind, collector", NULL, CLUSTER_KEPT, "agent"},
    [CLUSTER_ACCOUNTS] = {"account", COLUMNS(account_columns), "agent, boot, if_index, collector",
	NULL, CLUSTER_KEPT, "agent"},
    [CLUSTER_GONE] = {"gone", COLUMNS(gone_columns), "agent, boot, if_index, collector", NULL,
	CLUSTER_KEPT, "agent"},
    [CLUSTER_EVENTS] = {"event", COLUMNS(event_columns), "agent, time_us, id, collector",
	"time_us", CLUSTER_BY_MONTH, "agent"},
    [CLUSTER_OUTAGES] = {"outage", COLUMNS(outage_columns), "collector, id", NULL, CLUSTER_KEPT,
	"collector"},
    [CLUSTER_STATS] = {"stat", COLUMNS(stat_columns), "collector, name", NULL, CLUSTER_KEPT,
	"collector"},
    [CLUSTER_COLLECTORS] = {"collector", COLUMNS(collector_columns), "collector", NULL,
	CLUSTER_KEPT, "collector"},
    [CLUSTER_CURSORS] = {"cursor", COLUMNS(cursor_columns), "collector, revision", "time_us",
	CLUSTER_BY_DAY, "collector"},
    [CLUSTER_ROLLED] = {"rolled", COLUMNS(rolled_columns), "level, collector", NULL,
	CLUSTER_KEPT, NULL},
    [CLUSTER_GAPS] = {"gap", COLUMNS(gap_columns), "agent, if_index, until_us, from_us, collector",
	"until_us", CLUSTER_BY_MONTH, "agent"},
    [CLUSTER_IDENTITIES] = {"agent_identity", COLUMNS(identity_columns), "agent, collector", NULL,
	CLUSTER_KEPT, "agent"},
    [CLUSTER_NAMING] = {"naming", COLUMNS(naming_columns), "collector, line", NULL, CLUSTER_KEPT, "collector"},
    [CLUSTER_DISCARDS] = {"discard", COLUMNS(discard_columns), STORE_DISCARD_KEY ", collector", "start_us",
	CLUSTER_BY_MONTH, "agent"},
};

/* Names */

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

static bool
is_name(const char *name, const char *further)
{
	size_t n = strlen(name);

	return n > 0 && n <= 64 && strchr(LETTERS, *name) && strspn(name, further) == n;
}

bool
cluster_is_database_name(const char *name)
{
	return is_name(name, LETTERS "0123456789");
}

bool
cluster_is_cluster_name(const char *name)
{
	return is_name(name, LETTERS "0123456789.-");
}

static bool
has_cluster(const struct cluster_place *place)
{
	return place->cluster && *place->cluster;
}

void
cluster_write_name(FILE *out, const struct cluster_place *place,
    const struct cluster_table *table, bool local)
{
	fprintf(out, "%s.%s%s", place->database, table->name,
	    local && has_cluster(place) ? "_local" : "");
}

void
cluster_write_columns(FILE *out, const struct cluster_table *table)
{
	for (size_t i = 0; i < table->n_columns; i++)
		fprintf(out, "%s%s", i > 0 ? ", " : "", table->columns[i].name);
}

void
cluster_write_insert(FILE *out, const struct cluster_place *place,
    const struct cluster_table *table)
{
	fputs("INSERT INTO ", out);
	cluster_write_name(out, place, table, false);
	fputs(" (", out);
	cluster_write_columns(out, table);
	fputs(") FORMAT RowBinary", out);
}

/* Creating tables */

static void
write_partition(FILE *out, const struct cluster_table *table)
{
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
	fprintf(out, "intDiv(%s, %llu)))", table->time,
	    (unsigned long long)store_levels[LEVEL_1_D].partition_us);
}

static void
write_local_table(FILE *out, const struct cluster_place *place, const struct cluster_table *table)
{
	fputs("CREATE TABLE IF NOT EXISTS ", out);
	cluster_write_name(out, place, table, true);
	fputs(" (", out);
	for (size_t i = 0; i < table->n_columns; i++)
		fprintf(out, "%s%s %s", i > 0 ? ", " : "", table->columns[i].name,
		    cluster_type_names[table->columns[i].type]);
	fputs(") ENGINE = ReplacingMergeTree(revision)", out);
	write_partition(out, table);
	fprintf(out, " ORDER BY (%s)", table->key);
}

static void
write_distributed_table(FILE *out, const struct cluster_place *place,
    const struct cluster_table *table)
{
	fputs("CREATE TABLE IF NOT EXISTS ", out);
	cluster_write_name(out, place, table, false);
	fputs(" AS ", out);
	cluster_write_name(out, place, table, true);
	fprintf(out, " ENGINE = Distributed('%s', '%s', '%s_local'", place->cluster,
	    place->database, table->name);
	if (table->shard)
		fprintf(out, ", cityHash64(%s)", table->shard);
	fputs(")", out);
}

static void
write_new_column(FILE *out, const struct cluster_place *place, const struct cluster_table *table,
    bool local, const char *name)
{
	size_t i = 0;

	while (strcmp(table->columns[i].name, name) != 0)
		i++;
	fputs("ALTER TABLE ", out);
	cluster_write_name(out, place, table, local);
	fprintf(out, " ADD COLUMN %s %s", name,
	    cluster_type_names[table->columns[i].type]);
}

/* Each migration makes the tables from first to before end as they are today, or gives a table that an
 * earlier one made new columns. */
static const struct {
	enum cluster_table_id first, end;
	const char *columns[4];
} migrations[CLUSTER_VERSION] = {
    {CLUSTER_KEYS, CLUSTER_GAPS, {NULL}},
    {CLUSTER_PORTS, CLUSTER_PORTS, {"cut_pkts", "cut_octets", "cut_numbers", "w_max"}},
    {CLUSTER_GAPS, CLUSTER_IDENTITIES, {NULL}},
    {CLUSTER_EVENTS, CLUSTER_EVENTS, {"text"}},
    {CLUSTER_IDENTITIES, CLUSTER_NAMING, {NULL}},
    {CLUSTER_NAMING, CLUSTER_DISCARDS, {NULL}},
    {CLUSTER_DISCARDS, CLUSTER_N_TABLES, {NULL}},
};

static size_t
n_statements(unsigned migration)
{
	size_t n = (size_t)(migrations[migration].end - migrations[migration].first);

	for (size_t i = 0; i < N(migrations[migration].columns); i++)
		n += migrations[migration].columns[i] != NULL;
	return n;
}

static void
write_step(FILE *out, const struct cluster_place *place, unsigned migration, size_t i, bool local)
{
	enum cluster_table_id first = migrations[migration].first;
	size_t n_tables = (size_t)(migrations[migration].end - first);

	if (i >= n_tables)
		write_new_column(out, place, &cluster_tables[first], local,
		    migrations[migration].columns[i - n_tables]);
	else if (local)
		write_local_table(out, place, &cluster_tables[first + i]);
	else
		write_distributed_table(out, place, &cluster_tables[first + i]);
}

static void
write_start(FILE *out, const struct cluster_place *place, size_t i)
{
	if (i == 0)
		fprintf(out, "CREATE DATABASE IF NOT EXISTS %s", place->database);
	else
		fprintf(out, "CREATE TABLE IF NOT EXISTS %s.migration (number UInt32) ENGINE = "
			     "MergeTree ORDER BY number", place->database);
}

enum { N_START = 2 };

bool
cluster_write_migration(FILE *out, const struct cluster_place *place, unsigned from_version,
    size_t i)
{
	size_t kinds = has_cluster(place) ? 2 : 1;

	if (i < N_START) {
		write_start(out, place, i);
		return true;
	}
	i -= N_START;
	for (unsigned v = from_version; v < CLUSTER_VERSION; v++) {
		size_t n = n_statements(v) * kinds;

		if (i < n) {
			write_step(out, place, v, i / kinds, i % kinds == 0);
			return true;
		}
		if (i == n) {
			fprintf(out, "INSERT INTO %s.migration VALUES (%u)", place->database,
			    v + 1);
			return true;
		}
		i -= n + 1;
	}
	return false;
}

bool
cluster_is_done(const char *error)
{
	return strstr(error, "column with this name already exists");
}

void
cluster_write_version_query(FILE *out, const struct cluster_place *place)
{
	fprintf(out, "SELECT toUInt64(max(number)) FROM %s.migration", place->database);
}
