/*
 * Rows that managers make: the state machines of EntryStatus (RFC 2819 section 3.2) and RowStatus
 * (RFC 2579) transition by transition, several varbinds in any order, all or none, undo, limits;
 * and the engine's part in it: indexes that could not be, OIDs and binary strings as values, the
 * varbind to blame, TimeFilter (RFC 4502) walks.
 */
#include "agent/snmp/managed_table.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <string.h>

struct thing {
	uint32_t index;
	uint32_t size;
	char owner[32];
	struct mib_oid source;
	struct mib_binary ports;
	uint8_t status;
	uint64_t changed_us;
};

enum { COL_INDEX = 1, COL_SIZE, COL_OWNER, COL_SOURCE, COL_PORTS, COL_STATUS, MAX_THINGS = 3 };
enum { KIND_ROW = 1 };

static struct managed_table *managed;

static size_t
thing_rows(const struct mib_context *context, const void **first)
{
	void *rows;
	size_t n = managed_rows(managed, &rows);

	(void)context;
	*first = rows;
	return n;
}

static const struct mib_column thing_columns[] = {
	{COL_INDEX, "thingIndex", MIB_INTEGER, MIB_AT(struct thing, index)},
	{COL_SIZE, "thingSize", MIB_INTEGER, MIB_AT(struct thing, size), MIB_WRITE(KIND_ROW, 1, 100)},
	{COL_OWNER, "thingOwner", MIB_STRING, MIB_AT(struct thing, owner), MIB_WRITE(KIND_ROW, 0, 31)},
	{COL_SOURCE, "thingSource", MIB_OBJECT_ID, MIB_AT(struct thing, source),
	    MIB_WRITE(KIND_ROW, 0, 0)},
	{COL_PORTS, "thingPorts", MIB_STRING, MIB_AT(struct thing, ports), MIB_WRITE(KIND_ROW, 0, 8),
	    .binary = true},
	{COL_STATUS, "thingStatus", MIB_INTEGER, MIB_AT(struct thing, status),
	    MIB_WRITE(KIND_ROW, 1, 6)},
};
static struct mib_table things = {
	.name = "thingTable",
	.entry = MIB_OID(1, 3, 6, 1, 9, 1),
	.creates = true,
	.index = {MIB_INDEX_FROM(MIB_INDEX_U32, struct thing, index, 1, 65535)},
	.change_offset = offsetof(struct thing, changed_us),
	.columns = thing_columns,
	.n_columns = sizeof(thing_columns) / sizeof(thing_columns[0]),
	.row_size = sizeof(struct thing),
	.rows = thing_rows,
};

static void
defaults(void *ctx, void *row)
{
	(void)ctx;
	((struct thing *)row)->size = 7;
}

/* A thing needs an owner to work. */
static int
ready(void *ctx, const void *row)
{
	(void)ctx;
	return ((const struct thing *)row)->owner[0] != '\0' ? 0 : -EBUSY;
}

static struct managed_type type = {
	.status_column = COL_STATUS,
	.status_offset = offsetof(struct thing, status),
	.max_rows = MAX_THINGS,
	.defaults = defaults,
	.ready = ready,
};
static struct mib_context context = {.snapshot = &type, .mono_us = 1000000};
static struct mib_transaction t;

static void
open_as(enum managed_status_kind kind)
{
	type.kind = kind;
	things.time_filter = false;
	ck_assert_int_eq(managed_create(&things, &type, NULL, &managed), 0);
	mib_transaction_begin(&t);
}

static void
setup_entry(void)
{
	open_as(MANAGED_ENTRY_STATUS);
}

static void
setup_row(void)
{
	open_as(MANAGED_ROW_STATUS);
}

static void
teardown(void)
{
	managed_destroy(managed);
}

static int
apply(void *ctx, const struct mib_set *sets, size_t n, enum mib_phase phase, size_t *failed)
{
	return managed_apply(ctx, sets, n, phase, failed);
}

