#include "collector/report/by_values.h"

#include "common/text.h"

#include <stdio.h>
#include <string.h>

#define GROUPS REPORT_BY_NETWORK, REPORT_BY_DST_NETWORK, REPORT_BY_NETWORK_PAIR, REPORT_BY_AS, REPORT_BY_DST_AS,  \
	REPORT_BY_AS_PAIR, REPORT_BY_COUNTRY, REPORT_BY_DST_COUNTRY, REPORT_BY_COUNTRY_PAIR

static const struct {
	const char *report;
	enum report_by by[20]; /* ended by REPORT_BY_DEFAULT */
} table[] = {
	{"talkers", {REPORT_BY_SRC, REPORT_BY_DST, REPORT_BY_PAIR, REPORT_BY_SUBNET, REPORT_BY_VLAN, REPORT_BY_VNI,
	    GROUPS}},
	{"matrix", {REPORT_BY_PAIR}},
	{"protocols", {REPORT_BY_SERVICE, REPORT_BY_PROTO, REPORT_BY_ETHERTYPE, REPORT_BY_VLAN, REPORT_BY_VNI}},
	{"conversations", {REPORT_BY_CONVERSATION}},
	{"connections", {REPORT_BY_SERVER, REPORT_BY_SRC}},
	{"history", {REPORT_BY_SRC, REPORT_BY_DST, REPORT_BY_PAIR, REPORT_BY_SUBNET, REPORT_BY_VLAN, REPORT_BY_VNI, REPORT_BY_SERVICE,
	    REPORT_BY_PROTO, REPORT_BY_ETHERTYPE, GROUPS}},
	{"delay", {REPORT_BY_PORT, REPORT_BY_QUEUE, REPORT_BY_PORT_PAIR, REPORT_BY_SRC, REPORT_BY_DST, REPORT_BY_PAIR}},
	{"billing", {REPORT_BY_PORT, REPORT_BY_LAG, REPORT_BY_SITE}},
	{"drops", {REPORT_BY_SRC, REPORT_BY_DST, REPORT_BY_PAIR, REPORT_BY_PORT, REPORT_BY_REASON, REPORT_BY_PLACE,
	    REPORT_BY_GROUP}},
};

enum { N_REPORTS = sizeof(table) / sizeof(table[0]) };

const enum report_by *
by_values_of(const char *report)
{
	for (size_t i = 0; i < N_REPORTS; i++)
		if (strcmp(table[i].report, report) == 0)
			return table[i].by;
	return NULL;
}

bool
by_values_have(const char *report, enum report_by wanted)
{
	for (const enum report_by *by = by_values_of(report); by && *by; by++)
		if (*by == wanted)
			return true;
	return false;
}

void
by_values_refuse(const char *report, enum report_by by, char *error, size_t error_size)
{
	const char *between = "; it is for ";

	snprintf(error, error_size, "%s has no --by %s", report, report_by_name(by));
	for (size_t i = 0; i < N_REPORTS; i++)
		if (by_values_have(table[i].report, by)) {
			text_add(error, error_size, "%s%s", between, table[i].report);
			between = ", ";
		}
}
