/*
 * What the kernel's half of a tap (tap.bpf.c) and the agent's (tap.c) share: a port's registers, in
 * shared memory, and the format of a sample in the ring. The registers work like those of an EASE chip, but that
 * the one that counts down is the distance between two: the port's frames so far, which the pools count
 * anyway, and the frame that is due next; and that there are many shadows, because frames come in bursts and the agent
 * has to be woken. So a frame that is not sampled costs one atomic operation, on its pool. Only atomic operations change
 * what is shared between processors.
 */
#ifndef EASE_AGENT_LINUX_TAP_SHARED_H
#define EASE_AGENT_LINUX_TAP_SHARED_H

#include <linux/types.h>

enum {
	TAP_KEPT_OCTETS = 256, /* of a frame: the most that is ever sent (EASE_HEADER_MAX_OCTETS) */
	TAP_RING_OCTETS = 1 << 22,
	TAP_IN = 0,
	TAP_OUT = 1,
	TAP_SKIPS = 32, /* that wait: a power of two. Bursts of TCP over veth, sampled 1 in 100, are due some 10 at a time */
};

/* Above all pools. TAP_BEING_SET: whoever has put it there takes the next skip, and nobody else does. */
#define TAP_NOTHING_DUE ((__u64)-1)
#define TAP_BEING_SET ((__u64)-2)

struct tap_registers {
	__u64 pool[2]; /* frames by direction, whether they were sampled or not */
	/* The frame that is sampled next: the first with which both pools together reach this.
	 * TAP_NOTHING_DUE: no skip is loaded, and sampling is stalled. */
	__u64 due;
	/* How far behind due the next one is, and so on: those from `first` on are loaded, up to `end`, which the agent moves. */
	__u64 first, end;
	__u64 shadow[TAP_SKIPS];
	__u32 epoch; /* set by the agent; samples of an earlier epoch do not belong to the skips loaded now */
};

enum tap_flags {
	TAP_FLAG_VLAN = 1, /* the VLAN tag is in vlan_tci, not among the octets */
	TAP_FLAG_LOCAL = 2, /* sent by this machine itself */
};

struct tap_record {
	__u64 time_ns; /* since the machine started (CLOCK_MONOTONIC) */
	__u64 pool;    /* of its direction, this frame included */
	__u32 kernel_index;
	__u32 epoch;
	__u32 frame_octets; /* without FCS; if the frame is not cut into segments yet, of all of them */
	__u16 segments;
	__u16 kept_octets;
	__u16 vlan_tci, vlan_protocol; /* protocol in network order */
	__u8 direction, flags;
	__u8 reserved[2];
	__u8 octets[TAP_KEPT_OCTETS];
};

#endif
