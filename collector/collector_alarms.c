/* Alarms in the collector: rules of the option alarms, the accounting's samples, and what is told of them. */
#include "collector/collector_alarms.h"
#include "collector/alarm/alarms.h"
#include "collector/collector_private.h"
#include "common/log.h"

#include <stdio.h>

#define ROOM "alarm"

/* The alarm of a port whose samples are no random choice. */
#define ACCUSED "; audit: its samples are not sound"

/* The event's place is the port, or for a rule of all ports the switch that told of the frame. */
static void
tell(void *arg, const struct alarm_told *told)
{
	struct collector *c = arg;
	const struct accounting_event event = {
	    .kind = told->is_over ? EASE_EVENT_ALARM_OVER : EASE_EVENT_ALARM,
	    .agent = told->agent,
	    .if_index = told->if_index,
	    .time_us = told->is_over ? told->over_us : told->raised_us,
	};
	const struct collector_verdicts *v = &c->verdicts;
	bool is_accused = v->accuses && v->accuses(v->arg, told->agent, told->if_index);
	char text[ALARM_KEY_TEXT + ALARM_RULE_TEXT + sizeof(ACCUSED) + 2]; /* the event has as much of it as has room */

	snprintf(text, sizeof(text), "%s%s%s%s", told->key, *told->key ? ": " : "", told->rule->text,
	    is_accused ? ACCUSED : "");
	accounting_add_own_event(c->accounting, c->batch, &event, text);
	if (told->is_over)
		log_info_limited(ROOM, "over: %s", text);
	else
		log_warn_limited(ROOM, "%s", text);
}

int
collector_set_alarms(struct collector *c)
{
	struct alarm_rule rules[ALARM_RULES_MAX];
	const struct option_list *texts = &c->config->alarms;
	const char *reason;
	size_t n = 0;

	for (size_t i = 0; i < texts->n && n < ALARM_RULES_MAX; i++)
		if (alarm_rule_parse(texts->items[i], &rules[n], &reason) == 0) /* the option's check did it before */
			n++;
	return alarms_set_rules(c->alarms, rules, n, clock_mono_us(c->clock));
}

int
collector_open_alarms(struct collector *c, uint32_t ports)
{
	int r = alarms_new(&c->alarms, ports, c->config->clock_tolerance_ms * UINT64_C(1000), c->seed, tell, c);

	if (r == 0)
		r = collector_set_alarms(c);
	if (r == 0)
		accounting_set_watch(c->accounting,
		    &(struct sample_watch){.sample = alarms_sample, .heard = alarms_heard, .arg = c->alarms});
	return r;
}
