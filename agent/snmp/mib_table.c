#include "agent/snmp/mib_table.h"

#include "common/log.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *const syntax_names[] = {
	[MIB_INTEGER] = "Integer32",
	[MIB_STRING] = "OCTET STRING",
	[MIB_OBJECT_ID] = "OBJECT IDENTIFIER",
	[MIB_COUNTER32] = "Counter32",
	[MIB_GAUGE32] = "Gauge32",
	[MIB_TIMETICKS] = "TimeTicks",
	[MIB_COUNTER64] = "Counter64",
};

const char *
mib_syntax_name(enum mib_syntax syntax)
{
	return syntax_names[syntax];
}

int
mib_oid_compare(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b)
{
	for (size_t i = 0; i < n_a && i < n_b; i++) {
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return n_a < n_b ? -1 : n_a > n_b;
}

void
mib_put_octets(struct mib_value *value, const void *octets, size_t len)
{
	value->len = len < sizeof(value->octets) ? len : sizeof(value->octets);
	if (value->len > 0)
		memcpy(value->octets, octets, value->len);
}

void
mib_put_text(struct mib_value *value, const char *text)
{
	mib_put_octets(value, text, strlen(text));
}

uint32_t
mib_time_stamp(const struct mib_context *c, uint64_t stamp_us)
{
	uint64_t at_us = stamp_us < c->mono_us ? stamp_us : c->mono_us; /* may be later if just published */
	int64_t since_us = (int64_t)at_us - c->uptime_start_us;

	return stamp_us == 0 || since_us < 0 ? 0 : (uint32_t)(since_us / 10000);
}

/* ---- rows ---- */

struct rows {
	const struct mib_table *table;
	const uint8_t *first;
	size_t n;
};

static struct rows
mib_table_rows(const struct mib_table *table, const struct mib_context *context)
{
	const void *first = NULL;
	size_t n = table->rows(context, &first);

	return (struct rows){.table = table, .first = first, .n = n};
}

static const void *
mib_table_row_at(const struct rows *rows, size_t i)
{
	const void *at = rows->first + i * rows->table->row_size;

	assert(i < rows->n);
	return rows->table->by_pointer ? *(const void *const *)at : at;
}

static size_t
put_index_part(const struct mib_index *index, const uint8_t *row, uint32_t *arcs)
{
	const uint8_t *at = row + index->offset;
	uint16_t u16;

	switch (index->kind) {
	case MIB_INDEX_U32:
		memcpy(arcs, at, sizeof(*arcs));
		return 1;
	case MIB_INDEX_U16:
		memcpy(&u16, at, sizeof(u16));
		arcs[0] = u16;
		return 1;
	case MIB_INDEX_ZERO:
		arcs[0] = 0;
		return 1;
	case MIB_INDEX_MAC:
		for (size_t i = 0; i < 6; i++)
			arcs[i] = at[i];
		return 6;
	case MIB_INDEX_NONE:
		break;
	}
	return 0;
}

size_t
mib_row_index(const struct mib_table *table, const void *row, uint32_t *arcs)
{
	size_t n = 0;

	if (table->scalars) {
		arcs[0] = 0;
		return 1;
	}
	for (size_t i = 0; i < MIB_INDEX_PARTS; i++)
		n += put_index_part(&table->index[i], row, arcs + n);
	return n;
}

static size_t
set_index_part(const struct mib_index *index, uint8_t *row, const uint32_t *arcs)
{
	uint8_t *at = row + index->offset;
	uint16_t u16 = (uint16_t)arcs[0];

	switch (index->kind) {
	case MIB_INDEX_U32:
		memcpy(at, arcs, sizeof(*arcs));
		return 1;
	case MIB_INDEX_U16:
		memcpy(at, &u16, sizeof(u16));
		return 1;
	case MIB_INDEX_ZERO:
		return 1;
	case MIB_INDEX_MAC:
		for (size_t i = 0; i < 6; i++)
			at[i] = (uint8_t)arcs[i];
		return 6;
	case MIB_INDEX_NONE:
		break;
	}
	return 0;
}

size_t
mib_row_set_index(const struct mib_table *table, void *row, const uint32_t *arcs)
{
	size_t n = 0;

	for (size_t i = 0; i < MIB_INDEX_PARTS; i++)
		n += set_index_part(&table->index[i], row, arcs + n);
	return n;
}

/* The number of rows whose index is below key, or below or equal to it. A key may be shorter or longer
 * than an index: it then sorts between rows. */
static size_t
rows_before(const struct rows *rows, const uint32_t *key, size_t n_key, bool or_equal)
{
	size_t low = 0, high = rows->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint32_t arcs[MIB_INDEX_ARCS];
		size_t n = mib_row_index(rows->table, mib_table_row_at(rows, middle), arcs);
		int order = mib_oid_compare(arcs, n, key, n_key);

		if (order < 0 || (or_equal && order == 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const void *
mib_table_find_row(const struct rows *rows, const uint32_t *key, size_t n_key)
{
	size_t i = rows_before(rows, key, n_key, false);
	uint32_t arcs[MIB_INDEX_ARCS];
	size_t n;

	if (i == rows->n)
		return NULL;
	n = mib_row_index(rows->table, mib_table_row_at(rows, i), arcs);
	return mib_oid_compare(arcs, n, key, n_key) == 0 ? mib_table_row_at(rows, i) : NULL;
}

/* ---- cells ---- */

static uint64_t
read_member(const void *at, size_t size)
{
	uint64_t u64 = 0;
	uint32_t u32;
	uint16_t u16;

	switch (size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		memcpy(&u16, at, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		return u32;
	default:
		memcpy(&u64, at, sizeof(u64));
		return u64;
	}
}

static void
put_member(const struct mib_column *column, const void *row, struct mib_value *value)
{
	const uint8_t *at = (const uint8_t *)row + column->offset;

	if (column->syntax == MIB_OBJECT_ID) {
		const struct mib_oid *oid = (const void *)at;

		assert(oid->n <= MIB_OID_ARCS);
		value->len = oid->n;
		memcpy(value->arcs, oid->arcs, oid->n * sizeof(*oid->arcs));
	} else if (column->binary) {
		const struct mib_binary *binary = (const void *)at;

		mib_put_octets(value, binary->octets, binary->len);
	} else if (column->syntax == MIB_STRING) {
		mib_put_octets(value, at, strnlen((const char *)at, column->size));
	} else {
		value->number = read_member(at, column->size);
	}
}

static void
write_member(uint8_t *at, size_t size, uint64_t number)
{
	uint32_t u32 = (uint32_t)number;
	uint16_t u16 = (uint16_t)number;

	if (size == 1)
		*at = (uint8_t)number;
	else if (size == 2)
		memcpy(at, &u16, sizeof(u16));
	else if (size == 4)
		memcpy(at, &u32, sizeof(u32));
	else
		memcpy(at, &number, sizeof(number));
}

/* The value fits into the member: mib_table_check and mib_check_set have checked that. */
void
mib_row_set(void *row, const struct mib_set *set)
{
	const struct mib_column *column = set->column;
	uint8_t *at = (uint8_t *)row + column->offset;

	if (column->syntax == MIB_OBJECT_ID) {
		memcpy(at, &set->oid, sizeof(set->oid));
	} else if (column->binary) {
		struct mib_binary *binary = (void *)at;

		assert(set->text_len <= MIB_BINARY_MAX);
		binary->len = (uint16_t)set->text_len;
		memcpy(binary->octets, set->text, set->text_len);
	} else if (column->syntax == MIB_STRING) {
		assert(set->text_len < column->size);
		memcpy(at, set->text, set->text_len + 1);
	} else {
		write_member(at, column->size, (uint64_t)set->number);
	}
}

/* Limits the value of a member or function to the range of its type on the wire. */
static void
fit_syntax(const struct mib_column *column, struct mib_value *value)
{
	switch (value->syntax) {
	case MIB_INTEGER:
		if (column->size > 0)
			value->integer = (int32_t)value->number;
		if (column->truth)
			value->integer = value->integer ? 1 : 2;
		break;
	case MIB_COUNTER32:
	case MIB_TIMETICKS:
		value->number = (uint32_t)value->number;
		break;
	case MIB_GAUGE32: /* a gauge stays at its maximum (RFC 2578 section 7.1.7) */
		if (value->number > UINT32_MAX)
			value->number = UINT32_MAX;
		break;
	default:
		break;
	}
}

static void
clear_value(const struct mib_column *column, struct mib_value *value)
{
	value->syntax = column->syntax;
	value->integer = 0;
	value->number = 0;
	value->len = 0;
}

void
mib_row_get(const struct mib_column *column, const void *row, struct mib_value *value)
{
	clear_value(column, value);
	put_member(column, row, value);
	fit_syntax(column, value);
}

static int
mib_table_read_cell(const struct mib_table *table, size_t column, const struct mib_context *context,
    const void *row, struct mib_value *value)
{
	struct mib_cell cell = {.context = context, .column = &table->columns[column], .row = row};
	int error = 0;

	clear_value(cell.column, value);
	if (table->has_row && !table->has_row(row))
		return -ENOENT;
	if (cell.column->get)
		error = cell.column->get(&cell, value);
	else
		put_member(cell.column, row, value);
	if (cell.column->stamp)
		value->number = mib_time_stamp(context, value->number);
	if (!error && !(context->whole_counters && value->syntax == MIB_COUNTER32))
		fit_syntax(cell.column, value);
	return error;
}

/* The first column whose subid is this or a larger one; n_columns if there is none. */
static size_t
column_from(const struct mib_table *table, uint32_t subid)
{
	size_t low = 0, high = table->n_columns;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->columns[middle].subid < subid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The column of an oid with at least one arc of an instance; n_columns if there is none. */
static size_t
mib_table_column_of(const struct mib_table *table, const uint32_t *oid, size_t n)
{
	const struct mib_oid *entry = &table->entry;
	size_t column;

	if (n <= entry->n || mib_oid_compare(oid, entry->n, entry->arcs, entry->n) != 0)
		return table->n_columns;
	column = column_from(table, oid[entry->n]);
	if (column < table->n_columns && table->columns[column].subid != oid[entry->n])
		return table->n_columns;
	return column;
}

/* sysUpTime of a row's last change: the largest time mark at which it exists. */
static uint32_t
mib_table_last_change(const struct mib_table *table, const struct mib_context *context, const void *row)
{
	uint64_t stamp_us;

	memcpy(&stamp_us, (const uint8_t *)row + table->change_offset, sizeof(stamp_us));
	return mib_time_stamp(context, stamp_us);
}

enum mib_answer
mib_get(const struct mib_table *table, const struct mib_context *context, const uint32_t *oid,
    size_t n, struct mib_value *value)
{
	size_t column = mib_table_column_of(table, oid, n), name = table->entry.n + 1;
	size_t key = name + table->time_filter;
	struct rows rows;
	const void *row;

	if (column == table->n_columns)
		return MIB_NO_OBJECT;
	if (n < key)
		return MIB_NO_INSTANCE;
	rows = mib_table_rows(table, context);
	row = mib_table_find_row(&rows, oid + key, n - key);
	if (!row || (table->time_filter && oid[name] > mib_table_last_change(table, context, row)) ||
	    mib_table_read_cell(table, column, context, row, value))
		return MIB_NO_INSTANCE;
	return MIB_FOUND;
}

static size_t
cell_name(const struct mib_table *table, size_t column, uint32_t mark, const void *row, uint32_t *oid)
{
	size_t n = table->entry.n;

	memcpy(oid, table->entry.arcs, n * sizeof(*oid));
	oid[n++] = table->columns[column].subid;
	if (table->time_filter)
		oid[n++] = mark;
	return n + mib_row_index(table, row, oid + n);
}

/* GETNEXT gives the first cell at or behind this place. mark is 0 without TimeFilter. */
struct place {
	size_t column, row;
	uint32_t mark;
};

/* The place directly behind oid, which may be any OID. */
static struct place
place_after(const struct rows *rows, const uint32_t *oid, size_t n)
{
	const struct mib_table *table = rows->table;
	size_t n_entry = table->entry.n, name = n_entry + 1;
	int order = mib_oid_compare(oid, n < n_entry ? n : n_entry, table->entry.arcs, n_entry);
	struct place place = {.column = order > 0 ? table->n_columns : 0};

	if (order != 0 || n == n_entry)
		return place;
	place.column = column_from(table, oid[n_entry]);
	if (place.column == table->n_columns || table->columns[place.column].subid != oid[n_entry])
		return place;
	if (table->time_filter && n > name)
		place.mark = oid[name++];
	place.row = rows_before(rows, oid + name, n - name, true);
	return place;
}

/* The first cell of the column and the time mark at or behind the place; false if there is none. Later marks have the
 * same rows again, once for each hundredth of a second of uptime: no walk would end. A manager that wants them asks. */
static bool
next_in_column(const struct rows *rows, const struct mib_context *context, struct place *place,
    struct mib_value *value)
{
	const struct mib_table *table = rows->table;

	for (; place->row < rows->n; place->row++) {
		const void *row = mib_table_row_at(rows, place->row);

		if (table->time_filter && mib_table_last_change(table, context, row) < place->mark)
			continue;
		if (mib_table_read_cell(table, place->column, context, row, value) == 0)
			return true;
	}
	return false;
}

enum mib_answer
mib_get_next(const struct mib_table *table, const struct mib_context *context, const uint32_t *oid,
    size_t n, uint32_t *next, size_t *n_next, struct mib_value *value)
{
	struct rows rows = mib_table_rows(table, context);
	struct place place = place_after(&rows, oid, n);

	for (; place.column < table->n_columns; place.column++, place.row = 0, place.mark = 0) {
		if (!next_in_column(&rows, context, &place, value))
			continue;
		*n_next = cell_name(table, place.column, place.mark, mib_table_row_at(&rows, place.row), next);
		return MIB_FOUND;
	}
	return MIB_END;
}

/* ---- SET ---- */

/* Text such as ifAlias may hold only what every terminal and report can show. */
static bool
mib_table_is_printable(const struct mib_value *value)
{
	for (size_t i = 0; i < value->len; i++) {
		if (value->octets[i] < 0x20 || value->octets[i] > 0x7e)
			return false;
	}
	return true;
}

static enum mib_error
check_range(const struct mib_column *column, int64_t number)
{
	return number < column->min || number > column->max ? MIB_WRONG_VALUE : MIB_NO_ERROR;
}

static enum mib_error
check_string(const struct mib_column *column, const struct mib_value *value)
{
	if ((int64_t)value->len < column->min || (int64_t)value->len > column->max)
		return MIB_WRONG_LENGTH;
	if (column->binary || mib_table_is_printable(value))
		return MIB_NO_ERROR;
	log_warn_limited("snmp", "a SET of %s was refused: this text may hold printable ASCII only (DisplayString)",
	    column->name);
	return MIB_WRONG_VALUE;
}

static enum mib_error
check_value(const struct mib_column *column, const struct mib_value *value)
{
	if (value->syntax != column->syntax)
		return MIB_WRONG_TYPE;
	switch (column->syntax) {
	case MIB_INTEGER:
		return check_range(column, value->integer);
	case MIB_GAUGE32:
		return check_range(column, (int64_t)value->number);
	case MIB_OBJECT_ID: /* no object served has a longer OID */
		return value->len <= MIB_OID_ARCS ? MIB_NO_ERROR : MIB_WRONG_VALUE;
	default:
		return check_string(column, value);
	}
}

static bool
part_can_be(const struct mib_index *index, const uint32_t *arcs, size_t n)
{
	switch (index->kind) {
	case MIB_INDEX_MAC:
		for (size_t i = 0; i < 6; i++)
			if (n < 6 || arcs[i] > UINT8_MAX)
				return false;
		return true;
	case MIB_INDEX_NONE:
		return true;
	default:
		return n >= 1 && arcs[0] >= index->min && arcs[0] <= index->max;
	}
}

/* Whether a manager may create a row with this index. */
static bool
index_can_be(const struct mib_table *table, const uint32_t *arcs, size_t n)
{
	static const size_t lengths[] = {[MIB_INDEX_NONE] = 0, [MIB_INDEX_U32] = 1,
		[MIB_INDEX_U16] = 1, [MIB_INDEX_ZERO] = 1, [MIB_INDEX_MAC] = 6};
	size_t at = 0;

	for (size_t i = 0; i < MIB_INDEX_PARTS; i++) {
		if (!part_can_be(&table->index[i], arcs + at, n - at))
			return false;
		at += lengths[table->index[i].kind];
	}
	return at == n;
}

static void
fill_set(const struct mib_table *table, const struct mib_column *column, const uint32_t *index,
    size_t n_index, const struct mib_value *value, struct mib_set *set)
{
	set->kind = column->set_kind;
	set->table = table;
	set->column = column;
	set->n_index = n_index < MIB_INDEX_ARCS ? n_index : MIB_INDEX_ARCS;
	memcpy(set->index, index, set->n_index * sizeof(*index));
	set->if_index = table->scalars ? 0 : index[0];
	set->number = column->syntax == MIB_INTEGER ? value->integer : (int64_t)value->number;
	if (column->truth)
		set->number = set->number == 1;
	set->text_len = 0;
	set->oid.n = 0;
	if (column->syntax == MIB_OBJECT_ID) {
		assert(value->len <= MIB_OID_ARCS);
		set->oid.n = value->len;
		memcpy(set->oid.arcs, value->arcs, value->len * sizeof(*value->arcs));
	} else if (column->syntax == MIB_STRING) {
		assert(value->len < sizeof(set->text));
		set->text_len = value->len;
		memcpy(set->text, value->octets, value->len);
	}
	set->text[set->text_len] = '\0';
}

/* In the order of RFC 3416 section 4.2.5: errors that no other value could avoid come first. */
enum mib_error
mib_check_set(const struct mib_table *table, const struct mib_context *context, const uint32_t *oid,
    size_t n, const struct mib_value *value, struct mib_set *set, struct mib_set *old)
{
	size_t i = mib_table_column_of(table, oid, n), name = table->entry.n + 1;
	const struct mib_column *column = &table->columns[i];
	struct mib_value current = {.syntax = value->syntax};
	enum mib_error error;

	if (i == table->n_columns || column->set_kind == 0)
		return MIB_NOT_WRITABLE;
	error = check_value(column, value);
	if (error)
		return error;
	if (mib_get(table, context, oid, n, &current) != MIB_FOUND &&
	    !(table->creates && index_can_be(table, oid + name, n - name)))
		return MIB_NO_CREATION;
	fill_set(table, column, oid + name, n - name, value, set);
	fill_set(table, column, oid + name, n - name, &current, old);
	return MIB_NO_ERROR;
}

/* ---- declarations ---- */

static bool
member_fits(const struct mib_column *column)
{
	size_t size = column->size;

	if (column->syntax == MIB_OBJECT_ID)
		return size == sizeof(struct mib_oid);
	if (column->binary)
		return size == sizeof(struct mib_binary) && column->max <= MIB_BINARY_MAX;
	if (column->syntax == MIB_STRING) /* the member has room for the terminating NUL */
		return !column->set_kind || (int64_t)size > column->max;
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static const char *
column_fault(const struct mib_column *column)
{
	bool member = column->size > 0 && member_fits(column);

	if (column->subid == 0 || !column->name)
		return "a column has no number or no name";
	if (!column->get == !member)
		return "a column needs either a member or a function";
	if (column->set_kind && column->syntax != MIB_INTEGER && column->syntax != MIB_GAUGE32 &&
	    column->syntax != MIB_STRING && column->syntax != MIB_OBJECT_ID)
		return "a writable column has a type that managers cannot set";
	if (column->stamp && (column->syntax != MIB_TIMETICKS || column->size != sizeof(uint64_t)))
		return "a TimeStamp column needs TimeTicks and a member of 64 bits";
	if (column->set_kind && column->min > column->max)
		return "a writable column has no range";
	if (column->set_kind && column->syntax == MIB_STRING && column->max > MIB_BINARY_MAX)
		return "a writable string may be longer than its member or the engine's limit";
	return NULL;
}

static const char *
table_fault(const struct mib_table *table)
{
	bool indexed = table->index[0].kind != MIB_INDEX_NONE;

	if (!table->name || table->entry.n < 2 || table->n_columns == 0)
		return "the name, the entry or the columns are missing";
	if (table->region && (table->entry.n <= table->region->root.n ||
	    mib_oid_compare(table->region->root.arcs, table->region->root.n, table->entry.arcs, table->region->root.n) != 0))
		return "the entry is not in its region";
	if (!table->rows || table->row_size == 0)
		return "the function for rows is missing";
	if (indexed == table->scalars)
		return "a table needs an index, and scalars must not have one";
	for (size_t i = 0; i < table->n_columns; i++) {
		const char *fault = column_fault(&table->columns[i]);

		if (fault)
			return fault;
		if (i > 0 && table->columns[i].subid <= table->columns[i - 1].subid)
			return "columns are out of order or occur twice";
	}
	return NULL;
}

int
mib_table_check(const struct mib_table *table, const char **why)
{
	*why = table_fault(table);
	return *why ? -EINVAL : 0;
}

static void
mib_table_list_column(const struct mib_table *table, const struct mib_column *column, FILE *out)
{
	fprintf(out, "%s\t", column->name);
	for (size_t i = 0; i < table->entry.n; i++)
		fprintf(out, "%" PRIu32 ".", table->entry.arcs[i]);
	fprintf(out, "%" PRIu32 "%s\t%s\t%s", column->subid, table->scalars ? ".0" : "",
	    mib_syntax_name(column->syntax), column->set_kind ? "read-write" : "read-only");
	if (column->set_kind && column->syntax != MIB_OBJECT_ID)
		fprintf(out, "\t%" PRId64 "..%" PRId64, column->min, column->max);
	fputc('\n', out);
}

void
mib_list_tables(const struct mib_table *const *tables, size_t n, FILE *out)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < tables[i]->n_columns; j++)
			mib_table_list_column(tables[i], &tables[i]->columns[j], out);
	}
}
