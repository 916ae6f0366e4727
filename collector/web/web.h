/*
 * The collector's HTTP server: the page, its data as JSON under /api/v1/, /metrics for Prometheus,
 * /healthz. It reads the store as easetop does and shares nothing with the receiving threads but
 * their counters, so that nothing a client does is in the way of samples: one thread serves all
 * clients and never waits for the store, a few of low priority answer questions (jobs.h).
 *
 * Who may do what: there is no way to change anything. Without a token everybody who reaches the
 * address may read, but a browser only by the names it is told of (or a number, or localhost), so
 * that no page of somebody else's can. No TLS: that is a proxy's business.
 */
#ifndef EASE_COLLECTOR_WEB_H
#define EASE_COLLECTOR_WEB_H

#include "collector/web/web_config.h"

struct web;

/* Opens the socket that listens, which may take a privilege that the rest must not have. A
 * descriptor for web_config.listen_fd, or -errno with the reason in error: -ENOSYS if this program
 * was built without the server. */
int web_listen(const char *listen, char *error, size_t error_size);

/* All of config is borrowed, but listen_fd is taken over in any case. 0, or -errno with the reason
 * in error. */
int web_open(struct web **out, const struct web_config *config, char *error, size_t error_size);

/* Another token and other names from now on, borrowed as before; the former ones are in nobody's
 * use any more when it returns. From any thread. */
void web_allow(struct web *web, const char *token, const char *const *hosts, size_t n_hosts);

/* "page at http://ADDRESS:PORT/" to standard output. */
void web_announce(const struct web *web);

/* Its own counters. */
const struct stat_set *web_stats(const struct web *web);

/* Memory that it may take for connections and answers, questions left out. */
size_t web_memory(uint32_t connections);

/* NULL is fine. */
void web_close(struct web *web);

#endif
