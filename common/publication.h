/*
 * Data that one thread makes anew from time to time and any thread reads: a reader holds the newest, which never
 * changes while it is held, and lives until its last holder has released it. The lock is over pointer and counts
 * alone, and is never held while data is made.
 *
 *     struct published_rows {
 *             struct published head;  the first member
 *             struct rows rows;       what holders get
 *     };
 */
#ifndef EASE_COMMON_PUBLICATION_H
#define EASE_COMMON_PUBLICATION_H

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct publication;

/* The head of one block from malloc(). */
struct published {
	struct publication *publication;
	unsigned references; /* the publication's own among them */
};

struct publication {
	pthread_mutex_t lock;
	struct published *newest; /* NULL before the first */
};

static inline void
publication_init(struct publication *p)
{
	pthread_mutex_init(&p->lock, NULL);
	p->newest = NULL;
}

/* NULL allowed. Any thread. */
static inline void
published_release(struct published *held)
{
	unsigned left;

	if (held == NULL)
		return;
	pthread_mutex_lock(&held->publication->lock);
	assert(held->references > 0);
	left = --held->references;
	pthread_mutex_unlock(&held->publication->lock);
	if (left == 0)
		free(held);
}

/* Takes fresh in place of the newest. Only the thread that makes the data. */
static inline void
publication_replace(struct publication *p, struct published *fresh)
{
	struct published *old;

	*fresh = (struct published){p, 1};
	pthread_mutex_lock(&p->lock);
	old = p->newest;
	p->newest = fresh;
	pthread_mutex_unlock(&p->lock);
	published_release(old);
}

/* Returns the newest, or NULL. The caller must release it. Any thread. */
static inline struct published *
publication_hold(struct publication *p)
{
	struct published *newest;

	pthread_mutex_lock(&p->lock);
	newest = p->newest;
	if (newest != NULL)
		newest->references++;
	pthread_mutex_unlock(&p->lock);
	return newest;
}

/* All that was held must have been released. */
static inline void
publication_end(struct publication *p)
{
	assert(p->newest == NULL || p->newest->references == 1);
	published_release(p->newest);
	pthread_mutex_destroy(&p->lock);
}

/* What type has at member, from what holders got of it. */
#define PUBLISHED_OF(held, type, member)                                                            \
	((held) == NULL ? NULL : (struct published *)((uintptr_t)(held) - offsetof(type, member)))

#endif
