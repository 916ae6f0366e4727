#include "collector/store/sorter.h"

#include <assert.h>
#include <stdlib.h>

enum { ENTRIES = 32768 };

struct entry {
	struct pack_key key;
	double values[PACK_SINGLE];
};

struct sorter {
	struct parts *parts;
	struct place place;
	size_t n;
	struct entry entries[ENTRIES];
};

struct sorter *
sorter_new(void)
{
	return calloc(1, sizeof(struct sorter));
}

void
sorter_free(struct sorter *sorter)
{
	free(sorter);
}

void
sorter_begin(struct sorter *sorter, struct parts *parts, const struct place *place)
{
	sorter->parts = parts;
	sorter->place = *place;
	sorter->n = 0;
}

static int
compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return pack_compare(&x->key, &y->key);
}

static int
write_entries(struct sorter *sorter)
{
	int r = 0;

	qsort(sorter->entries, sorter->n, sizeof(*sorter->entries), compare_entries);
	parts_begin(sorter->parts, &sorter->place);
	for (size_t i = 0; r == 0 && i < sorter->n; i++)
		r = parts_add(sorter->parts, &sorter->entries[i].key, sorter->entries[i].values);
	sorter->n = 0;
	return r == 0 ? parts_end(sorter->parts) : r;
}

int
sorter_add(struct sorter *sorter, const struct pack_key *key, const double *values)
{
	struct entry *last = sorter->n > 0 ? &sorter->entries[sorter->n - 1] : NULL;
	int r = 0;

	if (last && pack_compare(&last->key, key) == 0) {
		for (unsigned c = 0; c < PACK_SINGLE; c++)
			last->values[c] += values[c];
		return 0;
	}
	if (sorter->n == ENTRIES)
		r = write_entries(sorter);
	assert(sorter->n < ENTRIES);
	sorter->entries[sorter->n].key = *key;
	memcpy(sorter->entries[sorter->n++].values, values, sizeof(last->values));
	return r;
}

int
sorter_end(struct sorter *sorter)
{
	return sorter->n > 0 ? write_entries(sorter) : 0;
}
