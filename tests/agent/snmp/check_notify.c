/*
 * The notification ring and its credit window: order, limits, what happens at them, what a lost
 * session leaves behind, and one producer against one consumer in two threads; and the standard
 * notifications, varbind by varbind.
 */
#include "agent/snmp/notify.h"
#include "agent/snmp/notify_standard.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static struct notify_ring *ring;

static void
teardown(void)
{
	notify_ring_destroy(ring);
	ring = NULL;
}

/* A notification whose only part is a snapshot of port `number`. */
static const struct ease_notification *
numbered(uint32_t number)
{
	static _Thread_local struct ease_notification n;
	struct ease_snapshot snapshot = {.if_index = number};

	trap_wire_begin(&n, EASE_NOTIFY_COUNTERS);
	ck_assert_int_eq(trap_wire_add_snapshot(&n, &snapshot, TRAP_WIRE_MESSAGE_DEFAULT), 0);
	return &n;
}

static uint32_t
number_of(const struct notify_item *item)
{
	struct trap_part part;
	size_t pos = 0;

	ck_assert(trap_wire_next(&item->n, &pos, &part));
	ck_assert_int_eq(part.part, EASE_PART_SNAPSHOT);
	ck_assert_uint_eq(part.len, TRAP_WIRE_SNAPSHOT_OCTETS);
	return part.if_index;
}

static uint64_t
counted(enum notify_stat which)
{
	return stat_get(notify_ring_stats(ring), which);
}

static bool
is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t n;

	return poll(&p, 1, 0) == 1 && read(fd, &n, sizeof(n)) == sizeof(n);
}

static void
push_range(uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to; i++)
		ck_assert_int_eq(notify_ring_push(ring, numbered(i)), 0);
}

START_TEST(sizes_are_checked)
{
	ck_assert_int_eq(notify_ring_create(0, &ring), -EINVAL);
	ck_assert_int_eq(notify_ring_create(NOTIFY_RING_MAX + 1, &ring), -EINVAL);
	notify_ring_destroy(NULL);
}
END_TEST

START_TEST(a_full_ring_refuses_the_newest_and_counts_it)
{
	struct notify_item *item;

	ck_assert_int_eq(notify_ring_create(3, &ring), 0);
	push_range(1, 3);
	ck_assert_int_eq(notify_ring_push(ring, numbered(4)), -ENOBUFS);
	ck_assert_uint_eq(counted(NOTIFY_OVERFLOW), 1);
	ck_assert_uint_eq(notify_ring_space(ring), 0);
	item = notify_ring_next(ring);
	ck_assert_uint_eq(number_of(item), 1);
	/* Sent is not done: it keeps its place until the master answers. */
	ck_assert_int_eq(notify_ring_push(ring, numbered(4)), -ENOBUFS);
	notify_ring_acknowledged(item);
	ck_assert_int_eq(notify_ring_push(ring, numbered(4)), 0);
	for (uint32_t i = 2; i <= 4; i++) {
		item = notify_ring_next(ring);
		ck_assert_uint_eq(number_of(item), i);
		ck_assert(!notify_ring_idle(ring));
		notify_ring_acknowledged(item);
	}
	ck_assert_ptr_null(notify_ring_next(ring));
	ck_assert(notify_ring_idle(ring));
	ck_assert_uint_eq(counted(NOTIFY_ACKNOWLEDGED), 4);
}
END_TEST

START_TEST(the_window_holds_so_many_and_no_more)
{
	struct notify_item *items[NOTIFY_WINDOW];

	ck_assert_int_eq(notify_ring_create(100, &ring), 0);
	push_range(1, 100);
	for (int i = 0; i < NOTIFY_WINDOW; i++) {
		items[i] = notify_ring_next(ring);
		ck_assert_uint_eq(number_of(items[i]), (uint32_t)i + 1);
	}
	ck_assert_ptr_null(notify_ring_next(ring));
	ck_assert(notify_ring_prepare_wait(ring)); /* nothing that may be sent: sleep */
	ck_assert_uint_eq(notify_ring_unanswered(ring), NOTIFY_WINDOW);
	notify_ring_refused(items[20]); /* answers come in any order */
	ck_assert_uint_eq(number_of(notify_ring_next(ring)), NOTIFY_WINDOW + 1);
	ck_assert_ptr_null(notify_ring_next(ring));
	ck_assert_uint_eq(counted(NOTIFY_REFUSED), 1);
}
END_TEST

