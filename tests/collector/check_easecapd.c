/*
 * easecapd as a program: notifications sent by Net-SNMP's snmptrap command end up as rows, once,
 * over a restart; an inform that was answered is in the store, whenever the program is killed; what
 * is wrong or not allowed is counted and leaves nothing; a mistake in the configuration is named
 * with file and line. Skipped (77) without snmptrap or easecapd.
 */
#include "tests/sql.h"
#include "tests/suite.h"
#include "tests/collector/input/trap_builder.h"

#include <arpa/inet.h>
#include <check.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIME_US	 1700000040000000ull
#define EASECAPD "collector/easecapd"

enum { MAX_ARGS = 128, LINE = 256 };

static const uint8_t agent_id[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint8_t frame[60] = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 40, 0, 1, 0,
    0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 53, 0, 99};

struct daemon {
	char dir[64], conf[96], db[96];
	pid_t pid;
	int out;
	int port;
};

static void
write_conf(const struct daemon *d, const char *senders)
{
	FILE *f = fopen(d->conf, "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f,
	    "http_listen = \"\"\nlisten = {\"127.0.0.1:0\"}\n"
	    "communities = {\"public\"}\nsenders = {\"%s\"}\n"
	    "store = \"%s\"\nflush_interval = 50\nreceive_buffer = 100000\n",
	    senders, d->db);
	fclose(f);
}

