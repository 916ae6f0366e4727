/*
 * Reads UDP sockets: several addresses of both families, large receive buffers, many datagrams a
 * system call, and the kernel's count of the datagrams that it dropped. It knows no protocol.
 * Reading never waits and never allocates, and several threads may read the same sockets.
 *
 * If only one thread reads, the kernel may merge consecutive datagrams of one sender into one
 * message (UDP_GRO, udp(7)), so that a call returns up to sixty datagrams at the cost of one.
 * receive_each splits them again, so callers do not see this.
 */
#ifndef EASE_COLLECTOR_INPUT_RECEIVE_H
#define EASE_COLLECTOR_INPUT_RECEIVE_H

#include "common/endpoint.h"

#include <poll.h>
#include <stdbool.h>

enum {
	RECEIVE_SOCKETS_MAX = 16,
	RECEIVE_BATCH = 64, /* datagrams a call; more give no measurable gain */
	RECEIVE_MERGED_BATCH = 32, /* merged messages a call: 2 MiB */
	/* Our largest message has 8,192 octets and a jumbo frame 9,000. The kernel cuts off longer
	 * datagrams, which we count and do not use. */
	RECEIVE_DATAGRAM_MAX = 9216,
};

struct receiver;

/* Memory for the datagrams of one read. Each thread has its own. */
struct receive_batch;
size_t receive_batch_memory(bool merged); /* octets of one */
int receive_batch_new(struct receive_batch **out, bool merged); /* 0 or -ENOMEM */
void receive_batch_free(struct receive_batch *b);

/* Opens and binds all endpoints, each with a buffer of buffer_octets as far as the system allows.
 * merged: only one thread reads, with merged batches; kernels before 5.0 do not merge. 0, or -errno
 * with the reason in error. */
int receiver_open(struct receiver **out, const struct endpoint *endpoints, size_t n,
    size_t buffer_octets, bool merged, char *error, size_t error_size);
void receiver_close(struct receiver *r);

size_t receiver_sockets(const struct receiver *r);
int receiver_fd(const struct receiver *r, size_t socket);

/* The address that a socket listens at; the port is the one that the system chose if it was 0. */
void receiver_address(const struct receiver *r, size_t socket, char text[ENDPOINT_TEXT]);

/* Octets of the smallest kernel buffer among the sockets. */
size_t receiver_buffer(const struct receiver *r);

/* Datagrams that the kernel dropped since the last call because a socket's buffer was full (or a
 * checksum was wrong), also those after the last datagram that was read. The kernel counts a merged
 * message as one; then this is an estimate from the mean number of datagrams in a message. */
uint64_t receiver_drops(struct receiver *r);

/* Reads at most a batch from one socket. The number of datagrams (0: there was none) or -errno. Any
 * thread may call it. */
int receiver_fill(struct receiver *r, size_t socket, struct receive_batch *b);

/* How full the socket's buffer is after that read, in percent; 0 if the read emptied it. */
unsigned receiver_fill_percent(const struct receiver *r, size_t socket, const struct receive_batch *b);

/* Calls keep for each run of n datagrams of one sender. receive_each skips those for which it
 * returns false; the result is their number. */
typedef bool receive_keep_fn(void *arg, const struct sockaddr *from, size_t n);
size_t receive_filter(struct receive_batch *b, receive_keep_fn *keep, void *arg);

/* Calls fn for each datagram that was read, in their order. Datagram and address are valid until
 * the next fill. Returns the number of datagrams longer than RECEIVE_DATAGRAM_MAX, which are
 * skipped. */
typedef void receive_fn(void *arg, const struct sockaddr *from, const void *octets, size_t n);
size_t receive_each(struct receive_batch *b, receive_fn *fn, void *arg);

#endif
