#include "collector/cluster/schema.h"

#include <string.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define COLUMNS(array) .columns = (array), .n_columns = N(array)
#define STORED(table) .stored = &stored_tables[table]

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
    {"agent", CLUSTER_AGENT_ID}, {"if_index", CLUSTER_U64}, {"direction", CLUSTER_U8},
    {"key1", CLUSTER_TEXT}, {"key2", CLUSTER_TEXT}, {"collector", CLUSTER_I64}, SUMS,
    {"same_pkts", CLUSTER_F64}, {"same_octets", CLUSTER_F64}, {"same1_pkts", CLUSTER_F64},
    {"same1_octets", CLUSTER_F64}, {"same2_pkts", CLUSTER_F64}, {"same2_octets", CLUSTER_F64},
    {"revision", CLUSTER_U64},
};

/* expected, received and cut_numbers are of the port, in the row of the receiving direction; corrections
 * may be below zero */
static const struct cluster_column port_columns[] = {
    {"level", CLUSTER_U16}, {"start_us", CLUSTER_U64}, {"agent", CLUSTER_AGENT_ID},
    {"if_index", CLUSTER_U64}, {"direction", CLUSTER_U8}, {"collector", CLUSTER_I64}, SUMS,
    {"pool_pkts", CLUSTER_F64}, {"pool_octets", CLUSTER_F64}, {"expected", CLUSTER_F64},
    {"received", CLUSTER_F64}, {"cut_pkts", CLUSTER_F64}, {"cut_octets", CLUSTER_F64},
    {"cut_numbers", CLUSTER_F64}, {"w_max", CLUSTER_F64}, {"revision", CLUSTER_U64},
};

