/*
 * easetop's command line, and its execution: reads the store and prints a report, once or
 * repeatedly. question.h has the options of a report.
 */
#ifndef EASE_COLLECTOR_REPORT_COMMAND_H
#define EASE_COLLECTOR_REPORT_COMMAND_H

#include "collector/filter/address_databases.h"
#include "collector/render/render.h"
#include "collector/report/question.h"

#define COMMAND_VENDORS_FOLDER "/usr/share/ieee-data" /* where Debian's package ieee-data has it */
#define COMMAND_CONFIG_FILE "/etc/easeswitch/easecapd.conf"

/* As with grep, 1 is an answer: a row exceeds --warn. */
enum { COMMAND_EXIT_WARNED = 1, COMMAND_EXIT_TROUBLE = 2 };

struct report_command {
	struct question question; /* without a report: help, version or claims were asked for */
	bool utc;
	render_fn *format;
	bool is_pcapng; /* of samples */
	const char *store;  /* borrowed from argv; NULL: not named */
	const char *names;  /* file; NULL: none */
	const char *mmdb[ADDRESS_DATABASES_MAX]; /* files */
	size_t n_mmdb;
	bool resolve, vendors;
	bool all; /* details, too */
	uint32_t watch_s;   /* 0: not asked for */
	bool help, version, claims; /* are asked for, and no report */
};

/* Reads the command line. 0, or -EINVAL after saying why on stderr. */
int report_command_parse(struct report_command *command, int argc, char **argv);

/* Of the report that was named, or of all. */
void report_command_print_usage(const struct report_command *command, FILE *out);

/* Prints the report to stdout, with --watch until the user ends it. The exit status. */
int report_command_run(struct report_command *command);

#endif
