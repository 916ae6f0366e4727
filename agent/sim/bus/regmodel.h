/*
 * Describes the registers of a chip model as data: a row for each register (or array of equal registers)
 * has its reset value, the effects of reads and writes on its bits, and hooks for further effects. One
 * engine serves all chips. An access to an address without a row is refused and counted.
 *
 * Used by chip models only, which hold the bus's lock (bus_model.h) around every call.
 */
#ifndef EASE_AGENT_SIM_BUS_REGMODEL_H
#define EASE_AGENT_SIM_BUS_REGMODEL_H

#include <stddef.h>
#include <stdint.h>

struct regmodel_row {
	const char *name;	  /* as in the datasheet */
	uint32_t offset;	  /* of the first one in the chip's window, octets */
	uint32_t count, stride;	  /* number, and octets from one to the next; count 0 means 1 */
	uint32_t reset;		  /* value after chip reset */
	uint32_t writable;	  /* bits a write changes */
	uint32_t write_1_clears;  /* bits a written 1 clears */
	uint32_t read_clears;	  /* bits that a read clears after returning them */
	uint32_t reserved;	  /* reserved bits: a written 1 is counted and ignored */
	/* Returns the value of a read, given the stored value. NULL: that value. */
	uint32_t (*read)(void *chip, unsigned index, uint32_t stored);
	/* Called after read_clears has taken effect. NULL: nothing. */
	void (*read_done)(void *chip, unsigned index);
	/* Called after the stored value has changed; written is the value that the CPU wrote. NULL: nothing. */
	void (*written)(void *chip, unsigned index, uint32_t written);
};

enum { REGMODEL_HINT_BITS = 6 };

struct regmodel {
	const struct regmodel_row *rows; /* in ascending order of offset */
	size_t n_rows;
	void *chip;	    /* argument of hooks */
	uint32_t **values;  /* by row and index */
	uint32_t *storage;
	uint16_t hints[1 << REGMODEL_HINT_BITS]; /* row of the offset found last, by a hash of the offset */
	uint64_t unknown_accesses;  /* to addresses without a register */
	uint64_t reserved_writes;   /* writes that tried to set reserved bits */
	/* Called before every access to a register, e.g. to end a read in two halves. */
	void (*access)(void *chip, uint32_t offset);
};

/* -EINVAL if rows are not in ascending order, overlap or are more than 65535, -ENOMEM. rows and
 * chip are borrowed. */
int regmodel_init(struct regmodel *regs, const struct regmodel_row *rows, size_t n_rows,
    void *chip);
void regmodel_free(struct regmodel *regs);
void regmodel_reset(struct regmodel *regs);

/* 0, or -ENXIO for an offset without a register (counted). */
int regmodel_read(struct regmodel *regs, uint32_t offset, uint32_t *value);
/* n words from offset on. */
int regmodel_read_words(struct regmodel *regs, uint32_t offset, uint32_t *words, size_t n);
int regmodel_write(struct regmodel *regs, uint32_t offset, uint32_t value);

/* The stored value of a row, for the chip model itself. */
static inline uint32_t *
regmodel_value(struct regmodel *regs, size_t row, unsigned index)
{
	return &regs->values[row][index];
}

#endif
