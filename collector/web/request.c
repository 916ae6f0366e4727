#include "collector/web/request.h"

#include "common/text.h"
#include "common/utf8.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HTTP_OK = 200, HTTP_BAD_REQUEST = 400, HTTP_NOT_FOUND = 404, HTTP_URI_TOO_LONG = 414 };

enum { NAME_SHOWN = 32 }; /* octets of a name that is refused */

#define API REQUEST_API

static int
refuse_request(char error[REQUEST_ERROR], int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int
refuse_request(char error[REQUEST_ERROR], int status, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(error, REQUEST_ERROR, format, args);
	va_end(args);
	if (n >= REQUEST_ERROR)
		error[utf8_cut(error, REQUEST_ERROR)] = '\0';
	return status;
}

/* ---- decoding ---- */

/* Replaces %XX and + in place. False for an invalid escape, a control character, or octets that are
 * not UTF-8. */
static bool
decode_escapes(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++, to++) {
		*to = *from == '+' ? ' ' : *from;
		if (*from == '%') {
			if (!isxdigit((unsigned char)from[1]) || !isxdigit((unsigned char)from[2]))
				return false;
			*to = (char)strtoul((const char[]){from[1], from[2], 0}, NULL, 16);
			from += 2;
		}
		if ((unsigned char)*to < ' ' || *to == 0x7f)
			return false;
	}
	*to = '\0';
	return utf8_is_valid(text);
}

/* ---- options ---- */

enum { OPTIONS_MAX = 32 };

/* The values given, in the order of question_options. */
struct values {
	const char *of[OPTIONS_MAX];
};

/* As easetop refuses it. */
static int
request_refuse_value(char error[REQUEST_ERROR], const struct question *question, const struct question_option *option)
{
	return refuse_request(error, HTTP_BAD_REQUEST, "%s: %s", option->name, question_refusal(question, option));
}

/* Fits: the URI has the same names and values, and & where the key has a line feed. */
static void
request_add_to_key(struct request *request, const struct question_option *option, const char *value)
{
	size_t len = strlen(request->key);

	snprintf(request->key + len, sizeof(request->key) - len, "\n%s=%s", option->name, value);
}

/* ---- moments ---- */

/* Times that a client may name: until 2255. */
#define TIME_MOST 9000000000000000ull

void
request_format_moment(const struct report_moment *moment, char text[REQUEST_MOMENT_TEXT])
{
	snprintf(text, REQUEST_MOMENT_TEXT, "%llu-%llu-%llu-%d", (unsigned long long)moment->now_us,
	    (unsigned long long)moment->from_us, (unsigned long long)moment->to_us, moment->at_edge);
}

/* True for what request_format_moment writes, and nothing else. */
static bool
parse_moment(const char *text, struct report_moment *moment)
{
	unsigned long long now_us, from_us, to_us;
	char again[REQUEST_MOMENT_TEXT];
	int at_edge;

	if (sscanf(text, "%17llu-%17llu-%17llu-%1d", &now_us, &from_us, &to_us, &at_edge) != 4)
		return false;
	*moment = (struct report_moment){now_us, from_us, to_us, at_edge == 1};
	request_format_moment(moment, again);
	return strcmp(again, text) == 0 && now_us > 0 && now_us < TIME_MOST && to_us < TIME_MOST && from_us <= to_us &&
	    (!moment->at_edge || from_us < to_us);
}

static int
take_moment(struct request *request, char *value, char error[REQUEST_ERROR])
{
	size_t len = strlen(request->key);

	if (request->moment.now_us > 0)
		return refuse_request(error, HTTP_BAD_REQUEST, "moment: given twice");
	if (!parse_moment(value, &request->moment))
		return refuse_request(error, HTTP_BAD_REQUEST, "moment: must be what " API "moment answered");
	snprintf(request->key + len, sizeof(request->key) - len, "\nmoment=%s", value);
	return HTTP_OK;
}

/* JSON, if it is not asked for. */
static int
take_format(struct request *request, const char *value, char error[REQUEST_ERROR])
{
	request->as_csv = strcmp(value, "csv") == 0;
	if (!request->as_csv && strcmp(value, "json") != 0)
		return refuse_request(error, HTTP_BAD_REQUEST, "format: must be json or csv");
	text_add(request->key, sizeof(request->key), "\nformat=%s", value);
	return HTTP_OK;
}

/* A + that was not written as %2B came as a space, and between a time and a zone there can be nothing else. */
static void
mend_zone(const char *name, char *value)
{
	enum { ZONE = 6 /* octets of +01:00 */ };
	size_t n = strlen(value);

	if ((strcmp(name, "from") == 0 || strcmp(name, "to") == 0) && n > ZONE && value[n - ZONE] == ' ' &&
	    strchr(value, ':') < value + n - ZONE)
		value[n - ZONE] = '+';
}

static int
take_option(struct request *request, char *name, char *value, struct values *values, char error[REQUEST_ERROR])
{
	const struct question_option *option;

	if (!decode_escapes(name) || !decode_escapes(value))
		return refuse_request(error, HTTP_BAD_REQUEST, "the query is not valid URL-encoded UTF-8");
	mend_zone(name, value);
	option = question_find_option(name);
	if (!option)
		return refuse_request(error, HTTP_BAD_REQUEST, "%.*s: no such option",
		    (int)utf8_cut(name, NAME_SHOWN), name);
	if (option->repeats) {
		request_add_to_key(request, option, value);
		return question_set(&request->question, option, value) == 0
		    ? HTTP_OK : request_refuse_value(error, &request->question, option);
	}
	if (values->of[option - question_options])
		return refuse_request(error, HTTP_BAD_REQUEST, "%s: given twice", name);
	values->of[option - question_options] = value;
	return HTTP_OK;
}

