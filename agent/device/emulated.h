/*
 * The emulated switch as a HAL device: chips of a board file behind their real drivers, fed from
 * captures. A composition: ports, sampling and addresses by the GalNet driver, counters by the
 * 84302's; this file only knows which chip has which port.
 *
 * The board runs in a thread of its own (board_run.h) from start to stop. Its first frame waits
 * for the first dispatch, so that skips can be loaded and counters read before and after start.
 */
#ifndef EASE_AGENT_DEVICE_EMULATED_H
#define EASE_AGENT_DEVICE_EMULATED_H

#include "agent/device/feed.h"
#include "agent/device/port_numbering.h"
#include "agent/hal/hal_provider.h"

enum emulated_pace {
	EMULATED_PACE_RECORDED, /* or `times` times faster */
	EMULATED_PACE_LOCK_STEP, /* as fast as possible; waits for the CPU, repeats exactly */
};

/* Board time of the first frame. */
enum emulated_zero {
	EMULATED_ZERO_AUTO, /* the capture's in lock step, else now */
	EMULATED_ZERO_CAPTURE,
	EMULATED_ZERO_NOW,
};

struct emulated_config {
	const char *board_file;
	const char *capture; /* dealt to the ports that take part; NULL: none */
	enum emulated_pace pace;
	uint32_t times; /* 0 or 1: recorded time */
	bool loop;	/* captures begin again at their end; the device then never ends */
	bool preload;	/* frames come from memory; for measuring (feed.h) */
	enum emulated_zero zero;
	enum feed_deal deal;
	const struct kept_if_index *kept; /* ifIndexes that names had before; borrowed by create */
	size_t n_kept;
	const struct clock *clock; /* for "now"; borrowed; NULL: the system's */
};

/* On failure -errno, and error names the file and the reason. Owned by the HAL it is given to. */
int emulated_create(const struct emulated_config *config, struct hal_device **device, char *error,
    size_t error_size);
/* Whether emulated_create would work: reads the files, keeps nothing, draws the board into picture
 * (NULL: not). */
int emulated_check(const struct emulated_config *config, FILE *picture, char *error,
    size_t error_size);

/* What is counted inside the device, by room; the i-th set or NULL. */
const struct stat_set *emulated_stats(const struct hal_device *device, size_t i);

#endif
