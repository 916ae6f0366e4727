#include "collector/report_command.h"

#include "collector/config.h"
#include "collector/query/query.h"
#include "collector/report/by_values.h"
#include "collector/report/samples.h"
#include "common/clock.h"
#include "common/text.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { WATCH_MAX_S = 86400 };

static int
set_format(struct report_command *command, const char *value)
{
	static const char *const choices[] = {"text", "json", "csv", "pcapng", NULL};
	static render_fn *const formats[] = {render_text, render_json, render_csv, render_text};
	int i, err = question_parse_choice(value, choices, &i);

	if (err == 0) {
		command->format = formats[i];
		command->is_pcapng = strcmp(choices[i], "pcapng") == 0;
	}
	return err;
}

static int
set_all(struct report_command *command, const char *value)
{
	(void)value;
	command->all = true;
	return 0;
}

static int
set_names(struct report_command *command, const char *value)
{
	command->names = value;
	return 0;
}

static int
set_mmdb(struct report_command *command, const char *value)
{
	if (command->n_mmdb == ADDRESS_DATABASES_MAX)
		return -EINVAL;
	command->mmdb[command->n_mmdb++] = value;
	return 0;
}

static int
set_resolve(struct report_command *command, const char *value)
{
	(void)value;
	command->resolve = true;
	return 0;
}

static int
set_vendors(struct report_command *command, const char *value)
{
	(void)value;
	command->vendors = true;
	return 0;
}

static int
set_watch(struct report_command *command, const char *value)
{
	long number;
	int err = question_parse_number(value, 1, WATCH_MAX_S, &number);

	if (err == 0)
		command->watch_s = (uint32_t)number;
	return err;
}

static int
set_store(struct report_command *command, const char *value)
{
	if (command->store)
		return -EINVAL;
	command->store = value;
	return 0;
}

static int
set_utc(struct report_command *command, const char *value)
{
	(void)value;
	command->utc = true;
	return 0;
}

static int
set_help(struct report_command *command, const char *value)
{
	(void)value;
	command->help = true;
	return 0;
}

static int
set_version(struct report_command *command, const char *value)
{
	(void)value;
	command->version = true;
	return 0;
}

/* The options that only a command line has, beside question_options. */
static const struct command_option {
	const char *name;
	const char *value; /* NULL: takes none */
	const char *expected; /* of a value that can be refused */
	int (*set)(struct report_command *command, const char *value); /* 0 or -EINVAL */
	const char *help;
} command_options[] = {
	{"names", "FILE", NULL, set_names, "names of addresses, prefixes and VLANs, like /etc/hosts"},
	{"mmdb", "FILE", "may be given eight times", set_mmdb,
	    "AS numbers and countries, as GeoLite2-ASN.mmdb; may be given again"},
	{"resolve", NULL, NULL, set_resolve, "asks the resolver for names of IP addresses"},
	{"vendors", NULL, NULL, set_vendors, "makers of MAC addresses (package ieee-data)"},
	{"all", NULL, NULL, set_all, "loss: all columns, and the collector's own counters"},
	{"watch", "SECONDS", "must be 1 to 86400", set_watch,
	    "draws the report again this often, as top does, until q is\n"
	    "                             pressed; each picture is judged for itself"},
	{"format", "text|json|csv", "must be text, json, csv, or for samples pcapng", set_format,
	    "text for people, JSON or CSV for programs (text);\n"
	    "                             samples: JSON lines, or pcapng of headers that are kept"},
	{"store", "STORE", "may be given once (several collectors are asked together in a cluster)", set_store,
	    "sqlite:PATH, or clickhouse:[URL] (easetop(1)); default:\n"
	    "                             $EASETOP_STORE, else the store that\n"
	    "                             " COMMAND_CONFIG_FILE " names"},
	{"utc", NULL, NULL, set_utc, "times in UTC instead of local time"},
	{"version", NULL, NULL, set_version, "prints the version"},
	{"help", NULL, NULL, set_help, "prints this"},
	{NULL, NULL, NULL, NULL, NULL},
};

enum { OPTIONS_MAX = 64 };

static void
print_option(FILE *out, const char *name, const char *value, const char *help)
{
	fprintf(out, "  --%-8s %-15s%s%s\n", name, value ? value : "", *help == '\n' ? "" : " ", help);
}

/* What --by may be of a report. */
static void
print_by(FILE *out, const struct report *report)
{
	char values[320] = "";
	const enum report_by *first = by_values_of(report->name);

	for (const enum report_by *by = first; *by; by++)
		text_add(values, sizeof(values), "%s%s%s", by == first ? "" : ", ", report_by_name(*by),
		    by == first ? " (default)" : "");
	print_option(out, "by", "KEY", "what a row is:");
	fprintf(out, "%29s%s\n", "", values);
}

static void
print_options(FILE *out, const struct report *report)
{
	for (const struct question_option *o = question_options; o->name; o++)
		if (report && strcmp(o->name, "by") == 0 && report->takes & o->takes)
			print_by(out, report);
		else if (!report || o->takes == 0 || report->takes & o->takes)
			print_option(out, o->name, o->value, o->help);
	for (const struct command_option *o = command_options; o->name; o++)
		print_option(out, o->name, o->value, o->help);
}

