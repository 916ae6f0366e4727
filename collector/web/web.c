#include "collector/web/web.h"

#include "collector/web/connections.h"
#include "collector/web/endpoints.h"
#include "collector/web/page.h"
#include "common/endpoint.h"
#include "common/log.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM "web"

enum {
	/* Memory of a connection: limits the length of a request with its headers. */
	CONNECTION_OCTETS = 24576, /* a parameter takes some 70 of them */
	/* More than `connections` exist until those that are being closed are gone. */
	SPARE_CONNECTIONS = 64,
	OTHER_FILES = 128, /* descriptors that the rest of the collector may need */
	CHECK_MS = 500, /* between two checks of the connections' deadlines */
	POLL_FAILED_US = 100000, /* a pause after poll() failed */
	MESSAGE_TEXT = 256,
};

static const struct stat_name stat_names[WEB_N_STATS] = {
    [WEB_STAT_REQUESTS] = {"web.requests", "requests received"},
    [WEB_STAT_SHARED] = {"web.shared", "of these: answered with the answer to an equal request"},
    [WEB_STAT_QUESTIONS] = {"web.questions", "queries of the store or the cluster"},
    [WEB_STAT_REFUSED_REQUEST] = {"web.refused_request",
	"requests refused: unknown path, or an option that is unknown or invalid"},
    [WEB_STAT_REFUSED_TOKEN] = {"web.refused_token", "requests refused: token missing or wrong"},
    [WEB_STAT_REFUSED_HOST] = {"web.refused_host", "requests refused: host name not in http_hosts"},
    [WEB_STAT_REFUSED_SITE] = {"web.refused_site", "requests refused: a page of another site made a browser send them"},
    [WEB_STAT_REFUSED_BUSY] = {"web.refused_busy", "requests refused: too many were waiting"},
    [WEB_STAT_TOO_LONG] = {"web.too_long", "queries ended after http_question"},
    [WEB_STAT_FAILED] = {"web.failed", "queries that failed"},
    [WEB_STAT_DAMAGED] = {"web.damaged", "of these: because the store's file is damaged"},
    [WEB_STAT_MALFORMED] = {"web.malformed", "connections with malformed HTTP"},
    [WEB_STAT_CONNECTIONS] = {"web.connections", "connections accepted"},
    [WEB_STAT_SLOW] = {"web.slow", "connections closed because the client was too slow"},
    [WEB_STAT_EVICTED] = {"web.evicted", "connections closed to make room for others"},
    [WEB_STAT_NO_MEMORY] = {"web.no_memory",
	"requests refused, or connections closed, without memory"},
};

struct web {
	struct web_config config;
	pthread_mutex_t allowed; /* guards its token and hosts */
	struct stat_set stats;
	_Atomic uint64_t values[WEB_N_STATS];
	struct api api;
	struct jobs *jobs;
	struct web_connections clients;
	struct MHD_Daemon *daemon;
	char url[ENDPOINT_TEXT + 16];
	bool is_public; /* other machines reach it */
	char message[MESSAGE_TEXT]; /* the library's last one */
	int wake_fd; /* eventfd: wakes the thread for a finished job, or to stop */
	_Atomic bool stopping;
	pthread_t thread;
	bool started;
};

/* One request and its answer. */
struct exchange {
	struct job_waiter waiter; /* first, so that a waiter is its exchange */
	struct web *web;
	struct MHD_Connection *connection;
	struct web_connection *client;
	char *uri;
	struct job *job; /* held */
	bool begun, waited;
};

static void
count_web(struct web *web, enum web_stat_id which)
{
	stat_add(&web->stats, which, 1);
}

/* ---- answers to the client ---- */

