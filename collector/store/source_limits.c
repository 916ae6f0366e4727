#include "collector/store/source_limits.h"
#include "collector/store/forget.h"
#include "common/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum {
	SOURCES = 4,	/* with so many times the number of one, all of them have what they may have */
	PART_LOOKED_AT = 16,
	OCTETS_EACH = 16384, /* of store_size for each: a port takes 2 KiB, and a source an eighth. *assumed* */
	LEAST = 64,
	SOURCE_TEXT = 128,
};

/* As in memory (window/inventory.h). */
#define LEAST_SILENT_US 900000000ll

void
source_limits_set(struct source_limits *l, uint64_t agents, uint64_t ports, uint64_t most_octets)
{
	const uint64_t places[] = {[SOURCE_LIMITS_AGENTS] = agents, [SOURCE_LIMITS_PORTS] = ports};
	uint64_t in_store = most_octets / OCTETS_EACH < LEAST ? LEAST : most_octets / OCTETS_EACH;

	for (int t = 0; t < SOURCE_LIMITS_N; t++) {
		uint64_t most = most_octets > 0 && in_store < places[t] ? in_store : places[t];

		if (l->most[t] != most)
			l->added[t] = most; /* look at once */
		l->most[t] = most;
	}
}

/* Each agent with its source. */
#define AGENTS "(SELECT a.*, ifnull(s.source, a.address) AS source FROM agent a LEFT JOIN agent_source s ON" \
	       " s.agent = a.id)"
#define NEWEST "(SELECT max(last_received_us) FROM agent)"
#define PORTS "(SELECT agent, if_index FROM account UNION SELECT agent, if_index FROM port)"

/* ?1: the source, ?2: the time of silence, ?3: most rows */
static const struct {
	const char *counts; /* the source that has most, its number, and that of all */
	const char *choose;
	const char *what;
	int most_a_step;
	int (*forget)(struct rollup *r);
} tables[SOURCE_LIMITS_N] = {
    [SOURCE_LIMITS_AGENTS] = {
	"SELECT source, count(*), (SELECT count(*) FROM agent) FROM " AGENTS " GROUP BY source ORDER BY count(*)"
	" DESC, min(last_received_us) LIMIT 1",
	"INSERT INTO temp.forgotten SELECT id, 0 FROM " AGENTS " WHERE source = ?1 AND " NEWEST
	" - last_received_us > ?2 ORDER BY last_received_us LIMIT ?3",
	"agents", 64, forget_chosen_agents},
    [SOURCE_LIMITS_PORTS] = {
	"WITH n AS (SELECT agent, count(*) AS ports FROM " PORTS " GROUP BY agent) SELECT source, sum(ports),"
	" (SELECT sum(ports) FROM n) FROM n JOIN " AGENTS " ON id = agent GROUP BY source ORDER BY sum(ports)"
	" DESC, min(last_received_us) LIMIT 1",
	/* as long as an account, or where there is none its state, is old by the device's own clock */
	"WITH g AS (SELECT * FROM " AGENTS " WHERE source = ?1), p AS (SELECT agent, if_index, last_us AS at"
	" FROM account WHERE agent IN (SELECT id FROM g) UNION ALL SELECT agent, if_index, since_us FROM port"
	" WHERE agent IN (SELECT id FROM g)) INSERT INTO temp.forgotten SELECT agent, if_index FROM (SELECT"
	" p.agent, p.if_index, g.last_us - max(p.at) + " NEWEST " - g.last_received_us AS silent FROM p JOIN g"
	" ON g.id = p.agent GROUP BY 1, 2) WHERE silent > ?2 ORDER BY silent DESC LIMIT ?3",
	"ports", 512, forget_chosen_ports},
};

/* How many are to be forgotten, and of which source. */
static int
count_excess(const struct source_limits *l, struct rollup *r, int t, char source[SOURCE_TEXT], int64_t *excess)
{
	sqlite3_stmt *s = rollup_statement(r, tables[t].counts);
	int code = s ? sqlite3_step(s) : SQLITE_ERROR;

	*excess = 0;
	if (code == SQLITE_ROW) {
		int64_t of_source = sqlite3_column_int64(s, 1) - (int64_t)l->most[t];
		int64_t of_all = sqlite3_column_int64(s, 2) - SOURCES * (int64_t)l->most[t];

		*excess = of_source > of_all ? of_source : of_all;
		snprintf(source, SOURCE_TEXT, "%s", (const char *)sqlite3_column_text(s, 0));
	}
	if (s)
		sqlite3_reset(s);
	return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : -EIO;
}

/* Returns how many were chosen, or -EIO. */
static int
choose_excess(struct rollup *r, int t, const char *source, int64_t excess)
{
	sqlite3_stmt *s = forget_nothing(r) < 0 ? NULL : rollup_statement(r, tables[t].choose);
	int code;

	if (!s)
		return -EIO;
	sqlite3_bind_text(s, 1, source, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 2, LEAST_SILENT_US);
	sqlite3_bind_int64(s, 3, excess < tables[t].most_a_step ? excess : tables[t].most_a_step);
	code = sqlite3_step(s);
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return code == SQLITE_DONE ? sqlite3_changes(r->db) : -EIO;
}

static int
forget_of(const struct source_limits *l, struct rollup *r, int t, uint64_t *forgotten)
{
	char source[SOURCE_TEXT] = "";
	int64_t excess = 0;
	int n = count_excess(l, r, t, source, &excess);

	if (n == 0 && excess > 0)
		n = choose_excess(r, t, source, excess);
	if (n <= 0)
		return n;
	log_warn_limited("store",
	    "forgot the %s of %s that were silent for longest: the store keeps %" PRIu64 " of one source", tables[t].what,
	    source, l->most[t]);
	n = tables[t].forget(r);
	*forgotten += n > 0 ? (uint64_t)n : 0;
	return n < 0 ? n : 1;
}

int
source_limits_step(struct source_limits *l, struct rollup *r, uint64_t *forgotten)
{
	for (int t = 0; t < SOURCE_LIMITS_N; t++) {
		int did;

		if (l->most[t] == 0 || l->added[t] < l->most[t] / PART_LOOKED_AT)
			continue;
		did = forget_of(l, r, t, forgotten);
		if (did != 0)
			return did;
		l->added[t] = 0;
	}
	return 0;
}
