#include "agent/sampling/sampling_private.h"

#include "common/log.h"

#include <errno.h>
#include <stdlib.h>

int
sampling_check_claim(const struct sampling *s, const struct lease_claim *claim, const uint32_t *asked, size_t n, size_t *at)
{
	*at = n;
	if (!sampling_takes_requests(s))
		return -EOPNOTSUPP;
	for (size_t i = 0; i < n; i++) {
		const struct sampled_port *port = sampling_find_port(s, asked[i]);

		*at = i;
		if (port != NULL && port->kept_elsewhere)
			return -EOPNOTSUPP;
		if (port != NULL && port->config.request.is_held)
			return -EBUSY;
	}
	*at = n;
	return lease_check(&s->lease, claim, hal_mono_us(s->hal));
}

static void
end_requests(struct sampling *s)
{
	for (size_t i = 0; i < s->n_ports; i++) {
		struct sampled_port *port = &s->ports[i], before = *port;

		sampling_forget_request(port);
		if (before.config.request.mean_skip > 0 && !port->absent && sampling_take_effect(s, port, &before) < 0)
			sampling_forget_request(port); /* the device refused; the cap's next look asks it again */
	}
	stat_add(&s->stats, STAT_REQUESTS_ENDED, 1);
}

void
sampling_take_claim(struct sampling *s, const struct lease_claim *claim)
{
	if (lease_take(&s->lease, claim, hal_mono_us(s->hal)))
		end_requests(s);
}

void
sampling_mark_requests(struct sampling *s)
{
	s->marked_lease = s->lease;
	for (size_t i = 0; i < s->n_ports; i++)
		s->ports[i].marked = s->ports[i].config.request;
}

void
sampling_undo_requests(struct sampling *s)
{
	s->lease = s->marked_lease;
	for (size_t i = 0; i < s->n_ports; i++) {
		struct sampled_port *port = &s->ports[i], before = *port;

		port->config.request = port->marked;
		if (!port->absent)
			sampling_take_effect(s, port, &before);
	}
}

static void
change_doublings(struct sampling *s, struct sampled_port *port, unsigned doublings)
{
	struct sampled_port before = *port;

	port->doublings = doublings;
	sampling_take_effect(s, port, &before);
}

/* Doubles the requested skips of the ports that are furthest above their requested caps, until the rest is not more than
 * all may take together. Returns whether there was one to double. */
static bool
requests_double_skips(struct sampling *s, double *rates, double total)
{
	bool doubled = false;

	while (total > s->options.most_samples_per_s) {
		struct sampled_port *most = NULL;
		double worst = 0;

		for (size_t i = 0; i < s->n_ports; i++) {
			const struct sampling_request *request = &s->ports[i].config.request;
			double beyond = rates[i] / (request->max_samples_per_s ? request->max_samples_per_s : 1);

			if (request->mean_skip == 0 || sampling_mean_asked_for(s, &s->ports[i]) == EASE_DRAWN_MEAN_MAX || beyond <= worst)
				continue;
			worst = beyond;
			most = &s->ports[i];
		}
		if (most == NULL)
			break;
		total -= rates[most - s->ports] / 2;
		rates[most - s->ports] /= 2;
		change_doublings(s, most, most->doublings + 1);
		stat_add(&s->stats, STAT_REQUESTS_RAISED, 1);
		doubled = true;
	}
	return doubled;
}

/* Takes back one doubling, if all that it can add is within the limit. */
static bool
halve_a_skip(struct sampling *s, const double *rates, double total)
{
	enum { PAUSE_US = 10000000 };
	uint64_t now_us = hal_mono_us(s->hal);

	for (size_t i = 0; now_us >= s->lowered_us + PAUSE_US && i < s->n_ports; i++) {
		if (s->ports[i].doublings == 0 || total + rates[i] > 0.8 * s->options.most_samples_per_s)
			continue;
		s->lowered_us = now_us;
		change_doublings(s, &s->ports[i], s->ports[i].doublings - 1);
		return true;
	}
	return false;
}

/* By the samples since the tick before. */
static bool
hold_to_limit(struct sampling *s, uint64_t elapsed_us)
{
	double *rates = calloc(s->n_ports + 1, sizeof(*rates)), total = 0;
	bool changed;

	for (size_t i = 0; i < s->n_ports; i++) {
		uint64_t taken = s->ports[i].samples - s->ports[i].samples_at_tick;

		s->ports[i].samples_at_tick = s->ports[i].samples;
		if (rates != NULL)
			rates[i] = (double)taken * 1e6 / (double)elapsed_us;
		total += (double)taken * 1e6 / (double)elapsed_us;
	}
	changed = rates != NULL && s->options.most_samples_per_s > 0 &&
	    (requests_double_skips(s, rates, total) || halve_a_skip(s, rates, total));
	free(rates);
	return changed;
}

bool
sampling_tick(struct sampling *s)
{
	enum { TICK_US = 1000000 };
	uint64_t now_us = hal_mono_us(s->hal);
	bool changed = false;

	if (!sampling_takes_requests(s))
		return false;
	if (lease_expire(&s->lease, now_us)) {
		log_info("sampling", "the lease of skips was not renewed in time: ports have their configured ones again");
		end_requests(s);
		changed = true;
	}
	if (now_us >= s->tick_us + TICK_US) {
		changed |= hold_to_limit(s, now_us - s->tick_us);
		s->tick_us = now_us;
	}
	return changed;
}
