/*
 * Names of addresses, prefixes and VLANs: the longest prefix wins, mistakes are reported with file
 * and line, the IEEE's lists are read in their own form, and reports show names beside keys.
 */
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include "collector/filter/address_names.h"
#include "collector/filter/resolver.h"
#include "collector/store/schema.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char error[256], name[ADDRESS_NAME_ROOM];

static struct address_names *
parse(const char *text)
{
	struct address_names *d;

	ck_assert_msg(address_names_parse("names", text, &d, error, sizeof(error)) == 0, "%s", error);
	return d;
}

static const char *
name_of(struct address_names *d, const char *address)
{
	uint8_t octets[16];

	if (strchr(address, ':') && strlen(address) == 17) {
		for (int i = 0; i < 6; i++)
			octets[i] = (uint8_t)strtoul(address + 3 * i, NULL, 16);
		address_names_of_address(d, 6, octets, name);
	} else if (inet_pton(AF_INET, address, octets) == 1) {
		address_names_of_address(d, 4, octets, name);
	} else {
		ck_assert_int_eq(inet_pton(AF_INET6, address, octets), 1);
		address_names_of_address(d, 16, octets, name);
	}
	return name;
}

START_TEST(the_longest_prefix_wins)
{
	struct address_names *d = parse("# hosts\n10.0.0.0/8 all\n10.20.1.15\tbackup1 alias # x\n"
	    "10.20.0.0/16 servers\n\n10.20.1.8/29\tnear\n2001:db8::/32 lab\n2001:db8::1 one\n"
	    "00:1b:21 desks\n00:1b:21:10:00:01 mine\nvlan 5 voice\nVLAN 0 none");

	ck_assert_str_eq(name_of(d, "10.20.1.15"), "backup1");
	ck_assert_str_eq(name_of(d, "10.20.1.14"), "near");
	ck_assert_str_eq(name_of(d, "10.20.1.16"), "servers");
	ck_assert_str_eq(name_of(d, "10.21.0.0"), "all");
	ck_assert_str_eq(name_of(d, "11.0.0.0"), "");
	ck_assert_str_eq(name_of(d, "2001:db8::1"), "one");
	ck_assert_str_eq(name_of(d, "2001:db8:ffff::"), "lab");
	ck_assert_str_eq(name_of(d, "00:1b:21:10:00:01"), "mine");
	ck_assert_str_eq(name_of(d, "00:1b:21:10:00:02"), "desks");
	ck_assert_str_eq(name_of(d, "00:1b:22:10:00:02"), "");
	address_names_of_vlan(d, 5, name);
	ck_assert_str_eq(name, "voice");
	address_names_of_vlan(d, 6, name);
	ck_assert_str_eq(name, "");
	address_names_of_prefix(d, 4, (const uint8_t[]){10, 20, 0, 0}, 16, name);
	ck_assert_str_eq(name, "servers");
	address_names_of_prefix(d, 4, (const uint8_t[]){10, 20, 0, 0}, 17, name); /* no such entry */
	ck_assert_str_eq(name, "");
	address_names_close(d);
	ck_assert_str_eq(name_of(NULL, "10.20.1.15"), "");
	d = parse("\xef\xbb\xbf" "10.0.0.0/8 all\r\n\r\n10.20.1.15 backup1\r\n"); /* of another editor */
	ck_assert_str_eq(name_of(d, "10.20.1.15"), "backup1");
	ck_assert_str_eq(name_of(d, "10.21.0.0"), "all");
	address_names_close(d);
}
END_TEST

/* The network of an address, by its name; "": none. */
static const char *
network_of(struct address_names *d, const char *address)
{
	static char network[ADDRESS_NAME_ROOM];
	char rest[ADDRESS_NAME_ROOM];
	uint8_t octets[16];
	bool is_ip4 = inet_pton(AF_INET, address, octets) == 1;
	uint32_t number;

	ck_assert(is_ip4 || inet_pton(AF_INET6, address, octets) == 1);
	number = address_names_group(d, ADDRESS_NETWORK, is_ip4 ? 4 : 16, octets);
	address_names_of_group(d, ADDRESS_NETWORK, number, network, rest);
	ck_assert_uint_eq(number > 0, *network != '\0');
	ck_assert_uint_eq(number, number == 0 ? 0 : address_names_find_group(d, ADDRESS_NETWORK, network));
	return network;
}