START_TEST(samples_that_are_refused_are_counted)
{
	static struct ease_notification n;
	const uint8_t frame[64] = {0};
	struct ease_sample sample = {.if_index = 1, .direction = EASE_IN, .mean_skip = 1,
	    .frame_octets = 64, .header = frame, .kept_octets = sizeof(frame)};

	ck_assert_int_eq(notify_ring_create(100, &ring), 0);
	trap_wire_begin(&n, EASE_NOTIFY_SAMPLES);
	for (sample.sequence = 1; sample.sequence <= 3; sample.sequence++)
		ck_assert_int_eq(trap_wire_add_sample(&n, &sample, TRAP_WIRE_MESSAGE_DEFAULT), 0);
	ck_assert_int_eq(notify_ring_push(ring, &n), 0);
	ck_assert_int_eq(notify_ring_push(ring, &n), 0);
	notify_ring_refused(notify_ring_next(ring));
	notify_ring_acknowledged(notify_ring_next(ring));
	ck_assert_uint_eq(counted(NOTIFY_SAMPLES_REFUSED), 3);
	ck_assert(notify_ring_idle(ring));
}
END_TEST

/* Both directions of the session's socket must hold all that is unanswered. */
START_TEST(large_notifications_use_up_the_window_sooner)
{
	static struct ease_notification n;
	size_t octets = 0, sent = 0;
	struct notify_item *item;

	ck_assert_int_eq(notify_ring_create(100, &ring), 0);
	trap_wire_begin(&n, EASE_NOTIFY_COUNTERS);
	for (uint32_t i = 1; n.message_octets < TRAP_WIRE_MESSAGE_MAX - 300; i++) {
		struct ease_snapshot snapshot = {.if_index = i};

		ck_assert_int_eq(trap_wire_add_snapshot(&n, &snapshot, TRAP_WIRE_MESSAGE_MAX), 0);
	}
	for (int i = 0; i < 50; i++)
		ck_assert_int_eq(notify_ring_push(ring, &n), 0);
	while ((item = notify_ring_next(ring)) != NULL) {
		octets += item->n.len;
		sent++;
	}
	ck_assert_uint_gt(sent, 1);
	ck_assert_uint_lt(sent, NOTIFY_WINDOW);
	ck_assert_uint_le(octets, NOTIFY_WINDOW_OCTETS);
}
END_TEST

START_TEST(a_lost_session_sends_again_in_order)
{
	struct notify_item *items[5];

	ck_assert_int_eq(notify_ring_create(100, &ring), 0);
	push_range(1, 10);
	for (int i = 0; i < 5; i++)
		items[i] = notify_ring_next(ring);
	notify_ring_acknowledged(items[1]);
	notify_ring_timed_out(items[3]);
	notify_ring_timed_out(items[0]);
	notify_ring_send_failed(items[4]);
	notify_ring_timed_out(items[2]);
	ck_assert_uint_eq(notify_ring_unanswered(ring), 0);
	ck_assert(!notify_ring_idle(ring));
	for (uint32_t i = 1; i <= 10; i++) {
		struct notify_item *item;

		if (i == 2)
			continue;
		item = notify_ring_next(ring);
		ck_assert_uint_eq(number_of(item), i);
		notify_ring_acknowledged(item);
	}
	ck_assert(notify_ring_idle(ring));
	ck_assert_uint_eq(counted(NOTIFY_RESENT), 4);
	ck_assert_uint_eq(counted(NOTIFY_TIMEOUTS), 3);
	ck_assert_uint_eq(counted(NOTIFY_SEND_FAILED), 1);
	ck_assert_uint_eq(counted(NOTIFY_SENT), 14);
}
END_TEST

START_TEST(space_is_told_once)
{
	int fd;

	ck_assert_int_eq(notify_ring_create(4, &ring), 0);
	fd = notify_ring_space_fd(ring);
	ck_assert(notify_ring_want_space(ring, 4));
	push_range(1, 4);
	ck_assert(!notify_ring_want_space(ring, 2));
	notify_ring_acknowledged(notify_ring_next(ring));
	ck_assert(!is_readable(fd)); /* one is not two */
	notify_ring_acknowledged(notify_ring_next(ring));
	ck_assert(is_readable(fd));
	notify_ring_acknowledged(notify_ring_next(ring));
	ck_assert(!is_readable(fd));
	ck_assert(notify_ring_want_space(ring, 3));
	ck_assert(!notify_ring_want_space(ring, 99)); /* means all of it */
	notify_ring_acknowledged(notify_ring_next(ring));
	ck_assert(is_readable(fd));
}
END_TEST

