#include "agent/sim/board_feed.h"

#include <errno.h>
#include <stdlib.h>

/* The parts of a feed_config, as many as the plan has. */
struct parts {
	struct feed_source sources[FEED_MAX_SOURCES];
	struct feed_live live[FEED_MAX_SOURCES];
	unsigned ports[BOARD_MAX_PORTS];
	struct feed_error errors[BOARD_MAX_PORTS * FEED_N_ERRORS];
	struct feed_link_change *changes;
	struct feed_config feed;
};

static void
add_source(struct parts *parts, const struct board_port *port, unsigned i)
{
	struct feed_source *source = &parts->sources[parts->feed.n_sources];
	const char *capture = board_port_capture(port);

	if (board_port_deals(port))
		parts->ports[parts->feed.n_ports++] = i;
	if (board_live(port->capture))
		parts->live[parts->feed.n_live++] =
		    (struct feed_live){board_live(port->capture), (int)i};
	if (!capture)
		return;
	*source = (struct feed_source){
	    .path = capture, .interface = port->interface, .port = (int)i};
	source->moved = board_port_moved(port, &source->start_us);
	parts->feed.n_sources++;
}

/* board_load has checked all texts. */
static void
add_events(struct parts *parts, const struct board_plan *plan, const struct board_port *port,
    unsigned i)
{
	const struct option_list *errors = board_port_errors(plan, port);

	for (size_t k = 0; k < errors->n; k++) {
		struct feed_error *error = &parts->errors[parts->feed.n_errors++];

		board_error(errors->items[k], error);
		error->port = i;
	}
	for (size_t k = 0; k < port->link_changes.n; k++) {
		struct feed_link_change *change = &parts->changes[parts->feed.n_link_changes++];

		board_link_change(port->link_changes.items[k], change);
		change->port = i;
	}
}

static struct parts *
make_parts(const struct board_plan *plan, const struct board_feed_config *config)
{
	struct parts *parts = calloc(1, sizeof(*parts));
	size_t n_changes = 1;

	for (size_t i = 0; i < plan->ports.n; i++)
		n_changes += board_port(plan, i)->link_changes.n;
	if (!parts || !(parts->changes = calloc(n_changes, sizeof(*parts->changes)))) {
		free(parts);
		return NULL;
	}
	parts->feed = (struct feed_config){.sources = parts->sources, .live = parts->live,
	    .ports = parts->ports,
	    .deal = config->deal, .loop = config->loop, .preload = config->preload,
	    .link_changes = parts->changes, .errors = parts->errors,
	    .error_seed = plan->error_seed};
	for (unsigned i = 0; i < plan->ports.n; i++) {
		add_source(parts, board_port(plan, i), i);
		add_events(parts, plan, board_port(plan, i), i);
	}
	if (config->capture && board_live(config->capture))
		parts->live[parts->feed.n_live++] =
		    (struct feed_live){board_live(config->capture), -1};
	else if (config->capture)
		parts->sources[parts->feed.n_sources++] =
		    (struct feed_source){.path = config->capture, .port = -1};
	return parts;
}

int
board_feed_create(const struct board_plan *plan, const struct board_feed_config *config,
    struct feed **feed, char *error, size_t error_size)
{
	struct parts *parts = make_parts(plan, config);
	int rc = 0;

	*feed = NULL;
	if (!parts) {
		snprintf(error, error_size, "cannot open the board's input: out of memory");
		return -ENOMEM;
	}
	if (parts->feed.n_sources > 0 || parts->feed.n_live > 0 || parts->feed.n_link_changes > 0)
		rc = feed_create(&parts->feed, feed, error, error_size);
	free(parts->changes);
	free(parts);
	return rc;
}
