/*
 * Messages of the kernel's psample family, and the numbers they carry: a sampled frame as a plain
 * struct, and an account of which numbers of a group have not come. Pure: messages in memory in,
 * structs and counts out.
 *
 * The kernel draws each frame by itself, one in rate, and numbers the samples of a group 0, 1, 2 and
 * so on before it hands them over; what finds no room in the socket is missing in the row. Processors
 * that sample at once may hand over in another order than they number.
 *
 * Numbers and meaning: linux/psample.h. Of a VLAN tag that the kernel keeps beside the frame, psample
 * tells nothing.
 */
#ifndef EASE_AGENT_LINUX_PSAMPLE_H
#define EASE_AGENT_LINUX_PSAMPLE_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PSAMPLE_WINDOW = 8 }; /* numbers back for which a late one is waited */

struct psample_record {
	uint32_t group;
	uint32_t number; /* within the group */
	uint32_t rate;	 /* one frame in so many; 1 or more */
	uint32_t frame_octets; /* without FCS; of a frame not cut into segments yet: all of them */
	bool has_input;	  /* it came in at an interface, and was not sent by this machine */
	uint64_t time_ns; /* by the kernel's clock, of which kind no header says; 0: not told */
	const uint8_t *octets; /* of the frame from its destination on; in the message */
	size_t kept_octets;
};

/* 0; -ENOMSG: another family's message than type, or no sample; -EPROTO: damaged, or without what
 * every sample has. */
int psample_parse(const struct nlmsghdr *message, uint16_t type, struct psample_record *record);

/* Begins zeroed, with a group that is new. */
struct psample_sequence {
	uint32_t next;	  /* number, one beyond the highest that has come */
	uint32_t missing; /* bit i: next - 1 - i has not come, i < PSAMPLE_WINDOW */
};

/* Takes a number, and says how many are given up for lost now: those that fell out of the window. */
uint32_t psample_sequence_update(struct psample_sequence *sequence, uint32_t number);
/* Nothing more is awaited: how many are lost for that. */
uint32_t psample_sequence_finish(struct psample_sequence *sequence);

#endif
