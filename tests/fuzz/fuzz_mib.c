/* Any name and value on any table: GETNEXT goes forward, what it finds GET finds too, and a SET
 * that is taken is one that its column allows. */
#include "mibs/mibs.h"
#include "tests/mibs/mib_fixture.h"

#include "common/buf.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(const struct mib_table *table, const struct mib_context *context, const uint32_t *oid,
    size_t n, const struct mib_value *value)
{
	uint32_t next[MIB_OID_MAX];
	struct mib_value found, again;
	struct mib_set set, old;
	size_t n_next;

	if (mib_get_next(table, context, oid, n, next, &n_next, &found) == MIB_FOUND &&
	    (mib_oid_compare(next, n_next, oid, n) <= 0 ||
		mib_get(table, context, next, n_next, &again) != MIB_FOUND))
		abort();
	if (mib_check_set(table, context, oid, n, value, &set, &old) == MIB_NO_ERROR &&
	    (set.kind == 0 ||
		(!table->creates && mib_get(table, context, oid, n, &again) != MIB_FOUND)))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mib_fixture fixture;
	struct rbuf r = rbuf_of(data, size);
	const struct mib_table *table = mibs_tables[rbuf_u8(&r) % mibs_n_tables];
	struct mib_value value = {.syntax = rbuf_u8(&r) % (MIB_COUNTER64 + 1)};
	size_t n = rbuf_u8(&r) & 1 ? table->entry.n : 0; /* mostly inside the table */
	uint32_t oid[MIB_OID_MAX];

	if (!fixture.ports && fixture_create(20, 50, &fixture))
		abort();
	memcpy(oid, table->entry.arcs, n * sizeof(*oid));
	value.number = (uint64_t)(value.integer = (int64_t)rbuf_be(&r, 4));
	while (rbuf_left(&r) > 0 && n < MIB_OID_MAX)
		oid[n++] = data[r.pos] < 128 ? rbuf_u8(&r) : rbuf_be32(&r);
	mib_put_octets(&value, data, size);
	check(table,
	    &(struct mib_context){
		.snapshot = &fixture.mib_snapshot, .mono_us = 1, .uptime_start_us = 1},
	    oid, n, &value);
	return 0;
}
