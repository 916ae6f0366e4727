/*
 * What reports say of a store, as people (render_text) and programs (render_json) get it. Whatever fails fails the
 * test.
 */
#ifndef EASE_TESTS_ANSWERS_H
#define EASE_TESTS_ANSWERS_H

#include "collector/query/query.h"
#include "collector/render/render.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>

/* To be freed. */
static inline char *
answer_rendered(const char *path, const char *report, const struct report_options *options, uint64_t now_us,
    render_fn *render)
{
	struct report_result result = {0};
	char error[QUERY_ERROR_TEXT] = "", *text = NULL;
	struct query *query;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	ck_assert_msg(query_open(path, &query, error, sizeof(error)) == 0, "%s", error);
	ck_assert_ptr_nonnull(report_find(report));
	ck_assert_msg(report_run(report_find(report), query, options, now_us, &result) == 0, "%s: %s", report,
	    query->error);
	ck_assert_int_eq(render(out, &result, &(struct render_options){.all = true, .utc = true, .now_us = now_us}), 0);
	fclose(out);
	report_result_free(&result);
	query_close(query);
	return text;
}

static inline json_t *
answer_json(const char *path, const char *report, const struct report_options *options, uint64_t now_us)
{
	char *text = answer_rendered(path, report, options, now_us, render_json);
	json_error_t error;
	json_t *answer = json_loads(text, 0, &error);

	ck_assert_msg(answer != NULL, "%s in %s", error.text, text);
	free(text);
	return answer;
}

#endif
