/*
 * The state of the HAL, shared by the files of agent/hal only. hal.c implements hal.h on top of the
 * others: snapshot.c publishes snapshots, structure.c keeps interface layers and physical parts,
 * error_sources.c keeps the sources of bad frames, counters.c reads what a port counts, and ports.c,
 * at the bottom, keeps the list of ports.
 */
#ifndef EASE_AGENT_HAL_PRIVATE_H
#define EASE_AGENT_HAL_PRIVATE_H

#include "agent/hal/hal_provider.h"

#include <pthread.h>

enum {
	HAL_STAT_COUNTER_READ_ERRORS,
	HAL_STAT_COUNTERS_RESTARTED,
	HAL_STAT_COUNTERS_DUE,
	HAL_STAT_ADDRESSES_LEFT_OUT,
	HAL_STAT_VLANS_LEFT_OUT,
	HAL_STAT_PORTS_LEFT_OUT,
	HAL_STAT_REFRESH_ERRORS,
	HAL_STAT_ERROR_SOURCES_FORGOTTEN,
	HAL_STAT_FACET_READ_ERRORS,
	HAL_STAT_ROUNDS_MERGED,
	HAL_N_STATS
};

struct hal_port_state {
	uint32_t if_index;
	char alias[EASE_NAME_MAX + 1];
	bool no_link_traps;
	uint8_t oper_status; /* as last reported, to stamp its changes */
	uint64_t last_change_mono_us;
	uint64_t discontinuity_mono_us, discontinuity_us;
	uint64_t previous_raw[HAL_MAX_COUNTER_ROWS]; /* previous reading of each hardware counter */
	uint64_t totals[HAL_MAX_COUNTER_ROWS];
	bool rows_read; /* all of them, as the device fetched them last */
	struct hal_counters figures; /* as last derived; they never decrease */
	uint64_t read_us;	     /* device's clock: not after all of them were read last; 0: they were not */
	uint64_t sample_read_us;     /* device's clock: when they were last read for a sample */
	uint64_t sample_read_turn;   /* and the turn of hal_dispatch() in which they were */
};

struct hal_published; /* snapshot.c */

struct hal {
	struct hal_device *device;
	const struct clock *clock;
	struct hal_listener listener;
	bool started;
	uint64_t turn; /* calls of hal_dispatch() */
	struct hal_port_state **ports; /* sorted by if_index; a port that stays keeps its place in memory */
	uint32_t *if_indexes; /* those of ports, close together: a search through all the states would be slow */
	size_t n_ports;
	uint64_t ports_changed_mono_us;
	uint64_t port_events;	    /* number of events of ports that were reported */
	uint64_t port_changes;	    /* number of changes that may change the structure */
	uint64_t port_list_changes; /* number of changes of `ports` itself */
	const struct hal_structure *structure; /* the newest, or NULL */
	/* Of the run before: the digest that the first structure is compared with (0: none), and when it changed. */
	uint64_t old_layers, layers_changed_mono_us, old_parts, parts_changed_mono_us;
	size_t n_unchanged_ports; /* that have the number that they had then */
	struct ease_error_source error_sources[HAL_MAX_ERROR_SOURCES]; /* sorted as in a snapshot */
	size_t n_error_sources;
	struct hal_published *building; /* the snapshot being made, or NULL */
	uint64_t building_us;		/* device's clock: when it was begun */
	bool in_round;			/* what is read now may be from then */
	size_t building_next;		/* the first port that it does not contain yet */
	uint32_t building_to;		/* it contains the ports up to this ifIndex */
	struct hal_published *published;
	_Atomic uint64_t device_drops; /* when the last snapshot was made */
	pthread_mutex_t publish_lock; /* over `published` and every reference count */
	struct stat_set stats;
	_Atomic uint64_t stat_values[HAL_N_STATS];
};

struct hal_port_state *hal_port_find(const struct hal *hal, uint32_t if_index);
/* Makes the list of ports equal to the provider's. The state of ports that remain is kept. Calls moved, if
 * it is not NULL, for each port that left, then for each that came. */
typedef void (*hal_port_moved)(struct hal *hal, enum hal_port_happening happening, uint32_t if_index);
int hal_ports_sync(struct hal *hal, hal_port_moved moved);
void hal_ports_free(struct hal *hal);
/* A time by the system's clock, by the steady one; 0: none, or from before the boot, and so older than any master's
 * sysUpTime. */
uint64_t hal_steady_of_wall(const struct hal *hal, uint64_t wall_us);
uint64_t hal_wall_of_steady(const struct hal *hal, uint64_t mono_us); /* 0: none */
/* Gets the structure for a snapshot whose ports were read when hal->port_changes had this value:
 * the newest one if it is still valid, else a new one. 0: they changed meanwhile, so no other snapshot shares it.
 * Any thread may release it. */
int hal_structure_hold(struct hal *hal, const struct hal_snapshot *snapshot,
    uint64_t port_changes, const struct hal_structure **structure);
void hal_structure_release(const struct hal_structure *structure); /* NULL allowed */
void hal_snapshot_drop_all(struct hal *hal);
/* Of sensors.c: has the device read the next sensor; how many parts its sensors and transceivers are at most, and a number
 * that changes with these. */
void hal_sensors_read(const struct hal *hal);
size_t hal_sensors_room(const struct hal *hal);
uint64_t hal_sensors_changes(const struct hal *hal);
/* Fill in the parts of the chassis' sensors, those of transceivers in ports of the snapshot, and those of units; return how
 * many. */
size_t hal_sensors_parts(const struct hal *hal, struct hal_part *parts);
size_t hal_transceivers_parts(const struct hal *hal, const struct hal_snapshot *snapshot, struct hal_part *parts);
size_t hal_units_parts(const struct hal *hal, struct hal_part *parts);
/* Fills the snapshot's sensors, which its structure has. The caller frees them. 0 or -ENOMEM. */
int hal_sensors_list(const struct hal *hal, struct hal_snapshot *snapshot);
/* Of neighbours.c: fills the snapshot's LLDP, of ports that are there. The caller frees both arrays, also after a failure. */
int hal_lldp_copy(const struct hal *hal, struct hal_snapshot *snapshot);
/* Fills the bridge ports of a snapshot; and arranges the addresses that the device has dumped, replacing the array.
 * The caller frees both, also after a failure. */
int hal_bridge_ports_list(struct hal_snapshot *fresh);
int hal_addresses_arrange(struct hal_snapshot *fresh, struct hal_address **addresses);
/* Fills the ranges of a snapshot whose addresses and bridge ports are there; and its VLANs, when the addresses are
 * arranged. The caller frees vlans and vlan_ranges, also after a failure. old: the snapshot before, or NULL. */
int hal_vlan_ranges_read(struct hal *hal, struct hal_snapshot *fresh);
int hal_vlans_list(struct hal *hal, const struct hal_snapshot *old, struct hal_snapshot *fresh);

/* Reads what samples carry of the port. */
void hal_read_sample_counters(struct hal *hal, struct hal_port_state *port);
/* As hal_read_counters and hal_port_info, of a port that was found. */
void hal_read_port_counters(struct hal *hal, struct hal_port_state *port);
int hal_port_fill(const struct hal *hal, const struct hal_port_state *port, struct hal_port *info);

/* Returns what a reading adds to the total by the row's rules, and sets *previous to the reading.
 * Depends on its arguments alone. */
uint64_t hal_counter_delta(const struct hal_counter_row *row, uint64_t *previous, uint64_t raw);

#endif
