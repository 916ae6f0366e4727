#include "collector/store/schema.h"

#include "collector/store/sql.h"
#include "collector/store/stored_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Discarded packets of longer ago (shares.h): of the minutes of `discard`, added up by port, reason and hour. */
#define DISCARD_HOUR \
	"CREATE TABLE discard_hour(agent INTEGER NOT NULL, start_us INTEGER NOT NULL, if_index INTEGER NOT NULL," \
	" kind INTEGER NOT NULL, reason INTEGER NOT NULL, n INTEGER NOT NULL," \
	" PRIMARY KEY(" STORE_DISCARD_HOUR_KEY ")) WITHOUT ROWID;"

/* How many rows an agent has of a table (enum store_held), and how many octets of the file they take, with those of
 * indexes. Triggers count, so that no row is missed, whoever writes or deletes it. */
#define HELD                                                                                                      \
	"CREATE TABLE held(tab INTEGER NOT NULL, agent INTEGER NOT NULL, n INTEGER NOT NULL, octets INTEGER NOT NULL," \
	" PRIMARY KEY(tab, agent)) WITHOUT ROWID;"                                                                 \
	HOLD("0", "discard", DISCARD_OCTETS) HOLD("1", "discard_hour", HOUR_OCTETS)                                \
	HOLD("2", "event", EVENT_OCTETS) HOLD("3", "place", PLACE_OCTETS)                                          \
	HOLD("4", "error_source", ERROR_SOURCE_OCTETS) HOLD("5", "oddity", ODDITY_OCTETS)                          \
	"CREATE TRIGGER held_forgotten AFTER DELETE ON agent BEGIN"                                                \
	" DELETE FROM held WHERE tab IN (0, 1, 2, 3, 4, 5) AND agent = old.id AND n = 0; END;"
#define HOLD(tab, name, octets)                                                                                   \
	"INSERT INTO held SELECT " tab ", agent, count(*), sum(" octets("") ") FROM " name " GROUP BY agent;"      \
	"CREATE TRIGGER " name "_held AFTER INSERT ON " name " BEGIN INSERT INTO held VALUES(" tab ", new.agent, 1, " \
	octets("new.") ") ON CONFLICT DO UPDATE SET n = n + 1, octets = octets + excluded.octets; END;"            \
	"CREATE TRIGGER " name "_freed AFTER DELETE ON " name " BEGIN UPDATE held SET n = n - 1, octets = octets - (" \
	octets("old.") ") WHERE tab = " tab " AND agent = old.agent; END;"
/* The same of sums, which parts.c counts from part `first_charged` on, and of counters; up to when an agent has paid. */
#define CHARGED                                                                                                   \
	"CREATE INDEX gone_port ON gone(agent, if_index);"                                                          \
	HOLD("7", "counter", COUNTER_OCTETS)                                                                       \
	"CREATE TRIGGER held_empty AFTER UPDATE ON held WHEN new.n <= 0 AND new.tab = 6 BEGIN"                      \
	" DELETE FROM held WHERE tab = 6 AND agent = new.agent; DELETE FROM paid WHERE agent = new.agent AND"       \
	" NOT EXISTS(SELECT 1 FROM agent WHERE id = new.agent); END;"                                               \
	"CREATE TRIGGER paid_forgotten AFTER DELETE ON agent BEGIN DELETE FROM paid WHERE agent = old.id;"          \
	" DELETE FROM held WHERE tab = 7 AND agent = old.id AND n = 0; END;"                                       \
	"CREATE TABLE paid(agent INTEGER NOT NULL, level INTEGER NOT NULL, until_us INTEGER NOT NULL,"              \
	" PRIMARY KEY(agent, level)) WITHOUT ROWID;"

/* measured; pages are two thirds full where rows come in any order */
#define DISCARD_OCTETS(row) "130 + length(" row "detail) + length(" row "place) + length(" row "trap_group)"
#define HOUR_OCTETS(row) "50"
#define EVENT_OCTETS(row) "150 + ifnull(length(" row "text), 0)"
#define PLACE_OCTETS(row) "130"
#define ERROR_SOURCE_OCTETS(row) "70"
#define ODDITY_OCTETS(row) "50"
#define COUNTER_OCTETS(row) "80"

/* Few samples have a header, if any: those that are too old are found by it. */
#define HEADERS "CREATE INDEX sample_header ON sample(time_us) WHERE header IS NOT NULL;"

