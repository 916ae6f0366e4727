#include "collector/input/aside.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct aside {
	pthread_mutex_t lock; /* of first and n; a slot is the putter's or the taker's */
	size_t first, n;
	int event_fd;
	struct aside_datagram slots[ASIDE_MAX];
};

int
aside_open(struct aside **out)
{
	struct aside *a = calloc(1, sizeof(*a)); /* pages are touched only when used */

	if (!a)
		return -ENOMEM;
	pthread_mutex_init(&a->lock, NULL);
	a->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (a->event_fd < 0) {
		int r = -errno;

		aside_close(a);
		return r;
	}
	*out = a;
	return 0;
}

void
aside_close(struct aside *a)
{
	if (!a)
		return;
	if (a->event_fd >= 0)
		close(a->event_fd);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

int
aside_fd(const struct aside *a)
{
	return a->event_fd;
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

bool
aside_put(struct aside *a, const struct sockaddr *from, int fd, const void *octets, size_t n)
{
	static const uint64_t one = 1;
	bool room;

	if (n > RECEIVE_DATAGRAM_MAX)
		return false;
	pthread_mutex_lock(&a->lock);
	room = a->n < ASIDE_MAX;
	if (room)
		fill(&a->slots[(a->first + a->n++) % ASIDE_MAX], from, fd, octets, n);
	pthread_mutex_unlock(&a->lock);
	if (room && write(a->event_fd, &one, sizeof(one)) < 0)
		return true; /* the counter is at its end, so it is readable anyway */
	return room;
}

const struct aside_datagram *
aside_first(struct aside *a)
{
	const struct aside_datagram *d;
	uint64_t events;

	pthread_mutex_lock(&a->lock);
	d = a->n ? &a->slots[a->first] : NULL;
	if (!d && read(a->event_fd, &events, sizeof(events)) < 0)
		events = 0; /* it was not readable: nobody put anything since */
	pthread_mutex_unlock(&a->lock);
	return d;
}

void
aside_done(struct aside *a)
{
	pthread_mutex_lock(&a->lock);
	a->first = (a->first + 1) % ASIDE_MAX;
	a->n--;
	pthread_mutex_unlock(&a->lock);
}
