/*
 * Traffic whose keys are not known because the memory for keys was full: what one key can have of it at most, so
 * that upper limits allow for it.
 */
#ifndef EASE_COLLECTOR_QUERY_UNKEYED_H
#define EASE_COLLECTOR_QUERY_UNKEYED_H

#include "collector/query/dimension.h"
#include "collector/query/query.h"

/* How many of a port's samples without room can belong to one key at most. The store's bound is that
 * of a whole key; an address or a subnet is part of any number of pairs. */
uint64_t unkeyed_most_samples(const struct dimension *d, const struct query_port *port);

/* Traffic that one key may have beyond its samples because the memory for keys was full, over all
 * ports; dimension NULL: that all keys together may have. Each such sample is taken to stand for the mean of its port's
 * samples. */
double unkeyed_most(const struct query *query, const struct report_options *options,
    const struct dimension *dimension, enum estimate_unit unit);

#endif
