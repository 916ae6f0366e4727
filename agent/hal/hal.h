/*
 * The hardware abstraction layer (HAL) as its users see it: sampling, the MIB tables and the
 * agent's main loop. It shows one switch, whatever the device is. Drivers implement hal_provider.h.
 * Nothing here knows SNMP, and users never see a driver.
 *
 *
 * Data
 * ====
 *
 * A switch has ports, named by ifIndex, and facets: counters, sampling (skip counters that take
 * samples), an address table, sources of bad frames, energy, buffers and modules. A device always
 * has ports; it may lack any other facet. The functions of a facet that the device lacks return
 * -EOPNOTSUPP. Those of a facet that only the port lacks return -ENODEV, and so do all functions
 * that take an ifIndex which no port has.
 *
 * struct hal_counters holds a port's figures as 64-bit totals, struct hal_port the port's row, and
 * struct hal_snapshot all rows of all facets at one time. A snapshot never changes. MIB tables are
 * answered from snapshots, so a manager's request never reaches the device.
 *
 *
 * Life cycle
 * ==========
 *
 * 1. hal_create() takes the device. Ports and counters can be read from now on.
 * 2. hal_set_listener() says whom to notify.
 * 3. hal_start() opens the device's gates: frames flow and events come.
 * 4. While the agent runs, its main loop calls hal_dispatch() whenever hal_fd() is readable, and
 *    hal_refresh() periodically to publish a new snapshot.
 * 5. hal_stop() ends the device's work. No listener is called after it.
 * 6. hal_destroy() frees the device. All snapshots must have been released by then.
 *
 *
 * Change notification
 * ===================
 *
 * The listener is called only from within hal_dispatch(), with two exceptions: a successful
 * hal_set_admin_status() and hal_forget_port() call port before they return. Pointers that a listener gets are
 * valid during the call only. A listener may call any function of the HAL but hal_dispatch(),
 * hal_stop() and hal_destroy().
 *
 *
 * Threads
 * =======
 *
 * All functions must be called on the thread that called hal_create() (the agent's main loop),
 * except these, which any thread may call: hal_snapshot_hold(), hal_snapshot_release(),
 * hal_device_drops(), hal_device_kind(), and the reading of hal_stats(). No function waits for a
 * device.
 *
 *
 * Return values
 * =============
 *
 * Functions that return int return 0, or a negative errno value and then have changed nothing,
 * unless stated otherwise.
 */
#ifndef EASE_AGENT_HAL_H
#define EASE_AGENT_HAL_H

#include "common/clock.h"
#include "common/lldp_id.h"
#include "common/sample.h"
#include "common/stat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hal;
struct hal_device; /* hal_provider.h */

enum {
	HAL_MAX_PORTS = 4096,       /* enough for a chassis; each port needs a few KiB */
	HAL_MAX_ADDRESSES = 131072, /* the largest FDB of the chips and bridges served */
	HAL_MAX_ERROR_SOURCES =
	    256,               /* only the newest are kept: forged sources must not fill memory */
	HAL_MAX_VLAN_RANGES = 65536, /* what a kernel packs the VLANs of all ports into */
	HAL_VLAN_MAX = 4094,
	HAL_AGEING_MIN_S = 10, /* dot1dTpAgingTime */
	HAL_AGEING_MAX_S = 1000000,
};

/*
 * All figures of a port, as 64-bit totals. Their meaning is that of the RFCs, not of a chip's
 * datasheet. "Valid" frames are 64 to the maximum octets long and without error. Octets include
 * header and FCS, but not the preamble. Bit n of `known` is set if this port has figure n; MIB
 * tables leave out the others. If a port cannot tell multicast and broadcast frames from unicast
 * frames, they are counted as unicast.
 */
