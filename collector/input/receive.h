/*
 * UDP sockets: several addresses of both families, large receive buffers, many datagrams a system
 * call, and the kernel's own count of what it had to drop. Knows no protocol. Reading never waits
 * and never allocates, and several threads may read the same sockets.
 */
#ifndef EASE_COLLECTOR_INPUT_RECEIVE_H
#define EASE_COLLECTOR_INPUT_RECEIVE_H

#include "collector/input/endpoint.h"

#include <poll.h>

enum {
	RECEIVE_SOCKETS_MAX = 16,
	RECEIVE_BATCH = 64, /* datagrams a call; more gains nothing measurable */
	/* Our largest message has 8,192 octets and a jumbo frame 9,000: what is longer is cut off
	 * by the kernel and counted. */
	RECEIVE_DATAGRAM_MAX = 9216,
};

struct receiver;

/* Memory for the datagrams of one read: each thread has its own. */
struct receive_batch;
size_t receive_batch_memory(void); /* octets of one */
int receive_batch_new(struct receive_batch **out); /* 0 or -ENOMEM */
void receive_batch_free(struct receive_batch *b);

/* Opens and binds all endpoints, each with a buffer of buffer_octets as far as the system allows.
 * 0, or -errno with the reason in error. */
int receiver_open(struct receiver **out, const struct endpoint *endpoints, size_t n,
    size_t buffer_octets, char *error, size_t error_size);
void receiver_close(struct receiver *r);

size_t receiver_sockets(const struct receiver *r);
int receiver_fd(const struct receiver *r, size_t socket);

/* Where a socket listens, with the port the system chose for port 0. */
void receiver_address(const struct receiver *r, size_t socket, char text[ENDPOINT_TEXT]);

/* Octets of kernel buffer in force on the smallest of the sockets. */
size_t receiver_buffer(const struct receiver *r);

/* Datagrams that the kernel dropped since the last call because a socket's buffer was full (or a
 * checksum was wrong): exact, also after the last datagram that came through. */
uint64_t receiver_drops(struct receiver *r);

/* Reads at most RECEIVE_BATCH datagrams of one socket: how many (0: there was none) or -errno. Any
 * thread. */
int receiver_fill(const struct receiver *r, size_t socket, struct receive_batch *b);

/* Gives what was read to fn, in its order; the datagrams longer than RECEIVE_DATAGRAM_MAX, which
 * are not given. Datagram and address are valid until the next fill. */
typedef void receive_fn(void *arg, const struct sockaddr *from, const void *octets, size_t n);
size_t receive_each(struct receive_batch *b, receive_fn *fn, void *arg);

#endif
