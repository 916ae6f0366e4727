#include "agent/state_rows.h"

#include "common/log.h"
#include "common/text.h"
#include "mibs/mib_snapshot.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARCS_OCTETS = 12 * MIB_OID_ARCS };

/* A snapshot of nothing: the engine's checks of a SET need one. */
static const struct mib_snapshot no_snapshot;
static const struct mib_context no_context = {.snapshot = &no_snapshot};

void
state_rows_free(struct state_rows *rows)
{
	free(rows->unmade);
	rows->unmade = NULL;
	rows->n_unmade = 0;
}

void
state_rows_print_arcs(const uint32_t *arcs, size_t n, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		text_add(text, size, "%s%" PRIu32, i ? "." : "", arcs[i]);
}

bool
state_rows_parse_arcs(const char *text, uint32_t *arcs, size_t max, size_t *n)
{
	char *end;

	for (*n = 0; *text != '\0'; text = end + (*end == '.')) {
		unsigned long arc = strtoul(text, &end, 10);

		if (end == text || !isdigit((unsigned char)*text) || arc > UINT32_MAX || *n == max)
			return false;
		arcs[(*n)++] = (uint32_t)arc;
	}
	return true;
}

/* ---- what changed ---- */

static bool
same_name(const struct state_row_name *a, const struct state_row_name *b)
{
	return a->table == b->table && a->n_index == b->n_index &&
	    memcmp(a->index, b->index, a->n_index * sizeof(a->index[0])) == 0;
}

static const struct state_row_name *
state_rows_find_name(const struct state_row_name *names, size_t n, const struct state_row_name *name)
{
	for (size_t i = 0; i < n; i++) {
		if (same_name(&names[i], name))
			return &names[i];
	}
	return NULL;
}

void
state_rows_changed(struct state_rows *rows, const struct mib_set *set)
{
	struct state_row_name name = {.table = set->table, .n_index = set->n_index};
	size_t left;
	struct state_row_name *unmade;

	memcpy(name.index, set->index, set->n_index * sizeof(name.index[0]));
	unmade = (struct state_row_name *)(uintptr_t)state_rows_find_name(rows->unmade, rows->n_unmade, &name);
	if (unmade) { /* a manager has replaced or deleted the row that waits in the file */
		left = rows->n_unmade - (size_t)(unmade - rows->unmade) - 1;
		memmove(unmade, unmade + 1, left * sizeof(*unmade));
		rows->n_unmade--;
	}
	if (rows->all || state_rows_find_name(rows->changed, rows->n_changed, &name))
		return;
	if (rows->n_changed == STATE_ROWS_CHANGED_MAX)
		rows->all = true;
	else
		rows->changed[rows->n_changed++] = name;
}

bool
state_rows_wait(const struct state_rows *rows)
{
	return rows->all || rows->n_changed > 0;
}

void
state_rows_written(struct state_rows *rows)
{
	rows->all = false;
	rows->n_changed = 0;
}

/* ---- writing ---- */

static int
put_cell(struct state_file *file, const struct mib_table *table, const char *index,
    const struct mib_column *column, const void *row)
{
	int64_t subid = column->subid;
	char arcs[ARCS_OCTETS];
	struct mib_value value;

	mib_row_get(column, row, &value);
	switch (column->syntax) {
	case MIB_OBJECT_ID:
		state_rows_print_arcs(value.arcs, value.len, arcs, sizeof(arcs));
		return state_file_put(file, STATE_PUT_CELL, "ttit", table->name, index, subid, arcs);
	case MIB_STRING:
		return state_file_put(file, STATE_PUT_CELL, "ttib", table->name, index, subid,
		    value.octets, value.len);
	case MIB_GAUGE32:
		return state_file_put(file, STATE_PUT_CELL, "ttii", table->name, index, subid, (int64_t)value.number);
	default:
		return state_file_put(file, STATE_PUT_CELL, "ttii", table->name, index, subid, value.integer);
	}
}

/* Replaces what the file has of the row; row NULL: deletes it. */
static int
state_rows_put_row(struct state_file *file, const struct state_row_name *name, const void *row)
{
	const struct mib_table *table = name->table;
	char index[STATE_ROW_INDEX_OCTETS];
	int rc;

	state_rows_print_arcs(name->index, name->n_index, index, sizeof(index));
	rc = state_file_put(file, STATE_DELETE_ROW, "tt", table->name, index);
	for (size_t i = 0; row && i < table->n_columns && rc == 0; i++) {
		if (table->columns[i].set_kind != 0)
			rc = put_cell(file, table, index, &table->columns[i], row);
	}
	return rc;
}

