/*
 * Opens the alarms of a collector and puts the rules of the configuration in force, at the start and at SIGHUP.
 * An alarm that is raised or over becomes an event of its port and a line of the log, and receivers are told.
 */
#ifndef EASE_COLLECTOR_COLLECTOR_ALARMS_H
#define EASE_COLLECTOR_COLLECTOR_ALARMS_H

#include "collector/act/receiver.h"
#include "collector/config.h"

#include <poll.h>

struct collector;

/* Who is told of alarms, each by a process of its own. */
struct collector_receivers {
	size_t n;
	struct {
		int fd; /* -1: its process has ended */
		bool acts;
		char label[RECEIVER_LABEL];
	} items[OUTBOX_RECEIVERS_MAX];
};

/* Begins the processes that the configuration asks for, before the collector gives privileges away, and logs as whom they
 * work. 0, or -errno with the reason in error; receivers are valid then, too. */
int collector_start_receivers(const struct collector_config *config, struct collector_receivers *receivers, char *error,
    size_t error_size);

/* Has them tell that all is over, and waits for that, see receiver.h. */
void collector_stop_receivers(const struct collector_receivers *receivers);

/* After the accounting, which has so many ports at most. 0 or -ENOMEM. */
int collector_open_alarms(struct collector *c, uint32_t ports);

/* 0 or -ENOMEM: then the rules stay as they were. */
int collector_set_alarms(struct collector *c);

/* Gives each receiver that is not at work what it is to be told next. */
void collector_tell_receivers(struct collector *c);

/* What poll() should wait for beside, and what then came: what the receivers said. */
size_t collector_poll_receivers(const struct collector *c, struct pollfd polls[OUTBOX_RECEIVERS_MAX]);
void collector_take_answers(struct collector *c, const struct pollfd polls[OUTBOX_RECEIVERS_MAX]);

#endif
