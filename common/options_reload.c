#include "common/options_reload.h"

#include <string.h>

static bool same_table(const struct option_row *table, const void *a, const void *b);

static const void *
member_at(const void *config, size_t offset)
{
	return (const char *)config + offset;
}

static bool
same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool
same_list(const struct option_list *a, const struct option_list *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!same_text(a->items[i], b->items[i]))
			return false;
	return true;
}

static bool
same_sections(const struct option_row *row, const struct option_sections *a, const struct option_sections *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const void *x = member_at(a->items, i * row->section_size);
		const void *y = member_at(b->items, i * row->section_size);

		if (!same_text(*(char *const *)member_at(x, row->section_title_offset),
			*(char *const *)member_at(y, row->section_title_offset)) ||
		    !same_table(row->section, x, y))
			return false;
	}
	return true;
}

/* Octets of a value that holds no pointer; 0 for a type that does. */
static size_t
reload_value_octets(enum option_type type)
{
	switch (type) {
	case OPTION_BOOL:
		return sizeof(bool);
	case OPTION_U32:
		return sizeof(uint32_t);
	case OPTION_U64:
		return sizeof(uint64_t);
	case OPTION_ENUM:
		return sizeof(int);
	default:
		return 0;
	}
}

static bool
same_value(const struct option_row *row, const void *a, const void *b)
{
	if (reload_value_octets(row->type) > 0)
		return memcmp(a, b, reload_value_octets(row->type)) == 0;
	if (row->type == OPTION_STRING)
		return same_text(*(char *const *)a, *(char *const *)b);
	return row->type == OPTION_LIST ? same_list(a, b) : same_sections(row, a, b);
}

static bool
same_table(const struct option_row *table, const void *a, const void *b)
{
	for (const struct option_row *row = table; row->name; row++)
		if (row->type != OPTION_GROUP && !same_value(row, member_at(a, row->offset), member_at(b, row->offset)))
			return false;
	return true;
}

/* Octets of the member itself, without what it points at. */
static size_t
member_octets(enum option_type type)
{
	switch (type) {
	case OPTION_STRING:
		return sizeof(char *);
	case OPTION_LIST:
		return sizeof(struct option_list);
	case OPTION_SECTION:
		return sizeof(struct option_sections);
	default:
		return reload_value_octets(type);
	}
}

static void
swap_octets(void *a, void *b, size_t n)
{
	unsigned char kept[sizeof(struct option_list) + sizeof(struct option_sections)];

	memcpy(kept, a, n);
	memcpy(a, b, n);
	memcpy(b, kept, n);
}

void
options_reload(const struct option_row *table, void *config, void *fresh, options_differ_fn *differs, void *ctx)
{
	for (const struct option_row *row = table; row->name; row++) {
		void *value = (char *)config + row->offset, *new = (char *)fresh + row->offset;

		if (row->type == OPTION_GROUP || same_value(row, value, new))
			continue; /* a group has no value but those of its rows */
		if (row->live)
			swap_octets(value, new, member_octets(row->type));
		differs(ctx, row, row->live);
	}
}
