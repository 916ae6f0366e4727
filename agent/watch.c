#include "agent/watch.h"

#include <errno.h>
#include <stdlib.h>

enum { STAT_SUPPRESSED, N_STATS };

static const struct stat_name stat_names[N_STATS] = {
    [STAT_SUPPRESSED] = {"agent.events_suppressed",
	"easeErrorSource, easeBackPressure or easeSamplingStalled held back by a limit"},
};

/* A growing count of one port and when its growth was last told. */
struct watched {
	uint64_t count, told_us;
};

struct port {
	uint32_t if_index; /* 0: not seen yet */
	struct watched episodes, stalls;
};

struct watch {
	struct watch_config config;
	struct port *ports; /* in the order of the snapshot */
	size_t n_ports;
	uint64_t second_us; /* start of the second in which notifications are counted */
	uint32_t in_second;
	uint64_t sources_us; /* time of the newest bad frame whose source has been told of */
	struct stat_set stats;
	_Atomic uint64_t stat_values[N_STATS];
};

int
watch_create(const struct watch_config *config, struct watch **watch)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return -ENOMEM;
	w->config = *config;
	w->stats = (struct stat_set){stat_names, N_STATS, w->stat_values};
	*watch = w;
	return 0;
}

void
watch_destroy(struct watch *watch)
{
	if (watch == NULL)
		return;
	free(watch->ports);
	free(watch);
}

static bool
within_rate(struct watch *w, uint64_t now_us)
{
	if (now_us < w->second_us || now_us >= w->second_us + 1000000) {
		w->second_us = now_us;
		w->in_second = 0;
	}
	if (w->in_second >= w->config.rate_per_s) {
		stat_add(&w->stats, STAT_SUPPRESSED, 1);
		return false;
	}
	w->in_second++;
	return true;
}

/* Whether a count has grown and may be told now. One that may not is told by the next look that
 * finds it grown further, or never: easeCounters has it. */
static bool
has_news(struct watch *w, struct watched *watched, uint64_t count, uint64_t now_us)
{
	bool grown = count > watched->count;

	watched->count = count;
	if (!grown)
		return false;
	if (watched->told_us != 0 && now_us < watched->told_us + WATCH_PORT_QUIET_US) {
		stat_add(&w->stats, STAT_SUPPRESSED, 1);
		return false;
	}
	if (!within_rate(w, now_us))
		return false;
	watched->told_us = now_us;
	return true;
}

static void
tell_back_pressure(struct watch *w, uint32_t if_index)
{
	struct ease_resources resources;

	if (sampling_resources(w->config.sampling, if_index, &resources) == 0)
		packer_back_pressure(w->config.packer, &resources);
}

static void
tell_stalled(struct watch *w, uint32_t if_index)
{
	struct ease_snapshot snapshot;

	if (sampling_snapshot(w->config.sampling, if_index, &snapshot) == 0)
		packer_stalled(w->config.packer, &snapshot);
}

static void
look_at_port(struct watch *w, struct port *port, const struct hal_port *seen, uint64_t stalls)
{
	uint64_t episodes = seen->has_buffers ? seen->buffers.pressed_episodes : 0;
	uint64_t now_us = hal_now_us(w->config.hal);

	if (port->if_index != seen->if_index) {
		*port = (struct port){.if_index = seen->if_index, .episodes = {episodes, 0},
		    .stalls = {stalls, 0}};
		return;
	}
	if (has_news(w, &port->episodes, episodes, now_us))
		tell_back_pressure(w, port->if_index);
	if (has_news(w, &port->stalls, stalls, now_us))
		tell_stalled(w, port->if_index);
}

static int
make_room(struct watch *w, size_t n)
{
	struct port *grown;

	if (n <= w->n_ports)
		return 0;
	grown = realloc(w->ports, n * sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	for (size_t i = w->n_ports; i < n; i++)
		grown[i] = (struct port){0};
	w->ports = grown;
	w->n_ports = n;
	return 0;
}

static uint64_t
stalls_of(const struct sampling_view *view, uint32_t if_index)
{
	const struct sampling_port_row *row = view ? sampling_view_port(view, if_index) : NULL;

	return row ? row->stalls : 0;
}

void
watch_look(struct watch *w)
{
	const struct hal_snapshot *hal = hal_snapshot_hold(w->config.hal);
	const struct sampling_view *view = sampling_view_hold(w->config.sampling);

	if (hal != NULL && make_room(w, hal->n_ports) == 0)
		for (size_t i = 0; i < hal->n_ports; i++)
			look_at_port(w, &w->ports[i], &hal->ports[i],
			    stalls_of(view, hal->ports[i].if_index));
	sampling_view_release(view);
	hal_snapshot_release(hal);
}

static bool
has_doubled(const struct ease_error_source *source)
{
	return (source->count & (source->count - 1)) == 0;
}

void
watch_error_source(struct watch *w, const struct ease_error_source *source)
{
	if (has_doubled(source) && within_rate(w, source->time_us))
		packer_error_source(w->config.packer, source);
}

void
watch_tell_sources(struct watch *w)
{
	uint64_t now_us = hal_now_us(w->config.hal), newest_us = w->sources_us;
	size_t n;
	const struct ease_error_source *sources = hal_error_sources(w->config.hal, &n);

	for (size_t i = 0; i < n; i++) {
		if (sources[i].time_us > newest_us)
			newest_us = sources[i].time_us;
		if (sources[i].time_us > w->sources_us && !has_doubled(&sources[i]) &&
		    within_rate(w, now_us))
			packer_error_source(w->config.packer, &sources[i]);
	}
	w->sources_us = newest_us;
}

const struct stat_set *
watch_stats(const struct watch *watch)
{
	return &watch->stats;
}
