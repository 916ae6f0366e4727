#include "agent/linux/forwarding.h"

#include "common/sample.h"

enum {
	WINDOW_US = 2000000, /* drivers keep what they read from the chip for up to a second. *assumed* */
	WINDOW_PKTS = 100,   /* fewer say nothing */
	AHEAD_PARTS = 8,     /* ahead: the CPU lacks more than one frame in so many. *assumed* */
	LEVEL_WINDOWS = 30,  /* frames that are flooded reach the CPU, too: a while of these is no proof */
};

static void
begin_window(struct forwarding_comparison *c, uint64_t now_us, uint64_t hardware_pkts, uint64_t cpu_pkts)
{
	c->begun = true;
	c->since_us = now_us;
	c->hardware_pkts = hardware_pkts;
	c->cpu_pkts = cpu_pkts;
}

static void
conclude_window(struct forwarding_comparison *c, uint64_t hardware_pkts, uint64_t cpu_pkts, bool exact)
{
	if (cpu_pkts < hardware_pkts && hardware_pkts - cpu_pkts > hardware_pkts / AHEAD_PARTS) {
		c->counts = FORWARDING_HARDWARE_AHEAD;
		c->n_level = 0;
	} else if (c->n_level < LEVEL_WINDOWS && ++c->n_level == LEVEL_WINDOWS) {
		c->counts = exact ? FORWARDING_CPU_KEEPS_UP : FORWARDING_NOT_COUNTED;
	}
}

bool
forwarding_compare(struct forwarding_comparison *c, uint64_t now_us, uint64_t hardware_pkts, uint64_t cpu_pkts,
    bool exact)
{
	uint8_t before = c->counts;

	/* A count that goes back was reset, with its driver. */
	if (!c->begun || hardware_pkts < c->hardware_pkts || cpu_pkts < c->cpu_pkts)
		begin_window(c, now_us, hardware_pkts, cpu_pkts);
	if (now_us - c->since_us < WINDOW_US || hardware_pkts - c->hardware_pkts < WINDOW_PKTS)
		return false;
	conclude_window(c, hardware_pkts - c->hardware_pkts, cpu_pkts - c->cpu_pkts, exact);
	begin_window(c, now_us, hardware_pkts, cpu_pkts);
	return c->counts != before;
}

uint8_t
forwarding_judge(const struct forwarding_evidence *e, const struct forwarding_comparison *c)
{
	bool bridged = e->beside_own && (e->offloaded || c->counts != FORWARDING_CPU_KEEPS_UP);

	if (!e->of_chip || !(bridged || c->counts == FORWARDING_HARDWARE_AHEAD))
		return EASE_FORWARDING_SOFTWARE;
	return e->beside_other ? EASE_FORWARDING_MIXED : EASE_FORWARDING_HARDWARE;
}
