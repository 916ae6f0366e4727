/*
 * What a client asks for, out of the text it sent: a file of the page, a report with its options,
 * or one of the few other things there are. Options are those of easetop (question.h); what is
 * unknown, given twice or not as it must be is refused with the option's name. Two requests with
 * the same key have the same answer.
 */
#ifndef EASE_COLLECTOR_WEB_REQUEST_H
#define EASE_COLLECTOR_WEB_REQUEST_H

#include "collector/report/question.h"

#include <stddef.h>

enum {
	REQUEST_URI_MAX = 4096, /* octets; all options at once take some hundred */
	REQUEST_ERROR = 256,
	/* Rows of one answer: what a page can show, and half a megabyte. easetop gives more. */
	REQUEST_TOP_MAX = 1000,
};

enum request_kind {
	REQUEST_FILE,
	REQUEST_REPORT,
	REQUEST_STATUS,
	REQUEST_HEALTH,
	REQUEST_METRICS,
};

struct request {
	enum request_kind kind;
	const char *file;	  /* REQUEST_FILE: its name; in text */
	struct question question; /* REQUEST_REPORT: what it borrows is in text */
	bool is_long; /* it reads kept samples, not their sums: that may take a while */
	char key[REQUEST_URI_MAX + 1];
	char text[REQUEST_URI_MAX + 1]; /* decoded */
};

/* Reads the path and query of a request line. 200, or the HTTP status of a refusal with the reason
 * in error. The request must not be copied. */
int request_parse(const char *uri, struct request *request, char error[REQUEST_ERROR]);

#endif