static const struct header {
	const char *name, *value;
} headers[] = {
	{"Content-Security-Policy",
	    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
	    " font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none';"
	    " form-action 'none'; frame-ancestors 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
};

/* Queues a response with the further headers (ended by a row without name) and releases it. */
static enum MHD_Result
web_send_response(struct exchange *x, unsigned status, struct MHD_Response *response, const struct header *further)
{
	enum MHD_Result r = response ? MHD_YES : MHD_NO;

	for (size_t i = 0; r == MHD_YES && i < sizeof(headers) / sizeof(headers[0]); i++)
		r = MHD_add_response_header(response, headers[i].name, headers[i].value);
	for (; r == MHD_YES && further && further->name; further++)
		r = MHD_add_response_header(response, further->name, further->value);
	if (r == MHD_YES) {
		connection_enter(&x->web->clients, x->client, CONNECTION_RESPONSE);
		r = MHD_queue_response(x->connection, status, response);
	}
	if (r != MHD_YES) /* the library closes the connection: better than an incomplete answer */
		count_web(x->web, WEB_STAT_NO_MEMORY);
	if (response)
		MHD_destroy_response(response);
	return r;
}

/* An answer that needs no memory. */
static enum MHD_Result
send_refusal(struct exchange *x)
{
	static const char stopping[] = "{\"error\":\"the collector is stopping\"}";
	static const char no_memory[] = "{\"error\":\"the collector is out of memory\"}";
	static const struct header further[] = {{"Content-Type", API_JSON},
		{"Cache-Control", "no-store"}, {"Retry-After", "1"}, {0}};
	const char *body = x->web->stopping ? stopping : no_memory;

	if (body == no_memory)
		count_web(x->web, WEB_STAT_NO_MEMORY);
	return web_send_response(x, MHD_HTTP_SERVICE_UNAVAILABLE, MHD_create_response_from_buffer(
	    strlen(body), (void *)(uintptr_t)body, MHD_RESPMEM_PERSISTENT), further);
}

static enum MHD_Result
send_error(struct exchange *x, unsigned status, const char *message, const struct header *also)
{
	struct header further[] = {{"Content-Type", API_JSON}, {"Cache-Control", "no-store"},
		also ? *also : (struct header){0}, {0}};
	struct MHD_Response *response;
	struct reply reply = {0};

	api_error(&reply, (int)status, message);
	if (!reply.body)
		return send_refusal(x);
	response = MHD_create_response_from_buffer(reply.octets, reply.body, MHD_RESPMEM_MUST_FREE);
	if (!response)
		free(reply.body); /* the library did not take it over */
	return web_send_response(x, status, response, further);
}

static bool
header_has(struct exchange *x, const char *name, const char *part)
{
	const char *value = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);

	return value && strstr(value, part);
}

/* Weight 0 says no (RFC 9110, 12.4.2). */
static bool
takes_gzip(struct exchange *x)
{
	const char *value = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	const char *gzip = value ? strstr(value, "gzip") : NULL;
	float weight = 1;

	return gzip && (sscanf(gzip, "gzip ; q =%f", &weight) < 1 || weight > 0);
}

static enum MHD_Result
send_reply(struct exchange *x)
{
	static const struct header retry = {"Retry-After", "1"};
	const struct reply *reply = job_reply(x->job);
	bool gzip = reply->gzip && takes_gzip(x);
	struct header further[] = {{"Content-Type", reply->content_type},
		{"Cache-Control", "no-store"}, {"Vary", "Accept-Encoding"},
		gzip ? (struct header){"Content-Encoding", "gzip"}
		     : reply->status == MHD_HTTP_SERVICE_UNAVAILABLE ? retry : (struct header){0},
		{0}};

	if (!reply->body)
		return send_refusal(x);
	return web_send_response(x, (unsigned)reply->status, MHD_create_response_from_buffer(
	    gzip ? reply->n_gzip : reply->octets, gzip ? reply->gzip : reply->body,
	    MHD_RESPMEM_PERSISTENT), further);
}

static enum MHD_Result
send_file(struct exchange *x, const char *name)
{
	const struct page_file *file = page_files;
	bool gzip = takes_gzip(x);

	while (file->name && strcmp(file->name, name) != 0)
		file++;
	if (!file->name) {
		count_web(x->web, WEB_STAT_REFUSED_REQUEST);
		return send_error(x, MHD_HTTP_NOT_FOUND, "not found", NULL);
	}
	struct header further[] = {{"Content-Type", file->content_type}, {"ETag", file->etag},
		{"Cache-Control", file->keep}, {"Vary", "Accept-Encoding"},
		gzip ? (struct header){"Content-Encoding", "gzip"} : (struct header){0}, {0}};

	if (header_has(x, "If-None-Match", file->etag))
		return web_send_response(x, MHD_HTTP_NOT_MODIFIED,
		    MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT), further + 1);
	return web_send_response(x, MHD_HTTP_OK, MHD_create_response_from_buffer(
	    gzip ? file->n_gzip : file->n_octets,
	    (void *)(uintptr_t)(gzip ? file->gzip : file->octets), MHD_RESPMEM_PERSISTENT), further);
}

