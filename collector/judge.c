#include "collector/judge.h"

#include "collector/estimate/audit.h"
#include "collector/record.h"
#include "collector/report/links.h"
#include "collector/report/verdicts.h"
#include "common/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM "judge"

enum { LEAST_PRIORITY = 19 };

struct verdict {
	int64_t agent;
	uint64_t if_index, judged_us;
	unsigned faults;
};

/* What the ends of a link disagree on: told once, when it was not so a turn before. */
enum { FAULTS_MAX = 256, FAULTS_OF_AGENT = FAULTS_MAX / 8 }; /* in one turn; further ones are told once others are gone */
struct link_fault {
	int64_t agent;
	uint64_t if_index;
	char says[EASE_EVENT_TEXT];
};
struct link_faults {
	size_t n;
	struct link_fault items[FAULTS_MAX];
};

struct verdict_list {
	struct link_faults faults; /* new ones */
	uint64_t judged_us;
	size_t n;
	struct verdict items[];
};

struct judge {
	struct judge_config config;
	pthread_t thread;
	int stop_fd; /* eventfd */
	_Atomic bool stopping;
	/* of the thread: of all turns, those accused in the last hour */
	struct verdict *accused;
	size_t n_accused, room;
	uint64_t now_us;
	struct link_faults faults, faults_before, faults_new;
	struct verdict_turn turn;
	/* handed over; NULL: none */
	_Atomic(struct verdict_list *) fresh, used;
	/* of the collector's thread */
	struct verdict_list *known;
	size_t written, faults_written;
};

/* ---- the thread ---- */

/* Leaves out a port that was judged anew, and what is too old. */
static void
forget_judged(struct judge *j, int64_t agent, uint64_t if_index)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n_accused; i++) {
		const struct verdict *v = &j->accused[i];

		if (v->judged_us + VERDICT_RANGE_US > j->now_us && (v->agent != agent || v->if_index != if_index))
			j->accused[n++] = *v;
	}
	j->n_accused = n;
}

/* Without memory the port is accused in a later turn. */
static void
judge_take_verdict(void *arg, int64_t agent, uint64_t if_index, unsigned faults)
{
	struct judge *j = arg;
	struct verdict *more;

	faults &= ~(unsigned)AUDIT_AGGREGATED; /* nothing is wrong with the samples */
	forget_judged(j, agent, if_index);
	if (faults == 0)
		return;
	if (j->n_accused == j->room) {
		more = realloc(j->accused, (2 * j->room + 16) * sizeof(*more));
		if (!more)
			return;
		j->accused = more;
		j->room = 2 * j->room + 16;
	}
	j->accused[j->n_accused++] = (struct verdict){agent, if_index, j->now_us, faults};
}

static void
take_fault(void *arg, const struct query_port *port, const char *says)
{
	struct judge *j = arg;
	struct link_fault *fault = &j->faults.items[j->faults.n];
	unsigned of_agent = 0;
	bool is_new = true;

	for (size_t i = 0; i < j->faults.n; i++)
		of_agent += j->faults.items[i].agent == port->agent->id;
	if (j->faults.n == FAULTS_MAX || of_agent == FAULTS_OF_AGENT) /* so that links that are made up hide no other */
		return;
	*fault = (struct link_fault){.agent = port->agent->id, .if_index = port->if_index};
	snprintf(fault->says, sizeof(fault->says), "%s", says);
	j->faults.n++;
	for (size_t i = 0; i < j->faults_before.n; i++)
		is_new &= j->faults_before.items[i].agent != fault->agent || j->faults_before.items[i].if_index != fault->if_index;
	if (is_new)
		j->faults_new.items[j->faults_new.n++] = *fault;
}

static void
judge_hand_over(struct judge *j)
{
	struct verdict_list *list = malloc(sizeof(*list) + j->n_accused * sizeof(list->items[0]));

	free(atomic_exchange(&j->used, NULL));
	if (!list)
		return;
	list->faults = j->faults_new;
	list->judged_us = j->now_us;
	list->n = j->n_accused;
	if (list->n > 0)
		memcpy(list->items, j->accused, list->n * sizeof(list->items[0]));
	free(atomic_exchange(&j->fresh, list));
}

static void
judge_note_damage(const struct judge *j, uint64_t inode)
{
	if (j->config.damaged)
		j->config.damaged(j->config.damaged_arg, inode);
}

