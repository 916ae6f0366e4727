/*
 * Reads the frames that a network interface receives, as the input of a board's port. Uses libpcap in
 * promiscuous mode; needs CAP_NET_RAW. Never waits.
 *
 * With receive offloads the kernel joins frames, so that they look longer than they were: turn gro and
 * lro off at the interface (ethtool -K) for true sizes.
 */
#ifndef EASE_AGENT_SIM_LIVE_INPUT_H
#define EASE_AGENT_SIM_LIVE_INPUT_H

#include "agent/sim/savefile.h"

struct live_input;

enum {
	LIVE_INPUT_BATCH = 64,
	LIVE_INPUT_SNAP_OCTETS = 2048, /* the longest frame of any board, and room for tags */
	LIVE_INPUT_KERNEL_OCTETS = 4 << 20, /* the kernel's buffer: 40 ms of a full gigabit */
};

/* On failure -errno, and error names the interface and the reason. */
int live_input_open(const char *interface, struct live_input **live, char *error, size_t error_size);
void live_input_close(struct live_input *live); /* NULL allowed */

/* The frames received since the last call, up to LIVE_INPUT_BATCH and max. Octets are valid until the
 * next call. -errno if the interface cannot be read now, e.g. because it is down; it may come back. */
int live_input_read(struct live_input *live, struct savefile_record *records, size_t max);

/* Frames that the kernel dropped because they were not read in time. */
uint64_t live_input_lost(struct live_input *live);

#endif
