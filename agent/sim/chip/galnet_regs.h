/*
 * Registers, messages and address table of the Galileo GalNet switch controllers GT-48001A
 * (eight 10 Mb/s ports) and GT-48002A (two 10/100 ports). Driver and model both include this
 * file, and neither includes the other.
 *
 * Offsets are octets in a device's 4 MB slice of the GalNet protocol region. What no public
 * document says is one constant here, marked *assumed*; the data sheets (GT-48002A rev 1.2
 * pages 24-26 and 61-64, GT-48001A rev 1.6 pages 16-23 and 59-62) are named for the rest.
 */
#ifndef EASE_AGENT_SIM_CHIP_GALNET_REGS_H
#define EASE_AGENT_SIM_CHIP_GALNET_REGS_H

#include <stdint.h>

enum {
	GALNET_MAX_PORTS = 8,
	GT48001A_PORTS = 8,
	GT48002A_PORTS = 2,
	GALNET_MAX_DEVICES = 32, /* the CPU is one of them */
};

/* The slice of device n begins at GALNET_REGION + n * GALNET_SLICE (reset value of the base). */
#define GALNET_REGION 0x08000000u
#define GALNET_SLICE  0x00400000u

/* --- registers --- */

/* Interrupt Cause and Mask: printed for the GT-48002A (page 62); *assumed* at the same place on
 * the GT-48001A, and *assumed* to lie in the slice rather than in PCI configuration space. */
#define GALNET_CAUSE	   0x044u
#define GALNET_MASK	   0x048u
/* GT-48001A only (page 60). The GT-48002A has these bits in Cause and Mask. */
#define GT48001A_EASE_CAUSE 0x050u
#define GT48001A_EASE_MASK  0x054u
/* Port MIB counters: 0x040000-0x0401FC on the GT-48001A (page 83), so 16 words a port; *assumed* the
 * same base on the GT-48002A, with all 22. */
#define GALNET_MIB 0x040000u
/* One word a port. Printed for port 0 of the GT-48002A (page 61); *assumed* the same address on
 * the GT-48001A, where the eight offsets were not found. */
#define GALNET_EASE_REGISTER	   0x040228u
#define GALNET_GLOBAL_CONTROL	   0x140028u
#define GALNET_BUFFER_BASE	   0x140034u /* CBA first, CBAS from then on */
#define GALNET_NEW_ADDRESS_BASE	   0x140040u /* *assumed* */
#define GALNET_ERROR_SOURCE_BASE   0x140050u /* page 63; *assumed* the same on the GT-48001A */
#define GALNET_NEW_ADDRESS_LOST	   0x140060u /* *assumed*: messages overrun; a read zeroes it */
#define GALNET_ADDRESS_DISCARDS	   0x140064u /* *assumed*: not learned, table full; as above */
#define GALNET_PACKETS_LOST	   0x140068u /* *assumed*: for the CPU, no buffer free; as above */
#define GALNET_ERROR_SOURCE_LOST   0x14006cu /* *assumed*: messages overrun; as above */
#define GALNET_CPU_NUMBERS	   0x140070u /* CPU and Sniffer Numbers; *assumed* here */
#define GALNET_PORT_CONTROL	   0x140080u /* *assumed*: one word a port */
#define GALNET_PORT_STATUS	   0x1400c0u /* *assumed*: one word a port */
#define GALNET_COMMAND		   0x140100u /* *assumed*: one word a port */
#define GALNET_ADDRESS_TABLE	   0x200000u /* *assumed*: the table's part of the DRAM */

/* Cause and Mask bits, all *assumed*. A written 1 clears a Cause bit; a set Mask bit lets its
 * interrupt through; both are 0 after reset. */
