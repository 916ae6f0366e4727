/*
 * Option tables: values and defaults are set, each mistake is reported with its line, and what is
 * printed can be parsed to the same again.
 */
#include "common/options.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct port {
	char *title;
	uint32_t speed_mbps;
	bool full_duplex;
	char *passphrase;
};

struct config {
	bool foreground;
	uint32_t wait_ms, rounds;
	uint64_t retention_octets;
	char *socket;
	char *community;
	int device;
	uint32_t keep_short_h, keep_long_d;
	struct option_list senders, words;
	char *token;
	struct option_sections ports;
};

static const char *
no_such_sender(const char *value)
{
	return strchr(value, '/') ? "not an address" : NULL;
}

static const char *
no_such_word(const char *value)
{
	return *value && strlen(value) < 6 ? "it has fewer than 6 characters" : NULL;
}

static const char *const devices[] = {"emulated", "linux", "dummy", NULL};

#define AT(member) offsetof(struct config, member)
static const struct option_row port_table[] = {
    {.name = "speed", .type = OPTION_U32, .offset = offsetof(struct port, speed_mbps), .min = 10,
	.max = 1000, .unit = "Mb/s", .def = "10"},
    {.name = "full_duplex", .type = OPTION_BOOL, .offset = offsetof(struct port, full_duplex),
	.def = "yes"},
    {.name = "passphrase", .type = OPTION_STRING, .offset = offsetof(struct port, passphrase),
	.secret = true, .check = no_such_word},
    {0},
};
static const struct option_row table[] = {
    {.name = "foreground", .type = OPTION_BOOL, .offset = AT(foreground), .def = "false"},
    {.name = "wait", .type = OPTION_U32, .offset = AT(wait_ms), .min = 1, .max = 10000,
	.unit = "ms", .def = "50", .help = "longest wait for more samples"},
    {.name = "retention", .type = OPTION_U64, .offset = AT(retention_octets), .max = UINT64_MAX},
    {.name = "socket", .type = OPTION_STRING, .offset = AT(socket), .min = 1, .max = 20,
	.def = "/run/agentx"},
    {.name = "community", .type = OPTION_STRING, .offset = AT(community)},
    {.name = "keep_short", .type = OPTION_U32, .offset = AT(keep_short_h), .group = "keep", .max = 100, .unit = "h", .def = "24",
	.help = "single ones"},
    {.name = "keep_long", .type = OPTION_U32, .offset = AT(keep_long_d), .group = "keep", .max = 100, .unit = "d", .def = "9",
	.help = "all together", .live = true},
    {.name = "keep", .type = OPTION_GROUP, .help = "how long they are kept", .live = true},
    {.name = "rounds", .type = OPTION_U32, .offset = AT(rounds), .max = 9, .expert = true, .help = "for those who count"},
    {.name = "device", .type = OPTION_ENUM, .offset = AT(device), .choices = devices,
	.def = "dummy"},
    {.name = "senders", .type = OPTION_LIST, .offset = AT(senders), .max = 3,
	.def = "{\"::1\", 127.0.0.1}", .check = no_such_sender},
    {.name = "words", .type = OPTION_LIST, .offset = AT(words), .max = 3, .secret = true,
	.check = no_such_word},
    {.name = "token", .type = OPTION_STRING, .offset = AT(token), .secret = true,
	.check = no_such_word},
    {.name = "port", .type = OPTION_SECTION, .offset = AT(ports), .max = 4,
	.section = port_table, .section_size = sizeof(struct port),
	.section_title_offset = offsetof(struct port, title)},
    {0},
};

static int
parse(const char *text, struct config *config, char error[256])
{
	memset(config, 0, sizeof(*config));
	error[0] = '\0';
	return options_parse("ease.conf", text, table, config, error, 256);
}

