/*
 * The hardware layer as its users see it: sampling, MIB tables and the agent's main loop. It shows
 * one switch, whatever it is made of: ports with 64-bit counters, skip counters and their samples,
 * an address table, sources of bad frames, energy and buffers by port, each as facets that a device
 * has or lacks (-EOPNOTSUPP comes from here alone).
 * Drivers implement hal_provider.h and are not visible here; SNMP is not either.
 *
 * Threads: everything runs on the thread that created the hal (the agent's main loop), except
 * hal_snapshot_hold/release, which any thread may call. Nothing here waits for a device.
 *
 * Life: hal_create with a device -> hal_set_listener -> hal_start -> hal_dispatch whenever hal_fd
 * is readable, hal_refresh when told by the caller's own time -> hal_stop -> hal_destroy.
 */
#ifndef EASE_AGENT_HAL_H
#define EASE_AGENT_HAL_H

#include "common/clock.h"
#include "common/sample.h"
#include "common/stat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hal;
struct hal_device; /* hal_provider.h */

enum {
	HAL_MAX_PORTS = 4096,	/* what a chassis has; the per-port state is a few KiB */
	HAL_MAX_ADDRESSES = 131072, /* largest FDB of the chips and bridges served */
	HAL_MAX_ERROR_SOURCES = 256, /* the newest ones: made-up sources must not fill memory */
	HAL_AGEING_MIN_S = 10, /* dot1dTpAgingTime */
	HAL_AGEING_MAX_S = 1000000,
};

/*
 * All figures one port has, as 64-bit totals. RFC meaning, not the chip's wording: "valid" frames
 * are 64..maximum octets without error; octets have header and FCS in, preamble out. Bit n of
 * `known` says that the figure in slot n of hal_figure exists on this port; MIB rows leave the
 * others out. Frames to groups that a port does not tell apart are among its unicast.
 */
enum hal_figure {
	/* valid frames (RFC 3635): what IF-MIB and the samples' pool count */
	HAL_IN_OCTETS, HAL_IN_UCAST_PKTS, HAL_IN_MCAST_PKTS, HAL_IN_BCAST_PKTS,
	HAL_IN_DISCARDS, HAL_IN_ERRORS, HAL_IN_UNKNOWN_PROTOS,
	HAL_OUT_OCTETS, HAL_OUT_UCAST_PKTS, HAL_OUT_MCAST_PKTS, HAL_OUT_BCAST_PKTS,
	HAL_OUT_DISCARDS, HAL_OUT_ERRORS,
	/* good frames that the skip counter counts, MAC control frames included */
	HAL_POOL_IN_PKTS, HAL_POOL_OUT_PKTS,
	/* EtherLike-MIB dot3StatsTable */
	HAL_ALIGNMENT_ERRORS, HAL_FCS_ERRORS, HAL_SINGLE_COLLISIONS, HAL_MULTIPLE_COLLISIONS,
	HAL_SQE_TEST_ERRORS, HAL_DEFERRED, HAL_LATE_COLLISIONS, HAL_EXCESSIVE_COLLISIONS,
	HAL_MAC_TX_ERRORS, HAL_CARRIER_SENSE_ERRORS, HAL_FRAME_TOO_LONGS, HAL_MAC_RX_ERRORS,
	HAL_SYMBOL_ERRORS,
	HAL_IN_PAUSE_PKTS, HAL_OUT_PAUSE_PKTS, HAL_IN_UNKNOWN_OPCODES,
	/* RMON etherStats, received direction, bad frames included (RFC 2819) */
	HAL_RMON_DROP_EVENTS, HAL_RMON_OCTETS, HAL_RMON_PKTS, HAL_RMON_BCAST_PKTS,
	HAL_RMON_MCAST_PKTS, HAL_RMON_CRC_ALIGN, HAL_RMON_UNDERSIZE, HAL_RMON_OVERSIZE,
	HAL_RMON_FRAGMENTS, HAL_RMON_JABBERS, HAL_RMON_COLLISIONS, HAL_RMON_64, HAL_RMON_65_127,
	HAL_RMON_128_255, HAL_RMON_256_511, HAL_RMON_512_1023, HAL_RMON_1024_MAX,
	HAL_N_FIGURES
};

