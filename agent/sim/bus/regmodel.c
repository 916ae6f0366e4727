#include "agent/sim/bus/regmodel.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint32_t
row_count(const struct regmodel_row *row)
{
	return row->count > 0 ? row->count : 1;
}

/* First octet behind the last register of the row. */
static uint32_t
row_end(const struct regmodel_row *row)
{
	return row->offset + (row_count(row) - 1) * row->stride + 1;
}

static int
check_rows(const struct regmodel_row *rows, size_t n_rows)
{
	if (n_rows > UINT16_MAX)
		return -EINVAL;
	for (size_t i = 0; i < n_rows; i++) {
		if (row_count(&rows[i]) > 1 && rows[i].stride == 0)
			return -EINVAL;
		if (i > 0 && rows[i].offset < row_end(&rows[i - 1]))
			return -EINVAL;
	}
	return 0;
}

/* Long rows are tables that the chip itself searches, so their values begin on a cache line. */
enum { CACHE_LINE_WORDS = 16 };

static size_t
row_start(const struct regmodel_row *row, size_t used_words)
{
	if (row_count(row) < CACHE_LINE_WORDS)
		return used_words;
	return (used_words + CACHE_LINE_WORDS - 1) / CACHE_LINE_WORDS * CACHE_LINE_WORDS;
}

static size_t
storage_words(const struct regmodel_row *rows, size_t n_rows)
{
	size_t words = 0;

	for (size_t i = 0; i < n_rows; i++)
		words = row_start(&rows[i], words) + row_count(&rows[i]);
	return (words + CACHE_LINE_WORDS - 1) / CACHE_LINE_WORDS * CACHE_LINE_WORDS;
}

int
regmodel_init(struct regmodel *regs, const struct regmodel_row *rows, size_t n_rows, void *chip)
{
	size_t words = 0;

	*regs = (struct regmodel){.rows = rows, .n_rows = n_rows, .chip = chip};
	if (check_rows(rows, n_rows) < 0)
		return -EINVAL;
	regs->storage = aligned_alloc(CACHE_LINE_WORDS * sizeof(*regs->storage),
	    storage_words(rows, n_rows) * sizeof(*regs->storage));
	regs->values = calloc(n_rows, sizeof(*regs->values));
	if (!regs->storage || !regs->values) {
		regmodel_free(regs);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n_rows; i++) {
		words = row_start(&rows[i], words);
		regs->values[i] = regs->storage + words;
		words += row_count(&rows[i]);
	}
	regmodel_reset(regs);
	return 0;
}

void
regmodel_free(struct regmodel *regs)
{
	free(regs->storage);
	free(regs->values);
	regs->storage = NULL;
	regs->values = NULL;
	regs->n_rows = 0;
}

void
regmodel_reset(struct regmodel *regs)
{
	for (size_t row = 0; row < regs->n_rows; row++)
		for (uint32_t i = 0; i < row_count(&regs->rows[row]); i++)
			regs->values[row][i] = regs->rows[row].reset;
}

/* The row of an offset, or n_rows. First tries the row of the last offset with the same hash, because a
 * driver accesses a few registers again and again. */
static size_t
regmodel_row_of(struct regmodel *regs, uint32_t offset)
{
	uint16_t *hint = &regs->hints[offset * 0x9e3779b1u >> (32 - REGMODEL_HINT_BITS)];
	size_t low = 0, high = regs->n_rows;
	const struct regmodel_row *r = &regs->rows[*hint];

	if (*hint < high && offset >= r->offset && offset < row_end(r))
		return *hint;
	while (low < high) {
		size_t middle = (low + high) / 2;

		r = &regs->rows[middle];
		if (offset < r->offset)
			high = middle;
		else if (offset >= row_end(r))
			low = middle + 1;
		else
			return *hint = (uint16_t)middle;
	}
	return regs->n_rows;
}

/* The row and index of an offset; -ENXIO if there is no register. */
static int
find_register(struct regmodel *regs, uint32_t offset, size_t *row, unsigned *index)
{
	const struct regmodel_row *r;
	uint32_t distance;

	*row = regmodel_row_of(regs, offset);
	*index = 0;
	if (*row < regs->n_rows) {
		r = &regs->rows[*row];
		distance = offset - r->offset;
		if (distance == 0)
			return 0;
		*index = distance / r->stride;
		if (distance % r->stride == 0)
			return 0;
	}
	regs->unknown_accesses++;
	return -ENXIO;
}

int
regmodel_read(struct regmodel *regs, uint32_t offset, uint32_t *value)
{
	const struct regmodel_row *r;
	uint32_t *stored;
	unsigned index;
	size_t row;

	if (find_register(regs, offset, &row, &index) < 0)
		return -ENXIO;
	if (regs->access)
		regs->access(regs->chip, offset);
	r = &regs->rows[row];
	stored = &regs->values[row][index];
	*value = r->read ? r->read(regs->chip, index, *stored) : *stored;
	*stored &= ~r->read_clears;
	if (r->read_done)
		r->read_done(regs->chip, index);
	return 0;
}

/* Memory is a row of words whose reads have no effect. */
static bool
is_memory(const struct regmodel *regs, const struct regmodel_row *r)
{
	return r->stride == 4 && !r->read && !r->read_done && !r->read_clears && !regs->access;
}

int
regmodel_read_words(struct regmodel *regs, uint32_t offset, uint32_t *words, size_t n)
{
	unsigned index;
	size_t row;
	int rc = 0;

	if (find_register(regs, offset, &row, &index) < 0)
		return -ENXIO;
	if (is_memory(regs, &regs->rows[row]) && n <= row_count(&regs->rows[row]) - index) {
		memcpy(words, &regs->values[row][index], n * sizeof(*words));
		return 0;
	}
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = regmodel_read(regs, offset + 4 * (uint32_t)i, &words[i]);
	return rc;
}

int
regmodel_write(struct regmodel *regs, uint32_t offset, uint32_t value)
{
	const struct regmodel_row *r;
	uint32_t *stored;
	unsigned index;
	size_t row;

	if (find_register(regs, offset, &row, &index) < 0)
		return -ENXIO;
	if (regs->access)
		regs->access(regs->chip, offset);
	r = &regs->rows[row];
	if (value & r->reserved)
		regs->reserved_writes++;
	stored = &regs->values[row][index];
	*stored = (*stored & ~r->writable) | (value & r->writable);
	*stored &= ~(value & r->write_1_clears);
	if (r->written)
		r->written(regs->chip, index, value);
	return 0;
}
