#include "agent/sim/board_draw.h"

#include "agent/sim/chip/tnetx4090_regs.h"

#include <string.h>

enum { MIN_NAME_COLUMNS = 4, MAX_NAME_COLUMNS = 24, LABEL_OCTETS = 80 };

struct drawing {
	FILE *out;
	const struct board_plan *plan;
	const struct board_feed_config *feed;
	int name_columns, mac_columns, pool_columns; /* 0: the column is not shown */
};

static const char *
type_name(int type)
{
	static const char *const names[BOARD_N_CHIP_TYPES] = {
	    [BOARD_GT48001A] = "GT-48001A",
	    [BOARD_GT48002A] = "GT-48002A",
	    [BOARD_C84302] = "84302",
	    [BOARD_TNETX4090] = "TNETX4090",
	    [BOARD_EEE] = "EEE unit",
	};

	return names[type];
}

/* "mac-0.3": the chip of a role to which the port is wired, and the channel. */
static void
label_channel(const struct drawing *d, enum board_role role, unsigned port, char *label)
{
	unsigned channel;
	const struct board_chip *chip = board_chip_of(d->plan, role, port, &channel);

	label[0] = '\0';
	if (chip)
		snprintf(label, LABEL_OCTETS, "%.70s.%u", chip->name, channel);
}

static int
widest_label(const struct drawing *d, enum board_role role)
{
	char label[LABEL_OCTETS];
	int widest = 0;

	for (unsigned i = 0; i < d->plan->ports.n; i++) {
		label_channel(d, role, i, label);
		if ((int)strlen(label) > widest)
			widest = (int)strlen(label);
	}
	return widest;
}

static void
measure_columns(struct drawing *d)
{
	d->name_columns = MIN_NAME_COLUMNS;
	for (size_t i = 0; i < d->plan->ports.n; i++) {
		int columns = (int)strlen(board_port(d->plan, i)->name);

		if (columns > d->name_columns)
			d->name_columns = columns < MAX_NAME_COLUMNS ? columns : MAX_NAME_COLUMNS;
	}
	d->mac_columns = widest_label(d, BOARD_ROLE_MAC);
	d->pool_columns = widest_label(d, BOARD_ROLE_BUFFERS);
}

/* --- a port --- */

static void
draw_input(const struct drawing *d, const struct board_port *port)
{
	const struct option_list *errors = board_port_errors(d->plan, port);
	const char *input = port->capture;

	if (strcmp(port->capture, "deal") == 0 && !d->feed->capture)
		input = "none (nothing to deal)";
	else if (strcmp(port->capture, "deal") == 0 && !board_port_deals(port))
		input = "none (link is down)";
	fprintf(d->out, "  %s", input);
	if (port->interface[0])
		fprintf(d->out, " (%s)", port->interface);
	if (strcmp(port->start, "recorded") != 0)
		fprintf(d->out, " from %s s", port->start);
	for (size_t i = 0; i < port->link_changes.n; i++)
		fprintf(d->out, "%s%s", i ? ", " : "; link at ", port->link_changes.items[i]);
	for (size_t i = 0; i < errors->n; i++)
		fprintf(d->out, "%s%s", i ? ", " : "; errors, one in: ", errors->items[i]);
}

static void
draw_eee(const struct drawing *d, const struct board_port *port)
{
	char text[32] = "-";

	if (port->eee)
		snprintf(text, sizeof(text), "%u us", port->eee_idle_us);
	if (board_count_chips(d->plan, BOARD_ROLE_ENERGY) > 0)
		fprintf(d->out, "  %8s", text);
}

static void
draw_port(const struct drawing *d, unsigned i)
{
	const struct board_port *port = board_port(d->plan, i);
	char mac[LABEL_OCTETS], pool[LABEL_OCTETS];

	label_channel(d, BOARD_ROLE_MAC, i, mac);
	label_channel(d, BOARD_ROLE_BUFFERS, i, pool);
	fprintf(d->out, "%-*s  %4uM  %-6s  %-4s  %-*s", d->name_columns, port->name,
	    port->speed_mbps, port->duplex == BOARD_FULL ? "full" : "half",
	    port->link == BOARD_LINK_UP ? "up" : "down", d->mac_columns, mac);
	if (d->pool_columns)
		fprintf(d->out, "  %-*s", d->pool_columns, pool);
	fprintf(d->out, "  %-5s", port->duplex == BOARD_HALF ? "-" : port->pause ? "on" : "off");
	draw_eee(d, port);
	draw_input(d, port);
	fputc('\n', d->out);
}