enum {
	GALNET_CAUSE_PACKET = 1u << 0,	     /* a packet or sample is in the CPU's memory */
	GALNET_CAUSE_BUF_WRAP = 1u << 1,     /* the sixteenth of its area */
	GALNET_CAUSE_NEW_ADDRESS = 1u << 2,
	GALNET_CAUSE_RECOGNITION = 1u << 3,  /* the address table was full */
	GALNET_CAUSE_ERROR_SOURCE = 1u << 4,
	GALNET_CAUSE_LINK = 1u << 5,	     /* the link of some port changed */
};
enum {
	GT48002A_EASE_SHIFT = 16, /* *assumed* in Cause and Mask */
	GT48001A_EASE_SHIFT = 0,  /* *assumed* in EASE Cause and EASE Mask */
};
/* The value an EASE Cause bit has while that port's Ease_Register is empty. The GT-48002A's page
 * 61 says the bit is reset to show it, page 62 that setting it interrupts; *assumed* 0, and the
 * interrupt to come with the change to empty and to stay until a 1 is written to the bit. */
#define GALNET_EASE_BIT_WHEN_EMPTY 0
/* *assumed*: a value that goes straight to an idle counter does not interrupt: it has never been
 * waiting, and the CPU that wrote it knows. */
#define GALNET_EASE_STRAIGHT_THROUGH_INTERRUPTS 0

/* Global Control (GT-48002A page 24, GT-48001A pages 16 and 83) */
enum {
	GALNET_CONTROL_UNKNOWN_TO_CPU = 1u << 6, /* this and all that follow need CPU_PRESENT */
	GALNET_CONTROL_NEW_ADDRESS_TO_CPU = 1u << 7,
	GALNET_CONTROL_CPU_PRESENT = 1u << 10,
	/* *assumed* position. *assumed* effect of clearing: counters and shadows become empty. */
	GALNET_CONTROL_EASE_ENABLE = 1u << 12,
	GALNET_CONTROL_SPAN_ENABLE = 1u << 13, /* SpanEn; *assumed* position */
	/* *assumed*: page 24 has multicast go to a CPU that is present; here it must ask for it. */
	GALNET_CONTROL_MULTICAST_TO_CPU = 1u << 14,
	/* To no port. What the CPU then sends to ports (BUFFER_REQUEST) is not modelled. */
	GALNET_CONTROL_MULTICAST_ONLY_TO_CPU = 1u << 22,
	GALNET_CONTROL_MIB_KEEP = 1u << 30, /* MIBClrMode: 0 = a read zeroes a MIB counter */
	GALNET_CONTROL_RESET = 0, /* *assumed* */
};

enum {
	GALNET_PORT_CONTROL_ENABLE = 1u << 0, /* *assumed*; 1 after reset */
	GT48002A_PORT_CONTROL_MONITOR = 1u << 2, /* page 59 */
	GT48001A_PORT_CONTROL_MONITOR = 1u << 4, /* page 57 */
	/* SpanEn of the port, *assumed* position. The table of states was not found: *assumed* that
	 * with the global bit too the port only takes BPDUs in, for the CPU, neither learns nor
	 * counts for EASE, and sends nothing. */
	GALNET_PORT_CONTROL_SPAN = 1u << 8,
	/* DisBroad, *assumed* position: broadcasts that come in by this port go nowhere. */
	GALNET_PORT_CONTROL_NO_BROADCAST = 1u << 9,
	GALNET_PORT_STATUS_LINK = 1u << 0,    /* *assumed* */
	/* Packets whose unicast destination is unknown leave by this port, too (GT-48001A page 16);
	 * *assumed* on the GT-48002A, too, and set after reset. */
	GALNET_COMMAND_TAKES_UNKNOWN = 1u << 4,
};

/* CPU and Sniffer Numbers, *assumed* layout: packets of a monitored port go to a port of a device, or
 * to the CPU if the device is the CPU's. A sniffed packet does not count for EASE where the
 * copy leaves (*assumed*: page 64 forbids both together). */
