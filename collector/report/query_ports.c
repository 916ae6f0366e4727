/*
 * Agents and ports of a question, and the sums in them. Part of query.h.
 */
#include "collector/report/query_private.h"

#include <math.h>
#include <string.h>

const struct query_agent *
query_find_agent(const struct query *query, int64_t agent)
{
	for (size_t low = 0, high = query->n_agents; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (query->agents[middle].id == agent)
			return &query->agents[middle];
		if (query->agents[middle].id < agent)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

struct query_port *
query_find_port(const struct query *query, int64_t agent, uint64_t if_index)
{
	for (size_t low = 0, high = query->n_ports; low < high;) {
		size_t middle = low + (high - low) / 2;
		struct query_port *port = &query->ports[middle];

		if (port->agent->id == agent && port->if_index == if_index)
			return port;
		if (port->agent->id < agent ||
		    (port->agent->id == agent && port->if_index < if_index))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

struct query_port *
query_port_of(const struct query *query, const struct pack_key *key, struct query_port *at)
{
	const struct query_port *end = query->ports + query->n_ports;
	int64_t agent = pack_agent(key);
	uint64_t if_index = pack_if_index(key);

	if (!at || at->agent->id != agent)
		return query_find_port(query, agent, if_index);
	while (at < end && at->agent->id == agent && at->if_index < if_index)
		at++;
	return at < end && at->agent->id == agent && at->if_index == if_index
	    ? at : query_find_port(query, agent, if_index);
}

void
query_add_pack_sums(struct estimate_sums *sums, const struct pack_reader *reader, unsigned entry,
    unsigned same)
{
	sums->n += (uint64_t)pack_value_of(reader, entry, PACK_N);
	sums->w += pack_value_of(reader, entry, PACK_W);
	sums->w2 += pack_value_of(reader, entry, PACK_W2);
	sums->wb += pack_value_of(reader, entry, PACK_WB);
	sums->wb2 += pack_value_of(reader, entry, PACK_WB2);
	sums->w2b2 += pack_value_of(reader, entry, PACK_W2B2);
	sums->any.pkts += pack_value_of(reader, entry, PACK_ANY_PKTS);
	sums->any.octets += pack_value_of(reader, entry, PACK_ANY_OCTETS);
	sums->same.pkts += pack_value_of(reader, entry, same);
	sums->same.octets += pack_value_of(reader, entry, same + 1);
}

/* Of a pool nothing may be left, and yet samples lie beside it, of before or after: its total is known, and it is as
 * good as 0. (0 would mean that it is not known.) */
static const double COUNTED_NOTHING = 1e-6;

void
query_take_off(double *pool, double part)
{
	if (part > 0 && *pool > 0)
		*pool = fmax(*pool - part, COUNTED_NOTHING);
}

void
query_narrow(struct query *query, uint64_t from_us, uint64_t to_us)
{
	query->range = (struct query_range){from_us, to_us};
	for (size_t i = 0; i < query->n_ports; i++) {
		struct query_port *port = &query->ports[i];

		memset(port->side, 0, sizeof(port->side));
		memset(port->cut, 0, sizeof(port->cut));
		port->expected = port->received = port->folded = port->folded_most = 0;
		port->dropped = port->dropped_most = 0;
	}
}