static enum mib_error
add(uint32_t column, uint32_t index, struct mib_value value)
{
	uint32_t oid[] = {1, 3, 6, 1, 9, 1, column, index};

	return mib_transaction_add(&t, &things, &context, oid, 8, &value);
}

static struct mib_value
number(int64_t n)
{
	return (struct mib_value){.syntax = MIB_INTEGER, .integer = n};
}

static struct mib_value
text(const char *s)
{
	struct mib_value value = {.syntax = MIB_STRING};

	mib_put_text(&value, s);
	return value;
}

/* Carries out what was added; the error of the phase that refused. */
static enum mib_error
carry_out(void)
{
	struct mib_setter setter = {managed, apply};
	enum mib_error error = mib_transaction_test(&t, &setter);

	if (!error)
		error = mib_transaction_commit(&t, &setter);
	if (!error)
		mib_transaction_begin(&t);
	return error;
}

static enum mib_error
set(uint32_t column, uint32_t index, struct mib_value value)
{
	enum mib_error error;

	mib_transaction_begin(&t);
	error = add(column, index, value);
	return error ? error : carry_out();
}

static const struct thing *
thing(uint32_t index)
{
	return managed_find(managed, &index, 1);
}

START_TEST(entry_status_goes_its_way)
{
	ck_assert_int_eq(set(COL_SIZE, 5, number(3)), MIB_INCONSISTENT_NAME);
	ck_assert_int_eq(set(COL_STATUS, 5, number(ENTRY_VALID)), MIB_INCONSISTENT_VALUE);
	ck_assert_ptr_null(thing(5));
	ck_assert_int_eq(set(COL_STATUS, 5, number(ENTRY_CREATE_REQUEST)), 0);
	ck_assert_uint_eq(thing(5)->status, ENTRY_UNDER_CREATION);
	ck_assert_uint_eq(thing(5)->size, 7);
	ck_assert_int_eq(set(COL_STATUS, 5, number(ENTRY_CREATE_REQUEST)), MIB_INCONSISTENT_VALUE);
	ck_assert_int_eq(set(COL_STATUS, 5, number(ENTRY_VALID)), MIB_INCONSISTENT_VALUE);
	ck_assert_int_eq(set(COL_OWNER, 5, text("me")), 0);
	ck_assert_int_eq(set(COL_STATUS, 5, number(ENTRY_VALID)), 0);
	ck_assert(managed_is_active(managed, thing(5)));
	ck_assert_int_eq(set(COL_SIZE, 5, number(9)), MIB_INCONSISTENT_VALUE); /* frozen */
	ck_assert_int_eq(set(COL_STATUS, 5, number(ENTRY_UNDER_CREATION)), 0);
	ck_assert_int_eq(set(COL_SIZE, 5, number(9)), 0);
	ck_assert_uint_eq(thing(5)->size, 9);
	ck_assert_int_eq(set(COL_STATUS, 5, number(ENTRY_INVALID)), 0);
	ck_assert_ptr_null(thing(5));
	ck_assert_int_eq(set(COL_STATUS, 5, number(ENTRY_INVALID)), 0); /* nothing to delete */
}
END_TEST

/* All in one request, the status in front, in the middle, at the end. */
START_TEST(varbinds_have_no_order)
{
	for (uint32_t first = 0; first < 3; first++) {
		for (uint32_t i = 0; i < 3; i++) {
			switch ((first + i) % 3) {
			case 0:
				ck_assert_int_eq(add(COL_STATUS, first + 1,
				    number(ROW_CREATE_AND_GO)), 0);
				break;
			case 1:
				ck_assert_int_eq(add(COL_OWNER, first + 1, text("me")), 0);
				break;
			default:
				ck_assert_int_eq(add(COL_SIZE, first + 1, number(50)), 0);
			}
		}
		ck_assert_int_eq(carry_out(), 0);
		ck_assert(managed_is_active(managed, thing(first + 1)));
		ck_assert_uint_eq(thing(first + 1)->size, 50);
	}
}
END_TEST

