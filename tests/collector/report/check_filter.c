/* The language of filters: what is read, what is refused and where, and what is answered when little is known. */
#include "collector/filter/filter.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static struct filter filter;
static char error[FILTER_ERROR_TEXT];

static void
read_filter(const char *text)
{
	filter = (struct filter){0};
	ck_assert_msg(filter_add(&filter, text, error) == 0, "%s: %s", text, error);
}

/* Two texts that must mean the same. */
static const struct {
	const char *text, *same;
} forms[] = {
	{"src net 10.20.0.0/16 and (dst port 443 or proto icmp) and not vlan 12",
	    "src 10.20.0.0/16 && (dst port = 443 || icmp) && ! vlan == 12"},
	{"host 10.0.0.1 or host 10.0.0.2", "host 10.0.0.1 or 10.0.0.2"},
	{"src host 10.0.0.1 or src host 10.0.0.2", "src host (10.0.0.1 or 10.0.0.2)"},
	{"port 80 or port 443", "port 80 or 443"},
	{"port 80 or port 443", "PORT in [80, 443]"},
	{"tcp port 80 or tcp port 443", "tcp port 80 or 443"},
	{"net 10.0.0.0/8", "net 10"},
	{"net 192.168.0.0/16", "net 192.168"},
	{"net 10.20.0.0/16", "net 10.20.0.0 mask 255.255.0.0"},
	{"src or dst net 10.0.0.0/8", "net 10.0.0.0/8"},
	{"10.0.0.1", "ip 10.0.0.1"},
	{"10.0.0.1 or 2001:db8::1", "ip in [10.0.0.1 2001:db8::1]"},
	{"ether host 00:11:22:33:44:55", "mac 00:11:22:33:44:55"},
	{"ether src 00:11:22:33:44:55", "src mac 00:11:22:33:44:55"},
	{"port > 1023", "portrange 1024-65535"},
	{"port <= 1023", "port < 1024"},
	{"octets >= 1k", "bytes > 999"},
	{"octets <= 104", "less 100"},
	{"octets >= 104", "greater 100"},
	{"octets >= 104", "len >= 100"},
	{"proto 17", "udp"},
	{"ether proto 0x0806", "arp"},
	{"ether proto \\arp", "proto arp"},
	{"ip proto 17", "ip proto \\udp"},
	{"ip6", "inet6"},
	{"ip", "ether proto 0x0800"},
	{"not not vlan", "not (not vlan)"},
	{"vlan", "vlan 0-4095"},
	{"agent sw1 and if ge-0/0/1", "agent \"sw1\" and if 'ge-0/0/1'"},
	{"if \"Gi 1/1\"", "if 'Gi\\ 1/1'"},
	{"site berlin or site \"New York\"", "SITE in [berlin, 'New York']"},
	{"dst net 224.0.0.0/4", "ip multicast"},
	{"dst net ff00::/8", "ip6 multicast"},
	{"dst mac ff:ff:ff:ff:ff:ff", "broadcast"},
	{"inner net 10.0.0.0/8", "inner 10.0.0.0/8"},
	{"icmp-type 8", "ICMP-TYPE = 8"},
	{"icmp-type 8 or icmp-type 0", "icmp-type 8 or 0"},
	{"icmp and icmp-type 8", "icmp-type icmp-echo"},
	{"icmp6 and icmp-type 135", "icmp-type icmp6-neighborsolicit"},
	{"icmp-code 1-255", "icmp-code > 0"},
	{"src as 64500 or src as 64501", "src AS in [64500, '64501']"},
	{"network customer-a", "NETWORK \"customer-a\""},
	{"inner dst country DE", "dst inner country 'DE'"},
	{"any", "any"},
};

/* All but the columns. */
static void
assert_same(const struct filter *a, const struct filter *b, const char *text)
{
	ck_assert_msg(a->n_nodes == b->n_nodes && a->fields == b->fields && a->n_names == b->n_names, "%s", text);
	for (size_t i = 0; i < a->n_nodes; i++) {
		struct filter_node x = a->nodes[i], y = b->nodes[i];

		x.column = y.column = 0;
		ck_assert_msg(x.op == y.op && x.field == y.field && x.child == y.child && x.next == y.next &&
		    (x.op < FILTER_NAMED || memcmp(&x, &y, sizeof(x)) == 0), "%s: node %zu", text, i);
	}
	for (size_t i = 0; i < a->n_names; i++)
		ck_assert_str_eq(filter_name(a, i), filter_name(b, i));
}

START_TEST(forms_that_mean_the_same)
{
	struct filter first;

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		read_filter(forms[i].text);
		first = filter;
		read_filter(forms[i].same);
		assert_same(&first, &filter, forms[i].same);
	}
}
END_TEST