START_TEST(an_empty_file_gives_the_defaults)
{
	struct config c;
	char error[256];

	ck_assert_int_eq(parse("# nothing\n", &c, error), 0);
	ck_assert(!c.foreground);
	ck_assert_uint_eq(c.wait_ms, 50);
	ck_assert_uint_eq(c.retention_octets, 0);
	ck_assert_str_eq(c.socket, "/run/agentx");
	ck_assert_str_eq(c.community, "");
	ck_assert_int_eq(c.device, 2);
	ck_assert_uint_eq(c.senders.n, 2);
	ck_assert_str_eq(c.senders.items[0], "::1");
	ck_assert_uint_eq(c.ports.n, 0);
	options_free(table, &c);
	options_free(table, &c); /* twice does no harm */
}
END_TEST

START_TEST(values_arrive)
{
	struct config c;
	struct port *ports;
	char error[256];

	ck_assert_msg(parse("foreground = on\nwait = 10000\nretention = 0xffffffffffffffff\n"
			    "socket = \"/tmp/a b\"\ndevice = linux\nsenders = {10.0.0.1}\n"
			    "port \"ge-1\" { speed = 100 full_duplex = no }\nport ge-2 {}\n",
			  &c, error) == 0,
	    "%s", error);
	ck_assert(c.foreground);
	ck_assert_uint_eq(c.wait_ms, 10000);
	ck_assert_uint_eq(c.retention_octets, UINT64_MAX);
	ck_assert_str_eq(c.socket, "/tmp/a b");
	ck_assert_int_eq(c.device, 1);
	ck_assert_uint_eq(c.senders.n, 1);
	ck_assert_uint_eq(c.ports.n, 2);
	ports = c.ports.items;
	ck_assert_str_eq(ports[0].title, "ge-1");
	ck_assert_uint_eq(ports[0].speed_mbps, 100);
	ck_assert(!ports[0].full_duplex);
	ck_assert_uint_eq(ports[1].speed_mbps, 10);
	ck_assert(ports[1].full_duplex);
	options_free(table, &c);
}
END_TEST

static const struct {
	const char *text, *error;
} mistakes[] = {
    {"\nwiat = 50", "ease.conf:2: wiat: unknown option"},
    {"wait = 0", "ease.conf:1: wait: must be a whole number from 1 to 10000 ms, not \"0\""},
    {"\n\nwait = 10001\n",
	"ease.conf:3: wait: must be a whole number from 1 to 10000 ms, not \"10001\""},
    {"wait = 99999999999999999999",
	"ease.conf:1: wait: must be a whole number from 1 to 10000 ms, "
	"not \"99999999999999999999\""},
    {"wait = -5", "ease.conf:1: wait: must be a whole number from 1 to 10000 ms, not \"-5\""},
    {"wait = \"5 \"", "ease.conf:1: wait: must be a whole number from 1 to 10000 ms, not \"5 \""},
    {"wait = fast", "ease.conf:1: wait: must be a whole number from 1 to 10000 ms, not \"fast\""},
    {"wait = \"\"", "ease.conf:1: wait: must be a whole number from 1 to 10000 ms, not \"\""},
    {"wait = 0x", "ease.conf:1: wait: must be a whole number from 1 to 10000 ms, not \"0x\""},
    {"foreground = maybe", "ease.conf:1: foreground: must be true or false, not \"maybe\""},
    {"device = cisco", "ease.conf:1: device: must be emulated, linux or dummy, not \"cisco\""},
    {"socket = \"\"", "ease.conf:1: socket: must have 1 to 20 octets, not 0"},
    {"socket = 123456789012345678901", "ease.conf:1: socket: must have 1 to 20 octets, not 21"},
    {"senders = {a,\nb,\nc/d}", "ease.conf:3: senders: \"c/d\": not an address"},
    {"senders = {a,b,\nc,\nd}", "ease.conf:3: senders: must have at most 3 items"},
    {"port a {\n\tspeed = 10\n}\nport b {\n\tspeed = 9\n}",
	"ease.conf:5: speed: must be a whole number from 10 to 1000 Mb/s, not \"9\""},
    {"port a {\n\twait = 10\n}", "ease.conf:2: wait: unknown option"},
    {"port a {}\nport b {}\nport c {}\nport d {}\nport e {}\n",
	"ease.conf:5: port: at most 4 such sections are allowed"},
    {"# a\n\n# b # c\n/* d\n * e */ // f\nport a { # g\n// h\nspeed = 9 }",
	"ease.conf:8: speed: must be a whole number from 10 to 1000 Mb/s, not \"9\""},
    {"socket = \"a#b\nc//d\" # e\ncommunity = http://x//y\nsenders={'#','\"',\n/}",
	"ease.conf:5: senders: \"/\": not an address"},
    {"wait = 5\n# ok\nwait = 0\nwiat = 1\n",
	"ease.conf:3: wait: must be a whole number from 1 to 10000 ms, not \"0\""},
};

