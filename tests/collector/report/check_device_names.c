/*
 * Names of devices and their sites: which row wins, what is refused and where, and what reports and filters make of
 * them. In the store here five sites have the same addresses.
 */
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include "collector/filter/device_names.h"
#include "collector/store/naming.h"
#include "collector/store/schema.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static char error[DEVICE_NAMES_ERROR];

static struct device_names *
parse(const char *text)
{
	struct device_names *names;

	ck_assert_msg(device_names_parse("names", text, strlen(text), &names, error) == 0, "%s", error);
	return names;
}

/* ---- which row wins ---- */

static const char rows[] =
    "agent 10.20.1.1          name core-1   site berlin # the old one\n"
    "\tagent 0123456789abcdef\tname core-2\r\n"
    "agent 10.30.0.0/16       site \"New York\"\n"
    "agent 10.30.7.9/24       site 'n'\n" /* the bits behind the prefix do not count */
    "agent 2001:db8::/32      site lab\n"
    "agent *                  site elsewhere\n"
    "port 10.20.1.1 7         name uplink\n"
    "port 10.20.1.1 ge-7      name never   site moon\n"
    "port 10.20.1.1 ge-*      name g*\n"
    "port 10.20.0.0/16 ge-8   name never\n"
    "port 10.20.0.0/16 l*b    name *.lab   site lab\n"
    "port * la*               name la*     site far\n"
    "port * Gigabit*          name g*\n"
    "port * \"7\"               name seven\n";

static const struct {
	uint8_t last_of_id;
	const char *address, *name, *site;
} agents[] = {
	{0, "10.20.1.1", "core-1", "berlin"},
	{0xef, "10.20.1.1", "core-2", "berlin"}, /* name and site by different rows */
	{0xef, "10.9.9.9", "core-2", "elsewhere"},
	{0, "10.30.1.1", NULL, "New York"},
	{0, "10.30.7.1", NULL, "'n'"},
	{0, "10.20.1.2", NULL, "elsewhere"},
	{0, "2001:db8:1::1", NULL, "lab"},
	{0, "2001:db9::1", NULL, "elsewhere"},
	{0, "", NULL, "elsewhere"},
};

static struct device_names_agent
ask_agent(const struct device_names *names, uint8_t last_of_id, const char *address)
{
	const uint8_t id[EASE_AGENT_ID_LEN] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, last_of_id};
	struct device_names_agent agent;

	device_names_of_agent(names, id, address, &agent);
	return agent;
}

START_TEST(the_most_specific_row_wins)
{
	struct device_names *names = parse(rows);

	for (size_t i = 0; i < ARRAY_LEN(agents); i++) {
		struct device_names_agent agent = ask_agent(names, agents[i].last_of_id, agents[i].address);

		ck_assert_pstr_eq(agent.name, agents[i].name);
		ck_assert_pstr_eq(agent.site, agents[i].site);
	}
	device_names_destroy(names);
}
END_TEST

static const struct {
	const char *address;
	uint32_t if_index;
	const char *sent, *name, *site;
} named_ports[] = {
	{"10.20.1.1", 7, "ge-7", "uplink", "moon"}, /* the ifIndex has no site */
	{"10.20.1.1", 9, "ge-7", "never", "moon"},
	{"10.20.1.1", 8, "ge-8", "g8", NULL}, /* a pattern of the address before a name of the prefix */
	{"10.20.1.2", 8, "ge-8", "never", NULL},
	{"10.20.1.2", 8, "lb", ".lab", "lab"}, /* the * of nothing */
	{"10.20.1.2", 8, "l/\303\251b", "/\303\251.lab", "lab"},
	{"10.20.1.2", 8, "l", "", NULL},
	{"10.20.1.2", 8, "lab", "a.lab", "lab"},
	{"10.99.1.2", 8, "lab", "lab", "far"},
	{"10.99.1.2", 8, "Gigabit1/1", "g1/1", NULL},
	{"10.99.1.2", 7, "x", "", NULL},
	{"10.99.1.2", 8, "7", "seven", NULL}, /* a name of digits, in quotes */
};

