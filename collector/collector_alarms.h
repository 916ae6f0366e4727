/*
 * Opens the alarms of a collector and puts the rules of the configuration in force, at the start and at SIGHUP.
 * An alarm that is raised or over becomes an event of its port and a line of the log.
 */
#ifndef EASE_COLLECTOR_COLLECTOR_ALARMS_H
#define EASE_COLLECTOR_COLLECTOR_ALARMS_H

#include <stdint.h>

struct collector;

/* After the accounting, which has so many ports at most. 0 or -ENOMEM. */
int collector_open_alarms(struct collector *c, uint32_t ports);

/* 0 or -ENOMEM: then the rules stay as they were. */
int collector_set_alarms(struct collector *c);

#endif
