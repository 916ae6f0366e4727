#include "agent/state_rows.h"

#include "common/log.h"
#include "mibs/mib_snapshot.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_TEXT_MAX = 600, COLUMNS_MAX = 32 };

const struct option_row state_row_options[] = {
    {.name = "columns", .type = OPTION_LIST, .offset = offsetof(struct state_row, columns),
	.max = COLUMNS_MAX},
    {0},
};

/* A snapshot of nothing: the engine's checks of a SET need one. */
static const struct mib_snapshot no_snapshot;
static const struct mib_context no_context = {.snapshot = &no_snapshot};

/* ---- writing ---- */

static size_t
print_arcs(const uint32_t *arcs, size_t n, char *text, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < n && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%" PRIu32, i ? "." : "",
		    arcs[i]);
	return len;
}

static void
print_octets(const uint8_t *octets, size_t n, char *text, size_t size)
{
	for (size_t i = 0; i < n && 2 * i + 2 < size; i++)
		snprintf(text + 2 * i, size - 2 * i, "%02x", octets[i]);
}

static char *
print_column(const struct mib_column *column, const void *row)
{
	char text[COLUMN_TEXT_MAX] = "";
	struct mib_value value;
	size_t len;

	mib_row_get(column, row, &value);
	len = (size_t)snprintf(text, sizeof(text), "%" PRIu32 "=", column->subid);
	if (column->syntax == MIB_OBJECT_ID) {
		text[len++] = 'o';
		print_arcs(value.arcs, value.len, text + len, sizeof(text) - len);
	} else if (column->syntax == MIB_STRING) {
		text[len++] = 'x';
		print_octets(value.octets, value.len, text + len, sizeof(text) - len);
	} else if (column->syntax == MIB_GAUGE32) {
		snprintf(text + len, sizeof(text) - len, "g%" PRIu64, value.number);
	} else {
		snprintf(text + len, sizeof(text) - len, "i%" PRId64, value.integer);
	}
	return strdup(text);
}

static char *
print_name(const struct mib_table *table, const void *row)
{
	uint32_t arcs[MIB_INDEX_ARCS];
	size_t n = mib_row_index(table, row, arcs);
	char text[128];
	size_t len = (size_t)snprintf(text, sizeof(text), "%s.", table->name);

	print_arcs(arcs, n, text + len, sizeof(text) - len);
	return strdup(text);
}

static int
collect_row(const struct mib_table *table, const void *row, struct state_row *kept)
{
	kept->name = print_name(table, row);
	kept->columns.items = calloc(table->n_columns, sizeof(*kept->columns.items));
	if (!kept->name || !kept->columns.items)
		return -ENOMEM;
	for (size_t i = 0; i < table->n_columns; i++) {
		char *text;

		if (table->columns[i].set_kind == 0)
			continue;
		text = print_column(&table->columns[i], row);
		if (!text)
			return -ENOMEM;
		kept->columns.items[kept->columns.n++] = text;
	}
	return 0;
}

int
state_rows_collect(struct managed_table *managed, struct state_rows *rows)
{
	const struct mib_table *table = managed_declaration(managed);
	struct state_row *items;
	void *first;
	size_t n = managed_rows(managed, &first);
	int rc = 0;

	items = reallocarray(rows->items, rows->n + n + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	rows->items = items;
	for (size_t i = 0; i < n && rc == 0; i++) {
		const void *row = (uint8_t *)first + i * table->row_size;

		if (!managed_is_kept(managed, row))
			continue;
		items[rows->n] = (struct state_row){0};
		rc = collect_row(table, row, &items[rows->n++]);
	}
	return rc;
}

/* ---- reading ---- */

static bool
parse_arcs(const char *text, uint32_t *arcs, size_t max, size_t *n)
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

static bool
parse_octets(const char *text, struct mib_value *value)
{
	size_t digits = strlen(text);

	if (digits % 2 != 0 || digits / 2 > MIB_OCTETS_MAX)
		return false;
	value->len = digits / 2;
	for (size_t i = 0; i < value->len; i++) {
		char pair[3] = {text[2 * i], text[2 * i + 1], '\0'};
		char *end;

		value->octets[i] = (uint8_t)strtoul(pair, &end, 16);
		if (*end != '\0')
			return false;
	}
	return true;
}

/* "7=i1" */
static bool
parse_column(const char *text, uint32_t *subid, struct mib_value *value)
{
	char *at, *end;

	*subid = (uint32_t)strtoul(text, &at, 10);
	if (at == text || at[0] != '=' || at[1] == '\0')
		return false;
	memset(value, 0, sizeof(*value));
	switch (at[1]) {
	case 'i':
		value->syntax = MIB_INTEGER;
		value->integer = strtoll(at + 2, &end, 10);
		return end != at + 2 && *end == '\0';
	case 'g':
		value->syntax = MIB_GAUGE32;
		value->number = strtoull(at + 2, &end, 10);
		return end != at + 2 && *end == '\0';
	case 'o':
		value->syntax = MIB_OBJECT_ID;
		return parse_arcs(at + 2, value->arcs, MIB_OID_ARCS, &value->len);
	case 'x':
		value->syntax = MIB_STRING;
		return parse_octets(at + 2, value);
	default:
		return false;
	}
}

/* One column through the checks of a SET. */
static bool
make_set(const struct mib_table *table, const uint32_t *index, size_t n_index, const char *text,
    struct mib_set *set)
{
	uint32_t oid[MIB_OID_ARCS + 1 + MIB_INDEX_ARCS];
	size_t n = table->entry.n;
	struct mib_value value;
	struct mib_set old;

	memcpy(oid, table->entry.arcs, n * sizeof(*oid));
	if (!parse_column(text, &oid[n++], &value))
		return false;
	memcpy(oid + n, index, n_index * sizeof(*oid));
	return mib_check_set(table, &no_context, oid, n + n_index, &value, set, &old) ==
	    MIB_NO_ERROR;
}

static void
restore_row(const struct state_row *kept, struct managed_table *managed)
{
	const struct mib_table *table = managed_declaration(managed);
	const char *index_text = kept->name + strlen(table->name) + 1;
	struct mib_set *sets = calloc(kept->columns.n + 1, sizeof(*sets));
	uint32_t index[MIB_INDEX_ARCS];
	size_t n_index, failed = 0;
	int rc = sets ? 0 : -ENOMEM;

	if (rc == 0 && !parse_arcs(index_text, index, MIB_INDEX_ARCS, &n_index))
		rc = -EINVAL;
	for (size_t i = 0; i < kept->columns.n && rc == 0; i++) {
		if (!make_set(table, index, n_index, kept->columns.items[i], &sets[i]))
			rc = -EINVAL;
	}
	if (rc == 0)
		rc = managed_make(managed, sets, kept->columns.n, &failed);
	if (rc < 0)
		log_warn("state", "%s: the row kept could not be made: %s", kept->name,
		    strerror(-rc));
	free(sets);
}

static bool
is_of(const struct state_row *kept, const struct mib_table *table)
{
	size_t len = strlen(table->name);

	return strncmp(kept->name, table->name, len) == 0 && kept->name[len] == '.';
}

void
state_rows_restore(const struct state_rows *rows, struct managed_table *managed)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (is_of(&rows->items[i], managed_declaration(managed)))
			restore_row(&rows->items[i], managed);
	}
}
