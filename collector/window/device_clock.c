#include "collector/window/device_clock.h"

void
device_clock_begin(struct device_clock *c, uint32_t boot, uint64_t time_us, uint64_t received_us)
{
	*c = (struct device_clock){.boot = boot, .now = {time_us, received_us}};
}

/* Returns whether a record has the time that the clock should show, give or take a day. */
static bool
is_near(const struct device_clock_mark *mark, uint64_t time_us, uint64_t received_us)
{
	int64_t away_us = (int64_t)(time_us - mark->time_us) -
	    (int64_t)(received_us - mark->received_us);

	return away_us <= (int64_t)DEVICE_CLOCK_MOST_US &&
	    away_us >= -(int64_t)DEVICE_CLOCK_MOST_US;
}

enum device_clock_verdict
device_clock_follow(
    struct device_clock *c, uint32_t boot, uint64_t time_us, uint64_t received_us)
{
	const struct device_clock_mark mark = {time_us, received_us};

	if (c->now.received_us == 0 || boot > c->boot) {
		c->before = c->now;
		c->now = mark;
		c->boot = boot;
		return DEVICE_CLOCK_RUNS;
	}
	if (boot < c->boot && c->before.received_us > 0)
		return is_near(&c->before, time_us, received_us) ? DEVICE_CLOCK_RUNS
								  : DEVICE_CLOCK_AWAY;
	if (is_near(&c->now, time_us, received_us))
		return DEVICE_CLOCK_RUNS;
	if (c->set_us == 0 || received_us >= c->set_us + DEVICE_CLOCK_SET_EVERY_US) {
		c->set_us = received_us;
		c->sets = 0;
	}
	if (boot < c->boot || c->sets == DEVICE_CLOCK_SETS)
		return DEVICE_CLOCK_AWAY;
	c->now = mark;
	c->sets++;
	return DEVICE_CLOCK_SET;
}
