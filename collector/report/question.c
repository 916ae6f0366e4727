#include "collector/report/question.h"

#include "collector/report/compare.h"
#include "collector/report/query.h"
#include "common/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_MAX = 1000000 };

int
question_parse_choice(const char *value, const char *const *choices, int *index)
{
	for (int i = 0; choices[i]; i++)
		if (strcmp(value, choices[i]) == 0) {
			*index = i;
			return 0;
		}
	return -EINVAL;
}

int
question_parse_number(const char *value, long max, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(value, &end, 10);
	return errno || end == value || *end || *number < 0 || *number > max ? -EINVAL : 0;
}

static int
set_by(struct question *question, const char *value)
{
	static const char *const choices[] = {"src", "dst", "pair", "subnet", "vlan", "ethertype",
		"proto", "port", NULL};
	int i, err = question_parse_choice(value, choices, &i);

	if (err == 0)
		question->options.by = (enum report_by)(REPORT_BY_SRC + i);
	return err;
}

static int
set_mask(struct question *question, const char *value)
{
	return report_parse_mask(value, &question->options);
}

static int
set_layer(struct question *question, const char *value)
{
	static const char *const choices[] = {"eth", "ip", "inner", NULL};
	int i, err = question_parse_choice(value, choices, &i);

	if (err == 0)
		question->options.layer = (enum report_layer)i;
	return err;
}

static int
set_sort(struct question *question, const char *value)
{
	static const char *const choices[] = {"packets", "octets", NULL};
	int i, err = question_parse_choice(value, choices, &i);

	if (err == 0)
		question->options.sort = (enum estimate_unit)i;
	return err;
}

static int
set_agent(struct question *question, const char *value)
{
	question->options.agent = value;
	return 0;
}

static int
set_port(struct question *question, const char *value)
{
	question->options.port = value;
	return 0;
}

static int
set_vlan(struct question *question, const char *value)
{
	long number;
	int err = question_parse_number(value, 4095, &number);

	if (err == 0)
		question->options.vlan = (int32_t)number;
	return err;
}

static int
set_addr(struct question *question, const char *value)
{
	return report_parse_prefix(value, &question->options.addr);
}

static int
set_proto(struct question *question, const char *value)
{
	return report_parse_proto(value, &question->options);
}

static int
set_from(struct question *question, const char *value)
{
	question->options.has_from = true;
	return clock_parse_rfc3339(value, &question->options.from_us);
}

static int
set_to(struct question *question, const char *value)
{
	question->options.has_to = true;
	return clock_parse_rfc3339(value, &question->options.to_us);
}

static int
set_last(struct question *question, const char *value)
{
	return report_parse_last(value, &question->options);
}

static int
set_step(struct question *question, const char *value)
{
	return report_parse_span(value, &question->options.step_us);
}

static int
set_top(struct question *question, const char *value)
{
	long number;
	int err = question_parse_number(value, TOP_MAX, &number);

	if (err == 0)
		question->options.top = (uint32_t)number;
	return err;
}

static int
set_versus(struct question *question, const char *value)
{
	return report_parse_span(value, &question->versus_us);
}

static int
set_warn(struct question *question, const char *value)
{
	return report_parse_rate(value, &question->warn);
}

const struct question_option question_options[] = {
	{"by", "KEY", set_by, "what a row is; talkers: src (default), dst, pair, subnet or vlan;\n"
	    "                             protocols: port (default), proto, ethertype or vlan;\n"
	    "                             history: any of them (src)"},
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
	{"step", "SPAN", set_step, "history: a row is so long, whole minutes (up to 300 rows)"},
	{"sort", "octets|packets", set_sort, "what makes a row large (octets)"},
	{"top", "N", set_top, "rows at most (10)"},
	{"versus", "SPAN", set_versus, "marks rows up, down or not settled since so long ago: 1d"},
	{"warn", "RATE", set_warn, "exit 1 if a row surely has more: 100M bit/s, 5k frame/s"},
	{NULL, NULL, NULL, NULL},
};

const struct question_option *
question_find_option(const char *name)
{
	for (const struct question_option *option = question_options; option->name; option++)
		if (strcmp(option->name, name) == 0)
			return option;
	return NULL;
}

int
question_answer(const struct question *question, struct query *query, uint64_t now_us,
    struct report_result *result)
{
	int err = report_run(question->report, query, &question->options, now_us, result);

	if (err == 0 && question->versus_us)
		err = compare_with_past(question->report, query, &question->options, now_us,
		    question->versus_us, result);
	if (err == 0 && question->warn > 0) {
		err = compare_with_rate(result, question->options.sort, question->warn);
		if (err)
			snprintf(query->error, sizeof(query->error),
			    "%s has no rates to compare with --warn", question->report->name);
	}
	if (err && !*query->error)
		snprintf(query->error, sizeof(query->error), "%s", strerror(-err));
	return err;
}
