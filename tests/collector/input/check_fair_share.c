/*
 * Fair shares of senders, with a model of a socket's buffer whose reader is too slow, and with real
 * sockets through the whole input: a sender below its share loses nothing, the others get equal
 * parts, no capacity is wasted, and after the storm nobody is limited. And the limit of Reports:
 * never more octets than came from an address, whoever forges it.
 */
#include "collector/input/input.h"
#include "collector/input/usm_reports.h"
#include "collector/input/fair_share.h"
#include "tests/suite.h"
#include "tests/collector/input/trap_builder.h"

#include <arpa/inet.h>
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the model ---- */

enum {
	SENDERS = 32,
	BUFFER = 20000, /* datagrams */
	STEP_US = 50,
	READ = 64,
};

/* A datagram that is taken costs the reader as long as 20 that are dropped. */
struct model {
	struct fair_share *share;
	uint64_t now_us;
	double rate[SENDERS]; /* datagrams a microsecond */
	double owed[SENDERS]; /* of the next datagram */
	uint8_t buffer[BUFFER];
	size_t first, n;
	double capacity, budget; /* datagrams taken in a microsecond, and what of it is left */
	uint64_t sent[SENDERS], taken[SENDERS], lost_in_buffer[SENDERS];
};

static struct sockaddr_in
address_of(unsigned sender)
{
	return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a000001 + sender)};
}

static void
arrive(struct model *m, unsigned sender)
{
	m->sent[sender]++;
	if (m->n == BUFFER)
		m->lost_in_buffer[sender]++;
	else
		m->buffer[(m->first + m->n++) % BUFFER] = (uint8_t)sender;
}

static void
read_one(struct model *m)
{
	unsigned sender = m->buffer[m->first];
	const struct sockaddr_in from = address_of(sender);
	bool taken = fair_share_admit(m->share, (const struct sockaddr *)&from, 1);

	m->first = (m->first + 1) % BUFFER;
	m->n--;
	m->taken[sender] += taken;
	m->budget -= taken ? 1 : 0.05;
}

static void
step(struct model *m)
{
	m->now_us += STEP_US;
	m->budget += m->capacity * STEP_US;
	for (unsigned i = 0; i < SENDERS; i++)
		for (m->owed[i] += m->rate[i] * STEP_US; m->owed[i] >= 1; m->owed[i]--)
			arrive(m, i);
	while (m->budget > 0 && m->n > 0) {
		fair_share_turn(m->share, m->now_us, (unsigned)(100 * m->n / BUFFER));
		for (int i = 0; i < READ && m->n > 0; i++)
			read_one(m);
	}
	if (m->n == 0) {
		fair_share_turn(m->share, m->now_us, 0);
		m->budget = m->budget < 0 ? m->budget : 0;
	}
}

static void
run(struct model *m, uint64_t ms)
{
	for (uint64_t i = 0; i < ms * 1000 / STEP_US; i++)
		step(m);
}

static void
forget(struct model *m)
{
	memset(m->sent, 0, sizeof(m->sent));
	memset(m->taken, 0, sizeof(m->taken));
	memset(m->lost_in_buffer, 0, sizeof(m->lost_in_buffer));
}

/* 30 switches with 2,000 a second each; the collector takes 200,000. */
static struct model *
new_model(void)
{
	struct model *m = calloc(1, sizeof(*m));

	ck_assert_int_eq(fair_share_new(&m->share, 7), 0);
	m->now_us = 1000000;
	m->capacity = 0.2;
	for (unsigned i = 2; i < SENDERS; i++) {
		m->rate[i] = 0.002;
		m->owed[i] = i / (double)SENDERS;
	}
	return m;
}

static void
free_model(struct model *m)
{
	fair_share_free(m->share);
	free(m);
}

/* What quiet senders sent came through, when all that waits is read: the buffer never was full, and
 * while the limit was being found they lost two in a hundred at most. */
