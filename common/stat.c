#include "common/stat.h"

#include "common/log.h"

#include <inttypes.h>

void
stat_log(const struct stat_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		uint64_t value = stat_get(set, (unsigned)i);

		if (value)
			log_info("stat", "%s %" PRIu64 " (%s)", set->names[i].name, value, set->names[i].help);
	}
}