enum hal_figure {
	/* valid frames (RFC 3635): what IF-MIB and the samples' pool count */
	HAL_IN_OCTETS, HAL_IN_UCAST_PKTS, HAL_IN_MCAST_PKTS, HAL_IN_BCAST_PKTS,
	HAL_IN_DISCARDS, HAL_IN_ERRORS, HAL_IN_UNKNOWN_PROTOS,
	HAL_OUT_OCTETS, HAL_OUT_UCAST_PKTS, HAL_OUT_MCAST_PKTS, HAL_OUT_BCAST_PKTS,
	HAL_OUT_DISCARDS, HAL_OUT_ERRORS,
	/* the pool: valid frames that the skip counter counts, MAC control frames included */
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

/* The figures of one MIB table: bits of `known`, from the first figure to the last. */
#define HAL_FIGURES(first, last) ((2ull << (last)) - (1ull << (first)))
#define HAL_SAMPLE_FIGURES HAL_FIGURES(HAL_IN_OCTETS, HAL_POOL_OUT_PKTS) /* that travel with samples */
#define HAL_DOT3_FIGURES HAL_FIGURES(HAL_ALIGNMENT_ERRORS, HAL_SYMBOL_ERRORS)
#define HAL_CONTROL_FIGURES HAL_FIGURES(HAL_IN_PAUSE_PKTS, HAL_IN_UNKNOWN_OPCODES)
#define HAL_RMON_FIGURES HAL_FIGURES(HAL_RMON_DROP_EVENTS, HAL_RMON_1024_MAX)

/* A port's state of Energy Efficient Ethernet. */
enum hal_eee_state {
	HAL_EEE_NOT_KNOWN = 0,
	HAL_EEE_DISABLED = 1,
	HAL_EEE_ENABLED = 2, /* offered but not active: no link, or the link partner lacks it */
	HAL_EEE_ACTIVE = 3,
};

/* Energy Efficient Ethernet of one port. */
struct hal_energy {
	uint8_t state; /* enum hal_eee_state */
	bool counts;   /* the hardware counts low-power idle; if false, the rest is unknown */
	struct ease_low_power in, out; /* received direction, sent direction */
	uint32_t unit_ns;   /* the unit in which the hardware counts time asleep */
	uint32_t period_ns; /* the hardware checks once in this time whether the direction sleeps */
};

/* What happens to a frame that begins to arrive while the port is under back pressure. */
enum hal_flow_control {
	HAL_FLOW_DROP = 1,    /* the frame is lost: no flow control, or none negotiated */
	HAL_FLOW_COLLIDE = 2, /* half duplex: a collision is forced */
	HAL_FLOW_PAUSE = 3,   /* the link partner got a PAUSE frame and waits */
};

/* The buffer pool in which a port's frames wait, and the port's share of it. */
struct hal_buffers {
	uint32_t pool_buffers, pool_free; /* size of the pool; free buffers now */
	uint32_t pool_least_free;	  /* the fewest free buffers since the start */
	uint32_t buffer_octets;
	uint32_t charged, most_charged; /* buffers with frames that arrived on the port; maximum */
	uint8_t flow_control;		  /* enum hal_flow_control */
	uint64_t pressed_episodes;	  /* times back pressure began */
	uint64_t pressed_us;		  /* total time under back pressure */
	uint64_t ingress_drops;		  /* received frames lost because no buffer was free */
	uint64_t mcast_left_out;	  /* multicasts not sent here because too many waited */
};

/* Values of dot3PauseAdminMode and dot3PauseOperMode (RFC 3635). */
enum hal_pause {
	HAL_PAUSE_NOT_KNOWN = 0,
	HAL_PAUSE_DISABLED = 1,
	HAL_PAUSE_XMIT = 2,
	HAL_PAUSE_RCV = 3,
	HAL_PAUSE_BOTH = 4,
};

/* One port. Strings are NUL-terminated. */
struct hal_port {
	uint32_t if_index; /* rows are sorted by it */
	char name[EASE_NAME_MAX + 1];
	char alias[EASE_NAME_MAX + 1];
	bool link_traps; /* ifLinkUpDownTrapEnable */
	char descr[EASE_NAME_MAX * 2 + 1];
	uint32_t if_type;    /* IANAifType */
	uint32_t mtu_octets; /* MAC client data: 1500; 0: not known */
	uint64_t speed_bps;
	uint8_t mac[6];
	uint8_t admin_status; /* enum ease_if_status */
	uint8_t oper_status;
	uint8_t duplex;	      /* enum ease_duplex */
	uint8_t pause_admin, pause_oper; /* enum hal_pause */
	bool has_connector;
	bool off_bridge; /* the port does not belong to a bridge whose addresses are served */
	uint16_t base_port; /* its number among all bridge ports, 1 to 65,535; 0: it is none */
	bool vlan_unaware; /* its bridge does not tell VLANs apart, as others of the device may */
	bool over_others; /* a bridge, LAG, VLAN, tunnel, ...: its frames pass other ports, and are counted there */
	bool not_ethernet; /* loopback, a tunnel, ...: served to managers, and not reported to a collector */
	bool promiscuous;
	bool is_share; /* some of another port's frames, as a port of their own: no edge port */
	uint8_t forwarding; /* enum ease_forwarding */
	uint8_t sampled_by; /* enum ease_sampled_by */
	uint32_t lag_parent; /* ifIndex of its aggregate; 0: none */
	uint32_t bridge;     /* ifIndex of the bridge interface that it is a port of; 0: none */
	uint32_t lower;	     /* ifIndex of the interface that this VLAN interface runs on; 0: none */
	uint64_t last_change_mono_us;	 /* of oper_status; 0: before the agent started */
	uint64_t discontinuity_mono_us;	 /* of the counters, by the agent's clock; 0: none */
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

enum { HAL_DEFAULT_VLAN = 1, HAL_LOCAL_FDB = 4096 };
struct hal_address {
	uint32_t bridge; /* ifIndex of the bridge interface that knows it; 0: the device is one bridge */
	/* Its filtering database (Q-BRIDGE-MIB): its VLAN's number, above HAL_LOCAL_FDB that of a bridge without VLANs;
	 * 0: none, as it is valid in all VLANs. A driver may leave 0: the VLAN's; of a device without VLANs, VLAN 1's.
	 */
	uint32_t fdb;
	uint16_t vlan; /* 0: none, or all */
	uint8_t mac[6];
	uint8_t status; /* enum hal_address_status */
	uint32_t if_index; /* 0: not known */
	uint16_t base_port; /* the HAL's: of if_index; 0: it is at no port, or not known */
};

/* A port is a member of the VLANs first to last of a VLAN-aware bridge. */
struct hal_vlan_range {
	uint32_t if_index; /* ranges are sorted by it, then first */
	uint16_t base_port; /* the HAL's */
	uint16_t first, last; /* 1 to HAL_VLAN_MAX */
	bool untagged; /* their frames leave the port without a tag */
	bool is_pvid;  /* of one VLAN: frames that arrive without a tag are in it */
};

/* A VLAN that has addresses or ports, with its filtering database; above HAL_VLAN_MAX a database alone. A bridge
 * that is not VLAN-aware has VLAN 1, untagged at all its ports. */
struct hal_vlan {
	uint32_t vlan; /* rows are sorted by it */
	uint32_t n_learned;
	uint64_t changed_mono_us; /* when its ports last changed; 0: not since the start */
};

/* Interface `higher` runs on top of interface `lower` (ifStackTable, RFC 2863). 0 means that there
 * is no interface above, or below. */
struct hal_layer {
	uint32_t higher, lower;
};

/* What a sensor says: type, scale, precision, value and status as the objects of ENTITY-SENSOR-MIB (RFC 3433) have them.
 * The value times ten to the power of minus precision is in units, thousandths or millionths of them. */
enum hal_sensor_type {
	HAL_SENSOR_OTHER = 1, /* percent of what there can be */
	HAL_SENSOR_VOLTS = 4, /* direct current */
	HAL_SENSOR_AMPERES = 5,
	HAL_SENSOR_WATTS = 6,
	HAL_SENSOR_CELSIUS = 8,
	HAL_SENSOR_PERCENT_RH = 9,
	HAL_SENSOR_RPM = 10,
};
enum hal_sensor_scale { HAL_SCALE_MICRO = 7, HAL_SCALE_MILLI = 8, HAL_SCALE_UNITS = 9 };
enum hal_sensor_status { HAL_SENSOR_OK = 1, HAL_SENSOR_UNAVAILABLE = 2, HAL_SENSOR_NONOPERATIONAL = 3 };
#define HAL_SENSOR_MOST 1000000000 /* stands for that or more; its negative for that or less */
struct hal_reading {
	char name[EASE_NAME_MAX + 1]; /* "temperature", "lane 1 power received" */
	uint8_t type, scale, status;  /* the three enums above */
	int8_t precision;
	int32_t value; /* 0 unless the status is HAL_SENSOR_OK */
};

/* Rounds a value in units to a reading's scale and precision. NAN: it is unavailable. */
void hal_reading_set(struct hal_reading *reading, double units);

/* A sensor of the chassis. */
enum { HAL_MAX_SENSORS = 500 };
struct hal_sensor {
	uint32_t number; /* 0 to HAL_MAX_SENSORS - 1: its own as long as it is there */
	uint64_t read_mono_us;
	struct hal_reading reading;
};

/* What is plugged into a port. Texts are "" where they are not known. */
enum { HAL_MAX_READINGS = 26 }; /* temperature, voltage, and of eight lanes received power, sent power and bias */
struct hal_transceiver {
	uint32_t if_index;
	uint64_t read_mono_us;
	char type[EASE_NAME_MAX + 1]; /* "SFP+", "QSFP28" */
	char maker[EASE_NAME_MAX / 2 + 1], model[EASE_NAME_MAX / 2 + 1], serial[EASE_NAME_MAX / 2 + 1];
	char revision[EASE_NAME_MAX / 4 + 1];
	size_t n_readings;
	struct hal_reading readings[HAL_MAX_READINGS];
};

/* A fan, or a power supply, with its sensors. Texts are "" where they are not known. */
enum { HAL_MAX_UNITS = 256, HAL_UNIT_READINGS = 4 };
struct hal_unit {
	uint32_t number;   /* 0 to HAL_MAX_UNITS - 1: its own as long as it is there */
	uint8_t part_class; /* HAL_PART_FAN or HAL_PART_POWER_SUPPLY */
	uint64_t read_mono_us;
	char name[EASE_NAME_MAX + 1], model[EASE_NAME_MAX / 2 + 1], serial[EASE_NAME_MAX / 2 + 1];
	bool is_replaceable;
	size_t n_readings;
	struct hal_reading readings[HAL_UNIT_READINGS];
};

/* A row of entPhySensorTable: a part of the class HAL_PART_SENSOR. */
struct hal_sensor_row {
	uint32_t index;
	uint64_t read_mono_us;
	struct hal_reading reading;
};

/* What LLDP (IEEE 802.1AB) says of this switch, of its ports, and of who is at their other ends. Texts are "" where they are
 * not known. */
enum { HAL_MAX_NEIGHBOURS = 2048 };
struct hal_lldp_port {
	uint32_t if_index;
	struct lldp_id id;
	char descr[EASE_NAME_MAX + 1];
};
struct hal_neighbour {
	uint32_t if_index, number; /* of this switch's port; its own among all that were ever there */
	uint64_t changed_mono_us;
	struct lldp_id chassis, port;
	char port_descr[EASE_NAME_MAX + 1], system_name[EASE_NAME_MAX + 1];
};
struct hal_lldp {
	struct lldp_id chassis; /* this switch */
	char system_name[EASE_NAME_MAX + 1];
	const struct hal_lldp_port *ports; /* sorted */
	size_t n_ports;
	const struct hal_neighbour *neighbours; /* sorted by if_index, number */
	size_t n_neighbours;
};

/* A physical part of the switch (ENTITY-MIB, RFC 6933). The classes are values of entPhysicalClass.
 * Unknown texts are "". */
enum hal_part_class { HAL_PART_CHASSIS = 3, HAL_PART_POWER_SUPPLY = 6, HAL_PART_FAN = 7, HAL_PART_SENSOR = 8, HAL_PART_MODULE = 9, HAL_PART_PORT = 10 };
enum {
	HAL_PART_INDEX_CHASSIS = 1,
	HAL_PART_INDEX_MODULE = 2, /* of the first module */
	HAL_PART_INDEX_SENSOR = 500, /* plus its number; above all modules */
	HAL_PART_INDEX_PORT = 1000, /* plus ifIndex; above all sensors of the chassis */
	/* plus ifIndex times that many: the transceiver of a port, and behind it its sensors; above all such ports */
	HAL_PART_INDEX_TRANSCEIVER = 1000000000, HAL_TRANSCEIVER_INDEXES = 64,
	/* plus that many times its number: a unit, and behind it its sensors; above all transceivers */
	HAL_PART_INDEX_UNIT = 2147000000, HAL_UNIT_INDEXES = 8,
	HAL_TRANSCEIVER_IF_MAX = (HAL_PART_INDEX_UNIT - HAL_PART_INDEX_TRANSCEIVER) / HAL_TRANSCEIVER_INDEXES - 1,
};
struct hal_part {
	uint32_t index, contained_in; /* contained_in 0: the part is the outermost */
	uint8_t class;		      /* enum hal_part_class */
	int32_t position;	      /* among its siblings; -1: no position */
	uint32_t if_index;	      /* HAL_PART_PORT only */
	char name[EASE_NAME_MAX + 1];
	char descr[EASE_NAME_MAX * 2 + 1];
	char maker[EASE_NAME_MAX + 1];
	char model[EASE_NAME_MAX + 1];
	char serial[EASE_NAME_MAX / 2 + 1];
	char revision[EASE_NAME_MAX / 4 + 1]; /* of the hardware */
	bool is_replaceable;
};
struct hal_contained {
	uint32_t parent, child; /* indexes of parts */
};

/* Which interface runs on which, and which part contains which. Snapshots share one structure until
 * a port changes. */
struct hal_structure {
	const struct hal_layer *layers; /* sorted */
	size_t n_layers;
	const struct hal_part *parts; /* sorted by index; ports with a connector follow each other */
	size_t n_parts, first_port_part, n_port_parts;
	const struct hal_contained *contents; /* sorted; n_parts - 1 */
	uint64_t layers_changed_mono_us, parts_changed_mono_us; /* 0: not since the start */
};

/* All rows of the switch at one time, sorted. A snapshot never changes, and lives until its last
 * holder releases it. */
struct hal_snapshot {
	uint64_t mono_us;   /* the agent's monotonic clock when it was published */
	uint64_t device_us; /* the device's clock at that time */
	uint64_t ports_changed_mono_us; /* when a port last appeared or disappeared */
	const struct hal_port *ports;
	size_t n_ports;
	bool has_addresses;
	const struct hal_port *const *bridge_ports; /* sorted by base_port */
	size_t n_bridge_ports;
	/* First each address once, by mac: the one of the lowest bridge and VLAN; from fdb_addresses on those of filtering
	 * databases, by fdb and mac: the same ones if there is but one database. Of bridges that know the same, the one with
	 * the lowest ifIndex is there. */
	const struct hal_address *addresses;
	size_t n_addresses, n_common_addresses, fdb_addresses;
	const struct hal_vlan *vlans; /* of the addresses and the ranges */
	size_t n_vlans, n_fdbs; /* of vlans: those that are VLANs; all */
	bool vlan_aware; /* a bridge tells VLANs apart */
	bool knows_members; /* which VLANs its ports are in */
	const struct hal_vlan_range *vlan_ranges;
	size_t n_vlan_ranges;
	bool has_address_discards;
	uint64_t address_discards; /* entries not learned because the table was full */
	uint32_t ageing_s;
	bool has_error_sources;
	const struct ease_error_source *error_sources; /* sorted by if_index, mac, kind */
	size_t n_error_sources;
	const struct hal_structure *structure; /* never NULL */
	const struct hal_sensor_row *sensors; /* sorted; of the structure's sensors */
	size_t n_sensors;
	bool has_lldp;
	struct hal_lldp lldp; /* of the ports above */
};

/* Returns the port's row, or NULL if the snapshot has no such port. */
const struct hal_port *hal_snapshot_port(const struct hal_snapshot *snapshot, uint32_t if_index);

/* Returns the VLAN of frames that arrive at the port without a tag; 0: none, they are dropped. */
uint16_t hal_snapshot_pvid(const struct hal_snapshot *snapshot, uint32_t if_index);

/* A sampled frame, and what the device knew when it was reported. The last members are the HAL's: a
 * driver leaves them 0. */
struct hal_sample_event {
	uint32_t if_index;     /* whose counter took the sample */
	uint8_t direction;     /* enum ease_direction relative to if_index */
	uint32_t input_if;
	uint64_t output_if; /* as in struct ease_sample */
	uint64_t time_us;      /* device's clock */
	uint32_t frame_octets; /* on the wire, including the FCS */
	const uint8_t *octets; /* the beginning of the frame, without FCS */
	size_t kept_octets;    /* how many octets the device kept */
	struct ease_way way;   /* as in struct ease_sample */
	uint64_t pool_pkts;    /* the port's pool in that direction, this frame included */
	bool own; /* one of this machine's own notifications: at a small mean skip it is not sent on */
	bool lost; /* the frame was lost before it came here: it ends a skip, and has no octets */
	/* The port has no skip left but those that ended, here and in samples not reported yet: its
	 * skip counter stalls, and frames pass unsampled until it gets the next skip. */
	bool counter_empty;
	uint32_t rate; /* of a port that samples by itself, one frame in rate; 0: a skip was used */
	/* The port's figures after the sample: those of HAL_SAMPLE_FIGURES were read at
	 * counters_time_us by the device's clock, others earlier. NULL: the device does not count. */
	const struct hal_counters *counters;
	uint64_t counters_time_us;
	uint64_t discontinuity_us; /* of the counters, by the device's clock; 0: none */
};

#define HAL_NO_SKIP (-1ll)

/* The life of a port. One event each, in this order: a port came (or came back), changed, left, and was
 * forgotten. A port that is there when the device starts has come without an event. */
enum hal_port_happening {
	HAL_PORT_CAME,	    /* its counters begin now; rooms that remember its number go on where it left */
	HAL_PORT_CHANGED,   /* oper_status, speed, ... */
	HAL_PORT_LEFT,	    /* no function takes its number now, but it may come back */
	HAL_PORT_FORGOTTEN, /* it was away for too long: whatever still remembers it drops it */
};

struct hal_port_event {
	enum hal_port_happening happening;
	uint32_t if_index;
	uint64_t number; /* counts all these events, from 1 */
};

/* A frame with an error. */
struct hal_error_event {
	uint32_t if_index;
	uint8_t mac[6]; /* source address */
	uint8_t kind;	/* enum ease_error_kind */
	uint64_t time_us; /* device's clock */
};

struct hal_listener {
	void *ctx;
	/* A frame was sampled. Returns the skip that the port gets in place of the one that ended, or
	 * HAL_NO_SKIP. */
	int64_t (*sample)(void *ctx, const struct hal_sample_event *event);
	/* The port has none of its skips any more, because sampling was restarted, a skip could not
	 * be written, or the port is sampled in another way now. hal_load_skip() gives it new ones. */
	void (*skips_lost)(void *ctx, uint32_t if_index);
	/* A port that samples by itself took n samples that were lost before they came here. */
	void (*samples_lost)(void *ctx, uint32_t if_index, uint32_t n);
	/* Something happened to a port. */
	void (*port)(void *ctx, const struct hal_port_event *event);
	/* The device learned an address. */
	void (*new_address)(void *ctx, const struct ease_address *address);
	/* A bad frame arrived. The row is that of its source and counts this frame. */
	void (*error_source)(void *ctx, const struct ease_error_source *source);
	/* The device dropped a packet and tells of it. */
	void (*drop)(void *ctx, const struct ease_drop *drop);
	/* It dropped n packets more that it does not tell of, for lack of room or by a limit, which had come in at
	 * the port; 0: where is not known. */
	void (*drops_untold)(void *ctx, uint32_t if_index, uint64_t n);
	/* The steady clock has reached the time that was given to hal_alarm(). */
	void (*alarm)(void *ctx, uint64_t steady_us);
	/* The device has reached the end of its input: an emulated board that does not loop. */
	void (*ended)(void *ctx);
};

/* ---- life cycle ---- */

/* The HAL owns the device from now on, also if this fails. clock is borrowed. Returns -ENOMEM. */
int hal_create(struct hal_device *device, const struct clock *clock, struct hal **hal);
void hal_destroy(struct hal *hal); /* NULL allowed */
void hal_set_listener(struct hal *hal, const struct hal_listener *listener); /* copies it */

/* Returns 0, or the error of the device's start op. */
int hal_start(struct hal *hal);
void hal_stop(struct hal *hal);

/* ---- events ---- */

/* Returns a descriptor that is readable when the device has events; -1: it never has. */
int hal_fd(const struct hal *hal);
/* Handles at most budget pending events (0: all) and calls the listener for them. Returns 1 if more
 * are pending, else 0, or -errno. */
int hal_dispatch(struct hal *hal, unsigned budget);
/* Requests one call of the listener's alarm when hal_steady_us() reaches steady_us. Replaces an
 * earlier request. Returns -EOPNOTSUPP if the device has no timer. */
int hal_alarm(struct hal *hal, uint64_t steady_us);

/* ---- the device ---- */

const char *hal_device_kind(const struct hal *hal); /* "emulated", "linux", "sonic" or "dummy" */
/* The device's clock, in microseconds since 1970: for time stamps. It steps when somebody sets it. */
uint64_t hal_now_us(const struct hal *hal);
/* The clock of everything periodic: microseconds since some start, and never set. An emulated board has
 * one clock for both. */
uint64_t hal_steady_us(const struct hal *hal);
/* The agent's monotonic clock, of times that have nothing to do with the device. */
uint64_t hal_mono_us(const struct hal *hal);
/* Returns how many samples and messages were lost between hardware and driver until the newest
 * snapshot; 0 also if the device does not count them. */
uint64_t hal_device_drops(const struct hal *hal);
/* Returns true if the device runs in lock step: it waits for this CPU and loses no event. The
 * caller can then hold the device back by not calling hal_dispatch(). */
bool hal_waits_for_cpu(const struct hal *hal);

/* ---- ports, and readings of a port now ---- */

size_t hal_n_ports(const struct hal *hal);
uint32_t hal_port_if_index(const struct hal *hal, size_t i); /* the i-th in order of ifIndex */

/* Reads the port's hardware counters, adds them to its totals and copies its figures out. A counter
 * that cannot be read keeps its total, and the failure is counted. Returns 0, -ENODEV or
 * -EOPNOTSUPP. */
int hal_read_counters(struct hal *hal, uint32_t if_index, struct hal_counters *counters);
/* Returns what was read last of the port's counters, by whatever call, and when by the device's clock. Borrowed, until
 * they are read again. NULL: nothing was. */
const struct hal_counters *hal_last_counters(const struct hal *hal, uint32_t if_index, uint64_t *read_us);
/* Copies the port's row as it is now, with the counters as last read. Returns 0, -ENODEV, or the
 * driver's error. */
int hal_port_info(const struct hal *hal, uint32_t if_index, struct hal_port *port);
/* Returns the ifIndex of the bridge port with this number; 0: there is none. */
uint32_t hal_port_of_base(const struct hal *hal, uint32_t base_port);

/* Return 0, -EOPNOTSUPP, -ENODEV, or the driver's error. */
int hal_read_energy(struct hal *hal, uint32_t if_index, struct hal_energy *energy);
int hal_read_buffers(struct hal *hal, uint32_t if_index, struct hal_buffers *buffers);

/* Returns the sources of bad frames now, sorted as in a snapshot; valid until the next dispatch. */
const struct ease_error_source *hal_error_sources(const struct hal *hal, size_t *n);

/* ---- sampling ----
 * A skip K, 0 to hal_max_skip(), lets K frames pass and samples the next one. A port takes
 * hal_skip_depth() skips ahead: 2 on EASE chips, the counter and its shadow. */

bool hal_has_sampling(const struct hal *hal);
uint32_t hal_max_skip(const struct hal *hal);
unsigned hal_skip_depth(const struct hal *hal);
/* Loads one skip behind those that are loaded. Returns 0, -EBUSY if the port has skip_depth skips
 * already, -EINVAL if skip is too large, -ENODEV if the port has no skip counter, or -EOPNOTSUPP.
 */
int hal_load_skip(struct hal *hal, uint32_t if_index, uint32_t skip);
/* Discards the loaded skips, so that a new mean takes effect at once. The listener's skips_lost is then
 * called for each port that lost skips by it. Returns -EOPNOTSUPP if the hardware cannot: then the
 * loaded skips are used up first. */
int hal_restart_sampling(struct hal *hal, uint32_t if_index);
/* For a port that samples by itself: it samples one frame in rate at random from now on (0: none).
 * Returns -ENODEV or -EOPNOTSUPP if the port takes skips instead, or the device's refusal. */
int hal_set_sampling_rate(struct hal *hal, uint32_t if_index, uint32_t rate);
/* The rate in force (0: none) of a port whose rate another program keeps, too. Then a rate that is set is asked for,
 * and in force when this says so; a port's change is reported. Returns -ENODEV, or -EOPNOTSUPP if rates are set here
 * alone. */
int hal_sampling_rate(const struct hal *hal, uint32_t if_index, uint32_t *rate);
/* What hal_set_sampling_rate would return of such a port: -EBUSY for a rate that the device does not have, -EPERM,
 * -EAGAIN if it cannot be asked for now. */
int hal_check_sampling_rate(const struct hal *hal, uint32_t if_index, uint32_t rate);

/* ---- settings that a manager may change ----
 * Each check function returns what its set function would return, and changes nothing. They return
 * 0; -EOPNOTSUPP if the device cannot do this at all; -EPERM if it does not let this process do it;
 * -EINVAL for a wrong value; -ENODEV. Set functions may also return the device's error. */

int hal_check_alias(const struct hal *hal, uint32_t if_index, const char *alias);
int hal_set_alias(struct hal *hal, uint32_t if_index, const char *alias);
int hal_set_link_traps(struct hal *hal, uint32_t if_index, bool on); /* on after create */
int hal_check_admin_status(const struct hal *hal, uint32_t if_index, uint8_t admin_status);
int hal_set_admin_status(struct hal *hal, uint32_t if_index, uint8_t admin_status);
int hal_check_ageing_s(const struct hal *hal, uint32_t seconds);
int hal_set_ageing_s(struct hal *hal, uint32_t seconds);
uint32_t hal_ageing_s(const struct hal *hal); /* 0: the device has no address table */
/* Also return -EBUSY for flow control in one direction at 100 Mb/s or less (RFC 3635). */
int hal_check_pause(const struct hal *hal, uint32_t if_index, uint8_t mode);
int hal_set_pause(struct hal *hal, uint32_t if_index, uint8_t mode);
/* Ties a unicast address to a port, or releases it (if_index 0). Return -EINVAL for a group
 * address; set also returns -ENOSPC. */
int hal_check_static(const struct hal *hal, const uint8_t mac[6], uint32_t if_index);
int hal_set_static(struct hal *hal, const uint8_t mac[6], uint32_t if_index);
/* The agent no longer remembers a port that is gone (name NULL: by this number): its number may be given to
 * another. The listener hears that it was forgotten. */
void hal_forget_port(struct hal *hal, const char *name, uint32_t if_index);
/* Returns true if the device itself (a kernel) keeps admin status and ageing time while no agent
 * runs. */
bool hal_keeps_settings(const struct hal *hal);

/* ---- totals over a restart ---- */

/* Copies out the totals behind the figures, one for each hardware counter. Returns -E2BIG if max is
 * too small. */
int hal_save_totals(const struct hal *hal, uint32_t if_index, uint64_t *totals, size_t max,
    size_t *n);
/* Adds saved totals, so that every figure continues. Returns -EINVAL if n is not this device's
 * number of counters, or -ERANGE if the device keeps totals itself and has restarted them (Linux
 * after a reboot). */
int hal_restore_totals(struct hal *hal, uint32_t if_index, const uint64_t *totals, size_t n);
/* True if the device keeps all totals itself, so that they do not end with the agent (Linux). */
bool hal_totals_go_on(const struct hal *hal);
/* Returns the time of the port's latest discontinuity by the device's clock; 0: none, or no such port. */
uint64_t hal_discontinuity_us(const struct hal *hal, uint32_t if_index);
/* Records that the port's figures do not continue those that a manager saw before. */
void hal_mark_discontinuity(struct hal *hal, uint32_t if_index);
/* Returns the time of the port's latest discontinuity, in microseconds since 1970 by the system's
 * clock; 0: none. Restoring it sets discontinuity_mono_us alone, because the device's clock may
 * show another time after a restart. */
uint64_t hal_discontinuity_wall_us(const struct hal *hal, uint32_t if_index);
void hal_restore_discontinuity(struct hal *hal, uint32_t if_index, uint64_t wall_us);

/* When a port changed its state, or with if_index 0 when the lists of ports, layers and parts changed; and what they
 * were: numbers that are kept over a restart of the agent. Returns how many, at most HAL_MAX_CHANGES. */
enum { HAL_MAX_CHANGES = 8 };
size_t hal_save_changes(const struct hal *hal, uint32_t if_index, uint64_t *numbers);
/* Gives them back before the first snapshot: those of the ports that are still here, then those of 0. What is not as
 * it was has changed now, as nobody knows when. Numbers from before the machine's boot mean nothing. */
void hal_restore_changes(struct hal *hal, uint32_t if_index, const uint64_t *numbers, size_t n);

/* ---- snapshots ---- */

/* Reads all ports now and publishes them; of a snapshot that is being built in slices nothing is used.
 * Errors as hal_refresh. */
int hal_refresh_all(struct hal *hal);

/* Reads the counters of at most max_ports ports (0: all) for the next snapshot. Returns 1 while
 * ports are left, 0 when the snapshot is complete and published, or -errno. */
int hal_refresh(struct hal *hal, size_t max_ports);
/* A setting of the port was changed (0: the ageing time): puts the port's row, with its counters as
 * last read, into the newest snapshot and into the one that is being read, so that the next reader sees
 * it. Costs one row unless another thread holds the newest snapshot; then all is read again. */
void hal_publish_port(struct hal *hal, uint32_t if_index);
/* Returns the newest snapshot, or NULL before the first one. The caller must release it. */
const struct hal_snapshot *hal_snapshot_hold(struct hal *hal);
void hal_snapshot_release(const struct hal_snapshot *snapshot); /* NULL allowed */

/* The HAL's own counters: hal_stat_names in hal.c says what each one counts. */
const struct stat_set *hal_stats(const struct hal *hal);

#endif
