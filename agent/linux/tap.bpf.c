/*
 * The kernel's half of a tap: counts every frame of one port, and copies each frame that is to be
 * sampled into the ring. Runs at the port's tcx or clsact hooks and passes every frame on unchanged.
 * Each port has a copy of this program with its own registers. All ports share the ring.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "agent/linux/tap_shared.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, TAP_RING_OCTETS);
} ring SEC(".maps");

struct tap_registers registers;

_Static_assert((TAP_KEPT_OCTETS & (TAP_KEPT_OCTETS - 1)) == 0, "one less is a bit mask");

/* Takes the sample that is due, and has the next one due as far behind it as the shadow says. False: on
 * another processor another frame took it. */
static __always_inline bool
take_due(__u64 due)
{
	__u64 next;

	if (__sync_val_compare_and_swap(&registers.due, due, TAP_NOTHING_DUE) != due)
		return false;
	next = __sync_lock_test_and_set(&registers.shadow, 0);
	/* If the agent has just loaded a skip itself, this one becomes the shadow again. */
	if (next > 0 && __sync_val_compare_and_swap(&registers.due, TAP_NOTHING_DUE, due + next) != TAP_NOTHING_DUE)
		registers.shadow = next;
	return true;
}

static __always_inline void
copy_frame(struct __sk_buff *skb, unsigned direction, unsigned segments, __u64 pool)
{
	struct tap_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	unsigned octets = skb->len, more;

	if (!record) {
		__sync_fetch_and_add(&registers.lost, 1);
		return;
	}
	record->time_ns = bpf_ktime_get_ns();
	record->pool = pool;
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
tap_frame(struct __sk_buff *skb, unsigned direction)
{
	unsigned frames = skb->gso_segs > 1 ? skb->gso_segs : 1;
	__u64 pool = __sync_fetch_and_add(&registers.pool[direction], frames) + frames;
	__u64 passed = pool + registers.pool[!direction], due;

	/* A buffer of several segments may contain the next sample, too; never a third one, because only one
	 * skip was in the shadow. What is next is settled before the agent can see the sample, because the agent
	 * then fills the shadow. */
	for (int i = 0; i < 2; i++) {
		due = registers.due;
		if (passed < due || !take_due(due))
			break;
		copy_frame(skb, direction, frames, pool);
	}
	return TC_ACT_UNSPEC;
}

SEC("tc")
int
ease_tap_in(struct __sk_buff *skb)
{
	return tap_frame(skb, TAP_IN);
}

SEC("tc")
int
ease_tap_out(struct __sk_buff *skb)
{
	return tap_frame(skb, TAP_OUT);
}

char tap_license[] SEC("license") = "Dual BSD/GPL";
