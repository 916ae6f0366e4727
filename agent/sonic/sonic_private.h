/*
 * The state of the SONiC device, shared by its files. sonic_device.c creates it, receives events and has the table of
 * what is asked when; sonic_events.c takes notices of changes, sonic_entries.c what the databases say of interfaces,
 * sonic_counters.c their counters, sonic_addresses.c the addresses, sonic_transceivers.c what is plugged into
 * them, sonic_chassis.c fans and the like, sonic_neighbours.c who is at their other ends; sonic_sampling.c is the facet of sampling. All of
 * these stand on sonic_schedule.c, which sends commands and runs jobs. No other file includes this.
 */
#ifndef EASE_AGENT_SONIC_SONIC_PRIVATE_H
#define EASE_AGENT_SONIC_SONIC_PRIVATE_H

#include "agent/linux/netlink.h"
#include "agent/linux/psample.h"
#include "agent/sonic/addresses.h"
#include "agent/sonic/database_config.h"
#include "agent/sonic/interfaces.h"
#include "agent/sonic/redis.h"
#include "agent/sonic/resp.h"
#include "agent/sonic/sonic_device.h"

enum {
	SONIC_STAT_COMMANDS,
	SONIC_STAT_REFUSED,
	SONIC_STAT_LOST_LINKS,
	SONIC_STAT_DAMAGED,
	SONIC_STAT_NAMES_REFUSED,
	SONIC_STAT_NOTICES,
	SONIC_STAT_NOTICES_DROPPED,
	SONIC_STAT_ADDRESSES_LEFT_OUT,
	SONIC_STAT_ADDRESSES_UNRESOLVED,
	SONIC_STAT_NEIGHBOURS_REFUSED,
	SONIC_STAT_PARTS_LEFT_OUT,
	SONIC_STAT_SETS,
	SONIC_STAT_SETS_LOST,
	SONIC_STAT_SAMPLES,
	SONIC_STAT_SAMPLES_STRANGE,
	SONIC_STAT_PSAMPLE_LOST,
	SONIC_STAT_PSAMPLE_OVERFLOWS,
	SONIC_STAT_OWN_FRAMES,
	SONIC_N_STATS
};

/* What is asked for at one time, and ends when all is answered. */
enum sonic_job {
	JOB_INTERFACES, /* which interfaces there are, with their LAGs and VLANs */
	JOB_STATUS,	/* their entries, and what is sampled */
	JOB_NAMES,	/* which SAI objects they are */
	JOB_COUNTERS,
	JOB_KERNEL,     /* their numbers in the kernel, and the management ports' links */
	JOB_MANAGEMENT, /* management ports, and the switch's address */
	JOB_ADDRESSES,
	JOB_TRANSCEIVERS,
	JOB_CHASSIS,
	JOB_NEIGHBOURS,
	JOB_NOTICES, /* whether the server sends notices of APPL_DB */
	JOB_ADDRESS_NOTICES, /* … of ASIC_DB */
	JOB_CHANGED_INTERFACES, /* what a notice named */
	JOB_CHANGED_ADDRESSES,
	JOB_SETS,
	SONIC_N_JOBS
};

struct sonic_job_state {
	uint64_t due_us; /* 0: at once */
	size_t awaited;	 /* answers, and one while the job begins */
	bool running;
	bool broken; /* an answer did not come, or was an error */
};

/* What a command is about. */
struct sonic_subject {
	uint32_t if_index, other; /* other: a LAG's ifIndex, a VLAN */
	uint64_t object;
	struct fdb_key key;
	const struct sonic_scan *scan;
	bool may_fail; /* an error is an answer, and says that nothing is known */
};

struct sonic_device;
typedef void sonic_take(struct sonic_device *device, const redisReply *reply, const struct sonic_subject *subject);

/* A pass over the keys of a database that match a pattern (SCAN). */
struct sonic_scan {
	enum sonic_job job;
	const char *pattern;
	void (*take)(struct sonic_device *device, const char *key, size_t octets, enum sonic_job job);
};

/* What a job asks, and how often, in microseconds; without notices of changes more often. */
struct sonic_job_kind {
	enum sonic_database database;
	uint64_t period_us, period_without_notices_us; /* 0: only when somebody asks for it */
	void (*begin)(struct sonic_device *device);
	void (*end)(struct sonic_device *device, bool whole); /* NULL: nothing is to be done */
};

struct sonic_neighbours {
	bool is_known; /* this switch has a name for LLDP */
	struct hal_lldp lldp; /* its rows are the arrays of this struct */
	struct hal_lldp_port *ports;
	struct hal_neighbour *rows, *fresh; /* fresh: what the job has read until now */
	size_t rows_room, n_fresh, fresh_room;
};

