/*
 * A tap samples the frames of a port, in both directions, inside the kernel. It is a copy of the
 * program tap.bpf.c at the port's hooks with a set of registers that behave like the skip counters of
 * an EASE chip: one skip runs down to the next sample, the shadow holds TAP_SKIPS further ones, all frames are
 * counted, and sampling stalls when all skips are used up. Only samples leave the kernel, through
 * one ring that all taps share; while it is full none is taken, and ports stall.
 *
 * The hooks are tcx where the kernel has it (6.6), else clsact. Nothing is pinned. At tcx the
 * program is removed when the agent ends, in whatever way. At clsact the program of a killed agent
 * stays; it takes no more samples, because its registers are not filled, and taps_clean removes it at
 * the next start.
 *
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

/* Gets one sample, borrowed for the call. Must not detach a tap. */
typedef void (*taps_handler)(void *ctx, const struct tap_record *record);

/* classic: use clsact hooks also where the kernel has tcx. -EOPNOTSUPP: built without eBPF; -EPERM; or
 * the kernel's error. The reason is written to reason. */
int taps_open(bool classic, struct taps **taps, char *reason, size_t reason_size);
void taps_close(struct taps *taps); /* after the last tap was detached; NULL allowed */
int taps_fd(const struct taps *taps); /* readable when there are samples */
/* Passes at most max samples to take (0: all) and returns their number. -errno: the ring cannot be
 * read. */
int taps_read(struct taps *taps, unsigned max, taps_handler take, void *ctx);

/* Attaches a tap to the link. Its pools continue from these numbers. */
int taps_attach(struct taps *taps, uint32_t kernel_index, uint64_t pool_in, uint64_t pool_out,
    struct tap **tap);
/* Detaches it; also removes the clsact hook if taps_attach made it and no other program uses it. tap
 * may be NULL, and the link may be gone. */
void tap_detach(struct tap *tap);
/* False: another program has removed the hook with all that was at it. */
bool tap_is_attached(const struct tap *tap);
/* Puts another one in its place, whose pools go on, without skips. -errno: *tap stays. */
int taps_renew(struct taps *taps, struct tap **tap);
/* Removes in the same way the tap of an earlier agent that was killed. True if there was one. */
bool taps_clean(uint32_t kernel_index);

/* Loads a skip count behind those already loaded: skip frames pass, and the next one is sampled. -EBUSY:
 * TAP_SKIPS wait already. */
int tap_load(struct tap *tap, uint32_t skip);
/* Clears all skips. Samples from before have another epoch. */
void tap_clear(struct tap *tap);
uint32_t tap_epoch(const struct tap *tap);
bool tap_is_stalled(const struct tap *tap); /* nothing is loaded */
uint64_t tap_pool(const struct tap *tap, unsigned direction); /* TAP_IN, TAP_OUT */

#endif
