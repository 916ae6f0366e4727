#include "collector/cluster/http.h"
#include "common/clock.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
	ERROR_BODY = 2048, /* octets kept of a server's error message */
	SERVER_TEXT = CLUSTER_HOST_TEXT + 16,
	HEADER_TEXT = 512,
	COMPRESS_FROM = 1024, /* octets: smaller bodies are sent as they are */
	CONNECT_LEAST_MS = 500,
	GZIP_WINDOW = 15 + 16, /* zlib: largest window, gzip's frame */
	GZIP_MEMORY = 8,
};

struct server {
	struct cluster_url url;
	char name[SERVER_TEXT];
};

struct cluster_http {
	struct server *servers;
	size_t n_servers, current;
	char *user, *password;
	uint32_t timeout_ms;
	bool (*stop)(void *arg);
	void *stop_arg;
	CURL *curl;
	struct {
		uint8_t *data;
		size_t len, room;
	} body; /* compressed */
	uint64_t sent, sent_compressed;
	/* of the present call */
	const struct cluster_question *question;
	int taken; /* first error of question->take */
	bool has_taken; /* it received a part of the answer */
	uint64_t until_us; /* monotonic */
	char says[ERROR_BODY]; /* the body of a status other than 200 */
	size_t n_says;
	char curl_error[CURL_ERROR_SIZE];
	char error[CLUSTER_ERROR_TEXT];
	int code;
};

bool
cluster_http_is_built(void)
{
	return true;
}

/* Opening */

static void
start_curl(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

static char *
http_copy_text(const char *text)
{
	return strdup(text ? text : "");
}

static int
copy_servers(struct cluster_http *http, const struct cluster_http_config *config)
{
	http->servers = calloc(config->n_servers, sizeof(*http->servers));
	if (!http->servers)
		return -ENOMEM;
	http->n_servers = config->n_servers;
	for (size_t i = 0; i < config->n_servers; i++) {
		struct server *server = &http->servers[i];
		bool is_ipv6 = strchr(config->servers[i].host, ':') != NULL;

		server->url = config->servers[i];
		snprintf(server->name, sizeof(server->name), is_ipv6 ? "[%s]:%u" : "%s:%u",
		    server->url.host, server->url.port);
	}
	return 0;
}

static size_t
http_take_octets(char *octets, size_t size, size_t n, void *arg)
{
	struct cluster_http *http = arg;
	long status = 0;

	(void)size; /* always 1 */
	/* curl looks at the time when it has inflated what it received, which may be a thousand times as much */
	if (clock_mono_us(&clock_system) > http->until_us)
		http->taken = -ETIMEDOUT;
	else if (http->stop && http->stop(http->stop_arg))
		http->taken = -ECANCELED;
	if (http->taken != 0)
		return 0;
	curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200) {
		size_t most = sizeof(http->says) - 1 - http->n_says, kept = n < most ? n : most;

		memcpy(http->says + http->n_says, octets, kept);
		http->n_says += kept;
		return n;
	}
	http->has_taken = http->question->take != NULL;
	if (http->question->take)
		http->taken = http->question->take(http->question->arg, octets, n);
	return http->taken == 0 ? n : 0;
}

static int
look_around(void *arg, curl_off_t to, curl_off_t have, curl_off_t out_to, curl_off_t out)
{
	struct cluster_http *http = arg;

	(void)to;
	(void)have;
	(void)out_to;
	(void)out;
	return http->stop && http->stop(http->stop_arg);
}

static int
set_up(struct cluster_http *http)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start_curl);
	http->curl = curl_easy_init();
	if (!http->curl)
		return -ENOMEM;
	if (curl_easy_setopt(http->curl, CURLOPT_PROTOCOLS_STR, "http,https") != CURLE_OK ||
	    /* proxies of the environment are for the web, not for a cluster */
	    curl_easy_setopt(http->curl, CURLOPT_PROXY, "") != CURLE_OK ||
	    curl_easy_setopt(http->curl, CURLOPT_ACCEPT_ENCODING, "gzip, deflate") != CURLE_OK)
		return -ENOMEM;
	curl_easy_setopt(http->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(http->curl, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, http->curl_error);
	curl_easy_setopt(http->curl, CURLOPT_WRITEFUNCTION, http_take_octets);
	curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, http);
	curl_easy_setopt(http->curl, CURLOPT_XFERINFOFUNCTION, look_around);
	curl_easy_setopt(http->curl, CURLOPT_XFERINFODATA, http);
	curl_easy_setopt(http->curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(http->curl, CURLOPT_POST, 1L);
	return 0;
}

