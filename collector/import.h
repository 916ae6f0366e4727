/*
 * Datagrams out of a capture file: each whole UDP datagram over IPv4 or IPv6, from Ethernet (with
 * VLAN tags), Linux cooked, loopback or raw IP frames, with the time of capture and who sent it.
 * Fragments and datagrams cut off by the capture are not put together: they are counted.
 */
#ifndef EASE_COLLECTOR_IMPORT_H
#define EASE_COLLECTOR_IMPORT_H

#include "collector/progress.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

struct import_counts {
	uint64_t frames, datagrams;
	uint64_t not_udp;    /* or no IP at all */
	uint64_t incomplete; /* fragments, and datagrams that the capture cut off */
};

/* The octets are the callback's as long as it runs. */
typedef void import_fn(void *arg, const struct sockaddr *from, uint64_t captured_us,
    const uint8_t *octets, size_t n);

/* Reads the file to its end; progress may be NULL. 0; -ECANCELED if progress said no;
 * -EINVAL for a link type that is none of the above; -EIO for a file
 * that is no capture or ends in the middle (what came before was given); the reason in error. */
int import_file(const char *path, import_fn *fn, void *arg, const struct progress *progress,
    struct import_counts *counts, char *error, size_t error_size);

/* One frame of a libpcap link type (DLT_…): the payload of its UDP datagram and who sent it. 0;
 * -ENOENT: no UDP; -EMSGSIZE: not whole; -EINVAL: not a link type we know. */
int import_datagram(int link_type, const uint8_t *frame, size_t n, struct sockaddr_storage *from,
    const uint8_t **octets, size_t *n_octets);

#endif
