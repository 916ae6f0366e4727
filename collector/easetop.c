/*
 * easetop: asks the collector's store and prints a report. Options are a table; what they mean is
 * report.h's business. Reads only.
 */
#include "collector/config.h"
#include "collector/report/compare.h"
#include "collector/report/query.h"
#include "collector/report/render.h"
#include "collector/report/report.h"
#include "common/clock.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_FILE "/etc/easeswitch/easecapd.conf"

/* As grep has it: 1 is an answer, here that --warn's rate is exceeded. */
enum { EXIT_WARNED = 1, EXIT_TROUBLE = 2, TOP_MAX = 1000000 };

struct easetop {
	const struct report *report;
	struct report_options options;
	struct render_options render;
	render_fn *format;
	const char *store;
	uint64_t versus_us; /* 0: not asked for */
	double warn;	    /* the same */
	bool help;
};

static int
set_choice(const char *value, const char *const *choices, int *index)
{
	for (int i = 0; choices[i]; i++)
		if (strcmp(value, choices[i]) == 0) {
			*index = i;
			return 0;
		}
	return -EINVAL;
}

static int
set_number(const char *value, long max, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(value, &end, 10);
	return errno || end == value || *end || *number < 0 || *number > max ? -EINVAL : 0;
}

static int
set_by(struct easetop *e, const char *value)
{
	static const char *const choices[] = {"src", "dst", "pair", "subnet", "vlan", "ethertype",
		"proto", "port", NULL};
	int i, err = set_choice(value, choices, &i);

	if (err == 0)
		e->options.by = (enum report_by)(REPORT_BY_SRC + i);
	return err;
}

static int
set_mask(struct easetop *e, const char *value)
{
	return report_parse_mask(value, &e->options);
}

static int
set_layer(struct easetop *e, const char *value)
{
	static const char *const choices[] = {"eth", "ip", NULL};
	int i, err = set_choice(value, choices, &i);

	if (err == 0)
		e->options.layer = (enum report_layer)i;
	return err;
}

static int
set_sort(struct easetop *e, const char *value)
{
	static const char *const choices[] = {"packets", "octets", NULL};
	int i, err = set_choice(value, choices, &i);

	if (err == 0)
		e->options.sort = (enum estimate_unit)i;
	return err;
}

static int
set_format(struct easetop *e, const char *value)
{
	static const char *const choices[] = {"text", "json", "csv", NULL};
	static render_fn *const formats[] = {render_text, render_json, render_csv};
	int i, err = set_choice(value, choices, &i);

	if (err == 0)
		e->format = formats[i];
	return err;
}

static int
set_agent(struct easetop *e, const char *value)
{
	e->options.agent = value;
	return 0;
}

static int
set_port(struct easetop *e, const char *value)
{
	e->options.port = value;
	return 0;
}

static int
set_vlan(struct easetop *e, const char *value)
{
	long number;
	int err = set_number(value, 4095, &number);

	if (err == 0)
		e->options.vlan = (int32_t)number;
	return err;
}

static int
set_addr(struct easetop *e, const char *value)
{
	return report_parse_prefix(value, &e->options.addr);
}

static int
set_proto(struct easetop *e, const char *value)
{
	return report_parse_proto(value, &e->options);
}

static int
set_from(struct easetop *e, const char *value)
{
	e->options.has_from = true;
	return clock_parse_rfc3339(value, &e->options.from_us);
}

static int
set_to(struct easetop *e, const char *value)
{
	e->options.has_to = true;
	return clock_parse_rfc3339(value, &e->options.to_us);
}

static int
set_last(struct easetop *e, const char *value)
{
	return report_parse_last(value, &e->options);
}

static int
set_top(struct easetop *e, const char *value)
{
	long number;
	int err = set_number(value, TOP_MAX, &number);

	if (err == 0)
		e->options.top = (uint32_t)number;
	return err;
}

static int
set_versus(struct easetop *e, const char *value)
{
	return report_parse_span(value, &e->versus_us);
}

static int
set_warn(struct easetop *e, const char *value)
{
	return report_parse_rate(value, &e->warn);
}

static int
set_store(struct easetop *e, const char *value)
{
	e->store = value;
	return 0;
}

static int
set_utc(struct easetop *e, const char *value)
{
	(void)value;
	e->render.utc = true;
	return 0;
}

static int
set_help(struct easetop *e, const char *value)
{
	(void)value;
	e->help = true;
	return 0;
}

static const struct option_help {
	const char *name;
	const char *value; /* NULL: takes none */
	int (*set)(struct easetop *e, const char *value); /* 0 or -EINVAL */
	const char *help;
} option_table[] = {
	{"by", "KEY", set_by, "what a row is; talkers: src (default), dst, pair, subnet or vlan;\n"
	    "                             protocols: port (default), proto, ethertype or vlan"},
	{"mask", "N[,M]", set_mask, "a subnet's bits, IPv4 and IPv6 (24,64)"},
	{"layer", "eth|ip", set_layer, "MAC or IP addresses (ip)"},
	{"agent", "ID|ADDRESS", set_agent, "one switch: its address, or its id's first digits"},
	{"port", "NAME|IFINDEX", set_port, "one port"},
	{"vlan", "N", set_vlan, "frames of one VLAN (the outermost tag)"},
	{"addr", "PREFIX", set_addr, "from or to these: 10.0.0.0/8, 2001:db8::1, 00:11:22"},
	{"proto", "NAME|N|0xTYPE", set_proto, "tcp, udp, arp, …, an IP protocol, an ethertype"},
	{"last", "5m|1h|30d|all", set_last, "the time before now, or all that is stored (5m)"},
	{"from", "TIME", set_from, "2026-11-21T14:00:00+01:00, or a date"},
	{"to", "TIME", set_to, "the same; default: now"},
	{"sort", "octets|packets", set_sort, "what makes a row large (octets)"},
	{"top", "N", set_top, "rows at most (10)"},
	{"versus", "1d", set_versus, "marks rows up, down or not settled since so long ago"},
	{"warn", "RATE", set_warn, "exit 1 if a row surely has more: 100M bit/s, 5k frame/s"},
	{"format", "text|json|csv", set_format, "for eyes or for programs (text)"},
	{"store", "sqlite:PATH", set_store, "else $EASETOP_STORE, else as " CONFIG_FILE " says"},
	{"utc", NULL, set_utc, "times in UTC instead of local time"},
	{"help", NULL, set_help, "this"},
};

