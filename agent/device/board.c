#include "agent/device/board.h"

#include "agent/chip/c84302_regs.h"
#include "agent/chip/galnet_regs.h"
#include "common/sample.h"

#include <errno.h>
#include <string.h>

static const char *const chip_types[] = {
    [BOARD_GT48001A] = "gt48001a",
    [BOARD_GT48002A] = "gt48002a",
    [BOARD_C84302] = "c84302",
    NULL,
};
static const char *const duplexes[] = {[BOARD_HALF] = "half", [BOARD_FULL] = "full", NULL};
static const char *const links[] = {[BOARD_LINK_DOWN] = "down", [BOARD_LINK_UP] = "up", NULL};

static const struct option_row chip_options[] = {
    {.name = "type", .type = OPTION_ENUM, .offset = offsetof(struct board_chip, type),
	.choices = chip_types, .def = "gt48001a",
	.help = "switch chip (gt48001a: 8 ports, gt48002a: 2) or MAC chip (c84302: 4 ports)"},
    {.name = NULL},
};

static const struct option_row port_options[] = {
    {.name = "speed", .type = OPTION_U32, .offset = offsetof(struct board_port, speed_mbps),
	.min = 10, .max = 1000, .unit = "Mb/s", .def = "10", .help = "ifSpeed"},
    {.name = "duplex", .type = OPTION_ENUM, .offset = offsetof(struct board_port, duplex),
	.choices = duplexes, .def = "full", .help = "half or full"},
    {.name = "link", .type = OPTION_ENUM, .offset = offsetof(struct board_port, link),
	.choices = links, .def = "up", .help = "state of the link at start"},
    {.name = "capture", .type = OPTION_STRING, .offset = offsetof(struct board_port, capture),
	.def = "deal",
	.help = "what comes in: deal (a share of the common capture), none, or a file"},
    {.name = NULL},
};

static const struct option_row plan_options[] = {
    {.name = "max_frame", .type = OPTION_U32,
	.offset = offsetof(struct board_plan, max_frame_octets), .min = C84302_MAX_OCTETS,
	.max = C84302_MAX_OCTETS + C84302_CONFIG_5_MAX_SIZE, .unit = "octets", .def = "1518",
	.help = "longest good frame, FCS in"},
    {.name = "chip", .type = OPTION_SECTION, .offset = offsetof(struct board_plan, chips),
	.max = BOARD_MAX_SWITCH_CHIPS + BOARD_MAX_MAC_CHIPS, .section = chip_options,
	.section_size = sizeof(struct board_chip),
	.section_title_offset = offsetof(struct board_chip, name), .help = "a chip"},
    {.name = "port", .type = OPTION_SECTION, .offset = offsetof(struct board_plan, ports),
	.max = BOARD_MAX_PORTS, .section = port_options,
	.section_size = sizeof(struct board_port),
	.section_title_offset = offsetof(struct board_port, name),
	.help = "a port, in the order of the chips' channels"},
    {.name = NULL},
};

const struct board_chip *
board_chip(const struct board_plan *plan, size_t i)
{
	return (const struct board_chip *)plan->chips.items + i;
}

const struct board_port *
board_port(const struct board_plan *plan, size_t i)
{
	return (const struct board_port *)plan->ports.items + i;
}

unsigned
board_chip_ports(int type)
{
	static const unsigned ports[BOARD_N_CHIP_TYPES] = {
	    [BOARD_GT48001A] = GT48001A_PORTS,
	    [BOARD_GT48002A] = GT48002A_PORTS,
	    [BOARD_C84302] = C84302_PORTS,
	};

	return ports[type];
}

bool
board_chip_switches(int type)
{
	return type != BOARD_C84302;
}

bool
board_port_deals(const struct board_port *port)
{
	return strcmp(port->capture, "deal") == 0 && port->link == BOARD_LINK_UP;
}

const char *
board_port_capture(const struct board_port *port)
{
	if (strcmp(port->capture, "deal") == 0 || strcmp(port->capture, "none") == 0)
		return NULL;
	return port->capture;
}

static const char *
check_chips(const struct board_plan *plan)
{
	size_t switch_chips = 0, switch_ports = 0, mac_chips = 0, mac_ports = 0;

	for (size_t i = 0; i < plan->chips.n; i++) {
		int type = board_chip(plan, i)->type;

		if (board_chip_switches(type)) {
			switch_chips++;
			switch_ports += board_chip_ports(type);
		} else {
			mac_chips++;
			mac_ports += board_chip_ports(type);
		}
	}
	if (switch_chips > BOARD_MAX_SWITCH_CHIPS)
		return "more than 8 switch chips";
	if (mac_chips > BOARD_MAX_MAC_CHIPS)
		return "more than 16 MAC chips";
	if (plan->ports.n != switch_ports)
		return "the switch chips do not have as many ports as the file";
	if (plan->ports.n > mac_ports)
		return "the MAC chips have fewer ports than the file";
	return NULL;
}

static const char *
check_ports(const struct board_plan *plan)
{
	if (plan->ports.n == 0)
		return "no port";
	for (size_t i = 0; i < plan->ports.n; i++) {
		const char *name = board_port(plan, i)->name;

		if (name[0] == '\0' || strlen(name) > EASE_NAME_MAX)
			return "a port's name is empty or longer than 64 octets";
		if (board_port(plan, i)->capture[0] == '\0')
			return "a port's capture is empty: say deal, none or a file";
		for (size_t k = 0; k < i; k++)
			if (strcmp(name, board_port(plan, k)->name) == 0)
				return "two ports have the same name";
	}
	return NULL;
}

/* What no single option can tell. */
static int
check_plan(const char *name, struct board_plan *plan, char *error, size_t error_size)
{
	const char *reason = check_ports(plan);

	if (!reason)
		reason = check_chips(plan);
	if (!reason)
		return 0;
	snprintf(error, error_size, "%s: %s", name, reason);
	return -EINVAL;
}

static int
finish(int rc, const char *name, struct board_plan *plan, char *error, size_t error_size)
{
	if (rc == 0)
		rc = check_plan(name, plan, error, error_size);
	if (rc < 0)
		board_free(plan);
	return rc;
}

int
board_load(const char *file, struct board_plan *plan, char *error, size_t error_size)
{
	*plan = (struct board_plan){0};
	return finish(options_load(file, plan_options, plan, error, error_size), file, plan, error,
	    error_size);
}

int
board_parse(const char *name, const char *text, struct board_plan *plan, char *error,
    size_t error_size)
{
	*plan = (struct board_plan){0};
	return finish(options_parse(name, text, plan_options, plan, error, error_size), name, plan,
	    error, error_size);
}

void
board_free(struct board_plan *plan)
{
	options_free(plan_options, plan);
	*plan = (struct board_plan){0};
}