START_TEST(ports_have_names_by_index_name_and_pattern)
{
	struct device_names *names = parse(rows);

	for (size_t i = 0; i < ARRAY_LEN(named_ports); i++) {
		struct device_names_agent agent = ask_agent(names, 0, named_ports[i].address);
		char name[EASE_NAME_MAX + 1];
		const char *site;

		device_names_of_port(names, &agent, named_ports[i].if_index, named_ports[i].sent, name, &site);
		ck_assert_msg(strcmp(name, named_ports[i].name) == 0, "%zu: %s", i, name);
		ck_assert_pstr_eq(site, named_ports[i].site);
		ck_assert(agent.has_port_sites);
	}
	device_names_destroy(names);
}
END_TEST

/* ---- what is refused ---- */

#define WHO "expected an agent: its id of 16 hexadecimal digits, an address, a prefix, or *, not "
#define PORT "expected a port: its ifIndex, or its name, in which one * stands for anything, not "
#define LONG_NAME "123456789 123456789 123456789 123456789 123456789 1234567"

static const struct {
	const char *text, *error;
} refused[] = {
	{"\n\nswitch 10.0.0.1 name a", "names:3: expected agent, port, uplink or source, not \"switch\""},
	{"\"agent\" 10.0.0.1 name a", "names:1: expected agent, port, uplink or source, not \"agent\""},
	{"agent", "names:1: " WHO "the end of the line"},
	{"agent 10.0.0.256 name a", "names:1: " WHO "\"10.0.0.256\""},
	{"agent 10.0.0.0/33 site a", "names:1: " WHO "\"10.0.0.0/33\""},
	{"agent 00:11:22:33:44:55 name a", "names:1: " WHO "\"00:11:22:33:44:55\""},
	{"agent 0123456789abcde name a", "names:1: " WHO "\"0123456789abcde\""},
	{"agent 10.0.0.1", "names:1: expected name or site, not the end of the line"},
	{"agent 10.0.0.1 # name a", "names:1: expected name or site, not the end of the line"},
	{"agent 10.0.0.1 nam a", "names:1: expected name or site, each once, not \"nam\""},
	{"agent 10.0.0.1 name a name b", "names:1: expected name or site, each once, not \"name\""},
	{"agent 10.0.0.1 name", "names:1: expected a name, not the end of the line"},
	{"agent 10.0.0.1 site \"\"", "names:1: expected a site, not the end of the line"},
	{"agent 10.0.0.1 site \"a", "names:1: expected a site, not \"\"a\""},
	{"agent 10.0.0.1 site \"a\"b", "names:1: expected a site, not \"a\""},
	{"agent 10.0.0.0/8 name a", "names:1: expected site: a prefix or * is not one agent to be named, not \"a\""},
	{"agent 10.0.0.1 name a*", "names:1: expected a name without *: the port has none, not \"a*\""},
	{"agent 10.0.0.1 name \"" LONG_NAME "\"", "names:1: expected at most 56 octets as a name, not 57"},
	{"port 10.0.0.1", "names:1: " PORT "the end of the line"},
	{"port 10.0.0.1 a*b* name x*", "names:1: " PORT "\"a*b*\""},
	{"port 10.0.0.1 0x7 name", "names:1: expected a name, not the end of the line"},
	{"port 10.0.0.1 ge* name a", "names:1: expected a name with one *, for what the port's * stands for, not \"a\""},
	{"port 10.0.0.1 7 name a*", "names:1: expected a name without *: the port has none, not \"a*\""},
	{"agent * site a\033[2J", "names:1: expected UTF-8 without control characters"},
	{"agent * site \302\205", "names:1: expected UTF-8 without control characters"},
	{"agent * site \342\200\256x", "names:1: expected UTF-8 without control characters"},
	{"agent * site \"a\tb\"", "names:1: expected a site, not \"a?b\""},
	{"agent * site \377", "names:1: expected UTF-8 without control characters"},
	{"agent 10.0.0.1 name a\nagent 10.0.0.1 site b", "names:2: expected another agent: line 1 has it already"},
	{"agent 10.1.0.0/8 site a\n\nagent 10.2.0.0/8 site b", "names:3: expected another agent: line 1 has it already"},
	{"agent * site a\nagent * site b", "names:2: expected another agent: line 1 has it already"},
	{"port * 7 site a\nport * 8 site a\nport * 7 name b",
	    "names:3: expected another agent or port: line 1 has it already"},
	{"port * a* site a\nport * b* site a\nport * a* name b*",
	    "names:3: expected another agent or port: line 1 has it already"},
	{"agent 10.0.0.1 name a\nagent 10.0.0.2 name b\nagent 10.0.0.3 name a",
	    "names:3: expected another name than a: line 1 has it already"},
};

