#include "agent/sim/board.h"

#include "agent/sim/chip/c84302_regs.h"
#include "agent/sim/chip/eee_calendar_regs.h"
#include "agent/sim/chip/galnet_regs.h"
#include "agent/sim/chip/tnetx4090.h"
#include "common/sample.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define US_PER_S     1000000u
#define MAX_SECONDS  1000000u /* of a start or a change: eleven days */
#define LIVE_PREFIX  "live:"
#define DEFAULT_SEED "1"

enum {
	MAX_BUFFER_CHIPS = (BOARD_MAX_PORTS + TNETX4090_PORTS - 1) / TNETX4090_PORTS,
	BOARD_MAX_CHIPS = BOARD_MAX_SWITCH_CHIPS + BOARD_MAX_MAC_CHIPS + MAX_BUFFER_CHIPS + 1,
};

static const char *const chip_types[] = {
    [BOARD_GT48001A] = "gt48001a",
    [BOARD_GT48002A] = "gt48002a",
    [BOARD_C84302] = "c84302",
    [BOARD_TNETX4090] = "tnetx4090",
    [BOARD_EEE] = "eee",
    NULL,
};
static const char *const duplexes[] = {[BOARD_HALF] = "half", [BOARD_FULL] = "full", NULL};
static const char *const links[] = {[BOARD_LINK_DOWN] = "down", [BOARD_LINK_UP] = "up", NULL};

static const char *const error_kinds[FEED_N_ERRORS] = {
    [FEED_ERROR_CRC] = "crc",
    [FEED_ERROR_ALIGNMENT] = "alignment",
    [FEED_ERROR_SYMBOL] = "symbol",
    [FEED_ERROR_GIANT] = "giant",
    [FEED_ERROR_JABBER] = "jabber",
    [FEED_ERROR_RUNT] = "runt",
    [FEED_ERROR_FRAGMENT] = "fragment",
};

/* --- values --- */

/* Seconds with up to six decimals; *end is behind them. False: no such number. */
static bool
parse_seconds(const char *text, uint64_t *us, const char **end)
{
	uint64_t value = 0, scale = US_PER_S;
	bool point = false;
	const char *p = text;

	for (; (*p >= '0' && *p <= '9') || (*p == '.' && !point && p > text); p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		if (point && scale == 1)
			return false;
		scale /= point ? 10 : 1;
		value = 10 * value + (uint64_t)(*p - '0');
		if (value > (uint64_t)MAX_SECONDS * US_PER_S)
			return false;
	}
	*us = value * scale;
	*end = p;
	return p > text && p[-1] != '.' && *us <= (uint64_t)MAX_SECONDS * US_PER_S;
}

const char *
board_link_change(const char *text, struct feed_link_change *change)
{
	const char *end;

	*change = (struct feed_link_change){0};
	if (!parse_seconds(text, &change->at_us, &end) || *end != ' ')
		return "it must be seconds and up or down, as in \"12.5 down\"";
	change->up = strcmp(end, " up") == 0;
	if (!change->up && strcmp(end, " down") != 0)
		return "it must end with up or down";
	return NULL;
}

const char *
board_error(const char *text, struct feed_error *error)
{
	const char *space = strchr(text, ' ');
	char *end;
	unsigned long one_in;

	*error = (struct feed_error){.kind = FEED_N_ERRORS};
	for (int kind = 0; space && kind < FEED_N_ERRORS; kind++)
		if (strncmp(text, error_kinds[kind], (size_t)(space - text)) == 0 &&
		    strlen(error_kinds[kind]) == (size_t)(space - text))
			error->kind = (enum feed_error_kind)kind;
	if (error->kind == FEED_N_ERRORS)
		return "it must be an error and a number of frames, as in \"crc 1000\"; the errors "
		       "are crc, alignment, symbol, giant, jabber, runt, fragment";
	errno = 0;
	one_in = strtoul(space + 1, &end, 10);
	if (space[1] < '1' || space[1] > '9' || *end || errno || one_in > UINT32_MAX)
		return "an error must come once in 1 to 4294967295 frames";
	error->one_in = (uint32_t)one_in;
	return NULL;
}

static const char *
check_link_change(const char *text)
{
	struct feed_link_change change;

	return board_link_change(text, &change);
}

