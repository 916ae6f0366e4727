#include "collector/collector_poll.h"

#include "collector/input/v3.h"
#include "collector/poll/poll.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ports of sFlow agents stand first, those of agents of EASE behind them. */
static bool
see_place(void *arg, uint32_t place, struct polled_place *to)
{
	struct collector *c = arg;

	if (place < INPUT_PLACES)
		return input_place(c->input, place, to);
	if (!accounting_place(c->accounting, place - INPUT_PLACES, to))
		return false;
	to->place += INPUT_PLACES;
	to->agent += INPUT_AGENT_PLACES;
	return true;
}

static int64_t
polled_agent_number(struct collector *c, uint32_t place, uint32_t number, uint32_t if_index)
{
	const struct polled_agent agent = {.place = place, .number = number, .if_index = if_index};
	uint8_t id[EASE_AGENT_ID_LEN];

	if (place >= INPUT_PLACES)
		return number;
	return input_agent_of(c->input, &agent, id) ? accounting_agent_number(c->accounting, id) : 0;
}

/* Without room in the batch the next reading of neighbours brings it. */
static void
write_link_row(struct collector *c, const struct polled_port *port)
{
	int64_t agent = polled_agent_number(c, port->place, port->number, port->if_index);
	int64_t other = polled_agent_number(c, port->other_place, port->other_number, port->other_if_index);
	struct store_link *row = agent > 0 && other > 0 ? store_batch_add(c->batch, STORE_LINKS) : NULL;

	if (row)
		*row = (struct store_link){agent, other, port->if_index, port->other_if_index, clock_wall_us(c->clock)};
}

static bool
collector_poll_take_port(void *arg, const struct polled_port *port)
{
	struct collector *c = arg;

	if (port->parts & POLLED_UPLINK && port->is_uplink && port->other_number != 0)
		write_link_row(c, port);
	if (port->place >= INPUT_PLACES) { /* its agent has sent all else */
		if (port->parts & POLLED_UPLINK)
			accounting_take_uplink(c->accounting, port->number, port->if_index, port->is_uplink, c->batch);
		return true;
	}
	return input_take_polled(c->input, port);
}

/* Without room in the batch the next news bring it. */
static void
collector_poll_take_agent(void *arg, const struct polled_agent *agent)
{
	struct collector *c = arg;
	int64_t number = polled_agent_number(c, agent->place, agent->number, agent->if_index);
	struct store_polled *row = number > 0 && store_batch_reserve(c->batch, STORE_POLLED, 1) == 0
	    ? store_batch_add(c->batch, STORE_POLLED) : NULL;

	if (!row)
		return;
	*row = (struct store_polled){.agent = number, .names_us = agent->names_us, .counters_us = agent->counters_us,
	    .silent_us = agent->silent_us, .reason = agent->reason};
	memcpy(row->name, agent->name, sizeof(row->name));
}

static size_t
n_targets(const struct collector_config *config)
{
	const struct collector_poll *polls = config->polls.items;
	size_t n = 0;

	for (size_t i = 0; i < config->polls.n; i++)
		n += polls[i].agents.n;
	return n;
}

static void
fill_targets(const struct collector_config *config, struct poll_target *target, struct poll_credentials *credentials)
{
	const struct collector_poll *polls = config->polls.items;
	const char *reason;

	for (size_t i = 0; i < config->polls.n; i++) {
		collector_snmp_credentials(&polls[i].as, &credentials[i]);
		for (size_t j = 0; j < polls[i].agents.n; j++, target++) {
			prefix_parse(polls[i].agents.items[j], &target->agents, &reason);
			target->udp_port = (uint16_t)polls[i].port;
			target->as = (uint32_t)i;
		}
	}
}

static void
forget_settings(struct collector *c)
{
	if (c->poll_credentials)
		explicit_bzero(c->poll_credentials, c->n_poll_credentials * sizeof(*c->poll_credentials));
	free(c->poll_credentials);
	free(c->poll_targets);
}

/* Of the configuration: what is in force in c is not touched. 0 or -ENOMEM. */
static int
make_settings(const struct collector *c, struct poll_settings *settings, struct poll_target **targets,
    struct poll_credentials **credentials)
{
	const struct collector_config *config = c->config;
	size_t n = n_targets(config);

	*targets = calloc(n + 1, sizeof(**targets));
	*credentials = calloc(config->polls.n + 1, sizeof(**credentials));
	if (!*targets || !*credentials) {
		free(*targets);
		free(*credentials);
		return -ENOMEM;
	}
	fill_targets(config, *targets, *credentials);
	*settings = (struct poll_settings){
	    .targets = *targets,
	    .n_targets = n,
	    .credentials = *credentials,
	    .counters_us = config->poll_counters_s * UINT64_C(1000000),
	    .names_us = config->poll_names_s * UINT64_C(1000000),
	    .questions_a_second = config->poll_questions,
	};
	return 0;
}

int
collector_poll_open(struct collector *c)
{
	const struct poll_source source = {see_place, c, COLLECTOR_POLLED_PORTS, COLLECTOR_POLLED_AGENTS};
	struct poll_settings settings;
	int r;

	if (c->options->no_sockets || c->config->polls.n == 0)
		return 0;
	r = make_settings(c, &settings, &c->poll_targets, &c->poll_credentials);
	if (r < 0)
		return r;
	c->n_poll_credentials = c->config->polls.n;
	return poll_open(&c->poller, &source, &settings, c->clock, &(struct poll_sink){collector_poll_take_port, collector_poll_take_agent, c});
}

int
collector_poll_change(struct collector *c)
{
	struct poll_credentials *credentials;
	struct poll_settings settings;
	struct poll_target *targets;
	int r;

	if (!c->poller)
		return c->config->polls.n == 0 ? 0 : -EAGAIN;
	r = make_settings(c, &settings, &targets, &credentials);
	if (r < 0)
		return r;
	poll_set(c->poller, &settings);
	forget_settings(c);
	c->poll_targets = targets;
	c->poll_credentials = credentials;
	c->n_poll_credentials = c->config->polls.n;
	return 0;
}

void
collector_poll_close(struct collector *c)
{
	poll_close(c->poller);
	forget_settings(c);
}
