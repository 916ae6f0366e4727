/*
 * The software side of a bus: chip models put their registers into its window, reach the memory
 * that the driver shares with them, and pull its interrupt lines. The CPU sees struct bus and one
 * file descriptor.
 *
 * One lock makes the two worlds exclude each other. The board's thread holds it while frames run
 * through the chips, in batches; a CPU access takes it. As the system's mutex would let a thread
 * that unlocks and locks again starve the other, the CPU says that it waits, and the board asks
 * (bus_model_cpu_waits) after every frame.
 * The descriptor is readable exactly while any line is up, so nobody can miss an interrupt.
 */
#ifndef EASE_AGENT_BUS_MODEL_H
#define EASE_AGENT_BUS_MODEL_H

#include "agent/bus/bus.h"
#include "agent/bus/regmodel.h"

#include <stdbool.h>

enum {
	BUS_MODEL_MAX_WINDOWS = 512, /* four a MAC chip, one a switch chip: 64 chips of each */
	BUS_MODEL_MAX_LINES = 32,    /* the lines are one word */
	BUS_MODEL_MAX_AREAS = 128,   /* shared areas; a switch chip's driver makes three */
};
#define BUS_MODEL_SHARED_OCTETS (4u << 20)   /* in all: 64 KiB of buffers a switch chip */
#define BUS_MODEL_SHARED_BASE	0xa0000000u  /* bus address of the first shared area */
#define BUS_MODEL_FOREVER	UINT64_MAX

struct bus_model;

int bus_model_create(struct bus_model **model);
/* Frees shared memory and the descriptor; chips must be gone or never touch the bus again. */
void bus_model_destroy(struct bus_model *model); /* NULL allowed */

/* The CPU's view, without destroy: it is owned by the model. */
struct bus bus_model_cpu(struct bus_model *model);

/* Puts a chip's registers at base. regs is borrowed. -EINVAL if windows overlap, -ENOSPC. */
int bus_model_attach(struct bus_model *model, uint32_t base, uint32_t size,
    struct regmodel *regs);

/* --- the chips' side: call with the lock held --- */

/* The chips run on the CPU's thread: there is nothing to exclude. Before the first access. */
void bus_model_set_alone(struct bus_model *model);
void bus_model_lock(struct bus_model *model); /* for the board's thread */
void bus_model_unlock(struct bus_model *model);
/* The same for the CPU's thread outside of register accesses: the board makes way. */
void bus_model_cpu_lock(struct bus_model *model);
bool bus_model_cpu_waits(const struct bus_model *model); /* lock not needed */
/* Gives the lock up until bus_model_wake or the deadline (CLOCK_MONOTONIC, microseconds). */
void bus_model_wait(struct bus_model *model, uint64_t deadline_mono_us);
void bus_model_wake(struct bus_model *model);

/* Memory at a bus address, or NULL (counted) unless all the octets lie in one shared area. */
uint8_t *bus_model_memory(struct bus_model *model, uint32_t bus_address, size_t octets);

/* A line of one chip. */
void bus_model_set_line(struct bus_model *model, unsigned line, bool up);
/* A line that several chips share: up while any of them pulls it. *pulls is the caller's own state,
 * false at first. */
void bus_model_pull_line(struct bus_model *model, unsigned line, bool *pulls, bool up);

/* --- no lock needed --- */

uint32_t bus_model_lines(const struct bus_model *model); /* bit n: line n is up */
/* The same word, for who looks at it all the time. */
const _Atomic uint32_t *bus_model_lines_word(const struct bus_model *model);

int bus_model_fd(const struct bus_model *model); /* readable while a line is up */
/* Accesses refused: no register at that address, memory outside of every area. */
uint64_t bus_model_refused(struct bus_model *model);

#endif
