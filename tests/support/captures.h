/*
 * Where the real captures with ground truth are, for tests that compare with them. They are not
 * part of the project: EASE_CAPTURES names their directory (tests/run sets it when they stand
 * beside the source). A test without them prints captures_skip's line, which tests/run reports.
 */
#ifndef EASE_TESTS_CAPTURES_H
#define EASE_TESTS_CAPTURES_H

#include <stdio.h>
#include <stdlib.h>

/* NULL: none at hand. */
static inline const char *
captures_dir(void)
{
	const char *dir = getenv("EASE_CAPTURES");

	return dir && *dir ? dir : NULL;
}

static inline void
captures_skip(const char *what)
{
	printf("SKIP %s: no captures at hand (EASE_CAPTURES)\n", what);
	fflush(stdout);
}

#endif
