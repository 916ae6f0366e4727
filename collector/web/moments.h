/*
 * Moments: what the sections of one look at the page have in common, so that they never disagree. A page first asks
 * for a moment, which resolves the range and its live edge once, and then puts each question to that moment. While
 * the moment is kept, all of them read one state of the store: each worker has a read transaction of it.
 *
 * A read transaction keeps the write-ahead log from being emptied. So one moment is kept at a time, only while it is
 * asked for, and after some seconds with one or other there is a pause. Looks that begin at the same time share a
 * moment. A question to one that is not kept, as to any of a cluster, has the moment's range and edge still, and reads
 * what is stored now.
 */
#ifndef EASE_COLLECTOR_WEB_MOMENTS_H
#define EASE_COLLECTOR_WEB_MOMENTS_H

#include "collector/query/query.h"
#include "collector/web/jobs.h"

#include <pthread.h>

/* Looks within this time share a moment, and so their answers. */
#define MOMENTS_SHARED_US JOBS_KEEP_US
/* A moment is given up when nobody has asked for it so long. *assumed*: a browser puts six questions at a time, and
 * few of them take longer than a second. */
#define MOMENTS_IDLE_US 1500000u
/* So long there may be one after the other; each is given up then. */
#define MOMENTS_ROW_US 20000000u
/* Then there is none: the writer has a transaction in this time, and can empty the log. */
#define MOMENTS_PAUSE_US 2000000u

struct moments {
	pthread_mutex_t lock;
	uint64_t wall_us; /* when the moment was made, which is its name; 0: none is kept */
	uint64_t made_us, asked_us, ended_us; /* monotonic */
	uint64_t row_us; /* when the first was made of those without a pause between them */
	unsigned n_lent;
	struct query *query[JOBS_WORKERS]; /* NULL while the worker has it */
};

void moments_open(struct moments *moments);
void moments_close(struct moments *moments);

/* The worker's query of the moment if that is still to be shared, else of a new one of the store at that path, made
 * at that time of both clocks. *wall_us: the moment's name. NULL: there is another or a pause, the store cannot be
 * read, or its states change too fast to get two equal ones. */
struct query *moments_begin(struct moments *moments, unsigned worker, const char *path, uint64_t mono_us,
    uint64_t *wall_us);

/* The worker's query of that moment; NULL: it is not kept. */
struct query *moments_take(struct moments *moments, unsigned worker, uint64_t wall_us, uint64_t mono_us);

/* Gives back what either of them returned; NULL: it was closed. */
void moments_give_back(struct moments *moments, unsigned worker, uint64_t wall_us, uint64_t mono_us,
    struct query *query);

/* Gives the moment up if nobody asks for it. Does not wait. */
void moments_expire(struct moments *moments, uint64_t mono_us);

#endif