static void
draw_head(const struct drawing *d)
{
	fprintf(d->out, "PCI          %-*s  SPEED  DUPLEX  LINK  %-*s", d->name_columns, "PORT",
	    d->mac_columns, "MAC");
	if (d->pool_columns)
		fprintf(d->out, "  %-*s", d->pool_columns, "BUFFERS");
	fprintf(d->out, "  PAUSE");
	if (board_count_chips(d->plan, BOARD_ROLE_ENERGY) > 0)
		fprintf(d->out, "  %8s", "LPI");
	fprintf(d->out, "  INPUT\n");
}

/* --- chips --- */

/* Ports of a switch chip, from first on. Returns the first port of the next one. */
static unsigned
draw_switch(const struct drawing *d, const struct board_chip *chip, unsigned device, unsigned first, bool last)
{
	unsigned n = board_chip_ports(chip->type);
	char rail = last ? ' ' : '|';

	fprintf(d->out, " |\n +-- %s  %s, device %u\n", chip->name, type_name(chip->type), device);
	for (unsigned channel = 0; channel < n; channel++) {
		fprintf(d->out, " %c    %c-- %u  ", rail, channel + 1 < n ? '|' : '`', channel);
		if (first + channel < d->plan->ports.n)
			draw_port(d, first + channel);
		else
			fprintf(d->out, "(unconnected)\n");
	}
	return first + n;
}

static void
draw_switches(const struct drawing *d)
{
	size_t n = board_count_chips(d->plan, BOARD_ROLE_SWITCH);
	unsigned device = 0, port = 0;

	for (size_t i = 0; i < d->plan->chips.n; i++) {
		const struct board_chip *chip = board_chip(d->plan, i);

		if (!board_chip_switches(chip->type))
			continue;
		port = draw_switch(d, chip, device, port, device + 1 == n);
		device++;
	}
}

static void
draw_others(const struct drawing *d, enum board_role role, const char *what)
{
	size_t n = 0, ports = 0;

	for (size_t i = 0; i < d->plan->chips.n; i++) {
		const struct board_chip *chip = board_chip(d->plan, i);

		if (board_chip_role(chip->type) != role)
			continue;
		if (n++ == 0)
			fprintf(d->out, "%-8s %s: %s", what, type_name(chip->type), chip->name);
		else
			fprintf(d->out, ", %s", chip->name);
		ports += board_chip_ports(chip->type);
	}
	if (n == 0)
		return;
	fprintf(d->out, " (%zu of %zu ports in use)\n", d->plan->ports.n, ports);
}

static void
draw_pools(const struct drawing *d)
{
	const struct board_buffers *b = &d->plan->buffers;

	if (board_count_chips(d->plan, BOARD_ROLE_BUFFERS) == 0)
		return;
	fprintf(d->out,
	    "         each %u buffers of %u octets; flow control %s, head-of-line blocking "
	    "control %s", b->n ? b->n : TNETX4090_DEFAULT_BUFFERS,
	    b->octets ? b->octets : TNETX4090_DEFAULT_BUFFER_OCTETS, b->flow ? "on" : "off",
	    b->holb ? "on" : "off");
	if (b->mcast_limit)
		fprintf(d->out, "; %u multicasts may wait at a port", b->mcast_limit);
	fputc('\n', d->out);
}

static void
draw_common_input(const struct drawing *d)
{
	static const char *const deals[] = {
	    [FEED_DEAL_ROUND_ROBIN] = "source address, in turn",
	    [FEED_DEAL_HASH] = "a hash of the source address",
	    [FEED_DEAL_INTERFACE] = "interface",
	};
	unsigned n = 0;

	for (size_t i = 0; i < d->plan->ports.n; i++)
		n += board_port_deals(board_port(d->plan, i));
	if (d->feed->capture)
		fprintf(d->out, "deal     %s, to %u ports by %s\n", d->feed->capture, n, deals[d->feed->deal]);
}

void
board_draw(FILE *out, const char *file, const struct board_plan *plan, const struct board_feed_config *feed)
{
	struct drawing d = {.out = out, .plan = plan, .feed = feed};

	measure_columns(&d);
	fprintf(out, "%s: %zu ports, frames up to %u octets\n\n", file, plan->ports.n, plan->max_frame_octets);
	draw_head(&d);
	draw_switches(&d);
	fputc('\n', out);
	draw_others(&d, BOARD_ROLE_MAC, "MAC");
	draw_others(&d, BOARD_ROLE_BUFFERS, "buffers");
	draw_pools(&d);
	draw_others(&d, BOARD_ROLE_ENERGY, "energy");
	draw_common_input(&d);
}