START_TEST(a_group_sets_its_rows)
{
	static const struct {
		const char *text;
		uint32_t short_h, long_d;
		const char *error;
	} group[] = {
	    {"", 24, 9, NULL},
	    {"keep = {}", 24, 9, NULL},
	    {"keep = {\"long 5d\"}", 24, 5, NULL},
	    {"keep = {\"short 2d\", \"long 48h\"}", 48, 2, NULL},
	    {"keep = {\"short 0h\"}\nkeep_long = 3", 0, 3, NULL}, /* the spelling of before */
	    {"\nkeep = {\"short 2\"}", 0, 0, "ease.conf:2: keep: \"short 2\": hours or days are needed, as \"short 24h\""},
	    {"keep = {\"short 2dh\"}", 0, 0, "ease.conf:1: keep: \"short 2dh\": hours or days are needed, as \"short 24h\""},
	    {"keep = {\"short -2d\"}", 0, 0, "ease.conf:1: keep: \"short -2d\": hours or days are needed, as \"short 24h\""},
	    {"keep = {\"long 25h\"}", 0, 0, "ease.conf:1: keep: \"long 25h\": hours or days are needed, as \"long 24d\""},
	    {"keep = {\"short 5d\"}", 0, 0, "ease.conf:1: keep: must be a whole number from 0 to 100 h, not \"120\""},
	    {"keep = {\"short 99999999999999999999d\"}", 0, 0,
		"ease.conf:1: keep: \"short 99999999999999999999d\": hours or days are needed, as \"short 24h\""},
	    {"keep = {\"shor 2d\"}", 0, 0, "ease.conf:1: keep: \"shor 2d\" begins with no word of those that keep has"},
	    {"keep = {\"\"}", 0, 0, "ease.conf:1: keep: \"\" begins with no word of those that keep has"},
	    {"keep = {\"long 2d\", \"long 3d\"}", 0, 0, "ease.conf:1: keep_long: it is set twice, once in keep"},
	    {"keep_long = 2\nkeep = {\"long 2d\"}", 0, 0, "ease.conf:2: keep_long: it is set twice, once in keep"},
	};
	struct config c;
	char error[256];

	for (size_t i = 0; i < sizeof(group) / sizeof(group[0]); i++) {
		int err = parse(group[i].text, &c, error);

		ck_assert_str_eq(error, group[i].error ? group[i].error : "");
		ck_assert_int_eq(err, group[i].error ? -EINVAL : 0);
		if (!group[i].error) {
			ck_assert_uint_eq(c.keep_short_h, group[i].short_h);
			ck_assert_uint_eq(c.keep_long_d, group[i].long_d);
		}
		options_free(table, &c);
	}
}
END_TEST

/* A group is one line, and what hardly anybody needs comes last. */
START_TEST(groups_and_experts_are_printed)
{
	struct config c;
	char error[256], *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	const char *keep, *last;

	ck_assert_int_eq(parse("keep = {\"short 2d\"}", &c, error), 0);
	options_print(out, table, &c);
	fclose(out);
	keep = strstr(text, "# how long they are kept SIGHUP applies it.\n# short: single ones SIGHUP does not apply it.\n"
	    "# long: all together\nkeep = {\"short 48h\", \"long 9d\"}\n");
	last = strstr(text, "# for those who count (0 to 9)\nrounds = 0\n");
	ck_assert_msg(keep && last && keep < last, "%s", text);
	ck_assert_ptr_null(strstr(text, "keep_"));
	ck_assert_ptr_null(strchr(last + strlen("# for those who count (0 to 9)\n"), '#'));
	free(text);
	options_free(table, &c);
}
END_TEST

