#include "collector/precision_settings.h"
#include "collector/collector_settings.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
precision_settings_free(struct precision_settings *s)
{
	if (!s)
		return;
	if (s->credentials)
		explicit_bzero(s->credentials, s->n_credentials * sizeof(*s->credentials));
	free(s->credentials);
	free(s->targets);
	free(s);
}

static void
fill_goals(struct precision_settings *s, const struct collector_config *config)
{
	const char *reason;

	for (size_t i = 0; i < config->precision.n && s->n_goals < PRECISION_GOALS_MAX; i++)
		if (precision_goal_parse(config->precision.items[i], &s->goals[s->n_goals], &reason) == 0)
			s->n_goals++; /* the option's check has refused others */
	s->budget = (struct precision_budget){config->precision_budget, config->precision_agent_budget,
	    config->precision_share == 0 ? PRECISION_EVEN : PRECISION_MOST};
}

/* A single address stands there, perhaps with its length behind it. */
static void
fill_sflow(struct precision_target *t, const struct collector_poll *steer, const char *agent)
{
	struct endpoint to;
	const char *reason;

	if (!steer->sflow_to || !*steer->sflow_to || endpoint_parse(steer->sflow_to, &to, &reason) < 0)
		return;
	snprintf(t->address, sizeof(t->address), "%.*s", (int)strcspn(agent, "/"), agent);
	t->sflow_skip = steer->sflow_skip;
	if (to.address.ss_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)&to.address;

		t->to = (struct poll_sflow){.to_octets = 4, .to_port = ntohs(in->sin_port)};
		memcpy(t->to.to, &in->sin_addr, 4);
	} else {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&to.address;

		t->to = (struct poll_sflow){.to_octets = 16, .to_port = ntohs(in6->sin6_port)};
		memcpy(t->to.to, &in6->sin6_addr, 16);
	}
}

struct precision_settings *
precision_settings_new(const struct collector_config *config)
{
	const struct collector_poll *steers = config->steers.items;
	struct precision_settings *s = calloc(1, sizeof(*s));
	const char *reason;
	size_t n = 0;

	if (!s)
		return NULL;
	for (size_t i = 0; i < config->steers.n; i++)
		n += steers[i].agents.n;
	s->targets = calloc(n + 1, sizeof(*s->targets));
	s->credentials = calloc(config->steers.n + 1, sizeof(*s->credentials));
	if (!s->targets || !s->credentials) {
		precision_settings_free(s);
		return NULL;
	}
	fill_goals(s, config);
	s->n_credentials = config->steers.n;
	for (size_t i = 0; i < config->steers.n; i++) {
		collector_snmp_credentials(&steers[i].as, &s->credentials[i]);
		for (size_t j = 0; j < steers[i].agents.n; j++) {
			struct precision_target *t = &s->targets[s->n_targets++];

			prefix_parse(steers[i].agents.items[j], &t->agents, &reason);
			t->udp_port = (uint16_t)steers[i].port;
			t->as = (uint32_t)i;
			fill_sflow(t, &steers[i], steers[i].agents.items[j]);
		}
	}
	return s;
}

uint32_t
precision_target_of(const struct precision_settings *s, const char *address)
{
	for (uint32_t i = 0; i < s->n_targets; i++)
		if (prefix_holds_text(&s->targets[i].agents, address))
			return i;
	return UINT32_MAX;
}

bool
precision_have_same_goals(const struct precision_settings *a, const struct precision_settings *b)
{
	for (size_t i = 0; i < a->n_goals && a->n_goals == b->n_goals; i++)
		if (strcmp(a->goals[i].text, b->goals[i].text) != 0)
			return false;
	return a->n_goals == b->n_goals;
}
