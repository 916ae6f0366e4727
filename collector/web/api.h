/*
 * What all endpoints (endpoints.h) share: the names and vendors of addresses, the store opened for
 * one question with its limits, and replies with a body or an error.
 */
#ifndef EASE_COLLECTOR_WEB_API_H
#define EASE_COLLECTOR_WEB_API_H

#include "collector/filter/address_names.h"
#include "collector/query/query.h"
#include "collector/web/jobs.h"
#include "collector/web/moments.h"
#include "collector/web/web_config.h"

#include <stdio.h>

#define API_JSON "application/json"
#define API_CSV "text/csv"

enum web_stat_id {
	WEB_STAT_REQUESTS,
	WEB_STAT_SHARED,
	WEB_STAT_QUESTIONS,
	WEB_STAT_REFUSED_REQUEST,
	WEB_STAT_REFUSED_TOKEN,
	WEB_STAT_REFUSED_HOST,
	WEB_STAT_REFUSED_SITE,
	WEB_STAT_REFUSED_BUSY,
	WEB_STAT_TOO_LONG,
	WEB_STAT_FAILED,
	WEB_STAT_DAMAGED,
	WEB_STAT_MALFORMED,
	WEB_STAT_CONNECTIONS,
	WEB_STAT_SLOW,
	WEB_STAT_EVICTED,
	WEB_STAT_NO_MEMORY,
	WEB_N_STATS,
};

struct api {
	const struct web_config *config;
	const struct stat_set *stats; /* enum web_stat_id */
	struct address_names *names[JOBS_WORKERS];
	struct address_names *_Atomic fresh_names[JOBS_WORKERS]; /* in place of those, from the next question on; or NULL */
	struct resolver *resolver; /* NULL: nobody has asked for it */
	struct moments moments;	    /* not used with a cluster */
	bool has_lent[JOBS_WORKERS]; /* the worker has one of its queries */
	_Atomic bool stopping;
	_Atomic uint64_t damaged_inode; /* of the store's file that was found to be damaged last; 0: none */
};

/* Reads the files of names and vendors. 0, or -errno with the reason in error. api_close in both cases. */
int api_open(struct api *api, char *error, size_t error_size);
void api_close(struct api *api);

/* Reads the files again, others if they are. 0, or -errno with the reason in error: then the names stay. */
int api_set_names(struct api *api, const struct web_names *names, char *error, size_t error_size);

/* For a question of that worker, which calls it. */
struct address_names *api_names(struct api *api, unsigned worker);

/* The collector's sets of counters, and the server's own set as the last one. */
static inline size_t
api_n_stats(const struct api *api)
{
	return api->config->n_stats + 1;
}
static inline const struct stat_set *
api_stats(const struct api *api, size_t i)
{
	return i < api->config->n_stats ? api->config->stats[i] : api->stats;
}

/* A body {"error": message}; without memory there is none, and web.c answers 503. */
void api_error(struct reply *reply, int status, const char *message);

/* A query failed because the store's file of that inode is damaged: counts it, logs it once and tells the store. */
void api_note_damage(struct api *api, uint64_t inode);

/* Opens the store or the cluster that the page shows, for a query with its limits; NULL after
 * setting the reply. */
struct query *api_open_store(struct api *api, struct reply *reply);

/* Opens the collector's own store: if /metrics were of the cluster, Prometheus would get the same
 * series from each collector. */
struct query *api_open_own(struct api *api, struct reply *reply);

/* The same for a moment, or a new one: whose name is *wall_us; 0: for what is stored now. To be closed by
 * api_close_moment with the error that the question ended with. */
struct query *api_open_moment(struct api *api, unsigned worker, uint64_t wall_us, struct reply *reply);
struct query *api_begin_moment(struct api *api, unsigned worker, uint64_t *wall_us, struct reply *reply);
void api_close_moment(struct api *api, unsigned worker, uint64_t wall_us, struct query *query, int err);

/* Sets the reply for the error of a query. */
void api_failed(struct api *api, const struct query *query, int err, struct reply *reply);

/* Sets the body to what write() writes. 0 or what write() returned. */
int api_write(struct reply *reply, int (*write)(FILE *out, const void *arg), const void *arg);

#endif
