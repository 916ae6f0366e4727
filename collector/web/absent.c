/*
 * Replaces web.c where libmicrohttpd is missing: web_listen reports that there is no page.
 */
#include "collector/web/web.h"

#include <errno.h>
#include <stdio.h>

int
web_listen(const char *listen_at, char *error, size_t error_size)
{
	(void)listen_at;
	snprintf(error, error_size, "this easecapd was built without the page (libmicrohttpd)");
	return -ENOSYS;
}

int
web_open(struct web **out, const struct web_config *config, char *error, size_t error_size)
{
	(void)out, (void)config, (void)error, (void)error_size;
	return -ENOSYS;
}

void
web_allow(struct web *web, const char *token, const char *const *hosts, size_t n_hosts)
{
	(void)web, (void)token, (void)hosts, (void)n_hosts;
}

int
web_set_names(struct web *web, const struct web_names *names, char *error, size_t error_size)
{
	(void)web, (void)names, (void)error, (void)error_size;
	return 0;
}

void
web_announce(const struct web *web)
{
	(void)web;
}

const struct stat_set *
web_stats(const struct web *web)
{
	static const struct stat_set none = {0};

	(void)web;
	return &none;
}

size_t
web_memory(uint32_t connections)
{
	(void)connections;
	return 0;
}

void
web_close(struct web *web)
{
	(void)web;
}
