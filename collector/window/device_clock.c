#include "collector/window/device_clock.h"

static bool
is_within(int64_t difference_us, uint64_t most_us)
{
	return difference_us <= (int64_t)most_us && difference_us >= -(int64_t)most_us;
}

static void
set_offset(struct device_clock *c, int64_t offset_us, uint64_t tolerance_us)
{
	c->offset_us = is_within(offset_us, tolerance_us) ? 0 : offset_us;
	c->other.n = 0;
	c->n = 0;
	c->noted_us = 0;
}

/* ---- a clock that drifts ---- */

static int32_t
median_of(const int32_t *values, uint32_t n)
{
	int32_t sorted[DEVICE_CLOCK_VALUES];

	for (uint32_t i = 0, k; i < n; i++) {
		for (k = i; k > 0 && sorted[k - 1] > values[i]; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = values[i];
	}
	return sorted[(n - 1) / 2]; /* of two the lesser: nothing arrives too early */
}

/* An offset that is in use follows by quarters of the tolerance, and ends at half of it; so nothing goes to
 * and fro at its edge. */
static void
follow_offset(struct device_clock *c, uint64_t tolerance_us)
{
	int32_t off_us = median_of(c->values_us, c->n < DEVICE_CLOCK_VALUES ? c->n : DEVICE_CLOCK_VALUES);
	int64_t offset_us = c->offset_us + off_us;
	bool begins = c->offset_us == 0 && !is_within(offset_us, tolerance_us);
	bool ends = c->offset_us != 0 && is_within(offset_us, tolerance_us / 2);

	if (!begins && !ends && (c->offset_us == 0 || is_within(off_us, tolerance_us / 4)))
		return;
	offset_us = ends ? 0 : offset_us;
	for (int i = 0; i < DEVICE_CLOCK_VALUES; i++)
		c->values_us[i] -= (int32_t)(offset_us - c->offset_us);
	c->offset_us = offset_us;
}

static void
note_offset(struct device_clock *c, const struct device_clock_arrival *at, int64_t off_us)
{
	if (c->noted_us > 0 && at->mono_us - c->noted_us < DEVICE_CLOCK_EVERY_US)
		return;
	c->noted_us = at->mono_us;
	c->values_us[c->n++ % DEVICE_CLOCK_VALUES] = (int32_t)off_us;
	follow_offset(c, at->tolerance_us);
}

static void
note_newest(struct device_clock *c, uint64_t time_us)
{
	if (time_us + (uint64_t)c->offset_us > c->newest_us)
		c->newest_us = time_us + (uint64_t)c->offset_us;
}

/* ---- a clock that was set, and records of other times ---- */

static int64_t
judge_other(struct device_clock *c, const struct device_clock_arrival *at, uint64_t time_us, int64_t own_us)
{
	struct device_clock_other *other = &c->other;
	bool is_late = own_us > c->offset_us && is_within(own_us - c->offset_us, DEVICE_CLOCK_LATE_US) &&
	    time_us + (uint64_t)c->offset_us + at->tolerance_us >= c->newest_us;

	if (other->n == 0 || !is_within(own_us - other->offset_us, at->tolerance_us))
		*other = (struct device_clock_other){.offset_us = own_us, .since_us = at->mono_us};
	other->n++;
	if (other->n >= DEVICE_CLOCK_SURE && at->mono_us - other->since_us >=
	    (is_late ? DEVICE_CLOCK_LATE_SURE_US : DEVICE_CLOCK_SURE_US)) {
		set_offset(c, other->offset_us, at->tolerance_us);
		c->newest_us = time_us + (uint64_t)c->offset_us;
		return c->offset_us;
	}
	if (is_late) {
		note_newest(c, time_us);
		return c->offset_us;
	}
	return is_within(other->offset_us, at->tolerance_us) ? 0 : other->offset_us;
}

void
device_clock_resume(struct device_clock *c, int64_t offset_us, uint64_t newest_us)
{
	*c = (struct device_clock){.known = true, .offset_us = offset_us, .newest_us = newest_us};
}

int64_t
device_clock_judge(
    struct device_clock *c, const struct device_clock_arrival *at, uint64_t time_us)
{
	int64_t own_us = (int64_t)(at->received_us - time_us);

	if (at->tolerance_us == 0)
		return 0;
	if (!c->known) {
		c->known = true;
		set_offset(c, own_us, at->tolerance_us);
	}
	if (is_within(own_us - c->offset_us, 2 * at->tolerance_us)) {
		note_newest(c, time_us);
		note_offset(c, at, own_us - c->offset_us);
		return c->offset_us;
	}
	if (at->as_before_us > 0 && is_within((int64_t)(at->as_before_us - time_us), at->tolerance_us))
		return 0;
	return judge_other(c, at, time_us, own_us);
}