static const struct {
	const char *text, *error;
} wrong[] = {
	{"", "column 1: expected a term (host, net, mac, port, proto, vlan, octets, network, as, country, agent, if, site) or an address, not the end"},
	{"tcp and", "column 8: expected a term (host, net, mac, port, proto, vlan, octets, network, as, country, agent, if, site) or an address, not the end"},
	{"port htpx", "column 6: expected a port (0 to 65535, two with a dash, or a service's name), not \"htpx\""},
	{"port 65536", "column 6: expected a port (0 to 65535, two with a dash, or a service's name), not \"65536\""},
	{"port 9-5", "column 6: expected a port (0 to 65535, two with a dash, or a service's name), not \"9-5\""},
	{"port < 0", "column 8: expected a port (0 to 65535, two with a dash, or a service's name), not \"0\""},
	{"vlan 5000", "column 6: expected a VLAN (0 to 4095), not \"5000\""},
	{"icmp-type 256", "column 11: expected a type of ICMP (0 to 255, icmp-echo, icmp6-echo, …), not \"256\""},
	{"icmp-code icmp-echo", "column 11: expected a code of ICMP (0 to 255), not \"icmp-echo\""},
	{"src icmp-type 8", "column 1: expected src or dst before host, net, mac, port, network, as or country only, not \"src\""},
	{"tcp and udp or icmp", "column 13: expected parentheses: here \"and\" and \"or\" stand side by side, not \"or\""},
	{"10.20.0.0/16, tcp", "column 13: expected and, or, or the end, not \",\""},
	{"net 10.0.0.0/33", "column 5: expected an address or prefix (10.0.0.0/8, 2001:db8::1, 00:11:22), not \"10.0.0.0/33\""},
	{"ip host ::1", "column 9: expected an IPv4 address or prefix, not \"::1\""},
	{"ether host 10.0.0.1", "column 12: expected a MAC address, or its first octets (00:11:22), not \"10.0.0.1\""},
	{"port != 80", "column 6: expected =, <, >, <= or >= (and \"not\" before the term), not \"!=\""},
	{"(tcp", "column 5: expected and, or, or ), not the end"},
	{"tcp)", "column 4: expected and, or, or the end, not \")\""},
	{"if \"e-1", "column 4: expected the name or ifIndex of an interface, not \"\"e-1\""},
	{"proto tcpx", "column 7: expected a protocol (a name, 0 to 255, or an ethertype such as 0x0800), not \"tcpx\""},
	{"ip proto arp", "column 10: expected an IP protocol, not \"arp\""},
	{"as", "column 3: expected an AS number (64500 or AS64500), not the end"},
	{"network (", "column 10: expected a term (host, net, mac, port, proto, vlan, octets, network, as, country, agent, if, site)"
	    " or an address, not the end"},
	{"ip network a", "column 1: expected a protocol before host, net, port or proto only, not \"ip\""},
	{"src vlan 5", "column 1: expected src or dst before host, net, mac, port, network, as or country only, not \"src\""},
	{"net 10.0.0.0 mask 255.0.255.0", "column 19: expected a mask such as 255.255.0.0, not \"255.0.255.0\""},
	{"port in [80", "column 12: expected ], not the end"},
	/* a place is counted in characters; control characters are neither read nor shown */
	{"if \303\251\303\251 and )", "column 11: expected a term (host, net, mac, port, proto, vlan, octets, network, as, country, agent, if, site) or an address, not \")\""},
	{"tcp and \033[2J", "column 9: expected a term (host, net, mac, port, proto, vlan, octets, network, as, country, agent, if, site) or an address, not \"?\""},
};

START_TEST(mistakes_have_a_place)
{
	read_filter("tcp");
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		ck_assert_int_lt(filter_add(&filter, wrong[i].text, error), 0);
		ck_assert_str_eq(error, wrong[i].error);
	}
	ck_assert_str_eq(filter.text, "tcp"); /* as it was */
	ck_assert_uint_eq(filter.n_nodes, 2);
}
END_TEST

/* n times the text. */
static char *
repeated(const char *text, size_t n)
{
	char *all = calloc(n, strlen(text) + 1);

	for (size_t i = 0; i < n; i++)
		strcat(all, text);
	return all;
}

