/*
 * The hardware abstraction layer as drivers see it: what a device consists of, and how it reports
 * events.
 *
 *
 * Data
 * ====
 *
 * A device (struct hal_device) has one provider for each facet: a table of ops, and the context
 * that is passed to them. If the device lacks a facet its table is NULL; then the facet's functions
 * return -EOPNOTSUPP and its MIB rows are absent, never zero. An op that a comment allows to be
 * NULL may be missing from its table. Tables are const. Contexts belong to the device.
 *
 *
 * Life cycle
 * ==========
 *
 * 1. A function of the driver creates the device. The ports and counters ops work from now on.
 * 2. start() opens the gates: frames flow and events may come. Then ports that sample get their first skips (load_skip);
 *    until then their counters are empty.
 * 3. dispatch() is called whenever fd() is readable, and reports events.
 * 4. stop() returns when no thread of the device runs any more.
 * 5. destroy() frees the device and all contexts.
 *
 *
 * Change notification
 * ===================
 *
 * A driver reports events by hal_report_*(), and only from within dispatch(). A change of the ports
 * (one appeared, disappeared or changed) is reported by hal_report_port_changed(); until then
 * count() and if_index() may return the old or the new ports.
 *
 *
 * Threads
 * =======
 *
 * Every op runs on the HAL's thread, except drops(), which any thread may call. No op may wait; a
 * register access does not count as waiting.
 *
 *
 * Return values
 * =============
 *
 * Ops that return int return 0 or a negative errno value, unless stated otherwise. Ports are named
 * by ifIndex; an op returns -ENODEV for a port that does not have its facet.
 */
#ifndef EASE_AGENT_HAL_PROVIDER_H
#define EASE_AGENT_HAL_PROVIDER_H

#include "agent/hal/hal.h"

/* ---- ports: every device has them ---- */

struct hal_ports_ops {
	const char *name; /* of the provider, for messages */
	/* Returns the number of ports now. */
	size_t (*count)(void *ctx);
	/* Returns the ifIndex of the i-th port; they ascend with i. */
	uint32_t (*if_index)(void *ctx, size_t i);
	/* Fills *port, except for counters, link_traps, last_change and discontinuity, which the
	 * HAL keeps. The HAL keeps alias, too, if set_alias is NULL. A base_port of 0 is the ifIndex. */
	int (*get)(void *ctx, uint32_t if_index, struct hal_port *port);
	/* NULL: the device cannot do this. */
	int (*set_admin_status)(void *ctx, uint32_t if_index, uint8_t admin_status);
	/* mode: enum hal_pause; XMIT and RCV are passed only above 100 Mb/s. NULL: the device
	 * cannot do this. */
	int (*set_pause)(void *ctx, uint32_t if_index, uint8_t mode);
	/* alias: at most EASE_NAME_MAX octets. NULL: the device has no aliases, so the HAL keeps
	 * them. */
	int (*set_alias)(void *ctx, uint32_t if_index, const char *alias);
	/* The number that this name had is free, unless the port is there. NULL: numbers do not go by
	 * names, or ports do not leave. */
	void (*forget)(void *ctx, const char *name);
};

/* ---- counters ----
 * The provider describes each hardware counter by a row. The HAL reads them, keeps a 64-bit total
 * for each, and lets the provider derive figures from the totals. Because only the HAL reads, a
 * counter that clears on read loses nothing, however many figures use it. */

enum hal_counter_flags {
	HAL_COUNTER_CLEARS_ON_READ = 1u << 0,  /* a reading is the count since the previous one */
	HAL_COUNTER_ZERO_AFTER_MAX = 1u << 1,  /* reading the maximum resets the counter to 0 */
	HAL_COUNTER_IS_TOTAL = 1u << 2,	       /* has 64 bits; restarts only with its driver (Linux) */
	HAL_COUNTER_NOT_SAMPLED = 1u << 3,     /* none of HAL_SAMPLE_FIGURES depends on it, so that it
						  is not read for a sample */
	HAL_COUNTER_BEGINS_AGAIN = 1u << 4,    /* a total that each start begins at another number */
};

