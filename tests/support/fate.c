#include "tests/support/fate.h"

#include "mibs/mibs.h"

#include <string.h>

enum { ROW_VARBINDS = 8 };

/* splitmix64, by Sebastiano Vigna. */
uint64_t
fate_draw(struct fate *f)
{
	uint64_t z = (f->seed += 0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

size_t
fate_below(struct fate *f, size_t n)
{
	return (size_t)(fate_draw(f) % n);
}

static uint32_t
draw_arc(struct fate *f)
{
	static const uint32_t edges[] = {0, 1, 2, 3, 4, 5, 127, 128, 255, 256, 65535, 65536,
	    INT32_MAX, 1u + INT32_MAX, UINT32_MAX};

	return fate_draw(f) % 8 ? edges[fate_below(f, sizeof(edges) / sizeof(edges[0]))]
				: (uint32_t)fate_draw(f);
}

static const struct mib_table *
draw_table(struct fate *f)
{
	return mibs_tables[fate_below(f, mibs_n_tables)];
}

static size_t
copy_cell_name(struct fate *f, uint32_t *oid)
{
	const struct cell *cell = &f->cells->at[fate_below(f, f->cells->n)];

	memcpy(oid, cell->oid, cell->n * sizeof(*oid));
	return cell->n;
}

static size_t
add_arcs(struct fate *f, uint32_t *oid, size_t n, size_t more)
{
	while (more-- > 0 && n < MIB_OID_MAX)
		oid[n++] = draw_arc(f);
	return n;
}

/* A column of the table, mostly one that is there, of a row that may be. */
static size_t
draw_in_table(struct fate *f, const struct mib_table *table, uint32_t *oid)
{
	size_t n = table->entry.n;

	memcpy(oid, table->entry.arcs, n * sizeof(*oid));
	oid[n++] = fate_draw(f) % 8 ? table->columns[fate_below(f, table->n_columns)].subid : draw_arc(f);
	return add_arcs(f, oid, n, table->scalars ? fate_below(f, 2) : fate_below(f, MIB_INDEX_ARCS + 2));
}

size_t
fate_name(struct fate *f, uint32_t *oid)
{
	const struct mib_table *table = draw_table(f);
	size_t n;

	switch (fate_draw(f) % 8) {
	case 0: /* anywhere */
		return add_arcs(f, oid, 0, fate_below(f, MIB_OID_MAX + 1));
	case 1: /* near a table */
		n = fate_below(f, table->entry.n + 1);
		memcpy(oid, table->entry.arcs, n * sizeof(*oid));
		return add_arcs(f, oid, n, fate_below(f, 4));
	case 2:
	case 3:
		return draw_in_table(f, table, oid);
	case 4: /* a cell, but for one arc */
		n = copy_cell_name(f, oid);
		oid[fate_below(f, n)] = draw_arc(f);
		return n;
	case 5: /* a cell's name cut or gone on with */
		n = copy_cell_name(f, oid);
		return fate_draw(f) % 2 ? fate_below(f, n + 1) : add_arcs(f, oid, n, 1 + fate_below(f, 3));
	default:
		return copy_cell_name(f, oid);
	}
}

static void
draw_string(struct fate *f, const struct mib_column *column, bool fits, struct mib_value *value)
{
	size_t most = column->max < MIB_OCTETS_MAX ? (size_t)column->max : MIB_OCTETS_MAX;

	value->len = fate_below(f, (fits ? most : MIB_OCTETS_MAX) + 1);
	for (size_t i = 0; i < value->len; i++)
		value->octets[i] = (uint8_t)(fits ? ' ' + fate_below(f, 95) : fate_draw(f));
}

static void
draw_object_id(struct fate *f, struct mib_value *value)
{
	static const uint32_t if_index[] = {1, 3, 6, 1, 2, 1, 2, 2, 1, 1};
	uint32_t oid[MIB_OID_MAX];
	size_t n = fate_draw(f) % 2 ? copy_cell_name(f, oid) : fate_name(f, oid);

	if (fate_draw(f) % 2) { /* what RMON's data sources are */
		memcpy(oid, if_index, sizeof(if_index));
		n = sizeof(if_index) / sizeof(if_index[0]);
		oid[n++] = fate_draw(f) % 4 ? 1 + (uint32_t)fate_below(f, FATE_PORTS) : draw_arc(f);
	}
	value->len = n;
	if (n > sizeof(value->arcs) / sizeof(value->arcs[0])) /* as mib_register.c hands it over */
		n = 0;
	memcpy(value->arcs, oid, n * sizeof(*oid));
}

static int64_t
draw_integer(struct fate *f, const struct mib_column *column, bool fits)
{
	uint64_t span = (uint64_t)(column->max - column->min) + 1;

	if (!fits)
		return fate_draw(f) % 2 ? column->max + 1 : (int32_t)draw_arc(f);
	return fate_draw(f) % 2 ? column->min + (int64_t)(fate_draw(f) % span)
			  : fate_draw(f) % 2 ? column->min : column->max;
}

/* Fit for the column, or of another type, length or range. */
static void
draw_value(struct fate *f, const struct mib_column *column, bool fits, struct mib_value *value)
{
	static const struct mib_column any = {.syntax = MIB_STRING, .max = MIB_OCTETS_MAX};

	if (!column || column->max < column->min)
		column = &any;
	memset(value, 0, sizeof(*value));
	value->syntax = column->syntax;
	if (!fits && fate_draw(f) % 2)
		value->syntax = (enum mib_syntax)fate_below(f, MIB_COUNTER64 + 1);
	value->integer = (int32_t)draw_integer(f, column, fits);
	value->number = (uint32_t)value->integer;
	if (value->syntax == MIB_STRING)
		draw_string(f, column, fits, value);
	else if (value->syntax == MIB_OBJECT_ID)
		draw_object_id(f, value);
}

/* The registration that Net-SNMP would hand this name to; NULL: none. */
const struct mib_table *
fate_table_of(const uint32_t *oid, size_t n)
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

const struct mib_column *
fate_column_of(const struct mib_table *table, const uint32_t *oid, size_t n)
{
	for (size_t i = 0; table && n > table->entry.n && i < table->n_columns; i++) {
		if (table->columns[i].subid == oid[table->entry.n])
			return &table->columns[i];
	}
	return NULL;
}

static void
draw_varbind(struct fate *f, struct varbind *vb)
{
	vb->n = fate_name(f, vb->oid);
	vb->table = fate_table_of(vb->oid, vb->n);
	draw_value(f, fate_column_of(vb->table, vb->oid, vb->n), fate_draw(f) % 4, &vb->value);
	if (!vb->table)
		vb->table = draw_table(f);
}

/* Settings of cells that are there, with values that fit mostly: what a master carries out. */
static size_t
draw_settings(struct fate *f, struct varbind *varbinds)
{
	size_t n = 1 + fate_below(f, ROW_VARBINDS);

	for (struct varbind *vb = varbinds; vb < varbinds + n; vb++) {
		const struct mib_column *column;

		do {
			vb->n = copy_cell_name(f, vb->oid);
			vb->table = fate_table_of(vb->oid, vb->n);
			column = fate_column_of(vb->table, vb->oid, vb->n);
		} while (!column->set_kind);
		draw_value(f, column, fate_draw(f) % 16, &vb->value);
	}
	return n;
}

/* Columns of one row of a table whose rows managers make: any, in any order, some twice; or all
 * that can be set, which makes a row if they get along. */
static size_t
draw_row(struct fate *f, struct varbind *varbinds)
{
	uint32_t index = fate_draw(f) % 8 ? 1 + (uint32_t)fate_below(f, 4) : draw_arc(f);
	bool whole = fate_draw(f) % 2;
	const struct mib_table *table;
	size_t n = 0;

	do
		table = draw_table(f);
	while (!table->creates);
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct mib_column *column = &table->columns[whole ? i : fate_below(f, table->n_columns)];
		struct varbind *vb = &varbinds[n];

		if (whole && !column->set_kind)
			continue;
		vb->table = table;
		vb->n = table->entry.n;
		memcpy(vb->oid, table->entry.arcs, vb->n * sizeof(*vb->oid));
		vb->oid[vb->n++] = column->subid;
		vb->oid[vb->n++] = index;
		draw_value(f, column, fate_draw(f) % 32, &vb->value);
		n++;
		if (!whole && fate_draw(f) % 2)
			break;
	}
	return n;
}

size_t
fate_set(struct fate *f, struct varbind *varbinds)
{
	size_t n = fate_draw(f) % 4 ? 1 : 1 + fate_below(f, 4);

	if (fate_draw(f) % 4096 == 0) /* more than one may have, or just not */
		n = MIB_SETS_MAX - 4 + fate_below(f, 8);
	switch (fate_draw(f) % 4) {
	case 0:
		return draw_row(f, varbinds);
	case 1:
		return draw_settings(f, varbinds);
	}
	for (size_t i = 0; i < n; i++)
		draw_varbind(f, &varbinds[i]);
	return n;
}
