/*
 * The crash journal survives its collector. Only a collector of the same store finds it, complete
 * or not at all. Without shared memory it is private, and it is removed when no store needs it.
 */
#include "collector/window/crash_journal.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 1000 };

static char store[64]; /* a path that exists */
static int64_t id;

static void
make_store(void)
{
	strcpy(store, "/tmp/check_crash_journal.XXXXXX");
	close(mkstemp(store));
	id = (int64_t)getpid() << 32 | 0x77;
}

static void
share(struct crash_journal *w, int64_t store_id, struct crash_journal_past *past, int expected)
{
	ck_assert_int_eq(crash_journal_init(w, SLOTS), 0);
	ck_assert_int_eq(crash_journal_share(w, store_id, store, past), expected);
	if (expected == 0)
		ck_assert_int_eq(crash_journal_publish(w), 0);
}

static void
fill(struct crash_journal *w, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct crash_journal_slot *slot = crash_journal_slot(w, i);

		slot->if_index = i + 1;
		sequence_tracker_sample(&slot->tracker, i + 1);
	}
	w->header->last_received_us = 4711;
}

START_TEST(what_was_there_is_found_again)
{
	struct crash_journal_past past;
	struct crash_journal_slot *first;
	struct crash_journal w;

	make_store();
	ck_assert_int_eq(crash_journal_init(&w, SLOTS), 0);
	first = crash_journal_slot(&w, 0);
	first->boot = 7; /* written before the memory is shared */
	ck_assert_int_eq(crash_journal_share(&w, id, store, &past), 0);
	ck_assert(!past.crashed);
	ck_assert_int_eq(crash_journal_publish(&w), 0);
	ck_assert_ptr_eq(crash_journal_slot(&w, 0), first);
	ck_assert_uint_eq(first->boot, 7);
	fill(&w, 700); /* written after it is shared, so the file grows */
	crash_journal_free(&w); /* leaves the file as a crash does */

	share(&w, id + 1, &past, 0); /* another store */
	ck_assert(!past.crashed);
	crash_journal_remove(&w);
	crash_journal_free(&w);

	share(&w, id, &past, 0);
	ck_assert(past.crashed);
	ck_assert_uint_ge(past.n_slots, 700);
	ck_assert_uint_eq(past.last_received_us, 4711);
	ck_assert_uint_eq(past.slots[0].boot, 7);
	for (uint32_t i = 0; i < past.n_slots; i++) {
		ck_assert_uint_eq(past.slots[i].if_index, i < 700 ? i + 1 : 0);
		ck_assert_uint_eq(past.slots[i].tracker.received, i < 700);
	}
	free(past.slots);
	crash_journal_rename(&w, id + 2); /* its store was replaced */
	crash_journal_free(&w);

	share(&w, id, &past, 0);
	ck_assert(!past.crashed);
	crash_journal_remove(&w);
	crash_journal_free(&w);
	share(&w, id + 2, &past, 0);
	ck_assert(past.crashed);
	free(past.slots);
	crash_journal_remove(&w); /* a clean stop */
	crash_journal_free(&w);
	share(&w, id + 2, &past, 0);
	ck_assert(!past.crashed);
	crash_journal_remove(&w);
	crash_journal_free(&w);
	unlink(store);
}
END_TEST

START_TEST(one_process_has_it)
{
	struct crash_journal_past past;
	struct crash_journal w;
	pid_t child;
	int status;

	make_store();
	share(&w, id, &past, 0);
	child = fork();
	if (child == 0) {
		struct crash_journal other;

		crash_journal_init(&other, SLOTS);
		/* a lock belongs to the open file, which a child inherits; so the child opens its
		 * own */
		_exit(crash_journal_share(&other, id, store, &past) == -EBUSY &&
			crash_journal_slot(&other, 5) != NULL ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	crash_journal_remove(&w);
	crash_journal_free(&w);
	unlink(store);
}
END_TEST

/* Slots for which shared memory has no room are private: there is no SIGBUS, and the slots before
 * them are recovered. */
START_TEST(shared_memory_that_is_full)
{
	struct crash_journal_past past;
	struct crash_journal w;

	make_store();
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=200k") < 0) {
		puts("SKIP shared_memory_that_is_full: no small one can be mounted");
		unlink(store);
		return;
	}
	share(&w, id, &past, 0);
	fill(&w, SLOTS);
	ck_assert_uint_eq(crash_journal_slot(&w, SLOTS - 1)->if_index, SLOTS);
	crash_journal_free(&w);
	share(&w, id, &past, 0);
	ck_assert(past.crashed);
	ck_assert_uint_gt(past.n_slots, 0);
	ck_assert_uint_lt(past.n_slots, SLOTS);
	for (uint32_t i = 0; i < past.n_slots; i++)
		ck_assert_uint_eq(past.slots[i].if_index, i + 1);
	free(past.slots);
	crash_journal_remove(&w);
	crash_journal_free(&w);
	unlink(store);
}
END_TEST

static void
write_file(const char *path, const void *octets, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, octets, n), (ssize_t)n);
	close(fd);
}

/* A file that is truncated, has another layout, or claims more slots than it has. */
START_TEST(what_cannot_be_read_is_no_past)
{
	struct crash_journal_header header;
	struct crash_journal_past past;
	struct crash_journal w;
	char path[80];

	make_store();
	share(&w, id, &past, 0);
	fill(&w, 10);
	header = *w.header;
	snprintf(path, sizeof(path), "%s", w.name);
	crash_journal_free(&w);
	for (int kind = 0; kind < 3; kind++) {
		struct crash_journal_header bad = header;

		bad.layout += kind == 1;
		bad.n_slots += kind == 2 ? 1u << 30 : 0;
		write_file(path, &bad, kind == 0 ? 100 : sizeof(bad));
		share(&w, id, &past, 0);
		ck_assert(!past.crashed);
		ck_assert_ptr_null(past.slots);
		crash_journal_free(&w);
	}
	unlink(path);
	unlink(store);
}
END_TEST

START_TEST(whose_store_is_gone_is_removed)
{
	struct crash_journal_past past;
	struct crash_journal w, other;
	char path[80];

	make_store();
	share(&w, id, &past, 0);
	snprintf(path, sizeof(path), "%s", w.name);
	crash_journal_free(&w);
	ck_assert_int_eq(access(path, F_OK), 0);
	unlink(store);
	make_store();
	share(&other, id + 9, &past, 0);
	ck_assert_int_lt(access(path, F_OK), 0);
	crash_journal_remove(&other);
	crash_journal_free(&other);
	unlink(store);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("crash journal");
	TCase *tc = tcase_create("crash journal");

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, what_was_there_is_found_again);
	tcase_add_test(tc, one_process_has_it);
	tcase_add_test(tc, shared_memory_that_is_full);
	tcase_add_test(tc, what_cannot_be_read_is_no_past);
	tcase_add_test(tc, whose_store_is_gone_is_removed);
	return suite_run(suite);
}
