/*
 * Judges who forwards the frames of a port: the kernel, so that its counters and hooks see all of them, or a
 * switch chip, so that the kernel sees only what the chip passes to the CPU. Pure: no socket, no clock.
 *
 * Only a link that has a switch ID (IFLA_PHYS_SWITCH_ID) belongs to such a chip. Of its ports,
 * - a bridge with another port of the same chip is presumed to be offloaded, because most drivers do that;
 * - addresses that the chip has learned or taken over (NTF_OFFLOADED, NTF_EXT_LEARNED) prove it; at the only port of
 *   the chip in a bridge they prove nothing, for there is no port to forward to;
 * - where hardware and CPU are counted apart, the two counts decide: the chip forwards, with or without a bridge, if
 *   the hardware's count runs ahead, and the presumption falls if the CPU's keeps up for a while.
 */
#ifndef EASE_AGENT_LINUX_FORWARDING_H
#define EASE_AGENT_LINUX_FORWARDING_H

#include <stdbool.h>
#include <stdint.h>

/* What is known of a port now. */
struct forwarding_evidence {
	bool of_chip;	   /* it has a switch ID */
	bool beside_own;   /* another port of its bridge belongs to the same chip */
	bool beside_other; /* another port of its bridge does not */
	bool offloaded;	   /* the chip forwards to an address at it */
};

enum forwarding_counts { FORWARDING_NOT_COUNTED, FORWARDING_CPU_KEEPS_UP, FORWARDING_HARDWARE_AHEAD };

/* The comparison of the two counts. Zeroed for a new port. */
struct forwarding_comparison {
	uint8_t counts; /* enum forwarding_counts: the conclusion so far */
	uint8_t n_level; /* windows in a row in which the CPU kept up */
	bool begun;
	uint64_t since_us; /* monotonic: when the present window began, */
	uint64_t hardware_pkts, cpu_pkts; /* and what was counted then */
};

/* Adds a reading of both counts, received and sent frames together. exact: cpu_pkts is the CPU's for sure; else it
 * may be the hardware's, too, and proves nothing if it keeps up. True if the conclusion is another one. */
bool forwarding_compare(struct forwarding_comparison *comparison, uint64_t now_us, uint64_t hardware_pkts,
    uint64_t cpu_pkts, bool exact);

/* enum ease_forwarding. */
uint8_t forwarding_judge(const struct forwarding_evidence *evidence, const struct forwarding_comparison *comparison);

#endif