START_TEST(row_status_goes_its_way)
{
	ck_assert_int_eq(set(COL_STATUS, 5, number(ROW_CREATE_AND_GO)), MIB_INCONSISTENT_VALUE);
	ck_assert_ptr_null(thing(5));
	ck_assert_int_eq(set(COL_STATUS, 5, number(ROW_ACTIVE)), MIB_INCONSISTENT_VALUE);
	ck_assert_int_eq(set(COL_STATUS, 5, number(ROW_CREATE_AND_WAIT)), 0);
	ck_assert_uint_eq(thing(5)->status, ROW_NOT_READY);
	ck_assert_int_eq(set(COL_STATUS, 5, number(ROW_NOT_IN_SERVICE)), MIB_INCONSISTENT_VALUE);
	ck_assert_int_eq(set(COL_STATUS, 5, number(ROW_NOT_READY)), MIB_WRONG_VALUE);
	ck_assert_int_eq(set(COL_OWNER, 5, text("me")), 0);
	ck_assert_uint_eq(thing(5)->status, ROW_NOT_IN_SERVICE);
	ck_assert_int_eq(set(COL_STATUS, 5, number(ROW_ACTIVE)), 0);
	ck_assert_int_eq(set(COL_SIZE, 5, number(9)), MIB_INCONSISTENT_VALUE);
	mib_transaction_begin(&t); /* out of service, changed and back in one request would need two */
	ck_assert_int_eq(add(COL_SIZE, 5, number(9)), 0);
	ck_assert_int_eq(add(COL_STATUS, 5, number(ROW_NOT_IN_SERVICE)), 0);
	ck_assert_int_eq(carry_out(), 0);
	ck_assert_uint_eq(thing(5)->size, 9);
	ck_assert_int_eq(set(COL_STATUS, 5, number(ROW_DESTROY)), 0);
	ck_assert_ptr_null(thing(5));
	ck_assert_int_eq(set(COL_STATUS, 5, number(ROW_DESTROY)), 0);
}
END_TEST

START_TEST(all_or_none_and_the_one_to_blame)
{
	struct mib_setter setter = {managed, apply};

	add(COL_STATUS, 1, number(ROW_CREATE_AND_GO));
	add(COL_OWNER, 1, text("me"));
	add(COL_SIZE, 2, number(4)); /* no such row */
	ck_assert_int_eq(mib_transaction_test(&t, &setter), MIB_INCONSISTENT_NAME);
	ck_assert(mib_transaction_blames(&t, (uint32_t[]){1, 3, 6, 1, 9, 1, COL_SIZE, 2}, 8));
	ck_assert(!mib_transaction_blames(&t, (uint32_t[]){1, 3, 6, 1, 9, 1, COL_SIZE, 1}, 8));
	ck_assert_int_eq(mib_transaction_commit(&t, &setter), MIB_COMMIT_FAILED);
	ck_assert_ptr_null(thing(1));
}
END_TEST

START_TEST(undo_takes_the_request_back)
{
	struct mib_setter setter = {managed, apply};

	add(COL_STATUS, 1, number(ROW_CREATE_AND_GO));
	add(COL_OWNER, 1, text("me"));
	ck_assert_int_eq(carry_out(), 0);
	add(COL_STATUS, 1, number(ROW_DESTROY));
	add(COL_STATUS, 2, number(ROW_CREATE_AND_WAIT));
	ck_assert_int_eq(mib_transaction_test(&t, &setter), 0);
	ck_assert_int_eq(mib_transaction_commit(&t, &setter), 0);
	ck_assert_ptr_null(thing(1));
	ck_assert_ptr_nonnull(thing(2));
	ck_assert_int_eq(mib_transaction_undo(&t, &setter), 0);
	ck_assert_ptr_nonnull(thing(1));
	ck_assert_str_eq(thing(1)->owner, "me");
	ck_assert_ptr_null(thing(2));
}
END_TEST

