/*
 * Runs an emulated board: passes frames of the feed to the fabric when their time has come, keeps the
 * board's time, and wakes the CPU for alarms and at the end of the input.
 *
 * Paced: the board has a thread of its own, and frames come at recorded time (or N times faster)
 * whatever the CPU does.
 *
 * Lock step: frames come as fast as possible, but the board stops while an interrupt is pending, so that
 * the CPU is never late and a run repeats exactly. The board then runs only inside board_run_step, on
 * the CPU's thread, because switching to another thread costs more than handling an interrupt. One
 * round: board_run_step -> frames until an interrupt -> board_run_enter -> the CPU's drivers handle
 * it -> board_run_leave -> next round. The descriptor stays readable while the board can continue.
 *
 * Board time is the capture's time plus a constant; it never goes back. A silence of over an hour is
 * treated as a step of the capturing host's clock: board time steps, too, without waiting, and alarms
 * that are due in the silence come once, after it.
 */
#ifndef EASE_AGENT_SIM_BOARD_RUN_H
#define EASE_AGENT_SIM_BOARD_RUN_H

#include "agent/sim/bus/bus_model.h"
#include "agent/sim/fabric.h"
#include "agent/sim/feed.h"

struct board_run;

struct board_run_config {
	struct bus_model *bus; /* these three are borrowed */
	struct fabric *fabric;
	struct feed *feed; /* NULL: no frames; paced, time still runs */
	bool lock_step;
	uint32_t times; /* paced: how much faster than recorded, at least 1 */
	uint64_t zero_us; /* board time of the first frame */
};

#define BOARD_RUN_MAX_SILENCE_US (3600ull * 1000000)

enum board_alarm {
	BOARD_ALARM_USER,
	BOARD_ALARM_AGEING,
	BOARD_ALARM_HARDWARE, /* for the board itself, not the CPU */
	BOARD_N_ALARMS
};

int board_run_create(const struct board_run_config *config, struct board_run **run);
void board_run_destroy(struct board_run *run); /* stops it first; NULL allowed */

/* Starts the board. The first frame waits for the first board_run_enter. */
int board_run_start(struct board_run *run);
/* Stops the board at once, whatever it waits for. */
void board_run_stop(struct board_run *run);

uint64_t board_run_now_us(const struct board_run *run); /* any thread */

/* --- the CPU's side --- */

/* Called at the beginning and the end of a dispatch. again: the descriptor stays readable, so that
 * dispatch is called again. */
void board_run_enter(struct board_run *run);
void board_run_leave(struct board_run *run, bool again);
/* In lock step, not between these two: runs the board for at most BOARD_RUN_STEP_FRAMES frames, so that
 * the CPU can do other work. True if an interrupt is pending. */
bool board_run_step(struct board_run *run);
enum { BOARD_RUN_STEP_FRAMES = 4096 };

/* Makes the descriptor readable until the next dispatch, because a driver has something to report. */
void board_run_wake_cpu(struct board_run *run);

/* Sets the board time of an alarm; replaces an earlier setting. */
void board_run_set_alarm(struct board_run *run, enum board_alarm alarm, uint64_t board_us);
/* True once after the alarm has become due. */
bool board_run_poll_alarm(struct board_run *run, enum board_alarm alarm);
/* True once after the last frame of the feed. */
bool board_run_poll_end(struct board_run *run);

enum board_run_stat { BOARD_RUN_STAT_TIMES_BACK, BOARD_RUN_STAT_TIME_STEPS, BOARD_RUN_N_STATS };
const struct stat_set *board_run_stats(const struct board_run *run);

#endif