enum {
	GALNET_NUMBERS_CPU_MASK = 31, /* bits 4:0; *assumed* 31 after reset */
	GALNET_NUMBERS_SNIFFER_SHIFT = 8, /* device, 5 bits */
	GALNET_NUMBERS_SNIFFER_PORT_SHIFT = 16, /* 3 bits */
	GALNET_NUMBERS_RESET = 31 | 31 << GALNET_NUMBERS_SNIFFER_SHIFT,
	GALNET_NUMBERS_BITS = 31 | 31 << GALNET_NUMBERS_SNIFFER_SHIFT |
	    7 << GALNET_NUMBERS_SNIFFER_PORT_SHIFT,
};

/* MIB counters of a port in the order of GT-48004A page 60, which is *assumed* for these chips; the
 * GT-48001A has room for the first sixteen. Size classes count good and bad frames received, as in
 * RMON (*assumed*). */
enum galnet_mib {
	GALNET_MIB_BYTES_RECEIVED, /* good */
	GALNET_MIB_BYTES_SENT,
	GALNET_MIB_FRAMES_RECEIVED, /* good */
	GALNET_MIB_FRAMES_SENT,
	GALNET_MIB_TOTAL_BYTES_RECEIVED, /* good and bad */
	GALNET_MIB_TOTAL_FRAMES_RECEIVED,
	GALNET_MIB_MULTICAST_RECEIVED,
	GALNET_MIB_BROADCAST_RECEIVED,
	GALNET_MIB_CRC_ERROR,
	GALNET_MIB_OVERSIZE,
	GALNET_MIB_FRAGMENTS,
	GALNET_MIB_JABBER,
	GALNET_MIB_COLLISION,
	GALNET_MIB_LATE_COLLISION,
	GALNET_MIB_64,
	GALNET_MIB_65_127,
	GALNET_MIB_128_255,
	GALNET_MIB_256_511,
	GALNET_MIB_512_1023,
	GALNET_MIB_1024_MAX,
	GALNET_MIB_RECEIVE_ERROR,
	GALNET_MIB_DROPPED,
	GALNET_N_MIB,
	GT48001A_N_MIB = 16
};

/* Ease_Register: 20 bits of skip count; the rest is reserved, *assumed* to be ignored. A value of
 * 0 is *assumed* to sample the very next packet. A read is *assumed* to give what the counter has
 * left to skip, 0 if it is empty. */
#define GALNET_EASE_COUNT_MASK 0xfffffu

/* *assumed*: a packet that is switched between two ports of one chip counts on its egress port
 * too, as packets that come over PCI do. */
#define GALNET_EASE_COUNTS_LOCAL_EGRESS 1

/* --- receive buffers in the CPU's memory (pages 23 and 63) --- */

/* CBAS that was not refilled in time: *assumed* that the chip delivers nothing more, losing the
 * packets it has for the CPU, until a base is written; that one is CBA again. */

enum {
	GALNET_BLOCK_OCTETS = 2048,
	GALNET_AREA_BLOCKS = 16,
	GALNET_AREA_OCTETS = GALNET_AREA_BLOCKS * GALNET_BLOCK_OCTETS,
	GALNET_BLOCK_DATA = 32, /* the packet starts at this octet */
	GALNET_BLOCK_DATA_MAX = GALNET_BLOCK_OCTETS - GALNET_BLOCK_DATA,
	/* Word 1 is free for software. Emulation only: a capture can hold less of a packet than was
	 * on the wire, and the model writes here how many octets are real. The driver zeroes it
	 * before it hands a block over, and 0 means all, as a real chip leaves it. */
	GALNET_BLOCK_REAL_OCTETS = 4,
};

/* Word 0, written after the data. Words are little-endian (*assumed*: PCI's order). */
enum {
	GALNET_WORD0_VALID = 1u << 0,
	GALNET_WORD0_COUNT_SHIFT = 1, /* 11 bits; *assumed* to count the FCS, whose octets are not
				       * written (*assumed*) */
	GALNET_WORD0_COUNT_MASK = 0x7ff,
	GALNET_WORD0_SOURCE_SHIFT = 12, /* 3 bits; 1 on the GT-48002A */
	GALNET_WORD0_SOURCE_MASK = 7,
	/* The packet came in by this chip's own link; *assumed* set for every such sample, also of
	 * one that was not bound for the CPU. */
	GALNET_WORD0_ORIGINAL = 1u << 15,
	GALNET_WORD0_EASE_SHIFT = 16, /* one bit a port: its counter took the sample */
};
#define GALNET_WORD0_SNIFFER 0x80000000u
enum { GALNET_FCS_OCTETS = 4 };