static void
prepare(struct daemon *d, const char *senders)
{
	memset(d, 0, sizeof(*d));
	snprintf(d->dir, sizeof(d->dir), "/tmp/check_easecapd.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(d->dir));
	snprintf(d->conf, sizeof(d->conf), "%s/easecapd.conf", d->dir);
	snprintf(d->db, sizeof(d->db), "%s/ease.db", d->dir);
	write_conf(d, senders);
}

static void
clean_up(const struct daemon *d)
{
	char command[LINE];

	snprintf(command, sizeof(command), "rm -rf '%s'", d->dir);
	ck_assert_int_eq(system(command), 0);
}

static pid_t
spawn(char *const argv[], int out)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (out >= 0)
			dup2(out, STDOUT_FILENO);
		setenv("MIBS", "", 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	return pid;
}

static int
wait_for(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Starts and waits for its line "listening on 127.0.0.1:PORT". */
static void
start(struct daemon *d)
{
	char *argv[] = {(char *)EASECAPD, (char *)"-f", (char *)"-c", d->conf, NULL};
	char line[LINE] = "";
	int ends[2];
	FILE *f;

	ck_assert_int_eq(pipe(ends), 0);
	d->pid = spawn(argv, ends[1]);
	close(ends[1]);
	f = fdopen(ends[0], "r");
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	ck_assert_msg(sscanf(line, "listening on 127.0.0.1:%d", &d->port) == 1, "%s", line);
	fclose(f);
}

static void
stop(struct daemon *d)
{
	kill(d->pid, SIGTERM);
	ck_assert_int_eq(wait_for(d->pid), 0);
}

static double
ask(const struct daemon *d, const char *sql)
{
	return sql_number(d->db, sql);
}

/* The arguments that make snmptrap send m: names and values, type by type. */

static char *
oid_text(const uint32_t *arcs, size_t n)
{
	char *text = calloc(n, 12);
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		at += (size_t)sprintf(text + at, ".%u", arcs[i]);
	return text;
}

static char *
hex_text(const uint8_t *octets, size_t n)
{
	char *text = calloc(n + 1, 2);

	for (size_t i = 0; i < n; i++)
		sprintf(text + 2 * i, "%02x", octets[i]);
	return text;
}

static void
send_by_snmptrap(const struct trap_message *m, enum ease_notification_kind kind, int port,
    const char *boot)
{
	const uint32_t notification[] = {EASE_ROOT, 0, (uint32_t)kind};
	char target[LINE];
	char *argv[MAX_ARGS] = {(char *)"snmptrap", (char *)"-v", (char *)"2c", (char *)"-c",
	    (char *)m->community, target, (char *)"4711",
	    oid_text(notification, sizeof(notification) / sizeof(notification[0]))};
	size_t n = 8;

	snprintf(target, sizeof(target), "127.0.0.1:%d", port);
	for (size_t i = 2; i < m->n; i++) {
		const struct trap_varbind *v = &m->varbinds[i];

		argv[n++] = oid_text(v->oid, v->n_arcs);
		argv[n++] = strdup(v->tag == 0x04 ? "x" : "u");
		argv[n++] = v->tag == 0x04 ? hex_text(v->value, v->len) : strdup(boot);
	}
	ck_assert_int_eq(wait_for(spawn(argv, -1)), 0);
	for (size_t i = 7; i < n; i++)
		free(argv[i]);
}

static void
samples_message(struct trap_message *m, const char *community, uint32_t first, uint32_t n)
{
	struct ease_snapshot snapshot = {
	    .if_index = 3,
	    .time_us = TIME_US + first * 1000000,
	    .in.octets = 1000 * first,
	    .pool_in_pkts = 10 * first,
	    .last_sequence = first + n - 1,
	};

	trap_start(m, community, EASE_NOTIFY_SAMPLES, agent_id, 1);
	for (uint32_t i = first; i < first + n; i++) {
		const struct ease_sample s = {
		    .time_us = TIME_US + i,
		    .if_index = 3,
		    .sequence = i,
		    .direction = EASE_IN,
		    .skip = 7,
		    .mean_skip = 10,
		    .frame_octets = 500,
		    .kept_octets = sizeof(frame),
		    .header = frame,
		};

		trap_add_sample(m, &s);
	}
	trap_add_snapshot(m, &snapshot);
}

START_TEST(snmptrap_to_rows_over_a_restart)
{
	static struct trap_message m;
	struct daemon d;

	prepare(&d, "127.0.0.1");
	for (int life = 0; life < 2; life++) { /* the second one hears the same again */
		start(&d);
		samples_message(&m, "public", 1, 3);
		send_by_snmptrap(&m, EASE_NOTIFY_SAMPLES, d.port, "1");
		samples_message(&m, "public", 4, 2);
		send_by_snmptrap(&m, EASE_NOTIFY_SAMPLES, d.port, "1");
		stop(&d);
		ck_assert_double_eq(ask(&d, "SELECT count(*) FROM sample WHERE sequence <= 5 AND"
					    " src_ip = x'0a000001' AND dst_port = 99 AND"
					    " frame_octets = 500 AND skip = 7"),
		    5);
		ck_assert_double_eq(ask(&d, "SELECT sum(n) FROM window"), 5);
		ck_assert_double_eq(ask(&d, "SELECT wb FROM window_key WHERE kind = 2"),
		    5 * 10 * 500);
		ck_assert_double_eq(ask(&d, "SELECT sum(pool_pkts) FROM window"), 30);
		ck_assert_double_eq(ask(&d, "SELECT sum(pool_octets) FROM window"), 3000);
		ck_assert_double_eq(ask(&d, "SELECT received FROM account"), 5);
		ck_assert_double_eq(ask(&d, "SELECT duplicates FROM account"), life * 5);
		ck_assert_double_eq(ask(&d, "SELECT count(*) FROM agent WHERE address ="
					    " '127.0.0.1' AND agent_id = x'0102030405060708'"),
		    1);
	}
	clean_up(&d);
}
END_TEST

/* Informs */

static void
killed(struct daemon *d)
{
	kill(d->pid, SIGKILL);
	ck_assert_int_eq(wait_for(d->pid), 1000 + SIGKILL);
}

static void
send_from(int fd, int port, const void *octets, size_t n)
{
	struct sockaddr_in to = {
	    .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	ck_assert_int_eq(sendto(fd, octets, n, 0, (struct sockaddr *)&to, sizeof(to)), (ssize_t)n);
}

/* True if a Response with the bindings of the message comes within that time. */
static bool
is_answered(int fd, int within_ms, const uint8_t *octets, size_t n)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint8_t answer[4096];
	ssize_t got;

	if (poll(&p, 1, within_ms) != 1)
		return false;
	got = recv(fd, answer, sizeof(answer), 0);
	ck_assert_int_gt(got, 100);
	ck_assert_mem_eq(answer + got - 100, octets + n - 100, 100);
	return true;
}

START_TEST(an_inform_survives_a_kill_before_and_after_its_commit)
{
	static struct trap_message m;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	uint8_t octets[4096];
	struct daemon d;
	sqlite3 *db;
	size_t n;

	prepare(&d, "127.0.0.1");
	samples_message(&m, "public", 1, 3);
	m.pdu = 0xa6;
	n = trap_build(&m, octets, sizeof(octets));
	start(&d);
	/* nothing can be committed: no answer, and killed then nothing is left */
	ck_assert_int_eq(sqlite3_open(d.db, &db), SQLITE_OK);
	sqlite3_busy_timeout(db, 10000);
	ck_assert_int_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	send_from(fd, d.port, octets, n);
	ck_assert(!is_answered(fd, 400, octets, n));
	killed(&d);
	ck_assert_int_eq(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	ck_assert_double_eq(ask(&d, "SELECT count(*) FROM sample"), 0);
	for (int life = 0; life < 3; life++) { /* each hears it as the sender sends it again */
		start(&d);
		send_from(fd, d.port, octets, n);
		ck_assert(is_answered(fd, 10000, octets, n));
		killed(&d);
		ck_assert_double_eq(ask(&d, "SELECT count(*) FROM sample"), 3);
		ck_assert_double_eq(ask(&d, "SELECT sum(n) FROM window"), 3);
		ck_assert_double_eq(ask(&d, "SELECT received FROM account"), 3);
		ck_assert_double_eq(ask(&d, "SELECT duplicates FROM account"), 3 * life);
	}
	close(fd);
	clean_up(&d);
}
END_TEST

static void
send_datagram(int port, const void *octets, size_t n)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	send_from(fd, port, octets, n);
	close(fd);
}

START_TEST(what_is_wrong_leaves_nothing)
{
	static const uint32_t nothing_of_ours[] = {1, 3, 6, 1, 2, 1, 1, 5, 0};
	static struct trap_message m;
	uint8_t octets[4096];
	struct daemon d;
	size_t n;

	prepare(&d, "127.0.0.1");
	start(&d);
	samples_message(&m, "wrong", 1, 3);
	send_by_snmptrap(&m, EASE_NOTIFY_SAMPLES, d.port, "1");
	samples_message(&m, "public", 1, 3);
	send_by_snmptrap(&m, EASE_NOTIFY_COUNTERS, d.port, "1"); /* samples in the wrong kind */
	n = trap_build(&m, octets, sizeof(octets));
	send_datagram(d.port, octets, n / 2);
	send_datagram(d.port, "hello", 5);
	trap_start(&m, "public", EASE_NOTIFY_SAMPLES, agent_id, 1);
	trap_add(&m, nothing_of_ours, 9, 0x04, "name", 4);
	send_by_snmptrap(&m, EASE_NOTIFY_SAMPLES, d.port, "1");
	stop(&d);
	ck_assert_double_eq(ask(&d, "SELECT count(*) FROM sample"), 0);
	ck_assert_double_eq(ask(&d, "SELECT count(*) FROM agent"), 0);
	ck_assert_double_eq(ask(&d, "SELECT value FROM stat WHERE name = 'input.datagrams'"), 5);
	ck_assert_double_eq(
	    ask(&d, "SELECT value FROM stat WHERE name = 'input.refused_community'"), 1);
	ck_assert_double_eq(ask(&d, "SELECT value FROM stat WHERE name = 'input.refused_parts'"),
	    2);
	ck_assert_double_eq(ask(&d, "SELECT value FROM stat WHERE name = 'input.refused_parse'"),
	    2);
	clean_up(&d);
}
END_TEST

START_TEST(a_sender_not_allowed)
{
	static struct trap_message m;
	struct daemon d;

	prepare(&d, "127.0.0.2/32");
	start(&d);
	samples_message(&m, "public", 1, 3);
	send_by_snmptrap(&m, EASE_NOTIFY_SAMPLES, d.port, "1");
	kill(d.pid, SIGUSR1); /* writes counters, goes on */
	stop(&d);
	ck_assert_double_eq(ask(&d, "SELECT count(*) FROM agent"), 0);
	ck_assert_double_eq(ask(&d, "SELECT value FROM stat WHERE name = 'input.refused_sender'"),
	    1);
	clean_up(&d);
}
END_TEST

START_TEST(mistakes_in_the_file_are_named)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
	    {"listen = {\"127.0.0.1:0\"}\ncommunities = {\"x\"}\nsenders = {\"300.0.0.1\"}\n",
		":3: "},
	    {"communities = {\"x\"}\nlisten = {\"127.0.0.1\"}\n", ":2: "},
	    {"communities = {\"x\"}\n\n\nflush_interval = 1\n", ":4: "},
	    {"communities = {\"x\"}\nno_such_option = 1\n", ":2: "},
	    {"flush_interval = 100\n", "communities"},
	};
	struct daemon d;

	prepare(&d, "127.0.0.1");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char command[LINE], line[LINE] = "";
		FILE *f = fopen(d.conf, "w");

		fputs(cases[i].text, f);
		fclose(f);
		snprintf(command, sizeof(command), "%s -c %s --check 2>&1", EASECAPD, d.conf);
		f = popen(command, "r");
		ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
		ck_assert_int_eq(WEXITSTATUS(pclose(f)), 1);
		ck_assert_msg(strstr(line, d.conf) && strstr(line, cases[i].says), "%s", line);
	}
	clean_up(&d);
}
END_TEST