/* Of several prefixes with one name one network is made, and a host's own name takes it out of none. */
START_TEST(prefixes_are_networks)
{
	struct address_names *d = parse("10.0.0.0/8 all\n10.20.1.15 backup1\n10.20.0.0/16 servers\n10.30.0.0/16 servers\n"
	    "10.20.1.16/32 customer\n2001:db8::/32 servers\n00:1b:21 desks\nvlan 5 voice\n");

	ck_assert_str_eq(network_of(d, "10.20.1.15"), "servers");
	ck_assert_str_eq(network_of(d, "10.20.1.16"), "customer");
	ck_assert_str_eq(network_of(d, "10.30.255.255"), "servers");
	ck_assert_str_eq(network_of(d, "2001:db8::1"), "servers");
	ck_assert_str_eq(network_of(d, "10.31.0.0"), "all");
	ck_assert_str_eq(network_of(d, "11.0.0.0"), "");
	ck_assert_str_eq(network_of(d, "2001:db9::"), "");
	ck_assert_uint_eq(address_names_find_group(d, ADDRESS_NETWORK, "backup1"), 0);
	ck_assert_uint_eq(address_names_find_group(d, ADDRESS_AS, "AS64500"), 64500);
	ck_assert_uint_eq(address_names_find_group(d, ADDRESS_AS, "64500"), 64500);
	ck_assert_uint_eq(address_names_find_group(d, ADDRESS_AS, "4294967296"), 0);
	ck_assert_uint_eq(address_names_find_group(d, ADDRESS_COUNTRY, "de"), 'D' << 8 | 'E');
	ck_assert_uint_eq(address_names_find_group(d, ADDRESS_COUNTRY, "DEU"), 0);
	ck_assert(address_names_has_groups(d, ADDRESS_NETWORK) && !address_names_has_groups(d, ADDRESS_AS));
	address_names_close(d);
	ck_assert_uint_eq(address_names_group(NULL, ADDRESS_NETWORK, 4, (const uint8_t[]){10, 0, 0, 1}), 0);
}
END_TEST

START_TEST(mistakes_have_file_and_line)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{"10.0.0.1 a\n10.0.0 b\n", "names:2: 10.0.0 is no address or prefix"},
		{"10.0.0.1\n", "names:1: a name is missing"},
		{"10.0.0.1 # no\n", "names:1: a name is missing"},
		{"10.0.0.1/33 x\n", "names:1: 10.0.0.1/33 is no address or prefix"},
		{"\n\nvlan 4095 x\n", "names:3: 4095 is no VLAN"},
		{"vlan\n", "names:1:  is no VLAN"},
		{"10.0.0.1 \033[2J\n", "names:1: a name is missing"},
	};
	struct address_names *d;
	char line[2000];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(address_names_parse("names", cases[i].text, &d, error, sizeof(error)),
		    -EINVAL);
		ck_assert_str_eq(error, cases[i].error);
		ck_assert_ptr_null(d);
	}
	memset(line, 'a', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	ck_assert_int_eq(address_names_parse("names", line, &d, error, sizeof(error)), -EINVAL);
	ck_assert_str_eq(error, "names:1: the line is too long");
	ck_assert_int_eq(address_names_open(&(struct address_names_options){.file = "/nowhere/names"}, &d,
	    error, sizeof(error)), -ENOENT);
	ck_assert_str_eq(error, "/nowhere/names: No such file or directory");
	address_names_close(parse(""));
}
END_TEST

static void
write_file(const char *folder, const char *file, const char *text)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	out = fopen(path, "w");
	ck_assert_ptr_nonnull(out);
	fputs(text, out);
	fclose(out);
}

static void
remove_file(const char *folder, const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	unlink(path);
}

/* Lines of the IEEE's own files, with its quoting; 24, 28 and 36 bits. */
START_TEST(vendors_of_the_ieee)
{
	char folder[] = "/tmp/directory.XXXXXX";
	struct address_names *d;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	write_file(folder, "oui.csv", "Registry,Assignment,Organization Name,Organization Address\n"
	    "MA-L,002272,American Micro-Fuel Device Corp.,2181 Buchanan Loop Ferndale WA US 98248 \n"
	    "MA-L,001B21,\"Intel, \"\"the\"\" one\",\"Lot 8, Jalan Hi-Tech 2/3\"\n");
	write_file(folder, "mam.csv", "Registry,Assignment,Organization Name,Organization Address\n"
	    "MA-M,0022725,Medium,x\n");
	write_file(folder, "oui36.csv", "Registry,Assignment,Organization Name,Organization Address\n"
	    "MA-S,002272501,Small,x\nbroken\nMA-S,zz,No,x\n");
	ck_assert_msg(address_names_open(&(struct address_names_options){.vendors = folder}, &d, error,
	    sizeof(error)) == 0, "%s", error);
	ck_assert_str_eq(name_of(d, "00:22:72:00:00:00"), "American Micro-Fuel Device Corp.");
	ck_assert_str_eq(name_of(d, "00:22:72:51:00:00"), "Medium");
	ck_assert_str_eq(name_of(d, "00:22:72:50:1f:00"), "Small");
	ck_assert_str_eq(name_of(d, "00:1b:21:10:00:01"), "Intel, \"the\" one");
	address_names_close(d);
	remove_file(folder, "mam.csv");
	ck_assert_int_eq(address_names_open(&(struct address_names_options){.vendors = folder}, &d, error,
	    sizeof(error)), -ENOENT);
	ck_assert_ptr_nonnull(strstr(error, "mam.csv"));
	ck_assert_ptr_nonnull(strstr(error, "ieee-data"));
	remove_file(folder, "oui.csv");
	remove_file(folder, "oui36.csv");
	rmdir(folder);
}
END_TEST