START_TEST(mistakes_are_refused_with_their_line)
{
	struct device_names *names;

	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		ck_assert_msg(device_names_parse("names", refused[i].text, strlen(refused[i].text), &names, error) ==
		    -EINVAL, "%s", refused[i].text);
		ck_assert_str_eq(error, refused[i].error);
		ck_assert_ptr_null(names);
	}
	ck_assert_int_eq(device_names_parse("names", "a\0b", 3, &names, error), -EINVAL);
	ck_assert_str_eq(error, "names:1: expected UTF-8 without control characters");
	ck_assert_int_eq(device_names_open("/nowhere/names", &names, error), -ENOENT);
	ck_assert_str_eq(error, "/nowhere/names: No such file or directory");
}
END_TEST

/* They stand among the names, and are none. */
START_TEST(uplinks_and_sources_are_rows_of_their_own)
{
	static const struct device_names_other must[] = {
	    {"10.20.1.1 49-52", true, 2},
	    {"any Ethernet 4*", true, 3},
	    {"0123456789abcdef USER@192.0.2.7", false, 5},
	    {"any 10.0.0.0/8", false, 6},
	};
	struct device_names *names = parse("agent 10.20.1.1 name core-1\n"
	    "uplink 10.20.1.1  49-52 # to the others\n"
	    "uplink * \"Ethernet 4*\"\n"
	    "port * uplink name source\n"
	    "source 0123456789abcdef USER@192.0.2.7\n"
	    "source * 10.0.0.0/8\r\n");

	ck_assert_uint_eq(device_names_n_rows(names), 2);
	for (size_t i = 0; i < ARRAY_LEN(must); i++) {
		const struct device_names_other other = device_names_other(names, i);

		ck_assert_str_eq(other.text, must[i].text);
		ck_assert(other.is_uplink == must[i].is_uplink);
		ck_assert_uint_eq(other.line, must[i].line);
	}
	ck_assert_ptr_null(device_names_other(names, ARRAY_LEN(must)).text);
	device_names_destroy(names);
}
END_TEST

/* Rows as many as format is asked for; to be freed. */
static char *
many(unsigned n, const char *format)
{
	char *text = NULL;
	size_t octets;
	FILE *out = open_memstream(&text, &octets);

	for (unsigned i = 0; i < n; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		fprintf(out, format, i >> 16, i >> 8 & 0xff, i & 0xff, i);
#pragma GCC diagnostic pop
	}
	fclose(out);
	return text;
}

static void
assert_limit(unsigned most, const char *format, const char *reason)
{
	char *text = many(most, format);
	struct device_names *names = parse(text);
	char expected[128];

	ck_assert_uint_eq(device_names_n_rows(names), most);
	device_names_destroy(names);
	free(text);
	text = many(most + 1, format);
	snprintf(expected, sizeof(expected), "names:%u: %s", most + 1, reason);
	ck_assert_int_eq(device_names_parse("names", text, strlen(text), &names, error), -EINVAL);
	ck_assert_str_eq(error, expected);
	free(text);
}

