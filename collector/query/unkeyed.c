#include "collector/query/unkeyed.h"

uint64_t
unkeyed_most_samples(const struct dimension *d, const struct query_port *port)
{
	if (d->from_conversations || d->fold != FOLD_NOTHING) /* each may have been of the same key */
		return port->dropped_most + port->folded;
	return port->dropped_most + (!d->key->is_pair || (d->key1 && d->key2) ? port->folded_most : port->folded);
}

double
unkeyed_most(const struct query *query, const struct report_options *options,
    const struct dimension *dimension, enum estimate_unit unit)
{
	double most = 0;

	for (size_t i = 0; i < query->n_ports; i++) {
		const struct query_port *port = &query->ports[i];
		const struct estimate_stratum *side = query_listed(port);

		if (port_is_counted(options, port) && side->all.n > 0)
			most += (double)(dimension ? unkeyed_most_samples(dimension, port) : port->folded + port->dropped) *
			    estimate_total(unit, side) / (double)side->all.n;
	}
	return most;
}
