#include "agent/event_monitor.h"

#include "common/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STAT_SUPPRESSED, N_STATS };

static const struct stat_name stat_names[N_STATS] = {
    [STAT_SUPPRESSED] = {"agent.events_suppressed",
	"easeErrorSource, easeBackPressure and easeSamplingStalled not sent because of a limit"},
};

/* A count of one port, and when managers were last notified that it had grown. */
struct watched_count {
	uint64_t count, notified_us;
};

/* A port's counts when its present minute began. */
struct stall_minute {
	bool has_begun;
	uint64_t since_us;
	uint64_t pool_pkts, stalled_pkts;
};

struct watched_port {
	uint32_t if_index;
	struct watched_count episodes;
	struct stall_minute minute;
};

struct event_monitor {
	struct event_monitor_config config;
	struct watched_port *ports; /* by rising if_index */
	size_t n_ports;
	uint64_t second_us; /* steady: start of the second in which notifications are counted */
	uint32_t in_second;
	uint64_t sources_us; /* time of the newest bad frame that was reported by its source */
	uint64_t clock_us;   /* the device's clock less the steady one, when sources_us was set */
	struct stat_set stats;
	_Atomic uint64_t stat_values[N_STATS];
};

int
event_monitor_create(const struct event_monitor_config *config, struct event_monitor **monitor)
{
	struct event_monitor *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return -ENOMEM;
	m->config = *config;
	m->stats = (struct stat_set){stat_names, N_STATS, m->stat_values};
	*monitor = m;
	return 0;
}

void
event_monitor_destroy(struct event_monitor *monitor)
{
	if (monitor == NULL)
		return;
	free(monitor->ports);
	free(monitor);
}

static bool
within_rate(struct event_monitor *m, uint64_t now_us)
{
	if (now_us >= m->second_us + 1000000) {
		m->second_us = now_us;
		m->in_second = 0;
	}
	if (m->in_second >= m->config.rate_per_s) {
		stat_add(&m->stats, STAT_SUPPRESSED, 1);
		return false;
	}
	m->in_second++;
	return true;
}

/* Returns true if the count has grown and the limits allow a notification now. A suppressed event is
 * not queued: it is reported when the count next grows. easeCounters carries the count anyway. */
static bool
may_notify(struct event_monitor *m, struct watched_count *watched, uint64_t count, uint64_t now_us)
{
	bool grown = count > watched->count;

	watched->count = count;
	if (!grown)
		return false;
	if (watched->notified_us != 0 && now_us < watched->notified_us + EVENT_MONITOR_QUIET_US) {
		stat_add(&m->stats, STAT_SUPPRESSED, 1);
		return false;
	}
	if (!within_rate(m, now_us))
		return false;
	watched->notified_us = now_us;
	return true;
}

static uint64_t
growth_of(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0; /* a port that was unplugged may count from 0 again */
}

/* Returns true if a minute has just ended in which too many frames of the port passed unsampled.
 * If they are fewer than one sample represents, no sample is missing, so they do not matter. The
 * minute lasts until the first poll after its 60 s. */
static bool
stalled_too_long(const struct event_monitor *m, struct stall_minute *minute,
    const struct sampling_port_row *row, uint64_t now_us)
{
	const struct stall_minute last = *minute;
	uint64_t pool_pkts = row->pool_in_pkts + row->pool_out_pkts;
	uint64_t pool = growth_of(pool_pkts, last.pool_pkts);
	uint64_t stalled = growth_of(row->stalled_pkts, last.stalled_pkts);

	if (last.has_begun && now_us < minute->since_us + EVENT_MONITOR_MINUTE_US)
		return false;
	*minute = (struct stall_minute){true, now_us, pool_pkts, row->stalled_pkts};
	return last.has_begun && stalled * 100 > pool * m->config.stall_percent && stalled >= row->mean_skip_in_force;
}

