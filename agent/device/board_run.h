/*
 * The thread of an emulated board: takes frames from the feed when their time has come and puts
 * them through the fabric, keeps the board's time, and wakes the CPU for alarms and at the end.
 *
 * Paced, frames come at recorded time (or N times faster) whatever the CPU does. In lock step they
 * come as fast as possible, but the board stands still while an interrupt is up or the CPU is
 * dispatching, so that nothing is late and a run repeats exactly. Board time is the capture's
 * plus a constant; it never goes back. A silence of over an hour is taken for a step of the
 * capturing host's clock: board time steps too, without waiting, and alarms that fall into it come
 * once, behind it.
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
#define BOARD_RUN_LINGER_US	 100 /* an eventfd round trip between cores costs 20 to 50 */

enum board_alarm { BOARD_ALARM_USER, BOARD_ALARM_AGEING, BOARD_N_ALARMS };

int board_run_create(const struct board_run_config *config, struct board_run **run);
void board_run_destroy(struct board_run *run); /* stops it first; NULL allowed */

/* Starts the thread; the first frame waits for the first board_run_enter. */
int board_run_start(struct board_run *run);
/* Stops it at once, whatever it waits for, and joins. */
void board_run_stop(struct board_run *run);

uint64_t board_run_now_us(const struct board_run *run); /* any thread */

/* --- the CPU's side --- */

/* Bracket a dispatch. again: the CPU wants to be called again; its descriptor stays readable. */
void board_run_enter(struct board_run *run);
void board_run_leave(struct board_run *run, bool again);
/* In lock step, behind board_run_leave: gives the board BOARD_RUN_LINGER_US to come up with the
 * next interrupt, as going to sleep and being woken takes longer. True if there is one. */
bool board_run_linger(struct board_run *run);

/* Makes the descriptor readable until the next dispatch: a driver has something to report. */
void board_run_call_cpu(struct board_run *run);

/* Board time of one alarm; replaces an earlier setting. */
void board_run_set_alarm(struct board_run *run, enum board_alarm alarm, uint64_t board_us);
/* True once after it has come due. */
bool board_run_take_alarm(struct board_run *run, enum board_alarm alarm);
/* True once after the last frame of the feed. */
bool board_run_take_end(struct board_run *run);

enum board_run_stat { BOARD_RUN_STAT_TIMES_BACK, BOARD_RUN_STAT_TIME_STEPS, BOARD_RUN_N_STATS };
const struct stat_set *board_run_stats(const struct board_run *run);

#endif
