#include "agent/sim/port_assignment.h"

#include <errno.h>
#include <stdlib.h>

int
port_assignment_create(enum feed_deal mode, const unsigned *ports, size_t n_ports, struct port_assignment **assignment)
{
	struct port_assignment *d;

	if (n_ports == 0 || n_ports > UINT16_MAX)
		return -EINVAL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->ports = calloc(n_ports, sizeof(*d->ports));
	if (!d->ports) {
		free(d);
		return -ENOMEM;
	}
	memcpy(d->ports, ports, n_ports * sizeof(*ports));
	d->mode = mode;
	d->n_ports = n_ports;
	*assignment = d;
	return 0;
}

void
port_assignment_destroy(struct port_assignment *assignment)
{
	if (!assignment)
		return;
	free(assignment->ports);
	free(assignment);
}

static unsigned
by_hash(const struct port_assignment *d, uint64_t address)
{
	return d->ports[(address * 0x9e3779b97f4a7c15ull >> 32) % d->n_ports];
}

unsigned
port_of_source_slow_path(struct port_assignment *d, uint64_t source, bool *full)
{
	size_t slot = source_slot(source);
	bool group = source >> 40 & 1;
	unsigned port;

	if (group || source == 0 || d->mode == FEED_DEAL_HASH)
		return by_hash(d, source);
	for (; d->slots[slot] != 0; slot = (slot + 1) % ASSIGNMENT_SLOTS)
		if (d->slots[slot] >> 16 == source)
			return d->slots[slot] & UINT16_MAX;
	if (d->n_known == FEED_DEAL_ADDRESSES) {
		*full = true;
		return by_hash(d, source);
	}
	port = d->ports[d->next];
	d->n_known++;
	d->slots[slot] = source << 16 | port;
	d->next = (d->next + 1) % d->n_ports;
	return port;
}