struct hal_counters {
	uint64_t known; /* bit per enum hal_figure */
	uint64_t value[HAL_N_FIGURES];
};
_Static_assert(HAL_N_FIGURES <= 64, "known is one word");

/* Those of one MIB table each: bits of `known`, from the first figure to the last. */
#define HAL_FIGURES(first, last) ((2ull << (last)) - (1ull << (first)))
#define HAL_DOT3_FIGURES HAL_FIGURES(HAL_ALIGNMENT_ERRORS, HAL_SYMBOL_ERRORS)
#define HAL_CONTROL_FIGURES HAL_FIGURES(HAL_IN_PAUSE_PKTS, HAL_IN_UNKNOWN_OPCODES)
#define HAL_RMON_FIGURES HAL_FIGURES(HAL_RMON_DROP_EVENTS, HAL_RMON_1024_MAX)

/* What a port does with Energy Efficient Ethernet. */
enum hal_eee_state {
	HAL_EEE_NOT_KNOWN = 0,
	HAL_EEE_DISABLED = 1,
	HAL_EEE_ENABLED = 2, /* offered, and not in force: no link, or the partner does not take it */
	HAL_EEE_ACTIVE = 3,
};

/* Energy Efficient Ethernet of one port. */
struct hal_energy {
	uint8_t state; /* enum hal_eee_state */
	bool counts;   /* the hardware counts low-power idle: what follows is known */
	struct ease_low_power in, out; /* received direction, sent direction */
	uint32_t unit_ns;   /* the hardware counts time asleep in these */
	uint32_t period_ns; /* and looks whether the direction sleeps once in this time */
};

/* What happens to a frame that begins to arrive while the port is under back pressure. */
enum hal_flow_control {
	HAL_FLOW_DROP = 1,    /* it is lost: no flow control, or none agreed with the partner */
	HAL_FLOW_COLLIDE = 2, /* half duplex: a collision is forced */
	HAL_FLOW_PAUSE = 3,   /* the partner was sent a PAUSE frame and waits */
};

/* The buffer pool that a port's frames wait in, and the port's share of it. */
struct hal_buffers {
	uint32_t pool_buffers, pool_free; /* of the pool, now */
	uint32_t pool_least_free;	  /* the fewest there ever were */
	uint32_t buffer_octets;
	uint32_t charged, most_charged;	  /* that hold frames which arrived on the port; ever */
	uint8_t flow_control;		  /* enum hal_flow_control */
	uint64_t pressed_episodes;	  /* times back pressure began */
	uint64_t pressed_us;		  /* how long it was on in all */
	uint64_t ingress_drops;		  /* frames received and lost for want of buffers */
	uint64_t mcast_left_out;	  /* multicasts not sent here: too many wait already */
};

/* Values of dot3PauseAdminMode and dot3PauseOperMode (RFC 3635). */
enum hal_pause {
	HAL_PAUSE_NOT_KNOWN = 0,
	HAL_PAUSE_DISABLED = 1,
	HAL_PAUSE_XMIT = 2,
	HAL_PAUSE_RCV = 3,
	HAL_PAUSE_BOTH = 4,
};

/* One port of a published snapshot. Strings are NUL-terminated and never NULL. */
struct hal_port {
	uint32_t if_index; /* rows are sorted by it */
	char name[EASE_NAME_MAX + 1];
	char alias[EASE_NAME_MAX + 1];
	bool link_traps; /* ifLinkUpDownTrapEnable */
	char descr[EASE_NAME_MAX * 2 + 1];
	uint32_t if_type;    /* IANAifType */
	uint32_t mtu_octets; /* MAC client data: 1500 */
	uint64_t speed_bps;
	uint8_t mac[6];
	uint8_t admin_status; /* enum ease_if_status */
	uint8_t oper_status;
	uint8_t duplex;	      /* enum ease_duplex */
	uint8_t pause_admin, pause_oper; /* enum hal_pause */
	bool has_connector;
	bool off_bridge; /* it is no port of the bridge whose addresses are served */
	uint32_t lag_parent;
	uint64_t last_change_mono_us;	 /* of oper_status; 0: before the agent started */
	uint64_t discontinuity_mono_us;	 /* of the counters, agent's monotonic time; 0: none */
	uint64_t discontinuity_us;	 /* the same by the device's clock; 0: none */
	struct hal_counters counters;
	bool has_energy, has_buffers;
	struct hal_energy energy;
	struct hal_buffers buffers;
};

