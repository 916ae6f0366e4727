#include "collector/filter/resolver.h"
#include "collector/web/api.h"

#include "common/log.h"
#include "common/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HTTP_BAD_REQUEST = 400, HTTP_UNAVAILABLE = 503 };

#define VENDORS_FOLDER "/usr/share/ieee-data" /* where Debian's package ieee-data has it */

/* One for each worker, who asks it without a lock. */
static int
open_names(struct api *api, const struct web_names *names, struct address_names *opened[static JOBS_WORKERS], char *error,
    size_t error_size)
{
	uint64_t seed = (uint64_t)(uintptr_t)api ^ clock_wall_us(api->config->clock);
	int err = names->resolve && !api->resolver ? resolver_new(&api->resolver, seed, api->config->clock) : 0;
	const struct address_names_options options = {
	    .file = *names->file ? names->file : NULL,
	    .vendors = names->vendors ? VENDORS_FOLDER : NULL,
	    .databases = names->databases,
	    .n_databases = names->n_databases,
	    .resolver = names->resolve ? api->resolver : NULL,
	};

	if (err < 0)
		snprintf(error, error_size, "the thread for names of the resolver: %s", strerror(-err));
	for (int i = 0; err == 0 && i < JOBS_WORKERS; i++)
		err = address_names_open(&options, &opened[i], error, error_size);
	return err;
}

int
api_open(struct api *api, char *error, size_t error_size)
{
	moments_open(&api->moments);
	return open_names(api, &api->config->names, api->names, error, error_size);
}

int
api_set_names(struct api *api, const struct web_names *names, char *error, size_t error_size)
{
	struct address_names *fresh[JOBS_WORKERS] = {NULL};
	int err = open_names(api, names, fresh, error, error_size);

	for (int i = 0; i < JOBS_WORKERS; i++)
		address_names_close(err == 0 ? atomic_exchange(&api->fresh_names[i], fresh[i]) : fresh[i]);
	return err;
}

struct address_names *
api_names(struct api *api, unsigned worker)
{
	struct address_names *fresh = atomic_exchange(&api->fresh_names[worker], NULL);

	if (fresh) {
		address_names_close(api->names[worker]);
		api->names[worker] = fresh;
	}
	return api->names[worker];
}

void
api_close(struct api *api)
{
	moments_close(&api->moments);
	for (int i = 0; i < JOBS_WORKERS; i++) {
		address_names_close(api->names[i]);
		address_names_close(api->fresh_names[i]);
	}
	resolver_free(api->resolver);
}

/* ---- replies ---- */

void
api_error(struct reply *reply, int status, const char *message)
{
	char *shown = utf8_printable_copy(message); /* it may quote who asked, and what devices say */
	json_t *object = shown ? json_pack("{s:s}", "error", shown) : NULL;

	free(shown);
	free(reply->body);
	reply->status = status;
	reply->content_type = API_JSON;
	reply->body = object ? json_dumps(object, JSON_COMPACT) : NULL;
	reply->octets = reply->body ? strlen(reply->body) : 0;
	json_decref(object);
}

/* A reply while it is written: it ends where it is too large, and not when all is there. */
struct writing {
	struct reply *reply;
	size_t room;
	int err;
};

static ssize_t
write_octets(void *cookie, const char *octets, size_t n)
{
	struct writing *w = cookie;
	struct reply *reply = w->reply;

	if (n > JOBS_REPLY_OCTETS - reply->octets)
		w->err = -E2BIG;
	if (w->err)
		return 0; /* an error, to stdio */
	if (reply->octets + n > w->room) {
		size_t room = 2 * w->room > reply->octets + n ? 2 * w->room : reply->octets + n;
		char *body = realloc(reply->body, room);

		if (!body) {
			w->err = -ENOMEM;
			return 0;
		}
		reply->body = body;
		w->room = room;
	}
	memcpy(reply->body + reply->octets, octets, n);
	reply->octets += n;
	return (ssize_t)n;
}

int
api_write(struct reply *reply, int (*write)(FILE *out, const void *arg), const void *arg)
{
	struct writing w = {.reply = reply};
	FILE *out = fopencookie(&w, "w", (cookie_io_functions_t){.write = write_octets});
	int err;

	if (!out)
		return -ENOMEM;
	err = write(out, arg);
	if (fclose(out) != 0 && err == 0)
		err = -ENOMEM;
	return w.err ? w.err : err;
}

static struct query_limits
limits_of_question(const struct api *api)
{
	const struct web_config *config = api->config;

	return (struct query_limits){
	    .clock = config->clock,
	    .deadline_us = clock_mono_us(config->clock) + config->question_ms * 1000ull,
	    .cancel = &api->stopping,
	    .keys = config->question_keys,
	};
}