/* Where no switch tells of ways, a report of them need not look at all samples. */
#define WAYS "CREATE INDEX sample_way ON sample(time_us) WHERE " STORE_TELLS_WAY ";"

/* What is no table of rows, and indexes. */
static const char others[] =
    "CREATE UNIQUE INDEX agent_identity ON agent(agent_id);"
    "CREATE INDEX sample_time ON sample(time_us);" HEADERS WAYS
    /* a repeated event is found by all of its columns, because many may have one time */
    "CREATE INDEX event_columns ON event(time_us, agent, kind, if_index, mac, vlan, boot);"
    /* what the limits of rows by agent and port (tables.c) look for */
    "CREATE INDEX event_agent ON event(agent, id);"
    "CREATE INDEX account_port ON account(agent, if_index, boot);"
    "CREATE INDEX gap_time ON gap(until_us);"
    "CREATE INDEX gap_port ON gap(agent, if_index, until_us);"
    /* the store's id, and running = 1 while a collector uses the store, or after it crashed. part_epoch: how often
     * the store was opened for writing; ids of parts start at a higher range each time (parts.h). last_agent: the
     * highest number of an agent that was forgotten; no other agent gets it, because sums of it may be left.
     * first_charged: the first part that counts in `held`, in a store that an earlier version made */
    "CREATE TABLE life(store_id INTEGER NOT NULL, running INTEGER NOT NULL, part_epoch INTEGER NOT NULL DEFAULT 0,"
    " last_agent INTEGER NOT NULL DEFAULT 0, first_charged INTEGER NOT NULL DEFAULT 0);"
    "INSERT INTO life(store_id, running) VALUES(random(), 0);"
    "CREATE TRIGGER agent_forgotten AFTER DELETE ON agent BEGIN"
    " UPDATE life SET last_agent = max(last_agent, old.id); END;"
    /* packs of the sums of many keys. level is the minutes of the level's windows, 0: unsettled; kind is enum
     * store_part_kind (levels.h). The rows of a chain are sorted by id and by key. */
    "CREATE TABLE part(id INTEGER PRIMARY KEY, level INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " start_us INTEGER NOT NULL, shard INTEGER NOT NULL, chain INTEGER NOT NULL,"
    " n INTEGER NOT NULL, body BLOB NOT NULL);"
    "CREATE INDEX part_place ON part(level, kind, start_us, shard);"
    /* a level has the windows from kept_us to done_us (rollup.h); of the counters before thinned_us, those at the
     * ends of its windows are left (retention.h) */
    "CREATE TABLE level(minutes INTEGER PRIMARY KEY, kept_us INTEGER NOT NULL,"
    " done_us INTEGER NOT NULL, kind INTEGER NOT NULL, shard INTEGER NOT NULL,"
    " thinned_us INTEGER NOT NULL);"
    /* of the batches of the last ten minutes, by the collector's clock: the id of the last part that one wrote, and
     * until when it had received. So a report can tell unsettled sums of samples that came after a moment within a
     * minute from those that came before. */
    "CREATE TABLE flush(id INTEGER PRIMARY KEY, until_us INTEGER NOT NULL);"
    /* long work that is running; `easetop agents` shows the newest row */
    "CREATE TABLE progress(work TEXT PRIMARY KEY, done INTEGER NOT NULL, total INTEGER NOT NULL,"
    " since_us INTEGER NOT NULL, at_us INTEGER NOT NULL) WITHOUT ROWID;"
    /* of an agent whose samples were deleted to make room, the time since which all of them are kept */
    "CREATE TABLE sample_floor(agent INTEGER PRIMARY KEY, since_us INTEGER NOT NULL);"
    /* an address as a source at a port (places.h): when it was seen first and last, its outermost VLAN then (NULL:
     * untagged), and how often: in samples that have rows, and in events */
    "CREATE TABLE place(layer INTEGER NOT NULL, address BLOB NOT NULL, agent INTEGER NOT NULL,"
    " if_index INTEGER NOT NULL, vlan INTEGER, first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,"
    " seen INTEGER NOT NULL, PRIMARY KEY(layer, address, agent, if_index)) WITHOUT ROWID;"
    "CREATE INDEX place_port ON place(agent, if_index, last_us);"
    DISCARD_HOUR HELD CHARGED;

