/*
 * A hundred thousand requests of a manager who means no good (a million in tests/run --long), by
 * fixed seeds, through the table engine, all modules of mibs/ and the owners of the settings. Each GET and GETNEXT must answer as a walk of the tables says, each SET goes through its
 * phases as a master sends them; what is refused or taken back must leave every cell as it was, and
 * what is taken must read back.
 */
#include "mibs/mibs.h"
#include "tests/agent_rig.h"
#include "tests/cells.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum {
	RUNS = 10,		/* each with a switch and a seed of its own */
	REQUESTS = 100000,	/* of all runs */
	REFUSED_UNSEEN = 4,	/* refusals in the first two phases between two looks at all cells */
	ROW_VARBINDS = 8,
};

struct varbind {
	const struct mib_table *table;
	size_t n;
	uint32_t oid[MIB_OID_MAX];
	struct mib_value value;
};

static struct agent_rig rig;
static struct cells before, now;
static struct mib_transaction transaction;
static uint64_t seed;
static struct varbind varbinds[MIB_SETS_MAX + 4];
static struct {
	unsigned gets, nexts, sets, refused, undone, failed, taken;
} did;

/* ---- what is asked ---- */

/* splitmix64, by Sebastiano Vigna. */
static uint64_t
draw(void)
{
	uint64_t z = (seed += 0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static size_t
below(size_t n)
{
	return (size_t)(draw() % n);
}

static uint32_t
draw_arc(void)
{
	static const uint32_t edges[] = {0, 1, 2, 3, 4, 5, 127, 128, 255, 256, 65535, 65536,
	    INT32_MAX, 1u + INT32_MAX, UINT32_MAX};

	return draw() % 8 ? edges[below(sizeof(edges) / sizeof(edges[0]))] : (uint32_t)draw();
}

static const struct mib_table *
draw_table(void)
{
	return mibs_tables[below(mibs_n_tables)];
}

static size_t
copy_cell_name(uint32_t *oid)
{
	const struct cell *cell = &before.at[below(before.n)];

	memcpy(oid, cell->oid, cell->n * sizeof(*oid));
	return cell->n;
}

static size_t
add_arcs(uint32_t *oid, size_t n, size_t more)
{
	while (more-- > 0 && n < MIB_OID_MAX)
		oid[n++] = draw_arc();
	return n;
}

/* A column of the table, mostly one that is there, of a row that may be. */
static size_t
draw_in_table(const struct mib_table *table, uint32_t *oid)
{
	size_t n = table->entry.n;

	memcpy(oid, table->entry.arcs, n * sizeof(*oid));
	oid[n++] = draw() % 8 ? table->columns[below(table->n_columns)].subid : draw_arc();
	return add_arcs(oid, n, table->scalars ? below(2) : below(MIB_INDEX_ARCS + 2));
}

static size_t
draw_name(uint32_t *oid)
{
	const struct mib_table *table = draw_table();
	size_t n;

	switch (draw() % 8) {
	case 0: /* anywhere */
		return add_arcs(oid, 0, below(MIB_OID_MAX + 1));
	case 1: /* near a table */
		n = below(table->entry.n + 1);
		memcpy(oid, table->entry.arcs, n * sizeof(*oid));
		return add_arcs(oid, n, below(4));
	case 2:
	case 3:
		return draw_in_table(table, oid);
	case 4: /* a cell, but for one arc */
		n = copy_cell_name(oid);
		oid[below(n)] = draw_arc();
		return n;
	case 5: /* a cell's name cut or gone on with */
		n = copy_cell_name(oid);
		return draw() % 2 ? below(n + 1) : add_arcs(oid, n, 1 + below(3));
	default:
		return copy_cell_name(oid);
	}
}

static void
draw_string(const struct mib_column *column, bool fits, struct mib_value *value)
{
	size_t most = column->max < MIB_OCTETS_MAX ? (size_t)column->max : MIB_OCTETS_MAX;

	value->len = below((fits ? most : MIB_OCTETS_MAX) + 1);
	for (size_t i = 0; i < value->len; i++)
		value->octets[i] = (uint8_t)(fits ? ' ' + below(95) : draw());
}

static void
draw_object_id(struct mib_value *value)
{
	static const uint32_t if_index[] = {1, 3, 6, 1, 2, 1, 2, 2, 1, 1};
	uint32_t oid[MIB_OID_MAX];
	size_t n = draw() % 2 ? copy_cell_name(oid) : draw_name(oid);

	if (draw() % 2) { /* what RMON's data sources are */
		memcpy(oid, if_index, sizeof(if_index));
		n = sizeof(if_index) / sizeof(if_index[0]);
		oid[n++] = draw() % 4 ? 1 + (uint32_t)below(AGENT_RIG_PORTS) : draw_arc();
	}
	value->len = n;
	if (n > sizeof(value->arcs) / sizeof(value->arcs[0])) /* as mib_register.c hands it over */
		n = 0;
	memcpy(value->arcs, oid, n * sizeof(*oid));
}

static int64_t
draw_integer(const struct mib_column *column, bool fits)
{
	uint64_t span = (uint64_t)(column->max - column->min) + 1;

	if (!fits)
		return draw() % 2 ? column->max + 1 : (int32_t)draw_arc();
	return draw() % 2 ? column->min + (int64_t)(draw() % span)
			  : draw() % 2 ? column->min : column->max;
}

/* Fit for the column, or of another type, length or range. */
static void
draw_value(const struct mib_column *column, bool fits, struct mib_value *value)
{
	static const struct mib_column any = {.syntax = MIB_STRING, .max = MIB_OCTETS_MAX};

	if (!column || column->max < column->min)
		column = &any;
	memset(value, 0, sizeof(*value));
	value->syntax = column->syntax;
	if (!fits && draw() % 2)
		value->syntax = (enum mib_syntax)below(MIB_COUNTER64 + 1);
	value->integer = (int32_t)draw_integer(column, fits);
	value->number = (uint32_t)value->integer;
	if (value->syntax == MIB_STRING)
		draw_string(column, fits, value);
	else if (value->syntax == MIB_OBJECT_ID)
		draw_object_id(value);
}

/* The registration that Net-SNMP would hand this name to; NULL: none. */
static const struct mib_table *
table_of(const uint32_t *oid, size_t n)
{
	const struct mib_table *longest = NULL;

	for (size_t i = 0; i < mibs_n_tables; i++) {
		const struct mib_oid *entry = &mibs_tables[i]->entry;

		if (n >= entry->n && mib_oid_compare(oid, entry->n, entry->arcs, entry->n) == 0 &&
		    (!longest || longest->entry.n < entry->n))
			longest = mibs_tables[i];
	}
	return longest;
}

static const struct mib_column *
column_of(const struct mib_table *table, const uint32_t *oid, size_t n)
{
	for (size_t i = 0; table && n > table->entry.n && i < table->n_columns; i++) {
		if (table->columns[i].subid == oid[table->entry.n])
			return &table->columns[i];
	}
	return NULL;
}

static void
draw_varbind(struct varbind *vb)
{
	vb->n = draw_name(vb->oid);
	vb->table = table_of(vb->oid, vb->n);
	draw_value(column_of(vb->table, vb->oid, vb->n), draw() % 4, &vb->value);
	if (!vb->table)
		vb->table = draw_table();
}

/* Settings of cells that are there, with values that fit mostly: what a master carries out. */
static size_t
draw_settings(void)
{
	size_t n = 1 + below(ROW_VARBINDS);

	for (struct varbind *vb = varbinds; vb < varbinds + n; vb++) {
		const struct mib_column *column;

		do {
			vb->n = copy_cell_name(vb->oid);
			vb->table = table_of(vb->oid, vb->n);
			column = column_of(vb->table, vb->oid, vb->n);
		} while (!column->set_kind);
		draw_value(column, draw() % 16, &vb->value);
	}
	return n;
}

static bool
is_status(const struct mib_table *table, const struct mib_column *column)
{
	return table->creates && strstr(column->name, "Status");
}

/* Columns of one row of a table whose rows managers make: any, in any order, some twice; or all that
 * can be set, which makes a row if they get along. */
static size_t
draw_row(void)
{
	uint32_t index = draw() % 8 ? 1 + (uint32_t)below(4) : draw_arc();
	bool whole = draw() % 2;
	const struct mib_table *table;
	size_t n = 0;

	do
		table = draw_table();
	while (!table->creates);
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct mib_column *column = &table->columns[whole ? i : below(table->n_columns)];
		struct varbind *vb = &varbinds[n];

		if (whole && !column->set_kind)
			continue;
		vb->table = table;
		vb->n = table->entry.n;
		memcpy(vb->oid, table->entry.arcs, vb->n * sizeof(*vb->oid));
		vb->oid[vb->n++] = column->subid;
		vb->oid[vb->n++] = index;
		draw_value(column, draw() % 32, &vb->value);
		n++;
		if (!whole && draw() % 2)
			break;
	}
	return n;
}

/* ---- GET and GETNEXT ---- */

static void
get(void)
{
	struct mib_context context = agent_rig_open(&rig);
	const struct mib_table *table;
	uint32_t oid[MIB_OID_MAX];
	size_t n = draw_name(oid);
	const struct cell *cell;
	struct mib_value value;
	enum mib_answer answer;

	table = draw() % 8 ? table_of(oid, n) : NULL;
	if (!table)
		table = draw_table();
	answer = mib_get(table, &context, oid, n, &value);
	cell = cells_find(&before, table, oid, n);
	if (cell || !table->time_filter)
		ck_assert_msg((answer == MIB_FOUND) == !!cell, "%s: answer %d",
		    cells_text(oid, n, &value), answer);
	ck_assert(!cell || cells_same_value(&value, &cell->value));
	ck_assert(answer != MIB_NO_OBJECT || !column_of(table, oid, n) || table_of(oid, n) != table);
	agent_rig_close(&rig, &context);
	did.gets++;
}

static void
get_next(void)
{
	struct mib_context context = agent_rig_open(&rig);
	const struct mib_table *table;
	uint32_t oid[MIB_OID_MAX], next[MIB_OID_MAX];
	size_t n = draw_name(oid), n_next;
	const struct cell *cell;
	struct mib_value value;
	enum mib_answer answer;

	table = draw() % 8 ? table_of(oid, n) : NULL;
	if (!table)
		table = draw_table();
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

/* What a SET that was carried out and taken back leaves: a link that went down and up again has
 * changed, and buckets and log entries that went with a row do not come back with it. */
static bool
tells_of_undo(const struct cell *cell)
{
	static const char *const left[] = {"ifLastChange", "ifTableLastChange", "etherHistoryTable",
	    "etherHistoryHighCapacityTable", "logTable"};
	const char *name = column_of(cell->table, cell->oid, cell->n)->name;

	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		if (strcmp(name, left[i]) == 0 || strcmp(cell->table->name, left[i]) == 0)
			return true;
	}
	return false;
}

static void
leave_out(struct cells *cells, bool (*which)(const struct cell *cell))
{
	size_t n = 0;

	for (size_t i = 0; i < cells->n; i++) {
		if (!which(&cells->at[i]))
			cells->at[n++] = cells->at[i];
	}
	cells->n = n;
}

static void
expect_same(const char *what)
{
	const struct cell *other = cells_difference(&before, &now);

	ck_assert_msg(!other, "%s: %s%s", what, cells_text(other->oid, other->n, &other->value),
	    now.n > before.n ? " is new" : now.n < before.n ? " is gone" : "");
}

static uint64_t
count_alarms_gone(void)
{
	return stat_get(rmon_stats(monitor_rmon(rig.monitor)), RMON_STAT_ALARMS_GONE);
}

/* What was refused has changed nothing. */
static void
expect_unchanged(void)
{
	agent_rig_step(&rig, 0); /* publishes */
	look(&now);
	expect_same("refused");
}

/* An alarm that watched one of the buckets is gone with it, and is the one row more to differ. */
static void
expect_taken_back(const char *what, uint64_t alarms_gone)
{
	look(&now);
	leave_out(&now, tells_of_undo);
	leave_out(&before, tells_of_undo);
	if (alarms_gone == count_alarms_gone())
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

/* RESERVE1: each varbind by itself. */
static enum mib_error
reserve(size_t n)
{
	struct mib_context context = agent_rig_open(&rig);
	enum mib_error error = MIB_NO_ERROR;

	mib_transaction_begin(&transaction);
	for (struct varbind *vb = varbinds; vb < varbinds + n && !error; vb++) {
		error = mib_transaction_add(&transaction, vb->table, &context, vb->oid, vb->n,
		    &vb->value);
		ck_assert(error || column_of(vb->table, vb->oid, vb->n)->set_kind);
	}
	agent_rig_close(&rig, &context);
	return error;
}

/* RESERVE2, which comes once for each registration of the request. */
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

/* A value that was set alone is what is read now; a status leads a life of its own. */
static void
expect_set(const struct varbind *vb)
{
	const struct mib_column *column = column_of(vb->table, vb->oid, vb->n);
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
	bool fails = draw() % 8 == 0, undone = draw() % 4 == 0;
	uint64_t alarms_gone = count_alarms_gone();
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
		expect_taken_back(error ? "a commit that failed" : "undone", alarms_gone);
		return;
	}
	did.taken++;
	look(&now);
	if (n == 1)
		expect_set(varbinds);
	taken = now, now = before, before = taken;
}

static size_t
draw_set(void)
{
	size_t n = draw() % 4096 == 0 ? MIB_SETS_MAX - 4 + below(8) : 1 + below(draw() % 4 ? 1 : 4);

	switch (draw() % 4) {
	case 0:
		return draw_row();
	case 1:
		return draw_settings();
	}
	for (size_t i = 0; i < n; i++)
		draw_varbind(&varbinds[i]);
	return n;
}

static void
set(void)
{
	const struct mib_setter setter = {&rig, agent_rig_apply};
	size_t n = draw_set();
	enum mib_error error = reserve(n);

	did.sets++;
	if (!error)
		error = test(&setter);
	if (!error && draw() % 16) {
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
	seed = (uint64_t)_i;
	ck_assert_int_eq(agent_rig_create(&rig), 0);
	look(&before);
	for (int i = 0; i < n; i++) {
		size_t what = below(4);

		if (what == 0)
			get();
		else if (what == 1)
			get_next();
		else
			set();
		if (draw() % 512 == 0) {
			agent_rig_step(&rig, below(20) * 1000000);
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