START_TEST(as_many_rows_as_the_limit)
{
	char line[DEVICE_NAMES_LINE_MAX + 2], *text;
	struct device_names *names;

	assert_limit(DEVICE_NAMES_MAX, "agent 10.%u.%u.%u name switch-%u site here\n", "expected at most 20000 rows");
	assert_limit(DEVICE_NAMES_PATTERNS_MAX, "port 10.%u.%u.%u ge-%u* site here\n",
	    "expected at most 256 rows with a * in the port's name");
	text = many(DEVICE_NAMES_OTHERS_MAX + 1, "uplink 10.%u.%u.%u 4%u\n");
	ck_assert_int_eq(device_names_parse("names", text, strlen(text), &names, error), -EINVAL);
	ck_assert_str_eq(error, "names:4097: expected at most 4096 rows of uplinks and sources");
	free(text);
	memset(line, '#', sizeof(line));
	ck_assert_int_eq(device_names_parse("names", line, DEVICE_NAMES_LINE_MAX, &names, error), 0);
	device_names_destroy(names);
	ck_assert_int_eq(device_names_parse("names", line, DEVICE_NAMES_LINE_MAX + 1, &names, error), -EINVAL);
	ck_assert_str_eq(error, "names:1: expected at most 512 octets in a line, not 513");
}
END_TEST

/* ---- in reports ---- */

static struct report_store store;

enum { SITES = 5, SKIP = 100, OCTETS = 500 };
#define SERVER "0a000001" /* 10.0.0.1, at each site */

/* At site s 100 s samples of 10.0.0.1, whose destination is 10.0.0.s, as conversations to port 443, too. */
static void
fill_store(void)
{
	char dst[16];

	report_store_make(&store);
	for (int s = 1; s <= SITES; s++) {
		snprintf(dst, sizeof(dst), "0a00000%d", s);
		report_store_agent(&store, s, 120);
		report_store_port(&store, s, 1, "ge-1", 1);
		report_store_window(&store, 0, s, 1, 100 * s * SKIP, 100 * s * SKIP * OCTETS);
		report_store_samples(&store, 0, s, 1, 100 * s, SKIP, OCTETS, STORE_KEY_ETH_PAIR, "0a0000000001",
		    "0a0000000002");
		report_store_samples(&store, 0, s, 1, 100 * s, SKIP, OCTETS, STORE_KEY_IP_PAIR, SERVER, dst);
	}
	store.naming = "agent 192.0.2.1 name core site one\nagent 192.0.2.2 site two\n"
		       "agent 0302030405060708 site \"three and more\"\nagent 192.0.2.0/24 site four\n"
		       "agent 192.0.2.5 site five\nport 192.0.2.1 1 name uplink\n";
}

static const char *const sites[] = {"", "one", "two", "three and more", "four", "five"};

static void
remove_store(void)
{
	report_store_remove(&store);
	store.naming = NULL;
}

static struct report_options
by_source(void)
{
	struct report_options options = report_store_options();

	options.layer = REPORT_LAYER_IP;
	options.by = REPORT_BY_SRC;
	return options;
}

START_TEST(equal_addresses_of_several_sites_stay_apart)
{
	struct report_options options = by_source();
	json_t *merged = report_store_json(&store, "talkers", &options), *apart;
	double total = report_json_number(merged, "rows.0.octets.estimate"), sum = 0;

	ck_assert_uint_eq(json_array_size(report_json_at(merged, "rows")), 1);
	ck_assert(json_is_null(report_json_at(merged, "rows.0.site")));
	options.per_site = true;
	apart = report_store_json(&store, "talkers", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(apart, "rows")), SITES);
	for (size_t i = 0; i < SITES; i++) { /* the largest first: of agent 5 */
		const json_t *row = json_array_get(report_json_at(apart, "rows"), i);
		double truth = 100.0 * (double)(SITES - i) * SKIP * OCTETS;

		ck_assert_str_eq(report_json_text(row, "src"), "10.0.0.1");
		ck_assert_str_eq(report_json_text(row, "site"), sites[SITES - i]);
		ck_assert_double_eq_tol(report_json_number(row, "octets.estimate"), truth, truth * 1e-9);
		ck_assert(report_json_number(row, "octets.high") >= truth);
		sum += report_json_number(row, "octets.estimate");
	}
	ck_assert_double_eq_tol(sum, total, total * 1e-9);
	json_decref(merged);
	json_decref(apart);
}
END_TEST

