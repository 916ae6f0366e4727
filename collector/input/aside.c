#include "collector/input/aside.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

struct aside {
	size_t first, n;
	struct aside_datagram slots[ASIDE_MAX];
};

int
aside_new(struct aside **out)
{
	*out = calloc(1, sizeof(**out)); /* pages are touched only when used */
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

bool
aside_put(struct aside *a, const struct sockaddr *from, int fd, const void *octets, size_t n)
{
	if (n > RECEIVE_DATAGRAM_MAX || a->n == ASIDE_MAX)
		return false;
	fill(&a->slots[(a->first + a->n++) % ASIDE_MAX], from, fd, octets, n);
	return true;
}

const struct aside_datagram *
aside_first(const struct aside *a)
{
	return a->n ? &a->slots[a->first] : NULL;
}

void
aside_done(struct aside *a)
{
	a->first = (a->first + 1) % ASIDE_MAX;
	a->n--;
}
