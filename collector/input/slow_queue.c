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
	struct slow_queue *q = calloc(1, sizeof(*q)); /* unused pages take no memory */
	int r;

	if (!q)
		return -ENOMEM;
	if (getrandom(&q->seed, sizeof(q->seed), 0) < 0) {
		r = -errno;
		free(q);
		return r;
	}
	*out = q;
	return 0;
}

void
slow_queue_free(struct slow_queue *q)
{
	free(q);
}

static void
fill(struct slow_queue_datagram *d, const struct sockaddr *from, int fd, const void *octets,
    size_t n)
{
	memcpy(&d->from, from,
	    from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
	d->fd = fd;
	d->n = n;
	memcpy(d->octets, octets, n);
}

static uint16_t *
of_sender(struct slow_queue *q, const struct sockaddr *from)
{
	return &q->of_sender[endpoint_hash(q->seed, from) % SLOW_QUEUE_SENDERS];
}

int
slow_queue_put(struct slow_queue *q, const struct sockaddr *from, int fd, const void *octets,
    size_t n)
{
	uint16_t *queued = of_sender(q, from);

	if (n > RECEIVE_DATAGRAM_MAX || q->n == SLOW_QUEUE_MAX)
		return -ENOBUFS;
	if (*queued >= SLOW_QUEUE_MAX - q->n)
		return -EDQUOT;
	++*queued;
	fill(&q->slots[(q->first + q->n++) % SLOW_QUEUE_MAX], from, fd, octets, n);
	return 0;
}

const struct slow_queue_datagram *
slow_queue_first(const struct slow_queue *q)
{
	return q->n ? &q->slots[q->first] : NULL;
}

void
slow_queue_done(struct slow_queue *q)
{
	--*of_sender(q, (const struct sockaddr *)&q->slots[q->first].from);
	q->first = (q->first + 1) % SLOW_QUEUE_MAX;
	q->n--;
}
