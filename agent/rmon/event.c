/*
 * The event group: the events of alarms are logged and sent as their event rows say (RFC 2819).
 */
#include "agent/rmon/rmon_private.h"

#include <inttypes.h>
#include <stdio.h>

static void
print_oid(const struct mib_oid *oid, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < oid->n && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%" PRIu32, i ? "." : "",
		    oid->arcs[i]);
}

static void
describe(const struct rmon_alarm *alarm, bool rising, char *text, size_t size)
{
	char variable[96];

	print_oid(&alarm->variable, variable, sizeof(variable));
	snprintf(text, size, "alarm %" PRIu32 " %s: %s = %" PRId32 ", %s %" PRId32, alarm->index,
	    rising ? "rises" : "falls", variable, alarm->value, rising ? ">=" : "<=",
	    rising ? alarm->rising : alarm->falling);
}

static void
log_event(struct rmon *rmon, struct rmon_event *event, const struct rmon_alarm *alarm,
    bool rising)
{
	struct rmon_log *log;

	if (rmon->n_logs == RMON_LOGS_MAX) {
		stat_add(&rmon->stats, RMON_STAT_LOGS_DROPPED, 1);
		rmon->oldest_log = (rmon->oldest_log + 1) % RMON_LOGS_MAX;
		rmon->n_logs--;
	}
	log = &rmon->logs[(rmon->oldest_log + rmon->n_logs++) % RMON_LOGS_MAX];
	*log = (struct rmon_log){.event = event->index, .index = ++event->n_logged,
	    .mono_us = event->sent_mono_us};
	describe(alarm, rising, log->description, sizeof(log->description));
}

void
event_changed(struct rmon *rmon)
{
	size_t kept = 0;

	for (size_t i = 0; i < rmon->n_logs; i++) {
		const struct rmon_log *log = &rmon->logs[(rmon->oldest_log + i) % RMON_LOGS_MAX];

		if (managed_find(rmon->managed[MANAGED_EVENT], &log->event, 1))
			rmon->logs[(rmon->oldest_log + kept++) % RMON_LOGS_MAX] = *log;
	}
	rmon->n_logs = kept;
}

void
event_fire(struct rmon *rmon, uint32_t index, const struct rmon_alarm *alarm, bool rising)
{
	struct managed_table *rows = rmon->managed[MANAGED_EVENT];
	struct rmon_event *event = index ? managed_find(rows, &index, 1) : NULL;

	if (!event || !managed_is_active(rows, event))
		return;
	event->sent_mono_us = clock_mono_us(rmon->options.clock);
	stat_add(&rmon->stats, RMON_STAT_EVENTS, 1);
	if (event->type == RMON_EVENT_LOG || event->type == RMON_EVENT_BOTH)
		log_event(rmon, event, alarm, rising);
	if (event->type == RMON_EVENT_TRAP || event->type == RMON_EVENT_BOTH)
		rmon->options.trap(rmon->options.ctx, alarm, rising);
}
