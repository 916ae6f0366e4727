#include "collector/web/endpoints.h"

#include "collector/render/render.h"
#include "collector/report/claims.h"
#include "collector/web/describe.h"
#include "common/clock.h"

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
endpoints_write_json(FILE *out, const void *result)
{
	const struct render_options none = {0};

	return render_json(out, result, &none);
}

static int
write_csv(FILE *out, const void *result)
{
	const struct render_options none = {.utc = true};

	return render_csv(out, result, &none);
}

static void
answer_report(struct api *api, unsigned worker, const struct request *request, struct reply *reply)
{
	uint64_t moment_us = request->moment.now_us;
	struct query *query = api_open_moment(api, worker, moment_us, reply);
	struct report_result result = {0};
	struct question question = request->question;
	uint64_t now_us = moment_us > 0 ? moment_us : clock_wall_us(api->config->clock);
	int err;

	if (!query)
		return;
	question.options.names = api_names(api, worker);
	err = question_answer(&question, query, now_us, &result);
	if (err == 0)
		err = api_write(reply, request->as_csv ? write_csv : endpoints_write_json, &result);
	reply->status = HTTP_OK;
	reply->content_type = request->as_csv ? API_CSV : API_JSON;
	if (err)
		api_failed(api, query, err, reply);
	report_result_free(&result);
	api_close_moment(api, worker, moment_us, query, err);
}

static int
write_object(FILE *out, const void *object)
{
	return json_dumpf(object, out, JSON_COMPACT | JSON_PRESERVE_ORDER);
}

/* The groups of addresses that lists can have rows of. */
static json_t *
groups_json(const struct address_names *names)
{
	static const enum report_by by[ADDRESS_N_GROUPS] = {[ADDRESS_NETWORK] = REPORT_BY_NETWORK,
	    [ADDRESS_AS] = REPORT_BY_AS, [ADDRESS_COUNTRY] = REPORT_BY_COUNTRY};
	json_t *groups = json_array();

	for (enum address_group g = ADDRESS_NETWORK; g < ADDRESS_N_GROUPS; g++)
		if (g == ADDRESS_AS || address_names_has_groups(names, g)) /* samples may state AS numbers */
			json_array_append_new(groups, json_string(report_by_name(by[g])));
	return groups;
}

/* {"moment": what further questions give back, "from" and "to": the range that they all have, "groups"}. */
static int
write_moment(const struct report_moment *moment, const struct address_names *names, struct reply *reply)
{
	char text[REQUEST_MOMENT_TEXT], from[CLOCK_RFC3339_MAX], to[CLOCK_RFC3339_MAX];
	json_t *object;
	int err;

	request_format_moment(moment, text);
	clock_format_rfc3339(moment->from_us, from, sizeof(from));
	clock_format_rfc3339(moment->to_us, to, sizeof(to));
	object = json_pack("{s:s, s:s, s:s, s:o}", "moment", text, "from", from, "to", to, "groups", groups_json(names));
	err = object ? api_write(reply, write_object, object) : -ENOMEM;
	json_decref(object);
	return err;
}

static void
answer_moment(struct api *api, unsigned worker, const struct question *asked, struct reply *reply)
{
	struct report_options options = asked->options;
	uint64_t moment_us;
	struct query *query = api_begin_moment(api, worker, &moment_us, reply);
	struct report_moment moment;
	int err;

	if (!query)
		return;
	options.filter = asked->filter.n_nodes > 0 ? &asked->filter : NULL;
	err = query_begin(query, &options, moment_us);
	moment = query_moment(query, moment_us);
	if (err == 0)
		err = write_moment(&moment, api_names(api, worker), reply);
	reply->status = HTTP_OK;
	reply->content_type = API_JSON;
	if (err)
		api_failed(api, query, err, reply);
	api_close_moment(api, worker, moment_us, query, err);
}

/* object: ours now. */
static void
answer_object(json_t *object, struct reply *reply)
{
	reply->body = object ? json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
	json_decref(object);
	if (!reply->body) {
		api_error(reply, HTTP_UNAVAILABLE, strerror(ENOMEM));
		return;
	}
	reply->status = HTTP_OK;
	reply->content_type = API_JSON;
	reply->octets = strlen(reply->body);
}

/* Healthy means: the store can be read, and nobody who read this file found it damaged. */
static void
answer_health(struct api *api, struct reply *reply)
{
	struct query *query = api_open_own(api, reply);

	if (!query)
		return;
	if (query->inode == atomic_load(&api->damaged_inode)) {
		query_close(query);
		api_error(reply, HTTP_UNAVAILABLE, "the store is damaged");
		return;
	}
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
		answer_report(api, worker, request, reply);
		break;
	case REQUEST_MOMENT:
		answer_moment(api, worker, &request->question, reply);
		break;
	case REQUEST_STATUS:
		endpoint_status(api, reply);
		break;
	case REQUEST_CLAIMS:
		answer_object(claims_json(), reply);
		break;
	case REQUEST_INDEX:
		answer_object(describe_index(), reply);
		break;
	case REQUEST_OPENAPI:
		answer_object(describe_openapi(), reply);
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
