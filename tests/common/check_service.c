/*
 * The protocol of sd_notify(3), with a socket of the test in the file system and an abstract one;
 * and what changes when a configuration is read again.
 */
#include "common/options_reload.h"
#include "common/service.h"
#include "tests/suite.h"

#include <check.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char name[64];

static int
listen_at(const char *path)
{
	struct sockaddr_un here = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	memcpy(here.sun_path, path, strlen(path));
	if (path[0] == '@')
		here.sun_path[0] = '\0';
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&here,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))), 0);
	setenv("NOTIFY_SOCKET", path, 1);
	return fd;
}

static void
expect_told(int fd, const char *what)
{
	char text[64] = "";

	if (recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT) < 0)
		text[0] = '\0';
	ck_assert_str_eq(text, what);
}

START_TEST(the_manager_is_told)
{
	int fd;

	snprintf(name, sizeof(name), _i ? "@check_service.%d" : "/tmp/check_service.%d", (int)getpid());
	fd = listen_at(name);
	ck_assert(service_notify("READY=1"));
	expect_told(fd, "READY=1");
	expect_told(fd, "");
	close(fd);
	unlink(name);
	ck_assert(!service_notify("READY=1")); /* nobody is there any more */
	setenv("NOTIFY_SOCKET", "relative", 1);
	ck_assert(!service_notify("READY=1"));
	unsetenv("NOTIFY_SOCKET");
	ck_assert(!service_notify("READY=1"));
}
END_TEST

START_TEST(a_watchdog_hears_in_half_its_time)
{
	uint64_t last_us = 0;
	char pid[16];
	int fd;

	snprintf(name, sizeof(name), "@check_service.%d", (int)getpid());
	fd = listen_at(name);
	unsetenv("WATCHDOG_USEC");
	service_alive(&last_us, 1);
	expect_told(fd, "");
	setenv("WATCHDOG_USEC", "30000000", 1);
	setenv("WATCHDOG_PID", "1", 1); /* another's */
	ck_assert_uint_eq(service_watchdog_us(), 0);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("WATCHDOG_PID", pid, 1);
	ck_assert_uint_eq(service_watchdog_us(), 30000000);
	service_alive(&last_us, 1000);
	expect_told(fd, "WATCHDOG=1");
	service_alive(&last_us, 15000999);
	expect_told(fd, "");
	service_alive(&last_us, 15001000);
	expect_told(fd, "WATCHDOG=1");
	close(fd);
}
END_TEST

START_TEST(memory_is_hidden)
{
	struct rlimit core;
	char file[] = "/tmp/check_service.XXXXXX";
	int fd = mkstemp(file);

	service_hide_memory();
	ck_assert_int_eq(getrlimit(RLIMIT_CORE, &core), 0);
	ck_assert_uint_eq(core.rlim_cur, 0);
	ck_assert_int_eq(fchmod(fd, 0640), 0);
	ck_assert(!service_is_readable_by_all(file));
	ck_assert_int_eq(fchmod(fd, 0644), 0);
	ck_assert(service_is_readable_by_all(file));
	unlink(file);
	ck_assert(!service_is_readable_by_all(file));
	close(fd);
}
END_TEST

/* ---- reading again ---- */

struct part {
	char *title, *text;
};
struct config {
	uint32_t number;
	bool toggle;
	int choice;
	char *text, *name;
	struct option_list list;
	struct option_sections parts;
};
static const char *const choices[] = {"one", "two", NULL};
static const struct option_row part_rows[] = {
    {.name = "text", .type = OPTION_STRING, .offset = offsetof(struct part, text)},
    {0},
};
static const struct option_row rows[] = {
    {.name = "number", .type = OPTION_U32, .offset = offsetof(struct config, number), .max = 9,
	.live = true},
    {.name = "toggle", .type = OPTION_BOOL, .offset = offsetof(struct config, toggle)},
    {.name = "choice", .type = OPTION_ENUM, .offset = offsetof(struct config, choice),
	.choices = choices, .def = "one", .live = true},
    {.name = "text", .type = OPTION_STRING, .offset = offsetof(struct config, text)},
    {.name = "name", .type = OPTION_STRING, .offset = offsetof(struct config, name), .live = true},
    {.name = "list", .type = OPTION_LIST, .offset = offsetof(struct config, list), .live = true},
    {.name = "part", .type = OPTION_SECTION, .offset = offsetof(struct config, parts),
	.section = part_rows, .section_size = sizeof(struct part),
	.section_title_offset = offsetof(struct part, title), .live = true},
    {0},
};
static char told[256];