/* --- message areas in the CPU's memory --- */

/* NEW_ADDRESS and Error_Source: a ring of 32 entries (page 63 for Error_Source, said there to
 * work alike). *assumed*: four words an entry; the chip fills them in order, sets the valid mark
 * with the last word written, and drops and counts a message whose entry is still valid. */
enum {
	GALNET_RING_ENTRIES = 32,
	GALNET_RING_ENTRY_OCTETS = 16,
	GALNET_RING_OCTETS = GALNET_RING_ENTRIES * GALNET_RING_ENTRY_OCTETS,
};
/* *assumed* layout: word 0 = first four octets of the MAC, the first one on top; word 1 = last
 * two in bits 31:16, then */
enum {
	GALNET_ENTRY_DEVICE_SHIFT = 8, /* 5 bits */
	GALNET_ENTRY_DEVICE_MASK = 31,
	GALNET_ENTRY_PORT_SHIFT = 4, /* 3 bits */
	GALNET_ENTRY_PORT_MASK = 7,
	GALNET_ENTRY_VALID = 1u << 0,
	/* address table only */
	GALNET_ENTRY_AGING = 1u << 1, /* the address was used; software clears it */
	GALNET_ENTRY_STATIC = 1u << 2,
	/* Unicast to this address is for the CPU alone (intervention mode, page 7). *assumed*: it
	 * comes by the receive buffers; the CPU's ways to send it on are not modelled. */
	GALNET_ENTRY_INTERVENTION = 1u << 13,
	/* Error_Source only: what was wrong */
	GALNET_ENTRY_TOO_LONG = 1u << 3, /* else a bad FCS */
};

/* --- address table --- */

/* *assumed*: 1,024 buckets of eight entries, two words each as above; an address that finds its
 * bucket full stays unknown (flooded), is counted and raises RECOGNITION. Software changes an entry
 * by writing its words; clearing VALID removes it. */
enum {
	GALNET_BUCKETS = 1024,
	GALNET_BUCKET_ENTRIES = 8,
	GALNET_TABLE_ENTRIES = GALNET_BUCKETS * GALNET_BUCKET_ENTRIES,
	GALNET_ENTRY_OCTETS = 8,
};

/* *assumed* hash: the bucket of an address (48 bits, first octet on top). */
static inline unsigned
galnet_bucket(uint64_t mac)
{
	return (unsigned)(mac * 0x9e3779b97f4a7c15ull >> 54);
}

static inline uint32_t
galnet_entry_word_0(uint64_t mac)
{
	return (uint32_t)(mac >> 16);
}

static inline uint32_t
galnet_entry_word_1(uint64_t mac, unsigned device, unsigned port, uint32_t flags)
{
	return (uint32_t)(mac & 0xffff) << 16 | (uint32_t)device << GALNET_ENTRY_DEVICE_SHIFT |
	    (uint32_t)port << GALNET_ENTRY_PORT_SHIFT | flags;
}

static inline uint64_t
galnet_entry_mac(uint32_t word_0, uint32_t word_1)
{
	return (uint64_t)word_0 << 16 | word_1 >> 16;
}

static inline unsigned
galnet_entry_device(uint32_t word_1)
{
	return word_1 >> GALNET_ENTRY_DEVICE_SHIFT & GALNET_ENTRY_DEVICE_MASK;
}

static inline unsigned
galnet_entry_port(uint32_t word_1)
{
	return word_1 >> GALNET_ENTRY_PORT_SHIFT & GALNET_ENTRY_PORT_MASK;
}

#endif