/* Values of dot1dTpFdbStatus (RFC 4188). */
enum hal_address_status {
	HAL_ADDRESS_OTHER = 1,
	HAL_ADDRESS_INVALID = 2,
	HAL_ADDRESS_LEARNED = 3,
	HAL_ADDRESS_SELF = 4,
	HAL_ADDRESS_MGMT = 5,
};

struct hal_address {
	uint16_t vlan; /* rows are sorted by vlan, then mac; 0: one table for all VLANs */
	uint8_t mac[6];
	uint8_t status; /* enum hal_address_status */
	uint32_t if_index; /* 0: not known */
};

/* A VLAN that has addresses; one with number 0 stands for all of a bridge that knows no VLANs. */
struct hal_vlan {
	uint16_t vlan; /* rows are sorted by it */
	uint32_t n_learned;
	uint64_t changed_mono_us; /* when its ports last changed; 0: not since the start */
};

/* One interface lies on another; 0: on nothing, under nothing (ifStackTable, RFC 2863). */
struct hal_layer {
	uint32_t higher, lower;
};

/* A part of the switch (ENTITY-MIB, RFC 6933); classes as entPhysicalClass has them. Texts that
 * nobody knows are "". */
enum hal_part_class { HAL_PART_CHASSIS = 3, HAL_PART_MODULE = 9, HAL_PART_PORT = 10 };
enum {
	HAL_PART_INDEX_CHASSIS = 1,
	HAL_PART_INDEX_MODULE = 2, /* the first one's */
	HAL_PART_INDEX_PORT = 1000, /* plus ifIndex; there are fewer modules than that */
};
struct hal_part {
	uint32_t index, contained_in; /* 0: in nothing */
	uint8_t class;		      /* enum hal_part_class */
	int32_t position;	      /* among its siblings; -1: it has none */
	uint32_t if_index;	      /* of a port */
	char name[EASE_NAME_MAX + 1];
	char descr[EASE_NAME_MAX * 2 + 1];
	char maker[EASE_NAME_MAX + 1];
	char model[EASE_NAME_MAX + 1];
};
struct hal_contained {
	uint32_t parent, child; /* indexes of parts */
};

/* What lies on what, and what is in what. Made anew only when ports have changed. */
struct hal_structure {
	const struct hal_layer *layers; /* sorted */
	size_t n_layers;
	const struct hal_part *parts; /* sorted by index; ports, which have connectors, stand last */
	size_t n_parts, first_port_part;
	const struct hal_contained *contents; /* sorted; n_parts - 1 */
	uint64_t layers_changed_mono_us, parts_changed_mono_us; /* 0: not since the start */
};

/* An immutable, sorted picture of the switch. Held by reference count. */
struct hal_snapshot {
	uint64_t mono_us;   /* agent's monotonic time when it was taken: its age */
	uint64_t device_us; /* the device's clock then */
	uint64_t ports_changed_mono_us; /* when a port last appeared or vanished */
	const struct hal_port *ports;
	size_t n_ports;
	bool has_addresses;
	const struct hal_address *addresses;
	size_t n_addresses;
	const struct hal_vlan *vlans; /* of the addresses */
	size_t n_vlans;
	bool has_address_discards;
	uint64_t address_discards; /* learned entries lost because the table was full */
	uint32_t ageing_s;
	bool has_error_sources;
	const struct ease_error_source *error_sources; /* sorted by if_index, mac, kind */
	size_t n_error_sources;
	const struct hal_structure *structure; /* never NULL */
};

/* The port's row or NULL; binary search. */
const struct hal_port *hal_snapshot_port(const struct hal_snapshot *snapshot, uint32_t if_index);