/* What the C library's own tool says; "" where it finds nothing. */
static void
getent_name(const char *address, char *host, size_t size)
{
	char command[128], line[512] = "";
	FILE *out;

	snprintf(command, sizeof(command), "getent hosts %s", address);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	if (!fgets(line, sizeof(line), out))
		*line = '\0';
	pclose(out);
	*host = '\0';
	if (*line)
		snprintf(host, size, "%s", strtok(line + strcspn(line, " \t"), " \t\n"));
}

/* Asked, and then from the cache. */
START_TEST(the_resolver_is_asked_where_the_file_is_silent)
{
	char host[ADDRESS_NAME_ROOM];
	struct address_names *d;

	ck_assert_int_eq(address_names_open(&(struct address_names_options){.resolve = true}, &d, error,
	    sizeof(error)), 0);
	getent_name("127.0.0.1", host, sizeof(host));
	ck_assert_str_eq(name_of(d, "127.0.0.1"), host);
	ck_assert_str_eq(name_of(d, "127.0.0.1"), host);
	address_names_close(d);
}
END_TEST

START_TEST(reports_show_names)
{
	struct report_options options = report_store_options();
	struct report_store store;
	char *text;
	json_t *j;

	report_store_make(&store);
	report_store_agent(&store, 1, 60);
	report_store_port(&store, 1, 1, "ge-1", 1);
	report_store_window(&store, 0, 1, 1, 10000, 640000);
	report_store_samples(&store, 0, 1, 1, 30, 100, 64, STORE_KEY_ETH_PAIR, "001b21000001",
	    "0200000000bb");
	options.names = parse("00:1b:21 desks\n");
	j = report_store_json(&store, "talkers", &options);
	ck_assert_str_eq(report_json_text(j, "rows.0.src"), "00:1b:21:00:00:01");
	ck_assert_str_eq(report_json_text(j, "rows.0.src_name"), "desks");
	ck_assert(json_is_null(report_json_at(j, "rows.0.dst_name")));
	json_decref(j);
	text = report_store_render(&store, "talkers", &options, render_text, 60);
	ck_assert_ptr_nonnull(strstr(text, " 00:1b:21:00:00:01 desks  02:00:00:00:00:bb "));
	free(text);
	address_names_close(options.names);
	report_store_remove(&store);
}
END_TEST

/* A name is there at a later look; it stays while it is asked for again. */
START_TEST(the_resolver_is_asked_beside)
{
	static const uint8_t here[] = {127, 0, 0, 1};
	struct clock clock = {.manual = true, .manual_mono_us = 1};
	char must[RESOLVER_NAME_ROOM];
	struct resolver *r;

	resolver_ask(sizeof(here), here, must);
	ck_assert_str_ne(must, "");
	ck_assert_int_eq(resolver_new(&r, 7, &clock), 0);
	resolver_name(r, sizeof(here), here, name);
	while (strcmp(name, must) != 0) { /* check's own limit ends it */
		ck_assert_str_eq(name, "");
		ck_assert_int_ge(poll(NULL, 0, 1), 0);
		resolver_name(r, sizeof(here), here, name);
	}
	__atomic_add_fetch(&clock.manual_mono_us, RESOLVER_KEPT_US, __ATOMIC_SEQ_CST);
	resolver_name(r, sizeof(here), here, name);
	ck_assert_str_eq(name, must);
	for (uint32_t i = 0; i < 3 * RESOLVER_PLACES; i++) { /* more than there is room for */
		const uint8_t nobody[] = {127, 1, (uint8_t)(i >> 8), (uint8_t)i};

		resolver_name(r, sizeof(nobody), nobody, name);
	}
	resolver_free(r);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("directory");
	TCase *tc = tcase_create("directory");

	tcase_add_test(tc, the_longest_prefix_wins);
	tcase_add_test(tc, the_resolver_is_asked_beside);
	tcase_add_test(tc, prefixes_are_networks);
	tcase_add_test(tc, mistakes_have_file_and_line);
	tcase_add_test(tc, vendors_of_the_ieee);
	tcase_add_test(tc, the_resolver_is_asked_where_the_file_is_silent);
	tcase_add_test(tc, reports_show_names);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