enum hal_round { HAL_ROUND_BEGINS, HAL_ROUND_GOES_ON, HAL_ROUND_RESTS };

struct hal_counter_row {
	const char *name;   /* as in the datasheet */
	uint32_t address;   /* register address or attribute number; only the provider uses it */
	uint8_t width_bits; /* 1..64 */
	uint8_t flags;	    /* enum hal_counter_flags */
};

enum { HAL_MAX_COUNTER_ROWS = 128 };

struct hal_counters_ops {
	const char *name;
	const struct hal_counter_row *rows; /* at most HAL_MAX_COUNTER_ROWS */
	size_t n_rows;
	/* Reads one hardware counter, with the side effects that its row's flags state. If this
	 * fails the HAL keeps the old total, counts the failure and does not retry. */
	int (*read)(void *ctx, uint32_t if_index, size_t row, uint64_t *raw);
	/* Fetches all that the rows of the port are read from then. 0: no row differs from what the fetch before brought,
	 * nor does `known`; 1: some may; -errno: no row can be read. NULL: read fetches by itself. */
	int (*fetch)(void *ctx, uint32_t if_index);
	/* HAL_ROUND_BEGINS: a round over all ports begins, for which the provider may read all at once now.
	 * HAL_ROUND_GOES_ON, HAL_ROUND_RESTS: the reads between these two are the round's, and may be from then,
	 * unless the port was read since. NULL: each port is read when it is asked for. */
	void (*round)(void *ctx, enum hal_round phase);
	/* Derives the figures from the totals and sets `known`. Depends on nothing else. A figure
	 * that is a difference of totals may decrease: the HAL keeps the largest value. */
	void (*derive)(const uint64_t *totals, struct hal_counters *counters);
	/* Returns which figures this port has, as bits of `known`. Called after its counters were
	 * read. NULL: every port has all figures. */
	uint64_t (*known)(void *ctx, uint32_t if_index);
};

/* ---- sampling ----
 * A port either takes skips, as an EASE register pair does, or samples by itself at a given rate.
 */

struct hal_sampling_ops {
	const char *name;
	uint32_t max_skip;   /* 0xFFFFF for a 20-bit register */
	unsigned skip_depth; /* skips that a port holds: counter and shadow make 2 */
	/* Loads one skip. Returns -EBUSY if the port holds skip_depth skips already, and -ENODEV if
	 * it has no skip counter and is not sampled. */
	int (*load_skip)(void *ctx, uint32_t if_index, uint32_t skip);
	/* Discards the port's skips. The next dispatch reports skips_lost for each port that lost skips
	 * by it. NULL: the hardware cannot do this. */
	int (*restart)(void *ctx, uint32_t if_index);
	/* The port samples one frame in rate, each independently of the others; 0: none. The rate
	 * is in force when this returns, and each sample carries the rate at which it was taken.
	 * Returns -ENODEV if this port takes skips. NULL: every port takes skips. */
	int (*set_rate)(void *ctx, uint32_t if_index, uint32_t rate);
	/* A device whose rates are kept by another program (SONiC) tells the one in force, 0: none, or -ENODEV. Then
	 * set_rate asks that program, which takes its time; a change, whoever made it, is reported as one of the
	 * port, and so is a request that came to nothing. Nobody sets a rate unless a manager does. NULL: rates are
	 * set by the agent alone. */
	int (*rate)(void *ctx, uint32_t if_index, uint32_t *rate);
	/* What set_rate would return: -EBUSY for a rate that the device does not have, with the reason in the log;
	 * -EAGAIN if the other program cannot be asked now. NULL: any rate. */
	int (*check_rate)(void *ctx, uint32_t if_index, uint32_t rate);
};

/* ---- addresses ---- */

