#include "collector/window/port_totals.h"
#include "collector/store/schema.h"

#include <assert.h>
#include <string.h>

/* If the device's clock went ahead of the collector's by more than this between two snapshots, it
 * was set. */
#define CLOCK_SET_US (PORT_TOTALS_UNTOLD_MINUTES * (uint64_t)STORE_WINDOW_US)

void
port_totals_set_base(
    struct port_totals *t, uint32_t boot, const struct ease_snapshot *s, uint64_t received_us)
{
	*t = (struct port_totals){
	    .has_base = true,
	    .boot = boot,
	    .time_us = s->time_us,
	    .received_us = received_us,
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

bool
port_totals_go_back(const struct port_totals *t, uint32_t boot, const struct ease_snapshot *s)
{
	struct port_totals to;

	port_totals_set_base(&to, boot, s, 0);
	return t->has_base && boot == t->boot && !none_decreased(t, &to);
}

/* Returns the difference of a value; 0 if the device counts it in one of the snapshots only. */
static uint64_t
added_total(const struct port_totals *from, const struct port_totals *to, int i)
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

uint64_t
port_totals_share(uint64_t difference, uint64_t from_us, uint64_t until_us, uint64_t at_us)
{
	if (at_us >= until_us)
		return difference;
	if (at_us <= from_us)
		return 0;
	assert(from_us < until_us);
	return (uint64_t)((unsigned __int128)difference * (at_us - from_us) / (until_us - from_us));
}

/* The time over which the difference of two snapshots was counted. If the device's clock was set in
 * between, the collector's clock says how long it took; where that says nothing either, all of it
 * belongs to the newest minute. */
struct span {
	uint64_t from_us, until_us;
};

static struct span
port_totals_span_of(const struct port_totals *from, const struct port_totals *to)
{
	uint64_t took_us = to->time_us > from->time_us ? to->time_us - from->time_us : 0;
	uint64_t received_us = from->received_us > 0 && to->received_us > from->received_us
				   ? to->received_us - from->received_us : 0;

	if (received_us > 0 && (took_us == 0 || took_us > received_us + CLOCK_SET_US))
		took_us = received_us;
	if (took_us > to->time_us)
		took_us = to->time_us;
	return (struct span){to->time_us - took_us, to->time_us};
}

static uint64_t
minute_of(uint64_t time_us)
{
	return time_us - time_us % STORE_WINDOW_US;
}

static bool
is_longer(const struct span *span, unsigned minutes)
{
	return span->until_us > minute_of(span->from_us) + minutes * (uint64_t)STORE_WINDOW_US;
}

/* Sets which part of each value was counted before at_us, below 0 where no sample tells, and what of it passed while
 * samples came. */
static void
part_until(const struct port_totals *from, const struct port_totals *to, const struct span *span,
    const struct port_pools *pools, uint64_t at_us, double part[PORT_TOTALS_N_VALUES], double came[PORT_TOTALS_N_VALUES])
{
	for (int i = PORT_TOTALS_IN_PKTS; i < PORT_TOTALS_N_VALUES; i += 2) {
		struct port_pools_part before = {-1, -1, 0, 0};
		double pkts = (double)added_total(from, to, i);

		if (pools)
			before = port_pools_part(&pools[i / 2], (struct port_pools_end){span->from_us, from->values[i]},
			    (struct port_pools_end){span->until_us, to->values[i]}, at_us);
		part[i] = before.pkts;
		part[i + 1] = before.octets;
		came[i] = before.came_pkts * pkts;
		came[i + 1] = before.came_octets * pkts;
	}
}
_Static_assert(PORT_TOTALS_OUT_PKTS == 2 && PORT_TOTALS_OUT_OCTETS == 3, "octets stand behind their frames");

static bool
port_totals_is_gap(const struct port_totals *from, const struct port_totals *to, const struct span *span,
    const struct port_pools *pools)
{
	double part[PORT_TOTALS_N_VALUES], came[PORT_TOTALS_N_VALUES];

	if (!is_longer(span, PORT_TOTALS_UNTOLD_MINUTES))
		return false;
	part_until(from, to, span, pools, span->until_us, part, came);
	return is_longer(span, PORT_TOTALS_MINUTES) || !pools ||
	    ((part[PORT_TOTALS_IN_PKTS] < 0 || pools[0].is_broken) && (part[PORT_TOTALS_OUT_PKTS] < 0 || pools[1].is_broken));
}

/* Returns what was counted of a value before at_us: as the samples tell, or else by time. */
static uint64_t
counted_until(const struct port_totals *from, const struct port_totals *to, const struct span *span,
    const double part[], int i, uint64_t at_us)
{
	uint64_t difference = added_total(from, to, i);
	double counted = part[i] * (double)difference;

	if (at_us >= span->until_us || counted >= (double)difference)
		return difference;
	if (part[i] < 0)
		return port_totals_share(difference, span->from_us, span->until_us, at_us);
	return (uint64_t)counted;
}

/* Adds the difference, by minute or as one gap. Returns false if there was no room for it. */
static bool
spread_totals(const struct port_totals *from, const struct port_totals *to, const struct span *span,
    const struct port_pools *pools, port_totals_sink *sink, void *arg)
{
	struct port_totals_part parts[PORT_TOTALS_MINUTES];
	uint64_t done[PORT_TOTALS_N_VALUES] = {0}, start_us = minute_of(span->from_us);
	uint64_t step_us = STORE_WINDOW_US;
	double passed[PORT_TOTALS_N_VALUES], came[PORT_TOTALS_N_VALUES], before[PORT_TOTALS_N_VALUES] = {0};
	size_t n = 0;

	if (port_totals_is_gap(from, to, span, pools)) {
		start_us = span->from_us;
		step_us = span->until_us - span->from_us;
	}
	do {
		assert(n < PORT_TOTALS_MINUTES);
		struct port_totals_part *part = &parts[n++];

		part->from_us = start_us;
		part->until_us = start_us + step_us;
		part_until(from, to, span, pools, part->until_us, passed, came);
		for (int i = 0; i < PORT_TOTALS_N_VALUES; i++) {
			uint64_t until = counted_until(from, to, span, passed, i, part->until_us);

			part->values[i] = until > done[i] ? until - done[i] : 0;
			done[i] += part->values[i];
			part->came[i] = came[i] - before[i];
			before[i] = came[i];
		}
		start_us += step_us;
	} while (start_us < span->until_us);
	return sink(arg, parts, n);
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
	struct span span = {s->time_us, t->first_us};
	struct port_totals first = *t;

	first.time_us = t->first_us;
	memcpy(first.values, t->first, sizeof(first.values));
	if (s->boot != t->boot || s->discontinuity_us != t->discontinuity_us ||
	    s->time_us >= first.time_us || first.time_us - s->time_us > PORT_TOTALS_BEFORE_MAX_US ||
	    !none_decreased(s, &first) || !spread_totals(s, &first, &span, NULL, sink, arg))
		return PORT_TOTALS_OLD;
	t->first_us = s->time_us;
	memcpy(t->first, s->values, sizeof(t->first));
	return PORT_TOTALS_BEGINNING;
}

/* Goes on from the base to a newer snapshot of the same counters. */
static enum port_totals_verdict
port_totals_go_on(struct port_totals *t, const struct port_totals *to, const struct port_pools *pools,
    port_totals_sink *sink, void *arg)
{
	const struct port_totals from = *t;
	struct span span = port_totals_span_of(&from, to);
	bool gap = port_totals_is_gap(&from, to, &span, pools);

	if (!spread_totals(&from, to, &span, pools, sink, arg))
		return PORT_TOTALS_WAITS;
	begin_with(t, to);
	if (to->time_us > from.time_us) {
		t->first_us = from.first_us;
		memcpy(t->first, from.first, sizeof(t->first));
	} else {
		t->first_us = 0; /* older snapshots cannot be placed in time any more */
	}
	return gap ? PORT_TOTALS_GAP : PORT_TOTALS_COUNTED;
}

/* The same counters, but that frames are counted from another number on with each boot of some agents (where packets of the
 * kernel are several frames): what passed between two boots is taken to be of a mean length. False: octets went back, too. */
static bool
bring_pools_on(const struct port_totals *from, struct port_totals *to)
{
	for (int i = 0; i < PORT_TOTALS_N_VALUES; i += 2) {
		uint64_t pkts = from->values[i], octets = from->values[i + 1];

		if (pkts == EASE_COUNT_UNKNOWN || octets == EASE_COUNT_UNKNOWN || to->values[i + 1] < octets)
			return false;
		if (to->values[i] < pkts)
			to->values[i] = pkts + (octets > 0
				? (uint64_t)((double)(to->values[i + 1] - octets) * (double)pkts / (double)octets) : 0);
	}
	return true;
}

static enum port_totals_verdict
port_totals_add_snapshot(struct port_totals *t, const struct port_pools *pools, uint32_t boot,
    const struct ease_snapshot *s, uint64_t received_us, port_totals_sink *sink, void *arg)
{
	struct port_totals to, on;
	enum port_totals_verdict verdict;

	port_totals_set_base(&to, boot, s, received_us);
	on = to;
	if (!t->has_base) {
		begin_with(t, &to);
		return PORT_TOTALS_FIRST;
	}
	if (boot < t->boot)
		return PORT_TOTALS_OLD;
	if (boot == t->boot && to.time_us <= t->time_us && none_increased(t, &to))
		return add_beginning(t, &to, sink, arg);
	if (to.discontinuity_us != t->discontinuity_us ||
	    (!none_decreased(t, &to) && (boot == t->boot || !bring_pools_on(t, &on)))) {
		begin_with(t, &to);
		return PORT_TOTALS_RESET;
	}
	verdict = port_totals_go_on(t, &on, pools, sink, arg);
	if (verdict != PORT_TOTALS_WAITS)
		memcpy(t->values, to.values, sizeof(t->values));
	return verdict;
}

enum port_totals_verdict
port_totals_add(struct port_totals *t, struct port_pools pools[2], uint32_t boot,
    const struct ease_snapshot *s, uint64_t received_us, port_totals_sink *sink, void *arg)
{
	enum port_totals_verdict verdict = port_totals_add_snapshot(t, pools, boot, s, received_us, sink, arg);

	for (int d = 0; pools && d < 2 && t->time_us == s->time_us; d++)
		port_pools_begin_at(&pools[d], s->time_us);
	return verdict;
}

void
port_totals_add_uncounted(struct port_totals *t, uint32_t boot, uint64_t time_us, const struct ease_uncounted *uncounted,
    port_totals_sink *sink, void *arg)
{
	struct port_totals end = *t;

	if (!t->has_base || boot != t->boot || time_us <= t->time_us + 1)
		return;
	end.time_us = time_us - 1;
	for (int d = 0; d < 2; d++) {
		end.values[2 * d] += uncounted[d].pkts;
		end.values[2 * d + 1] += uncounted[d].octets;
	}
	port_totals_go_on(t, &end, NULL, sink, arg);
}
