/*
 * easetop's command line, and what it does with it: asks the store and prints a report, once or again
 * and again. What is asked, and its options, are question.h's business.
 */
#ifndef EASE_COLLECTOR_TOP_H
#define EASE_COLLECTOR_TOP_H

#include "collector/report/question.h"
#include "collector/report/render.h"

#define TOP_VENDORS_FOLDER "/usr/share/ieee-data" /* where Debian's package ieee-data has it */
#define TOP_CONFIG_FILE "/etc/easeswitch/easecapd.conf"

/* As grep has it: 1 is an answer, here that --warn's rate is exceeded. */
enum { TOP_EXIT_WARNED = 1, TOP_EXIT_TROUBLE = 2 };

struct top {
	struct question question; /* without a report: help was asked for */
	bool utc;
	render_fn *format;
	const char *store;  /* borrowed from argv; NULL: not named */
	const char *names;  /* file; NULL: none */
	bool resolve, vendors;
	uint32_t watch_s;   /* 0: not asked for */
	bool help;
};

/* Reads the command line. 0, or -EINVAL after saying why on stderr. */
int top_parse(struct top *top, int argc, char **argv);

void top_print_usage(FILE *out);

/* Prints the report to stdout, with --watch until the user ends it. The exit status. */
int top_run(struct top *top);

#endif
