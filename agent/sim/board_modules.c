#include "agent/sim/board_modules.h"

#include "agent/sim/port_numbering.h"

#include <stdio.h>

/* Makers as named in the data sheets. */
static const struct {
	const char *model, *maker, *descr;
} kinds[BOARD_N_CHIP_TYPES] = {
    [BOARD_GT48001A] = {"GT-48001A", "Galileo Technology",
	"switched Ethernet controller, 8 ports of 10 Mb/s"},
    [BOARD_GT48002A] = {"GT-48002A", "Galileo Technology",
	"switched Ethernet controller, 2 ports of 10/100 Mb/s"},
    [BOARD_C84302] = {"84302", "SEEQ", "Ethernet MAC, 4 ports, with RMON counters"},
    [BOARD_TNETX4090] = {"TNETX4090", "Texas Instruments",
	"frame buffers and flow control of 9 ports"},
    [BOARD_EEE] = {"", "", "low-power idle statistics of all ports"},
};

static size_t
count_chips(void *ctx)
{
	return ((struct board_plan *)ctx)->chips.n;
}

static void
get_chip(void *ctx, size_t i, struct hal_part *part)
{
	const struct board_chip *chip = board_chip(ctx, i);

	snprintf(part->name, sizeof(part->name), "%s", chip->name);
	snprintf(part->descr, sizeof(part->descr), "%s", kinds[chip->type].descr);
	snprintf(part->maker, sizeof(part->maker), "%s", kinds[chip->type].maker);
	snprintf(part->model, sizeof(part->model), "%s", kinds[chip->type].model);
}

/* check_plan guarantees that every port has a switch chip. */
static size_t
chip_of_port(void *ctx, uint32_t if_index)
{
	const struct board_plan *plan = ctx;
	unsigned channel;
	const struct board_chip *chip =
	    board_chip_of(plan, BOARD_ROLE_SWITCH,
	    (unsigned)port_numbering_position(plan, if_index), &channel);

	return (size_t)(chip - board_chip(plan, 0));
}

static const struct hal_modules_ops modules_ops = {
    .count = count_chips, .get = get_chip, .of_port = chip_of_port};

void
board_modules_compose(struct board_plan *plan, struct hal_device *device)
{
	device->modules = &modules_ops;
	device->modules_ctx = plan;
}
