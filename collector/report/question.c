#include "collector/report/question.h"

#include "collector/filter/address_names.h"
#include "collector/filter/protocol_names.h"
#include "collector/query/query.h"
#include "collector/report/compare.h"
#include "collector/report/samples.h"
#include "common/clock.h"
#include "common/text.h"

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
question_parse_number(const char *value, long min, long max, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(value, &end, 10);
	return errno || end == value || *end || *number < min || *number > max ? -EINVAL : 0;
}

static int
set_by(struct question *question, const char *value)
{
	for (enum report_by by = REPORT_BY_SRC; by < REPORT_BY_CONVERSATION; by++)
		if (strcmp(value, report_by_name(by)) == 0) {
			question->options.by = by;
			return 0;
		}
	return -EINVAL;
}

static int
set_per(struct question *question, const char *value)
{
	question->options.per_site = true;
	return strcmp(value, "site") == 0 ? 0 : -EINVAL;
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
	static const char *const choices[] = {"octets", "packets", "frames", "util", "errors", NULL};
	static const enum report_port_sort port_sorts[] = {REPORT_PORTS_BY_OCTETS,
		REPORT_PORTS_BY_PACKETS, REPORT_PORTS_BY_PACKETS, REPORT_PORTS_BY_UTILIZATION,
		REPORT_PORTS_BY_ERRORS};
	int i, err = question_parse_choice(value, choices, &i);

	if (err)
		return err;
	question->options.port_sort = port_sorts[i];
	question->options.sort = port_sorts[i] == REPORT_PORTS_BY_PACKETS ? ESTIMATE_PKTS
									  : ESTIMATE_OCTETS;
	return 0;
}

/* Adds a term; the filter's own words for what is wrong with it. */
static int
add_term(struct question *question, const char *term)
{
	return filter_add(&question->filter, term, question->refusal);
}

static int
set_filter(struct question *question, const char *value)
{
	return add_term(question, value);
}

static int
question_add_name(struct question *question, const char *word, const char *name)
{
	char term[FILTER_TEXT_MAX + 1];

	return filter_write_name(word, name, term, sizeof(term)) ? add_term(question, term) : -EINVAL;
}

static int
question_set_agent(struct question *question, const char *value)
{
	return question_add_name(question, "agent", value);
}

static int
set_port(struct question *question, const char *value)
{
	return question_add_name(question, "if", value);
}

static int
question_set_site(struct question *question, const char *value)
{
	return question_add_name(question, "site", value);
}

static int
set_sure(struct question *question, const char *value)
{
	static const char *const choices[] = {"row", "list", NULL};
	int i, err = question_parse_choice(value, choices, &i);

	if (err == 0)
		question->options.all_at_once = i == 1;
	return err;
}

static int
set_vlan(struct question *question, const char *value)
{
	char term[32];
	long number;

	if (question_parse_number(value, 0, 4095, &number) != 0)
		return -EINVAL;
	snprintf(term, sizeof(term), "vlan %ld", number);
	return add_term(question, term);
}

/* Which addresses are meant depends on --layer, which may come later. */
static int
set_addr(struct question *question, const char *value)
{
	struct filter_prefix prefix;

	question->addr = value;
	return filter_parse_prefix(value, &prefix);
}

