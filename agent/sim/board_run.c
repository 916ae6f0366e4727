#include "agent/sim/board_run.h"

#include "agent/sim/board_regs.h"
#include "common/clock.h"
#include "common/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define NEVER	UINT64_MAX
#define TICK_US 100000ull /* the time of a paced board is updated at least this often */
#define LIVE_TICK_US 1000ull /* live interfaces are polled this often */

static const struct stat_name stat_names[BOARD_RUN_N_STATS] = {
    [BOARD_RUN_STAT_TIMES_BACK] = {"board.times_back",
	"frames recorded earlier than the frame before; they get its time"},
    [BOARD_RUN_STAT_TIME_STEPS] = {"board.time_steps",
	"silences of over an hour in the capture, treated as a step of its clock"},
};

enum { BATCH_FRAMES = 128 }; /* taken from the feed at a time: 4 KiB of descriptors */
enum { LIVE_FRAMES = 128 };  /* between two turns of the CPU at most */

struct board_run {
	struct board_run_config config;
	pthread_t thread; /* paced only */
	bool started;
	_Atomic uint64_t now_us;
	/* The bus's lock guards the rest. */
	bool stopping, gate_open;
	bool ended, end_taken;
	uint64_t alarm_us[BOARD_N_ALARMS]; /* NEVER: not set */
	bool alarm_due[BOARD_N_ALARMS];
	struct feed_frame frames[BATCH_FRAMES]; /* in board time */
	size_t n_frames, next_frame; /* next_frame == n_frames: read the feed */
	struct feed_frame live[LIVE_FRAMES];
	uint64_t tick_us;
	uint64_t offset_us; /* board time less capture time, modulo 2^64 */
	uint64_t newest_us; /* of the last of the frames */
	uint64_t mono_zero_us, board_zero_us; /* pacing: the same moment in both times */
	_Atomic uint64_t stat_values[BOARD_RUN_N_STATS];
	struct stat_set stats;
};

static uint64_t
now_us(const struct board_run *r)
{
	return atomic_load_explicit(&r->now_us, memory_order_relaxed);
}

static void
set_now(struct board_run *r, uint64_t us)
{
	atomic_store_explicit(&r->now_us, us, memory_order_relaxed);
}

uint64_t
board_run_now_us(const struct board_run *run)
{
	return now_us(run);
}

static void
anchor_pace(struct board_run *r)
{
	r->mono_zero_us = clock_mono_us(&clock_system);
	r->board_zero_us = now_us(r);
}

/* --- the next frame --- */

/* From capture time to board time, which never goes back. */
static void
convert_times(struct board_run *r)
{
	uint64_t before = r->newest_us;

	for (size_t i = 0; i < r->n_frames; i++) {
		uint64_t us = r->frames[i].time_us + r->offset_us;

		if ((int64_t)(us - before) < 0) {
			stat_add(&r->stats, BOARD_RUN_STAT_TIMES_BACK, 1);
			us = before;
		}
		r->frames[i].time_us = before = us;
	}
	r->newest_us = before;
}

/* Reads more frames from the feed; false at its end. Without a feed a paced board keeps running, and one
 * in lock step ends, because its time would run without limit. */
static bool
fetch_frames(struct board_run *r)
{
	struct feed *feed = r->config.feed;

	if (r->ended || (!feed && !r->config.lock_step))
		return false;
	r->next_frame = 0;
	r->n_frames = feed ? feed_next_batch(feed, r->frames, BATCH_FRAMES) : 0;
	for (size_t i = 0; i < FABRIC_HEADERS_AHEAD && i < r->n_frames; i++)
		fabric_prefetch(&r->frames[i]);
	convert_times(r);
	if (r->n_frames > 0)
		return true;
	if (feed && feed_has_live(feed))
		return false; /* never at its end */
	if (fabric_has_waiting(r->config.fabric)) {
		r->alarm_us[BOARD_ALARM_HARDWARE] = fabric_advance(r->config.fabric, now_us(r));
		return false;
	}
	r->ended = true;
	bus_model_set_line(r->config.bus, BOARD_LINE_END, true);
	bus_model_set_line(r->config.bus, BOARD_LINE_STEP, false);
	return false;
}

/* The next frame or NULL, without removing it. Its time becomes the board's time when it is passed on. */
static inline const struct feed_frame *
peek_frame(struct board_run *r)
{
	if (r->next_frame == r->n_frames && !fetch_frames(r))
		return NULL;
	return &r->frames[r->next_frame];
}

