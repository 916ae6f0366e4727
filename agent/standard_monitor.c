#include "agent/standard_monitor.h"

#include "agent/snmp/notify_standard.h"
#include "common/log.h"
#include "mibs/mibs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct stat_name stat_names[STANDARD_MONITOR_N_STATS] = {
    [STANDARD_MONITOR_STAT_LINK_TRAPS] = {"monitor.link_traps", "linkUp and linkDown sent"},
    [STANDARD_MONITOR_STAT_TRAPS_LOST] = {"monitor.traps_lost",
	"standard notifications lost because the queue was full"},
};

struct link_state {
	uint32_t if_index;
	uint8_t oper_status;
};

struct standard_monitor {
	struct standard_monitor_options options;
	struct rmon *rmon;
	struct state *state; /* borrowed; NULL: no rows are kept */
	bool ports_moved;    /* and the snapshots that alarms read do not show it yet */
	struct link_state *links; /* the states that managers know */
	size_t n_links;
	uint64_t parts_notified_us; /* time of the change of parts that was last reported; 0: none */
	uint64_t parts_sent_us; /* when it was reported */
	struct ease_notification notification; /* being built: too large for the stack */
	struct stat_set stats;
	_Atomic uint64_t stat_values[STANDARD_MONITOR_N_STATS];
};

static void
send_notification(struct standard_monitor *m)
{
	if (m->options.push(m->options.ctx, &m->notification) < 0)
		stat_add(&m->stats, STANDARD_MONITOR_STAT_TRAPS_LOST, 1);
}

/* ---- links ---- */

static struct link_state *
link_of(struct standard_monitor *m, uint32_t if_index)
{
	struct link_state *links;

	for (size_t i = 0; i < m->n_links; i++) {
		if (m->links[i].if_index == if_index)
			return &m->links[i];
	}
	links = reallocarray(m->links, m->n_links + 1, sizeof(*links));
	if (!links)
		return NULL;
	m->links = links;
	links[m->n_links] = (struct link_state){.if_index = if_index, .oper_status = EASE_IF_NOT_PRESENT};
	return &links[m->n_links++];
}

/* RFC 2863: linkDown when a port enters down from any state but notPresent, linkUp when it leaves
 * down for any state but notPresent. ifOperStatus is the state before a linkDown and after a
 * linkUp. */
static void
link_changed(struct standard_monitor *m, const struct hal_port *port, uint8_t before)
{
	bool up = before == EASE_IF_DOWN;

	if (before == EASE_IF_NOT_PRESENT || port->oper_status == EASE_IF_NOT_PRESENT ||
	    (!up && port->oper_status != EASE_IF_DOWN) || !port->link_traps)
		return;
	notify_link(&m->notification, up, port->if_index, port->admin_status, up ? port->oper_status : before);
	stat_add(&m->stats, STANDARD_MONITOR_STAT_LINK_TRAPS, 1);
	send_notification(m);
}

static void
look_at_link(struct standard_monitor *m, uint32_t if_index)
{
	struct link_state *link = link_of(m, if_index);
	struct hal_port port;
	uint8_t before;

	if (!link)
		return;
	before = link->oper_status;
	if (hal_port_info(m->options.hal, if_index, &port) < 0)
		return;
	link->oper_status = port.oper_status;
	if (before != port.oper_status)
		link_changed(m, &port, before);
}

/* A port that is not there is notPresent, as one that was never seen. */
static void
forget_link(struct standard_monitor *m, uint32_t if_index)
{
	for (size_t i = 0; i < m->n_links; i++) {
		if (m->links[i].if_index != if_index)
			continue;
		m->links[i] = m->links[--m->n_links];
		return;
	}
}

void
standard_monitor_port(struct standard_monitor *m, const struct hal_port_event *event)
{
	if (event->happening == HAL_PORT_CAME || event->happening == HAL_PORT_CHANGED)
		look_at_link(m, event->if_index);
	else
		forget_link(m, event->if_index);
	rmon_port(m->rmon, event);
	m->ports_moved = m->ports_moved || event->happening != HAL_PORT_CHANGED;
}

/* ---- parts ---- */

/* RFC 6933: changes within a period are reported together at its end. */
static void
notify_parts(struct standard_monitor *m)
{
	enum { PERIOD_US = 5000000 };
	const struct hal_snapshot *snapshot = hal_snapshot_hold(m->options.hal);
	uint64_t now_us = clock_mono_us(m->options.clock), changed_us = 0;

	if (snapshot)
		changed_us = snapshot->structure->parts_changed_mono_us;
	hal_snapshot_release(snapshot);
	if (changed_us == m->parts_notified_us ||
	    (m->parts_notified_us != 0 && now_us < m->parts_sent_us + PERIOD_US))
		return;
	m->parts_notified_us = changed_us;
	m->parts_sent_us = now_us;
	notify_parts_changed(&m->notification);
	send_notification(m);
}

/* ---- objects that alarms read ---- */

/* Values of other types return -EINVAL. */
static int
standard_number_of(const struct mib_value *value, struct rmon_reading *reading)
{
	reading->syntax = value->syntax;
	switch (value->syntax) {
	case MIB_INTEGER:
		reading->value = value->integer;
		return 0;
	case MIB_COUNTER32:
	case MIB_COUNTER64:
	case MIB_GAUGE32:
	case MIB_TIMETICKS:
		reading->value = value->number;
		return 0;
	default:
		return -EINVAL;
	}
}

static int
standard_read_cell(const struct mib_context *context, const struct mib_oid *name, struct rmon_reading *reading)
{
	struct mib_value value;
	int rc = -ENOENT;

	for (size_t i = 0; i < mibs_n_tables; i++) {
		switch (mib_get(mibs_tables[i], context, name->arcs, name->n, &value)) {
		case MIB_FOUND:
			return standard_number_of(&value, reading);
		case MIB_NO_INSTANCE:
			rc = -ENXIO;
			break;
		default:
			break;
		}
	}
	return rc;
}

