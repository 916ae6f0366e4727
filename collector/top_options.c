#include "collector/top.h"

#include "collector/config.h"
#include "common/clock.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { WATCH_MAX_S = 86400 };

static int
set_format(struct top *top, const char *value)
{
	static const char *const choices[] = {"text", "json", "csv", NULL};
	static render_fn *const formats[] = {render_text, render_json, render_csv};
	int i, err = question_parse_choice(value, choices, &i);

	if (err == 0)
		top->format = formats[i];
	return err;
}

static int
set_names(struct top *top, const char *value)
{
	top->names = value;
	return 0;
}

static int
set_resolve(struct top *top, const char *value)
{
	(void)value;
	top->resolve = true;
	return 0;
}

static int
set_vendors(struct top *top, const char *value)
{
	(void)value;
	top->vendors = true;
	return 0;
}

static int
set_watch(struct top *top, const char *value)
{
	long number;
	int err = question_parse_number(value, WATCH_MAX_S, &number);

	if (err == 0 && number == 0)
		err = -EINVAL;
	if (err == 0)
		top->watch_s = (uint32_t)number;
	return err;
}

static int
set_store(struct top *top, const char *value)
{
	top->store = value;
	return 0;
}

static int
set_utc(struct top *top, const char *value)
{
	(void)value;
	top->utc = true;
	return 0;
}

static int
set_help(struct top *top, const char *value)
{
	(void)value;
	top->help = true;
	return 0;
}

/* What only a command line has, beside question_options. */
static const struct command_option {
	const char *name;
	const char *value; /* NULL: takes none */
	int (*set)(struct top *top, const char *value); /* 0 or -EINVAL */
	const char *help;
} command_options[] = {
	{"names", "FILE", set_names, "names of addresses, prefixes and VLANs, like /etc/hosts"},
	{"resolve", NULL, set_resolve, "ask the resolver for names of IP addresses"},
	{"vendors", NULL, set_vendors, "makers of MAC addresses (package ieee-data)"},
	{"watch", "SECONDS", set_watch, "draw it again so often, as top does, until q is pressed"},
	{"format", "text|json|csv", set_format, "for eyes or for programs (text)"},
	{"store", "STORE", set_store, "sqlite:PATH, or clickhouse:[URL] (easetop(1)); else"
		" $EASETOP_STORE,\n                             else as " TOP_CONFIG_FILE " says"},
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
top_print_usage(FILE *out)
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
set_option(struct top *top, const char *name, const char *text)
{
	const struct question_option *asked = question_find_option(name);
	const struct command_option *o = command_options;
	int err;

	while (!asked && strcmp(o->name, name) != 0)
		o++;
	err = asked ? asked->set(&top->question, text) : o->set(top, text);
	if (err)
		fprintf(stderr, "easetop: --%s %s: expected %s: %s\n", name, text,
		    asked ? asked->value : o->value, asked ? asked->help : o->help);
	return err;
}

static int
parse_options(struct top *top, int argc, char **argv)
{
	struct option long_options[OPTIONS_MAX];
	int c, i, err = 0;

	list_options(long_options);
	while (err == 0 && (c = getopt_long(argc, argv, "", long_options, &i)) != -1)
		err = c != 0 ? -EINVAL /* getopt has said why */
			     : set_option(top, long_options[i].name, optarg);
	return err;
}

static int
parse_report(struct top *top, int argc, char **argv)
{
	if (top->help)
		return 0;
	if (optind + 1 != argc) {
		fprintf(stderr, "easetop: %s\n",
		    optind < argc ? "one report at a time" : "which report?");
		return -EINVAL;
	}
	top->question.report = report_find(argv[optind]);
	if (top->question.report)
		return 0;
	fprintf(stderr, "easetop: no report %s; there are", argv[optind]);
	for (const struct report *report = reports; report->name; report++)
		fprintf(stderr, " %s", report->name);
	putc('\n', stderr);
	return -EINVAL;
}

int
top_parse(struct top *top, int argc, char **argv)
{
	*top = (struct top){.question.options = report_default_options(), .format = render_text};
	if (parse_options(top, argc, argv) != 0)
		return -EINVAL;
	top->question.options.fold_few = top->format == render_text;
	return parse_report(top, argc, argv);
}
