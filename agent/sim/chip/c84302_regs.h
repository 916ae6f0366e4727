/*
 * Registers of the SEEQ / LSI 84302 quad Ethernet MAC, as far as its management counters go
 * (SEEQ MD400171/C page 4-32, LSI L84302 manual table 12). Driver and model both include this
 * file, and neither includes the other.
 *
 * Offsets are octets in one port's window; registers are 16 bits wide and lie at A[7:1]. What no
 * public document says is one constant here, marked *assumed*.
 */
#ifndef EASE_AGENT_SIM_CHIP_C84302_REGS_H
#define EASE_AGENT_SIM_CHIP_C84302_REGS_H

enum {
	C84302_PORTS = 4,
	C84302_COUNTERS = 51,
	C84302_STATUS_REGS = 7,
	/* *assumed* how the host selects a port: a window a port, one behind the other. */
	C84302_PORT_STRIDE = 0x100,
	C84302_WINDOW = C84302_PORTS * C84302_PORT_STRIDE,
};

/* Counter n (1..51) is at A[7:1] = n + 22; both 16-bit halves at the same address, high first. */
#define C84302_COUNTER(n) (2u * ((n) + 22u))

/* *assumed* addresses: they lie below the counters, A[7:1] 0x00..0x16. */
enum {
	C84302_CONFIG_3 = 0x06,
	C84302_CONFIG_4 = 0x08,
	C84302_CONFIG_5 = 0x0a,
	C84302_STATUS_0 = 0x10,	      /* Counter Status 0..6, two octets apart */
	C84302_INT_ENABLE_1 = 0x1e,   /* Counter Interrupt Enable 1..7, two octets apart */
};

/* A counter read: high part first, on the 8-bit bus octet by octet (*assumed*: highest first).
 * *assumed*: an access to any other register of the port ends it, so that the next read latches
 * afresh; and a reset by reading happens when the counter is copied to the holding registers, so
 * no event is lost. Reading a counter does not clear its half-full bit. */

/* *assumed* bit positions, and that these registers have no more than eight bits. */
enum {
	C84302_CONFIG_3_RESET_ON_READ = 1u << 0,
	C84302_CONFIG_3_STOP_AT_MAX = 1u << 1, /* "counter rollover", set: no rollover */
	C84302_CONFIG_4_COUNTER_RESET = 1u << 0, /* 1 after chip reset: nothing counts */
	C84302_CONFIG_4_MAX_SELECT = 1u << 1,	/* 0: 1518; 1: 1518 + size bits */
	C84302_CONFIG_5_MAX_SIZE = 0x0fu,
};

/* Counter n owns this bit of this status and mask register. *assumed*: 51 bits in seven 8-bit
 * registers, in order. A set mask bit suppresses the interrupt, in spite of the register's name. */
#define C84302_STATUS_REG(n) (((n) - 1u) / 8u)
#define C84302_STATUS_BIT(n) (1u << ((n) - 1u) % 8u)

enum {
	C84302_MASK_RESET = 0xff, /* *assumed*: every counter interrupt masked after reset */
	C84302_MIN_OCTETS = 64,	  /* of a legal frame, FCS in */
	C84302_MAX_OCTETS = 1518, /* default MAX; up to 15 more can be selected */
	C84302_PREAMBLE_OCTETS = 8, /* what counters 30 and 31 add; *assumed* with the SFD */
};
#define C84302_HALF_FULL 0x80000000u

/* Counters by number (LSI table 12). Numbers 33, 38 and 43..47 are *assumed* (inferred). */
enum c84302_counter {
	C84302_DROP_EVENTS = 1,
	C84302_CRC_ALIGN_ERRORS, C84302_UNDERSIZE_PKTS, C84302_OVERSIZE_PKTS, C84302_FRAGMENTS,
	C84302_JABBERS, C84302_RX_OCTETS, C84302_RX_PKTS, C84302_RX_BCAST, C84302_RX_MCAST,
	C84302_RX_64, C84302_RX_65_127, C84302_RX_128_255, C84302_RX_256_511,
	C84302_RX_512_1023, C84302_RX_1024_MAX,
	C84302_TX_OCTETS, C84302_TX_PKTS, C84302_TX_BCAST, C84302_TX_MCAST,
	C84302_TX_64, C84302_TX_65_127, C84302_TX_128_255, C84302_TX_256_511,
	C84302_TX_512_1023, C84302_TX_1024_MAX,
	C84302_COLLISIONS, C84302_OUT_DISCARDS, C84302_OUT_ERRORS,
	C84302_IN_OCTETS_PREAMBLE, C84302_OUT_OCTETS_PREAMBLE, C84302_RX_UCAST, C84302_TX_UCAST,
	C84302_SINGLE_COLLISION, C84302_MULTIPLE_COLLISION, C84302_FCS_ERRORS,
	C84302_ALIGNMENT_ERRORS, C84302_TX_GOOD_OCTETS, C84302_DEFERRED, C84302_LATE_COLLISIONS,
	C84302_EXCESSIVE_COLLISIONS, C84302_CARRIER_SENSE_ERRORS, C84302_RX_GOOD_OCTETS,
	C84302_EXCESSIVE_DEFERRAL, C84302_IN_RANGE_LENGTH, C84302_OUT_OF_RANGE_LENGTH,
	C84302_SYMBOL_ERRORS, C84302_TX_PAUSE, C84302_RX_PAUSE, C84302_RX_UNKNOWN_OPCODE,
	C84302_SQE_TEST_ERRORS,
};
_Static_assert((int)C84302_SQE_TEST_ERRORS == (int)C84302_COUNTERS, "one number a counter");
_Static_assert(C84302_COUNTER(1) == 0x2e && C84302_COUNTER(51) == 0x92, "LSI table 12");

#endif
