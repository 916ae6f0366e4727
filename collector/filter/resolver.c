#include "collector/filter/resolver.h"

#include "common/frame.h"
#include "common/hash.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct answer {
	uint8_t n_octets; /* 0: the place is free */
	bool is_waiting;
	uint8_t octets[FRAME_IP_LEN];
	char name[RESOLVER_NAME_ROOM];
	uint64_t asked_us;
};

struct resolver {
	const struct clock *clock;
	uint64_t seed;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t wanted;
	bool stops;
	size_t n_waiting, next;
	struct answer answers[RESOLVER_PLACES];
};

void
resolver_ask(size_t n_octets, const uint8_t *octets, char name[RESOLVER_NAME_ROOM])
{
	struct sockaddr_in ip4 = {.sin_family = AF_INET};
	struct sockaddr_in6 ip6 = {.sin6_family = AF_INET6};
	struct sockaddr *address = n_octets == 4 ? (void *)&ip4 : (void *)&ip6;
	socklen_t size = n_octets == 4 ? sizeof(ip4) : sizeof(ip6);
	char host[NI_MAXHOST];

	memcpy(n_octets == 4 ? (void *)&ip4.sin_addr : (void *)&ip6.sin6_addr, octets, n_octets);
	*name = '\0';
	if (getnameinfo(address, size, host, sizeof(host), NULL, 0, NI_NAMEREQD) == 0)
		snprintf(name, RESOLVER_NAME_ROOM, "%.*s", RESOLVER_NAME_ROOM - 1, host);
}

/* ---- the thread ---- */

static struct answer *
next_waiting(struct resolver *r)
{
	while (!r->answers[r->next].is_waiting)
		r->next = (r->next + 1) % RESOLVER_PLACES;
	return &r->answers[r->next];
}

static void *
run_resolver(void *arg)
{
	struct resolver *r = arg;

	pthread_mutex_lock(&r->lock);
	while (!r->stops) {
		struct answer *a, asked;

		if (r->n_waiting == 0) {
			pthread_cond_wait(&r->wanted, &r->lock);
			continue;
		}
		a = next_waiting(r);
		asked = *a;
		pthread_mutex_unlock(&r->lock);
		resolver_ask(asked.n_octets, asked.octets, asked.name);
		pthread_mutex_lock(&r->lock);
		if (r->stops) /* the clock may be gone */
			break;
		memcpy(a->name, asked.name, sizeof(a->name)); /* who waits keeps its place */
		a->is_waiting = false;
		a->asked_us = clock_mono_us(r->clock);
		r->n_waiting--;
	}
	pthread_mutex_unlock(&r->lock);
	pthread_cond_destroy(&r->wanted);
	pthread_mutex_destroy(&r->lock);
	free(r);
	return NULL;
}

int
resolver_new(struct resolver **out, uint64_t seed, const struct clock *clock)
{
	struct resolver *r = calloc(1, sizeof(*r));
	pthread_t thread;
	int err;

	if (!r)
		return -ENOMEM;
	r->clock = clock;
	r->seed = seed;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->wanted, NULL);
	err = -pthread_create(&thread, NULL, run_resolver, r);
	if (err < 0) {
		free(r);
		return err;
	}
	pthread_setname_np(thread, "resolver");
	pthread_detach(thread);
	*out = r;
	return 0;
}

void
resolver_free(struct resolver *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stops = true;
	pthread_cond_signal(&r->wanted);
	pthread_mutex_unlock(&r->lock);
}

/* ---- who asks ---- */

void
resolver_name(struct resolver *r, size_t n_octets, const uint8_t *octets, char name[RESOLVER_NAME_ROOM])
{
	uint8_t padded[FRAME_IP_LEN] = {0};
	struct answer *a;
	bool is_it;

	memcpy(padded, octets, n_octets);
	a = &r->answers[hash_octets(r->seed, padded, sizeof(padded)) % RESOLVER_PLACES];
	pthread_mutex_lock(&r->lock);
	is_it = a->n_octets == n_octets && memcmp(a->octets, padded, sizeof(padded)) == 0;
	snprintf(name, RESOLVER_NAME_ROOM, "%s", is_it ? a->name : "");
	if (!a->is_waiting && (!is_it || clock_mono_us(r->clock) - a->asked_us >= RESOLVER_KEPT_US)) {
		if (!is_it)
			*a = (struct answer){.n_octets = (uint8_t)n_octets};
		memcpy(a->octets, padded, sizeof(a->octets));
		a->is_waiting = true;
		r->n_waiting++;
		pthread_cond_signal(&r->wanted);
	}
	pthread_mutex_unlock(&r->lock);
}
