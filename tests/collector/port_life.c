#include "tests/collector/port_life.h"
#include "tests/collector/input/trap_builder.h"

static const uint8_t agent_id[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint8_t frame[34] = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 40, 0, 1, 0,
    0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2};

static void
add_samples(struct trap_message *m, uint32_t first)
{
	struct ease_snapshot snapshot = {.if_index = 3, .time_us = PORT_LIFE_US + first * 1000000,
	    .in.octets = 1000 * first, .pool_in_pkts = 10 * first,
	    .last_sequence = first + PORT_LIFE_SAMPLES - 1};

	for (uint32_t i = first; i < first + PORT_LIFE_SAMPLES; i++) {
		const struct ease_sample s = {.time_us = PORT_LIFE_US + i * 1000000, .if_index = 3,
		    .sequence = i, .direction = EASE_IN, .skip = 7, .mean_skip = 10,
		    .pool_pkts = 10 * i, .frame_octets = 500, .kept_octets = sizeof(frame),
		    .header = frame};

		trap_add_sample(m, &s);
	}
	trap_add_snapshot(m, &snapshot);
}

size_t
port_life_message(unsigned i, uint8_t octets[static PORT_LIFE_OCTETS])
{
	static struct trap_message m;
	const struct ease_state state = {.if_index = 3, .time_us = PORT_LIFE_US, .name = "ge-3",
	    .alias = "x", .speed_bps = 1000000000, .edge = true};
	const struct ease_address address = {.time_us = PORT_LIFE_US, .if_index = 3, .vlan = 1};

	if (i == 0) {
		trap_start(&m, "public", EASE_NOTIFY_PORT_STATE, agent_id, 1);
		trap_add_state(&m, &state);
	} else if (i == 1) {
		trap_start(&m, "public", EASE_NOTIFY_NEW_ADDRESS, agent_id, 1);
		trap_add_address(&m, &address);
	} else {
		trap_start(&m, "public", EASE_NOTIFY_SAMPLES, agent_id, 1);
		add_samples(&m, 1 + (i - 2) * PORT_LIFE_SAMPLES);
	}
	return trap_build(&m, octets, PORT_LIFE_OCTETS);
}
