#include "collector/act/delivery.h"
#include "common/clock.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

static void
set_fact_text(json_t *object, const char *name, const char *text)
{
	if (*text)
		json_object_set_new(object, name, json_string(text));
}

static void
set_fact_number(json_t *object, const char *name, uint64_t number)
{
	if (number > 0)
		json_object_set_new(object, name, json_integer((json_int_t)number));
}

static void
set_fact_time(json_t *object, const char *name, uint64_t time_us)
{
	char text[CLOCK_RFC3339_MAX];

	clock_format_rfc3339(time_us, text, sizeof(text));
	set_fact_text(object, name, time_us > 0 ? text : "");
}

char *
alarm_fact_json(const struct alarm_fact *f)
{
	json_t *object = json_object();
	char id[17], *text;

	snprintf(id, sizeof(id), "%016" PRIx64, f->id);
	set_fact_text(object, "event", f->is_over ? "over" : "raised");
	set_fact_text(object, "id", id);
	set_fact_text(object, "rule", f->rule);
	set_fact_text(object, "kind", alarm_kind_word(f->kind));
	set_fact_text(object, "key", f->key);
	set_fact_text(object, "source", f->parts.source);
	set_fact_text(object, "destination", f->parts.destination);
	set_fact_number(object, "server_port", f->parts.server_port);
	set_fact_number(object, "ip_proto", f->parts.ip_proto);
	set_fact_text(object, "agent", f->agent);
	set_fact_text(object, "agent_id", f->agent_id);
	set_fact_number(object, "if_index", f->if_index);
	set_fact_text(object, "port", f->port);
	set_fact_time(object, "raised", f->raised_us);
	set_fact_time(object, "over", f->over_us);
	set_fact_text(object, "audit", f->is_accused ? "the port's samples are not sound" : "");
	set_fact_text(object, "why", f->is_stopping ? "the collector stops" : "");
	text = json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER);
	json_decref(object);
	return text;
}
