/*
 * Replaces http.c where libcurl is missing: cluster_http_open() returns an error.
 */
#include "collector/cluster/http.h"

#include <errno.h>
#include <stdio.h>

bool
cluster_http_is_built(void)
{
	return false;
}

int
cluster_http_open(struct cluster_http **out, const struct cluster_http_config *config, char *error, size_t error_size)
{
	(void)out;
	(void)config;
	snprintf(error, error_size, "this program was built without libcurl (package "
				    "libcurl4-openssl-dev): it cannot reach ClickHouse");
	return -ENOSYS;
}

void
cluster_http_close(struct cluster_http *http)
{
	(void)http;
}

void
cluster_http_set_timeout(struct cluster_http *http, uint32_t timeout_ms)
{
	(void)http;
	(void)timeout_ms;
}

int
cluster_http_ask(struct cluster_http *http, const struct cluster_question *question)
{
	(void)http;
	(void)question;
	return -ENOSYS;
}

const char *
cluster_http_error(const struct cluster_http *http)
{
	(void)http;
	return "built without libcurl";
}

int
cluster_http_code(const struct cluster_http *http)
{
	(void)http;
	return 0;
}

const char *
cluster_http_server(const struct cluster_http *http, size_t server)
{
	(void)http;
	(void)server;
	return "";
}

size_t
cluster_http_n_servers(const struct cluster_http *http)
{
	(void)http;
	return 0;
}

void
cluster_http_sent(const struct cluster_http *http, uint64_t *octets, uint64_t *compressed)
{
	(void)http;
	*octets = *compressed = 0;
}