/* ---- access ---- */

/* Takes the same time whatever was sent. */
static bool
is_same_secret(const char *a, const char *b)
{
	size_t n = strlen(b);
	unsigned differs = strlen(a) != n;

	for (size_t i = 0; i < n; i++)
		differs |= (unsigned)(a[differs ? 0 : i] ^ b[i]);
	return differs == 0;
}

static bool
web_has_token(struct exchange *x)
{
	static const char bearer[] = "Bearer ";
	const char *sent = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND,
	    MHD_HTTP_HEADER_AUTHORIZATION);

	return sent && strncasecmp(sent, bearer, strlen(bearer)) == 0 &&
	    is_same_secret(sent + strlen(bearer), x->web->config.token);
}

/* An IP address, localhost or a name of http_hosts, each with or without a port. Else a foreign
 * page whose name was made to resolve to this address (DNS rebinding) could read the data through
 * the user's browser. */
static bool
is_our_host(const struct web *web, const char *host)
{
	struct endpoint ignored;
	const char *reason, *colon = strrchr(host, ':');
	char name[256], with_port[300];
	size_t len = colon && !strchr(colon, ']') ? (size_t)(colon - host) : strlen(host);

	if (len >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)len, host);
	snprintf(with_port, sizeof(with_port), "%s:0", name);
	if (strcasecmp(name, "localhost") == 0 || endpoint_parse(with_port, &ignored, &reason) == 0)
		return true;
	for (size_t i = 0; i < web->config.n_hosts; i++)
		if (strcasecmp(name, web->config.hosts[i]) == 0)
			return true;
	return false;
}

static bool
is_allowed_host(struct exchange *x)
{
	const char *host = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND,
	    MHD_HTTP_HEADER_HOST);

	return *x->web->config.token || !host || is_our_host(x->web, host);
}

/* A page of another site can read no answer, but it could make the browsers of its visitors ask without end. Browsers say
 * so (Fetch Metadata, section 2.3); nobody else does. A link that somebody followed leaves that page. */
static bool
is_of_other_site(struct exchange *x)
{
	if (header_has(x, "Sec-Fetch-User", "?1") && header_has(x, "Sec-Fetch-Dest", "document"))
		return false;
	return header_has(x, "Sec-Fetch-Site", "cross-site") || header_has(x, "Sec-Fetch-Site", "same-site");
}

/* ---- requests ---- */

static void
sleep_waiter(struct job_waiter *waiter)
{
	MHD_suspend_connection(((struct exchange *)waiter)->connection);
}

/* The library does not wake a poll() that is not its own. */
static void
wake_waiter(struct job_waiter *waiter)
{
	struct exchange *x = (struct exchange *)waiter;
	struct web *web = x->web; /* x may be freed once it is resumed */

	MHD_resume_connection(x->connection);
	eventfd_write(web->wake_fd, 1);
}

/* By the client's address, of IPv6 the network's; 0: it is not known. */
static uint64_t
asker_of(struct exchange *x)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *address = info ? info->client_addr : NULL;
	uint64_t halves[2] = {0}; /* the first is 0 of IPv4 in IPv6 */

	if (address && address->sa_family == AF_INET)
		halves[0] = ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr;
	else if (address && address->sa_family == AF_INET6)
		memcpy(halves, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, sizeof(halves));
	return halves[0] ? halves[0] : halves[1];
}

/* Takes the request over. */
static enum MHD_Result
ask_jobs(struct exchange *x, struct request *request)
{
	static const struct header retry = {"Retry-After", "1"};

	connection_enter(&x->web->clients, x->client, CONNECTION_WAIT);
	switch (jobs_ask(x->web->jobs, request, &x->waiter, &x->job)) {
	case JOB_SHARED:
		count_web(x->web, WEB_STAT_SHARED);
		/* fall through */
	case JOB_READY:
		return send_reply(x);
	case JOB_WAITING:
		x->waited = true;
		return MHD_YES;
	case JOB_REFUSED:
		break;
	}
	count_web(x->web, WEB_STAT_REFUSED_BUSY);
	if (connections_evict_reader(&x->web->clients))
		count_web(x->web, WEB_STAT_EVICTED);
	return send_error(x, MHD_HTTP_SERVICE_UNAVAILABLE, "too many requests are waiting", &retry);
}