/* The sources of the rows that the filter lets pass have so many samples in all. */
static void
assert_samples(const char *filter, double samples)
{
	struct report_options options = by_source();
	json_t *result;
	double n = 0;
	size_t i;
	json_t *row;

	options.filter = report_store_filter(filter);
	result = report_store_json(&store, "talkers", &options);
	json_array_foreach((json_t *)(uintptr_t)report_json_at(result, "rows"), i, row)
		n += report_json_number(row, "samples");
	ck_assert_msg(n == samples, "%s: %f, not %f", filter, n, samples);
	ck_assert_msg(!json_object_get(result, "answered_from") || json_is_null(json_object_get(result, "answered_from")) ||
	    strcmp(json_string_value(json_object_get(result, "answered_from")), "sums") == 0, "%s", filter);
	json_decref(result);
}

START_TEST(a_site_is_a_filter_that_sums_answer)
{
	assert_samples("site one", 100);
	assert_samples("site \"three and more\"", 300);
	assert_samples("not site \"three and more\"", 1200);
	assert_samples("site one or site five", 600);
	assert_samples("site two and dst host 10.0.0.2", 200);
	assert_samples("(site two or site four) and dst host 10.0.0.2", 200);
	assert_samples("agent core", 100);
	assert_samples("agent 192.0.2.1", 100); /* the address stays good */
	assert_samples("if uplink", 100);
	assert_samples("if ge-1 and not if uplink", 1400); /* and the name that the device sends */
}
END_TEST

/* One port of agent 1 stands at site two: filters and lists go by ports. */
START_TEST(a_port_may_stand_elsewhere_than_its_agent)
{
	struct report_options options = by_source();
	json_t *result;

	report_store_port(&store, 1, 2, "ge-2", 1);
	report_store_window(&store, 0, 1, 2, 50 * SKIP, 50 * SKIP * OCTETS);
	report_store_samples(&store, 0, 1, 2, 50, SKIP, OCTETS, STORE_KEY_ETH_PAIR, "0a0000000001", "0a0000000002");
	report_store_samples(&store, 0, 1, 2, 50, SKIP, OCTETS, STORE_KEY_IP_PAIR, SERVER, "0a000002");
	store.naming = "agent 192.0.2.1 site one\nagent 192.0.2.2 site two\nport 192.0.2.1 ge-2 site two\n"
		       "port 192.0.2.5 * site five\nagent 192.0.2.5 site six\n";
	assert_samples("site one", 100);
	assert_samples("site two", 250);
	assert_samples("site two and agent 192.0.2.1", 50);
	assert_samples("not site two and not site five", 100 + 300 + 400);
	options.filter = report_store_filter("site five");
	result = report_store_json(&store, "agents", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(result, "rows")), 1);
	ck_assert_str_eq(report_json_text(result, "rows.0.site"), "six");
	json_decref(result);
}
END_TEST

static void
assert_refused(const char *filter, const char *reason)
{
	struct report_options options = by_source();
	struct report_result result = {0};
	struct query *query;
	char text[QUERY_ERROR_TEXT];

	options.filter = report_store_filter(filter);
	report_store_renew(&store);
	ck_assert_int_eq(query_open(store.newest, &query, text, sizeof(text)), 0);
	ck_assert_int_eq(report_find("talkers")->run(query, &options, REPORT_STORE_T0, &result), -ENOENT);
	ck_assert_msg(strstr(query->error, reason) != NULL, "%s", query->error);
	report_result_free(&result);
	query_close(query);
}

START_TEST(a_site_that_no_row_has_is_refused)
{
	assert_refused("site six", ": no site six in the names (device_names in easecapd.conf); easetop agents has the sites");
	assert_refused("site one or not site two or site One", ": no site One in the names");
	assert_refused("site one and site two", "the filter lets no agent pass");
	store.naming = NULL;
	assert_refused("site one", ": no site one in the names");
}
END_TEST

START_TEST(names_stand_where_agents_and_ports_are_listed)
{
	struct report_options options = report_store_options();
	json_t *result = report_store_json(&store, "load", &options);
	char *text;

	ck_assert_str_eq(report_json_text(result, "rows.0.agent"), "core");
	ck_assert_str_eq(report_json_text(result, "rows.0.port"), "uplink");
	ck_assert_str_eq(report_json_text(result, "rows.0.site"), "one");
	ck_assert_str_eq(report_json_text(result, "rows.2.agent"), "192.0.2.3");
	ck_assert_str_eq(report_json_text(result, "rows.2.port"), "ge-1");
	ck_assert_str_eq(report_json_text(result, "rows.2.site"), "three and more");
	json_decref(result);
	text = report_store_render(&store, "agents", &options, render_text, 120);
	ck_assert_msg(strstr(text, "SITE") && strstr(text, "core") && strstr(text, "three and more"), "%s", text);
	free(text);
	store.naming = NULL; /* nothing to show of them: as it was without names */
	text = report_store_render(&store, "agents", &options, render_text, 120);
	ck_assert_msg(!strstr(text, "SITE") && !strstr(text, "AGENT"), "%s", text);
	free(text);
}
END_TEST

