/*
 * The dummy device generates any number of ports and addresses, for tests of scale (walks of 1,024
 * ports, tables of 65,536 addresses) that need no real or emulated switch. Its values depend only on
 * ifIndex and time, so that a test knows the value of every cell. It has no sampling, and uses the
 * clock that it is given.
 */
#ifndef EASE_AGENT_SIM_DUMMY_H
#define EASE_AGENT_SIM_DUMMY_H

#include "agent/hal/hal_provider.h"
#include "common/clock.h"

struct dummy_config {
	uint32_t n_ports;     /* 1..HAL_MAX_PORTS; ifIndex 1..n */
	uint32_t n_addresses; /* 0..HAL_MAX_ADDRESSES, dealt to the ports in turn */
	/* 0..HAL_VLAN_MAX. Port n takes frames without a tag into VLAN (n - 1) modulo n_vlans, plus 1; an even port
	 * is a tagged member of all others, an odd one of none. 0: a bridge that is not VLAN-aware */
	uint32_t n_vlans;
	uint64_t speed_bps;
	const struct clock *clock; /* borrowed */
};

int dummy_create(const struct dummy_config *config, struct hal_device **device);

/* The value of a port's counter after elapsed_us. Pure. */
enum dummy_row {
	DUMMY_IN_OCTETS, DUMMY_IN_UCAST, DUMMY_IN_MCAST, DUMMY_IN_BCAST,
	DUMMY_OUT_OCTETS, DUMMY_OUT_UCAST, DUMMY_OUT_MCAST, DUMMY_OUT_BCAST,
	DUMMY_N_ROWS
};
uint64_t dummy_counter(uint32_t if_index, enum dummy_row row, uint64_t elapsed_us);

/* The i-th generated address (i from 0), for the same purpose. */
struct hal_address dummy_address(const struct dummy_config *config, uint32_t i);

#endif