/* steps[v - STORE_FIRST_VERSION] brings version v to v + 1. */
static const char *const steps[STORE_VERSION - STORE_FIRST_VERSION + 1] = {
    "ALTER TABLE account ADD COLUMN dropped_apart INTEGER NOT NULL DEFAULT 0;"
    "CREATE TABLE oddity(agent INTEGER NOT NULL, if_index INTEGER NOT NULL, kind INTEGER NOT NULL, n INTEGER NOT NULL,"
    " first_us INTEGER NOT NULL, last_us INTEGER NOT NULL, PRIMARY KEY(agent, if_index, kind)) WITHOUT ROWID",
    "UPDATE OR IGNORE agent SET agent_id = made_id_now(agent_id, address,"
    " (SELECT source FROM agent_source WHERE agent = agent.id))", /* old_ids.h */
    DISCARD_HOUR HELD,
    "ALTER TABLE life ADD COLUMN first_charged INTEGER NOT NULL DEFAULT 0;"
    "UPDATE life SET first_charged = (SELECT ifnull(max(id), 0) + 1 FROM part);" CHARGED,
    "ALTER TABLE sample ADD COLUMN vni INTEGER; ALTER TABLE sample ADD COLUMN header BLOB;" HEADERS
    "CREATE TABLE IF NOT EXISTS polled(agent INTEGER NOT NULL, name TEXT NOT NULL, names_us INTEGER NOT NULL,"
    " counters_us INTEGER NOT NULL, silent_us INTEGER NOT NULL, reason INTEGER NOT NULL, PRIMARY KEY(agent));",
    "ALTER TABLE sample ADD COLUMN src_as INTEGER; ALTER TABLE sample ADD COLUMN dst_as INTEGER",
    "CREATE TABLE IF NOT EXISTS precision(agent INTEGER NOT NULL, if_index INTEGER NOT NULL, decided_us INTEGER NOT NULL,"
    " goal TEXT NOT NULL, wanted_per_s INTEGER NOT NULL, had_per_s INTEGER NOT NULL, width_wanted INTEGER NOT NULL,"
    " width_reached INTEGER NOT NULL, n_rows INTEGER NOT NULL, configured_skip INTEGER NOT NULL,"
    " requested_skip INTEGER NOT NULL, skip_in_force INTEGER NOT NULL, reason TEXT NOT NULL,"
    " PRIMARY KEY(agent, if_index)) WITHOUT ROWID;"
    " ALTER TABLE sample ADD COLUMN queue INTEGER; ALTER TABLE sample ADD COLUMN depth_octets INTEGER;"
    " ALTER TABLE sample ADD COLUMN delay_ns INTEGER;" WAYS
    "CREATE TABLE IF NOT EXISTS link(agent INTEGER NOT NULL, if_index INTEGER NOT NULL, other_agent INTEGER NOT NULL,"
    " other_if_index INTEGER NOT NULL, seen_us INTEGER NOT NULL, PRIMARY KEY(agent, if_index)) WITHOUT ROWID;",
};

const char *
store_schema_step(int64_t version)
{
	return steps[version - STORE_FIRST_VERSION];
}

static const char *
type_of(const struct stored_column *column)
{
	switch (column->form) {
	case STORED_TEXT:
	case STORED_NAME:
		return "TEXT";
	case STORED_OCTETS:
		return "BLOB";
	default:
		return "INTEGER";
	}
}

static void
schema_put_table(FILE *sql, const struct stored_table *table)
{
	fprintf(sql, "CREATE TABLE %s(", table->name);
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct stored_column *c = &table->columns[i];

		fprintf(sql, "%s %s%s%s%s, ", c->name, type_of(c), stored_may_be_null(c) ? "" : " NOT NULL",
		    c->otherwise ? " DEFAULT " : "", c->otherwise ? c->otherwise : "");
	}
	fprintf(sql, "PRIMARY KEY(%s))%s;", table->key, table->has_rowid ? "" : " WITHOUT ROWID");
}

int
store_make_tables(sqlite3 *db)
{
	char *text = NULL;
	size_t size;
	FILE *sql = open_memstream(&text, &size);
	int r = -EIO;

	if (!sql)
		return -EIO;
	for (int t = 0; t < STORE_N_TABLES; t++)
		if (stored_tables[t].name)
			schema_put_table(sql, &stored_tables[t]);
	schema_put_table(sql, &stored_naming);
	fputs(others, sql);
	if (fclose(sql) == 0)
		r = store_sql_run(db, text);
	free(text);
	return r;
}
