#include "collector/cluster/url.h"
#include "collector/cluster/schema.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define PREFIX "clickhouse:"

enum { HTTP_PORT = 8123, HTTPS_PORT = 8443 }; /* ClickHouse's own defaults */

bool
cluster_url_is_meant(const char *text)
{
	return strncmp(text, PREFIX, strlen(PREFIX)) == 0;
}

/* The rest of the text, and the first error. */
struct parser {
	const char *at;
	const char *reason;
};

static bool
skip_text(struct parser *p, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(p->at, text, n) != 0)
		return false;
	p->at += n;
	return true;
}

static void
fail_url(struct parser *p, const char *reason)
{
	if (!p->reason)
		p->reason = reason;
}

/* Copies n octets and skips them. */
static void
take_url_part(struct parser *p, char *to, size_t room, size_t n, const char *what)
{
	if (n == 0 || n >= room) {
		fail_url(p, what);
		return;
	}
	memcpy(to, p->at, n);
	to[n] = '\0';
	p->at += n;
}

static void
parse_user(struct parser *p, struct cluster_url *url)
{
	static const char further[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t n = strcspn(p->at, "/?@");

	if (p->at[n] != '@')
		return;
	if (memchr(p->at, ':', n)) {
		fail_url(p, "a URL must not contain a password: use clickhouse_password");
		return;
	}
	take_url_part(p, url->user, sizeof(url->user), n, "a user's name has 1 to 64 characters");
	if (strspn(url->user, further) != strlen(url->user))
		fail_url(p, "a user's name may contain only letters, digits, . _ -");
	p->at += p->reason ? 0 : 1;
}

static void
parse_host(struct parser *p, struct cluster_url *url)
{
	static const char host[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
	struct in6_addr address;

	if (!skip_text(p, "[")) {
		take_url_part(p, url->host, sizeof(url->host), strspn(p->at, host),
		    "a host name or address is needed after http://");
		return;
	}
	take_url_part(p, url->host, sizeof(url->host), strcspn(p->at, "]"),
	    "the brackets do not contain an IPv6 address");
	if (inet_pton(AF_INET6, url->host, &address) != 1)
		fail_url(p, "the brackets do not contain an IPv6 address");
	if (!p->reason && !skip_text(p, "]"))
		fail_url(p, "] is missing");
}

static void
url_parse_port(struct parser *p, struct cluster_url *url)
{
	unsigned long port = 0;
	size_t n;

	url->port = url->tls ? HTTPS_PORT : HTTP_PORT;
	if (!skip_text(p, ":"))
		return;
	n = strspn(p->at, "0123456789");
	for (size_t i = 0; i < n && i < 6; i++)
		port = port * 10 + (unsigned long)(p->at[i] - '0');
	if (n == 0 || n > 5 || port == 0 || port > UINT16_MAX)
		fail_url(p, "the port must be a number from 1 to 65535");
	url->port = (uint16_t)port;
	p->at += n;
}

static void
parse_names(struct parser *p, struct cluster_url *url)
{
	if (skip_text(p, "/") && *p->at && *p->at != '?') {
		take_url_part(p, url->database, sizeof(url->database), strcspn(p->at, "?"),
		    "a database's name has at most 64 characters");
		if (!p->reason && !cluster_is_database_name(url->database))
			fail_url(p, "a database's name may contain only letters, digits and _");
	}
	if (!skip_text(p, "?"))
		return;
	if (!skip_text(p, "cluster="))
		fail_url(p, "after ? only cluster=NAME is allowed");
	take_url_part(p, url->cluster, sizeof(url->cluster), strlen(p->at),
	    "a cluster's name has 1 to 64 characters");
	if (!p->reason && !cluster_is_cluster_name(url->cluster))
		fail_url(p, "a cluster's name may contain only letters, digits, _ . -");
}

int
cluster_url_parse(const char *text, struct cluster_url *url, const char **reason)
{
	static void (*const parts[])(struct parser *, struct cluster_url *) = {
	    parse_user, parse_host, url_parse_port, parse_names};
	struct parser p = {text, NULL};

	*url = (struct cluster_url){0};
	skip_text(&p, PREFIX);
	url->tls = skip_text(&p, "https://");
	if (!url->tls && !skip_text(&p, "http://"))
		fail_url(&p, "it must begin with http:// or https://");
	for (size_t i = 0; !p.reason && i < sizeof(parts) / sizeof(parts[0]); i++)
		parts[i](&p, url);
	if (!p.reason && *p.at)
		fail_url(&p, "unexpected text at its end");
	*reason = p.reason;
	return p.reason ? -EINVAL : 0;
}

const char *
cluster_url_check(const char *text)
{
	struct cluster_url url;
	const char *reason;

	cluster_url_parse(text, &url, &reason);
	return reason;
}