static void
expect_quiet_ones_whole(struct model *m)
{
	double rate[SENDERS];

	memcpy(rate, m->rate, sizeof(rate));
	memset(m->rate, 0, sizeof(rate));
	run(m, 100);
	memcpy(m->rate, rate, sizeof(rate));
	ck_assert_uint_eq(m->n, 0);
	for (unsigned i = 2; i < SENDERS; i++) {
		ck_assert_uint_eq(m->lost_in_buffer[i], 0);
		ck_assert_uint_ge(m->taken[i] * 100, m->sent[i] * 98);
	}
}

START_TEST(nobody_is_limited_without_need)
{
	struct model *m = new_model();

	m->rate[0] = 0.13; /* all together a little less than is taken */
	run(m, 2000);
	ck_assert_uint_eq(fair_share_limit(m->share), UINT64_MAX);
	for (unsigned i = 0; i < SENDERS; i++)
		ck_assert_uint_ge(m->taken[i] + READ, m->sent[i]);
	free_model(m);
}
END_TEST

/* Two million a second against 200,000: without shares 95 % of everybody's would be lost. */
START_TEST(a_storm_takes_what_the_others_leave)
{
	struct model *m = new_model();
	uint64_t left;

	run(m, 1000);
	m->rate[0] = 2;
	run(m, 3000);
	expect_quiet_ones_whole(m);
	/* Of 200,000 a second the quiet ones have 60,000 and dropping two million costs 100,000. */
	left = (200000 - 60000 - 100000) * 3;
	ck_assert_uint_gt(m->taken[0], left * 7 / 10);
	m->rate[0] = 0;
	forget(m);
	run(m, 1000);
	ck_assert_uint_eq(fair_share_limit(m->share), UINT64_MAX);
	expect_quiet_ones_whole(m);
	free_model(m);
}
END_TEST

START_TEST(two_storms_have_equal_parts)
{
	struct model *m = new_model();
	double ratio;

	m->rate[0] = 1.2;
	m->rate[1] = 0.4;
	run(m, 300);
	forget(m);
	run(m, 3000);
	expect_quiet_ones_whole(m);
	ratio = (double)m->taken[0] / (double)m->taken[1];
	ck_assert_double_ge(ratio, 0.8);
	ck_assert_double_le(ratio, 1.25);
	free_model(m);
}
END_TEST

/* Max-min: limits are exact where the numbers are. */
START_TEST(the_limit_is_what_is_left_in_equal_parts)
{
	static const uint32_t asked[] = {10, 20, 300, 400, 500};
	struct fair_share *s;

	ck_assert_int_eq(fair_share_new(&s, 1), 0);
	fair_share_turn(s, 1000000, 0);
	for (unsigned i = 0; i < 5; i++) {
		const struct sockaddr_in from = address_of(i);

		ck_assert(fair_share_admit(s, (const struct sockaddr *)&from, asked[i]));
	}
	fair_share_turn(s, 1002000, 90); /* 1,230 were taken in a window: half of it are 615 */
	/* 10 and 20 are below (615 - 30) / 3, the others above. */
	ck_assert_uint_eq(fair_share_limit(s), 195);
	fair_share_free(s);
}
END_TEST

static void
ask(struct fair_share *s, unsigned sender, size_t n)
{
	const struct sockaddr_in from = address_of(sender);

	fair_share_admit(s, (const struct sockaddr *)&from, n);
}

/* The reader was away for a while, and comes back to a buffer that is more than half full. */
START_TEST(a_buffer_that_gets_emptier_limits_nobody)
{
	struct fair_share *s;

	ck_assert_int_eq(fair_share_new(&s, 1), 0);
	for (unsigned window = 0; window < 20; window++) {
		fair_share_turn(s, 1000000 + window * FAIR_SHARE_WINDOW_US, 80 - window);
		ask(s, window % 2, 1000);
		ck_assert_uint_eq(fair_share_limit(s), UINT64_MAX);
	}
	fair_share_turn(s, 1000000 + 20 * FAIR_SHARE_WINDOW_US, 62); /* it was 61 */
	ck_assert_uint_lt(fair_share_limit(s), UINT64_MAX);
	fair_share_free(s);
}
END_TEST

