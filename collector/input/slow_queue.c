#include "collector/input/slow_queue.h"
#include "collector/input/sender_share.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

struct slow_queue {
	size_t first, n;
	struct sender_share share;
	struct slow_queue_datagram slots[SLOW_QUEUE_MAX];
};

int
slow_queue_new(struct slow_queue **out)
{
	struct slow_queue *q = calloc(1, sizeof(*q)); /* unused pages take no memory */
	int r;

	if (!q)
		return -ENOMEM;
	r = sender_share_init(&q->share);
	if (r < 0)
		free(q);
	else
		*out = q;
	return r;
}

void
slow_queue_free(struct slow_queue *q)
{
	free(q);
}

static void
fill_datagram(struct slow_queue_datagram *d, const struct sockaddr *from, int fd, const void *octets, size_t n)
{
	memcpy(&d->from, from,
	    from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
	d->fd = fd;
	d->n = n;
	memcpy(d->octets, octets, n);
}

int
slow_queue_put(struct slow_queue *q, const struct sockaddr *from, int fd, const void *octets, size_t n)
{
	if (n > RECEIVE_DATAGRAM_MAX || q->n == SLOW_QUEUE_MAX)
		return -ENOBUFS;
	if (!sender_share_allows(&q->share, from, SLOW_QUEUE_MAX - q->n))
		return -EDQUOT;
	sender_share_take(&q->share, from);
	fill_datagram(&q->slots[(q->first + q->n++) % SLOW_QUEUE_MAX], from, fd, octets, n);
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
	sender_share_give(&q->share, (const struct sockaddr *)&q->slots[q->first].from);
	q->first = (q->first + 1) % SLOW_QUEUE_MAX;
	q->n--;
}
