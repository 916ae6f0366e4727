#include "collector/input/receive.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct udp_socket {
	int fd;
	uint32_t drops; /* the kernel's count when it was read last; it wraps */
};

struct receiver {
	struct udp_socket sockets[RECEIVE_SOCKETS_MAX];
	size_t n_sockets;
};

struct receive_batch {
	size_t n;
	struct mmsghdr messages[RECEIVE_BATCH];
	struct iovec vectors[RECEIVE_BATCH];
	struct sockaddr_storage addresses[RECEIVE_BATCH];
	uint8_t datagrams[RECEIVE_BATCH][RECEIVE_DATAGRAM_MAX];
};

/* Beyond the system's limit for everybody only with CAP_NET_ADMIN; else as far as it goes. */
static void
set_buffer(int fd, size_t octets)
{
	int value = (int)octets;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &value, sizeof(value)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value));
}

static int
open_socket(const struct endpoint *e, size_t buffer_octets, int *out)
{
	int family = e->address.ss_family, yes = 1, r;
	int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	set_buffer(fd, buffer_octets);
	if (bind(fd, (const struct sockaddr *)&e->address, e->len) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	*out = fd;
	return 0;
}

size_t
receive_batch_memory(void)
{
	return sizeof(struct receive_batch);
}

/* Each message gets its own memory, all of which is touched: the first page faults of a busy minute
 * would lose datagrams. */
int
receive_batch_new(struct receive_batch **out)
{
	struct receive_batch *b = malloc(sizeof(*b));

	if (!b)
		return -ENOMEM;
	memset(b, 0xff, sizeof(*b)); /* not with zeros: malloc would become calloc */
	b->n = 0;
	for (size_t i = 0; i < RECEIVE_BATCH; i++) {
		b->vectors[i] = (struct iovec){b->datagrams[i], RECEIVE_DATAGRAM_MAX};
		b->messages[i].msg_hdr = (struct msghdr){
		    .msg_name = &b->addresses[i],
		    .msg_iov = &b->vectors[i],
		    .msg_iovlen = 1,
		};
	}
	*out = b;
	return 0;
}

void
receive_batch_free(struct receive_batch *b)
{
	free(b);
}

int
receiver_open(struct receiver **out, const struct endpoint *endpoints, size_t n,
    size_t buffer_octets, char *error, size_t error_size)
{
	struct receiver *r;
	int e = 0;

	if (n == 0 || n > RECEIVE_SOCKETS_MAX) {
		snprintf(error, error_size, "listen: 1 to %d addresses", RECEIVE_SOCKETS_MAX);
		return -EINVAL;
	}
	r = calloc(1, sizeof(*r));
	if (!r) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	for (size_t i = 0; e == 0 && i < n; i++) {
		char text[ENDPOINT_TEXT];

		e = open_socket(&endpoints[i], buffer_octets, &r->sockets[i].fd);
		endpoint_format((const struct sockaddr *)&endpoints[i].address, true, text);
		if (e < 0)
			snprintf(error, error_size, "listen on %s: %s", text, strerror(-e));
		else
			r->n_sockets++;
	}
	if (e < 0) {
		receiver_close(r);
		return e;
	}
	*out = r;
	return 0;
}

void
receiver_close(struct receiver *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_sockets; i++)
		close(r->sockets[i].fd);
	free(r);
}

size_t
receiver_sockets(const struct receiver *r)
{
	return r->n_sockets;
}

int
receiver_fd(const struct receiver *r, size_t socket)
{
	return r->sockets[socket].fd;
}

void
receiver_address(const struct receiver *r, size_t socket, char text[ENDPOINT_TEXT])
{
	struct sockaddr_storage address = {0};
	socklen_t len = sizeof(address);

	getsockname(r->sockets[socket].fd, (struct sockaddr *)&address, &len);
	endpoint_format((const struct sockaddr *)&address, true, text);
}

size_t
receiver_buffer(const struct receiver *r)
{
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < r->n_sockets; i++) {
		int octets = 0;
		socklen_t len = sizeof(octets);

		getsockopt(r->sockets[i].fd, SOL_SOCKET, SO_RCVBUF, &octets, &len);
		if ((size_t)octets < least)
			least = (size_t)octets;
	}
	return least;
}

/* The same count as SO_RXQ_OVFL's, which comes only with a datagram that was queued after the drops
 * and so would never tell of the last ones. */
uint64_t
receiver_drops(struct receiver *r)
{
	uint64_t drops = 0;

	for (size_t i = 0; i < r->n_sockets; i++) {
		struct udp_socket *s = &r->sockets[i];
		uint32_t info[SK_MEMINFO_VARS];
		socklen_t len = sizeof(info);

		if (getsockopt(s->fd, SOL_SOCKET, SO_MEMINFO, info, &len) < 0 ||
		    len < sizeof(info[0]) * (SK_MEMINFO_DROPS + 1))
			continue;
		drops += (uint32_t)(info[SK_MEMINFO_DROPS] - s->drops);
		s->drops = info[SK_MEMINFO_DROPS];
	}
	return drops;
}

int
receiver_fill(const struct receiver *r, size_t socket, struct receive_batch *b)
{
	int n;

	for (size_t i = 0; i < RECEIVE_BATCH; i++)
		b->messages[i].msg_hdr.msg_namelen = sizeof(b->addresses[i]);
	n = recvmmsg(r->sockets[socket].fd, b->messages, RECEIVE_BATCH, MSG_DONTWAIT, NULL);
	b->n = n > 0 ? (size_t)n : 0;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return n;
}

size_t
receive_each(struct receive_batch *b, receive_fn *fn, void *arg)
{
	size_t oversize = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct msghdr *h = &b->messages[i].msg_hdr;

		if (h->msg_flags & MSG_TRUNC)
			oversize++;
		else
			fn(arg, h->msg_name, b->datagrams[i], b->messages[i].msg_len);
	}
	return oversize;
}
