#include "collector/input/receive.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef UDP_GRO
#define UDP_GRO 104 /* linux/udp.h, for C libraries that lack it */
#endif

enum {
	MERGED_MAX = 65536, /* octets */
	CACHE_LINE = 64,
	/* Buffers of merged datagrams begin this far apart in a CPU's cache sets, as equal sets
	 * would evict each other. */
	STAGGER = 21 * CACHE_LINE,
};

struct udp_socket {
	int fd;
	uint32_t drops; /* the kernel's count at the last reading; it wraps */
	_Atomic uint64_t messages, datagrams; /* read so far; a merged message has several */
};

struct receiver {
	struct udp_socket sockets[RECEIVE_SOCKETS_MAX];
	size_t n_sockets;
};

/* Room for the kernel's control message: the length of the datagrams that it merged. */
union control {
	struct cmsghdr header;
	uint8_t octets[CMSG_SPACE(sizeof(int))];
};

struct receive_batch {
	size_t n, most; /* messages */
	size_t room, stride; /* octets of each, and from one to the next */
	struct mmsghdr messages[RECEIVE_BATCH];
	struct iovec vectors[RECEIVE_BATCH];
	struct sockaddr_storage addresses[RECEIVE_BATCH];
	union control controls[RECEIVE_BATCH];
	bool dropped[RECEIVE_BATCH]; /* by receive_filter */
	uint8_t octets[];
};

/* With CAP_NET_ADMIN the buffer may exceed the system's limit (net.core.rmem_max), else not. */
static void
set_buffer(int fd, size_t octets)
{
	int value = (int)octets;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &value, sizeof(value)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value));
}

