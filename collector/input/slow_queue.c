#include "collector/input/slow_queue.h"
#include "common/endpoint.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct slow_queue {
	size_t first, n;
	uint64_t seed;
	uint16_t of_sender[SLOW_QUEUE_SENDERS]; /* datagrams in the queue */
	struct slow_queue_datagram slots[SLOW_QUEUE_MAX];
};

int
slow_queue_new(struct slow_queue **out)
{
	*out = calloc(1, sizeof(**out)); /* pages are touched only when used */
	if (*out && getrandom(&(*out)->seed, sizeof((*out)->seed), 0) < 0) {
		slow_queue_free(*out);
		return -errno;
	}
	return *out ? 0 : -ENOMEM;
}

void
slow_queue_free(struct slow_queue *a)
{
	free(a);
}

static void
fill(struct slow_queue_datagram *d, const struct sockaddr *from, int fd, const void *octets, size_t n)
{
	memcpy(&d->from, from,
	    from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
	d->fd = fd;
	d->n = n;
	memcpy(d->octets, octets, n);
}

static uint16_t *
of_sender(struct slow_queue *a, const struct sockaddr *from)
{
	return &a->of_sender[endpoint_hash(a->seed, from) % SLOW_QUEUE_SENDERS];
}

int
slow_queue_put(struct slow_queue *a, const struct sockaddr *from, int fd, const void *octets, size_t n)
{
	uint16_t *queued = of_sender(a, from);

	if (n > RECEIVE_DATAGRAM_MAX || a->n == SLOW_QUEUE_MAX)
		return -ENOBUFS;
	if (*queued >= SLOW_QUEUE_MAX - a->n)
		return -EDQUOT;
	++*queued;
	fill(&a->slots[(a->first + a->n++) % SLOW_QUEUE_MAX], from, fd, octets, n);
	return 0;
}

const struct slow_queue_datagram *
slow_queue_first(const struct slow_queue *a)
{
	return a->n ? &a->slots[a->first] : NULL;
}

void
slow_queue_done(struct slow_queue *a)
{
	--*of_sender(a, (const struct sockaddr *)&a->slots[a->first].from);
	a->first = (a->first + 1) % SLOW_QUEUE_MAX;
	a->n--;
}
