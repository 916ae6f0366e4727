/*
 * When what is asked of which database. A job sends its commands at once, one behind the other, and ends when all are
 * answered; it does not begin again before. So a slow server is asked less often, and never for the same twice.
 */
#include "agent/sonic/sonic_private.h"

#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 12 };

/* ---- jobs ---- */

void
sonic_job_hold(struct sonic_device *d, enum sonic_job job)
{
	struct sonic_job_state *state = &d->jobs[job];

	if (!state->running)
		state->broken = false;
	state->running = true;
	state->awaited++;
}

void
sonic_job_release(struct sonic_device *d, enum sonic_job job)
{
	struct sonic_job_state *state = &d->jobs[job];

	if (--state->awaited > 0)
		return;
	state->running = false;
	if (d->kinds[job].end)
		d->kinds[job].end(d, !state->broken);
}

void
sonic_job_due(struct sonic_device *d, enum sonic_job job)
{
	d->jobs[job].due_us = 0;
}

void
sonic_run_jobs(struct sonic_device *d)
{
	uint64_t now_us = clock_mono_us(d->clock);

	for (unsigned job = 0; job < SONIC_N_JOBS; job++) {
		struct sonic_job_state *state = &d->jobs[job];
		const struct sonic_job_kind *kind = &d->kinds[job];
		uint64_t period_us =
		    d->has_notices[kind->database] ? kind->period_us : kind->period_without_notices_us;

		/* A period may have become shorter. */
		if (period_us == 0 || state->running || !redis_link_is_up(d->links[kind->database]) ||
		    (state->due_us > now_us && state->due_us <= now_us + period_us))
			continue;
		state->due_us = now_us + period_us;
		sonic_job_hold(d, (enum sonic_job)job);
		kind->begin(d);
		sonic_job_release(d, (enum sonic_job)job);
	}
}

/* ---- commands ---- */

struct request {
	struct sonic_device *device;
	enum sonic_job job;
	sonic_take *take;
	struct sonic_subject subject;
};

/* A key of another type than SONiC's says nothing of itself. Any other error says nothing of anything. */
static void
take_error(struct sonic_device *d, const struct request *request, const char *error)
{
	bool wrong_type = strncmp(error, "WRONGTYPE", strlen("WRONGTYPE")) == 0;

	stat_add(&d->stats, wrong_type ? SONIC_STAT_DAMAGED : SONIC_STAT_REFUSED, 1);
	if (request->subject.may_fail)
		return;
	d->jobs[request->job].broken |= !wrong_type;
	log_warn_limited("sonic", "Redis refuses a command to %s: %s",
	    sonic_database_names[d->kinds[request->job].database], error);
}

static void
sonic_on_answer(void *ctx, const redisReply *reply)
{
	struct request *request = ctx;
	struct sonic_device *d = request->device;

	if (!reply)
		d->jobs[request->job].broken = true;
	else if (reply->type == REDIS_REPLY_ERROR)
		take_error(d, request, reply->str);
	else
		request->take(d, reply, &request->subject);
	sonic_job_release(d, request->job);
	free(request);
}

void
sonic_ask_words(struct sonic_device *d, enum sonic_job job, sonic_take *take,
    const struct sonic_subject *subject, int n, const char *const words[], const size_t octets[])
{
	struct redis_link *link = d->links[d->kinds[job].database];
	struct request *request = malloc(sizeof(*request));

	sonic_job_hold(d, job);
	if (request) {
		*request = (struct request){d, job, take, *subject};
		stat_add(&d->stats, SONIC_STAT_COMMANDS, 1);
		if (redis_link_ask(link, sonic_on_answer, request, n, words, octets) == 0)
			return;
	}
	free(request);
	d->jobs[job].broken = true;
	sonic_job_release(d, job);
}

void
sonic_ask(struct sonic_device *d, enum sonic_job job, sonic_take *take, const struct sonic_subject *subject, ...)
{
	const char *words[WORDS_MAX];
	size_t octets[WORDS_MAX];
	va_list list;
	int n = 0;

	va_start(list, subject);
	while (n < WORDS_MAX && (words[n] = va_arg(list, const char *)) != NULL) {
		octets[n] = strlen(words[n]);
		n++;
	}
	va_end(list);
	sonic_ask_words(d, job, take, subject, n, words, octets);
}

/* ---- SCAN ---- */

static void ask_scan(struct sonic_device *d, const struct sonic_scan *scan, const char *cursor);

static void
take_scan(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	const redisReply *cursor = answer_string(reply, 0), *keys;

	if (!cursor || reply->elements != 2 || reply->element[1]->type != REDIS_REPLY_ARRAY) {
		stat_add(&d->stats, SONIC_STAT_DAMAGED, 1);
		d->jobs[subject->scan->job].broken = true;
		return;
	}
	keys = reply->element[1];
	for (size_t i = 0; i < keys->elements; i++) {
		const redisReply *key = answer_string(keys, i);

		if (key)
			subject->scan->take(d, key->str, key->len, subject->scan->job);
	}
	if (!answer_is(cursor, "0"))
		ask_scan(d, subject->scan, cursor->str);
}

static void
ask_scan(struct sonic_device *d, const struct sonic_scan *scan, const char *cursor)
{
	const struct sonic_subject subject = {.scan = scan};

	sonic_ask(d, scan->job, take_scan, &subject, "SCAN", cursor, "MATCH", scan->pattern, "COUNT", "512", NULL);
}

void
sonic_scan(struct sonic_device *d, const struct sonic_scan *scan)
{
	ask_scan(d, scan, "0");
}