/* The first line that COMMAND with the daemon's path and its arguments prints; its exit status. */
static int
first_line(const char *arguments, char line[LINE])
{
	char command[2 * LINE];
	FILE *f;

	snprintf(command, sizeof(command), "%s %s 2>&1", EASECAPD, arguments);
	f = popen(command, "r");
	if (!fgets(line, LINE, f))
		*line = '\0';
	while (fgetc(f) != EOF)
		;
	return WEXITSTATUS(pclose(f));
}

/* The text with the directory for each @. */
static void
put_with_directory(FILE *out, const char *text, const char *directory)
{
	for (; *text; text++)
		if (*text == '@')
			fputs(directory, out);
		else
			fputc(*text, out);
}

START_TEST(check_finds_what_a_start_would_find)
{
	static const struct {
		const char *text, *says; /* says NULL: nothing; @: the daemon's directory */
		int status;
	} cases[] = {
	    {"store = \"@/ease.db\"", NULL, 0},
	    {"store = \"@/none/x/ease.db\"",
		": store: directory @/none/x: No such file or directory\n", 1},
	    {"store = \"@\"", ": store: @ is not a file\n", 1},
	    {"store = \"@/ease.db\"\nlisten = {\"192.0.2.1:162\"}",
		": listen: 192.0.2.1:162: Cannot assign requested address\n", 1},
	    {"store = \"@/ease.db\"\nhttp_listen = \"0.0.0.0:8162\"",
		": warning: http_listen: everybody who can reach 0.0.0.0:8162 can read the data: "
		"http_token is empty\n",
		0},
	    {"store = \"@/ease.db\"\nhttp_listen = \"0.0.0.0:8162\"\nhttp_token = \"12345678\"",
		NULL, 0},
	    {"store = \"@/ease.db\"\nnames = \"@/none\"",
		": warning: names: @/none: No such file or directory; the page would not be "
		"served\n",
		0},
	    {"store = \"@/ease.db\"\nmemory = 128\nthreads = 16\nhttp_listen = \"\"",
		": memory: 128 MiB are too few: ", 1},
	};
	struct daemon d;

	prepare(&d, "127.0.0.1");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char arguments[LINE], line[LINE], says[LINE] = "";
		FILE *f = fopen(d.conf, "w");

		fputs("communities = {\"x\"}\n", f);
		put_with_directory(f, cases[i].text, d.dir);
		fclose(f);
		ck_assert_int_eq(chmod(d.conf, 0600), 0);
		if (cases[i].says) {
			f = fmemopen(says, sizeof(says), "w");
			fprintf(f, "easecapd: %s", d.conf);
			put_with_directory(f, cases[i].says, d.dir);
			fclose(f);
		}
		snprintf(arguments, sizeof(arguments), "-c %s --check", d.conf);
		ck_assert_int_eq(first_line(arguments, line), cases[i].status);
		ck_assert_msg(strncmp(line, says, strlen(says)) == 0 && !*line == !*says,
		    "case %zu: %s, not %s", i, line, says);
	}
	clean_up(&d);
}
END_TEST

