/*
 * The software model of a bus: chip models map their registers into its window, access the memory that
 * drivers share with them, and raise its interrupt lines. The CPU uses struct bus and one file
 * descriptor.
 *
 * One lock makes CPU and chips exclude each other. The board's thread holds it while a batch of frames
 * passes through the chips; a CPU access takes it. A mutex alone would let the board's thread unlock
 * and lock again without the CPU ever getting it. So the CPU sets a flag while it waits, and the board
 * checks it (bus_model_cpu_waits) after every frame.
 *
 * The descriptor is readable exactly while a line is up, so that no interrupt is missed.
 */
#ifndef EASE_AGENT_SIM_BUS_MODEL_H
#define EASE_AGENT_SIM_BUS_MODEL_H

#include "agent/sim/bus/bus.h"
#include "agent/sim/bus/regmodel.h"

#include <stdbool.h>

enum {
	BUS_MODEL_MAX_WINDOWS = 512, /* four for a MAC chip, one for a switch chip: 64 chips of each */
	BUS_MODEL_MAX_LINES = 32,    /* the lines are one word */
	BUS_MODEL_MAX_AREAS = 128,   /* shared areas; a switch chip's driver makes three */
};
#define BUS_MODEL_SHARED_OCTETS (4u << 20)   /* in all: 64 KiB of buffers for each switch chip */
#define BUS_MODEL_SHARED_BASE	0xa0000000u  /* bus address of the first shared area */
#define BUS_MODEL_FOREVER	UINT64_MAX

struct bus_model;

int bus_model_create(struct bus_model **model);
/* Frees shared memory and the descriptor. Chips must be destroyed or not use the bus any more. */
void bus_model_destroy(struct bus_model *model); /* NULL allowed */

/* The CPU's side of the bus, without destroy: the model owns it. */
struct bus bus_model_cpu(struct bus_model *model);

/* Maps a chip's registers at base. regs is borrowed. -EINVAL if windows overlap; -ENOSPC. */
int bus_model_attach(struct bus_model *model, uint32_t base, uint32_t size,
    struct regmodel *regs);

/* --- the chips' side: call with the lock held --- */

/* The chips run on the CPU's thread, so no lock is needed. Call it before the first access. */
void bus_model_set_alone(struct bus_model *model);
void bus_model_lock(struct bus_model *model); /* for the board's thread */
void bus_model_unlock(struct bus_model *model);
/* For the CPU's thread, other than in register accesses: makes the board's thread release the lock. */
void bus_model_cpu_lock(struct bus_model *model);
bool bus_model_cpu_waits(const struct bus_model *model); /* lock not needed */
/* Releases the lock until bus_model_wake or the deadline (CLOCK_MONOTONIC, microseconds). */
void bus_model_wait(struct bus_model *model, uint64_t deadline_mono_us);
void bus_model_wake(struct bus_model *model);

/* The memory at a bus address; NULL, and counted, unless all the octets are in one shared area. */
uint8_t *bus_model_memory(struct bus_model *model, uint32_t bus_address, size_t octets);

/* Sets a line that belongs to one chip. */
void bus_model_set_line(struct bus_model *model, unsigned line, bool up);
/* Sets a line that several chips share: it is up while any of them pulls it. *pulls is the caller's own
 * state, initially false. */
void bus_model_pull_line(struct bus_model *model, unsigned line, bool *pulls, bool up);

/* --- no lock needed --- */

uint32_t bus_model_lines(const struct bus_model *model); /* bit n: line n is up */
/* The address of that word, for a caller that reads it for each frame. */
const _Atomic uint32_t *bus_model_lines_word(const struct bus_model *model);

int bus_model_fd(const struct bus_model *model); /* readable while a line is up */
/* The number of refused accesses: addresses without a register, or outside of shared memory. */
uint64_t bus_model_refused(struct bus_model *model);

#endif
