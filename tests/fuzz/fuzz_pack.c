/* Any octets at all as the body of a pack: it is refused or read within its octets, and what was
 * read is the same, to the last bit, when it is written and read again. */
#include "collector/store/pack.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct pack taken, again;

/* Of an exact copy, so that the sanitizer sees a read beyond it. */
static bool
take(const void *octets, size_t size, struct pack *pack)
{
	struct pack_reader reader;
	void *body = malloc(size);

	assert(body || size == 0);
	if (size > 0)
		memcpy(body, octets, size);
	pack->n = 0;
	reader.failed = pack_open(&reader, body, size) < 0;
	pack->n_columns = reader.n_columns;
	while (!reader.failed && pack_next(&reader)) {
		for (unsigned c = 0; c < reader.n_columns; c++)
			pack->columns[c][pack->n] = pack_value(&reader, c);
		pack->keys[pack->n++] = reader.key;
	}
	assert(reader.failed || pack->n == reader.n);
	free(body);
	return !reader.failed;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t body[PACK_OCTETS_MAX];

	if (!take(data, size, &taken))
		return 0;
	assert(take(body, pack_write(&taken, body), &again));
	assert(again.n == taken.n && again.n_columns == taken.n_columns);
	assert(memcmp(again.keys, taken.keys, taken.n * sizeof(*taken.keys)) == 0);
	for (unsigned c = 0; c < taken.n_columns; c++)
		assert(memcmp(again.columns[c], taken.columns[c],
		    taken.n * sizeof(double)) == 0);
	return 0;
}
