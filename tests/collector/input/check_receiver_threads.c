/*
 * The collector's receive path over real loopback sockets, in this process. The datagrams of a
 * sender give the same totals, accounting and order with one thread or several, also when they come
 * twice. In steady state no thread but the store's allocates memory or takes a lock; the test
 * replaces malloc and libpthread's locks to see that. SIGHUP changes the allow-list under load, and
 * nothing is lost.
 */
#include "collector/collector.h"
#include "collector/config.h"
#include "common/log.h"
#include "tests/common/sflow_builder.h"
#include "tests/sql.h"
#include "tests/suite.h"
#include "tests/collector/input/trap_builder.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define TIME_US 1700000040000000ull

enum {
	NOTIFICATIONS = 6000,
	SFLOW_DATAGRAMS = 3000,
	PORTS = 3,
	IN_FLIGHT = 200, /* datagrams; the smallest buffer that a system gives holds them */
	SOME_THREADS = 4,
	WARM_UP = 2000,
	BATCHES_SEEN = 3,
	PAUSE_US = 5000,
	TEXT = 256,
};

static const uint8_t frame[60] = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 40, 0, 1, 0,
    0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 53, 0, 99};

/* What others allocate and lock */

static atomic_bool watching;
static atomic_uint n_allocations, n_locks; /* of anybody */
static atomic_uint n_bad_allocations, n_bad_locks; /* of the receive path while watching */
static pid_t sender_tid;

#if !SUITE_SANITIZES
static void
note(atomic_uint *n, atomic_uint *n_bad)
{
	char name[16] = "";

	atomic_fetch_add(n, 1);
	if (!atomic_load(&watching) || gettid() == sender_tid)
		return;
	prctl(PR_GET_NAME, name);
	if (strcmp(name, "store") != 0)
		atomic_fetch_add(n_bad, 1);
}

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

void *
malloc(size_t n)
{
	note(&n_allocations, &n_bad_allocations);
	return __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
	note(&n_allocations, &n_bad_allocations);
	return __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
	note(&n_allocations, &n_bad_allocations);
	return __libc_realloc(p, n);
}

int
pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	note(&n_locks, &n_bad_locks);
	return real(mutex);
}

int
pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	static int (*real)(pthread_cond_t *, pthread_mutex_t *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_cond_wait");
	note(&n_locks, &n_bad_locks);
	return real(cond, mutex);
}
#endif

/* The collector in this process */

struct rig {
	char dir[64], conf[96], db[96];
	struct collector_config config;
	struct collector_arguments options;
	struct collector *collector;
	pthread_t thread;
	int fd, sflow_fd; /* connected to it */
	int port, sflow_port;
	uint64_t sent;
};

