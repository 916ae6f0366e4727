/*
 * easetop's options, as a table, and what it does with them: asks the store and prints a report,
 * once or again and again. What the options mean to a report is report.h's business.
 */
#ifndef EASE_COLLECTOR_TOP_H
#define EASE_COLLECTOR_TOP_H

#include "collector/report/render.h"
#include "collector/report/report.h"

#define TOP_VENDORS_FOLDER "/usr/share/ieee-data" /* where Debian's package ieee-data has it */
#define TOP_CONFIG_FILE "/etc/easeswitch/easecapd.conf"

/* As grep has it: 1 is an answer, here that --warn's rate is exceeded. */
enum { TOP_EXIT_WARNED = 1, TOP_EXIT_TROUBLE = 2 };

struct top {
	const struct report *report; /* NULL: help was asked for */
	struct report_options options;
	bool utc;
	render_fn *format;
	const char *store;  /* borrowed from argv; NULL: not named */
	const char *names;  /* file; NULL: none */
	bool resolve, vendors;
	uint64_t versus_us; /* 0: not asked for */
	double warn;	    /* the same */
	uint32_t watch_s;   /* the same */
	bool help;
};

/* Reads the command line. 0, or -EINVAL after saying why on stderr. */
int top_parse(struct top *top, int argc, char **argv);

void top_print_usage(FILE *out);

/* Prints the report to stdout, with --watch until the user ends it. The exit status. */
int top_run(struct top *top);

#endif
