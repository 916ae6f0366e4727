/*
 * A file in windows that are mapped instead of read: of captures the copy that read(2) makes cost
 * more than anything else. One window at a time, of FILE_MAPPING_WINDOW_OCTETS at most.
 *
 * A mapped file may shrink under its reader, or its disk may fail; the kernel tells by SIGBUS at
 * the access. This room then puts zeros there, so that the reader goes on, and remembers from
 * where: who reads a window asks file_mapping_lost behind it. The process gets a handler for SIGBUS with
 * the first mapping; what is none of a mapping's goes on to whoever had the signal before. One
 * thread opens, reads and closes mappings at a time, and does not block the signal.
 */
#ifndef EASE_AGENT_DEVICE_FILE_MAPPING_H
#define EASE_AGENT_DEVICE_FILE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FILE_MAPPING_WINDOW_OCTETS = 1 << 20, /* more gains nothing, and stays resident */
	FILE_MAPPING_MAX = 128, /* files at a time: beside a feed's sources, those of tests */
};

struct file_mapping;

/* Of an open regular file; fd is borrowed. -ENODEV: nothing that can be mapped; -EMFILE:
 * FILE_MAPPING_MAX; -ENOMEM. */
int file_mapping_open(int fd, struct file_mapping **mapping);
void file_mapping_close(struct file_mapping *mapping); /* NULL allowed */

/* Replaces the window by one with what is from `at` on: *octets is the file's octet at *from, up to
 * a page before `at`, *n octets are there, and *at_end says whether the file ends with them, now.
 * -ENODATA: it ends before `at`. On failure there is no window. */
int file_mapping_move(struct file_mapping *mapping, uint64_t at, const uint8_t **octets, uint64_t *from,
    size_t *n, bool *at_end);

/* Whether octets of the window are gone, and how many before them are not: *good. Unless it looks
 * closely it sees only those whose access has failed: behind the end of a file that has shrunk, the
 * rest of the page reads as zeros. */
bool file_mapping_lost(const struct file_mapping *mapping, bool closely, size_t *good);

#endif
