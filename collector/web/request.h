/*
 * Parses a request: a file of the page, a report with its options, or one of the few other
 * endpoints. Options are those of easetop (question.h); an option that is unknown, given twice or
 * has an invalid value is refused by name. Two requests with the same key have the same answer.
 */
#ifndef EASE_COLLECTOR_WEB_REQUEST_H
#define EASE_COLLECTOR_WEB_REQUEST_H

#include "collector/report/question.h"

#include <stddef.h>

enum {
	REQUEST_URI_MAX = 4096, /* octets; all options together need some hundred */
	REQUEST_ERROR = 320,
	/* Most rows of one answer, half a megabyte. easetop has no such limit. */
	REQUEST_TOP_MAX = 1000,
};

#define REQUEST_API "/api/v1/"

enum request_kind {
	REQUEST_FILE,
	REQUEST_REPORT,
	REQUEST_MOMENT, /* of the question's range and filter, for others (moments.h) */
	REQUEST_STATUS,
	REQUEST_CLAIMS,
	REQUEST_INDEX,
	REQUEST_OPENAPI,
	REQUEST_HEALTH,
	REQUEST_METRICS,
};

struct request {
	enum request_kind kind;
	const char *file;	  /* REQUEST_FILE: its name, in text */
	struct question question; /* REQUEST_REPORT, REQUEST_MOMENT: its strings are in text */
	struct report_moment moment; /* of REQUEST_REPORT: what it is put to; now_us 0: to what is stored now */
	uint64_t asker; /* by whom it is shared out (jobs.h); 0: not known */
	bool as_csv;
	bool is_long; /* the query reads samples instead of sums, which may take seconds */
	char key[REQUEST_URI_MAX + 1];
	char text[REQUEST_URI_MAX + 1]; /* decoded */
};

/* As a client gets a moment and gives it back: the value of moment= of each question. */
enum { REQUEST_MOMENT_TEXT = 96 };
void request_format_moment(const struct report_moment *moment, char text[REQUEST_MOMENT_TEXT]);

/* Reads the path and query of a request line. 200, or the HTTP status of a refusal with the reason
 * in error. The request must not be copied. */
int request_parse(const char *uri, struct request *request, char error[REQUEST_ERROR]);

#endif
