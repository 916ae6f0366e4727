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

_Static_assert((TAP_SKIPS & (TAP_SKIPS - 1)) == 0, "one less is a bit mask");

/* Takes the sample that is due, and has the next one due as far behind it as the shadow says. False: on
 * another processor another frame took it. */
static __always_inline bool
take_due(__u64 due)
{
	__u64 first, next = TAP_NOTHING_DUE;

	if (__sync_val_compare_and_swap(&registers.due, due, TAP_BEING_SET) != due)
		return false;
	first = registers.first;
	if (first != __sync_fetch_and_add(&registers.end, 0)) {
		next = due + registers.shadow[first & (TAP_SKIPS - 1)];
		registers.first = first + 1;
	}
	__sync_lock_test_and_set(&registers.due, next);
	return true;
}

static __always_inline void
copy_frame(struct __sk_buff *skb, struct tap_record *record, unsigned direction, unsigned segments, __u64 pool)
{
	unsigned octets = skb->len, more;

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
	struct tap_record *record;

	/* A buffer of several segments may contain more samples, as many as skips are loaded. What is next is settled before
	 * the agent can see the sample, because the agent then loads a skip. Where the ring is full, a later frame is sampled. */
	for (int i = 0; i <= TAP_SKIPS; i++) {
		due = registers.due;
		if (passed < due)
			break;
		record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
		if (!record)
			break;
		if (!take_due(due)) {
			bpf_ringbuf_discard(record, 0);
			break;
		}
		copy_frame(skb, record, direction, frames, pool);
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
