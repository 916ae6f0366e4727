/*
 * Answers to requests that need the store or the collector's counters; run by the workers of
 * jobs.h, each with a reading connection of its own for each question.
 */
#ifndef EASE_COLLECTOR_WEB_ANSWER_H
#define EASE_COLLECTOR_WEB_ANSWER_H

#include "collector/report/directory.h"
#include "collector/report/query.h"
#include "collector/web/jobs.h"
#include "collector/web/web.h"

#include <stdio.h>

#define ANSWER_JSON "application/json"

enum web_stat_id {
	WEB_STAT_REQUESTS,
	WEB_STAT_SHARED,
	WEB_STAT_QUESTIONS,
	WEB_STAT_REFUSED_REQUEST,
	WEB_STAT_REFUSED_TOKEN,
	WEB_STAT_REFUSED_HOST,
	WEB_STAT_REFUSED_BUSY,
	WEB_STAT_TOO_LONG,
	WEB_STAT_FAILED,
	WEB_STAT_MALFORMED,
	WEB_STAT_CONNECTIONS,
	WEB_STAT_SLOW,
	WEB_STAT_EVICTED,
	WEB_STAT_NO_MEMORY,
	WEB_N_STATS,
};

struct answerer {
	const struct web_config *config;
	const struct stat_set *stats; /* enum web_stat_id */
	struct directory *names[JOBS_WORKERS];
	_Atomic bool stopping;
};

/* Reads the names. 0, or -errno with the reason in error. answerer_close in both cases. */
int answerer_open(struct answerer *answerer, char *error, size_t error_size);
void answerer_close(struct answerer *answerer);

/* The collector's sets of counters, and the server's own as the last. */
static inline size_t
answer_n_stats(const struct answerer *answerer)
{
	return answerer->config->n_stats + 1;
}
static inline const struct stat_set *
answer_stats(const struct answerer *answerer, size_t i)
{
	return i < answerer->config->n_stats ? answerer->config->stats[i] : answerer->stats;
}

/* For jobs_config.run; arg is the answerer. */
void answer(void *arg, unsigned worker, const struct request *request, struct reply *reply);

/* A body {"error": message}; without memory none, which web.c tells as 503. */
void answer_error(struct reply *reply, int status, const char *message);

/* What the page shows, the store or the cluster, opened for a question with its limits; NULL after
 * setting the reply. */
struct query *answer_open_store(struct answerer *answerer, struct reply *reply);

/* The collector's own store, always: of a cluster each collector would tell Prometheus all. */
struct query *answer_open_own(struct answerer *answerer, struct reply *reply);

/* The reply that an error of a question means. */
void answer_failed(struct answerer *answerer, const struct query *query, int err,
    struct reply *reply);

/* The body that write() writes. 0 or what it returned. */
int answer_write(struct reply *reply, int (*write)(FILE *out, const void *arg), const void *arg);

/* /api/v1/status, /metrics */
void answer_status(struct answerer *answerer, struct reply *reply);
void answer_metrics(struct answerer *answerer, struct reply *reply);

#endif
