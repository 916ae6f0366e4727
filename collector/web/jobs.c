#include "collector/web/jobs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { HTTP_UNAVAILABLE = 503 };

/* Queries run at low priority, because receiving comes first. */
enum { WORKER_NICE = 10 };

/* Who asks is told apart by so many places. */
enum { ASKERS = 64 };

enum state { QUEUED, RUNNING, DONE };

struct job {
	struct request *request;
	enum state state;
	struct reply reply;
	unsigned held; /* by askers */
	bool dropped;  /* no longer in jobs.all */
	uint64_t done_us;
	struct job_waiter *waiters;
	struct job *next; /* in the queue */
};

struct worker {
	struct jobs *jobs;
	unsigned number;
	pthread_t thread;
	bool started;
};

struct jobs {
	struct jobs_config config;
	pthread_mutex_t lock;
	pthread_cond_t queued;
	struct job *all[JOBS_MAX]; /* NULL: free */
	struct job *first, **last; /* the queue */
	size_t octets;		   /* of all replies */
	uint64_t n_served, served[ASKERS]; /* which service an asker's last one was */
	bool stopping;
	struct worker workers[JOBS_WORKERS];
};

static void
free_job(struct jobs *jobs, struct job *job)
{
	jobs->octets -= job->reply.octets + job->reply.n_gzip;
	free(job->reply.body);
	free(job->reply.gzip);
	free(job->request);
	free(job);
}

static bool
is_old(const struct jobs *jobs, const struct job *job)
{
	return job->state == DONE && clock_mono_us(jobs->config.clock) - job->done_us >= JOBS_KEEP_US;
}

/* An answer that is still being read is freed on its release. */
static void
drop_job(struct jobs *jobs, int at)
{
	struct job *job = jobs->all[at];

	jobs->all[at] = NULL;
	job->dropped = true;
	if (job->held == 0)
		free_job(jobs, job);
}

static void
jobs_drop_old(struct jobs *jobs)
{
	for (int i = 0; i < JOBS_MAX; i++)
		if (jobs->all[i] && is_old(jobs, jobs->all[i]))
			drop_job(jobs, i);
}

/* The oldest answer, of all or of those that nobody reads; JOBS_MAX: there is none. */
static int
oldest_answer(const struct jobs *jobs, bool unread)
{
	int at = JOBS_MAX;

	for (int i = 0; i < JOBS_MAX; i++) {
		const struct job *job = jobs->all[i];

		if (job && job->state == DONE && (!unread || job->held == 0) &&
		    (at == JOBS_MAX || job->done_us < jobs->all[at]->done_us))
			at = i;
	}
	return at;
}

/* A free place, made by dropping old answers if necessary; JOBS_MAX: all jobs are running, or the
 * answers that are still being read take too much memory. */
static int
find_place(struct jobs *jobs)
{
	int at;

	while (jobs->octets >= JOBS_OCTETS) {
		at = oldest_answer(jobs, true);
		if (at == JOBS_MAX)
			return at;
		drop_job(jobs, at);
	}
	for (at = 0; at < JOBS_MAX; at++)
		if (!jobs->all[at])
			return at;
	at = oldest_answer(jobs, false);
	if (at < JOBS_MAX)
		drop_job(jobs, at);
	return at;
}

/* ---- the workers ---- */

/* The caller holds the lock. */
static void
finish_job(struct jobs *jobs, struct job *job, const struct reply *reply)
{
	struct job_waiter *waiter = job->waiters, *next;

	job->reply = *reply;
	jobs->octets += reply->octets + reply->n_gzip;
	job->done_us = clock_mono_us(jobs->config.clock);
	job->state = DONE;
	job->waiters = NULL;
	for (; waiter; waiter = next) {
		next = waiter->next;
		jobs->config.wake(waiter);
	}
}

static uint64_t *
served_of(struct jobs *jobs, const struct job *job)
{
	return &jobs->served[job->request->asker % ASKERS];
}

/* The next job of the queue, long ones only if long_too: the first of the asker who was served longest ago. NULL: there
 * is none. */
static struct job *
next_job(struct jobs *jobs, bool long_too)
{
	struct job **at = NULL, *job;

	for (struct job **each = &jobs->first; *each; each = &(*each)->next)
		if ((long_too || !(*each)->request->is_long) && (!at || *served_of(jobs, *each) < *served_of(jobs, *at)))
			at = each;
	if (!at)
		return NULL;
	job = *at;
	*served_of(jobs, job) = ++jobs->n_served;
	*at = job->next;
	if (!job->next)
		jobs->last = at;
	return job;
}

