/*
 * easetop with a wall clock that stands still: linked with --wrap=clock_wall_us, it takes the time from
 * EASE_NOW_US, so that two stores can be asked at the same moment. And with EASE_KEYS a cluster is asked as by a
 * page that has memory for so many keys.
 */
#include "collector/query/query.h"
#include "common/clock.h"

#include <stdlib.h>

uint64_t __wrap_clock_wall_us(const struct clock *clock);
int __real_query_open_cluster(const struct query_cluster *where, const struct query_limits *limits, struct query **query,
    char *error, size_t error_size);
int __wrap_query_open_cluster(const struct query_cluster *where, const struct query_limits *limits, struct query **query,
    char *error, size_t error_size);

uint64_t
__wrap_clock_wall_us(const struct clock *clock)
{
	const char *now = getenv("EASE_NOW_US");

	(void)clock;
	if (!now)
		abort();
	return strtoull(now, NULL, 10);
}

int
__wrap_query_open_cluster(const struct query_cluster *where, const struct query_limits *limits, struct query **query,
    char *error, size_t error_size)
{
	const char *keys = getenv("EASE_KEYS");
	const struct query_limits few = {.keys = keys ? strtoull(keys, NULL, 10) : 0};

	return __real_query_open_cluster(where, keys ? &few : limits, query, error, error_size);
}
