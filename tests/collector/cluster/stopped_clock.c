/*
 * easetop with a wall clock that stands still: linked with --wrap=clock_wall_us, it takes the time from
 * EASE_NOW_US, so that two stores can be asked at the same moment.
 */
#include "common/clock.h"

#include <stdlib.h>

uint64_t __wrap_clock_wall_us(const struct clock *clock);

uint64_t
__wrap_clock_wall_us(const struct clock *clock)
{
	const char *now = getenv("EASE_NOW_US");

	(void)clock;
	if (!now)
		abort();
	return strtoull(now, NULL, 10);
}
