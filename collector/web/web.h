/*
 * The collector's HTTP server: the page, its data as JSON under /api/v1/, /metrics for Prometheus,
 * /healthz. It reads the store as easetop does and shares only counters with the receiving threads,
 * so that no client can delay samples: one thread serves all clients and never waits for the store,
 * and a few threads of low priority run the queries (jobs.h).
 *
 * Access: no request changes anything. Without a token everybody who can reach the address can read
 * the data; the Host header must then be an IP address, localhost or a name of http_hosts, so that
 * no foreign page can read it through a browser. There is no TLS: put a proxy in front.
 */
#ifndef EASE_COLLECTOR_WEB_H
#define EASE_COLLECTOR_WEB_H

#include "collector/web/web_config.h"

struct web;

/* Opens the listening socket, which may need a privilege that is dropped before web_open. Returns
 * the descriptor for web_config.listen_fd, or -errno with the reason in error: -ENOSYS if this
 * program was built without the server. */
int web_listen(const char *listen, char *error, size_t error_size);

/* All of config is borrowed, but listen_fd is taken over in any case. 0, or -errno with the reason
 * in error. */
int web_open(struct web **out, const struct web_config *config, char *error, size_t error_size);

/* Sets another token and other names, borrowed as before; the former ones are no longer used when it
 * returns. From any thread. */
void web_allow(struct web *web, const char *token, const char *const *hosts, size_t n_hosts);

/* Reads the files of names again, others if they are; they are only read. 0, or -errno with the reason in error: then
 * questions go on with those before. */
int web_set_names(struct web *web, const struct web_names *names, char *error, size_t error_size);

/* "page at http://ADDRESS:PORT/" to standard output. */
void web_announce(const struct web *web);

/* The counters of the server. */
const struct stat_set *web_stats(const struct web *web);

/* Memory that it may use for connections and answers; queries have their own limit. */
size_t web_memory(uint32_t connections);

/* NULL is fine. */
void web_close(struct web *web);

#endif
