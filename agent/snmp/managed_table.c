#include "agent/snmp/managed_table.h"

#include "common/sorted.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Rows in one block, sorted by index. */
struct rows {
	uint8_t *at;
	size_t n;
};

struct managed_table {
	const struct mib_table *table;
	const struct managed_type *type;
	void *ctx;
	struct rows rows;
	struct rows before; /* the rows before the latest commit, for undo; valid if can_undo */
	bool can_undo;
};

static uint8_t *
managed_row_at(const struct managed_table *m, const struct rows *rows, size_t i)
{
	return rows->at + i * m->table->row_size;
}

static uint8_t *
managed_status_of(const struct managed_table *m, const void *row)
{
	return (uint8_t *)(uintptr_t)row + m->type->status_offset;
}

struct by_index {
	const struct managed_table *table;
	const struct rows *rows;
	const uint32_t *arcs;
	size_t n;
};

static int
order_index(const void *ctx, size_t i)
{
	const struct by_index *by = ctx;
	uint32_t arcs[MIB_INDEX_ARCS];
	size_t n = mib_row_index(by->table->table, managed_row_at(by->table, by->rows, i), arcs);

	return mib_oid_compare(arcs, n, by->arcs, by->n);
}

static size_t
locate_managed_row(const struct managed_table *m, const struct rows *rows, const uint32_t *index, size_t n,
    bool *found)
{
	const struct by_index by = {m, rows, index, n};

	return sorted_position(rows->n, order_index, &by, found);
}

static void *
find_managed_row(const struct managed_table *m, const struct rows *rows, const uint32_t *index, size_t n)
{
	bool found;
	size_t i = locate_managed_row(m, rows, index, n, &found);

	return found ? managed_row_at(m, rows, i) : NULL;
}

/* Inserts a zeroed row at position i. */
static int
open_row(const struct managed_table *m, struct rows *rows, size_t i)
{
	size_t size = m->table->row_size;
	uint8_t *at;

	assert(i <= rows->n && rows->n <= m->type->max_rows);
	if (rows->n == m->type->max_rows)
		return -ENOSPC;
	at = realloc(rows->at, (rows->n + 1) * size);
	if (!at)
		return -ENOMEM;
	rows->at = at;
	memmove(at + (i + 1) * size, at + i * size, (rows->n - i) * size);
	memset(at + i * size, 0, size);
	rows->n++;
	return 0;
}

static void
close_row(const struct managed_table *m, struct rows *rows, size_t i)
{
	size_t size = m->table->row_size;

	assert(i < rows->n);
	memmove(rows->at + i * size, rows->at + (i + 1) * size, (rows->n - i - 1) * size);
	rows->n--;
}

static int
copy_rows(const struct managed_table *m, const struct rows *from, struct rows *to)
{
	size_t octets = from->n * m->table->row_size;

	to->n = from->n;
	to->at = malloc(octets + 1);
	if (!to->at)
		return -ENOMEM;
	if (octets > 0)
		memcpy(to->at, from->at, octets);
	return 0;
}

/* ---- the two state machines ---- */

static bool
is_working(const struct managed_table *m, uint8_t status)
{
	switch (m->type->kind) {
	case MANAGED_ENTRY_STATUS:
		return status == ENTRY_VALID;
	case MANAGED_ROW_STATUS:
		return status == ROW_ACTIVE;
	default:
		return status == STATIC_PERMANENT || status == STATIC_DELETE_ON_RESET;
	}
}

static bool
creates_row(const struct managed_table *m, int64_t status)
{
	switch (m->type->kind) {
	case MANAGED_ENTRY_STATUS:
		return status == ENTRY_CREATE_REQUEST;
	case MANAGED_ROW_STATUS:
		return status == ROW_CREATE_AND_GO || status == ROW_CREATE_AND_WAIT;
	default:
		return status != STATIC_INVALID;
	}
}

static bool
deletes_row(const struct managed_table *m, int64_t status)
{
	static const int64_t deleting[] = {[MANAGED_ENTRY_STATUS] = ENTRY_INVALID,
		[MANAGED_ROW_STATUS] = ROW_DESTROY, [MANAGED_STATIC_STATUS] = STATIC_INVALID};

	return status == deleting[m->type->kind];
}