static void
monitor_check_port(struct event_monitor *m, struct watched_port *port, const struct hal_port *seen,
    const struct sampling_port_row *row)
{
	uint64_t episodes = seen->has_buffers ? seen->buffers.pressed_episodes : 0;
	uint64_t now_us = hal_steady_us(m->config.hal);
	struct ease_resources resources;
	struct ease_snapshot snapshot;

	if (may_notify(m, &port->episodes, episodes, now_us) &&
	    sampling_resources(m->config.sampling, port->if_index, &resources) == 0)
		packer_back_pressure(m->config.packer, &resources);
	if (row != NULL && stalled_too_long(m, &port->minute, row, now_us) && within_rate(m, now_us) &&
	    sampling_snapshot(m->config.sampling, port->if_index, &snapshot) == 0)
		packer_stalled(m->config.packer, &snapshot);
}

/* Returns what is known of the port, or begins with its counts as they are; NULL: no memory. */
static struct watched_port *
monitor_port_of(struct event_monitor *m, const struct hal_port *seen)
{
	size_t i = SORTED_POSITION_OF(m->ports, m->n_ports, if_index, seen->if_index);
	struct watched_port *grown;

	if (i < m->n_ports && m->ports[i].if_index == seen->if_index)
		return &m->ports[i];
	grown = reallocarray(m->ports, m->n_ports + 1, sizeof(*grown));
	if (grown == NULL)
		return NULL;
	m->ports = grown;
	memmove(&grown[i + 1], &grown[i], (m->n_ports++ - i) * sizeof(*grown));
	grown[i] = (struct watched_port){.if_index = seen->if_index,
	    .episodes = {seen->has_buffers ? seen->buffers.pressed_episodes : 0, 0}};
	return &grown[i];
}

void
event_monitor_port(struct event_monitor *m, const struct hal_port_event *event)
{
	size_t i = SORTED_POSITION_OF(m->ports, m->n_ports, if_index, event->if_index);

	if (event->happening == HAL_PORT_CHANGED || i == m->n_ports || m->ports[i].if_index != event->if_index)
		return;
	memmove(&m->ports[i], &m->ports[i + 1], (--m->n_ports - i) * sizeof(*m->ports));
}

void
event_monitor_poll(struct event_monitor *m)
{
	const struct hal_snapshot *hal = hal_snapshot_hold(m->config.hal);
	const struct sampling_table *table = sampling_table_hold(m->config.sampling);

	for (size_t i = 0; hal != NULL && i < hal->n_ports; i++) {
		struct watched_port *port = monitor_port_of(m, &hal->ports[i]);

		if (port != NULL)
			monitor_check_port(m, port, &hal->ports[i],
			    table ? sampling_table_port(table, hal->ports[i].if_index) : NULL);
	}
	sampling_table_release(table);
	hal_snapshot_release(hal);
}

static bool
has_doubled(const struct ease_error_source *source)
{
	return (source->count & (source->count - 1)) == 0;
}

void
event_monitor_error_source(struct event_monitor *m, const struct ease_error_source *source)
{
	if (has_doubled(source) && within_rate(m, hal_steady_us(m->config.hal)))
		packer_error_source(m->config.packer, source);
}

void
event_monitor_notify_sources(struct event_monitor *m)
{
	uint64_t now_us = hal_steady_us(m->config.hal), newest_us;
	uint64_t clock_us = hal_now_us(m->config.hal) - now_us;
	size_t n;
	const struct ease_error_source *sources = hal_error_sources(m->config.hal, &n);

	/* If the clock of the stamps was set, the time of the last report moves with it. */
	m->sources_us = m->sources_us != 0 ? m->sources_us + clock_us - m->clock_us : 0;
	m->clock_us = clock_us;
	newest_us = m->sources_us;
	for (size_t i = 0; i < n; i++) {
		if (sources[i].time_us > newest_us)
			newest_us = sources[i].time_us;
		if (sources[i].time_us > m->sources_us && !has_doubled(&sources[i]) && within_rate(m, now_us))
			packer_error_source(m->config.packer, &sources[i]);
	}
	m->sources_us = newest_us;
}

const struct stat_set *
event_monitor_stats(const struct event_monitor *monitor)
{
	return &monitor->stats;
}
