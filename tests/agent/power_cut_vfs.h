/*
 * SQLite's way to a disk whose power can be cut, for tests of agent/state.h. It passes everything on to
 * the system's files, and remembers what was written since the last sync of each. When the power goes,
 * nothing more is written; power_cut_restore() then leaves in the files what a disk may have had: all
 * that was synced, and of the rest any part, each write whole, torn at a sector, or not at all.
 *
 * The disk can also be full: then no file grows.
 */
#ifndef EASE_TESTS_POWER_CUT_VFS_H
#define EASE_TESTS_POWER_CUT_VFS_H

#include <stdbool.h>
#include <stdint.h>

#define POWER_CUT_VFS "power-cut"
#define POWER_CUT_NEVER UINT64_MAX

/* Once in a process. 0, or -1. */
int power_cut_register(void);

/* The power is on, and goes at the n-th write, truncation or sync from now. */
void power_cut_after(uint64_t n);
bool power_cut_is_off(void);
uint64_t power_cut_operations(void); /* since power_cut_after */
void power_cut_fill(bool full);

/* Call when all files are closed. random draws what is left of what was not synced. */
void power_cut_restore(uint64_t (*random)(void));

#endif