static const char *
check_error(const char *text)
{
	struct feed_error error;

	return board_error(text, &error);
}

static const char *
check_start(const char *text)
{
	const char *end;
	uint64_t us;

	if (strcmp(text, "recorded") == 0 || (parse_seconds(text, &us, &end) && !*end))
		return NULL;
	return "it must be recorded or a number of seconds, as in 2.5";
}

static const char *
check_capture(const char *text)
{
	if (!*text || strcmp(text, LIVE_PREFIX) == 0)
		return "it must be deal, none, a file or live:INTERFACE";
	return NULL;
}

static const char *
check_speed(const char *text)
{
	static const char *const speeds[] = {"10", "100", "1000"};

	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++)
		if (strcmp(text, speeds[i]) == 0)
			return NULL;
	return "it must be 10, 100 or 1000 Mb/s";
}

static const char *
check_power_of_two(const char *text)
{
	unsigned long value = strtoul(text, NULL, 10);

	return value & (value - 1) || value == 1 ? "it is not a power of two" : NULL;
}

/* --- the file --- */

static const struct option_row chip_options[] = {
    {.name = "type", .type = OPTION_ENUM, .offset = offsetof(struct board_chip, type),
	.choices = chip_types, .def = "gt48001a",
	.help = "switch (gt48001a: 8 ports, gt48002a: 2), MAC (c84302: 4 ports), buffers "
		"(tnetx4090: 9 ports) or low-power statistics (eee: all ports)"},
    {.name = NULL},
};

#define PORT(member) .offset = offsetof(struct board_port, member)
static const struct option_row port_options[] = {
    {.name = "speed", .type = OPTION_U32, PORT(speed_mbps), .min = 10, .max = 1000,
	.unit = "Mb/s", .def = "10", .check = check_speed, .help = "speed of the port: 10, 100 or 1000"},
    {.name = "duplex", .type = OPTION_ENUM, PORT(duplex), .choices = duplexes, .def = "full",
	.help = "half or full"},
    {.name = "link", .type = OPTION_ENUM, PORT(link), .choices = links, .def = "up",
	.help = "state of the link at start"},
    {.name = "link_changes", .type = OPTION_LIST, PORT(link_changes),
	.max = BOARD_MAX_LINK_CHANGES, .check = check_link_change,
	.help = "seconds after the start and the link's new state: \"12.5 down\""},
    {.name = "eee", .type = OPTION_BOOL, PORT(eee), .def = "off",
	.help = "Energy Efficient Ethernet is negotiated: the port sleeps when it is idle"},
    {.name = "eee_idle", .type = OPTION_U32, PORT(eee_idle_us), .min = 1, .max = 1000000,
	.unit = "us", .def = "100", .help = "time without a frame after which the port sleeps"},
    {.name = "eee_wake", .type = OPTION_U32, PORT(eee_wake_us), .min = 0, .max = 10000,
	.unit = "us", .def = "0", .help = "time that the port takes to wake up; 0: 17 at 1000 Mb/s, 30 at 100"},
    {.name = "pause", .type = OPTION_BOOL, PORT(pause), .def = "on",
	.help = "flow control is negotiated: in full duplex both sides obey PAUSE frames"},
    {.name = "capture", .type = OPTION_STRING, PORT(capture), .def = "deal",
	.check = check_capture,
	.help = "the port's input: deal (a part of the common capture), none, a file, or "
		"live:INTERFACE"},
    {.name = "interface", .type = OPTION_STRING, PORT(interface),
	.help = "interface of a pcapng file to read, by number or name; empty: all"},
    {.name = "start", .type = OPTION_STRING, PORT(start), .def = "recorded",
	.check = check_start,
	.help = "time of a file's first frame: recorded, or seconds after the start"},
    {.name = "errors", .type = OPTION_LIST, PORT(errors), .max = FEED_N_ERRORS,
	.check = check_error,
	.help = "errors to inject, each once in so many good frames: \"crc 1000\"; empty: the board's"},
    {.name = NULL},
};

