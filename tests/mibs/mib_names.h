/*
 * Names of cells for tests of the MIB tables.
 */
#ifndef EASE_TESTS_MIB_NAMES_H
#define EASE_TESTS_MIB_NAMES_H

#include "agent/snmp/mib_table.h"

struct name {
	size_t n;
	uint32_t arcs[MIB_OID_MAX];
};

struct name name_of(const struct mib_table *table, uint32_t column, size_t n_index,
    const uint32_t *index);
struct name port_name(const struct mib_table *table, uint32_t column, uint32_t if_index);
/* In easeErrorSourceTable, of fixture_error_mac. */
struct name error_name(uint32_t column, uint32_t if_index, uint32_t kind);

#endif
