/*
 * Agents and ports of a question, and the sums in them. Part of query.h.
 */
#include "collector/query/query_private.h"

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
		if (port->agent->id < agent || (port->agent->id == agent && port->if_index < if_index))
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
query_add_pack_sums(struct estimate_sums *sums, const struct pack_reader *reader, unsigned entry, unsigned same)
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

bool
port_is_counted(const struct report_options *options, const struct query_port *port)
{
	return port->chosen && (port->edge || (options->filter && options->filter->asks_for_ports));
}

/* ---- which frames lists count ----
 *
 * A frame that comes in and goes out may be sampled twice, so lists count one direction of an agent, at all of its
 * ports: what was received, where that is sampled. Only of an agent that samples what it sends alone they count that.
 * It is one direction for the whole agent, because a frame between two of its ports would else be counted at both, or
 * at neither. A question decides it once, over its whole range: all steps of a history count the same frames.
 */

/* A direction is sampled, if at least one of so many samples is of it: each frame that a switch floods comes in once,
 * and goes out at many ports. Fewer are of a setting that was changed meanwhile. */
enum { SAMPLES_PER_ONE = 100 };

static bool
ports_is_sampled(uint64_t samples, uint64_t others)
{
	return samples > 0 && samples * SAMPLES_PER_ONE >= samples + others;
}

/* Where so few samples of what came in are due by the skips of what went out, that there is none proves nothing. An EASE
 * switch samples both, so that lists do not count one thing or the other by chance; one that speaks sFlow may be set to
 * one direction. */
#define FEW_DUE 5.0

static bool
may_be_chance(const struct query *query, const struct query_agent *agent)
{
	double received = 0, weight = 0;

	for (size_t i = 0; i < query->n_ports; i++)
		if (query->ports[i].agent == agent) {
			received += query->ports[i].side[EASE_IN].pool_pkts;
			weight += query->ports[i].side[EASE_OUT].all.w;
		}
	return agent->boot < QUERY_SFLOW_BOOTS && received * (double)agent->samples[EASE_OUT] < FEW_DUE * weight;
}

void
query_choose_sides(struct query *query)
{
	if (query->sides_chosen)
		return;
	query->sides_chosen = true;
	for (size_t i = 0; i < query->n_ports; i++) {
		struct query_agent *agent = &query->agents[query->ports[i].agent - query->agents];

		for (int d = EASE_IN; d <= EASE_OUT; d++)
			agent->samples[d] += query->ports[i].side[d].all.n;
	}
	query->n_sent_agents = 0;
	for (size_t i = 0; i < query->n_agents; i++) {
		struct query_agent *agent = &query->agents[i];
		const uint64_t in = agent->samples[EASE_IN], out = agent->samples[EASE_OUT];

		agent->listed = out > 0 && !ports_is_sampled(in, out) && !(in == 0 && may_be_chance(query, agent)) ? EASE_OUT : EASE_IN;
		query->n_sent_agents += agent->listed == EASE_OUT;
	}
}

const char *
query_sampled_text(uint64_t in, uint64_t out)
{
	bool ingress = ports_is_sampled(in, out), egress = ports_is_sampled(out, in);

	return ingress && egress ? "both" : ingress ? "ingress" : egress ? "egress" : "";
}
