/*
 * The sources of bad frames: one row for each port, address and kind of error, at most
 * HAL_MAX_ERROR_SOURCES. When the table is full, a new source replaces the one that has sent no bad
 * frame for longest, and this is counted.
 */
#include "agent/hal/hal_private.h"

#include <assert.h>
#include <string.h>

static int
compare_source(const struct ease_error_source *row, const struct hal_error_event *event)
{
	int order;

	if (row->if_index != event->if_index)
		return row->if_index < event->if_index ? -1 : 1;
	order = memcmp(row->mac, event->mac, sizeof(row->mac));
	return order != 0 ? order : row->kind - event->kind;
}

/* Returns the index of the event's row, or the one at which it would be inserted. */
static size_t
row_position(const struct hal *hal, const struct hal_error_event *event)
{
	size_t low = 0, high = hal->n_error_sources;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare_source(&hal->error_sources[middle], event) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
sources_remove_row(struct hal *hal, size_t i)
{
	struct ease_error_source *rows = hal->error_sources;

	assert(i < hal->n_error_sources);
	hal->n_error_sources--;
	memmove(&rows[i], &rows[i + 1], (hal->n_error_sources - i) * sizeof(rows[0]));
}

static void
forget_quietest(struct hal *hal)
{
	size_t quietest = 0;

	for (size_t i = 1; i < hal->n_error_sources; i++)
		if (hal->error_sources[i].time_us < hal->error_sources[quietest].time_us)
			quietest = i;
	sources_remove_row(hal, quietest);
	stat_add(&hal->stats, HAL_STAT_ERROR_SOURCES_FORGOTTEN, 1);
}

static struct ease_error_source *
insert_row(struct hal *hal, const struct hal_error_event *event)
{
	struct ease_error_source *row;
	size_t i;

	if (hal->n_error_sources == HAL_MAX_ERROR_SOURCES)
		forget_quietest(hal);
	i = row_position(hal, event);
	row = &hal->error_sources[i];
	assert(hal->n_error_sources < HAL_MAX_ERROR_SOURCES);
	memmove(row + 1, row, (hal->n_error_sources - i) * sizeof(*row));
	hal->n_error_sources++;
	*row = (struct ease_error_source){
	    .if_index = event->if_index, .kind = event->kind, .first_us = event->time_us};
	memcpy(row->mac, event->mac, sizeof(row->mac));
	return row;
}

void
hal_report_error_source(struct hal *hal, const struct hal_error_event *event)
{
	size_t i = row_position(hal, event);
	struct ease_error_source *row = &hal->error_sources[i];

	if (i == hal->n_error_sources || compare_source(row, event) != 0)
		row = insert_row(hal, event);
	row->count++;
	row->time_us = event->time_us;
	if (hal->listener.error_source != NULL)
		hal->listener.error_source(hal->listener.ctx, row);
}

const struct ease_error_source *
hal_error_sources(const struct hal *hal, size_t *n)
{
	*n = hal->n_error_sources;
	return hal->error_sources;
}
