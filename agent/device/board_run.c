#include "agent/device/board_run.h"

#include "agent/device/board_regs.h"
#include "common/clock.h"
#include "common/log.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define NEVER	UINT64_MAX
#define TICK_US 100000ull /* a paced board's time moves at least this often */

static const struct stat_name stat_names[BOARD_RUN_N_STATS] = {
    [BOARD_RUN_STAT_TIMES_BACK] = {"board.times_back",
	"frames recorded earlier than the one before: board time stands"},
    [BOARD_RUN_STAT_TIME_STEPS] = {"board.time_steps",
	"silences of over an hour, taken for a step of the clock"},
};

struct board_run {
	struct board_run_config config;
	pthread_t thread;
	bool started;
	_Atomic uint64_t now_us;
	/* The rest is covered by the bus's lock. */
	bool stopping, gate_open;
	_Atomic bool cpu_busy;
	bool ended, end_taken;
	uint64_t alarm_us[BOARD_N_ALARMS]; /* NEVER: not set */
	bool alarm_due[BOARD_N_ALARMS];
	struct feed_frame frame; /* the next one, if has_frame */
	uint64_t frame_us;	 /* its board time */
	bool has_frame;
	uint64_t offset_us; /* board time less capture time, modulo 2^64 */
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

/* --- what comes next --- */

static void
fetch(struct board_run *r)
{
	uint64_t us;

	if (r->has_frame || r->ended || !r->config.feed)
		return;
	r->has_frame = feed_next(r->config.feed, &r->frame);
	if (!r->has_frame) {
		r->ended = true;
		bus_model_set_line(r->config.bus, BOARD_LINE_END, true);
		return;
	}
	us = r->frame.time_us + r->offset_us;
	r->frame_us = us;
	if ((int64_t)(us - now_us(r)) < 0) {
		stat_add(&r->stats, BOARD_RUN_STAT_TIMES_BACK, 1);
		r->frame_us = now_us(r);
	}
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

/* An alarm comes before the first frame that is later than it. */
static bool
alarm_is_next(const struct board_run *r)
{
	uint64_t next = next_alarm(r);

	return next != NEVER && (!r->has_frame || next < r->frame_us);
}

static bool
silence_is_next(const struct board_run *r)
{
	return r->has_frame && r->frame_us - now_us(r) > BOARD_RUN_MAX_SILENCE_US;
}

/* The capturing host's clock was set: nobody wants to wait for, or count, the time between. */
static void
skip_silence(struct board_run *r)
{
	stat_add(&r->stats, BOARD_RUN_STAT_TIME_STEPS, 1);
	log_warn_limited("board", "the capture's time steps forward by %llu s; so does the board's",
	    (unsigned long long)((r->frame_us - now_us(r)) / 1000000));
	set_now(r, r->frame_us - 1);
	anchor_pace(r);
}

/* --- pace --- */

static uint64_t
paced_now(const struct board_run *r)
{
	uint64_t mono = clock_mono_us(&clock_system) - r->mono_zero_us;

	return r->board_zero_us + mono * r->config.times;
}

/* Waits for board time to reach next, or a while. True if it has come. */
static bool
paced_wait(struct board_run *r, uint64_t next)
{
	uint64_t now = paced_now(r), ahead_us;

	if (now >= next)
		return true;
	if (now > now_us(r))
		set_now(r, now);
	ahead_us = (next - now) / r->config.times + 1;
	if (ahead_us > TICK_US)
		ahead_us = TICK_US;
	bus_model_wait(r->config.bus, clock_mono_us(&clock_system) + ahead_us);
	return false;
}

/* --- the thread --- */

static bool
must_wait_for_cpu(const struct board_run *r)
{
	if (!r->gate_open)
		return true;
	return r->config.lock_step && (r->cpu_busy || bus_model_lines(r->config.bus) != 0);
}

/* Asks for a while whether the CPU is done before sleeping until it is. The lock is given up. */
static void
wait_for_cpu(struct board_run *r)
{
	uint64_t end = clock_mono_us(&clock_system) + BOARD_RUN_LINGER_US;

	if (r->gate_open && r->config.lock_step) {
		bus_model_unlock(r->config.bus);
		while (must_wait_for_cpu(r) && clock_mono_us(&clock_system) < end)
			sched_yield();
		bus_model_lock(r->config.bus);
	}
	if (!r->stopping && must_wait_for_cpu(r))
		bus_model_wait(r->config.bus, BUS_MODEL_FOREVER);
}

static void
fire_alarms(struct board_run *r)
{
	uint64_t now = now_us(r), next = next_alarm(r);

	if (next > now)
		set_now(r, now = next);
	for (int i = 0; i < BOARD_N_ALARMS; i++) {
		if (r->alarm_us[i] > now)
			continue;
		r->alarm_us[i] = NEVER;
		r->alarm_due[i] = true;
	}
	bus_model_set_line(r->config.bus, BOARD_LINE_TIMER, true);
}

/* Frames until one makes an interrupt, the CPU asks for the bus, or something else is due. */
static void
run_frames(struct board_run *r)
{
	struct bus_model *bus = r->config.bus;
	uint64_t latest = r->config.lock_step ? NEVER : paced_now(r);
	uint64_t alarm = next_alarm(r);
	uint32_t known = bus_model_lines(bus); /* paced, the CPU may be late with these */
	int n = 0;

	do {
		set_now(r, r->frame_us);
		fabric_frame(r->config.fabric, &r->frame);
		r->has_frame = false;
		if (bus_model_lines(bus) & ~known || bus_model_cpu_waits(bus) ||
		    ++n == FABRIC_SETTLE_MAX)
			break;
		fetch(r);
	} while (r->has_frame && r->frame_us <= alarm && r->frame_us <= latest &&
	    !silence_is_next(r));
	fabric_settle(r->config.fabric);
}

/* One step, or a wait after which the world may look different. */
static void
step(struct board_run *r)
{
	uint64_t next;

	if (must_wait_for_cpu(r)) {
		wait_for_cpu(r);
		return;
	}
	fetch(r);
	if (r->ended && !r->has_frame) {
		if (!must_wait_for_cpu(r))
			bus_model_wait(r->config.bus, BUS_MODEL_FOREVER);
		return;
	}
	if (silence_is_next(r)) {
		skip_silence(r);
		return;
	}
	next = alarm_is_next(r) ? next_alarm(r) : r->has_frame ? r->frame_us : NEVER;
	if (!r->config.lock_step && !paced_wait(r, next))
		return;
	if (alarm_is_next(r))
		fire_alarms(r);
	else if (r->has_frame)
		run_frames(r);
	/* In every step the CPU gets its turn. */
	bus_model_unlock(r->config.bus);
	bus_model_lock(r->config.bus);
}

static void *
run_thread(void *arg)
{
	struct board_run *r = arg;

	bus_model_lock(r->config.bus);
	while (!r->stopping)
		step(r);
	bus_model_unlock(r->config.bus);
	return NULL;
}

/* --- the CPU's side --- */

void
board_run_enter(struct board_run *r)
{
	bus_model_cpu_lock(r->config.bus);
	if (!r->gate_open) {
		r->gate_open = true;
		anchor_pace(r);
	}
	r->cpu_busy = true;
	bus_model_set_line(r->config.bus, BOARD_LINE_ATTENTION, false);
	bus_model_unlock(r->config.bus);
}

void
board_run_leave(struct board_run *r, bool again)
{
	bus_model_cpu_lock(r->config.bus);
	r->cpu_busy = false;
	if (again)
		bus_model_set_line(r->config.bus, BOARD_LINE_ATTENTION, true);
	bus_model_wake(r->config.bus);
	bus_model_unlock(r->config.bus);
}

bool
board_run_linger(struct board_run *r)
{
	uint64_t end = clock_mono_us(&clock_system) + BOARD_RUN_LINGER_US;
	uint32_t lines;

	if (!r->config.lock_step)
		return false;
	while (!(lines = bus_model_lines(r->config.bus)) && clock_mono_us(&clock_system) < end)
		sched_yield();
	return lines & ~(1u << BOARD_LINE_END);
}

void
board_run_call_cpu(struct board_run *r)
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
	bus_model_wake(r->config.bus);
	bus_model_unlock(r->config.bus);
}

bool
board_run_take_alarm(struct board_run *r, enum board_alarm alarm)
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
board_run_take_end(struct board_run *r)
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

int
board_run_start(struct board_run *r)
{
	int rc;

	if (r->started)
		return -EALREADY;
	r->stopping = false;
	rc = pthread_create(&r->thread, NULL, run_thread, r);
	if (rc != 0)
		return -rc;
	r->started = true;
	board_run_call_cpu(r); /* or the first dispatch, which opens the gate, would not come */
	return 0;
}

void
board_run_stop(struct board_run *r)
{
	if (!r->started)
		return;
	bus_model_cpu_lock(r->config.bus);
	r->stopping = true;
	bus_model_wake(r->config.bus);
	bus_model_unlock(r->config.bus);
	pthread_join(r->thread, NULL);
	r->started = false;
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
	for (int i = 0; i < BOARD_N_ALARMS; i++)
		r->alarm_us[i] = NEVER;
	r->offset_us = config->zero_us - (config->feed ? feed_first_us(config->feed) : 0);
	set_now(r, config->zero_us);
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
