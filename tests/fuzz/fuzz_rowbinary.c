/* Any octets at all as rows of every type, in two chunks cut anywhere: refused, or read within what
 * is there; and the same whole and cut. */
#include "collector/cluster/rowbinary.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int
add_row(void *arg, const struct row_cell *cells)
{
	uint64_t *sum = arg;

	for (size_t i = 0; i < CLUSTER_N_TYPES; i++) {
		*sum = *sum * 31 + (uint64_t)cells[i].i + cells[i].null + cells[i].octets;
		for (size_t k = 0; k < cells[i].octets; k++)
			*sum = *sum * 31 + cells[i].text[k];
	}
	return 0;
}

/* Of exact copies, so that the sanitizer sees a read beyond them. */
static int
take(struct row_stream *s, const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);
	int err;

	assert(copy || size == 0);
	if (size > 0)
		memcpy(copy, data, size);
	err = row_stream_take(s, copy, size);
	free(copy);
	return err;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum cluster_type types[CLUSTER_N_TYPES];
	uint64_t whole = 0, parts = 0;
	size_t cut = size > 0 ? data[0] % size : 0;
	struct row_stream s;
	int a, b;

	for (int i = 0; i < CLUSTER_N_TYPES; i++)
		types[i] = (enum cluster_type)i;
	row_stream_init(&s, types, CLUSTER_N_TYPES, add_row, &whole);
	a = take(&s, data, size);
	row_stream_free(&s);
	row_stream_init(&s, types, CLUSTER_N_TYPES, add_row, &parts);
	b = take(&s, data, cut);
	b = b == 0 ? take(&s, data + cut, size - cut) : b;
	row_stream_free(&s);
	assert(a == b && whole == parts);
	return 0;
}
