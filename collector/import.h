/*
 * Reads the UDP datagrams of a capture file: those over IPv4 or IPv6 in Ethernet (with VLAN tags),
 * Linux cooked, loopback or raw IP frames, with the time of capture and the sender's address.
 * Fragments, datagrams that the capture cut off and those of other protocols are only counted.
 */
#ifndef EASE_COLLECTOR_IMPORT_H
#define EASE_COLLECTOR_IMPORT_H

#include "collector/input/foreign_flow.h"
#include "collector/progress.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

struct import_counts {
	uint64_t frames, datagrams;
	uint64_t not_udp;    /* or not IP */
	uint64_t fragments;  /* of UDP datagrams */
	uint64_t incomplete; /* cut off by the capture */
	uint64_t foreign[FOREIGN_N]; /* of the datagrams; fn counts them */
};

/* The octets are valid during the call. */
typedef void import_fn(void *arg, const struct sockaddr *from, uint64_t captured_us,
    const uint8_t *octets, size_t n);

/* Reads the file to its end; progress may be NULL. 0; -ECANCELED if progress
 * returned false; -EINVAL for another link type; -EIO for a file that is not a capture or ends in
 * the middle of a frame (fn got the frames before); the reason is in error. */
int import_file(const char *path, import_fn *fn, void *arg, const struct progress *progress,
    struct import_counts *counts, char *error, size_t error_size);

/* Finds the payload of the UDP datagram in a frame of a libpcap link type (DLT_…), and its sender. 0;
 * -ENOENT: not UDP; -EMSGSIZE: incomplete; -ENOTSUP: a fragment; -EINVAL: unknown link type. */
int import_datagram(int link_type, const uint8_t *frame, size_t n, struct sockaddr_storage *from,
    const uint8_t **octets, size_t *n_octets);

#endif