void
api_note_damage(struct api *api, uint64_t inode)
{
	stat_add(api->stats, WEB_STAT_DAMAGED, 1);
	if (atomic_exchange(&api->damaged_inode, inode) == inode)
		return;
	log_error("web", "%s is damaged: a question could not be answered", api->config->store);
	if (api->config->damaged)
		api->config->damaged(api->config->damaged_arg, inode);
}

static struct query *
open_query(struct api *api, const struct query_cluster *cluster, struct reply *reply)
{
	const struct web_config *config = api->config;
	const struct query_limits limits = limits_of_question(api);
	char error[QUERY_ERROR_TEXT];
	struct query *query;
	struct stat st;
	uint64_t inode = stat(config->store, &st) == 0 ? st.st_ino : 0; /* before it may be set aside */
	int err;

	stat_add(api->stats, WEB_STAT_QUESTIONS, 1);
	err = cluster ? query_open_cluster(cluster, &limits, &query, error, sizeof(error))
		      : query_open(config->store, &query, error, sizeof(error));
	if (err) {
		stat_add(api->stats, WEB_STAT_FAILED, 1);
		if (err == -EUCLEAN)
			api_note_damage(api, inode);
		log_warn_limited("web", "%s", error);
		api_error(reply, HTTP_UNAVAILABLE, cluster ? "the cluster does not answer"
							     : "the store cannot be read");
		return NULL;
	}
	query_limit(query, &limits);
	return query;
}

struct query *
api_open_own(struct api *api, struct reply *reply)
{
	return open_query(api, NULL, reply);
}

struct query *
api_open_store(struct api *api, struct reply *reply)
{
	return open_query(api, api->config->cluster, reply);
}

/* ---- moments ---- */

/* The query that a moment lends; where that has none, one of what is stored now. */
static struct query *
open_lent(struct api *api, unsigned worker, struct query *lent, struct reply *reply)
{
	const struct query_limits limits = limits_of_question(api);

	api->has_lent[worker] = lent != NULL;
	if (!lent)
		return api_open_store(api, reply);
	stat_add(api->stats, WEB_STAT_QUESTIONS, 1);
	query_limit(lent, &limits);
	return lent;
}

struct query *
api_open_moment(struct api *api, unsigned worker, uint64_t wall_us, struct reply *reply)
{
	struct query *lent = NULL;

	if (!api->config->cluster) /* which has no states to be kept */
		lent = moments_take(&api->moments, worker, wall_us, clock_mono_us(api->config->clock));
	return open_lent(api, worker, lent, reply);
}

struct query *
api_begin_moment(struct api *api, unsigned worker, uint64_t *wall_us, struct reply *reply)
{
	struct query *lent = NULL;

	*wall_us = clock_wall_us(api->config->clock);
	if (!api->config->cluster)
		lent = moments_begin(&api->moments, worker, api->config->store, clock_mono_us(api->config->clock),
		    wall_us);
	return open_lent(api, worker, lent, reply);
}

/* A query that failed for another reason than what it was asked is not used again. */
void
api_close_moment(struct api *api, unsigned worker, uint64_t wall_us, struct query *query, int err)
{
	bool is_usable = err == 0 || err == -EINVAL || err == -ENOENT;

	if (!api->has_lent[worker] || !is_usable)
		query_close(query);
	if (api->has_lent[worker])
		moments_give_back(&api->moments, worker, wall_us, clock_mono_us(api->config->clock),
		    is_usable ? query : NULL);
	api->has_lent[worker] = false;
}

/* The store's path is not told to clients. */
static const char *
without_path(const struct query *query)
{
	size_t len = strlen(query->path);

	if (strncmp(query->error, query->path, len) == 0 && query->error[len] == ':')
		return query->error + len + 2;
	return query->error;
}

void
api_failed(struct api *api, const struct query *query, int err, struct reply *reply)
{
	switch (err) {
	case -EINVAL:
	case -ENOENT:
	case -E2BIG:
		stat_add(api->stats, WEB_STAT_REFUSED_REQUEST, 1);
		api_error(reply, HTTP_BAD_REQUEST,
		    *query->error ? without_path(query)
				  : "the answer is too large: ask for fewer rows or a shorter range");
		break;
	case -ETIMEDOUT:
		stat_add(api->stats, WEB_STAT_TOO_LONG, 1);
		api_error(reply, HTTP_UNAVAILABLE, without_path(query));
		break;
	default:
		stat_add(api->stats, WEB_STAT_FAILED, 1);
		if (query->is_damaged)
			api_note_damage(api, query->inode);
		api_error(reply, HTTP_UNAVAILABLE, *query->error ? without_path(query) : strerror(-err));
		break;
	}
}
