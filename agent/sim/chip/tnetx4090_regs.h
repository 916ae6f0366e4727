/*
 * Registers of TI's TNETX4090 (data sheet SPWS044E), as far as flow control, buffers and
 * statistics go. Driver and model both include this file, and neither includes the other.
 *
 * The host interface (DIO) is one byte wide: an offset is a DIO address and an access moves one
 * byte. The statistics' addresses are the data sheet's. All others are *assumed* (the Programmer's
 * Reference Guide SPAU003 was not found), and so are bit positions and that the lower byte comes
 * first.
 */
#ifndef EASE_AGENT_SIM_CHIP_TNETX4090_REGS_H
#define EASE_AGENT_SIM_CHIP_TNETX4090_REGS_H

enum {
	TNETX4090_PORTS = 9,
	TNETX4090_GIGABIT_PORT = 8, /* the only one that can be */
	TNETX4090_NM_PORT = 9,	    /* the host's own, reached through DIO; it has statistics */
	TNETX4090_WINDOW = 0x10000,
};

enum {
	TNETX4090_SYS_CONTROL = 0x0010,
	TNETX4090_FLOW_THRESHOLD = 0x0012, /* two bytes; in force with the second */
	TNETX4090_MCAST_LIMIT = 0x0014,	   /* two bytes of ports, then the step */
	TNETX4090_RING_PORTS = 0x0018,	   /* two bytes: ports, and holbrm */
	TNETX4090_STAT_CONTROL = 0x001c,
	TNETX4090_NM_FREEBUFFS = 0x0020, /* two bytes, read only: buffers in the global pool */
	TNETX4090_PORT_CONTROL = 0x0100, /* by port, one byte each */
	TNETX4090_PORT_STATUS = 0x0110,	 /* likewise, read only */
};

/* SysControl; 0 after reset (*assumed*). */
enum {
	TNETX4090_FLOW = 1u << 0,
	TNETX4090_HOLB = 1u << 1,
};

enum { TNETX4090_STAT_BIG_ENDIAN = 1u << 0 }; /* StatControl: byte 0 is the highest */
#define TNETX4090_RING_HOLBRM 0x8000u /* of RingPorts, both bytes */

/* Multicasts that may wait at a port: 2, 4, … 256 (page 57: eight binary steps). */
#define TNETX4090_MCAST_MAX(step) (2u << (step))
enum { TNETX4090_MCAST_STEPS = 8 };

/* PortxControl and PortxStatus */
enum {
	TNETX4090_PORT_NEG = 1u << 0, /* a written 1 starts negotiation */
	TNETX4090_PORT_REQHD = 1u << 1,
	TNETX4090_PORT_REQNP = 1u << 2, /* ask for no pause */
	TNETX4090_PORT_REQ10 = 1u << 3,

	TNETX4090_STATUS_DUPLEX = 1u << 0, /* full */
	TNETX4090_STATUS_PAUSE = 1u << 1,
	TNETX4090_STATUS_SPEED = 1u << 2, /* 100, or the gigabit port's 1000 */
	TNETX4090_STATUS_LINK = 1u << 3,
};

/* --- statistics (pages 24, 25, 27) --- */

/* Four bytes each. The read of byte 0 copies all of them to one holding register, and bytes 1 to 3
 * come from it. *assumed*: they wrap and are not cleared by reading; reserved ones read as 0. */
#define TNETX4090_STATISTICS 0x8000u
enum { TNETX4090_STAT_STRIDE = 0x80, TNETX4090_STATS_PER_PORT = 32 };
#define TNETX4090_STAT(port, offset)                                                               \
	(TNETX4090_STATISTICS + TNETX4090_STAT_STRIDE * (unsigned)(port) + (unsigned)(offset))