START_TEST(who_is_alone_is_not_limited)
{
	uint64_t now_us = 1000000;
	struct fair_share *s;

	ck_assert_int_eq(fair_share_new(&s, 1), 0);
	for (unsigned window = 0; window < 10; window++, now_us += FAIR_SHARE_WINDOW_US) {
		fair_share_turn(s, now_us, 90 + window);
		ask(s, 1, 1000);
	}
	ck_assert_uint_eq(fair_share_limit(s), UINT64_MAX);
	ask(s, 2, 1);
	fair_share_turn(s, now_us, 100);
	ck_assert_uint_lt(fair_share_limit(s), UINT64_MAX);
	for (unsigned second = 0; second < 61; second++, now_us += 1000000) {
		ask(s, 2, 1000);
		fair_share_turn(s, now_us, 100);
	}
	ck_assert_uint_eq(fair_share_limit(s), UINT64_MAX);
	fair_share_free(s);
}
END_TEST

/* ---- the whole input ---- */

static size_t taken_of[2]; /* records, of the storm and of the quiet one */

static void
count_records(void *arg, const struct ease_record *records, size_t n)
{
	(void)arg;
	for (size_t i = 0; i < n; i++)
		taken_of[strcmp(records[i].sender, "127.0.0.1") == 0]++;
}

static int
socket_from(const char *address, const struct input *in)
{
	struct sockaddr_in from = {.sin_family = AF_INET};
	char text[ENDPOINT_TEXT];
	const char *reason;
	struct endpoint to;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	inet_pton(AF_INET, address, &from.sin_addr);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	receiver_address(input_receiver(in), 0, text);
	ck_assert_int_eq(endpoint_parse(text, &to, &reason), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to.address, to.len), 0);
	return fd;
}

static size_t
make_trap(uint8_t *octets, size_t room)
{
	const struct ease_address address = {.if_index = 1, .mac = {2}};
	const uint8_t id[8] = {1};
	static struct trap_message m;

	trap_start(&m, "demo", EASE_NOTIFY_NEW_ADDRESS, id, 1);
	trap_add_address(&m, &address);
	return trap_build(&m, octets, room);
}

/* For each datagram of one sender the other sends 40; of these 41 the reader has time for ten, or
 * for many times as many that it only drops. */
START_TEST(a_storm_at_a_socket_does_not_push_others_out)
{
	static const char *const communities[] = {"demo"};
	struct clock clock = {.manual = true, .manual_mono_us = 1000000};
	struct prefix senders;
	struct endpoint here;
	const char *reason;
	struct input_config config = {.listen = &here, .n_listen = 1, .senders = &senders, .n_senders = 1,
	    .communities = communities, .n_communities = 1, .buffer_octets = 1 << 20, .clock = &clock,
	    .sink = count_records, .seed = 3};
	struct input *in;
	uint8_t octets[512];
	size_t n = make_trap(octets, sizeof(octets)), sent = 0;
	char error[200];
	int storm, quiet;

	taken_of[0] = taken_of[1] = 0;
	ck_assert_int_eq(endpoint_parse("127.0.0.1:0", &here, &reason), 0);
	ck_assert_int_eq(prefix_parse("127.0.0.0/8", &senders, &reason), 0);
	ck_assert_int_eq(input_open(&in, &config, error, sizeof(error)), 0);
	storm = socket_from("127.0.0.2", in);
	quiet = socket_from("127.0.0.1", in);
	for (int round = 0; round < 20000; round++) {
		double budget = 10;

		for (int i = 0; i < 40; i++)
			ck_assert_int_eq(send(storm, octets, n, 0), n);
		ck_assert_int_eq(send(quiet, octets, n, 0), n);
		sent++;
		clock_step_us(&clock, 50);
		/* A read of 32 takes the time of three rounds; so it comes in every third. */
		for (; round % 3 == 0 && budget > 0;) {
			size_t before = taken_of[0] + taken_of[1];

			if (input_read(in) == 0)
				break;
			budget -= (double)(taken_of[0] + taken_of[1] - before) / 3.2 + 0.1;
		}
	}
	while (input_read(in) > 0)
		;
	ck_assert_uint_gt(stat_get(input_stats(in), INPUT_STAT_OVER_SHARE), 0);
	ck_assert_uint_ge(taken_of[1], sent * 99 / 100);
	ck_assert_uint_gt(taken_of[0], sent);
	close(storm);
	close(quiet);
	input_close(in);
}
END_TEST

