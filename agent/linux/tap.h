/*
 * Taps: what samples the frames of a port, in both directions, inside the kernel. A tap is a copy
 * of the program tap.bpf.c at the port's hooks and a set of registers that behaves as the pair of
 * skip counters of an EASE chip: a count running down, a shadow one deep, frames counted all the
 * time, and a standstill when both are used up. Only samples leave the kernel, through one ring for
 * all taps.
 *
 * The hooks are tcx where the kernel has it (6.6), else clsact. Nothing is pinned. At tcx the
 * program goes with the agent, however that ends; at clsact that of a killed agent stays, samples
 * nothing more, for nobody fills its registers, and is removed by taps_clean of the next start.
 * Needs CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON, and a kernel with eBPF, rings and one of the hooks
 * (5.12 or later).
 */
#ifndef EASE_AGENT_LINUX_TAP_H
#define EASE_AGENT_LINUX_TAP_H

#include "agent/linux/tap_shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct taps;
struct tap;

/* Sees one sample, borrowed for the call. Must not detach a tap. */
typedef void (*taps_handler)(void *ctx, const struct tap_record *record);

/* classic: clsact hooks, also where the kernel has tcx. -EOPNOTSUPP: built without it; -EPERM, or the kernel's refusal; why in words in reason. */
int taps_open(bool classic, struct taps **taps, char *reason, size_t reason_size);
void taps_close(struct taps *taps); /* after the last tap is gone; NULL allowed */
int taps_fd(const struct taps *taps); /* readable when there are samples */
/* Hands at most max samples to take (0: all there are); how many. -errno: the ring cannot be read. */
int taps_read(struct taps *taps, unsigned max, taps_handler take, void *ctx);

/* Puts a tap on the link. Its pools go on from the numbers given. */
int taps_attach(struct taps *taps, uint32_t kernel_index, uint64_t pool_in, uint64_t pool_out,
    struct tap **tap);
/* Takes it off, and the clsact hook, too, if taps_attach made it and nobody else uses it. NULL
 * allowed; so is a link that is no more. */
void tap_detach(struct tap *tap);
/* Removes what an agent that was killed left at the link, likewise. Was there something? */
bool taps_clean(uint32_t kernel_index);

/* Lets skip frames pass and samples the next, after what is loaded already. -EBUSY: count and shadow
 * are both taken. */
int tap_load(struct tap *tap, uint32_t skip);
/* Empties both. Samples of before have another epoch. */
void tap_clear(struct tap *tap);
uint32_t tap_epoch(const struct tap *tap);
bool tap_is_stalled(const struct tap *tap); /* nothing is loaded */
uint64_t tap_pool(const struct tap *tap, unsigned direction); /* TAP_IN, TAP_OUT */
/* Samples that found no room in the ring, which holds all that so many ports can have loaded. */
uint64_t tap_lost(const struct tap *tap);

#endif
