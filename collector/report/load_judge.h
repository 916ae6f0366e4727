/*
 * What a port counted in the range of a query, and whether its samples agree with that: the figures behind CHECK of the
 * report load, for reports that set ports beside each other.
 */
#ifndef EASE_COLLECTOR_REPORT_LOAD_JUDGE_H
#define EASE_COLLECTOR_REPORT_LOAD_JUDGE_H

#include "collector/query/query.h"

enum { LOAD_CHECK_TEXT = 32 };

struct load_judgement {
	struct query_load load;
	char check[LOAD_CHECK_TEXT]; /* as load prints it: "ok", "mismatch -50%", "not sampling", …; "" nothing to check */
	bool has_samples;	     /* enough, and of received frames alone: */
	struct estimate_figure by_samples; /* frames received, by samples times the rate that they state */
};

/* After query_windows, oddities_read_refusals and query_read_stated. other_skip: load_mean_skip. 0 or -errno. */
int load_judge(struct query *query, const struct query_port *port, double other_skip, struct load_judgement *judged);

/* Mean skip of all samples of the range; 0: there are none. */
double load_mean_skip(const struct query *query);

#endif