static void
assert_places(enum report_layer layer, size_t n, double moves)
{
	struct report_options options = report_store_options();
	json_t *result;

	options.layer = layer;
	result = report_store_json(&store, "addresses", &options);
	ck_assert_uint_eq(json_array_size(report_json_at(result, "rows")), n);
	ck_assert_double_eq(report_json_number(result, "rows.0.moves"), moves);
	ck_assert_str_eq(report_json_text(result, "rows.0.address"),
	    layer == REPORT_LAYER_IP ? "10.0.0.1" : "0a:00:00:00:00:01");
	if (store.naming)
		ck_assert_str_eq(report_json_text(result, "rows.0.site"), "five"); /* where it was seen last */
	json_decref(result);
}

/* One host, as it seems, is seen at each site in turn. */
START_TEST(an_ip_address_does_not_move_between_sites)
{
	for (int s = 1; s <= SITES; s++)
		report_store_sql(&store, "INSERT INTO sample(agent, boot, if_index, sequence, time_us, direction, input_if,"
		    " output_if, skip, mean_skip, pool_pkts, frame_octets, src_mac, src_ip) VALUES(%d, 1, 1, 1, %llu, 1, 1, 0,"
		    " 99, 100, 100, 500, x'0a0000000001', x'" SERVER "')", s, REPORT_STORE_T0 + (unsigned)s * SECOND);
	assert_places(REPORT_LAYER_IP, SITES, 0);
	assert_places(REPORT_LAYER_ETH, 1, SITES - 1);
	store.naming = NULL;
	assert_places(REPORT_LAYER_IP, 1, SITES - 1);
}
END_TEST

/* A switch that was replaced at its address has the name with a part of its id. */
START_TEST(a_replaced_switch_does_not_take_the_name)
{
	struct report_options options = report_store_options();
	json_t *result;

	report_store_sql(&store, "UPDATE agent SET address = '192.0.2.1', first_us = first_us + 1 WHERE id = 2");
	result = report_store_json(&store, "agents", &options);
	ck_assert_str_eq(report_json_text(result, "rows.0.agent"), "core#0102");
	ck_assert_str_eq(report_json_text(result, "rows.1.agent"), "core");
	json_decref(result);
}
END_TEST