struct hal_addresses_ops {
	const char *name;
	/* Calls add for every entry, in any order, until it returns a value other than 0, which is
	 * then returned. Returns -ENODEV if there is no bridge now. */
	int (*dump)(void *ctx, int (*add)(void *arg, const struct hal_address *address), void *arg);
	/* Returns a number that changes whenever the entries change (a changed ifIndex of a port
	 * does not count). While it is the same, dump is not called again. NULL: the device cannot
	 * tell. */
	uint64_t (*changes)(void *ctx);
	/* Returns how many entries were lost because the table was full. NULL: not counted. */
	uint64_t (*discards)(void *ctx);
	uint32_t (*ageing_s)(void *ctx);
	int (*set_ageing_s)(void *ctx, uint32_t seconds); /* NULL: the ageing time is fixed */
	/* Ties the address to a port: frames to it leave by this port alone, and it is neither
	 * learned elsewhere nor aged. if_index 0 releases it. Returns -ENOSPC if the table is full.
	 * NULL: the device cannot do this. */
	int (*set_static)(void *ctx, const uint8_t mac[6], uint32_t if_index);
};

/* ---- VLANs of a bridge that tells them apart; the addresses facet must be there, too ---- */

struct hal_vlans_ops {
	const char *name;
	/* Calls add for the ranges of every port of VLAN-aware bridges, in any order, until it returns a value other
	 * than 0, which is then returned. Returns -ENODEV if no bridge is VLAN-aware now. */
	int (*dump)(void *ctx, int (*add)(void *arg, const struct hal_vlan_range *range), void *arg);
};

/* ---- error sources ----
 * The driver reports each bad frame by hal_report_error_source(). The HAL keeps the newest sources.
 */

struct hal_errors_ops {
	const char *name;
	/* Returns how many messages about bad frames were lost before the driver saw them. NULL:
	 * none can be lost. */
	uint64_t (*lost)(void *ctx);
};

/* ---- energy: low-power idle (EEE) by port and direction ---- */

struct hal_energy_ops {
	const char *name;
	/* Reads the state, and 64-bit totals since the device started. Totals never decrease: the
	 * driver widens what the hardware counts in fewer bits. Returns -ENODEV if this port has no
	 * EEE. */
	int (*read)(void *ctx, uint32_t if_index, struct hal_energy *energy);
};

/* ---- buffers: the pool in which frames wait, and flow control ---- */

struct hal_buffers_ops {
	const char *name;
	/* Reads gauges as they are now, and totals that never decrease. Returns -ENODEV if this
	 * port's pool cannot be read. */
	int (*read)(void *ctx, uint32_t if_index, struct hal_buffers *buffers);
};

/* ---- modules that the switch consists of; without this facet it has a chassis and ports ---- */

struct hal_modules_ops {
	size_t (*count)(void *ctx); /* below HAL_PART_INDEX_SENSOR - HAL_PART_INDEX_MODULE */
	/* Fills name, descr, maker and model of the i-th module. */
	void (*get)(void *ctx, size_t i, struct hal_part *part);
	/* Returns the number of the module that contains the port. */
	size_t (*of_port)(void *ctx, uint32_t if_index);
};

/* ---- sensors of the chassis; transceivers, fans and power supplies with theirs ---- */

struct hal_sensors_ops {
	const char *name;
	/* Reads the next of them, if it is time; called before each snapshot. What is slow to read may be read seldom. NULL:
	 * the driver reads them by itself. */
	void (*read_next)(void *ctx);
	/* Returns a number that changes whenever one comes, goes or gets another name. */
	uint64_t (*changes)(void *ctx);
	size_t (*n_sensors)(void *ctx);
	/* The i-th, by ascending number; borrowed until the next call of read_next or dispatch. */
	const struct hal_sensor *(*sensor)(void *ctx, size_t i);
	size_t (*n_transceivers)(void *ctx);
	const struct hal_transceiver *(*transceiver)(void *ctx, size_t i); /* the same, by ascending if_index */
	size_t (*n_units)(void *ctx); /* NULL: it knows of none */
	const struct hal_unit *(*unit)(void *ctx, size_t i); /* the same, by ascending number */
};

/* ---- LLDP's neighbours, where another program of the device hears them ---- */

struct hal_lldp_ops {
	const char *name;
	/* What is known, at most HAL_MAX_NEIGHBOURS and HAL_MAX_PORTS; borrowed until the next dispatch. NULL: nobody speaks
	 * LLDP, or what was heard is too old. */
	const struct hal_lldp *(*known)(void *ctx);
};

