/*
 * How every unit test program ends: runs its suite and says by its exit status whether all held.
 * The output's form is check's own choice by CK_VERBOSITY; tests/run counts from its last line. And
 * how much a test does of what it could do for ever.
 */
#ifndef EASE_TESTS_SUITE_H
#define EASE_TESTS_SUITE_H

#include <check.h>
#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#ifdef NDEBUG
#error "tests run with the asserts: build without -DNDEBUG"
#endif

/* Check notes each assertion that held in a file, to say behind which one a test crashed; that takes longer than most
 * assertions do. Those of the same tick of the clock (a few milliseconds) are noted once. */
static inline void
suite_mark_point(const char *file, int line)
{
	static _Thread_local long marked_ns = -1;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_nsec == marked_ns)
		return;
	marked_ns = now.tv_nsec;
	(_mark_point)(file, line);
}
#define _mark_point(file, line) suite_mark_point(file, line)

/* 1 in a build with AddressSanitizer or ThreadSanitizer, of gcc or clang; else 0. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SUITE_SANITIZES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SUITE_SANITIZES 1
#endif
#endif
#ifndef SUITE_SANITIZES
#define SUITE_SANITIZES 0
#endif

#if defined(__SANITIZE_THREAD__)
#define SUITE_SANITIZES_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SUITE_SANITIZES_THREADS 1
#endif
#endif
#ifndef SUITE_SANITIZES_THREADS
#define SUITE_SANITIZES_THREADS 0
#endif

/* Does everything take tens of times as long, under valgrind (EASE_QUICK) or ThreadSanitizer? Then
 * what one thread does very often is done less. */
static inline bool
suite_is_slow(void)
{
	return SUITE_SANITIZES_THREADS || getenv("EASE_QUICK");
}

/* How often to repeat what normally is repeated n times, a thousand or more: ten times as often for
 * tests/run --long (EASE_LONG), a fortieth under valgrind. */
static inline int
suite_effort(int n)
{
	if (getenv("EASE_QUICK"))
		return n / 40;
	return getenv("EASE_LONG") && !SUITE_SANITIZES_THREADS ? n * 10 : n;
}

/* The same for what takes long in any case: never more often than n. */
static inline int
suite_effort_at_most(int n)
{
	return suite_is_slow() ? n / 40 : n;
}

/* What is freed stays with the process. Where collectors are opened hundreds of times, most of the time the kernel would
 * give each its tens of mebioctets anew. */
static inline void
suite_keep_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

/* Takes the suite. */
static inline int
suite_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
