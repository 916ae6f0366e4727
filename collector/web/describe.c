#include "collector/web/describe.h"

#include "collector/report/by_values.h"
#include "collector/report/question.h"
#include "collector/web/api.h"
#include "collector/web/request.h"

#include <string.h>

/* What there is beside reports; /healthz and /metrics lie outside of the API. */
static const struct {
	const char *path, *about;
} others[] = {
	{"moment", "a range that is resolved once, for questions that are to agree"},
	{"status", "version, age of the data, how far the store reaches back, counters of the collector"},
	{"claims", "what each printed figure claims"},
	{"openapi.json", "this API as an OpenAPI document"},
};

enum { N_OTHERS = sizeof(others) / sizeof(others[0]) };

static bool
has_option(const struct report *report, const struct question_option *option)
{
	return option->takes == 0 || report->takes & option->takes;
}

/* Help for a terminal has lines. */
static json_t *
flowing_text(const char *help)
{
	char text[600];
	size_t n = 0;

	for (const char *from = help; *from && n + 1 < sizeof(text); from++) {
		bool is_space = *from == ' ' || *from == '\n';

		if (!is_space || (n > 0 && text[n - 1] != ' '))
			text[n++] = is_space ? ' ' : *from;
	}
	return json_stringn(text, n);
}

/* ---- the index ---- */

static json_t *
options_json(const struct report *report)
{
	json_t *options = json_array();

	for (const struct question_option *o = question_options; o->name; o++)
		if (has_option(report, o))
			json_array_append_new(options, json_string(o->name));
	json_array_append_new(options, json_string("moment"));
	json_array_append_new(options, json_string("format"));
	return options;
}

json_t *
describe_index(void)
{
	json_t *list = json_array(), *more = json_array();

	for (const struct report *r = reports; r->name; r++)
		json_array_append_new(list, json_pack("{s:s, s:o, s:s, s:o}", "report", r->name, "path",
		    json_sprintf(REQUEST_API "%s", r->name), "about", r->help, "options", options_json(r)));
	for (size_t i = 0; i < N_OTHERS; i++)
		json_array_append_new(more, json_pack("{s:o, s:s}", "path", json_sprintf(REQUEST_API "%s", others[i].path),
		    "about", others[i].about));
	return json_pack("{s:s, s:o, s:o}", "version", EASE_VERSION, "reports", list, "more", more);
}

/* ---- OpenAPI ---- */

static json_t *
by_json(const struct report *report)
{
	const enum report_by *first = by_values_of(report->name);
	json_t *values = json_array();

	for (const enum report_by *by = first; *by; by++)
		json_array_append_new(values, json_string(report_by_name(*by)));
	return json_pack("{s:s, s:o, s:s}", "type", "string", "enum", values, "default", report_by_name(*first));
}

static json_t *
describe_parameter(const char *name, json_t *about, json_t *schema)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "name", name, "in", "query", "description", about, "schema", schema);
}

/* The values of an option are as its help and its form say. */
static json_t *
schema_of(const struct report *report, const struct question_option *option)
{
	if (strcmp(option->name, "by") == 0)
		return by_json(report);
	if (strcmp(option->name, "top") == 0)
		return json_pack("{s:s, s:i, s:i}", "type", "integer", "minimum", 1, "maximum", REQUEST_TOP_MAX);
	if (option->repeats)
		return json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type", "string");
	return json_pack("{s:s, s:s}", "type", "string", "example", option->value);
}

/* A moment has a range and filters, and is no report. */
static json_t *
parameters_json(const struct report *report, bool is_report)
{
	json_t *list = json_array();

	for (const struct question_option *o = question_options; o->name; o++)
		if (is_report ? has_option(report, o) : o->takes == 0)
			json_array_append_new(list, describe_parameter(o->name, flowing_text(o->help), schema_of(report, o)));
	if (!is_report)
		return list;
	json_array_append_new(list, describe_parameter("moment", json_string("what /api/v1/moment answered, in place of a range"),
	    json_pack("{s:s}", "type", "string")));
	json_array_append_new(list, describe_parameter("format", json_string("as what the answer comes"),
	    json_pack("{s:s, s:[s,s], s:s}", "type", "string", "enum", "json", "csv", "default", "json")));
	return list;
}

static json_t *
describe_answer(const char *about, const char *type)
{
	return json_pack("{s:s, s:{s:{s:{s:s}}}}", "description", about, "content", type, "schema", "type",
	    strcmp(type, API_JSON) == 0 ? "object" : "string");
}

static json_t *
answers_json(bool is_report)
{
	json_t *answers = json_object(), *good = describe_answer("the answer", API_JSON);
	static const struct {
		const char *status, *about;
	} refusals[] = {
		{"400", "the question is refused; error says why"},
		{"401", "the token is missing or wrong"},
		{"503", "the store cannot be read, or the question takes too long"},
	};

	if (is_report)
		json_object_set_new(json_object_get(good, "content"), API_CSV,
		    json_pack("{s:{s:s}}", "schema", "type", "string"));
	json_object_set_new(answers, "200", good);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		json_object_set_new(answers, refusals[i].status,
		    json_pack("{s:s, s:{s:{s:{s:s}}}}", "description", refusals[i].about, "content", API_JSON, "schema", "$ref",
			"#/components/schemas/Error"));
	return answers;
}

static void
add_path(json_t *paths, const char *name, const char *about, json_t *parameters, bool is_report)
{
	json_t *path = json_sprintf(REQUEST_API "%s", name);

	json_object_set_new(paths, json_string_value(path),
	    json_pack("{s:{s:s, s:s, s:o, s:o}}", "get", "summary", about, "operationId", name, "parameters", parameters,
		"responses", answers_json(is_report)));
	json_decref(path);
}

json_t *
describe_openapi(void)
{
	json_t *paths = json_object();

	for (const struct report *r = reports; r->name; r++)
		add_path(paths, r->name, r->help, parameters_json(r, true), true);
	for (size_t i = 0; i < N_OTHERS; i++)
		add_path(paths, others[i].path, others[i].about, strcmp(others[i].path, "moment") == 0
			? parameters_json(report_find("history"), false) : json_array(), false);
	return json_pack("{s:s, s:{s:s, s:s, s:s}, s:o, s:[{}, {s:[]}],"
	    " s:{s:{s:{s:s, s:s}}, s:{s:{s:s, s:[s], s:{s:{s:s}}}}}}",
	    "openapi", "3.0.3", "info", "title", "easeswitch", "version", EASE_VERSION, "description",
	    "Reports of an easecapd, as easetop prints them. Each estimated figure has limits: 95 of 100 hold.",
	    "paths", paths, "security", "token", "components", "securitySchemes", "token", "type", "http", "scheme", "bearer",
	    "schemas", "Error", "type", "object", "required", "error", "properties", "error", "type", "string");
}
