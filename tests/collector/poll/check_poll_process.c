/*
 * The process that asks, of SNMPv3: who is silent holds up nobody; and what its library never forgets is bounded, however
 * many engines a switch says that it is, and though some question is always on its way.
 */
#include "collector/poll/poll_process.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ENGINES = 6000 /* more than it remembers */, TIMEOUT_MS = 20 };

static int liar_fd = -1, silent_fd = -1, process_fd;
static uint16_t liar, silent;
static pid_t process;
static pthread_t thread;

static uint16_t
open_port(int *fd)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(at);

	*fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(*fd, 0);
	ck_assert_int_eq(bind(*fd, (struct sockaddr *)&at, n), 0);
	ck_assert_int_eq(getsockname(*fd, (struct sockaddr *)&at, &n), 0);
	return ntohs(at.sin_port);
}

/* The next INTEGER of four octets; NULL: there is none. */
static const uint8_t *
find_number(const uint8_t *m, size_t n, size_t from)
{
	for (size_t i = from; i + 6 <= n; i++)
		if (m[i] == 2 && m[i + 1] == 4)
			return m + i + 2;
	return NULL;
}

/* A Report of another engine each time: RFC 3414, section 4. */
static size_t
make_report(uint32_t engine, const uint8_t *msg_id, const uint8_t *request_id, uint8_t *to)
{
	const uint8_t report[] = {0x30, 97, 2, 1, 3,
	    0x30, 17, 2, 4, msg_id[0], msg_id[1], msg_id[2], msg_id[3], 2, 3, 0, 0xff, 0xe3, 4, 1, 0, 2, 1, 3,
	    4, 25, 0x30, 23, 4, 9, 0x80, 0, 0, 9, 5, (uint8_t)(engine >> 24), (uint8_t)(engine >> 16), (uint8_t)(engine >> 8),
		(uint8_t)engine, 2, 1, 1, 2, 1, 1, 4, 0, 4, 0, 4, 0,
	    0x30, 46, 4, 9, 0x80, 0, 0, 9, 5, (uint8_t)(engine >> 24), (uint8_t)(engine >> 16), (uint8_t)(engine >> 8),
		(uint8_t)engine, 4, 0,
	    0xa8, 31, 2, 4, request_id[0], request_id[1], request_id[2], request_id[3], 2, 1, 0, 2, 1, 0,
	    0x30, 17, 0x30, 15, 6, 10, 0x2b, 6, 1, 6, 3, 15, 1, 1, 4, 0, 0x41, 1, 1};

	memcpy(to, report, sizeof(report));
	return sizeof(report);
}

static void *
lie(void *arg)
{
	uint32_t engine = 0;

	(void)arg;
	for (;;) {
		uint8_t m[2048], answer[256];
		struct sockaddr_in from;
		socklen_t n_from = sizeof(from);
		ssize_t n = recvfrom(liar_fd, m, sizeof(m), 0, (struct sockaddr *)&from, &n_from);
		/* msgFlags of a probe: it wants a Report, and is not authentic. */
		bool is_probe = n > 0 && memmem(m, (size_t)n, (const uint8_t[]){4, 1, 4, 2, 1, 3}, 6) != NULL;
		const uint8_t *msg_id = is_probe ? find_number(m, (size_t)n, 0) : NULL;
		const uint8_t *request_id = msg_id ? find_number(m, (size_t)n, (size_t)(msg_id - m) + 4) : NULL;

		if (n <= 0)
			return NULL;
		if (request_id)
			sendto(liar_fd, answer, make_report(++engine, msg_id, request_id, answer), 0, (struct sockaddr *)&from, n_from);
	}
}

static void
ask(int fd, uint32_t id, uint16_t port, unsigned timeout_ms)
{
	struct poll_job job = {.id = id, .parts = POLLED_NAMES, .udp_port = port, .timeout_ms = timeout_ms, .address = "127.0.0.1",
	    .as = {.user = "reader", .auth_protocol = "SHA", .priv_protocol = "AES", .auth_passphrase = "a passphrase",
		.priv_passphrase = "another one"},
	    .n_ports = 1, .if_index = {1}};

	ck_assert_int_eq(send(fd, &job, sizeof(job), MSG_NOSIGNAL), (ssize_t)sizeof(job));
}

/* The child of the process that is watched over. */
static long
worker_of(pid_t pid)
{
	char path[64];
	long worker = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	if (fscanf(file, "%ld", &worker) != 1)
		worker = 0;
	fclose(file);
	return worker;
}

static struct poll_answer
await_answer(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	struct poll_answer answer;

	ck_assert_int_eq(poll(&polled, 1, 5000), 1);
	ck_assert(poll_process_answer(&fd, &answer));
	return answer;
}

static void
set_up(void)
{
	liar = open_port(&liar_fd);
	silent = open_port(&silent_fd);
	ck_assert_int_eq(poll_process_start(&process, &process_fd), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, lie, NULL), 0);
}

static void
tear_down(void)
{
	poll_process_stop(process, process_fd);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	close(liar_fd);
	close(silent_fd);
}

START_TEST(who_is_silent_holds_up_nobody)
{
	struct poll_answer answer;

	ask(process_fd, 1, silent, 2000);
	ask(process_fd, 2, liar, TIMEOUT_MS);
	answer = await_answer(process_fd);
	ck_assert_uint_eq(answer.id, 2);
	ck_assert_int_eq(answer.verdict, POLL_SILENT); /* it said who it is, and no more */
	ck_assert_uint_lt(answer.answered_us - answer.asked_us, 1000000);
	answer = await_answer(process_fd);
	ck_assert_uint_eq(answer.id, 1);
	ck_assert_int_eq(answer.verdict, POLL_SILENT);
}
END_TEST

/* Never fewer than eleven questions are on their way. */
START_TEST(engines_without_end)
{
	unsigned n = 0;
	long first = 0;

	for (int i = 0; i < 100 && first == 0; i++, usleep(10000))
		first = worker_of(process);
	for (int i = 0; i < 12; i++)
		ask(process_fd, 1, i % 6 ? liar : silent, i % 6 ? TIMEOUT_MS : 500);
	for (; n < ENGINES && worker_of(process) == first; n++) {
		struct pollfd polled = {.fd = process_fd, .events = POLLIN};

		if (poll(&polled, 1, 3000) <= 0) /* those that it had are lost with it */
			break;
		await_answer(process_fd);
		ask(process_fd, 1, n % 100 ? liar : silent, n % 100 ? TIMEOUT_MS : 500);
	}
	printf("%u answers, then the process has made place\n", n);
	ck_assert_uint_lt(n, ENGINES);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("poll process");
	TCase *silence = tcase_create("silent"), *engines = tcase_create("engines");

	tcase_add_checked_fixture(silence, set_up, tear_down);
	tcase_add_checked_fixture(engines, set_up, tear_down);
	tcase_set_timeout(engines, 120);
	tcase_add_test(silence, who_is_silent_holds_up_nobody);
	tcase_add_test(engines, engines_without_end);
	suite_add_tcase(suite, silence);
	suite_add_tcase(suite, engines);
	return suite_run(suite);
}
