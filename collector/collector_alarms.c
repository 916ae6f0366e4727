/* Alarms in the collector: rules of the option alarms, the accounting's samples, and who is told of them. */
#include "collector/collector_alarms.h"
#include "collector/alarm/alarms.h"
#include "collector/collector_private.h"
#include "collector/collector_settings.h"
#include "common/hash.h"
#include "common/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM "alarm"

/* ---- receivers ---- */

static void
add_receiver(struct alarm_receiver *all, size_t *n, enum receiver_kind kind, const char *label, const char *target)
{
	struct alarm_receiver *r = &all[(*n)++];

	r->kind = kind;
	snprintf(r->label, sizeof(r->label), "%s", label);
	snprintf(r->target, sizeof(r->target), "%s", target);
}

static size_t
fill_receivers(const struct collector_config *config, struct alarm_receiver all[OUTBOX_RECEIVERS_MAX])
{
	const struct collector_inform *informs = config->alarm_informs.items;
	char label[RECEIVER_LABEL];
	size_t n = 0;

	if (*config->alarm_command)
		add_receiver(all, &n, RECEIVER_COMMAND, "alarm_command", config->alarm_command);
	for (size_t i = 0; i < config->alarm_posts.n; i++) {
		snprintf(label, sizeof(label), "alarm_post (%zu)", i + 1);
		add_receiver(all, &n, RECEIVER_POST, label, config->alarm_posts.items[i]);
	}
	for (size_t i = 0; i < config->alarm_informs.n; i++) {
		snprintf(label, sizeof(label), "alarm_inform \"%.40s\"", informs[i].title);
		collector_snmp_credentials(&informs[i].as, &all[n].as);
		add_receiver(all, &n, RECEIVER_INFORM, label, informs[i].to);
	}
	return n;
}

int
collector_start_receivers(const struct collector_config *config, struct collector_receivers *receivers, char *error,
    size_t error_size)
{
	struct alarm_receiver all[OUTBOX_RECEIVERS_MAX] = {0};
	char user[PRIVILEGE_NAME];
	size_t n = fill_receivers(config, all);
	int r = 0;

	*receivers = (struct collector_receivers){0};
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = receiver_start(&all[i], &receivers->items[i].fd, user);
		if (r < 0) {
			snprintf(error, error_size, "%s: %s", all[i].label,
			    r == -ENOENT ? "this machine has no user nobody, and nothing is run as root" : strerror(-r));
			break;
		}
		receivers->n++;
		receivers->items[i].acts = all[i].kind == RECEIVER_COMMAND;
		snprintf(receivers->items[i].label, RECEIVER_LABEL, "%s", all[i].label);
		log_info(ROOM, "%s is told as %s", all[i].label, *user ? user : "the collector's user, for only root can be another");
	}
	explicit_bzero(all, sizeof(all));
	return r;
}

void
collector_stop_receivers(const struct collector_receivers *receivers)
{
	for (size_t i = 0; i < receivers->n; i++) /* all at once; then each is waited for */
		if (receivers->items[i].fd >= 0)
			shutdown(receivers->items[i].fd, SHUT_WR);
	for (size_t i = 0; i < receivers->n; i++)
		if (receivers->items[i].fd >= 0)
			receiver_stop(receivers->items[i].fd);
}

static void
alarms_lose_receiver(struct collector *c, size_t i)
{
	log_error(ROOM, "%s: its process has ended; it is told nothing until the next start", c->receivers.items[i].label);
	close(c->receivers.items[i].fd);
	c->receivers.items[i].fd = -1;
}