START_TEST(the_limit_is_refused)
{
	for (uint32_t i = 1; i <= MAX_THINGS; i++)
		ck_assert_int_eq(set(COL_STATUS, 10 - i, number(ROW_CREATE_AND_WAIT)), 0);
	ck_assert_int_eq(set(COL_STATUS, 50, number(ROW_CREATE_AND_WAIT)),
	    MIB_RESOURCE_UNAVAILABLE);
	ck_assert_int_eq(set(COL_STATUS, 8, number(ROW_DESTROY)), 0);
	ck_assert_int_eq(set(COL_STATUS, 50, number(ROW_CREATE_AND_WAIT)), 0);
	ck_assert_ptr_nonnull(thing(7));
	ck_assert_ptr_nonnull(thing(9));
	ck_assert_ptr_nonnull(thing(50));
}
END_TEST

START_TEST(indexes_that_cannot_be)
{
	uint32_t two[] = {1, 3, 6, 1, 9, 1, COL_SIZE, 5, 6}, none[] = {1, 3, 6, 1, 9, 1, COL_SIZE};
	struct mib_value value = number(5);

	ck_assert_int_eq(add(COL_SIZE, 0, value), MIB_NO_CREATION);
	ck_assert_int_eq(add(COL_SIZE, 65536, value), MIB_NO_CREATION);
	ck_assert_int_eq(add(COL_SIZE, 65535, value), 0);
	ck_assert_int_eq(mib_transaction_add(&t, &things, &context, two, 9, &value),
	    MIB_NO_CREATION);
	ck_assert_int_eq(mib_transaction_add(&t, &things, &context, none, 7, &value),
	    MIB_NO_CREATION);
}
END_TEST

START_TEST(names_and_octets_as_values)
{
	struct mib_value oid = {.syntax = MIB_OBJECT_ID, .len = 3, .arcs = {1, 3, 4294967295u}};
	struct mib_value octets = {.syntax = MIB_STRING, .len = 3, .octets = {0, 0xff, 0}}, got;
	uint32_t name[] = {1, 3, 6, 1, 9, 1, COL_SOURCE, 1};

	ck_assert_int_eq(set(COL_STATUS, 1, number(ROW_CREATE_AND_WAIT)), 0);
	ck_assert_int_eq(set(COL_SOURCE, 1, number(1)), MIB_WRONG_TYPE);
	ck_assert_int_eq(set(COL_SOURCE, 1, oid), 0);
	ck_assert_int_eq(mib_get(&things, &context, name, 8, &got), MIB_FOUND);
	ck_assert_uint_eq(got.len, 3);
	ck_assert_mem_eq(got.arcs, oid.arcs, 3 * sizeof(uint32_t));
	oid.len = MIB_OID_ARCS + 1;
	ck_assert_int_eq(set(COL_SOURCE, 1, oid), MIB_WRONG_VALUE);
	ck_assert_int_eq(set(COL_PORTS, 1, octets), 0);
	name[6] = COL_PORTS;
	ck_assert_int_eq(mib_get(&things, &context, name, 8, &got), MIB_FOUND);
	ck_assert_uint_eq(got.len, 3);
	ck_assert_mem_eq(got.octets, octets.octets, 3);
	octets.len = 9;
	ck_assert_int_eq(set(COL_PORTS, 1, octets), MIB_WRONG_LENGTH);
	ck_assert_int_eq(set(COL_OWNER, 1, (struct mib_value){.syntax = MIB_STRING, .len = 1,
	    .octets = {0}}), MIB_WRONG_VALUE);
}
END_TEST

START_TEST(the_owners_own_rows)
{
	struct thing row = {.index = 8, .status = ENTRY_VALID};

	ck_assert_int_eq(managed_add(managed, &row), 0);
	ck_assert_int_eq(managed_add(managed, &row), -EEXIST);
	row.index = 3;
	ck_assert_int_eq(managed_add(managed, &row), 0);
	row.index = 5;
	ck_assert_int_eq(managed_add(managed, &row), 0);
	row.index = 6;
	ck_assert_int_eq(managed_add(managed, &row), -ENOSPC);
	managed_remove(managed, thing(5));
	ck_assert_ptr_null(thing(5));
	ck_assert_ptr_nonnull(thing(3));
	ck_assert_ptr_nonnull(thing(8));
}
END_TEST