/* The status of a row that was just created. */
static uint8_t
first_status(const struct managed_table *m)
{
	static const uint8_t first[] = {[MANAGED_ENTRY_STATUS] = ENTRY_UNDER_CREATION,
		[MANAGED_ROW_STATUS] = ROW_NOT_READY, [MANAGED_STATIC_STATUS] = STATIC_OTHER};

	return first[m->type->kind];
}

static bool
is_status(const struct managed_table *m, const struct mib_set *set)
{
	return set->column->subid == m->type->status_column;
}

static int
create_row(const struct managed_table *m, struct rows *rows, const struct mib_set *set)
{
	bool found;
	size_t i = locate_managed_row(m, rows, set->index, set->n_index, &found);
	void *row;
	int rc;

	if (found)
		return m->type->kind == MANAGED_STATIC_STATUS ? 0 : -EBUSY;
	rc = open_row(m, rows, i);
	if (rc < 0)
		return rc;
	row = managed_row_at(m, rows, i);
	m->type->defaults(m->ctx, row);
	mib_row_set_index(m->table, row, set->index);
	*managed_status_of(m, row) = first_status(m);
	return 0;
}

/* A row must exist to be written, and an active row cannot be changed (RFC 2819; the descriptions of
 * our columns under RowStatus demand the same). */
static int
managed_write_column(const struct managed_table *m, struct rows *rows, const struct mib_set *set)
{
	void *row = find_managed_row(m, rows, set->index, set->n_index);

	if (!row)
		return -ENOENT;
	if (m->type->kind != MANAGED_STATIC_STATUS && is_working(m, *managed_status_of(m, row)))
		return -EBUSY;
	mib_row_set(row, set);
	return 0;
}

static int
put_to_work(const struct managed_table *m, void *row, uint8_t status)
{
	int rc = m->type->ready(m->ctx, row);

	if (rc == 0)
		*managed_status_of(m, row) = status;
	else if (m->type->explain)
		m->type->explain(m->ctx, row);
	return rc;
}

/* A row out of service is notReady as long as it is incomplete. */
static void
take_out_of_service(const struct managed_table *m, void *row)
{
	*managed_status_of(m, row) =
	    m->type->ready(m->ctx, row) == 0 ? ROW_NOT_IN_SERVICE : ROW_NOT_READY;
}

static int
change_entry_status(const struct managed_table *m, void *row, int64_t status)
{
	switch (status) {
	case ENTRY_VALID:
		return put_to_work(m, row, ENTRY_VALID);
	case ENTRY_UNDER_CREATION:
		*managed_status_of(m, row) = ENTRY_UNDER_CREATION;
		return 0;
	default: /* createRequest: the row exists already */
		return 0;
	}
}

static int
change_row_status(const struct managed_table *m, void *row, int64_t status)
{
	switch (status) {
	case ROW_ACTIVE:
	case ROW_CREATE_AND_GO:
		return put_to_work(m, row, ROW_ACTIVE);
	case ROW_NOT_IN_SERVICE:
		if (m->type->ready(m->ctx, row) < 0)
			return -EBUSY;
		*managed_status_of(m, row) = ROW_NOT_IN_SERVICE;
		return 0;
	case ROW_CREATE_AND_WAIT:
		take_out_of_service(m, row);
		return 0;
	default: /* notReady is never set by a manager */
		return -EINVAL;
	}
}

static int
change_status(const struct managed_table *m, struct rows *rows, const struct mib_set *set)
{
	bool found;
	size_t i = locate_managed_row(m, rows, set->index, set->n_index, &found);

	if (deletes_row(m, set->number)) {
		if (found) /* deleting a row that does not exist succeeds */
			close_row(m, rows, i);
		return 0;
	}
	if (!found)
		return -EBUSY;
	if (m->type->kind == MANAGED_ENTRY_STATUS)
		return change_entry_status(m, managed_row_at(m, rows, i), set->number);
	if (m->type->kind == MANAGED_ROW_STATUS)
		return change_row_status(m, managed_row_at(m, rows, i), set->number);
	return put_to_work(m, managed_row_at(m, rows, i), (uint8_t)set->number);
}