/* A free port, and a socket connected to it. */
static int
connect_to_free_port(int *port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int free_one = socket(AF_INET, SOCK_DGRAM, 0), fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(to);

	ck_assert_int_eq(bind(free_one, (struct sockaddr *)&to, sizeof(to)), 0);
	ck_assert_int_eq(getsockname(free_one, (struct sockaddr *)&to, &len), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	close(free_one);
	*port = ntohs(to.sin_port);
	return fd;
}

static void *
run(void *arg)
{
	struct rig *rig = arg;

	ck_assert_int_eq(collector_run(rig->collector), 0);
	return NULL;
}

/* further: lines behind those that every rig has. */
static void
write_conf(const struct rig *rig, int threads, const char *communities, const char *further)
{
	FILE *f = fopen(rig->conf, "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "listen={\"127.0.0.1:%d\"}\nsflow_listen={\"127.0.0.1:%d\"}\n"
		   "communities={%s}\nstore=\"%s\"\nthreads=%d\nmemory=192\n"
		   "flush_interval=50\nsample_rows=0\nlog_level=warn\n"
		   "clock_tolerance=0\nkeep_samples=0\nkeep_1min=0\n%s", /* sFlow is of now, the rest is not */
	    rig->port, rig->sflow_port, communities, rig->db, threads, further);
	fclose(f);
}

static void
start(struct rig *rig, int threads)
{
	char error[TEXT] = "";

	memset(rig, 0, sizeof(*rig));
	log_open("check_receiver_threads", false, LOG_LEVEL_WARN);
	snprintf(rig->dir, sizeof(rig->dir), "/tmp/check_receiver_threads.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig->dir));
	snprintf(rig->conf, sizeof(rig->conf), "%s/conf", rig->dir);
	snprintf(rig->db, sizeof(rig->db), "%s/ease.db", rig->dir);
	rig->fd = connect_to_free_port(&rig->port);
	rig->sflow_fd = connect_to_free_port(&rig->sflow_port);
	write_conf(rig, threads, "public", "");
	rig->options = (struct collector_arguments){.config_file = rig->conf, .live_config = &rig->config};
	ck_assert_msg(collector_config_load(rig->conf, &rig->config, error, sizeof(error)) == 0,
	    "%s", error);
	ck_assert_msg(collector_open(&rig->collector, &rig->config, &rig->options, &clock_system, error,
			  sizeof(error)) == 0, "%s", error);
	ck_assert_int_eq(pthread_create(&rig->thread, NULL, run, rig), 0);
}

static void
stop(struct rig *rig)
{
	kill(getpid(), SIGTERM);
	ck_assert_int_eq(pthread_join(rig->thread, NULL), 0);
	ck_assert_uint_eq(collector_stat(rig->collector, "input.kernel_drops"), 0);
	ck_assert_uint_eq(collector_stat(rig->collector, "input.datagrams"), rig->sent);
	collector_close(rig->collector);
	close(rig->fd);
	close(rig->sflow_fd);
	collector_config_free(&rig->config);
}

static void
remove_rig(const struct rig *rig)
{
	char command[TEXT];

	snprintf(command, sizeof(command), "rm -rf '%s'", rig->dir);
	ck_assert_int_eq(system(command), 0);
}

/* Waits until no more than so many datagrams are on their way. */
static void
settle(const struct rig *rig, uint64_t most)
{
	while (rig->sent > collector_stat(rig->collector, "input.datagrams") + most)
		usleep(100);
}

static void
send_octets(struct rig *rig, int fd, const void *octets, size_t n)
{
	settle(rig, IN_FLIGHT);
	ck_assert_int_eq(send(fd, octets, n, 0), (ssize_t)n);
	rig->sent++;
}

/* Traffic */

static void
add_sample(struct trap_message *m, uint32_t port, uint32_t number, uint32_t i)
{
	uint8_t header[sizeof(frame)];
	const struct ease_sample s = {
	    .time_us = TIME_US + i * 30000ull, /* three minutes of it */
	    .if_index = port,
	    .sequence = number,
	    .direction = 1 + i % 2,
	    .skip = 7,
	    .mean_skip = 10 + i % 3,
	    .frame_octets = 64 + i % 1400,
	    .kept_octets = sizeof(header),
	    .header = header,
	};

	memcpy(header, frame, sizeof(frame));
	header[29] = (uint8_t)(i % 200); /* some hundred pairs */
	trap_add_sample(m, &s);
}

/* The i-th notification of an agent: two samples of a port and what its counters said. */
static void
send_notification(struct rig *rig, uint8_t agent, uint32_t i)
{
	const uint8_t agent_id[8] = {agent, 2, 3, 4, 5, 6, 7, 8};
	static struct trap_message m;
	uint8_t octets[2048];
	uint32_t port = 1 + i % PORTS, number = 1 + i / PORTS * 2;
	const struct ease_snapshot snapshot = {
	    .if_index = port,
	    .time_us = TIME_US + i * 30000ull,
	    .in.octets = 5000ull * i,
	    .pool_in_pkts = 10 * i,
	    .pool_out_pkts = 9 * i,
	    .last_sequence = number + 1,
	};

	trap_start(&m, "public", EASE_NOTIFY_SAMPLES, agent_id, 1);
	add_sample(&m, port, number, i);
	add_sample(&m, port, number + 1, i);
	trap_add_snapshot(&m, &snapshot);
	send_octets(rig, rig->fd, octets, trap_build(&m, octets, sizeof(octets)));
}

static void
send_sflow(struct rig *rig, uint32_t i)
{
	struct sflow_builder b = {.n = 0};

	built_begin(&b, 0x0a000009, 0, i + 1, 1000 + i, 2);
	for (uint32_t k = 1; k <= 2; k++)
		built_add_flow(&b, &(struct built_flow){.sequence = 2 * i + k, .index = 3,
		    .rate = 100, .pool = 100 * (2 * i + k), .input = 3, .output = 4,
		    .frame_octets = 500, .stripped = 4, .kept = sizeof(frame), .header = frame});
	send_octets(rig, rig->sflow_fd, b.octets, b.n);
}

/* Some are overtaken and some come twice on their way, as networks do. */
static void
send_notifications(struct rig *rig)
{
	for (uint32_t i = 0; i < NOTIFICATIONS; i++) {
		if (i % 100 == 50)
			send_notification(rig, 1, i + 1);
		send_notification(rig, 1, i);
		if (i % 77 == 0)
			send_notification(rig, 1, i);
	}
}

/* What must not depend on threads: figures of the notifications, and those of sFlow that do not
 * depend on when it came. */
static const char *const figures[] = {
    "SELECT sum(n) FROM window",
    "SELECT sum(n) FROM window_key",
    "SELECT count(*) FROM window WHERE agent IN (SELECT id FROM agent WHERE boot = 1)",
    "SELECT count(*) FROM window_key WHERE agent IN (SELECT id FROM agent WHERE boot = 1)",
    "SELECT sum(n * (start_us / 60000000 % 1000) * kind * direction * if_index *"
    " unicode(hex(key1))) FROM window_key"
    " WHERE agent IN (SELECT id FROM agent WHERE boot = 1)",
    "SELECT sum(wb * direction * if_index) FROM window",
    "SELECT sum(pool_pkts) FROM window",
    "SELECT sum(pool_octets) FROM window",
    "SELECT sum(expected) FROM window_port",
    "SELECT sum(received) FROM window_port",
    "SELECT count(*) FROM sample",
    "SELECT sum(expected) FROM account",
    "SELECT sum(received) FROM account",
    "SELECT sum(duplicates) FROM account",
    "SELECT sum(reordered) FROM account",
    "SELECT sum(late) FROM account",
    "SELECT sum(value) FROM stat WHERE name LIKE 'sflow.datagrams_%'",
};
enum { N_FIGURES = sizeof(figures) / sizeof(figures[0]) };

static void
collect(int threads, int times, double out[N_FIGURES])
{
	struct rig rig;

	start(&rig, threads);
	for (int i = 0; i < times; i++)
		send_notifications(&rig);
	for (uint32_t i = 0; i < SFLOW_DATAGRAMS; i++)
		send_sflow(&rig, i);
	settle(&rig, 0);
	stop(&rig);
	for (size_t i = 0; i < N_FIGURES; i++)
		out[i] = sql_number(rig.db, figures[i]);
	remove_rig(&rig);
}

START_TEST(several_threads_give_what_one_gives)
{
	double one[N_FIGURES], several[N_FIGURES];

	collect(1, _i, one);
	collect(SOME_THREADS, _i, several);
	ck_assert_double_eq(one[0], 2. * (NOTIFICATIONS + SFLOW_DATAGRAMS));
	for (size_t i = 0; i < N_FIGURES; i++)
		ck_assert_msg(one[i] == several[i], "%s: %.0f, and with %d threads %.0f", figures[i],
		    one[i], SOME_THREADS, several[i]);
}
END_TEST

/* Sends until the store has written some more batches, at a rate that it can follow. */
static void
send_over_batches(struct rig *rig, uint32_t *next)
{
	uint64_t batches = collector_stat(rig->collector, "store.batches") + BATCHES_SEEN;
	uint32_t least = *next + WARM_UP;

	while (*next < least || collector_stat(rig->collector, "store.batches") < batches) {
		send_notification(rig, 1, *next);
		send_sflow(rig, (*next)++);
		if (*next % IN_FLIGHT == 0)
			usleep(PAUSE_US);
	}
	settle(rig, 0);
}

START_TEST(nobody_allocates_or_locks_for_a_datagram)
{
	uint32_t next = 0;
	struct rig rig;

	sender_tid = gettid();
	start(&rig, _i);
	send_over_batches(&rig, &next);
	if (n_allocations == 0) {
		puts("SKIP nobody_allocates: allocations are not seen in this build");
	} else {
		ck_assert_uint_gt(n_locks, 0);
		atomic_store(&watching, true);
		send_notification(&rig, 7, 0); /* an agent and its ports that come later, too */
		send_over_batches(&rig, &next);
		atomic_store(&watching, false);
		ck_assert_uint_eq(n_bad_allocations, 0);
		ck_assert_uint_eq(n_bad_locks, 0);
	}
	stop(&rig);
	remove_rig(&rig);
}
END_TEST

/* The configuration is read again, and what it says is in force. */
static void
reload(struct rig *rig, int threads, const char *communities, const char *further)
{
	uint64_t reloads = collector_stat(rig->collector, "easecapd.reloads");

	write_conf(rig, threads, communities, further);
	kill(getpid(), SIGHUP);
	while (collector_stat(rig->collector, "easecapd.reloads") == reloads)
		usleep(100);
}

/* Senders, communities and users are added and removed under load, and those that stay lose
 * nothing. Then the community of all messages is removed, and none is accepted any more,
 * although the decode templates hold it. */
START_TEST(a_switch_is_added_and_no_sample_is_lost)
{
	static const char *const further[] = {
	    "senders={\"127.0.0.1\", \"192.0.2.7\"}\n",
	    ("senders={\"127.0.0.0/8\"}\nuser \"u\" {auth_passphrase=\"authentic words\" "
	     "priv_passphrase=\"private words\"}\n"),
	    "senders={\"192.0.2.0/24\", \"127.0.0.1/32\"}\n",
	};
	struct rig rig;
	uint64_t refused;

	start(&rig, _i);
	for (uint32_t i = 0; i < NOTIFICATIONS; i++) {
		send_notification(&rig, 1, i);
		if (i % 1000 == 500)
			reload(&rig, _i, i % 2000 == 500 ? "\"new\", \"public\"" : "\"public\"",
			    further[i / 1000 % 3]);
	}
	settle(&rig, 0);
	ck_assert_uint_eq(collector_stat(rig.collector, "input.notifications"), NOTIFICATIONS);
	reload(&rig, _i, "\"new\"", further[0]);
	for (uint32_t i = 0; i < 100; i++)
		send_notification(&rig, 1, NOTIFICATIONS + i);
	settle(&rig, 0);
	ck_assert_uint_eq(collector_stat(rig.collector, "input.notifications"), NOTIFICATIONS);
	ck_assert_uint_eq(collector_stat(rig.collector, "input.refused_community"), 100);
	reload(&rig, _i, "\"public\"", "senders={\"192.0.2.7\"}\n");
	send_sflow(&rig, 0);
	send_notification(&rig, 1, NOTIFICATIONS);
	settle(&rig, 0);
	refused = collector_stat(rig.collector, "input.refused_sender");
	stop(&rig);
	ck_assert_uint_eq(refused, 2);
	ck_assert_double_eq(sql_number(rig.db, "SELECT sum(n) FROM window"), 2. * NOTIFICATIONS);
	remove_rig(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("threads");
	TCase *tc = tcase_create("threads");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, several_threads_give_what_one_gives, 1, 3); /* fed once, twice */
	tcase_add_loop_test(tc, nobody_allocates_or_locks_for_a_datagram, 1, 3);
	tcase_add_loop_test(tc, a_switch_is_added_and_no_sample_is_lost, 1, 3);
	return suite_run(suite);
}