void
judge_turn(void *judge)
{
	struct judge *j = judge;
	const struct query_limits limits = {.cancel = &j->stopping};
	char error[QUERY_ERROR_TEXT];
	struct query *query;
	struct stat st;
	uint64_t inode = stat(j->config.store, &st) == 0 ? st.st_ino : 0; /* before it may be set aside */
	int err = query_open(j->config.store, &query, error, sizeof(error));

	if (err < 0) {
		if (err == -EUCLEAN)
			judge_note_damage(j, inode);
		log_warn_limited(ROOM, "no sampler is judged: %s", error);
		return;
	}
	query_limit(query, &limits);
	j->now_us = clock_wall_us(j->config.clock);
	j->faults_new.n = 0;
	j->turn.until_us = clock_mono_us(&clock_system) + j->config.lasts_ms * 1000ull;
	if (verdicts_judge(query, j->now_us, &j->turn) < 0 && !atomic_load(&j->stopping)) {
		log_warn_limited(ROOM, "not all samplers are judged: %s", query->error);
	} else { /* links, of the hour that samplers were judged by */
		j->faults_before = j->faults;
		j->faults.n = 0;
		if (links_judge(query, take_fault, j) < 0 && !atomic_load(&j->stopping))
			log_warn_limited(ROOM, "not all links are judged: %s", query->error);
	}
	if (query->is_damaged)
		judge_note_damage(j, query->inode);
	query_close(query);
	judge_hand_over(j);
}

static void *
run_judge(void *arg)
{
	struct judge *j = arg;
	struct pollfd stop = {.fd = j->stop_fd, .events = POLLIN};
	unsigned wait_ms = j->config.first_ms;

	setpriority(PRIO_PROCESS, (id_t)gettid(), LEAST_PRIORITY);
	while (poll(&stop, 1, (int)wait_ms) <= 0) {
		judge_turn(j);
		wait_ms = j->config.every_ms;
	}
	return NULL;
}

int
judge_open(struct judge **out, const struct judge_config *config)
{
	struct judge *j = calloc(1, sizeof(*j));
	int r;

	*out = NULL;
	if (!j)
		return -ENOMEM;
	j->config = *config;
	j->turn.judged = judge_take_verdict;
	j->turn.arg = j;
	j->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (config->every_ms == 0 && j->stop_fd >= 0) {
		*out = j;
		return 0;
	}
	r = j->stop_fd < 0 ? -errno : -pthread_create(&j->thread, NULL, run_judge, j);
	if (r < 0) {
		if (j->stop_fd >= 0)
			close(j->stop_fd);
		free(j);
		return r;
	}
	pthread_setname_np(j->thread, ROOM);
	*out = j;
	return 0;
}

void
judge_close(struct judge *j)
{
	if (!j)
		return;
	atomic_store(&j->stopping, true);
	eventfd_write(j->stop_fd, 1);
	if (j->config.every_ms > 0)
		pthread_join(j->thread, NULL);
	close(j->stop_fd);
	free(atomic_load(&j->fresh));
	free(atomic_load(&j->used));
	free(j->known);
	free(j->accused);
	free(j);
}

/* ---- the collector's thread ---- */

/* The one before is freed by the judge: there is at most one, as the next is handed over only after that. */
static void
take_list(struct judge *j)
{
	struct verdict_list *fresh = atomic_load(&j->used) ? NULL : atomic_exchange(&j->fresh, NULL);

	if (!fresh)
		return;
	atomic_store(&j->used, j->known);
	j->known = fresh;
	j->written = j->faults_written = 0;
}

static bool
judge_add_rows(const struct verdict *v, struct store_batch *batch)
{
	if (store_batch_reserve(batch, STORE_ODDITIES, (size_t)__builtin_popcount(v->faults)) < 0)
		return false;
	for (unsigned bits = v->faults; bits > 0; bits &= bits - 1)
		*(struct store_oddity *)store_batch_add(batch, STORE_ODDITIES) = (struct store_oddity){v->agent,
		    v->if_index, (uint8_t)(EASE_ODD_VERDICTS + __builtin_ctz(bits)), 1, v->judged_us, v->judged_us};
	return true;
}

static bool
add_link_event(const struct verdict_list *list, const struct link_fault *fault, struct store_batch *batch)
{
	struct store_event *row = store_batch_add(batch, STORE_EVENTS);

	if (!row)
		return false;
	row->time_us = list->judged_us;
	row->agent = fault->agent;
	row->kind = EASE_EVENT_LINK_DISAGREES;
	row->if_index = fault->if_index;
	memcpy(row->text, fault->says, sizeof(row->text));
	return true;
}

void
judge_flush(void *judge, struct store_batch *batch)
{
	struct judge *j = judge;

	take_list(j);
	while (j->known && j->written < j->known->n && judge_add_rows(&j->known->items[j->written], batch))
		j->written++;
	while (j->known && j->faults_written < j->known->faults.n &&
	    add_link_event(j->known, &j->known->faults.items[j->faults_written], batch))
		j->faults_written++;
}

bool
judge_accuses(void *judge, int64_t agent, uint64_t if_index)
{
	const struct judge *j = judge;
	uint64_t now_us = clock_wall_us(j->config.clock);

	for (size_t i = 0; j->known && i < j->known->n; i++) {
		const struct verdict *v = &j->known->items[i];

		if ((v->faults & ~VERDICT_UPLINK) && v->agent == agent && (if_index == 0 || v->if_index == if_index) &&
		    v->judged_us + VERDICT_RANGE_US > now_us)
			return true;
	}
	return false;
}