struct sonic_device {
	struct hal_device device;
	const struct clock *clock;
	bool read_only;
	struct redis_listener listener, notice_listener;
	struct redis_address addresses_of[SONIC_N_DATABASES];
	struct redis_link *links[SONIC_N_DATABASES];
	uint64_t lost_us[SONIC_N_DATABASES]; /* since when the link is down; 0: it is up */
	/* notices of changes, for those databases that have tables with many keys */
	struct redis_link *notice_links[SONIC_N_DATABASES]; /* NULL: none is asked for */
	bool subscribed[SONIC_N_DATABASES], told_events[SONIC_N_DATABASES];
	bool events_on[SONIC_N_DATABASES];   /* the server is configured to send them */
	bool has_notices[SONIC_N_DATABASES]; /* all of this */
	const struct sonic_job_kind *kinds; /* of each job */
	struct sonic_job_state jobs[SONIC_N_JOBS];
	struct sonic_interfaces interfaces;
	struct sonic_addresses addresses;
	bool addresses_known; /* all were read once */
	bool ports_complete, ports_complete_before; /* SONiC has written all ports */
	bool status_unknown; /* was told to the HAL */
	struct hal_transceiver *transceivers; /* sorted by if_index */
	size_t n_transceivers, transceivers_room;
	uint64_t transceiver_changes; /* of the parts of the chassis, too */
	struct sonic_chassis *chassis; /* NULL: not read yet */
	struct sonic_neighbours neighbours;
	uint8_t mac[6];
	bool has_chip; /* false: SONiC's virtual switch, or not told yet */
	uint32_t ageing_s;
	int epoll_fd, timer_fd, alarm_fd; /* timer_fd: every tenth of a second */
	uint64_t alarm_us; /* 0: none */
	/* sampling */
	bool samples;
	struct netlink *generic; /* NULL: none */
	int psample_fd;		 /* -1: the kernel has no psample yet */
	uint16_t psample_type;
	uint64_t psample_retry_us;
	struct psample_sequence sequences[2]; /* received, sent */
	uint16_t own_ports[SONIC_OWN_PORTS_MAX];
	size_t n_own_ports;
	struct stat_set stats;
	_Atomic uint64_t stat_values[SONIC_N_STATS];
};

/* Contexts of all are the struct sonic_device. */
extern const struct hal_ports_ops sonic_ports_ops;
extern const struct hal_counters_ops sonic_counters_ops;
extern const struct hal_addresses_ops sonic_addresses_ops;
extern const struct hal_vlans_ops sonic_vlans_ops;
extern const struct hal_sampling_ops sonic_sampling_ops;
extern const struct hal_sensors_ops sonic_sensors_ops;
extern const struct hal_lldp_ops sonic_lldp_ops;

/* ---- sonic_schedule.c ---- */

/* Sends a command of n words; take gets its answer if it is no error. A failure breaks the job. */
void sonic_ask_words(struct sonic_device *device, enum sonic_job job, sonic_take *take,
    const struct sonic_subject *subject, int n, const char *const words[], const size_t octets[]);
/* The same with words until NULL. */
void sonic_ask(struct sonic_device *device, enum sonic_job job, sonic_take *take,
    const struct sonic_subject *subject, ...) __attribute__((sentinel));
void sonic_scan(struct sonic_device *device, const struct sonic_scan *scan);
/* Begins the jobs that are due. */
void sonic_run_jobs(struct sonic_device *device);
/* The job is due now, or when it has ended. */
void sonic_job_due(struct sonic_device *device, enum sonic_job job);
/* What is asked outside of a job's begin: hold keeps the job from ending until release. */
void sonic_job_hold(struct sonic_device *device, enum sonic_job job);
void sonic_job_release(struct sonic_device *device, enum sonic_job job);

/* ---- sonic_entries.c: interfaces ---- */

void sonic_begin_interfaces(struct sonic_device *device);
void sonic_end_interfaces(struct sonic_device *device, bool whole);
void sonic_begin_status(struct sonic_device *device);
void sonic_begin_kernel(struct sonic_device *device);
void sonic_begin_management(struct sonic_device *device);
void sonic_end_management(struct sonic_device *device, bool whole);
/* A key of APPL_DB names an interface, or a membership. */
void sonic_take_key(struct sonic_device *device, const char *key, size_t octets, enum sonic_job job);
/* Tells the HAL what has changed. Also the end of a job. */
void sonic_publish(struct sonic_device *device, bool whole);
/* The ifOperStatus of all interfaces is not known, or is known again. */
void sonic_look_at_age(struct sonic_device *device);

/* ---- sonic_counters.c ---- */

void sonic_begin_names(struct sonic_device *device);
void sonic_begin_counters(struct sonic_device *device);
void sonic_end_counters(struct sonic_device *device, bool whole);

/* ---- sonic_addresses.c ---- */

void sonic_begin_addresses(struct sonic_device *device);
void sonic_end_addresses(struct sonic_device *device, bool whole);
void sonic_take_asic_key(struct sonic_device *device, const char *key, size_t octets, enum sonic_job job);
void sonic_remove_asic_key(struct sonic_device *device, const char *key, size_t octets);

/* ---- sonic_transceivers.c ---- */

void sonic_begin_transceivers(struct sonic_device *device);

/* ---- sonic_chassis.c ---- */

void sonic_begin_chassis(struct sonic_device *device);
void sonic_end_chassis(struct sonic_device *device, bool whole);

/* ---- sonic_neighbours.c ---- */

void sonic_begin_neighbours(struct sonic_device *device);
void sonic_end_neighbours(struct sonic_device *device, bool whole);
void sonic_free_neighbours(struct sonic_device *device);

/* ---- sonic_events.c ---- */

void sonic_notices_up(void *device, struct redis_link *link);
void sonic_notices_down(void *device, struct redis_link *link, const char *why);
void sonic_begin_notices(struct sonic_device *device);
void sonic_begin_address_notices(struct sonic_device *device);

/* ---- sonic_sampling.c ---- */

/* The subject's port is sampled as reply says: an entry of SFLOW_SESSION_TABLE. */
void sonic_take_session(
    struct sonic_device *device, const redisReply *reply, const struct sonic_subject *subject);
/* Looks for SETs that SONiC did not carry out, and for psample. */
void sonic_step_sampling(struct sonic_device *device);
/* 1: there may be more. */
int sonic_dispatch_samples(struct sonic_device *device, unsigned budget);

#endif
