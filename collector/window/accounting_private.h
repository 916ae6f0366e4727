/*
 * Shared by accounting.c, which adds samples and counters, accounting_states.c and accounting_events.c, which add
 * states and events, accounting_windows.c, which adds what they count to windows, accounting_identity.c, which decides
 * what is believed to be an agent's own, accounting_clock.c, which knows whose clock is wrong, and accounting_flush.c,
 * which moves sums and accounts into batches.
 */
#ifndef EASE_COLLECTOR_WINDOW_ACCOUNTING_PRIVATE_H
#define EASE_COLLECTOR_WINDOW_ACCOUNTING_PRIVATE_H

#include "collector/window/accounting.h"
#include "collector/window/sample_pairs.h"
#include "collector/window/inventory.h"
#include "collector/window/sample_thinning.h"

struct accounting {
	const struct clock *clock;
	uint64_t mono_us, received_us; /* when the current notification was read */
	bool has_held; /* counters of a port may wait for samples */
	uint64_t started_us;	       /* monotonic */
	uint64_t forget_us;
	struct agent_source_rules sources;
	struct uplink_rules uplinks;
	struct sample_watch watch;
	struct inventory inventory;
	struct window_table *windows;
	uint64_t notification; /* counts notifications */
	bool numbers_wait;     /* of some port */
	/* samples of the current notification that are not in their windows yet */
	struct window_sample samples[SAMPLE_PAIRS_MAX];
	size_t n_samples;
	struct ease_record *moved; /* MOVED_RECORDS, with another boot or times */
	uint64_t clock_tolerance_us; /* see device_clock.h */
	uint16_t vxlan_port;
	int64_t moved_us; /* what was added to the times of the notification at hand */
	/* The collector's wall clock less the monotonic one, now and before it was set; and when it was set,
	 * monotonic; 0: not lately. */
	int64_t wall_less_mono_us, before_step_us;
	uint64_t stepped_us;
	struct sample_thinning thinning;
	struct stat_set stats;
	_Atomic uint64_t values[ACCOUNTING_N_STATS];
};

static inline void
accounting_count(const struct accounting *acc, enum accounting_stat_id which)
{
	stat_add_own(&acc->stats, which, 1);
}

/* Returns the window of a port and time, or NULL at a limit. */
static inline struct window *
accounting_window_of(struct accounting *acc, const struct port *p, uint64_t time_us)
{
	return window_get(
	    acc->windows, p->agent->row.id, p->if_index, time_us, acc->mono_us);
}

/* accounting_windows.c */

/* A sample that found no window is in no key: adds that to the batch, of each kind of which its frame has one. */
void accounting_fold_apart(const struct port *p, const struct ease_sample *s, const struct frame_keys *keys,
    struct store_batch *batch);
/* Adds a row of sums to the batch, instead of a window; NULL without room. */
struct store_window *accounting_window_row(struct accounting *acc, const struct port *p,
    uint64_t time_us, uint8_t direction, struct store_batch *batch);

/* Parses the frame of a sample, with the VLAN that its agent tells beside it. */
void accounting_parse_frame(const struct ease_sample *s, struct frame_keys *keys);

/* Adds what a port counted up to its snapshot. Returns false if the snapshot is not the newest one
 * counted. */
bool accounting_add_totals(struct accounting *acc, struct port *p, const struct ease_record *r,
    struct store_batch *batch);

/* Adds numbers to their minute, with those of the port that wait. w: its window, or NULL. */
void accounting_add_numbers(struct accounting *acc, struct port *p, struct window *w,
    uint64_t time_us, int64_t expected, uint64_t received, struct store_batch *batch);

/* Adds what a gap cuts, a sample_gaps_sink. */
struct accounting_cut_target {
	struct accounting *acc;
	struct port *port;
	struct store_batch *batch;
};
void accounting_add_cut(void *target, const struct sample_gaps_cut *cut);

/* accounting_discards.c */

/* Adds a packet that a device discarded, or how many it did not tell of. */
void accounting_add_discard(
    struct accounting *acc, struct port *p, const struct ease_record *r, struct store_batch *batch);

/* Moves what a port only counts into the batch, if there is room. */
void accounting_flush_discards(struct accounting *acc, struct port *p, struct store_batch *batch);

/* accounting_states.c */

void accounting_add_state(
    struct accounting *acc, struct port *p, const struct ease_record *r, struct store_batch *batch);