/* A status that deactivates the row takes effect before the columns of the same request. */
static int
stop_work(const struct managed_table *m, struct rows *rows, const struct mib_set *set)
{
	static const int64_t stopping[] = {[MANAGED_ENTRY_STATUS] = ENTRY_UNDER_CREATION,
		[MANAGED_ROW_STATUS] = ROW_NOT_IN_SERVICE, [MANAGED_STATIC_STATUS] = -1};
	void *row = find_managed_row(m, rows, set->index, set->n_index);

	if (row && set->number == stopping[m->type->kind])
		*managed_status_of(m, row) = (uint8_t)set->number;
	return 0;
}

/* After columns were written: a waiting row may have become complete, and a row that stays active must
 * still be acceptable. */
static int
settle_row(const struct managed_table *m, struct rows *rows, const struct mib_set *set)
{
	void *row = find_managed_row(m, rows, set->index, set->n_index);

	if (!row)
		return 0;
	if (m->type->kind == MANAGED_ROW_STATUS && !is_working(m, *managed_status_of(m, row)))
		take_out_of_service(m, row);
	return m->type->kind == MANAGED_STATIC_STATUS ? m->type->ready(m->ctx, row) : 0;
}

/* ---- one request ---- */

/* The varbinds of a request have no order (RFC 3416). So rows are created first, then filled, and
 * activated last. */
enum step { STEP_CREATE, STEP_STOP, STEP_WRITE, STEP_STATUS, STEP_SETTLE, N_STEPS };

static int
one_step(const struct managed_table *m, struct rows *rows, const struct mib_set *set, enum step step)
{
	bool status = is_status(m, set);

	if (step == STEP_CREATE && status && creates_row(m, set->number))
		return create_row(m, rows, set);
	if (step == STEP_STOP && status)
		return stop_work(m, rows, set);
	if (step == STEP_WRITE && !status)
		return managed_write_column(m, rows, set);
	if (step == STEP_STATUS && status)
		return change_status(m, rows, set);
	return step == STEP_SETTLE ? settle_row(m, rows, set) : 0;
}

