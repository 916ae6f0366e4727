/*
 * Where a key stands in a sorted list, whatever the list is made of.
 */
#ifndef EASE_COMMON_SORTED_H
#define EASE_COMMON_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the position of the key among n items if *found, else where it would be inserted. order says how item i
 * stands to what ctx describes: below 0 before the key, 0 at it, above 0 behind it. */
static inline size_t
sorted_position(size_t n, int (*order)(const void *ctx, size_t i), const void *ctx, bool *found)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int to_key = order(ctx, middle);

		*found = to_key == 0;
		if (*found)
			return middle;
		if (to_key < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*found = false;
	return low;
}

/* Returns the position of the first of n rows whose number is not below this one; n: all are. The number is the
 * uint32_t at_octets into a row of row_octets. */
static inline size_t
sorted_position_of(const void *rows, size_t n, size_t row_octets, size_t at_octets, uint32_t number)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *at = (const char *)rows + middle * row_octets + at_octets;

		if (*(const uint32_t *)(const void *)at < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether the rows' numbers ascend, none of them twice, as a search takes for granted. For asserts. */
static inline bool
sorted_ascends_by(const void *rows, size_t n, size_t row_octets, size_t at_octets)
{
	for (size_t i = 1; i < n; i++) {
		const char *at = (const char *)rows + i * row_octets + at_octets, *before = at - row_octets;

		if (*(const uint32_t *)(const void *)before >= *(const uint32_t *)(const void *)at)
			return false;
	}
	return true;
}

/* The same by a member of the rows. */
#define SORTED_ASCENDS(rows, n, member)                                                            \
	sorted_ascends_by((rows), (n), sizeof((rows)[0]), offsetof(__typeof__((rows)[0]), member))
#define SORTED_POSITION_OF(rows, n, member, number)                                                \
	sorted_position_of(                                                                        \
	    (rows), (n), sizeof((rows)[0]), offsetof(__typeof__((rows)[0]), member), (number))

#endif
