/*
 * What a driver tells in ways of its own, beside netlink: its name (sysfs), and the counters that it names by
 * texts (the ioctl behind `ethtool -S`). No standard says what such a text means, so only those of known
 * families of switch chips are used, and only if the family's whole set is there.
 */
#ifndef EASE_AGENT_LINUX_DRIVER_INFO_H
#define EASE_AGENT_LINUX_DRIVER_INFO_H

#include "agent/hal/hal.h"

#include <linux/ethtool.h>

enum { DRIVER_STRINGS_MAX = 512, DRIVER_NAME_MAX = 63 };

/* A driver's counters by name. */
struct driver_strings {
	size_t n;
	char names[DRIVER_STRINGS_MAX][ETH_GSTRING_LEN]; /* NUL-padded; one of full length has no NUL */
	uint64_t values[DRIVER_STRINGS_MAX];
};

/* The name of the driver behind the interface, as /sys/class/net tells; "" if it tells none. */
void driver_name(const char *interface, char name[DRIVER_NAME_MAX + 1]);

/* What sysfs tells of an interface that is no wire: "wlan", "wwan", ...; "" if it tells nothing. */
void driver_devtype(const char *interface, char type[DRIVER_NAME_MAX + 1]);

/* Reads all counters of the interface. -EOPNOTSUPP: its driver has none; -E2BIG: it has too many; -errno. */
int driver_strings_read(const char *interface, struct driver_strings *strings);

/* Adds to *figures what the counters mean if they are of a known family: frames (HAL_POOL_IN_PKTS,
 * HAL_POOL_OUT_PKTS), their octets with FCS, their kinds, and what the family has beyond. -ENOENT: they are
 * not, and *figures is unchanged. */
int driver_strings_parse(const struct driver_strings *strings, struct hal_counters *figures);

#endif