/* What a device tells. Pointers are valid during the call only. */
struct hal_sample_event {
	uint32_t if_index;     /* whose counter took the sample */
	uint8_t direction;     /* enum ease_direction relative to if_index */
	uint32_t input_if, output_if; /* as in struct ease_sample */
	uint64_t time_us;      /* device's clock */
	uint32_t frame_octets; /* on the wire, FCS in */
	const uint8_t *octets; /* as much of the frame as the device kept, without FCS */
	size_t kept_octets;
	uint64_t pool_pkts;    /* of that direction, this frame included */
	bool own; /* of the notifications this machine sends: its period counts, it goes nowhere */
	bool counter_empty;    /* no further skip was loaded: the port stands still until one is */
	uint32_t rate; /* one frame in so many, of a port that draws by itself; 0: the skip loaded */
};

/* One bad frame. */
struct hal_error_event {
	uint32_t if_index;
	uint8_t mac[6]; /* source address */
	uint8_t kind;	/* enum ease_error_kind */
	uint64_t time_us; /* device's clock */
};

struct hal_listener {
	void *ctx;
	/* A sampled frame. */
	void (*sample)(void *ctx, const struct hal_sample_event *event);
	/* The port can take one more skip (a sample was taken, or sampling was restarted). */
	void (*refill)(void *ctx, uint32_t if_index);
	/* n samples of a port that draws by itself were taken and have got lost on their way. */
	void (*samples_lost)(void *ctx, uint32_t if_index, uint32_t n);
	/* oper_status, speed, … of a port changed, or a port appeared or vanished. */
	void (*port_changed)(void *ctx, uint32_t if_index);
	void (*new_address)(void *ctx, const struct ease_address *address);
	/* A bad frame and who sent it; the row is the source's, this frame counted. */
	void (*error_source)(void *ctx, const struct ease_error_source *source);
	/* hal_alarm's time has come by the device's clock. */
	void (*alarm)(void *ctx, uint64_t device_us);
	/* The device has no more input (an emulated board without loop): nothing more will come. */
	void (*ended)(void *ctx);
};

/* Takes the device (also on failure). clock is borrowed. */
int hal_create(struct hal_device *device, const struct clock *clock, struct hal **hal);
void hal_destroy(struct hal *hal); /* NULL allowed */
void hal_set_listener(struct hal *hal, const struct hal_listener *listener); /* copies it */

/* Opens the device's gates: frames flow after this. Ports and counters can be read before. */
int hal_start(struct hal *hal);
void hal_stop(struct hal *hal);

/* Readable when the device has something to tell; -1 if it never has. */
int hal_fd(const struct hal *hal);
/* Handles what is pending, calling the listener; at most budget events (0: all there are).
 * 1 if more are pending, 0 if not, -errno. */
int hal_dispatch(struct hal *hal, unsigned budget);

const char *hal_device_kind(const struct hal *hal); /* "emulated", "linux", "dummy" */
uint64_t hal_now_us(const struct hal *hal); /* the device's clock, since 1970 */
/* Samples and messages lost between hardware and driver up to the newest snapshot; 0 if the device
 * cannot tell. Any thread. */
uint64_t hal_device_drops(const struct hal *hal);
/* True if the device waits for this CPU rather than losing events: feeds in lock step. The
 * caller may then leave events pending to hold the hardware back. */
bool hal_waits_for_cpu(const struct hal *hal);
/* Asks for one alarm call when the device's clock reaches device_us; replaces an earlier one. */
int hal_alarm(struct hal *hal, uint64_t device_us);

/* Sources of bad frames as they are now, sorted as in a snapshot; borrowed until the next dispatch. */
const struct ease_error_source *hal_error_sources(const struct hal *hal, size_t *n);

size_t hal_n_ports(const struct hal *hal);
uint32_t hal_port_if_index(const struct hal *hal, size_t i); /* i-th in order of ifIndex */

/* Reads the hardware counters of one port into its totals now, and copies the totals out. */
int hal_read_counters(struct hal *hal, uint32_t if_index, struct hal_counters *counters);
/* The port's row as it is now (counters as last read); -ENODEV for an unknown ifIndex. */
int hal_port_info(const struct hal *hal, uint32_t if_index, struct hal_port *port);

/* Energy and buffers of one port now: -EOPNOTSUPP if the device lacks the facet, -ENODEV if the
 * port does or is unknown. */
int hal_read_energy(struct hal *hal, uint32_t if_index, struct hal_energy *energy);
int hal_read_buffers(struct hal *hal, uint32_t if_index, struct hal_buffers *buffers);