static struct managed_table *
managed_of(const struct state_rows *rows, const struct mib_table *table)
{
	for (size_t i = 0; i < rows->n_managed; i++) {
		if (managed_declaration(rows->managed[i]) == table)
			return rows->managed[i];
	}
	return NULL;
}

static int
write_changed(const struct state_rows *rows, struct state_file *file)
{
	int rc = 0;

	for (size_t i = 0; i < rows->n_changed && rc == 0; i++) {
		const struct state_row_name *name = &rows->changed[i];
		struct managed_table *managed = managed_of(rows, name->table);
		void *row = managed ? managed_find(managed, name->index, name->n_index) : NULL;

		rc = state_rows_put_row(file, name, row && managed_is_kept(managed, row) ? row : NULL);
	}
	return rc;
}

struct names {
	const struct mib_table *table;
	struct state_row_name *items;
	size_t n;
};

static int
state_rows_take_name(void *ctx, sqlite3_stmt *row)
{
	const char *index = (const char *)sqlite3_column_text(row, 0);
	struct names *names = ctx;
	struct state_row_name *grown;

	/* In steps of 64. */
	if (names->n % 64 == 0) {
		grown = reallocarray(names->items, names->n + 64, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		names->items = grown;
	}
	names->items[names->n].table = names->table;
	if (index && state_rows_parse_arcs(index, names->items[names->n].index, MIB_INDEX_ARCS,
			 &names->items[names->n].n_index))
		names->n++;
	return 0;
}

static int
delete_gone(const struct state_rows *rows, struct state_file *file, struct managed_table *managed)
{
	struct names names = {.table = managed_declaration(managed)};
	int rc = state_file_read(file, "SELECT DISTINCT row FROM cell WHERE tab = ?",
	    names.table->name, state_rows_take_name, &names);

	for (size_t i = 0; i < names.n && rc == 0; i++) {
		const struct state_row_name *name = &names.items[i];
		const void *row = managed_find(managed, name->index, name->n_index);

		if ((!row || !managed_is_kept(managed, row)) &&
		    !state_rows_find_name(rows->unmade, rows->n_unmade, name))
			rc = state_rows_put_row(file, name, NULL);
	}
	free(names.items);
	return rc;
}

static int
state_rows_write_table(struct state_file *file, struct managed_table *managed)
{
	const struct mib_table *table = managed_declaration(managed);
	void *first;
	size_t n = managed_rows(managed, &first);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		const void *row = (uint8_t *)first + i * table->row_size;
		struct state_row_name name = {.table = table};

		name.n_index = mib_row_index(table, row, name.index);
		if (managed_is_kept(managed, row))
			rc = state_rows_put_row(file, &name, row);
	}
	return rc;
}

int
state_rows_write(const struct state_rows *rows, struct state_file *file)
{
	int rc = 0;

	if (!rows->all)
		return write_changed(rows, file);
	for (size_t i = 0; i < rows->n_managed && rc == 0; i++) {
		rc = delete_gone(rows, file, rows->managed[i]);
		if (rc == 0)
			rc = state_rows_write_table(file, rows->managed[i]);
	}
	return rc;
}

/* ---- restoring ---- */

struct restoring {
	struct state_rows *rows;
	struct managed_table *managed;
	char index[STATE_ROW_INDEX_OCTETS]; /* of the row that is being read */
	struct mib_set *sets;
	size_t n_sets;
	bool bad;
	bool again; /* a cell of it fails the checks */
};

static const struct mib_column *
find_column(const struct mib_table *table, uint32_t subid)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		if (table->columns[i].subid == subid && table->columns[i].set_kind != 0)
			return &table->columns[i];
	}
	return NULL;
}

/* Reads a cell as the value that a SET of its column has. */
static bool
state_rows_read_value(const struct mib_column *column, sqlite3_stmt *row, int at, struct mib_value *value)
{
	const char *text;
	size_t len;

	memset(value, 0, sizeof(*value));
	value->syntax = column->syntax;
	switch (column->syntax) {
	case MIB_OBJECT_ID:
		text = (const char *)sqlite3_column_text(row, at);
		return text && state_rows_parse_arcs(text, value->arcs, MIB_OID_ARCS, &value->len);
	case MIB_STRING:
		len = (size_t)sqlite3_column_bytes(row, at);
		if (len > MIB_OCTETS_MAX)
			return false;
		if (len > 0)
			memcpy(value->octets, sqlite3_column_blob(row, at), len);
		value->len = len;
		return true;
	case MIB_GAUGE32:
		value->number = (uint64_t)sqlite3_column_int64(row, at);
		return true;
	default:
		value->integer = sqlite3_column_int64(row, at);
		return true;
	}
}

