/*
 * The kernel's half of a tap: counts every frame of one port, and copies the one whose turn it is
 * into the ring. Runs at the port's tcx or clsact hooks and leaves every frame to whatever comes after.
 * Each port has a copy of this program with registers of its own; the ring is everybody's.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#include "agent/linux/tap_shared.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, TAP_RING_OCTETS);
} ring SEC(".maps");

struct tap_registers registers;

_Static_assert((TAP_KEPT_OCTETS & (TAP_KEPT_OCTETS - 1)) == 0, "its predecessor is a mask");

/* Frames on several processors count at once: whoever takes the count from above 0 to 0 or below is
 * the one that samples, and what passes before the next count is there is part of its period. */
static __always_inline __s64
next_count(void)
{
	__s64 next = __sync_lock_test_and_set(&registers.shadow, 0);
	__s64 before;

	if (next == 0)
		return 0;
	before = __sync_fetch_and_add(&registers.count, next);
	if (before > 0) { /* the agent has set it going itself, this very moment */
		__sync_fetch_and_add(&registers.count, -next);
		registers.shadow = next;
		return before;
	}
	return before + next;
}

static __always_inline void
copy_frame(struct __sk_buff *skb, unsigned direction, unsigned segments)
{
	struct tap_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	unsigned octets = skb->len, more;

	if (!record) {
		__sync_fetch_and_add(&registers.lost, 1);
		return;
	}
	record->time_ns = bpf_ktime_get_ns();
	record->pool = registers.pool[direction];
	record->kernel_index = skb->ifindex;
	record->epoch = registers.epoch;
	record->frame_octets = octets;
	record->segments = segments;
	record->vlan_tci = skb->vlan_tci;
	record->vlan_protocol = skb->vlan_proto;
	record->direction = direction;
	record->flags = (skb->vlan_present ? TAP_FLAG_VLAN : 0) |
	    (direction == TAP_OUT && skb->sk ? TAP_FLAG_LOCAL : 0);
	if (octets > TAP_KEPT_OCTETS)
		octets = TAP_KEPT_OCTETS;
	record->kept_octets = octets;
	/* One octet and as many again: kernels up to 6.1 do not see that a number is not 0 by itself,
	 * and the compiler must not see that this is the same number. */
	more = octets - 1;
	barrier_var(more);
	more &= TAP_KEPT_OCTETS - 1;
	if (bpf_skb_load_bytes(skb, 0, record->octets, more + 1) < 0)
		record->kept_octets = 0;
	bpf_ringbuf_submit(record, 0);
}

static __always_inline int
tap(struct __sk_buff *skb, unsigned direction)
{
	__s64 frames = skb->gso_segs > 1 ? skb->gso_segs : 1;
	__s64 before, left;

	__sync_fetch_and_add(&registers.pool[direction], frames);
	before = __sync_fetch_and_add(&registers.count, -frames);
	if (before <= 0 || before > frames)
		return TC_ACT_UNSPEC;
	/* Before the agent can see the sample: it answers by filling the shadow. */
	left = next_count();
	copy_frame(skb, direction, frames);
	/* What is many frames yet may hold the next sample, too; the shadow holds no more than one. */
	if (left < 0)
		copy_frame(skb, direction, frames);
	return TC_ACT_UNSPEC;
}

SEC("tc")
int
ease_tap_in(struct __sk_buff *skb)
{
	return tap(skb, TAP_IN);
}

SEC("tc")
int
ease_tap_out(struct __sk_buff *skb)
{
	return tap(skb, TAP_OUT);
}

char tap_license[] SEC("license") = "Dual BSD/GPL";