START_TEST(messages_name_the_program)
{
	char line[LINE];

	ck_assert_int_eq(first_line("-c /nope", line), 1);
	ck_assert_str_eq(line, "easecapd: /nope: No such file or directory\n");
	ck_assert_int_eq(first_line("", line), 1);
	ck_assert_str_eq(line, "easecapd: -c FILE is needed\n");
	ck_assert_int_eq(first_line("-c /nope there", line), 1);
	ck_assert_str_eq(line, "easecapd: unexpected argument \"there\"\n");
}
END_TEST

START_TEST(print_config_needs_no_valid_file)
{
	ck_assert_int_eq(system(EASECAPD " --print-config | grep -qx 'http_question = 5000'"), 0);
	ck_assert_int_eq(
	    system(EASECAPD " -c /dev/null --print-config | grep -qx 'communities = {}'"), 0);
	ck_assert_int_eq(system(EASECAPD " --print-config | grep -q '^#.auth_protocol = \"SHA-256\"'"), 0);
}
END_TEST

START_TEST(what_it_prints_it_reads)
{
	char command[2 * LINE];
	struct daemon d;

	prepare(&d, "127.0.0.1");
	snprintf(command, sizeof(command),
	    "%s -c %s --print-config > %s/printed && %s -c %s/printed --check", EASECAPD, d.conf,
	    d.dir, EASECAPD, d.dir);
	ck_assert_int_eq(system(command), 0);
	clean_up(&d);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("easecapd");
	TCase *tc = tcase_create("easecapd");

	if (access(EASECAPD, X_OK) != 0 || system("command -v snmptrap >/dev/null") != 0) {
		puts("skipped: needs " EASECAPD " in the directory it runs in, and snmptrap");
		return 77;
	}
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, snmptrap_to_rows_over_a_restart);
	tcase_add_test(tc, an_inform_survives_a_kill_before_and_after_its_commit);
	tcase_add_test(tc, what_is_wrong_leaves_nothing);
	tcase_add_test(tc, a_sender_not_allowed);
	tcase_add_test(tc, mistakes_in_the_file_are_named);
	tcase_add_test(tc, check_finds_what_a_start_would_find);
	tcase_add_test(tc, messages_name_the_program);
	tcase_add_test(tc, print_config_needs_no_valid_file);
	tcase_add_test(tc, what_it_prints_it_reads);
	return suite_run(suite);
}
