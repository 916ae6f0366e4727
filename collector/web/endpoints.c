#include "collector/web/endpoints.h"

#include "collector/report/claims.h"
#include "collector/report/render.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { HTTP_OK = 200, HTTP_UNAVAILABLE = 503 };

enum {
	GZIP_FROM = 4096, /* octets: fewer fit in three packets */
	GZIP_LEVEL = 1,	  /* reduces JSON to a tenth, as level 6 does, in a third of the time */
	GZIP_WINDOW = 15 + 16, /* zlib's largest, and gzip's header */
	GZIP_MEMORY = 8,       /* zlib's default */
};

/* ---- compression ---- */

/* Where compression fails, the reply is sent as it is. */
static void
compress_reply(struct reply *reply)
{
	z_stream z = {.next_in = (Bytef *)reply->body, .avail_in = (uInt)reply->octets};
	size_t room;

	if (reply->octets < GZIP_FROM || deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW,
	    GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return;
	room = deflateBound(&z, reply->octets);
	reply->gzip = malloc(room);
	z.next_out = reply->gzip;
	z.avail_out = (uInt)room;
	if (reply->gzip && deflate(&z, Z_FINISH) == Z_STREAM_END) {
		void *fitting = realloc(reply->gzip, z.total_out);

		reply->gzip = fitting ? fitting : reply->gzip;
		reply->n_gzip = z.total_out;
	} else {
		free(reply->gzip);
		reply->gzip = NULL;
	}
	deflateEnd(&z);
}

/* ---- reports ---- */

static int
write_report(FILE *out, const void *result)
{
	const struct render_options none = {0};

	return render_json(out, result, &none);
}

static void
answer_report(struct api *api, unsigned worker, const struct question *asked,
    struct reply *reply)
{
	struct query *query = api_open_store(api, reply);
	struct report_result result = {0};
	struct question question = *asked;
	int err;

	if (!query)
		return;
	question.options.names = api->names[worker];
	err = question_answer(&question, query, clock_wall_us(api->config->clock), &result);
	if (err == 0)
		err = api_write(reply, write_report, &result);
	reply->status = HTTP_OK;
	reply->content_type = API_JSON;
	if (err)
		api_failed(api, query, err, reply);
	report_result_free(&result);
	query_close(query);
}

static void
answer_claims(struct reply *reply)
{
	json_t *array = claims_json();

	reply->body = array ? json_dumps(array, JSON_COMPACT) : NULL;
	json_decref(array);
	if (!reply->body) {
		api_error(reply, HTTP_UNAVAILABLE, strerror(ENOMEM));
		return;
	}
	reply->status = HTTP_OK;
	reply->content_type = API_JSON;
	reply->octets = strlen(reply->body);
}

/* Healthy means: the store can be read. */
static void
answer_health(struct api *api, struct reply *reply)
{
	struct query *query = api_open_own(api, reply);

	if (!query)
		return;
	reply->status = HTTP_OK;
	reply->content_type = "text/plain";
	reply->body = strdup("ok\n");
	if (reply->body)
		reply->octets = strlen(reply->body);
	else
		api_failed(api, query, -ENOMEM, reply);
	query_close(query);
}

void
endpoint_answer(void *arg, unsigned worker, const struct request *request, struct reply *reply)
{
	struct api *api = arg;

	switch (request->kind) {
	case REQUEST_REPORT:
		answer_report(api, worker, &request->question, reply);
		break;
	case REQUEST_STATUS:
		endpoint_status(api, reply);
		break;
	case REQUEST_CLAIMS:
		answer_claims(reply);
		break;
	case REQUEST_METRICS:
		endpoint_metrics(api, reply);
		break;
	case REQUEST_HEALTH:
		answer_health(api, reply);
		break;
	case REQUEST_FILE:
		break; /* web.c serves files itself */
	}
	compress_reply(reply);
}
