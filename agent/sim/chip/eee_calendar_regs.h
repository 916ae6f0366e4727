/*
 * Registers of the EEE statistics unit by calendar (patent application CN102497287A, "K" in the
 * notes on it). K names parts, not addresses, widths or rates: everything here is *assumed*.
 * Driver and model both include this file, and neither includes the other.
 *
 * Registers are 32 bits wide, offsets are octets in the unit's window. An entry is one direction
 * of one port and owns one word of SRAM: event count, duration count, last state, accumulator.
 */
#ifndef EASE_AGENT_SIM_CHIP_EEE_CALENDAR_REGS_H
#define EASE_AGENT_SIM_CHIP_EEE_CALENDAR_REGS_H

enum eee_direction { EEE_TX, EEE_RX, EEE_DIRECTIONS };
enum eee_field { EEE_EVENT, EEE_DURATION, EEE_FIELDS };

enum {
	EEE_MAX_PORTS = 64, /* "more than 50" in K */
	EEE_MAX_ENTRIES = EEE_MAX_PORTS * EEE_DIRECTIONS,
	EEE_MAX_SLOTS = 1024,
};
#define EEE_ENTRY(port, direction) ((port) * EEE_DIRECTIONS + (direction))

enum {
	EEE_CONTROL = 0x000,
	EEE_LENGTH = 0x004, /* slots of the calendar in use, 1 to EEE_MAX_SLOTS */
	EEE_UNIT = 0x008,   /* duration unit U, ns */
	/* Time between two visits of an entry that the calendar names once, ns; K's one step
	 * register. An entry named k times is given a k-th of it at each visit. */
	EEE_STEP = 0x00c,
	EEE_THRESHOLD_EVENT = 0x010,
	EEE_THRESHOLD_DURATION = 0x014,
	EEE_SLOT_NS = 0x018, /* read only: time of a slot */
	EEE_GEOMETRY = 0x01c, /* read only */
	/* Reading takes the oldest address out of the report buffer; 0 if there is none. */
	EEE_REPORT = 0x020,
	/* A read gives the count. A write subtracts what is written, which is what the CPU read:
	 * so nothing is lost that was counted in between, and last state and accumulator stay. */
	EEE_EVENT_COUNT = 0x400,    /* by entry, four octets apart */
	EEE_DURATION_COUNT = 0x600, /* likewise */
	EEE_STATE = 0x800,	    /* likewise; read only */
	EEE_CALENDAR = 0x1000,	    /* by slot, four octets apart: an entry or EEE_IDLE */
	EEE_WINDOW = 0x2000,
};

enum {
	/* The calendar runs all the time and does not wait for a port to sleep. The unit's clock
	 * determines the current slot, so starting resets nothing. */
	EEE_CONTROL_RUN = 1u << 0,
	EEE_CONTROL_INTERRUPT = 1u << 1, /* while the report buffer holds something */
	/* Read only: the calendar names an entry again before its SRAM write is done, or an entry
	 * that does not exist, or has no slot: the unit did not start. */
	EEE_CONTROL_BAD_CALENDAR = 1u << 2,
};
#define EEE_IDLE 0xffffu

enum {
	EEE_GEOMETRY_PORTS_SHIFT = 0, /* ports, 8 bits */
	EEE_GEOMETRY_EVENT_SHIFT = 8, /* width of the event count, 8 bits */
	EEE_GEOMETRY_DURATION_SHIFT = 16, /* width of the duration count, 8 bits */
	EEE_GEOMETRY_LATENCY_SHIFT = 24, /* slots from an entry's SRAM read to its write, 8 bits */
	EEE_GEOMETRY_MASK = 0xff,
};

enum {
	EEE_REPORT_ENTRY_MASK = 0xff,
	EEE_REPORT_DURATION = 1u << 8, /* else the event count */
	EEE_REPORT_VALID = 1u << 31,
};

enum {
	EEE_STATE_ACC_MASK = 0x7fffffff, /* ns, below the unit */
};
#define EEE_STATE_LAST 0x80000000u /* asleep when last visited */

/* Values after reset, and defaults of a board. */
enum {
	EEE_DEFAULT_BITS = 16,
	EEE_DEFAULT_THRESHOLD = 0x8000,
	EEE_DEFAULT_UNIT_NS = 10000, /* K recommends 10 us */
	EEE_DEFAULT_SLOT_NS = 10,
	EEE_DEFAULT_LATENCY_SLOTS = 1,
};

#endif
