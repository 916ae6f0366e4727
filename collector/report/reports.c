#include "collector/report/reports.h"

#include "collector/filter/filter.h"
#include "collector/report/result.h"

#include <errno.h>
#include <string.h>

#define TAKES_LIST                                                                                 \
	(REPORT_TAKES_FRAMES | REPORT_TAKES_SORT | REPORT_TAKES_TOP | REPORT_TAKES_VERSUS |               \
	 REPORT_TAKES_WARN | REPORT_TAKES_SURE)

#define BY(...) (const enum report_by[]){__VA_ARGS__, REPORT_BY_DEFAULT}
#define BY_GROUPS REPORT_BY_NETWORK, REPORT_BY_DST_NETWORK, REPORT_BY_NETWORK_PAIR, REPORT_BY_AS, REPORT_BY_DST_AS,   \
	REPORT_BY_AS_PAIR, REPORT_BY_COUNTRY, REPORT_BY_DST_COUNTRY, REPORT_BY_COUNTRY_PAIR

const struct report reports[] = {
	{"talkers", "who sends or receives most, with 95 % limits",
	    TAKES_LIST | REPORT_TAKES_PER | REPORT_TAKES_BY | REPORT_TAKES_MASK | REPORT_TAKES_LAYER, report_talkers,
	    BY(REPORT_BY_SRC, REPORT_BY_DST, REPORT_BY_PAIR, REPORT_BY_SUBNET, REPORT_BY_VLAN, BY_GROUPS)},
	{"matrix", "who talks to whom, as a grid",
	    TAKES_LIST | REPORT_TAKES_BY | REPORT_TAKES_LAYER, report_matrix,
	    BY(REPORT_BY_PAIR)},
	{"protocols", "what the traffic is: services, IP protocols, ethertypes, VLANs",
	    TAKES_LIST | REPORT_TAKES_PER | REPORT_TAKES_BY, report_protocols,
	    BY(REPORT_BY_SERVICE, REPORT_BY_PROTO, REPORT_BY_ETHERTYPE, REPORT_BY_VLAN)},
	{"conversations", "who talks to whom over what: addresses, ports, protocol",
	    TAKES_LIST | REPORT_TAKES_PER, report_conversations,
	    BY(REPORT_BY_CONVERSATION)},
	{"connections", "who asks whom for new TCP connections, with 95 % limits",
	    REPORT_TAKES_PER | REPORT_TAKES_BY | REPORT_TAKES_ADDR | REPORT_TAKES_TOP | REPORT_TAKES_VERSUS | REPORT_TAKES_WARN |
	    REPORT_TAKES_SURE, report_connections,
	    BY(REPORT_BY_SERVER, REPORT_BY_SRC)},
	{"history", "what ports counted over time, and which keys had most of it",
	    REPORT_TAKES_FRAMES | REPORT_TAKES_BY | REPORT_TAKES_MASK | REPORT_TAKES_LAYER |
	    REPORT_TAKES_STEP | REPORT_TAKES_SORT | REPORT_TAKES_TOP | REPORT_TAKES_WARN,
	    report_history,
	    BY(REPORT_BY_SRC, REPORT_BY_DST, REPORT_BY_PAIR, REPORT_BY_SUBNET, REPORT_BY_VLAN, REPORT_BY_SERVICE,
		REPORT_BY_PROTO, REPORT_BY_ETHERTYPE, BY_GROUPS)},
	{"load", "what each port counted, and whether the samples agree",
	    REPORT_TAKES_SORT | REPORT_TAKES_TOP | REPORT_TAKES_WARN, report_load, NULL},
	{"billing", "the 95th percentile of five minutes, of ports, link aggregates or sites", REPORT_TAKES_BY, report_billing,
	    BY(REPORT_BY_PORT, REPORT_BY_LAG, REPORT_BY_SITE)},
	{"errors", "errors and discards of each port, and who sent bad frames", REPORT_TAKES_TOP,
	    report_errors, NULL},
	{"drops", "packets that switches discarded and reported, with reasons, and how many of all these are",
	    REPORT_TAKES_BY | REPORT_TAKES_TOP, report_drops,
	    BY(REPORT_BY_SRC, REPORT_BY_DST, REPORT_BY_PAIR, REPORT_BY_PORT, REPORT_BY_REASON, REPORT_BY_PLACE,
		REPORT_BY_GROUP)},
	{"energy", "how much of the time ports were in low-power idle", 0, report_energy, NULL},
	{"pause", "back pressure, and PAUSE frames", 0, report_pause, NULL},
	{"addresses", "where an address is, since when, and where it was before",
	    REPORT_TAKES_LAYER | REPORT_TAKES_VLAN | REPORT_TAKES_ADDR | REPORT_TAKES_TOP,
	    report_addresses, NULL},
	{"events", "what happened: addresses, bad frames, links, alarms, starts",
	    REPORT_TAKES_TOP, report_events, NULL},
	{"agents", "the switches that were heard, and their clocks", 0, report_agents, NULL},
	{"audit", "whether the samples of each port may be trusted, and for what", 0, report_audit, NULL},
	{"loss", "where each missing sample was lost", REPORT_TAKES_TOP, report_loss, NULL},
	{NULL, NULL, 0, NULL, NULL},
};

const struct report *
report_find(const char *name)
{
	for (const struct report *report = reports; report->name; report++)
		if (strcmp(report->name, name) == 0)
			return report;
	return NULL;
}

bool
report_has_by(const struct report *report, enum report_by wanted)
{
	for (const enum report_by *by = report->by; by && *by; by++)
		if (*by == wanted)
			return true;
	return false;
}

int
report_run(const struct report *report, struct query *query, const struct report_options *options,
    uint64_t now_us, struct report_result *result)
{
	int err = report->run(query, options, now_us, result);

	if (err == 0 && options->filter)
		note_text(note_of(result, NOTE_ID_FILTER), "filter", options->filter->text);
	return err == 0 && !result_is_whole(result) ? -ENOMEM : err;
}