START_TEST(only_a_sleeping_consumer_is_woken)
{
	int fd;

	ck_assert_int_eq(notify_ring_create(8, &ring), 0);
	fd = notify_ring_fd(ring);
	push_range(1, 1);
	ck_assert(!is_readable(fd));
	ck_assert(!notify_ring_prepare_wait(ring)); /* there is something to send */
	notify_ring_acknowledged(notify_ring_next(ring));
	ck_assert(notify_ring_prepare_wait(ring));
	push_range(2, 3);
	ck_assert(is_readable(fd));
	ck_assert(!is_readable(fd));
}
END_TEST

static uint32_t many;

static void *
produce(void *unused)
{
	(void)unused;
	for (uint32_t i = 1; i <= many; i++) {
		while (notify_ring_push(ring, numbered(i)) == -ENOBUFS) {
			struct pollfd p = {.fd = notify_ring_space_fd(ring), .events = POLLIN};
			uint64_t n;

			if (notify_ring_want_space(ring, 8))
				continue;
			ck_assert_int_eq(poll(&p, 1, 10000), 1); /* a missed wake-up ends here */
			ck_assert_int_eq(read(p.fd, &n, sizeof(n)), sizeof(n));
		}
	}
	return NULL;
}

/* Takes what there is, answers some late and some not, and sleeps only when told that it may. */
START_TEST(two_threads_lose_nothing)
{
	struct pollfd p = {.events = POLLIN};
	uint32_t expected = 1;
	pthread_t producer;

	many = (uint32_t)suite_effort(20000);
	ck_assert_int_eq(notify_ring_create(64, &ring), 0);
	p.fd = notify_ring_fd(ring);
	ck_assert_int_eq(pthread_create(&producer, NULL, produce, NULL), 0);
	while (expected <= many) {
		struct notify_item *item = notify_ring_next(ring);

		if (!item) {
			if (notify_ring_prepare_wait(ring)) {
				ck_assert_int_eq(poll(&p, 1, 10000), 1);
				is_readable(p.fd);
			}
			continue;
		}
		ck_assert_uint_eq(number_of(item), expected);
		if (expected % 7 == 0 && counted(NOTIFY_TIMEOUTS) < expected / 7) {
			notify_ring_timed_out(item);
			continue;
		}
		notify_ring_acknowledged(item);
		expected++;
	}
	pthread_join(producer, NULL);
	ck_assert(notify_ring_idle(ring));
	ck_assert_uint_eq(counted(NOTIFY_ACKNOWLEDGED), many);
	ck_assert_uint_eq(counted(NOTIFY_RESENT), many / 7);
}
END_TEST

/* ---- standard notifications ---- */

static struct ease_notification standard;

static void
expect_oid(const struct mib_oid *is, const struct mib_oid *must)
{
	ck_assert_int_eq(mib_oid_compare(is->arcs, is->n, must->arcs, must->n), 0);
}

static void
expect_integer(size_t *pos, struct mib_oid name, int64_t value)
{
	struct notify_varbind v;

	ck_assert(notify_standard_next(&standard, pos, &v));
	expect_oid(&v.name, &name);
	ck_assert_int_eq(v.syntax, MIB_INTEGER);
	ck_assert_int_eq(v.integer, value);
}

#define OID(...) ((struct mib_oid)MIB_OID(__VA_ARGS__))

/* RFC 6933: entConfigChange has no objects. */
START_TEST(changed_parts_are_told)
{
	struct notify_varbind v;
	struct mib_oid trap;
	size_t pos = 0;

	notify_parts_changed(&standard);
	ck_assert(notify_standard_trap(&standard, &pos, &trap));
	expect_oid(&trap, &OID(1, 3, 6, 1, 2, 1, 47, 2, 0, 1));
	ck_assert(!notify_standard_next(&standard, &pos, &v));
}
END_TEST

/* RFC 2863: linkDown { ifIndex, ifAdminStatus, ifOperStatus }. */
START_TEST(a_link_is_told_as_the_mib_has_it)
{
	struct notify_varbind v;
	struct mib_oid trap;
	size_t pos = 0;

	notify_link(&standard, _i, 12, 1, 2);
	ck_assert(notify_standard_trap(&standard, &pos, &trap));
	expect_oid(&trap, &OID(1, 3, 6, 1, 6, 3, 1, 1, 5, _i ? 4 : 3));
	expect_integer(&pos, OID(1, 3, 6, 1, 2, 1, 2, 2, 1, 1, 12), 12);
	expect_integer(&pos, OID(1, 3, 6, 1, 2, 1, 2, 2, 1, 7, 12), 1);
	expect_integer(&pos, OID(1, 3, 6, 1, 2, 1, 2, 2, 1, 8, 12), 2);
	ck_assert(!notify_standard_next(&standard, &pos, &v));
}
END_TEST