static int
open_socket(const struct endpoint *e, size_t buffer_octets, bool merged, int *out)
{
	int family = e->address.ss_family, yes = 1, r;
	int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	set_buffer(fd, buffer_octets);
	if (merged) /* an old kernel refuses; then each message is one datagram */
		setsockopt(fd, IPPROTO_UDP, UDP_GRO, &yes, sizeof(yes));
	if (bind(fd, (const struct sockaddr *)&e->address, e->len) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	*out = fd;
	return 0;
}

size_t
receive_batch_memory(bool merged)
{
	return sizeof(struct receive_batch) + (merged
	    ? (size_t)RECEIVE_MERGED_BATCH * (MERGED_MAX + STAGGER)
	    : (size_t)RECEIVE_BATCH * RECEIVE_DATAGRAM_MAX);
}

/* All memory is written to at once, as page faults in the first busy minute would lose
 * datagrams. */
int
receive_batch_new(struct receive_batch **out, bool merged)
{
	size_t octets = receive_batch_memory(merged);
	struct receive_batch *b = malloc(octets);

	if (!b)
		return -ENOMEM;
	memset(b, 0xff, octets); /* for zeros the compiler would use calloc, which writes none */
	b->n = 0;
	b->most = merged ? RECEIVE_MERGED_BATCH : RECEIVE_BATCH;
	b->room = merged ? MERGED_MAX : RECEIVE_DATAGRAM_MAX;
	b->stride = merged ? MERGED_MAX + STAGGER : RECEIVE_DATAGRAM_MAX;
	for (size_t i = 0; i < b->most; i++) {
		b->vectors[i] = (struct iovec){b->octets + i * b->stride, b->room};
		b->messages[i].msg_hdr = (struct msghdr){
		    .msg_name = &b->addresses[i],
		    .msg_iov = &b->vectors[i],
		    .msg_iovlen = 1,
		    .msg_control = &b->controls[i],
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
    size_t buffer_octets, bool merged, char *error, size_t error_size)
{
	struct receiver *r;
	int e = 0;

	if (n == 0 || n > RECEIVE_SOCKETS_MAX) {
		snprintf(error, error_size, "%zu addresses to listen at; 1 to %d are possible", n,
		    RECEIVE_SOCKETS_MAX);
		return -EINVAL;
	}
	r = calloc(1, sizeof(*r));
	if (!r) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	for (size_t i = 0; e == 0 && i < n; i++) {
		char text[ENDPOINT_TEXT];

		e = open_socket(&endpoints[i], buffer_octets, merged, &r->sockets[i].fd);
		endpoint_format((const struct sockaddr *)&endpoints[i].address, true, text);
		if (e < 0)
			snprintf(error, error_size, "cannot listen at %s: %s", text, strerror(-e));
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

/* Drops of a socket since the last call as the kernel counts them: a merged message is one. This is
 * the count of SO_RXQ_OVFL; but that is delivered with a datagram that was queued after the drops,
 * so it would never show the last ones. */
static uint32_t
new_drops(struct udp_socket *s)
{
	uint32_t info[SK_MEMINFO_VARS], drops;
	socklen_t len = sizeof(info);

	if (getsockopt(s->fd, SOL_SOCKET, SO_MEMINFO, info, &len) < 0 ||
	    len < sizeof(info[0]) * (SK_MEMINFO_DROPS + 1))
		return 0;
	drops = info[SK_MEMINFO_DROPS] - s->drops;
	s->drops = info[SK_MEMINFO_DROPS];
	return drops;
}

uint64_t
receiver_drops(struct receiver *r)
{
	uint64_t drops = 0;

	for (size_t i = 0; i < r->n_sockets; i++) {
		struct udp_socket *s = &r->sockets[i];
		uint64_t messages = s->messages, datagrams = s->datagrams;
		uint64_t dropped = new_drops(s);

		drops += messages > 0 ? (dropped * datagrams + messages / 2) / messages : dropped;
	}
	return drops;
}

/* Octets of each datagram in a message; the last one may be shorter. */
static size_t
datagram_octets(struct mmsghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(&m->msg_hdr);
	int octets = 0;

	if (c && c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO)
		memcpy(&octets, CMSG_DATA(c), sizeof(octets));
	return octets > 0 && (size_t)octets < m->msg_len ? (size_t)octets : m->msg_len;
}

static size_t
datagrams_in(struct mmsghdr *m)
{
	size_t octets = datagram_octets(m);

	return octets > 0 ? (m->msg_len + octets - 1) / octets : 1;
}

int
receiver_fill(struct receiver *r, size_t socket, struct receive_batch *b)
{
	struct udp_socket *s = &r->sockets[socket];
	size_t datagrams = 0;
	int n;

	for (size_t i = 0; i < b->most; i++) {
		b->messages[i].msg_hdr.msg_namelen = sizeof(b->addresses[i]);
		b->messages[i].msg_hdr.msg_controllen = sizeof(b->controls[i]);
	}
	memset(b->dropped, 0, sizeof(b->dropped));
	do
		n = recvmmsg(s->fd, b->messages, (unsigned)b->most, MSG_DONTWAIT, NULL);
	while (n < 0 && errno == EINTR);
	b->n = n > 0 ? (size_t)n : 0;
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	for (size_t i = 0; i < b->n; i++)
		datagrams += datagrams_in(&b->messages[i]);
	s->messages += b->n;
	s->datagrams += datagrams;
	return (int)datagrams;
}

unsigned
receiver_fill_percent(const struct receiver *r, size_t socket, const struct receive_batch *b)
{
	uint32_t info[SK_MEMINFO_VARS];
	socklen_t len = sizeof(info);

	if (b->n < b->most || getsockopt(r->sockets[socket].fd, SOL_SOCKET, SO_MEMINFO, info, &len) < 0)
		return 0;
	return (unsigned)(100ull * info[SK_MEMINFO_RMEM_ALLOC] / (info[SK_MEMINFO_RCVBUF] | 1u));
}

size_t
receive_filter(struct receive_batch *b, receive_keep_fn *keep, void *arg)
{
	size_t dropped = 0;

	for (size_t i = 0; i < b->n; i++) {
		size_t n = datagrams_in(&b->messages[i]);

		b->dropped[i] = !keep(arg, b->messages[i].msg_hdr.msg_name, n);
		if (b->dropped[i])
			dropped += n;
	}
	return dropped;
}

/* Calls fn for each datagram of a message. Returns the number of those that were too long. */
static size_t
split_datagrams(struct mmsghdr *m, receive_fn *fn, void *arg)
{
	const uint8_t *octets = m->msg_hdr.msg_iov->iov_base;
	size_t each = datagram_octets(m), left = m->msg_len, oversize = 0;

	if (m->msg_hdr.msg_flags & MSG_TRUNC)
		return 1;
	do {
		size_t n = left < each ? left : each;

		if (n > RECEIVE_DATAGRAM_MAX)
			oversize++;
		else
			fn(arg, m->msg_hdr.msg_name, octets, n);
		octets += n;
		left -= n;
	} while (left > 0);
	return oversize;
}

size_t
receive_each(struct receive_batch *b, receive_fn *fn, void *arg)
{
	size_t oversize = 0;

	for (size_t i = 0; i < b->n; i++)
		if (!b->dropped[i])
			oversize += split_datagrams(&b->messages[i], fn, arg);
	return oversize;
}