/* Agents by number, from 11 on: id, address, source and when heard first; how they are called then, and where they are. */
enum { CLAIMANTS = 6, FIRST_CLAIMANT = 11 };
static const struct {
	const char *naming;
	struct {
		const char *id, *address, *source;
		int first;
		const char *name, *site;
	} agents[CLAIMANTS];
} claims[] = {
	/* sFlow that states another's address, heard later and earlier, and by a second address */
	{"agent 127.0.0.2 name core-1 site berlin",
	    {{"a102030405060708", "127.0.0.2", "127.0.0.2", 5, "core-1", "berlin"},
		{"0005222222222222", "127.0.0.2", "127.0.0.66", 9, "127.0.0.66 for 127.0.0.2", NULL}}},
	{"agent 127.0.0.2 name core-1 site berlin",
	    {{"0005222222222222", "127.0.0.2", "127.0.0.66", 1, "127.0.0.66 for 127.0.0.2", NULL},
		{"a102030405060708", "127.0.0.2", "0x80001f8805a102030405060708", 5, "core-1", "berlin"}}},
	{"agent 127.0.0.3 name 127.0.0.2 site berlin\nagent * site elsewhere",
	    {{"0005111111111111", "127.0.0.2", "127.0.0.2", 5, "127.0.0.2", "elsewhere"},
		{"0005222222222222", "127.0.0.3", "127.0.0.66", 9, "127.0.0.2#00052222", "berlin"},
		{"a102030405060708", "127.0.0.66", "127.0.0.66", 3, "127.0.0.66", "elsewhere"}}},
	/* nobody has it: the first keeps it, behind a relay the newest of one sender */
	{NULL,
	    {{"0005111111111111", "10.0.0.1", "192.0.2.1", 5, "10.0.0.1", NULL},
		{"0005222222222222", "10.0.0.1", "192.0.2.2", 6, "192.0.2.2 for 10.0.0.1", NULL},
		{"0005333333333333", "10.0.0.3", "192.0.2.1", 3, "10.0.0.3#00053333", NULL},
		{"0005444444444444", "10.0.0.3", "192.0.2.1", 4, "10.0.0.3", NULL}}},
	{"agent 10.0.0.1 name loop site one\nagent 0005222222222222 name relayed site two",
	    {{"0005111111111111", "10.0.0.1", "192.0.2.1", 5, "loop", "one"},
		{"0005222222222222", "10.0.0.1", "192.0.2.2", 6, "relayed", "two"},
		{"a102030405060708", "10.0.0.2", "user@10.0.0.2", 6, "10.0.0.2", NULL}}},
	/* as many digits as tell them apart */
	{NULL,
	    {{"a102030405060708", "10.0.0.1", "10.0.0.1", 1, "10.0.0.1#a1020304050", NULL},
		{"a102030405160708", "10.0.0.1", "10.0.0.1", 2, "10.0.0.1#a10203040516", NULL},
		{"a102030405170708", "10.0.0.1", "10.0.0.1", 3, "10.0.0.1#a10203040517", NULL},
		{"b102030405060708", "10.0.0.1", "10.0.0.1", 4, "10.0.0.1#b102", NULL},
		{"c102030405060708", "10.0.0.1", "10.0.0.1", 5, "10.0.0.1", NULL},
		{"10c2030405060708", "10.0.0.9", "10.0.0.9", 5, "10.0.0.9", NULL}}},
	/* digits of an id are not another's name */
	{"agent 10.0.0.1 name cafe\n",
	    {{"a102030405060708", "10.0.0.1", "10.0.0.1", 1, "cafe", NULL},
		{"cafe030405060708", "10.0.0.2", "10.0.0.2", 1, "10.0.0.2", NULL}}},
};

static void
assert_alone(const char *name)
{
	struct report_options options = report_store_options();
	char text[160];
	json_t *result;

	snprintf(text, sizeof(text), "agent \"%s\"", name);
	options.filter = report_store_filter(text);
	result = report_store_json(&store, "agents", &options);
	ck_assert_msg(json_array_size(report_json_at(result, "rows")) == 1, "%s: %zu agents", name,
	    json_array_size(report_json_at(result, "rows")));
	ck_assert_str_eq(report_json_text(result, "rows.0.agent"), name);
	json_decref(result);
}

START_TEST(a_name_is_whose_the_address_is)
{
	struct report_options options = report_store_options();
	char field[64];
	json_t *result;

	report_store_sql(&store, "DELETE FROM agent");
	store.naming = claims[_i].naming;
	for (int a = 0; a < CLAIMANTS && claims[_i].agents[a].id; a++) {
		report_store_sql(&store, "INSERT INTO agent(id, agent_id, boot, address, first_us, last_us, last_received_us)"
		    " VALUES(%d, x'%s', 1, '%s', %d, %llu, %llu)", FIRST_CLAIMANT + a, claims[_i].agents[a].id,
		    claims[_i].agents[a].address, claims[_i].agents[a].first, REPORT_STORE_T0, REPORT_STORE_T0);
		report_store_sql(&store, "INSERT INTO agent_source VALUES(%d, '%s', 1)", FIRST_CLAIMANT + a,
		    claims[_i].agents[a].source);
	}
	result = report_store_json(&store, "agents", &options);
	for (int a = 0; a < CLAIMANTS && claims[_i].agents[a].id; a++) {
		snprintf(field, sizeof(field), "rows.%d.agent", a);
		ck_assert_str_eq(report_json_text(result, field), claims[_i].agents[a].name);
		snprintf(field, sizeof(field), "rows.%d.source", a);
		ck_assert_str_eq(report_json_text(result, field), claims[_i].agents[a].source);
		snprintf(field, sizeof(field), "rows.%d.site", a);
		if (claims[_i].agents[a].site)
			ck_assert_str_eq(report_json_text(result, field), claims[_i].agents[a].site);
		else
			ck_assert(json_is_null(report_json_at(result, field)));
	}
	json_decref(result);
	for (int a = 0; a < CLAIMANTS && claims[_i].agents[a].id; a++)
		if (strchr(claims[_i].agents[a].name, '#') || strstr(claims[_i].agents[a].name, "for") ||
		    !strchr(claims[_i].agents[a].name, '.'))
			assert_alone(claims[_i].agents[a].name);
}
END_TEST

