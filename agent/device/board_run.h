/*
 * What moves an emulated board: takes frames from the feed when their time has come and puts them
 * through the fabric, keeps the board's time, and wakes the CPU for alarms and at the end.
 *
 * Paced, it has a thread of its own, and frames come at recorded time (or N times faster) whatever
 * the CPU does. In lock step they come as fast as possible, but nothing is late and a run repeats
 * exactly, as the board stands still while an interrupt is up: it moves only inside of
 * board_run_step, on the CPU's thread, because handing over to another one costs more than an
 * interrupt's work. Its descriptor stays readable while it can go on.
 * Board time is the capture's plus a constant; it never goes back. A silence of over an hour is
 * taken for a step of the capturing host's clock: board time steps too, without waiting, and alarms
 * that fall into it come once, behind it.
 */
#ifndef EASE_AGENT_DEVICE_BOARD_RUN_H
#define EASE_AGENT_DEVICE_BOARD_RUN_H

#include "agent/bus/bus_model.h"
#include "agent/device/fabric.h"
#include "agent/device/feed.h"

struct board_run;

struct board_run_config {
	struct bus_model *bus; /* all borrowed */
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
	BOARD_ALARM_HARDWARE, /* of the board itself: the CPU never hears of it */
	BOARD_N_ALARMS
};

int board_run_create(const struct board_run_config *config, struct board_run **run);
void board_run_destroy(struct board_run *run); /* stops it first; NULL allowed */

/* Starts it; the first frame waits for the first board_run_enter. */
int board_run_start(struct board_run *run);
/* Stops it at once, whatever it waits for. */
void board_run_stop(struct board_run *run);

uint64_t board_run_now_us(const struct board_run *run); /* any thread */

/* --- the CPU's side --- */

/* Bracket a dispatch. again: the CPU wants to be called again; its descriptor stays readable. */
void board_run_enter(struct board_run *run);
void board_run_leave(struct board_run *run, bool again);
/* In lock step, outside of these two: lets the board move, by BOARD_RUN_STEP_FRAMES at most so that
 * the CPU comes to its other work. True if an interrupt is up. */
bool board_run_step(struct board_run *run);
enum { BOARD_RUN_STEP_FRAMES = 4096 };

/* Makes the descriptor readable until the next dispatch: a driver has something to report. */
void board_run_wake_cpu(struct board_run *run);

/* Board time of one alarm; replaces an earlier setting. */
void board_run_set_alarm(struct board_run *run, enum board_alarm alarm, uint64_t board_us);
/* True once after it has come due. */
bool board_run_poll_alarm(struct board_run *run, enum board_alarm alarm);
/* True once after the last frame of the feed. */
bool board_run_poll_end(struct board_run *run);

enum board_run_stat { BOARD_RUN_STAT_TIMES_BACK, BOARD_RUN_STAT_TIME_STEPS, BOARD_RUN_N_STATS };
const struct stat_set *board_run_stats(const struct board_run *run);

#endif