/* One column through the checks of a SET. */
static bool
make_set(const struct restoring *r, const struct mib_column *column, const struct mib_value *value,
    struct mib_set *set)
{
	const struct mib_table *table = managed_declaration(r->managed);
	uint32_t oid[MIB_OID_ARCS + 1 + MIB_INDEX_ARCS];
	size_t n = table->entry.n, n_index;
	struct mib_set old;

	memcpy(oid, table->entry.arcs, n * sizeof(*oid));
	oid[n++] = column->subid;
	return state_rows_parse_arcs(r->index, oid + n, MIB_INDEX_ARCS, &n_index) &&
	    mib_check_set(table, &no_context, oid, n + n_index, value, set, &old) == MIB_NO_ERROR;
}

static void
remember_unmade(struct restoring *r)
{
	struct state_rows *rows = r->rows;
	struct state_row_name *grown =
	    reallocarray(rows->unmade, rows->n_unmade + 1, sizeof(*grown));
	struct state_row_name *name;

	if (!grown)
		return;
	rows->unmade = grown;
	name = &grown[rows->n_unmade];
	name->table = managed_declaration(r->managed);
	if (state_rows_parse_arcs(r->index, name->index, MIB_INDEX_ARCS, &name->n_index))
		rows->n_unmade++;
}

static void
end_row(struct restoring *r)
{
	size_t failed = 0;
	bool there = r->again && r->n_sets > 0 &&
	    managed_find(r->managed, r->sets[0].index, r->sets[0].n_index) != NULL;
	int rc = r->bad ? -EINVAL : 0;

	if (rc == 0 && r->n_sets > 0 && !there)
		rc = managed_make(r->managed, r->sets, r->n_sets, &failed);
	if (rc < 0 && !r->again)
		log_warn("state", "row %s of %s cannot be made now (%s); it stays in the file and is "
		    "tried again when a port comes, and at the next start", r->index,
		    managed_declaration(r->managed)->name, strerror(-rc));
	if (rc < 0)
		remember_unmade(r);
	else if (r->again && r->n_sets > 0 && !there)
		log_info("state", "row %s of %s, which waited for its port, was made", r->index,
		    managed_declaration(r->managed)->name);
	r->n_sets = 0;
	r->bad = false;
}

static int
take_cell(void *ctx, sqlite3_stmt *row)
{
	struct restoring *r = ctx;
	const struct mib_table *table = managed_declaration(r->managed);
	const char *index = (const char *)sqlite3_column_text(row, 0);
	const struct mib_column *column = find_column(table, (uint32_t)sqlite3_column_int64(row, 1));
	struct mib_value value;

	if (!index || strlen(index) >= sizeof(r->index))
		return 0;
	if (strcmp(index, r->index) != 0) {
		end_row(r);
		strcpy(r->index, index);
	}
	if (column && r->n_sets < table->n_columns && state_rows_read_value(column, row, 2, &value) &&
	    make_set(r, column, &value, &r->sets[r->n_sets]))
		r->n_sets++;
	else
		r->bad = true;
	return 0;
}

size_t
state_rows_forget_unmade(struct state_rows *rows, const struct managed_table *managed)
{
	const struct mib_table *table = managed_declaration(managed);
	size_t n = 0, n_before = rows->n_unmade;

	for (size_t i = 0; i < rows->n_unmade; i++)
		if (rows->unmade[i].table != table)
			rows->unmade[n++] = rows->unmade[i];
	rows->n_unmade = n;
	return n_before - n;
}

void
state_rows_restore(struct state_rows *rows, struct state_file *file, struct managed_table *managed, bool again)
{
	const struct mib_table *table = managed_declaration(managed);
	struct restoring r = {.rows = rows, .managed = managed, .again = again};
	int rc = -ENOMEM;

	r.sets = calloc(table->n_columns, sizeof(*r.sets));
	if (r.sets)
		rc = state_file_read(file,
		    "SELECT row, subid, value FROM cell WHERE tab = ? ORDER BY row, subid",
		    table->name, take_cell, &r);
	if (rc == 0)
		end_row(&r);
	else
		log_warn("state", "the rows of %s cannot be read: %s", table->name,
		    rc == -ENOMEM ? strerror(ENOMEM) : state_file_error(file));
	free(r.sets);
}