void
collector_tell_receivers(struct collector *c)
{
	uint64_t mono_us = clock_mono_us(c->clock);
	const struct alarm_fact *fact;

	if (!c->outbox)
		return;
	outbox_tick(c->outbox, mono_us);
	for (size_t i = 0; i < c->receivers.n; i++)
		if (c->receivers.items[i].fd >= 0 && (fact = outbox_next(c->outbox, i, mono_us)) != NULL &&
		    send(c->receivers.items[i].fd, fact, sizeof(*fact), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			alarms_lose_receiver(c, i);
}

size_t
collector_poll_receivers(const struct collector *c, struct pollfd polls[OUTBOX_RECEIVERS_MAX])
{
	for (size_t i = 0; i < c->receivers.n; i++)
		polls[i] = (struct pollfd){.fd = c->receivers.items[i].fd, .events = POLLIN};
	return c->receivers.n;
}

static void
take_receiver_answer(struct collector *c, size_t i)
{
	struct receiver_answer answer;
	ssize_t n = recv(c->receivers.items[i].fd, &answer, sizeof(answer), MSG_DONTWAIT);

	if (n == 0)
		alarms_lose_receiver(c, i);
	if (n != (ssize_t)sizeof(answer))
		return;
	answer.reason[sizeof(answer.reason) - 1] = '\0';
	if (!answer.is_taken)
		log_warn_limited(ROOM, "%s did not take an alarm: %s; it is told again", c->receivers.items[i].label, answer.reason);
	outbox_answered(c->outbox, i, answer.is_taken, clock_mono_us(c->clock));
	collector_tell_receivers(c);
}

void
collector_take_answers(struct collector *c, const struct pollfd polls[OUTBOX_RECEIVERS_MAX])
{
	for (size_t i = 0; i < c->receivers.n; i++)
		if (polls[i].revents && c->receivers.items[i].fd >= 0) /* an answer; or it has ended, at work or not */
			take_receiver_answer(c, i);
}

/* The identity of an alarm does not change while the collector runs; nobody who does not know the seed can choose two
 * keys with one. */
static uint64_t
id_of(uint64_t seed, const struct alarm_fact *f)
{
	uint64_t id = hash_octets(hash_octets(seed, f->rule, sizeof(f->rule)), f->key, sizeof(f->key));

	id = hash_pair(id, f->if_index > 0 ? (uint64_t)f->agent_number : 0, f->if_index);
	return id ? id : 1;
}

static void
note_for_receivers(struct collector *c, const struct alarm_told *told, bool is_accused)
{
	struct accounting_names names = accounting_names_of(c->accounting, told->agent, told->if_index);
	struct alarm_fact fact = {.is_over = told->news == ALARM_IS_OVER, .kind = told->rule->kind, .parts = told->parts,
	    .agent_number = told->agent, .if_index = told->if_index, .is_accused = is_accused, .raised_us = told->raised_us,
	    .over_us = told->over_us};

	snprintf(fact.rule, sizeof(fact.rule), "%s", told->rule->text);
	snprintf(fact.key, sizeof(fact.key), "%s", told->key);
	snprintf(fact.agent, sizeof(fact.agent), "%s", names.address);
	snprintf(fact.port, sizeof(fact.port), "%s", names.port);
	for (size_t i = 0; i < EASE_AGENT_ID_LEN; i++)
		snprintf(fact.agent_id + 2 * i, 3, "%02x", names.agent_id[i]);
	fact.id = id_of(c->seed, &fact);
	outbox_note(c->outbox, &fact, clock_mono_us(c->clock));
	collector_tell_receivers(c);
}

/* ---- the collector's own ---- */

/* The event's place is the port, or for a rule of all ports the switch that told of the frame. */
static void
tell_alarm(void *arg, const struct alarm_told *told)
{
	static const enum ease_event_kind kinds[] = {[ALARM_IS_RAISED] = EASE_EVENT_ALARM, [ALARM_IS_OVER] = EASE_EVENT_ALARM_OVER,
	    [ALARM_STANDS] = EASE_EVENT_ALARM_STANDS};
	struct collector *c = arg;
	const struct accounting_event event = {
	    .kind = kinds[told->news],
	    .agent = told->agent,
	    .if_index = told->if_index,
	    .time_us = told->news == ALARM_IS_OVER ? told->over_us : told->news == ALARM_STANDS ? clock_wall_us(c->clock)
											     : told->raised_us,
	};
	bool is_accused = c->verdicts.accuses && c->verdicts.accuses(c->verdicts.arg, told->agent, told->if_index);
	char text[ALARM_KEY_TEXT + ALARM_RULE_TEXT + 2]; /* the event has as much of it as has room, */

	snprintf(text, sizeof(text), "%s%s%s", told->key, *told->key ? ": " : "", told->rule->text);
	if (is_accused && strlen(text) + sizeof(EASE_ALARM_ACCUSED) <= EASE_EVENT_TEXT) /* and all of this or nothing */
		strcat(text, EASE_ALARM_ACCUSED);
	accounting_add_own_event(c->accounting, c->batch, &event, text);
	if (told->news != ALARM_IS_RAISED)
		log_info_limited(ROOM, "%s: %s", told->news == ALARM_IS_OVER ? "over" : "stands", text);
	else
		log_warn_limited(ROOM, "%s", text);
	if (c->outbox && told->news != ALARM_STANDS)
		note_for_receivers(c, told, is_accused);
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
	bool acts[OUTBOX_RECEIVERS_MAX] = {0};
	int r = alarms_new(&c->alarms, ports, c->config->clock_tolerance_ms * UINT64_C(1000), c->seed, tell_alarm, c);

	if (c->options->receivers)
		c->receivers = *c->options->receivers;
	for (size_t i = 0; i < c->receivers.n; i++)
		acts[i] = c->receivers.items[i].acts;
	if (r == 0 && c->receivers.n > 0)
		r = outbox_new(&c->outbox, c->receivers.n, acts, c->config->alarm_hold_s * UINT64_C(1000000));
	if (r == 0)
		r = collector_set_alarms(c);
	if (r == 0)
		accounting_set_watch(c->accounting,
		    &(struct sample_watch){.sample = alarms_sample, .heard = alarms_heard, .arg = c->alarms});
	return r;
}