/* Sampling facet. Skip values are 0..hal_max_skip; the value K lets K frames pass and takes the
 * next. A port takes skip_depth values ahead (2 on EASE chips: counter and shadow). */
bool hal_has_sampling(const struct hal *hal);
uint32_t hal_max_skip(const struct hal *hal);
unsigned hal_skip_depth(const struct hal *hal);
int hal_load_skip(struct hal *hal, uint32_t if_index, uint32_t skip);
/* Forgets the skips loaded, so that a new mean takes effect at once; refill is called for every
 * port whose values were lost by it. -EOPNOTSUPP: wait for the loaded ones instead. */
int hal_restart_sampling(struct hal *hal, uint32_t if_index);
/* A port may draw by itself instead: one frame in rate at random, from now on (0: none). -ENODEV,
 * -EOPNOTSUPP: this one does not, it takes skips. */
int hal_set_sampling_rate(struct hal *hal, uint32_t if_index, uint32_t rate);

/* Settings a manager may change; -EOPNOTSUPP if the device cannot, -EPERM if it does not let this
 * process, -EINVAL for a wrong value. */
int hal_set_alias(struct hal *hal, uint32_t if_index, const char *alias);
int hal_set_link_traps(struct hal *hal, uint32_t if_index, bool on); /* on after create */
int hal_set_admin_status(struct hal *hal, uint32_t if_index, uint8_t admin_status);
int hal_set_ageing_s(struct hal *hal, uint32_t seconds);
/* -EBUSY: one direction alone does not go at 100 Mb/s and less (RFC 3635). */
int hal_set_pause(struct hal *hal, uint32_t if_index, uint8_t mode);
/* Ties a unicast address to a port, or lets it go (if_index 0): -EINVAL for a group's, -ENOSPC. */
int hal_set_static(struct hal *hal, const uint8_t mac[6], uint32_t if_index);
int hal_check_static(const struct hal *hal, const uint8_t mac[6], uint32_t if_index);
/* Whether the ones above, alias and admin status would be taken; nothing is changed. */
int hal_check_alias(const struct hal *hal, uint32_t if_index, const char *alias);
int hal_check_admin_status(const struct hal *hal, uint32_t if_index, uint8_t admin_status);
int hal_check_ageing_s(const struct hal *hal, uint32_t seconds);
int hal_check_pause(const struct hal *hal, uint32_t if_index, uint8_t mode);
uint32_t hal_ageing_s(const struct hal *hal); /* 0: no address table */
/* The device itself (a kernel) keeps admin status and ageing time while no agent runs. */
bool hal_keeps_settings(const struct hal *hal);

/* The totals behind the figures, one a hardware counter, for keeping over a restart: -E2BIG if max
 * is too small. Restoring them continues every figure; -EINVAL if n is not this device's number,
 * -ERANGE if the device keeps totals itself and they have begun anew (Linux after a reboot). */
int hal_save_totals(const struct hal *hal, uint32_t if_index, uint64_t *totals, size_t max,
    size_t *n);
int hal_restore_totals(struct hal *hal, uint32_t if_index, const uint64_t *totals, size_t n);
/* The port's figures do not continue what a manager saw before: stamps the discontinuity. */
void hal_mark_discontinuity(struct hal *hal, uint32_t if_index);
/* When that was, since 1970 by the system's clock, for keeping over a restart; 0: never. Restored,
 * it stands in discontinuity_mono_us alone: the device's clock may tell another time now. */
uint64_t hal_discontinuity_wall_us(const struct hal *hal, uint32_t if_index);
void hal_restore_discontinuity(struct hal *hal, uint32_t if_index, uint64_t wall_us);

/* Reads every port's counters and the address table and publishes a new snapshot. Sliced: reads
 * at most max_ports ports a call (0: all); 1 while more slices are to come, 0 when published. */
int hal_refresh(struct hal *hal, size_t max_ports);
/* The newest published snapshot, or NULL before the first; release when done. Any thread. */
const struct hal_snapshot *hal_snapshot_hold(struct hal *hal);
void hal_snapshot_release(const struct hal_snapshot *snapshot);

/* Failed reads, refused loads, dropped addresses, …: see hal_stat_names in hal.c. */
const struct stat_set *hal_stats(const struct hal *hal);

#endif
