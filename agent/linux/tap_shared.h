/*
 * What the kernel's half of a tap (tap.bpf.c) and the agent's (tap.c) share: a port's registers, in
 * memory both see, and a sample as it stands in the ring. The registers are an EASE chip's: a count
 * of frames until the next sample, a shadow one deep that follows it, and the pool of frames by
 * direction. Only atomic operations touch count and shadow.
 */
#ifndef EASE_AGENT_LINUX_TAP_SHARED_H
#define EASE_AGENT_LINUX_TAP_SHARED_H

#include <linux/types.h>

enum {
	TAP_KEPT_OCTETS = 256, /* of a frame: as much as ever is sent on (EASE_HEADER_MAX_OCTETS) */
	TAP_RING_OCTETS = 1 << 22,
	TAP_IN = 0,
	TAP_OUT = 1,
};

struct tap_registers {
	/* Frames until the next sample, that one included; 0 or below: it stands still, and what is
	 * below 0 passed since. */
	__s64 count;
	__s64 shadow; /* the next count; 0: empty */
	__u64 pool[2]; /* frames by direction, whether they were sampled or not */
	__u64 lost;  /* samples for which the ring had no room */
	__u32 epoch; /* the agent's: samples of an earlier one do not belong to what is loaded now */
};

enum tap_flags {
	TAP_FLAG_VLAN = 1, /* a tag that stands beside the octets, not among them */
	TAP_FLAG_LOCAL = 2, /* sent by this machine itself */
};

struct tap_record {
	__u64 time_ns; /* since the machine was started (CLOCK_MONOTONIC) */
	__u64 pool;    /* of its direction, this frame included */
	__u32 kernel_index;
	__u32 epoch;
	__u32 frame_octets; /* without FCS; of all segments of a frame not cut yet */
	__u16 segments;
	__u16 kept_octets;
	__u16 vlan_tci, vlan_protocol; /* protocol in network order */
	__u8 direction, flags;
	__u8 reserved[2];
	__u8 octets[TAP_KEPT_OCTETS];
};

#endif