/* Live frames may have moved board time beyond it. */
static inline uint64_t
frame_us(const struct board_run *r, const struct feed_frame *frame)
{
	return frame->time_us > now_us(r) ? frame->time_us : now_us(r);
}

static uint64_t
next_alarm(const struct board_run *r)
{
	uint64_t next = NEVER;

	for (int i = 0; i < BOARD_N_ALARMS; i++)
		if (r->alarm_us[i] < next)
			next = r->alarm_us[i];
	return next;
}

static inline bool
is_silence(uint64_t from_us, uint64_t to_us)
{
	return to_us - from_us > BOARD_RUN_MAX_SILENCE_US;
}

/* --- pace --- */

static uint64_t
paced_now(const struct board_run *r)
{
	uint64_t mono = clock_mono_us(&clock_system) - r->mono_zero_us;

	return r->board_zero_us + mono * r->config.times;
}

/* Waits a while for board time to reach next. True if it has. */
static bool
paced_wait(struct board_run *r, uint64_t next)
{
	uint64_t now = paced_now(r), ahead_us;

	if (now >= next)
		return true;
	if (now > now_us(r))
		set_now(r, now);
	ahead_us = (next - now) / r->config.times + 1;
	if (ahead_us > r->tick_us)
		ahead_us = r->tick_us;
	bus_model_wait(r->config.bus, clock_mono_us(&clock_system) + ahead_us);
	return false;
}

/* --- running --- */

/* Whether an interrupt is pending that the CPU must handle before a board in lock step continues. */
static bool
is_interrupted(const struct board_run *r)
{
	return bus_model_lines(r->config.bus) & ~(1u << BOARD_LINE_STEP | 1u << BOARD_LINE_END);
}

static void
fire_alarms(struct board_run *r)
{
	uint64_t now = now_us(r), next = next_alarm(r);
	bool due = false;

	if (next > now)
		set_now(r, now = next);
	fabric_set_time(r->config.fabric, now);
	for (int i = 0; i < BOARD_N_ALARMS; i++) {
		if (r->alarm_us[i] > now)
			continue;
		r->alarm_us[i] = NEVER;
		r->alarm_due[i] = i != BOARD_ALARM_HARDWARE;
		due = due || r->alarm_due[i];
	}
	if (r->alarm_us[BOARD_ALARM_HARDWARE] == NEVER)
		r->alarm_us[BOARD_ALARM_HARDWARE] = fabric_advance(r->config.fabric, now);
	if (due)
		bus_model_set_line(r->config.bus, BOARD_LINE_TIMER, true);
}

/* How many of the frames in memory come no later than board time latest and before a silence: usually
 * all, as their times only grow. */
static size_t
count_ready(const struct board_run *r, uint64_t latest, size_t max)
{
	const struct feed_frame *frames = &r->frames[r->next_frame];
	size_t left = r->n_frames - r->next_frame, n = 0;
	uint64_t before = now_us(r), last;

	if (max > left)
		max = left;
	last = frames[max - 1].time_us;
	if (last >= before && last <= latest && !is_silence(before, last))
		return max;
	for (; n < max; n++) {
		uint64_t us = frames[n].time_us > before ? frames[n].time_us : before;

		if (us > latest || is_silence(before, us))
			break;
		before = us;
	}
	return n;
}

/* In lock step, frames that wait for buffers are received one by one as buffers become free, with a turn
 * of the CPU after each. */
static inline bool
someone_waits(const struct board_run *r)
{
	return r->config.lock_step && fabric_has_waiting(r->config.fabric);
}

/* Passes on frames up to board time latest, until one raises an interrupt or must wait, the CPU waits for
 * the bus, or max have been passed on. Returns their number. */
static unsigned
run_frames(struct board_run *r, uint64_t latest, unsigned max)
{
	struct bus_model *bus = r->config.bus;
	uint32_t known = bus_model_lines(bus); /* paced: the CPU may not have handled these yet */
	unsigned n = 0;

	while (n < max && peek_frame(r) && !bus_model_cpu_waits(bus)) {
		const struct feed_frame *frames = &r->frames[r->next_frame];
		size_t ready = count_ready(r, latest, max - n), came;

		if (ready == 0)
			break;
		came = fabric_frames(r->config.fabric, frames, ready);
		r->next_frame += came;
		n += (unsigned)came;
		set_now(r, frame_us(r, &frames[came - 1]));
		if (bus_model_lines(bus) & ~known || someone_waits(r))
			break;
	}
	return n;
}

