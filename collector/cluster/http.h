/*
 * ClickHouse's HTTP interface, by libcurl: statements to one of several servers. A server that
 * cannot be reached, or is in trouble itself (status 502 to 504), is passed over for the next; what
 * it says about a statement is an answer and is not asked again elsewhere. The server that answered
 * last is asked first.
 *
 * Bodies are sent compressed, answers are asked for compressed. The user's name and password go in
 * headers, never into an address, a message or the log. One thread at a time uses an object; calls
 * block, for at most the time given.
 *
 * Where libcurl was missing when this was built, cluster_http_open() says so.
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
	/* Asked at least every second, from within a call: true ends it with -ECANCELED. May be
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

/* From now on a whole answer may take so long; 0: for ever. */
void cluster_http_set_timeout(struct cluster_http *http, uint32_t timeout_ms);

/* Takes a part of an answer. 0, or -errno: ends the call, which gives it back. */
typedef int cluster_answer_fn(void *arg, const void *octets, size_t n);

enum { CLUSTER_ANY_SERVER = -1 };

struct cluster_question {
	const char *sql;
	const char *settings; /* "name=value&name=value" as in a URL, or NULL */
	const void *body;     /* rows of an INSERT … FORMAT, or NULL */
	size_t body_octets;
	int server; /* index, or CLUSTER_ANY_SERVER */
	cluster_answer_fn *take; /* NULL: the answer is of no interest */
	void *arg;
};

/* 0 when the whole answer has come with status 200, else -errno with the reason in
 * cluster_http_error(): -EHOSTUNREACH no server answered, -ETIMEDOUT, -ECANCELED, -EREMOTEIO a
 * server says no to the statement (cluster_http_code() has ClickHouse's number), -EBADMSG an answer
 * that is none, or what take gave. After any error but -EREMOTEIO it is not known whether an INSERT
 * arrived. */
int cluster_http_ask(struct cluster_http *http, const struct cluster_question *question);

/* Of the last call. The texts live until the next one. */
const char *cluster_http_error(const struct cluster_http *http);
int cluster_http_code(const struct cluster_http *http);

/* "host:port" of a server, for people. */
const char *cluster_http_server(const struct cluster_http *http, size_t server);
size_t cluster_http_n_servers(const struct cluster_http *http);

/* Octets sent in bodies, before and after compression. */
void cluster_http_sent(const struct cluster_http *http, uint64_t *octets, uint64_t *compressed);

#endif
