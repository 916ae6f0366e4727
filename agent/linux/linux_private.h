/*
 * The state of the Linux device, shared by its files. linux_device.c creates it and receives notices;
 * linux_ports.c, linux_counters.c, linux_bridges.c and linux_sampling.c are its facets; linux_psample.c samples by
 * psample; linux_drops.c tells of dropped packets; linux_sensors.c reads sensors; linux_neighbours.c asks lldpd; linux_forwarding.c judges who forwards; linux_common.c has what
 * several of them need. No other file includes this.
 */
#ifndef EASE_AGENT_LINUX_LINUX_PRIVATE_H
#define EASE_AGENT_LINUX_LINUX_PRIVATE_H

#include "agent/linux/fdb.h"
#include "agent/linux/kernel_requests.h"
#include "agent/linux/linux_device.h"
#include "agent/linux/psample.h"
#include "agent/linux/tap.h"

enum { LINUX_WHY_OCTETS = 256 };

enum {
	LINUX_STAT_CHANGES,
	LINUX_STAT_OVERFLOWS,
	LINUX_STAT_DAMAGED,
	LINUX_STAT_LINKS_LEFT_OUT,
	LINUX_STAT_STATS_ERRORS,
	LINUX_STAT_DRIVER_ERRORS,
	LINUX_STAT_ADDRESSES_LEFT_OUT,
	LINUX_STAT_VLANS_LEFT_OUT,
	LINUX_STAT_TAPS_REFUSED,
	LINUX_STAT_TAPS_CLEANED,
	LINUX_STAT_TAPS_RENEWED,
	LINUX_STAT_RING_ERRORS,
	LINUX_STAT_SAMPLES,
	LINUX_STAT_SAMPLES_OUTDATED,
	LINUX_STAT_SAMPLES_LOST,
	LINUX_STAT_OWN_FRAMES,
	LINUX_STAT_SAMPLES_UNCUT,
	LINUX_STAT_PSAMPLE_LOST,
	LINUX_STAT_PSAMPLE_OVERFLOWS,
	LINUX_STAT_JUDGED_ANEW,
	LINUX_STAT_DROPS,
	LINUX_STAT_DROPS_LIMITED,
	LINUX_STAT_DROPS_LOST,
	LINUX_STAT_DROPS_OWN,
	LINUX_STAT_DROPS_NO_PORT,
	LINUX_STAT_DROPS_BY_CHIP,
	LINUX_STAT_DROP_MONITOR_BUSY,
	LINUX_STAT_SENSORS_LEFT_OUT,
	LINUX_STAT_MODULE_ERRORS,
	LINUX_STAT_LLDPCLI_FAILURES,
	LINUX_STAT_NEIGHBOURS_LEFT_OUT,
	LINUX_N_STATS
};

/* The state of a port that is sampled by psample. */
struct linux_psample {
	struct psample_filter filter;
	struct psample_sequence sequences[2]; /* received, sent */
};

struct linux_device {
	struct hal_device device;
	const struct clock *clock;
	struct kernel_requests kernel;
	struct links links;
	struct fdb fdb;
	struct fdb fresh; /* read anew; replaces fdb when it is complete */
	struct bridge_vlans vlans; /* empty if no bridge is VLAN-aware */
	bool reading;	  /* reading fresh is in progress; notices are handled afterwards */
	bool reread;	  /* read it once more */
	unsigned tries;
	int sampling; /* enum linux_sampling */
	struct taps *taps; /* NULL: none by eBPF */
	int psample_fd; /* receives psample's samples; -1: not needed yet, or not available */
	uint16_t psample_type;
	uint64_t psample_gap_us; /* monotonic time when gaps count as lost; 0: there are none */
	struct linux_sensors *sensors;
	struct linux_neighbours *neighbours; /* NULL: lldpd is not asked */
	struct linux_drops *drops; /* NULL: not asked for, or not possible */
	char why_no_taps[LINUX_WHY_OCTETS / 2];
	char why_not[LINUX_WHY_OCTETS]; /* why the last port, or eBPF, cannot be used */
	uint16_t own_ports[LINUX_OWN_PORTS_MAX];
	size_t n_own_ports;
	int epoll_fd, notice_fd, timer_fd, wake_fd;
	int driver_notice_fd; /* receives notices of drivers; -1: not available */
	uint64_t alarm_us; /* 0: none */
	uint64_t reread_us; /* not before this time are links read again; 0: at once */
	bool read_only;
	bool incomplete; /* what was read last changed meanwhile, each time */
	bool left_out; /* there are links that are not served for lack of room */
	size_t port_read; /* the place in the table of the port whose counters were read last */
	bool in_round; /* counters are read for a snapshot of all ports */
	size_t n_drivers; /* ports whose driver has counters of its own */
	uint64_t queues_next_us; /* monotonic: queues are not read before */
	bool stale;	   /* notices were lost: read everything again */
	bool judge;	   /* judge anew who forwards the frames of the ports */
	struct stat_set stats;
	_Atomic uint64_t stat_values[LINUX_N_STATS];
};

