#include "collector/report/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, HEAD_BITS = 64 };

static unsigned
sort_digit_of(const struct sort_item *item, unsigned shift)
{
	return item->head >> shift & (DIGITS - 1);
}

/* Where the items of each digit begin; false if all have the same one. */
static bool
find_places(const struct sort_item *items, size_t n, unsigned shift, size_t places[DIGITS])
{
	size_t at = 0;

	memset(places, 0, DIGITS * sizeof(*places));
	for (size_t i = 0; i < n; i++)
		places[sort_digit_of(&items[i], shift)]++;
	if (places[sort_digit_of(&items[0], shift)] == n)
		return false;
	for (unsigned d = 0; d < DIGITS; d++) {
		size_t of_digit = places[d];

		places[d] = at;
		at += of_digit;
	}
	return true;
}

/* Digit by digit from the last, each time in the order so far (least significant digit first, Knuth
 * 5.2.5). */
static void
sort_by_head(struct sort_item *items, size_t n, struct sort_item *spare)
{
	struct sort_item *from = items, *to = spare;
	size_t places[DIGITS];

	for (unsigned shift = 0; shift < HEAD_BITS; shift += DIGIT_BITS) {
		struct sort_item *sorted = to;

		if (!find_places(from, n, shift, places))
			continue;
		for (size_t i = 0; i < n; i++)
			to[places[sort_digit_of(&from[i], shift)]++] = from[i];
		to = from;
		from = sorted;
	}
	if (from != items)
		memcpy(items, from, n * sizeof(*items));
}

void
sort_items(struct sort_item *items, size_t n, int (*compare)(const void *, const void *), struct sort_item *spare)
{
	if (n > 0)
		sort_by_head(items, n, spare);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && items[end].head == items[i].head;)
			end++;
		if (end > i + 1)
			qsort(items + i, end - i, sizeof(*items), compare);
	}
}

uint64_t
sort_largest_first(double number)
{
	uint64_t bits;

	if (!(number > 0))
		number = 0; /* not the negative one */
	memcpy(&bits, &number, sizeof(bits)); /* IEEE 754: of such numbers in their order */
	return ~bits;
}
