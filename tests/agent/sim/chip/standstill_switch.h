/*
 * A switch of one GalNet chip, whose frames the test counts: the chip's registers, driver and HAL, and sampling
 * over them. As long as the test does not let the CPU work, the ports' skip counters run dry and stand still.
 * One lives at a time.
 */
#ifndef EASE_TESTS_STANDSTILL_SWITCH_H
#define EASE_TESTS_STANDSTILL_SWITCH_H

#include "agent/sampling/sampling.h"
#include "agent/sim/chip/galnet.h"
#include "tests/agent/sim/chip/galnet_rig.h"

enum { STANDSTILL_PORTS = 8, STANDSTILL_FIRST_IF = 101 };

struct standstill_switch {
	struct galnet_rig rig;
	struct galnet *chip;
	struct hal_device device;
	struct hal *hal;
	struct sampling *sampling;
	const struct clock *clock;	   /* of everything */
	uint64_t frames[STANDSTILL_PORTS]; /* that the test sent: the port's counter */
};

/* Every port samples one frame in mean. sink and clock are borrowed. */
struct standstill_switch *standstill_switch_create(
    uint32_t mean, const struct sampling_sink *sink, const struct clock *clock);
void standstill_switch_destroy(void);

/* n frames come in by the port. */
void standstill_switch_pass(unsigned port, unsigned n);
/* The CPU takes all samples that wait, and loads new skips. */
void standstill_switch_cpu_works(void);
struct ease_snapshot standstill_switch_snapshot(unsigned port);

#endif
