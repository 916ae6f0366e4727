/*
 * Reports with a row for each port: the loop over the ports asked for, the columns that name a
 * port, and the computation of figures from the store's resource rows, so that such a report is two
 * tables of data. Used by report files of this room only.
 */
#ifndef EASE_COLLECTOR_REPORT_PORTS_H
#define EASE_COLLECTOR_REPORT_PORTS_H

#include "collector/report/result.h"

#include <stddef.h>

/* The first columns of each such report. */
enum { PORTS_SITE, PORTS_AGENT, PORTS_NAME, PORTS_IF_INDEX, PORTS_OWN };
#define PORTS_COLUMNS                                                                              \
	[PORTS_SITE] = {"site", "SITE", REPORT_TEXT},                                              \
	[PORTS_AGENT] = {"agent", "AGENT", REPORT_TEXT},                                           \
	[PORTS_NAME] = {"port", "PORT", REPORT_TEXT},                                              \
	[PORTS_IF_INDEX] = {"if_index", NULL, REPORT_COUNT}

/* What a column shows of the port's resources in the range. */
enum ports_as {
	PORTS_AS_NOTHING,
	PORTS_AS_TOTAL,
	PORTS_AS_RATE,	  /* per second */
	PORTS_AS_SECONDS, /* from microseconds */
	PORTS_AS_PERCENT, /* microseconds as a part of the time covered */
	PORTS_AS_COVERED, /* seconds covered; takes no field */
};

/* Low-power idle, back pressure and PAUSE of a port in the range; 0 where its device counts
 * none. */
struct port_resources {
	unsigned known;	/* enum ease_resource: what the device counts */
	double seconds; /* covered; 0: fewer than two rows */
	double in_events, in_asleep_us, out_events, out_asleep_us;
	double pressed_episodes, pressed_us, ingress_drops, pauses_in, pauses_out;
};

struct ports_figure {
	uint8_t needs; /* enum ease_resource; the column is unknown where the device lacks it */
	uint8_t as;
	uint16_t field; /* double of struct port_resources */
};
#define PORTS_FIGURE(needs, as, field)                                                             \
	{(needs), (as), offsetof(struct port_resources, field)}

struct ports_report {
	const char *name;
	const struct report_column *columns; /* begin with PORTS_COLUMNS */
	size_t n_columns;
	/* Adds the port's row, or none if it has nothing to show. 0 or -errno. */
	int (*add)(struct query *query, const struct ports_report *report,
	    const struct query_port *port, struct report_result *result);
	const struct ports_figure *figures; /* for ports_add_resources: one for each column */
	unsigned any_of; /* a port has a row if its device counts one of these resources */
};

/* Fills the whole result. */
int ports_report(struct query *query, const struct ports_report *report,
    const struct report_options *options, uint64_t now_us, struct report_result *result);

/* A new row that names its port; NULL without memory. */
struct report_value *ports_row(struct report_result *result, const struct query_port *port);

int ports_add_resources(struct query *query, const struct ports_report *report,
    const struct query_port *port, struct report_result *result);

#endif
