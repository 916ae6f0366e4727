/*
 * The event group: the events of alarms are logged and sent as their event rows say (RFC 2819).
 */
#include "agent/rmon/rmon_private.h"
#include "common/text.h"

#include <inttypes.h>
#include <stdio.h>

static void
print_oid(const struct mib_oid *oid, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < oid->n; i++)
		text_add(text, size, "%s%" PRIu32, i ? "." : "", oid->arcs[i]);
}

/* A number of up to 65 bits, which printf does not know. */
enum { NUMBER_OCTETS = 32 };
static const char *
print_number(rmon_number number, char *text)
{
	uint64_t magnitude = (uint64_t)(number < 0 ? -number : number);

	snprintf(text, NUMBER_OCTETS, "%s%" PRIu64, number < 0 ? "-" : "", magnitude);
	return text;
}

static void
describe(const struct rmon_crossing *crossing, char *text, size_t size)
{
	char variable[96], value[NUMBER_OCTETS], threshold[NUMBER_OCTETS];

	print_oid(&crossing->variable, variable, sizeof(variable));
	snprintf(text, size, "%s %" PRIu32 " %s: %s = %s, %s %s",
	    crossing->high_capacity ? "hcAlarm" : "alarm", crossing->index,
	    crossing->rising ? "rises" : "falls", variable, print_number(crossing->value, value),
	    crossing->rising ? ">=" : "<=", print_number(crossing->threshold, threshold));
}

static void
log_event(struct rmon *rmon, struct rmon_event *event, const struct rmon_crossing *crossing)
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
	describe(crossing, log->description, sizeof(log->description));
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
event_fire(struct rmon *rmon, const struct rmon_crossing *crossing)
{
	struct managed_table *rows = rmon->managed[MANAGED_EVENT];
	struct rmon_event *event = crossing->event ? managed_find(rows, &crossing->event, 1) : NULL;

	if (!event || !managed_is_active(rows, event))
		return;
	event->sent_mono_us = clock_mono_us(rmon->options.clock);
	stat_add(&rmon->stats, RMON_STAT_EVENTS, 1);
	if (event->type == RMON_EVENT_LOG || event->type == RMON_EVENT_BOTH)
		log_event(rmon, event, crossing);
	if (event->type == RMON_EVENT_TRAP || event->type == RMON_EVENT_BOTH)
		rmon->options.trap(rmon->options.ctx, crossing);
}
