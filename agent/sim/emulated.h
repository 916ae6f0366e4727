/*
 * The emulated switch as a HAL device: models of the chips in a board file, driven by the real drivers,
 * with captures as input. The GalNet driver provides ports, sampling and addresses, and the 84302's
 * provides counters; this file maps ports to chips.
 *
 * The board runs from start to stop (board_run.h). Its first frame waits for the first dispatch, so that
 * skips can be loaded and counters read before.
 */
#ifndef EASE_AGENT_SIM_EMULATED_H
#define EASE_AGENT_SIM_EMULATED_H

#include "agent/hal/hal_provider.h"
#include "agent/sim/board.h"

enum emulated_pace {
	EMULATED_PACE_RECORDED, /* or `times` times faster */
	EMULATED_PACE_LOCK_STEP, /* as fast as possible; waits for the CPU, so that a run repeats exactly */
};

/* Board time of the first frame. */
enum emulated_zero {
	EMULATED_ZERO_AUTO, /* in lock step the capture's time, else now */
	EMULATED_ZERO_CAPTURE,
	EMULATED_ZERO_NOW,
};

struct emulated_config {
	const char *board_file;
	const char *capture; /* dealt to the ports with capture = deal; NULL: none */
	enum emulated_pace pace;
	uint32_t times; /* 0 or 1: recorded time */
	bool loop;	/* captures begin again at their end, so that the device never ends */
	bool preload;	/* frames come from memory; for measuring (feed.h) */
	enum emulated_zero zero;
	enum feed_deal deal;
	const struct kept_if_index *kept; /* ifIndexes of names in earlier runs; read by create only */
	size_t n_kept;
	const struct clock *clock; /* for "now"; borrowed; NULL: the system's */
};

/* On failure -errno, and error names the file and the reason. The HAL that gets the device owns it. */
int emulated_create(const struct emulated_config *config, struct hal_device **device, char *error,
    size_t error_size);
/* Tests whether emulated_create would succeed: reads the files, creates nothing, and draws the board to
 * picture unless that is NULL. */
int emulated_check(const struct emulated_config *config, FILE *picture, char *error,
    size_t error_size);

/* The i-th set of the device's own statistics, or NULL. */
const struct stat_set *emulated_stats(const struct hal_device *device, size_t i);

#endif
