/* What a stranger puts into an address of the page, up to the question that it means. */
#include "collector/web/request.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A moment that is taken is a range of its own, which the question has and is written as it was read. */
static void
check_moment(const struct request *request)
{
	const struct report_moment *moment = &request->moment;
	char text[REQUEST_MOMENT_TEXT];

	if (moment->now_us == 0) {
		assert(request->question.options.moment.now_us == 0);
		return;
	}
	assert(moment->now_us == request->question.options.moment.now_us && moment->from_us <= moment->to_us);
	request_format_moment(moment, text);
	assert(strstr(request->key, text));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request *first = malloc(sizeof(*first)), *again = malloc(sizeof(*again));
	char *uri = malloc(size + 1), error[REQUEST_ERROR] = "";
	int status;

	if (!first || !again || !uri)
		abort();
	memcpy(uri, data, size);
	uri[size] = '\0';
	status = request_parse(uri, first, error);
	assert(status == 200 || status == 400 || status == 404 || status == 414);
	assert((status == 200) == (*error == '\0'));
	assert(strlen(first->key) < sizeof(first->key));
	assert(request_parse(uri, again, error) == status && strcmp(first->key, again->key) == 0);
	if (status == 200 && first->kind == REQUEST_REPORT) {
		assert(first->question.options.top <= REQUEST_TOP_MAX);
		assert(first->question.filter.n_nodes <= FILTER_NODES_MAX);
		check_moment(first);
	}
	free(uri);
	free(again);
	free(first);
	return 0;
}
