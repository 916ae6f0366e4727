/*
 * A question: a report and its options by name. One table of options serves easetop's command line
 * and the query strings of the web API, so that both take the same names and refuse the same
 * values.
 */
#ifndef EASE_COLLECTOR_QUESTION_H
#define EASE_COLLECTOR_QUESTION_H

#include "collector/filter/filter.h"
#include "collector/report/report.h"
#include "collector/report/samples.h"

#include <stdio.h>

struct question {
	const struct report *report;
	struct report_options options;
	uint64_t versus_us; /* 0: not asked for */
	double warn;	    /* 0: not asked for */
	uint32_t given;	    /* bit i: question_set has set question_options[i] */
	struct filter filter; /* of all options that filter */
	const char *addr;     /* of --addr, until question_finish adds it to the filter; NULL: none */
	char refusal[FILTER_ERROR_TEXT]; /* why question_set refused a value, where `expected` does not say it */
};

struct question_option {
	const char *name;
	const char *value; /* its form, for --help */
	const char *expected; /* completes "--vlan 5000: " if the value is refused */
	unsigned takes; /* bits of which a report that uses it has one; 0: all use it */
	bool repeats;	/* can be given several times */
	/* The value is borrowed as long as the question lives. 0 or -EINVAL. */
	int (*set)(struct question *question, const char *value);
	const char *help;
};
extern const struct question_option question_options[]; /* ended by a row without name */

/* The option, or NULL if there is none of that name. */
const struct question_option *question_find_option(const char *name);

/* Sets an option and notes that it was given. 0, or -EINVAL: question_refusal says why. */
int question_set(struct question *question, const struct question_option *option, const char *value);

const char *question_refusal(const struct question *question, const struct question_option *option);

/* After all were set, and before question_answer: 0, or -EINVAL with the reason in error if the filter has terms
 * that the report cannot have. */
int question_finish(struct question *question, char *error, size_t error_size);

/* After all were set: 0, or -EINVAL with the reason in error if an option was given that the report
 * does not use, or two that exclude each other. */
int question_check_options(const struct question *question, char *error, size_t error_size);

/* Index of the value among the choices (ended by NULL). 0 or -EINVAL. */
int question_parse_choice(const char *value, const char *const *choices, int *index);

/* A whole number min..max. 0 or -EINVAL. */
int question_parse_number(const char *value, long min, long max, long *number);

/* Fills the zeroed result, to be freed in any case; on an error the query has the message. */
int question_answer(const struct question *question, struct query *query, uint64_t now_us,
    struct report_result *result);

/* Of samples_report, which fills no result: writes them so. */
int question_write_samples(
    const struct question *question, struct query *query, uint64_t now_us, samples_fn *write, FILE *out);

#endif
