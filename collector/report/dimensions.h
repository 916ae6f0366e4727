/*
 * The dimensions of lists (query/dimension.h), and how their keys are printed. A new dimension is one row of
 * dimensions.c.
 */
#ifndef EASE_COLLECTOR_REPORT_DIMENSIONS_H
#define EASE_COLLECTOR_REPORT_DIMENSIONS_H

#include "collector/query/dimension.h"
#include "collector/query/query.h"
#include "collector/report/report.h"

/* The columns behind the key in each list. */
enum dimension_tail {
	TAIL_SITE,
	TAIL_AGENT,
	TAIL_PORT,
	TAIL_PORTS,
	TAIL_PORT_TEXT,
	TAIL_PKTS,
	TAIL_OCTETS,
	TAIL_SHARE,
	TAIL_SAMPLES,
	TAIL_UNCOUNTED,
	N_TAIL,
};

/* Columns of a list: the rank, the key's own, and N_TAIL. */
struct dimension_layout {
	const struct report_column *columns;
	size_t n_columns;
};

/* The dimension that the options ask for; NULL: there is none. */
const struct dimension *dimension_find(const struct report_options *options);

/* The dimension as the filter's question is best answered: as it is, summed from conversations where these say what
 * the filter looks at and the dimension's own keys do not, or of kept samples alone. */
struct dimension dimension_for(const struct dimension *d, const struct filter *filter);

/* Column of the i-th of the tail. */
static inline size_t
dimension_tail(const struct dimension *d, enum dimension_tail i)
{
	return d->layout->n_columns - N_TAIL + i;
}

#endif