START_TEST(mistakes_are_told_with_their_line)
{
	struct config c;
	char error[256];

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		ck_assert_int_eq(parse(mistakes[i].text, &c, error), -EINVAL);
		ck_assert_str_eq(error, mistakes[i].error);
		options_free(table, &c);
	}
}
END_TEST

/* A mistake in a secret, or beside it, goes to the log and to the screen: none of it is quoted. */
START_TEST(mistakes_do_not_quote_secrets)
{
	static const struct {
		const char *text, *error;
	} secret[] = {
	    {"\ntoken = hush!", "ease.conf:2: token: it has fewer than 6 characters"},
	    {"words = {\"long enough\",\n\"hush!\"}",
		"ease.conf:2: words: it has fewer than 6 characters"},
	    {"port a {\n\tpassphrase = hush!\n}",
		"ease.conf:2: passphrase: it has fewer than 6 characters"},
	    {"token = not quoted hush!", NULL},
	    {"\ntoken = \"hush!\\999\"", NULL},
	    {"words = {\"not hush!\"\n\"hush!!\" hush}", NULL},
	    {"port a { passphrase = quoted hush! }", NULL},
	    {"words = {\"one thing\" hush }", NULL},
	    {"senders = {\"http://user:hush!@192.0.2.1/x\"}",
		"ease.conf:1: senders: \"(hidden)@192.0.2.1/x\": not an address"},
	};
	struct config c;
	char error[256];

	for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++) {
		ck_assert_int_eq(parse(secret[i].text, &c, error), -EINVAL);
		ck_assert_msg(!strstr(error, "hush"), "%s", error);
		ck_assert_msg(strstr(error, "ease.conf:") == error, "%s", error);
		if (secret[i].error)
			ck_assert_str_eq(error, secret[i].error);
		options_free(table, &c);
	}
}
END_TEST

/* libconfuse would put the environment's PATH there, or nothing. */
START_TEST(variables_are_refused_not_replaced)
{
	static const char *const refused[] = {"\ncommunity = \"a${PATH}b\"",
	    "# ${PATH}\ncommunity = \"${no such\"", "\ncommunity = ${PATH}",
	    "\nsenders = {\"${PATH}\"}", "\nport \"${PATH}\" {}"};
	static const char *const kept[] = {"community = \"a\\${PATH}b\"",
	    "community = 'a${PATH}b'"};
	struct config c;
	char error[256];

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		ck_assert_int_eq(parse(refused[i], &c, error), -EINVAL);
		ck_assert_str_eq(error, "ease.conf:2: \"${\" would be replaced by a variable of the"
		    " environment: write \"\\${\" in double quotes, or use single quotes");
		options_free(table, &c);
	}
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		ck_assert_msg(parse(kept[i], &c, error) == 0, "%s", error);
		ck_assert_str_eq(c.community, "a${PATH}b");
		options_free(table, &c);
	}
}
END_TEST

START_TEST(wrong_syntax_is_told_with_its_line)
{
	static const char *const wrong[] = {"\nwait = {1, 2}", "\n}", "\nport a {",
	    "\nsocket = \"open", "\nport {}", "\nwait", "port a {}\nport a {}", "\n= 5"};
	struct config c;
	char error[256];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_msg(parse(wrong[i], &c, error) == -EINVAL, "%s", wrong[i]);
		ck_assert_msg(strncmp(error, "ease.conf:2: ", 13) == 0, "%s: %s", wrong[i], error);
		options_free(table, &c);
	}
}
END_TEST

static char *
print(const struct config *config)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	options_print(out, table, config);
	fclose(out);
	return text;
}

