/*
 * An emulated switch and the CPU that the tests of it share: opens a board, keeps its skip counters
 * loaded, runs it to the end of its feed, and reads counters as figures. One lives at a time.
 */
#ifndef EASE_TESTS_EMULATED_RIG_H
#define EASE_TESTS_EMULATED_RIG_H

#include "agent/sim/emulated.h"
#include "tests/agent/hal/fake_hal.h"

struct emulated_rig {
	struct hal hal;
	struct hal_device *device; /* NULL: closed */
	uint32_t skip;		   /* what a refill loads */
	char error[512];
};

extern struct emulated_rig rig;

/* A board of the project, by name without .conf; static storage. */
const char *rig_board_file(const char *name);
/* capture may be NULL; time zero is the capture's. Paced, time runs a million times faster. */
void rig_open(const char *board, const char *capture, enum emulated_pace pace);
void rig_open_config(const struct emulated_config *config);
void rig_close(void); /* nothing if closed */

/* Loads every port's skips, and each one again when it is used. */
void rig_sample_all(uint32_t skip);
/* Handlers: the answer to a sample, and as many skips as a port takes that lost its own. */
int64_t rig_refill(void *ctx, const struct hal_sample_event *event);
void rig_refill_both(void *ctx, uint32_t if_index);
/* Loads one skip. */
void rig_load(uint32_t if_index);
void rig_run_to_end(void);

size_t rig_n_ports(void);
struct hal_counters rig_counters(uint32_t if_index);
uint64_t rig_figure(uint32_t if_index, enum hal_figure which);
uint64_t rig_sum(enum hal_figure which); /* over all ports */
uint64_t rig_stat(const char *name);	 /* of the device's named counters */

#endif