START_TEST(the_sender_is_shown_where_it_is_another)
{
	struct report_options options = report_store_options();
	char *text = report_store_render(&store, "agents", &options, render_text, 200);

	ck_assert_msg(!strstr(text, "SENDER"), "%s", text);
	free(text);
	report_store_sql(&store, "INSERT INTO agent_source VALUES(1, '198.51.100.9', 1)");
	text = report_store_render(&store, "agents", &options, render_text, 200);
	ck_assert_msg(strstr(text, "SENDER") && strstr(text, "198.51.100.9"), "%s", text);
	free(text);
}
END_TEST

/* ---- in the store ---- */

static int64_t
number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;
	int64_t value;

	ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

/* What is written, and the rows and the version that are there then. */
static const struct {
	const char *rows;
	int64_t n, version;
} written[] = {
	{"", 0, 0}, {"a\nb\nc\n", 4, 1}, {"a\nb\nc\n", 4, 1}, {"a\nb\n", 3, 2}, {"a\nx\n", 3, 3}, {"a\n", 2, 4}, {"", 1, 5},
	{"", 1, 5}, {"b\n", 2, 6},
};

START_TEST(the_store_has_the_newest_rows_alone)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
	ck_assert_int_eq(store_make_tables(db), 0);
	for (size_t i = 0; i < ARRAY_LEN(written); i++) {
		ck_assert_int_eq(naming_write(db, written[i].rows), 0);
		ck_assert_int_eq(number(db, "SELECT count(*) FROM naming"), written[i].n);
		ck_assert_int_eq(number(db, "SELECT ifnull(max(version), 0) FROM naming"), written[i].version);
	}
	ck_assert_int_eq(sqlite3_exec(db, "DROP TABLE naming", NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(naming_write(db, "a\n"), -EIO);
	ck_assert(sqlite3_get_autocommit(db));
	sqlite3_close(db);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("device_names");
	TCase *texts = tcase_create("rows"), *shown = tcase_create("reports");

	tcase_add_test(texts, the_most_specific_row_wins);
	tcase_add_test(texts, ports_have_names_by_index_name_and_pattern);
	tcase_add_test(texts, uplinks_and_sources_are_rows_of_their_own);
	tcase_add_test(texts, mistakes_are_refused_with_their_line);
	tcase_add_test(texts, as_many_rows_as_the_limit);
	tcase_add_test(texts, the_store_has_the_newest_rows_alone);
	suite_add_tcase(suite, texts);
	tcase_add_checked_fixture(shown, fill_store, remove_store);
	tcase_add_test(shown, equal_addresses_of_several_sites_stay_apart);
	tcase_add_test(shown, a_site_is_a_filter_that_sums_answer);
	tcase_add_test(shown, a_port_may_stand_elsewhere_than_its_agent);
	tcase_add_test(shown, a_site_that_no_row_has_is_refused);
	tcase_add_test(shown, names_stand_where_agents_and_ports_are_listed);
	tcase_add_test(shown, an_ip_address_does_not_move_between_sites);
	tcase_add_test(shown, a_replaced_switch_does_not_take_the_name);
	tcase_add_loop_test(shown, a_name_is_whose_the_address_is, 0, ARRAY_LEN(claims));
	tcase_add_test(shown, the_sender_is_shown_where_it_is_another);
	suite_add_tcase(suite, shown);
	return suite_run(suite);
}
