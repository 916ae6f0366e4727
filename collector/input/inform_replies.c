#include "collector/input/inform_replies.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

struct answer {
	struct sockaddr_storage to;
	int fd;
	uint64_t batch; /* 0: still with the batch being filled */
	size_t n;
	uint8_t octets[RECEIVE_DATAGRAM_MAX];
};

/* A ring, oldest first; batches rise along it. */
struct answers {
	size_t first, n;
	struct answer ring[ANSWERS_MAX];
};

static struct answer *
answer_at(struct answers *a, size_t i)
{
	return &a->ring[(a->first + i) % ANSWERS_MAX];
}

static socklen_t
address_octets(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					      : sizeof(struct sockaddr_in);
}

int
answers_new(struct answers **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void
answers_free(struct answers *a)
{
	free(a);
}

bool
answers_full(const struct answers *a)
{
	return a->n == ANSWERS_MAX;
}

size_t
answers_waiting(const struct answers *a)
{
	return a->n;
}

void
answers_hold(struct answers *a, const struct sockaddr *to, int fd, const void *octets, size_t n)
{
	struct answer *new = answer_at(a, a->n++);

	memcpy(&new->to, to, address_octets(to));
	new->fd = fd;
	new->batch = 0;
	new->n = n;
	memcpy(new->octets, octets, n);
}

void
answers_submitted(struct answers *a, uint64_t batch)
{
	for (size_t i = a->n; i-- > 0 && answer_at(a, i)->batch == 0;)
		answer_at(a, i)->batch = batch;
}

int
answers_send(const struct sockaddr *to, int fd, const void *octets, size_t n)
{
	if (fd < 0) /* imported from a file: nobody to answer */
		return 0;
	return sendto(fd, octets, n, MSG_DONTWAIT, to, address_octets(to)) < 0 ? -errno : 0;
}

size_t
answers_committed(struct answers *a, uint64_t batch, size_t *failed)
{
	size_t sent = 0;

	while (a->n > 0) {
		const struct answer *oldest = answer_at(a, 0);

		if (oldest->batch == 0 || oldest->batch > batch)
			break;
		if (answers_send((const struct sockaddr *)&oldest->to, oldest->fd, oldest->octets,
			oldest->n) < 0)
			++*failed;
		else
			sent++;
		a->first = (a->first + 1) % ANSWERS_MAX;
		a->n--;
	}
	return sent;
}