START_TEST(what_is_printed_parses_to_the_same)
{
	static const char *const sets[] = {"", "wait = 7\nsenders = {}",
	    "socket = \"a\\\"b\\\\c\\$\\{d\\}\"\ncommunity = \"tab\\t nl\\n\\x01\"",
	    "device = emulated\nport \"two \\\"words\\\"\" { speed = 1000 }\nport b {}"};
	struct config c, back;
	char error[256], *first, *second;

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		ck_assert_msg(parse(sets[i], &c, error) == 0, "%s", error);
		first = print(&c);
		ck_assert_msg(parse(first, &back, error) == 0, "%s in:\n%s", error, first);
		second = print(&back);
		ck_assert_str_eq(first, second);
		ck_assert_str_eq(c.community, back.community);
		ck_assert_str_eq(c.socket, back.socket);
		free(first);
		free(second);
		options_free(table, &c);
		options_free(table, &back);
	}
}
END_TEST

START_TEST(secrets_stay_hidden)
{
	struct config c, back;
	char error[256], *text;

	ck_assert_int_eq(parse("token = s3cret\nwords = {s3cret}"
	    "\nport a { passphrase = s3cret89 }", &c, error), 0);
	text = print(&c);
	ck_assert_ptr_null(strstr(text, "s3cret"));
	ck_assert_ptr_nonnull(strstr(text, "\ntoken = \"(hidden)\"\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nwords = {\"(hidden)\"}\n"));
	ck_assert_ptr_nonnull(strstr(text, "# longest wait for more samples (1 to 10000 ms)"));
	ck_assert_msg(parse(text, &back, error) == 0, "%s", error);
	free(text);
	options_free(table, &c);
	options_free(table, &back);
}
END_TEST

/* With a mark of UTF-8, and lines that end with two octets. */
START_TEST(files_of_other_editors)
{
	static const char text[] = "\xef\xbb\xbfwait = 7\r\n# x\r\nwait = 0\r\n";
	char error[256] = "";
	struct config c = {0};

	ck_assert_int_eq(options_parse("f", text, table, &c, error, sizeof(error)), -EINVAL);
	ck_assert_str_eq(error, "f:3: wait: must be a whole number from 1 to 10000 ms, not \"0\"");
	options_free(table, &c);
}
END_TEST

START_TEST(files)
{
	char path[] = "/tmp/ease-options-XXXXXX", error[256], want[300];
	struct config c = {0};
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "\nwait = 0\n", 10), 10);
	ck_assert_int_eq(options_load(path, table, &c, error, sizeof(error)), -EINVAL);
	snprintf(want, sizeof(want),
	    "%s:2: wait: must be a whole number from 1 to 10000 ms, not \"0\"", path);
	ck_assert_str_eq(error, want);
	options_free(table, &c);
	ck_assert_int_eq(write(fd, "\0", 1), 1);
	ck_assert_int_eq(options_load(path, table, &c, error, sizeof(error)), -EILSEQ);
	ck_assert_ptr_nonnull(strstr(error, "not a text file"));
	close(fd);
	unlink(path);
	ck_assert_int_eq(options_load(path, table, &c, error, sizeof(error)), -ENOENT);
	ck_assert_ptr_nonnull(strstr(error, path));
	ck_assert_int_eq(options_load("/", table, &c, error, sizeof(error)), -EISDIR);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("options");
	TCase *tc = tcase_create("options");

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, an_empty_file_gives_the_defaults);
	tcase_add_test(tc, values_arrive);
	tcase_add_test(tc, files_of_other_editors);
	tcase_add_test(tc, mistakes_are_told_with_their_line);
	tcase_add_test(tc, a_group_sets_its_rows);
	tcase_add_test(tc, groups_and_experts_are_printed);
	tcase_add_test(tc, mistakes_do_not_quote_secrets);
	tcase_add_test(tc, variables_are_refused_not_replaced);
	tcase_add_test(tc, wrong_syntax_is_told_with_its_line);
	tcase_add_test(tc, what_is_printed_parses_to_the_same);
	tcase_add_test(tc, secrets_stay_hidden);
	tcase_add_test(tc, files);
	return suite_run(suite);
}
