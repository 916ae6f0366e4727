/* Keeps and tells which agents' clocks are wrong (device_clock.h). */
#include "collector/window/accounting_private.h"
#include "common/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROOM "accounting"

/* A collector's clock is never adjusted by so much between two datagrams: it was set. What goes on by it
 * as before is believed for so long. *assumed* */
#define CLOCK_STEP_US	   1000000
#define CLOCK_STEP_KEPT_US 3600000000ull

/* What a clock is wrong by is told in seconds, or in days. */
#define DAYS_FROM_S 172800

void
accounting_note_clock(struct accounting *acc, uint64_t received_us)
{
	int64_t wall_less_mono_us = (int64_t)(received_us - acc->mono_us);
	int64_t step_us = wall_less_mono_us - acc->wall_less_mono_us;
	bool is_kept = acc->stepped_us > 0 && acc->mono_us - acc->stepped_us < CLOCK_STEP_KEPT_US;

	if (acc->received_us > 0 && (step_us > CLOCK_STEP_US || step_us < -CLOCK_STEP_US)) {
		if (!is_kept)
			acc->before_step_us = acc->wall_less_mono_us;
		acc->stepped_us = acc->mono_us;
	} else if (!is_kept) {
		acc->stepped_us = 0;
	}
	acc->wall_less_mono_us = wall_less_mono_us;
}

static void
tell_clock(struct accounting *acc, const struct agent *a, struct store_batch *batch)
{
	const struct accounting_event event = {.kind = a->clock.offset_us == 0 ? EASE_EVENT_CLOCK_RIGHT : EASE_EVENT_CLOCK_WRONG,
	    .agent = a->row.id, .time_us = acc->received_us};
	double behind_s = (double)a->clock.offset_us / 1e6, off_s = fabs(behind_s);
	char how[EASE_EVENT_TEXT];

	snprintf(how, sizeof(how), off_s < DAYS_FROM_S ? "%.1f s %s" : "%.0f days %s",
	    off_s < DAYS_FROM_S ? off_s : off_s / 86400, behind_s > 0 ? "behind" : "ahead");
	if (a->clock.offset_us == 0)
		log_info_limited(ROOM, "the clock of the agent at %s is right again", a->row.address);
	else
		log_warn_limited(ROOM,
		    "the clock of the agent at %s is %s: what it sends is stamped by its reception; set it, best by"
		    " NTP", a->row.address, how);
	accounting_add_own_event(acc, batch, &event, a->clock.offset_us == 0 ? "" : how);
}

void
accounting_tell_odd_times(const struct agent *a, int64_t moved_us, uint64_t span_us)
{
	if (moved_us != a->clock.offset_us)
		log_warn_limited(ROOM,
		    "a notification of the agent at %s is %.0f s off the time of its others: it is stamped by its"
		    " reception", a->row.address, fabs((double)(moved_us - a->clock.offset_us)) / 1e6);
	else if (span_us > 0)
		log_warn_limited(ROOM,
		    "a notification of the agent at %s has records of %.0f s: the older ones are stamped by its newest",
		    a->row.address, (double)span_us / 1e6);
}

int64_t
accounting_judge_clock(
    struct accounting *acc, struct agent *a, uint64_t newest_us, struct store_batch *batch)
{
	const struct device_clock_arrival arrival = {
	    .received_us = acc->received_us,
	    .mono_us = acc->mono_us,
	    .as_before_us = acc->stepped_us > 0 ? acc->mono_us + (uint64_t)acc->before_step_us : 0,
	    .tolerance_us = acc->clock_tolerance_us,
	};
	int64_t before_us = a->clock.offset_us, changed_us;
	int64_t move_us = device_clock_judge(&a->clock, &arrival, newest_us);

	changed_us = a->clock.offset_us - before_us;
	if (changed_us == 0)
		return move_us;
	a->clock_unwritten = true;
	a->clock_since_us = acc->received_us;
	/* drift is followed in silence */
	if (before_us == 0 || a->clock.offset_us == 0 ||
	    (uint64_t)(changed_us < 0 ? -changed_us : changed_us) > acc->clock_tolerance_us)
		tell_clock(acc, a, batch);
	return move_us;
}
