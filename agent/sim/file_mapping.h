/*
 * Maps a file into memory, one window at a time of at most FILE_MAPPING_WINDOW_OCTETS. For captures the
 * copying of read(2) cost more than anything else.
 *
 * A mapped file may shrink while it is read, or its disk may fail; an access then raises SIGBUS. The
 * handler here replaces the rest of the window by zeros, so that the reader can continue, and records
 * the position: after reading a window, call file_mapping_lost. The first mapping installs the handler;
 * a SIGBUS at another address goes to the handler before. Only one thread at a time may open, read and
 * close mappings, and it must not block the signal.
 */
#ifndef EASE_AGENT_SIM_FILE_MAPPING_H
#define EASE_AGENT_SIM_FILE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FILE_MAPPING_WINDOW_OCTETS = 1 << 20, /* a larger one is not faster, and uses more memory */
	FILE_MAPPING_MAX = 128, /* files at a time: a feed's sources, and those of tests */
};

struct file_mapping;

/* Opens a mapping of an open regular file; fd is borrowed. -ENODEV: it cannot be mapped; -EMFILE: there
 * are FILE_MAPPING_MAX; -ENOMEM. */
int file_mapping_open(int fd, struct file_mapping **mapping);
void file_mapping_close(struct file_mapping *mapping); /* NULL allowed */

/* Replaces the window by one that contains the file from `at` on. *octets is the octet at *from, which is
 * up to a page before `at`; the window has *n octets; *at_end tells whether the file now ends with
 * them. -ENODATA: the file ends before `at`. On failure there is no window. */
int file_mapping_move(struct file_mapping *mapping, uint64_t at, const uint8_t **octets, uint64_t *from,
    size_t *n, bool *at_end);

/* Whether octets of the window were lost; *good is the number of octets before them. Without `closely` it
 * detects only accesses that failed: behind the end of a file that has shrunk, the rest of the page
 * reads as zeros. */
bool file_mapping_lost(const struct file_mapping *mapping, bool closely, size_t *good);

#endif
