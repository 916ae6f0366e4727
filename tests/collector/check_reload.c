/*
 * The collector's configuration: what is refused, and in which words; and SIGHUP, which takes all
 * of a good file that can change, nothing of a bad one, and says what is not taken while memory is
 * short (faults.h).
 */
#include "collector/collector.h"
#include "collector/collector_private.h"
#include "common/log.h"
#include "tests/faults/faults.h"
#include "tests/suite.h"

#include <errno.h>
#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ERROR_TEXT = 512, LONG_TEXT = 300 };

static char dir[64], conf[96];
static const struct clock noon = {.manual = true, .manual_wall_us = 1700000040000000ull,
    .manual_mono_us = 1000000};

static void
set_up(void)
{
	faults_install();
	log_set_most(LOG_LEVEL_ERROR);
	strcpy(dir, "/tmp/ease-reload-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(conf, sizeof(conf), "%s/conf", dir);
}

static void
tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void
write_text(const char *text)
{
	FILE *file = fopen(conf, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

/* ---- keys of SNMPv3 ---- */

/* For each a mebioctet is hashed, in memory that is the library's: one that is known already changes no fault. */
struct known_key {
	size_t n, octets;
	oid auth_protocol; /* the last part of its identifier */
	u_char passphrase[64], key[USM_LENGTH_KU_HASHBLOCK];
};

int __real_generate_Ku(const oid *protocol, u_int length, const u_char *passphrase, size_t n, u_char *key, size_t *octets);
int __wrap_generate_Ku(const oid *protocol, u_int length, const u_char *passphrase, size_t n, u_char *key, size_t *octets);
int
__wrap_generate_Ku(const oid *protocol, u_int length, const u_char *passphrase, size_t n, u_char *key, size_t *octets)
{
	static struct known_key known[8];
	struct known_key *k = known, *end = known + 8;

	while (k < end && k->n > 0 &&
	    (k->n != n || k->auth_protocol != protocol[length - 1] || memcmp(k->passphrase, passphrase, n) != 0))
		k++;
	if (k == end || n > sizeof(k->passphrase))
		return __real_generate_Ku(protocol, length, passphrase, n, key, octets);
	if (k->n == 0) {
		*k = (struct known_key){.octets = sizeof(k->key), .auth_protocol = protocol[length - 1]};
		if (__real_generate_Ku(protocol, length, passphrase, n, k->key, &k->octets) != SNMPERR_SUCCESS)
			return SNMPERR_GENERR;
		memcpy(k->passphrase, passphrase, n);
		k->n = n;
	}
	memcpy(key, k->key, k->octets);
	*octets = k->octets;
	return SNMPERR_SUCCESS;
}

/* ---- what is refused ---- */

#define GOOD "communities = {\"public\"}\n"

static const struct {
	const char *text, *reason; /* what is said behind the file's name */
} mistakes[] = {
    {GOOD "listen = {}", ": listen: at least one address is needed"},
    {"communities = {}", ": communities: at least one community, or a user section, is needed"},
    {GOOD "uplinks = {\"any 49\", \"sw1 49\"}", ": uplinks: "},
    {"user \"me\" { }", ": user \"me\": auth_passphrase and priv_passphrase are needed"},
    {"user \"me\" { auth_passphrase = \"12345678\" }",
	": user \"me\": auth_passphrase and priv_passphrase are needed"},
    {"user \"me\" {\nauth_passphrase = \"1234567\" }", "a passphrase has at least 8 characters"},
    {GOOD "senders = {}", ": senders: at least one address is needed"},
    {GOOD "forward = {\"127.0.0.1:6343\"}", ": forward: what is sent on is sFlow: an address in sflow_listen is needed"},
    {"sflow_listen = {\"127.0.0.1:6343\"}\nforward = {\"192.0.2.1:6343\", \"127.0.0.1:6343\"}",
	": forward: one of its addresses is in sflow_listen, too: it would be sent to itself"},
    {GOOD "forward = {\"switch:6343\"}", ":2: "},
    {GOOD "forward = {\"127.0.0.1:0\"}", "the port must not be 0"},
    {GOOD "http_store = \"clickhouse\"", ": http_store: \"clickhouse\" needs a server"},
    {GOOD "http_store = \"mysql\"", ":2: http_store: "},
    {GOOD "clickhouse = {\"clickhouse:http://a:1\", \"clickhouse:http://b:1\"}", ": clickhouse: "},
    {GOOD "\nclickhouse = {\"ftp://a\"}", ":3: "},
    {GOOD "clickhouse_database = \"a;b\"", "only letters, digits and _ are allowed"},
    {GOOD "clickhouse_cluster = \"a'b\"", "only letters, digits, _ . and - are allowed"},
    {GOOD "clickhouse_user = \"a\\nX-Evil: b\"", "line breaks are not allowed"},
    {"communities = {\"\"}", "an empty community would admit everybody"},
    {GOOD "http_token = \"short\"", "a token has at least 8 characters"},
    {GOOD "store = \"\"", "give the path of a file"},
    {GOOD "http_listen = \"here\"", ":2: "},
    {GOOD "memory = 1", ":2: "},
    {GOOD "no_such_option = 1", ":2: "},
};
enum { MISTAKES = sizeof(mistakes) / sizeof(mistakes[0]) };

START_TEST(a_mistake_is_named)
{
	struct collector_config config = {0};
	char error[ERROR_TEXT] = "";

	write_text(mistakes[_i].text);
	ck_assert_msg(collector_config_load(conf, &config, error, sizeof(error)) == -EINVAL, "%s",
	    mistakes[_i].text);
	ck_assert_msg(strncmp(error, conf, strlen(conf)) == 0 && strstr(error, mistakes[_i].reason),
	    "%s: %s", mistakes[_i].text, error);
	collector_config_free(&config);
}
END_TEST

START_TEST(what_is_too_long_is_named)
{
	char text[2 * LONG_TEXT], value[LONG_TEXT + 1], error[ERROR_TEXT];

	memset(value, 'a', LONG_TEXT);
	value[LONG_TEXT] = '\0';
	for (int i = 0; i < 2; i++) {
		struct collector_config config = {0};

		snprintf(text, sizeof(text), i == 0 ? "communities = {\"%s\"}\n"
		    : GOOD "clickhouse_user = \"%s\"\n", value);
		write_text(text);
		ck_assert_int_eq(
		    collector_config_load(conf, &config, error, sizeof(error)), -EINVAL);
		ck_assert_msg(strstr(error, "at most 255") != NULL, "%s", error);
		collector_config_free(&config);
	}
}
END_TEST

/* ---- SIGHUP ---- */

/* A good file; what of it can change says `which`. */
static void
write_config(const char *which, unsigned keep_h)
{
	char text[1024], devices[sizeof(dir) + 16];
	FILE *out;

	snprintf(devices, sizeof(devices), "%s/devices", dir);
	out = fopen(devices, "w");
	ck_assert_ptr_nonnull(out);
	for (unsigned i = 0; i < keep_h; i++)
		fprintf(out, "uplink * %u\nsource * 10.0.0.%u\n", i + 1, i);
	fclose(out);

	snprintf(text, sizeof(text),
	    "listen = {\"127.0.0.1:0\"}\nsflow_listen = {\"127.0.0.1:0\"}\nforward = {\"127.0.0.1:%u\"}\n"
	    "http_listen = \"\"\nreceive_buffer = 100000\nmemory = 144\nstore = "
	    "\"%s/%s.db\"\nsenders = {\"127.0.0.1\"}\n"
	    "communities = {\"%s\"}\nhttp_token = \"a-token-of-%s\"\nkeep = {\"samples %uh\"}\ndevice_names = \"%s\"\n"
	    "user \"%s\" { auth_passphrase = \"12345678\" priv_passphrase = \"12345678\" }\n",
	    keep_h, dir, which, which, which, keep_h, devices, which);
	write_text(text);
}

static struct collector *
open_collector(struct collector_config *config, struct collector_arguments *options)
{
	char error[ERROR_TEXT] = "";
	struct collector *c;

	ck_assert_msg(collector_config_load(conf, config, error, sizeof(error)) == 0, "%s", error);
	options->config_file = conf;
	options->live_config = config;
	ck_assert_msg(
	    collector_open(&c, config, options, &noon, error, sizeof(error)) == 0, "%s", error);
	return c;
}

/* All of what can change is of `which`, and what cannot of the first. */
static bool
is_in_force(const struct collector *c, const char *which, unsigned keep_h)
{
	const struct collector_config *config = c->config;
	const struct collector_user *users = config->users.items;

	return c->devices.n_uplinks == keep_h && c->devices.n_sources == keep_h && config->communities.n == 1 && strcmp(config->communities.items[0], which) == 0 &&
	    strcmp(config->http_token + strlen("a-token-of-"), which) == 0 &&
	    config->keep_samples_h == keep_h && config->users.n == 1 && config->forward.n == 1 &&
	    atoi(strrchr(config->forward.items[0], ':') + 1) == (int)keep_h &&
	    strcmp(users[0].name, which) == 0 && strstr(config->store, "first.db") != NULL;
}

static void
reload_good_and_bad(struct collector *c)
{
	ck_assert(is_in_force(c, "first", 24));
	write_config("second", 48);
	collector_reload(c);
	ck_assert(is_in_force(c, "second", 48));
	ck_assert_uint_eq(collector_stat(c, "easecapd.reloads"), 1);
	write_text(GOOD "keep_samples = 1\nkeep_samples_of = 2\n");
	collector_reload(c);
	ck_assert(is_in_force(c, "second", 48));
	ck_assert_int_eq(unlink(conf), 0);
	collector_reload(c);
	ck_assert(is_in_force(c, "second", 48));
	ck_assert_uint_eq(collector_stat(c, "easecapd.reloads_refused"), 2);
	write_config("first", 24);
	collector_reload(c);
	ck_assert(is_in_force(c, "first", 24));
	ck_assert_uint_eq(collector_stat(c, "easecapd.reloads"), 2);
}

struct reloading {
	struct collector *c;
	bool second; /* what the file says now */
};

/* How many users of this name, and of others, the library lets in. */
static void
count_users(const char *name, unsigned *of_name, unsigned *others)
{
	*of_name = *others = 0;
	for (const struct usmUser *u = usm_get_userList(); u; u = u->next)
		++*(strcmp(u->secName, name) == 0 ? of_name : others);
}

/* Under a fault the former or the new one is in force, whole; but for users of the new one, that
 * the next time brings. Who was taken away is let in no more, and the counters say which. */
static int
reload(void *arg)
{
	struct reloading *r = arg;
	const char *was = r->second ? "second" : "first", *is = r->second ? "first" : "second";
	uint64_t refused, taken;
	unsigned n, others;

	faults_spare(true);
	write_config(is, r->second ? 24 : 48);
	refused = collector_stat(r->c, "easecapd.reloads_refused");
	taken = collector_stat(r->c, "easecapd.reloads");
	faults_spare(false);
	collector_reload(r->c);
	faults_spare(true);
	refused = collector_stat(r->c, "easecapd.reloads_refused") - refused;
	taken = collector_stat(r->c, "easecapd.reloads") - taken;
	faults_assert(refused + taken == 1, "after %s failed: %u taken, %u refused", faults_last(),
	    (unsigned)taken, (unsigned)refused);
	if (refused && is_in_force(r->c, was, r->second ? 48 : 24))
		is = was;
	else
		r->second = !r->second;
	faults_assert(is_in_force(r->c, is, r->second ? 48 : 24),
	    "after %s failed: neither of both is in force", faults_last());
	count_users(is, &n, &others);
	faults_assert(others == 0 && (refused || n == 1), "after %s failed: %u and %u users",
	    faults_last(), n, others);
	if (refused) {
		faults_stop();
		write_config(is, r->second ? 48 : 24);
		collector_reload(r->c);
		count_users(is, &n, &others);
		faults_assert(n == 1 && others == 0, "SIGHUP again: %u and %u users", n, others);
	}
	faults_spare(false);
	return refused ? -ENOMEM : 0;
}

/* One collector for all: Net-SNMP 5.9 forgets a table each time that it is started in a process. */
START_TEST(what_can_change_is_taken_or_said_not_to_be)
{
	struct collector_config config = {0};
	struct collector_arguments options = {0};
	struct reloading r = {0};

	write_config("first", 24);
	r.c = open_collector(&config, &options);
	reload_good_and_bad(r.c);
	faults_exhaust("reload", FAULT_BIT(FAULT_MEMORY) | FAULT_BIT(FAULT_OPENING), FAULTS_EVERY,
	    reload, &r);
	collector_close(r.c);
	collector_config_free(&config);
}
END_TEST

/* Nothing of SNMP is needed, and nothing of it is opened. */
START_TEST(sflow_alone_is_enough)
{
	struct collector_config config = {0};
	char error[ERROR_TEXT] = "";

	write_text("sflow_listen = {\"127.0.0.1:0\"}\n");
	ck_assert_msg(collector_config_load(conf, &config, error, sizeof(error)) == 0, "%s", error);
	ck_assert(!collector_takes_notifications(&config));
	collector_config_free(&config);
	write_text("sflow_listen = {\"127.0.0.1:0\"}\ncommunities = {\"c\"}\n");
	ck_assert_msg(collector_config_load(conf, &config, error, sizeof(error)) == 0, "%s", error);
	ck_assert(collector_takes_notifications(&config));
	collector_config_free(&config);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("reload");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, 120);
	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_loop_test(all, a_mistake_is_named, 0, MISTAKES);
	tcase_add_test(all, what_is_too_long_is_named);
	tcase_add_test(all, sflow_alone_is_enough);
	tcase_add_test(all, what_can_change_is_taken_or_said_not_to_be);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
