#include "tests/mibs/mib_names.h"

#include "mibs/modules.h"
#include "tests/mibs/mib_fixture.h"

#include <string.h>

struct name
name_of(const struct mib_table *table, uint32_t column, size_t n_index, const uint32_t *index)
{
	struct name name = {.n = table->entry.n};

	memcpy(name.arcs, table->entry.arcs, name.n * sizeof(uint32_t));
	name.arcs[name.n++] = column;
	for (size_t i = 0; i < n_index; i++)
		name.arcs[name.n++] = index[i];
	return name;
}

struct name
port_name(const struct mib_table *table, uint32_t column, uint32_t if_index)
{
	return name_of(table, column, 1, &if_index);
}

struct name
error_name(uint32_t column, uint32_t if_index, uint32_t kind)
{
	const uint8_t *m = fixture_error_mac;

	return name_of(&ease_mib_error_source_table, column, 8,
	    (uint32_t[]){if_index, m[0], m[1], m[2], m[3], m[4], m[5], kind});
}
