/*
 * The SONiC device: presents a switch that runs SONiC, from its Redis databases. The interfaces that Linux has on such
 * a switch count only what the CPU sends and receives; what the chip counts, SONiC writes to COUNTERS_DB.
 * - APPL_DB gives ports, LAGs, VLANs and their state, COUNTERS_DB counters, ASIC_DB addresses, STATE_DB the kernel's
 *   numbers of ports, and CONFIG_DB the management port and the switch's address.
 * - SET of ifAdminStatus, ifAlias and the mean skip writes CONFIG_DB, as SONiC's own commands do, and SONiC carries it
 *   out. The agent writes nothing else, and nothing by itself.
 * - Samples come by psample: from the chip's driver, or on SONiC's virtual switch from the kernel.
 *
 * All is asked for without waiting. What a row shows is what the last answers said. While Redis is away, rows stay
 * and their ifOperStatus is unknown(4) after SONIC_STALE_US; counters that are older than this are not there.
 */
#ifndef EASE_AGENT_SONIC_SONIC_DEVICE_H
#define EASE_AGENT_SONIC_SONIC_DEVICE_H

#include "agent/hal/hal_provider.h"
#include "common/clock.h"

#define SONIC_STALE_US 10000000ull
enum { SONIC_OWN_PORTS_MAX = 17, SONIC_RATE_MIN = 256, SONIC_RATE_MAX = 8388608 };

struct sonic_config {
	const char *database_config; /* path of SONiC's database_config.json */
	bool by_tcp;		     /* reach Redis by TCP instead of its Unix socket */
	bool sampling;		     /* take psample's samples */
	bool read_only;		     /* managers may change nothing */
	/* UDP ports to which this machine sends its own notifications and sFlow; samples of them are not sent. */
	uint16_t own_ports[SONIC_OWN_PORTS_MAX];
	size_t n_own_ports;
	uint32_t load_wait_ms; /* how long the first answers are awaited; without them, ports come later */
	const struct clock *clock; /* borrowed */
};

/* Reads database_config, and waits up to load_wait_ms for the switch's interfaces. -ENOTSUP: this program was built
 * without libhiredis; else -errno, with the reason in error. */
int sonic_create(const struct sonic_config *config, struct hal_device **device, char *error,
    size_t error_size);

/* Reads database_config as sonic_create would. Errors as there. */
int sonic_check(const struct sonic_config *config, char *error, size_t error_size);

/* Returns whether every answer that is due has come: nothing changes until the clock or a database does. */
bool sonic_is_settled(const struct hal_device *device);

const struct stat_set *sonic_stats(const struct hal_device *device);

#endif
