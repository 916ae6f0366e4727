/*
 * A few threads that run queries, with request coalescing: equal requests share one query, and its
 * answer is kept for a second, so that a hundred viewers cost one query. The numbers of waiting
 * requests and of kept answers are limited; beyond these limits a request is refused. Who asks much waits for who
 * asks little, and leaves half of the room to others.
 *
 * One thread asks and releases; it never waits. `sleep` is called before a job that is not ready
 * can wake its waiter, `wake` by the thread that answered; both with a lock held, so they must not
 * call back.
 */
#ifndef EASE_COLLECTOR_WEB_JOBS_H
#define EASE_COLLECTOR_WEB_JOBS_H

#include "collector/web/request.h"
#include "common/clock.h"

#include <stddef.h>
#include <stdint.h>

enum {
	JOBS_WORKERS = 2, /* the first runs all queries, the others no long ones */
	/* Kept or running: a page sends eight requests at a time, so some pages with different
	 * filters find room. */
	JOBS_MAX = 64,
	JOBS_REPLY_OCTETS = 4 << 20, /* the largest answer: the load of some 9,000 ports */
	JOBS_OCTETS = 8 << 20,	     /* all kept answers: clients may read slowly */
};
#define JOBS_KEEP_US 1000000u /* the store is written once a second */

struct reply {
	int status; /* HTTP */
	const char *content_type;
	char *body; /* by malloc; NULL: empty */
	size_t octets;
	void *gzip; /* the same compressed, by malloc; NULL: not worth it */
	size_t n_gzip;
};

/* A waiting request; part of the asker's own structure. */
struct job_waiter {
	struct job_waiter *next;
};

struct jobs_config {
	void *arg;
	/* Answers; called by worker 0 .. JOBS_WORKERS-1, never twice at once for the same one. */
	void (*run)(void *arg, unsigned worker, const struct request *request, struct reply *reply);
	void (*sleep)(struct job_waiter *waiter);
	void (*wake)(struct job_waiter *waiter);
	const struct clock *clock; /* borrowed */
};

struct jobs;
struct job;

/* 0 or -errno. */
int jobs_open(struct jobs **out, const struct jobs_config *config);

enum jobs_state {
	JOB_READY,
	JOB_SHARED,  /* ready: the answer to an equal request */
	JOB_WAITING, /* wake() will be called */
	JOB_REFUSED, /* no room; *job is NULL */
};

/* Takes the request (by malloc) over. Unless refused, the job is the caller's until released. */
enum jobs_state jobs_ask(struct jobs *jobs, struct request *request, struct job_waiter *waiter, struct job **job);

/* The reply of a job that is ready; valid until it is released. */
const struct reply *job_reply(const struct job *job);
void jobs_release(struct jobs *jobs, struct job *job);

/* Ends the threads after their present queries; waiting requests are woken with status 503. */
void jobs_stop(struct jobs *jobs);

/* After jobs_stop, when all are released. NULL is fine. */
void jobs_close(struct jobs *jobs);

#endif