/* Handles what is next, at most max frames or an alarm, or waits for it. An alarm comes before the first
 * later frame. Returns the number of frames; -1: nothing will ever be next. */
static int
move_on(struct board_run *r, unsigned max)
{
	const struct feed_frame *frame = peek_frame(r);
	uint64_t us = frame ? frame_us(r, frame) : NEVER;
	uint64_t alarm, latest, next;

	if (someone_waits(r))
		r->alarm_us[BOARD_ALARM_HARDWARE] = fabric_advance(r->config.fabric, now_us(r));
	latest = alarm = next_alarm(r);
	next = us < alarm ? us : alarm;
	if (next == NEVER || (r->ended && !frame))
		return -1;
	if (frame && is_silence(now_us(r), us)) {
		/* The capturing host's clock was set: the time in between is neither waited for nor counted. */
		stat_add(&r->stats, BOARD_RUN_STAT_TIME_STEPS, 1);
		log_warn_limited("board", "the capture has no frame for %llu s: the board's time skips the silence",
		    (unsigned long long)((us - now_us(r)) / 1000000));
		set_now(r, us - 1);
		anchor_pace(r);
		return 0;
	}
	if (!r->config.lock_step) {
		if (!paced_wait(r, next))
			return 0;
		latest = paced_now(r) < alarm ? paced_now(r) : alarm;
	}
	if (us <= alarm)
		return (int)run_frames(r, latest, max);
	fire_alarms(r);
	return 0;
}

/* --- paced: a thread --- */

enum { PACED_TURN_FRAMES = 256 }; /* between two turns of the CPU at most */

/* Frames of live interfaces come now, unless an alarm is due before. */
static void
take_live(struct board_run *r)
{
	struct feed_frame *frames = r->live;
	uint64_t us = paced_now(r);
	size_t n;

	if (!r->config.feed || !feed_has_live(r->config.feed) || next_alarm(r) <= us)
		return;
	if (us < now_us(r))
		us = now_us(r);
	set_now(r, us);
	n = feed_live_batch(r->config.feed, frames, LIVE_FRAMES);
	for (size_t i = 0; i < n; i++) {
		frames[i].time_us = us;
		fabric_frame(r->config.fabric, &frames[i]);
	}
}

static void
step_paced(struct board_run *r)
{
	if (r->gate_open)
		take_live(r);
	if (!r->gate_open || move_on(r, PACED_TURN_FRAMES) < 0) {
		bool live = r->gate_open && r->config.feed && feed_has_live(r->config.feed);

		bus_model_wait(r->config.bus, live ? clock_mono_us(&clock_system) + LIVE_TICK_US : BUS_MODEL_FOREVER);
		return;
	}
	fabric_settle(r->config.fabric);
	r->alarm_us[BOARD_ALARM_HARDWARE] = fabric_advance(r->config.fabric, now_us(r));
	/* Lets the CPU take the lock in every step. */
	bus_model_unlock(r->config.bus);
	bus_model_lock(r->config.bus);
}

static void *
run_thread(void *arg)
{
	struct board_run *r = arg;

	bus_model_lock(r->config.bus);
	while (!r->stopping)
		step_paced(r);
	bus_model_unlock(r->config.bus);
	return NULL;
}

/* --- lock step: the CPU's thread --- */

bool
board_run_step(struct board_run *r)
{
	bool up;
	int left = BOARD_RUN_STEP_FRAMES, n = 0;

	if (!r->config.lock_step || !r->started)
		return false;
	bus_model_lock(r->config.bus);
	if (fabric_deadline_changed(r->config.fabric))
		r->alarm_us[BOARD_ALARM_HARDWARE] = fabric_advance(r->config.fabric, now_us(r));
	while (left > 0 && n >= 0 && !is_interrupted(r)) {
		n = move_on(r, (unsigned)left);
		left -= n;
	}
	if (n < 0)
		bus_model_set_line(r->config.bus, BOARD_LINE_STEP, false);
	up = is_interrupted(r);
	if (!up)
		fabric_settle(r->config.fabric);
	bus_model_unlock(r->config.bus);
	return up;
}

/* --- the CPU's side --- */

