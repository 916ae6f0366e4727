/*
 * The way to a master that listens and does not accept, as one that is stopped does once the queue
 * of its listener is full: an attempt to connect comes back, is counted and made again, the rest of
 * the agent goes on meanwhile, and a stop ends it, also while the master owes the answer to an Open.
 */
#include "agent/snmp/master_connect.h"
#include "agent/snmp/master_link.h"
#include "agent/snmp/snmp_agent.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	QUEUE = 2,	/* of a listener: the kernel lets one more in */
	FILL_MAX = 8,
	SHORT_MS = 200, /* for TCP's attempt to be given up */
	LONG_MS = 60000,
	STEP_MS = 20,
};

static char dir[] = "/tmp/ease-connect-XXXXXX";
static int listener = -1, filling[FILL_MAX], n_filling;

/* ---- a listener that does not accept ---- */

static const char *
in_dir(const char *name)
{
	static char path[2][96];
	static unsigned turn;
	char *at = path[turn++ % 2];

	snprintf(at, sizeof(path[0]), "%s/%s", dir, name);
	return at;
}

static void
listen_at(struct master_address *to)
{
	listener = socket(to->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(listener, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&to->address, to->len), 0);
	ck_assert_int_eq(listen(listener, QUEUE), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&to->address, &to->len), 0);
}

static void
listen_at_path(struct master_address *to)
{
	ck_assert_ptr_null(master_address_parse(in_dir("master"), to));
	listen_at(to);
	ck_assert_ptr_null(master_address_parse(in_dir("master"), to));
}

/* The error that says that it is full. */
static int
fill(const struct master_address *to)
{
	int fd;

	for (n_filling = 0; n_filling < FILL_MAX; n_filling++) {
		fd = master_connect(to, SHORT_MS);
		if (fd < 0)
			return fd;
		filling[n_filling] = fd;
	}
	return 0;
}

/* As a master that goes on: it finds the attempts of before closed. */
static void
drain(void)
{
	for (int i = 0; i < n_filling; i++) {
		int fd = accept(listener, NULL, NULL);

		ck_assert_int_ge(fd, 0);
		close(fd);
		close(filling[i]);
	}
	n_filling = 0;
}

static int
accept_within(int timeout_ms)
{
	struct pollfd p = {.fd = listener, .events = POLLIN};

	return poll(&p, 1, timeout_ms) == 1 ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -ETIMEDOUT;
}

