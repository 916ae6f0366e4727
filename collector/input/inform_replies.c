#include "collector/input/inform_replies.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

struct inform_reply {
	struct sockaddr_storage to;
	int fd;
	uint64_t batch; /* 0: the batch that is being filled */
	size_t n;
	uint8_t octets[RECEIVE_DATAGRAM_MAX];
};

/* A ring, oldest first, so in the order of the batches. */
struct inform_replies {
	size_t first, n;
	struct inform_reply ring[INFORM_REPLIES_MAX];
};

static struct inform_reply *
reply_at(struct inform_replies *r, size_t i)
{
	return &r->ring[(r->first + i) % INFORM_REPLIES_MAX];
}

static socklen_t
address_octets(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					      : sizeof(struct sockaddr_in);
}

int
inform_replies_new(struct inform_replies **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void
inform_replies_free(struct inform_replies *r)
{
	free(r);
}

bool
inform_replies_full(const struct inform_replies *r)
{
	return r->n == INFORM_REPLIES_MAX;
}

size_t
inform_replies_waiting(const struct inform_replies *r)
{
	return r->n;
}

void
inform_replies_hold(struct inform_replies *r, const struct sockaddr *to, int fd,
    const void *octets, size_t n)
{
	struct inform_reply *new = reply_at(r, r->n++);

	memcpy(&new->to, to, address_octets(to));
	new->fd = fd;
	new->batch = 0;
	new->n = n;
	memcpy(new->octets, octets, n);
}

void
inform_replies_submitted(struct inform_replies *r, uint64_t batch)
{
	for (size_t i = r->n; i-- > 0 && reply_at(r, i)->batch == 0;)
		reply_at(r, i)->batch = batch;
}

int
inform_replies_send(const struct sockaddr *to, int fd, const void *octets, size_t n)
{
	if (fd < 0) /* imported from a file, so there is no one to reply to */
		return 0;
	return sendto(fd, octets, n, MSG_DONTWAIT, to, address_octets(to)) < 0 ? -errno : 0;
}

size_t
inform_replies_committed(struct inform_replies *r, uint64_t batch, size_t *failed)
{
	size_t sent = 0;

	while (r->n > 0) {
		const struct inform_reply *oldest = reply_at(r, 0);

		if (oldest->batch == 0 || oldest->batch > batch)
			break;
		if (inform_replies_send((const struct sockaddr *)&oldest->to, oldest->fd,
			oldest->octets, oldest->n) < 0)
			++*failed;
		else
			sent++;
		r->first = (r->first + 1) % INFORM_REPLIES_MAX;
		r->n--;
	}
	return sent;
}