/* Contexts of all are the struct linux_device. */
extern const struct hal_ports_ops linux_ports_ops;
extern const struct hal_counters_ops linux_counters_ops;
extern const struct hal_energy_ops linux_energy_ops;
extern const struct hal_addresses_ops linux_addresses_ops;
extern const struct hal_sampling_ops linux_sampling_ops;
extern const struct hal_vlans_ops linux_vlans_ops;
extern const struct hal_sensors_ops linux_sensors_ops;
extern const struct hal_lldp_ops linux_lldp_ops;

/* root: "/sys", or what stands in for it; NULL: that. -ENOMEM. */
int linux_open_sensors(struct linux_device *device, const char *root);
void linux_close_sensors(struct linux_device *device);

/* socket: lldpd's; "" or NULL: lldpd is not asked. -ENAMETOOLONG, -ENOMEM. */
int linux_open_neighbours(struct linux_device *device, const char *socket);
void linux_close_neighbours(struct linux_device *device); /* ends the client, if it runs */

/* Reads all sensors and transceivers at once. False: the process may not read transceivers. */
bool linux_read_all_sensors(struct linux_device *device);
/* Prints what can be counted, sampled and told, for linux_check; the device has its facets. */
void linux_print_abilities(struct linux_device *device, const struct linux_config *config, FILE *out);

/* Whether the port has a connector to the world: ifConnectorPresent. */
bool linux_has_connector(const struct links_port *port);

/* Whether the link is a VLAN-aware bridge. */
bool linux_filters_vlans(const struct linux_device *device, uint32_t kernel_index);
/* Reads the VLANs of all bridge ports. If that fails, those that were read before stay. */
int linux_read_vlans(struct linux_device *device);

/* Opens what sampling needs. If that fails the device works without sampling. */
void linux_open_sampling(struct linux_device *device, const struct linux_config *config);
/* Start sampling a port by the first method that is right for who forwards its frames, and works; and stop it. A
 * refusal is logged and counted. The first may add a port to the table (links_add_share), the second remove one. */
void linux_sample_port(struct linux_device *device, struct links_port *port);
void linux_unsample_port(struct linux_device *device, struct links_port *port);
/* After links' counters were read: puts back taps and filters that another program removed. */
void linux_watch_hooks(struct linux_device *device);
bool linux_samples(const struct linux_device *device); /* whether any port can be sampled */
/* Notes that an address of a port's is the chip's business, if it is. */
void linux_note_offload(struct linux_device *device, const struct rtnl_neighbour *neighbour);
/* Judges who forwards a new port's frames and begins to sample it. While the device is created, linux_judge_ports
 * does that for all once all are known. */
void linux_judge_new(struct linux_device *device, struct links_port *port);
/* Judges all ports, and samples those for which another method is right now, or none. */
void linux_judge_ports(struct linux_device *device);
/* Has the next dispatch do that. Callable from any op. */
void linux_judge_later(struct linux_device *device);
/* The port with this ifIndex, quickly where ports are looked for in their order. NULL: there is none. */
struct links_port *linux_port_to_read(struct linux_device *device, uint32_t if_index);
/* Judges who forwards the port's frames, and changes nothing else. */
void linux_judge_forwarding(struct linux_device *device, struct links_port *port);

/* Requests refills and reports samples, at most budget (0: all). 1 if there are more. */
int linux_dispatch_samples(struct linux_device *device, unsigned budget);
/* Whether a frame that this machine sends carries its own notifications or sFlow. */
bool linux_is_own(const struct linux_device *device, const uint8_t *octets, size_t kept_octets);

/* Sample the port by psample, in the driver's hardware or in the kernel. -errno: not possible at this
 * port. */
int linux_psample_by_driver(struct linux_device *device, struct links_port *port);
int linux_psample_by_kernel(struct linux_device *device, struct links_port *port);
void linux_psample_remove(struct linux_device *device, struct links_port *port);
int linux_psample_set_rate(struct linux_device *device, struct links_port *port, uint32_t rate);
int linux_dispatch_psample(struct linux_device *device, unsigned budget);

/* Joins the kernel's drop monitor, while the process may. If that fails the device works without it, which is
 * logged. */
void linux_open_drops(struct linux_device *device, const struct linux_config *config);
void linux_stop_drops(struct linux_device *device); /* tells of those that wait */
void linux_close_drops(struct linux_device *device); /* stops what was started */
/* Reports at most budget dropped packets (0: all). 1 if there are more. */
int linux_dispatch_drops(struct linux_device *device, unsigned budget);

/* The device's descriptor becomes readable whenever fd is. */
int linux_watch_fd(const struct linux_device *device, int fd);

#endif
