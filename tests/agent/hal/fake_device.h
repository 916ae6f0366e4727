/*
 * A fake switch for tests of the HAL and of sampling. Each port has counters that the test sets, and
 * a simple model of an EASE register pair; the test moves the clock. It shares no code with the chip
 * models.
 */
#ifndef EASE_TESTS_FAKE_DEVICE_H
#define EASE_TESTS_FAKE_DEVICE_H

#include "agent/hal/hal_provider.h"

enum { FAKE_PORTS = 3, FAKE_DEPTH = 2, FAKE_MAX_SKIP = 0xfffff, FAKE_STATICS = 2 };

/* Hardware counters: wrapping 32 bits with the 84302's zero after maximum, clear-on-read 16 bits,
 * a 64-bit total; good frames in and out. */
enum fake_row { FAKE_WRAPS, FAKE_CLEARS, FAKE_TOTAL, FAKE_GOOD_IN, FAKE_GOOD_OUT, FAKE_N_ROWS };

struct fake_port {
	uint64_t raw[FAKE_N_ROWS];
	uint32_t skips[FAKE_DEPTH];
	unsigned n_skips;
	uint64_t loads;
	struct hal_sample_event waiting[FAKE_DEPTH]; /* not reported yet */
	unsigned n_waiting;
	uint64_t stood_still_pkts; /* frames that passed with no skip loaded */
	uint8_t oper_status;
	uint32_t if_type, lag_parent, bridge, lower;
	uint16_t base_port;
	bool off_bridge, vlan_unaware;
	uint64_t speed_bps;
	uint8_t pause;
	bool draws_itself; /* it takes no skips, but a rate */
	uint32_t rate;
	int rate_error; /* -errno of setting it */
	bool lacks_facets; /* of fake_add_facets */
	struct hal_energy energy;
	struct hal_buffers buffers;
};

struct fake_device {
	struct hal_device device;
	struct hal *hal;
	uint64_t now_us; /* its steady clock */
	int64_t set_us;	 /* how far somebody has set the clock of its stamps, on or back */
	size_t n_ports;
	struct fake_port ports[FAKE_PORTS];
	int read_error;	     /* -errno of every counter read, 0 none */
	bool says_same;	     /* no counter has changed, whatever is in them */
	bool late_cpu;	     /* samples are reported only by fake_report */
	bool can_restart;
	uint32_t restarted;  /* ifIndex to report at the next dispatch */
	struct hal_address addresses[8];
	size_t n_addresses;
	struct hal_address static_addresses[FAKE_STATICS]; /* of set_static */
	size_t n_static_addresses;
};

void fake_init(struct fake_device *fake, size_t n_ports);

/* Energy, buffers, error sources and two modules, which the device has not from the
 * start. */
void fake_add_facets(struct fake_device *fake);

/* Passes one good frame of the direction through the port's counters and its skip counter. */
void fake_frame(struct fake_device *fake, uint32_t if_index, enum ease_direction direction);
/* Reports the port's samples that wait. */
void fake_report(struct fake_device *fake, uint32_t if_index);

#endif
