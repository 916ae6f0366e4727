#include "agent/port_round.h"

void
port_round_begin(struct port_round *round, uint64_t start_us)
{
	*round = (struct port_round){.start_us = start_us, .next_us = start_us};
}

static size_t
n_slices(size_t n_ports, uint64_t interval_us)
{
	uint64_t most = interval_us / (PORT_ROUND_SLICE_MS * 1000);
	size_t n = (n_ports + PORT_ROUND_SLICE_PORTS - 1) / PORT_ROUND_SLICE_PORTS;

	if (n > most)
		n = (size_t)most;
	return n > 0 ? n : 1;
}

/* The position of the first port behind `after`. Ports may have come and gone since. */
static size_t
port_round_find_next(const struct hal *hal, uint32_t after)
{
	size_t low = 0, high = hal_n_ports(hal);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (hal_port_if_index(hal, middle) <= after)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
port_round_by(struct port_round *round, uint64_t latest_us)
{
	if (round->slice == 0 && round->next_us > latest_us)
		port_round_begin(round, latest_us);
}

bool
port_round_run(struct port_round *round, const struct hal *hal, uint64_t now_us,
    uint64_t interval_us, void (*send)(void *ctx, uint32_t if_index), void *ctx)
{
	size_t n_ports = hal_n_ports(hal), slices = n_slices(n_ports, interval_us);
	size_t per_slice = (n_ports + slices - 1) / slices, at;
	bool ends;

	if (now_us < round->next_us)
		return false;
	at = port_round_find_next(hal, round->after);
	ends = round->slice + 1 >= slices || at + per_slice >= n_ports;
	for (size_t left = ends ? n_ports : per_slice; left > 0 && at < n_ports; left--, at++) {
		round->after = hal_port_if_index(hal, at);
		send(ctx, round->after);
	}
	round->slice++;
	round->next_us = round->start_us + round->slice * interval_us / slices;
	if (ends) {
		uint64_t next_us = round->start_us + interval_us;

		port_round_begin(round, next_us > now_us ? next_us : now_us + interval_us);
	}
	return ends;
}