/* RFC 4502: instance (t, i) exists for every t up to the last change of i. */
static uint32_t
walk(uint32_t marks[], uint32_t indexes[], uint32_t max)
{
	uint32_t oid[MIB_OID_MAX] = {1, 3, 6, 1, 9, 1, COL_SIZE};
	size_t n = 7;
	struct mib_value value;
	uint32_t found = 0;

	while (found < max &&
	    mib_get_next(&things, &context, oid, n, oid, &n, &value) == MIB_FOUND &&
	    oid[6] == COL_SIZE) {
		ck_assert_uint_eq(n, 9);
		ck_assert_int_eq(mib_get(&things, &context, oid, n, &value), MIB_FOUND);
		marks[found] = oid[7];
		indexes[found++] = oid[8];
	}
	return found;
}

START_TEST(time_filter)
{
	static const uint32_t changes[] = {0, 3, 1};
	uint32_t marks[16], indexes[16], beyond[] = {1, 3, 6, 1, 9, 1, COL_SIZE, 2, 1};
	static const uint32_t expected[] = {10, 20, 30}, from_2[] = {COL_SIZE, 2}; /* a mark that is asked */
	uint32_t next[MIB_OID_MAX];
	struct mib_value value;
	size_t n_next;

	things.time_filter = true;
	for (uint32_t i = 0; i < 3; i++) {
		struct thing row = {.index = 10 * (i + 1), .changed_us = changes[i] * 10000};

		ck_assert_int_eq(managed_add(managed, &row), 0);
	}
	/* Each row once, however long ago the master started: 30 days, and a change since. */
	for (int days = 0; days <= 30; days += 30) {
		context.uptime_start_us = -86400000000ll * days;
		ck_assert_uint_eq(walk(marks, indexes, 16), 3);
		for (size_t i = 0; i < 3; i++)
			ck_assert_uint_eq(marks[i], 0);
		ck_assert_mem_eq(indexes, expected, sizeof(expected));
	}
	context.uptime_start_us = 0;
	memcpy(&beyond[6], from_2, sizeof(from_2));
	ck_assert_int_eq(mib_get_next(&things, &context, beyond, 8, next, &n_next, &value), MIB_FOUND);
	ck_assert_uint_eq(next[7], 2);
	ck_assert_uint_eq(next[8], 20);
	ck_assert(mib_get_next(&things, &context, next, n_next, next, &n_next, &value) != MIB_FOUND || next[6] > COL_SIZE);
	beyond[8] = 30;
	ck_assert_int_eq(mib_get(&things, &context, beyond, 9, &value), MIB_NO_INSTANCE);
	beyond[8] = 20;
	ck_assert_int_eq(mib_get(&things, &context, beyond, 9, &value), MIB_FOUND);
	ck_assert_int_eq(mib_get(&things, &context, beyond, 7, &value), MIB_NO_INSTANCE);
}
END_TEST

static Suite *
managed_suite(void)
{
	Suite *suite = suite_create("managed");
	TCase *entry = tcase_create("EntryStatus"), *row = tcase_create("RowStatus");

	tcase_add_checked_fixture(entry, setup_entry, teardown);
	tcase_add_test(entry, entry_status_goes_its_way);
	tcase_add_test(entry, the_owners_own_rows);
	suite_add_tcase(suite, entry);
	tcase_add_checked_fixture(row, setup_row, teardown);
	tcase_add_test(row, row_status_goes_its_way);
	tcase_add_test(row, varbinds_have_no_order);
	tcase_add_test(row, all_or_none_and_the_one_to_blame);
	tcase_add_test(row, undo_takes_the_request_back);
	tcase_add_test(row, the_limit_is_refused);
	tcase_add_test(row, indexes_that_cannot_be);
	tcase_add_test(row, names_and_octets_as_values);
	tcase_add_test(row, time_filter);
	suite_add_tcase(suite, row);
	return suite;
}

int
main(void)
{
	return suite_run(managed_suite());
}