static void
note(void *ctx, const struct option_row *row, bool taken)
{
	size_t n = strlen(told);

	(void)ctx;
	snprintf(told + n, sizeof(told) - n, "%s%s ", taken ? "+" : "-", row->name);
}

/* Then *config is as the first text but for what is live; both are read again by the caller. */
static void
reload(const char *before, const char *after, struct config *config, struct config *fresh)
{
	char error[200];

	memset(config, 0, sizeof(*config));
	memset(fresh, 0, sizeof(*fresh));
	ck_assert_int_eq(options_parse("a", before, rows, config, error, sizeof(error)), 0);
	ck_assert_int_eq(options_parse("b", after, rows, fresh, error, sizeof(error)), 0);
	told[0] = '\0';
	options_reload(rows, config, fresh, note, NULL);
}

static void
expect_reload(const char *before, const char *after, const char *what, uint32_t number, int choice)
{
	struct config config, fresh;

	reload(before, after, &config, &fresh);
	ck_assert_str_eq(told, what);
	ck_assert_uint_eq(config.number, number);
	ck_assert_int_eq(config.choice, choice);
	options_free(rows, &config);
	options_free(rows, &fresh);
}

#define ALL "number = 3\nchoice = two\ntext = a\nname = n\n"

START_TEST(what_is_live_is_taken_and_the_rest_named)
{
	const char *all = ALL "list = {x, y}\npart \"p\" { text = q }\n";

	expect_reload(all, all, "", 3, 1);
	expect_reload("", "number = 3\nchoice = two\n", "+number +choice ", 3, 1);
	expect_reload("", "toggle = true\ntext = a\n", "-toggle -text ", 0, 0);
	expect_reload(all, ALL "list = {x}\npart \"p\" { text = q }\n", "+list ", 3, 1);
	expect_reload(all, ALL "list = {x, y}\npart \"p\" { text = r }\n", "+part ", 3, 1);
	expect_reload(all, ALL "list = {x, y}\npart \"o\" { text = q }\n", "+part ", 3, 1);
	expect_reload(all, "", "+number +choice -text +name +list +part ", 0, 0);
}
END_TEST

START_TEST(what_was_there_before_lives_as_long_as_fresh)
{
	struct config config, fresh;
	const struct part *part;

	reload(ALL "list = {x, y}\npart \"p\" { text = q }\n",
	    "text = b\nname = m\nlist = {z}\npart \"o\" { text = r }\npart \"u\" { text = s }\n",
	    &config, &fresh);
	ck_assert_str_eq(fresh.name, "n");
	ck_assert_uint_eq(fresh.list.n, 2);
	ck_assert_str_eq(fresh.list.items[1], "y");
	ck_assert_str_eq(((struct part *)fresh.parts.items)->title, "p");
	options_free(rows, &fresh);
	ck_assert_str_eq(config.text, "a");
	ck_assert_str_eq(config.name, "m");
	ck_assert_uint_eq(config.list.n, 1);
	ck_assert_str_eq(config.list.items[0], "z");
	ck_assert_uint_eq(config.parts.n, 2);
	part = config.parts.items;
	ck_assert_str_eq(part[1].title, "u");
	ck_assert_str_eq(part[1].text, "s");
	options_free(rows, &config);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("service");
	TCase *tcase = tcase_create("service");

	tcase_add_loop_test(tcase, the_manager_is_told, 0, 2);
	tcase_add_test(tcase, a_watchdog_hears_in_half_its_time);
	tcase_add_test(tcase, memory_is_hidden);
	tcase_add_test(tcase, what_is_live_is_taken_and_the_rest_named);
	tcase_add_test(tcase, what_was_there_before_lives_as_long_as_fresh);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