static int
managed_work_on(const struct managed_table *m, struct rows *rows, const struct mib_set *sets, size_t n,
    size_t *failed)
{
	int rc = 0;

	for (int step = 0; step < N_STEPS; step++) {
		for (size_t i = 0; i < n; i++) {
			if (sets[i].table != m->table)
				continue;
			rc = one_step(m, rows, &sets[i], (enum step)step);
			*failed = i;
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int
apply_managed_rows(const struct managed_table *m, const struct rows *rows)
{
	return m->type->apply ? m->type->apply(m->ctx, rows->at, rows->n) : 0;
}

static int
undo_commit(struct managed_table *m)
{
	struct rows after = m->rows;
	int rc = m->can_undo ? apply_managed_rows(m, &m->before) : 0;

	if (rc < 0 || !m->can_undo)
		return rc;
	m->rows = m->before;
	m->before = after;
	m->can_undo = false;
	return 0;
}

static bool
is_concerned(const struct managed_table *m, const struct mib_set *sets, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (sets[i].table == m->table)
			return true;
	}
	return false;
}

int
managed_apply(struct managed_table *m, const struct mib_set *sets, size_t n, enum mib_phase phase, size_t *failed)
{
	struct rows trial;
	int rc;

	if (!is_concerned(m, sets, n))
		return 0;
	if (phase == MIB_PHASE_UNDO)
		return undo_commit(m);
	m->can_undo = false; /* the request before this one has ended */
	rc = copy_rows(m, &m->rows, &trial);
	if (rc < 0)
		return rc;
	rc = managed_work_on(m, &trial, sets, n, failed);
	if (rc == 0 && phase == MIB_PHASE_COMMIT) {
		rc = apply_managed_rows(m, &trial);
		*failed = 0;
	}
	if (rc < 0 || phase == MIB_PHASE_TEST) {
		free(trial.at);
		return rc;
	}
	free(m->before.at);
	m->before = m->rows;
	m->rows = trial;
	m->can_undo = true;
	return 0;
}

/* ---- the owner ---- */

int
managed_create(const struct mib_table *table, const struct managed_type *type, void *ctx,
    struct managed_table **managed)
{
	struct managed_table *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->table = table;
	m->type = type;
	m->ctx = ctx;
	*managed = m;
	return 0;
}

void
managed_destroy(struct managed_table *managed)
{
	if (!managed)
		return;
	free(managed->rows.at);
	free(managed->before.at);
	free(managed);
}

const struct mib_table *
managed_declaration(const struct managed_table *managed)
{
	return managed->table;
}

size_t
managed_rows(struct managed_table *managed, void **first)
{
	*first = managed->rows.at;
	return managed->rows.n;
}

void *
managed_find(struct managed_table *managed, const uint32_t *index, size_t n)
{
	return find_managed_row(managed, &managed->rows, index, n);
}

bool
managed_is_active(const struct managed_table *managed, const void *row)
{
	return is_working(managed, *managed_status_of(managed, row));
}

bool
managed_is_kept(const struct managed_table *managed, const void *row)
{
	if (managed->type->kept)
		return managed->type->kept(row);
	return managed->type->kind != MANAGED_STATIC_STATUS ||
	    *managed_status_of(managed, row) != STATIC_DELETE_ON_RESET;
}

static int
make_row(const struct managed_table *m, struct rows *rows, const struct mib_set *sets, size_t n, size_t *failed)
{
	int rc = create_row(m, rows, &sets[0]);

	for (size_t i = 0; i < n && rc == 0; i++) {
		*failed = i;
		if (!is_status(m, &sets[i]))
			rc = managed_write_column(m, rows, &sets[i]);
	}
	for (size_t i = 0; i < n && rc == 0; i++) {
		void *row = find_managed_row(m, rows, sets[i].index, sets[i].n_index);

		*failed = i;
		if (is_status(m, &sets[i]) && is_working(m, (uint8_t)sets[i].number))
			rc = put_to_work(m, row, (uint8_t)sets[i].number);
		else if (is_status(m, &sets[i]))
			*managed_status_of(m, row) = (uint8_t)sets[i].number;
	}
	return rc;
}

int
managed_make(struct managed_table *managed, const struct mib_set *sets, size_t n, size_t *failed)
{
	struct rows *rows = &managed->rows;
	bool found = true;
	size_t i = 0;
	int rc = -EINVAL;

	if (n > 0)
		(void)locate_managed_row(managed, rows, sets[0].index, sets[0].n_index, &found);
	if (n == 0 || found)
		return n > 0 ? -EBUSY : rc;
	managed->can_undo = false;
	rc = make_row(managed, rows, sets, n, failed);
	if (rc == 0)
		rc = apply_managed_rows(managed, rows);
	if (rc < 0)
		i = locate_managed_row(managed, rows, sets[0].index, sets[0].n_index, &found);
	if (rc < 0 && found)
		close_row(managed, rows, i);
	return rc;
}

int
managed_add(struct managed_table *managed, const void *row)
{
	uint32_t index[MIB_INDEX_ARCS];
	size_t n = mib_row_index(managed->table, row, index), i;
	bool found;
	int rc;

	i = locate_managed_row(managed, &managed->rows, index, n, &found);
	if (found)
		return -EEXIST;
	rc = open_row(managed, &managed->rows, i);
	if (rc == 0)
		memcpy(managed_row_at(managed, &managed->rows, i), row, managed->table->row_size);
	return rc;
}

void
managed_remove(struct managed_table *managed, const void *row)
{
	uint32_t index[MIB_INDEX_ARCS];
	size_t n = mib_row_index(managed->table, row, index), i;
	bool found;

	i = locate_managed_row(managed, &managed->rows, index, n, &found);
	if (found)
		close_row(managed, &managed->rows, i);
}
