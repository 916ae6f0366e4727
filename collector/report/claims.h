/*
 * What each printed figure claims, in one plain sentence each, with the test that measures it. One table is what
 * `easetop claims` prints, what the page shows behind "?", and what conf/guide/reading-a-report.md lists (held equal
 * by tests/collector/report/check_claims.sh).
 */
#ifndef EASE_COLLECTOR_REPORT_CLAIMS_H
#define EASE_COLLECTOR_REPORT_CLAIMS_H

#include <jansson.h>
#include <stdio.h>

struct claim {
	const char *id;	     /* what the page asks by */
	const char *printed; /* what a reader sees */
	const char *claim;
	const char *test; /* file that measures it, from the top of the source */
};
extern const struct claim claims[]; /* ended by a row without id */

/* Three lines for each: what is printed, the claim, the test. */
void claims_print(FILE *out);

/* An array of objects with the members of struct claim; NULL without memory. */
json_t *claims_json(void);

#endif