/* A record from which nothing is summed: it becomes a row of the store. */
void accounting_add_row(
    struct accounting *acc, struct port *p, const struct ease_record *r, struct store_batch *batch);

/* The store adds up what is not flushed yet of a kind. */
void accounting_add_odd(
    struct accounting *acc, struct port *p, const struct ease_record *r, struct store_batch *batch);

/* accounting_identity.c */

/* Returns the agent of a record, which may be read from the store; NULL if it is new, or with *err -EDQUOT
 * if there is no place for it, -EIO if the store cannot be read. */
struct agent *accounting_find_agent(struct accounting *acc, const struct ease_record *r, int *err);

/* Adds the agent of a record; NULL, and the record is counted as refused, if there is no place for it. */
struct agent *accounting_add_agent(struct accounting *acc, const struct ease_record *r, uint64_t time_us);
struct agent *accounting_find_or_add_agent(struct accounting *acc, const struct ease_record *r, uint64_t time_us);

/* Notes that an accepted record of the agent arrived. */
void accounting_note_heard(struct accounting *acc, struct agent *a, const struct ease_record *r, uint64_t time_us);

/* Returns whether the record's source may speak for the agent; if so, it is bound where it is new. */
bool accounting_may_speak(struct accounting *acc, struct agent *a, const struct ease_record *r);

/* Returns whether the id of n records is none that their kind may have (agent_identity_fits); then they are counted as
 * refused, and the agent of that id, if there is one, is not touched. */
bool accounting_refuse_form(struct accounting *acc, const struct ease_record *records, size_t n);

/* Returns whether the record's boot is believed. A boot that goes back or jumps is when the newest
 * one has been silent; it then counts as the next one (agent.row.boot_shift). */
bool accounting_follow_boot(struct accounting *acc, struct agent *a, const struct ease_record *r,
    struct store_batch *batch);

/* Count a record in the agent's name as refused, because of its source or boot. The first returns whether it may be the
 * agent's own all the same. */
bool accounting_refuse_source(struct accounting *acc, struct agent *a, const struct ease_record *r);
void accounting_refuse_boot(struct accounting *acc, struct agent *a, const struct ease_record *r);

/* Counts a refused sample of that port as expected, if nothing else of the agent comes. */
void accounting_expect_refused(struct accounting *acc, const struct agent *a, uint64_t if_index,
    struct store_batch *batch);

/* accounting_room.c */

/* Count a record whose agent, or port, finds no place (-EDQUOT), or cannot be read from the store (-EIO). */
void accounting_refuse_agent(struct accounting *acc, const struct ease_record *r, int err);
void accounting_refuse_port(struct accounting *acc, const struct agent *a, uint64_t if_index, int err);

/* accounting_clock.c */

/* Notes the time of a notification; acc->received_us is still that of the one before. If the collector's
 * clock was set in between, what it would show otherwise is kept. */
void accounting_note_clock(struct accounting *acc, uint64_t received_us);

/* Tells in the log that a notification was stamped otherwise than the agent's others, by moved_us, or that its
 * records are of span_us, more than those of one notification may be (0: they are not). */
void accounting_tell_odd_times(const struct agent *a, int64_t moved_us, uint64_t span_us);

/* Returns what is to be added to the times of an agent's notification, whose newest one is newest_us as the
 * agent says it. An event and a line of the log tell when a clock is found wrong, or right again. */
int64_t accounting_judge_clock(struct accounting *acc, struct agent *a, uint64_t newest_us,
    struct store_batch *batch);

/* accounting_watch.c */

/* Tell who watches. missing: samples of the port that were found missing with this one. */
void accounting_show_sample(const struct accounting *acc, struct port *p, const struct ease_record *r,
    const struct frame_keys *keys, uint64_t missing);
void accounting_show_counters(const struct accounting *acc, struct port *p, const struct ease_record *r);

/* accounting_flush.c */

/* Adds the rows of an account to the batch if it changed since the last flush: at a flush, and
 * before the inventory forgets the account (an inventory_evicted callback). */
struct accounting_flush_target {
	struct accounting *acc;
	struct store_batch *batch;
};
void accounting_flush_account(void *to, const struct port *p, const struct account *a);

/* Moves a port's unwritten counters into the batch; they stay unwritten if it is full. */
void accounting_flush_counters(struct port *p, struct store_batch *batch);

#endif
