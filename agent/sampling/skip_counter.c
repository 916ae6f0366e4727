#include "agent/sampling/skip_counter.h"

#include <assert.h>
#include <string.h>

/* The pool may lag behind the skip counter: a frame that waits to be sent is counted when it leaves. Then the
 * end of the last period stays where it is, or these frames would be counted twice. */
static void
counter_begin_period(struct skip_counter *c, uint64_t pool_pkts)
{
	if (c->state == SKIP_COUNTER_STALLED) {
		c->stalls++;
		if (pool_pkts > c->end_pkts) {
			c->stalled_pkts += pool_pkts - c->end_pkts;
			c->end_pkts = pool_pkts;
		}
	}
	if (c->state == SKIP_COUNTER_IDLE)
		c->end_pkts = pool_pkts;
	c->state = SKIP_COUNTER_COUNTING;
}

void
skip_counter_step(struct skip_counter *c, enum skip_counter_event event, uint64_t pool_pkts)
{
	switch (event) {
	case SKIP_COUNTER_LOAD:
		counter_begin_period(c, pool_pkts);
		break;
	case SKIP_COUNTER_RAN_OUT:
		if (c->state == SKIP_COUNTER_COUNTING)
			c->state = SKIP_COUNTER_STALLED;
		break;
	case SKIP_COUNTER_LOST:
		c->n_loaded = 0;
		c->state = SKIP_COUNTER_IDLE;
		break;
	case SKIP_COUNTER_OFF:
		if (c->state == SKIP_COUNTER_STALLED)
			c->state = SKIP_COUNTER_IDLE;
		break;
	}
}

void
skip_counter_add(struct skip_counter *c, const struct drawn_skip *skip)
{
	assert(c->n_loaded < SKIPS_AHEAD_MAX && c->state == SKIP_COUNTER_COUNTING);
	c->loaded[c->n_loaded++] = *skip;
	c->end_pkts += (uint64_t)skip->skip + 1;
}

bool
skip_counter_pop(struct skip_counter *c, struct drawn_skip *skip)
{
	if (c->n_loaded == 0)
		return false;
	*skip = c->loaded[0];
	memmove(&c->loaded[0], &c->loaded[1], --c->n_loaded * sizeof(*skip));
	return true;
}