START_TEST(size_and_depth_are_bounded)
{
	struct {
		const char *text, *behind, *error;
		size_t n;
	} large[] = {
		{"(", "tcp", "column 25: expected at most 24 parentheses", 25},
		{"!", "tcp", "column 25: expected at most 24 parentheses", 25},
		{"arp or ", "tcp", "expected at most 1000 octets", 143},
		{"1 ", "]", "expected at most 256 terms", 253},
		{"a ", "]", "column 75: expected at most 32 names", 33},
	};

	for (size_t i = 0; i < ARRAY_LEN(large); i++) {
		char *many = repeated(large[i].text, large[i].n), *text = malloc(strlen(many) + 64);

		sprintf(text, "%s%s%s", i == 3 ? "port in [" : i == 4 ? "agent in [" : "", many, large[i].behind);
		filter = (struct filter){0};
		ck_assert_int_lt(filter_add(&filter, text, error), 0);
		ck_assert_msg(strstr(error, large[i].error), "%s: %s", text, error);
		free(many);
		free(text);
	}
	filter = (struct filter){0};
	for (int i = 0; i < 500 && filter_add(&filter, "vlan 5", error) == 0; i++)
		;
	ck_assert_str_eq(error, "expected at most 1000 octets in all");
	ck_assert_uint_le(strlen(filter.text), FILTER_TEXT_MAX);
}
END_TEST

/* What was added can be read as one expression. */
START_TEST(several_are_one)
{
	struct filter_subject subject = {0};
	struct filter all;

	read_filter("port 80 or 443");
	ck_assert_int_eq(filter_add(&filter, "not vlan", error), 0);
	ck_assert_int_eq(filter_add(&filter, "agent sw1", error), 0);
	ck_assert_str_eq(filter.text, "(port 80 or 443) and (not vlan) and (agent sw1)");
	all = filter;
	read_filter(all.text);
	ck_assert_uint_eq(filter.fields, all.fields);
	filter_set_number(&subject, FILTER_SRC_PORT, 80);
	filter_set_absent(&subject, FILTER_BIT(FILTER_VLAN));
	ck_assert_int_eq(filter_judge(&all, &subject), FILTER_NOT_KNOWN);
	subject.known |= FILTER_BIT(FILTER_AGENT);
	ck_assert_int_eq(filter_judge(&all, &subject), FILTER_NO);
	subject.named = 1;
	ck_assert_int_eq(filter_judge(&all, &subject), FILTER_YES);
	ck_assert_int_eq(filter_judge(&filter, &subject), FILTER_YES);
}
END_TEST

/* As little as is known of an agent may settle it. */
START_TEST(little_knowledge)
{
	static const struct {
		const char *text;
		enum filter_answer answer; /* of a tagged frame of VLAN 5 at agent a, of which no more is known */
	} cases[] = {
		{"agent a", FILTER_YES}, {"agent b", FILTER_NO}, {"agent b and tcp", FILTER_NO},
		{"agent a and tcp", FILTER_NOT_KNOWN}, {"agent a or tcp", FILTER_YES},
		{"agent b or tcp", FILTER_NOT_KNOWN}, {"not (agent b and tcp)", FILTER_YES},
		{"vlan 5 and not agent b", FILTER_YES}, {"not vlan", FILTER_NO}, {"vlan 6 or tcp", FILTER_NOT_KNOWN},
		{"inner host 10.0.0.1", FILTER_NO}, {"not inner host 10.0.0.1", FILTER_YES}, {"any", FILTER_YES},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct filter_subject subject = {.known = FILTER_BIT(FILTER_AGENT)};

		read_filter(cases[i].text);
		for (size_t n = 0; n < filter.n_names; n++)
			subject.named |= (uint32_t)(strcmp(filter_name(&filter, n), "a") == 0) << n;
		filter_set_number(&subject, FILTER_VLAN, 5);
		filter_set_absent(&subject, FILTER_INNER_IPS);
		ck_assert_msg(filter_judge(&filter, &subject) == cases[i].answer, "%s", cases[i].text);
	}
}
END_TEST

/* 10.0.0.0/8 is of network 7, and everybody of AS 64500. */
static uint32_t
group_of(void *arg, enum address_group group, size_t n_octets, const uint8_t *octets)
{
	ck_assert_str_eq(arg, "groups");
	if (group == ADDRESS_NETWORK)
		return n_octets == 4 && octets[0] == 10 ? 7 : 0;
	return group == ADDRESS_AS ? 64500 : 0;
}

static uint32_t
find_group(void *arg, enum address_group group, const char *text)
{
	ck_assert_str_eq(arg, "groups");
	return group == ADDRESS_NETWORK ? (strcmp(text, "ten") == 0 ? 7 : 0) : (uint32_t)atoi(text);
}

