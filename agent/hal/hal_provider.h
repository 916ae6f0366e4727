/*
 * The hardware layer as drivers see it: what a device is made of and how it tells what happened.
 *
 * A device is a composition: one provider (ops and context) a facet. A facet that the device lacks
 * is NULL: its functions answer -EOPNOTSUPP in hal.c and its MIB rows are absent, never zero.
 * Every op runs on the HAL's thread, returns 0 or -errno unless said otherwise, takes ports by
 * ifIndex, must not wait (a register access is not waiting), and may report events through
 * hal_report_* only from inside device->dispatch. Ops structs are const; contexts belong to the
 * device and die in its destroy op.
 */
#ifndef EASE_AGENT_HAL_PROVIDER_H
#define EASE_AGENT_HAL_PROVIDER_H

#include "agent/hal/hal.h"

/* ---- ports: every device has them ---- */

struct hal_ports_ops {
	const char *name; /* of the provider, for messages */
	/* Number of ports now; their ifIndex in ascending order by index i. Never fails. */
	size_t (*count)(void *ctx);
	uint32_t (*if_index)(void *ctx, size_t i);
	/* Fills everything but counters, link_traps, last_change, discontinuity: those are the HAL's,
	 * and so is alias unless the provider sets it. */
	int (*get)(void *ctx, uint32_t if_index, struct hal_port *port);
	/* NULL: the device cannot. */
	int (*set_admin_status)(void *ctx, uint32_t if_index, uint8_t admin_status);
	/* enum hal_pause, of which XMIT and RCV only above 100 Mb/s. NULL: the device cannot. */
	int (*set_pause)(void *ctx, uint32_t if_index, uint8_t mode);
	/* At most EASE_NAME_MAX octets. NULL: the HAL keeps aliases for a device that knows none. */
	int (*set_alias)(void *ctx, uint32_t if_index, const char *alias);
};

/* ---- counters ----
 * Each hardware counter is a row of data; the HAL turns readings into 64-bit totals in one place
 * and the provider says how totals make figures. One physical counter feeds all figures derived
 * from it, so clear-on-read readers cannot steal from each other. */

enum hal_counter_flags {
	HAL_COUNTER_CLEARS_ON_READ = 1u << 0,  /* a reading is the count since the last one */
	HAL_COUNTER_ZERO_AFTER_MAX = 1u << 1,  /* a read of the maximum zeroes it in any mode */
	HAL_COUNTER_FREEZES = 1u << 2,	       /* stops at the maximum instead of wrapping */
	HAL_COUNTER_IS_TOTAL = 1u << 3,	       /* already 64 bits and never reset: Linux */
};

struct hal_counter_row {
	const char *name;   /* as in the datasheet */
	uint32_t address;   /* register address or attribute number: the provider's business */
	uint8_t width_bits; /* 1..64 */
	uint8_t flags;	    /* enum hal_counter_flags */
};

enum { HAL_MAX_COUNTER_ROWS = 128 };

struct hal_counters_ops {
	const char *name;
	const struct hal_counter_row *rows; /* at most HAL_MAX_COUNTER_ROWS */
	size_t n_rows;
	/* Reads one hardware counter, with the side effects its row states. On failure the HAL keeps
	 * the old total, counts the failure, and nobody retries. */
	int (*read)(void *ctx, uint32_t if_index, size_t row, uint64_t *raw);
	/* Figures from totals, both in 64 bits; pure. Sets known. The HAL keeps figures monotone
	 * where a difference of totals could step back. */
	void (*derive)(const uint64_t *totals, struct hal_counters *counters);
	/* Which of these figures the port has, as bits of `known`, after its counters were read. NULL:
	 * every port has all. */
	uint64_t (*known)(void *ctx, uint32_t if_index);
};

/* ---- sampling: an EASE register pair a port, or what behaves like one, or a port that draws which
 * frames it samples by itself ---- */

struct hal_sampling_ops {
	const char *name;
	uint32_t max_skip;   /* 0xFFFFF for a 20-bit register */
	unsigned skip_depth; /* values a port takes ahead: counter and shadow make 2 */
	/* Never loses a value silently: -EBUSY if skip_depth values wait already. -ENODEV: this port
	 * has no skip counter and is not sampled. */
	int (*load_skip)(void *ctx, uint32_t if_index, uint32_t skip);
	/* Empties the port's values and reports refill for every port that lost some at the next
	 * dispatch. NULL: the hardware cannot. */
	int (*restart)(void *ctx, uint32_t if_index);
	/* One frame in rate, each drawn by itself; 0: none. In force when it returns; samples say what
	 * they were drawn with. -ENODEV: this port takes skips. NULL: every port does. */
	int (*set_rate)(void *ctx, uint32_t if_index, uint32_t rate);
};

/* ---- addresses ---- */

