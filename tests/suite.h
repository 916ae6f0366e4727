/*
 * How every unit test program ends: runs its suite and says by its exit status whether all held.
 * The output's form is check's own choice by CK_VERBOSITY; tests/run counts from its last line.
 */
#ifndef EASE_TESTS_SUITE_H
#define EASE_TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

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