static enum MHD_Result
serve_request(struct exchange *x)
{
	static const struct header bearer = {"WWW-Authenticate", "Bearer realm=\"easeswitch\""};
	struct request *request = malloc(sizeof(*request));
	char error[REQUEST_ERROR] = "";
	bool right_host, right_token;
	enum MHD_Result r;
	int status;

	if (!request)
		return send_refusal(x);
	status = request_parse(x->uri, request, error);
	pthread_mutex_lock(&x->web->allowed);
	right_host = is_allowed_host(x);
	right_token = !*x->web->config.token || web_has_token(x);
	pthread_mutex_unlock(&x->web->allowed);
	if (!right_host) {
		count_web(x->web, WEB_STAT_REFUSED_HOST);
		r = send_error(x, MHD_HTTP_MISDIRECTED_REQUEST, "host name not allowed: add it to http_hosts", NULL);
	} else if (status != MHD_HTTP_OK) {
		count_web(x->web, WEB_STAT_REFUSED_REQUEST);
		r = send_error(x, (unsigned)status, error, NULL);
	} else if (request->kind == REQUEST_FILE) {
		r = send_file(x, request->file);
	} else if (!right_token && request->kind != REQUEST_HEALTH) {
		count_web(x->web, WEB_STAT_REFUSED_TOKEN);
		r = send_error(x, MHD_HTTP_UNAUTHORIZED, "token missing or wrong", &bearer);
	} else if (is_of_other_site(x)) {
		count_web(x->web, WEB_STAT_REFUSED_SITE);
		r = send_error(x, MHD_HTTP_FORBIDDEN, "a page of another site may not ask this collector", NULL);
	} else {
		request->asker = asker_of(x);
		return ask_jobs(x, request);
	}
	free(request);
	return r;
}

/* ---- callbacks of the library ---- */

static void *
on_uri(void *arg, const char *uri, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection,
	    MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct exchange *x = info && info->socket_context ? calloc(1, sizeof(*x)) : NULL;
	struct web *web = arg;

	count_web(web, WEB_STAT_REQUESTS);
	if (!x) {
		count_web(web, WEB_STAT_NO_MEMORY);
		return NULL;
	}
	x->web = web;
	x->connection = connection;
	x->client = info->socket_context;
	x->client->request = x;
	x->uri = strdup(uri);
	return x;
}

static enum MHD_Result
on_request(void *arg, struct MHD_Connection *connection, const char *url, const char *method,
    const char *version, const char *upload, size_t *n_upload, void **context)
{
	static const struct header allow = {"Allow", "GET, HEAD"};
	struct exchange *x = *context;

	(void)arg, (void)connection, (void)url, (void)version, (void)upload;
	if (!x)
		return MHD_NO;
	if (!x->uri)
		return send_refusal(x);
	if (x->job)
		return send_reply(x); /* woken */
	if (!x->begun && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
		count_web(x->web, WEB_STAT_REFUSED_REQUEST);
		return send_error(x, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are allowed", &allow);
	}
	if (!x->begun || *n_upload > 0) { /* a body is ignored */
		x->begun = true;
		*n_upload = 0;
		return MHD_YES;
	}
	return serve_request(x);
}

static void
web_free_exchange(struct exchange *x)
{
	x->client->request = NULL;
	jobs_release(x->web->jobs, x->job);
	free(x->uri);
	free(x);
}

static void
on_completed(void *arg, struct MHD_Connection *connection, void **context, enum MHD_RequestTerminationCode code)
{
	struct exchange *x = *context;

	(void)arg, (void)connection, (void)code;
	if (!x)
		return;
	if (x->client->state != CONNECTION_CLOSING)
		connection_enter(&x->web->clients, x->client, CONNECTION_REQUEST);
	web_free_exchange(x);
	*context = NULL;
}

static void
on_connection(void *arg, struct MHD_Connection *connection, void **context, enum MHD_ConnectionNotificationCode code)
{
	struct web *web = arg;
	struct web_connection *client = *context;
	bool evicted;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection,
		    MHD_CONNECTION_INFO_CONNECTION_FD);

		count_web(web, WEB_STAT_CONNECTIONS);
		*context = connections_add(&web->clients, info->connect_fd, &evicted);
		if (evicted)
			count_web(web, WEB_STAT_EVICTED);
	} else if (client) {
		if (client->request) /* too long for the library, which did not call on_completed */
			web_free_exchange(client->request);
		connections_remove(&web->clients, client);
		*context = NULL;
	}
}