static const struct cluster_column folded_columns[] = {
    {"level", CLUSTER_U16}, {"kind", CLUSTER_U8}, {"start_us", CLUSTER_U64},
    {"agent", CLUSTER_AGENT_ID}, {"if_index", CLUSTER_U64}, {"direction", CLUSTER_U8},
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

/* Tables */

#define KEY(key_, time_, partition_, shard_) .key = (key_), .time = (time_), .partition = (partition_), .shard = (shard_)

/* What a level is of counters and resources: 1: all; 5, 60, 1440: those at the ends of windows of this length
 * (store/retention.h). The id of events orders those of the same time. Of device names (naming.h) the rows of a
 * collector's highest version count. */
const struct cluster_table cluster_tables[CLUSTER_N_TABLES] = {
    [CLUSTER_KEYS] = {"keys", COLUMNS(key_columns),
	KEY("level, kind, start_us, agent, if_index, direction, key1, key2, collector", "start_us", CLUSTER_BY_LEVEL,
	    "agent")},
    [CLUSTER_PORTS] = {"ports", COLUMNS(port_columns),
	KEY("level, start_us, agent, if_index, direction, collector", "start_us", CLUSTER_BY_LEVEL, "agent")},
    [CLUSTER_FOLDED] = {"folded", COLUMNS(folded_columns),
	KEY("level, kind, start_us, agent, if_index, direction, collector", "start_us", CLUSTER_BY_LEVEL, "agent")},
    [CLUSTER_COVER] = {"cover", COLUMNS(cover_columns),
	KEY("start_us, agent, collector", "start_us", CLUSTER_BY_DAY, "agent")},
    [CLUSTER_AGENTS] = {"agent", STORED(STORE_AGENTS), KEY("agent, collector", NULL, CLUSTER_KEPT, "agent")},
    [CLUSTER_PORT_STATES] = {"port", STORED(STORE_PORTS),
	KEY("agent, if_index, since_us, collector", NULL, CLUSTER_KEPT, "agent")},
    [CLUSTER_SAMPLES] = {"sample", STORED(STORE_SAMPLES),
	KEY("agent, boot, if_index, sequence, collector", "time_us", CLUSTER_BY_DAY, "agent")},
    [CLUSTER_COUNTERS] = {"counter", STORED(STORE_COUNTERS),
	KEY("level, agent, if_index, time_us, collector", "time_us", CLUSTER_BY_LEVEL, "agent")},
    [CLUSTER_RESOURCES] = {"resource", STORED(STORE_RESOURCES),
	KEY("level, agent, if_index, time_us, collector", "time_us", CLUSTER_BY_LEVEL, "agent")},
    [CLUSTER_ERROR_SOURCES] = {"error_source", STORED(STORE_ERROR_SOURCES),
	KEY("agent, if_index, mac, kind, collector", NULL, CLUSTER_KEPT, "agent")},
    [CLUSTER_ACCOUNTS] = {"account", STORED(STORE_ACCOUNTS),
	KEY("agent, boot, if_index, collector", NULL, CLUSTER_KEPT, "agent")},
    [CLUSTER_GONE] = {"gone", STORED(STORE_CRASH_LOST),
	KEY("agent, boot, if_index, collector", NULL, CLUSTER_KEPT, "agent")},
    [CLUSTER_EVENTS] = {"event", STORED(STORE_EVENTS),
	KEY("agent, time_us, id, collector", "time_us", CLUSTER_BY_MONTH, "agent")},
    [CLUSTER_OUTAGES] = {"outage", STORED(STORE_OUTAGES), KEY("collector, id", NULL, CLUSTER_KEPT, "collector")},
    [CLUSTER_STATS] = {"stat", STORED(STORE_STATS), KEY("collector, name", NULL, CLUSTER_KEPT, "collector")},
    [CLUSTER_COLLECTORS] = {"collector", COLUMNS(collector_columns),
	KEY("collector", NULL, CLUSTER_KEPT, "collector")},
    [CLUSTER_CURSORS] = {"cursor", COLUMNS(cursor_columns),
	KEY("collector, revision", "time_us", CLUSTER_BY_DAY, "collector")},
    [CLUSTER_ROLLED] = {"rolled", COLUMNS(rolled_columns), KEY("level, collector", NULL, CLUSTER_KEPT, NULL)},
    [CLUSTER_GAPS] = {"gap", STORED(STORE_GAPS),
	KEY("agent, if_index, until_us, from_us, collector", "until_us", CLUSTER_BY_MONTH, "agent")},
    [CLUSTER_IDENTITIES] = {"agent_identity", COLUMNS(identity_columns),
	KEY("agent, collector", NULL, CLUSTER_KEPT, "agent")},
    [CLUSTER_NAMING] = {"naming", .stored = &stored_naming, KEY("collector, line", NULL, CLUSTER_KEPT, "collector")},
    [CLUSTER_DISCARDS] = {"discard", STORED(STORE_DISCARDS),
	KEY(STORE_DISCARD_KEY ", collector", "start_us", CLUSTER_BY_MONTH, "agent")},
    [CLUSTER_ODDITIES] = {"oddity", STORED(STORE_ODDITIES),
	KEY("agent, if_index, kind, collector", NULL, CLUSTER_KEPT, "agent")},
    [CLUSTER_LINKS] = {"link", STORED(STORE_LINKS), KEY("agent, if_index, collector", NULL, CLUSTER_KEPT, "agent")},
};

/* Columns of either kind of table */

static bool
has_level(const struct cluster_table *table)
{
	return table->partition == CLUSTER_BY_LEVEL;
}

static enum cluster_type
stored_type(const struct stored_column *column)
{
	bool is_text = column->form == STORED_TEXT || column->form == STORED_NAME || column->form == STORED_OCTETS;

	if (column->form == STORED_AGENT)
		return CLUSTER_AGENT_ID;
	if (stored_may_be_null(column))
		return is_text ? CLUSTER_TEXT_OR_NULL : CLUSTER_I64_OR_NULL;
	return is_text ? CLUSTER_TEXT : CLUSTER_I64;
}

size_t
cluster_n_columns(const struct cluster_table *table)
{
	size_t n = has_level(table) + 2; /* and collector and revision */

	if (!table->stored)
		return table->n_columns;
	for (size_t i = 0; i < table->stored->n_columns; i++)
		n += !table->stored->columns[i].is_local;
	return n;
}

struct cluster_column
cluster_column(const struct cluster_table *table, size_t i)
{
	size_t n = cluster_n_columns(table), at = 0, left = i - has_level(table);

	if (!table->stored)
		return table->columns[i];
	if (has_level(table) && i == 0)
		return (struct cluster_column){"level", CLUSTER_U16};
	if (i + 2 >= n)
		return i + 1 == n ? (struct cluster_column){"revision", CLUSTER_U64}
				  : (struct cluster_column){"collector", CLUSTER_I64};
	while (table->stored->columns[at].is_local || left-- > 0)
		at++;
	return (struct cluster_column){
	    strcmp(table->stored->columns[at].name, "id") == 0 && table->stored->columns[at].form == STORED_AGENT
		? "agent" : table->stored->columns[at].name,
	    stored_type(&table->stored->columns[at])};
}

enum cluster_type
cluster_type_of(const struct cluster_table *table, const char *name, size_t n)
{
	for (size_t i = 0; i < cluster_n_columns(table); i++) {
		struct cluster_column column = cluster_column(table, i);

		if (strlen(column.name) == n && strncmp(column.name, name, n) == 0)
			return column.type;
	}
	return CLUSTER_N_TYPES;
}

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

void
cluster_write_name(FILE *out, const struct cluster_place *place, const struct cluster_table *table, bool local)
{
	fprintf(out, "%s.%s%s", place->database, table->name, local && cluster_is_sharded(place) ? "_local" : "");
}
