#include "collector/window/totals.h"
#include "collector/store/schema.h"

#include <string.h>

void
totals_set_base(struct totals *t, uint32_t boot, const struct ease_snapshot *s)
{
	*t = (struct totals){
	    .has_base = true,
	    .boot = boot,
	    .time_us = s->time_us,
	    .discontinuity_us = s->discontinuity_us,
	    .values =
		{
		    [TOTALS_IN_PKTS] = s->pool_in_pkts,
		    [TOTALS_IN_OCTETS] = s->in.octets,
		    [TOTALS_OUT_PKTS] = s->pool_out_pkts,
		    [TOTALS_OUT_OCTETS] = s->out.octets,
		},
	};
}

static bool
none_fell(const struct totals *from, const struct totals *to)
{
	for (int i = 0; i < TOTALS_N_VALUES; i++)
		if (to->values[i] < from->values[i])
			return false;
	return true;
}

static bool
none_rose(const struct totals *from, const struct totals *to)
{
	return none_fell(to, from);
}

/* What of a difference belongs to the time before at_us, rounded down: so parts add up. */
static uint64_t
share_until(uint64_t difference, const struct totals *from, const struct totals *to, uint64_t at_us)
{
	if (at_us >= to->time_us)
		return difference;
	return (uint64_t)((unsigned __int128)difference * (at_us - from->time_us) /
	    (to->time_us - from->time_us));
}

static void
spread(const struct totals *from, const struct totals *to, totals_sink *sink, void *arg)
{
	uint64_t done[TOTALS_N_VALUES] = {0};
	uint64_t start = from->time_us - from->time_us % STORE_WINDOW_US;

	do {
		uint64_t part[TOTALS_N_VALUES];

		for (int i = 0; i < TOTALS_N_VALUES; i++) {
			uint64_t until = share_until(to->values[i] - from->values[i], from, to,
			    start + STORE_WINDOW_US);

			part[i] = until - done[i];
			done[i] = until;
		}
		sink(arg, start, part);
		start += STORE_WINDOW_US;
	} while (start < to->time_us);
}

/* The device's clock was set back, or its time began again: how long the difference took is not
 * known, so it counts where the device says that it is now. */
static void
count_at_end(const struct totals *from, const struct totals *to, totals_sink *sink, void *arg)
{
	uint64_t part[TOTALS_N_VALUES];

	for (int i = 0; i < TOTALS_N_VALUES; i++)
		part[i] = to->values[i] - from->values[i];
	sink(arg, to->time_us - to->time_us % STORE_WINDOW_US, part);
}

enum totals_verdict
totals_take(struct totals *t, uint32_t boot, const struct ease_snapshot *s, totals_sink *sink,
    void *arg)
{
	struct totals from = *t, to;

	totals_set_base(&to, boot, s);
	if (!from.has_base) {
		*t = to;
		return TOTALS_FIRST;
	}
	if (boot < from.boot ||
	    (boot == from.boot && to.time_us <= from.time_us && none_rose(&from, &to)))
		return TOTALS_OLD;
	*t = to;
	if (to.discontinuity_us != from.discontinuity_us || !none_fell(&from, &to))
		return TOTALS_RESET;
	if (to.time_us > from.time_us && to.time_us - from.time_us > TOTALS_GAP_MAX_US)
		return TOTALS_GAP;
	if (to.time_us > from.time_us)
		spread(&from, &to, sink, arg);
	else
		count_at_end(&from, &to, sink, arg);
	return TOTALS_COUNTED;
}
