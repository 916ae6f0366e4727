/*
 * UDP sockets: several addresses of both families, large receive buffers, many datagrams a system
 * call, and the kernel's own count of what it had to drop. Knows no protocol. Reading never waits
 * and never allocates, and several threads may read the same sockets.
 *
 * For one thread the kernel may merge what comes in a run from one sender (UDP_GRO, udp(7)): the
 * cards' drivers gather it anyway, and a call then has sixty datagrams for the price of one.
 * receive_each takes them apart again, so that nobody else knows.
 */
#ifndef EASE_COLLECTOR_INPUT_RECEIVE_H
#define EASE_COLLECTOR_INPUT_RECEIVE_H

#include "common/endpoint.h"

#include <poll.h>
#include <stdbool.h>

enum {
	RECEIVE_SOCKETS_MAX = 16,
	RECEIVE_BATCH = 64, /* datagrams a call; more gains nothing measurable */
	RECEIVE_MERGED_BATCH = 32, /* the same of merged ones: 2 MiB */
	/* Our largest message has 8,192 octets and a jumbo frame 9,000: what is longer is cut off
	 * by the kernel and counted. */
	RECEIVE_DATAGRAM_MAX = 9216,
};

struct receiver;

/* Memory for the datagrams of one read: each thread has its own. */
struct receive_batch;
size_t receive_batch_memory(bool merged); /* octets of one */
int receive_batch_new(struct receive_batch **out, bool merged); /* 0 or -ENOMEM */
void receive_batch_free(struct receive_batch *b);

/* Opens and binds all endpoints, each with a buffer of buffer_octets as far as the system allows.
 * merged: one thread reads, with batches that are so; not with a kernel that cannot (before 5.0).
 * 0, or -errno with the reason in error. */
int receiver_open(struct receiver **out, const struct endpoint *endpoints, size_t n,
    size_t buffer_octets, bool merged, char *error, size_t error_size);
void receiver_close(struct receiver *r);

size_t receiver_sockets(const struct receiver *r);
int receiver_fd(const struct receiver *r, size_t socket);

/* Where a socket listens, with the port the system chose for port 0. */
void receiver_address(const struct receiver *r, size_t socket, char text[ENDPOINT_TEXT]);

/* Octets of kernel buffer in force on the smallest of the sockets. */
size_t receiver_buffer(const struct receiver *r);

/* Datagrams that the kernel dropped since the last call because a socket's buffer was full (or a
 * checksum was wrong), also after the last datagram that came through: exact, but where datagrams
 * were merged, since it counts those as one. Then it is what they have in the mean. */
uint64_t receiver_drops(struct receiver *r);

/* Reads what is there of one socket, a batch at most: how many datagrams (0: there was none) or
 * -errno. Any thread. */
int receiver_fill(struct receiver *r, size_t socket, struct receive_batch *b);

/* What is left in the socket's buffer after that read, in percent of it; 0 if the read took all. */
unsigned receiver_fill_percent(const struct receiver *r, size_t socket,
    const struct receive_batch *b);

/* Asks for each run of n datagrams of one sender whether to keep it; the datagrams of those that
 * are not, which receive_each leaves out. */
typedef bool receive_keep_fn(void *arg, const struct sockaddr *from, size_t n);
size_t receive_filter(struct receive_batch *b, receive_keep_fn *keep, void *arg);

/* Gives what was read to fn, in its order; the datagrams longer than RECEIVE_DATAGRAM_MAX, which
 * are not given. Datagram and address are valid until the next fill. */
typedef void receive_fn(void *arg, const struct sockaddr *from, const void *octets, size_t n);
size_t receive_each(struct receive_batch *b, receive_fn *fn, void *arg);

#endif
