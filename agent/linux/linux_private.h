/*
 * What the files of the Linux device share and nobody else sees: its state. linux_device.c makes it
 * and hears changes, linux_ports.c, linux_addresses.c and linux_sampling.c are its facets.
 */
#ifndef EASE_AGENT_LINUX_LINUX_PRIVATE_H
#define EASE_AGENT_LINUX_LINUX_PRIVATE_H

#include "agent/linux/ask.h"
#include "agent/linux/fdb.h"
#include "agent/linux/linux_device.h"
#include "agent/linux/tap.h"

enum {
	LINUX_STAT_CHANGES,
	LINUX_STAT_OVERFLOWS,
	LINUX_STAT_DAMAGED,
	LINUX_STAT_LINKS_LEFT_OUT,
	LINUX_STAT_STATS_ERRORS,
	LINUX_STAT_ADDRESSES_LEFT_OUT,
	LINUX_STAT_TAPS_REFUSED,
	LINUX_STAT_TAPS_CLEANED,
	LINUX_STAT_SAMPLES,
	LINUX_STAT_SAMPLES_OUTDATED,
	LINUX_STAT_SAMPLES_LOST,
	LINUX_STAT_OWN_FRAMES,
	LINUX_N_STATS
};

struct linux_device {
	struct hal_device device;
	const struct clock *clock;
	struct hal *hal; /* from start to stop */
	struct ask ask;
	struct links links;
	struct fdb fdb;
	struct taps *taps; /* NULL: no sampling */
	uint16_t own_ports[LINUX_OWN_PORTS_MAX];
	size_t n_own_ports;
	int epoll_fd, hear_fd, timer_fd, wake_fd;
	int driver_fd; /* hears changes that drivers tell; -1: none do */
	uint64_t alarm_us; /* 0: none */
	bool read_only;
	bool stale;	   /* notices were lost: read everything again */
	struct stat_set stats;
	_Atomic uint64_t stat_values[LINUX_N_STATS];
};

/* Contexts of all are the struct linux_device. */
extern const struct hal_ports_ops linux_ports_ops;
extern const struct hal_counters_ops linux_counters_ops;
extern const struct hal_energy_ops linux_energy_ops;
extern const struct hal_addresses_ops linux_addresses_ops;
extern const struct hal_sampling_ops linux_sampling_ops;

/* Puts a tap on a port that can be sampled, and takes it off. A refusal is logged and counted. */
void linux_tap_port(struct linux_device *device, struct links_port *port);
void linux_untap_port(struct linux_device *device, struct links_port *port);
/* Asks for refills and reports samples, at most budget (0: all). 1 if more are there. */
int linux_dispatch_samples(struct linux_device *device, unsigned budget);

#endif