/* Stamps each of the fresh neighbours with the time of its last change: now, or what the old ones have of one that is the same. */
void hal_neighbours_stamp(const struct hal_lldp *old, struct hal_neighbour *fresh, size_t n_fresh, uint64_t now_us);

/* ---- the device ---- */

struct hal_device_ops {
	const char *kind; /* "emulated", "linux", "sonic" or "dummy" */
	int (*start)(void *ctx, struct hal *hal); /* hal is borrowed until stop; NULL: nothing is to be done */
	void (*stop)(void *ctx);		  /* as start */
	void (*destroy)(void *ctx);
	int (*fd)(void *ctx);		      /* returns -1 if the device never has events */
	int (*dispatch)(void *ctx, unsigned budget); /* as hal_dispatch */
	uint64_t (*now_us)(void *ctx);
	uint64_t (*steady_us)(void *ctx); /* NULL: nobody can set the clock of now_us */
	int (*alarm)(void *ctx, uint64_t steady_us); /* as hal_alarm */
	/* Returns how many samples and messages the hardware had that the driver did not get (no
	 * buffer was free, or a block was damaged). NULL: none are lost, or they are not counted.
	 */
	uint64_t (*drops)(void *ctx);
	/* Returns 0 if this process may change the device now, else -EPERM. NULL: it always may. */
	int (*may_change)(void *ctx);
	bool waits_for_cpu;  /* see hal_waits_for_cpu */
	bool keeps_settings; /* see hal_keeps_settings */
};

struct hal_device {
	const struct hal_device_ops *ops;
	void *ctx;
	struct hal *hal; /* set by the HAL from start to stop, else NULL: events are reported to it */
	const struct hal_ports_ops *ports;
	void *ports_ctx;
	const struct hal_counters_ops *counters; /* this and all that follow may be NULL */
	void *counters_ctx;
	const struct hal_sampling_ops *sampling;
	void *sampling_ctx;
	const struct hal_addresses_ops *addresses;
	void *addresses_ctx;
	const struct hal_vlans_ops *vlans;
	void *vlans_ctx;
	const struct hal_errors_ops *errors;
	void *errors_ctx;
	const struct hal_energy_ops *energy;
	void *energy_ctx;
	const struct hal_buffers_ops *buffers;
	void *buffers_ctx;
	const struct hal_modules_ops *modules;
	void *modules_ctx;
	const struct hal_sensors_ops *sensors;
	void *sensors_ctx;
	const struct hal_lldp_ops *lldp;
	void *lldp_ctx;
};

/* ---- events, reported from within dispatch ----
 * Pointers are borrowed for the call. */

/* pool_pkts of a driver that does not know the pool: the HAL takes it from the port's counters. */
#define HAL_POOL_UNKNOWN UINT64_MAX
/* Returns the skip that the driver loads now, at most max_skip, or HAL_NO_SKIP. */
int64_t hal_report_sample(struct hal *hal, struct hal_sample_event *event);
void hal_report_skips_lost(struct hal *hal, uint32_t if_index);
void hal_report_samples_lost(struct hal *hal, uint32_t if_index, uint32_t n);
void hal_report_port_changed(struct hal *hal, uint32_t if_index);
void hal_report_new_address(struct hal *hal, const struct ease_address *address);
void hal_report_error_source(struct hal *hal, const struct hal_error_event *event);
void hal_report_drop(struct hal *hal, const struct ease_drop *drop);
void hal_report_drops_untold(struct hal *hal, uint32_t if_index, uint64_t n); /* if_index 0: no port is known */
/* A counter is half full, so the HAL reads the port's counters now. */
void hal_report_counters_due(struct hal *hal, uint32_t if_index);
/* The device was reset: its counters begin at 0, and the port has a discontinuity. */
void hal_report_counters_reset(struct hal *hal, uint32_t if_index);
void hal_report_alarm(struct hal *hal, uint64_t steady_us);
void hal_report_ended(struct hal *hal);

#endif
