/*
 * SQL of sums in the cluster, said in one place for those who ask for them and those who roll them
 * up: which rows of `keys`, `ports` and `folded` count, each once.
 *
 * A row that was sent again has a higher revision; FINAL leaves the newest one, and stays on the
 * server that has the row, where a subquery by newest revision would carry all keys to one server.
 * Of minutes, rows of several collectors may tell of the same samples (duplicate sinks): where the
 * device times of two collectors overlap by half of the shorter one's range or more, the one that
 * received more counts, of equal ones that with the greater number. Where they do not (failover,
 * whose two ends may touch by a second or two, and a store begun anew) both count. Windows of
 * coarser levels are of nobody, as this was settled when they were made. An agent's account is
 * treated as its minutes are.
 */
#ifndef EASE_COLLECTOR_CLUSTER_SUMS_SQL_H
#define EASE_COLLECTOR_CLUSTER_SUMS_SQL_H

#include "collector/cluster/schema.h"

/* Windows of a level that start in [from_us, to_us). */
struct sums_run {
	unsigned minutes; /* the level */
	uint64_t from_us, to_us;
};

struct sums_rows {
	const struct cluster_place *place;
	enum cluster_table_id table; /* CLUSTER_KEYS, CLUSTER_PORTS or CLUSTER_FOLDED */
	bool local;		     /* of the server that is asked, else of all */
	const struct sums_run *runs; /* one at least */
	size_t n_runs;
	const char *join; /* behind the table: " GLOBAL ANY INNER JOIN …"; NULL: none */
	/* More of it, of columns that rows are known by: " AND kind = 2"; or "". */
	const char *where;
};

/* " FROM … FINAL PREWHERE … WHERE …", to which " AND …" can be added. */
void sums_sql_rows(FILE *sql, const struct sums_rows *rows);

/* "SELECT collector, agent, start_us FROM …": minutes of collectors that do not count. where: more
 * of it, of columns of `cover`, or "". */
void sums_sql_passed_over(FILE *sql, const struct cluster_place *place, bool local,
    uint64_t from_us, uint64_t to_us, const char *where);

/* "SELECT collector, agent, boot, if_index FROM …": the same of accounts. */
void sums_sql_accounts_passed_over(FILE *sql, const struct cluster_place *place,
    const char *where);

/* The columns that add up, each in sum(), one behind the other: of CLUSTER_KEYS n, w, w2, wb, wb2,
 * w2b2, any_pkts, any_octets, same_pkts, same_octets, same1_… and same2_…; of CLUSTER_PORTS n to
 * any_octets, pool_pkts, pool_octets, expected and received; of CLUSTER_FOLDED n and most_n. */
void sums_sql_columns(FILE *sql, enum cluster_table_id table);

#endif