static void
setup(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void
teardown(void)
{
	char command[64];

	for (int i = 0; i < n_filling; i++)
		close(filling[i]);
	n_filling = 0;
	if (listener >= 0)
		close(listener);
	listener = -1;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* ---- addresses ---- */

static const struct {
	const char *text;
	sa_family_t family; /* 0: refused */
} addresses[] = {
	{"/var/agentx/master", AF_UNIX}, {"unix:/var/agentx/master", AF_UNIX}, {"near", AF_UNIX},
	{"tcp:127.0.0.1:705", AF_INET}, {"tcp:localhost:705", AF_INET}, {"tcp:[::1]:705", AF_INET6},
	{"tcp6:[::1]:705", AF_INET6}, {"", 0}, {"unix:", 0}, {"tcp:", 0}, {"tcp:705", 0},
	{"tcp:127.0.0.1", 0}, {"tcp:127.0.0.1:65536", 0}, {"tcp:a.name.example:705", 0},
	{"tcp:localhost:", 0},
};

START_TEST(addresses_are_told_apart)
{
	struct master_address address;
	char path[109];

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		const char *why = master_address_parse(addresses[i].text, &address);

		ck_assert_msg((why == NULL) == (addresses[i].family != 0), "%s: %s",
		    addresses[i].text, why ? why : "taken");
		ck_assert(why || address.address.ss_family == addresses[i].family);
		ck_assert_pstr_eq(master_address_check(addresses[i].text), why);
	}
	memset(path, 'a', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	ck_assert_ptr_nonnull(master_address_parse(path, &address)); /* sun_path has 108 octets */
	ck_assert_ptr_null(master_address_parse(path + 1, &address));
}
END_TEST

/* ---- connecting ---- */

static void
expect_stream(int fd)
{
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
}

START_TEST(a_full_path_is_given_up)
{
	struct master_address to;

	ck_assert_ptr_null(master_address_parse(in_dir("master"), &to));
	ck_assert_int_eq(master_connect(&to, LONG_MS), -ENOENT);
	listen_at_path(&to);
	expect_stream(master_connect(&to, LONG_MS));
	ck_assert_int_eq(fill(&to), -EAGAIN);
	ck_assert_int_eq(master_connect(&to, LONG_MS), -EAGAIN);
	close(accept_within(0));
	expect_stream(master_connect(&to, LONG_MS));
	close(listener);
	listener = -1;
	ck_assert_int_eq(master_connect(&to, LONG_MS), -ECONNREFUSED);
}
END_TEST

START_TEST(a_full_port_is_given_up)
{
	struct master_address to;
	int fd;

	ck_assert_ptr_null(master_address_parse("tcp:127.0.0.1:1", &to));
	((struct sockaddr_in *)&to.address)->sin_port = 0;
	listen_at(&to);
	expect_stream(master_connect(&to, LONG_MS));
	ck_assert_int_eq(fill(&to), -ETIMEDOUT);
	while ((fd = accept_within(0)) >= 0)
		close(fd);
	expect_stream(master_connect(&to, LONG_MS));
	close(listener);
	listener = -1;
	ck_assert_int_eq(master_connect(&to, LONG_MS), -ECONNREFUSED);
}
END_TEST

/* ---- the SNMP thread ---- */

static const void *
hold_nothing(void *ctx)
{
	return ctx;
}

static void
release_nothing(void *ctx, const void *snapshot)
{
	(void)ctx;
	(void)snapshot;
}

static struct snmp_agent *
start_thread(void)
{
	struct snmp_agent_options options = {
		.agentx_socket = in_dir("master"),
		.app_name = "connect",
		.timeout_s = LONG_MS / 1000,
		.clock = &clock_system,
		.snapshots = {NULL, hold_nothing, release_nothing},
	};
	struct snmp_agent *agent;

	ck_assert_int_eq(snmp_agent_create(&options, &agent), 0);
	ck_assert_int_eq(snmp_agent_start(agent), 0);
	return agent;
}

static uint64_t
busy(const struct snmp_agent *agent)
{
	return stat_get(snmp_agent_stats(agent), MASTER_BUSY);
}

static void
expect_busy(const struct snmp_agent *agent, uint64_t n)
{
	for (unsigned ms = 0; busy(agent) < n; ms += STEP_MS) {
		ck_assert_msg(ms < LONG_MS, "%llu attempts", (unsigned long long)busy(agent));
		usleep(STEP_MS * 1000);
	}
}

/* The one after the master goes on is accepted; its Open has no answer, and the thread waits for it
 * asleep in the library. */
START_TEST(the_thread_tries_again_and_can_be_stopped)
{
	struct master_address to;
	struct snmp_agent *agent;
	uint64_t tried;
	uint8_t octet;
	int fd;

	listen_at_path(&to);
	ck_assert_int_eq(fill(&to), -EAGAIN);
	agent = start_thread();
	expect_busy(agent, 2);
	tried = busy(agent);
	drain();
	fd = accept_within(LONG_MS);
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_le(busy(agent), tried + 1);
	ck_assert_int_eq(read(fd, &octet, 1), 1);
	ck_assert_int_eq(snmp_agent_stop(agent, LONG_MS / 3), 0);
	ck_assert(snmp_agent_destroy(agent));
	close(fd);
}
END_TEST

/* ---- the daemon, over an emulated switch ---- */

#ifdef WITHOUT_SIM
enum { HAS_SIM = false };
#else
enum { HAS_SIM = true };
#endif

static pid_t
start_daemon(unsigned sink_port)
{
	const char *top = getenv("srcdir");
	FILE *config = fopen(in_dir("agent.conf"), "w");
	pid_t pid;

	ck_assert_ptr_nonnull(config);
	fprintf(config, "device = emulated\nboard = \"%s/conf/boards/gt48001a-8port.conf\"\n"
	    "history = off\nagentx_socket = \"%s\"\nstate_dir = \"%s\"\ncounters_interval_s = 1\n"
	    "trap_sink \"127.0.0.1:%u\" { community = demo }\n",
	    top ? top : "..", in_dir("master"), in_dir("state"), sink_port);
	ck_assert_int_eq(fclose(config), 0);
	pid = fork();
	if (pid == 0) {
		if (dup2(open(in_dir("log"), O_WRONLY | O_CREAT, 0600), STDERR_FILENO) < 0)
			_exit(126);
		execl("agent/easeagentd", "easeagentd", "-f", "-c", in_dir("agent.conf"), NULL);
		_exit(127);
	}
	return pid;
}

static bool
log_has(const char *words)
{
	char command[256];

	snprintf(command, sizeof(command), "grep -q '%s' %s", words, in_dir("log"));
	return system(command) == 0;
}

static void
expect_in_log(pid_t pid, const char *words)
{
	for (unsigned ms = 0; !log_has(words); ms += STEP_MS) {
		ck_assert_msg(ms < LONG_MS && kill(pid, 0) == 0, "no \"%s\" in the log", words);
		usleep(STEP_MS * 1000);
	}
}

static void
expect_datagram(int sink)
{
	struct pollfd p = {.fd = sink, .events = POLLIN};

	while (recv(sink, &(char){0}, 1, MSG_DONTWAIT) >= 0)
		;
	ck_assert_int_eq(poll(&p, 1, LONG_MS), 1);
}

START_TEST(the_daemon_goes_on_and_ends)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int sink = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), status;
	socklen_t size = sizeof(at);
	struct master_address to;
	pid_t pid;

	ck_assert_int_eq(bind(sink, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(getsockname(sink, (struct sockaddr *)&at, &size), 0);
	pid = start_daemon(ntohs(at.sin_port)); /* nothing is there */
	expect_in_log(pid, "/master: No such file or directory; snmpd does not run");
	kill(pid, SIGTERM);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	listen_at_path(&to);
	ck_assert_int_eq(fill(&to), -EAGAIN);
	pid = start_daemon(ntohs(at.sin_port));
	expect_in_log(pid, "it does not accept connections");
	expect_datagram(sink);
	kill(pid, SIGUSR1);
	expect_in_log(pid, "master.busy");
	kill(pid, SIGHUP);
	expect_in_log(pid, "read again");
	expect_datagram(sink);
	kill(pid, SIGTERM);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(sink);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("master_connect");
	TCase *tcase = tcase_create("busy");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, addresses_are_told_apart);
	tcase_add_test(tcase, a_full_path_is_given_up);
	tcase_add_test(tcase, a_full_port_is_given_up);
	tcase_add_test(tcase, the_thread_tries_again_and_can_be_stopped);
	if (HAS_SIM)
		tcase_add_test(tcase, the_daemon_goes_on_and_ends);
	else
		puts("SKIP the daemon: this build has no emulated switch");
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