static void __attribute__((format(printf, 2, 0)))
on_message(void *arg, const char *format, va_list args)
{
	struct web *web = arg;

	count_web(web, WEB_STAT_MALFORMED);
	vsnprintf(web->message, sizeof(web->message), format, args);
	web->message[strcspn(web->message, "\r\n")] = '\0';
	log_debug(ROOM, "%s", web->message);
}

/* ---- the thread ---- */

static int
wait_ms(struct web *web)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(web->daemon, &ms) == MHD_YES && ms < CHECK_MS)
		return (int)ms;
	return CHECK_MS;
}

static void *
serve_web(void *arg)
{
	struct web *web = arg;
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(web->daemon,
	    MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd polls[] = {{.fd = info->epoll_fd, .events = POLLIN},
		{.fd = web->wake_fd, .events = POLLIN}};
	eventfd_t times;

	while (!web->stopping) {
		if (poll(polls, 2, wait_ms(web)) < 0 && errno != EINTR) {
			log_warn_limited(ROOM, "poll: %s", strerror(errno));
			usleep(POLL_FAILED_US); /* the system is short of memory for now */
		}
		if (polls[1].revents & POLLIN)
			eventfd_read(web->wake_fd, &times);
		MHD_run(web->daemon);
		stat_add(&web->stats, WEB_STAT_SLOW, connections_close_late(&web->clients));
		moments_expire(&web->api.moments, clock_mono_us(web->config.clock));
	}
	return NULL;
}

/* ---- opening ---- */

int
web_listen(const char *listen_at, char *error, size_t error_size)
{
	struct endpoint at;
	const char *reason;
	int yes = 1, err = endpoint_parse(listen_at, &at, &reason), fd;

	if (err) {
		snprintf(error, error_size, "http_listen: %s: %s", listen_at, reason);
		return err;
	}
	fd = socket(at.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
		if (at.address.ss_family == AF_INET6)
			setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
		if (bind(fd, (struct sockaddr *)&at.address, at.len) == 0 && listen(fd, SOMAXCONN) == 0)
			return fd;
	}
	err = -errno;
	snprintf(error, error_size, "http_listen: %s: %s", listen_at, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

static int
start_daemon(struct web *web, char *error, size_t error_size)
{
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
	struct stat before, after;

	fstat(web->config.listen_fd, &before);
	web->daemon = MHD_start_daemon(flags, 0, NULL, NULL, on_request, web,
	    MHD_OPTION_EXTERNAL_LOGGER, on_message, web, /* first: reports errors of the others */
	    MHD_OPTION_LISTEN_SOCKET, web->config.listen_fd,
	    MHD_OPTION_CONNECTION_LIMIT, (unsigned)(web->config.connections + SPARE_CONNECTIONS),
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_OCTETS,
	    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(CONNECTION_RESPONSE_US / 1000000),
	    MHD_OPTION_URI_LOG_CALLBACK, on_uri, web,
	    MHD_OPTION_NOTIFY_COMPLETED, on_completed, web,
	    MHD_OPTION_NOTIFY_CONNECTION, on_connection, web, MHD_OPTION_END);
	if (web->daemon)
		return 0;
	/* Some versions have closed the socket by then, and its number may be another's. */
	if (fstat(web->config.listen_fd, &after) < 0 || after.st_ino != before.st_ino)
		web->config.listen_fd = -1;
	snprintf(error, error_size, "libmicrohttpd: %s", web->message);
	return -EIO;
}

/* The address with the port that the system chose for port 0. */
static void
web_read_address(struct web *web)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	char text[ENDPOINT_TEXT];

	if (getsockname(web->config.listen_fd, (struct sockaddr *)&address, &len) != 0) {
		strcpy(web->url, "an unknown address");
		web->is_public = true; /* a warning too many does no harm */
		return;
	}
	endpoint_format((struct sockaddr *)&address, true, text);
	snprintf(web->url, sizeof(web->url), "http://%s/", text);
	web->is_public = !endpoint_is_loopback((struct sockaddr *)&address);
}

static void
warn_without_token(const struct web *web)
{
	if (web->is_public && !*web->config.token)
		log_warn(ROOM, "everybody who can reach %s can read the data: http_token is empty", web->url);
}

void
web_allow(struct web *web, const char *token, const char *const *hosts, size_t n_hosts)
{
	pthread_mutex_lock(&web->allowed);
	web->config.token = token;
	web->config.hosts = hosts;
	web->config.n_hosts = n_hosts;
	pthread_mutex_unlock(&web->allowed);
	warn_without_token(web);
}

int
web_set_names(struct web *web, const struct web_names *names, char *error, size_t error_size)
{
	return api_set_names(&web->api, names, error, error_size);
}

/* However many clients there are, the store must be able to open its file again. */
static void
limit_connections(struct web *web)
{
	uint32_t all = SPARE_CONNECTIONS + OTHER_FILES;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= web->config.connections + all)
		return;
	web->config.connections = limit.rlim_cur > all ? (uint32_t)limit.rlim_cur - all : 1;
	log_warn(ROOM, "http_connections: only %u are possible with a limit of %llu open files",
	    web->config.connections, (unsigned long long)limit.rlim_cur);
}

static int
web_open_all(struct web *web, char *error, size_t error_size)
{
	const struct jobs_config jobs = {.arg = &web->api, .run = endpoint_answer,
	    .sleep = sleep_waiter, .wake = wake_waiter, .clock = web->config.clock};
	int err;

	web_read_address(web);
	warn_without_token(web);
	snprintf(error, error_size, "cannot start the page's threads");
	web->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = web->wake_fd < 0 ? -errno : api_open(&web->api, error, error_size);
	if (err == 0)
		err = jobs_open(&web->jobs, &jobs);
	if (err == 0)
		err = start_daemon(web, error, error_size);
	if (err == 0)
		err = -pthread_create(&web->thread, NULL, serve_web, web);
	web->started = err == 0;
	return err;
}

int
web_open(struct web **out, const struct web_config *config, char *error, size_t error_size)
{
	struct web *web = calloc(1, sizeof(*web));
	int err;

	if (!web) {
		close(config->listen_fd);
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	web->config = *config;
	pthread_mutex_init(&web->allowed, NULL);
	web->stats = (struct stat_set){stat_names, WEB_N_STATS, web->values};
	limit_connections(web);
	web->api.config = &web->config;
	web->api.stats = &web->stats;
	web->clients = (struct web_connections){.clock = config->clock, .most = config->connections};
	web->wake_fd = -1;
	err = web_open_all(web, error, error_size);
	if (err) {
		web_close(web);
		return err;
	}
	*out = web;
	return 0;
}

void
web_announce(const struct web *web)
{
	printf("page at %s\n", web->url);
	fflush(stdout);
}

const struct stat_set *
web_stats(const struct web *web)
{
	return &web->stats;
}

size_t
web_memory(uint32_t connections)
{
	return (size_t)(connections + SPARE_CONNECTIONS) * CONNECTION_OCTETS + JOBS_OCTETS +
	    (size_t)JOBS_WORKERS * JOBS_REPLY_OCTETS;
}

/* The workers end first, because suspended connections must be resumed before they are closed. */
void
web_close(struct web *web)
{
	if (!web)
		return;
	web->api.stopping = true;
	web->stopping = true;
	if (web->started) {
		eventfd_write(web->wake_fd, 1);
		pthread_join(web->thread, NULL);
	}
	if (web->jobs)
		jobs_stop(web->jobs);
	if (web->daemon) {
		MHD_run(web->daemon);
		MHD_stop_daemon(web->daemon);
	} else if (web->config.listen_fd >= 0) {
		close(web->config.listen_fd);
	}
	jobs_close(web->jobs);
	api_close(&web->api);
	if (web->wake_fd >= 0)
		close(web->wake_fd);
	pthread_mutex_destroy(&web->allowed);
	free(web);
}