/* An empty value means none, because forms send empty fields. */
static int
take_query(struct request *request, char *query, struct values *values, char error[REQUEST_ERROR])
{
	int status = HTTP_OK;
	char *pair;

	while (status == HTTP_OK && (pair = strsep(&query, "&"))) {
		char *value = strchr(pair, '=');

		if (value)
			*value++ = '\0';
		if (strcmp(pair, "moment") == 0 && request->kind == REQUEST_REPORT && value && *value)
			status = take_moment(request, value, error);
		else if (strcmp(pair, "format") == 0 && request->kind == REQUEST_REPORT && value && *value)
			status = take_format(request, value, error);
		else if (*pair && value && *value)
			status = take_option(request, pair, value, values, error);
		else if (*pair && !question_find_option(pair))
			status = refuse_request(error, HTTP_BAD_REQUEST, "%.*s: no such option",
			    (int)utf8_cut(pair, NAME_SHOWN), pair);
	}
	return status;
}

/* Sums contain no places of stations, and each sum has one kind of key, which a filter crosses. */
static bool
reads_samples(const struct question *question)
{
	return strcmp(question->report->name, "addresses") == 0 || question->filter.fields & ~FILTER_PLACES ||
	    question->options.layer == REPORT_LAYER_INNER;
}

static bool
request_is_given(const struct values *values, const char *name)
{
	return values->of[question_find_option(name) - question_options];
}

static int
set_options(struct request *request, const struct values *values, char error[REQUEST_ERROR])
{
	struct question *question = &request->question;
	char reason[REQUEST_ERROR];

	question->options = report_default_options();
	for (int i = 0; question_options[i].name; i++) {
		const struct question_option *option = &question_options[i];

		if (!values->of[i])
			continue;
		if (question_set(question, option, values->of[i]) != 0)
			return request_refuse_value(error, question, option);
		request_add_to_key(request, option, values->of[i]);
	}
	if (request->moment.now_us > 0) {
		if (request_is_given(values, "last") || request_is_given(values, "from") || request_is_given(values, "to"))
			return refuse_request(error, HTTP_BAD_REQUEST, "moment: has its range; leave out last, from and to");
		question->options.moment = request->moment;
	}
	if (question_finish(question, reason, sizeof(reason)) != 0)
		return refuse_request(error, HTTP_BAD_REQUEST, "%s", reason);
	if (question->options.top > REQUEST_TOP_MAX)
		return refuse_request(error, HTTP_BAD_REQUEST, "top: at most %d rows", REQUEST_TOP_MAX);
	request->is_long = request->kind == REQUEST_REPORT && reads_samples(question);
	return HTTP_OK;
}

/* ---- paths ---- */

static const struct {
	const char *path;
	enum request_kind kind;
} places[] = {
	{API "status", REQUEST_STATUS},
	{API "claims", REQUEST_CLAIMS},
	{API, REQUEST_INDEX},
	{"/api/v1", REQUEST_INDEX},
	{API "openapi.json", REQUEST_OPENAPI},
	{"/healthz", REQUEST_HEALTH},
	{"/metrics", REQUEST_METRICS},
};

static int
refuse_report(const char *name, char error[REQUEST_ERROR])
{
	refuse_request(error, HTTP_NOT_FOUND, "no report %.*s; there are", (int)utf8_cut(name, NAME_SHOWN), name);
	for (const struct report *report = reports; report->name; report++)
		text_add(error, REQUEST_ERROR, " %s", report->name);
	return HTTP_NOT_FOUND;
}

static int
take_path(struct request *request, char *path, char error[REQUEST_ERROR])
{
	if (!decode_escapes(path) || path[0] != '/')
		return refuse_request(error, HTTP_BAD_REQUEST, "the path is not valid URL-encoded UTF-8");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strcmp(path, places[i].path) == 0) {
			request->kind = places[i].kind;
			return HTTP_OK;
		}
	if (strcmp(path, API "moment") == 0) {
		request->kind = REQUEST_MOMENT;
		request->question.report = report_find("history"); /* which can be filtered by all */
		return HTTP_OK;
	}
	if (strncmp(path, API, strlen(API)) == 0) {
		request->kind = REQUEST_REPORT;
		request->question.report = report_find(path + strlen(API));
		return request->question.report ? HTTP_OK : refuse_report(path + strlen(API), error);
	}
	request->kind = REQUEST_FILE;
	request->file = path[1] ? path + 1 : "index.html";
	return HTTP_OK;
}

int
request_parse(const char *uri, struct request *request, char error[REQUEST_ERROR])
{
	struct values values = {{NULL}};
	char *query;
	int status;

	*request = (struct request){0};
	if (strlen(uri) > REQUEST_URI_MAX)
		return refuse_request(error, HTTP_URI_TOO_LONG, "the request is longer than %d octets",
		    REQUEST_URI_MAX);
	strcpy(request->text, uri);
	query = strchr(request->text, '?');
	if (query)
		*query++ = '\0';
	status = take_path(request, request->text, error);
	snprintf(request->key, sizeof(request->key), "%s", request->text);
	if (status != HTTP_OK || (request->kind != REQUEST_REPORT && request->kind != REQUEST_MOMENT))
		return status; /* only questions have options; a file's query is for its script */
	status = take_query(request, query, &values, error);
	return status == HTTP_OK ? set_options(request, &values, error) : status;
}
