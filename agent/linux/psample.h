/*
 * The kernel's psample family: parses its messages, tracks their sequence numbers to count lost samples
 * (both pure: no socket, no clock), and sets the filters that make the kernel sample a port.
 *
 * The kernel decides for each frame independently whether to sample it, with a probability of one in
 * rate. It numbers the samples of a group 0, 1, 2 and so on before it sends them, so a sample that
 * found no room in the socket leaves a gap. Processors that sample at the same time may send in
 * another order than they number.
 *
 * Attributes are defined in linux/psample.h. psample does not report a VLAN tag that the kernel keeps
 * apart from the frame.
 */
#ifndef EASE_AGENT_LINUX_PSAMPLE_H
#define EASE_AGENT_LINUX_PSAMPLE_H

#include "agent/linux/netlink.h"
#include "common/sample.h"

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PSAMPLE_WINDOW = 8 }; /* a late sample is awaited until so many later ones have come */

struct psample_record {
	uint32_t group;
	uint32_t number; /* sequence number within the group */
	uint32_t rate;	 /* one frame in so many is sampled; 1 or more */
	uint32_t frame_octets; /* without FCS; of a frame not yet cut into segments, of all of them */
	bool has_input;	  /* it was received at an interface, not sent by this machine itself */
	bool has_output;  /* the interface by which it leaves is known */
	uint16_t input_index, output_index; /* of these, the last 16 bits of the kernel's numbers */
	struct ease_way way; /* without time_ns, which is a clock's that may be another */
	uint64_t time_ns; /* by a clock of the kernel's that no header specifies; 0: not known */
	const uint8_t *octets; /* the frame, from its destination address on; inside the message */
	size_t kept_octets;
};

/* type is that of the psample family. -ENOMSG: a message of another family, or no sample; -EPROTO: it is
 * damaged, or lacks an attribute that every sample has. */
int psample_parse(const struct nlmsghdr *message, uint16_t type, struct psample_record *record);

/* When the frame was sampled, by the wall clock: as the message says, if that is of the last half minute, else
 * now_us, because the time is of another clock, or not known. */
uint64_t psample_time_us(const struct psample_record *record, uint64_t now_us);

/* The sequence numbers of one group. Zeroed for a new group. */
struct psample_sequence {
	uint32_t next;	  /* the highest number received, plus one */
	uint32_t missing; /* bit i: number next - 1 - i is missing, i < PSAMPLE_WINDOW */
};

/* Records a number, and returns how many samples count as lost now: missing ones that have left the
 * window. */
uint32_t psample_sequence_update(struct psample_sequence *sequence, uint32_t number);
/* Stops waiting for late samples, and returns how many count as lost. */
uint32_t psample_sequence_finish(struct psample_sequence *sequence);

/* ---- filters ----
 * The filters that make the kernel sample one port by psample: matchall with `action sample` at clsact,
 * one for received and one for sent frames, set by rtnetlink. If the port's driver offloads them, the
 * switch hardware samples.
 *
 * Each filter has its own psample group, so that a message identifies port and direction, and a gap in
 * the group's sequence numbers is a loss at that port and direction. A new rate takes new groups, whose
 * numbers begin at 0. We recognize our filters by handle, place and group, also those that an earlier,
 * killed agent left. */

struct psample_filter {
	uint32_t kernel_index;
	uint32_t epoch; /* increased at each change of the rate */
	uint32_t rate;	/* 0: no filter is installed */
	bool hardware;	/* in the driver's hardware only */
	bool made_hook;
};

/* The group of a direction at the current epoch. The groups of the last eight epochs differ. */
uint32_t psample_filter_group(const struct psample_filter *filter, bool out);
/* Whether the group is ours, and of which port and direction. */
bool psample_filter_of_group(uint32_t group, uint32_t *kernel_index, bool *out);

/* Tests whether a port can be sampled this way, by adding a filter and removing it. -EOPNOTSUPP: the
 * driver cannot (hardware); -ENOENT: the kernel has no matchall or no `action sample`; -EPERM; -ERANGE:
 * the kernel index does not fit into a group number. */
int psample_filter_try(struct netlink *netlink, uint32_t kernel_index, bool hardware);

/* Samples one frame in rate from now on; 0 stops sampling. After a failure none is sampled. */
int psample_filter_set(struct netlink *netlink, struct psample_filter *filter, uint32_t rate);
/* Whether nobody has removed one of them, or the hook with both; true, too, if the kernel does not answer. */
bool psample_filter_is_there(struct netlink *netlink, const struct psample_filter *filter);
/* Removes both filters, and the hook if it was created for them and has no other filter. */
void psample_filter_remove(struct netlink *netlink, struct psample_filter *filter);
/* Removes filters that an earlier, killed agent left. True if there were any. */
bool psample_filter_clean(struct netlink *netlink, uint32_t kernel_index);

#endif
