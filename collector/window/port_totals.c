#include "collector/window/port_totals.h"
#include "collector/store/schema.h"

#include <string.h>

void
port_totals_set_base(struct port_totals *t, uint32_t boot, const struct ease_snapshot *s)
{
	*t = (struct port_totals){
	    .has_base = true,
	    .boot = boot,
	    .time_us = s->time_us,
	    .discontinuity_us = s->discontinuity_us,
	    .values =
		{
		    [PORT_TOTALS_IN_PKTS] = s->pool_in_pkts,
		    [PORT_TOTALS_IN_OCTETS] = s->in.octets,
		    [PORT_TOTALS_OUT_PKTS] = s->pool_out_pkts,
		    [PORT_TOTALS_OUT_OCTETS] = s->out.octets,
		},
	};
}

static bool
none_decreased(const struct port_totals *from, const struct port_totals *to)
{
	for (int i = 0; i < PORT_TOTALS_N_VALUES; i++)
		if (to->values[i] < from->values[i] && from->values[i] != EASE_COUNT_UNKNOWN)
			return false;
	return true;
}

/* Returns the difference of a value; 0 if the device counts it in one of the snapshots only. */
static uint64_t
added(const struct port_totals *from, const struct port_totals *to, int i)
{
	if (from->values[i] == EASE_COUNT_UNKNOWN || to->values[i] == EASE_COUNT_UNKNOWN)
		return 0;
	return to->values[i] - from->values[i];
}

static bool
none_increased(const struct port_totals *from, const struct port_totals *to)
{
	return none_decreased(to, from);
}

/* Returns the part of a difference that belongs to the time before at_us, rounded down; so the
 * parts of all minutes add up to the difference. */
static uint64_t
share_until(uint64_t difference, const struct port_totals *from, const struct port_totals *to,
    uint64_t at_us)
{
	if (at_us >= to->time_us)
		return difference;
	return (uint64_t)((unsigned __int128)difference * (at_us - from->time_us) /
	    (to->time_us - from->time_us));
}

static void
spread(
    const struct port_totals *from, const struct port_totals *to, port_totals_sink *sink, void *arg)
{
	uint64_t done[PORT_TOTALS_N_VALUES] = {0};
	uint64_t start = from->time_us - from->time_us % STORE_WINDOW_US;

	do {
		uint64_t part[PORT_TOTALS_N_VALUES];

		for (int i = 0; i < PORT_TOTALS_N_VALUES; i++) {
			uint64_t until = share_until(added(from, to, i), from, to,
			    start + STORE_WINDOW_US);

			part[i] = until - done[i];
			done[i] = until;
		}
		sink(arg, start, part);
		start += STORE_WINDOW_US;
	} while (start < to->time_us);
}

/* Adds the whole difference to the minute of the newest snapshot: the device's clock was set back,
 * so it is not known how long the difference took. */
static void
count_at_end(
    const struct port_totals *from, const struct port_totals *to, port_totals_sink *sink, void *arg)
{
	uint64_t part[PORT_TOTALS_N_VALUES];

	for (int i = 0; i < PORT_TOTALS_N_VALUES; i++)
		part[i] = added(from, to, i);
	sink(arg, to->time_us - to->time_us % STORE_WINDOW_US, part);
}

/* Sets a new base. Snapshots of earlier times that arrive later are counted backwards from it. */
static void
begin_with(struct port_totals *t, const struct port_totals *base)
{
	*t = *base;
	t->first_us = base->time_us;
	memcpy(t->first, base->values, sizeof(t->first));
}

/* Adds what was counted between a snapshot that is older than all and the first one of its boot. */
static enum port_totals_verdict
add_beginning(
    struct port_totals *t, const struct port_totals *s, port_totals_sink *sink, void *arg)
{
	struct port_totals first = *t;

	first.time_us = t->first_us;
	memcpy(first.values, t->first, sizeof(first.values));
	if (s->boot != t->boot || s->discontinuity_us != t->discontinuity_us ||
	    s->time_us >= first.time_us || first.time_us - s->time_us > PORT_TOTALS_GAP_MAX_US ||
	    !none_decreased(s, &first))
		return PORT_TOTALS_OLD;
	spread(s, &first, sink, arg);
	t->first_us = s->time_us;
	memcpy(t->first, s->values, sizeof(t->first));
	return PORT_TOTALS_BEGINNING;
}

enum port_totals_verdict
port_totals_add(struct port_totals *t, uint32_t boot, const struct ease_snapshot *s,
    port_totals_sink *sink, void *arg)
{
	struct port_totals from = *t, to;

	port_totals_set_base(&to, boot, s);
	if (!from.has_base) {
		begin_with(t, &to);
		return PORT_TOTALS_FIRST;
	}
	if (boot < from.boot)
		return PORT_TOTALS_OLD;
	if (boot == from.boot && to.time_us <= from.time_us && none_increased(&from, &to))
		return add_beginning(t, &to, sink, arg);
	begin_with(t, &to);
	if (to.discontinuity_us != from.discontinuity_us || !none_decreased(&from, &to))
		return PORT_TOTALS_RESET;
	if (to.time_us > from.time_us && to.time_us - from.time_us > PORT_TOTALS_GAP_MAX_US)
		return PORT_TOTALS_GAP;
	if (to.time_us > from.time_us) {
		t->first_us = from.first_us;
		memcpy(t->first, from.first, sizeof(t->first));
		spread(&from, &to, sink, arg);
	} else {
		t->first_us = 0; /* older snapshots cannot be placed in time any more */
		count_at_end(&from, &to, sink, arg);
	}
	return PORT_TOTALS_COUNTED;
}
