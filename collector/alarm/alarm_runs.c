#include "collector/alarm/alarm_runs.h"

#include <errno.h>
#include <stdlib.h>

enum { A_LINE = 4, LINES = ALARM_RUNS / A_LINE };

int
alarm_runs_init(struct alarm_runs *r)
{
	*r = (struct alarm_runs){.mask = LINES - 1};
	r->runs = aligned_alloc(64, ALARM_RUNS * sizeof(*r->runs));
	if (!r->runs)
		return -ENOMEM;
	for (size_t i = 0; i < ALARM_RUNS; i++)
		r->runs[i] = (struct alarm_run){0};
	return 0;
}

void
alarm_runs_free(struct alarm_runs *r)
{
	free(r->runs);
	r->runs = NULL;
}

static float
left_of(const struct alarm_run *run, uint32_t now_ms, float drift)
{
	int32_t elapsed_ms = (int32_t)(now_ms - run->last_ms);

	return run->tag ? run->statistic[0] - drift * (float)(elapsed_ms > 0 ? elapsed_ms : 0) / 1000 : -1;
}

struct alarm_run *
alarm_runs_find(struct alarm_runs *r, uint64_t tag, uint32_t now_ms, float drift, bool *pushed)
{
	struct alarm_run *line = &r->runs[(tag & r->mask) * A_LINE], *least = line;
	float left, least_left;

	*pushed = false;
	for (int i = 0; i < A_LINE; i++)
		if (line[i].tag == tag)
			return &line[i];
	least_left = left_of(line, now_ms, drift);
	for (int i = 1; i < A_LINE; i++) {
		left = left_of(&line[i], now_ms, drift);
		if (left < least_left) {
			least = &line[i];
			least_left = left;
		}
	}
	*pushed = least_left > 0;
	*least = (struct alarm_run){.tag = tag, .last_ms = now_ms};
	return least;
}
