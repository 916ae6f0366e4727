/*
 * A question as people and programs put it: a report and its options by name, as one table that
 * serves easetop's command line and the web page's query strings alike, so that both take the same
 * names and refuse the same values.
 */
#ifndef EASE_COLLECTOR_QUESTION_H
#define EASE_COLLECTOR_QUESTION_H

#include "collector/report/report.h"

struct question {
	const struct report *report;
	struct report_options options;
	uint64_t versus_us; /* 0: not asked for */
	double warn;	    /* the same */
};

struct question_option {
	const char *name;
	const char *value; /* what it looks like */
	/* The value is borrowed as long as the question lives. 0 or -EINVAL. */
	int (*set)(struct question *question, const char *value);
	const char *help;
};
extern const struct question_option question_options[]; /* ended by a row without name */

/* The option, or NULL if there is none of that name. */
const struct question_option *question_find_option(const char *name);

/* Index of the value among the choices (ended by NULL). 0 or -EINVAL. */
int question_parse_choice(const char *value, const char *const *choices, int *index);

/* A whole number 0..max. 0 or -EINVAL. */
int question_parse_number(const char *value, long max, long *number);

/* Fills the zeroed result, to be freed in any case; on an error the query has the message. */
int question_answer(const struct question *question, struct query *query, uint64_t now_us,
    struct report_result *result);

#endif
