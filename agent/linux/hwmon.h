/*
 * Reads the kernel's hardware monitors: /sys/class/hwmon, as Documentation/hwmon/sysfs-interface.rst of the kernel has it.
 * Temperatures, voltages, currents, powers, fans and humidities become sensors of the chassis; those that are switched off or
 * cannot be read stay, unavailable, and those with a fault are nonoperational. A device that sleeps (runtime power management)
 * is not woken: its sensors are unavailable.
 */
#ifndef EASE_AGENT_LINUX_HWMON_H
#define EASE_AGENT_LINUX_HWMON_H

#include "agent/hal/hal.h"

struct hwmon;

/* root: the directory that has class/hwmon, "/sys"; copied. -ENOMEM. */
int hwmon_create(const char *root, struct hwmon **hwmon);
void hwmon_destroy(struct hwmon *hwmon); /* NULL allowed */

/* Reads all of them. A sensor keeps its number as long as it is there, and mostly gets it again after a start. True: one has come, gone or changed its name. */
bool hwmon_read(struct hwmon *hwmon, uint64_t now_us);

/* Sorted by number, valid until the next hwmon_read. */
size_t hwmon_n_sensors(const struct hwmon *hwmon);
const struct hal_sensor *hwmon_sensor(const struct hwmon *hwmon, size_t i);
/* Sensors that found no number since the start, each time that they were read. */
uint64_t hwmon_left_out(const struct hwmon *hwmon);

#endif