enum { N_OPTIONS = sizeof(option_table) / sizeof(option_table[0]) };

static void
print_usage(FILE *out)
{
	fputs("usage: easetop REPORT [options]\n\nReports:\n", out);
	for (const struct report *report = reports; report->name; report++)
		fprintf(out, "  %-9s  %s\n", report->name, report->help);
	fputs("\nOptions:\n", out);
	for (int i = 0; i < N_OPTIONS; i++)
		fprintf(out, "  --%-8s %-15s %s\n", option_table[i].name,
		    option_table[i].value ? option_table[i].value : "", option_table[i].help);
}

static int
parse_options(struct easetop *e, int argc, char **argv)
{
	struct option long_options[N_OPTIONS + 1] = {{0}};
	int c, i;

	for (i = 0; i < N_OPTIONS; i++)
		long_options[i] = (struct option){option_table[i].name,
		    option_table[i].value ? required_argument : no_argument, NULL, 0};
	while ((c = getopt_long(argc, argv, "", long_options, &i)) != -1) {
		if (c != 0)
			return -EINVAL; /* getopt has said why */
		if (option_table[i].set(e, optarg) != 0) {
			fprintf(stderr, "easetop: --%s %s: expected %s: %s\n", option_table[i].name,
			    optarg, option_table[i].value, option_table[i].help);
			return -EINVAL;
		}
	}
	return 0;
}

static int
parse_report(struct easetop *e, int argc, char **argv)
{
	if (e->help)
		return 0;
	if (optind + 1 != argc) {
		fprintf(stderr, "easetop: %s\n",
		    optind < argc ? "one report at a time" : "which report?");
		return -EINVAL;
	}
	e->report = report_find(argv[optind]);
	if (e->report)
		return 0;
	fprintf(stderr, "easetop: no report %s; there are", argv[optind]);
	for (const struct report *report = reports; report->name; report++)
		fprintf(stderr, " %s", report->name);
	putc('\n', stderr);
	return -EINVAL;
}

/* Where the collector writes, if nobody said where to read. */
static int
open_default_store(struct query **query, char *error, size_t error_size)
{
	struct collector_config config = {0};
	int err = collector_config_load(CONFIG_FILE, &config, error, error_size);

	if (err == 0)
		err = query_open(config.store, query, error, error_size);
	else
		snprintf(error + strlen(error), error_size - strlen(error),
		    " (or name a store: --store sqlite:PATH)");
	collector_config_free(&config);
	return err;
}

static int
open_store(const struct easetop *e, struct query **query, char *error, size_t error_size)
{
	const char *store = e->store ? e->store : getenv("EASETOP_STORE");

	if (store && *store)
		return query_open(store, query, error, error_size);
	return open_default_store(query, error, error_size);
}

static int
answer(struct easetop *e, struct query *query, struct report_result *result)
{
	int err = e->report->run(query, &e->options, e->render.now_us, result);

	if (err == 0 && e->versus_us)
		err = compare_with_past(e->report, query, &e->options, e->render.now_us,
		    e->versus_us, result);
	if (err == 0 && e->warn > 0) {
		err = compare_with_rate(result, e->options.sort, e->warn);
		if (err)
			snprintf(query->error, sizeof(query->error),
			    "%s has no rates to compare with --warn", e->report->name);
	}
	return err;
}

/* The program's exit status. */
static int
print_report(struct easetop *e, struct query *query)
{
	struct report_result result = {0};
	bool warned;
	int err;

	e->options.fold_few = e->format == render_text;
	err = answer(e, query, &result);
	if (err)
		fprintf(stderr, "easetop: %s\n", *query->error ? query->error : strerror(-err));
	else
		err = e->format(stdout, &result, &e->render);
	warned = result.n_warned > 0;
	report_result_free(&result);
	if (err == 0 && fflush(stdout) != 0)
		err = -errno;
	return err ? EXIT_TROUBLE : warned ? EXIT_WARNED : EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
	struct easetop e = {
		.options = report_default_options(),
		.render.now_us = clock_wall_us(&clock_system),
		.format = render_text,
	};
	struct query *query;
	char error[QUERY_ERROR_TEXT];
	int status;

	if (parse_options(&e, argc, argv) != 0 || parse_report(&e, argc, argv) != 0) {
		fputs("easetop --help lists reports and options\n", stderr);
		return EXIT_TROUBLE;
	}
	if (e.help) {
		print_usage(stdout);
		return EXIT_SUCCESS;
	}
	if (open_store(&e, &query, error, sizeof(error)) != 0) {
		fprintf(stderr, "easetop: %s\n", error);
		return EXIT_TROUBLE;
	}
	status = print_report(&e, query);
	query_close(query);
	return status;
}
