/*
 * A hundred thousand requests of a hostile manager (a million in tests/run --long), from fixed seeds,
 * through the table engine, all modules of mibs/ and the owners of the settings. Each GET and GETNEXT
 * must return what a walk of the tables returns. Each SET goes through its phases as a master sends
 * them. A SET that is refused or undone must leave every cell as it was; the value of a successful
 * SET must be read back.
 */
#include "mibs/mibs.h"
#include "tests/agent/agent_rig.h"
#include "tests/support/fate.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum {
	RUNS = 10,		/* each with a switch and a seed of its own */
	REQUESTS = 100000,	/* of all runs */
	REFUSED_UNSEEN = 4,	/* refusals in the first two phases between two looks at all cells */
};

static struct agent_rig rig;
static struct cells before, now;
static struct mib_transaction transaction;
static struct fate fate;
static struct varbind varbinds[FATE_VARBINDS_MAX];
static struct {
	unsigned gets, nexts, sets, refused, undone, failed, taken;
} did;

/* ---- GET and GETNEXT ---- */

static void
get(void)
{
	struct mib_context context = agent_rig_open(&rig);
	const struct mib_table *table;
	uint32_t oid[MIB_OID_MAX];
	size_t n = fate_name(&fate, oid);
	const struct cell *cell;
	struct mib_value value;
	enum mib_answer answer;

	table = fate_draw(&fate) % 8 ? fate_table_of(oid, n) : NULL;
	if (!table)
		table = mibs_tables[fate_below(&fate, mibs_n_tables)];
	answer = mib_get(table, &context, oid, n, &value);
	cell = cells_find(&before, table, oid, n);
	if (cell || !table->time_filter)
		ck_assert_msg((answer == MIB_FOUND) == !!cell, "%s: answer %d",
		    cells_text(oid, n, &value), answer);
	ck_assert(!cell || cells_same_value(&value, &cell->value));
	ck_assert(answer != MIB_NO_OBJECT || !fate_column_of(table, oid, n) ||
	    fate_table_of(oid, n) != table);
	agent_rig_close(&rig, &context);
	did.gets++;
}

static void
get_next(void)
{
	struct mib_context context = agent_rig_open(&rig);
	const struct mib_table *table;
	uint32_t oid[MIB_OID_MAX], next[MIB_OID_MAX];
	size_t n = fate_name(&fate, oid), n_next;
	const struct cell *cell;
	struct mib_value value;
	enum mib_answer answer;

	table = fate_draw(&fate) % 8 ? fate_table_of(oid, n) : NULL;
	if (!table)
		table = mibs_tables[fate_below(&fate, mibs_n_tables)];
	answer = mib_get_next(table, &context, oid, n, next, &n_next, &value);
	cell = cells_after(&before, table, oid, n);
	ck_assert(answer != MIB_FOUND || mib_oid_compare(next, n_next, oid, n) > 0);
	if (!table->time_filter) {
		ck_assert_msg((answer == MIB_FOUND) == !!cell, "after %s: answer %d",
		    cells_text(oid, n, &value), answer);
		ck_assert(!cell || (mib_oid_compare(next, n_next, cell->oid, cell->n) == 0 &&
		    cells_same_value(&value, &cell->value)));
	}
	agent_rig_close(&rig, &context);
	did.nexts++;
}

/* ---- SET ---- */

static void
look(struct cells *cells)
{
	struct mib_context context = agent_rig_open(&rig);

	cells_walk(mibs_tables, mibs_n_tables, &context, cells);
	agent_rig_close(&rig, &context);
}

static void
expect_same(const char *what)
{
	const struct cell *other = cells_difference(&before, &now);

	ck_assert_msg(!other, "%s: %s%s", what, cells_text(other->oid, other->n, &other->value),
	    now.n > before.n ? " is new" : now.n < before.n ? " is gone" : "");
}

static uint64_t
count_alarms_failed(void)
{
	const struct stat_set *stats = rmon_stats(standard_monitor_rmon(rig.standard_monitor));

	return stat_get(stats, RMON_STAT_ALARMS_GONE) + stat_get(stats, RMON_STAT_READINGS_FAILED);
}

/* A refused request has changed nothing. */
static void
expect_unchanged(void)
{
	agent_rig_step(&rig, 0); /* publishes */
	look(&now);
	expect_same("refused");
}

/* An alarm that reads a deleted bucket is deleted as well, or counts a failed attempt: one more difference. */
static void
expect_taken_back(const char *what, uint64_t alarms_failed)
{
	look(&now);
	cells_leave_out_undone(&now);
	cells_leave_out_undone(&before);
	if (alarms_failed == count_alarms_failed())
		expect_same(what);
	look(&before);
}

static bool
is_error_of_set(enum mib_error error)
{
	return error == MIB_WRONG_TYPE || error == MIB_WRONG_LENGTH || error == MIB_WRONG_VALUE ||
	    error == MIB_NO_CREATION || error == MIB_INCONSISTENT_VALUE ||
	    error == MIB_RESOURCE_UNAVAILABLE || error == MIB_NOT_WRITABLE ||
	    error == MIB_INCONSISTENT_NAME;
}