/* RFC 2819: risingAlarm { alarmIndex, alarmVariable, alarmSampleType, alarmValue,
 * alarmRisingThreshold }; falling with its own threshold. */
START_TEST(an_alarm_is_told_as_the_mib_has_it)
{
	const struct mib_oid watched = MIB_OID(1, 3, 6, 1, 2, 1, 2, 2, 1, 10, 4);
	const struct notify_alarm alarm = {.index = 7, .variable = &watched, .sample_type = 2,
	    .value = -5, .threshold = INT32_MIN};
	struct notify_varbind v;
	struct mib_oid trap;
	size_t pos = 0;

	notify_alarm(&standard, _i, &alarm);
	ck_assert(notify_standard_trap(&standard, &pos, &trap));
	expect_oid(&trap, &OID(1, 3, 6, 1, 2, 1, 16, 0, _i ? 1 : 2));
	expect_integer(&pos, OID(1, 3, 6, 1, 2, 1, 16, 3, 1, 1, 1, 7), 7);
	ck_assert(notify_standard_next(&standard, &pos, &v));
	expect_oid(&v.name, &OID(1, 3, 6, 1, 2, 1, 16, 3, 1, 1, 3, 7));
	ck_assert_int_eq(v.syntax, MIB_OBJECT_ID);
	expect_oid(&v.oid, &watched);
	expect_integer(&pos, OID(1, 3, 6, 1, 2, 1, 16, 3, 1, 1, 4, 7), 2);
	expect_integer(&pos, OID(1, 3, 6, 1, 2, 1, 16, 3, 1, 1, 5, 7), -5);
	expect_integer(&pos, OID(1, 3, 6, 1, 2, 1, 16, 3, 1, 1, _i ? 7 : 8, 7), INT32_MIN);
	ck_assert(!notify_standard_next(&standard, &pos, &v));
}
END_TEST

/* A notification cut anywhere gives the varbinds before the cut, or nothing; one that is too long is
 * not made. */
START_TEST(what_does_not_fit_is_not_told)
{
	static char text[TRAP_WIRE_MESSAGE_MAX];
	const struct mib_oid trap = MIB_OID(1, 3, 6, 1, 2);
	const struct notify_varbind said = {.name = MIB_OID(1, 3, 9), .syntax = MIB_STRING,
	    .text = text};
	struct notify_varbind v;
	struct mib_oid name;
	size_t pos = 0, whole;

	strcpy(text, "said");
	ck_assert_int_eq(notify_standard_build(&standard, &trap, &said, 1), 0);
	ck_assert(notify_standard_trap(&standard, &pos, &name));
	ck_assert(notify_standard_next(&standard, &pos, &v));
	ck_assert_str_eq(v.text, "said");
	whole = standard.len;
	while (standard.len-- > 0) {
		pos = 0;
		ck_assert(!notify_standard_trap(&standard, &pos, &name) ||
		    !notify_standard_next(&standard, &pos, &v));
	}
	ck_assert_uint_eq(whole, 1 + 5 * 4 + 1 + 3 * 4 + 1 + 2 + sizeof("said"));
	memset(text, 'x', sizeof(text) - 1);
	ck_assert_int_eq(notify_standard_build(&standard, &trap, &said, 1), -EMSGSIZE);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("notify");
	TCase *tcase = tcase_create("ring");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, sizes_are_checked);
	tcase_add_test(tcase, a_full_ring_refuses_the_newest_and_counts_it);
	tcase_add_test(tcase, the_window_holds_so_many_and_no_more);
	tcase_add_test(tcase, samples_that_are_refused_are_counted);
	tcase_add_test(tcase, large_notifications_use_up_the_window_sooner);
	tcase_add_test(tcase, a_lost_session_sends_again_in_order);
	tcase_add_test(tcase, space_is_told_once);
	tcase_add_test(tcase, only_a_sleeping_consumer_is_woken);
	tcase_add_test(tcase, two_threads_lose_nothing);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("standard");
	tcase_add_loop_test(tcase, a_link_is_told_as_the_mib_has_it, 0, 2);
	tcase_add_loop_test(tcase, an_alarm_is_told_as_the_mib_has_it, 0, 2);
	tcase_add_test(tcase, what_does_not_fit_is_not_told);
	tcase_add_test(tcase, changed_parts_are_told);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