int
cluster_http_open(struct cluster_http **out, const struct cluster_http_config *config, char *error, size_t error_size)
{
	struct cluster_http *http = calloc(1, sizeof(*http));
	int r = -ENOMEM;

	if (http) {
		http->user = http_copy_text(config->user);
		http->password = http_copy_text(config->password);
		http->stop = config->stop;
		http->stop_arg = config->stop_arg;
		cluster_http_set_timeout(http, config->timeout_ms);
		if (http->user && http->password)
			r = copy_servers(http, config);
	}
	if (r == 0)
		r = set_up(http);
	if (r < 0) {
		snprintf(error, error_size, "out of memory");
		cluster_http_close(http);
		return r;
	}
	*out = http;
	return 0;
}

void
cluster_http_close(struct cluster_http *http)
{
	if (!http)
		return;
	if (http->curl)
		curl_easy_cleanup(http->curl);
	if (http->password)
		explicit_bzero(http->password, strlen(http->password));
	free(http->password);
	free(http->user);
	free(http->servers);
	free(http->body.data);
	free(http);
}

void
cluster_http_set_timeout(struct cluster_http *http, uint32_t timeout_ms)
{
	http->timeout_ms = timeout_ms;
}

/* A request */

/* Compresses the body; false: it is sent as it is. */
static bool
compress_body(struct cluster_http *http, const struct cluster_question *q)
{
	z_stream z = {0};
	bool done = false;
	size_t most;

	if (q->body_octets < COMPRESS_FROM || q->body_octets > UINT32_MAX / 2 ||
	    deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
		Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	most = deflateBound(&z, q->body_octets);
	if (most > http->body.room) {
		uint8_t *data = realloc(http->body.data, most);

		if (data) {
			http->body.data = data;
			http->body.room = most;
		}
	}
	if (most <= http->body.room) {
		z.next_in = (void *)(uintptr_t)q->body;
		z.avail_in = (uInt)q->body_octets;
		z.next_out = http->body.data;
		z.avail_out = (uInt)http->body.room;
		done = deflate(&z, Z_FINISH) == Z_STREAM_END;
		http->body.len = http->body.room - z.avail_out;
	}
	deflateEnd(&z);
	return done;
}

/* With rows as the body the statement is in the URL, else it is the body. */
static char *
make_address(struct cluster_http *http, const struct server *server)
{
	const struct cluster_question *q = http->question;
	char *address = NULL, *sql = NULL;
	size_t size;
	FILE *out = open_memstream(&address, &size);

	if (!out)
		return NULL;
	fprintf(out, "%s://%s/?enable_http_compression=1", server->url.tls ? "https" : "http", server->name);
	if (q->settings && *q->settings)
		fprintf(out, "&%s", q->settings);
	if (q->body) {
		sql = curl_easy_escape(http->curl, q->sql, 0);
		fprintf(out, "&query=%s", sql ? sql : "");
	}
	if (fclose(out) != 0 || (q->body && !sql)) {
		free(address);
		address = NULL;
	}
	curl_free(sql);
	return address;
}

/* False: no memory. */
static bool
add_header(struct curl_slist **list, const char *name, const char *value)
{
	char header[HEADER_TEXT];
	struct curl_slist *longer;

	/* a name with a colon removes a header that curl would send */
	snprintf(header, sizeof(header), *value ? "%s: %s" : "%s:", name, value);
	longer = curl_slist_append(*list, header);
	explicit_bzero(header, sizeof(header));
	if (longer)
		*list = longer;
	return longer != NULL;
}

/* All headers or NULL, since an incomplete request must not be sent. */
static struct curl_slist *
make_headers(const struct cluster_http *http, const struct server *server, bool compressed)
{
	const char *user = *server->url.user ? server->url.user : http->user;
	struct curl_slist *list = NULL;

	if (add_header(&list, "Expect", "") &&
	    add_header(&list, "Content-Type", "application/octet-stream") &&
	    (!compressed || add_header(&list, "Content-Encoding", "gzip")) &&
	    (!*user || add_header(&list, "X-ClickHouse-User", user)) &&
	    (!*http->password || add_header(&list, "X-ClickHouse-Key", http->password)))
		return list;
	curl_slist_free_all(list);
	return NULL;
}

static void
set_body(struct cluster_http *http, bool compressed)
{
	const struct cluster_question *q = http->question;
	const void *data = compressed ? http->body.data : q->body ? q->body : q->sql;
	size_t n = compressed ? http->body.len : q->body ? q->body_octets : strlen(q->sql);

	curl_easy_setopt(http->curl, CURLOPT_POSTFIELDS, data);
	curl_easy_setopt(http->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
	if (q->body) {
		http->sent += q->body_octets;
		http->sent_compressed += n;
	}
}

/* Reads ClickHouse's error: "Code: 60, e.displayText() = DB::Exception: …". */
static int
refuse_answer(struct cluster_http *http, const struct server *server, long status)
{
	http->says[strcspn(http->says, "\r\n")] = '\0';
	if (sscanf(http->says, "Code: %d", &http->code) != 1)
		http->code = 0;
	if (*http->says)
		snprintf(http->error, sizeof(http->error), "%s: %.*s", server->name,
		    (int)sizeof(http->error) / 2, http->says);
	else
		snprintf(http->error, sizeof(http->error), "%s: status %ld", server->name, status);
	return status >= 502 && status <= 504 ? -EHOSTUNREACH : -EREMOTEIO;
}

static int
judge_transfer(struct cluster_http *http, const struct server *server, CURLcode result)
{
	long status = 0;

	if (http->taken != 0) {
		snprintf(http->error, sizeof(http->error), "%s: cannot process the answer: %s",
		    server->name, strerror(-http->taken));
		return http->taken;
	}
	if (result == CURLE_OK) {
		curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
		return status == 200 ? 0 : refuse_answer(http, server, status);
	}
	snprintf(http->error, sizeof(http->error), "%s: %s", server->name,
	    *http->curl_error ? http->curl_error : curl_easy_strerror(result));
	switch (result) {
	case CURLE_ABORTED_BY_CALLBACK:
		return -ECANCELED;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	case CURLE_BAD_CONTENT_ENCODING:
	case CURLE_WEIRD_SERVER_REPLY:
		return -EBADMSG;
	default: /* after a partial answer another server must not be tried */
		return http->has_taken ? -EBADMSG : -EHOSTUNREACH;
	}
}

static int
ask_server(struct cluster_http *http, const struct server *server, bool compressed)
{
	struct curl_slist *headers = make_headers(http, server, compressed);
	char *address = make_address(http, server);
	CURLcode result = CURLE_OUT_OF_MEMORY;

	http->taken = 0;
	http->until_us = http->timeout_ms > 0 ? clock_mono_us(&clock_system) + http->timeout_ms * UINT64_C(1000) : UINT64_MAX;
	http->has_taken = false;
	http->n_says = 0;
	memset(http->says, 0, sizeof(http->says));
	*http->curl_error = '\0';
	if (headers && address) {
		uint32_t connect_ms = http->timeout_ms / 10;

		if (connect_ms < CONNECT_LEAST_MS)
			connect_ms = CONNECT_LEAST_MS;
		curl_easy_setopt(http->curl, CURLOPT_TIMEOUT_MS, (long)http->timeout_ms);
		curl_easy_setopt(http->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
		set_body(http, compressed);
		curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
		result = curl_easy_setopt(http->curl, CURLOPT_URL, address);
		if (result == CURLE_OK)
			result = curl_easy_perform(http->curl);
		curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, NULL);
	}
	curl_slist_free_all(headers);
	free(address);
	return judge_transfer(http, server, result);
}

int
cluster_http_ask(struct cluster_http *http, const struct cluster_question *question)
{
	bool any = question->server == CLUSTER_ANY_SERVER, compressed;
	size_t tries = any ? http->n_servers : 1;
	size_t at = any ? http->current : (size_t)question->server;
	int r = -EHOSTUNREACH;

	http->question = question;
	http->code = 0;
	*http->error = '\0';
	compressed = question->body && compress_body(http, question);
	for (size_t i = 0; i < tries && r == -EHOSTUNREACH; i++) {
		size_t server = (at + i) % http->n_servers;

		r = ask_server(http, &http->servers[server], compressed);
		if (any && r != -EHOSTUNREACH)
			http->current = server;
	}
	if (any && r == -ETIMEDOUT) /* the next call begins with another server */
		http->current = (http->current + 1) % http->n_servers;
	return r;
}

const char *
cluster_http_error(const struct cluster_http *http)
{
	return http->error;
}

int
cluster_http_code(const struct cluster_http *http)
{
	return http->code;
}

const char *
cluster_http_server(const struct cluster_http *http, size_t server)
{
	return http->servers[server].name;
}

size_t
cluster_http_n_servers(const struct cluster_http *http)
{
	return http->n_servers;
}

void
cluster_http_sent(const struct cluster_http *http, uint64_t *octets, uint64_t *compressed)
{
	*octets = http->sent;
	*compressed = http->sent_compressed;
}