/* ---- reports ---- */

/* A sender that asks as often as it can with the shortest message that is answered: an address gets
 * no more than came from it and one Report a minute, and at most ten Reports a second. An honest
 * sender, which asks twice and then sends longer messages, is always answered. */
START_TEST(reports_amplify_nothing)
{
	enum { PROBE = 60, REPORT = 110, TIME_PROBE = 170, TIME_REPORT = 140, MINUTES = 3 };
	const struct sockaddr_in victim = address_of(0), honest = address_of(1);
	const struct sockaddr *to = (const struct sockaddr *)&victim;
	const struct sockaddr *other = (const struct sockaddr *)&honest;
	static struct usm_reports r;
	uint64_t in = 0, out = 0, in_second = 0, now_us = 77;

	usm_reports_init(&r, 42, now_us);
	for (uint64_t step = 0; step < MINUTES * 60 * 100; step++, now_us += 10000) {
		if (step % 100 == 0)
			in_second = 0;
		in += PROBE;
		usm_reports_heard(&r, to, PROBE, now_us);
		if (usm_reports_allow(&r, to, REPORT, now_us)) {
			out += REPORT;
			in_second++;
		}
		ck_assert_uint_le(out, in + (step / 6000 + 1) * USM_REPORTS_FREE_OCTETS);
		ck_assert_uint_le(in_second, USM_REPORTS_A_SECOND + 1); /* its seconds are not ours */
		if (step % 50 > 0)
			continue;
		usm_reports_heard(&r, other, PROBE, now_us);
		ck_assert(usm_reports_allow(&r, other, REPORT, now_us));
		usm_reports_heard(&r, other, TIME_PROBE, now_us);
		ck_assert(usm_reports_allow(&r, other, TIME_REPORT, now_us));
		usm_reports_heard(&r, other, TIME_PROBE, now_us); /* the inform itself, in time */
	}
	ck_assert_uint_gt(out, 0);
	ck_assert(!usm_reports_allow(&r, to, 2 * USM_REPORTS_FREE_OCTETS + in, now_us));
}
END_TEST

/* The credit of a slow attacker is what he sent, too. */
START_TEST(a_report_is_paid_for)
{
	const struct sockaddr_in victim = address_of(0);
	const struct sockaddr *to = (const struct sockaddr *)&victim;
	static struct usm_reports r;
	uint64_t now_us = 1;
	unsigned sent = 0;

	usm_reports_init(&r, 42, now_us);
	for (int i = 0; i < 20; i++, now_us += 1000000) {
		usm_reports_heard(&r, to, 10, now_us);
		sent += usm_reports_allow(&r, to, 100, now_us);
	}
	ck_assert_uint_eq(sent, (USM_REPORTS_FREE_OCTETS + 200) / 100);
	now_us += 60000000;
	usm_reports_heard(&r, to, 10, now_us);
	ck_assert(usm_reports_allow(&r, to, 100, now_us));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("fair_share");
	TCase *tcase = tcase_create("fair_share");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, nobody_is_limited_without_need);
	tcase_add_test(tcase, a_storm_takes_what_the_others_leave);
	tcase_add_test(tcase, two_storms_have_equal_parts);
	tcase_add_test(tcase, the_limit_is_what_is_left_in_equal_parts);
	tcase_add_test(tcase, a_buffer_that_gets_emptier_limits_nobody);
	tcase_add_test(tcase, who_is_alone_is_not_limited);
	tcase_add_test(tcase, a_storm_at_a_socket_does_not_push_others_out);
	tcase_add_test(tcase, reports_amplify_nothing);
	tcase_add_test(tcase, a_report_is_paid_for);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