/* Most counters belong to a port, whose ifIndex is the last arc of their names. If it belongs to none,
 * the discontinuity of that port ends one period in vain. */
static uint64_t
discontinuity_of(const struct standard_monitor *m, const struct mib_oid *name)
{
	struct hal_port port;

	if (name->n == 0 || hal_port_info(m->options.hal, name->arcs[name->n - 1], &port) < 0)
		return 0;
	return port.discontinuity_mono_us;
}

static int
read_object(void *ctx, const struct mib_oid *name, bool fresh, struct rmon_reading *reading)
{
	struct standard_monitor *m = ctx;
	const struct mib_snapshot_source *snapshots = m->options.snapshots;
	struct mib_context context = {.mono_us = clock_mono_us(m->options.clock),
	    .whole_counters = true};
	int rc;

	if (fresh)
		(void)hal_refresh_all(m->options.hal); /* counted; else the latest is used */
	context.snapshot = snapshots->hold(snapshots->ctx);
	if (!context.snapshot)
		return -ENOENT;
	rc = standard_read_cell(&context, name, reading);
	reading->discontinuity_us = discontinuity_of(m, name);
	snapshots->release(snapshots->ctx, context.snapshot);
	return rc;
}

static void
rows_removed(void *ctx)
{
	struct standard_monitor *m = ctx;

	if (m->state)
		state_rows_removed(m->state);
}

static struct notify_hc_number
hc_number(rmon_number number)
{
	return (struct notify_hc_number){(uint64_t)(number < 0 ? -number : number), number < 0};
}

static void
send_alarm(void *ctx, const struct rmon_crossing *crossing)
{
	struct standard_monitor *m = ctx;

	struct notify_hc_alarm high = {.index = crossing->index, .variable = &crossing->variable,
	    .sample_type = crossing->sample_type, .value = hc_number(crossing->value),
	    .threshold = hc_number(crossing->threshold), .event = crossing->event};
	struct notify_alarm fields = {.index = crossing->index, .variable = &crossing->variable,
	    .sample_type = crossing->sample_type, .value = (int32_t)crossing->value,
	    .threshold = (int32_t)crossing->threshold};

	if (crossing->high_capacity)
		notify_hc_alarm(&m->notification, crossing->rising, &high);
	else
		notify_alarm(&m->notification, crossing->rising, &fields);
	send_notification(m);
}

/* ---- life cycle ---- */

int
standard_monitor_create(
    const struct standard_monitor_options *options, struct standard_monitor **monitor)
{
	struct standard_monitor *m = calloc(1, sizeof(*m));
	struct rmon_options rmon = {
	    .hal = options->hal,
	    .clock = options->clock,
	    .control_table = &rmon_mib_history_control_table,
	    .alarm_table = &rmon_mib_alarm_table,
	    .event_table = &rmon_mib_event_table,
	    .hc_alarm_table = &hc_alarm_mib_table,
	    .ctx = m,
	    .rows_removed = rows_removed,
	    .read = read_object,
	    .trap = send_alarm,
	};
	int rc;

	if (!m)
		return -ENOMEM;
	m->options = *options;
	m->stats = (struct stat_set){stat_names, STANDARD_MONITOR_N_STATS, m->stat_values};
	rc = rmon_create(&rmon, &m->rmon);
	if (rc < 0) {
		free(m);
		return rc;
	}
	*monitor = m;
	return 0;
}

void
standard_monitor_destroy(struct standard_monitor *monitor)
{
	if (!monitor)
		return;
	rmon_destroy(monitor->rmon);
	free(monitor->links);
	free(monitor);
}

struct rmon *
standard_monitor_rmon(struct standard_monitor *monitor)
{
	return monitor->rmon;
}

/* The order of the tables does not matter, because no row starts to work before rmon_changed. */
void
standard_monitor_start(struct standard_monitor *m, struct state *state)
{
	m->state = state;
	for (size_t i = 0; i < hal_n_ports(m->options.hal); i++)
		look_at_link(m, hal_port_if_index(m->options.hal, i));
	for (size_t i = 0; i < RMON_N_MANAGED && state; i++)
		state_restore_rows(state, rmon_managed(m->rmon)[i]);
	if (m->options.default_history && !(state && state_had_rows(state)))
		rmon_add_default_controls(m->rmon);
	rmon_changed(m->rmon, hal_steady_us(m->options.hal));
	rmon_publish(m->rmon);
}

void
standard_monitor_settings_changed(struct standard_monitor *m)
{
	rmon_changed(m->rmon, hal_steady_us(m->options.hal));
}

uint64_t
standard_monitor_next_us(const struct standard_monitor *m)
{
	return rmon_next_us(m->rmon);
}

void
standard_monitor_run(struct standard_monitor *m, uint64_t steady_us)
{
	rmon_run(m->rmon, steady_us);
}

bool
standard_monitor_refreshed(struct standard_monitor *m)
{
	if (!m->ports_moved)
		return false;
	m->ports_moved = false;
	for (size_t i = 0; i < RMON_N_MANAGED && m->state; i++)
		state_retry_rows(m->state, rmon_managed(m->rmon)[i]);
	rmon_ports_moved(m->rmon, hal_steady_us(m->options.hal));
	return true;
}

void
standard_monitor_publish(struct standard_monitor *m)
{
	notify_parts(m);
	rmon_publish(m->rmon);
}

const struct stat_set *
standard_monitor_stats(const struct standard_monitor *m)
{
	return &m->stats;
}