static int
set_proto(struct question *question, const char *value)
{
	char term[32];

	if (strlen(value) > 16 || strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") !=
	    strlen(value))
		return -EINVAL;
	snprintf(term, sizeof(term), "proto %s", value);
	if (add_term(question, term) == 0)
		return 0;
	*question->refusal = '\0';
	return -EINVAL;
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
question_set_step(struct question *question, const char *value)
{
	return report_parse_span(value, &question->options.step_us);
}

static int
set_top(struct question *question, const char *value)
{
	long number;
	int err = question_parse_number(value, 1, TOP_MAX, &number);

	if (err)
		return err;
	question->options.top = (uint32_t)number;
	question->options.has_top = true;
	return 0;
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

#define TIME_SPAN "must be a time span: 90s, 5m, 1h, 30d or 2w"
#define POINT_IN_TIME "must be a time with its zone, 2026-11-21T14:00:00+01:00, or a date"

const struct question_option question_options[] = {
	{"by", "KEY", "must be src, dst, pair, subnet, network, as, country, vlan, vni, service, proto, ethertype, server, port, lag, site, reason,"
	    " place, group, queue or port-pair; dst-network, network-pair and so on",
	    REPORT_TAKES_BY, false, set_by,
	    "what a row is; talkers: src (default), dst, pair, subnet, vlan, vni,\n"
	    "                             network, as, country (also dst-network, network-pair);\n"
	    "                             protocols: service (default), proto, ethertype, vlan, vni;\n"
	    "                             history: any of these (src);\n"
	    "                             connections: server (default) or src;\n"
	    "                             drops: src (default), dst, pair, port, reason, place or group;\n"
	    "                             delay: port (default), queue, port-pair, src, dst or pair"},
	{"per", "site", "must be site", REPORT_TAKES_PER, false, set_per,
	    "a row for each site where a key was seen, so that equal\n"
	    "                             addresses of several sites stay apart"},
	{"mask", "N[,M]", "must be the bits of a subnet: IPv4's, 0 to 32, or IPv4's and IPv6's: 24,64",
	    REPORT_TAKES_MASK, false, set_mask, "a subnet's bits, IPv4 and IPv6 (24,64)"},
	{"layer", "eth|ip|inner", "must be eth, ip or inner", REPORT_TAKES_LAYER, false, set_layer,
	    "MAC or IP addresses, or IP addresses inside tunnels (ip)"},
	{"filter", "FILTER", "", 0, true, set_filter,
	    "which frames: src net 10.20.0.0/16 and (dst port 443 or icmp)\n"
	    "                             and not vlan 12; easetop(1) has the language"},
	{"agent", "ID|ADDRESS", "must be an agent", 0, false, question_set_agent,
	    "filters: agent, one switch: its address, or its id's first digits"},
	{"if", "NAME|IFINDEX", "must be a port of a switch", 0, false, set_port,
	    "filters: if, one port of a switch"},
	{"port", "NAME|IFINDEX", "must be a port of a switch", 0, false, set_port, "the same, as it was called before"},
	{"site", "NAME", "must be a site", 0, false, question_set_site,
	    "filters: site, the switches and ports at a place (device_names\n"
	    "                             in easecapd.conf)"},
	{"vlan", "N", "must be a VLAN, 0 to 4095", REPORT_TAKES_FRAMES | REPORT_TAKES_VLAN, false, set_vlan,
	    "filters: frames of one VLAN (the outermost tag)"},
	{"addr", "PREFIX",
	    "must be an address or a prefix: 10.0.0.0/8, 2001:db8::1, or a MAC address, or the first"
	    " octets of one: 00:11:22", REPORT_TAKES_FRAMES | REPORT_TAKES_ADDR, false, set_addr,
	    "filters: from or to these: 10.0.0.0/8, 2001:db8::1, 00:11:22"},
	{"proto", "NAME|N|0xTYPE", "must be " PROTOCOL_NAMES
	    ", an IP protocol from 0 to 255, or an ethertype such as 0x0800", REPORT_TAKES_FRAMES,
	    false, set_proto, "filters: tcp, udp, arp, …, an IP protocol, an ethertype"},
	{"last", "5m|1h|30d|all", TIME_SPAN ", or all", 0, false, set_last,
	    "the time up to the newest counters, or all that is stored (5m)"},
	{"from", "TIME", POINT_IN_TIME, 0, false, set_from, "2026-11-21T14:00:00+01:00, or a date (UTC)"},
	{"to", "TIME", POINT_IN_TIME, 0, false, set_to, "the same; default: as far as all ports have counted"},
	{"step", "SPAN", TIME_SPAN, REPORT_TAKES_STEP, false, question_set_step,
	    "history: length of a row: 10s, 20s, 30s or whole minutes (at\n"
	    "                             most 367 rows)"},
	{"sort", "octets|packets|util|errors",
	    "must be octets or packets (or frames, the same); of load also util or errors",
	    REPORT_TAKES_SORT, false, set_sort,
	    "\n                             largest first by this (octets); util, errors: load,\n"
	    "                             which else has ports in their order"},
	{"top", "N", "must be 1 to 1000000", REPORT_TAKES_TOP, false, set_top,
	    "rows at most (10; of load all ports)"},
	{"sure", "row|list", "must be row or list", REPORT_TAKES_SURE, false, set_sure,
	    "limits of which 95 of 100 hold, or all of a list at\n"
	    "                             once in 95 of 100 lists (row)"},
	{"versus", "SPAN", TIME_SPAN, REPORT_TAKES_VERSUS, false, set_versus,
	    "marks rows up, down or not settled since that long ago: 1d"},
	{"warn", "RATE", "must be a rate above 0: 500, 20k, 1.5G (bit/s, or pps by packets)",
	    REPORT_TAKES_WARN, false, set_warn,
	    "exit 1 if a row surely has more: 100M bit/s, 5k pps;\n"
	    "                             wrong of a row at one look in a million"},
	{NULL, NULL, NULL, 0, false, NULL, NULL},
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
question_set(struct question *question, const struct question_option *option, const char *value)
{
	int err;

	*question->refusal = '\0';
	err = option->set(question, value);
	if (err == 0)
		question->given |= 1u << (option - question_options);
	return err;
}

const char *
question_refusal(const struct question *question, const struct question_option *option)
{
	return *question->refusal ? question->refusal : option->expected;
}

static bool
question_is_given(const struct question *question, const char *name)
{
	return question->given >> (question_find_option(name) - question_options) & 1;
}

/* What a report might be expected to take, and why it does not. */
static const struct refusal {
	const char *report, *option, *reason;
} refusals[] = {
	{"connections", "vlan", "--vlan is not for connections: their sums are stored by port, not by VLAN, and a stored"
	    " sample does not say whether it began a connection; conversations --vlan has the traffic"},
	{"connections", "proto", "--proto is not for connections: all of them are of TCP"},
	{NULL, NULL, NULL},
};

/* "--step is for history, not for talkers". */
static int
refuse_option(const struct question *question, const struct question_option *option, char *error, size_t error_size)
{
	const char *between = " ";

	for (const struct refusal *r = refusals; r->report; r++)
		if (strcmp(r->report, question->report->name) == 0 && strcmp(r->option, option->name) == 0) {
			snprintf(error, error_size, "%s", r->reason);
			return -EINVAL;
		}
	snprintf(error, error_size, "--%s is for", option->name);
	for (const struct report *report = reports; report->name; report++)
		if (report->takes & option->takes) {
			text_add(error, error_size, "%s%s", between, report->name);
			between = ", ";
		}
	text_add(error, error_size, ", not for %s", question->report->name);
	return -EINVAL;
}

static bool
has_addresses(enum report_by by)
{
	return by == REPORT_BY_DEFAULT || by == REPORT_BY_SRC || by == REPORT_BY_DST || by == REPORT_BY_PAIR;
}

int
question_check_options(const struct question *question, char *error, size_t error_size)
{
	const struct report_options *options = &question->options;
	const char *reason = NULL;

	for (size_t i = 0; question_options[i].name; i++)
		if (question->given >> i & 1 && question_options[i].takes &&
		    !(question->report->takes & question_options[i].takes))
			return refuse_option(question, &question_options[i], error, error_size);
	if (question_is_given(question, "last") && options->has_from)
		reason = "--last and --from exclude each other: use --from and --to";
	else if (question_is_given(question, "mask") && options->by != REPORT_BY_SUBNET)
		reason = "--mask is for --by subnet";
	else if (question_is_given(question, "layer") && !has_addresses(options->by))
		reason = "--layer is for --by src, dst and pair";
	else if (options->fold_few && strcmp(question->report->name, "matrix") == 0 &&
	    (question_is_given(question, "top") || question_is_given(question, "versus")))
		reason = "matrix as text is a grid of the largest pairs' addresses; talkers --by pair"
			 " has --top and --versus";
	if (reason)
		snprintf(error, error_size, "%s", reason);
	return reason ? -EINVAL : 0;
}

/* The terms that reports without frames' headers have, and what these reports are of. */
static const struct {
	unsigned takes;
	uint32_t fields;
	const char *why;
} filterable[] = {
	{REPORT_TAKES_FRAMES, UINT32_MAX, NULL},
	{REPORT_TAKES_VLAN, FILTER_PLACES | FILTER_MACS | FILTER_IPS | FILTER_INNER_IPS | FILTER_BIT(FILTER_VLAN),
	    "has places of addresses: it filters by site, agent, if, vlan and addresses"},
	{REPORT_TAKES_ADDR, FILTER_PLACES | FILTER_IPS | FILTER_BIT(FILTER_DST_PORT) | FILTER_BIT(FILTER_ETHERTYPE) |
	    FILTER_BIT(FILTER_IP_PROTO),
	    "has sums of new connections: it filters by site, agent, if, IP addresses and dst port"},
	{UINT32_MAX, FILTER_PLACES, "is of whole ports: it filters by site, agent and if"},
};

static int
check_filter(const struct question *question, char *error, size_t error_size)
{
	const struct filter *filter = &question->filter;
	const struct filter_node *node;
	size_t i = 0;

	while (!(question->report->takes & filterable[i].takes) && filterable[i].takes != UINT32_MAX)
		i++;
	node = filter_find(filter, ~filterable[i].fields);
	if (node) {
		snprintf(error, error_size, "filter: column %u: %s %s, not by %s", node->column,
		    question->report->name, filterable[i].why, filter_field_word((enum filter_field)node->field));
		return -EINVAL;
	}
	if (filterable[i].takes == REPORT_TAKES_VLAN && filter_find(filter, FILTER_MACS) &&
	    (node = filter_find(filter, FILTER_IPS | FILTER_INNER_IPS))) {
		snprintf(error, error_size, "filter: column %u: %s lists MAC addresses or IP addresses: one kind, not both",
		    node->column, question->report->name);
		return -EINVAL;
	}
	return 0;
}

int
question_finish(struct question *question, char *error, size_t error_size)
{
	bool is_inner = question->options.layer == REPORT_LAYER_INNER;
	char term[80], refusal[FILTER_ERROR_TEXT];

	if (question->addr) {
		struct filter_prefix prefix;

		is_inner = is_inner && filter_parse_prefix(question->addr, &prefix) == 0 &&
		    prefix.n_octets != FRAME_MAC_LEN;
		snprintf(term, sizeof(term), "%s%s", is_inner ? "inner net " : "", question->addr);
		question->addr = NULL;
		if (filter_add(&question->filter, term, refusal) != 0) {
			snprintf(error, error_size, "filter: %s", refusal);
			return -EINVAL;
		}
	}
	return check_filter(question, error, error_size);
}

/* Only load sorts by what no list has. */
static int
check_sort(const struct question *question, struct query *query)
{
	if (question->options.port_sort < REPORT_PORTS_BY_UTILIZATION ||
	    strcmp(question->report->name, "load") == 0)
		return 0;
	snprintf(query->error, sizeof(query->error),
	    "--sort util and --sort errors are for load; %s has octets and packets",
	    question->report->name);
	return -EINVAL;
}

static uint32_t
question_group_of(void *names, enum address_group group, size_t n_octets, const uint8_t *octets)
{
	return address_names_group(names, group, n_octets, octets);
}

static uint32_t
question_find_group(void *names, enum address_group group, const char *text)
{
	return address_names_find_group(names, group, text);
}

/* filter: a copy of the question's. */
static int
bind_groups(const struct question *question, struct query *query, struct filter *filter)
{
	struct address_names *names = question->options.names;
	const struct filter_groups groups = {question_group_of, question_find_group, names, !address_names_has_groups(names, ADDRESS_AS)};
	char error[FILTER_ERROR_TEXT];

	*filter = question->filter;
	if (!filter->asks_for_groups || filter_bind_groups(filter, &groups, error) == 0)
		return 0;
	snprintf(query->error, sizeof(query->error), "filter: %s", error);
	return -EINVAL;
}

int
question_write_samples(
    const struct question *question, struct query *query, uint64_t now_us, samples_fn *write, FILE *out)
{
	struct report_options options = question->options;
	struct filter filter;
	int err = bind_groups(question, query, &filter);

	options.filter = filter.n_nodes > 0 ? &filter : NULL;
	if (err == 0)
		err = query_begin(query, &options, now_us);
	return err == 0 ? write(query, options.has_top ? options.top : UINT64_MAX, out) : err;
}

int
question_answer(const struct question *question, struct query *query, uint64_t now_us, struct report_result *result)
{
	struct report_options options = question->options;
	struct filter filter;
	int err = check_sort(question, query);

	if (err == 0)
		err = bind_groups(question, query, &filter);
	options.filter = question->filter.n_nodes > 0 ? &filter : NULL;
	options.wants_change = question->versus_us > 0;
	options.wants_alarm = options.wants_alarm || question->warn > 0;
	if (err == 0)
		err = report_run(question->report, query, &options, now_us, result);
	if (err == 0 && question->versus_us)
		err = compare_with_past(question->report, query, &options, now_us, question->versus_us, result);
	if (err == 0 && question->warn > 0) {
		err = compare_with_rate(result, result->list ? result->list->sort : question->options.sort,
		    question->warn);
		if (err == -EINVAL)
			snprintf(query->error, sizeof(query->error),
			    "--warn: %s has no rates in that unit", question->report->name);
	}
	if (err && !*query->error)
		snprintf(query->error, sizeof(query->error), "%s", strerror(-err));
	return err;
}