void
board_run_enter(struct board_run *r)
{
	bus_model_cpu_lock(r->config.bus);
	if (!r->gate_open) {
		r->gate_open = true;
		anchor_pace(r);
		bus_model_wake(r->config.bus);
	}
	bus_model_set_line(r->config.bus, BOARD_LINE_ATTENTION, false);
	bus_model_unlock(r->config.bus);
}

void
board_run_leave(struct board_run *r, bool again)
{
	if (again)
		board_run_wake_cpu(r);
}

void
board_run_wake_cpu(struct board_run *r)
{
	bus_model_cpu_lock(r->config.bus);
	bus_model_set_line(r->config.bus, BOARD_LINE_ATTENTION, true);
	bus_model_unlock(r->config.bus);
}

void
board_run_set_alarm(struct board_run *r, enum board_alarm alarm, uint64_t board_us)
{
	bus_model_cpu_lock(r->config.bus);
	r->alarm_us[alarm] = board_us;
	if (r->config.lock_step && r->started && !r->ended)
		bus_model_set_line(r->config.bus, BOARD_LINE_STEP, true);
	bus_model_wake(r->config.bus);
	bus_model_unlock(r->config.bus);
}

bool
board_run_poll_alarm(struct board_run *r, enum board_alarm alarm)
{
	bool due, any = false;

	bus_model_cpu_lock(r->config.bus);
	due = r->alarm_due[alarm];
	r->alarm_due[alarm] = false;
	for (int i = 0; i < BOARD_N_ALARMS; i++)
		any = any || r->alarm_due[i];
	bus_model_set_line(r->config.bus, BOARD_LINE_TIMER, any);
	bus_model_unlock(r->config.bus);
	return due;
}

bool
board_run_poll_end(struct board_run *r)
{
	bool taken;

	bus_model_cpu_lock(r->config.bus);
	taken = r->ended && !r->end_taken;
	r->end_taken = r->ended;
	bus_model_set_line(r->config.bus, BOARD_LINE_END, false);
	bus_model_unlock(r->config.bus);
	return taken;
}

/* --- life --- */

static void
set_step_line(struct board_run *r, bool up)
{
	bus_model_cpu_lock(r->config.bus);
	bus_model_set_line(r->config.bus, BOARD_LINE_STEP, up);
	bus_model_unlock(r->config.bus);
}

int
board_run_start(struct board_run *r)
{
	int rc = 0;

	if (r->started)
		return -EALREADY;
	r->stopping = false;
	bus_model_cpu_lock(r->config.bus);
	r->alarm_us[BOARD_ALARM_HARDWARE] = fabric_advance(r->config.fabric, now_us(r));
	bus_model_unlock(r->config.bus);
	if (!r->config.lock_step)
		rc = pthread_create(&r->thread, NULL, run_thread, r);
	if (rc != 0)
		return -rc;
	r->started = true;
	if (r->config.lock_step)
		set_step_line(r, true);
	board_run_wake_cpu(r); /* else the first dispatch, which opens the gate, would not come */
	return 0;
}

void
board_run_stop(struct board_run *r)
{
	if (!r->started)
		return;
	r->started = false;
	if (r->config.lock_step) {
		set_step_line(r, false);
		return;
	}
	bus_model_cpu_lock(r->config.bus);
	r->stopping = true;
	bus_model_wake(r->config.bus);
	bus_model_unlock(r->config.bus);
	pthread_join(r->thread, NULL);
}

int
board_run_create(const struct board_run_config *config, struct board_run **run)
{
	struct board_run *r;

	if (config->times == 0)
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->config = *config;
	r->tick_us = config->feed && feed_has_live(config->feed) ? LIVE_TICK_US : TICK_US;
	for (int i = 0; i < BOARD_N_ALARMS; i++)
		r->alarm_us[i] = NEVER;
	r->offset_us = config->zero_us - (config->feed ? feed_first_us(config->feed) : 0);
	set_now(r, config->zero_us);
	r->newest_us = config->zero_us;
	r->stats = (struct stat_set){stat_names, BOARD_RUN_N_STATS, r->stat_values};
	*run = r;
	return 0;
}

void
board_run_destroy(struct board_run *run)
{
	if (!run)
		return;
	board_run_stop(run);
	free(run);
}

const struct stat_set *
board_run_stats(const struct board_run *run)
{
	return &run->stats;
}