#define PLAN(member) .offset = offsetof(struct board_plan, member)
static const struct option_row plan_options[] = {
    {.name = "max_frame", .type = OPTION_U32, PLAN(max_frame_octets), .min = C84302_MAX_OCTETS,
	.max = C84302_MAX_OCTETS + C84302_CONFIG_5_MAX_SIZE, .unit = "octets", .def = "1518",
	.help = "longest good frame, including the FCS"},
    {.name = "errors", .type = OPTION_LIST, PLAN(errors), .max = FEED_N_ERRORS,
	.check = check_error, .help = "errors to inject at ports without errors of their own"},
    {.name = "error_seed", .type = OPTION_U64, PLAN(error_seed), .min = 0, .max = UINT64_MAX,
	.def = DEFAULT_SEED, .help = "seed that decides which frames get errors"},
    {.name = "buffers", .type = OPTION_U32, PLAN(buffers.n), .min = 0, .max = 65535, .def = "0",
	.help = "number of buffers of each tnetx4090; 0: the chip's default"},
    {.name = "buffer_octets", .type = OPTION_U32, PLAN(buffers.octets), .min = 0, .max = 4096,
	.unit = "octets", .def = "0", .check = check_power_of_two,
	.help = "size of a buffer, a power of two; 0: the chip's default"},
    {.name = "flow", .type = OPTION_BOOL, PLAN(buffers.flow), .def = "on",
	.help = "flow control when buffers run short: pause, or collisions in half duplex"},
    {.name = "holb", .type = OPTION_BOOL, PLAN(buffers.holb), .def = "off",
	.help = "head-of-line blocking prevention: flow control also at a port that holds too many buffers"},
    {.name = "flow_threshold", .type = OPTION_U32, PLAN(buffers.threshold), .min = 0,
	.max = 65535, .unit = "buffers", .def = "0",
	.help = "flow control begins below so many free buffers; 0: enough for every port to finish a frame"},
    {.name = "mcast_limit", .type = OPTION_U32, PLAN(buffers.mcast_limit), .min = 0, .max = 256,
	.def = "0", .check = check_power_of_two,
	.help = "multicasts that may wait at a port, 2, 4, ... 256; 0: any number"},
    {.name = "chip", .type = OPTION_SECTION, PLAN(chips),
	.max = BOARD_MAX_CHIPS, .section = chip_options,
	.section_size = sizeof(struct board_chip),
	.section_title_offset = offsetof(struct board_chip, name),
	.section_line_offset = offsetof(struct board_chip, line), .help = "a chip"},
    {.name = "port", .type = OPTION_SECTION, PLAN(ports), .max = BOARD_MAX_PORTS,
	.section = port_options, .section_size = sizeof(struct board_port),
	.section_title_offset = offsetof(struct board_port, name),
	.section_line_offset = offsetof(struct board_port, line),
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

static const struct {
	unsigned ports;
	enum board_role role;
} chips[BOARD_N_CHIP_TYPES] = {
    [BOARD_GT48001A] = {GT48001A_PORTS, BOARD_ROLE_SWITCH},
    [BOARD_GT48002A] = {GT48002A_PORTS, BOARD_ROLE_SWITCH},
    [BOARD_C84302] = {C84302_PORTS, BOARD_ROLE_MAC},
    [BOARD_TNETX4090] = {TNETX4090_PORTS, BOARD_ROLE_BUFFERS},
    [BOARD_EEE] = {EEE_MAX_PORTS, BOARD_ROLE_ENERGY},
};

unsigned
board_chip_ports(int type)
{
	return chips[type].ports;
}

enum board_role
board_chip_role(int type)
{
	return chips[type].role;
}

bool
board_chip_switches(int type)
{
	return chips[type].role == BOARD_ROLE_SWITCH;
}

size_t
board_count_chips(const struct board_plan *plan, enum board_role role)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->chips.n; i++)
		n += board_chip_role(board_chip(plan, i)->type) == role;
	return n;
}

const struct board_chip *
board_chip_of(const struct board_plan *plan, enum board_role role, unsigned port, unsigned *channel)
{
	for (size_t i = 0; i < plan->chips.n; i++) {
		const struct board_chip *chip = board_chip(plan, i);
		unsigned n = board_chip_ports(chip->type);

		if (board_chip_role(chip->type) != role)
			continue;
		*channel = port;
		if (port < n)
			return chip;
		port -= n;
	}
	return NULL;
}