struct hal_addresses_ops {
	const char *name;
	/* Calls add for every entry, in any order, until it returns non-zero (which is returned).
	 * -ENODEV: there is no bridge now, and no table that could be empty. */
	int (*dump)(void *ctx, int (*add)(void *arg, const struct hal_address *address), void *arg);
	/* A number that is another one whenever dump would tell something else, ports' ifIndexes apart:
	 * while it stands, nobody asks again. NULL: the device cannot tell. */
	uint64_t (*changes)(void *ctx);
	/* Entries lost because the table was full. NULL: the device cannot tell. */
	uint64_t (*discards)(void *ctx);
	uint32_t (*ageing_s)(void *ctx);
	int (*set_ageing_s)(void *ctx, uint32_t seconds); /* NULL: fixed */
	/* Frames to the address go to that port alone, and the address is never learned elsewhere nor
	 * aged, until if_index is 0. -ENOSPC: no room for it. NULL: the device cannot. */
	int (*set_static)(void *ctx, const uint8_t mac[6], uint32_t if_index);
};

/* ---- error sources: reported by hal_report_error_source; the HAL keeps the newest ---- */

struct hal_errors_ops {
	const char *name;
	/* Messages about bad frames that were lost before the driver saw them. NULL: none are. */
	uint64_t (*lost)(void *ctx);
};

/* ---- energy: low-power idle (EEE) a port and direction ---- */

struct hal_energy_ops {
	const char *name;
	/* The state, and 64-bit totals since the device was started, which never step back; the driver
	 * has widened what the hardware counts in fewer bits. -ENODEV: this port has no EEE. */
	int (*read)(void *ctx, uint32_t if_index, struct hal_energy *energy);
};

/* ---- buffers: the pool that frames wait in, and flow control ---- */

struct hal_buffers_ops {
	const char *name;
	/* Gauges as they are now, and totals as energy's. -ENODEV: this port's frames wait in no
	 * pool that can be read. */
	int (*read)(void *ctx, uint32_t if_index, struct hal_buffers *buffers);
};

/* ---- modules: those that the switch is built of; NULL: only a chassis and ports ---- */

struct hal_modules_ops {
	size_t (*count)(void *ctx); /* below HAL_PART_INDEX_PORT */
	/* Fills name, descr, maker and model of the i-th module. */
	void (*get)(void *ctx, size_t i, struct hal_part *part);
	size_t (*of_port)(void *ctx, uint32_t if_index); /* the module that has the port */
};

/* ---- the device ---- */

struct hal_device_ops {
	const char *kind; /* "emulated", "linux", "dummy" */
	int (*start)(void *ctx, struct hal *hal); /* hal is borrowed until stop */
	void (*stop)(void *ctx);	      /* returns when no thread of the device runs */
	void (*destroy)(void *ctx);	      /* after stop; frees every provider's context */
	int (*fd)(void *ctx);		      /* -1: never readable */
	int (*dispatch)(void *ctx, unsigned budget); /* see hal_dispatch */
	uint64_t (*now_us)(void *ctx);
	int (*alarm)(void *ctx, uint64_t device_us);
	/* Samples and messages that the hardware had and nobody got (no buffer free, a block that made
	 * no sense). Any thread may ask. NULL: it loses none, or cannot tell. */
	uint64_t (*drops)(void *ctx);
	/* Does the device let this process change it at all, now? -EPERM: not. NULL: it always does. */
	int (*may_change)(void *ctx);
	bool waits_for_cpu;
	bool keeps_settings; /* see hal_keeps_settings */
};

struct hal_device {
	const struct hal_device_ops *ops;
	void *ctx;
	const struct hal_ports_ops *ports;
	void *ports_ctx;
	const struct hal_counters_ops *counters; /* the rest may be NULL */
	void *counters_ctx;
	const struct hal_sampling_ops *sampling;
	void *sampling_ctx;
	const struct hal_addresses_ops *addresses;
	void *addresses_ctx;
	const struct hal_errors_ops *errors;
	void *errors_ctx;
	const struct hal_energy_ops *energy;
	void *energy_ctx;
	const struct hal_buffers_ops *buffers;
	void *buffers_ctx;
	const struct hal_modules_ops *modules;
	void *modules_ctx;
};

/* What happened, from inside dispatch. Pointers are borrowed for the call. pool_pkts of a sample
 * may be left 0 with pool_unknown true: the HAL then reads the port's counters and fills it. */
void hal_report_sample(struct hal *hal, struct hal_sample_event *event, bool pool_unknown);
void hal_report_refill(struct hal *hal, uint32_t if_index);
void hal_report_samples_lost(struct hal *hal, uint32_t if_index, uint32_t n);
void hal_report_port_changed(struct hal *hal, uint32_t if_index);
void hal_report_new_address(struct hal *hal, const struct ease_address *address);
void hal_report_error_source(struct hal *hal, const struct hal_error_event *event);
void hal_report_counters_due(struct hal *hal, uint32_t if_index); /* half full: read them now */
void hal_report_counters_reset(struct hal *hal, uint32_t if_index); /* device reset: discontinuity */
void hal_report_alarm(struct hal *hal, uint64_t device_us);
void hal_report_ended(struct hal *hal);

#endif