/* RESERVE1 handles each varbind separately. */
static enum mib_error
reserve(size_t n)
{
	struct mib_context context = agent_rig_open(&rig);
	enum mib_error error = MIB_NO_ERROR;

	mib_transaction_begin(&transaction);
	for (struct varbind *vb = varbinds; vb < varbinds + n && !error; vb++) {
		error = mib_transaction_add(&transaction, vb->table, &context, vb->oid, vb->n,
		    &vb->value);
		ck_assert(error || fate_column_of(vb->table, vb->oid, vb->n)->set_kind);
	}
	agent_rig_close(&rig, &context);
	return error;
}

/* RESERVE2 is called once for each registration of the request. */
static enum mib_error
test(const struct mib_setter *setter)
{
	enum mib_error error = mib_transaction_test(&transaction, setter);
	size_t blamed = 0;

	ck_assert_int_eq(mib_transaction_test(&transaction, setter), error);
	for (size_t i = 0; i < transaction.n; i++)
		blamed += mib_transaction_blames(&transaction, varbinds[i].oid, varbinds[i].n);
	ck_assert_msg(!error == !blamed, "error %d, %zu of %zu varbinds blamed", error, blamed,
	    transaction.n);
	return error;
}

static bool
is_status(const struct mib_table *table, const struct mib_column *column)
{
	return table->creates && strstr(column->name, "Status");
}

/* A value that was set alone must be read back, except a status, which follows its own rules. */
static void
expect_set(const struct varbind *vb)
{
	const struct mib_column *column = fate_column_of(vb->table, vb->oid, vb->n);
	const struct cell *cell = cells_find(&now, vb->table, vb->oid, vb->n);

	if (is_status(vb->table, column))
		return;
	ck_assert_msg(cell && cells_same_value(&cell->value, &vb->value), "%s was set: %s",
	    column->name, cells_text(vb->oid, vb->n, &vb->value));
}

/* ACTION, and then COMMIT or UNDO. */
static void
carry_out(size_t n, const struct mib_setter *setter)
{
	bool fails = fate_draw(&fate) % 8 == 0, undone = fate_draw(&fate) % 4 == 0;
	uint64_t alarms_failed = count_alarms_failed();
	struct cells taken;
	enum mib_error error;

	agent_rig_fail_ports(&rig, fails);
	error = mib_transaction_commit(&transaction, setter);
	agent_rig_fail_ports(&rig, false);
	if (error || undone) {
		ck_assert(!error || (fails && error == MIB_COMMIT_FAILED));
		did.failed += error != 0;
		did.undone += error == 0;
		ck_assert_int_eq(mib_transaction_undo(&transaction, setter), MIB_NO_ERROR);
		ck_assert_int_eq(mib_transaction_undo(&transaction, setter), MIB_NO_ERROR);
		expect_taken_back(error ? "a commit that failed" : "undone", alarms_failed);
		return;
	}
	did.taken++;
	look(&now);
	if (n == 1)
		expect_set(varbinds);
	taken = now, now = before, before = taken;
}

static void
set(void)
{
	const struct mib_setter setter = {&rig, agent_rig_apply};
	size_t n = fate_set(&fate, varbinds);
	enum mib_error error = reserve(n);

	did.sets++;
	if (!error)
		error = test(&setter);
	if (!error && fate_draw(&fate) % 16) {
		carry_out(n, &setter);
		return;
	}
	/* Refused here, or by another subagent whose part the request has too. */
	ck_assert(!error || is_error_of_set(error));
	if (++did.refused % REFUSED_UNSEEN == 0)
		expect_unchanged();
}

START_TEST(refused_requests_leave_no_trace)
{
	int n = suite_effort(REQUESTS) / RUNS;

	memset(&did, 0, sizeof(did));
	fate = (struct fate){.seed = (uint64_t)_i, .cells = &before};
	ck_assert_int_eq(agent_rig_create(&rig), 0);
	look(&before);
	for (int i = 0; i < n; i++) {
		size_t what = fate_below(&fate, 4);

		if (what == 0)
			get();
		else if (what == 1)
			get_next();
		else
			set();
		if (fate_draw(&fate) % 512 == 0) {
			agent_rig_step(&rig, fate_below(&fate, 20) * 1000000);
			look(&before);
		}
	}
	expect_unchanged();
	printf("seed %d: %u GET, %u GETNEXT, %u SET: %u refused, %u undone, %u failed, %u taken; "
	       "%zu cells\n", _i, did.gets, did.nexts, did.sets, did.refused, did.undone, did.failed,
	    did.taken, before.n);
	cells_free(&before);
	cells_free(&now);
	agent_rig_destroy(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("requests");
	TCase *tcase = tcase_create("fuzzed");

	tcase_set_timeout(tcase, 250);
	tcase_add_loop_test(tcase, refused_requests_leave_no_trace, 0, RUNS);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