/* The network interface that a capture of "live:INTERFACE" names, else NULL. */
static const char *
live_interface(const char *capture)
{
	size_t prefix = strlen(LIVE_PREFIX);

	return strncmp(capture, LIVE_PREFIX, prefix) == 0 ? capture + prefix : NULL;
}

/* The port's own capture, or NULL. */
static const char *
own_capture(const struct board_port *port)
{
	if (strcmp(port->capture, "deal") == 0 || strcmp(port->capture, "none") == 0 ||
	    live_interface(port->capture))
		return NULL;
	return port->capture;
}

bool
board_port_deals(const struct board_port *port)
{
	return strcmp(port->capture, "deal") == 0 && (port->link == BOARD_LINK_UP || port->link_changes.n > 0);
}

const struct option_list *
board_port_errors(const struct board_plan *plan, const struct board_port *port)
{
	return port->errors.n > 0 ? &port->errors : &plan->errors;
}

/* --- rules over several options --- */

struct mistake {
	const char *name;
	char *error;
	size_t size;
};

/* line 0: the mistake is not in a single line. */
static int __attribute__((format(printf, 3, 4)))
refuse_line(const struct mistake *m, uint32_t line, const char *format, ...)
{
	size_t n = (size_t)snprintf(m->error, m->size, line ? "%s:%u: " : "%s: ", m->name, line);
	va_list args;

	va_start(args, format);
	if (n < m->size)
		vsnprintf(m->error + n, m->size - n, format, args);
	va_end(args);
	return -EINVAL;
}

static const struct {
	const char *name;
	size_t max_chips;
	bool needed; /* every board needs it for all ports; else for all ports or none */
} roles[BOARD_N_ROLES] = {
    [BOARD_ROLE_SWITCH] = {"switch", BOARD_MAX_SWITCH_CHIPS, true},
    [BOARD_ROLE_MAC] = {"MAC", BOARD_MAX_MAC_CHIPS, true},
    [BOARD_ROLE_BUFFERS] = {"buffer", MAX_BUFFER_CHIPS, false},
    [BOARD_ROLE_ENERGY] = {"eee", 1, false},
};

/* Ports are wired to the chips of a role in order. There must be a chip for each port, and a port for
 * each chip. */
static int
check_role(const struct board_plan *plan, enum board_role role, const struct mistake *m)
{
	size_t n_chips = 0, n_ports = 0;

	for (size_t i = 0; i < plan->chips.n; i++) {
		const struct board_chip *chip = board_chip(plan, i);

		if (board_chip_role(chip->type) != role)
			continue;
		if (++n_chips > roles[role].max_chips)
			return refuse_line(m, chip->line, "chip \"%s\": a board has at most %zu %s chips",
			    chip->name, roles[role].max_chips, roles[role].name);
		if (plan->ports.n <= n_ports)
			return refuse_line(m, chip->line,
			    "chip \"%s\": all %zu ports of the board are wired to chips before it", chip->name,
			    plan->ports.n);
		n_ports += board_chip_ports(chip->type);
	}
	if (plan->ports.n <= n_ports || (n_chips == 0 && !roles[role].needed))
		return 0;
	return refuse_line(m, board_port(plan, n_ports)->line,
	    "port \"%s\": the %s chips of the board have only %zu ports", board_port(plan, n_ports)->name,
	    roles[role].name, n_ports);
}

static int
board_check_port(const struct board_port *port, const struct mistake *m)
{
	if (port->name[0] == '\0' || strlen(port->name) > EASE_NAME_MAX)
		return refuse_line(m, port->line, "a port's name is empty or longer than %d octets", EASE_NAME_MAX);
	if (port->speed_mbps == 1000 && port->duplex == BOARD_HALF)
		return refuse_line(m, port->line, "port \"%s\": 1000 Mb/s needs duplex = full", port->name);
	if (port->eee && (port->speed_mbps == 10 || port->duplex == BOARD_HALF))
		return refuse_line(m, port->line, "port \"%s\": EEE needs 100 Mb/s or more and duplex = full",
		    port->name);
	if (!own_capture(port) && (port->interface[0] || strcmp(port->start, "recorded")))
		return refuse_line(m, port->line, "port \"%s\": interface and start are allowed only if capture is a file",
		    port->name);
	return 0;
}

