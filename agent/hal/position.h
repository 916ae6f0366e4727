/*
 * Where a row of an array sorted by ifIndex stands, or would stand.
 */
#ifndef EASE_AGENT_HAL_POSITION_H
#define EASE_AGENT_HAL_POSITION_H

#include <stddef.h>
#include <stdint.h>

/* The position of the first of n rows of row_octets whose ifIndex, at_octets into the row, is not below
 * this one; n: all are. */
static inline size_t
hal_position_of(const void *rows, size_t n, size_t row_octets, size_t at_octets, uint32_t if_index)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const uint8_t *row = (const uint8_t *)rows + middle * row_octets + at_octets;

		if (*(const uint32_t *)(const void *)row < if_index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The same for rows whose member is named if_index. */
#define HAL_POSITION_OF(rows, n, if_index_)                                                         \
	hal_position_of((rows), (n), sizeof((rows)[0]),                                            \
	    offsetof(__typeof__((rows)[0]), if_index), (if_index_))

#endif
