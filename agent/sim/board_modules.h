/*
 * The modules facet of an emulated board (hal_provider.h): the chips of its board file are the
 * modules, in the file's order, and a port belongs to the switch chip that it is wired to.
 */
#ifndef EASE_AGENT_SIM_BOARD_MODULES_H
#define EASE_AGENT_SIM_BOARD_MODULES_H

#include "agent/hal/hal_provider.h"
#include "agent/sim/board.h"

/* Adds this facet to the device. The plan is borrowed as long as the device exists. */
void board_modules_compose(struct board_plan *plan, struct hal_device *device);

#endif
