#include "collector/top.h"

#include "collector/config.h"
#include "common/clock.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_MAX = 1000000, WATCH_MAX_S = 86400 };

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
set_by(struct top *top, const char *value)
{
	static const char *const choices[] = {"src", "dst", "pair", "subnet", "vlan", "ethertype",
		"proto", "port", NULL};
	int i, err = set_choice(value, choices, &i);

	if (err == 0)
		top->options.by = (enum report_by)(REPORT_BY_SRC + i);
	return err;
}

static int
set_mask(struct top *top, const char *value)
{
	return report_parse_mask(value, &top->options);
}

static int
set_layer(struct top *top, const char *value)
{
	static const char *const choices[] = {"eth", "ip", "inner", NULL};
	int i, err = set_choice(value, choices, &i);

	if (err == 0)
		top->options.layer = (enum report_layer)i;
	return err;
}

static int
set_sort(struct top *top, const char *value)
{
	static const char *const choices[] = {"packets", "octets", NULL};
	int i, err = set_choice(value, choices, &i);

	if (err == 0)
		top->options.sort = (enum estimate_unit)i;
	return err;
}

static int
set_format(struct top *top, const char *value)
{
	static const char *const choices[] = {"text", "json", "csv", NULL};
	static render_fn *const formats[] = {render_text, render_json, render_csv};
	int i, err = set_choice(value, choices, &i);

	if (err == 0)
		top->format = formats[i];
	return err;
}

static int
set_agent(struct top *top, const char *value)
{
	top->options.agent = value;
	return 0;
}

static int
set_port(struct top *top, const char *value)
{
	top->options.port = value;
	return 0;
}

static int
set_vlan(struct top *top, const char *value)
{
	long number;
	int err = set_number(value, 4095, &number);

	if (err == 0)
		top->options.vlan = (int32_t)number;
	return err;
}

static int
set_addr(struct top *top, const char *value)
{
	return report_parse_prefix(value, &top->options.addr);
}

static int
set_proto(struct top *top, const char *value)
{
	return report_parse_proto(value, &top->options);
}

static int
set_from(struct top *top, const char *value)
{
	top->options.has_from = true;
	return clock_parse_rfc3339(value, &top->options.from_us);
}

static int
set_to(struct top *top, const char *value)
{
	top->options.has_to = true;
	return clock_parse_rfc3339(value, &top->options.to_us);
}

static int
set_last(struct top *top, const char *value)
{
	return report_parse_last(value, &top->options);
}

static int
set_top(struct top *top, const char *value)
{
	long number;
	int err = set_number(value, TOP_MAX, &number);

	if (err == 0)
		top->options.top = (uint32_t)number;
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
set_versus(struct top *top, const char *value)
{
	return report_parse_span(value, &top->versus_us);
}

static int
set_warn(struct top *top, const char *value)
{
	return report_parse_rate(value, &top->warn);
}

static int
set_watch(struct top *top, const char *value)
{
	long number;
	int err = set_number(value, WATCH_MAX_S, &number);

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

static const struct option_help {
	const char *name;
	const char *value; /* NULL: takes none */
	int (*set)(struct top *top, const char *value); /* 0 or -EINVAL */
	const char *help;
} option_table[] = {
	{"by", "KEY", set_by, "what a row is; talkers: src (default), dst, pair, subnet or vlan;\n"
	    "                             protocols: port (default), proto, ethertype or vlan"},
	{"mask", "N[,M]", set_mask, "a subnet's bits, IPv4 and IPv6 (24,64)"},
	{"layer", "eth|ip|inner", set_layer, "MAC or IP addresses, or IP inside tunnels (ip)"},
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
	{"names", "FILE", set_names, "names of addresses, prefixes and VLANs, like /etc/hosts"},
	{"resolve", NULL, set_resolve, "ask the resolver for names of IP addresses"},
	{"vendors", NULL, set_vendors, "makers of MAC addresses (package ieee-data)"},
	{"versus", "SPAN", set_versus, "marks rows up, down or not settled since so long ago: 1d"},
	{"warn", "RATE", set_warn, "exit 1 if a row surely has more: 100M bit/s, 5k frame/s"},
	{"watch", "SECONDS", set_watch, "draw it again so often, as top does, until q is pressed"},
	{"format", "text|json|csv", set_format, "for eyes or for programs (text)"},
	{"store", "sqlite:PATH", set_store, "else $EASETOP_STORE, else as " TOP_CONFIG_FILE " says"},
	{"utc", NULL, set_utc, "times in UTC instead of local time"},
	{"help", NULL, set_help, "this"},
};

enum { N_OPTIONS = sizeof(option_table) / sizeof(option_table[0]) };

void
top_print_usage(FILE *out)
{
	fputs("usage: easetop REPORT [options]\n\nReports:\n", out);
	for (const struct report *report = reports; report->name; report++)
		fprintf(out, "  %-13s  %s\n", report->name, report->help);
	fputs("\nOptions:\n", out);
	for (int i = 0; i < N_OPTIONS; i++)
		fprintf(out, "  --%-8s %-15s %s\n", option_table[i].name,
		    option_table[i].value ? option_table[i].value : "", option_table[i].help);
	fputs("\nExit status: 0; 1 if --warn found something; 2 if there is no answer.\n", out);
}

static int
parse_options(struct top *top, int argc, char **argv)
{
	struct option long_options[N_OPTIONS + 1] = {{0}};
	int c, i;

	for (i = 0; i < N_OPTIONS; i++)
		long_options[i] = (struct option){option_table[i].name,
		    option_table[i].value ? required_argument : no_argument, NULL, 0};
	while ((c = getopt_long(argc, argv, "", long_options, &i)) != -1) {
		if (c != 0)
			return -EINVAL; /* getopt has said why */
		if (option_table[i].set(top, optarg) != 0) {
			fprintf(stderr, "easetop: --%s %s: expected %s: %s\n", option_table[i].name,
			    optarg, option_table[i].value, option_table[i].help);
			return -EINVAL;
		}
	}
	return 0;
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
	top->report = report_find(argv[optind]);
	if (top->report)
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
	*top = (struct top){.options = report_default_options(), .format = render_text};
	if (parse_options(top, argc, argv) != 0)
		return -EINVAL;
	top->options.fold_few = top->format == render_text;
	return parse_report(top, argc, argv);
}
