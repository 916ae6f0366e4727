#include "collector/report/reports.h"

#include "collector/filter/filter.h"
#include "collector/query/query_private.h"
#include "collector/report/result.h"

#include <errno.h>
#include <string.h>

#define TAKES_LIST                                                                                 \
	(REPORT_TAKES_FRAMES | REPORT_TAKES_SORT | REPORT_TAKES_TOP | REPORT_TAKES_VERSUS |               \
	 REPORT_TAKES_WARN | REPORT_TAKES_SURE)

const struct report reports[] = {
	{"talkers", "who sends or receives most, with 95 % limits",
	    TAKES_LIST | REPORT_TAKES_PER | REPORT_TAKES_BY | REPORT_TAKES_MASK | REPORT_TAKES_LAYER, report_talkers},
	{"matrix", "who talks to whom, as a grid",
	    TAKES_LIST | REPORT_TAKES_BY | REPORT_TAKES_LAYER, report_matrix},
	{"protocols", "what the traffic is: services, IP protocols, ethertypes, VLANs",
	    TAKES_LIST | REPORT_TAKES_PER | REPORT_TAKES_BY, report_protocols},
	{"conversations", "who talks to whom over what: addresses, ports, protocol",
	    TAKES_LIST | REPORT_TAKES_PER, report_conversations},
	{"connections", "who asks whom for new TCP connections, with 95 % limits",
	    REPORT_TAKES_PER | REPORT_TAKES_BY | REPORT_TAKES_ADDR | REPORT_TAKES_TOP | REPORT_TAKES_VERSUS | REPORT_TAKES_WARN |
	    REPORT_TAKES_SURE, report_connections},
	{"history", "what ports counted over time, and which keys had most of it",
	    REPORT_TAKES_FRAMES | REPORT_TAKES_BY | REPORT_TAKES_MASK | REPORT_TAKES_LAYER |
	    REPORT_TAKES_STEP | REPORT_TAKES_SORT | REPORT_TAKES_TOP | REPORT_TAKES_WARN,
	    report_history},
	{"load", "what each port counted, and whether the samples agree",
	    REPORT_TAKES_SORT | REPORT_TAKES_TOP | REPORT_TAKES_WARN, report_load},
	{"links", "what both ends of each link between switches counted, and which end is wrong", REPORT_TAKES_TOP,
	    report_links},
	{"billing", "the 95th percentile of five minutes, of ports, link aggregates or sites", REPORT_TAKES_BY, report_billing},
	{"errors", "errors and discards of each port, and who sent bad frames", REPORT_TAKES_TOP,
	    report_errors},
	{"drops", "packets that switches discarded and reported, with reasons, and how many of all these are",
	    REPORT_TAKES_BY | REPORT_TAKES_TOP, report_drops},
	{"delay", "how long frames took through switches and met in queues, with 95 % limits",
	    REPORT_TAKES_FRAMES | REPORT_TAKES_BY | REPORT_TAKES_TOP, report_delay},
	{"energy", "how much of the time ports were in low-power idle", 0, report_energy},
	{"pause", "back pressure, and PAUSE frames", 0, report_pause},
	{"addresses", "where an address is, since when, and where it was before",
	    REPORT_TAKES_LAYER | REPORT_TAKES_VLAN | REPORT_TAKES_ADDR | REPORT_TAKES_TOP,
	    report_addresses},
	{"alarms", "which alarms stand, and which were raised and are over", REPORT_TAKES_TOP, report_alarms},
	{"events", "what happened: addresses, bad frames, links, alarms, starts",
	    REPORT_TAKES_TOP, report_events},
	{"agents", "the switches that were heard, and their clocks", 0, report_agents},
	{"precision", "how exact each port's lists are, how exact they shall be, and the skips for it", 0, report_precision},
	{"audit", "whether the samples of each port may be trusted, and for what", 0, report_audit},
	{"loss", "where each missing sample was lost", REPORT_TAKES_TOP, report_loss},
	{NULL, NULL, 0, NULL},
};

const struct report *
report_find(const char *name)
{
	for (const struct report *report = reports; report->name; report++)
		if (strcmp(report->name, name) == 0)
			return report;
	return NULL;
}

/* A store knows when its collector was away; of a cluster another one may have been there. */
static int
name_away(struct query *query, uint64_t now_us, struct report_result *result)
{
	sqlite3_stmt *stmt;
	int err;

	if (query->store->is_remote || result->empty)
		return 0;
	/* A crash, the machine, a stop (enum store_outage_kind); of the result's range, as a history left the query at its last
	 * step. One that ends days after now was told by a clock that has been set since (collector.c has told it again). */
	stmt = query_prepare(query, "SELECT since_us, until_us FROM (SELECT * FROM outage WHERE until_us > ?1 AND since_us < ?2"
	    " AND until_us <= ?3 + 86400000000 AND kind IN (1, 2, 5) ORDER BY id DESC LIMIT 5) ORDER BY id");
	err = stmt ? 0 : -EIO;
	if (stmt) {
		sqlite3_bind_int64(stmt, 1, (sqlite3_int64)result->from_us);
		sqlite3_bind_int64(stmt, 2, (sqlite3_int64)result->to_us);
		sqlite3_bind_int64(stmt, 3, (sqlite3_int64)now_us);
	}
	while (err == 0 && (err = query_step(query, stmt)) == 1) {
		struct note_values *away = note_item(result, NOTE_ID_AWAY);

		note_time(away, "from", query_u64(stmt, 0));
		note_time(away, "to", query_u64(stmt, 1));
		err = 0;
	}
	sqlite3_finalize(stmt);
	return err;
}

int
report_run(const struct report *report, struct query *query, const struct report_options *options,
    uint64_t now_us, struct report_result *result)
{
	int err = report->run(query, options, now_us, result);

	if (err == 0)
		err = name_away(query, now_us, result);
	if (err == 0 && options->filter)
		note_text(note_of(result, NOTE_ID_FILTER), "filter", options->filter->text);
	return err == 0 && !result_is_whole(result) ? -ENOMEM : err;
}