/* A port with EEE needs a chip that counts its sleep. */
static int
check_energy(const struct board_plan *plan, const struct mistake *m)
{
	if (board_count_chips(plan, BOARD_ROLE_ENERGY) > 0)
		return 0;
	for (size_t i = 0; i < plan->ports.n; i++)
		if (board_port(plan, i)->eee)
			return refuse_line(m, board_port(plan, i)->line,
			    "port \"%s\": EEE needs a chip of type eee", board_port(plan, i)->name);
	return 0;
}

/* A pool needs more buffers than the number at which flow control begins. */
static int
check_buffers(const struct board_plan *plan, const struct mistake *m)
{
	const struct board_buffers *b = &plan->buffers;
	uint32_t n = b->n ? b->n : TNETX4090_DEFAULT_BUFFERS, threshold = b->threshold;
	uint32_t octets = b->octets ? b->octets : TNETX4090_DEFAULT_BUFFER_OCTETS;
	unsigned ports = plan->ports.n < TNETX4090_PORTS ? (unsigned)plan->ports.n : TNETX4090_PORTS;

	if (board_count_chips(plan, BOARD_ROLE_BUFFERS) == 0)
		return 0;
	if (threshold == 0)
		threshold = tnetx4090_default_threshold(ports, plan->max_frame_octets, octets);
	if (threshold < n)
		return 0;
	return refuse_line(m, 0, "buffers: %u is too few for a flow_threshold of %u%s", n, threshold,
	    b->threshold == 0 ? " (the default, with which every port can finish a frame)" : "");
}

static int
check_plan(const char *name, const struct board_plan *plan, char *error, size_t error_size)
{
	struct mistake m = {name, error, error_size};
	int rc = 0;

	if (plan->ports.n == 0)
		return refuse_line(&m, 0, "it has no port");
	for (size_t i = 0; i < plan->ports.n && rc == 0; i++)
		rc = board_check_port(board_port(plan, i), &m);
	for (int role = 0; role < BOARD_N_ROLES && rc == 0; role++)
		rc = check_role(plan, (enum board_role)role, &m);
	if (rc == 0)
		rc = check_energy(plan, &m);
	return rc == 0 ? check_buffers(plan, &m) : rc;
}

static int
finish_load(int rc, const char *name, struct board_plan *plan, char *error, size_t error_size)
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
	return finish_load(options_load(file, plan_options, plan, error, error_size), file, plan, error, error_size);
}

int
board_parse(const char *name, const char *text, struct board_plan *plan, char *error, size_t error_size)
{
	*plan = (struct board_plan){0};
	return finish_load(options_parse(name, text, plan_options, plan, error, error_size), name, plan,
	    error, error_size);
}

void
board_free(struct board_plan *plan)
{
	options_free(plan_options, plan);
	*plan = (struct board_plan){0};
}

/* --- ifIndexes --- */

int
board_port_position(const struct board_plan *plan, uint32_t if_index)
{
	size_t guess = if_index - 1;

	if (if_index == 0)
		return -1;
	if (guess < plan->ports.n && board_port(plan, guess)->if_index == if_index)
		return (int)guess;
	for (size_t i = 0; i < plan->ports.n; i++) {
		if (board_port(plan, i)->if_index == if_index)
			return (int)i;
	}
	return -1;
}

static bool
is_kept(const struct kept_if_index *kept, size_t n, uint32_t if_index)
{
	for (size_t i = 0; i < n; i++) {
		if (kept[i].if_index == if_index)
			return true;
	}
	return false;
}

void
board_number_ports(struct board_plan *plan, const struct kept_if_index *kept, size_t n)
{
	struct board_port *ports = plan->ports.items;
	bool any_kept = false;

	/* First the numbers that ports had; the first of two that had the same. */
	for (size_t i = 0; i < plan->ports.n; i++) {
		ports[i].if_index = 0;
		for (size_t k = 0; k < n && ports[i].if_index == 0; k++) {
			if (strcmp(kept[k].name, ports[i].name) == 0 &&
			    board_port_position(plan, kept[k].if_index) < 0)
				ports[i].if_index = kept[k].if_index;
		}
		any_kept = any_kept || ports[i].if_index != 0;
	}
	if (!any_kept)
		n = 0;
	for (size_t i = 0; i < plan->ports.n; i++) {
		uint32_t number = (uint32_t)i + 1;

		if (ports[i].if_index != 0)
			continue;
		if (board_port_position(plan, number) >= 0 || is_kept(kept, n, number))
			for (number = 1; board_port_position(plan, number) >= 0 || is_kept(kept, n, number);)
				number++;
		ports[i].if_index = number;
	}
}

