/*
 * What the files of the Linux device share and nobody else sees: its state. linux_device.c makes it
 * and hears changes, linux_ports.c and linux_addresses.c are its facets.
 */
#ifndef EASE_AGENT_LINUX_LINUX_PRIVATE_H
#define EASE_AGENT_LINUX_LINUX_PRIVATE_H

#include "agent/linux/ask.h"
#include "agent/linux/fdb.h"
#include "agent/linux/linux_device.h"

enum {
	LINUX_STAT_CHANGES,
	LINUX_STAT_OVERFLOWS,
	LINUX_STAT_DAMAGED,
	LINUX_STAT_LINKS_LEFT_OUT,
	LINUX_STAT_STATS_ERRORS,
	LINUX_STAT_ADDRESSES_LEFT_OUT,
	LINUX_N_STATS
};

struct linux_device {
	struct hal_device device;
	const struct clock *clock;
	struct hal *hal; /* from start to stop */
	struct ask ask;
	struct links links;
	struct fdb fdb;
	int epoll_fd, hear_fd, timer_fd;
	uint64_t alarm_us; /* 0: none */
	bool stale;	   /* notices were lost: read everything again */
	struct stat_set stats;
	_Atomic uint64_t stat_values[LINUX_N_STATS];
};

/* Contexts of all are the struct linux_device. */
extern const struct hal_ports_ops linux_ports_ops;
extern const struct hal_counters_ops linux_counters_ops;
extern const struct hal_addresses_ops linux_addresses_ops;

#endif