enum tnetx4090_stat {
	TNETX4090_RX_OCTETS = 0x00,
	TNETX4090_RX_GOOD = 0x04,
	TNETX4090_RX_BROADCAST = 0x08,
	TNETX4090_RX_MULTICAST = 0x0c,
	TNETX4090_RX_CRC_ERRORS = 0x10,
	/* Printed 84 for odd ports, which is good receive frames; *assumed* the regular 94. */
	TNETX4090_RX_ALIGN_CODE_ERRORS = 0x14,
	TNETX4090_RX_OVERSIZED = 0x18,
	TNETX4090_RX_JABBERS = 0x1c,
	TNETX4090_RX_UNDERSIZED = 0x20,
	TNETX4090_RX_FRAGMENTS = 0x24,
	TNETX4090_64_OCTETS = 0x28,
	TNETX4090_65_127_OCTETS = 0x2c,
	TNETX4090_128_255_OCTETS = 0x30,
	TNETX4090_256_511_OCTETS = 0x34,
	TNETX4090_512_1023_OCTETS = 0x38,
	TNETX4090_1024_1518_OCTETS = 0x3c,
	TNETX4090_NET_OCTETS = 0x40,
	TNETX4090_SQE_TEST_ERRORS = 0x44,
	TNETX4090_TX_OCTETS = 0x48,
	TNETX4090_TX_GOOD = 0x4c,
	TNETX4090_TX_SINGLE_COLLISION = 0x50,
	TNETX4090_TX_MULTIPLE_COLLISION = 0x54,
	TNETX4090_CARRIER_SENSE_ERRORS = 0x58,
	TNETX4090_TX_DEFERRED = 0x5c,
	TNETX4090_LATE_COLLISIONS = 0x60,
	TNETX4090_EXCESSIVE_COLLISIONS = 0x64,
	TNETX4090_TX_BROADCAST = 0x68,
	/* Printed "filtered receive frames", as the next one is; *assumed* this. */
	TNETX4090_TX_MULTICAST = 0x6c,
	TNETX4090_RX_FILTERED = 0x70,
	TNETX4090_TX_DATA_ERRORS = 0x74,
	TNETX4090_COLLISIONS = 0x78,
	TNETX4090_RX_OVERRUNS = 0x7c, /* *assumed* also: dropped for want of buffers */
};
_Static_assert(TNETX4090_STAT(7, TNETX4090_64_OCTETS) == 0x83a8, "the example of page 24");

/* --- emulation only: what the pool is doing --- */

/* Values inside the chip that no known page lets the host read. They are read like
 * statistics; times in microseconds; all but CHARGED and MOST_CHARGED wrap. */
#define TNETX4090_POOL 0x4000u
enum { TNETX4090_POOL_STRIDE = 0x40, TNETX4090_POOL_PER_PORT = 8 };
#define TNETX4090_POOL_AT(port, offset)                                                            \
	(TNETX4090_POOL + TNETX4090_POOL_STRIDE * (unsigned)(port) + (unsigned)(offset))
enum tnetx4090_pool {
	TNETX4090_CHARGED = 0x00, /* buffers that hold data that arrived on the port */
	TNETX4090_MOST_CHARGED = 0x04, /* the most there ever were */
	TNETX4090_PRESSED_EPISODES = 0x08, /* times back pressure began */
	TNETX4090_PRESSED_US = 0x0c,	   /* and how long it was on, the present time included */
	TNETX4090_PAUSES_SENT = 0x10,
	TNETX4090_MCAST_LEFT_OUT = 0x14, /* multicasts not routed to the port: MCastLimit */
};
/* Global: behind the ports, at TNETX4090_POOL_AT(TNETX4090_PORTS, …). */
enum tnetx4090_pool_global {
	TNETX4090_POOL_BUFFERS = 0x00, /* N */
	TNETX4090_POOL_LEAST_FREE = 0x04,
	TNETX4090_POOL_BUFFER_OCTETS = 0x08,
	TNETX4090_POOL_FREE = 0x0c, /* as NM_FREEBUFFS, but read whole */
};

/* --- choices for what was not found --- */

enum {
	TNETX4090_DEFAULT_BUFFERS = 1200, /* *assumed*: the size of the tests' pool */
	TNETX4090_DEFAULT_BUFFER_OCTETS = 64, /* *assumed*: 24 hold the longest frame */
	/* *assumed*: a partner is told to pause for the longest time possible, again after half of it,
	 * and released with a time of 0. */
	TNETX4090_PAUSE_TIME = 0xffff, /* units of 512 bit times */
};

#endif