void
report_command_print_usage(const struct report_command *command, FILE *out)
{
	const struct report *asked = command->question.report;

	if (asked) {
		fprintf(out, "usage: easetop %s [options]: %s\n\nOptions:\n", asked->name, asked->help);
		print_options(out, asked);
		fputs("\neasetop --help lists the other reports, and says how a list reads.\n", out);
		return;
	}
	fputs("usage: easetop REPORT [options], easetop samples [options], or easetop claims\n"
	      "easetop REPORT --help: the options of that report\n\nReports:\n", out);
	for (const struct report *report = reports; report->name; report++)
		fprintf(out, "  %-13s  %s\n", report->name, report->help);
	fputs("\nOptions:\n", out);
	print_options(out, NULL);
	fputs("\nReading a list: of LOW..HIGH, in the unit of the figure before them, 95 of 100 hold"
	      "\nthat lists print, also for the first row alone. All sums below the rows add up to what"
	      "\nthe ports counted, if they send counters. easetop claims says of each printed thing what it claims.\nThe bar goes with = up to the lower limit and on with - to the upper one; its full"
	      "\nwidth is the largest upper limit. CHECK of load: ok, few samples, not sampling,"
	      "\nmismatch, no counters, few counters, not kept, silent, down. \"about\" says that ports sent no counters: their"
	      "\nfigures are by samples alone.\n"
	      "\nExit status: 0; 1 if a row exceeds --warn; 2 if there is no answer.\n", out);
}

/* The options of questions, then those of the command line. */
static void
list_options(struct option long_options[OPTIONS_MAX])
{
	int n = 0;

	for (const struct question_option *o = question_options; o->name && n < OPTIONS_MAX; o++)
		long_options[n++] = (struct option){o->name, required_argument, NULL, 0};
	for (const struct command_option *o = command_options; o->name && n < OPTIONS_MAX; o++)
		long_options[n++] = (struct option){o->name,
		    o->value ? required_argument : no_argument, NULL, 0};
	assert(n < OPTIONS_MAX);
	long_options[n] = (struct option){0};
}

static int
set_option(struct report_command *command, const char *name, const char *text)
{
	const struct question_option *asked = question_find_option(name);
	const struct command_option *o = command_options;
	int err;

	while (!asked && strcmp(o->name, name) != 0)
		o++;
	err = asked ? question_set(&command->question, asked, text) : o->set(command, text);
	if (err)
		fprintf(stderr, "easetop: --%s %s: %s\n", name, text,
		    asked ? question_refusal(&command->question, asked) : o->expected);
	return err;
}

static int
parse_options(struct report_command *command, int argc, char **argv)
{
	struct option long_options[OPTIONS_MAX];
	int c, i, err = 0;

	list_options(long_options);
	while (err == 0 && (c = getopt_long(argc, argv, "", long_options, &i)) != -1)
		err = c != 0 ? -EINVAL /* getopt has said why */
			     : set_option(command, long_options[i].name, optarg);
	return err;
}

/* Only one word is not an option's: the report. */
static int
refuse_word(const char *word)
{
	struct filter_prefix prefix;

	if (report_find(word))
		fprintf(stderr, "easetop: unexpected %s: one report at a time\n", word);
	else if (filter_parse_prefix(word, &prefix) == 0)
		fprintf(stderr, "easetop: unexpected %s; --addr filters by address\n", word);
	else
		fprintf(stderr, "easetop: unexpected %s; each option begins with --\n", word);
	return -EINVAL;
}

static const struct report *
find_report(const char *name)
{
	return strcmp(name, samples_report.name) == 0 ? &samples_report : report_find(name);
}

static int
parse_report(struct report_command *command, int argc, char **argv)
{
	if (command->help && optind < argc)
		command->question.report = find_report(argv[optind]);
	if (command->help || command->version)
		return 0;
	if (optind == argc) {
		fputs("easetop: which report?\n", stderr);
		return -EINVAL;
	}
	if (optind + 1 < argc)
		return refuse_word(argv[optind + 1]);
	command->claims = strcmp(argv[optind], "claims") == 0;
	if (command->claims)
		return 0;
	command->question.report = find_report(argv[optind]);
	if (command->question.report)
		return 0;
	fprintf(stderr, "easetop: no report %s; there are", argv[optind]);
	for (const struct report *report = reports; report->name; report++)
		fprintf(stderr, " %s", report->name);
	putc('\n', stderr);
	return -EINVAL;
}

int
report_command_parse(struct report_command *command, int argc, char **argv)
{
	char error[QUERY_ERROR_TEXT];
	int err;

	*command = (struct report_command){.question.options = report_default_options(),
	    .format = render_text};
	if (parse_options(command, argc, argv) != 0)
		return -EINVAL;
	command->question.options.fold_few = command->format == render_text;
	err = parse_report(command, argc, argv);
	if (err || command->help || command->version || command->claims)
		return err;
	err = question_check_options(&command->question, error, sizeof(error));
	if (err == 0 && command->is_pcapng && command->question.report != &samples_report) {
		snprintf(error, sizeof(error), "--format pcapng is for samples");
		err = -EINVAL;
	}
	if (err == 0)
		err = question_finish(&command->question, error, sizeof(error));
	if (err)
		fprintf(stderr, "easetop: %s\n", error);
	return err;
}
