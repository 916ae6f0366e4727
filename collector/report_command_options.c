#include "collector/report_command.h"

#include "collector/config.h"
#include "common/clock.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { WATCH_MAX_S = 86400 };

static int
set_format(struct report_command *command, const char *value)
{
	static const char *const choices[] = {"text", "json", "csv", NULL};
	static render_fn *const formats[] = {render_text, render_json, render_csv};
	int i, err = question_parse_choice(value, choices, &i);

	if (err == 0)
		command->format = formats[i];
	return err;
}

static int
set_names(struct report_command *command, const char *value)
{
	command->names = value;
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
	int err = question_parse_number(value, WATCH_MAX_S, &number);

	if (err == 0 && number == 0)
		err = -EINVAL;
	if (err == 0)
		command->watch_s = (uint32_t)number;
	return err;
}

static int
set_store(struct report_command *command, const char *value)
{
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

/* What only a command line has, beside question_options. */
static const struct command_option {
	const char *name;
	const char *value; /* NULL: takes none */
	int (*set)(struct report_command *command, const char *value); /* 0 or -EINVAL */
	const char *help;
} command_options[] = {
	{"names", "FILE", set_names, "names of addresses, prefixes and VLANs, like /etc/hosts"},
	{"resolve", NULL, set_resolve, "ask the resolver for names of IP addresses"},
	{"vendors", NULL, set_vendors, "makers of MAC addresses (package ieee-data)"},
	{"watch", "SECONDS", set_watch, "draw it again so often, as top does, until q is pressed"},
	{"format", "text|json|csv", set_format, "for eyes or for programs (text)"},
	{"store", "STORE", set_store, "sqlite:PATH, or clickhouse:[URL] (easetop(1)); else"
		" $EASETOP_STORE,\n                             else as " COMMAND_CONFIG_FILE " says"},
	{"utc", NULL, set_utc, "times in UTC instead of local time"},
	{"help", NULL, set_help, "this"},
	{NULL, NULL, NULL, NULL},
};

enum { OPTIONS_MAX = 32 };

static void
print_option(FILE *out, const char *name, const char *value, const char *help)
{
	fprintf(out, "  --%-8s %-15s %s\n", name, value ? value : "", help);
}

void
report_command_print_usage(FILE *out)
{
	fputs("usage: easetop REPORT [options]\n\nReports:\n", out);
	for (const struct report *report = reports; report->name; report++)
		fprintf(out, "  %-13s  %s\n", report->name, report->help);
	fputs("\nOptions:\n", out);
	for (const struct question_option *o = question_options; o->name; o++)
		print_option(out, o->name, o->value, o->help);
	for (const struct command_option *o = command_options; o->name; o++)
		print_option(out, o->name, o->value, o->help);
	fputs("\nExit status: 0; 1 if --warn found something; 2 if there is no answer.\n", out);
}

/* The options of questions, then those of the command line. */
static void
list_options(struct option long_options[OPTIONS_MAX])
{
	int n = 0;

	for (const struct question_option *o = question_options; o->name; o++)
		long_options[n++] = (struct option){o->name, required_argument, NULL, 0};
	for (const struct command_option *o = command_options; o->name; o++)
		long_options[n++] = (struct option){o->name,
		    o->value ? required_argument : no_argument, NULL, 0};
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
	err = asked ? asked->set(&command->question, text) : o->set(command, text);
	if (err)
		fprintf(stderr, "easetop: --%s %s: expected %s: %s\n", name, text,
		    asked ? asked->value : o->value, asked ? asked->help : o->help);
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

static int
parse_report(struct report_command *command, int argc, char **argv)
{
	if (command->help)
		return 0;
	if (optind + 1 != argc) {
		fprintf(stderr, "easetop: %s\n",
		    optind < argc ? "one report at a time" : "which report?");
		return -EINVAL;
	}
	command->question.report = report_find(argv[optind]);
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
	*command = (struct report_command){.question.options = report_default_options(), .format = render_text};
	if (parse_options(command, argc, argv) != 0)
		return -EINVAL;
	command->question.options.fold_few = command->format == render_text;
	return parse_report(command, argc, argv);
}
