/*
 * The kernel's half of a tap: counts every frame of one port, and copies each frame that is to be
 * sampled into the ring. Runs at the port's tcx or clsact hooks and passes every frame on unchanged.
 * Each port has a copy of this program with its own registers. All ports share the ring.
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

_Static_assert((TAP_KEPT_OCTETS & (TAP_KEPT_OCTETS - 1)) == 0, "one less is a bit mask");

/* Loads the next count from the shadow and returns the new count. Frames on several processors are
 * counted at the same time: the frame that lowers count from above 0 to 0 or below is the sample, and
 * frames that pass before the next count is loaded belong to the next period. */
static __always_inline __s64
next_count(void)
{
	__s64 next = __sync_lock_test_and_set(&registers.shadow, 0);
	__s64 before;

	if (next == 0)
		return 0;
	before = __sync_fetch_and_add(&registers.count, next);
	if (before > 0) { /* the agent has just loaded a count itself: this one becomes the shadow */
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
	/* The verifier of kernels up to 6.1 does not know that octets is not 0, but it does know that
	 * more + 1 is not. barrier_var keeps the compiler from turning that back into octets. */
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
	/* Done before the agent can see the sample, because the agent then fills the shadow. */
	left = next_count();
	copy_frame(skb, direction, frames);
	/* A buffer of several segments may contain the next sample, too; never a third one, because only one
	 * count was in the shadow. */
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
