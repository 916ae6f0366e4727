#include "collector/input/slow_queue.h"
#include "collector/input/fair_share.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct aside {
	size_t first, n;
	uint64_t seed;
	uint16_t of_sender[ASIDE_SENDERS]; /* datagrams in the queue */
	struct aside_datagram slots[ASIDE_MAX];
};

int
aside_new(struct aside **out)
{
	*out = calloc(1, sizeof(**out)); /* pages are touched only when used */
	if (*out && getrandom(&(*out)->seed, sizeof((*out)->seed), 0) < 0) {
		aside_free(*out);
		return -errno;
	}
	return *out ? 0 : -ENOMEM;
}

void
aside_free(struct aside *a)
{
	free(a);
}

static void
fill(struct aside_datagram *d, const struct sockaddr *from, int fd, const void *octets, size_t n)
{
	memcpy(&d->from, from,
	    from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
	d->fd = fd;
	d->n = n;
	memcpy(d->octets, octets, n);
}

static uint16_t *
of_sender(struct aside *a, const struct sockaddr *from)
{
	return &a->of_sender[share_hash(a->seed, from) % ASIDE_SENDERS];
}

int
aside_put(struct aside *a, const struct sockaddr *from, int fd, const void *octets, size_t n)
{
	uint16_t *queued = of_sender(a, from);

	if (n > RECEIVE_DATAGRAM_MAX || a->n == ASIDE_MAX)
		return -ENOBUFS;
	if (*queued >= ASIDE_MAX - a->n)
		return -EDQUOT;
	++*queued;
	fill(&a->slots[(a->first + a->n++) % ASIDE_MAX], from, fd, octets, n);
	return 0;
}

const struct aside_datagram *
aside_first(const struct aside *a)
{
	return a->n ? &a->slots[a->first] : NULL;
}

void
aside_done(struct aside *a)
{
	--*of_sender(a, (const struct sockaddr *)&a->slots[a->first].from);
	a->first = (a->first + 1) % ASIDE_MAX;
	a->n--;
}
