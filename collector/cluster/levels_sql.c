#include "collector/cluster/levels_sql.h"

static void
write_name(FILE *out, const struct cluster_place *place, enum cluster_table_id table)
{
	cluster_write_name(out, place, &cluster_tables[table], false);
}

/* A collector that is not in the list of a level yet has index 0, and so revision 0. */
void
cluster_write_levels_query(FILE *out, const struct cluster_place *place)
{
	fputs("SELECT level, kept, least(done, min(if(level > 1 AND from_us > 0 AND"
	      " revision > revisions[indexOf(collectors, collector)], from_us, done)))"
	      " FROM (SELECT level, max(kept) AS kept, minIf(done, collector = 0) AS done,"
	      " groupArray(collector) AS collectors, groupArray(rolled) AS revisions"
	      " FROM (SELECT level, collector, min(rolled_revision) AS rolled,"
	      " max(kept_us) AS kept, minIf(done_us, collector = 0) AS done FROM ", out);
	write_name(out, place, CLUSTER_ROLLED);
	fputs(" FINAL GROUP BY level, collector) GROUP BY level) AS l"
	      " CROSS JOIN (SELECT collector, revision, from_us FROM ", out);
	write_name(out, place, CLUSTER_CURSORS);
	fputs(" FINAL) AS c GROUP BY level, kept, done", out);
}
