/*
 * /api/v1/status: the collector's version and start, the age of the store's data, and every counter
 * by its name.
 */
#include "collector/web/endpoints.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { HTTP_OK = 200 };

static json_t *
status_time_json(uint64_t time_us)
{
	char text[CLOCK_RFC3339_MAX];

	if (time_us == 0)
		return json_null();
	clock_format_rfc3339(time_us, text, sizeof(text));
	return json_string(text);
}

/* When a datagram of any agent arrived last, by the collector's clock. */
static uint64_t
heard_us(const struct query *query)
{
	uint64_t newest_us = 0;

	for (size_t i = 0; i < query->n_agents; i++)
		if (query->agents[i].last_received_us > newest_us)
			newest_us = query->agents[i].last_received_us;
	return newest_us;
}

/* NULL without memory, here and below: a status is complete or there is none. */
static json_t *
status_counters_json(const struct api *api)
{
	json_t *counters = json_object();
	int err = 0;

	for (size_t s = 0; s < api_n_stats(api); s++) {
		const struct stat_set *set = api_stats(api, s);

		for (unsigned i = 0; i < set->n; i++)
			err |= json_object_set_new(counters, set->names[i].name,
			    json_integer((json_int_t)stat_get(set, i)));
	}
	if (!err)
		return counters;
	json_decref(counters);
	return NULL;
}

/* Since when samples and sums are kept. */
static json_t *
reach_json(const struct report_reach *reach)
{
	json_t *object = json_object();
	int err = 0;

	for (int i = 0; i < REPORT_N_REACH; i++)
		err |= json_object_set_new(object, report_reach_names[i], status_time_json(reach->since_us[i]));
	if (!err)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *
status_json(const struct api *api, const struct query *query, const struct report_reach *reach)
{
	uint64_t now_us = clock_wall_us(api->config->clock);

	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o}",
	    "version", EASE_VERSION,
	    "now", status_time_json(now_us),
	    "started", status_time_json(api->config->started_us),
	    "newest", status_time_json(query->newest_us),
	    "age_s", query->newest_us
		? json_real(((double)now_us - (double)query->newest_us) / 1e6) : json_null(),
	    "heard", status_time_json(heard_us(query)),
	    "agents", (json_int_t)query->n_agents,
	    "ports", (json_int_t)query->n_ports,
	    "kept_since", reach_json(reach),
	    "counters", status_counters_json(api));
}

static int
status_write_json(FILE *out, const void *object)
{
	return json_dumpf(object, out, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12));
}

void
endpoint_status(struct api *api, struct reply *reply)
{
	struct query *query = api_open_store(api, reply);
	const struct report_options options = report_default_options();
	struct report_reach reach;
	json_t *object = NULL;
	int err;

	if (!query)
		return;
	err = query_begin(query, &options, clock_wall_us(api->config->clock));
	if (err == 0)
		err = query_read_reach(query, &reach);
	if (err == 0)
		object = status_json(api, query, &reach);
	if (err == 0)
		err = object && api_write(reply, status_write_json, object) == 0 ? 0 : -ENOMEM;
	reply->status = HTTP_OK;
	reply->content_type = API_JSON;
	if (err)
		api_failed(api, query, err, reply);
	json_decref(object);
	query_close(query);
}
