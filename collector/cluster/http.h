/*
 * Client of ClickHouse's HTTP interface, with libcurl: sends statements to one of several servers.
 * If a server cannot be reached, or has status 502 to 504, the next one is tried; an error about the
 * statement itself is an answer and is not tried again elsewhere. The server that answered last is
 * tried first.
 *
 * Bodies are sent compressed, and compressed answers are requested. User name and password are sent
 * in headers, never in a URL, a message or the log. One thread at a time uses an object; calls
 * block, for at most the timeout.
 *
 * Without libcurl at build time, cluster_http_open() returns an error.
 */
#ifndef EASE_COLLECTOR_CLUSTER_HTTP_H
#define EASE_COLLECTOR_CLUSTER_HTTP_H

#include "collector/cluster/url.h"

#include <stddef.h>

struct cluster_http;

enum { CLUSTER_ERROR_TEXT = 1024 };

struct cluster_http_config {
	const struct cluster_url *servers; /* copied */
	size_t n_servers;
	const char *user, *password; /* copied; NULL or "": ClickHouse's default user; a URL's own
				      * user comes first */
	uint32_t timeout_ms;	     /* for a whole answer; connecting takes at most a tenth */
	/* Called at least every second during a call: true ends it with -ECANCELED. May be
	 * NULL. */
	bool (*stop)(void *arg);
	void *stop_arg;
};

/* True if this build has libcurl. */
bool cluster_http_is_built(void);

/* 0, -ENOMEM, or -ENOSYS: built without libcurl; then error has the reason. */
int cluster_http_open(struct cluster_http **out, const struct cluster_http_config *config,
    char *error, size_t error_size);
void cluster_http_close(struct cluster_http *http);

/* Sets the time limit of a whole answer from now on; 0: none. */
void cluster_http_set_timeout(struct cluster_http *http, uint32_t timeout_ms);

/* Receives a part of an answer. 0, or -errno, which ends the call and is its result. */
typedef int cluster_answer_fn(void *arg, const void *octets, size_t n);

enum { CLUSTER_ANY_SERVER = -1 };

struct cluster_question {
	const char *sql;
	const char *settings; /* "name=value&name=value" as in a URL, or NULL */
	const void *body;     /* rows of an INSERT … FORMAT, or NULL */
	size_t body_octets;
	int server; /* index, or CLUSTER_ANY_SERVER */
	cluster_answer_fn *take; /* NULL: the answer is ignored */
	void *arg;
};

/* 0 when the whole answer has arrived with status 200, else -errno with the reason in
 * cluster_http_error(): -EHOSTUNREACH no server answered, -ETIMEDOUT, -ECANCELED, -EREMOTEIO a
 * server refused the statement (cluster_http_code() has ClickHouse's number), -EBADMSG an invalid
 * answer, or the result of take. After any error but -EREMOTEIO it is unknown whether an INSERT
 * arrived. */
int cluster_http_ask(struct cluster_http *http, const struct cluster_question *question);

/* Of the last call. The texts live until the next one. */
const char *cluster_http_error(const struct cluster_http *http);
int cluster_http_code(const struct cluster_http *http);

/* "host:port" of a server, for messages. */
const char *cluster_http_server(const struct cluster_http *http, size_t server);
size_t cluster_http_n_servers(const struct cluster_http *http);

/* Octets sent in bodies, before and after compression. */
void cluster_http_sent(const struct cluster_http *http, uint64_t *octets, uint64_t *compressed);

#endif
