#include "agent/sim/port_numbering.h"

#include <string.h>

static struct board_port *
port_at(struct board_plan *plan, size_t i)
{
	return (struct board_port *)(uintptr_t)board_port(plan, i);
}

int
port_numbering_position(const struct board_plan *plan, uint32_t if_index)
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

/* Gives ports the number that they had; the first of two that had the same. False if no port had one. */
static bool
take_kept(struct board_plan *plan, const struct kept_if_index *kept, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < plan->ports.n; i++) {
		struct board_port *port = port_at(plan, i);

		port->if_index = 0;
		for (size_t k = 0; k < n && port->if_index == 0; k++) {
			if (strcmp(kept[k].name, port->name) == 0 &&
			    port_numbering_position(plan, kept[k].if_index) < 0)
				port->if_index = kept[k].if_index;
		}
		any = any || port->if_index != 0;
	}
	return any;
}

void
port_numbering_choose(struct board_plan *plan, const struct kept_if_index *kept, size_t n)
{
	if (!take_kept(plan, kept, n))
		n = 0;
	for (size_t i = 0; i < plan->ports.n; i++) {
		struct board_port *port = port_at(plan, i);
		uint32_t number = (uint32_t)i + 1;

		if (port->if_index != 0)
			continue;
		if (port_numbering_position(plan, number) >= 0 || is_kept(kept, n, number))
			for (number = 1; port_numbering_position(plan, number) >= 0 ||
			     is_kept(kept, n, number);)
				number++;
		port->if_index = number;
	}
}