/* --- the feed --- */

/* The parts of a feed_config, as many as the plan has. */
struct parts {
	struct feed_source sources[FEED_MAX_SOURCES];
	struct feed_live live[FEED_MAX_SOURCES];
	unsigned ports[BOARD_MAX_PORTS];
	struct feed_error errors[BOARD_MAX_PORTS * FEED_N_ERRORS];
	struct feed_link_change *changes;
	struct feed_config feed;
};

static void
board_add_source(struct parts *parts, const struct board_port *port, unsigned i)
{
	struct feed_source *source = &parts->sources[parts->feed.n_sources];
	const char *capture = own_capture(port), *end;

	if (board_port_deals(port))
		parts->ports[parts->feed.n_ports++] = i;
	if (live_interface(port->capture))
		parts->live[parts->feed.n_live++] =
		    (struct feed_live){live_interface(port->capture), (int)i};
	if (!capture)
		return;
	*source = (struct feed_source){
	    .path = capture, .interface = port->interface, .port = (int)i};
	source->moved = strcmp(port->start, "recorded") != 0 && parse_seconds(port->start, &source->start_us, &end);
	parts->feed.n_sources++;
}

/* parse has checked all texts. */
static void
board_add_events(struct parts *parts, const struct board_plan *plan, const struct board_port *port, unsigned i)
{
	const struct option_list *errors = board_port_errors(plan, port);

	for (size_t k = 0; k < errors->n; k++) {
		struct feed_error *error = &parts->errors[parts->feed.n_errors++];

		board_error(errors->items[k], error);
		error->port = i;
	}
	for (size_t k = 0; k < port->link_changes.n; k++) {
		struct feed_link_change *change = &parts->changes[parts->feed.n_link_changes++];

		board_link_change(port->link_changes.items[k], change);
		change->port = i;
	}
}

static struct parts *
board_make_parts(const struct board_plan *plan, const struct board_feed_config *config)
{
	struct parts *parts = calloc(1, sizeof(*parts));
	size_t n_changes = 1;

	for (size_t i = 0; i < plan->ports.n; i++)
		n_changes += board_port(plan, i)->link_changes.n;
	if (!parts || !(parts->changes = calloc(n_changes, sizeof(*parts->changes)))) {
		free(parts);
		return NULL;
	}
	parts->feed = (struct feed_config){.sources = parts->sources, .live = parts->live,
	    .ports = parts->ports,
	    .deal = config->deal, .loop = config->loop, .preload = config->preload,
	    .link_changes = parts->changes, .errors = parts->errors,
	    .error_seed = plan->error_seed};
	for (unsigned i = 0; i < plan->ports.n; i++) {
		board_add_source(parts, board_port(plan, i), i);
		board_add_events(parts, plan, board_port(plan, i), i);
	}
	if (config->capture && live_interface(config->capture))
		parts->live[parts->feed.n_live++] =
		    (struct feed_live){live_interface(config->capture), -1};
	else if (config->capture)
		parts->sources[parts->feed.n_sources++] =
		    (struct feed_source){.path = config->capture, .port = -1};
	return parts;
}

int
board_feed_create(const struct board_plan *plan, const struct board_feed_config *config,
    struct feed **feed, char *error, size_t error_size)
{
	struct parts *parts = board_make_parts(plan, config);
	int rc = 0;

	*feed = NULL;
	if (!parts) {
		snprintf(error, error_size, "cannot open the board's input: out of memory");
		return -ENOMEM;
	}
	if (parts->feed.n_sources > 0 || parts->feed.n_live > 0 || parts->feed.n_link_changes > 0)
		rc = feed_create(&parts->feed, feed, error, error_size);
	free(parts->changes);
	free(parts);
	return rc;
}
