/* Any octets as what a collector that died had seen: taken up to the inventory's limits or refused as
 * nonsense, each slot by itself; what is lost never exceeds what was expected. */
#include "collector/window/crash_recovery.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { AGENTS = 2, PORTS = 4 };

static void
expected(void *arg, const struct port *p, uint64_t time_us, uint64_t more)
{
	(void)p;
	(void)time_us;
	*(uint64_t *)arg += more;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t n = size / sizeof(struct crash_journal_slot) + 1, more = 0;
	struct crash_journal_slot *slots = calloc(n, sizeof(*slots)); /* the last is cut: zeros behind */
	struct crash_journal_past past = {.crashed = true, .slots = slots, .n_slots = n};
	struct crash_recovered sum;
	struct inventory r;

	if (!slots || inventory_init(&r, AGENTS, PORTS, 1) < 0)
		abort();
	memcpy(slots, data, size);
	crash_recover(&r, &past, expected, &more, &sum);
	if (r.agent_places.end > AGENTS || r.port_places.end > PORTS || sum.refused > n || sum.ports > n)
		abort();
	inventory_free(&r);
	free(slots);
	return 0;
}
