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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 1000 };

static char store[64]; /* a path that exists */
static int64_t id;
static uint64_t now_us = 5000;

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
	ck_assert_int_eq(crash_journal_share(w, store_id, store, now_us, past), expected);
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
	ck_assert_int_eq(crash_journal_share(&w, id, store, now_us, &past), 0);
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
		_exit(crash_journal_share(&other, id, store, now_us, &past) == -EBUSY &&
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

/* Only its own directory is used if it is memory; /dev/shm is everybody's. */
START_TEST(the_runtime_directory_comes_first)
{
	struct crash_journal_past past;
	struct crash_journal w;
	char directory[] = "/dev/shm/check_crash_journal.XXXXXX";

	make_store();
	ck_assert_ptr_nonnull(mkdtemp(directory));
	setenv("RUNTIME_DIRECTORY", directory, 1);
	share(&w, id, &past, 0);
	fill(&w, 10);
	ck_assert_int_eq(strncmp(w.name, directory, strlen(directory)), 0);
	crash_journal_free(&w);
	share(&w, id, &past, 0);
	ck_assert(past.crashed);
	free(past.slots);
	crash_journal_remove(&w);
	crash_journal_free(&w);
	ck_assert_int_eq(rmdir(directory), 0);
	setenv("RUNTIME_DIRECTORY", "/proc", 1); /* no place for files */
	share(&w, id, &past, 0);
	ck_assert_int_eq(strncmp(w.name, "/dev/shm/", 9), 0);
	crash_journal_remove(&w);
	crash_journal_free(&w);
	unsetenv("RUNTIME_DIRECTORY");
	unlink(store);
}
END_TEST

/* Another user takes the names that a stopped collector had, by links, a pipe and files of its own. */
START_TEST(what_others_leave_there_is_no_hindrance)
{
	static const char *const endings[] = {"", ".new", ".00000001", ".00000002.new"};
	struct crash_journal_past past;
	struct crash_journal w;
	char paths[4][CRASH_JOURNAL_NAME];

	if (geteuid() != 0) {
		puts("SKIP what_others_leave_there_is_no_hindrance: only root can make another user's files");
		return;
	}
	make_store();
	for (int i = 0; i < 4; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/dev/shm/easecapd-%016llx%s",
		    (unsigned long long)id, endings[i]);
		if (i == 0)
			ck_assert_int_eq(symlink("/etc/passwd", paths[i]), 0);
		else if (i == 1)
			ck_assert_int_eq(mkfifo(paths[i], 0666), 0);
		else
			write_file(paths[i], "x", 1);
		ck_assert_int_eq(lchown(paths[i], 65534, 65534), 0);
	}
	share(&w, id, &past, 0);
	ck_assert(!past.crashed);
	fill(&w, 10);
	crash_journal_free(&w); /* a crash */
	share(&w, id, &past, 0);
	ck_assert(past.crashed);
	ck_assert_uint_eq(past.slots[9].if_index, 10);
	free(past.slots);
	crash_journal_remove(&w);
	ck_assert_int_lt(access(w.name, F_OK), 0);
	crash_journal_free(&w);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(unlink(paths[i]), 0); /* still there */
	unlink(store);
}
END_TEST

/* A file that is truncated, has another layout, or claims more slots than it has. */
START_TEST(what_cannot_be_read_is_no_past)
{
	struct crash_journal_header header;
	struct crash_journal_past past;
	struct crash_journal w;
	char path[CRASH_JOURNAL_NAME];

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

/* Or cannot be seen, as from another container: that collector has ten minutes to come back. */
START_TEST(whose_store_is_gone_is_removed)
{
	struct crash_journal_past past;
	struct crash_journal w, other;
	char path[CRASH_JOURNAL_NAME];

	make_store();
	share(&w, id, &past, 0);
	fill(&w, 7);
	snprintf(path, sizeof(path), "%s", w.name);
	crash_journal_free(&w);
	ck_assert_int_eq(access(path, F_OK), 0);
	unlink(store);
	make_store();
	for (int gone = 0; gone < 2; gone++) {
		now_us = 4711 + (gone ? 601 : 599) * UINT64_C(1000000);
		share(&other, id + 9, &past, 0);
		ck_assert_int_eq(access(path, F_OK), gone ? -1 : 0);
		crash_journal_remove(&other);
		crash_journal_free(&other);
	}
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
	tcase_add_test(tc, the_runtime_directory_comes_first);
	tcase_add_test(tc, what_others_leave_there_is_no_hindrance);
	tcase_add_test(tc, shared_memory_that_is_full);
	tcase_add_test(tc, what_cannot_be_read_is_no_past);
	tcase_add_test(tc, whose_store_is_gone_is_removed);
	return suite_run(suite);
}