START_TEST(groups_are_known_once_they_are_bound)
{
	static const struct {
		const char *text;
		enum filter_answer before, answer; /* of a frame from 10.1.2.3, whose destination is not known */
	} cases[] = {
		{"src network ten", FILTER_NOT_KNOWN, FILTER_YES}, {"dst network ten", FILTER_NOT_KNOWN, FILTER_NOT_KNOWN},
		{"network ten", FILTER_NOT_KNOWN, FILTER_YES}, {"not src network ten", FILTER_NOT_KNOWN, FILTER_NO},
		{"src as 64500", FILTER_NOT_KNOWN, FILTER_YES}, {"src as 1", FILTER_NOT_KNOWN, FILTER_NO},
		{"inner network ten", FILTER_NO, FILTER_NO}, {"src and dst as 64500", FILTER_NOT_KNOWN, FILTER_NOT_KNOWN},
		{"src network ten or vlan 3", FILTER_NOT_KNOWN, FILTER_YES},
	};
	char arg[] = "groups";
	struct filter_groups groups = {group_of, find_group, arg, false};
	const uint8_t octets[] = {10, 1, 2, 3};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct filter_subject subject = {0};

		read_filter(cases[i].text);
		ck_assert(filter.asks_for_groups);
		filter_set_address(&subject, FILTER_SRC_IP, octets, sizeof(octets));
		filter_set_absent(&subject, FILTER_INNER_IPS);
		ck_assert_msg(filter_judge(&filter, &subject) == cases[i].before, "%s", cases[i].text);
		ck_assert_int_eq(filter_bind_groups(&filter, &groups, error), 0);
		ck_assert_msg(filter_judge(&filter, &subject) == cases[i].answer, "%s", cases[i].text);
	}
	read_filter("tcp and src network eleven");
	ck_assert_int_lt(filter_bind_groups(&filter, &groups, error), 0);
	ck_assert_str_eq(error, "column 21: there is no network eleven");
	groups.samples_state_as = true;
	for (size_t i = 0; i < 2; i++) {
		struct filter_subject subject = {0};

		read_filter(i == 0 ? "src as 64500 and network ten" : "not dst as 64501 and src network ten");
		ck_assert_int_eq(filter_bind_groups(&filter, &groups, error), 0);
		filter_set_address(&subject, FILTER_SRC_IP, octets, sizeof(octets));
		ck_assert_int_eq(filter_judge(&filter, &subject), FILTER_NOT_KNOWN);
		filter_set_number(&subject, FILTER_SRC_AS, 64500);
		filter_set_absent(&subject, FILTER_BIT(FILTER_DST_AS));
		ck_assert_int_eq(filter_judge(&filter, &subject), FILTER_YES);
	}
	read_filter("inner as 64500");
	ck_assert_int_lt(filter_bind_groups(&filter, &groups, error), 0);
}
END_TEST

/* A list with uplinks counts frames that cross two switches twice, so they count where one place is asked for. */
START_TEST(what_asks_for_ports)
{
	static const struct {
		const char *text;
		bool asks;
	} cases[] = {
		{"agent a", true}, {"if e-1", true}, {"if e-1 or if e-2", true}, {"agent a and vlan 5", true},
		{"agent a or agent b", false}, {"not agent a", false}, {"not if e-1", false}, {"vlan 5", false},
		{"vlan 5 and (if e-1)", true}, {"if e-1 or tcp", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		read_filter(cases[i].text);
		ck_assert_msg(filter.asks_for_ports == cases[i].asks, "%s", cases[i].text);
	}
}
END_TEST

START_TEST(names_are_quoted_where_they_need_it)
{
	static const char *const names[] = {"e-1", "Gi 1/1", "a\"b\\c", "and", "in", "", "[x]", "10.0.0.1#ab12", "\303\251"};
	char text[64];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		ck_assert(filter_write_name("if", names[i], text, sizeof(text)));
		read_filter(text);
		ck_assert_str_eq(filter_name(&filter, 0), names[i]);
	}
	ck_assert(!filter_write_name("if", "Gi 1/1", text, 10));
	ck_assert(!filter_write_name("if", "Gi1/1", text, 8));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("filter");
	TCase *tcase = tcase_create("filter");

	tcase_add_test(tcase, forms_that_mean_the_same);
	tcase_add_test(tcase, mistakes_have_a_place);
	tcase_add_test(tcase, size_and_depth_are_bounded);
	tcase_add_test(tcase, several_are_one);
	tcase_add_test(tcase, little_knowledge);
	tcase_add_test(tcase, groups_are_known_once_they_are_bound);
	tcase_add_test(tcase, what_asks_for_ports);
	tcase_add_test(tcase, names_are_quoted_where_they_need_it);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