static void *
run_worker(void *arg)
{
	struct worker *worker = arg;
	struct jobs *jobs = worker->jobs;

	setpriority(PRIO_PROCESS, (id_t)gettid(), WORKER_NICE);
	pthread_mutex_lock(&jobs->lock);
	while (!jobs->stopping) {
		struct reply reply = {0};
		struct job *job = next_job(jobs, worker->number == 0);

		if (!job) {
			pthread_cond_wait(&jobs->queued, &jobs->lock);
			continue;
		}
		job->state = RUNNING;
		pthread_mutex_unlock(&jobs->lock);
		jobs->config.run(jobs->config.arg, worker->number, job->request, &reply);
		pthread_mutex_lock(&jobs->lock);
		finish_job(jobs, job, &reply);
	}
	pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

/* ---- the asker ---- */

int
jobs_open(struct jobs **out, const struct jobs_config *config)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));
	int err = 0;

	if (!jobs)
		return -ENOMEM;
	jobs->config = *config;
	jobs->last = &jobs->first;
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->queued, NULL);
	for (unsigned i = 0; err == 0 && i < JOBS_WORKERS; i++) {
		struct worker *worker = &jobs->workers[i];

		worker->jobs = jobs;
		worker->number = i;
		err = -pthread_create(&worker->thread, NULL, run_worker, worker);
		worker->started = err == 0;
	}
	if (err) {
		jobs_stop(jobs);
		jobs_close(jobs);
		return err;
	}
	*out = jobs;
	return 0;
}

/* The caller holds the lock. An existing job for an equal request, or NULL. */
static struct job *
jobs_find_same(struct jobs *jobs, const struct request *request)
{
	for (int i = 0; i < JOBS_MAX; i++) {
		struct job *job = jobs->all[i];

		if (job && strcmp(job->request->key, request->key) == 0)
			return job;
	}
	return NULL;
}

/* Half of the room is left to others. */
static bool
has_its_share(const struct jobs *jobs, const struct request *request)
{
	size_t n = 0;

	for (int i = 0; i < JOBS_MAX && request->asker != 0; i++)
		n += jobs->all[i] && jobs->all[i]->state != DONE && jobs->all[i]->request->asker == request->asker;
	return n >= JOBS_MAX / 2;
}

/* The caller holds the lock. NULL: no room. */
static struct job *
add_job(struct jobs *jobs, struct request *request)
{
	int at = jobs->stopping || has_its_share(jobs, request) ? JOBS_MAX : find_place(jobs);
	struct job *job = at < JOBS_MAX ? calloc(1, sizeof(*job)) : NULL;

	if (!job)
		return NULL;
	job->request = request;
	jobs->all[at] = job;
	*jobs->last = job;
	jobs->last = &job->next;
	pthread_cond_broadcast(&jobs->queued); /* not every worker may take it */
	return job;
}

enum jobs_state
jobs_ask(struct jobs *jobs, struct request *request, struct job_waiter *waiter, struct job **out)
{
	enum jobs_state state = JOB_REFUSED;
	struct job *job;

	pthread_mutex_lock(&jobs->lock);
	jobs_drop_old(jobs);
	job = jobs_find_same(jobs, request);
	if (!job) {
		job = add_job(jobs, request);
		request = job ? NULL : request;
	}
	if (job) {
		job->held++;
		state = job->state == DONE ? JOB_SHARED : JOB_WAITING;
	}
	if (state == JOB_WAITING) {
		jobs->config.sleep(waiter);
		waiter->next = job->waiters;
		job->waiters = waiter;
	}
	pthread_mutex_unlock(&jobs->lock);
	free(request);
	*out = job;
	return state;
}

const struct reply *
job_reply(const struct job *job)
{
	return &job->reply;
}

void
jobs_release(struct jobs *jobs, struct job *job)
{
	if (!job)
		return;
	pthread_mutex_lock(&jobs->lock);
	if (--job->held == 0 && job->dropped)
		free_job(jobs, job);
	jobs_drop_old(jobs);
	pthread_mutex_unlock(&jobs->lock);
}

void
jobs_stop(struct jobs *jobs)
{
	const struct reply none = {.status = HTTP_UNAVAILABLE};
	struct job *job;

	pthread_mutex_lock(&jobs->lock);
	jobs->stopping = true;
	while ((job = next_job(jobs, true)))
		finish_job(jobs, job, &none);
	pthread_cond_broadcast(&jobs->queued);
	pthread_mutex_unlock(&jobs->lock);
	for (int i = 0; i < JOBS_WORKERS; i++)
		if (jobs->workers[i].started)
			pthread_join(jobs->workers[i].thread, NULL);
}

void
jobs_close(struct jobs *jobs)
{
	if (!jobs)
		return;
	for (int i = 0; i < JOBS_MAX; i++)
		if (jobs->all[i])
			free_job(jobs, jobs->all[i]);
	pthread_cond_destroy(&jobs->queued);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs);
}
