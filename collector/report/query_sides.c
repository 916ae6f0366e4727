/*
 * Which frames lists count of an agent: those that its ports received, or those that they sent. Part of query.h.
 *
 * A frame that comes in and goes out may be sampled twice, so lists count one direction of an agent, at all of its
 * ports: what was received, where that is sampled. Only of an agent that samples what it sends alone they count that.
 * It is one direction for the whole agent, because a frame between two of its ports would else be counted at both, or
 * at neither. A question decides it once, over its whole range: all steps of a history count the same frames.
 */
#include "collector/report/query_private.h"

/* A direction is sampled, if at least one of so many samples is of it: each frame that a switch floods comes in once,
 * and goes out at many ports. Fewer are of a setting that was changed meanwhile. */
enum { SAMPLES_PER_ONE = 100 };

static bool
is_sampled(uint64_t samples, uint64_t others)
{
	return samples > 0 && samples * SAMPLES_PER_ONE >= samples + others;
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

		agent->listed = out > 0 && !is_sampled(in, out) ? EASE_OUT : EASE_IN;
		query->n_sent_agents += agent->listed == EASE_OUT;
	}
}

const char *
query_sampled_text(uint64_t in, uint64_t out)
{
	bool ingress = is_sampled(in, out), egress = is_sampled(out, in);

	return ingress && egress ? "both" : ingress ? "ingress" : egress ? "egress" : "";
}
